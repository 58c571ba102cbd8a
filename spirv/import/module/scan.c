/* Scans functions in the one pass over the words: results, blocks, stores, dynamically indexed variables, calls.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/import/import.h"

#include <spirv/unified1/GLSL.std.450.h>

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

void
scan_stores_to(import *m, root *r, uint32_t to, uint32_t constant)
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

bool
scan_note_private(import *m, function *f, uint32_t index)
{
  if (m->ids[AT(root, m->roots, index)->id].kind != ID_GLOBAL)
    return true;
  for (uint32_t k = 0; k < f->private_count; k++)
    if (*AT(uint32_t, m->privates, f->privates + k) == index)
      return true;
  f->private_count++;
  return list_add_word(m, &m->privates, index);
}

bool
scan_note_copy(import *m, uint32_t to, uint32_t from)
{
  const root *a = scan_root(m, to), *b = scan_root(m, from);
  if (!a || !b || a->id != to || b->id != from)
    return true;
  root_copy *copy = list_add(m, &m->root_copies, sizeof(root_copy), 1);
  if (copy)
    *copy = (root_copy){m->ids[from].root, m->ids[to].root};
  return copy != NULL;
}

/* Records a store through `to`.  Sets *writes to whether it may store to a tracked variable. */
static bool
scan_store(import *m, function *f, uint32_t to, uint32_t constant, bool *writes)
{
  root *r = scan_root(m, to);
  *writes = r != NULL;
  if (!r)
    return true;
  scan_stores_to(m, r, to, constant < m->bound ? constant : 0);
  return scan_note_private(m, f, m->ids[to].root);
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
    return base ? import_fail(m, "id %u is not a pointer", words[3]) : false;
  uint32_t at = p->element;
  root *r = scan_root(m, words[3]);
  m->ids[words[2]].root = r ? base->root : 0;
  if (r)
    r->flags |= ROOT_PARTS;
  for (uint32_t k = 4; r && k < count; k++) {
    const spv_type *t = import_type(m, at);
    uint32_t index = 0, unused;
    if (!t)
      return false;
    if (import_is_opaque_type(t)) { /* a component of an opaque value, which only memory has */
      r->flags |= ROOT_DYNAMIC;
      return true;
    }
    if (!import_literal(m, words[k], &index) && t->form == FORM_ARRAY)
      r->flags |= ROOT_DYNAMIC;
    if (t->form == FORM_ARRAY || t->form == FORM_MATRIX || t->form == FORM_VALUE)
      index = 0;
    at = import_step_type(m, at, index, &unused);
    if (!at)
      return import_fail(m, "index %u is not valid for the indexed type", k - 4);
  }
  return true;
}

static bool
scan_parameter(import *m, function *f, const uint32_t *words)
{
  f->param_count++;
  return (m->ids[words[2]].holds != HOLDS_POINTER || new_root(m, words[2])) && list_add_word(m, &m->params, words[2]);
}

