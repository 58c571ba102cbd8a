/* In a program that has set a locale with a decimal comma, vyre writes and reads floats with a decimal point.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <locale.h>
#include "../test.h"

#include "vyre/cross.h"
#include "vyre/glsl.h"
#include "vyre/passmgr.h"
#include "vyre/spirv.h"
#include "vyre/text.h"

#include "rules.h"

static const char text[] = "program @p workgroup(1, 1, 1) {\n"
                           "  buffer %h : f16[] storage rw set(0) binding(0)\n"
                           "  buffer %s : f32[] storage rw set(0) binding(1)\n"
                           "  buffer %d : f64[] storage rw set(0) binding(2)\n"
                           "  %g = load %s[0u32]\n"
                           "  %k = add 0.75f32, 1.5f32\n"
                           "  store %h[0u32], 0.333251953125f16\n"
                           "  store %s[1u32], mul(%g, 0.1f32)\n"
                           "  store %s[2u32], %k\n"
                           "  store %s[3u32], 3.4028234663852886e38f32\n"
                           "  store %d[0u32], 0.30000000000000004f64\n"
                           "  store %d[1u32], 2.2250738585072014e-308f64\n"
                           "}\n";
static const char shader[] = "#version 450\nlayout(local_size_x = 1) in;\nlayout(set = 0, binding = 0) buffer B { float x; };\n"
                             "void main() { x = x * 0.75 + 1.5e-3; }\n";

static void *
allocate(void *user, size_t bytes)
{
  void **blocks = user;
  while (*blocks)
    blocks++;
  return *blocks = calloc(1, bytes);
}

/* Writes all kinds of output that contain floats, one after the other. */
static void
write_all(vyre_bytes *out)
{
  vyre_module *module;
  vyre_bytes words = {0};
  assert_null(vyre_module_create(NULL, 4096, &module));
  vyre_status status = vyre_text_parse(module, text, sizeof(text) - 1, "p.vir", (vyre_diagnostics){0});
  assert_string_equal(vyre_status_text(status), "");
  assert_null(vyre_text_print(module, NULL, out));
  assert_null(vyre_spirv_write(module, 0, NULL, &words));
  status = vyre_cross_write(words.data, words.size, "p.spv", NULL, out);
  assert_string_equal(vyre_status_text(status), "");
  words.size = 0;
  vyre_module_destroy(module);

  vyre_report *report;
  assert_null(vyre_report_create(NULL, &report));
  vyre_report_add_time(report, "read", 0, 1234567);
  vyre_report_add_time(report, "write", 0, 1999999);
  assert_null(vyre_report_times(report, out));
  out->size = (size_t)(strstr(out->data, "  total\n") - out->data); /* the total depends on the time of the test */
  vyre_report_destroy(report);

  assert_null(vyre_glsl_compile(shader, sizeof(shader) - 1, "s.comp", NULL, (vyre_diagnostics){0}, &words));
  assert_null(vyre_bytes_append(out, words.data, words.size));
  vyre_bytes_free(&words);
}

/* Returns the bits of the constant in `mul(x, 0.5) => x`. */
static uint64_t
rule_constant(void)
{
  static const char rule[] = "half (float): mul(x, 0.5) => x";
  void *blocks[64] = {NULL};
  rules_set set = {0};
  rules_errors errors;
  if (!rules_parse((rules_memory){allocate, blocks}, "test", rule, sizeof(rule) - 1, &set, &errors))
    fail_msg("%s", errors.items[0].message);
  const rules_rule *r = &set.rules[0];
  const uint64_t bits = r->nodes[r->nodes[r->pattern].operand[1]].bits;
  for (void **block = blocks; *block; block++)
    free(*block);
  return bits;
}

TEST(floats_have_a_decimal_point_in_every_locale)
{
  vyre_bytes before = {0}, after = {0};
  char comma[16];
  write_all(&before);
  const uint64_t half = rule_constant();
  assert_non_null(strstr(before.data, "0.1f32"));
  assert_non_null(strstr(before.data, "       1.235   38.2        0.000        1.235 "));
  assert_non_null(setlocale(LC_ALL, "de_DE.UTF-8"));
  snprintf(comma, sizeof(comma), "%.1f", 0.5);
  assert_string_equal(comma, "0,5"); /* otherwise the test shows nothing */
  write_all(&after);
  assert_int_equal(before.size, after.size);
  assert_memory_equal(before.data, after.data, before.size);
  assert_true(rule_constant() == half);
  setlocale(LC_ALL, "C");
  vyre_bytes_free(&before);
  vyre_bytes_free(&after);
}

int
main(void)
{
  setenv("LOCPATH", VYRE_TEST_LOCALES, 1);
  return test_run(NULL, NULL);
}
