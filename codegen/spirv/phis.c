/* Vars as SSA values: the current value of each, the values that edges bring, and the phis where they differ.
 *
 * An `if` has two edges at most: what its arms change is noted as they change it, and undone behind each.  Constructs that can be
 * left have any number of edges, and a list of what is set in them, by the survey.
 *
 * A var that is set only where a loop is then left has no phi at the loop's head, and one that nothing asks for later has none
 * anywhere; phis that nothing uses all the same are taken out at the end.
 *
 * Cost: rows that set, plus vars set in a construct that can be left times its edges; where that would be far more than the rows, vars
 * are variables instead (demote.c).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "control.h"

#include <string.h>

static uint32_t
type_of(vyre_spv *s, uint32_t value)
{
  return vyre_spv_is_flag(s, value) ? vyre_spv_value_type(s, VYRE_TYPE(VYRE_BOOL, 1)) : vyre_spv_type_of_row(s, s->vars[value].row);
}

uint32_t
vyre_spv_zero_of(vyre_spv *s, uint32_t value)
{
  const uint32_t type = type_of(s, value);
  const bool opaque = VYRE_TYPE_KIND(vyre_spv_row_type(s, s->vars[value].row)) == VYRE_OPAQUE;
  return opaque ? vyre_spv_intern(s, SpvOpUndef, true, &type, 1, NULL, 0, NULL) : vyre_spv_null(s, type);
}

/* The row that no value needs a phi behind which nothing asks for later: of a construct in a loop, the outermost one around it, for
 * what it writes may be asked for in the next round; else the last row in it. */
static uint32_t
last_before(const vyre_spv *s, uint32_t row)
{
  if (s->outer_loop)
    return s->outer_loop;
  while (s->last[row])
    row = s->last[row];
  return row;
}

/* ---- the arms of an `if` ---- */

void
vyre_spv_note_change(vyre_spv *s, uint32_t value)
{
  vyre_spv_var *var = &s->vars[value];
  if (s->change_count == s->change_capacity) {
    const uint32_t capacity = s->change_capacity ? s->change_capacity * 2 : 64;
    vyre_spv_change *changes = vyre_spv_memory(s, capacity * sizeof(*changes));
    if (!changes)
      return;
    if (s->change_count)
      memcpy(changes, s->changes, s->change_count * sizeof(*changes));
    s->changes = changes;
    s->change_capacity = capacity;
  }
  s->changes[s->change_count++] = (vyre_spv_change){value, var->id, var->arm};
  var->arm = s->arm;
}

vyre_spv_arms
vyre_spv_arms_begin(vyre_spv *s)
{
  const vyre_spv_arms arms = {.around = s->arm, .first = s->change_count};
  s->arm = ++s->arm_count;
  return arms;
}

/* The values are those before the `if` again, and what they had become stands in the changes. */
void
vyre_spv_arm_end(vyre_spv *s, vyre_spv_arms *arms, uint32_t which, uint32_t block)
{
  for (uint32_t i = which ? arms->second : arms->first; i < s->change_count; i++) {
    vyre_spv_change *change = &s->changes[i];
    vyre_spv_var *var = &s->vars[change->value];
    const uint32_t id = var->id;
    var->id = change->id;
    var->arm = change->arm;
    change->id = id;
    if (which)
      var->seen = i;
  }
  arms->blocks[which] = block;
  if (which) {
    s->arm = arms->around;
  } else {
    arms->second = s->change_count;
    s->arm = ++s->arm_count;
  }
  s->dead = false;
}

static uint32_t
phi_of_two(vyre_spv *s, const vyre_spv_arms *arms, uint32_t value, const uint32_t ids[2])
{
  uint32_t operands[6] = {type_of(s, value), 0, vyre_spv_or_zero(s, value, ids[0]), arms->blocks[0], 0, arms->blocks[1]};
  operands[4] = vyre_spv_or_zero(s, value, ids[1]);
  operands[1] = s->next_id++;
  vyre_spv_push(s, &s->phis, (uint32_t)s->code.count);
  vyre_spv_instruction(s, &s->code, SpvOpPhi, operands, 6);
  return operands[1];
}

