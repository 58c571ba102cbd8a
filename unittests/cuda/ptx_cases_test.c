/* Instructions one by one.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "ptx_cases.h"
#include "ptx_fixture.h"

static const char *
type_of(char letter)
{
  return letter == 'h' ? "b16" : letter == 'w' ? "b32" : "b64";
}

/* The kernel of a case: operands are loaded, so that nothing can be folded, and the result is stored. */
static void
write_kernel(const ptx_case *c, char *out, size_t size)
{
  static const char names[] = "dabc";
  const size_t count = strlen(c->signature);
  int used = snprintf(out, size,
                      ".version %s\n.target sm_%u\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in)\n{\n"
                      ".reg .b64 %%out, %%in;\n.reg .b64 %%wide;\n.reg .pred %%p;\n",
                      c->sm >= 90 ? "8.0" : "7.8", c->sm ? c->sm : 75);
  for (size_t k = 0; k < count; k++)
    if (c->signature[k] != 'p')
      used += snprintf(out + used, size - (size_t)used, ".reg .%s %%%c;\n", type_of(c->signature[k]), names[k]);
  used += snprintf(out + used, size - (size_t)used, "ld.param.u64 %%out, [out];\nld.param.u64 %%in, [in];\n");
  for (size_t k = 1; k < count; k++)
    if (c->signature[k] == 'p')
      used += snprintf(out + used, size - (size_t)used, "ld.global.u64 %%wide, [%%in+%zu];\nsetp.ne.u64 %%p, %%wide, 0;\n",
                       8 * (k - 1));
    else
      used += snprintf(out + used, size - (size_t)used, "ld.global.%s %%%c, [%%in+%zu];\n", type_of(c->signature[k]), names[k],
                       8 * (k - 1));
  snprintf(out + used, size - (size_t)used, "%s;\nst.global.%s [%%out], %%d;\nret;\n}\n", c->text, type_of(c->signature[0]));
}

TEST(each_instruction_gives_its_documented_result)
{
  uint32_t wrong = 0;
  for (uint32_t i = 0; i < ptx_case_count; i++) {
    const ptx_case *c = &ptx_cases[i];
    char text[2048];
    uint64_t in[3] = {c->a, c->b, c->c}, out = 0;
    write_kernel(c, text, sizeof text);
    ptx_test t = {.text = text};
    ptx_test_buffer(&t, 0, &out, sizeof out);
    ptx_test_buffer(&t, 1, in, sizeof in);
    if (!ptx_test_run(&t)) {
      print_message("'%s': %s%s\n", c->text, t.log, t.fault.text);
      wrong++;
    } else if (out != c->want) {
      print_message("'%s' of 0x%llx, 0x%llx, 0x%llx: 0x%llx, not 0x%llx\n", c->text, (unsigned long long)c->a,
                    (unsigned long long)c->b, (unsigned long long)c->c, (unsigned long long)out, (unsigned long long)c->want);
      wrong++;
    }
  }
  assert_int_equal(wrong, 0);
}
