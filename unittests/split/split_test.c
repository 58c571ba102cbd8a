/* Segments compute what the whole program computes.  Random programs get grid barriers at their top level and in blocks there.
 * Other tests cover the properties of segments.
 *
 * VYRE_SEED and VYRE_RUNS in the environment set the first seed and the number of programs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../budget.h"
#include "../test.h"
#include "random_program.h"

#include "vyre/spirv.h"
#include "vyre/split.h"
#include "vyre/target.h"
#include "vyre/text.h"
#include "vyre/verify.h"

#include <inttypes.h>

#define WHOLE_GRID VYRE_ORDER(1, 1, 0x148u) /* acq_rel uniform_memory workgroup_memory */

static void
print(const vyre_module *module, const char *what)
{
  vyre_bytes text = {0};
  if (!vyre_text_print(module, NULL, &text))
    fprintf(stderr, "; %s\n%s\n", what, text.data);
  vyre_bytes_free(&text);
}

static void
ok(vyre_status status, const vyre_module *module)
{
  if (!status)
    return;
  if (module)
    print(module, "the module of the error");
  fail_msg("%s", vyre_status_text(status));
}

static void
verify(const vyre_module *module)
{
  vyre_verify_errors errors = {.allocator = vyre_module_allocator(module)};
  vyre_bytes text = {0};
  vyre_status status = vyre_verify(module, &errors);
  if (status && !vyre_verify_print(module, &errors, &text))
    print_message("%s\n", text.data);
  vyre_bytes_free(&text);
  vyre_verify_errors_free(&errors);
  ok(status, module);
}

/* ---- random programs ------------------------------------------------------------------------------------------------------- */

/* Inserts a few barriers before rows after the declarations, one of three in a block of its own. */
static void
put_barriers(vyre_module *module, uint64_t seed)
{
  const vyre_view *v = vyre_module_view(module);
  uint64_t state = seed;
  uint32_t row = v->first[v->first[0]], last = 0;
  vyre_builder b = {.module = module};
  for (uint32_t at = row; at; at = v->next[at]) {
    const uint32_t op = VYRE_ROW_OP(v->op[at]);
    if (op == VYRE_OP_buffer || op == VYRE_OP_var || op == VYRE_OP_spec || op == VYRE_OP_workgroup)
      last = at;
  }
  uint32_t left = 4;
  const uint32_t rare = 1 + test_random(&state, 40);
  for (row = v->next[last]; row; row = v->next[row]) {
    if (test_random(&state, rare) || left == 0)
      continue;
    left--;
    vyre_builder_before(&b, (vyre_row){row});
    const bool in_block = test_random(&state, 3) == 0;
    if (in_block)
      vyre_build_block(&b);
    vyre_build_barrier(&b, WHOLE_GRID);
  }
  ok(vyre_module_seal(module, NULL), module);
  verify(module);
}

static vyre_status
run_program(const vyre_module *module, uint64_t seed, uint32_t unbound, const vyre_segments *segments, void *kept, size_t kept_size,
            random_memory *memory)
{
  const vyre_view *v = vyre_module_view(module);
  vyre_binding bindings[RANDOM_BINDINGS];
  vyre_dispatch dispatch = {.program = {v->first[0]}, .groups = {RANDOM_GROUPS, 1, 1}, .bindings = bindings};
  const vyre_interp_options options = {
      .struct_size = sizeof options, .steps = 1u << 20, .subgroup = 1u << (seed >> 1) % 4, .check_races = true};
  dispatch.binding_count = random_program_bind(module, v->first[0], seed, unbound, memory, bindings);
  for (uint32_t i = 0; segments && i < dispatch.binding_count; i++) {
    const vyre_buffer_info *info = vyre_buffer_info_of((vyre_module *)(uintptr_t)module, bindings[i].buffer);
    if (kept_size && info->set == segments->set && info->binding == segments->binding)
      bindings[i] = (vyre_binding){bindings[i].buffer, kept, kept_size, 0};
  }
  return vyre_interp_run(module, &dispatch, &options, NULL);
}

