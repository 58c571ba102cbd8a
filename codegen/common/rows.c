/* What generators of code ask of rows.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "common.h"

#include <inttypes.h>
#include <stdio.h>

vyre_status
code_error(const vyre_module *module, uint32_t program, uint32_t row, const char *format, va_list arguments)
{
  char text[512];
  const char *name = vyre_row_name(module, (vyre_row){program}), *own = vyre_row_name(module, (vyre_row){row});
  vsnprintf(text, sizeof(text), format, arguments);
  if (row == program)
    return VYRE_ERROR(VYRE_CODE_INPUT, "program @%s: %s", name ? name : "?", text);
  return VYRE_ERROR(VYRE_CODE_INPUT, "program @%s, row %" PRIu32 "%s%s: %s", name ? name : "?", row, own ? " %" : "",
                    own ? own : "", text);
}

uint32_t
code_region_of(const vyre_view *v, uint32_t control, vyre_role role)
{
  for (uint32_t row = v->first[control]; row; row = v->next[row])
    if (VYRE_ROW_OP(v->op[row]) == VYRE_OP_region && v->imm[row] == (uint32_t)role)
      return row;
  return 0;
}

uint32_t
code_tuple_part(const vyre_view *v, uint32_t tuple, uint32_t k)
{
  for (uint32_t left = VYRE_TUPLE_COUNT(v->imm[tuple]); left > 3 && k >= 2; left -= 2, k -= 2)
    tuple = v->c[tuple];
  return k == 0 ? v->a[tuple] : k == 1 ? v->b[tuple] : v->c[tuple];
}

uint64_t
code_identity(vyre_opcode op, vyre_kind kind)
{
  const uint32_t bits = vyre_kind_bits(kind);
  const uint64_t ones = UINT64_MAX >> (64 - bits), half = ones ^ ones >> 1;
  const uint64_t infinity = kind == VYRE_F16 ? 0x7c00u : kind == VYRE_F32 ? 0x7f800000u : UINT64_C(0x7ff) << 52;
  const uint64_t one = kind == VYRE_F16 ? 0x3c00u : kind == VYRE_F32 ? 0x3f800000u : kind == VYRE_F64 ? UINT64_C(0x3ff) << 52 : 1;
  switch ((uint32_t)op) {
  case VYRE_OP_subgroup_mul:
    return one;
  case VYRE_OP_subgroup_umin:
  case VYRE_OP_subgroup_and:
    return ones;
  case VYRE_OP_subgroup_smin:
    return ones >> 1;
  case VYRE_OP_subgroup_smax:
    return half;
  case VYRE_OP_subgroup_fmin:
    return infinity;
  case VYRE_OP_subgroup_fmax:
    return infinity | half;
  default:
    return 0;
  }
}
