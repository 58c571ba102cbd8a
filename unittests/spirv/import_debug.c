/* The import of NonSemantic.Shader.DebugInfo.100: scopes and values of rows, and damaged instructions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "import_support.h"

#include "vyre/ir.h"
#include "vyre/verify.h"

#include <spirv/unified1/spirv.h>

/* Shaders keep their line breaks. */
/* clang-format off */
#define HEAD                                                                                                                           \
  "OpCapability Shader\nOpExtension \"SPV_KHR_non_semantic_info\"\n%set = OpExtInstImport \"NonSemantic.Shader.DebugInfo.100\"\n"      \
  "OpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1\n"                     \
  "%file = OpString \"a.comp\"\n%name = OpString \"f\"\n"                                                                              \
  "OpMemberDecorate %X 0 Offset 0\nOpDecorate %X Block\nOpDecorate %x DescriptorSet 0\nOpDecorate %x Binding 0\n"                      \
  "%void = OpTypeVoid\n%fn = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n%uint_fn = OpTypeFunction %uint %uint\n"                    \
  "%X = OpTypeStruct %uint\n%px = OpTypePointer StorageBuffer %X\n%pu = OpTypePointer StorageBuffer %uint\n%x = OpVariable %px StorageBuffer\n" \
  "%u0 = OpConstant %uint 0\n%u1 = OpConstant %uint 1\n%u2 = OpConstant %uint 2\n%u3 = OpConstant %uint 3\n%u4 = OpConstant %uint 4\n" \
  "%u7 = OpConstant %uint 7\n%u32 = OpConstant %uint 32\n"                                                                             \
  "%source = OpExtInst %void %set DebugSource %file\n%unit = OpExtInst %void %set DebugCompilationUnit %u1 %u4 %source %u2\n"          \
  "%basic = OpExtInst %void %set DebugTypeBasic %name %u32 %u4 %u0\n%array = OpExtInst %void %set DebugTypeArray %basic %u3\n"         \
  "%dtype = OpExtInst %void %set DebugTypeFunction %u3 %void %basic\n"                                                                 \
  "%dmain = OpExtInst %void %set DebugFunction %name %dtype %source %u1 %u0 %unit %name %u3 %u1\n"                                     \
  "%df = OpExtInst %void %set DebugFunction %name %dtype %source %u2 %u0 %unit %name %u3 %u2\n"                                        \
  "%dg = OpExtInst %void %set DebugFunction %name %dtype %source %u3 %u0 %unit %name %u3 %u3\n"                                        \
  "%dblock = OpExtInst %void %set DebugLexicalBlock %source %u2 %u0 %df\n"                                                             \
  "%da = OpExtInst %void %set DebugLocalVariable %name %basic %source %u2 %u0 %df %u4 %u1\n%all = OpExtInst %void %set DebugExpression\n" \
  "%dv = OpExtInst %void %set DebugLocalVariable %name %array %source %u7 %u0 %dmain %u4\n%pf = OpTypePointer Function %uint\n"        \
  "%dx = OpExtInst %void %set DebugGlobalVariable %name %array %source %u4 %u0 %unit %name %x %u0\n"
#define MAIN                                                                                                                           \
  "%main = OpFunction %void None %fn\n%entry = OpLabel\n%var = OpVariable %pf Function\n%def = OpExtInst %void %set DebugFunctionDefinition %dmain %main\n"           \
  "%s0 = OpExtInst %void %set DebugScope %dmain\n%l0 = OpExtInst %void %set DebugLine %source %u7 %u7 %u0 %u0\n"                       \
  "%p = OpAccessChain %pu %x %u0\n%v = OpLoad %uint %p\n%d1 = OpExtInst %void %set DebugDeclare %dv %var %all %u1\n"                                                       \
  "OpStore %var %v\n%r = OpFunctionCall %uint %f %v\nOpStore %p %r\nOpReturn\nOpFunctionEnd\n"
#define CALLED                                                                                                                         \
  "%f = OpFunction %uint None %uint_fn\n%a = OpFunctionParameter %uint\n%f_entry = OpLabel\n"                                          \
  "%s1 = OpExtInst %void %set DebugScope %dblock\n%l1 = OpExtInst %void %set DebugLine %source %u2 %u2 %u1 %u1\n%m = OpIMul %uint %a %a\n" \
  "%d2 = OpExtInst %void %set DebugValue %da %m %all\n"                                                                                \
  "%s2 = OpExtInst %void %set DebugScope %dg %inl\n%n = OpIAdd %uint %m %a\n"                                                          \
  "%s3 = OpExtInst %void %set DebugNoScope\n%o = OpNot %uint %n\nOpReturnValue %o\nOpFunctionEnd\n"
