/* Violations of the verifier's rules, one at a time: the only error has the right row and message.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"
#include "ir/verify/internal.h"

static uint32_t
hinted(fixture *x, uint32_t hints, uint32_t count, uint32_t literal)
{
  const uint32_t words[4] = {VYRE_DECORATION_HINTS, count, literal, literal};
  vyre_row loop = vyre_build_loop(&x->b);
  put(x->v->imm, loop, hints);
  vyre_row_set_decorations(x->m, loop, words, count ? 2 + count : 0);
  return loop.id;
}

static uint32_t
add_struct(fixture *x, vyre_member first, vyre_member second)
{
  vyre_type_struct(x->m, vyre_string_intern(x->m, "S", 1), (const vyre_member[]){first, second}, 2, 0);
  return 0;
}

static vyre_row
unset_buffer(fixture *x)
{
  return fixture_buffer(x, vyre_type_array(x->m, F32X2, 3, NONE, 0), VYRE_SPACE_PRIVATE, VYRE_ACCESS_UNSET, 0);
}

static vyre_row
constant_buffer(fixture *x, uint32_t initializer)
{
  vyre_row r = fixture_buffer(x, vyre_type_array(x->m, F32X2, 3, NONE, 0), VYRE_SPACE_CONSTANT, 0, 0);
  vyre_buffer_info_of(x->m, r)->initializer = initializer;
  return r;
}

static vyre_row
sized_buffer(fixture *x, vyre_row length)
{
  return fixture_buffer(x, vyre_type_array(x->m, F32, 0, length, 0), VYRE_SPACE_WORKGROUP, 0, 0);
}

static vyre_row
one_case(fixture *x, vyre_row labels, bool is_default)
{
  vyre_row choice = vyre_build_switch(&x->b, x->u);
  vyre_row c = vyre_build_case(&x->b, choice, labels, is_default);
  vyre_builder_leave(&x->b, choice);
  return c;
}

static vyre_row
element(fixture *x, vyre_row buffer)
{
  return vyre_build_at(&x->b, buffer, x->u);
}

static vyre_row
atomic(fixture *x, vyre_opcode op, vyre_type type, vyre_row path, vyre_row value, uint32_t order)
{
  return vyre_build(&x->b, op, type, 0, order, 0, path, value, NONE);
}

#define DEVICE_RELAXED VYRE_ORDER(0, 1, 0)

static uint32_t
grouped(fixture *x, vyre_opcode op, vyre_type type, uint32_t imm, vyre_row a, vyre_row b)
{
  return vyre_build(&x->b, op, type, 0, imm, 0, a, b, NONE).id;
}

static vyre_row
op1(fixture *x, vyre_opcode op, vyre_type type, vyre_row a)
{
  return op3(x, op, type, a, NONE, NONE);
}

static vyre_row
op2(fixture *x, vyre_opcode op, vyre_type type, vyre_row a, vyre_row b)
{
  return op3(x, op, type, a, b, NONE);
}

static vyre_row
built(fixture *x, vyre_opcode op, vyre_type type, uint32_t flags, uint32_t imm, uint32_t imm_hi, vyre_row a, vyre_row b)
{
  return vyre_build(&x->b, op, type, flags, imm, imm_hi, a, b, NONE);
}

#define U32X4 VYRE_TYPE(VYRE_U32, 4)

#define RULE(name, message, ...) static uint32_t name(fixture *x) __VA_ARGS__
#define ROW(name, message, ...)  RULE(name, message, { return (__VA_ARGS__).id; })
#define SPOIL(name, message, row, column, value) \
  RULE(name, message, {                          \
    vyre_row r = row;                            \
    put(x->v->column, r, value);                 \
    return r.id;                                 \
  })
#define TEXT(name, message, text)
#include "rules.def"

static const struct {
  const char *name, *text;
  uint32_t (*breaks)(fixture *x);
  const char *program; /* NULL if `breaks` is set */
} cases[] = {
#define RULE(name, message, ...)                 {#name, message, name, NULL},
#define ROW(name, message, ...)                  {#name, message, name, NULL},
#define SPOIL(name, message, row, column, value) {#name, message, name, NULL},
#define TEXT(name, message, text)                {#name, message, NULL, "program @p { %u = lindex %c = ult %u, 8u32 " text " }"},
#include "rules.def"
};

TEST(a_valid_module_has_no_errors)
{
  fixture x;
  vyre_verify_errors errors = {0};
  fixture_open(&x);
  assert_ok(vyre_verify(x.m, &errors));
  assert_ok(vyre_module_seal(x.m, NULL));
  assert_ok(vyre_verify(x.m, &errors));
  assert_int_equal(errors.count, 0);
  vyre_module_destroy(x.m);
}

