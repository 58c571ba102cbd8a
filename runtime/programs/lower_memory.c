/* Buffers, paths and accesses.
 *
 * An address is a number of bytes from the buffer's start, or NOWHERE.  A path adds its literal part, and one AT for each other
 * index, which compares the index with its bound.  The access compares the result with the buffer's bytes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "lower.h"

#include "base/round.h"

#include <string.h>

enum { ZEROED = 64, MOST_BYTES = 1 << 24 };

/* ---- buffers -------------------------------------------------------------------------------------------------------------- */

static vyre_space
space_of(const lowerer *l, uint32_t buffer)
{
  return VYRE_BUFFER_SPACE(l->v->imm_hi[buffer]);
}

/* Appends a descriptor to the pool and returns its first word. */
static uint32_t
describe(lowerer *l, uint32_t space, uint32_t base, uint32_t bytes, uint32_t count)
{
  const uint32_t words[PROGRAM_BUFFER_WORDS] = {space, base, bytes, count}, at = l->pool.count;
  for (uint32_t i = 0; i < PROGRAM_BUFFER_WORDS; i++)
    lower_push(l, &l->pool, &words[i], sizeof *words);
  return at;
}

typedef struct image_writer {
  lowerer *l;
  uint32_t base; /* the first word in the pool */
} image_writer;

static void
put_scalar(void *user, uint64_t offset, vyre_kind kind, uint64_t bits)
{
  const image_writer *w = user;
  memcpy((char *)w->l->pool.items + (size_t)w->base * 4 + offset, &bits, vyre_kind_bytes(kind));
}

/* Appends the initial contents of a buffer to the pool and returns their first word. */
static uint32_t
write_image(lowerer *l, uint32_t buffer, uint32_t words)
{
  image_writer w = {l, l->pool.count};
  const uint32_t zero = 0;
  for (uint32_t i = 0; i < words; i++)
    lower_push(l, &l->pool, &zero, sizeof zero);
  if (l->w.status || !code_has_image(&l->w, buffer))
    return w.base;
  code_image image = code_image_of(&l->w, buffer);
  code_image_walk(&l->w, &image, l->v->imm[buffer], put_scalar, &w);
  return w.base;
}

/* Assigns memory to a buffer: words of workgroup or private memory, or a constant table in the pool. */
static void
plan_own(lowerer *l, uint32_t buffer, uint32_t *overlaid)
{
  const uint64_t bytes = code_buffer_size(&l->w, buffer);
  const uint32_t words = (uint32_t)(round_up(bytes, 8) / 4);
  const vyre_space space = space_of(l, buffer);
  uint32_t *from = space == VYRE_SPACE_PRIVATE ? &l->privates : &l->shared;
  uint32_t at = *from;
  if (bytes > MOST_BYTES) {
    lower_fail(l, buffer, "the buffer has more than %d bytes\nFix: use a storage buffer, or compile the program", MOST_BYTES);
    return;
  }
  if (space == VYRE_SPACE_CONSTANT) {
    at = write_image(l, buffer, words);
    l->spot[buffer - l->program] = 1 + describe(l, PROGRAM_CONSTANT_SPACE, at, (uint32_t)bytes, 0);
    return;
  }
  const bool is_overlaid = code_is_overlaid(&l->w, buffer), is_first = !is_overlaid || *overlaid == UINT32_MAX;
  if (is_overlaid && is_first)
    *overlaid = at;
  *from += is_first ? words : 0;
  l->spot[buffer - l->program] = 1 + describe(l, space == VYRE_SPACE_PRIVATE ? PROGRAM_PRIVATE_SPACE : PROGRAM_SHARED_SPACE,
                                              is_overlaid ? *overlaid : at, (uint32_t)bytes, 0);
}

/* Describes a buffer that an item binds, which is one descriptor or an array of them. */
static bool
plan_bound(lowerer *l, uint32_t buffer)
{
  const uint32_t slot = code_slot_of(&l->w, buffer), first = code_first_descriptor(&l->w, slot);
  if (code_is_table(&l->w, buffer))
    return lower_fail(l, buffer,
                      "an array of buffers of open length needs a length\nFix: set `open_descriptors`, or give the array a length");
  const uint32_t count = code_first_descriptor(&l->w, slot + 1) - first;
  l->buffers = first + count > l->buffers ? first + count : l->buffers;
  if (l->buffers > PROGRAM_MOST_BUFFERS)
    return lower_fail(l, buffer, "the program has more than %d buffers\nFix: compile the program as a kernel",
                      PROGRAM_MOST_BUFFERS);
  l->spot[buffer - l->program] = 1 + describe(l, PROGRAM_BOUND_SPACE, first, 0, count);
  return true;
}

