/* Where what comes out of each input is written, and in which form.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_OUTPUTS_OUTPUTS_H
#define VYRE_CLI_OUTPUTS_OUTPUTS_H

#include "cli/tool_options.h"

#include "vyre/io.h"

typedef enum output_form {
  OUTPUT_VIR,
  OUTPUT_VIR0,
  OUTPUT_SPIRV,
  OUTPUT_GLSL,
  OUTPUT_C,
  OUTPUT_PTX,
  OUTPUT_DOT,
  OUTPUT__COUNT
} output_form;

typedef struct outputs {
  const tool_options *options; /* borrowed */
  char **names;                /* owned, one an input: of files under -outdir that were chosen; else NULL */
  char **places;               /* owned, one an input: its name under -outdir, with folders and without an ending */
  uint32_t *alike;             /* owned, one an input: 1 + an earlier input whose output differs in its ending at most; 0: none */
} outputs;

/* "spirv", as -emit has it; ".spv". */
extern const char *const output_words[OUTPUT__COUNT], *const output_endings[OUTPUT__COUNT];

/* By -emit, or the ending of -o, or the input's own form. */
output_form outputs_form(const tool_options *options, vyre_input_kind kind);
/* Before anything is run: an error where outputs of two inputs would be one file, or one an input.  O(inputs * log inputs). */
VYRE_MUST_USE vyre_status outputs_prepare(const tool_options *options, outputs *out);
/* The file for that input, "-" for standard output; its folders are made.  Inputs are taken in their order, by one thread at a
 * time. */
VYRE_MUST_USE vyre_status outputs_choose(outputs *o, uint32_t input, output_form form, const char **out);
void outputs_free(outputs *o);

#endif
