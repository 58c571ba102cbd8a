/* Instructions one by one, with results that were worked out from the PTX ISA document.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PTX_CASES_H
#define PTX_CASES_H

#include <stdint.h>

/* The instruction's operands are %d (its result, %dw of 64 bits, %dh of 16, %p), then %a %b %c of the width that the signature
 * says: h w d for 16, 32 and 64 bits, p for a predicate, in the order result, sources. */
typedef struct ptx_case {
  const char *text;      /* "add.u32 %d, %a, %b" */
  const char *signature; /* "www" */
  uint64_t a, b, c, want;
  uint32_t sm; /* 0: 75 */
} ptx_case;

extern const ptx_case ptx_cases[];
extern const uint32_t ptx_case_count;

#endif
