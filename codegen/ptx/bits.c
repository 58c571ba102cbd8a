/* Bits, bit fields, shifts and comparisons of integers; operations on bools.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

static const char *
width(vyre_kind kind)
{
  return is_long(kind) ? "64" : "32";
}

static reg
make(gen *g, vyre_kind kind, const char *name, const char *sign, reg a, reg b)
{
  return pgen_int_op(g, kind, name, sign, a, b);
}

/* Returns a bit count, or the position of a bit, which is -1 if no bit is set.  The instruction's result is a .u32 for every kind.
 */
static reg
position(gen *g, vyre_kind kind, const char *name, const char *sign, reg a)
{
  char text[64];
  pgen_format(text, "%s.%s%s", name, sign, width(kind));
  const reg r = MAKE32(g, text, pgen_in_register(g, is_long(kind) ? REG_64 : REG_32, a));
  return is_long(kind) ? MAKE64(g, "cvt.s64.s32", r) : pgen_cut(g, kind, r);
}

static reg
invert(gen *g, vyre_kind kind, reg a)
{
  if (kind == VYRE_BOOL)
    return pgen_not(g, a);
  return make(g, kind, "xor", "b", a, lit(UINT64_MAX >> (64 - vyre_kind_bits(kind))));
}

/* ---- shifts --------------------------------------------------------------------------------------------------------------- */

/* Returns the count modulo the width, as a .u32. */
static reg
count_of(gen *g, uint32_t row, vyre_kind kind, reg b)
{
  const uint32_t top = vyre_kind_bits(kind) - 1;
  uint64_t bits;
  if (code_right_constant(&g->w, row, &bits))
    return lit(bits & top);
  return MAKE32(g, "and.b32", is_long(kind) ? MAKE32(g, "cvt.u32.u64", b) : b, lit(top));
}

static reg
shift(gen *g, uint32_t row, vyre_kind kind, reg a, reg b)
{
  const vyre_opcode op = op_of(g, row);
  const reg count = count_of(g, row, kind, b);
  if (op == VYRE_OP_sshr)
    return pgen_cut(g, kind, make(g, kind, "shr", "s", pgen_signed(g, kind, a), count));
  return pgen_cut(g, kind, make(g, kind, op == VYRE_OP_shl ? "shl" : "shr", op == VYRE_OP_shl ? "b" : "u", a, count));
}

/* Returns a rotated value.  Values of 8 and 16 bits are repeated to 32 bits first. */
static reg
rotate(gen *g, uint32_t row, vyre_kind kind, reg a, reg b)
{
  const bool left = op_of(g, row) == VYRE_OP_rotl;
  const reg count = count_of(g, row, kind, b);
  if (is_long(kind)) {
    const reg rest = MAKE32(g, "and.b32", MAKE32(g, "sub.u32", lit(64), count), lit(63));
    const reg wrapped = make(g, kind, left ? "shr" : "shl", left ? "u" : "b", a, rest);
    return make(g, kind, "or", "b", make(g, kind, left ? "shl" : "shr", left ? "b" : "u", a, count), wrapped);
  }
  if (is_narrow(kind))
    a = MAKE32(g, "mul.lo.u32", a, lit(vyre_kind_bits(kind) == 8 ? 0x1010101u : 0x10001u));
  return pgen_cut(g, kind, MAKE32(g, left ? "shf.l.wrap.b32" : "shf.r.wrap.b32", a, a, count));
}

/* ---- fields --------------------------------------------------------------------------------------------------------------- */

/* Clamps a field to the bits of the kind. */
static void
field_of(gen *g, vyre_kind kind, reg offset, reg count, reg *out_offset, reg *out_count)
{
  const reg bits = lit(vyre_kind_bits(kind));
  *out_offset = MAKE32(g, "min.u32", offset, bits);
  *out_count = MAKE32(g, "min.u32", count, MAKE32(g, "sub.u32", bits, *out_offset));
}

static reg
extract(gen *g, uint32_t row, vyre_kind kind, reg a)
{
  char text[64];
  reg offset, count;
  const reg given_count = pgen_value(g, g->v->c[row], 0);
  field_of(g, kind, pgen_value(g, g->v->b[row], 0), given_count, &offset, &count);
  pgen_format(text, "bfe.%s%s", op_of(g, row) == VYRE_OP_sbfe ? "s" : "u", width(kind));
  return pgen_cut(g, kind, pgen_make(g, is_long(kind) ? REG_64 : REG_32, text, REGS(a, offset, count)));
}

static reg
insert(gen *g, uint32_t row, uint32_t lane, vyre_kind kind, reg a)
{
  const uint32_t field = g->v->c[row];
  reg offset, count;
  const reg given_count = pgen_part(g, field, 1, 0);
  field_of(g, kind, pgen_part(g, field, 0, 0), given_count, &offset, &count);
  return pgen_make(g, is_long(kind) ? REG_64 : REG_32, is_long(kind) ? "bfi.b64" : "bfi.b32",
                   REGS(pgen_value(g, g->v->b[row], lane), a, offset, count));
}

