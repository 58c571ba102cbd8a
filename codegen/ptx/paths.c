/* Paths: the address of an access, and the guard under which it is in bounds.
 *
 * A step with a literal adds to a number that is known here; any other is a term, index times stride, with a bound that the index
 * is held against.  Only what a dispatch brings is measured as a whole, too: its size is known when the kernel runs.  An element of
 * a runtime array is there if it is whole, (index + 1) strides after where the array begins.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

/* ---- from rows ------------------------------------------------------------------------------------------------------------ */

/* What one step multiplies its index by, and what that must be below; *open: of a runtime array. */
static void
measure_step(const gen *g, const place *p, vyre_type_id to, uint64_t *stride, uint64_t *bound, uint32_t *lane_stride, bool *open)
{
  const vyre_type_info info = vyre_type_get(g->module, p->type);
  const bool own = pgen_is_own(g, p->buffer);
  const uint32_t scalar = p->type < 256 ? 0 : pgen_scalar_size(VYRE_TYPE_KIND((vyre_type)(info.element < 256 ? info.element : 0)));
  *open = false;
  *stride = 0;
  *bound = info.count;
  *lane_stride = to < 256 ? pgen_scalar_size(VYRE_TYPE_KIND((vyre_type)to)) : 0;
  if (info.form == VYRE_FORM_VALUE) {
    *stride = p->lane_stride;
    *bound = VYRE_TYPE_LANES((vyre_type)p->type);
  } else if (info.form == VYRE_FORM_MATRIX) {
    const bool by_rows = !own && (info.flags & VYRE_TYPE_ROW_MAJOR) != 0;
    *stride = own ? (uint64_t)scalar * VYRE_TYPE_LANES((vyre_type)info.element) : by_rows ? scalar : info.stride;
    *lane_stride = by_rows ? info.stride : scalar;
  } else if (info.form == VYRE_FORM_ARRAY) {
    *stride = own ? pgen_own_size(g, info.element) : info.stride;
    *open = (info.flags & VYRE_TYPE_RUNTIME) != 0;
    *bound = pgen_count_of(g, p->type);
  }
}

/* To a descriptor of an array, or to an array of them in one. */
static bool
choose(gen *g, uint32_t row, place *p)
{
  uint64_t inner = 1, literal;
  const vyre_type_info info = vyre_type_get(g->module, p->type);
  vyre_type_id type = info.element;
  for (uint32_t k = 1; k < p->choices; k++, type = vyre_type_get(g->module, type).element)
    inner *= pgen_descriptors(g, type);
  p->choices--;
  p->chosen = true;
  if (pgen_right_constant(g, row, &literal)) {
    p->choice += (literal & UINT32_MAX) * inner;
    p->never = p->never || (literal & UINT32_MAX) >= pgen_descriptors(g, p->type);
    return true;
  }
  if (p->pick_count == sizeof(p->picks) / sizeof(*p->picks))
    return pgen_fail(g, row, "an array of buffers with more than 8 dimensions\nFix: make it flat");
  p->picks[p->pick_count++] = (term){g->v->b[row], inner, pgen_descriptors(g, p->type)};
  return true;
}

static bool
into_struct(const gen *g, uint32_t row, place *p, const vyre_type_info *info)
{
  const uint32_t member = g->v->imm[row];
  const uint64_t offset = pgen_is_own(g, p->buffer) ? pgen_own_offset(g, info, member) : info->members[member].offset;
  p->fixed += offset;
  p->beyond += p->open ? offset : 0;
  return true;
}

static bool
into_open(gen *g, uint32_t row, place *p, uint64_t stride, bool constant, uint64_t literal)
{
  if (p->open || p->term_count)
    return pgen_fail(g, row, "a runtime array that begins at no fixed place\nFix: make it the last member of its buffer's type");
  p->open = true;
  p->head = p->fixed;
  p->open_stride = stride;
  p->open_literal = constant;
  p->open_index = literal;
  p->fixed += constant ? literal * stride : 0;
  if (!constant)
    p->terms[p->term_count++] = (term){g->v->b[row], stride, 0};
  return true;
}

