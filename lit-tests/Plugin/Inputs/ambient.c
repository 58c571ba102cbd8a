/* A plugin whose code changes the state of its thread and process: when it is loaded, in its query, in passes, and around a call of
 * its host.  One pass reports the state that it finds.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/plugin.h"

#include <fenv.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Makes the processor flush denormals to zero, on known processors. */
static void
flush_denormals(void)
{
#if defined(__x86_64__)
  uint32_t control;
  __asm__ volatile("stmxcsr %0" : "=m"(control));
  control |= 0x8040u; /* FTZ, DAZ */
  __asm__ volatile("ldmxcsr %0" : : "m"(control));
#elif defined(__aarch64__)
  uint64_t control;
  __asm__ volatile("mrs %0, fpcr" : "=r"(control));
  control |= UINT64_C(1) << 24; /* FZ */
  __asm__ volatile("msr fpcr, %0" : : "r"(control));
#endif
}

static void
block_signals(void)
{
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, NULL);
}

#if defined(WHEN_LOADED) || defined(WHEN_ASKED)
static void
change_all(void)
{
  flush_denormals();
  fesetround(FE_UPWARD);
  feenableexcept(FE_ALL_EXCEPT);
  umask(0);
  block_signals();
}
#endif
#if defined(WHEN_LOADED)
__attribute__((constructor)) static void
start(void)
{
  change_all();
}
#endif

#define CHANGES(id, statement)                                                     \
  static vyre_status id(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out) \
  {                                                                                \
    (void)ctx;                                                                     \
    (void)module;                                                                  \
    *out = VYRE_UNCHANGED;                                                         \
    statement;                                                                     \
    return VYRE_OK;                                                                \
  }

CHANGES(flush, flush_denormals())
CHANGES(round_up, fesetround(FE_UPWARD))
CHANGES(trap, feenableexcept(FE_ALL_EXCEPT))
CHANGES(set_umask, umask((mode_t)ctx->host->param(ctx, "mode")))
CHANGES(block, block_signals())

/* Folds each row in a changed floating-point environment. */
static vyre_status
fold(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_host *host = ctx->host;
  const vyre_view *v = host->view(module);
  const uint32_t rows = v->rows;
  uint32_t *forward = host->alloc(ctx, rows * sizeof *forward);
  *out = VYRE_UNCHANGED;
  if (!forward)
    return host->out_of_memory(ctx);
  flush_denormals();
  fesetround(FE_UPWARD);
  for (uint32_t row = 0; row < rows; row++) {
    vyre_type type;
    uint64_t lanes[4];
    forward[row] = row;
    if (row == 0 || !v->parent[row] || !host->fold(module, row, &type, lanes) || VYRE_TYPE_LANES(type) != 1)
      continue;
    forward[row] = host->constant(module, row, type, lanes[0]);
    *out = VYRE_CHANGED;
  }
  if (*out == VYRE_CHANGED) {
    const uint32_t all = host->view(module)->rows;
    uint32_t *each = host->alloc(ctx, all * sizeof *each);
    if (!each)
      return host->out_of_memory(ctx);
    for (uint32_t row = 0; row < all; row++)
      each[row] = row < rows ? forward[row] : row;
    host->forward(module, each);
  }
  return VYRE_OK;
}

/* Reports the current state in a remark. */
static vyre_status
report(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  volatile float tiny = 0x1p-126f;
  char text[128];
  sigset_t signals;
  (void)module;
  *out = VYRE_UNCHANGED;
  const mode_t mask = umask(0);
  umask(mask);
  sigprocmask(SIG_BLOCK, NULL, &signals);
  const int traps = fegetexcept();
  fedisableexcept(FE_ALL_EXCEPT);
  tiny *= 0.5f;
  const float half = tiny;
  uint32_t bits;
  memcpy(&bits, &half, sizeof bits);
  snprintf(text, sizeof text, "denormals %s, rounding %s, traps %s, umask %03o, SIGTERM %s", bits ? "kept" : "flushed",
           fegetround() == FE_TONEAREST ? "nearest" : "other", traps ? "some" : "none", (unsigned)mask,
           sigismember(&signals, SIGTERM) ? "blocked" : "delivered");
  ctx->host->remark(ctx, 0, text);
  return VYRE_OK;
}

#define PASS(id, text)                 \
  static const vyre_pass id##_pass = { \
      .struct_size = sizeof(vyre_pass), .name = "ambient." text, .summary = "changes the state", .run = id}
PASS(flush, "flush");
PASS(round_up, "round-up");
PASS(trap, "trap");
PASS(block, "block");
PASS(fold, "fold");
PASS(report, "report");
static const vyre_param modes[] = {
    {.struct_size = sizeof(vyre_param), .type = VYRE_PARAM_UINT, .name = "mode", .summary = "the umask", .maximum = 511}};
static const vyre_pass umask_pass = {.struct_size = sizeof(vyre_pass),
                                     .name = "ambient.umask",
                                     .summary = "sets the umask",
                                     .run = set_umask,
                                     .params = modes,
                                     .param_count = 1};

static const vyre_pass *const passes[] = {&flush_pass, &round_up_pass, &trap_pass, &block_pass,
                                          &fold_pass,  &report_pass,   &umask_pass};
static const vyre_plugin plugin = {.struct_size = sizeof(vyre_plugin),
                                   .abi = VYRE_PLUGIN_ABI,
                                   .name = "ambient",
                                   .version = "1",
                                   .opset_min = VYRE_OPSET_VERSION,
                                   .opset_max = VYRE_OPSET_VERSION,
                                   .pass_count = sizeof passes / sizeof *passes,
                                   .passes = passes};

VYRE_PLUGIN_EXPORT const vyre_plugin *vyre_plugin_query_v1(const vyre_host *host);
const vyre_plugin *
vyre_plugin_query_v1(const vyre_host *host)
{
  (void)host;
#if defined(WHEN_ASKED)
  change_all();
#endif
  return &plugin;
}
