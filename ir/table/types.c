/* Types of memory. Scalars and vectors are their own ids; matrices, arrays and structs are interned in a table.
 *
 * The layout is the given one, or std430's (SPIR-V and GLSL specifications). A vector of 2 or 4 aligns to its size, a vector of 3
 * to that of 4. Arrays and structs align to their most aligned part. Sizes saturate at 2^32 - 1. Making a type is O(its members),
 * expected.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/round.h"
#include "table.h"
#include "vyre/opaque.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static uint32_t
saturate(uint64_t bytes)
{
  return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

static uint32_t
vector_align(uint32_t scalar, uint32_t lanes)
{
  return scalar * (lanes == 3 ? 4 : lanes);
}

static vyre_type_info
value_info(vyre_type type)
{
  uint32_t scalar = vyre_kind_bytes(VYRE_TYPE_KIND(type));
  uint32_t lanes = VYRE_TYPE_LANES(type);
  return (vyre_type_info){
      .form = VYRE_FORM_VALUE,
      .element = type,
      .count = lanes,
      .stride = scalar,
      .align = vector_align(scalar, lanes),
      .size = scalar * lanes,
  };
}

static bool
has_members(vyre_type_form form)
{
  return form == VYRE_FORM_STRUCT || form == VYRE_FORM_WORDS;
}

vyre_type_info
vyre_type_get(const vyre_module *module, vyre_type_id type)
{
  if (type < VYRE_FIRST_TYPE)
    return value_info((vyre_type)type);
  if (type - VYRE_FIRST_TYPE >= module->type_count)
    return value_info(0);
  vyre_type_info info = module->types[type - VYRE_FIRST_TYPE].info;
  if (has_members(info.form) && info.count)
    info.members = module->members + module->types[type - VYRE_FIRST_TYPE].members;
  return info;
}

uint32_t
vyre_type_count(const vyre_module *module)
{
  return VYRE_FIRST_TYPE + module->type_count;
}

/* ---- the table ---- */

static uint64_t
hash_info(const vyre_type_info *info, const vyre_member *members)
{
  const uint32_t words[] = {info->form, info->flags, info->element, info->count, info->count_row, info->stride, info->name};
  uint64_t hash = XXH3_64bits(words, sizeof(words));
  if (has_members(info->form) && info->count)
    hash = XXH3_64bits_withSeed(members, info->count * sizeof(*members), hash);
  return hash;
}

static uint64_t
hash_of(const vyre_module *module, uint32_t id)
{
  const table_type *type = &module->types[id - VYRE_FIRST_TYPE];
  return hash_info(&type->info, module->members ? module->members + type->members : NULL);
}

static bool
types_are_equal(const vyre_module *module, const table_type *known, const vyre_type_info *info, const vyre_member *members)
{
  const vyre_type_info *k = &known->info;
  if (k->form != info->form || k->flags != info->flags || k->element != info->element || k->count != info->count ||
      k->count_row != info->count_row || k->stride != info->stride || k->name != info->name)
    return false;
  return !has_members(info->form) || info->count == 0 || !members ||
         memcmp(module->members + known->members, members, info->count * sizeof(*members)) == 0;
}

uint32_t
table_length_row(const vyre_module *module, vyre_type_id type)
{
  return type >= VYRE_FIRST_TYPE && type - VYRE_FIRST_TYPE < module->type_count ? module->types[type - VYRE_FIRST_TYPE].length_row
                                                                                : 0;
}

/* Returns table_length_row of a new type from that of its parts. Nested types may be exponentially large, so no function walks all
 * parts. */
static uint32_t
find_length_row(const vyre_module *module, const vyre_type_info *info, const vyre_member *members)
{
  uint32_t last = 0;
  if (info->form == VYRE_FORM_ARRAY) {
    last = table_length_row(module, info->element);
    uint32_t row = info->count_row;
    if (row > last && !table_op_is(module, row, VYRE_OP_spec)) /* A const row may be anywhere; spec rows are at the top. */
      last = row;
  }
  for (uint32_t i = 0; has_members(info->form) && i < info->count; i++) {
    uint32_t row = table_length_row(module, members[i].type);
    last = row > last ? row : last;
  }
  return last;
}

