/* Vars as values: the walk that writes a program carries the current value of each var, and writes phis where edges bring different
 * values.
 *
 * `id` of a var is the id of its current value.  A region that ends restores the values from before it (`changes`).  live.c has
 * listed the joins: the vars that may need a phi at a merge block, at a case or at a loop's header.  Each edge to such a place
 * brings the values that these vars have where it starts (`carried`).
 *
 * Cost: gets, sets, and joins * edges.
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

/* Returns the id to use in the phi of a var.  Each use of an OpUndef may have a different value, so only phis use one. */
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

/* ---- values ---- */

void
vyre_spv_begin_vars(vyre_spv *s)
{
  for (size_t i = 0; i < s->vars.count; i++) {
    const uint32_t var = s->vars.data[i];
    s->id[var - s->base] = s->imm_hi[var] & VYRE_ACCESS_UNSET ? UNSET : ZERO;
  }
  for (size_t at = 1; at < s->joins.count; at += 2 + s->joins.data[at + 1]) {
    s->aux[s->joins.data[at] - s->base] = (uint32_t)at;
    s->use[s->joins.data[at] - s->base] |= VYRE_SPV_HAS_JOINS;
  }
}

static void
change(vyre_spv *s, uint32_t var, uint32_t id)
{
  uint32_t *const words = vyre_spv_room(s, &s->changes, 2);
  words[0] = var;
  words[1] = s->id[var - s->base];
  s->id[var - s->base] = id;
}

void
vyre_spv_restore(vyre_spv *s, size_t count)
{
  for (; s->changes.count > count && !vyre_spv_failed(s); s->changes.count -= 2)
    s->id[s->changes.data[s->changes.count - 2] - s->base] = s->changes.data[s->changes.count - 1];
}

/* In `aux` of a `get`: it reads an initial value, which a `set` copies as such. */
enum { READS_VALUE, READS_ZERO, READS_UNSET };

void
vyre_spv_get(vyre_spv *s, uint32_t row)
{
  const uint32_t var = s->a[row], id = s->id[var - s->base];
  s->aux[row - s->base] = id == UNSET ? READS_UNSET : id == ZERO ? READS_ZERO : READS_VALUE;
  s->id[row - s->base] = operand(s, var, id);
}

void
vyre_spv_set(vyre_spv *s, uint32_t row)
{
  const uint32_t value = s->b[row];
  const bool copies = vyre_spv_opcode(s, value) == VYRE_OP_get && !vyre_spv_is_in_memory(s, value);
  const uint32_t reads = copies ? s->aux[value - s->base] : READS_VALUE;
  change(s, s->a[row], reads == READS_UNSET ? UNSET : reads == READS_ZERO ? ZERO : vyre_spv_value(s, value));
}

uint32_t
vyre_spv_set_to(vyre_spv *s, uint32_t row)
{
  return operand(s, s->a[row], s->id[s->a[row] - s->base]);
}

/* ---- edges ---- */

/* The vars of the joins at a construct or region. */
typedef struct join_list {
  const uint32_t *vars;
  uint32_t count;
} join_list;

static join_list
joins_of(const vyre_spv *s, uint32_t row)
{
  if (!(s->use[row - s->base] & VYRE_SPV_HAS_JOINS))
    return (join_list){NULL, 0};
  const uint32_t *const joins = s->joins.data + s->aux[row - s->base];
  return (join_list){joins + 2, joins[1]};
}

uint32_t
vyre_spv_values_at(vyre_spv *s, uint32_t row)
{
  const join_list joins = joins_of(s, row);
  const size_t start = s->carried.count;
  uint32_t *const ids = vyre_spv_reserve(s, &s->carried, joins.count);
  for (uint32_t i = 0; i < joins.count && ids; i++)
    ids[i] = s->id[joins.vars[i] - s->base];
  return (uint32_t)start;
}

void
vyre_spv_add_edge(vyre_spv *s, vyre_spv_words *edges, uint32_t to, uint32_t block, uint32_t values)
{
  uint32_t *const edge = vyre_spv_reserve(s, edges, EDGE_WORDS);
  if (!edge)
    return;
  edge[EDGE_TO] = to;
  edge[EDGE_BLOCK] = block;
  edge[EDGE_VALUES] = values;
}

/* ---- constructs that jumps leave ---- */

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
  scope->changes = s->changes.count;
  scope->merge = s->next_id++;
  scope->next = kind == VYRE_SPV_LOOP ? s->next_id++ : 0;
  scope->merge_edges.count = scope->next_edges.count = 0;
  return scope;
}

/* ---- phis ---- */

/* Begins a phi: writes the blocks of the edges.  Returns its words, or NULL on failure.  The caller sets the type, the id, and the
 * operand of each edge. */
static inline uint32_t *
begin_phi(vyre_spv *s, const vyre_spv_words *edges)
{
  const size_t count = edges->count / EDGE_WORDS;
  if (count * 2 + 3 > 0xffff) {
    vyre_spv_fail(s, "a phi of %zu edges", count);
    return NULL;
  }
  uint32_t *const words = vyre_spv_reserve(s, &s->code, count * 2 + 3);
  if (!words || vyre_spv_failed(s))
    return NULL;
  words[0] = (uint32_t)(count * 2 + 3) << 16 | SpvOpPhi;
  for (size_t i = 0; i < count; i++)
    words[4 + i * 2] = edges->data[i * EDGE_WORDS + EDGE_BLOCK];
  return words;
}

