/* Paths: the condition under which an access is in bounds, and the place that it is to.
 *
 * A step with a literal adds to a number that is known here; any other is a term, index times stride, with a bound that the index
 * is held against.  Only what a dispatch brings is measured as a whole, too: its size is known when the program runs.  An element
 * of a runtime array needs no second look, as there are only whole ones.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include <inttypes.h>

/* ---- from rows ------------------------------------------------------------------------------------------------------------ */

static uint64_t
member_offset(const cgen *g, bool packed, const vyre_type_info *info, uint32_t member)
{
  uint64_t offset = 0;
  if (!packed)
    return info->members[member].offset;
  for (uint32_t i = 0; i < member; i++)
    offset += cgen_packed_size(g, info->members[i].type);
  return offset;
}

/* What one step multiplies its index by, and what that must be below; *open: of a runtime array. */
static void
measure_step(const cgen *g, const cgen_place *p, vyre_type_id to, uint64_t *stride, uint64_t *bound, uint32_t *lane_stride,
             bool *open)
{
  const vyre_type_info info = vyre_type_get(g->module, p->type);
  const bool packed = cgen_is_packed(g, p->buffer);
  const uint32_t scalar = p->type < 256 ? 0 : cgen_scalar_size(VYRE_TYPE_KIND((vyre_type)(info.element < 256 ? info.element : 0)));
  *open = false;
  *stride = 0;
  *bound = info.count;
  *lane_stride = to < 256 ? cgen_scalar_size(VYRE_TYPE_KIND((vyre_type)to)) : 0;
  if (info.form == VYRE_FORM_VALUE) {
    *stride = p->lane_stride;
    *bound = VYRE_TYPE_LANES((vyre_type)p->type);
  } else if (info.form == VYRE_FORM_MATRIX) {
    const bool by_rows = !packed && (info.flags & VYRE_TYPE_ROW_MAJOR) != 0;
    *stride = packed ? (uint64_t)scalar * VYRE_TYPE_LANES((vyre_type)info.element) : by_rows ? scalar : info.stride;
    *lane_stride = by_rows ? info.stride : scalar;
  } else if (info.form == VYRE_FORM_ARRAY) {
    *stride = packed ? cgen_packed_size(g, info.element) : info.stride;
    *open = (info.flags & VYRE_TYPE_RUNTIME) != 0;
    *bound = cgen_count_of(g, p->type);
  }
}

/* To a descriptor of an array, or to an array of them in one. */
static bool
choose(cgen *g, uint32_t row, cgen_place *p)
{
  uint64_t inner = 1, literal;
  const vyre_type_info info = vyre_type_get(g->module, p->type);
  const bool open = (info.flags & VYRE_TYPE_RUNTIME) != 0;
  vyre_type_id type = info.element;
  for (uint32_t k = 1; k < p->choices; k++, type = vyre_type_get(g->module, type).element)
    inner *= cgen_count_of(g, type);
  p->choices--;
  p->chosen = true;
  if (cgen_right_constant(g, row, &literal)) {
    p->choice += (literal & UINT32_MAX) * inner;
    p->never = p->never || (!open && (literal & UINT32_MAX) >= cgen_count_of(g, p->type));
    return true;
  }
  if (p->pick_count == sizeof(p->picks) / sizeof(*p->picks))
    return cgen_fail(g, row, "an array of buffers with more than 8 dimensions\nFix: make it flat");
  p->picks[p->pick_count++] = (cgen_term){g->v->b[row], inner, open ? 0 : cgen_count_of(g, p->type)};
  return true;
}

static bool
step(cgen *g, uint32_t row, cgen_place *p)
{
  const vyre_type_id to = g->v->imm_hi[row];
  const vyre_type_info info = vyre_type_get(g->module, p->type);
  uint64_t stride, bound, literal = 0;
  uint32_t lane_stride;
  bool open;
  if (p->choices) {
    if (!choose(g, row, p))
      return false;
    p->type = to;
    return true;
  }
  measure_step(g, p, to, &stride, &bound, &lane_stride, &open);
  const bool constant = cgen_right_constant(g, row, &literal);
  literal &= UINT32_MAX;
  if (info.form == VYRE_FORM_STRUCT) {
    literal = g->v->imm[row];
    p->fixed += member_offset(g, cgen_is_packed(g, p->buffer), &info, (uint32_t)literal);
    p->behind += p->open ? member_offset(g, cgen_is_packed(g, p->buffer), &info, (uint32_t)literal) : 0;
  } else if (open) {
    if (p->open || p->term_count)
      return cgen_fail(g, row, "a runtime array that begins at no fixed place\nFix: make it the last member of its buffer's type");
    p->open = true;
    p->head = p->fixed;
    p->open_stride = stride;
    p->open_literal = constant;
    p->open_index = literal;
    p->fixed += constant ? literal * stride : 0;
    if (!constant)
      p->terms[p->term_count++] = (cgen_term){g->v->b[row], stride, 0};
  } else if (constant) {
    p->never = p->never || literal >= bound;
    p->fixed += p->never ? 0 : literal * stride;
    p->behind += p->open && !p->never ? literal * stride : 0;
  } else {
    if (p->term_count == CGEN_MOST_TERMS)
      return cgen_fail(g, row, "a path of more than %u steps\nFix: make it shorter", CGEN_MOST_TERMS);
    p->never = p->never || bound == 0;
    p->terms[p->term_count++] = (cgen_term){g->v->b[row], stride, bound ? bound : 1};
    p->behind += p->open && bound ? (bound - 1) * stride : 0;
  }
  p->type = to;
  p->lane_stride = lane_stride;
  return true;
}

