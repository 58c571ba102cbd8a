/* Folds a pure row whose operands are literals, if every device computes the same result.
 *
 * A literal is a const row, an immediate, or a join of literals up to three deep (a vector that is not a splat). Tuples of literals
 * are operands too, and a part of an op with several results is a result. Ops computed by libm are not folded. Floats are not
 * folded unless the program's float mode is round to nearest with denormals kept. O(1).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "vyre/eval.h"
#include "vyre/ir.h"
#include "vyre/view.h"

#define DEEPEST 4u

typedef struct literal {
  vyre_value value[VYRE_EVAL_PARTS];
  vyre_eval_operand operand;
} literal;

static bool evaluate(const vyre_module *module, uint32_t row, const uint64_t *const given[3], vyre_value out[VYRE_EVAL_PARTS],
                     uint32_t depth);

static const uint64_t *const nothing_given[3];

static vyre_value
splat(vyre_type type, uint64_t bits)
{
  vyre_value value = {{0}};
  for (uint32_t lane = 0; lane < VYRE_TYPE_LANES(type); lane++)
    value.lane[lane] = bits;
  return value;
}

static uint64_t
payload(const vyre_view *view, uint32_t row)
{
  return (uint64_t)view->imm_hi[row] << 32 | view->imm[row];
}

static bool
literal_value(const vyre_module *module, uint32_t row, vyre_value *out, uint32_t depth)
{
  const vyre_view *view = vyre_module_view(module);
  uint32_t op = VYRE_ROW_OP(view->op[row]);
  if (op == VYRE_OP_const) {
    *out = splat(VYRE_ROW_TYPE(view->op[row]), payload(view, row));
    return true;
  }
  vyre_value parts[VYRE_EVAL_PARTS];
  if (op != VYRE_OP_join || depth >= DEEPEST || !evaluate(module, row, nothing_given, parts, depth + 1))
    return false;
  *out = parts[0];
  return true;
}

/* Reads tuple(a, b, c), or (a, b, the rest), with up to VYRE_EVAL_PARTS parts. */
static bool
literal_tuple(const vyre_module *module, uint32_t row, literal *out, uint32_t depth)
{
  const vyre_view *view = vyre_module_view(module);
  uint32_t count = VYRE_TUPLE_COUNT(view->imm[row]);
  if (count == 0 || count > VYRE_EVAL_PARTS)
    return false;
  uint32_t left = count, at = row, k = 0;
  vyre_type type = 0;
  while (k < count) {
    const uint32_t operands[3] = {view->a[at], view->b[at], view->c[at]};
    uint32_t here = left > 3 ? 2 : left;
    for (uint32_t i = 0; i < here; i++, k++) {
      if (!literal_value(module, operands[i], &out->value[k], depth))
        return false;
      type = VYRE_ROW_TYPE(view->op[operands[i]]);
    }
    left -= here;
    at = view->c[at];
  }
  vyre_type common = VYRE_TUPLE_TYPE(view->imm[row]);
  out->operand = (vyre_eval_operand){out->value, count, VYRE_ROW_TYPE(view->op[row]), common ? common : type};
  return true;
}

static bool
read_literal(const vyre_module *module, uint32_t row, literal *out, uint32_t depth)
{
  const vyre_view *view = vyre_module_view(module);
  out->operand = (vyre_eval_operand){out->value, 0, VYRE_ROW_TYPE(view->op[row]), 0};
  if (row == 0)
    return true;
  if (VYRE_ROW_OP(view->op[row]) == VYRE_OP_tuple)
    return literal_tuple(module, row, out, depth);
  return literal_value(module, row, &out->value[0], depth);
}

static bool
has_float(const vyre_view *view, uint32_t row)
{
  return row && (vyre_kind_is_float(VYRE_TYPE_KIND(VYRE_ROW_TYPE(view->op[row]))) ||
                 (VYRE_TYPE_KIND(VYRE_ROW_TYPE(view->op[row])) == VYRE_TUPLE &&
                  vyre_kind_is_float(VYRE_TYPE_KIND(VYRE_TUPLE_TYPE(view->imm[row])))));
}

/* Returns whether the row computes with floats, so that the program's float mode matters. */
static bool
is_float_arithmetic(const vyre_view *view, uint32_t row)
{
  const vyre_op_info *info = &view->op_infos[VYRE_ROW_OP(view->op[row])];
  if (VYRE_ROW_OP(view->op[row]) == VYRE_OP_bitcast || info->klass == VYRE_CLASS_ANY)
    return false;
  return has_float(view, row) || has_float(view, view->a[row]) || has_float(view, view->b[row]) || has_float(view, view->c[row]);
}