static bool
step(gen *g, uint32_t row, place *p)
{
  const vyre_type_id to = g->v->imm_hi[row];
  const vyre_type_info info = vyre_type_get(g->module, p->type);
  uint64_t stride, bound, literal = 0;
  uint32_t lane_stride;
  bool open, fits = true;
  if (p->choices) {
    fits = choose(g, row, p);
    p->type = to;
    return fits;
  }
  measure_step(g, p, to, &stride, &bound, &lane_stride, &open);
  if (info.form == VYRE_FORM_STRUCT) {
    fits = into_struct(g, row, p, &info);
    p->type = to;
    p->lane_stride = lane_stride;
    return fits;
  }
  const bool constant = pgen_right_constant(g, row, &literal);
  literal &= UINT32_MAX;
  if (open) {
    fits = into_open(g, row, p, stride, constant, literal);
  } else if (constant) {
    p->never = p->never || literal >= bound;
    p->fixed += p->never ? 0 : literal * stride;
    p->beyond += p->open && !p->never ? literal * stride : 0;
  } else if (p->term_count == PTX_MOST_TERMS) {
    return pgen_fail(g, row, "a path of more than %u steps\nFix: make it shorter", PTX_MOST_TERMS);
  } else {
    p->never = p->never || bound == 0;
    p->terms[p->term_count++] = (term){g->v->b[row], stride, bound ? bound : 1};
    p->beyond += p->open && bound ? (bound - 1) * stride : 0;
  }
  p->type = to;
  p->lane_stride = lane_stride;
  return fits;
}

static bool
follow(gen *g, uint32_t path, place *p)
{
  if (op_of(g, path) == VYRE_OP_at)
    return follow(g, g->v->a[path], p) && step(g, path, p);
  p->buffer = path;
  p->space = VYRE_BUFFER_SPACE(g->v->imm_hi[path]);
  p->type = g->v->imm[path];
  p->choices = pgen_is_bound(g, path) ? vyre_buffer_descriptor_steps(g->module, path) : 0;
  p->lane_stride = p->type < 256 ? pgen_scalar_size(VYRE_TYPE_KIND((vyre_type)p->type)) : 0;
  return true;
}

bool
pgen_place_of(gen *g, uint32_t row, uint32_t path, place *out)
{
  memset(out, 0, sizeof(*out));
  out->row = row;
  if (!follow(g, path, out))
    return false;
  out->vouched = (!g->strict && !g->options->is_robust) ||
                 (g->options->in_bounds && (g->options->in_bounds[path] || g->options->in_bounds[out->buffer]));
  return true;
}

/* ---- descriptors ---------------------------------------------------------------------------------------------------------- */

static reg
in_32(gen *g, uint32_t row)
{
  return pgen_in_register(g, REG_32, pgen_value(g, row, 0));
}

/* A descriptor that none of the kernel's is counts as unbound: it has no bytes. */
static void
open_chosen(gen *g, place *p)
{
  const uint32_t first = pgen_first_descriptor(g, pgen_slot_of(g, p->buffer));
  const reg parameters = pgen_new(g, REG_64);
  reg inside = {0}, which = pgen_copy(g, REG_64, lit(first + p->choice));
  for (uint32_t i = 0; i < p->pick_count; i++) {
    const reg index = in_32(g, p->picks[i].index);
    if (!p->vouched)
      inside = pgen_and(g, inside, PRED(g, "setp.lt.u32", index, lit(p->picks[i].bound)));
    which = MAKE64(g, "mad.wide.u32", index, lit(p->picks[i].stride), which);
  }
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
  if (p->never)
    return;
  if (p->chosen) {
    open_chosen(g, p);
  } else if (pgen_is_bound(g, p->buffer)) {
    const pgen_slot *slot = &g->slots[pgen_slot_of(g, p->buffer)];
    p->base = slot->base;
    p->bytes = slot->bytes;
  }
}

/* ---- guards --------------------------------------------------------------------------------------------------------------- */

