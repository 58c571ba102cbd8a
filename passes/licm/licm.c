/* Loop-invariant code motion: hoists rows that a loop does not change to just before it, out of as many loops as possible.
 *
 * Visits inner loops first and each body in program order, so operands are hoisted before their users.  A row that stays in an
 * inner loop stays in all loops around it, so the walk of a body skips its inner loops.  Rows hoisted from those are in the body
 * itself.  O(rows * nesting): a row is visited once, and once more for each loop that it leaves.
 *
 *   candidates         pure rows, including constants and paths, and reads whose version is outside the loop.  Their operands must
 *                      be outside.  A subgroup row never moves, because its active lanes belong to each iteration
 *   undefined          opaque rows, and rows that a relaxed program may leave undefined (out-of-bounds accesses, accesses of memory
 *                      without a value, divisions, lanes with a variable index).  They move only if they surely run whenever
 *                      the loop is reached.  That is, the loop runs at least once, the row is not in an arm, and no jump or
 *                      trap precedes it
 *   descriptors        a descriptor may be unbound if no executed row uses it.  A load through one moves only if another access
 *                      to its buffer is before the loop or surely runs in it
 *   races              a load of memory that the program or another invocation writes moves only if it surely runs
 *   cheap rows         a row that costs less in each iteration than the registers of its value stays, by the cost model.  This
 *                      applies to comparisons, which a branch or select uses without a register
 *   costly rows        rows that take longer than a branch by the cost model (loads, divisions, some float functions) stay in an
 *                      arm of an `if` or `switch`.  Outside they would run even if no iteration enters the arm
 *   registers          a hoisted value occupies registers in each iteration, and a GPU that runs out of registers runs fewer
 *                      invocations at once.  If more than MOST_ALIVE lanes from outside would be alive in the loop, and more than
 *                      without this pass, then only costly rows move, with their operands.  If even these make more than
 *                      MOST_COSTLY, only values that are uniform in a subgroup move, which never count.  Drivers merge equal rows
 *                      of an unrolled loop's iterations, but not those in arms, so in this case only rows in arms move out of
 *                      such a loop
 *
 * The pass evaluates conditions (`i < 16`) in the first iteration, to find arms that it skips.  Known start values are the index
 * of a `for` from a literal, and a variable that holds a literal before the loop, by the join at the loop's header.
 *
 * Limits: registers are counted for a whole loop, not at each row.  Rows are not sunk back.  Writes do not move.
 *
 * Requires: versions, loops.  Preserves: versions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../state/written.h"

#include <string.h>

/* Flags of a row, relative to the innermost loop around it. */
enum {
  SURE = 1, /* the row runs whenever the loop is reached; for a region, its start runs, and no visited jump ends it */
  ARM = 2,  /* the row is in an arm of an `if` or `switch` in the loop */
};

enum { MOST_STEPS = 32 };  /* visited rows of a path's computation */
enum { MOST_ALIVE = 12 };  /* lanes.  8, 10, 16 and more were worse after AMD's driver: bench/README.md */
enum { MOST_COSTLY = 48 }; /* lanes, if only costly rows move */

typedef struct motion {
  vyre_pass_ctx *ctx;
  const vyre_host *host;
  vyre_module *module;
  const vyre_view *v;
  uint32_t *loop;       /* by row, the innermost loop around it, with hoists applied */
  uint8_t *flags;       /* by row, SURE and ARM */
  uint32_t *used;       /* by buffer, the first access that surely runs before the row that find_flags visits, 0 if there is none */
  uint32_t *since;      /* by load, an access to its buffer, or a loop with one, that surely runs before it, 0 if there is none */
  written written;      /* the memory that the module writes */
  uint32_t *sure;       /* by buffer, the last surveyed loop in which an access surely runs */
  uint32_t surveyed;    /* the last loop that is_bound surveyed */
  uint32_t *last;       /* by loop, its last row at any depth, before rows moved */
  bool *uniform;        /* by row, whether all invocations of a subgroup have one value */
  uint32_t *counted[2]; /* by row, the last count_alive that counted it in `before` and in `after` */
  uint32_t counts;      /* calls of count_alive so far */
  uint32_t *leaving;    /* candidates of the current loop, in program order */
  bool relaxed;         /* whether the current loop's program is relaxed */
  uint32_t branch;      /* the latency of a branch */
  uint32_t sum;         /* the issue cost of a 32-bit addition */
  uint64_t moved;
} motion;

