/* Subgroup operations of the lanes in the mask.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

static reg
own_lane(gen *g)
{
  return MAKE32(g, "mov.u32", special(LANEID));
}

static reg
bit_of(gen *g, reg word, reg index)
{
  const reg bit = MAKE32(g, "and.b32", MAKE32(g, "shr.u32", word, index), lit(1));
  return PRED(g, "setp.ne.u32", bit, lit(0));
}

/* Returns the index of the lowest set bit, or -1 if there is none. */
static reg
lowest(gen *g, reg word)
{
  return MAKE32(g, "bfind.u32", MAKE32(g, "and.b32", word, MAKE32(g, "neg.s32", word)));
}

/* ---- values of other lanes -------------------------------------------------------------------------------------------------- */

static reg
fetch_word(gen *g, reg word, reg lane)
{
  return MAKE32(g, "shfl.sync.idx.b32", word, lane, lit(31), g->mask);
}

/* Returns the value in a lane of the mask. */
static reg
fetch(gen *g, vyre_kind kind, reg value, reg lane)
{
  if (kind == VYRE_BOOL)
    return PRED(g, "setp.ne.u32", fetch_word(g, MAKE32(g, "selp.u32", lit(1), lit(0), value), lane), lit(0));
  if (kind == VYRE_F16)
    return MAKE16(g, "cvt.u16.u32", fetch_word(g, MAKE32(g, "cvt.u32.u16", value), lane));
  value = pgen_in_register(g, class_of(kind), value);
  if (!is_long(kind))
    return fetch_word(g, value, lane);
  const reg low = fetch_word(g, MAKE32(g, "cvt.u32.u64", value), lane);
  const reg high = fetch_word(g, MAKE32(g, "cvt.u32.u64", MAKE64(g, "shr.u64", value, lit(32))), lane);
  const reg wide_low = MAKE64(g, "cvt.u64.u32", low);
  return MAKE64(g, "or.b64", wide_low, MAKE64(g, "shl.b64", MAKE64(g, "cvt.u64.u32", high), lit(32)));
}

/* Returns the number of the source lane.  Numbers from 32 on mean that there is no source. */
static reg
source_of(gen *g, uint32_t row)
{
  const reg b = pgen_value(g, g->v->b[row], 0), own = own_lane(g);
  const uint32_t inside = code_cluster(g->v, row, VYRE_PTX_SUBGROUP) - 1;
  switch (VYRE_ROW_OP(g->v->op[row])) {
  case VYRE_OP_subgroup_shuffle_xor:
    return MAKE32(g, "xor.b32", own, b);
  case VYRE_OP_subgroup_shuffle_up: { /* the difference may wrap to a valid lane */
    const reg is_lane = PRED(g, "setp.ge.u32", own, b);
    return pgen_select(g, REG_32, MAKE32(g, "sub.u32", own, b), lit(32), is_lane);
  }
  case VYRE_OP_subgroup_shuffle_down: {
    const reg sum = MAKE32(g, "add.u32", own, b); /* the sum may wrap too */
    return pgen_select(g, REG_32, lit(32), sum, PRED(g, "setp.lt.u32", sum, own));
  }
  case VYRE_OP_subgroup_rotate: {
    const reg turned = MAKE32(g, "and.b32", MAKE32(g, "add.u32", own, b), lit(inside));
    return MAKE32(g, "or.b32", MAKE32(g, "and.b32", own, lit(~inside)), turned);
  }
  case VYRE_OP_subgroup_quad_broadcast: {
    const reg in_quad = PRED(g, "setp.lt.u32", b, lit(4));
    return pgen_select(g, REG_32, MAKE32(g, "add.u32", MAKE32(g, "and.b32", own, lit(~3u)), b), lit(32), in_quad);
  }
  case VYRE_OP_subgroup_quad_swap:
    return MAKE32(g, "xor.b32", own, MAKE32(g, "add.u32", b, lit(1)));
  default: /* broadcast, shuffle */
    return b;
  }
}

