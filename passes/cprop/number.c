/* Value numbers over what was solved: rows of one op on equal operands (reads: of one version) are equal, and so are the phis
 * behind two `if`s on equal conditions whose arms give equal values, though no row of the one arm is visible in the other.
 *
 * One sweep in program order with a hash table; a phi is numbered when a get first sees it, and then what it is made of stands
 * above. Phis of other joins are equal to themselves alone.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "number.h"

#include <string.h>

enum { DEEPEST = 64, WORDS = 6, KINDS = 256 };

typedef struct slot {
  uint32_t node;
  uint32_t words[WORDS];
} slot;

typedef struct numbers {
  const solution *s;
  const flow *f;
  const vyre_view *v;
  uint32_t *number;
  uint8_t *needed; /* by node: a phi that may equal another, or what one is made of */
  uint32_t *stack;
  slot *slots;
  uint32_t mask;
} numbers;

/* The first node with these words. */
static uint32_t
find(numbers *n, uint32_t node, const uint32_t words[WORDS])
{
  uint32_t hash = 0;
  for (uint32_t i = 0; i < WORDS; i++)
    hash = (hash ^ words[i]) * 0x9e3779b1u, hash ^= hash >> 15;
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
  const uint32_t flags = VYRE_ROW_FLAGS(v->op[row]);
  const vyre_op_info *info = &v->op_infos[VYRE_ROW_OP(v->op[row])];
  uint32_t a = n->number[v->a[row]], b = n->number[v->b[row]];
  if ((flags & (VYRE_ROW_DECO | VYRE_ROW_VOLATILE)) != 0 || ((info->flags & VYRE_OP_PURE) == 0 && !vyre_op_has_version(info)))
    return row;
  if (vyre_op_has_version(info) && v->imm_hi[row] == 0)
    return row;
  if ((info->flags & VYRE_OP_COMMUTES) != 0 && (flags & VYRE_ROW_IMM) == 0 && a > b) {
    const uint32_t swapped = a;
    a = b;
    b = swapped;
  }
  return find(n, row, (const uint32_t[WORDS]){v->op[row], v->imm[row], v->imm_hi[row], a, b, n->number[v->c[row]]});
}

static uint32_t number_of(numbers *n, uint32_t value, uint32_t depth);

/* The `if` whose arms both come to the phi, which is neither's value; 0: it is another phi.  Its first source is the else region's,
 * which ends last: flow.c puts a new source in front. */
static uint32_t
joined_by(const numbers *n, uint32_t node, const flow_source **yes, const flow_source **no)
{
  const flow_phi *phi = flow_phi_of(n->f, node);
  *no = FLOW_AT(flow_source, n->f->sources, phi->source);
  *yes = FLOW_AT(flow_source, n->f->sources, (*no)->next);
  if (n->s->value[node] != node || phi->source == 0 || (*no)->next == 0 || !FLOW_AT(flow_edge, n->f->edges, (*no)->edge)->taken ||
      !FLOW_AT(flow_edge, n->f->edges, (*yes)->edge)->taken)
    return 0;
  return FLOW_AT(flow_block, n->f->blocks, phi->block)->joins;
}

static uint32_t
phi_number(numbers *n, uint32_t node, uint32_t depth)
{
  const flow_source *yes, *no;
  const uint32_t control = joined_by(n, node, &yes, &no);
  if (control == 0 || depth > DEEPEST)
    return node;
  const uint32_t condition = n->number[n->v->a[control]];
  const uint32_t left = number_of(n, n->s->value[yes->node], depth + 1), right = number_of(n, n->s->value[no->node], depth + 1);
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

static void
need(numbers *n, uint32_t *depth, uint32_t node)
{
  if (node == 0 || node >= n->s->literals || n->needed[node])
    return;
  n->needed[node] = 1;
  n->stack[(*depth)++] = node;
}

/* Phis that are equal are of one kind: the type, and what the condition is.  Those whose kind no other has are not numbered, which
 * saves most of the work; two kinds of one number cost some of it, and nothing else. */
static uint32_t
kind_of(const numbers *n, uint32_t phi, uint32_t control)
{
  const uint32_t condition = n->s->value[n->v->a[control]];
  const bool is_row = condition < n->f->rows;
  const uint32_t op = is_row                       ? n->v->op[condition]
                      : condition < n->s->literals ? 0
                                                   : condition,
                 imm = is_row ? n->v->imm[condition] : 0;
  return ((op ^ imm * 0x85ebca6bu) * 0x9e3779b1u ^ VYRE_ROW_TYPE(n->v->op[flow_phi_of(n->f, phi)->var]) * 0x45d9f3bu) >> 16 &
         (KINDS - 1);
}

/* Marks the phis that may equal others and all that they are made of; counts these phis. */
static uint32_t
mark_needed(numbers *n)
{
  const flow_source *yes, *no;
  uint32_t depth = 0, candidates = 0, count[KINDS] = {0};
  for (uint32_t phi = n->f->rows + 1; phi < n->s->literals; phi++) {
    const uint32_t control = joined_by(n, phi, &yes, &no);
    if (control)
      count[kind_of(n, phi, control)]++;
  }
  for (uint32_t phi = n->f->rows + 1; phi < n->s->literals; phi++) {
    const uint32_t control = joined_by(n, phi, &yes, &no);
    if (control && count[kind_of(n, phi, control)] > 1) {
      candidates++;
      need(n, &depth, phi);
    }
  }
  while (depth) {
    const uint32_t node = n->stack[--depth];
    const uint32_t control = node < n->f->rows ? 0 : joined_by(n, node, &yes, &no);
    need(n, &depth, n->s->value[node]);
    if (control) {
      need(n, &depth, n->v->a[control]);
      need(n, &depth, yes->node);
      need(n, &depth, no->node);
    }
    for (uint32_t i = 0; node < n->f->rows && i < 3; i++)
      need(n, &depth, i == 0 ? n->v->a[node] : i == 1 ? n->v->b[node] : n->v->c[node]);
  }
  return candidates;
}

static vyre_status
sweep(numbers *n)
{
  const vyre_host *host = n->f->ctx->host;
  uint32_t slots = 64, count = 0;
  for (uint32_t node = 1; node < n->s->literals; node++)
    count += n->needed[node];
  while (slots < count * 2)
    slots *= 2;
  n->mask = slots - 1;
  n->slots = host->alloc(n->f->ctx, sizeof(slot) * slots);
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
number_nodes(const solution *s, uint32_t **out)
{
  const vyre_host *host = s->f->ctx->host;
  numbers n = {.s = s, .f = s->f, .v = s->f->v};
  n.number = host->alloc(s->f->ctx, sizeof(uint32_t) * s->literals);
  n.needed = host->alloc(s->f->ctx, s->literals);
  n.stack = host->alloc(s->f->ctx, sizeof(uint32_t) * s->literals);
  if (!n.number || !n.needed || !n.stack)
    return host->out_of_memory(s->f->ctx);
  *out = n.number;
  return mark_needed(&n) > 1 ? sweep(&n) : VYRE_OK;
}
