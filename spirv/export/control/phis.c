/* Vars as SSA values.  By the state graph (docs/ir.md, "Versions"), the value of a get is that of its version: the value of a
 * `set`, or the phi of a join.
 *
 * A join is at the start of a construct's merge block, a loop's header, a continue target or a case's first block.  Its parts are
 * the values of the edges to that block.  SPIR-V differs in three ways:
 *
 *  - A leave that crosses constructs goes through their merge blocks (control.c).  In each, the joins after its target merge the
 * values of such leaves, and an undefined value for all other edges.  The edge that continues outwards has the merged values.
 *  - The edges of a construct with a tail (tails.c) lead to the end of the enclosing construct.
 *  - A `for` increments its index in a block of its own, where the values of its iterations merge before the header.
 *
 * A header's join that has the same value in each iteration needs no phi, nor does any join whose edges bring one value.
 *
 * Cost: joins times the edges to their blocks.  If that would be far more than the rows, vars become variables (demote.c).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/export/control/control.h"
#include "spirv/export/debug/debug.h"

#include "vyre/view.h"

#include <string.h>

static uint32_t
type_of(vyre_spv *s, uint32_t var)
{
  return vyre_spv_type_of_row(s, var);
}

static uint32_t
undefined_of(vyre_spv *s, uint32_t var)
{
  const uint32_t type = type_of(s, var);
  return vyre_spv_intern(s, SpvOpUndef, true, &type, 1, NULL, 0, NULL);
}

/* The ids of initial values until they are used: the zero of a var, and the arbitrary value of an unset var. */
enum { ZERO = 0 };
#define UNSET (UINT32_MAX - 1)

/* Returns the id to use in the phi of a var.  An OpUndef may have another value at each use, so only phis use it. */
static uint32_t
phi_operand(vyre_spv *s, uint32_t var, uint32_t id)
{
  if (id == UNSET || (id == ZERO && VYRE_TYPE_KIND(vyre_spv_row_type(s, var)) == VYRE_OPAQUE))
    return undefined_of(s, var);
  return id == ZERO ? vyre_spv_null(s, type_of(s, var)) : id;
}

/* Returns the id to use elsewhere.  The arbitrary value of an unset var is chosen to be zero. */
static uint32_t
operand(vyre_spv *s, uint32_t var, uint32_t id)
{
  return phi_operand(s, var, id == UNSET ? ZERO : id);
}

/* ---- versions ---- */

/* Returns the get whose value a `set` copies, if its var is a value, or 0 otherwise. */
static uint32_t
copied_get(const vyre_spv *s, uint32_t set)
{
  const uint32_t value = s->b[set];
  return vyre_spv_opcode(s, value) == VYRE_OP_get && !vyre_spv_is_in_memory(s, value) ? value : 0;
}

/* Returns the source of a version: the row of a value, a var for its initial value, or a join that does not equal another source.
 */
static uint32_t
source_of(vyre_spv *s, uint32_t version)
{
  uint32_t result = version;
  for (;;) {
    if (result & VYRE_JOIN) {
      const uint32_t same = s->joins[result & ~VYRE_JOIN].same;
      if (!same)
        break;
      result = same;
    } else if (vyre_spv_opcode(s, result) != VYRE_OP_set) {
      break;
    } else if (copied_get(s, result)) {
      result = s->graph.version[s->b[result]];
    } else {
      result = s->b[result];
      break;
    }
  }
  while (!(version & VYRE_JOIN) && vyre_spv_opcode(s, version) == VYRE_OP_set && copied_get(s, version)) {
    uint32_t *const seen = &s->graph.version[s->b[version]]; /* shortens the path for the next query */
    version = *seen;
    *seen = result;
  }
  return result;
}

/* Returns the id of a source of source_of, which may be ZERO or UNSET. */
static uint32_t
id_of(vyre_spv *s, uint32_t source)
{
  if (source & VYRE_JOIN)
    return s->joins[source & ~VYRE_JOIN].id;
  if (vyre_spv_opcode(s, source) == VYRE_OP_var)
    return s->imm_hi[source] & VYRE_ACCESS_UNSET ? UNSET : ZERO;
  return vyre_spv_value(s, source);
}

