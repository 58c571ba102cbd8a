/* Plugins of other API versions, and libraries that are not plugins: one variant for each macro.
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

#ifdef OLDER_OPSET
enum { VYRE_OP__COUNT }; /* the name is free: vyre/plugin.h has no count of ops that could be an array size */
#endif

static vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
#ifdef OLDER_OPSET
  /* A plugin built when `at` was the last op: it knows later ops only by their flags, but has room for them. */
  const vyre_view *v = ctx->host->view(module);
  static const bool known[VYRE_OP__ROOM] = {[VYRE_OP_program] = true, [VYRE_OP_buffer] = true, [VYRE_OP_at] = true};
  uint64_t ops[VYRE_OP__ROOM] = {0}, kinds[VYRE_KIND__ROOM] = {0};
  for (uint32_t row = 1; row < v->rows; row++) {
    const uint32_t op = VYRE_ROW_OP(v->op[row]);
    ops[op]++;
    kinds[VYRE_TYPE_KIND(VYRE_ROW_TYPE(v->op[row]))]++;
    if (!known[op])
      ctx->host->count(ctx, (vyre_op_info_of(v, op)->flags & VYRE_OP_WRITES) != 0 ? "unknown, writes" : "unknown", 1);
  }
  for (uint32_t op = 1; op < VYRE_OP__ROOM; op++)
    if (ops[op])
      ctx->host->count(ctx, op < v->op_count ? vyre_op_info_of(v, op)->text : "not an op of the host", ops[op]);
  ctx->host->count(ctx, "of u32", kinds[VYRE_U32]);
#elif defined(NEWER)
  /* The table of a later host, which has one more function. */
  typedef struct later_host {
    uint32_t struct_size;
    char known[sizeof(vyre_host) - sizeof(uint32_t)];
    void (*later)(vyre_module *module);
  } later_host;
  const later_host *host = (const later_host *)(const void *)ctx->host;
  if (VYRE_HAS(later_host, host, later))
    host->later(module);
  else
    ctx->host->remark(ctx, 0, "the host lacks the newer function");
#else
  (void)module;
#endif
  ctx->host->remark(ctx, 0,
                    VYRE_HAS(vyre_host, ctx->host, clone) ? "the pass runs" : "the pass runs without a function that it knows");
  *out = VYRE_UNCHANGED;
  return VYRE_OK;
}

#if defined(DUPLICATE)
#define NAME "acme"
#define PASS "acme.unroll"
#elif defined(CORE_NAME)
#define NAME "old"
#define PASS "quick"
#elif defined(CORE_FULL_NAME)
#define NAME "dce"
#define PASS "dce.dce"
#else
#define NAME "old"
#define PASS "old.pass"
#endif

#if defined(OLDER_MAJOR)
#define ABI VYRE_ABI(0, 2)
#elif defined(NEWER_MINOR)
#define ABI (VYRE_PLUGIN_ABI + 6)
#elif defined(NEWER_MAJOR)
#define ABI VYRE_ABI(2, 3)
#else
#define ABI VYRE_PLUGIN_ABI
#endif

#if defined(NEWER_OPSET)
#define OPSETS VYRE_OPSET_VERSION + 1, VYRE_OPSET_ANY
#elif defined(FIXED_OPSET)
#define OPSETS VYRE_OPSET_VERSION - 1, VYRE_OPSET_VERSION - 1
#elif defined(OLDER_OPSET)
#define OPSETS VYRE_OPSET_VERSION - 1, VYRE_OPSET_ANY
#else
#define OPSETS VYRE_OPSET_VERSION, VYRE_OPSET_VERSION
#endif

#ifdef OLDER
/* The required fields; the host must not read fields after them. */
#define SIZE      (offsetof(vyre_plugin, pass_count) + sizeof(uint32_t))
#define PASS_SIZE (offsetof(vyre_pass, run) + sizeof run_here)
#else
#define SIZE      sizeof(vyre_plugin)
#define PASS_SIZE sizeof(vyre_pass)
#endif

static vyre_status (*const run_here)(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out) = run;
static const vyre_pass pass = {
    .struct_size = PASS_SIZE,
    .name = PASS,
    .summary = "a pass of another version",
    .run = run,
#ifdef OLDER
    .phases = (const vyre_phases *)1,
#endif
};
#ifdef HALF
static const vyre_pass second = {.struct_size = sizeof(vyre_pass), .name = "old.second", .summary = "a pass without a function"};
static const vyre_pass *const passes[] = {&pass, &second};
#else
static const vyre_pass *const passes[] = {&pass};
#endif

/* A field of a newer plugin's descriptor after all fields of this version. */
#ifdef UNKNOWN_BYTES
enum { NEWER_FIELD = 5 };
#else
enum { NEWER_FIELD = 0 };
#endif

#if defined(UNKNOWN_BYTES) || defined(NEWER)
static const struct {
  vyre_plugin known;
  uint64_t newer[2];
} plugin = {{sizeof plugin, ABI, NAME, "2.1", OPSETS, passes, sizeof(passes) / sizeof(passes[0])}, {NEWER_FIELD, 0}};
#else
static const struct {
  vyre_plugin known;
} plugin = {{SIZE, ABI, NAME, "2.1", OPSETS, passes, sizeof(passes) / sizeof(passes[0])}};
#endif

VYRE_PLUGIN_EXPORT const vyre_plugin *vyre_plugin_query_v1(const vyre_host *host);
const vyre_plugin *
vyre_plugin_query_v1(const vyre_host *host)
{
  (void)host;
  (void)run_here;
  (void)plugin;
#ifdef REFUSES
  return 0;
#else
  return &plugin.known;
#endif
}

#endif
