/* Random values: types, constants, and expressions of visible values.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "random_program.h"

#include "internal.h"

uint32_t
below(generator *g, uint32_t n)
{
  return random_below(&g->random, n);
}

vyre_kind
random_kind(generator *g)
{
  static const vyre_kind common[] = {VYRE_BOOL, VYRE_I32, VYRE_U32, VYRE_F32};
  if (!g->wide || below(g, 8) < 5)
    return common[below(g, 4)];
  return (vyre_kind)(VYRE_BOOL + below(g, VYRE_F64 - VYRE_BOOL + 1));
}

vyre_type
random_type(generator *g)
{
  return VYRE_TYPE(random_kind(g), below(g, 2) ? 1 : 1 + below(g, 4));
}

bool
class_kind(generator *g, vyre_class klass, vyre_kind *out)
{
  if (klass == VYRE_CLASS_NONE)
    return false;
  do
    *out = random_kind(g);
  while (!vyre_class_has(klass, *out));
  return true;
}

vyre_row
keep(generator *g, vyre_row row)
{
  if (g->count < MAX_POOL)
    g->pool[g->count++] = row;
  return row;
}

/* ---- constants ------------------------------------------------------------------------------------------------------------ */

/* 0, -0, 1, -1, 1/2, 2, pi, 42, 2^31, -2^31, infinities, the NaN that the interpreter makes, greatest, least normal, least. */
static const uint16_t halves[] = {0,      0x8000, 0x3c00, 0xbc00, 0x3800, 0x4000, 0x4248, 0x5140,
                                  0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x7bfe, 0x0400, 0x0001};
static const uint32_t floats[] = {0,           0x80000000u, 0x3f800000u, 0xbf800000u, 0x3f000000u, 0x40000000u,
                                  0x40490fdbu, 0x42280000u, 0x4f000000u, 0xcf000000u, 0x7f800000u, 0xff800000u,
                                  0x7fc00000u, 0x7f7fffffu, 0x00800000u, 0x00000001u};
static const uint64_t doubles[] = {0,
                                   0x8000000000000000u,
                                   0x3ff0000000000000u,
                                   0xbff0000000000000u,
                                   0x3fe0000000000000u,
                                   0x4000000000000000u,
                                   0x400921fb54442d18u,
                                   0x4045000000000000u,
                                   0x41e0000000000000u,
                                   0xc1e0000000000000u,
                                   0x7ff0000000000000u,
                                   0xfff0000000000000u,
                                   0x7ff8000000000000u,
                                   0x7fefffffffffffffu,
                                   0x0010000000000000u,
                                   0x0000000000000001u};

static uint64_t
float_edge(generator *g, vyre_kind kind)
{
  const uint32_t k = below(g, 16);
  return kind == VYRE_F16 ? halves[k] : kind == VYRE_F32 ? floats[k] : doubles[k];
}

static uint64_t
int_edge(generator *g, uint32_t width)
{
  const uint64_t top = UINT64_C(1) << (width - 1);
  const uint64_t edges[] = {0, 1, 2,  3,  width - 1, width, width + 1, top, top - 1, top + 1, UINT64_MAX, UINT64_MAX - 1,
                            5, 7, 16, 100};
  return edges[below(g, 16)];
}

/* Replaces a NaN by the canonical one of folds and of the interpreter. */
static uint64_t
without_payload(vyre_kind kind, uint64_t bits)
{
  const uint64_t infinity = kind == VYRE_F16 ? halves[10] : kind == VYRE_F32 ? floats[10] : doubles[10];
  const uint64_t magnitude = bits & (UINT64_MAX >> (65 - vyre_kind_bits(kind)));
  return magnitude > infinity ? infinity | (infinity & ~(infinity << 1)) >> 1 : bits;
}

