/* The module as a whole: interface, decorations, specialization, several programs, what an input gave, and what is refused.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test_allocator.h"
#include "export_support.h"

#include "vyre/text.h"

#include <spirv/unified1/spirv.h>

static const uint32_t *
words_of(const export_case *c)
{
  return (const uint32_t *)(const void *)c->code.data;
}

/* How many instructions begin with these words after the first; UINT32_MAX is any. */
static uint32_t
count_like(const export_case *c, uint32_t opcode, const uint32_t *operands, uint32_t count)
{
  uint32_t found = 0;
  const uint32_t *words = words_of(c);
  for (size_t at = 5; at < c->code.size / 4; at += words[at] >> 16) {
    bool same = (words[at] & 0xffff) == opcode && words[at] >> 16 > count;
    for (uint32_t i = 0; same && i < count; i++)
      same = operands[i] == UINT32_MAX || words[at + 1 + i] == operands[i];
    found += same;
  }
  return found;
}

static uint32_t
decorated(const export_case *c, uint32_t decoration)
{
  const uint32_t operands[2] = {UINT32_MAX, decoration};
  return count_like(c, SpvOpDecorate, operands, 2);
}

static uint32_t
member_decorated(const export_case *c, uint32_t decoration)
{
  const uint32_t operands[3] = {UINT32_MAX, UINT32_MAX, decoration};
  return count_like(c, SpvOpMemberDecorate, operands, 3);
}

/* Whether a name is in the module, as a string operand. */
static bool
has_text(const export_case *c, const char *text)
{
  return memmem(c->code.data, c->code.size, text, strlen(text) + 1) != NULL;
}

static void
expect_error(export_case *c, const char *part)
{
  vyre_bytes code = {0};
  export_must(vyre_module_status(c->module));
  export_must(vyre_module_seal(c->module, NULL));
  vyre_status status = vyre_spirv_write(c->module, 0, NULL, &code);
  assert_non_null(status);
  assert_int_equal(vyre_status_code(status), VYRE_CODE_INPUT);
  if (!strstr(vyre_status_text(status), part))
    fail_msg("'%s' is not in: %s", part, vyre_status_text(status));
  assert_int_equal(code.size, 0);
  vyre_status_free(status);
  vyre_bytes_free(&code);
  export_close(c);
}