uint32_t
vyre_type_extent(const vyre_module *module, vyre_type_id type)
{
  if (type < VYRE_FIRST_TYPE)
    return value_info((vyre_type)type).size;
  return type - VYRE_FIRST_TYPE < module->type_count ? module->types[type - VYRE_FIRST_TYPE].extent : 0;
}

/* Computes the extent of a type from that of its parts. */
static uint32_t
find_extent(const vyre_module *module, const vyre_type_info *info, const vyre_member *members)
{
  uint64_t end = 0;
  if (info->form == VYRE_FORM_ARRAY && info->count) {
    end = (uint64_t)(info->count - 1) * info->stride + vyre_type_extent(module, info->element);
  } else if (info->form == VYRE_FORM_MATRIX) {
    const uint32_t lanes = VYRE_TYPE_LANES((vyre_type)info->element);
    const bool row_major = (info->flags & VYRE_TYPE_ROW_MAJOR) != 0;
    const uint32_t vectors = row_major ? lanes : info->count, scalars = row_major ? info->count : lanes;
    end = (uint64_t)(vectors ? vectors - 1 : 0) * info->stride +
          (uint64_t)scalars * vyre_kind_bytes(VYRE_TYPE_KIND((vyre_type)info->element));
  } else if (info->form == VYRE_FORM_WORDS) {
    end = info->size;
  }
  for (uint32_t i = 0; info->form == VYRE_FORM_STRUCT && i < info->count; i++) {
    const uint64_t last = (uint64_t)members[i].offset + vyre_type_extent(module, members[i].type);
    end = last > end ? last : end;
  }
  return saturate(end);
}

vyre_type_id
table_add_type(vyre_module *module, const vyre_type_info *info, const vyre_member *members, bool apart)
{
  if (!table_set_grow(module, &module->type_set, hash_of))
    return 0;
  uint32_t mask = module->type_set.capacity - 1;
  uint32_t slot = (uint32_t)hash_info(info, members) & mask;
  for (uint32_t id; (id = module->type_set.slots[slot]) != 0; slot = (slot + 1) & mask)
    if (!apart && types_are_equal(module, &module->types[id - VYRE_FIRST_TYPE], info, members))
      return id;
  uint32_t index = module->type_count;
  uint32_t first = module->member_count;
  uint32_t count = has_members(info->form) ? info->count : 0;
  if (!table_array_grow(module, &module->types, &module->type_capacity, (uint64_t)index + 1, sizeof(*module->types)) ||
      !table_array_grow(module, &module->members, &module->member_capacity, (uint64_t)first + count, sizeof(*members)))
    return 0;
  if (count && members)
    memcpy(module->members + first, members, count * sizeof(*members));
  module->member_count += count;
  module->types[index] = (table_type){*info, first, find_length_row(module, info, members), find_extent(module, info, members)};
  module->type_count++;
  module->type_set.slots[slot] = VYRE_FIRST_TYPE + index;
  module->type_set.count++;
  return VYRE_FIRST_TYPE + index;
}

void
table_remap_types(vyre_module *module, const uint32_t *map)
{
  bool any = false;
  for (uint32_t i = 0; i < module->type_count; i++) {
    uint32_t *count_row = &module->types[i].info.count_row;
    any |= *count_row != 0;
    *count_row = map[*count_row];
  }
  if (!any)
    return;
  /* Keys changed, so every type is added again. The set has room because it held them all. */
  table_set_clear(&module->type_set);
  for (uint32_t i = 0; i < module->type_count; i++) {
    table_type *type = &module->types[i];
    type->length_row = map[type->length_row];
    table_set_add(&module->type_set, hash_of(module, VYRE_FIRST_TYPE + i), VYRE_FIRST_TYPE + i);
  }
}

void
table_find_lengths(vyre_module *module)
{
  table_set_clear(&module->type_set);
  for (uint32_t i = 0; i < module->type_count; i++) {
    table_type *type = &module->types[i];
    type->length_row = find_length_row(module, &type->info, module->members ? module->members + type->members : NULL);
    table_set_add(&module->type_set, hash_of(module, VYRE_FIRST_TYPE + i), VYRE_FIRST_TYPE + i);
  }
}

