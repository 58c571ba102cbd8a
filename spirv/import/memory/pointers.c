/* Pointers: variables and access chains.
 *
 * A pointer is its variable and the steps into it.  In a variable that is held as values, it is a range of leaves.  In a buffer,
 * its `at` rows are made at its use, because only there its indices are known to be visible.  They are reused in the same block.
 *
 * Limits: storage, uniform, push constant, workgroup, private and function variables, and built-ins that are scalars or vectors.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/import/import.h"

pointer *
import_fail_pointer(import *m, uint32_t id)
{
  const id_info *info = import_id(m, id);
  if (!info)
    return NULL;
  const spv_type *t = info->type && (info->kind == ID_LOCAL || info->kind == ID_GLOBAL) ? import_type(m, info->type) : NULL;
  if (!t || t->form != FORM_POINTER) {
    import_fail(m, "id %u is not a pointer to a variable", id);
    return NULL;
  }
  if (info->kind == ID_LOCAL)
    import_fail(m, "pointer %u is used before it is defined", id);
  else
    import_uncovered(m, "variable %u of storage class %u is not supported", id, t->count);
  return NULL;
}

/* Makes the last added pointer the id's value. */
static bool
name_pointer(import *m, uint32_t id, pointer *p)
{
  const spv_type *t = import_type(m, p->type);
  if (!t)
    return false;
  p->single = t->form == FORM_VALUE && !p->has_lane && !p->has_column;
  p->value = t->value;
  m->ids[id].value = m->pointers.count - 1;
  m->ids[id].epoch = m->epochs[m->ids[id].kind];
  return true;
}

/* Adds a pointer to a variable. */
static pointer *
add_pointer(import *m, uint32_t id, pointer_base base, uint32_t type, uint32_t first)
{
  pointer *p = first == NONE ? NULL : list_add(m, &m->pointers, sizeof(pointer), 1);
  if (!p)
    return NULL;
  *p = (pointer){.base = (uint8_t)base, .type = type, .first = first};
  return name_pointer(m, id, p) ? p : NULL;
}

uint32_t
import_add_global(import *m, uint32_t id, vyre_space space, uint32_t initializer)
{
  global *g = list_add(m, &m->globals, sizeof(global), 1);
  if (!g)
    return NONE;
  *g = (global){.id = id, .initializer = initializer, .space = space};
  return m->globals.count - 1;
}

/* ---- buffers ---- */

static uint32_t
access_of(const import *m, uint32_t id, const spv_type *t)
{
  uint32_t access = m->ids[id].flags & ID_ACCESS, all = VYRE_ACCESS_NO_WRITE | VYRE_ACCESS_NO_READ;
  if (t->form != FORM_STRUCT || t->count == 0)
    return access;
  for (uint32_t k = 0; k < t->count; k++)
    all &= AT(spv_member, m->members, t->members + k)->access;
  return access | all;
}

static bool
check_buffer(import *m, const global *g, const spv_type *t, const spv_type *pointee)
{
  bool interface = g->space == VYRE_SPACE_STORAGE || g->space == VYRE_SPACE_UNIFORM || g->space == VYRE_SPACE_PUSH;
  if (interface && pointee->form != FORM_STRUCT && (g->space == VYRE_SPACE_PUSH || pointee->form == FORM_VALUE))
    return import_uncovered(m, "variable %u: an array of buffers is not supported\nFix: declare a variable for each buffer", g->id);
  if (pointee->has_pointer || t->form != FORM_POINTER)
    return import_uncovered(m, "variable %u contains pointers, which are not supported", g->id);
  return true;
}

static bool
initialize(import *m, const global *g, uint32_t row, uint32_t type)
{
  list words = {0};
  if (m->ids[g->initializer].type != type)
    return import_uncovered(m, "initializer %u does not have the type of the variable", g->initializer);
  if (import_is_null(m, g->initializer))
    return true; /* no initializer: any size is zero */
  bool ok = import_constant_words(m, g->initializer, &words);
  if (ok)
    vyre_buffer_info_of(m->module, (vyre_row){row})->initializer = vyre_module_add_initializer(m->module, words.data, words.count);
  return ok;
}

