/* Errors that the verifier reports about opaque types, rows and variables that do not fit together.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../module.h"
#include "vyre/opaque.h"
#include "vyre/verify.h"
#include "vyre/words.h"

#define OPAQUE VYRE_TYPE(VYRE_OPAQUE, 1)

enum { OP_TYPE_POINTER = 32, OP_TYPE_SAMPLER = 26, OP_LOAD = 61, OP_STORE = 62, OP_SELECT = 169 };

static vyre_module *m;
static vyre_builder b;
static vyre_type_id pointer, sampler, read_u32, store; /* read_u32: a load through an opaque pointer */
static vyre_row node, number;

static int
start(void **state)
{
  (void)state;
  m = new_module();
  vyre_build_program(m, "p", VYRE_PROGRAM_RELAXED, vyre_module_add_input(m, "p"), &b);
  const vyre_member target[2] = {{.access = VYRE_WORD_LITERAL, .offset = 5349}, {.access = VYRE_WORD_TYPE, .type = U32}};
  pointer = vyre_type_words(m, OP_TYPE_POINTER, 0, VYRE_MODE_BARE, target, 2);
  sampler = vyre_type_words(m, OP_TYPE_SAMPLER, 0, VYRE_MODE_BARE, NULL, 0);
  const vyre_member values[2] = {{.access = VYRE_WORD_VALUE}, {.access = VYRE_WORD_VALUE}};
  read_u32 = vyre_type_words(m, OP_LOAD, U32, VYRE_MODE_BARE, values, 1);
  store = vyre_type_words(m, OP_STORE, 0, VYRE_MODE_BARE, values, 2);
  node = vyre_build_get(&b, vyre_build_opaque_var(&b, pointer));
  number = vyre_build(&b, VYRE_OP_lindex, U32, 0, 0, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
  return 0;
}

static int
end(void **state)
{
  (void)state;
  vyre_module_destroy(m);
  return 0;
}

#define WORDS_TEST(name) TEST_WITH(name, start, end)

/* Asserts that an error about the module contains `part`, or that there is no error if `part` is NULL.  Then begins a new
 * module. */
static void
expect_error(const char *part)
{
  vyre_verify_errors errors = {0};
  bool found = false;
  assert_ok(vyre_module_seal(m, NULL));
  vyre_status status = vyre_verify(m, &errors);
  for (uint32_t k = 0; part && k < errors.count; k++)
    found = found || strstr(errors.errors[k].message, part);
  if (part ? !found : status != VYRE_OK)
    fail_msg("%s: %s", part ? part : "nothing", errors.count ? errors.errors[0].message : "no error");
  vyre_status_free(status);
  vyre_verify_errors_free(&errors);
  vyre_module_destroy(m);
  start(NULL);
}

static vyre_row
load(void)
{
  return vyre_build_opaque(&b, VYRE_OP_opaque_read, read_u32, &node, 1, 0);
}

static void
set_payload(vyre_row row, uint32_t imm, uint32_t imm_hi)
{
  const vyre_view *v = vyre_module_view(m);
  vyre_row_rewrite(m, row, v->op[row.id], imm, imm_hi, row_of(v->a[row.id]), row_of(v->b[row.id]), row_of(v->c[row.id]));
}

WORDS_TEST(opaque_rows_agree_with_their_words)
{
  const vyre_row both[2] = {node, load()};
  vyre_build_opaque(&b, VYRE_OP_opaque_write, store, both, 2, 0);
  expect_error(NULL);
  set_payload(load(), U32, 0);
  expect_error("as its instruction, which is not an instruction");
  const vyre_row row = vyre_build_opaque(&b, VYRE_OP_opaque_write, store, (const vyre_row[2]){node, number}, 2, 0);
  set_payload(row, store, 1);
  expect_error("has imm_hi 0x1, which must be 0");
  vyre_build_opaque(&b, VYRE_OP_opaque_write, store, &node, 1, 0);
  expect_error("has 1 operands, but its instruction takes 2");
  vyre_build_opaque(&b, VYRE_OP_opaque_read, read_u32, (const vyre_row[2]){node, number}, 2, 0);
  expect_error("has 2 operands, but its instruction takes 1");
  vyre_build(&b, VYRE_OP_opaque_write, 0, 0, store, 0, VYRE_NONE, number, VYRE_NONE);
  expect_error("has no operand 0, but has later ones");
  vyre_build(&b, VYRE_OP_opaque_read, F32, 0, read_u32, 0, node, VYRE_NONE, VYRE_NONE);
  expect_error("has type f32, but its instruction's result is u32");
  vyre_build(&b, VYRE_OP_opaque, F32, 0, vyre_type_words(m, 65000, 0, VYRE_MODE_BARE, NULL, 0), 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
  expect_error("has type f32, but its instruction's result is no type");
}

/* Returns a handle, and its buffer in `out_buffer`. */
static vyre_row
handle(vyre_type_id type, vyre_row *out_buffer)
{
  *out_buffer = vyre_build_buffer(&b, type, VYRE_SPACE_HANDLE, 0, 0, 0);
  return vyre_build(&b, VYRE_OP_load, OPAQUE, 0, 0, 0, *out_buffer, VYRE_NONE, VYRE_NONE);
}

WORDS_TEST(handles_are_only_in_handle_space)
{
  vyre_row buffer;
  const vyre_row value = handle(sampler, &buffer);
  vyre_build_store(&b, buffer, value, 0);
  expect_error("which holds handles");
  vyre_build_buffer(&b, F32, VYRE_SPACE_HANDLE, 0, 0, 0);
  expect_error("handle space holds opaque types and arrays of them");
}

WORDS_TEST(composites_have_matching_parts)
{
  for (uint32_t wrong = 0; wrong < 2; wrong++) {
    const vyre_member members[2] = {{0, F32, VYRE_OFFSET_AUTO, 0}, {0, U32, VYRE_OFFSET_AUTO, 0}};
    const vyre_type_id pair = vyre_type_struct(m, vyre_string_intern(m, "Pair", 4), members, 2, 0);
    const vyre_member word = {.access = VYRE_WORD_VALUE, .type = pair};
    const vyre_type_id words = vyre_type_words(m, OP_SELECT, U32, VYRE_MODE_BARE, &word, 1);
    const vyre_row one = vyre_build_const(&b, F32, 0x3f800000);
    const vyre_row parts[2] = {wrong ? number : one, number};
    vyre_build_opaque(&b, VYRE_OP_opaque, words, parts, 2, 0);
    expect_error(wrong ? "which does not fit there" : NULL);
  }
}

WORDS_TEST(variables_hold_one_opaque_type)
{
  vyre_build_opaque_var(&b, U32);
  expect_error("as that of its values, which is not an opaque type");
  vyre_build(&b, VYRE_OP_var, OPAQUE, 0, 0, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
  expect_error("which is not an opaque type");
  vyre_row buffer;
  vyre_build_set(&b, vyre_build_opaque_var(&b, sampler), handle(pointer, &buffer));
  expect_error("whose opaque type differs");
  set_payload(vyre_build_var(&b, U32), pointer, 0);
  expect_error("as that of its values, but its values are not opaque");
  set_payload(vyre_build_var(&b, U32), 0, 3);
  expect_error("has imm_hi 0x3, but only the bit of unset may be set");
  set_payload(vyre_build_opaque_var(&b, sampler), sampler, VYRE_ACCESS_UNSET);
  expect_error("is unset, but its values are opaque");
}

/* A damaged row is reported once, and not at the rows that use it. */
WORDS_TEST(loads_of_invalid_rows_are_not_followed)
{
  vyre_row buffer;
  vyre_build_set(&b, vyre_build_opaque_var(&b, pointer), handle(pointer, &buffer));
  assert_null(vyre_module_seal(m, NULL));
  const vyre_view *v = vyre_module_view(m);
  uint32_t row = v->rows - 1;
  while (VYRE_ROW_OP(v->op[row]) != VYRE_OP_load)
    row--;
  ((uint32_t *)v->a)[row] = 0x7f000000;
  vyre_verify_errors errors = {0};
  vyre_status status = vyre_verify(m, &errors);
  assert_non_null(status);
  assert_int_equal(errors.count, 1);
  vyre_status_free(status);
  vyre_verify_errors_free(&errors);
}

WORDS_TEST(words_must_form_an_instruction)
{
  static const vyre_member wrong[] = {
      {.access = VYRE_WORD_LENGTH, .type = U32},
      {.access = VYRE_WORD_LENGTH, .type = 256}, /* not an array */
      {.access = VYRE_WORD__COUNT},
      {.access = VYRE_WORD_LITERAL, .type = U32},
      {.access = VYRE_WORD_TYPE, .type = U32, .offset = VYRE_MODE_BLOCK + 1},
      {.access = VYRE_WORD_TYPE, .type = 255},
      {.access = VYRE_WORD_TYPE, .offset = VYRE_MODE_BLOCK}, /* void has no layout */
      {.access = VYRE_WORD_CONSTANT, .type = VYRE_TYPE(VYRE_U32, 2)},
  };
  for (uint32_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
    vyre_type_words(m, OP_TYPE_POINTER, 0, VYRE_MODE_BARE, &wrong[k], 1);
    expect_error("its words are not an instruction");
  }
  static const vyre_member of_none[] = {
      {.access = VYRE_WORD_LITERAL}, {.access = VYRE_WORD_TYPE, .type = U32}, {.access = VYRE_WORD_STRIDE}};
  static const vyre_member of_two[] = {
      {.access = VYRE_WORD_LITERAL}, {.access = VYRE_WORD_STRIDE, .offset = 4}, {.access = VYRE_WORD_TYPE, .type = U32}};
  static const vyre_member *const misplaced[] = {of_none, of_two};
  for (uint32_t k = 0; k < 2; k++) {
    vyre_type_words(m, OP_TYPE_POINTER, 0, VYRE_MODE_BARE, misplaced[k], 3);
    expect_error("its words are not an instruction");
  }
  vyre_type_words(m, 0x10000, 0, VYRE_MODE_BARE, NULL, 0);
  expect_error("its words are not an instruction");
}

TEST(an_operation_of_constants_is_not_nested)
{
  enum { OP_SPEC_CONSTANT_OP = 52, OP_IADD = 128 };
  const uint32_t plain[] = {6u << 16 | OP_SPEC_CONSTANT_OP, 7, 8, OP_IADD, 9, 10};
  const uint32_t nested[] = {7u << 16 | OP_SPEC_CONSTANT_OP, 7, 8, OP_SPEC_CONSTANT_OP, OP_IADD, 9, 10};
  uint8_t kinds[8];
  assert_true(vyre_words_kinds(plain, 6, kinds));
  assert_false(vyre_words_kinds(nested, 7, kinds));
}
