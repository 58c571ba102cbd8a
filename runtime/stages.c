/* Handlers with barriers for the whole grid.
 *
 * Workgroups of the kernel execute items independently, so the whole grid never reaches a barrier of a handler.  The kernel only
 * claims the items of such a handler and stages them.  After the kernel, a program of the handler runs all staged items, one
 * invocation a slot.  Its barriers are the target's, or it is split into segments at them (vyre/split.h).  The last stage ends the
 * items.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "mega.h"
#include "protocol/words.h"
#include "signature.h"
#include "vyre/view.h"
#include "vyre/split.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- handlers with grid barriers ----------------------------------------------------------------------------------------- */

static uint32_t
handlers_of(const vyre_mega_program *p)
{
  return p->fused ? 1 : p->handler_count;
}

static const char *
function_of(const vyre_mega_program *p, uint32_t handler)
{
  return mega_function_name(p->fused ? p->fused : p->handlers[handler].function);
}

/* Returns the first handler with the same function. */
static uint32_t
first_of(const vyre_mega_program *p, uint32_t handler)
{
  uint32_t first = 0;
  while (!p->fused && first < handler && !mega_is_same_function(p, first, handler))
    first++;
  return first;
}

static vyre_row
program_of(const vyre_module *module)
{
  return (vyre_row){vyre_module_view(module)->first[0]};
}

static vyre_status
find(const vyre_mega *mega, bool *staged, bool *out_any)
{
  const vyre_mega_program *p = &mega->options.program;
  for (uint32_t i = 0; i < handlers_of(p); i++) {
    vyre_module *module;
    if (first_of(p, i) < i) {
      staged[i] = staged[first_of(p, i)];
      continue;
    }
    VYRE_TRY(mega_parse(mega, &(mega_part){MEGA_PART_GRID, staged, i}, &module));
    staged[i] = vyre_grid_barriers(module, program_of(module)) > 0;
    *out_any = *out_any || staged[i];
    vyre_module_destroy(module);
    if (staged[i] && mega->form == VYRE_KERNEL_C)
      return VYRE_ERROR(VYRE_CODE_INPUT,
                        "megakernel: @%s has a barrier for the whole grid, which compiled C does not support\n"
                        "Fix: leave out `native`, so that the target %s interprets the handlers",
                        function_of(p, i), mega->ops->name);
  }
  return VYRE_OK;
}

vyre_status
mega_find_staged(const vyre_mega *mega, bool **out)
{
  const vyre_mega_program *p = &mega->options.program;
  bool any = false;
  *out = NULL;
  if (!p->source || !strstr(p->source, "barrier"))
    return VYRE_OK;
  bool *staged = calloc(handlers_of(p) + 1, sizeof *staged);
  if (!staged)
    return VYRE_OUT_OF_MEMORY("for handlers");
  vyre_status status = find(mega, staged, &any);
  if (status || !any) {
    free(staged);
    return status;
  }
  *out = staged;
  return VYRE_OK;
}

/* ---- the program of a handler -------------------------------------------------------------------------------------------- */

static uint32_t
op_of(const vyre_view *v, uint32_t row)
{
  return VYRE_ROW_OP(v->op[row]);
}

/* Returns the last grid barrier. */
static uint32_t
last_barrier(const vyre_view *v, uint32_t program)
{
  uint32_t row = vyre_program_end(v, program) - 1;
  while (op_of(v, row) != VYRE_OP_barrier || VYRE_ORDER_EXECUTION(v->imm[row]) != 1)
    row--;
  return row;
}

/* Returns the row at the top of the program that contains `row`: the block of the handler's call. */
static uint32_t
call_around(const vyre_view *v, uint32_t program, uint32_t row)
{
  while (v->parent[row] != program)
    row = v->parent[row];
  return row;
}

