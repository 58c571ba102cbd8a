/* Programs as PTX text (NVIDIA's PTX ISA 7.8, sm_75 and later): one kernel a program, to be compiled by the driver.
 *
 * The text stands alone: it calls nothing outside itself, and what PTX has no exact instruction for (division with all roundings
 * handled, sin, exp and the like) it computes itself.  The kernel of program @scale:
 *
 *     .visible .entry scale(.param .u64 dispatch, .param .align 8 .b8 buffers[16 * N], .param .align 16 .b8 push[P])
 *
 * A parameter that would have no bytes is not there.  Of `buffers` each element is a vyre_ptx_buffer: the descriptors in the order
 * of vyre_ptx_buffer_row, those of an array one after the other, the last index the fastest.  An array of descriptors whose length
 * is open has one element, a table: the memory of its descriptors, each a vyre_ptx_buffer; open_descriptors makes it an array of
 * that length instead.  `push` holds the push constants at
 * their offsets.  Comments tell who launches it what it needs: "// grid barrier" that all blocks of its grid are to be resident at
 * once, "// fault N" that it may note that fault.  Groups are the grid's blocks unless `dispatch` says otherwise.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PTX_H
#define VYRE_PTX_H

#include "vyre/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Memory of one descriptor, in the device's address space, at a multiple of VYRE_PTX_ALIGN; address 0: unbound, of no bytes. */
typedef struct vyre_ptx_buffer {
  uint64_t address, bytes;
} vyre_ptx_buffer;

/* What a kernel is told in device memory; `dispatch` is its address, a multiple of 16, or 0 where the grid is what runs and nobody
 * asks for faults.  A grid barrier needs one.  Blocks are numbered with x fastest; block b does nothing unless b < count, else it
 * is the workgroup numbered first + b of `groups`. */
typedef struct vyre_ptx_dispatch {
  uint32_t groups[3]; /* workgroups of the whole grid, as programs see them */
  uint32_t stops;     /* not 0: all blocks do nothing */
  uint64_t first, count;
  uint32_t fault;      /* the greatest number of a fault (a `trap`) that some invocation came to; the text's comments have them */
  uint32_t arrived;    /* of a grid barrier: blocks that wait; 0 before and after */
  uint32_t generation; /* and how many barriers are over */
  uint32_t unused;
} vyre_ptx_dispatch;

enum {
  VYRE_PTX_SM_LEAST = 75,     /* what the text is for if nothing is said */
  VYRE_PTX_PARAMETERS = 4096, /* bytes of a kernel's parameters at most */
  VYRE_PTX_SHARED = 48 << 10, /* bytes of workgroup memory at most */
  VYRE_PTX_SUBGROUP = 32,     /* lanes of a subgroup */
  VYRE_PTX_ALIGN = 16,        /* bytes: of a descriptor's address, as a vector is one access where its offset is a multiple, too */
};

typedef struct vyre_ptx_options {
  const char *name;             /* of the kernel; NULL: the program's, as far as PTX allows */
  uint32_t sm;                  /* 75, 80, 86, 89, 90, 100 ...; 0: VYRE_PTX_SM_LEAST */
  const vyre_spec_value *specs; /* specialization values, which become literals; others have their defaults */
  uint32_t spec_count;
  uint32_t open_descriptors; /* elements of each array of descriptors whose length is open; 0: each is a table */
  /* Of relaxed programs: their accesses are guarded as those of strict ones are, in any memory (what Vulkan's robustBufferAccess
   * gives, and more), and workgroup memory begins as zero. */
  bool is_robust;
  bool is_approximate; /* sin, cos, exp2, log2 and the like of f32 by the device's .approx instructions */
  /* By row of the module: not 0 of a buffer, or of the last `at` row of a path, says that no access through it is out of bounds:
   * none is checked, and one that is has no meaning.  NULL: all are checked. */
  const uint8_t *in_bounds;
} vyre_ptx_options;

/* Appends a program of a sealed and verified module as PTX; of row 0 all programs, which then have names of their own.  options
 * NULL: defaults.  A strict program computes the interpreter's bits (run.h) where ops.def says that there is one right result, and
 * is within Vulkan's precision elsewhere.  What PTX cannot say is an error that names the program and the row. */
VYRE_MUST_USE vyre_status vyre_ptx_write(const vyre_module *module, vyre_row program, const vyre_ptx_options *options,
                                         vyre_bytes *out);

/* The k-th binding of a kernel's buffers is that of this buffer row, and of the others with its set and binding: in the order in
 * which the program's storage and uniform buffers are declared.  Row 0: there are only k. */
vyre_row vyre_ptx_buffer_row(const vyre_module *module, vyre_row program, uint32_t k);

#ifdef __cplusplus
}
#endif
#endif
