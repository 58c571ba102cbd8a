/* Loop-invariant code motion: rows that a loop does not change are hoisted to just before it, out of as many loops as they can.
 *
 * Loops are taken inside out, each body in program order, so that an operand has already moved when its user is looked at.  What
 * stays in an inner loop stays in all around it, so a body is walked without the loops in it, and what came out of those is
 * before them.  O(rows * nesting); a row is looked at once and once more for each loop it leaves.
 *
 *   what moves         pure rows, constants and paths too, and reads whose version is outside (so never a subgroup row, whose
 *                      active lanes are each iteration's own); operands must be outside, too
 *   what may do harm   accesses that may be out of bounds or at what has no value, divisions, lanes by index, of relaxed programs,
 *                      and opaque rows: they move only if they surely run whenever the loop is reached: at least one
 *                      iteration, not in an arm, and no break, continue, leave, return or trap before them
 *   what is bound      a load through a descriptor that is not used on some path may not run there, because it may be unbound: it
 *                      moves before a loop if another access to its buffer is before that, or surely runs in it
 *   what others write  a load of what the program writes, other invocations too, may not run where it did not: it might race
 *   what is cheap      stays, by the cost model: what costs less in each iteration than the registers of its value, which is a
 *                      test, a bool: where it is used it is one instruction, whose outcome a branch or select takes as it is
 *   what is costly     by the cost model what takes longer than a branch, loads, divisions, some float functions: out of an arm of
 *                      an `if` or `switch` it does not move, because it would run where it did not, only to save iterations that
 *                      take the arm.  The rest does
 *   what takes registers  what moves has a register through each iteration, and where a GPU runs out of them it runs fewer
 *                      invocations at once.  If more than MOST_ALIVE would be taken by what is from before the loop, and more
 *                      than without this pass, only what is costly moves, with what it needs.  What a subgroup has in
 *                      common does not count.  Drivers compute once what the iterations of an unrolled loop have in common, but
 *                      not from arms: out of such a loop only rows of arms move then
 *
 * That the first iteration does not take an arm is known from the condition (`i < 16`) and from what the loop starts with: the
 * index of a `for` from a literal, or a variable that holds a literal before the loop, as the join at its head says.
 *
 * Limits: registers are counted for a loop as a whole, not by place; nothing is sunk back; writes do not move.
 *
 * requires: versions, loops      preserves: versions
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/plugin.h"

/* Facts of a row, for the innermost loop around it. */
enum {
  SURE = 1, /* it runs whenever that loop is reached; of a region row: it is entered so, and no jump has ended it yet */
  ARM = 2,  /* it is in an arm of an `if` or `switch` in there */
};

enum { MOST_STEPS = 32 }; /* of a path's computation that are followed */
enum { MOST_ALIVE = 16 }; /* lanes.  8, 20, 24 and 32 were worse or no better after AMD's driver: bench/README.md */

typedef struct motion {
  vyre_pass_ctx *ctx;
  const vyre_host *host;
  vyre_module *module;
  const vyre_view *v;
  uint32_t *loop;    /* by row: the innermost loop around it, now */
  uint8_t *flags;    /* by row: SURE, ARM */
  uint32_t *used;    /* by buffer: the first access that surely ran where find_flags is; 0: none */
  uint32_t *since;   /* by load: the access to its buffer, or the loop with one, that surely ran before it; 0: none */
  uint32_t *alias;   /* by row: the class of a buffer */
  bool *written;     /* by class: the program writes it; of row 0: perhaps any memory */
  uint32_t *sure;    /* by buffer: the last loop that was looked at in which an access surely runs */
  uint32_t surveyed; /* the last loop that was looked at */
  bool *common;      /* by row: the invocations of a subgroup have one value */
  uint32_t *counted; /* by row: the last count of what is alive that met it */
  uint32_t counts;   /* so far */
  uint32_t *leaving; /* rows that may leave the loop that is looked at, in program order */
  bool relaxed;      /* the program of the loop that is looked at is */
  uint32_t branch;   /* the latency of a branch */
  uint32_t sum;      /* the issue of an addition of 32 bits */
  uint64_t moved;
} motion;

