/* Packing: f32 lanes in one u32.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

static float
scale_of(bool is_signed, uint32_t bits)
{
  return is_signed ? bits == 16 ? 32767.0f : 127.0f : bits == 16 ? 65535.0f : 255.0f;
}

static reg
pack_lane(gen *g, uint32_t row, uint32_t lane, bool is_signed, uint32_t bits)
{
  const reg low = pgen_number_literal(VYRE_F32, is_signed ? -1.0 : 0.0), a = pgen_number_of(g, g->v->a[row], lane);
  const reg clamped = MAKE32(g, "min.f32", MAKE32(g, "max.f32", a, low), pgen_number_literal(VYRE_F32, 1.0));
  const reg scaled = MAKE32(g, "mul.rn.f32", clamped, pgen_number_literal(VYRE_F32, (double)scale_of(is_signed, bits)));
  return MAKE32(g, "and.b32", MAKE32(g, "cvt.rni.s32.f32", scaled), lit((1u << bits) - 1));
}

static reg
pack_half(gen *g, uint32_t row, uint32_t lane)
{
  const reg a = pgen_in_register(g, REG_32, pgen_number_of(g, g->v->a[row], lane));
  return MAKE32(g, "cvt.u32.u16", pgen_canonical(g, VYRE_F16, MAKE16(g, "cvt.rn.f16.f32", a)));
}

static reg
unpack_lane(gen *g, uint32_t row, uint32_t lane, bool is_signed, uint32_t bits)
{
  const reg whole = pgen_in_register(g, REG_32, pgen_value(g, g->v->a[row], 0));
  const reg field = MAKE32(g, is_signed ? "bfe.s32" : "bfe.u32", whole, lit(lane * bits), lit(bits));
  const reg number = MAKE32(g, is_signed ? "cvt.rn.f32.s32" : "cvt.rn.f32.u32", field);
  /* The operand is an integer, so no float mode of the program applies. */
  const reg r = MAKE32(g, "div.rn.f32", number, pgen_number_literal(VYRE_F32, (double)scale_of(is_signed, bits)));
  return is_signed ? MAKE32(g, "max.f32", r, pgen_number_literal(VYRE_F32, -1.0)) : r;
}

static reg
unpack_half(gen *g, uint32_t row, uint32_t lane)
{
  const reg whole = pgen_in_register(g, REG_32, pgen_value(g, g->v->a[row], 0));
  const reg half = MAKE16(g, "cvt.u16.u32", MAKE32(g, "bfe.u32", whole, lit(lane * 16), lit(16)));
  return pgen_float_result(g, row, VYRE_F32, MAKE32(g, "cvt.f32.f16", half));
}

void
pgen_pack(gen *g, uint32_t row)
{
  const vyre_opcode op = op_of(g, row);
  const bool unpacks = op >= VYRE_OP_unpacksnorm4x8, half = op == VYRE_OP_packhalf2x16 || op == VYRE_OP_unpackhalf2x16;
  const bool is_signed =
      op == VYRE_OP_packsnorm4x8 || op == VYRE_OP_packsnorm2x16 || op == VYRE_OP_unpacksnorm4x8 || op == VYRE_OP_unpacksnorm2x16;
  const uint32_t lanes = unpacks ? lanes_of(g, row) : lanes_of(g, g->v->a[row]), bits = 32 / lanes;
  reg whole = {0};
  for (uint32_t k = 0; k < lanes; k++) {
    if (unpacks) {
      pgen_define(g, row, k, half ? unpack_half(g, row, k) : unpack_lane(g, row, k, is_signed, bits));
      continue;
    }
    const reg part = half ? pack_half(g, row, k) : pack_lane(g, row, k, is_signed, bits);
    whole = k == 0 ? part : MAKE32(g, "or.b32", whole, MAKE32(g, "shl.b32", part, lit(k * bits)));
  }
  if (!unpacks)
    pgen_define(g, row, 0, whole);
}
