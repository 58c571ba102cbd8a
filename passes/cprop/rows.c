/* The value of a row, computed from the values of its operands.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "solve.h"

#include "../cf/fold.h"
#include "../state/lanes.h"

/* Returns the row that equals a row of lanes: the scalar of a lane, or the vector that a join, insert or shuffle
 * rebuilds.  Returns 0 if there is none. */
static uint32_t
copied_lanes(const solution *s, uint32_t row)
{
  const vyre_view *v = s->v;
  const uint32_t a = v->a[row];
  const uint32_t op = vyre_op_of(v, row);
  if (op == VYRE_OP_join || op == VYRE_OP_insert || op == VYRE_OP_shuffle)
    return lanes_whole(s->v, NULL, row);
  if (op != VYRE_OP_lane || !(VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM))
    return 0;
  return s->value[a] < s->rows ? lanes_scalar(v, s->value[a], v->imm[row]) : 0;
}

/* Returns the row that a select, a part or a row of lanes copies.  Returns 0 if none is known. */
static uint32_t
copied_row(const solution *s, uint32_t row)
{
  const vyre_view *v = s->v;
  const uint32_t op = vyre_op_of(v, row);
  if (op == VYRE_OP_part)
    return fold_part(v, row);
  if (op != VYRE_OP_select)
    return copied_lanes(s, row);
  const solve_literal *condition = solve_literal_of(s, s->value[v->a[row]]);
  if (s->value[v->b[row]] == s->value[v->c[row]])
    return v->b[row];
  if (!condition || VYRE_TYPE_LANES(condition->type) > 1)
    return 0;
  return condition->lanes[0] ? v->b[row] : v->c[row];
}

/* Returns the literal that one operand alone determines: x & 0, x | ones, or an integer x * 0.  Returns 0 if there is none. */
static uint32_t
absorbed_value(solution *s, uint32_t row, const uint64_t *const given[3])
{
  const vyre_view *v = s->v;
  const vyre_type type = VYRE_ROW_TYPE(v->op[row]);
  const vyre_absorbs absorbs = (vyre_absorbs)vyre_op_info_of(v, vyre_op_of(v, row))->absorbs;
  if (absorbs == VYRE_ABSORBS_NONE || vyre_kind_is_float(VYRE_TYPE_KIND(type)))
    return 0;
  const uint64_t literal = vyre_absorbs_bits(absorbs, VYRE_TYPE_KIND(type));
  if (VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM)
    return vyre_row_imm(v, row) == literal ? solve_splat(s, type, literal) : 0;
  for (uint32_t i = 0; i < 2; i++) {
    bool all = given[i] != NULL;
    for (uint32_t lane = 0; all && lane < VYRE_TYPE_LANES(type); lane++)
      all = given[i][lane] == literal;
    if (all)
      return solve_splat(s, type, literal);
  }
  return 0;
}

/* Returns the value of an integer or bool row whose two operands have one value, or 0 if the op has no such rule.  The rules
 * *-self of pm do the same for equal rows. */
static uint32_t
value_of_equals(solution *s, uint32_t row)
{
  const vyre_view *v = s->v;
  const vyre_type type = VYRE_ROW_TYPE(v->op[row]);
  const vyre_self self = (vyre_self)vyre_op_info_of(v, vyre_op_of(v, row))->self;
  const bool of_floats = vyre_kind_is_float(VYRE_TYPE_KIND(type));
  if (self == VYRE_SELF_NONE || of_floats || v->b[row] == 0 || s->value[v->a[row]] != s->value[v->b[row]])
    return 0;
  return self == VYRE_SELF_LEFT ? s->value[v->a[row]] : solve_splat(s, type, self == VYRE_SELF_ONE);
}

