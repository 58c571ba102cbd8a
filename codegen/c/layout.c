/* Where things lie in memory.  What is given with a dispatch lies as its type says.  Memory of the program's own has its scalars
 * side by side, but workgroup blocks that are `aliased`: they begin at one place, and lie as their types say.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#define LARGEST (UINT64_C(1) << 40)

uint32_t
cgen_scalar_size(vyre_kind kind)
{
  return kind == VYRE_BOOL ? 4 : vyre_kind_bits(kind) / 8;
}

uint64_t
cgen_packed_size(const cgen *g, vyre_type_id type)
{
  if (type >= 256)
    return g->types[type - 256].packed;
  return (uint64_t)VYRE_TYPE_LANES((vyre_type)type) * cgen_scalar_size(VYRE_TYPE_KIND((vyre_type)type));
}

uint64_t
cgen_count_of(const cgen *g, vyre_type_id type)
{
  return g->types[type - 256].count;
}

static uint64_t
product(uint64_t a, uint64_t b)
{
  return b != 0 && a >= LARGEST / b ? LARGEST : a * b;
}

/* A type is after its parts in the type table, so one walk along it is enough. */
bool
cgen_layouts_make(cgen *g)
{
  const uint32_t types = vyre_type_count(g->module);
  const size_t bytes = (types > 256 ? types - 256 : 1) * sizeof(*g->types);
  g->types = cgen_resize(g, NULL, 0, bytes);
  if (!g->types)
    return false;
  memset(g->types, 0, bytes);
  for (uint32_t type = 256; type < types; type++) {
    const vyre_type_info info = vyre_type_get(g->module, type);
    cgen_type *to = &g->types[type - 256];
    uint64_t length = info.count;
    if (info.form == VYRE_FORM_ARRAY && info.count_row >= g->program && info.count_row < g->end &&
        !vyre_constant_value(g->module, (vyre_row){info.count_row}, g->options->specs, g->options->spec_count, &length))
      return cgen_fail(g, info.count_row, "the length of an array is not constant");
    to->count = info.form == VYRE_FORM_WORDS ? 0 : (uint32_t)length;
    for (uint32_t k = 0; info.form == VYRE_FORM_STRUCT && k < info.count; k++)
      to->packed = product(1, to->packed + cgen_packed_size(g, info.members[k].type));
    if (info.form == VYRE_FORM_ARRAY || info.form == VYRE_FORM_MATRIX)
      to->packed = product(to->count, cgen_packed_size(g, info.element));
  }
  return true;
}

bool
cgen_is_outside(const cgen *g, uint32_t buffer)
{
  const vyre_space space = VYRE_BUFFER_SPACE(g->v->imm_hi[buffer]);
  return space == VYRE_SPACE_STORAGE || space == VYRE_SPACE_UNIFORM || space == VYRE_SPACE_PUSH;
}

bool
cgen_is_overlaid(const cgen *g, uint32_t buffer)
{
  const uint32_t access = g->v->imm_hi[buffer];
  return VYRE_BUFFER_SPACE(access) == VYRE_SPACE_WORKGROUP && (access & VYRE_ACCESS_ALIASED) != 0 &&
         vyre_type_get(g->module, g->v->imm[buffer]).form == VYRE_FORM_STRUCT;
}

bool
cgen_is_packed(const cgen *g, uint32_t buffer)
{
  return !cgen_is_outside(g, buffer) && !cgen_is_overlaid(g, buffer);
}

uint64_t
cgen_buffer_size(const cgen *g, uint32_t buffer)
{
  uint64_t most = 1;
  if (!cgen_is_overlaid(g, buffer))
    return cgen_packed_size(g, g->v->imm[buffer]);
  for (uint32_t row = g->v->first[g->program]; row; row = g->v->next[row])
    if (cgen_is(g, row, VYRE_OP_buffer) && cgen_is_overlaid(g, row) && vyre_type_get(g->module, g->v->imm[row]).size > most)
      most = vyre_type_get(g->module, g->v->imm[row]).size;
  return most;
}

/* ---- the order of a dispatch's buffers ------------------------------------------------------------------------------------ */

static bool
is_given(const vyre_view *v, uint32_t row)
{
  const vyre_space space = VYRE_BUFFER_SPACE(v->imm_hi[row]);
  return VYRE_ROW_OP(v->op[row]) == VYRE_OP_buffer &&
         (space == VYRE_SPACE_STORAGE || space == VYRE_SPACE_UNIFORM || space == VYRE_SPACE_PUSH);
}

static bool
is_same(const vyre_module *module, uint32_t a, uint32_t b)
{
  const vyre_view *v = vyre_module_view(module);
  const vyre_space space = VYRE_BUFFER_SPACE(v->imm_hi[a]);
  if (space != VYRE_BUFFER_SPACE(v->imm_hi[b]))
    return false;
  const vyre_buffer_info *x = vyre_buffer_info_of((vyre_module *)(uintptr_t)module, (vyre_row){a});
  const uint32_t set = x->set, binding = x->binding;
  const vyre_buffer_info *y = vyre_buffer_info_of((vyre_module *)(uintptr_t)module, (vyre_row){b});
  return space == VYRE_SPACE_PUSH || (set == y->set && binding == y->binding);
}

/* The first row that is of one binding with this one. */
static uint32_t
first_of(const vyre_module *module, uint32_t program, uint32_t row)
{
  const vyre_view *v = vyre_module_view(module);
  uint32_t first = v->first[program];
  while (first != row && !(is_given(v, first) && is_same(module, first, row)))
    first = v->next[first];
  return first;
}

vyre_row
vyre_c_buffer_row(const vyre_module *module, vyre_row program, uint32_t k)
{
  const vyre_view *v = vyre_module_view(module);
  for (uint32_t row = v->first[program.id]; row; row = v->next[row])
    if (is_given(v, row) && first_of(module, program.id, row) == row && k-- == 0)
      return (vyre_row){row};
  return VYRE_NONE;
}

uint32_t
cgen_slot(const cgen *g, uint32_t buffer, bool *out_first)
{
  const uint32_t first = first_of(g->module, g->program, buffer);
  uint32_t slot = 0;
  *out_first = first == buffer;
  for (uint32_t row = g->v->first[g->program]; row != first; row = g->v->next[row])
    slot += is_given(g->v, row) && first_of(g->module, g->program, row) == row;
  return slot;
}
