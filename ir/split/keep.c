/* Builds rows that keep values and memory in words of a buffer and restore them, bit for bit.
 *
 * A scalar is one word, or two if it has 64 bits. So the buffer requires no type of memory that the program does not use.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "split.h"

#include "vyre/opaque.h"

#define U32(lanes) VYRE_TYPE(VYRE_U32, lanes)
#define U64(lanes) VYRE_TYPE(VYRE_U64, lanes)

enum { MOST_PARTS = 64 }; /* of a tuple */

/* ---- words ----------------------------------------------------------------------------------------------------------------- */

static uint32_t
type_words(vyre_type type)
{
  const vyre_kind kind = VYRE_TYPE_KIND(type);
  return vyre_kind_is_scalar(kind) ? VYRE_TYPE_LANES(type) * (vyre_kind_bits(kind) > 32 ? 2 : 1) : 0;
}

static uint32_t
part_words(const vyre_module *module, uint32_t tuple, uint32_t k)
{
  const vyre_type_id type = vyre_part_type_id(module, (vyre_row){tuple}, k);
  return type < 256 ? type_words((vyre_type)type) : 0;
}

uint32_t
split_words(const vyre_module *module, uint32_t row)
{
  const vyre_view *v = vyre_module_view(module);
  const vyre_type type = VYRE_ROW_TYPE(v->op[row]);
  uint32_t words = 0;
  if (VYRE_TYPE_KIND(type) != VYRE_TUPLE)
    return type_words(type);
  if (VYRE_TUPLE_COUNT(v->imm[row]) > MOST_PARTS)
    return 0;
  for (uint32_t k = 0; k < VYRE_TUPLE_COUNT(v->imm[row]); k++) {
    const uint32_t part = part_words(module, row, k);
    if (part == 0)
      return 0;
    words += part;
  }
  return words;
}

uint32_t
split_memory_words(const vyre_module *module, vyre_type_id type)
{
  const vyre_type_info info = vyre_type_get(module, type);
  uint64_t words = 0;
  switch (info.form) {
  case VYRE_FORM_VALUE:
    return type_words((vyre_type)type);
  case VYRE_FORM_MATRIX:
  case VYRE_FORM_ARRAY:
    words = (uint64_t)split_memory_words(module, info.element) * info.count;
    break;
  case VYRE_FORM_STRUCT:
    for (uint32_t i = 0; i < info.count; i++) {
      const uint32_t member = split_memory_words(module, vyre_type_step(module, type, i));
      if (member == 0)
        return 0;
      words += member;
    }
    break;
  default:
    break;
  }
  return words < UINT32_MAX / 2 ? (uint32_t)words : 0;
}

/* Returns the path of a word. Its number is a literal plus, if `more` is not 0, a row. */
static vyre_row
word_path(vyre_builder *b, const split_place *place, uint32_t word, vyre_row more)
{
  vyre_row at = more.id ? vyre_build_imm(b, VYRE_OP_add, more, word) : vyre_build_const(b, U32(1), word);
  at = vyre_build_binary(b, VYRE_OP_mul, place->stride, at);
  return vyre_build_at(b, place->buffer, vyre_build_binary(b, VYRE_OP_add, place->origin, at));
}

void
split_store_word(vyre_builder *b, const split_place *place, uint32_t word, vyre_row value)
{
  vyre_build_store(b, word_path(b, place, word, VYRE_NONE), value, 0);
}

vyre_row
split_load_word(vyre_builder *b, const split_place *place, uint32_t word)
{
  return vyre_build_load(b, word_path(b, place, word, VYRE_NONE), 0);
}

/* ---- values ---------------------------------------------------------------------------------------------------------------- */

