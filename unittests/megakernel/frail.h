/* A target that injects failures.  Its functions wrap those of the tested target.  `recover` closes and opens the inner device, so
 * that older handles are stale, as after a real loss.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_FRAIL_H
#define VYRE_UNITTESTS_FRAIL_H

#include "vyre/target.h"

static const vyre_target_ops frail_ops;
#define MEGA_OPS frail_ops
#define MEGA_IS_FRAIL
#include "mega.h"

#include <sched.h>

typedef enum frail_call { FRAIL_SUBMIT, FRAIL_ALLOCATE, FRAIL_COMPILE, FRAIL_RECOVER, FRAIL_IMPORT, FRAIL__COUNT } frail_call;

typedef enum frail_fault {
  FRAIL_LOST,       /* the device is lost before the call does anything */
  FRAIL_LOST_AFTER, /* the device is lost after the work, and no results are read */
  FRAIL_NO_MEMORY,
  FRAIL_FAILED
} frail_fault;

enum { FRAIL_PLANS = 8 };

enum { FRAIL_OTHERS = 16 };

typedef struct frail {
  vyre_target *inner; /* the device */
  bool is_second;     /* `inner` is not the device of the other tests */
  bool is_lost, hangs;
  uint32_t calls[FRAIL__COUNT], recoveries;
  struct {
    frail_call call;
    uint32_t first, count; /* failing calls of that kind, counted from 1 since open */
    frail_fault fault;
  } plans[FRAIL_PLANS];
  uint32_t plan_count;
  uint32_t every;        /* each N-th submission fails, with another fault each time; 0 if none does */
  uint32_t most;         /* recoveries after which `every` has no effect, because opening a device takes long; 0 for no limit */
  uint32_t *imported[8]; /* imported memory in order: `before` imports of the test, then the control image and the ring */
  uint64_t imported_sizes[8];
  uint32_t before; /* imports of the test before the images */
  uint32_t imports;
  /* The submissions left to fail while an item is claimed, and those that did.  The first PUBLISHED slot of the ring that adds
   * becomes CLAIMED.  With claims_io, it is a slot that waits for IO, and all slots of the IO queue are marked as being
   * claimed. */
  uint32_t claims, claimed;
  bool claims_io;
  frail_fault claim_fault; /* the fault of these submissions if `every` is 0 */
  /* The slots left to damage by an unknown op code, one at each submission, and the damaged slots. */
  uint32_t damages, damaged;
  bool is_held, waits;                     /* launches must wait; a launch waits */
  vyre_device_buffer others[FRAIL_OTHERS]; /* buffers of a reopened device, which have the numbers of stale handles */
} frail;

static inline frail *
frail_of(const vyre_target *target)
{
  return (frail *)(uintptr_t)target;
}

/* Makes `count` calls of that kind fail, after `after` calls that succeed. */
static inline void
frail_plan(vyre_target *target, frail_call call, uint32_t after, uint32_t count, frail_fault fault)
{
  frail *f = frail_of(target);
  assert_true(f->plan_count < FRAIL_PLANS);
  f->plans[f->plan_count].call = call;
  f->plans[f->plan_count].first = __atomic_load_n(&f->calls[call], __ATOMIC_RELAXED) + 1 + after;
  f->plans[f->plan_count].count = count;
  f->plans[f->plan_count++].fault = fault;
}

/* Returns the number of recoveries.  Any thread may call it. */
static inline uint32_t
frail_recoveries(const vyre_target *target)
{
  return __atomic_load_n(&frail_of(target)->recoveries, __ATOMIC_RELAXED);
}

