/* Plugins of other times, and what is none: one variant each, chosen by a macro.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/plugin.h"

#if defined(NO_ENTRY)

VYRE_PLUGIN_EXPORT extern const int something_else;
const int something_else = 1;

#elif defined(LLVM_ENTRY)

VYRE_PLUGIN_EXPORT void llvmGetPassPluginInfo(void);
void
llvmGetPassPluginInfo(void)
{
}

#elif defined(NEXT_ENTRY)

VYRE_PLUGIN_EXPORT const void *vyre_plugin_query_v2(const void *host);
const void *
vyre_plugin_query_v2(const void *host)
{
  return host;
}

#else

#define MAJOR (VYRE_PLUGIN_ABI >> 16)
#define MINOR (VYRE_PLUGIN_ABI & 0xffffu)

#ifdef OLDER_OPSET
enum { VYRE_OP__COUNT }; /* the name is free: vyre/plugin.h has no count of ops that a plugin could size anything by */
#endif

static vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
#ifdef OLDER_OPSET
  /* One that was built when `at` was the last op there was: others are known by their flags alone, and have room all the same. */
  const vyre_view *v = ctx->host->view(module);
  static const bool known[VYRE_OP__ROOM] = {[VYRE_OP_program] = true, [VYRE_OP_buffer] = true, [VYRE_OP_at] = true};
  uint64_t ops[VYRE_OP__ROOM] = {0}, kinds[VYRE_KIND__ROOM] = {0};
  for (uint32_t row = 1; row < v->rows; row++) {
    const uint32_t op = VYRE_ROW_OP(v->op[row]);
    ops[op]++;
    kinds[VYRE_TYPE_KIND(VYRE_ROW_TYPE(v->op[row]))]++;
    if (!known[op])
      ctx->host->count(ctx, (v->op_infos[op].flags & VYRE_OP_WRITES) != 0 ? "unknown, writes" : "unknown", 1);
  }
  for (uint32_t op = 1; op < VYRE_OP__ROOM; op++)
    if (ops[op])
      ctx->host->count(ctx, op < v->op_count ? v->op_infos[op].text : "none of the host's", ops[op]);
  ctx->host->count(ctx, "of u32", kinds[VYRE_U32]);
#else
  (void)module;
#endif
  ctx->host->remark(ctx, 0, "it runs");
  *out = VYRE_UNCHANGED;
  return VYRE_OK;
}

#if defined(DUPLICATE)
#define NAME "acme"
#define PASS "acme.unroll"
#elif defined(CORE_NAME)
#define NAME "old"
#define PASS "quick"
#else
#define NAME "old"
#define PASS "old.pass"
#endif

static const vyre_pass pass = {.struct_size = sizeof(vyre_pass), .name = PASS, .summary = "of another time", .run = run};
#ifdef HALF
static const vyre_pass second = {.struct_size = sizeof(vyre_pass), .name = "old.second", .summary = "it cannot run"};
static const vyre_pass *const passes[] = {&pass, &second};
#else
static const vyre_pass *const passes[] = {&pass};
#endif

#ifdef UNKNOWN_BYTES
static const struct {
  vyre_plugin known;
  uint64_t unknown, zero;
} larger = {{sizeof(larger), VYRE_PLUGIN_ABI, NAME, "2.1", 1, 1, passes, 1, 0}, 5, 0};
#elif !defined(REFUSES)
static const vyre_plugin plugin = {
#ifdef OLDER
    .struct_size = offsetof(vyre_plugin, pass_count) + sizeof(uint32_t), /* all that API 0.2 needs; what follows must not be read */
    .capabilities = 0xdeadbeef,
#else
    .struct_size = sizeof(vyre_plugin),
#endif
#if defined(NEWER_MINOR)
    .abi = MAJOR << 16 | (MINOR + 6),
#elif defined(OLDER_MINOR)
    .abi = MAJOR << 16 | (MINOR - 1),
#elif defined(NEWER_MAJOR)
    .abi = (MAJOR + 1) << 16 | 3,
#else
    .abi = VYRE_PLUGIN_ABI,
#endif
    .name = NAME,
    .version = "2.1",
#if defined(NEWER_OPSET)
    .opset_min = VYRE_OPSET_VERSION + 1,
    .opset_max = VYRE_OPSET_ANY,
#elif defined(FIXED_OPSET)
    .opset_min = VYRE_OPSET_VERSION - 1,
    .opset_max = VYRE_OPSET_VERSION - 1,
#elif defined(OLDER_OPSET)
    .opset_min = VYRE_OPSET_VERSION - 1,
    .opset_max = VYRE_OPSET_ANY,
#else
    .opset_min = VYRE_OPSET_VERSION,
    .opset_max = VYRE_OPSET_VERSION,
#endif
    .passes = passes,
    .pass_count = sizeof(passes) / sizeof(passes[0]),
#ifdef CAPABLE
    .capabilities = VYRE_CAPABILITY_GPU_VULKAN,
#endif
};
#endif

VYRE_PLUGIN_EXPORT const vyre_plugin *vyre_plugin_query_v1(const vyre_host *host);
const vyre_plugin *
vyre_plugin_query_v1(const vyre_host *host)
{
  (void)host;
  (void)passes;
#if defined(REFUSES)
  return 0;
#elif defined(UNKNOWN_BYTES)
  return &larger.known;
#else
  return &plugin;
#endif
}

#endif
