/* Random programs: expressions over all foldable ops and lanes, subgroups, variables, memory, control.
 *
 * Values are chosen from what is visible at the place: a pool of rows with a mark for each open region.  Constants are often edge
 * values, and operands often constants, so that there is something to fold; conditions are now and then constants too.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "random_program.h"

#include "internal.h"

/* ---- memory -------------------------------------------------------------------------------------------------------------- */

static vyre_row
element(generator *g, vyre_row buffer, vyre_row index)
{
  return vyre_build_at(&g->b, buffer, index);
}

/* Of the array that is the invocation's own: a literal place, one of a few that are near each other, or any, often out of bounds.
 */
static vyre_row
own_element(generator *g)
{
  const uint32_t how = below(g, 4);
  if (how < 2)
    return vyre_build_at_literal(&g->b, g->private_array, below(g, 5));
  if (how == 2)
    return element(g, g->private_array,
                   vyre_build_imm(&g->b, VYRE_OP_add, vyre_build_imm(&g->b, VYRE_OP_and, value(g, U32), 3), below(g, 2)));
  return element(g, g->private_array, value(g, U32));
}

/* As u32, for the buffers. */
static vyre_row
word_of(generator *g, vyre_row from)
{
  vyre_type type = type_of(g, from);
  if (VYRE_TYPE_LANES(type) > 1)
    from = vyre_build_lane(&g->b, from, below(g, VYRE_TYPE_LANES(type)));
  if (VYRE_TYPE_KIND(type) == VYRE_U32)
    return from;
  if (VYRE_TYPE_KIND(type) == VYRE_BOOL)
    return vyre_build_select(&g->b, from, vyre_build_const(&g->b, U32, 17), vyre_build_const(&g->b, U32, 4));
  return vyre_build_convert(&g->b, VYRE_OP_bitcast, U32, from);
}

void
store_out(generator *g, vyre_row from)
{
  vyre_row index = vyre_build_imm(&g->b, VYRE_OP_add, g->base, g->stored++ % RANDOM_WORDS);
  vyre_row word = word_of(g, from);
  vyre_build_store(&g->b, element(g, g->out, index), word, 0);
}