uint32_t
import_global_row(import *m, uint32_t index)
{
  const global g = *AT(global, m->globals, index);
  if (g.row)
    return g.row;
  const bool table = m->ids[g.id].t && m->ids[g.id].t->form != FORM_POINTER; /* or the memory of a value */
  const spv_type *t = import_type(m, m->ids[g.id].type);
  const spv_type *pointee = table || !t ? t : import_type(m, t->element);
  if (!pointee || (!table && !check_buffer(m, &g, t, pointee)))
    return 0;
  const uint32_t type = table ? m->ids[g.id].type : t->element;
  const bool is_initialized = g.initializer && m->ids[g.initializer].type == type;
  vyre_type_id made = is_initialized ? import_table_type(m, g.initializer) : import_make_type(m, type, 0, false);
  if (!made)
    return 0;
  uint32_t set = 0, binding = 0;
  (void)import_decoration(m, g.id, SpvDecorationDescriptorSet, &set);
  (void)import_decoration(m, g.id, SpvDecorationBinding, &binding);
  const uint32_t *variable = m->words + m->ids[g.id].def;
  uint32_t access = access_of(m, g.id, pointee);
  if (g.space == VYRE_SPACE_PRIVATE && (table || ((variable[0] & 0xffff) == SpvOpVariable && variable[0] >> 16 <= 4)))
    access |= VYRE_ACCESS_UNSET;
  uint32_t row = vyre_build_buffer(&m->b, made, g.space, access, set, binding).id;
  AT(global, m->globals, index)->row = row;
  vyre_buffer_info *info = vyre_buffer_info_of(m->module, (vyre_row){row});
  if (m->ids[g.id].kind == ID_GLOBAL)
    info->spirv_id = g.id;
  if (!import_name_row(m, row, g.id) && !table)
    (void)import_name_row(m, row, t->element); /* a block without an instance name */
  if (g.space == VYRE_SPACE_WORKGROUP && m->words[m->ids[g.id].def] >> 16 > 4)
    info->initializer = vyre_module_add_initializer(m->module, NULL, 0);
  if (g.initializer && !initialize(m, &g, row, type))
    return 0;
  return failed(m) ? 0 : row;
}

static vyre_builder
before_body(const import *m)
{
  return import_builder_at(m, m->first_body);
}

/* Returns the path of a block's member, which is made once per program. */
static uint32_t
member_row(import *m, uint32_t index, uint32_t row, uint32_t k)
{
  for (uint32_t i = AT(global, m->globals, index)->members; i; i = AT(member_made, m->members_made, i)->next)
    if (AT(member_made, m->members_made, i)->member == k)
      return AT(member_made, m->members_made, i)->row;
  vyre_builder b = before_body(m);
  uint32_t made = vyre_build_at_literal(&b, (vyre_row){row}, k).id;
  if (m->members_made.count == 0 && !list_add(m, &m->members_made, sizeof(member_made), 1))
    return 0;
  member_made *added = list_add(m, &m->members_made, sizeof(member_made), 1);
  if (!added)
    return 0;
  *added = (member_made){k, made, AT(global, m->globals, index)->members};
  AT(global, m->globals, index)->members = m->members_made.count - 1;
  return made;
}

static uint32_t
mark_nonuniform(import *m, const pointer *p, uint32_t row)
{
  const vyre_view *v = m->view;
  if (p->step_count > 1 || !AT(step, m->steps, p->steps)->literal) /* otherwise it is the shared path of the member */
    vyre_row_rewrite(m->module, (vyre_row){row}, v->op[row] | (uint32_t)VYRE_ROW_NONUNIFORM << 24, v->imm[row], v->imm_hi[row],
                     (vyre_row){v->a[row]}, (vyre_row){v->b[row]}, VYRE_NONE);
  return row;
}

