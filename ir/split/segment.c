/* Makes one segment from a copy of the whole program. Rows before its first barrier become loads of kept values, and rows after its
 * last one are removed.
 *
 * A kept row is loaded at its own position, so operands still precede their users.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "split.h"

#include <string.h>

enum { NEEDED = 1, ACCESSED = 2, WRITTEN = 4 };

/* acq_rel uniform_memory workgroup_memory; kept words are in uniform memory */
#define WORKGROUP_BARRIER VYRE_ORDER(2, 2, 0x148u)

typedef struct segment {
  const split *s;
  vyre_module *module;
  const vyre_view *v;
  vyre_builder b;
  uint32_t index;
  uint32_t low, high;     /* the barriers around the segment, or the program's row and end */
  uint32_t *map;          /* by row of the whole program: the row of the segment that loads the kept value, or 0 */
  uint8_t *marks;         /* by row: NEEDED for earlier rows, ACCESSED and WRITTEN for memory */
  split_place own, group; /* locations of the kept words of an invocation and of a workgroup */
  vyre_row lane, lanes;   /* number of this invocation among those that copy the workgroup's memory, and their count */
  vyre_row counter;       /* workgroup memory with which they number themselves, or 0 if all invocations copy */
  bool has_async;
} segment;

static uint32_t
op_of(const segment *g, uint32_t row)
{
  return VYRE_ROW_OP(g->v->op[row]);
}

static bool
is_last(const segment *g)
{
  return g->index == g->s->cut_count;
}

/* ---- needed rows ----------------------------------------------------------------------------------------------------------- */

static void
mark_row(segment *g, uint32_t row)
{
  const split *s = g->s;
  const uint32_t operands[] = {g->v->a[row], g->v->b[row], g->v->c[row]};
  for (uint32_t i = 0; i < 3; i++) {
    bool reads = false, writes = false;
    const uint32_t memory = split_accessed(s, row, operands[i], &reads, &writes);
    if (operands[i] > s->program && operands[i] < g->low)
      g->marks[operands[i]] |= NEEDED;
    if (memory)
      g->marks[memory] |= (uint8_t)(ACCESSED | (writes ? WRITTEN : 0));
  }
}

static void
mark_rows(segment *g)
{
  for (uint32_t row = g->high - 1; row > g->s->program; row--)
    if (row > g->low || (g->s->rows[row].role == SPLIT_ANEW && (g->marks[row] & NEEDED) != 0)) {
      mark_row(g, row);
      g->has_async |= op_of(g, row) == VYRE_OP_async_copy;
    }
}

/* ---- memory that crosses a cut --------------------------------------------------------------------------------------------- */

static bool
is_shared(const segment *g, uint32_t row)
{
  return op_of(g, row) == VYRE_OP_buffer && VYRE_BUFFER_SPACE(g->v->imm_hi[row]) == VYRE_SPACE_WORKGROUP;
}

/* Returns whether this segment uses contents that an earlier segment left, or leaves contents for a later one. */
static bool
is_loaded(const segment *g, uint32_t row)
{
  return split_is_kept(g->s, row) && g->s->rows[row].first_write < g->index && (g->marks[row] & ACCESSED) != 0;
}

static bool
is_stored(const segment *g, uint32_t row)
{
  return split_is_kept(g->s, row) && g->s->rows[row].last_read > g->index && (g->marks[row] & WRITTEN) != 0;
}

static bool
stores_shared(const segment *g)
{
  bool any = false;
  for (uint32_t row = g->s->program + 1; row < g->s->end && !is_last(g) && !any; row++)
    any = is_shared(g, row) && is_stored(g, row);
  return any;
}

/* ---- locations of kept words ----------------------------------------------------------------------------------------------- */

static vyre_row
multiply(segment *g, vyre_row a, vyre_row b)
{
  return vyre_build_binary(&g->b, VYRE_OP_mul, a, b);
}

static vyre_row
add(segment *g, vyre_row a, vyre_row b)
{
  return vyre_build_binary(&g->b, VYRE_OP_add, a, b);
}

/* Builds the counter of invocations that reach the barrier after the segment. It is zeroed before any invocation can return. */
static void
build_counter(segment *g, vyre_row buffer)
{
  vyre_builder *b = &g->b;
  const vyre_row zero = vyre_build_const(b, VYRE_TYPE(VYRE_U32, 1), 0);
  g->counter = vyre_build_at_literal(b, buffer, 0);
  const vyre_row first = vyre_build_if(b, vyre_build_imm(b, VYRE_OP_eq, g->lane, 0));
  vyre_build_store(b, g->counter, zero, 0);
  vyre_builder_leave(b, first);
  vyre_build_barrier(b, WORKGROUP_BARRIER);
}

/* Builds the locations of kept words. Invocations and workgroups are numbered, x fastest. Word w of all of them is contiguous,
 * after word w - 1. */
