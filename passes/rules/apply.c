/* Applies rules whose replacement is an operand, a literal, or one row over existing rows.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sweep.h"

typedef struct operand {
  uint32_t row; /* the operand's row, 0 if it has none */
  bool literal;
  uint64_t bits;
} operand;

static operand
read_operand(const rules_sweep *s, const uint32_t *table, const rules_match *m, uint32_t descriptor)
{
  vyre_kind kind;
  if ((descriptor & RULES_OPERAND_EXPRESSION) != 0)
    return (operand){0, true, rules_compute(table, s->v, m, table + m->action[1 + (descriptor & 15u)], &kind)};
  if ((descriptor & RULES_OPERAND_REGISTER) == 0)
    return (operand){0};
  const uint32_t value = m->reg[descriptor & 15u];
  if (!rules_value_is_literal(s->v, value))
    return (operand){.row = value};
  return (operand){(value & RULES_LITERAL_OF) != 0 ? 0 : value, true, rules_value_bits(s->v, value)};
}

/* Rewrites the root to the replacement's one row.  A literal of a commuting op becomes the right operand, as an
 * immediate.  Returns false if a literal would need a const row. */
static bool
make_row(rules_sweep *s, const uint32_t *table, const rules_match *m)
{
  const uint32_t *row = m->action + 1 + (m->action[0] >> 8);
  const uint32_t op = VYRE_ROW_OP(row[0]), flags = vyre_op_info_of(s->v, op)->flags;
  operand a = read_operand(s, table, m, row[1] & 255u), b = read_operand(s, table, m, row[1] >> 8 & 255u);
  const operand c = read_operand(s, table, m, row[1] >> 16 & 255u);
  if (a.literal && (flags & VYRE_OP_COMMUTES) != 0) {
    const operand left = a;
    a = b;
    b = left;
  }
  const bool immediate = b.literal && (flags & VYRE_OP_TAKES_IMM) != 0;
  if ((a.literal && a.row == 0) || (c.literal && c.row == 0) || (b.literal && !immediate && b.row == 0))
    return false;
  rules_sweep_rewrite(s, m, op, immediate ? VYRE_ROW_IMM : 0, immediate ? b.bits : 0, a.row, immediate ? 0 : b.row, c.row);
  return true;
}

bool
rules_apply_in_place(rules_sweep *s, void *user, const uint32_t *table, const rules_match *m, vyre_status *out_status)
{
  (void)user;
  if ((m->action[0] & 15u) == RULES_MAKE)
    return make_row(s, table, m);
  return rules_sweep_replace(s, table, m, out_status);
}
