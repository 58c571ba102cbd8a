/* Basic blocks: labels, jumps, and the `if` of a guard.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/export/control/control.h"

void
vyre_spv_label(vyre_spv *s, uint32_t label)
{
  vyre_spv_instruction(s, &s->code, SpvOpLabel, &label, 1);
  s->block = label;
  s->here.line = 0;
}

void
vyre_spv_branch(vyre_spv *s, uint32_t label)
{
  vyre_spv_instruction(s, &s->code, SpvOpBranch, &label, 1);
}

void
vyre_spv_branch_conditional(vyre_spv *s, uint32_t condition, uint32_t yes, uint32_t no)
{
  uint32_t *words = vyre_spv_room(s, &s->code, 4);
  words[0] = 4u << 16 | SpvOpBranchConditional;
  words[1] = condition;
  words[2] = yes;
  words[3] = no;
}

void
vyre_spv_selection_merge(vyre_spv *s, uint32_t merge, uint32_t hints)
{
  uint32_t *words = vyre_spv_room(s, &s->code, 3);
  words[0] = 3u << 16 | SpvOpSelectionMerge;
  words[1] = merge;
  words[2] = hints;
}

void
vyre_spv_unreachable(vyre_spv *s)
{
  vyre_spv_instruction(s, &s->code, SpvOpUnreachable, NULL, 0);
}

static void
push_label(vyre_spv *s, vyre_spv_words *words, uint32_t row, uint32_t label)
{
  if (vyre_spv_opcode(s, row) != VYRE_OP_const)
    vyre_spv_fail(s, "a case label that is not a const row\nFix: verify the module before writing it");
  uint32_t literal[2];
  const uint32_t count = vyre_spv_literal(VYRE_TYPE_KIND(vyre_spv_row_type(s, row)), vyre_spv_payload(s, row), literal);
  vyre_spv_append(s, words, literal, count);
  vyre_spv_push(s, words, label);
}

void
vyre_spv_push_labels(vyre_spv *s, vyre_spv_words *words, uint32_t labels, uint32_t label)
{
  if (labels && vyre_spv_opcode(s, labels) != VYRE_OP_tuple) {
    push_label(s, words, labels, label);
    return;
  }
  uint32_t tuple = labels, left = labels ? VYRE_TUPLE_COUNT(s->imm[labels]) : 0;
  for (; left > 3 && !vyre_spv_failed(s); left -= 2, tuple = s->c[tuple]) {
    push_label(s, words, s->a[tuple], label);
    push_label(s, words, s->b[tuple], label);
  }
  const uint32_t parts[3] = {s->a[tuple], s->b[tuple], s->c[tuple]};
  for (uint32_t k = 0; k < left && k < 3; k++)
    push_label(s, words, parts[k], label);
}

vyre_spv_branching
vyre_spv_if_begin(vyre_spv *s, uint32_t condition)
{
  const vyre_spv_branching result = {s->block, s->next_id++};
  const uint32_t then = s->next_id++;
  vyre_spv_selection_merge(s, result.merge, 0);
  vyre_spv_branch_conditional(s, condition, then, result.merge);
  vyre_spv_label(s, then);
  return result;
}

uint32_t
vyre_spv_if_end(vyre_spv *s, vyre_spv_branching branching, uint32_t type, uint32_t value, uint32_t otherwise)
{
  const uint32_t operands[6] = {type, s->next_id, value, s->block, otherwise, branching.head};
  vyre_spv_branch(s, branching.merge);
  vyre_spv_label(s, branching.merge);
  if (!type)
    return 0;
  vyre_spv_instruction(s, &s->code, SpvOpPhi, operands, 6);
  return s->next_id++;
}
