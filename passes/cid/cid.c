/* Canonical ids: for each row the smallest row of its program that is equal to it, by exact comparison.
 *
 * Two values are equal if their op words, payloads (versions in them) and canonical operands are; where the op commutes, in either
 * order.  Each program's rows go, in program order, into a table of open addressing by their hashes; the first of a class is its
 * smallest (first.h).
 *
 * Expected O(rows), 8 to 16 bytes of scratch for each row of the largest program, and 8 for each of the module if hashes collide
 * often.
 *
 * requires: versions, hashes      provides: classes      changes nothing
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "first.h"

enum { AHEAD = 24 };

/* A row's node is its number in its program, whose own row, 0, is no value. */
typedef struct numbering {
  const vyre_view *v;
  uint32_t *canonical;
  uint32_t program;
  first_table table;
  uint64_t comparisons;
} numbering;

static first_key
key_of(void *user, uint32_t node)
{
  const numbering *n = user;
  const vyre_view *v = n->v;
  const uint32_t row = n->program + node;
  const uint32_t a = n->canonical[v->a[row]], b = n->canonical[v->b[row]];
  const bool commutes = (vyre_op_flags_of(v, row) & VYRE_OP_COMMUTES) != 0;
  const uint32_t less = a < b ? a : b, left = commutes ? less : a;
  return (first_key){{v->op[row], v->imm[row], v->imm_hi[row] | v->version[row], left, a ^ b ^ left, n->canonical[v->c[row]]}};
}

static bool
is_equal(void *user, uint32_t first, uint32_t second)
{
  numbering *n = user;
  const vyre_view *v = n->v;
  const uint32_t x = n->program + first, y = n->program + second;
  const uint32_t *const canonical = n->canonical;
  const uint32_t xa = canonical[v->a[x]], xb = canonical[v->b[x]], ya = canonical[v->a[y]], yb = canonical[v->b[y]];
  const bool straight = ((xa ^ ya) | (xb ^ yb)) == 0, crossed = ((xa ^ yb) | (xb ^ ya)) == 0;
  const uint32_t rest = (v->op[x] ^ v->op[y]) | (v->imm[x] ^ v->imm[y]) | (v->imm_hi[x] ^ v->imm_hi[y]) |
                        (v->version[x] ^ v->version[y]) | (canonical[v->c[x]] ^ canonical[v->c[y]]);
  n->comparisons++;
  return rest == 0 && (straight || (crossed && (vyre_op_flags_of(v, x) & VYRE_OP_COMMUTES) != 0));
}

/* Rows from the program's up to end. */
static bool
number_program(numbering *n, uint32_t program, uint32_t end)
{
  const vyre_view *v = n->v;
  first_begin(&n->table, end - program);
  n->program = program;
  for (uint32_t row = program; row < end; row++) {
    if (row + AHEAD < end)
      __builtin_prefetch(&n->table.slots[v->hash[row + AHEAD] & n->table.mask]);
    n->canonical[row] = row;
    if (!vyre_row_is_value(v, row))
      continue;
    const uint32_t first = first_find(&n->table, row - program, v->hash[row], is_equal, key_of, n);
    if (first == 0)
      return false;
    n->canonical[row] = program + first;
  }
  return true;
}

static uint32_t
rows_of(const vyre_view *v, uint32_t program)
{
  return vyre_program_end(v, program) - program;
}

static vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  numbering n = {.v = v};
  uint32_t largest = 0;
  *out = VYRE_UNCHANGED;
  for (uint32_t program = v->first[0]; program; program = v->next[program])
    largest = rows_of(v, program) > largest ? rows_of(v, program) : largest;
  n.canonical = ctx->host->column(ctx, VYRE_CLASSES);
  if (!n.canonical || !first_make(&n.table, ctx, largest))
    return ctx->host->out_of_memory(ctx);
  n.canonical[0] = 0;
  for (uint32_t program = v->first[0]; program; program = v->next[program])
    if (!number_program(&n, program, program + rows_of(v, program)))
      return ctx->host->out_of_memory(ctx);
  ctx->host->count(ctx, "comparisons", n.comparisons);
  return VYRE_OK;
}

extern const vyre_phases cid_phases;

static const vyre_pass cid = {
    .struct_size = sizeof(vyre_pass),
    .name = "cid",
    .long_name = "canonical-id",
    .summary = "the canonical column: the smallest equal row of the program, by exact comparison",
    .help = "Rows are equal if their op, type, flags, literals and versions are the same and their operands are equal.  cse merges "
            "such\n"
            "rows; a row with decorations and a volatile access are equal to themselves alone.",
    .requires_ = VYRE_VERSIONS | VYRE_HASHES,
    .preserves = VYRE_ANALYSES | VYRE_COLUMNS,
    .provides = VYRE_CLASSES,
    .run = run,
    .phases = &cid_phases,
};
VYRE_PLUGIN("cid", "1.0", &cid)