/* Returns the next row in the loop at any depth, without the contents of inner loops, or 0 after the last.  Follows links,
 * because rows move. */
static uint32_t
next_in(const vyre_view *v, uint32_t loop, uint32_t row)
{
  if (v->first[row] && !(vyre_row_is_loop(v, row) && row != loop))
    return v->first[row];
  while (row != loop && !v->next[row])
    row = v->parent[row];
  return row == loop ? 0 : v->next[row];
}

/* ---- rows that surely run ------------------------------------------------------------------------------------------------ */

static uint8_t
flags_of_region(const motion *m, uint32_t region)
{
  const vyre_view *v = m->v;
  const uint32_t construct = v->parent[region];
  switch (vyre_op_of(v, construct)) {
  case VYRE_OP_for:
  case VYRE_OP_loop:
    return v->first[construct] == region && vyre_loop_surely_runs(v, construct) ? SURE : 0;
  case VYRE_OP_block:
    return m->flags[construct];
  default:
    return ARM;
  }
}

/* Returns the construct that the jump ends, or 0 if it ends the invocation. */
static uint32_t
construct_ended_by(const motion *m, uint32_t jump)
{
  switch (vyre_op_of(m->v, jump)) {
  case VYRE_OP_leave:
    return m->v->a[jump];
  case VYRE_OP_return:
  case VYRE_OP_trap:
    return 0;
  default:
    return m->v->loop[jump];
  }
}

/* Returns the row whose value a get at the loop's header has in the first iteration, or 0 if it is unknown. */
static uint32_t
value_at_first(const vyre_view *v, uint32_t get, uint32_t loop)
{
  const vyre_join *join = vyre_join_of(v, v->version[get]);
  if (!join || join->row != v->first[loop])
    return 0;
  const uint32_t before = v->parts[join->first].version; /* the part from before the loop */
  return (before & VYRE_JOIN) == 0 && vyre_op_of(v, before) == VYRE_OP_set ? v->b[before] : 0;
}

/* Returns whether the row is a literal in the loop's first iteration, and stores its lanes. */
static bool
is_known_at_first(const motion *m, uint32_t row, uint32_t loop, uint64_t lanes[4])
{
  const vyre_view *v = m->v;
  uint32_t start = 0;
  if (row == v->first[loop] && vyre_op_of(v, loop) == VYRE_OP_for)
    start = v->a[loop];
  else if (vyre_op_of(v, row) == VYRE_OP_get)
    start = value_at_first(v, row, loop);
  if (start == 0 || !vyre_row_is_const(v, start))
    return false;
  for (uint32_t i = 0; i < 4; i++)
    lanes[i] = vyre_row_imm(v, start);
  return true;
}

/* Returns whether the first iteration of the innermost loop around the arm skips the arm. */
static bool
is_skipped_at_first(const motion *m, uint32_t region)
{
  const vyre_view *v = m->v;
  const uint32_t control = v->parent[region], condition = v->a[control], loop = v->loop[control];
  uint64_t lanes[2][4], result[4];
  if (vyre_op_of(v, control) != VYRE_OP_if || loop == 0)
    return false;
  const uint64_t *const given[3] = {is_known_at_first(m, v->a[condition], loop, lanes[0]) ? lanes[0] : NULL,
                                    is_known_at_first(m, v->b[condition], loop, lanes[1]) ? lanes[1] : NULL, NULL};
  return (given[0] || given[1]) && m->host->fold_given(m->module, condition, given, result) &&
         (result[0] != 0) != (region == v->first[control]);
}

