/* Valid SPIR-V that no front end writes, as assembly: phis, unusual branches, mixed signedness, byte order.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "import_support.h"

/* Shaders keep their line breaks. */
/* clang-format off */
/* y[gid] = body(x[gid]): %x is the value, %i its index, %y the value to store.  The body ends in the block of OpStore. */
#define HEAD(entry_modes, decorations, types)                                                                                          \
  "OpCapability Shader\n%glsl = OpExtInstImport \"GLSL.std.450\"\nOpMemoryModel Logical GLSL450\n"                                     \
  "OpEntryPoint GLCompute %main \"main\" %gid\n" entry_modes                                                                           \
  "OpDecorate %gid BuiltIn GlobalInvocationId\nOpDecorate %array ArrayStride 4\nOpDecorate %block Block\nOpMemberDecorate %block 0 Offset 0\n" \
  "OpDecorate %in DescriptorSet 0\nOpDecorate %in Binding 0\nOpDecorate %out DescriptorSet 0\nOpDecorate %out Binding 1\n" decorations  \
  "%void = OpTypeVoid\n%fn = OpTypeFunction %void\n%bool = OpTypeBool\n%uint = OpTypeInt 32 0\n%int = OpTypeInt 32 1\n%float = OpTypeFloat 32\n" \
  "%v3 = OpTypeVector %uint 3\n%v2 = OpTypeVector %uint 2\n%iv2 = OpTypeVector %int 2\n%pv3 = OpTypePointer Input %v3\n"               \
  "%gid = OpVariable %pv3 Input\n%array = OpTypeRuntimeArray %uint\n%block = OpTypeStruct %array\n%pblock = OpTypePointer StorageBuffer %block\n" \
  "%in = OpVariable %pblock StorageBuffer\n%out = OpVariable %pblock StorageBuffer\n%puint = OpTypePointer StorageBuffer %uint\n"       \
  "%piuint = OpTypePointer Input %uint\n%fuint = OpTypePointer Function %uint\n"                                                        \
  "%u0 = OpConstant %uint 0\n%u1 = OpConstant %uint 1\n%u2 = OpConstant %uint 2\n%u3 = OpConstant %uint 3\n%u4 = OpConstant %uint 4\n"  \
  "%u5 = OpConstant %uint 5\n%u7 = OpConstant %uint 7\n%u10 = OpConstant %uint 10\n%i1 = OpConstant %int 1\n%in7 = OpConstant %int -7\n" types
#define BEGIN                                                                                                                          \
  "%main = OpFunction %void None %fn\n%entry = OpLabel\n"
#define LOAD                                                                                                                           \
  "%pi = OpAccessChain %piuint %gid %u0\n%i = OpLoad %uint %pi\n%px = OpAccessChain %puint %in %u0 %i\n%x = OpLoad %uint %px\n"
#define STORE "%py = OpAccessChain %puint %out %u0 %i\nOpStore %py %y\nOpReturn\nOpFunctionEnd\n"
#define SIZE "OpExecutionMode %main LocalSize 4 1 1\n"
#define BODY(...) HEAD(SIZE, "", "") BEGIN LOAD __VA_ARGS__

enum { N = 16 };
static uint32_t in[N], out[N];

static vyre_module *
run_words(const vyre_bytes *words)
{
  for (uint32_t k = 0; k < N; k++) {
    in[k] = k * 5 % 13;
    out[k] = 0xdeadbeef;
  }
  vyre_module *m = import_read(words);
  const import_buffer buffers[] = {{0, in, sizeof(in)}, {1, out, sizeof(out)}};
  import_run(m, N / 4, buffers, 2);
  return m;
}

static vyre_module *
run(const char *text)
{
  vyre_bytes words = import_assemble(text);
  vyre_module *m = run_words(&words);
  vyre_bytes_free(&words);
  return m;
}

