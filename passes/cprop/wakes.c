/* Most edits are none of cprop's business: an operand that became an equal one, a row that went.  What is:
 *
 *   conditions   comparisons and what decides where control goes, its own edits too: what a condition says is looked for before
 *                values are solved
 *   values       rows that are known by their operands as they stand, its own edits too
 *   lanes        rows that put vectors together, its own edits too: they are looked at as they stand
 *   variables    what is set
 *   memory       paths and accesses, its own edits too, where anything writes that memory; writes that went; a known load that
 *                has users again, as cse gave it those of an equal one
 *   places       a value that moved to where it can be seen behind a construct, if a variable or memory has it; a set that moved; a
 *                loop that became a block
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "wakes.h"

#include "../state/lanes.h"
#include "known.h"

static bool
is_bool(const vyre_view *v, uint32_t row)
{
  return VYRE_TYPE_KIND(VYRE_ROW_TYPE(v->op[row])) == VYRE_BOOL && !vyre_row_is_const(v, row);
}

/* Whether it says something in a region that it guards, or may hear that. */
static bool
is_condition(const vyre_view *v, uint32_t row)
{
  return is_bool(v, row) || is_bool(v, v->a[row]) || is_bool(v, v->b[row]) || is_bool(v, v->c[row]);
}

/* Whether a literal says where control goes from there. */
static bool
is_decided(const vyre_view *v, uint32_t row)
{
  return (vyre_op_flags_of(v, row) & (VYRE_OP_REGIONS | VYRE_OP_ENDS)) != 0 &&
         (vyre_row_is_const(v, v->a[row]) || vyre_row_is_const(v, v->b[row]));
}

/* Whether the row itself says what it is: its operands are literals, or one value.  cf and pm see that, too, where they are run. */
static bool
is_known_alone(const vyre_view *v, uint32_t row)
{
  const uint32_t a = v->a[row], b = v->b[row], c = v->c[row], op = vyre_op_of(v, row);
  if (v->op_infos[op].fold != VYRE_FOLD_EXACT || !vyre_row_is_pure(v, row))
    return false;
  if (vyre_row_is_const(v, a))
    return op == VYRE_OP_select || ((b == 0 || vyre_row_is_const(v, b)) && (c == 0 || vyre_row_is_const(v, c)));
  return a == b && a != 0 && !vyre_kind_is_float(VYRE_TYPE_KIND(VYRE_ROW_TYPE(v->op[a])));
}

static bool
is_put(uint32_t op)
{
  return op == VYRE_OP_join || op == VYRE_OP_insert || op == VYRE_OP_shuffle;
}

static bool
is_lanes(uint32_t op)
{
  return is_put(op) || op == VYRE_OP_splat || op == VYRE_OP_lane;
}

/* Whether some lane, or all of a vector, is a row that was put in there. */
static bool
is_put_together(const vyre_view *v)
{
  for (uint32_t row = 1; row < v->rows; row++) {
    const uint32_t op = vyre_op_of(v, row);
    const bool fixed = op == VYRE_OP_lane && (VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM) != 0;
    if (fixed ? lanes_scalar(v, v->a[row], v->imm[row]) != 0 : is_put(op) && lanes_whole(v, row) != 0)
      return true;
  }
  return false;
}

typedef struct watch {
  vyre_pass_ctx *ctx;
  const vyre_module *module;
  const vyre_view *v;
  const vyre_edits *edits;
  bool lost; /* there was no memory to look */
} watch;

enum { LOADED = 1, WRITTEN = 2 };

/* The memory that an edited row says something of; 0: none. */
static uint32_t
memory_of(const vyre_view *v, uint32_t row)
{
  const uint32_t op = vyre_op_of(v, row);
  if (op == VYRE_OP_at)
    return vyre_buffer_of(v, row);
  return op == VYRE_OP_load || op == VYRE_OP_store ? vyre_buffer_of(v, v->a[row]) : 0;
}

