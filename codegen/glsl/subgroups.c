/* Subgroup operations: GL_KHR_shader_subgroup.
 *
 * In a strict program an inactive source lane yields 0, a cluster larger than the subgroup is the subgroup, and an empty
 * ballot has no lane.  GLSL leaves these cases undefined.  Limit: min, max and equality of floats in strict programs are
 * errors.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "glsl.h"

#include <stdio.h>

const char *
glsl_subgroup_builtin(glsl *g, vyre_opcode op)
{
  static const char *const names[] = {"gl_SubgroupInvocationID", "gl_SubgroupID",     "gl_SubgroupSize",
                                      "gl_NumSubgroups",         "gl_SubgroupEqMask", "gl_SubgroupGeMask",
                                      "gl_SubgroupGtMask",       "gl_SubgroupLeMask", "gl_SubgroupLtMask"};
  if (op < VYRE_OP_subgroup_lane || op > VYRE_OP_subgroup_lt_mask)
    return NULL;
  glsl_need(g, op >= VYRE_OP_subgroup_eq_mask ? GLSL_SUBGROUP_BALLOT : GLSL_SUBGROUP_BASIC);
  return names[op - VYRE_OP_subgroup_lane];
}

static void
need_kind(glsl *g, vyre_kind kind)
{
  switch (kind) {
  case VYRE_I8:
  case VYRE_U8:
    glsl_need(g, GLSL_SUBGROUP_INT8);
    return;
  case VYRE_I16:
  case VYRE_U16:
    glsl_need(g, GLSL_SUBGROUP_INT16);
    return;
  case VYRE_I64:
  case VYRE_U64:
    glsl_need(g, GLSL_SUBGROUP_INT64);
    return;
  case VYRE_F16:
    glsl_need(g, GLSL_SUBGROUP_FLOAT16);
    return;
  default:
    return;
  }
}

typedef struct subgroup_text {
  uint16_t op;
  uint16_t extension;
  const char *text;
} subgroup_text;

static const subgroup_text functions[] = {
    {VYRE_OP_subgroup_elect, GLSL_SUBGROUP_BASIC, "subgroupElect("},
    {VYRE_OP_subgroup_all, GLSL_SUBGROUP_VOTE, "subgroupAll("},
    {VYRE_OP_subgroup_any, GLSL_SUBGROUP_VOTE, "subgroupAny("},
    {VYRE_OP_subgroup_alleq, GLSL_SUBGROUP_VOTE, "subgroupAllEqual("},
    {VYRE_OP_subgroup_broadcast, GLSL_SUBGROUP_BALLOT, "subgroupBroadcast("},
    {VYRE_OP_subgroup_first, GLSL_SUBGROUP_BALLOT, "subgroupBroadcastFirst("},
    {VYRE_OP_subgroup_ballot, GLSL_SUBGROUP_BALLOT, "subgroupBallot("},
    {VYRE_OP_subgroup_inverse_ballot, GLSL_SUBGROUP_BALLOT, "subgroupInverseBallot("},
    {VYRE_OP_subgroup_ballot_bit, GLSL_SUBGROUP_BALLOT, "subgroupBallotBitExtract("},
    {VYRE_OP_subgroup_ballot_findlsb, GLSL_SUBGROUP_BALLOT, "subgroupBallotFindLSB("},
    {VYRE_OP_subgroup_ballot_findmsb, GLSL_SUBGROUP_BALLOT, "subgroupBallotFindMSB("},
    {VYRE_OP_subgroup_shuffle, GLSL_SUBGROUP_SHUFFLE, "subgroupShuffle("},
    {VYRE_OP_subgroup_shuffle_xor, GLSL_SUBGROUP_SHUFFLE, "subgroupShuffleXor("},
    {VYRE_OP_subgroup_shuffle_up, GLSL_SUBGROUP_RELATIVE, "subgroupShuffleUp("},
    {VYRE_OP_subgroup_shuffle_down, GLSL_SUBGROUP_RELATIVE, "subgroupShuffleDown("},
    {VYRE_OP_subgroup_quad_broadcast, GLSL_SUBGROUP_QUAD, "subgroupQuadBroadcast("},
};

/* Writes subgroupInclusiveAdd(v) or subgroupClusteredAdd(v, 4u). */
static void
put_combination(glsl *g, uint32_t row, uint32_t imm)
{
  static const char *const names[] = {
#define AT(op) [VYRE_OP_subgroup_##op - VYRE_OP_subgroup_add]
      AT(add) = "Add",  AT(mul) = "Mul",  AT(umin) = "Min", AT(umax) = "Max", AT(smin) = "Min", AT(smax) = "Max",
      AT(fmin) = "Min", AT(fmax) = "Max", AT(and) = "And",  AT(or) = "Or",    AT(xor) = "Xor",
#undef AT
  };
  static const char *const kinds[] = {[VYRE_GROUP_REDUCE] = "",
                                      [VYRE_GROUP_INCLUSIVE] = "Inclusive",
                                      [VYRE_GROUP_EXCLUSIVE] = "Exclusive",
                                      [VYRE_GROUP_CLUSTERED] = "Clustered"};
  const bool clustered = VYRE_GROUP_OF(imm) == VYRE_GROUP_CLUSTERED;
  glsl_need(g, clustered ? GLSL_SUBGROUP_CLUSTERED : GLSL_SUBGROUP_ARITHMETIC);
  glsl_put(g, "subgroup%s%s(", kinds[VYRE_GROUP_OF(imm)], names[glsl_opcode(g, row) - VYRE_OP_subgroup_add]);
  glsl_value(g, g->v->a[row], GLSL_COMMA);
  if (clustered)
    glsl_put(g, ", %uu", VYRE_GROUP_CLUSTER(imm));
  glsl_put(g, ")");
}

