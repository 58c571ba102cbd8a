/* Counts by CUDA's simulator the cost of sequences of passes, cold and warm.  A warm sequence is one graph and one wait, and
 * allocates, compiles and records nothing.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "grown.h"
#include "device.h"
#include "kernel.h"
#include "passmgr/registry/registry.h"
#include "target.h"
#include "vyre/text.h"

#include <inttypes.h>

enum { ROWS = 400, MANY = 20 /* rows of each of many programs */ };

static vyre_registry *registry;

static int
prepare(void **state)
{
  registry = core_registry();
  return test_find_simulator(state);
}

static int
finish(void **state)
{
  (void)state;
  vyre_registry_destroy(registry);
  return 0;
}

/* Runs the passes on the device, or as plain C if it is NULL. */
static vyre_bytes
run(const char *passes, uint32_t rows_a_program, vyre_device *device)
{
  return run_grown(registry, passes, ROWS, rows_a_program,
                   &(vyre_pipeline_options){.struct_size = sizeof(vyre_pipeline_options), .device = device});
}

enum { WAITS, GRAPHS, KERNELS, LAUNCHES, UP, DOWN, FILLED, DEVICE, PINNED, LOADS, LINKS, CAPTURES, INSTANTIATED, COUNTED };
static const char *const counted[COUNTED] = {"waits",
                                             "graphs",
                                             "kernels",
                                             "cuLaunchKernel",
                                             "bytes_up",
                                             "bytes_down",
                                             "bytes_filled",
                                             "device_bytes",
                                             "pinned_bytes",
                                             "cuModuleLoadDataEx",
                                             "cuLinkCreate_v2",
                                             "cuStreamBeginCapture_v2",
                                             "cuGraphInstantiateWithFlags"};

typedef struct costs {
  uint64_t of[COUNTED];
} costs;

static costs
costs_of(const char *passes, uint32_t rows_a_program, vyre_device *device, const vyre_bytes *plain)
{
  costs c;
  for (uint32_t i = 0; i < COUNTED; i++)
    c.of[i] = sim.count(counted[i]);
  vyre_bytes there = run(passes, rows_a_program, device);
  for (uint32_t i = 0; i < COUNTED; i++) {
    assert_true(sim.count(counted[i]) != UINT64_MAX);
    c.of[i] = sim.count(counted[i]) - c.of[i];
  }
  assert_int_equal(there.size, plain->size);
  assert_memory_equal(there.data, plain->data, plain->size);
  vyre_bytes_free(&there);
  return c;
}

static void
print_costs(const char *passes, const char *when, const costs *c)
{
  print_message("%-28s %-8s", passes, when);
  for (uint32_t i = WAITS; i <= PINNED; i++)
    print_message(" %s %" PRIu64, counted[i], c->of[i]);
  print_message("\n");
}

/* A pipeline, its number of sequences, and the most kernels of a warm run.  All levels of a small program are one kernel. */
typedef struct passes_text {
  const char *text;
  uint32_t sequences, kernels;
} passes_text;

