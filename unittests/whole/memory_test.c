/* Each allocation, reservation and commit in the steps of a module fails once, alone or with all later ones.  The status reports
 * the failure, nothing is leaked, and no output is incomplete.  Data that a failed step only read can be used again.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../budget.h"
#include "../test.h"
#include "../test_allocator.h"
#include "whole.h"

#include <spirv/unified1/spirv.h>

#include <unistd.h>

/* Returns whether the step does not change its inputs. */
static bool
is_repeatable(const char *step)
{
  static const char *const steps[] = {"listing passes", "explaining a pass", "parsing a pipeline", "printing a pipeline",
                                      "verifying",      "cloning",           "printing",           "writing VIR0",
                                      "writing SPIR-V", "writing GLSL"};
  for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
    if (strcmp(step, steps[i]) == 0)
      return true;
  return false;
}

static void
require(vyre_status status, const char *what)
{
  if (status)
    fail_msg("%s: %s", what, vyre_status_text(status));
}

/* Runs step `k` with its n-th allocation failing.  If that reserves address space, a module may succeed with less.  Returns false
 * if the step made fewer than n allocations. */
static bool
fail_one(const char *path, unsigned k, uint64_t n, bool sticky)
{
  const char *name = whole_steps[k].name;
  test_memory memory;
  vyre_allocator allocator = test_allocator(&memory, 0);
  whole w = {.path = path, .allocator = &allocator, .out = {.allocator = &allocator}};
  for (unsigned i = 0; i < k; i++)
    require(whole_steps[i].run(&w), whole_steps[i].name);
  size_t size = w.out.size;
  memory.calls = 0;
  memory.fail_at = n;
  memory.sticky = sticky;
  vyre_status status = whole_steps[k].run(&w);
  memory.fail_at = 0;
  bool refused = memory.calls >= n;
  if (!refused || (memory.refused && !status)) {
    require(status, name);
  } else {
    if (vyre_status_code(status) != VYRE_CODE_INPUT || !strstr(vyre_status_text(status), "memory"))
      fail_msg("%s, allocation %u: '%s'", name, (unsigned)n, vyre_status_text(status));
    if (strcmp(name, "interpreting") != 0)
      assert_int_equal(w.out.size, size);
    assert_int_equal(w.file.size, strcmp(name, "writing VIR0") == 0 ? 0 : w.file.size);
    if (is_repeatable(name))
      require(whole_steps[k].run(&w), "again");
  }
  vyre_status_free(status);
  whole_free(&w);
  if (memory.out || memory.reserved)
    fail_msg("%s, allocation %u: %zu bytes and %zu of address space are left", name, (unsigned)n, memory.out, memory.reserved);
  return refused;
}

static void
sweep(const char *path)
{
  for (unsigned k = 0; k < whole_step_count; k++) {
    uint64_t n = 1;
    while (fail_one(path, k, n, false) && fail_one(path, k, n, true))
      n += budget_step();
    if (getenv("VYRE_TEST_VERBOSE"))
      print_message("%s: %u allocations %s\n", path, (unsigned)n - 1, whole_steps[k].name);
  }
}

TEST(steps_of_a_text_may_run_out_of_memory)
{
  sweep(VYRE_TEST_SOURCES "/unittests/text/corpus/memory.vir");
}

/* Adds a vertex shader, whose function can only be inserted at the ends of the module's words. */
static void
add_stage(vyre_bytes *words)
{
  const uint32_t *from = (const uint32_t *)(const void *)words->data, count = (uint32_t)(words->size / 4);
  uint32_t nothing = 0, function = 0, modes = 0, id = from[3];
  vyre_bytes out = {0};
  for (uint32_t at = 5; at < count; at += from[at] >> 16) {
    const uint32_t op = from[at] & 0xffffu;
    nothing = op == SpvOpTypeVoid ? from[at + 1] : nothing;
    function = op == SpvOpTypeFunction && from[at] >> 16 == 3 && from[at + 2] == nothing ? from[at + 1] : function;
    modes = op == SpvOpExecutionMode && !modes ? at : modes;
  }
  const uint32_t header[5] = {from[0], from[1], from[2], id + 2, 0};
  const uint32_t entry[4] = {4u << 16 | SpvOpEntryPoint, SpvExecutionModelVertex, id, 'v'};
  const uint32_t body[] = {
      5u << 16 | SpvOpFunction,   nothing, id, 0, function, 2u << 16 | SpvOpLabel, id + 1, 1u << 16 | SpvOpReturn,
      1u << 16 | SpvOpFunctionEnd};
  require(vyre_bytes_append(&out, header, sizeof(header)), "a header");
  require(vyre_bytes_append(&out, from + 5, (modes - 5) * sizeof(uint32_t)), "the part before entry points");
  require(vyre_bytes_append(&out, entry, sizeof(entry)), "the entry point");
  require(vyre_bytes_append(&out, from + modes, (count - modes) * sizeof(uint32_t)), "the rest");
  require(vyre_bytes_append(&out, body, sizeof(body)), "a function");
  vyre_bytes_free(words);
  *words = out;
}

TEST(steps_of_spirv_may_run_out_of_memory)
{
  char path[] = "/tmp/vyre-memory-XXXXXX";
  vyre_bytes text = {0}, words = {0};
  static const char source[] = VYRE_TEST_SOURCES "/examples/shaders/reduce.comp";
  static const vyre_glsl_options options = {.struct_size = sizeof options, .debug = true};
  int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  require(vyre_file_read(source, &text), "a shader");
  require(vyre_glsl_compile(text.data, text.size, source, &options, (vyre_diagnostics){0}, &words), "compiling");
  add_stage(&words);
  require(vyre_file_write(path, words.data, words.size), "writing");
  sweep(path);
  unlink(path);
  vyre_bytes_free(&text);
  vyre_bytes_free(&words);
}
