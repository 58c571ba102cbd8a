/* The list of targets.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/target.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void
each_target_is_found_by_its_name(void **state)
{
  (void)state;
  uint32_t count = 0;
  for (; vyre_targets[count]; count++) {
    assert_ptr_equal(vyre_target_find(vyre_targets[count]->name), vyre_targets[count]);
    assert_int_equal(vyre_targets[count]->struct_size, sizeof(vyre_target_ops));
  }
  assert_int_equal(count, 3);
  assert_ptr_equal(vyre_targets[0], &vyre_target_cpu); /* the default needs no library and no device */
  assert_null(vyre_target_find("cp"));
  assert_null(vyre_target_find("cpu2"));
  assert_null(vyre_target_find(""));
}

int
main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_target_is_found_by_its_name)};
  return cmocka_run_group_tests_name("targets/list", tests, NULL, NULL);
}
