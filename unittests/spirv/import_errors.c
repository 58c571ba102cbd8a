/* Modules that the importer refuses, with their messages, and damaged modules of all kinds.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test_allocator.h"
#include "import_support.h"

#include "vyre/verify.h"

#define MODULE "OpCapability Shader\n%glsl = OpExtInstImport \"GLSL.std.450\"\nOpMemoryModel Logical GLSL450\n"
#define ENTRY  "OpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1\n"
#define TYPES                                                                                                             \
  "%void = OpTypeVoid\n%fn = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n%bool = OpTypeBool\n%float = OpTypeFloat 32\n" \
  "%v2 = OpTypeVector %float 2\n%u0 = OpConstant %uint 0\n%u1 = OpConstant %uint 1\n%f1 = OpConstant %float 1\n%true = "  \
  "OpConstantTrue %bool\n"                                                                                                \
  "%pf = OpTypePointer Function %uint\n"
#define MAIN      "%main = OpFunction %void None %fn\n%entry = OpLabel\n"
#define END       "OpReturn\nOpFunctionEnd\n"
#define BODY(...) MODULE ENTRY TYPES MAIN __VA_ARGS__ END

/* An entry point of another stage than compute. */
#define OTHER           "OpEntryPoint Vertex %other \"other\"\n"
#define OTHER_MAIN(...) "%other = OpFunction %void None %fn\n%other_entry = OpLabel\n" __VA_ARGS__ END

#define LOOP(control)                                          \
  BODY("OpBranch %h\n%h = OpLabel\nOpLoopMerge %m %c " control \
       "\nOpBranchConditional %true %m %c\n%c = OpLabel\nOpBranch %h\n%m = OpLabel\n")

/* A loop whose continuing region, which has two predecessors, may branch to `label`. */
#define CONTINUES_TO(label)                                                                               \
  "%h = OpLabel\nOpLoopMerge %m %c None\nOpBranchConditional %true %b1 %b2\n%b1 = OpLabel\nOpBranch %c\n" \
  "%b2 = OpLabel\nOpBranchConditional %true %m %c\n%c = OpLabel\nOpBranchConditional %true " label " %h\n"

/* A buffer %b whose only member has the decoration `how`, and a pointer %p to it. */
#define DECLARED(how, ...)                                                                                    \
  MODULE ENTRY "OpDecorate %s BufferBlock\nOpMemberDecorate %s 0 Offset 0\nOpMemberDecorate %s 0 " how        \
               "\nOpDecorate %b DescriptorSet 0\nOpDecorate %b Binding 0\n" TYPES                             \
               "%s = OpTypeStruct %uint\n%ps = OpTypePointer Uniform %s\n%pu = OpTypePointer Uniform %uint\n" \
               "%b = OpVariable %ps Uniform\n" MAIN "%p = OpAccessChain %pu %b %u0\n" __VA_ARGS__ END

/* A struct %s of a vec2 and a uint, which is accessed only through a pointer. */
#define MODULE_FAR(layout)                                                                                              \
  "OpCapability Shader\nOpCapability PhysicalStorageBufferAddresses\nOpExtension \"SPV_KHR_physical_storage_buffer\"\n" \
  "OpMemoryModel PhysicalStorageBuffer64 GLSL450\n" ENTRY "OpDecorate %s Block\n" layout                                \
  "OpDecorate %ps ArrayStride 16\nOpMemberDecorate %b 0 Offset 0\nOpDecorate %b Block\n" TYPES                          \
  "%s = OpTypeStruct %v2 %uint\n%ps = OpTypePointer PhysicalStorageBuffer %s\n%b = OpTypeStruct %ps\n"                  \
  "%pb = OpTypePointer PushConstant %b\n%push = OpVariable %pb PushConstant\n%pps = OpTypePointer PushConstant %ps\n"   \
  "%pu = OpTypePointer PhysicalStorageBuffer %uint\n" MAIN                                                              \
  "%p = OpAccessChain %pps %push %u0\n%at = OpLoad %ps %p\n%m = OpAccessChain %pu %at %u1\n%l = OpLoad %uint %m Aligned 4\n" END

