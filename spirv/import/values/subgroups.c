/* Subgroup instructions: OpGroupNonUniform*, and those of SPV_KHR_shader_ballot, SPV_KHR_subgroup_vote and SPV_KHR_subgroup_rotate.
 *
 * Limits: scope Subgroup, no partitions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/import/import.h"

/* Operands after the scope, and type of the result. */
typedef enum group_form {
  TAKES_NONE,    /* no operand; bool */
  TAKES_TEST,    /* a value; bool */
  TAKES_MOVE,    /* a value, and its source lane if the instruction has one; the value's type */
  TAKES_BALLOT,  /* a bool; a mask */
  TAKES_MASK,    /* a mask, and an index if the instruction has one; bool or u32 */
  TAKES_COUNT,   /* a group operation and a mask; u32 */
  TAKES_COMBINE, /* a group operation, a value, a cluster size if clustered; the value's type */
} group_form;

typedef struct group_op {
  uint16_t op, vyre;
  uint8_t form;
  bool khr; /* of a KHR extension: has no scope */
} group_op;

static const group_op group_ops[] = {
#define SPV_GROUP(op, instruction, form, capability) {SpvOp##instruction, VYRE_OP_##op, TAKES_##form, false},
#define SPV_GROUP_ALSO(op, instruction, form, kinds) SPV_GROUP(op, instruction, form, kinds)
#define SPV_GROUP_KHR(op, instruction, form)         {SpvOp##instruction, VYRE_OP_##op, TAKES_##form, true},
#include "spirv/ops.def"
};

#define MASK VYRE_TYPE(VYRE_U32, 4)
#define BOOL VYRE_TYPE(VYRE_BOOL, 1)
#define U32  VYRE_TYPE(VYRE_U32, 1)

static const group_op *
find(uint32_t op)
{
  for (size_t k = 0; k < sizeof(group_ops) / sizeof(*group_ops); k++)
    if (group_ops[k].op == op)
      return &group_ops[k];
  return NULL;
}

bool
import_is_subgroup(uint32_t op)
{
  return op >= SpvOpGroupNonUniformElect && find(op) != NULL;
}

/* Checks that the scope, the first operand, is Subgroup. */
static bool
check_scope(import *m, uint32_t id)
{
  static const char *const names[] = {"CrossDevice", "Device",      "Workgroup",    "Subgroup",
                                      "Invocation",  "QueueFamily", "ShaderCallKHR"};
  uint32_t scope;
  if (!import_literal(m, id, &scope))
    return import_uncovered(m, "its scope is not a constant");
  if (scope == SpvScopeSubgroup)
    return true;
  if (scope < sizeof(names) / sizeof(*names))
    return import_uncovered(m, "scope %s is not supported, only Subgroup is", names[scope]);
  return import_uncovered(m, "scope %u is unknown", scope);
}

static bool
has_group(const group_op *g)
{
  return g->form == TAKES_COMBINE || g->form == TAKES_COUNT;
}

