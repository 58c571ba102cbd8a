/* Importer tests: SPIR-V from GLSL or assembly, read, verified, run by the interpreter.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_IMPORT_SUPPORT_H
#define VYRE_UNITTESTS_IMPORT_SUPPORT_H

#include "../test.h"

#include "vyre/spirv.h"
#include "vyre/status.h"

/* Both fail the test with the compiler's message. */
vyre_bytes import_compile(const char *glsl);
vyre_bytes import_assemble(const char *text);
/* The same words through SPIRV-Tools' optimizer (-O): phis, merged blocks, values for variables. */
vyre_bytes import_optimize(const vyre_bytes *words);

/* A module written as SPIR-V again; the validator takes it. */
vyre_bytes import_write(const vyre_module *module);

/* Reads, seals and verifies; fails the test otherwise.  Owned by the caller. */
vyre_module *import_read(const vyre_bytes *words);
/* Whether it is refused as input, with a message that has `part` in it; prints what it is if not. */
bool import_refuses(const vyre_bytes *words, const char *part);
/* Read without a program taken apart, with a remark that says `part`; written as it was. */
bool import_keeps_assembly(const char *text, const char *part);
bool import_refuses_assembly(const char *text, const char *part);

/* Runs the first program; buffer k has binding k of set 0 (push constants: binding 100). */
typedef struct import_buffer {
  uint32_t binding;
  void *data;
  size_t size;
} import_buffer;
void import_run(const vyre_module *module, uint32_t groups, const import_buffer *buffers, uint32_t count);

uint32_t import_count(const vyre_module *module, vyre_opcode op); /* rows of that op */

#endif
