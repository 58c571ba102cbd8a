/* Images, texel buffers and samplers: their kinds, by the words of their types, and their sizes.
 *
 * The type of an image's data is an array of texels, in arrays of rows and of slices or layers.  So images are printed, written and
 * compared like buffers.
 *
 * limits: one level, one sample.  The use of a sampler is found only if it is loaded and used in one expression, as SPIR-V
 * requires.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_parts.h"

#include "vyre/opaque.h"
#include "vyre/view.h"

#include <errno.h>
#include <spirv/unified1/spirv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  vyre_kind kind;
  uint32_t lanes;
} formats[] = {
#define VYRE_TEXEL(number, name, kind, lanes, vulkan) [number] = {VYRE_##kind, lanes},
#include "vyre/texels.def"
};

/* The default formats of images. */
enum { FORMAT_RGBA32F = 1, FORMAT_R32F = 3, FORMAT_RGBA32I = 21, FORMAT_RGBA32UI = 30, FORMAT_R64UI = 40, FORMAT_R64I = 41 };

/* ---- images -------------------------------------------------------------------------------------------------------------- */

/* OpTypeImage's operands. */
enum { WORD_SAMPLED_TYPE, WORD_DIM, WORD_DEPTH, WORD_ARRAYED, WORD_MULTISAMPLED, WORD_SAMPLED, WORD_FORMAT };

static uint32_t
word_of(const vyre_type_info *info, uint32_t index)
{
  return index < info->count ? info->members[index].offset : 0;
}

static uint32_t
default_format(vyre_kind kind, bool is_depth)
{
  if (is_depth)
    return FORMAT_R32F;
  if (vyre_kind_is_float(kind))
    return FORMAT_RGBA32F;
  if (vyre_kind_bits(kind) == 64)
    return vyre_kind_is_signed(kind) ? FORMAT_R64I : FORMAT_R64UI;
  return vyre_kind_is_signed(kind) ? FORMAT_RGBA32I : FORMAT_RGBA32UI;
}

static bool
describe_image(const vyre_type_info *info, bool is_combined, run_buffer *out)
{
  const uint32_t dim = word_of(info, WORD_DIM);
  const bool is_storage = word_of(info, WORD_SAMPLED) == 2, is_buffer = dim == SpvDimBuffer;
  if (word_of(info, WORD_MULTISAMPLED) || (dim > SpvDimCube && !is_buffer))
    return false;
  const vyre_kind kind = VYRE_TYPE_KIND((vyre_type)info->members[WORD_SAMPLED_TYPE].type);
  const uint32_t format = word_of(info, WORD_FORMAT);
  out->kind = is_buffer     ? (is_storage ? VYRE_SLOT_STORAGE_TEXELS : VYRE_SLOT_UNIFORM_TEXELS)
              : is_storage  ? VYRE_SLOT_STORAGE_IMAGE
              : is_combined ? VYRE_SLOT_COMBINED
                            : VYRE_SLOT_SAMPLED_IMAGE;
  out->image.dim = is_buffer ? VYRE_IMAGE_1D : (vyre_image_dim)dim;
  out->image.arrayed = word_of(info, WORD_ARRAYED) != 0;
  out->image.is_depth = out->image.is_depth && !is_storage && !is_buffer;
  out->image.format = format ? format : default_format(kind, out->image.is_depth);
  if (out->image.format >= sizeof formats / sizeof formats[0])
    return false;
  out->sampler = is_combined && vyre_kind_is_float(kind) && !out->image.is_depth ? VYRE_SAMPLER_LINEAR : 0;
  return true;
}

/* ---- uses ---------------------------------------------------------------------------------------------------------------- */