bool
lower_plan_memory(lowerer *l)
{
  uint32_t overlaid = UINT32_MAX;
  for (uint32_t row = l->v->first[l->program]; row && !l->w.status; row = l->v->next[row]) {
    const bool is_buffer = code_op(l->v, row) == VYRE_OP_buffer;
    if (is_buffer && code_is_outside(&l->w, row))
      plan_bound(l, row);
    else if (is_buffer && l->w.uses[row - l->program] != 0)
      plan_own(l, row, &overlaid);
  }
  return !l->w.status;
}

/* ---- accesses of scalars -------------------------------------------------------------------------------------------------- */

typedef struct access {
  uint32_t buffer; /* the word of the descriptor */
  operand address;
  uint32_t flags;
  bool chooses; /* the element of an array of buffers */
  operand choice;
} access;

/* Adds the element of an array of buffers to an instruction. */
static instruction
chosen(lowerer *l, const access *a, instruction how)
{
  how.z = a->chooses ? a->choice : lower_word(l, 0);
  how.op |= a->chooses ? PROGRAM_CHOOSES : 0;
  return how;
}

static operand
emit_chosen(lowerer *l, const access *a, uint32_t op, bool is_wide, instruction how)
{
  how = chosen(l, a, how);
  return lower_emit(l, op | how.op, is_wide, how);
}

static operand
load_scalar(lowerer *l, const access *a, uint64_t offset, vyre_kind kind)
{
  const operand zero = lower_word(l, 0);
  const operand bits = emit_chosen(
      l, a, PROGRAM_LOAD, lower_is_wide(kind),
      (instruction){.x = a->address, .y = zero, .i = a->buffer, .j = (uint32_t)offset, .k = vyre_kind_bytes(kind) | a->flags});
  return kind == VYRE_BOOL ? lower_u32(l, VYRE_OP_ne, bits, zero) : bits;
}

static void
store_scalar(lowerer *l, const access *a, uint64_t offset, vyre_kind kind, operand value)
{
  lower_append(l, chosen(l, a,
                         (instruction){.op = PROGRAM_STORE,
                                       .x = a->address,
                                       .y = value,
                                       .i = a->buffer,
                                       .j = (uint32_t)offset,
                                       .k = vyre_kind_bytes(kind)}));
}

/* Emits loads or stores that fill memory at the start of a workgroup. */
static void
zero(lowerer *l, uint32_t words, uint32_t lanes, uint32_t is_shared)
{
  for (uint32_t at = 0; at < words; at += ZEROED * lanes) {
    const uint32_t left = (words - at + lanes - 1) / lanes;
    lower_append(l, (instruction){.op = PROGRAM_ZERO, .i = at, .j = left < ZEROED ? left : ZEROED, .k = is_shared});
  }
}

void
lower_start_memory(lowerer *l)
{
  zero(l, l->privates, 1, 0);
  zero(l, l->shared, l->lanes, 1);
  for (uint32_t row = l->v->first[l->program]; row; row = l->v->next[row]) {
    if (code_op(l->v, row) != VYRE_OP_buffer || space_of(l, row) != VYRE_SPACE_PRIVATE || !l->spot[row - l->program] ||
        !code_has_image(&l->w, row))
      continue;
    const uint32_t bytes = (uint32_t)code_buffer_size(&l->w, row);
    const uint32_t image = describe(l, PROGRAM_CONSTANT_SPACE, write_image(l, row, (uint32_t)(round_up(bytes, 8) / 4)), bytes, 0);
    counted loop;
    lower_begin_loop(l, lower_word(l, (bytes + 3) / 4), &loop);
    const operand at = lower_u32(l, VYRE_OP_mul, loop.index, lower_word(l, 4));
    const access from = {.buffer = image, .address = at}, to = {.buffer = l->spot[row - l->program] - 1, .address = at};
    store_scalar(l, &to, 0, VYRE_U32, load_scalar(l, &from, 0, VYRE_U32));
    lower_end_loop(l, &loop);
  }
}

/* ---- paths ---------------------------------------------------------------------------------------------------------------- */

static operand
step(lowerer *l, operand address, operand index, uint64_t stride, operand bound)
{
  return lower_emit(l, PROGRAM_AT, false, (instruction){.x = address, .y = index, .z = bound, .i = (uint32_t)stride});
}

static operand
length_of(lowerer *l, const access *a, uint64_t head, uint64_t stride)
{
  const operand zero = lower_word(l, 0);
  return emit_chosen(l, a, PROGRAM_LENGTH, false,
                     (instruction){.x = zero, .y = zero, .i = a->buffer, .j = (uint32_t)stride, .k = (uint32_t)head});
}

