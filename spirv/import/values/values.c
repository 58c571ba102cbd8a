/* Values: the leaves of ids, and the instructions that build and take apart composites.
 *
 * A composite value is the list of its leaves in order: scalars, vectors, matrix columns.  The value of a scalar or vector is its
 * row.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/import/import.h"

#include <string.h>

bool
import_value(import *m, uint32_t id, spv_value *out)
{
  *out = (spv_value){0};
  id_info *info = import_id(m, id);
  if (!info)
    return false;
  bool constant = info->kind == ID_CONSTANT;
  if (!constant && info->kind != ID_LOCAL)
    return info->kind == ID_GLOBAL ? import_uncovered(m, "variable %u as a value, a pointer, is not supported", id)
           : info->kind == ID_TYPE ? import_fail(m, "id %u is not a value", id)
                                   : import_uncovered(m, "id %u as a value is not supported", id);
  bool made = info->epoch == m->epochs[info->kind];
  if (constant && !made && !import_constant(m, info, id))
    return false;
  if (!constant && !made)
    return import_fail(m, "value %u is used before it is defined", id);
  const spv_type *t = import_value_type(m, info->type);
  if (!t)
    return false;
  out->type = info->type;
  out->count = t->leaves;
  out->leaves = t->form == FORM_VALUE ? &info->value
                : constant            ? AT(uint32_t, m->constant_leaves, info->value)
                                      : AT(uint32_t, m->leaves, info->value);
  return true;
}

uint32_t
import_row_made(import *m, uint32_t id)
{
  id_info *info = &m->ids[id < m->bound ? id : 0];
  if (info->kind == ID_CONSTANT && info->holds == HOLDS_ROW) {
    const bool made = info->epoch == m->epochs[ID_CONSTANT];
    const uint32_t number = made ? 0 : import_number(m, info);
    if (number)
      return number;
    return made || import_constant(m, info, id) ? import_visible(m, info->value) : 0;
  }
  spv_value v;
  if (!import_value(m, id, &v))
    return 0;
  if (m->ids[v.type].t->form != FORM_VALUE) {
    import_fail(m, "value %u is not a scalar or vector", id);
    return 0;
  }
  return import_visible(m, v.leaves[0]);
}

uint32_t
import_leaf(import *m, uint32_t id, uint32_t k)
{
  spv_value v;
  return import_value(m, id, &v) && k < v.count ? import_visible(m, v.leaves[k]) : 0;
}

void
import_name_value(import *m, uint32_t id, uint32_t row)
{
  if (!failed(m) && row >= m->rows_before && VYRE_ROW_OP(m->view->op[row]) != VYRE_OP_const)
    import_name_row(m, row, id);
}

uint32_t *
import_set_leaves(import *m, uint32_t id, uint32_t count)
{
  id_info *info = &m->ids[id];
  list *l = info->kind == ID_CONSTANT ? &m->constant_leaves : &m->leaves;
  if (l->count > 1u << 26) {
    import_uncovered(m, "more composite values after inlining than vyre supports");
    return NULL;
  }
  uint32_t *leaves = list_add(m, l, sizeof(uint32_t), count);
  if (!leaves)
    return NULL;
  info->value = l->count - count;
  info->epoch = m->epochs[info->kind];
  return leaves;
}

uint32_t
import_cast(import *m, uint32_t row, vyre_type type)
{
  if (row == 0 || import_row_type(m, row) == type)
    return row;
  vyre_type from = import_row_type(m, row);
  vyre_kind a = VYRE_TYPE_KIND(from), b = VYRE_TYPE_KIND(type);
  if (vyre_kind_bits(a) * VYRE_TYPE_LANES(from) != vyre_kind_bits(b) * VYRE_TYPE_LANES(type) || a == VYRE_BOOL || b == VYRE_BOOL ||
      a == VYRE_VOID || b == VYRE_VOID) {
    import_fail(m, "the type of an operand is not valid for this instruction");
    return 0;
  }
  if (VYRE_ROW_OP(m->view->op[row]) == VYRE_OP_const && VYRE_TYPE_LANES(from) == VYRE_TYPE_LANES(type))
    return vyre_build_const(&m->b, type, m->view->imm[row] | (uint64_t)m->view->imm_hi[row] << 32).id;
  if (VYRE_ROW_OP(m->view->op[row]) == VYRE_OP_bitcast && import_row_type(m, m->view->a[row]) == type)
    return m->view->a[row]; /* a cast of a cast back */
  return vyre_build_convert(&m->b, VYRE_OP_bitcast, type, (vyre_row){row}).id;
}

