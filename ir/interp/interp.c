/* The interpreter, which defines the result of a dispatch.
 *
 * Workgroups run one after the other, x fastest, or all together if the program has a grid barrier. In a workgroup, all invocations
 * follow the structured control together, with a mask of those that are active. So all invocations reach a barrier exactly if the
 * mask holds every invocation that has not returned. Recursion follows the nesting of control, which interp_prepare bounds.
 *
 * Cost: for pure rows, the rows that the workgroup executes times its invocations; for effects, the sum over active invocations.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"
#include "base/options.h"
#include "vyre/environment.h"
#include "vyre/opaque.h"
#include "vyre/view.h"

#include "eval/row.h"
#include "eval/scalar.h"

#include <inttypes.h>

/* ---- masks ---------------------------------------------------------------------------------------------------------- */

static uint64_t *
push_mask(interp *ip)
{
  uint64_t *mask = ip->masks + ip->mask_top;
  ip->mask_top += ip->words;
  memset(mask, 0, ip->words * sizeof *mask);
  return mask;
}

static bool
is_empty(const interp *ip, const uint64_t *mask)
{
  uint64_t all = 0;
  for (uint32_t i = 0; i < ip->words; i++)
    all |= mask[i];
  return all == 0;
}

static void
copy_mask(const interp *ip, uint64_t *to, const uint64_t *from)
{
  memcpy(to, from, ip->words * sizeof *to);
}

static void
join_mask(const interp *ip, uint64_t *to, const uint64_t *from)
{
  for (uint32_t i = 0; i < ip->words; i++)
    to[i] |= from[i];
}

/* Moves the invocations of `from` to `to`. */
static void
move_mask(const interp *ip, uint64_t *to, uint64_t *from)
{
  join_mask(ip, to, from);
  memset(from, 0, ip->words * sizeof *from);
}

/* Moves the invocations of `mask` whose bool lane is set to `yes`. */
static void
split_mask(const interp *ip, uint64_t *mask, const uint64_t *lane, uint64_t *yes)
{
  for (uint32_t w = 0; w < ip->words; w++) {
    uint64_t set = 0;
    const uint32_t from = w * 64, to = from + 64 < ip->count ? from + 64 : ip->count;
    for (uint32_t i = from; i < to; i++)
      set |= (uint64_t)(lane[i] != 0) << (i - from);
    yes[w] |= mask[w] & set;
    mask[w] &= ~set;
  }
}

static uint32_t
issue_of(const interp *ip, uint32_t row)
{
  return ip->issue ? ip->issue[row - ip->begin] : 0;
}

/* Returns the number of subgroups with an active invocation. */
static uint32_t
count_subgroups(const interp *ip, const uint64_t *active)
{
  const uint32_t a_group = (ip->per_group + ip->subgroup - 1) / ip->subgroup;
  uint32_t count = 0;
  uint64_t last = UINT64_MAX;
  for_each_active(ip, active, i)
  {
    const uint64_t subgroup = i / ip->per_group * a_group + i % ip->per_group / ip->subgroup;
    count += subgroup != last;
    last = subgroup;
  }
  return count;
}

/* Adds `rows` to the steps of each active invocation, and `issue` to the work for each of their subgroups. */
static bool
count_rows(interp *ip, uint32_t row, const uint64_t *active, uint64_t rows, uint64_t issue)
{
  uint64_t over = UINT64_MAX;
  if (issue)
    ip->work += issue * count_subgroups(ip, active);
  for_each_active(ip, active, i)
  {
    ip->steps[i] += rows;
    ip->rows_executed += rows;
    if (ip->steps[i] > ip->budget && over == UINT64_MAX)
      over = i;
  }
  if (over == UINT64_MAX)
    return true;
  return interp_fail(ip, row, over, "end the loop, or allow more steps",
                     "still running after %" PRIu64 " rows, so the loop may be endless: in", ip->budget);
}

/* ---- control -------------------------------------------------------------------------------------------------------- */

static bool run_region(interp *ip, frame *within, uint32_t region, uint64_t *active);

static bool
run_if(interp *ip, frame *within, uint32_t row, uint64_t *active)
{
  uint64_t *yes = push_mask(ip);
  const uint32_t then_region = vyre_region_with(ip->view, row, VYRE_THEN), else_region = vyre_region_with(ip->view, row, VYRE_ELSE);
  if (!interp_defined(ip, row, ip->view->a[row], active, "a condition"))
    return false;
  split_mask(ip, active, plane_of(ip, ip->view->a[row]), yes);
  if ((then_region && !run_region(ip, within, then_region, yes)) || (else_region && !run_region(ip, within, else_region, active)))
    return false;
  join_mask(ip, active, yes);
  return true;
}