/* Emits the element of an array of buffers, or NOWHERE. */
static void
choose(lowerer *l, const code_place *p, access *out)
{
  out->chooses = p->chosen;
  out->choice = lower_word(l, p->never ? PROGRAM_NOWHERE : (uint32_t)p->choice);
  for (uint32_t i = 0; i < p->pick_count && !p->never; i++)
    out->choice =
        step(l, out->choice, lower_lane(l, p->picks[i].index, 0), p->picks[i].stride, lower_word(l, (uint32_t)p->picks[i].bound));
}

/* Emits the address of a path.  Returns false if it cannot be resolved. */
static bool
resolve(lowerer *l, uint32_t path, code_place *p, access *out)
{
  if (!code_place_of(&l->w, path, p))
    return false;
  *out = (access){.buffer = l->spot[p->buffer - l->program] - 1, .address = lower_word(l, PROGRAM_NOWHERE)};
  if (p->choices)
    return lower_fail(l, path, "an access to an array of buffers as a whole\nFix: access one of its buffers");
  if (p->chosen)
    choose(l, p, out);
  if (p->never || p->fixed >= UINT32_MAX)
    return true;
  out->flags = (p->access & (VYRE_ACCESS_COHERENT | VYRE_ACCESS_VOLATILE)) != 0 ? PROGRAM_COHERENT : 0;
  const operand length = p->open ? length_of(l, out, p->head, p->open_stride) : 0;
  out->address = lower_word(l, (uint32_t)(p->open_literal ? p->fixed - p->open_index * p->open_stride : p->fixed));
  if (p->open_literal)
    out->address = step(l, out->address, lower_word(l, (uint32_t)p->open_index), p->open_stride, length);
  for (uint32_t i = 0; i < p->term_count; i++) {
    const code_term *t = &p->terms[i];
    const operand index = lower_lane(l, t->index, 0);
    out->address = step(l, out->address, index, t->stride, t->bound ? lower_word(l, (uint32_t)t->bound) : length);
  }
  return true;
}

/* Emits NOWHERE unless all lanes of a vector are in the buffer. */
static operand
bound(lowerer *l, const access *a, uint64_t extent)
{
  return emit_chosen(l, a, PROGRAM_BOUND, false,
                     (instruction){.x = a->address, .y = lower_word(l, 0), .i = a->buffer, .j = (uint32_t)extent});
}

/* ---- rows ----------------------------------------------------------------------------------------------------------------- */

static bool
is_ordered(const lowerer *l, uint32_t row)
{
  return (VYRE_ROW_FLAGS(l->v->op[row]) & (VYRE_ROW_VOLATILE | VYRE_ROW_COHERENT)) != 0;
}

static void
lower_load(lowerer *l, uint32_t row)
{
  const vyre_type type = code_row_type(l->v, row);
  const uint32_t lanes = VYRE_TYPE_LANES(type);
  const vyre_kind kind = VYRE_TYPE_KIND(type);
  code_place p;
  access a;
  operand r[4];
  if (!resolve(l, l->v->a[row], &p, &a))
    return;
  a.flags |= is_ordered(l, row) ? PROGRAM_COHERENT : 0;
  if (lanes > 1)
    a.address = bound(l, &a, code_extent(&p, lanes, kind));
  for (uint32_t k = 0; k < lanes; k++)
    r[k] = load_scalar(l, &a, (uint64_t)k * p.lane_stride, kind);
  lower_define(l, row, r, lanes);
}

static void
lower_store(lowerer *l, uint32_t row)
{
  const uint32_t value = l->v->b[row];
  const vyre_type type = code_row_type(l->v, value);
  const uint32_t lanes = VYRE_TYPE_LANES(type);
  code_place p;
  access a;
  if (!resolve(l, l->v->a[row], &p, &a))
    return;
  if (lanes > 1)
    a.address = bound(l, &a, code_extent(&p, lanes, VYRE_TYPE_KIND(type)));
  for (uint32_t k = 0; k < lanes; k++)
    store_scalar(l, &a, (uint64_t)k * p.lane_stride, VYRE_TYPE_KIND(type), lower_lane(l, value, k));
}

static void
lower_set(lowerer *l, uint32_t row)
{
  const vyre_type type = code_row_type(l->v, l->v->a[row]);
  for (uint32_t k = 0; k < VYRE_TYPE_LANES(type); k++)
    lower_move(l, lower_lane(l, l->v->a[row], k), lower_lane(l, l->v->b[row], k), lower_is_wide(VYRE_TYPE_KIND(type)));
}

