/* Random programs: variables and control around random values and memory.
 *
 * Values are chosen from a pool of visible rows, with a mark for each open region.  Constants are often edge values, and operands
 * and conditions often constants, so that passes can fold.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "random_program.h"

#include "internal.h"

static void
access_variable(generator *g)
{
  vyre_row var = g->vars[below(g, MAX_VARS)];
  if (below(g, 2))
    keep(g, vyre_build_get(&g->b, var));
  else
    vyre_build_set(&g->b, var, value(g, type_of(g, var)));
}

/* ---- control ------------------------------------------------------------------------------------------------------------ */

/* Fills a region with statements.  Values of the region are not visible outside. */
static void
fill_region(generator *g, vyre_row region, uint32_t count)
{
  uint32_t mark = g->count;
  vyre_builder_at_end(&g->b, region);
  statements(g, count);
  g->count = mark;
}

/* Adds a jump as the last row of the region, if one is allowed. */
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

/* Returns a condition, which is often true only for some lanes. */
static vyre_row
condition(generator *g)
{
  if (below(g, 3))
    return value(g, VYRE_TYPE(VYRE_BOOL, 1));
  return vyre_build_imm(&g->b, below(g, 2) ? VYRE_OP_ult : VYRE_OP_eq,
                        row(g, VYRE_OP_lindex, U32, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE), 1 + below(g, 3));
}

/* Sets hints by the row's number, so that other random choices stay the same. */
static void
set_hint(generator *g, vyre_row control, bool is_loop)
{
  static const uint32_t literals[3] = {3, 2, 4};
  const uint32_t selections[4] = {0, VYRE_HINT_FLATTEN, VYRE_HINT_DONT_FLATTEN, 0};
  const uint32_t loops[4] = {VYRE_HINT_UNROLL, VYRE_HINT_DONT_UNROLL, 0, VYRE_HINT_PEEL_COUNT | VYRE_HINT_PARTIAL_COUNT};
  vyre_row_set_hints(g->m, control, (is_loop ? loops : selections)[control.id % 4], literals);
}

/* Builds an if.  Sometimes both arms have the same rows, or the same except for one value. */
static void
build_if(generator *g)
{
  vyre_row control = vyre_build_if(&g->b, condition(g));
  const uint64_t random = g->random;
  const uint32_t stored = g->stored, budget = g->budget;
  set_hint(g, control, false);
  fill_region(g, vyre_region_of(g->m, control, 0), 1 + below(g, 4));
  maybe_jump(g);
  if (below(g, 4) == 0) {
    const uint32_t other = below(g, 2) ? 1 + below(g, 8) : 0;
    g->random = random;
    g->stored = stored;
    g->budget = budget;
    g->twist = other;
    fill_region(g, vyre_region_of(g->m, control, 1), 1 + below(g, 4));
    g->twist = 0;
    maybe_jump(g);
  } else if (below(g, 2)) {
    fill_region(g, vyre_region_of(g->m, control, 1), 1 + below(g, 3));
    maybe_jump(g);
  }
  vyre_builder_leave(&g->b, control);
}

/* Adds the same subgroup row before and after a jump of some lanes, or before and after an if where lanes reconverge. */
static void
build_watched(generator *g)
{
  vyre_row first = keep(g, subgroup_expression(g)), again;
  if (below(g, 3)) {
    vyre_row control = vyre_build_if(&g->b, condition(g)), inner = VYRE_NONE;
    vyre_builder_at_end(&g->b, vyre_region_of(g->m, control, 0));
    if (below(g, 2)) {
      inner = vyre_build_if(&g->b, condition(g));
      vyre_builder_at_end(&g->b, vyre_region_of(g->m, inner, 0));
    }
    if (g->in_loop && below(g, 2))
      vyre_build_jump(&g->b, below(g, 2) ? VYRE_OP_break : VYRE_OP_continue, VYRE_NONE);
    else if (g->block.id)
      vyre_build_jump(&g->b, VYRE_OP_leave, g->block);
    else
      maybe_jump(g);
    if (inner.id)
      vyre_builder_leave(&g->b, inner);
    vyre_builder_leave(&g->b, control);
  } else {
    build_if(g);
  }
  again = copy_of(g, first.id);
  store_out(g, again);
}

