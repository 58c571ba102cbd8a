/* Matches rows against a table of rules: see rules_table.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "rules_table.h"
#include "vyre/view.h"

#include "eval/lanes.h"

#define FIELD(word, shift, bits) ((word) >> (shift) & ((1u << (bits)) - 1u))

static bool
is_literal(const vyre_view *v, uint32_t value)
{
  return (value & RULES_LITERAL_OF) != 0 || VYRE_ROW_OP(v->op[value]) == VYRE_OP_const;
}

bool
rules_value_is_literal(const vyre_view *view, uint32_t value)
{
  return is_literal(view, value);
}

uint64_t
rules_value_bits(const vyre_view *view, uint32_t value)
{
  return vyre_row_imm(view, value & ~RULES_LITERAL_OF);
}

vyre_type
rules_value_type(const vyre_view *view, uint32_t value)
{
  const uint32_t row = value & ~RULES_LITERAL_OF;
  if ((value & RULES_LITERAL_OF) == 0)
    return VYRE_ROW_TYPE(view->op[row]);
  return VYRE_ROW_OP(view->op[row]) == VYRE_OP_lane ? VYRE_TYPE(VYRE_U32, 1) : VYRE_ROW_TYPE(view->op[view->a[row]]);
}

/* Returns an operand of the row as a register's value, or 0 if it is absent. */
static uint32_t
operand_of(const vyre_view *v, uint32_t row, uint32_t which)
{
  if (which == 1 && (VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM) != 0)
    return RULES_LITERAL_OF | row;
  return which == 0 ? v->a[row] : which == 1 ? v->b[row] : v->c[row];
}

static bool
is_same(const vyre_view *v, rules_scope scope, uint32_t x, uint32_t y)
{
  if (x == y || (((x | y) & RULES_LITERAL_OF) == 0 && rules_are_same(scope, x, y)))
    return true;
  return is_literal(v, x) && is_literal(v, y) && rules_value_bits(v, x) == rules_value_bits(v, y) &&
         VYRE_TYPE_KIND(rules_value_type(v, x)) == VYRE_TYPE_KIND(rules_value_type(v, y));
}

static uint64_t
literal_at(const uint32_t *table, uint32_t literal, vyre_kind kind)
{
  const uint32_t *pair = table + table[RULES_TABLE_LITERALS] + literal * 32 + (uint32_t)kind * 2;
  return (uint64_t)pair[1] << 32 | pair[0];
}

/* ---- expressions ----------------------------------------------------------------------------------------------------- */

static vyre_kind
kind_of_code(const rules_match *m, uint32_t code)
{
  return (vyre_kind)(code < 16 ? code : m->kind[code - 16]);
}

/* Evaluates an expression.  Returns the word after its RULES_END. */
static const uint32_t *
compute(const uint32_t *table, const vyre_view *v, const rules_match *m, const uint32_t *at, uint64_t *out, vyre_kind *out_kind)
{
  uint64_t stack[RULES_STACK + 3] = {0};
  uint32_t depth = 0;
  for (;; at++) {
    const uint32_t word = *at;
    switch ((rules_step)FIELD(word, 0, 4)) {
    case RULES_PUSH:
      stack[depth++] = rules_value_bits(v, m->reg[FIELD(word, 4, 4)]);
      break;
    case RULES_PUSH_LITERAL:
      stack[depth++] = literal_at(table, word >> 16, kind_of_code(m, FIELD(word, 4, 5)));
      break;
    case RULES_APPLY:
      depth -= FIELD(word, 14, 2);
      vyre_eval_lanes((vyre_opcode)(word >> 16), kind_of_code(m, FIELD(word, 4, 5)), kind_of_code(m, FIELD(word, 9, 5)),
                      &stack[depth], &stack[depth + 1], &stack[depth + 2], &stack[depth], 1);
      depth++;
      break;
    case RULES_APPLY_CALL:
      stack[depth - 1] = rules_call((rules_function)(word >> 16), kind_of_code(m, FIELD(word, 4, 5)), stack[depth - 1]);
      break;
    case RULES_END:
      *out = stack[0];
      *out_kind = kind_of_code(m, FIELD(word, 4, 5));
      return at + 1;
    }
  }
}

uint64_t
rules_compute(const uint32_t *table, const vyre_view *view, const rules_match *match, const uint32_t *steps, vyre_kind *out_kind)
{
  uint64_t value;
  compute(table, view, match, steps, &value, out_kind);
  return value;
}

/* ---- one candidate --------------------------------------------------------------------------------------------------- */

static bool
width_holds(const rules_match *m, uint32_t word)
{
  const uint32_t left = vyre_kind_bits((vyre_kind)m->kind[FIELD(word, 4, 4)]), right_kind = FIELD(word, 12, 4);
  const uint32_t right = right_kind == RULES_KINDS ? word >> 16 : vyre_kind_bits((vyre_kind)m->kind[right_kind]);
  switch ((rules_relation)FIELD(word, 8, 4)) {
  case RULES_LESS:
    return left < right;
  case RULES_LESS_EQUAL:
    return left <= right;
  case RULES_EQUAL:
    return left == right;
  case RULES_NOT_EQUAL:
    return left != right;
  }
  return false;
}

