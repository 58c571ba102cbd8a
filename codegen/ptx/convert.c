/* Conversions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

static const char *
width(vyre_kind kind)
{
  return is_long(kind) ? "64" : "32";
}

/* Converts to an integer.  PTX saturates to 32 and 64 bits, and leaves the result of a NaN undefined. */
static reg
float_to_int(gen *g, vyre_kind from, vyre_kind to, reg number)
{
  const bool is_signed = vyre_kind_is_signed(to);
  const reg_class klass = is_long(to) ? REG_64 : REG_32;
  char text[64];
  number = pgen_in_register(g, from == VYRE_F64 ? REG_64 : REG_32, number);
  pgen_format(text, "cvt.rzi.%s%s.%s", is_signed ? "s" : "u", width(to), from == VYRE_F64 ? "f64" : "f32");
  reg r = pgen_make(g, klass, text, REGS(number));
  if (is_narrow(to)) {
    const uint32_t ones = (1u << vyre_kind_bits(to)) - 1, top = ones >> 1;
    r = is_signed ? MAKE32(g, "max.s32", MAKE32(g, "min.s32", r, lit(top)), lit(~top)) : MAKE32(g, "min.u32", r, lit(ones));
    r = pgen_cut(g, to, r);
  }
  return pgen_select(g, klass, lit(0), r, pgen_float_compare(g, from, "nan", number, number));
}

/* Converts an integer.  An f16 is converted by way of f32, because integers that f32 rounds are too large for an f16. */
static reg
int_to_float(gen *g, vyre_kind from, vyre_kind to, reg a)
{
  const bool is_signed = vyre_kind_is_signed(from);
  char text[64];
  if (is_signed)
    a = pgen_signed(g, from, a);
  a = pgen_in_register(g, is_long(from) ? REG_64 : REG_32, a);
  pgen_format(text, "cvt.%s.%s.%s%s", pgen_cuts(g, to) ? "rz" : "rn", to == VYRE_F64 ? "f64" : "f32", is_signed ? "s" : "u",
              width(from));
  return pgen_make(g, to == VYRE_F64 ? REG_64 : REG_32, text, REGS(a));
}

static reg
int_to_int(gen *g, vyre_kind from, vyre_kind to, reg a)
{
  if (vyre_kind_is_signed(from) && vyre_kind_bits(to) > vyre_kind_bits(from))
    a = pgen_signed(g, from, a);
  a = pgen_in_register(g, is_long(from) ? REG_64 : REG_32, a);
  if (is_long(from) == is_long(to))
    return pgen_cut(g, to, a);
  if (is_long(from))
    return pgen_cut(g, to, MAKE32(g, "cvt.u32.u64", a));
  return MAKE64(g, vyre_kind_is_signed(from) ? "cvt.s64.s32" : "cvt.u64.u32", a);
}

reg
pgen_convert(gen *g, uint32_t row, uint32_t lane)
{
  const uint32_t a = g->v->a[row];
  const vyre_kind from = kind_of(g, a), to = kind_of(g, row);
  if (vyre_kind_is_int(from) && vyre_kind_is_int(to))
    return int_to_int(g, from, to, pgen_value(g, a, lane));
  if (vyre_kind_is_int(from))
    return pgen_float_result(g, row, to, int_to_float(g, from, to, pgen_value(g, a, lane)));
  const reg number = pgen_number_of(g, a, lane);
  if (vyre_kind_is_int(to))
    return float_to_int(g, from, to, number);
  if (from == VYRE_F64 || to == VYRE_F64)
    return pgen_float_result(
        g, row, to, from == VYRE_F64 ? pgen_narrow(g, to, pgen_in_register(g, REG_64, number)) : pgen_widen(g, from, number));
  return pgen_float_result(g, row, to, number);
}

/* ---- bitcasts
 * --------------------------------------------------------------------------------------------------------------- */

/* Returns a zero-extended .b32 or a .b64. */
static reg
bits_of(gen *g, uint32_t row, uint32_t lane)
{
  const vyre_kind kind = kind_of(g, row);
  uint64_t bits;
  if (code_constant(&g->w, row, &bits))
    return lit(bits);
  const reg r = pgen_value(g, row, lane);
  return kind == VYRE_F16 ? MAKE32(g, "cvt.u32.u16", r) : r;
}

static reg
value_of(gen *g, vyre_kind kind, reg bits)
{
  if (kind == VYRE_F16)
    return MAKE16(g, "cvt.u16.u32", pgen_in_register(g, REG_32, bits));
  return pgen_in_register(g, class_of(kind), bits);
}

static reg
narrower(gen *g, uint32_t a, uint32_t from, uint32_t to, uint32_t lane)
{
  const uint32_t each = from / to;
  const reg whole = pgen_in_register(g, from == 64 ? REG_64 : REG_32, bits_of(g, a, lane / each)), by = lit(lane % each * to);
  if (from != 64)
    return MAKE32(g, "bfe.u32", whole, by, lit(to));
  const reg low = MAKE32(g, "cvt.u32.u64", MAKE64(g, "shr.u64", whole, by));
  return to == 32 ? low : MAKE32(g, "and.b32", low, lit((1u << to) - 1));
}

static reg
wider(gen *g, uint32_t a, uint32_t from, uint32_t to, uint32_t lane)
{
  const uint32_t each = to / from;
  reg whole = {0};
  for (uint32_t k = 0; k < each; k++) {
    reg part = bits_of(g, a, lane * each + k);
    if (to == 64)
      part = MAKE64(g, "cvt.u64.u32", pgen_in_register(g, REG_32, part));
    if (k)
      part = to == 64 ? MAKE64(g, "shl.b64", part, lit(k * from)) : MAKE32(g, "shl.b32", part, lit(k * from));
    whole = k == 0 ? part : to == 64 ? MAKE64(g, "or.b64", whole, part) : MAKE32(g, "or.b32", whole, part);
  }
  return whole;
}

void
pgen_bitcast(gen *g, uint32_t row)
{
  const uint32_t a = g->v->a[row];
  const vyre_kind kind = kind_of(g, row);
  const uint32_t from = vyre_kind_bits(kind_of(g, a)), to = vyre_kind_bits(kind);
  for (uint32_t k = 0; k < lanes_of(g, row); k++) {
    const reg r = from == to ? bits_of(g, a, k) : from > to ? narrower(g, a, from, to, k) : wider(g, a, from, to, k);
    pgen_define(g, row, k, value_of(g, kind, r));
  }
}
