/* The kernel of mix.comp, which tests of sequences run: of its one buffer the word at `at` becomes itself times `factor` and
 * `term` more; by an atomic where the factor is 1.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_MIX_H
#define VYRE_UNITTESTS_MIX_H

#include "vyre/target.h"

#include "mix.inc"

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

static inline vyre_step
mix_step(vyre_kernel kernel, const vyre_range *range, const mix_push *push)
{
  return (vyre_step){
      .kernel = kernel, .buffers = range, .buffer_count = 1, .push = push, .push_size = sizeof *push, .groups = {1, 1, 1}};
}

#endif
