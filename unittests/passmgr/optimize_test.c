/* vyre_optimize: its outputs, errors and options, threads, and memory that runs out.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../status.h"
#include "../test_allocator.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vyre/optimize.h"

/* Computes 8 * N for a specialization constant N, in a loop. */
static const char shader[] = "#version 450\n"
                             "layout(local_size_x = 64) in;\n"
                             "layout(constant_id = 3) const int N = 4;\n"
                             "layout(binding = 0) buffer B { int a[]; };\n"
                             "void main() {\n"
                             "  int sum = 0;\n"
                             "  for (int i = 0; i < N; i++) sum += 8;\n"
                             "  a[gl_GlobalInvocationID.x] = sum;\n"
                             "}\n";

static vyre_optimize_options
options_for(const char *emit)
{
  return (vyre_optimize_options){.struct_size = sizeof(vyre_optimize_options), .emit = emit};
}

/* Optimizes the shader's text. */
static vyre_bytes
optimize(const vyre_optimize_options *options)
{
  vyre_bytes out = {0};
  assert_ok(vyre_optimize(options, shader, strlen(shader), &out));
  return out;
}

TEST(each_output_format_is_written)
{
  static const char *const forms[][2] = {{"spvasm", "OpCapability Shader"},
                                         {"glsl", "#version 460"},
                                         {"hlsl", "numthreads(64, 1, 1)"},
                                         {"msl", "kernel void"},
                                         {"vir", "program @main"},
                                         {"c", "int32_t"},
                                         {"ptx", ".entry"}};
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    const vyre_optimize_options options = options_for(forms[i][0]);
    vyre_bytes out = optimize(&options);
    assert_non_null(strstr(out.data, forms[i][1]));
    vyre_bytes_free(&out);
  }
}

TEST(output_is_appended_and_repeats)
{
  vyre_bytes once = optimize(NULL), twice = {0};
  assert_memory_equal(once.data, "\x03\x02\x23\x07", 4);
  assert_ok(vyre_bytes_append(&twice, "head", 4));
  for (int i = 0; i < 2; i++)
    assert_ok(vyre_optimize(NULL, shader, strlen(shader), &twice));
  assert_int_equal(twice.size, 4 + 2 * once.size);
  assert_memory_equal(twice.data + 4, once.data, once.size);
  assert_memory_equal(twice.data + 4 + once.size, once.data, once.size);
  vyre_bytes_free(&once);
  vyre_bytes_free(&twice);
}

TEST(without_passes_spirv_is_copied)
{
  vyre_optimize_options options = options_for(NULL);
  options.passes = "";
  vyre_bytes compiled = optimize(&options), copied = {0}, optimized = optimize(NULL), again = {0};
  assert_ok(vyre_optimize(&options, compiled.data, compiled.size, &copied));
  assert_ok(vyre_optimize(NULL, compiled.data, compiled.size, &again));
  assert_true(optimized.size < compiled.size);
  assert_same_bytes(compiled, copied);
  assert_same_bytes(optimized, again);
}

TEST(specialization_values_become_constants)
{
  static const char *const values[] = {"3=5"};
  vyre_optimize_options options = options_for("vir");
  options.specialization = (vyre_specialization){.values = values, .count = 1, .freeze = true};
  vyre_bytes frozen = optimize(&options);
  assert_non_null(strstr(frozen.data, "5i32"));
  assert_null(strstr(frozen.data, "spec"));
  options.specialization.freeze = false;
  vyre_bytes kept = optimize(&options);
  assert_non_null(strstr(kept.data, "spec"));
  vyre_bytes_free(&frozen);
  vyre_bytes_free(&kept);
}

TEST(options_of_texts_are_used)
{
  static const char hlsl[] = "RWStructuredBuffer<uint> a : register(u0);\n"
                             "[numthreads(1, 1, 1)] void work() { a[0] = X; }\n";
  static const char *const defines[] = {"X=77"};
  vyre_optimize_options options = options_for("vir");
  options.language = "hlsl";
  options.entry_point = "work";
  options.defines = defines;
  options.define_count = 1;
  options.stage = "comp";
  options.target_env = "vulkan1.1";
  vyre_bytes out = {0};
  assert_ok(vyre_optimize(&options, hlsl, strlen(hlsl), &out));
  assert_non_null(strstr(out.data, "77u32"));
  vyre_bytes_free(&out);
}

/* ---- errors -------------------------------------------------------------------------------------------------------------- */

static void
assert_refused(const vyre_optimize_options *options, const char *text, vyre_code code, const char *message)
{
  vyre_bytes out = {0};
  assert_ok(vyre_bytes_append(&out, "kept", 4));
  assert_error(vyre_optimize(options, text, strlen(text), &out), code, message);
  assert_int_equal(out.size, 4);
  vyre_bytes_free(&out);
}

