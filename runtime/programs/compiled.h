/* The kernel of a registered program, for items that run compiled.
 *
 * A compiled item is one dispatch on copies of its buffers.  The results are copied back after the dispatch succeeded, so that a
 * dispatch that failed may be repeated.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_RUNTIME_COMPILED_H
#define VYRE_RUNTIME_COMPILED_H

#include "lower.h"
#include "vyre/ir.h"
#include "vyre/megakernel_programs.h"
#include "vyre/target.h"

/* The target that runs compiled items.  Only one thread uses it. */
typedef struct program_device {
  const vyre_target_ops *ops;
  vyre_target *target; /* borrowed */
} program_device;

typedef struct program_kernel {
  struct program_kernel *next; /* in a list of kernels to destroy */
  vyre_module *module;         /* owned: the program alone, as a strict one */
  vyre_row program;
  program_lowering how;    /* its `specs` are those below */
  vyre_spec_value *values; /* owned */
  uint32_t size[3];        /* of a workgroup */
  program_slot *slots;     /* owned; the buffers of an item, in order */
  uint32_t slot_count;
  uint64_t written; /* a bit for each buffer of an item that the program may write */
  vyre_bytes code;
  vyre_kernel_program vir; /* the code for a target that runs .vir */
  vyre_kernel kernel;      /* 0 if the program is not compiled, or the device was opened again */
} program_kernel;

/* Keeps a program for a later compilation.  Moves the slots of the table to the kernel. */
VYRE_MUST_USE vyre_status program_kernel_make(const vyre_module *module, vyre_row program, const program_lowering *how,
                                              program_table *table, program_kernel **out);
/* Compiles a program.  An error names the reason for which the program cannot run compiled with the results of the interpreter. */
VYRE_MUST_USE vyre_status program_kernel_compile(const program_device *device, program_kernel *kernel);
/* Runs a grid of a compiled program.  `data` has the contents of each buffer, with room for whole words.  They change
 * only if the call succeeds. */
VYRE_MUST_USE vyre_status program_kernel_run(const program_device *device, const program_kernel *kernel, const uint32_t groups[3],
                                             const vyre_mega_range *buffers, unsigned char *const *data);
/* Releases and frees a kernel. */
VYRE_MUST_USE vyre_status program_kernel_destroy(const program_device *device, program_kernel *kernel);

#endif
