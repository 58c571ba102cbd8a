/* Value numbers over what was solved: rows of one op on equal operands (reads: of one version) are equal, and so are the phis
 * behind two `if`s on equal conditions whose arms give equal values, though no row of the one arm is visible in the other.
 *
 * One sweep in program order with a hash table (its own, as a row is a lookup: bench-passes -only=cprop); a phi is numbered when a
 * get first sees it, and then what it is made of stands above. Phis of other joins are equal to themselves alone.
 *
 * Equal phis are rare.  So hashes of all rows and phis come first, which are cheap, and numbers are only given to phis of equal
 * hashes and to what these are made of.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "number.h"

#include <string.h>

enum { DEEPEST = 64, WORDS = 6 };

typedef struct slot {
  uint32_t node;
  uint32_t words[WORDS];
} slot;

typedef struct numbers {
  const solution *s;
  const flow *f;
  const vyre_view *v;
  uint32_t *asked, asked_count; /* phis behind `if`s */
  uint32_t *hash;               /* by node */
  uint32_t *number;             /* by node */
  uint8_t *needed;              /* by node: a phi that may equal another, or what one is made of */
  uint32_t *stack, depth;       /* nodes that are needed; what they are made of is not marked yet */
  slot *slots;
  uint32_t mask; /* of the table at hand */
} numbers;

/* Whether another row may be equal to this one. */
static bool
is_comparable(const numbers *n, uint32_t row)
{
  const vyre_op_info *info = &n->v->op_infos[VYRE_ROW_OP(n->v->op[row])];
  if ((VYRE_ROW_FLAGS(n->v->op[row]) & (VYRE_ROW_DECO | VYRE_ROW_VOLATILE)) != 0)
    return false;
  return vyre_op_has_version(info) ? n->v->version[row] != 0 : (info->flags & VYRE_OP_PURE) != 0;
}

/* The `if` whose arms both come to the phi, which is neither's value; 0: it is another phi.  The edge that was made last comes from
 * the else region, which ends last. */
static uint32_t
joined_by(const numbers *n, uint32_t node, uint32_t *yes, uint32_t *no)
{
  const flow_block *b = FLOW_AT(flow_block, n->f->blocks, flow_phi_of(n->f, node)->block);
  const flow_edge *last = FLOW_AT(flow_edge, n->f->edges, b->in), *first = FLOW_AT(flow_edge, n->f->edges, last->next_in);
  if (b->joins == 0 || n->s->value[node] != node || !first->taken || !last->taken) /* edge 0 is not taken */
    return 0;
  *yes = n->s->value[flow_source(n->f, first, node)];
  *no = n->s->value[flow_source(n->f, last, node)];
  return b->joins;
}

/* ---- hashes -------------------------------------------------------------------------------------------------------------- */

static uint32_t
mixed(uint32_t hash, uint32_t word)
{
  hash = (hash ^ word) * 0x9e3779b1u;
  return hash ^ hash >> 15;
}

/* Of a value that stands above, or a literal: equal ones have equal hashes. */
static uint32_t
hash_of(numbers *n, uint32_t value, uint32_t depth)
{
  uint32_t yes, no;
  if (value >= n->s->literals)
    return mixed(0, value);
  if (value < n->f->rows || n->hash[value])
    return n->hash[value];
  const uint32_t control = depth > DEEPEST ? 0 : joined_by(n, value, &yes, &no);
  uint32_t hash = mixed(0, value);
  if (control)
    hash = mixed(mixed(n->hash[n->v->a[control]], hash_of(n, yes, depth + 1)), hash_of(n, no, depth + 1));
  else if (n->s->value[value] != value)
    hash = hash_of(n, n->s->value[value], depth + 1);
  n->hash[value] = hash;
  return hash;
}

/* Of all rows.  Which operand is which is no matter: ops may commute.  Of rows that equal only themselves op and operands say too
 * little. */
