/* Addresses and accesses. Accesses in bounds touch the buffer's bytes; out of bounds, a load gives zero and a store does nothing.
 *
 * Every index of a path is checked against its own array, vector or matrix, and the whole access against the buffer's bytes. Memory
 * is sequentially consistent in lockstep: all active invocations execute a row, in their order, before the next row.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include "eval/lanes.h"
#include "eval/row.h"
#include "eval/scalar.h"

#include <fenv.h>

/* ---- addresses ------------------------------------------------------------------------------------------------------ */

/* Returns the elements of the runtime array at this address. */
static uint64_t
runtime_count(const buffer_state *buffer, uint64_t address, uint64_t stride)
{
  const uint64_t offset = address % FARTHEST, size = descriptor_at(buffer, address).size;
  return offset >= size || stride == 0 ? 0 : (size - offset) / stride;
}

void
interp_at(interp *ip, uint32_t row)
{
  const vyre_view *v = ip->view;
  const path_plan *plan = path_of(ip, row);
  if (plan->fixed)
    return;
  const buffer_state *buffer = &ip->buffers[plan->buffer];
  const uint64_t *base = plane_of(ip, v->a[row]);
  uint64_t *to = plane_of(ip, row);
  const bool literal = (VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM) != 0;
  const uint64_t *index = literal ? NULL : plane_of(ip, v->b[row]);
  const uint64_t fixed = literal && plan->bound == NOWHERE ? v->imm[row] : 0;
  for (uint32_t i = 0; i < ip->count; i++) {
    const uint64_t at = base[i];
    uint64_t step = plan->bias;
    if (!literal || plan->bound == NOWHERE) {
      const uint64_t which = literal ? fixed : index[i];
      const uint64_t bound = plan->bound == NOWHERE && at != NOWHERE ? runtime_count(buffer, at, plan->stride) : plan->bound;
      const bool fits = plan->stride == 0 || plan->stride >= FARTHEST || which < FARTHEST / plan->stride;
      step = which < bound && fits ? which * plan->stride : NOWHERE;
    }
    to[i] = stepped(at, step);
  }
}

/* Checks that the address is defined, which every access requires. */
static bool
address_defined(interp *ip, uint32_t row, uint32_t path, const uint64_t *active)
{
  return !ip->report || interp_defined(ip, row, path, active, "an address");
}

bool
interp_length(interp *ip, uint32_t row, const uint64_t *active)
{
  const path_plan *plan = path_of(ip, ip->view->a[row]);
  const uint64_t *base = plane_of(ip, ip->view->a[row]);
  const vyre_type_info info = vyre_type_get(ip->module, plan->type);
  uint64_t *to = plane_of(ip, row);
  for (uint32_t i = 0; i < ip->count; i++)
    to[i] = base[i] == NOWHERE ? 0 : runtime_count(&ip->buffers[plan->buffer], base[i], info.stride) & UINT32_MAX;
  if (!ip->bounds)
    return true;
  if (!address_defined(ip, row, ip->view->a[row], active))
    return false;
  for_each_active(ip, active, i) /* the descriptor of the array must be bound */
  {
    const buffer_state *buffer = &ip->buffers[plan->buffer];
    if (base[i] == NOWHERE || !descriptor_at(buffer, base[i]).data)
      return interp_out_of_bounds(ip, row, i, buffer, base[i]);
  }
  return true;
}

static uint64_t
read_scalar(const uint8_t *from, vyre_kind kind)
{
  uint64_t bits = 0;
  uint32_t word;
  switch (vyre_kind_bytes(kind)) {
  case 1:
    return *from;
  case 2:
    memcpy(&bits, from, 2);
    return bits;
  case 8:
    memcpy(&bits, from, 8);
    return bits;
  default:
    memcpy(&word, from, 4);
    return kind == VYRE_BOOL ? word != 0 : word;
  }
}

static void
write_scalar(uint8_t *to, vyre_kind kind, uint64_t bits)
{
  switch (vyre_kind_bytes(kind)) {
  case 1:
    memcpy(to, &bits, 1);
    return;
  case 2:
    memcpy(to, &bits, 2);
    return;
  case 8:
    memcpy(to, &bits, 8);
    return;
  default:
    memcpy(to, &bits, 4);
    return;
  }
}

/* ---- unwritten memory ------------------------------------------------------------------------------------------------ */

/* Returns whether these bytes have a value. */
static bool
is_written(const buffer_state *buffer, const uint8_t *place, uint32_t size)
{
  const uint8_t *written = buffer->written ? buffer->written + (place - buffer->data) : NULL;
  bool all = true;
  for (uint32_t i = 0; written && i < size; i++)
    all &= written[i] != 0;
  return all;
}

static void
note_written(const buffer_state *buffer, const uint8_t *place, uint32_t size, bool known)
{
  if (buffer->written)
    memset(buffer->written + (place - buffer->data), known, size);
}

