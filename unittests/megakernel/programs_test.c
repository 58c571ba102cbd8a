/* Programs that a live kernel interprets: random programs have the results of the interpreter.
 *
 * VYRE_SEED and VYRE_RUNS in the environment are the first seed and the number of random programs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../budget.h"
#include "../hang.h"
#include "mega.h"
#include "random_program.h"

#include "vyre/ir.h"
#include "vyre/megakernel_programs.h"
#include "vyre/text.h"
#include "vyre/verify.h"
#include "vyre/view.h"

#include <inttypes.h>
#include <stdlib.h>

#include "programs.h"

/* ---- random programs ------------------------------------------------------------------------------------------------------ */

/* Counts refusals by the last line of their messages. */
static struct {
  char text[160];
  uint32_t count;
} refusals[64];

static void
count_refusal(vyre_status status)
{
  const char *text = vyre_status_text(status), *colon = strchr(text, ':');
  uint32_t i = 0;
  char line[160];
  colon = colon && strncmp(text, "program", 7) == 0 ? colon + 2 : text;
  snprintf(line, sizeof line, "%.*s", (int)strcspn(colon, "\n"), colon);
  while (i < 63 && refusals[i].count && strcmp(refusals[i].text, line) != 0)
    i++;
  snprintf(refusals[i].text, sizeof refusals[i].text, "%s", line);
  refusals[i].count++;
  vyre_status_free(status);
}

/* A buffer of a dispatch: the memory that is bound to it. */
typedef struct bound {
  void *data;
  size_t size;
  vyre_mega_range range;
} bound;

/* Lists the memory of each buffer in the order of the dispatch. */
static uint32_t
list_bound(const vyre_module *module, const vyre_binding *bindings, uint32_t count, bound out[64])
{
  uint32_t found = 0;
  for (uint32_t i = 0; i < count; i++) {
    bool is_new = true;
    for (uint32_t k = 0; k < i && is_new; k++)
      is_new = !is_one_descriptor(module, &bindings[i], &bindings[k]);
    if (is_new)
      out[found++] = (bound){.data = bindings[i].data, .size = bindings[i].size};
  }
  return found;
}

/* Gives each memory a range; elements of an array of buffers may share it. */
static void
place_bound(vyre_mega_programs *p, bound *all, uint32_t count, vyre_mega_range ranges[64])
{
  for (uint32_t k = 0; k < count; k++) {
    uint32_t same = 0;
    while (all[same].data != all[k].data)
      same++;
    if (same == k) {
      ok(vyre_mega_programs_allocate(p, all[k].size, &all[k].range));
      ok(vyre_mega_programs_write(p, all[k].range, all[k].data));
    }
    ranges[k] = all[same].range;
  }
}

static void
read_bound(vyre_mega_programs *p, const bound *all, uint32_t count)
{
  for (uint32_t k = 0; k < count; k++)
    if (all[k].range.at) {
      ok(vyre_mega_programs_read(p, all[k].range, all[k].data));
      ok(vyre_mega_programs_free(p, all[k].range));
    }
}

#ifndef MEGA_CPU
/* Returns an op with as many operands that the target computes exactly, or the op itself. */
static uint32_t
exact_for(uint32_t op)
{
  const bool is_libm = vyre_op_infos[op].fold == VYRE_FOLD_LIBM && op < VYRE_OP_dot;
#ifndef MEGA_CUDA
  if (op == VYRE_OP_fma) /* a device may round the product */
    return VYRE_OP_nclamp;
#endif
  if (op == VYRE_OP_ldexp)
    return VYRE_OP_neg;
  if (!is_libm || vyre_op_infos[op].rule != VYRE_RULE_SAME)
    return op;
  return vyre_op_infos[op].operands == 1 ? VYRE_OP_neg : vyre_op_infos[op].operands == 2 ? VYRE_OP_add : VYRE_OP_nclamp;
}
#endif