/* Each violation has an error with the right row and message.  Only damaged links may cause more than one error. */
TEST(each_rule_is_checked)
{
  uint32_t failures = 0;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    fixture x;
    vyre_verify_errors errors = {0};
    vyre_status status;
    uint32_t row = 0;
    bool found = false;
    if (cases[i].program) {
      x.m = parse(cases[i].program);
    } else {
      fixture_open(&x);
      row = cases[i].breaks(&x);
    }
    assert_null(vyre_module_status(x.m));
    status = vyre_verify(x.m, &errors);
    for (uint32_t e = 0; e < errors.count; e++)
      found = found || ((cases[i].program || errors.errors[e].row == row) && strstr(errors.errors[e].message, cases[i].text));
    if (!status || !found || (errors.count > 1 && !errors.damaged)) {
      failures++;
      print_message("%s: row %u, wanted \"%s\", got %u errors\n", cases[i].name, row, cases[i].text, errors.count);
      for (uint32_t e = 0; e < errors.count && e < 5; e++)
        print_message("    %u: %s\n", errors.errors[e].row, errors.errors[e].message);
    }
    vyre_status_free(status);
    vyre_verify_errors_free(&errors);
    vyre_module_destroy(x.m);
  }
  assert_int_equal(failures, 0);
}

/* Paths: one of five rows and two of four in the first program, one of four in the second program.  The second program has three
 * nested control rows, in two places. */
static const char limited[] = "program @first {\n"
                              "  buffer %out : u32[] storage rw set(0) binding(0)\n"
                              "  %sum = add gid.x, 1u32\n"
                              "  %deep = mul %sum, %sum\n"
                              "  store %out[%sum], %deep\n"
                              "  %a = add gid.x, 2u32 %b = add gid.x, 3u32 %c = add gid.x, 4u32\n"
                              "  %d = add gid.x, 5u32 %e = add gid.x, 6u32 %f = add gid.x, 7u32 %g = add gid.x, 8u32\n"
                              "}\n"
                              "program @second {\n"
                              "  %c = ult gid.x, 1u32\n"
                              "  loop { block { block { } } block { block { } } } continuing { breakif %c }\n"
                              "}\n";

/* Asserts that the number of errors and the first row and message are as given. */
static void
check_limits(const vyre_module *module, verify_limits limits, uint32_t count, const char *name, const char *message)
{
  vyre_verify_errors errors = {0};
  vyre_status status = vyre_verify_within(module, limits, &errors);
  assert_int_equal(errors.count, count);
  assert_true((status != NULL) == (count != 0));
  if (count) {
    assert_non_null(strstr(errors.errors[0].message, name));
    assert_non_null(strstr(errors.errors[0].message, message));
  }
  vyre_status_free(status);
  vyre_verify_errors_free(&errors);
}

TEST(a_program_at_the_limits_is_valid_and_one_above_is_not)
{
  vyre_module *module = parse(limited);
  const vyre_view *v = vyre_module_view(module);
  const uint32_t second = v->next[v->first[0]], most = second - v->first[0];
  const verify_limits at = {most, 5, 3};
  assert_true(v->rows - second < most);
  check_limits(module, at, 0, NULL, NULL);
  check_limits(module, (verify_limits){most - 1, 5, 3}, 1, "@first", "rows; the limit is");
  check_limits(module, (verify_limits){most, 4, 3}, 1, "(store)", "depends on a chain of 5 rows");
  check_limits(module, (verify_limits){most, 3, 3}, 3, "%deep", "depends on a chain of 4 rows");
  check_limits(module, (verify_limits){most, 5, 2}, 2, "(block)",
               "is nested in 2 constructs (if, loop, for, switch, block); the limit is 2");
  check_limits(module, (verify_limits){most, 5, 0}, 1, "(loop)", "is nested in 0 constructs");
  vyre_module_destroy(module);
}

/* A path is as long as the program, and a program with fewer rows than a path may have is not measured. */
TEST(a_path_through_all_rows_is_measured)
{
  enum { ADDS = 100 };
  vyre_module *module = new_module();
  vyre_builder b;
  vyre_build_program(module, "main", 0, vyre_module_add_input(module, "test"), &b);
  vyre_row sum = vyre_build(&b, VYRE_OP_lindex, U32, 0, 0, 0, NONE, NONE, NONE);
  for (uint32_t i = 0; i < ADDS; i++)
    sum = vyre_build_imm(&b, VYRE_OP_add, sum, 1);
  assert_ok(vyre_module_seal(module, NULL));
  check_limits(module, (verify_limits){UINT32_MAX, ADDS + 1, 0}, 0, NULL, NULL);
  check_limits(module, (verify_limits){UINT32_MAX, ADDS, 0}, 1, "(add)", "depends on a chain of 101 rows");
  vyre_module_destroy(module);
}
