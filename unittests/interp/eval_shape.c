/* The operands that an op may have, and bits to fill them with, for laws over the whole op table.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "eval_shape.h"

#include "vyre/ir.h"

#define U32    VYRE_TYPE(VYRE_U32, 1)
#define VEC(n) VYRE_TYPE(VYRE_F32, n)
#define TUPLE  VYRE_TYPE(VYRE_TUPLE, 1)

/* clang-format off */
const uint64_t eval_edges[EVAL_EDGES] = {
  0, 1, 2, 5, 31, 32, 33, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0x3c00, 0x7c00, 0x7e01, 0xfc00, 0x7fffffff, 0x80000000,
  0xffffffff, 0x3f800000, 0xbf800000, 0x00800000, 0x007fffff, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001,
  0xffc12345, 0x4f000000, 0xcf000000, UINT64_C(0x7fffffffffffffff), UINT64_C(0x8000000000000000),
  UINT64_C(0xffffffffffffffff), UINT64_C(0x3ff0000000000000), UINT64_C(0x7ff0000000000000), UINT64_C(0x7ff8000000000001),
  UINT64_C(0xfff0000000000000),
};
/* clang-format on */

uint64_t
eval_cut(vyre_kind kind, uint64_t bits)
{
  const uint32_t width = vyre_kind_bits(kind);
  return width >= 64 ? bits : bits & ((UINT64_C(1) << width) - 1);
}

/* Accepts integers of both signs for either integer class, because the evaluator takes the sign from the op. */
static bool
class_has(vyre_class klass, vyre_kind kind)
{
  return vyre_class_has(klass == VYRE_CLASS_UINT || klass == VYRE_CLASS_SINT ? VYRE_CLASS_INT : klass, kind);
}

void
eval_shape(eval_sample *s, vyre_opcode op, vyre_kind kind, uint32_t lanes)
{
  const vyre_op_info *info = &vyre_op_infos[op];
  const vyre_type type = VYRE_TYPE(kind, lanes);
  for (uint32_t k = 0; k < 3; k++)
    s->operands[k] = (vyre_eval_operand){k < info->operands ? s->values[k] : NULL, 0, k < info->operands ? type : 0, 0};
  s->type = info->rule == VYRE_RULE_BOOL ? VYRE_TYPE(VYRE_BOOL, lanes) : type;
  s->imm = 0x7531;
  switch ((uint32_t)op) {
  case VYRE_OP_join:
    s->operands[1].type = s->operands[2].type = s->operands[0].type = VYRE_TYPE(kind, 1);
    s->type = VYRE_TYPE(kind, 3);
    break;
  case VYRE_OP_splat:
    s->operands[0].type = VYRE_TYPE(kind, 1);
    break;
  case VYRE_OP_lane:
    s->operands[1].type = U32;
    s->type = VYRE_TYPE(kind, 1);
    break;
  case VYRE_OP_insert:
    s->operands[1].type = VYRE_TYPE(kind, 1);
    s->operands[2].type = U32;
    break;
  case VYRE_OP_select:
    s->operands[0].type = VYRE_TYPE(VYRE_BOOL, 1);
    break;
  case VYRE_OP_ubfe:
  case VYRE_OP_sbfe:
    s->operands[1].type = s->operands[2].type = U32;
    break;
  case VYRE_OP_bfi:
    s->operands[2] = (vyre_eval_operand){s->values[2], 2, TUPLE, U32};
    break;
  case VYRE_OP_any:
  case VYRE_OP_all:
    s->type = VYRE_TYPE(VYRE_BOOL, 1);
    break;
  case VYRE_OP_ldexp:
    s->operands[1].type = VYRE_TYPE(VYRE_I32, lanes);
    break;
  case VYRE_OP_uaddc:
  case VYRE_OP_usubb:
  case VYRE_OP_umulx:
  case VYRE_OP_smulx:
  case VYRE_OP_frexp:
  case VYRE_OP_modf:
  case VYRE_OP_outer:
    s->type = TUPLE;
    break;
  case VYRE_OP_dot:
  case VYRE_OP_norm:
  case VYRE_OP_distance:
    s->type = VYRE_TYPE(kind, 1);
    break;
  case VYRE_OP_sdot:
  case VYRE_OP_udot:
  case VYRE_OP_sudot:
    s->type = s->operands[2].type = VYRE_TYPE(vyre_kind_with_sign(kind, op != VYRE_OP_udot), 1);
    kind = lanes == 1 ? VYRE_U32 : kind; /* four components of 8 bits */
    s->operands[0].type = VYRE_TYPE(vyre_kind_with_sign(kind, op != VYRE_OP_udot), lanes);
    s->operands[1].type = VYRE_TYPE(vyre_kind_with_sign(kind, op == VYRE_OP_sdot), lanes);
    break;
  case VYRE_OP_refract:
    s->operands[2].type = VYRE_TYPE(kind, 1);
    break;
  case VYRE_OP_cross:
    s->operands[0].type = s->operands[1].type = s->type = VYRE_TYPE(kind, 3);
    break;
  case VYRE_OP_matvec:
    s->operands[0] = (vyre_eval_operand){s->values[0], lanes, TUPLE, type};
    break;
  case VYRE_OP_vecmat:
    s->operands[1] = (vyre_eval_operand){s->values[1], lanes, TUPLE, type};
    break;
  case VYRE_OP_matmat:
    s->operands[1] = (vyre_eval_operand){s->values[1], lanes, TUPLE, type}; /* falls through */
  case VYRE_OP_transpose:
  case VYRE_OP_inverse:
    s->operands[0] = (vyre_eval_operand){s->values[0], lanes, TUPLE, type};
    s->type = TUPLE;
    break;
  case VYRE_OP_determinant:
    s->operands[0] = (vyre_eval_operand){s->values[0], lanes, TUPLE, type};
    s->type = VYRE_TYPE(kind, 1);
    break;
  default:
    break;
  }
  const bool wide = (op >= VYRE_OP_packsnorm2x16 && op <= VYRE_OP_packhalf2x16) || op >= VYRE_OP_unpacksnorm2x16;
  if (op >= VYRE_OP_packsnorm4x8 && op <= VYRE_OP_packhalf2x16) {
    s->operands[0].type = VEC(wide ? 2 : 4);
    s->type = U32;
  } else if (op >= VYRE_OP_unpacksnorm4x8 && op <= VYRE_OP_unpackhalf2x16) {
    s->operands[0].type = U32;
    s->type = VEC(wide ? 2 : 4);
  }
}

