/* Source variables: marks the rows that are their values (DebugDeclare, DebugValue of NonSemantic.Shader.DebugInfo.100).
 *
 * The table has no rows for source variables.  Instead, a row's scope lists the variables whose value the row is (vyre_scope_info),
 * and passes that move the row keep it.  A debugger must never show a wrong value, so a variable
 *
 *  that gets one value: is the row of that value everywhere, except in a loop that may show the value of the iteration before;
 *  that gets several values: has a row for each, made for the value in the region that assigns it.  A literal or an older value
 * needs a `set` just after it, before a branch or at a join.
 *
 * Other variables have no values for the debugger.  A pass may remove such a row, or move it to where it runs at other times.  The
 * exporter compares the rows with the scopes, and then shows all values of the variable or none.
 *
 * Cost: linear in the leaves of the variables and in their values, times the nesting depth of variables with several values.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/import/import.h"

#include "vyre/view.h"

enum {
  MOST_UNSET = 8, /* most values before the last that may still wait for a `set` */
  MOST_NEXT = 64, /* most instructions between a value and its DebugValue */
};

static debug_variable *
variable_at(const import *m, uint32_t index)
{
  return AT(debug_variable, m->debug_variables, index);
}

static debug_value *
value_at(const import *m, uint32_t index)
{
  return AT(debug_value, m->debug_values, index);
}

/* Returns the variable's index in the current program, or NONE. */
static uint32_t
find(const import *m, vyre_scope scope)
{
  const uint32_t place = scope < m->debug_places.count ? *AT(uint32_t, m->debug_places, scope) : NONE;
  return place < m->debug_variables.count && variable_at(m, place)->scope == scope ? place : NONE;
}

/* Adds a variable.  Returns its index, or NONE if there is no memory or no scope. */
static uint32_t
add(import *m, vyre_scope scope)
{
  const uint32_t known = m->debug_places.count, index = m->debug_variables.count;
  if (scope == 0)
    return NONE;
  if (known <= scope) {
    uint32_t *places = list_add(m, &m->debug_places, sizeof(uint32_t), scope + 1 - known);
    for (uint32_t k = 0; places && k < scope + 1 - known; k++)
      places[k] = NONE;
  }
  debug_variable *v = list_add(m, &m->debug_variables, sizeof(debug_variable), 1);
  if (!v || failed(m))
    return NONE;
  *v = (debug_variable){.scope = scope, .base = BASE_NOTHING, .last = NONE};
  *AT(uint32_t, m->debug_places, scope) = index;
  return index;
}

/* ---- assigned values ---- */

static bool
is_literal(const import *m, uint32_t row)
{
  const vyre_opcode op = (vyre_opcode)VYRE_ROW_OP(m->view->op[row]);
  return row == 0 || op == VYRE_OP_const || op == VYRE_OP_spec;
}

/* Returns whether the row may be at the program's start: a literal, a built-in, or a row of such operands only. */
static bool
is_of_start(const import *m, uint32_t row, uint32_t depth)
{
  const uint32_t operands[] = {m->view->a[row], m->view->b[row], m->view->c[row]};
  if (is_literal(m, row) || vyre_op_is_invocation(VYRE_ROW_OP(m->view->op[row])))
    return true;
  bool all = depth > 0 && vyre_row_is_pure(m->view, row);
  for (size_t i = 0; i < sizeof(operands) / sizeof(*operands) && all; i++)
    all = operands[i] == 0 || is_of_start(m, operands[i], depth - 1);
  return all;
}

/* Records a value of the variable.  `made`: the caller knows that the row was made for the value; `enters`: the variable's scope
 * begins. */
static void
record_value(import *m, uint32_t variable, uint32_t row, bool made, bool enters)
{
  debug_variable *v = variable_at(m, variable);
  if (v->last != NONE && value_at(m, v->last)->row == row && row)
    return;
  debug_value *value = list_add(m, &m->debug_values, sizeof(debug_value), 1);
  if (!value)
    return;
  const bool here = m->view->parent[row] == m->region && !is_of_start(m, row, 3), own = made && here;
  const bool first = v->writes == 0 && !m->loop, with_row = !m->loop || enters || (here && row >= m->labelled);
  *value = (debug_value){.variable = variable,
                         .row = row,
                         .before = v->last,
                         .after = m->view->rows,
                         .kind = own     ? DEBUG_OWN
                                 : first ? DEBUG_FIRST
                                         : DEBUG_UNSET,
                         .with_row = with_row,
                         .in_loop = m->loop != 0};
  v->last = m->debug_values.count - 1;
  v->writes++;
  v->after = m->view->rows;
}