/* Clears SURE on the regions that the jump ends, because their later rows may not run.  Keeps it if the loop's first iteration
 * does not reach the jump. */
static void
note_jump(const motion *m, uint32_t jump)
{
  const vyre_view *v = m->v;
  const uint32_t ended = construct_ended_by(m, jump);
  bool skipped = false;
  for (uint32_t region = v->parent[jump]; region && v->parent[region] != ended; region = v->parent[v->parent[region]]) {
    skipped = !vyre_row_is_loop(v, v->parent[region]) && (skipped || is_skipped_at_first(m, region));
    if (!skipped)
      m->flags[v->parent[v->parent[region]]] &= (uint8_t)~SURE;
  }
}

/* ---- bound descriptors --------------------------------------------------------------------------------------------------- */

/* Returns the buffer of a row that reads through a descriptor.  Returns 0 for other rows.  A descriptor that no executed row uses
 * may be unbound. */
static uint32_t
descriptor_buffer(const motion *m, uint32_t row)
{
  const vyre_view *v = m->v;
  const uint32_t op = vyre_op_of(v, row), path = op == VYRE_OP_load ? v->a[row] : op == VYRE_OP_copy ? v->b[row] : 0;
  const uint32_t buffer = path ? vyre_buffer_of(v, path) : 0;
  const vyre_space space = VYRE_BUFFER_SPACE(v->imm_hi[buffer]);
  return buffer && (space == VYRE_SPACE_UNIFORM || space == VYRE_SPACE_HANDLE) ? buffer : 0;
}

static bool
is_array(const motion *m, uint32_t buffer)
{
  return m->host->descriptor_steps(m->module, buffer) != 0;
}

/* Stores the first access of the row's buffer (`used`) in `since`, if that access surely runs before the row.  Otherwise, stores
 * the row, or the outermost loop that surely runs the row, in `used`. */
static void
note_access(const motion *m, uint32_t row)
{
  const vyre_view *v = m->v;
  const uint32_t buffer = descriptor_buffer(m, row), first = m->used[buffer];
  uint32_t region = first ? v->parent[row] : 0;
  if (buffer == 0 || is_array(m, buffer))
    return;
  while (region > v->parent[first])
    region = v->parent[region];
  if (first && region == v->parent[first]) {
    m->since[row] = first;
    return;
  }
  while ((m->flags[row] & SURE) && v->loop[row])
    row = v->loop[row];
  m->used[buffer] = row;
}

/* Returns whether the descriptor of the load is used whenever the loop is reached.  Surveys the loop once. */
static bool
is_bound(motion *m, uint32_t load, uint32_t loop)
{
  const uint32_t buffer = descriptor_buffer(m, load);
  if (buffer == 0 || (m->since[load] && m->since[load] < loop))
    return true;
  for (uint32_t row = next_in(m->v, loop, loop); m->surveyed != loop && row; row = next_in(m->v, loop, row))
    if ((m->flags[row] & SURE) && descriptor_buffer(m, row) && !is_array(m, descriptor_buffer(m, row)))
      m->sure[descriptor_buffer(m, row)] = loop;
  m->surveyed = loop;
  return m->sure[buffer] == loop;
}

