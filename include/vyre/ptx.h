/* Programs as PTX text (NVIDIA's PTX ISA 7.8, sm_75 and later): one kernel for each program, to be compiled by the driver.
 *
 * The text is self-contained: it calls no external functions, and computes everything for which PTX has no exact instruction itself
 * (division with correct rounding, sin, exp and the like). The kernel of program @scale:
 *
 *     .visible .entry scale(.param .u64 dispatch, .param .align 8 .b8 buffers[16 * N], .param .align 16 .b8 push[P])
 *
 * A parameter without bytes is omitted. Each element of `buffers` is a vyre_ptx_buffer: the descriptors in the order of
 * vyre_ptx_buffer_row, those of an array one after the other, the last index fastest. An array of descriptors with an open length
 * has one element, a table: memory with a vyre_ptx_buffer for each descriptor. open_descriptors makes it an array of that length
 * instead. `push` has the push constants at their offsets.
 *
 * Comments give requirements of the launch: "// grid barrier" if all blocks of the grid must be resident at once, "// fault N" if
 * the kernel may report that fault. Groups are the grid's blocks unless `dispatch` says otherwise.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PTX_H
#define VYRE_PTX_H

#include "vyre/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Memory of one descriptor, in the device's address space, at a multiple of VYRE_PTX_ALIGN. Address 0 is an unbound descriptor of 0
 * bytes. */
typedef struct vyre_ptx_buffer {
  uint64_t address, bytes;
} vyre_ptx_buffer;

/* Arguments of a launch, in device memory. `dispatch` is its address, a multiple of 16. It may be 0 if the whole grid runs, faults
 * are not read, and the kernel has no grid barrier. Blocks are numbered with x fastest. Block b is the workgroup numbered first + b
 * of `groups` if b < count, and does nothing otherwise. */
typedef struct vyre_ptx_dispatch {
  uint32_t groups[3]; /* workgroups of the whole grid, as programs see them */
  uint32_t stops;     /* not 0: all blocks do nothing */
  uint64_t first, count;
  uint32_t fault;      /* greatest number of a fault (a `trap`) that occurred; the text's comments have the numbers */
  uint32_t arrived;    /* grid barrier: waiting blocks; 0 before and after */
  uint32_t generation; /* grid barrier: number of completed barriers */
  uint32_t unused;
} vyre_ptx_dispatch;

enum {
  VYRE_PTX_SM_LEAST = 75,     /* the default architecture of the text */
  VYRE_PTX_PARAMETERS = 4096, /* most bytes of a kernel's parameters */
  VYRE_PTX_SHARED = 48 << 10, /* most bytes of workgroup memory */
  VYRE_PTX_SUBGROUP = 32,     /* lanes of a subgroup */
  VYRE_PTX_ALIGN = 16,        /* bytes: alignment of a descriptor's address, as a vector at a multiple of it is one access */
};

typedef struct vyre_ptx_options {
  size_t struct_size;           /* sizeof(vyre_ptx_options) */
  const char *name;             /* of the kernel, or NULL for the program's, changed where PTX requires */
  uint32_t sm;                  /* 75, 80, 86, 89, 90, 100 ..., or 0 for VYRE_PTX_SM_LEAST */
  const vyre_spec_value *specs; /* specialization values, which become literals; others have their defaults */
  uint32_t spec_count;
  uint32_t open_descriptors; /* length of each array of descriptors without a length; 0 passes such an array as a table */
  /* Relaxed programs: accesses to any memory are guarded as in strict programs, which includes Vulkan's robustBufferAccess, and
   * workgroup memory is initially zero. */
  bool is_robust;
  bool is_approximate; /* sin, cos, exp2, log2 and the like of f32 use the device's .approx instructions */
  /* An element for each row of the module. If that of a buffer, or of the last `at` row of a path, is not 0, accesses through it
   * are not checked, and an access out of bounds is undefined. If NULL, all accesses are checked. */
  const uint8_t *in_bounds;
  uint32_t most_registers; /* of an invocation, .maxnreg in the text; 0 for no limit */
} vyre_ptx_options;

/* Appends a program of a sealed, verified module as PTX. If `program` is row 0, appends all programs, which get distinct names.
 * options may be NULL for defaults. A strict program computes the interpreter's bits (run.h) where ops.def requires a single
 * result, and is within Vulkan's precision elsewhere. A row that PTX cannot express is an error that names the program and the
 * row. */
VYRE_MUST_USE vyre_status vyre_ptx_write(const vyre_module *module, vyre_row program, const vyre_ptx_options *options,
                                         vyre_bytes *out);

/* Returns a row of the k-th binding of a kernel's buffers, or row 0 if there are at most k. The bindings are the program's storage
 * and uniform buffers in order of declaration. Rows with the same set and binding are one binding. */
vyre_row vyre_ptx_buffer_row(const vyre_module *module, vyre_row program, uint32_t k);

#ifdef __cplusplus
}
#endif
#endif
