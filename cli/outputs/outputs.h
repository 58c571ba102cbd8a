/* The paths and formats of outputs.
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
  OUTPUT_HLSL,
  OUTPUT_MSL,
  OUTPUT_REFLECTION,
  OUTPUT_C,
  OUTPUT_PTX,
  OUTPUT_DOT,
  OUTPUT_ASSEMBLY,     /* of SPIR-V */
  OUTPUT_PREPROCESSED, /* the text of a shader */
  OUTPUT_DEPENDS,      /* a rule for make */
  OUTPUT__COUNT
} output_form;

typedef struct outputs {
  const tool_options *options; /* borrowed */
  char **names;                /* owned, by input: the chosen path under -outdir, or NULL */
  char **places;               /* owned, by input: its path under -outdir without the extension */
  uint32_t forms;              /* bits 1 << form: the forms that outputs may have */
  uint32_t *alike;             /* owned, by input: 1 + an earlier input with the same place, or 0 */
} outputs;

/* By form: the word of -emit, and the extension with its dot. */
extern const char *const output_words[OUTPUT__COUNT], *const output_endings[OUTPUT__COUNT];

/* Returns the form of an output: by -emit, by the extension of -o, or by the kind of the input. */
output_form outputs_form(const tool_options *options, vyre_input_kind kind);
/* Prepares the paths, before anything runs.  Returns USAGE if two outputs would be one file or an output would overwrite an input.
 * O(inputs * log inputs). */
VYRE_MUST_USE vyre_status outputs_prepare(const tool_options *options, outputs *out);
/* Returns the path of an input's output in *out, "-" for standard output, and creates its folders.  Call it for inputs in order,
 * from one thread at a time. */
VYRE_MUST_USE vyre_status outputs_choose(outputs *o, uint32_t input, vyre_input_kind kind, const char **out);
/* Returns whether each output replaces its input: -in-place without -o and -outdir. */
bool outputs_replace_inputs(const tool_options *options);
void outputs_free(outputs *o);

#endif
