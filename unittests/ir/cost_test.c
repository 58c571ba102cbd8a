/* Cost models: the meaning of their texts, and errors in texts.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"

#include "vyre/cost.h"
#include "vyre/ir.h"
#include "vyre/view.h"

#define U32 VYRE_TYPE(VYRE_U32, 1)

static vyre_cost_model *
parsed_bytes(const char *text, size_t length)
{
  vyre_cost_model *model = NULL;
  vyre_status status = vyre_cost_model_parse(text, length, "my.cost", NULL, &model);
  assert_string_equal(vyre_status_text(status), "");
  assert_non_null(model);
  return model;
}

static void
check(const vyre_cost_model *model, uint32_t op, vyre_type type, uint32_t issue, uint32_t latency, uint32_t registers)
{
  const vyre_cost cost = vyre_cost_of(model, op, type);
  assert_int_equal(cost.struct_size, sizeof(cost));
  assert_int_equal(cost.issue, issue);
  assert_int_equal(cost.latency, latency);
  assert_int_equal(cost.registers, registers);
}

static void
is_same(const vyre_cost_model *model, uint32_t op, vyre_type type)
{
  const vyre_cost cost = vyre_cost_of(NULL, op, type);
  check(model, op, type, cost.issue, cost.latency, cost.registers);
}

TEST(lines_replace_the_costs_that_they_name)
{
  static const char text[] = "; mine\n"
                             "mul,atomic_*\tu32,f32   7 - 3 ; a comment\r\n"
                             "\n"
                             "  add * 65535 0 0\n"
                             "add f64 - 9 -;\n"
                             "mul u32 8 - -";
  vyre_cost_model *model = parsed_bytes(text, sizeof(text) - 1);
  const vyre_cost was = vyre_cost_of(NULL, VYRE_OP_mul, U32), atomic = vyre_cost_of(NULL, VYRE_OP_atomic_or, U32);
  check(model, VYRE_OP_mul, U32, 8, was.latency, 3); /* of the later line */
  check(model, VYRE_OP_mul, VYRE_TYPE(VYRE_F32, 1), 7, vyre_cost_of(NULL, VYRE_OP_mul, VYRE_TYPE(VYRE_F32, 1)).latency, 3);
  check(model, VYRE_OP_atomic_or, U32, 7, atomic.latency, 3);
  is_same(model, VYRE_OP_mul, VYRE_TYPE(VYRE_I32, 1));
  is_same(model, VYRE_OP_umulhi, U32);
  check(model, VYRE_OP_add, VYRE_TYPE(VYRE_VOID, 1), 65535, 0, 0);
  check(model, VYRE_OP_add, VYRE_TYPE(VYRE_F64, 1), 65535, 9, 0);
  /* Issue and registers are multiplied by the lanes, latency is not. */
  check(model, VYRE_OP_mul, VYRE_TYPE(VYRE_U32, 3), 24, was.latency, 9);
  vyre_cost_model_destroy(model);
}

TEST(an_empty_text_is_the_default)
{
  vyre_cost_model *model = parsed_bytes("", 0);
  for (uint32_t op = 0; op < VYRE_OP__COUNT; op++)
    for (uint32_t kind = 0; kind < VYRE_KIND__COUNT; kind++)
      is_same(model, op, VYRE_TYPE(kind, 1));
  vyre_cost_model_destroy(model);
  vyre_cost_model_destroy(NULL);
}

/* Costs that passes depend on, and their expected order. */
TEST(default_costs_are_in_the_expected_order)
{
  const vyre_type f32 = VYRE_TYPE(VYRE_F32, 1), f64 = VYRE_TYPE(VYRE_F64, 1), u64 = VYRE_TYPE(VYRE_U64, 1);
  check(NULL, VYRE_OP_add, U32, 4, 5, 1); /* the unit */
  check(NULL, VYRE_OP_add, f32, 4, 5, 1);
  const uint32_t branch = vyre_cost_of(NULL, VYRE_OP_if, VYRE_TYPE(VYRE_BOOL, 1)).latency;
  assert_true(vyre_cost_of(NULL, VYRE_OP_load, U32).latency > branch);
  assert_true(vyre_cost_of(NULL, VYRE_OP_udiv, U32).latency > branch);
  assert_true(vyre_cost_of(NULL, VYRE_OP_mul, U32).latency < branch);
  assert_true(vyre_cost_of(NULL, VYRE_OP_fdiv, f32).issue < vyre_cost_of(NULL, VYRE_OP_udiv, U32).issue);
  assert_true(vyre_cost_of(NULL, VYRE_OP_fma, f64).issue > vyre_cost_of(NULL, VYRE_OP_fma, f32).issue);
  assert_true(vyre_cost_of(NULL, VYRE_OP_udiv, u64).issue > vyre_cost_of(NULL, VYRE_OP_udiv, U32).issue);
  assert_true(vyre_cost_of(NULL, VYRE_OP_join, f32).issue == 0);
  /* Every computation has an issue cost, for each kind. */
  for (uint32_t op = VYRE_OP_add; op <= VYRE_OP_inverse; op++)
    for (uint32_t kind = VYRE_BOOL; kind <= VYRE_F64; kind++)
      if (vyre_op_infos[op].text && op != VYRE_OP_neg && op != VYRE_OP_fabs && op != VYRE_OP_bitcast && op != VYRE_OP_transpose)
        assert_true(vyre_cost_of(NULL, op, VYRE_TYPE(kind, 1)).issue > 0);
}

