/* An example of a pass that makes rows: loops between literals are unrolled.
 *
 * A `for` whose bounds and step are literals, and whose iterations nothing ends early, becomes its iterations one after another
 * (factor 0), or goes through `factor` of them at a time, if that divides their number.  Inner loops come first, so that what
 * is left of them is copied with the outer one.  Copies keep names, decorations and source lines; the row of the body, which is
 * the loop's index, becomes a literal, or the later index less the steps from the copy to it.
 *
 * With `hinted` only loops that the program asks to be unrolled.
 *
 * Limits: no loop with a break, a continue, a leave, a return or a trap in it, nor one with the hint dont_unroll; at most `most`
 * iterations, and 65536 rows that a loop becomes.  Cost: the rows that are made.
 *
 * requires: loops      preserves: nothing
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <vyre/plugin.h>

enum { MOST_ROWS = 65536 };

typedef struct unroller {
  vyre_pass_ctx *ctx;
  const vyre_host *host;
  vyre_module *module;
  const vyre_view *v;
  uint32_t *map; /* for host->clone */
  uint32_t map_rows;
} unroller;

/* What a loop between literals does. */
typedef struct loop_shape {
  vyre_type type;      /* of its index */
  uint64_t from, step; /* bits */
  uint64_t iterations;
  uint64_t room; /* how much the index may grow after the last iteration, and not wrap */
} loop_shape;

/* The literal as its kind has it: signed ones with their sign. */
static uint64_t
literal_of(const vyre_view *v, uint32_t row)
{
  const vyre_kind kind = VYRE_TYPE_KIND(VYRE_ROW_TYPE(v->op[row]));
  const uint32_t unused = 64 - vyre_kind_bits(kind);
  const uint64_t bits = vyre_row_imm(v, row) << unused;
  return vyre_kind_is_signed(kind) ? (uint64_t)((int64_t)bits >> unused) : bits >> unused;
}

/* Whether the loop has a number of iterations that is known: it has one at least, and its step is upward. */
static bool
has_shape(const vyre_view *v, uint32_t loop, loop_shape *out)
{
  const uint32_t from = v->a[loop], to = v->b[loop], by = v->c[loop];
  if (vyre_op_of(v, loop) != VYRE_OP_for || !vyre_row_is_const(v, from) || !vyre_row_is_const(v, to) || !vyre_row_is_const(v, by))
    return false;
  const vyre_kind kind = VYRE_TYPE_KIND(VYRE_ROW_TYPE(v->op[from]));
  const uint64_t first = literal_of(v, from), end = literal_of(v, to), step = literal_of(v, by);
  const uint64_t most = UINT64_MAX >> (64 - vyre_kind_bits(kind)), greatest = vyre_kind_is_signed(kind) ? most >> 1 : most;
  const bool is_signed = vyre_kind_is_signed(kind);
  if (!vyre_loop_surely_runs(v, loop) || step == 0 || (is_signed && (int64_t)step < 0))
    return false;
  out->type = VYRE_ROW_TYPE(v->op[from]);
  out->from = first;
  out->step = step;
  out->iterations = (end - first - 1) / step + 1;
  out->room = greatest - (first + (out->iterations - 1) * step);
  return step <= out->room;
}

static uint32_t
rows_in(const vyre_view *v, uint32_t loop)
{
  uint32_t rows = 0;
  for (uint32_t row = vyre_body_first(v, loop); row && rows < MOST_ROWS; row = vyre_body_next(v, loop, row))
    rows++;
  return rows;
}

/* How many iterations become one; 0: the loop stays as it is. */
static uint64_t
copies_of(const unroller *u, uint32_t loop, const loop_shape *shape)
{
  uint32_t literals[VYRE_HINT_BITS];
  const uint64_t factor = u->host->param(u->ctx, "factor"), copies = factor ? factor : shape->iterations;
  const uint32_t hints = u->host->hints(u->module, loop, literals);
  if ((hints & VYRE_HINT_DONT_UNROLL) || (u->host->param(u->ctx, "hinted") && !(hints & VYRE_HINT_UNROLL)))
    return 0;
  if (u->v->loop_exit[loop] || shape->iterations > u->host->param(u->ctx, "most") || shape->iterations % copies != 0)
    return 0;
  if (copies != shape->iterations && (copies == 1 || shape->step > shape->room / copies))
    return 0;
  return copies * rows_in(u->v, loop) > MOST_ROWS ? 0 : copies;
}

