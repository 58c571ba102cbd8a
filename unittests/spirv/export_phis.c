/* Vars whose phis would come to far more than their stores go out as variables of the function; others are phis.  Told by words and
 * instructions, and by what the module computes before and after.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "import_support.h"

#include <spirv/unified1/spirv.h>

#define HEAD                                                                                                                      \
  "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\n"                                   \
  "OpExecutionMode %main LocalSize 1 1 1\nOpDecorate %B Block\nOpMemberDecorate %B 0 Offset 0\nOpDecorate %array ArrayStride 4\n" \
  "OpDecorate %b DescriptorSet 0\nOpDecorate %b Binding 0\n"                                                                      \
  "%void = OpTypeVoid\n%fn = OpTypeFunction %void\n%bool = OpTypeBool\n%u = OpTypeInt 32 0\n%k0 = OpConstant %u 0\n"              \
  "%k1 = OpConstant %u 1\n%k2 = OpConstant %u 2\n%k31 = OpConstant %u 31\n%array = OpTypeRuntimeArray %u\n"                       \
  "%B = OpTypeStruct %array\n%pB = OpTypePointer StorageBuffer %B\n%pu = OpTypePointer StorageBuffer %u\n"                        \
  "%fu = OpTypeFunction %u %u\n%pf = OpTypePointer Function %u\n%b = OpVariable %pB StorageBuffer\n"

static void
put(vyre_bytes *text, const char *format, ...)
{
  char line[2000];
  va_list args;
  va_start(args, format);
  vsnprintf(line, sizeof(line), format, args);
  va_end(args);
  assert_true(vyre_bytes_append(text, line, strlen(line)) == VYRE_OK);
}

/* main up to where x is the buffer's first word, and y that of each of `vars` variables y0, y1, ... */
static void
begin(vyre_bytes *text, uint32_t vars, uint32_t constants)
{
  put(text, "%s", HEAD);
  for (uint32_t k = 0; k < constants; k++)
    put(text, "%%n%u = OpConstant %%u %u\n", k, 3 + 7 * k);
  put(text, "%%main = OpFunction %%void None %%fn\n%%lm = OpLabel\n%%narrow = OpVariable %%pf Function\n");
  for (uint32_t k = 0; k < vars; k++)
    put(text, "%%y%u = OpVariable %%pf Function\n", k);
  put(text, "%%p = OpAccessChain %%pu %%b %%k0 %%k0\n%%x = OpLoad %%u %%p\nOpStore %%narrow %%x\n");
  put(text, "%%small = OpULessThan %%bool %%x %%k2\nOpSelectionMerge %%ms None\nOpBranchConditional %%small %%ls %%ms\n"
            "%%ls = OpLabel\nOpStore %%narrow %%k31\nOpBranch %%ms\n%%ms = OpLabel\n");
  for (uint32_t k = 0; k < vars; k++)
    put(text, "OpStore %%y%u %%x\n", k);
}

/* The words of all variables, mixed, are stored in the buffer's first word. */
static void
put_hash(vyre_bytes *text, uint32_t vars)
{
  for (uint32_t k = 0; k < vars; k++)
    put(text, "%%g%u = OpLoad %%u %%y%u\n%%m%u_ = OpIMul %%u %%h%u %%k31\n%%h%u = OpIAdd %%u %%m%u_ %%g%u\n", k, k, k, k, k + 1, k,
        k);
  put(text, "OpStore %%p %%h%u\nOpReturn\nOpFunctionEnd\n", vars);
}

static vyre_bytes
assemble(vyre_bytes *text)
{
  assert_true(vyre_bytes_append(text, "", 1) == VYRE_OK);
  vyre_bytes words = import_assemble(text->data);
  memcpy(words.data + 4, &(uint32_t){0x00010300}, 4); /* of SPIR-V 1.3 */
  vyre_bytes_free(text);
  return words;
}

static vyre_bytes
end(vyre_bytes *text, uint32_t vars)
{
  put(text, "%%h0 = OpLoad %%u %%narrow\n");
  put_hash(text, vars);
  return assemble(text);
}

static void
put_switch(vyre_bytes *text, uint32_t count)
{
  put(text, "OpSelectionMerge %%m None\nOpSwitch %%x %%m");
  for (uint32_t k = 0; k < count; k++)
    put(text, " %u %%c%u", k, k);
  put(text, "\n");
  for (uint32_t k = 0; k < count; k++)
    put(text, "%%c%u = OpLabel\n%%v%u = OpIAdd %%u %%x %%n%u\nOpStore %%y%u %%v%u\nOpBranch %%m\n", k, k, k, k, k);
  put(text, "%%m = OpLabel\n");
}

