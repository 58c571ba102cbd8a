/* Pure rows: computed for all invocations at once if that is a loop over planes, otherwise one invocation after the other.
 *
 * With report_undefined, each row also records for each invocation whether its value is undefined: the first undefined row that it
 * comes from.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include "eval/lanes.h"
#include "eval/row.h"

#include <fenv.h>
#include <string.h>

/* ---- whole planes --------------------------------------------------------------------------------------------------- */

static uint32_t
lanes_of_row(const interp *ip, uint32_t row)
{
  return VYRE_TYPE_LANES(VYRE_ROW_TYPE(ip->view->op[row]));
}

static void
copy_planes(const interp *ip, uint64_t *to, const uint64_t *from, uint32_t planes)
{
  memmove(to, from, sizeof(uint64_t) * planes * ip->count);
}

/* Returns the planes of the right operand, a row or the literal. */
static const uint64_t *
right_planes(const interp *ip, uint32_t row)
{
  const uint32_t literal = ip->literal[row - ip->begin];
  if (literal != NO_PLANE)
    return ip->lanes + (size_t)literal * ip->count;
  return ip->view->b[row] ? plane_of(ip, ip->view->b[row]) : NULL;
}

static void
flush_planes(const interp *ip, vyre_kind kind, uint64_t *to, const uint64_t *from, uint32_t planes)
{
  for (size_t i = 0; i < (size_t)planes * ip->count; i++)
    to[i] = interp_flushed(ip, kind, from[i]);
}

/* Returns the planes of operand k, or a copy without denormals if the program flushes them. */
static const uint64_t *
flushed_operand(const interp *ip, uint32_t k, vyre_type type, const uint64_t *planes)
{
  if (!planes || !(ip->flush & vyre_mode_flush(VYRE_TYPE_KIND(type))))
    return planes;
  uint64_t *copy = ip->scratch + (size_t)k * 4 * ip->count;
  flush_planes(ip, VYRE_TYPE_KIND(type), copy, planes, VYRE_TYPE_LANES(type));
  return copy;
}

/* Computes one operation of a composite op in a program that flushes denormals. */
static uint64_t
flushed_step(const interp *ip, vyre_opcode op, vyre_kind kind, uint64_t a, uint64_t b)
{
  uint64_t result = 0;
  vyre_eval_lanes(op, kind, kind, &a, &b, NULL, &result, 1);
  return interp_flushed(ip, kind, result);
}

/* Computes smoothstep in a program that flushes denormals: each operation of its definition flushes, as in the SPIR-V written for
 * it. */
static void
run_flushed_smoothstep(const interp *ip, vyre_kind kind, const uint64_t *low, const uint64_t *high, const uint64_t *x,
                       uint64_t *out, size_t n)
{
  uint64_t number[4];
  for (uint64_t k = 0; k < 4; k++)
    vyre_eval_lanes(VYRE_OP_convert, VYRE_U32, kind, &k, NULL, NULL, &number[k], 1);
  for (size_t i = 0; i < n; i++) {
    const uint64_t over = flushed_step(ip, VYRE_OP_sub, kind, x[i], low[i]);
    const uint64_t whole = flushed_step(ip, VYRE_OP_sub, kind, high[i], low[i]);
    const uint64_t ratio = flushed_step(ip, VYRE_OP_fdiv, kind, over, whole);
    const uint64_t t = flushed_step(ip, VYRE_OP_fmin, kind, flushed_step(ip, VYRE_OP_fmax, kind, ratio, number[0]), number[1]);
    const uint64_t slope = flushed_step(ip, VYRE_OP_sub, kind, number[3], flushed_step(ip, VYRE_OP_mul, kind, number[2], t));
    out[i] = flushed_step(ip, VYRE_OP_mul, kind, flushed_step(ip, VYRE_OP_mul, kind, t, t), slope);
  }
}

