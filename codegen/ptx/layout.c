/* Where things lie in memory.  What is given with a dispatch, and workgroup blocks that are `aliased` and so begin at one place,
 * lie as their types say.  Memory of the program's own has each scalar aligned to its size, as lengths may come from specialization
 * values, which the offsets of types know nothing of.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#define LARGEST (UINT64_C(1) << 40)

uint32_t
pgen_scalar_size(vyre_kind kind)
{
  return kind == VYRE_BOOL ? 4 : vyre_kind_bits(kind) / 8;
}

uint64_t
pgen_count_of(const gen *g, vyre_type_id type)
{
  return g->types[type - 256].count;
}

uint64_t
pgen_own_size(const gen *g, vyre_type_id type)
{
  if (type >= 256)
    return g->types[type - 256].size;
  return (uint64_t)VYRE_TYPE_LANES((vyre_type)type) * pgen_scalar_size(VYRE_TYPE_KIND((vyre_type)type));
}

uint32_t
pgen_own_align(const gen *g, vyre_type_id type)
{
  return type >= 256 ? g->types[type - 256].align : pgen_scalar_size(VYRE_TYPE_KIND((vyre_type)type));
}

static uint64_t
aligned(uint64_t offset, uint32_t align)
{
  return align ? (offset + align - 1) / align * align : offset;
}

uint64_t
pgen_own_offset(const gen *g, const vyre_type_info *info, uint32_t member)
{
  uint64_t offset = 0;
  for (uint32_t i = 0; i <= member; i++) {
    offset = aligned(offset, pgen_own_align(g, info->members[i].type));
    offset += i < member ? pgen_own_size(g, info->members[i].type) : 0;
  }
  return offset;
}

static uint64_t
product(uint64_t a, uint64_t b)
{
  return b != 0 && a >= LARGEST / b ? LARGEST : a * b;
}

static void
measure_struct(const gen *g, const vyre_type_info *info, pgen_type *to)
{
  to->align = 1;
  for (uint32_t k = 0; k < info->count; k++) {
    const uint32_t align = pgen_own_align(g, info->members[k].type);
    to->align = align > to->align ? align : to->align;
    to->size = aligned(to->size, align) + pgen_own_size(g, info->members[k].type);
    to->size = to->size < LARGEST ? to->size : LARGEST;
  }
  to->size = aligned(to->size, to->align);
}

/* A type is after its parts in the type table, so one walk along it is enough. */
bool
pgen_layouts_make(gen *g)
{
  const uint32_t types = vyre_type_count(g->module);
  const size_t bytes = (types > 256 ? types - 256 : 1) * sizeof(*g->types);
  g->types = pgen_resize(g, NULL, 0, bytes);
  if (!g->types)
    return false;
  memset(g->types, 0, bytes);
  for (uint32_t type = 256; type < types; type++) {
    const vyre_type_info info = vyre_type_get(g->module, type);
    pgen_type *to = &g->types[type - 256];
    uint64_t length = info.count;
    if (info.form == VYRE_FORM_ARRAY && info.count_row >= g->program && info.count_row < g->end &&
        !vyre_constant_value(g->module, (vyre_row){info.count_row}, g->options->specs, g->options->spec_count, &length))
      return pgen_fail(g, info.count_row, "the length of an array is not constant");
    to->count = info.form == VYRE_FORM_WORDS ? 0 : (uint32_t)length;
    if (info.form == VYRE_FORM_STRUCT)
      measure_struct(g, &info, to);
    if (info.form != VYRE_FORM_ARRAY && info.form != VYRE_FORM_MATRIX)
      continue;
    to->size = product(to->count, pgen_own_size(g, info.element));
    to->align = pgen_own_align(g, info.element);
  }
  return true;
}

/* ---- buffers -------------------------------------------------------------------------------------------------------------- */

const vyre_buffer_info *
pgen_info(const gen *g, uint32_t buffer)
{
  return vyre_buffer_info_of((vyre_module *)(uintptr_t)g->module, (vyre_row){buffer});
}

bool
pgen_is_bound(const gen *g, uint32_t buffer)
{
  const vyre_space space = VYRE_BUFFER_SPACE(g->v->imm_hi[buffer]);
  return space == VYRE_SPACE_STORAGE || space == VYRE_SPACE_UNIFORM;
}

