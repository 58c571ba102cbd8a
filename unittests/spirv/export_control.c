/* Control flow: shapes that SPIR-V has no direct form for, vars as phis, and random programs of all of it; validated, run, and
 * compared.
 * Over 600 lines, as it is one list of cases.
 *
 * With arguments FIRST COUNT it runs that many random programs from that seed on.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "export_support.h"

#include <spirv/unified1/spirv.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned long first_seed = 1, seed_count = 160;

static vyre_row
region_of(export_case *c, vyre_row control, uint32_t k)
{
  return vyre_region_of(c->module, control, k);
}

static vyre_row
bit_of(export_case *c, vyre_row word, uint32_t bit)
{
  const vyre_row shifted = vyre_build_imm(&c->b, VYRE_OP_ushr, word, bit);
  return vyre_build_imm(&c->b, VYRE_OP_ne, vyre_build_imm(&c->b, VYRE_OP_and, shifted, 1), 0);
}

static void
add_to(export_case *c, vyre_row var, uint32_t amount)
{
  const vyre_row old = vyre_build_get(&c->b, var);
  vyre_build_set(&c->b, var, vyre_build_imm(&c->b, VYRE_OP_add, vyre_build_imm(&c->b, VYRE_OP_mul, old, 31), amount));
}

static vyre_row
jump(export_case *c, vyre_opcode op, vyre_row target)
{
  return vyre_build_jump(&c->b, op, target);
}

/* ---- shapes ---- */

/* Two vars that are exchanged every time: phis read each other, all at once. */
static void
vars_change_places(void **state)
{
  (void)state;
  export_case c;
  export_open(&c, VYRE_PROGRAM_RELAXED);
  const vyre_row a = vyre_build_var(&c.b, U32), b = vyre_build_var(&c.b, U32), d = vyre_build_var(&c.b, VYRE_TYPE(VYRE_F32, 2));
  vyre_build_set(&c.b, a, export_u32(&c, 3));
  vyre_build_set(&c.b, b, c.gid);
  vyre_build_set(&c.b, d, vyre_build_const(&c.b, VYRE_TYPE(VYRE_F32, 2), 0x3f800000));
  const vyre_row loop = vyre_build_for(&c.b, export_u32(&c, 0), c.gid, export_u32(&c, 1));
  const vyre_row old_a = vyre_build_get(&c.b, a), old_b = vyre_build_get(&c.b, b), old_d = vyre_build_get(&c.b, d);
  vyre_build_set(&c.b, a, old_b);
  vyre_build_set(&c.b, b, old_a);
  vyre_build_set(&c.b, d, vyre_build_binary(&c.b, VYRE_OP_add, old_d, old_d));
  vyre_builder_leave(&c.b, loop);
  export_output(&c, vyre_build_get(&c.b, a));
  export_output(&c, vyre_build_get(&c.b, b));
  export_output(&c, vyre_build_get(&c.b, d));
  export_run(&c, NULL);
  assert_true(!export_is_direct() || export_count(&c, SpvOpPhi) == 4);
  export_close(&c);
}

