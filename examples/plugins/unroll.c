/* An example of a pass that creates rows: unrolls loops between literals.
 *
 * A `loop` that counts from a literal to a literal, as loops of GLSL and SPIR-V do, is replaced by copies of its body.  cprop then
 * finds the value of the counter in each copy.  A `for` with literal bounds and step, and without early exits, is replaced by
 * copies of its body (factor 0).  With another factor, which must divide the number of iterations, it executes `factor` iterations
 * at a time. Inner loops are unrolled first, so that the outer loop copies the result.  Copies keep names, decorations and source
 * lines.  The loop's index becomes a literal in each copy, or the index minus a multiple of the step.
 *
 * With `hinted` only loops with the hint unroll (GLSL's [[unroll]]) are unrolled.
 *
 * Limits: a `for` is kept if it contains a jump out of an iteration, a return or a trap.  A `loop` is kept if it has a second break
 * or a continue, or a region that ends in a jump.  It is only unrolled completely.  Loops with the hint dont_unroll, with more than
 * `most` iterations, or with more than 65536 new rows are kept.  Cost: the number of new rows.
 *
 * Requires: loops.  Preserves: nothing.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <vyre/plugin.h>

enum { MOST_ROWS = 65536 };

typedef struct unroller {
  vyre_pass_ctx *ctx;
  const vyre_host *host;
  vyre_module *module;
  const vyre_view *v;
  uint32_t *map; /* the map of host->clone */
  uint32_t map_rows;
} unroller;

/* The iterations of a loop between literals. */
typedef struct loop_shape {
  vyre_type type;      /* the index's type */
  uint64_t from, step; /* as bits */
  uint64_t iterations;
  uint64_t room; /* the most that may be added to the last index without wrapping */
} loop_shape;

/* Returns the literal, sign-extended if its kind is signed. */
static uint64_t
literal_of(const vyre_view *v, uint32_t row)
{
  const vyre_kind kind = VYRE_TYPE_KIND(VYRE_ROW_TYPE(v->op[row]));
  const uint32_t unused = 64 - vyre_kind_bits(kind);
  const uint64_t bits = vyre_row_imm(v, row) << unused;
  return vyre_kind_is_signed(kind) ? (uint64_t)((int64_t)bits >> unused) : bits >> unused;
}

/* Returns whether the number of iterations is known and at least 1, with a positive step. */
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

/* Returns whether the hints of the loop allow unrolling. */
static bool
is_wanted(const unroller *u, uint32_t loop)
{
  uint32_t literals[VYRE_HINT_BITS];
  const uint32_t hints = u->host->hints(u->module, loop, literals);
  return !(hints & VYRE_HINT_DONT_UNROLL) && (!u->host->param(u->ctx, "hinted") || (hints & VYRE_HINT_UNROLL));
}

/* Returns the number of iterations to combine, or 0 to keep the loop. */
static uint64_t
copies_of(const unroller *u, uint32_t loop, const loop_shape *shape)
{
  const uint64_t factor = u->host->param(u->ctx, "factor"), copies = factor ? factor : shape->iterations;
  if (u->v->loop_exit[loop] || shape->iterations > u->host->param(u->ctx, "most") || shape->iterations % copies != 0)
    return 0;
  if (copies != shape->iterations && !u->v->first[u->v->first[loop]])
    return 0; /* an empty body */
  if (copies != shape->iterations && (copies == 1 || shape->step > shape->room / copies))
    return 0;
  return copies * rows_in(u->v, loop) > MOST_ROWS ? 0 : copies;
}

/* Copies the rows of the body from `first` on before `before`, with `index` for the loop's index. */
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

/* Inserts copies - 1 copies before the loop's own rows, which become the last of the combined iterations. */
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
  host->set_hints(u->module, loop, VYRE_HINT_DONT_UNROLL, NULL); /* the old hints described the old iterations */
}

/* ---- `loop`, the form of loops in GLSL and SPIR-V ------------------------------------------------------------------------ */

