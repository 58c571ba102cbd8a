/* Functions: their blocks, what these store to, which variables are indexed by values, what they call.
 *
 * The one pass over the words reads each function as it comes.  What follows is done for those that an entry point reaches: their
 * edges, and their calls.  What a function does with a pointer that it is given counts for the variable that its caller gave, so
 * what it calls comes first; a function that reaches itself is an error.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "import.h"

#include <string.h>

/* The variable or parameter that pointer `to` leads to; NULL: none that is followed. */
static root *
root_of(import *m, uint32_t to)
{
  const id_info *info = &m->ids[to < m->bound ? to : 0];
  return info->holds == HOLDS_POINTER && info->root ? AT(root, m->roots, info->root) : NULL;
}

static bool
new_root(import *m, uint32_t id)
{
  root *r = list_add(m, &m->roots, sizeof(root), 1);
  if (!r)
    return false;
  *r = (root){.id = id};
  m->ids[id].root = m->roots.count - 1;
  return true;
}

/* A store through `to`, which leads to r; whole of a constant: `constant`. */
static void
stores_to(import *m, root *r, uint32_t to, uint32_t constant)
{
  bool whole = r->id == to && constant && m->ids[constant].kind == ID_CONSTANT && !(m->ids[constant].flags & ID_SPEC);
  if (whole && (!(r->flags & ROOT_WRITTEN) || ((r->flags & ROOT_CONSTANT) && r->constant == constant))) {
    r->flags |= ROOT_CONSTANT;
    r->constant = constant;
  } else {
    r->flags &= ~(uint32_t)ROOT_CONSTANT;
  }
  r->flags |= ROOT_WRITTEN;
}

static bool
add_word(import *m, list *l, uint32_t word)
{
  uint32_t *added = list_add(m, l, sizeof(uint32_t), 1);
  if (added)
    *added = word;
  return added != NULL;
}

/* A private variable that a function stores to is a store of its callers too. */
static bool
note_private(import *m, function *f, uint32_t index)
{
  if (m->ids[AT(root, m->roots, index)->id].kind != ID_GLOBAL)
    return true;
  for (uint32_t k = 0; k < f->private_count; k++)
    if (*AT(uint32_t, m->privates, f->privates + k) == index)
      return true;
  f->private_count++;
  return add_word(m, &m->privates, index);
}

/* An instruction stores through `to`, `constant` or something else; writes: to a variable that is followed. */
static bool
scan_store(import *m, function *f, uint32_t to, uint32_t constant, bool *writes)
{
  root *r = root_of(m, to);
  *writes = r != NULL;
  if (!r)
    return true;
  stores_to(m, r, to, constant < m->bound ? constant : 0);
  return note_private(m, f, m->ids[to].root);
}

static bool
scan_chain(import *m, const uint32_t *words, uint32_t count)
{
  if (!import_needs(m, 4))
    return false;
  const id_info *base = import_id(m, words[3]);
  const spv_type *p = base ? base->t : NULL;
  if (p && import_is_opaque_type(p))
    return true;
  if (!p || p->form != FORM_POINTER)
    return base ? import_fail(m, "id %u is no pointer", words[3]) : false;
  uint32_t at = p->element;
  root *r = root_of(m, words[3]);
  m->ids[words[2]].root = r ? base->root : 0;
  for (uint32_t k = 4; r && k < count; k++) {
    const spv_type *t = import_type(m, at);
    uint32_t index = 0, unused;
    if (!t)
      return false;
    if (import_is_opaque_type(t))
      return import_uncovered(m, "a pointer into what is opaque is not covered");
    if (!import_literal(m, words[k], &index) && t->form == FORM_ARRAY)
      r->flags |= ROOT_DYNAMIC;
    if (t->form == FORM_ARRAY || t->form == FORM_MATRIX || t->form == FORM_VALUE)
      index = 0;
    at = import_step_type(m, at, index, &unused);
    if (!at)
      return import_fail(m, "index %u does not lead into the type there", k - 4);
  }
  return true;
}

