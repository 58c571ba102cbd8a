/* Programs as C17 source: one function for each program, to be compiled ahead of time and run on a CPU.
 *
 * The text is self-contained. It includes only headers of the C library, begins with its helper functions, and compiles without
 * warnings under -Wall -Wextra -Wconversion. docs/c.md has the flags that keep its floats exact. The code computes the same bits as
 * the interpreter (run.h), with any compiler.
 *
 * The function of program @scale:
 *
 *     uint32_t scale(const vyre_c_dispatch *d);
 *
 * It runs some workgroups of a grid and returns 0. If the program has a fault, it stops and returns the fault's number, from 1; a
 * comment at that place has the number. Faults are a `trap`, and a barrier that not all invocations of a workgroup reach. No state
 * is kept between calls, so several threads may run parts of one grid.
 *
 * A call with all workgroups of a grid assumes that it alone uses the buffers: its relaxed atomics are plain loads and stores.
 * Programs that run at the same time and share data by such atomics must therefore be called with parts of their grids.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_C_H
#define VYRE_C_H

#include "vyre/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Declared in the generated text too, behind the same guard. A caller may include this header and the text in either order. */
#ifndef VYRE_C_DISPATCH
#define VYRE_C_DISPATCH
/* Memory of one binding, aligned like its widest scalar. If data is NULL, the descriptor is unbound and has 0 bytes. For an array
 * of descriptors, data is an array of vyre_c_buffer with an element for each descriptor, the last index fastest, and bytes is their
 * number. */
typedef struct vyre_c_buffer {
  void *data;
  size_t bytes;
} vyre_c_buffer;

typedef struct vyre_c_dispatch {
  uint32_t groups[3];           /* workgroups of the whole grid */
  uint64_t first, count;        /* workgroups to run, numbered with x fastest; 0 and the product of groups for all */
  const vyre_c_buffer *buffers; /* in the order of vyre_c_buffer_row */
} vyre_c_dispatch;
#endif

typedef struct vyre_c_options {
  size_t struct_size;           /* sizeof(vyre_c_options) */
  /* The name of the function, or NULL for the program's name, changed where C requires. Functions of further programs are NAME_1,
   * NAME_2 and so on. */
  const char *name;
  const vyre_spec_value *specs; /* specialization values, which become literals; others have their defaults */
  uint32_t spec_count;
  uint32_t subgroup; /* lanes of a subgroup, a power of two up to 128, or 0 for 32 */
  /* An element for each row of the module. If that of a buffer, or of the last `at` row of a path, is not 0, accesses through it
   * are not checked, and an access out of bounds is undefined. If NULL, all accesses are checked. */
  const uint8_t *in_bounds;
} vyre_c_options;

/* Appends a program of a sealed, verified module as C. If `program` is row 0, appends all programs, which share helper functions
 * and get distinct names. options may be NULL for defaults. A relaxed program gets the strict meaning. Unsupported features are an
 * error that names the program and the row: float modes other than rounding to nearest with denormals, barriers for the whole grid,
 * opaque rows. */
VYRE_MUST_USE vyre_status vyre_c_write(const vyre_module *module, vyre_row program, const vyre_c_options *options, vyre_bytes *out);

/* Returns a row of the k-th element of a dispatch's buffers, or row 0 if there are at most k. The elements are the program's
 * storage, uniform and push buffers in order of declaration. Rows with the same set and binding are one element, and all push
 * buffers are one. */
vyre_row vyre_c_buffer_row(const vyre_module *module, vyre_row program, uint32_t k);

#ifdef __cplusplus
}
#endif
#endif
