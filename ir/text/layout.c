/* The default layout, which is std430. Parser and printer share it, so that a printed module has the same layout when parsed again.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/round.h"
#include "parser.h"

uint32_t
text_default_matrix_stride(vyre_type column, uint32_t columns, bool row_major)
{
  uint32_t lanes = row_major ? columns : VYRE_TYPE_LANES(column);
  uint32_t scalar = vyre_kind_bits(VYRE_TYPE_KIND(column)) / 8;
  return scalar * (lanes == 3 ? 4 : lanes);
}

uint32_t
text_default_offset(const vyre_module *module, vyre_type_id type, uint64_t end)
{
  const uint64_t offset = round_up(end, vyre_type_get(module, type).align);
  return offset < UINT32_MAX ? (uint32_t)offset : UINT32_MAX;
}
