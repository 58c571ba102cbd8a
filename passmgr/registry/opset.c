/* Finds rows with an op, kind or flag of a later op set than a plugin knows.
 *
 * Kinds and flags have increasing numbers, so that a count for each op set is enough.  Each op has the number of its op set.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "registry.h"

#include <assert.h>

/* The kinds and flags of each op set.  Op set 0 does not exist. */
static const struct {
  uint8_t kinds, flags;
} opsets[] = {{0, 0}, {16, 0x7f}, {VYRE_KIND__COUNT, 0x7f}};
static_assert(sizeof opsets / sizeof *opsets == VYRE_OPSET_VERSION + 1 && VYRE_KIND__COUNT == 16 && VYRE_ROW_NONUNIFORM == 64,
              "add a line with the kinds and row flags of the new op set, and replace those of the old one by numbers");

uint32_t
vyre_opset_first_newer(const vyre_view *view, uint32_t opset)
{
  assert(opset <= VYRE_OPSET_VERSION);
  for (uint32_t row = 1; row < view->rows; row++) {
    const uint32_t word = view->op[row];
    if (VYRE_ROW_OP(word) != VYRE_OP_null && (vyre_op_info_of(view, VYRE_ROW_OP(word))->opset > opset ||
                                              (uint32_t)VYRE_TYPE_KIND(VYRE_ROW_TYPE(word)) >= opsets[opset].kinds ||
                                              (VYRE_ROW_FLAGS(word) & ~(uint32_t)opsets[opset].flags) != 0))
      return row;
  }
  return 0;
}
