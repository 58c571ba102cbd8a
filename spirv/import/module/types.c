/* SPIR-V types: the leaves of their values, and their types in memory.
 *
 * Limits: bool, integers of 8, 16, 32 and 64 bits, floats of 16, 32 and 64 bits; other types fail at their declaration.  Types nest
 * at most 255 deep, as in SPIR-V.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/import/import.h"

#include <stdio.h>
#include <string.h>

spv_type *
import_fail_type(import *m, uint32_t id)
{
  if (import_id(m, id))
    import_fail(m, "id %u is not a type", id);
  return NULL;
}

spv_type *
import_large_type(import *m, spv_type *t, uint32_t id)
{
  if (t->form == FORM_VOID || t->form == FORM_RUNTIME || t->form == FORM_FUNCTION || t->form == FORM_POINTER || t->has_pointer) {
    import_uncovered(m, "a value of type %u (pointer, function or runtime array) is not supported", id);
    return NULL;
  }
  if (!t->sized) {
    import_uncovered(
        m, "a value of type %u, an array whose length depends on specialization, is not supported\nFix: access its elements", id);
    return NULL;
  }
  if (t->leaves > IMPORT_MAX_LEAVES) {
    import_uncovered(m, "a value of type %u has more than %u scalars and vectors\nFix: access its elements", id, IMPORT_MAX_LEAVES);
    return NULL;
  }
  return t;
}

/* Returns the type `id` as a part of `t`, and adds its properties to `t`. */
static spv_type *
component(import *m, uint32_t id, spv_type *t)
{
  spv_type *part = import_type(m, id);
  if (!part)
    return NULL;
  if (part->depth >= 255) {
    import_uncovered(m, "types nest more than 255 deep");
    return NULL;
  }
  if (part->depth + 1 > t->depth)
    t->depth = (uint8_t)(part->depth + 1);
  t->has_pointer |= part->has_pointer || part->form == FORM_POINTER;
  t->has_runtime |= part->has_runtime || part->form == FORM_RUNTIME;
  return part;
}

static uint32_t
times(uint32_t count, uint32_t leaves)
{
  uint64_t all = (uint64_t)count * leaves;
  return leaves == NONE || all > 1u << 24 ? NONE : (uint32_t)all;
}

static bool
number_type(import *m, uint32_t op, const uint32_t *words, spv_type *t)
{
  t->form = FORM_VALUE;
  t->sized = true;
  t->leaves = 1;
  if (op == SpvOpTypeBool) {
    t->value = VYRE_TYPE(VYRE_BOOL, 1);
    return true;
  }
  if (!import_needs(m, op == SpvOpTypeInt ? 4 : 3))
    return false;
  if (op == SpvOpTypeFloat && words[0] >> 16 > 3)
    return import_opaque_type(m, t); /* another encoding than IEEE 754 */
  for (vyre_kind kind = VYRE_I8; kind < VYRE_KIND__COUNT; kind++) {
    bool is_float = vyre_kind_is_float(kind);
    if (!vyre_kind_is_scalar(kind) || vyre_kind_bits(kind) != words[2] || is_float != (op == SpvOpTypeFloat) ||
        (!is_float && vyre_kind_is_signed(kind) != (words[3] != 0)))
      continue;
    t->value = VYRE_TYPE(kind, 1);
    t->literal_words = (uint8_t)import_literal_words(kind);
    return true;
  }
  return import_uncovered(m, "%u bits are not supported\nFix: use integers of 8 to 64 bits, floats of 16 to 64", words[2]);
}