/* Returns whether all invocations of a subgroup have one value of the row.  GPUs keep such values in other registers. */
static bool
is_uniform(const motion *m, uint32_t row, uint32_t op, const vyre_op_info *info)
{
  const vyre_view *v = m->v;
  if (op == VYRE_OP_buffer || op == VYRE_OP_const || op == VYRE_OP_spec || op == VYRE_OP_wid || op == VYRE_OP_groups)
    return true;
  if (op == VYRE_OP_load) {
    const vyre_space space = VYRE_BUFFER_SPACE(v->imm_hi[vyre_buffer_of(v, v->a[row])]);
    return (space == VYRE_SPACE_PUSH || space == VYRE_SPACE_UNIFORM) && m->uniform[v->a[row]];
  }
  return (info->flags & VYRE_OP_PURE) != 0 && info->operands > 0 && m->uniform[v->a[row]] && m->uniform[v->b[row]] &&
         m->uniform[v->c[row]];
}

/* Finds the last row of each loop.  Returns the last row that is in a loop. */
static uint32_t
find_ends(const motion *m)
{
  const vyre_view *v = m->v;
  uint32_t end = 0;
  for (uint32_t loop = vyre_loops_innermost_first(v); loop; loop = vyre_loops_next(v, loop)) {
    for (m->last[loop] = loop; v->last[m->last[loop]];)
      m->last[loop] = v->last[m->last[loop]];
    end = m->last[loop] > end ? m->last[loop] : end;
  }
  return end;
}

/* Computes the flags and records of the rows up to the last loop's end, and the memory that all rows write, in program order. */
static void
find_flags(motion *m)
{
  const vyre_view *v = m->v;
  const uint32_t end = find_ends(m);
  for (uint32_t row = end + 1; row < v->rows; row++)
    if (vyre_op_flags_of(v, row) & VYRE_OP_WRITES)
      written_add(&m->written, row);
  for (uint32_t row = 1; row <= end; row++) {
    const uint32_t op = vyre_op_of(v, row);
    const vyre_op_info *info = vyre_op_info_of(v, op);
    m->flags[row] = info->flags & VYRE_OP_REGION ? flags_of_region(m, row) : m->flags[v->parent[row]];
    m->uniform[row] = is_uniform(m, row, op, info);
    if (info->flags & VYRE_OP_WRITES)
      written_add(&m->written, row);
    if ((info->flags & VYRE_OP_ENDS) && op != VYRE_OP_fallthrough)
      note_jump(m, row);
    else if (op == VYRE_OP_load || op == VYRE_OP_copy)
      note_access(m, row);
  }
}

/* ---- candidates ---------------------------------------------------------------------------------------------------------- */

static vyre_cost
cost_of(const motion *m, uint32_t op, vyre_type type)
{
  vyre_cost cost = {.struct_size = sizeof(cost)};
  m->host->cost(m->ctx, op, type, &cost);
  return cost;
}

static vyre_cost
cost_of_row(const motion *m, uint32_t row)
{
  return cost_of(m, vyre_op_of(m->v, row), vyre_row_works_on(m->v, row));
}

/* Returns whether the row takes longer than a branch, so that skipping it is worth a branch. */
static bool
is_costly(const motion *m, uint32_t row)
{
  return cost_of_row(m, row).latency > m->branch;
}

/* Returns whether the row costs less in each iteration than keeping its value.  A register through the loop costs as much as an
 * addition. */
static bool
is_cheap(const motion *m, uint32_t row)
{
  const vyre_cost cost = cost_of_row(m, row);
  return cost.issue < cost.registers * m->sum;
}

/* Returns whether the row computes the same value in all iterations. */
static bool
is_invariant(const motion *m, uint32_t row, uint32_t loop)
{
  const vyre_view *v = m->v;
  if ((VYRE_ROW_FLAGS(v->op[row]) & (VYRE_ROW_DECO | VYRE_ROW_VOLATILE)) != 0)
    return false;
  if (vyre_op_has_version(vyre_op_info_of(v, vyre_op_of(v, row)))) {
    if (v->version[row] == 0 || m->loop[vyre_version_row(v, v->version[row])] == loop)
      return false;
  } else if (!vyre_row_is_pure(v, row)) {
    return false;
  }
  /* A visible operand is before this loop or in it, and in no inner loop without this row. */
  return m->loop[v->a[row]] != loop && m->loop[v->b[row]] != loop && m->loop[v->c[row]] != loop;
}

