/* Dead branch elimination: control whose way is known goes, and what it led to stands where it stood.
 *
 *   if       a literal condition: the arm.  Equal arms: one of them.  No rows in either: nothing.  not(x): x, arms exchanged
 *   switch   a literal selector, or a default alone: the case and those that it falls into.  No rows: nothing; so for a case
 *            without rows where no match has nothing either
 *   for      from >= to, or no rows: nothing.  One trip between literals: the body, its index the literal
 *   loop     one trip, because its end breaks or control never comes there: the body, and what is behind it
 *   block    without leaves: its rows
 *   jumps    to where control would go anyhow: gone
 *   behind what never ends on its way (both arms jump, a loop has no way out): nothing is reached, and it goes
 *
 * A construct of which a jump is left that leads to its end becomes a block, the jump a leave.  Equal arms are compared row by row:
 * the same columns, operands that are the same or correspond.  They stay two where lanes count who comes: with subgroup rows,
 * barriers or opaque rows in them.
 *
 * Constructs are taken inside out, in one sweep against program order.  A row moves once for each construct that goes around it:
 * O(rows * nesting).  Arms are compared up to the first difference, which altogether is O(rows * log(rows)).
 *
 * Limits: a loop with a `continue`, rows in its continuing region and one trip stays; hints of what goes are lost.
 *
 * requires: loops      preserves: versions, where it exchanges arms and does nothing else
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/plugin.h"

typedef struct cleaner {
  vyre_pass_ctx *ctx;
  const vyre_host *host;
  vyre_module *module;
  const vyre_view *v;
  uint32_t *jumps; /* by construct: breaks, continues and leaves that name it, the last one first, as a list through `link` */
  uint32_t *link;
  uint32_t *twin;     /* by row of an arm: the row of the other arm that corresponds; made when it is needed, as is: */
  uint32_t *forward;  /* by row: what its uses become */
  uint8_t *completes; /* by construct: control may come to what follows it */
  bool out_of_memory;
  uint64_t constructs, jumps_gone, unreachable;
  uint64_t exchanged; /* of the constructs: ifs whose arms were */
} cleaner;

static uint32_t
around(const vyre_view *v, uint32_t row)
{
  return v->parent[v->parent[row]];
}

static bool
ends_in(const vyre_view *v, uint32_t region, uint32_t op)
{
  return v->last[region] && vyre_op_of(v, v->last[region]) == op;
}

/* A column that few modules need. */
static bool
need(cleaner *k, uint32_t **column)
{
  if (!*column)
    *column = k->host->alloc(k->ctx, k->v->rows * sizeof(uint32_t));
  k->out_of_memory |= *column == NULL;
  return *column != NULL;
}

/* ---- ways of control ----------------------------------------------------------------------------------------------------- */

/* Whether control may run off the region's end. */
static bool
region_completes(const cleaner *k, uint32_t region)
{
  const uint32_t last = k->v->last[region], flags = vyre_op_flags_of(k->v, last);
  if (last == 0 || vyre_op_of(k->v, last) == VYRE_OP_breakif)
    return true;
  return flags & VYRE_OP_REGIONS ? k->completes[last] : (flags & VYRE_OP_ENDS) == 0;
}

/* Whether a jump of that op names the construct. */
static bool
has_jump(const cleaner *k, uint32_t construct, uint32_t op)
{
  for (uint32_t jump = k->jumps[construct]; jump; jump = k->link[jump])
    if (vyre_op_of(k->v, jump) == op)
      return true;
  return false;
}

/* The rows behind a construct that control does not come out of. */
static void
drop_behind(cleaner *k, uint32_t row)
{
  while (k->v->next[row]) {
    k->host->kill(k->module, k->v->next[row]);
    k->unreachable++;
  }
}

static void
drop_construct(cleaner *k, uint32_t row)
{
  k->host->kill(k->module, row);
  k->constructs++;
}

/* The region's rows stand in place of its construct. */
static void
take_region(cleaner *k, uint32_t construct, uint32_t region)
{
  if (!region_completes(k, region))
    drop_behind(k, construct);
  while (k->v->first[region])
    k->host->move_before(k->module, k->v->first[region], construct);
  drop_construct(k, construct);
}

/* ---- jumps to where control goes anyhow ---------------------------------------------------------------------------------- */

/* Whether off the end of the jump's region control comes to where the jump leads. */
static bool
is_needless(const vyre_view *v, uint32_t jump, uint32_t construct)
{
  uint32_t row = jump;
  while (around(v, row) != construct) {
    row = around(v, row);
    if (v->next[row] || vyre_row_is_loop(v, row))
      return false;
  }
  return true;
}

