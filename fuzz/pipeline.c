/* Fuzz target: pipeline text.  A parsed pipeline is printed, parsed again and printed again.  Both texts must be equal.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <string.h>

static vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  (void)ctx;
  (void)module;
  *out = VYRE_UNCHANGED;
  return VYRE_OK;
}

/* A plugin with a parameter of each kind.  The names are those of the lit tests' plugin. */
static const vyre_plugin *
query(const vyre_host *host)
{
  static const vyre_param params[] = {
      {sizeof(vyre_param), VYRE_PARAM_UINT, "factor", "s", 1, 64, 4, NULL},
      {sizeof(vyre_param), VYRE_PARAM_WORD, "mode", "s", 0, 0, 0, "fast|small"},
      {sizeof(vyre_param), VYRE_PARAM_TEXT, "rules", "s", 0, 0, 0, "FILE"},
      {sizeof(vyre_param), VYRE_PARAM_FLAG, "quiet", "s", 0, 0, 0, NULL},
      {sizeof(vyre_param), VYRE_PARAM_FLAG, "careful", "s", 0, 0, 1, NULL},
  };
  static const vyre_pass unroll = {.struct_size = sizeof(vyre_pass),
                                   .name = "acme.unroll",
                                   .long_name = "acme.unroll-loops",
                                   .summary = "s",
                                   .params = params,
                                   .param_count = sizeof(params) / sizeof(params[0]),
                                   .run = run};
  static const vyre_pass plain = {.struct_size = sizeof(vyre_pass), .name = "acme.dce", .summary = "s", .run = run};
  static const vyre_pass *const passes[] = {&unroll, &plain};
  static const vyre_plugin plugin = {sizeof(vyre_plugin), VYRE_PLUGIN_ABI,    "acme", "1.0",
                                     VYRE_OPSET_VERSION,  VYRE_OPSET_VERSION, passes, 2};
  (void)host;
  return &plugin;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static vyre_registry *registry;
  vyre_pipeline *first, *second;
  vyre_bytes once = {0}, twice = {0};
  if (!registry) {
    fuzz_require(vyre_registry_create(NULL, &registry), "a registry");
    fuzz_require(vyre_registry_add(registry, query, "acme", VYRE_ORIGIN_OUTSIDE), "a plugin");
  }
  if (!fuzz_allow(vyre_pipeline_parse(registry, (const char *)data, size, "input", &first), "parsing"))
    return 0;
  fuzz_require(vyre_pipeline_print(first, &once), "printing");
  fuzz_require(vyre_pipeline_parse(registry, once.data, once.size, "printed", &second), "parsing what was printed");
  fuzz_require(vyre_pipeline_print(second, &twice), "printing again");
  if (once.size != twice.size || (once.size && memcmp(once.data, twice.data, once.size) != 0))
    fuzz_fail("printed, parsed, printed:\n%s\nis not\n%s", twice.data, once.data);
  vyre_pipeline_destroy(first);
  vyre_pipeline_destroy(second);
  vyre_bytes_free(&once);
  vyre_bytes_free(&twice);
  return 0;
}

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t capacity, unsigned seed)
{
  return fuzz_mutate_text(data, size, capacity, seed);
}