static bool
is_comparison(uint32_t opcode)
{
  switch (opcode) {
  case SpvOpImageSampleDrefImplicitLod:
  case SpvOpImageSampleDrefExplicitLod:
  case SpvOpImageSampleProjDrefImplicitLod:
  case SpvOpImageSampleProjDrefExplicitLod:
  case SpvOpImageDrefGather:
  case SpvOpImageSparseSampleDrefImplicitLod:
  case SpvOpImageSparseSampleDrefExplicitLod:
  case SpvOpImageSparseDrefGather:
    return true;
  default:
    return false;
  }
}

static uint32_t
opcode_of(const vyre_module *module, const vyre_view *view, uint32_t row)
{
  return vyre_op_is_opaque(VYRE_ROW_OP(view->op[row])) ? vyre_type_get(module, view->imm[row]).flags : 0;
}

/* Returns whether the buffer is the image or the sampler of a sampled image. */
static bool
comes_from(const vyre_module *module, const vyre_view *view, uint32_t row, uint32_t buffer)
{
  while (VYRE_ROW_OP(view->op[row]) == VYRE_OP_load || VYRE_ROW_OP(view->op[row]) == VYRE_OP_at)
    row = view->a[row];
  return row == buffer || (opcode_of(module, view, row) == SpvOpSampledImage &&
                           (comes_from(module, view, vyre_opaque_operand(view, row, 0), buffer) ||
                            comes_from(module, view, vyre_opaque_operand(view, row, 1), buffer)));
}

static bool
is_compared(const run_program *program, uint32_t buffer)
{
  const vyre_view *view = vyre_module_view(program->module);
  for (uint32_t row = program->row.id; row < vyre_program_end(view, program->row.id); row++)
    if (is_comparison(opcode_of(program->module, view, row)) &&
        comes_from(program->module, view, vyre_opaque_operand(view, row, 0), buffer))
      return true;
  return false;
}

/* Returns whether the program has an image of integers, which a linear sampler cannot sample. */
static bool
samples_integers(const run_program *program)
{
  const vyre_view *view = vyre_module_view(program->module);
  for (uint32_t row = view->first[program->row.id]; row; row = view->next[row]) {
    if (VYRE_ROW_OP(view->op[row]) != VYRE_OP_buffer || VYRE_BUFFER_SPACE(view->imm_hi[row]) != VYRE_SPACE_HANDLE)
      continue;
    vyre_type_info info = vyre_type_get(program->module, view->imm[row]);
    while (info.form == VYRE_FORM_ARRAY)
      info = vyre_type_get(program->module, info.element);
    if (info.form == VYRE_FORM_WORDS && info.flags == SpvOpTypeImage && info.count > WORD_SAMPLED &&
        !vyre_kind_is_float(VYRE_TYPE_KIND((vyre_type)info.members[WORD_SAMPLED_TYPE].type)))
      return true;
  }
  return false;
}

vyre_status
run_handle_resolve(const run_program *program, vyre_type_id type, run_buffer *out)
{
  const vyre_type_info info = vyre_type_get(program->module, type);
  const bool compares = is_compared(program, out->row.id);
  const uint32_t opcode = info.form == VYRE_FORM_WORDS ? info.flags : 0;
  bool is_known = true;
  out->image.is_depth = compares;
  if (opcode == SpvOpTypeSampler) {
    out->kind = VYRE_SLOT_SAMPLER;
    out->sampler = compares || samples_integers(program) ? 0 : VYRE_SAMPLER_LINEAR;
  } else if (opcode == SpvOpTypeSampledImage && info.count) {
    const vyre_type_info image = vyre_type_get(program->module, info.members[0].type);
    is_known = describe_image(&image, true, out);
  } else {
    is_known = opcode == SpvOpTypeImage && describe_image(&info, false, out);
  }
  out->sampler |= compares ? VYRE_SAMPLER_COMPARE : 0;
  out->is_writable = out->is_writable && (out->kind == VYRE_SLOT_STORAGE_IMAGE || out->kind == VYRE_SLOT_STORAGE_TEXELS);
  if (is_known)
    return VYRE_OK;
  return VYRE_ERROR(
      VYRE_CODE_INPUT,
      "%s: %%%s is %s, but only buffers, images of one sample and samplers can be bound\nFix: run a program without it",
      program->path, out->name[0] ? out->name : "?",
      opcode == SpvOpTypeImage || opcode == SpvOpTypeSampledImage ? "an image of several samples or an input attachment"
                                                                  : "of a type that vyre-run does not support");
}

