/* Loops: the variables that they may store to, their bodies, their continuing regions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/import/import.h"

static bool
push_block(import *m, uint32_t index, uint32_t stamp)
{
  block *b = AT(block, m->blocks, index);
  if (b->stamp == stamp)
    return true;
  b->stamp = stamp;
  uint32_t *added = list_add(m, &m->stack, sizeof(uint32_t), 1);
  if (added)
    *added = index;
  return added != NULL;
}

static void
stop_at(import *m, uint32_t index, uint32_t stamp)
{
  if (index != NONE)
    AT(block, m->blocks, index)->stamp = stamp;
}

/* Pushes the loop's blocks onto `stack`: the blocks reachable from its header, up to its merge block and the ends of enclosing
 * constructs. */
static bool
find_blocks(import *m, uint32_t header, uint32_t merge)
{
  uint32_t first = m->stack.count, stamp = ++m->stamp;
  for (uint32_t k = m->instance->constructs; k < m->constructs.count; k++) {
    const construct *c = CONSTRUCT(m, k);
    stop_at(m, c->merge, stamp);
    if (c->kind != CONSTRUCT_LOOP)
      continue;
    stop_at(m, c->header, stamp);
    if (c->phase == PHASE_BODY)
      stop_at(m, c->next, stamp);
  }
  stop_at(m, merge, stamp);
  AT(block, m->blocks, header)->stamp = 0;
  if (!push_block(m, header, stamp))
    return false;
  for (uint32_t k = first; k < m->stack.count; k++) {
    const block *b = AT(block, m->blocks, *AT(uint32_t, m->stack, k));
    for (uint32_t i = 0; i < b->successor_count; i++)
      if (!push_block(m, *AT(uint32_t, m->successors, b->successors + i), stamp))
        return false;
  }
  return true;
}

static void
add_leaves(import *m, uint32_t first, uint32_t count, uint32_t serial)
{
  for (uint32_t k = first; k < first + count && !failed(m); k++) {
    leaf *l = AT(leaf, m->locals, k);
    if (l->loop == serial)
      continue;
    l->loop = serial;
    uint32_t *added = list_add(m, &m->loop_writes, sizeof(uint32_t), 1);
    if (added)
      *added = k;
  }
}

static void
add_pointer(import *m, uint32_t id, uint32_t serial)
{
  uint32_t first, count;
  if (import_pointer_range(m, id, &first, &count))
    add_leaves(m, first, count, serial);
}

static void
add_writes_of(import *m, const uint32_t *words, uint32_t serial)
{
  switch (words[0] & 0xffffu) {
  case SpvOpStore:
  case SpvOpCopyMemory:
    add_pointer(m, words[1], serial);
    break;
  case SpvOpVariable:
    add_pointer(m, words[2], serial);
    break;
  case SpvOpExtInst:
    add_pointer(m, words[6], serial);
    break;
  default: { /* a call, whose operands the scan has checked */
    const function *f = AT(function, m->functions, m->ids[words[3]].value);
    for (uint32_t k = 0; k < f->param_count; k++) {
      const id_info *param = &m->ids[*AT(uint32_t, m->params, f->params + k)];
      const spv_type *t = import_type(m, param->type);
      if (t && t->form == FORM_POINTER && (AT(root, m->roots, param->root)->flags & ROOT_WRITTEN))
        add_pointer(m, words[4 + k], serial);
    }
    for (uint32_t k = 0; k < f->private_count; k++)
      add_pointer(m, AT(root, m->roots, *AT(uint32_t, m->privates, f->privates + k))->id, serial);
  }
  }
}

static void
add_block(import *m, const block *b, uint32_t serial)
{
  for (uint32_t k = 0; k < b->write_count && !failed(m); k++)
    add_writes_of(m, m->words + *AT(uint32_t, m->writes, b->writes + k), serial);
  const uint32_t phis = AT(function, m->functions, b->function)->phi_count;
  for (uint32_t k = 0; phis && k < b->successor_count && !failed(m); k++) {
    const block *to = AT(block, m->blocks, *AT(uint32_t, m->successors, b->successors + k));
    uint32_t at = to->start;
    for (uint32_t i = 0; i < to->phis && !failed(m); i++) {
      at = flow_next_phi(m, at);
      const spv_type *t = import_type(m, m->words[at + 1]);
      if (t)
        add_leaves(m, m->ids[m->words[at + 2]].root, t->leaves, serial);
      at += m->words[at] >> 16;
    }
  }
  if ((m->words[b->end] & 0xffffu) == SpvOpReturnValue && m->instance->result != NONE)
    add_leaves(m, m->instance->result, m->instance->result_count, serial);
}

uint32_t
flow_loop(import *m, uint32_t header)
{
  const block *b = AT(block, m->blocks, header);
  m->at = b->merge;
  uint32_t merge = import_target(m, m->words[b->merge + 1]), next = import_target(m, m->words[b->merge + 2]);
  uint32_t stack = m->stack.count, writes = m->loop_writes.count, serial = ++m->serial_last, outer = m->loop;
  if (failed(m) || !find_blocks(m, header, merge))
    return NONE;
  for (uint32_t k = stack; k < m->stack.count && !failed(m); k++)
    add_block(m, AT(block, m->blocks, *AT(uint32_t, m->stack, k)), serial);
  m->stack.count = stack;
  uint32_t write_count = m->loop_writes.count - writes;
  for (uint32_t k = 0; k < write_count && !failed(m); k++)
    locals_to_var(m, *AT(uint32_t, m->loop_writes, writes + k));
  if (failed(m))
    return NONE;
  uint32_t row = vyre_build_loop(&m->b).id;
  flow_hints(m, b->merge, row);
  uint32_t c = flow_push(m, CONSTRUCT_LOOP, row);
  if (c == NONE)
    return NONE;
  CONSTRUCT(m, c)->merge = merge;
  CONSTRUCT(m, c)->next = next;
  CONSTRUCT(m, c)->header = header;
  m->loop = serial;
  uint32_t mark = m->log.count, saved;
  for (uint32_t k = 0; k < 2 && !failed(m); k++) {
    if (k == 1 && (CONSTRUCT(m, c)->phase != PHASE_BODY || !CONSTRUCT(m, c)->continued || next == header))
      break;
    CONSTRUCT(m, c)->region = vyre_region_of(m->module, (vyre_row){row}, k).id;
    flow_open(m, CONSTRUCT(m, c)->region, &saved);
    if (k == 1)
      CONSTRUCT(m, c)->phase = PHASE_CONTINUING;
    flow_walk(m, k == 0 ? header : next, k == 0);
    flow_close(m, mark, saved);
  }
  for (uint32_t k = 0; k < write_count; k++)
    AT(leaf, m->locals, *AT(uint32_t, m->loop_writes, writes + k))->loop = outer;
  m->loop_writes.count = writes;
  m->loop = outer;
  uint32_t breaks = CONSTRUCT(m, c)->edges;
  flow_pop(m);
  return failed(m) || breaks == 0 ? NONE : flow_goto(m, merge);
}