COMPUTES(phis_of_a_loop_swap, BODY("OpBranch %head\n%head = OpLabel\n%a = OpPhi %uint %u1 %entry %b %next\n%b = OpPhi %uint %x %entry %a %next\n"
         "%k = OpPhi %uint %u0 %entry %k1 %next\n%c = OpULessThan %bool %k %i\nOpLoopMerge %done %next None\n"
         "OpBranchConditional %c %body %done\n%body = OpLabel\nOpBranch %next\n%next = OpLabel\n%k1 = OpIAdd %uint %k %u1\n"
         "OpBranch %head\n%done = OpLabel\n%t = OpIMul %uint %a %u10\n%y = OpIAdd %uint %t %b\n" STORE),
         i % 2 ? x * 10 + 1 : 10 + x)

TEST(a_loop_of_one_block)
{
  vyre_module *m = run(BODY("OpBranch %head\n%head = OpLabel\n%k = OpPhi %uint %x %entry %k1 %head\n%k1 = OpIAdd %uint %k %u3\n"
                            "%c = OpULessThan %bool %k1 %u10\nOpLoopMerge %done %head None\nOpBranchConditional %c %head %done\n"
                            "%done = OpLabel\n%y = OpIAdd %uint %k1 %k\n" STORE));
  for (uint32_t i = 0; i < N; i++) {
    uint32_t k = in[i];
    while (k + 3 < 10)
      k += 3;
    assert_int_equal(out[i], k + 3 + k);
  }
  vyre_module_destroy(m);
}

TEST(a_back_edge_may_leave_the_loop)
{
  /* a continue construct with two predecessors, which ends the loop if the condition is true, or if it is false */
  for (int way = 0; way < 2; way++) {
    char text[8192];
    snprintf(text, sizeof(text), "%s%s%s", BODY("OpBranch %head\n%head = OpLabel\n%k = OpPhi %uint %u0 %entry %k1 %next\n%s = OpPhi %uint %u0 %entry %s1 %next\n"
                  "OpLoopMerge %done %next None\nOpBranch %body\n%body = OpLabel\n%c = OpULessThan %bool %x %u5\nOpSelectionMerge %join None\n"
                  "OpBranchConditional %c %next %join\n%join = OpLabel\n%s0 = OpIAdd %uint %s %k\nOpBranch %next\n%next = OpLabel\n"
                  "%s1 = OpPhi %uint %s %body %s0 %join\n%k1 = OpIAdd %uint %k %u1\n"),
             way ? "%e = OpUGreaterThanEqual %bool %k1 %u7\nOpBranchConditional %e %done %head\n"
                 : "%e = OpULessThan %bool %k1 %u7\nOpBranchConditional %e %head %done\n",
             "%done = OpLabel\n%t = OpIMul %uint %s1 %u10\n%y = OpIAdd %uint %t %k1\n" STORE);
    vyre_module *m = run(text);
    EXPECT((x < 5 ? 0 : 210) + 7);
    vyre_module_destroy(m);
  }
}

/* a branch from the inner selection to the outer merge block, past the inner one */
COMPUTES_AND_HAS(leaving_an_outer_selection, BODY("%a = OpUGreaterThan %bool %x %u2\n%b = OpUGreaterThan %bool %x %u7\nOpSelectionMerge %outer None\n"
         "OpBranchConditional %a %one %outer\n%one = OpLabel\nOpSelectionMerge %inner None\nOpBranchConditional %b %two %three\n"
         "%two = OpLabel\n%v = OpIMul %uint %x %u3\nOpBranch %outer\n%three = OpLabel\nOpBranch %inner\n%inner = OpLabel\n"
         "%w = OpIAdd %uint %x %u10\nOpBranch %outer\n%outer = OpLabel\n%y = OpPhi %uint %u5 %entry %v %two %w %inner\n" STORE),
         x > 7 ? x * 3 : x > 2 ? x + 10 : 5,
         {VYRE_OP_leave, 1})

