/* Running random programs, and saying which one went wrong: what their tests share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_PASSES_RANDOM_RUN_H
#define VYRE_UNITTESTS_PASSES_RANDOM_RUN_H

#include "random_program.h"
#include "vyre/run.h"
#include "vyre/text.h"
#include "vyre/verify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define OUT_WORDS (RANDOM_INVOCATIONS * RANDOM_WORDS)
#define IN_WORDS  64u

typedef struct memory {
  uint32_t out[OUT_WORDS], in[IN_WORDS];
} memory;

static inline uint32_t
from_environment(const char *name, uint32_t fallback)
{
  const char *text = getenv(name);
  return text ? (uint32_t)strtoul(text, NULL, 0) : fallback;
}

static inline void
assert_ok(vyre_status status, const char *what, uint32_t seed)
{
  if (status)
    print_error("seed %u, %s: %s\n", seed, what, vyre_status_text(status));
  assert_null(status);
}

static inline vyre_status
try_program(const vyre_module *module, uint32_t seed, bool report_undefined, memory *out)
{
  const vyre_view *v = vyre_module_view(module);
  vyre_binding bindings[2];
  vyre_dispatch dispatch = {.program = {v->first[0]}, .groups = {2, 1, 1}, .bindings = bindings};
  vyre_interp_options options = {.steps = 1u << 20, .report_undefined = report_undefined, .check_races = true}; /* it has none */
  options.subgroup = 1u << (seed >> 1) % 4; /* workgroups are of 4 */
  memset(out->out, 0xab, sizeof out->out);
  for (uint32_t i = 0; i < IN_WORDS; i++)
    out->in[i] = i < 8 ? i : (i * 2654435761u) ^ seed << (i & 15);
  for (uint32_t row = v->first[v->first[0]]; row; row = v->next[row]) {
    if (VYRE_ROW_OP(v->op[row]) != VYRE_OP_buffer || VYRE_BUFFER_SPACE(v->imm_hi[row]) != VYRE_SPACE_STORAGE)
      continue;
    if (vyre_buffer_info_of((vyre_module *)module, (vyre_row){row})->binding == 0)
      bindings[dispatch.binding_count++] = (vyre_binding){{row}, out->out, sizeof out->out};
    else
      bindings[dispatch.binding_count++] = (vyre_binding){{row}, out->in, sizeof out->in};
  }
  assert_int_equal(dispatch.binding_count, 2);
  return vyre_interp_run(module, &dispatch, &options, NULL);
}

static inline void
run_program(const vyre_module *module, uint32_t seed, const char *what, memory *out)
{
  assert_ok(try_program(module, seed, false, out), what, seed);
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
