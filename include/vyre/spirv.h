/* SPIR-V in and out.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_SPIRV_H
#define VYRE_SPIRV_H

#include "vyre/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Inlining and splitting of composites may bring a module to this many words, or to vyre_module_growth times its words if that is
 * more.  A module that would exceed both is kept as it is, and its input's remark gives the reason.  At three words or more for
 * each result, so many words have fewer ids than the 4,194,303 that SPIR-V allows. */
#define VYRE_SPIRV_FREE_WORDS (4u << 20)

bool vyre_spirv_is(const void *data, size_t size); /* by its magic number, either byte order */

/* Appends each compute entry point of the module as a relaxed program, as one input called `path`.  Words of either byte order.
 * Does not seal (many files may be read into one module first); rows are in program order but for const rows.  What breaks a rule
 * of SPIR-V is an error.  What vyre cannot convert is no error: the module is kept word for word, as a `verbatim` row in each
 * program, and the input's remark says why.  Both name the instruction, its word offset, and the source line where there is one. */
VYRE_MUST_USE vyre_status vyre_spirv_read(vyre_module *module, const void *data, size_t size, const char *path);
/* The same, but keeps any module word for word: `why` is the remark. */
VYRE_MUST_USE vyre_status vyre_spirv_keep(vyre_module *module, const void *data, size_t size, const char *path, const char *why);

typedef struct vyre_spirv_options {
  bool strip; /* no names, lines and sources */
  /* Of these (VYRE_FLOAT_CONTROLS by kind), strict programs ask for what makes the floats that they use exact: signed zeros,
   * infinities and NaNs, denormals and rounding.  0: nothing, as a device that lacks what a module asks for cannot run it. */
  uint32_t float_controls;
  /* By row of the module: not 0 of a buffer of a strict program says that no access to it is out of bounds: none is guarded, and
   * one that is has no meaning.  NULL: all are guarded. */
  const uint8_t *in_bounds;
} vyre_spirv_options;

/* Appends the module for all programs of one input: a drop-in replacement.  The module must be sealed and verified.  Strict
 * programs get the guards their meaning needs. */
VYRE_MUST_USE vyre_status vyre_spirv_write(const vyre_module *module, uint32_t input, const vyre_spirv_options *options,
                                           vyre_bytes *out);

#ifdef __cplusplus
}
#endif
#endif