/* A block left from two loops down, and from a switch in a loop. */
static void
leave_crosses_loops(void **state)
{
  (void)state;
  export_case c;
  export_open(&c, VYRE_PROGRAM_RELAXED);
  const vyre_row h = vyre_build_var(&c.b, U32), word = export_input(&c, U32);
  const vyre_row block = vyre_build_block(&c.b);
  const vyre_row outer = vyre_build_for(&c.b, export_u32(&c, 0), export_u32(&c, 5), export_u32(&c, 1));
  const vyre_row i = region_of(&c, outer, 0);
  const vyre_row inner = vyre_build_for(&c.b, export_u32(&c, 0), export_u32(&c, 7), export_u32(&c, 1));
  const vyre_row j = region_of(&c, inner, 0);
  add_to(&c, h, 1);
  const vyre_row product = vyre_build_binary(&c.b, VYRE_OP_mul, i, j);
  const vyre_row limit = vyre_build_imm(&c.b, VYRE_OP_and, word, 15);
  const vyre_row far = vyre_build_if(&c.b, vyre_build_binary(&c.b, VYRE_OP_ugt, product, limit));
  add_to(&c, h, 2);
  jump(&c, VYRE_OP_leave, block);
  vyre_builder_leave(&c.b, far);
  const vyre_row pick = vyre_build_switch(&c.b, j);
  vyre_build_case(&c.b, pick, export_u32(&c, 3), false);
  const vyre_row out = vyre_build_if(&c.b, bit_of(&c, word, 4));
  jump(&c, VYRE_OP_leave, block);
  vyre_builder_leave(&c.b, out);
  jump(&c, VYRE_OP_continue, VYRE_NONE);
  vyre_build_case(&c.b, pick, VYRE_NONE, true);
  add_to(&c, h, 3);
  vyre_builder_leave(&c.b, pick);
  vyre_builder_leave(&c.b, inner);
  add_to(&c, h, 4);
  vyre_builder_leave(&c.b, outer);
  add_to(&c, h, 5);
  vyre_builder_leave(&c.b, block);
  export_output(&c, vyre_build_get(&c.b, h));
  export_run(&c, NULL);
  export_close(&c);
}

/* Cases fall through, into a default in the middle too. */
static void
cases_fall_through(void **state)
{
  (void)state;
  export_case c;
  export_open(&c, VYRE_PROGRAM_RELAXED);
  const vyre_row h = vyre_build_var(&c.b, U32), t = vyre_build_var(&c.b, U32);
  const vyre_row many[5] = {export_u32(&c, 1), export_u32(&c, 4), export_u32(&c, 5), export_u32(&c, 6), export_u32(&c, 7)};
  const vyre_row labels = vyre_build_tuple(&c.b, many, 5), pick = vyre_build_switch(&c.b, c.gid);
  vyre_build_case(&c.b, pick, labels, false);
  add_to(&c, h, 1);
  vyre_build_set(&c.b, t, export_u32(&c, 1));
  jump(&c, VYRE_OP_fallthrough, VYRE_NONE);
  vyre_build_case(&c.b, pick, VYRE_NONE, true);
  add_to(&c, h, 2);
  const vyre_row early = vyre_build_if(&c.b, vyre_build_imm(&c.b, VYRE_OP_eq, c.gid, 9));
  jump(&c, VYRE_OP_leave, pick);
  vyre_builder_leave(&c.b, early);
  jump(&c, VYRE_OP_fallthrough, VYRE_NONE);
  vyre_build_case(&c.b, pick, export_u32(&c, 2), false);
  export_output(&c, vyre_build_get(&c.b, t));
  add_to(&c, h, 3);
  vyre_build_case(&c.b, pick, export_u32(&c, 3), false);
  jump(&c, VYRE_OP_return, VYRE_NONE);
  vyre_builder_leave(&c.b, pick);
  export_output(&c, vyre_build_get(&c.b, h));
  export_output(&c, vyre_build_get(&c.b, t));
  export_run(&c, NULL);
  export_close(&c);
}

