/* Copies and initial images, scalar by scalar.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "common.h"

/* ---- copies --------------------------------------------------------------------------------------------------------------- */

static void walk_type(const code_writer *w, code_copy *c, vyre_type_id type);

static void
walk_struct(const code_writer *w, code_copy *c, const vyre_type_info *info)
{
  for (uint32_t k = 0; k < info->count; k++) {
    const vyre_type_id part = info->members[k].type;
    const uint64_t to = c->to.fixed, from = c->from.fixed;
    c->to.fixed += code_member_offset(w, c->to.at->buffer, info, k);
    c->from.fixed += code_member_offset(w, c->from.at->buffer, info, k);
    c->to.lane_stride = c->from.lane_stride = part < 256 ? vyre_kind_bytes(VYRE_TYPE_KIND((vyre_type)part)) : 0;
    walk_type(w, c, part);
    c->to.fixed = to;
    c->from.fixed = from;
  }
}

/* Recurses through nested types.  All levels share one `code_copy`, so a level's frame is small. */
static void
walk_type(const code_writer *w, code_copy *c, vyre_type_id type)
{
  if (type < 256) {
    for (uint32_t k = 0; k < VYRE_TYPE_LANES((vyre_type)type); k++)
      c->put_scalar(c, VYRE_TYPE_KIND((vyre_type)type), k);
    return;
  }
  const vyre_type_info info = vyre_type_get(w->module, type);
  const uint64_t count = code_count_of(w, type);
  if (info.form == VYRE_FORM_STRUCT) {
    walk_struct(w, c, &info);
    return;
  }
  if (count == 0 || c->depth == CODE_DEEPEST)
    return;
  c->to.strides[c->depth] = code_part_stride(w, c->to.at->buffer, &info, &c->to.lane_stride);
  c->from.strides[c->depth] = code_part_stride(w, c->from.at->buffer, &info, &c->from.lane_stride);
  c->begin_loop(c, count);
  c->depth++;
  walk_type(w, c, info.element);
  c->depth--;
  c->end_loop(c, count);
}

void
code_copy_walk(const code_writer *w, code_copy *c)
{
  c->to.lane_stride = c->to.at->lane_stride;
  c->from.lane_stride = c->from.at->lane_stride;
  walk_type(w, c, c->to.at->type);
}

bool
code_check_copy(code_writer *w, uint32_t row, const code_place *to, const code_place *from)
{
  return (!to->choices && !from->choices) || code_fail(w, row, "a copy of arrays of buffers\nFix: copy what is in each");
}

/* ---- images --------------------------------------------------------------------------------------------------------------- */

bool
code_has_image(const code_writer *w, uint32_t buffer)
{
  return code_buffer_info(w, buffer)->initializer != UINT32_MAX;
}

code_image
code_image_of(const code_writer *w, uint32_t buffer)
{
  code_image image = {0};
  if (code_has_image(w, buffer))
    image.words = vyre_module_initializer(w->module, code_buffer_info(w, buffer)->initializer, &image.count);
  return image;
}

static uint32_t
next_word(code_image *image)
{
  return image->next < image->count ? image->words[image->next++] : 0;
}

typedef void put_scalar(void *user, uint64_t offset, vyre_kind kind, uint64_t bits);

static void
walk_image(const code_writer *w, code_image *image, vyre_type_id type, uint64_t offset, put_scalar *put, void *user)
{
  if (type < 256) {
    const vyre_kind kind = VYRE_TYPE_KIND((vyre_type)type);
    for (uint32_t k = 0; k < VYRE_TYPE_LANES((vyre_type)type); k++) {
      uint64_t bits = next_word(image);
      if (vyre_kind_bits(kind) == 64)
        bits |= (uint64_t)next_word(image) << 32;
      put(user, offset + k * vyre_kind_bytes(kind), kind, bits);
    }
    return;
  }
  const vyre_type_info info = vyre_type_get(w->module, type);
  for (uint64_t k = 0; k < code_count_of(w, type) && !w->status; k++)
    if (info.form == VYRE_FORM_STRUCT)
      walk_image(w, image, info.members[k].type, offset + code_own_offset(w, &info, (uint32_t)k), put, user);
    else
      walk_image(w, image, info.element, offset + k * code_own_size(w, info.element), put, user);
}

void
code_image_walk(const code_writer *w, code_image *image, vyre_type_id type,
                void (*put)(void *user, uint64_t offset, vyre_kind kind, uint64_t bits), void *user)
{
  image->next = 0;
  walk_image(w, image, type, 0, put, user);
}
