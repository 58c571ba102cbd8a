/* Cases of ops that move lanes or bits, pack, or reduce lanes.  Their terms depend on the shape, so each shape has its own terms.
 *
 * Moved bits do not change, also of NaNs, so floats are bit vectors here.  Packing an f16 uses z3's fp.to_ieee_bv, because SMT-LIB
 * cannot convert a float to its bits.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fold.h"

#include "vyre/dot.h"

#include "smt/smt.h"

#include <string.h>

#define U32         VYRE_TYPE(VYRE_U32, 1)
#define TUPLE       VYRE_TYPE(VYRE_TUPLE, 1)
#define VALUE(type) ((fold_operand){type, 0, 0})

static fold_case *
last(const fold_list *list)
{
  return &list->cases[list->count - 1];
}

/* Writes u, the last definition of a case, and ends the case. */
static void
finish(fold_list *list, FILE *to, const char *undefined)
{
  fold_head_undefined(to, last(list));
  fprintf(to, "%s)\n", undefined);
  fold_end(list, to);
}

static void
result(FILE *to, const fold_case *c, uint32_t output, const char *term)
{
  fold_head(to, c, output);
  fprintf(to, "%s)\n", term);
}

/* const and splat have the value in each lane.  A const has its value in the payload, which fold_run sets from the point. */
static void
repeat(fold_list *list, vyre_opcode op, vyre_kind kind, uint32_t lanes)
{
  const fold_operand operands[3] = {VALUE(VYRE_TYPE(kind, 1))};
  FILE *to = fold_begin(list, op, kind, VYRE_TYPE(kind, lanes), 0, 0, operands, true);
  for (uint32_t i = 0; i < lanes; i++)
    result(to, last(list), i, "x");
  finish(list, to, "false");
}

static void
join(fold_list *list, vyre_kind kind, uint32_t a, uint32_t b, uint32_t c)
{
  const fold_operand operands[3] = {VALUE(VYRE_TYPE(kind, a)), VALUE(VYRE_TYPE(kind, b)),
                                    VALUE(c ? VYRE_TYPE(kind, c) : (vyre_type)0)};
  const uint32_t lanes[3] = {a, b, c};
  FILE *to = fold_begin(list, VYRE_OP_join, kind, VYRE_TYPE(kind, a + b + c), 0, 0, operands, true);
  uint32_t output = 0;
  for (uint32_t k = 0; k < 3; k++)
    for (uint32_t n = 0; n < lanes[k]; n++) {
      char name[8];
      result(to, last(list), output++, fold_name(k, n, name));
    }
  finish(list, to, "false");
}

static void
lane(fold_list *list, vyre_kind kind, uint32_t lanes)
{
  const fold_operand operands[3] = {VALUE(VYRE_TYPE(kind, lanes)), VALUE(U32)};
  char text[256] = "", undefined[64], name[8];
  size_t at = 0;
  for (uint32_t i = 0; i < lanes; i++)
    at += (size_t)snprintf(text + at, sizeof text - at, "(ite (= y (_ bv%u 32)) %s ", i, fold_name(0, i, name));
  snprintf(text + at, sizeof text - at, "zero%.*s", (int)lanes, "))))");
  snprintf(undefined, sizeof undefined, "(bvuge y (_ bv%u 32))", lanes);
  FILE *to = fold_begin(list, VYRE_OP_lane, kind, VYRE_TYPE(kind, 1), 0, 0, operands, true);
  result(to, last(list), 0, text);
  finish(list, to, undefined);
}

static void
insert(fold_list *list, vyre_kind kind, uint32_t lanes)
{
  const fold_operand operands[3] = {VALUE(VYRE_TYPE(kind, lanes)), VALUE(VYRE_TYPE(kind, 1)), VALUE(U32)};
  char text[64], name[8];
  FILE *to = fold_begin(list, VYRE_OP_insert, kind, VYRE_TYPE(kind, lanes), 0, 0, operands, true);
  for (uint32_t i = 0; i < lanes; i++) {
    snprintf(text, sizeof text, "(ite (= z (_ bv%u 32)) y %s)", i, fold_name(0, i, name));
    result(to, last(list), i, text);
  }
  snprintf(text, sizeof text, "(bvuge z (_ bv%u 32))", lanes);
  finish(list, to, text);
}

static void
shuffle(fold_list *list, vyre_kind kind, uint32_t a, uint32_t b, uint32_t lanes, uint32_t imm)
{
  const fold_operand operands[3] = {VALUE(VYRE_TYPE(kind, a)), VALUE(b ? VYRE_TYPE(kind, b) : (vyre_type)0)};
  FILE *to = fold_begin(list, VYRE_OP_shuffle, kind, VYRE_TYPE(kind, lanes), 0, 0, operands, true);
  last(list)->imm = imm;
  for (uint32_t i = 0; i < lanes; i++) {
    char name[8];
    const uint32_t from = VYRE_SHUFFLE_LANE(imm, i);
    result(to, last(list), i, fold_name(from / 4, from % 4, name));
  }
  finish(list, to, "false");
}

