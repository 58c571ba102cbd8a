/* Compiles the kernel's text to a form that the target accepts.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "mega.h"
#include "base/options.h"

#include "vyre/ptx.h"
#include "vyre/spirv.h"
#include "vyre/text.h"
#include "vyre/verify.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEFAULT_WORKGROUP = 256, DEFAULT_GROUPS = 4 };

/* ---- geometry ------------------------------------------------------------------------------------------------------------ */

static bool
is_once(const vyre_mega *mega)
{
  return mega->options.program.build == VYRE_MEGA_ONCE;
}

/* Returns the most invocations of a workgroup that the device executes correctly.  lavapipe (Mesa 22.3) silently ends all
 * subgroups of a workgroup but the first at an ordered atomic, in a loop that lanes leave one by one. */
static uint32_t
most_invocations(const vyre_mega *mega)
{
  const vyre_device_info *i = &mega->info;
  const uint32_t most = i->max_invocations < i->max_workgroup[0] ? i->max_invocations : i->max_workgroup[0];
  return mega->form == VYRE_KERNEL_SPIRV && i->kind == VYRE_DEVICE_CPU && i->subgroup && i->subgroup < most ? i->subgroup : most;
}

/* Returns the greatest size up to 256 and the device's limit that divides the slots. */
static uint32_t
choose_workgroup(const vyre_mega *mega)
{
  const uint32_t most = most_invocations(mega);
  uint32_t size = most < DEFAULT_WORKGROUP ? most : DEFAULT_WORKGROUP;
  if (mega->form == VYRE_KERNEL_C || mega->form == VYRE_KERNEL_VIR)
    return 1;
  while (size > 1 && mega->options.slots % size)
    size--;
  return size ? size : 1;
}

static uint32_t
choose_groups(const vyre_mega *mega)
{
  const uint32_t all = (mega->options.slots + mega->workgroup - 1) / mega->workgroup;
  const uint32_t some = all < DEFAULT_GROUPS ? all : DEFAULT_GROUPS;
  if (is_once(mega))
    return all;
  if (mega->form != VYRE_KERNEL_C)
    return mega->options.groups ? mega->options.groups : some;
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  const uint32_t threads = mega->options.threads ? mega->options.threads : processors > 0 ? (uint32_t)processors : 1;
  return threads < MEGA_MOST_THREADS ? threads : MEGA_MOST_THREADS;
}

static vyre_status
choose_geometry(vyre_mega *mega)
{
  const uint32_t slots = mega->options.slots;
  if (slots == 0 || slots > VYRE_MEGA_MOST_SLOTS)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "megakernel: %" PRIu32 " slots, but a ring has 1 to %d\n"
                      "Fix: choose a number in this range",
                      slots, VYRE_MEGA_MOST_SLOTS);
  mega->workgroup = mega->options.workgroup ? mega->options.workgroup : choose_workgroup(mega);
  if (mega->workgroup > most_invocations(mega))
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "megakernel: a workgroup has %" PRIu32 " invocations, but %s supports at most %" PRIu32 "\n"
                      "Fix: choose a smaller workgroup",
                      mega->workgroup, mega->info.name, most_invocations(mega));
  if (is_once(mega) && slots % mega->workgroup)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "megakernel: %" PRIu32 " slots are not a multiple of the workgroup's %" PRIu32 " invocations\n"
                      "Fix: choose a multiple",
                      slots, mega->workgroup);
  mega->groups = choose_groups(mega);
  mega->is_beside = !is_once(mega) && mega->form == VYRE_KERNEL_C;
  return VYRE_OK;
}

/* ---- the program --------------------------------------------------------------------------------------------------------- */

static void
collect_diagnostic(void *user, const vyre_diagnostic *diagnostic)
{
  char text[1024];
  vyre_diagnostic_format(diagnostic, text, sizeof text);
  vyre_status_free(vyre_bytes_printf(user, "%s", text));
}

/* Returns whether workgroups must wait for each other at the start.  Each workgroup has its own slots.  If a workgroup began
 * only after others end, it would never begin, because a persistent kernel does not end. */
static bool
needs_start_barrier(const vyre_mega *mega)
{
  const vyre_mega_build build = mega->options.program.build;
  return mega->form == VYRE_KERNEL_PTX && mega->groups > 1 &&
         (build == VYRE_MEGA_PERSISTENT || build == VYRE_MEGA_PERSISTENT_BY_PRIORITY);
}

