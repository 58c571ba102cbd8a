/* Runs programs as PTX in the simulator or by a driver (run_driver.h).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_PTX_RUN_PTX_H
#define VYRE_UNITTESTS_PTX_RUN_PTX_H

#include "../budget.h"
#include "../test.h"
#include "vyre/ptx.h"

#include "ptx.h"

#define MOST_BINDINGS    64u
#define OPEN_DESCRIPTORS 3u /* elements of an array with an open length, in parameters or, from sm_90 on, in a table */

void assert_ok(vyre_status status, const char *what);

/* Appends the program as PTX, or all programs if `program` is 0.  Fails the test on an error. */
void write_ptx(const vyre_module *module, uint32_t program, uint32_t sm, vyre_bytes *out);

/* A text, and its module in the simulator. */
typedef struct ptx_program {
  ptx_module *module;     /* owned */
  const vyre_bytes *text; /* borrowed */
  bool has_tables;        /* arrays of descriptors with an open length are tables */
} ptx_program;

/* Parses the text, which must stay unchanged until free_ptx.  Fails the test if the simulator refuses it. */
ptx_program parse_ptx(const vyre_bytes *text, uint32_t sm);
void free_ptx(ptx_program *ptx);

/* Runs the dispatch, with `parts` as two launches of a part of the grid each.  The seed selects the simulator's schedule.
 * Returns the kernel's fault, or 0 if there is none.  An error of the simulator fails the test with the name `what`. */
uint32_t run_ptx(const ptx_program *ptx, const vyre_module *module, const vyre_dispatch *dispatch, uint64_t seed, bool parts,
                 const char *what);

#endif