/* Returns whether the loaded memory always has a value: workgroup memory has none until a write. */
static bool
has_value(const vyre_view *v, uint32_t load)
{
  return VYRE_BUFFER_SPACE(v->imm_hi[vyre_buffer_of(v, v->a[load])]) != VYRE_SPACE_WORKGROUP;
}

/* Returns whether the row of a relaxed program is defined wherever it is visible.  Loaded values are defined, except from
 * workgroup memory, because storing an undefined value is itself undefined.  `left` is the number of rows that may still be
 * visited. */
static bool
is_defined(const vyre_view *v, uint32_t row, uint32_t *left)
{
  const uint32_t flags = vyre_op_flags_of(v, row);
  const uint32_t op = vyre_op_of(v, row);
  if (row == 0 || (flags & VYRE_OP_REGION) != 0 || op == VYRE_OP_buffer || op == VYRE_OP_spec || op == VYRE_OP_const ||
      (op == VYRE_OP_load && has_value(v, row)))
    return true;
  if (*left == 0 || (flags & VYRE_OP_PURE) == 0 || op == VYRE_OP_opaque_pure ||
      (op != VYRE_OP_at && vyre_row_may_be_undefined_if_relaxed(v, row)))
    return false;
  --*left;
  return is_defined(v, v->a[row], left) && is_defined(v, v->b[row], left) && is_defined(v, v->c[row], left);
}

/* Returns whether no invocation may write the loaded memory.  Even if the loaded value is unused, a concurrent write is a data
 * race. */
static bool
is_race_free(const motion *m, uint32_t load)
{
  const uint32_t buffer = vyre_buffer_of(m->v, m->v->a[load]), space = VYRE_BUFFER_SPACE(m->v->imm_hi[buffer]);
  if (space != VYRE_SPACE_STORAGE && space != VYRE_SPACE_WORKGROUP)
    return true;
  return !written_has(&m->written, buffer);
}

/* Returns whether a load that does not surely run may run before the loop: it is in bounds, and nothing writes its memory.  In a
 * relaxed program its path must be defined and its descriptor bound. */
static bool
may_load_early(motion *m, uint32_t load, uint32_t loop)
{
  const vyre_view *v = m->v;
  uint32_t left = MOST_STEPS;
  return is_race_free(m, load) && m->host->in_bounds(m->module, v->a[load]) &&
         (!m->relaxed || (is_defined(v, v->a[load], &left) && is_bound(m, load, loop)));
}

static bool
may_move(motion *m, uint32_t row, uint32_t loop)
{
  if (!is_invariant(m, row, loop) || is_cheap(m, row))
    return false;
  if (m->flags[row] & SURE)
    return true;
  if ((m->flags[row] & ARM) && is_costly(m, row))
    return false;
  return vyre_row_may_speculate_in(m->v, row, m->relaxed) ||
         (vyre_op_of(m->v, row) == VYRE_OP_load && may_load_early(m, row, loop));
}

/* ---- registers ----------------------------------------------------------------------------------------------------------- */

/* Returns the number of lanes of the row, or 0 if the row does not occupy vector registers. */
static uint32_t
lanes_of(const motion *m, uint32_t row)
{
  const vyre_view *v = m->v;
  const uint32_t type = VYRE_ROW_TYPE(v->op[row]);
  const bool is_vector = !m->uniform[row] && vyre_kind_is_scalar(VYRE_TYPE_KIND(type)) && vyre_op_of(v, row) != VYRE_OP_var;
  return is_vector ? VYRE_TYPE_LANES(type) : 0;
}

/* Returns the number of lanes of a row that `counted` does not have so far. */
static uint32_t
count_lanes(const motion *m, uint32_t row, uint32_t *counted)
{
  if (counted[row] == m->counts)
    return 0;
  counted[row] = m->counts;
  return lanes_of(m, row);
}