/* Whether what a load gives may be known otherwise than by an equal load: its memory is written to, or has a known beginning. */
static bool
is_known_memory(const vyre_view *v, uint32_t buffer, uint8_t use)
{
  const vyre_space space = VYRE_BUFFER_SPACE(v->imm_hi[buffer]);
  return use == (LOADED | WRITTEN) || ((use & LOADED) != 0 && (space == VYRE_SPACE_PRIVATE || space == VYRE_SPACE_CONSTANT));
}

/* Whether a load of such memory has no users but edited rows: it may be one that is known, and whose users cprop has taken away,
 * and cse gave it those of a load that turned out to be equal. */
static bool
is_given(watch *w, const uint32_t *alias, const uint8_t *use)
{
  const vyre_view *v = w->v;
  bool *edited = w->ctx->host->alloc(w->ctx, v->rows), *used = w->ctx->host->alloc(w->ctx, v->rows); /* used: by any other row */
  w->lost |= !edited || !used;
  if (w->lost)
    return true;
  for (uint32_t i = w->edits->own; i < w->edits->count; i++)
    edited[w->edits->rows[i]] = true;
  for (uint32_t row = 1; row < v->rows; row++)
    if (!edited[row])
      used[v->a[row]] = used[v->b[row]] = used[v->c[row]] = true;
  for (uint32_t i = w->edits->own; i < w->edits->count; i++) {
    const uint32_t row = w->edits->rows[i], operands[3] = {v->a[row], v->b[row], v->c[row]};
    for (uint32_t k = 0; k < 3; k++)
      if (vyre_op_of(v, operands[k]) == VYRE_OP_load && !used[operands[k]] &&
          is_known_memory(v, memory_of(v, operands[k]), use[alias[memory_of(v, operands[k])] & ~VYRE_ALIAS_SHARED]))
        return true;
  }
  return false;
}

/* Whether such memory is loaded from that paths or accesses were edited of; or at all, where control around it went. */
static bool
is_followed(watch *w)
{
  const vyre_view *v = w->v;
  const vyre_host *host = w->ctx->host;
  uint32_t *alias = host->alloc(w->ctx, v->rows * sizeof(uint32_t));
  uint8_t *use = host->alloc(w->ctx, v->rows); /* by alias class */
  w->lost |= !alias || !use || !host->aliases(w->module, alias);
  if (w->lost)
    return true;
  for (uint32_t row = 1; row < v->rows; row++) {
    const uint32_t op = vyre_op_of(v, row);
    if (op == VYRE_OP_load)
      use[alias[vyre_buffer_of(v, v->a[row])] & ~VYRE_ALIAS_SHARED] |= LOADED;
    else if (op == VYRE_OP_store || vyre_op_is_atomic(op))
      use[alias[vyre_buffer_of(v, v->a[row])] & ~VYRE_ALIAS_SHARED] |= WRITTEN;
    else if (op != VYRE_OP_set && op != VYRE_OP_barrier && (v->op_infos[op].flags & VYRE_OP_WRITES) != 0)
      return true; /* a copy, something opaque */
  }
  for (uint32_t i = 0; i < w->edits->count; i++) {
    const uint32_t buffer = memory_of(v, w->edits->rows[i]);
    if (buffer && is_known_memory(v, buffer, use[alias[buffer] & ~VYRE_ALIAS_SHARED]))
      return true;
  }
  for (uint32_t row = 1; row < v->rows && (w->edits->kinds & VYRE_EDIT_GONE_CONTROL) != 0; row++)
    if (vyre_op_of(v, row) == VYRE_OP_buffer && is_known_memory(v, row, use[alias[row] & ~VYRE_ALIAS_SHARED]))
      return true;
  return (w->edits->kinds & VYRE_EDIT_GONE_READ) != 0 && is_given(w, alias, use);
}

