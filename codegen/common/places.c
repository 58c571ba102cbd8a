/* Resolves paths to locations and the bounds of their indices.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "common.h"

#include <string.h>

uint64_t
code_extent(const code_place *p, uint32_t lanes, vyre_kind kind)
{
  return (uint64_t)(lanes - 1) * p->lane_stride + vyre_kind_bytes(kind);
}

uint64_t
code_member_offset(const code_writer *w, uint32_t buffer, const vyre_type_info *info, uint32_t member)
{
  return code_is_own(w, buffer) ? code_own_offset(w, info, member) : info->members[member].offset;
}

uint64_t
code_part_stride(const code_writer *w, uint32_t buffer, const vyre_type_info *info, uint32_t *lane_stride)
{
  const vyre_type_id part = info->element;
  const uint32_t scalar = part < 256 ? vyre_kind_bytes(VYRE_TYPE_KIND((vyre_type)part)) : 0;
  *lane_stride = scalar;
  if (code_is_own(w, buffer))
    return code_own_size(w, part);
  if (info->form == VYRE_FORM_MATRIX && (info->flags & VYRE_TYPE_ROW_MAJOR)) {
    *lane_stride = info->stride;
    return scalar;
  }
  return info->stride;
}

/* Adds a step that chooses a descriptor, or an inner array of descriptors, from an array. */
static const char *
choose(const code_writer *w, uint32_t row, code_place *p, vyre_type_id array)
{
  uint64_t inner = 1, literal;
  vyre_type_id type = vyre_type_get(w->module, array).element;
  for (uint32_t k = 1; k < p->choices; k++, type = vyre_type_get(w->module, type).element)
    inner *= code_descriptors(w, type);
  p->choices--;
  p->chosen = true;
  if (code_right_constant(w, row, &literal)) {
    p->choice += (literal & UINT32_MAX) * inner;
    p->never = p->never || (literal & UINT32_MAX) >= code_descriptors(w, array);
    return NULL;
  }
  if (p->pick_count == sizeof(p->picks) / sizeof(*p->picks))
    return "an array of buffers has more than 8 dimensions\nFix: use an array of fewer dimensions";
  p->picks[p->pick_count++] = (code_term){w->v->b[row], inner, code_descriptors(w, array)};
  return NULL;
}

static const char *
into_open(const code_writer *w, uint32_t row, code_place *p, uint64_t stride)
{
  uint64_t literal = 0;
  if (p->open || p->term_count)
    return "a runtime array that begins at no fixed place\nFix: make it the last member of its buffer's type";
  p->open = true;
  p->head = p->fixed;
  p->open_stride = stride;
  p->open_literal = code_right_constant(w, row, &literal);
  p->open_index = literal & UINT32_MAX;
  if (p->open_literal)
    p->fixed += p->open_index * stride;
  else
    p->terms[p->term_count++] = (code_term){w->v->b[row], stride, 0};
  return NULL;
}

static const char *
into_part(const code_writer *w, uint32_t row, code_place *p, uint64_t stride, uint64_t bound)
{
  uint64_t literal;
  if (code_right_constant(w, row, &literal)) {
    literal &= UINT32_MAX;
    p->never = p->never || literal >= bound;
    p->fixed += p->never ? 0 : literal * stride;
    p->beyond += p->open && !p->never ? literal * stride : 0;
    return NULL;
  }
  if (p->term_count == CODE_MOST_TERMS)
    return "a path has more than 64 dynamic indices\nFix: use fewer nested arrays";
  p->never = p->never || bound == 0;
  p->terms[p->term_count++] = (code_term){w->v->b[row], stride, bound ? bound : 1};
  p->beyond += p->open && bound ? (bound - 1) * stride : 0;
  return NULL;
}

static const char *
step(const code_writer *w, uint32_t row, code_place *p)
{
  const vyre_type_id from = p->type, to = w->v->imm_hi[row];
  const vyre_type_info info = vyre_type_get(w->module, from);
  uint32_t lane_stride = to < 256 ? vyre_kind_bytes(VYRE_TYPE_KIND((vyre_type)to)) : 0;
  const char *problem = NULL;
  p->type = to;
  if (p->choices)
    return choose(w, row, p, from);
  if (info.form == VYRE_FORM_STRUCT) {
    const uint64_t offset = code_member_offset(w, p->buffer, &info, w->v->imm[row]);
    p->access |= info.members[w->v->imm[row]].access;
    p->fixed += offset;
    p->beyond += p->open ? offset : 0;
  } else if (info.form == VYRE_FORM_VALUE) {
    problem = into_part(w, row, p, p->lane_stride, VYRE_TYPE_LANES((vyre_type)from));
  } else {
    const uint64_t stride = code_part_stride(w, p->buffer, &info, &lane_stride);
    if (info.form == VYRE_FORM_ARRAY && (info.flags & VYRE_TYPE_RUNTIME))
      problem = into_open(w, row, p, stride);
    else
      problem = into_part(w, row, p, stride, info.form == VYRE_FORM_ARRAY ? code_count_of(w, from) : info.count);
  }
  p->lane_stride = lane_stride;
  return problem;
}

static bool
follow(code_writer *w, uint32_t path, code_place *p)
{
  if (VYRE_ROW_OP(w->v->op[path]) == VYRE_OP_at) {
    const char *problem = follow(w, w->v->a[path], p) ? step(w, path, p) : NULL;
    return !w->status && (!problem || code_fail(w, path, "%s", problem));
  }
  p->buffer = path;
  p->access = w->v->imm_hi[path];
  p->type = w->v->imm[path];
  p->choices = code_is_outside(w, path) ? vyre_buffer_descriptor_steps(w->module, path) : 0;
  p->lane_stride = p->type < 256 ? vyre_kind_bytes(VYRE_TYPE_KIND((vyre_type)p->type)) : 0;
  return true;
}

bool
code_place_of(code_writer *w, uint32_t path, code_place *out)
{
  memset(out, 0, sizeof(*out));
  if (!follow(w, path, out))
    return false;
  out->vouched = w->all_in_bounds || (w->in_bounds && (w->in_bounds[path] || w->in_bounds[out->buffer]));
  return true;
}

bool
code_check_length(code_writer *w, uint32_t row, const code_place *array)
{
  return array->term_count == 0 ||
         code_fail(
             w, row,
             "the length of a runtime array that begins at no fixed place\nFix: make it the last member of its buffer's type");
}