static vyre_status
run_segments(const vyre_segments *segments, uint64_t seed, uint32_t unbound, random_memory *memory)
{
  const uint32_t groups[3] = {RANDOM_GROUPS, 1, 1}, workgroup[3] = {RANDOM_INVOCATIONS / RANDOM_GROUPS, 1, 1};
  uint64_t bytes;
  assert_true(vyre_segments_bytes(segments, groups, workgroup, &bytes));
  void *kept = malloc(bytes + 1);
  assert_non_null(kept);
  memset(kept, 0xcd, bytes);
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < segments->count && !status; i++)
    status = run_program(segments->modules[i], seed, unbound, segments, kept, bytes, memory);
  free(kept);
  return status;
}

static void
compare(const vyre_module *module, const vyre_segments *segments, uint64_t seed)
{
  static random_memory wanted, got;
  const bool relaxed = (vyre_module_view(module)->imm[vyre_module_view(module)->first[0]] & VYRE_PROGRAM_RELAXED) != 0;
  const uint32_t unbound = relaxed ? 0 : (uint32_t)(seed >> 2) * 2654435761u >> 27;
  random_program_fill(&wanted, seed);
  random_program_fill(&got, seed);
  vyre_status status = run_program(module, seed, unbound, NULL, NULL, 0, &wanted);
  vyre_status split = run_segments(segments, seed, unbound, &got);
  if ((status != NULL) != (split != NULL) || (!status && memcmp(&wanted, &got, sizeof got) != 0)) {
    for (uint32_t i = 0; i < sizeof got / 4; i++)
      if (((const uint32_t *)&wanted)[i] != ((const uint32_t *)&got)[i])
        fprintf(stderr, "; word %u of memory: 0x%08x, in segments 0x%08x\n", i, ((const uint32_t *)&wanted)[i],
                ((const uint32_t *)&got)[i]);
    print(module, "the whole");
    for (uint32_t i = 0; i < segments->count; i++)
      print(segments->modules[i], "a segment");
    fail_msg("seed %" PRIu64 ": the status of the whole is '%s', of its %u segments '%s', or their memory differs", seed,
             vyre_status_text(status), segments->count, vyre_status_text(split));
  }
  vyre_status_free(status);
  vyre_status_free(split);
}

/* Strict and relaxed programs with all types. */
TEST(random_programs_compute_the_same_in_segments)
{
  const uint32_t runs = budget_runs(200), first = budget_number("VYRE_SEED", 1);
  uint32_t split = 0, segments_made = 0, words = 0, group_words = 0, refused = 0;
  vyre_module *module;
  ok(vyre_module_create(NULL, 0, &module), NULL);
  for (uint32_t i = 0; i < runs; i++) {
    const uint64_t seed = first + (uint64_t)i;
    vyre_module_clear(module);
    random_program_build(module, seed, (i % 4 ? RANDOM_WIDE : 0) | (i % 8 == 7 ? RANDOM_RELAXED : 0));
    ok(vyre_module_seal(module, NULL), module);
    put_barriers(module, seed);
    const vyre_row program = {vyre_module_view(module)->first[0]};
    const uint32_t barriers = vyre_grid_barriers(module, program);
    vyre_segments segments;
    vyre_status status = vyre_split_grid(module, program, &segments);
    if (status) {
      assert_non_null(strstr(vyre_status_text(status), "cannot be kept"));
      vyre_status_free(status);
      refused++;
      continue;
    }
    assert_int_equal(segments.count, barriers + 1);
    for (uint32_t k = 0; k < segments.count; k++) {
      verify(segments.modules[k]);
      assert_int_equal(vyre_grid_barriers(segments.modules[k], (vyre_row){vyre_module_view(segments.modules[k])->first[0]}), 0);
    }
    compare(module, &segments, seed);
    split += barriers > 0;
    segments_made += segments.count;
    words += segments.invocation_words;
    group_words += segments.group_words;
    vyre_segments_free(&segments);
  }
  vyre_module_destroy(module);
  print_message("%u programs in %u segments, with %u words for each invocation and %u for each workgroup; %u refused\n", split,
                segments_made, words, group_words, refused);
  assert_true(split > runs / 2 && words > runs && group_words > 0 && refused < runs / 10);
}