static bool
run_block(interp *ip, frame *within, uint32_t row, uint64_t *active)
{
  frame here = {.outer = within, .row = row, .done = push_mask(ip)};
  const uint32_t region = vyre_region_with(ip->view, row, VYRE_BLOCK);
  if (region && !run_region(ip, &here, region, active))
    return false;
  join_mask(ip, active, here.done);
  return true;
}

static bool
run_loop(interp *ip, frame *within, uint32_t row, uint64_t *active)
{
  frame here = {.outer = within, .row = row, .is_loop = true, .done = push_mask(ip), .again = push_mask(ip)};
  const uint32_t body = vyre_region_with(ip->view, row, VYRE_BODY), continuing = vyre_region_with(ip->view, row, VYRE_CONTINUING);
  while (!is_empty(ip, active)) {
    if (!count_rows(ip, row, active, 1, issue_of(ip, row)) || (body && !run_region(ip, &here, body, active)))
      return false;
    move_mask(ip, active, here.again);
    if (continuing && !run_region(ip, &here, continuing, active))
      return false;
  }
  copy_mask(ip, active, here.done);
  return true;
}

static bool
run_for(interp *ip, frame *within, uint32_t row, uint64_t *active)
{
  const vyre_view *v = ip->view;
  const uint32_t body = v->first[row];
  if (!body)
    return interp_fail(ip, row, UINT64_MAX, VERIFY, "the loop has no body");
  frame here = {.outer = within, .row = row, .is_loop = true, .done = push_mask(ip), .again = push_mask(ip)};
  const vyre_kind kind = row_kind(v, v->a[row]);
  const unsigned bits = vyre_kind_bits(kind);
  const uint64_t flip = vyre_kind_is_signed(kind) ? UINT64_C(1) << (bits - 1) : 0; /* makes signed order unsigned */
  const uint64_t *to = plane_of(ip, v->b[row]), *step = plane_of(ip, v->c[row]);
  uint64_t *index = plane_of(ip, body);
  const uint32_t bounds[3] = {v->a[row], v->b[row], v->c[row]};
  for (uint32_t k = 0; k < 3; k++)
    if (!interp_defined(ip, row, bounds[k], active, "a loop bound"))
      return false;
  memcpy(index, plane_of(ip, v->a[row]), sizeof *index * ip->count);
  for (;;) {
    for (uint32_t w = 0; w < ip->words; w++)
      for (uint64_t left = active[w]; left; left &= left - 1) {
        const uint32_t i = w * 64 + (uint32_t)__builtin_ctzll(left);
        if ((index[i] ^ flip) < (to[i] ^ flip))
          continue;
        active[w] &= ~(left & (0 - left));
        here.done[w] |= left & (0 - left);
      }
    if (is_empty(ip, active))
      break;
    if (!count_rows(ip, row, active, 1, issue_of(ip, row)) || !run_region(ip, &here, body, active))
      return false;
    move_mask(ip, active, here.again);
    for (uint32_t i = 0; i < ip->count; i++)
      index[i] = (index[i] + step[i]) & bits_mask(bits);
  }
  copy_mask(ip, active, here.done);
  return true;
}

/* Moves the invocations whose selector is one of the case's labels from `waiting` to `in`. */
static void
match_case(const interp *ip, uint32_t case_row, const uint64_t *selector, uint64_t *waiting, uint64_t *in)
{
  const vyre_view *v = ip->view;
  vyre_labels labels = vyre_labels_of(v, case_row);
  for (uint32_t row; (row = vyre_next_label(v, &labels)) != 0;) {
    const uint64_t label = plane_of(ip, row)[0];
    for (uint32_t w = 0; w < ip->words; w++)
      for (uint64_t left = waiting[w]; left; left &= left - 1) {
        const uint64_t bit = left & (0 - left);
        if (selector[w * 64 + (uint32_t)__builtin_ctzll(left)] != label)
          continue;
        waiting[w] &= ~bit;
        in[w] |= bit;
      }
  }
}

