/* Files that an embedding program reads and writes again.  A file is written unchanged if the table cannot hold it, or if SPIR-V
 * cannot express the result, but never because memory runs out.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../module.h"
#include "../test_allocator.h"
#include "vyre/io.h"

static const char text[] = "program @a relaxed workgroup(4, 1, 1) {\n"
                           "  buffer %x : u32[4] storage rw set(0) binding(0)\n"
                           "  store %x[0], 1u32\n"
                           "}\n";

static vyre_bytes
make_words(void)
{
  vyre_module *module = parse(text);
  vyre_bytes words = {0};
  assert_null(vyre_spirv_write(module, 0, NULL, &words));
  vyre_module_destroy(module);
  return words;
}

static void
count_remarks(void *user, const vyre_diagnostic *diagnostic)
{
  assert_int_equal(diagnostic->severity, VYRE_REMARK);
  ++*(uint32_t *)user;
}

/* Reads the words, a vyre_bytes, and writes them again. */
static vyre_status
read_and_write(const vyre_allocator *allocator, void *words)
{
  vyre_bytes out = {.allocator = allocator};
  uint32_t remarks = 0;
  vyre_module *module;
  const vyre_bytes *in = words;
  vyre_source source = {.path = "a.spv", .data = in->data, .size = in->size, .diagnostics = {count_remarks, &remarks}};
  VYRE_TRY(vyre_module_create(allocator, 1u << 16, &module));
  vyre_status status = vyre_input_parse(module, source.path, source.data, source.size, NULL, source.diagnostics, &source.kind);
  if (!status)
    status = vyre_source_write(module, 0, NULL, &source, &out);
  assert_int_equal(remarks, 0);
  assert_true(!status || (vyre_status_is_out_of_memory(status) && out.size == 0));
  vyre_module_destroy(module);
  vyre_bytes_free(&out);
  return status;
}

TEST(memory_that_runs_out_is_an_error)
{
  vyre_bytes words = make_words();
  assert_in_range(test_each_failure(read_and_write, &words, false, 1), 10, 5000);
  vyre_bytes_free(&words);
}

/* The program was removed, so the module has nothing to write. */
TEST(an_unwritable_module_is_written_as_it_was_read)
{
  vyre_bytes words = make_words(), out = {0};
  uint32_t remarks = 0;
  vyre_module *module = new_module();
  vyre_source source = {.path = "a.spv", .data = words.data, .size = words.size, .diagnostics = {count_remarks, &remarks}};
  assert_null(vyre_input_parse(module, source.path, source.data, source.size, NULL, source.diagnostics, &source.kind));
  vyre_row_kill(module, (vyre_row){vyre_module_view(module)->first[0]});
  assert_null(vyre_module_seal(module, NULL));
  assert_null(vyre_source_write(module, 0, NULL, &source, &out));
  assert_int_equal(remarks, 1);
  assert_int_equal(out.size, words.size);
  assert_memory_equal(out.data, words.data, words.size);
  out.size = 0;
  source.kind = VYRE_INPUT_VIR; /* not read from SPIR-V */
  assert_error(vyre_source_write(module, 0, NULL, &source, &out), VYRE_CODE_INPUT, "");
  assert_int_equal(out.size, 0);
  assert_int_equal(remarks, 1);
  vyre_module_destroy(module);
  vyre_bytes_free(&words);
  vyre_bytes_free(&out);
}

/* Any module may be kept for a reason of the caller.  Its remark contains the reason. */
TEST(a_module_is_kept_for_a_reason_of_the_caller)
{
  vyre_bytes words = make_words(), out = {0};
  vyre_module *module = new_module();
  assert_null(vyre_spirv_keep(module, words.data, words.size, "a.spv", "on request"));
  assert_null(vyre_module_seal(module, NULL));
  assert_string_equal(vyre_string_text(module, vyre_module_input(module, 0)->remark), "a.spv: on request");
  assert_null(vyre_spirv_write(module, 0, NULL, &out));
  assert_same_bytes(out, words);
  vyre_module_destroy(module);
}