/* ---- segments as steps ----------------------------------------------------------------------------------------------------- */

enum { ELEMENTS = 16, ROUNDS = 5 };

static const char turn[] = "program @other workgroup(1, 1, 1) {\n"
                           "  buffer %z : u32[] storage set(0) binding(0) if eq(load(%z[0]), 1u32) { barrier device }\n"
                           "}\n"
                           "program @turn workgroup(4, 1, 1) {\n"
                           "  buffer %x : u32[] storage set(0) binding(0) buffer %left : u32[] storage set(0) binding(1)\n"
                           "  %i = gid.x %v = load %x[umod(add(%i, 1u32), length(%x))] barrier device\n"
                           "  store %x[%i], add(%v, 10u32) if ne(%i, 0u32) { return } barrier device\n"
                           "  store %left[0], sub(load(%left[0]), 1u32)\n"
                           "}\n";

static vyre_module *
parse(const char *text)
{
  vyre_module *module;
  ok(vyre_module_create(NULL, 0, &module), NULL);
  ok(vyre_text_parse(module, text, strlen(text), "test.vir", (vyre_diagnostics){0}), NULL);
  verify(module);
  return module;
}

static uint32_t
last_program(const vyre_module *module)
{
  return vyre_module_view(module)->last[0];
}

/* Compiles the segment in a form that the target accepts.  `words` owns the SPIR-V, and `vir` refers to the program. */
static vyre_kernel
compile(const vyre_target_ops *ops, vyre_target *target, const vyre_segments *segments, uint32_t index, vyre_bytes *words,
        vyre_kernel_program *vir)
{
  const vyre_kernel_slot slots[] = {
      {.binding = 0, .count = 1}, {.binding = 1, .count = 1}, {.set = segments->set, .binding = segments->binding, .count = 1}};
  vyre_kernel_desc desc = {.label = "turn", .form = VYRE_KERNEL_SPIRV, .entry = "turn", .workgroup = {4, 1, 1}, .slots = slots};
  vyre_device_info info;
  vyre_kernel kernel;
  ops->describe(target, &info);
  *vir = (vyre_kernel_program){.module = segments->modules[index], .row = last_program(segments->modules[index])};
  desc.slot_count = 3;
  if (info.forms >> VYRE_KERNEL_SPIRV & 1) {
    ok(vyre_spirv_write(segments->modules[index], 0, NULL, words), segments->modules[index]);
    desc.code = words->data;
    desc.size = words->size;
  } else {
    desc.form = VYRE_KERNEL_VIR;
    desc.code = vir;
    desc.size = sizeof *vir;
  }
  ok(ops->compile(target, &desc, &kernel), segments->modules[index]);
  return kernel;
}

