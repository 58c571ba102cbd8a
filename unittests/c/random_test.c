/* Compares random programs as C to the interpreter: all buffers have the same bytes.
 *
 * BATCH programs are one text, compiled with all warnings as errors.  C and the interpreter run a relaxed program by strict
 * rules.  VYRE_SEED and VYRE_RUNS in the environment are the first seed and the number of programs.  run_c.h describes the
 * variables for another compiler or other options, such as sanitizers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "random_program.h"
#include "run_c.h"

#include "vyre/verify.h"

#include <dlfcn.h>
#include <inttypes.h>

#define BATCH 50u

/* Compares a program whose C has subgroups of that size. */
static void
check_program(void *library, const vyre_module *module, uint32_t program, uint64_t seed, uint32_t subgroup)
{
  static random_memory wanted, got;
  const bool relaxed = (vyre_module_view(module)->imm[program] & VYRE_PROGRAM_RELAXED) != 0;
  const uint32_t unbound = relaxed ? 0 : (uint32_t)(seed >> 2) * 2654435761u >> 27;
  const char *name = vyre_row_name(module, (vyre_row){program});
  vyre_binding bindings[RANDOM_BINDINGS];
  random_program_fill(&wanted, seed);
  vyre_dispatch dispatch = {.program = {program}, .groups = {RANDOM_GROUPS, 1, 1}, .bindings = bindings};
  dispatch.binding_count = random_program_bind(module, program, seed, unbound, &wanted, bindings);
  const vyre_interp_options options = {.struct_size = sizeof options, .steps = 1u << 20, .subgroup = subgroup};
  vyre_status status = vyre_interp_run(module, &dispatch, &options, NULL);
  random_program_fill(&got, seed);
  dispatch.binding_count = random_program_bind(module, program, seed, unbound, &got, bindings);
  const uint32_t fault = run_c(library, module, &dispatch, seed % 3 != 0);
  if ((fault != 0) != (status != NULL)) {
    print_program(module, program);
    fail_msg("seed %" PRIu64 " (%s): fault %u; the interpreter says '%s'", seed, name, fault, vyre_status_text(status));
  }
  const uint32_t *is = (const uint32_t *)&got, *was = (const uint32_t *)&wanted;
  for (uint32_t i = 0; !status && i < sizeof got / sizeof *is; i++)
    if (is[i] != was[i]) {
      print_program(module, program);
      fail_msg("seed %" PRIu64 " (%s): word %u of memory is 0x%08x, the interpreter has 0x%08x", seed, name, i, is[i], was[i]);
    }
  vyre_status_free(status);
}

/* Builds a batch of random programs, and removes those with float modes, which C cannot express.  Returns the number of programs
 * left. */
static uint32_t
build_batch(vyre_module *module, uint64_t seed, uint32_t count)
{
  const vyre_view *v = vyre_module_view(module);
  uint32_t left = 0;
  for (uint32_t i = 0; i < count; i++)
    random_program_build(module, seed + i, (i % 4 ? RANDOM_WIDE : 0) | (i % 8 == 7 ? RANDOM_RELAXED : 0));
  uint32_t i = 0;
  for (uint32_t row = v->first[0], next; row; row = next, i++) {
    char name[32];
    snprintf(name, sizeof name, "seed_%" PRIu64, seed + i);
    next = v->next[row];
    vyre_row_set_name(module, (vyre_row){row}, name, strlen(name));
    if (v->imm[row] & VYRE_PROGRAM_FLOAT_MODES)
      vyre_row_kill(module, (vyre_row){row});
    else
      left++;
  }
  assert_ok(vyre_module_seal(module, NULL), "seal");
  return left;
}

TEST(random_programs_compute_the_same_as_the_interpreter)
{
  const uint32_t runs = budget_runs(200), seed = budget_number("VYRE_SEED", 1);
  uint32_t compared = 0;
  vyre_module *module;
  const double start = seconds_now();
  assert_ok(vyre_module_create(NULL, 0, &module), "module");
  for (uint32_t batch = 0; compared < runs; batch++) {
    const uint64_t first = seed + (uint64_t)batch * BATCH;
    const vyre_c_options options = {.struct_size = sizeof options, .subgroup = 1u << batch % 4};
    vyre_bytes text = {0};
    vyre_module_clear(module);
    compared += build_batch(module, first, BATCH);
    vyre_verify_errors errors = {.allocator = vyre_module_allocator(module)};
    assert_ok(vyre_verify(module, &errors), "verify");
    vyre_verify_errors_free(&errors);
    assert_ok(vyre_c_write(module, VYRE_NONE, &options, &text), "C");
    void *library = compile_c(&text, batch);
    const vyre_view *v = vyre_module_view(module);
    for (uint32_t row = v->first[0]; row; row = v->next[row])
      check_program(library, module, row, strtoull(vyre_row_name(module, (vyre_row){row}) + 5, NULL, 10), options.subgroup);
    dlclose(library);
    vyre_bytes_free(&text);
  }
  print_message("%u programs compared, %.1f ms each, of which the C compiler took %.1f ms\n", compared,
                1e3 * (seconds_now() - start) / compared, 1e3 * compile_seconds / compared);
  vyre_module_destroy(module);
}