/* Modules that are not covered, with the reason.  They are written word for word. */
static const struct {
  const char *text, *message;
} kept[] = {
    {MODULE ENTRY "%long = OpTypeInt 128 0\n", "OpTypeInt at word 27: 128 bits are not supported"},
    {MODULE ENTRY TYPES "%pp = OpTypePointer Private %uint\n%var = OpVariable %pp Private\n"
                        "%sum = OpSpecConstantOp %uint IAdd %var %u1\n" MAIN END,
     " is not a constant"},
    {MODULE ENTRY "%quad = OpTypeFloat 128\n", "OpTypeFloat at word 27: 128 bits are not supported"},
    {BODY("%r = OpExtInst %float %glsl InterpolateAtCentroid %f1\n"), "function 76 of GLSL.std.450 is not supported"},
    {MODULE ENTRY TYPES "%pi = OpTypePointer Input %uint\n%in = OpVariable %pi Input\n" MAIN "%l = OpLoad %uint %in\n" END,
     "variable 15 of storage class 1 is not supported"},
    {MODULE
     "OpEntryPoint GLCompute %main \"main\" %in\nOpExecutionMode %main LocalSize 1 1 1\nOpDecorate %in BuiltIn DeviceIndex\n" TYPES
     "%some = OpTypeArray %uint %u1\n%pi = OpTypePointer Input %some\n%in = OpVariable %pi Input\n" MAIN
     "%l = OpLoad %some %in\n" END,
     "built-in 4438 is not supported"},
    {MODULE ENTRY "%uint = OpTypeInt 32 0\n%v = OpTypeVector %uint 5\n", "5 components are not supported"},
    {"OpCapability FPGALoopControlsINTEL\nOpExtension \"SPV_INTEL_fpga_loop_controls\"\n" LOOP("Unroll|MaxConcurrencyINTEL 4"),
     "control 0x20001 has bits that are not supported"},
    /* a violated decoration that spirv-val accepts */
    {MODULE ENTRY
     "OpDecorate %b DescriptorSet 0\nOpDecorate %b Binding 0\nOpDecorate %block Block\nOpMemberDecorate %block 0 Offset "
     "0\nOpDecorate %all ArrayStride 64\nOpMemberDecorate %each 0 Offset 0\nOpMemberDecorate %each 0 ColMajor\n"
     "OpMemberDecorate %each 0 MatrixStride 64\n" TYPES
     "%m2 = OpTypeMatrix %v2 2\n%each = OpTypeStruct %m2\n%all = OpTypeRuntimeArray %each\n%block = OpTypeStruct %all\n"
     "%pb = OpTypePointer StorageBuffer %block\n%b = OpVariable %pb StorageBuffer\n%pm = OpTypePointer StorageBuffer "
     "%float\n" MAIN "%p = OpAccessChain %pm %b %u0 %u1 %u0 %u0 %u0\n%l = OpLoad %float %p\n" END,
     "an array of stride 64 whose elements of 72 bytes overlap is not supported"},
    {MODULE_FAR("OpMemberDecorate %s 0 Offset 0\nOpMemberDecorate %s 1 Offset 9\n"),
     "with a member at offset 9, not a multiple of its size, is not supported"},
    {MODULE_FAR("OpMemberDecorate %s 0 Offset 0\nOpMemberDecorate %s 1 Offset 4\n"),
     "with members that overlap (offsets 0, 4) is not supported"},
    /* several stages */
    {MODULE ENTRY "OpEntryPoint Vertex %main \"v\"\n" TYPES MAIN END, "is an entry point of several stages"},
    {MODULE ENTRY OTHER
     "OpDecorate %g RelaxedPrecision\n%g = OpDecorationGroup\nOpGroupDecorate %g %u1\n" TYPES MAIN END OTHER_MAIN(),
     "groups of decorations are not supported in a module of several stages"},
    {"OpCapability Int64\n" MODULE ENTRY OTHER TYPES MAIN END OTHER_MAIN(
         "OpSelectionMerge %m None\nOpSwitch %u0 %m 1 %m\n%m = OpLabel\n"),
     "OpSwitch at word 90: not supported in other stages than compute"},
    {MODULE ENTRY "OpEntryPoint MeshNV %other \"mesh\"\nOpDecorate %size BuiltIn WorkgroupSize\n" TYPES
                  "%v3 = OpTypeVector %uint 3\n%size = OpConstantComposite %v3 %u1 %u1 %u1\n" MAIN END OTHER_MAIN(
                      "%x = OpCompositeExtract %uint %size 0\n"),
     "a WorkgroupSize that several stages share is not supported"},
    /* entry points whose validity is not checked here */
    {MODULE "OpEntryPoint Vertex %main \"main\"\n" TYPES MAIN END,
     "OpEntryPoint at word 16: no entry point is a compute shader"},
    {MODULE "OpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 8 0 1\n" TYPES MAIN END,
     "dimension 1 of the workgroup is 0, but must be at least 1"},
    {MODULE ENTRY TYPES "%main = OpFunction %void None %fn\nOpFunctionEnd\n", "a function without a body"},
    {BODY("OpBranch %entry\n%l = OpLabel\n"), "does not follow the rules of structured control flow"},
    {BODY("OpBranchConditional %true %a %b\n%a = OpLabel\nOpBranch %c\n%b = OpLabel\nOpBranch %c\n%c = OpLabel\n"),
     "does not follow the rules of structured control flow"},
    /* from a loop's continuing region to the merge of a selection or a loop around it */
    {BODY("OpSelectionMerge %out None\nOpBranchConditional %true %a %out\n%a = OpLabel\nOpBranch %h\n" CONTINUES_TO(
         "%out") "%m = OpLabel\nOpBranch %out\n%out = OpLabel\n"),
     "does not follow the rules of structured control flow"},
    {BODY("OpBranch %o\n%o = OpLabel\nOpLoopMerge %out %oc None\nOpBranchConditional %true %h %out\n" CONTINUES_TO(
         "%out") "%m = OpLabel\nOpBranch %oc\n%oc = OpLabel\nOpBranch %o\n%out = OpLabel\n"),
     "does not follow the rules of structured control flow"},
    {BODY("OpSwitch %u0 %a 1 %b\n%a = OpLabel\nOpReturn\n%b = OpLabel\n"), "no OpSelectionMerge precedes it"},
    {MODULE ENTRY TYPES "%u3 = OpConstant %uint 3\n" MAIN "%a = OpGroupNonUniformIAdd %uint %u3 ClusteredReduce %u1 %u3\n" END,
     "a cluster size of 3, which is not a power of two"},
    {MODULE ENTRY TYPES "%u3 = OpConstant %uint 3\n" MAIN "%a = OpGroupNonUniformQuadSwap %uint %u3 %u1 %u3\n" END,
     "its direction is not a constant from 0 to 2"},
    {BODY("OpMemoryBarrier %u1 %f1\n"), "are not constants"},
    {MODULE ENTRY TYPES "%u300 = OpConstant %uint 300\n" MAIN "OpMemoryBarrier %u300 %u0\n" END, "scope 300 is not supported here"},
    {MODULE ENTRY TYPES "%c = OpConstantComposite %v2 %f1\n" MAIN END, "1 constituents, but type"},
    {MODULE ENTRY TYPES
     "%u4 = OpConstant %uint 4\n%a4 = OpTypeArray %uint %u4\n%pa = OpTypePointer Function %a4\n%null = OpConstantNull "
     "%pa\n%in = OpUndef %uint\n" MAIN "%v = OpVariable %pa Function %null\n%p = OpAccessChain %pf %v %in\n"
     "%i = OpLoad %uint %p\n" END,
     "does not have the type of the variable"},
    {DECLARED("NonWritable", "OpStore %p %u1\n"), "OpStore at word 111: writes memory that is declared NonWritable"},
    {DECLARED("NonWritable", "%l = OpAtomicIAdd %uint %p %u1 %u0 %u1\n"), "writes memory that is declared NonWritable"},
};