uint32_t
import_path(import *m, uint32_t index)
{
  pointer *p = AT(pointer, m->pointers, index); /* no pointer is added here */
  if (p->path && import_is_visible(m, p->path))
    return p->path;
  uint32_t row = AT(global, m->globals, p->first)->row;
  if (!row && !(row = import_global_row(m, p->first)))
    return 0;
  for (uint32_t k = 0; k < p->step_count && row; k++) {
    const step s = *AT(step, m->steps, p->steps + k);
    if (!s.literal)
      row = vyre_build_at(&m->b, (vyre_row){row}, (vyre_row){import_visible(m, s.index)}).id;
    else if (k == 0)
      row = member_row(m, p->first, row, s.index);
    else
      row = vyre_build_at_literal(&m->b, (vyre_row){row}, s.index).id;
  }
  if ((p->access & POINTER_NONUNIFORM) && p->step_count && row && !failed(m)) /* the shared path stays unchanged */
    row = mark_nonuniform(m, p, row);
  p->path = row;
  return failed(m) ? 0 : row;
}

/* ---- variables ---- */

/* Returns the variable of a built-in without an op, as an opaque value.  It is made once per program. */
static vyre_row
builtin_variable(import *m, uint32_t id, vyre_type type)
{
  pointer *own = AT(pointer, m->pointers, m->ids[id].value);
  uint32_t decorations[5] = {SpvDecorationBuiltIn, 1, own->first, SpvDecorationVolatile, 0};
  if (own->path)
    return (vyre_row){own->path};
  const vyre_member target[2] = {{.access = VYRE_WORD_LITERAL, .offset = SpvStorageClassInput},
                                 {.access = VYRE_WORD_TYPE, .type = type}};
  const vyre_type_id leads = vyre_type_words(m->module, SpvOpTypePointer, 0, VYRE_MODE_BARE, target, 2);
  const vyre_type_id words = leads ? vyre_type_words(m->module, SpvOpVariable, leads, VYRE_MODE_BARE, target, 1) : 0;
  vyre_builder b = before_body(m);
  const vyre_row row = words ? vyre_build_opaque(&b, VYRE_OP_opaque_pure, words, NULL, 0, 0) : VYRE_NONE;
  if (!row.id)
    return row;
  vyre_row_set_decorations(m->module, row, decorations, m->ids[id].flags & VYRE_ACCESS_VOLATILE ? 5 : 3);
  import_name_row(m, row.id, id);
  own->path = row.id;
  return row;
}

static uint32_t
other_builtin(import *m, const pointer *p)
{
  const uint32_t id = p->column;
  const spv_type *t = p->has_column ? NULL : import_type(m, import_type(m, m->ids[id].type)->element);
  if (!t || t->form != FORM_VALUE || import_is_opaque_type(t)) {
    import_uncovered(m, "built-in %u is not supported", p->first);
    return 0;
  }
  const vyre_row variable = builtin_variable(m, id, t->value);
  const vyre_member operand = {.access = VYRE_WORD_VALUE};
  const vyre_type_id words = vyre_type_words(m->module, SpvOpLoad, t->value, VYRE_MODE_BARE, &operand, 1);
  const vyre_opcode op = m->ids[id].flags & VYRE_ACCESS_VOLATILE ? VYRE_OP_opaque : VYRE_OP_opaque_read;
  return variable.id && words ? vyre_build_opaque(&m->b, op, words, &variable, 1, 0).id : 0;
}

