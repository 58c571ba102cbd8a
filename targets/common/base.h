/* The code that all targets share: handles, buffers and their pool, kept data, checks of kernels and sequences, submissions in
 * flight, counters.
 *
 * The `struct vyre_target` of a target has a target_base as its first member, and implements the device's part as target_hooks.
 * The operations of this folder go into the target's table: TARGET_OPERATIONS, and `.import = locked_import` if the hook exists.
 *
 * `open` calls target_base_init before anything else and fills `base.info`. `close` calls target_base_close before it closes the
 * device; a failed `open` may do so too.
 *
 * Threads and ownership are as in target.h. The functions of a target's table take the base's lock (locked.c) and call the
 * functions below, which expect that the caller has it. So hooks run in one thread at a time. target_base_close frees everything
 * that a base owns. Hooks may call only the functions declared under "for hooks" below.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TARGETS_COMMON_BASE_H
#define VYRE_TARGETS_COMMON_BASE_H

#include "base/clock.h"
#include "base/grow.h"
#include "vyre/target.h"

#include <pthread.h>

/* ---- handles.c ----------------------------------------------------------------------------------------------------------- */

/* Handle numbers: generation << 32 | place + 1. A freed place is reused with the next generation. Each table starts at a
 * different generation, so the numbers of other tables and targets are invalid in it. */
typedef struct target_place {
  void *item; /* NULL if free */
  uint32_t generation;
  uint32_t next_free; /* place + 1, or 0 at the end of the list */
} target_place;

typedef struct target_handles {
  target_place *places;
  uint32_t count, capacity;
  uint32_t first_free; /* place + 1, or 0 if there is none */
  uint32_t first_generation;
} target_handles;

/* ---- the state of a target ----------------------------------------------------------------------------------------------- */

/* A buffer. `memory` is the result of the target's hook `create` or `import`. */
typedef struct target_buffer {
  void *memory;
  uint64_t size;                        /* bytes, as requested */
  uint64_t in_flight;                   /* uses by submissions in flight, counting repeated ones */
  bool is_imported;                     /* over the caller's memory, so never pooled */
  struct target_kept *kept;             /* its set, or NULL for a buffer of the caller */
  struct target_buffer *older, *larger; /* in the pool: the next of this size; the first of the next larger size */
} target_buffer;

/* The common state of a kernel: the first member of a target's own struct. */
typedef struct target_kernel {
  char *label;             /* owned */
  vyre_kernel_slot *slots; /* owned; `images` are NULL, because the caller's images are borrowed only for the call */
  uint32_t slot_count;
  uint32_t descriptor_count; /* descriptors of all slots except PUSH */
  uint32_t range_count;      /* ranges that a step passes: descriptors without samplers */
  uint32_t push_size;
  uint32_t workgroup[3];
  uint64_t in_flight;
  uint64_t compile_ns; /* the driver's compile time */
} target_kernel;

/* Counters since `open`, described in counters.def. */
typedef struct target_counters {
#define TARGET_COUNTER(name, kind, text) uint64_t name;
#include "counters.def"
} target_counters;

/* The state that recorded commands depend on, as words: work.h. */
typedef struct target_shape {
  uint64_t *words; /* owned */
  uint32_t count, capacity;
  uint64_t hash;
} target_shape;

