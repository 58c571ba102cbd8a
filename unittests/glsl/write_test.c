/* GLSL output: the text compiles, computes the same values, and executes nothing that SPIR-V leaves undefined if the program was
 * strict.  VYRE_SEED and VYRE_RUNS in the environment set the first seed and the number of random programs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../budget.h"
#include "../passes/random_run.h"

#include "vyre/glsl.h"
#include "vyre/spirv.h"

static void
print_diagnostic(void *user, const vyre_diagnostic *diagnostic)
{
  (void)user;
  print_error("%u: %s\n", diagnostic->line, diagnostic->message);
}

static void
assert_written(vyre_status status, const char *what, uint32_t seed, const vyre_bytes *text)
{
  for (size_t at = 0; status && at < text->size; at += 1000) /* cmocka cuts longer messages */
    print_error("%.1000s", text->data + at);
  assert_ok(status, what, seed);
}

/* Returns whether the device defines the undefined result that the status reports, also in a strict program.  Such results are
 * those of inexact functions outside their domain, and of subgroup ops with inactive lanes or NaNs. */
static bool
is_of_the_device(vyre_status status)
{
  for (uint32_t op = 0; op < VYRE_OP__COUNT; op++) {
    char word[64];
    const vyre_op_info *info = &vyre_op_infos[op];
    if (info->undefined != VYRE_UNDEFINED_DOMAIN && info->fold != VYRE_FOLD_LIBM && op < VYRE_OP_subgroup_elect)
      continue;
    snprintf(word, sizeof word, " (%s)", info->text);
    if (strstr(vyre_status_text(status), word))
      return true;
  }
  return false;
}

static void
assert_defined(const vyre_module *module, uint32_t seed, const vyre_bytes *text)
{
  memory unused;
  vyre_status status = random_program_run(module, seed, true, 0, &unused);
  if (status && is_of_the_device(status))
    vyre_status_free(status);
  else
    assert_written(status, "as written", seed, text);
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

/* Compiles the text and imports the result as a module. */
static vyre_module *
compile(const vyre_bytes *text, uint32_t seed)
{
  const vyre_glsl_options options = {0};
  vyre_bytes words = {0};
  vyre_verify_errors errors = {0};
  vyre_module *module;
  assert_written(
      vyre_glsl_compile(text->data, text->size, "written.glsl", &options, (vyre_diagnostics){print_diagnostic, NULL}, &words),
      "compile", seed, text);
  assert_ok(vyre_module_create(NULL, 1u << 20, &module), "create", seed);
  assert_written(vyre_spirv_read(module, words.data, words.size, "written.glsl"), "import", seed, text);
  assert_ok(vyre_module_seal(module, NULL), "seal", seed);
  assert_written(vyre_verify(module, &errors), "verify", seed, text);
  vyre_verify_errors_free(&errors);
  vyre_bytes_free(&words);
  return module;
}

TEST(random_programs_compute_the_same)
{
  uint32_t seed = budget_number("VYRE_SEED", 1), runs = budget_runs(120);
  uint32_t same = 0;
  for (uint32_t end = seed + runs; seed != end; seed++) {
    const bool relaxed = seed & 1;
    vyre_module *module = random_module(seed, (relaxed ? RANDOM_RELAXED : 0) | (seed & 2 ? RANDOM_WIDE : 0));
    vyre_bytes text = {0};
    memory wanted, got;
    run_program(module, seed, "as built", &wanted);
    vyre_status written = vyre_glsl_write(module, (vyre_row){vyre_module_view(module)->first[0]}, &text);
    if (written && (strstr(vyre_status_text(written), "Fix: write SPIR-V") || /* not expressible in GLSL */
                    strstr(vyre_status_text(written), "GLSL cannot query") || strstr(vyre_status_text(written), "GLSL has no"))) {
      vyre_status_free(written);
      vyre_module_destroy(module);
      continue;
    }
    assert_ok(written, "write", seed);
    vyre_module *back = compile(&text, seed);
    assert_written(random_program_run(back, seed, false, 0, &got), "as written", seed, &text);
    if (!relaxed)
      assert_defined(back, seed, &text);
    const bool equal = agree(&got, &wanted);
    same += equal;
    if (!equal && !folds_a_function(module) && !(relaxed && is_undefined(module, seed))) {
      vyre_bytes printed = {0};
      for (uint32_t i = 0; i < OUT_WORDS; i++)
        if (got.out[i] != wanted.out[i])
          print_error("seed %u: out[%u] is 0x%08x, was 0x%08x\n", seed, i, got.out[i], wanted.out[i]);
      if (!vyre_text_print(module, NULL, &printed))
        for (size_t at = 0; at < printed.size; at += 1000)
          print_error("%.1000s", printed.data + at);
      for (size_t at = 0; at < text.size; at += 1000)
        print_error("%.1000s", text.data + at);
      vyre_bytes_free(&printed);
      fail();
    }
    vyre_bytes_free(&text);
    vyre_module_destroy(back);
    vyre_module_destroy(module);
  }
  assert_true(same * 4 > runs); /* GLSL refuses about half of the programs */
}
