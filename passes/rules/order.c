/* Why rules come to an end.
 *
 * A program is less if its divisions, as a multiset of weights, are less; else if the terms of its rows weigh less.  The weight of
 * a term is that of its ops and leaves, however often a row stands in it.  A rule that puts no variable into its replacement more
 * often than it stands in the pattern, and whose own weight goes down, makes the term of the row that it rewrites lighter, and so
 * those of all rows over it: none gets heavier, and weights are whole numbers.  What makes a division out of others may be heavier.
 * Rows made anew are terms that stand in the replacement, lighter than it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "rules.h"

#include "vyre/ir.h"

uint32_t
rules_weight(uint32_t op)
{
  return vyre_op_infos[op].cost;
}

/* They alone can be by 0. */
static bool
is_division(uint32_t op)
{
  return vyre_op_infos[op].undefined == VYRE_UNDEFINED_DIV_BY_0 || vyre_op_infos[op].undefined == VYRE_UNDEFINED_DIV_OVERFLOW;
}

static uint32_t
weigh(const rules_rule *rule, uint32_t id, uint32_t counts[RULES_VARIABLES])
{
  const rules_node *node = &rule->nodes[id];
  if (node->sort == RULES_VARIABLE)
    counts[node->variable]++;
  if (node->sort != RULES_OP || node->constant)
    return 1; /* a constant is one literal by then */
  uint32_t weight = rules_weight(node->op);
  for (uint32_t k = 0; k < node->operands; k++)
    weight += weigh(rule, node->operand[k], counts);
  return weight;
}

/* The heaviest division among the rows that the replacement is made of, but for its root; 0: none. */
static uint32_t
heaviest_division(const rules_rule *rule, uint32_t id, bool root)
{
  const rules_node *node = &rule->nodes[id];
  if (node->sort != RULES_OP || node->constant || rules_in_pattern(rule, id))
    return 0;
  uint32_t heaviest = !root && is_division(node->op) ? rules_weight(node->op) : 0;
  for (uint32_t k = 0; k < node->operands; k++) {
    const uint32_t inner = heaviest_division(rule, node->operand[k], false);
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
  const uint32_t had = is_division(pattern->op) ? rules_weight(pattern->op) : 0;
  const bool makes = replacement->sort == RULES_OP && !replacement->constant && is_division(replacement->op);
  const uint32_t root = makes ? rules_weight(replacement->op) : 0, inner = heaviest_division(rule, rule->replacement, true);
  *why = "it makes a division that was not there";
  if (inner && inner >= had)
    return false;
  if (root > had || (root == had && inner))
    return false;
  if (had && root < had)
    return true;
  const uint32_t old_weight = weigh(rule, rule->pattern, before), new_weight = weigh(rule, rule->replacement, after);
  *why = "a variable stands in the replacement more often than in the pattern";
  for (uint32_t v = 0; v < rule->variable_count; v++)
    if (after[v] > before[v])
      return false;
  *why = "its replacement is not lighter than its pattern";
  return new_weight < old_weight;
}