static bool
vector_type(import *m, uint32_t op, const uint32_t *words, spv_type *t)
{
  if (!import_needs(m, 4))
    return false;
  const spv_type *part = component(m, words[2], t);
  if (!part)
    return false;
  if (import_is_opaque_type(part))
    return import_opaque_type(m, t);
  bool vector = op == SpvOpTypeVector;
  uint32_t lanes = VYRE_TYPE_LANES(part->value);
  if (part->form != FORM_VALUE || (vector ? lanes != 1 : lanes == 1 || !vyre_kind_is_float(VYRE_TYPE_KIND(part->value))))
    return import_fail(m, "id %u is not a type for its components", words[2]);
  if (words[3] < 2 || words[3] > 4)
    return import_uncovered(m, "%u components are not supported, 2 to 4 are", words[3]);
  t->form = vector ? FORM_VALUE : FORM_MATRIX;
  t->sized = true;
  t->has_matrix = !vector;
  t->element = words[2];
  t->count = words[3];
  t->value = vector ? VYRE_TYPE(VYRE_TYPE_KIND(part->value), words[3]) : part->value;
  t->leaves = vector ? 1 : words[3];
  return true;
}

static bool
array_type(import *m, uint32_t op, const uint32_t *words, spv_type *t)
{
  bool runtime = op == SpvOpTypeRuntimeArray;
  if (!import_needs(m, runtime ? 3 : 4))
    return false;
  spv_type *part = component(m, words[2], t);
  if (!part)
    return false;
  if (part->form == FORM_VOID || part->form == FORM_RUNTIME || part->form == FORM_FUNCTION || part->form == FORM_POINTER)
    return import_uncovered(m, "an array of type %u is not supported", words[2]);
  t->form = runtime ? FORM_RUNTIME : FORM_ARRAY;
  t->element = words[2];
  t->has_matrix = part->has_matrix && part->form != FORM_STRUCT;
  (void)import_decoration(m, words[1], SpvDecorationArrayStride, &t->stride);
  if (part->form == FORM_STRUCT && !part->stride)
    part->stride = t->stride;
  t->leaves = NONE;
  if (runtime)
    return true;
  const id_info *length = import_id(m, words[3]);
  if (!length || length->kind != ID_CONSTANT)
    return import_fail(m, "length %u is not a constant", words[3]);
  t->length = words[3];
  if (import_literal(m, words[3], &t->count)) {
    if (t->count == 0)
      return import_fail(m, "a length of 0");
    if (t->count > INT32_MAX)
      return import_uncovered(m, "a length of more than %d is not supported", INT32_MAX);
    t->sized = part->sized;
    t->leaves = times(t->count, part->leaves);
  } else if (!(length->flags & ID_SPEC)) {
    return import_fail(m, "length %u is not an integer", words[3]);
  }
  return true;
}

static void
member_decorations(import *m, uint32_t id, const spv_type *t)
{
  for (uint32_t i = m->notes[id].decorations; i; i = AT(decoration, m->decorations, i)->next) {
    const decoration *d = AT(decoration, m->decorations, i);
    if (d->member >= t->count)
      continue;
    spv_member *mb = AT(spv_member, m->members, t->members + d->member);
    switch (d->kind) {
    case SpvDecorationOffset:
      mb->offset = d->value;
      break;
    case SpvDecorationMatrixStride:
      mb->matrix_stride = d->value;
      break;
    case SpvDecorationRowMajor:
      mb->row_major = true;
      break;
    case SpvDecorationBuiltIn:
      mb->builtin = d->value;
      break;
    case NONE:
      mb->name = d->value;
      break;
    default:
      mb->access |= import_flag(d->kind) & ID_ACCESS;
      break;
    }
  }
}

static bool
struct_type(import *m, const uint32_t *words, uint32_t count, spv_type *t)
{
  t->form = FORM_STRUCT;
  t->sized = true;
  t->count = count - 2;
  t->members = m->members.count;
  if (t->count && !list_add(m, &m->members, sizeof(spv_member), t->count))
    return false;
  for (uint32_t k = 0; k < t->count; k++) {
    const spv_type *part = component(m, words[2 + k], t);
    if (!part)
      return false;
    if (part->form == FORM_VOID || part->form == FORM_FUNCTION)
      return import_fail(m, "member %u has type %u, which no member can have", k, words[2 + k]);
    *AT(spv_member, m->members, t->members + k) =
        (spv_member){.type = words[2 + k], .leaf = t->leaves, .offset = VYRE_OFFSET_AUTO, .builtin = NONE};
    t->sized &= part->sized;
    t->has_matrix |= part->has_matrix;
    t->leaves = part->leaves == NONE || t->leaves == NONE || t->leaves + part->leaves > 1u << 24 ? NONE : t->leaves + part->leaves;
  }
  member_decorations(m, words[1], t);
  return true;
}

