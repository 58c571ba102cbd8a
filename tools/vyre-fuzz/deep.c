/* Random control that is nested deep: ifs, loops, switches, and blocks with jumps from any depth.
 *
 * Most conditions are true, but no pass can know it, so that invocations reach the innermost construct.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "random_program.h"

#include "internal.h"

typedef struct nest {
  vyre_row blocks[RANDOM_DEPTH]; /* the blocks and switches that a jump may leave */
  uint32_t block_count;
  bool in_loop;          /* a jump may end an iteration */
  uint32_t trips;        /* iterations of all enclosing loops, multiplied */
  vyre_row path_of_lane; /* a variable: a hash of the constructs that the lane executed */
} nest;

#define MOST_TRIPS 16u

/* Returns a condition that is true for most lanes. */
static vyre_row
likely_condition(generator *g)
{
  const uint32_t k = below(g, 8);
  switch (below(g, 6)) {
  case 0:
    return value(g, BOOL);
  case 1:
    return vyre_build_imm(&g->b, VYRE_OP_ult, row(g, VYRE_OP_lindex, U32, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE), 3);
  default: /* the first words of `in` are their own indices */
    return vyre_build_imm(&g->b, below(g, 2) ? VYRE_OP_ule : VYRE_OP_eq,
                          vyre_build_load(&g->b, vyre_build_at_literal(&g->b, g->in, k), 0), k);
  }
}

void
mark_path(generator *g, vyre_row path, uint32_t step)
{
  const vyre_row mixed = vyre_build_imm(&g->b, VYRE_OP_mul, vyre_build_get(&g->b, path), 31);
  vyre_build_set(&g->b, path, vyre_build_imm(&g->b, VYRE_OP_add, mixed, step));
}

/* Adds a jump that few lanes execute: out of an enclosing block, or a break or continue of the innermost loop. */
static void
add_unlikely_jump(generator *g, const nest *n)
{
  if (below(g, 3) || (!n->block_count && !n->in_loop))
    return;
  const vyre_row control = vyre_build_if(&g->b, likely_condition(g));
  begin_else(g, control);
  if (n->block_count && (!n->in_loop || below(g, 2)))
    vyre_build_jump(&g->b, VYRE_OP_leave, n->blocks[below(g, n->block_count)]);
  else
    vyre_build_jump(&g->b, below(g, 2) ? VYRE_OP_break : VYRE_OP_continue, VYRE_NONE);
  vyre_builder_leave(&g->b, control);
}

static void build_level(generator *g, nest n, uint32_t depth);

/* Fills the region at the position.  Values of the region are not visible outside. */
static void
fill_region(generator *g, const nest *n, uint32_t depth)
{
  const uint32_t mark = g->count;
  mark_path(g, n->path_of_lane, depth);
  statements(g, below(g, 2));
  add_unlikely_jump(g, n);
  build_level(g, *n, depth + 1);
  mark_path(g, n->path_of_lane, depth + RANDOM_DEPTH);
  add_unlikely_jump(g, n);
  g->count = mark;
}

static void
deep_if(generator *g, nest n, uint32_t depth)
{
  const vyre_row control = vyre_build_if(&g->b, likely_condition(g));
  const bool is_else = below(g, 8) == 0;
  for (uint32_t arm = 0; arm < 2; arm++) {
    vyre_builder_at_end(&g->b, vyre_region_of(g->m, control, arm));
    if (is_else == (arm == 1))
      fill_region(g, &n, depth);
    else if (below(g, 2))
      mark_path(g, n.path_of_lane, 7);
  }
  vyre_builder_leave(&g->b, control);
}

static uint32_t
random_trips(generator *g, nest *n)
{
  const uint32_t trips = n->trips < MOST_TRIPS && below(g, 2) ? 2 : 1;
  n->trips *= trips;
  n->in_loop = true;
  return trips;
}

static void
deep_for(generator *g, nest n, uint32_t depth)
{
  const uint32_t trips = random_trips(g, &n);
  const vyre_row end = below(g, 2) ? u32(g, trips) : vyre_build_load(&g->b, vyre_build_at_literal(&g->b, g->in, trips), 0);
  const vyre_row control = vyre_build_for(&g->b, u32(g, 0), end, u32(g, 1));
  vyre_builder_at_end(&g->b, vyre_region_of(g->m, control, 0));
  const vyre_row sum =
      vyre_build_binary(&g->b, VYRE_OP_add, vyre_build_get(&g->b, n.path_of_lane), vyre_region_of(g->m, control, 0));
  vyre_build_set(&g->b, n.path_of_lane, sum);
  fill_region(g, &n, depth);
  vyre_builder_leave(&g->b, control);
}