TEST(negated_conditions_exchange_the_arms)
{
  /* `or` and `implies` as front ends write them: the condition is constant on the edge that skips the other operand, and
   * unchanged after the merge */
  vyre_module *m = run(BODY("%c = OpUGreaterThan %bool %x %u4\n%n = OpLogicalNot %bool %c\nOpSelectionMerge %m1 None\n"
                            "OpBranchConditional %n %a1 %m1\n%a1 = OpLabel\n%d = OpUGreaterThan %bool %i %u3\nOpBranch %m1\n%m1 = OpLabel\n"
                            "%p = OpPhi %bool %c %entry %d %a1\nOpSelectionMerge %m2 None\nOpBranchConditional %c %a2 %m2\n%a2 = OpLabel\n"
                            "%e = OpUGreaterThan %bool %i %u5\nOpBranch %m2\n%m2 = OpLabel\n%q = OpPhi %bool %e %a2 %n %m1\n"
                            "OpSelectionMerge %m3 None\nOpBranchConditional %n %a3 %b3\n%a3 = OpLabel\n%v = OpIMul %uint %x %u10\n"
                            "OpBranch %m3\n%b3 = OpLabel\n%w = OpIMul %uint %i %u7\nOpBranch %m3\n%m3 = OpLabel\n"
                            "%r = OpPhi %uint %v %a3 %w %b3\n%ps = OpSelect %uint %p %u1 %u0\n%qs = OpSelect %uint %q %u2 %u0\n"
                            "%pq = OpIAdd %uint %ps %qs\nOpBranch %tail\n%tail = OpLabel\n%z = OpPhi %bool %c %m3\n%zs = OpSelect %uint %z %u4 %u0\n"
                            "%rz = OpIAdd %uint %r %zs\n%y = OpIAdd %uint %rz %pq\n" STORE));
  const vyre_view *v = vyre_module_view(m);
  uint32_t literals = 0;
  EXPECT((x > 4 || i > 3 ? 1u : 0u) + (x <= 4 || i > 5 ? 2u : 0u) + (x > 4 ? i * 7 + 4 : x * 10));
  assert_int_equal(import_count(m, VYRE_OP_if), 3);
  for (uint32_t row = 1; row < v->rows; row++) {
    const uint32_t op = VYRE_ROW_OP(v->op[row]);
    assert_false(op == VYRE_OP_if && VYRE_ROW_OP(v->op[v->a[row]]) == VYRE_OP_not);
    if (op == VYRE_OP_set && VYRE_ROW_OP(v->op[v->b[row]]) == VYRE_OP_const)
      literals += v->imm[v->b[row]];
  }
  assert_int_equal(literals, 2);
  vyre_module_destroy(m);
}

/* The arm without rows is the second one. */
TEST(a_single_arm_is_the_first_one)
{
  vyre_module *m = run(BODY("OpStore %px %x\n%c = OpUGreaterThan %bool %x %u4\n%n = OpLogicalNot %bool %c\nOpSelectionMerge %m None\n"
                            "OpBranchConditional %n %a %m\n%a = OpLabel\nOpStore %px %u5\nOpBranch %m\n%m = OpLabel\n"
                            "%y = OpLoad %uint %px\n" STORE));
  const vyre_view *v = vyre_module_view(m);
  EXPECT(x);
  for (uint32_t row = 1; row < v->rows; row++)
    if (VYRE_ROW_OP(v->op[row]) == VYRE_OP_if)
      assert_true(v->first[v->first[row]] != 0 && v->first[v->last[row]] == 0);
  vyre_module_destroy(m);
}

COMPUTES(both_arms_are_one_block, BODY("%a = OpUGreaterThan %bool %x %u2\n%b = OpUGreaterThan %bool %x %u7\nOpSelectionMerge %done None\n"
         "OpBranchConditional %a %both %both\n%both = OpLabel\n%v = OpIMul %uint %x %u3\nOpBranchConditional %b %done %more\n"
         "%more = OpLabel\nOpBranch %done\n%done = OpLabel\n%y = OpPhi %uint %v %both %u5 %more\n" STORE),
         x > 7 ? x * 3 : 5)

