/* Measures the rows that the interpreter executes a second.  Each program is a loop over one kind of row, in a workgroup of 64
 * invocations.  "alone" has one invocation.
 *
 * A size is a number of row executions.  One row executed by one invocation counts as one.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "bench.h"

#include "vyre/run.h"
#include "vyre/text.h"

#include <stdlib.h>
#include <string.h>

const char bench_name[] = "bench-interp";

#define WORDS 4096u

typedef struct program {
  const char *body;
  uint32_t invocations; /* of its workgroup */
  vyre_interp_options options;
  vyre_module *module;
  uint64_t rows_a_turn; /* row executions of one iteration, by all invocations; 0 if not measured yet */
} program;

static uint32_t memory[WORDS];

static void
open_program(program *p)
{
  vyre_bytes text = {0};
  bench_check(vyre_bytes_printf(&text,
                                "program @bench workgroup(%u, 1, 1) {\n"
                                "  spec %%turns : u32 = 1u32 id(0)\n"
                                "  buffer %%x : u32[] storage rw set(0) binding(0)\n"
                                "  buffer %%tile : u32[64] workgroup\n"
                                "  var %%s : u32\n"
                                "  %%i = lindex\n"
                                "  %%f = convert %%i : f32\n"
                                "  %%h = convert %%i : f16\n"
                                "  for %%k = 0u32 to %%turns {\n",
                                p->invocations));
  bench_check(vyre_bytes_printf(&text, "%s  }\n}\n", p->body));
  p->module = bench_module();
  bench_check(vyre_text_parse(p->module, text.data, text.size, "bench", (vyre_diagnostics){0}));
  vyre_bytes_free(&text);
}

/* Runs the loop `turns` times.  Returns the number of row executions. */
static uint64_t
run_turns(program *p, uint64_t turns, uint64_t *out_time)
{
  const vyre_view *v = vyre_module_view(p->module);
  uint32_t buffer = v->first[v->first[0]];
  while (VYRE_ROW_OP(v->op[buffer]) != VYRE_OP_buffer)
    buffer = v->next[buffer];
  const vyre_binding binding = {{buffer}, memory, sizeof memory, 0};
  const vyre_spec_value spec = {0, turns};
  const vyre_dispatch dispatch = {
      .program = {v->first[0]}, .groups = {1, 1, 1}, .bindings = &binding, .binding_count = 1, .specs = &spec, .spec_count = 1};
  vyre_interp_stats stats;
  const uint64_t start = bench_now();
  bench_check(vyre_interp_run(p->module, &dispatch, &p->options, &stats));
  *out_time = bench_now() - start;
  return stats.rows;
}

static uint64_t
run_program(program *p, uint32_t rows)
{
  uint64_t time;
  if (!p->module)
    open_program(p);
  if (!p->rows_a_turn)
    p->rows_a_turn = run_turns(p, 2, &time) - run_turns(p, 1, &time);
  run_turns(p, rows / p->rows_a_turn + 1, &time);
  return time;
}

#define INTEGERS "%a = mul %i, 3u32\n %b = add %a, %k\n %c = xor %b, 77u32\n %d = ushr %c, 3u32\n set %s, %d\n"
#define SHARES   "store %tile[%i], %k\n barrier\n %a = load %tile[xor(%i, 1u32)]\n barrier\n"

/* PROGRAM(name, invocations, whether races are detected, body of the loop) */
#define PROGRAMS(PROGRAM)                                                                                                          \
  PROGRAM(integers, 64, false, INTEGERS)                                                                                           \
  PROGRAM(alone, 1, false, INTEGERS)                                                                                               \
  PROGRAM(floats, 64, false,                                                                                                       \
          "%a = mul %f, 1.5f32\n %b = add %a, %f\n %c = fma %a, %b, %f\n %d = fdiv %c, 3.0f32\n %e = sqrt %d\n")                   \
  PROGRAM(halves, 64, false, "%a = mul %h, 1.5f16\n %b = add %a, %h\n %c = fma %a, %b, %h\n %d = fdiv %c, 3.0f16\n")               \
  PROGRAM(vectors, 64, false, "%a = join %i, %k\n %b = shuffle %a, [1, 0, 1, 0] : u32x4\n %c = add %b, %b\n %d = lane %c, 2u32\n") \
  PROGRAM(memory, 64, false, "%p = at %x[add(mul(%k, 64u32), %i)]\n %a = load %p\n store %p, add(%a, 1u32)\n")                     \
  PROGRAM(atomics, 64, false, "%a = atomic_add %x[and(%i, 7u32)], 1u32\n")                                                         \
  PROGRAM(control, 64, false,                                                                                                      \
          "if ult %i, 32u32 { set %s, %k } else { set %s, %i }\n switch %i { case 1u32 { set %s, %i } default { } }\n")            \
  PROGRAM(barriers, 64, false, SHARES)                                                                                             \
  PROGRAM(races, 64, true, SHARES)

#define RUN(name, size, races, text)                                                                                       \
  static uint64_t run_##name(void *user, uint32_t rows)                                                                    \
  {                                                                                                                        \
    static program here = {                                                                                                \
        .body = text, .invocations = size, .options = {.struct_size = sizeof(vyre_interp_options), .check_races = races}}; \
    (void)user;                                                                                                            \
    return run_program(&here, rows);                                                                                       \
  }
PROGRAMS(RUN)

int
main(int count, char **arguments)
{
#define CASE(name, size, races, text) {#name, run_##name},
  static const bench_case cases[] = {PROGRAMS(CASE)};
  bench_options options = {.about = "Measures the rows that the interpreter executes a second.\n",
                           .rounds = 21,
                           .min = 10000,
                           .max = 10000000,
                           .unit = "rows"};
  bench_parse(count, arguments, &options);
  bench_run(cases, sizeof(cases) / sizeof(cases[0]), "integers", NULL, &options);
  return 0;
}