/* The device's part of a target. A hook that fails undoes its work. */
typedef struct target_hooks {
  const char *name; /* the prefix of messages, such as "vulkan" */

  /* Allocates memory for a buffer of 1 to info.max_buffer bytes. */
  vyre_status (*create)(vyre_target *target, uint64_t size, void **out_memory);
  /* Frees the memory, also if it returns an error. */
  vyre_status (*destroy)(vyre_target *target, void *memory);
  /* Compiles a kernel that passed target_check_kernel and `check_kernel`. The target allocates its own struct and calls
   * target_kernel_init on it, and target_kernel_free after a failure. */
  vyre_status (*compile)(vyre_target *target, const vyre_kernel_desc *desc, target_kernel **out);
  /* Releases a kernel: calls target_kernel_free, then frees the struct. */
  vyre_status (*release)(vyre_target *target, target_kernel *kernel);
  /* Runs a checked sequence and returns when all its reads are done. Fills `timing`, which is zero, except host_ns and
   * allocations: the caller counts those. Every hook that allocates device or staging memory adds to
   * base.counters.allocations. */
  vyre_status (*run)(vyre_target *target, const vyre_sequence *sequence, vyre_timing *timing);

  /* Optional hooks. */

  /* Returns the error that keeps the target from working. If NULL, the target works unless base.lost. */
  vyre_status (*ready)(const vyre_target *target);
  /* Checks the target's own requirements of a kernel. */
  vyre_status (*check_kernel)(vyre_target *target, const vyre_kernel_desc *desc);
  /* Checks a step's range for a slot of texels or images; before this hook, only the bounds of the range are checked. `slot` is
   * an index into the kernel's slots, `descriptor` counts over all slots, and `size` is in bytes. */
  vyre_status (*check_texels)(const vyre_target *target, const target_kernel *kernel, uint32_t slot, uint32_t descriptor,
                              uint64_t offset, uint64_t size);
  /* Makes a buffer's memory over the caller's (VYRE_TARGET_IMPORT); `destroy` frees it. */
  vyre_status (*import)(vyre_target *target, void *data, uint64_t size, void **out_memory);
  /* `run` in three calls (VYRE_TARGET_ASYNC); all or none. The arrays of the sequence and its steps may be freed when `start`
   * returns. The memory of uploads, reads and ends stays valid until `finish`. `finish` waits and ends the work, also if it
   * returns an error. If NULL, `begin` calls `run`. */
  vyre_status (*start)(vyre_target *target, const vyre_sequence *sequence, void **out_work);
  vyre_status (*poll)(vyre_target *target, void *work, bool *out_done);
  vyre_status (*finish)(vyre_target *target, void *work, vyre_timing *timing);
  /* Opens the device again after a loss; everything on the old device was destroyed before. If NULL, the target stays lost. */
  vyre_status (*reopen)(vyre_target *target);
  /* Emits the driver's figures of a kernel compiled for them (VYRE_TARGET_STATISTICS). */
  vyre_status (*statistics)(vyre_target *target, const target_kernel *kernel,
                            void (*emit)(void *user, const vyre_kernel_figure *figure), void *user);
  /* For targets that use work.h. */
  const struct target_work_hooks *work;
} target_hooks;

typedef struct target_base {
  const target_hooks *hooks;
  vyre_allocator allocator;
  vyre_device_info info; /* filled by the target's `open` */
  _Atomic bool lost;     /* set by the target when its device is lost */
  _Atomic bool hangs;    /* set by the target: submitted work may still run, so its objects cannot be destroyed */
  bool statistics_only;  /* set by the target's `open`: kernels are compiled only for `statistics` */
  uint32_t timeout;      /* set by the target's `open`: seconds of a submission, or 0 for no limit */
  pthread_mutex_t lock;
  _Atomic bool is_shared; /* `shared`, or a thread has found the lock taken: waits release it between polls */
  target_handles buffers, kernels, tickets;
  target_buffer *pool; /* the newest buffer of the smallest size */
  struct target_kept *kept;
  uint64_t bytes_idle; /* bytes of kept sets without holders */
  uint64_t drops;      /* number of sets so far that lost their last holder */
  struct target_work *unused;
  target_shape shape; /* shape of the commands to record next */
  target_counters counters;
  /* Limits for the bytes in the pool and in kept sets without holders: info.memory / 32 each. Tests set other limits. */
  bool has_budgets;
  uint64_t pool_budget, kept_budget;
  uint64_t kept_key_mask; /* all ones; tests clear bits to get equal keys for different contents */
} target_base;

static inline target_base *
target_base_of(vyre_target *target)
{
  return (target_base *)(void *)target;
}

static inline const target_base *
target_base_of_const(const vyre_target *target)
{
  return (const target_base *)(const void *)target;
}

