/* Random expressions with operands of several types: vectors, tuples, matrices, float functions, bits, subgroups.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

vyre_row
vector_expression(generator *g)
{
  const vyre_kind kind = random_kind(g);
  const uint32_t lanes = 2 + below(g, 3);
  const vyre_type type = VYRE_TYPE(kind, lanes);
  const vyre_row a = value(g, type);
  vyre_row b;
  uint32_t imm = 0;
  switch (below(g, 5)) {
  case 0:
    return row(g, VYRE_OP_lane, VYRE_TYPE(kind, 1), 0, a, index_below(g, lanes), VYRE_NONE);
  case 1:
    b = value(g, VYRE_TYPE(kind, 1));
    return row(g, VYRE_OP_insert, type, 0, a, b,
               below(g, 2) ? index_below(g, lanes) : vyre_build_const(&g->b, U32, below(g, lanes)));
  case 2:
    b = value(g, VYRE_TYPE(kind, 1 + below(g, 4)));
    for (uint32_t i = 0; i < lanes; i++)
      imm |= (below(g, 2) ? below(g, lanes) : 4 + below(g, VYRE_TYPE_LANES(type_of(g, b)))) << 4 * i;
    return row(g, VYRE_OP_shuffle, type, imm, a, b, VYRE_NONE);
  case 3:
    b = value(g, VYRE_TYPE(VYRE_BOOL, lanes));
    return row(g, below(g, 2) ? VYRE_OP_any : VYRE_OP_all, BOOL, 0, b, VYRE_NONE, VYRE_NONE);
  default:
    b = value(g, type);
    return vyre_build_select(&g->b, value(g, VYRE_TYPE(VYRE_BOOL, below(g, 2) ? 1 : lanes)), a, b);
  }
}

static vyre_row
part_of(generator *g, vyre_row tuple, uint32_t parts, vyre_type type)
{
  return row(g, VYRE_OP_part, type, below(g, parts), tuple, VYRE_NONE, VYRE_NONE);
}

vyre_row
tuple_expression(generator *g)
{
  static const vyre_opcode ops[] = {VYRE_OP_uaddc, VYRE_OP_usubb, VYRE_OP_umulx, VYRE_OP_smulx};
  const vyre_opcode op = ops[below(g, 4)];
  vyre_kind kind;
  class_kind(g, op == VYRE_OP_smulx ? VYRE_CLASS_SINT : VYRE_CLASS_UINT, &kind);
  const vyre_type type = VYRE_TYPE(kind, 1 + below(g, 4));
  const vyre_row a = value(g, type), b = value(g, type);
  return part_of(g, row(g, op, TUPLE, VYRE_TUPLE_OF(2, type), a, b, VYRE_NONE), 2, type);
}

/* Returns a matrix, which is a tuple of columns. */
static vyre_row
matrix(generator *g, vyre_type column, uint32_t columns)
{
  vyre_row parts[4];
  for (uint32_t i = 0; i < columns; i++)
    parts[i] = value(g, column);
  return vyre_build_tuple(&g->b, parts, columns);
}

static vyre_row
matrix_row(generator *g, vyre_opcode op, vyre_kind kind, uint32_t columns, uint32_t rows, vyre_row a, vyre_row b)
{
  const vyre_type column = VYRE_TYPE(kind, rows);
  return part_of(g, row(g, op, TUPLE, VYRE_TUPLE_OF(columns, column), a, b, VYRE_NONE), columns, column);
}

vyre_row
matrix_expression(generator *g)
{
  vyre_kind kind;
  class_kind(g, VYRE_CLASS_FLOAT, &kind);
  const uint32_t columns = 2 + below(g, 3), rows = 2 + below(g, 3), others = 2 + below(g, 3);
  const vyre_type column = VYRE_TYPE(kind, rows), across = VYRE_TYPE(kind, columns);
  const vyre_row m = matrix(g, column, columns);
  vyre_row b;
  switch (below(g, 8)) {
  case 0:
    b = value(g, across);
    return row(g, VYRE_OP_matvec, column, 0, m, b, VYRE_NONE);
  case 1:
    b = value(g, column);
    return row(g, VYRE_OP_vecmat, across, 0, b, m, VYRE_NONE);
  case 2:
    b = matrix(g, across, others);
    return matrix_row(g, VYRE_OP_matmat, kind, others, rows, m, b);
  case 3:
    b = value(g, column);
    return matrix_row(g, VYRE_OP_outer, kind, columns, rows, b, value(g, across));
  case 4:
    return row(g, VYRE_OP_determinant, VYRE_TYPE(kind, 1), 0, matrix(g, across, columns), VYRE_NONE, VYRE_NONE);
  case 5:
    if (!g->tame)
      return matrix_row(g, VYRE_OP_inverse, kind, columns, columns, matrix(g, across, columns), VYRE_NONE);
    return part_of(g, m, columns, column);
  case 6:
    return part_of(g, m, columns, column);
  default:
    return matrix_row(g, VYRE_OP_transpose, kind, rows, columns, m, VYRE_NONE);
  }
}