static const struct {
  const char *text, *message;
} refused[] = {
    {MODULE ENTRY OTHER TYPES MAIN END, "OpEntryPoint at word 27: id 3 is not a function"},
    {MODULE ENTRY OTHER TYPES MAIN END "%other = OpFunction %void None %fn\n%l = OpLabel\nOpReturn\n", "no OpFunctionEnd follows"},
    {BODY("OpKill\n%l = OpLabel\n"), "OpKill at word"},
    /* structure */
    {BODY("OpMemoryModel Logical GLSL450\n"), "OpMemoryModel at word"},
    {MODULE TYPES MAIN END, "no entry point"},
    {MODULE ENTRY TYPES, "no function"},
    {MODULE ENTRY TYPES MAIN "OpReturn\n", "OpFunction at word 64: no OpFunctionEnd follows"},
    {MODULE ENTRY TYPES MAIN MAIN, "a function inside of another function"},
    {BODY("OpReturn\n"), "is outside of a block"},
    {MODULE ENTRY TYPES MAIN "OpFunctionEnd\n", "OpFunction at word 64: the last block has no terminator"},
    {BODY("%l = OpLabel\n"), "the block before it has no terminator"},
    {BODY("OpSelectionMerge %u0 None\nOpBranchConditional %true %a %a\n%a = OpLabel\n"), "is not a label"},
    {BODY("OpSelectionMerge %a None\nOpNop\nOpBranch %a\n%a = OpLabel\n"), "is not right before the end of its block"},
    {LOOP("Unroll|DontUnroll"), "loop control 0x3 both requests and forbids unrolling"},
    {LOOP("DontUnroll|PeelCount 2"), "loop control 0x82 both requests and forbids unrolling"},
    {LOOP("MinIterations|IterationMultiple 3 0"), "an iteration multiple of 0"},
    {BODY("OpBranch %a\n%a = OpLabel\n%p = OpPhi %uint %u0 %a\n"), "no value for the edge from label"},
    {BODY("OpNop\n%p = OpPhi %uint %u0 %entry\n"), "is not at the start of its block"},
    {MODULE ENTRY TYPES MAIN "%c = OpFunctionCall %void %main\n" END, "recursion is not allowed"},
    {MODULE ENTRY TYPES MAIN "%c = OpFunctionCall %void %f\n" END
                             "%f = OpFunction %void None %fn\n%l = OpLabel\n%d = OpFunctionCall %void %g\n" END
                             "%g = OpFunction %void None %fn\n%k = OpLabel\n%e = OpFunctionCall %void %f\n" END,
     "calls itself"},
    /* ids */
    {BODY("%a = OpIAdd %uint %u0 %b\n%b = OpIAdd %uint %u0 %u1\n"), "value 16 is used before it is defined"},
    {BODY("%a = OpIAdd %uint %a %u1\n"), "is used before it is defined"},
    {BODY("%a = OpIAdd %uint %u0 %void\n"), "is not a value"},
    {BODY("%a = OpIAdd %u0 %u0 %u1\n"), "is not a type"},
    {BODY("%a = OpLoad %uint %u0\n"), "is not a pointer to a variable"},
    {BODY("%u0 = OpIAdd %uint %u1 %u1\n"), "is defined a second time"},
    {MODULE ENTRY "%a = OpTypeArray %uint %u1\n", "is not defined before it is used"},
    {MODULE ENTRY "%a = OpTypeStruct %a\n", "is not defined before it is used"},
    /* types */
    {BODY("%a = OpIAdd %float %f1 %f1\n"), "is not valid for this instruction"},
    {BODY("%a = OpFAdd %float %f1 %u1\n"), "the type of operand 1 is not valid for this instruction"},
    {BODY("%a = OpULessThan %uint %u0 %u1\n"), "is not valid for this instruction"},
    {BODY("%a = OpBitcast %v2 %u1\n"), "the type of an operand is not valid for this instruction"},
    {MODULE ENTRY TYPES "%u3 = OpConstant %uint 3\n" MAIN "%a = OpGroupNonUniformAll %bool %u3 %u1\n" END,
     "the type of an operand is not valid for this instruction"},
    {MODULE ENTRY TYPES "%u3 = OpConstant %uint 3\n" MAIN "%a = OpGroupNonUniformFAdd %float %u3 Reduce %true\n" END,
     "the type of the operand is not valid for this instruction"},
    {MODULE ENTRY TYPES "%u3 = OpConstant %uint 3\n" MAIN "%a = OpGroupNonUniformBallotBitCount %uint %u3 Reduce %u1\n" END,
     "the type of an operand is not valid for this instruction"},
    {BODY("%v = OpVariable %pf Function\nOpStore %v %f1\n"), "does not have the type that pointer"},
    {BODY("%v = OpVariable %pf Function\n%a = OpLoad %float %v\n"), "is not the type that pointer"},
    {BODY("%a = OpCompositeConstruct %v2 %f1\n"), "1 components for a vector of 2"},
    {BODY("%a = OpCompositeConstruct %v2 %f1 %f1\n%b = OpCompositeExtract %float %a 2\n"),
     "index 2 is not valid for the indexed type"},
    {BODY("%a = OpCompositeConstruct %v2 %f1 %f1\n%b = OpVectorShuffle %v2 %a %a 0 4\n"), "component 4 of vectors of 2 and 2"},
    {BODY("%a = OpSelect %float %u0 %f1 %f1\n"), "its condition is not a bool"},
    {BODY("%a = OpCompositeConstruct %v2 %f1 %f1\n%b = OpExtInst %v2 %glsl Cross %a %a\n"), "the type of the result or of an operand is not valid"},
    {MODULE ENTRY TYPES "%ff = OpTypeFunction %float\n" MAIN "%c = OpFunctionCall %float %f\n" END
                        "%f = OpFunction %float None %ff\n%l = OpLabel\nOpReturnValue %u1\nOpFunctionEnd\n",
     "does not have the result type of function"},
    {MODULE ENTRY "%uint = OpTypeInt 32 0\n%m = OpTypeMatrix %uint 2\n", "is not a type for its components"},
    {MODULE ENTRY TYPES "%a = OpTypeArray %uint %u0\n" MAIN END, "a length of 0"},
    {MODULE ENTRY TYPES "%s = OpSpecConstantOp %uint IAdd %u0 %x\n" MAIN "%x = OpIAdd %uint %u0 %u1\n" END,
     "is not defined before it is used"},
    {MODULE ENTRY TYPES "%f2 = OpTypeFunction %void %uint\n%main = OpFunction %void None %f2\n%e = OpLabel\n" END,
     "its parameters and result do not match its type"},
};