/* Replaces functions that devices only compute within bounds by exact ones.  Returns false if one of them has no replacement. */
static bool
make_exact(vyre_module *module)
{
#ifndef MEGA_CPU
  const vyre_view *v = vyre_module_view(module);
  for (uint32_t row = 1; row < v->rows; row++) {
    const uint32_t op = VYRE_ROW_OP(v->op[row]);
    if (op == VYRE_OP_frexp) /* of denormals */
      return false;
#ifndef MEGA_CUDA
    if (op == VYRE_OP_modf) /* of -0 */
      return false;
#endif
    ((uint32_t *)(uintptr_t)v->op)[row] = (v->op[row] & ~0xffffu) | exact_for(op);
    if (op == VYRE_OP_ldexp)
      ((uint32_t *)(uintptr_t)v->b)[row] = 0;
  }
#else
  (void)module;
#endif
  return true;
}

/* Returns whether the program has no function that a compiled kernel only computes within bounds (docs/targets.md). */
static bool
is_exact(const vyre_module *module)
{
#if !defined MEGA_CPU && !defined MEGA_CUDA
  const vyre_view *v = vyre_module_view(module);
  for (uint32_t row = 1; row < v->rows; row++) {
    const uint32_t op = VYRE_ROW_OP(v->op[row]);
    if (op == VYRE_OP_fdiv || op == VYRE_OP_sqrt || op == VYRE_OP_quantize16 || vyre_op_infos[op].fold == VYRE_FOLD_LIBM ||
        (op >= VYRE_OP_dot && op <= VYRE_OP_inverse))
      return false;
  }
#else
  (void)module;
#endif
  return true;
}

/* Returns whether a word may differ.  The bits of a NaN that a compiled kernel computes on Vulkan are open (docs/targets.md). */
static bool
is_open(uint32_t is, uint32_t was)
{
#if defined MEGA_CPU || defined MEGA_CUDA
  (void)is;
  (void)was;
  return false;
#else
  const bool is_f32 = (is & 0x7fffffff) > 0x7f800000 && (was & 0x7fffffff) > 0x7f800000;
  const bool is_f64 = (is & 0x7fffffff) > 0x7ff00000 && (was & 0x7fffffff) > 0x7ff00000;
  const bool is_f16 = (is & 0x7fff) > 0x7c00 && (was & 0x7fff) > 0x7c00;
  const bool is_high = (is >> 16 & 0x7fff) > 0x7c00 && (was >> 16 & 0x7fff) > 0x7c00;
  return is_f32 || is_f64 || is_f16 || is_high;
#endif
}

/* Runs a program as an item on the memory of the seed, and compares the memory with that of the interpreter. */
static void
compare_item(vyre_mega_programs *p, vyre_module *module, uint32_t number, uint64_t seed, const random_memory *wanted,
             const vyre_status expected, bool is_compiled)
{
  static random_memory got;
  const uint32_t program = vyre_module_view(module)->first[0];
  vyre_binding bindings[RANDOM_BINDINGS];
  vyre_mega_range ranges[64];
  uint32_t count, instructions;
  bound all[64];
  random_program_fill(&got, seed);
  const uint32_t binding_count = random_program_bind(module, program, seed, 0, &got, bindings);
  ok(vyre_mega_programs_describe(p, number, &count, &instructions));
  assert_int_equal(list_bound(module, bindings, binding_count, all), count);
  place_bound(p, all, count, ranges);
  const vyre_mega_slot slot = run_item(
      p, (vyre_mega_program_item){.program = number, .buffers = ranges, .buffer_count = count, .groups = {RANDOM_GROUPS, 1, 1}});
  read_bound(p, all, count);
  if ((slot.state == VYRE_MEGA_DONE) != !expected) {
    print_program(module, program);
    fail_msg("seed %" PRIu64 ": %s (%s); the interpreter says '%s'", seed, vyre_mega_state_text(slot.state),
             vyre_mega_reason_text(slot.reason), expected ? vyre_status_text(expected) : "fine");
  }
  const uint32_t *is = (const uint32_t *)&got, *was = (const uint32_t *)wanted;
  for (uint32_t i = 0; !expected && i < sizeof got / sizeof *is; i++)
    if (is[i] != was[i] && !(is_compiled && is_open(is[i], was[i]))) {
      print_program(module, program);
      fail_msg("seed %" PRIu64 ", %s: word %u of memory is 0x%08x, the interpreter has 0x%08x", seed,
               is_compiled ? "compiled" : "interpreted", i, is[i], was[i]);
    }
}

