/* Values that are kept in memory: composites of more than IMPORT_MAX_LEAVES leaves, or of a number that depends on specialization.
 *
 * Each such value is a buffer of its own, which is not written after the instruction that defines the value.  A load copies the
 * memory that it loads, and a store copies the buffer.  A plain constant is a constant table; any other constant is stored at the
 * program's start.  Copies and parameters share the buffer of the value that they copy.
 *
 * Limits: arrays of opaque values, and operations on constants other than extracts, are not supported.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/import/import.h"

/* ---- copies ---- */

static uint32_t
step_into(import *m, uint32_t path, uint32_t k)
{
  return vyre_build_at_literal(&m->b, (vyre_row){path}, k).id;
}

static bool
has_specialized_length(const import *m, vyre_type_id type)
{
  const vyre_type_info t = vyre_type_get(m->module, type);
  if (t.form == VYRE_FORM_ARRAY)
    return t.count_row || has_specialized_length(m, t.element);
  for (uint32_t k = 0; t.form == VYRE_FORM_STRUCT && k < t.count; k++)
    if (has_specialized_length(m, vyre_type_get(m->module, type).members[k].type))
      return true;
  return false;
}

static bool
is_interface(const import *m, uint32_t path)
{
  const uint32_t buffer = vyre_path_buffer(m->module, (vyre_row){path}).id;
  const vyre_space space = VYRE_BUFFER_SPACE(m->view->imm_hi[buffer]);
  return space == VYRE_SPACE_STORAGE || space == VYRE_SPACE_UNIFORM || space == VYRE_SPACE_PUSH;
}

/* Returns whether one row can copy a value of the type.  Without OpCopyLogical, SPIR-V cannot change the layout of an array whose
 * length depends on specialization. */
static bool
is_one_copy(const import *m, uint32_t to, uint32_t from, vyre_type_id type)
{
  return vyre_path_type(m->module, (vyre_row){to}) == type &&
         (m->version >= 0x10400u || is_interface(m, to) == is_interface(m, from) || !has_specialized_length(m, type));
}

static void copy(import *m, uint32_t to, uint32_t from, uint32_t flags, uint32_t imm);

/* Appends a loop that copies each element. */
static void
copy_elements(import *m, uint32_t to, uint32_t from, const vyre_type_info *t, uint32_t flags, uint32_t imm)
{
  const vyre_builder outside = m->b;
  const vyre_type type = VYRE_TYPE(VYRE_U32, 1);
  const vyre_row zero = vyre_build_const(&m->b, type, 0), one = vyre_build_const(&m->b, type, 1);
  const vyre_row length = t->count_row ? (vyre_row){t->count_row} : vyre_build_const(&m->b, type, t->count);
  (void)vyre_build_for(&m->b, zero, length, one);
  const vyre_row index = {m->b.region};
  const uint32_t source = vyre_build_at(&m->b, (vyre_row){from}, index).id;
  copy(m, vyre_build_at(&m->b, (vyre_row){to}, index).id, source, flags, imm);
  m->b = outside;
}

/* Copies between two paths of similar types.  A part that one row cannot copy is copied part by part. */
static void
copy(import *m, uint32_t to, uint32_t from, uint32_t flags, uint32_t imm)
{
  const vyre_type_id type = vyre_path_type(m->module, (vyre_row){from});
  if (!to || !from || failed(m))
    return;
  if (is_one_copy(m, to, from, type)) {
    vyre_build(&m->b, VYRE_OP_copy, 0, flags, imm, 0, (vyre_row){to}, (vyre_row){from}, VYRE_NONE);
    return;
  }
  const vyre_type_info t = vyre_type_get(m->module, type);
  if (t.form == VYRE_FORM_ARRAY) {
    copy_elements(m, to, from, &t, flags, imm);
  } else if (t.form == VYRE_FORM_STRUCT || t.form == VYRE_FORM_MATRIX) {
    for (uint32_t k = 0; k < t.count; k++) {
      const uint32_t source = step_into(m, from, k);
      copy(m, step_into(m, to, k), source, flags, imm);
    }
  } else {
    import_uncovered(m, "a copy between types that differ in more than their layout is not supported");
  }
}

void
import_copy_rows(import *m, uint32_t to, uint32_t from, uint32_t flags, uint32_t imm)
{
  copy(m, to, from, flags, imm);
}

