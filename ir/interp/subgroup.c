/* Subgroup rows, which combine the active invocations of a subgroup.
 *
 * A subgroup is `subgroup` consecutive invocations of a workgroup; the last one may have fewer lanes. In lockstep its active lanes
 * are those of the mask. A row gives a value only to these. A lane that is inactive or out of range contributes zero. With
 * report_undefined, each lane also records whether its value is undefined, because of other lanes' operands or by the row's own
 * rules.
 *
 * O(lanes) for each subgroup and row.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include "eval/lanes.h"
#include "eval/row.h"
#include "eval/scalar.h"
#include "table/subgroup.h"

#define NO_LANE UINT32_MAX

/* A bit for each lane; lane 0 is the lowest bit of word 0. */
typedef struct lane_mask {
  uint64_t word[2];
} lane_mask;

/* One row in one subgroup. */
typedef struct task {
  interp *ip;
  uint32_t row;
  vyre_opcode op;
  uint32_t imm;
  uint32_t first, count; /* its invocations */
  uint32_t size;         /* lanes, even if the workgroup has fewer */
  lane_mask active;
  uint32_t leader; /* the lowest active lane */
  vyre_kind kind;  /* of operand a */
  uint32_t lanes;  /* of operand a's vector */
  const uint64_t *a, *b;
  uint64_t *out;
} task;

/* ---- lanes ---------------------------------------------------------------------------------------------------------- */

static bool
has_lane(const lane_mask *mask, uint32_t lane)
{
  return lane < 128 && (mask->word[lane / 64] >> (lane % 64) & 1u) != 0;
}

static void
add_lane(lane_mask *mask, uint32_t lane)
{
  mask->word[lane / 64] |= UINT64_C(1) << (lane % 64);
}

/* Returns the mask of the lanes from `from` to before `to`. */
static lane_mask
lanes_between(uint32_t from, uint32_t to)
{
  lane_mask mask = {{0, 0}};
  for (uint32_t lane = from; lane < to; lane++)
    add_lane(&mask, lane);
  return mask;
}

#define for_each_lane(t, lane)                       \
  for (uint32_t lane = 0; lane < (t)->count; lane++) \
    if (has_lane(&(t)->active, lane))

/* Writes a mask as four 32-bit words, the form in which rows compute with it. */
static void
put_mask(const interp *ip, uint64_t *planes, uint32_t invocation, const lane_mask *mask)
{
  for (uint32_t k = 0; k < 4; k++)
    planes[(size_t)k * ip->count + invocation] = mask->word[k / 2] >> (32 * (k % 2)) & UINT32_MAX;
}

static lane_mask
get_mask(const task *t, uint32_t lane)
{
  lane_mask mask = {{0, 0}};
  for (uint32_t k = 0; k < 4; k++)
    mask.word[k / 2] |= t->a[(size_t)k * t->ip->count + t->first + lane] << (32 * (k % 2));
  return mask;
}

static uint64_t
value_of(const task *t, uint32_t k, uint32_t lane)
{
  return t->a[(size_t)k * t->ip->count + t->first + lane];
}

static void
put_all(const task *t, uint64_t value)
{
  for_each_lane(t, lane) t->out[t->first + lane] = value;
}

/* ---- undefined values ---------------------------------------------------------------------------------------------- */

/* Returns the undefined row that a lane's operand comes from, or 0. */
static uint32_t
origin_at(const task *t, uint32_t operand, uint32_t lane)
{
  return operand ? origin_of(t->ip, operand)[t->first + lane] : 0;
}

static void
put_origin(const task *t, uint32_t lane, uint32_t origin)
{
  origin_of(t->ip, t->row)[t->first + lane] = origin;
}

/* Traces a row whose value in every lane depends on all active lanes' operands. */
static void
trace_all(const task *t)
{
  uint32_t origin = 0;
  for_each_lane(t, lane) origin = origin ? origin : origin_at(t, t->ip->view->a[t->row], lane);
  for_each_lane(t, lane) put_origin(t, lane, origin);
}

