/* Finds the functions that an entry point reaches, the edges between their blocks, and the effects of their calls.
 *
 * An access through a pointer parameter counts as an access to the caller's variable, so callees are visited first.  A recursive
 * function is an error.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/import/import.h"

uint32_t
import_block(import *m, uint32_t label)
{
  const id_info *info = import_id(m, label);
  if (!info)
    return NONE;
  if (info->kind != ID_LABEL) {
    import_fail(m, "id %u is not a label", label);
    return NONE;
  }
  return info->value;
}

/* Adds an edge from the block `from` to a label of the same function. */
static inline bool
add_edge(import *m, const block *from, uint32_t label)
{
  const uint32_t index = import_block(m, label);
  if (index == NONE || !list_add_word(m, &m->successors, index))
    return false;
  block *to = AT(block, m->blocks, index);
  to->preds++;
  return to->function == from->function || import_fail(m, "label %u is in another function", label);
}

/* Returns the words of a literal of a switch over that selector. */
static uint32_t
selector_words(const import *m, uint32_t id)
{
  const id_info *info = id < m->bound ? &m->ids[id] : NULL;
  if (!info || !info->type || m->ids[info->type].kind != ID_TYPE)
    return 1;
  return import_literal_words(VYRE_TYPE_KIND(info->t->value));
}

static bool
add_edges(import *m, const block *b)
{
  m->at = b->end;
  const uint32_t *words = m->words + m->at;
  uint32_t op = words[0] & 0xffffu, count = words[0] >> 16, stride;
  if (b->merge) {
    uint32_t next = m->words[b->merge] >> 16;
    m->at = b->merge;
    if (b->merge + next != b->end)
      return import_fail(m, "is not right before the end of its block");
    if (!import_needs(m, b->is_loop ? 4 : 3))
      return false;
    for (uint32_t k = 1; k <= (b->is_loop ? 2u : 1u); k++) {
      uint32_t to = import_block(m, m->words[b->merge + k]);
      if (to == NONE)
        return false;
      if (AT(block, m->blocks, to)->function != b->function)
        return import_fail(m, "label %u is in another function", m->words[b->merge + k]);
      AT(block, m->blocks, to)->is_target = true;
    }
    m->at = b->end;
  }
  switch (op) {
  case SpvOpBranch:
    return import_needs(m, 2) && add_edge(m, b, words[1]);
  case SpvOpBranchConditional:
    return import_needs(m, 4) && add_edge(m, b, words[2]) && (words[2] == words[3] || add_edge(m, b, words[3]));
  case SpvOpSwitch:
    if (!import_needs(m, 3))
      return false;
    stride = 1 + selector_words(m, words[1]);
    if (count % stride != 3 % stride)
      return import_fail(m, "a literal without a label");
    for (uint32_t k = 2; k < count; k += stride)
      if (!add_edge(m, b, words[k]))
        return false;
      else
        AT(block, m->blocks, import_target(m, words[k]))->is_target = true;
    return true;
  case SpvOpReturnValue:
    return import_needs(m, 2);
  case SpvOpReturn:
  case SpvOpUnreachable:
    return true;
  case IMPORT_ABORT:
    return import_uncovered(m, "not supported");
  default:
    return import_fail(m, "not allowed in a compute shader");
  }
}

static bool
scan_edges(import *m, uint32_t from)
{
  block *b = AT(block, m->blocks, from); /* no block is added here */
  b->successors = m->successors.count;
  const bool ok = add_edges(m, b);
  b->successor_count = m->successors.count - b->successors;
  return ok;
}

/* Returns whether the function has only one return, at the end of the outermost chain of blocks. */
static bool
returns_at_end(import *m, const function *f)
{
  uint32_t returns = 0;
  for (uint32_t k = 0; k < f->block_count; k++)
    returns += AT(block, m->blocks, f->blocks + k)->successor_count == 0;
  uint32_t at = f->blocks;
  for (uint32_t k = 0; returns == 1 && k <= f->block_count; k++) {
    const block *b = AT(block, m->blocks, at);
    if (b->successor_count == 0)
      return true;
    if (b->merge)
      at = import_block(m, m->words[b->merge + 1]);
    else if (b->successor_count == 1)
      at = *AT(uint32_t, m->successors, b->successors);
    else
      return false;
    if (at == NONE)
      return false;
  }
  return false;
}

/* ---- calls ---- */

static bool
bind_argument(import *m, function *f, uint32_t id, uint32_t given_id)
{
  root *to = scan_root(m, given_id);
  const root *through = scan_root(m, id);
  if (!to || !through)
    return true;
  to->flags |= through->flags & (ROOT_DYNAMIC | ROOT_PARTS);
  if (!(through->flags & ROOT_WRITTEN))
    return true;
  scan_stores_to(m, to, given_id, 0);
  return scan_note_private(m, f, m->ids[given_id].root);
}

