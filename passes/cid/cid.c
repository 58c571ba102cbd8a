/* Canonical ids: for each row the smallest equal row of its program, by exact comparison.
 *
 * Two values are equal if their op words, payloads (versions included) and canonical operands are equal.  Operands of commuting
 * ops compare in either order.  The rows of a program are added, in program order, to an open-addressing table by hash, so the
 * first row of a class is its smallest (first.h).
 *
 * Expected O(rows).  Scratch memory: 8 to 16 bytes for each row of the largest program, and 8 for each row of the module if
 * hashes collide often.
 *
 * Requires: versions, hashes.  Provides: classes.  Changes nothing.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "first.h"

enum { AHEAD = 24 };

/* A row's node in the table is its number in its program.  Number 0, the program's own row, is not a value. */
typedef struct classifier {
  const vyre_view *v;
  uint32_t *canonical;
  uint32_t program;
  first_table table;
  uint64_t comparisons;
} classifier;

static first_key
key_of(void *user, uint32_t node)
{
  const classifier *n = user;
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
  classifier *n = user;
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

/* Assigns classes to the rows from the program's own row to `end`.  Returns false if memory runs out. */
static bool
classify_program(classifier *n, uint32_t program, uint32_t end)
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
  classifier n = {.v = v};
  uint32_t largest = 0;
  *out = VYRE_UNCHANGED;
  for (uint32_t program = v->first[0]; program; program = v->next[program])
    largest = rows_of(v, program) > largest ? rows_of(v, program) : largest;
  n.canonical = ctx->host->column(ctx, VYRE_CLASSES);
  if (!n.canonical || !first_make(&n.table, ctx, largest))
    return ctx->host->out_of_memory(ctx);
  n.canonical[0] = 0;
  for (uint32_t program = v->first[0]; program; program = v->next[program])
    if (!classify_program(&n, program, program + rows_of(v, program)))
      return ctx->host->out_of_memory(ctx);
  ctx->host->count(ctx, "comparisons", n.comparisons);
  return VYRE_OK;
}

extern const vyre_phases cid_phases;

static const vyre_pass cid = {
    .struct_size = sizeof(vyre_pass),
    .name = "cid",
    .long_name = "canonical-id",
    .summary = "find for each row the smallest equal row of its program, by exact comparison",
    .help = "Rows are equal if their op, type, flags, literals and versions are the same and their operands are equal.\n"
            "A row with decorations, or a volatile access, equals only itself.  cse merges equal rows.",
    .requires_ = VYRE_VERSIONS | VYRE_HASHES,
    .preserves = VYRE_ANALYSES | VYRE_COLUMNS,
    .provides = VYRE_CLASSES,
    .run = run,
    .phases = &cid_phases,
};
VYRE_PLUGIN("cid", "1.0", &cid)
