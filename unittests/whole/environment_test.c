/* A program whose threads compute in another floating-point environment: all output of vyre has the same bytes, no exception
 * traps in vyre, and the environment of the program is restored.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "whole.h"

#include <fenv.h>

static const char *const inputs[] = {
    VYRE_TEST_SOURCES "/unittests/whole/floats.vir",
    VYRE_TEST_SOURCES "/unittests/text/corpus/literals.vir",
    VYRE_TEST_SOURCES "/examples/shaders/particles.comp",
    VYRE_TEST_SOURCES "/unittests/vir0/version1.vir0",
};

enum { INPUTS = sizeof inputs / sizeof *inputs };

/* ---- environments -------------------------------------------------------------------------------------------------------- */

/* Returns the control register of SSE or of the processor, with exception flags if the register has them. */
static uint64_t
read_control(void)
{
#if defined(__x86_64__)
  uint32_t sse;
  __asm__ volatile("stmxcsr %0" : "=m"(sse));
  return sse;
#elif defined(__aarch64__)
  uint64_t control;
  __asm__ volatile("mrs %0, fpcr" : "=r"(control));
  return control;
#else
  return 0;
#endif
}

static void
flush_denormals(void)
{
#if defined(__x86_64__)
  const uint32_t sse = (uint32_t)read_control() | 0x8040u; /* FTZ, DAZ */
  __asm__ volatile("ldmxcsr %0" : : "m"(sse));
#elif defined(__aarch64__)
  const uint64_t control = read_control() | UINT64_C(1) << 24; /* FZ */
  __asm__ volatile("msr fpcr, %0" : : "r"(control));
#endif
}

static void
round_up(void)
{
  fesetround(FE_UPWARD);
}

static void
round_down(void)
{
  fesetround(FE_DOWNWARD);
}

static void
round_to_zero(void)
{
  fesetround(FE_TOWARDZERO);
}

static void
trap_exceptions(void)
{
  feenableexcept(FE_ALL_EXCEPT);
}

static void
trap_and_flush_and_round(void)
{
  trap_exceptions();
  flush_denormals();
  round_up();
}

static void
raise_flags(void)
{
  feraiseexcept(FE_INVALID | FE_UNDERFLOW);
}

static void (*const environments[])(void) = {
    flush_denormals, round_up, round_down, round_to_zero, raise_flags, trap_exceptions, trap_and_flush_and_round};

typedef struct environment {
  uint64_t control;
  int rounding, traps, flags;
} environment;

static environment
read_environment(void)
{
  environment e;
  memset(&e, 0, sizeof e);
  e.control = read_control();
  e.rounding = fegetround();
  e.traps = fegetexcept();
  e.flags = fetestexcept(FE_ALL_EXCEPT);
  return e;
}

/* ---- computations -------------------------------------------------------------------------------------------------------- */

/* Appends the message of a status, if there is one, and frees it. */
static void
append(vyre_bytes *out, vyre_status status)
{
  assert_null(vyre_bytes_append(out, vyre_status_text(status), strlen(vyre_status_text(status))));
  vyre_status_free(status);
}

static void
write_other_code(whole *w)
{
  const vyre_view *v = vyre_module_view(w->read);
  for (uint32_t program = v->first[0]; program; program = v->next[program]) {
    append(&w->out, vyre_c_write(w->read, (vyre_row){program}, NULL, &w->out));
    append(&w->out, vyre_ptx_write(w->read, (vyre_row){program}, NULL, &w->out));
  }
}

/* Evaluates a value, prints a literal, and appends a report of times. */
static void
evaluate(whole *w)
{
  const vyre_value tiny = {{0x00800000u}}, half = {{0x3f000000u}};
  const vyre_type f32 = VYRE_TYPE(VYRE_F32, 1);
  const vyre_eval_operand operands[3] = {{&tiny, 0, f32, 0}, {&half, 0, f32, 0}, {NULL, 0, 0, 0}};
  vyre_value product[VYRE_EVAL_PARTS];
  vyre_report *report;
  char text[48];
  bool undefined;
  assert_true(vyre_eval(VYRE_ROW(VYRE_OP_mul, f32, 0), 0, 0, operands, product, &undefined));
  assert_int_equal(product[0].lane[0], 0x00400000u);
  vyre_text_literal(VYRE_TYPE(VYRE_F64, 1), UINT64_C(0x3fb999999999999a), text);
  assert_string_equal(text, "0.1f64");
  assert_null(vyre_report_create(NULL, &report));
  vyre_report_add_time(report, "read", 0, 1234567);
  vyre_report_add_time(report, "write", 0, 1999999);
  const size_t size = w->out.size;
  assert_null(vyre_report_times(report, &w->out));
  w->out.size = (size_t)(strstr(w->out.data + size, "  total\n") - w->out.data); /* the total depends on the time of the test */
  vyre_report_destroy(report);
}

static vyre_bytes
run(const char *path)
{
  whole w = {.path = path};
  vyre_status status = whole_run(&w);
  assert_string_equal(vyre_status_text(status), "");
  write_other_code(&w);
  evaluate(&w);
  vyre_bytes made = w.out;
  assert_null(vyre_bytes_append(&made, w.file.data, w.file.size));
  w.out = (vyre_bytes){0};
  whole_free(&w);
  return made;
}

TEST(the_environment_of_the_caller_has_no_effect_and_is_kept)
{
  vyre_bytes expected[INPUTS];
  for (uint32_t i = 0; i < INPUTS; i++)
    expected[i] = run(inputs[i]);
  for (uint32_t k = 0; k < sizeof environments / sizeof *environments; k++) {
    vyre_bytes made[INPUTS];
    environments[k]();
    const environment before = read_environment();
    for (uint32_t i = 0; i < INPUTS; i++)
      made[i] = run(inputs[i]);
    const environment after = read_environment();
    fesetenv(FE_DFL_ENV);
    assert_memory_equal(&before, &after, sizeof before);
    for (uint32_t i = 0; i < INPUTS; i++) {
      assert_int_equal(made[i].size, expected[i].size);
      assert_memory_equal(made[i].data, expected[i].data, made[i].size);
      vyre_bytes_free(&made[i]);
    }
  }
  for (uint32_t i = 0; i < INPUTS; i++)
    vyre_bytes_free(&expected[i]);
}