/* What the jump ended completes now; an `if` that held it alone goes. */
static void
drop_jump(cleaner *k, uint32_t jump, uint32_t construct)
{
  const vyre_view *v = k->v;
  uint32_t row = around(v, jump);
  k->host->kill(k->module, jump);
  k->jumps_gone++;
  while (row != construct) {
    const uint32_t out = around(v, row);
    k->completes[row] = 1;
    if (vyre_op_of(v, row) == VYRE_OP_if && !v->first[v->first[row]] && !v->first[v->last[row]])
      drop_construct(k, row);
    row = out;
  }
}

static void
drop_needless_jumps(cleaner *k, uint32_t construct, uint32_t op)
{
  for (uint32_t jump = k->jumps[construct]; jump; jump = k->link[jump])
    if (vyre_op_of(k->v, jump) == op && is_needless(k->v, jump, construct))
      drop_jump(k, jump, construct);
}

/* ---- blocks, and what becomes one ---------------------------------------------------------------------------------------- */

static void
clean_block(cleaner *k, uint32_t block)
{
  const uint32_t region = k->v->first[block];
  drop_needless_jumps(k, block, VYRE_OP_leave);
  if (!has_jump(k, block, VYRE_OP_leave))
    take_region(k, block, region);
  else
    k->completes[block] = 1;
}

/* The construct becomes a block of that region of its, each jump that names it a leave. */
static void
become_block(cleaner *k, uint32_t row, uint32_t region)
{
  const vyre_view *v = k->v;
  const vyre_host *host = k->host;
  while (v->first[row] != region)
    host->kill(k->module, v->first[row]);
  while (v->last[row] != region)
    host->kill(k->module, v->last[row]);
  for (uint32_t jump = k->jumps[row]; jump; jump = k->link[jump])
    if (vyre_op_of(v, jump) != VYRE_OP_null)
      host->rewrite(k->module, jump, VYRE_ROW(VYRE_OP_leave, 0, 0), 0, 0, row, 0, 0);
  host->rewrite(k->module, region, VYRE_ROW(VYRE_OP_region, 0, 0), VYRE_BLOCK, 0, 0, 0, 0);
  host->rewrite(k->module, row, VYRE_ROW(VYRE_OP_block, 0, 0), 0, 0, 0, 0, 0);
  k->constructs++;
  clean_block(k, row);
}

/* ---- if ------------------------------------------------------------------------------------------------------------------ */

static uint32_t
correspondent(const cleaner *k, uint32_t row)
{
  return k->twin[row] ? k->twin[row] : row;
}

/* x and y stand at the same place of their arms. */
static bool
rows_equal(const cleaner *k, uint32_t x, uint32_t y)
{
  const vyre_view *v = k->v;
  const vyre_op_info *info = &v->op_infos[vyre_op_of(v, x)];
  if (v->op[x] != v->op[y] || v->imm[x] != v->imm[y] || (VYRE_ROW_FLAGS(v->op[x]) & VYRE_ROW_DECO) != 0)
    return false;
  if ((info->flags & VYRE_OP_CONVERGENT) != 0 || (v->imm_hi[x] != v->imm_hi[y] && !vyre_op_has_version(info)))
    return false;
  return k->twin[v->parent[x]] == v->parent[y] && correspondent(k, v->a[x]) == v->a[y] && correspondent(k, v->b[x]) == v->b[y] &&
         correspondent(k, v->c[x]) == v->c[y];
}

/* Up to the first difference.  Rows of one arm are not visible in the other, so that an operand either is the same row, or stands
 * in the arm and has its twin from this comparison. */
static bool
arms_equal(cleaner *k, uint32_t then_region, uint32_t else_region)
{
  const vyre_view *v = k->v;
  uint32_t x = then_region, y = else_region;
  if (v->op[v->first[x]] != v->op[v->first[y]] || !need(k, &k->twin))
    return false;
  k->twin[x] = y;
  for (;;) {
    x = vyre_body_next(v, then_region, x);
    y = vyre_body_next(v, else_region, y);
    if (x == 0 || y == 0)
      return x == y;
    if (!rows_equal(k, x, y))
      return false;
    k->twin[x] = y;
  }
}