TEST(wrong_options_are_usage_errors)
{
  vyre_optimize_options options = options_for("exe");
  assert_refused(&options, shader, VYRE_CODE_USAGE, "'exe' is not an output format");
  options = options_for(NULL);
  options.passes = "dce,,";
  assert_refused(&options, shader, VYRE_CODE_USAGE, "passes:1:5");
  options = options_for(NULL);
  options.language = "cg";
  assert_refused(&options, shader, VYRE_CODE_USAGE, "'cg' is not a language");
  options = options_for(NULL);
  options.plugins = (const char *const[]){"/nowhere/no.so"};
  options.plugin_count = 1;
  assert_refused(&options, shader, VYRE_CODE_USAGE, "/nowhere/no.so");
}

TEST(missing_pointers_are_usage_errors)
{
  vyre_bytes out = {0};
  vyre_optimize_options options = options_for(NULL);
  assert_error(vyre_optimize(NULL, NULL, 40, &out), VYRE_CODE_USAGE, "data is NULL");
  assert_error(vyre_optimize(NULL, shader, strlen(shader), NULL), VYRE_CODE_USAGE, "out is NULL");
  assert_error(vyre_optimize(NULL, NULL, 0, &out), VYRE_CODE_INPUT, "shader");
  assert_error(vyre_optimize_many(NULL, NULL, sizeof(vyre_optimize_item), 2, 1), VYRE_CODE_USAGE, "items is NULL");
  options.define_count = 1;
  assert_refused(&options, shader, VYRE_CODE_USAGE, "defines has 1 elements, but element 0 is NULL");
  options = options_for(NULL);
  options.plugins = (const char *const[]){NULL};
  options.plugin_count = 1;
  assert_refused(&options, shader, VYRE_CODE_USAGE, "plugins has 1 elements");
}

TEST(only_digits_are_ids_of_constants)
{
  static const char *const wrong[] = {"=5", "+3=5", " 3=5"};
  for (size_t i = 0; i < 3; i++) {
    vyre_optimize_options options = options_for("vir");
    options.specialization = (vyre_specialization){.values = &wrong[i], .count = 1};
    assert_refused(&options, shader, VYRE_CODE_INPUT, "there is no specialization constant");
  }
}

/* Takes the lock of kept pipelines again and again, while a plugin is searched. */
static void *
use_lock(void *user)
{
  const char *path = "/nowhere/no.so";
  vyre_optimize_options options = options_for(NULL);
  options.plugins = &path;
  options.plugin_count = 1;
  for (const atomic_bool *has_ended = user; !*has_ended;) {
    vyre_bytes out = {0};
    vyre_status_free(vyre_optimize(&options, shader, strlen(shader), &out));
  }
  return NULL;
}

TEST(a_forked_process_optimizes)
{
  atomic_bool has_ended = false;
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, use_lock, &has_ended), 0);
  for (int i = 0; i < 20; i++) {
    const pid_t child = fork();
    if (child == 0) {
      vyre_optimize_options options = options_for(NULL);
      vyre_bytes out = {0};
      options.passes = "dce";
      alarm(60);
      _exit(vyre_optimize(&options, shader, sizeof shader - 1, &out) ? 1 : 0);
    }
    int status = 1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
  }
  has_ended = true;
  pthread_join(thread, NULL);
}

TEST(a_struct_of_another_size_is_checked)
{
  struct {
    vyre_optimize_options options;
    char added[16];
  } newer = {.options = options_for(NULL)};
  newer.options.struct_size = 0;
  assert_refused(&newer.options, shader, VYRE_CODE_USAGE, "struct_size of vyre_optimize_options is 0");
  newer.options.struct_size = sizeof newer;
  vyre_bytes out = optimize(&newer.options);
  vyre_bytes_free(&out);
  newer.added[9] = 1;
  assert_refused(&newer.options, shader, VYRE_CODE_USAGE, "an option of vyre_optimize_options after the");
  newer.options.struct_size = SIZE_MAX; /* reads no farther than a plausible struct */
  assert_refused(&newer.options, shader, VYRE_CODE_USAGE, "an option of vyre_optimize_options after the");
}

typedef struct messages {
  uint32_t count;
  char first[200];
} messages;

static void
keep_message(void *user, const vyre_diagnostic *diagnostic)
{
  messages *m = user;
  if (m->count++ == 0)
    snprintf(m->first, sizeof m->first, "%s:%u: %s", diagnostic->file, (unsigned)diagnostic->line, diagnostic->message);
}

