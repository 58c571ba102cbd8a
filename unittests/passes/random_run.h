/* Runs random programs.  Messages name the seed of a program that fails.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_PASSES_RANDOM_RUN_H
#define VYRE_UNITTESTS_PASSES_RANDOM_RUN_H

#include "../budget.h"
#include "../test.h"
#include "random_program.h"
#include "vyre/run.h"
#include "vyre/text.h"
#include "vyre/verify.h"

#define OUT_WORDS RANDOM_OUT
typedef random_memory memory;

static inline void
assert_ok(vyre_status status, const char *what, uint32_t seed)
{
  if (status)
    print_error("seed %u, %s: %s\n", seed, what, vyre_status_text(status));
  assert_null(status);
}

static inline vyre_module *
random_module(uint32_t seed, uint32_t shape)
{
  vyre_module *module;
  assert_ok(vyre_module_create(NULL, 1u << 20, &module), "create", seed);
  random_program_build(module, seed, shape);
  assert_ok(vyre_module_seal(module, NULL), "seal", seed);
  return module;
}

static inline void
run_program(const vyre_module *module, uint32_t seed, const char *what, memory *out)
{
  assert_ok(random_program_run(module, seed, false, 0, out), what, seed);
}

static inline void
print_module(const vyre_module *module)
{
  vyre_bytes text = {0};
  if (!vyre_text_print(module, NULL, &text))
    print_error("%s\n", text.data);
  vyre_bytes_free(&text);
}

#endif
