/* The running call of a driver, for reports about a process that ended.
 *
 * A driver crashes in the thread that calls it or in a thread of its own. So the last call that any thread began is recorded
 * beside the call of each thread. The functions for reading are async-signal-safe.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base.h"

#include <stdatomic.h>
#include <stddef.h>

/* The call of this thread. A signal handler reads it, so its storage must not be allocated at the first access. */
static _Thread_local __attribute__((tls_model("initial-exec"))) vyre_driver_call own;
static _Atomic(const vyre_driver_call *) last; /* of any thread */
static vyre_driver_call *copy;                 /* or NULL */

void
vyre_driver_calls_copy(vyre_driver_call *where)
{
  copy = where;
}

vyre_driver_call
vyre_driver_call_running(bool of_any_thread)
{
  const vyre_driver_call *found = own.doing || !of_any_thread ? &own : atomic_load(&last);
  return found ? *found : (vyre_driver_call){0};
}

static void
copy_text(char *to, size_t size, const char *from)
{
  size_t length = 0;
  for (; length + 1 < size && from[length]; length++)
    to[length] = from[length];
  to[length] = '\0';
}

/* Writes the texts before `doing`, so that a signal handler never reads half of them. */
void
target_call_begin(const char *target, const char *driver, vyre_driver_doing doing, const char *what)
{
  own.doing = VYRE_DRIVER_IDLE;
  copy_text(own.target, sizeof own.target, target);
  copy_text(own.driver, sizeof own.driver, driver);
  copy_text(own.what, sizeof own.what, what);
  atomic_signal_fence(memory_order_seq_cst);
  own.doing = doing;
  atomic_store(&last, &own);
  if (copy)
    *copy = own;
}

void
target_call_end(void)
{
  const vyre_driver_call *mine = &own;
  own.doing = VYRE_DRIVER_IDLE;
  atomic_compare_exchange_strong(&last, &mine, NULL); /* `own` ends with this thread */
  if (copy)
    copy->doing = VYRE_DRIVER_IDLE;
}

/* Appends as much of the text as there is room for. */
static void
append(char **at, const char *end, const char *text)
{
  while (*text && *at < end)
    *(*at)++ = *text++;
  **at = '\0';
}

void
vyre_driver_call_format(const vyre_driver_call *call, const char *how, char *out, size_t size)
{
  static const char *const doings[] = {[VYRE_DRIVER_IDLE] = "",
                                       [VYRE_DRIVER_OPENS] = " while it was opened",
                                       [VYRE_DRIVER_COMPILES] = " while it compiled kernel '",
                                       [VYRE_DRIVER_RUNS] = " while it ran kernel '"};
  char *at = out;
  const char *end = out + size - 1;
  const bool has_kernel = call->doing >= VYRE_DRIVER_COMPILES && call->what[0];
  append(&at, end, "the ");
  append(&at, end, call->target);
  append(&at, end, " driver ");
  if (call->driver[0]) {
    append(&at, end, "'");
    append(&at, end, call->driver);
    append(&at, end, "' ");
  }
  append(&at, end, how);
  append(&at, end, call->doing >= VYRE_DRIVER_COMPILES && !has_kernel ? " while it worked" : doings[call->doing]);
  if (has_kernel) {
    append(&at, end, call->what);
    append(&at, end, "'");
  }
}
