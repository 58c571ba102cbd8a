/* Compares random programs as PTX in the simulator to the interpreter: all buffers have the same bytes.  The seed selects the
 * simulator's schedule.  ptxas compiles the programs.
 *
 * Relaxed programs run only if the interpreter reports no undefined behavior.  VYRE_SEED and VYRE_RUNS in the environment are the
 * first seed and the number of programs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ptxas.h"
#include "random_program.h"
#include "run_driver.h"
#include "run_ptx.h"

#include "vyre/text.h"
#include "vyre/verify.h"

#include <inttypes.h>

static const uint32_t architectures[] = {75, 80, 90, 100};

static void
print_program(const vyre_module *module, uint32_t program, const vyre_bytes *ptx)
{
  vyre_bytes text = {0};
  const vyre_text_options options = {.struct_size = sizeof options, .program = program, .rows = true};
  if (!vyre_text_print(module, &options, &text))
    fprintf(stderr, "%s\n", text.data);
  if (getenv("VYRE_TEST_KEEP"))
    fprintf(stderr, "%s\n", ptx->data);
  vyre_bytes_free(&text);
}

/* Returns the flags of a random program.  A seed whose relaxed program may have undefined behavior builds a strict one. */
static uint32_t
flags_of(uint64_t seed)
{
  const bool careful = (seed & 6) != 0;
  return (seed % 4 ? RANDOM_WIDE : 0) | (seed % 8 == 7 && careful ? RANDOM_RELAXED : 0);
}

/* Builds a random program without functions whose last bits differ between PTX and the interpreter.  Other operations with as
 * many operands replace them.  ops_test.c checks their bounds. */
static void
build_exact(vyre_module *module, uint64_t seed)
{
  random_program_build(module, seed, flags_of(seed));
  const vyre_view *v = vyre_module_view(module);
  for (uint32_t row = 1; row < v->rows; row++) {
    const uint32_t op = VYRE_ROW_OP(v->op[row]), rest = v->op[row] & ~0xffffu;
    if (op >= VYRE_OP_sin && op <= VYRE_OP_pow)
      vyre_row_rewrite(module, (vyre_row){row}, (op < VYRE_OP_atan2 ? VYRE_OP_fabs : VYRE_OP_step) | rest, v->imm[row],
                       v->imm_hi[row], (vyre_row){v->a[row]}, (vyre_row){v->b[row]}, (vyre_row){v->c[row]});
  }
}

/* Inserts a few barriers for the whole grid at the top of the program, in blocks or not, and before some of them a `return` of some
 * invocations. */
static void
put_grid_barriers(vyre_module *module, uint64_t seed)
{
  const vyre_view *v = vyre_module_view(module);
  const uint32_t program = v->first[0];
  uint64_t state = seed;
  uint32_t last = 0, left = 3;
  vyre_builder b = {.module = module};
  for (uint32_t at = v->first[program]; at; at = v->next[at]) {
    const uint32_t op = VYRE_ROW_OP(v->op[at]);
    if (op == VYRE_OP_buffer || op == VYRE_OP_var || op == VYRE_OP_spec || op == VYRE_OP_workgroup)
      last = at;
  }
  for (uint32_t row = v->next[last]; row && left; row = v->next[row]) {
    if (test_random(&state, 12))
      continue;
    left--;
    vyre_builder_before(&b, (vyre_row){row});
    if (test_random(&state, 4)) {
      const vyre_row x = vyre_build_lane(&b, vyre_build_invocation(&b, VYRE_OP_gid), 0);
      const vyre_row rest = vyre_build_imm(&b, VYRE_OP_umod, x, 2 + test_random(&state, 4));
      const vyre_row gone = vyre_build_if(&b, vyre_build_imm(&b, VYRE_OP_eq, rest, test_random(&state, 3)));
      vyre_build_jump(&b, VYRE_OP_return, VYRE_NONE);
      vyre_builder_leave(&b, gone);
    }
    if (test_random(&state, 3) == 0)
      vyre_build_block(&b);
    vyre_build_barrier(&b, VYRE_ORDER(1, 1, 0x148u)); /* acq_rel uniform_memory workgroup_memory */
  }
}

/* Returns whether PTX has a form for the program.  A refusal is about `return` and barriers. */
static bool
can_be_written(const vyre_module *module, uint32_t program)
{
  vyre_bytes text = {0};
  vyre_status status = vyre_ptx_write(module, (vyre_row){program}, NULL, &text);
  const bool can = !status;
  if (status && !strstr(vyre_status_text(status), "a barrier waits for the whole grid"))
    fail_msg("%s", vyre_status_text(status));
  vyre_status_free(status);
  vyre_bytes_free(&text);
  return can;
}

static uint32_t
check_run(const ptx_program *ptx, const vyre_module *module, uint32_t program, uint64_t seed, bool parts, random_memory *got)
{
  const bool relaxed = (vyre_module_view(module)->imm[program] & VYRE_PROGRAM_RELAXED) != 0;
  const uint32_t unbound = relaxed ? 0 : (uint32_t)(seed >> 2) * 2654435761u >> 27;
  vyre_binding bindings[RANDOM_BINDINGS];
  vyre_dispatch dispatch = {.program = {program}, .groups = {RANDOM_GROUPS, 1, 1}, .bindings = bindings};
  char what[32];
  snprintf(what, sizeof what, "seed %" PRIu64, seed);
  random_program_fill(got, seed);
  dispatch.binding_count = random_program_bind(module, program, seed, unbound, got, bindings);
  if (ptx)
    return run_ptx(ptx, module, &dispatch, seed, parts && seed % 3 != 0, what);
  const vyre_interp_options options = {.struct_size = sizeof options, .steps = 1u << 20, .report_undefined = relaxed};
  vyre_status status = vyre_interp_run(module, &dispatch, &options, NULL);
  const uint32_t fault = status != NULL;
  vyre_status_free(status);
  return fault;
}