TEST(a_value_used_after_its_loop)
{
  vyre_module *m = run(BODY("OpBranch %head\n%head = OpLabel\n%k = OpPhi %uint %u0 %entry %k1 %next\n%sq = OpIMul %uint %k %k\n"
                            "OpLoopMerge %done %next None\nOpBranch %body\n%body = OpLabel\n%add = OpIAdd %uint %sq %i\n"
                            "%c = OpUGreaterThan %bool %add %x\nOpBranchConditional %c %done %next\n%next = OpLabel\n%k1 = OpIAdd %uint %k %u1\n"
                            "OpBranch %head\n%done = OpLabel\n%t = OpIMul %uint %add %u10\n%w = OpIAdd %uint %t %sq\n"
                            "%y = OpBitwiseXor %uint %w %sq\n" STORE));
  for (uint32_t i = 0; i < N; i++) {
    uint32_t k = 0;
    while (k * k + i <= in[i])
      k++;
    assert_int_equal(out[i], ((k * k + i) * 10 + k * k) ^ (k * k));
  }
  assert_int_equal(import_count(m, VYRE_OP_set), 4); /* %k before and in the loop, and both values that are used after it */
  vyre_module_destroy(m);
}

COMPUTES(a_case_falls_into_the_next, BODY("%sel = OpUMod %uint %x %u5\nOpSelectionMerge %done None\nOpSwitch %sel %def 0 %c0 1 %c1 3 %done\n"
         "%c0 = OpLabel\n%v0 = OpIAdd %uint %x %u7\nOpBranch %c1\n"
         "%def = OpLabel\nOpBranch %done\n"
         "%c1 = OpLabel\n%v1 = OpPhi %uint %x %entry %v0 %c0\n%w1 = OpIMul %uint %v1 %u3\nOpBranch %done\n"
         "%done = OpLabel\n%y = OpPhi %uint %w1 %c1 %u4 %def %i %entry\n" STORE),
         x % 5 == 0 ? (x + 7) * 3 : x % 5 == 1 ? x * 3 : x % 5 == 3 ? i : 4)

COMPUTES(default_falls_into_a_case, BODY("%sel = OpUMod %uint %x %u5\nOpSelectionMerge %done None\nOpSwitch %sel %def 1 %c1 2 %c2\n"
         "%def = OpLabel\n%d = OpIAdd %uint %x %u2\nOpBranch %c2\n%c2 = OpLabel\n%p2 = OpPhi %uint %i %entry %d %def\n"
         "%w2 = OpIMul %uint %p2 %u3\nOpBranch %done\n%c1 = OpLabel\nOpBranch %done\n"
         "%done = OpLabel\n%y = OpPhi %uint %w2 %c2 %u1 %c1\n" STORE),
         x % 5 == 1 ? 1 : x % 5 == 2 ? i * 3 : (x + 2) * 3)

COMPUTES(falling_from_a_nested_construct, BODY("%sel = OpUMod %uint %x %u3\n%big = OpUGreaterThan %bool %x %u5\nOpSelectionMerge %done None\nOpSwitch %sel %done 0 %c0 1 %c1\n"
         "%c0 = OpLabel\nOpSelectionMerge %join None\nOpBranchConditional %big %yes %join\n%yes = OpLabel\n%p = OpIAdd %uint %x %u10\nOpBranch %c1\n"
         "%join = OpLabel\n%q = OpIAdd %uint %x %u1\nOpBranch %done\n"
         "%c1 = OpLabel\n%v1 = OpPhi %uint %x %entry %p %yes\n%w1 = OpIMul %uint %v1 %u3\nOpBranch %done\n"
         "%done = OpLabel\n%y = OpPhi %uint %u4 %entry %q %join %w1 %c1\n" STORE),
         x % 3 == 0 ? (x > 5 ? (x + 10) * 3 : x + 1) : x % 3 == 1 ? x * 3 : 4)

TEST(mixed_signedness)
{
  vyre_module *m = run(BODY("%s = OpBitcast %int %x\n%a = OpIAdd %uint %s %in7\n%b = OpSDiv %uint %a %i1\n%d = OpShiftRightArithmetic %int %a %u1\n"
                            "%lt = OpSLessThan %bool %a %u0\n%e = OpExtInst %uint %glsl SAbs %a\n%f = OpExtInst %int %glsl UMin %d %u5\n"
                            "%g = OpSelect %uint %lt %e %b\n%h = OpIMul %uint %g %u10\n%y = OpIAdd %uint %h %f\n" STORE));
  for (uint32_t i = 0; i < N; i++) {
    const int32_t a = (int32_t)in[i] - 7;
    const uint32_t d = (uint32_t)(a >> 1), f = d < 5 ? d : 5;
    assert_int_equal(out[i], (uint32_t)(a < 0 ? -a : a) * 10 + f);
  }
  vyre_module_destroy(m);
}

