/* What every target does the same way, written once: handle numbers, buffers and their pool, kept data, checks of kernels and
 * sequences, what was begun and not yet waited for, counters.
 *
 * A target's `struct vyre_target` has a target_base as its first member and gives it a table of hooks: what is the device's own.
 * Functions of this folder then stand in its table of operations directly: TARGET_OPERATIONS, and `.import = target_import` where
 * there is a hook for that.
 *
 * `open` calls target_base_init first, fills `base.info`, then opens the device; `close` calls target_base_close before it closes
 * the device.  A failed `open` may call target_base_close too.
 *
 * Threads and ownership are target.h's: one thread at a time; what a base has is its own, and is gone after target_base_close.
 * Hooks are called from within these functions and may call back only what is declared under "for hooks" below.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TARGETS_COMMON_BASE_H
#define VYRE_TARGETS_COMMON_BASE_H

#include "base/clock.h"
#include "base/grow.h"
#include "vyre/target.h"

/* ---- handles.c ----------------------------------------------------------------------------------------------------------- */

/* Handle numbers: generation << 32 | place + 1.  A place is used again with the next generation.  Each table starts at another
 * generation, so that numbers of another table, or of another target, are none of this one. */
typedef struct target_place {
  void *item; /* NULL: free */
  uint32_t generation;
  uint32_t next_free; /* place + 1; 0: none */
} target_place;

typedef struct target_handles {
  target_place *places;
  uint32_t count, capacity;
  uint32_t first_free; /* place + 1; 0: none */
  uint32_t first_generation;
} target_handles;

/* ---- what a target has --------------------------------------------------------------------------------------------------- */

/* A buffer.  Its memory is the target's: whatever its hook `create` made. */
typedef struct target_buffer {
  void *memory;
  uint64_t size;                        /* bytes, just as asked for */
  uint64_t in_flight;                   /* begun submissions that name it, counted as often as they do */
  bool is_imported;                     /* over the caller's memory: never pooled */
  struct target_kept *kept;             /* the set it belongs to; NULL: the caller's own */
  struct target_buffer *older, *larger; /* in the pool: the next one of this size; of its class's newest, the next greater class */
} target_buffer;

/* What is known of every kernel.  A target's own has it as its first member. */
typedef struct target_kernel {
  char *label;             /* owned */
  vyre_kernel_slot *slots; /* owned; `images` are NULL: the caller's were for the call */
  uint32_t slot_count;
  uint32_t descriptor_count; /* of all slots, but those of kind PUSH */
  uint32_t range_count;      /* buffers that a step gives: the same without samplers */
  uint32_t push_size;
  uint32_t workgroup[3];
  uint64_t in_flight;
  uint64_t compile_ns; /* what the driver took for it */
} target_kernel;

/* Counters since open: counters.def has their names. */
typedef struct target_counters {
#define TARGET_COUNTER(name, kind, text) uint64_t name;
#include "counters.def"
} target_counters;

/* Words that say all that something depends on: work.h. */
typedef struct target_shape {
  uint64_t *words; /* owned */
  uint32_t count, capacity;
  uint64_t hash;
} target_shape;

/* What is the device's own.  A hook that fails undoes what it did. */
typedef struct target_hooks {
  const char *name; /* in front of every message: "vulkan" */

  /* Memory for a buffer: size is at least 1 and at most info.max_buffer. */
  vyre_status (*create)(vyre_target *target, uint64_t size, void **out_memory);
  /* The memory is gone whatever it returns. */
  vyre_status (*destroy)(vyre_target *target, void *memory);
  /* A kernel that passed target_check_kernel and `check_kernel`.  The target allocates its own struct, calls target_kernel_init on
   * it, and on failure target_kernel_free. */
  vyre_status (*compile)(vyre_target *target, const vyre_kernel_desc *desc, target_kernel **out);
  /* Ends with target_kernel_free and gives the struct back. */
  vyre_status (*release)(vyre_target *target, target_kernel *kernel);
  /* A sequence that was checked: every handle is there, every range lies in its buffer.  Returns when all is done and read.  Fills
   * waits, launches, bytes_* and device_ns of `timing`, which is zero; the rest is filled by who calls.  Where it allocates device
   * or staging memory, here as elsewhere, a hook adds to base.counters.allocations. */
  vyre_status (*run)(vyre_target *target, const vyre_sequence *sequence, vyre_timing *timing);

  /* Optional; NULL says what is done instead. */

  /* Why nothing can be done now.  NULL: an error if base.lost. */
  vyre_status (*ready)(const vyre_target *target);
  /* What the target asks of a kernel beyond target_check_kernel.  NULL: nothing. */
  vyre_status (*check_kernel)(vyre_target *target, const vyre_kernel_desc *desc);
  /* What the target asks of a step's range for slots of texels and images, of which only the range is checked by then:
   * `slot` of the kernel, `descriptor` counted over all slots, `size` bytes from `offset`.  NULL: nothing. */
  vyre_status (*check_texels)(const vyre_target *target, const target_kernel *kernel, uint32_t slot, uint32_t descriptor,
                              uint64_t offset, uint64_t size);
  /* Memory over the caller's (VYRE_TARGET_IMPORT); `destroy` ends it. */
  vyre_status (*import)(vyre_target *target, void *data, uint64_t size, void **out_memory);
  /* `run` in three calls (VYRE_TARGET_ASYNC); all or none of them.  The arrays of the sequence are the caller's and may be gone
   * when `start` returns; what they point to (reads' data, ends) stays until `finish`.  `finish` waits, and work is gone after it,
   * whatever it returns.  NULL: `begin` calls `run`. */
  vyre_status (*start)(vyre_target *target, const vyre_sequence *sequence, void **out_work);
  vyre_status (*poll)(vyre_target *target, void *work, bool *out_done);
  vyre_status (*finish)(vyre_target *target, void *work, vyre_timing *timing);
  /* A new device instead of the one that was lost; everything on the old one was destroyed before.  NULL: what was lost stays
   * lost. */
  vyre_status (*reopen)(vyre_target *target);
  /* What the driver tells of a kernel that was made for it (VYRE_TARGET_STATISTICS).  NULL: nothing. */
  vyre_status (*statistics)(vyre_target *target, const target_kernel *kernel,
                            void (*emit)(void *user, const vyre_kernel_figure *figure), void *user);
  /* For those that use work.h. */
  const struct target_work_hooks *work;
} target_hooks;