/* A switch of `count` cases, of which each writes its own variable. */
static vyre_bytes
switch_of(uint32_t count)
{
  vyre_bytes text = {0};
  begin(&text, count, count);
  put_switch(&text, count);
  return end(&text, count);
}

/* The same, and a function whose result is written where it returns from a case and where all other cases end: the buffer's second
 * word. */
static vyre_bytes
early_return_beside(uint32_t count)
{
  vyre_bytes text = {0};
  begin(&text, count, count);
  put(&text, "%%e = OpFunctionCall %%u %%f %%x\n%%pe = OpAccessChain %%pu %%b %%k0 %%k1\nOpStore %%pe %%e\n");
  put_switch(&text, count);
  put(&text, "%%h0 = OpLoad %%u %%narrow\n");
  put_hash(&text, count);
  put(&text, "%%f = OpFunction %%u None %%fu\n%%a = OpFunctionParameter %%u\n%%lf = OpLabel\n%%v = OpVariable %%pf Function\n"
             "OpStore %%v %%k31\nOpSelectionMerge %%fm None\nOpSwitch %%a %%fm");
  for (uint32_t k = 0; k < count; k++)
    put(&text, " %u %%fc%u", k, k);
  put(&text, "\n%%fc0 = OpLabel\nOpReturnValue %%k2\n");
  for (uint32_t k = 1; k < count; k++)
    put(&text, "%%fc%u = OpLabel\n%%fv%u = OpIMul %%u %%a %%n%u\nOpStore %%v %%fv%u\nOpBranch %%fm\n", k, k, k, k);
  put(&text, "%%fm = OpLabel\n%%fr = OpLoad %%u %%v\nOpReturnValue %%fr\nOpFunctionEnd\n");
  return assemble(&text);
}

static uint32_t
expected_of_switch(uint32_t x, uint32_t count)
{
  uint32_t hash = x < 2 ? 31 : x;
  for (uint32_t k = 0; k < count; k++)
    hash = hash * 31 + x + (x == k ? 3 + 7 * k : 0);
  return hash;
}

/* `depth` loops of one iteration and more around writes of `count` variables. */
static vyre_bytes
loops_of(uint32_t depth, uint32_t count)
{
  vyre_bytes text = {0};
  begin(&text, count, depth + count);
  for (uint32_t d = 0; d < depth; d++)
    put(&text,
        "OpBranch %%h_%u\n%%h_%u = OpLabel\n%%i%u = OpPhi %%u %%k0 %s%u %%j%u %%next%u\nOpLoopMerge %%end%u %%next%u None\n"
        "OpBranch %%test%u\n%%test%u = OpLabel\n%%go%u = OpULessThan %%bool %%i%u %s\nOpBranchConditional %%go%u %%in%u %%end%u\n"
        "%%in%u = OpLabel\n",
        d, d, d, d ? "%in" : "%m", d ? d - 1 : 9999, d, d, d, d, d, d, d, d, d < 3 ? "%k2" : "%k1", d, d, d, d);
  for (uint32_t k = 0; k < count; k++)
    put(&text, "%%l%u = OpLoad %%u %%y%u\n%%v%u = OpIAdd %%u %%l%u %%n%u\nOpStore %%y%u %%v%u\n", k, k, k, k, k, k, k);
  for (uint32_t d = depth; d > 0; d--)
    put(&text, "OpBranch %%next%u\n%%next%u = OpLabel\n%%j%u = OpIAdd %%u %%i%u %%k1\nOpBranch %%h_%u\n%%end%u = OpLabel\n", d - 1,
        d - 1, d - 1, d - 1, d - 1, d - 1);
  char *from = strstr(text.data, "%m9999");
  if (from)
    memcpy(from, "%ms   ", 6);
  return end(&text, count);
}

static uint32_t
expected_of_loops(uint32_t x, uint32_t depth, uint32_t count)
{
  uint32_t hash = x < 2 ? 31 : x;
  for (uint32_t k = 0; k < count; k++)
    hash = hash * 31 + x + (depth < 3 ? 1u << depth : 8u) * (3 + 7 * k);
  return hash;
}

