/* What a dispatch needs before its first workgroup: planes for values, addresses, memory.  Nothing is allocated after it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include "eval/row.h"
#include "eval/scalar.h"
#include "table/subgroup.h"

#include <inttypes.h>

uint32_t
interp_scalar_size(vyre_kind kind)
{
  return kind == VYRE_BOOL ? 4 : vyre_kind_bits(kind) / 8;
}

bool
interp_refuse(interp *ip, uint32_t row, const char *what)
{
  if (!ip->status)
    ip->status =
        VYRE_ERROR(VYRE_CODE_INPUT, "row %" PRIu32 ": %s\nFix: run the verifier on the module before it is interpreted", row, what);
  return false;
}

/* ---- types ---------------------------------------------------------------------------------------------------------- */

static uint64_t
value_size(vyre_type_id type)
{
  return (uint64_t)VYRE_TYPE_LANES((vyre_type)type) * interp_scalar_size(VYRE_TYPE_KIND((vyre_type)type));
}

static uint64_t
packed_size(const interp *ip, vyre_type_id type)
{
  return type < 256 ? value_size(type) : ip->types[type - 256].packed_size;
}

static uint64_t
capped(uint64_t count, uint64_t size)
{
  return size != 0 && count >= FARTHEST / size ? FARTHEST : count * size;
}

static bool
plan_type(interp *ip, vyre_type_id id)
{
  const vyre_type_info info = vyre_type_get(ip->module, id);
  type_plan *plan = &ip->types[id - 256];
  uint32_t deepest = 0;
  plan->count = info.count;
  if (info.form == VYRE_FORM_WORDS) {
    plan->count = 0;
    plan->packed_size = info.size;
  } else if (info.form == VYRE_FORM_STRUCT) {
    for (uint32_t i = 0; i < info.count; i++) {
      const vyre_type_id member = info.members[i].type;
      if (member >= id)
        return interp_refuse(ip, 0, "a struct type has a member of a later type");
      plan->packed_size = capped(1, plan->packed_size + packed_size(ip, member));
      if (member >= 256 && ip->types[member - 256].depth > deepest)
        deepest = ip->types[member - 256].depth;
    }
  } else {
    if (info.element >= id)
      return interp_refuse(ip, 0, "an array type has elements of a later type");
    if (info.count_row >= ip->begin && info.count_row < ip->end) {
      uint64_t count = 0;
      if (!vyre_constant_value(ip->module, (vyre_row){info.count_row}, ip->dispatch->specs, ip->dispatch->spec_count, &count))
        return interp_refuse(ip, info.count_row, "the length of an array is not constant, or there was no memory to compute it");
      plan->count = (uint32_t)count;
    }
    plan->packed_size = capped(plan->count, packed_size(ip, info.element));
    deepest = info.element >= 256 ? ip->types[info.element - 256].depth : 0;
  }
  plan->depth = deepest + 1;
  return true;
}

static bool
plan_types(interp *ip)
{
  const uint32_t count = vyre_type_count(ip->module);
  ip->type_count = count > 256 ? count - 256 : 0;
  ip->types = interp_take(ip, ip->type_count, sizeof *ip->types);
  for (uint32_t i = 0; ip->types && i < ip->type_count; i++)
    if (!plan_type(ip, 256 + i))
      return false;
  return ip->types != NULL;
}

/* ---- buffers -------------------------------------------------------------------------------------------------------- */

/* Whether the binding is one of the row: several rows may be one (set, binding), and there is one push block. */
static bool
binds(const interp *ip, const vyre_binding *binding, uint32_t row)
{
  const vyre_view *v = ip->view;
  const uint32_t other = binding->buffer.id;
  const vyre_space space = VYRE_BUFFER_SPACE(v->imm_hi[row]);
  if (other == row)
    return true;
  if (other < ip->begin || other >= ip->end || VYRE_ROW_OP(v->op[other]) != VYRE_OP_buffer ||
      VYRE_BUFFER_SPACE(v->imm_hi[other]) != space)
    return false;
  const vyre_buffer_info *info = vyre_buffer_info_of((vyre_module *)(uintptr_t)ip->module, (vyre_row){row});
  const vyre_buffer_info *that = vyre_buffer_info_of((vyre_module *)(uintptr_t)ip->module, (vyre_row){other});
  return space == VYRE_SPACE_PUSH || (info && that && info->set == that->set && info->binding == that->binding);
}

