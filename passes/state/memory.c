/* The search goes backward from version to version (docs/ir.md, "Versions"), to the first write that can have changed the place.
 * Two places of one buffer are disjoint if a member, a literal index, or an index of one row and two literals (i and i + 1)
 * differs. Two elements of an array of descriptors are never disjoint, because they may be bound to one memory.  Between iterations
 * of a loop only indices from outside of the loop are compared: x[i + 1] of this iteration is x[i] of the next.
 *
 * The search passes a join if no write between its construct's start and the join changes the place.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "memory.h"

enum { MOST_STATES = 64, MOST_STEPS = 16, MOST_HEADS = 8 };

/* ---- paths --------------------------------------------------------------------------------------------------------------- */

typedef struct index {
  uint32_t base; /* the row, 0 for a literal */
  uint32_t plus;
} index;

static bool
are_same(const memory *m, uint32_t x, uint32_t y)
{
  return x == y || (m->klass && m->klass[x] == m->klass[y]);
}

static index
index_of(const memory *m, uint32_t at)
{
  const vyre_view *v = m->v;
  const uint32_t row = v->b[at];
  if (VYRE_ROW_FLAGS(v->op[at]) & VYRE_ROW_IMM)
    return (index){0, v->imm[at]};
  if (vyre_row_is_const(v, row)) /* equal to an index by a literal: the answer must not depend on the form */
    return (index){0, v->imm[row]};
  if (VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM && vyre_kind_bits(VYRE_TYPE_KIND(VYRE_ROW_TYPE(v->op[row]))) == 32) {
    if (VYRE_ROW_OP(v->op[row]) == VYRE_OP_add)
      return (index){v->a[row], v->imm[row]};
    if (VYRE_ROW_OP(v->op[row]) == VYRE_OP_sub)
      return (index){v->a[row], 0u - v->imm[row]};
  }
  return (index){row, 0};
}

/* Lists the steps of a path, the last one first.  Returns their number, or 0 if there are too many. */
static uint32_t
steps_of(const memory *m, uint32_t path, uint32_t steps[MOST_STEPS])
{
  uint32_t count = 0;
  for (; vyre_op_of(m->v, path) == VYRE_OP_at; path = m->v->a[path]) {
    if (count == MOST_STEPS - 1)
      return 0;
    steps[count++] = path;
  }
  steps[count++] = path;
  return count;
}

/* Compares two paths.  A row from `varies` on may have different values in them. */
static memory_relation
compare(const memory *m, uint32_t p, uint32_t q, uint32_t varies)
{
  uint32_t left[MOST_STEPS], right[MOST_STEPS];
  const uint32_t l = steps_of(m, p, left), r = steps_of(m, q, right);
  if (l == 0 || r == 0 || left[l - 1] != right[r - 1])
    return MEMORY_OVERLAP;
  for (uint32_t i = 2; i <= l && i <= r; i++) {
    const index x = index_of(m, left[l - i]), y = index_of(m, right[r - i]);
    if (!are_same(m, x.base, y.base) || x.base >= varies)
      return MEMORY_OVERLAP;
    if (x.plus != y.plus) /* two descriptors may be any memory, so equal offsets in both may be different places */
      return i - 2 < m->ctx->host->descriptor_steps(m->module, left[l - 1]) ? MEMORY_OVERLAP : MEMORY_DISJOINT;
  }
  return l == r ? MEMORY_SAME : MEMORY_OVERLAP;
}

memory_relation
memory_compare(const memory *m, uint32_t p, uint32_t q)
{
  return are_same(m, p, q) ? MEMORY_SAME : compare(m, p, q, UINT32_MAX);
}

memory_relation
memory_compare_iterations(const memory *m, uint32_t p, uint32_t q, uint32_t loop)
{
  return compare(m, p, q, loop);
}

/* ---- writes -------------------------------------------------------------------------------------------------------------- */

bool
memory_is_plain(const memory *m, uint32_t row, uint32_t path)
{
  const uint32_t buffer = vyre_buffer_of(m->v, path);
  return (VYRE_ROW_FLAGS(m->v->op[row]) & (VYRE_ROW_VOLATILE | VYRE_ROW_COHERENT)) == 0 &&
         (m->alias[buffer] & VYRE_ALIAS_SHARED) == 0 && VYRE_BUFFER_SPACE(m->v->imm_hi[buffer]) != VYRE_SPACE_HANDLE;
}

bool
memory_writes_path_only(const memory *m, uint32_t write)
{
  const uint32_t op = vyre_op_of(m->v, write);
  const bool is_unordered = vyre_op_is_atomic(op) && (VYRE_ORDER_SEMANTICS(m->v->imm[write]) & 0x1eu) == 0;
  return op == VYRE_OP_store || op == VYRE_OP_copy || is_unordered;
}

/* Returns the effect of a write of the place's alias class on the place: SAME for a plain store of it, DISJOINT for no effect.  A
 * row from `varies` on may have another value than at the computation of the path. */
static memory_relation
relation(const memory *m, uint32_t write, uint32_t path, uint32_t varies)
{
  const vyre_view *v = m->v;
  if (!memory_writes_path_only(m, write))
    return MEMORY_OVERLAP;
  const memory_relation places =
      varies == UINT32_MAX ? memory_compare(m, v->a[write], path) : compare(m, v->a[write], path, varies);
  return places == MEMORY_SAME && (vyre_op_of(v, write) != VYRE_OP_store || !memory_is_plain(m, write, v->a[write]))
             ? MEMORY_OVERLAP
             : places;
}

/* ---- the search ---------------------------------------------------------------------------------------------------------- */

