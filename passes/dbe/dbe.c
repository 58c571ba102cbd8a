/* Dead branch elimination: control flow that is known is removed, and replaced by the region it led to.
 *
 *   if       a literal condition: the arm.  Equal arms: one of them.  No rows in either: nothing.  not(x): x, arms exchanged
 *   switch   a literal selector, or a default alone: the case and those that it falls into.  No rows: nothing; so for a case
 *            without rows where no match has nothing either
 *   for      from >= to, or no rows: nothing.  One iteration between literals: the body, its index the literal
 *   loop     one iteration, because its end breaks, control never comes there, or a second one would leave at its head (once.c):
 *            the body, and its continuing region
 *   block    without leaves: its rows
 *   jumps    to where control would go anyhow: gone
 *   after a construct that control never comes out of (both arms jump, a loop has no exit): nothing is reached, and it is removed
 *
 * Where a jump to a construct's end remains, the construct becomes a block, the jump a leave.  Equal arms are compared row by row,
 * paths aside: the same columns, operands that are the same or correspond.  They stay two where the active lanes matter: with
 * subgroup rows, barriers or opaque rows in them.
 *
 * Constructs are taken inside out, in one sweep against program order.  A row moves once for each construct that goes around it:
 * O(rows * nesting).  Arms are compared up to the first difference, which altogether is O(rows * log(rows)).
 *
 * Limits: a loop with a `continue`, rows in its continuing region and one iteration stays; hints of removed constructs are lost.
 *
 * requires: nothing      preserves: nothing
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cleaner.h"
#include "once.h"

/* Constructs and what ends regions, in program order, in an array with room for all rows, so that there is no branch to predict. */
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
clean(cleaner *k, uint32_t row)
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
  cleaner k = {.ctx = ctx, .host = host, .module = module, .v = v};
  *out = VYRE_UNCHANGED;
  k.jumps = host->alloc(ctx, bytes);
  k.link = host->alloc(ctx, bytes);
  k.completes = host->alloc(ctx, v->rows);
  uint32_t *control = host->alloc(ctx, bytes);
  if (!k.jumps || !k.link || !k.completes || !control)
    return host->out_of_memory(ctx);
  const uint32_t count = list_control(v, control);
  list_jumps(&k, control, count);
  for (uint32_t i = count; i-- > 0;) /* inner ones have greater ids */
    clean(&k, control[i]);
  if (k.out_of_memory)
    return host->out_of_memory(ctx);
  if (k.forward) {
    for (uint32_t row = 0; row < v->rows; row++)
      if (k.forward[row] == 0)
        k.forward[row] = row;
    host->forward(module, k.forward);
  }
  host->count(ctx, "constructs", k.constructs);
  host->count(ctx, "jumps", k.jumps_gone);
  host->count(ctx, "rows not reached", k.unreachable);
  *out = k.constructs || k.jumps_gone || k.unreachable ? VYRE_CHANGED : VYRE_UNCHANGED;
  return VYRE_OK;
}

static const vyre_pass dbe = {
    .struct_size = sizeof(vyre_pass),
    .name = "dbe",
    .long_name = "dead-branch",
    .summary = "remove branches and loops whose outcome is known",
    .help = "if and switch on literals, loops of no iteration or one, arms that are equal or empty, blocks that nothing leaves,\n"
            "jumps to where control goes anyhow, and what is never reached.",
    .run = run,
};
VYRE_PLUGIN("dbe", "1.0", &dbe)