static uint32_t
value_of(vyre_spv *s, uint32_t version)
{
  return id_of(s, source_of(s, version));
}

void
vyre_spv_get(vyre_spv *s, uint32_t row)
{
  s->id[row - s->base] = operand(s, s->a[row], value_of(s, s->graph.version[row]));
}

uint32_t
vyre_spv_set_to(vyre_spv *s, uint32_t row)
{
  return operand(s, s->a[row], value_of(s, row));
}

/* ---- joins ---- */

/* Returns the row's first join.  belongs_to returns whether a join belongs to the row: its joins are consecutive. */
static uint32_t
first_join(const vyre_spv *s, uint32_t row)
{
  return s->aux[row - s->base];
}

static bool
belongs_to(const vyre_spv *s, uint32_t join, uint32_t row)
{
  return join < s->graph.join_count && s->graph.joins[join].row == row;
}

static bool
is_phi(const vyre_spv *s, uint32_t join)
{
  return s->joins[join].var && !s->joins[join].same;
}

static bool
is_header(const vyre_spv *s, uint32_t row)
{
  const uint32_t loop = s->parent[row];
  return vyre_row_is_loop(s->view, loop) && s->first[loop] == row;
}

/* Removes a join at a loop's header if each back edge brings the value from before the loop, or the join itself.  Then all joins
 * between have that value, too. */
static void
simplify_header(vyre_spv *s, uint32_t header)
{
  const vyre_join *const joins = s->graph.joins;
  const vyre_part *const parts = s->graph.parts;
  const uint32_t loop = s->parent[joins[header].row], front = source_of(s, parts[joins[header].first].version);
  s->marks.count = 0;
  vyre_spv_push(s, &s->marks, header);
  for (size_t i = 0; i < s->marks.count && !vyre_spv_failed(s); i++) {
    const vyre_join at = joins[s->marks.data[i]];
    for (uint32_t p = at.first; p < at.first + at.count; p++) {
      const uint32_t source = source_of(s, parts[p].version), join = source & ~VYRE_JOIN;
      if (source == front || source == (VYRE_JOIN | header))
        continue;
      if (!(source & VYRE_JOIN) || joins[join].row < loop || is_header(s, joins[join].row))
        return;
      if (s->joins[join].seen != header)
        vyre_spv_push(s, &s->marks, join);
      s->joins[join].seen = header;
    }
  }
  for (size_t i = 0; i < s->marks.count && !vyre_spv_failed(s); i++)
    s->joins[s->marks.data[i]].same = front;
}

/* Returns the var of a join, from earlier joins, or 0 if the join has no edges. */
static uint32_t
var_of(const vyre_spv *s, const vyre_join *join)
{
  uint32_t var = 0;
  for (uint32_t p = join->first; p < join->first + join->count && !var; p++) {
    const uint32_t version = s->graph.parts[p].version;
    if (version & VYRE_JOIN)
      var = s->joins[version & ~VYRE_JOIN].var;
    else
      var = vyre_spv_opcode(s, version) == VYRE_OP_set ? s->a[version] : version;
  }
  return var;
}

void
vyre_spv_find_phis(vyre_spv *s)
{
  const vyre_state_graph *const g = &s->graph;
  s->joins = vyre_spv_memory(s, g->join_count * sizeof(*s->joins));
  for (uint32_t i = 0; i < g->join_count && s->joins; i++)
    s->joins[i] = (vyre_spv_join){0};
  for (uint32_t i = 1; i < g->join_count && s->joins; i++) {
    const uint32_t row = g->joins[i].row, var = var_of(s, &g->joins[i]);
    if (var && !(s->use[var - s->base] & VYRE_SPV_IN_MEMORY))
      s->joins[i].var = var;
    if (row != g->joins[i - 1].row)
      s->aux[row - s->base] = i;
  }
  for (uint32_t i = g->join_count; i-- > 1 && !vyre_spv_failed(s);) /* inner loops before outer ones */
    if (s->joins[i].var && is_header(s, g->joins[i].row))
      simplify_header(s, i);
}

