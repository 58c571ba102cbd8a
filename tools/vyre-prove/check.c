/* Checks a claim by evaluating both sides: at all points if the variables have few bits, otherwise at edges and random points.
 *
 * Values have one lane, because the claims that z3 does not prove are about arithmetic, not about moving lanes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "prove.h"

#include "vyre/eval.h"
#include "vyre/ir.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct point {
  uint64_t bits[RULES_VARIABLES];
  bool undefined[RULES_VARIABLES];
} point;

typedef struct value {
  uint64_t bits[2]; /* the second for a tuple */
  bool undefined;
} value;

static uint64_t
next_random(uint64_t *seed) /* splitmix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators") */
{
  uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

static uint32_t
bits_of(vyre_kind kind)
{
  return kind == VYRE_BOOL ? 1 : vyre_kind_bits(kind);
}

static uint64_t
mask_of(vyre_kind kind)
{
  return UINT64_MAX >> (64 - bits_of(kind));
}

static vyre_kind
kind_of(const question *q, uint32_t id)
{
  return q->kinds[q->rule->nodes[id].kind];
}

/* Evaluates an op on scalars.  The third operand of bfi is a tuple of two. */
static value
evaluate_op(const question *q, uint32_t id, const value operands[3])
{
  const rules_node *node = &q->rule->nodes[id];
  vyre_value values[3][2], out[VYRE_EVAL_PARTS]; /* only lane 0 is used */
  vyre_eval_operand given[3] = {{0}};
  value made = {{operands[0].bits[0], operands[1].bits[0]}, false};
  if (node->op == VYRE_OP_tuple) {
    made.undefined = operands[0].undefined || operands[1].undefined;
    return made;
  }
  for (uint32_t k = 0; k < node->operands; k++) {
    const vyre_kind kind = kind_of(q, node->operand[k]);
    values[k][0].lane[0] = operands[k].bits[0];
    values[k][1].lane[0] = operands[k].bits[1];
    given[k] = kind == VYRE_TUPLE ? (vyre_eval_operand){values[k], 2, VYRE_TYPE(VYRE_TUPLE, 1), VYRE_TYPE(VYRE_U32, 1)}
                                  : (vyre_eval_operand){values[k], 0, VYRE_TYPE(kind, 1), 0};
    made.undefined |= operands[k].undefined;
  }
  if (node->op == VYRE_OP_select)
    made.undefined = operands[0].undefined || operands[operands[0].bits[0] ? 1 : 2].undefined;
  bool undefined = false;
  out[0].lane[0] = 0;
  (void)vyre_eval(VYRE_ROW(node->op, VYRE_TYPE(kind_of(q, id), 1), 0), 0, 0, given, out, &undefined);
  made.bits[0] = out[0].lane[0];
  made.undefined |= undefined && q->relaxed;
  return made;
}

static value
evaluate(const question *q, uint32_t id, const point *at)
{
  const rules_node *node = &q->rule->nodes[id];
  value operands[3] = {{{0}, false}}, made = {{0}, false};
  if (node->constant && id > q->rule->pattern) {
    (void)rules_evaluate(q->rule, id, q->kinds, at->bits, &made.bits[0]);
    return made;
  }
  switch ((rules_sort)node->sort) {
  case RULES_VARIABLE:
  case RULES_CONSTANT:
    return (value){{at->bits[node->variable], 0}, at->undefined[node->variable]};
  case RULES_LITERAL:
    return (value){{rules_literal_bits(node, kind_of(q, id)), 0}, false};
  case RULES_CALL:
    (void)rules_evaluate(q->rule, id, q->kinds, at->bits, &made.bits[0]);
    return made;
  case RULES_OP:
  case RULES_NONE:
    break;
  }
  for (uint32_t k = 0; k < node->operands; k++)
    operands[k] = evaluate(q, node->operand[k], at);
  return evaluate_op(q, id, operands);
}

static bool
is_nan(vyre_kind kind, uint64_t bits)
{
  const uint64_t infinity = kind == VYRE_F16 ? 0x7c00 : kind == VYRE_F32 ? 0x7f800000 : UINT64_C(0x7ff0000000000000);
  return vyre_kind_is_float(kind) && (bits & mask_of(kind) >> 1) > infinity;
}

/* Returns whether the claim holds at the point.  *out_applies is whether the rule's conditions hold. */
static bool
holds_at(const question *q, const point *at, bool *out_applies, value sides[2])
{
  const vyre_kind kind = kind_of(q, q->rule->pattern);
  *out_applies = false;
  for (uint32_t k = 0; k < q->rule->condition_count; k++)
    if (!evaluate(q, q->rule->conditions[k], at).bits[0])
      return true;
  *out_applies = true;
  sides[0] = evaluate(q, q->rule->pattern, at);
  sides[1] = evaluate(q, q->rule->replacement, at);
  if (sides[0].undefined)
    return true;
  return !sides[1].undefined &&
         (sides[0].bits[0] == sides[1].bits[0] || (is_nan(kind, sides[0].bits[0]) && is_nan(kind, sides[1].bits[0])));
}

/* Returns an edge value or a random one. */
static uint64_t
sample(vyre_kind kind, uint64_t *seed)
{
  const uint32_t bits = vyre_kind_bits(kind);
  const uint64_t random = next_random(seed), small = next_random(seed) % (bits + 3);
  uint64_t edge;
  switch (random % 8) {
  case 0:
    edge = small;
    break;
  case 1:
    edge = 0 - small;
    break;
  case 2:
    edge = UINT64_C(1) << small % bits;
    break;
  case 3:
    edge = (UINT64_C(1) << small % bits) - 1;
    break;
  case 4:
    edge = 0 - (UINT64_C(1) << small % bits);
    break;
  case 5: /* of a float: zeros, denormals, infinities, NaNs, and their neighbours */
    edge = (next_random(seed) % 5 * (mask_of(kind) >> 3) + next_random(seed) % 3 - 1) ^ (random >> 63) << (bits - 1);
    break;
  default:
    edge = next_random(seed);
    break;
  }
  return edge & mask_of(kind);
}

static void
report_point(const question *q, const point *at, const value sides[2], FILE *report)
{
  for (uint32_t v = 0; v < q->rule->variable_count; v++)
    fprintf(report, "%s%s = 0x%" PRIx64 "%s", v ? ", " : " at ", q->rule->variables[v].name, at->bits[v],
            at->undefined[v] ? " (undefined)" : "");
  fprintf(report, ": the pattern is 0x%" PRIx64 ", the replacement 0x%" PRIx64 "%s\n", sides[0].bits[0], sides[1].bits[0],
          sides[1].undefined ? " (undefined)" : "");
}

/* Returns point number n of all points, or with `seed` a random one, at which variables may be undefined. */
static point
make_point(const question *q, uint64_t n, uint64_t *seed)
{
  const rules_rule *rule = q->rule;
  point at = {{0}, {false}};
  for (uint32_t v = 0; v < rule->variable_count; v++) {
    const vyre_kind kind = kind_of(q, rule->variables[v].node);
    at.bits[v] = seed ? sample(kind, seed) : n & mask_of(kind);
    n = seed ? n : n >> bits_of(kind);
    at.undefined[v] = seed && q->relaxed && !rule->variables[v].constant && next_random(seed) % 16 == 0;
  }
  return at;
}

static bool
check_point(const question *q, const point *at, uint64_t *applied, FILE *report)
{
  bool applies;
  value sides[2] = {{{0}, false}, {{0}, false}};
  const bool holds = holds_at(q, at, &applies, sides);
  if (!holds)
    report_point(q, at, sides, report);
  *applied += applies;
  return holds;
}

bool
question_check(const question *q, uint64_t points, FILE *report)
{
  uint32_t bits = 0;
  uint64_t seed = 1, applied = 0;
  for (uint32_t v = 0; v < q->rule->variable_count; v++)
    bits += bits_of(kind_of(q, q->rule->variables[v].node));
  const bool all = bits <= (q->open ? 16 : 24);
  for (uint64_t n = 0; all && n < UINT64_C(1) << bits; n++) {
    const point at = make_point(q, n, NULL);
    if (!check_point(q, &at, &applied, report))
      return false;
  }
  if (all && !q->relaxed)
    return true;
  applied = 0;
  for (uint64_t n = 0; n < points * 16 && applied < points; n++) { /* a rule's conditions may not hold at most points */
    const point at = make_point(q, n, &seed);
    if (!check_point(q, &at, &applied, report))
      return false;
  }
  return true;
}