static bool
pointer_type(import *m, const uint32_t *words, spv_type *t)
{
  if (!import_needs(m, 4))
    return false;
  t->form = FORM_POINTER;
  t->count = words[2];
  t->element = words[3];
  (void)import_decoration(m, words[1], SpvDecorationArrayStride, &t->stride);
  if (words[2] == SpvStorageClassPhysicalStorageBuffer || words[2] == SpvStorageClassImage)
    return import_opaque_type(m, t);
  return component(m, words[3], t) != NULL;
}

static bool
function_type(import *m, const uint32_t *words, uint32_t count, spv_type *t)
{
  if (!import_needs(m, 3))
    return false;
  t->form = FORM_FUNCTION;
  t->element = words[2];
  t->count = count - 3;
  t->members = m->members.count;
  if (!component(m, words[2], t) || (t->count && !list_add(m, &m->members, sizeof(spv_member), t->count)))
    return false;
  for (uint32_t k = 0; k < t->count; k++) {
    if (!component(m, words[3 + k], t))
      return false;
    *AT(spv_member, m->members, t->members + k) = (spv_member){.type = words[3 + k]};
  }
  return true;
}

/* Returns how values of the type are kept. */
static id_holds
kept_as(const spv_type *t)
{
  return t->form == FORM_VALUE ? HOLDS_ROW : t->form == FORM_POINTER ? HOLDS_POINTER : HOLDS_LEAVES;
}

bool
import_declare_type(import *m, uint32_t op)
{
  const uint32_t *words = m->words + m->at;
  uint32_t count = words[0] >> 16;
  if (!import_needs(m, 2))
    return false;
  if (words[1] == 0 || words[1] >= m->bound) /* its decorations are read before it is defined */
    return import_fail(m, "id %u is outside of the bound %u", words[1], m->bound);
  spv_type *t = import_memory_of(m, sizeof(spv_type));
  bool ok = true;
  if (!t)
    return false;
  *t = (spv_type){.form = FORM_VOID};
  switch (op) {
  case SpvOpTypeVoid:
    break;
  case SpvOpTypeBool:
  case SpvOpTypeInt:
  case SpvOpTypeFloat:
    ok = number_type(m, op, words, t);
    break;
  case SpvOpTypeVector:
  case SpvOpTypeMatrix:
    ok = vector_type(m, op, words, t);
    break;
  case SpvOpTypeArray:
  case SpvOpTypeRuntimeArray:
    ok = array_type(m, op, words, t);
    break;
  case SpvOpTypeStruct:
    ok = struct_type(m, words, count, t);
    break;
  case SpvOpTypePointer:
    ok = pointer_type(m, words, t);
    break;
  case SpvOpTypeFunction:
    ok = function_type(m, words, count, t);
    break;
  case SpvOpTypeForwardPointer:
    *t = (spv_type){.form = FORM_VALUE, .value = VYRE_TYPE(VYRE_OPAQUE, 1), .sized = true, .leaves = 1, .forward = true};
    m->has_opaque = true;
    break;
  default:
    ok = import_opaque_type(m, t);
    break;
  }
  id_info *named = &m->ids[words[1]];
  if (ok && named->kind == ID_TYPE && named->t->forward && import_is_opaque_type(t)) {
    *named->t = *t;
    named->def = m->at;
    return true;
  }
  if (!ok || !import_define(m, words[1], ID_TYPE, 0))
    return false;
  named->t = t;
  named->holds = (uint8_t)kept_as(t);
  named->flags |= import_is_opaque_type(t) ? ID_OPAQUE : 0;
  return true;
}