TEST(invalid_modules_are_refused_with_the_instruction)
{
  int wrong = 0;
  for (size_t k = 0; k < sizeof(refused) / sizeof(*refused); k++)
    wrong += !import_refuses_assembly(refused[k].text, refused[k].message);
  assert_int_equal(wrong, 0);
}

TEST(uncovered_modules_are_kept_word_for_word)
{
  int wrong = 0;
  for (size_t k = 0; k < sizeof(kept) / sizeof(*kept); k++)
    wrong += !import_keeps_assembly(kept[k].text, kept[k].message);
  assert_int_equal(wrong, 0);
}

/* The names and workgroup sizes of programs in a kept module, which are needed to run it. */
TEST(kept_programs_have_names_and_sizes)
{
  static const struct {
    const char *modes, *decorations, *constants;
    uint32_t size[3];
  } cases[] = {
      {"OpExecutionMode %main LocalSize 8 4 2\n", "", "", {8, 4, 2}},
      {"OpExecutionModeId %main LocalSizeId %u8 %u4 %none\n", "", "", {8, 4, 1}},
      {"OpExecutionMode %main LocalSize 8 4 2\n",
       "OpDecorate %size BuiltIn WorkgroupSize\nOpDecorate %s SpecId 3\n",
       "%s = OpSpecConstant %uint 16\n%size = OpSpecConstantComposite %v3 %s %u4 %u8\n",
       {16, 4, 8}},
      {"OpExecutionMode %main LocalSize 1 1 1\n",
       "OpDecorate %size BuiltIn WorkgroupSize\n",
       "%size = OpConstantComposite %v3 %u4 %u4 %u8\n",
       {4, 4, 8}},
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    char text[2048];
    snprintf(text, sizeof text,
             "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint Fragment %%other \"draws\"\n"
             "OpEntryPoint GLCompute %%main \"computes\"\nOpExecutionMode %%other OriginUpperLeft\n%s%s%%void = OpTypeVoid\n"
             "%%fn = OpTypeFunction %%void\n%%uint = OpTypeInt 32 0\n%%v3 = OpTypeVector %%uint 3\n%%u8 = OpConstant %%uint 8\n"
             "%%u4 = OpConstant %%uint 4\n%%none = OpConstant %%uint 0\n%s%%long = OpTypeInt 128 0\n"
             "%%main = OpFunction %%void None %%fn\n%%l = OpLabel\nOpReturn\nOpFunctionEnd\n%%other = OpFunction %%void None %%fn\n"
             "%%m = OpLabel\nOpReturn\nOpFunctionEnd\n",
             cases[k].modes, cases[k].decorations, cases[k].constants);
    vyre_bytes words = import_assemble(text);
    vyre_module *module = import_read(&words);
    const vyre_view *v = vyre_module_view(module);
    const uint32_t program = v->first[0];
    uint32_t workgroup = v->first[program];
    assert_int_equal(import_count(module, VYRE_OP_program), 1);
    assert_int_equal(import_count(module, VYRE_OP_verbatim), 1);
    assert_string_equal(vyre_row_name(module, (vyre_row){program}), "computes");
    while (VYRE_ROW_OP(v->op[workgroup]) != VYRE_OP_workgroup)
      workgroup = v->next[workgroup];
    const uint32_t rows[3] = {v->a[workgroup], v->b[workgroup], v->c[workgroup]};
    for (uint32_t i = 0; i < 3; i++)
      assert_int_equal(v->imm[rows[i]], cases[k].size[i]);
    vyre_module_destroy(module);
    ((uint32_t *)(void *)words.data)[words.size / 4 - 1] += 1u << 16; /* an instruction that exceeds the module */
    assert_true(import_refuses(&words, ""));
    vyre_bytes_free(&words);
  }
}