static void
exchange_arms(cleaner *k, uint32_t row)
{
  const vyre_view *v = k->v;
  const uint32_t then_region = v->first[row], else_region = v->last[row];
  k->host->set_operand(k->module, row, 0, v->a[v->a[row]]);
  k->host->move_before(k->module, else_region, then_region);
  k->host->rewrite(k->module, else_region, v->op[else_region], VYRE_THEN, 0, 0, 0, 0);
  k->host->rewrite(k->module, then_region, v->op[then_region], VYRE_ELSE, 0, 0, 0, 0);
  k->constructs++;
  k->exchanged++;
}

static void
clean_if(cleaner *k, uint32_t row)
{
  const vyre_view *v = k->v;
  const uint32_t condition = v->a[row], then_region = v->first[row], else_region = v->last[row];
  if (vyre_row_is_const(v, condition)) {
    take_region(k, row, v->imm[condition] ? then_region : else_region);
  } else if (arms_equal(k, then_region, else_region)) {
    take_region(k, row, then_region);
  } else {
    k->completes[row] = region_completes(k, then_region) || region_completes(k, else_region);
    if (!k->completes[row])
      drop_behind(k, row);
    if (vyre_op_of(v, condition) == VYRE_OP_not && v->first[else_region])
      exchange_arms(k, row);
  }
}

/* ---- switch -------------------------------------------------------------------------------------------------------------- */

static bool
is_value(const vyre_view *v, uint32_t label, uint32_t value)
{
  return vyre_row_is_const(v, label) && vyre_row_imm(v, label) == vyre_row_imm(v, value);
}

static bool
has_label(const vyre_view *v, uint32_t branch, uint32_t value)
{
  uint32_t label = v->a[branch];
  for (; vyre_op_of(v, label) == VYRE_OP_tuple; label = v->c[label])
    if (is_value(v, v->a[label], value) || is_value(v, v->b[label], value))
      return true;
  return is_value(v, label, value);
}

/* The case that the literal leads to; 0: none. */
static uint32_t
known_case(const vyre_view *v, uint32_t row)
{
  uint32_t fallback = 0;
  for (uint32_t branch = v->first[row]; branch; branch = v->next[branch]) {
    if (has_label(v, branch, v->a[row]))
      return branch;
    if (v->imm[branch] & VYRE_CASE_DEFAULT)
      fallback = branch;
  }
  return fallback;
}

/* The case and those that it falls into, as one. */
static void
take_case(cleaner *k, uint32_t row, uint32_t branch)
{
  const vyre_view *v = k->v;
  const uint32_t fall = ends_in(v, branch, VYRE_OP_fallthrough) ? v->last[branch] : 0;
  bool falls = fall != 0;
  for (uint32_t other = v->next[branch]; falls; other = v->next[other]) {
    falls = ends_in(v, other, VYRE_OP_fallthrough);
    while (v->first[other] && vyre_op_of(v, v->first[other]) != VYRE_OP_fallthrough)
      k->host->move_before(k->module, v->first[other], fall);
  }
  if (fall)
    k->host->kill(k->module, fall);
  become_block(k, row, branch);
}

/* Drops cases without rows that no case falls into: all, or the default alone. */
static void
drop_empty_cases(cleaner *k, uint32_t row, bool all)
{
  const vyre_view *v = k->v;
  for (uint32_t branch = v->first[row], next; branch; branch = next) {
    next = v->next[branch];
    if (!v->first[branch] && !ends_in(v, v->prev[branch], VYRE_OP_fallthrough) && (all || (v->imm[branch] & VYRE_CASE_DEFAULT)))
      drop_construct(k, branch);
  }
}

static bool
has_default(const vyre_view *v, uint32_t row)
{
  for (uint32_t branch = v->first[row]; branch; branch = v->next[branch])
    if (v->imm[branch] & VYRE_CASE_DEFAULT)
      return true;
  return false;
}

static bool
switch_completes(const cleaner *k, uint32_t row)
{
  bool completes = has_jump(k, row, VYRE_OP_leave) || !has_default(k->v, row);
  for (uint32_t branch = k->v->first[row]; branch && !completes; branch = k->v->next[branch])
    completes = region_completes(k, branch);
  return completes;
}

static void
clean_switch(cleaner *k, uint32_t row)
{
  const vyre_view *v = k->v;
  const uint32_t only = v->first[row];
  const bool always = only && !v->next[only] && (v->imm[only] & VYRE_CASE_DEFAULT);
  if (always || vyre_row_is_const(v, v->a[row])) {
    const uint32_t branch = always ? only : known_case(v, row);
    if (branch)
      take_case(k, row, branch);
    else
      drop_construct(k, row);
    return;
  }
  drop_needless_jumps(k, row, VYRE_OP_leave);
  drop_empty_cases(k, row, false);
  if (!has_default(v, row)) /* no match does nothing */
    drop_empty_cases(k, row, true);
  k->completes[row] = switch_completes(k, row);
  if (!v->first[row])
    drop_construct(k, row);
  else if (!k->completes[row])
    drop_behind(k, row);
}