uint32_t
import_step_type(import *m, uint32_t id, uint32_t index, uint32_t *out_leaf)
{
  const spv_type *t = import_type(m, id);
  *out_leaf = 0;
  return t ? import_step_in(m, t, index, out_leaf) : 0;
}

uint32_t
import_step_in(import *m, const spv_type *t, uint32_t index, uint32_t *out_leaf)
{
  *out_leaf = 0;
  switch (t->form) {
  case FORM_VALUE:
    return index < t->count ? t->element : 0;
  case FORM_MATRIX:
    *out_leaf = index;
    return index < t->count ? t->element : 0;
  case FORM_STRUCT:
    if (index >= t->count)
      return 0;
    *out_leaf = AT(spv_member, m->members, t->members + index)->leaf;
    return AT(spv_member, m->members, t->members + index)->type;
  case FORM_ARRAY: {
    const spv_type *part = import_type(m, t->element);
    if (t->count && index >= t->count)
      return 0;
    *out_leaf = part && part->leaves != NONE && t->leaves != NONE ? index * part->leaves : 0;
    return t->element;
  }
  case FORM_RUNTIME:
    return t->element;
  default:
    return 0;
  }
}

vyre_type
import_leaf_type(import *m, uint32_t id, uint32_t k)
{
  id = import_leaf_id(m, id, k);
  return id ? m->ids[id].t->value : 0;
}

uint32_t
import_zero(import *m, uint32_t id, uint32_t k)
{
  vyre_type type = import_leaf_type(m, id, k);
  if (VYRE_TYPE_KIND(type) == VYRE_OPAQUE)
    return import_opaque_null(m, import_leaf_id(m, id, k), SpvOpUndef);
  return vyre_build_const(&m->b, type, 0).id;
}

uint32_t
import_undefined(import *m, uint32_t id, uint32_t k)
{
  const vyre_type type = import_leaf_type(m, id, k);
  if (VYRE_TYPE_KIND(type) == VYRE_OPAQUE)
    return import_zero(m, id, k);
  vyre_builder b = import_top(m); /* rows of constants may use it */
  const vyre_row var = vyre_build(&b, VYRE_OP_var, type, 0, 0, VYRE_ACCESS_UNSET, VYRE_NONE, VYRE_NONE, VYRE_NONE);
  return vyre_build_get(&b, var).id;
}

uint32_t
import_leaf_id(import *m, uint32_t id, uint32_t k)
{
  for (;;) {
    const spv_type *t = import_type(m, id);
    if (!t)
      return 0;
    if (t->form == FORM_VALUE || t->form == FORM_MATRIX)
      return id;
    if (t->form == FORM_ARRAY) {
      const spv_type *part = import_type(m, t->element);
      if (!part || part->leaves == 0)
        return 0;
      k %= part->leaves;
      id = t->element;
      continue;
    }
    if (t->form != FORM_STRUCT || t->count == 0)
      return 0;
    /* the last member that begins at or before leaf k and has leaves */
    uint32_t low = 0, high = t->count;
    while (high - low > 1) {
      uint32_t middle = (low + high) / 2;
      if (AT(spv_member, m->members, t->members + middle)->leaf <= k)
        low = middle;
      else
        high = middle;
    }
    k -= AT(spv_member, m->members, t->members + low)->leaf;
    id = AT(spv_member, m->members, t->members + low)->type;
  }
}

bool
import_same_leaves(import *m, uint32_t a, uint32_t b)
{
  if (a == b)
    return true;
  const spv_type *ta = import_type(m, a), *tb = import_type(m, b);
  if (!ta || !tb || ta->leaves != tb->leaves || ta->leaves > IMPORT_MAX_LEAVES)
    return false;
  for (uint32_t k = 0; k < ta->leaves; k++)
    if (import_leaf_type(m, a, k) != import_leaf_type(m, b, k))
      return false;
  return true;
}

