/* The verifier: every rule of the table, each broken one named at its row.
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
  bool damaged; /* links, opcodes or types are so damaged that programs cannot be told apart or printed */
} vyre_verify_errors;

/* Collects every error (all zero is an empty list).  OK if there is none; else an INPUT status that counts them and carries the
 * first. Any module may be given, also one whose links are damaged.  Linear in rows. */
VYRE_MUST_USE vyre_status vyre_verify(const vyre_module *module, vyre_verify_errors *errors);
/* The programs that have errors, printed with each message at its row (of one of 40 lines or more, the first and those around
 * messages); of a damaged module, the messages alone. */
VYRE_MUST_USE vyre_status vyre_verify_print(const vyre_module *module, const vyre_verify_errors *errors, vyre_bytes *out);
/* For a sealed module without errors: makes analyses that are claimed to be fresh (types.h; VYRE_COLUMNS are left out) again and
 * compares.  OK, or the first difference.  One that was not made is an INTERNAL error. */
VYRE_MUST_USE vyre_status vyre_verify_analyses(const vyre_module *module, uint32_t analyses);
/* Compares one of VYRE_COLUMNS, as it was made again, with what was held before: an element a row.  OK, or the first difference. */
VYRE_MUST_USE vyre_status vyre_verify_column(const vyre_module *module, uint32_t which, const uint32_t *held);
void vyre_verify_errors_free(vyre_verify_errors *errors);

#ifdef __cplusplus
}
#endif
#endif
