/* The termination measure of rules.
 *
 * A program becomes smaller if the multiset of weights of its divisions becomes smaller, or if that is equal and the terms of
 * its rows become lighter.  The weight of a term is the sum of the weights of its ops and leaves, counting shared rows each
 * time.
 *
 * Consider a rule whose replacement is lighter than its pattern and uses no variable more often.  It makes the term of the
 * rewritten row lighter, and so the terms of all rows that use it.  No term becomes heavier, and weights are whole numbers, so
 * this ends.  A rule that replaces a division by lighter ones may make terms heavier.  Additional rows are subterms of the
 * replacement, so they are lighter.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "rules.h"

#include "vyre/ir.h"

uint32_t
rules_weight(uint32_t op)
{
  return vyre_op_infos[op].cost;
}

/* Returns whether the op is a division or remainder: only these are undefined for a divisor 0. */
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
    return 1; /* a term of constants is one literal */
  uint32_t weight = rules_weight(node->op);
  for (uint32_t k = 0; k < node->operands; k++)
    weight += weigh(rule, node->operand[k], counts);
  return weight;
}

/* Returns the weight of the heaviest division among the new rows of the replacement, without its root.  Returns 0 if there is
 * none. */
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
  *why = "its replacement adds a division";
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
