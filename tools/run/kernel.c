/* Describes a program as a kernel, in a form that the target accepts.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_parts.h"

#include "vyre/ptx.h"
#include "vyre/spirv.h"
#include "vyre/split.h"

#include <stdlib.h>
#include <string.h>

/* ---- words --------------------------------------------------------------------------------------------------------------- */

/* Converts a SPIR-V module of the other byte order to that of the host. */
static void
swap_words(vyre_bytes *words)
{
  uint32_t first;
  memcpy(&first, words->data, 4);
  if (first != 0x03022307)
    return;
  for (size_t at = 0; at + 4 <= words->size; at += 4) {
    uint32_t word;
    memcpy(&word, words->data + at, 4);
    word = __builtin_bswap32(word);
    memcpy(words->data + at, &word, 4);
  }
}

vyre_status
run_words_read(vyre_input_kind kind, const vyre_bytes *file, const char *path, const vyre_glsl_options *options,
               vyre_diagnostics diagnostics, vyre_bytes *out)
{
  vyre_glsl_options glsl = *options;
  if (kind == VYRE_INPUT_HLSL)
    glsl.language = VYRE_LANGUAGE_HLSL;
  if (kind == VYRE_INPUT_ASSEMBLY)
    glsl.language = VYRE_LANGUAGE_ASSEMBLY;
  if (kind == VYRE_INPUT_GLSL || kind == VYRE_INPUT_HLSL || kind == VYRE_INPUT_ASSEMBLY)
    VYRE_TRY(vyre_glsl_compile(file->data, file->size, path, &glsl, diagnostics, out));
  else if (kind == VYRE_INPUT_SPIRV)
    VYRE_TRY(vyre_bytes_append(out, file->data, file->size));
  if (out->size >= 4)
    swap_words(out);
  return VYRE_OK;
}

/* A strict program requests floats that are as exact as the device supports.  A program with barriers for the whole grid is split
 * and written in segments later. */
vyre_status
run_program_write(run_program *program, const vyre_device_info *info)
{
  vyre_spirv_options spirv = {.struct_size = sizeof spirv};
  if (program->words.size || !(info->forms >> VYRE_KERNEL_SPIRV & 1) || vyre_grid_barriers(program->module, program->row))
    return VYRE_OK;
  if (!(vyre_module_view(program->module)->imm[program->row.id] & VYRE_PROGRAM_RELAXED))
    spirv.float_controls = info->free_float_controls ? info->float_controls : 0;
  return vyre_spirv_write(program->module, vyre_program_info_of(program->module, program->row)->input, &spirv, &program->words);
}

/* ---- slots --------------------------------------------------------------------------------------------------------------- */

static vyre_status
allocate_lists(const run_program *program, run_kernel *kernel)
{
  const size_t count = (size_t)program->buffer_count + 1;
  kernel->slots = calloc(count, sizeof *kernel->slots);
  kernel->images = calloc(count, sizeof *kernel->images);
  kernel->ranges = calloc(count, sizeof *kernel->ranges);
  kernel->specs = calloc((size_t)program->spec_count + 1, sizeof *kernel->specs);
  return kernel->slots && kernel->images && kernel->ranges && kernel->specs ? VYRE_OK : VYRE_OUT_OF_MEMORY("for a kernel");
}

/* Adds a slot, or an element to the slot of the buffer's array. */
static void
add_descriptor(const run_buffer *buffer, run_kernel *kernel)
{
  vyre_image *image = &kernel->images[kernel->descriptor_count++];
  *image = buffer->image;
  if (buffer->element == 0)
    kernel->slots[kernel->slot_count++] = (vyre_kernel_slot){
        .set = buffer->set, .binding = buffer->binding, .kind = buffer->kind, .sampler = buffer->sampler, .images = image};
  kernel->slots[kernel->slot_count - 1].count++;
}

static void
add_slots(const run_program *program, run_kernel *kernel)
{
  for (uint32_t i = 0; i < program->buffer_count; i++) {
    const run_buffer *buffer = &program->buffers[i];
    if (buffer->space == VYRE_SPACE_PUSH) {
      kernel->desc.push_size = (uint32_t)((buffer->shape.fixed + 3) & ~(uint64_t)3); /* the data has room for whole words */
      continue;
    }
    if (buffer->path)
      continue;
    add_descriptor(buffer, kernel);
    if (buffer->kind != VYRE_SLOT_SAMPLER)
      kernel->ranges[kernel->range_count++] = i;
  }
}

/* ---- code ---------------------------------------------------------------------------------------------------------------- */

static uint32_t
spec_size(const run_program *program, uint32_t id)
{
  const vyre_view *view = vyre_module_view(program->module);
  for (uint32_t row = view->first[program->row.id]; row; row = view->next[row]) {
    if (VYRE_ROW_OP(view->op[row]) == VYRE_OP_spec && vyre_row_spec_id(program->module, (vyre_row){row}) == id)
      return vyre_kind_bytes(VYRE_TYPE_KIND(VYRE_ROW_TYPE(view->op[row])));
  }
  return 4;
}