TEST(remarks_have_source_lines)
{
  assert_true(import_keeps_assembly(MODULE ENTRY "%file = OpString \"dir/a.comp\"\n" TYPES MAIN
                                                 "OpLine %file 42 7\n%a = OpExtInst %float %glsl InterpolateAtCentroid %f1\n" END,
                                    "(dir/a.comp:42): function 76"));
}

TEST(invalid_headers_are_refused)
{
  enum { MAGIC = 0x07230203, TYPE_VOID = 2u << 16 | 19 };
  static const struct {
    uint32_t magic, version, bound, after[2]; /* the header */
    size_t size;
    const char *message;
  } cases[] = {
      {MAGIC, 0x10000, 10, {0}, 8, "a SPIR-V module of 2 words is truncated, because the header has 5"},
      {MAGIC, 0x10000, 10, {0}, 4, "a SPIR-V module of 1 word is truncated"},
      {MAGIC, 0x10000, 10, {0}, 0, "not a SPIR-V module"},
      {MAGIC, 0x10000, 10, {0}, 21, "is not a multiple of 4"},
      {MAGIC, 0x10000, 10, {0}, 20, "no entry point"},
      {MAGIC, 0x10700, 10, {0}, 20, "SPIR-V version word 0x00010700 is not supported"},
      {MAGIC, 0x10600, 0, {0}, 20, "an id bound of 0"},
      {MAGIC, 0x10600, 0x400001, {0}, 20, "an id bound of 4194305"},
      {MAGIC, 0x10600, 0x400000, {0}, 20, "no entry point"}, /* the greatest bound costs nothing */
      {MAGIC, 0x10600, 0x400000, {TYPE_VOID, 1}, 32, "no entry point"},
      {MAGIC, 0x10600, 10, {0x00040011, 0}, 32, "OpCapability at word 5: 4 words, but 3 are left of the module"},
      {MAGIC, 0x10600, 10, {0x00000011, 0}, 32, "OpCapability at word 5: 0 words"},
      {MAGIC, 0x10600, 10, {0x0004ffff, 0}, 32, "an unknown instruction at word 5: 4 words, but 3 are left"},
      {0x12345678, 0x10600, 10, {0}, 32, "not a SPIR-V module"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    uint32_t words[8] = {cases[k].magic, cases[k].version, 0, cases[k].bound, 0, cases[k].after[0], cases[k].after[1], 0};
    const vyre_bytes bytes = {.data = (char *)words, .size = cases[k].size};
    assert_true(import_refuses(&bytes, cases[k].message));
  }
}

TEST(nesting_of_calls_and_constructs_has_a_limit)
{
  vyre_bytes text = {0};
  PUT(&text, "%s", MODULE ENTRY TYPES MAIN);
  for (int k = 0; k < 1200; k++)
    PUT(&text, "OpSelectionMerge %%m%d None\nOpBranchConditional %%true %%t%d %%m%d\n%%t%d = OpLabel\n", k, k, k, k);
  for (int k = 1199; k >= 0; k--)
    PUT(&text, "OpBranch %%m%d\n%%m%d = OpLabel\n", k, k);
  PUT(&text, END);
  assert_true(import_keeps_assembly(text.data, "constructs and calls nest more than 1000 deep"));
  text.size = 0;
  PUT(&text, "%s", MODULE ENTRY TYPES MAIN "%c = OpFunctionCall %void %g0\n" END);
  for (int k = 0; k < 1200; k++)
    PUT(&text, "%%g%d = OpFunction %%void None %%fn\n%%l%d = OpLabel\n%%c%d = OpFunctionCall %%void %%g%d\n" END, k, k, k, k + 1);
  PUT(&text, "%%g1200 = OpFunction %%void None %%fn\n%%l1200 = OpLabel\n" END);
  assert_true(import_keeps_assembly(text.data, "functions call each other more than 1000 deep"));
  /* Each function calls the next one twice: 2^40 calls. */
  text.size = 0;
  PUT(&text, "%s", MODULE ENTRY TYPES MAIN "%c = OpFunctionCall %void %g0\n" END);
  for (int k = 0; k < 40; k++)
    PUT(&text,
        "%%g%d = OpFunction %%void None %%fn\n%%l%d = OpLabel\n%%c%d = OpFunctionCall %%void "
        "%%g%d\n%%d%d = OpFunctionCall %%void %%g%d\n" END,
        k, k, k, k + 1, k, k + 1);
  PUT(&text, "%%g40 = OpFunction %%void None %%fn\n%%l40 = OpLabel\n" END);
  assert_true(import_keeps_assembly(text.data, "with its calls inlined the module would have"));
  vyre_bytes_free(&text);
}

/* Reads, seals and verifies the words, which may fail but not crash. */
static void
try_words(vyre_module *module, const uint32_t *words, uint32_t count)
{
  uint32_t *exact = malloc(count ? count * sizeof(uint32_t) : 1); /* lets a sanitizer find reads after the last word */
  assert_non_null(exact);
  memcpy(exact, words, count * sizeof(uint32_t));
  vyre_module_clear(module);
  vyre_status status = vyre_spirv_read(module, exact, count * sizeof(uint32_t), "damaged.spv");
  if (!status)
    status = vyre_module_seal(module, NULL);
  if (!status) {
    vyre_verify_errors errors = {0};
    status = vyre_verify(module, &errors);
    vyre_verify_errors_free(&errors);
  }
  vyre_status_free(status);
  free(exact);
}

static uint32_t
next_random(uint32_t *seed)
{
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 8;
}

static const char shader[] =
    "#version 450\nlayout(local_size_x = 8) in;\nlayout(constant_id = 0) const uint n = 4u;\nstruct P { vec2 a; mat2 b; uint c[3]; "
    "};\n"
    "layout(set = 0, binding = 0) buffer In { P x[]; };\nlayout(set = 0, binding = 1) buffer Out { uint y[]; };\nshared uint "
    "t[n];\nuint g;\n"
    "uint f(inout P p, uint k) { if (k > 9u) return 3u; for (uint i = 0u; i < k; i++) { if (p.c[i % 3u] == i) continue; g += i; }\n"
    "  switch (k) { case 1u: p.a.x = 1.0; case 2u: return 5u; default: do { k--; } while (k > 3u); } return k; }\n"
    "void main() { uint i = gl_GlobalInvocationID.x; P p = x[i]; t[i & 3u] = f(p, i); barrier(); x[i + 1u] = p; vec2 v = p.b * "
    "p.a;\n"
    "  y[i] = atomicAdd(t[0], g) + f(p, t[1]) + uint(v[i & 1u]) + (v.x > 1.0 && g > 3u ? 1u : 2u); }\n";

TEST(damaged_modules_do_not_crash)
{
  vyre_bytes words = import_compile(shader);
  const uint32_t count = (uint32_t)(words.size / sizeof(uint32_t));
  uint32_t *copy = malloc(words.size), seed = 1;
  vyre_module *module;
  assert_true(vyre_module_create(NULL, 1u << 20, &module) == VYRE_OK);
  for (uint32_t k = 0; k < count; k++)
    try_words(module, (const uint32_t *)(const void *)words.data, k);
  memcpy(copy, words.data, words.size);
  for (uint32_t at = 5, length; at < count; at += length) { /* shorter instructions, after which the module ends */
    length = copy[at] >> 16;
    for (uint32_t k = 1; k < length && k < 5; k++) {
      copy[at] = (copy[at] & 0xffffu) | k << 16;
      try_words(module, copy, at + k);
    }
    copy[at] = (copy[at] & 0xffffu) | length << 16;
  }
  for (uint32_t round = 0; round < 4000; round++) {
    memcpy(copy, words.data, words.size);
    for (uint32_t changes = 1 + next_random(&seed) % 3; changes; changes--) {
      const uint32_t at = 5 + next_random(&seed) % (count - 5);
      switch (next_random(&seed) % 5) {
      case 0:
        copy[at] = next_random(&seed) % copy[3];
        break; /* another id */
      case 1:
        copy[at] ^= 1u << next_random(&seed) % 32;
        break;
      case 2:
        copy[at] = copy[5 + next_random(&seed) % (count - 5)];
        break;
      case 3:
        copy[at] = (copy[at] & 0xffff0000u) | next_random(&seed) % 400;
        break; /* another instruction */
      default:
        copy[at] = next_random(&seed) % 8;
        break;
      }
    }
    try_words(module, copy, count);
  }
  vyre_module_destroy(module);
  free(copy);
  vyre_bytes_free(&words);
}

/* Every allocation fails once. */
TEST(each_allocation_may_fail)
{
  vyre_bytes words = import_compile(shader);
  bool done = false;
  for (uint32_t n = 1; !done; n++) {
    test_memory f;
    const vyre_allocator allocator = test_allocator(&f, n);
    f.sticky = true;
    vyre_module *module;
    vyre_status status = vyre_module_create(&allocator, 1u << 16, &module);
    if (!status) {
      status = vyre_spirv_read(module, words.data, words.size, "test.spv");
      done = status == VYRE_OK;
      vyre_module_destroy(module);
    }
    if (status)
      assert_non_null(strstr(vyre_status_text(status), "out of memory"));
    vyre_status_free(status);
    assert_int_equal(f.out, 0);
    assert_true(n < 5000);
  }
  vyre_bytes_free(&words);
}