/* Returns whether no variable got a value and no branch began or ended since the row was made. */
static bool
is_new(const import *m, uint32_t variable, uint32_t row)
{
  return row >= variable_at(m, variable)->after && row >= m->stored;
}

void
import_debug_write(import *m, uint32_t variable, uint32_t row)
{
  record_value(m, variable, row, is_new(m, variable, row), false);
}

/* Returns whether the rows from `from` to `end`, where the set is inserted, have no effect.  Then they are also in one region. */
static bool
is_at_once(const import *m, uint32_t from, uint32_t end)
{
  if (end - from > MOST_NEXT)
    return false;
  for (uint32_t row = from; row < end; row++) {
    const vyre_opcode op = (vyre_opcode)VYRE_ROW_OP(m->view->op[row]);
    if (op != VYRE_OP_set && op != VYRE_OP_const && op != VYRE_OP_spec && op != VYRE_OP_var)
      return false;
  }
  return true;
}

void
import_debug_set(import *m, uint32_t variable, uint32_t set, uint32_t row, uint32_t next)
{
  uint32_t index = variable_at(m, variable)->last;
  for (uint32_t k = 0; index != NONE && value_at(m, index)->row != row && k < MOST_UNSET; k++)
    index = value_at(m, index)->before;
  if (index == NONE || value_at(m, index)->row != row || value_at(m, index)->kind == DEBUG_OWN)
    return;
  const uint32_t op = m->words[m->at] & 0xffffu;
  const bool is_only_way = next || (op != SpvOpBranchConditional && op != SpvOpSwitch);
  if (!is_only_way || !is_at_once(m, value_at(m, index)->after, next ? next : set))
    return;
  value_at(m, index)->kind = DEBUG_SET;
  set_row *s = list_add(m, &m->debug_sets, sizeof(set_row), 1);
  if (s)
    *s = (set_row){set, variable};
}

/* ---- debug instructions ---- */

/* Returns the scope of the variable `id` in the current instance, or 0 if it was not kept. */
static vyre_scope
scope_of(import *m, uint32_t id)
{
  const vyre_scope_info *around = m->where.entity ? &m->where : &m->around;
  if (import_kept_number(m, id) != VYRE_DEBUG_LOCAL)
    return 0;
  return vyre_scope_intern(
      m->module, &(vyre_scope_info){.entity = id, .caller = around->caller, .call_line = around->call_line, .call = around->call});
}

static vyre_scope
part_of(import *m, vyre_scope variable, uint32_t k)
{
  return variable ? vyre_scope_intern(m->module, &(vyre_scope_info){.variable = variable, .index = 1 + k}) : 0;
}

/* Returns whether the expression is the value itself.  Then *scope becomes the part of the variable that the indices after it
 * select. */
static bool
is_plain(import *m, const uint32_t *words, vyre_scope *scope)
{
  const uint32_t id = words[7], def = id < m->bound && m->ids[id].kind == ID_GROUP ? m->ids[id].def : 0;
  if (!def || !import_is_debug(m, m->words + def, VYRE_DEBUG_EXPRESSION, 5) || m->words[def] >> 16 != 5)
    return false;
  for (uint32_t k = 8; k < words[0] >> 16; k++) {
    uint32_t index;
    if (!import_literal(m, words[k], &index) || index >= IMPORT_MAX_LEAVES)
      return false;
    *scope = part_of(m, *scope, index);
  }
  return *scope != 0;
}

typedef struct walk {
  vyre_scope place;
  uint32_t line;
  const uint32_t *rows; /* DebugValue: rows of the leaves; NULL if the leaves are locals */
  bool is_next;         /* the DebugValue follows the instruction that made the rows */
  uint32_t leaf;        /* the next leaf */
} walk;

static void
record_leaf(import *m, walk *w, vyre_scope scope)
{
  const uint32_t at = w->leaf++, known = find(m, scope);
  if (w->rows) {
    const uint32_t index = known != NONE ? known : add(m, scope);
    if (index != NONE)
      record_value(m, index, w->rows[at],
                   (w->is_next && w->rows[at] >= variable_at(m, index)->after) || is_new(m, index, w->rows[at]), false);
    return;
  }
  if (known != NONE) /* two copies of the function declare it */
    variable_at(m, known)->lost = true;
  if (AT(leaf, m->locals, at)->debug || VYRE_TYPE_KIND(AT(leaf, m->locals, at)->type) == VYRE_OPAQUE || known != NONE)
    return;
  const uint32_t index = add(m, scope);
  if (index == NONE)
    return;
  debug_variable *v = variable_at(m, index);
  v->place = w->place;
  v->line = w->line;
  v->after = m->view->rows;
  v->base = BASE_LEAVES;
  v->at = at;
  AT(leaf, m->locals, at)->debug = index + 1;
  const uint32_t current = AT(leaf, m->locals, at)->current;
  if (current && current != LEAF_UNSET) /* an argument */
    record_value(m, index, current, false, true);
}