static bool
run_lanewise(interp *ip, uint32_t row, vyre_opcode op)
{
  const vyre_view *v = ip->view;
  const vyre_type type = VYRE_ROW_TYPE(v->op[row]);
  const vyre_kind from = row_kind(v, v->a[row]), to = VYRE_TYPE_KIND(type);
  const uint32_t lanes = VYRE_TYPE_LANES(type);
  const size_t n = ip->count;
  const uint64_t *a = plane_of(ip, v->a[row]), *b = right_planes(ip, row), *c = v->c[row] ? plane_of(ip, v->c[row]) : NULL;
  uint64_t *out = plane_of(ip, row);
  const bool field = op == VYRE_OP_ubfe || op == VYRE_OP_sbfe;
  const bool scalar_condition = op == VYRE_OP_select && lanes_of_row(ip, v->a[row]) == 1;
  a = flushed_operand(ip, 0, VYRE_ROW_TYPE(v->op[v->a[row]]), a);
  b = flushed_operand(ip, 1, v->b[row] ? VYRE_ROW_TYPE(v->op[v->b[row]]) : VYRE_ROW_TYPE(v->op[v->a[row]]), b);
  c = flushed_operand(ip, 2, VYRE_ROW_TYPE(v->op[v->c[row]]), c);
  if (op == VYRE_OP_smoothstep && (ip->flush & vyre_mode_flush(to))) {
    run_flushed_smoothstep(ip, to, a, b, c, out, n * lanes);
    return true;
  }
  if (lanes == 1 || (!field && !scalar_condition))
    return vyre_eval_lanes(op, from, to, a, b, c, out, n * lanes);
  for (uint32_t k = 0; k < lanes; k++)
    if (!vyre_eval_lanes(op, from, to, a + (scalar_condition ? 0 : k * n), b + (field ? 0 : k * n), c + (field ? 0 : k * n),
                         out + k * n, n))
      return false;
  return true;
}

static void
run_join(interp *ip, uint32_t row)
{
  const uint32_t ids[3] = {ip->view->a[row], ip->view->b[row], ip->view->c[row]};
  uint64_t *out = plane_of(ip, row);
  for (uint32_t k = 0; k < 3; k++) {
    if (ids[k] == 0)
      continue;
    copy_planes(ip, out, plane_of(ip, ids[k]), lanes_of_row(ip, ids[k]));
    out += (size_t)lanes_of_row(ip, ids[k]) * ip->count;
  }
}

static void
run_shuffle(interp *ip, uint32_t row)
{
  const vyre_view *v = ip->view;
  const uint32_t ids[2] = {v->a[row], v->b[row]};
  uint64_t *out = plane_of(ip, row);
  for (uint32_t k = 0; k < lanes_of_row(ip, row); k++, out += ip->count) {
    const uint32_t from = VYRE_SHUFFLE_LANE(v->imm[row], k), side = ids[from >> 2];
    if (side != 0 && (from & 3u) < lanes_of_row(ip, side))
      copy_planes(ip, out, plane_of(ip, side) + (size_t)(from & 3u) * ip->count, 1);
    else
      memset(out, 0, sizeof(uint64_t) * ip->count);
  }
}

static void
run_lane(interp *ip, uint32_t row)
{
  const vyre_view *v = ip->view;
  const uint32_t lanes = lanes_of_row(ip, v->a[row]);
  const uint64_t *from = plane_of(ip, v->a[row]);
  uint64_t *out = plane_of(ip, row);
  if (VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM) {
    if (v->imm[row] < lanes)
      copy_planes(ip, out, from + (size_t)v->imm[row] * ip->count, 1);
    else
      memset(out, 0, sizeof(uint64_t) * ip->count);
    return;
  }
  const uint64_t *index = plane_of(ip, v->b[row]);
  for (uint32_t i = 0; i < ip->count; i++)
    out[i] = index[i] < lanes ? from[index[i] * ip->count + i] : 0;
}

static void
run_insert(interp *ip, uint32_t row)
{
  const vyre_view *v = ip->view;
  const uint32_t lanes = lanes_of_row(ip, row);
  uint64_t *out = plane_of(ip, row);
  const uint64_t *value = plane_of(ip, v->b[row]), *index = plane_of(ip, v->c[row]);
  copy_planes(ip, out, plane_of(ip, v->a[row]), lanes);
  for (uint32_t i = 0; i < ip->count; i++)
    if (index[i] < lanes)
      out[index[i] * ip->count + i] = value[i];
}