/* The row's own before those of other rows of its binding, and the first before later ones; NULL: there is none of that element. */
static const vyre_binding *
binding_of(const interp *ip, uint32_t row, uint32_t element)
{
  const vyre_dispatch *d = ip->dispatch;
  const vyre_binding *found = NULL;
  for (uint32_t i = 0; i < d->binding_count; i++) {
    const vyre_binding *binding = &d->bindings[i];
    if (binding->element == element && binds(ip, binding, row) &&
        (!found || (found->buffer.id != row && binding->buffer.id == row)))
      found = binding;
  }
  return found;
}

static bool
is_used(const interp *ip, uint32_t row)
{
  for (uint32_t i = ip->begin; i < ip->end; i++)
    if (ip->view->a[i] == row || ip->view->b[i] == row || ip->view->c[i] == row)
      return true;
  return false;
}

/* Scalars in order out of the initializer's words; missing ones are zero.  Depth is bounded by plan_type. */
static void
fill_initial(const interp *ip, vyre_type_id type, const uint32_t *words, uint32_t word_count, uint32_t *next_word, uint8_t *data,
             uint64_t *offset)
{
  if (type < 256) {
    const uint32_t size = interp_scalar_size(VYRE_TYPE_KIND((vyre_type)type));
    for (uint32_t i = 0; i < VYRE_TYPE_LANES((vyre_type)type); i++, *offset += size) {
      uint64_t bits = *next_word < word_count ? words[(*next_word)++] : 0;
      if (size == 8)
        bits |= (uint64_t)(*next_word < word_count ? words[(*next_word)++] : 0) << 32;
      memcpy(data + *offset, &bits, size);
    }
    return;
  }
  const vyre_type_info info = vyre_type_get(ip->module, type);
  const uint64_t count = ip->types[type - 256].count;
  if (info.form == VYRE_FORM_WORDS)
    *offset += info.size;
  for (uint64_t i = 0; i < count; i++)
    fill_initial(ip, info.form == VYRE_FORM_STRUCT ? info.members[i].type : info.element, words, word_count, next_word, data,
                 offset);
}

static bool
plan_own_memory(interp *ip, buffer_state *buffer, vyre_space space)
{
  const vyre_buffer_info *info = vyre_buffer_info_of((vyre_module *)(uintptr_t)ip->module, (vyre_row){buffer->row});
  const bool has_initializer = info && info->initializer != UINT32_MAX;
  buffer->packed = buffer->owned = true;
  buffer->size = packed_size(ip, buffer->type);
  if (buffer->size >= FARTHEST)
    return interp_refuse(ip, buffer->row, "the buffer is larger than any memory");
  buffer->sharers = space == VYRE_SPACE_PRIVATE ? 1 : space == VYRE_SPACE_WORKGROUP ? ip->per_group : ip->count;
  buffer->copies = ip->count / buffer->sharers;
  buffer->step = buffer->copies > 1 ? buffer->size : 0;
  buffer->data = interp_take(ip, buffer->copies, buffer->size ? (size_t)buffer->size : 1);
  if (!buffer->data)
    return false;
  if (ip->report && space == VYRE_SPACE_WORKGROUP && !has_initializer) {
    buffer->written = interp_take(ip, buffer->copies, buffer->size ? (size_t)buffer->size : 1);
    if (!buffer->written)
      return false;
  }
  if (has_initializer && space != VYRE_SPACE_WORKGROUP) {
    uint32_t word_count = 0, next_word = 0;
    uint64_t offset = 0;
    const uint32_t *words = vyre_module_initializer(ip->module, info->initializer, &word_count);
    buffer->initial = interp_take(ip, 1, buffer->size ? (size_t)buffer->size : 1);
    if (!buffer->initial)
      return false;
    fill_initial(ip, buffer->type, words, word_count, &next_word, buffer->initial, &offset);
  }
  return true;
}

