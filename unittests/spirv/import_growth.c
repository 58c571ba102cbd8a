/* The growth of a module: calls that inlining would multiply, and composites of many leaves.  Growth is bounded in words and
 * rows, not in time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "import_support.h"

#include "vyre/text.h"

#define MAIN "%main = OpFunction %void None %fn\n%lm = OpLabel\n%p = OpAccessChain %pu %b %k0 %k0\n%x = OpLoad %u %p\n"
#define END  "OpReturn\nOpFunctionEnd\n"

/* Reads the words into a module that may grow to `growth` times its words. */
static vyre_module *
read_with(const vyre_bytes *words, uint32_t growth)
{
  vyre_module *module;
  assert_true(vyre_module_create(NULL, 0, &module) == VYRE_OK);
  assert_int_equal(vyre_module_growth(module), VYRE_MODULE_GROWTH);
  vyre_module_set_growth(module, growth);
  assert_true(vyre_spirv_read(module, words->data, words->size, "test.spv") == VYRE_OK);
  assert_true(vyre_module_seal(module, NULL) == VYRE_OK);
  return module;
}

static bool
is_kept(const vyre_bytes *words, uint32_t growth)
{
  vyre_module *module = read_with(words, growth);
  const bool kept = import_count(module, VYRE_OP_verbatim) == 1;
  const vyre_string remark = vyre_module_input(module, 0)->remark;
  if (kept) { /* without the cost of inlining */
    assert_true(vyre_module_view(module)->rows < 16);
    assert_non_null(strstr(vyre_string_text(module, remark), "raise the maximum growth"));
  } else {
    assert_int_equal(remark, 0);
  }
  vyre_module_destroy(module);
  return kept;
}

/* Makes a chain of functions that each call the next one twice: the last one is called 2^functions times. */
static vyre_bytes
chain(uint32_t functions)
{
  vyre_bytes text = {0};
  PUT(&text, "%s", IMPORT_HEAD MAIN "%r = OpFunctionCall %u %f0 %x\nOpStore %p %r\n" END);
  for (uint32_t k = 0; k < functions; k++)
    PUT(&text,
        "%%f%u = OpFunction %%u None %%fu\n%%a%u = OpFunctionParameter %%u\n%%l%u = OpLabel\n%%r%u = OpFunctionCall %%u %%f%u "
        "%%a%u\n"
        "%%s%u = OpFunctionCall %%u %%f%u %%r%u\nOpReturnValue %%s%u\nOpFunctionEnd\n",
        k, k, k, k, k + 1, k, k, k + 1, k, k);
  PUT(&text,
      "%%f%u = OpFunction %%u None %%fu\n%%a%u = OpFunctionParameter %%u\n%%l%u = OpLabel\n%%r%u = OpIAdd %%u %%a%u %%k1\n"
      "OpReturnValue %%r%u\nOpFunctionEnd\n",
      functions, functions, functions, functions, functions, functions);
  return import_assemble_made(&text);
}

/* The lengths range from inlined chains to chains whose counts would overflow. */
TEST(calls_that_multiply_are_not_inlined)
{
  const struct {
    uint32_t functions;
    bool kept, kept_at_growth_20000;
  } cases[] = {{10, false, false}, {16, false, false}, {17, true, false}, {25, true, true},
               {40, true, true},   {64, true, true},   {200, true, true}, {900, true, true}};
  for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
    vyre_bytes words = chain(cases[k].functions);
    assert_int_equal(is_kept(&words, VYRE_MODULE_GROWTH), cases[k].kept);
    assert_int_equal(is_kept(&words, 20000), cases[k].kept_at_growth_20000);
    vyre_bytes_free(&words);
  }
}

/* Inlined calls compute what the calls compute. */
TEST(inlined_calls_compute_the_same)
{
  const uint32_t lengths[2] = {6, 14};
  for (int k = 0; k < 2; k++) {
    vyre_bytes words = chain(lengths[k]);
    vyre_module *module = import_read(&words);
    uint32_t value = 5;
    import_run(module, 1, (const import_buffer[]){{0, &value, sizeof(value)}}, 1);
    assert_int_equal(value, 5 + (1u << lengths[k]));
    vyre_module_destroy(module);
    vyre_bytes_free(&words);
  }
}

/* Makes `entries` programs with `count` calls of one function, which has `additions` additions of 5 words and 10 other words. */
static vyre_bytes
calls(uint32_t entries, uint32_t count, uint32_t additions)
{
  vyre_bytes text = {0};
  PUT(&text, "OpCapability Shader\nOpMemoryModel Logical GLSL450\n");
  for (uint32_t e = 0; e < entries; e++)
    PUT(&text, "OpEntryPoint GLCompute %%main%u \"main%u\"\n", e, e);
  for (uint32_t e = 0; e < entries; e++)
    PUT(&text, "OpExecutionMode %%main%u LocalSize 1 1 1\n", e);
  PUT(&text, "%%void = OpTypeVoid\n%%fn = OpTypeFunction %%void\n%%u = OpTypeInt 32 0\n%%one = OpConstant %%u 1\n"
             "%%fu = OpTypeFunction %%u %%u\n");
  for (uint32_t e = 0; e < entries; e++) {
    PUT(&text, "%%main%u = OpFunction %%void None %%fn\n%%lm%u = OpLabel\n", e, e);
    for (uint32_t k = 0; k < count; k++)
      PUT(&text, "%%c%u_%u = OpFunctionCall %%u %%f %%one\n", e, k);
    PUT(&text, END);
  }
  PUT(&text, "%%f = OpFunction %%u None %%fu\n%%a = OpFunctionParameter %%u\n%%l = OpLabel\n%%r0 = OpIAdd %%u %%a %%one\n");
  for (uint32_t k = 1; k < additions; k++)
    PUT(&text, "%%r%u = OpIAdd %%u %%r%u %%one\n", k, k - 1);
  PUT(&text, "OpReturnValue %%r%u\nOpFunctionEnd\n", additions - 1);
  return import_assemble_made(&text);
}