/* Returns whether active lanes differ in the first `count` planes of an operand. */
static bool
lanes_differ(const task *t, const uint64_t *planes, uint32_t count)
{
  for (uint32_t k = 0; k < count; k++) {
    const uint64_t *own = planes + (size_t)k * t->ip->count + t->first;
    for_each_lane(t, lane)
    {
      if (own[lane] != own[t->leader])
        return true;
    }
  }
  return false;
}

/* ---- votes ---------------------------------------------------------------------------------------------------------- */

/* Returns a float lane in the program's float mode. */
static double
number_of(const task *t, uint64_t lane)
{
  return double_of_lane(t->kind, interp_flushed(t->ip, t->kind, lane));
}

/* Returns whether the active lanes are equal. Floats compare as in feq: zeros are equal, flushed denormals are zeros, and a NaN
 * does not even equal itself. */
static bool
lanes_agree(const task *t)
{
  for (uint32_t k = 0; k < t->lanes; k++)
    for_each_lane(t, lane)
    {
      const uint64_t x = value_of(t, k, lane), y = value_of(t, k, t->leader);
      if (vyre_kind_is_float(t->kind) ? number_of(t, x) != number_of(t, y) : x != y)
        return false;
    }
  return true;
}

static void
run_vote(const task *t)
{
  lane_mask yes = {{0, 0}};
  bool all = true, any = false;
  for_each_lane(t, lane)
  {
    const bool vote = t->op != VYRE_OP_subgroup_elect && t->a[t->first + lane] != 0;
    all = all && vote;
    any = any || vote;
    if (vote)
      add_lane(&yes, lane);
  }
  switch ((uint32_t)t->op) {
  case VYRE_OP_subgroup_elect:
    for_each_lane(t, lane) t->out[t->first + lane] = lane == t->leader;
    break;
  case VYRE_OP_subgroup_ballot:
    for_each_lane(t, lane) put_mask(t->ip, t->out, t->first + lane, &yes);
    break;
  default:
    put_all(t, t->op == VYRE_OP_subgroup_all ? all : t->op == VYRE_OP_subgroup_any ? any : lanes_agree(t));
    break;
  }
  if (t->ip->report)
    trace_all(t);
}

/* ---- ballots -------------------------------------------------------------------------------------------------------- */

static uint64_t
count_lanes(const lane_mask *mask)
{
  return (uint64_t)__builtin_popcountll(mask->word[0]) + (uint64_t)__builtin_popcountll(mask->word[1]);
}

/* Returns the lowest or highest lane, or all ones if the mask is empty, as findlsb does. */
static uint64_t
find_lane(const lane_mask *mask, bool lowest)
{
  if ((mask->word[0] | mask->word[1]) == 0)
    return UINT32_MAX;
  if (lowest)
    return mask->word[0] ? (uint64_t)__builtin_ctzll(mask->word[0]) : 64u + (uint64_t)__builtin_ctzll(mask->word[1]);
  return mask->word[1] ? 127u - (uint64_t)__builtin_clzll(mask->word[1]) : 63u - (uint64_t)__builtin_clzll(mask->word[0]);
}

/* Returns the result that one lane reads from its mask. Bits from the subgroup's size on do not count. */
static uint64_t
read_ballot(const task *t, uint32_t lane)
{
  const uint64_t bit = t->b ? t->b[t->first + lane] : 0;
  const uint32_t group = VYRE_GROUP_OF(t->imm);
  uint32_t counted = t->size;
  lane_mask mask = get_mask(t, lane);
  if (t->op == VYRE_OP_subgroup_ballot_count && group != VYRE_GROUP_REDUCE)
    counted = group == VYRE_GROUP_INCLUSIVE ? lane + 1 : lane;
  const lane_mask part = lanes_between(0, counted);
  mask.word[0] &= part.word[0];
  mask.word[1] &= part.word[1];
  switch ((uint32_t)t->op) {
  case VYRE_OP_subgroup_inverse_ballot:
    return has_lane(&mask, lane);
  case VYRE_OP_subgroup_ballot_bit:
    return has_lane(&mask, (uint32_t)bit);
  case VYRE_OP_subgroup_ballot_count:
    return count_lanes(&mask);
  default:
    return find_lane(&mask, t->op == VYRE_OP_subgroup_ballot_findlsb);
  }
}

