/* The verifier: the type table, and rows that give lengths.
 *
 * Types refer only to earlier types, so one pass in the order of ids visits each once and ends for any contents.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/grow.h"
#include "internal.h"

#include <stdlib.h>
#include <string.h>

static uint8_t
facts_of(const verifier *k, vyre_type_id type)
{
  if (type >= 256)
    return k->type_facts[type];
  switch (vyre_kind_bits(VYRE_TYPE_KIND((vyre_type)type))) {
  case 1:
    return TYPE_HAS_BOOL | TYPE_HAS_4;
  case 16:
    return TYPE_HAS_2;
  case 32:
    return TYPE_HAS_4;
  case 64:
    return TYPE_HAS_8;
  default:
    return 0;
  }
}

/* Returns the number of which the type's offsets are multiples. */
static uint32_t
grain_of(const verifier *k, vyre_type_id type)
{
  const uint8_t facts = facts_of(k, type);
  return facts & TYPE_HAS_8 ? 8 : facts & TYPE_HAS_4 ? 4 : facts & TYPE_HAS_2 ? 2 : 1;
}

/* Checks whether `type` may be a part of type `owner`. */
static bool
part_is_valid(verifier *k, vyre_type_id owner, vyre_type_id type, const char *what, uint32_t index)
{
  text_buffer owner_text, text;
  if (type >= 256 && type >= owner)
    vyre_verify_report(k, 0, "%s: %s %u has type id %u, which is not of an earlier type",
                       vyre_verify_memory_type_text(k, owner, &owner_text), what, index, type);
  else if (!type_id_is_valid(k, type))
    vyre_verify_report(k, 0, "%s: %s %u has %s, which memory cannot hold", vyre_verify_memory_type_text(k, owner, &owner_text),
                       what, index, vyre_verify_memory_type_text(k, type, &text));
  else
    return (facts_of(k, type) & TYPE_BAD) == 0;
  return false;
}

/* Returns the words of an initializer. A 64-bit scalar has two. */
static uint32_t
words_of(vyre_type type)
{
  return VYRE_TYPE_LANES(type) * (vyre_kind_bits(VYRE_TYPE_KIND(type)) == 64 ? 2u : 1u);
}

uint64_t
vyre_verify_words(verifier *k, vyre_type_id type)
{
  return type < 256 ? words_of((vyre_type)type) : k->type_words[type];
}

/* Returns whether an array is one of bindings, whose elements are separate buffers of any size. */
static bool
is_of_blocks(const verifier *k, vyre_type_id element)
{
  vyre_type_info info = vyre_type_get(k->module, element);
  while (info.form == VYRE_FORM_ARRAY)
    info = vyre_type_get(k->module, info.element);
  return info.form == VYRE_FORM_STRUCT && (info.flags & (VYRE_TYPE_BLOCK | VYRE_TYPE_BUFFER_BLOCK)) != 0;
}

static uint8_t
check_array(verifier *k, vyre_type_id type, const vyre_type_info *info)
{
  text_buffer text;
  uint8_t facts;
  bool runtime = (info->flags & VYRE_TYPE_RUNTIME) != 0;
  if (!part_is_valid(k, type, info->element, "element", 0))
    return TYPE_BAD;
  facts = facts_of(k, info->element);
  const uint32_t extent = vyre_type_extent(k->module, info->element);
  const bool descriptors = is_of_blocks(k, info->element);
  if ((facts & TYPE_HAS_RUNTIME) && !descriptors) {
    vyre_verify_report(k, 0, "%s: its element has no length of its own", vyre_verify_memory_type_text(k, type, &text));
    return TYPE_BAD;
  }
  if (!runtime && info->count == 0 && info->count_row == 0) {
    vyre_verify_report(k, 0, "%s: it has length 0", vyre_verify_memory_type_text(k, type, &text));
    return TYPE_BAD;
  }
  /* If a row gives the element's length, its stride is unknown: memory without layout has its own. */
  if ((info->stride == 0 || info->stride < extent) && !(facts & TYPE_HAS_ROW) && !descriptors) {
    vyre_verify_report(k, 0, "%s: its stride %u is less than its element's size %u", vyre_verify_memory_type_text(k, type, &text),
                       info->stride, extent);
    return TYPE_BAD;
  }
  if ((uint64_t)info->count * info->stride > UINT32_MAX) {
    vyre_verify_report(k, 0, "%s: %u elements of %u bytes are more than 4 GiB", vyre_verify_memory_type_text(k, type, &text),
                       info->count, info->stride);
    return TYPE_BAD;
  }
  k->type_words[type] = info->count * vyre_verify_words(k, info->element); /* at most one word for each byte, so the product fits */
  return (uint8_t)(facts | (runtime ? TYPE_HAS_RUNTIME : 0) | (info->count_row ? TYPE_HAS_ROW : 0));
}