/* The parts of a counted loop.  No other row ends it, continues it or sets its counter:
 *
 *   set %k, FROM  loop { %now = get %k  %goes_on = ult %now, TO  if %goes_on { } else { break }  ...  set %k, add(%now, BY) } */
typedef struct counted_loop {
  uint32_t test;    /* the `if` */
  bool ends_if;     /* the condition's value at the end */
  uint32_t counter; /* the var */
  uint32_t set;     /* the row that sets it, once in each iteration */
  uint32_t jumps;   /* number of breaks and continues, without that of the test */
} counted_loop;

/* Returns whether the region begins with a break. */
static bool
is_break(const vyre_view *v, uint32_t region)
{
  const uint32_t row = v->first[region];
  return row && vyre_op_of(v, row) == VYRE_OP_break;
}

/* Finds the test: the first row of the body that is not a value, an `if` with a break in one arm and nothing in the other. */
static bool
find_test(const vyre_view *v, uint32_t body, counted_loop *out)
{
  uint32_t row = v->first[body];
  while (row && (vyre_row_is_pure(v, row) || vyre_op_of(v, row) == VYRE_OP_get))
    row = v->next[row];
  if (!row || vyre_op_of(v, row) != VYRE_OP_if)
    return false;
  const uint32_t yes = v->first[row], no = v->next[yes];
  out->test = row;
  out->ends_if = is_break(v, yes);
  return out->ends_if ? !v->first[no] : is_break(v, no) && !v->first[yes];
}

/* Returns whether the region ends with a jump. */
static bool
ends(const vyre_view *v, uint32_t region)
{
  uint32_t last = v->first[region];
  while (last && v->next[last])
    last = v->next[last];
  return last && (vyre_op_flags_of(v, last) & VYRE_OP_ENDS);
}

/* Returns whether the row is computed from a `get` of the counter and a literal. */
static bool
is_of_counter(const vyre_view *v, uint32_t row, uint32_t counter)
{
  return vyre_row_is_pure(v, row) && (VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM) && vyre_op_of(v, v->a[row]) == VYRE_OP_get &&
         v->a[v->a[row]] == counter;
}

/* Counts jumps of the loop and `set`s of its counter among the row and its children.  `is_inner` is set inside of an inner loop. */
static void
count_jumps_and_sets(const vyre_view *v, uint32_t row, bool is_inner, counted_loop *out, uint32_t *sets)
{
  const uint32_t op = vyre_op_of(v, row);
  out->jumps += !is_inner && (op == VYRE_OP_break || op == VYRE_OP_continue || op == VYRE_OP_breakif);
  if (op == VYRE_OP_set && v->a[row] == out->counter) {
    out->set = row;
    (*sets)++;
  }
  for (uint32_t in = v->first[row]; in; in = v->next[in])
    count_jumps_and_sets(v, in, is_inner || vyre_row_is_loop(v, row), out, sets);
}

/* Finds the literal that the counter has before the loop. */
static bool
find_start(const vyre_view *v, uint32_t loop, uint32_t counter, uint64_t *out)
{
  for (uint32_t row = v->prev[loop]; row; row = v->prev[row]) {
    counted_loop other = {.counter = counter};
    uint32_t sets = 0;
    count_jumps_and_sets(v, row, true, &other, &sets);
    if (sets == 0)
      continue;
    *out = vyre_row_imm(v, v->b[row]);
    return other.set == row && vyre_row_is_const(v, v->b[row]);
  }
  return false;
}