/* ---- constants ---- */

static bool
is_constant_composite(const import *m, uint32_t id)
{
  const uint32_t op = id < m->bound && m->ids[id].kind == ID_CONSTANT ? m->words[m->ids[id].def] & 0xffffu : SpvOpNop;
  return op == SpvOpConstantComposite || op == SpvOpSpecConstantComposite;
}

vyre_type_id
import_table_type(import *m, uint32_t id)
{
  const id_info *info = &m->ids[id];
  const spv_type *t = info->t;
  if (t->sized || t->form != FORM_ARRAY || !is_constant_composite(m, id))
    return import_make_type(m, info->type, 0, false);
  const uint32_t *words = m->words + info->def, count = words[0] >> 16;
  vyre_type_id element = 0;
  for (uint32_t k = 3; k < count; k++) {
    const vyre_type_id made = k == 3 || !m->ids[words[k]].t->sized ? import_table_type(m, words[k]) : element;
    if (!made || (element && made != element))
      return made ? (vyre_type_id)import_uncovered(m, "constituents of different lengths are not supported") : 0;
    element = made;
  }
  return vyre_type_array(m->module, element, count - 3, VYRE_NONE, t->stride);
}

/* A specialized length must equal the number of constituents, so a table may have this number as its length. */
bool
import_may_be_table(const import *m, uint32_t id)
{
  const id_info *info = &m->ids[id];
  if (info->flags & ID_SPEC)
    return false;
  if (info->t->sized)
    return true;
  if (info->t->form != FORM_ARRAY || !is_constant_composite(m, id))
    return import_is_null(m, id);
  const uint32_t *words = m->words + info->def;
  if (m->ids[words[3]].t->sized)
    return true;
  for (uint32_t k = 3; k < words[0] >> 16; k++)
    if (!is_constant_composite(m, words[k]) || !import_may_be_table(m, words[k]))
      return false;
  return true;
}

/* ---- values ---- */

/* Adds a buffer as the value of `id`. */
static uint32_t
add_memory(import *m, uint32_t id, vyre_space space, uint32_t initializer)
{
  const uint32_t made = import_add_global(m, id, space, initializer);
  id_info *info = &m->ids[id];
  info->holds = HOLDS_MEMORY;
  info->value = made;
  info->epoch = m->epochs[info->kind];
  return made;
}

/* Returns the row of a new private buffer that is the value of `id`. */
static uint32_t
add_temporary(import *m, uint32_t id)
{
  const uint32_t made = add_memory(m, id, VYRE_SPACE_PRIVATE, 0);
  return made == NONE ? 0 : import_global_row(m, made);
}

/* Stores the value `id` to a path. */
static bool
store_to(import *m, uint32_t path, uint32_t id)
{
  const id_info *info = import_id(m, id);
  if (!info || !path || !info->t)
    return info && path ? import_fail(m, "id %u is not a value", id) : false;
  if (import_is_in_memory(info->t)) {
    copy(m, path, import_memory_row(m, id), 0, 0);
    return !failed(m);
  }
  spv_value v;
  if (!import_value(m, id, &v))
    return false;
  const uint32_t mark = m->stack.count, count = v.count;
  uint32_t *rows = list_add(m, &m->stack, sizeof(uint32_t), count), first = mark;
  for (uint32_t k = 0; rows && k < count; k++)
    rows[k] = v.leaves[k];
  const bool ok = (rows || count == 0) && import_tree(m, path, info->type, 0, 0, &first);
  m->stack.count = mark;
  return ok;
}

static bool
construct_value(import *m, uint32_t id, const uint32_t *args, uint32_t count)
{
  const spv_type *t = m->ids[id].t;
  uint32_t unused;
  if (t->count && count != t->count)
    return import_fail(m, "%u constituents, but the type has %u", count, t->count);
  const uint32_t row = add_temporary(m, id);
  for (uint32_t k = 0; row && k < count && !failed(m); k++) {
    const id_info *part = import_id(m, args[k]);
    if (part && part->type != import_step_type(m, m->ids[id].type, k, &unused))
      return import_fail(m, "constituent %u does not have the required type", args[k]);
    if (!part || !store_to(m, step_into(m, row, k), args[k]))
      return false;
  }
  return row && !failed(m);
}

