/* Runs a program as an item of a live megakernel, which interprets it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include "base/clock.h"
#include "vyre/megakernel_programs.h"
#include "vyre/view.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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
static vyre_status
list_inputs(const run_program *program, const run_inputs *inputs, ranges *out)
{
  const vyre_view *view = vyre_module_view(program->module);
  for (uint32_t row = view->first[program->row.id]; row; row = view->next[row]) {
    if (VYRE_ROW_OP(view->op[row]) != VYRE_OP_buffer || VYRE_BUFFER_SPACE(view->imm_hi[row]) > VYRE_SPACE_PUSH)
      continue;
    for (uint32_t i = 0; i < program->buffer_count; i++) {
      const run_buffer *buffer = &program->buffers[i];
      bool is_new = is_of_row(program, buffer, row);
      const uint32_t input = is_new ? run_inputs_find(inputs, buffer) : 0;
      for (uint32_t k = 0; k < out->count; k++)
        is_new = is_new && out->inputs[k] != input;
      if (is_new && out->count == MOST_BUFFERS)
        return VYRE_ERROR(VYRE_CODE_INPUT, "%s: the program has more than %d buffers\nFix: run it without -megakernel",
                          program->path, MOST_BUFFERS);
      if (is_new)
        out->inputs[out->count++] = input;
    }
  }
  return VYRE_OK;
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

/* Waits for an item. Removes its program at the time limit, which ends the item. */
static vyre_status
wait_for_item(const run_options *options, vyre_mega_programs *programs, const run_program *program, uint32_t number,
              vyre_mega_program_ticket ticket, vyre_mega_slot *out)
{
  const uint64_t seconds = options->on.timeout.value;
  bool ended;
  VYRE_TRY(vyre_mega_programs_wait_for(programs, ticket, seconds ? seconds * 1000000000u : UINT64_MAX, out, &ended));
  if (ended)
    return VYRE_OK;
  VYRE_TRY(vyre_mega_programs_remove(programs, number));
  VYRE_TRY(vyre_mega_programs_wait(programs, ticket, out));
  return VYRE_ERROR(VYRE_CODE_DEVICE,
                    "%s: the item has not ended after %" PRIu64 " seconds, the limit of -timeout\n"
                    "Fix: run fewer groups, look for an endless loop with the interpreter, or raise -timeout",
                    program->path, seconds);
}

static vyre_status
run_item(const run_options *options, vyre_mega_programs *programs, const run_program *program, const vyre_mega_program_item *item)
{
  vyre_mega_program_ticket ticket;
  vyre_mega_slot slot;
  bool published = false;
  while (!published)
    VYRE_TRY(vyre_mega_programs_publish(programs, item, &ticket, &published));
  VYRE_TRY(wait_for_item(options, programs, program, item->program, ticket, &slot));
  if (slot.state == VYRE_MEGA_DONE)
    return VYRE_OK;
  return VYRE_ERROR(VYRE_CODE_INPUT, "%s: the item ended %s: %s\nFix: run the program on the interpreter, which names the place",
                    program->path, vyre_mega_state_text(slot.state), vyre_mega_reason_text(slot.reason));
}

/* ---- the crossover -------------------------------------------------------------------------------------------------------- */

typedef struct costs {
  double first, later; /* milliseconds until the first result, and of a later item: a median */
} costs;

static int
by_size(const void *a, const void *b)
{
  const double *x = a, *y = b;
  return *x < *y ? -1 : *x > *y;
}

static double
milliseconds_since(uint64_t start)
{
  return (double)(clock_now() - start) / 1e6;
}

/* Runs an item several times.  Stores the median of the times, in milliseconds. */
static vyre_status
measure_items(const run_options *options, vyre_mega_programs *programs, const run_program *program,
              const vyre_mega_program_item *item, double *out)
{
  double times[RUN_MOST_ROUNDS];
  for (uint64_t i = 0; i < options->bench.value; i++) {
    const uint64_t start = clock_now();
    VYRE_TRY(run_item(options, programs, program, item));
    times[i] = milliseconds_since(start);
  }
  qsort(times, options->bench.value, sizeof *times, by_size);
  *out = times[options->bench.value / 2];
  return VYRE_OK;
}

/* Prints the times until the first result, of later items, and the number of items from which on a compilation pays. */
static vyre_status
print_crossover(const run_options *options, vyre_mega_programs *programs, const run_program *program,
                const vyre_mega_program_item *item, double first)
{
  costs interpreted = {.first = first}, compiled;
  VYRE_TRY(measure_items(options, programs, program, item, &interpreted.later));
  printf("first result: interpreted %.3f ms; a later item %.3f ms\n", interpreted.first, interpreted.later);
  const uint64_t start = clock_now();
  VYRE_TRY(vyre_status_note(vyre_mega_programs_compile(programs, item->program), "%s", program->path));
  VYRE_TRY(run_item(options, programs, program, item));
  compiled.first = milliseconds_since(start);
  VYRE_TRY(measure_items(options, programs, program, item, &compiled.later));
  printf("first result: compiled %.3f ms; a later item %.3f ms\n", compiled.first, compiled.later);
  const double gain = interpreted.later - compiled.later, head = compiled.first - interpreted.first;
  if (head <= 0)
    printf("crossover: compiled is faster from the first item on\n");
  else if (gain <= 0)
    printf("crossover: interpreted is always faster\n");
  else
    printf("crossover: compiled is faster from %.0f items on\n", ceil(head / gain) + 1);
  return VYRE_OK;
}

