/* Vars as SSA values: the current value of each, the values that edges bring, and the phis where they differ.
 *
 * A var that is set only where a loop is then left has no phi at the loop's head; phis that nothing uses are taken out at the end.
 *
 * Cost: written vars times edges.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "control.h"

#include <string.h>

bool
vyre_spv_is_flag(const vyre_spv *s, uint32_t value)
{
  return vyre_spv_opcode(s, s->vars.data[value]) != VYRE_OP_var;
}

static uint32_t
type_of(vyre_spv *s, uint32_t value)
{
  return vyre_spv_is_flag(s, value) ? vyre_spv_value_type(s, VYRE_TYPE(VYRE_BOOL, 1))
                                    : vyre_spv_type_of_row(s, s->vars.data[value]);
}

uint32_t
vyre_spv_or_zero(vyre_spv *s, uint32_t value, uint32_t id)
{
  if (id)
    return id;
  const uint32_t type = type_of(s, value);
  const bool opaque = VYRE_TYPE_KIND(vyre_spv_row_type(s, s->vars.data[value])) == VYRE_OPAQUE;
  return opaque ? vyre_spv_intern(s, SpvOpUndef, true, &type, 1, NULL, 0, NULL) : vyre_spv_null(s, type);
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
  vyre_spv_scope *scope = &s->scopes[s->depth++];
  const uint32_t *written = s->written.data + s->aux[row - s->base];
  scope->row = row;
  scope->kind = kind;
  scope->merge = s->next_id++;
  scope->next = kind == VYRE_SPV_LOOP ? s->next_id++ : 0;
  scope->var_count = written[0];
  scope->head_count = written[1];
  scope->vars = written + 2;
  scope->merge_edges.count = scope->next_edges.count = scope->saved.count = 0;
  return scope;
}

void
vyre_spv_add_edge(vyre_spv *s, const vyre_spv_scope *scope, vyre_spv_words *edges, uint32_t block)
{
  vyre_spv_push(s, edges, block);
  for (uint32_t i = 0; i < scope->var_count; i++)
    vyre_spv_push(s, edges, s->current.data[scope->vars[i]]);
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
    vyre_spv_push(s, &scope->saved, s->current.data[scope->vars[i]]);
}

void
vyre_spv_restore(vyre_spv *s, const vyre_spv_scope *scope)
{
  for (uint32_t i = 0; i < scope->var_count && !s->out_of_memory; i++)
    s->current.data[scope->vars[i]] = scope->saved.data[i];
  s->dead = false;
}

/* Begins the block that `edges` lead to, with the phis it needs.  None lead there: it is unreachable, and nothing follows. */
void
vyre_spv_meet(vyre_spv *s, const vyre_spv_scope *scope, const vyre_spv_words *edges, uint32_t label)
{
  const uint32_t stride = scope->var_count + 1;
  const size_t count = edges->count / stride;
  vyre_spv_label(s, label);
  s->dead = count == 0;
  if (vyre_spv_failed(s) || count == 0)
    return;
  for (uint32_t i = 0; i < scope->var_count; i++) {
    const uint32_t value = scope->vars[i], *first = edges->data + 1 + i;
    bool same = true;
    for (size_t edge = 1; edge < count && same; edge++)
      same = first[edge * stride] == first[0];
    if (same) {
      s->current.data[value] = first[0];
      continue;
    }
    const uint32_t type = type_of(s, value), id = s->next_id++;
    if (count * 2 + 3 > 0xffff) {
      vyre_spv_fail(s, "a phi of %zu edges", count);
      return;
    }
    for (size_t edge = 0; edge < count; edge++)
      vyre_spv_or_zero(s, value, first[edge * stride]); /* constants are made before the instruction is begun */
    vyre_spv_push(s, &s->phis, (uint32_t)s->code.count);
    vyre_spv_push(s, &s->code, (uint32_t)(count * 2 + 3) << 16 | SpvOpPhi);
    vyre_spv_push(s, &s->code, type);
    vyre_spv_push(s, &s->code, id);
    for (size_t edge = 0; edge < count; edge++) {
      vyre_spv_push(s, &s->code, vyre_spv_or_zero(s, value, first[edge * stride]));
      vyre_spv_push(s, &s->code, edges->data[edge * stride]);
    }
    s->current.data[value] = id;
  }
}

/* The head's phis: one a var that may come round changed, the back edge's value and block to come.  Returns where they begin. */
size_t
vyre_spv_head_phis(vyre_spv *s, const vyre_spv_scope *scope, uint32_t before)
{
  const size_t start = s->code.count;
  for (uint32_t i = 0; i < scope->head_count && !vyre_spv_failed(s); i++) {
    const uint32_t value = scope->vars[i];
    const uint32_t type = type_of(s, value), initial = vyre_spv_or_zero(s, value, s->current.data[value]), id = s->next_id++;
    const uint32_t operands[6] = {type, id, initial, before, id, 0};
    vyre_spv_push(s, &s->phis, (uint32_t)s->code.count);
    vyre_spv_instruction(s, &s->code, SpvOpPhi, operands, 6);
    s->current.data[value] = id;
  }
  return start;
}

/* The back edge comes from the block being written.  live: with the values of now; else it is never taken. */
void
vyre_spv_patch_phis(vyre_spv *s, const vyre_spv_scope *scope, size_t start, bool live)
{
  for (uint32_t i = 0; i < scope->head_count && !vyre_spv_failed(s); i++) {
    const uint32_t value = scope->vars[i];
    if (live)
      s->code.data[start + 5] = vyre_spv_or_zero(s, value, s->current.data[value]);
    s->code.data[start + 6] = s->block;
    start += 7;
  }
}

/* ---- phis that nothing uses ---- */

/* The phi is used: so are those that it uses. */
static void
use_phi(vyre_spv *s, uint32_t id, uint32_t first_id)
{
  const uint32_t *code = s->code.data;
  s->scratch.count = 0;
  vyre_spv_push(s, &s->scratch, id);
  while (s->scratch.count && !vyre_spv_failed(s)) {
    const uint32_t at = s->scratch.data[--s->scratch.count] - first_id;
    const uint32_t offset = at < s->marks.count ? s->marks.data[at] : 0;
    if (!offset)
      continue;
    s->marks.data[at] = 0;
    for (uint32_t i = 3; i < code[offset] >> 16; i += 2)
      vyre_spv_push(s, &s->scratch, code[offset + i]);
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