static void
run_ballot(const task *t)
{
  const vyre_view *v = t->ip->view;
  const bool differ = t->ip->report && t->op == VYRE_OP_subgroup_inverse_ballot && lanes_differ(t, t->a, 4);
  for_each_lane(t, lane)
  {
    const uint64_t value = read_ballot(t, lane);
    const bool finds = t->op == VYRE_OP_subgroup_ballot_findlsb || t->op == VYRE_OP_subgroup_ballot_findmsb;
    t->out[t->first + lane] = value;
    if (!t->ip->report)
      continue;
    uint32_t origin = origin_at(t, v->a[t->row], lane);
    if (origin == 0)
      origin = origin_at(t, v->b[t->row], lane);
    if (origin == 0 && (differ || (t->b && t->b[t->first + lane] >= t->size) || (finds && value == UINT32_MAX)))
      origin = t->row;
    put_origin(t, lane, origin);
  }
}

/* ---- values of other lanes ------------------------------------------------------------------------------------------ */

/* Returns the cluster size. A cluster larger than the subgroup is the subgroup. */
static uint32_t
cluster_of(const task *t)
{
  const uint32_t cluster = VYRE_GROUP_CLUSTER(t->imm);
  return VYRE_GROUP_OF(t->imm) == VYRE_GROUP_CLUSTERED && cluster < t->size ? cluster : t->size;
}

static bool
cluster_is_large(const task *t)
{
  return VYRE_GROUP_OF(t->imm) == VYRE_GROUP_CLUSTERED && VYRE_GROUP_CLUSTER(t->imm) > t->size;
}

/* Returns the lane whose value this lane gets, or NO_LANE if that lane is inactive or does not exist. */
static uint32_t
source_of(const task *t, uint32_t lane)
{
  const uint64_t by = t->b ? t->b[t->first + lane] : 0;
  const uint32_t inside = cluster_of(t) - 1;
  uint64_t from = by; /* broadcast, shuffle */
  switch ((uint32_t)t->op) {
  case VYRE_OP_subgroup_first:
    from = t->leader;
    break;
  case VYRE_OP_subgroup_shuffle_xor:
    from = lane ^ by;
    break;
  case VYRE_OP_subgroup_shuffle_up:
    from = lane - by; /* below 0 it wraps to beyond all lanes */
    break;
  case VYRE_OP_subgroup_shuffle_down:
    from = lane + by;
    break;
  case VYRE_OP_subgroup_rotate:
    from = (lane & ~inside) | ((lane + by) & inside);
    break;
  case VYRE_OP_subgroup_quad_broadcast:
    from = by < 4 ? (lane & ~3u) + by : NO_LANE;
    break;
  case VYRE_OP_subgroup_quad_swap:
    from = lane ^ (by + 1);
    break;
  default:
    break;
  }
  return from < t->count && has_lane(&t->active, (uint32_t)from) ? (uint32_t)from : NO_LANE;
}

/* Returns whether operand b must be the same for all lanes. */
static bool
needs_uniform_index(vyre_opcode op)
{
  return op == VYRE_OP_subgroup_broadcast || op == VYRE_OP_subgroup_rotate || op == VYRE_OP_subgroup_quad_broadcast;
}

static void
run_move(const task *t)
{
  const vyre_view *v = t->ip->view;
  const bool wrong = t->ip->report && (cluster_is_large(t) || (needs_uniform_index(t->op) && lanes_differ(t, t->b, 1)));
  for_each_lane(t, lane)
  {
    const uint32_t from = source_of(t, lane);
    for (uint32_t k = 0; k < t->lanes; k++)
      t->out[(size_t)k * t->ip->count + t->first + lane] = from == NO_LANE ? 0 : value_of(t, k, from);
    if (!t->ip->report)
      continue;
    uint32_t origin = origin_at(t, v->b[t->row], lane);
    if (origin == 0)
      origin = wrong || from == NO_LANE ? t->row : origin_at(t, v->a[t->row], from);
    put_origin(t, lane, origin);
  }
}

