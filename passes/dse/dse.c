/* Dead store elimination.  Removes writes that no read can see, in execution order.  dce decides for a whole variable or buffer;
 * dse decides for each write.  Removes
 *
 *   set            whose value reaches no get (sets.c)
 *   store, copy    that is overwritten before a read: by a store of the same location, or of a location that contains it, which
 *                  runs whenever the first store has run
 *   store          to private memory that the invocation does not read again
 *   store          of the value that the location has already: the value stored last, or a value loaded from there
 *
 * Other invocations see storage and workgroup memory at a barrier, an ordered atomic, an async copy and at the end of the
 * invocation.  A store after such a row does not make a store before it dead.  Volatile and coherent stores stay.
 *
 * Limits: the walk after each store visits a bounded number of rows.  O(rows + parts of joins).
 *
 * Requires: versions, dominance.  Preserves: versions, unless it removes a write of memory, or all `set`s of a variable in
 * a loop that reads the variable.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../state/memory.h"
#include "sets.h"

enum { MOST_TOUCHES = 64 };

typedef struct walk {
  memory m;
  const vyre_view *v;
  uint32_t *touches; /* rows that read or write memory, and jumps, in program order */
  uint32_t count;
  uint32_t left; /* touches that the walk may still visit */
} walk;

typedef enum fate { FATE_OPEN, FATE_SEEN, FATE_DEAD } fate;

static bool
is_touch(const walk *w, uint32_t row)
{
  const uint32_t op = vyre_op_of(w->v, row), flags = vyre_op_flags_of(w->v, row);
  if (flags & VYRE_OP_ENDS)
    return true;
  if (op == VYRE_OP_get || op == VYRE_OP_set)
    return false;
  return (flags & VYRE_OP_WRITES) != 0 || (flags & (VYRE_OP_READS | VYRE_OP_CONVERGENT)) == VYRE_OP_READS;
}

/* ---- after a store ------------------------------------------------------------------------------------------------------- */

/* Returns whether a write through `path` overwrites all of the place. */
static bool
covers(const walk *w, uint32_t path, uint32_t place)
{
  for (;; place = w->v->a[place]) {
    if (memory_compare(&w->m, path, place) == MEMORY_SAME)
      return true;
    if (vyre_op_of(w->v, place) != VYRE_OP_at)
      return false;
  }
}

/* Returns whether a read through `path` may read the place: in another iteration of `loop`, or in this one if `loop` is 0. */
static bool
may_read(const walk *w, uint32_t path, uint32_t place, uint32_t loop)
{
  const uint32_t classes = w->m.alias[vyre_buffer_of(w->v, path)] ^ w->m.alias[vyre_buffer_of(w->v, place)];
  if ((classes & ~VYRE_ALIAS_SHARED) != 0)
    return false;
  return (loop ? memory_compare_iterations(&w->m, path, place, loop) : memory_compare(&w->m, path, place)) != MEMORY_DISJOINT;
}

/* Returns the effect of a row in `region` or deeper on the stored value.  If `region` is 0, the row runs in another iteration of
 * `loop`. */
