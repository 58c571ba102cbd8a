/* Random values: constants, and expressions over all foldable ops, lanes, tuples, subgroups.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

static const vyre_kind kinds[] = {VYRE_BOOL, VYRE_I32, VYRE_U32, VYRE_F32};

uint32_t
below(generator *g, uint32_t n)
{
  g->random = g->random * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((g->random >> 33) % n);
}

vyre_type
random_type(generator *g)
{
  return VYRE_TYPE(kinds[below(g, 4)], below(g, 2) ? 1 : 1 + below(g, 4));
}

vyre_row
keep(generator *g, vyre_row row)
{
  if (g->count < MAX_POOL)
    g->pool[g->count++] = row;
  return row;
}

static vyre_row
constant(generator *g, vyre_type type)
{
  static const uint32_t edges[] = {0,           1,           2,           3,           31,          32,
                                   33,          0x7fffffffu, 0x80000000u, 0xffffffffu, 0x3f800000u, 0xbf800000u,
                                   0x40490fdbu, 0x00000001u, 0x7f800000u, 0xff800000u, 0x7fc00000u, 0x4f000000u,
                                   0xcf000000u, 0x80000001u, 0x3effffffu, 0x42280000u, 0x5f000000u, 0x00800000u};
  uint32_t bits =
      below(g, 3) ? edges[below(g, sizeof edges / sizeof edges[0])] : (uint32_t)below(g, 0x7fffffffu) * 2u + below(g, 2);
  if (VYRE_TYPE_KIND(type) == VYRE_BOOL)
    bits &= 1u;
  if (VYRE_TYPE_KIND(type) == VYRE_F32 && (bits & 0x7fffffffu) > 0x7f800000u)
    bits = 0x7fc00000u; /* the one NaN that folds and the interpreter make */
  return vyre_build_const(&g->b, type, bits);
}

/* A value of that type from another one. */
static vyre_row
made_of(generator *g, vyre_type type, vyre_row from)
{
  vyre_type has = type_of(g, from);
  vyre_kind kind = VYRE_TYPE_KIND(type);
  vyre_row parts[4], scalar = from;
  if (VYRE_TYPE_LANES(has) > 1)
    scalar = vyre_build_lane(&g->b, from, below(g, VYRE_TYPE_LANES(has)));
  has = type_of(g, scalar);
  if (VYRE_TYPE_KIND(has) != kind) {
    if (kind == VYRE_BOOL)
      scalar = VYRE_TYPE_KIND(has) == VYRE_F32 ? vyre_build_imm(&g->b, VYRE_OP_flt, scalar, 0x3f800000u)
                                               : vyre_build_imm(&g->b, VYRE_OP_ne, scalar, 0);
    else if (VYRE_TYPE_KIND(has) == VYRE_BOOL)
      scalar = vyre_build_select(&g->b, scalar, constant(g, VYRE_TYPE(kind, 1)), constant(g, VYRE_TYPE(kind, 1)));
    else
      scalar = vyre_build_convert(&g->b, below(g, 3) ? VYRE_OP_convert : VYRE_OP_bitcast, VYRE_TYPE(kind, 1), scalar);
  }
  if (VYRE_TYPE_LANES(type) == 1)
    return scalar;
  if (below(g, 2))
    return vyre_build(&g->b, VYRE_OP_splat, type, 0, 0, 0, scalar, VYRE_NONE, VYRE_NONE);
  for (uint32_t i = 0; i < VYRE_TYPE_LANES(type); i++)
    parts[i] = i == 0 ? scalar : value(g, VYRE_TYPE(kind, 1));
  return vyre_build_join(&g->b, parts, VYRE_TYPE_LANES(type));
}

vyre_row
value(generator *g, vyre_type type)
{
  uint32_t start, same = 0;
  if (below(g, 10) < 4 || g->count == 0)
    return constant(g, type);
  start = below(g, g->count);
  for (uint32_t i = 0; i < g->count && i < 64; i++) {
    vyre_row row = g->pool[(start + i) % g->count];
    if (type_of(g, row) == type && (same++ || below(g, 4)))
      return row;
  }
  return made_of(g, type, g->pool[below(g, g->count)]);
}

/* ---- expressions --------------------------------------------------------------------------------------------------------- */

