/* The verifier: checks every rule of the table, and reports each error at its row.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_VERIFY_H
#define VYRE_VERIFY_H

#include "vyre/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vyre_verify_error {
  uint32_t row;
  char *message; /* owned by the list */
} vyre_verify_error;

typedef struct vyre_verify_errors {
  vyre_verify_error *errors; /* sorted by row */
  uint32_t count, capacity;
  const vyre_allocator *allocator;
  bool damaged; /* links, opcodes or types are so damaged that programs cannot be identified or printed */
} vyre_verify_errors;

/* Collects every error in `errors`, which is initialized to zero. Returns VYRE_OK if there is none, otherwise an INPUT status with
 * their number and the first one. The module may have damaged links. O(rows). */
VYRE_MUST_USE vyre_status vyre_verify(const vyre_module *module, vyre_verify_errors *errors);
/* Appends the programs with errors, each message at its row. A program of 40 lines or more is shortened to its first lines and
 * those around messages. A damaged module gives only the messages. */
VYRE_MUST_USE vyre_status vyre_verify_print(const vyre_module *module, const vyre_verify_errors *errors, vyre_bytes *out);
/* Recomputes analyses of a sealed module without errors, and compares. VYRE_COLUMNS are ignored. Returns VYRE_OK, or an error for
 * the first difference. An analysis that was not made is an INTERNAL error. */
VYRE_MUST_USE vyre_status vyre_verify_analyses(const vyre_module *module, uint32_t analyses);
/* Compares one of VYRE_COLUMNS, which was recomputed, with its previous contents `held`, an element for each row. Returns VYRE_OK,
 * or an error for the first difference. */
VYRE_MUST_USE vyre_status vyre_verify_column(const vyre_module *module, uint32_t which, const uint32_t *held);
void vyre_verify_errors_free(vyre_verify_errors *errors);

#ifdef __cplusplus
}
#endif
#endif