/* Makes the variables that an unknown instruction uses memory, because it may do anything with them. */
static bool
scan_opaque(import *m, function *f, const uint32_t *words, uint32_t count)
{
  for (uint32_t k = 1; k < count; k++) {
    root *r = scan_root(m, words[k]);
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
is_terminator(uint32_t op) /* of an extension */
{
  return op == SpvOpTerminateInvocation || op == SpvOpIgnoreIntersectionKHR || op == SpvOpTerminateRayKHR ||
         op == SpvOpEmitMeshTasksEXT || op == IMPORT_ABORT;
}

/* Kinds of instructions for the scan. */
typedef enum scan_kind {
  SCAN_PLAIN, /* in a block; only defines its result */
  SCAN_VARIABLE,
  SCAN_CHAIN,
  SCAN_STORE,
  SCAN_COPY_OBJECT,
  SCAN_COPY_MEMORY,
  SCAN_CALL,
  SCAN_OTHER, /* of an extension */
  SCAN_EXTENDED,
  SCAN_PHI,
  SCAN_MERGE,
  SCAN_END,
  SCAN_OUTSIDE, /* from here on: may be outside a block */
  SCAN_PARAMETER,
  SCAN_LABEL,
  SCAN_FUNCTION,
} scan_kind;

static const uint8_t scan_kinds[VYRE_WORDS_SHAPES] = {
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
    return import_fail(m, "the block before it has no terminator");
  block *b = list_add(m, &m->blocks, sizeof(block), 1);
  if (!b)
    return false;
  *b = (block){.label = words[1], .start = m->at + (words[0] >> 16), .writes = m->writes.count, .function = m->functions.count - 1};
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
    return import_fail(m, "is not at the start of its block");
  last_block(m)->phis++;
  f->phi_count++;
  return list_add_word(m, &m->phis, words[2]);
}

/* Reports the error that scan_function has found in the result of an instruction. */
COLD static bool
scan_no_result(import *m, const uint32_t *words)
{
  if ((words[0] & 0xffffu) == SpvOpFunction)
    return import_fail(m, "a function inside of another function");
  return import_needs(m, 3) && import_type(m, words[1]) && import_fail_definition(m, words[2]);
}

static bool
scan_end(import *m, function *f)
{
  block *b = last_block(m);
  b->end = m->at;
  f->open = CLOSED;
  return true;
}

/* Records that the current instruction stores to a tracked variable. */
static bool
note_write(import *m)
{
  last_block(m)->write_count++;
  return list_add_word(m, &m->writes, m->at);
}

static bool
scan_stored(import *m, function *f, uint32_t to, uint32_t constant)
{
  bool writes;
  return scan_store(m, f, to, constant, &writes) && (!writes || note_write(m));
}

/* Records a copy if the stored value is the OpLoad of a whole variable. */
static bool
note_loaded(import *m, uint32_t to, uint32_t value)
{
  const id_info *info = &m->ids[value < m->bound ? value : 0];
  const uint32_t *load = m->words + info->def;
  const bool loads = info->kind == ID_LOCAL && info->holds == HOLDS_LEAVES && info->def && (load[0] & 0xffffu) == SpvOpLoad;
  return !loads || load[0] >> 16 < 4 || scan_note_copy(m, to, load[3]);
}

static bool
scan_call(import *m, function *f)
{
  f->call_count++;
  m->nests++;
  return import_needs(m, 4) && list_add_word(m, &m->calls, m->at) && note_write(m);
}

/* Returns whether the OpExtInst is non-semantic, and drops it if it is not debug information. */
static bool
drop_nonsemantic(import *m, const uint32_t *words, uint32_t count)
{
  if (count <= 3 || words[3] >= m->bound || m->ids[words[3]].kind != ID_SET || m->ids[words[3]].value < 2)
    return false;
  if (m->ids[words[3]].value == 2)
    import_drop_set(m, words[3]);
  return true;
}

/* Scans an instruction of a kind other than SCAN_PLAIN, or outside a block. */
static inline bool
scan_other(import *m, function *f, scan_kind kind, const uint32_t *words)
{
  const uint32_t op = words[0] & 0xffffu, count = words[0] >> 16;
  if (kind == SCAN_EXTENDED && drop_nonsemantic(m, words, count)) {
    f->debug_words += count;
    return true; /* allowed anywhere */
  }
  if (kind < SCAN_OUTSIDE && !f->open)
    return import_fail(m, "is outside of a block");
  if (kind < SCAN_OUTSIDE && kind != SCAN_PHI)
    f->open = OPEN;
  switch (kind) {
  case SCAN_PLAIN:
    return true;
  case SCAN_VARIABLE:
    return import_needs(m, 4) && new_root(m, words[2]) && (count <= 4 || scan_stored(m, f, words[2], words[4]));
  case SCAN_CHAIN:
    return scan_chain(m, words, count);
  case SCAN_STORE:
    return import_needs(m, 3) && note_loaded(m, words[1], words[2]) && scan_stored(m, f, words[1], words[2]);
  case SCAN_COPY_OBJECT:
    if (count >= 4 && scan_root(m, words[3]))
      m->ids[words[2]].root = m->ids[words[3]].root;
    return true;
  case SCAN_COPY_MEMORY:
    return import_needs(m, 3) && scan_note_copy(m, words[1], words[2]) && scan_stored(m, f, words[1], 0);
  case SCAN_EXTENDED: /* Modf and Frexp store through a pointer */
    return count < 7 || (words[4] != GLSLstd450Modf && words[4] != GLSLstd450Frexp) || scan_stored(m, f, words[6], 0);
  case SCAN_CALL:
    return scan_call(m, f);
  case SCAN_OTHER:
    if (!vyre_words_full_name(op))
      return import_uncovered(m, "instruction number %u is unknown", op);
    return import_operation_of(op) || scan_opaque(m, f, words, count);
  case SCAN_PHI:
    return scan_phi(m, f, words);
  case SCAN_MERGE:
    last_block(m)->merge = m->at;
    m->nests++;
    last_block(m)->is_loop = op == SpvOpLoopMerge;
    return true;
  case SCAN_END:
    return scan_end(m, f);
  case SCAN_OUTSIDE:
    if (f->open && op == SpvOpNop)
      f->open = OPEN;
    f->debug_words += count;
    return true;
  case SCAN_PARAMETER:
    return scan_parameter(m, f, words);
  case SCAN_LABEL:
    return begin_block(m, f, words);
  case SCAN_FUNCTION:
    break;
  }
  return import_fail(m, "a function inside of another function");
}

/* Scans the function's instructions from m->at to its end.  The fast path is an instruction that only defines its result. */
static bool
scan_function(import *m, function *f)
{
  const uint32_t *const all = m->words, end = m->word_count, bound = m->bound;
  id_info *const ids = m->ids;
  for (uint32_t at = m->at, count; at < end; at += count) {
    const uint32_t *const words = all + at, head = words[0], op = head & 0xffffu;
    m->at = at;
    count = head >> 16;
    if (count - 1 >= end - at)
      return import_fail_truncated(m);
    uint32_t kind, shape;
    if (op < sizeof(scan_kinds)) {
      kind = scan_kinds[op];
      shape = vyre_words_shapes[op];
    } else {
      kind = is_terminator(op) ? SCAN_END : SCAN_OTHER;
      shape = vyre_words_shape(op);
    }
    if (shape & 2u) {
      const uint32_t type = count < 3 ? bound : words[1], id = count < 3 ? 0 : words[2];
      if (type >= bound || ids[type].kind != ID_TYPE || id - 1 >= bound - 1 || ids[id].kind != ID_NONE)
        return scan_no_result(m, words);
      id_info *const info = &ids[id];
      info->t = ids[type].t;
      info->def = at;
      info->type = type;
      info->kind = ID_LOCAL;
      info->holds = ids[type].holds;
      info->flags |= ids[type].flags & ID_OPAQUE;
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
  return import_fail(m, "the last block has no terminator");
}