typedef struct target_base {
  const target_hooks *hooks;
  vyre_allocator allocator;
  vyre_device_info info; /* the target fills it when it opens */
  bool lost;             /* the target sets it when its device is gone */
  bool hangs;            /* the target sets it: something still runs, and nothing that it may use can be destroyed */
  bool only_looks;       /* kernels are made for `statistics`; the target sets it when it opens, by its options */
  target_handles buffers, kernels, tickets;
  target_buffer *pool; /* newest of the smallest class */
  struct target_kept *kept;
  uint64_t bytes_idle; /* of kept sets that nobody holds */
  uint64_t drops;      /* sets that nobody held any more, ever */
  struct target_work *unused;
  target_shape shape; /* of what comes next */
  target_counters counters;
  /* Bytes that the pool, and kept sets that nobody holds, may have: info.memory / 32 each.  Tests say so otherwise here. */
  bool has_budgets;
  uint64_t pool_budget, kept_budget;
  uint64_t kept_key_mask; /* all ones; with fewer, tests make contents of one key */
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

/* Cannot fail.  The allocator is copied. */
void target_base_init(target_base *base, const target_hooks *hooks, const vyre_allocator *allocator);
/* Waits for what was begun, then destroys kernels and buffers, pooled and kept ones too.  The base is empty afterwards. */
vyre_status target_base_close(vyre_target *target);

/* ---- call.c -------------------------------------------------------------------------------------------------------------- */

/* Between the two this thread is in the driver.  Texts are copied. */
void target_call_begin(const char *target, const char *driver, vyre_driver_doing doing, const char *what);
void target_call_end(void);

/* As hooks are called: of a target that has no driver it does nothing. */
static inline void
target_call_hook(const target_base *base, vyre_driver_doing doing, const char *what)
{
  if (base->info.forms & (1u << VYRE_KERNEL_SPIRV | 1u << VYRE_KERNEL_PTX))
    target_call_begin(base->hooks->name, base->info.driver, doing, what);
}

/* ---- operations: as target.h has them ------------------------------------------------------------------------------------ */

void target_describe(const vyre_target *target, vyre_device_info *out);
/* buffers.c */
vyre_status target_allocate(vyre_target *target, uint64_t size, vyre_device_buffer *out);
vyre_status target_free(vyre_target *target, vyre_device_buffer buffer);
vyre_status target_allocate_many(vyre_target *target, const uint64_t *sizes, uint32_t count, vyre_device_buffer *out);
/* Each is tried; the errors are joined. */
vyre_status target_free_many(vyre_target *target, const vyre_device_buffer *buffers, uint32_t count);
vyre_status target_import(vyre_target *target, void *data, uint64_t size, vyre_device_buffer *out);
/* kept.c */
vyre_status target_keep(vyre_target *target, uint64_t domain, const vyre_static *parts, uint32_t count, vyre_device_buffer *out,
                        bool *out_found);
/* `parts` are the buffers of one `keep`, whole and in order. */
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
/* Errors of what it waited for are `wait`'s to say. */
vyre_status target_flush(vyre_target *target);
/* base.c */
bool target_is_lost(const vyre_target *target);
bool target_hangs(const vyre_target *target);
vyre_status target_recover(vyre_target *target);
void target_metrics(const vyre_target *target, void (*emit)(void *user, const char *name, uint64_t value), void *user);

/* ---- for hooks ----------------------------------------------------------------------------------------------------------- */

void *target_resize(const vyre_allocator *allocator, void *memory, size_t old_size, size_t new_size);
/* NULL: no such. */
target_buffer *target_buffer_get(const vyre_target *target, vyre_device_buffer buffer);
target_kernel *target_kernel_get(const vyre_target *target, vyre_kernel kernel);
/* The errors that say so. */
vyre_status target_no_such_buffer(const vyre_target *target, uint64_t id);
vyre_status target_no_such_kernel(const vyre_target *target, uint64_t id);
/* Bytes of a range that was checked. */
static inline uint64_t
target_range_size(const target_buffer *buffer, const vyre_range *range)
{
  return range->size ? range->size : buffer->size - range->offset;
}
/* The buffer and the whole range of a range; `what` and `index` name it in messages. */
vyre_status target_range_get(const vyre_target *target, const vyre_range *range, const char *what, uint32_t index,
                             target_buffer **out, uint64_t *out_size);
/* Copies what is kept of a description; `kernel` is zero before and freed by target_kernel_free, after a failure too. */
vyre_status target_kernel_init(vyre_target *target, const vyre_kernel_desc *desc, target_kernel *kernel);
void target_kernel_free(vyre_target *target, target_kernel *kernel);
/* sequence.c: a sequence whose arrays and those of its steps are one copy, of *out_size bytes, which is the caller's. */
vyre_status target_sequence_copy(const vyre_target *target, const vyre_sequence *from, void **out_memory, size_t *out_size,
                                 vyre_sequence *out);
/* `ends` has how the repeats until a word is 0 ended; all others are filled in.  Returns how many kernels ran, without those that
 * took their groups from a buffer. */
uint32_t target_sequence_end(const vyre_sequence *sequence, vyre_repeat_end *ends);
/* Launches from a place in it on, where a repeat until a word is 0 is given `most_iterations` at once. */
uint64_t target_sequence_launches(const vyre_sequence *sequence, uint32_t step, uint32_t repeat, uint32_t most_iterations);
/* Sums that cannot go wrong unseen: an error, and the sum as it was, where it would leave 64 bits or fall below 0. */
vyre_status target_add(const target_base *base, uint64_t *sum, uint64_t bytes, const char *what);
vyre_status target_subtract(const target_base *base, uint64_t *sum, uint64_t bytes, const char *what);
/* Returns whether the name has the part in it, in any case. */
bool target_name_contains(const char *name, const char *part);
/* Returns whether -device=`wanted` means the device: by its index, its kind, or a part of its name. */
bool target_device_matches(const vyre_device_info *info, const char *wanted);
/* Descriptors of a slot. */
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

/* handles.c.  All zero is an empty table. */
vyre_status target_handles_add(const target_base *base, target_handles *handles, void *item, uint64_t *out);
void *target_handles_get(const target_handles *handles, uint64_t id); /* NULL: no such */
void target_handles_remove(target_handles *handles, uint64_t id);     /* of one that is there */
void target_handles_free(const vyre_allocator *allocator, target_handles *handles);

/* buffers.c, pool.c */
vyre_status target_ready(const vyre_target *target);
uint64_t target_kept_budget(const target_base *base);
/* One of just that size, the newest; NULL: there is none.  There is one when it fails: a sum is wrong, and it is the caller's. */
vyre_status target_pool_take(target_base *base, uint64_t size, target_buffer **out);
/* Keeps the buffer, or destroys it where the budget has no room for it.  It is the pool's in any case. */
vyre_status target_pool_put(vyre_target *target, target_buffer *buffer);
/* Destroys the newest of the largest class until at most so many bytes are left. */
vyre_status target_pool_trim(vyre_target *target, uint64_t bytes);
vyre_status target_buffer_destroy(vyre_target *target, target_buffer *buffer);
/* Gives a buffer that is nobody's any more to the pool; its handle is gone. */
vyre_status target_buffer_release(vyre_target *target, vyre_device_buffer buffer);

/* kept.c: forgets all sets, held ones too, without a look at their buffers. */
void target_kept_forget(target_base *base);
/* Frees sets that nobody holds until at most so many bytes of such are left. */
vyre_status target_kept_trim(vyre_target *target, uint64_t bytes);

/* kernels.c, check.c */
vyre_status target_check_kernel(const vyre_target *target, const vyre_kernel_desc *desc);
vyre_status target_check_sequence(const vyre_target *target, const vyre_sequence *sequence);

/* submit.c: finishes what was begun; each ticket stays for its `wait`, or is forgotten too. */
void target_tickets_finish(vyre_target *target);
void target_tickets_forget(vyre_target *target);

/* What all tables of operations have. */
/* clang-format off */
#define TARGET_OPERATIONS \
  .describe = target_describe, .supports = target_supports, \
  .allocate = target_allocate, .free = target_free, .allocate_many = target_allocate_many, .free_many = target_free_many, \
  .compile = target_compile, .release = target_release, .keep = target_keep, .drop = target_drop, \
  .submit = target_submit, .begin = target_begin, .poll = target_poll, .wait = target_wait, .flush = target_flush, \
  .is_lost = target_is_lost, .recover = target_recover, .metrics = target_metrics, .statistics = target_statistics
/* clang-format on */

#endif