static bool
scan_parameter(import *m, function *f, const uint32_t *words)
{
  f->param_count++;
  return (m->ids[words[2]].holds != HOLDS_POINTER || new_root(m, words[2])) && add_word(m, &m->params, words[2]);
}

/* What vyre does not know may do anything with a variable that it names: that is memory, then. */
static bool
scan_opaque(import *m, function *f, const uint32_t *words, uint32_t count)
{
  for (uint32_t k = 1; k < count; k++) {
    root *r = root_of(m, words[k]);
    bool unused;
    if (!r)
      continue;
    r->flags |= ROOT_DYNAMIC;
    if (!scan_store(m, f, words[k], 0, &unused))
      return false;
  }
  return true;
}

static bool
scan_variable(import *m, function *f, const uint32_t *words, uint32_t count, bool *writes)
{
  return import_needs(m, 4) && new_root(m, words[2]) && (count <= 4 || scan_store(m, f, words[2], words[4], writes));
}

static bool
is_terminator(uint32_t op) /* of those that extensions have */
{
  return op == SpvOpTerminateInvocation || op == SpvOpIgnoreIntersectionKHR || op == SpvOpTerminateRayKHR ||
         op == SpvOpEmitMeshTasksEXT;
}

/* What an instruction is to scan. */
typedef enum scan_kind {
  SCAN_PLAIN, /* in a block, nothing more than its result */
  SCAN_VARIABLE,
  SCAN_CHAIN,
  SCAN_STORE,
  SCAN_COPY_OBJECT,
  SCAN_COPY_MEMORY,
  SCAN_EXTENDED,
  SCAN_CALL,
  SCAN_OTHER, /* of an extension */
  SCAN_PHI,
  SCAN_MERGE,
  SCAN_END,
  SCAN_OUTSIDE, /* from here on: may stand outside of a block */
  SCAN_PARAMETER,
  SCAN_LABEL,
  SCAN_FUNCTION,
} scan_kind;

static const uint8_t scan_kinds[512] = {
    [SpvOpNop] = SCAN_OUTSIDE,
    [SpvOpLine] = SCAN_OUTSIDE,
    [SpvOpNoLine] = SCAN_OUTSIDE,
    [SpvOpFunctionParameter] = SCAN_PARAMETER,
    [SpvOpFunction] = SCAN_FUNCTION,
    [SpvOpFunctionEnd] = SCAN_FUNCTION,
    [SpvOpLabel] = SCAN_LABEL,
    [SpvOpVariable] = SCAN_VARIABLE,
    [SpvOpAccessChain] = SCAN_CHAIN,
    [SpvOpInBoundsAccessChain] = SCAN_CHAIN,
    [SpvOpStore] = SCAN_STORE,
    [SpvOpCopyObject] = SCAN_COPY_OBJECT,
    [SpvOpCopyMemory] = SCAN_COPY_MEMORY,
    [SpvOpExtInst] = SCAN_EXTENDED,
    [SpvOpFunctionCall] = SCAN_CALL,
    [SpvOpPhi] = SCAN_PHI,
    [SpvOpLoopMerge] = SCAN_MERGE,
    [SpvOpSelectionMerge] = SCAN_MERGE,
    [SpvOpBranch] = SCAN_END,
    [SpvOpBranchConditional] = SCAN_END,
    [SpvOpSwitch] = SCAN_END,
    [SpvOpKill] = SCAN_END,
    [SpvOpReturn] = SCAN_END,
    [SpvOpReturnValue] = SCAN_END,
    [SpvOpUnreachable] = SCAN_END,
};

static bool
begin_block(import *m, function *f, const uint32_t *words)
{
  if (!import_needs(m, 2) || !import_define(m, words[1], ID_LABEL, 0))
    return false;
  if (f->open)
    return import_fail(m, "the block before it has no end");
  block *b = list_add(m, &m->blocks, sizeof(block), 1);
  if (!b)
    return false;
  *b = (block){
      .label = words[1], .start = m->at + (words[0] >> 16), .writes = m->writes.count, .function = m->functions.count - 1};
  m->ids[words[1]].value = m->blocks.count - 1;
  f->block_count++;
  f->open = OPEN_AT_START;
  return true;
}