/* Compares a program, with barriers for the whole grid if `meets`.  Returns whether PTX has a form for the program. */
static bool
check_program(vyre_module *module, uint64_t seed, bool meets)
{
  static random_memory wanted, got;
  const uint32_t sm = architectures[seed % 4];
  vyre_bytes text = {0};
  vyre_module_clear(module);
  build_exact(module, seed);
  if (meets)
    put_grid_barriers(module, seed);
  vyre_row_set_name(module, (vyre_row){vyre_module_view(module)->first[0]}, "kernel", 6);
  assert_ok(vyre_module_seal(module, NULL), "seal");
  const uint32_t program = vyre_module_view(module)->first[0];
  if (meets && !can_be_written(module, program))
    return false;
  write_ptx(module, program, sm, &text);
  ptx_program ptx = parse_ptx(&text, sm);
  const uint32_t failed = check_run(NULL, module, program, seed, !meets, &wanted);
  const bool open = failed && (vyre_module_view(module)->imm[program] & VYRE_PROGRAM_RELAXED) != 0;
  if (getenv("VYRE_TEST_KEEP"))
    print_program(module, program, &text);
  const uint32_t fault = open ? failed : check_run(&ptx, module, program, seed, !meets, &got);
  if ((fault != 0) != (failed != 0)) {
    print_program(module, program, &text);
    fail_msg("seed %" PRIu64 ": fault %u; the interpreter %s", seed, fault, failed ? "stopped" : "did not stop");
  }
  const uint32_t *is = (const uint32_t *)&got, *was = (const uint32_t *)&wanted;
  for (uint32_t i = 0; !failed && i < sizeof got / sizeof *is; i++)
    if (is[i] != was[i]) {
      print_program(module, program, &text);
      fail_msg("seed %" PRIu64 ": word %u of memory is 0x%08x, the interpreter has 0x%08x", seed, i, is[i], was[i]);
    }
  free_ptx(&ptx);
  vyre_bytes_free(&text);
  return true;
}

TEST(random_programs_compute_the_same_as_the_interpreter)
{
  const uint32_t runs = budget_runs(200), seed = budget_number("VYRE_SEED", 1);
  vyre_module *module;
  assert_ok(vyre_module_create(NULL, 0, &module), "module");
  for (uint32_t i = 0; i < runs; i++)
    check_program(module, (uint64_t)seed + i, false);
  print_message("%u programs compared\n", runs);
  vyre_module_destroy(module);
}

/* The program exchanges 16 bits of workgroup memory that was never written.  In PTX this is a loop of cas. */
TEST(an_exchange_of_16_bits_may_begin_on_unwritten_memory)
{
  vyre_module *module;
  assert_ok(vyre_module_create(NULL, 0, &module), "module");
  check_program(module, 4215, false);
  vyre_module_destroy(module);
}

/* Invocations that returned wait at later barriers, too.  PTX has a form for few of the programs, because most have subgroup
 * operations or barriers of a workgroup. */
TEST(random_programs_with_grid_barriers_compute_the_same_as_the_interpreter)
{
  const uint32_t runs = budget_runs(2000), seed = budget_number("VYRE_SEED", 1);
  uint32_t compared = 0;
  vyre_module *module;
  if (run_by_driver()) /* launches are not cooperative */
    return;
  assert_ok(vyre_module_create(NULL, 0, &module), "module");
  for (uint32_t i = 0; i < runs; i++)
    compared += check_program(module, (uint64_t)seed + i, true);
  print_message("%u programs compared\n", compared);
  assert_true(runs < 200 || compared > 0);
  vyre_module_destroy(module);
}

/* A text has many programs, because starting ptxas takes longer than compiling most programs. */
TEST(ptxas_compiles_random_programs)
{
  const uint32_t runs = budget_runs(200), seed = budget_number("VYRE_SEED", 1), batch = 25;
  vyre_module *module;
  if (!needs_ptxas())
    return;
  assert_ok(vyre_module_create(NULL, 0, &module), "module");
  for (uint32_t i = 0; i < runs; i += batch) {
    vyre_bytes text = {0};
    ptxas_result result;
    char what[32];
    vyre_module_clear(module);
    for (uint32_t k = 0; k < batch; k++)
      random_program_build(module, (uint64_t)seed + i + k, flags_of((uint64_t)seed + i + k));
    assert_ok(vyre_module_seal(module, NULL), "seal");
    write_ptx(module, 0, architectures[i / batch % 4], &text);
    snprintf(what, sizeof what, "seeds from %u on", seed + i);
    check_ptxas(text.data, text.size, architectures[i / batch % 4], "-O1", what, &result);
    vyre_bytes_free(&text);
  }
  vyre_module_destroy(module);
}

int
main(int argc, char **argv)
{
  (void)argv;
  return run_ptx_tests(argc);
}