/* clang-format on */
static const char whole[] = HEAD "%inl = OpExtInst %void %set DebugInlinedAt %u3 %dblock\n" MAIN CALLED;

static vyre_bytes
assemble(const char *text)
{
  vyre_bytes words = import_assemble(text);
  ((uint32_t *)(void *)words.data)[1] = 0x10300; /* in which buffers are not part of the interface */
  return words;
}

static uint32_t
row_of(const vyre_module *m, vyre_opcode op)
{
  const vyre_view *v = vyre_module_view(m);
  for (uint32_t row = 1; row < v->rows; row++)
    if (VYRE_ROW_OP(v->op[row]) == (uint32_t)op)
      return row;
  fail_msg("no row of op %u", op);
  return 0;
}

static vyre_scope_info
scope_of(const vyre_module *m, vyre_opcode op)
{
  return vyre_scope_get(m, vyre_row_scope(m, (vyre_row){row_of(m, op)}));
}

TEST(inlined_rows_have_their_calls_as_callers)
{
  vyre_bytes words = assemble(whole);
  vyre_module *m = import_read(&words);
  const vyre_scope_info in_main = scope_of(m, VYRE_OP_load), in_block = scope_of(m, VYRE_OP_mul), in_g = scope_of(m, VYRE_OP_add),
                        nowhere = scope_of(m, VYRE_OP_not);
  assert_int_not_equal(in_main.entity, 0);
  assert_int_equal(in_main.caller, 0);
  assert_int_equal(vyre_scope_get(m, in_block.caller).entity, in_main.entity);
  assert_int_equal(in_block.call_line, 7);
  const vyre_scope_info around_g = vyre_scope_get(m, in_g.caller); /* from the input, with the call around it */
  assert_int_equal(in_g.call_line, 3);
  assert_int_equal(around_g.entity, in_block.entity);
  assert_int_equal(around_g.call_line, 7);
  assert_int_equal(vyre_scope_get(m, around_g.caller).entity, in_main.entity);
  assert_int_equal(nowhere.entity, 0);
  assert_string_equal(vyre_string_text(m, nowhere.file), "a.comp");
  vyre_bytes written = import_write(m);
  vyre_bytes_free(&written);
  vyre_module_destroy(m);
  vyre_bytes_free(&words);
}

/* Returns the last value that the row is, and writes the number of rows of that value. */
static vyre_scope_info
value_of(const vyre_module *m, vyre_opcode op, uint32_t *out_rows)
{
  const vyre_scope_info value = vyre_scope_get(m, scope_of(m, op).values);
  *out_rows = value.index;
  return vyre_scope_get(m, value.variable);
}

TEST(rows_are_values_of_variables)
{
  vyre_bytes words = assemble(whole);
  vyre_module *m = import_read(&words);
  uint32_t rows;
  const vyre_scope_info product = value_of(m, VYRE_OP_mul, &rows);
  assert_int_equal(rows, 1);
  assert_int_not_equal(product.entity, 0);
  assert_int_equal(product.caller, scope_of(m, VYRE_OP_mul).caller); /* of the same call */
  const vyre_scope_info element = value_of(m, VYRE_OP_load, &rows);
  assert_int_equal(rows, 1);
  assert_int_equal(element.index, 2); /* element 1 */
  assert_int_not_equal(vyre_scope_get(m, element.variable).entity, product.entity);
  assert_int_equal(scope_of(m, VYRE_OP_add).values, 0);
  vyre_module_destroy(m);
  vyre_bytes_free(&words);
}

/* Only functions and blocks are scopes. */
TEST(types_are_not_scopes)
{
  char text[sizeof(whole)];
  memcpy(text, whole, sizeof(whole));
  char *scope = strstr(text, "DebugScope %dmain");
  assert_non_null(scope);
  memcpy(scope + 11, "%basic", 6);
  vyre_bytes words = assemble(text);
  vyre_module *m = import_read(&words);
  assert_int_equal(scope_of(m, VYRE_OP_load).entity, 0);
  assert_string_equal(vyre_string_text(m, scope_of(m, VYRE_OP_load).file), "a.comp");
  vyre_module_destroy(m);
  vyre_bytes_free(&words);
}

