/* The device forms of phases: kernels whose memory is one buffer of words, the arena.  docs/gpu-passes.md, "On a device", says what
 * stands in it and what a kernel is given.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CODEGEN_KERNEL_DEVICE_H
#define VYRE_CODEGEN_KERNEL_DEVICE_H

#include "kernel.h"
#include "vyre/phases.h"

#define KERNEL_ENTRY      "main" /* of each kernel */
#define KERNEL_SHARED_SET 2      /* of what stands for a counter of which the workgroup has its own, this one: */
#define KERNEL_SHARED     "the workgroup's counter "

enum {
  KERNEL_WORKGROUP = 64, /* invocations, unless this specialization constant says another number: */
  KERNEL_WORKGROUP_SPEC = 0,
  KERNEL_PTX_PROGRAM = 32,  /* and of PTX by program: a warp, as most levels have fewer rows than that */
  KERNEL_ARENA_ZERO = 0,    /* this word of the arena is 0: what a load out of bounds reads */
  KERNEL_ARENA_NOWHERE = 1, /* and this one takes what is scattered out of bounds */
};

/* A kernel's push constants: words, in this order. */
typedef struct kernel_listed_arguments {
  uint32_t head;  /* where in the arena its head stands: for each memory (kernel_memory) its offset and its length, two words */
  uint32_t first; /* flat: the first row; else where the rows to take stand in the arena */
  uint32_t count; /* of rows */
} kernel_listed_arguments;

typedef struct kernel_programs_arguments {
  uint32_t head;
  uint32_t order;  /* where the rows of all programs stand, each level's side by side */
  uint32_t starts; /* where it stands where in `order` each level begins, and the last one ends */
  uint32_t firsts; /* where it stands which of `starts` is each program's first, and, last, how many there are */
  uint32_t level;  /* of each program's levels those to take begin with this one, in the order in which they are taken, */
  uint32_t levels; /* and are so many: a long way is gone in several dispatches, each short enough for drivers */
} kernel_programs_arguments;

typedef struct kernel_device_kernel {
  bool is_levels;   /* of a `levels` step; else of a phase */
  bool by_program;  /* a workgroup takes a program, one level after the other; else an invocation takes a row */
  uint32_t index;   /* of the step; of the phase among functions */
  uint32_t program; /* its row */
} kernel_device_kernel;

/* One kernel a phase, each invocation of which takes one row.  And by program one a directed phase that stands outside of `levels`,
 * and one a `levels`; but of those in which rows see what other programs do meanwhile (they read side columns at rows of any
 * program), or something is repeated while a counter changes, unless the author says that programs are apart.  Then each program
 * repeats it as often as it has to itself: the workgroup has a counter of its own. */
typedef struct kernel_device {
  vyre_module *module; /* a program and an input a kernel, in the order of `kernels` */
  kernel_device_kernel *kernels;
  uint32_t count;
  vyre_bytes bytes; /* they lie there */
} kernel_device;

/* ---- device_text.c ---- */
/* Appends the programs of all kernels to the text of the functions that they call, and what they are.  Their columns are still
 * buffers, of set 1; what else they have is of set 0. */
VYRE_MUST_USE vyre_status kernel_add_device_programs(const kernel_file *file, vyre_bytes *text, vyre_bytes *kernels);

/* ---- device.c ---- */
/* Of a file that was checked; to be freed in any case. */
VYRE_MUST_USE vyre_status kernel_device_create(kernel_file *file, const vyre_allocator *allocator, kernel_device *out);
void kernel_device_free(kernel_device *device);
/* NULL: there is none. */
const kernel_device_kernel *kernel_device_find(const kernel_device *device, bool is_levels, bool by_program, uint32_t index);
/* Appends the kernel in this form, without names, as whole words: PTX ends with as many line ends as that takes. */
VYRE_MUST_USE vyre_status kernel_device_write(const kernel_device *device, uint32_t kernel, vyre_phase_form form, vyre_bytes *out);

#endif
