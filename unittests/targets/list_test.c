/* The list of targets.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "vyre/ir.h"
#include "vyre/target.h"

TEST(each_target_is_found_by_its_name)
{
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
  assert_int_equal(vyre_opset_version(), VYRE_OPSET_VERSION);
  assert_int_equal(strspn(vyre_version(), "0123456789."), strlen(vyre_version()));
  assert_true(strlen(vyre_version()) >= 5);
}
