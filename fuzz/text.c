/* Fuzz target: `.vir` text.  A module that parses and verifies is printed, parsed again and printed again.  Both texts must be
 * equal.  The module is also passed to every other function that takes a module.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "vyre/text.h"
#include "vyre/verify.h"

static void
format(void *user, const vyre_diagnostic *diagnostic)
{
  char text[256];
  (void)user;
  vyre_diagnostic_format(diagnostic, text, sizeof text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  vyre_module *module = fuzz_module(0);
  vyre_verify_errors errors = {0};
  if (!fuzz_allow(vyre_text_parse(module, (const char *)data, size, "input", (vyre_diagnostics){format, NULL}), "parsing"))
    return 0;
  if (fuzz_allow(vyre_verify(module, &errors), "verifying")) {
    fuzz_exercise(module, true);
  } else {
    vyre_bytes text = {0};
    fuzz_require(vyre_verify_print(module, &errors, &text), "printing errors");
    vyre_bytes_free(&text);
  }
  vyre_verify_errors_free(&errors);
  return 0;
}

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t capacity, unsigned seed)
{
  return fuzz_mutate_text(data, size, capacity, seed);
}