/* Returns the key by which parts are ordered: the row of the edge or, for a region, the row after it. */
static uint32_t
place_of(const vyre_spv *s, uint32_t row)
{
  if (!(vyre_op_flags_of(s->view, row) & VYRE_OP_REGION))
    return row;
  return s->next[row] ? s->next[row] : UINT32_MAX;
}

/* Returns the version that the edge from that row brings to the join.  *part is a guess of its index, and is updated for the next
 * query. */
static uint32_t
part_of(const vyre_spv *s, uint32_t join, uint32_t from, uint32_t *part)
{
  const vyre_part *const parts = s->graph.parts;
  uint32_t low = s->graph.joins[join].first, high = low + s->graph.joins[join].count;
  const uint32_t rest = high - 1;
  if (*part < low || *part > rest)
    *part = low;
  if (parts[*part].edge == from)
    return parts[(*part)++].version;
  high -= high - low > 1 && parts[rest].edge == s->graph.joins[join].row; /* the value of all other edges */
  const uint32_t place = place_of(s, from);
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (place_of(s, parts[middle].edge) < place)
      low = middle + 1;
    else
      high = middle;
  }
  *part = low;
  return parts[low < rest && parts[low].edge == from ? (*part)++ : rest].version;
}

/* ---- edges ---- */

void
vyre_spv_begin_branches(vyre_spv *s)
{
  if (s->depth && !s->scopes[s->depth - 1].known)
    s->scopes[s->depth - 1].known = s->next_id;
}

vyre_spv_scope *
vyre_spv_open_scope(vyre_spv *s, uint32_t row, uint32_t kind)
{
  if (s->depth == s->scope_capacity) {
    const uint32_t capacity = s->scope_capacity ? s->scope_capacity * 2 : 16;
    vyre_spv_scope *scopes = vyre_spv_memory(s, capacity * sizeof(*scopes));
    if (!scopes)
      return NULL;
    if (s->scope_capacity)
      memcpy(scopes, s->scopes, s->scope_capacity * sizeof(*scopes));
    for (uint32_t i = s->scope_capacity; i < capacity; i++)
      scopes[i] = (vyre_spv_scope){0};
    s->scopes = scopes;
    s->scope_capacity = capacity;
  }
  vyre_spv_begin_branches(s);
  vyre_spv_scope *scope = &s->scopes[s->depth++];
  scope->row = row;
  scope->known = 0;
  scope->kind = kind;
  scope->merge = s->next_id++;
  scope->next = kind == VYRE_SPV_LOOP ? s->next_id++ : 0;
  scope->merge_edges.count = scope->next_edges.count = 0;
  return scope;
}

void
vyre_spv_add_edge(vyre_spv *s, vyre_spv_words *edges, uint32_t to, uint32_t from, uint32_t block)
{
  uint32_t *const edge = vyre_spv_reserve(s, edges, EDGE_WORDS);
  if (!edge)
    return;
  edge[EDGE_TO] = to;
  edge[EDGE_FROM] = from;
  edge[EDGE_BLOCK] = block;
  edge[EDGE_VALUES] = s->carry;
  s->carry = 0;
}

static bool
is_taken(const vyre_spv_merge *m, const uint32_t *edge)
{
  return edge[EDGE_TO] == m->to || edge[EDGE_TO] == m->through;
}

/* Returns whether the source equals the condition of the `if`, and so is known in that arm. */
static bool
is_its_condition(const vyre_spv *s, uint32_t row, uint32_t arm, uint32_t source)
{
  return !(source & VYRE_JOIN) && vyre_row_is_const(s->view, source) && vyre_spv_row_type(s, source) == VYRE_TYPE(VYRE_BOOL, 1) &&
         s->imm[source] == (arm == s->first[row]);
}

