/* Generates the program that the benchmarks of the IR table and of passes measure.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

#include <string.h>

#define U32 VYRE_TYPE(VYRE_U32, 1)
#define F32 VYRE_TYPE(VYRE_F32, 1)

enum { RECENT = 8 };

typedef struct grower {
  vyre_builder b;
  vyre_row in, out, var, index;
  vyre_row recent[BENCH_DEEPEST + 1][RECENT]; /* floats in scope, by nesting depth */
  vyre_row controls[BENCH_DEEPEST + 1];
  uint32_t depth, seed;
} grower;

static uint32_t
next_random(grower *g, uint32_t below)
{
  g->seed = g->seed * 1664525u + 1013904223u;
  return (g->seed >> 8) % below;
}

static vyre_row
any_value(grower *g)
{
  return g->recent[g->depth][next_random(g, RECENT)];
}

static void
open_control(grower *g)
{
  memcpy(g->recent[g->depth + 1], g->recent[g->depth], sizeof(g->recent[0]));
  if (next_random(g, 3)) {
    vyre_row test = vyre_build_binary(&g->b, VYRE_OP_flt, any_value(g), any_value(g));
    g->controls[g->depth] = vyre_build_if(&g->b, test);
  } else {
    vyre_row from = vyre_build_const(&g->b, U32, 0), to = vyre_build_const(&g->b, U32, 4), step = vyre_build_const(&g->b, U32, 1);
    g->controls[g->depth] = vyre_build_for(&g->b, from, to, step);
  }
  g->depth++;
}

static vyre_row
grow_value(grower *g)
{
  static const vyre_opcode ops[] = {VYRE_OP_add, VYRE_OP_sub, VYRE_OP_mul, VYRE_OP_fdiv, VYRE_OP_nmin, VYRE_OP_add, VYRE_OP_mul};
  vyre_row x = any_value(g), y = any_value(g);
  switch (next_random(g, 16)) {
  case 0:
    return vyre_build_load(&g->b, vyre_build_at(&g->b, g->in, g->index), 0);
  case 1:
    return vyre_build_get(&g->b, g->var);
  case 2:
    return vyre_build_select(&g->b, vyre_build_binary(&g->b, VYRE_OP_flt, x, y), x, y);
  case 3:
    return vyre_build(&g->b, VYRE_OP_fma, F32, 0, 0, 0, x, y, any_value(g));
  case 4: /* an operation on constants, which can be folded */
    x = vyre_build_const(&g->b, F32, 0x3f800000u + next_random(g, 4096));
    return vyre_build_imm(&g->b, ops[next_random(g, 3)], x, 0x40000000u);
  case 5:
  case 6:
    return vyre_build_imm(&g->b, ops[next_random(g, 3)], x, 0x3f800000u + next_random(g, 256));
  default:
    return vyre_build_binary(&g->b, ops[next_random(g, 7)], x, y);
  }
}

void
bench_grow(vyre_module *module, uint32_t rows, uint32_t deepest)
{
  grower g = {.seed = vyre_module_view(module)->rows};
  vyre_row program = vyre_build_program(module, "bench", 0, vyre_module_add_input(module, "bench"), &g.b);
  vyre_row one = vyre_build_const(&g.b, U32, 1);
  vyre_build_workgroup(&g.b, vyre_build_spec(&g.b, U32, 1, BENCH_WIDTH_ID), one, one);
  vyre_type_id floats = vyre_type_runtime_array(module, F32, 0);
  g.in = vyre_build_buffer(&g.b, floats, VYRE_SPACE_STORAGE, VYRE_ACCESS_NO_WRITE, 0, 0);
  g.out = vyre_build_buffer(&g.b, floats, VYRE_SPACE_STORAGE, 0, 0, 1);
  g.var = vyre_build_var(&g.b, F32);
  vyre_row gid = vyre_build(&g.b, VYRE_OP_gid, VYRE_TYPE(VYRE_U32, 3), 0, 0, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
  g.index = vyre_build_lane(&g.b, gid, 0);
  for (uint32_t i = 0; i < RECENT; i++)
    g.recent[0][i] = vyre_build_load(&g.b, vyre_build_at(&g.b, g.in, g.index), 0);
  const vyre_view *view = vyre_module_view(module);
  const uint32_t end = program.id + rows - 1;
  while (view->rows < end) {
    uint32_t choice = next_random(&g, 64);
    if (choice == 0 && g.depth < deepest)
      open_control(&g);
    else if (choice == 1 && g.depth)
      vyre_builder_leave(&g.b, g.controls[--g.depth]);
    else if (choice < 4)
      vyre_build_store(&g.b, vyre_build_at(&g.b, g.out, g.index), any_value(&g), 0);
    else if (choice < 6)
      vyre_build_set(&g.b, g.var, any_value(&g));
    else
      g.recent[g.depth][next_random(&g, RECENT)] = grow_value(&g);
  }
  vyre_builder_at_end(&g.b, program);
}