/* `continue` into a continuing region that has effects and control of its own. */
static void
continuing_has_effects(void **state)
{
  (void)state;
  export_case c;
  export_open(&c, VYRE_PROGRAM_RELAXED);
  const vyre_row h = vyre_build_var(&c.b, U32), n = vyre_build_var(&c.b, U32), t = vyre_build_var(&c.b, U32);
  const vyre_row loop = vyre_build_loop(&c.b);
  vyre_build_set(&c.b, t, export_u32(&c, 1));
  const vyre_row skip = vyre_build_if(&c.b, bit_of(&c, vyre_build_get(&c.b, n), 0));
  vyre_build_set(&c.b, t, export_u32(&c, 2));
  jump(&c, VYRE_OP_continue, VYRE_NONE);
  vyre_builder_leave(&c.b, skip);
  const vyre_row done = vyre_build_if(&c.b, vyre_build_binary(&c.b, VYRE_OP_ugt, vyre_build_get(&c.b, n), c.gid));
  jump(&c, VYRE_OP_break, VYRE_NONE);
  vyre_builder_leave(&c.b, done);
  add_to(&c, h, 3);
  vyre_builder_at_end(&c.b, region_of(&c, loop, 1));
  const vyre_row inner = vyre_build_for(&c.b, export_u32(&c, 0), vyre_build_get(&c.b, t), export_u32(&c, 1));
  add_to(&c, h, 7);
  vyre_builder_leave(&c.b, inner);
  const vyre_row next = vyre_build_imm(&c.b, VYRE_OP_add, vyre_build_get(&c.b, n), 1);
  vyre_build_set(&c.b, n, next);
  jump(&c, VYRE_OP_breakif, vyre_build_imm(&c.b, VYRE_OP_uge, next, 12));
  vyre_builder_leave(&c.b, loop);
  export_output(&c, vyre_build_get(&c.b, h));
  export_output(&c, vyre_build_get(&c.b, n));
  export_output(&c, vyre_build_get(&c.b, t));
  export_run(&c, NULL);
  export_close(&c);
}

/* Positions that are never reached: both arms jump, a body that never comes round, a loop without end in an arm never taken. */
static void
unreachable_places(void **state)
{
  (void)state;
  export_case c;
  export_open(&c, VYRE_PROGRAM_RELAXED);
  const vyre_row h = vyre_build_var(&c.b, U32);
  const vyre_row loop = vyre_build_loop(&c.b);
  const vyre_row split = vyre_build_if(&c.b, bit_of(&c, c.gid, 0));
  add_to(&c, h, 1);
  jump(&c, VYRE_OP_break, VYRE_NONE);
  vyre_builder_at_end(&c.b, region_of(&c, split, 1));
  add_to(&c, h, 2);
  jump(&c, VYRE_OP_break, VYRE_NONE);
  vyre_builder_leave(&c.b, split);
  add_to(&c, h, 3); /* never */
  vyre_builder_leave(&c.b, loop);
  const vyre_row never = vyre_build_if(&c.b, vyre_build_imm(&c.b, VYRE_OP_eq, c.gid, 99));
  const vyre_row endless = vyre_build_loop(&c.b);
  add_to(&c, h, 4);
  vyre_builder_at_end(&c.b, region_of(&c, endless, 1));
  const vyre_row inside = vyre_build_loop(&c.b); /* a continuing region that never ends */
  add_to(&c, h, 5);
  vyre_builder_leave(&c.b, inside);
  vyre_builder_leave(&c.b, endless);
  add_to(&c, h, 6);
  vyre_builder_leave(&c.b, never);
  const vyre_row once = vyre_build_for(&c.b, export_u32(&c, 0), c.gid, export_u32(&c, 1));
  add_to(&c, h, 7);
  jump(&c, VYRE_OP_break, VYRE_NONE);
  vyre_builder_leave(&c.b, once);
  const vyre_row unused = vyre_build_block(&c.b);
  add_to(&c, h, 8);
  vyre_builder_leave(&c.b, unused);
  vyre_builder_leave(&c.b, vyre_build_if(&c.b, bit_of(&c, c.gid, 1)));
  export_output(&c, vyre_build_get(&c.b, h));
  export_run(&c, NULL);
  export_close(&c);
}

/* A var never set is zero, and costs no phi; one set alike on both ways has none either. */
static void
no_phi_without_need(void **state)
{
  (void)state;
  export_case c;
  export_open(&c, VYRE_PROGRAM_RELAXED);
  const vyre_row zero = vyre_build_var(&c.b, U32), same = vyre_build_var(&c.b, U32);
  const vyre_row split = vyre_build_if(&c.b, bit_of(&c, c.gid, 0));
  vyre_build_set(&c.b, same, c.gid);
  vyre_builder_at_end(&c.b, region_of(&c, split, 1));
  vyre_build_set(&c.b, same, c.gid);
  vyre_builder_leave(&c.b, split);
  export_output(&c, vyre_build_get(&c.b, zero));
  export_output(&c, vyre_build_get(&c.b, same));
  export_run(&c, NULL);
  assert_true(!export_is_direct() || export_count(&c, SpvOpPhi) == 0);
  export_close(&c);
}