static void
walk_leaves(import *m, walk *w, uint32_t type, vyre_scope scope)
{
  const spv_type *t = import_type(m, type);
  if (!t || failed(m))
    return;
  switch ((type_form)t->form) {
  case FORM_VALUE:
    record_leaf(m, w, scope);
    return;
  case FORM_MATRIX:
  case FORM_ARRAY:
    for (uint32_t k = 0; k < t->count; k++)
      if (t->form == FORM_MATRIX)
        record_leaf(m, w, part_of(m, scope, k));
      else
        walk_leaves(m, w, t->element, part_of(m, scope, k));
    return;
  case FORM_STRUCT:
    for (uint32_t k = 0; k < t->count; k++)
      walk_leaves(m, w, AT(spv_member, m->members, t->members + k)->type, part_of(m, scope, k));
    return;
  default:
    return;
  }
}

/* Reports the dropped debug instruction, once. */
static void
leave_out(import *m)
{
  import_drop(m, "some values of variables of functions of " VYRE_DEBUG_SET);
}

/* Returns the pointer of a variable or parameter, or NULL if the id is another value or points into a variable. */
static const pointer *
whole_pointer(const import *m, uint32_t id)
{
  const id_info *info = &m->ids[id < m->bound ? id : 0];
  if (info->kind != ID_LOCAL || info->holds != HOLDS_POINTER || info->epoch != m->epochs[ID_LOCAL])
    return NULL;
  const pointer *p = AT(pointer, m->pointers, info->value);
  const bool whole = !p->has_lane && !p->has_column && (p->base == BASE_LEAVES || (p->base == BASE_BUFFER && p->step_count == 0));
  return whole ? p : NULL;
}

void
import_debug_declare(import *m, const uint32_t *words)
{
  vyre_scope scope = scope_of(m, words[5]);
  const pointer *p = whole_pointer(m, words[6]);
  if (!p || !is_plain(m, words, &scope)) {
    leave_out(m);
    return;
  }
  const uint32_t *declared = m->words + m->ids[words[5]].def, parent = declared[5 + VYRE_DEBUG_LOCAL_PARENT];
  vyre_scope_info place = vyre_scope_get(m->module, scope);
  place.file = m->where.file;
  place.entity = vyre_words_debug_parent(import_kept_number(m, parent)) ? parent : 0;
  uint32_t line = 0;
  if (!import_literal(m, declared[5 + VYRE_DEBUG_LOCAL_LINE], &line) || line == 0)
    line = 1; /* a position without a line means no position */
  if (p->base == BASE_LEAVES) {
    walk w = {.place = vyre_scope_intern(m->module, &place), .line = line, .leaf = p->first};
    walk_leaves(m, &w, p->type, scope);
    return;
  }
  const vyre_space space = AT(global, m->globals, p->first)->space;
  const uint32_t at = p->first, index = (space == VYRE_SPACE_PRIVATE || space == VYRE_SPACE_CONSTANT) && find(m, scope) == NONE
                                            ? add(m, scope)
                                            : NONE;
  if (index == NONE)
    return;
  debug_variable *v = variable_at(m, index);
  v->place = vyre_scope_intern(m->module, &place);
  v->line = line;
  v->base = BASE_BUFFER;
  v->at = at;
}

/* Returns whether only phis and debug instructions are between the instruction at word `def`, which makes a row, and the current
 * one. */
static bool
follows(const import *m, uint32_t def)
{
  const uint32_t made_by = m->words[def] & 0xffffu;
  if (made_by == SpvOpLoad || made_by == SpvOpCopyObject || made_by == SpvOpBitcast || made_by == SpvOpFunctionCall ||
      (made_by >= SpvOpVectorExtractDynamic && made_by <= SpvOpCompositeInsert))
    return false;
  uint32_t at = def + (m->words[def] >> 16);
  for (uint32_t k = 0; at < m->at && k < MOST_NEXT; k++) {
    const uint32_t *words = m->words + at, op = words[0] & 0xffffu;
    if (op != SpvOpPhi && op != SpvOpLine && op != SpvOpNoLine && !import_is_nonsemantic(m, words))
      return false;
    at += words[0] >> 16;
  }
  return at == m->at;
}

