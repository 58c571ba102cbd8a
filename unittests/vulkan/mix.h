/* A target with the kernel of mix.comp, one buffer of words, and a sequence that uploads it, runs steps over it, and reads it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_MIX_H
#define VYRE_UNITTESTS_MIX_H

#include "bundle.h"
#include "../messages.h"
#include "vyre/target.h"

#include "mix.inc"

enum { MIX_WORDS = 64, MIX_STEPS = 12, MIX_REPEATS = 3 };

static const vyre_target_ops *const ops = &vyre_target_vulkan;

/* Push constants.  The kernel sets the word at `at` to itself times `factor` plus `term`, by an atomic if `factor` is 1. */
typedef struct mix_push {
  uint32_t at, factor, term;
} mix_push;

static const vyre_kernel_slot mix_slot = {.kind = VYRE_SLOT_STORAGE};
static const vyre_kernel_desc mix_kernel = {.label = "mix",
                                            .code = mix_words,
                                            .size = sizeof mix_words,
                                            .entry = "main",
                                            .workgroup = {1, 1, 1},
                                            .slots = &mix_slot,
                                            .slot_count = 1,
                                            .push_size = sizeof(mix_push)};

typedef struct mix {
  vyre_target *target;
  vyre_kernel kernel;
  vyre_device_buffer buffer;
  vyre_range all;
  uint32_t before[MIX_WORDS], after[MIX_WORDS]; /* uploaded and read */
  mix_push pushes[MIX_STEPS];
  vyre_step steps[MIX_STEPS];
  vyre_repeat repeats[MIX_REPEATS];
  vyre_repeat_end ends[MIX_REPEATS];
  vyre_upload upload;
  vyre_read read;
  vyre_sequence sequence;
  vyre_timing timing;
} mix;

static inline vyre_step
mix_step(vyre_kernel kernel, const vyre_range *range, const mix_push *push)
{
  return (vyre_step){
      .kernel = kernel, .buffers = range, .buffer_count = 1, .push = push, .push_size = sizeof *push, .groups = {1, 1, 1}};
}

static inline vyre_range
mix_words_at(const mix *m, uint32_t at, uint32_t count)
{
  return (vyre_range){m->buffer, 4 * (uint64_t)at, 4 * (uint64_t)count};
}

/* Restarts the sequence, without steps. */
static inline void
mix_begin(mix *m)
{
  m->upload = (vyre_upload){m->all, m->before};
  m->read = (vyre_read){m->all, m->after};
  m->sequence = (vyre_sequence){.uploads = &m->upload,
                                .upload_count = 1,
                                .steps = m->steps,
                                .reads = &m->read,
                                .read_count = 1,
                                .repeats = m->repeats,
                                .ends = m->ends};
}

static inline void
mix_open(mix *m, const vyre_target_options *options, const vyre_allocator *allocator)
{
  memset(m, 0, sizeof *m);
  assert_ok(ops->open(options, allocator, &m->target));
  assert_ok(ops->compile(m->target, &mix_kernel, &m->kernel));
  assert_ok(ops->allocate(m->target, sizeof m->before, &m->buffer));
  m->all = (vyre_range){m->buffer, 0, 0};
  mix_begin(m);
}

static inline vyre_step *
mix_add_step(mix *m, mix_push values)
{
  const uint32_t i = m->sequence.step_count++;
  m->pushes[i] = values;
  m->steps[i] = mix_step(m->kernel, &m->all, &m->pushes[i]);
  return &m->steps[i];
}

/* Repeats the last `count` steps until the word at `until` is 0, or, if `until` is MIX_WORDS, exactly `times` times. */
static inline void
mix_add_repeat(mix *m, uint32_t count, uint32_t times, uint32_t until)
{
  m->repeats[m->sequence.repeat_count++] = (vyre_repeat){m->sequence.step_count - count, count, times,
                                                         until == MIX_WORDS ? (vyre_range){{0}, 0, 0} : mix_words_at(m, until, 1)};
}

#endif