uint32_t
import_cast_top(import *m, uint32_t row, vyre_type type)
{
  vyre_builder saved = m->b;
  m->b = import_top(m);
  row = import_cast(m, row, type);
  m->b = saved;
  return row;
}

static uint32_t
convert_to(import *m, uint32_t row, vyre_kind kind)
{
  vyre_type type = VYRE_TYPE(kind, VYRE_TYPE_LANES(import_row_type(m, row)));
  if (import_row_type(m, row) == type)
    return row;
  return vyre_build_convert(&m->b, VYRE_OP_convert, type, (vyre_row){row}).id;
}

uint32_t
import_index(import *m, uint32_t row, bool is_unsigned)
{
  vyre_type type = row ? import_row_type(m, row) : 0;
  vyre_kind kind = VYRE_TYPE_KIND(type);
  if (!row)
    return 0;
  if (!vyre_kind_is_int(kind) || VYRE_TYPE_LANES(type) != 1) {
    import_fail(m, "an index or length is not an integer");
    return 0;
  }
  if (vyre_kind_bits(kind) == 32)
    return is_unsigned ? import_cast(m, row, VYRE_TYPE(VYRE_U32, 1)) : row;
  if (vyre_kind_bits(kind) == 64) { /* a value below 2^32 stays; a larger one becomes an index that is always out of bounds */
    row = import_cast(m, row, VYRE_TYPE(VYRE_U64, 1));
    row = row ? vyre_build_imm(&m->b, VYRE_OP_umin, (vyre_row){row}, UINT32_MAX).id : 0;
    return row ? convert_to(m, row, VYRE_U32) : 0;
  }
  row = convert_to(m, row, vyre_kind_is_signed(kind) ? VYRE_I32 : VYRE_U32);
  return is_unsigned ? import_cast(m, row, VYRE_TYPE(VYRE_U32, 1)) : row;
}

uint32_t
import_bit_count(import *m, uint32_t row, vyre_kind kind)
{
  vyre_type type = row ? import_row_type(m, row) : 0;
  if (!row)
    return 0;
  if (!vyre_kind_is_int(VYRE_TYPE_KIND(type))) {
    import_fail(m, "a number of bits is not an integer");
    return 0;
  }
  row = import_cast(m, row, VYRE_TYPE((uint32_t)VYRE_TYPE_KIND(type) | 1u, VYRE_TYPE_LANES(type))); /* the unsigned kind */
  return row ? convert_to(m, row, kind) : 0;
}

uint32_t
import_matrix(import *m, uint32_t id)
{
  spv_value v;
  if (!import_value(m, id, &v))
    return 0;
  if (m->ids[v.type].t->form != FORM_MATRIX) {
    import_fail(m, "value %u is not a matrix", id);
    return 0;
  }
  vyre_row columns[4];
  uint32_t whole = 0;
  for (uint32_t k = 0; k < v.count; k++) {
    columns[k].id = import_leaf(m, id, k);
    if (!columns[k].id)
      return 0;
    /* a tuple of all parts of one row, in order, is that row */
    bool part = VYRE_ROW_OP(m->view->op[columns[k].id]) == VYRE_OP_part && m->view->imm[columns[k].id] == k;
    uint32_t of = part ? m->view->a[columns[k].id] : 0;
    whole = k == 0 || of == whole ? of : 0;
  }
  if (whole && VYRE_TUPLE_COUNT(m->view->imm[whole]) == v.count && import_is_visible(m, whole))
    return whole;
  uint32_t row = vyre_build_tuple(&m->b, columns, v.count).id;
  return row;
}

void
import_set_matrix(import *m, uint32_t id, uint32_t type_id, uint32_t tuple)
{
  const spv_type *t = import_value_type(m, type_id);
  if (!t || !tuple)
    return;
  uint32_t count = t->leaves;
  uint32_t *leaves = import_set_leaves(m, id, count);
  for (uint32_t k = 0; leaves && k < count; k++)
    leaves[k] = vyre_build_part(&m->b, (vyre_row){tuple}, k, import_leaf_type(m, type_id, k)).id;
}

/* ---- instructions ---- */

