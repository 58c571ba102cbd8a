/* Declarations shared by the runtime's files.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_RUNTIME_MEGA_H
#define VYRE_RUNTIME_MEGA_H

#include "base/clock.h"
#include "parts.h"
#include "vyre/ir.h"
#include "vyre/megakernel.h"

/* The buffers of the kernel: four images, data, marks of staged items, values that segments keep. */
enum { MEGA_BUFFERS = 4, MEGA_MOST_BUFFERS = 5, MEGA_STAGE = 5, MEGA_KEPT = 6, MEGA_ALL_BUFFERS = 7, MEGA_MOST_THREADS = 64 };

/* One program in the target's form, and its kernel. */
typedef struct mega_kernel {
  vyre_kernel_function native; /* of form C */
  vyre_kernel_program program; /* of form VIR, with `module` */
  vyre_module *module;         /* owned; NULL for other forms */
  vyre_bytes code;             /* SPIR-V or PTX */
  vyre_kernel kernel;          /* 0 if the target was reopened and has no kernel yet */
  bool keeps;                  /* has the buffer for values that segments keep */
} mega_kernel;

struct vyre_mega {
  const vyre_target_ops *ops;
  vyre_target *target; /* borrowed */
  vyre_device_info info;
  vyre_mega_options options; /* its pointers are valid only in create */
  vyre_kernel_form form;
  uint32_t workgroup, groups; /* workgroup size, and number of workgroups of a launch */
  bool is_beside;             /* each workgroup is a separate step, so that a CPU runs workgroups in concurrent threads */
  mega_kernel main;
  /* Run after `main`, in order: the segments of handlers with barriers for the whole grid, then the end of their items.  Owned. */
  mega_kernel *stages;
  uint32_t stage_count;
  uint64_t kept_size;             /* of the buffer for values that segments keep; 0 without one */
  vyre_device_buffer stage, kept; /* 0 if the target was reopened and has none yet */
  vyre_step *steps;               /* owned; room for the steps of one launch */
  uint32_t losses;                /* how often the target was reopened; older handles are stale */
  uint64_t recoveries;            /* the target's count when it was last read; other users may reopen the target too */
  /* For dispatches of the host's images: buffers with the sizes of the last dispatch. */
  vyre_device_buffer buffers[MEGA_BUFFERS];
  uint64_t sizes[MEGA_BUFFERS];
  unsigned char no_io[VYRE_MEGA_IO_SLOTS * VYRE_MEGA_IO_BYTES]; /* an empty IO queue */
};

/* For each build, the program without user functions as a C function, and the one that interprets programs.  The tool vyre-megac
 * writes the functions. */
extern const vyre_kernel_function mega_natives[VYRE_MEGA_BUILD__COUNT], mega_program_natives[VYRE_MEGA_BUILD__COUNT];

static inline bool
mega_has_data(const vyre_mega *mega)
{
  return mega->options.program.has_data || mega->options.program.has_programs;
}

/* Returns whether the kernel has no types of 16 bits. */
static inline bool
mega_has_no_halves(const vyre_mega *mega)
{
  const uint32_t needed = VYRE_DEVICE_FLOAT16 | VYRE_DEVICE_INT16;
  return mega->form == VYRE_KERNEL_SPIRV && (mega->info.features & needed) != needed;
}

/* ---- create.c ------------------------------------------------------------------------------------------------------------ */

/* Compiles the kernels that the target lacks, and allocates the buffers of staged items. */
vyre_status mega_compile(vyre_mega *mega);
/* Compiles one program's code, whose form is the kernel's. */
vyre_status mega_compile_one(vyre_mega *mega, mega_kernel *kernel);
/* Makes the module of a part, optimized by the caller's passes. */
vyre_status mega_make_module(const vyre_mega *mega, const mega_part *part, vyre_module **out);
/* Writes the code of the module's program.  Owns the module, also if it fails. */
vyre_status mega_write(const vyre_mega *mega, vyre_module *module, mega_kernel *out);
void mega_kernel_free(mega_kernel *kernel);

/* ---- stages.c ------------------------------------------------------------------------------------------------------------ */

/* Makes the stages of the handlers that `staged` selects. */
vyre_status mega_make_stages(vyre_mega *mega, const bool *staged);
/* Allocates the buffers of staged items that the target lacks, and frees them. */
vyre_status mega_stage_buffers(vyre_mega *mega);
vyre_status mega_free_stage_buffers(vyre_mega *mega);
/* Stores the grid of a stage.  For compiled C it has a second row, which never runs: see add_main of launch.c. */
void mega_stage_grid(const vyre_mega *mega, uint32_t groups[3]);

/* ---- recover.c ----------------------------------------------------------------------------------------------------------- */

/* Frees the kept buffers for dispatches of the host's images. */
vyre_status mega_free_kept(vyre_mega *mega);
/* Invalidates this megakernel's handles if another user reopened the target. */
void mega_forget_stale(vyre_mega *mega);
/* Ends items that are CLAIMED while no kernel runs: they are FAULT, because their progress is unknown, and their requests in
 * the IO queue are cancelled.  The images are control, ring, debug log and IO queue.  Other threads may publish meanwhile.
 * Returns the number of ended items. */
uint32_t mega_end_claimed(void *const images[MEGA_BUFFERS], const size_t sizes[MEGA_BUFFERS], uint32_t slots);
/* Prepares a second try after `status`.  Returns OK if it is possible: a lost device was reopened, without kernels and
 * buffers, or memory was freed.  If the rows have buffers of the caller (`are_theirs`), its `remake` has replaced them.
 * Otherwise returns `status` with the second error. */
vyre_status mega_try_again(vyre_mega *mega, vyre_status status, vyre_mega_row *rows, uint32_t count, bool are_theirs,
                           bool *out_was_lost);
/* Adds a note about the first failure to the error of the second try. */
vyre_status mega_note_again(vyre_status status, bool was_lost);

/* ---- launch.c ------------------------------------------------------------------------------------------------------------ */

/* Memory that the steps of one launch refer to. */
typedef struct mega_launch {
  vyre_range ranges[MEGA_ALL_BUFFERS];
  vyre_fill fill;
  vyre_repeat repeat;
  vyre_repeat_end end;
} mega_launch;

/* Returns the number of steps of one launch. */
uint32_t mega_step_count(const vyre_mega *mega);
/* Appends the steps of one launch to the sequence, and their fill and repeat.  `steps` has room for all steps of the sequence.
 * `buffers` are the ranges of control, ring, debug log, IO queue and data.  `launch` must live as long as the sequence.  With
 * `passes`, a sequence has one launch. */
void mega_add_launch(const vyre_mega *mega, const vyre_range *buffers, mega_launch *launch, vyre_step *steps,
                     vyre_sequence *sequence);

/* ---- dispatch.c ---------------------------------------------------------------------------------------------------------- */

/* Submits uploads of `data` to the ranges of each row (none if NULL), a launch for each row, and readbacks. */
vyre_status mega_submit(vyre_mega *mega, const vyre_mega_row *rows, uint32_t count, const void *const *data,
                        vyre_mega_output *outputs, vyre_mega_stats *stats);

#endif
