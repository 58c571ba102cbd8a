/* The steps of a dispatch: one for the program, or one for each segment if the target does not support barriers for its whole grid.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include "vyre/split.h"

#include <stdlib.h>

static uint32_t
find_buffer(const run_program *program, const run_buffer *buffer)
{
  uint32_t i = 0;
  while (i < program->buffer_count && !run_buffer_same(&program->buffers[i], buffer))
    i++;
  return i;
}

/* Makes a part and its step.  `kept` is the buffer of the segments, which is not a buffer of the whole program. */
static vyre_status
make_part(const run_options *options, const run_program *whole, const run_program *program, const uint32_t groups[3],
          vyre_device_buffer kept, run_dispatch *run, uint32_t index)
{
  run_part *part = &run->parts[index];
  VYRE_TRY(run_kernel_prepare(options, run->ops, run->target, program, &part->kernel));
  part->ranges = calloc((size_t)part->kernel.range_count + 1, sizeof *part->ranges);
  if (!part->ranges)
    return VYRE_OUT_OF_MEMORY("for the buffers");
  for (uint32_t i = 0; i < part->kernel.range_count; i++) {
    const uint32_t own = find_buffer(whole, &program->buffers[part->kernel.ranges[i]]);
    part->ranges[i].buffer = own < whole->buffer_count ? run->buffers[own] : kept;
  }
  run->steps[index] = (vyre_step){
      .buffers = part->ranges,
      .buffer_count = part->kernel.range_count,
      .push = run->push,
      .push_size = part->kernel.desc.push_size,
      .groups = {groups[0], groups[1], groups[2]},
  };
  return run_kernel_compile(run->ops, run->target, &part->kernel, &run->steps[index].kernel);
}

static vyre_status
allocate_parts(uint32_t count, run_dispatch *run)
{
  run->parts = calloc(count, sizeof *run->parts);
  run->steps = calloc(count, sizeof *run->steps);
  run->step_count = run->parts && run->steps ? count : 0;
  return run->step_count ? VYRE_OK : VYRE_OUT_OF_MEMORY("for kernels");
}

/* ---- segments ------------------------------------------------------------------------------------------------------------ */

static vyre_status
allocate_kept(const run_program *program, const uint32_t groups[3], const vyre_segments *segments, run_dispatch *run,
              vyre_device_buffer *out)
{
  *out = (vyre_device_buffer){0};
  if (!vyre_segments_bytes(segments, groups, program->workgroup, &run->kept))
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "%s: its segments keep %u words for each invocation and %u for each workgroup, more than 2^32 in total\n"
                      "Fix: run fewer workgroups with -groups",
                      program->path, segments->invocation_words, segments->group_words);
  if (run->kept == 0)
    return VYRE_OK;
  return vyre_status_note(run->ops->allocate(run->target, run->kept, out),
                          "for the values that the segments of %s keep; their number depends on -groups", program->path);
}

static vyre_status
make_segment(const run_options *options, const run_program *whole, const vyre_device_info *info, vyre_module *module,
             run_program *out)
{
  *out = (run_program){.path = whole->path, .module = module, .row = {vyre_module_view(module)->first[0]}};
  VYRE_TRY(run_program_reflect(out, &options->setup, false));
  return run_program_write(out, info);
}

static vyre_status
make_segments(const run_options *options, const run_program *program, const uint32_t groups[3], vyre_segments *segments,
              run_dispatch *run)
{
  vyre_device_info info;
  vyre_device_buffer kept;
  run->ops->describe(run->target, &info);
  VYRE_TRY(allocate_parts(segments->count, run));
  VYRE_TRY(allocate_kept(program, groups, segments, run, &kept));
  for (uint32_t i = 0; i < segments->count; i++) {
    vyre_module *module = segments->modules[i];
    segments->modules[i] = NULL; /* owned by the part from now on */
    VYRE_TRY(make_segment(options, program, &info, module, &run->parts[i].segment));
    VYRE_TRY(vyre_status_note(make_part(options, program, &run->parts[i].segment, groups, kept, run, i),
                              "in segment %u of %u of '%s', which was split at its barriers for the whole grid", i + 1,
                              segments->count, program->entry));
  }
  return VYRE_OK;
}

static vyre_status
split_program(const run_options *options, const run_program *program, const uint32_t groups[3], run_dispatch *run)
{
  vyre_segments segments;
  VYRE_TRY(vyre_status_note(vyre_split_grid(program->module, program->row, &segments),
                            "while splitting %s, because %s does not support its barriers for the whole grid", program->path,
                            run->ops->name));
  vyre_status status = make_segments(options, program, groups, &segments, run);
  vyre_segments_free(&segments);
  return status;
}

/* ---- all of it ----------------------------------------------------------------------------------------------------------- */

/* Makes the part of the whole program.  *out_most is the maximum of resident workgroups, if the target has one. */
static vyre_status
make_whole(const run_options *options, const run_program *program, const uint32_t groups[3], run_dispatch *run, uint64_t *out_most)
{
  VYRE_TRY(allocate_parts(1, run));
  VYRE_TRY(make_part(options, program, program, groups, (vyre_device_buffer){0}, run, 0));
  return run->ops->resident ? run->ops->resident(run->target, run->steps[0].kernel, out_most) : VYRE_OK;
}

/* A code generator may refuse the whole program, for example if invocations return before a barrier, but accept its segments. */
vyre_status
run_parts_make(const run_options *options, const run_program *program, const uint32_t groups[3], run_dispatch *run)
{
  const uint64_t count = (uint64_t)groups[0] * groups[1] * groups[2];
  uint64_t most = UINT64_MAX;
  vyre_device_info info;
  run->ops->describe(run->target, &info);
  if (vyre_grid_barriers(program->module, program->row) == 0)
    return make_whole(options, program, groups, run, &most);
  if ((info.capabilities & VYRE_TARGET_GRID_BARRIERS) == 0)
    return split_program(options, program, groups, run);
  vyre_status status = make_whole(options, program, groups, run, &most);
  if (count <= most && (!status || vyre_status_code(status) != VYRE_CODE_INPUT || vyre_status_is_out_of_memory(status)))
    return status;
  vyre_status_free(status);
  run_parts_free(run);
  return split_program(options, program, groups, run);
}

void
run_parts_free(run_dispatch *run)
{
  for (uint32_t i = 0; i < run->step_count; i++) {
    run_kernel_free(&run->parts[i].kernel);
    free(run->parts[i].ranges);
    run_program_free(&run->parts[i].segment);
  }
  free(run->parts);
  free(run->steps);
  run->parts = NULL;
  run->steps = NULL;
  run->step_count = 0;
}