/* Small modules may grow much.  The bound of large modules follows their words, and holds for all programs of a module
 * together. */
TEST(growth_is_bounded_for_the_whole_module)
{
  const struct {
    uint32_t entries, count, additions, growth;
    bool kept;
  } cases[] = {
      {1, 8000, 100, 8, false}, /* 4.04 million words, 124 times those of the module */
      {1, 9000, 100, 8, true},  /* 4.5 million */
      {1, 7, 120000, 8, false}, /* 4.2 million words, 7 times those of the module */
      {1, 7, 120000, 6, true},  {1, 9, 120000, 8, true},  {2, 5, 120000, 8, true},
      {2, 3, 120000, 8, false}, {2, 4000, 100, 8, false}, /* 4.04 million */
      {3, 4000, 100, 8, true},
  };
  for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
    vyre_bytes words = calls(cases[k].entries, cases[k].count, cases[k].additions);
    vyre_module *module = read_with(&words, cases[k].growth);
    assert_int_equal(import_count(module, VYRE_OP_verbatim), cases[k].kept ? cases[k].entries : 0);
    vyre_module_destroy(module);
    vyre_bytes_free(&words);
  }
}

/* Makes `count` copies of structs of `members` members, each to the next element, with one member changed if `insert` is true. */
static vyre_bytes
copies(uint32_t members, uint32_t count, bool insert)
{
  vyre_bytes text = {0};
  PUT(&text,
      "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %%main \"main\"\n"
      "OpExecutionMode %%main LocalSize 1 1 1\nOpDecorate %%B Block\nOpMemberDecorate %%B 0 Offset 0\n"
      "OpDecorate %%array ArrayStride %u\nOpDecorate %%b DescriptorSet 0\nOpDecorate %%b Binding 0\n",
      4 * members);
  for (uint32_t k = 0; k < members; k++)
    PUT(&text, "OpMemberDecorate %%S %u Offset %u\n", k, 4 * k);
  PUT(&text, "%%void = OpTypeVoid\n%%fn = OpTypeFunction %%void\n%%u = OpTypeInt 32 0\n%%S = OpTypeStruct");
  for (uint32_t k = 0; k < members; k++)
    PUT(&text, " %%u");
  PUT(&text, "\n%%array = OpTypeRuntimeArray %%S\n%%B = OpTypeStruct %%array\n%%pB = OpTypePointer StorageBuffer %%B\n"
             "%%pS = OpTypePointer StorageBuffer %%S\n%%b = OpVariable %%pB StorageBuffer\n");
  for (uint32_t k = 0; k <= count; k++)
    PUT(&text, "%%k%u = OpConstant %%u %u\n", k, k);
  PUT(&text, "%%main = OpFunction %%void None %%fn\n%%lm = OpLabel\n");
  for (uint32_t k = 0; k < count; k++) {
    PUT(&text, "%%p%u = OpAccessChain %%pS %%b %%k0 %%k%u\n%%v%u = OpLoad %%S %%p%u\n", k, k, k, k);
    PUT(&text, "%%q%u = OpAccessChain %%pS %%b %%k0 %%k%u\n", k, k + 1);
    if (insert)
      PUT(&text, "%%i%u = OpCompositeInsert %%S %%k%u %%v%u 1\nOpStore %%q%u %%i%u\n", k, k, k, k, k);
    else
      PUT(&text, "OpStore %%q%u %%v%u\n", k, k);
  }
  PUT(&text, END);
  return import_assemble_made(&text);
}

/* A composite that is split has a row and more for each of its leaves. */
TEST(composites_of_many_leaves_are_bounded)
{
  vyre_bytes few = copies(200, 400, true), many = copies(200, 5000, true);
  assert_false(is_kept(&few, VYRE_MODULE_GROWTH));
  assert_true(is_kept(&many, VYRE_MODULE_GROWTH));
  assert_false(is_kept(&many, 1000));
  vyre_bytes_free(&few);
  vyre_bytes_free(&many);
}

/* The reader needs no search to find that a loaded value is only stored, so the number of copies is not limited. */
TEST(copies_are_one_row_each)
{
  vyre_bytes words = copies(20, 12000, false);
  vyre_module *module = import_read(&words);
  assert_int_equal(import_count(module, VYRE_OP_copy), 12000);
  vyre_module_destroy(module);
  vyre_bytes_free(&words);
}