/* Checks the size: type sizes have 32 bits, and no device has the memory for larger types. */
static bool
fits(import *m, uint64_t bytes)
{
  return bytes <= UINT32_MAX || import_uncovered(m, "a type of more than 4 GiB is not supported");
}

static vyre_type_id
make_array(import *m, const spv_type *t, uint32_t stride, bool row_major)
{
  vyre_type_id element = import_make_type(m, t->element, stride, row_major);
  if (!element)
    return 0;
  /* spirv-val accepts this if a matrix stride causes it */
  if (t->stride && import_type(m, t->element)->sized && vyre_type_extent(m->module, element) > t->stride) {
    import_uncovered(m, "an array of stride %u whose elements of %u bytes overlap is not supported", t->stride,
                     vyre_type_extent(m->module, element));
    return 0;
  }
  if (t->form == FORM_RUNTIME)
    return vyre_type_runtime_array(m->module, element, t->stride);
  uint32_t row = 0;
  if (!t->count) {
    vyre_builder saved = m->b;
    m->b = import_top(m);
    row = import_index(m, import_row(m, t->length), true);
    m->b = saved;
    if (!row)
      return 0;
    if (m->view->op[row] == VYRE_ROW(VYRE_OP_const, VYRE_TYPE(VYRE_U32, 1), 0))
      return vyre_type_array(m->module, element, m->view->imm[row], VYRE_NONE, t->stride);
  }
  const vyre_type_id made = vyre_type_array(m->module, element, t->count, (vyre_row){row}, t->stride);
  return made && fits(m, (uint64_t)t->count * vyre_type_get(m->module, made).stride) ? made : 0;
}

static vyre_string
name_string(import *m, uint32_t at, uint32_t skip)
{
  size_t length = 0;
  const char *text = at ? import_text(m, at + skip, at + (m->words[at] >> 16), &length) : NULL;
  return text && length ? vyre_string_intern(m->module, text, length) : 0;
}

/* Returns whether a struct other than `id` has the name. */
static bool
is_called(const import *m, uint32_t id, const char *name, size_t length)
{
  for (uint32_t other = 1; other < m->bound; other++) {
    size_t other_length;
    const bool is_struct = other != id && m->ids[other].kind == ID_TYPE && m->ids[other].t->form == FORM_STRUCT;
    const char *text = is_struct ? import_name(m, other, &other_length) : NULL;
    if (text && other_length == length && memcmp(text, name, length) == 0)
      return true;
  }
  return false;
}

/* Returns a unique name if pointers refer to the struct by name. */
vyre_string
import_struct_name(import *m, uint32_t id)
{
  size_t length = 0;
  char own[80];
  const char *name = import_name(m, id, &length);
  if (!m->ids[id].t->is_named || (name && length && !is_called(m, id, name, length)))
    return name && length ? vyre_string_intern(m->module, name, length) : 0;
  for (uint32_t k = id;; k += m->bound) {
    const int written = snprintf(own, sizeof(own), "%.*s_%u", length < 60 ? (int)length : 60, name && length ? name : "", k);
    if (!is_called(m, id, own, (size_t)written))
      return vyre_string_intern(m->module, own, (size_t)written);
  }
}

/* Returns the size in bytes of the largest scalar in the type.  Offsets are multiples of it in any layout. */
static uint32_t
grain_of(const import *m, vyre_type_id type)
{
  if (type < 256)
    return vyre_kind_bytes(VYRE_TYPE_KIND((vyre_type)type));
  const vyre_type_info info = vyre_type_get(m->module, type);
  uint32_t most = 1;
  if (info.form == VYRE_FORM_WORDS)
    return 8; /* the size of a pointer */
  if (info.form != VYRE_FORM_STRUCT)
    return grain_of(m, info.element);
  for (uint32_t k = 0; k < info.count; k++) {
    const uint32_t grain = grain_of(m, info.members[k].type);
    most = grain > most ? grain : most;
  }
  return most;
}