static vyre_row
constant(generator *g, vyre_type type)
{
  const vyre_kind kind = VYRE_TYPE_KIND(type);
  const uint32_t width = vyre_kind_bits(kind);
  uint64_t bits = (uint64_t)below(g, 0x7fffffffu) << 33 ^ (uint64_t)below(g, 0x7fffffffu) << 16 ^ below(g, 0x7fffffffu);
  if (below(g, 3))
    bits = vyre_kind_is_float(kind) ? float_edge(g, kind) : int_edge(g, width);
  bits &= UINT64_MAX >> (64 - width);
  if (vyre_kind_is_float(kind))
    bits = without_payload(kind, bits);
  return vyre_build_const(&g->b, type, bits);
}

/* ---- values of a type ----------------------------------------------------------------------------------------------------- */

static vyre_row
as_bool(generator *g, vyre_row scalar)
{
  const vyre_kind kind = VYRE_TYPE_KIND(type_of(g, scalar));
  if (vyre_kind_is_float(kind))
    return vyre_build_binary(&g->b, VYRE_OP_flt, scalar, vyre_build_const(&g->b, VYRE_TYPE(kind, 1), float_edge(g, kind)));
  return vyre_build_imm(&g->b, VYRE_OP_ne, scalar, 0);
}

/* Returns a bitcast.  Replaces a NaN by the canonical one, because the NaN of `x + -0` is not defined. */
static vyre_row
same_bits(generator *g, vyre_kind kind, vyre_row scalar)
{
  const vyre_row made = vyre_build_convert(&g->b, VYRE_OP_bitcast, VYRE_TYPE(kind, 1), scalar);
  if (!vyre_kind_is_float(kind))
    return made;
  const vyre_row is_nan = row(g, VYRE_OP_isnan, VYRE_TYPE(VYRE_BOOL, 1), 0, made, VYRE_NONE, VYRE_NONE);
  return vyre_build_select(&g->b, is_nan, vyre_build_const(&g->b, VYRE_TYPE(kind, 1), without_payload(kind, UINT64_MAX)), made);
}

static vyre_row
as_kind(generator *g, vyre_kind kind, vyre_row scalar)
{
  vyre_kind has = VYRE_TYPE_KIND(type_of(g, scalar));
  if (has == VYRE_BOOL)
    return vyre_build_select(&g->b, scalar, constant(g, VYRE_TYPE(kind, 1)), constant(g, VYRE_TYPE(kind, 1)));
  if (vyre_kind_bits(has) == vyre_kind_bits(kind) && below(g, 3) == 0)
    return same_bits(g, kind, scalar);
  if (g->tame && vyre_kind_is_float(has) && vyre_kind_is_int(kind)) { /* a value out of range would be undefined */
    has = has == VYRE_F16 ? VYRE_U16 : has == VYRE_F32 ? VYRE_U32 : VYRE_U64;
    scalar = same_bits(g, has, scalar);
  }
  return has == kind ? scalar : vyre_build_convert(&g->b, VYRE_OP_convert, VYRE_TYPE(kind, 1), scalar);
}

vyre_row
made_of(generator *g, vyre_type type, vyre_row from)
{
  const vyre_kind kind = VYRE_TYPE_KIND(type);
  const uint32_t lanes = VYRE_TYPE_LANES(type), has = VYRE_TYPE_LANES(type_of(g, from));
  vyre_row parts[4], scalar = has > 1 ? vyre_build_lane(&g->b, from, below(g, has)) : from;
  if (VYRE_TYPE_KIND(type_of(g, scalar)) != kind)
    scalar = kind == VYRE_BOOL ? as_bool(g, scalar) : as_kind(g, kind, scalar);
  if (lanes == 1)
    return scalar;
  if (below(g, 2))
    return row(g, VYRE_OP_splat, type, 0, scalar, VYRE_NONE, VYRE_NONE);
  for (uint32_t i = 0; i < lanes; i++)
    parts[i] = i == 0 ? scalar : value(g, VYRE_TYPE(kind, 1));
  return vyre_build_join(&g->b, parts, lanes);
}