bool
eval_accepts(vyre_opcode op, vyre_kind kind)
{
  const vyre_op_info *info = &vyre_op_infos[op];
  if (!info->text || !(info->flags & VYRE_OP_PURE) || info->fold == VYRE_FOLD_NONE)
    return false;
  switch ((uint32_t)op) {
  case VYRE_OP_const:
    return kind != VYRE_VOID;
  case VYRE_OP_ldexp:
  case VYRE_OP_matvec:
  case VYRE_OP_vecmat:
  case VYRE_OP_matmat:
  case VYRE_OP_transpose:
  case VYRE_OP_determinant:
  case VYRE_OP_inverse:
    return vyre_kind_is_float(kind);
  default:
    break;
  }
  if (op >= VYRE_OP_packsnorm4x8 && op <= VYRE_OP_packhalf2x16)
    return kind == VYRE_F32;
  if (op >= VYRE_OP_unpacksnorm4x8 && op <= VYRE_OP_unpackhalf2x16)
    return kind == VYRE_U32;
  return class_has((vyre_class)info->klass, kind);
}

static uint64_t seed = 0x9e3779b97f4a7c15;

uint64_t
eval_random(void)
{
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return seed & 3 ? seed : eval_edges[(seed >> 8) % EVAL_EDGES];
}

void
eval_randomize(eval_sample *s)
{
  for (uint32_t k = 0; k < 3; k++)
    for (uint32_t p = 0; p < 4; p++)
      for (uint32_t i = 0; i < 4; i++) {
        const vyre_type type = s->operands[k].parts ? s->operands[k].part_type : s->operands[k].type;
        s->values[k][p].lane[i] = eval_cut(VYRE_TYPE_KIND(type) == VYRE_VOID ? VYRE_U32 : VYRE_TYPE_KIND(type), eval_random());
      }
}