/* Compares an interpreted item, and one that runs compiled if the program can be compiled.  Returns the number of items. */
static uint32_t
compare_random(vyre_mega_programs *p, vyre_module *module, uint64_t seed)
{
  static random_memory wanted;
  const uint32_t program = vyre_module_view(module)->first[0], subgroup = 1u << (seed >> 1) % 4;
  uint32_t number;
  vyre_binding bindings[RANDOM_BINDINGS];
  const vyre_mega_program_options options = {
      .struct_size = sizeof options, .subgroup = subgroup, .open_descriptors = RANDOM_BLOCKS};
  vyre_status status = vyre_mega_programs_register(p, module, (vyre_row){program}, &options, &number);
  if (status) {
    count_refusal(status);
    return 0;
  }
  random_program_fill(&wanted, seed);
  vyre_dispatch dispatch = {.program = {program}, .groups = {RANDOM_GROUPS, 1, 1}, .bindings = bindings};
  dispatch.binding_count = random_program_bind(module, program, seed, 0, &wanted, bindings);
  const vyre_interp_options interp = {.struct_size = sizeof interp, .steps = 1u << 20, .subgroup = subgroup};
  vyre_status expected = vyre_interp_run(module, &dispatch, &interp, NULL);
  compare_item(p, module, number, seed, &wanted, expected, false);
  status = vyre_mega_programs_compile(p, number);
  const bool is_compiled = !status && !expected && is_exact(module);
  if (is_compiled)
    compare_item(p, module, number, seed, &wanted, expected, true);
  vyre_status_free(status);
  vyre_status_free(expected);
  ok(vyre_mega_programs_remove(p, number));
  return 1 + is_compiled;
}

TEST(random_programs_compute_the_same_as_the_interpreter)
{
  const uint32_t runs = budget_runs(RANDOM_RUNS), seed = budget_number("VYRE_SEED", 1);
  uint32_t compared = 0, interpreted = 0;
  vyre_target *other;
  ok(device_open_one(&other));
  vyre_mega_programs *p =
      start_programs((vyre_mega_programs_options){.struct_size = sizeof(vyre_mega_programs_options), .compile_target = other});
  vyre_mega_programs_counts counts;
  for (uint32_t i = 0; i < runs; i++) {
    vyre_module *module;
    assert_null(vyre_module_create(NULL, 0, &module));
    random_program_build(module, seed + i, (seed + i) % 3 ? RANDOM_WIDE : 0);
    assert_null(vyre_module_seal(module, NULL));
    const uint32_t items = make_exact(module) ? compare_random(p, module, seed + i) : 0;
    compared += items;
    interpreted += items > 0;
    vyre_module_destroy(module);
    hang_progress();
  }
  vyre_mega_programs_count(p, &counts);
  stop_programs(p);
  ok(MEGA_TARGET.close(other));
  print_message("%u of %u random programs were interpreted: %" PRIu64 " items and %" PRIu64 " faults on the device, %" PRIu64
                " instructions; %" PRIu64 " items ran compiled\n",
                interpreted, runs, counts.items, counts.faults, counts.steps, counts.compiled);
  for (uint32_t i = 0; i < 64 && refusals[i].count; i++)
    print_message("  %u refused: %s\n", refusals[i].count, refusals[i].text);
  assert_int_equal(counts.items + counts.faults + counts.compiled, compared);
  assert_true(counts.items + counts.faults >= interpreted);
  /* Of few seeds the parts vary. */
  assert_true(runs < 40 || (interpreted * 6 > runs && counts.compiled > 0));
}

TEST_MAIN(NULL, device_end)
