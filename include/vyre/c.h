/* Programs as C17 source: one function a program, to be compiled ahead of time and run on a CPU.
 *
 * The text stands alone: it includes headers of the C library alone, has what it needs of helper functions in front, and compiles
 * without warnings under -Wall -Wextra -Wconversion (docs/c.md has the flags that keep its floats exact).  It computes the bits
 * that the interpreter does (run.h), whoever compiled it.
 *
 * The function of program @scale:
 *
 *     uint32_t scale(const vyre_c_dispatch *d);
 *
 * runs some workgroups of a grid and gives 0; else it stopped at a fault of the program's, a `trap` or a barrier that some of a
 * workgroup did not come to, and gives the number that a comment at that place has (1 and on).  Nothing is kept from one call to
 * the next, so threads may share a grid: each calls with workgroups of its own.  A call with all workgroups of a grid is taken to
 * have the buffers to itself while it runs: its relaxed atomics are plain loads and stores.  So where programs run at the same time
 * and share what they change by such atomics, each calls with parts of its grid.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_C_H
#define VYRE_C_H

#include "vyre/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the text declares too, behind the same guard: a caller may include this header or the text itself, in either order. */
#ifndef VYRE_C_DISPATCH
#define VYRE_C_DISPATCH
/* Memory of one binding, aligned as its widest scalar is; data NULL: unbound, of no bytes.  Of an array of descriptors: data is an
 * array of vyre_c_buffer with an element a descriptor, the last index the fastest, and bytes is how many there are. */
typedef struct vyre_c_buffer {
  void *data;
  size_t bytes;
} vyre_c_buffer;

typedef struct vyre_c_dispatch {
  uint32_t groups[3];           /* workgroups of the whole grid */
  uint64_t first, count;        /* those to run, numbered with x fastest: 0 and the product of groups for all */
  const vyre_c_buffer *buffers; /* in the order of vyre_c_buffer_row */
} vyre_c_dispatch;
#endif

typedef struct vyre_c_options {
  const char *name;             /* of the function; NULL: the program's, as far as C allows */
  const vyre_spec_value *specs; /* specialization values, which become literals; others have their defaults */
  uint32_t spec_count;
  uint32_t subgroup; /* lanes of a subgroup, a power of two of at most 128; 0: 32 */
  /* By row of the module: not 0 of a buffer, or of the last `at` row of a path, says that no access through it is out of bounds:
   * none is checked, and one that is has no meaning.  NULL: all are checked. */
  const uint8_t *in_bounds;
} vyre_c_options;

/* Appends a program of a sealed and verified module as C; of row 0 all programs, which then share helper functions and have names
 * of their own.  options NULL: defaults.  A relaxed program is written the strict way.  What C cannot say is an error that names
 * the program and the row: float modes other than nearest with denormals kept, barriers for the whole grid, opaque rows. */
VYRE_MUST_USE vyre_status vyre_c_write(const vyre_module *module, vyre_row program, const vyre_c_options *options, vyre_bytes *out);

/* The k-th element of a dispatch's buffers is that of this buffer row, and of the others with its set and binding (all push buffers
 * are one): in the order in which the program's storage, uniform and push buffers are declared.  Row 0: there are only k. */
vyre_row vyre_c_buffer_row(const vyre_module *module, vyre_row program, uint32_t k);

#ifdef __cplusplus
}
#endif
#endif
