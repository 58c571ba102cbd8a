/* The claims of a rule.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "prove.h"

#include "base/grow.h"
#include "vyre/ir.h"

#include <stdlib.h>
#include <string.h>

static void
add_question(question_list *list, const question *q)
{
  if (!vyre_grow(NULL, &list->data, &list->capacity, list->count + 1, sizeof *list->data))
    abort();
  list->data[list->count++] = *q;
}

static bool
has_op(const rules_rule *rule, vyre_opcode op)
{
  for (uint32_t id = 1; id < rule->node_count; id++)
    if (rule->nodes[id].sort == RULES_OP && rule->nodes[id].op == op)
      return true;
  return false;
}

/* Returns whether an op of the rule reads or moves lanes, so that a claim for one lane may not hold for several lanes. */
static bool
depends_on_lanes(const rules_rule *rule)
{
  static const vyre_opcode ops[] = {VYRE_OP_any, VYRE_OP_all, VYRE_OP_splat, VYRE_OP_lane, VYRE_OP_insert};
  for (uint32_t i = 0; i < sizeof ops / sizeof *ops; i++)
    if (has_op(rule, ops[i]))
      return true;
  return false;
}

/* Returns whether the claim for relaxed programs differs: an op can be undefined, a select can hide an undefined operand, or the
 * replacement uses a variable that the pattern does not use. */
static bool
depends_on_undefined(const rules_rule *rule)
{
  bool used[RULES_VARIABLES] = {false};
  for (uint32_t id = 1; id < rule->node_count; id++) {
    const rules_node *node = &rule->nodes[id];
    if (node->sort == RULES_OP && (vyre_op_infos[node->op].undefined != VYRE_UNDEFINED_NEVER || node->op == VYRE_OP_select))
      return true;
    if (node->sort == RULES_VARIABLE && id <= rule->pattern)
      used[node->variable] = true;
    else if (node->sort == RULES_VARIABLE && !used[node->variable])
      return true;
  }
  return false;
}

static bool
same_claim(const question *x, const question *y, bool has_sign)
{
  for (uint32_t k = 0; k < x->rule->kind_count; k++) {
    const vyre_kind l = x->kinds[k], r = y->kinds[k];
    if (l != r && (has_sign || !vyre_kind_is_int(l) || !vyre_kind_is_int(r) || vyre_kind_bits(l) != vyre_kind_bits(r)))
      return false;
  }
  return x->relaxed == y->relaxed && x->lanes == y->lanes;
}

void
questions_of(const rules_rule *rule, question_list *list)
{
  const uint32_t first = list->count, most = depends_on_lanes(rule) ? 4 : 1;
  const bool has_sign = has_op(rule, VYRE_OP_convert), undefined = depends_on_undefined(rule);
  question q = {.rule = rule};
  while (rules_next_typing(rule, q.kinds))
    for (q.lanes = 1; q.lanes <= most; q.lanes++)
      for (uint32_t mode = 0; mode < 2; mode++) {
        q.relaxed = mode == 1;
        if ((rule->modes & (q.relaxed ? RULES_IN_RELAXED : RULES_IN_STRICT)) == 0 ||
            (q.relaxed && !undefined && (rule->modes & RULES_IN_STRICT)))
          continue;
        bool known = false;
        for (uint32_t i = first; i < list->count && !known; i++)
          known = same_claim(&list->data[i], &q, has_sign);
        if (!known)
          add_question(list, &q);
      }
}

void
question_write_kinds(FILE *to, const question *q)
{
  static const char *const names[VYRE_KIND__COUNT] = {"void", "bool", "i8",  "u8",  "i16", "u16",   "i32", "u32",
                                                      "i64",  "u64",  "f16", "f32", "f64", "tuple", "path"};
  bool some = false;
  for (uint32_t k = 0; k < q->rule->kind_count; k++) {
    const uint16_t kinds = q->rule->kinds[k].kinds;
    if ((kinds & (kinds - 1)) == 0)
      continue; /* always the same */
    fprintf(to, "%s%s%s%s", some ? ", " : "", q->rule->kinds[k].name, q->rule->kinds[k].name[0] ? " = " : "", names[q->kinds[k]]);
    some = true;
  }
  if (q->lanes > 1)
    fprintf(to, "%s%u lanes", some ? ", " : "", q->lanes);
  fprintf(to, "%s%s", some || q->lanes > 1 ? ", " : "", q->relaxed ? "relaxed" : "strict");
}

bool
question_is_for_z3(const question *q)
{
  for (uint32_t id = 1; id < q->rule->node_count; id++)
    if (q->rule->nodes[id].sort == RULES_CALL)
      return false;
  return !q->open;
}