uint32_t
import_builtin(import *m, const pointer *p)
{
  static const struct {
    uint32_t builtin, lanes;
  } known[] = {
#define SPV_BUILTIN(op, builtin, lanes, glsl) [VYRE_OP_##op - VYRE_OP_gid] = {SpvBuiltIn##builtin, lanes},
#include "spirv/ops.def"
  };
  for (size_t k = 0; k < sizeof(known) / sizeof(*known); k++) {
    if (known[k].builtin != p->first)
      continue;
    const spv_type *declared = m->ids[m->ids[p->column].t->element].t;
    if (declared->form != FORM_VALUE || VYRE_TYPE_LANES(declared->value) != known[k].lanes ||
        !vyre_kind_is_int(VYRE_TYPE_KIND(declared->value)) || vyre_kind_bits(VYRE_TYPE_KIND(declared->value)) != 32)
      return (uint32_t)import_uncovered(m, "built-in %u does not have the type that Vulkan requires", p->first);
    if (!m->builtins[k]) {
      vyre_builder b = before_body(m);
      m->builtins[k] = vyre_build(&b, (vyre_opcode)(VYRE_OP_gid + k), VYRE_TYPE(VYRE_U32, known[k].lanes), 0, 0, 0, VYRE_NONE,
                                  VYRE_NONE, VYRE_NONE)
                           .id;
    }
    return m->builtins[k];
  }
  return other_builtin(m, p);
}

/* Returns whether it is a storage buffer in the form before SPIR-V 1.3, or an array of such buffers. */
static bool
is_buffer_block(const import *m, uint32_t type)
{
  while (m->ids[type].t && (m->ids[type].t->form == FORM_ARRAY || m->ids[type].t->form == FORM_RUNTIME))
    type = m->ids[type].t->element;
  return (m->ids[type].flags & ID_BUFFER_BLOCK) != 0;
}

static bool
make_global(import *m, uint32_t id)
{
  const spv_type *t = import_type(m, m->ids[id].type);
  if (!t)
    return false;
  uint16_t access = m->ids[id].flags & ID_ACCESS;
  uint32_t builtin;
  pointer *p;
  vyre_space space;
  switch (t->count) {
#define SPV_SPACE(space_, class_) \
  case SpvStorageClass##class_:   \
    space = VYRE_SPACE_##space_;  \
    break;
#include "spirv/ops.def"
  case SpvStorageClassInput:
    if (!import_decoration(m, id, SpvDecorationBuiltIn, &builtin))
      return true;
    p = add_pointer(m, id, BASE_VALUE, t->element, builtin);
    if (p)
      p->column = id;
    return p != NULL;
  default: /* private variables: see below */
    return true;
  }
  if (space == VYRE_SPACE_UNIFORM && is_buffer_block(m, t->element))
    space = VYRE_SPACE_STORAGE;
  if (space == VYRE_SPACE_HANDLE)
    access = 0; /* the access of the image, not of its handle */
  if (space == VYRE_SPACE_WORKGROUP) {
    m->at = m->ids[id].def;
    if (m->words[m->at] >> 16 > 4 && !import_is_null(m, m->words[m->at + 4]))
      return import_uncovered(m, "its initializer is not OpConstantNull");
  }
  p = add_pointer(m, id, BASE_BUFFER, t->element, import_add_global(m, id, space, 0));
  if (p)
    p->access = access;
  return p != NULL;
}

/* Makes a function or private variable.  The variable becomes values, or a buffer if it is dynamically indexed or large.  A
 * variable that always holds one constant becomes a constant buffer. */