static uint8_t
check_matrix(verifier *k, vyre_type_id type, const vyre_type_info *info)
{
  text_buffer text;
  uint32_t vectors, size;
  vyre_type column = (vyre_type)info->element;
  if (info->element >= 256 || !vyre_kind_is_float(VYRE_TYPE_KIND(column)) || VYRE_TYPE_LANES(column) < 2 || info->count < 2 ||
      info->count > 4) {
    vyre_verify_report(k, 0, "%s: it is not 2 to 4 columns of 2 to 4 floats", vyre_verify_memory_type_text(k, type, &text));
    return TYPE_BAD;
  }
  vectors = info->flags & VYRE_TYPE_ROW_MAJOR ? info->count : VYRE_TYPE_LANES(column);
  size = vectors * vyre_kind_bits(VYRE_TYPE_KIND(column)) / 8;
  if (info->stride < size) {
    vyre_verify_report(k, 0, "%s: its stride %u is less than the %u bytes of a %s", vyre_verify_memory_type_text(k, type, &text),
                       info->stride, size, info->flags & VYRE_TYPE_ROW_MAJOR ? "row" : "column");
    return TYPE_BAD;
  }
  k->type_words[type] = info->count * words_of(column);
  return facts_of(k, column);
}

static int
by_offset(const void *left, const void *right)
{
  const vyre_member *l = left, *r = right;
  return (l->offset > r->offset) - (l->offset < r->offset);
}

/* Checks that members, in the order of their offsets, do not overlap. */
static bool
members_are_apart(verifier *k, vyre_type_id type, const vyre_member *members, uint32_t count)
{
  text_buffer text;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t extent = vyre_type_extent(k->module, members[i].type);
    const uint64_t end = (uint64_t)members[i].offset + extent;
    bool sized = (facts_of(k, members[i].type) & TYPE_HAS_ROW) == 0;
    if (members[i].offset % grain_of(k, members[i].type) != 0)
      vyre_verify_report(k, 0, "%s: offset %u of a member is not a multiple of %u", vyre_verify_memory_type_text(k, type, &text),
                         members[i].offset, grain_of(k, members[i].type));
    else if (end > UINT32_MAX)
      vyre_verify_report(k, 0, "%s: a member at offset %u ends beyond 4 GiB", vyre_verify_memory_type_text(k, type, &text),
                         members[i].offset);
    else if (sized && i + 1 < count && end > members[i + 1].offset)
      vyre_verify_report(k, 0, "%s: the member at offset %u has %u bytes and overlaps the one at offset %u",
                         vyre_verify_memory_type_text(k, type, &text), members[i].offset, extent, members[i + 1].offset);
    else
      continue;
    return false;
  }
  return true;
}