static void
build_places(segment *g)
{
  const split *s = g->s;
  vyre_builder *b = &g->b;
  const vyre_type_id words = vyre_type_runtime_array(g->module, VYRE_TYPE(VYRE_U32, 1), 0);
  const vyre_row buffer = vyre_build_buffer(b, words, VYRE_SPACE_STORAGE, 0, s->set, s->binding);
  vyre_row_set_name(g->module, buffer, "kept", 4);
  const bool counts = s->first_return <= g->index && stores_shared(g);
  const vyre_type_id one_word = vyre_type_array(g->module, VYRE_TYPE(VYRE_U32, 1), 1, VYRE_NONE, 0);
  const vyre_row counter = counts ? vyre_build_buffer(b, one_word, VYRE_SPACE_WORKGROUP, 0, 0, 0) : VYRE_NONE;
  vyre_builder_leave(b, counts ? counter : buffer);
  uint32_t workgroup = g->v->first[s->program];
  while (op_of(g, workgroup) != VYRE_OP_workgroup)
    workgroup = g->v->next[workgroup];
  vyre_row wid[3], groups[3];
  for (uint32_t i = 0; i < 3; i++) {
    wid[i] = vyre_build_lane(b, vyre_build_invocation(b, VYRE_OP_wid), i);
    groups[i] = vyre_build_lane(b, vyre_build_invocation(b, VYRE_OP_groups), i);
  }
  g->lane = vyre_build_invocation(b, VYRE_OP_lindex);
  g->lanes =
      multiply(g, multiply(g, (vyre_row){g->v->a[workgroup]}, (vyre_row){g->v->b[workgroup]}), (vyre_row){g->v->c[workgroup]});
  const vyre_row group = add(g, wid[0], multiply(g, groups[0], add(g, wid[1], multiply(g, groups[1], wid[2]))));
  const vyre_row count = multiply(g, multiply(g, groups[0], groups[1]), groups[2]), all = multiply(g, count, g->lanes);
  g->own = (split_place){buffer, add(g, multiply(g, group, g->lanes), g->lane), all};
  if (s->group_words)
    g->group = (split_place){buffer, add(g, vyre_build_imm(b, VYRE_OP_mul, all, s->invocation_words), group), count};
  if (counts)
    build_counter(g, counter);
  if (g->index == 0 && s->first_return < s->cut_count)
    split_store_word(b, &g->own, s->returned, vyre_build_const(b, VYRE_TYPE(VYRE_U32, 1), 0));
}

static void
copy_memory(segment *g, uint32_t row, bool is_load)
{
  const uint32_t slot = g->s->rows[row].slot;
  const vyre_row memory = {row};
  if (is_shared(g, row))
    split_copy(&g->b, &g->group, slot, memory, is_load, g->lane, g->lanes);
  else if (op_of(g, row) == VYRE_OP_buffer)
    split_copy(&g->b, &g->own, slot, memory, is_load, VYRE_NONE, VYRE_NONE);
  else if (is_load)
    vyre_build_set(&g->b, memory, split_load(&g->b, &g->own, slot, g->s, row));
  else
    split_store(&g->b, &g->own, slot, vyre_build_get(&g->b, memory));
}

/* Copies workgroup memory, or all other memory. Returns whether there was any. */
static bool
copy_all(segment *g, bool shared, bool is_load)
{
  bool any = false;
  const uint32_t program = g->s->program;
  for (uint32_t row = program + 1; row < g->s->end; row++) {
    const uint32_t op = op_of(g, row);
    if ((op != VYRE_OP_var && op != VYRE_OP_buffer) || is_shared(g, row) != shared)
      continue;
    if (!(is_load ? is_loaded(g, row) : is_stored(g, row)))
      continue;
    any = true;
    copy_memory(g, row, is_load);
  }
  return any;
}