static void
move(gen *g, uint32_t row)
{
  const uint32_t a = g->v->a[row];
  const vyre_kind kind = kind_of(g, row);
  const bool first = op_of(g, row) == VYRE_OP_subgroup_first;
  const reg from = pgen_in_register(g, REG_32, first ? lowest(g, g->mask) : source_of(g, row));
  reg there = {0}, lane = from;
  if (!first) { /* an inactive source lane is not read, and the result is 0 */
    const reg is_lane = PRED(g, "setp.lt.u32", from, lit(32));
    there = PRED(g, "and.pred", is_lane, bit_of(g, g->mask, MAKE32(g, "min.u32", from, lit(31))));
    lane = pgen_select(g, REG_32, from, own_lane(g), there);
  }
  for (uint32_t k = 0; k < lanes_of(g, row); k++) {
    const reg value = fetch(g, kind, pgen_value(g, a, k), lane);
    pgen_define(g, row, k, first ? value : pgen_select(g, class_of(kind), value, pgen_literal(g, kind, 0), there));
  }
}

/* ---- votes ------------------------------------------------------------------------------------------------------------------ */

/* Compares with the lowest lane.  Floats compare as numbers, so a NaN does not equal itself. */
static reg
agree(gen *g, uint32_t row)
{
  const uint32_t a = g->v->a[row];
  const vyre_kind kind = kind_of(g, a);
  const reg leader = lowest(g, g->mask);
  reg all = {0};
  for (uint32_t k = 0; k < lanes_of(g, a); k++) {
    const reg value = pgen_value(g, a, k), own = vyre_kind_is_float(kind) ? pgen_flushed(g, kind, value) : value,
              other = fetch(g, kind, own, leader);
    reg same;
    if (vyre_kind_is_float(kind)) {
      const reg other_number = pgen_number(g, kind, other);
      same = pgen_float_compare(g, kind, "eq", pgen_number(g, kind, own), other_number);
    } else if (kind == VYRE_BOOL) {
      same = pgen_not(g, PRED(g, "xor.pred", own, other));
    } else {
      same = PRED(g, is_long(kind) ? "setp.eq.u64" : "setp.eq.u32", own, other);
    }
    all = pgen_and(g, all, same);
  }
  return PRED(g, "vote.sync.all.pred", all, g->mask);
}

/* Returns the result of an operation on a ballot, which needs no other lane. */
static reg
of_ballot(gen *g, uint32_t row)
{
  const reg word = pgen_in_register(g, REG_32, pgen_value(g, g->v->a[row], 0));
  const uint32_t group = VYRE_GROUP_OF(g->v->imm[row]);
  const reg lane = MAKE32(g, "and.b32", pgen_lindex(g), lit(31));
  switch (VYRE_ROW_OP(g->v->op[row])) {
  case VYRE_OP_subgroup_inverse_ballot:
    return bit_of(g, word, lane);
  case VYRE_OP_subgroup_ballot_bit: /* a shift by 32 or more yields 0 in PTX */
    return bit_of(g, word, pgen_value(g, g->v->b[row], 0));
  case VYRE_OP_subgroup_ballot_findlsb:
    return lowest(g, word);
  case VYRE_OP_subgroup_ballot_findmsb:
    return MAKE32(g, "bfind.u32", word);
  default:
    break;
  }
  if (group == VYRE_GROUP_REDUCE)
    return MAKE32(g, "popc.b32", word);
  const reg above =
      MAKE32(g, "shl.b32", lit(0xffffffffu), group == VYRE_GROUP_INCLUSIVE ? MAKE32(g, "add.u32", lane, lit(1)) : lane);
  return MAKE32(g, "popc.b32", MAKE32(g, "and.b32", word, MAKE32(g, "not.b32", above)));
}

/* ---- sums and the like ------------------------------------------------------------------------------------------------------ */

static reg
combined(gen *g, vyre_opcode op, vyre_kind kind, reg a, reg b)
{
  const vyre_opcode by = (vyre_opcode)vyre_op_infos[op].combines;
  return vyre_kind_is_float(kind) ? pgen_combine_floats(g, by, kind, a, b) : pgen_combine_integers(g, by, kind, a, b);
}

/* Returns the mask of the lanes that contribute to this one: those of its cluster, or those below it, perhaps with itself. */
static reg
wanted(gen *g, uint32_t row)
{
  const uint32_t group = VYRE_GROUP_OF(g->v->imm[row]), cluster = code_cluster(g->v, row, VYRE_PTX_SUBGROUP);
  const reg lane = own_lane(g);
  if (group == VYRE_GROUP_INCLUSIVE || group == VYRE_GROUP_EXCLUSIVE) {
    const reg end = group == VYRE_GROUP_INCLUSIVE ? MAKE32(g, "add.u32", lane, lit(1)) : lane;
    return MAKE32(g, "not.b32", MAKE32(g, "shl.b32", lit(0xffffffffu), end));
  }
  if (cluster == VYRE_PTX_SUBGROUP)
    return pgen_copy(g, REG_32, lit(0xffffffffu));
  return MAKE32(g, "shl.b32", lit((1u << cluster) - 1), MAKE32(g, "and.b32", lane, lit(~(cluster - 1))));
}