/* Initializes the base. The allocator is copied. */
void target_base_init(target_base *base, const target_hooks *hooks, const vyre_allocator *allocator);
/* Waits for submissions in flight, then destroys all kernels and buffers, including pooled and kept ones. The base is empty
 * afterwards. */
vyre_status target_base_close(vyre_target *target);

/* ---- call.c -------------------------------------------------------------------------------------------------------------- */

/* Mark the start and end of a call to the driver by this thread. Texts are copied. */
void target_call_begin(const char *target, const char *driver, vyre_driver_doing doing, const char *what);
void target_call_end(void);

/* Marks the start of a hook. Does nothing for a target without a driver. */
static inline void
target_call_hook(const target_base *base, vyre_driver_doing doing, const char *what)
{
  if (base->info.forms & (1u << VYRE_KERNEL_SPIRV | 1u << VYRE_KERNEL_PTX))
    target_call_begin(base->hooks->name, base->info.driver, doing, what);
}

/* ---- operations: target.h describes them --------------------------------------------------------------------------------- */

void target_describe(const vyre_target *target, vyre_device_info *out);
/* buffers.c */
vyre_status target_allocate(vyre_target *target, uint64_t size, vyre_device_buffer *out);
vyre_status target_free(vyre_target *target, vyre_device_buffer buffer);
vyre_status target_allocate_many(vyre_target *target, const uint64_t *sizes, uint32_t count, vyre_device_buffer *out);
/* Frees every buffer, also after an error; the errors are joined. */
vyre_status target_free_many(vyre_target *target, const vyre_device_buffer *buffers, uint32_t count);
vyre_status target_import(vyre_target *target, void *data, uint64_t size, vyre_device_buffer *out);
/* kept.c */
vyre_status target_keep(vyre_target *target, uint64_t domain, const vyre_static *parts, uint32_t count, vyre_device_buffer *out,
                        bool *out_found);
/* Drops a set. `parts` are all buffers that one `keep` returned, in order. */
vyre_status target_drop(vyre_target *target, const vyre_device_buffer *parts, uint32_t count);
/* kernels.c */
vyre_status target_supports(vyre_target *target, const vyre_kernel_desc *desc);
vyre_status target_compile(vyre_target *target, const vyre_kernel_desc *desc, vyre_kernel *out);
vyre_status target_release(vyre_target *target, vyre_kernel kernel);
vyre_status target_statistics(vyre_target *target, vyre_kernel kernel, void (*emit)(void *user, const vyre_kernel_figure *figure),
                              void *user);
/* submit.c */
vyre_status target_submit(vyre_target *target, const vyre_sequence *sequence, vyre_timing *timing);
vyre_status target_begin(vyre_target *target, const vyre_sequence *sequence, vyre_ticket *out);
vyre_status target_poll(vyre_target *target, vyre_ticket ticket, bool *out_done);
vyre_status target_wait(vyre_target *target, vyre_ticket ticket, vyre_timing *timing);
/* Waits for all submissions in flight. Their errors are reported by `wait`. */
vyre_status target_flush(vyre_target *target);
/* base.c */
bool target_is_lost(const vyre_target *target);
bool target_hangs(const vyre_target *target);
vyre_status target_recover(vyre_target *target);
/* Returns the counters, whose values `emit` gets without the lock. */
void target_emit_counters(const target_counters *counters, void (*emit)(void *user, const char *name, uint64_t value), void *user);
void target_reset_metrics(vyre_target *target);

/* Makes an error of the kind REJECTED. */
#define TARGET_REJECTED(...) vyre_status_mark_rejected(VYRE_ERROR(VYRE_CODE_INPUT, __VA_ARGS__))

/* ---- for hooks ----------------------------------------------------------------------------------------------------------- */

void *target_resize(const vyre_allocator *allocator, void *memory, size_t old_size, size_t new_size);
/* Return NULL if the handle is invalid. */
target_buffer *target_buffer_get(const vyre_target *target, vyre_device_buffer buffer);
target_kernel *target_kernel_get(const vyre_target *target, vyre_kernel kernel);
/* Return the error for an invalid handle. */
vyre_status target_no_such_buffer(const vyre_target *target, uint64_t id);
vyre_status target_no_such_kernel(const vyre_target *target, uint64_t id);
/* Returns the bytes of a checked range. */
static inline uint64_t
target_range_size(const target_buffer *buffer, const vyre_range *range)
{
  return range->size ? range->size : buffer->size - range->offset;
}
/* Stores the buffer and the size of a range, or returns an error if the range is invalid. `what` and `index` name the range in
 * messages. */
