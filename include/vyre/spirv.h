/* SPIR-V in and out.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_SPIRV_H
#define VYRE_SPIRV_H

#include "vyre/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The words that a module may have after inlining and splitting of composites, or vyre_module_growth times its words if that is
 * more. A module that would exceed both is kept unchanged, and its input's remark gives the reason. With at least three words for
 * each result, such a module has fewer ids than the 4,194,303 that SPIR-V allows. */
#define VYRE_SPIRV_FREE_WORDS (4u << 20)

/* Returns whether the data begins with SPIR-V's magic number, in either byte order. */
bool vyre_spirv_is(const void *data, size_t size);

/* Appends each compute entry point of a SPIR-V module as a relaxed program, as one input called `path`. Accepts both byte orders.
 * Does not seal, so that many files may be read into one module. Rows are in program order except const rows. Invalid SPIR-V is an
 * error. A module that vyre cannot convert is not an error: it is kept verbatim, as a `verbatim` row in each program, and the
 * input's remark says why. Both messages name the instruction, its word offset, and its source line if known. */
VYRE_MUST_USE vyre_status vyre_spirv_read(vyre_module *module, const void *data, size_t size, const char *path);
/* Keeps any module verbatim; `why` is the remark. */
VYRE_MUST_USE vyre_status vyre_spirv_keep(vyre_module *module, const void *data, size_t size, const char *path, const char *why);

typedef struct vyre_spirv_options {
  size_t struct_size; /* sizeof(vyre_spirv_options) */
  bool strip;         /* omit names, lines and sources */
  /* The float controls that strict programs may require to make their floats exact: signed zeros, infinities and NaNs, denormals,
   * rounding. Combines VYRE_FLOAT_CONTROLS(kind, controls) of each kind. 0 requires nothing. A device cannot run a module that
   * requires a control that the device lacks. */
  uint32_t float_controls;
  /* An element for each row of the module. If that of a buffer of a strict program is not 0, accesses to it are not guarded, and an
   * access out of bounds is undefined. If NULL, all accesses are guarded. */
  const uint8_t *in_bounds;
} vyre_spirv_options;

/* Appends the SPIR-V module for all programs of one input, as a drop-in replacement. The module must be sealed and verified. Strict
 * programs get the guards that their meaning requires. */
VYRE_MUST_USE vyre_status vyre_spirv_write(const vyre_module *module, uint32_t input, const vyre_spirv_options *options,
                                           vyre_bytes *out);

#ifdef __cplusplus
}
#endif
#endif