static void
lower_length(lowerer *l, uint32_t row)
{
  code_place p;
  if (!code_place_of(&l->w, l->v->a[row], &p) || !code_check_length(&l->w, row, &p))
    return;
  const vyre_type_info info = vyre_type_get(l->w.module, p.type);
  access a = {.buffer = l->spot[p.buffer - l->program] - 1};
  if (p.chosen)
    choose(l, &p, &a);
  const operand r = p.never ? lower_word(l, 0) : length_of(l, &a, p.fixed, info.stride);
  lower_define(l, row, &r, 1);
}

static void
lower_atomic(lowerer *l, uint32_t row)
{
  const vyre_opcode op = code_op(l->v, row);
  code_place p;
  access a;
  if (!resolve(l, l->v->a[row], &p, &a))
    return;
  const vyre_kind kind = VYRE_TYPE_KIND((vyre_type)p.type);
  if (vyre_kind_bits(kind) != 32) {
    lower_fail(l, row, "'%s' on a scalar that has not 32 bits is not interpreted on devices\nFix: compile the program",
               vyre_op_infos[op].text);
    return;
  }
  const operand unused = lower_word(l, 0);
  const operand r = lower_emit(l, PROGRAM_ATOMIC | (a.chooses ? PROGRAM_CHOOSES : 0), false,
                               (instruction){.x = a.address,
                                             .y = l->v->b[row] ? lower_lane(l, l->v->b[row], 0) : unused,
                                             .z = l->v->c[row] ? lower_lane(l, l->v->c[row], 0) : unused,
                                             .i = a.buffer,
                                             .j = a.chooses ? a.choice : 0,
                                             .k = op});
  lower_define(l, row, &r, 1);
}

/* ---- copies --------------------------------------------------------------------------------------------------------------- */

typedef struct copier {
  code_copy walk; /* the first member */
  lowerer *l;
  access to, from;
  operand to_at[CODE_DEEPEST + 1], from_at[CODE_DEEPEST + 1]; /* addresses by depth */
  counted loops[CODE_DEEPEST];
} copier;

static void
copy_scalar(code_copy *c, vyre_kind kind, uint32_t lane)
{
  copier *me = (copier *)c;
  access to = me->to, from = me->from;
  to.address = me->to_at[c->depth];
  from.address = me->from_at[c->depth];
  const operand value = load_scalar(me->l, &from, c->from.fixed + (uint64_t)lane * c->from.lane_stride, kind);
  store_scalar(me->l, &to, c->to.fixed + (uint64_t)lane * c->to.lane_stride, kind, value);
}

static void
begin_copies(code_copy *c, uint64_t count)
{
  copier *me = (copier *)c;
  lowerer *l = me->l;
  const uint32_t d = c->depth;
  const operand all = lower_word(l, UINT32_MAX);
  lower_begin_loop(l, lower_word(l, (uint32_t)count), &me->loops[d]);
  me->to_at[d + 1] = step(l, me->to_at[d], me->loops[d].index, c->to.strides[d], all);
  me->from_at[d + 1] = step(l, me->from_at[d], me->loops[d].index, c->from.strides[d], all);
}

static void
end_copies(code_copy *c, uint64_t count)
{
  copier *me = (copier *)c;
  (void)count;
  lower_end_loop(me->l, &me->loops[c->depth]);
}

static void
lower_copy(lowerer *l, uint32_t row)
{
  code_place to, from;
  copier c = {.l = l, .walk = {.put_scalar = copy_scalar, .begin_loop = begin_copies, .end_loop = end_copies}};
  if (!resolve(l, l->v->a[row], &to, &c.to) || !resolve(l, l->v->b[row], &from, &c.from) ||
      !code_check_copy(&l->w, row, &to, &from))
    return;
  c.walk.to.at = &to;
  c.walk.from.at = &from;
  c.from.flags |= is_ordered(l, row) ? PROGRAM_COHERENT : 0;
  c.to_at[0] = c.to.address;
  c.from_at[0] = c.from.address;
  code_copy_walk(&l->w, &c.walk);
}

void
lower_access(lowerer *l, uint32_t row)
{
  switch ((uint32_t)code_op(l->v, row)) {
  case VYRE_OP_load:
    lower_load(l, row);
    return;
  case VYRE_OP_store:
    lower_store(l, row);
    return;
  case VYRE_OP_set:
    lower_set(l, row);
    return;
  case VYRE_OP_length:
    lower_length(l, row);
    return;
  case VYRE_OP_copy:
  case VYRE_OP_async_copy:
    lower_copy(l, row);
    return;
  default:
    lower_atomic(l, row);
  }
}