static fate
fate_at(const walk *w, uint32_t row, uint32_t region, uint32_t place, uint32_t loop)
{
  const vyre_view *v = w->v;
  const uint32_t op = vyre_op_of(w->v, row),
                 ended = (vyre_op_flags_of(v, row) & VYRE_OP_ENDS) ? vyre_jump_target(v, row) : UINT32_MAX;
  const bool own = VYRE_BUFFER_SPACE(v->imm_hi[vyre_buffer_of(w->v, place)]) == VYRE_SPACE_PRIVATE;
  if (op == VYRE_OP_return || op == VYRE_OP_trap)
    return !own || op == VYRE_OP_trap ? FATE_SEEN : v->parent[row] == region ? FATE_DEAD : FATE_OPEN;
  if (ended != UINT32_MAX)
    return ended > region ? FATE_OPEN : FATE_SEEN;
  switch (op) {
  case VYRE_OP_null: /* removed */
    return FATE_OPEN;
  case VYRE_OP_load:
    return may_read(w, v->a[row], place, loop) ? FATE_SEEN : FATE_OPEN;
  case VYRE_OP_store:
    return v->parent[row] == region && covers(w, v->a[row], place) ? FATE_DEAD : FATE_OPEN;
  case VYRE_OP_copy:
    return may_read(w, v->b[row], place, loop) ? FATE_SEEN : FATE_OPEN;
  case VYRE_OP_barrier:
    return own ? FATE_OPEN : FATE_SEEN;
  default:
    if (!vyre_op_is_atomic(op))
      return FATE_SEEN;
    return (!own && (VYRE_ORDER_SEMANTICS(v->imm[row]) & 0x1eu) != 0) || may_read(w, v->a[row], place, loop) ? FATE_SEEN
                                                                                                             : FATE_OPEN;
  }
}

