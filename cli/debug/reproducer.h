/* A reproducer: a file that fails as an input failed, with little else in it.
 *
 * It is a .vir text, the module that the failing pass got, and in comments before it what was said, and the options that the
 * failure needs, one a line ("; option -passes=cf").  Nothing is written before something fails: passes do the same each time, so
 * the runs up to the failing one are done once more, in a process of their own, and the file that comes of it is run, too.  Where
 * that does not fail alike the file is the whole input with the whole pipeline.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_DEBUG_REPRODUCER_H
#define VYRE_CLI_DEBUG_REPRODUCER_H

#include "attempt.h"

/* In the folder of -reproducer, of that input, which failed in or after that run; `told` is what there is to say of it. */
void reproducer_write(tool *t, uint32_t index, uint64_t run, vyre_bytes *told);
/* Whether both failed, and for one reason: numbers in it are those of rows and steps, and do not count. */
bool reproducer_fails_alike(const work *a, const work *b);
/* A file of that module, pipeline and the options; `failed` is how it failed. */
VYRE_MUST_USE vyre_status reproducer_print(const tool *t, const work *failed, const char *path, const char *passes,
                                           const vyre_bytes *module, const char *remark);
/* Runs the file.  *out_same: it fails alike. */
VYRE_MUST_USE vyre_status reproducer_check(tool *t, uint32_t index, const char *path, const work *failed, bool *out_same);
/* The text of that run's pass, as -opt-bisect=list gave it; NULL: it is not there.  *out_length is its length. */
const char *reproducer_find_run(const vyre_bytes *said, uint64_t run, size_t *out_length);

#endif
