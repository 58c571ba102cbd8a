/* Arithmetic on integers and bool.
 *
 * C computes 8 and 16 bits in int.  There each result is cast back, and operands that could overflow an int become unsigned
 * first.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"
#include "vyre/dot.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const char *
signed_type(vyre_kind kind)
{
  const uint32_t bits = vyre_kind_bits(kind);
  return bits == 64 ? "int64_t" : bits == 32 ? "int32_t" : bits == 16 ? "int16_t" : "int8_t";
}

static const char *
operator_of(vyre_opcode op, bool is_bool)
{
  switch ((uint32_t)op) {
  case VYRE_OP_add:
    return "+";
  case VYRE_OP_sub:
    return "-";
  case VYRE_OP_mul:
    return "*";
  case VYRE_OP_and:
    return "&";
  case VYRE_OP_or:
    return "|";
  case VYRE_OP_xor:
    return is_bool ? "!=" : "^";
  case VYRE_OP_udiv:
    return "/";
  case VYRE_OP_umod:
    return "%";
  default:
    return NULL;
  }
}

/* ---- comparisons ---------------------------------------------------------------------------------------------------------- */

/* One side: a row's lane, or a literal. */
typedef struct side {
  uint32_t row, lane;
  bool constant;
  uint64_t bits;
} side;

/* Returns the possible outcomes: fewer if a side is the least or greatest value of its type.  Compilers warn of comparisons
 * that are always true or false. */
static uint32_t
possible(uint32_t compares, vyre_kind kind, const side *l, const side *r)
{
  const uint32_t bits = vyre_kind_bits(kind);
  const uint64_t ones = UINT64_MAX >> (64 - bits), half = ones ^ ones >> 1;
  const bool is_signed = (VYRE_COMPARES_ORDER(compares) & VYRE_COMPARES_EITHER) == VYRE_COMPARES_SIGNED;
  const uint64_t flip = is_signed ? half : 0;
  uint32_t outcomes = VYRE_COMPARES_LESS | VYRE_COMPARES_EQUAL | VYRE_COMPARES_GREATER;
  const uint64_t x = (l->bits ^ flip) & ones, y = (r->bits ^ flip) & ones;
  if (l->constant && r->constant)
    return x < y ? VYRE_COMPARES_LESS : x > y ? VYRE_COMPARES_GREATER : VYRE_COMPARES_EQUAL;
  if ((r->constant && y == 0) || (l->constant && x == ones))
    outcomes &= ~(uint32_t)VYRE_COMPARES_LESS;
  if ((r->constant && y == ones) || (l->constant && x == 0))
    outcomes &= ~(uint32_t)VYRE_COMPARES_GREATER;
  return outcomes;
}

static void
put_side(cgen *g, vyre_kind kind, const side *s)
{
  if (s->constant)
    cgen_literal(g, kind, s->bits);
  else
    cgen_value(g, s->row, s->lane, true);
}

/* Marks a side as a literal if its text is one.  Its row may be another, such as a lane of a literal, but compilers see the
 * text. */
static void
detect_literal(cgen *g, vyre_kind kind, side *s)
{
  const size_t start = g->w.out->size;
  put_side(g, kind, s);
  if (g->w.status)
    return;
  const char *text = g->w.out->data + start;
  char *end;
  text += strncmp(text, "UINT64_C(", 9) == 0 ? 9 : 0;
  const uint64_t bits = strtoull(text, &end, 0);
  if (*text >= '0' && *text <= '9' && (strcmp(end, "u") == 0 || strcmp(end, ")") == 0)) {
    s->constant = true;
    s->bits = bits;
  }
  g->w.out->size = start;
  g->w.out->data[start] = '\0';
}

bool
cgen_is_twice(cgen *g, size_t start, const char *sign)
{
  const size_t written = g->w.out->size - start, between = strlen(sign) + 2;
  if (g->w.status || written < between || (written - between) % 2 != 0)
    return false;
  const size_t half = (written - between) / 2;
  if (memcmp(g->w.out->data + start, g->w.out->data + start + half + between, half) != 0)
    return false;
  g->w.out->size = start;
  g->w.out->data[start] = '\0';
  return true;
}

