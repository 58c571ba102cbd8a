/* What the tests of VIR0 share: a module with something of everything, reading, writing, comparing.
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

/* Frozen: names, lines, spec ids, decorations, two inputs, execution modes, every form of type, initializers.  Sealed, and right.
 */
void sample_build(vyre_module *module);
vyre_module *sample_new(void);
/* Puts rows with lines into functions, of which one is inlined into the other, that debug instructions of input 0 describe. */
void sample_add_scopes(vyre_module *module);
/* The module as VIR0 and back, which must go well. */
vyre_bytes sample_write(const vyre_module *module);
vyre_module *sample_read(const vyre_bytes *bytes);
/* Hashes anew what was changed in a file. */
void sample_rehash(vyre_bytes *bytes);
/* Fails if two modules differ in anything but unused strings. */
void sample_compare(vyre_module *x, vyre_module *y);

#endif
