/* Assigns planes to rows, and fills those that never change.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include "eval/row.h"
#include "eval/scalar.h"

uint32_t
interp_planes_of(const vyre_view *v, uint32_t row)
{
  const vyre_type type = VYRE_ROW_TYPE(v->op[row]);
  const uint32_t op = VYRE_ROW_OP(v->op[row]);
  switch (VYRE_TYPE_KIND(type)) {
  case VYRE_VOID:
    return 0;
  case VYRE_PATH:
  case VYRE_OPAQUE:
    return 1;
  case VYRE_TUPLE:
    return op == VYRE_OP_tuple ? 0 : 4 * VYRE_EVAL_PARTS;
  case VYRE_BOOL:
  case VYRE_I8:
  case VYRE_U8:
  case VYRE_I16:
  case VYRE_U16:
  case VYRE_I32:
  case VYRE_U32:
  case VYRE_I64:
  case VYRE_U64:
  case VYRE_F16:
  case VYRE_F32:
  case VYRE_F64:
  case VYRE_KIND__COUNT:
    break;
  }
  return VYRE_TYPE_LANES(type);
}

static bool
check_operands(interp *ip, uint32_t row)
{
  const vyre_view *v = ip->view;
  const uint32_t ids[3] = {v->a[row], v->b[row], v->c[row]};
  for (uint32_t k = 0; k < 3; k++)
    if (ids[k] != 0 && (ids[k] < ip->begin || ids[k] >= ip->end))
      return interp_refuse(ip, row, "an operand is outside the program");
  return true;
}

bool
interp_plan_planes(interp *ip)
{
  const vyre_view *v = ip->view;
  const uint32_t rows = ip->end - ip->begin;
  ip->plane = interp_allocate(ip, rows, sizeof *ip->plane);
  ip->literal = interp_allocate(ip, rows, sizeof *ip->literal);
  ip->path = interp_allocate(ip, rows, sizeof *ip->path);
  if (!ip->plane || !ip->literal || !ip->path)
    return false;
  uint32_t next = 0;
  for (uint32_t i = 0; i < rows; i++) {
    const uint32_t row = ip->begin + i, wanted = interp_planes_of(v, row);
    if (!check_operands(ip, row))
      return false;
    ip->plane[i] = wanted ? next : NO_PLANE;
    next += wanted;
    ip->literal[i] = NO_PLANE;
    if ((VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM) && VYRE_ROW_OP(v->op[row]) != VYRE_OP_at) {
      ip->literal[i] = next;
      next += 4;
    }
    if (next > UINT32_MAX - 64)
      return interp_refuse(ip, row, "the program is too large to be interpreted");
  }
  ip->plane_count = next;
  ip->lanes = interp_allocate(ip, (size_t)next * ip->count, sizeof *ip->lanes);
  ip->scratch = interp_allocate(ip, (size_t)12 * ip->count, sizeof *ip->scratch);
  if (ip->report)
    ip->origin = interp_allocate(ip, (size_t)rows * ip->count, sizeof *ip->origin);
  return ip->lanes && ip->scratch && (!ip->report || ip->origin);
}

static void
fill(interp *ip, uint32_t plane, uint32_t planes, uint64_t bits)
{
  uint64_t *to = ip->lanes + (size_t)plane * ip->count;
  for (size_t i = 0; i < (size_t)planes * ip->count; i++)
    to[i] = bits;
}

void
interp_fill_fixed(interp *ip)
{
  const vyre_view *v = ip->view;
  for (uint32_t row = ip->begin; row < ip->end; row++) {
    const uint32_t op = VYRE_ROW_OP(v->op[row]), plane = ip->plane[row - ip->begin];
    uint64_t bits = 0;
    if (ip->literal[row - ip->begin] != NO_PLANE) {
      const uint32_t width = vyre_kind_bits(VYRE_TYPE_KIND(immediate_type(v, row)));
      fill(ip, ip->literal[row - ip->begin], 4, ((uint64_t)v->imm_hi[row] << 32 | v->imm[row]) & bits_mask(width ? width : 64));
    }
    if ((op == VYRE_OP_const || op == VYRE_OP_spec) &&
        vyre_constant_value(ip->module, (vyre_row){row}, ip->dispatch->specs, ip->dispatch->spec_count, &bits))
      fill(ip, plane, VYRE_TYPE_LANES(VYRE_ROW_TYPE(v->op[row])), bits);
    if (op == VYRE_OP_groups)
      for (uint32_t k = 0; k < 3; k++)
        fill(ip, plane + k, 1, ip->dispatch->groups[k]);
    if (op > VYRE_OP_lindex && vyre_op_is_invocation(op))
      interp_fill_place(ip, row);
    if (op != VYRE_OP_lid && op != VYRE_OP_lindex)
      continue;
    uint64_t *to = plane_of(ip, row);
    for (uint32_t i = 0; i < ip->count; i++) {
      uint32_t local[3], group[3];
      place_invocation(ip, i, local, group);
      if (op == VYRE_OP_lindex)
        to[i] = i % ip->per_group;
      for (uint32_t k = 0; op == VYRE_OP_lid && k < 3; k++)
        to[(size_t)k * ip->count + i] = local[k];
    }
  }
}