/* ---- reductions and scans ------------------------------------------------------------------------------------------- */

/* Returns the value with which an exclusive scan starts. */
static uint64_t
identity_of(vyre_opcode op, vyre_kind kind)
{
  const unsigned bits = vyre_kind_bits(kind);
  switch ((uint32_t)op) {
  case VYRE_OP_subgroup_mul:
    return vyre_kind_is_float(kind) ? lane_of_double(kind, 1.0) : 1;
  case VYRE_OP_subgroup_umin:
  case VYRE_OP_subgroup_and:
    return bits_mask(bits);
  case VYRE_OP_subgroup_smin:
    return bits_mask(bits - 1);
  case VYRE_OP_subgroup_smax:
    return UINT64_C(1) << (bits - 1);
  case VYRE_OP_subgroup_fmin:
    return lane_of_double(kind, (double)INFINITY);
  case VYRE_OP_subgroup_fmax:
    return lane_of_double(kind, -(double)INFINITY);
  default:
    return 0;
  }
}

static uint64_t
canonical_lane(const task *t, uint64_t value)
{
  if (vyre_kind_is_float(t->kind)) /* a NaN gets the canonical bits */
    value = lane_of_double(t->kind, double_of_lane(t->kind, value));
  return interp_flushed(t->ip, t->kind, value);
}

/* Combines one component of the vector in one cluster, from the lowest lane on. The task's active lanes are those of the
 * cluster. */
static void
combine_cluster(const task *t, uint32_t k)
{
  const uint32_t group = VYRE_GROUP_OF(t->imm);
  const vyre_opcode step = (vyre_opcode)vyre_op_infos[t->op].combines;
  uint64_t *out = t->out + (size_t)k * t->ip->count + t->first;
  uint64_t sum = identity_of(t->op, t->kind);
  bool any = group == VYRE_GROUP_EXCLUSIVE;
  for_each_lane(t, lane)
  {
    const uint64_t value = canonical_lane(t, value_of(t, k, lane));
    out[lane] = sum;
    if (any)
      vyre_eval_lanes(step, t->kind, t->kind, &sum, &value, NULL, &sum, 1);
    else
      sum = value;
    sum = canonical_lane(t, sum);
    any = true;
    if (group == VYRE_GROUP_INCLUSIVE)
      out[lane] = sum;
  }
  if (group == VYRE_GROUP_INCLUSIVE || group == VYRE_GROUP_EXCLUSIVE)
    return;
  for_each_lane(t, lane) out[lane] = sum;
}

/* Returns the row itself if a lane has a NaN in a minimum or maximum, otherwise 0. */
static uint32_t
nan_origin(const task *t, uint32_t lane)
{
  for (uint32_t k = 0; k < t->lanes && (t->op == VYRE_OP_subgroup_fmin || t->op == VYRE_OP_subgroup_fmax); k++)
    if (isnan(double_of_lane(t->kind, value_of(t, k, lane))))
      return t->row;
  return 0;
}

static void
trace_cluster(const task *t)
{
  const uint32_t group = VYRE_GROUP_OF(t->imm), a = t->ip->view->a[t->row];
  uint32_t origin = cluster_is_large(t) ? t->row : 0;
  for_each_lane(t, lane)
  {
    put_origin(t, lane, origin);
    if (origin == 0)
      origin = origin_at(t, a, lane);
    if (origin == 0)
      origin = nan_origin(t, lane);
    if (group == VYRE_GROUP_INCLUSIVE)
      put_origin(t, lane, origin);
  }
  if (group == VYRE_GROUP_INCLUSIVE || group == VYRE_GROUP_EXCLUSIVE)
    return;
  for_each_lane(t, lane) put_origin(t, lane, origin);
}

