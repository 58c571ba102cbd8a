/* Control flow: shapes that SPIR-V has no direct form for, vars as phis, and random programs of all of it; validated, run, and
 * compared.
 * Over 600 lines, as it is one list of cases.
 *
 * With arguments FIRST COUNT it runs that many random programs from that seed on.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "export_support.h"

#include <spirv/unified1/spirv.h>

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

/* @next mixes a number into a hash, @bit tests a bit. */
#define HEAD                                                                                             \
  "func @next(%v : u32, %n : u32) -> u32 { return add(mul(%v, 31u32), %n) }\n"                           \
  "func @bit(%v : u32, %n : u32) -> bool { return ne(and(ushr(%v, %n), 1u32), 0u32) }\n"                 \
  "program @main relaxed workgroup(4, 1, 1) {\n"                                                         \
  "  buffer %in : u32[] storage ro set(0) binding(0) buffer %out : u32[] storage rw set(0) binding(1)\n" \
  "  var %a : u32 var %r : u32 %g = gid.x %o = mul %g, 256u32\n"
#define RESULTS " store %out[%o], get(%a) store %out[add(%o, 1u32)], get(%r) }\n"

enum { ANY_PHIS = -1 };

static const struct {
  int phis; /* of the SPIR-V */
  const char *text;
} shapes[] = {
    /* Variables that are exchanged in each iteration: phis read each other, all at once. */
    {4, "var %d : f32x2 set %a, 3u32 set %r, %g set %d, 1.0f32x2\n"
        "for %k = 0u32 to %g { %x = get %a %y = get %r %z = get %d set %a, %y set %r, %x set %d, add(%z, %z) }\n"
        "%e = get %d store %out[add(%o, 2u32)], bitcast(%e.x : u32) store %out[add(%o, 3u32)], bitcast(%e.y : u32)"},
    /* A block left from two loops down, and from a switch in a loop. */
    {ANY_PHIS, "%w = load %in[%o]\n"
               "block %b { for %i = 0u32 to 5u32 { for %j = 0u32 to 7u32 { set %a, @next(get(%a), 1u32)\n"
               "if ugt(mul(%i, %j), and(%w, 15u32)) { set %a, @next(get(%a), 2u32) leave %b }\n"
               "switch %j { case 3u32 { if @bit(%w, 4u32) { leave %b } continue } default { set %a, @next(get(%a), 3u32) } } }\n"
               "set %a, @next(get(%a), 4u32) } set %a, @next(get(%a), 5u32) }"},
    /* Cases fall through, into a default in the middle too. */
    {ANY_PHIS, "%q = switch %g { case 1u32, 4u32, 5u32, 6u32, 7u32 { set %a, @next(get(%a), 1u32) set %r, 1u32 fallthrough }\n"
               "default { set %a, @next(get(%a), 2u32) if eq(%g, 9u32) { leave %q } fallthrough }\n"
               "case 2u32 { store %out[add(%o, 2u32)], get(%r) set %a, @next(get(%a), 3u32) } case 3u32 { return } }"},
    /* `continue` into a continuing region that has effects and control of its own. */
    {ANY_PHIS, "var %n : u32 loop { set %r, 1u32 if @bit(get(%n), 0u32) { set %r, 2u32 continue } if ugt(get(%n), %g) { break }\n"
               "set %a, @next(get(%a), 3u32) } continuing { for %i = 0u32 to get(%r) { set %a, @next(get(%a), 7u32) }\n"
               "set %n, add(get(%n), 1u32) breakif uge(get(%n), 12u32) } store %out[add(%o, 2u32)], get(%n)"},
    /* Positions that are never reached: both arms jump, a body runs once, an arm that is never taken has a loop without an end. */
    {ANY_PHIS, "loop { if @bit(%g, 0u32) { set %a, @next(get(%a), 1u32) break } else { set %a, @next(get(%a), 2u32) break }\n"
               "set %a, @next(get(%a), 3u32) } if eq(%g, 99u32) { loop { set %a, @next(get(%a), 4u32) }\n"
               "continuing { loop { set %a, @next(get(%a), 5u32) } } set %a, @next(get(%a), 6u32) }\n"
               "for %k = 0u32 to %g { set %a, @next(get(%a), 7u32) break } block { set %a, @next(get(%a), 8u32) }\n"
               "if @bit(%g, 1u32) { }"},
    /* A variable that is never set is zero and has no phi; nor has one that both arms set alike. */
    {0, "if @bit(%g, 0u32) { set %r, %g } else { set %r, %g }"},
    /* What is set before a `continue` reaches the next iteration, though the body ends with a break. */
    {ANY_PHIS, "for %k = 0u32 to 9u32 { set %a, add(mul(get(%a), 3u32), %g) if ult(%k, %g) { continue } set %r, %k break }"},
    /* What is set is read in the next iteration alone, of the loop or of one around it, or in the case that is fallen into. */
    {ANY_PHIS, "var %x : u32 var %y : u32 for %k = 0u32 to 5u32 { %old = get %x set %a, @next(get(%a), %old)\n"
               "for %l = 0u32 to 3u32 { %e = add %k, %l if ult(%e, %g) { set %x, add(%e, 5u32) } } }\n"
               "switch %g { case 1u32 { set %y, 7u32 fallthrough } case 2u32 { set %r, add(get(%y), 3u32) } default { } }"},
    /* An early return out of loops: two indices; the flag after each loop; the value after each loop and after the block. */
    {7, "block %b { for %k = 0u32 to 9u32 { for %l = 0u32 to 9u32 { %m = mul %k, %l if ugt(%m, %g) { set %r, %m leave %b } } }\n"
        "set %r, 77u32 }"},
};

TEST(shapes_without_a_direct_form)
{
  for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
    export_case c;
    char text[2048];
    snprintf(text, sizeof(text), "%s%s%s", HEAD, shapes[i].text, RESULTS);
    export_parse(&c, text);
    export_run(&c, NULL);
    if (shapes[i].phis != ANY_PHIS && export_is_direct())
      assert_int_equal(export_count(&c, SpvOpPhi), shapes[i].phis);
    export_close(&c);
  }
}

/* Deeper than SPIR-V allows is an error; so deep is not.  The validator needs most of a minute for the deepest, so it sees a less
 * deep one. */
TEST(nesting_has_a_limit)
{
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

/* A construct followed by sets alone: what spirv/export/control/tails.c looks for. */
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

TEST(random_programs)
{
  for (unsigned long seed = first_seed; seed < first_seed + seed_count; seed++) {
    if (seed_count != 100)
      printf("seed %lu\n", seed);
    random_program(seed);
  }
}

int
main(int argc, char **argv)
{
  if (argc == 3) {
    first_seed = strtoul(argv[1], NULL, 10);
    seed_count = strtoul(argv[2], NULL, 10);
  }
  return test_run(export_device_open, export_device_close);
}