/* Returns whether unwritten bytes may be copied. Functions copy partly written arrays and structs by value, which is not a
 * fault. */
static bool
may_copy_unwritten(const interp *ip, const buffer_state *from, const buffer_state *to)
{
  return to->written && (ip->view->imm_hi[from->row] & ip->view->imm_hi[to->row] & VYRE_ACCESS_UNSET) != 0;
}

/* Fails because an unwritten value is used. Returns false. */
static bool
fail_unwritten(interp *ip, uint32_t row, uint64_t invocation, const buffer_state *buffer)
{
  char name[INTERP_TEXT];
  return interp_fail(ip, row, invocation, "write it first, or give it an initializer",
                     "undefined: a value comes from %s, which was not written, in", interp_describe_buffer(ip, buffer->row, name));
}

/* ---- loads and stores ----------------------------------------------------------------------------------------------- */

static uint64_t
access_size(const path_plan *plan, uint32_t lanes, uint32_t scalar)
{
  return (uint64_t)(lanes - 1) * plan->lane_stride + scalar;
}

static void
clear_origin(interp *ip, uint32_t row, const uint64_t *active)
{
  if (ip->report)
    for_each_active(ip, active, i) origin_of(ip, row)[i] = 0;
}

bool
interp_load(interp *ip, uint32_t row, const uint64_t *active)
{
  const uint32_t path = ip->view->a[row];
  const path_plan *plan = path_of(ip, path);
  const buffer_state *buffer = &ip->buffers[plan->buffer];
  const vyre_type type = VYRE_ROW_TYPE(ip->view->op[row]);
  const vyre_kind kind = VYRE_TYPE_KIND(type);
  const uint32_t lanes = VYRE_TYPE_LANES(type);
  const uint64_t size = access_size(plan, lanes, vyre_kind_bytes(kind));
  const uint64_t *at = plane_of(ip, path);
  uint64_t *to = plane_of(ip, row);
  if (!address_defined(ip, row, path, active))
    return false;
  clear_origin(ip, row, active);
  for_each_active(ip, active, i)
  {
    const uint8_t *from = place_of(buffer, i, at[i], size);
    if (!from && ip->bounds)
      return interp_out_of_bounds(ip, row, i, buffer, at[i]);
    for (uint32_t k = 0; k < lanes; k++)
      to[(size_t)k * ip->count + i] = from ? read_scalar(from + (size_t)k * plan->lane_stride, kind) : 0;
    for (uint32_t k = 0; from && buffer->written && k < lanes; k++)
      if (!is_written(buffer, from + (size_t)k * plan->lane_stride, vyre_kind_bytes(kind)))
        origin_of(ip, row)[i] = row;
  }
  return !ip->races || interp_race_plain(ip, row, active, RACE_READ);
}

bool
interp_store(interp *ip, uint32_t row, const uint64_t *active)
{
  const uint32_t path = ip->view->a[row], value = ip->view->b[row];
  const path_plan *plan = path_of(ip, path);
  const buffer_state *buffer = &ip->buffers[plan->buffer];
  const vyre_type type = VYRE_ROW_TYPE(ip->view->op[value]);
  const vyre_kind kind = VYRE_TYPE_KIND(type);
  const uint32_t lanes = VYRE_TYPE_LANES(type);
  const uint64_t size = access_size(plan, lanes, vyre_kind_bytes(kind));
  const uint64_t *at = plane_of(ip, path), *from = plane_of(ip, value);
  if (!address_defined(ip, row, path, active) || (ip->report && !interp_defined(ip, row, value, active, "a stored value")))
    return false;
  for_each_active(ip, active, i)
  {
    uint8_t *to = place_of(buffer, i, at[i], size);
    if (!to && ip->bounds)
      return interp_out_of_bounds(ip, row, i, buffer, at[i]);
    for (uint32_t k = 0; to && k < lanes; k++) {
      write_scalar(to + (size_t)k * plan->lane_stride, kind, from[(size_t)k * ip->count + i]);
      note_written(buffer, to + (size_t)k * plan->lane_stride, vyre_kind_bytes(kind), true);
    }
  }
  return !ip->races || interp_race_plain(ip, row, active, RACE_WRITE);
}

void
interp_set(interp *ip, uint32_t row, const uint64_t *active)
{
  const uint32_t var = ip->view->a[row], value = ip->view->b[row];
  const uint32_t lanes = VYRE_TYPE_LANES(VYRE_ROW_TYPE(ip->view->op[var]));
  for (uint32_t k = 0; k < lanes; k++) {
    uint64_t *to = plane_of(ip, var) + (size_t)k * ip->count;
    const uint64_t *from = plane_of(ip, value) + (size_t)k * ip->count;
    for_each_active(ip, active, i) to[i] = from[i];
  }
  if (ip->report)
    for_each_active(ip, active, i) origin_of(ip, var)[i] = origin_of(ip, value)[i];
}