vyre_row
value(generator *g, vyre_type type)
{
  uint32_t start, same = 0;
  if (g->extreme && vyre_kind_is_float(VYRE_TYPE_KIND(type)))
    return extreme_value(g, type);
  if (g->twist && --g->twist == 0)
    return vyre_build_const(&g->b, type, 1);
  if (below(g, 10) < 3 || g->count == 0)
    return constant(g, type);
  start = below(g, g->count);
  for (uint32_t i = 0; i < g->count && i < 64; i++) {
    vyre_row row = g->pool[(start + i) % g->count];
    if (type_of(g, row) == type && (same++ || below(g, 4)))
      return row;
  }
  return made_of(g, type, g->pool[below(g, g->count)]);
}

vyre_row
index_below(generator *g, uint32_t n)
{
  const vyre_row index = value(g, U32);
  if (!g->tame && below(g, 3))
    return index;
  return vyre_build_imm(&g->b, (n & (n - 1)) ? VYRE_OP_umod : VYRE_OP_and, index, (n & (n - 1)) ? n : n - 1);
}

/* ---- expressions --------------------------------------------------------------------------------------------------------- */

vyre_row
row(generator *g, vyre_opcode op, vyre_type type, uint32_t imm, vyre_row a, vyre_row b, vyre_row c)
{
  return vyre_op_is_invocation(op) ? vyre_build_invocation(&g->b, op) : vyre_build(&g->b, op, type, 0, imm, 0, a, b, c);
}

/* Changes the right operand so that the row is defined. */
static vyre_row
tamed(generator *g, const vyre_op_info *info, vyre_type type, vyre_row b)
{
  const vyre_kind kind = VYRE_TYPE_KIND(type);
  if (info->undefined == VYRE_UNDEFINED_SHIFT_RANGE)
    return vyre_build_imm(&g->b, VYRE_OP_and, b, vyre_kind_bits(kind) - 1);
  if (info->undefined == VYRE_UNDEFINED_DIV_OVERFLOW)
    b = vyre_build_imm(&g->b, VYRE_OP_and, b, 0x7f);
  if (info->undefined == VYRE_UNDEFINED_DIV_OVERFLOW || info->undefined == VYRE_UNDEFINED_DIV_BY_0)
    b = vyre_build_imm(&g->b, VYRE_OP_or, b, 1);
  return b;
}

static vyre_row
regular(generator *g, vyre_opcode op, vyre_kind kind)
{
  const vyre_op_info *info = &vyre_op_infos[op];
  vyre_type type, result;
  vyre_row a, b = VYRE_NONE, c = VYRE_NONE;
  if (op == VYRE_OP_quantize16)
    kind = VYRE_F32;
  type = VYRE_TYPE(kind, op == VYRE_OP_cross ? 3 : below(g, 2) ? 1 : 1 + below(g, 4));
  result = info->rule == VYRE_RULE_BOOL ? VYRE_TYPE(VYRE_BOOL, VYRE_TYPE_LANES(type)) : type;
  a = value(g, type);
  if (info->operands > 1)
    b = g->tame ? tamed(g, info, type, value(g, type)) : value(g, type);
  if (info->operands > 2)
    c = value(g, type);
  return vyre_build(&g->b, op, result, below(g, 8) ? 0 : VYRE_ROW_EXACT, 0, 0, a, b, c);
}

/* Copies an earlier row with the same operands, for passes that merge equal rows. */
vyre_row
copy_of(generator *g, uint32_t from)
{
  const vyre_view *v = g->v;
  if (vyre_op_is_invocation(VYRE_ROW_OP(v->op[from]))) /* built-ins are unique */
    return (vyre_row){from};
  return vyre_build(&g->b, (vyre_opcode)VYRE_ROW_OP(v->op[from]), VYRE_ROW_TYPE(v->op[from]), VYRE_ROW_FLAGS(v->op[from]),
                    v->imm[from], (VYRE_ROW_FLAGS(v->op[from]) & VYRE_ROW_IMM) ? v->imm_hi[from] : 0, (vyre_row){v->a[from]},
                    (vyre_row){v->b[from]}, (vyre_row){v->c[from]});
}