static void
run_part(interp *ip, uint32_t row)
{
  const vyre_view *v = ip->view;
  const uint32_t tuple = v->a[row], k = v->imm[row];
  const uint64_t *from = VYRE_ROW_OP(v->op[tuple]) == VYRE_OP_tuple ? plane_of(ip, vyre_tuple_part(v, tuple, k))
                                                                    : plane_of(ip, tuple) + (size_t)k * 4 * ip->count;
  copy_planes(ip, plane_of(ip, row), from, lanes_of_row(ip, row));
}

static void
run_id(interp *ip, uint32_t row, uint32_t op)
{
  uint64_t *out = plane_of(ip, row);
  const uint32_t count = ip->count;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t local[3], group[3];
    place_invocation(ip, i, local, group);
    for (uint32_t k = 0; k < 3; k++)
      out[(size_t)k * count + i] = op == VYRE_OP_wid ? group[k] : (uint32_t)(group[k] * ip->local[k] + local[k]);
  }
}

/* ---- one invocation after the other --------------------------------------------------------------------------------- */

static void
gather_value(const interp *ip, const uint64_t *planes, vyre_kind kind, uint32_t lanes, uint64_t invocation, vyre_value *out)
{
  for (uint32_t k = 0; k < lanes; k++)
    out->lane[k] = planes[(size_t)k * ip->count + invocation];
  for (uint32_t k = 0; (ip->flush & vyre_mode_flush(kind)) && k < lanes; k++)
    out->lane[k] = interp_flushed(ip, kind, out->lane[k]);
}

static void
gather_operand(const interp *ip, uint32_t id, uint64_t invocation, vyre_eval_operand *out, vyre_value parts[VYRE_EVAL_PARTS])
{
  const vyre_view *v = ip->view;
  *out = (vyre_eval_operand){.type = VYRE_ROW_TYPE(v->op[id])};
  if (id == 0)
    return;
  out->value = parts;
  if (VYRE_TYPE_KIND(out->type) != VYRE_TUPLE) {
    gather_value(ip, plane_of(ip, id), VYRE_TYPE_KIND(out->type), VYRE_TYPE_LANES(out->type), invocation, parts);
    return;
  }
  const uint32_t count = VYRE_TUPLE_COUNT(v->imm[id]);
  out->parts = count < VYRE_EVAL_PARTS ? count : VYRE_EVAL_PARTS;
  out->part_type = VYRE_TUPLE_TYPE(v->imm[id]);
  for (uint32_t k = 0; k < out->parts; k++) {
    if (VYRE_ROW_OP(v->op[id]) == VYRE_OP_tuple) {
      const uint32_t part = vyre_tuple_part(v, id, k);
      gather_value(ip, plane_of(ip, part), row_kind(v, part), lanes_of_row(ip, part), invocation, &parts[k]);
    } else {
      gather_value(ip, plane_of(ip, id) + (size_t)k * 4 * ip->count, VYRE_TYPE_KIND(out->part_type), 4, invocation, &parts[k]);
    }
  }
}

static bool
evaluate(const interp *ip, uint32_t row, uint64_t invocation, vyre_value result[VYRE_EVAL_PARTS], bool *out_undefined)
{
  const vyre_view *v = ip->view;
  vyre_eval_operand operands[3];
  vyre_value parts[3][VYRE_EVAL_PARTS] = {{{{0}}}};
  gather_operand(ip, v->a[row], invocation, &operands[0], parts[0]);
  gather_operand(ip, v->b[row], invocation, &operands[1], parts[1]);
  gather_operand(ip, v->c[row], invocation, &operands[2], parts[2]);
  if (ip->literal[row - ip->begin] != NO_PLANE) {
    gather_value(ip, right_planes(ip, row), VYRE_TYPE_KIND(immediate_type(v, row)), 4, invocation, &parts[1][0]);
    operands[1] = (vyre_eval_operand){.value = parts[1], .type = immediate_type(v, row)};
  }
  return vyre_eval_here(v->op[row], v->imm[row], v->imm_hi[row], operands, result, out_undefined);
}