/* The number of descriptors: as declared, or up to the last that is bound. */
static uint64_t
count_descriptors(const interp *ip, const buffer_state *buffer)
{
  const vyre_dispatch *d = ip->dispatch;
  uint64_t count = 1, bound = 0;
  vyre_type_id type = buffer->type;
  bool open = false;
  for (uint32_t i = 0; i < buffer->descriptor_steps; i++) {
    const vyre_type_info info = vyre_type_get(ip->module, type);
    open = open || (info.flags & VYRE_TYPE_RUNTIME) != 0;
    count = capped(count, info.flags & VYRE_TYPE_RUNTIME ? 1 : ip->types[type - 256].count);
    type = info.element;
  }
  for (uint32_t i = 0; i < d->binding_count; i++)
    if (d->bindings[i].element >= bound && binds(ip, &d->bindings[i], buffer->row))
      bound = (uint64_t)d->bindings[i].element + 1;
  return open && count ? (bound + count - 1) / count * count : count; /* whole rows of the inner arrays */
}

static bool
not_bound(interp *ip, uint32_t row)
{
  const char *name = vyre_row_name(ip->module, (vyre_row){row});
  ip->status = VYRE_ERROR(VYRE_CODE_INPUT, "buffer %s%s (row %" PRIu32 ") is not bound\nFix: give it data of its size",
                          name ? "%" : "", name ? name : "without a name", row);
  return false;
}

static bool
plan_descriptors(interp *ip, buffer_state *buffer)
{
  const uint64_t count = count_descriptors(ip, buffer);
  bool any = !is_used(ip, buffer->row);
  if (count > MOST_DESCRIPTORS) {
    ip->status = VYRE_ERROR(VYRE_CODE_INPUT, "row %" PRIu32 " is an array of more than %u buffers\nFix: make it shorter",
                            buffer->row, MOST_DESCRIPTORS);
    return false;
  }
  buffer->descriptors = interp_take(ip, (size_t)count, sizeof *buffer->descriptors);
  if (!buffer->descriptors)
    return false;
  buffer->descriptor_count = (uint32_t)count;
  for (uint32_t i = 0; i < buffer->descriptor_count; i++) {
    const vyre_binding *binding = binding_of(ip, buffer->row, i);
    any = any || binding;
    if (binding && binding->data)
      buffer->descriptors[i] = (descriptor){binding->data, binding->size};
  }
  return any || not_bound(ip, buffer->row);
}

static bool
plan_buffer(interp *ip, buffer_state *buffer, uint32_t row)
{
  const vyre_space space = VYRE_BUFFER_SPACE(ip->view->imm_hi[row]);
  *buffer = (buffer_state){.row = row, .type = ip->view->imm[row]};
  if (buffer->type >= 256 && buffer->type - 256 >= ip->type_count)
    return interp_refuse(ip, row, "the buffer's type is not in the type table");
  if (buffer->type >= 256 && ip->types[buffer->type - 256].depth > DEEPEST_TYPE)
    return interp_refuse(ip, row, "the buffer's type is nested more than 64 deep");
  if (space == VYRE_SPACE_HANDLE)
    return true; /* nothing reads it that could run here */
  if (space != VYRE_SPACE_STORAGE && space != VYRE_SPACE_UNIFORM && space != VYRE_SPACE_PUSH)
    return plan_own_memory(ip, buffer, space);
  buffer->descriptor_steps = vyre_buffer_descriptor_steps(ip->module, row);
  if (buffer->descriptor_steps)
    return plan_descriptors(ip, buffer);
  const vyre_binding *binding = binding_of(ip, row, 0);
  if (binding) {
    buffer->data = binding->data;
    buffer->size = binding->data ? binding->size : 0;
  }
  return binding || !is_used(ip, row) || not_bound(ip, row);
}

/* Workgroup memory of a laid-out block that others are laid over. */
static bool
is_overlaid(const interp *ip, const buffer_state *buffer)
{
  const uint32_t access = ip->view->imm_hi[buffer->row];
  return VYRE_BUFFER_SPACE(access) == VYRE_SPACE_WORKGROUP && (access & VYRE_ACCESS_ALIASED) != 0 &&
         vyre_type_get(ip->module, buffer->type).form == VYRE_FORM_STRUCT;
}