/* Returns the index of the first touch after the row. */
static uint32_t
touch_after(const walk *w, uint32_t row)
{
  uint32_t low = 0, high = w->count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (w->touches[middle] <= row)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Returns the effect of the touches from index `touch` to the row `last` on the stored value. */
static fate
fate_until(walk *w, uint32_t touch, uint32_t last, uint32_t region, uint32_t place)
{
  for (; touch < w->count && w->touches[touch] <= last; touch++) {
    const fate f = w->left == 0 ? FATE_SEEN : fate_at(w, w->touches[touch], region, place, 0);
    if (f != FATE_OPEN)
      return f;
    w->left--;
  }
  return FATE_OPEN;
}

/* Returns whether another iteration of the loop may see the stored value.  Jumps inside the loop are ignored: the walk visits the
 * whole loop, and its caller continues after the loop. */
static bool
is_seen_in_loop(walk *w, uint32_t loop, uint32_t place)
{
  for (uint32_t touch = touch_after(w, loop); touch < w->count && w->touches[touch] <= w->v->end[loop]; touch++) {
    const uint32_t row = w->touches[touch];
    const bool jumps = (vyre_op_flags_of(w->v, row) & VYRE_OP_ENDS) != 0;
    if (w->left == 0 || (jumps && vyre_jump_target(w->v, row) < loop) || (!jumps && fate_at(w, row, 0, place, loop) == FATE_SEEN))
      return true;
    w->left--;
  }
  return false;
}

static bool
is_seen(walk *w, uint32_t store)
{
  const vyre_view *v = w->v;
  const uint32_t place = v->a[store];
  uint32_t at = store, touch = touch_after(w, store);
  w->left = MOST_TOUCHES;
  for (;;) {
    const uint32_t region = v->parent[at], control = v->parent[region];
    const fate f = fate_until(w, touch, v->end[region], region, place);
    if (f != FATE_OPEN)
      return f == FATE_SEEN;
    if (vyre_op_of(w->v, region) == VYRE_OP_program) /* the end of the invocation, which alone sees its private memory */
      return VYRE_BUFFER_SPACE(v->imm_hi[vyre_buffer_of(w->v, place)]) != VYRE_SPACE_PRIVATE;
    if (vyre_row_is_loop(w->v, control) && is_seen_in_loop(w, control, place))
      return true;
    at = control;
    touch = touch_after(w, v->end[control]);
  }
}

/* ---- stores of the present value ----------------------------------------------------------------------------------------- */

static bool
stores_present_value(const walk *w, uint32_t store)
{
  const vyre_view *v = w->v;
  const uint32_t value = v->b[store], place = v->a[store];
  const memory_state state = memory_at(&w->m, v->version[store], place);
  if (state.value == value)
    return true;
  if (vyre_op_of(w->v, value) != VYRE_OP_load || !memory_is_plain(&w->m, value, v->a[value]) || state.since == 0 ||
      memory_compare(&w->m, v->a[value], place) != MEMORY_SAME || !vyre_row_dominates(v, value, store))
    return false;
  return memory_at(&w->m, v->version[value], place).since == state.since;
}

/* ---- the pass ------------------------------------------------------------------------------------------------------------ */

static bool
has_row_of(const vyre_view *v, const stops *at, uint32_t op)
{
  for (uint32_t i = 0; i < at->count; i++)
    if (VYRE_ROW_OP(v->op[at->rows[i]]) == op)
      return true;
  return false;
}

static bool
is_candidate(const walk *w, uint32_t row)
{
  const uint32_t op = vyre_op_of(w->v, row);
  return (op == VYRE_OP_store || (op == VYRE_OP_copy && memory_is_plain(&w->m, row, w->v->b[row]))) &&
         memory_is_plain(&w->m, row, w->v->a[row]);
}

static vyre_status
remove_stores(vyre_pass_ctx *ctx, vyre_module *module, const stops *at, uint64_t *same, uint64_t *unseen)
{
  walk w = {.v = ctx->host->view(module)};
  if (!has_row_of(w.v, at, VYRE_OP_store) && !has_row_of(w.v, at, VYRE_OP_copy))
    return VYRE_OK;
  VYRE_TRY(memory_make(&w.m, ctx, module));
  w.touches = ctx->host->alloc(ctx, sizeof(uint32_t) * at->count);
  if (!w.touches)
    return ctx->host->out_of_memory(ctx);
  for (uint32_t i = 0; i < at->count; i++)
    if (is_touch(&w, at->rows[i]))
      w.touches[w.count++] = at->rows[i];
  bool *gone = ctx->host->alloc(ctx, w.count);
  if (!gone)
    return ctx->host->out_of_memory(ctx);
  for (uint32_t i = 0; i < w.count; i++)
    gone[i] =
        vyre_op_of(w.v, w.touches[i]) == VYRE_OP_store && is_candidate(&w, w.touches[i]) && stores_present_value(&w, w.touches[i]);
  for (uint32_t i = 0; i < w.count; i++) /* removed first: such a store must not make an earlier store dead */
    if (gone[i]) {
      ctx->host->kill(module, w.touches[i]);
      ++*same;
    }
  for (uint32_t i = w.count; i-- > 0;)
    if (is_candidate(&w, w.touches[i]) && !is_seen(&w, w.touches[i])) {
      ctx->host->kill(module, w.touches[i]);
      ++*unseen;
    }
  return VYRE_OK;
}

static vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  uint64_t same = 0, unseen = 0, sets = 0;
  bool preserved = true;
  stops at;
  *out = VYRE_UNCHANGED;
  VYRE_TRY(stops_find(ctx, ctx->host->view(module), &at));
  VYRE_TRY(remove_stores(ctx, module, &at, &same, &unseen));
  VYRE_TRY(sets_remove(ctx, module, &at, &sets, &preserved));
  if (preserved && same == 0 && unseen == 0)
    ctx->host->preserved(ctx, VYRE_VERSIONS);
  ctx->host->count(ctx, "stores of the present value", same);
  ctx->host->count(ctx, "unread stores", unseen);
  ctx->host->count(ctx, "unread sets", sets);
  *out = same || unseen || sets ? VYRE_CHANGED : VYRE_UNCHANGED;
  return VYRE_OK;
}

static const vyre_pass dse = {
    .struct_size = sizeof(vyre_pass),
    .name = "dse",
    .long_name = "dead-store-elimination",
    .summary = "remove writes that are overwritten before a read, or that change nothing",
    .help = "Decides for each write, in execution order.  dce removes writes of variables and memory without any read.\n"
            "Keeps writes that other invocations may see at a barrier, an ordered atomic or the end, and volatile and\n"
            "coherent stores.",
    .requires_ = VYRE_VERSIONS | VYRE_DOMINANCE,
    .run = run,
};
VYRE_PLUGIN("dse", "1.0", &dse)
