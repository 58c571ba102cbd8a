/* AMD's compiler without a card: radv's null device takes pipelines and tells what became of them; nothing can run on it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_RADV_H
#define VYRE_UNITTESTS_RADV_H

#include "vyre/target.h"

#define RADV_ICD "/usr/share/vulkan/icd.d/radeon_icd.x86_64.json"

#define RADV_FIGURES 9

typedef struct radv radv;

/* Of one pipeline, as the driver tells. */
typedef struct radv_figures {
  uint64_t words;                                                                                 /* of SPIR-V */
  uint64_t instructions, sgprs, vgprs, spilled_sgprs, spilled_vgprs, scratch, lds, code, latency; /* bytes, cycles */
  uint32_t count;                                                                                 /* figures that it told */
} radv_figures;

/* A card family: "navi21".  Kernels have storage buffers, bindings 0 and 1 of set 0, and push constants.  `out` is to be closed in
 * any case where it is not NULL. */
vyre_status radv_open(const char *family, uint32_t push_size, radv **out);
void radv_close(radv *r);
vyre_status radv_compile(const radv *r, const vyre_bytes *code, const char *entry, radv_figures *out);

#endif