vyre_row
float_expression(generator *g)
{
  vyre_kind kind;
  class_kind(g, VYRE_CLASS_FLOAT, &kind);
  const uint32_t lanes = 1 + below(g, 4);
  const vyre_type type = VYRE_TYPE(kind, lanes), scalar = VYRE_TYPE(kind, 1);
  const vyre_row a = value(g, type), b = value(g, type);
  vyre_row tuple;
  switch (below(g, 7)) {
  case 0:
    return row(g, VYRE_OP_ldexp, type, 0, a, value(g, VYRE_TYPE(VYRE_I32, lanes)), VYRE_NONE);
  case 1:
    return row(g, VYRE_OP_norm, scalar, 0, a, VYRE_NONE, VYRE_NONE);
  case 2:
    return row(g, VYRE_OP_distance, scalar, 0, a, b, VYRE_NONE);
  case 3:
    return row(g, VYRE_OP_refract, type, 0, a, b, value(g, scalar));
  case 4:
    tuple = row(g, VYRE_OP_modf, TUPLE, VYRE_TUPLE_OF(2, type), a, VYRE_NONE, VYRE_NONE);
    return part_of(g, tuple, 2, type);
  case 5:
    if (!g->tame) {
      tuple = row(g, VYRE_OP_frexp, TUPLE, VYRE_TUPLE_OF(2, 0), a, VYRE_NONE, VYRE_NONE);
      return below(g, 2) ? row(g, VYRE_OP_part, type, 0, tuple, VYRE_NONE, VYRE_NONE)
                         : row(g, VYRE_OP_part, VYRE_TYPE(VYRE_I32, lanes), 1, tuple, VYRE_NONE, VYRE_NONE);
    }
    return a;
  default: {
    const vyre_type vector = VYRE_TYPE(kind, 2 + below(g, 3));
    const vyre_row left = value(g, vector);
    return row(g, VYRE_OP_dot, scalar, 0, left, value(g, vector), VYRE_NONE);
  }
  }
}

/* Returns a sum of products, without overflow in tame programs. */
static vyre_row
int_dot(generator *g)
{
  static const vyre_kind kinds[2][4] = {{VYRE_I8, VYRE_I16, VYRE_I32, VYRE_I64}, {VYRE_U8, VYRE_U16, VYRE_U32, VYRE_U64}};
  const vyre_opcode op = (vyre_opcode)(VYRE_OP_sdot + below(g, 3));
  const uint32_t width = below(g, 4), to = width + below(g, 4 - width), lanes = 2 + below(g, 3);
  const bool packed = below(g, 3) == 0, left = op == VYRE_OP_udot, right = op != VYRE_OP_sdot;
  const vyre_type type = VYRE_TYPE(kinds[left][packed ? below(g, 4) : to], 1);
  const vyre_row a = value(g, packed ? VYRE_TYPE(kinds[left][2], 1) : VYRE_TYPE(kinds[left][width], lanes));
  const vyre_row b = value(g, packed ? VYRE_TYPE(kinds[right][2], 1) : VYRE_TYPE(kinds[right][width], lanes));
  const bool fits = packed ? vyre_kind_bits(VYRE_TYPE_KIND(type)) > 16 : to > width + 1;
  return row(g, op, type, 0, a, b, below(g, 2) && (fits || !g->tame) ? value(g, type) : VYRE_NONE);
}

