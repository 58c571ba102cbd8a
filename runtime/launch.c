/* Makes one launch of the kernel as steps of a sequence.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "mega.h"

uint32_t
mega_step_count(const vyre_mega *mega)
{
  return (mega->is_beside ? mega->groups : 1) + mega->stage_count;
}

/* Makes concurrent steps of groups that are threads of a CPU.  The grid has a second row, which never runs.  Otherwise
 * compiled C would assume that the call owns its buffers, but the host accesses them too. */
static uint32_t
add_main(const vyre_mega *mega, const vyre_step *step, vyre_step *out)
{
  if (!mega->is_beside) {
    out[0] = *step;
    return 1;
  }
  for (uint32_t i = 0; i < mega->groups; i++) {
    out[i] = *step;
    out[i].groups[1] = 2;
    out[i].first = i;
    out[i].count = 1;
    out[i].beside = i > 0;
  }
  return mega->groups;
}

void
mega_add_launch(const vyre_mega *mega, const vyre_range *buffers, mega_launch *launch, vyre_step *steps, vyre_sequence *sequence)
{
  uint32_t count = 0;
  const uint32_t first = sequence->step_count;
  while (count < MEGA_BUFFERS + (mega_has_data(mega) ? 1u : 0u)) {
    launch->ranges[count] = buffers[count];
    count++;
  }
  if (mega->stage_count)
    launch->ranges[count++] = (vyre_range){.buffer = mega->stage};
  launch->ranges[count] = (vyre_range){.buffer = mega->kept};
  const vyre_step step = {
      .kernel = mega->main.kernel, .buffers = launch->ranges, .buffer_count = count, .groups = {mega->groups, 1, 1}};
  sequence->steps = steps;
  sequence->step_count += add_main(mega, &step, steps + first);
  for (uint32_t i = 0; i < mega->stage_count; i++) {
    vyre_step *stage = &steps[sequence->step_count++];
    *stage = step;
    stage->kernel = mega->stages[i].kernel;
    stage->buffer_count = count + mega->stages[i].keeps;
    mega_stage_grid(mega, stage->groups);
    stage->count = mega->form == VYRE_KERNEL_C ? stage->groups[0] : 0;
  }
  if (mega->stage_count == 0)
    return;
  launch->fill = (vyre_fill){.range = {.buffer = mega->stage}};
  sequence->fills = sequence->fill_count ? sequence->fills : &launch->fill;
  sequence->fill_count = 1;
  if (mega->options.passes <= 1)
    return;
  launch->repeat =
      (vyre_repeat){.first = first, .count = mega_step_count(mega), .times = mega->options.passes, .until = {mega->stage, 0, 4}};
  sequence->repeats = &launch->repeat;
  sequence->ends = &launch->end;
  sequence->repeat_count = 1;
}
