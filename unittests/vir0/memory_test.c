/* Each allocation of writing and reading fails once.  The call returns a status, does not crash and leaks nothing, and the module
 * can be used again.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test_allocator.h"
#include "sample.h"

static test_memory memory;

/* Asserts that a call in which allocation `at` fails returns an error, if it made that allocation.  Returns whether it did. */
static bool
has_failed(vyre_status status, uint64_t at)
{
  const bool fails = memory.calls >= at;
  memory.fail_at = 0;
  if (fails)
    assert_error(status, VYRE_CODE_INPUT, "out of memory");
  else
    assert_ok(status);
  return fails;
}

/* Returns a module with the allocator, whose allocation `at` fails from now on. */
static vyre_module *
module_that_fails(vyre_allocator *allocator, bool is_filled, uint64_t at)
{
  vyre_module *m;
  *allocator = test_allocator(&memory, 0);
  assert_ok(vyre_module_create(allocator, 1 << 14, &m));
  if (is_filled)
    sample_build(m);
  assert_ok(vyre_module_seal(m, NULL));
  memory.calls = 0;
  memory.fail_at = at;
  return m;
}

TEST(writing_may_fail_anywhere)
{
  uint64_t at = 0;
  for (bool fails = true; fails;) {
    vyre_allocator allocator;
    vyre_module *m = module_that_fails(&allocator, true, ++at);
    vyre_bytes out = {.allocator = &allocator};
    fails = has_failed(vyre_vir0_write(m, NULL, 0, &out), at);
    vyre_bytes_free(&out);
    vyre_module_destroy(m);
    assert_int_equal(memory.out, 0);
  }
  assert_true(at > 4);
}

TEST(reading_may_fail_anywhere)
{
  vyre_module *sample = sample_new();
  vyre_bytes file = sample_write(sample);
  uint64_t at = 0;
  for (bool fails = true; fails;) {
    vyre_allocator allocator;
    vyre_module *m = module_that_fails(&allocator, false, ++at);
    fails = has_failed(vyre_vir0_read(m, file.data, file.size, "f", NULL, 0), at);
    if (fails)
      assert_ok(vyre_vir0_read(m, file.data, file.size, "f", NULL, 0));
    sample_compare(sample, m);
    vyre_module_destroy(m);
    assert_int_equal(memory.out, 0);
  }
  assert_true(at > 20);
  vyre_bytes_free(&file);
  vyre_module_destroy(sample);
}
