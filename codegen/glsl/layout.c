/* The layouts std140, std430 and scalar (OpenGL 4.6 specification, 7.6.2.2; GL_EXT_scalar_block_layout).  Finds a layout that
 * equals the module's, with explicit offsets for the members of the block itself.
 *
 * One walk along the type table computes all layouts, because the parts of a type precede it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "glsl.h"

static uint32_t
up(uint32_t value, uint32_t align)
{
  return align ? (value + align - 1) / align * align : value;
}

static glsl_placed
vector_layout(vyre_type type, glsl_layout layout)
{
  const uint32_t bytes = vyre_kind_bytes(VYRE_TYPE_KIND(type)), lanes = VYRE_TYPE_LANES(type);
  return (glsl_placed){.size = bytes * lanes, .align = bytes * (layout == GLSL_SCALAR ? 1 : lanes == 3 ? 4 : lanes), .fits = true};
}

glsl_placed
glsl_layout_of(const glsl *g, vyre_type_id type, glsl_layout layout)
{
  return type < 256 ? vector_layout((vyre_type)type, layout) : g->layouts[(size_t)(type - 256) * GLSL_LAYOUT__COUNT + layout];
}

uint32_t
glsl_layout_place(const glsl *g, vyre_type_id type, uint32_t at, glsl_layout layout)
{
  return up(at, glsl_layout_of(g, type, layout).align);
}

/* Returns the layout of a struct with implicit member offsets or, if `offsets`, with the module's explicit ones. */
static glsl_placed
struct_layout(const glsl *g, const vyre_type_info *info, glsl_layout layout, bool offsets)
{
  glsl_placed all = {.align = 1, .fits = true};
  for (uint32_t k = 0; k < info->count; k++) {
    const glsl_placed member = glsl_layout_of(g, info->members[k].type, layout);
    const uint32_t given = info->members[k].offset, place = up(all.size, member.align);
    /* an explicit offset is a multiple of the member's alignment, and beyond the previous member */
    all.fits = all.fits && member.fits && (offsets ? given >= all.size && up(given, member.align) == given : given == place);
    all.size = (offsets ? given : place) + member.size;
    all.align = member.align > all.align ? member.align : all.align;
  }
  all.align = layout == GLSL_STD140 ? up(all.align, 16) : all.align;
  all.size = layout == GLSL_SCALAR ? all.size : up(all.size, all.align);
  return all;
}

bool
glsl_layout_fits_block(const glsl *g, vyre_type_id type, glsl_layout layout)
{
  const vyre_type_info info = vyre_type_get(g->module, type);
  return info.form == VYRE_FORM_STRUCT ? struct_layout(g, &info, layout, true).fits : glsl_layout_of(g, type, layout).fits;
}

static glsl_placed
type_layout(const glsl *g, vyre_type_id type, glsl_layout layout)
{
  const vyre_type_info info = vyre_type_get(g->module, type);
  if (info.form == VYRE_FORM_STRUCT)
    return struct_layout(g, &info, layout, false);
  const bool row_major = info.form == VYRE_FORM_MATRIX && (info.flags & VYRE_TYPE_ROW_MAJOR);
  const vyre_type_id part = row_major ? VYRE_TYPE(VYRE_TYPE_KIND((vyre_type)info.element), info.count) : info.element;
  glsl_placed all = glsl_layout_of(g, part, layout);
  const uint32_t count = row_major ? VYRE_TYPE_LANES((vyre_type)info.element) : info.count;
  all.align = layout == GLSL_STD140 ? up(all.align, 16) : all.align;
  const uint32_t stride = up(all.size, all.align);
  all.fits = all.fits && stride == info.stride;
  all.size = stride * count;
  return all;
}

bool
glsl_layouts_make(glsl *g)
{
  const uint32_t types = vyre_type_count(g->module);
  const size_t count = types > 256 ? (size_t)(types - 256) * GLSL_LAYOUT__COUNT : 0;
  if (count == 0)
    return true;
  g->layouts = glsl_resize(g, NULL, 0, count * sizeof(*g->layouts));
  for (uint32_t type = 256; g->layouts && type < types; type++)
    for (uint32_t layout = 0; layout < GLSL_LAYOUT__COUNT; layout++)
      g->layouts[(size_t)(type - 256) * GLSL_LAYOUT__COUNT + layout] = type_layout(g, type, (glsl_layout)layout);
  return g->layouts != NULL;
}