/* Returns the slot of the buffer row's binding.  *out_range is the number of ranges before it. */
static uint32_t
find_slot(const run_program *program, const run_kernel *kernel, vyre_row row, uint32_t *out_range)
{
  const vyre_buffer_info *info = vyre_buffer_info_of(program->module, row);
  uint32_t slot = 0;
  *out_range = 0;
  while (slot + 1 < kernel->slot_count && (kernel->slots[slot].set != info->set || kernel->slots[slot].binding != info->binding))
    *out_range += kernel->slots[slot++].count;
  return slot;
}

/* Sorts the slots, which are by set and binding, in the order of declarations, as a PTX kernel requires. */
static vyre_status
order_slots(const run_program *program, run_kernel *kernel)
{
  vyre_kernel_slot *slots = calloc((size_t)kernel->slot_count + 1, sizeof *slots);
  uint32_t *ranges = calloc((size_t)kernel->range_count + 1, sizeof *ranges);
  uint32_t slot_count = 0, range_count = 0;
  for (vyre_row row; slots && ranges && (row = vyre_ptx_buffer_row(program->module, program->row, slot_count)).id;) {
    uint32_t first;
    const vyre_kernel_slot slot = kernel->slots[find_slot(program, kernel, row, &first)];
    memcpy(ranges + range_count, kernel->ranges + first, sizeof *ranges * slot.count);
    slots[slot_count++] = slot;
    range_count += slot.count;
  }
  if (slots && ranges) {
    memcpy(kernel->slots, slots, sizeof *slots * slot_count);
    memcpy(kernel->ranges, ranges, sizeof *ranges * range_count);
  }
  const bool is_done = slots && ranges;
  free(slots);
  free(ranges);
  return is_done ? VYRE_OK : VYRE_OUT_OF_MEMORY("for the buffers");
}

static vyre_status
add_ptx(const run_program *program, run_kernel *kernel)
{
  const vyre_ptx_options options = {.struct_size = sizeof options,
                                    .name = "main",
                                    .specs = program->specs,
                                    .spec_count = program->spec_count,
                                    .open_descriptors = RUN_OPEN_DESCRIPTORS,
                                    .is_robust = true};
  VYRE_TRY(vyre_status_note(vyre_ptx_write(program->module, program->row, &options, &kernel->ptx), "%s, as PTX", program->path));
  VYRE_TRY(order_slots(program, kernel));
  kernel->desc.form = VYRE_KERNEL_PTX;
  kernel->desc.code = kernel->ptx.data;
  kernel->desc.size = kernel->ptx.size;
  kernel->desc.entry = options.name;
  return VYRE_OK;
}

/* Sets the code in the first form that the target accepts: SPIR-V, PTX, .vir. */
static vyre_status
add_code(const vyre_target_ops *ops, vyre_target *target, const run_program *program, run_kernel *kernel)
{
  vyre_device_info info;
  vyre_kernel_desc *desc = &kernel->desc;
  ops->describe(target, &info);
  if (info.forms >> VYRE_KERNEL_SPIRV & 1) {
    if (program->words.size == 0) /* a program with such barriers has no words, but its segments have words */
      return VYRE_ERROR(VYRE_CODE_INPUT,
                        "%s: barriers for the whole grid need several kernels on %s\nFix: measure a program without them",
                        program->path, ops->name);
    desc->form = VYRE_KERNEL_SPIRV;
    desc->code = program->words.data;
    desc->size = program->words.size;
    return VYRE_OK;
  }
  if (info.forms >> VYRE_KERNEL_PTX & 1)
    return add_ptx(program, kernel);
  if (!(info.forms >> VYRE_KERNEL_VIR & 1))
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "%s: the target runs neither SPIR-V nor PTX nor .vir\nFix: choose another target with -target", ops->name);
  kernel->vir = (vyre_kernel_program){.module = program->module, .row = program->row.id};
  desc->form = VYRE_KERNEL_VIR;
  desc->code = &kernel->vir;
  desc->size = sizeof kernel->vir;
  return VYRE_OK;
}

vyre_status
run_kernel_describe(const vyre_target_ops *ops, vyre_target *target, const run_program *program, run_kernel *out)
{
  *out = (run_kernel){
      .desc = {.label = program->path,
               .entry = program->entry,
               .workgroup = {program->workgroup[0], program->workgroup[1], program->workgroup[2]}},
  };
  VYRE_TRY(allocate_lists(program, out));
  add_slots(program, out);
  for (uint32_t i = 0; i < program->spec_count; i++)
    out->specs[i] = (vyre_kernel_spec){
        .id = program->specs[i].id,
        .size = spec_size(program, program->specs[i].id),
        .bits = program->specs[i].bits,
    };
  VYRE_TRY(add_code(ops, target, program, out));
  out->desc.slots = out->slots;
  out->desc.slot_count = out->slot_count;
  out->desc.specs = out->specs;
  out->desc.spec_count = program->spec_count;
  return VYRE_OK;
}

void
run_kernel_free(run_kernel *kernel)
{
  free(kernel->slots);
  free(kernel->images);
  free(kernel->ranges);
  free(kernel->specs);
  vyre_bytes_free(&kernel->ptx);
  *kernel = (run_kernel){0};
}