/* Whether the element of the runtime array is whole. */
static reg
open_in_bounds(gen *g, const place *p)
{
  reg end;
  if (p->open_literal)
    end = lit(p->head + (p->open_index + 1) * p->open_stride);
  else
    end = MAKE64(g, "mad.wide.u32", in_32(g, p->terms[0].index), lit(p->open_stride),
                 pgen_copy(g, REG_64, lit(p->head + p->open_stride)));
  return PRED(g, "setp.le.u64", pgen_in_register(g, REG_64, end), p->bytes);
}

reg
pgen_terms_in_bounds(gen *g, const place *p)
{
  reg inside = {0};
  if (p->vouched)
    return inside;
  if (p->open)
    inside = open_in_bounds(g, p);
  for (uint32_t i = 0; i < p->term_count; i++)
    if (p->terms[i].bound)
      inside = pgen_and(g, inside, PRED(g, "setp.lt.u32", in_32(g, p->terms[i].index), lit(p->terms[i].bound & UINT32_MAX)));
  return inside;
}

static reg
offset_of(gen *g, const place *p, reg from)
{
  for (uint32_t i = 0; i < p->term_count; i++)
    from = MAKE64(g, "mad.wide.u32", in_32(g, p->terms[i].index), lit(p->terms[i].stride), pgen_in_register(g, REG_64, from));
  return from;
}

reg
pgen_in_bounds(gen *g, const place *p, uint64_t bytes)
{
  const bool whole = p->open && p->beyond + bytes <= p->open_stride;
  const reg inside = pgen_terms_in_bounds(g, p);
  if (p->vouched || whole || !pgen_is_bound(g, p->buffer))
    return inside;
  const reg end = pgen_in_register(g, REG_64, offset_of(g, p, lit(p->fixed + bytes)));
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
  address a = {p->base, space_of(p), p->fixed};
  if (!pgen_is_bound(g, p->buffer)) {
    a.base = pgen_new(g, REG_64);
    if (p->space == VYRE_SPACE_PUSH)
      pgen_put(g, "\tmov.b64 %%d%u, push;\n", a.base.number);
    else if (p->space == VYRE_SPACE_WORKGROUP)
      pgen_put(g, "\tmov.b64 %%d%u, shared_memory;\n", a.base.number);
    else if (p->space == VYRE_SPACE_CONSTANT)
      pgen_put(g, "\tmov.b64 %%d%u, %s$t%u;\n", a.base.number, g->kernel, p->buffer - g->program);
    else
      pgen_put(g, "\tmov.b64 %%d%u, local_%u;\n", a.base.number, p->buffer - g->program);
    if (p->space == VYRE_SPACE_WORKGROUP)
      a.offset += g->offsets[p->buffer - g->program];
  }
  a.base = offset_of(g, p, a.base);
  return a;
}

/* Each memory begins at a multiple of VYRE_PTX_ALIGN. */
uint64_t
pgen_alignment(const gen *g, const place *p)
{
  uint64_t sums = VYRE_PTX_ALIGN | p->fixed;
  if (p->space == VYRE_SPACE_WORKGROUP)
    sums |= g->offsets[p->buffer - g->program];
  for (uint32_t i = 0; i < p->term_count; i++)
    sums |= p->terms[i].stride;
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

/* Whole elements from there on. */
void
pgen_length(gen *g, uint32_t row)
{
  place p;
  if (!pgen_place_of(g, row, g->v->a[row], &p))
    return;
  const vyre_type_info info = vyre_type_get(g->module, p.type);
  if (p.term_count) {
    pgen_fail(g, row,
              "the length of a runtime array that begins at no fixed place\nFix: make it the last member of its buffer's type");
    return;
  }
  if (p.never || !info.stride) {
    pgen_define(g, row, 0, lit(0));
    return;
  }
  pgen_open_place(g, &p);
  const reg end = MAKE64(g, "max.u64", p.bytes, lit(p.fixed));
  const reg count = MAKE64(g, "div.u64", MAKE64(g, "sub.u64", end, lit(p.fixed)), lit(info.stride));
  pgen_define(g, row, 0, MAKE32(g, "cvt.u32.u64", count));
}