/* Reads a group operation and, if it is clustered, the size after the value. */
static bool
group_of(import *m, const uint32_t *args, uint32_t count, uint32_t *out)
{
  static const char *const partitioned[] = {"PartitionedReduceNV", "PartitionedInclusiveScanNV", "PartitionedExclusiveScanNV"};
  uint32_t cluster = 0;
  switch (args[0]) {
#define SPV_GROUP_OPERATION(group, operation) \
  case SpvGroupOperation##operation:          \
    *out = VYRE_GROUP(VYRE_GROUP_##group, 0); \
    break;
#include "spirv/ops.def"
  case SpvGroupOperationPartitionedReduceNV:
  case SpvGroupOperationPartitionedInclusiveScanNV:
  case SpvGroupOperationPartitionedExclusiveScanNV:
    return import_uncovered(m, "group operation %s is not supported", partitioned[args[0] - SpvGroupOperationPartitionedReduceNV]);
  default:
    return import_uncovered(m, "group operation %u is unknown", args[0]);
  }
  if (*out != VYRE_GROUP_CLUSTERED)
    return true;
  if (count < 3 || !import_literal(m, args[2], &cluster))
    return import_uncovered(m, "its cluster size is not a constant");
  if (cluster == 0 || (cluster & (cluster - 1)) != 0 || cluster > UINT32_MAX >> 8)
    return import_uncovered(m, "a cluster size of %u, which is not a power of two", cluster);
  *out = VYRE_GROUP(VYRE_GROUP_CLUSTERED, cluster);
  return true;
}

/* Returns the operand of a move: a lane, a distance or a direction.  Sets *out_imm to a cluster size. */
static uint32_t
move_operand(import *m, const group_op *g, const uint32_t *args, uint32_t count, uint32_t *out_imm)
{
  uint32_t direction, cluster;
  if (vyre_op_infos[g->vyre].operands < 2)
    return 0;
  if (g->vyre == VYRE_OP_subgroup_quad_swap) {
    if (import_literal(m, args[1], &direction) && direction <= VYRE_QUAD_DIAGONAL)
      return vyre_build_const(&m->b, U32, direction).id;
    import_uncovered(m, "its direction is not a constant from 0 to 2");
    return 0;
  }
  if (g->vyre == VYRE_OP_subgroup_rotate && count > 2) {
    if (!import_literal(m, args[2], &cluster) || cluster == 0 || (cluster & (cluster - 1)) != 0 || cluster > UINT32_MAX >> 8) {
      import_uncovered(m, "its cluster size is not a constant power of two");
      return 0;
    }
    *out_imm = VYRE_GROUP(VYRE_GROUP_CLUSTERED, cluster);
  }
  return import_index(m, import_row(m, args[1]), true);
}

/* Appends the row, and casts it to the instruction's type. */
static uint32_t
build(import *m, const group_op *g, vyre_type result, uint32_t id, const uint32_t *args, uint32_t count)
{
  const vyre_opcode op = (vyre_opcode)g->vyre;
  const bool grouped = has_group(g);
  uint32_t imm = 0, a = 0, b = 0;
  vyre_type made = BOOL;
  if (grouped && !group_of(m, args, count, &imm))
    return 0;
  if (g->form != TAKES_NONE)
    a = import_row(m, args[grouped ? 1 : 0]);
  const vyre_type given = a ? import_row_type(m, a) : 0;
  switch ((group_form)g->form) {
  case TAKES_MOVE:
  case TAKES_COMBINE:
    made = import_work_type((vyre_class)vyre_op_infos[op].klass, given);
    a = import_cast(m, a, made);
    if (g->form == TAKES_MOVE)
      b = move_operand(m, g, args, count, &imm);
    break;
  case TAKES_MASK:
  case TAKES_COUNT:
    a = import_cast(m, a, MASK);
    if (g->form == TAKES_MASK && vyre_op_infos[op].operands > 1)
      b = import_index(m, import_row(m, args[1]), true);
    if (op != VYRE_OP_subgroup_inverse_ballot && op != VYRE_OP_subgroup_ballot_bit)
      made = U32;
    break;
  case TAKES_BALLOT:
    made = MASK;
    a = import_cast(m, a, BOOL);
    break;
  case TAKES_TEST:
    if (op != VYRE_OP_subgroup_alleq)
      a = import_cast(m, a, BOOL);
    break;
  case TAKES_NONE:
    break;
  }
  if (failed(m))
    return 0;
  if (a && !vyre_class_has(vyre_op_infos[op].klass == VYRE_CLASS_UINT ? VYRE_CLASS_INT : (vyre_class)vyre_op_infos[op].klass,
                           VYRE_TYPE_KIND(import_row_type(m, a)))) {
    import_fail(m, "the type of the operand is not valid for this instruction");
    return 0;
  }
  const uint32_t row = vyre_build(&m->b, op, made, import_row_flags(m, id), imm, 0, (vyre_row){a}, (vyre_row){b}, VYRE_NONE).id;
  return import_cast(m, row, result);
}

bool
import_subgroup(import *m, uint32_t op)
{
  const uint32_t *words = m->words + m->at;
  const group_op *g = find(op);
  const uint32_t first = g->khr ? 3 : 4;
  if (!import_needs(m, first + vyre_op_infos[g->vyre].operands + has_group(g)) || (!g->khr && !check_scope(m, words[3])))
    return false;
  const spv_type *t = import_value_type(m, words[1]);
  if (!t)
    return false;
  if (t->form != FORM_VALUE)
    return import_fail(m, "type %u is not a scalar or vector type", words[1]);
  const uint32_t row = build(m, g, t->value, words[2], words + first, (words[0] >> 16) - first);
  if (row)
    import_set(m, words[2], row);
  return !failed(m);
}
