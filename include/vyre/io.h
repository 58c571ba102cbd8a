/* Reading and writing files, and reading a program in any of its formats.
 *
 * Threads: any; the program must ignore SIGPIPE and SIGXFSZ itself.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IO_H
#define VYRE_IO_H

#include "vyre/cost.h"
#include "vyre/glsl.h"
#include "vyre/ir.h"
#include "vyre/spirv.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Appends the whole file, at most 2 GiB: a regular one, or what is open already, which "-" (standard input), /dev/stdin and
 * /dev/fd/N name.  A device, a FIFO or a socket that has another name is an error: it has no end, or none soon. */
VYRE_MUST_USE vyre_status vyre_file_read(const char *path, vyre_bytes *out);

/* Writes all of it or leaves the path as it was: into a temporary file beside, then a rename (onto a symbolic link's target, with
 * the mode of the file that was there).  What is no regular file (a device, a FIFO, "-" and /dev/stdout: standard output) is
 * written directly, never renamed over or unlinked.  Of a mode only permissions are kept. */
VYRE_MUST_USE vyre_status vyre_file_write(const char *path, const void *data, size_t size);
/* Unlinks the temporary files of all writes in progress, which then fail or never end: for code that ends the process, a signal
 * handler too.  Async-signal-safe. */
void vyre_file_abandon(void);
/* The folder, without a slash at its end, of the file that vyre's code came from: of libvyre.so, or of a program that has it in it.
 * False: /proc/self/maps does not say, or it does not fit. */
bool vyre_own_folder(char *out, size_t size);

typedef enum vyre_input_kind {
  VYRE_INPUT_UNKNOWN,
  VYRE_INPUT_VIR,
  VYRE_INPUT_SPIRV,
  VYRE_INPUT_GLSL,
  VYRE_INPUT_VIR0,
  VYRE_INPUT_HLSL,
  VYRE_INPUT_ASSEMBLY
} vyre_input_kind;

/* The kind, by content: the magic number of SPIR-V or VIR0; text that (after comments) starts with `program`, `struct` or
 * `func`, or as SPIR-V's assembly does; text with a #version line; and only then by name: .comp, .vert and so on, .glsl, .vir, .spv, .vir0, .spvasm.
 * HLSL has nothing that tells it: text
 * without a #version line is that under the name .hlsl. */
vyre_input_kind vyre_input_detect(const char *path, const void *data, size_t size);
/* The same; but what has no magic number is of that language, where one is given. */
vyre_input_kind vyre_input_detect_as(const char *path, const void *data, size_t size, vyre_glsl_language language);

/* Reads, detects, parses or imports, and seals: the programs become one more input of the module, or those of a VIR0 file,
 * which is read into an empty module only.  VIR0 is verified; so is all other input where it is the first input, and what
 * breaks a rule of the table there is kept word for word (vyre_spirv_keep).  Nothing else is verified.  An input without a program
 * is an error.  glsl NULL: default options.  Messages of the parsers are emitted; the status says how many they were. */
VYRE_MUST_USE vyre_status vyre_input_read(vyre_module *module, const char *path, const vyre_glsl_options *glsl,
                                          vyre_diagnostics diagnostics, vyre_input_kind *out_kind);
/* The same of bytes that are there already; path is for messages and the name rule. */
VYRE_MUST_USE vyre_status vyre_input_parse(vyre_module *module, const char *path, const void *data, size_t size,
                                           const vyre_glsl_options *glsl, vyre_diagnostics diagnostics, vyre_input_kind *out_kind);

/* The cost model of a file (-cost-model=FILE); path NULL: NULL, which stands for vyre's own.  USAGE: it cannot be read, or is none.
 */
VYRE_MUST_USE vyre_status vyre_cost_model_read(const char *path, vyre_cost_model **out);

/* An input as it was read, for when it is written. */
typedef struct vyre_source {
  const char *path; /* for messages */
  const void *data; /* borrowed */
  size_t size;
  vyre_input_kind kind;
  const vyre_glsl_options *glsl; /* NULL: none */
  vyre_diagnostics diagnostics;
} vyre_source;

/* As vyre_spirv_write; but SPIR-V, or what was compiled to it, that has become a program that SPIR-V cannot express, such as one
 * that inlining made too deep, is written as it came, with a remark.  Running out of memory stays an error. */
VYRE_MUST_USE vyre_status vyre_source_write(const vyre_module *module, uint32_t input, const vyre_spirv_options *options,
                                            const vyre_source *source, vyre_bytes *out);

#ifdef __cplusplus
}
#endif
#endif