static uint8_t
check_struct(verifier *k, vyre_type_id type, const vyre_type_info *info)
{
  const uint32_t known =
      VYRE_ACCESS_NO_WRITE | VYRE_ACCESS_NO_READ | VYRE_ACCESS_COHERENT | VYRE_ACCESS_VOLATILE | VYRE_ACCESS_RESTRICT;
  text_buffer text;
  uint8_t facts = 0;
  bool sorted = true, apart;
  if (info->stride && info->stride <= info->size) {
    vyre_verify_report(k, 0, "%s: its stride %u in arrays is not more than its size %u",
                       vyre_verify_memory_type_text(k, type, &text), info->stride, info->size);
    return TYPE_BAD;
  }
  for (uint32_t i = 0; i < info->count; i++) {
    const vyre_member *member = &info->members[i];
    uint8_t inner;
    if (!part_is_valid(k, type, member->type, "member", i))
      return TYPE_BAD;
    inner = facts_of(k, member->type);
    if ((inner & TYPE_HAS_RUNTIME) && i + 1 < info->count) {
      vyre_verify_report(k, 0, "%s: member %u has no length of its own, but is not the last",
                         vyre_verify_memory_type_text(k, type, &text), i);
      return TYPE_BAD;
    }
    if (member->access & ~known) {
      vyre_verify_report(k, 0, "%s: member %u has unknown access bits 0x%x", vyre_verify_memory_type_text(k, type, &text), i,
                         member->access & ~known);
      return TYPE_BAD;
    }
    k->type_words[type] += vyre_verify_words(k, member->type);
    facts = (uint8_t)(facts | inner | (member->access ? TYPE_HAS_ACCESS : 0));
    sorted = sorted && (i == 0 || info->members[i - 1].offset <= member->offset);
  }
  if (info->count == 0 || (sorted && members_are_apart(k, type, info->members, info->count)))
    return facts;
  if (!sorted) {
    vyre_member *members = vyre_verify_alloc(k, info->count * sizeof *members);
    if (!members)
      return TYPE_BAD;
    memcpy(members, info->members, info->count * sizeof *members);
    qsort(members, info->count, sizeof *members, by_offset);
    apart = members_are_apart(k, type, members, info->count);
    vyre_verify_free(k, members, info->count * sizeof *members);
    if (apart)
      return facts;
  }
  return TYPE_BAD;
}

void
vyre_verify_types(verifier *k)
{
  for (vyre_type_id type = 256; type < k->type_count && !k->out_of_memory; type++) {
    vyre_type_info info = vyre_type_get(k->module, type);
    switch (info.form) {
    case VYRE_FORM_ARRAY:
      k->type_facts[type] = check_array(k, type, &info);
      break;
    case VYRE_FORM_MATRIX:
      k->type_facts[type] = check_matrix(k, type, &info);
      break;
    case VYRE_FORM_STRUCT:
      k->type_facts[type] = check_struct(k, type, &info);
      break;
    case VYRE_FORM_WORDS:
      k->type_facts[type] = vyre_verify_words_type(k, type, &info);
      k->type_words[type] = 2;
      break;
    default:
      vyre_verify_report(k, 0, "type %u has form %u, which a table entry cannot have", type, (unsigned)info.form);
      k->type_facts[type] = TYPE_BAD;
      break;
    }
  }
}

static bool
push_value(verifier *k, uint32_t value)
{
  if (!vyre_grow(vyre_module_allocator(k->module), &k->stack, &k->stack_capacity, k->stack_count + 1, sizeof *k->stack)) {
    k->out_of_memory = true;
    return false;
  }
  k->stack[k->stack_count++] = value;
  return true;
}

enum { CONSTANT_NOT_ASKED, CONSTANT_YES, CONSTANT_NO, CONSTANT_QUEUED };

