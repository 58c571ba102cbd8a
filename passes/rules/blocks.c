/* Builds the table that maps a row's op, its operands' ops and their kind to candidates: head, classes, roots, literals and
 * blocks.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "compile.h"

/* Numbers the opcodes that candidates require of their root's operands a and b.  Returns the number of classes. */
static uint32_t
number_classes(const rules_candidate *candidates, uint32_t count, uint32_t *classes)
{
  uint32_t next = RULES_CLASS_IMMEDIATE + RULES_IMMEDIATES;
  classes[VYRE_OP_const] = RULES_CLASS_LITERAL;
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t k = 0; k < 2; k++)
      if (candidates[i].ops[k] < VYRE_OP__ROOM && classes[candidates[i].ops[k]] == 0)
        classes[candidates[i].ops[k]] = next++;
  return next;
}

/* Returns whether b may be an immediate of the class.  The candidate accepts a literal there. */
static bool
accepts_immediate(const rules_writer *w, const rules_candidate *candidate, uint32_t class)
{
  const uint32_t kinds = candidate->op == VYRE_OP_lane ? 1u << VYRE_U32 : candidate->kinds; /* immediates have the kind of a */
  bool accepts = candidate->literal == UINT32_MAX;
  for (uint32_t kind = 0; kind < 16 && !accepts; kind++) {
    const uint64_t bits = w->pool[candidate->literal][kind];
    accepts = (kinds >> kind & 1) != 0 && rules_class_of_immediate((uint32_t)bits, (uint32_t)(bits >> 32)) == class;
  }
  return accepts;
}

/* Returns whether the candidate's operand a (side 0) or b (side 1) may be of the class. */
static bool
accepts(const rules_writer *w, const rules_candidate *candidate, const uint32_t *classes, uint32_t side, uint32_t class)
{
  const uint32_t op = candidate->ops[side];
  const bool is_immediate = class >= RULES_CLASS_IMMEDIATE && class < RULES_CLASS_IMMEDIATE + RULES_IMMEDIATES;
  if (side == 1 && class == RULES_CLASS_SAME) /* rows with equal operands may match operands of any class */
    return true;
  if (side == 1 && candidate->same)
    return false;
  if (op == VYRE_OP__ROOM)
    return true;
  return is_immediate ? op == VYRE_OP_const && accepts_immediate(w, candidate, class) : classes[op] == class;
}

static void
put_block(rules_writer *w, const rules_candidate *candidates, uint32_t first, const uint32_t *classes, uint32_t class_count)
{
  uint32_t count = 0;
  for (uint32_t i = first; i != UINT32_MAX; i = candidates[i].next)
    count++;
  const uint32_t words = (count + 31) / 32, block = w->table->count;
  rules_put(w, words);
  rules_put(w, count);
  const uint32_t sets = 16 + 2 * class_count;
  rules_put(w, block + 3 + sets * words);
  for (uint32_t i = 0; i < sets * words; i++)
    rules_put(w, 0);
  uint32_t k = 0;
  for (uint32_t i = first; i != UINT32_MAX && !w->wrong; i = candidates[i].next, k++) {
    for (uint32_t kind = 0; kind < 16; kind++)
      if (candidates[i].kinds >> kind & 1)
        w->table->words[block + 3 + kind * words + k / 32] |= 1u << k % 32;
    for (uint32_t side = 0; side < 2; side++)
      for (uint32_t class = 0; class < class_count; class ++)
        if (accepts(w, &candidates[i], classes, side, class))
          w->table->words[block + 3 + (16 + side * class_count + class) * words + k / 32] |= 1u << k % 32;
    rules_put(w, candidates[i].program);
  }
}

void
rules_put_tables(rules_writer *w, rules_candidate *candidates, uint32_t count)
{
  static const uint32_t none = UINT32_MAX;
  uint32_t classes[VYRE_OP__ROOM] = {0}, roots[VYRE_OP__ROOM] = {0}, first[VYRE_OP__ROOM];
  for (uint32_t op = 0; op < VYRE_OP__ROOM; op++)
    first[op] = none;
  for (uint32_t i = count; i-- > 0;) {
    candidates[i].next = first[candidates[i].op];
    first[candidates[i].op] = i;
  }
  const uint32_t class_count = number_classes(candidates, count, classes);
  for (uint32_t op = 0; op < VYRE_OP__ROOM; op++)
    if (first[op] != none) {
      roots[op] = w->table->count;
      put_block(w, candidates, first[op], classes, class_count);
    }
  const uint32_t at = w->table->count;
  for (uint32_t op = 0; op < VYRE_OP__ROOM; op++)
    rules_put(w, classes[op]);
  for (uint32_t op = 0; op < VYRE_OP__ROOM; op++)
    rules_put(w, roots[op]);
  for (uint32_t i = 0; i < w->literal_count; i++)
    for (uint32_t kind = 0; kind < 16; kind++) {
      rules_put(w, (uint32_t)w->pool[i][kind]);
      rules_put(w, (uint32_t)(w->pool[i][kind] >> 32));
    }
  if (w->wrong)
    return;
  w->table->words[RULES_TABLE_CLASSES] = at;
  w->table->words[RULES_TABLE_ROOTS] = at + VYRE_OP__ROOM;
  w->table->words[RULES_TABLE_LITERALS] = at + 2 * VYRE_OP__ROOM;
  w->table->words[RULES_TABLE_CLASS_COUNT] = class_count;
}
