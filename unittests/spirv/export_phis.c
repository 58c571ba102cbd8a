/* Vars whose phis would be much larger than their stores are written as variables of the function, others as phis.  The test
 * counts words and instructions, and runs the module before and after.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "import_support.h"

#include <spirv/unified1/spirv.h>

#define HEAD IMPORT_HEAD "%bool = OpTypeBool\n%pf = OpTypePointer Function %u\n%k2 = OpConstant %u 2\n%k31 = OpConstant %u 31\n"

/* Begins `main`: x is the buffer's first word, and the variables y0, y1, ... have that value. */
static void
begin(vyre_bytes *text, uint32_t vars, uint32_t constants)
{
  PUT(text, "%s", HEAD);
  for (uint32_t k = 0; k < constants; k++)
    PUT(text, "%%n%u = OpConstant %%u %u\n", k, 3 + 7 * k);
  PUT(text, "%%main = OpFunction %%void None %%fn\n%%lm = OpLabel\n%%narrow = OpVariable %%pf Function\n");
  for (uint32_t k = 0; k < vars; k++)
    PUT(text, "%%y%u = OpVariable %%pf Function\n", k);
  PUT(text, "%%p = OpAccessChain %%pu %%b %%k0 %%k0\n%%x = OpLoad %%u %%p\nOpStore %%narrow %%x\n");
  PUT(text, "%%small = OpULessThan %%bool %%x %%k2\nOpSelectionMerge %%ms None\nOpBranchConditional %%small %%ls %%ms\n"
            "%%ls = OpLabel\nOpStore %%narrow %%k31\nOpBranch %%ms\n%%ms = OpLabel\n");
  for (uint32_t k = 0; k < vars; k++)
    PUT(text, "OpStore %%y%u %%x\n", k);
}

/* Stores a hash of all variables in the buffer's first word. */
static void
put_hash(vyre_bytes *text, uint32_t vars)
{
  PUT(text, "%%h0 = OpLoad %%u %%narrow\n");
  for (uint32_t k = 0; k < vars; k++)
    PUT(text, "%%g%u = OpLoad %%u %%y%u\n%%m%u_ = OpIMul %%u %%h%u %%k31\n%%h%u = OpIAdd %%u %%m%u_ %%g%u\n", k, k, k, k, k + 1, k,
        k);
  PUT(text, "OpStore %%p %%h%u\nOpReturn\nOpFunctionEnd\n", vars);
}

static vyre_bytes
assemble(vyre_bytes *text)
{
  vyre_bytes words = import_assemble_made(text);
  memcpy(words.data + 4, &(uint32_t){0x00010300}, 4); /* SPIR-V 1.3 */
  return words;
}

static vyre_bytes
end(vyre_bytes *text, uint32_t vars)
{
  put_hash(text, vars);
  return assemble(text);
}

static void
put_switch(vyre_bytes *text, uint32_t count)
{
  PUT(text, "OpSelectionMerge %%m None\nOpSwitch %%x %%m");
  for (uint32_t k = 0; k < count; k++)
    PUT(text, " %u %%c%u", k, k);
  PUT(text, "\n");
  for (uint32_t k = 0; k < count; k++)
    PUT(text, "%%c%u = OpLabel\n%%v%u = OpIAdd %%u %%x %%n%u\nOpStore %%y%u %%v%u\nOpBranch %%m\n", k, k, k, k, k);
  PUT(text, "%%m = OpLabel\n");
}

/* Makes a switch of `count` cases, each of which writes its own variable. */
static vyre_bytes
switch_of(uint32_t count)
{
  vyre_bytes text = {0};
  begin(&text, count, count);
  put_switch(&text, count);
  return end(&text, count);
}

/* Makes the same switch, and a function whose result goes to the buffer's second word.  The function returns early from one case;
 * all other cases write the result and end. */
static vyre_bytes
switch_with_early_return(uint32_t count)
{
  vyre_bytes text = {0};
  begin(&text, count, count);
  PUT(&text, "%%e = OpFunctionCall %%u %%f %%x\n%%pe = OpAccessChain %%pu %%b %%k0 %%k1\nOpStore %%pe %%e\n");
  put_switch(&text, count);
  put_hash(&text, count);
  PUT(&text, "%%f = OpFunction %%u None %%fu\n%%a = OpFunctionParameter %%u\n%%lf = OpLabel\n%%v = OpVariable %%pf Function\n"
             "OpStore %%v %%k31\nOpSelectionMerge %%fm None\nOpSwitch %%a %%fm");
  for (uint32_t k = 0; k < count; k++)
    PUT(&text, " %u %%fc%u", k, k);
  PUT(&text, "\n%%fc0 = OpLabel\nOpReturnValue %%k2\n");
  for (uint32_t k = 1; k < count; k++)
    PUT(&text, "%%fc%u = OpLabel\n%%fv%u = OpIMul %%u %%a %%n%u\nOpStore %%v %%fv%u\nOpBranch %%fm\n", k, k, k, k);
  PUT(&text, "%%fm = OpLabel\n%%fr = OpLoad %%u %%v\nOpReturnValue %%fr\nOpFunctionEnd\n");
  return assemble(&text);
}