TEST(saturation_and_differences)
{
  vyre_module *m = run("OpCapability IntegerFunctions2INTEL\nOpExtension \"SPV_INTEL_shader_integer_functions2\"\n" HEAD(
      SIZE, "", "%lots = OpConstant %int 268435456\n") BEGIN LOAD
      "%big = OpISub %uint %x %u7\n%s = OpBitcast %int %big\n%a = OpUAddSatINTEL %uint %big %u3\n%b = OpUSubSatINTEL %uint %x %u5\n"
      "%c = OpAbsUSubINTEL %uint %x %u4\n%d = OpAbsISubINTEL %uint %s %i1\n%e = OpIMul %int %s %lots\n"
      "%f = OpIAddSatINTEL %int %e %e\n%g = OpISubSatINTEL %int %i1 %f\n%h = OpBitwiseXor %uint %a %g\n%k = OpIMul %uint %b %u10\n"
      "%l = OpIAdd %uint %k %c\n%n = OpIMul %uint %l %u10\n%o = OpIAdd %uint %n %d\n%y = OpIAdd %uint %o %h\n" STORE);
  for (uint32_t i = 0; i < N; i++) {
    const uint32_t x = in[i], a = x < 7 && x >= 4 ? UINT32_MAX : x - 4, b = x > 5 ? x - 5 : 0, c = x < 4 ? 4 - x : x - 4;
    const int64_t e = (int32_t)((x - 7) * 268435456), twice = 2 * e;
    const int64_t f = twice > INT32_MAX ? INT32_MAX : twice < INT32_MIN ? INT32_MIN : twice;
    const int64_t g = 1 - f > INT32_MAX ? INT32_MAX : 1 - f;
    const uint32_t d = x < 8 ? 8 - x : x - 8;
    assert_int_equal(out[i], (b * 10 + c) * 10 + d + (a ^ (uint32_t)g));
  }
  assert_int_equal(import_count(m, VYRE_OP_sabsdiff), 1);
  vyre_module_destroy(m);
}

TEST(composites)
{
  vyre_module *m = run(HEAD(SIZE, "", "%st = OpTypeStruct %uint %v2\n%len = OpConstant %uint 2\n%arr = OpTypeArray %st %len\n%null = OpConstantNull %arr\n"
                                      "%v2c = OpConstantComposite %v2 %u3 %u4\n%stc = OpConstantComposite %st %u7 %v2c\n%bv = OpTypeVector %bool 2\n"
                                      "%fs = OpTypePointer Function %arr\n%fst = OpTypePointer Function %st\n")
                         BEGIN "%var = OpVariable %fs Function %null\n" LOAD
                         "%v = OpCompositeConstruct %v2 %x %i\n%w = OpCompositeConstruct %v3 %v %u5\n%s = OpCompositeInsert %st %v %stc 1\n"
                         "%a0 = OpCompositeInsert %arr %s %null 1\n%a = OpCompositeInsert %arr %u10 %a0 1 1 0\n%p1 = OpAccessChain %fst %var %u1\n"
                         "OpStore %var %a\n%sl = OpLoad %st %p1\n%c = OpULessThan %bool %x %u5\n%sel = OpSelect %st %c %sl %stc\n"
                         "%e0 = OpCompositeExtract %uint %sel 1 0\n%e1 = OpCompositeExtract %uint %sel 1 1\n%e2 = OpCompositeExtract %uint %a 0 0\n"
                         "%sh = OpVectorShuffle %v3 %v %w 1 4 3\n%d = OpVectorExtractDynamic %uint %sh %u2\n%ins = OpVectorInsertDynamic %v2 %v %u1 %u0\n"
                         "%f = OpCompositeExtract %uint %ins 0\n%copy = OpCopyObject %st %sel\n%e3 = OpCompositeExtract %uint %copy 0\n%un = OpUndef %uint\n"
                         "%z = OpIMul %uint %un %u0\n%t0 = OpIMul %uint %e0 %u10\n%t1 = OpIAdd %uint %t0 %e1\n%t2 = OpIAdd %uint %t1 %e2\n"
                         "%t3 = OpIMul %uint %t2 %u10\n%t4 = OpIAdd %uint %t3 %d\n%t5 = OpIMul %uint %t4 %u10\n%t6 = OpIAdd %uint %t5 %f\n%t7 = OpIAdd %uint %t6 %z\n"
                         "%y = OpIAdd %uint %t7 %e3\n" STORE);
  /* sel = {7, (x < 5 ? (10, i) : (3, 4))}; sh = (i, w.z = 5 ... lanes of (v, w)) */
  EXPECT(((x < 5 ? 10 * 10 + i : 34) * 10 + i) * 10 + 1 + 7);
  assert_int_equal(import_count(m, VYRE_OP_var), 1); /* of the OpUndef */
  vyre_module_destroy(m);
}