static bool
put_arithmetic(glsl *g, uint32_t row)
{
  const vyre_opcode op = glsl_opcode(g, row);
  const uint32_t imm = g->v->imm[row];
  if (op < VYRE_OP_subgroup_add || op > VYRE_OP_subgroup_xor)
    return false;
  if (g->strict && (op == VYRE_OP_subgroup_fmin || op == VYRE_OP_subgroup_fmax)) {
    glsl_fail(g, row, "GLSL leaves the result of '%s' for a NaN undefined\nFix: write SPIR-V", vyre_op_infos[op].text);
    return true;
  }
  if (g->strict && VYRE_GROUP_OF(imm) == VYRE_GROUP_CLUSTERED) {
    glsl_need(g, GLSL_SUBGROUP_BASIC);
    glsl_put(g, "gl_SubgroupSize < %uu ? ", VYRE_GROUP_CLUSTER(imm));
    put_combination(g, row, VYRE_GROUP(VYRE_GROUP_REDUCE, 0));
    glsl_put(g, " : ");
  }
  put_combination(g, row, imm);
  return true;
}

/* ---- values of other lanes, in strict programs ---- */

/* Declares vyre_lane(value, lane, there): the lane's value if it is `there` and active, otherwise 0. */
static void
need_lane_function(glsl *g, vyre_type type)
{
  vyre_bytes *out = g->out;
  const char *name = glsl_value_type(g, type);
  char word[48];
  snprintf(word, sizeof(word), "vyre_lane(%s)", name);
  glsl_need(g, GLSL_SUBGROUP_BASIC);
  glsl_need(g, GLSL_SUBGROUP_BALLOT);
  glsl_need(g, GLSL_SUBGROUP_SHUFFLE);
  if (!glsl_reserve_word(g, word))
    return;
  g->out = &g->functions;
  glsl_put(g, "%s vyre_lane(%s a, uint lane, bool there)\n{\n", name, name);
  glsl_put(g, "  there = there && lane < gl_SubgroupSize;\n");
  glsl_put(g, "  there = subgroupBallotBitExtract(subgroupBallot(true), there ? lane : 0u) && there;\n");
  glsl_put(g, "  %s other = subgroupShuffle(a, there ? lane : gl_SubgroupInvocationID);\n", name);
  glsl_put(g, "  return there ? other : %s(0);\n}\n\n", name);
  g->out = out;
}

