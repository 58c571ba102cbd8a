/* Paths: where they lead, and what their indices are held against.
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
code_member_offset(const code_memory *m, uint32_t buffer, const vyre_type_info *info, uint32_t member)
{
  return code_is_own(m, buffer) ? code_own_offset(m, info, member) : info->members[member].offset;
}

uint64_t
code_part_stride(const code_memory *m, uint32_t buffer, const vyre_type_info *info, uint32_t *lane_stride)
{
  const vyre_type_id part = info->element;
  const uint32_t scalar = part < 256 ? vyre_kind_bytes(VYRE_TYPE_KIND((vyre_type)part)) : 0;
  *lane_stride = scalar;
  if (code_is_own(m, buffer))
    return code_own_size(m, part);
  if (info->form == VYRE_FORM_MATRIX && (info->flags & VYRE_TYPE_ROW_MAJOR)) {
    *lane_stride = info->stride;
    return scalar;
  }
  return info->stride;
}

/* To a descriptor of an array, or to an array of them in one. */
static const char *
choose(const code_memory *m, uint32_t row, code_place *p, vyre_type_id array)
{
  uint64_t inner = 1, literal;
  vyre_type_id type = vyre_type_get(m->module, array).element;
  for (uint32_t k = 1; k < p->choices; k++, type = vyre_type_get(m->module, type).element)
    inner *= code_descriptors(m, type);
  p->choices--;
  p->chosen = true;
  if (code_right_constant(m, row, &literal)) {
    p->choice += (literal & UINT32_MAX) * inner;
    p->never = p->never || (literal & UINT32_MAX) >= code_descriptors(m, array);
    return NULL;
  }
  if (p->pick_count == sizeof(p->picks) / sizeof(*p->picks))
    return "an array of buffers with more than 8 dimensions\nFix: make it flat";
  p->picks[p->pick_count++] = (code_term){m->v->b[row], inner, code_descriptors(m, array)};
  return NULL;
}

static const char *
into_open(const code_memory *m, uint32_t row, code_place *p, uint64_t stride)
{
  uint64_t literal = 0;
  if (p->open || p->term_count)
    return "a runtime array that begins at no fixed place\nFix: make it the last member of its buffer's type";
  p->open = true;
  p->head = p->fixed;
  p->open_stride = stride;
  p->open_literal = code_right_constant(m, row, &literal);
  p->open_index = literal & UINT32_MAX;
  if (p->open_literal)
    p->fixed += p->open_index * stride;
  else
    p->terms[p->term_count++] = (code_term){m->v->b[row], stride, 0};
  return NULL;
}

static const char *
into_part(const code_memory *m, uint32_t row, code_place *p, uint64_t stride, uint64_t bound)
{
  uint64_t literal;
  if (code_right_constant(m, row, &literal)) {
    literal &= UINT32_MAX;
    p->never = p->never || literal >= bound;
    p->fixed += p->never ? 0 : literal * stride;
    p->beyond += p->open && !p->never ? literal * stride : 0;
    return NULL;
  }
  if (p->term_count == CODE_MOST_TERMS)
    return "a path of more than 64 steps\nFix: make it shorter";
  p->never = p->never || bound == 0;
  p->terms[p->term_count++] = (code_term){m->v->b[row], stride, bound ? bound : 1};
  p->beyond += p->open && bound ? (bound - 1) * stride : 0;
  return NULL;
}

static const char *
step(const code_memory *m, uint32_t row, code_place *p)
{
  const vyre_type_id from = p->type, to = m->v->imm_hi[row];
  const vyre_type_info info = vyre_type_get(m->module, from);
  uint32_t lane_stride = to < 256 ? vyre_kind_bytes(VYRE_TYPE_KIND((vyre_type)to)) : 0;
  const char *problem = NULL;
  p->type = to;
  if (p->choices)
    return choose(m, row, p, from);
  if (info.form == VYRE_FORM_STRUCT) {
    const uint64_t offset = code_member_offset(m, p->buffer, &info, m->v->imm[row]);
    p->access |= info.members[m->v->imm[row]].access;
    p->fixed += offset;
    p->beyond += p->open ? offset : 0;
  } else if (info.form == VYRE_FORM_VALUE) {
    problem = into_part(m, row, p, p->lane_stride, VYRE_TYPE_LANES((vyre_type)from));
  } else {
    const uint64_t stride = code_part_stride(m, p->buffer, &info, &lane_stride);
    if (info.form == VYRE_FORM_ARRAY && (info.flags & VYRE_TYPE_RUNTIME))
      problem = into_open(m, row, p, stride);
    else
      problem = into_part(m, row, p, stride, info.form == VYRE_FORM_ARRAY ? code_count_of(m, from) : info.count);
  }
  p->lane_stride = lane_stride;
  return problem;
}

static bool
follow(const code_memory *m, uint32_t path, code_place *p, uint32_t *where, const char **problem)
{
  if (VYRE_ROW_OP(m->v->op[path]) == VYRE_OP_at) {
    if (!follow(m, m->v->a[path], p, where, problem))
      return false;
    *problem = step(m, path, p);
    *where = path;
    return !*problem;
  }
  p->buffer = path;
  p->access = m->v->imm_hi[path];
  p->type = m->v->imm[path];
  p->choices = code_is_outside(m, path) ? vyre_buffer_descriptor_steps(m->module, path) : 0;
  p->lane_stride = p->type < 256 ? vyre_kind_bytes(VYRE_TYPE_KIND((vyre_type)p->type)) : 0;
  return true;
}

bool
code_place_of(const code_memory *m, uint32_t path, code_place *out, uint32_t *where, const char **problem)
{
  memset(out, 0, sizeof(*out));
  if (!follow(m, path, out, where, problem))
    return false;
  out->vouched = m->all_in_bounds || (m->in_bounds && (m->in_bounds[path] || m->in_bounds[out->buffer]));
  return true;
}
