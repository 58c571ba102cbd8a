/* Canonical operand order, so that equal values have equal rows.
 *
 *   commuting ops:  a literal is the right operand (an immediate where the op accepts one).  Otherwise a built-in (gid and the
 *                   like) is the left operand, ordered by op; of other rows, the one with the smaller id is the left operand
 *   comparisons:    a literal is the right operand, and the comparison is mirrored; between two rows only `<` and `<=` remain
 *   lanes:          read from the vector that defines them, across joins, inserts and shuffles; a shuffle reads from at most
 *                   two such vectors
 *
 * One sweep in program order rewrites rows in place.  No row is added or moved.  O(rows). Limits: a lane is followed through at
 * most 16 rows.  Comparisons with a literal keep their direction (x >= 4 and x > 3 stay two forms).  A vector constant that is
 * not a splat is an ordinary row.
 *
 * Requires: nothing.  Preserves: versions, loops, dominance.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "form.h"

enum { PART = 256 }; /* rows scanned together */

/* Lists the rows from `row` to `end`, in program order, whose operands may be reversed or whose lanes may have another source.
 * Branch-free, because such branches are mispredicted often. */
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
    kept += form_is_reversed(v, at, of) | ((of & FORM_PLACES) != 0);
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
    chances[op] = (uint8_t)form_chances(v, op);
  for (uint32_t first = 1, end; first < v->rows; first = end) {
    end = v->rows - first < PART ? v->rows : first + PART;
    const uint32_t count = list_candidates(v, chances, first, end, rows);
    for (uint32_t i = 0; i < count; i++) {
      const uint32_t row = rows[i], op = VYRE_ROW_OP(v->op[row]);
      if (op == VYRE_OP_lane) {
        shortened += form_shorten_lane(ctx, module, v, row);
      } else if (op == VYRE_OP_shuffle) {
        shortened += form_shorten_shuffle(ctx, module, v, NULL, row);
      } else {
        form_exchange(ctx, module, v, row);
        swapped++;
      }
    }
  }
  ctx->host->count(ctx, "operands exchanged", swapped);
  ctx->host->count(ctx, "lane sources shortened", shortened);
  *out = swapped + shortened ? VYRE_CHANGED : VYRE_UNCHANGED;
  return VYRE_OK;
}

extern const vyre_phases canon_phases;

static const vyre_pass canon = {
    .struct_size = sizeof(vyre_pass),
    .flags = VYRE_PASS_KEEPS_ORDER,
    .name = "canon",
    .long_name = "canonicalize",
    .summary = "put literals right, order operands of commuting ops and comparisons, read lanes from their first vector",
    .help = "add(4, x) becomes add(x, 4) with the 4 as an immediate.  Of two operands of a commuting op the earlier row becomes\n"
            "the left one.  x > y becomes y < x.  A lane of a shuffle becomes a lane of the shuffle's operand.  Equal values then\n"
            "have equal rows, which cid and cse need.",
    .preserves = VYRE_VERSIONS | VYRE_LOOPS | VYRE_DOMINANCE,
    .run = run,
    .phases = &canon_phases,
};
VYRE_PLUGIN("canon", "1.0", &canon)