#define BUFFERS                                          \
  "  buffer %in : u32[] storage ro set(0) binding(0)\n"  \
  "  buffer %out : u32[] storage rw set(0) binding(1)\n" \
  "  var %a : u32\n  var %r : u32\n  %g = gid.x\n  %o = mul %g, 256u32\n"
#define RESULTS "  %fa = get %a\n  %fr = get %r\n  %p = add %o, 1u32\n  store %out[%o], %fa\n  store %out[%p], %fr\n}\n"

/* What is set before a `continue` comes round, though the body ends with a break. */
static void
set_before_continue(void **state)
{
  (void)state;
  export_case c;
  export_parse(&c, "program @main relaxed workgroup(4, 1, 1) {\n" BUFFERS "  for %k = 0u32 to 9u32 step 1u32 {\n"
                   "    %x = get %a\n    %y = mul %x, 3u32\n    %z = add %y, %g\n    set %a, %z\n"
                   "    %c = ult %k, %g\n    if %c { continue }\n    set %r, %k\n    break\n  }\n" RESULTS);
  export_run(&c, NULL);
  export_close(&c);
}

/* What is set is read in the next iteration alone, of the loop or of one around it, or in the case that is fallen into. */
static void
asked_for_elsewhere(void **state)
{
  (void)state;
  export_case c;
  export_parse(&c, "program @main relaxed workgroup(4, 1, 1) {\n" BUFFERS
                   "  var %x : u32\n  var %y : u32\n  for %k = 0u32 to 5u32 step 1u32 {\n    %old = get %x\n    %ra = get %a\n"
                   "    %rb = mul %ra, 31u32\n    %rc = add %rb, %old\n    set %a, %rc\n"
                   "    for %l = 0u32 to 3u32 step 1u32 {\n      %e = add %k, %l\n      %c = ult %e, %g\n"
                   "      if %c {\n        %z = add %e, 5u32\n        set %x, %z\n      }\n    }\n  }\n"
                   "  switch %g {\n    case 1u32 {\n      set %y, 7u32\n      fallthrough\n    }\n    case 2u32 {\n"
                   "      %w = get %y\n      %v = add %w, 3u32\n      set %r, %v\n    }\n    default {\n    }\n  }\n" RESULTS);
  export_run(&c, NULL);
  export_close(&c);
}

/* An early return out of loops, inlined: what it sets costs no phi at the loops' heads. */
static void
early_return_sets(void **state)
{
  (void)state;
  export_case c;
  export_parse(&c, "program @main relaxed workgroup(4, 1, 1) {\n" BUFFERS
                   "  block %b {\n    for %k = 0u32 to 9u32 step 1u32 {\n      for %l = 0u32 to 9u32 step 1u32 {\n"
                   "        %m = mul %k, %l\n        %c = ugt %m, %g\n"
                   "        if %c { set %r, %m  leave %b }\n      }\n    }\n    set %r, 77u32\n  }\n" RESULTS);
  export_run(&c, NULL);
  /* two indices; the flag after each loop; the value after each loop and after the block */
  assert_true(!export_is_direct() || export_count(&c, SpvOpPhi) == 7);
  export_close(&c);
}

/* Deeper than SPIR-V allows is an error; so deep is not.  The validator needs most of a minute for the deepest, so it sees a less
 * deep one. */