void
vyre_type_forget(vyre_module *module, vyre_type_id first)
{
  if (first < VYRE_FIRST_TYPE || first - VYRE_FIRST_TYPE >= module->type_count)
    return;
  module->type_count = first - VYRE_FIRST_TYPE; /* their members stay until the module is cleared */
  table_set_clear(&module->type_set);
  (void)table_index_types(module); /* the set held more, so it has room */
}

bool
table_index_types(vyre_module *module)
{
  for (uint32_t i = 0; i < module->type_count; i++) {
    if (!table_set_grow(module, &module->type_set, hash_of))
      return false;
    table_type *type = &module->types[i];
    const vyre_member *members = module->members ? module->members + type->members : NULL;
    type->length_row = find_length_row(module, &type->info, members);
    type->extent = find_extent(module, &type->info, members);
    table_set_add(&module->type_set, hash_of(module, VYRE_FIRST_TYPE + i), VYRE_FIRST_TYPE + i);
  }
  return true;
}

/* ---- making types ---- */

enum { TYPE_FLOAT = 22, TYPE_VECTOR = 23 }; /* opcodes of SPIR-V */

/* Sets the size of an opaque type: a float with its own encoding, a vector of such floats, or a pointer. The size of other types is
 * unknown; they get 8 bytes. */
static void
size_words(const vyre_module *module, vyre_type_info *info, const vyre_member *words)
{
  info->align = info->size = 8;
  if (info->flags == TYPE_FLOAT && info->count && words[0].offset - 8 <= 64 - 8) {
    info->align = info->size = words[0].offset / 8;
  } else if (info->flags == TYPE_VECTOR && info->count == 2 && words[1].offset - 1 < 4) {
    const uint32_t scalar = vyre_type_get(module, words[0].type).size;
    info->align = scalar ? vector_align(scalar, words[1].offset) : 8;
    info->size = scalar ? scalar * words[1].offset : 8;
  }
}

void
table_size_type(const vyre_module *module, vyre_type_info *info, const vyre_member *members)
{
  uint64_t size = 0;
  if (info->form == VYRE_FORM_ARRAY) {
    info->align = vyre_type_get(module, info->element).align;
    info->size = saturate((uint64_t)info->count * info->stride);
  } else if (info->form == VYRE_FORM_WORDS) {
    size_words(module, info, members);
  } else if (info->form == VYRE_FORM_MATRIX) {
    bool row_major = (info->flags & VYRE_TYPE_ROW_MAJOR) != 0;
    uint32_t rows = VYRE_TYPE_LANES((vyre_type)info->element);
    info->align = vector_align(vyre_kind_bytes(VYRE_TYPE_KIND((vyre_type)info->element)),
                               row_major ? info->count : rows); /* lanes side by side */
    info->size = saturate((uint64_t)info->stride * (row_major ? rows : info->count));
  } else {
    info->align = 1;
    for (uint32_t i = 0; i < info->count; i++) {
      vyre_type_info part = vyre_type_get(module, members[i].type);
      uint64_t end = (uint64_t)members[i].offset + part.size;
      size = end > size ? end : size;
      info->align = part.align > info->align ? part.align : info->align;
    }
    info->size = saturate(round_up(size, info->align));
  }
}

uint32_t
vyre_type_stride(const vyre_module *module, vyre_type_id element)
{
  const vyre_type_info info = vyre_type_get(module, element);
  return info.form == VYRE_FORM_STRUCT && info.stride ? info.stride : saturate(round_up(info.size, info.align));
}

static vyre_type_id
make_array(vyre_module *module, vyre_type_id element, uint32_t count, uint32_t count_row, uint32_t stride, uint32_t flags)
{
  vyre_type_info info = {
      .form = VYRE_FORM_ARRAY,
      .flags = flags,
      .element = element,
      .count = count_row ? 0 : count,
      .count_row = count_row,
      .stride = stride ? stride : vyre_type_stride(module, element),
  };
  table_size_type(module, &info, NULL);
  return table_add_type(module, &info, NULL, false);
}

vyre_type_id
vyre_type_array(vyre_module *module, vyre_type_id element, uint32_t count, vyre_row count_row, uint32_t stride)
{
  return make_array(module, element, count, count_row.id, stride, 0);
}