/* A chain that is longer than the depth of callers loses its outermost callers. */
TEST(chains_of_callers_are_cut)
{
  enum { LENGTH = 3000 };
  vyre_bytes text = {0};
  static const char head[] = HEAD "%i0 = OpExtInst %void %set DebugInlinedAt %u3 %dblock\n", tail[] = MAIN CALLED;
  assert_null(vyre_bytes_append(&text, head, sizeof(head) - 1));
  for (int i = 1; i < LENGTH; i++)
    assert_null(vyre_bytes_printf(&text, "%%i%d = OpExtInst %%void %%set DebugInlinedAt %%u3 %%dblock %%i%d\n", i, i - 1));
  assert_null(vyre_bytes_printf(&text, "%%inl = OpExtInst %%void %%set DebugInlinedAt %%u3 %%dblock %%i%d\n", LENGTH - 1));
  assert_null(vyre_bytes_append(&text, tail, sizeof(tail)));
  vyre_bytes words = assemble(text.data);
  vyre_module *m = import_read(&words);
  uint32_t depth = 0;
  for (vyre_scope scope = scope_of(m, VYRE_OP_add).caller; scope; scope = vyre_scope_get(m, scope).caller)
    depth++;
  assert_int_equal(depth, VYRE_SCOPE_DEPTH);
  vyre_bytes written = import_write(m);
  vyre_bytes_free(&written);
  vyre_module_destroy(m);
  vyre_bytes_free(&words);
  vyre_bytes_free(&text);
}

/* Reads the words, and if they are valid writes the module.  Returns whether they are valid. */
static bool
read_and_write(vyre_module *m, const vyre_bytes *words)
{
  vyre_bytes written = {0};
  vyre_verify_errors errors = {0};
  vyre_module_clear(m);
  vyre_status status = vyre_spirv_read(m, words->data, words->size, "test.spv");
  const bool right = !status;
  if (right) {
    assert_null(vyre_verify(m, &errors));
    status = vyre_spirv_write(m, 0, NULL, &written);
  }
  vyre_status_free(status);
  vyre_verify_errors_free(&errors);
  vyre_bytes_free(&written);
  return right;
}

/* Replaces each word of each debug instruction by other ids and numbers.  The module is refused, or its rows do not change. */
TEST(damaged_debug_instructions_change_no_rows)
{
  vyre_bytes words = assemble(whole);
  vyre_module *m;
  assert_null(vyre_module_create(NULL, 0, &m));
  assert_true(read_and_write(m, &words));
  const uint32_t rows = vyre_module_view(m)->rows;
  uint32_t *all = (uint32_t *)(void *)words.data, read = 0;
  const uint32_t count = (uint32_t)(words.size / 4), bound = all[3];
  for (uint32_t at = 5; at < count; at += all[at] >> 16)
    for (uint32_t k = 4; k < all[at] >> 16 && (all[at] & 0xffff) == SpvOpExtInst; k++) {
      const uint32_t before = all[at + k], other[] = {0, 200, bound, UINT32_MAX};
      for (uint32_t i = 0; i < bound + 4; i++) {
        all[at + k] = i < bound ? i : other[i - bound];
        if (!read_and_write(m, &words))
          continue;
        assert_int_equal(vyre_module_view(m)->rows, rows);
        read++;
      }
      all[at + k] = before;
    }
  assert_true(read > 1000);
  vyre_module_destroy(m);
  vyre_bytes_free(&words);
}

/* Replaces the words of other instructions in functions by other ids.  Damaged modules are refused. */
TEST(damaged_functions_are_refused)
{
  vyre_bytes words = assemble(whole);
  vyre_module *m;
  assert_null(vyre_module_create(NULL, 0, &m));
  uint32_t *all = (uint32_t *)(void *)words.data, refused = 0, functions = 0;
  const uint32_t count = (uint32_t)(words.size / 4), bound = all[3];
  for (uint32_t at = 5; at < count; at += all[at] >> 16) {
    functions += (all[at] & 0xffff) == SpvOpFunction;
    for (uint32_t k = 1; k < all[at] >> 16 && functions && (all[at] & 0xffff) != SpvOpExtInst; k++) {
      const uint32_t before = all[at + k];
      for (uint32_t id = 0; id <= bound; id++) {
        all[at + k] = id;
        refused += !read_and_write(m, &words);
      }
      all[at + k] = before;
    }
  }
  assert_true(refused > 1000);
  vyre_module_destroy(m);
  vyre_bytes_free(&words);
}