static void
run_combine(const task *t)
{
  const uint32_t cluster = cluster_of(t);
  for (uint32_t begin = 0; begin < t->count; begin += cluster) {
    const lane_mask inside = lanes_between(begin, begin + cluster);
    task part = *t;
    part.active.word[0] &= inside.word[0];
    part.active.word[1] &= inside.word[1];
    for (uint32_t k = 0; k < t->lanes; k++)
      combine_cluster(&part, k);
    if (t->ip->report)
      trace_cluster(&part);
  }
}

/* ---- entry ---------------------------------------------------------------------------------------------------------- */

void
interp_fill_place(const interp *ip, uint32_t row)
{
  const uint32_t op = VYRE_ROW_OP(ip->view->op[row]), size = ip->subgroup;
  uint64_t *out = plane_of(ip, row);
  for (uint32_t i = 0; i < ip->count; i++) {
    const uint32_t place = i % ip->per_group, lane = place % size;
    lane_mask mask;
    switch (op) {
    case VYRE_OP_subgroup_lane:
      out[i] = lane;
      continue;
    case VYRE_OP_subgroup_id:
      out[i] = place / size;
      continue;
    case VYRE_OP_subgroup_size:
      out[i] = size;
      continue;
    case VYRE_OP_subgroups:
      out[i] = (ip->per_group + size - 1) / size;
      continue;
    case VYRE_OP_subgroup_eq_mask:
      mask = lanes_between(lane, lane + 1);
      break;
    case VYRE_OP_subgroup_ge_mask:
      mask = lanes_between(lane, size);
      break;
    case VYRE_OP_subgroup_gt_mask:
      mask = lanes_between(lane + 1, size);
      break;
    case VYRE_OP_subgroup_le_mask:
      mask = lanes_between(0, lane + 1);
      break;
    default:
      mask = lanes_between(0, lane);
      break;
    }
    put_mask(ip, out, i, &mask);
  }
}

static void
run_task(const task *t)
{
  switch ((uint32_t)t->op) {
  case VYRE_OP_subgroup_elect:
  case VYRE_OP_subgroup_all:
  case VYRE_OP_subgroup_any:
  case VYRE_OP_subgroup_alleq:
  case VYRE_OP_subgroup_ballot:
    run_vote(t);
    break;
  case VYRE_OP_subgroup_inverse_ballot:
  case VYRE_OP_subgroup_ballot_bit:
  case VYRE_OP_subgroup_ballot_count:
  case VYRE_OP_subgroup_ballot_findlsb:
  case VYRE_OP_subgroup_ballot_findmsb:
    run_ballot(t);
    break;
  default:
    if (subgroup_combines(t->op))
      run_combine(t);
    else
      run_move(t);
    break;
  }
}

void
interp_subgroup(interp *ip, uint32_t row, const uint64_t *active)
{
  const vyre_view *v = ip->view;
  const uint32_t a = v->a[row], b = v->b[row];
  const vyre_opcode op = (vyre_opcode)VYRE_ROW_OP(v->op[row]);
  task t = {.ip = ip, .row = row, .op = op, .imm = v->imm[row], .size = ip->subgroup, .kind = row_kind(v, a)};
  t.lanes = VYRE_TYPE_LANES(VYRE_ROW_TYPE(v->op[a]));
  t.a = a ? plane_of(ip, a) : NULL;
  t.b = b ? plane_of(ip, b) : NULL;
  t.out = plane_of(ip, row);
  for (t.first = 0; t.first < ip->count; t.first += t.count) {
    const uint32_t left = ip->per_group - t.first % ip->per_group; /* remaining invocations of the workgroup */
    t.count = left < t.size ? left : t.size;
    t.active = (lane_mask){{0, 0}};
    t.leader = NO_LANE;
    for (uint32_t lane = 0; lane < t.count; lane++) {
      const uint32_t i = t.first + lane;
      if ((active[i / 64] >> (i % 64) & 1u) == 0)
        continue;
      add_lane(&t.active, lane);
      if (t.leader == NO_LANE)
        t.leader = lane;
    }
    if (t.leader != NO_LANE)
      run_task(&t);
  }
}
