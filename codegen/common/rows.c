/* Facts of rows for the generators, and errors that name a row.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "common.h"

#include "vyre/opaque.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

vyre_status
code_error(const vyre_module *module, uint32_t program, uint32_t row, const char *format, va_list arguments)
{
  char text[512];
  const char *name = vyre_row_name(module, (vyre_row){program}), *own = vyre_row_name(module, (vyre_row){row});
  vsnprintf(text, sizeof(text), format, arguments);
  const char *fix = strstr(text, "\nFix:") ? "" : "\nFix: write SPIR-V";
  if (row == program)
    return VYRE_ERROR(VYRE_CODE_INPUT, "program @%s: %s%s", name ? name : "?", text, fix);
  return VYRE_ERROR(VYRE_CODE_INPUT, "program @%s, row %" PRIu32 "%s%s: %s%s", name ? name : "?", row, own ? " %" : "",
                    own ? own : "", text, fix);
}

static vyre_status
refuse(const vyre_module *module, uint32_t program, uint32_t row, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  const vyre_status status = code_error(module, program, row, format, arguments);
  va_end(arguments);
  return status;
}

vyre_status
code_refuse_opaque(const vyre_module *module, uint32_t program, const char *language)
{
  const vyre_view *v = vyre_module_view(module);
  const uint32_t end = vyre_program_end(v, program);
  uint32_t other = 0;
  for (uint32_t row = program + 1; row < end; row++) {
    const vyre_opcode op = (vyre_opcode)VYRE_ROW_OP(v->op[row]);
    const char *name = vyre_row_instruction(module, (vyre_row){row});
    if (name)
      return refuse(module, program, row, "Op%s cannot be written as %s\nFix: write SPIR-V", name, language);
    if (op == VYRE_OP_verbatim)
      return refuse(module, program, row,
                    "a module that vyre keeps unchanged cannot be written as %s\n"
                    "Fix: write SPIR-V",
                    language);
    if (!other && (vyre_op_is_opaque(op) || VYRE_TYPE_KIND(VYRE_ROW_TYPE(v->op[row])) == VYRE_OPAQUE))
      other = row;
  }
  if (!other)
    return VYRE_OK;
  return refuse(module, program, other, "images, samplers and pointers cannot be written as %s\nFix: write SPIR-V", language);
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

void
code_count_writes(const vyre_view *v, uint32_t program, uint32_t end, uint32_t *out)
{
  uint32_t count = 0;
  for (uint32_t row = program; row < end; row++) {
    const uint32_t flags = vyre_op_infos[VYRE_ROW_OP(v->op[row])].flags;
    count += (flags & (VYRE_OP_WRITES | VYRE_OP_EFFECT | VYRE_OP_REGION | VYRE_OP_CONVERGENT)) != 0;
    out[row - program] = count;
  }
}

double
code_half_value(uint32_t bits)
{
  const int exponent = (int)(bits >> 10 & 31u);
  const double fraction = bits & 0x3ffu, magnitude = ldexp(exponent ? 1024.0 + fraction : fraction, (exponent ? exponent : 1) - 25);
  return bits & 0x8000u ? -magnitude : magnitude;
}

vyre_type
code_right_type(const vyre_view *v, uint32_t row)
{
  const vyre_opcode op = code_op(v, row);
  if (!code_has_literal(v, row))
    return code_row_type(v, v->b[row]);
  return op == VYRE_OP_lane || op == VYRE_OP_at ? VYRE_TYPE(VYRE_U32, 1) : code_row_type(v, v->a[row]);
}

uint32_t
code_cluster(const vyre_view *v, uint32_t row, uint32_t subgroup)
{
  const uint32_t cluster = VYRE_GROUP_CLUSTER(v->imm[row]);
  return VYRE_GROUP_OF(v->imm[row]) == VYRE_GROUP_CLUSTERED && cluster < subgroup ? cluster : subgroup;
}