static bool
run_each(interp *ip, uint32_t row, const uint64_t *active)
{
  const vyre_type type = VYRE_ROW_TYPE(ip->view->op[row]);
  const uint32_t count = VYRE_TYPE_KIND(type) == VYRE_TUPLE ? 4 * VYRE_EVAL_PARTS : VYRE_TYPE_LANES(type);
  for_each_active(ip, active, i)
  {
    bool undefined;
    vyre_value result[VYRE_EVAL_PARTS];
    if (!evaluate(ip, row, i, result, &undefined))
      return false;
    uint64_t *out = plane_of(ip, row) + i;
    for (uint32_t k = 0; k < count; k++, out += ip->count)
      *out = result[k / 4].lane[k % 4];
  }
  return true;
}

/* ---- undefined values ----------------------------------------------------------------------------------------------- */

/* Returns the first undefined row that an operand's value comes from, or 0; for a `tuple` row, that of the first undefined part. */
static uint32_t
origin_at(const interp *ip, uint32_t id, uint64_t invocation)
{
  return id == 0 ? 0 : origin_of(ip, id)[invocation];
}

/* Returns the origin of a select, which is undefined through its condition or the selected arm, lane by lane. */
static uint32_t
select_origin(const interp *ip, uint32_t row, uint64_t invocation)
{
  const vyre_view *v = ip->view;
  const uint32_t condition = v->a[row];
  uint32_t origin = origin_at(ip, condition, invocation);
  for (uint32_t k = 0; origin == 0 && k < lanes_of_row(ip, condition); k++) {
    const bool yes = plane_of(ip, condition)[(size_t)k * ip->count + invocation] != 0;
    origin = origin_at(ip, yes ? v->b[row] : v->c[row], invocation);
  }
  return origin;
}

static uint32_t
operands_origin(const interp *ip, uint32_t row, uint64_t invocation)
{
  const vyre_view *v = ip->view;
  const uint32_t op = VYRE_ROW_OP(v->op[row]);
  if (op == VYRE_OP_select)
    return select_origin(ip, row, invocation);
  if (op == VYRE_OP_part && VYRE_ROW_OP(v->op[v->a[row]]) == VYRE_OP_tuple)
    return origin_at(ip, vyre_tuple_part(v, v->a[row], v->imm[row]), invocation);
  uint32_t origin = origin_at(ip, v->a[row], invocation);
  if (origin == 0)
    origin = origin_at(ip, v->b[row], invocation);
  return origin != 0 ? origin : origin_at(ip, v->c[row], invocation);
}

static bool
trace_origin(interp *ip, uint32_t row, const uint64_t *active)
{
  const vyre_opcode op = (vyre_opcode)VYRE_ROW_OP(ip->view->op[row]);
  const uint32_t when = ip->view->op_infos[op].undefined;
  const bool may_be = when != VYRE_UNDEFINED_NEVER && when != VYRE_UNDEFINED_OUT_OF_BOUNDS; /* these cases end the run */
  for_each_active(ip, active, i)
  {
    bool undefined = false;
    vyre_value unused[VYRE_EVAL_PARTS]; /* already computed, in the program's float modes */
    if (may_be && !evaluate(ip, row, i, unused, &undefined))
      return false;
    const uint32_t origin = operands_origin(ip, row, i);
    origin_of(ip, row)[i] = origin != 0 ? origin : undefined ? row : 0;
  }
  return true;
}

/* ---- entry ---------------------------------------------------------------------------------------------------------- */