static bool
class_kind(generator *g, vyre_class klass, vyre_kind *out)
{
  static const uint8_t has[][4] = {
      /* bool, i32, u32, f32 */
      [VYRE_CLASS_NONE] = {0, 0, 0, 0},  [VYRE_CLASS_ANY] = {1, 1, 1, 1},  [VYRE_CLASS_BOOL] = {1, 0, 0, 0},
      [VYRE_CLASS_UINT] = {0, 0, 1, 0},  [VYRE_CLASS_SINT] = {0, 1, 0, 0}, [VYRE_CLASS_INT] = {0, 1, 1, 0},
      [VYRE_CLASS_FLOAT] = {0, 0, 0, 1}, [VYRE_CLASS_NUM] = {0, 1, 1, 1},  [VYRE_CLASS_BITS] = {1, 1, 1, 0}};
  uint32_t k = below(g, 4);
  if (klass == VYRE_CLASS_NONE)
    return false;
  while (!has[klass][k])
    k = (k + 1) % 4;
  *out = kinds[k];
  return true;
}

static vyre_row
regular(generator *g, vyre_opcode op)
{
  const vyre_op_info *info = &vyre_op_infos[op];
  vyre_kind kind = VYRE_U32;
  vyre_type type, result;
  vyre_row a, b = VYRE_NONE, c = VYRE_NONE;
  class_kind(g, (vyre_class)info->klass, &kind);
  type = VYRE_TYPE(kind, op == VYRE_OP_cross ? 3 : below(g, 2) ? 1 : 1 + below(g, 4));
  result = info->rule == VYRE_RULE_BOOL ? VYRE_TYPE(VYRE_BOOL, VYRE_TYPE_LANES(type)) : type;
  a = value(g, type);
  if (info->operands > 1)
    b = value(g, type);
  if (info->operands > 2)
    c = value(g, type);
  return vyre_build(&g->b, op, result, below(g, 8) ? 0 : VYRE_ROW_EXACT, 0, 0, a, b, c);
}

vyre_row
row(generator *g, vyre_opcode op, vyre_type type, uint32_t imm, vyre_row a, vyre_row b, vyre_row c)
{
  return vyre_build(&g->b, op, type, 0, imm, 0, a, b, c);
}

static vyre_row
vector_expression(generator *g)
{
  vyre_kind kind = kinds[below(g, 4)];
  uint32_t lanes = 2 + below(g, 3), imm = 0;
  vyre_type type = VYRE_TYPE(kind, lanes);
  vyre_row a = value(g, type), b;
  switch (below(g, 6)) {
  case 0:
    return row(g, VYRE_OP_lane, VYRE_TYPE(kind, 1), 0, a, value(g, U32), VYRE_NONE); /* often out of range */
  case 1:
    b = value(g, VYRE_TYPE(kind, 1));
    return row(g, VYRE_OP_insert, type, 0, a, b, below(g, 2) ? value(g, U32) : vyre_build_const(&g->b, U32, below(g, 5)));
  case 2:
    b = value(g, VYRE_TYPE(kind, 1 + below(g, 4)));
    for (uint32_t i = 0; i < lanes; i++)
      imm |= (below(g, 2) ? below(g, lanes) : 4 + below(g, VYRE_TYPE_LANES(type_of(g, b)))) << 4 * i;
    return row(g, VYRE_OP_shuffle, type, imm, a, b, VYRE_NONE);
  case 3:
    a = value(g, VYRE_TYPE(VYRE_BOOL, lanes));
    return row(g, below(g, 2) ? VYRE_OP_any : VYRE_OP_all, VYRE_TYPE(VYRE_BOOL, 1), 0, a, VYRE_NONE, VYRE_NONE);
  case 4:
    b = value(g, type);
    return vyre_build_select(&g->b, value(g, VYRE_TYPE(VYRE_BOOL, below(g, 2) ? 1 : lanes)), a, b);
  default:
    a = value(g, VYRE_TYPE(VYRE_F32, lanes));
    b = value(g, VYRE_TYPE(VYRE_F32, lanes));
    return row(g, VYRE_OP_dot, F32, 0, a, b, VYRE_NONE);
  }
}