/* Makes `depth` nested loops of one or two iterations around writes of `count` variables. */
static vyre_bytes
loops_of(uint32_t depth, uint32_t count)
{
  vyre_bytes text = {0};
  begin(&text, count, depth + count);
  for (uint32_t d = 0; d < depth; d++)
    PUT(&text,
        "OpBranch %%h_%u\n%%h_%u = OpLabel\n%%i%u = OpPhi %%u %%k0 %s%u %%j%u %%next%u\nOpLoopMerge %%end%u %%next%u None\n"
        "OpBranch %%test%u\n%%test%u = OpLabel\n%%go%u = OpULessThan %%bool %%i%u %s\nOpBranchConditional %%go%u %%in%u %%end%u\n"
        "%%in%u = OpLabel\n",
        d, d, d, d ? "%in" : "%m", d ? d - 1 : 9999, d, d, d, d, d, d, d, d, d < 3 ? "%k2" : "%k1", d, d, d, d);
  for (uint32_t k = 0; k < count; k++)
    PUT(&text, "%%l%u = OpLoad %%u %%y%u\n%%v%u = OpIAdd %%u %%l%u %%n%u\nOpStore %%y%u %%v%u\n", k, k, k, k, k, k, k);
  for (uint32_t d = depth; d > 0; d--)
    PUT(&text, "OpBranch %%next%u\n%%next%u = OpLabel\n%%j%u = OpIAdd %%u %%i%u %%k1\nOpBranch %%h_%u\n%%end%u = OpLabel\n", d - 1,
        d - 1, d - 1, d - 1, d - 1, d - 1);
  char *from = strstr(text.data, "%m9999");
  if (from)
    memcpy(from, "%ms   ", 6);
  return end(&text, count);
}

/* Returns the hash that such a program computes of x.  Each variable is changed `steps` times, in a switch only that of case
 * x. */
static uint32_t
hash_of(uint32_t x, uint32_t count, uint32_t steps, bool is_switch)
{
  uint32_t hash = x < 2 ? 31 : x;
  for (uint32_t k = 0; k < count; k++)
    hash = hash * 31 + x + (!is_switch || x == k ? steps * (3 + 7 * k) : 0);
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

typedef struct shape {
  uint32_t depth, count; /* nested loops; variables */
  bool is_large, has_early_return;
} shape;

static void
computes(const vyre_module *module, const shape *s, uint32_t x)
{
  uint32_t data[2] = {x, 0};
  import_run(module, 1, (const import_buffer[]){{0, data, sizeof(data)}}, 1);
  assert_int_equal(data[0], hash_of(x, s->count, s->depth < 3 ? 1u << s->depth : 8u, s->depth == 0));
  if (s->has_early_return)
    assert_int_equal(data[1], x == 0 ? 2 : x >= s->count ? 31 : x * (3 + 7 * x));
}

/* Exports the module, imports the result and exports that again.  Compares what all three modules compute.  Exported code of a
 * small module has only phis, and code of a large module has only variables and a short phi. */
static void
check(vyre_bytes words, const shape *s)
{
  vyre_module *first = import_read(&words);
  vyre_bytes written = import_write(first);
  vyre_module *again = import_read(&written);
  vyre_bytes twice = import_write(again);
  const uint32_t xs[] = {0, 1, 2, 5, s->count / 2, s->count - 1, s->count, 0xfffffff0u, 0xffffffffu};
  for (size_t k = 0; k < sizeof(xs) / sizeof(*xs); k++) {
    computes(first, s, xs[k]);
    computes(again, s, xs[k]);
  }
  assert_true(written.size < 2 * words.size + (s->is_large ? 4000 : 65536 * 4));
  if (!s->has_early_return)
    assert_int_equal(count_words(&written, SpvOpVariable, SpvStorageClassFunction), s->is_large ? s->count : 0);
  if (!s->has_early_return && s->depth == 0)
    assert_int_equal(count_words(&written, SpvOpPhi, 0), s->is_large ? 1 : s->count + 1);
  vyre_bytes_free(&words);
  vyre_bytes_free(&written);
  vyre_bytes_free(&twice);
  vyre_module_destroy(first);
  vyre_module_destroy(again);
}

TEST(a_switch_of_many_variables_is_linear)
{
  const shape shapes[] = {{.count = 8}, {.count = 60}, {.count = 400, .is_large = true}, {.count = 1600, .is_large = true}};
  for (int k = 0; k < 4; k++)
    check(switch_of(shapes[k].count), &shapes[k]);
}

TEST(nested_loops_around_many_variables_are_linear)
{
  const shape shapes[] = {{.depth = 4, .count = 10}, {.depth = 30, .count = 30}, {.depth = 40, .count = 600, .is_large = true}};
  for (int k = 0; k < 3; k++)
    check(loops_of(shapes[k].depth, shapes[k].count), &shapes[k]);
}

/* The `set` of the result after the construct is a store, so it stays there, and the leave has its flag. */
TEST(an_early_return_keeps_its_value)
{
  const shape shapes[] = {{.count = 20, .has_early_return = true}, {.count = 400, .is_large = true, .has_early_return = true}};
  for (int k = 0; k < 2; k++)
    check(switch_with_early_return(shapes[k].count), &shapes[k]);
}