static void
nesting_has_a_limit(void **state)
{
  (void)state;
  static const int depths[] = {250, 1022, 1042};
  for (int k = 0; k < 3; k++) {
    export_case c;
    export_open(&c, VYRE_PROGRAM_RELAXED);
    const vyre_row h = vyre_build_var(&c.b, U32);
    for (int i = 0; i < depths[k]; i++)
      vyre_build_if(&c.b, bit_of(&c, c.gid, 0));
    add_to(&c, h, 1);
    if (depths[k] < 1000) {
      export_write(&c);
    } else {
      vyre_bytes code = {0};
      vyre_status status = vyre_module_seal(c.module, NULL);
      assert_null(status);
      status = vyre_spirv_write(c.module, 0, NULL, &code);
      assert_int_equal(vyre_status_code(status), depths[k] > 1023 ? VYRE_CODE_INPUT : VYRE_CODE_OK);
      assert_true(depths[k] > 1023 ? code.size == 0 : code.size > 1022 * 5 * sizeof(uint32_t));
      vyre_status_free(status);
      vyre_bytes_free(&code);
    }
    export_close(&c);
  }
}

/* ---- random programs ---- */

enum { VARS = 5, MOST_ROWS = 400, MOST_TARGETS = 32, MOST_VALUES = 64 };

typedef struct generator {
  export_case *c;
  uint64_t seed;
  vyre_row vars[VARS], word;
  vyre_row targets[MOST_TARGETS]; /* blocks and switches around that may be left */
  vyre_row values[MOST_VALUES];   /* visible here */
  uint32_t target_count, value_count, statements;
  bool few_results;
  bool in_loop, in_continuing;
} generator;

static uint32_t
chance(generator *g, uint32_t below)
{
  g->seed = g->seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(g->seed >> 33) % below;
}

static vyre_row
any_value(generator *g)
{
  vyre_builder *b = &g->c->b;
  if (g->value_count && chance(g, 3) == 0)
    return g->values[chance(g, g->value_count)];
  const vyre_row value = chance(g, 5) == 0 ? g->word : vyre_build_get(b, g->vars[chance(g, VARS)]);
  if (g->value_count < MOST_VALUES)
    g->values[g->value_count++] = value;
  return value;
}

static vyre_row
any_condition(generator *g)
{
  const vyre_row mixed =
      vyre_build_binary(&g->c->b, VYRE_OP_add, any_value(g), vyre_build_imm(&g->c->b, VYRE_OP_ushr, g->word, chance(g, 20)));
  return bit_of(g->c, mixed, chance(g, 4));
}

static void
set_something(generator *g)
{
  static const vyre_opcode ops[4] = {VYRE_OP_add, VYRE_OP_xor, VYRE_OP_mul, VYRE_OP_sub};
  vyre_builder *b = &g->c->b;
  vyre_row value = vyre_build_binary(b, ops[chance(g, 4)], any_value(g), any_value(g));
  if (chance(g, 3))
    value = vyre_build_imm(b, VYRE_OP_add, value, chance(g, 1000));
  if (chance(g, 4) == 0) /* a plain copy of another var: values meet in phis */
    value = vyre_build_get(b, g->vars[chance(g, VARS)]);
  vyre_build_set(b, g->vars[chance(g, VARS)], value);
}

/* Of every third program only the first var, so that the values of others are read in loops and cases alone, if at all. */
static void
write_results(generator *g)
{
  g->c->stores = 0;
  for (int i = 0; i < (g->few_results ? 1 : VARS); i++)
    export_output(g->c, vyre_build_get(&g->c->b, g->vars[i]));
}

static void make_region(generator *g, uint32_t depth);

/* A region's rows; what became visible in it is dropped, and the builder is after them. */
static void
make_inner(generator *g, uint32_t depth)
{
  const uint32_t values = g->value_count;
  make_region(g, depth);
  g->value_count = values;
}

static bool
make_jump(generator *g)
{
  const uint32_t which = chance(g, 8);
  if (which < 3 && g->target_count) {
    jump(g->c, VYRE_OP_leave, g->targets[chance(g, g->target_count)]);
    return true;
  }
  if (which < 6 && g->in_loop) {
    jump(g->c, which < 5 ? VYRE_OP_continue : VYRE_OP_break, VYRE_NONE);
    return true;
  }
  if (which == 7 && !g->in_continuing) {
    write_results(g);
    jump(g->c, VYRE_OP_return, VYRE_NONE);
    return true;
  }
  return false;
}