static bool
set_copy(import *m, uint32_t id, uint32_t type_id, uint32_t from, uint32_t first, uint32_t count)
{
  spv_value v;
  const spv_type *t = import_value_type(m, type_id);
  if (!t || !import_value(m, from, &v))
    return false;
  if (t->leaves != count || first + count > v.count)
    return import_fail(m, "the result type does not match the operands");
  if (t->form == FORM_VALUE) {
    if (import_row_type(m, v.leaves[first]) != t->value)
      return import_fail(m, "the result type does not match the operands");
    import_set(m, id, v.leaves[first]);
    return !failed(m);
  }
  uint32_t *leaves = import_set_leaves(m, id, count);
  if (!leaves || !import_value(m, from, &v))
    return false;
  memcpy(leaves, v.leaves + first, count * sizeof(uint32_t));
  return true;
}

/* Follows literal indices.  Gets the leaf and type that they lead to, and its lane, or NONE for the whole leaf. */
static bool
follow(import *m, uint32_t type_id, const uint32_t *indices, uint32_t count, uint32_t *out_leaf, uint32_t *out_type,
       uint32_t *out_lane)
{
  *out_leaf = 0;
  *out_lane = NONE;
  *out_type = 0;
  for (uint32_t k = 0; k < count; k++) {
    const spv_type *t = import_type(m, type_id);
    uint32_t leaf_index = 0;
    if (!t)
      return false;
    if (t->form == FORM_VALUE)
      *out_lane = indices[k];
    type_id = import_step_type(m, type_id, indices[k], &leaf_index);
    if (!type_id)
      return import_fail(m, "index %u is not valid for the indexed type", indices[k]);
    *out_leaf += leaf_index;
  }
  *out_type = type_id;
  return true;
}

static bool
extract(import *m, uint32_t type_id, uint32_t id, const uint32_t *args, uint32_t count)
{
  const uint32_t vector = count == 2 ? import_row_at_hand(m, args[0]) : 0;
  const spv_type *of = vector ? m->ids[args[0]].t : NULL;
  if (of && of->element == type_id && args[1] < of->count) { /* a component of a vector, the common case */
    import_set(m, id, vyre_build_lane(&m->b, (vyre_row){vector}, args[1]).id);
    return !failed(m);
  }
  spv_value v;
  uint32_t at, reached, lane;
  if (!import_value(m, args[0], &v) || !follow(m, v.type, args + 1, count - 1, &at, &reached, &lane))
    return false;
  if (reached != type_id)
    return import_fail(m, "the result type does not match the operands");
  if (lane == NONE) {
    const spv_type *t = import_value_type(m, type_id);
    return t && set_copy(m, id, type_id, args[0], at, t->leaves);
  }
  uint32_t row = import_leaf(m, args[0], at);
  if (row)
    import_set(m, id, vyre_build_lane(&m->b, (vyre_row){row}, lane).id);
  return !failed(m);
}

static uint32_t
insert_lane(import *m, uint32_t vector, uint32_t scalar, uint32_t index)
{
  vyre_type type = import_row_type(m, vector);
  if (!vector || !scalar || !index || VYRE_TYPE_LANES(type) == 1 ||
      import_row_type(m, scalar) != VYRE_TYPE(VYRE_TYPE_KIND(type), 1)) {
    import_fail(m, "its operands are not a vector and a component of its type");
    return 0;
  }
  return vyre_build(&m->b, VYRE_OP_insert, type, 0, 0, 0, (vyre_row){vector}, (vyre_row){scalar}, (vyre_row){index}).id;
}

static bool
insert(import *m, uint32_t type_id, uint32_t id, const uint32_t *args, uint32_t count)
{
  spv_value object, v;
  uint32_t at, reached, lane;
  if (!import_value(m, args[0], &object) || !import_value(m, args[1], &v) ||
      !follow(m, v.type, args + 2, count - 2, &at, &reached, &lane))
    return false;
  if (v.type != type_id || object.type != reached)
    return import_fail(m, "the result type does not match the operands");
  if (!set_copy(m, id, type_id, args[1], 0, v.count))
    return false;
  const spv_type *t = import_value_type(m, type_id);
  bool single = t && t->form == FORM_VALUE;
  for (uint32_t k = 0; k < object.count && !failed(m); k++) {
    uint32_t row = import_leaf(m, args[0], k);
    if (lane != NONE) {
      const uint32_t number = vyre_build_const(&m->b, VYRE_TYPE(VYRE_U32, 1), lane).id;
      row = insert_lane(m, import_leaf(m, args[1], at), row, number);
    }
    list *l = m->ids[id].kind == ID_CONSTANT ? &m->constant_leaves : &m->leaves;
    if (single)
      import_set(m, id, row);
    else
      *AT(uint32_t, *l, m->ids[id].value + at + k) = row;
  }
  return !failed(m);
}

