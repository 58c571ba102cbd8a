/* Runs a program as an item of a live megakernel, which interprets it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include "base/clock.h"
#include "vyre/megakernel_programs.h"
#include "vyre/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MEMORY = 24 << 20, SCRATCH = 8 << 20, MOST_BUFFERS = 64 };

typedef struct ranges {
  vyre_mega_range of[MOST_BUFFERS];
  uint32_t inputs[MOST_BUFFERS]; /* indices of the inputs */
  uint32_t count;
} ranges;

static bool
is_of_row(const run_program *program, const run_buffer *buffer, uint32_t row)
{
  const vyre_space space = VYRE_BUFFER_SPACE(vyre_module_view(program->module)->imm_hi[row]);
  if (space == VYRE_SPACE_PUSH || buffer->space == VYRE_SPACE_PUSH)
    return space == buffer->space;
  const vyre_buffer_info *info = vyre_buffer_info_of(program->module, (vyre_row){row});
  return info->set == buffer->set && info->binding == buffer->binding;
}

/* Lists the inputs in the order of the dispatch's buffers. */
static void
list_inputs(const run_program *program, const run_inputs *inputs, ranges *out)
{
  const vyre_view *view = vyre_module_view(program->module);
  for (uint32_t row = view->first[program->row.id]; row; row = view->next[row]) {
    if (VYRE_ROW_OP(view->op[row]) != VYRE_OP_buffer || VYRE_BUFFER_SPACE(view->imm_hi[row]) > VYRE_SPACE_PUSH)
      continue;
    for (uint32_t i = 0; i < program->buffer_count && out->count < MOST_BUFFERS; i++) {
      const run_buffer *buffer = &program->buffers[i];
      bool is_new = is_of_row(program, buffer, row);
      const uint32_t input = is_new ? run_inputs_find(inputs, buffer) : 0;
      for (uint32_t k = 0; k < out->count; k++)
        is_new = is_new && out->inputs[k] != input;
      if (is_new)
        out->inputs[out->count++] = input;
    }
  }
}

static vyre_status
move(vyre_mega_programs *programs, const run_inputs *inputs, run_results *results, ranges *all, bool is_up)
{
  for (uint32_t k = 0; k < all->count; k++) {
    const uint32_t input = all->inputs[k];
    if (is_up)
      VYRE_TRY(vyre_mega_programs_allocate(programs, inputs->items[input].size, &all->of[k]));
    VYRE_TRY(is_up ? vyre_mega_programs_write(programs, all->of[k], results->items[input])
                   : vyre_mega_programs_read(programs, all->of[k], results->items[input]));
  }
  return VYRE_OK;
}

static vyre_status
run_item(vyre_mega_programs *programs, const run_program *program, const vyre_mega_program_item *item)
{
  vyre_mega_program_ticket ticket;
  vyre_mega_slot slot;
  bool published = false;
  while (!published)
    VYRE_TRY(vyre_mega_programs_publish(programs, item, &ticket, &published));
  VYRE_TRY(vyre_mega_programs_wait(programs, ticket, &slot));
  if (slot.state == VYRE_MEGA_DONE)
    return VYRE_OK;
  return VYRE_ERROR(VYRE_CODE_INPUT, "%s: the item ended %s: %s\nFix: run the program on the interpreter, which names the place",
                    program->path, vyre_mega_state_text(slot.state), vyre_mega_reason_text(slot.reason));
}

static vyre_status
run_on(const run_options *options, vyre_mega_programs *programs, const run_program *program, const run_inputs *inputs,
       run_results *results)
{
  ranges all = {.count = 0};
  vyre_mega_program_options how = {.struct_size = sizeof how, .specs = program->specs, .spec_count = program->spec_count};
  uint32_t number;
  VYRE_TRY(run_subgroup_size(options, program, &how.subgroup));
  VYRE_TRY(run_check_plain(program));
  const uint64_t start = clock_now();
  VYRE_TRY(vyre_mega_programs_register(programs, program->module, program->row, &how, &number));
  const uint64_t registered = clock_now();
  list_inputs(program, inputs, &all);
  VYRE_TRY(move(programs, inputs, results, &all, true));
  const vyre_mega_program_item item = {.program = number,
                                       .buffers = all.of,
                                       .buffer_count = all.count,
                                       .groups = {inputs->groups[0], inputs->groups[1], inputs->groups[2]},
                                       .steps = options->setup.steps < UINT32_MAX ? (uint32_t)options->setup.steps : 0};
  VYRE_TRY(run_item(programs, program, &item));
  VYRE_TRY(move(programs, inputs, results, &all, false));
  vyre_mega_programs_counts counts;
  vyre_mega_programs_count(programs, &counts);
  if (counts.items != 1)
    return VYRE_ERROR(VYRE_CODE_INTERNAL, "internal error: the device interpreted %" PRIu64 " items\nFix: report this as a bug of vyre",
                      counts.items);
  if (options->time)
    printf("time: %s in a megakernel: %.3f ms, of these the registration %.3f ms; %" PRIu64 " instructions\n", program->path,
           (double)(clock_now() - start) / 1e6, (double)(registered - start) / 1e6, counts.steps);
  return VYRE_OK;
}

vyre_status
run_megakernel(const run_options *options, run_target ops, vyre_target *target, const run_program *program,
               const run_inputs *inputs, run_results *results)
{
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < inputs->count; i++)
    bytes += inputs->items[i].size + 256;
  const vyre_mega_programs_options how = {.struct_size = sizeof how, .memory = bytes + MEMORY, .scratch = SCRATCH, .groups = 1};
  vyre_mega_programs *programs;
  VYRE_TRY(vyre_mega_programs_start(ops, target, &how, &programs));
  vyre_status status = run_on(options, programs, program, inputs, results);
  return vyre_status_join(status, vyre_mega_programs_stop(programs, NULL, NULL));
}