/* The changes of both arms are taken off as they are read, and those of the arm around, which are no more, put in their place. */
void
vyre_spv_arms_meet(vyre_spv *s, const vyre_spv_arms *arms, uint32_t row, uint32_t label)
{
  const uint32_t end = s->change_count, last = last_before(s, row);
  vyre_spv_label(s, label);
  s->change_count = arms->first;
  s->dead = !arms->blocks[0] && !arms->blocks[1];
  for (uint32_t i = arms->first; i < end && !s->dead && !vyre_spv_failed(s); i++) {
    const uint32_t value = s->changes[i].value, id = s->changes[i].id, before = s->vars[value].id, other = s->vars[value].seen;
    uint32_t ids[2] = {id, before};
    if (i >= arms->second) {
      if (s->vars[value].seen != i) /* both arms changed it */
        continue;
      ids[0] = before;
      ids[1] = id;
    } else if (other >= arms->second && other < end && s->changes[other].value == value) {
      ids[1] = s->changes[other].id;
      s->vars[value].seen = UINT32_MAX;
    }
    uint32_t result = arms->blocks[0] ? ids[0] : ids[1];
    if (arms->blocks[0] && arms->blocks[1] && ids[0] != ids[1] && s->vars[value].last_get > last)
      result = phi_of_two(s, arms, value, ids);
    if (result != before)
      vyre_spv_assign(s, value, result);
  }
}

/* ---- constructs that can be left ---- */

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
  vyre_spv_scope *scope = &s->scopes[s->depth++];
  const uint32_t *written = s->written.data + s->aux[row - s->base];
  scope->row = row;
  scope->kind = kind;
  if (kind == VYRE_SPV_LOOP && !s->outer_loop)
    s->outer_loop = row;
  scope->tail = s->use[row - s->base] & VYRE_SPV_HAS_TAIL ? s->next[row] : 0;
  scope->merge = s->next_id++;
  scope->next = kind == VYRE_SPV_LOOP ? s->next_id++ : 0;
  scope->var_count = written[0];
  scope->head_count = written[1];
  scope->vars = written + 2;
  scope->merge_edges.count = scope->next_edges.count = scope->saved.count = scope->left.count = 0;
  return scope;
}

void
vyre_spv_add_edge(vyre_spv *s, const vyre_spv_scope *scope, vyre_spv_words *edges, uint32_t block)
{
  uint32_t *const edge = vyre_spv_reserve(s, edges, 1 + scope->var_count);
  if (!edge)
    return;
  edge[0] = block;
  for (uint32_t i = 0; i < scope->var_count; i++)
    edge[1 + i] = s->vars[scope->vars[i]].id;
  if (scope->tail && edges == &scope->merge_edges && !s->skips_tail)
    vyre_spv_follow_tail(s, scope, edge + 1);
}

/* The branch that ends the block being written. */
void
vyre_spv_jump(vyre_spv *s, const vyre_spv_scope *scope, vyre_spv_words *edges, uint32_t label)
{
  vyre_spv_add_edge(s, scope, edges, s->block);
  vyre_spv_branch(s, label);
  s->dead = true;
}

void
vyre_spv_save(vyre_spv *s, vyre_spv_scope *scope)
{
  for (uint32_t i = 0; i < scope->var_count; i++)
    vyre_spv_push(s, &scope->saved, s->vars[scope->vars[i]].id);
}

void
vyre_spv_restore(vyre_spv *s, const vyre_spv_scope *scope)
{
  for (uint32_t i = 0; i < scope->var_count && !s->out_of_memory; i++)
    vyre_spv_assign(s, scope->vars[i], scope->saved.data[i]);
  s->dead = false;
}

/* Which edges to a merge block a value comes by: all, or those alone that set the flag of a leave, or those that do not.  What the
 * others bring is not asked for there. */
typedef struct edge_set {
  uint32_t flag; /* its place among the construct's vars; ALL_EDGES */
  bool set;
} edge_set;
#define ALL_EDGES UINT32_MAX

static bool
is_taken(edge_set set, const uint32_t *edge)
{
  return set.flag == ALL_EDGES || (edge[1 + set.flag] != 0) == set.set;
}

/* The flag that some of the edges set and some do not; ALL_EDGES: there is none, or more than one, or an edge of which it is not
 * known. */