/* Constructs a vector from scalars and vectors. */
static bool
construct_vector(import *m, uint32_t id, const spv_type *t, const uint32_t *args, uint32_t count)
{
  vyre_row parts[4];
  uint32_t lanes = 0;
  if (count < 1 || count > 4)
    return import_fail(m, "%u constituents of a vector", count);
  for (uint32_t k = 0; k < count; k++) {
    parts[k].id = import_row(m, args[k]);
    if (!parts[k].id)
      return false;
    vyre_type part = import_row_type(m, parts[k].id);
    lanes += VYRE_TYPE_LANES(part);
    if (VYRE_TYPE_KIND(part) != VYRE_TYPE_KIND(t->value))
      return import_fail(m, "constituent %u does not have the kind of the vector's components", args[k]);
  }
  if (lanes != VYRE_TYPE_LANES(t->value))
    return import_fail(m, "%u components for a vector of %u", lanes, VYRE_TYPE_LANES(t->value));
  import_set(m, id, vyre_build_join(&m->b, parts, count).id);
  return !failed(m);
}

static bool
construct_value(import *m, uint32_t type_id, uint32_t id, const uint32_t *args, uint32_t count)
{
  const spv_type *t = import_value_type(m, type_id);
  if (!t)
    return false;
  if (t->form == FORM_VALUE)
    return construct_vector(m, id, t, args, count);
  if (count != t->count)
    return import_fail(m, "%u constituents, but the type has %u", count, t->count);
  uint32_t *leaves = import_set_leaves(m, id, t->leaves);
  uint32_t at = m->ids[id].value;
  for (uint32_t k = 0; leaves && k < count; k++) {
    spv_value v;
    uint32_t unused;
    if (args[k] == id || !import_value(m, args[k], &v))
      return false;
    if (v.type != import_step_type(m, type_id, k, &unused))
      return import_fail(m, "constituent %u does not have the required type", args[k]);
    memcpy(AT(uint32_t, m->leaves, at), v.leaves, v.count * sizeof(uint32_t));
    at += v.count;
  }
  return leaves != NULL;
}

static bool
shuffle(import *m, uint32_t type_id, uint32_t id, const uint32_t *args, uint32_t count)
{
  const spv_type *t = import_value_type(m, type_id);
  uint32_t a = import_row(m, args[0]), b = import_row(m, args[1]);
  if (!t || !a || !b)
    return false;
  vyre_type ta = import_row_type(m, a), tb = import_row_type(m, b);
  uint32_t lanes_a = VYRE_TYPE_LANES(ta), lanes = count - 2, packed = 0;
  if (t->form != FORM_VALUE || lanes != VYRE_TYPE_LANES(t->value) || VYRE_TYPE_KIND(ta) != VYRE_TYPE_KIND(t->value) ||
      VYRE_TYPE_KIND(tb) != VYRE_TYPE_KIND(ta))
    return import_fail(m, "the result type does not match the operands");
  bool uses_a = false, uses_b = false, identity_a = lanes == lanes_a;
  for (uint32_t k = 0; k < lanes; k++) {
    uint32_t lane = args[2 + k] == NONE ? 0 : args[2 + k];
    if (lane >= lanes_a + VYRE_TYPE_LANES(tb))
      return import_fail(m, "component %u of vectors of %u and %u components", lane, lanes_a, VYRE_TYPE_LANES(tb));
    identity_a &= lane == k;
    uses_a |= lane < lanes_a;
    uses_b |= lane >= lanes_a;
    packed |= (lane < lanes_a ? lane : 4 + lane - lanes_a) << (4 * k);
  }
  if (identity_a) {
    import_set(m, id, a);
    return !failed(m);
  }
  if (!uses_a && uses_b) { /* only lanes of b */
    a = b;
    b = 0;
    packed &= 0x33333333u;
  } else if (!uses_b || a == b) {
    packed &= 0x33333333u;
    b = 0;
  }
  uint32_t flags = import_row_flags(m, id);
  import_set(m, id, vyre_build(&m->b, VYRE_OP_shuffle, t->value, flags, packed, 0, (vyre_row){a}, (vyre_row){b}, VYRE_NONE).id);
  return !failed(m);
}