/* Returns the bits of a vector as u32, or as u64. */
static vyre_row
to_bits(vyre_builder *b, vyre_row value, vyre_type type)
{
  const vyre_kind kind = VYRE_TYPE_KIND(type);
  const uint32_t lanes = VYRE_TYPE_LANES(type);
  switch (vyre_kind_bits(kind)) {
  case 1: {
    const vyre_row zero = vyre_build_const(b, U32(lanes), 0);
    return vyre_build_select(b, value, vyre_build_const(b, U32(lanes), 1), zero);
  }
  case 16:
    if (kind == VYRE_F16)
      value = vyre_build_convert(b, VYRE_OP_bitcast, VYRE_TYPE(VYRE_U16, lanes), value);
    return vyre_build_convert(b, VYRE_OP_convert, U32(lanes), value);
  case 8:
    return vyre_build_convert(b, VYRE_OP_convert, U32(lanes), value);
  case 32:
    return kind == VYRE_U32 ? value : vyre_build_convert(b, VYRE_OP_bitcast, U32(lanes), value);
  default:
    return kind == VYRE_U64 ? value : vyre_build_convert(b, VYRE_OP_bitcast, U64(lanes), value);
  }
}

static vyre_row
from_bits(vyre_builder *b, vyre_row bits, vyre_type type)
{
  const vyre_kind kind = VYRE_TYPE_KIND(type);
  const uint32_t lanes = VYRE_TYPE_LANES(type);
  switch (vyre_kind_bits(kind)) {
  case 1:
    return vyre_build_imm(b, VYRE_OP_ne, bits, 0);
  case 16:
    if (kind != VYRE_F16)
      return vyre_build_convert(b, VYRE_OP_convert, type, bits);
    bits = vyre_build_convert(b, VYRE_OP_convert, VYRE_TYPE(VYRE_U16, lanes), bits);
    return vyre_build_convert(b, VYRE_OP_bitcast, type, bits);
  case 8:
    return vyre_build_convert(b, VYRE_OP_convert, type, bits);
  case 32:
    return kind == VYRE_U32 ? bits : vyre_build_convert(b, VYRE_OP_bitcast, type, bits);
  default:
    return kind == VYRE_U64 ? bits : vyre_build_convert(b, VYRE_OP_bitcast, type, bits);
  }
}

static void
store_lanes(vyre_builder *b, const split_place *place, uint32_t word, vyre_row more, vyre_row value, vyre_type type)
{
  const uint32_t lanes = VYRE_TYPE_LANES(type), words = type_words(type);
  vyre_row halves[2] = {to_bits(b, value, type)};
  if (words > lanes) {
    halves[1] = vyre_build_convert(b, VYRE_OP_convert, U32(lanes), vyre_build_imm(b, VYRE_OP_ushr, halves[0], 32));
    halves[0] = vyre_build_convert(b, VYRE_OP_convert, U32(lanes), halves[0]);
  }
  for (uint32_t i = 0; i < words; i++) {
    const vyre_row half = halves[i / lanes];
    const vyre_row stored = lanes == 1 ? half : vyre_build_lane(b, half, i % lanes);
    vyre_build_store(b, word_path(b, place, word + i, more), stored, 0);
  }
}

static vyre_row
load_lanes(vyre_builder *b, const split_place *place, uint32_t word, vyre_row more, vyre_type type)
{
  const uint32_t lanes = VYRE_TYPE_LANES(type), words = type_words(type);
  vyre_row parts[8] = {{0}}, bits;
  for (uint32_t i = 0; i < words; i++)
    parts[i] = vyre_build_load(b, word_path(b, place, word + i, more), 0);
  bits = vyre_build_join(b, parts, lanes);
  if (words > lanes) {
    const vyre_row high = vyre_build_convert(b, VYRE_OP_convert, U64(lanes), vyre_build_join(b, parts + lanes, lanes));
    bits = vyre_build_convert(b, VYRE_OP_convert, U64(lanes), bits);
    bits = vyre_build_binary(b, VYRE_OP_or, bits, vyre_build_imm(b, VYRE_OP_shl, high, 32));
  }
  return from_bits(b, bits, type);
}

static vyre_type
type_of(const vyre_builder *b, uint32_t row)
{
  return VYRE_ROW_TYPE(vyre_module_view(b->module)->op[row]);
}