static void
select(fold_list *list, vyre_kind kind, uint32_t lanes, uint32_t conditions)
{
  const vyre_type type = VYRE_TYPE(kind, lanes);
  const fold_operand operands[3] = {VALUE(VYRE_TYPE(VYRE_BOOL, conditions)), VALUE(type), VALUE(type)};
  FILE *to = fold_begin(list, VYRE_OP_select, kind, type, 0, 0, operands, true);
  for (uint32_t i = 0; i < lanes; i++) {
    char text[64], c[8], v[8], w[8];
    snprintf(text, sizeof text, "(ite %s %s %s)", fold_name(0, conditions > 1 ? i : 0, c), fold_name(1, i, v), fold_name(2, i, w));
    result(to, last(list), i, text);
  }
  finish(list, to, "false");
}

static void
transpose(fold_list *list, vyre_kind kind, uint32_t columns, uint32_t rows)
{
  const fold_operand operands[3] = {{TUPLE, columns, VYRE_TYPE(kind, rows)}};
  FILE *to = fold_begin(list, VYRE_OP_transpose, kind, TUPLE, rows, VYRE_TYPE(kind, columns), operands, true);
  last(list)->imm = VYRE_TUPLE_OF(rows, VYRE_TYPE(kind, columns));
  for (uint32_t p = 0; p < rows; p++)
    for (uint32_t i = 0; i < columns; i++) {
      char name[8];
      result(to, last(list), p * columns + i, fold_name(0, i * rows + p, name));
    }
  finish(list, to, "false");
}

static void
over_lanes(fold_list *list, vyre_opcode op, uint32_t lanes)
{
  const fold_operand operands[3] = {VALUE(VYRE_TYPE(VYRE_BOOL, lanes))};
  char text[64], name[8];
  size_t at = (size_t)snprintf(text, sizeof text, op == VYRE_OP_any ? "(or false" : "(and true");
  for (uint32_t i = 0; i < lanes; i++)
    at += (size_t)snprintf(text + at, sizeof text - at, " %s", fold_name(0, i, name));
  snprintf(text + at, sizeof text - at, ")");
  FILE *to = fold_begin(list, op, VYRE_BOOL, VYRE_TYPE(VYRE_BOOL, 1), 0, 0, operands, true);
  result(to, last(list), 0, text);
  finish(list, to, "false");
}

/* Concatenates all lanes, lane 0 lowest, and extracts the result's lanes. */
static void
bitcast(fold_list *list, vyre_type from, vyre_type type)
{
  const fold_operand operands[3] = {VALUE(from)};
  const uint32_t bits = vyre_kind_bits(VYRE_TYPE_KIND(type)), count = VYRE_TYPE_LANES(from);
  char all[64] = "x", text[128];
  size_t at = count > 1 ? (size_t)snprintf(all, sizeof all, "(concat") : 0;
  for (uint32_t i = count; count > 1 && i-- > 0;) {
    char name[8];
    at += (size_t)snprintf(all + at, sizeof all - at, " %s%s", fold_name(0, i, name), i ? "" : ")");
  }
  FILE *to = fold_begin(list, VYRE_OP_bitcast, VYRE_TYPE_KIND(from), type, 0, 0, operands, true);
  for (uint32_t i = 0; i < VYRE_TYPE_LANES(type); i++) {
    snprintf(text, sizeof text, "((_ extract %u %u) %s)", i * bits + bits - 1, i * bits, all);
    result(to, last(list), i, text);
  }
  finish(list, to, "false");
}

static void
bitcasts(fold_list *list)
{
  for (uint32_t from = VYRE_TYPE(VYRE_I8, 1); from <= VYRE_TYPE(VYRE_F64, 4); from++)
    for (uint32_t type = VYRE_TYPE(VYRE_I8, 1); type <= VYRE_TYPE(VYRE_F64, 4); type++)
      if (vyre_kind_bits(VYRE_TYPE_KIND(from)) * VYRE_TYPE_LANES(from) ==
          vyre_kind_bits(VYRE_TYPE_KIND(type)) * VYRE_TYPE_LANES(type))
        bitcast(list, (vyre_type)from, (vyre_type)type);
}