static void
wait_for_copies(segment *g)
{
  if (g->has_async)
    vyre_build(&g->b, VYRE_OP_async_wait, VYRE_VOID, 0, 0, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
}

/* ---- the ends of a segment ------------------------------------------------------------------------------------------------- */

/* Builds the start of the segment, before its body: loads kept memory, and returns if the invocation has ended. Workgroup memory is
 * loaded before that, because all invocations share the work. */
static void
build_head(segment *g)
{
  const split *s = g->s;
  copy_all(g, false, true);
  if (copy_all(g, true, true))
    vyre_build_barrier(&g->b, WORKGROUP_BARRIER);
  if (s->first_return >= g->index)
    return;
  const vyre_row is_gone = vyre_build_imm(&g->b, VYRE_OP_ne, split_load_word(&g->b, &g->own, s->returned), 0);
  const vyre_row gone = vyre_build_if(&g->b, is_gone);
  vyre_build_jump(&g->b, VYRE_OP_return, VYRE_NONE);
  vyre_builder_leave(&g->b, gone);
}

/* Records that an invocation ends, before each `return` and `trap`. */
static void
note_returns(segment *g)
{
  for (uint32_t row = g->low + 1; row < g->high && !is_last(g); row++)
    if (split_is_end(op_of(g, row))) {
      vyre_builder_before(&g->b, (vyre_row){row});
      split_store_word(&g->b, &g->own, g->s->returned, vyre_build_const(&g->b, VYRE_TYPE(VYRE_U32, 1), 1));
    }
}

/* Stores the workgroup memory. The invocations that reach the barrier divide the work. If some may have returned, they number
 * themselves first. */
static void
store_shared(segment *g)
{
  vyre_builder *b = &g->b;
  if (!stores_shared(g))
    return;
  vyre_build_barrier(b, WORKGROUP_BARRIER);
  if (g->counter.id) {
    const vyre_row one = vyre_build_const(b, VYRE_TYPE(VYRE_U32, 1), 1);
    g->lane = vyre_build(b, VYRE_OP_atomic_add, VYRE_TYPE(VYRE_U32, 1), 0, VYRE_ORDER(0, 2, 0), 0, g->counter, one, VYRE_NONE);
    vyre_build_barrier(b, WORKGROUP_BARRIER);
    g->lanes = vyre_build_load(b, g->counter, 0);
  }
  copy_all(g, true, false);
}

/* ---- the rows of a segment ------------------------------------------------------------------------------------------------- */

/* Replaces a row before the segment. */
static void
replace_earlier(segment *g, uint32_t row)
{
  const split_row *of = &g->s->rows[row];
  const bool is_needed = (g->marks[row] & NEEDED) != 0;
  if (is_needed && of->role == SPLIT_ANEW)
    return;
  if (is_needed && split_is_kept(g->s, row)) {
    vyre_builder_before(&g->b, (vyre_row){row});
    g->map[row] = split_load(&g->b, &g->own, of->slot, g->s, row).id;
  }
  vyre_row_kill(g->module, (vyre_row){row});
}

static void
replace_cut(segment *g, uint32_t row)
{
  if (row == g->high) {
    vyre_builder_before(&g->b, (vyre_row){row});
    wait_for_copies(g);
    copy_all(g, false, false);
    store_shared(g);
  }
  vyre_row_kill(g->module, (vyre_row){row});
}

/* Handles a row that is only in containers, with everything in it. */
static void
replace_row(segment *g, uint32_t row)
{
  if (g->s->rows[row].role == SPLIT_FIXED)
    return;
  if (row == g->low || row == g->high) {
    replace_cut(g, row);
  } else if (row < g->low) {
    replace_earlier(g, row);
  } else if (row > g->high) {
    vyre_row_kill(g->module, (vyre_row){row});
  } else if (split_is_kept(g->s, row)) {
    vyre_builder_leave(&g->b, (vyre_row){row});
    split_store(&g->b, &g->own, g->s->rows[row].slot, (vyre_row){row});
  }
}

static void
replace_rows(segment *g)
{
  const split *s = g->s;
  for (uint32_t row = s->program + 1; row < s->end;) {
    const uint32_t end = s->rows[row].end;
    if (s->rows[row].role == SPLIT_CONTAINER && end > g->low && row < g->high) {
      row++;
      continue;
    }
    replace_row(g, row);
    row = end + 1;
  }
}

static void
use_loaded(segment *g)
{
  for (uint32_t row = g->s->program + 1; row < g->s->end; row++) {
    const uint32_t operands[] = {g->v->a[row], g->v->b[row], g->v->c[row]};
    for (unsigned i = 0; i < 3 && op_of(g, row) != VYRE_OP_null; i++)
      if (operands[i] < g->s->end && g->map[operands[i]])
        vyre_row_set_operand(g->module, (vyre_row){row}, i, (vyre_row){g->map[operands[i]]});
  }
}

vyre_status
split_make(const split *s, uint32_t index, vyre_module *module)
{
  const vyre_view *v = vyre_module_view(module);
  const size_t room = s->row_count * (sizeof(uint32_t) + 1);
  segment g = {.s = s, .module = module, .v = v, .b = {.module = module, .program = s->program}, .index = index};
  g.low = index ? s->cuts[index - 1] : s->program;
  g.high = index < s->cut_count ? s->cuts[index] : s->end;
  g.map = table_resize(module, NULL, 0, room);
  if (!g.map)
    return VYRE_OUT_OF_MEMORY("for a segment of a program");
  memset(g.map, 0, room);
  g.marks = (uint8_t *)(g.map + s->row_count);
  for (uint32_t row = v->first[0], next; row; row = next) {
    next = v->next[row];
    if (row != s->program)
      vyre_row_kill(module, (vyre_row){row});
  }
  mark_rows(&g);
  if (s->invocation_words || s->group_words) {
    build_places(&g);
    build_head(&g);
  }
  note_returns(&g);
  replace_rows(&g);
  use_loaded(&g);
  table_resize(module, g.map, room, 0);
  VYRE_TRY(vyre_module_status(module));
  return vyre_module_seal(module, NULL);
}