/* ---- sizes --------------------------------------------------------------------------------------------------------------- */

static vyre_status
parse_axes(const run_setting *setting, uint32_t count, uint32_t out[4])
{
  static const char *const examples[] = {"1024", "32x32", "16x16x4", "16x16x4x2"};
  const char *at = setting->value;
  for (uint32_t i = 0; i < count; i++) {
    char *end;
    errno = 0;
    const unsigned long value = strtoul(at, &end, 10);
    if (*at < '0' || *at > '9' || errno || value == 0 || value > 1u << 20 || *end != (i + 1 < count ? 'x' : '\0'))
      return VYRE_ERROR(
          VYRE_CODE_USAGE, "-size %.*s: '%s' is not a size of this image\nFix: give %u number%s of texels, as in %s, layers last",
          (int)setting->name_length, setting->name, setting->value, count, count == 1 ? "" : "s", examples[count - 1]);
    out[i] = (uint32_t)value;
    at = end + 1;
  }
  return VYRE_OK;
}

/* Makes the type of the data: arrays of rows, then of slices or layers. */
static vyre_status
set_type(run_program *program, run_buffer *buffer)
{
  const vyre_image *image = &buffer->image;
  const uint32_t counts[3] = {image->extent[0], image->extent[1], image->extent[2] * image->layers};
  const bool has_axis[3] = {true, image->dim != VYRE_IMAGE_1D, image->dim >= VYRE_IMAGE_3D || image->arrayed};
  buffer->type = VYRE_TYPE(formats[image->format].kind, formats[image->format].lanes);
  uint64_t size = formats[image->format].lanes * vyre_kind_bytes(formats[image->format].kind);
  for (uint32_t i = 0; i < 3; i++) {
    if (has_axis[i] && size <= UINT32_MAX)
      buffer->type = vyre_type_array(program->module, buffer->type, counts[i], (vyre_row){0}, (uint32_t)size);
    size *= counts[i];
  }
  if (size > UINT32_MAX)
    return VYRE_ERROR(VYRE_CODE_USAGE, "%s: %%%s is %llu bytes large\nFix: make it smaller with -size", program->path,
                      buffer->name[0] ? buffer->name : "?", (unsigned long long)size);
  buffer->shape = (run_shape){.fixed = size};
  return VYRE_OK;
}

vyre_status
run_image_size(run_program *program, const run_setup *setup, run_buffer *buffer)
{
  static const uint32_t axis_counts[VYRE_IMAGE__COUNT] = {1, 2, 3, 1};
  static const uint32_t defaults[VYRE_IMAGE__COUNT][3] = {{1024}, {32, 32}, {16, 16, 4}, {16}};
  vyre_image *image = &buffer->image;
  uint32_t axes[4] = {0};
  const uint32_t own = axis_counts[image->dim], count = own + image->arrayed;
  memcpy(axes, defaults[image->dim], sizeof defaults[0]);
  if (image->arrayed)
    axes[own] = 4;
  const run_setting *setting = run_setting_find(&setup->sizes, buffer);
  if (setting)
    VYRE_TRY(parse_axes(setting, count, axes));
  for (uint32_t i = 0; i < 3; i++)
    image->extent[i] = i < own ? axes[i] : 1;
  image->layers = image->arrayed ? axes[own] : 1;
  if (image->dim == VYRE_IMAGE_CUBE) {
    image->extent[1] = image->extent[0];
    image->layers *= 6;
  }
  return set_type(program, buffer);
}