/* Repeats all segments until one of them ends the repeat, in one sequence with one wait. */
static void
repeat_on(const vyre_target_ops *ops)
{
  const uint32_t groups[3] = {ELEMENTS / 4, 1, 1}, workgroup[3] = {4, 1, 1};
  uint32_t x[ELEMENTS], left = ROUNDS;
  uint64_t bytes;
  vyre_module *module = parse(turn);
  vyre_segments segments;
  vyre_target *target;
  ok(vyre_split_grid(module, (vyre_row){last_program(module)}, &segments), module);
  assert_int_equal(segments.count, 3);
  assert_int_equal(segments.invocation_words, 2); /* %v and a flag for returned invocations; the rest is computed again */
  assert_int_equal(segments.group_words, 0);
  assert_int_equal(segments.binding, 2);
  assert_true(vyre_segments_bytes(&segments, groups, workgroup, &bytes));
  assert_int_equal(bytes, ELEMENTS * 2 * 4);
  ok(ops->open(NULL, NULL, &target), NULL);
  vyre_device_buffer buffers[3];
  const uint64_t sizes[3] = {sizeof x, sizeof left, bytes};
  ok(ops->allocate_many(target, sizes, 3, buffers), NULL);
  const vyre_range ranges[3] = {{buffers[0], 0, 0}, {buffers[1], 0, 0}, {buffers[2], 0, 0}};
  vyre_step steps[3];
  vyre_bytes words[3] = {{0}};
  vyre_kernel_program programs[3];
  for (uint32_t i = 0; i < 3; i++)
    steps[i] = (vyre_step){.kernel = compile(ops, target, &segments, i, &words[i], &programs[i]),
                           .buffers = ranges,
                           .buffer_count = 3,
                           .groups = {groups[0], 1, 1}};
  for (uint32_t i = 0; i < ELEMENTS; i++)
    x[i] = i;
  const vyre_upload uploads[] = {{ranges[0], x}, {ranges[1], &left}};
  const vyre_repeat repeat = {.first = 0, .count = 3, .times = 50, .until = {buffers[1], 0, 4}};
  const vyre_read read = {ranges[0], x};
  vyre_repeat_end end;
  const vyre_sequence sequence = {.uploads = uploads,
                                  .upload_count = 2,
                                  .steps = steps,
                                  .step_count = 3,
                                  .reads = &read,
                                  .read_count = 1,
                                  .repeats = &repeat,
                                  .repeat_count = 1,
                                  .ends = &end};
  ok(ops->submit(target, &sequence, NULL), NULL);
  assert_int_equal(end.iterations, ROUNDS);
  assert_int_equal(end.word, 0);
  for (uint32_t i = 0; i < ELEMENTS; i++)
    assert_int_equal(x[i], (i + ROUNDS) % ELEMENTS + 10 * ROUNDS);
  ok(ops->close(target), NULL);
  for (uint32_t i = 0; i < 3; i++)
    vyre_bytes_free(&words[i]);
  vyre_segments_free(&segments);
  vyre_module_destroy(module);
}

TEST(segments_can_be_repeated)
{
  repeat_on(&vyre_target_cpu);
  repeat_on(&vyre_target_vulkan);
}

/* ---- properties of segments ------------------------------------------------------------------------------------------------ */

TEST(bytes_are_counted_or_refused)
{
  const vyre_segments two = {.invocation_words = 2}, both = {.invocation_words = 1, .group_words = 3}, none = {.count = 2};
  const uint32_t large[3] = {65536, 65536, 1}, small[3] = {3, 2, 1}, nothing[3] = {0, 7, 1}, one[3] = {1, 1, 1},
                 many[3] = {8, 4, 2};
  uint64_t bytes = 1;
  assert_true(vyre_segments_bytes(&none, large, many, &bytes));
  assert_int_equal(bytes, 0);
  assert_true(vyre_segments_bytes(&both, small, many, &bytes));
  assert_int_equal(bytes, (6 * 64 + 6 * 3) * 4);
  assert_true(vyre_segments_bytes(&both, nothing, many, &bytes));
  assert_int_equal(bytes, 4); /* a buffer has at least 4 bytes */
  assert_false(vyre_segments_bytes(&two, large, one, &bytes));
  assert_false(vyre_segments_bytes(&both, large, many, &bytes));
  assert_false(vyre_segments_bytes(&two, large, large, &bytes)); /* 2^64 invocations */
}

/* A program without barriers is one segment, which needs no buffer.  Other programs of the module are not in it. */
TEST(a_program_without_barriers_is_one_segment)
{
  vyre_module *module = parse("program @a workgroup(1, 1, 1) {\n"
                              "  buffer %x : u32[] storage set(0) binding(0) var %v : u32 set %v, load(%x[1])\n"
                              "  store %x[0], get(%v)\n"
                              "}\n"
                              "program @b workgroup(1, 1, 1) { barrier device }\n");
  vyre_segments segments;
  vyre_bytes text = {0};
  ok(vyre_split_grid(module, (vyre_row){vyre_module_view(module)->first[0]}, &segments), module);
  assert_int_equal(segments.count, 1);
  assert_int_equal(segments.invocation_words + segments.group_words, 0);
  ok(vyre_text_print(segments.modules[0], NULL, &text), module);
  assert_null(strstr(text.data, "@b"));
  assert_null(strstr(text.data, "kept"));
  assert_non_null(strstr(text.data, "program @a"));
  vyre_bytes_free(&text);
  vyre_segments_free(&segments);
  vyre_module_destroy(module);
}