/* Makes the constant `id` in the current program. */
static bool
make_constant(import *m, uint32_t id)
{
  const uint32_t at = m->ids[id].def, *words = m->words + at;
  if (import_may_be_table(m, id))
    return add_memory(m, id, VYRE_SPACE_CONSTANT, id) != NONE;
  const vyre_builder saved = m->b;
  const uint32_t region = m->region, from = m->at;
  m->b = import_builder_at(m, m->first_body);
  m->region = m->program;
  m->at = at;
  if (is_constant_composite(m, id))
    (void)construct_value(m, id, words + 3, (words[0] >> 16) - 3);
  else
    import_uncovered(m, "an operation in constants on arrays whose length depends on specialization is not supported");
  m->b = saved;
  m->region = region;
  m->at = from;
  return !failed(m);
}

/* Returns the index in `globals` of the buffer that is the value `id`, or NONE on failure. */
static uint32_t
memory_of(import *m, uint32_t id)
{
  const id_info *info = import_id(m, id);
  if (!info)
    return NONE;
  const bool constant = info->kind == ID_CONSTANT, made = info->holds == HOLDS_MEMORY && info->epoch == m->epochs[info->kind];
  if (!constant && (!made || info->kind != ID_LOCAL))
    return import_fail(m, "value %u is used before it is defined", id), NONE;
  return made || make_constant(m, id) ? m->ids[id].value : NONE;
}

uint32_t
import_memory_row(import *m, uint32_t id)
{
  const uint32_t index = memory_of(m, id);
  return index == NONE ? 0 : import_global_row(m, index);
}

bool
import_set_memory(import *m, uint32_t id, uint32_t path, uint32_t flags, uint32_t imm)
{
  const uint32_t row = add_temporary(m, id);
  if (path)
    copy(m, row, path, flags, imm);
  return row && !failed(m);
}

bool
import_share_value(import *m, uint32_t id, uint32_t from)
{
  const uint32_t index = memory_of(m, from);
  id_info *info = &m->ids[id];
  info->holds = HOLDS_MEMORY;
  info->value = index;
  info->epoch = m->epochs[info->kind];
  return index != NONE;
}

bool
import_store_memory(import *m, uint32_t to_id, uint32_t id, uint32_t flags, uint32_t imm)
{
  const pointer *to = import_pointer(m, to_id);
  if (!to || to->base == BASE_NOTHING)
    return to != NULL;
  if (to->type != m->ids[id].type)
    return import_fail(m, "value %u does not have the type that pointer %u points to", id, to_id);
  if (!import_is_plain_path(to))
    return import_uncovered(m, "pointer %u is not a pointer to memory, which is not supported here", to_id);
  if (AT(global, m->globals, to->first)->space == VYRE_SPACE_CONSTANT)
    return true; /* an initializer sets it */
  const uint32_t path = import_path(m, m->ids[to_id].value), from = path ? import_memory_row(m, id) : 0;
  copy(m, path, from, flags, imm);
  return from && !failed(m);
}

/* ---- instructions ---- */

/* Returns the path to the part of `path` at literal indices, and updates its type. */
static uint32_t
follow(import *m, uint32_t path, uint32_t *type, const uint32_t *indices, uint32_t count)
{
  uint32_t unused;
  for (uint32_t k = 0; k < count && path; k++) {
    *type = import_step_type(m, *type, indices[k], &unused);
    if (!*type)
      return (uint32_t)import_fail(m, "index %u is not valid for the indexed type", indices[k]);
    path = step_into(m, path, indices[k]);
  }
  return path;
}