static uint32_t
partial_flag(vyre_spv *s, const vyre_spv_scope *scope, const vyre_spv_words *edges)
{
  const uint32_t stride = scope->var_count + 1;
  uint32_t result = ALL_EDGES;
  for (uint32_t i = 0; i < scope->var_count; i++) {
    if (!vyre_spv_is_flag(s, scope->vars[i]))
      continue;
    const uint32_t always = vyre_spv_constant(s, VYRE_TYPE(VYRE_BOOL, 1), 1);
    size_t set = 0;
    for (size_t edge = 1 + i; edge < edges->count; edge += stride) {
      if (edges->data[edge] && edges->data[edge] != always)
        return ALL_EDGES;
      set += edges->data[edge] != 0;
    }
    if (set == 0 || set * stride == edges->count)
      continue;
    if (result != ALL_EDGES)
      return ALL_EDGES;
    result = i;
  }
  return result;
}

static uint32_t
phi_of_edges(vyre_spv *s, const vyre_spv_scope *scope, const vyre_spv_words *edges, uint32_t i, edge_set set)
{
  const uint32_t value = scope->vars[i], stride = scope->var_count + 1, type = type_of(s, value), id = s->next_id++;
  const size_t count = edges->count / stride;
  const uint32_t undefined = set.flag == ALL_EDGES ? 0 : vyre_spv_intern(s, SpvOpUndef, true, &type, 1, NULL, 0, NULL);
  if (count * 2 + 3 > 0xffff) {
    vyre_spv_fail(s, "a phi of %zu edges", count);
    return 0;
  }
  for (size_t edge = 0; edge < count; edge++)
    vyre_spv_or_zero(s, value, edges->data[edge * stride + 1 + i]); /* constants are made before the instruction is begun */
  vyre_spv_push(s, &s->phis, (uint32_t)s->code.count);
  vyre_spv_push(s, &s->code, (uint32_t)(count * 2 + 3) << 16 | SpvOpPhi);
  vyre_spv_push(s, &s->code, type);
  vyre_spv_push(s, &s->code, id);
  for (size_t edge = 0; edge < count; edge++) {
    const uint32_t *const from = edges->data + edge * stride;
    vyre_spv_push(s, &s->code, is_taken(set, from) ? vyre_spv_or_zero(s, value, from[1 + i]) : undefined);
    vyre_spv_push(s, &s->code, from[0]);
  }
  return id;
}

/* What the i-th var of the construct is behind those of its edges. */
static uint32_t
value_behind(vyre_spv *s, const vyre_spv_scope *scope, const vyre_spv_words *edges, uint32_t i, edge_set set)
{
  const uint32_t stride = scope->var_count + 1, *const data = edges->data;
  bool same = true, alike = true, any = false;
  uint32_t id = 0;
  for (size_t edge = 0; edge < edges->count && same + alike; edge += stride) {
    const uint32_t here = data[edge + 1 + i];
    same = same && here == data[1 + i];
    if (!is_taken(set, data + edge))
      continue;
    alike = alike && (!any || here == id);
    any = true;
    id = here;
  }
  /* one made before the construct is known wherever that is left */
  return same || (alike && id < scope->merge) ? id : phi_of_edges(s, scope, edges, i, set);
}

/* Begins the block that `edges` lead to, with the phis it needs.  None lead there: it is unreachable, and nothing follows.
 *
 * Where some of the edges are of a leave that goes on to another construct, what it takes there is kept in scope->left, so that
 * neither those who leave nor those who stay depend on what the others would have brought. */
void
vyre_spv_meet(vyre_spv *s, vyre_spv_scope *scope, const vyre_spv_words *edges, uint32_t label)
{
  /* a case that is fallen into, and a continuing region, may ask themselves */
  const uint32_t last = edges == &scope->merge_edges || s->outer_loop ? last_before(s, scope->row) : scope->row;
  vyre_spv_label(s, label);
  s->dead = edges->count == 0;
  scope->left.count = 0;
  if (vyre_spv_failed(s) || s->dead)
    return;
  const uint32_t flag = edges == &scope->merge_edges ? partial_flag(s, scope, edges) : ALL_EDGES;
  for (uint32_t i = 0; i < scope->var_count && !vyre_spv_failed(s); i++) {
    const uint32_t value = scope->vars[i];
    const bool asked = s->vars[value].last_get > last;
    const edge_set stay = {i == flag ? ALL_EDGES : flag, false}, leave = {flag, true};
    const uint32_t id = asked ? value_behind(s, scope, edges, i, stay) : edges->data[1 + i];
    if (flag != ALL_EDGES)
      vyre_spv_push(s, &scope->left, asked && i != flag ? value_behind(s, scope, edges, i, leave) : id);
    vyre_spv_assign(s, value, id);
  }
}