/* ---- running -------------------------------------------------------------------------------------------------------------- */

/* Compiles the program for later items.  If that fails, they are interpreted, too. */
static void
compile(vyre_mega_programs *programs, const run_program *program, uint32_t number)
{
  vyre_status status = vyre_mega_programs_compile(programs, number);
  if (status)
    fprintf(stderr, "vyre-run: warning: %s stays interpreted: %s\n", program->path, vyre_status_text(status));
  vyre_status_free(status);
}

/* Runs the items of -items one after the other.  Prints how many ran which way. */
static vyre_status
run_items(const run_options *options, vyre_mega_programs *programs, const run_program *program, const vyre_mega_program_item *item,
          vyre_mega_programs_counts *out)
{
  for (uint64_t i = 0; i < options->items.value; i++) {
    if (i && i == options->compile_after.value)
      compile(programs, program, item->program);
    VYRE_TRY(run_item(options, programs, program, item));
  }
  vyre_mega_programs_count(programs, out);
  if (out->items + out->compiled != options->items.value)
    return VYRE_ERROR(VYRE_CODE_INTERNAL,
                      "internal error: %" PRIu64 " items were interpreted and %" PRIu64 " ran compiled, of %" PRIu64 "\n"
                      "Fix: report this as a bug of vyre",
                      out->items, out->compiled, options->items.value);
  if (options->compile_after.value)
    printf("items: %" PRIu64 " interpreted, %" PRIu64 " compiled\n", out->items, out->compiled);
  return VYRE_OK;
}

static vyre_status
run_on(const run_options *options, vyre_mega_programs *programs, const run_program *program, const run_inputs *inputs,
       run_results *results)
{
  ranges all = {.count = 0};
  vyre_mega_program_options how = {.struct_size = sizeof how,
                                   .specs = program->specs,
                                   .spec_count = program->spec_count,
                                   .open_descriptors = RUN_OPEN_DESCRIPTORS};
  uint32_t number;
  VYRE_TRY(run_subgroup_size(options, program, &how.subgroup));
  VYRE_TRY(run_check_plain(program, "run it without -megakernel"));
  const uint64_t start = clock_now();
  VYRE_TRY(vyre_mega_programs_register(programs, program->module, program->row, &how, &number));
  const uint64_t registered = clock_now();
  VYRE_TRY(list_inputs(program, inputs, &all));
  VYRE_TRY(move(programs, inputs, results, &all, true));
  const vyre_mega_program_item item = {.program = number,
                                       .buffers = all.of,
                                       .buffer_count = all.count,
                                       .groups = {inputs->groups[0], inputs->groups[1], inputs->groups[2]},
                                       .steps = options->setup.steps < UINT32_MAX ? (uint32_t)options->setup.steps : 0};
  vyre_mega_programs_counts counts;
  VYRE_TRY(run_items(options, programs, program, &item, &counts));
  VYRE_TRY(move(programs, inputs, results, &all, false));
  const double first = milliseconds_since(start);
  if (options->time)
    printf("time: %s in a megakernel: %.3f ms, of these the registration %.3f ms; %" PRIu64 " instructions\n", program->path, first,
           (double)(registered - start) / 1e6, counts.steps);
  return options->bench.value ? print_crossover(options, programs, program, &item, first) : VYRE_OK;
}

static vyre_status
run_with(const run_options *options, run_target ops, vyre_target *target, vyre_target *other, const run_program *program,
         const run_inputs *inputs, run_results *results)
{
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < inputs->count; i++)
    bytes += inputs->items[i].size + 256;
  const vyre_mega_programs_options how = {
      .struct_size = sizeof how, .memory = bytes + MEMORY, .scratch = SCRATCH, .groups = 1, .compile_target = other};
  vyre_mega_programs *programs;
  VYRE_TRY(vyre_mega_programs_start(ops, target, &how, &programs));
  vyre_status status = run_on(options, programs, program, inputs, results);
  return vyre_status_join(status, vyre_mega_programs_stop(programs, NULL, NULL));
}

vyre_status
run_megakernel(const run_options *options, run_target ops, vyre_target *target, const run_program *program,
               const run_inputs *inputs, run_results *results)
{
  vyre_target *other = NULL; /* for compiled items */
  if (options->bench.value || options->compile_after.value)
    VYRE_TRY(run_device_open(options, ops, &other));
  vyre_status status = run_with(options, ops, target, other, program, inputs, results);
  return vyre_status_join(status, ops->close(other));
}