/* Returns a value of an integer type. */
static vyre_row
bound_of(generator *g, vyre_type type)
{
  vyre_kind kind = VYRE_TYPE_KIND(type);
  if (kind == VYRE_I32 || kind == VYRE_U32)
    return value(g, type);
  return vyre_build_convert(&g->b, VYRE_OP_convert, type, value(g, vyre_kind_is_signed(kind) ? VYRE_TYPE(VYRE_I32, 1) : U32));
}

/* Returns the index of a `for`, converted to 32 bits. */
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
  const uint64_t ones = UINT64_MAX >> (64 - vyre_kind_bits(VYRE_TYPE_KIND(type)));
  vyre_row from = vyre_build_const(&g->b, type, below(g, 2) ? 0 : ones - below(g, 2)); /* from -1, or without iterations */
  vyre_row one = vyre_build_const(&g->b, type, 1 + below(g, 2));
  vyre_row limit =
      below(g, 2) ? vyre_build_const(&g->b, type, below(g, 5)) : vyre_build_imm(&g->b, VYRE_OP_and, bound_of(g, type), 3);
  vyre_row control, saved = g->block;
  bool in_loop = g->in_loop;
  uint32_t mark;
  control = vyre_build_for(&g->b, from, limit, one);
  set_hint(g, control, true);
  mark = g->count;
  keep(g, counter_of(g, control));
  g->in_loop = true;
  fill_region(g, vyre_region_of(g->m, control, 0), 1 + below(g, 5));
  maybe_jump(g);
  g->in_loop = in_loop;
  g->block = saved;
  g->count = mark;
  vyre_builder_leave(&g->b, control);
}

/* Builds a loop that ends, because its body counts iterations in a variable. */
static void
build_open_loop(generator *g)
{
  const vyre_row counter = vyre_build_var(&g->b, U32);
  const bool in_loop = g->in_loop;
  vyre_build_set(&g->b, counter, vyre_build_const(&g->b, U32, 0));
  const vyre_row control = vyre_build_loop(&g->b);
  set_hint(g, control, true);
  const vyre_row next = vyre_build_imm(&g->b, VYRE_OP_add, vyre_build_get(&g->b, counter), 1);
  vyre_build_set(&g->b, counter, next);
  const vyre_row leaves = vyre_build_if(&g->b, vyre_build_imm(&g->b, VYRE_OP_uge, next, 1 + below(g, 4)));
  vyre_builder_at_end(&g->b, vyre_region_of(g->m, leaves, 0));
  vyre_build_jump(&g->b, VYRE_OP_break, VYRE_NONE);
  g->in_loop = true;
  fill_region(g, vyre_region_of(g->m, control, 0), 1 + below(g, 5));
  maybe_jump(g);
  g->in_loop = in_loop;
  vyre_builder_leave(&g->b, control);
}

/* Builds a loop that counts iterations in its continuing region. */
static void
build_loop(generator *g)
{
  vyre_row counter = vyre_build_var(&g->b, U32), control, next, done;
  bool in_loop = g->in_loop, in_continuing = g->in_continuing;
  vyre_row block = g->block;
  vyre_build_set(&g->b, counter, vyre_build_const(&g->b, U32, 0));
  control = vyre_build_loop(&g->b);
  set_hint(g, control, true);
  g->in_loop = true;
  fill_region(g, vyre_region_of(g->m, control, 0), 1 + below(g, 5));
  maybe_jump(g);
  g->in_loop = false;
  g->in_continuing = true;
  g->block = VYRE_NONE;
  fill_region(g, vyre_region_of(g->m, control, 1), below(g, 3));
  next = vyre_build_imm(&g->b, VYRE_OP_add, vyre_build_get(&g->b, counter), 1);
  vyre_build_set(&g->b, counter, next);
  done = vyre_build_imm(&g->b, VYRE_OP_uge, next, 1 + below(g, 4));
  vyre_build_jump(&g->b, VYRE_OP_breakif, done);
  g->in_loop = in_loop;
  g->in_continuing = in_continuing;
  g->block = block;
  vyre_builder_leave(&g->b, control);
}