/* The rows of the loop's body, once more before `before`, where `index` stands for the loop's.  Rows that are copied do not change,
 * and `first` is the first of them. */
static void
copy_body(const unroller *u, uint32_t body, uint32_t first, uint32_t before, uint32_t index)
{
  u->map[body] = index;
  for (uint32_t row = first; row; row = u->v->next[row])
    (void)u->host->clone(u->module, row, before, u->map, u->map_rows);
}

static void
unroll_whole(const unroller *u, uint32_t loop, const loop_shape *shape)
{
  const uint32_t body = u->v->first[loop], first = u->v->first[body];
  for (uint64_t i = 0; i < shape->iterations; i++)
    copy_body(u, body, first, loop, u->host->constant(u->module, loop, shape->type, shape->from + i * shape->step));
  u->host->kill(u->module, loop);
}

/* The loop's own rows are the last of `copies` iterations: its index begins at theirs. */
static void
unroll_part(const unroller *u, uint32_t loop, const loop_shape *shape, uint64_t copies)
{
  const vyre_host *host = u->host;
  const uint32_t body = u->v->first[loop], first = u->v->first[body];
  for (uint64_t i = 0; i < copies - 1; i++) {
    const uint32_t less = host->constant(u->module, loop, shape->type, (copies - 1 - i) * shape->step);
    copy_body(u, body, first, first,
              host->insert_row(u->module, first, VYRE_ROW(VYRE_OP_sub, shape->type, 0), 0, 0, body, less, 0));
  }
  host->set_operand(u->module, loop, 0, host->constant(u->module, loop, shape->type, shape->from + (copies - 1) * shape->step));
  host->set_operand(u->module, loop, 2, host->constant(u->module, loop, shape->type, copies * shape->step));
  host->set_hints(u->module, loop, VYRE_HINT_DONT_UNROLL, NULL); /* what was said of its iterations does not hold any more */
}

/* Room for the rows that there are by now. */
static bool
cover_rows(unroller *u)
{
  if (u->map_rows >= u->v->rows)
    return true;
  u->map_rows = u->v->rows * 2;
  u->map = (uint32_t *)u->host->alloc(u->ctx, u->map_rows * sizeof *u->map);
  return u->map != NULL;
}

static vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  unroller u = {.ctx = ctx, .host = ctx->host, .module = module, .v = ctx->host->view(module)};
  *out = VYRE_UNCHANGED;
  for (uint32_t loop = vyre_loops_innermost_first(u.v); loop; loop = vyre_loops_next(u.v, loop)) {
    loop_shape shape;
    const uint64_t copies = has_shape(u.v, loop, &shape) ? copies_of(&u, loop, &shape) : 0;
    if (copies == 0)
      continue;
    if (!cover_rows(&u))
      return ctx->host->out_of_memory(ctx);
    if (copies == shape.iterations)
      unroll_whole(&u, loop, &shape);
    else
      unroll_part(&u, loop, &shape, copies);
    ctx->host->count(ctx, "loops", 1);
    *out = VYRE_CHANGED;
  }
  return VYRE_OK;
}

static const vyre_param params[] = {
    {sizeof(vyre_param), VYRE_PARAM_UINT, "factor", "iterations that become one; 0: all of them", 0, 64, 0, NULL},
    {sizeof(vyre_param), VYRE_PARAM_FLAG, "hinted", "only loops with the hint unroll", 0, 0, 0, NULL},
    {sizeof(vyre_param), VYRE_PARAM_UINT, "most", "leave loops alone that have more iterations", 1, 4096, 64, NULL},
};

static const vyre_pass unroll = {
    .struct_size = sizeof(vyre_pass),
    .name = "acme.unroll",
    .summary = "unroll loops between literals",
    .params = params,
    .param_count = sizeof(params) / sizeof(params[0]),
    .requires_ = VYRE_LOOPS,
    .run = run,
};

VYRE_PLUGIN("acme", "1.0", &unroll)
