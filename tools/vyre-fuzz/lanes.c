/* Random communication between the lanes of a workgroup, through workgroup memory and storage, with barriers.
 *
 * In a round each lane writes slots that no other lane writes, and after a barrier reads slots of any lane.  Another barrier
 * follows. Rounds are in uniform control flow: all lanes that have not returned execute each barrier.  Loads of slots are not kept
 * in the pool, because a copy of such a load after the round would be a race.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "random_program.h"

#include "internal.h"

#define LANES      4u /* lanes of a workgroup */
#define SLOTS      4u /* slots of a lane */
#define DEEPEST    3u
#define GROUP_SIZE (LANES * RANDOM_WORDS) /* words of a workgroup in `out` and `shared` */

typedef struct exchange {
  vyre_row array;    /* LANES * SLOTS elements of workgroup memory, or a storage buffer */
  vyre_type type;    /* of an element */
  bool is_storage;   /* a lane's slots are the first of its own words */
  bool interleaved;  /* slot k of lane l is element k * LANES + l, otherwise l * SLOTS + k */
  vyre_row sum;      /* a variable: the hash of all values that the lane read */
  uint32_t barriers; /* memory semantics of the exchange's barriers, without acquire and release */
} exchange;

/* ---- values ------------------------------------------------------------------------------------------------------------- */