static void
hash_rows(numbers *n)
{
  const vyre_view *v = n->v;
  const uint32_t *values = n->s->value, *of_a = v->a, *of_b = v->b, *of_c = v->c, rows = n->f->rows;
  uint32_t *hash = n->hash;
  for (uint32_t row = 1; row < rows; row++) {
    const uint32_t value = values[row], op = v->op[row];
    const bool is_own = (v->op_infos[VYRE_ROW_OP(op)].flags & VYRE_OP_IDENTITY) != 0;
    const uint32_t word = is_own ? row : v->imm[row] + (v->imm_hi[row] | v->version[row]) * 0x85ebca6bu;
    if (value != row)
      hash[row] = value < rows ? hash[value] : hash_of(n, value, 0);
    else
      hash[row] = mixed(op + word * 0xc2b2ae35u, hash[of_a[row]] + hash[of_b[row]] + hash[of_c[row]]);
  }
}

/* ---- numbers ------------------------------------------------------------------------------------------------------------- */

/* The first node with these words. */
static uint32_t
find(numbers *n, uint32_t node, const uint32_t words[WORDS])
{
  uint32_t hash = 0;
  for (uint32_t i = 0; i < WORDS; i++)
    hash = mixed(hash, words[i]);
  uint32_t at = hash & n->mask;
  for (; n->slots[at].node; at = (at + 1) & n->mask)
    if (memcmp(n->slots[at].words, words, sizeof n->slots[at].words) == 0)
      return n->slots[at].node;
  n->slots[at].node = node;
  memcpy(n->slots[at].words, words, sizeof n->slots[at].words);
  return node;
}

static uint32_t
row_number(numbers *n, uint32_t row)
{
  const vyre_view *v = n->v;
  uint32_t a = n->number[v->a[row]], b = n->number[v->b[row]];
  if (!is_comparable(n, row))
    return row;
  if ((vyre_op_flags_of(v, row) & VYRE_OP_COMMUTES) != 0 && (VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM) == 0 && a > b) {
    const uint32_t swapped = a;
    a = b;
    b = swapped;
  }
  return find(n, row,
              (const uint32_t[WORDS]){v->op[row], v->imm[row], v->imm_hi[row] | v->version[row], a, b, n->number[v->c[row]]});
}

static uint32_t number_of(numbers *n, uint32_t value, uint32_t depth);

static uint32_t
phi_number(numbers *n, uint32_t node, uint32_t depth)
{
  uint32_t yes, no;
  const uint32_t control = joined_by(n, node, &yes, &no);
  if (control == 0 || depth > DEEPEST)
    return node;
  const uint32_t condition = n->number[n->v->a[control]];
  const uint32_t left = number_of(n, yes, depth + 1), right = number_of(n, no, depth + 1);
  return left && right && condition ? find(n, node, (const uint32_t[WORDS]){VYRE_OP_if, 0, 0, condition, left, right}) : node;
}

/* Of a value that stands above, or a literal. */
static uint32_t
number_of(numbers *n, uint32_t value, uint32_t depth)
{
  if (value >= n->s->literals || n->number[value])
    return value >= n->s->literals ? value : n->number[value];
  if (value >= n->f->rows)
    n->number[value] = n->s->value[value] == value ? phi_number(n, value, depth) : number_of(n, n->s->value[value], depth + 1);
  return n->number[value];
}

/* ---- which are needed ---------------------------------------------------------------------------------------------------- */

/* Notes the phis that are the value of one of these rows, each once. */
static void
note_asked(numbers *n, const flow_list *rows)
{
  uint32_t yes, no;
  for (uint32_t i = 0; i < rows->count; i++) {
    const uint32_t value = n->s->value[*FLOW_AT(uint32_t, *rows, i)];
    if (value < n->f->rows || n->needed[value] || !joined_by(n, value, &yes, &no))
      continue;
    n->needed[value] = 1;
    n->asked[n->asked_count++] = value;
  }
  for (uint32_t i = 0; i < n->asked_count; i++)
    n->needed[n->asked[i]] = 0;
}

