/* Subgroup rows.
 *
 * The lanes of a subgroup are consecutive in the workgroup.  A row of the table reads registers of other lanes after SYNC, which
 * orders their writes, and another SYNC follows before these registers change.  Reductions visit the lanes of a cluster in a loop,
 * from the lowest active one, and combine them by the op that ops.def names.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "lower.h"

typedef struct group {
  uint32_t row;
  vyre_opcode op;
  vyre_kind kind;     /* of operand a */
  uint32_t lanes;     /* of operand a's vector */
  operand lane, base; /* the lane in the workgroup, and the first one of its subgroup */
} group;

static void
sync(lowerer *l)
{
  lower_append(l, (instruction){.op = PROGRAM_SYNC});
}

static operand
add(lowerer *l, operand x, operand y)
{
  return lower_u32(l, VYRE_OP_add, x, y);
}

static operand
is_active(lowerer *l, operand lane)
{
  return lower_emit(l, PROGRAM_IS_ACTIVE, false, (instruction){.x = lane, .y = lower_word(l, 0), .z = lower_word(l, 0)});
}

/* Returns the operand in a register that other lanes may read. */
static operand
shared_register(lowerer *l, operand value, bool is_wide)
{
  operand r = value;
  if ((value & OPERAND_POOL) != 0) {
    r = lower_register(l, is_wide);
    lower_move(l, r, value, is_wide);
  }
  return r;
}

static operand
read_lane(lowerer *l, operand value, operand lane, bool is_wide)
{
  instruction how = {
      .op = PROGRAM_READ_LANE | PROGRAM_HAS_RESULT, .to = lower_register(l, is_wide), .x = value, .y = lane, .z = lower_word(l, 0)};
  lower_append(l, how);
  if (is_wide) {
    how.x = lower_high(value);
    lower_append(l, (instruction){how.op, lower_high(how.to), how.x, how.y, how.z, 0, 0, 0});
  }
  return how.to;
}

/* ---- loops over lanes ----------------------------------------------------------------------------------------------------- */

/* A register that a loop changes. */
static operand
variable(lowerer *l, operand start, bool is_wide)
{
  const operand r = lower_register(l, is_wide);
  lower_move(l, r, start, is_wide);
  return r;
}

/* Returns the first lane of the cluster. */
static operand
cluster_base(lowerer *l, const group *g, uint32_t cluster)
{
  return lower_u32(l, VYRE_OP_and, g->lane, lower_word(l, ~(cluster - 1)));
}

/* Combines one component of the lanes of a cluster. */
static operand
combine(lowerer *l, const group *g, operand value, uint32_t how, uint32_t cluster, uint32_t step, uint64_t identity)
{
  const bool is_wide = lower_is_wide(g->kind);
  const operand shared = shared_register(l, value, is_wide), base = cluster_base(l, g, cluster);
  const operand sum = variable(l, lower_constant(l, identity, is_wide), is_wide);
  const operand any = variable(l, lower_word(l, how == VYRE_GROUP_EXCLUSIVE), false);
  const operand result = variable(l, sum, is_wide);
  counted loop;
  sync(l);
  lower_begin_loop(l, lower_word(l, cluster), &loop);
  const operand lane = add(l, base, loop.index), counts = is_active(l, lane);
  const operand is_own = lower_u32(l, VYRE_OP_eq, lane, g->lane), other = read_lane(l, shared, lane, is_wide);
  if (how == VYRE_GROUP_EXCLUSIVE)
    lower_move(l, result, lower_select(l, is_own, sum, result, is_wide), is_wide);
  const operand both = lower_op(l, g->row, step, g->kind, g->kind, sum, other, sum);
  const operand next = lower_select(l, any, both, other, is_wide);
  lower_move(l, sum, lower_select(l, counts, next, sum, is_wide), is_wide);
  lower_move(l, any, lower_op(l, g->row, VYRE_OP_or, VYRE_BOOL, VYRE_BOOL, any, counts, any), false);
  if (how == VYRE_GROUP_INCLUSIVE)
    lower_move(l, result, lower_select(l, is_own, sum, result, is_wide), is_wide);
  lower_end_loop(l, &loop);
  sync(l);
  return how == VYRE_GROUP_INCLUSIVE || how == VYRE_GROUP_EXCLUSIVE ? result : sum;
}