static void
make_if(generator *g, uint32_t depth)
{
  const vyre_row row = vyre_build_if(&g->c->b, any_condition(g));
  make_inner(g, depth);
  if (chance(g, 2)) {
    vyre_builder_at_end(&g->c->b, region_of(g->c, row, 1));
    make_inner(g, depth);
  }
  vyre_builder_leave(&g->c->b, row);
}

static void
make_loop(generator *g, uint32_t depth)
{
  export_case *c = g->c;
  const bool in_loop = g->in_loop;
  const vyre_row counter = vyre_build_var(&c->b, U32);
  if (chance(g, 2)) {
    const vyre_row to = vyre_build_imm(&c->b, VYRE_OP_and, any_value(g), 3);
    const vyre_row row = vyre_build_for(&c->b, export_u32(c, 0), to, export_u32(c, 1));
    g->in_loop = true;
    const uint32_t values = g->value_count;
    if (g->value_count < MOST_VALUES)
      g->values[g->value_count++] = region_of(c, row, 0);
    make_inner(g, depth);
    g->value_count = values;
    g->in_loop = in_loop;
    vyre_builder_leave(&c->b, row);
    return;
  }
  vyre_build_set(&c->b, counter, export_u32(c, 0));
  const vyre_row row = vyre_build_loop(&c->b);
  g->in_loop = true;
  make_inner(g, depth);
  /* the continuing region: no jumps out of it */
  const generator outside = *g;
  g->in_loop = false;
  g->in_continuing = true;
  g->target_count = 0;
  vyre_builder_at_end(&c->b, region_of(c, row, 1));
  if (chance(g, 2))
    make_inner(g, depth > 2 ? 2 : depth);
  g->in_loop = in_loop;
  g->in_continuing = outside.in_continuing;
  g->target_count = outside.target_count;
  for (uint32_t i = 0; i < g->target_count; i++)
    g->targets[i] = outside.targets[i];
  const vyre_row next = vyre_build_imm(&c->b, VYRE_OP_add, vyre_build_get(&c->b, counter), 1);
  vyre_build_set(&c->b, counter, next);
  jump(c, VYRE_OP_breakif, vyre_build_imm(&c->b, VYRE_OP_uge, next, 1 + chance(g, 4)));
  vyre_builder_leave(&c->b, row);
}

static bool
ended(const export_case *c)
{
  const vyre_view *view = vyre_module_view(c->module);
  const uint32_t last = view->last[c->b.region];
  return last && (vyre_op_infos[VYRE_ROW_OP(view->op[last])].flags & VYRE_OP_ENDS);
}

static void
make_switch(generator *g, uint32_t depth)
{
  export_case *c = g->c;
  const uint32_t cases = 1 + chance(g, 4), otherwise = chance(g, 5);
  const vyre_row row = vyre_build_switch(&c->b, vyre_build_imm(&c->b, VYRE_OP_and, any_value(g), 7));
  const bool is_target = g->target_count < MOST_TARGETS;
  if (is_target)
    g->targets[g->target_count++] = row;
  for (uint32_t i = 0; i < cases; i++) {
    const vyre_row labels[3] = {export_u32(c, i * 3), export_u32(c, i * 3 + 1), export_u32(c, i * 3 + 2)};
    const uint32_t count = i == otherwise && chance(g, 2) ? 0 : 1 + chance(g, 3);
    vyre_row label = VYRE_NONE;
    vyre_builder before = c->b;
    if (count > 1) {
      vyre_builder_before(&c->b, row);
      label = vyre_build_tuple(&c->b, labels, count);
      c->b = before;
    } else if (count == 1) {
      label = labels[0];
    }
    vyre_build_case(&c->b, row, label, i == otherwise);
    make_inner(g, depth);
    if (!ended(c) && i + 1 < cases && chance(g, 2))
      jump(c, VYRE_OP_fallthrough, VYRE_NONE);
  }
  g->target_count -= is_target;
  vyre_builder_leave(&c->b, row);
}

