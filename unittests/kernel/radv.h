/* AMD's compiler without a card.  radv's null device compiles pipelines and reports statistics, but runs nothing.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_RADV_H
#define VYRE_UNITTESTS_RADV_H

#include "vyre/target.h"

#define RADV_ICD "/usr/share/vulkan/icd.d/radeon_icd.x86_64.json"

#define RADV_FIGURES 9

typedef struct radv radv;

/* The driver's statistics of a pipeline. */
typedef struct radv_figures {
  uint64_t words; /* of SPIR-V */
  uint64_t instructions, sgprs, vgprs, spilled_sgprs, spilled_vgprs;
  uint64_t scratch, lds, code; /* bytes */
  uint64_t latency;            /* cycles */
  uint32_t count;              /* reported figures */
} radv_figures;

/* Opens the null device as a card family, such as "navi21".  Kernels have storage buffers, bindings 0 and 1 of set 0, and push
 * constants.  The caller closes `out` if it is not NULL, also after an error. */
vyre_status radv_open(const char *family, uint32_t push_size, radv **out);
void radv_close(radv *r);
vyre_status radv_compile(const radv *r, const vyre_bytes *code, const char *entry, radv_figures *out);

#endif
