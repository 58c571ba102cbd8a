/* GLSL by SPIRV-Cross: the text compiles and computes the same values.  VYRE_SEED and VYRE_RUNS in the environment set the first
 * seed and the number of random programs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../budget.h"
#include "../passes/random_run.h"
#include "accepts.h"

#include "vyre/cross.h"
#include "vyre/spirv.h"

static void
assert_written(vyre_status status, const char *what, uint32_t seed, const vyre_bytes *text)
{
  for (size_t at = 0; status && at < text->size; at += 1000) /* cmocka cuts longer messages */
    print_error("%.1000s", text->data + at);
  assert_ok(status, what, seed);
}

/* Returns whether the relaxed program executes an undefined row.  Its compiled text may then compute other values. */
static bool
is_undefined(const vyre_module *module, uint32_t seed)
{
  memory unused;
  vyre_status status = random_program_run(module, seed, true, 0, &unused);
  const bool undefined = status != NULL;
  vyre_status_free(status);
  return undefined;
}

/* Returns whether an inexact function, round or roundeven has constant operands.  glslang folds such functions in double by the C
 * library, and rounds small numbers to a zero of the wrong sign. */
static bool
folds_a_function(const vyre_module *module)
{
  const vyre_view *v = vyre_module_view(module);
  bool found = false, *constant = calloc(v->rows, sizeof *constant);
  for (uint32_t row = 1; constant && row < v->rows && !found; row++) {
    const vyre_op_info *info = &vyre_op_infos[VYRE_ROW_OP(v->op[row])];
    const uint32_t operands[3] = {v->a[row], v->b[row], v->c[row]};
    constant[row] = (info->flags & VYRE_OP_PURE) && (info->operands > 0 || VYRE_ROW_OP(v->op[row]) == VYRE_OP_const);
    for (uint32_t k = 0; k < 3; k++)
      constant[row] = constant[row] && (!operands[k] || constant[operands[k]]);
    if (VYRE_ROW_OP(v->op[row]) == VYRE_OP_lane && constant[v->a[row]])
      constant[row] = true; /* the same in all lanes */
    const bool rounds = VYRE_ROW_OP(v->op[row]) == VYRE_OP_round || VYRE_ROW_OP(v->op[row]) == VYRE_OP_roundeven;
    found = constant[row] && (info->fold == VYRE_FOLD_LIBM || rounds);
  }
  free(constant);
  return found;
}

/* Compares the outputs.  All NaNs are equal, because glslang folds constants to NaNs with other bits. */
static bool
agree(const memory *left, const memory *right)
{
  for (uint32_t i = 0; i < OUT_WORDS; i++) {
    const bool nan = (left->out[i] & 0x7fffffffu) > 0x7f800000u && (right->out[i] & 0x7fffffffu) > 0x7f800000u;
    if (left->out[i] != right->out[i] && !nan)
      return false;
  }
  return true;
}

/* Compiles the text and imports the result as a module.  Returns NULL if glslang refuses the text for a known cause. */
static vyre_module *
compile(const vyre_bytes *text, uint32_t seed)
{
  vyre_bytes words = {0};
  vyre_verify_errors errors = {0};
  vyre_module *module = NULL;
  if (glsl_accepts(text, &words)) {
    assert_ok(vyre_module_create(NULL, 1u << 20, &module), "create", seed);
    assert_written(vyre_spirv_read(module, words.data, words.size, "written.glsl"), "import", seed, text);
    assert_ok(vyre_module_seal(module, NULL), "seal", seed);
    assert_written(vyre_verify(module, &errors), "verify", seed, text);
  }
  vyre_verify_errors_free(&errors);
  vyre_bytes_free(&words);
  return module;
}

static void
print_difference(const vyre_module *module, uint32_t seed, const vyre_bytes *text, const memory *got, const memory *wanted)
{
  vyre_bytes printed = {0};
  for (uint32_t i = 0; i < OUT_WORDS; i++)
    if (got->out[i] != wanted->out[i])
      print_error("seed %u: out[%u] is 0x%08x, was 0x%08x\n", seed, i, got->out[i], wanted->out[i]);
  if (!vyre_text_print(module, NULL, &printed))
    for (size_t at = 0; at < printed.size; at += 1000)
      print_error("%.1000s", printed.data + at);
  for (size_t at = 0; at < text->size; at += 1000)
    print_error("%.1000s", text->data + at);
  vyre_bytes_free(&printed);
}

/* Runs the program of the text and compares its results with those that are wanted.  Returns whether they are equal. */
static bool
compare(const vyre_module *module, const vyre_bytes *text, uint32_t seed, const memory *wanted)
{
  const bool relaxed = seed & 1;
  vyre_module *back = compile(text, seed);
  memory got;
  if (!back)
    return false;
  assert_written(random_program_run(back, seed, false, 0, &got), "as written", seed, text);
  const bool equal = agree(&got, wanted);
  if (!equal && !folds_a_function(module) && !(relaxed && is_undefined(module, seed))) {
    print_difference(module, seed, text, &got, wanted);
    fail();
  }
  vyre_module_destroy(back);
  return equal;
}

/* Runs a random program before and after it is written as text.  Returns whether the results are equal; a program that SPIRV-Cross
 * refuses, or whose results are not defined, has none. */
static bool
check(uint32_t seed)
{
  const bool relaxed = seed & 1;
  vyre_module *module = random_module(seed, (relaxed ? RANDOM_RELAXED : 0) | (seed & 2 ? RANDOM_WIDE : 0));
  vyre_bytes words = {0}, text = {0};
  memory wanted;
  bool equal = false;
  run_program(module, seed, "as built", &wanted);
  vyre_status written = vyre_spirv_write(module, 0, NULL, &words);
  if (!written)
    written = vyre_cross_write(words.data, words.size, "random.spv", NULL, &text);
  if (written && (strstr(vyre_status_text(written), "cannot be written as") || strstr(vyre_status_text(written), " has no "))) {
    if (getenv("VYRE_TEST_VERBOSE"))
      print_message("seed %u: %s\n", seed, vyre_status_text(written));
    vyre_status_free(written);
  } else {
    assert_ok(written, "write", seed);
    equal = compare(module, &text, seed, &wanted);
  }
  vyre_bytes_free(&text);
  vyre_bytes_free(&words);
  vyre_module_destroy(module);
  return equal;
}

TEST(random_programs_compute_the_same)
{
  const uint32_t first = budget_number("VYRE_SEED", 1), runs = budget_runs(60);
  uint32_t same = 0;
  for (uint32_t seed = first; seed < first + runs; seed++)
    same += check(seed);
  print_message("%u of %u programs compared\n", same, runs);
  assert_true(same * 8 > runs); /* SPIRV-Cross refuses the others */
}