static bool
follow(cgen *g, uint32_t path, cgen_place *p)
{
  if (cgen_is(g, path, VYRE_OP_at))
    return follow(g, g->v->a[path], p) && step(g, path, p);
  p->buffer = path;
  p->type = g->v->imm[path];
  p->choices = cgen_is_outside(g, path) ? vyre_buffer_descriptor_steps(g->module, path) : 0;
  p->lane_stride = p->type < 256 ? cgen_scalar_size(VYRE_TYPE_KIND((vyre_type)p->type)) : 0;
  return true;
}

bool
cgen_place_of(cgen *g, uint32_t row, uint32_t path, cgen_place *out)
{
  memset(out, 0, sizeof(*out));
  out->row = row;
  out->second = g->v->b[row] == path;
  if (!follow(g, path, out))
    return false;
  out->vouched = g->options->in_bounds && (g->options->in_bounds[path] || g->options->in_bounds[out->buffer]);
  return true;
}

bool
cgen_is_grid_index(const cgen *g, uint32_t index)
{
  uint64_t axis;
  const bool one_line = !g->wide || g->count == g->local[0], power = (g->local[0] & (g->local[0] - 1)) == 0;
  return one_line && power && g->local[0] > 1 && cgen_is(g, index, VYRE_OP_lane) && cgen_is(g, g->v->a[index], VYRE_OP_gid) &&
         cgen_right_constant(g, index, &axis) && axis == 0;
}

/* ---- to text -------------------------------------------------------------------------------------------------------------- */

static void
put_pick(cgen *g, const cgen_place *p)
{
  for (uint32_t i = 0; i < p->pick_count; i++) {
    cgen_put(g, i ? " + " : "");
    if (p->picks[i].stride != 1)
      cgen_put(g, "%" PRIu64 " * ", p->picks[i].stride);
    cgen_put(g, "(uint64_t)");
    cgen_value(g, p->picks[i].index, 0, true);
  }
  if (p->choice || !p->pick_count)
    cgen_put(g, p->pick_count ? " + %" PRIu64 : "%" PRIu64, p->choice);
}

/* Each array but an open one holds its own index; whether there is such a descriptor shows in the dispatch. */
void
cgen_open_place(cgen *g, const cgen_place *p)
{
  bool any = false;
  if (!p->chosen || p->never)
    return;
  cgen_begin_line(g);
  cgen_put(g, "const vyre_c_buffer %s_%u = ", p->second ? "of" : "at", p->row - g->program);
  cgen_call(g, "element", VYRE_U64);
  cgen_put(g, "&");
  cgen_put_buffer(g, p->buffer);
  cgen_put(g, ", ");
  for (uint32_t i = 0; i < p->pick_count; i++) {
    if (!p->picks[i].bound)
      continue;
    cgen_put(g, any ? " && " : "");
    cgen_value(g, p->picks[i].index, 0, true);
    cgen_put(g, " < %" PRIu64 "u", p->picks[i].bound);
    any = true;
  }
  cgen_put(g, any ? ", " : "true, ");
  put_pick(g, p);
  cgen_put(g, ");\n");
}

void
cgen_put_buffer(cgen *g, uint32_t buffer)
{
  const vyre_space space = VYRE_BUFFER_SPACE(g->v->imm_hi[buffer]);
  char name[CGEN_NAME];
  cgen_name(g, buffer, name);
  if (!cgen_is_outside(g, buffer) && cgen_is_overlaid(g, buffer))
    cgen_put(g, g->wide ? "g.shared_n" : "shared_n");
  else if (space == VYRE_SPACE_CONSTANT)
    cgen_put(g, "((const uint8_t *)%s_%s_n)", g->function, name);
  else if (g->wide && space == VYRE_SPACE_PRIVATE)
    cgen_put(g, "g.%s[li]", name);
  else if (g->wide && space == VYRE_SPACE_WORKGROUP)
    cgen_put(g, "g.%s", name);
  else
    cgen_put(g, "%s", name);
}