/* The head's phis: one a var that may come round changed, the back edge's value and block to come.  Returns where they begin. */
size_t
vyre_spv_head_phis(vyre_spv *s, const vyre_spv_scope *scope, uint32_t before)
{
  const size_t start = s->code.count;
  for (uint32_t i = 0; i < scope->head_count && !vyre_spv_failed(s); i++) {
    const uint32_t value = scope->vars[i];
    if (s->vars[value].last_get <= s->outer_loop)
      continue;
    const uint32_t type = type_of(s, value), initial = vyre_spv_or_zero(s, value, s->vars[value].id), id = s->next_id++;
    const uint32_t operands[6] = {type, id, initial, before, id, 0};
    vyre_spv_push(s, &s->phis, (uint32_t)s->code.count);
    vyre_spv_instruction(s, &s->code, SpvOpPhi, operands, 6);
    vyre_spv_assign(s, value, id);
  }
  return start;
}

/* The back edge comes from the block being written.  live: with the values of now; else it is never taken. */
void
vyre_spv_patch_phis(vyre_spv *s, const vyre_spv_scope *scope, size_t start, bool live)
{
  for (uint32_t i = 0; i < scope->head_count && !vyre_spv_failed(s); i++) {
    const uint32_t value = scope->vars[i];
    if (s->vars[value].last_get <= s->outer_loop)
      continue;
    if (live)
      s->code.data[start + 5] = vyre_spv_or_zero(s, value, s->vars[value].id);
    s->code.data[start + 6] = s->block;
    start += 7;
  }
}

/* ---- phis that nothing uses ---- */

/* Where the phi of that id stands, if it was not known to be used; it is now.  Else 0. */
static uint32_t
take_phi(vyre_spv *s, uint32_t id, uint32_t first_id)
{
  const uint32_t at = id - first_id, offset = at < s->marks.count ? s->marks.data[at] : 0;
  if (offset)
    s->marks.data[at] = 0;
  return offset;
}

/* The id is used: if it is a phi's, so are those that it uses. */
static void
use_phi(vyre_spv *s, uint32_t id, uint32_t first_id)
{
  const uint32_t *code = s->code.data;
  uint32_t offset = take_phi(s, id, first_id);
  s->scratch.count = 0;
  while (offset) {
    for (uint32_t i = 3; i < code[offset] >> 16; i += 2) {
      const uint32_t other = take_phi(s, code[offset + i], first_id);
      if (other)
        vyre_spv_push(s, &s->scratch, other);
    }
    offset = s->scratch.count && !vyre_spv_failed(s) ? s->scratch.data[--s->scratch.count] : 0;
  }
}

void
vyre_spv_sweep(vyre_spv *s, uint32_t first_id)
{
  const size_t count = s->next_id - first_id;
  if (s->phis.count == 0 || vyre_spv_failed(s))
    return;
  s->marks.count = 0; /* by id: where its phi stands, while it is not known to be used */
  if (s->marks.capacity < count && !vyre_spv_grow(s, &s->marks, count))
    return;
  s->marks.count = count;
  memset(s->marks.data, 0, count * 4);
  uint32_t *code = s->code.data;
  for (size_t i = 0; i < s->phis.count; i++)
    s->marks.data[code[s->phis.data[i] + 2] - first_id] = s->phis.data[i];
  for (size_t i = 0; i < s->gets.count; i++)
    if (s->use[s->gets.data[i] - s->base] & VYRE_SPV_USED)
      use_phi(s, s->id[s->gets.data[i] - s->base], first_id);
  for (size_t i = 0; i < s->flags.count; i++)
    use_phi(s, s->flags.data[i], first_id);
  if (vyre_spv_failed(s))
    return;
  size_t kept = 0, from = 0; /* where the words from `from` on go */
  for (size_t i = 0; i < s->phis.count; i++) {
    const size_t at = s->phis.data[i];
    if (!s->marks.data[code[at + 2] - first_id])
      continue;
    if (from)
      memmove(code + kept, code + from, (at - from) * 4);
    kept = from ? kept + at - from : at;
    from = at + (code[at] >> 16);
  }
  if (from) {
    memmove(code + kept, code + from, (s->code.count - from) * 4);
    s->code.count -= from - kept;
  }
}