static bool
run_switch(interp *ip, frame *within, uint32_t row, uint64_t *active)
{
  const vyre_view *v = ip->view;
  frame here = {.outer = within, .row = row, .done = push_mask(ip), .again = push_mask(ip)};
  uint64_t *in = push_mask(ip), *other = push_mask(ip);
  const uint64_t *selector = plane_of(ip, v->a[row]);
  bool has_default = false;
  if (!interp_defined(ip, row, v->a[row], active, "a selector"))
    return false;
  copy_mask(ip, other, active);
  for (uint32_t c = v->first[row]; c; c = v->next[c]) {
    match_case(ip, c, selector, other, in); /* `in` is not used here */
    has_default = has_default || (v->imm[c] & VYRE_CASE_DEFAULT) != 0;
  }
  for (uint32_t w = 0; w < ip->words; w++)
    active[w] &= ~other[w];
  if (!has_default)
    move_mask(ip, here.done, other);
  for (uint32_t c = v->first[row]; c; c = v->next[c]) {
    copy_mask(ip, in, here.again);
    memset(here.again, 0, ip->words * sizeof *in);
    match_case(ip, c, selector, active, in);
    if (v->imm[c] & VYRE_CASE_DEFAULT)
      move_mask(ip, in, other);
    if (!run_region(ip, &here, c, in))
      return false;
    join_mask(ip, here.done, in);
  }
  join_mask(ip, here.done, here.again); /* the last case fell through */
  copy_mask(ip, active, here.done);
  return true;
}

static bool
run_control(interp *ip, frame *within, uint32_t row, uint64_t *active)
{
  const size_t top = ip->mask_top;
  bool ok = false;
  switch (VYRE_ROW_OP(ip->view->op[row])) {
  case VYRE_OP_if:
    ok = run_if(ip, within, row, active);
    break;
  case VYRE_OP_for:
    ok = run_for(ip, within, row, active);
    break;
  case VYRE_OP_loop:
    ok = run_loop(ip, within, row, active);
    break;
  case VYRE_OP_switch:
    ok = run_switch(ip, within, row, active);
    break;
  default:
    ok = run_block(ip, within, row, active);
    break;
  }
  ip->mask_top = top;
  return ok;
}

/* ---- jumps and barriers --------------------------------------------------------------------------------------------- */

static bool
run_jump(interp *ip, frame *within, uint32_t row, uint64_t *active)
{
  const vyre_view *v = ip->view;
  const uint32_t op = VYRE_ROW_OP(v->op[row]);
  frame *to = within;
  switch (op) {
  case VYRE_OP_return:
    move_mask(ip, ip->returned, active);
    return true;
  case VYRE_OP_break:
  case VYRE_OP_continue:
  case VYRE_OP_breakif:
    while (to && !to->is_loop)
      to = to->outer;
    break;
  case VYRE_OP_leave:
    while (to && to->row != v->a[row])
      to = to->outer;
    break;
  default: /* fallthrough */
    while (to && VYRE_ROW_OP(v->op[to->row]) != VYRE_OP_switch)
      to = to->outer;
    break;
  }
  if (!to)
    return interp_fail(ip, row, UINT64_MAX, VERIFY, "the jump is not in a construct that it can end");
  if (op == VYRE_OP_breakif) {
    if (!interp_defined(ip, row, v->a[row], active, "a condition"))
      return false;
    split_mask(ip, active, plane_of(ip, v->a[row]), to->done);
    return true;
  }
  move_mask(ip, op == VYRE_OP_continue || op == VYRE_OP_fallthrough ? to->again : to->done, active);
  return true;
}

static uint64_t
first_of(const interp *ip, const uint64_t *mask)
{
  for_each_active(ip, mask, i) return i;
  return UINT64_MAX;
}

static bool
is_in(const uint64_t *mask, uint32_t invocation)
{
  return (mask[invocation / 64] >> (invocation % 64) & 1u) != 0;
}

/* Returns whether the instruction is a printf or breakpoint for a debugger, which changes nothing. */
static bool
is_non_semantic(const interp *ip, const char *name, const vyre_type_info *words)
{
  static const char prefix[] = "NonSemantic.";
  return name && strcmp(name, "ExtInst") == 0 && words->count > 0 && words->members[0].access == VYRE_WORD_SET &&
         strncmp(vyre_string_text(ip->module, words->members[0].name), prefix, sizeof(prefix) - 1) == 0;
}