static block *
last_block(const import *m)
{
  return AT(block, m->blocks, m->blocks.count - 1);
}

static bool
scan_phi(import *m, function *f, const uint32_t *words)
{
  if (f->open != OPEN_AT_START)
    return import_fail(m, "stands behind other instructions of its block");
  last_block(m)->phis++;
  f->phi_count++;
  return add_word(m, &m->phis, words[2]);
}

/* What is wrong with a result of a type, as scan_function has found that something is. */
COLD static bool
scan_no_result(import *m, const uint32_t *words)
{
  if ((words[0] & 0xffffu) == SpvOpFunction)
    return import_fail(m, "a function inside of a function");
  return import_needs(m, 3) && import_type(m, words[1]) && import_not_defined(m, words[2]);
}

static bool
scan_end(import *m, function *f)
{
  block *b = last_block(m);
  b->end = m->at;
  b->count = m->at - b->start;
  f->open = CLOSED;
  return true;
}

/* An instruction in a block that stores to a variable that is followed. */
static bool
note_write(import *m)
{
  last_block(m)->write_count++;
  return add_word(m, &m->writes, m->at);
}

/* An instruction in a block that is more than its result. */
static bool
scan_in_block(import *m, function *f, scan_kind kind, const uint32_t *words)
{
  const uint32_t count = words[0] >> 16;
  bool writes = false, ok = true;
  if (kind == SCAN_PHI)
    return scan_phi(m, f, words);
  f->open = OPEN;
  switch (kind) {
  case SCAN_VARIABLE:
    ok = scan_variable(m, f, words, count, &writes);
    break;
  case SCAN_CHAIN:
    return scan_chain(m, words, count);
  case SCAN_COPY_OBJECT:
    if (count >= 4 && root_of(m, words[3]))
      m->ids[words[2]].root = m->ids[words[3]].root;
    return true;
  case SCAN_STORE:
    ok = import_needs(m, 3) && scan_store(m, f, words[1], words[2], &writes);
    break;
  case SCAN_COPY_MEMORY:
    ok = import_needs(m, 3) && scan_store(m, f, words[1], 0, &writes);
    break;
  case SCAN_EXTENDED:
    if (count >= 7 && (words[4] == 35 || words[4] == 51)) /* Modf and Frexp with a pointer */
      ok = scan_store(m, f, words[6], 0, &writes);
    break;
  case SCAN_CALL:
    writes = true;
    f->call_count++;
    ok = import_needs(m, 4) && add_word(m, &m->calls, m->at);
    break;
  case SCAN_MERGE:
    last_block(m)->merge = m->at;
    return true;
  case SCAN_END:
    return scan_end(m, f);
  case SCAN_PLAIN:
    return true;
  default:
    return import_is_operation(words[0] & 0xffffu) || scan_opaque(m, f, words, count);
  }
  return ok && (!writes || note_write(m));
}

/* An instruction that is more than its result. */
static inline bool
scan_other(import *m, function *f, scan_kind kind, const uint32_t *words)
{
  switch (kind) {
  case SCAN_FUNCTION:
    return import_fail(m, "a function inside of a function");
  case SCAN_LABEL:
    return begin_block(m, f, words);
  case SCAN_PARAMETER:
    return scan_parameter(m, f, words);
  case SCAN_OUTSIDE:
    if (f->open && (words[0] & 0xffffu) == SpvOpNop)
      f->open = OPEN;
    return true;
  default:
    return f->open ? scan_in_block(m, f, kind, words) : import_fail(m, "stands outside of a block");
  }
}