/* The next row in the loop, at any depth but that of loops in it; 0 after the last.  It follows links. */
static uint32_t
next_in(const vyre_view *v, uint32_t loop, uint32_t row)
{
  if (v->first[row] && !(vyre_row_is_loop(v, row) && row != loop))
    return v->first[row];
  while (row != loop && !v->next[row])
    row = v->parent[row];
  return row == loop ? 0 : v->next[row];
}

/* ---- what surely runs ---------------------------------------------------------------------------------------------------- */

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

/* The row that the jump ends; 0: the invocation. */
static uint32_t
ended_by(const motion *m, uint32_t jump)
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

/* The row whose value a get at the loop's head has in the first iteration; 0: it is another get, or that is not known. */
static uint32_t
value_at_first(const vyre_view *v, uint32_t get, uint32_t loop)
{
  const vyre_join *join = vyre_join_of(v, v->version[get]);
  if (!join || join->row != v->first[loop])
    return 0;
  const uint32_t before = v->parts[join->first].version; /* the part from before the loop is first */
  return (before & VYRE_JOIN) == 0 && vyre_op_of(v, before) == VYRE_OP_set ? v->b[before] : 0;
}

/* Whether the row is one literal in the loop's first iteration. */
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

/* Whether the first iteration of the innermost loop around it does not take the arm. */
static bool
is_passed_at_first(const motion *m, uint32_t region)
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

/* The rows that follow in the regions that the jump ends do not surely run; unless the loop's first iteration does not come to it.
 */
static void
note_jump(const motion *m, uint32_t jump)
{
  const vyre_view *v = m->v;
  const uint32_t ended = ended_by(m, jump);
  bool passed = false;
  for (uint32_t region = v->parent[jump]; region && v->parent[region] != ended; region = v->parent[v->parent[region]]) {
    passed = !vyre_row_is_loop(v, v->parent[region]) && (passed || is_passed_at_first(m, region));
    if (!passed)
      m->flags[v->parent[v->parent[region]]] &= (uint8_t)~SURE;
  }
}

/* ---- bound descriptors --------------------------------------------------------------------------------------------------- */

/* The buffer of a relaxed program that a row reads through a descriptor, which may be unbound where nothing uses it; 0: none, or an
 * element of an array of them. */
static uint32_t
bound_by(const motion *m, uint32_t row)
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

/* Notes which access is before the row, as far out as it surely runs, and that it is one itself. */
static void
note_access(const motion *m, uint32_t row)
{
  const vyre_view *v = m->v;
  const uint32_t buffer = bound_by(m, row), first = m->used[buffer];
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

/* Whether the descriptor that the load reads through is used whenever the loop is reached. */
static bool
is_bound(motion *m, uint32_t load, uint32_t loop)
{
  const uint32_t buffer = bound_by(m, load);
  if (buffer == 0 || (m->since[load] && m->since[load] < loop))
    return true;
  for (uint32_t row = next_in(m->v, loop, loop); m->surveyed != loop && row; row = next_in(m->v, loop, row))
    if ((m->flags[row] & SURE) && bound_by(m, row) && !is_array(m, bound_by(m, row)))
      m->sure[bound_by(m, row)] = loop;
  m->surveyed = loop;
  return m->sure[buffer] == loop;
}

/* Opaque rows may write any memory; barriers store nothing. */
static void
note_write(const motion *m, uint32_t row)
{
  const uint32_t op = vyre_op_of(m->v, row);
  if (vyre_op_is_opaque(op) || op == VYRE_OP_verbatim)
    m->written[0] = true;
  else if (m->v->a[row] && VYRE_TYPE_KIND(VYRE_ROW_TYPE(m->v->op[m->v->a[row]])) == VYRE_PATH)
    m->written[m->alias[vyre_buffer_of(m->v, m->v->a[row])] & ~VYRE_ALIAS_SHARED] = true;
}

/* Whether the invocations of a subgroup have one value of the row, for which GPUs have other registers. */
static bool
is_common(const motion *m, uint32_t row)
{
  const vyre_view *v = m->v;
  const uint32_t op = vyre_op_of(v, row),
                 space = VYRE_BUFFER_SPACE(v->imm_hi[op == VYRE_OP_load ? vyre_buffer_of(v, v->a[row]) : 0]);
  const vyre_op_info *info = vyre_op_info_of(v, op);
  if (op == VYRE_OP_buffer || op == VYRE_OP_const || op == VYRE_OP_spec || op == VYRE_OP_wid || op == VYRE_OP_groups)
    return true;
  if ((info->flags & VYRE_OP_PURE) == 0 && (op != VYRE_OP_load || (space != VYRE_SPACE_PUSH && space != VYRE_SPACE_UNIFORM)))
    return false;
  return info->operands > 0 && m->common[v->a[row]] && m->common[v->b[row]] && m->common[v->c[row]];
}

/* One sweep in program order. */
static void
find_flags(const motion *m)
{
  const vyre_view *v = m->v;
  for (uint32_t row = 1; row < v->rows; row++) {
    const uint32_t op = vyre_op_of(v, row), flags = vyre_op_info_of(v, op)->flags;
    m->flags[row] = flags & VYRE_OP_REGION ? flags_of_region(m, row) : m->flags[v->parent[row]];
    m->common[row] = is_common(m, row);
    if ((flags & VYRE_OP_WRITES) && op != VYRE_OP_set)
      note_write(m, row);
    if ((flags & VYRE_OP_ENDS) && op != VYRE_OP_fallthrough)
      note_jump(m, row);
    else if (op == VYRE_OP_load || op == VYRE_OP_copy)
      note_access(m, row);
  }
}

/* ---- what moves ---------------------------------------------------------------------------------------------------------- */

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

/* Whether the row takes longer than the branch around it: it is worth skipping where iterations do not take the arm. */
static bool
is_costly(const motion *m, uint32_t row)
{
  return cost_of_row(m, row).latency > m->branch;
}

/* Whether the row costs less in each iteration than keeping its value does: a register through the loop counts as an addition. */
static bool
is_cheap(const motion *m, uint32_t row)
{
  const vyre_cost cost = cost_of_row(m, row);
  return cost.issue < cost.registers * m->sum;
}

/* Whether the row computes the same in all iterations. */
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
  /* An operand is visible here, so it is before this loop or in it, and in no inner loop that this row is not in. */
  return m->loop[v->a[row]] != loop && m->loop[v->b[row]] != loop && m->loop[v->c[row]] != loop;
}