/* ---- searches ------------------------------------------------------------------------------------------------------------- */

static reg
lowest(gen *g, vyre_kind kind, reg a)
{
  const reg minus = make(g, kind, "sub", "u", lit(0), a);
  return position(g, kind, "bfind", "u", make(g, kind, "and", "b", a, minus));
}

static reg
highest_signed(gen *g, vyre_kind kind, reg a)
{
  a = pgen_signed(g, kind, a);
  const reg sign = make(g, kind, "shr", "s", a, lit(is_long(kind) ? 63 : 31));
  return position(g, kind, "bfind", "u", make(g, kind, "xor", "b", a, sign));
}

static reg
reverse(gen *g, vyre_kind kind, reg a)
{
  if (is_long(kind))
    return MAKE64(g, "brev.b64", pgen_in_register(g, REG_64, a));
  const reg r = MAKE32(g, "brev.b32", pgen_in_register(g, REG_32, a));
  return is_narrow(kind) ? MAKE32(g, "shr.u32", r, lit(32 - vyre_kind_bits(kind))) : r;
}

/* ---- comparisons ---------------------------------------------------------------------------------------------------------- */

static reg
compare(gen *g, vyre_kind kind, vyre_opcode op, reg a, reg b)
{
  static const char *const relations[16] = {[VYRE_COMPARES_LESS] = "lt",
                                            [VYRE_COMPARES_EQUAL] = "eq",
                                            [VYRE_COMPARES_LESS | VYRE_COMPARES_EQUAL] = "le",
                                            [VYRE_COMPARES_GREATER] = "gt",
                                            [VYRE_COMPARES_GREATER | VYRE_COMPARES_EQUAL] = "ge",
                                            [VYRE_COMPARES_LESS | VYRE_COMPARES_GREATER] = "ne"};
  const uint32_t compares = vyre_op_infos[op].compares;
  const bool is_signed = VYRE_COMPARES_ORDER(compares) == VYRE_COMPARES_SIGNED;
  char text[64];
  if (kind == VYRE_BOOL) {
    const reg apart = PRED(g, "xor.pred", a, b);
    return op == VYRE_OP_eq ? pgen_not(g, apart) : apart;
  }
  if (is_signed)
    a = pgen_signed(g, kind, a), b = pgen_signed(g, kind, b);
  pgen_format(text, "setp.%s.%s%s", relations[VYRE_COMPARES_OUTCOMES(compares)], is_signed ? "s" : "u", width(kind));
  return pgen_make(g, REG_PRED, text, REGS(a, b));
}

bool
pgen_bits(gen *g, uint32_t row, uint32_t lane, reg *out)
{
  const vyre_view *v = g->v;
  const vyre_opcode op = op_of(g, row);
  const vyre_kind kind = kind_of(g, v->a[row]);
  if ((op < VYRE_OP_and || op > VYRE_OP_bfi) && op != VYRE_OP_rotl && op != VYRE_OP_rotr && (op < VYRE_OP_eq || op > VYRE_OP_sge))
    return false;
  const bool is_field = op == VYRE_OP_ubfe || op == VYRE_OP_sbfe || op == VYRE_OP_bfi;
  const reg a = pgen_value(g, v->a[row], lane);
  const reg b = !is_field && (v->b[row] || has_literal(g, row)) ? pgen_right(g, row, lane) : (reg){0};
  /* clang-format off */
  switch ((uint32_t)op) {
  case VYRE_OP_and: case VYRE_OP_or: case VYRE_OP_xor: *out = pgen_combine_integers(g, op, kind, a, b); return true;
  case VYRE_OP_not: *out = invert(g, kind, a); return true;
  case VYRE_OP_shl: case VYRE_OP_ushr: case VYRE_OP_sshr: *out = shift(g, row, kind, a, b); return true;
  case VYRE_OP_rotl: case VYRE_OP_rotr: *out = rotate(g, row, kind, a, b); return true;
  case VYRE_OP_bitcount: *out = position(g, kind, "popc", "b", a); return true;
  case VYRE_OP_bitrev: *out = reverse(g, kind, a); return true;
  case VYRE_OP_findlsb: *out = lowest(g, kind, a); return true;
  case VYRE_OP_findumsb: *out = position(g, kind, "bfind", "u", a); return true;
  case VYRE_OP_findsmsb: *out = highest_signed(g, kind, a); return true;
  case VYRE_OP_ubfe: case VYRE_OP_sbfe: *out = extract(g, row, kind, a); return true;
  case VYRE_OP_bfi: *out = insert(g, row, lane, kind, a); return true;
  default: *out = compare(g, kind, op, a, b); return true;
  }
  /* clang-format on */
}