COMPUTES(specialization_operations, HEAD("OpExecutionModeId %main LocalSizeId %ssize %u1 %u1\n", "OpDecorate %s SpecId 5\nOpDecorate %b SpecId 6\nOpDecorate %s0 SpecId 7\n",
         "%s = OpSpecConstant %uint 4\n%s0 = OpSpecConstant %int -3\n%b = OpSpecConstantTrue %bool\n%ssize = OpSpecConstantOp %uint Select %b %s %u1\n"
         "%s2 = OpSpecConstantOp %uint IMul %s %u3\n%sv = OpSpecConstantComposite %v2 %s %s2\n%s3 = OpSpecConstantOp %uint CompositeExtract %sv 1\n"
         "%sc = OpSpecConstantOp %bool SLessThan %s0 %i1\n%sn = OpSpecConstantOp %int SNegate %s0\n")
         BEGIN LOAD "%t = OpIAdd %uint %x %s3\n%t1 = OpSelect %uint %sc %t %u0\n%y = OpIAdd %uint %t1 %sn\n" STORE,
         x + 12 + 3)

TEST(byte_order_and_alignment)
{
  vyre_bytes words = import_assemble(BODY("%y = OpIMul %uint %x %u3\n" STORE)), swapped = {0}, odd = {0};
  for (size_t k = 0; k < words.size; k++) {
    const vyre_status status = vyre_bytes_append(&swapped, words.data + (k ^ 3), 1);
    assert_true(status == VYRE_OK);
  }
  assert_true(vyre_spirv_is(words.data, words.size) && vyre_spirv_is(swapped.data, swapped.size));
  assert_false(vyre_spirv_is("GLSL", 4));
  assert_false(vyre_spirv_is(words.data, 3));
  vyre_module_destroy(run_words(&swapped));
  EXPECT(x * 3);
  assert_true(vyre_bytes_append(&odd, " ", 1) == VYRE_OK && vyre_bytes_append(&odd, words.data, words.size) == VYRE_OK);
  vyre_bytes view = {.data = odd.data + 1, .size = words.size};
  vyre_module_destroy(run_words(&view));
  EXPECT(x * 3);
  vyre_bytes_free(&odd);
  vyre_bytes_free(&words);
  vyre_bytes_free(&swapped);
}

/* x is the value before the atomics */
COMPUTES(atomics_count_up_and_down, BODY("%a = OpAtomicIIncrement %uint %px %u1 %u0\n%b = OpAtomicIDecrement %uint %px %u1 %u0\n"
         "%c = OpAtomicIDecrement %uint %px %u1 %u0\n%d = OpLoad %uint %px\n%e = OpIMul %uint %a %u10\n"
         "%f = OpIAdd %uint %e %b\n%g = OpIMul %uint %f %u10\n%h = OpIAdd %uint %g %c\n%j = OpIMul %uint %h %u10\n"
         "%y = OpIAdd %uint %j %d\n" STORE),
         (((x + 1) * 10 + x + 2) * 10 + x + 1) * 10 + x)