static bool
match_row(const vyre_view *v, rules_match *m, uint32_t word, uint32_t operand)
{
  if ((operand & RULES_LITERAL_OF) != 0)
    return false;
  const uint32_t op = v->op[operand];
  if (VYRE_ROW_OP(op) != word >> 14 || (VYRE_ROW_FLAGS(op) & VYRE_ROW_DECO) != 0)
    return false;
  m->reg[FIELD(word, 4, 4)] = operand;
  m->exact |= VYRE_ROW_FLAGS(op) & VYRE_ROW_EXACT;
  m->relaxed &= VYRE_ROW_FLAGS(op);
  return true;
}

static bool
kind_holds(const vyre_view *v, rules_match *m, uint32_t word, uint32_t kinds)
{
  const uint32_t kind = VYRE_TYPE_KIND(rules_value_type(v, m->reg[FIELD(word, 8, 4)]));
  m->kind[FIELD(word, 4, 4)] = (uint8_t)kind;
  return (word >> 16 & (FIELD(word, 12, 1) ? kinds : ~0u) & 1u << kind) != 0;
}

static bool
lanes_hold(const vyre_view *v, const rules_match *m, uint32_t word)
{
  const uint32_t other = FIELD(word, 8, 4);
  const uint32_t wanted = other == RULES_SCALAR ? 1 : VYRE_TYPE_LANES(rules_value_type(v, m->reg[other]));
  return VYRE_TYPE_LANES(rules_value_type(v, m->reg[FIELD(word, 4, 4)])) == wanted;
}

static bool
matches(const uint32_t *table, const vyre_view *v, rules_scope scope, const uint32_t *at, rules_match *m)
{
  for (;;) {
    const uint32_t word = *at++, src = m->reg[FIELD(word, 8, 4)];
    const uint32_t operand = FIELD(word, 0, 4) <= RULES_TAKE ? operand_of(v, src, FIELD(word, 12, 2)) : 0;
    uint64_t truth;
    vyre_kind kind;
    bool holds = true;
    switch ((rules_code)FIELD(word, 0, 4)) {
    case RULES_ROW:
      holds = match_row(v, m, word, operand);
      break;
    case RULES_BIND:
      m->reg[FIELD(word, 4, 4)] = operand;
      holds = operand != 0;
      break;
    case RULES_SAME:
      holds = is_same(v, scope, m->reg[FIELD(word, 4, 4)], operand);
      break;
    case RULES_IS:
      holds = is_literal(v, operand) &&
              rules_value_bits(v, operand) == literal_at(table, word >> 16, VYRE_TYPE_KIND(rules_value_type(v, operand)));
      break;
    case RULES_TAKE:
      m->reg[FIELD(word, 4, 4)] = operand;
      holds = is_literal(v, operand);
      break;
    case RULES_KIND:
      holds = kind_holds(v, m, word, scope.kinds);
      break;
    case RULES_KIND_SAME:
      holds = VYRE_TYPE_KIND(rules_value_type(v, src)) == (vyre_kind)m->kind[FIELD(word, 4, 4)];
      break;
    case RULES_LANES:
      holds = lanes_hold(v, m, word);
      break;
    case RULES_WIDTH:
      holds = width_holds(m, word);
      break;
    case RULES_WHEN:
      at = compute(table, v, m, at, &truth, &kind);
      holds = truth != 0;
      break;
    case RULES_PAYS:
    case RULES_FORWARD:
    case RULES_LITERALLY:
    case RULES_MAKE:
      m->action = at - 1;
      return true;
    }
    if (!holds)
      return false;
  }
}

bool
rules_find(const uint32_t *table, const vyre_view *v, uint32_t row, rules_scope scope, uint32_t candidate, rules_match *out)
{
  const uint32_t op = v->op[row];
  const uint32_t *block = table + table[table[RULES_TABLE_ROOTS] + VYRE_ROW_OP(op)];
  const rules_sets sets = rules_sets_of(table, v, scope, row);
  for (uint32_t w = candidate / 32; w < sets.words; w++) {
    uint32_t left = sets.kind[w] & sets.a[w] & sets.b[w];
    if (w == candidate / 32)
      left &= ~0u << candidate % 32;
    for (; left; left &= left - 1) {
      const uint32_t k = w * 32 + (uint32_t)__builtin_ctz(left);
      const uint32_t *program = table + table[block[2] + k];
      if ((program[0] >> 30 & scope.modes) == 0)
        continue;
      out->reg[0] = row;
      out->reg[RULES_SCALAR] = 0;
      out->exact = VYRE_ROW_FLAGS(op) & VYRE_ROW_EXACT;
      out->relaxed = VYRE_ROW_FLAGS(op) & VYRE_ROW_RELAXED;
      if (!matches(table, v, scope, program + 1, out))
        continue;
      out->candidate = k;
      out->rule = program[0] & 0x3fffffffu;
      return true;
    }
  }
  return false;
}