/* A copy, and its wait: nothing in between looks at memory. */
static void
async(generator *g)
{
  vyre_row to = own_element(g);
  vyre_row from = element(g, below(g, 2) ? g->in : g->private_array, value(g, U32));
  row(g, VYRE_OP_async_copy, 0, 0, to, from, VYRE_NONE);
  keep(g, subgroup_expression(g));
  if (below(g, 2))
    row(g, VYRE_OP_async_wait, 0, 1, VYRE_NONE, VYRE_NONE, VYRE_NONE);
  row(g, VYRE_OP_async_wait, 0, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
}

/* On a word of its own. */
static vyre_row
atomic(generator *g)
{
  static const vyre_opcode words[] = {VYRE_OP_atomic_load, VYRE_OP_atomic_exchange, VYRE_OP_atomic_compare_exchange,
                                      VYRE_OP_atomic_add,  VYRE_OP_atomic_sub,      VYRE_OP_atomic_umin,
                                      VYRE_OP_atomic_smax, VYRE_OP_atomic_and,      VYRE_OP_atomic_xor};
  static const vyre_opcode floats[] = {VYRE_OP_atomic_load, VYRE_OP_atomic_exchange, VYRE_OP_atomic_fadd, VYRE_OP_atomic_fmin,
                                       VYRE_OP_atomic_fmax};
  const bool is_float = below(g, 3) == 0;
  const vyre_type type = is_float ? VYRE_TYPE(VYRE_F32, 1) : U32;
  const vyre_opcode op = is_float ? floats[below(g, 5)] : words[below(g, 9)];
  const uint32_t operands = vyre_op_infos[op].operands;
  const vyre_row own = row(g, VYRE_OP_lindex, U32, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
  const vyre_row path = element(g, is_float ? g->workgroup_floats : g->workgroup_array, own);
  const vyre_row b = operands > 1 ? value(g, type) : VYRE_NONE, c = operands > 2 ? value(g, type) : VYRE_NONE;
  return row(g, op, type, VYRE_ORDER(0, 2, below(g, 4) ? 0 : 0x108), path, b, c);
}

static void
memory(generator *g)
{
  vyre_row lane;
  switch (below(g, 11)) {
  case 9:
    keep(g, vyre_build_load(&g->b, own_element(g), 0));
    break;
  case 10:
    vyre_build_store(&g->b, own_element(g), word_of(g, value(g, random_type(g))), 0);
    break;
  case 0:
    keep(g, vyre_build_load(&g->b, element(g, g->in, value(g, U32)), 0)); /* often out of bounds */
    break;
  case 5:
    async(g);
    break;
  case 1:
    lane = vyre_build_imm(&g->b, VYRE_OP_and, value(g, U32), RANDOM_WORDS - 1);
    lane = vyre_build_binary(&g->b, VYRE_OP_add, g->base, lane);
    keep(g, vyre_build_load(&g->b, element(g, g->out, lane), 0));
    break;
  case 2:
    keep(g, vyre_build_load(&g->b, own_element(g), 0));
    break;
  case 3:
    lane = word_of(g, value(g, random_type(g)));
    vyre_build_store(&g->b, own_element(g), lane, 0);
    break;
  case 6:
    keep(g, atomic(g));
    break;
  case 4: /* nobody else reads it */
    lane = row(g, VYRE_OP_lindex, U32, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
    vyre_build_store(&g->b, element(g, g->workgroup_array, lane), word_of(g, value(g, random_type(g))), 0);
    break;
  default:
    store_out(g, value(g, random_type(g)));
    break;
  }
}

static void
variable(generator *g)
{
  vyre_row var = g->vars[below(g, MAX_VARS)];
  if (below(g, 2))
    keep(g, vyre_build_get(&g->b, var));
  else
    vyre_build_set(&g->b, var, value(g, type_of(g, var)));
}

/* ---- control
 * ---------------------------------------------------------------------------------------------------------------------------------
 */

static void statements(generator *g, uint32_t count);

/* What is inside is not seen outside. */
static void
inside(generator *g, vyre_row region, uint32_t count)
{
  uint32_t mark = g->count;
  vyre_builder_at_end(&g->b, region);
  statements(g, count);
  g->count = mark;
}

/* A jump as the region's last row, where one is allowed. */
static void
maybe_jump(generator *g)
{
  switch (below(g, 8)) {
  case 0:
    if (g->in_loop)
      vyre_build_jump(&g->b, below(g, 2) ? VYRE_OP_break : VYRE_OP_continue, VYRE_NONE);
    break;
  case 1:
    if (!g->in_continuing && below(g, 3) == 0)
      vyre_build_jump(&g->b, VYRE_OP_return, VYRE_NONE);
    break;
  case 2:
    if (g->block.id)
      vyre_build_jump(&g->b, VYRE_OP_leave, g->block);
    break;
  default:
    break;
  }
}

/* Often one that is true for some lanes alone. */
static vyre_row
condition(generator *g)
{
  if (below(g, 3))
    return value(g, VYRE_TYPE(VYRE_BOOL, 1));
  return vyre_build_imm(&g->b, below(g, 2) ? VYRE_OP_ult : VYRE_OP_eq,
                        row(g, VYRE_OP_lindex, U32, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE), 1 + below(g, 3));
}

/* By the row's number: what else is drawn stays as it was. */
static void
hint(generator *g, vyre_row control, bool is_loop)
{
  static const uint32_t literals[3] = {3, 2, 4};
  const uint32_t selections[4] = {0, VYRE_HINT_FLATTEN, VYRE_HINT_DONT_FLATTEN, 0};
  const uint32_t loops[4] = {VYRE_HINT_UNROLL, VYRE_HINT_DONT_UNROLL, 0, VYRE_HINT_PEEL_COUNT | VYRE_HINT_PARTIAL_COUNT};
  vyre_row_set_hints(g->m, control, (is_loop ? loops : selections)[control.id % 4], literals);
}

static void
build_if(generator *g)
{
  vyre_row control = vyre_build_if(&g->b, condition(g));
  hint(g, control, false);
  inside(g, vyre_region_of(g->m, control, 0), 1 + below(g, 4));
  maybe_jump(g);
  if (below(g, 2)) {
    inside(g, vyre_region_of(g->m, control, 1), 1 + below(g, 3));
    maybe_jump(g);
  }
  vyre_builder_leave(&g->b, control);
}

/* The same subgroup row in front of a jump that some lanes take, or of what they come back from, and behind it. */
static void
build_watched(generator *g)
{
  vyre_row first = keep(g, subgroup_expression(g)), again;
  if (below(g, 3)) {
    vyre_row control = vyre_build_if(&g->b, condition(g));
    vyre_builder_at_end(&g->b, vyre_region_of(g->m, control, 0));
    if (g->in_loop && below(g, 2))
      vyre_build_jump(&g->b, below(g, 2) ? VYRE_OP_break : VYRE_OP_continue, VYRE_NONE);
    else if (g->block.id)
      vyre_build_jump(&g->b, VYRE_OP_leave, g->block);
    else
      maybe_jump(g);
    vyre_builder_leave(&g->b, control);
  } else {
    build_if(g);
  }
  again = copy_of(g, first.id);
  store_out(g, again);
}

/* Any value of an integer type. */
static vyre_row
bound_of(generator *g, vyre_type type)
{
  vyre_kind kind = VYRE_TYPE_KIND(type);
  if (kind == VYRE_I32 || kind == VYRE_U32)
    return value(g, type);
  return vyre_build_convert(&g->b, VYRE_OP_convert, type, value(g, vyre_kind_is_signed(kind) ? VYRE_TYPE(VYRE_I32, 1) : U32));
}

/* The index of a `for`, as 32 bits. */
static vyre_row
counter_of(generator *g, vyre_row control)
{
  vyre_row index = vyre_region_of(g->m, control, 0);
  vyre_kind kind = VYRE_TYPE_KIND(type_of(g, index));
  return kind == VYRE_I32 || kind == VYRE_U32 ? index : vyre_build_convert(&g->b, VYRE_OP_convert, U32, index);
}

static void
build_for(generator *g)
{
  vyre_type type = VYRE_TYPE(VYRE_I8 + below(g, 8), 1); /* any integer */
  vyre_row zero = vyre_build_const(&g->b, type, 0), one = vyre_build_const(&g->b, type, 1 + below(g, 2));
  vyre_row limit =
      below(g, 2) ? vyre_build_const(&g->b, type, below(g, 5)) : vyre_build_imm(&g->b, VYRE_OP_and, bound_of(g, type), 3);
  vyre_row control, saved = g->block;
  bool in_loop = g->in_loop;
  uint32_t mark;
  control = vyre_build_for(&g->b, zero, limit, one);
  hint(g, control, true);
  mark = g->count;
  keep(g, counter_of(g, control));
  g->in_loop = true;
  inside(g, vyre_region_of(g->m, control, 0), 1 + below(g, 5));
  maybe_jump(g);
  g->in_loop = in_loop;
  g->block = saved;
  g->count = mark;
  vyre_builder_leave(&g->b, control);
}

/* Counts in a variable of its own, so that it ends. */
static void
build_loop(generator *g)
{
  vyre_row counter = vyre_build_var(&g->b, U32), control, next, done;
  bool in_loop = g->in_loop, in_continuing = g->in_continuing;
  vyre_row block = g->block;
  vyre_build_set(&g->b, counter, vyre_build_const(&g->b, U32, 0));
  control = vyre_build_loop(&g->b);
  hint(g, control, true);
  g->in_loop = true;
  inside(g, vyre_region_of(g->m, control, 0), 1 + below(g, 5));
  maybe_jump(g);
  g->in_loop = false;
  g->in_continuing = true;
  g->block = VYRE_NONE;
  inside(g, vyre_region_of(g->m, control, 1), below(g, 3));
  next = vyre_build_imm(&g->b, VYRE_OP_add, vyre_build_get(&g->b, counter), 1);
  vyre_build_set(&g->b, counter, next);
  done = vyre_build_imm(&g->b, VYRE_OP_uge, next, 1 + below(g, 4));
  vyre_build_jump(&g->b, VYRE_OP_breakif, done);
  g->in_loop = in_loop;
  g->in_continuing = in_continuing;
  g->block = block;
  vyre_builder_leave(&g->b, control);
}

static void
build_switch(generator *g)
{
  vyre_row selector = vyre_build_imm(&g->b, VYRE_OP_and, value(g, U32), 3), labels[4], tuple, control, cases[3], block = g->block;
  uint32_t n = 1 + below(g, 3);
  for (uint32_t i = 0; i < 4; i++)
    labels[i] = vyre_build_const(&g->b, U32, i);
  tuple = vyre_build_tuple(&g->b, labels + 2, 2);
  control = vyre_build_switch(&g->b, selector);
  hint(g, control, false);
  for (uint32_t i = 0; i < n; i++)
    cases[i] = vyre_build_case(&g->b, control, i == 2 ? tuple : labels[i], i == 1 && below(g, 2));
  g->block = control;
  for (uint32_t i = 0; i < n; i++) {
    inside(g, cases[i], 1 + below(g, 3));
    if (i + 1 < n && below(g, 3) == 0)
      vyre_build_jump(&g->b, VYRE_OP_fallthrough, VYRE_NONE);
    else
      maybe_jump(g);
  }
  g->block = block;
  vyre_builder_leave(&g->b, control);
}

static void
build_block(generator *g)
{
  vyre_row control = vyre_build_block(&g->b), block = g->block;
  g->block = control;
  inside(g, vyre_region_of(g->m, control, 0), 1 + below(g, 4));
  maybe_jump(g);
  g->block = block;
  vyre_builder_leave(&g->b, control);
}

static void
control(generator *g)
{
  g->depth++;
  switch (below(g, 8)) {
  case 0:
    build_for(g);
    break;
  case 4:
  case 5:
    build_watched(g);
    break;
  case 1:
    build_loop(g);
    break;
  case 2:
    build_switch(g);
    break;
  case 3:
    build_block(g);
    break;
  default:
    build_if(g);
    break;
  }
  g->depth--;
}

static void
statements(generator *g, uint32_t count)
{
  for (uint32_t i = 0; i < count && g->budget; i++) {
    uint32_t what = below(g, 20);
    g->budget--;
    if (what < 2 && g->depth < 4)
      control(g);
    else if (what < 6)
      variable(g);
    else if (what < 9)
      memory(g);
    else
      expression(g);
  }
}

void
random_program_build(vyre_module *module, uint64_t seed, uint32_t flags)
{
  const uint32_t budget = seed % 3 ? 120 : 24; /* in a short one perhaps nothing undefined runs */
  generator g = {.random = seed * 2654435761u + 12345u, .m = module, .v = vyre_module_view(module), .budget = budget};
  vyre_type_id words = vyre_type_runtime_array(module, U32, 0);
  vyre_row gid, one, four;
  vyre_build_program(module, "random", flags & RANDOM_RELAXED ? VYRE_PROGRAM_RELAXED : 0, vyre_module_add_input(module, "random"),
                     &g.b);
  if (below(&g, 16) == 0) {
    uint32_t *mode = (uint32_t *)g.v->imm + g.b.program;
    *mode |= 2u << below(&g, 6); /* one of VYRE_PROGRAM_FLOAT_MODES */
  }
  four = vyre_build_const(&g.b, U32, 4);
  one = vyre_build_const(&g.b, U32, 1);
  vyre_build_workgroup(&g.b, four, one, one);
  g.out = vyre_build_buffer(&g.b, words, VYRE_SPACE_STORAGE, 0, 0, 0);
  g.in = vyre_build_buffer(&g.b, words, VYRE_SPACE_STORAGE, VYRE_ACCESS_NO_WRITE, 0, 1);
  g.private_array = vyre_build_buffer(&g.b, vyre_type_array(module, U32, 5, VYRE_NONE, 0), VYRE_SPACE_PRIVATE, 0, 0, 0);
  g.workgroup_array = vyre_build_buffer(&g.b, vyre_type_array(module, U32, 4, VYRE_NONE, 0), VYRE_SPACE_WORKGROUP, 0, 0, 0);
  g.workgroup_floats =
      vyre_build_buffer(&g.b, vyre_type_array(module, VYRE_TYPE(VYRE_F32, 1), 4, VYRE_NONE, 0), VYRE_SPACE_WORKGROUP, 0, 0, 0);
  for (uint32_t i = 0; i < MAX_VARS; i++)
    g.vars[i] = vyre_build_var(&g.b, random_type(&g));
  keep(&g, vyre_build_spec(&g.b, U32, below(&g, 100), 1));
  gid = row(&g, VYRE_OP_gid, VYRE_TYPE(VYRE_U32, 3), 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
  keep(&g, vyre_build_lane(&g.b, gid, 0));
  g.base = vyre_build_imm(&g.b, VYRE_OP_mul, g.pool[g.count - 1], RANDOM_WORDS);
  keep(&g, vyre_build_load(&g.b, element(&g, g.in, g.pool[g.count - 1]), 0));
  while (g.budget)
    statements(&g, g.budget);
  for (uint32_t i = 0; i < MAX_VARS; i++)
    store_out(&g, vyre_build_get(&g.b, g.vars[i]));
}