static bool
extract(import *m, uint32_t type_id, uint32_t id, const uint32_t *args, uint32_t count)
{
  uint32_t from = args[0], type = m->ids[from].type;
  const uint32_t *indices = args + 1;
  for (count--; count && is_constant_composite(m, from) && import_is_in_memory(m->ids[from].t); count--) { /* its constituent */
    const uint32_t *words = m->words + m->ids[from].def;
    if (*indices >= (words[0] >> 16) - 3)
      return import_uncovered(m, "index %u is not in constant %u", *indices, from);
    from = words[3 + *indices++];
    type = m->ids[from].type;
  }
  if (type == type_id && count == 0)
    return import_is_in_memory(m->ids[from].t) ? import_share_value(m, id, from)
                                               : import_composite(m, SpvOpCopyObject, type_id, id, &from, 1);
  if (!import_is_in_memory(m->ids[from].t)) {
    uint32_t *rest = import_memory_of(m, (count + 1) * sizeof(*rest));
    for (uint32_t k = 0; rest && k < count; k++)
      rest[1 + k] = indices[k];
    if (rest)
      rest[0] = from;
    return rest && import_composite(m, SpvOpCompositeExtract, type_id, id, rest, count + 1);
  }
  if (m->ids[id].kind == ID_CONSTANT)
    return import_uncovered(m, "an operation in constants on arrays whose length depends on specialization is not supported");
  const uint32_t path = follow(m, import_memory_row(m, from), &type, indices, count);
  if (!path || type != type_id)
    return path ? import_fail(m, "the result type does not match the operands") : false;
  if (import_is_in_memory(m->ids[type].t))
    return import_set_memory(m, id, path, 0, 0);
  const uint32_t first = m->stack.count;
  return import_value_type(m, type) && import_tree(m, path, type, 0, 0, NULL) && import_pop_stack(m, id, first);
}

static bool
insert(import *m, uint32_t id, const uint32_t *args, uint32_t count)
{
  uint32_t type = m->ids[id].type;
  const id_info *object = import_id(m, args[0]);
  if (!object || m->ids[args[1]].type != type)
    return object ? import_fail(m, "the result type does not match the operands") : false;
  const uint32_t from = import_memory_row(m, args[1]);
  if (!from || !import_set_memory(m, id, from, 0, 0))
    return false;
  const uint32_t path = follow(m, import_memory_row(m, id), &type, args + 2, count - 2);
  if (path && type != object->type)
    return import_fail(m, "the result type does not match the operands");
  return path && store_to(m, path, args[0]);
}

static bool
select_value(import *m, uint32_t id, const uint32_t *args)
{
  const uint32_t condition = import_row(m, args[0]), yes = condition ? import_memory_row(m, args[1]) : 0,
                 no = yes ? import_memory_row(m, args[2]) : 0;
  if (!no)
    return false;
  if (import_row_type(m, condition) != VYRE_TYPE(VYRE_BOOL, 1) || m->ids[args[1]].type != m->ids[id].type ||
      m->ids[args[2]].type != m->ids[id].type)
    return import_fail(m, "its operands do not have the result type, or its condition is not a bool");
  const uint32_t row = add_temporary(m, id);
  const vyre_builder outside = m->b;
  const vyre_row control = vyre_build_if(&m->b, (vyre_row){condition});
  copy(m, row, yes, 0, 0);
  m->b.region = vyre_region_of(m->module, control, 1).id;
  copy(m, row, no, 0, 0);
  m->b = outside;
  return row && !failed(m);
}

bool
import_uses_memory(const import *m, uint32_t type_id, uint32_t from)
{
  return import_is_in_memory(m->ids[type_id].t) ||
         (from < m->bound && m->ids[from].kind >= ID_CONSTANT && m->ids[from].t && import_is_in_memory(m->ids[from].t));
}

bool
import_aggregate(import *m, uint32_t op, uint32_t type_id, uint32_t id, const uint32_t *args, uint32_t count)
{
  for (uint32_t k = 0; k < count && (k < 2 || op == SpvOpCompositeConstruct || op == SpvOpSelect); k++)
    if ((k == 0 || op != SpvOpCompositeExtract) && !import_id(m, args[k]))
      return false;
  if (op == SpvOpCompositeExtract)
    return extract(m, type_id, id, args, count);
  if (m->ids[id].kind == ID_CONSTANT)
    return import_uncovered(m, "an operation in constants on arrays whose length depends on specialization is not supported");
  switch (op) {
  case SpvOpCompositeConstruct:
    return construct_value(m, id, args, count);
  case SpvOpCompositeInsert:
    return insert(m, id, args, count);
  case SpvOpSelect:
    return select_value(m, id, args);
  case SpvOpCopyObject:
    return m->ids[args[0]].type == type_id ? import_share_value(m, id, args[0])
                                           : import_fail(m, "the result type does not match the operands");
  case SpvOpCopyLogical: {
    const uint32_t from = import_memory_row(m, args[0]);
    return from && import_set_memory(m, id, from, 0, 0);
  }
  default:
    return import_fail(m, "the result type is not valid for this instruction");
  }
}