/* Clamps, scales and rounds each lane, lane 0 lowest. */
static void
pack(fold_list *list, vyre_opcode op, uint32_t bits, bool is_signed)
{
  const uint32_t lanes = 32 / bits;
  const fold_operand operands[3] = {VALUE(VYRE_TYPE(VYRE_F32, lanes))};
  FILE *to = fold_begin(list, op, VYRE_F32, U32, 0, 0, operands, false);
  if (op == VYRE_OP_packhalf2x16)
    fputs(
        "(define-fun field ((v F)) (_ BitVec 16) (let ((h ((_ to_fp 5 11) RNE v))) (ite (fp.isNaN h) #x7e00 (fp.to_ieee_bv h))))\n",
        to);
  else
    fprintf(to,
            "(define-fun field ((v F)) (_ BitVec %u) ((_ fp.to_%cbv %u) RNE (fp.roundToIntegral RNE (fp.mul RNE"
            " (least (greatest v %s) fone) ((_ to_fp 8 24) RNE %u.0)))))\n",
            bits, is_signed ? 's' : 'u', bits, is_signed ? "(fp.neg fone)" : "fzero", (1u << (is_signed ? bits - 1 : bits)) - 1);
  result(to, last(list), 0, lanes == 2 ? "(concat (field x1) (field x))" : "(concat (field x3) (field x2) (field x1) (field x))");
  finish(list, to, "false");
}

static void
unpack(fold_list *list, vyre_opcode op, uint32_t bits, bool is_signed)
{
  const uint32_t lanes = 32 / bits;
  const fold_operand operands[3] = {VALUE(U32)};
  FILE *to = fold_begin(list, op, VYRE_U32, VYRE_TYPE(VYRE_F32, lanes), 0, 0, operands, false);
  smt_prelude(to, VYRE_F32, false, "");
  for (uint32_t i = 0; i < lanes; i++) {
    char text[256], field[32];
    snprintf(field, sizeof field, "((_ extract %u %u) x)", i * bits + bits - 1, i * bits);
    if (op == VYRE_OP_unpackhalf2x16)
      snprintf(text, sizeof text, "((_ to_fp 8 24) RNE ((_ to_fp 5 11) %s))", field);
    else
      snprintf(text, sizeof text,
               "(least (greatest (fp.div RNE ((_ %s 8 24) RNE %s) ((_ to_fp 8 24) RNE %u.0)) (fp.neg fone)) fone)",
               is_signed ? "to_fp" : "to_fp_unsigned", field, (1u << (is_signed ? bits - 1 : bits)) - 1);
    result(to, last(list), i, text);
  }
  finish(list, to, "false");
}

/* Writes the sum of the components' products in `bits` bits.  With `part`, a comparison to 0, sums only the products for which it
 * holds. */
static void
sum_of_products(char text[2048], const vyre_dot_shape *shape, uint32_t bits, const char *part)
{
  size_t at = (size_t)snprintf(text, 2048, "(bvadd");
  for (uint32_t k = 0; k < shape->lanes; k++) {
    char factors[2][128], name[8];
    for (uint32_t i = 0; i < 2; i++) {
      char component[64];
      if (shape->packed)
        snprintf(component, sizeof component, "((_ extract %u %u) %s)", 8 * k + 7, 8 * k, fold_name(i, 0, name));
      else
        snprintf(component, sizeof component, "%s", fold_name(i, k, name));
      snprintf(factors[i], sizeof factors[i], "((_ %s_extend %u) %s)",
               (i ? shape->right_signed : shape->left_signed) ? "sign" : "zero", bits - shape->bits, component);
    }
    if (part)
      at += (size_t)snprintf(text + at, 2048 - at, " (let ((p (bvmul %s %s))) (ite (%s p (_ bv0 %u)) p (_ bv0 %u)))", factors[0],
                             factors[1], part, bits, bits);
    else
      at += (size_t)snprintf(text + at, 2048 - at, " (bvmul %s %s)", factors[0], factors[1]);
  }
  snprintf(text + at, 2048 - at, ")");
}

/* Writes the greatest and the least number of `width` bits, extended to `bits` bits. */
static void
limits(char most[128], char least[192], const vyre_dot_shape *shape, uint32_t width, uint32_t bits)
{
  const uint32_t ones = shape->left_signed ? width - 1 : width;
  snprintf(most, 128, "((_ zero_extend %u) (bvnot (_ bv0 %u)))", bits - ones, ones);
  if (shape->left_signed)
    snprintf(least, 192, "(bvnot %s)", most);
  else
    snprintf(least, 192, "(_ bv0 %u)", bits);
}

