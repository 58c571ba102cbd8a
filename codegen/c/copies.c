/* Writes copies, scalar by scalar.  Each scalar has its own bounds check, because the layouts of both sides may differ.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include <inttypes.h>

typedef struct copy {
  code_copy walk; /* the first member: callbacks cast its pointer */
  cgen *g;
  cgen_place to, from;
} copy;

static void
put_offset(cgen *g, const copy *c, const code_side *s, const char *name, uint64_t more)
{
  cgen_put(g, "%s", name);
  for (uint32_t i = 0; i < c->walk.depth; i++)
    if (s->strides[i])
      cgen_put(g, " + %" PRIu64 " * k_%u", s->strides[i], i);
  if (s->fixed + more)
    cgen_put(g, " + %" PRIu64, s->fixed + more);
}

/* Writes " && to + 4 <= x_n", the condition that a scalar is in bounds. */
static void
put_measure(cgen *g, const copy *c, const code_side *s, const cgen_place *place, const char *name, uint64_t more)
{
  cgen_put(g, "%s_in", name);
  if (!code_is_outside(&g->w, place->at.buffer) || place->at.vouched)
    return;
  cgen_put(g, " && ");
  put_offset(g, c, s, name, more);
  cgen_put(g, " <= ");
  cgen_put_size(g, place);
}

static void
copy_lane(code_copy *walk, vyre_kind kind, uint32_t lane)
{
  const copy *c = (const copy *)walk;
  cgen *g = c->g;
  const uint32_t size = vyre_kind_bytes(kind);
  const bool narrow = kind != VYRE_BOOL && size < 4;
  const uint64_t to = (uint64_t)lane * walk->to.lane_stride, from = (uint64_t)lane * walk->from.lane_stride;
  cgen_begin_line(g);
  cgen_put(g, "if (");
  put_measure(g, c, &walk->to, &c->to, "to", to + size);
  cgen_put(g, ")\n");
  g->indent++;
  cgen_begin_line(g);
  cgen_call(g, "store", cgen_plain(kind));
  cgen_put_base(g, &c->to);
  cgen_put(g, " + ");
  put_offset(g, c, &walk->to, "to", to);
  cgen_put(g, ", ");
  if (!c->from.at.never) {
    if (narrow)
      cgen_put(g, "(%s)(", cgen_type_name(kind));
    put_measure(g, c, &walk->from, &c->from, "of", from + size);
    cgen_put(g, " ? ");
    cgen_call(g, "load", cgen_plain(kind));
    cgen_put_base(g, &c->from);
    cgen_put(g, " + ");
    put_offset(g, c, &walk->from, "of", from);
    cgen_put(g, ") : ");
  }
  cgen_literal(g, kind, 0);
  cgen_put(g, narrow && !c->from.at.never ? "));\n" : ");\n");
  g->indent--;
}

static void
begin_loop(code_copy *walk, uint64_t count)
{
  cgen *g = ((const copy *)walk)->g;
  const uint32_t k = walk->depth;
  cgen_line(g, "for (size_t k_%u = 0; k_%u < %" PRIu64 "u; k_%u++) {", k, k, count, k);
  g->indent++;
}

static void
end_loop(code_copy *walk, uint64_t count)
{
  cgen *g = ((const copy *)walk)->g;
  (void)count;
  g->indent--;
  cgen_line(g, "}");
}

/* Writes "const bool to_in = i < 4u;" and "const size_t to = 4 * (size_t)i;". */
static void
begin_side(cgen *g, const cgen_place *p, const char *name)
{
  if (p->at.never)
    return;
  cgen_open_place(g, p);
  cgen_begin_line(g);
  cgen_mark(g, &g->marks, CGEN_MARK_LINE);
  cgen_put(g, "const bool %s_in = ", name);
  if (!cgen_put_terms(g, p, false)) /* put_measure writes the check of each scalar */
    cgen_put(g, "true");
  cgen_put(g, ";\n");
  cgen_begin_line(g);
  cgen_mark(g, &g->marks, CGEN_MARK_LINE);
  cgen_put(g, "const size_t %s = ", name);
  cgen_put_offset(g, p, 0);
  cgen_put(g, ";\n");
}

void
cgen_copy(cgen *g, uint32_t row)
{
  copy c = {.walk = {.put_scalar = copy_lane, .begin_loop = begin_loop, .end_loop = end_loop}, .g = g};
  if (!cgen_place_of(g, row, g->v->a[row], &c.to) || !cgen_place_of(g, row, g->v->b[row], &c.from) || c.to.at.never ||
      !code_check_copy(&g->w, row, &c.to.at, &c.from.at))
    return;
  c.walk.to.at = &c.to.at;
  c.walk.from.at = &c.from.at;
  cgen_line(g, "{");
  g->indent++;
  begin_side(g, &c.to, "to");
  begin_side(g, &c.from, "of");
  code_copy_walk(&g->w, &c.walk);
  g->indent--;
  cgen_line(g, "}");
}
