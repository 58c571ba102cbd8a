/* Random control with many jumps: regions of a few constructs, most of which end with a leave, break, continue or return.
 *
 * Inlined functions with several returns have this shape.  Lanes take different paths, so that a lost row of any path is found.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

enum { MOST_DEPTH = 5, MOST_ITEMS = 3 };

typedef struct jumps {
  vyre_row targets[MOST_DEPTH + 2]; /* the enclosing blocks and switches, which a leave may name */
  uint32_t target_count;
  bool in_loop;
  bool may_return; /* no barrier follows */
  bool only_ifs;   /* no construct but ifs, so that dbe can remove all leaves */
  vyre_row path;   /* a variable: a hash of the constructs that the lane executed */
  vyre_row lane;   /* a number below 8, loaded from memory, so that passes cannot fold it */
} jumps;

/* Returns a condition that differs between lanes, or a variable, or a literal. */
static vyre_row
any_condition(generator *g, const jumps *j)
{
  switch (below(g, 8)) {
  case 0:
    return vyre_build_const(&g->b, BOOL, below(g, 2));
  case 1:
    return value(g, BOOL);
  case 2:
    return vyre_build_imm(&g->b, VYRE_OP_eq, vyre_build_imm(&g->b, VYRE_OP_and, vyre_build_get(&g->b, j->path), 3), below(g, 4));
  case 3:
    return vyre_build_imm(&g->b, VYRE_OP_eq, j->lane, below(g, 8));
  default:
    return vyre_build_imm(&g->b, below(g, 2) ? VYRE_OP_ult : VYRE_OP_uge, j->lane, 1 + below(g, 7));
  }
}

/* Adds a step to the path, and sometimes stores the path, which is then visible even if the lane returns. */
static void
take_step(generator *g, const jumps *j)
{
  mark_path(g, j->path, 1 + below(g, 100));
  if (below(g, 2))
    store_out(g, vyre_build_get(&g->b, j->path));
}

static void fill_region(generator *g, jumps j, uint32_t depth);

static void
jumpy_if(generator *g, const jumps *j, uint32_t depth)
{
  const vyre_row control = begin_if(g, any_condition(g, j));
  const uint32_t arms = 1 + below(g, 3); /* bits */
  if (arms & 1)
    fill_region(g, *j, depth);
  begin_else(g, control);
  if (arms & 2)
    fill_region(g, *j, depth);
  vyre_builder_leave(&g->b, control);
}

static void
jumpy_block(generator *g, jumps j, uint32_t depth)
{
  const vyre_row control = vyre_build_block(&g->b);
  vyre_builder_at_end(&g->b, vyre_region_of(g->m, control, 0));
  j.targets[j.target_count++] = control;
  fill_region(g, j, depth);
  vyre_builder_leave(&g->b, control);
}

/* Builds a loop of at most three iterations, which counts at its start. */
static void
jumpy_loop(generator *g, jumps j, uint32_t depth)
{
  const vyre_row counter = vyre_build_var(&g->b, U32);
  vyre_build_set(&g->b, counter, u32(g, 0));
  const vyre_row control = vyre_build_loop(&g->b);
  vyre_builder_at_end(&g->b, vyre_region_of(g->m, control, 0));
  const vyre_row next = vyre_build_imm(&g->b, VYRE_OP_add, vyre_build_get(&g->b, counter), 1);
  vyre_build_set(&g->b, counter, next);
  const vyre_row test = begin_if(g, vyre_build_imm(&g->b, VYRE_OP_ugt, next, 1 + below(g, 3)));
  vyre_build_jump(&g->b, VYRE_OP_break, VYRE_NONE);
  vyre_builder_leave(&g->b, test);
  j.in_loop = true;
  fill_region(g, j, depth);
  vyre_builder_at_end(&g->b, vyre_region_of(g->m, control, 1));
  if (below(g, 3) == 0)
    take_step(g, &j);
  if (below(g, 3) == 0)
    vyre_build_jump(&g->b, VYRE_OP_breakif, any_condition(g, &j));
  vyre_builder_leave(&g->b, control);
}

