/* A plugin whose passes end the thread or process in different ways, and a pass that uses up all memory.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/plugin.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(WHEN_LOADED)
__attribute__((constructor)) static void
end_it(void)
{
  exit(0);
}
#endif

/* A pass returns normally if the module has a program @fine. */
static bool is_named(vyre_pass_ctx *ctx, const vyre_module *module, const char *name);

#define QUITS(id, statement)                                                       \
  static vyre_status id(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out) \
  {                                                                                \
    *out = VYRE_UNCHANGED;                                                         \
    if (!is_named(ctx, module, "fine"))                                            \
      statement;                                                                   \
    return VYRE_OK;                                                                \
  }

static volatile int zero;

static int
descend(volatile int depth)
{
  volatile char room[4096];
  room[0] = (char)depth;
  return depth < 0 ? 0 : descend(depth + 1) + room[0];
}

/* Forks a child that exits, which is not an error of the pass. */
static void
fork_one(void)
{
  const pid_t child = fork();
  if (child == 0)
    exit(0);
  waitpid(child, NULL, 0);
}

/* Many threads that exit at the same time. */
static pthread_barrier_t all_there;

static void *
exit_with_all(void *way)
{
  pthread_barrier_wait(&all_there);
  if (way)
    exit(0);
  _exit(0);
}

static void
crowd(void)
{
  enum { COUNT = 16 };
  pthread_t threads[COUNT];
  pthread_barrier_init(&all_there, NULL, COUNT);
  for (size_t i = 0; i < COUNT; i++)
    pthread_create(&threads[i], NULL, exit_with_all, i % 4 ? &all_there : NULL);
  for (size_t i = 0; i < COUNT; i++)
    pthread_join(threads[i], NULL);
}

/* A destructor that exits: too late, because the program has ended. */
static bool exits_last;

__attribute__((destructor)) static void
exit_last(void)
{
  if (exits_last)
    exit(0);
}

/* Writes to a column beyond its last row, in reserved memory. */
static void
write_outside(vyre_pass_ctx *ctx, const vyre_module *module)
{
  const vyre_view *v = ctx->host->view(module);
  *(volatile uint32_t *)(uintptr_t)&v->op[900000] = 1;
}

static bool
is_named(vyre_pass_ctx *ctx, const vyre_module *module, const char *name)
{
  const vyre_view *v = ctx->host->view(module);
  for (uint32_t row = 1; row < v->rows; row++)
    if (VYRE_ROW_OP(v->op[row]) == VYRE_OP_program && strcmp(ctx->host->name(module, row), name) == 0)
      return true;
  return false;
}

/* Sleeps, and succeeds. */
static vyre_status
nap(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  (void)ctx;
  (void)module;
  *out = VYRE_UNCHANGED;
  usleep(200000);
  return VYRE_OK;
}

static vyre_status
fail(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  (void)module;
  *out = VYRE_UNCHANGED;
  exits_last = true;
  return ctx->host->error(ctx, 0, "the pass always fails");
}
static const vyre_pass fail_pass = {.struct_size = sizeof(vyre_pass), .name = "quits.fail", .summary = "fail", .run = fail};

/* Calls libc's exit, not the symbol in the program. */
static void
end_by_libc(void)
{
  void (*libc_exit)(int code);
  void *libc = dlopen("libc.so.6", RTLD_NOW);
  *(void **)&libc_exit = libc ? dlsym(libc, "exit") : NULL;
  if (libc_exit)
    libc_exit(0);
}

QUITS(by_crowd, crowd())
QUITS(by_exit, exit(0))
QUITS(by_quick_exit, quick_exit(0))
QUITS(by_underscore_exit, _exit(0))
QUITS(by_libc, end_by_libc())
QUITS(by_kill, raise(SIGKILL))
QUITS(by_abort, abort())
QUITS(by_null, *(volatile int *)(uintptr_t)zero = 1)
QUITS(by_depth, zero = descend(0))
QUITS(by_hanging, for (;;) pause())
QUITS(by_thread, pthread_exit(NULL))
QUITS(by_request, raise(SIGTERM))
QUITS(by_writing, write_outside(ctx, module))
QUITS(child, fork_one())
QUITS(elsewhere, out = chdir("/") == 0 ? out : NULL)

/* Uses up the address space and malloc's memory, except `leave` bytes in one piece. */
static vyre_status
starve(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const size_t leave = (size_t)ctx->host->param(ctx, "leave");
  struct rlimit limit;
  void *kept = leave ? malloc(leave) : NULL;
  (void)module;
  *out = VYRE_UNCHANGED;
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = 1;
  setrlimit(RLIMIT_AS, &limit);
  for (size_t size = 1 << 20; size >= 16; size /= 2)
    for (void **block = NULL, **next; (next = malloc(size)); block = next)
      *next = (void *)block;
  free(kept);
  return VYRE_OK;
}

static const vyre_param leave[] = {
    {sizeof(vyre_param), VYRE_PARAM_UINT, "leave", "bytes that stay available", 0, 1u << 30, 0, NULL}};
static const vyre_pass starve_pass = {.struct_size = sizeof(vyre_pass),
                                      .name = "quits.starve",
                                      .summary = "take all memory",
                                      .params = leave,
                                      .param_count = 1,
                                      .run = starve};

#define PASS(id, text) \
  static const vyre_pass id##_pass = {.struct_size = sizeof(vyre_pass), .name = "quits." text, .summary = "end", .run = id}
PASS(by_crowd, "crowd");
PASS(by_exit, "exit");
PASS(by_quick_exit, "quick-exit");
PASS(by_underscore_exit, "underscore-exit");
PASS(by_libc, "libc-exit");
PASS(by_kill, "kill");
PASS(by_abort, "abort");
PASS(by_null, "null");
PASS(by_depth, "depth");
PASS(by_thread, "thread");
PASS(by_request, "request");
PASS(by_writing, "outside");
PASS(child, "child");
PASS(elsewhere, "elsewhere");
PASS(by_hanging, "hang");
PASS(nap, "nap");

VYRE_PLUGIN("quits", "1.0", &by_crowd_pass, &fail_pass, &by_exit_pass, &by_quick_exit_pass, &by_underscore_exit_pass,
            &by_abort_pass, &by_null_pass, &by_depth_pass, &by_thread_pass, &by_request_pass, &child_pass, &elsewhere_pass,
            &starve_pass, &by_libc_pass, &by_kill_pass, &by_hanging_pass, &nap_pass, &by_writing_pass)