static bool
select_value(import *m, uint32_t type_id, uint32_t id, const uint32_t *args)
{
  spv_value yes, no;
  uint32_t cond = import_row(m, args[0]);
  if (!cond || !import_value(m, args[1], &yes) || !import_value(m, args[2], &no))
    return false;
  vyre_type ct = import_row_type(m, cond);
  if (yes.type != type_id || no.type != type_id || VYRE_TYPE_KIND(ct) != VYRE_BOOL)
    return import_fail(m, "its operands do not have the result type, or its condition is not a bool");
  const spv_type *t = import_value_type(m, type_id);
  if (VYRE_TYPE_LANES(ct) > 1 && (t->form != FORM_VALUE || VYRE_TYPE_LANES(t->value) != VYRE_TYPE_LANES(ct)))
    return import_fail(m, "its condition does not have as many components as the result");
  uint32_t count = yes.count, flags = import_row_flags(m, id);
  uint32_t *leaves = t->form == FORM_VALUE ? NULL : import_set_leaves(m, id, count);
  for (uint32_t k = 0; k < count && !failed(m); k++) {
    uint32_t a = import_leaf(m, args[1], k), b = import_leaf(m, args[2], k);
    uint32_t row =
        vyre_build(&m->b, VYRE_OP_select, import_row_type(m, a), flags, 0, 0, (vyre_row){cond}, (vyre_row){a}, (vyre_row){b}).id;
    if (leaves)
      leaves[k] = row;
    else
      import_set(m, id, row);
  }
  return !failed(m);
}

static bool
access_lane(import *m, uint32_t op, uint32_t type_id, uint32_t id, const uint32_t *args)
{
  bool extracts = op == SpvOpVectorExtractDynamic;
  uint32_t vector = import_row(m, args[0]), scalar = extracts ? 0 : import_row(m, args[1]),
           index = import_row(m, args[extracts ? 1 : 2]);
  const spv_type *t = import_value_type(m, type_id);
  if (!vector || !index || !t)
    return false;
  index = import_index(m, index, false);
  if (!index)
    return false;
  if (!extracts) {
    uint32_t row = insert_lane(m, vector, scalar, index);
    if (row && import_row_type(m, row) != t->value)
      return import_fail(m, "the result type does not match the operands");
    import_set(m, id, row);
    return !failed(m);
  }
  vyre_type vt = import_row_type(m, vector);
  if (t->value != VYRE_TYPE(VYRE_TYPE_KIND(vt), 1) || VYRE_TYPE_LANES(vt) == 1)
    return import_fail(m, "the result type does not match the operands");
  import_set(m, id, vyre_build(&m->b, VYRE_OP_lane, t->value, 0, 0, 0, (vyre_row){vector}, (vyre_row){index}, VYRE_NONE).id);
  return !failed(m);
}

static uint32_t
least_operands(uint32_t op)
{
  switch (op) {
  case SpvOpCompositeConstruct:
    return 0;
  case SpvOpSelect:
  case SpvOpVectorInsertDynamic:
    return 3;
  case SpvOpCompositeInsert:
  case SpvOpVectorShuffle:
  case SpvOpVectorExtractDynamic:
    return 2;
  default:
    return 1;
  }
}

bool
import_composite(import *m, uint32_t op, uint32_t type_id, uint32_t id, const uint32_t *args, uint32_t count)
{
  const uint32_t least = least_operands(op);
  if (count < least)
    return import_fail(m, "%u operands, but the instruction needs at least %u", count, least);
  const spv_type *t = import_type(m, type_id);
  if (!t)
    return false;
  if (import_uses_memory(m, type_id, count ? args[0] : 0))
    return import_aggregate(m, op, type_id, id, args, count);
  spv_value v;
  switch (op) {
  case SpvOpCompositeConstruct:
    return construct_value(m, type_id, id, args, count);
  case SpvOpCompositeExtract:
    return extract(m, type_id, id, args, count);
  case SpvOpCompositeInsert:
    return insert(m, type_id, id, args, count);
  case SpvOpVectorShuffle:
    return shuffle(m, type_id, id, args, count);
  case SpvOpSelect:
    return select_value(m, type_id, id, args);
  case SpvOpVectorExtractDynamic:
  case SpvOpVectorInsertDynamic:
    return access_lane(m, op, type_id, id, args);
  default: /* OpCopyObject, OpCopyLogical */
    if (!import_value(m, args[0], &v))
      return false;
    if (!import_same_leaves(m, v.type, type_id))
      return import_fail(m, "the result type does not match the operands");
    return set_copy(m, id, type_id, args[0], 0, v.count);
  }
}