/* Writes the source lane of a rotation within the cluster or the subgroup. */
static void
put_turned_lane(glsl *g, uint32_t row, uint32_t cluster)
{
  char mask[64] = "gl_SubgroupSize - 1u";
  if (cluster) /* in a strict program a cluster larger than the subgroup is the subgroup */
    snprintf(mask, sizeof(mask), g->strict ? "min(%uu, gl_SubgroupSize) - 1u" : "%uu", g->strict ? cluster : cluster - 1);
  glsl_need(g, GLSL_SUBGROUP_BASIC);
  glsl_put(g, "(gl_SubgroupInvocationID + ");
  glsl_value(g, g->v->b[row], GLSL_PRODUCT);
  glsl_put(g, " & %s)", mask);
  if (cluster)
    glsl_put(g, " + (gl_SubgroupInvocationID & ~(%s))", mask);
}

static void
put_guarded_move(glsl *g, uint32_t row)
{
  const uint32_t b = g->v->b[row], imm = g->v->imm[row];
  need_lane_function(g, glsl_row_type(g, row));
  glsl_put(g, "vyre_lane(");
  glsl_value(g, g->v->a[row], GLSL_COMMA);
  glsl_put(g, ", ");
  /* clang-format off */
  switch ((uint32_t)glsl_opcode(g, row)) {
  case VYRE_OP_subgroup_shuffle_xor:
    glsl_put(g, "gl_SubgroupInvocationID ^ "); glsl_value(g, b, GLSL_COMPARE); glsl_put(g, ", true)"); return;
  case VYRE_OP_subgroup_shuffle_up:
    glsl_put(g, "gl_SubgroupInvocationID - "); glsl_value(g, b, GLSL_PRODUCT);
    glsl_put(g, ", "); glsl_value(g, b, GLSL_SHIFT); glsl_put(g, " <= gl_SubgroupInvocationID)"); return;
  case VYRE_OP_subgroup_shuffle_down: /* the sum may wrap */
    glsl_put(g, "gl_SubgroupInvocationID + "); glsl_value(g, b, GLSL_PRODUCT);
    glsl_put(g, ", gl_SubgroupInvocationID + "); glsl_value(g, b, GLSL_PRODUCT);
    glsl_put(g, " >= gl_SubgroupInvocationID)"); return;
  case VYRE_OP_subgroup_quad_broadcast:
    glsl_put(g, "(gl_SubgroupInvocationID & ~3u) + "); glsl_value(g, b, GLSL_PRODUCT);
    glsl_put(g, ", "); glsl_value(g, b, GLSL_SHIFT); glsl_put(g, " < 4u)"); return;
  case VYRE_OP_subgroup_quad_swap:
    glsl_put(g, "gl_SubgroupInvocationID ^ %uu, true)", (unsigned)glsl_payload(g, b) + 1); return;
  case VYRE_OP_subgroup_rotate:
    put_turned_lane(g, row, VYRE_GROUP_CLUSTER(imm)); glsl_put(g, ", true)"); return;
  default: /* broadcast, shuffle */
    glsl_value(g, b, GLSL_COMMA); glsl_put(g, ", true)"); return;
  }
  /* clang-format on */
}

/* Writes a rotation as a shuffle, because older GLSL has no rotation. */
static void
put_rotation(glsl *g, uint32_t row)
{
  glsl_need(g, GLSL_SUBGROUP_SHUFFLE);
  glsl_put(g, "subgroupShuffle(");
  glsl_value(g, g->v->a[row], GLSL_COMMA);
  glsl_put(g, ", ");
  put_turned_lane(g, row, VYRE_GROUP_CLUSTER(g->v->imm[row]));
  glsl_put(g, ")");
}

static void
put_swap(glsl *g, uint32_t row)
{
  static const char *const directions[] = {"Horizontal", "Vertical", "Diagonal"};
  const uint64_t direction = glsl_payload(g, g->v->b[row]);
  glsl_need(g, GLSL_SUBGROUP_QUAD);
  glsl_put(g, "subgroupQuadSwap%s(", directions[direction < 3 ? direction : 0]);
  glsl_value(g, g->v->a[row], GLSL_COMMA);
  glsl_put(g, ")");
}