vyre_status target_range_get(const vyre_target *target, const vyre_range *range, const char *what, uint32_t index,
                             target_buffer **out, uint64_t *out_size);
/* Copies the description into `kernel`, which is zero. target_kernel_free frees it, also after a failure. */
vyre_status target_kernel_init(vyre_target *target, const vyre_kernel_desc *desc, target_kernel *kernel);
void target_kernel_free(vyre_target *target, target_kernel *kernel);
/* sequence.c: copies a sequence with its arrays and those of its steps into one block of *out_size bytes, owned by the caller. */
vyre_status target_sequence_copy(const vyre_target *target, const vyre_sequence *from, void **out_memory, size_t *out_size,
                                 vyre_sequence *out);
/* Fills in `ends` of repeats without `until`; those of repeats with `until` are given. Returns the number of kernels that ran,
 * without indirect steps. */
uint32_t target_sequence_end(const vyre_sequence *sequence, vyre_repeat_end *ends);
/* Returns an upper bound of the step executions from a position on, if each repeat with `until` runs at most
 * `most_iterations`. */
uint64_t target_sequence_launches(const vyre_sequence *sequence, uint32_t step, uint32_t repeat, uint32_t most_iterations);
/* Add to and subtract from a sum. An overflow is an internal error and leaves the sum unchanged. `what` names the sum. */
vyre_status target_add(const target_base *base, uint64_t *sum, uint64_t bytes, const char *what);
vyre_status target_subtract(const target_base *base, uint64_t *sum, uint64_t bytes, const char *what);
/* Returns whether the name contains the part, ignoring case. */
bool target_name_contains(const char *name, const char *part);
/* Returns whether -device=`wanted` matches the device: by its index, its kind, or a part of its name. */
bool target_device_matches(const vyre_device_info *info, const char *wanted);
/* Returns the number of descriptors of a slot. */
static inline uint32_t
target_slot_count(const vyre_kernel_slot *slot)
{
  return slot->count ? slot->count : 1;
}
static inline bool
target_slot_has_texels(vyre_slot_kind kind)
{
  return kind >= VYRE_SLOT_STORAGE_TEXELS && kind <= VYRE_SLOT_COMBINED;
}
static inline bool
target_slot_is_written(const vyre_kernel_slot *slot)
{
  return !slot->is_read_only &&
         (slot->kind == VYRE_SLOT_STORAGE || slot->kind == VYRE_SLOT_STORAGE_TEXELS || slot->kind == VYRE_SLOT_STORAGE_IMAGE);
}

/* ---- between the files of this folder ------------------------------------------------------------------------------------ */

/* handles.c. A zeroed table is empty. */
vyre_status target_handles_add(const target_base *base, target_handles *handles, void *item, uint64_t *out);
void *target_handles_get(const target_handles *handles, uint64_t id); /* returns NULL if the number is invalid */
void target_handles_remove(target_handles *handles, uint64_t id);     /* the number must be valid */
void target_handles_free(const vyre_allocator *allocator, target_handles *handles);

/* buffers.c, pool.c */
vyre_status target_ready(const vyre_target *target);
uint64_t target_kept_budget(const target_base *base);
/* Takes the newest buffer of exactly this size from the pool, or stores NULL. If it returns an error and a buffer, a counter is
 * wrong and the caller owns the buffer. */
vyre_status target_pool_allocate(target_base *base, uint64_t size, target_buffer **out);
/* Puts the buffer into the pool, or destroys it if it exceeds the budget. The caller loses the buffer in any case. */
vyre_status target_pool_put(vyre_target *target, target_buffer *buffer);
/* Destroys the newest buffer of the largest size until at most `bytes` are left. */
vyre_status target_pool_trim(vyre_target *target, uint64_t bytes);
vyre_status target_buffer_destroy(vyre_target *target, target_buffer *buffer);
/* Removes the handle of an unused buffer and puts the buffer into the pool. */
vyre_status target_buffer_release(vyre_target *target, vyre_device_buffer buffer);