static vyre_mega_form
form_of(const vyre_mega *mega)
{
  const uint32_t needed = VYRE_DEVICE_SUBGROUP_BASIC | VYRE_DEVICE_SUBGROUP_VOTE | VYRE_DEVICE_SUBGROUP_BALLOT;
  const bool can = (mega->info.subgroup_operations & needed) == needed && mega->workgroup > 1;
  return (vyre_mega_form){.workgroup = mega->workgroup,
                          .is_together = can && !mega->options.is_alone,
                          .is_device_scope = mega->form == VYRE_KERNEL_SPIRV,
                          .meets = needs_start_barrier(mega),
                          .has_no_halves = mega_has_no_halves(mega),
                          .iterations = mega->info.max_iterations / 2};
}

vyre_status
mega_make_module(const vyre_mega *mega, const mega_part *part, vyre_module **out)
{
  const vyre_mega_form form = form_of(mega);
  vyre_bytes messages = {0};
  const mega_parts parts = {&mega->options.program, &form, {collect_diagnostic, &messages}};
  vyre_status status = mega_part_make(&parts, part, out);
  if (status && messages.size) { /* the messages have the user's file and line */
    const vyre_code code = vyre_status_code(status);
    vyre_status_free(status);
    status = VYRE_ERROR(code, "%s%s", messages.data,
                        strstr(messages.data, "Fix: ") ? "" : "Fix: correct the marked places; docs/ir.md describes the text");
  }
  vyre_bytes_free(&messages);
  VYRE_TRY(status);
  if (mega->options.optimize && mega->form != VYRE_KERNEL_C)
    status = mega->options.optimize(mega->options.optimize_user, *out);
  if (status)
    vyre_module_destroy(*out);
  return status;
}

/* ---- for a target -------------------------------------------------------------------------------------------------------- */

static bool
is_users(const vyre_mega_program *program)
{
  return program->source || program->handler_count || program->fused || program->has_data;
}

static vyre_status
choose_form(vyre_mega *mega)
{
  const uint32_t forms = mega->info.forms;
  mega->main.native = mega->options.native;
  if (!mega->main.native.run && !is_users(&mega->options.program) && mega->options.workgroup <= 1)
    mega->main.native = (mega->options.program.has_programs ? mega_program_natives : mega_natives)[mega->options.program.build];
  if (forms >> VYRE_KERNEL_SPIRV & 1)
    mega->form = VYRE_KERNEL_SPIRV;
  else if (forms >> VYRE_KERNEL_PTX & 1)
    mega->form = VYRE_KERNEL_PTX;
  else if (forms >> VYRE_KERNEL_C & 1 && mega->main.native.run)
    mega->form = VYRE_KERNEL_C;
  else if (forms >> VYRE_KERNEL_VIR & 1)
    mega->form = VYRE_KERNEL_VIR;
  else
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "megakernel: the target %s accepts none of the forms of this kernel\n"
                      "Fix: choose a target that runs SPIR-V, PTX, C or .vir",
                      mega->ops->name);
  return VYRE_OK;
}

vyre_status
mega_write(const vyre_mega *mega, vyre_module *module, mega_kernel *out)
{
  const vyre_row program = {vyre_module_view(module)->first[0]};
  /* Programs that the kernel interprets are strict, so that it computes floats exactly if the device can. */
  const bool is_exact = mega->options.program.has_programs && mega->info.free_float_controls;
  const vyre_spirv_options spirv = {.struct_size = sizeof spirv, .float_controls = is_exact ? mega->info.float_controls : 0};
  if (mega->form == VYRE_KERNEL_VIR) {
    out->module = module;
    out->program = (vyre_kernel_program){.module = module, .row = program.id, .subgroup = mega->options.subgroup};
    return VYRE_OK;
  }
  vyre_status status =
      mega->form == VYRE_KERNEL_PTX
          ? vyre_ptx_write(module, program, &(vyre_ptx_options){.struct_size = sizeof(vyre_ptx_options), .name = "mega"},
                           &out->code)
          : vyre_spirv_write(module, 0, &spirv, &out->code);
  vyre_module_destroy(module);
  return status;
}

/* Makes the code of the kernel and its stages in the target's form.  It is kept for a target that is reopened. */
static vyre_status
make_code(vyre_mega *mega)
{
  const vyre_mega_form form = form_of(mega);
  vyre_module *module = NULL;
  bool *staged = NULL;
  vyre_status found = mega_find_staged(&(mega_parts){.program = &mega->options.program, .form = &form}, &staged), status = VYRE_OK;
  if (mega->form != VYRE_KERNEL_C)
    status = mega_make_module(mega, &(mega_part){.kind = MEGA_PART_KERNEL, .is_staged = staged}, &module);
  if (!status && module)
    status = mega_write(mega, module, &mega->main);
  if (status)
    vyre_status_free(found); /* of the same text, without the parser's messages */
  else
    status = found;
  if (!status && staged)
    status = mega_make_stages(mega, staged);
  free(staged);
  return status;
}

