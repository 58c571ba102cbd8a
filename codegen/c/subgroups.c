/* Operations of a subgroup, which is consecutive invocations.  Its active lanes are the invocations in state HERE.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include <inttypes.h>

/* ---- of one lane ---------------------------------------------------------------------------------------------------------- */

bool
cgen_subgroup_value(cgen *g, uint32_t row, uint32_t lane)
{
  const vyre_opcode op = cgen_op(g, row);
  const uint32_t a = g->v->a[row], group = VYRE_GROUP_OF(g->v->imm[row]);
  (void)lane;
  if (op < VYRE_OP_subgroup_inverse_ballot || op > VYRE_OP_subgroup_ballot_findmsb)
    return false;
  cgen_call(g, op == VYRE_OP_subgroup_inverse_ballot ? "ballot_bit" : vyre_op_infos[op].text + strlen("subgroup_"), VYRE_U32);
  for (uint32_t k = 0; k < 4; k++) {
    cgen_value(g, a, k, false);
    cgen_put(g, ", ");
  }
  const bool own = op == VYRE_OP_subgroup_inverse_ballot || (op == VYRE_OP_subgroup_ballot_count && group != VYRE_GROUP_REDUCE);
  if (own) {
    cgen_put(g, "(");
    cgen_put_lindex(g);
    cgen_put(g, ") %% %uu", g->subgroup);
  }
  if (op == VYRE_OP_subgroup_ballot_bit)
    cgen_value(g, g->v->b[row], 0, false);
  if (op == VYRE_OP_subgroup_ballot_count && own)
    cgen_put(g, group == VYRE_GROUP_INCLUSIVE ? " + 1u" : "");
  else
    cgen_put(g, own || op == VYRE_OP_subgroup_ballot_bit ? ", %uu" : "%uu", g->subgroup);
  cgen_put(g, ")");
  return true;
}

/* ---- loops ---------------------------------------------------------------------------------------------------------------- */

static void
begin_groups(cgen *g, uint32_t size)
{
  cgen_line(g, "for (uint32_t first = 0; first < %uu; first += %uu) {", g->count, size);
  g->indent++;
  if (g->count % size)
    cgen_line(g, "const uint32_t last = first + %uu < %uu ? first + %uu : %uu;", size, g->count, size, g->count);
  else
    cgen_line(g, "const uint32_t last = first + %uu;", size);
}

/* Begins a loop over the active lanes. */
static void
begin_lanes(cgen *g)
{
  cgen_line(g, "for (uint32_t li = first; li < last; li++) {");
  g->indent++;
  if (g->parks)
    cgen_line(g, "if (g.where[li] != HERE)\n%*scontinue;", (int)g->indent * 2 + 2, "");
}

static void
end_loop(cgen *g)
{
  g->indent--;
  cgen_line(g, "}");
}

static void
put_result(cgen *g, uint32_t row, uint32_t lane)
{
  cgen_begin_line(g);
  cgen_put_name(g, row, UINT32_MAX, cgen_lanes(g, row) > 1 ? lane : UINT32_MAX);
  cgen_put(g, " = ");
}

/* ---- votes ---------------------------------------------------------------------------------------------------------------- */

static void
put_elect(cgen *g, uint32_t row)
{
  cgen_line(g, "uint32_t leader = UINT32_MAX;");
  begin_lanes(g);
  cgen_line(g, "leader = leader == UINT32_MAX ? li : leader;");
  put_result(g, row, 0);
  cgen_put(g, "li == leader;\n");
  end_loop(g);
}

static void
put_vote(cgen *g, uint32_t row)
{
  const bool all = cgen_is(g, row, VYRE_OP_subgroup_all);
  cgen_line(g, "bool vote = %s;", all ? "true" : "false");
  begin_lanes(g);
  cgen_begin_line(g);
  cgen_put(g, "vote = vote %s ", all ? "&&" : "||");
  cgen_value(g, g->v->a[row], 0, true);
  cgen_put(g, ";\n");
  end_loop(g);
  begin_lanes(g);
  put_result(g, row, 0);
  cgen_put(g, "vote;\n");
  end_loop(g);
}

/* Writes a comparison of all lanes with the first active one.  Floats compare as numbers, so a NaN does not equal itself. */
static void
put_agreement(cgen *g, uint32_t row)
{
  const uint32_t a = g->v->a[row], lanes = cgen_lanes(g, a);
  const vyre_kind kind = cgen_kind(g, a);
  const char *type = kind == VYRE_F16 ? "double" : cgen_type_name(kind);
  cgen_line(g, "bool same = true, any = false;");
  for (uint32_t k = 0; k < lanes; k++)
    cgen_line(g, "%s of_%u = 0;", type, k);
  begin_lanes(g);
  for (uint32_t k = 0; k < lanes; k++) {
    cgen_begin_line(g);
    cgen_put(g, "const %s own_%u = ", type, k);
    (vyre_kind_is_float(kind) ? cgen_float_operand : cgen_value)(g, a, k, false);
    cgen_put(g, ";\n");
    cgen_line(g, "of_%u = any ? of_%u : own_%u;", k, k, k);
    cgen_line(g, "same = same && own_%u == of_%u;", k, k);
  }
  cgen_line(g, "any = true;");
  end_loop(g);
  begin_lanes(g);
  put_result(g, row, 0);
  cgen_put(g, "same;\n");
  end_loop(g);
}

