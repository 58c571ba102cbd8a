/* Batches: modules are combined into one module and taken out again, unchanged or with the edits that each module gets alone.
 * Each allocation may fail.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../module.h"
#include "../test_allocator.h"

#include "passmgr/resident/resident.h"
#include "vyre/batch.h"
#include "vyre/verify.h"
#include "vyre/view.h"
#include "vyre/vir0.h"

/* Programs with equal types in different orders, types with lengths of their own, equal names, and data beside the columns. */
static const char *const texts[] = {
    "struct @S { a : u32, b : f32 }\n"
    "program @main workgroup(8, 1, 1) {\n"
    "  spec %n : u32 = 4u32 id(3) buffer %x : @S[] storage rw set(0) binding(0) buffer %w : u32[%n] workgroup\n"
    "  buffer %t : f32[2] constant = [1.0f32, 0.5f32] %i = gid.x %d = add %i, 7u32 store %w[1], %i\n"
    "  if ult(%i, 5u32) { %v = load %t[1] store %x[%i].b, %v }\n"
    "}\n",
    "program @other workgroup(1, 1, 1) { }\n"
    "program @main workgroup(4, 1, 1) {\n"
    "  spec %n : u32 = 9u32 id(3) buffer %y : f32[3] storage ro set(0) binding(1) buffer %w : u32[%n] workgroup %i = gid.x\n"
    "  %d = mul %i, 3u32 store %w[0], %d\n"
    "}\n",
    "struct @T { c : f32[2] }\n"
    "struct @S { a : u32, b : f32 }\n"
    "program @main workgroup(8, 1, 1) {\n"
    "  buffer %t : f32[2] constant = [1.0f32, 0.25f32] buffer %y : @S[] storage rw set(1) binding(0) %v = load %t[0]\n"
    "  %d = add %v, 1.0f32 store %y[0].b, %v\n"
    "}\n",
    "",
};
static vyre_module *single;
static vyre_batch *all;

static int
make_batch(void **state)
{
  (void)state;
  single = new_module();
  assert_ok(vyre_batch_create(NULL, &all));
  return 0;
}

static int
end_batch(void **state)
{
  (void)state;
  vyre_batch_destroy(all);
  vyre_module_destroy(single);
  return 0;
}

#define BATCH_TEST(name) TEST_WITH(name, make_batch, end_batch)

enum { TEXTS = sizeof texts / sizeof *texts, LENGTHS = TEXTS, INPUTS, ENTRIES };

/* Makes a module whose array types have lost their length rows.  Two types are then equal, which the verifier reports. */
static vyre_status
make_lengths(vyre_module *module)
{
  static const char text[] = "program @main workgroup(1, 1, 1) {\n"
                             "  spec %n : u32 = 4u32 id(3)\n"
                             "  spec %m : u32 = 4u32 id(4)\n"
                             "  buffer %a : u32[%n] workgroup\n"
                             "  buffer %b : u32[%m] workgroup\n"
                             "}\n";
  VYRE_TRY(vyre_text_parse(module, text, strlen(text), "lengths.vir", (vyre_diagnostics){0}));
  const uint32_t types = vyre_type_count(module);
  for (uint32_t row = vyre_module_view(module)->rows; row-- > 1;)
    if (vyre_row_spec_id(module, (vyre_row){row}) != UINT32_MAX)
      vyre_row_kill(module, (vyre_row){row});
  VYRE_TRY(vyre_module_seal(module, NULL));
  assert_int_equal(types, vyre_type_count(module));
  return VYRE_OK;
}

/* Makes entry number `entry`.  The last entry has two inputs, and a program without an input. */
static vyre_status
make(vyre_module *module, uint32_t entry)
{
  char path[16];
  vyre_builder b;
  if (entry == LENGTHS)
    return make_lengths(module);
  snprintf(path, sizeof path, "%u.vir", entry);
  if (entry < TEXTS)
    return vyre_text_parse_lines(module, texts[entry], strlen(texts[entry]), path, (vyre_diagnostics){0});
  VYRE_TRY(vyre_text_parse(module, texts[2], strlen(texts[2]), "a.vir", (vyre_diagnostics){0}));
  VYRE_TRY(vyre_text_parse_lines(module, texts[0], strlen(texts[0]), "b.vir", (vyre_diagnostics){0}));
  vyre_build_program(module, "main", 0, UINT32_MAX, &b);
  const uint32_t capabilities[] = {1, 61};
  vyre_input *input = vyre_module_input(module, 1);
  input->spirv_version = 0x10500;
  vyre_word_list_append(module, &input->capabilities, capabilities, 2);
  return vyre_module_seal(module, NULL);
}

/* Edits the programs with bit 0 in `mask`, by their position, as a pass might: kills rows named %d, except mul, and appends a
 * barrier. */
