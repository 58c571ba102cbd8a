/* Copies, scalar by scalar: each in its own bounds, as both sides may lie in memory in ways of their own.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#define DEEPEST 64u

/* One side: where the path leads, and what the way from there to the scalar adds. */
typedef struct side {
  place place;
  address at;
  reg inside;    /* its indices; none: they are */
  reg offset;    /* from its buffer's start, where it is measured */
  bool measured; /* each scalar is held against the buffer's bytes */
  uint64_t fixed;
  uint32_t lane_stride;
  uint64_t strides[DEEPEST]; /* by loop */
} side;

typedef struct copy {
  uint32_t depth; /* loops around */
  reg counters[DEEPEST];
  const char *load, *store; /* the instructions, with their order */
  side to, from;
} copy;

static reg
moved(gen *g, const copy *c, const side *s, reg from)
{
  for (uint32_t i = 0; i < c->depth; i++)
    if (s->strides[i])
      from = MAKE64(g, "mad.wide.u32", c->counters[i], lit(s->strides[i]), from);
  return from;
}

/* Whether the scalar is in bounds. */
static reg
guard_of(gen *g, const copy *c, const side *s, uint64_t end)
{
  if (!s->measured)
    return s->inside;
  const reg offset = MAKE64(g, "add.u64", moved(g, c, s, s->offset), lit(s->fixed + end));
  return pgen_and(g, s->inside, PRED(g, "setp.le.u64", offset, s->place.bytes));
}

static void
copy_lane(gen *g, const copy *c, vyre_kind kind, uint32_t lane)
{
  const uint32_t size = vyre_kind_bytes(kind);
  const uint64_t to = (uint64_t)lane * c->to.lane_stride, from = (uint64_t)lane * c->from.lane_stride;
  address out = c->to.at, in = c->from.at;
  reg value = pgen_literal(g, kind, 0);
  if (!c->from.place.at.never) {
    in.base = moved(g, c, &c->from, in.base);
    value =
        pgen_load_scalar(g, c->load, kind, pgen_address_after(g, in, c->from.fixed + from), guard_of(g, c, &c->from, from + size));
  }
  out.base = moved(g, c, &c->to, out.base);
  pgen_store_scalar(g, c->store, kind, pgen_address_after(g, out, c->to.fixed + to), value, guard_of(g, c, &c->to, to + size));
}

static void copy_type(gen *g, copy *c, vyre_type_id type);

static void
copy_struct(gen *g, copy *c, const vyre_type_info *info)
{
  for (uint32_t k = 0; k < info->count; k++) {
    const vyre_type_id part = info->members[k].type;
    const uint64_t to = c->to.fixed, from = c->from.fixed;
    c->to.fixed += code_member_offset(&g->memory, c->to.place.at.buffer, info, k);
    c->from.fixed += code_member_offset(&g->memory, c->from.place.at.buffer, info, k);
    c->to.lane_stride = c->from.lane_stride = part < 256 ? vyre_kind_bytes(VYRE_TYPE_KIND((vyre_type)part)) : 0;
    copy_type(g, c, part);
    c->to.fixed = to;
    c->from.fixed = from;
  }
}

/* Types nest: there is one `copy` for all levels, and a level's frame is small. */
static void
copy_type(gen *g, copy *c, vyre_type_id type)
{
  if (type < 256) {
    for (uint32_t k = 0; k < VYRE_TYPE_LANES((vyre_type)type); k++)
      copy_lane(g, c, VYRE_TYPE_KIND((vyre_type)type), k);
    return;
  }
  const vyre_type_info info = vyre_type_get(g->module, type);
  const uint64_t count = code_count_of(&g->memory, type);
  if (info.form == VYRE_FORM_STRUCT) {
    copy_struct(g, c, &info);
    return;
  }
  if (count == 0 || c->depth == DEEPEST)
    return;
  const uint32_t again = pgen_new_label(g);
  const reg counter = pgen_copy(g, REG_32, lit(0));
  c->to.strides[c->depth] = code_part_stride(&g->memory, c->to.place.at.buffer, &info, &c->to.lane_stride);
  c->from.strides[c->depth] = code_part_stride(&g->memory, c->from.place.at.buffer, &info, &c->from.lane_stride);
  c->counters[c->depth++] = counter;
  pgen_label(g, again);
  copy_type(g, c, info.element);
  c->depth--;
  CODE(g, "add.u32", counter, counter, lit(1));
  pgen_branch_if(g, PRED(g, "setp.lt.u32", counter, lit(count)), again);
}

static void
begin_side(gen *g, side *s)
{
  place *p = &s->place;
  if (p->at.never)
    return;
  s->lane_stride = p->at.lane_stride;
  pgen_open_place(g, p);
  s->inside = pgen_terms_in_bounds(g, p);
  s->at = pgen_address(g, p);
  s->at = pgen_address_after(g, s->at, 0);
  s->measured = code_is_bound(&g->memory, p->at.buffer) && !p->at.vouched;
  if (s->measured)
    s->offset = MAKE64(g, "sub.u64", MAKE64(g, "add.u64", s->at.base, lit(s->at.offset)), p->base);
}

void
pgen_copy_row(gen *g, uint32_t row)
{
  static const copy none;
  char load[64], store[64];
  copy c = none;
  if (!pgen_place_of(g, g->v->a[row], &c.to.place) || !pgen_place_of(g, g->v->b[row], &c.from.place) || c.to.place.at.never)
    return;
  if (c.to.place.at.choices || c.from.place.at.choices) {
    pgen_fail(g, row, "a copy of arrays of buffers\nFix: copy what is in each");
    return;
  }
  c.load = pgen_manner(g, row, &c.from.place, "ld", load);
  c.store = pgen_manner(g, row, &c.to.place, "st", store);
  begin_side(g, &c.to);
  begin_side(g, &c.from);
  copy_type(g, &c, c.to.place.at.type);
}