static void
put_comparison(cgen *g, uint32_t compares, vyre_kind kind, side *l, side *r)
{
  static const char *const signs[] = {"", "<", "==", "<=", ">", "!=", ">="};
  detect_literal(g, kind, l);
  detect_literal(g, kind, r);
  const uint32_t outcomes = VYRE_COMPARES_OUTCOMES(compares), may_be = possible(compares, kind, l, r);
  const bool is_signed = VYRE_COMPARES_ORDER(compares) == VYRE_COMPARES_SIGNED;
  if ((outcomes & may_be) == 0 || (outcomes & may_be) == may_be) {
    cgen_put(g, outcomes & may_be ? "true" : "false");
    return;
  }
  const size_t start = g->w.out->size;
  char cast[16] = "";
  if (is_signed)
    snprintf(cast, sizeof(cast), "(%s)", signed_type(kind));
  cgen_put(g, "%s", cast);
  put_side(g, kind, l);
  cgen_put(g, " %s %s", signs[outcomes & 7u], cast);
  put_side(g, kind, r);
  if (cgen_is_twice(g, start, signs[outcomes & 7u]))
    cgen_put(g, outcomes & VYRE_COMPARES_EQUAL ? "true" : "false");
}

void
cgen_compare_indices(cgen *g, uint32_t index, uint32_t to, bool is_signed)
{
  side l = {.row = index}, r = {.row = to};
  r.constant = code_constant(&g->w, to, &r.bits);
  put_comparison(g, vyre_op_infos[is_signed ? VYRE_OP_slt : VYRE_OP_ult].compares, cgen_kind(g, index), &l, &r);
}

static void
compare(cgen *g, uint32_t row, uint32_t lane)
{
  side l = {.row = g->v->a[row], .lane = lane}, r = {.row = g->v->b[row], .lane = lane};
  l.constant = code_constant(&g->w, l.row, &l.bits);
  r.constant = code_right_constant(&g->w, row, &r.bits);
  put_comparison(g, vyre_op_infos[cgen_op(g, row)].compares, cgen_kind(g, l.row), &l, &r);
}

/* ---- arithmetic ----------------------------------------------------------------------------------------------------------- */

/* Rewrites the decimal number that was written from `start` on as hexadecimal.  clang warns of `2 ^ 33` as a mistaken power. */
static void
make_hexadecimal(cgen *g, size_t start)
{
  char *end = NULL;
  if (g->w.status || g->w.out->data[start] == '0')
    return;
  const uint64_t bits = strtoull(g->w.out->data + start, &end, 10);
  if (end == g->w.out->data + start || strcmp(end, "u") != 0)
    return;
  g->w.out->size = start;
  cgen_put(g, "0x%" PRIx64 "u", bits);
}

static void
binary(cgen *g, uint32_t row, uint32_t lane, const char *sign)
{
  const vyre_kind kind = cgen_kind(g, row);
  const bool narrow = vyre_kind_is_int(kind) && vyre_kind_bits(kind) < 32;
  const size_t start = g->w.out->size;
  if (narrow)
    cgen_put(g, "(%s)(%s", cgen_type_name(kind), *sign == '*' ? "(uint32_t)" : "");
  const size_t left = g->w.out->size;
  cgen_value(g, g->v->a[row], lane, true);
  if (*sign == '^')
    make_hexadecimal(g, left);
  /* bool: & and |, which have no branch; but if a side calls functions, && and ||, because clang warns otherwise */
  const bool calls = kind == VYRE_BOOL && !g->w.status && strstr(g->w.out->data + left, "vyre_");
  cgen_put(g, calls && (*sign == '&' || *sign == '|') ? " %s%s " : " %s ", sign, sign);
  cgen_right(g, row, lane, true);
  cgen_put(g, narrow ? ")" : "");
  if (kind == VYRE_BOOL && *sign == '!' && cgen_is_twice(g, start, sign))
    cgen_put(g, "false");
}

static void
shift(cgen *g, uint32_t row, uint32_t lane)
{
  const vyre_kind kind = cgen_kind(g, row);
  const uint32_t bits = vyre_kind_bits(kind);
  const bool cut = bits < 32;
  uint64_t count;
  if (cut)
    cgen_put(g, "(%s)((uint32_t)", cgen_type_name(kind));
  cgen_value(g, g->v->a[row], lane, true);
  cgen_put(g, cgen_is(g, row, VYRE_OP_shl) ? " << " : " >> ");
  if (code_right_constant(&g->w, row, &count)) {
    cgen_put(g, "%uu", (uint32_t)count & (bits - 1));
  } else {
    cgen_put(g, "(");
    cgen_right(g, row, lane, true);
    cgen_put(g, " & %uu)", bits - 1);
  }
  cgen_put(g, cut ? ")" : "");
}

