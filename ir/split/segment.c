/* One segment out of a copy of the whole: what is before its first barrier becomes loads of what was kept, what is after its last
 * one goes.
 *
 * A kept row is loaded in its own place, so operands stay before their users.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "split.h"

#include <string.h>

enum { NEEDED = 1, ACCESSED = 2, WRITTEN = 4 };

/* acq_rel uniform_memory workgroup_memory: what is kept is in the first. */
#define WORKGROUP_BARRIER VYRE_ORDER(2, 2, 0x148u)

typedef struct segment {
  const split *s;
  vyre_module *module;
  const vyre_view *v;
  vyre_builder b;
  uint32_t index;
  uint32_t low, high;     /* the barriers around it; the program's row and end where there is none */
  uint32_t *map;          /* by row of the whole: the row that is loaded in its place; 0: none */
  uint8_t *marks;         /* likewise: NEEDED of rows before it, ACCESSED and WRITTEN of memory */
  split_place own, group; /* where what an invocation and a workgroup keeps is */
  vyre_row lane, lanes;   /* of those who carry the workgroup's memory: this one, and how many */
  vyre_row counter;       /* workgroup memory where they number themselves; 0: all carry */
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

/* ---- what it needs --------------------------------------------------------------------------------------------------------- */

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
mark(segment *g)
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

/* Whether this segment finds something in it that an earlier one left, and whether it leaves something for a later one. */
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

/* ---- where what is kept is ------------------------------------------------------------------------------------------------- */

static vyre_row
multiply(segment *g, vyre_row a, vyre_row b)
{
  return vyre_build_binary(&g->b, VYRE_OP_mul, a, b);
}

static vyre_row
sum(segment *g, vyre_row a, vyre_row b)
{
  return vyre_build_binary(&g->b, VYRE_OP_add, a, b);
}

/* Workgroup memory that counts who comes to the barrier after the segment.  It is zero before anybody may return. */
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

/* Invocations and workgroups are numbered, x fastest; word w of all of them lies side by side, after word w - 1. */
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
  const vyre_row group = sum(g, wid[0], multiply(g, groups[0], sum(g, wid[1], multiply(g, groups[1], wid[2]))));
  const vyre_row count = multiply(g, multiply(g, groups[0], groups[1]), groups[2]), all = multiply(g, count, g->lanes);
  g->own = (split_place){buffer, sum(g, multiply(g, group, g->lanes), g->lane), all};
  if (s->group_words)
    g->group = (split_place){buffer, sum(g, vyre_build_imm(b, VYRE_OP_mul, all, s->invocation_words), group), count};
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

/* Of the workgroups' memory, or of all other; gives whether there was any. */
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

/* ---- its ends -------------------------------------------------------------------------------------------------------------- */

/* Before all of the body, so that who has returned computes nothing with what it did not keep; but the workgroup's memory comes
 * back before, as all carry it. */
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

/* Notes who returns. */
static void
note_returns(segment *g)
{
  for (uint32_t row = g->low + 1; row < g->high && !is_last(g); row++)
    if (split_is_end(op_of(g, row))) {
      vyre_builder_before(&g->b, (vyre_row){row});
      split_store_word(&g->b, &g->own, g->s->returned, vyre_build_const(&g->b, VYRE_TYPE(VYRE_U32, 1), 1));
    }
}

/* What a workgroup keeps is carried by those of its invocations that come to the barrier; where some may have returned, they number
 * themselves. */
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

/* ---- its rows -------------------------------------------------------------------------------------------------------------- */

/* A row before the segment. */
static void
take_earlier(segment *g, uint32_t row)
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
take_cut(segment *g, uint32_t row)
{
  if (row == g->high) {
    vyre_builder_before(&g->b, (vyre_row){row});
    wait_for_copies(g);
    copy_all(g, false, false);
    store_shared(g);
  }
  vyre_row_kill(g->module, (vyre_row){row});
}

/* A row that is in no construct but containers, with all in it. */
static void
take_row(segment *g, uint32_t row)
{
  if (g->s->rows[row].role == SPLIT_FIXED)
    return;
  if (row == g->low || row == g->high) {
    take_cut(g, row);
  } else if (row < g->low) {
    take_earlier(g, row);
  } else if (row > g->high) {
    vyre_row_kill(g->module, (vyre_row){row});
  } else if (split_is_kept(g->s, row)) {
    vyre_builder_leave(&g->b, (vyre_row){row});
    split_store(&g->b, &g->own, g->s->rows[row].slot, (vyre_row){row});
  }
}

static void
take_rows(segment *g)
{
  const split *s = g->s;
  for (uint32_t row = s->program + 1; row < s->end;) {
    const uint32_t end = s->rows[row].end;
    if (s->rows[row].role == SPLIT_CONTAINER && end > g->low && row < g->high) {
      row++;
      continue;
    }
    take_row(g, row);
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
  mark(&g);
  if (s->invocation_words || s->group_words) {
    build_places(&g);
    build_head(&g);
  }
  note_returns(&g);
  take_rows(&g);
  use_loaded(&g);
  table_resize(module, g.map, room, 0);
  VYRE_TRY(vyre_module_status(module));
  return vyre_module_seal(module, NULL);
}