/* Writes the phi of the k-th join of `to`, a var.  For edges to other constructs, it has an undefined operand. */
static uint32_t
write_phi(vyre_spv *s, const vyre_spv_words *edges, bool all, uint32_t to, uint32_t k, uint32_t var)
{
  const uint32_t *const data = edges->data, undefined = all ? 0 : undefined_of(s, var);
  uint32_t *const words = begin_phi(s, edges); /* `code` does not grow until the phi is complete */
  if (!words)
    return 0;
  for (size_t at = 0, i = 3; at < edges->count; at += EDGE_WORDS, i += 2)
    words[i] = data[at + EDGE_TO] == to ? phi_operand(s, var, s->carried.data[data[at + EDGE_VALUES] + k]) : undefined;
  words[1] = type_of(s, var);
  return words[2] = s->next_id++;
}

/* Returns the value of the k-th join of `to`, a var, in the block of the edges.  Ids smaller than `known` dominate all of the
 * edges. */
static inline uint32_t
merge_join(vyre_spv *s, const vyre_spv_words *edges, uint32_t known, uint32_t to, uint32_t k, uint32_t var)
{
  const uint32_t *const data = edges->data, *const carried = s->carried.data + k;
  uint32_t id = UINT32_MAX; /* none */
  bool alike = true, all = true;
  for (size_t at = 0; at < edges->count; at += EDGE_WORDS) {
    if (data[at + EDGE_TO] != to) {
      all = false;
      continue;
    }
    const uint32_t here = carried[data[at + EDGE_VALUES]];
    alike &= id == UINT32_MAX || here == id;
    id = here;
  }
  id = id == UINT32_MAX ? 0 : id;
  return alike && (all || id < known || id == UNSET) ? id : write_phi(s, edges, all, to, k, var);
}

uint32_t
vyre_spv_collect_joins(vyre_spv *s, const vyre_spv_words *edges, uint32_t known, uint32_t to)
{
  const join_list joins = joins_of(s, to);
  const size_t start = s->carried.count;
  (void)vyre_spv_reserve(s, &s->carried, joins.count);
  for (uint32_t k = 0; k < joins.count && !vyre_spv_failed(s); k++)
    s->carried.data[start + k] = merge_join(s, edges, known, to, k, joins.vars[k]);
  return (uint32_t)start;
}

void
vyre_spv_merge_joins(vyre_spv *s, const vyre_spv_words *edges, uint32_t known, uint32_t row)
{
  const join_list joins = joins_of(s, row);
  for (uint32_t k = 0; k < joins.count && !vyre_spv_failed(s); k++)
    change(s, joins.vars[k], merge_join(s, edges, known, row, k, joins.vars[k]));
}

void
vyre_spv_debug_joins(vyre_spv *s, uint32_t row)
{
  const join_list joins = joins_of(s, row);
  for (uint32_t k = 0; s->has_values && k < joins.count && !vyre_spv_failed(s); k++) {
    const uint32_t id = s->id[joins.vars[k] - s->base];
    vyre_spv_debug_value(s, joins.vars[k], id == UNSET ? ZERO : id);
  }
}

void
vyre_spv_debug_lost_sets(vyre_spv *s, uint32_t row, uint32_t arm)
{
  const join_list joins = joins_of(s, row);
  for (uint32_t set = s->first[arm]; set && !vyre_spv_failed(s); set = s->next[set]) {
    uint32_t k = 0;
    if (vyre_spv_opcode(s, set) != VYRE_OP_set)
      continue;
    while (k < joins.count && joins.vars[k] != s->a[set])
      k++;
    if (k == joins.count)
      vyre_spv_debug_value(s, set, undefined_of(s, s->a[set]));
  }
}

uint32_t
vyre_spv_leave_flag(vyre_spv *s, const vyre_spv_words *edges, uint32_t target)
{
  const uint32_t leaves = vyre_spv_constant(s, VYRE_TYPE(VYRE_BOOL, 1), 1), type = vyre_spv_value_type(s, VYRE_TYPE(VYRE_BOOL, 1));
  const uint32_t stays = vyre_spv_null(s, type);
  uint32_t *const words = begin_phi(s, edges);
  if (!words)
    return 0;
  for (size_t at = 0, i = 3; at < edges->count; at += EDGE_WORDS, i += 2)
    words[i] = edges->data[at + EDGE_TO] == target ? leaves : stays;
  words[1] = type;
  return words[2] = s->next_id++;
}

/* ---- loops ---- */

enum { PHI_WORDS = 7, PHI_ROUND = 5, PHI_ROUND_BLOCK = 6 };

size_t
vyre_spv_header_phis(vyre_spv *s, uint32_t body, uint32_t before)
{
  const size_t start = s->code.count;
  const join_list joins = joins_of(s, body);
  for (uint32_t k = 0; k < joins.count && !vyre_spv_failed(s); k++) {
    const uint32_t var = joins.vars[k], front = phi_operand(s, var, s->id[var - s->base]), id = s->next_id++;
    const uint32_t operands[PHI_WORDS - 1] = {type_of(s, var), id, front, before, 0, 0};
    vyre_spv_instruction(s, &s->code, SpvOpPhi, operands, PHI_WORDS - 1);
    change(s, var, id);
  }
  return start;
}

void
vyre_spv_patch_phis(vyre_spv *s, uint32_t body, size_t start, uint32_t values, bool live)
{
  const join_list joins = joins_of(s, body);
  for (uint32_t k = 0; k < joins.count && !vyre_spv_failed(s); k++) {
    uint32_t *const phi = s->code.data + start + k * PHI_WORDS;
    const uint32_t round = live ? phi_operand(s, joins.vars[k], s->carried.data[values + k]) : phi[2];
    phi[PHI_ROUND] = round;
    phi[PHI_ROUND_BLOCK] = s->block;
  }
}
