/* The values of variables in debug information stay correct in each pass and each pipeline.
 *
 * The test makes rows of the outermost region of a random program values of one variable each.  An invocation executes such a row
 * at most once.  Wherever a pass moves or copies the row, it must compute the same value.  VYRE_SEED and VYRE_RUNS in the
 * environment set the first seed and the number of programs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "pipelines.h"

#include <math.h>

static const char *const pipelines[] = {"canon",
                                        "cf",
                                        "dce",
                                        "licm",
                                        "cprop",
                                        "dse",
                                        "cse",
                                        "pm",
                                        "dbe",
                                        "expand",
                                        "simplify",
                                        "early",
                                        "remainder",
                                        "uncopy",
                                        "contract",
                                        "limits,canon,cf,shash,cid,cse,dce",
                                        "canon,cf,cprop,pm,licm,cse,dse,dce",
                                        "fixpoint(canon,cf,dbe,licm,dce)",
                                        "simplify,remainder,simplify,expand,dce",
                                        "default<O1>",
                                        "default<O2>",
                                        "default<O3>",
                                        "probe.hoist",
                                        "probe.merge"};

/* ---- values ---- */

#define MOST_VARIABLES 64u

static bool
may_be_value(const vyre_view *v, uint32_t row)
{
  const vyre_type type = VYRE_ROW_TYPE(v->op[row]);
  const vyre_opcode op = (vyre_opcode)VYRE_ROW_OP(v->op[row]);
  return v->parent[row] == v->first[0] && op > VYRE_OP_buffer && !vyre_op_is_invocation(op) && vyre_row_is_value(v, row) &&
         VYRE_TYPE_LANES(type) == 1 &&
         (VYRE_TYPE_KIND(type) == VYRE_F32 || VYRE_TYPE_KIND(type) == VYRE_U32 || VYRE_TYPE_KIND(type) == VYRE_I32 ||
          VYRE_TYPE_KIND(type) == VYRE_BOOL);
}

/* Makes rows values of variables, and returns the number of variables. */
static uint32_t
make_values(vyre_module *module)
{
  const uint32_t rows = vyre_module_view(module)->rows;
  uint32_t count = 0;
  for (uint32_t row = 1; row < rows && count < MOST_VARIABLES; row++) {
    if (!may_be_value(vyre_module_view(module), row))
      continue;
    vyre_scope_info variable = {.entity = ++count}, value = {.index = 1}, place = {.entity = MOST_VARIABLES + 1};
    value.variable = vyre_scope_intern(module, &variable);
    place.values = vyre_scope_intern(module, &value);
    vyre_row_set_place(module, (vyre_row){row}, vyre_scope_intern(module, &place), 1, 1);
  }
  return count;
}

/* Returns the number of the variable whose value the row is, from 1, or 0 if there is none. */
static uint32_t
variable_of(const vyre_module *module, uint32_t row)
{
  const vyre_scope values = vyre_scope_get(module, vyre_row_scope(module, (vyre_row){row})).values;
  return vyre_scope_get(module, vyre_scope_get(module, values).variable).entity;
}

/* ---- running ---- */

/* By invocation and variable: 1 if the variable had a value, and the bits of its last value. */
typedef struct seen {
  uint32_t words[RANDOM_INVOCATIONS][MOST_VARIABLES][2];
} seen;

static vyre_row
bits_of(vyre_builder *b, uint32_t row)
{
  const vyre_type type = VYRE_ROW_TYPE(vyre_module_view(b->module)->op[row]), word = VYRE_TYPE(VYRE_U32, 1);
  if (type == word)
    return (vyre_row){row};
  if (VYRE_TYPE_KIND(type) == VYRE_BOOL)
    return vyre_build_select(b, (vyre_row){row}, vyre_build_const(b, word, 1), vyre_build_const(b, word, 0));
  return vyre_build_convert(b, VYRE_OP_bitcast, word, (vyre_row){row});
}

/* Inserts a store into a new buffer after the row of each value. */
static void
store_values(vyre_module *module, vyre_row *out_buffer)
{
  const vyre_view *v = vyre_module_view(module);
  const uint32_t rows = v->rows;
  vyre_builder b = {.module = module};
  vyre_builder_at_end(&b, (vyre_row){v->first[0]});
  const vyre_type_id words = vyre_type_array(module, VYRE_TYPE(VYRE_U32, 1), sizeof(seen) / 4, VYRE_NONE, 4);
  *out_buffer = vyre_build_buffer(&b, words, VYRE_SPACE_STORAGE, 0, 7, 7);
  for (uint32_t row = 1; row < rows; row++) {
    const uint32_t variable = variable_of(module, row);
    if (!variable || !vyre_row_is_value(v, row) || vyre_row_is_const(v, row))
      continue;
    if (v->next[row])
      vyre_builder_before(&b, (vyre_row){v->next[row]});
    else
      vyre_builder_at_end(&b, (vyre_row){v->parent[row]});
    const vyre_row gid = vyre_build_lane(&b, vyre_build_invocation(&b, VYRE_OP_gid), 0);
    const vyre_row first = vyre_build_imm(&b, VYRE_OP_mul, gid, 2 * MOST_VARIABLES);
    const vyre_row at = vyre_build_imm(&b, VYRE_OP_add, first, 2 * (variable - 1));
    const vyre_row path = vyre_build_at(&b, *out_buffer, at);
    const vyre_row one = vyre_build_const(&b, VYRE_TYPE(VYRE_U32, 1), 1);
    const vyre_row next = vyre_build_at(&b, *out_buffer, vyre_build_imm(&b, VYRE_OP_add, at, 1));
    vyre_build_store(&b, path, one, 0);
    vyre_build_store(&b, next, bits_of(&b, row), 0);
  }
}

