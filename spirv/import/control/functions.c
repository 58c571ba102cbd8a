/* Inlines each call.
 *
 * A body that returns only at its end continues in the caller's region.  Any other body is put into a `block`, which its returns
 * leave, and its result is a local variable of the call.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/import/import.h"

#include <string.h>

static bool
add_phis(import *m, const function *f)
{
  for (uint32_t k = 0; k < f->phi_count; k++) {
    uint32_t id = *AT(uint32_t, m->phis, f->phis + k);
    m->at = m->ids[id].def;
    const bool in_memory = import_is_in_memory(m->ids[id].t);
    uint32_t first = in_memory ? import_add_global(m, id, VYRE_SPACE_PRIVATE, 0) : locals_add(m, m->ids[id].type, 0);
    if (first == NONE)
      return false;
    m->ids[id].root = first;
  }
  return true;
}

/* Makes the arguments the values of the parameters.  They are the caller's values, so this comes before the switch to the new
 * instance. */
static bool
bind_arguments(import *m, const function *f, const uint32_t *args, uint32_t epoch)
{
  for (uint32_t k = 0; k < f->param_count; k++) {
    uint32_t id = *AT(uint32_t, m->params, f->params + k);
    id_info *param = &m->ids[id];
    const spv_type *t = import_type(m, param->type);
    if (!t)
      return false;
    if (t->form == FORM_POINTER) {
      const pointer *p = import_pointer(m, args[k]);
      if (!p)
        return false;
      param->value = (uint32_t)(p - AT(pointer, m->pointers, 0));
    } else if (import_is_in_memory(t)) {
      if (!import_share_value(m, id, args[k]))
        return false;
    } else {
      spv_value v;
      if (!import_value(m, args[k], &v))
        return false;
      if (t->form == FORM_VALUE) {
        param->value = v.leaves[0];
      } else {
        uint32_t *leaves = import_set_leaves(m, id, v.count);
        if (!leaves || !import_value(m, args[k], &v)) /* `leaves` may have moved */
          return false;
        memcpy(leaves, v.leaves, v.count * sizeof(uint32_t));
      }
    }
    param->epoch = epoch;
  }
  return true;
}

/* Sets the call's result to the rows of the returned value. */
static bool
set_call_result(import *m, const instance *of, uint32_t id, uint32_t type_id)
{
  const spv_type *t = import_type(m, type_id);
  if (!t || t->form == FORM_VOID)
    return t != NULL;
  if (import_is_in_memory(t)) {
    const uint32_t made = of->result != NONE ? of->result : of->returned;
    if (made == NONE) /* it never returns */
      return import_set_memory(m, id, 0, 0, 0);
    m->ids[id].holds = HOLDS_MEMORY;
    m->ids[id].value = made;
    m->ids[id].epoch = m->epochs[ID_LOCAL];
    return true;
  }
  uint32_t count = t->leaves, *leaves = import_set_leaves(m, id, count);
  uint32_t first = leaves ? (uint32_t)(leaves - AT(uint32_t, m->leaves, 0)) : 0;
  for (uint32_t k = 0; leaves && k < count && !failed(m); k++) {
    uint32_t row;
    if (of->result != NONE)
      row = locals_read(m, of->result + k);
    else if (of->returned != NONE)
      row = *AT(uint32_t, m->leaves, of->returned + k);
    else /* the function never returns, so the rows after the call are unreachable */
      row = import_zero(m, type_id, k);
    *AT(uint32_t, m->leaves, first + k) = row;
  }
  if (leaves && t->form == FORM_VALUE)
    import_set(m, id, *AT(uint32_t, m->leaves, first));
  return !failed(m);
}

static bool
walk_body(import *m, uint32_t index, instance *of)
{
  const function *f = AT(function, m->functions, index);
  uint32_t serial = 0, c = NONE;
  if (!add_phis(m, f))
    return false;
  if (f->leaves_early && !of->is_entry) {
    vyre_builder saved = m->b;
    uint32_t row = vyre_build_block(&m->b).id;
    m->b = saved;
    c = flow_push(m, CONSTRUCT_BLOCK, row);
    if (c == NONE)
      return false;
    CONSTRUCT(m, c)->region = vyre_region_of(m->module, (vyre_row){row}, 0).id;
    flow_open(m, CONSTRUCT(m, c)->region, &serial);
  }
  of->constructs = m->constructs.count;
  flow_walk(m, f->blocks, false);
  if (c != NONE) {
    flow_close(m, CONSTRUCT(m, c)->mark, serial);
    const uint32_t body = CONSTRUCT(m, c)->row, leaves = CONSTRUCT(m, c)->leaves;
    flow_pop(m);
    import_nest_returns(m, body, leaves);
  }
  return !failed(m);
}

static void
switch_instance(import *m, instance *of)
{
  m->instance = of;
  m->epochs[ID_LOCAL] = of ? of->epoch : NONE;
}