static vyre_status
edit_without(vyre_module *module, uint32_t mask)
{
  const vyre_view *v = vyre_module_view(module);
  const uint32_t end = v->rows;
  for (uint32_t program = v->first[0]; program; program = v->next[program], mask >>= 1) {
    const uint32_t after = v->next[program] ? v->next[program] : end;
    for (uint32_t row = mask & 1 ? program : after; row-- > program;) {
      const char *name = vyre_row_name(module, (vyre_row){row});
      if (name && strcmp(name, "d") == 0 && VYRE_ROW_OP(v->op[row]) != VYRE_OP_mul)
        vyre_row_kill(module, (vyre_row){row});
    }
    vyre_builder b = {.module = module};
    vyre_builder_at_end(&b, (vyre_row){program});
    if (!(mask & 1))
      vyre_build_barrier(&b, VYRE_ORDER(2, 2, 0x108));
  }
  return vyre_module_seal(module, NULL);
}

static vyre_status
edit(vyre_module *module)
{
  return edit_without(module, 0);
}

static vyre_bytes
bytes_of(const vyre_module *module)
{
  vyre_bytes bytes = {0};
  assert_null(vyre_vir0_write(module, NULL, 0, &bytes));
  assert_null(
      vyre_text_print(module, &(vyre_text_options){.struct_size = sizeof(vyre_text_options), .lines = true, .rows = true}, &bytes));
  return bytes;
}

static vyre_bytes
bytes_alone(uint32_t entry, bool edited)
{
  vyre_module *module;
  assert_null(vyre_module_create(NULL, 0, &module));
  assert_null(make(module, entry));
  if (edited)
    assert_null(edit(module));
  const vyre_bytes bytes = bytes_of(module);
  vyre_module_destroy(module);
  return bytes;
}

static vyre_status
fill(vyre_batch *batch, vyre_module *module)
{
  for (uint32_t i = 0; i < ENTRIES; i++) {
    vyre_module_clear(module);
    VYRE_TRY(make(module, i));
    VYRE_TRY(vyre_batch_add(batch, module));
  }
  vyre_module_clear(module);
  return vyre_module_seal(vyre_batch_module(batch), NULL);
}

static void
check_entries(vyre_batch *batch, vyre_module *module, bool edited)
{
  for (uint32_t i = ENTRIES; i-- > 0;) {
    vyre_bytes wanted = bytes_alone(i, edited);
    assert_null(vyre_batch_extract(batch, i, module));
    vyre_verify_errors errors = {0};
    if (i != LENGTHS)
      assert_null(vyre_verify(module, &errors));
    vyre_bytes got = bytes_of(module);
    assert_int_equal(got.size, wanted.size);
    assert_memory_equal(got.data, wanted.data, wanted.size);
    vyre_bytes_free(&got);
    vyre_bytes_free(&wanted);
    vyre_module_clear(module);
  }
}

BATCH_TEST(entries_equal_modules_that_were_edited_alone)
{
  for (int round = 0; round < 2; round++) { /* the second round reuses the memory of the first */
    assert_null(fill(all, single));
    assert_int_equal(vyre_batch_count(all), ENTRIES);
    check_entries(all, single, false);
    assert_null(edit(vyre_batch_module(all)));
    check_entries(all, single, true);
    check_entries(all, single, true);
    vyre_batch_clear(all);
    assert_int_equal(vyre_batch_count(all), 0);
  }
}

/* Equal types of entries are one type in the batch, as passes expect of a module. */
BATCH_TEST(equal_types_are_one)
{
  assert_null(make(single, 2));
  for (int i = 0; i < 100; i++)
    assert_null(vyre_batch_add(all, single));
  assert_int_equal(vyre_type_count(vyre_batch_module(all)), vyre_type_count(single));
  vyre_batch_clear(all);
  for (uint32_t i = 0; i < ENTRIES; i++) {
    vyre_module_clear(single);
    assert_null(make(single, i));
    if (i != LENGTHS)
      assert_null(vyre_batch_add(all, single));
  }
  vyre_verify_errors errors = {0};
  assert_null(vyre_module_seal(vyre_batch_module(all), NULL));
  assert_null(vyre_verify(vyre_batch_module(all), &errors));
}

static void
expect_misuse(vyre_status status, const char *text)
{
  assert_error(status, VYRE_CODE_INTERNAL, text);
}