static bool
make_variable(import *m, uint32_t id, uint32_t initializer)
{
  id_info *info = &m->ids[id];
  const spv_type *t = import_type(m, info->type), *pointee = t ? import_type(m, t->element) : NULL;
  root *r = AT(root, m->roots, info->root);
  if (!pointee)
    return false;
  pointer_base base = BASE_LEAVES;
  uint32_t first;
  bool values = pointee->sized && pointee->leaves <= IMPORT_LOCAL_LEAVES && !(r->flags & ROOT_DYNAMIC);
  if (values) {
    first = locals_add(m, t->element, id);
    if (m->loop && !initializer && info->kind == ID_LOCAL)
      locals_unset(m, first);
  } else {
    base = BASE_BUFFER;
    if (r->epoch != m->program_epoch) {
      bool constant = (r->flags & ROOT_CONSTANT) != 0 && import_may_be_table(m, r->constant);
      r->global = import_add_global(m, id, constant ? VYRE_SPACE_CONSTANT : VYRE_SPACE_PRIVATE, constant ? r->constant : 0);
      r->epoch = m->program_epoch;
    }
    first = r->global;
  }
  if (!add_pointer(m, id, base, t->element, first))
    return false;
  if (!initializer || (base == BASE_BUFFER && AT(global, m->globals, first)->space == VYRE_SPACE_CONSTANT))
    return true;
  bool once = info->kind == ID_GLOBAL || m->instance->is_entry;
  if (base == BASE_BUFFER && once && import_is_null(m, initializer) && m->ids[initializer].type == t->element)
    return true; /* of any size: private buffers are zero-initialized */
  if (m->ids[initializer < m->bound ? initializer : 0].kind == ID_CONSTANT && import_is_in_memory(m->ids[initializer].t))
    return import_store_aggregate(m, id, initializer, 0);
  spv_value v;
  if (!import_value(m, initializer, &v))
    return false;
  if (v.type != t->element)
    return import_uncovered(m, "initializer %u does not have the type of the variable", initializer);
  uint32_t mark = m->stack.count, *rows = list_add(m, &m->stack, sizeof(uint32_t), v.count);
  for (uint32_t k = 0; rows && k < v.count; k++)
    rows[k] = v.leaves[k];
  bool ok = rows && import_store_leaves(m, info->value, mark, 0);
  m->stack.count = mark;
  return ok;
}

bool
import_variable(import *m)
{
  const uint32_t *words = m->words + m->at;
  const spv_type *t = import_type(m, words[1]);
  if (!t || t->form != FORM_POINTER || words[3] != SpvStorageClassFunction || t->count != SpvStorageClassFunction)
    return import_fail(m, "a variable in a function must have the storage class Function");
  return make_variable(m, words[2], words[0] >> 16 > 4 ? words[4] : 0);
}

/* Returns whether the variable is kept without uses: the program's caller binds it, or it zeroes memory that other invocations
 * share. */
static bool
stays_unused(const import *m, uint32_t id, const global *g)
{
  const bool zeroes = m->words[m->ids[id].def] >> 16 > 4 && import_decoration(m, id, SpvDecorationAliased, &(uint32_t){0});
  return g->space <= VYRE_SPACE_PUSH || g->space == VYRE_SPACE_HANDLE || (g->space == VYRE_SPACE_WORKGROUP && zeroes);
}

bool
import_make_globals(import *m, const entry *e)
{
  for (uint32_t k = 0; k < m->variables.count; k++)
    if (!make_global(m, *AT(uint32_t, m->variables, k)))
      return false;
  for (uint32_t k = 0; k < m->variables.count; k++) {
    uint32_t id = *AT(uint32_t, m->variables, k);
    const spv_type *t = import_type(m, m->ids[id].type);
    m->at = m->ids[id].def;
    if (t && t->count == SpvStorageClassPrivate && !make_variable(m, id, m->words[m->at] >> 16 > 4 ? m->words[m->at + 4] : 0))
      return false;
  }
  /* The interface: all variables for a single entry point; for several entry points, those that each lists or uses. */
  m->at = e->word;
  size_t length = 0;
  (void)import_text(m, e->word + 3, e->word + (m->words[e->word] >> 16), &length);
  uint32_t named = e->word + 4 + (uint32_t)(length / sizeof(uint32_t)), end = e->word + (m->words[e->word] >> 16);
  bool all = m->entries.count == 1 && m->stages.count == 0;
  for (uint32_t k = all ? 0 : named; k < (all ? m->variables.count : end); k++) {
    uint32_t id = all ? *AT(uint32_t, m->variables, k) : m->words[k];
    if (id >= m->bound || m->ids[id].kind != ID_GLOBAL || m->ids[id].epoch != m->program_epoch)
      continue;
    const pointer *p = AT(pointer, m->pointers, m->ids[id].value);
    if (p->base != BASE_BUFFER || !stays_unused(m, id, AT(global, m->globals, p->first)))
      continue;
    m->at = m->ids[id].def;
    if (!import_global_row(m, p->first))
      return false;
  }
  m->at = e->word;
  return true;
}

