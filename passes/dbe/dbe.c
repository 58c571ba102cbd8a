/* Dead branch elimination: control flow whose outcome is known is replaced by the region that runs.
 *
 *   if       with a known condition: the arm that runs.  With equal arms: one of them.  Without rows: removed.
 *            With not(x): `if x` with exchanged arms
 *   switch   with a known selector, or only a default: the case that runs and those that it falls into.  Without rows: removed.
 *            Without a default: cases without rows are removed
 *   for      with from >= to, or without rows: removed.  With one iteration between literals: the body, with a literal index
 *   loop     with one iteration, because its end breaks, its end is unreachable, or a second iteration would leave at its header
 *            (known.c): the body and its continuing region
 *   block    without leaves: its rows.  Rows after an `if` with a leave move (nest.c), if that removes all leaves
 *   jumps    to the place that control reaches without them: removed
 *   rows     after a construct that control never leaves by its end (both arms jump, a loop has no exit): removed
 *
 * A known condition is a literal, or a variable that rows before it set to a literal (known.c).
 *
 * Where a jump to a construct's end remains, the construct becomes a block and the jump a leave.  Equal arms are compared row by
 * row, without paths: all columns are equal, and operands are equal or correspond.  Arms with subgroup rows, barriers or opaque
 * rows are kept apart, because these rows depend on the active lanes.
 *
 * One sweep against program order visits inner constructs first.  A row moves once for each construct around it that is removed:
 * O(rows * nesting).  Arms are compared up to the first difference, which is O(rows * log(rows)) altogether.
 *
 * Limits: a loop with a `continue`, rows in its continuing region and one iteration is kept.  Hints of removed constructs are
 * lost.
 *
 * Requires: nothing.  Preserves: nothing.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cleaner.h"
#include "known.h"

/* Lists constructs and rows that end regions, in program order.  `out` has room for all rows.  Branch-free, because such a
 * branch is mispredicted often. */
static uint32_t
list_control(const vyre_view *v, uint32_t *out)
{
  uint32_t count = 0;
  for (uint32_t row = 1; row < v->rows; row++) {
    out[count] = row;
    count += (vyre_op_flags_of(v, row) & (VYRE_OP_REGIONS | VYRE_OP_ENDS)) != 0;
  }
  return count;
}

/* Adds each jump to the list of the construct that it names. */
static void
list_jumps(const cleaner *k, const uint32_t *control, uint32_t count)
{
  const vyre_view *v = k->v;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t row = control[i], op = vyre_op_of(v, row);
    if (op != VYRE_OP_break && op != VYRE_OP_continue && op != VYRE_OP_leave)
      continue;
    const uint32_t construct = vyre_jump_target(v, row);
    k->link[row] = k->jumps[construct];
    k->jumps[construct] = row;
  }
}

static void
clean_construct(cleaner *k, uint32_t row)
{
  switch (vyre_op_of(k->v, row)) {
  case VYRE_OP_if:
    cleaner_if(k, row);
    break;
  case VYRE_OP_switch:
    cleaner_switch(k, row);
    break;
  case VYRE_OP_for:
    cleaner_for(k, row);
    break;
  case VYRE_OP_loop:
    cleaner_loop(k, row);
    break;
  case VYRE_OP_block:
    cleaner_block(k, row);
    break;
  default:
    break;
  }
}

static vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_host *host = ctx->host;
  const vyre_view *v = host->view(module);
  const size_t bytes = v->rows * sizeof(uint32_t);
  cleaner k = {.ctx = ctx, .host = host, .module = module, .v = v, .rows = v->rows};
  *out = VYRE_UNCHANGED;
  k.jumps = host->alloc(ctx, bytes);
  k.link = host->alloc(ctx, bytes);
  k.completes = host->alloc(ctx, v->rows);
  uint32_t *control = host->alloc(ctx, bytes);
  if (!k.jumps || !k.link || !k.completes || !control)
    return host->out_of_memory(ctx);
  const uint32_t count = list_control(v, control);
  list_jumps(&k, control, count);
  for (uint32_t i = count; i-- > 0;) /* inner constructs have greater ids */
    clean_construct(&k, control[i]);
  if (k.out_of_memory)
    return host->out_of_memory(ctx);
  if (k.forward) {
    uint32_t *forward = host->alloc(ctx, v->rows * sizeof(uint32_t));
    if (!forward)
      return host->out_of_memory(ctx);
    for (uint32_t row = 0; row < v->rows; row++)
      forward[row] = row < k.rows && k.forward[row] ? k.forward[row] : row;
    host->forward(module, forward);
  }
  host->count(ctx, "constructs", k.constructs);
  host->count(ctx, "jumps", k.jumps_removed);
  host->count(ctx, "unreachable rows", k.unreachable);
  *out = k.constructs || k.jumps_removed || k.unreachable ? VYRE_CHANGED : VYRE_UNCHANGED;
  return VYRE_OK;
}

static const vyre_pass dbe = {
    .struct_size = sizeof(vyre_pass),
    .name = "dbe",
    .long_name = "dead-branch",
    .summary = "remove branches and loops whose outcome is known",
    .help = "Removes if and switch on literals and on variables that rows before set to literals, loops with no iteration or one,\n"
            "equal and empty arms, blocks without leaves, redundant jumps and unreachable rows.",
    .run = run,
};
VYRE_PLUGIN("dbe", "1.0", &dbe)