/* Returns the lowest active lane of the subgroup. */
static operand
find_leader(lowerer *l, const group *g)
{
  const operand leader = variable(l, lower_word(l, UINT32_MAX), false);
  counted loop;
  sync(l);
  lower_begin_loop(l, lower_word(l, l->subgroup), &loop);
  const operand lane = add(l, g->base, loop.index);
  const operand found = lower_select(l, is_active(l, lane), lane, lower_word(l, UINT32_MAX), false);
  lower_move(l, leader, lower_u32(l, VYRE_OP_umin, leader, found), false);
  lower_end_loop(l, &loop);
  return leader;
}

/* ---- votes and ballots ---------------------------------------------------------------------------------------------------- */

static void
lower_ballot(lowerer *l, const group *g, operand vote)
{
  const operand shared = shared_register(l, vote, false);
  operand r[4];
  for (uint32_t k = 0; k < 4; k++)
    r[k] = lower_word(l, 0);
  sync(l);
  for (uint32_t k = 0; k * 32 < l->subgroup; k++) {
    counted loop;
    r[k] = variable(l, lower_word(l, 0), false);
    lower_begin_loop(l, lower_word(l, l->subgroup < 32 ? l->subgroup : 32), &loop);
    const operand lane = add(l, add(l, g->base, lower_word(l, 32 * k)), loop.index);
    const operand yes = lower_select(l, is_active(l, lane), read_lane(l, shared, lane, false), lower_word(l, 0), false);
    lower_move(l, r[k], lower_u32(l, VYRE_OP_or, r[k], lower_u32(l, VYRE_OP_shl, yes, loop.index)), false);
    lower_end_loop(l, &loop);
  }
  sync(l);
  lower_define(l, g->row, r, 4);
}

/* Returns whether all active lanes equal the lowest one.  Floats compare as feq does. */
static operand
lower_equal(lowerer *l, const group *g)
{
  const uint32_t a = l->v->a[g->row];
  const bool is_wide = lower_is_wide(g->kind);
  const operand leader = find_leader(l, g);
  operand equal = lower_word(l, 1);
  for (uint32_t k = 0; k < g->lanes; k++) {
    const operand own = shared_register(l, lower_lane(l, a, k), is_wide);
    sync(l);
    const operand first = read_lane(l, own, leader, is_wide);
    sync(l);
    const operand same =
        lower_op(l, g->row, vyre_kind_is_float(g->kind) ? VYRE_OP_feq : VYRE_OP_eq, g->kind, VYRE_BOOL, own, first, own);
    equal = lower_op(l, g->row, VYRE_OP_and, VYRE_BOOL, VYRE_BOOL, equal, same, equal);
  }
  return equal;
}

static void
lower_vote_of_group(lowerer *l, const group *g)
{
  const uint32_t a = l->v->a[g->row];
  group votes = *g;
  votes.kind = VYRE_BOOL;
  operand r = 0;
  switch ((uint32_t)g->op) {
  case VYRE_OP_subgroup_elect:
    r = lower_u32(l, VYRE_OP_eq, find_leader(l, g), g->lane);
    break;
  case VYRE_OP_subgroup_alleq:
    r = combine(l, &votes, lower_equal(l, g), VYRE_GROUP_REDUCE, l->subgroup, VYRE_OP_and, 1);
    break;
  default:
    r = combine(l, &votes, lower_lane(l, a, 0), VYRE_GROUP_REDUCE, l->subgroup,
                g->op == VYRE_OP_subgroup_all ? VYRE_OP_and : VYRE_OP_or, 0);
  }
  lower_define(l, g->row, &r, 1);
}

