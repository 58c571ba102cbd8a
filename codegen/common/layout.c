/* Layout of memory.  Buffers of a dispatch, and `aliased` workgroup blocks, which share their start, have the layout of their
 * types.  In the program's own memory each scalar is aligned to its size.  Offsets of types do not apply there, because array
 * lengths may depend on specialization values.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/round.h"
#include "common.h"

#include <string.h>

#define LARGEST (UINT64_C(1) << 40)

bool
code_constant(const code_writer *w, uint32_t row, uint64_t *out)
{
  const uint32_t op = VYRE_ROW_OP(w->v->op[row]);
  return (op == VYRE_OP_const || op == VYRE_OP_spec) &&
         vyre_constant_value(w->module, (vyre_row){row}, w->specs, w->spec_count, out);
}

bool
code_right_constant(const code_writer *w, uint32_t row, uint64_t *out)
{
  if (VYRE_ROW_FLAGS(w->v->op[row]) & VYRE_ROW_IMM) {
    *out = vyre_row_imm(w->v, row);
    return true;
  }
  return code_constant(w, w->v->b[row], out);
}

/* ---- types ---------------------------------------------------------------------------------------------------------------- */

uint64_t
code_count_of(const code_writer *w, vyre_type_id type)
{
  return w->types[type - 256].count;
}

uint64_t
code_own_size(const code_writer *w, vyre_type_id type)
{
  if (type >= 256)
    return w->types[type - 256].size;
  return (uint64_t)VYRE_TYPE_LANES((vyre_type)type) * vyre_kind_bytes(VYRE_TYPE_KIND((vyre_type)type));
}

static uint32_t
own_align(const code_writer *w, vyre_type_id type)
{
  return type >= 256 ? w->types[type - 256].align : vyre_kind_bytes(VYRE_TYPE_KIND((vyre_type)type));
}

uint64_t
code_own_offset(const code_writer *w, const vyre_type_info *info, uint32_t member)
{
  uint64_t offset = 0;
  for (uint32_t i = 0; i <= member; i++) {
    offset = round_up(offset, own_align(w, info->members[i].type));
    offset += i < member ? code_own_size(w, info->members[i].type) : 0;
  }
  return offset;
}

static uint64_t
product(uint64_t a, uint64_t b)
{
  return b != 0 && a >= LARGEST / b ? LARGEST : a * b;
}

static void
measure_struct(const code_writer *w, const vyre_type_info *info, code_type *to)
{
  to->align = 1;
  for (uint32_t k = 0; k < info->count; k++) {
    const uint32_t align = own_align(w, info->members[k].type);
    to->align = align > to->align ? align : to->align;
    to->size = round_up(to->size, align) + code_own_size(w, info->members[k].type);
    to->size = to->size < LARGEST ? to->size : LARGEST;
  }
  to->size = round_up(to->size, to->align);
}

static size_t
types_bytes(const code_writer *w)
{
  const uint32_t types = vyre_type_count(w->module);
  return (types > 256 ? types - 256 : 1) * sizeof(*w->types);
}

/* Visits each type once, because the parts of a type precede it in the type table. */
bool
code_lay_out(code_writer *w)
{
  const uint32_t types = vyre_type_count(w->module);
  w->types = code_resize(w, NULL, 0, types_bytes(w));
  if (!w->types)
    return false;
  memset(w->types, 0, types_bytes(w));
  for (uint32_t type = 256; type < types; type++) {
    const vyre_type_info info = vyre_type_get(w->module, type);
    code_type *to = &w->types[type - 256];
    uint64_t length = info.count;
    if (info.form == VYRE_FORM_ARRAY && info.count_row >= w->program && info.count_row < w->end &&
        !vyre_constant_value(w->module, (vyre_row){info.count_row}, w->specs, w->spec_count, &length))
      return code_fail(w, info.count_row, "the length of an array is not constant");
    to->count = info.form == VYRE_FORM_WORDS ? 0 : (uint32_t)length;
    if (info.form == VYRE_FORM_STRUCT)
      measure_struct(w, &info, to);
    if (info.form != VYRE_FORM_ARRAY && info.form != VYRE_FORM_MATRIX)
      continue;
    to->size = product(to->count, code_own_size(w, info.element));
    to->align = own_align(w, info.element);
  }
  return true;
}