/* Adds the effects of the callee, which are known, to the caller of the call at m->at. */
static bool
add_call(import *m, function *f)
{
  const uint32_t *words = m->words + m->at;
  uint32_t count = words[0] >> 16;
  const function *callee = AT(function, m->functions, m->ids[words[3]].value);
  if (count - 4 != callee->param_count)
    return import_fail(m, "%u arguments, but function %u has %u", count - 4, words[3], callee->param_count);
  for (uint32_t k = 0; k < callee->param_count; k++) {
    uint32_t id = *AT(uint32_t, m->params, callee->params + k);
    const id_info *given = import_id(m, words[4 + k]);
    if (!given)
      return false;
    if (given->type != m->ids[id].type)
      return import_fail(m, "argument %u does not have the type of parameter %u of function %u", words[4 + k], k, words[3]);
    if (!bind_argument(m, f, id, words[4 + k]))
      return false;
  }
  for (uint32_t k = 0; k < callee->private_count; k++)
    if (!scan_note_private(m, f, *AT(uint32_t, m->privates, callee->privates + k)))
      return false;
  return true;
}

static bool
reach_callee(import *m, uint32_t id)
{
  const id_info *info = import_id(m, id);
  if (!info || info->kind != ID_FUNCTION)
    return info ? import_fail(m, "id %u is not a function", id) : false;
  if (AT(function, m->functions, info->value)->state == 1)
    return import_fail(m, "function %u calls itself, but recursion is not allowed", id);
  return import_reach(m, info->value);
}

/* Visits the callees.  Then it moves the function's private variables to the end of their list, and adds those of the callees. */
static bool
add_calls(import *m, function *f)
{
  for (uint32_t k = 0; k < f->call_count; k++) {
    m->at = *AT(uint32_t, m->calls, f->calls + k);
    if (!reach_callee(m, m->words[m->at + 3]))
      return false;
    m->function = f->start;
  }
  uint32_t own = f->privates, own_count = f->private_count;
  f->privates = m->privates.count;
  f->private_count = 0;
  for (uint32_t k = 0; k < own_count; k++)
    if (!scan_note_private(m, f, *AT(uint32_t, m->privates, own + k)))
      return false;
  for (uint32_t k = 0; k < f->call_count; k++) {
    m->at = *AT(uint32_t, m->calls, f->calls + k);
    if (!add_call(m, f))
      return false;
  }
  return true;
}

static bool
fits_type(import *m, const function *f)
{
  const spv_type *t = import_type(m, m->words[f->start + 4]);
  if (!t)
    return false;
  if (t->form != FORM_FUNCTION || t->count != f->param_count || t->element != m->words[f->start + 1])
    return import_fail(m, "its parameters and result do not match its type");
  for (uint32_t k = 0; k < f->param_count; k++)
    if (m->ids[*AT(uint32_t, m->params, f->params + k)].type != AT(spv_member, m->members, t->members + k)->type)
      return import_fail(m, "parameter %u does not have the type in the type of its function", k);
  return true;
}

bool
import_reach(import *m, uint32_t index)
{
  function *f = AT(function, m->functions, index);
  if (f->state == 2)
    return true;
  m->at = m->function = f->start;
  if (m->call_depth >= IMPORT_MAX_DEPTH)
    return import_uncovered(m, "functions call each other more than %u deep", IMPORT_MAX_DEPTH);
  f->state = 1;
  m->call_depth++;
  bool ok = !f->call_count || add_calls(m, f);
  m->call_depth--;
  m->at = m->function = f->start;
  if (!ok || !fits_type(m, f))
    return false;
  if (f->block_count == 0)
    return import_uncovered(m, "a function without a body is not supported");
  for (uint32_t k = 0; k < f->block_count; k++)
    if (!scan_edges(m, f->blocks + k))
      return false;
  f->leaves_early = !returns_at_end(m, f);
  f->may_share = flow_may_share(m, f);
  import_count_words(m, f);
  f->state = 2;
  m->function = 0;
  return true;
}

static bool
share_memory(import *m, const root *from, root *to)
{
  const id_info *info = &m->ids[to->id];
  const spv_type *t = m->ids[info->type].t, *pointee = t->form == FORM_POINTER ? m->ids[t->element].t : NULL;
  if (!(from->flags & ROOT_DYNAMIC) || (to->flags & (ROOT_DYNAMIC | ROOT_PARTS)) || !pointee ||
      pointee->leaves <= IMPORT_COPY_LEAVES)
    return false;
  to->flags |= ROOT_DYNAMIC;
  return true;
}

/* Each round walks the copies forwards and backwards, so one round suffices for a chain in order.  The round limit may leave a
 * variable as values, which is also correct. */
void
import_share_memory(import *m)
{
  bool more = true;
  for (uint32_t round = 0; round < 4 && more; round++) {
    more = false;
    for (uint32_t k = 0; k < 2 * m->root_copies.count; k++) {
      const uint32_t at = k < m->root_copies.count ? k : 2 * m->root_copies.count - 1 - k;
      const root_copy *copy = AT(root_copy, m->root_copies, at);
      root *from = AT(root, m->roots, copy->from), *to = AT(root, m->roots, copy->to);
      const bool there = share_memory(m, from, to), back = share_memory(m, to, from);
      more |= there || back;
    }
  }
}