TEST(a_row_has_the_cost_of_its_widest_values)
{
  const uint32_t op[] = {0,
                         VYRE_ROW(VYRE_OP_const, VYRE_TYPE(VYRE_F64, 2), 0),
                         VYRE_ROW(VYRE_OP_const, VYRE_TYPE(VYRE_BOOL, 1), 0),
                         VYRE_ROW(VYRE_OP_flt, VYRE_TYPE(VYRE_BOOL, 2), 0),
                         VYRE_ROW(VYRE_OP_convert, VYRE_TYPE(VYRE_I32, 2), 0),
                         VYRE_ROW(VYRE_OP_any, VYRE_TYPE(VYRE_BOOL, 1), 0),
                         VYRE_ROW(VYRE_OP_return, 0, 0),
                         VYRE_ROW(VYRE_OP_bitcast, VYRE_TYPE(VYRE_U64, 1), 0)};
  const uint32_t a[] = {0, 0, 0, 1, 1, 3, 0, 1}, b[] = {0, 0, 0, 1, 0, 0, 0, 0}, c[] = {0, 0, 0, 0, 0, 0, 0, 0};
  const vyre_view v = {.rows = 8, .op = op, .a = a, .b = b, .c = c};
  assert_int_equal(vyre_row_works_on(&v, 3), VYRE_TYPE(VYRE_F64, 2));
  assert_int_equal(vyre_row_works_on(&v, 4), VYRE_TYPE(VYRE_F64, 2));
  assert_int_equal(vyre_row_works_on(&v, 5), VYRE_TYPE(VYRE_BOOL, 2));
  assert_int_equal(vyre_row_works_on(&v, 6), VYRE_TYPE(VYRE_VOID, 1));
  assert_int_equal(vyre_row_works_on(&v, 7), VYRE_TYPE(VYRE_U64, 2)); /* equal widths: the result's kind */
}

static void
refuses(const char *text, size_t length, const char *message)
{
  vyre_cost_model *model = (vyre_cost_model *)&model;
  char *own = malloc(length ? length : 1); /* lets a sanitizer find reads beyond the text */
  assert_non_null(own);
  memcpy(own, text, length);
  vyre_status status = vyre_cost_model_parse(own, length, "my.cost", NULL, &model);
  free(own);
  assert_int_equal(vyre_status_code(status), VYRE_CODE_USAGE);
  assert_null(model);
  if (strncmp(vyre_status_text(status), message, strlen(message)) != 0)
    fail_msg("'%s' instead of '%s'", vyre_status_text(status), message);
  assert_non_null(strstr(vyre_status_text(status), "\nFix: "));
  vyre_status_free(status);
}

#define REFUSES(text, message) refuses(text, sizeof(text) - 1, message)

TEST(errors_have_line_and_column)
{
  REFUSES("add u32 4 5 1\nadf u32 4 5 1\n", "my.cost:2:1: 'adf' is not an op\n");
  REFUSES("add,nothing_* u32 4 5 1", "my.cost:1:5: 'nothing_*' is not an op\n");
  REFUSES("add, u32 4 5 1", "my.cost:1:5: '' is not an op\n");
  REFUSES(",add u32 4 5 1", "my.cost:1:1: '' is not an op\n");
  REFUSES("null * 4 5 1", "my.cost:1:1: 'null' is not an op\n");
  REFUSES("ad u32 4 5 1", "my.cost:1:1: 'ad' is not an op\n");
  REFUSES("add u33 4 5 1", "my.cost:1:5: 'u33' is not a kind\n");
  REFUSES("add u32x2 4 5 1", "my.cost:1:5: 'u32x2' is not a kind\n");
  REFUSES("add f32,,u32 4 5 1", "my.cost:1:9: '' is not a kind\n");
  REFUSES("add void 4 5 1", "my.cost:1:5: 'void' is not a kind\n");
  REFUSES("add u* 4 5 1", "my.cost:1:5: 'u*' is not a kind\n");
  REFUSES("add u32 -1 5 1", "my.cost:1:9: '-1' is not a figure\n");
  REFUSES("add u32 4 65536 1", "my.cost:1:11: '65536' is not a figure\n");
  REFUSES("add u32 4 5 1.5", "my.cost:1:13: '1.5' is not a figure\n");
  REFUSES("add u32 99999999999999999999 5 1", "my.cost:1:9: '99999999999999999999' is not a figure\n");
  REFUSES("add u32 4 5 1 2", "my.cost:1:15: '2' is one word too many\n");
  REFUSES("add u32 4 5\nmul u32 4 5 1", "my.cost:1:12: the line ends before its registers\n");
  REFUSES("add", "my.cost:1:4: the line ends before its kinds\n");
  REFUSES("add u32 ; 4 5 1", "my.cost:1:9: the line ends before its issue\n");
}

TEST(binary_and_too_long_texts_are_refused)
{
  REFUSES("add\0 u32 4 5 1", "my.cost:1:1: 'add?' is not an op\n");
  REFUSES("add\0xxxx u32 4 5 1", "my.cost:1:1: 'add?xxxx' is not an op\n");
  REFUSES("add f32\0\0\0\0\0\0 4 5 1", "my.cost:1:5: 'f32?"
                                       "?"
                                       "?"
                                       "?"
                                       "?"
                                       "?' is not a kind\n");
  REFUSES("\0", "my.cost:1:1: '?' is not an op\n");
  REFUSES("\xff!\x1b[31m", "my.cost:1:1: '?!?[31m' is not an op\n");
  char *text = malloc(2 << 20);
  assert_non_null(text);
  memset(text, 'x', 2 << 20);
  refuses(text, 1 << 20, "my.cost:1:1: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' is not an op\n"); /* long words are cut */
  refuses(text, (1 << 20) + 1, "my.cost: the cost model has 1048577 bytes; the limit is 1048576\n");
  memset(text, '\n', 1 << 20);
  memcpy(text + (1 << 20) - 1, "y", 1);
  refuses(text, 1 << 20, "my.cost:1048576:1: 'y' is not an op\n");
  free(text);
}