/* Fails for instructions that only a device can run. */
static bool
run_opaque(interp *ip, uint32_t row, const uint64_t *active)
{
  const uint32_t op = VYRE_ROW_OP(ip->view->op[row]);
  const vyre_type_info words = vyre_type_get(ip->module, vyre_op_is_opaque(op) ? ip->view->imm[row] : 0);
  const char *name = vyre_row_instruction(ip->module, (vyre_row){row});
  if (is_non_semantic(ip, name, &words))
    return true;
  if (name)
    return interp_fail(ip, row, first_of(ip, active), "run it on a device", "the interpreter does not support Op%s:", name);
  return interp_fail(ip, row, first_of(ip, active), "run it on a device", "the interpreter does not support %s:",
                     op == VYRE_OP_verbatim  ? "a module that is kept verbatim"
                     : vyre_op_is_opaque(op) ? "this instruction"
                                             : "images, pointers and the like");
}

static bool
moves_opaque(const interp *ip, uint32_t row)
{
  return row_kind(ip->view, row) == VYRE_OPAQUE || (ip->view->b[row] && row_kind(ip->view, ip->view->b[row]) == VYRE_OPAQUE);
}

/* Checks that every invocation that has not returned is active: of the grid, or of each workgroup with an active invocation. */
static bool
run_barrier(interp *ip, uint32_t row, const uint64_t *active)
{
  const uint32_t scope = VYRE_ORDER_EXECUTION(ip->view->imm[row]);
  const uint32_t size = scope == 1 ? ip->count : ip->per_group;
  const bool control = scope != 3 && scope != 4; /* lockstep already orders a subgroup's or an invocation's barrier */
  for (uint32_t first = 0; control && first < ip->count; first += size) {
    uint32_t missing = UINT32_MAX;
    bool any = false;
    for (uint32_t i = first; i < first + size; i++) {
      any = any || is_in(active, i);
      if (missing == UINT32_MAX && !is_in(active, i) && !is_in(ip->returned, i))
        missing = i;
    }
    if (any && missing != UINT32_MAX)
      return interp_fail(ip, row, missing,
                         scope == 1 ? "put the barrier where every invocation of the grid reaches it"
                                    : "put the barrier where every invocation of the workgroup reaches it",
                         "barrier in non-uniform control flow: not reached by");
  }
  if (ip->races)
    interp_race_barrier(ip, row, active);
  return true;
}

/* ---- rows ----------------------------------------------------------------------------------------------------------- */

static bool
run_row(interp *ip, frame *within, uint32_t row, uint64_t *active)
{
  /* clang-format off */
  switch ((vyre_opcode)VYRE_ROW_OP(ip->view->op[row])) {
  case VYRE_OP_workgroup: case VYRE_OP_var: case VYRE_OP_buffer: case VYRE_OP_null: return true;
  case VYRE_OP_if: case VYRE_OP_for: case VYRE_OP_loop: case VYRE_OP_switch: case VYRE_OP_block:
    return run_control(ip, within, row, active);
  case VYRE_OP_return: case VYRE_OP_break: case VYRE_OP_continue: case VYRE_OP_leave: case VYRE_OP_fallthrough: case VYRE_OP_breakif:
    return run_jump(ip, within, row, active);
  case VYRE_OP_trap: return interp_fail(ip, row, first_of(ip, active), "keep control from reaching the trap", "trap in");
  case VYRE_OP_verbatim: case VYRE_OP_opaque: case VYRE_OP_opaque_pure: case VYRE_OP_opaque_read: case VYRE_OP_opaque_write:
    return run_opaque(ip, row, active);
  case VYRE_OP_barrier: return run_barrier(ip, row, active);
  case VYRE_OP_load: return moves_opaque(ip, row) ? run_opaque(ip, row, active) : interp_load(ip, row, active);
  case VYRE_OP_store: return moves_opaque(ip, row) ? run_opaque(ip, row, active) : interp_store(ip, row, active);
  case VYRE_OP_copy: case VYRE_OP_async_copy: return interp_copy(ip, row, active); /* an async copy happens at its start */
  case VYRE_OP_async_wait:
    if (ip->races)
      interp_race_wait(ip, row, active);
    return true;
  case VYRE_OP_set: interp_set(ip, row, active); return true;
  case VYRE_OP_atomic_load: case VYRE_OP_atomic_store: case VYRE_OP_atomic_exchange: case VYRE_OP_atomic_compare_exchange:
  case VYRE_OP_atomic_add: case VYRE_OP_atomic_sub: case VYRE_OP_atomic_umin: case VYRE_OP_atomic_umax: case VYRE_OP_atomic_smin:
  case VYRE_OP_atomic_smax: case VYRE_OP_atomic_and: case VYRE_OP_atomic_or: case VYRE_OP_atomic_xor:
  case VYRE_OP_atomic_fadd: case VYRE_OP_atomic_fmin: case VYRE_OP_atomic_fmax:
    return interp_atomic(ip, row, active);
  default: return interp_row(ip, row, active);
  }
  /* clang-format on */
}