/* The function's instructions, from m->at to its end.  Most are a result, its type and nothing more. */
static bool
scan_function(import *m, function *f)
{
  static const uint8_t holds[] = {[FORM_VALUE] = HOLDS_ROW, [FORM_POINTER] = HOLDS_POINTER, [FORM_FUNCTION] = HOLDS_LEAVES};
  const uint32_t *const all = m->words, end = m->word_count, bound = m->bound;
  id_info *const ids = m->ids;
  for (uint32_t at = m->at, count; at < end; at += count) {
    const uint32_t *const words = all + at, op = words[0] & 0xffffu;
    m->at = at;
    count = words[0] >> 16;
    if (count - 1 >= end - at)
      return import_part(m);
    uint32_t kind, shape;
    if (op < sizeof(scan_kinds)) {
      kind = scan_kinds[op];
      shape = import_op_shapes[op];
    } else {
      kind = is_terminator(op) ? SCAN_END : SCAN_OTHER;
      shape = import_op_shape(op);
    }
    if (shape & 2u) {
      const uint32_t type = count < 3 ? bound : words[1], id = count < 3 ? 0 : words[2];
      if (type >= bound || ids[type].kind != ID_TYPE || id - 1 >= bound - 1 || ids[id].kind != ID_NONE)
        return scan_no_result(m, words);
      spv_type *const t = ids[type].t;
      id_info *const info = &ids[id];
      info->t = t;
      info->def = at;
      info->type = type;
      info->kind = ID_LOCAL;
      info->holds = holds[t->form];
      if (kind == SCAN_PLAIN && f->open) {
        f->open = OPEN;
        continue;
      }
    } else if (op == SpvOpFunctionEnd) {
      return true;
    } else if (shape && op != SpvOpLabel && (!import_needs(m, 2) || !import_define(m, words[1], ID_LOCAL, 0))) {
      return false;
    }
    if (!scan_other(m, f, (scan_kind)kind, words))
      return false;
  }
  m->at = f->start;
  return import_fail(m, "no OpFunctionEnd follows\nFix: check whether the file was cut short");
}

bool
import_scan(import *m)
{
  const uint32_t *words = m->words + m->at;
  if (!import_needs(m, 5) || !import_type(m, words[1]) || !import_define(m, words[2], ID_FUNCTION, words[1]))
    return false;
  function *f = list_add(m, &m->functions, sizeof(function), 1);
  if (!f)
    return false;
  *f = (function){.id = words[2], .start = m->at, .line = m->last_line && m->last_line + 4 == m->at ? m->last_line : 0};
  m->ids[words[2]].value = m->functions.count - 1;
  f->params = m->params.count;
  f->blocks = m->blocks.count;
  f->phis = m->phis.count;
  f->privates = m->privates.count;
  f->calls = m->calls.count;
  m->function = f->start;
  m->at += words[0] >> 16;
  if (!scan_function(m, f))
    return false;
  f->end = m->at;
  m->function = 0;
  if (!f->open)
    return true;
  m->at = f->start;
  return import_fail(m, "its last block has no end");
}

uint32_t
import_block(import *m, uint32_t label)
{
  const id_info *info = import_id(m, label);
  if (!info)
    return NONE;
  if (info->kind != ID_LABEL) {
    import_fail(m, "id %u is no label", label);
    return NONE;
  }
  return info->value;
}

static bool
add_edge(import *m, uint32_t from, uint32_t label)
{
  uint32_t to = import_block(m, label);
  if (to == NONE || !add_word(m, &m->successors, to))
    return false;
  if (AT(block, m->blocks, to)->function != AT(block, m->blocks, from)->function)
    return import_fail(m, "label %u is in another function", label);
  AT(block, m->blocks, from)->successor_count++;
  AT(block, m->blocks, to)->preds++;
  return true;
}

/* Words of the literals of a switch over that selector. */
static uint32_t
selector_words(const import *m, uint32_t id)
{
  const id_info *info = id < m->bound ? &m->ids[id] : NULL;
  if (!info || !info->type || m->ids[info->type].kind != ID_TYPE)
    return 1;
  return import_literal_words(VYRE_TYPE_KIND(info->t->value));
}