static uint32_t
count_words(const vyre_bytes *words, uint32_t op, uint32_t storage)
{
  uint32_t count = 0;
  for (size_t at = 5; at < words->size / 4;) {
    uint32_t word[4] = {0};
    memcpy(word, words->data + at * 4, words->size - at * 4 < sizeof(word) ? words->size - at * 4 : sizeof(word));
    count += (word[0] & 0xffffu) == op && (op != SpvOpVariable || word[3] == storage);
    at += word[0] >> 16;
  }
  return count;
}

static uint32_t
run(const vyre_module *module, uint32_t x)
{
  import_run(module, 1, (const import_buffer[]){{0, &x, sizeof(x)}}, 1);
  return x;
}

/* Written, read again and written again: as many words. */
static vyre_bytes
write_twice(const vyre_bytes *words, vyre_module **out_first, vyre_module **out_again)
{
  *out_first = import_read(words);
  vyre_bytes written = import_write(*out_first);
  *out_again = import_read(&written);
  vyre_bytes again = import_write(*out_again);
  vyre_bytes_free(&again);
  return written;
}

TEST(a_switch_of_many_variables_is_linear)
{
  const uint32_t counts[] = {8, 60, 400, 1600};
  for (int c = 0; c < 4; c++) {
    const uint32_t count = counts[c];
    vyre_bytes words = switch_of(count);
    vyre_module *first, *again;
    vyre_bytes written = write_twice(&words, &first, &again);
    assert_true(written.size < 2 * words.size + (count < 400 ? 65536 * 4 : 4000));
    const uint32_t xs[] = {0, 1, 2, count / 2, count - 1, count, 0xffffffffu};
    for (int k = 0; k < 7; k++) {
      assert_int_equal(run(first, xs[k]), expected_of_switch(xs[k], count));
      assert_int_equal(run(again, xs[k]), expected_of_switch(xs[k], count));
    }
    /* of small ones all are values; of large ones that whose one phi is short still is */
    const bool large = count >= 400;
    assert_int_equal(count_words(&written, SpvOpVariable, SpvStorageClassFunction), large ? count : 0);
    assert_int_equal(count_words(&written, SpvOpPhi, 0), large ? 1 : count + 1);
    vyre_bytes_free(&words);
    vyre_bytes_free(&written);
    vyre_module_destroy(first);
    vyre_module_destroy(again);
  }
}

TEST(nested_loops_around_many_variables_are_linear)
{
  const struct {
    uint32_t depth, count;
    bool large;
  } cases[] = {{4, 10, false}, {30, 30, false}, {40, 600, true}};
  for (int c = 0; c < 3; c++) {
    vyre_bytes words = loops_of(cases[c].depth, cases[c].count);
    vyre_module *first, *again;
    vyre_bytes written = write_twice(&words, &first, &again);
    const uint32_t xs[] = {0, 5, 0xfffffff0u};
    for (int k = 0; k < 3; k++) {
      assert_int_equal(run(first, xs[k]), expected_of_loops(xs[k], cases[c].depth, cases[c].count));
      assert_int_equal(run(again, xs[k]), expected_of_loops(xs[k], cases[c].depth, cases[c].count));
    }
    assert_int_equal(count_words(&written, SpvOpVariable, SpvStorageClassFunction), cases[c].large ? cases[c].count : 0);
    if (cases[c].large)
      assert_true(written.size < 2 * words.size);
    vyre_bytes_free(&words);
    vyre_bytes_free(&written);
    vyre_module_destroy(first);
    vyre_module_destroy(again);
  }
}

/* The result's `set` after the construct that is left is a store, so it stays there and the leave has its flag. */
TEST(an_early_return_beside_them_keeps_its_value)
{
  const uint32_t counts[] = {20, 400};
  for (int c = 0; c < 2; c++) {
    vyre_bytes words = early_return_beside(counts[c]);
    vyre_module *first, *again;
    vyre_bytes written = write_twice(&words, &first, &again);
    const uint32_t xs[] = {0, 1, 2, counts[c] - 1, counts[c]};
    for (int k = 0; k < 5; k++)
      for (int m = 0; m < 2; m++) {
        uint32_t data[2] = {xs[k], 0};
        import_run(m ? again : first, 1, (const import_buffer[]){{0, data, sizeof(data)}}, 1);
        assert_int_equal(data[0], expected_of_switch(xs[k], counts[c]));
        assert_int_equal(data[1], xs[k] == 0 ? 2 : xs[k] == counts[c] ? 31 : xs[k] * (3 + 7 * xs[k]));
      }
    vyre_bytes_free(&words);
    vyre_bytes_free(&written);
    vyre_module_destroy(first);
    vyre_module_destroy(again);
  }
}