/* Runs a region. `active` has the invocations that enter it, and then those that reach its end. */
static bool
run_region(interp *ip, frame *within, uint32_t region, uint64_t *active)
{
  const vyre_view *v = ip->view;
  uint64_t rows = 0, issue = 0; /* not charged yet; the mask changes only at control */
  uint32_t last = region;
  if (is_empty(ip, active))
    return true;
  for (uint32_t row = v->first[region]; row; row = v->next[row]) {
    const uint32_t flags = v->op_infos[VYRE_ROW_OP(v->op[row])].flags;
    last = row;
    rows++;
    issue += issue_of(ip, row);
    if (!(flags & (VYRE_OP_REGIONS | VYRE_OP_ENDS))) {
      if (!run_row(ip, within, row, active))
        return false;
      continue;
    }
    if (!count_rows(ip, row, active, rows, issue) || !run_row(ip, within, row, active))
      return false;
    rows = issue = 0;
    if (is_empty(ip, active))
      return true;
  }
  return rows == 0 || count_rows(ip, last, active, rows, issue);
}

/* ---- entry ---------------------------------------------------------------------------------------------------------- */

/* Runs one workgroup, or all of them together. */
static bool
run_workgroup(interp *ip)
{
  interp_start_workgroup(ip);
  uint64_t *active = push_mask(ip);
  for (uint32_t i = 0; i < ip->count; i++)
    active[i / 64] |= UINT64_C(1) << (i % 64);
  if (!run_region(ip, NULL, ip->begin, active))
    return false;
  if (ip->races)
    interp_race_workgroup_ends(ip);
  return true;
}

/* Runs the dispatch's part of the grid, or all of it. */
static bool
run_grid(interp *ip)
{
  const vyre_dispatch *d = ip->dispatch;
  const uint32_t *groups = d->groups;
  const uint64_t all = interp_capped(interp_capped(groups[0], groups[1]), groups[2]);
  const bool is_part = d->first != 0 || (d->count != 0 && d->count != all);
  const uint64_t count = is_part ? d->count : all;
  if (d->first > all || count > all - d->first)
    return interp_fail(ip, d->program.id, UINT64_MAX, "choose a part inside the grid",
                       "%" PRIu64 " workgroups from number %" PRIu64 " on exceed the grid of %" PRIu64, count, d->first, all);
  if (ip->together && is_part)
    return interp_fail(ip, d->program.id, UINT64_MAX, "run the whole grid at once",
                       "a program with a barrier for the whole grid cannot run a part of the grid");
  if (ip->together)
    return run_workgroup(ip);
  for (uint64_t n = d->first; n < d->first + count; n++) {
    ip->group[0] = (uint32_t)(n % groups[0]);
    ip->group[1] = (uint32_t)(n / groups[0] % groups[1]);
    ip->group[2] = (uint32_t)(n / groups[0] / groups[1]);
    if (!run_workgroup(ip))
      return false;
  }
  return true;
}

vyre_status
vyre_interp_run(const vyre_module *module, const vyre_dispatch *dispatch, const vyre_interp_options *options,
                vyre_interp_stats *stats)
{
  VYRE_OWN_ENVIRONMENT;
  vyre_interp_options o;
  interp ip = {
      .module = module, .view = vyre_module_view(module), .dispatch = dispatch, .allocator = vyre_module_allocator(module)};
  if (stats)
    *stats = (vyre_interp_stats){0};
  VYRE_TRY(vyre_options_read(&o, sizeof o, options, "vyre_interp_options"));
  if (interp_prepare(&ip, &o))
    run_grid(&ip);
  interp_release(&ip);
  if (stats)
    *stats = (vyre_interp_stats){.rows = ip.rows_executed, .work = ip.work};
  return ip.status;
}