static void
jumpy_switch(generator *g, jumps j, uint32_t depth)
{
  const uint32_t first = below(g, 6);
  const vyre_row control = vyre_build_switch(&g->b, j.lane);
  vyre_row cases[2];
  for (uint32_t i = 0; i < 2; i++)
    cases[i] = vyre_build_case(&g->b, control, u32(g, first + i), i == 1 && below(g, 2));
  j.targets[j.target_count++] = control;
  for (uint32_t i = 0; i < 2; i++) {
    vyre_builder_at_end(&g->b, cases[i]);
    fill_region(g, j, depth);
  }
  vyre_builder_leave(&g->b, control);
}

/* Ends the region with a jump.  The rows that follow its construct are then reached on other paths, or not at all. */
static void
jump_away(generator *g, const jumps *j)
{
  const uint32_t what = below(g, 6);
  if (what < 2 && j->may_return)
    vyre_build_jump(&g->b, VYRE_OP_return, VYRE_NONE);
  else if (what < 4 && j->in_loop)
    vyre_build_jump(&g->b, what == 2 ? VYRE_OP_continue : VYRE_OP_break, VYRE_NONE);
  else if (j->target_count)
    vyre_build_jump(&g->b, VYRE_OP_leave, j->targets[below(g, j->target_count)]);
}

/* Fills the region at the position.  Values of the region are not visible outside. */
static void
fill_region(generator *g, jumps j, uint32_t depth)
{
  const uint32_t mark = g->count, items = 1 + below(g, MOST_ITEMS);
  for (uint32_t i = 0; i < items && g->budget; i++) {
    const uint32_t what = depth < MOST_DEPTH ? below(g, j.only_ifs ? 6 : 9) : 0;
    g->budget--;
    if (what < 2)
      take_step(g, &j);
    else if (what < 3)
      vyre_build_set(&g->b, g->vars[0], made_of(g, type_of(g, g->vars[0]), j.lane));
    else if (what < 6)
      jumpy_if(g, &j, depth + 1);
    else if (what < 7)
      jumpy_block(g, j, depth + 1);
    else if (what < 8)
      jumpy_loop(g, j, depth + 1);
    else
      jumpy_switch(g, j, depth + 1);
  }
  if (depth > 0 && below(g, 3))
    jump_away(g, &j);
  g->count = mark;
}

/* Builds two blocks, as of a function that is inlined into another, whose leaves are all in ifs. */
static void
nest_blocks(generator *g, jumps j)
{
  vyre_row outer, inner;
  j.targets[j.target_count++] = outer = vyre_build_block(&g->b);
  vyre_builder_at_end(&g->b, vyre_region_of(g->m, outer, 0));
  j.targets[j.target_count++] = inner = vyre_build_block(&g->b);
  vyre_builder_at_end(&g->b, vyre_region_of(g->m, inner, 0));
  fill_region(g, j, 0);
  vyre_builder_leave(&g->b, inner);
  take_step(g, &j);
  vyre_builder_leave(&g->b, outer);
}

void
jump_around(generator *g, bool may_return)
{
  const vyre_row index = row(g, VYRE_OP_lindex, U32, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
  const vyre_row seven = vyre_build_imm(&g->b, VYRE_OP_and, vyre_build_imm(&g->b, VYRE_OP_add, index, below(g, 8)), 7);
  jumps j = {.may_return = may_return, .only_ifs = below(g, 2), .path = vyre_build_var(&g->b, U32)};
  j.lane = vyre_build_load(&g->b, vyre_build_at(&g->b, g->in, seven), 0); /* the first words of `in` are their own indices */
  if (j.only_ifs)
    nest_blocks(g, j);
  else
    fill_region(g, j, 0);
  store_out(g, vyre_build_get(&g->b, j.path));
}
