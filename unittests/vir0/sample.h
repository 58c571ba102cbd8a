/* A module with everything that VIR0 can contain, and its reading, writing and comparing, for the tests of VIR0.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_VIR0_SAMPLE_H
#define VYRE_VIR0_SAMPLE_H

#include "../module.h"

#include "table/table.h"
#include "vyre/io.h"
#include "vyre/spirv.h"
#include "vyre/verify.h"
#include "vyre/vir0.h"

/* Builds the sample: names, lines, spec ids, decorations, two inputs, execution modes, every form of type, initializers.  The
 * sample is frozen by version1.vir0.  It is valid after sealing. */
void sample_build(vyre_module *module);
vyre_module *sample_new(void);
/* Puts rows with lines into functions that debug instructions of input 0 describe.  One function is inlined into the other. */
void sample_add_scopes(vyre_module *module);
/* Write and read VIR0, which must succeed. */
vyre_bytes sample_write(const vyre_module *module);
vyre_module *sample_read(const vyre_bytes *bytes);
/* Corrects the hashes of a changed file. */
void sample_rehash(vyre_bytes *bytes);
/* Fails if two modules differ in anything except unused strings. */
void sample_compare(vyre_module *x, vyre_module *y);

#endif