BATCH_TEST(misuse_is_an_error)
{
  vyre_builder b;
  vyre_build_program(single, "open", 0, UINT32_MAX, &b);
  expect_misuse(vyre_batch_add(all, single), "only a sealed module");
  assert_null(vyre_module_seal(single, NULL));
  assert_null(vyre_batch_add(all, single));
  vyre_module_clear(single);
  expect_misuse(vyre_batch_extract(all, 0, single), "must be sealed"); /* the module of the batch is not */
  assert_null(vyre_module_seal(vyre_batch_module(all), NULL));
  expect_misuse(vyre_batch_extract(all, 1, single), "entry 1 of a batch of 1");
  assert_null(vyre_batch_extract(all, 0, single));
  expect_misuse(vyre_batch_extract(all, 0, single), "empty");
  vyre_batch_destroy(NULL);
}

/* Makes a module of two inputs, one of which has lines, and of a program without an input. */
static void
make_three(vyre_module *module)
{
  vyre_builder b;
  vyre_module_clear(module);
  assert_null(vyre_text_parse(module, texts[2], strlen(texts[2]), "a.vir", (vyre_diagnostics){0}));
  assert_null(vyre_text_parse_lines(module, texts[2], strlen(texts[2]), "b.vir", (vyre_diagnostics){0}));
  vyre_build_program(module, "main", 0, UINT32_MAX, &b);
  assert_null(vyre_module_seal(module, NULL));
}

/* Puts parts of `programs` programs into a batch one after the other, edits each if `edited` is true, and joins them in `out`. */
static vyre_status
process_parts(const vyre_allocator *allocator, const vyre_module *whole, uint32_t programs, bool edited, vyre_module *out)
{
  const vyre_view *v = vyre_module_view(whole);
  vyre_batch *batch;
  VYRE_TRY(vyre_batch_create(allocator, &batch));
  vyre_status status = VYRE_OK;
  for (uint32_t first = v->first[0], end; first < v->rows && !status; first = end) {
    end = first;
    for (uint32_t i = 0; i < programs && end < v->rows; i++)
      end = vyre_program_end(v, end);
    vyre_batch_clear(batch);
    status = vyre_batch_add_part(batch, whole, (vyre_row){first}, (vyre_row){end});
    if (!status)
      status = vyre_module_seal(vyre_batch_module(batch), NULL);
    if (!status && edited)
      status = edit(vyre_batch_module(batch));
    if (!status)
      status = vyre_batch_extract_part(batch, 0, end == v->rows, out);
  }
  vyre_batch_destroy(batch);
  return status;
}

static void
assert_bytes(const vyre_module *module, const vyre_bytes *wanted)
{
  vyre_bytes got = bytes_of(module);
  assert_int_equal(got.size, wanted->size);
  assert_memory_equal(got.data, wanted->data, wanted->size);
  vyre_bytes_free(&got);
}

/* The whole module is a batch, too, whose programs are renamed while they are in the batch. */
TEST(parts_are_joined_again)
{
  for (uint32_t programs = 1; programs <= 7; programs++) {
    const bool edited = programs % 2 != 0;
    vyre_module *module, *whole, *out;
    vyre_batch *batch;
    vyre_verify_errors errors = {0};
    assert_null(vyre_module_create(NULL, 0, &module));
    assert_null(vyre_module_create(NULL, 0, &out));
    assert_null(vyre_batch_create(NULL, &batch));
    make_three(module);
    assert_null(vyre_batch_add(batch, module));
    assert_null(vyre_batch_add(batch, module));
    whole = vyre_batch_module(batch);
    assert_null(vyre_module_seal(whole, NULL));
    assert_null(process_parts(NULL, whole, programs, edited, out));
    if (edited) {
      assert_null(edit(whole));
      assert_null(edit(module));
    }
    assert_null(vyre_verify(out, &errors));
    vyre_bytes wanted = bytes_of(whole), alone = bytes_of(module);
    assert_bytes(out, &wanted);
    vyre_module_swap(whole, out);
    vyre_module_destroy(out);
    assert_bytes(whole, &wanted);
    for (uint32_t i = 0; i < 2; i++) {
      vyre_module_clear(module);
      assert_null(vyre_batch_extract(batch, i, module));
      assert_bytes(module, &alone);
    }
    vyre_bytes_free(&wanted);
    vyre_bytes_free(&alone);
    vyre_batch_destroy(batch);
    vyre_module_destroy(module);
  }
}