/* Whether an edited row uses what is compared with a literal somewhere: in the region behind that it may be the literal. */
static bool
is_compared(watch *w)
{
  const vyre_view *v = w->v;
  bool *used = w->ctx->host->alloc(w->ctx, v->rows);
  w->lost |= !used;
  if (w->lost)
    return true;
  for (uint32_t i = 0; i < w->edits->count; i++) {
    const uint32_t row = w->edits->rows[i];
    used[v->a[row]] = used[v->b[row]] = used[v->c[row]] = true;
  }
  for (uint32_t row = 1; row < v->rows; row++) {
    const uint32_t op = vyre_op_of(v, row), literal = VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM;
    if (used[v->a[row]] && v->a[row] && (op == VYRE_OP_switch || ((op == VYRE_OP_eq || op == VYRE_OP_ne) && literal)))
      return true;
  }
  return false;
}

/* Whether the jump leaves a trip of the loop, or more. */
static bool
ends_trip(const vyre_view *v, uint32_t jump, uint32_t loop)
{
  const uint32_t op = vyre_op_of(v, jump);
  uint32_t around = v->parent[jump];
  if (op == VYRE_OP_leave)
    return v->a[jump] < loop;
  if (op == VYRE_OP_fallthrough)
    return false;
  while (around && !vyre_row_is_loop(v, around))
    around = v->parent[around];
  return around <= loop;
}

/* Whether control may be sure to pass the row on its way out of the region's constructs that it stands in: only then is what it
 * sets seen behind them alone.  `left`: rows that may be looked at yet; without any, it may be. */
static bool
may_be_sure(const vyre_view *v, uint32_t row, uint32_t region, uint32_t *left)
{
  for (uint32_t at = v->parent[row]; at && at != region; at = v->parent[v->parent[at]]) {
    const uint32_t construct = v->parent[at], op = vyre_op_of(v, construct);
    const uint32_t other = at == v->first[construct] ? v->last[construct] : v->first[construct];
    if (op == VYRE_OP_if && (v->last[other] == 0 || (vyre_op_flags_of(v, v->last[other]) & VYRE_OP_ENDS) == 0))
      return false;
    for (uint32_t jump = construct; op == VYRE_OP_loop && jump < row && *left; jump++, --*left)
      if ((vyre_op_flags_of(v, jump) & VYRE_OP_ENDS) != 0 && ends_trip(v, jump, construct))
        return false;
  }
  return true;
}

static bool
sets_zero(const vyre_view *v, uint32_t set)
{
  return vyre_row_is_const(v, v->b[set]) && vyre_row_imm(v, v->b[set]) == 0;
}

/* Whether the set is of what a get saw of its variable. */
static bool
sets_seen(const vyre_view *v, uint32_t set)
{
  return vyre_op_of(v, v->b[set]) == VYRE_OP_get && v->a[v->b[set]] == v->a[set];
}

/* Whether edits made what a variable is set to what it has elsewhere, too: zero at its start, what another set gives, what a get
 * saw; or what can be seen behind the set's region. */
static bool
is_set_alike(watch *w)
{
  const vyre_view *v = w->v;
  uint32_t left = v->rows;
  uint32_t *set = w->ctx->host->alloc(w->ctx, v->rows * sizeof(uint32_t)); /* by variable: the one that was edited */
  bool *begun = w->ctx->host->alloc(w->ctx, v->rows);                      /* by variable: a set that always runs stands above */
  w->lost |= !set || !begun;
  if (w->lost)
    return true;
  for (uint32_t i = w->edits->own; i < w->edits->count; i++) {
    const uint32_t row = w->edits->rows[i], region = v->parent[v->b[row]];
    if (vyre_op_of(v, row) != VYRE_OP_set || set[v->a[row]] == row)
      continue;
    if (set[v->a[row]] || sets_seen(v, row) || (region != v->parent[row] && may_be_sure(v, row, region, &left)))
      return true;
    set[v->a[row]] = row;
  }
  for (uint32_t row = 1; row < v->rows; row++) {
    const uint32_t var = v->a[row], edited = vyre_op_of(v, row) == VYRE_OP_set ? set[var] : 0;
    if (edited == 0)
      continue;
    begun[var] |= vyre_op_of(v, v->parent[row]) == VYRE_OP_program;
    if (edited == row ? !begun[var] && sets_zero(v, row) : v->b[edited] == v->b[row])
      return true;
  }
  return false;
}

