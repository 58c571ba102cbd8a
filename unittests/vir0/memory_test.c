/* Every allocation of writing and reading failing once: a status, no crash, no leak, and the module can be used again.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test_allocator.h"
#include "sample.h"

TEST(writing_may_fail_anywhere)
{
  test_memory memory = {0};
  for (uint64_t at = 1;; at++) {
    vyre_allocator allocator = test_allocator(&memory, 0);
    vyre_module *m;
    assert_null(vyre_module_create(&allocator, 1 << 14, &m));
    sample_build(m);
    assert_null(vyre_module_seal(m, NULL));
    vyre_bytes out = {.allocator = &allocator};
    memory.calls = 0;
    memory.fail_at = at;
    vyre_status status = vyre_vir0_write(m, NULL, 0, &out);
    bool failed = memory.calls >= at;
    vyre_bytes_free(&out);
    vyre_module_destroy(m);
    assert_int_equal(memory.out, 0);
    if (!failed) {
      assert_null(status);
      assert_true(at > 4);
      return;
    }
    assert_non_null(strstr(vyre_status_text(status), "out of memory"));
    vyre_status_free(status);
  }
}

TEST(reading_may_fail_anywhere)
{
  vyre_module *sample = sample_new();
  vyre_bytes file = sample_write(sample);
  test_memory memory = {0};
  for (uint64_t at = 1;; at++) {
    vyre_allocator allocator = test_allocator(&memory, 0);
    vyre_module *m;
    assert_null(vyre_module_create(&allocator, 1 << 14, &m));
    memory.calls = 0;
    memory.fail_at = at;
    vyre_status status = vyre_vir0_read(m, file.data, file.size, "f", NULL, 0);
    bool failed = memory.calls >= at;
    if (failed) {
      assert_non_null(status);
      assert_non_null(strstr(vyre_status_text(status), "out of memory"));
      vyre_status_free(status);
      memory.fail_at = 0;
      assert_null(vyre_vir0_read(m, file.data, file.size, "f", NULL, 0));
    } else {
      assert_null(status);
    }
    sample_compare(sample, m);
    vyre_module_destroy(m);
    assert_int_equal(memory.out, 0);
    if (!failed) {
      assert_true(at > 20);
      break;
    }
  }
  vyre_bytes_free(&file);
  vyre_module_destroy(sample);
}