/* Checks the layout of a member, because spirv-val does not check structs that only pointers lead to.  *end is the size of all
 * members so far. */
static bool
member_is_laid_out(import *m, uint32_t id, const vyre_member *member, const vyre_member *next, uint64_t *end)
{
  const uint32_t size = vyre_type_extent(m->module, member->type);
  *end += size;
  if (!fits(m, member->offset == VYRE_OFFSET_AUTO ? *end : (uint64_t)member->offset + size))
    return false;
  if (member->offset == VYRE_OFFSET_AUTO)
    return true;
  if (member->offset % 8 != 0 && member->offset % grain_of(m, member->type) != 0)
    return import_uncovered(m, "struct %u with a member at offset %u, not a multiple of its size, is not supported", id,
                            member->offset);
  if (next && next->offset > member->offset && next->offset - member->offset < size)
    return import_uncovered(m, "struct %u with members that overlap (offsets %u, %u) is not supported", id, member->offset,
                            next->offset);
  return true;
}

static vyre_type_id
make_struct(import *m, uint32_t id, const spv_type *t)
{
  if (t->count == 0) {
    import_uncovered(m, "struct %u without members is not supported in memory", id);
    return 0;
  }
  vyre_member *members = import_memory_of(m, t->count * sizeof(vyre_member));
  if (!members)
    return 0;
  vyre_type_id made = 1;
  for (uint32_t k = 0; k < t->count && made; k++) {
    spv_member mb = *AT(spv_member, m->members, t->members + k);
    /* the outer struct would become a Block, which cannot contain another */
    if (m->ids[mb.type].flags & (ID_BLOCK | ID_BUFFER_BLOCK)) {
      import_uncovered(m, "struct %u with a Block in it is not supported in memory", id);
      return 0;
    }
    made = import_make_type(m, mb.type, mb.matrix_stride, mb.row_major);
    members[k] = (vyre_member){name_string(m, mb.name, 3), made, mb.offset, mb.access};
  }
  uint64_t end = 0;
  for (uint32_t k = 0; k < t->count && made; k++)
    if (!member_is_laid_out(m, id, &members[k], k + 1 < t->count ? &members[k + 1] : NULL, &end))
      return 0;
  uint16_t flags = m->ids[id].flags;
  if (made)
    made = vyre_type_struct_apart(m->module, import_struct_name(m, id), members, t->count,
                                  (flags & ID_BLOCK ? (uint32_t)VYRE_TYPE_BLOCK : 0u) |
                                      (flags & ID_BUFFER_BLOCK ? (uint32_t)VYRE_TYPE_BUFFER_BLOCK : 0u),
                                  t->stride);
  return made;
}

vyre_type_id
import_make_type(import *m, uint32_t id, uint32_t matrix_stride, bool row_major)
{
  spv_type *found = import_type(m, id);
  if (!found)
    return 0;
  spv_type t = *found;                                 /* a copy, because `found` could move */
  bool plain = t.form == FORM_STRUCT || !t.has_matrix; /* the layout does not depend on the member that has the type */
  if (plain && t.made && t.epoch == m->program_epoch)
    return t.made;
  vyre_type_id made;
  switch (t.form) {
  case FORM_VALUE:
    return import_is_opaque_type(&t) ? import_make_opaque_type(m, id) : t.value;
  case FORM_MATRIX:
    return vyre_type_matrix(m->module, t.value, t.count, matrix_stride, row_major);
  case FORM_ARRAY:
  case FORM_RUNTIME:
    made = make_array(m, &t, matrix_stride, row_major);
    break;
  case FORM_STRUCT:
    made = make_struct(m, id, &t);
    break;
  default:
    import_uncovered(m, "type %u is not supported in memory", id);
    return 0;
  }
  if (plain && made) {
    found->made = made;
    found->epoch = m->program_epoch;
  }
  return made;
}