/* ---- loops --------------------------------------------------------------------------------------------------------------- */

/* A literal as an unsigned number of the same order. */
static uint64_t
ordered(const vyre_view *v, uint32_t row, uint64_t bits)
{
  const vyre_kind kind = VYRE_TYPE_KIND(VYRE_ROW_TYPE(v->op[row]));
  const uint32_t width = vyre_kind_bits(kind);
  const uint64_t sign = vyre_kind_is_signed(kind) ? UINT64_C(1) << (width - 1) : 0;
  return (bits & UINT64_MAX >> (64 - width)) ^ sign;
}

/* Between literals, and the second index is not below the end. */
static bool
is_one_trip(const vyre_view *v, uint32_t row)
{
  const uint32_t from = v->a[row], to = v->b[row], step = v->c[row];
  if (!vyre_loop_surely_runs(v, row) || !vyre_row_is_const(v, step))
    return false;
  return ordered(v, from, vyre_row_imm(v, from) + vyre_row_imm(v, step)) >= ordered(v, to, vyre_row_imm(v, to));
}

static void
clean_for(cleaner *k, uint32_t row)
{
  const vyre_view *v = k->v;
  const uint32_t body = v->first[row], from = v->a[row], to = v->b[row];
  const bool known = vyre_row_is_const(v, from) && vyre_row_is_const(v, to);
  drop_needless_jumps(k, row, VYRE_OP_continue);
  k->completes[row] = 1;
  if (from == to || !v->first[body] || (known && !vyre_loop_surely_runs(v, row))) {
    drop_construct(k, row);
    return;
  }
  const bool one = is_one_trip(v, row) || (known && !region_completes(k, body) && !has_jump(k, row, VYRE_OP_continue));
  if (!one || !need(k, &k->forward))
    return;
  k->forward[body] = from;
  become_block(k, row, body);
}

/* The continuing region of the one trip follows its body. */
static void
take_both(cleaner *k, uint32_t row)
{
  const vyre_view *v = k->v;
  const uint32_t body = v->first[row], continuing = v->last[row], behind = v->first[continuing];
  while (behind && v->first[body])
    k->host->move_before(k->module, v->first[body], behind);
  become_block(k, row, behind ? continuing : body);
}

static void
clean_loop(cleaner *k, uint32_t row)
{
  const vyre_view *v = k->v;
  const uint32_t body = v->first[row], continuing = v->last[row];
  drop_needless_jumps(k, row, VYRE_OP_continue);
  const bool continues = has_jump(k, row, VYRE_OP_continue);
  uint32_t end = ends_in(v, continuing, VYRE_OP_breakif) ? v->last[continuing] : 0;
  if (!continues && !region_completes(k, body)) {
    become_block(k, row, body);
    return;
  }
  if (end && vyre_row_is_const(v, v->a[end])) {
    const bool one = v->imm[v->a[end]] != 0, alone = v->first[continuing] == end;
    if (!one || !continues || alone) {
      k->host->kill(k->module, end);
      k->jumps_gone++;
      end = 0;
    }
    if (one && (!continues || alone)) {
      take_both(k, row);
      return;
    }
  }
  k->completes[row] = end || has_jump(k, row, VYRE_OP_break);
  if (!k->completes[row])
    drop_behind(k, row);
}

/* ---- the pass ------------------------------------------------------------------------------------------------------------ */

/* Lists jumps and, in program order, constructs: these in an array with room for all rows, so that no branch is to be foretold. */
static uint32_t
list_control(const cleaner *k, uint32_t *constructs)
{
  const vyre_view *v = k->v;
  uint32_t count = 0;
  for (uint32_t row = 1; row < v->rows; row++) {
    const uint32_t op = vyre_op_of(v, row);
    constructs[count] = row;
    count += (v->op_infos[op].flags & VYRE_OP_REGIONS) != 0;
    if (op != VYRE_OP_break && op != VYRE_OP_continue && op != VYRE_OP_leave)
      continue;
    const uint32_t construct = op == VYRE_OP_leave ? v->a[row] : v->loop[row];
    k->link[row] = k->jumps[construct];
    k->jumps[construct] = row;
  }
  return count;
}

