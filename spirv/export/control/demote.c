/* Vars that become function variables, with loads and stores, because their phis would be far longer.
 *
 * A var set in one case of a switch of n cases needs a phi of n values after it.  So n such vars need n * n values, but only n
 * stores. Merge blocks of nested constructs and breaks of a loop have the same effect.  The words of the phis that joins may need
 * are counted while the state graph is built.  If they are at most FREE_WORDS, or ROW_WORDS per row of the program, all vars are
 * values, as in nearly all programs.  Otherwise a var becomes a variable if its phis have more than VAR_TIMES the words of the
 * variable, its loads and its stores.  The parts of its joins are not computed.  The remaining words are linear in the rows.
 *
 * Each join counts as a phi of two words per edge to its block.  A loop's header has one more phi, and a join after the target of
 * leaves that cross constructs has one in the merge block of each of those.
 *
 * Limits: vars of opaque types, and of 8- and 16-bit types that the module may only store in buffers, always remain values.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/export/control/control.h"

#include "vyre/view.h"

enum { FREE_WORDS = 65536, ROW_WORDS = 8, VAR_TIMES = 4, MOST_PHI_WORDS = 0xffff, HEADER_PHI_WORDS = 7, VARIABLE_WORDS = 5 };

static uint64_t
word_budget(const vyre_spv *s)
{
  const uint64_t words = (uint64_t)s->count * ROW_WORDS;
  return words > FREE_WORDS ? words : FREE_WORDS;
}

static bool
may_be_variable(const vyre_spv *s, uint32_t var)
{
  const bool any = vyre_module_input(s->module, s->input)->capabilities.count == 0; /* capabilities will be declared as needed */
  const vyre_kind kind = VYRE_TYPE_KIND(vyre_spv_row_type(s, var));
  const uint32_t capability = vyre_spv_narrow_capability(kind);
  return kind != VYRE_OPAQUE && (!capability || any || vyre_spv_declares(s, capability));
}

/* Returns whether the var's phis have more words than the var as a variable, if all phis together are over the limit. */
static bool
is_too_long(const vyre_spv *s, uint32_t var)
{
  const uint32_t words = s->id[var - s->base];
  if (words < UINT32_MAX && (s->phi_words <= word_budget(s) || words / VAR_TIMES <= s->aux[var - s->base] + VARIABLE_WORDS))
    return false;
  return may_be_variable(s, var);
}

bool
vyre_spv_count_join(void *writer, uint32_t var, uint32_t row, uint32_t edges)
{
  vyre_spv *const s = writer;
  const uint64_t own = VYRE_SPV_PHI_WORDS + (uint64_t)edges * VYRE_SPV_EDGE_WORDS;
  const uint64_t words = own + s->id[row - s->base] + (vyre_row_is_loop(s->view, s->parent[row]) ? HEADER_PHI_WORDS : 0);
  uint32_t *const sum = &s->id[var - s->base];
  s->phi_words += words;
  *sum = own <= MOST_PHI_WORDS && words + *sum < UINT32_MAX ? (uint32_t)words + *sum : UINT32_MAX;
  return !is_too_long(s, var);
}

bool
vyre_spv_demote(vyre_spv *s)
{
  s->scratch.count = 0;
  for (uint32_t row = s->first[s->program]; row; row = s->next[row]) {
    if (vyre_spv_opcode(s, row) != VYRE_OP_var)
      continue;
    if (is_too_long(s, row))
      vyre_spv_push(s, &s->scratch, row);
    s->id[row - s->base] = 0;
  }
  if (s->scratch.count == 0 || vyre_spv_failed(s))
    return false;
  vyre_spv_clear_program(s);
  for (size_t i = 0; i < s->scratch.count; i++)
    s->use[s->scratch.data[i] - s->base] = VYRE_SPV_IN_MEMORY;
  return true;
}

void
vyre_spv_demoted_var(vyre_spv *s, uint32_t var)
{
  const uint32_t type = vyre_spv_value_type(s, vyre_spv_row_type(s, var));
  const bool is_zero = vyre_var_is_zero(s->view, var);
  const uint32_t pointer = vyre_spv_pointer(s, SpvStorageClassFunction, type), null = is_zero ? vyre_spv_null(s, type) : 0;
  uint32_t words[4] = {pointer, 0, SpvStorageClassFunction, null};
  words[1] = s->id[var - s->base] = s->next_id++;
  vyre_spv_instruction(s, &s->code, SpvOpVariable, words, is_zero ? 4 : 3);
  vyre_spv_describe(s, var, words[1]);
}

void
vyre_spv_demoted_get(vyre_spv *s, uint32_t row)
{
  const uint32_t var = s->a[row];
  s->id[row - s->base] = vyre_spv_op1(s, SpvOpLoad, vyre_spv_value_type(s, vyre_spv_row_type(s, var)), s->id[var - s->base]);
}

void
vyre_spv_demoted_set(vyre_spv *s, uint32_t row)
{
  const uint32_t operands[2] = {s->id[s->a[row] - s->base], vyre_spv_value(s, s->b[row])};
  vyre_spv_instruction(s, &s->code, SpvOpStore, operands, 2);
}