void
code_writer_free(code_writer *w)
{
  code_resize(w, w->types, types_bytes(w), 0);
  code_resize(w, w->words, w->word_count * sizeof(*w->words), 0);
  code_resize(w, w->bytes, w->byte_count, 0);
}

/* ---- buffers -------------------------------------------------------------------------------------------------------------- */

const vyre_buffer_info *
code_buffer_info(const code_writer *w, uint32_t buffer)
{
  return vyre_buffer_info_of((vyre_module *)(uintptr_t)w->module, (vyre_row){buffer});
}

bool
code_is_bound(const code_writer *w, uint32_t buffer)
{
  const vyre_space space = VYRE_BUFFER_SPACE(w->v->imm_hi[buffer]);
  return space == VYRE_SPACE_STORAGE || space == VYRE_SPACE_UNIFORM;
}

bool
code_is_outside(const code_writer *w, uint32_t buffer)
{
  return code_is_bound(w, buffer) || VYRE_BUFFER_SPACE(w->v->imm_hi[buffer]) == VYRE_SPACE_PUSH;
}

bool
code_is_overlaid(const code_writer *w, uint32_t buffer)
{
  const uint32_t access = w->v->imm_hi[buffer];
  return VYRE_BUFFER_SPACE(access) == VYRE_SPACE_WORKGROUP && (access & VYRE_ACCESS_ALIASED) != 0 &&
         vyre_type_get(w->module, w->v->imm[buffer]).form == VYRE_FORM_STRUCT;
}

bool
code_is_own(const code_writer *w, uint32_t buffer)
{
  return !code_is_outside(w, buffer) && !code_is_overlaid(w, buffer);
}

static uint64_t
overlaid_size(const code_writer *w)
{
  uint64_t most = 1;
  for (uint32_t row = w->v->first[w->program]; row; row = w->v->next[row]) {
    const bool is_part = VYRE_ROW_OP(w->v->op[row]) == VYRE_OP_buffer && code_is_overlaid(w, row);
    const uint64_t size = is_part ? vyre_type_get(w->module, w->v->imm[row]).size : 0;
    most = size > most ? size : most;
  }
  return most;
}

uint64_t
code_buffer_size(const code_writer *w, uint32_t buffer)
{
  const vyre_type_id type = w->v->imm[buffer];
  if (code_is_overlaid(w, buffer))
    return overlaid_size(w);
  if (code_is_own(w, buffer) || type < 256)
    return code_own_size(w, type);
  return vyre_type_get(w->module, type).size;
}

/* ---- the order of a dispatch's buffers ------------------------------------------------------------------------------------ */

static bool
is_given(const vyre_view *v, bool has_push, uint32_t row)
{
  const vyre_space space = VYRE_BUFFER_SPACE(v->imm_hi[row]);
  return VYRE_ROW_OP(v->op[row]) == VYRE_OP_buffer &&
         (space == VYRE_SPACE_STORAGE || space == VYRE_SPACE_UNIFORM || (has_push && space == VYRE_SPACE_PUSH));
}

/* Returns whether two buffers have the same binding.  All push constants are one buffer. */
static bool
is_same(const vyre_module *module, uint32_t a, uint32_t b)
{
  const vyre_view *v = vyre_module_view(module);
  const bool a_is_push = VYRE_BUFFER_SPACE(v->imm_hi[a]) == VYRE_SPACE_PUSH;
  if (a_is_push || VYRE_BUFFER_SPACE(v->imm_hi[b]) == VYRE_SPACE_PUSH)
    return a_is_push && VYRE_BUFFER_SPACE(v->imm_hi[b]) == VYRE_SPACE_PUSH;
  const vyre_buffer_info *x = vyre_buffer_info_of((vyre_module *)(uintptr_t)module, (vyre_row){a});
  const uint32_t set = x->set, binding = x->binding;
  const vyre_buffer_info *y = vyre_buffer_info_of((vyre_module *)(uintptr_t)module, (vyre_row){b});
  return set == y->set && binding == y->binding;
}