TEST(errors_of_a_shader_are_diagnostics)
{
  messages m = {0};
  vyre_optimize_options options = options_for(NULL);
  options.path = "bad.comp";
  options.diagnostics = (vyre_diagnostics){keep_message, &m};
  assert_refused(&options, "#version 450\nvoid main() { x = 1; }\n", VYRE_CODE_INPUT, "bad.comp: ");
  assert_true(m.count > 0);
  assert_string_equal(m.first, "bad.comp:2: 'x' : undeclared identifier ");
  assert_refused(&options, "program @p relaxed workgroup(1, 1, 1) {\n  %a = nope\n}\n", VYRE_CODE_INPUT, "bad.comp");
  assert_refused(&options, "", VYRE_CODE_INPUT, "bad.comp");
  options.diagnostics.emit = NULL;
  assert_refused(&options, "#version 450\nvoid main() { x = 1; }\n", VYRE_CODE_INPUT,
                 "bad.comp:2: error: 'x' : undeclared identifier");
}

/* ---- many shaders -------------------------------------------------------------------------------------------------------- */

enum { ITEMS = 4000, BAD = 77 };

TEST(many_shaders_have_the_bytes_of_one)
{
  static vyre_optimize_item items[ITEMS];
  messages m = {0}, own = {0};
  vyre_optimize_options options = options_for(NULL);
  options.diagnostics = (vyre_diagnostics){keep_message, &m};
  const vyre_optimize_options compile = {.struct_size = sizeof compile, .passes = ""};
  vyre_bytes compiled = optimize(&compile), one = optimize(NULL);
  for (uint32_t i = 0; i < ITEMS; i++)
    items[i] = (vyre_optimize_item){.data = compiled.data, .size = compiled.size};
  items[BAD] = (vyre_optimize_item){.path = "bad.comp", .data = shader, .size = 40};
  assert_error(vyre_optimize_many(&options, items, sizeof *items, ITEMS, 4), VYRE_CODE_INPUT,
               "1 of 4000 shaders failed, the first one at index 77");
  for (uint32_t i = 0; i < ITEMS; i++) {
    if (i == BAD) {
      assert_error(items[i].status, VYRE_CODE_INPUT, "bad.comp");
      continue;
    }
    assert_ok(items[i].status);
    assert_int_equal(items[i].out.size, one.size);
    assert_memory_equal(items[i].out.data, one.data, one.size);
    vyre_bytes_free(&items[i].out);
  }
  assert_true(m.count > 0);
  const uint32_t before = m.count;
  items[BAD].diagnostics = (vyre_diagnostics){keep_message, &own};
  assert_error(vyre_optimize_many(&options, &items[BAD], sizeof *items, 1, 4), VYRE_CODE_INPUT, "1 of 1 shaders failed");
  assert_error(items[BAD].status, VYRE_CODE_INPUT, "bad.comp");
  assert_true(own.count > 0);
  assert_int_equal(m.count, before);
  vyre_bytes_free(&compiled);
  vyre_bytes_free(&one);
  assert_ok(vyre_optimize_many(NULL, NULL, sizeof *items, 0, 0));
  assert_error(vyre_optimize_many(NULL, items, sizeof *items - 8, ITEMS, 0), VYRE_CODE_USAGE, "item_size is");
  options.emit = "exe";
  assert_error(vyre_optimize_many(&options, items, sizeof *items, ITEMS, 0), VYRE_CODE_USAGE, "'exe'");
}

TEST(pipelines_are_evicted_and_made_again)
{
  vyre_bytes first = {0}, last = {0};
  for (int i = 0; i <= 100; i++) {
    char passes[64];
    snprintf(passes, sizeof passes, "repeat<%d>(dce)", i % 100 + 1);
    vyre_optimize_options options = options_for(NULL);
    options.passes = passes;
    last.size = 0;
    assert_ok(vyre_optimize(&options, shader, strlen(shader), i ? &last : &first));
  }
  assert_same_bytes(first, last);
  vyre_optimize_end();
  vyre_optimize_end();
  last = optimize(NULL);
  vyre_bytes_free(&last);
}

/* ---- memory -------------------------------------------------------------------------------------------------------------- */

static vyre_status
optimize_with(const vyre_allocator *allocator, void *user)
{
  const vyre_bytes *compiled = user;
  vyre_optimize_options options = options_for(NULL);
  options.allocator = allocator;
  vyre_bytes out = {.allocator = allocator};
  vyre_status status = vyre_optimize(&options, compiled->data, compiled->size, &out);
  vyre_bytes_free(&out);
  return status;
}

TEST(memory_that_runs_out_is_an_error)
{
  vyre_optimize_options options = options_for(NULL);
  options.passes = "";
  vyre_bytes compiled = optimize(&options);
  assert_true(test_each_failure(optimize_with, &compiled, false, 1) > 20);
  assert_true(test_each_failure(optimize_with, &compiled, true, 1) > 20);
  vyre_bytes_free(&compiled);
  vyre_optimize_end();
}