/* Returns the id of a source on an edge: the condition itself if the edge is of an arm where the source is the condition
 * (write_if). */
static uint32_t
id_on_edge(vyre_spv *s, const uint32_t *edge, uint32_t source)
{
  const uint32_t row = edge[EDGE_TO];
  if (vyre_spv_opcode(s, row) == VYRE_OP_if && is_its_condition(s, row, edge[EDGE_FROM], source))
    return vyre_spv_value(s, s->a[row]);
  return id_of(s, source);
}

/* Returns the value that a taken edge brings to a join after its construct. */
static uint32_t
value_of_edge(vyre_spv *s, const uint32_t *edge, uint32_t join, uint32_t *part)
{
  if (edge[EDGE_VALUES])
    return s->carried.data[edge[EDGE_VALUES] + join - first_join(s, edge[EDGE_TO])];
  return id_on_edge(s, edge, source_of(s, part_of(s, join, edge[EDGE_FROM], part)));
}

/* As value_of_edge, also for edges to m->through, a construct with a tail that ends with m->to.  Edges to m->through bring the
 * values of the tail's region, which may include the join after m->through. */
static uint32_t
merged_value(vyre_spv *s, const vyre_spv_merge *m, const uint32_t *edge, uint32_t join, uint32_t *part)
{
  if (edge[EDGE_TO] == m->to)
    return value_of_edge(s, edge, join, part);
  uint32_t guess = 0;
  const uint32_t source = source_of(s, part_of(s, join, s->parent[m->through], &guess)), inner = source & ~VYRE_JOIN;
  if ((source & VYRE_JOIN) && s->graph.joins[inner].row == m->through)
    return value_of_edge(s, edge, inner, part);
  return id_of(s, source);
}

/* Writes a phi of the ids in `marks`, one per edge. */
static uint32_t
write_phi(vyre_spv *s, uint32_t type, const vyre_spv_words *edges)
{
  const size_t count = edges->count / EDGE_WORDS;
  const uint32_t id = s->next_id++;
  if (count * 2 + 3 > 0xffff) {
    vyre_spv_fail(s, "a phi of %zu edges", count);
    return 0;
  }
  uint32_t *words = vyre_spv_reserve(s, &s->code, count * 2 + 3);
  if (!words || vyre_spv_failed(s))
    return 0;
  *words++ = (uint32_t)(count * 2 + 3) << 16 | SpvOpPhi;
  *words++ = type;
  *words++ = id;
  for (size_t i = 0; i < count; i++) {
    *words++ = s->marks.data[i];
    *words++ = edges->data[i * EDGE_WORDS + EDGE_BLOCK];
  }
  return id;
}

static uint32_t
merge_join(vyre_spv *s, const vyre_spv_merge *m, uint32_t join)
{
  const uint32_t *const data = m->edges->data, var = s->joins[join].var;
  uint32_t part = 0, id = 0;
  bool any = false, alike = true, all = true;
  s->marks.count = 0;
  for (size_t at = 0; at < m->edges->count; at += EDGE_WORDS) {
    const bool taken = is_taken(m, data + at);
    const uint32_t here = taken ? merged_value(s, m, data + at, join, &part) : UINT32_MAX;
    vyre_spv_push(s, &s->marks, here);
    alike = alike && (!taken || !any || here == id);
    id = taken ? here : id;
    any = any || taken;
    all = all && taken;
  }
  if (alike && (all || id < m->known || id == UNSET))
    return id;
  const uint32_t undefined = all ? 0 : undefined_of(s, var);
  for (size_t i = 0; i < s->marks.count && !vyre_spv_failed(s); i++)
    s->marks.data[i] = s->marks.data[i] == UINT32_MAX ? undefined : phi_operand(s, var, s->marks.data[i]);
  return write_phi(s, type_of(s, var), m->edges);
}