static uint32_t
fold_value(solution *s, uint32_t row)
{
  const vyre_view *v = s->v;
  const uint32_t operands[3] = {v->a[row], v->b[row], v->c[row]};
  const uint64_t *given[3] = {NULL, NULL, NULL};
  bool some = (VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM) != 0;
  bool whole = VYRE_TYPE_KIND(VYRE_ROW_TYPE(v->op[row])) != VYRE_TUPLE;
  for (uint32_t i = 0; i < 3; i++) {
    const uint32_t value = s->value[operands[i]];
    if (operands[i] == 0 || VYRE_TYPE_KIND(VYRE_ROW_TYPE(v->op[operands[i]])) == VYRE_TUPLE)
      continue;
    if (value == 0)
      return 0; /* the operand's value is not known yet */
    if (value >= s->literals) {
      given[i] = solve_literal_of(s, value)->lanes;
      some = true;
    } else {
      whole = false;
    }
  }
  const uint32_t equals = value_of_equals(s, row);
  if (equals || !some)
    return equals ? equals : row;
  solve_literal result = {.type = VYRE_ROW_TYPE(v->op[row])};
  if (whole && s->ctx->host->fold_given(s->module, row, given, result.lanes))
    return solve_literal_value(s, &result);
  const uint32_t known = absorbed_value(s, row, given);
  return known ? known : row;
}

static uint32_t
load_value(solution *s, uint32_t row)
{
  if (!memory_can_follow(s->m, row))
    return row;
  const memory_state state = memory_at(s->m, s->v->version[row], s->v->a[row]);
  const memory_load load = memory_loaded(s->m, row, s->program, &state);
  if (load.is_literal)
    return solve_splat(s, VYRE_ROW_TYPE(s->v->op[row]), load.bits);
  return load.row && s->value[load.row] ? s->value[load.row] : row;
}

/* Returns the value of a get.  The arbitrary initial value of a variable has no other row than the get. */
static uint32_t
get_value(solution *s, uint32_t row)
{
  const uint32_t value = solve_state(s, s->v->version[row]);
  return value < s->rows && vyre_op_of(s->v, value) == VYRE_OP_var ? row : value;
}

/* Returns whether the row may fold although each operand is its own value: the operands are equal, or a literal decides alone. */
static bool
folds_alone(const vyre_view *v, uint32_t row)
{
  return v->a[row] == v->b[row] || ((VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM) != 0 &&
                                    vyre_op_info_of(v, VYRE_ROW_OP(v->op[row]))->absorbs != VYRE_ABSORBS_NONE);
}

uint32_t
solve_row(solution *s, uint32_t row)
{
  const vyre_view *v = s->v;
  const uint32_t *value = s->value, word = v->op[row], a = v->a[row], b = v->b[row], c = v->c[row];
  const bool is_plain = (VYRE_ROW_FLAGS(word) & (VYRE_ROW_DECO | VYRE_ROW_VOLATILE)) == 0;
  uint32_t same = 0;
  switch (VYRE_ROW_OP(word)) {
  case VYRE_OP_const:
    return solve_splat(s, VYRE_ROW_TYPE(word), vyre_row_imm(v, row));
  case VYRE_OP_var:
    return vyre_var_is_zero(v, row) ? solve_splat(s, VYRE_ROW_TYPE(word), 0) : row;
  case VYRE_OP_get:
    return is_plain ? get_value(s, row) : row;
  case VYRE_OP_load:
    return is_plain ? load_value(s, row) : row;
  case VYRE_OP_part:
  case VYRE_OP_select:
  case VYRE_OP_lane:
  case VYRE_OP_join:
  case VYRE_OP_insert:
  case VYRE_OP_shuffle: /* may copy another row although the operands are only known as themselves */
    same = is_plain ? copied_row(s, row) : 0;
    break;
  default:
    break;
  }
  if (same)
    return value[same];
  const bool differs = ((value[a] ^ a) | (value[b] ^ b) | (value[c] ^ c)) != 0;
  if (!is_plain || vyre_op_info_of(v, VYRE_ROW_OP(word))->fold != VYRE_FOLD_EXACT || !(differs || folds_alone(v, row)))
    return row;
  return fold_value(s, row);
}