/* ---- access chains ---- */

static bool
add_step(import *m, pointer *p, uint32_t index, bool literal)
{
  step *s = list_add(m, &m->steps, sizeof(step), 1);
  if (!s)
    return false;
  *s = (step){index, literal};
  p->step_count++;
  return true;
}

/* Returns the row of an index, which may not be visible here. */
static uint32_t
index_row(import *m, uint32_t id)
{
  spv_value v;
  const id_info *info = &m->ids[id < m->bound ? id : 0];
  uint32_t row = info->holds == HOLDS_ROW && info->epoch == m->epochs[info->kind] ? info->value : 0;
  if (!row && !import_value(m, id, &v))
    return 0;
  row = row ? row : v.count == 1 ? v.leaves[0] : 0;
  const vyre_type type = row ? import_row_type(m, row) : 0;
  const vyre_kind kind = VYRE_TYPE_KIND(type);
  if (!vyre_kind_is_int(kind) || VYRE_TYPE_LANES(type) != 1) {
    import_fail(m, "index %u is not an integer", id);
    return 0;
  }
  return vyre_kind_bits(kind) == 32 ? row : import_index(m, import_visible(m, row), false);
}

/* Appends one step of p into type t, to the last of the steps. */
static bool
append_step(import *m, pointer *p, const spv_type *t, uint32_t id)
{
  uint32_t index, leaf_index, row = 0;
  const bool literal = import_literal(m, id, &index);
  if (!literal) {
    row = index_row(m, id);
    if (!row)
      return false;
    if (t->form == FORM_STRUCT)
      return import_fail(m, "index %u of a struct is not a constant", id);
  }
  const bool outside =
      literal && (t->form == FORM_ARRAY || t->form == FORM_MATRIX || t->form == FORM_VALUE) && t->count && index >= t->count;
  if (t->form == FORM_STRUCT)
    p->access |= index < t->count ? (uint16_t)AT(spv_member, m->members, t->members + index)->access : 0;
  const uint32_t next = import_step_in(m, t, literal && !outside ? index : 0, &leaf_index);
  if (!next)
    return import_fail(m, "index %u is not valid for the indexed type", id);
  p->type = next;
  if (outside)
    p->base = BASE_NOTHING;
  if (p->base == BASE_NOTHING)
    return true;
  bool lane = t->form == FORM_VALUE, column = t->form == FORM_MATRIX && !literal;
  if (column) {
    p->has_column = true;
    p->column = row;
    p->columns = t->count;
  } else if (lane && (p->base != BASE_BUFFER || p->has_column)) {
    p->has_lane = true;
    p->lane_literal = literal;
    p->lane = literal ? index : row;
  } else if (p->base == BASE_BUFFER) {
    return add_step(m, p, literal ? index : row, literal);
  } else if (!literal || p->base == BASE_VALUE) {
    return import_uncovered(m, "index %u of a variable is not a constant, which is a bug of vyre\nFix: report this", id);
  } else {
    p->first += leaf_index;
  }
  return true;
}