static bool
float_mode_is_plain(const vyre_view *view, uint32_t row)
{
  while (row && VYRE_ROW_OP(view->op[row]) != VYRE_OP_program)
    row = view->parent[row];
  return (view->imm[row] & VYRE_PROGRAM_FLOAT_MODES) == 0;
}

/* Returns whether the row may be a literal. This is checked first, because most rows cannot be folded. */
static bool
may_be_literal(const vyre_view *view, uint32_t row)
{
  const uint32_t op = VYRE_ROW_OP(view->op[row]);
  return row == 0 || op == VYRE_OP_const || op == VYRE_OP_join || op == VYRE_OP_tuple;
}

/* Computes a row. taken[i], if not NULL, has the lanes that replace operand i. */
static bool
evaluate(const vyre_module *module, uint32_t row, const uint64_t *const taken[3], vyre_value out[VYRE_EVAL_PARTS], uint32_t depth)
{
  const vyre_view *view = vyre_module_view(module);
  uint32_t word = view->op[row], op = VYRE_ROW_OP(word);
  if (op >= VYRE_OP__COUNT || view->op_infos[op].fold != VYRE_FOLD_EXACT)
    return false;
  const uint32_t operands[3] = {view->a[row], view->b[row], view->c[row]};
  for (uint32_t i = 0; i < 3; i++)
    if (!taken[i] && !may_be_literal(view, operands[i]))
      return false;
  if (is_float_arithmetic(view, row) && !float_mode_is_plain(view, row))
    return false;
  literal literals[3];
  vyre_eval_operand given[3];
  for (uint32_t i = 0; i < 3; i++) {
    literals[i].value[0] = (vyre_value){{0}}; /* a missing operand */
    if (taken[i]) {
      memcpy(literals[i].value[0].lane, taken[i], sizeof(literals[i].value[0].lane));
      literals[i].operand = (vyre_eval_operand){literals[i].value, 0, VYRE_ROW_TYPE(view->op[operands[i]]), 0};
    } else if (!read_literal(module, operands[i], &literals[i], depth)) {
      return false;
    }
    given[i] = literals[i].operand;
  }
  if (VYRE_ROW_FLAGS(word) & VYRE_ROW_IMM) {
    vyre_type type = vyre_row_right_type(module, VYRE_ROW_OP(view->op[row]), (vyre_row){view->a[row]});
    literals[1].value[0] = splat(type, payload(view, row));
    given[1] = (vyre_eval_operand){literals[1].value, 0, type, 0};
  }
  bool undefined;
  return vyre_eval(word, view->imm[row], view->imm_hi[row], given, out, &undefined);
}

bool
vyre_row_fold(const vyre_module *module, uint32_t row, vyre_type *out_type, uint64_t out_lanes[4])
{
  const vyre_view *view = vyre_module_view(module);
  uint32_t source = row, part = 0;
  if (VYRE_ROW_OP(view->op[row]) == VYRE_OP_part) {
    source = view->a[row];
    part = view->imm[row];
  }
  uint32_t word = view->op[source];
  bool has_parts = VYRE_TYPE_KIND(VYRE_ROW_TYPE(word)) == VYRE_TUPLE;
  if (VYRE_ROW_OP(word) == VYRE_OP_const)
    return false; /* already folded */
  if (has_parts != (source != row) || part >= VYRE_EVAL_PARTS || !vyre_row_is_pure(view, row) || !vyre_row_is_pure(view, source))
    return false;
  vyre_value values[VYRE_EVAL_PARTS];
  if (!evaluate(module, source, nothing_given, values, 0))
    return false;
  *out_type = VYRE_ROW_TYPE(view->op[row]);
  memcpy(out_lanes, values[part].lane, sizeof(values[part].lane));
  return true;
}

bool
vyre_row_fold_given(const vyre_module *module, uint32_t row, const uint64_t *const given[3], uint64_t out_lanes[4])
{
  const vyre_view *view = vyre_module_view(module);
  vyre_value values[VYRE_EVAL_PARTS];
  if (VYRE_TYPE_KIND(VYRE_ROW_TYPE(view->op[row])) == VYRE_TUPLE || !vyre_row_is_pure(view, row) ||
      !evaluate(module, row, given, values, 0))
    return false;
  memcpy(out_lanes, values[0].lane, sizeof(values[0].lane));
  return true;
}
