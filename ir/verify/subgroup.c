/* The verifier: subgroup rows and subgroup built-ins.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include "table/subgroup.h"

#define U32   VYRE_TYPE(VYRE_U32, 1)
#define U32X4 VYRE_TYPE(VYRE_U32, 4)

/* Reports an operand that is not of the wanted kind. Returns whether it is. */
static bool
require(verifier *k, uint32_t row, char which, bool holds, const char *wanted)
{
  text_buffer text;
  const uint32_t x = which == 'a' ? k->view->a[row] : k->view->b[row];
  if (!holds)
    vyre_verify_report(k, row, "operand %c is %s, but it takes %s", which, vyre_verify_show(k, x, &text), wanted);
  return holds;
}

static bool
require_values(verifier *k, uint32_t row, vyre_opcode op)
{
  const vyre_type type = type_of(k, k->view->a[row]);
  const bool one_lane = op == VYRE_OP_subgroup_all || op == VYRE_OP_subgroup_any || op == VYRE_OP_subgroup_ballot;
  const bool ballot = op >= VYRE_OP_subgroup_inverse_ballot && op <= VYRE_OP_subgroup_ballot_findmsb;
  const vyre_class klass = (vyre_class)vyre_op_infos[op].klass;
  if (ballot)
    return require(k, row, 'a', type == U32X4, "a ballot, u32x4");
  if (one_lane)
    return require(k, row, 'a', type == VYRE_TYPE(VYRE_BOOL, 1), "a bool");
  return require(k, row, 'a', type_is_value(type) && vyre_class_has(klass, VYRE_TYPE_KIND(type)), vyre_verify_class_text(klass));
}

/* Checks imm, which selects the lanes. */
static void
check_payload(verifier *k, uint32_t row, vyre_opcode op)
{
  const uint32_t imm = k->view->imm[row], group = VYRE_GROUP_OF(imm), cluster = VYRE_GROUP_CLUSTER(imm);
  if (k->view->imm_hi[row])
    vyre_verify_report(k, row, "has imm_hi 0x%x, which must be 0", k->view->imm_hi[row]);
  if (group > VYRE_GROUP_CLUSTERED || !(subgroup_groups(op) >> group & 1u))
    vyre_verify_report(k, row, "has the payload 0x%x, which is not a way to combine lanes that a '%s' has", imm,
                       vyre_op_infos[op].text);
  else if (group == VYRE_GROUP_CLUSTERED && (cluster == 0 || (cluster & (cluster - 1)) != 0))
    vyre_verify_report(k, row, "has clusters of %u lanes, which is not a power of two", cluster);
  else if (group != VYRE_GROUP_CLUSTERED && cluster)
    vyre_verify_report(k, row, "has a cluster size of %u, but is not clustered", cluster);
}

void
vyre_verify_subgroup(verifier *k, uint32_t row)
{
  const vyre_view *v = k->view;
  const vyre_opcode op = op_of(k, row);
  text_buffer text;
  check_payload(k, row, op);
  if (vyre_op_infos[op].operands > 0 && !require_values(k, row, op))
    return;
  if (vyre_op_infos[op].operands > 1)
    require(k, row, 'b', type_of(k, v->b[row]) == U32, "a u32");
  if (op == VYRE_OP_subgroup_quad_swap && (op_of(k, v->b[row]) != VYRE_OP_const || v->imm[v->b[row]] > VYRE_QUAD_DIAGONAL))
    vyre_verify_report(k, row, "operand b is %s, but a direction is a const row of 0 (horizontal), 1 (vertical) or 2 (diagonal)",
                       vyre_verify_show(k, v->b[row], &text));
  vyre_verify_result(k, row);
}
