/* Prepares a dispatch: planes for values, addresses, memory. Nothing is allocated after the first workgroup starts.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"
#include "vyre/view.h"

#include "eval/row.h"
#include "eval/scalar.h"

#include <inttypes.h>

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
  return (uint64_t)VYRE_TYPE_LANES((vyre_type)type) * vyre_kind_bytes(VYRE_TYPE_KIND((vyre_type)type));
}

uint64_t
interp_packed_size(const interp *ip, vyre_type_id type)
{
  return type < 256 ? value_size(type) : ip->types[type - 256].packed_size;
}

uint64_t
interp_capped(uint64_t count, uint64_t size)
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
        return interp_refuse(ip, 0, "the type table is not in order: a member of a struct has a type after the struct");
      plan->packed_size = interp_capped(1, plan->packed_size + interp_packed_size(ip, member));
      if (member >= 256 && ip->types[member - 256].depth > deepest)
        deepest = ip->types[member - 256].depth;
    }
  } else {
    if (info.element >= id)
      return interp_refuse(ip, 0, "an array type has elements of a later type");
    if (info.count_row >= ip->begin && info.count_row < ip->end) {
      uint64_t count = 0;
      if (!vyre_constant_value(ip->module, (vyre_row){info.count_row}, ip->dispatch->specs, ip->dispatch->spec_count, &count))
        return interp_refuse(ip, info.count_row, "the length of an array is not constant, or memory ran out while it was computed");
      plan->count = (uint32_t)count;
    }
    plan->packed_size = interp_capped(plan->count, interp_packed_size(ip, info.element));
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
  ip->types = interp_allocate(ip, ip->type_count, sizeof *ip->types);
  for (uint32_t i = 0; ip->types && i < ip->type_count; i++)
    if (!plan_type(ip, 256 + i))
      return false;
  return ip->types != NULL;
}

/* ---- paths ---------------------------------------------------------------------------------------------------------- */

/* Returns a struct member's offset in the buffer's layout. */
static uint64_t
member_offset(const interp *ip, bool packed, const vyre_type_info *info, uint32_t member)
{
  if (!packed)
    return info->members[member].offset;
  uint64_t offset = 0;
  for (uint32_t i = 0; i < member; i++)
    offset += interp_packed_size(ip, info->members[i].type);
  return offset;
}