BATCH_TEST(invalid_parts_are_errors)
{
  make_three(single);
  const vyre_view *v = vyre_module_view(single);
  const uint32_t first = v->first[0], second = v->next[first];
  const uint32_t borders[][2] = {{first, first}, {first, second + 1}, {first + 1, second},
                                 {0, second},    {second, first},     {first, v->rows + 1}};
  for (size_t i = 0; i < sizeof borders / sizeof *borders; i++)
    expect_misuse(vyre_batch_add_part(all, single, (vyre_row){borders[i][0]}, (vyre_row){borders[i][1]}),
                  "cannot be added to a batch as a part");
  assert_null(vyre_batch_add_part(all, single, (vyre_row){first}, (vyre_row){second}));
  assert_null(vyre_module_seal(vyre_batch_module(all), NULL));
  expect_misuse(vyre_batch_extract_part(all, 1, true, single), "does not continue the module");
  vyre_module_clear(single);
  assert_null(make(single, 0)); /* the length of an array is a row */
  expect_misuse(vyre_batch_add_part(all, single, (vyre_row){v->first[0]}, (vyre_row){v->rows}),
                "cannot be added to a batch as a part");
  expect_misuse(vyre_batch_extract_part(all, 0, true, single), "does not continue the module");
}

/* Sets the programs with bit 1 in `mask` aside, edits the others, and puts all together. */
static vyre_status
edit_beside(vyre_module *module, uint32_t mask)
{
  bool taken[32];
  vyre_aside *aside;
  for (uint32_t i = 0; i < 32; i++)
    taken[i] = (mask >> i) & 1;
  VYRE_TRY(vyre_module_set_aside(module, taken, &aside));
  vyre_status status = edit(module);
  status = vyre_status_join(status, vyre_module_put_back(module, aside));
  vyre_aside_destroy(aside);
  return status;
}

/* Types, names, decorations, lines and the order of the programs are as if nothing had been set aside. */
BATCH_TEST(programs_that_are_set_aside_do_not_change)
{
  for (uint32_t mask = 0; mask < 1u << 8; mask++) {
    vyre_batch_clear(all);
    assert_null(fill(all, single));
    assert_null(edit_beside(vyre_batch_module(all), mask));
    vyre_bytes got = bytes_of(vyre_batch_module(all));
    vyre_batch_clear(all);
    assert_null(fill(all, single));
    assert_null(edit_without(vyre_batch_module(all), mask));
    assert_bytes(vyre_batch_module(all), &got);
    vyre_bytes_free(&got);
  }
}

BATCH_TEST(programs_are_put_back_only_if_none_is_missing)
{
  vyre_aside *aside;
  make_three(single);
  assert_null(vyre_module_set_aside(single, (const bool[]){true, false, false, false, false, false, false}, &aside));
  vyre_row_kill(single, (vyre_row){vyre_module_view(single)->last[0]});
  expect_misuse(vyre_module_put_back(single, aside), "a pass added or removed a program");
  vyre_aside_destroy(aside);
  vyre_row_kill(single, (vyre_row){vyre_module_view(single)->last[0]});
  expect_misuse(vyre_module_set_aside(single, NULL, &aside), "only from a sealed module");
  assert_null(aside);
  vyre_aside_destroy(NULL);
}

/* Programs that make their own batches limit them to this number of rows. */
TEST(a_device_reports_its_greatest_number_of_rows)
{
  vyre_device device = {.info = {.max_storage = UINT64_MAX, .max_buffer = 24 << 20}};
  assert_int_equal(vyre_device_most_rows(&device), 0); /* the device is not open */
  device.ops = &vyre_target_cpu;
  assert_int_equal(vyre_device_most_rows(&device), 1 << 20); /* a buffer holds at least six columns */
  device.info.max_buffer = UINT64_MAX;
  assert_int_equal(vyre_device_most_rows(&device), UINT32_MAX);
  device.threads = 1;
  assert_int_equal(vyre_device_most_rows(&device), 0);
}

static vyre_status
process_batch(const vyre_allocator *allocator, vyre_module *module, vyre_batch *batch)
{
  vyre_module *out;
  VYRE_TRY(fill(batch, module));
  VYRE_TRY(edit_beside(vyre_batch_module(batch), 2));
  for (uint32_t i = 0; i < ENTRIES; i++) {
    vyre_module_clear(module);
    VYRE_TRY(vyre_batch_extract(batch, i, module));
  }
  VYRE_TRY(vyre_module_create(allocator, 0, &out));
  vyre_module_clear(module);
  vyre_status status = make(module, 2);
  if (!status)
    status = make(module, 2);
  if (!status)
    status = process_parts(allocator, module, 1, false, out);
  vyre_module_destroy(out);
  return status;
}

static vyre_status
run_with(const vyre_allocator *allocator, void *user)
{
  vyre_module *module;
  vyre_batch *batch = NULL;
  (void)user;
  VYRE_TRY(vyre_module_create(allocator, 0, &module));
  vyre_status status = vyre_batch_create(allocator, &batch);
  if (!status)
    status = process_batch(allocator, module, batch);
  vyre_batch_destroy(batch);
  vyre_module_destroy(module);
  return status;
}

TEST(every_allocation_may_fail)
{
  assert_true(test_each_failure(run_with, NULL, false, 1) > 100);
}