/* Keeps those of `asked` whose hash another has, as is found in a table of phis.  False: there are none. */
static bool
are_alike(numbers *n, uint32_t *table)
{
  uint32_t count = 0;
  for (uint32_t i = 0; i < n->asked_count; i++) {
    const uint32_t phi = n->asked[i], hash = hash_of(n, phi, 0);
    uint32_t at = hash & n->mask;
    while (table[at] && n->hash[table[at]] != hash)
      at = (at + 1) & n->mask;
    if (table[at])
      n->needed[table[at]] = n->needed[phi] = 1;
    table[at] = phi;
  }
  for (uint32_t i = 0; i < n->asked_count; i++)
    if (n->needed[n->asked[i]])
      n->asked[count++] = n->asked[i];
  n->asked_count = count;
  return count > 0;
}

static void
need(numbers *n, uint32_t node)
{
  if (node == 0 || node >= n->s->literals || n->needed[node])
    return;
  n->needed[node] = 1;
  n->stack[n->depth++] = node;
}

/* Marks all that the phis which are asked for are made of. */
static void
need_all(numbers *n)
{
  uint32_t yes, no;
  for (uint32_t i = 0; i < n->asked_count; i++)
    n->stack[n->depth++] = n->asked[i];
  while (n->depth) {
    const uint32_t node = n->stack[--n->depth];
    const uint32_t control = node < n->f->rows ? 0 : joined_by(n, node, &yes, &no);
    need(n, n->s->value[node]);
    if (control) {
      need(n, n->v->a[control]);
      need(n, yes);
      need(n, no);
    }
    if (node < n->f->rows) {
      need(n, n->v->a[node]);
      need(n, n->v->b[node]);
      need(n, n->v->c[node]);
    }
  }
}

/* A table's size less 1: a power of two, half of it free. */
static uint32_t
mask_for(uint32_t count)
{
  uint32_t slots = 64;
  while (slots < count * 2)
    slots *= 2;
  return slots - 1;
}

static vyre_status
sweep(numbers *n)
{
  const vyre_host *host = n->f->ctx->host;
  uint32_t count = 0;
  for (uint32_t node = 1; node < n->s->literals; node++)
    count += n->needed[node];
  n->mask = mask_for(count);
  n->slots = host->alloc(n->f->ctx, sizeof(slot) * (n->mask + (size_t)1));
  if (!n->slots)
    return host->out_of_memory(n->f->ctx);
  for (uint32_t row = 1; row < n->f->rows; row++) {
    const uint32_t value = n->s->value[row];
    if (!n->needed[row] && (value >= n->s->literals || !n->needed[value]))
      continue;
    if (value)
      n->number[row] = value == row ? row_number(n, row) : number_of(n, value, 0);
    if (n->number[row] == 0) /* not executed, or no value */
      n->number[row] = row;
  }
  return VYRE_OK;
}

vyre_status
number_nodes(const solution *s, const flow_list *rows, const uint32_t **out)
{
  const vyre_host *host = s->f->ctx->host;
  vyre_pass_ctx *ctx = s->f->ctx;
  const size_t bytes = sizeof(uint32_t) * s->literals;
  numbers n = {.s = s, .f = s->f, .v = s->f->v};
  *out = NULL;
  n.needed = host->alloc(ctx, s->literals);
  n.asked = host->alloc(ctx, sizeof(uint32_t) * rows->count);
  if (!n.needed || !n.asked)
    return host->out_of_memory(ctx);
  note_asked(&n, rows);
  if (n.asked_count < 2)
    return VYRE_OK;
  n.mask = mask_for(n.asked_count);
  uint32_t *table = host->alloc(ctx, sizeof(uint32_t) * (n.mask + (size_t)1));
  n.hash = host->alloc(ctx, bytes);
  if (!table || !n.hash)
    return host->out_of_memory(ctx);
  hash_rows(&n);
  if (!are_alike(&n, table))
    return VYRE_OK;
  n.stack = host->alloc(ctx, bytes);
  n.number = host->alloc(ctx, bytes);
  if (!n.number || !n.stack)
    return host->out_of_memory(ctx);
  need_all(&n);
  *out = n.number;
  return sweep(&n);
}