/* The older forms of modf and frexp write their second result through a pointer. */
COMPUTES(parts_of_floats_go_through_pointers, HEAD(SIZE, "",
         "%ffloat = OpTypePointer Function %float\n%fint = OpTypePointer Function %int\n%f34 = OpConstant %float 0.75\n%f4 = OpConstant %float 4\n")
         BEGIN "%vm = OpVariable %ffloat Function\n%ve = OpVariable %fint Function\n" LOAD
         "%fx = OpConvertUToF %float %x\n%f = OpFAdd %float %fx %f34\n%rest = OpExtInst %float %glsl Modf %f %vm\n"
         "%most = OpExtInst %float %glsl Frexp %f %ve\n%whole = OpLoad %float %vm\n%exp = OpLoad %int %ve\n%w = OpConvertFToU %uint %whole\n"
         "%e = OpBitcast %uint %exp\n%four = OpFMul %float %rest %f4\n%r = OpConvertFToU %uint %four\n"
         "%again = OpExtInst %float %glsl Ldexp %most %exp\n%same = OpFOrdEqual %bool %again %f\n%s = OpSelect %uint %same %u1 %u0\n"
         "%a = OpIMul %uint %w %u10\n%b = OpIAdd %uint %a %e\n%c = OpIMul %uint %b %u10\n%d = OpIAdd %uint %c %r\n%g = OpIMul %uint %d %u10\n"
         "%y = OpIAdd %uint %g %s\n" STORE,
         (((x * 10 + (x < 1 ? 0 : x < 2 ? 1 : x < 4 ? 2 : x < 8 ? 3 : 4)) * 10) + 3) * 10 + 1)

/* Scopes and semantics of barriers, without the bit that SPIR-V ignores; instructions without an effect; undefined values become
 * zero. */
TEST(barriers_remarks_and_undefined_values)
{
  vyre_module *m = run(
    "OpCapability Shader\nOpExtension \"SPV_KHR_non_semantic_info\"\n%glsl = OpExtInstImport \"GLSL.std.450\"\n"
    "%remark = OpExtInstImport \"NonSemantic.DebugPrintf\"\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\" %gid\n" SIZE
    "%text = OpString \"here\"\nOpDecorate %gid BuiltIn GlobalInvocationId\nOpDecorate %array ArrayStride 4\nOpDecorate %block Block\n"
    "OpMemberDecorate %block 0 Offset 0\nOpDecorate %in DescriptorSet 0\nOpDecorate %in Binding 0\nOpDecorate %out DescriptorSet 0\n"
    "OpDecorate %out Binding 1\n%void = OpTypeVoid\n%fn = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n%v3 = OpTypeVector %uint 3\n"
    "%pv3 = OpTypePointer Input %v3\n%gid = OpVariable %pv3 Input\n%array = OpTypeRuntimeArray %uint\n%block = OpTypeStruct %array\n"
    "%pblock = OpTypePointer StorageBuffer %block\n%in = OpVariable %pblock StorageBuffer\n%out = OpVariable %pblock StorageBuffer\n"
    "%puint = OpTypePointer StorageBuffer %uint\n%piuint = OpTypePointer Input %uint\n%u0 = OpConstant %uint 0\n%u1 = OpConstant %uint 1\n"
    "%u2 = OpConstant %uint 2\n%sem = OpConstant %uint 0x49\n%wsem = OpConstant %uint 0x108\n" BEGIN LOAD
    "%r = OpExtInst %void %remark 1 %text\nOpControlBarrier %u2 %u1 %sem\nOpMemoryBarrier %u2 %wsem\n%none = OpUndef %uint\n"
    "%nones = OpUndef %v3\n%n = OpCompositeExtract %uint %nones 1\n%s = OpIAdd %uint %x %none\n%y = OpIAdd %uint %s %n\n" STORE);
  EXPECT(x);
  const vyre_view *v = vyre_module_view(m);
  const uint32_t wanted[2] = {VYRE_ORDER(2, 1, 0x48), VYRE_ORDER(4, 2, 0x108)};
  uint32_t barriers = 0;
  for (uint32_t row = 1; row < v->rows; row++)
    if (VYRE_ROW_OP(v->op[row]) == VYRE_OP_barrier) {
      assert_true(barriers < 2);
      assert_int_equal(v->imm[row], wanted[barriers++]);
    }
  assert_int_equal(barriers, 2);
  vyre_module_destroy(m);
}
