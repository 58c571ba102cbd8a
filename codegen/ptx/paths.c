/* Locations as registers: the address of an access, and the guard under which it is in bounds.
 *
 * An element of a runtime array exists if it is whole: (index + 1) strides after the array's start are in the buffer.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

bool
pgen_place_of(gen *g, uint32_t path, place *out)
{
  memset(out, 0, sizeof(*out));
  if (!code_place_of(&g->w, path, &out->at))
    return false;
  out->space = VYRE_BUFFER_SPACE(g->v->imm_hi[out->at.buffer]);
  return true;
}

/* ---- descriptors ---------------------------------------------------------------------------------------------------------- */

static reg
in_32(gen *g, uint32_t row)
{
  return pgen_in_register(g, REG_32, pgen_value(g, row, 0));
}

/* Returns `first` plus the index of the chosen descriptor in its array.  Clears the predicate *inside if an index is not less
 * than its bound. */
static reg
choose(gen *g, const place *p, uint32_t first, reg *inside)
{
  reg which = pgen_copy(g, REG_64, lit(first + p->at.choice));
  for (uint32_t i = 0; i < p->at.pick_count; i++) {
    const reg index = in_32(g, p->at.picks[i].index);
    if (!p->at.vouched && p->at.picks[i].bound != CODE_UNBOUNDED)
      *inside = pgen_and(g, *inside, PRED(g, "setp.lt.u32", index, lit(p->at.picks[i].bound)));
    which = MAKE64(g, "mad.wide.u32", index, lit(p->at.picks[i].stride), which);
  }
  return which;
}

/* Loads the chosen descriptor of a table.  The parameter is the table's address. */
static void
open_of_table(gen *g, place *p)
{
  const uint32_t at = 16 * code_first_descriptor(&g->w, code_slot_of(&g->w, p->at.buffer));
  const reg table = pgen_new(g, REG_64), bytes = pgen_new(g, REG_64);
  reg inside = {0};
  const reg offset = MAKE64(g, "shl.b64", choose(g, p, 0, &inside), lit(4));
  pgen_put(g, "\tld.param.u64 %%d%u, [buffers+%u];\n\tld.param.u64 %%d%u, [buffers+%u];\n", table.number, at, bytes.number, at + 8);
  if (!p->at.vouched)
    inside = pgen_and(g, inside, PRED(g, "setp.le.u64", MAKE64(g, "add.u64", offset, lit(16)), bytes));
  const address descriptor = {MAKE64(g, "add.u64", MAKE64(g, "cvta.to.global.u64", table), offset), "global", 0};
  p->base = MAKE64(g, "cvta.to.global.u64", pgen_load_scalar(g, "ld", VYRE_U64, descriptor, inside));
  p->bytes = pgen_load_scalar(g, "ld", VYRE_U64, pgen_address_after(g, descriptor, 8), inside);
}

/* Loads the chosen descriptor from the parameters.  A descriptor out of range counts as unbound, so its size is 0. */
static void
open_chosen(gen *g, place *p)
{
  if (code_is_table(&g->w, p->at.buffer)) {
    open_of_table(g, p);
    return;
  }
  const uint32_t first = code_first_descriptor(&g->w, code_slot_of(&g->w, p->at.buffer));
  const reg parameters = pgen_new(g, REG_64);
  reg inside = {0}, which = choose(g, p, first, &inside);
  pgen_put(g, "\tmov.b64 %%d%u, buffers;\n", parameters.number);
  if (inside.klass)
    which = pgen_select(g, REG_64, which, lit(first), inside);
  const reg at = MAKE64(g, "add.u64", parameters, MAKE64(g, "shl.b64", which, lit(4)));
  const reg base = pgen_new(g, REG_64), bytes = pgen_new(g, REG_64);
  pgen_put(g, "\tld.param.u64 %%d%u, [%%d%u];\n\tld.param.u64 %%d%u, [%%d%u+8];\n", base.number, at.number, bytes.number,
           at.number);
  p->base = MAKE64(g, "cvta.to.global.u64", base);
  p->bytes = inside.klass ? pgen_select(g, REG_64, bytes, lit(0), inside) : bytes;
}

void
pgen_open_place(gen *g, place *p)
{
  if (p->at.never)
    return;
  if (p->at.chosen) {
    open_chosen(g, p);
  } else if (code_is_bound(&g->w, p->at.buffer)) {
    const pgen_slot *slot = &g->slots[code_slot_of(&g->w, p->at.buffer)];
    p->base = slot->base;
    p->bytes = slot->bytes;
  }
}

/* ---- guards --------------------------------------------------------------------------------------------------------------- */