void
cgen_put_size(cgen *g, const cgen_place *p)
{
  char name[CGEN_NAME];
  if (p->chosen)
    cgen_put(g, "%s_%u.bytes", p->second ? "of" : "at", p->row - g->program);
  else if (cgen_is_outside(g, p->buffer))
    cgen_put(g, "%s_n", cgen_name(g, p->buffer, name));
  else
    cgen_put(g, "%" PRIu64 "u", cgen_buffer_size(g, p->buffer));
}

static void
put_index(cgen *g, uint32_t index)
{
  if (cgen_is_grid_index(g, index))
    cgen_put(g, "gx");
  else
    cgen_value(g, index, 0, true);
}

void
cgen_put_offset(cgen *g, const cgen_place *p, uint64_t more)
{
  const uint64_t fixed = p->fixed + more;
  for (uint32_t i = 0; i < p->term_count; i++) {
    cgen_put(g, i ? " + " : "");
    if (p->terms[i].stride != 1)
      cgen_put(g, "%" PRIu64 " * ", p->terms[i].stride);
    if (!cgen_is_grid_index(g, p->terms[i].index))
      cgen_put(g, "(size_t)");
    put_index(g, p->terms[i].index);
  }
  if (fixed || !p->term_count)
    cgen_put(g, p->term_count ? " + %" PRIu64 : "%" PRIu64, fixed);
}

void
cgen_put_base(cgen *g, const cgen_place *p)
{
  if (p->chosen)
    cgen_put(g, "(uint8_t *)%s_%u.data", p->second ? "of" : "at", p->row - g->program);
  else
    cgen_put_buffer(g, p->buffer);
}

void
cgen_put_address(cgen *g, const cgen_place *p, uint64_t more)
{
  cgen_put_base(g, p);
  if (p->term_count || p->fixed + more) {
    cgen_put(g, " + ");
    cgen_put_offset(g, p, more);
  }
}

static void
put_length(cgen *g, const cgen_place *p, uint64_t head, uint64_t stride)
{
  cgen_call(g, "length", VYRE_U64);
  cgen_put_size(g, p);
  cgen_put(g, ", %" PRIu64 "u, %" PRIu64 "u)", head, stride);
}

void
cgen_put_open_length(cgen *g, const cgen_place *p)
{
  put_length(g, p, p->head, p->open_stride);
}

/* Each index below its bound. */
bool
cgen_put_terms(cgen *g, const cgen_place *p, bool dry)
{
  if (p->vouched)
    return false;
  const uint32_t count = p->term_count + (p->open && p->open_literal);
  const bool known = g->inside && g->known[p->buffer - g->program] && p->open && !p->open_literal && !p->chosen &&
                     cgen_is_grid_index(g, p->terms[0].index);
  for (uint32_t i = known; i < count && !dry; i++) {
    cgen_put(g, i > known ? " && " : "");
    if (i < p->term_count)
      put_index(g, p->terms[i].index);
    else
      cgen_put(g, "%" PRIu64 "u", p->open_index);
    cgen_put(g, " < ");
    if (i >= p->term_count || !p->terms[i].bound)
      cgen_put_open_length(g, p);
    else
      cgen_put(g, "%" PRIu64 "u", p->terms[i].bound);
  }
  return count > known;
}

bool
cgen_put_bounds(cgen *g, const cgen_place *p, uint64_t bytes, bool dry)
{
  const bool whole = p->open && p->behind + bytes <= p->open_stride;
  if (p->never)
    return true;
  const bool any = cgen_put_terms(g, p, dry);
  if (!cgen_is_outside(g, p->buffer) || whole || p->vouched)
    return any;
  if (!dry) {
    cgen_put(g, any ? " && " : "");
    cgen_put_offset(g, p, bytes);
    cgen_put(g, " <= ");
    cgen_put_size(g, p);
  }
  return true;
}

/* Whole elements from there on. */
void
cgen_length(cgen *g, uint32_t row)
{
  cgen_place p;
  if (!cgen_place_of(g, row, g->v->a[row], &p))
    return;
  const vyre_type_info info = vyre_type_get(g->module, p.type);
  if (p.term_count) {
    cgen_fail(g, row,
              "the length of a runtime array that begins at no fixed place\nFix: make it the last member of its buffer's type");
    return;
  }
  cgen_open_place(g, &p);
  cgen_begin_definition(g, row, VYRE_U32, UINT32_MAX, UINT32_MAX);
  if (p.never || !info.stride) {
    cgen_put(g, "0u;\n");
  } else {
    cgen_put(g, "(uint32_t)");
    put_length(g, &p, p.fixed, info.stride);
    cgen_put(g, ";\n");
  }
}