bool
import_call(import *m)
{
  const uint32_t *words = m->words + m->at;
  uint32_t index = m->ids[words[3]].value, at = m->at, from = m->from;
  function *f = AT(function, m->functions, index);
  if (m->ids[words[3]].kind != ID_FUNCTION || f->state != 2 || f->active)
    return import_fail(m, "the call cannot be inlined");
  if (m->call_depth >= IMPORT_MAX_DEPTH)
    return import_uncovered(m, "functions call each other more than %u deep", IMPORT_MAX_DEPTH);
  const spv_type *t = import_type(m, m->ids[words[3]].type);
  if (!t || words[1] != m->ids[words[3]].type)
    return import_fail(m, "its type is not the result type of function %u", words[3]);
  instance of = {.function = index, .epoch = ++m->epoch_last, .result = NONE, .returned = NONE};
  if (!bind_arguments(m, f, words + 4, of.epoch))
    return false;
  if (f->leaves_early && t->form != FORM_VOID) {
    of.result = import_is_in_memory(t) ? import_add_global(m, words[2], VYRE_SPACE_PRIVATE, 0) : locals_add(m, words[1], 0);
    of.result_count = t->leaves;
    if (of.result == NONE)
      return false;
  }
  instance *caller = m->instance;
  uint32_t pointers = m->pointers.count, steps = m->steps.count;
  const import_place place = import_enter_call(m);
  f->active = true;
  m->call_depth++;
  switch_instance(m, &of);
  bool ok = walk_body(m, index, &of);
  switch_instance(m, caller);
  m->call_depth--;
  f->active = false;
  m->at = at;
  m->from = from;
  m->pointers.count = pointers;
  m->steps.count = steps;
  import_leave_call(m, &place);
  return ok && set_call_result(m, &of, words[2], words[1]);
}

void
import_return(import *m, uint32_t id, bool reached)
{
  instance *of = m->instance;
  const function *f = AT(function, m->functions, of->function);
  const spv_type *t = import_type(m, m->words[f->start + 1]);
  if (!t || (reached && (t->form == FORM_VOID) != (id == 0))) {
    import_fail(m, "does not match the result type of function %u", f->id);
    return;
  }
  spv_value v = {0};
  const bool in_memory = import_is_in_memory(t);
  if (id && (in_memory ? !import_memory_row(m, id) : !import_value(m, id, &v)))
    return;
  if (id && m->ids[id].type != m->words[f->start + 1]) {
    import_fail(m, "value %u does not have the result type of function %u", id, f->id);
    return;
  }
  for (uint32_t k = of->constructs; k < m->constructs.count; k++)
    if (CONSTRUCT(m, k)->kind == CONSTRUCT_LOOP && CONSTRUCT(m, k)->phase == PHASE_CONTINUING) {
      import_uncovered(m, "leaves a continue construct\nFix: check the module with spirv-val");
      return;
    }
  if (of->is_entry) {
    if (m->region != m->program)
      vyre_build_jump(&m->b, VYRE_OP_return, VYRE_NONE);
    return;
  }
  if (!f->leaves_early && in_memory) {
    of->returned = m->ids[id].value;
    return;
  }
  if (!f->leaves_early) {
    uint32_t *leaves = id ? list_add(m, &m->leaves, sizeof(uint32_t), v.count) : NULL;
    if (!id || !leaves || !import_value(m, id, &v))
      return;
    of->returned = (uint32_t)(leaves - AT(uint32_t, m->leaves, 0));
    memcpy(leaves, v.leaves, v.count * sizeof(uint32_t));
    return;
  }
  uint32_t c = of->constructs - 1;
  if (reached && in_memory) {
    const uint32_t from = import_memory_row(m, id);
    import_copy_rows(m, import_global_row(m, of->result), from, 0, 0);
  }
  if (reached) {
    for (uint32_t k = 0; k < v.count && !failed(m); k++)
      locals_write(m, of->result + k, import_leaf(m, id, k));
    uint32_t l = CONSTRUCT(m, c)->joined;
    CONSTRUCT(m, c)->edges++;
    locals_edge(m, c, &l);
    CONSTRUCT(m, c)->joined = l;
  }
  if (m->region != CONSTRUCT(m, c)->region)
    flow_jump_out(m, c);
}

bool
import_entry_body(import *m, uint32_t index)
{
  const function *f = AT(function, m->functions, index);
  const spv_type *t = import_type(m, m->ids[f->id].type);
  m->at = f->start;
  if (!t || t->form != FORM_VOID || f->param_count != 0)
    return import_fail(m, "an entry point with parameters or a result");
  instance of = {.function = index, .epoch = ++m->epoch_last, .result = NONE, .returned = NONE, .is_entry = true};
  switch_instance(m, &of);
  bool ok = walk_body(m, index, &of);
  switch_instance(m, NULL);
  return ok && !failed(m);
}