/* Returns the word of a mask with these lanes; bits from the subgroup's size on do not count. */
static operand
masked_word(lowerer *l, const group *g, uint32_t k, operand lanes)
{
  const operand first = lower_word(l, 32 * k), past = lower_u32(l, VYRE_OP_usubsat, lanes, first);
  const operand some = lower_u32(l, VYRE_OP_sub, lower_u32(l, VYRE_OP_shl, lower_word(l, 1), past), lower_word(l, 1));
  const operand mask = lower_select(l, lower_u32(l, VYRE_OP_uge, past, lower_word(l, 32)), lower_word(l, UINT32_MAX), some, false);
  return lower_u32(l, VYRE_OP_and, lower_lane(l, l->v->a[g->row], k), mask);
}

/* Emits a row that reads a mask of lanes. */
static void
lower_mask_row(lowerer *l, const group *g)
{
  const uint32_t how = VYRE_GROUP_OF(l->v->imm[g->row]);
  const operand own = lower_u32(l, VYRE_OP_sub, g->lane, g->base);
  operand counted_lanes = lower_word(l, l->subgroup), at = own, r = lower_word(l, 0);
  if (g->op == VYRE_OP_subgroup_ballot_count && how != VYRE_GROUP_REDUCE)
    counted_lanes = how == VYRE_GROUP_INCLUSIVE ? add(l, own, lower_word(l, 1)) : own;
  if (g->op == VYRE_OP_subgroup_ballot_bit)
    at = lower_lane(l, l->v->b[g->row], 0);
  if (g->op == VYRE_OP_subgroup_ballot_findlsb || g->op == VYRE_OP_subgroup_ballot_findmsb)
    r = lower_word(l, UINT32_MAX);
  for (uint32_t n = 0; n < 4; n++) {
    const uint32_t k = g->op == VYRE_OP_subgroup_ballot_findlsb ? 3 - n : n; /* the last word with a bit decides */
    const operand word = masked_word(l, g, k, counted_lanes);
    if (g->op == VYRE_OP_subgroup_ballot_count) {
      r = add(l, r, lower_u32(l, VYRE_OP_bitcount, word, word));
    } else if (g->op == VYRE_OP_subgroup_ballot_findlsb || g->op == VYRE_OP_subgroup_ballot_findmsb) {
      const uint32_t find = g->op == VYRE_OP_subgroup_ballot_findlsb ? VYRE_OP_findlsb : VYRE_OP_findumsb;
      const operand found = add(l, lower_u32(l, find, word, word), lower_word(l, 32 * k));
      r = lower_select(l, lower_u32(l, VYRE_OP_ne, word, lower_word(l, 0)), found, r, false);
    } else {
      const operand here = lower_u32(l, VYRE_OP_eq, lower_u32(l, VYRE_OP_ushr, at, lower_word(l, 5)), lower_word(l, k));
      const operand bit = lower_u32(l, VYRE_OP_and, lower_u32(l, VYRE_OP_ushr, word, at), lower_word(l, 1));
      r = lower_select(l, here, bit, r, false);
    }
  }
  lower_define(l, g->row, &r, 1);
}

/* ---- values of other lanes ------------------------------------------------------------------------------------------------ */

/* Returns the lane in the subgroup that a lane reads.  A number from the subgroup's size on means that the lane does not exist. */
static operand
find_source(lowerer *l, const group *g)
{
  const uint32_t b = l->v->b[g->row];
  const uint32_t cluster = code_cluster(l->v, g->row, l->subgroup);
  const operand own = lower_u32(l, VYRE_OP_sub, g->lane, g->base);
  const operand by = b ? lower_lane(l, b, 0) : own;
  switch ((uint32_t)g->op) {
  case VYRE_OP_subgroup_first:
    return lower_u32(l, VYRE_OP_sub, find_leader(l, g), g->base);
  case VYRE_OP_subgroup_shuffle_xor:
    return lower_u32(l, VYRE_OP_xor, own, by);
  case VYRE_OP_subgroup_shuffle_up:
    return lower_select(l, lower_u32(l, VYRE_OP_ult, own, by), lower_word(l, UINT32_MAX), lower_u32(l, VYRE_OP_sub, own, by),
                        false);
  case VYRE_OP_subgroup_shuffle_down: {
    const operand sum = add(l, own, by); /* no lane has a number that wraps */
    return lower_select(l, lower_u32(l, VYRE_OP_ult, sum, own), lower_word(l, UINT32_MAX), sum, false);
  }
  case VYRE_OP_subgroup_rotate: {
    const operand inside = lower_u32(l, VYRE_OP_and, add(l, own, by), lower_word(l, cluster - 1));
    return lower_u32(l, VYRE_OP_or, lower_u32(l, VYRE_OP_and, own, lower_word(l, ~(cluster - 1))), inside);
  }
  case VYRE_OP_subgroup_quad_broadcast: {
    const operand quad = lower_u32(l, VYRE_OP_and, own, lower_word(l, ~3u));
    return lower_select(l, lower_u32(l, VYRE_OP_ult, by, lower_word(l, 4)), add(l, quad, by), lower_word(l, UINT32_MAX), false);
  }
  case VYRE_OP_subgroup_quad_swap: /* 0 sideways, 1 up or down, 2 across */
    return lower_u32(l, VYRE_OP_xor, own, add(l, by, lower_word(l, 1)));
  default:
    return by;
  }
}