/* All such blocks begin at one address: the first of them owns room for the largest. */
static bool
overlay(interp *ip)
{
  buffer_state *first = NULL;
  uint64_t most = 1;
  for (uint32_t i = 0; i < ip->buffer_count; i++)
    if (is_overlaid(ip, &ip->buffers[i]) && vyre_type_get(ip->module, ip->buffers[i].type).size > most)
      most = vyre_type_get(ip->module, ip->buffers[i].type).size;
  for (uint32_t i = 0; i < ip->buffer_count; i++) {
    buffer_state *buffer = &ip->buffers[i];
    if (!is_overlaid(ip, buffer))
      continue;
    interp_give(ip, buffer->data, buffer->copies, buffer->size ? (size_t)buffer->size : 1);
    interp_give(ip, buffer->written, buffer->copies, buffer->size ? (size_t)buffer->size : 1);
    buffer->written = NULL;
    buffer->packed = false;
    buffer->owned = first == NULL;
    buffer->size = most;
    buffer->step = buffer->copies > 1 ? most : 0;
    buffer->data = first ? first->data : interp_take(ip, buffer->copies, (size_t)most);
    if (ip->report) /* one of them may have an initializer: its words are shared, so that says nothing of the others */
      buffer->written = first ? first->written : interp_take(ip, buffer->copies, (size_t)most);
    if (!buffer->data || (ip->report && !buffer->written))
      return false;
    first = first ? first : buffer;
  }
  return true;
}

static bool
plan_buffers(interp *ip)
{
  uint32_t count = 0;
  for (uint32_t row = ip->begin; row < ip->end; row++)
    count += VYRE_ROW_OP(ip->view->op[row]) == VYRE_OP_buffer;
  ip->buffers = interp_take(ip, count, sizeof *ip->buffers);
  ip->buffer_count = ip->buffers ? count : 0;
  uint32_t next = 0;
  for (uint32_t row = ip->begin; ip->buffers && row < ip->end; row++)
    if (VYRE_ROW_OP(ip->view->op[row]) == VYRE_OP_buffer && !plan_buffer(ip, &ip->buffers[next++], row))
      return false;
  return ip->buffers != NULL && overlay(ip);
}

/* ---- paths ---------------------------------------------------------------------------------------------------------- */

/* A struct member's offset, in the buffer's layout. */
static uint64_t
member_offset(const interp *ip, bool packed, const vyre_type_info *info, uint32_t member)
{
  if (!packed)
    return info->members[member].offset;
  uint64_t offset = 0;
  for (uint32_t i = 0; i < member; i++)
    offset += packed_size(ip, info->members[i].type);
  return offset;
}

/* To a descriptor of an array, or to an array of them in one. */
static void
plan_choice(const interp *ip, const path_plan *from, path_plan *to)
{
  const buffer_state *buffer = &ip->buffers[from->buffer];
  vyre_type_info info = vyre_type_get(ip->module, from->type);
  const bool open = (info.flags & VYRE_TYPE_RUNTIME) != 0;
  uint64_t inner = 1;
  to->bound = ip->types[from->type - 256].count;
  for (vyre_type_id type = info.element; to->choices && type >= 256 && inner <= MOST_DESCRIPTORS; type = info.element) {
    info = vyre_type_get(ip->module, type);
    if (info.form != VYRE_FORM_ARRAY)
      break;
    inner *= ip->types[type - 256].count;
  }
  if (open)
    to->bound = inner ? buffer->descriptor_count / inner : 0;
  to->stride = inner * FARTHEST;
}