static void
unary(cgen *g, uint32_t row, uint32_t lane)
{
  const vyre_kind kind = cgen_kind(g, row);
  const bool narrow = kind != VYRE_BOOL && vyre_kind_bits(kind) < 32;
  if (narrow)
    cgen_put(g, "(%s)(", cgen_type_name(kind));
  cgen_put(g, cgen_is(g, row, VYRE_OP_neg) ? "0u - " : kind == VYRE_BOOL ? "!" : "~");
  cgen_value(g, g->v->a[row], lane, true);
  cgen_put(g, narrow ? ")" : "");
}

/* Writes a call of the op's helper with all operands.  A scalar operand is used for every lane. */
static void
call(cgen *g, uint32_t row, uint32_t lane)
{
  const vyre_view *v = g->v;
  const vyre_opcode op = cgen_op(g, row);
  const uint32_t field = op == VYRE_OP_bfi ? v->c[row] : 0;
  cgen_call(g, vyre_op_infos[op].text, cgen_kind(g, v->a[row]));
  cgen_value(g, v->a[row], lane, false);
  if (v->b[row] || cgen_has_literal(g, row)) {
    cgen_put(g, ", ");
    cgen_right(g, row, v->b[row] && cgen_lanes(g, v->b[row]) == 1 ? 0 : lane, false);
  }
  for (uint32_t k = 0; k < 2 && v->c[row]; k++) {
    if (k == 1 && !field)
      break;
    const uint32_t operand = field ? vyre_tuple_part(g->v, field, k) : v->c[row];
    cgen_put(g, ", ");
    cgen_value(g, operand, cgen_lanes(g, operand) == 1 ? 0 : lane, false);
  }
  cgen_put(g, ")");
}

/* Writes a component of an integer dot product in 64 bits. */
static void
put_dot_component(cgen *g, const vyre_dot_shape *shape, uint32_t operand, uint32_t k, bool is_signed)
{
  const vyre_kind narrow = VYRE_I8; /* type of packed components */
  const vyre_kind kind = shape->packed ? narrow : cgen_kind(g, operand);
  const char *type = shape->packed && !is_signed ? "uint8_t" : signed_type(kind);
  cgen_put(g, "(uint64_t)");
  if (is_signed || shape->packed)
    cgen_put(g, is_signed ? "(int64_t)(%s)" : "(%s)", type);
  cgen_put(g, shape->packed && k ? "(" : "");
  cgen_value(g, operand, shape->packed ? 0 : k, true);
  if (shape->packed && k)
    cgen_put(g, " >> %uu)", 8 * k);
}

/* Writes products and sums modulo 2^64, truncated to the result's type.  The sum with an accumulator saturates. */
static void
put_int_dot(cgen *g, uint32_t row)
{
  const vyre_view *v = g->v;
  const vyre_kind kind = cgen_kind(g, row);
  const vyre_dot_shape shape = vyre_dot_shape_of(cgen_op(g, row), cgen_row_type(g, v->a[row]));
  if (v->c[row])
    cgen_call(g, shape.left_signed ? "saddsat" : "uaddsat", kind);
  cgen_put(g, "(%s)(", cgen_type_name(kind));
  for (uint32_t k = 0; k < shape.lanes; k++) {
    cgen_put(g, k ? " + " : "");
    put_dot_component(g, &shape, v->a[row], k, shape.left_signed);
    cgen_put(g, " * ");
    put_dot_component(g, &shape, v->b[row], k, shape.right_signed);
  }
  cgen_put(g, ")");
  if (v->c[row]) {
    cgen_put(g, ", ");
    cgen_value(g, v->c[row], 0, false);
    cgen_put(g, ")");
  }
}

bool
cgen_integer(cgen *g, uint32_t row, uint32_t lane)
{
  const vyre_opcode op = cgen_op(g, row);
  const vyre_kind kind = cgen_kind(g, g->v->a[row]);
  const char *sign = operator_of(op, kind == VYRE_BOOL);
  uint64_t right = 0;
  if (kind != VYRE_BOOL && !vyre_kind_is_int(kind))
    return false;
  if (vyre_op_infos[op].compares)
    compare(g, row, lane);
  else if (op == VYRE_OP_shl || op == VYRE_OP_ushr)
    shift(g, row, lane);
  else if (vyre_op_is_int_dot(op))
    put_int_dot(g, row);
  else if (op == VYRE_OP_neg || op == VYRE_OP_not)
    unary(g, row, lane);
  else if ((op == VYRE_OP_udiv || op == VYRE_OP_umod) && !(code_right_constant(&g->w, row, &right) && right))
    call(g, row, lane); /* the divisor may be zero */
  else if (sign)
    binary(g, row, lane, sign);
  else if (vyre_op_infos[op].flags & VYRE_OP_PURE)
    call(g, row, lane);
  else
    return false;
  return true;
}
