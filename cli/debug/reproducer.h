/* Reproducers: small files that fail the same way as an input.
 *
 * A reproducer is .vir text: the module before the failing pass.  Comments before it have the messages and the options that the
 * failure needs, one a line ("; option -passes=cf").  It is written after the failure.  Because passes are deterministic, an
 * isolated process repeats the runs up to the failing one.  Then the file itself is run.  If it does not fail the same way, the
 * file becomes the whole input with the whole pipeline.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_DEBUG_REPRODUCER_H
#define VYRE_CLI_DEBUG_REPRODUCER_H

#include "attempt.h"

/* Writes the reproducer of an input that failed in or after the run into the folder of -reproducer.  Appends a message to
 * `messages`.
 */
void reproducer_write(tool *t, uint32_t index, uint64_t run, vyre_bytes *messages);
/* Returns whether both works failed for the same reason.  Numbers in the messages, such as rows and steps, do not count. */
bool reproducer_fails_alike(const work *a, const work *b);
/* Writes a reproducer with the module, the pipeline and the options.  `failed` has the messages of the failure. */
VYRE_MUST_USE vyre_status reproducer_print(const tool *t, const work *failed, const char *path, const char *passes,
                                           const vyre_bytes *module, const char *remark);
/* Runs the reproducer file.  Sets *out_same if the run fails for the same reason as `failed`. */
VYRE_MUST_USE vyre_status reproducer_check(tool *t, uint32_t index, const char *path, const work *failed, bool *out_same);
/* Returns the text of the run's pass in the output of -opt-bisect=list, or NULL, and its length in *out_length. */
const char *reproducer_find_run(const vyre_bytes *said, uint64_t run, size_t *out_length);

#endif