static bool
scan_edges(import *m, uint32_t from)
{
  block *b = AT(block, m->blocks, from);
  b->successors = m->successors.count;
  m->at = b->end;
  const uint32_t *words = m->words + m->at;
  uint32_t op = words[0] & 0xffffu, count = words[0] >> 16, stride;
  if (b->merge) {
    uint32_t next = m->words[b->merge] >> 16;
    m->at = b->merge;
    if (b->merge + next != b->end)
      return import_fail(m, "is not right before the end of its block");
    bool loop = (m->words[b->merge] & 0xffffu) == SpvOpLoopMerge;
    if (!import_needs(m, loop ? 4 : 3))
      return false;
    for (uint32_t k = 1; k <= (loop ? 2u : 1u); k++) {
      uint32_t to = import_block(m, m->words[b->merge + k]);
      if (to == NONE)
        return false;
      if (AT(block, m->blocks, to)->function != b->function)
        return import_fail(m, "label %u is in another function", m->words[b->merge + k]);
    }
    m->at = b->end;
  }
  switch (op) {
  case SpvOpBranch:
    return import_needs(m, 2) && add_edge(m, from, words[1]);
  case SpvOpBranchConditional:
    return import_needs(m, 4) && add_edge(m, from, words[2]) && (words[2] == words[3] || add_edge(m, from, words[3]));
  case SpvOpSwitch:
    if (!import_needs(m, 3))
      return false;
    stride = 1 + selector_words(m, words[1]);
    if (count % stride != 3 % stride)
      return import_fail(m, "a literal without its label");
    for (uint32_t k = 2; k < count; k += stride)
      if (!add_edge(m, from, words[k]))
        return false;
    return true;
  case SpvOpReturnValue:
    return import_needs(m, 2);
  case SpvOpReturn:
  case SpvOpUnreachable:
    return true;
  default:
    return import_fail(m, "no instruction of a compute shader");
  }
}

/* Whether the only return is the end of the outermost chain of blocks. */
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
take_argument(import *m, function *f, uint32_t id, uint32_t given_id)
{
  root *to = root_of(m, given_id);
  const root *through = root_of(m, id);
  if (!to || !through)
    return true;
  to->flags |= through->flags & ROOT_DYNAMIC;
  if (!(through->flags & ROOT_WRITTEN))
    return true;
  stores_to(m, to, given_id, 0);
  return note_private(m, f, m->ids[given_id].root);
}

/* What the call at m->at does, by what its function does, which is known. */
static bool
take_call(import *m, function *f)
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
      return import_fail(m, "argument %u has another type than parameter %u of function %u", words[4 + k], k, words[3]);
    if (!take_argument(m, f, id, words[4 + k]))
      return false;
  }
  for (uint32_t k = 0; k < callee->private_count; k++)
    if (!note_private(m, f, *AT(uint32_t, m->privates, callee->privates + k)))
      return false;
  return true;
}

static bool
reach_callee(import *m, uint32_t id)
{
  const id_info *info = import_id(m, id);
  if (!info || info->kind != ID_FUNCTION)
    return info ? import_fail(m, "id %u is no function", id) : false;
  if (AT(function, m->functions, info->value)->state == 1)
    return import_fail(m, "function %u calls itself: recursion is not covered, nor valid", id);
  return import_reach(m, info->value);
}

/* Functions that it calls first.  Then its private variables, of which it knows its own, begin anew at the end of their list. */
static bool
take_calls(import *m, function *f)
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
    if (!note_private(m, f, *AT(uint32_t, m->privates, own + k)))
      return false;
  for (uint32_t k = 0; k < f->call_count; k++) {
    m->at = *AT(uint32_t, m->calls, f->calls + k);
    if (!take_call(m, f))
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
    return import_fail(m, "its parameters and result are not those of its type");
  for (uint32_t k = 0; k < f->param_count; k++)
    if (m->ids[*AT(uint32_t, m->params, f->params + k)].type != AT(spv_member, m->members, t->members + k)->type)
      return import_fail(m, "parameter %u has another type than its function's type says", k);
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
    return import_fail(m, "functions call each other more than %u deep", IMPORT_MAX_DEPTH);
  f->state = 1;
  m->call_depth++;
  bool ok = !f->call_count || take_calls(m, f);
  m->call_depth--;
  m->at = m->function = f->start;
  if (!ok || !fits_type(m, f))
    return false;
  if (f->block_count == 0)
    return import_fail(m, "a function without a body is not covered");
  for (uint32_t k = 0; k < f->block_count; k++)
    if (!scan_edges(m, f->blocks + k))
      return false;
  f->leaves_early = !returns_at_end(m, f);
  f->state = 2;
  m->function = 0;
  return true;
}