/* Returns a label.  Labels of 64 bits differ in both halves. */
static uint64_t
label_of(vyre_kind kind, uint32_t i)
{
  return vyre_kind_bits(kind) == 64 ? (i & 1) | (uint64_t)(i >> 1) << 32 : i;
}

static void
build_switch(generator *g)
{
  static const vyre_kind kinds[4] = {VYRE_U32, VYRE_U32, VYRE_U64, VYRE_I64};
  vyre_kind kind = g->wide ? kinds[below(g, 4)] : VYRE_U32;
  if (below(g, 4) == 0)
    class_kind(g, VYRE_CLASS_INT, &kind);
  const vyre_type type = VYRE_TYPE(kind, 1);
  vyre_row selector = vyre_build_imm(&g->b, VYRE_OP_and, value(g, type), label_of(kind, 3)), cases[3], labels[4];
  const vyre_row block = g->block;
  const uint32_t n = 1 + below(g, 3);
  for (uint32_t i = 0; i < 4; i++)
    labels[i] = vyre_build_const(&g->b, type, label_of(kind, i));
  labels[2] = vyre_build_tuple(&g->b, labels + 2, 2);
  const vyre_row control = vyre_build_switch(&g->b, selector);
  set_hint(g, control, false);
  for (uint32_t i = 0; i < n; i++)
    cases[i] = vyre_build_case(&g->b, control, labels[i], i == 1 && below(g, 2));
  g->block = control;
  for (uint32_t i = 0; i < n; i++) {
    fill_region(g, cases[i], 1 + below(g, 3));
    if (below(g, 4) == 0)
      store_out(g, selector);
    if (i + 1 < n && below(g, 2))
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
  fill_region(g, vyre_region_of(g->m, control, 0), 1 + below(g, 4));
  maybe_jump(g);
  g->block = block;
  vyre_builder_leave(&g->b, control);
}

/* Adds a trap that is never reached, which no pass can know. */
static void
build_trap(generator *g)
{
  vyre_row control = vyre_build_if(&g->b, vyre_build_imm(&g->b, VYRE_OP_ugt, g->base, 100000));
  vyre_builder_at_end(&g->b, vyre_region_of(g->m, control, 0));
  vyre_build_jump(&g->b, VYRE_OP_trap, VYRE_NONE);
  vyre_builder_leave(&g->b, control);
}

/* Adds a jump out of a loop, block or switch. */
static void
build_any_jump(generator *g)
{
  if (g->block.id && (!g->in_loop || below(g, 2)))
    vyre_build_jump(&g->b, VYRE_OP_leave, g->block);
  else
    vyre_build_jump(&g->b, below(g, 2) ? VYRE_OP_break : VYRE_OP_continue, VYRE_NONE);
}

/* Adds a division by the value, or an access with the value as index. */
static void
build_partial(generator *g, vyre_row right, bool divides)
{
  if (divides)
    keep(g, vyre_build_binary(&g->b, below(g, 2) ? VYRE_OP_udiv : VYRE_OP_umod, value(g, U32), right));
  else
    keep(g, vyre_build_load(&g->b, vyre_build_at(&g->b, g->in, right), 0));
  store_out(g, g->pool[g->count - 1]);
}

/* Adds rows that would be undefined without a condition, a loop, or a jump before them. */
static void
build_guarded(generator *g)
{
  const uint32_t how = below(g, 3), mark = g->count;
  const bool divides = how != 1 && below(g, 4) == 0;
  const vyre_row right = how == 1 ? vyre_build_imm(&g->b, VYRE_OP_and, value(g, U32), 3) : value(g, U32);
  vyre_row control;
  if (how == 1) {
    control = vyre_build_for(&g->b, vyre_build_const(&g->b, U32, 0), right, vyre_build_const(&g->b, U32, 1));
    build_partial(g, vyre_build_imm(&g->b, VYRE_OP_sub, right, 1), false);
    vyre_builder_leave(&g->b, control);
  } else if (how == 2 && (g->in_loop || g->block.id)) {
    control = vyre_build_if(&g->b, divides ? vyre_build_imm(&g->b, VYRE_OP_eq, right, 0)
                                           : vyre_build_imm(&g->b, VYRE_OP_uge, right, RANDOM_IN));
    vyre_builder_at_end(&g->b, vyre_region_of(g->m, control, 0));
    build_any_jump(g);
    vyre_builder_leave(&g->b, control);
    build_partial(g, right, divides);
  } else {
    control = vyre_build_if(&g->b, divides ? vyre_build_imm(&g->b, VYRE_OP_ne, right, 0)
                                           : vyre_build_imm(&g->b, VYRE_OP_ult, right, RANDOM_IN));
    vyre_builder_at_end(&g->b, vyre_region_of(g->m, control, 0));
    build_partial(g, right, divides);
    statements(g, below(g, 2));
    vyre_builder_leave(&g->b, control);
  }
  g->count = mark;
}

static vyre_row
build_short_for(generator *g)
{
  return vyre_build_for(&g->b, vyre_build_const(&g->b, U32, 0), vyre_build_const(&g->b, U32, 2 + below(g, 2)),
                        vyre_build_const(&g->b, U32, 1));
}

/* Adds `if index >= RANDOM_IN { jump }`. */
static void
build_guarding_jump(generator *g, vyre_row index, vyre_opcode jump, vyre_row target)
{
  const vyre_row control = vyre_build_if(&g->b, vyre_build_imm(&g->b, VYRE_OP_uge, index, RANDOM_IN));
  vyre_builder_at_end(&g->b, vyre_region_of(g->m, control, 0));
  vyre_build_jump(&g->b, jump, target);
  vyre_builder_leave(&g->b, control);
}

/* Adds two nested loops with iterations, and an access that runs unless a jump comes first.  The jump leaves the inner loop, both
 * loops, the block around them, or the program. */
static void
build_guarded_nest(generator *g)
{
  const uint32_t how = below(g, 4), mark = g->count;
  const vyre_row index = value(g, U32), block = vyre_build_block(&g->b), outer = build_short_for(g);
  if (how == 0)
    build_guarding_jump(g, index, below(g, 2) ? VYRE_OP_break : VYRE_OP_continue, VYRE_NONE);
  const vyre_row inner = build_short_for(g);
  if (how == 1)
    build_guarding_jump(g, index, VYRE_OP_leave, block);
  else if (how == 2 && !g->in_continuing)
    build_guarding_jump(g, index, VYRE_OP_return, VYRE_NONE);
  else if (how > 0)
    build_guarding_jump(g, index, VYRE_OP_break, VYRE_NONE);
  const bool behind = (how == 1 || (how == 2 && !g->in_continuing)) && below(g, 2);
  if (!behind)
    build_partial(g, index, false);
  vyre_builder_leave(&g->b, inner);
  if (behind)
    build_partial(g, index, false);
  vyre_builder_leave(&g->b, outer);
  vyre_builder_leave(&g->b, block);
  g->count = mark;
}

static void
add_control(generator *g)
{
  g->depth++;
  switch (below(g, g->wide ? 12 : 8)) {
  case 8:
  case 9:
    build_guarded(g);
    break;
  case 11:
    build_guarded_nest(g);
    break;
  case 10:
    build_open_loop(g);
    break;
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
add_barrier_or_trap(generator *g)
{
  if (g->depth == 0 && below(g, 2))
    exchange_words(g);
  else if (below(g, 2) && !g->in_continuing)
    build_trap(g);
  else
    vyre_build_barrier(&g->b, VYRE_ORDER(3, 3, 0x108)); /* of the subgroup */
}

void
statements(generator *g, uint32_t count)
{
  for (uint32_t i = 0; i < count && g->budget; i++) {
    uint32_t what = below(g, g->wide ? 22 : 20);
    g->budget--;
    if (what >= 20)
      add_pattern(g);
    else if (what < (g->wide ? 4u : 2u) && g->depth < 4)
      add_control(g);
    else if (what == 4 && g->wide && below(g, 4) == 0)
      add_barrier_or_trap(g);
    else if (what < 6)
      access_variable(g);
    else if (what < 9)
      access_memory(g);
    else
      add_expression(g);
  }
}

/* Chooses float modes for one program in eight: one mode, or flushing or rounding of all widths. */
static uint32_t
random_mode(generator *g, uint32_t flags)
{
  static const uint32_t modes[8] = {2, 4, 8, 16, 32, 64, 2 | 8 | 32, 4 | 16 | 64}; /* VYRE_PROGRAM_FLUSH_32 ... */
  const uint32_t mode = flags & RANDOM_RELAXED ? VYRE_PROGRAM_RELAXED : 0;
  g->inexact = below(g, 8) == 0;
  return g->inexact ? mode | modes[below(g, 8)] : mode;
}

/* Stores variables and some values, so that passes must keep them. */
static void
store_all(generator *g)
{
  for (uint32_t i = 0; i < MAX_VARS; i++)
    store_out(g, vyre_build_get(&g->b, g->vars[i]));
  for (uint32_t i = 0; i < 6 && g->wide; i++)
    store_out(g, g->pool[below(g, g->count)]);
}

/* Adds a loop with a conditional return to the end of the program.  The return only changes the number of iterations. */
static void
return_from_loop(generator *g)
{
  const vyre_row control = build_short_for(g), index = vyre_region_of(g->m, control, 0);
  store_out(g, index);
  const vyre_row leaves = vyre_build_if(&g->b, vyre_build_imm(&g->b, VYRE_OP_uge, index, below(g, 2)));
  vyre_builder_at_end(&g->b, vyre_region_of(g->m, leaves, 0));
  vyre_build_jump(&g->b, VYRE_OP_return, VYRE_NONE);
  vyre_builder_leave(&g->b, leaves);
  vyre_builder_leave(&g->b, control);
}

/* Features depend only on the seed, so that a program without features does not depend on them. */
uint32_t
random_program_features(uint64_t seed, uint32_t flags)
{
  const uint32_t draw = (uint32_t)(seed * UINT64_C(0x9e3779b97f4a7c15) >> 40);
  return (flags & RANDOM_WIDE) == 0 ? 0
                                    : (draw % 5 == 0 ? RANDOM_LANES : 0) | (draw / 5 % 32 == 0 ? RANDOM_DEEP : 0) |
                                          (draw / 160 % 5 == 0 ? RANDOM_EXTREME : 0) | (draw / 800 % 8 == 0 ? RANDOM_SHAPE : 0) |
                                          (draw / 6400 % 5 == 0 ? RANDOM_LAYOUTS : 0) | (draw / 32000 % 4 == 0 ? RANDOM_JUMPS : 0);
}

/* Features have their own random numbers and budget.  Later statements use their values. */
static void
add_features(generator *g, uint64_t seed, uint32_t features, bool at_end)
{
  const uint64_t random = g->random;
  const uint32_t budget = g->budget;
  g->random = ~seed * 2654435761u;
  g->budget = 30;
  if (features & RANDOM_EXTREME)
    extreme_operations(g);
  if (features & RANDOM_LAYOUTS)
    access_layouts(g);
  if (features & RANDOM_LANES)
    communicate(g);
  if (features & RANDOM_DEEP)
    deep_nest(g);
  for (uint32_t i = 0; i < 4 && features & RANDOM_JUMPS; i++) {
    g->budget = 30;
    jump_around(g, at_end && i > 1);
  }
  g->random = random;
  g->budget = budget;
}

static void
build_workgroup(generator *g, uint64_t seed, uint32_t features)
{
  static const uint8_t shapes[4][3] = {{2, 2, 1}, {1, 4, 1}, {1, 2, 2}, {1, 1, 4}};
  static const uint8_t line[3] = {4, 1, 1};
  const uint8_t *shape = features & RANDOM_SHAPE ? shapes[seed % 4] : line;
  vyre_row sizes[3];
  for (uint32_t i = 0; i < 3; i++)
    sizes[i] = vyre_build_const(&g->b, U32, shape[i]);
  vyre_build_workgroup(&g->b, sizes[0], sizes[1], sizes[2]);
}

/* Returns the number of the invocation in the grid. */
static vyre_row
number_of_invocation(generator *g, uint32_t features)
{
  const vyre_opcode op = features & RANDOM_SHAPE ? VYRE_OP_wid : VYRE_OP_gid;
  const vyre_row x = vyre_build_lane(&g->b, row(g, op, VYRE_TYPE(VYRE_U32, 3), 0, VYRE_NONE, VYRE_NONE, VYRE_NONE), 0);
  if (op == VYRE_OP_gid)
    return x;
  const vyre_row first = vyre_build_imm(&g->b, VYRE_OP_mul, x, RANDOM_INVOCATIONS / RANDOM_GROUPS);
  return vyre_build_binary(&g->b, VYRE_OP_add, first, row(g, VYRE_OP_lindex, U32, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE));
}

/* In a relaxed program about half of the variables are unset. */
static vyre_row
build_any_var(generator *g, vyre_type type)
{
  const bool may_be_unset = (g->v->imm[g->b.program] & VYRE_PROGRAM_RELAXED) != 0;
  return may_be_unset && below(g, 2) ? vyre_build_unset_var(&g->b, type) : vyre_build_var(&g->b, type);
}

void
random_program_build(vyre_module *module, uint64_t seed, uint32_t flags)
{
  const uint32_t budget = seed % 3 ? 120 : 24; /* short programs often have no undefined behavior */
  const uint32_t features = random_program_features(seed, flags);
  generator g = {.random = seed * 2654435761u + 12345u, .m = module, .v = vyre_module_view(module), .budget = budget};
  g.wide = (flags & RANDOM_WIDE) != 0;
  g.tame = g.wide && (flags & RANDOM_RELAXED) && (seed & 6);
  vyre_build_program(module, "random", random_mode(&g, flags), vyre_module_add_input(module, "random"), &g.b);
  build_workgroup(&g, seed, features);
  declare_memory(&g);
  for (uint32_t i = 0; i < MAX_VARS; i++)
    g.vars[i] = build_any_var(&g, random_type(&g));
  keep(&g, vyre_build_spec(&g.b, U32, below(&g, 100), 1));
  keep(&g, number_of_invocation(&g, features));
  g.base = vyre_build_imm(&g.b, VYRE_OP_mul, g.pool[g.count - 1], RANDOM_WORDS);
  keep(&g, vyre_build_load(&g.b, vyre_build_at(&g.b, g.in, g.pool[g.count - 1]), 0));
  set_private_array(&g);
  if (features && seed / 8 % 2)
    add_features(&g, seed, features, false);
  while (g.budget)
    statements(&g, g.budget);
  if (features && seed / 8 % 2 == 0)
    add_features(&g, seed, features, true);
  store_all(&g);
  if (g.wide && below(&g, 4) == 0)
    return_from_loop(&g);
}