/* kept.c: frees all sets, held ones too, without their buffers. */
void target_kept_forget(target_base *base);
/* Frees sets without holders until at most `bytes` of them are left. */
vyre_status target_kept_trim(vyre_target *target, uint64_t bytes);

/* kernels.c, check.c */
vyre_status target_check_kernel(const vyre_target *target, const vyre_kernel_desc *desc);
vyre_status target_check_sequence(const vyre_target *target, const vyre_sequence *sequence);

/* submit.c: finishes submissions in flight, or frees all tickets. A finished ticket stays until its `wait`. */
void target_tickets_finish(vyre_target *target);
void target_tickets_forget(vyre_target *target);

/* ---- locked.c: the entries of tables of operations ----------------------------------------------------------------------- */

/* Take and release the base's lock. A thread does not take it twice. */
void target_lock(const vyre_target *target);
void target_unlock(const vyre_target *target);
/* Releases the lock and returns the status. */
static inline vyre_status
target_unlock_with(const vyre_target *target, vyre_status status)
{
  target_unlock(target);
  return status;
}

void locked_describe(const vyre_target *target, vyre_device_info *out);
vyre_status locked_supports(vyre_target *target, const vyre_kernel_desc *desc);
vyre_status locked_allocate(vyre_target *target, uint64_t size, vyre_device_buffer *out);
vyre_status locked_free(vyre_target *target, vyre_device_buffer buffer);
vyre_status locked_allocate_many(vyre_target *target, const uint64_t *sizes, uint32_t count, vyre_device_buffer *out);
vyre_status locked_free_many(vyre_target *target, const vyre_device_buffer *buffers, uint32_t count);
vyre_status locked_import(vyre_target *target, void *data, uint64_t size, vyre_device_buffer *out);
vyre_status locked_compile(vyre_target *target, const vyre_kernel_desc *desc, vyre_kernel *out);
vyre_status locked_release(vyre_target *target, vyre_kernel kernel);
vyre_status locked_keep(vyre_target *target, uint64_t domain, const vyre_static *parts, uint32_t count, vyre_device_buffer *out,
                        bool *out_found);
vyre_status locked_drop(vyre_target *target, const vyre_device_buffer *parts, uint32_t count);
vyre_status locked_submit(vyre_target *target, const vyre_sequence *sequence, vyre_timing *timing);
vyre_status locked_begin(vyre_target *target, const vyre_sequence *sequence, vyre_ticket *out);
vyre_status locked_poll(vyre_target *target, vyre_ticket ticket, bool *out_done);
vyre_status locked_wait(vyre_target *target, vyre_ticket ticket, vyre_timing *timing);
vyre_status locked_flush(vyre_target *target);
vyre_status locked_recover(vyre_target *target);
void locked_metrics(const vyre_target *target, void (*emit)(void *user, const char *name, uint64_t value), void *user);
void locked_reset_metrics(vyre_target *target);
vyre_status locked_statistics(vyre_target *target, vyre_kernel kernel, void (*emit)(void *user, const vyre_kernel_figure *figure),
                              void *user);

/* The entries that all tables of operations have. */
/* clang-format off */
#define TARGET_OPERATIONS \
  .describe = locked_describe, .supports = locked_supports, \
  .allocate = locked_allocate, .free = locked_free, .allocate_many = locked_allocate_many, .free_many = locked_free_many, \
  .compile = locked_compile, .release = locked_release, .keep = locked_keep, .drop = locked_drop, \
  .submit = locked_submit, .begin = locked_begin, .poll = locked_poll, .wait = locked_wait, .flush = locked_flush, \
  .is_lost = target_is_lost, .recover = locked_recover, .metrics = locked_metrics, .reset_metrics = locked_reset_metrics, \
  .statistics = locked_statistics
/* clang-format on */

#endif
