/* Canonical ids: for each row the smallest row of its program that is equal to it, by exact comparison.
 *
 * Two values are equal if their op words, payloads (versions in them) and canonical operands are; where the op commutes, in either
 * order.  Each program's rows go, in program order, into a table of open addressing by their hashes; the first of a class is its
 * smallest.  A hash only says where to look: the result does not depend on it.  cid has a table of its own because all of cid takes
 * 8 ns and 8 bytes a row (bench-passes -only=cid), and an entry of uthash 56 bytes more than its contents.
 *
 * Where many rows have one hash, by accident or malice, only FEW slots of the table are probed; then a digital tree is, whose
 * nodes are rows and whose branch at depth k is bit k of what is compared.  So a row costs at most FEW + 192 comparisons.
 *
 * The rows could also be taken in parallel, as on a GPU: each probes its slots (table, then tree) up to an equal row or an empty
 * slot, and in the next phase the smallest of those at an empty slot takes it; again until none is left, level by level.  Rows of
 * one class probe the same slots, so the smallest of them is first there, too.
 *
 * Expected O(rows), 8 to 16 bytes of scratch for each row of the largest program, and 8 for each of the module if hashes collide
 * often.
 *
 * requires: versions, hashes      provides: classes      changes nothing
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/plugin.h"

enum { WORDS = 6, FEW = 24, AHEAD = 24 };

/* What is compared. */
typedef struct key {
  uint32_t word[WORDS];
} key;

/* A slot holds a row's number in its program and, in the bits that numbers leave, those of its hash, so that most unequal rows
 * need not be compared. */
typedef struct numbering {
  vyre_pass_ctx *ctx;
  const vyre_view *v;
  uint32_t *canonical;
  uint32_t *slots;    /* 0: empty, as all are when a program begins */
  uint32_t mask;      /* slots - 1; also, all the bits that a number takes */
  uint32_t program;   /* its row, of number 0, is in no slot */
  uint32_t *children; /* two a row, of those in the tree; NULL: none was needed yet */
  uint32_t root;
  uint64_t comparisons;
} numbering;

static key
key_of(const numbering *n, uint32_t row)
{
  const vyre_view *v = n->v;
  const uint32_t a = n->canonical[v->a[row]], b = n->canonical[v->b[row]];
  const bool commutes = (vyre_op_flags_of(v, row) & VYRE_OP_COMMUTES) != 0;
  const uint32_t less = a < b ? a : b, left = commutes ? less : a;
  return (key){{v->op[row], v->imm[row], v->imm_hi[row] | v->version[row], left, a ^ b ^ left, n->canonical[v->c[row]]}};
}

static bool
is_equal(numbering *n, uint32_t x, uint32_t y)
{
  const vyre_view *v = n->v;
  const uint32_t *const canonical = n->canonical;
  const uint32_t xa = canonical[v->a[x]], xb = canonical[v->b[x]], ya = canonical[v->a[y]], yb = canonical[v->b[y]];
  const bool straight = ((xa ^ ya) | (xb ^ yb)) == 0, crossed = ((xa ^ yb) | (xb ^ ya)) == 0;
  const uint32_t rest = (v->op[x] ^ v->op[y]) | (v->imm[x] ^ v->imm[y]) | (v->imm_hi[x] ^ v->imm_hi[y]) |
                        (v->version[x] ^ v->version[y]) | (canonical[v->c[x]] ^ canonical[v->c[y]]);
  n->comparisons++;
  return rest == 0 && (straight || (crossed && (vyre_op_flags_of(v, x) & VYRE_OP_COMMUTES) != 0));
}

/* The row's position in the tree: the low bits of each word first, which differ most.  0: no memory. */
static uint32_t
find_in_tree(numbering *n, uint32_t row)
{
  const key k = key_of(n, row);
  uint32_t *place = &n->root;
  if (!n->children)
    n->children = n->ctx->host->alloc(n->ctx, 2 * sizeof(uint32_t) * n->v->rows);
  if (!n->children)
    return 0;
  for (uint32_t depth = 0; *place && depth < 32 * WORDS; depth++) {
    if (is_equal(n, *place, row))
      return *place;
    place = &n->children[2 * *place + (k.word[depth % WORDS] >> depth / WORDS & 1)];
  }
  *place = row; /* two keys that differ part at the bit they differ in */
  return row;
}

/* The smallest row equal to this one, itself where it is the first.  0: no memory. */
static uint32_t
find(numbering *n, uint32_t row)
{
  const uint32_t hash = n->v->hash[row];
  for (uint32_t i = 0; i < FEW; i++) {
    uint32_t *slot = &n->slots[(hash + i) & n->mask];
    if (*slot == 0) {
      *slot = (hash & ~n->mask) | (row - n->program);
      return row;
    }
    if (((*slot ^ hash) & ~n->mask) == 0) {
      const uint32_t other = n->program + (*slot & n->mask);
      if (is_equal(n, other, row))
        return other;
    }
  }
  return find_in_tree(n, row);
}

/* A power of two, so that half the slots stay empty. */
static uint32_t
slots_for(uint32_t rows)
{
  uint32_t slots = 16;
  while (slots < rows + rows / 2)
    slots *= 2;
  return slots;
}

/* Rows from the program's up to end. */
static bool
number_program(numbering *n, uint32_t program, uint32_t end)
{
  const vyre_view *v = n->v;
  const uint32_t slots = slots_for(end - program);
  n->mask = slots - 1;
  n->program = program;
  n->root = 0;
  for (uint32_t row = program; row < end; row++) {
    if (row + AHEAD < end)
      __builtin_prefetch(&n->slots[v->hash[row + AHEAD] & n->mask]);
    n->canonical[row] = vyre_row_is_value(v, row) ? find(n, row) : row;
    if (n->canonical[row] == 0)
      return false;
  }
  if (end < v->rows)
    for (uint32_t i = 0; i < slots; i++)
      n->slots[i] = 0;
  return true;
}

static uint32_t
rows_of(const vyre_view *v, uint32_t program)
{
  return (v->next[program] ? v->next[program] : v->rows) - program;
}

static vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  numbering n = {.ctx = ctx, .v = v};
  uint32_t largest = 0;
  *out = VYRE_UNCHANGED;
  for (uint32_t program = v->first[0]; program; program = v->next[program])
    largest = rows_of(v, program) > largest ? rows_of(v, program) : largest;
  n.canonical = ctx->host->column(ctx, VYRE_CLASSES);
  n.slots = ctx->host->alloc(ctx, sizeof(uint32_t) * slots_for(largest));
  if (!n.canonical || !n.slots)
    return ctx->host->out_of_memory(ctx);
  n.canonical[0] = 0;
  for (uint32_t program = v->first[0]; program; program = v->next[program])
    if (!number_program(&n, program, program + rows_of(v, program)))
      return ctx->host->out_of_memory(ctx);
  ctx->host->count(ctx, "comparisons", n.comparisons);
  return VYRE_OK;
}

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
};
VYRE_PLUGIN("cid", "1.0", &cid)
