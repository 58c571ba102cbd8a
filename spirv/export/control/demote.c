/* Vars that become function variables, with loads and stores.
 *
 * A loop with a `continue` in an arm has several edges to its continue target.  Mesa executes the continue construct of such a loop
 * at the start of the next iteration, so that each phi in it becomes a second value that lives through the whole iteration.  The
 * vars that such a loop changes from one iteration to the next therefore become variables, which drivers turn into values
 * themselves.
 *
 * Other vars become variables because their phis would be far longer.
 * A var set in one case of a switch of n cases needs a phi of n values after it.  So n such vars need n * n values, but only n
 * stores. Merge blocks of nested constructs and breaks of a loop have the same effect.  In nearly all programs, all vars are
 * values: the words of the phis that joins may need are at most FREE_WORDS, or ROW_WORDS per row of the program.  Otherwise a var
 * becomes a variable if its phis have more than VAR_TIMES the words of the variable, its loads and its stores.  The remaining words
 * are linear in the rows.
 *
 * Each join counts as a phi of two words per edge to its block.  A loop's header has one more phi, and a join after the target of
 * leaves that cross constructs has one in the merge block of each of those.
 *
 * Limits: vars of opaque types, and of 8- and 16-bit types that the module may only store in buffers, always remain values.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/export/control/control.h"

#include "vyre/view.h"

#include <string.h>

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

/* Returns whether the var becomes a variable, if the words of its phis are `words`. */
static bool
is_demoted(const vyre_spv *s, uint32_t var, uint64_t words, bool is_over)
{
  const bool is_long = words == UINT64_MAX || (is_over && words / VAR_TIMES > s->aux[var - s->base] + VARIABLE_WORDS);
  return is_long && may_be_variable(s, var);
}

/* The words of phis of all joins. */
typedef struct phi_words {
  uint64_t all;
  bool any_too_long; /* a phi is longer than an instruction may be, or at the header of a loop with a `continue` */
} phi_words;

/* Counts the words of phis.  Adds them to the sums of their vars, if `sums`. */
static phi_words
count_words(const vyre_spv *s, uint64_t *sums)
{
  const uint32_t *const joins = s->joins.data;
  phi_words result = {0};
  for (size_t at = 1; at < s->joins.count; at += 2 + joins[at + 1]) {
    const uint32_t row = joins[at];
    const uint32_t around = s->parent[row];
    const bool is_case = vyre_spv_opcode(s, row) == VYRE_OP_case, is_loop = vyre_row_is_loop(s->view, around);
    const bool has_two_edges = is_case || (is_loop && s->first[around] == row);
    const uint64_t edges = has_two_edges ? 2 * VYRE_SPV_EDGE_WORDS : s->aux[(is_loop ? around : row) - s->base];
    const uint64_t own = VYRE_SPV_PHI_WORDS + edges;
    const bool is_continued = is_loop && s->first[around] == row && (s->use[around - s->base] & VYRE_SPV_CONTINUED) != 0;
    const bool is_too_long = is_continued || own > MOST_PHI_WORDS;
    const uint64_t words = is_case ? own : is_loop ? own + HEADER_PHI_WORDS : own + s->id[row - s->base];
    for (uint32_t k = 0; sums && k < joins[at + 1]; k++) {
      uint64_t *const sum = &sums[s->id[joins[at + 2 + k] - s->base]];
      *sum = !is_too_long && *sum != UINT64_MAX ? *sum + words : UINT64_MAX;
    }
    result.all += joins[at + 1] * words;
    result.any_too_long |= is_too_long;
  }
  return result;
}

/* Inserts the rows of `scratch` in `declared`.  Both are in the order of rows. */
static void
declare_scratch(vyre_spv *s)
{
  size_t at = s->declared.count, from = s->scratch.count;
  uint32_t *to = vyre_spv_reserve(s, &s->declared, from);
  for (to = to ? to + from : NULL; to && from > 0;)
    *--to = at > 0 && s->declared.data[at - 1] > s->scratch.data[from - 1] ? s->declared.data[--at] : s->scratch.data[--from];
}

/* Removes from the joins the vars that are variables. */
static void
remove_joins(vyre_spv *s)
{
  uint32_t *const joins = s->joins.data;
  size_t count = 1;
  for (size_t at = 1, next; at < s->joins.count; at = next) {
    const size_t start = count;
    next = at + 2 + joins[at + 1];
    joins[start] = joins[at];
    count += 2;
    for (size_t k = at + 2; k < next; k++)
      if (!(s->use[joins[k] - s->base] & VYRE_SPV_IN_MEMORY))
        joins[count++] = joins[k];
    joins[start + 1] = (uint32_t)(count - start - 2);
    count = joins[start + 1] ? count : start;
  }
  s->joins.count = count;
}

void
vyre_spv_demote(vyre_spv *s)
{
  const uint32_t count = (uint32_t)s->vars.count;
  const phi_words words = count_words(s, NULL);
  const bool is_over = words.all > word_budget(s);
  uint64_t *const sums = is_over || words.any_too_long ? vyre_spv_memory(s, count * sizeof *sums) : NULL;
  if (!sums)
    return;
  memset(sums, 0, count * sizeof *sums);
  (void)count_words(s, sums);
  s->vars.count = s->scratch.count = 0;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t var = s->vars.data[i];
    const bool demoted = is_demoted(s, var, sums[i], is_over);
    s->use[var - s->base] |= demoted ? VYRE_SPV_IN_MEMORY : 0;
    vyre_spv_push(s, demoted ? &s->scratch : &s->vars, var);
  }
  s->demoted = s->scratch.count > 0;
  if (!s->demoted)
    return;
  declare_scratch(s);
  remove_joins(s);
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
