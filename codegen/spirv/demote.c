/* Vars that go out as variables of the function, with loads and stores, as their phis would come to far more.
 *
 * A var written in one case of a switch of n needs a phi of n values after it: n such vars are n * n values, where their stores
 * were n.  The same goes for the merge blocks of nested constructs, and for the breaks of a loop.  So the words of all phis that a
 * program's vars may need are counted.  Where they come to no more than FREE_WORDS, or to ROW_WORDS for each of its rows, all vars
 * are values, as they are of nearly all programs.  Else those whose phis come to more than VAR_TIMES the words that the variable,
 * its loads and its stores have become variables; what is left is linear in the rows.
 *
 * Counted is one phi a var and construct that it is written in, of two words for each edge to its merge block; a loop has another
 * one at its head.  A var that is first written in a region, and met nowhere else, is carried by nothing around that region: those
 * phis are taken out again.  That it is always written there before it is read is not shown, though, and until they are taken out
 * they need memory: so all that is counted is held against MEMORY_TIMES as much too.
 *
 * Cost: rows, vars times the depth of constructs, and what is counted, which ends where more would not change the outcome.
 *
 * Limits: values of opaque types and the flags of leaves have no variable, and those of 8 and 16 bits have none where the module
 * knows such values in buffers alone: they stay phis.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "control.h"

#include "vyre/view.h"

#include <string.h>

enum { FREE_WORDS = 65536, ROW_WORDS = 8, VAR_TIMES = 4, MEMORY_TIMES = 16, MOST_PHI_WORDS = 0xffff };
enum { PHI_WORDS = 3, EDGE_WORDS = 2, HEAD_PHI_WORDS = 7, VARIABLE_WORDS = 5, GET_WORDS = 4, SET_WORDS = 3 };

static uint64_t
budget(const vyre_spv *s)
{
  const uint64_t words = (uint64_t)s->count * ROW_WORDS;
  return words > FREE_WORDS ? words : FREE_WORDS;
}

/* No var is written in more constructs, nor has one more edges than there are. */
bool
vyre_spv_may_demote(const vyre_spv *s, uint32_t sets, uint32_t edges)
{
  return (uint64_t)sets * edges * (PHI_WORDS + EDGE_WORDS + HEAD_PHI_WORDS) > budget(s);
}

static bool
may_be_variable(const vyre_spv *s, uint32_t var)
{
  const bool any = vyre_module_input(s->module, s->input)->capabilities.count == 0; /* what is used will be declared */
  switch (VYRE_TYPE_KIND(vyre_spv_row_type(s, var))) {
  case VYRE_OPAQUE:
    return false;
  case VYRE_F16:
    return any || vyre_spv_declares(s, SpvCapabilityFloat16);
  case VYRE_I16:
  case VYRE_U16:
    return any || vyre_spv_declares(s, SpvCapabilityInt16);
  case VYRE_I8:
  case VYRE_U8:
    return any || vyre_spv_declares(s, SpvCapabilityInt8);
  default:
    return true;
  }
}

/* By row. */
typedef struct measures {
  uint32_t *home;  /* of a var, the region that it is met in alone, and written first, as far as one is: nothing around counts; of a
                      region or construct its last row */
  uint32_t *words; /* of a var as a variable; of a construct, of a phi at its end */
  uint32_t *first; /* of a var, the first row that gets or sets it, later the last one so far that sets it; of regions and
                      constructs, the loop around */
  uint32_t *last;  /* of a var, the last row that gets or sets it; later the words of its phis in its home */
  uint32_t *all;   /* of a var, the words of its phis */
} measures;

static bool
is_var(const vyre_spv *s, uint32_t var, uint32_t row)
{
  return var > s->base && var < row && vyre_spv_opcode(s, var) == VYRE_OP_var;
}

static void
add_edge(const vyre_spv *s, const measures *m, uint32_t construct)
{
  if (construct > s->base && construct < s->end)
    m->words[construct - s->base] += EDGE_WORDS;
}

static void
measure_access(const vyre_spv *s, const measures *m, uint32_t row, uint32_t words)
{
  const uint32_t var = s->a[row] - s->base;
  if (!is_var(s, s->a[row], row))
    return;
  m->words[var] += words;
  m->first[var] = m->first[var] ? m->first[var] : row;
  m->last[var] = row;
}

static void
measure_row(const vyre_spv *s, const measures *m, uint32_t row)
{
  const uint32_t parent = s->parent[row], at = row - s->base, around = parent - s->base, loop = m->first[around];
  const vyre_opcode op = vyre_spv_opcode(s, row);
  switch (op) {
  case VYRE_OP_var:
    m->words[at] += VARIABLE_WORDS;
    break;
  case VYRE_OP_get:
    measure_access(s, m, row, GET_WORDS);
    break;
  case VYRE_OP_set:
    measure_access(s, m, row, SET_WORDS);
    break;
  case VYRE_OP_loop:
  case VYRE_OP_for:
  case VYRE_OP_if:
  case VYRE_OP_switch:
  case VYRE_OP_block:
    m->words[at] += vyre_row_is_loop(s->view, row) ? HEAD_PHI_WORDS + PHI_WORDS : PHI_WORDS;
    m->first[at] = loop;
    m->home[at] = s->next[row] ? s->next[row] - 1 : m->home[around];
    break;
  case VYRE_OP_region:
  case VYRE_OP_body:
  case VYRE_OP_case:
    m->first[at] = vyre_row_is_loop(s->view, parent) ? parent : loop;
    m->home[at] = s->next[row] ? s->next[row] - 1 : m->home[around];
    add_edge(s, m, parent);
    break;
  case VYRE_OP_leave:
    add_edge(s, m, s->a[row]);
    add_edge(s, m, loop);
    break;
  case VYRE_OP_break:
  case VYRE_OP_continue:
    add_edge(s, m, loop);
    break;
  default:
    break;
  }
}

