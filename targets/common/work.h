/* Sequences that a device runs by itself: what one needs while it runs stays for the next one, with what was recorded for it.
 *
 * A target's own struct has a target_work as its first member, and target_hooks.work says what is its own.  Those that are not used
 * are in base.unused; of them the one is taken that has seen a sequence of this shape.
 *
 * A shape is all that recorded commands depend on, word by word, so that two sequences of one shape have the same commands.  A
 * target_work keeps what was recorded for a few shapes, and those that were not used for longest are destroyed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TARGETS_COMMON_WORK_H
#define VYRE_TARGETS_COMMON_WORK_H

#include "base.h"

enum { TARGET_MOST_RECORDED = 8 /* of a target_work */ };

/* Where the steps go on: at the start of an iteration, or at a step that is in no repeat. */
typedef struct target_position {
  uint32_t step, repeat, iteration; /* the next repeat that is not done, and how often its steps are already given */
} target_position;

/* Commands for a shape; a target's own has it as its first member. */
typedef struct target_recorded {
  struct target_recorded *next; /* the one that was used before it */
  target_shape shape;
} target_recorded;

typedef struct target_work {
  struct target_work *next;  /* unused ones, the last one first */
  target_recorded *recorded; /* the one that was used last first */

  /* The sequence that runs. */
  vyre_sequence sequence; /* its arrays are the caller's, or */
  void *copy;             /* in here; NULL: the caller's */
  size_t copy_size;
  bool is_begun;             /* others may be begun before it is waited for */
  bool is_controlled;        /* some of its steps are told something in device memory */
  uint32_t first_controlled; /* from this step on all may be stopped */
  bool is_first;             /* nothing of it was given yet */
  bool is_done;
  target_position at;
  vyre_status status; /* owned; of what went wrong before the wait */
  vyre_timing timing;
  uint64_t *step_ns; /* owned; so far */
  uint32_t step_ns_capacity;
} target_work;

/* What is the target's own of its works. */
typedef struct target_work_hooks {
  size_t size, recorded_size; /* of its structs */
  const char *memory;         /* "for a CUDA submission", for messages */
  /* Makes what a new one needs; `destroy` ends it after a failure, too, and frees all that the target's struct owns. */
  vyre_status (*fill)(vyre_target *target, target_work *work);
  void (*destroy)(vyre_target *target, target_work *work);
  /* Gives a checked sequence to the device: target_work_take, and what follows.  Where it fails, nothing of it runs any more. */
  vyre_status (*begin)(vyre_target *target, const vyre_sequence *sequence, bool is_begun, target_work **out);
  /* Waits until it is done, whose status this is; then what comes down goes to the caller. */
  vyre_status (*complete)(vyre_target *target, target_work *work);
  void (*take_reads)(const vyre_target *target, target_work *work);
  /* Room for all that the sequence needs, which is in work->sequence. */
  vyre_status (*prepare)(vyre_target *target, target_work *work);
  /* Puts the shape of what comes next of the work into base.shape: target_shape_begin and what follows it. */
  vyre_status (*make_shape)(vyre_target *target, const target_work *work);
  /* What the struct owns, and the device's objects. */
  void (*destroy_recorded)(vyre_target *target, target_recorded *recorded);
  /* How a repeat until a word is 0 stands, and how many kernels took groups from a buffer that were not none. */
  vyre_repeat_end (*repeat_end)(const target_work *work, uint32_t repeat);
  uint32_t (*controlled_launches)(const target_work *work);
} target_work_hooks;

/* An unused one, or a new one, with room for all that the sequence needs.  `is_begun`: its arrays are copied, so that they may go.
 */
vyre_status target_work_take(vyre_target *target, const vyre_sequence *sequence, bool is_begun, target_work **out);
/* For the next sequence; one that still runs on a device that hangs is forgotten instead. */
void target_work_give(vyre_target *target, target_work *work);
/* Destroys unused ones. */
void target_works_destroy(vyre_target *target);
/* The status of one that is done, which is the caller's then. */
vyre_status target_work_status(target_work *work);

/* Hooks. */
vyre_status target_work_run(vyre_target *target, const vyre_sequence *sequence, vyre_timing *timing);
vyre_status target_work_start(vyre_target *target, const vyre_sequence *sequence, void **out);
vyre_status target_work_finish(vyre_target *target, void *work, vyre_timing *timing);

vyre_status target_shape_begin(vyre_target *target, uint64_t most_words);
void target_shape_put(vyre_target *target, uint64_t word);
void target_shape_put_bytes(vyre_target *target, const void *data, size_t size); /* (size + 7) / 8 words */
void target_shape_end(vyre_target *target);
void target_shape_free(const target_base *base, target_shape *shape);

/* What was recorded for base.shape; NULL: nothing. */
target_recorded *target_recorded_find(const target_base *base, const target_work *work);
/* Makes one for base.shape, which is not among the work's yet; zero but for its shape. */
vyre_status target_recorded_make(vyre_target *target, target_work *work, target_recorded **out);
void target_recorded_destroy(vyre_target *target, target_recorded *recorded);
/* It is the one that was used last. */
void target_recorded_use(target_work *work, target_recorded *recorded);
void target_recorded_destroy_all(vyre_target *target, target_work *work);

/* Calls `use` for each range that the sequence names; is_step: the steps use it, others do copies and fills. */
typedef void target_range_use(void *user, const vyre_range *range, bool is_step);
void target_each_range(const vyre_sequence *sequence, target_range_use *use, void *user);
/* The error of a step whose buffer of groups says more than the step allows. */
vyre_status target_too_many_groups(const vyre_target *target, const vyre_sequence *sequence, uint32_t step);
/* The size of staging memory for `size` bytes: a power of two if there is one. */
uint64_t target_staging_size(uint64_t size);

#endif