static void
lower_move_of_group(lowerer *l, const group *g)
{
  const bool is_wide = lower_is_wide(g->kind);
  const operand from = find_source(l, g), zero = lower_constant(l, 0, is_wide);
  const operand lane = add(l, g->base, from);
  operand values[4], r[4];
  for (uint32_t k = 0; k < g->lanes; k++)
    values[k] = shared_register(l, lower_lane(l, l->v->a[g->row], k), is_wide);
  sync(l);
  const operand exists = lower_op(l, g->row, VYRE_OP_and, VYRE_BOOL, VYRE_BOOL,
                                  lower_u32(l, VYRE_OP_ult, from, lower_word(l, l->subgroup)), is_active(l, lane), from);
  for (uint32_t k = 0; k < g->lanes; k++)
    r[k] = lower_select(l, exists, read_lane(l, values[k], lane, is_wide), zero, is_wide);
  sync(l);
  lower_define(l, g->row, r, g->lanes);
}

static void
lower_combination(lowerer *l, const group *g)
{
  const uint32_t imm = l->v->imm[g->row], cluster = code_cluster(l->v, g->row, l->subgroup);
  const uint32_t step = vyre_op_infos[g->op].combines;
  const uint64_t identity = g->kind == VYRE_BOOL ? g->op == VYRE_OP_subgroup_and : code_identity(g->op, g->kind);
  operand r[4];
  for (uint32_t k = 0; k < g->lanes; k++)
    r[k] = combine(l, g, lower_lane(l, l->v->a[g->row], k), VYRE_GROUP_OF(imm), cluster, step, identity);
  lower_define(l, g->row, r, g->lanes);
}

void
lower_group(lowerer *l, uint32_t row)
{
  const uint32_t a = l->v->a[row];
  const vyre_type type = a ? code_row_type(l->v, a) : VYRE_TYPE(VYRE_BOOL, 1);
  group g = {.row = row, .op = code_op(l->v, row), .kind = VYRE_TYPE_KIND(type), .lanes = VYRE_TYPE_LANES(type)};
  g.lane = lower_lane_index(l);
  g.base = cluster_base(l, &g, l->subgroup);
  switch ((uint32_t)g.op) {
  case VYRE_OP_subgroup_elect:
  case VYRE_OP_subgroup_all:
  case VYRE_OP_subgroup_any:
  case VYRE_OP_subgroup_alleq:
    lower_vote_of_group(l, &g);
    return;
  case VYRE_OP_subgroup_ballot:
    lower_ballot(l, &g, lower_lane(l, a, 0));
    return;
  case VYRE_OP_subgroup_inverse_ballot:
  case VYRE_OP_subgroup_ballot_bit:
  case VYRE_OP_subgroup_ballot_count:
  case VYRE_OP_subgroup_ballot_findlsb:
  case VYRE_OP_subgroup_ballot_findmsb:
    lower_mask_row(l, &g);
    return;
  default:
    if (g.op >= VYRE_OP_subgroup_add)
      lower_combination(l, &g);
    else
      lower_move_of_group(l, &g);
  }
}
