/* Canonical operand order, so that equal values look equal.
 *
 *   commuting ops:  a literal goes right (and becomes an immediate where the op takes one); else what an invocation is (gid and its
 *                   like) goes left, by its op, and of others the smaller row
 *   comparisons:    a literal goes right, the comparison mirrored; between two rows only `<` and `<=` are left
 *   lanes:          of the vector that they were made in, past joins, inserts and shuffles in between; a shuffle of at most
 *                   two such
 *
 * One sweep in program order; a row is rewritten in place, none is made or moved.  O(rows).
 * Limits: a lane is followed through 16 rows; comparisons with a literal keep their direction (x >= 4 and x > 3 stay two forms);
 * constants of several lanes that are no splat are rows like others.
 *
 * requires: nothing      preserves: versions, loops, dominance
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../state/lanes.h"

/* What may be done about rows of an op, in bits. */
enum {
  COMMUTES = 1,
  MIRRORS = 2,
  BACKWARD = 4, /* mirrors, and the other way is canonical */
  PLACES = 8    /* takes lanes, or gives them other places */
};

/* Of a comparison and its mirror the one that says less is canonical. */
static uint32_t
chances_of(const vyre_view *v, uint32_t op)
{
  const vyre_op_info *info = &v->op_infos[op];
  if (op == VYRE_OP_lane || op == VYRE_OP_shuffle)
    return PLACES;
  if (info->flags & VYRE_OP_COMMUTES)
    return COMMUTES;
  if (info->mirrored == 0)
    return 0;
  return info->compares & VYRE_COMPARES_GREATER ? MIRRORS | BACKWARD : MIRRORS;
}

/* Of two operands the one of lower rank goes left.  What an invocation is has no place of its own, in text it stands where it is
 * used: its rank is its op.  All others are by their places. */
static uint32_t
rank_of(const vyre_view *v, uint32_t row)
{
  const uint32_t op = VYRE_ROW_OP(v->op[row]);
  return vyre_op_is_invocation(op) ? op : VYRE_OP__ROOM + row;
}

/* Whether the row's operands are to change places.  Bits, no branches: which way they stand cannot be predicted. */
static bool
is_reversed(const vyre_view *v, uint32_t row, uint32_t chances)
{
  const uint32_t a = v->a[row], b = v->b[row];
  const bool commutes = (chances & COMMUTES) != 0, backward = (chances & BACKWARD) != 0, has_mirror = (chances & MIRRORS) != 0;
  const bool has_imm = (VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM) != 0;
  const bool a_is_const = vyre_row_is_const(v, a), b_is_const = vyre_row_is_const(v, b), later = rank_of(v, a) > rank_of(v, b);
  const bool wrong = (commutes & later) | backward | a_is_const;
  return (commutes | has_mirror) & wrong & !has_imm & !b_is_const;
}

static void
exchange(vyre_pass_ctx *ctx, vyre_module *module, const vyre_view *v, uint32_t row)
{
  const uint32_t op = VYRE_ROW_OP(v->op[row]), mirrored = v->op_infos[op].mirrored, after = mirrored ? mirrored : op;
  const uint32_t word = VYRE_ROW(after, VYRE_ROW_TYPE(v->op[row]), VYRE_ROW_FLAGS(v->op[row]));
  ctx->host->rewrite(module, row, word, v->imm[row], v->imm_hi[row], v->b[row], v->a[row], v->c[row]);
}

static bool
shorten_lane(vyre_pass_ctx *ctx, vyre_module *module, const vyre_view *v, uint32_t row)
{
  uint32_t k = v->imm[row];
  if ((VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM) == 0 || vyre_row_imm(v, row) >= lanes_of(v, v->a[row]))
    return false;
  const uint32_t source = lanes_source(v, v->a[row], &k);
  if (source == v->a[row] || lanes_of(v, source) == 1) /* a scalar's uses are cprop's */
    return false;
  ctx->host->rewrite(module, row, v->op[row], k, 0, source, 0, 0);
  return true;
}

static bool
shorten_shuffle(vyre_pass_ctx *ctx, vyre_module *module, const vyre_view *v, uint32_t row)
{
  const uint32_t operands[2] = {v->a[row], v->b[row]};
  uint32_t sources[2] = {0, 0}, lanes = 0;
  for (uint32_t i = 0; i < lanes_of(v, row); i++) {
    const uint32_t at = VYRE_SHUFFLE_LANE(v->imm[row], i);
    uint32_t k = at & 3u;
    const uint32_t source = lanes_source(v, operands[at >> 2], &k), which = sources[0] == 0 || sources[0] == source ? 0 : 1;
    if (lanes_of(v, source) == 1 || (sources[which] != 0 && sources[which] != source))
      return false;
    sources[which] = source;
    lanes |= (which << 2 | k) << 4 * i;
  }
  if (sources[0] == operands[0] && sources[1] == operands[1])
    return false;
  ctx->host->rewrite(module, row, v->op[row], lanes, v->imm_hi[row], sources[0], sources[1], 0);
  return true;
}

enum { PART = 256 }; /* rows that are looked at together */

/* Lists the rows from there to `end` whose operands are reversed or whose lanes may be taken elsewhere, in program order.  No
 * branches here either. */
static uint32_t
list_candidates(const vyre_view *v, const uint8_t *chances, uint32_t row, uint32_t end, uint32_t *out)
{
  const uint32_t *ops = v->op;
  uint32_t count = 0, kept = 0;
  for (; row < end; row++) {
    out[count] = row;
    count += chances[VYRE_ROW_OP(ops[row])] != 0;
  }
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t at = out[i], of = chances[VYRE_ROW_OP(ops[at])];
    out[kept] = at;
    kept += is_reversed(v, at, of) | ((of & PLACES) != 0);
  }
  return kept;
}

static vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  uint64_t swapped = 0, shortened = 0;
  uint32_t rows[PART];
  uint8_t chances[VYRE_OP__ROOM];
  for (uint32_t op = 0; op < v->op_count; op++)
    chances[op] = (uint8_t)chances_of(v, op);
  for (uint32_t first = 1, end; first < v->rows; first = end) {
    end = v->rows - first < PART ? v->rows : first + PART;
    const uint32_t count = list_candidates(v, chances, first, end, rows);
    for (uint32_t i = 0; i < count; i++) {
      const uint32_t row = rows[i], op = VYRE_ROW_OP(v->op[row]);
      if (op == VYRE_OP_lane) {
        shortened += shorten_lane(ctx, module, v, row);
      } else if (op == VYRE_OP_shuffle) {
        shortened += shorten_shuffle(ctx, module, v, row);
      } else {
        exchange(ctx, module, v, row);
        swapped++;
      }
    }
  }
  ctx->host->count(ctx, "operands exchanged", swapped);
  ctx->host->count(ctx, "lanes taken nearer to where they are made", shortened);
  *out = swapped + shortened ? VYRE_CHANGED : VYRE_UNCHANGED;
  return VYRE_OK;
}

static const vyre_pass canon = {
    .struct_size = sizeof(vyre_pass),
    .name = "canon",
    .long_name = "canonicalize",
    .summary = "literals right, operands of commuting ops in one order, comparisons one way, lanes from where they are made",
    .help = "add(4, x) becomes add(x, 4) with the 4 as an immediate; of two rows the earlier one goes left where the op commutes;\n"
            "x > y becomes y < x.  A lane of a shuffle is one of what is shuffled.  So equal values look equal.",
    .preserves = VYRE_VERSIONS | VYRE_LOOPS | VYRE_DOMINANCE,
    .run = run,
};
VYRE_PLUGIN("canon", "1.0", &canon)
