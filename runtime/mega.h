/* The runtime's own declarations: what its files share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_RUNTIME_MEGA_H
#define VYRE_RUNTIME_MEGA_H

#include "base/clock.h"
#include "vyre/ir.h"
#include "vyre/megakernel.h"

enum { MEGA_BUFFERS = 4, MEGA_MOST_BUFFERS = 5, MEGA_MOST_THREADS = 64 };

struct vyre_mega {
  const vyre_target_ops *ops;
  vyre_target *target; /* borrowed */
  vyre_device_info info;
  vyre_mega_options options; /* its pointers are not used after create */
  vyre_kernel_form form;
  uint32_t workgroup, groups; /* of a launch */
  bool is_beside;             /* each group is a step of its own: threads of a cpu */
  vyre_kernel_function native;
  vyre_kernel_program program; /* of form VIR, whose module is: */
  vyre_module *module;         /* owned; NULL of other forms */
  vyre_bytes code;             /* SPIR-V or PTX */
  vyre_kernel kernel;          /* 0: the target was made anew, and has none yet */
  uint32_t losses;             /* how often the target was made anew: handles from before are stale */
  uint64_t recoveries;         /* what the target counted when that was last looked at: others may have made it anew, too */
  /* Of dispatches of the host's images: buffers of the sizes that the last one had. */
  vyre_device_buffer buffers[MEGA_BUFFERS];
  uint64_t sizes[MEGA_BUFFERS];
  unsigned char no_io[VYRE_MEGA_IO_SLOTS * VYRE_MEGA_IO_BYTES]; /* an empty IO queue */
};

/* Programs without functions of a user's, as C: by build.  Made by vyre-megac. */
extern const vyre_kernel_function mega_natives[VYRE_MEGA_BUILD__COUNT];

/* ---- create.c ------------------------------------------------------------------------------------------------------------ */

/* If the target has no kernel. */
vyre_status mega_compile(vyre_mega *mega);

/* ---- recover.c ----------------------------------------------------------------------------------------------------------- */

/* Frees the buffers of dispatches of the host's images. */
vyre_status mega_give_back(vyre_mega *mega);
/* If another user of the target made it anew, this megakernel's handles are forgotten. */
void mega_forget_stale(vyre_mega *mega);
/* Items of these images (control, ring, debug log, IO queue) that are CLAIMED while no kernel runs are FAULT, as nobody knows how
 * far they came, and what they asked the IO queue for is given up; others may publish meanwhile.  How many there were. */
uint32_t mega_end_claimed(void *const images[MEGA_BUFFERS], const size_t sizes[MEGA_BUFFERS], uint32_t slots);
/* What `status` failed for may be tried once more where this is OK: a lost device was made anew, here or by another user of it,
 * without kernels and buffers, and the caller has put its new ones into the rows if any are its own (`are_theirs`); or memory was
 * given back.  Else it is `status`, with what else went wrong. */
vyre_status mega_try_again(vyre_mega *mega, vyre_status status, vyre_mega_row *rows, uint32_t count, bool are_theirs,
                           bool *out_was_lost);
/* As a note of what fails then. */
vyre_status mega_note_again(vyre_status status, bool was_lost);

/* ---- launch.c ------------------------------------------------------------------------------------------------------------ */

/* The steps of one launch with these ranges (control, ring, debug log, IO queue, data), at most MEGA_MOST_THREADS. */
uint32_t mega_launch(const vyre_mega *mega, const vyre_range *ranges, vyre_step *out);

/* ---- dispatch.c ---------------------------------------------------------------------------------------------------------- */

/* Submits uploads of `data` (NULL: of none) into the ranges of each row, a launch a row, and reads. */
vyre_status mega_submit(vyre_mega *mega, const vyre_mega_row *rows, uint32_t count, const void *const *data,
                        vyre_mega_output *outputs, vyre_mega_stats *stats);

#endif