TEST(spaces_and_decorations)
{
  for (uint32_t mode = 0; mode < 2; mode++) {
    export_case c;
    export_open(&c, mode);
    const vyre_member members[2] = {{vyre_string_intern(c.module, "scale", 5), F32, VYRE_OFFSET_AUTO, VYRE_ACCESS_NO_WRITE},
                                    {0, VYRE_TYPE(VYRE_F32, 4), VYRE_OFFSET_AUTO, 0}};
    const vyre_type_id block = vyre_type_struct(c.module, vyre_string_intern(c.module, "Params", 6), members, 2, VYRE_TYPE_BLOCK);
    const vyre_row uniform = vyre_build_buffer(&c.b, block, VYRE_SPACE_UNIFORM, VYRE_ACCESS_NO_WRITE, 2, 7);
    const vyre_row bare =
        vyre_build_buffer(&c.b, vyre_type_array(c.module, VYRE_TYPE(VYRE_F32, 4), 3, VYRE_NONE, 16), VYRE_SPACE_UNIFORM, 0, 2, 8);
    const vyre_row matrix =
        vyre_build_buffer(&c.b, vyre_type_matrix(c.module, VYRE_TYPE(VYRE_F32, 4), 4, 16, true), VYRE_SPACE_UNIFORM, 0, 2, 9);
    const vyre_row push = vyre_build_buffer(&c.b, F32, VYRE_SPACE_PUSH, 0, 0, 0);
    const vyre_row many = vyre_build_buffer(&c.b, vyre_type_array(c.module, block, 4, VYRE_NONE, 0), VYRE_SPACE_UNIFORM, 0, 3, 0);
    const vyre_row shared = vyre_build_buffer(&c.b, vyre_type_runtime_array(c.module, U32, 4), VYRE_SPACE_STORAGE,
                                              VYRE_ACCESS_COHERENT | VYRE_ACCESS_VOLATILE | VYRE_ACCESS_RESTRICT, 3, 1);
    vyre_build_buffer(&c.b, vyre_type_runtime_array(c.module, U32, 4), VYRE_SPACE_STORAGE, VYRE_ACCESS_ALIASED, 3, 1);
    vyre_row_set_name(c.module, uniform, "params", 6);
    export_output(&c, vyre_build_load(&c.b, vyre_build_at_literal(&c.b, uniform, 0), 0));
    export_output(&c, vyre_build_load(&c.b, vyre_build_at_literal(&c.b, bare, 2), 0));
    export_output(&c, vyre_build_load(&c.b, vyre_build_at_literal(&c.b, matrix, 3), 0));
    export_output(&c, vyre_build_load(&c.b, push, 0));
    const vyre_row third = vyre_build_at_literal(&c.b, many, 2);
    export_output(&c, vyre_build_load(&c.b, vyre_build_at_literal(&c.b, third, 1), 0));
    export_output(&c, vyre_build_load(&c.b, vyre_build_at_literal(&c.b, shared, 1), VYRE_ROW_VOLATILE));
    export_write(&c);
    const uint32_t set[3] = {UINT32_MAX, SpvDecorationDescriptorSet, 2}, binding[3] = {UINT32_MAX, SpvDecorationBinding, 8};
    assert_int_equal(count_like(&c, SpvOpDecorate, set, 3), 3);
    assert_int_equal(count_like(&c, SpvOpDecorate, binding, 3), 1);
    assert_int_equal(decorated(&c, SpvDecorationNonWritable), 1); /* `in`; of uniforms it says nothing */
    assert_int_equal(decorated(&c, SpvDecorationCoherent), 1);
    assert_int_equal(decorated(&c, SpvDecorationVolatile), 1);
    assert_int_equal(decorated(&c, SpvDecorationRestrict), 1);
    assert_int_equal(decorated(&c, SpvDecorationAliased), 1);
    assert_int_equal(member_decorated(&c, SpvDecorationNonWritable), 1);
    assert_int_equal(member_decorated(&c, SpvDecorationRowMajor), 1);
    assert_int_equal(member_decorated(&c, SpvDecorationMatrixStride), 1);
    assert_true(has_text(&c, "params") && has_text(&c, "Params") && has_text(&c, "scale"));
    const uint32_t load[4] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, SpvMemoryAccessVolatileMask};
    assert_int_equal(count_like(&c, SpvOpLoad, load, 4), 1);
    export_close(&c);
  }
}

