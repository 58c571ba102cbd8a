/* Importer tests: SPIR-V from GLSL or assembly is read, verified, and run by the interpreter.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_IMPORT_SUPPORT_H
#define VYRE_UNITTESTS_IMPORT_SUPPORT_H

#include "../test.h"

#include "vyre/spirv.h"
#include "vyre/status.h"

/* Compile GLSL or assemble SPIR-V.  Both fail the test with the compiler's message. */
vyre_bytes import_compile(const char *glsl);
vyre_bytes import_assemble(const char *text);

/* The head of a shader with the buffer %b of words %u, up to its functions, for texts that are made piece by piece. */
#define IMPORT_HEAD                                                                                                               \
  "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\n"                                   \
  "OpExecutionMode %main LocalSize 1 1 1\nOpDecorate %B Block\nOpMemberDecorate %B 0 Offset 0\nOpDecorate %array ArrayStride 4\n" \
  "OpDecorate %b DescriptorSet 0\nOpDecorate %b Binding 0\n"                                                                      \
  "%void = OpTypeVoid\n%fn = OpTypeFunction %void\n%u = OpTypeInt 32 0\n%k0 = OpConstant %u 0\n%k1 = OpConstant %u 1\n"           \
  "%array = OpTypeRuntimeArray %u\n%B = OpTypeStruct %array\n%pB = OpTypePointer StorageBuffer %B\n"                              \
  "%pu = OpTypePointer StorageBuffer %u\n%b = OpVariable %pB StorageBuffer\n%fu = OpTypeFunction %u %u\n"
/* PUT appends to the text.  import_assemble_made assembles the text and frees it. */
#define PUT(text, ...) assert_true(vyre_bytes_printf(text, __VA_ARGS__) == VYRE_OK)
vyre_bytes import_assemble_made(vyre_bytes *text);

/* Returns the words after SPIRV-Tools' optimizer (-O): phis, merged blocks, values for variables. */
vyre_bytes import_optimize(const vyre_bytes *words);

/* Returns the module as SPIR-V, which the validator must accept. */
vyre_bytes import_write(const vyre_module *module);

/* Reads, seals and verifies the words, or fails the test.  The caller owns the module. */
vyre_module *import_read(const vyre_bytes *words);
/* Returns whether the words are refused as input with a message that contains `part`.  Prints the message otherwise. */
bool import_refuses(const vyre_bytes *words, const char *part);
/* Returns whether the module is kept word for word, with a remark that contains `part`, and is written unchanged. */
bool import_keeps_assembly(const char *text, const char *part);
bool import_refuses_assembly(const char *text, const char *part);

/* Runs the first program.  Each buffer has its binding in set 0; push constants have binding 100. */
typedef struct import_buffer {
  uint32_t binding;
  void *data;
  size_t size;
} import_buffer;
void import_run(const vyre_module *module, uint32_t groups, const import_buffer *buffers, uint32_t count);

uint32_t import_count(const vyre_module *module, vyre_opcode op); /* number of rows of the op */

/* For tests with a function `run` that reads a text and runs its module on words `in` to words `out`, N of each. */

/* Compares the words of `out` with an expression of the index i and of x, the word of `in`. */
#define EXPECT(expression)                                                                           \
  for (uint32_t i = 0; i < N; i++) {                                                                 \
    const uint32_t x = in[i], expected = (expression);                                               \
    (void)x;                                                                                         \
    if (out[i] != expected)                                                                          \
      fail_msg("i %u x %u: %u (0x%08x), not %u (0x%08x)", i, x, out[i], out[i], expected, expected); \
  }

/* Words for which no simpler expression exists. */
#define ONE_OF(...) ((const uint32_t[]){__VA_ARGS__})[i]

/* Defines a test whose program computes the expression. */
#define COMPUTES(name, text, expression) COMPUTES_AND_HAS(name, text, expression, {VYRE_OP_verbatim, 0})

/* Also compares the numbers of rows of some ops. */
#define COMPUTES_AND_HAS(name, text, expression, ...)               \
  TEST(name)                                                        \
  {                                                                 \
    static const struct {                                           \
      vyre_opcode op;                                               \
      uint32_t count;                                               \
    } rows[] = {__VA_ARGS__};                                       \
    vyre_module *m = run(text);                                     \
    EXPECT(expression);                                             \
    for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++)       \
      assert_int_equal(import_count(m, rows[k].op), rows[k].count); \
    vyre_module_destroy(m);                                         \
  }

#endif