/* Returns whether the element of the runtime array is whole. */
static reg
open_in_bounds(gen *g, const place *p)
{
  reg end;
  if (p->at.open_literal) {
    end = lit(p->at.head + (p->at.open_index + 1) * p->at.open_stride);
  } else {
    const reg index = in_32(g, p->at.terms[0].index), first = pgen_copy(g, REG_64, lit(p->at.head + p->at.open_stride));
    end = MAKE64(g, "mad.wide.u32", index, lit(p->at.open_stride), first);
  }
  return PRED(g, "setp.le.u64", pgen_in_register(g, REG_64, end), p->bytes);
}

reg
pgen_terms_in_bounds(gen *g, const place *p)
{
  reg inside = {0};
  if (p->at.vouched)
    return inside;
  if (p->at.open)
    inside = open_in_bounds(g, p);
  for (uint32_t i = 0; i < p->at.term_count; i++)
    if (p->at.terms[i].bound)
      inside = pgen_and(g, inside, PRED(g, "setp.lt.u32", in_32(g, p->at.terms[i].index), lit(p->at.terms[i].bound & UINT32_MAX)));
  return inside;
}

static reg
offset_of(gen *g, const place *p, reg from)
{
  for (uint32_t i = 0; i < p->at.term_count; i++) {
    const reg index = in_32(g, p->at.terms[i].index);
    from = MAKE64(g, "mad.wide.u32", index, lit(p->at.terms[i].stride), pgen_in_register(g, REG_64, from));
  }
  return from;
}

reg
pgen_in_bounds(gen *g, const place *p, uint64_t bytes)
{
  const bool whole = p->at.open && p->at.beyond + bytes <= p->at.open_stride;
  const reg inside = pgen_terms_in_bounds(g, p);
  if (p->at.vouched || whole || !code_is_bound(&g->w, p->at.buffer))
    return inside;
  const reg end = pgen_in_register(g, REG_64, offset_of(g, p, lit(p->at.fixed + bytes)));
  return pgen_and(g, inside, PRED(g, "setp.le.u64", end, p->bytes));
}

/* ---- addresses ------------------------------------------------------------------------------------------------------------ */

static const char *
space_of(const place *p)
{
  static const char *const names[VYRE_SPACE__COUNT] = {"global", "global", "param", "shared", "local", "global", "global"};
  return names[p->space];
}

address
pgen_address(gen *g, const place *p)
{
  address a = {p->base, space_of(p), p->at.fixed};
  if (!code_is_bound(&g->w, p->at.buffer)) {
    a.base = pgen_new(g, REG_64);
    if (p->space == VYRE_SPACE_PUSH)
      pgen_put(g, "\tmov.b64 %%d%u, push;\n", a.base.number);
    else if (p->space == VYRE_SPACE_WORKGROUP)
      pgen_put(g, "\tmov.b64 %%d%u, shared_memory;\n", a.base.number);
    else if (p->space == VYRE_SPACE_CONSTANT)
      pgen_put(g, "\tmov.b64 %%d%u, %s$t%u;\n", a.base.number, g->kernel, p->at.buffer - g->program);
    else
      pgen_put(g, "\tmov.b64 %%d%u, local_%u;\n", a.base.number, p->at.buffer - g->program);
    if (p->space == VYRE_SPACE_WORKGROUP)
      a.offset += g->offsets[p->at.buffer - g->program];
  }
  a.base = offset_of(g, p, a.base);
  return a;
}

/* Buffers and memories are aligned to VYRE_PTX_ALIGN. */
uint64_t
pgen_alignment(const gen *g, const place *p)
{
  uint64_t sums = VYRE_PTX_ALIGN | p->at.fixed;
  if (p->space == VYRE_SPACE_WORKGROUP)
    sums |= g->offsets[p->at.buffer - g->program];
  for (uint32_t i = 0; i < p->at.term_count; i++)
    sums |= p->at.terms[i].stride;
  return sums & (0 - sums);
}

/* An offset in the text has 31 bits. */
address
pgen_address_after(gen *g, address a, uint64_t more)
{
  a.offset += more;
  if (a.offset > INT32_MAX) {
    a.base = MAKE64(g, "add.u64", a.base, lit(a.offset));
    a.offset = 0;
  }
  return a;
}

/* Defines the number of whole elements from the location to the buffer's end. */
void
pgen_length(gen *g, uint32_t row)
{
  place p;
  if (!pgen_place_of(g, g->v->a[row], &p) || !code_check_length(&g->w, row, &p.at))
    return;
  const vyre_type_info info = vyre_type_get(g->module, p.at.type);
  if (p.at.never || !info.stride) {
    pgen_define(g, row, 0, lit(0));
    return;
  }
  pgen_open_place(g, &p);
  const reg end = MAKE64(g, "max.u64", p.bytes, lit(p.at.fixed));
  const reg count = MAKE64(g, "div.u64", MAKE64(g, "sub.u64", end, lit(p.at.fixed)), lit(info.stride));
  pgen_define(g, row, 0, MAKE32(g, "cvt.u32.u64", count));
}