static void
split_is_refused(const char *text, const char *word)
{
  vyre_module *module = parse(text);
  vyre_segments segments;
  vyre_status status = vyre_split_grid(module, (vyre_row){vyre_module_view(module)->first[0]}, &segments);
  if (!status || !strstr(vyre_status_text(status), word) || !strstr(vyre_status_text(status), "\nFix: "))
    fail_msg("'%s' is not in the message: %s", word, vyre_status_text(status));
  vyre_status_free(status);
  vyre_module_destroy(module);
}

/* Numbers of words and bindings that would wrap around are refused. */
TEST(overflowing_words_and_bindings_are_refused)
{
  split_is_refused("program @a workgroup(1, 1, 1) {\n"
                   "  buffer %x : u32[] storage set(0) binding(0) buffer %a : u32[1000000000] private\n"
                   "  buffer %b : u32[1000000000] private buffer %c : u32[1000000000] private store %a[0], 1u32\n"
                   "  store %b[0], 1u32 store %c[0], 1u32 barrier device\n"
                   "  store %x[0], add(load(%a[0]), add(load(%b[0]), load(%c[0])))\n"
                   "}\n",
                   "(buffer %c): more than 2^31 words would have to be kept across barriers");
  split_is_refused("program @a workgroup(1, 1, 1) {\n"
                   "  buffer %x : u32[] storage set(0) binding(0) buffer %y : u32[] storage set(0) binding(4294967295)\n"
                   "  %v = load %x[0] barrier device store %y[0], %v\n"
                   "}\n",
                   "(buffer %y): the buffer that keeps values across barriers needs a binding after this one");
}

/* Returns the last row of an op. */
static uint32_t
last_of(const vyre_module *module, vyre_opcode op)
{
  const vyre_view *v = vyre_module_view(module);
  uint32_t found = 0;
  for (uint32_t row = 1; row < v->rows; row++)
    found = VYRE_ROW_OP(v->op[row]) == op ? row : found;
  return found;
}

/* Memory is kept if a row after a barrier accesses it through a tuple or a pointer from before the barrier. */
TEST(memory_behind_earlier_pointers_is_kept)
{
  vyre_module *module = parse("program @a workgroup(1, 1, 1) {\n"
                              "  buffer %x : u32[] storage set(0) binding(0) buffer %own : u32[2] private\n"
                              "  buffer %other : u32 private buffer %left : u32 private %v = load %x[0] store %left, %v\n"
                              "  store %own[1], %v store %other, %v\n"
                              "  %p = opaque_pure CopyObject(%other) : spirv TypePointer(6, type u32)\n"
                              "  opaque AtomicCompareExchange(%own[0], 1u32, 0u32, 0u32, %v, %v) : u32 barrier device\n"
                              "  opaque AtomicCompareExchange(%own[0], 1u32, 0u32, 0u32, %v, %v) : u32\n"
                              "  %w = opaque_read Load(%p, 0) : u32 store %x[1], %w\n"
                              "}\n");
  const vyre_view *v = vyre_module_view(module);
  const uint32_t second = last_of(module, VYRE_OP_opaque), late = v->c[second];
  uint32_t first = second - 1;
  while (VYRE_ROW_OP(v->op[first]) != VYRE_OP_opaque)
    first--;
  vyre_row_set_operand(module, (vyre_row){second}, 2, (vyre_row){v->c[first]}); /* as if equal rows had been merged */
  vyre_row_set_operand(module, (vyre_row){second}, 0, (vyre_row){v->a[first]});
  vyre_row_kill(module, (vyre_row){late});
  ok(vyre_module_seal(module, NULL), module);
  verify(module);
  vyre_segments segments;
  vyre_bytes text = {0};
  ok(vyre_split_grid(module, (vyre_row){vyre_module_view(module)->first[0]}, &segments), module);
  assert_int_equal(segments.invocation_words, 4); /* %own, %other, and %v */
  ok(vyre_text_print(segments.modules[1], NULL, &text), module);
  assert_non_null(strstr(text.data, "store %other"));
  assert_non_null(strstr(text.data, "store %own"));
  assert_null(strstr(text.data, "store %left"));
  vyre_bytes_free(&text);
  vyre_segments_free(&segments);
  vyre_module_destroy(module);
}