vyre_status
mega_compile_one(vyre_mega *mega, mega_kernel *k)
{
  uint32_t count = MEGA_BUFFERS + mega_has_data(mega);
  vyre_kernel_slot slots[MEGA_ALL_BUFFERS];
  for (uint32_t i = 0; i < MEGA_ALL_BUFFERS; i++)
    slots[i] = (vyre_kernel_slot){.binding = i, .kind = VYRE_SLOT_STORAGE};
  if (mega->stage_count)
    slots[count++].binding = MEGA_STAGE;
  if (k->keeps)
    slots[count++].binding = MEGA_KEPT;
  vyre_kernel_desc desc = {.label = "megakernel",
                           .form = mega->form,
                           .entry = "mega",
                           .workgroup = {mega->workgroup, 1, 1},
                           .slots = slots,
                           .slot_count = count};
  if (mega->form == VYRE_KERNEL_C) {
    desc.code = &k->native;
    desc.size = sizeof k->native;
  } else if (mega->form == VYRE_KERNEL_VIR) {
    desc.code = &k->program;
    desc.size = sizeof k->program;
  } else {
    desc.code = k->code.data;
    desc.size = k->code.size;
  }
  return k->kernel.id ? VYRE_OK : mega->ops->compile(mega->target, &desc, &k->kernel);
}

vyre_status
mega_compile(vyre_mega *mega)
{
  VYRE_TRY(mega_compile_one(mega, &mega->main));
  for (uint32_t i = 0; i < mega->stage_count; i++)
    VYRE_TRY(mega_compile_one(mega, &mega->stages[i]));
  return mega_stage_buffers(mega);
}

void
mega_kernel_free(mega_kernel *k)
{
  vyre_module_destroy(k->module);
  vyre_bytes_free(&k->code);
}

static vyre_status
release_kernel(const vyre_mega *mega, const mega_kernel *k)
{
  return k->kernel.id ? mega->ops->release(mega->target, k->kernel) : VYRE_OK;
}

static vyre_status
release(vyre_mega *mega)
{
  vyre_status status = release_kernel(mega, &mega->main);
  for (uint32_t i = 0; i < mega->stage_count; i++)
    status = vyre_status_join(status, release_kernel(mega, &mega->stages[i]));
  status = vyre_status_join(status, mega_free_stage_buffers(mega));
  return vyre_status_join(status, mega_free_kept(mega));
}

static void
free_mega(vyre_mega *mega)
{
  mega_kernel_free(&mega->main);
  for (uint32_t i = 0; i < mega->stage_count; i++)
    mega_kernel_free(&mega->stages[i]);
  free(mega->stages);
  free(mega->steps);
  free(mega);
}

vyre_status
vyre_mega_create(const vyre_target_ops *ops, vyre_target *target, const vyre_mega_options *options, vyre_mega **out)
{
  *out = NULL;
  vyre_mega *mega = calloc(1, sizeof *mega);
  if (!mega)
    return VYRE_OUT_OF_MEMORY("for a megakernel");
  *mega = (vyre_mega){.ops = ops, .target = target};
  vyre_status status = vyre_options_read(&mega->options, sizeof mega->options, options, "vyre_mega_options");
  ops->describe(target, &mega->info);
  mega_forget_stale(mega); /* forgets recoveries before this megakernel */
  if (!status)
    status = choose_form(mega);
  if (!status)
    status = choose_geometry(mega);
  if (!status)
    status = make_code(mega);
  if (!status && mega->options.passes > 1 && !mega->stage_count)
    status = VYRE_ERROR(VYRE_CODE_USAGE, "megakernel: passes repeat handlers with barriers for the whole grid, and there is none\n"
                                         "Fix: leave out the passes, or put `barrier device` into a handler");
  if (!status)
    status = mega_compile(mega);
  if (!status) {
    mega->steps = calloc(mega_step_count(mega), sizeof *mega->steps);
    status = mega->steps ? VYRE_OK : VYRE_OUT_OF_MEMORY("for a megakernel");
  }
  if (status) {
    status = vyre_status_join(status, release(mega));
    free_mega(mega);
    return status;
  }
  *out = mega;
  return VYRE_OK;
}

vyre_status
vyre_mega_destroy(vyre_mega *mega)
{
  if (!mega)
    return VYRE_OK;
  mega_forget_stale(mega);
  vyre_status status = release(mega);
  free_mega(mega);
  return status;
}

uint32_t
vyre_mega_slots(const vyre_mega *mega)
{
  return mega->options.slots;
}

vyre_kernel_form
vyre_mega_kernel_form(const vyre_mega *mega)
{
  return mega->form;
}
