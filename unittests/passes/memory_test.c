/* Each allocation that a pass makes through its host fails once, in default<O2> and in the passes outside of it.  The pass
 * reports the failure, nothing is leaked, and the module can be destroyed.  The host allocates in chunks, so few of these
 * allocations reach an allocator; unittests/whole fails the allocator's.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "../test_allocator.h"
#include "random_program.h"
#include "vyre/passmgr.h"
#include "vyre/plugin.h"

#include <dirent.h>
#include <dlfcn.h>

/* Each pass of the core. */
#define EACH_OF_SOME(X) X(canon) X(cf) X(cid) X(contract) X(cprop) X(cse) X(dbe) X(dce) X(dse)
#define EACH_OF_MORE(X) EACH_OF_SOME(X) X(early) X(expand) X(half) X(licm) X(limits) X(pm) X(relax) X(remainder)
#define EACH(X)         EACH_OF_MORE(X) X(shash) X(simplify) X(uncopy)
#define INDEX(name)     PASS_##name,
#define NAME(name)      #name,
enum { EACH(INDEX) PASSES };
static const char *const names[] = {EACH(NAME)};

static const vyre_pass *real[PASSES];
static vyre_pass wrapped[PASSES];
static uint64_t requests, fail_at;
static uint32_t failures[PASSES]; /* failed requests, by pass */
static uint32_t running;
static vyre_host host; /* the real host, except for alloc */
static void *(*real_alloc)(vyre_pass_ctx *ctx, size_t bytes);

static void *
alloc(vyre_pass_ctx *ctx, size_t bytes)
{
  if (++requests != fail_at)
    return real_alloc(ctx, bytes);
  failures[running]++;
  return NULL;
}

/* Replaces the host of the pass by the one that fails, and returns the real host. */
static const vyre_host *
replace_host(uint32_t pass, vyre_pass_ctx *ctx)
{
  const vyre_host *own = ctx->host;
  host = *own;
  real_alloc = host.alloc;
  host.alloc = alloc;
  running = pass;
  ctx->host = &host;
  return own;
}

static vyre_status
run(uint32_t pass, vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_host *own = replace_host(pass, ctx);
  vyre_status status = real[pass]->run(ctx, module, out);
  ctx->host = own;
  return status;
}

static vyre_status
prepare(uint32_t pass, vyre_pass_ctx *ctx, const vyre_module *module)
{
  const vyre_host *own = replace_host(pass, ctx);
  vyre_status status = real[pass]->prepare(ctx, module);
  ctx->host = own;
  return status;
}