static vyre_row
tuple_expression(generator *g)
{
  static const vyre_opcode ops[] = {VYRE_OP_uaddc, VYRE_OP_usubb, VYRE_OP_umulx, VYRE_OP_smulx};
  vyre_opcode op = ops[below(g, 4)];
  vyre_type type = VYRE_TYPE(op == VYRE_OP_smulx ? VYRE_I32 : VYRE_U32, 1 + below(g, 4));
  vyre_row a = value(g, type), b = value(g, type), tuple, columns[3];
  uint32_t n = 2 + below(g, 2);
  if (below(g, 3)) {
    tuple = row(g, op, TUPLE, VYRE_TUPLE_OF(2, type), a, b, VYRE_NONE);
    return row(g, VYRE_OP_part, type, below(g, 2), tuple, VYRE_NONE, VYRE_NONE);
  }
  type = VYRE_TYPE(VYRE_F32, 2 + below(g, 3));
  for (uint32_t i = 0; i < n; i++)
    columns[i] = value(g, type);
  tuple = vyre_build_tuple(&g->b, columns, n);
  if (below(g, 2))
    return row(g, VYRE_OP_part, type, below(g, n), tuple, VYRE_NONE, VYRE_NONE);
  tuple =
      row(g, VYRE_OP_transpose, TUPLE, VYRE_TUPLE_OF(VYRE_TYPE_LANES(type), VYRE_TYPE(VYRE_F32, n)), tuple, VYRE_NONE, VYRE_NONE);
  return row(g, VYRE_OP_part, VYRE_TYPE(VYRE_F32, n), below(g, VYRE_TYPE_LANES(type)), tuple, VYRE_NONE, VYRE_NONE);
}

static vyre_row
bits_expression(generator *g)
{
  uint32_t lanes = 1 + below(g, 4);
  vyre_type type = VYRE_TYPE(below(g, 2) ? VYRE_U32 : VYRE_I32, lanes);
  vyre_row a = value(g, type), b = value(g, U32), c = value(g, U32);
  static const vyre_opcode unpacks[] = {VYRE_OP_unpacksnorm4x8, VYRE_OP_unpackunorm4x8, VYRE_OP_unpacksnorm2x16,
                                        VYRE_OP_unpackunorm2x16, VYRE_OP_unpackhalf2x16};
  static const vyre_opcode packs[] = {VYRE_OP_packsnorm4x8, VYRE_OP_packunorm4x8, VYRE_OP_packsnorm2x16, VYRE_OP_packunorm2x16,
                                      VYRE_OP_packhalf2x16};
  uint32_t k = below(g, 5), width = k < 2 ? 4 : 2;
  switch (below(g, 5)) {
  case 0:
    return row(g, below(g, 2) ? VYRE_OP_ubfe : VYRE_OP_sbfe, type, 0, a, b, c);
  case 1:
    c = vyre_build_tuple(&g->b, (const vyre_row[]){b, c}, 2);
    return row(g, VYRE_OP_bfi, type, 0, a, value(g, type), c);
  case 2:
    return row(g, packs[k], U32, 0, value(g, VYRE_TYPE(VYRE_F32, width)), VYRE_NONE, VYRE_NONE);
  case 3:
    return row(g, unpacks[k], VYRE_TYPE(VYRE_F32, width), 0, b, VYRE_NONE, VYRE_NONE);
  default:
    return made_of(g, random_type(g), a);
  }
}

/* What of a subgroup's lanes is combined: any payload that the op may have. */
static uint32_t
random_group(generator *g, vyre_opcode op)
{
  const uint32_t clustered = VYRE_GROUP(VYRE_GROUP_CLUSTERED, 1u << below(g, 4));
  if (op == VYRE_OP_subgroup_rotate)
    return below(g, 2) ? clustered : 0;
  if (op == VYRE_OP_subgroup_ballot_count)
    return below(g, 3);
  if (op < VYRE_OP_subgroup_add)
    return 0;
  return below(g, 4) ? below(g, 3) : clustered;
}

static vyre_type
subgroup_result(vyre_opcode op, vyre_type a)
{
  switch ((uint32_t)op) {
  case VYRE_OP_subgroup_elect:
  case VYRE_OP_subgroup_all:
  case VYRE_OP_subgroup_any:
  case VYRE_OP_subgroup_alleq:
  case VYRE_OP_subgroup_inverse_ballot:
  case VYRE_OP_subgroup_ballot_bit:
    return VYRE_TYPE(VYRE_BOOL, 1);
  case VYRE_OP_subgroup_ballot_count:
  case VYRE_OP_subgroup_ballot_findlsb:
  case VYRE_OP_subgroup_ballot_findmsb:
    return U32;
  case VYRE_OP_subgroup_ballot:
    return VYRE_TYPE(VYRE_U32, 4);
  default:
    return a;
  }
}