vyre_row
bits_expression(generator *g)
{
  vyre_kind kind;
  class_kind(g, VYRE_CLASS_INT, &kind);
  const vyre_type type = VYRE_TYPE(kind, 1 + below(g, 4));
  const vyre_row a = value(g, type);
  vyre_row b, c;
  static const vyre_opcode unpacks[] = {VYRE_OP_unpacksnorm4x8, VYRE_OP_unpackunorm4x8, VYRE_OP_unpacksnorm2x16,
                                        VYRE_OP_unpackunorm2x16, VYRE_OP_unpackhalf2x16};
  static const vyre_opcode packs[] = {VYRE_OP_packsnorm4x8, VYRE_OP_packunorm4x8, VYRE_OP_packsnorm2x16, VYRE_OP_packunorm2x16,
                                      VYRE_OP_packhalf2x16};
  const uint32_t k = below(g, 5), width = k < 2 ? 4 : 2;
  switch (below(g, 6)) {
  case 0:
  case 1: /* in a tame program offset and count are at most 6 together */
    b = g->tame ? vyre_build_const(&g->b, U32, below(g, 4)) : value(g, U32);
    c = g->tame ? vyre_build_imm(&g->b, VYRE_OP_and, value(g, U32), 3) : value(g, U32);
    if (below(g, 2))
      return row(g, below(g, 2) ? VYRE_OP_ubfe : VYRE_OP_sbfe, type, 0, a, b, c);
    c = vyre_build_tuple(&g->b, (const vyre_row[]){b, c}, 2);
    return row(g, VYRE_OP_bfi, type, 0, a, value(g, type), c);
  case 2:
    return row(g, packs[k], U32, 0, value(g, VYRE_TYPE(VYRE_F32, width)), VYRE_NONE, VYRE_NONE);
  case 3:
    return row(g, unpacks[k], VYRE_TYPE(VYRE_F32, width), 0, value(g, U32), VYRE_NONE, VYRE_NONE);
  case 4:
    return int_dot(g);
  default:
    return made_of(g, random_type(g), a);
  }
}

vyre_row
invocation_expression(generator *g)
{
  static const vyre_opcode vectors[] = {VYRE_OP_gid, VYRE_OP_lid, VYRE_OP_wid, VYRE_OP_groups};
  const vyre_opcode op = (vyre_opcode)(VYRE_OP_subgroup_lane + below(g, VYRE_OP_subgroup_lt_mask - VYRE_OP_subgroup_lane + 1));
  switch (below(g, 3)) {
  case 0:
    return row(g, VYRE_OP_lindex, U32, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
  case 1:
    return row(g, vectors[below(g, 4)], VYRE_TYPE(VYRE_U32, 3), 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
  default:
    return row(g, op, op >= VYRE_OP_subgroup_eq_mask ? VYRE_TYPE(VYRE_U32, 4) : U32, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
  }
}

/* ---- subgroups ------------------------------------------------------------------------------------------------------------ */

/* Returns a random payload of the op: the lanes that it combines. */
static uint32_t
random_group(generator *g, vyre_opcode op)
{
  const uint32_t clustered = VYRE_GROUP(VYRE_GROUP_CLUSTERED, g->tame ? 1 : 1u << below(g, 4));
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
    return BOOL;
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

/* Returns a random subgroup op.  For a program without undefined behavior (tame), the op reads only active lanes. */
static vyre_opcode
subgroup_op(generator *g)
{
  for (;;) {
    const vyre_opcode op = (vyre_opcode)(VYRE_OP_subgroup_elect + below(g, VYRE_OP_subgroup_xor - VYRE_OP_subgroup_elect + 1));
    const vyre_undefined when = (vyre_undefined)vyre_op_infos[op].undefined;
    if (!g->tame || when == VYRE_UNDEFINED_NEVER || (when == VYRE_UNDEFINED_LANES && op >= VYRE_OP_subgroup_add))
      return op;
  }
}

/* The result depends on the active lanes, so a pass that moves such a row, or removes control around it, changes it. */
vyre_row
subgroup_expression(generator *g)
{
  const vyre_opcode op = subgroup_op(g);
  const vyre_op_info *info = &vyre_op_infos[op];
  const bool ballot = op >= VYRE_OP_subgroup_inverse_ballot && op <= VYRE_OP_subgroup_ballot_findmsb;
  const bool vote = op == VYRE_OP_subgroup_all || op == VYRE_OP_subgroup_any || op == VYRE_OP_subgroup_ballot;
  vyre_kind kind = VYRE_VOID;
  vyre_type type = 0;
  vyre_row a = VYRE_NONE, b = VYRE_NONE;
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