static void
plan_step(interp *ip, const path_plan *from, bool packed, path_plan *to)
{
  const vyre_type_info info = vyre_type_get(ip->module, from->type);
  const vyre_kind kind = from->type < 256 ? VYRE_TYPE_KIND((vyre_type)from->type) : VYRE_TYPE_KIND((vyre_type)info.element);
  const uint32_t scalar = interp_scalar_size(kind);
  to->lane_stride = to->type < 256 ? interp_scalar_size(VYRE_TYPE_KIND((vyre_type)to->type)) : 0;
  switch (info.form) {
  case VYRE_FORM_VALUE:
    to->stride = from->lane_stride;
    to->bound = VYRE_TYPE_LANES((vyre_type)from->type);
    return;
  case VYRE_FORM_MATRIX: {
    const bool by_rows = !packed && (info.flags & VYRE_TYPE_ROW_MAJOR) != 0;
    to->stride = packed ? scalar * VYRE_TYPE_LANES((vyre_type)info.element) : by_rows ? scalar : info.stride;
    to->lane_stride = by_rows ? info.stride : scalar;
    to->bound = info.count;
    return;
  }
  case VYRE_FORM_ARRAY:
    if (from->choices) {
      plan_choice(ip, from, to);
      return;
    }
    to->stride = packed ? packed_size(ip, info.element) : info.stride;
    to->bound = info.flags & VYRE_TYPE_RUNTIME ? NOWHERE : ip->types[from->type - 256].count;
    return;
  case VYRE_FORM_STRUCT:
    to->bound = info.count;
    return;
  case VYRE_FORM_WORDS:
    return;
  }
}

static bool
plan_at(interp *ip, uint32_t row, path_plan *plan)
{
  const vyre_view *v = ip->view;
  const path_plan *from = path_of(ip, v->a[row]);
  const bool literal = (VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM) != 0;
  const bool packed = ip->buffers[from->buffer].packed;
  *plan = (path_plan){.buffer = from->buffer, .type = v->imm_hi[row], .choices = from->choices ? from->choices - 1 : 0};
  if ((plan->type >= 256 && plan->type - 256 >= ip->type_count) || plan->type == 0)
    return interp_refuse(ip, row, "the path reaches a type that is not in the type table");
  plan_step(ip, from, packed, plan);
  const vyre_type_info info = vyre_type_get(ip->module, from->type);
  if (info.form == VYRE_FORM_STRUCT) {
    if (!literal || v->imm[row] >= info.count)
      return interp_refuse(ip, row, "the path names no member");
    plan->bias = member_offset(ip, packed, &info, v->imm[row]);
  } else if (literal) {
    plan->bias =
        v->imm[row] < plan->bound ? from->choices ? v->imm[row] * plan->stride : capped(v->imm[row], plan->stride) : NOWHERE;
  }
  if (!from->choices && plan->bias >= FARTHEST)
    plan->bias = NOWHERE;
  plan->fixed = from->fixed && literal && plan->bound != NOWHERE;
  if (plan->fixed) {
    uint64_t *to = plane_of(ip, row);
    const uint64_t *base = plane_of(ip, v->a[row]);
    for (uint32_t i = 0; i < ip->count; i++)
      to[i] = stepped(base[0], plan->bias);
  }
  return true;
}

static bool
plan_paths(interp *ip)
{
  const vyre_view *v = ip->view;
  uint32_t count = 0, buffer = 0;
  for (uint32_t row = ip->begin; row < ip->end; row++)
    if (row_kind(v, row) == VYRE_PATH)
      ip->path[row - ip->begin] = count++;
  ip->paths = interp_take(ip, count, sizeof *ip->paths);
  ip->path_count = count;
  for (uint32_t row = ip->begin; ip->paths && row < ip->end; row++) {
    const uint32_t op = VYRE_ROW_OP(v->op[row]);
    if (op == VYRE_OP_buffer) {
      path_plan *plan = path_of(ip, row);
      *plan = (path_plan){.buffer = buffer, .type = v->imm[row], .fixed = true};
      plan->choices = ip->buffers[buffer++].descriptor_steps;
      plan->lane_stride = plan->type < 256 ? interp_scalar_size(VYRE_TYPE_KIND((vyre_type)plan->type)) : 0;
    } else if (op == VYRE_OP_at) {
      if (v->a[row] < ip->begin || v->a[row] >= row || row_kind(v, v->a[row]) != VYRE_PATH)
        return interp_refuse(ip, row, "the path has no root");
      if (!plan_at(ip, row, path_of(ip, row)))
        return false;
    }
  }
  return ip->paths != NULL;
}

/* ---- control -------------------------------------------------------------------------------------------------------- */

