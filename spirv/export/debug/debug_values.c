/* Source variables: writes DebugValue for rows that are their values, DebugDeclare for those in memory (vyre_scope_info).
 *
 * A DebugValue follows the instruction of its row.  For a var, it is written at sets whose value no other row has, and at joins,
 * after the phis.  If a variable's rows were removed, or moved to where they run at other times, its values are not written,
 * because a debugger would show an older or newer value.
 *
 * Cost: linear in the rows and their values, times the nesting depth for variables with several values.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/export/control/control.h"
#include "spirv/export/debug/debug.h"

#include "vyre/view.h"

enum { MOST_PARTS = 32 };
#define LOST UINT32_MAX

/* Returns the number of values of the variable and its parts, or LOST. */
static uint32_t *
values_of(vyre_spv *s, vyre_scope variable)
{
  return &vyre_spv_made_of(s, VYRE_SPV_VALUES, (uint64_t)s->program << 32 | variable, 0)->id;
}

/* Returns the number of values of the variable as a whole. */
static uint32_t *
whole_values_of(vyre_spv *s, vyre_scope variable)
{
  return &vyre_spv_made_of(s, VYRE_SPV_VALUES, (uint64_t)s->program << 32 | variable, 1)->id;
}

static vyre_scope
values_at(const vyre_spv *s, uint32_t row)
{
  return vyre_scope_get(s->module, vyre_row_scope(s->module, (vyre_row){row})).values;
}

/* Returns whether the row holds a variable, rather than one value of it. */
static bool
holds_variable(const vyre_spv *s, uint32_t row)
{
  return vyre_spv_opcode(s, row) == VYRE_OP_var || vyre_spv_opcode(s, row) == VYRE_OP_buffer;
}

/* Marks the variable as lost, and all variables that contain it. */
static void
mark_lost(vyre_spv *s, vyre_scope variable)
{
  for (; variable; variable = vyre_scope_get(s->module, variable).variable)
    *values_of(s, variable) = LOST;
}

/* Returns whether it is a var that is a function variable.  Not every assignment of the source variable stores to it (demote.c). */
static bool
is_demoted(const vyre_spv *s, uint32_t row)
{
  return vyre_spv_opcode(s, row) == VYRE_OP_var && (s->use[row - s->base] & VYRE_SPV_IN_MEMORY) != 0;
}

/* Returns the number of rows that write to the buffer. */
static uint32_t *
writes_to(vyre_spv *s, uint32_t buffer)
{
  return &vyre_spv_made_of(s, VYRE_SPV_WRITES, buffer, 0)->id;
}

/* Counts the value.  Returns false if its row has moved. */
static bool
count_value(vyre_spv *s, uint32_t row, const vyre_scope_info *value)
{
  vyre_spv_made *last = vyre_spv_made_of(s, VYRE_SPV_LAST_VALUE, (uint64_t)s->program << 32 | value->variable, 0);
  const bool follows = value->order >= last->id;
  last->id = value->order;
  ++*whole_values_of(s, value->variable);
  for (vyre_scope of = value->variable; of; of = vyre_scope_get(s->module, of).variable)
    *values_of(s, of) += *values_of(s, of) != LOST;
  return value->depth == 0 || (follows && value->depth == 1 + vyre_row_depth(s->view, row));
}

/* Returns whether the variable has `index` values.  A value of the whole is also a value of each part, and vice versa. */
static bool
has_all(vyre_spv *s, vyre_scope variable, uint32_t index)
{
  uint64_t count = *values_of(s, variable);
  while (count < index && (variable = vyre_scope_get(s->module, variable).variable) != 0)
    count += *whole_values_of(s, variable);
  return count >= index;
}

