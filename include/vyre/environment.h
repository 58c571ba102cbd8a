/* State of the thread and the process that affects computing and writing: the floating-point environment, the stack, the signal
 * mask and the umask.
 *
 * The library computes in the default floating-point environment: round to nearest even, denormals kept, no trapped exceptions.
 * Every public function that computes, parses or prints floats, reads or writes a program, or runs passes sets the default
 * environment first. Before it returns, it restores the caller's with its exception flags. Callbacks of a program (diagnostics,
 * `look`, allocators, targets) therefore run in the default environment.
 *
 * Public functions need at most 256 KB of the caller's stack. A reader or writer with deeper recursion runs on a thread that it
 * starts and joins; callbacks (allocators) may be called on that thread, too.
 *
 * Plugins and driver libraries run in the default environment. The library restores the floating-point environment and the thread's
 * signal mask after each call. It restores the process's umask after each call of a plugin that is not one of vyre's own.
 *
 * Limits: a plugin's own threads are not covered. If a program changes its umask in one thread while a plugin runs in another, the
 * change is lost.
 *
 * Threads: any.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_ENVIRONMENT_H
#define VYRE_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "vyre/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- floating point ------------------------------------------------------------------------------------------------------ */

/* The floating-point environment of a thread: the processor's control words and exception flags. */
typedef struct vyre_environment {
  uint64_t words[8];
} vyre_environment;

/* Saves the thread's environment in `caller` and sets the default one. Calls nest. */
void vyre_environment_enter(vyre_environment *caller);
/* Restores the environment that vyre_environment_enter saved. */
void vyre_environment_leave(const vyre_environment *caller);

/* Sets the default environment until the end of the block, and restores the caller's however control leaves the block. */
#define VYRE_OWN_ENVIRONMENT                                                               \
  __attribute__((cleanup(vyre_environment_leave))) vyre_environment environment_of_caller; \
  vyre_environment_enter(&environment_of_caller)

/* ---- stack --------------------------------------------------------------------------------------------------------------- */

/* The number of nested constructs and calls for which readers and writers may use the caller's stack. */
#define VYRE_SHALLOW_NESTS 100

/* Calls `function`, which recurses at most `nests` levels deep. It runs on the calling thread if `nests` is at most
 * VYRE_SHALLOW_NESTS, otherwise on a new thread with a stack for the deepest valid program. Returns an error without a call if no
 * thread can be started. */
VYRE_MUST_USE vyre_status vyre_call_nested(uint32_t nests, void (*function)(void *argument), void *argument);

/* ---- foreign code -------------------------------------------------------------------------------------------------------- */

/* State that foreign code (a plugin, a library's constructors) must not change for its host. */
typedef struct vyre_foreign_call {
  vyre_environment floats;
  uint64_t signals[16]; /* the thread's signal mask */
} vyre_foreign_call;

/* Saves the thread's signal mask and the process's umask, and sets the default floating-point environment. Calls nest. */
void vyre_foreign_begin(vyre_foreign_call *out);
/* Restores the state that vyre_foreign_begin saved. */
void vyre_foreign_end(const vyre_foreign_call *call);

/* Makes the rest of the block a foreign call. */
#define VYRE_FOREIGN_CALL                                                    \
  __attribute__((cleanup(vyre_foreign_end))) vyre_foreign_call foreign_call; \
  vyre_foreign_begin(&foreign_call)

/* Returns a point in time, for vyre_foreign_umask. */
uint64_t vyre_foreign_mark(void);
/* Returns whether a foreign call was active in any thread since `mark`, so that the process's umask may have been a different one.
 * Stores the umask that was saved before that call. Then a file that was created since `mark` needs its mode set. */
bool vyre_foreign_umask(uint64_t mark, uint32_t *out_umask);

#ifdef __cplusplus
}
#endif
#endif