static bool
plan_masks(interp *ip)
{
  const vyre_view *v = ip->view;
  uint32_t deepest = 0;
  uint32_t *depth = interp_take(ip, ip->end - ip->begin, sizeof *depth);
  if (!depth)
    return false;
  for (uint32_t row = ip->begin; row < ip->end; row++) {
    const uint32_t parent = v->parent[row];
    if (parent >= ip->begin && parent < row)
      depth[row - ip->begin] = depth[parent - ip->begin] + 1;
    if (depth[row - ip->begin] > deepest)
      deepest = depth[row - ip->begin];
  }
  interp_give(ip, depth, ip->end - ip->begin, sizeof *depth);
  if (deepest / 2 > DEEPEST_CONTROL) { /* a construct and its region are two levels */
    ip->status = VYRE_ERROR(VYRE_CODE_INPUT, "the program nests control more than %u deep\nFix: flatten it", DEEPEST_CONTROL);
    return false;
  }
  ip->mask_capacity = (size_t)(deepest + 2) * 4 * ip->words;
  ip->masks = interp_take(ip, ip->mask_capacity, sizeof *ip->masks);
  ip->returned = interp_take(ip, ip->words, sizeof *ip->returned);
  ip->steps = interp_take(ip, ip->count, sizeof *ip->steps);
  return ip->masks && ip->returned && ip->steps;
}

/* ---- entry ---------------------------------------------------------------------------------------------------------- */

/* Whether workgroups meet at a barrier: then they all run side by side. */
static bool
plan_together(interp *ip)
{
  const vyre_view *v = ip->view;
  uint64_t count = ip->per_group;
  for (uint32_t row = ip->begin; row < ip->end && !ip->together; row++)
    ip->together = VYRE_ROW_OP(v->op[row]) == VYRE_OP_barrier && VYRE_ORDER_EXECUTION(v->imm[row]) == 1;
  for (uint32_t k = 0; ip->together && k < 3; k++) {
    count *= ip->dispatch->groups[k];
    if (count > MOST_TOGETHER) {
      ip->status =
          VYRE_ERROR(VYRE_CODE_INPUT,
                     "a grid of %" PRIu32 " x %" PRIu32 " x %" PRIu32 " workgroups, of %" PRIu32
                     " invocations each, cannot meet at a 'barrier device'\nFix: take at most %u invocations in all",
                     ip->dispatch->groups[0], ip->dispatch->groups[1], ip->dispatch->groups[2], ip->per_group, MOST_TOGETHER);
      return false;
    }
  }
  ip->together = ip->together && count != 0;
  if (ip->together)
    ip->count = (uint32_t)count;
  return true;
}

static bool
plan_size(interp *ip)
{
  const vyre_dispatch *d = ip->dispatch;
  if (!vyre_workgroup_size(ip->module, d->program, d->specs, d->spec_count, ip->local))
    return interp_refuse(ip, d->program.id, "the workgroup size is not constant, or there was no memory to compute it");
  const uint64_t plane = (uint64_t)ip->local[0] * ip->local[1];
  if (plane == 0 || plane > MOST_INVOCATIONS || ip->local[2] == 0 || plane * ip->local[2] > MOST_INVOCATIONS) {
    ip->status = VYRE_ERROR(VYRE_CODE_INPUT,
                            "a workgroup of %" PRIu32 " x %" PRIu32 " x %" PRIu32 " invocations cannot run\nFix: take 1 to %u",
                            ip->local[0], ip->local[1], ip->local[2], MOST_INVOCATIONS);
    return false;
  }
  ip->count = ip->per_group = (uint32_t)plane * ip->local[2];
  if (!plan_together(ip))
    return false;
  ip->words = (ip->count + 63) / 64;
  return true;
}

