/* Random programs compute the same before and after each pass, and pipelines of them.
 *
 * Compared are the bytes of all buffers after a run on the interpreter; a relaxed program is evaluated the strict way on both
 * sides, which these passes keep.  Every pass is verified, and held to what it says of its changes.  VYRE_SEED and VYRE_RUNS in the
 * environment give more.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "random_program.h"
#include "vyre/passmgr.h"
#include "vyre/run.h"
#include "vyre/text.h"
#include "vyre/verify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char *const pipelines[] = {"canon", "cf", "dce", "canon,cf,dce", "dce,cf,canon,dce", "fixpoint(canon,cf,dce)"};

#define OUT_WORDS (RANDOM_INVOCATIONS * RANDOM_WORDS)
#define IN_WORDS  64u

typedef struct memory {
  uint32_t out[OUT_WORDS], in[IN_WORDS];
} memory;

static uint32_t
from_environment(const char *name, uint32_t fallback)
{
  const char *text = getenv(name);
  return text ? (uint32_t)strtoul(text, NULL, 0) : fallback;
}

static void
assert_ok(vyre_status status, const char *what, uint32_t seed)
{
  if (status)
    print_error("seed %u, %s: %s\n", seed, what, vyre_status_text(status));
  assert_null(status);
}

static void
run_program(const vyre_module *module, uint32_t seed, const char *what, memory *out)
{
  const vyre_view *v = vyre_module_view(module);
  vyre_binding bindings[2];
  vyre_dispatch dispatch = {.program = {v->first[0]}, .groups = {2, 1, 1}, .bindings = bindings};
  vyre_interp_options options = {.steps = 1u << 20};
  memset(out->out, 0xab, sizeof out->out);
  for (uint32_t i = 0; i < IN_WORDS; i++)
    out->in[i] = i < 8 ? i : (i * 2654435761u) ^ seed << (i & 15);
  for (uint32_t row = v->first[v->first[0]]; row; row = v->next[row]) {
    if (VYRE_ROW_OP(v->op[row]) != VYRE_OP_buffer || VYRE_BUFFER_SPACE(v->imm_hi[row]) != VYRE_SPACE_STORAGE)
      continue;
    if (vyre_buffer_info_of((vyre_module *)module, (vyre_row){row})->binding == 0)
      bindings[dispatch.binding_count++] = (vyre_binding){{row}, out->out, sizeof out->out};
    else
      bindings[dispatch.binding_count++] = (vyre_binding){{row}, out->in, sizeof out->in};
  }
  assert_int_equal(dispatch.binding_count, 2);
  assert_ok(vyre_interp_run(module, &dispatch, &options, NULL), what, seed);
}

static void
print_module(const vyre_module *module)
{
  vyre_bytes text = {0};
  if (!vyre_text_print(module, NULL, &text))
    print_error("%s\n", text.data);
  vyre_bytes_free(&text);
}

static vyre_registry *
open_registry(void)
{
  vyre_registry *registry;
  assert_null(vyre_registry_create(NULL, &registry));
  assert_null(vyre_registry_load_folder(registry, VYRE_TEST_PASSES, VYRE_ORIGIN_CORE));
  return registry;
}

/* One program through one pipeline; rows that it takes away are counted. */
static void
check_pipeline(const vyre_module *before, const memory *wanted, const vyre_pipeline *pipeline, const char *text, uint32_t seed,
               uint64_t *removed)
{
  const vyre_pipeline_options options = {.verify_each = true, .check_changed = true};
  vyre_module *after;
  memory got;
  assert_ok(vyre_module_clone(before, &after), text, seed);
  assert_ok(vyre_pipeline_run(pipeline, after, &options), text, seed);
  run_program(after, seed, text, &got);
  if (memcmp(&got, wanted, sizeof got) != 0) {
    for (uint32_t i = 0; i < OUT_WORDS; i++)
      if (got.out[i] != wanted->out[i])
        print_error("seed %u, %s: out[%u] is 0x%08x, was 0x%08x\n", seed, text, i, got.out[i], wanted->out[i]);
    print_module(before);
    print_module(after);
    fail();
  }
  *removed += vyre_module_view(before)->rows - vyre_module_view(after)->rows;
  vyre_module_destroy(after);
}

static void
passes_keep_what_programs_compute(void **state)
{
  enum { COUNT = sizeof pipelines / sizeof pipelines[0] };
  vyre_registry *registry = open_registry();
  vyre_pipeline *parsed[COUNT];
  uint64_t removed[COUNT] = {0};
  uint32_t seed = from_environment("VYRE_SEED", 1), runs = from_environment("VYRE_RUNS", 300);
  (void)state;
  for (uint32_t p = 0; p < COUNT; p++)
    assert_ok(vyre_pipeline_parse(registry, pipelines[p], strlen(pipelines[p]), "-passes", &parsed[p]), pipelines[p], 0);
  for (uint32_t end = seed + runs; seed != end; seed++) {
    vyre_module *module;
    vyre_verify_errors errors = {0};
    memory wanted;
    assert_ok(vyre_module_create(NULL, 1u << 20, &module), "create", seed);
    random_program_build(module, seed, seed & 1);
    assert_ok(vyre_module_status(module), "build", seed);
    assert_ok(vyre_module_seal(module, NULL), "seal", seed);
    assert_ok(vyre_verify(module, &errors), "verify", seed);
    vyre_verify_errors_free(&errors);
    run_program(module, seed, "as built", &wanted);
    for (uint32_t p = 0; p < COUNT; p++)
      check_pipeline(module, &wanted, parsed[p], pipelines[p], seed, &removed[p]);
    vyre_module_destroy(module);
  }
  assert_true(removed[2] > 10 * (uint64_t)runs); /* the programs have something to remove: dce alone, */
  assert_true(removed[3] > removed[2]);          /* and more of it once constants are folded */
  for (uint32_t p = 0; p < COUNT; p++)
    vyre_pipeline_destroy(parsed[p]);
  vyre_registry_destroy(registry);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(passes_keep_what_programs_compute)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