/* Runs a pipeline cold, then twice to record graphs, then warm, and checks the counts. */
static void
compare(const passes_text *what, uint32_t rows_a_program)
{
  enum { TIMES = 4 };
  static const char *const words[TIMES] = {"cold", "recorded", "recorded", "warm"};
  const char *passes = what->text;
  const vyre_target_options options = {.struct_size = sizeof options, .library = test_file(SIMULATOR), .validate = true};
  vyre_device *device;
  costs c[TIMES];
  sim.clear();
  assert_ok(vyre_device_open(&vyre_target_cuda, &options, NULL, &device));
  vyre_bytes plain = run(passes, rows_a_program, NULL);
  for (uint32_t i = 0; i < TIMES; i++) {
    c[i] = costs_of(passes, rows_a_program, device, &plain);
    print_costs(passes, words[i], &c[i]);
  }
  const costs *cold = &c[0], *warm = &c[TIMES - 1];
  assert_int_equal(cold->of[WAITS],
                   what->sequences + test_metric(device->target, "kept_misses")); /* each constant is a separate upload */
  assert_true(cold->of[LAUNCHES] > 0 && cold->of[LAUNCHES] == cold->of[KERNELS] && cold->of[LOADS] > 0 && cold->of[DEVICE] > 0);
  assert_int_equal(cold->of[GRAPHS], 0);
  assert_int_equal(warm->of[WAITS], what->sequences);
  assert_in_range(warm->of[KERNELS], 1, what->kernels);
  assert_int_equal(warm->of[GRAPHS], what->sequences);
  for (uint32_t i = DEVICE; i < COUNTED; i++)
    assert_int_equal(warm->of[i], 0);
  assert_int_equal(warm->of[LAUNCHES], 0);
  assert_int_equal(warm->of[KERNELS], cold->of[KERNELS]);
  assert_int_equal(warm->of[DOWN], cold->of[DOWN]);
  assert_int_equal(warm->of[FILLED], cold->of[FILLED]);
  assert_true(warm->of[UP] <= cold->of[UP]); /* rules and facts of ops stay on the device */
  vyre_bytes_free(&plain);
  assert_ok(vyre_device_close(device));
  assert_string_equal(sim.messages(), "");
}

static const passes_text sequences[] = {{"canon", 1, 1},
                                        {"canon,cf,pm", 1, 3},
                                        {"shash,cid", 1, 2},
                                        {"canon,cf,shash,cid", 1, 4},
                                        {"limits", 1, 1},
                                        {"dce", 1, 1},
                                        {"simplify", 1, 80},
                                        {"canon,cf,shash,cid,pm,dce", 1, 6},
                                        {"fixpoint(canon,cf,shash,cid,pm,dce)", 1, 24}};

TEST(a_warm_sequence_of_one_program_costs_a_graph_and_a_wait)
{
  for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++)
    compare(&sequences[i], ROWS);
}

TEST(a_warm_sequence_of_many_programs_costs_a_graph_and_a_wait)
{
  for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++)
    compare(&sequences[i], MANY);
}

static vyre_module *
grown_module(uint32_t rows_a_program)
{
  vyre_module *module = new_module();
  grow_to(module, ROWS, rows_a_program);
  return module;
}

/* Runs the passes over the module, and returns the bytes that went up. */
static uint64_t
bytes_up(const char *passes, vyre_module *module, vyre_device *device)
{
  const uint64_t before = sim.count("bytes_up");
  assert_ok(run_passes(registry, passes, module,
                       &(vyre_pipeline_options){.struct_size = sizeof(vyre_pipeline_options), .device = device}));
  return sim.count("bytes_up") - before;
}

static vyre_device *
open_simulator(void)
{
  const vyre_target_options options = {.struct_size = sizeof options, .library = test_file(SIMULATOR), .validate = true};
  vyre_device *device;
  sim.clear();
  assert_ok(vyre_device_open(&vyre_target_cuda, &options, NULL, &device));
  return device;
}

/* Runs the passes over the module as plain C, and asserts that another run of them on the device had the same result. */
static void
compare_module(const char *passes, uint32_t rows_a_program, uint32_t runs, const vyre_module *there)
{
  vyre_module *plain = grown_module(rows_a_program);
  for (uint32_t i = 0; i < runs; i++)
    bytes_up(passes, plain, NULL);
  assert_same_bytes(binary_of(plain), binary_of(there));
  vyre_module_destroy(plain);
}

static const char *const resident[] = {"canon", "dce", "shash,cid", "limits", "canon,cf,shash,cid,pm,dce"};

TEST(an_unchanged_module_is_not_uploaded_again)
{
  enum { TIMES = 6 };
  for (size_t i = 0; i < sizeof resident / sizeof *resident; i++)
    for (uint32_t many = 0; many < 2; many++) {
      vyre_device *device = open_simulator();
      vyre_module *module = grown_module(many ? MANY : ROWS);
      uint64_t up[TIMES];
      for (uint32_t k = 0; k < TIMES; k++) /* the first runs change the module */
        up[k] = bytes_up(resident[i], module, device);
      print_message("%-28s bytes_up", resident[i]);
      for (uint32_t k = 0; k < TIMES; k++)
        print_message(" %" PRIu64, up[k]);
      print_message("\n");
      assert_true(up[0] > 0);
      assert_int_equal(up[TIMES - 1], 0);
      compare_module(resident[i], many ? MANY : ROWS, TIMES, module);
      vyre_module_destroy(module);
      assert_ok(vyre_device_close(device));
    }
  assert_string_equal(sim.messages(), "");
}