bool
pgen_is_outside(const gen *g, uint32_t buffer)
{
  return pgen_is_bound(g, buffer) || VYRE_BUFFER_SPACE(g->v->imm_hi[buffer]) == VYRE_SPACE_PUSH;
}

bool
pgen_is_overlaid(const gen *g, uint32_t buffer)
{
  const uint32_t access = g->v->imm_hi[buffer];
  return VYRE_BUFFER_SPACE(access) == VYRE_SPACE_WORKGROUP && (access & VYRE_ACCESS_ALIASED) != 0 &&
         vyre_type_get(g->module, g->v->imm[buffer]).form == VYRE_FORM_STRUCT;
}

bool
pgen_is_own(const gen *g, uint32_t buffer)
{
  return !pgen_is_outside(g, buffer) && !pgen_is_overlaid(g, buffer);
}

uint64_t
pgen_buffer_size(const gen *g, uint32_t buffer)
{
  const vyre_type_id type = g->v->imm[buffer];
  if (pgen_is_own(g, buffer) || type < 256)
    return pgen_own_size(g, type);
  return vyre_type_get(g->module, type).size;
}

/* ---- the order of descriptors --------------------------------------------------------------------------------------------- */

static bool
is_bound(const vyre_view *v, uint32_t row)
{
  const vyre_space space = VYRE_BUFFER_SPACE(v->imm_hi[row]);
  return VYRE_ROW_OP(v->op[row]) == VYRE_OP_buffer && (space == VYRE_SPACE_STORAGE || space == VYRE_SPACE_UNIFORM);
}

static bool
is_same(const vyre_module *module, uint32_t a, uint32_t b)
{
  const vyre_buffer_info *x = vyre_buffer_info_of((vyre_module *)(uintptr_t)module, (vyre_row){a});
  const uint32_t set = x->set, binding = x->binding;
  const vyre_buffer_info *y = vyre_buffer_info_of((vyre_module *)(uintptr_t)module, (vyre_row){b});
  return set == y->set && binding == y->binding;
}

/* The first row that is of one binding with this one. */
static uint32_t
first_of(const vyre_module *module, uint32_t program, uint32_t row)
{
  const vyre_view *v = vyre_module_view(module);
  uint32_t first = v->first[program];
  while (first != row && !(is_bound(v, first) && is_same(module, first, row)))
    first = v->next[first];
  return first;
}

vyre_row
vyre_ptx_buffer_row(const vyre_module *module, vyre_row program, uint32_t k)
{
  const vyre_view *v = vyre_module_view(module);
  for (uint32_t row = v->first[program.id]; row; row = v->next[row])
    if (is_bound(v, row) && first_of(module, program.id, row) == row && k-- == 0)
      return (vyre_row){row};
  return VYRE_NONE;
}

uint32_t
pgen_slot_of(const gen *g, uint32_t buffer)
{
  const uint32_t first = first_of(g->module, g->program, buffer);
  uint32_t slot = 0;
  for (uint32_t row = g->v->first[g->program]; row != first; row = g->v->next[row])
    slot += is_bound(g->v, row) && first_of(g->module, g->program, row) == row;
  return slot;
}

uint64_t
pgen_descriptors(const gen *g, vyre_type_id type)
{
  const bool open = (vyre_type_get(g->module, type).flags & VYRE_TYPE_RUNTIME) != 0;
  return open ? g->options->open_descriptors : pgen_count_of(g, type);
}

/* How many descriptors a row has. */
static uint64_t
descriptors_of(const gen *g, uint32_t buffer)
{
  uint64_t count = 1;
  vyre_type_id type = g->v->imm[buffer];
  for (uint32_t k = vyre_buffer_descriptor_steps(g->module, buffer); k > 0; k--) {
    count = product(count, pgen_descriptors(g, type));
    type = vyre_type_get(g->module, type).element;
  }
  return count;
}

uint32_t
pgen_first_descriptor(const gen *g, uint32_t slot)
{
  uint64_t first = 0;
  for (uint32_t k = 0; k < slot; k++) {
    const uint32_t row = vyre_ptx_buffer_row(g->module, (vyre_row){g->program}, k).id;
    first += row ? descriptors_of(g, row) : 0;
  }
  return first < UINT32_MAX ? (uint32_t)first : UINT32_MAX;
}