void
import_debug_value(import *m, const uint32_t *words)
{
  vyre_scope scope = scope_of(m, words[5]);
  const id_info *info = &m->ids[words[6] < m->bound ? words[6] : 0];
  const bool is_constant = info->kind == ID_CONSTANT, is_value = info->kind == ID_LOCAL && info->holds != HOLDS_POINTER;
  const spv_type *t = is_constant || (is_value && info->epoch == m->epochs[ID_LOCAL]) ? import_type(m, info->type) : NULL;
  uint32_t rows[IMPORT_LOCAL_LEAVES] = {0};
  if (!t || !t->sized || t->leaves > IMPORT_LOCAL_LEAVES || !is_plain(m, words, &scope)) {
    leave_out(m);
    return;
  }
  for (uint32_t k = 0; k < t->leaves && is_value; k++) {
    const uint32_t row = t->form == FORM_VALUE ? info->value : *AT(uint32_t, m->leaves, info->value + k);
    rows[k] = row && import_is_visible(m, row) ? row : 0;
  }
  walk w = {.rows = rows, .is_next = is_value && follows(m, info->def)};
  walk_leaves(m, &w, info->type, scope);
  m->stored = m->view->rows;
}

/* ---- marking rows with their variables, at the end of the import ---- */

static bool
has_line(const import *m, uint32_t row)
{
  uint32_t rows;
  const uint32_t *lines = vyre_module_lines(m->module, &rows);
  return row && row < rows && lines[row] != 0;
}

/* Returns whether the row has a position to add the value to, or may get the variable's position, as built-ins do. */
static bool
has_place(const import *m, const debug_variable *v, uint32_t row)
{
  return v->place || has_line(m, row);
}

/* Counts the rows that are values of the variable.  Returns false if one of its values has no row. */
static bool
count_values(import *m, debug_variable *v)
{
  const bool has_var = v->base == BASE_LEAVES && AT(leaf, m->locals, v->at)->gets != 0;
  const debug_value *last = v->last != NONE ? value_at(m, v->last) : NULL;
  v->rows = v->sets = 0;
  const bool comes_around = has_var && last && last->in_loop; /* a new iteration may read it before it gets a new value */
  if (v->writes == 1 && last->kind != DEBUG_OWN && last->with_row && !comes_around && has_place(m, v, last->row) &&
      !is_literal(m, last->row))
    value_at(m, v->last)->kind = DEBUG_OWN;
  for (uint32_t k = v->last; k != NONE && !v->lost; k = value_at(m, k)->before) {
    const debug_value *value = value_at(m, k);
    v->lost = value->kind == DEBUG_UNSET || (value->kind == DEBUG_SET && !has_var) ||
              (value->kind == DEBUG_OWN && !has_place(m, v, value->row)) || (value->kind == DEBUG_FIRST && v->writes == 1);
    v->rows += value->kind == DEBUG_OWN;
  }
  return !v->lost;
}

/* Returns whether the `set` is a value that no row has. */
static bool
replaces_row(import *m, const set_row *s)
{
  const debug_variable *v = variable_at(m, s->leaf);
  return !v->lost && (v->writes > 1 || value_at(m, v->last)->kind == DEBUG_SET);
}

/* Returns the number of `set` rows that replace one of the variable: one per lane if its lanes are split. */
static uint32_t
sets_per_set(const import *m, const debug_variable *v)
{
  const leaf *l = v->base == BASE_LEAVES ? AT(leaf, m->locals, v->at) : NULL;
  return l && l->carried ? VYRE_TYPE_LANES(l->type) : 1;
}

/* The position of a row, by which the exporter recognizes that the row did not move; 0, 0 if it may be anywhere. */
typedef struct row_position {
  uint32_t order, depth;
} row_position;

static bool
is_in_loop(const import *m, uint32_t row)
{
  while (row && !vyre_row_is_loop(m->view, row))
    row = m->view->parent[row];
  return row != 0;
}

static row_position
position_of(const import *m, const debug_variable *v, uint32_t row)
{
  row_position s = {0, 0};
  if (v->writes < 2 && !is_in_loop(m, row)) /* a single value needs no position, except in a loop */
    return s;
  s.order = *AT(uint32_t, m->debug_order, row);
  s.depth = 1 + vyre_row_depth(m->view, row);
  return s;
}