/* The lanes of values from before a loop that the loop uses: before its candidates are hoisted, and after all are. */
typedef struct alive {
  uint32_t before, after;
} alive;

static inline void
add_use(const motion *m, uint32_t loop, uint32_t operand, bool stays, alive *sum)
{
  if (m->uniform[operand])
    return;
  if (operand < loop)
    sum->before += count_lanes(m, operand, m->counted[0]);
  if (stays && (operand < loop || m->loop[operand] == m->v->loop[loop]))
    sum->after += count_lanes(m, operand, m->counted[1]);
}

/* Adds the lanes of an operand.  The indices of a path count where the path is used, because the rows of the path may be anywhere
 * before the use. */
static inline void
add_operand(const motion *m, uint32_t loop, uint32_t operand, bool stays, alive *sum)
{
  const vyre_view *v = m->v;
  for (; vyre_op_of(v, operand) == VYRE_OP_at; operand = v->a[operand])
    add_use(m, loop, v->b[operand], stays, sum);
  add_use(m, loop, operand, stays, sum);
}

/* Counts the lanes that are alive in the loop. */
static alive
count_alive(motion *m, uint32_t loop)
{
  const vyre_view *v = m->v;
  const uint32_t last = m->last[loop], outside = v->loop[loop];
  alive sum = {0, 0};
  m->counts++;
  for (uint32_t row = loop + 1; row <= last; row++) { /* no row is hoisted out of this loop yet */
    const bool stays = m->loop[row] != outside;
    if (vyre_op_of(v, row) == VYRE_OP_at)
      continue;
    add_operand(m, loop, v->a[row], stays, &sum);
    if (v->b[row])
      add_operand(m, loop, v->b[row], stays, &sum);
    if (v->c[row])
      add_operand(m, loop, v->c[row], stays, &sum);
  }
  return sum;
}

/* Returns to the loop all candidates but costly rows, or all but uniform ones, and the operands of these.  In an unrolled loop,
 * rows in arms replace costly rows. */
static void
keep_all_but(motion *m, uint32_t leaving, uint32_t loop, bool uniform)
{
  const vyre_view *v = m->v;
  const uint32_t outside = v->loop[loop];
  const bool unrolled = (v->imm[loop] & VYRE_HINT_UNROLL) != 0;
  for (uint32_t i = 0; i < leaving; i++)
    m->loop[m->leaving[i]] = loop;
  for (uint32_t i = leaving; i-- > 0;) {
    const uint32_t row = m->leaving[i];
    if (uniform ? m->uniform[row] : unrolled ? (m->flags[row] & ARM) && vyre_op_of(v, row) != VYRE_OP_at : is_costly(m, row))
      m->loop[row] = outside;
    if (m->loop[row] == loop)
      continue;
    const uint32_t needed[3] = {v->a[row], v->b[row], v->c[row]};
    for (uint32_t k = 0; k < 3; k++)
      m->loop[needed[k]] = m->loop[needed[k]] == loop ? outside : m->loop[needed[k]];
  }
}

/* If too many lanes are alive, returns candidates to the loop. */
static void
limit_alive(motion *m, uint32_t leaving, uint32_t loop)
{
  uint32_t more = 0; /* lanes that hoisting may add */
  for (uint32_t i = 0; i < leaving; i++)
    more += lanes_of(m, m->leaving[i]);
  if (more == 0)
    return;
  const alive lanes = count_alive(m, loop);
  if (lanes.after <= MOST_ALIVE || lanes.after <= lanes.before)
    return;
  keep_all_but(m, leaving, loop, false);
  const uint32_t costly = count_alive(m, loop).after;
  if (costly > MOST_COSTLY && costly > lanes.before)
    keep_all_but(m, leaving, loop, true);
}

