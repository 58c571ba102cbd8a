/* Writes locations: the condition under which an access is in bounds, and its address.
 *
 * An access within one element of a runtime array needs no check of its end, because the array's length counts whole elements.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include <inttypes.h>

bool
cgen_place_of(cgen *g, uint32_t row, uint32_t path, cgen_place *out)
{
  out->row = row;
  out->second = g->v->b[row] == path;
  return code_place_of(&g->w, path, &out->at);
}

bool
cgen_is_grid_index(const cgen *g, uint32_t index)
{
  uint64_t axis;
  const bool one_line = !g->wide || g->count == g->local[0], power = (g->local[0] & (g->local[0] - 1)) == 0;
  return one_line && power && g->local[0] > 1 && cgen_is(g, index, VYRE_OP_lane) && cgen_is(g, g->v->a[index], VYRE_OP_gid) &&
         code_right_constant(&g->w, index, &axis) && axis == 0;
}

/* ---- to text -------------------------------------------------------------------------------------------------------------- */

static void
put_pick(cgen *g, const cgen_place *p)
{
  for (uint32_t i = 0; i < p->at.pick_count; i++) {
    cgen_put(g, i ? " + " : "");
    if (p->at.picks[i].stride != 1)
      cgen_put(g, "%" PRIu64 " * ", p->at.picks[i].stride);
    cgen_put(g, "(uint64_t)");
    cgen_value(g, p->at.picks[i].index, 0, true);
  }
  if (p->at.choice || !p->at.pick_count)
    cgen_put(g, p->at.pick_count ? " + %" PRIu64 : "%" PRIu64, p->at.choice);
}

/* Compares the indices of arrays of fixed length here.  The helper `element` compares the whole index with the dispatch's
 * number of descriptors. */
void
cgen_open_place(cgen *g, const cgen_place *p)
{
  bool any = false;
  if (!p->at.chosen || p->at.never)
    return;
  cgen_begin_line(g);
  cgen_mark(g, &g->marks, CGEN_MARK_LINE);
  cgen_put(g, "const vyre_c_buffer %s_%u = ", p->second ? "of" : "at", p->row - g->program);
  cgen_call(g, "element", VYRE_U64);
  cgen_put(g, "&");
  cgen_put_buffer(g, p->at.buffer);
  cgen_put(g, ", ");
  for (uint32_t i = 0; i < p->at.pick_count; i++) {
    if (p->at.picks[i].bound == CODE_UNBOUNDED)
      continue;
    cgen_put(g, any ? " && " : "");
    cgen_value(g, p->at.picks[i].index, 0, true);
    cgen_put(g, " < %" PRIu64 "u", p->at.picks[i].bound);
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
  char name[CODE_NAME];
  cgen_name(g, buffer, name);
  if (!code_is_outside(&g->w, buffer) && code_is_overlaid(&g->w, buffer))
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
  char name[CODE_NAME];
  if (p->at.chosen)
    cgen_put(g, "%s_%u.bytes", p->second ? "of" : "at", p->row - g->program);
  else if (code_is_outside(&g->w, p->at.buffer))
    cgen_put(g, "%s_n", cgen_name(g, p->at.buffer, name));
  else
    cgen_put(g, "%" PRIu64 "u", code_buffer_size(&g->w, p->at.buffer));
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
  const uint64_t fixed = p->at.fixed + more;
  for (uint32_t i = 0; i < p->at.term_count; i++) {
    cgen_put(g, i ? " + " : "");
    if (p->at.terms[i].stride != 1)
      cgen_put(g, "%" PRIu64 " * ", p->at.terms[i].stride);
    if (!cgen_is_grid_index(g, p->at.terms[i].index))
      cgen_put(g, "(size_t)");
    put_index(g, p->at.terms[i].index);
  }
  if (fixed || !p->at.term_count)
    cgen_put(g, p->at.term_count ? " + %" PRIu64 : "%" PRIu64, fixed);
}

void
cgen_put_base(cgen *g, const cgen_place *p)
{
  if (p->at.chosen)
    cgen_put(g, "(uint8_t *)%s_%u.data", p->second ? "of" : "at", p->row - g->program);
  else
    cgen_put_buffer(g, p->at.buffer);
}

void
cgen_put_address(cgen *g, const cgen_place *p, uint64_t more)
{
  cgen_put_base(g, p);
  if (p->at.term_count || p->at.fixed + more) {
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
  put_length(g, p, p->at.head, p->at.open_stride);
}

/* Compares each index with its bound. */
bool
cgen_put_terms(cgen *g, const cgen_place *p, bool dry)
{
  if (p->at.vouched)
    return false;
  const uint32_t count = p->at.term_count + (p->at.open && p->at.open_literal);
  const bool known = g->inside && g->known[p->at.buffer - g->program] && p->at.open && !p->at.open_literal && !p->at.chosen &&
                     cgen_is_grid_index(g, p->at.terms[0].index);
  for (uint32_t i = known; i < count && !dry; i++) {
    cgen_put(g, i > known ? " && " : "");
    if (i < p->at.term_count)
      put_index(g, p->at.terms[i].index);
    else
      cgen_put(g, "%" PRIu64 "u", p->at.open_index);
    cgen_put(g, " < ");
    if (i >= p->at.term_count || !p->at.terms[i].bound)
      cgen_put_open_length(g, p);
    else
      cgen_put(g, "%" PRIu64 "u", p->at.terms[i].bound);
  }
  return count > known;
}

bool
cgen_put_bounds(cgen *g, const cgen_place *p, uint64_t bytes, bool dry)
{
  const bool whole = p->at.open && p->at.beyond + bytes <= p->at.open_stride;
  if (p->at.never)
    return true;
  const bool any = cgen_put_terms(g, p, dry);
  if (!code_is_outside(&g->w, p->at.buffer) || whole || p->at.vouched)
    return any;
  if (!dry) {
    cgen_put(g, any ? " && " : "");
    cgen_put_offset(g, p, bytes);
    cgen_put(g, " <= ");
    cgen_put_size(g, p);
  }
  return true;
}

/* Writes the number of whole elements from the location to the buffer's end. */
void
cgen_length(cgen *g, uint32_t row)
{
  cgen_place p;
  if (!cgen_place_of(g, row, g->v->a[row], &p) || !code_check_length(&g->w, row, &p.at))
    return;
  const vyre_type_info info = vyre_type_get(g->module, p.at.type);
  cgen_open_place(g, &p);
  cgen_begin_definition(g, row, VYRE_U32, UINT32_MAX, UINT32_MAX);
  if (p.at.never || !info.stride) {
    cgen_put(g, "0u;\n");
  } else {
    cgen_put(g, "(uint32_t)");
    put_length(g, &p, p.at.fixed, info.stride);
    cgen_put(g, ";\n");
  }
}