vyre_type_id
vyre_type_runtime_array(vyre_module *module, vyre_type_id element, uint32_t stride)
{
  return make_array(module, element, 0, 0, stride, VYRE_TYPE_RUNTIME);
}

vyre_type_id
vyre_type_matrix(vyre_module *module, vyre_type column, uint32_t columns, uint32_t stride, bool row_major)
{
  vyre_type_info info = {
      .form = VYRE_FORM_MATRIX,
      .flags = row_major ? VYRE_TYPE_ROW_MAJOR : 0,
      .element = column,
      .count = columns,
      .stride = stride,
  };
  table_size_type(module, &info, NULL);
  if (stride == 0) { /* a vector's size never exceeds its alignment */
    info.stride = info.align;
    table_size_type(module, &info, NULL);
  }
  return table_add_type(module, &info, NULL, false);
}

vyre_type_id
vyre_type_struct(vyre_module *module, vyre_string name, const vyre_member *members, uint32_t count, uint32_t flags)
{
  return vyre_type_struct_apart(module, name, members, count, flags, 0);
}

vyre_type_id
vyre_type_struct_apart(vyre_module *module, vyre_string name, const vyre_member *members, uint32_t count, uint32_t flags,
                       uint32_t stride)
{
  enum { FEW = 16 };
  size_t bytes = count * sizeof(*members);
  vyre_member few[FEW] = {0}, *placed = count <= FEW ? few : table_resize(module, NULL, 0, bytes);
  if (!placed) {
    table_fail(module);
    return 0;
  }
  vyre_type_info info = {.form = VYRE_FORM_STRUCT, .flags = flags, .count = count, .name = name};
  uint64_t end = 0;
  for (uint32_t i = 0; i < count; i++) {
    vyre_type_info part = vyre_type_get(module, members[i].type);
    placed[i] = members[i];
    if (placed[i].offset == VYRE_OFFSET_AUTO)
      placed[i].offset = saturate(round_up(end, part.align));
    end = (uint64_t)placed[i].offset + part.size;
  }
  table_size_type(module, &info, placed);
  if (stride > info.size)
    info.stride = stride;
  vyre_type_id id = table_add_type(module, &info, placed, false);
  if (placed != few)
    table_resize(module, placed, bytes, 0);
  return id;
}

vyre_type_id
vyre_type_words(vyre_module *module, uint32_t opcode, vyre_type_id result, vyre_mode mode, const vyre_member *words, uint32_t count)
{
  vyre_type_info info = {.form = VYRE_FORM_WORDS, .flags = opcode, .element = result, .count = count, .stride = (uint32_t)mode};
  size_words(module, &info, words);
  return table_add_type(module, &info, words, false);
}

uint32_t
vyre_buffer_descriptor_steps(const vyre_module *module, uint32_t buffer)
{
  const vyre_view *view = vyre_module_view(module);
  const vyre_space space = VYRE_BUFFER_SPACE(view->imm_hi[buffer]);
  vyre_type_info info = vyre_type_get(module, view->imm[buffer]);
  uint32_t steps = 0;
  for (; info.form == VYRE_FORM_ARRAY; steps++)
    info = vyre_type_get(module, info.element);
  const bool is_block = info.form == VYRE_FORM_STRUCT && (info.flags & (VYRE_TYPE_BLOCK | VYRE_TYPE_BUFFER_BLOCK)) != 0;
  return space == VYRE_SPACE_HANDLE || ((space == VYRE_SPACE_STORAGE || space == VYRE_SPACE_UNIFORM) && is_block) ? steps : 0;
}

vyre_type_id
vyre_type_step(const vyre_module *module, vyre_type_id type, uint32_t index)
{
  vyre_type_info info = vyre_type_get(module, type);
  switch (info.form) {
  case VYRE_FORM_VALUE:
    return info.size && info.count > 1 ? VYRE_TYPE(VYRE_TYPE_KIND((vyre_type)type), 1) : 0;
  case VYRE_FORM_MATRIX:
    return index < info.count ? info.element : 0;
  case VYRE_FORM_ARRAY:
    return info.element;
  case VYRE_FORM_STRUCT:
    return index < info.count ? info.members[index].type : 0;
  case VYRE_FORM_WORDS:
    return 0;
  }
  return 0;
}