/* Defines functions for each pass, because a pass has no parameter that identifies it. */
#define FUNCTIONS(name)                                                             \
  static vyre_status run_##name(vyre_pass_ctx *c, vyre_module *m, vyre_result *out) \
  {                                                                                 \
    return run(PASS_##name, c, m, out);                                             \
  }                                                                                 \
  static vyre_status prepare_##name(vyre_pass_ctx *c, const vyre_module *m)         \
  {                                                                                 \
    return prepare(PASS_##name, c, m);                                              \
  }
#define PAIR(name) {run_##name, prepare_##name},
EACH(FUNCTIONS)
static const struct {
  vyre_status (*run)(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out);
  vyre_status (*prepare)(vyre_pass_ctx *ctx, const vyre_module *module);
} functions[] = {EACH(PAIR)};

static const vyre_plugin *
query(const vyre_host *given)
{
  static const vyre_pass *passes[PASSES];
  static const vyre_plugin plugin = {sizeof(vyre_plugin), VYRE_PLUGIN_ABI, "core", "1", 1, VYRE_OPSET_VERSION, passes, PASSES};
  for (uint32_t i = 0; i < PASSES; i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.so", VYRE_TEST_PASSES, names[i]);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    union {
      void *object;
      const vyre_plugin *(*function)(const vyre_host *);
    } symbol = {dlsym(library, "vyre_plugin_query_v1")};
    assert_non_null(symbol.object);
    real[i] = symbol.function(given)->passes[0];
    wrapped[i] = *real[i];
    wrapped[i].run = real[i]->run ? functions[i].run : NULL;
    wrapped[i].prepare = real[i]->prepare ? functions[i].prepare : NULL;
    passes[i] = &wrapped[i];
  }
  return &plugin;
}

/* Runs the pipeline with a failing n-th request.  Returns false if there were fewer than n requests. */
static bool
fail_one(const vyre_pipeline *pipeline, bool phases, uint32_t seed, uint64_t n)
{
  test_memory memory;
  vyre_allocator allocator = test_allocator(&memory, 0);
  vyre_module *module;
  assert_null(vyre_module_create(&allocator, 1u << 16, &module));
  random_program_build(module, seed, RANDOM_WIDE | (seed & 1));
  assert_null(vyre_module_seal(module, NULL));
  requests = 0;
  fail_at = n;
  vyre_pipeline_options options = {.struct_size = sizeof options, .device = NULL};
  if (phases)
    assert_null(vyre_device_open(&vyre_target_cpu, &(vyre_target_options){.struct_size = sizeof(vyre_target_options), .threads = 1},
                                 &allocator, &options.device));
  vyre_status status = vyre_pipeline_run(pipeline, module, &options);
  const bool failed = requests >= n;
  if (failed && (vyre_status_code(status) != VYRE_CODE_INPUT || !strstr(vyre_status_text(status), "memory")))
    fail_msg("seed %u, request %u, of '%s': '%s'", seed, (unsigned)n, names[running], vyre_status_text(status));
  if (!failed)
    assert_null(status);
  vyre_status_free(status);
  vyre_module_destroy(module);
  assert_null(vyre_device_close(options.device));
  if (memory.out || memory.reserved)
    fail_msg("seed %u, request %u, of '%s': %zu bytes and %zu of address space are left", seed, (unsigned)n, names[running],
             memory.out, memory.reserved);
  return failed;
}

TEST(passes_report_failed_allocations)
{
  static const char text[] = "limits,canon,cf,pm,cse,default<O2>,remainder,expand,contract,relax,half,shash,cid,dce";
  vyre_registry *registry;
  vyre_pipeline *pipeline;
  assert_null(vyre_registry_create(NULL, &registry));
  assert_null(vyre_registry_add(registry, query, "core", VYRE_ORIGIN_CORE));
  assert_null(vyre_pipeline_parse(registry, text, sizeof text - 1, "-passes", &pipeline));
  for (uint32_t seed = 1; seed <= 12; seed++)
    for (uint64_t n = 1; fail_one(pipeline, seed > 6, seed % 6 + 1, n); n++)
      ;
  for (uint32_t i = 0; i < PASSES; i++) {
    static const char *const silent[] = {"canon", "shash", "early", "cf" /* allocates rarely */};
    bool allocates = true;
    for (size_t k = 0; k < sizeof silent / sizeof silent[0]; k++)
      allocates &= strcmp(names[i], silent[k]) != 0;
    print_message("%s: %u requests failed\n", names[i], failures[i]);
    assert_true(failures[i] > 0 || !allocates);
  }
  vyre_pipeline_destroy(pipeline);
  vyre_registry_destroy(registry);
}

static bool
is_named(const char *file)
{
  const size_t length = strlen(file) - strlen(".so");
  for (uint32_t i = 0; i < PASSES; i++)
    if (strlen(names[i]) == length && memcmp(names[i], file, length) == 0)
      return true;
  return false;
}

/* Every pass that is built is in EACH. */
TEST(every_pass_is_tested)
{
  uint32_t found = 0;
  DIR *folder = opendir(VYRE_TEST_PASSES);
  assert_non_null(folder);
  for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
    const size_t length = strlen(entry->d_name);
    if (length <= 3 || strcmp(entry->d_name + length - 3, ".so") != 0)
      continue;
    found++;
    if (!is_named(entry->d_name))
      fail_msg("%s/%s is not tested here\nFix: add it to EACH and to the pipeline in this file", VYRE_TEST_PASSES, entry->d_name);
  }
  closedir(folder);
  assert_int_equal(found, PASSES);
}