/* Changes a payload of a row that no pass removes, and returns its column. */
static const uint32_t *
change_constant(vyre_module *module)
{
  const vyre_view *v = vyre_module_view(module);
  uint32_t row = 1;
  while (vyre_op_of(v, row) != VYRE_OP_const || v->imm[row] == 0)
    row++;
  vyre_row_rewrite(module, row_of(row), v->op[row], v->imm[row] + 1, v->imm_hi[row], VYRE_NONE, VYRE_NONE, VYRE_NONE);
  return v->imm;
}

TEST(a_changed_column_is_uploaded_again)
{
  vyre_device *device = open_simulator();
  vyre_module *module = grown_module(MANY), *other = grown_module(MANY);
  for (uint32_t i = 0; i < 4; i++)
    bytes_up("canon", module, device);
  const uint32_t rows = vyre_module_view(module)->rows;
  assert_int_equal(bytes_up("canon", module, device), 0);
  vyre_module_mark_written(module, vyre_module_view(module)->b);
  const uint64_t whole = bytes_up("canon", other, device), column = rows * sizeof(uint32_t);
  assert_true(whole > 4 * column); /* another module, whose columns have other generations */
  assert_true(bytes_up("canon", module, device) > 4 * column);
  assert_int_equal(bytes_up("canon", module, device), 0);
  change_constant(module);
  const uint64_t up = bytes_up("canon", module, device);
  assert_true(up >= column && up <= 8 * column);
  vyre_module_destroy(other);
  vyre_module_destroy(module);
  assert_ok(vyre_device_close(device));
  assert_string_equal(sim.messages(), "");
}

