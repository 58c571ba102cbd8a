/* The device forms of phases: kernels whose memory is one buffer of words, the arena.  docs/gpu-passes.md, "On a device", describes
 * the arena and the arguments of a kernel.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CODEGEN_KERNEL_DEVICE_H
#define VYRE_CODEGEN_KERNEL_DEVICE_H

#include "kernel.h"
#include "vyre/phases.h"

#define KERNEL_ENTRY      "main"                     /* the entry point of each kernel */
#define KERNEL_SHARED_SET 2                          /* the descriptor set of buffers that stand for counters in workgroup memory */
#define KERNEL_SHARED     "the workgroup's counter " /* prefix of the names of counters in workgroup memory */

enum {
  KERNEL_WORKGROUP = 64,     /* invocations of a workgroup */
  KERNEL_WORKGROUP_SPEC = 0, /* the specialization constant that changes the number of invocations */
  KERNEL_PTX_REGISTERS = 96, /* most registers of an invocation, so that a multiprocessor has room for many invocations */
  KERNEL_PTX_PROGRAM = 32,   /* invocations of PTX kernels by program: a warp, because most levels have fewer rows */
  KERNEL_ARENA_ZERO = 0,     /* the word of the arena that is 0; loads with an index out of bounds read it */
  KERNEL_ARENA_NOWHERE = 1,  /* the word of the arena that scatters with an index out of bounds write */
};

/* The push constants of a kernel by row, in this order.  Offsets are in words of the arena.  After kernel_device_pass_head the
 * words of the head follow. */
typedef struct kernel_listed_arguments {
  uint32_t head;  /* offset in the arena of the head, which has for each memory (kernel_memory) its offset and length, two words */
  uint32_t first; /* the first row of a flat phase; otherwise the offset in the arena of the list of rows */
  uint32_t count; /* number of rows */
} kernel_listed_arguments;

/* The push constants of a kernel by program, in this order, followed by the words of the head as above. */
typedef struct kernel_programs_arguments {
  uint32_t head;
  uint32_t order;  /* offset of the rows of all programs, sorted by level */
  uint32_t starts; /* offset of the starts of levels in `order`, and the end of the last level */
  uint32_t firsts; /* offset of each program's first index in `starts`, and the number of levels */
  /* Ignored by the kernel of a pass, which visits all levels: */
  uint32_t level;  /* the level at which this dispatch starts in each program, counted in the order of execution */
  uint32_t levels; /* number of levels; long sequences are split into dispatches that are short enough for drivers */
} kernel_programs_arguments;

typedef enum kernel_scope {
  KERNEL_OF_ROWS,    /* a phase; an invocation executes a row */
  KERNEL_OF_PROGRAM, /* a phase; in this and the next scopes, a workgroup executes a program */
  KERNEL_OF_LEVELS,  /* a `levels` step */
  KERNEL_OF_PASS     /* all steps */
} kernel_scope;

typedef struct kernel_device_kernel {
  kernel_scope scope;
  uint32_t index;   /* the index of the phase among functions, or of the step; 0 for the pass */
  uint32_t program; /* the kernel's program row */
} kernel_device_kernel;

/* The kernels of a file.  Each phase has a kernel by row, whose invocations each execute one row.  The pass has a kernel by program
 * if all its phases with a direction use the same levels.  Otherwise each phase with a direction outside of `levels`, and each
 * `levels` step, has one.  There are two exceptions: phases that read side columns at rows of other programs, and repetitions while
 * a counter changes.  If the author declares that programs are independent (`apart`), the exceptions have kernels by program, too.
 * Each program then repeats by its own counter in workgroup memory. */
typedef struct kernel_device {
  vyre_module *module; /* a program and an input for each kernel, in the order of `kernels` */
  kernel_device_kernel *kernels;
  uint32_t count, memory_count;
  vyre_bytes bytes; /* the memory that `kernels` points to, owned */
} kernel_device;

/* ---- device_text.c ---- */
/* Appends the programs of all kernels to the text of the functions that they call, and their kernel_device_kernels to `kernels`.
 * Columns are still buffers, of set 1.  All other buffers are of set 0. */
VYRE_MUST_USE vyre_status kernel_add_device_programs(const kernel_file *file, vyre_bytes *text, vyre_bytes *kernels);

/* ---- device.c ---- */
/* Creates the kernels of a checked file, optimized unless `optimize` is NULL.  Free *out also after a failure. */
VYRE_MUST_USE vyre_status kernel_device_create(kernel_file *file, const vyre_allocator *allocator, kernel_optimizer *optimize,
                                               kernel_device *out);
void kernel_device_free(kernel_device *device);
/* Returns the kernel of the scope and index, or NULL if the file has none. */
const kernel_device_kernel *kernel_device_find(const kernel_device *device, kernel_scope scope, uint32_t index);
/* Makes the head's words push constants, which PTX instructions read without a register.  Vulkan guarantees no room for them, so
 * write SPIR-V before this call, and PTX after it. */
VYRE_MUST_USE vyre_status kernel_device_pass_head(kernel_device *device);
/* Appends the kernel in the given form, without names.  PTX is padded to whole words by line ends. */
VYRE_MUST_USE vyre_status kernel_device_write(const kernel_device *device, uint32_t kernel, vyre_phase_form form, vyre_bytes *out);

#endif