/* The nest is in the body, or in the continuing region, which no jump may leave. */
static void
deep_loop(generator *g, nest n, uint32_t depth)
{
  const vyre_row counter = vyre_build_var(&g->b, U32);
  const uint32_t trips = random_trips(g, &n);
  const bool in_continuing = below(g, 5) == 0, was_in_continuing = g->in_continuing;
  vyre_build_set(&g->b, counter, u32(g, 0));
  const vyre_row control = vyre_build_loop(&g->b);
  vyre_builder_at_end(&g->b, vyre_region_of(g->m, control, 0));
  if (in_continuing)
    add_unlikely_jump(g, &n);
  else
    fill_region(g, &n, depth);
  vyre_builder_at_end(&g->b, vyre_region_of(g->m, control, 1));
  if (in_continuing) {
    n.in_loop = false;
    n.block_count = 0;
    g->in_continuing = true;
    fill_region(g, &n, depth);
    g->in_continuing = was_in_continuing;
  }
  const vyre_row next = vyre_build_imm(&g->b, VYRE_OP_add, vyre_build_get(&g->b, counter), 1);
  vyre_build_set(&g->b, counter, next);
  vyre_build_jump(&g->b, VYRE_OP_breakif, vyre_build_imm(&g->b, VYRE_OP_uge, next, trips));
  vyre_builder_leave(&g->b, control);
}

static void
deep_switch(generator *g, nest n, uint32_t depth)
{
  const uint32_t k = below(g, 8), first = below(g, 2);
  const vyre_row selector = vyre_build_load(&g->b, vyre_build_at_literal(&g->b, g->in, k), 0);
  const vyre_row control = vyre_build_switch(&g->b, selector);
  vyre_row cases[2];
  for (uint32_t i = 0; i < 2; i++)
    cases[i] = vyre_build_case(&g->b, control, u32(g, k + i), i == 1 && below(g, 2));
  n.blocks[n.block_count++] = control;
  for (uint32_t i = 0; i < 2; i++) {
    vyre_builder_at_end(&g->b, cases[i]);
    if (i == first)
      fill_region(g, &n, depth);
    else
      mark_path(g, n.path_of_lane, 11);
    if (i == 0 && (first == 1 || below(g, 3) == 0)) /* the selector is the first case's label */
      vyre_build_jump(&g->b, VYRE_OP_fallthrough, VYRE_NONE);
  }
  vyre_builder_leave(&g->b, control);
}

static void
deep_block(generator *g, nest n, uint32_t depth)
{
  const vyre_row control = vyre_build_block(&g->b);
  vyre_builder_at_end(&g->b, vyre_region_of(g->m, control, 0));
  n.blocks[n.block_count++] = control;
  fill_region(g, &n, depth);
  vyre_builder_leave(&g->b, control);
}

/* Builds the construct of this depth, with all constructs in it. */
static void
build_level(generator *g, nest n, uint32_t depth)
{
  static void (*const constructs[])(generator *, nest, uint32_t) = {deep_if, deep_if, deep_for, deep_loop, deep_switch, deep_block};
  if (depth < RANDOM_DEPTH) {
    constructs[below(g, sizeof constructs / sizeof constructs[0])](g, n, depth);
    return;
  }
  statements(g, 2);
  store_out(g, value(g, U32));
}

void
deep_nest(generator *g)
{
  const bool in_loop = g->in_loop;
  const vyre_row block = g->block;
  const nest n = {.trips = 1, .path_of_lane = vyre_build_var(&g->b, U32)};
  g->in_loop = false;
  g->block = VYRE_NONE;
  g->depth += RANDOM_DEPTH; /* statements in the nest have no control */
  build_level(g, n, 0);
  g->depth -= RANDOM_DEPTH;
  g->in_loop = in_loop;
  g->block = block;
  store_out(g, vyre_build_get(&g->b, n.path_of_lane));
}