static void
hoist_from(motion *m, uint32_t loop)
{
  const uint32_t outside = m->v->loop[loop];
  uint32_t leaving = 0;
  m->relaxed = (m->v->imm[vyre_program_of(m->v, loop)] & VYRE_PROGRAM_RELAXED) != 0;
  for (uint32_t row = next_in(m->v, loop, loop); row; row = next_in(m->v, loop, row)) {
    if (!may_move(m, row, loop))
      continue;
    m->loop[row] = outside;
    m->leaving[leaving++] = row;
  }
  if (leaving)
    limit_alive(m, leaving, loop);
  for (uint32_t i = 0; i < leaving; i++) {
    const uint32_t row = m->leaving[i];
    if (m->loop[row] == loop)
      continue;
    m->host->move_before(m->module, row, loop);
    m->flags[row] = m->flags[loop];
    m->moved++;
  }
}

static vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_host *host = ctx->host;
  const vyre_view *v = host->view(module);
  motion m = {.ctx = ctx, .host = host, .module = module, .v = v};
  *out = VYRE_UNCHANGED;
  if (!vyre_loops_innermost_first(v))
    return VYRE_OK;
  m.branch = cost_of(&m, VYRE_OP_if, VYRE_TYPE(VYRE_BOOL, 1)).latency;
  m.sum = cost_of(&m, VYRE_OP_add, VYRE_TYPE(VYRE_U32, 1)).issue;
  m.loop = host->alloc(ctx, v->rows * sizeof(uint32_t));
  m.flags = host->alloc(ctx, v->rows);
  m.used = host->alloc(ctx, v->rows * sizeof(uint32_t));
  m.since = host->alloc(ctx, v->rows * sizeof(uint32_t));
  m.sure = host->alloc(ctx, v->rows * sizeof(uint32_t));
  m.uniform = host->alloc(ctx, v->rows * sizeof(bool));
  m.last = host->alloc(ctx, v->rows * sizeof(uint32_t));
  m.counted[0] = host->alloc(ctx, v->rows * sizeof(uint32_t));
  m.counted[1] = host->alloc(ctx, v->rows * sizeof(uint32_t));
  m.leaving = host->alloc(ctx, v->rows * sizeof(uint32_t));
  if (!m.loop || !m.flags || !m.used || !m.since || !m.sure || !m.uniform || !m.last || !m.counted[0] || !m.counted[1] ||
      !m.leaving || !written_make(&m.written, ctx, module))
    return host->out_of_memory(ctx);
  memcpy(m.loop, v->loop, v->rows * sizeof(uint32_t));
  m.uniform[0] = true; /* an absent operand */
  find_flags(&m);
  for (uint32_t loop = vyre_loops_innermost_first(v); loop; loop = vyre_loops_next(v, loop))
    hoist_from(&m, loop);
  host->count(ctx, "rows moved", m.moved);
  *out = m.moved ? VYRE_CHANGED : VYRE_UNCHANGED;
  return VYRE_OK;
}

static const vyre_pass licm = {
    .struct_size = sizeof(vyre_pass),
    .name = "licm",
    .long_name = "loop-invariant-code-motion",
    .summary = "hoist loop-invariant rows",
    .help =
        "Hoists pure rows, and reads of memory that the loop does not write, out of as many loops as possible.  A row that may\n"
        "be undefined moves only if it surely runs.  By the cost model, rows that take longer than a branch (loads, divisions)\n"
        "stay in arms of an if or a switch, and rows that cost less than the registers of their value (comparisons) stay in the\n"
        "loop.  If a loop would use more than 12 lanes from before it, and more than without this pass, only rows that take\n"
        "longer than a branch move, and only values uniform in a subgroup if it would use more than 48 even so.",
    .requires_ = VYRE_VERSIONS | VYRE_LOOPS,
    .preserves = VYRE_VERSIONS,
    .run = run,
};
VYRE_PLUGIN("licm", "1.0", &licm)