/* Claims a slot of the ring as a lost kernel does.  Returns whether there was one. */
static inline bool
frail_claim(frail *f)
{
  for (uint64_t slot = 0; f->claims && f->imports >= f->before + 2 && slot < f->imported_sizes[f->before + 1] / 64; slot++) {
    uint32_t *words = f->imported[f->before + 1] + slot * 16, state = f->claims_io ? VYRE_MEGA_WAIT_IO : VYRE_MEGA_PUBLISHED;
    const uint32_t op = f->claims_io ? VYRE_MEGA_OP_LOAD_MISS : VYRE_MEGA_OP_ADD;
    if (__atomic_load_n(words, __ATOMIC_ACQUIRE) == state && words[1] == op &&
        __atomic_compare_exchange_n(words, &state, VYRE_MEGA_CLAIMED, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
      for (uint32_t i = 0; f->claims_io && i < VYRE_MEGA_IO_CLAIM_WORDS; i++)
        f->imported[f->before][VYRE_MEGA_IO_CLAIMS + i] = UINT32_MAX;
      f->claims--;
      f->claimed++;
      return true;
    }
  }
  return false;
}

/* Sets an unknown op code in a PUBLISHED slot.  No kernel runs, so nothing else changes the slot. */
static inline void
frail_damage(frail *f)
{
  for (uint64_t slot = 0; f->damages && f->imports >= f->before + 2 && slot < f->imported_sizes[f->before + 1] / 64; slot++) {
    uint32_t *words = f->imported[f->before + 1] + slot * 16;
    if (__atomic_load_n(words, __ATOMIC_ACQUIRE) != VYRE_MEGA_PUBLISHED || words[1] != VYRE_MEGA_OP_ADD)
      continue;
    __atomic_store_n(&words[1], 0x80000077, __ATOMIC_RELAXED);
    f->damages--;
    f->damaged++;
    return;
  }
}

static inline vyre_status
frail_error(frail *f, frail_fault fault)
{
  if (fault == FRAIL_NO_MEMORY)
    return vyre_status_mark_out_of_memory(VYRE_ERROR(VYRE_CODE_DEVICE, "frail: no memory is left\nFix: use less"));
  if (fault == FRAIL_FAILED)
    return VYRE_ERROR(VYRE_CODE_DEVICE, "frail: the call failed\nFix: try again");
  f->is_lost = true;
  return VYRE_ERROR(VYRE_CODE_DEVICE, "frail: the device is lost\nFix: recover the device");
}

/* Returns whether this call fails, and sets its fault. */
static inline bool
frail_fails(frail *f, frail_call call, frail_fault *out)
{
  const uint32_t number = __atomic_add_fetch(&f->calls[call], 1, __ATOMIC_RELAXED);
  for (uint32_t i = 0; i < f->plan_count; i++)
    if (f->plans[i].call == call && number >= f->plans[i].first && number - f->plans[i].first < f->plans[i].count) {
      *out = f->plans[i].fault;
      return true;
    }
  *out = (frail_fault)(f->every ? number / f->every % 3 : f->claim_fault);
  if (call == FRAIL_SUBMIT && number % (f->every ? f->every : 1) == f->every / 2 && frail_claim(f))
    return true; /* between two faults of `every`, because two faults in a row end the kernel */
  return call == FRAIL_SUBMIT && f->every && number % f->every == 0 && (f->most == 0 || f->recoveries < f->most);
}

static inline vyre_status
frail_begin(frail *f, frail_call call, frail_fault *out)
{
  *out = FRAIL_FAILED;
  if (f->is_lost)
    return VYRE_ERROR(VYRE_CODE_DEVICE, "frail: the device was lost in an earlier call\nFix: recover the device");
  const bool fails = frail_fails(f, call, out);
  if (!fails)
    *out = FRAIL_FAILED;
  return fails && *out != FRAIL_LOST_AFTER ? frail_error(f, *out) : VYRE_OK;
}

static vyre_target *
world_target(void)
{
  frail *f = calloc(1, sizeof *f);
  assert_non_null(f);
  ok(device_open());
  f->inner = device;
  return (vyre_target *)(void *)f;
}

/* Opens a second device, which the caller ends with frail_end_second. */
static inline vyre_target *
frail_second(void)
{
  frail *f = calloc(1, sizeof *f);
  assert_non_null(f);
  f->is_second = true;
  ok(device_open_one(&f->inner));
  return (vyre_target *)(void *)f;
}

static inline void
frail_end_second(vyre_target *target)
{
  ok(MEGA_TARGET.close(frail_of(target)->inner));
  free(target);
}

static inline vyre_status
frail_open_again(frail *f)
{
  if (f->is_second) {
    VYRE_TRY(MEGA_TARGET.close(f->inner));
    return device_open_one(&f->inner);
  }
  VYRE_TRY(device_close());
  VYRE_TRY(device_open());
  f->inner = device;
  return VYRE_OK;
}

static void
world_target_end(vyre_target *target)
{
  frail *f = frail_of(target);
  if (f->is_lost) /* frees everything on the lost device */
    ok(device_close());
  for (uint32_t i = 0; i < FRAIL_OTHERS && !f->is_lost; i++)
    if (f->others[i].id)
      ok(MEGA_TARGET.free(f->inner, f->others[i]));
  free(f);
}

static void
frail_describe(const vyre_target *target, vyre_device_info *out)
{
  MEGA_TARGET.describe(frail_of(target)->inner, out);
}

static vyre_status
frail_allocate(vyre_target *target, uint64_t size, vyre_device_buffer *out)
{
  frail_fault fault;
  VYRE_TRY(frail_begin(frail_of(target), FRAIL_ALLOCATE, &fault));
  return MEGA_TARGET.allocate(frail_of(target)->inner, size, out);
}

static vyre_status
frail_free(vyre_target *target, vyre_device_buffer buffer)
{
  return MEGA_TARGET.free(frail_of(target)->inner, buffer);
}

static vyre_status
frail_import(vyre_target *target, void *data, uint64_t size, vyre_device_buffer *out)
{
  frail *f = frail_of(target);
  frail_fault fault;
  VYRE_TRY(frail_begin(f, FRAIL_IMPORT, &fault));
  f->imported_sizes[f->imports % 8] = size;
  f->imported[f->imports++ % 8] = data;
  return MEGA_TARGET.import(f->inner, data, size, out);
}

static vyre_status
frail_compile(vyre_target *target, const vyre_kernel_desc *desc, vyre_kernel *out)
{
  frail_fault fault;
  VYRE_TRY(frail_begin(frail_of(target), FRAIL_COMPILE, &fault));
  return MEGA_TARGET.compile(frail_of(target)->inner, desc, out);
}

static vyre_status
frail_release(vyre_target *target, vyre_kernel kernel)
{
  return MEGA_TARGET.release(frail_of(target)->inner, kernel);
}

static vyre_status
frail_submit(vyre_target *target, const vyre_sequence *sequence, vyre_timing *timing)
{
  frail *f = frail_of(target);
  frail_fault fault;
  for (; sequence->step_count && __atomic_load_n(&f->is_held, __ATOMIC_ACQUIRE); sched_yield())
    __atomic_store_n(&f->waits, true, __ATOMIC_RELEASE);
  frail_damage(f);
  VYRE_TRY(frail_begin(f, FRAIL_SUBMIT, &fault));
  if (fault != FRAIL_LOST_AFTER)
    return MEGA_TARGET.submit(f->inner, sequence, timing);
  /* Runs the sequence without its reads. */
  vyre_sequence unread = *sequence;
  unread.read_count = 0;
  VYRE_TRY(MEGA_TARGET.submit(f->inner, &unread, NULL));
  return frail_error(f, fault);
}

static bool
frail_is_lost(const vyre_target *target)
{
  return frail_of(target)->is_lost;
}

static bool
frail_hangs(const vyre_target *target)
{
  return frail_of(target)->hangs;
}

static void
frail_metrics(const vyre_target *target, void (*emit)(void *user, const char *name, uint64_t value), void *user)
{
  emit(user, "recoveries", frail_recoveries(target));
}

/* Opens the device again.  Allocates small buffers, which get the numbers of older handles. */
static vyre_status
frail_recover(vyre_target *target)
{
  frail *f = frail_of(target);
  f->calls[FRAIL_RECOVER]++;
  if (!f->is_lost)
    return VYRE_ERROR(VYRE_CODE_INPUT, "frail: the device is not lost\nFix: recover only a lost device");
  for (uint32_t i = 0; i < f->plan_count; i++)
    if (f->plans[i].call == FRAIL_RECOVER)
      return VYRE_ERROR(VYRE_CODE_DEVICE, "frail: the device cannot be opened again\nFix: restart the process");
  VYRE_TRY(frail_open_again(f));
  for (uint32_t i = 0; i < FRAIL_OTHERS; i++)
    VYRE_TRY(MEGA_TARGET.allocate(f->inner, 4, &f->others[i]));
  f->imports = 0;
  f->is_lost = f->hangs = false;
  __atomic_add_fetch(&f->recoveries, 1, __ATOMIC_RELAXED);
  return VYRE_OK;
}

static const vyre_target_ops frail_ops = {
    .struct_size = sizeof(vyre_target_ops),
    .name = "frail",
    .describe = frail_describe,
    .allocate = frail_allocate,
    .free = frail_free,
    .compile = frail_compile,
    .release = frail_release,
    .submit = frail_submit,
    .import = frail_import,
    .is_lost = frail_is_lost,
    .recover = frail_recover,
    .hangs = frail_hangs,
    .metrics = frail_metrics,
};

#endif
