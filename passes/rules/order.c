/* The termination measure of rules.
 *
 * A program becomes smaller if the multiset of the weights of its heavy rows becomes smaller.  A program with an equal multiset
 * becomes smaller if the terms of its rows become lighter.  A row is heavy if the weight of its op is at least HEAVY.  Examples are
 * integer divisions and pow.  The weight of a term is the sum of the weights of its ops and leaves.  A shared row counts once for
 * each use.
 *
 * A rule that replaces a heavy row by lighter rows makes the multiset smaller, also if terms become heavier.  The rule may
 * therefore repeat a variable, because a variable is one row: pow(x, 2.0) => mul(x, x).
 *
 * All other rules must keep the multiset, make the term of the rewritten row lighter, and repeat no variable more often than the
 * pattern does.  The terms of all rows that use the rewritten row become lighter, too, and no term becomes heavier.  Rewriting
 * ends, because weights are whole numbers.  Additional rows are subterms of the replacement, so they are lighter.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "rules.h"

#include "vyre/ir.h"

enum { HEAVY = 60 }; /* more than fdiv and sqrt, which rules may move out of the operands of a select */

uint32_t
rules_weight(uint32_t op)
{
  return vyre_op_infos[op].cost;
}

/* Returns the op's weight if it is heavy, otherwise 0. */
static uint32_t
heavy_weight(uint32_t op)
{
  return rules_weight(op) >= HEAVY ? rules_weight(op) : 0;
}

static uint32_t
weigh(const rules_rule *rule, uint32_t id, uint32_t counts[RULES_VARIABLES])
{
  const rules_node *node = &rule->nodes[id];
  if (node->sort == RULES_VARIABLE)
    counts[node->variable]++;
  if (node->sort != RULES_OP || node->constant)
    return 1; /* a term of constants is one literal */
  uint32_t weight = rules_weight(node->op);
  for (uint32_t k = 0; k < node->operands; k++)
    weight += weigh(rule, node->operand[k], counts);
  return weight;
}

/* Returns the weight of the heaviest heavy op among the new rows of the replacement, without its root.  Returns 0 if there is
 * none. */
static uint32_t
heaviest_new_row(const rules_rule *rule, uint32_t id, bool root)
{
  const rules_node *node = &rule->nodes[id];
  if (node->sort != RULES_OP || node->constant || rules_in_pattern(rule, id))
    return 0;
  uint32_t heaviest = root ? 0 : heavy_weight(node->op);
  for (uint32_t k = 0; k < node->operands; k++) {
    const uint32_t inner = heaviest_new_row(rule, node->operand[k], false);
    heaviest = inner > heaviest ? inner : heaviest;
  }
  return heaviest;
}

bool
rules_shrinks(const rules_rule *rule, const char **out_why)
{
  const rules_node *pattern = &rule->nodes[rule->pattern], *replacement = &rule->nodes[rule->replacement];
  uint32_t before[RULES_VARIABLES] = {0}, after[RULES_VARIABLES] = {0};
  const char *unused;
  const char **why = out_why ? out_why : &unused;
  const bool makes_row = replacement->sort == RULES_OP && !replacement->constant;
  const uint32_t had = heavy_weight(pattern->op), root = makes_row ? heavy_weight(replacement->op) : 0;
  const uint32_t inner = heaviest_new_row(rule, rule->replacement, true);
  *why = "its replacement adds a heavy op, such as an integer division";
  if (inner && inner >= had)
    return false;
  if (root > had || (root == had && inner))
    return false;
  if (had && root < had)
    return true;
  const uint32_t old_weight = weigh(rule, rule->pattern, before), new_weight = weigh(rule, rule->replacement, after);
  *why = "a variable occurs more often in the replacement than in the pattern";
  for (uint32_t v = 0; v < rule->variable_count; v++)
    if (after[v] > before[v])
      return false;
  *why = "its replacement is not lighter than its pattern";
  return new_weight < old_weight;
}