/* Returns the first row with the same binding as this row. */
static uint32_t
first_of(const vyre_module *module, uint32_t program, bool has_push, uint32_t row)
{
  const vyre_view *v = vyre_module_view(module);
  uint32_t first = v->first[program];
  while (first != row && !(is_given(v, has_push, first) && is_same(module, first, row)))
    first = v->next[first];
  return first;
}

uint32_t
code_buffer_row(const vyre_module *module, uint32_t program, bool has_push, uint32_t k)
{
  const vyre_view *v = vyre_module_view(module);
  for (uint32_t row = v->first[program]; row; row = v->next[row])
    if (is_given(v, has_push, row) && first_of(module, program, has_push, row) == row && k-- == 0)
      return row;
  return 0;
}

uint32_t
code_slot_of(const code_writer *w, uint32_t buffer)
{
  const uint32_t first = first_of(w->module, w->program, w->has_push, buffer);
  uint32_t slot = 0;
  for (uint32_t row = w->v->first[w->program]; row != first; row = w->v->next[row])
    slot += is_given(w->v, w->has_push, row) && first_of(w->module, w->program, w->has_push, row) == row;
  return slot;
}

uint64_t
code_descriptors(const code_writer *w, vyre_type_id type)
{
  const bool open = (vyre_type_get(w->module, type).flags & VYRE_TYPE_RUNTIME) != 0;
  return open ? w->open_descriptors : code_count_of(w, type);
}

/* Returns whether a buffer row is an array of descriptors without a length, and no option sets the length. */
static bool
is_unbounded(const code_writer *w, uint32_t buffer)
{
  return w->open_descriptors == CODE_UNBOUNDED && vyre_buffer_descriptor_steps(w->module, buffer) &&
         (vyre_type_get(w->module, w->v->imm[buffer]).flags & VYRE_TYPE_RUNTIME);
}

/* Returns the number of descriptors of a buffer row: the product of its array lengths. */
static uint64_t
descriptors_of(const code_writer *w, uint32_t buffer)
{
  uint64_t count = 1;
  vyre_type_id type = w->v->imm[buffer];
  for (uint32_t k = vyre_buffer_descriptor_steps(w->module, buffer); k > 0; k--) {
    count = product(count, code_descriptors(w, type));
    type = vyre_type_get(w->module, type).element;
  }
  return count;
}

bool
code_is_table(const code_writer *w, uint32_t buffer)
{
  bool table = false;
  for (uint32_t row = w->v->first[w->program]; row; row = w->v->next[row])
    table = table || (is_given(w->v, w->has_push, row) && is_same(w->module, row, buffer) && is_unbounded(w, row));
  return table;
}

/* Returns the number of descriptors of a binding: the largest number among its rows. */
static uint64_t
binding_descriptors(const code_writer *w, uint32_t buffer)
{
  uint64_t most = 1;
  if (code_is_table(w, buffer))
    return most;
  for (uint32_t row = w->v->first[w->program]; row; row = w->v->next[row])
    if (is_given(w->v, w->has_push, row) && is_same(w->module, row, buffer) && descriptors_of(w, row) > most)
      most = descriptors_of(w, row);
  return most;
}

uint32_t
code_first_descriptor(const code_writer *w, uint32_t slot)
{
  uint64_t first = 0;
  for (uint32_t k = 0; k < slot; k++) {
    const uint32_t row = code_buffer_row(w->module, w->program, w->has_push, k);
    first += row ? binding_descriptors(w, row) : 0;
  }
  return first < UINT32_MAX ? (uint32_t)first : UINT32_MAX;
}