static void
put_ballot(cgen *g, uint32_t row)
{
  cgen_line(g, "uint32_t mask[4] = {0};");
  begin_lanes(g);
  cgen_value_line(g, "mask[(li - first) / 32u] |= (uint32_t)", g->v->a[row], 0, true, " << ((li - first) & 31u);");
  end_loop(g);
  begin_lanes(g);
  for (uint32_t k = 0; k < 4; k++) {
    put_result(g, row, k);
    cgen_put(g, "mask[%u];\n", k);
  }
  end_loop(g);
}

/* ---- values of other lanes ------------------------------------------------------------------------------------------------ */

/* Writes the number of the source lane as a uint64_t.  An invalid number is larger than all lanes. */
static void
put_source(cgen *g, uint32_t row)
{
  const uint32_t b = g->v->b[row], inside = code_cluster(g->v, row, g->subgroup) - 1;
  const vyre_opcode op = cgen_op(g, row);
  const char *own = "(uint64_t)(li - first)";
  switch ((uint32_t)op) {
  case VYRE_OP_subgroup_shuffle_xor:
    cgen_put(g, "%s ^ ", own);
    cgen_value(g, b, 0, true);
    return;
  case VYRE_OP_subgroup_shuffle_up:
    cgen_put(g, "%s - ", own);
    cgen_value(g, b, 0, true);
    return;
  case VYRE_OP_subgroup_shuffle_down:
    cgen_put(g, "%s + ", own);
    cgen_value(g, b, 0, true);
    return;
  case VYRE_OP_subgroup_rotate:
    cgen_put(g, "(%s & ~UINT64_C(%u)) | ((%s + ", own, inside, own);
    cgen_value(g, b, 0, true);
    cgen_put(g, ") & %uu)", inside);
    return;
  case VYRE_OP_subgroup_quad_broadcast:
    cgen_value(g, b, 0, true);
    cgen_put(g, " < 4u ? (%s & ~UINT64_C(3)) + ", own);
    cgen_value(g, b, 0, true);
    cgen_put(g, " : UINT64_MAX");
    return;
  case VYRE_OP_subgroup_quad_swap:
    cgen_put(g, "%s ^ (", own);
    cgen_value(g, b, 0, true);
    cgen_put(g, " + 1u)");
    return;
  default: /* broadcast, shuffle */
    cgen_value(g, b, 0, false);
    return;
  }
}

/* Writes a move between lanes.  The source's values are read with `li` set to the source. */
static void
put_move(cgen *g, uint32_t row)
{
  const uint32_t a = g->v->a[row], lanes = cgen_lanes(g, row);
  const vyre_kind kind = cgen_kind(g, row);
  const bool leads = cgen_is(g, row, VYRE_OP_subgroup_first);
  if (leads) {
    cgen_line(g, "uint32_t from = first;\n%*sbool there = false;", (int)g->indent * 2, "");
    begin_lanes(g);
    cgen_line(g, "from = there ? from : li;");
    cgen_line(g, "there = true;");
    end_loop(g);
  }
  begin_lanes(g);
  if (!leads) {
    cgen_begin_line(g);
    cgen_put(g, "const uint64_t lane = ");
    put_source(g, row);
    cgen_put(g, ";\n");
    cgen_line(g, "const bool there = lane < last - first%s;", g->parks ? " && g.where[first + lane] == HERE" : "");
  }
  cgen_mark(g, &g->marks, CGEN_MARK_SCOPE); /* `li` and `from`, which a constant does not use */
  if (!leads) {
    cgen_begin_line(g);
    cgen_mark(g, &g->marks, CGEN_MARK_LINE);
    cgen_put(g, "const uint32_t from = there ? first + (uint32_t)lane : li;\n");
  }
  for (uint32_t k = 0; k < lanes; k++)
    cgen_line(g, "%s of_%u = 0;", cgen_type_name(kind), k);
  cgen_line(g, "if (there) {");
  g->indent++;
  cgen_begin_line(g);
  cgen_mark(g, &g->marks, CGEN_MARK_LINE);
  cgen_put(g, "const uint32_t li = from;\n");
  for (uint32_t k = 0; k < lanes; k++) {
    cgen_begin_line(g);
    cgen_put(g, "of_%u = ", k);
    cgen_value(g, a, k, false);
    cgen_put(g, ";\n");
  }
  end_loop(g);
  cgen_mark(g, &g->marks, CGEN_MARK_SCOPE);
  for (uint32_t k = 0; k < lanes; k++) {
    put_result(g, row, k);
    cgen_put(g, "of_%u;\n", k);
  }
  end_loop(g);
}