bool
interp_prepare(interp *ip, const vyre_interp_options *options)
{
  const vyre_view *v = ip->view;
  const uint32_t program = ip->dispatch->program.id;
  if (program == 0 || program >= v->rows || VYRE_ROW_OP(v->op[program]) != VYRE_OP_program)
    return interp_refuse(ip, program, "this is no program");
  if (!vyre_module_is_sealed(ip->module)) {
    ip->status = VYRE_ERROR(VYRE_CODE_INTERNAL, "the module is not sealed");
    return false;
  }
  ip->begin = program;
  ip->end = v->next[program] ? v->next[program] : v->rows;
  ip->modes = v->imm[program] & VYRE_PROGRAM_FLOAT_MODES;
  ip->budget = options && options->steps ? options->steps : UINT64_C(1) << 28;
  ip->subgroup = options && options->subgroup ? options->subgroup : 32;
  if (ip->subgroup > 128 || (ip->subgroup & (ip->subgroup - 1)) != 0) {
    ip->status =
        VYRE_ERROR(VYRE_CODE_INPUT, "a subgroup cannot have %" PRIu32 " lanes\nFix: take a power of two, 1 to 128", ip->subgroup);
    return false;
  }
  ip->report = options && options->report_undefined && (v->imm[program] & VYRE_PROGRAM_RELAXED) != 0;
  ip->bounds = ip->report || (options && options->check_bounds);
  if (!plan_size(ip) || !plan_types(ip) || !interp_plan_planes(ip) || !plan_buffers(ip) || !plan_paths(ip) || !plan_masks(ip))
    return false;
  interp_fill_fixed(ip);
  return !options || !options->check_races || interp_races_start(ip);
}

void
interp_release(interp *ip)
{
  if (ip->races)
    interp_races_end(ip);
  const size_t rows = ip->end - ip->begin;
  for (uint32_t i = 0; i < ip->buffer_count; i++) {
    const buffer_state *buffer = &ip->buffers[i];
    const size_t size = buffer->size ? (size_t)buffer->size : 1;
    if (buffer->owned) {
      interp_give(ip, buffer->data, buffer->copies, size);
      interp_give(ip, buffer->written, buffer->copies, size);
    }
    interp_give(ip, buffer->descriptors, buffer->descriptor_count, sizeof *buffer->descriptors);
    interp_give(ip, buffer->initial, 1, size);
  }
  interp_give(ip, ip->plane, rows, sizeof *ip->plane);
  interp_give(ip, ip->literal, rows, sizeof *ip->literal);
  interp_give(ip, ip->path, rows, sizeof *ip->path);
  interp_give(ip, ip->lanes, ip->plane_count * ip->count, sizeof *ip->lanes);
  interp_give(ip, ip->scratch, (size_t)12 * ip->count, sizeof *ip->scratch);
  interp_give(ip, ip->origin, rows * ip->count, sizeof *ip->origin);
  interp_give(ip, ip->paths, ip->path_count, sizeof *ip->paths);
  interp_give(ip, ip->buffers, ip->buffer_count, sizeof *ip->buffers);
  interp_give(ip, ip->types, ip->type_count, sizeof *ip->types);
  interp_give(ip, ip->masks, ip->mask_capacity, sizeof *ip->masks);
  interp_give(ip, ip->returned, ip->words, sizeof *ip->returned);
  interp_give(ip, ip->steps, ip->count, sizeof *ip->steps);
}

/* Vars and shared and private memory are zero, or their initializer, once: at the start. */
void
interp_start_workgroup(interp *ip)
{
  const vyre_view *v = ip->view;
  memset(ip->returned, 0, ip->words * sizeof *ip->returned);
  memset(ip->steps, 0, ip->count * sizeof *ip->steps);
  ip->mask_top = 0;
  for (uint32_t row = v->first[ip->begin]; row; row = v->next[row]) {
    if (VYRE_ROW_OP(v->op[row]) != VYRE_OP_var)
      continue;
    memset(plane_of(ip, row), 0, sizeof(uint64_t) * ip->count * interp_planes_of(v, row));
    if (ip->report)
      memset(origin_of(ip, row), 0, sizeof(uint32_t) * ip->count);
  }
  for (uint32_t i = 0; i < ip->buffer_count; i++) {
    const buffer_state *buffer = &ip->buffers[i];
    if (buffer->owned && buffer->written)
      memset(buffer->written, 0, buffer->copies * (size_t)buffer->size);
    for (uint64_t k = 0; buffer->owned && k < buffer->copies; k++) {
      if (buffer->initial)
        memcpy(buffer->data + k * buffer->step, buffer->initial, (size_t)buffer->size);
      else
        memset(buffer->data + k * buffer->step, 0, (size_t)buffer->size);
    }
  }
  if (ip->races)
    interp_race_workgroup(ip);
}
