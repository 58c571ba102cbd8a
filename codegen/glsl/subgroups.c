/* Subgroup operations: GL_KHR_shader_subgroup.
 *
 * Limit: what an inactive lane gives is the device's, in a strict program too.
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

/* subgroupInclusiveAdd(v), subgroupClusteredAdd(v, 4u). */
static bool
put_arithmetic(glsl *g, uint32_t row)
{
  static const char *const names[] = {"Add", "Mul", "Min", "Max", "Min", "Max", "Min", "Max", "And", "Or", "Xor"};
  static const char *const kinds[] = {"", "Inclusive", "Exclusive", "Clustered"};
  const vyre_opcode op = glsl_opcode(g, row);
  const uint32_t imm = g->v->imm[row], kind = imm & 3u;
  if (op < VYRE_OP_subgroup_add || op > VYRE_OP_subgroup_xor)
    return false;
  glsl_need(g, kind == VYRE_GROUP_CLUSTERED ? GLSL_SUBGROUP_CLUSTERED : GLSL_SUBGROUP_ARITHMETIC);
  glsl_put(g, "subgroup%s%s(", kinds[kind], names[op - VYRE_OP_subgroup_add]);
  glsl_value(g, g->v->a[row], GLSL_COMMA);
  if (kind == VYRE_GROUP_CLUSTERED)
    glsl_put(g, ", %uu", VYRE_GROUP_CLUSTER(imm));
  glsl_put(g, ")");
  return true;
}

/* GLSL had no rotation for long: a shuffle, within the cluster or the subgroup. */
static void
put_rotation(glsl *g, uint32_t row)
{
  const uint32_t cluster = VYRE_GROUP_CLUSTER(g->v->imm[row]);
  glsl_need(g, GLSL_SUBGROUP_BASIC);
  glsl_need(g, GLSL_SUBGROUP_SHUFFLE);
  glsl_put(g, "subgroupShuffle(");
  glsl_value(g, g->v->a[row], GLSL_COMMA);
  glsl_put(g, ", (gl_SubgroupInvocationID + ");
  glsl_value(g, g->v->b[row], GLSL_PRODUCT);
  if (!cluster) {
    glsl_put(g, " & gl_SubgroupSize - 1u))");
    return;
  }
  char mask[64]; /* in a strict program a cluster larger than the subgroup is the subgroup */
  snprintf(mask, sizeof(mask), g->strict ? "min(%uu, gl_SubgroupSize) - 1u" : "%uu", g->strict ? cluster : cluster - 1);
  glsl_put(g, " & %s) + (gl_SubgroupInvocationID & ~(%s)))", mask, mask);
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

bool
glsl_subgroup(glsl *g, uint32_t row)
{
  const vyre_opcode op = glsl_opcode(g, row);
  if (op < VYRE_OP_subgroup_elect || op > VYRE_OP_subgroup_xor)
    return false;
  if (g->v->a[row])
    need_kind(g, VYRE_TYPE_KIND(glsl_row_type(g, g->v->a[row])));
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