/* Returns whether one row may be part of a constant, and queues its operands. */
static bool
may_be_in_constant(verifier *k, uint32_t row)
{
  const vyre_view *v = k->view;
  const uint32_t operands[3] = {v->a[row], v->b[row], v->c[row]};
  vyre_opcode op = op_of(k, row);
  if (op == VYRE_OP_const || op == VYRE_OP_spec)
    return true;
  if (op < VYRE_OP_tuple || vyre_op_is_subgroup(op) || vyre_op_is_opaque(op) || !(vyre_op_infos[op].flags & VYRE_OP_PURE))
    return false; /* depends on more than its operands, or on memory */
  for (unsigned which = 0; which < 3; which++) {
    uint32_t x = operands[which];
    if (x == 0)
      continue;
    if (!row_is_reached(k, x) || k->constant[x] == CONSTANT_NO)
      return false;
    if (k->constant[x] != CONSTANT_NOT_ASKED)
      continue;
    if (!push_value(k, x))
      return false;
    k->constant[x] = CONSTANT_QUEUED;
  }
  return true;
}

/* Visits each row once over all calls. */
bool
vyre_verify_is_constant(verifier *k, uint32_t row)
{
  uint32_t base = k->stack_count;
  bool constant = true;
  if (!k->constant)
    k->constant = vyre_verify_alloc(k, k->rows);
  if (!k->constant || !row_is_reached(k, row))
    return false;
  if (k->constant[row] == CONSTANT_YES || k->constant[row] == CONSTANT_NO)
    return k->constant[row] == CONSTANT_YES;
  if (!push_value(k, row))
    return false;
  k->constant[row] = CONSTANT_QUEUED;
  for (uint32_t i = base; i < k->stack_count && constant; i++)
    constant = may_be_in_constant(k, k->stack[i]);
  for (uint32_t i = base; i < k->stack_count; i++)
    k->constant[k->stack[i]] = constant ? CONSTANT_YES : CONSTANT_NOT_ASKED;
  k->constant[row] = constant ? CONSTANT_YES : CONSTANT_NO;
  k->stack_count = base;
  return constant;
}

static void
check_length_row(verifier *k, uint32_t buffer, uint32_t row)
{
  const vyre_view *v = k->view;
  text_buffer text;
  if (!row_is_reached(k, row) || k->order[row] >= k->order[buffer] || v->parent[row] != v->parent[buffer])
    vyre_verify_report(k, buffer, "has a type whose length is %s, which is not before it at the top of its program",
                       vyre_verify_name(k, row, &text));
  else if (type_of(k, row) != VYRE_TYPE(VYRE_U32, 1) && type_of(k, row) != VYRE_TYPE(VYRE_I32, 1))
    vyre_verify_report(k, buffer, "has a type whose length is %s, which is not a 32-bit integer", vyre_verify_show(k, row, &text));
  else if (!vyre_verify_is_constant(k, row))
    vyre_verify_report(k, buffer, "has a type whose length is %s, which is not made of constants and spec rows",
                       vyre_verify_show(k, row, &text));
}

static void
queue_type(verifier *k, uint32_t buffer, vyre_type_id type)
{
  if (type < 256 || !(k->type_facts[type] & TYPE_HAS_ROW) || k->type_seen[type] == buffer || !push_value(k, type))
    return;
  k->type_seen[type] = buffer;
}

void
vyre_verify_type_rows(verifier *k, uint32_t buffer, vyre_type_id type)
{
  uint32_t base = k->stack_count;
  if (!k->type_seen)
    k->type_seen = vyre_verify_alloc(k, k->type_count * sizeof(uint32_t));
  if (!k->type_seen)
    return;
  queue_type(k, buffer, type);
  for (uint32_t i = base; i < k->stack_count; i++) {
    vyre_type_info info = vyre_type_get(k->module, k->stack[i]);
    if (info.count_row)
      check_length_row(k, buffer, info.count_row);
    if (info.form == VYRE_FORM_STRUCT || info.form == VYRE_FORM_WORDS)
      for (uint32_t m = 0; m < info.count; m++)
        queue_type(k, buffer, info.members[m].type);
    else
      queue_type(k, buffer, info.element);
  }
  k->stack_count = base;
}