/* Sizes made of specialization constants stay so: workgroup, array lengths, a bool among them. */
TEST(specialization)
{
  for (uint32_t mode = 0; mode < 2; mode++) {
    export_case c;
    export_open(&c, mode);
    const vyre_row n = vyre_build_spec(&c.b, U32, 4, 3), flag = vyre_build_spec(&c.b, BOOL, 1, 4),
                   f = vyre_build_spec(&c.b, F32, 0x40000000, 5);
    const vyre_row off = vyre_build_spec(&c.b, BOOL, 0, 6), k = vyre_build_spec(&c.b, I32, 2, 7);
    vyre_row_set_name(c.module, n, "size", 4);
    vyre_builder at = c.b;
    vyre_builder_before(&c.b, c.in);
    const vyre_row twice = vyre_build_imm(&c.b, VYRE_OP_mul, n, 2);
    const vyre_row more = vyre_build_binary(&c.b, VYRE_OP_add, twice, vyre_build_convert(&c.b, VYRE_OP_convert, U32, k));
    const vyre_row half = vyre_build_imm(&c.b, VYRE_OP_udiv, more, 2);
    const vyre_row quotient = vyre_build_binary(&c.b, VYRE_OP_udiv, more, n);
    const vyre_row least = vyre_build_binary(&c.b, VYRE_OP_umin, half, vyre_build_binary(&c.b, VYRE_OP_shl, quotient, n));
    const vyre_row picked =
        vyre_build_select(&c.b, vyre_build_binary(&c.b, VYRE_OP_and, flag, vyre_build_unary(&c.b, VYRE_OP_not, off)), least, n);
    c.b = at;
    vyre_build_workgroup(&c.b, n, export_u32(&c, 1), export_u32(&c, 1));
    const vyre_row tile = vyre_build_buffer(&c.b, vyre_type_array(c.module, F32, 0, picked, 4), VYRE_SPACE_WORKGROUP, 0, 0, 0);
    const vyre_row grid = vyre_build_buffer(
        &c.b, vyre_type_array(c.module, vyre_type_array(c.module, U32, 0, n, 4), 2, VYRE_NONE, 0), VYRE_SPACE_WORKGROUP, 0, 0, 0);
    vyre_build_store(&c.b, vyre_build_at(&c.b, tile, c.gid), f, 0);
    export_output(&c, vyre_build_load(&c.b, vyre_build_at(&c.b, tile, c.gid), 0));
    export_output(&c, vyre_build_load(&c.b, vyre_build_at_literal(&c.b, vyre_build_at_literal(&c.b, grid, 1), 3), 0));
    export_output(&c, twice);
    export_output(&c, flag);
    export_write(&c);
    assert_int_equal(export_count(&c, SpvOpSpecConstant), 3);
    assert_int_equal(export_count(&c, SpvOpSpecConstantTrue), 1);
    assert_int_equal(export_count(&c, SpvOpSpecConstantFalse), 1);
    assert_int_equal(export_count(&c, SpvOpSpecConstantComposite), 1);
    assert_true(export_count(&c, SpvOpSpecConstantOp) >= 6);
    assert_int_equal(decorated(&c, SpvDecorationSpecId), 5);
    const uint32_t builtin[3] = {UINT32_MAX, SpvDecorationBuiltIn, SpvBuiltInWorkgroupSize};
    assert_int_equal(count_like(&c, SpvOpDecorate, builtin, 3), 1);
    assert_true(has_text(&c, "size"));
    export_close(&c);
  }
}