static void
int_dot(fold_list *list, vyre_opcode op, vyre_type operand, vyre_kind kind, bool accumulates)
{
  const vyre_dot_shape shape = vyre_dot_shape_of(op, operand);
  const uint32_t width = vyre_kind_bits(kind), bits = 2 * width + 4;
  const fold_operand operands[3] = {VALUE(operand), VALUE(operand), VALUE(accumulates ? VYRE_TYPE(kind, 1) : (vyre_type)0)};
  const char *extend = shape.left_signed ? "sign" : "zero";
  char sum[2048], above[2048], below[2048], most[128], least[192];
  FILE *to = fold_begin(list, op, VYRE_TYPE_KIND(operand), VYRE_TYPE(kind, 1), 0, 0, operands, true);
  sum_of_products(sum, &shape, width, NULL);
  fold_head(to, last(list), 0);
  if (accumulates) {
    limits(most, least, &shape, width, width + 2);
    fprintf(to, "(let ((e (bvadd ((_ %s_extend 2) %s) ((_ %s_extend 2) z)))) ((_ extract %u 0)", extend, sum, extend, width - 1);
    fprintf(to, " (ite (bvslt e %s) %s (ite (bvsgt e %s) %s e)))))\n", least, least, most, most);
  } else {
    fprintf(to, "%s)\n", sum);
  }
  sum_of_products(above, &shape, bits, "bvsgt");
  sum_of_products(below, &shape, bits, "bvslt");
  limits(most, least, &shape, width, bits);
  fold_head_undefined(to, last(list));
  if (accumulates)
    fprintf(to, "(or (bvsgt %s %s) (bvslt %s %s)))\n", above, most, below, least);
  else
    fprintf(to, "false)\n");
  fold_end(list, to);
}

static void
int_dots(fold_list *list)
{
  for (vyre_opcode op = VYRE_OP_sdot; op <= VYRE_OP_sudot; op++)
    for (vyre_kind to = VYRE_U8; to <= VYRE_U64; to = (vyre_kind)(to + 2))
      for (uint32_t accumulates = 0; accumulates < 2; accumulates++) {
        int_dot(list, op, U32, to, accumulates != 0);
        for (vyre_kind from = VYRE_U8; from <= to; from = (vyre_kind)(from + 2))
          for (uint32_t lanes = 2; lanes <= 4; lanes++)
            int_dot(list, op, VYRE_TYPE(from, lanes), to, accumulates != 0);
      }
}

void
fold_moves(fold_list *list)
{
  for (vyre_kind kind = VYRE_BOOL; kind <= VYRE_F64; kind++) {
    if (vyre_kind_is_signed(kind))
      continue;
    for (uint32_t n = 1; n <= 4; n++) {
      repeat(list, VYRE_OP_const, kind, n);
      select(list, kind, n, 1);
      if (n == 1)
        continue;
      repeat(list, VYRE_OP_splat, kind, n);
      select(list, kind, n, n);
      lane(list, kind, n);
      insert(list, kind, n);
      for (uint32_t m = 1; m + n <= 4; m++) {
        join(list, kind, n, m, 0);
        if (m != n)
          join(list, kind, m, n, 0);
      }
      for (uint32_t m = 2; m <= 4 && vyre_kind_is_float(kind); m++)
        transpose(list, kind, n, m);
    }
    join(list, kind, 1, 1, 0);
    join(list, kind, 1, 1, 1);
    join(list, kind, 2, 1, 1);
    join(list, kind, 1, 2, 1);
    join(list, kind, 1, 1, 2);
    shuffle(list, kind, 4, 0, 4, 0x0123);
    shuffle(list, kind, 3, 0, 2, 0x20);
    shuffle(list, kind, 2, 0, 4, 0x1001);
    shuffle(list, kind, 4, 4, 4, 0x7361);
    shuffle(list, kind, 2, 3, 3, 0x604);
    shuffle(list, kind, 3, 2, 4, 0x5240);
  }
  for (uint32_t n = 2; n <= 4; n++) {
    over_lanes(list, VYRE_OP_any, n);
    over_lanes(list, VYRE_OP_all, n);
  }
  bitcasts(list);
  int_dots(list);
  pack(list, VYRE_OP_packsnorm4x8, 8, true);
  pack(list, VYRE_OP_packunorm4x8, 8, false);
  pack(list, VYRE_OP_packsnorm2x16, 16, true);
  pack(list, VYRE_OP_packunorm2x16, 16, false);
  pack(list, VYRE_OP_packhalf2x16, 16, false);
  unpack(list, VYRE_OP_unpacksnorm4x8, 8, true);
  unpack(list, VYRE_OP_unpackunorm4x8, 8, false);
  unpack(list, VYRE_OP_unpacksnorm2x16, 16, true);
  unpack(list, VYRE_OP_unpackunorm2x16, 16, false);
  unpack(list, VYRE_OP_unpackhalf2x16, 16, false);
}
