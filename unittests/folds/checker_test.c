/* The checker reports errors that are planted in terms and folds, with their points.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "fold.h"

enum { RANDOM = 1000 }; /* random points; with fewer, not all combinations of edges are points */

/* ---- wrong folds ---------------------------------------------------------------------------------------------------- */

static vyre_opcode wrong_op;
static uint64_t wrong_x, wrong_y, wrong_result;
static bool wrong_undefined;

/* Evaluates as vyre_eval does, except for one point of one op. */
static bool
wrong_eval(uint32_t op_word, uint32_t imm, uint32_t imm_hi, const vyre_eval_operand operands[3], vyre_value out[VYRE_EVAL_PARTS],
           bool *out_undefined)
{
  const bool known = vyre_eval(op_word, imm, imm_hi, operands, out, out_undefined);
  const uint32_t lanes = VYRE_TYPE_LANES(VYRE_ROW_TYPE(op_word));
  for (uint32_t i = 0; i < lanes && VYRE_ROW_OP(op_word) == (uint32_t)wrong_op; i++)
    if (operands[0].value->lane[i] == wrong_x && (!operands[1].value || operands[1].value->lane[i] == wrong_y)) {
      out[0].lane[i] = wrong_result;
      *out_undefined = wrong_undefined || (lanes > 1 && *out_undefined);
    }
  return known;
}

static bool
signed_eval(uint32_t op_word, uint32_t imm, uint32_t imm_hi, const vyre_eval_operand operands[3], vyre_value out[VYRE_EVAL_PARTS],
            bool *out_undefined)
{
  const bool known = vyre_eval(op_word, imm, imm_hi, operands, out, out_undefined);
  if (vyre_kind_is_signed(VYRE_TYPE_KIND(operands[0].type)) && operands[0].value->lane[0] == 5)
    out[0].lane[0] ^= 1;
  return known;
}

static bool
vector_eval(uint32_t op_word, uint32_t imm, uint32_t imm_hi, const vyre_eval_operand operands[3], vyre_value out[VYRE_EVAL_PARTS],
            bool *out_undefined)
{
  const bool known = vyre_eval(op_word, imm, imm_hi, operands, out, out_undefined);
  if (VYRE_TYPE_LANES(VYRE_ROW_TYPE(op_word)) == 3)
    out[0].lane[2] ^= 1;
  return known;
}

/* ---- helpers -------------------------------------------------------------------------------------------------------- */

/* Returns a list of the only case of the op on the kind. */
static fold_list
only(vyre_opcode op, vyre_kind kind)
{
  fold_list list = {0};
  fold_lanes(&list, 1, 64, vyre_kind_is_float(kind));
  uint32_t kept = 0;
  for (uint32_t i = 0; i < list.count; i++)
    if (list.cases[i].op == op && list.cases[i].kind == kind)
      list.cases[kept++] = list.cases[i];
    else
      free(list.cases[i].terms);
  list.count = kept;
  assert_int_equal(kept, 1);
  return list;
}

/* Checks the list and frees it.  Returns the report, owned by the caller. */
static char *
check(fold_list *list, fold_eval eval, bool *out_answered, uint32_t *out_wrong)
{
  char *text = NULL;
  size_t size = 0;
  FILE *report = open_memstream(&text, &size);
  assert_non_null(report);
  fold_counts counts;
  *out_answered = fold_check(list, eval, RANDOM, report, &counts);
  *out_wrong = counts.wrong;
  assert_int_equal(fclose(report), 0);
  fold_list_free(list);
  return text;
}

static void
expect(fold_list list, fold_eval eval, const char *want)
{
  bool answered;
  uint32_t wrong;
  char *report = check(&list, eval, &answered, &wrong);
  if (!strstr(report, want))
    fail_msg("the report is\n%s\nwithout\n%s", report, want);
  assert_true(wrong || !answered);
  free(report);
}

static void
plant(vyre_opcode op, vyre_kind kind, uint64_t x, uint64_t y, uint64_t result, bool undefined, const char *want)
{
  wrong_op = op;
  wrong_x = x;
  wrong_y = y;
  wrong_result = result;
  wrong_undefined = undefined;
  expect(only(op, kind), wrong_eval, want);
}

/* Replaces a text by another of the same length in the case's terms. */
static void
replace(fold_list *list, const char *from, const char *to)
{
  char *at = strstr(list->cases[0].terms, from);
  assert_non_null(at);
  assert_int_equal(strlen(from), strlen(to));
  memcpy(at, to, strlen(to));
}