/* ---- copies --------------------------------------------------------------------------------------------------------- */

/* One side of a copy: a location and its layout. */
typedef struct side {
  const buffer_state *buffer;
  uint64_t offset;
  uint64_t lane_stride;
} side;

static void
step_into(side *s, const vyre_type_info *info, uint64_t index, uint64_t packed_before)
{
  const bool packed = s->buffer->packed;
  uint64_t step = 0;
  const uint32_t scalar = vyre_kind_bytes(VYRE_TYPE_KIND((vyre_type)info->element)); /* used only for a matrix */
  switch (info->form) {
  case VYRE_FORM_VALUE:
  case VYRE_FORM_WORDS:
    return;
  case VYRE_FORM_STRUCT:
    step = packed ? packed_before : info->members[index].offset;
    break;
  case VYRE_FORM_ARRAY:
    step = packed ? packed_before : index * info->stride;
    break;
  case VYRE_FORM_MATRIX:
    if (!packed && (info->flags & VYRE_TYPE_ROW_MAJOR)) {
      step = index * scalar;
      s->lane_stride = info->stride;
    } else {
      step = packed ? packed_before : index * info->stride;
      s->lane_stride = scalar;
    }
    break;
  }
  s->offset = stepped(s->offset, step < FARTHEST ? step : NOWHERE);
}

static uint8_t *
place_of_lane(const side *s, uint64_t invocation, uint32_t lane, uint32_t scalar)
{
  const uint64_t at = stepped(s->offset, lane * s->lane_stride);
  return at == NOWHERE ? NULL : place_of(s->buffer, invocation, at, scalar);
}

/* Copies scalar by scalar, each with its own bounds check, between two layouts. plan_type bounds the recursion. Returns the side
 * that is out of bounds, or one without a buffer. */
static side
copy_type(interp *ip, uint32_t row, vyre_type_id type, uint64_t invocation, side to, side from)
{
  side outside = {0};
  if (type < 256) {
    const vyre_kind kind = VYRE_TYPE_KIND((vyre_type)type);
    const uint32_t scalar = vyre_kind_bytes(kind);
    for (uint32_t k = 0; k < VYRE_TYPE_LANES((vyre_type)type); k++) {
      const uint8_t *source = place_of_lane(&from, invocation, k, scalar);
      uint8_t *target = place_of_lane(&to, invocation, k, scalar);
      const bool known = !target || !source || is_written(from.buffer, source, scalar);
      if (!known && !may_copy_unwritten(ip, from.buffer, to.buffer)) {
        fail_unwritten(ip, row, invocation, from.buffer);
        return outside;
      }
      if (target) {
        write_scalar(target, kind, source ? read_scalar(source, kind) : 0);
        note_written(to.buffer, target, scalar, known);
      }
      if (!outside.buffer && (!target || !source))
        outside = target ? from : to;
      if (ip->races && ((source && !interp_race_touch(ip, from.buffer, invocation, source, scalar, RACE_READ)) ||
                        (target && !interp_race_touch(ip, to.buffer, invocation, target, scalar, RACE_WRITE))))
        return outside;
    }
    return outside;
  }
  const vyre_type_info info = vyre_type_get(ip->module, type);
  const uint64_t count = ip->types[type - 256].count;
  uint64_t packed_before = 0;
  for (uint64_t i = 0; i < count; i++) {
    const vyre_type_id part = info.form == VYRE_FORM_STRUCT ? info.members[i].type : info.element;
    const uint64_t scalar = part < 256 ? vyre_kind_bytes(VYRE_TYPE_KIND((vyre_type)part)) : 0;
    side part_to = to, part_from = from;
    part_to.lane_stride = part_from.lane_stride = scalar;
    step_into(&part_to, &info, i, packed_before);
    step_into(&part_from, &info, i, packed_before);
    const side left = copy_type(ip, row, part, invocation, part_to, part_from);
    outside = outside.buffer ? outside : left;
    if (ip->status)
      return outside;
    packed_before += part < 256 ? VYRE_TYPE_LANES((vyre_type)part) * scalar : ip->types[part - 256].packed_size;
  }
  return outside;
}