typedef struct search {
  const memory *m;
  uint32_t path;
  uint32_t left;              /* versions that the search may still visit */
  uint32_t outside;           /* the construct before which the search ends */
  uint32_t reached;           /* the version there */
  uint32_t heads[MOST_HEADS]; /* joins of loop headers that are being searched */
  uint32_t depth;
} search;

static bool leaves_alone(search *s, uint32_t version, uint32_t varies);

/* Returns whether the location is unchanged in all parts of the join (versions).  For a join at a loop's header, the location must
 * be unchanged in all iterations.  `varies` is that of `relation`. */
static bool
join_leaves_alone(search *s, uint32_t version, uint32_t varies)
{
  const vyre_view *v = s->m->v;
  const vyre_join *join = vyre_join_of(v, version);
  const bool is_region = (vyre_op_flags_of(v, join->row) & VYRE_OP_REGION) != 0;
  const uint32_t loop = is_region && vyre_row_is_loop(v, v->parent[join->row]) ? v->parent[join->row] : 0;
  for (uint32_t i = 0; i < s->depth; i++)
    if (s->heads[i] == version)
      return true;
  if (is_region && s->depth == MOST_HEADS)
    return false;
  if (is_region)
    s->heads[s->depth++] = version;
  bool alone = true;
  for (uint32_t i = 0; i < join->count && alone; i++)
    alone = leaves_alone(s, v->parts[join->first + i].version, loop && loop < varies ? loop : varies);
  s->depth -= is_region;
  return alone;
}

/* Returns whether no write between the start of the construct `outside` and the version changes the place. */
static bool
leaves_alone(search *s, uint32_t version, uint32_t varies)
{
  const vyre_view *v = s->m->v;
  while (version && s->left-- > 0) {
    const uint32_t row = vyre_version_row(v, version);
    if (row < s->outside) {
      s->reached = version;
      return true;
    }
    if ((version & VYRE_JOIN) != 0)
      return join_leaves_alone(s, version, varies);
    if (relation(s->m, row, s->path, varies) != MEMORY_DISJOINT)
      return false;
    version = v->version[row];
  }
  s->left = 0;
  return false;
}

/* Returns whether the summary of the join's construct shows that the construct does not write the place. */
static bool
can_pass(const memory *m, uint32_t join, uint32_t path)
{
  const memory_construct *construct = &m->constructs[join & ~VYRE_JOIN];
  uint32_t buffer;
  const uint32_t steps = memory_first_step(m, path, &buffer);
  return construct->before != 0 && construct->buffer == buffer && (construct->steps & steps) == 0;
}

memory_state
memory_at(const memory *m, uint32_t version, uint32_t path)
{
  const vyre_view *v = m->v;
  search s = {.m = m, .path = path, .left = MOST_STATES};
  while (version && s.left > 0) {
    const uint32_t row = vyre_version_row(v, version);
    if ((version & VYRE_JOIN) != 0) {
      if (m->constructs) {
        if (!can_pass(m, version, path))
          return (memory_state){version, 0};
        version = m->constructs[version & ~VYRE_JOIN].before;
        s.left--;
        continue;
      }
      s.outside = (vyre_op_flags_of(v, row) & VYRE_OP_REGION) != 0 ? v->parent[row] : row;
      s.depth = s.reached = 0; /* an unreachable join has no parts */
      if (!leaves_alone(&s, version, UINT32_MAX) || s.reached == 0)
        return (memory_state){s.left ? version : 0, 0};
      version = s.reached;
      continue;
    }
    if (vyre_op_of(v, row) == VYRE_OP_buffer)
      return (memory_state){vyre_buffer_of(v, path), 0};
    const memory_relation r = relation(m, row, path, UINT32_MAX);
    if (r != MEMORY_DISJOINT)
      return (memory_state){version, r == MEMORY_SAME ? v->b[row] : 0};
    version = v->version[row];
    s.left--;
  }
  return (memory_state){0, 0};
}

vyre_status
memory_make(memory *m, vyre_pass_ctx *ctx, vyre_module *module)
{
  const vyre_view *v = ctx->host->view(module);
  *m = (memory){.ctx = ctx, .module = module, .v = v};
  m->alias = ctx->host->alloc(ctx, sizeof(uint32_t) * v->rows);
  return m->alias && ctx->host->aliases(module, m->alias) ? VYRE_OK : ctx->host->out_of_memory(ctx);
}

/* ---- loads --------------------------------------------------------------------------------------------------------------- */

bool
memory_can_follow(const memory *m, uint32_t load)
{
  const vyre_view *v = m->v;
  return (VYRE_ROW_FLAGS(v->op[load]) & VYRE_ROW_DECO) == 0 && memory_is_plain(m, load, v->a[load]) &&
         vyre_kind_is_scalar(VYRE_TYPE_KIND(VYRE_ROW_TYPE(v->op[load]))) && v->version[load] != 0;
}

bool
memory_is_there(const memory *m, uint32_t program, uint32_t path)
{
  return (m->v->imm[program] & VYRE_PROGRAM_RELAXED) != 0 || m->ctx->host->in_bounds(m->module, path);
}

memory_load
memory_loaded(const memory *m, uint32_t row, uint32_t program, const memory_state *state)
{
  memory_load load = {0, false, 0};
  if (state->value && memory_is_there(m, program, m->v->a[row]))
    load.row = state->value;
  else if (state->since && (state->since & VYRE_JOIN) == 0 && vyre_op_of(m->v, state->since) == VYRE_OP_buffer)
    load.is_literal = m->ctx->host->initial(m->module, m->v->a[row], &load.bits);
  return load;
}