uint32_t
vyre_spv_collect_joins(vyre_spv *s, const vyre_spv_merge *m)
{
  const size_t start = s->carried.count;
  for (uint32_t join = first_join(s, m->to); belongs_to(s, join, m->to) && !vyre_spv_failed(s); join++)
    vyre_spv_push(s, &s->carried, is_phi(s, join) ? merge_join(s, m, join) : 0);
  return (uint32_t)start;
}

void
vyre_spv_merge_joins(vyre_spv *s, const vyre_spv_words *edges, uint32_t known, uint32_t row)
{
  const vyre_spv_merge m = {edges, known, row, 0};
  for (uint32_t join = first_join(s, row); belongs_to(s, join, row) && !vyre_spv_failed(s); join++)
    s->joins[join].id = is_phi(s, join) ? merge_join(s, &m, join) : 0;
}

void
vyre_spv_debug_joins(vyre_spv *s, uint32_t row)
{
  for (uint32_t join = first_join(s, row); s->has_values && belongs_to(s, join, row) && !vyre_spv_failed(s); join++)
    if (is_phi(s, join))
      vyre_spv_debug_value(s, s->joins[join].var, s->joins[join].id == UNSET ? ZERO : s->joins[join].id);
}

void
vyre_spv_debug_lost_sets(vyre_spv *s, uint32_t row, uint32_t arm)
{
  for (uint32_t set = s->first[arm]; set && !vyre_spv_failed(s); set = s->next[set]) {
    uint32_t join = first_join(s, row);
    if (vyre_spv_opcode(s, set) != VYRE_OP_set)
      continue;
    while (belongs_to(s, join, row) && !(is_phi(s, join) && s->joins[join].var == s->a[set]))
      join++;
    if (!belongs_to(s, join, row))
      vyre_spv_debug_value(s, set, undefined_of(s, s->a[set]));
  }
}

uint32_t
vyre_spv_leave_flag(vyre_spv *s, const vyre_spv_words *edges, uint32_t target)
{
  const uint32_t leaves = vyre_spv_constant(s, VYRE_TYPE(VYRE_BOOL, 1), 1), type = vyre_spv_value_type(s, VYRE_TYPE(VYRE_BOOL, 1));
  const uint32_t stays = vyre_spv_null(s, type);
  s->marks.count = 0;
  for (size_t at = 0; at < edges->count; at += EDGE_WORDS)
    vyre_spv_push(s, &s->marks, edges->data[at + EDGE_TO] == target ? leaves : stays);
  return write_phi(s, type, edges);
}

/* ---- loops ---- */

size_t
vyre_spv_header_phis(vyre_spv *s, uint32_t body, uint32_t before)
{
  const size_t start = s->code.count;
  for (uint32_t join = first_join(s, body); belongs_to(s, join, body) && !vyre_spv_failed(s); join++) {
    if (!is_phi(s, join))
      continue;
    const uint32_t var = s->joins[join].var, front = value_of(s, s->graph.parts[s->graph.joins[join].first].version);
    const uint32_t type = type_of(s, var), id = s->next_id++;
    const uint32_t operands[6] = {type, id, phi_operand(s, var, front), before, 0, 0};
    vyre_spv_instruction(s, &s->code, SpvOpPhi, operands, 6);
    s->joins[join].id = id;
  }
  return start;
}

void
vyre_spv_patch_phis(vyre_spv *s, uint32_t body, size_t start, uint32_t values, bool live)
{
  const uint32_t first = first_join(s, body);
  for (uint32_t join = first; belongs_to(s, join, body) && !vyre_spv_failed(s); join++) {
    const vyre_join *const at = &s->graph.joins[join];
    if (!is_phi(s, join))
      continue;
    uint32_t around = s->joins[join].id;
    if (live)
      around = phi_operand(s, s->joins[join].var,
                           values ? s->carried.data[values + join - first]
                                  : value_of(s, s->graph.parts[at->first + at->count - 1].version));
    s->code.data[start + 5] = around;
    s->code.data[start + 6] = s->block;
    start += 7;
  }
}