static bool
has_counter(const vyre_view *v, uint32_t loop, counted_loop *out)
{
  const uint32_t body = v->first[loop];
  uint32_t sets = 0;
  if (vyre_op_of(v, loop) != VYRE_OP_loop || !find_test(v, body, out))
    return false;
  const uint32_t condition = v->a[out->test];
  out->counter = v->a[v->a[condition]];
  if (VYRE_TYPE_LANES(VYRE_ROW_TYPE(v->op[out->counter])) != 1 || !is_of_counter(v, condition, out->counter) ||
      v->parent[v->a[condition]] != body)
    return false;
  for (uint32_t region = body; region; region = v->next[region]) {
    if (ends(v, region))
      return false;
    for (uint32_t row = v->first[region]; row; row = v->next[row])
      if (row != out->test)
        count_jumps_and_sets(v, row, false, out, &sets);
  }
  const uint32_t step = sets ? v->b[out->set] : 0;
  return sets == 1 && out->jumps == 0 && v->parent[v->parent[out->set]] == loop && is_of_counter(v, step, out->counter) &&
         v->parent[v->parent[v->a[step]]] == loop;
}

/* Returns the number of iterations, by folding the test and the step, or 0 if it is unknown or above `most`. */
static uint64_t
iterations_of(const unroller *u, uint32_t loop, const counted_loop *counted)
{
  const uint64_t most = u->host->param(u->ctx, "most");
  const uint32_t condition = u->v->a[counted->test], step = u->v->b[counted->set];
  uint64_t value[4] = {0}, goes_on[4];
  const uint64_t *given[3] = {value, NULL, NULL};
  if (!find_start(u->v, loop, counted->counter, &value[0]))
    return 0;
  for (uint64_t count = 0; count <= most; count++) {
    for (uint32_t lane = 1; lane < 4; lane++)
      value[lane] = value[0];
    if (!u->host->fold_given(u->module, condition, given, goes_on))
      return 0;
    if ((goes_on[0] != 0) == counted->ends_if)
      return count;
    uint64_t next[4];
    if (!u->host->fold_given(u->module, step, given, next))
      return 0;
    value[0] = next[0];
  }
  return 0;
}

/* Replaces the loop by copies of its body without the test. */
static void
unroll_counted(const unroller *u, uint32_t loop, const counted_loop *counted, uint64_t iterations)
{
  const vyre_view *v = u->v;
  for (uint64_t i = 0; i < iterations; i++)
    for (uint32_t region = v->first[loop]; region; region = v->next[region])
      for (uint32_t row = v->first[region]; row; row = v->next[row])
        if (row != counted->test)
          (void)u->host->clone(u->module, row, loop, u->map, u->map_rows);
  u->host->kill(u->module, loop);
}

/* Makes the map large enough for all rows of the module. */
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
    counted_loop counted = {0};
    if (!is_wanted(&u, loop))
      continue;
    const uint64_t copies = has_shape(u.v, loop, &shape) ? copies_of(&u, loop, &shape) : 0;
    const uint64_t iterations = has_counter(u.v, loop, &counted) ? iterations_of(&u, loop, &counted) : 0;
    const uint64_t factor = ctx->host->param(ctx, "factor");
    const bool is_whole = iterations && (!factor || factor == iterations) && iterations * rows_in(u.v, loop) <= MOST_ROWS;
    if (copies == 0 && !is_whole)
      continue;
    if (!cover_rows(&u))
      return ctx->host->out_of_memory(ctx);
    if (is_whole)
      unroll_counted(&u, loop, &counted, iterations);
    else if (copies == shape.iterations)
      unroll_whole(&u, loop, &shape);
    else
      unroll_part(&u, loop, &shape, copies);
    ctx->host->count(ctx, "loops", 1);
    *out = VYRE_CHANGED;
  }
  return VYRE_OK;
}

static const vyre_param params[] = {
    {sizeof(vyre_param), VYRE_PARAM_UINT, "factor", "iterations to combine; 0 unrolls the loop completely", 0, 64, 0, NULL},
    {sizeof(vyre_param), VYRE_PARAM_FLAG, "hinted", "unroll only loops with the hint unroll", 0, 0, 0, NULL},
    {sizeof(vyre_param), VYRE_PARAM_UINT, "most", "keep loops with more iterations", 1, 4096, 64, NULL},
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
