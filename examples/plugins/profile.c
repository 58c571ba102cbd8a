/* An example of a pass that instruments a program: counts the executions of each block.
 *
 * A block is a sequence of rows of a region that ends at an `if`, `switch` or loop with a jump in it.  The k-th block of a program
 * adds 1 to word k of the storage buffer `profile` at its beginning.  vyre-run -profile=SOURCE runs such a program and prints the
 * counts beside the source lines.
 *
 * The rest of the program does not change.  To profile an optimized shader, run the pass last.
 *
 * Limits: blocks without rows, and modules that vyre keeps unchanged, are not counted.  Cost: an atomic addition for each block.
 *
 * Requires: nothing.  Preserves: nothing.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <vyre/plugin.h>

enum { U32 = VYRE_TYPE(VYRE_U32, 1) };

typedef struct profiler {
  vyre_pass_ctx *ctx;
  const vyre_host *host;
  vyre_module *module;
  const vyre_view *v;
  uint32_t log;    /* the buffer of the current program */
  uint32_t blocks; /* number of its blocks so far */
} profiler;

/* Returns whether the row is a declaration, which is at the top of a program with the rows of its sizes. */
static bool
is_declared(const vyre_view *v, uint32_t row)
{
  const uint32_t op = vyre_op_of(v, row);
  return op == VYRE_OP_spec || op == VYRE_OP_workgroup || op == VYRE_OP_buffer || op == VYRE_OP_var;
}

/* Returns the first row that is executed, or 0.  Skips literals and built-ins, which may follow other declarations. */
static uint32_t
first_run(const vyre_view *v, uint32_t program)
{
  uint32_t first = v->first[program];
  for (uint32_t row = first; row; row = v->next[row])
    if (is_declared(v, row))
      first = v->next[row];
  while (first && (vyre_op_of(v, first) == VYRE_OP_const || vyre_op_is_invocation(vyre_op_of(v, first))))
    first = v->next[first];
  return first;
}

static bool
is_kept(const vyre_view *v, uint32_t program)
{
  for (uint32_t row = v->first[program]; row; row = v->next[row])
    if (vyre_op_of(v, row) == VYRE_OP_verbatim)
      return true;
  return false;
}

/* Returns whether the row contains a jump, so that the rows after it may run less often than those before it. */
static bool
may_jump(const vyre_view *v, uint32_t row)
{
  if (vyre_op_flags_of(v, row) & VYRE_OP_ENDS)
    return true;
  for (uint32_t in = v->first[row]; in; in = v->next[in])
    if (may_jump(v, in))
      return true;
  return false;
}

static void
begin_block(profiler *p, uint32_t row)
{
  const vyre_host *host = p->host;
  const uint32_t path =
      host->insert_row(p->module, row, VYRE_ROW(VYRE_OP_at, VYRE_TYPE(VYRE_PATH, 1), VYRE_ROW_IMM), p->blocks++, U32, p->log, 0, 0);
  const uint32_t one = host->constant(p->module, p->log, U32, 1);
  (void)host->insert_row(p->module, row, VYRE_ROW(VYRE_OP_atomic_add, U32, 0), VYRE_ORDER(0, 1, 0), 0, path, one,
                         0); /* device, relaxed */
  host->count(p->ctx, "blocks", 1);
}

/* Counts the blocks of a region, from its row `first` on, and the blocks of regions inside. */
static void
count_region(profiler *p, uint32_t first)
{
  bool begins = true;
  for (uint32_t row = first, next; row; row = next) {
    next = p->v->next[row];
    if (begins)
      begin_block(p, row);
    begins = false;
    if ((vyre_op_flags_of(p->v, row) & VYRE_OP_REGIONS) == 0)
      continue;
    begins = may_jump(p->v, row);
    for (uint32_t region = p->v->first[row]; region; region = p->v->next[region])
      count_region(p, p->v->first[region]);
  }
}

static vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  profiler p = {.ctx = ctx, .host = ctx->host, .module = module, .v = ctx->host->view(module)};
  const uint32_t rows = p.v->rows; /* new rows come after these */
  *out = VYRE_UNCHANGED;
  for (uint32_t program = 1; program < rows; program++) {
    if (vyre_op_of(p.v, program) != VYRE_OP_program || is_kept(p.v, program))
      continue;
    const uint32_t first = first_run(p.v, program);
    if (!first)
      continue;
    p.blocks = 0;
    p.log = p.host->add_buffer(module, program, U32, 0, VYRE_SPACE_STORAGE, (uint32_t)p.host->param(ctx, "set"),
                               (uint32_t)p.host->param(ctx, "binding"));
    p.host->set_name(module, p.log, "profile");
    count_region(&p, first);
    *out = VYRE_CHANGED;
  }
  return VYRE_OK;
}

static const vyre_param params[] = {
    {sizeof(vyre_param), VYRE_PARAM_UINT, "set", "the descriptor set of the buffer", 0, UINT32_MAX, 3, NULL},
    {sizeof(vyre_param), VYRE_PARAM_UINT, "binding", "the binding of the buffer", 0, UINT32_MAX, 1, NULL},
};

static const vyre_pass profile = {
    .struct_size = sizeof(vyre_pass),
    .name = "acme.profile",
    .summary = "count the executions of each block in a buffer",
    .params = params,
    .param_count = sizeof(params) / sizeof(params[0]),
    .run = run,
};

VYRE_PLUGIN("acme", "1.0", &profile)
