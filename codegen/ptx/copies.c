/* Writes copies, scalar by scalar.  Each scalar has its own bounds check, because the layouts of both sides may differ.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

typedef struct side {
  place place;
  address at;
  reg inside;    /* whether the indices are in bounds; REG_NONE if they always are */
  reg offset;    /* from the buffer's start, if `measured` */
  bool measured; /* each scalar is compared with the buffer's size */
} side;

typedef struct copy {
  code_copy walk; /* the first member: callbacks cast its pointer */
  gen *g;
  reg counters[CODE_DEEPEST]; /* by loop, as are the labels */
  uint32_t labels[CODE_DEEPEST];
  const char *load, *store; /* instructions with their memory order */
  side to, from;
} copy;

static reg
moved(gen *g, const copy *c, const code_side *s, reg from)
{
  for (uint32_t i = 0; i < c->walk.depth; i++)
    if (s->strides[i])
      from = MAKE64(g, "mad.wide.u32", c->counters[i], lit(s->strides[i]), from);
  return from;
}

/* Returns a predicate that is true if the scalar is in bounds. */
static reg
guard_of(gen *g, const copy *c, const code_side *way, const side *s, uint64_t end)
{
  if (!s->measured)
    return s->inside;
  const reg offset = MAKE64(g, "add.u64", moved(g, c, way, s->offset), lit(way->fixed + end));
  return pgen_and(g, s->inside, PRED(g, "setp.le.u64", offset, s->place.bytes));
}

static void
copy_lane(code_copy *walk, vyre_kind kind, uint32_t lane)
{
  const copy *c = (const copy *)walk;
  gen *g = c->g;
  const uint32_t size = vyre_kind_bytes(kind);
  const uint64_t to = (uint64_t)lane * walk->to.lane_stride, from = (uint64_t)lane * walk->from.lane_stride;
  address out = c->to.at, in = c->from.at;
  reg value = pgen_literal(g, kind, 0);
  if (!c->from.place.at.never) {
    in.base = moved(g, c, &walk->from, in.base);
    const reg inside = guard_of(g, c, &walk->from, &c->from, from + size);
    value = pgen_load_scalar(g, c->load, kind, pgen_address_after(g, in, walk->from.fixed + from), inside);
  }
  out.base = moved(g, c, &walk->to, out.base);
  const reg inside = guard_of(g, c, &walk->to, &c->to, to + size);
  pgen_store_scalar(g, c->store, kind, pgen_address_after(g, out, walk->to.fixed + to), value, inside);
}

static void
begin_loop(code_copy *walk, uint64_t count)
{
  copy *c = (copy *)walk;
  (void)count;
  c->labels[walk->depth] = pgen_new_label(c->g);
  c->counters[walk->depth] = pgen_copy(c->g, REG_32, lit(0));
  pgen_label(c->g, c->labels[walk->depth]);
}

static void
end_loop(code_copy *walk, uint64_t count)
{
  const copy *c = (const copy *)walk;
  gen *g = c->g;
  const reg counter = c->counters[walk->depth];
  CODE(g, "add.u32", counter, counter, lit(1));
  pgen_branch_if(g, PRED(g, "setp.lt.u32", counter, lit(count)), c->labels[walk->depth]);
}

static void
begin_side(gen *g, side *s)
{
  place *p = &s->place;
  if (p->at.never)
    return;
  pgen_open_place(g, p);
  s->inside = pgen_terms_in_bounds(g, p);
  s->at = pgen_address(g, p);
  s->at = pgen_address_after(g, s->at, 0);
  s->measured = code_is_bound(&g->w, p->at.buffer) && !p->at.vouched;
  if (s->measured)
    s->offset = MAKE64(g, "sub.u64", MAKE64(g, "add.u64", s->at.base, lit(s->at.offset)), p->base);
}

void
pgen_copy_row(gen *g, uint32_t row)
{
  char load[64], store[64];
  copy c = {.walk = {.put_scalar = copy_lane, .begin_loop = begin_loop, .end_loop = end_loop}, .g = g};
  if (!pgen_place_of(g, g->v->a[row], &c.to.place) || !pgen_place_of(g, g->v->b[row], &c.from.place) || c.to.place.at.never ||
      !code_check_copy(&g->w, row, &c.to.place.at, &c.from.place.at))
    return;
  c.load = pgen_manner(g, row, &c.from.place, "ld", load);
  c.store = pgen_manner(g, row, &c.to.place, "st", store);
  begin_side(g, &c.to);
  begin_side(g, &c.from);
  c.walk.to.at = &c.to.place.at;
  c.walk.from.at = &c.from.place.at;
  code_copy_walk(&g->w, &c.walk);
}