static void
put_count(glsl *g, uint32_t row)
{
  static const char *const kinds[] = {"", "Inclusive", "Exclusive", ""};
  glsl_need(g, GLSL_SUBGROUP_BALLOT);
  glsl_put(g, "subgroupBallot%sBitCount(", kinds[g->v->imm[row] & 3u]);
  glsl_value(g, g->v->a[row], GLSL_COMMA);
  glsl_put(g, ")");
}

/* Writes an op of a strict program with a guard for the operands that GLSL leaves undefined.  Returns false if the op needs no
 * guard. */
static bool
put_guarded(glsl *g, uint32_t row)
{
  const vyre_opcode op = glsl_opcode(g, row);
  const uint32_t a = g->v->a[row], b = g->v->b[row];
  if (!g->strict)
    return false;
  if (op == VYRE_OP_subgroup_broadcast || (op >= VYRE_OP_subgroup_shuffle && op <= VYRE_OP_subgroup_quad_swap)) {
    put_guarded_move(g, row);
    return true;
  }
  /* clang-format off */
  switch ((uint32_t)op) {
  case VYRE_OP_subgroup_alleq:
    if (!vyre_kind_is_float(VYRE_TYPE_KIND(glsl_row_type(g, a))))
      return false;
    glsl_fail(g, row, "GLSL leaves undefined which floats '%s' considers equal\nFix: write SPIR-V", vyre_op_infos[op].text);
    return true;
  case VYRE_OP_subgroup_inverse_ballot: /* the mask may differ between lanes */
    glsl_need(g, GLSL_SUBGROUP_BASIC);
    glsl_put(g, "("); glsl_value(g, a, GLSL_POSTFIX);
    glsl_put(g, "[gl_SubgroupInvocationID >> 5u] >> (gl_SubgroupInvocationID & 31u) & 1u) != 0u"); return true;
  case VYRE_OP_subgroup_ballot_bit:
    glsl_need(g, GLSL_SUBGROUP_BASIC); glsl_need(g, GLSL_SUBGROUP_BALLOT);
    glsl_put(g, "("); glsl_value(g, b, GLSL_SHIFT); glsl_put(g, " < gl_SubgroupSize && subgroupBallotBitExtract(");
    glsl_value(g, a, GLSL_COMMA); glsl_put(g, ", min("); glsl_value(g, b, GLSL_COMMA); glsl_put(g, ", gl_SubgroupSize - 1u)))");
    return true;
  case VYRE_OP_subgroup_ballot_findlsb: case VYRE_OP_subgroup_ballot_findmsb:
    glsl_need(g, GLSL_SUBGROUP_BALLOT);
    glsl_put(g, "(subgroupBallotBitCount("); glsl_value(g, a, GLSL_COMMA);
    glsl_put(g, ") != 0u ? subgroupBallotFind%s(", op == VYRE_OP_subgroup_ballot_findlsb ? "LSB" : "MSB");
    glsl_value(g, a, GLSL_COMMA); glsl_put(g, ") : 0xffffffffu)"); return true;
  default: return false;
  }
  /* clang-format on */
}

bool
glsl_subgroup(glsl *g, uint32_t row)
{
  const vyre_opcode op = glsl_opcode(g, row);
  if (!vyre_op_is_subgroup(op))
    return false;
  if (g->v->a[row])
    need_kind(g, VYRE_TYPE_KIND(glsl_row_type(g, g->v->a[row])));
  if (put_guarded(g, row))
    return true;
  if (op == VYRE_OP_subgroup_rotate)
    put_rotation(g, row);
  else if (op == VYRE_OP_subgroup_quad_swap)
    put_swap(g, row);
  else if (op == VYRE_OP_subgroup_ballot_count)
    put_count(g, row);
  else if (!put_arithmetic(g, row))
    for (uint32_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
      if (functions[i].op != op)
        continue;
      glsl_need(g, (glsl_extension)functions[i].extension);
      glsl_put(g, "%s", functions[i].text);
      if (g->v->a[row])
        glsl_arguments(g, row);
      else
        glsl_put(g, ")");
    }
  return true;
}