/* ---- sums and the like ---------------------------------------------------------------------------------------------------- */

/* Writes "sum + own", rounded or truncated. */
static void
put_step(cgen *g, vyre_opcode step, vyre_kind kind)
{
  const bool is_float = vyre_kind_is_float(kind), half = kind == VYRE_F16, narrow = vyre_kind_bits(kind) < 32;
  const char *sign = step == VYRE_OP_add   ? "+"
                     : step == VYRE_OP_mul ? "*"
                     : step == VYRE_OP_and ? kind == VYRE_BOOL ? "&&" : "&"
                     : step == VYRE_OP_or  ? kind == VYRE_BOOL ? "||" : "|"
                     : step == VYRE_OP_xor ? kind == VYRE_BOOL ? "!=" : "^"
                                           : NULL;
  if (half)
    cgen_need(g, "value", kind);
  if (is_float)
    cgen_open_result(g, kind, false);
  else
    cgen_put(g, narrow && kind != VYRE_BOOL ? "(%s)(%s" : "(", cgen_type_name(kind), step == VYRE_OP_mul ? "(uint32_t)" : "");
  if (!sign)
    cgen_call(g, step == VYRE_OP_nmin ? "fmin" : step == VYRE_OP_nmax ? "fmax" : vyre_op_infos[step].text, kind);
  cgen_put(g, half ? "vyre_value_f16(sum)" : "sum");
  cgen_put(g, sign ? " %s " : ", ", sign);
  cgen_put(g, half ? "vyre_value_f16(own)" : "own");
  cgen_put(g, sign ? ")" : "))");
}

/* Combines one component of the vector in the order of lanes. */
static void
combine(cgen *g, uint32_t row, uint32_t k)
{
  const vyre_opcode op = cgen_op(g, row);
  const vyre_kind kind = cgen_kind(g, row);
  const uint32_t group = VYRE_GROUP_OF(g->v->imm[row]);
  const bool exclusive = group == VYRE_GROUP_EXCLUSIVE, inclusive = group == VYRE_GROUP_INCLUSIVE;
  const bool is_float = vyre_kind_is_float(kind);
  cgen_begin_line(g);
  cgen_put(g, "%s sum = ", cgen_type_name(kind));
  cgen_literal(g, kind, code_identity(op, kind));
  cgen_put(g, ";\n");
  cgen_line(g, "bool any = %s;", exclusive ? "true" : "false");
  begin_lanes(g);
  cgen_begin_line(g);
  cgen_put(g, "const %s own = ", cgen_type_name(kind));
  if (is_float)
    cgen_open_result(g, kind, false);
  (is_float ? cgen_float_operand : cgen_value)(g, g->v->a[row], k, false);
  cgen_put(g, is_float ? ");\n" : ";\n");
  if (exclusive) {
    put_result(g, row, k);
    cgen_put(g, "sum;\n");
  }
  cgen_begin_line(g);
  cgen_put(g, "sum = any ? ");
  put_step(g, (vyre_opcode)vyre_op_infos[op].combines, kind);
  cgen_put(g, " : own;\n");
  cgen_line(g, "any = true;");
  if (inclusive) {
    put_result(g, row, k);
    cgen_put(g, "sum;\n");
  }
  end_loop(g);
  if (exclusive || inclusive)
    return;
  begin_lanes(g);
  put_result(g, row, k);
  cgen_put(g, "sum;\n");
  end_loop(g);
}

/* ---- entry ---------------------------------------------------------------------------------------------------------------- */

void
cgen_subgroup(cgen *g, uint32_t row)
{
  const vyre_opcode op = cgen_op(g, row);
  const bool combines = op >= VYRE_OP_subgroup_add;
  cgen_line(g, "/* %s */", vyre_op_infos[op].text);
  for (uint32_t k = 0; k < (combines ? cgen_lanes(g, row) : 1); k++) {
    begin_groups(g, combines ? code_cluster(g->v, row, g->subgroup) : g->subgroup);
    if (combines)
      combine(g, row, k);
    else if (op == VYRE_OP_subgroup_elect)
      put_elect(g, row);
    else if (op == VYRE_OP_subgroup_all || op == VYRE_OP_subgroup_any)
      put_vote(g, row);
    else if (op == VYRE_OP_subgroup_alleq)
      put_agreement(g, row);
    else if (op == VYRE_OP_subgroup_ballot)
      put_ballot(g, row);
    else
      put_move(g, row);
    end_loop(g);
  }
}