/* Plans a step to a descriptor of an array, or to an inner array of descriptors. */
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
  const uint32_t scalar = vyre_kind_bytes(kind);
  to->lane_stride = to->type < 256 ? vyre_kind_bytes(VYRE_TYPE_KIND((vyre_type)to->type)) : 0;
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
    to->stride = packed ? interp_packed_size(ip, info.element) : info.stride;
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
      return interp_refuse(ip, row, "the path does not name a member");
    plan->bias = member_offset(ip, packed, &info, v->imm[row]);
  } else if (literal) {
    plan->bias =
        v->imm[row] < plan->bound ? from->choices ? v->imm[row] * plan->stride : interp_capped(v->imm[row], plan->stride) : NOWHERE;
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
  ip->paths = interp_allocate(ip, count, sizeof *ip->paths);
  ip->path_count = count;
  for (uint32_t row = ip->begin; ip->paths && row < ip->end; row++) {
    const uint32_t op = VYRE_ROW_OP(v->op[row]);
    if (op == VYRE_OP_buffer) {
      path_plan *plan = path_of(ip, row);
      *plan = (path_plan){.buffer = buffer, .type = v->imm[row], .fixed = true};
      plan->choices = ip->buffers[buffer++].descriptor_steps;
      plan->lane_stride = plan->type < 256 ? vyre_kind_bytes(VYRE_TYPE_KIND((vyre_type)plan->type)) : 0;
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
  uint32_t *depth = interp_allocate(ip, ip->end - ip->begin, sizeof *depth);
  if (!depth)
    return false;
  for (uint32_t row = ip->begin; row < ip->end; row++) {
    const uint32_t parent = v->parent[row];
    if (parent >= ip->begin && parent < row)
      depth[row - ip->begin] = depth[parent - ip->begin] + 1;
    if (depth[row - ip->begin] > deepest)
      deepest = depth[row - ip->begin];
  }
  interp_free(ip, depth, ip->end - ip->begin, sizeof *depth);
  if (deepest / 2 > DEEPEST_CONTROL) { /* a construct and its region are two levels */
    ip->status = VYRE_ERROR(VYRE_CODE_INPUT, "the program nests control more than %u deep\nFix: flatten it", DEEPEST_CONTROL);
    return false;
  }
  ip->mask_capacity = (size_t)(deepest + 2) * 4 * ip->words;
  ip->masks = interp_allocate(ip, ip->mask_capacity, sizeof *ip->masks);
  ip->returned = interp_allocate(ip, ip->words, sizeof *ip->returned);
  ip->steps = interp_allocate(ip, ip->count, sizeof *ip->steps);
  return ip->masks && ip->returned && ip->steps;
}

/* ---- entry ---------------------------------------------------------------------------------------------------------- */

/* Finds whether the program has a grid barrier. All workgroups then run side by side. */
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
                     " invocations each, cannot meet at a 'barrier device'\nFix: use at most %u invocations in all",
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
    return interp_refuse(ip, d->program.id, "the workgroup size is not constant, or memory ran out while it was computed");
  const uint64_t plane = (uint64_t)ip->local[0] * ip->local[1];
  if (plane == 0 || plane > MOST_INVOCATIONS || ip->local[2] == 0 || plane * ip->local[2] > MOST_INVOCATIONS) {
    ip->status = VYRE_ERROR(VYRE_CODE_INPUT,
                            "a workgroup of %" PRIu32 " x %" PRIu32 " x %" PRIu32 " invocations cannot run\nFix: use 1 to %u",
                            ip->local[0], ip->local[1], ip->local[2], MOST_INVOCATIONS);
    return false;
  }
  ip->count = ip->per_group = (uint32_t)plane * ip->local[2];
  if (!plan_together(ip))
    return false;
  ip->words = (ip->count + 63) / 64;
  return true;
}

static bool
plan_issue(interp *ip, const vyre_cost_model *model)
{
  const vyre_view *v = ip->view;
  ip->issue = interp_allocate(ip, ip->end - ip->begin, sizeof *ip->issue);
  for (uint32_t row = ip->begin; ip->issue && row < ip->end; row++)
    ip->issue[row - ip->begin] = vyre_cost_of(model, VYRE_ROW_OP(v->op[row]), vyre_row_works_on(v, row)).issue;
  return ip->issue != NULL;
}

bool
interp_prepare(interp *ip, const vyre_interp_options *options)
{
  const vyre_view *v = ip->view;
  const uint32_t program = ip->dispatch->program.id;
  if (program == 0 || program >= v->rows || VYRE_ROW_OP(v->op[program]) != VYRE_OP_program)
    return interp_refuse(ip, program, "this is not a program");
  if (!vyre_module_is_sealed(ip->module)) {
    ip->status = VYRE_ERROR(VYRE_CODE_INTERNAL, "the module is not sealed");
    return false;
  }
  ip->begin = program;
  ip->end = vyre_program_end(v, program);
  ip->modes = v->imm[program] & VYRE_PROGRAM_FLOAT_MODES;
  ip->budget = options->steps ? options->steps : UINT64_C(1) << 28;
  ip->subgroup = options->subgroup ? options->subgroup : 32;
  if (ip->subgroup > 128 || (ip->subgroup & (ip->subgroup - 1)) != 0) {
    ip->status = VYRE_ERROR(VYRE_CODE_INPUT, "a subgroup cannot have %" PRIu32 " lanes\nFix: use a power of two from 1 to 128",
                            ip->subgroup);
    return false;
  }
  ip->report = options->report_undefined && (v->imm[program] & VYRE_PROGRAM_RELAXED) != 0;
  ip->unset = options->unset;
  ip->bounds = ip->report || options->check_bounds;
  if (!plan_size(ip) || !plan_types(ip) || !interp_plan_planes(ip) || !interp_plan_buffers(ip) || !plan_paths(ip) ||
      !plan_masks(ip))
    return false;
  interp_fill_fixed(ip);
  if (options->weigh && !plan_issue(ip, options->cost_model))
    return false;
  return !options->check_races || interp_races_start(ip);
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
      interp_free(ip, buffer->data, buffer->copies, size);
      interp_free(ip, buffer->written, buffer->copies, size);
    }
    interp_free(ip, buffer->descriptors, buffer->descriptor_count, sizeof *buffer->descriptors);
    interp_free(ip, buffer->initial, 1, size);
  }
  interp_free(ip, ip->plane, rows, sizeof *ip->plane);
  interp_free(ip, ip->literal, rows, sizeof *ip->literal);
  interp_free(ip, ip->path, rows, sizeof *ip->path);
  interp_free(ip, ip->issue, rows, sizeof *ip->issue);
  interp_free(ip, ip->lanes, ip->plane_count * ip->count, sizeof *ip->lanes);
  interp_free(ip, ip->scratch, (size_t)12 * ip->count, sizeof *ip->scratch);
  interp_free(ip, ip->origin, rows * ip->count, sizeof *ip->origin);
  interp_free(ip, ip->paths, ip->path_count, sizeof *ip->paths);
  interp_free(ip, ip->buffers, ip->buffer_count, sizeof *ip->buffers);
  interp_free(ip, ip->types, ip->type_count, sizeof *ip->types);
  interp_free(ip, ip->masks, ip->mask_capacity, sizeof *ip->masks);
  interp_free(ip, ip->returned, ip->words, sizeof *ip->returned);
  interp_free(ip, ip->steps, ip->count, sizeof *ip->steps);
}

/* Initializes vars and workgroup and private memory to zero or their initializers. */
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
    const uint32_t bits = vyre_kind_bits(VYRE_TYPE_KIND(VYRE_ROW_TYPE(v->op[row])));
    const uint64_t start = v->imm_hi[row] & VYRE_ACCESS_UNSET ? ip->unset & (UINT64_MAX >> (64 - bits)) : 0;
    for (size_t i = 0; i < (size_t)ip->count * interp_planes_of(v, row); i++)
      plane_of(ip, row)[i] = start;
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