/* A var that is read first has what it was given before, or zero: it is carried from the program's start. */
static void
find_home(const vyre_spv *s, const measures *m, uint32_t var)
{
  const uint32_t first = m->first[var - s->base], last = m->last[var - s->base];
  uint32_t at = s->base;
  if (first && vyre_spv_opcode(s, first) == VYRE_OP_set)
    for (at = s->parent[first]; at > s->base && m->home[at - s->base] < last; at = s->parent[at])
      ;
  m->home[var - s->base] = at;
  m->first[var - s->base] = m->last[var - s->base] = 0;
}

typedef struct count {
  uint64_t at_home, all;
} count;

/* Adds the phis of the constructs around a set that no set of its var before it stands in. */
static void
count_set(const vyre_spv *s, const measures *m, uint32_t row, count *sum)
{
  const uint32_t var = s->a[row] - s->base, before = m->first[var], home = m->home[var];
  uint64_t at_home = 0, all = 0;
  for (uint32_t at = s->parent[row]; at > s->base && at > before; at = s->parent[at]) {
    const vyre_opcode op = vyre_spv_opcode(s, at);
    if (op == VYRE_OP_region || op == VYRE_OP_body || op == VYRE_OP_case)
      continue;
    const uint32_t words = m->words[at - s->base];
    all += words;
    at_home += at > home ? words : 0;
    if (words > MOST_PHI_WORDS) { /* there is no such phi: the var has none, whatever the others come to */
      at_home += UINT32_MAX;
      m->all[var] = UINT32_MAX;
    }
  }
  m->first[var] = row;
  sum->at_home += at_home;
  sum->all += all;
  m->last[var] = at_home + m->last[var] < UINT32_MAX ? (uint32_t)at_home + m->last[var] : UINT32_MAX;
  m->all[var] = all + m->all[var] < UINT32_MAX ? (uint32_t)all + m->all[var] : UINT32_MAX;
}

/* Whether its phis come to more than it would as a variable. */
static bool
is_long(const measures *m, uint32_t var, const uint32_t *phis)
{
  return phis[var] / VAR_TIMES > m->words[var];
}

static count
count_all(const vyre_spv *s, const measures *m)
{
  const uint64_t most = MEMORY_TIMES * budget(s);
  count sum = {0};
  for (uint32_t row = s->base + 1; row < s->end; row++)
    if (vyre_spv_opcode(s, row) == VYRE_OP_var)
      find_home(s, m, row);
    else if (vyre_spv_opcode(s, row) == VYRE_OP_set && is_var(s, s->a[row], row) &&
             (sum.all <= most || !is_long(m, s->a[row] - s->base, m->all)))
      count_set(s, m, row, &sum);
  return sum;
}

bool
vyre_spv_demote(vyre_spv *s)
{
  uint32_t *const memory = vyre_spv_memory(s, (size_t)s->count * sizeof(*memory) * 5);
  const size_t rows = s->count;
  if (!memory)
    return false;
  memset(memory, 0, rows * sizeof(*memory) * 5);
  const measures m = {memory, memory + rows, memory + 2 * rows, memory + 3 * rows, memory + 4 * rows};
  m.home[0] = s->end - 1;
  for (uint32_t row = s->base + 1; row < s->end; row++)
    measure_row(s, &m, row);
  const count sum = count_all(s, &m);
  const uint32_t *const phis = sum.all > MEMORY_TIMES * budget(s) ? m.all : m.last;
  vyre_spv_clear_program(s);
  bool any = false;
  for (uint32_t row = s->base + 1; row < s->end && (phis == m.all || sum.at_home > budget(s)); row++)
    if (vyre_spv_opcode(s, row) == VYRE_OP_var && is_long(&m, row - s->base, phis) && may_be_variable(s, row)) {
      s->use[row - s->base] = VYRE_SPV_IN_MEMORY;
      any = true;
    }
  return any;
}

void
vyre_spv_demoted_var(vyre_spv *s, uint32_t var)
{
  const uint32_t type = vyre_spv_value_type(s, vyre_spv_row_type(s, var));
  uint32_t words[4] = {vyre_spv_pointer(s, SpvStorageClassFunction, type), 0, SpvStorageClassFunction, vyre_spv_null(s, type)};
  words[1] = s->id[var - s->base] = s->next_id++;
  vyre_spv_instruction(s, &s->code, SpvOpVariable, words, 4);
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