static void
run_watched(const vyre_module *module, uint32_t seed, const char *what, seen *out)
{
  static memory found;
  vyre_module *watched;
  vyre_row buffer;
  vyre_binding bindings[RANDOM_BINDINGS + 1];
  assert_ok(vyre_module_clone(module, &watched), what, seed);
  store_values(watched, &buffer);
  assert_ok(vyre_module_status(watched), what, seed);
  assert_ok(vyre_module_seal(watched, NULL), what, seed);
  const vyre_view *v = vyre_module_view(watched);
  memset(out, 0, sizeof(*out));
  random_program_fill(&found, seed);
  uint32_t count = random_program_bind(watched, v->first[0], seed, 0, &found, bindings);
  for (uint32_t k = 0; k < count; k++)
    if (VYRE_BUFFER_SPACE(v->imm_hi[bindings[k].buffer.id]) == VYRE_SPACE_STORAGE &&
        vyre_buffer_info_of(watched, bindings[k].buffer)->binding == 7)
      bindings[k] = (vyre_binding){bindings[k].buffer, out, sizeof(*out), 0};
  const vyre_dispatch dispatch = {
      .program = {v->first[0]}, .groups = {RANDOM_GROUPS, 1, 1}, .bindings = bindings, .binding_count = count};
  const vyre_interp_options options = {.struct_size = sizeof options, .steps = 1u << 20, .subgroup = 1u << (seed >> 1) % 4};
  assert_ok(vyre_interp_run(watched, &dispatch, &options, NULL), what, seed);
  vyre_module_destroy(watched);
}

/* ---- the test ---- */

static bool
is_same(uint32_t a, uint32_t b)
{
  float x, y;
  memcpy(&x, &a, sizeof(x));
  memcpy(&y, &b, sizeof(y));
  return a == b || (isnan(x) && isnan(y));
}

/* Compares the values that both runs have, and returns their number. */
static uint32_t
compare(const seen *before, const seen *after, const vyre_module *was, const vyre_module *is, const char *what, uint32_t seed)
{
  uint32_t count = 0;
  for (uint32_t i = 0; i < RANDOM_INVOCATIONS; i++)
    for (uint32_t k = 0; k < MOST_VARIABLES; k++) {
      if (!before->words[i][k][0] || !after->words[i][k][0])
        continue;
      count++;
      if (is_same(before->words[i][k][1], after->words[i][k][1]))
        continue;
      print_error("seed %u, %s: in invocation %u variable %u is 0x%08x, was 0x%08x\n", seed, what, i, k + 1, after->words[i][k][1],
                  before->words[i][k][1]);
      for (uint32_t row = 1; row < vyre_module_view(is)->rows; row++)
        if (variable_of(is, row) == k + 1)
          print_error("its value is row %u\n", row);
      for (uint32_t row = 1; row < vyre_module_view(was)->rows; row++)
        if (variable_of(was, row) == k + 1)
          print_error("its value was row %u\n", row);
      print_module(was);
      print_module(is);
      fail();
    }
  return count;
}

TEST(values_of_variables_are_preserved)
{
  enum { COUNT = sizeof(pipelines) / sizeof(pipelines[0]) };
  vyre_pipeline *parsed[COUNT];
  static seen before, after;
  uint32_t seed = budget_number("VYRE_SEED", 1), runs = budget_runs(200);
  uint64_t values = 0, kept[COUNT] = {0};
  vyre_registry *registry = parse_pipelines(pipelines, COUNT, parsed);
  for (uint32_t end = seed + runs; seed != end; seed++) {
    vyre_module *module = random_module(seed, seed & 1 ? RANDOM_WIDE : 0), *changed;
    make_values(module);
    run_watched(module, seed, "as built", &before);
    values += compare(&before, &before, module, module, "as built", seed);
    for (uint32_t p = 0; p < COUNT; p++) {
      assert_ok(vyre_module_clone(module, &changed), pipelines[p], seed);
      assert_ok(vyre_pipeline_run(parsed[p], changed, NULL), pipelines[p], seed);
      run_watched(changed, seed, pipelines[p], &after);
      kept[p] += compare(&before, &after, module, changed, pipelines[p], seed);
      vyre_module_destroy(changed);
    }
    vyre_module_destroy(module);
  }
  for (uint32_t p = 0; p < COUNT; p++) {
    print_message("%s: %llu of %llu values\n", pipelines[p], (unsigned long long)kept[p], (unsigned long long)values);
    assert_true(kept[p] * 20 > values);
  }
  free_pipelines(registry, parsed, COUNT);
}