static bool
compute_row(interp *ip, uint32_t row, const uint64_t *active)
{
  const vyre_view *v = ip->view;
  const vyre_opcode op = (vyre_opcode)VYRE_ROW_OP(v->op[row]);
  switch ((uint32_t)op) {
  case VYRE_OP_const:
  case VYRE_OP_spec:
  case VYRE_OP_lid:
  case VYRE_OP_lindex:
  case VYRE_OP_groups:
  case VYRE_OP_tuple:
    return true; /* filled at the start, or read through */
  case VYRE_OP_gid:
  case VYRE_OP_wid:
    run_id(ip, row, op);
    return true;
  case VYRE_OP_at:
    interp_at(ip, row);
    return true;
  case VYRE_OP_length:
    return interp_length(ip, row, active);
  case VYRE_OP_get:
    copy_planes(ip, plane_of(ip, row), plane_of(ip, v->a[row]), lanes_of_row(ip, row));
    return true;
  case VYRE_OP_part:
    run_part(ip, row);
    return true;
  case VYRE_OP_join:
    run_join(ip, row);
    return true;
  case VYRE_OP_shuffle:
    run_shuffle(ip, row);
    return true;
  case VYRE_OP_lane:
    run_lane(ip, row);
    return true;
  case VYRE_OP_insert:
    run_insert(ip, row);
    return true;
  case VYRE_OP_splat:
    for (uint32_t k = 0; k < lanes_of_row(ip, row); k++)
      copy_planes(ip, plane_of(ip, row) + (size_t)k * ip->count, plane_of(ip, v->a[row]), 1);
    return true;
  case VYRE_OP_bitcast:
    if (VYRE_TYPE_LANES(VYRE_ROW_TYPE(v->op[row])) == lanes_of_row(ip, v->a[row])) {
      copy_planes(ip, plane_of(ip, row), plane_of(ip, v->a[row]), lanes_of_row(ip, row));
      return true;
    }
    return run_each(ip, row, active);
  default:
    if (vyre_op_is_invocation(op))
      return true;
    if (!vyre_op_is_subgroup(op))
      return vyre_eval_is_lanewise(op) ? run_lanewise(ip, row, op) : run_each(ip, row, active);
    interp_subgroup(ip, row, active);
    return true;
  }
}

/* Returns whether float modes apply to the row: it computes with floats, and does not only move bits. */
static bool
is_arithmetic(vyre_opcode op, const vyre_op_info *info)
{
  if (op >= VYRE_OP_matvec && op <= VYRE_OP_inverse)
    return op != VYRE_OP_transpose;
  return op == VYRE_OP_ldexp || op == VYRE_OP_subgroup_alleq ||
         (op != VYRE_OP_bitcast && (info->klass == VYRE_CLASS_FLOAT || info->klass == VYRE_CLASS_NUM));
}

/* Returns the kind of the result, or of its parts if it is a tuple of one type. */
static vyre_kind
result_kind(const vyre_view *v, uint32_t row)
{
  return row_kind(v, row) == VYRE_TUPLE ? VYRE_TYPE_KIND(VYRE_TUPLE_TYPE(v->imm[row])) : row_kind(v, row);
}

/* Computes a row in the program's float modes: flushes operands and results, and rounds toward zero, by kind. */
static bool
compute_in_mode(interp *ip, uint32_t row, const uint64_t *active)
{
  const vyre_view *v = ip->view;
  const vyre_opcode op = (vyre_opcode)VYRE_ROW_OP(v->op[row]);
  if (!is_arithmetic(op, &v->op_infos[op]))
    return compute_row(ip, row, active);
  const vyre_kind kind = result_kind(v, row);
  const bool cut = (ip->modes & vyre_mode_to_zero(kind)) != 0;
  ip->flush = ip->modes;
  if (cut)
    fesetround(FE_TOWARDZERO);
  const bool ok = compute_row(ip, row, active);
  if (cut)
    fesetround(FE_TONEAREST);
  if (ip->flush & vyre_mode_flush(kind))
    flush_planes(ip, kind, plane_of(ip, row), plane_of(ip, row),
                 row_kind(v, row) == VYRE_TUPLE ? 4 * VYRE_EVAL_PARTS : lanes_of_row(ip, row));
  ip->flush = 0;
  return ok;
}

bool
interp_row(interp *ip, uint32_t row, const uint64_t *active)
{
  /* subgroup rows trace their own origins */
  const bool traces = ip->report && !vyre_op_is_subgroup((vyre_opcode)VYRE_ROW_OP(ip->view->op[row]));
  if (!(ip->modes ? compute_in_mode(ip, row, active) : compute_row(ip, row, active)) || (traces && !trace_origin(ip, row, active)))
    return interp_fail(ip, row, UINT64_MAX, VERIFY, "the interpreter does not support this row's op on these types");
  return true;
}