bool
interp_copy(interp *ip, uint32_t row, const uint64_t *active)
{
  const uint32_t ids[2] = {ip->view->a[row], ip->view->b[row]};
  const path_plan *to = path_of(ip, ids[0]), *from = path_of(ip, ids[1]);
  if (to->choices || from->choices)
    return interp_fail(ip, row, UINT64_MAX, "copy the contents of each buffer", "the interpreter cannot copy arrays of buffers:");
  if (!address_defined(ip, row, ids[0], active) || !address_defined(ip, row, ids[1], active))
    return false;
  if (ip->races)
    interp_race_row(ip, row);
  for_each_active(ip, active, i)
  {
    const side target = {&ip->buffers[to->buffer], plane_of(ip, ids[0])[i], to->lane_stride};
    const side source = {&ip->buffers[from->buffer], plane_of(ip, ids[1])[i], from->lane_stride};
    const side outside = copy_type(ip, row, to->type, i, target, source);
    if (ip->status)
      return false;
    if (outside.buffer && ip->bounds)
      return interp_out_of_bounds(ip, row, i, outside.buffer, outside.offset);
  }
  if (ip->races)
    interp_race_copied(ip, active);
  return true;
}

/* ---- atomics -------------------------------------------------------------------------------------------------------- */

/* Combines floats in the program's float modes, through another file's function, so that the compiler does not move the computation
 * across fesetround. */
static uint64_t
combine_floats(interp *ip, vyre_opcode step, vyre_kind kind, uint64_t old, uint64_t value)
{
  const bool cut = (ip->modes & vyre_mode_to_zero(kind)) != 0;
  ip->flush = ip->modes;
  const uint64_t x = interp_flushed(ip, kind, old), y = interp_flushed(ip, kind, value);
  uint64_t result = 0;
  if (cut)
    fesetround(FE_TOWARDZERO);
  vyre_eval_lanes(step, kind, kind, &x, &y, NULL, &result, 1);
  if (cut)
    fesetround(FE_TONEAREST);
  result = interp_flushed(ip, kind, result);
  ip->flush = 0;
  return result;
}

static uint64_t
combine(interp *ip, vyre_opcode op, vyre_kind kind, uint64_t old, uint64_t value, uint64_t comparator)
{
  const vyre_opcode step = (vyre_opcode)vyre_op_infos[op].combines;
  uint64_t result = old;
  if (step && vyre_kind_is_float(kind))
    return combine_floats(ip, step, kind, old, value);
  if (step)
    vyre_eval_lanes(step, kind, kind, &old, &value, NULL, &result, 1);
  else if (op == VYRE_OP_atomic_store || op == VYRE_OP_atomic_exchange ||
           (op == VYRE_OP_atomic_compare_exchange && old == comparator))
    result = value;
  return result;
}

bool
interp_atomic(interp *ip, uint32_t row, const uint64_t *active)
{
  const vyre_view *v = ip->view;
  const vyre_opcode op = (vyre_opcode)VYRE_ROW_OP(v->op[row]);
  const path_plan *plan = path_of(ip, v->a[row]);
  const buffer_state *buffer = &ip->buffers[plan->buffer];
  const vyre_kind kind = VYRE_TYPE_KIND((vyre_type)plan->type);
  const uint32_t size = vyre_kind_bytes(kind);
  const uint64_t *at = plane_of(ip, v->a[row]);
  const uint64_t *value = v->b[row] ? plane_of(ip, v->b[row]) : NULL, *comparator = v->c[row] ? plane_of(ip, v->c[row]) : NULL;
  uint64_t *result = ip->plane[row - ip->begin] == NO_PLANE ? NULL : plane_of(ip, row);
  if (!address_defined(ip, row, v->a[row], active))
    return false;
  if (ip->report && ((value && !interp_defined(ip, row, v->b[row], active, "a stored value")) ||
                     (comparator && !interp_defined(ip, row, v->c[row], active, "a comparator"))))
    return false;
  clear_origin(ip, row, active);
  if (ip->races)
    interp_race_row(ip, row);
  /* An atomic that computes with an undefined old value, or compares it, stores an undefined value. */
  const bool only_moves = op == VYRE_OP_atomic_load || op == VYRE_OP_atomic_store || op == VYRE_OP_atomic_exchange;
  for_each_active(ip, active, i)
  {
    uint8_t *place = place_of(buffer, i, at[i], size);
    if (!place && ip->bounds)
      return interp_out_of_bounds(ip, row, i, buffer, at[i]);
    const bool known = !place || is_written(buffer, place, size);
    if (!known && !only_moves)
      return fail_unwritten(ip, row, i, buffer);
    const uint64_t old = place ? read_scalar(place, kind) : 0;
    if (place && op != VYRE_OP_atomic_load) {
      write_scalar(place, kind, combine(ip, op, kind, old, value ? value[i] : 0, comparator ? comparator[i] : 0));
      note_written(buffer, place, size, true);
    }
    if (result)
      result[i] = old;
    if (!known && result)
      origin_of(ip, row)[i] = row;
    const bool writes = op != VYRE_OP_atomic_load && (op != VYRE_OP_atomic_compare_exchange || old == comparator[i]);
    if (ip->races && place && !interp_race_atomic(ip, buffer, i, place, size, writes))
      return false;
  }
  return true;
}