static void
clean(cleaner *k, uint32_t row)
{
  switch (vyre_op_of(k->v, row)) {
  case VYRE_OP_if:
    clean_if(k, row);
    break;
  case VYRE_OP_switch:
    clean_switch(k, row);
    break;
  case VYRE_OP_for:
    clean_for(k, row);
    break;
  case VYRE_OP_loop:
    clean_loop(k, row);
    break;
  case VYRE_OP_block:
    clean_block(k, row);
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
  uint32_t *constructs = host->alloc(ctx, bytes);
  if (!k.jumps || !k.link || !k.completes || !constructs)
    return host->out_of_memory(ctx);
  for (uint32_t i = list_control(&k, constructs); i-- > 0;) /* inner ones have greater ids */
    clean(&k, constructs[i]);
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
  if (k.constructs == k.exchanged && !k.jumps_gone && !k.unreachable)
    host->preserved(ctx, VYRE_VERSIONS); /* no arm sees what the other one does */
  *out = k.constructs || k.jumps_gone || k.unreachable ? VYRE_CHANGED : VYRE_UNCHANGED;
  return VYRE_OK;
}

static bool
is_arm(const vyre_view *v, uint32_t region)
{
  const uint32_t op = vyre_op_of(v, v->parent[region]);
  return op == VYRE_OP_if || op == VYRE_OP_switch;
}

static bool
is_empty(const vyre_view *v, uint32_t region)
{
  return v->first[region] == 0;
}

/* Whether the construct may be less now that rows of its regions went or came. */
static bool
is_open(const vyre_view *v, uint32_t row)
{
  const uint32_t first = v->first[row], last = v->last[row];
  switch (vyre_op_of(v, row)) {
  case VYRE_OP_switch:
    return true;   /* cases may be empty now */
  case VYRE_OP_if: /* arms may be equal now */
    return is_empty(v, first) == is_empty(v, last);
  case VYRE_OP_for:
    return is_empty(v, first) || v->a[row] == v->b[row];
  case VYRE_OP_loop:
    return v->first[last] && v->first[last] == v->last[last] && vyre_row_is_const(v, v->a[v->last[last]]);
  default:
    return false;
  }
}

static bool
has_open(const vyre_view *v)
{
  for (uint32_t row = 1; row < v->rows; row++)
    if (is_open(v, row))
      return true;
  return false;
}

/* Whether an `if` of two arms is decided on a negation. */
static bool
has_negated(const vyre_view *v)
{
  for (uint32_t row = 1; row < v->rows; row++)
    if (vyre_op_of(v, row) == VYRE_OP_if && vyre_op_of(v, v->a[row]) == VYRE_OP_not && !is_empty(v, v->last[row]))
      return true;
  return false;
}

/* What control is decided on, what stands in arms, and what went out of regions; and what it did itself, which may empty what is
 * around. */
static vyre_status
wakes(vyre_pass_ctx *ctx, const vyre_module *module, const vyre_edits *edits, bool *out)
{
  *out = true;
  const vyre_view *v = ctx->host->view(module);
  const uint32_t in_regions = VYRE_EDIT_GONE_VALUE | VYRE_EDIT_GONE_READ | VYRE_EDIT_GONE_SET | VYRE_EDIT_MOVED;
  bool negates = false;
  if (edits->own_kinds != 0 || (edits->kinds & ~(in_regions | VYRE_EDIT_VERSIONS)) != 0 || vyre_edits_made_literal(v, edits) ||
      ((edits->kinds & in_regions) != 0 && has_open(v)))
    return VYRE_OK;
  for (uint32_t i = edits->own; i < edits->count; i++) {
    const uint32_t row = edits->rows[i];
    if ((vyre_op_flags_of(v, row) & (VYRE_OP_REGION | VYRE_OP_REGIONS | VYRE_OP_ENDS)) != 0 || is_arm(v, v->parent[row]))
      return VYRE_OK;
    negates |= vyre_op_of(v, row) == VYRE_OP_not;
  }
  *out = negates && has_negated(v);
  return VYRE_OK;
}

static const vyre_pass dbe = {
    .struct_size = sizeof(vyre_pass),
    .name = "dbe",
    .long_name = "dead-branch",
    .summary = "take control apart whose way is known",
    .help = "if and switch on literals, loops that make no trip or one, arms that are equal or empty, blocks that nothing leaves,\n"
            "jumps to where control goes anyhow, and what is never reached.",
    .requires_ = VYRE_LOOPS,
    .run = run,
    .wakes = wakes,
};
VYRE_PLUGIN("dbe", "1.0", &dbe)