/* A construct followed by sets alone: what spirv/export/tails.c looks for. */
static void
make_tail(generator *g, uint32_t depth)
{
  vyre_builder *b = &g->c->b;
  const uint32_t values = g->value_count;
  if (chance(g, 2))
    make_switch(g, depth);
  else
    make_loop(g, depth);
  for (uint32_t n = chance(g, 4); n > 0; n--) {
    const vyre_row value = chance(g, 4) ? vyre_build_get(b, g->vars[chance(g, VARS)]) : g->word;
    vyre_build_set(b, g->vars[chance(g, VARS)], value);
  }
  g->value_count = values;
}

static void
make_block(generator *g, uint32_t depth)
{
  const vyre_row row = vyre_build_block(&g->c->b);
  const bool is_target = g->target_count < MOST_TARGETS;
  if (is_target)
    g->targets[g->target_count++] = row;
  make_inner(g, depth);
  if (depth && chance(g, 2) && !ended(g->c))
    make_tail(g, depth - 1);
  g->target_count -= is_target;
  vyre_builder_leave(&g->c->b, row);
}

static void
make_region(generator *g, uint32_t depth)
{
  for (uint32_t n = 1 + chance(g, 4); n > 0 && g->statements < MOST_ROWS; n--) {
    g->statements++;
    const uint32_t what = chance(g, 14);
    if (what < 5 || depth == 0)
      set_something(g);
    else if (what < 8)
      make_if(g, depth - 1);
    else if (what < 10)
      make_loop(g, depth - 1);
    else if (what < 11)
      make_switch(g, depth - 1);
    else if (what < 12)
      make_block(g, depth - 1);
    else if (make_jump(g))
      return;
  }
}

static void
random_program(unsigned long seed)
{
  export_case c;
  export_open(&c, seed % 3 == 0 ? 0 : VYRE_PROGRAM_RELAXED);
  generator g = {.c = &c, .seed = seed * 2654435761u + 17, .few_results = seed % 3 == 1};
  for (int i = 0; i < VARS; i++)
    g.vars[i] = vyre_build_var(&c.b, U32);
  g.word = export_input(&c, U32);
  /* what invocations do differs */
  vyre_build_set(&c.b, g.vars[0], vyre_build_imm(&c.b, VYRE_OP_mul, c.gid, 2654435761u));
  vyre_build_set(&c.b, g.vars[1], g.word);
  for (int i = 0; i < 3; i++) {
    const vyre_row block = vyre_build_block(&c.b);
    g.targets[g.target_count++] = block;
    make_inner(&g, 5);
    g.target_count--;
    vyre_builder_leave(&c.b, block);
  }
  write_results(&g);
  export_run(&c, NULL);
  export_close(&c);
}

static void
random_programs(void **state)
{
  (void)state;
  for (unsigned long seed = first_seed; seed < first_seed + seed_count; seed++) {
    if (seed_count != 100)
      printf("seed %lu\n", seed);
    random_program(seed);
  }
}

int
main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(vars_change_places),     cmocka_unit_test(leave_crosses_loops), cmocka_unit_test(cases_fall_through),
      cmocka_unit_test(continuing_has_effects), cmocka_unit_test(unreachable_places),  cmocka_unit_test(no_phi_without_need),
      cmocka_unit_test(set_before_continue),    cmocka_unit_test(early_return_sets),   cmocka_unit_test(nesting_has_a_limit),
      cmocka_unit_test(asked_for_elsewhere),    cmocka_unit_test(random_programs),
  };
  if (argc == 3) {
    first_seed = strtoul(argv[1], NULL, 10);
    seed_count = strtoul(argv[2], NULL, 10);
  }
  return cmocka_run_group_tests(tests, export_device_open, export_device_close);
}