/* Workgroup memory that nothing wrote has no value. */
static bool
has_value(const vyre_view *v, uint32_t load)
{
  return VYRE_BUFFER_SPACE(v->imm_hi[vyre_buffer_of(v, v->a[load])]) != VYRE_SPACE_WORKGROUP;
}

/* Whether the row of a relaxed program is defined wherever it is visible.  What is loaded is, but for workgroup memory: an
 * undefined value that is stored ends all promises. `left`: rows that may be looked at yet. */
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

/* Whether no other invocation may write meanwhile what is loaded: even if the value is unused, that is a data race. */
static bool
is_quiet(const motion *m, uint32_t load)
{
  const uint32_t buffer = vyre_buffer_of(m->v, m->v->a[load]), space = VYRE_BUFFER_SPACE(m->v->imm_hi[buffer]);
  if (space != VYRE_SPACE_STORAGE && space != VYRE_SPACE_WORKGROUP)
    return true;
  return !m->written[0] && !m->written[m->alias[buffer] & ~VYRE_ALIAS_SHARED];
}

/* Whether a load may run before the loop, where it did not: it is in bounds, nothing writes its memory, and in a relaxed
 * program each step has a value, and the descriptor is bound. */
static bool
may_load_early(motion *m, uint32_t load, uint32_t loop)
{
  const vyre_view *v = m->v;
  uint32_t left = MOST_STEPS;
  return is_quiet(m, load) && m->host->in_bounds(m->module, v->a[load]) &&
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

/* ---- what takes registers ------------------------------------------------------------------------------------------------ */

/* The lanes of the row, if it is not counted yet. */
static uint32_t
count(motion *m, uint32_t row)
{
  const vyre_view *v = m->v;
  const uint32_t type = VYRE_ROW_TYPE(v->op[row]);
  if (m->common[row] || m->counted[row] == m->counts)
    return 0;
  m->counted[row] = m->counts;
  return vyre_kind_is_scalar(VYRE_TYPE_KIND(type)) && vyre_op_of(v, row) != VYRE_OP_var ? VYRE_TYPE_LANES(type) : 0;
}

/* The lanes from before the loop that are used in it, by rows that are not about to leave.  Of a path the indices are used where it
 * is, not where its rows are: they may be anywhere before. */
static uint32_t
count_alive(motion *m, uint32_t loop)
{
  const vyre_view *v = m->v;
  uint32_t lanes = 0;
  m->counts++;
  for (uint32_t row = vyre_body_first(v, loop); row; row = vyre_body_next(v, loop, row)) {
    if (m->loop[row] == v->loop[loop])
      continue;
    m->counted[row] = m->counts; /* it is in the loop */
    if (vyre_op_of(v, row) == VYRE_OP_at)
      continue;
    const uint32_t operands[3] = {v->a[row], v->b[row], v->c[row]};
    for (uint32_t i = 0; i < 3; i++) {
      uint32_t operand = operands[i];
      for (; vyre_op_of(v, operand) == VYRE_OP_at; operand = v->a[operand])
        lanes += count(m, v->b[operand]);
      lanes += count(m, operand);
    }
  }
  return lanes;
}

static void
put(const motion *m, uint32_t leaving, uint32_t loop)
{
  for (uint32_t i = 0; i < leaving; i++)
    m->loop[m->leaving[i]] = loop;
}

/* Keeps what is not worth its register where it is, if there are too many. */
static void
keep_cheap(motion *m, uint32_t leaving, uint32_t loop)
{
  const vyre_view *v = m->v;
  const bool unrolled = (v->imm[loop] & VYRE_HINT_UNROLL) != 0;
  const uint32_t after = count_alive(m, loop), outside = m->v->loop[loop];
  if (after <= MOST_ALIVE)
    return;
  put(m, leaving, loop);
  if (after <= count_alive(m, loop)) {
    put(m, leaving, outside);
    return;
  }
  for (uint32_t i = leaving; i-- > 0;) {
    const uint32_t row = m->leaving[i];
    if (unrolled ? (m->flags[row] & ARM) && vyre_op_of(v, row) != VYRE_OP_at : is_costly(m, row))
      m->loop[row] = outside;
    if (m->loop[row] == loop)
      continue;
    const uint32_t needed[3] = {v->a[row], v->b[row], v->c[row]};
    for (uint32_t k = 0; k < 3; k++)
      m->loop[needed[k]] = m->loop[needed[k]] == loop ? outside : m->loop[needed[k]];
  }
}

static void
empty_loop(motion *m, uint32_t loop)
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
    keep_cheap(m, leaving, loop);
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
  m.alias = host->alloc(ctx, v->rows * sizeof(uint32_t));
  m.written = host->alloc(ctx, v->rows * sizeof(bool));
  m.common = host->alloc(ctx, v->rows * sizeof(bool));
  m.counted = host->alloc(ctx, v->rows * sizeof(uint32_t));
  m.leaving = host->alloc(ctx, v->rows * sizeof(uint32_t));
  if (!m.loop || !m.flags || !m.used || !m.since || !m.sure || !m.alias || !m.written || !m.common || !m.counted || !m.leaving ||
      !host->aliases(module, m.alias))
    return host->out_of_memory(ctx);
  for (uint32_t row = 0; row < v->rows; row++)
    m.loop[row] = v->loop[row];
  m.common[0] = true; /* an operand that is not there */
  find_flags(&m);
  for (uint32_t loop = vyre_loops_innermost_first(v); loop; loop = vyre_loops_next(v, loop))
    empty_loop(&m, loop);
  host->count(ctx, "rows moved", m.moved);
  *out = m.moved ? VYRE_CHANGED : VYRE_UNCHANGED;
  return VYRE_OK;
}

static const vyre_pass licm = {
    .struct_size = sizeof(vyre_pass),
    .name = "licm",
    .long_name = "loop-invariant-code-motion",
    .summary = "hoist rows that a loop does not change out of it",
    .help =
        "Out of as many loops as it can: pure rows, and reads of what the loop does not write.  What may be undefined moves\n"
        "only where it surely runs.  By the cost model: what takes longer than a branch, as loads and divisions do, stays\n"
        "in arms of an if or a switch, and what costs less than the registers of its value, as tests do, stays in its loop.  If\n"
        "a loop would use more than 16 lanes from before it, and more than it did, only what takes longer than a branch moves.",
    .requires_ = VYRE_VERSIONS | VYRE_LOOPS,
    .preserves = VYRE_VERSIONS,
    .run = run,
};
VYRE_PLUGIN("licm", "1.0", &licm)