void
split_store(vyre_builder *b, const split_place *place, uint32_t word, vyre_row value)
{
  const vyre_type type = type_of(b, value.id);
  if (VYRE_TYPE_KIND(type) != VYRE_TUPLE) {
    store_lanes(b, place, word, VYRE_NONE, value, type);
    return;
  }
  const uint32_t count = VYRE_TUPLE_COUNT(vyre_module_view(b->module)->imm[value.id]);
  for (uint32_t k = 0; k < count; k++) {
    const vyre_type part = (vyre_type)vyre_part_type_id(b->module, value, k);
    store_lanes(b, place, word, VYRE_NONE, vyre_build_part(b, value, k, part), part);
    word += type_words(part);
  }
}

vyre_row
split_load(vyre_builder *b, const split_place *place, uint32_t word, const split *s, uint32_t like)
{
  const vyre_type type = VYRE_ROW_TYPE(s->view->op[like]);
  vyre_row parts[MOST_PARTS];
  if (VYRE_TYPE_KIND(type) != VYRE_TUPLE)
    return load_lanes(b, place, word, VYRE_NONE, type);
  const uint32_t count = VYRE_TUPLE_COUNT(s->view->imm[like]);
  for (uint32_t k = 0; k < count; k++) {
    const vyre_type part = (vyre_type)vyre_part_type_id(s->module, (vyre_row){like}, k);
    parts[k] = load_lanes(b, place, word, VYRE_NONE, part);
    word += type_words(part);
  }
  return vyre_build_tuple(b, parts, count);
}

/* ---- memory ---------------------------------------------------------------------------------------------------------------- */

typedef struct copying {
  vyre_builder *b;
  const split_place *place;
  bool is_load;
  vyre_row lane, lanes; /* of the invocations that share the work; 0 if they do not */
} copying;

static void
copy_value(const copying *c, uint32_t word, vyre_row more, vyre_row path, vyre_type type)
{
  vyre_row mine = VYRE_NONE;
  if (c->lane.id)
    mine = vyre_build_if(c->b, vyre_build_imm(c->b, VYRE_OP_eq, c->lane, 0));
  if (c->is_load)
    vyre_build_store(c->b, path, load_lanes(c->b, c->place, word, more, type), 0);
  else
    store_lanes(c->b, c->place, word, more, vyre_build_load(c->b, path, 0), type);
  if (mine.id)
    vyre_builder_leave(c->b, mine);
}

/* Copies memory. `more` is a row to add to the word number, or 0. Invocations that share the work divide the outermost array. */
static void
copy_memory(const copying *c, uint32_t word, vyre_row more, vyre_row path, vyre_type_id type)
{
  const vyre_type_info info = vyre_type_get(c->b->module, type);
  if (info.form == VYRE_FORM_VALUE) {
    copy_value(c, word, more, path, (vyre_type)type);
  } else if (info.form == VYRE_FORM_ARRAY) {
    const vyre_row zero = vyre_build_const(c->b, U32(1), 0), one = vyre_build_const(c->b, U32(1), 1);
    const vyre_row count = vyre_build_const(c->b, U32(1), info.count);
    copying inner = *c;
    inner.lane = inner.lanes = VYRE_NONE;
    const vyre_row loop = vyre_build_for(c->b, c->lane.id ? c->lane : zero, count, c->lane.id ? c->lanes : one);
    const vyre_row index = vyre_region_of(c->b->module, loop, 0);
    vyre_row at = vyre_build_imm(c->b, VYRE_OP_mul, index, split_memory_words(c->b->module, info.element));
    at = more.id ? vyre_build_binary(c->b, VYRE_OP_add, more, at) : at;
    copy_memory(&inner, word, at, vyre_build_at(c->b, path, index), info.element);
    vyre_builder_leave(c->b, loop);
  } else { /* a struct's members, a matrix's columns */
    for (uint32_t i = 0; i < info.count; i++) {
      const vyre_type_id part = vyre_type_step(c->b->module, type, i);
      copy_memory(c, word, more, vyre_build_at_literal(c->b, path, i), part);
      word += split_memory_words(c->b->module, part);
    }
  }
}

void
split_copy(vyre_builder *b, const split_place *place, uint32_t word, vyre_row memory, bool is_load, vyre_row lane, vyre_row lanes)
{
  const copying c = {.b = b, .place = place, .is_load = is_load, .lane = lane, .lanes = lanes};
  copy_memory(&c, word, VYRE_NONE, memory, vyre_module_view(b->module)->imm[memory.id]);
}
