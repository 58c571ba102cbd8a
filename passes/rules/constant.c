/* Constants of rules: literals, terms of constants, and the functions that no op computes.
 *
 * Ops are computed by the evaluator's lanes, so a rule's constant equals the value that the program would compute.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "rules.h"

#include <string.h>

#include "eval/lanes.h"
#include "eval/scalar.h"

uint64_t
rules_literal_bits(const rules_node *node, vyre_kind kind)
{
  const unsigned bits = vyre_kind_bits(kind);
  double value;
  switch ((rules_literal)node->op) {
  case RULES_INTEGER:
    if (vyre_kind_is_float(kind))
      return lane_of_double(kind, (double)(int64_t)node->bits);
    return node->bits & bits_mask(bits);
  case RULES_FLOAT:
    memcpy(&value, &node->bits, sizeof value);
    return lane_of_double(kind, value);
  case RULES_ONES:
    return bits_mask(bits);
  case RULES_SMIN:
    return UINT64_C(1) << (bits - 1);
  case RULES_SMAX:
    return bits_mask(bits - 1);
  case RULES_BITS:
    return bits;
  case RULES_TOP:
    return bits - 1;
  }
  return 0;
}

/* ---- division by multiplication -------------------------------------------------------------------------------------- */

/* Computes the multiplier and the shift s = floor(log2 d) of a divisor d that is not a power of two (Granlund and Montgomery,
 * "Division by invariant integers using multiplication").  Returns true if the multiplier floor(2^(bits + s) / d) + 1 is
 * correct, because its error is less than 2^s.  Otherwise the multiplier has one more bit, whose top bit the caller adds, and
 * the function returns false. */
static bool
unsigned_magic(unsigned bits, uint64_t d, uint64_t *out_magic, unsigned *out_shift)
{
  *out_shift = 0;
  *out_magic = 0;
  if (d == 0)
    return false;
  const unsigned shift = (unsigned)(63 - __builtin_clzll(d));
  const uint128 power = (uint128)1 << (bits + shift);
  const uint64_t quotient = (uint64_t)(power / d), rest = (uint64_t)(power % d);
  const bool fits = d - rest < UINT64_C(1) << shift;
  *out_shift = shift;
  /* 2 * power may not fit in 128 bits. */
  *out_magic = (fits ? quotient + 1 : 2 * quotient + (rest >= d - rest) + 1) & bits_mask(bits);
  return fits;
}

/* Returns the multiplier of a signed divisor with |d| >= 2, and the least shift for which it is correct for all dividends. */
static uint64_t
signed_magic(unsigned bits, uint64_t divisor, unsigned *out_shift)
{
  const int64_t sign = sign_extend(bits, divisor);
  const uint64_t d = (sign < 0 ? 0 - divisor : divisor) & bits_mask(bits), half = UINT64_C(1) << (bits - 1);
  *out_shift = 0;
  if (d < 2)
    return 0;
  const uint64_t greatest = half - 1 - half % d; /* the greatest dividend with remainder d - 1 */
  unsigned power = bits;
  while (power < 2 * bits - 1 && (uint128)1 << power <= (uint128)greatest * (d - (uint64_t)(((uint128)1 << power) % d)))
    power++;
  *out_shift = power - bits;
  return (uint64_t)(((uint128)1 << power) / d + 1) & bits_mask(bits);
}

uint64_t
rules_call(rules_function function, vyre_kind kind, uint64_t constant)
{
  const unsigned bits = vyre_kind_bits(kind);
  uint64_t magic, inverse = constant;
  unsigned shift;
  switch (function) {
  case RULES_UDIV_MAGIC:
    unsigned_magic(bits, constant, &magic, &shift);
    return magic;
  case RULES_UDIV_SHIFT:
    unsigned_magic(bits, constant, &magic, &shift);
    return shift;
  case RULES_UDIV_FITS:
    return unsigned_magic(bits, constant, &magic, &shift);
  case RULES_SDIV_MAGIC:
    return signed_magic(bits, constant, &shift);
  case RULES_SDIV_SHIFT:
    signed_magic(bits, constant, &shift);
    return shift;
  case RULES_INVERSE: /* Newton: an odd number is its own inverse modulo 8, and each step doubles the number of correct bits */
    for (unsigned right = 3; right < bits; right *= 2)
      inverse *= 2 - constant * inverse;
    return inverse & bits_mask(bits);
  case RULES_FUNCTION__COUNT:
    break;
  }
  return 0;
}

const char *
rules_function_name(rules_function function)
{
  static const char *const names[RULES_FUNCTION__COUNT] = {"udiv_magic", "udiv_shift", "udiv_fits",
                                                           "sdiv_magic", "sdiv_shift", "odd_inverse"};
  return names[function];
}

/* ---- terms ----------------------------------------------------------------------------------------------------------- */

bool
rules_evaluate(const rules_rule *rule, uint32_t id, const vyre_kind kinds[RULES_KINDS], const uint64_t variables[RULES_VARIABLES],
               uint64_t *out)
{
  const rules_node *node = &rule->nodes[id];
  uint64_t operands[3] = {0};
  switch (node->sort) {
  case RULES_CONSTANT:
    *out = variables[node->variable];
    return true;
  case RULES_LITERAL:
    *out = rules_literal_bits(node, kinds[node->kind]);
    return true;
  case RULES_OP:
  case RULES_CALL:
    break;
  default:
    return false;
  }
  for (uint32_t k = 0; k < node->operands; k++)
    if (!rules_evaluate(rule, node->operand[k], kinds, variables, &operands[k]))
      return false;
  const vyre_kind from = kinds[rule->nodes[node->operand[0]].kind];
  if (node->sort == RULES_CALL) {
    *out = rules_call((rules_function)node->op, from, operands[0]);
    return true;
  }
  return vyre_eval_lanes((vyre_opcode)node->op, from, kinds[node->kind], &operands[0], &operands[1], &operands[2], out, 1);
}

bool
rules_same(const rules_rule *rule, uint32_t x, uint32_t y)
{
  const rules_node *l = &rule->nodes[x], *r = &rule->nodes[y];
  if (l->sort != r->sort || l->kind != r->kind || l->op != r->op || l->operands != r->operands || l->variable != r->variable ||
      l->bits != r->bits)
    return false;
  for (uint32_t k = 0; k < l->operands; k++)
    if (!rules_same(rule, l->operand[k], r->operand[k]))
      return false;
  return true;
}

uint32_t
rules_in_pattern(const rules_rule *rule, uint32_t node)
{
  if (node <= rule->pattern || rule->nodes[node].sort != RULES_OP || rule->nodes[node].constant)
    return 0;
  for (uint32_t id = 1; id < rule->pattern; id++)
    if (rules_same(rule, id, node))
      return id;
  return 0;
}
