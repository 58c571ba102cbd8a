/* The texts of the kernel: runtime/kernel/NAME.vir, and for `eval` the evaluator of the
 * pass cf.  NUL-terminated.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_RUNTIME_SOURCE_H
#define VYRE_RUNTIME_SOURCE_H

#include "vyre/megakernel.h"

extern const char mega_text_alone[], mega_text_together[], mega_text_handlers[], mega_text_item[], mega_text_once[],
    mega_text_rounds[], mega_text_programs[], mega_text_eval[], mega_text_stage[], mega_text_grid[], mega_text_grid_end[],
    mega_text_end[];

/* The programs of a megakernel.  Only one whose handlers have barriers for the whole grid has more than the first. */
typedef enum mega_part_kind {
  MEGA_PART_KERNEL,
  MEGA_PART_GRID,    /* runs the staged items of one handler */
  MEGA_PART_GRID_END /* ends staged items */
} mega_part_kind;

typedef struct mega_part {
  mega_part_kind kind;
  const bool *is_staged; /* by handler, or one element for `fused`: the kernel stages its items; NULL if it stages none */
  uint32_t handler;      /* of MEGA_PART_GRID */
} mega_part;

/* Appends the text of one program, as vyre_mega_source does. */
VYRE_MUST_USE vyre_status mega_source(const vyre_mega_program *program, const vyre_mega_form *form, const mega_part *part,
                                      vyre_bytes *out);

#endif
