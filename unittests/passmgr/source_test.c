/* What an embedding program reads and writes again: as it came where the table cannot hold it, or SPIR-V cannot express what
 * it became; never because memory ran out.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"

#include "../test_allocator.h"
#include "vyre/io.h"
#include "vyre/text.h"

static const char text[] = "program @a relaxed workgroup(4, 1, 1) {\n"
                           "  buffer %x : u32[4] storage rw set(0) binding(0)\n"
                           "  store %x[0], 1u32\n"
                           "}\n";

static vyre_bytes
make_words(void)
{
  vyre_module *module;
  vyre_bytes words = {0};
  assert_null(vyre_module_create(NULL, 1u << 16, &module));
  assert_null(vyre_text_parse(module, text, strlen(text), "a.vir", (vyre_diagnostics){0}));
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

static vyre_status
go_through(vyre_module *module, const vyre_bytes *words, vyre_bytes *out, uint32_t *remarks)
{
  vyre_source source = {.path = "a.spv", .data = words->data, .size = words->size};
  source.diagnostics = (vyre_diagnostics){count_remarks, remarks};
  VYRE_TRY(vyre_input_parse(module, source.path, source.data, source.size, NULL, source.diagnostics, &source.kind));
  return vyre_source_write(module, 0, NULL, &source, out);
}

TEST(memory_that_runs_out_is_an_error)
{
  vyre_bytes words = make_words();
  bool done = false;
  for (uint64_t fail_at = 1; !done; fail_at++) {
    test_memory memory;
    const vyre_allocator allocator = test_allocator(&memory, fail_at);
    vyre_bytes out = {.allocator = &allocator};
    uint32_t remarks = 0;
    vyre_module *module;
    vyre_status status = vyre_module_create(&allocator, 1u << 16, &module);
    if (!status) {
      status = go_through(module, &words, &out, &remarks);
      done = status == VYRE_OK;
      vyre_module_destroy(module);
    }
    assert_int_equal(remarks, 0);
    assert_true(!status || vyre_status_is_out_of_memory(status));
    assert_true(status == VYRE_OK || out.size == 0);
    vyre_status_free(status);
    vyre_bytes_free(&out);
    assert_int_equal(memory.out, 0);
    assert_int_equal(memory.reserved, 0);
    assert_true(fail_at < 5000);
  }
  vyre_bytes_free(&words);
}

/* Its program is gone, so there is nothing to write. */
TEST(what_cannot_be_written_comes_as_it_came)
{
  vyre_bytes words = make_words(), out = {0};
  uint32_t remarks = 0;
  vyre_module *module;
  vyre_source source = {.path = "a.spv", .data = words.data, .size = words.size};
  source.diagnostics = (vyre_diagnostics){count_remarks, &remarks};
  assert_null(vyre_module_create(NULL, 1u << 16, &module));
  assert_null(vyre_input_parse(module, source.path, source.data, source.size, NULL, source.diagnostics, &source.kind));
  vyre_row_kill(module, (vyre_row){vyre_module_view(module)->first[0]});
  assert_null(vyre_module_seal(module, NULL));
  assert_null(vyre_source_write(module, 0, NULL, &source, &out));
  assert_int_equal(remarks, 1);
  assert_int_equal(out.size, words.size);
  assert_memory_equal(out.data, words.data, words.size);
  out.size = 0;
  source.kind = VYRE_INPUT_VIR; /* that did not come as SPIR-V */
  vyre_status status = vyre_source_write(module, 0, NULL, &source, &out);
  assert_int_equal(vyre_status_code(status), VYRE_CODE_INPUT);
  assert_int_equal(out.size, 0);
  assert_int_equal(remarks, 1);
  vyre_status_free(status);
  vyre_module_destroy(module);
  vyre_bytes_free(&words);
  vyre_bytes_free(&out);
}

/* A module may be kept whatever it is, and its programs say so. */
TEST(a_module_is_kept_for_a_reason_of_ones_own)
{
  vyre_bytes words = make_words(), out = {0};
  vyre_module *module;
  assert_null(vyre_module_create(NULL, 1u << 16, &module));
  assert_null(vyre_spirv_keep(module, words.data, words.size, "a.spv", "as it was asked for"));
  assert_null(vyre_module_seal(module, NULL));
  assert_string_equal(vyre_string_text(module, vyre_module_input(module, 0)->remark), "a.spv: as it was asked for");
  assert_null(vyre_spirv_write(module, 0, NULL, &out));
  assert_int_equal(out.size, words.size);
  assert_memory_equal(out.data, words.data, words.size);
  vyre_module_destroy(module);
  vyre_bytes_free(&words);
  vyre_bytes_free(&out);
}