/* Returns the row by its name and its op, the first of the program. */
static vyre_row
find_row(const vyre_module *module, const char *name, uint32_t op)
{
  const vyre_view *v = vyre_module_view(module);
  uint32_t row = program_of(module).id + 1;
  for (const char *own; row < v->rows; row++)
    if (op_of(v, row) == op && (own = vyre_row_name(module, (vyre_row){row})) && strcmp(own, name) == 0)
      break;
  return (vyre_row){row};
}

/* Replaces `return` of a handler before its last barrier, which leaves the block of the call.  Other invocations may wait at the
 * barrier, so the invocation stores the result and returns from the program. */
static vyre_status
end_early(vyre_module *module)
{
  const vyre_view *v = vyre_module_view(module);
  const uint32_t program = program_of(module).id, last = last_barrier(v, program), call = call_around(v, program, last);
  const vyre_row stage = find_row(module, "stage", VYRE_OP_buffer), mark = find_row(module, "mark", VYRE_OP_add);
  vyre_builder b = {.module = module, .program = program};
  for (uint32_t row = call + 1; row < last; row++) {
    const uint32_t set = v->prev[row];
    if (op_of(v, row) != VYRE_OP_leave || v->a[row] != call || op_of(v, set) != VYRE_OP_set)
      continue;
    vyre_builder_before(&b, (vyre_row){row});
    const vyre_row result = vyre_build_at(&b, stage, vyre_build_imm(&b, VYRE_OP_add, mark, 1));
    vyre_build_store(&b, result, (vyre_row){v->b[set]}, 0);
    vyre_build_store(&b, vyre_build_at(&b, stage, mark), vyre_build_const(&b, VYRE_TYPE(VYRE_U32, 1), STAGE_ENDED), 0);
    vyre_build_jump(&b, VYRE_OP_return, VYRE_NONE);
    vyre_row_kill(module, (vyre_row){set});
    vyre_row_kill(module, (vyre_row){row});
  }
  VYRE_TRY(vyre_module_status(module));
  return vyre_module_seal(module, NULL);
}

static vyre_status
make_program(const vyre_mega *mega, const bool *staged, uint32_t handler, vyre_module **out)
{
  VYRE_TRY(mega_parse(mega, &(mega_part){MEGA_PART_GRID, staged, handler}, out));
  vyre_status status = end_early(*out);
  if (!status)
    status = mega_optimize(mega, *out);
  if (!status)
    return VYRE_OK;
  vyre_module_destroy(*out);
  return status;
}

/* ---- stages -------------------------------------------------------------------------------------------------------------- */

uint32_t
mega_stage_groups(const vyre_mega *mega)
{
  return (mega->options.slots + mega->workgroup - 1) / mega->workgroup;
}

/* Adds a stage.  Owns the module, also if it fails. */
static vyre_status
add_stage(vyre_mega *mega, vyre_module *module, bool keeps)
{
  mega_kernel *more = realloc(mega->stages, (mega->stage_count + 1) * sizeof *more);
  if (!more) {
    vyre_module_destroy(module);
    return VYRE_OUT_OF_MEMORY("for a megakernel's stages");
  }
  mega->stages = more;
  more[mega->stage_count] = (mega_kernel){.keeps = keeps};
  return mega_write(mega, module, &more[mega->stage_count++]);
}

/* Adds the whole program as a stage with the target's grid barriers.  Sets *out_fits to false, and adds nothing, if the target has
 * none, its code cannot express the program, or the grid is not resident at once. */