/* Every lane sees which others are there: whoever moves such a row, or drops control around it, is found out. */
vyre_row
subgroup_expression(generator *g)
{
  vyre_opcode op = (vyre_opcode)(VYRE_OP_subgroup_elect + below(g, VYRE_OP_subgroup_xor - VYRE_OP_subgroup_elect + 1));
  const vyre_op_info *info = &vyre_op_infos[op];
  const bool ballot = op >= VYRE_OP_subgroup_inverse_ballot && op <= VYRE_OP_subgroup_ballot_findmsb;
  const bool vote = op == VYRE_OP_subgroup_all || op == VYRE_OP_subgroup_any || op == VYRE_OP_subgroup_ballot;
  vyre_kind kind = VYRE_VOID;
  vyre_type type = 0;
  vyre_row a = VYRE_NONE, b = VYRE_NONE;
  if (below(g, 8) == 0) {
    op = (vyre_opcode)(VYRE_OP_subgroup_lane + below(g, VYRE_OP_subgroup_lt_mask - VYRE_OP_subgroup_lane + 1));
    return row(g, op, op >= VYRE_OP_subgroup_eq_mask ? VYRE_TYPE(VYRE_U32, 4) : U32, 0, a, b, VYRE_NONE);
  }
  if (class_kind(g, (vyre_class)info->klass, &kind)) {
    type = ballot ? VYRE_TYPE(VYRE_U32, 4) : VYRE_TYPE(kind, vote || below(g, 2) ? 1 : 1 + below(g, 4));
    a = value(g, type);
  }
  if (op == VYRE_OP_subgroup_quad_swap)
    b = vyre_build_const(&g->b, U32, below(g, 3));
  else if (info->operands > 1)
    b = below(g, 4) ? vyre_build_imm(&g->b, VYRE_OP_and, value(g, U32), 3) : value(g, U32);
  return row(g, op, subgroup_result(op, type), random_group(g, op), a, b, VYRE_NONE);
}

/* A read that stands above once more, with the same operands: for whoever merges what looks equal. */
vyre_row
copy_of(generator *g, uint32_t from)
{
  const vyre_view *v = g->v;
  return row(g, (vyre_opcode)VYRE_ROW_OP(v->op[from]), VYRE_ROW_TYPE(v->op[from]), v->imm[from], (vyre_row){v->a[from]},
             (vyre_row){v->b[from]}, VYRE_NONE);
}

static vyre_row
read_again(generator *g)
{
  const uint32_t start = below(g, g->count), lanes = below(g, 2) ? VYRE_OP_CONVERGENT : 0;
  for (uint32_t i = 0; i < g->count; i++) {
    const uint32_t from = g->pool[(start + i) % g->count].id;
    const vyre_op_info *info = &vyre_op_infos[VYRE_ROW_OP(g->v->op[from])];
    if (!vyre_op_has_version(info) || (info->flags & VYRE_OP_CONVERGENT) != lanes)
      continue;
    return copy_of(g, from);
  }
  return subgroup_expression(g);
}

static bool
is_regular(vyre_opcode op)
{
  const vyre_op_info *info = &vyre_op_infos[op];
  return info->text && op >= VYRE_OP_add && (info->rule == VYRE_RULE_SAME || info->rule == VYRE_RULE_BOOL);
}

void
expression(generator *g)
{
  vyre_opcode op;
  switch (below(g, 12)) {
  case 0:
  case 1:
    keep(g, vector_expression(g));
    return;
  case 4:
    keep(g, subgroup_expression(g));
    return;
  case 5:
    store_out(g, keep(g, read_again(g)));
    return;
  case 2:
    keep(g, tuple_expression(g));
    return;
  case 3:
    keep(g, bits_expression(g));
    return;
  default:
    do
      op = (vyre_opcode)below(g, VYRE_OP__COUNT);
    while (!is_regular(op));
    keep(g, regular(g, op));
  }
}