/* Copies a row with exactly these of the flags PURE, READS, CONVERGENT and IDENTITY. */
static vyre_row
repeat_row(generator *g, uint32_t wanted)
{
  const uint32_t start = below(g, g->count);
  for (uint32_t i = 0; i < g->count; i++) {
    const uint32_t from = g->pool[(start + i) % g->count].id;
    const uint32_t flags = vyre_op_infos[VYRE_ROW_OP(g->v->op[from])].flags;
    if ((flags & (VYRE_OP_PURE | VYRE_OP_READS | VYRE_OP_CONVERGENT | VYRE_OP_IDENTITY)) == wanted)
      return copy_of(g, from);
  }
  return subgroup_expression(g);
}

static const vyre_opcode common[] = {VYRE_OP_add, VYRE_OP_add, VYRE_OP_sub, VYRE_OP_sub,  VYRE_OP_mul,  VYRE_OP_mul,  VYRE_OP_and,
                                     VYRE_OP_or,  VYRE_OP_xor, VYRE_OP_shl, VYRE_OP_ushr, VYRE_OP_udiv, VYRE_OP_umod, VYRE_OP_eq,
                                     VYRE_OP_ne,  VYRE_OP_ult, VYRE_OP_slt, VYRE_OP_flt,  VYRE_OP_neg,  VYRE_OP_not};

/* Returns whether operands and result of the op have one type.  In a tame program the op must be defined, or tamed() makes it so.
 */
static bool
is_regular(const generator *g, vyre_opcode op)
{
  const vyre_op_info *info = &vyre_op_infos[op];
  const vyre_undefined when = (vyre_undefined)info->undefined;
  if (g->tame && when != VYRE_UNDEFINED_NEVER && when != VYRE_UNDEFINED_DIV_BY_0 && when != VYRE_UNDEFINED_DIV_OVERFLOW &&
      when != VYRE_UNDEFINED_SHIFT_RANGE)
    return false;
  return info->text && op >= VYRE_OP_add && op < VYRE_OP_verbatim && (info->rule == VYRE_RULE_SAME || info->rule == VYRE_RULE_BOOL);
}

vyre_row
float_operation(generator *g)
{
  vyre_opcode op;
  vyre_kind kind;
  class_kind(g, VYRE_CLASS_FLOAT, &kind);
  do
    op = (vyre_opcode)below(g, VYRE_OP__COUNT);
  while (!is_regular(g, op) || !vyre_class_has((vyre_class)vyre_op_infos[op].klass, kind));
  return regular(g, op, kind);
}

void
add_expression(generator *g)
{
  vyre_opcode op;
  vyre_kind kind = VYRE_U32;
  switch (below(g, 15)) {
  case 0:
    keep(g, vector_expression(g));
    return;
  case 1:
    keep(g, below(g, 2) ? invocation_expression(g) : bits_expression(g));
    return;
  case 2:
    keep(g, tuple_expression(g));
    return;
  case 3:
    keep(g, below(g, 2) ? matrix_expression(g) : float_expression(g));
    return;
  case 4:
    keep(g, subgroup_expression(g));
    return;
  case 5:
    store_out(g, keep(g, repeat_row(g, VYRE_OP_READS | (below(g, 2) ? VYRE_OP_CONVERGENT : 0))));
    return;
  case 6:
    store_out(g, keep(g, repeat_row(g, VYRE_OP_PURE)));
    return;
  default:
    do
      op = below(g, 3) ? (vyre_opcode)below(g, VYRE_OP__COUNT) : common[below(g, sizeof common / sizeof common[0])];
    while (!is_regular(g, op));
    class_kind(g, (vyre_class)vyre_op_infos[op].klass, &kind);
    keep(g, regular(g, op, kind));
    if (below(g, 4) == 0)
      store_out(g, g->pool[g->count - 1]);
  }
}