/* Two programs of one input: two entry points over one variable where they had one, each with its own interface. */
TEST(several_programs)
{
  for (uint32_t version = 0x10300; version <= 0x10500; version += 0x200) {
    export_case c;
    export_open(&c, VYRE_PROGRAM_RELAXED);
    vyre_module_input(c.module, 0)->spirv_version = version;
    vyre_module_input(c.module, 0)->memory = SpvMemoryModelGLSL450;
    vyre_buffer_info_of(c.module, c.out)->spirv_id = 77;
    export_output(&c, c.gid);
    vyre_builder b;
    const vyre_row second = vyre_build_program(c.module, "main_1", VYRE_PROGRAM_RELAXED, 0, &b);
    vyre_program_info_of(c.module, second)->entry = vyre_string_intern(c.module, "other", 5);
    const vyre_row out = vyre_build_buffer(&b, vyre_type_runtime_array(c.module, U32, 4), VYRE_SPACE_STORAGE, 0, 0, 1);
    const vyre_row table = vyre_build_buffer(&b, vyre_type_array(c.module, U32, 8, VYRE_NONE, 0), VYRE_SPACE_WORKGROUP, 0, 0, 0);
    vyre_buffer_info_of(c.module, out)->spirv_id = 77;
    /* two rows of it in one program are one in its interface */
    const vyre_row again = vyre_build_buffer(&b, vyre_type_runtime_array(c.module, U32, 4), VYRE_SPACE_STORAGE, 0, 0, 1);
    vyre_buffer_info_of(c.module, again)->spirv_id = 77;
    const vyre_row index = vyre_build(&b, VYRE_OP_lindex, U32, 0, 0, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
    vyre_build_store(&b, vyre_build_at(&b, table, index), index, 0);
    vyre_build_store(&b, vyre_build_at(&b, out, index), index, 0);
    /* another input's program is not written */
    vyre_builder other;
    vyre_build_program(c.module, "elsewhere", 0, vyre_module_add_input(c.module, "b.vir"), &other);
    export_write(&c);
    const uint32_t *words = words_of(&c);
    assert_int_equal(words[1], version);
    assert_int_equal(export_count(&c, SpvOpEntryPoint), 2);
    assert_int_equal(export_count(&c, SpvOpVariable), 5);
    assert_true(has_text(&c, "main") && has_text(&c, "other") && !has_text(&c, "main_1") && !has_text(&c, "elsewhere"));
    uint32_t lengths[2] = {0}, entries = 0;
    for (size_t at = 5; at < c.code.size / 4; at += words[at] >> 16)
      if ((words[at] & 0xffff) == SpvOpEntryPoint)
        lengths[entries++] = words[at] >> 16;
    /* header, model, id, name of two words, then gid, in, out; or lindex, out, table */
    assert_int_equal(lengths[0], version >= 0x10400 ? 5 + 3 : 5 + 1);
    assert_int_equal(lengths[1], version >= 0x10400 ? 5 + 3 : 5 + 1);
    export_close(&c);
  }
}

/* What the input had is kept: version, capabilities, extensions, modes, Source; BufferBlock where that is how it was. */
TEST(input_is_kept)
{
  export_case c;
  export_open(&c, VYRE_PROGRAM_RELAXED);
  vyre_input *input = vyre_module_input(c.module, 0);
  input->spirv_version = 0x10000;
  input->memory = SpvMemoryModelGLSL450;
  const uint32_t capabilities[3] = {SpvCapabilityShader, SpvCapabilityMatrix, SpvCapabilityDenormPreserve};
  uint32_t extension[7] = {7u << 16 | SpvOpExtension};
  memcpy(extension + 1, "SPV_KHR_float_controls", sizeof("SPV_KHR_float_controls"));
  const uint32_t source[3] = {3u << 16 | SpvOpSource, SpvSourceLanguageGLSL, 450};
  const uint32_t mode[4] = {4u << 16 | SpvOpExecutionMode, 0, SpvExecutionModeDenormPreserve, 32};
  vyre_word_list_append(c.module, &input->capabilities, capabilities, 3);
  vyre_word_list_append(c.module, &input->extensions, extension, 7);
  vyre_word_list_append(c.module, &input->kept, source, 3);
  vyre_word_list_append(c.module, &vyre_program_info_of(c.module, c.program)->modes, mode, 4);
  const vyre_member member = {vyre_string_intern(c.module, "data", 4), vyre_type_runtime_array(c.module, U32, 4), 0, 0};
  const vyre_type_id block = vyre_type_struct(c.module, 0, &member, 1, VYRE_TYPE_BUFFER_BLOCK);
  const vyre_row old = vyre_build_buffer(&c.b, block, VYRE_SPACE_STORAGE, 0, 1, 0);
  vyre_row_kill(c.module, c.in);
  vyre_row_kill(c.module, c.out);
  vyre_build_store(&c.b, vyre_build_at(&c.b, vyre_build_at_literal(&c.b, old, 0), c.gid), c.gid, 0);
  export_write(&c);
  assert_int_equal(words_of(&c)[1], 0x10000);
  assert_int_equal(export_count(&c, SpvOpCapability), 3);
  assert_int_equal(export_count(&c, SpvOpExtension), 1);
  assert_int_equal(export_count(&c, SpvOpExecutionMode), 2);
  assert_int_equal(export_count(&c, SpvOpSource), 1);
  assert_int_equal(decorated(&c, SpvDecorationBufferBlock), 1);
  export_close(&c);
}

#define INSTRUCTION(opcode, words) ((uint32_t)(words) << 16 | (uint32_t)SpvOp##opcode)

static void
open_kept(export_case *c, const uint32_t *words, uint32_t count)
{
  export_open(c, VYRE_PROGRAM_RELAXED);
  export_output(c, export_input(c, F32));
  vyre_word_list_append(c->module, &vyre_module_input(c->module, 0)->kept, words, count);
}

/* What an input keeps of other stages has ids of its own; types that both have are one.  What is no SPIR-V is an error. */
TEST(other_stages)
{
  export_case c;
  /* clang-format off */
  const uint32_t vertex[] = {
      INSTRUCTION(EntryPoint, 5), SpvExecutionModelVertex, 1, 'v', 8,
      INSTRUCTION(Name, 3), 2, 'f',
      INSTRUCTION(Decorate, 4), 8, SpvDecorationBuiltIn, SpvBuiltInPosition,
      INSTRUCTION(TypeVoid, 2), 3,
      INSTRUCTION(TypeFunction, 3), 4, 3,
      INSTRUCTION(TypeFloat, 3), 2, 32,
      INSTRUCTION(TypeVector, 4), 5, 2, 4,
      INSTRUCTION(TypePointer, 4), 6, SpvStorageClassOutput, 5,
      INSTRUCTION(ConstantNull, 3), 5, 7,
      INSTRUCTION(Variable, 4), 6, 8, SpvStorageClassOutput,
      INSTRUCTION(Function, 5), 3, 1, 0, 4,
      INSTRUCTION(Label, 2), 9,
      INSTRUCTION(Store, 3), 8, 7,
      INSTRUCTION(Return, 1),
      INSTRUCTION(FunctionEnd, 1),
  };
  /* clang-format on */
  open_kept(&c, vertex, sizeof(vertex) / sizeof(*vertex));
  export_write(&c);
  assert_int_equal(export_count(&c, SpvOpEntryPoint), 2);
  assert_int_equal(export_count(&c, SpvOpFunction), 2);
  assert_int_equal(export_count(&c, SpvOpTypeFloat), 1);
  assert_int_equal(export_count(&c, SpvOpTypeFunction), 1);
  assert_true(has_text(&c, "v"));
  export_close(&c);
  const uint32_t unknown[] = {INSTRUCTION(TypeVoid, 2), 1, 2u << 16 | 0x7fffu, 1};
  open_kept(&c, unknown, 4);
  expect_error(&c, "what entry points of other stages need is no SPIR-V: instruction 32767");
  const uint32_t far[] = {INSTRUCTION(TypeVoid, 2), 0x400000u}, none[] = {INSTRUCTION(TypeVoid, 2), 0};
  open_kept(&c, far, 2);
  expect_error(&c, "names the id 4194304");
  open_kept(&c, none, 2);
  expect_error(&c, "names the id 0");
}

TEST(float_modes)
{
  export_case c;
  export_open(&c, VYRE_PROGRAM_FLUSH_32 | VYRE_PROGRAM_TO_ZERO_32 | VYRE_PROGRAM_TO_ZERO_64);
  export_output(&c, vyre_build_imm(&c.b, VYRE_OP_mul, export_input(&c, F32), 0x40000000));
  export_write(&c);
  const uint32_t capability = SpvCapabilityDenormFlushToZero, mode[3] = {UINT32_MAX, SpvExecutionModeDenormFlushToZero, 32};
  assert_int_equal(count_like(&c, SpvOpCapability, &capability, 1), 1);
  const uint32_t cut[3] = {UINT32_MAX, SpvExecutionModeRoundingModeRTZ, 32},
                 cut64[3] = {UINT32_MAX, SpvExecutionModeRoundingModeRTZ, 64};
  assert_int_equal(count_like(&c, SpvOpExecutionMode, mode, 3), 1);
  assert_int_equal(count_like(&c, SpvOpExecutionMode, cut, 3), 1);
  assert_int_equal(count_like(&c, SpvOpExecutionMode, cut64, 3), 1);
  assert_int_equal(count_like(&c, SpvOpExecutionMode, (const uint32_t[3]){UINT32_MAX, SpvExecutionModeDenormFlushToZero, 64}, 3),
                   0);
  assert_true(has_text(&c, "SPV_KHR_float_controls"));
  export_close(&c);
}

TEST(names_lines_and_strip)
{
  for (int strip = 0; strip < 2; strip++) {
    export_case c;
    export_open(&c, VYRE_PROGRAM_RELAXED);
    c.b.scope = vyre_scope_of_file(c.module, vyre_string_intern(c.module, "shader.comp", 11));
    c.b.line = 12;
    c.b.column = 3;
    const vyre_row value = vyre_build_imm(&c.b, VYRE_OP_add, c.gid, 5);
    vyre_row_set_name(c.module, value, "five_more", 9);
    const uint32_t decorations[2] = {SpvDecorationRelaxedPrecision, 0};
    vyre_row_set_decorations(c.module, value, decorations, 2);
    c.b.line = 0;
    export_output(&c, value);
    if (!strip) {
      export_write(&c);
      assert_true(has_text(&c, "five_more") && has_text(&c, "shader.comp"));
      assert_int_equal(export_count(&c, SpvOpLine), 1);
      assert_int_equal(export_count(&c, SpvOpNoLine), 1);
    } else {
      const vyre_spirv_options options = {.strip = true};
      export_must(vyre_module_seal(c.module, NULL));
      export_must(vyre_spirv_write(c.module, 0, &options, &c.code));
      export_validate(&c.code);
      assert_int_equal(export_count(&c, SpvOpName) + export_count(&c, SpvOpLine) + export_count(&c, SpvOpString), 0);
    }
    assert_int_equal(decorated(&c, SpvDecorationRelaxedPrecision), 1);
    export_close(&c);
  }
}

/* Addresses: one access chain for each that is used, none for their prefixes; one is that of a lane of gid. */
TEST(one_access_chain_each)
{
  export_case c;
  export_open(&c, VYRE_PROGRAM_RELAXED);
  const vyre_type_id inner = vyre_type_array(c.module, VYRE_TYPE(VYRE_F32, 4), 4, VYRE_NONE, 16);
  const vyre_row table = vyre_build_buffer(&c.b, vyre_type_array(c.module, inner, 4, VYRE_NONE, 64), VYRE_SPACE_STORAGE, 0, 0, 2);
  const vyre_row path = vyre_build_at_literal(&c.b, vyre_build_at(&c.b, vyre_build_at_literal(&c.b, table, 1), c.gid), 2);
  vyre_build_store(&c.b, path, vyre_build_load(&c.b, path, 0), 0);
  vyre_build_store(&c.b, path, vyre_build_load(&c.b, path, 0), 0);
  export_write(&c);
  assert_int_equal(export_count(&c, SpvOpAccessChain), 2);
  export_close(&c);
}

/* Buffers that are vouched for have neither guards nor a length; others keep theirs. */
TEST(vouched_accesses_are_plain)
{
  for (uint32_t vouched = 0; vouched < 3; vouched++) {
    export_case c;
    export_parse(&c, "program @main {\n"
                     "  buffer %in : u32[] storage ro set(0) binding(0) buffer %out : u32[] storage rw set(0) binding(1)\n"
                     "  store %out[gid.x], load(%in[add(gid.x, 5u32)]) atomic_add %out[gid.y], 1u32\n"
                     "}\n");
    const vyre_view *v = vyre_module_view(c.module);
    uint8_t in_bounds[64] = {0};
    uint32_t count = 0;
    assert_true(v->rows <= sizeof in_bounds);
    for (uint32_t row = v->first[v->first[0]]; row; row = v->next[row])
      if (VYRE_ROW_OP(v->op[row]) == VYRE_OP_buffer)
        in_bounds[row] = count++ < vouched;
    const vyre_spirv_options options = {.in_bounds = in_bounds};
    export_must(vyre_spirv_write(c.module, 0, &options, &c.code));
    export_validate(&c.code);
    assert_int_equal(export_count(&c, SpvOpArrayLength), 2 - vouched);
    assert_int_equal(export_count(&c, SpvOpSelectionMerge), vouched == 0 ? 3 : vouched == 1 ? 2 : 0);
    export_close(&c);
  }
}

TEST(what_is_refused)
{
  export_case c;
  export_open(&c, 0);
  vyre_build_unary(&c.b, VYRE_OP_sin, vyre_build_convert(&c.b, VYRE_OP_convert, VYRE_TYPE(VYRE_F64, 1), c.gid));
  expect_error(&c, "no 'sin' of 64 bits");
  export_open(&c, 0);
  vyre_build_buffer(&c.b, vyre_type_runtime_array(c.module, BOOL, 4), VYRE_SPACE_STORAGE, 0, 0, 2);
  expect_error(&c, "bool has no layout");
  export_open(&c, 0);
  vyre_build_buffer(&c.b, vyre_type_runtime_array(c.module, U32, 4), VYRE_SPACE_WORKGROUP, 0, 0, 2);
  expect_error(&c, "runtime array");
  export_open(&c, 0);
  vyre_build_workgroup(&c.b, vyre_build_spec(&c.b, U32, 4, 0), export_u32(&c, 1), export_u32(&c, 1));
  vyre_builder b;
  vyre_build_program(c.module, "second", 0, 0, &b);
  expect_error(&c, "different workgroup sizes");
  /* an input without a program */
  vyre_module *module;
  vyre_bytes code = {0};
  export_must(vyre_module_create(NULL, 1u << 10, &module));
  vyre_module_add_input(module, "empty.vir");
  export_must(vyre_module_seal(module, NULL));
  vyre_status status = vyre_spirv_write(module, 0, NULL, &code);
  assert_non_null(status);
  assert_non_null(strstr(vyre_status_text(status), "empty.vir"));
  vyre_status_free(status);
  vyre_bytes_free(&code);
  vyre_module_destroy(module);
}

/* ---- every allocation fails once ---- */

TEST(out_of_memory)
{
  static const char head[] = "struct @S { p : f32x3, m : mat2(f32x2), n : u32[3] }\n";
  static const char text[] = /* program after program, as small ones fit into one piece of memory */
      "buffer %x : @S[] storage rw set(0) binding(0) buffer %t : u32[16] workgroup buffer %q : u32[4] private var %v : u32\n"
      "%i = gid.x\n"
      "block %b {\n"
      "  for %k = 0u32 to %i step 1u32 {\n"
      "    %g = get %v %h = add %g, %k set %v, %h %c = ugt %h, 9u32 if %c { leave %b }\n"
      "    switch %h { case 1u32, 2u32, 3u32, 4u32 { store %q[%k], %h fallthrough } default { store %x[%k].n[%h], %h } }\n"
      "  }\n"
      "}\n"
      "%w = get %v store %t[%w], %w }\n";
  test_memory heap;
  vyre_allocator allocator = test_allocator(&heap, 0);
  vyre_module *module;
  export_must(vyre_module_create(&allocator, 1u << 16, &module));
  vyre_bytes source = {0};
  export_must(vyre_bytes_append(&source, head, sizeof(head) - 1));
  for (int program = 0; program < 60; program++)
    export_must(vyre_bytes_printf(&source, "program @a%d workgroup(4, 1, 1) {\n%s", program, text));
  export_must(vyre_text_parse(module, source.data, source.size, "a.vir", (vyre_diagnostics){0}));
  vyre_bytes_free(&source);
  const size_t live = heap.out;
  heap.sticky = true;
  for (uint64_t n = 1;; n++) {
    vyre_bytes code = {.allocator = &allocator};
    heap.calls = 0;
    heap.fail_at = n;
    vyre_status status = vyre_spirv_write(module, 0, NULL, &code);
    heap.fail_at = 0;
    if (!status) {
      export_validate(&code);
      vyre_bytes_free(&code);
      assert_true(n > 6);
      break;
    }
    assert_non_null(strstr(vyre_status_text(status), "out of memory"));
    assert_int_equal(code.size, 0);
    vyre_status_free(status);
    vyre_bytes_free(&code);
    assert_int_equal(heap.out, live);
  }
  assert_int_equal(heap.out, live);
  vyre_module_destroy(module);
}