/* ---- tests ---------------------------------------------------------------------------------------------------------- */

TEST(the_report_is_empty_if_all_points_agree)
{
  fold_list list = only(VYRE_OP_srem, VYRE_U32);
  bool answered;
  uint32_t wrong;
  char *report = check(&list, vyre_eval, &answered, &wrong);
  assert_string_equal(report, "");
  assert_true(answered);
  assert_int_equal(wrong, 0);
  free(report);
}

TEST(a_wrong_fold_is_reported)
{
  plant(VYRE_OP_sdiv, VYRE_U16, 0x8000, 0xffff, 0x7fff, true,
        "sdiv u16, u16 : u16: at x = 0x8000, y = 0xffff vyre_eval gives #x7fff, undefined, the term #x8000 true");
  plant(VYRE_OP_add, VYRE_F32, 0x80000000, 0x80000000, 0, false,
        "add f32, f32 : f32: at x = 0x80000000, y = 0x80000000 vyre_eval gives #x00000000, defined, the term #x80000000");
  plant(VYRE_OP_fabs, VYRE_F64, UINT64_C(0x8000000000000000), 0, 1, false,
        "at x = 0x8000000000000000 vyre_eval gives #x0000000000000001, defined, the term #x0000000000000000");
  plant(VYRE_OP_flt, VYRE_F16, 0x7e00, 0, 1, false, "vyre_eval gives true, defined, the term false");
}

TEST(a_wrong_undefined_flag_is_reported)
{
  plant(VYRE_OP_udiv, VYRE_U32, 0, 0, 0xffffffff, false,
        "at x = 0x0, y = 0x0 vyre_eval gives #xffffffff, defined, the term #xffffffff true");
  plant(VYRE_OP_add, VYRE_U32, 0, 0, 0, true, "is undefined, and never should be, at x = 0x0, y = 0x0");
}

TEST(errors_that_terms_cannot_express_are_reported)
{
  plant(VYRE_OP_sqrt, VYRE_F32, 0xff800000, 0, 0xffc00000, true,
        "a NaN with other bits than the canonical ones, at x = 0xff800000");
  expect(only(VYRE_OP_not, VYRE_U8), signed_eval, "not u8 : u8: differs between signed and unsigned operands, at x = 0x5");
  expect(only(VYRE_OP_not, VYRE_U8), vector_eval, "not u8 : u8: differs between a vector's lane and the scalar, at x = ");
}

TEST(a_wrong_term_is_reported)
{
  fold_list list = only(VYRE_OP_srem, VYRE_U8);
  replace(&list, "(bvsrem x y)", "(bvurem x y)");
  expect(list, vyre_eval, "srem u8, u8 : u8: at x = 0x");
  list = only(VYRE_OP_sub, VYRE_F64);
  replace(&list, "(fp.sub RNE x y)", "(fp.sub RTZ x y)");
  expect(list, vyre_eval, "sub f64, f64 : f64: at x = 0x");
  list = only(VYRE_OP_shl, VYRE_U64);
  replace(&list, "(bvurem y width)", "y               ");
  expect(list, vyre_eval, "shl u64, u64 : u64: at x = 0x");
}

TEST(an_invalid_or_missing_term_is_reported)
{
  fold_list list = only(VYRE_OP_srem, VYRE_U8);
  replace(&list, "(bvsrem x y)", "(bvnone x y)");
  expect(list, vyre_eval, "srem u8, u8 : u8: z3 answers: (error");

  char *text = NULL;
  size_t size = 0;
  FILE *report = open_memstream(&text, &size);
  assert_non_null(report);
  list = only(VYRE_OP_srem, VYRE_U8);
  assert_true(fold_missing(&list, report) > 100);
  assert_int_equal(fclose(report), 0);
  assert_non_null(strstr(text, "srem on i16 folds and has no SMT-LIB term\nFix: "));
  assert_null(strstr(text, "srem on u8 "));
  free(text);
  fold_list_free(&list);
}

TEST(a_missing_z3_is_reported)
{
  assert_int_equal(setenv("Z3", "/nowhere/z3", 1), 0);
  expect(only(VYRE_OP_srem, VYRE_U8), vyre_eval, "z3 does not run (/nowhere/z3)\nFix: ");
  assert_int_equal(unsetenv("Z3"), 0);
}
