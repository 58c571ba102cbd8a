/* Programs as PTX, run by the simulator, or by a driver (run_driver.h): what their tests share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_PTX_RUN_PTX_H
#define VYRE_UNITTESTS_PTX_RUN_PTX_H

#include "../budget.h"
#include "../test.h"
#include "vyre/ptx.h"

#include "ptx.h"

#define MOST_BINDINGS    64u
#define OPEN_DESCRIPTORS 3u /* elements of an array whose length is open: parameters, or from sm_90 on a table */

void assert_ok(vyre_status status, const char *what);

/* Writes the program, or of row 0 all; fails the test if that fails. */
void write_ptx(const vyre_module *module, uint32_t program, uint32_t sm, vyre_bytes *out);
/* A text that the simulator takes; one that it refuses fails the test.  `text` stays as it is meanwhile. */
typedef struct ptx_program {
  ptx_module *module;
  const vyre_bytes *text;
  bool has_tables; /* as arrays of descriptors whose length is open */
} ptx_program;

ptx_program parse_ptx(const vyre_bytes *text, uint32_t sm);
void free_ptx(ptx_program *ptx);

/* The number of the fault that the kernel notes, 0: none.  What the simulator finds wrong with the run fails the test, which says
 * so with `what`.  In parts: the dispatch's words give each launch some workgroups of the grid.  The seed is of the simulator's
 * schedule. */
uint32_t run_ptx(const ptx_program *ptx, const vyre_module *module, const vyre_dispatch *dispatch, uint64_t seed, bool parts,
                 const char *what);

#endif
