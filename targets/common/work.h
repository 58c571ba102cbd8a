/* The work of sequences that a device runs asynchronously. Its objects and recorded commands are reused by later sequences.
 *
 * The struct of a target has a target_work as its first member, and target_work_hooks is the device's part. Unused works are in
 * base.unused. A sequence gets an unused work that recorded commands for its shape, if there is one.
 *
 * A shape is everything that recorded commands depend on, as words. Two sequences with the same shape have the same commands. A
 * target_work keeps the recordings of a few shapes; the least recently used ones are destroyed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TARGETS_COMMON_WORK_H
#define VYRE_TARGETS_COMMON_WORK_H

#include "base.h"

enum { TARGET_MOST_RECORDED = 8 /* recordings of a target_work */ };

/* The position from which steps continue: a step outside of repeats, or the start of an iteration. */
typedef struct target_position {
  uint32_t step, repeat, iteration; /* the next unfinished repeat, and its iterations that were already recorded */
} target_position;

/* Recorded commands for a shape; the first member of a target's own struct. */
typedef struct target_recorded {
  struct target_recorded *next; /* the recording used before this one */
  target_shape shape;
} target_recorded;

typedef struct target_work {
  struct target_work *next;  /* in base.unused, last used first */
  target_recorded *recorded; /* last used first */

  /* The current sequence. */
  vyre_sequence sequence; /* its arrays are the caller's, or in */
  void *copy;             /* this copy, owned; NULL without a copy */
  size_t copy_size;
  bool is_begun;             /* in flight: others may be begun before it is waited for */
  bool is_controlled;        /* whether some steps have data in control memory */
  uint32_t first_controlled; /* the first step that a repeat with `until` may stop */
  bool is_first;             /* whether none of its commands were submitted */
  bool is_done;
  target_position at;
  vyre_status status; /* owned; the first error before the wait */
  vyre_timing timing;
  uint64_t *step_ns; /* owned; the sum so far */
  uint32_t step_ns_capacity;
} target_work;

/* The device's part of a work. */
typedef struct target_work_hooks {
  size_t size, recorded_size; /* bytes of the target's structs that begin with target_work and target_recorded */
  const char *memory;         /* for messages about memory, such as "for a CUDA submission" */
  /* Makes the objects of a new work. `destroy` frees everything that the target's struct owns, also after a failed `fill`. */
  vyre_status (*fill)(vyre_target *target, target_work *work);
  void (*destroy)(vyre_target *target, target_work *work);
  /* Submits a checked sequence, beginning with target_work_acquire. After a failure, none of its commands run any more. */
  vyre_status (*begin)(vyre_target *target, const vyre_sequence *sequence, bool is_begun, target_work **out);
  /* `complete` waits until the work is done and returns its status. Then `take_reads` copies the reads to the caller. */
  vyre_status (*complete)(vyre_target *target, target_work *work);
  void (*take_reads)(const vyre_target *target, target_work *work);
  /* Allocates the memory that work->sequence needs. */
  vyre_status (*prepare)(vyre_target *target, target_work *work);
  /* Computes the shape of the next commands of the work in base.shape, from target_shape_begin to target_shape_end. */
  vyre_status (*make_shape)(vyre_target *target, const target_work *work);
  /* Frees what the struct owns, and the device's objects. */
  void (*destroy_recorded)(vyre_target *target, target_recorded *recorded);
  /* The state of a repeat with `until`, and the number of indirect steps that ran with at least one workgroup. */
  vyre_repeat_end (*repeat_end)(const target_work *work, uint32_t repeat);
  uint32_t (*controlled_launches)(const target_work *work);
} target_work_hooks;

/* Takes an unused work or makes a new one, and prepares it for the sequence. For `is_begun`, its arrays are copied. */
vyre_status target_work_acquire(vyre_target *target, const vyre_sequence *sequence, bool is_begun, target_work **out);
/* Returns a work to base.unused. If the device hangs, its objects stay and the rest is freed. */
void target_work_release(vyre_target *target, target_work *work);
/* Destroys the unused works. */
void target_works_destroy(vyre_target *target);
/* Returns the status of a finished work, which the caller then owns. */
vyre_status target_work_status(target_work *work);

/* The hooks `run`, `start` and `finish`. */
vyre_status target_work_run(vyre_target *target, const vyre_sequence *sequence, vyre_timing *timing);
vyre_status target_work_start(vyre_target *target, const vyre_sequence *sequence, void **out);
vyre_status target_work_finish(vyre_target *target, void *work, vyre_timing *timing);

/* Build base.shape, of at most `most_words` words. */
vyre_status target_shape_begin(vyre_target *target, uint64_t most_words);
void target_shape_put(vyre_target *target, uint64_t word);
void target_shape_put_bytes(vyre_target *target, const void *data, size_t size); /* (size + 7) / 8 words */
void target_shape_end(vyre_target *target);
void target_shape_free(const target_base *base, target_shape *shape);

/* Returns the recording for base.shape, or NULL if there is none. */
target_recorded *target_recorded_find(const target_base *base, const target_work *work);
/* Makes a recording for base.shape, zeroed except for the shape. target_recorded_use adds it to the work. */
vyre_status target_recorded_make(vyre_target *target, target_work *work, target_recorded **out);
void target_recorded_destroy(vyre_target *target, target_recorded *recorded);
/* Makes a recording the last used one of the work. */
void target_recorded_use(target_work *work, target_recorded *recorded);
void target_recorded_destroy_all(vyre_target *target, target_work *work);

/* Calls `use` for each range of the sequence. is_step is true for ranges of steps and repeats, false for copies and fills. */
typedef void target_range_use(void *user, const vyre_range *range, bool is_step);
void target_each_range(const vyre_sequence *sequence, target_range_use *use, void *user);
/* Returns the error of an indirect step whose buffer has more groups than the step allows. */
vyre_status target_too_many_groups(const vyre_target *target, const vyre_sequence *sequence, uint32_t step);
/* Returns the size of staging memory for `size` bytes: a power of two, at least 4096, if there is one. */
uint64_t target_staging_size(uint64_t size);

#endif