/* Returns a module of one program, in which nothing reads the results of `count` rows. */
static vyre_module *
dead_module(uint32_t count)
{
  vyre_module *module = new_module();
  vyre_builder b;
  vyre_build_program(module, "dead", 0, vyre_module_add_input(module, "dead"), &b);
  vyre_row sum = vyre_build(&b, VYRE_OP_lindex, VYRE_TYPE(VYRE_U32, 1), 0, 0, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
  for (uint32_t i = 1; i < count; i++)
    sum = vyre_build_imm(&b, VYRE_OP_add, sum, i);
  assert_ok(vyre_module_seal(module, NULL));
  return module;
}

static uint64_t
bytes_down(const char *passes, vyre_module *module, vyre_device *device)
{
  const uint64_t before = sim.count("bytes_down");
  bytes_up(passes, module, device);
  return sim.count("bytes_down") - before;
}

/* Only changed elements are read back, with a mask.  The module has the result of plain C, and a second run reads no element. */
TEST(changed_elements_are_read_back)
{
  static const char *const texts[] = {"canon", "dce", "canon,cf,shash,cid,pm,dce", "simplify"};
  vyre_device *device = open_simulator();
  device->lazy_bytes = 0;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    for (uint32_t many = 0; many < 2; many++) {
      vyre_module *module = grown_module(many ? MANY : ROWS);
      const uint64_t columns = 6 * sizeof(uint32_t) * vyre_module_view(module)->rows;
      const uint64_t down = bytes_down(texts[i], module, device);
      print_message("%-28s bytes_down %" PRIu64 " of %" PRIu64 "\n", texts[i], down, columns);
      assert_true(down < columns);
      compare_module(texts[i], many ? MANY : ROWS, 1, module);
      for (uint32_t k = 0; k < 4; k++)
        bytes_down(texts[i], module, device);
      assert_true(bytes_down(texts[i], module, device) <= down);
      compare_module(texts[i], many ? MANY : ROWS, 6, module);
      vyre_module_destroy(module);
    }
  assert_ok(vyre_device_close(device));
  assert_string_equal(sim.messages(), "");
}

/* A column in which nearly all elements changed is read back whole. */
TEST(a_column_of_changed_elements_is_read_back_whole)
{
  enum { DEAD = 1000 };
  vyre_device *device = open_simulator();
  vyre_module *module = dead_module(DEAD);
  device->lazy_bytes = 0;
  const uint64_t column = sizeof(uint32_t) * vyre_module_view(module)->rows;
  const uint64_t down = bytes_down("dce", module, device);
  assert_true(vyre_module_view(module)->rows < 10 && down >= column && down < column + 64);
  vyre_module_destroy(module);
  assert_ok(vyre_device_close(device));
  assert_string_equal(sim.messages(), "");
}

/* Returns the number of registered ranges of the host's memory. */
static uint64_t
registered(void)
{
  return sim.count("cuMemHostRegister_v2") - sim.count("cuMemHostUnregister");
}

/* Pages are registered from some size on, and unregistered before columns move, another module runs, or the device is closed. */
TEST(pages_of_large_modules_are_registered)
{
  const char *all = "canon,cf,shash,cid,pm,dce";
  vyre_device *device = open_simulator();
  vyre_module *module = grown_module(ROWS), *other = grown_module(MANY);
  bytes_up(all, module, device);
  assert_int_equal(registered(), 0); /* the module is small */
  device->pinned_rows = 0;
  for (uint32_t i = 0; i < 3; i++) { /* columns of the table, versions, and levels */
    vyre_module_mark_written(module, vyre_module_view(module)->b);
    bytes_up(all, module, device);
    assert_in_range(registered(), 8, 12);
  }
  compare_module(all, ROWS, 4, module);
  const uint64_t calls = sim.count("cuMemHostRegister_v2");
  bytes_up(all, module, device);
  assert_int_equal(sim.count("cuMemHostRegister_v2"), calls);
  bytes_up(all, other, device);
  assert_in_range(registered(), 8, 12); /* of the other module */
  vyre_module_destroy(other);
  assert_int_equal(registered(), 0);
  bytes_up(all, module, device);
  assert_in_range(registered(), 8, 12);
  vyre_module_destroy(module);
  assert_int_equal(registered(), 0);
  module = grown_module(ROWS);
  bytes_up(all, module, device);
  assert_in_range(registered(), 8, 12);
  assert_ok(vyre_device_close(device));
  assert_int_equal(registered(), 0);
  vyre_module_destroy(module);
  assert_string_equal(sim.messages(), "");
}

/* Pages are registered with the last device that ran the module. */
TEST(pages_are_registered_with_one_device)
{
  const vyre_target_options options = {.struct_size = sizeof options, .library = test_file(SIMULATOR), .validate = true};
  vyre_device *first = open_simulator(), *second;
  vyre_module *module = grown_module(ROWS);
  assert_ok(vyre_device_open(&vyre_target_cuda, &options, NULL, &second));
  first->pinned_rows = second->pinned_rows = 0;
  bytes_up("canon", module, first);
  const uint64_t columns = registered();
  bytes_up("canon", module, second);
  assert_true(first->pinned_count == 0 && registered() == columns);
  assert_ok(vyre_device_close(first));
  assert_int_equal(registered(), columns);
  vyre_module_destroy(module);
  assert_true(registered() == 0 && second->pinned_count == 0);
  assert_ok(vyre_device_close(second));
  assert_string_equal(sim.messages(), "");
}

/* Modules of one shape run in turn, often enough for graphs.  A graph is not used for pages that were registered later. */
TEST(graphs_do_not_copy_pages_of_other_modules)
{
  enum { TURNS = 5 };
  vyre_device *device = open_simulator();
  vyre_module *modules[2] = {grown_module(ROWS), grown_module(ROWS)}, *plain[2] = {grown_module(ROWS), grown_module(ROWS)};
  device->pinned_rows = 0;
  change_constant(modules[1]);
  change_constant(plain[1]);
  for (uint32_t i = 0; i < 2 * TURNS; i++) {
    bytes_up("canon,cf", modules[i % 2], device);
    bytes_up("canon,cf", plain[i % 2], NULL);
    assert_same_bytes(binary_of(plain[i % 2]), binary_of(modules[i % 2]));
  }
  for (uint32_t i = 0; i < 2; i++) {
    vyre_module_destroy(modules[i]);
    vyre_module_destroy(plain[i]);
  }
  assert_ok(vyre_device_close(device));
  assert_string_equal(sim.messages(), "");
}

TEST(pages_are_not_registered_against_the_options)
{
  const vyre_target_options options = {.struct_size = sizeof options, .library = test_file(SIMULATOR), .no_pinning = true};
  vyre_device *device;
  sim.clear();
  assert_ok(vyre_device_open(&vyre_target_cuda, &options, NULL, &device));
  device->pinned_rows = 0;
  vyre_module *module = grown_module(ROWS);
  bytes_up("canon", module, device);
  assert_int_equal(sim.count("cuMemHostRegister_v2"), 0);
  vyre_module_destroy(module);
  assert_ok(vyre_device_close(device));
}

/* A device that does not register pages gets them by staging. */
TEST(pages_that_cannot_be_registered_are_staged)
{
  vyre_device *device = open_simulator();
  device->pinned_rows = 0;
  for (uint64_t number = 1; number < 4; number++) {
    vyre_module *module = grown_module(ROWS);
    assert_true(sim.make_fail("cuMemHostRegister_v2", number, CUDA_OUT_OF_MEMORY));
    bytes_up("canon,cf,shash,cid,pm,dce", module, device);
    assert_true(sim.has_failed());
    sim.make_fail(NULL, 0, CUDA_OK);
    compare_module("canon,cf,shash,cid,pm,dce", ROWS, 1, module);
    vyre_module_destroy(module);
    assert_int_equal(registered() + 1 - number, 1); /* failed calls are counted, too */
  }
  assert_ok(vyre_device_close(device));
}

/* The device is lost in each copy and in each kernel.  The sequence restarts from the host's columns, and its result is that of
 * plain C.  The second run uploads changed columns only. */
TEST(a_lost_device_restarts_from_the_columns_of_the_host)
{
  static const char *const texts[] = {"canon,cf,shash,cid,pm,dce", "shash,cid,cse,dce", "fixpoint(canon,cf,shash,cid,cse,pm,dce)",
                                      "fixpoint(canon,cf,shash,cid,pm,dce),cse"};
  static const char *const names[] = {"run:copy", "run:kernel"};
  enum { ILLEGAL_ADDRESS = 700, STEP = 3 /* of the copies and kernels, one is lost */ };
  vyre_device *device = open_simulator();
  uint32_t losses = 0;
  device->lazy_bytes = 0;
  device->pinned_rows = 0;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
      for (uint64_t number = 1, failed = 1; failed; number += STEP) {
        vyre_module *module = grown_module(MANY);
        bytes_up("canon", module, device);
        assert_true(sim.make_fail(names[k], number, (cuda_result)ILLEGAL_ADDRESS));
        bytes_up(texts[i], module, device);
        failed = sim.has_failed();
        losses += failed ? 1 : 0;
        sim.make_fail(NULL, 0, CUDA_OK);
        vyre_module *plain = grown_module(MANY);
        bytes_up("canon", plain, NULL);
        bytes_up(texts[i], plain, NULL);
        assert_same_bytes(binary_of(plain), binary_of(module));
        vyre_module_destroy(plain);
        vyre_module_destroy(module);
      }
  print_message("lost %u times\n", losses);
  assert_true(losses > 20);
  assert_ok(vyre_device_close(device));
}

/* A warm sequence of six passes over programs of 1,000 rows: its instructions for each row, and its launches. */
TEST(six_passes_take_few_instructions)
{
  enum { PROGRAMS = 20, PROGRAM = 1000, INSTRUCTIONS = 1800, MOST_LAUNCHES = 8 };
  const char *all = "canon,cf,shash,cid,pm,dce";
  vyre_device *device = open_simulator();
  uint64_t instructions = 0, launches = 0, waits = 0;
  for (uint32_t i = 0; i < 2; i++) {
    vyre_module *module = new_module();
    grow_to(module, PROGRAMS * PROGRAM, PROGRAM);
    instructions = sim.count("instructions");
    launches = sim.count("kernels");
    waits = sim.count("waits");
    bytes_up(all, module, device);
    vyre_module_destroy(module);
  }
  instructions = (sim.count("instructions") - instructions) / (PROGRAMS * PROGRAM);
  print_message("%" PRIu64 " instructions a row\n", instructions);
  assert_in_range(instructions, 1, INSTRUCTIONS);
  assert_in_range(sim.count("kernels") - launches, 1, MOST_LAUNCHES);
  assert_int_equal(sim.count("waits") - waits, 1);
  assert_ok(vyre_device_close(device));
}

static void
ignore(void *user, const vyre_diagnostic *diagnostic)
{
  (void)user;
  (void)diagnostic;
}

/* Compiles a pass whose only phase has a direction to kernels of version 1, which read their head in the arena. */
static void
compile_version_1(const char *path, kernel_device *out)
{
  static kernel_file file; /* too large for the stack */
  kernel_expansion expansion;
  vyre_module *module = new_module();
  assert_ok(kernel_read(&file, path, (vyre_diagnostics){ignore, NULL}));
  assert_ok(kernel_expand(&file, &expansion));
  assert_ok(
      vyre_text_parse_lines(module, expansion.text.data, expansion.text.size, path, (vyre_diagnostics){kernel_emit, &expansion}));
  assert_ok(kernel_check(&expansion, module)); /* finds what phases write */
  kernel_expansion_free(&expansion);
  vyre_module_destroy(module);
  assert_ok(kernel_device_create(&file, NULL, NULL, out));
  assert_int_equal(out->count, 2);
  assert_int_equal(out->kernels[0].scope, KERNEL_OF_ROWS);
  assert_int_equal(out->kernels[1].scope, KERNEL_OF_PASS);
  kernel_file_free(&file);
}

/* Plugins that were built before version 2 have such kernels. */
TEST(kernels_of_version_1_give_the_same_bytes)
{
  kernel_device compiled;
  vyre_bytes text[2] = {{0}};
  compile_version_1(VYRE_SOURCE "/passes/canon/canon.vir", &compiled);
  for (uint32_t i = 0; i < 2; i++)
    assert_ok(kernel_device_write(&compiled, i, VYRE_PHASE_PTX, &text[i]));
  kernel_device_free(&compiled);
  const vyre_phase_kernel rows = {text[0].data, text[0].size}, none = {0}, whole = {text[1].data, text[1].size};
  const vyre_phase_kernels kernels = {sizeof kernels, VYRE_PHASE_PTX, VYRE_PHASE_KERNELS_VERSION, 0, &rows, &none, &none, &whole};
  const vyre_phase_kernels *const all[] = {&kernels};
  uint32_t at = 0;
  while (strcmp(registry->passes[at]->pass.name, "canon") != 0)
    at++;
  const vyre_phases *now = registry->passes[at]->pass.phases;
  vyre_phases before = *now;
  before.kernels = all;
  before.kernels_count = 1;
  registry->passes[at]->pass.phases = &before;
  vyre_device *device = open_simulator();
  const uint64_t launches = sim.count("kernels");
  static const uint32_t sizes[] = {ROWS, MANY};
  for (uint32_t i = 0; i < 2; i++) {
    vyre_bytes plain = run("canon", sizes[i], NULL), there = run("canon", sizes[i], device);
    assert_int_equal(there.size, plain.size);
    assert_memory_equal(there.data, plain.data, plain.size);
    vyre_bytes_free(&plain);
    vyre_bytes_free(&there);
  }
  assert_true(sim.count("kernels") > launches);
  assert_ok(vyre_device_close(device));
  registry->passes[at]->pass.phases = now;
  vyre_bytes_free(&text[0]);
  vyre_bytes_free(&text[1]);
}

TEST_MAIN(prepare, finish)
