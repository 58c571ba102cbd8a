/* The parts of vyre-wrap: the files that a compiler may write, and the programs that vyre-wrap runs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TOOLS_WRAP_H
#define VYRE_TOOLS_WRAP_H

#include "vyre/status.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- outputs.c: files that the compiler writes -------------------------------------------------------------------------- */

typedef struct wrap_file {
  char *path;                                          /* owned */
  bool is_guess;                                       /* the name that a compiler chooses without -o, not a path of an argument */
  bool is_there;                                       /* a regular file */
  uint64_t device, number, size, seconds, nanoseconds; /* state of the file before the compiler ran, if the file existed */
} wrap_file;

typedef struct wrap_files {
  wrap_file *files; /* owned */
  uint32_t count, capacity;
} wrap_files;

/* Lists the paths that the compiler may write, and the present state of each file: every path that an argument contains, and the
 * names that compilers choose without -o.  `arguments` begins with the compiler's name and ends with NULL. */
VYRE_MUST_USE vyre_status wrap_files_list(char *const *arguments, wrap_files *out);
/* Returns whether the file was written since wrap_files_list, and is a SPIR-V module. */
bool wrap_file_is_output(const wrap_file *file);
void wrap_files_free(wrap_files *files);

/* ---- run.c: programs ----------------------------------------------------------------------------------------------------- */

/* Runs the compiler.  Copies its standard output to this process's, except for a SPIR-V module, which is kept in `module`.  A
 * terminal is not copied: the compiler writes to it.  Sets *code to the exit code, or to 128 + N if signal N ended the compiler.
 * Returns USAGE if the compiler cannot be started. */
VYRE_MUST_USE vyre_status wrap_run_compiler(char *const *arguments, int *code, vyre_bytes *module);
/* Runs the optimizer, with the bytes of `input` as standard input, and its standard output appended to `output`.  Both may be NULL.
 * Its messages appear only if `is_verbose` is set.  Sets *passed to whether it ended with exit code 0.  Returns an error if it
 * cannot be started. */
VYRE_MUST_USE vyre_status wrap_run_optimizer(char *const *arguments, bool is_verbose, const vyre_bytes *input, vyre_bytes *output,
                                             bool *passed);

#endif