/* Appends the last step of p, from an opaque value to a component of the result's pointee type. */
static bool
append_component(import *m, pointer *p, const uint32_t *words, uint32_t k)
{
  const spv_type *leads = m->ids[words[2]].t;
  const bool is_private = p->base == BASE_BUFFER && AT(global, m->globals, p->first)->space == VYRE_SPACE_PRIVATE;
  if (k + 1 != words[0] >> 16 || leads->form != FORM_POINTER || p->has_column || !(is_private || p->base == BASE_NOTHING))
    return import_uncovered(m, "a pointer into an opaque value is not supported");
  p->type = leads->element;
  p->column = index_row(m, words[k]);
  p->has_column = p->base == BASE_BUFFER;
  p->columns = 0;
  return p->column != 0;
}

bool
import_access_chain(import *m)
{
  const uint32_t *words = m->words + m->at;
  const uint32_t count = words[0] >> 16;
  const pointer *base = import_pointer(m, words[3]);
  const pointer from = base ? *base : (pointer){0};
  pointer *p = base ? list_add(m, &m->pointers, sizeof(pointer), 1) : NULL;
  if (!p)
    return false;
  *p = from;
  const uint32_t steps = p->steps;
  p->steps = m->steps.count;
  if (p->step_count && !list_add(m, &m->steps, sizeof(step), p->step_count))
    return false;
  for (uint32_t k = 0; k < p->step_count; k++)
    *AT(step, m->steps, p->steps + k) = *AT(step, m->steps, steps + k);
  p->path = 0;
  p->access |= m->ids[words[2]].flags & ID_NONUNIFORM ? POINTER_NONUNIFORM : 0;
  for (uint32_t k = 4; k < count; k++) {
    const spv_type *t = import_type(m, p->type);
    if (!t || !(import_is_opaque_type(t) ? append_component(m, p, words, k) : append_step(m, p, t, words[k])))
      return false;
  }
  const spv_type *t = m->ids[words[2]].t;
  if (t->form != FORM_POINTER || t->element != p->type)
    return import_fail(m, "its type %u is not a pointer to the accessed type", words[1]);
  return name_pointer(m, words[2], p);
}

static bool
range_of(import *m, uint32_t id, uint32_t depth, uint32_t *first, uint32_t *count, uint32_t *type_id)
{
  const id_info *info = import_id(m, id);
  if (!info || depth > 100)
    return info ? import_uncovered(m, "more than 100 access chains on each other are not supported") : false;
  const uint32_t *words = m->words + info->def;
  uint32_t op = words[0] & 0xffffu;
  if (info->kind == ID_LOCAL && op == SpvOpCopyObject)
    return range_of(m, words[3], depth + 1, first, count, type_id);
  if (info->kind == ID_LOCAL && (op == SpvOpAccessChain || op == SpvOpInBoundsAccessChain)) {
    if (!range_of(m, words[3], depth + 1, first, count, type_id))
      return false;
    for (uint32_t k = 4; k < words[0] >> 16 && *type_id; k++) {
      uint32_t index, leaf_index;
      bool literal = import_literal(m, words[k], &index);
      uint32_t next = literal ? import_step_type(m, *type_id, index, &leaf_index) : 0;
      const spv_type *t = next ? import_type(m, next) : NULL;
      *type_id = next;
      if (!t)
        continue;
      if (import_type(m, *type_id) && leaf_index + (t->leaves == NONE ? 0 : t->leaves) <= *count && t->leaves != NONE) {
        *first += leaf_index;
        *count = t->leaves;
      }
    }
    return true;
  }
  if (info->epoch != m->epochs[info->kind])
    return false;
  const pointer *p = import_pointer(m, id);
  if (!p || p->base != BASE_LEAVES)
    return false;
  const spv_type *t = import_type(m, p->type);
  *first = p->first;
  *count = p->has_column ? p->columns : t ? t->leaves : 0;
  *type_id = p->has_column || p->has_lane ? 0 : p->type;
  return t != NULL;
}

bool
import_pointer_range(import *m, uint32_t id, uint32_t *out_first, uint32_t *out_count)
{
  uint32_t type_id = 0;
  return range_of(m, id, 0, out_first, out_count, &type_id) && !failed(m);
}