static vyre_row
lane(generator *g)
{
  return row(g, VYRE_OP_lindex, U32, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
}

static vyre_row
below_lanes(generator *g, vyre_row index)
{
  return vyre_build_imm(&g->b, VYRE_OP_and, index, LANES - 1);
}

/* Mixes the value into the exchange's hash. */
static void
observe(generator *g, const exchange *x, vyre_row seen)
{
  const vyre_row mixed = vyre_build_binary(&g->b, VYRE_OP_xor, vyre_build_get(&g->b, x->sum), word_of(g, seen));
  vyre_build_set(&g->b, x->sum, vyre_build_imm(&g->b, VYRE_OP_mul, mixed, 0x9e3779b1u));
  if (x->array.id != g->out.id && below(g, 4) == 0)
    store_out(g, seen);
}

/* Returns a u32 that is the same in all lanes of the workgroup. */
static vyre_row
uniform(generator *g)
{
  switch (below(g, 4)) {
  case 0:
    return vyre_build_lane(&g->b, row(g, VYRE_OP_wid, VYRE_TYPE(VYRE_U32, 3), 0, VYRE_NONE, VYRE_NONE, VYRE_NONE), 0);
  case 1:
    return vyre_build_load(&g->b, path(g, g->push, u32(g, below(g, 4))), 0);
  case 2:
    return vyre_build_load(&g->b, vyre_build_at_literal(&g->b, g->in, below(g, RANDOM_IN)), 0);
  default:
    return row(g, VYRE_OP_length, U32, 0, g->in, VYRE_NONE, VYRE_NONE);
  }
}

/* Returns a permutation of the lanes. */
static vyre_row
permuted_lane(generator *g)
{
  vyre_row index = lane(g);
  switch (below(g, 5)) {
  case 0:
    return vyre_build_imm(&g->b, VYRE_OP_xor, index, below(g, LANES));
  case 1:
    return below_lanes(g, vyre_build_imm(&g->b, VYRE_OP_add, index, 1 + below(g, LANES - 1)));
  case 2:
    index = vyre_build_imm(&g->b, VYRE_OP_mul, index, 1 + 2 * below(g, 2));
    return below_lanes(g, vyre_build_binary(&g->b, VYRE_OP_sub, uniform(g), index));
  default:
    return index;
  }
}

static vyre_row
any_lane(generator *g)
{
  switch (below(g, 4)) {
  case 0:
    return u32(g, below(g, LANES));
  case 1:
    return below_lanes(g, value(g, U32));
  default:
    return permuted_lane(g);
  }
}

/* ---- memory ------------------------------------------------------------------------------------------------------------- */

static vyre_row
slot(generator *g, const exchange *x, vyre_row of, uint32_t k)
{
  if (x->is_storage) {
    const vyre_row group = row(g, VYRE_OP_wid, VYRE_TYPE(VYRE_U32, 3), 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
    const vyre_row first = vyre_build_imm(&g->b, VYRE_OP_mul, vyre_build_lane(&g->b, group, 0), GROUP_SIZE);
    const vyre_row own = vyre_build_imm(&g->b, VYRE_OP_add, vyre_build_imm(&g->b, VYRE_OP_mul, of, RANDOM_WORDS), k);
    return path(g, x->array, vyre_build_binary(&g->b, VYRE_OP_add, first, own));
  }
  const vyre_row scaled = vyre_build_imm(&g->b, VYRE_OP_mul, of, x->interleaved ? 1 : SLOTS);
  return path(g, x->array, vyre_build_imm(&g->b, VYRE_OP_add, scaled, x->interleaved ? k * LANES : k));
}

/* Adds a barrier, or a fence and a barrier as in GLSL's memoryBarrier() and barrier(). */
static void
add_barrier(generator *g, const exchange *x)
{
  const uint32_t memory = below(g, 4) ? 2 : 1, more = below(g, 4) ? 0 : 0x140, order = below(g, 8) ? 8 : 0x10;
  if (below(g, 6) == 0)
    vyre_build_barrier(&g->b, VYRE_ORDER(4, memory, x->barriers | more | order));
  vyre_build_barrier(&g->b, VYRE_ORDER(2, memory, x->barriers | more | order));
}

static void
write_slot(generator *g, const exchange *x, vyre_row of, uint32_t k)
{
  const vyre_row at = slot(g, x, of, k);
  if (!x->is_storage && x->type == U32 && below(g, 6) == 0) {
    row(g, VYRE_OP_async_copy, 0, 0, at, path(g, g->in, index_below(g, RANDOM_IN)), VYRE_NONE);
    row(g, VYRE_OP_async_wait, 0, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
    return;
  }
  vyre_build_store(&g->b, at, value(g, x->type), 0);
}

/* ---- rounds ------------------------------------------------------------------------------------------------------------- */

/* Adds statements whose jumps stay inside of them.  A lane may return, and does not arrive at the next barrier.  A fence therefore
 * orders its accesses of `x` before those that follow the barrier. */
static void
add_statements(generator *g, const exchange *x)
{
  const bool in_loop = g->in_loop;
  const vyre_row block = g->block;
  const uint32_t mark = g->count;
  g->in_loop = false;
  g->block = VYRE_NONE;
  vyre_build_barrier(&g->b, VYRE_ORDER(4, 2, x->barriers | 8)); /* of the invocation; workgroup, acq_rel */
  statements(g, below(g, 3));
  g->in_loop = in_loop;
  g->block = block;
  g->count = mark;
}

/* Adds writes of each lane's own slots and reads of any slots.  Statements in between may access the lane's own words of storage.
 */
static void
exchange_round(generator *g, const exchange *x)
{
  const uint32_t first = below(g, SLOTS), count = 1 + below(g, 2);
  const bool has_statements = !x->is_storage || below(g, 2);
  const vyre_row own = x->is_storage && has_statements ? lane(g) : permuted_lane(g);
  for (uint32_t i = 0; i < count; i++)
    write_slot(g, x, own, (first + i) % SLOTS);
  if (has_statements)
    add_statements(g, x);
  add_barrier(g, x);
  for (uint32_t i = 0; i <= count; i++) {
    const vyre_row seen = vyre_build_load(&g->b, slot(g, x, any_lane(g), (first + i % count) % SLOTS), 0);
    observe(g, x, seen);
    if (x->type == U32)
      keep(g, vyre_build_imm(&g->b, VYRE_OP_add, seen, 1));
  }
  if (!x->is_storage)
    add_statements(g, x);
  add_barrier(g, x);
}

/* Adds an atomic that commutes, by which lanes change one word.  The result of the atomic is not used. */
static void
atomic_round(generator *g, const exchange *x)
{
  static const vyre_opcode ops[] = {VYRE_OP_atomic_add,  VYRE_OP_atomic_sub,  VYRE_OP_atomic_umin,
                                    VYRE_OP_atomic_umax, VYRE_OP_atomic_smin, VYRE_OP_atomic_smax,
                                    VYRE_OP_atomic_and,  VYRE_OP_atomic_or,   VYRE_OP_atomic_xor};
  const uint32_t k = below(g, SLOTS);
  const vyre_row first = below(g, 2) ? begin_if(g, vyre_build_imm(&g->b, VYRE_OP_eq, lane(g), below(g, LANES))) : VYRE_NONE;
  if (first.id) {
    vyre_build_store(&g->b, slot(g, x, u32(g, 0), k), value(g, U32), 0);
    vyre_builder_leave(&g->b, first);
  } else {
    vyre_build_store(&g->b, slot(g, x, lane(g), k), value(g, U32), 0);
  }
  add_barrier(g, x);
  const vyre_row changed = slot(g, x, u32(g, 0), k), arm = below(g, 3) ? VYRE_NONE : begin_if(g, value(g, BOOL));
  row(g, ops[below(g, 9)], U32, VYRE_ORDER(0, 2, below(g, 2) ? 0 : x->barriers | 8), changed, value(g, U32), VYRE_NONE);
  if (arm.id)
    vyre_builder_leave(&g->b, arm);
  add_barrier(g, x);
  observe(g, x, vyre_build_load(&g->b, changed, 0));
  add_barrier(g, x);
}

/* Appends an element for each lane at an index from a counter.  The order of lanes is not defined, so only the sum of the elements
 * is observed, and each element is cleared afterwards. */
static void
append_round(generator *g, const exchange *x)
{
  const vyre_row counter = slot(g, x, u32(g, 0), 0);
  vyre_row sum = u32(g, 0);
  vyre_build_store(&g->b, slot(g, x, lane(g), 1), u32(g, 0), 0);
  vyre_build_store(&g->b, slot(g, x, lane(g), 0), u32(g, 0), 0);
  add_barrier(g, x);
  const vyre_row arm = below(g, 2) ? VYRE_NONE : begin_if(g, value(g, BOOL));
  const vyre_row index = row(g, VYRE_OP_atomic_add, U32, VYRE_ORDER(0, 2, 0), counter, u32(g, 1), VYRE_NONE);
  vyre_build_store(&g->b, slot(g, x, below_lanes(g, index), 1), value(g, U32), 0);
  if (arm.id)
    vyre_builder_leave(&g->b, arm);
  add_barrier(g, x);
  for (uint32_t i = 0; i < LANES; i++)
    sum = vyre_build_binary(&g->b, VYRE_OP_add, sum, vyre_build_load(&g->b, slot(g, x, u32(g, i), 1), 0));
  observe(g, x, sum);
  observe(g, x, vyre_build_load(&g->b, counter, 0));
  add_barrier(g, x);
  vyre_build_store(&g->b, slot(g, x, lane(g), 1), u32(g, 0), 0);
  add_barrier(g, x);
}

/* ---- uniform control ---------------------------------------------------------------------------------------------------- */

static vyre_row
uniform_condition(generator *g)
{
  return vyre_build_imm(&g->b, below(g, 2) ? VYRE_OP_ult : VYRE_OP_ne, uniform(g), below(g, 4));
}

static void rounds(generator *g, const exchange *x, uint32_t depth, uint32_t count);

static void
uniform_if(generator *g, const exchange *x, uint32_t depth)
{
  const vyre_row control = begin_if(g, uniform_condition(g));
  const uint32_t mark = g->count;
  rounds(g, x, depth, 1 + below(g, 2));
  g->count = mark;
  if (below(g, 2)) {
    begin_else(g, control);
    rounds(g, x, depth, 1);
    g->count = mark;
  }
  vyre_builder_leave(&g->b, control);
}

/* Builds a `for`, or a `loop` with a uniform condition for its break. */
static void
uniform_loop(generator *g, const exchange *x, uint32_t depth)
{
  const uint32_t mark = g->count, most = 1 + below(g, 3);
  vyre_row control;
  if (below(g, 2)) {
    const vyre_row trips = below(g, 2) ? u32(g, most) : vyre_build_imm(&g->b, VYRE_OP_and, uniform(g), most);
    control = vyre_build_for(&g->b, u32(g, 0), trips, u32(g, 1));
    keep(g, vyre_region_of(g->m, control, 0));
    vyre_builder_at_end(&g->b, vyre_region_of(g->m, control, 0));
    rounds(g, x, depth, 1 + below(g, 2));
  } else {
    const vyre_row counter = vyre_build_var(&g->b, U32);
    vyre_build_set(&g->b, counter, u32(g, 0));
    control = vyre_build_loop(&g->b);
    rounds(g, x, depth, 1);
    const vyre_row next = vyre_build_imm(&g->b, VYRE_OP_add, vyre_build_get(&g->b, counter), 1);
    vyre_build_set(&g->b, counter, next);
    const vyre_row ends = begin_if(g, vyre_build_imm(&g->b, VYRE_OP_uge, next, most));
    vyre_build_jump(&g->b, VYRE_OP_break, VYRE_NONE);
    vyre_builder_leave(&g->b, ends);
    if (below(g, 2)) {
      const vyre_row leaves = begin_if(g, uniform_condition(g));
      vyre_build_jump(&g->b, below(g, 2) ? VYRE_OP_break : VYRE_OP_continue, VYRE_NONE);
      vyre_builder_leave(&g->b, leaves);
      rounds(g, x, depth, 1);
    }
  }
  g->count = mark;
  vyre_builder_leave(&g->b, control);
}

/* Builds a block that all lanes may leave early. */
static void
uniform_block(generator *g, const exchange *x, uint32_t depth)
{
  const vyre_row control = vyre_build_block(&g->b);
  const uint32_t mark = g->count;
  rounds(g, x, depth, 1);
  const vyre_row leaves = begin_if(g, uniform_condition(g));
  vyre_build_jump(&g->b, VYRE_OP_leave, control);
  vyre_builder_leave(&g->b, leaves);
  rounds(g, x, depth, 1);
  g->count = mark;
  vyre_builder_leave(&g->b, control);
}

static void
uniform_switch(generator *g, const exchange *x, uint32_t depth)
{
  const vyre_row control = vyre_build_switch(&g->b, vyre_build_imm(&g->b, VYRE_OP_and, uniform(g), 3));
  const uint32_t mark = g->count;
  vyre_row cases[2];
  for (uint32_t i = 0; i < 2; i++)
    cases[i] = vyre_build_case(&g->b, control, u32(g, i), i == 1 && below(g, 2));
  for (uint32_t i = 0; i < 2; i++) {
    vyre_builder_at_end(&g->b, cases[i]);
    rounds(g, x, depth, 1);
    if (i == 0 && below(g, 2))
      vyre_build_jump(&g->b, VYRE_OP_fallthrough, VYRE_NONE);
    g->count = mark;
  }
  vyre_builder_leave(&g->b, control);
}

static void
rounds(generator *g, const exchange *x, uint32_t depth, uint32_t count)
{
  static void (*const controls[])(generator *, const exchange *, uint32_t) = {uniform_if, uniform_loop, uniform_block,
                                                                              uniform_switch};
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t how = below(g, 8);
    if (how < 3 && depth < DEEPEST)
      controls[below(g, 4)](g, x, depth + 1);
    else if (how == 3 && x->type == U32)
      atomic_round(g, x);
    else if (how == 4 && x->type == U32)
      append_round(g, x);
    else
      exchange_round(g, x);
  }
}

/* Chooses the memory.  Elements of workgroup memory may have any type except bool. */
static exchange
any_exchange(generator *g)
{
  exchange x = {.type = U32, .interleaved = below(g, 2), .barriers = 0x100, .sum = vyre_build_var(&g->b, U32)};
  const uint32_t how = below(g, 6);
  vyre_kind kind;
  if (how < 2) {
    x.is_storage = true;
    x.array = how ? g->shared : g->out;
    x.barriers = 0x40;
    return x;
  }
  if (how == 2 && class_kind(g, VYRE_CLASS_NUM, &kind))
    x.type = VYRE_TYPE(kind, 1 + below(g, 4));
  x.array = workgroup_words(g, x.type, LANES * SLOTS);
  return x;
}

void
communicate(generator *g)
{
  const uint32_t exchanges = 1 + below(g, 2);
  g->depth++; /* statements in rounds have no barriers */
  for (uint32_t i = 0; i < exchanges; i++) {
    const exchange x = any_exchange(g);
    add_barrier(g, &x); /* orders earlier accesses */
    rounds(g, &x, 0, 2 + below(g, 3));
    store_out(g, vyre_build_get(&g->b, x.sum));
  }
  g->depth--;
}
