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
#include "vyre/split.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void
mega_stage_grid(const vyre_mega *mega, uint32_t groups[3])
{
  groups[0] = (mega->options.slots + mega->workgroup - 1) / mega->workgroup;
  groups[1] = mega->form == VYRE_KERNEL_C ? 2 : 1;
  groups[2] = 1;
}

/* ---- stages -------------------------------------------------------------------------------------------------------------- */

static vyre_status
lacks_native(const vyre_mega *mega)
{
  return VYRE_ERROR(VYRE_CODE_INPUT,
                    "megakernel: `stages` of the options has %" PRIu32
                    " functions, but the handlers with barriers for the whole grid "
                    "need %s\nFix: pass all stages of the text that vyre-megac writes for these handlers, or leave out `native`",
                    mega->options.stage_count, mega->stage_count > mega->options.stage_count ? "more" : "fewer");
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
  mega_kernel *stage = &more[mega->stage_count++];
  *stage = (mega_kernel){.keeps = keeps};
  if (mega->form != VYRE_KERNEL_C)
    return mega_write(mega, module, stage);
  vyre_module_destroy(module);
  if (mega->stage_count > mega->options.stage_count)
    return lacks_native(mega);
  stage->native.run = mega->options.stages[mega->stage_count - 1];
  return VYRE_OK;
}

/* Copies the program of a handler.  A program of .vir gets the handler's name, for messages.  Others have the name of their entry
 * point. */
static vyre_status
copy_program(const vyre_mega *mega, const vyre_module *module, const char *handler, vyre_module **out)
{
  VYRE_TRY(vyre_module_clone(module, out));
  if (mega->form != VYRE_KERNEL_VIR)
    return VYRE_OK;
  vyre_row_set_name(*out, (vyre_row){vyre_module_view(*out)->first[0]}, handler, strlen(handler));
  vyre_status status = vyre_module_seal(*out, NULL);
  if (status)
    vyre_module_destroy(*out);
  return status;
}

/* Adds the whole program as a stage with the target's grid barriers.  Sets *out_fits to false, and adds nothing, if the target has
 * none, its code cannot express the program, or the grid is not resident at once. */
static vyre_status
add_whole(vyre_mega *mega, const vyre_module *module, const char *handler, bool *out_fits)
{
  vyre_module *copy;
  uint64_t most = UINT64_MAX;
  uint32_t groups[3];
  mega_stage_grid(mega, groups);
  *out_fits = mega->form != VYRE_KERNEL_C && (mega->info.capabilities & VYRE_TARGET_GRID_BARRIERS) != 0;
  if (!*out_fits)
    return VYRE_OK;
  VYRE_TRY(copy_program(mega, module, handler, &copy));
  const uint32_t before = mega->stage_count;
  vyre_status status = add_stage(mega, copy, false);
  mega_kernel *stage = mega->stage_count > before ? &mega->stages[before] : NULL;
  if (!status)
    status = mega_compile_one(mega, stage);
  if (!status && mega->ops->resident)
    status = mega->ops->resident(mega->target, stage->kernel, &most);
  if (!status && groups[0] <= most)
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
  const uint32_t workgroup[3] = {mega->workgroup, 1, 1};
  uint32_t groups[3];
  vyre_segments segments;
  uint64_t kept;
  mega_stage_grid(mega, groups);
  VYRE_TRY(vyre_split_grid(module, (vyre_row){vyre_module_view(module)->first[0]}, &segments));
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
  const char *name = mega_handler_function(&mega->options.program, handler);
  VYRE_TRY(mega_make_module(mega, &(mega_part){MEGA_PART_GRID, staged, handler}, &module));
  vyre_status status = add_whole(mega, module, name, &fits);
  if (!status && !fits)
    status = add_segments(mega, module);
  vyre_module_destroy(module);
  return vyre_status_note(status, "in the handler @%s, which has a barrier for the whole grid", name);
}

vyre_status
mega_make_stages(vyre_mega *mega, const bool *staged)
{
  const vyre_mega_program *p = &mega->options.program;
  vyre_module *module;
  for (uint32_t i = 0; i < mega_handler_count(p); i++)
    if (staged[i] && mega_handler_first(p, i) == i)
      VYRE_TRY(add_handler(mega, staged, i));
  VYRE_TRY(mega_make_module(mega, &(mega_part){.kind = MEGA_PART_GRID_END, .is_staged = staged}, &module));
  VYRE_TRY(add_stage(mega, module, false));
  return mega->form == VYRE_KERNEL_C && mega->stage_count < mega->options.stage_count ? lacks_native(mega) : VYRE_OK;
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