/* Returns the instruction for 32 bits, which sm_80 and later have.  Returns NULL if it does not apply. */
static const char *
reduction_of(const gen *g, uint32_t row)
{
  const vyre_kind kind = kind_of(g, row);
  const vyre_opcode by = (vyre_opcode)vyre_op_infos[op_of(g, row)].combines;
  const char *op = by == VYRE_OP_add    ? "add.u32"
                   : by == VYRE_OP_umin ? "min.u32"
                   : by == VYRE_OP_umax ? "max.u32"
                   : by == VYRE_OP_smin ? "min.s32"
                   : by == VYRE_OP_smax ? "max.s32"
                   : by == VYRE_OP_and  ? "and.b32"
                   : by == VYRE_OP_or   ? "or.b32"
                   : by == VYRE_OP_xor  ? "xor.b32"
                                        : NULL;
  const uint32_t group = VYRE_GROUP_OF(g->v->imm[row]);
  const bool scans = group == VYRE_GROUP_INCLUSIVE || group == VYRE_GROUP_EXCLUSIVE;
  return g->sm >= 80 && (kind == VYRE_I32 || kind == VYRE_U32) && !scans &&
                 code_cluster(g->v, row, VYRE_PTX_SUBGROUP) == VYRE_PTX_SUBGROUP
             ? op
             : NULL;
}

/* Combines lane by lane from the lowest one, the order in which floats are rounded.  A scan that is not exclusive begins with
 * the first lane's value. */
static void
combine_in_order(gen *g, uint32_t row, uint32_t k)
{
  const vyre_opcode op = op_of(g, row);
  const vyre_kind kind = kind_of(g, row);
  const bool exclusive = VYRE_GROUP_OF(g->v->imm[row]) == VYRE_GROUP_EXCLUSIVE;
  const uint32_t again = pgen_new_label(g);
  reg own = pgen_value(g, g->v->a[row], k);
  if (vyre_kind_is_float(kind))
    own = pgen_canonical(g, kind, pgen_flushed(g, kind, own));
  const reg sum = pgen_copy(g, class_of(kind), pgen_literal(g, kind, code_identity(op, kind)));
  const reg any = pgen_copy(g, REG_32, lit(exclusive)), rest = pgen_copy(g, REG_32, g->mask), mine = wanted(g, row);
  pgen_label(g, again);
  const reg lane = lowest(g, rest), value = fetch(g, kind, own, lane);
  const reg counts = bit_of(g, mine, lane), begun = PRED(g, "setp.ne.u32", any, lit(0));
  const reg step = pgen_select(g, class_of(kind), combined(g, op, kind, sum, value), value, begun);
  pgen_move(g, sum, pgen_select(g, class_of(kind), step, sum, counts));
  pgen_when(g, counts, false);
  CODE(g, "mov.u32", any, lit(1));
  CODE(g, "and.b32", rest, rest, MAKE32(g, "sub.u32", rest, lit(1)));
  pgen_branch_if(g, PRED(g, "setp.ne.u32", rest, lit(0)), again);
  pgen_define(g, row, k, sum);
}

/* The source lanes of a parallel scan.  In step k the source is 2^k active lanes before this one, in its cluster. */
typedef struct chain {
  uint32_t steps;
  reg lanes[5], there[5]; /* by step of the scan: the source lane, or this lane if there is no source; whether there is a source */
  reg last;               /* the last active lane of the cluster */
} chain;

static void
link(gen *g, uint32_t row, chain *c)
{
  const uint32_t cluster = code_cluster(g->v, row, VYRE_PTX_SUBGROUP);
  const reg own = own_lane(g);
  reg peers = g->mask;
  if (cluster < VYRE_PTX_SUBGROUP)
    peers =
        MAKE32(g, "and.b32", peers, MAKE32(g, "shl.b32", lit((1u << cluster) - 1), MAKE32(g, "and.b32", own, lit(~(cluster - 1)))));
  reg before =
      MAKE32(g, "bfind.u32", MAKE32(g, "and.b32", peers, MAKE32(g, "not.b32", MAKE32(g, "shl.b32", lit(UINT32_MAX), own))));
  c->last = MAKE32(g, "bfind.u32", peers);
  for (c->steps = 0; 1u << c->steps < cluster; c->steps++) {
    c->there[c->steps] = PRED(g, "setp.ne.u32", before, lit(UINT32_MAX));
    c->lanes[c->steps] = pgen_select(g, REG_32, before, own, c->there[c->steps]);
    if (2u << c->steps < cluster) /* a lane without a predecessor fetches its own UINT32_MAX */
      before = fetch_word(g, before, c->lanes[c->steps]);
  }
}

