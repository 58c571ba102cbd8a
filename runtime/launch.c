/* Makes one launch of the kernel as steps of a sequence.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "mega.h"

/* Makes concurrent steps of groups that are threads of a CPU.  The grid has a second row, which never runs.  Otherwise
 * compiled C would assume that the call owns its buffers, but the host accesses them too. */
uint32_t
mega_launch(const vyre_mega *mega, const vyre_range *ranges, vyre_step *out)
{
  const vyre_step step = {.kernel = mega->kernel,
                          .buffers = ranges,
                          .buffer_count = MEGA_BUFFERS + mega_has_data(mega),
                          .groups = {mega->groups, 1, 1}};
  if (!mega->is_beside) {
    out[0] = step;
    return 1;
  }
  for (uint32_t i = 0; i < mega->groups; i++) {
    out[i] = step;
    out[i].groups[1] = 2;
    out[i].first = i;
    out[i].count = 1;
    out[i].beside = i > 0;
  }
  return mega->groups;
}