/* Marks the row as a value of the variable, which has `count` values. */
static void
set_value(import *m, uint32_t row, const debug_variable *v, vyre_scope variable, uint32_t count, row_position at)
{
  uint32_t line, column;
  vyre_string file;
  const bool placed = vyre_row_line(m->module, (vyre_row){row}, &file, &line, &column);
  const vyre_scope scope = placed ? vyre_row_scope(m->module, (vyre_row){row}) : v->place;
  line = placed ? line : v->line;
  vyre_scope_info info = vyre_scope_get(m->module, scope);
  uint32_t known = 0;
  for (vyre_scope other = info.values; other; other = vyre_scope_get(m->module, other).values)
    known++;
  if (known >= VYRE_SCOPE_VALUES) /* the variable then lacks a value, so none of its values are shown */
    return;
  info.values = vyre_scope_intern(
      m->module,
      &(vyre_scope_info){.variable = variable, .index = count, .values = info.values, .order = at.order, .depth = at.depth});
  const vyre_scope with = info.values ? vyre_scope_intern(m->module, &info) : 0;
  if (with)
    vyre_row_set_place(m->module, (vyre_row){row}, with, line, column);
}

/* Counts, by row, the rows before it in the program, and, by buffer, the rows that write to it. */
static void
find_order(import *m)
{
  const vyre_view *v = m->view;
  const uint32_t known = m->debug_order.count;
  uint32_t *added = known < v->rows ? list_add(m, &m->debug_order, sizeof(uint32_t), v->rows - known) : NULL, order = 0;
  for (uint32_t row = m->program; row && added; row = vyre_row_after(v, row, m->program)) {
    *AT(uint32_t, m->debug_order, row) = VYRE_ROW_OP(v->op[row]) == VYRE_OP_buffer ? 0 : order++;
    if (vyre_op_flags_of(v, row) & VYRE_OP_WRITES)
      ++*AT(uint32_t, m->debug_order, vyre_buffer_of(v, v->a[row]));
  }
}

void
import_debug_finish(import *m)
{
  find_order(m);
  if (failed(m))
    return;
  for (uint32_t k = 0; k < m->debug_variables.count; k++)
    if (!count_values(m, variable_at(m, k)))
      leave_out(m);
  for (uint32_t k = 0; k < m->debug_sets.count; k++) {
    const set_row *s = AT(set_row, m->debug_sets, k);
    debug_variable *v = variable_at(m, s->leaf);
    v->sets += replaces_row(m, s);
  }
  for (uint32_t k = 0; k < m->debug_values.count && !failed(m); k++) {
    const debug_value *value = value_at(m, k);
    const debug_variable *v = variable_at(m, value->variable);
    if (!v->lost && value->kind == DEBUG_OWN)
      set_value(m, value->row, v, v->scope, v->rows + v->sets * sets_per_set(m, v), position_of(m, v, value->row));
  }
  for (uint32_t k = 0; k < m->debug_sets.count && !failed(m); k++) {
    const set_row *s = AT(set_row, m->debug_sets, k);
    const debug_variable *v = variable_at(m, s->leaf);
    if (replaces_row(m, s))
      set_value(m, s->row, v, v->scope, v->rows + v->sets, position_of(m, v, s->row));
  }
  for (uint32_t k = 0; k < m->debug_variables.count && !failed(m); k++) {
    const debug_variable *v = variable_at(m, k);
    const uint32_t row = v->base == BASE_LEAVES   ? AT(leaf, m->locals, v->at)->var
                         : v->base == BASE_BUFFER ? AT(global, m->globals, v->at)->row
                                                  : 0;
    const uint32_t count = v->base == BASE_LEAVES ? v->rows + v->sets : *AT(uint32_t, m->debug_order, row);
    if (row && !v->lost)
      set_value(m, row, v, v->scope, count, (row_position){0, 0});
  }
}

void
import_debug_lane_var(import *m, uint32_t variable, uint32_t var, uint32_t lane)
{
  const debug_variable *v = variable_at(m, variable);
  if (!v->lost)
    set_value(m, var, v, part_of(m, v->scope, lane), v->rows + v->sets, (row_position){0, 0});
}

/* The sets of the lanes replace the set, so they get its position. */
void
import_debug_lane_set(import *m, uint32_t variable, uint32_t set, uint32_t lane_set, uint32_t lane)
{
  const debug_variable *v = variable_at(m, variable);
  const vyre_scope_info of_set = vyre_scope_get(m->module, vyre_row_scope(m->module, (vyre_row){set}));
  const vyre_scope_info value = vyre_scope_get(m->module, of_set.values);
  if (of_set.values)
    set_value(m, lane_set, v, part_of(m, v->scope, lane), v->rows + v->sets, (row_position){value.order, value.depth});
}