static vyre_status
add_whole(vyre_mega *mega, const vyre_module *module, bool *out_fits)
{
  vyre_module *copy;
  uint64_t most = UINT64_MAX;
  *out_fits = (mega->info.capabilities & VYRE_TARGET_GRID_BARRIERS) != 0;
  if (!*out_fits)
    return VYRE_OK;
  VYRE_TRY(vyre_module_clone(module, &copy));
  const uint32_t before = mega->stage_count;
  vyre_status status = add_stage(mega, copy, false);
  mega_kernel *stage = mega->stage_count > before ? &mega->stages[before] : NULL;
  if (!status)
    status = mega_compile_one(mega, stage);
  if (!status && mega->ops->resident)
    status = mega->ops->resident(mega->target, stage->kernel, &most);
  if (!status && mega_stage_groups(mega) <= most)
    return VYRE_OK;
  if (status && (vyre_status_code(status) != VYRE_CODE_INPUT || vyre_status_is_out_of_memory(status)))
    return status;
  vyre_status_free(status);
  *out_fits = false;
  status = stage && stage->kernel.id ? mega->ops->release(mega->target, stage->kernel) : VYRE_OK;
  if (stage)
    mega_kernel_free(stage);
  mega->stage_count = before;
  return status;
}

static vyre_status
add_segments(vyre_mega *mega, const vyre_module *module)
{
  const uint32_t groups[3] = {mega_stage_groups(mega), 1, 1}, workgroup[3] = {mega->workgroup, 1, 1};
  vyre_segments segments;
  uint64_t kept;
  VYRE_TRY(vyre_split_grid(module, program_of(module), &segments));
  vyre_status status = VYRE_OK;
  if (!vyre_segments_bytes(&segments, groups, workgroup, &kept))
    status = VYRE_ERROR(VYRE_CODE_INPUT,
                        "megakernel: %" PRIu32 " words kept for each of %" PRIu32 " slots are too many\n"
                        "Fix: use fewer slots, or keep less across the barrier",
                        segments.invocation_words, mega->options.slots);
  for (uint32_t i = 0; i < segments.count && !status; i++) {
    status = add_stage(mega, segments.modules[i], kept > 0);
    segments.modules[i] = NULL;
  }
  if (!status && kept > mega->kept_size)
    mega->kept_size = kept;
  vyre_segments_free(&segments);
  return status;
}

static vyre_status
add_handler(vyre_mega *mega, const bool *staged, uint32_t handler)
{
  vyre_module *module;
  bool fits;
  VYRE_TRY(make_program(mega, staged, handler, &module));
  vyre_status status = add_whole(mega, module, &fits);
  if (!status && !fits)
    status = add_segments(mega, module);
  vyre_module_destroy(module);
  return vyre_status_note(status, "in the handler @%s, which has a barrier for the whole grid",
                          function_of(&mega->options.program, handler));
}

vyre_status
mega_make_stages(vyre_mega *mega, const bool *staged)
{
  vyre_module *module;
  for (uint32_t i = 0; i < handlers_of(&mega->options.program); i++)
    if (staged[i] && first_of(&mega->options.program, i) == i)
      VYRE_TRY(add_handler(mega, staged, i));
  VYRE_TRY(mega_parse(mega, &(mega_part){.kind = MEGA_PART_GRID_END, .is_staged = staged}, &module));
  vyre_status status = mega_optimize(mega, module);
  if (!status)
    return add_stage(mega, module, false);
  vyre_module_destroy(module);
  return status;
}

/* ---- buffers ------------------------------------------------------------------------------------------------------------- */

vyre_status
mega_stage_buffers(vyre_mega *mega)
{
  const uint64_t words = STAGE_MARKS + 2 * (uint64_t)mega->options.slots;
  if (mega->stage_count && mega->stage.id == 0)
    VYRE_TRY(mega->ops->allocate(mega->target, words * 4, &mega->stage));
  if (mega->kept_size && mega->kept.id == 0)
    VYRE_TRY(mega->ops->allocate(mega->target, mega->kept_size, &mega->kept));
  return VYRE_OK;
}

vyre_status
mega_free_stage_buffers(vyre_mega *mega)
{
  vyre_status status = mega->stage.id ? mega->ops->free(mega->target, mega->stage) : VYRE_OK;
  if (mega->kept.id)
    status = vyre_status_join(status, mega->ops->free(mega->target, mega->kept));
  mega->stage = mega->kept = (vyre_device_buffer){0};
  return status;
}