/* Combines in any order: after each step a lane has the sum of twice as many lanes, up to itself. */
static void
combine(gen *g, uint32_t row, uint32_t k, const chain *c)
{
  const vyre_opcode op = op_of(g, row);
  const vyre_kind kind = kind_of(g, row);
  const uint32_t group = VYRE_GROUP_OF(g->v->imm[row]);
  const reg identity = pgen_literal(g, kind, code_identity(op, kind));
  reg sum = pgen_in_register(g, class_of(kind), pgen_value(g, g->v->a[row], k));
  if (vyre_kind_is_float(kind))
    sum = pgen_canonical(g, kind, pgen_flushed(g, kind, sum));
  for (uint32_t i = 0; i < c->steps; i++) {
    const reg both = combined(g, op, kind, fetch(g, kind, sum, c->lanes[i]), sum);
    sum = pgen_select(g, class_of(kind), both, sum, c->there[i]);
  }
  if (group == VYRE_GROUP_EXCLUSIVE) {
    reg before = fetch(g, kind, sum, c->lanes[0]);
    if (vyre_kind_is_float(kind)) /* makes a NaN the identity, as in a scan that begins with it */
      before = combined(g, op, kind, pgen_in_register(g, class_of(kind), identity), before);
    sum = pgen_select(g, class_of(kind), before, identity, c->there[0]);
  } else if (group != VYRE_GROUP_INCLUSIVE) {
    sum = fetch(g, kind, sum, c->last);
  }
  pgen_define(g, row, k, sum);
}

static void
combine_all(gen *g, uint32_t row)
{
  const vyre_opcode op = op_of(g, row);
  const bool rounds = vyre_kind_is_float(kind_of(g, row)) && (op == VYRE_OP_subgroup_add || op == VYRE_OP_subgroup_mul);
  const char *reduction = reduction_of(g, row);
  char text[64];
  chain c = {0};
  if (!rounds && !reduction)
    link(g, row, &c);
  for (uint32_t k = 0; k < lanes_of(g, row); k++)
    if (reduction)
      pgen_define(g, row, k,
                  MAKE32(g, pgen_format(text, "redux.sync.%s", reduction),
                         pgen_in_register(g, REG_32, pgen_value(g, g->v->a[row], k)), g->mask));
    else if (rounds)
      combine_in_order(g, row, k);
    else
      combine(g, row, k, &c);
}

/* ---- entry ------------------------------------------------------------------------------------------------------------------ */

void
pgen_subgroup(gen *g, uint32_t row)
{
  const vyre_opcode op = op_of(g, row);
  const uint32_t a = g->v->a[row];
  if (op >= VYRE_OP_subgroup_add) {
    combine_all(g, row);
  } else if (op >= VYRE_OP_subgroup_inverse_ballot && op <= VYRE_OP_subgroup_ballot_findmsb) {
    pgen_define(g, row, 0, of_ballot(g, row));
  } else if (op == VYRE_OP_subgroup_elect) {
    const reg own = own_lane(g);
    pgen_define(g, row, 0, PRED(g, "setp.eq.u32", own, lowest(g, g->mask)));
  } else if (op == VYRE_OP_subgroup_all || op == VYRE_OP_subgroup_any) {
    const char *vote = op == VYRE_OP_subgroup_all ? "vote.sync.all.pred" : "vote.sync.any.pred";
    pgen_define(g, row, 0, PRED(g, vote, pgen_value(g, a, 0), g->mask));
  } else if (op == VYRE_OP_subgroup_alleq) {
    pgen_define(g, row, 0, agree(g, row));
  } else if (op == VYRE_OP_subgroup_ballot) {
    pgen_define(g, row, 0, MAKE32(g, "vote.sync.ballot.b32", pgen_value(g, a, 0), g->mask));
    for (uint32_t k = 1; k < 4; k++)
      pgen_define(g, row, k, pgen_copy(g, REG_32, lit(0)));
  } else {
    move(g, row);
  }
}