/* Whether a value that moved is seen behind more of the regions in which a variable or memory gets it. */
static bool
is_kept(watch *w)
{
  const vyre_view *v = w->v;
  uint32_t left = v->rows;
  bool *edited = w->ctx->host->alloc(w->ctx, v->rows);
  w->lost |= !edited;
  if (w->lost)
    return true;
  for (uint32_t i = w->edits->own; i < w->edits->count; i++)
    edited[w->edits->rows[i]] = true;
  for (uint32_t row = 1; row < v->rows; row++) {
    const uint32_t op = vyre_op_of(v, row), region = v->parent[v->b[row]];
    if ((op == VYRE_OP_set || op == VYRE_OP_store) && edited[v->b[row]] && region != v->parent[row] &&
        may_be_sure(v, row, region, &left))
      return true;
  }
  return false;
}

static bool
uses_load(const vyre_view *v, uint32_t row)
{
  return vyre_op_of(v, v->a[row]) == VYRE_OP_load || vyre_op_of(v, v->b[row]) == VYRE_OP_load ||
         vyre_op_of(v, v->c[row]) == VYRE_OP_load;
}

/* Whether an edit is in itself reason enough; else what there is to look for goes into `out`. */
typedef struct reasons {
  bool conditions, lanes, memory, sets;
} reasons;

static bool
read_edits(const watch *w, reasons *out)
{
  const vyre_view *v = w->v;
  *out = (reasons){.memory = (w->edits->kinds & VYRE_EDIT_GONE_CONTROL) != 0};
  if ((w->edits->kinds & VYRE_EDIT_GONE_WRITE) != 0 || vyre_edits_made_literal(v, w->edits))
    return true;
  for (uint32_t i = 0; i < w->edits->count; i++) {
    const uint32_t row = w->edits->rows[i], op = vyre_op_of(v, row);
    out->conditions |= is_condition(v, row);
    out->lanes |= is_lanes(op);
    out->memory |= memory_of(v, row) != 0;
    if (is_known_alone(v, row))
      return true;
    if (i < w->edits->own)
      continue;
    if ((w->edits->kinds & VYRE_EDIT_MOVED_VALUE) != 0 && op == VYRE_OP_get) /* from where control never came, perhaps */
      return true;
    if ((w->edits->kinds & VYRE_EDIT_MOVED_EFFECT) != 0 && op == VYRE_OP_set) /* the last one now, where it was one of several */
      return true;
    out->sets |= op == VYRE_OP_set;
    out->memory |= (w->edits->kinds & VYRE_EDIT_GONE_READ) != 0 && uses_load(v, row);
    if (op == VYRE_OP_block || op == VYRE_OP_copy || (op == VYRE_OP_select && v->b[row] == v->c[row]) || is_decided(v, row))
      return true;
  }
  return false;
}

vyre_status
cprop_wakes(vyre_pass_ctx *ctx, const vyre_module *module, const vyre_edits *edits, bool *out)
{
  watch w = {.ctx = ctx, .module = module, .v = ctx->host->view(module), .edits = edits};
  reasons r;
  *out = read_edits(&w, &r) || (r.sets && is_set_alike(&w)) || ((edits->kinds & VYRE_EDIT_MOVED) != 0 && is_kept(&w)) ||
         (r.lanes && is_put_together(w.v)) || (r.memory && is_followed(&w));
  r.conditions |= (edits->kinds & (VYRE_EDIT_GONE_CONTROL | VYRE_EDIT_MOVED_CONTROL)) != 0; /* it guards other rows now */
  if (!*out && (r.conditions || (edits->count && is_compared(&w))))
    VYRE_TRY(known_finds(ctx, module, out));
  return w.lost ? ctx->host->out_of_memory(ctx) : VYRE_OK;
}