void
vyre_spv_find_values(vyre_spv *s)
{
  s->has_values = false;
  if (!s->debug_set || s->lined == 0)
    return;
  for (uint32_t row = s->program + 1; row < s->end; row++) {
    if (vyre_op_flags_of(s->view, row) & VYRE_OP_WRITES && vyre_spv_opcode(s, row) != VYRE_OP_set)
      ++*writes_to(s, vyre_buffer_of(s->view, s->a[row]));
    for (vyre_scope_info value = {.values = values_at(s, row)}; value.values;) {
      value = vyre_scope_get(s->module, value.values);
      s->has_values = true;
      if (is_demoted(s, row) || (!holds_variable(s, row) && !count_value(s, row, &value)))
        mark_lost(s, value.variable);
    }
  }
  for (uint32_t row = s->program + 1; row < s->end && s->has_values; row++)
    for (vyre_scope_info value = {.values = values_at(s, row)}; value.values;) {
      value = vyre_scope_get(s->module, value.values);
      const bool is_buffer = vyre_spv_opcode(s, row) == VYRE_OP_buffer;
      if (is_buffer ? *writes_to(s, row) < value.index : !has_all(s, value.variable, value.index))
        mark_lost(s, value.variable);
    }
}

/* Returns the DebugExpression without operations, which is written once. */
static uint32_t
expression(vyre_spv *s)
{
  uint32_t id = vyre_spv_made_of(s, VYRE_SPV_A_DEBUG, UINT32_MAX, 0)->id;
  if (!id) {
    id = vyre_spv_debug_put(s, &s->globals, VYRE_DEBUG_EXPRESSION, NULL, 0);
    vyre_spv_made_of(s, VYRE_SPV_A_DEBUG, UINT32_MAX, 0)->id = id;
  }
  return id;
}

/* Writes a DebugValue or DebugDeclare of the variable or part. */
static void
write_value(vyre_spv *s, uint32_t instruction, vyre_scope variable, uint32_t id)
{
  uint32_t parts[MOST_PARTS], count = 0, operands[3 + MOST_PARTS] = {0, id, 0};
  vyre_scope_info info = vyre_scope_get(s->module, variable);
  bool is_lost = *values_of(s, variable) == LOST;
  for (; info.variable && count < MOST_PARTS && !is_lost; info = vyre_scope_get(s->module, variable)) {
    parts[count++] = info.index - 1;
    variable = info.variable;
    is_lost = *values_of(s, variable) == LOST;
  }
  operands[0] = is_lost || info.variable ? 0 : vyre_spv_debug_local(s, &info);
  if (!operands[0] || !vyre_spv_debug_entity(s, &info))
    return;
  operands[2] = expression(s);
  for (uint32_t k = 0; k < count; k++)
    operands[3 + k] = vyre_spv_u32(s, parts[count - 1 - k]);
  if (vyre_spv_debug_enter(s, &s->here, &info))
    s->here = (vyre_spv_position){variable, UINT32_MAX, 0}; /* not on a source line */
  vyre_spv_debug_put(s, &s->code, instruction, operands, 3 + count);
}

/* Writes the variables of the row, oldest first; at most `left`. */
static void
write_values(vyre_spv *s, vyre_scope values, uint32_t id, uint32_t left)
{
  const vyre_scope_info value = vyre_scope_get(s->module, values);
  if (value.values && left > 1)
    write_values(s, value.values, id, left - 1);
  if (!vyre_spv_failed(s))
    write_value(s, VYRE_DEBUG_VALUE, value.variable, id);
}

void
vyre_spv_write_debug_value(vyre_spv *s, uint32_t row, uint32_t id)
{
  const uint32_t of = vyre_spv_opcode(s, row) == VYRE_OP_set ? s->a[row] : row;
  if (!id || s->is_silent || !vyre_kind_is_scalar(VYRE_TYPE_KIND(vyre_spv_row_type(s, of))))
    return;
  const vyre_scope values = values_at(s, row);
  if (values)
    write_values(s, values, id, VYRE_SCOPE_VALUES);
}

void
vyre_spv_declare_variables(vyre_spv *s)
{
  for (size_t i = 0; i < s->declared.count && s->has_values && !vyre_spv_failed(s); i++) {
    const uint32_t row = s->declared.data[i];
    for (vyre_scope_info value = {.values = vyre_spv_opcode(s, row) == VYRE_OP_buffer ? values_at(s, row) : 0}; value.values;) {
      value = vyre_scope_get(s->module, value.values);
      write_value(s, VYRE_DEBUG_DECLARE, value.variable, s->id[row - s->base]);
    }
  }
}
