/* Loads, stores, copies, array lengths.
 *
 * Composites are loaded and stored leaf by leaf.  OpCopyMemory, and a load of a large value whose only use is the next store,
 * become copies.  A dynamically indexed matrix column has no path, so it is loaded by selects and stored by ifs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/import/import.h"

/* Memory operands are kept as the imm of a copy (VYRE_ORDER).  This bit means that the access is volatile. */
#define IS_VOLATILE   0x8000u
#define IS_NONUNIFORM 0x80u /* the loaded value is decorated NonUniform */

static uint32_t
scope_of(import *m, uint32_t id)
{
  uint32_t scope = 0;
  if (!import_literal(m, id, &scope) || scope > 255)
    import_uncovered(m, "its scope %u is not a known constant", id);
  return scope & 255;
}

/* Returns the memory operands at word `at`, and sets *out_end to the word after them. */
static uint32_t
operands_at(import *m, const uint32_t *words, uint32_t at, uint32_t *out_end)
{
  const uint32_t mask = words[at], count = words[0] >> 16;
  uint32_t next = at + 1 + ((mask & SpvMemoryAccessAlignedMask) != 0), bits = 0, available = 0, visible = 0;
  const uint32_t needs =
      next + ((mask & SpvMemoryAccessMakePointerAvailableMask) != 0) + ((mask & SpvMemoryAccessMakePointerVisibleMask) != 0);
  *out_end = needs;
  if (needs > count)
    return import_fail(m, "its memory operands 0x%x need more words", mask);
  if (mask & SpvMemoryAccessMakePointerAvailableMask)
    available = scope_of(m, words[next++]);
  if (mask & SpvMemoryAccessMakePointerVisibleMask)
    visible = scope_of(m, words[next]);
  bits |= mask & SpvMemoryAccessVolatileMask ? IS_VOLATILE : 0;
  bits |= mask & SpvMemoryAccessNontemporalMask ? VYRE_NONTEMPORAL : 0;
  bits |= mask & SpvMemoryAccessNonPrivatePointerMask ? VYRE_NON_PRIVATE : 0;
  bits |= mask & SpvMemoryAccessMakePointerAvailableMask ? VYRE_MAKE_AVAILABLE : 0;
  bits |= mask & SpvMemoryAccessMakePointerVisibleMask ? VYRE_MAKE_VISIBLE : 0;
  return VYRE_ORDER(visible, available, bits);
}

uint32_t
import_memory_operands(import *m, const uint32_t *words, uint32_t at)
{
  uint32_t end;
  const uint32_t operands = words[0] >> 16 > at ? operands_at(m, words, at, &end) : 0;
  const bool nonuniform = (words[0] & 0xffffu) == SpvOpLoad && (m->ids[words[2]].flags & ID_NONUNIFORM);
  return operands | (nonuniform ? VYRE_ORDER(0, 0, IS_NONUNIFORM) : 0);
}

/* Returns the imm of a load, a store, a copy with these memory operands. */
static uint32_t
load_imm(uint32_t operands)
{
  const uint32_t bits = VYRE_ORDER_SEMANTICS(operands) & (VYRE_NONTEMPORAL | VYRE_NON_PRIVATE | VYRE_MAKE_VISIBLE);
  return VYRE_ORDER(0, bits & VYRE_MAKE_VISIBLE ? VYRE_ORDER_EXECUTION(operands) : 0, bits);
}

static uint32_t
store_imm(uint32_t operands)
{
  const uint32_t bits = VYRE_ORDER_SEMANTICS(operands) & (VYRE_NONTEMPORAL | VYRE_NON_PRIVATE | VYRE_MAKE_AVAILABLE);
  return VYRE_ORDER(0, bits & VYRE_MAKE_AVAILABLE ? VYRE_ORDER_MEMORY(operands) : 0, bits);
}

static uint32_t
copy_imm(uint32_t operands)
{
  return operands & ~VYRE_ORDER(0, 0, IS_VOLATILE | IS_NONUNIFORM);
}

bool
import_is_read_only(vyre_space space)
{
  return space == VYRE_SPACE_UNIFORM || space == VYRE_SPACE_PUSH;
}

/* Returns the flags of an access.  A write to NonWritable memory is an error, because passes rely on that decoration.  Reads of
 * NonReadable memory are accepted, because compilers emit them for writeonly buffers. */
uint32_t
import_access_flags(import *m, const pointer *p, uint32_t operands, bool writes)
{
  uint32_t flags = 0;
  if (writes && (p->access & VYRE_ACCESS_NO_WRITE))
    import_uncovered(m, "writes memory that is declared NonWritable");
  if (writes && p->base == BASE_BUFFER && import_is_read_only(AT(global, m->globals, p->first)->space))
    import_uncovered(m, "writes a uniform buffer");
  if ((p->access & VYRE_ACCESS_VOLATILE) || (VYRE_ORDER_SEMANTICS(operands) & IS_VOLATILE))
    flags |= VYRE_ROW_VOLATILE;
  if ((p->access & VYRE_ACCESS_COHERENT) || (VYRE_ORDER_SEMANTICS(operands) & VYRE_SHARING))
    flags |= VYRE_ROW_COHERENT;
  if ((p->access & POINTER_NONUNIFORM) || (VYRE_ORDER_SEMANTICS(operands) & IS_NONUNIFORM))
    flags |= VYRE_ROW_NONUNIFORM;
  return flags;
}

uint32_t
import_load_single(import *m, uint32_t index, uint32_t operands)
{
  const pointer *p = AT(pointer, m->pointers, index);
  if (p->base == BASE_LEAVES)
    return locals_read(m, p->first);
  if (p->base == BASE_VALUE)
    return import_cast(m, import_builtin(m, p), p->value);
  if (p->base == BASE_NOTHING)
    return import_zero(m, p->type, 0);
  uint32_t flags = import_access_flags(m, p, operands, false), path = import_path(m, index);
  vyre_type type = AT(pointer, m->pointers, index)->value;
  return path ? vyre_build(&m->b, VYRE_OP_load, type, flags, load_imm(operands), 0, (vyre_row){path}, VYRE_NONE, VYRE_NONE).id : 0;
}

/* Stores a row, which may not be visible here, to a whole scalar or vector. */
static inline bool
store_single(import *m, uint32_t index, uint32_t row, uint32_t operands)
{
  const pointer *p = AT(pointer, m->pointers, index);
  if (p->base == BASE_LEAVES)
    locals_write(m, p->first, import_visible(m, row));
  else if (p->base == BASE_VALUE)
    return import_uncovered(m, "a store to a built-in");
  if (p->base != BASE_BUFFER || AT(global, m->globals, p->first)->space == VYRE_SPACE_CONSTANT) /* its initializer sets it */
    return !failed(m);
  uint32_t flags = import_access_flags(m, p, operands, true), path = import_path(m, index);
  if (path)
    vyre_build(&m->b, VYRE_OP_store, 0, flags, store_imm(operands), 0, (vyre_row){path}, (vyre_row){import_visible(m, row)},
               VYRE_NONE);
  return !failed(m);
}

static bool
push_row(import *m, uint32_t row)
{
  uint32_t *added = list_add(m, &m->stack, sizeof(uint32_t), 1);
  if (added)
    *added = row;
  return added && !failed(m);
}

static uint32_t
member_flags(import *m, const spv_type *t, uint32_t k, uint32_t flags, bool writes)
{
  const pointer p = {.access = (uint16_t)AT(spv_member, m->members, t->members + k)->access};
  return flags | import_access_flags(m, &p, 0, writes);
}

bool
import_tree(import *m, uint32_t path, uint32_t type_id, uint32_t flags, uint32_t imm, uint32_t *from)
{
  const spv_type *t = import_type(m, type_id);
  if (!t || failed(m))
    return false;
  if (t->leaves == 0)
    return true;
  if (t->form == FORM_VALUE) {
    if (!from)
      return push_row(m, vyre_build(&m->b, VYRE_OP_load, t->value, flags, imm, 0, (vyre_row){path}, VYRE_NONE, VYRE_NONE).id);
    uint32_t row = import_visible(m, *AT(uint32_t, m->stack, (*from)++));
    vyre_build(&m->b, VYRE_OP_store, 0, flags, imm, 0, (vyre_row){path}, (vyre_row){row}, VYRE_NONE);
    return !failed(m);
  }
  if (t->form != FORM_MATRIX && t->form != FORM_ARRAY && t->form != FORM_STRUCT)
    return import_fail(m, "type %u has no value", type_id);
  for (uint32_t k = 0; k < t->count; k++) {
    uint32_t unused, part = import_step_type(m, type_id, k, &unused);
    uint32_t step_flags = t->form == FORM_STRUCT ? member_flags(m, t, k, flags, from != NULL) : flags;
    const spv_type *pt = part ? import_type(m, part) : NULL;
    if (!pt)
      return false;
    if (pt->leaves && !import_tree(m, vyre_build_at_literal(&m->b, (vyre_row){path}, k).id, part, step_flags, imm, from))
      return false;
  }
  return true;
}

static uint32_t
lane_row(import *m, const pointer *p)
{
  return p->lane_literal ? vyre_build_const(&m->b, VYRE_TYPE(VYRE_U32, 1), p->lane).id : import_visible(m, p->lane);
}

static uint32_t
is_column(import *m, const pointer *p, uint32_t k)
{
  return vyre_build_imm(&m->b, VYRE_OP_eq, (vyre_row){import_visible(m, p->column)}, k).id;
}

static uint32_t
column_path(import *m, const pointer *p, uint32_t matrix, uint32_t k)
{
  uint32_t path = vyre_build_at_literal(&m->b, (vyre_row){matrix}, k).id;
  if (!p->has_lane)
    return path;
  return p->lane_literal ? vyre_build_at_literal(&m->b, (vyre_row){path}, p->lane).id
                         : vyre_build_at(&m->b, (vyre_row){path}, (vyre_row){import_visible(m, p->lane)}).id;
}

/* Loads a scalar or vector from a dynamically indexed column. */
static uint32_t
load_column(import *m, uint32_t index, vyre_type type, uint32_t flags, uint32_t imm)
{
  pointer p = *AT(pointer, m->pointers, index);
  uint32_t matrix = p.base == BASE_BUFFER ? import_path(m, index) : 0, row = 0;
  for (uint32_t k = 0; k < p.columns && !failed(m); k++) {
    uint32_t column;
    if (p.base == BASE_BUFFER)
      column =
          vyre_build(&m->b, VYRE_OP_load, type, flags, imm, 0, (vyre_row){column_path(m, &p, matrix, k)}, VYRE_NONE, VYRE_NONE).id;
    else
      column = locals_read(m, p.first + k);
    row = k == 0 ? column : vyre_build_select(&m->b, (vyre_row){is_column(m, &p, k)}, (vyre_row){column}, (vyre_row){row}).id;
  }
  if (p.base == BASE_LEAVES && p.has_lane)
    row = vyre_build(&m->b, VYRE_OP_lane, type, 0, 0, 0, (vyre_row){row}, (vyre_row){lane_row(m, &p)}, VYRE_NONE).id;
  return row;
}

static void
store_column(import *m, uint32_t index, uint32_t row, uint32_t flags, uint32_t imm)
{
  pointer p = *AT(pointer, m->pointers, index);
  uint32_t matrix = p.base == BASE_BUFFER ? import_path(m, index) : 0;
  for (uint32_t k = 0; k < p.columns && !failed(m); k++) {
    uint32_t picked = is_column(m, &p, k);
    if (p.base == BASE_BUFFER) {
      vyre_builder saved = m->b;
      uint32_t path = column_path(m, &p, matrix, k);
      saved = m->b;
      (void)vyre_build_if(&m->b, (vyre_row){picked});
      vyre_build(&m->b, VYRE_OP_store, 0, flags, imm, 0, (vyre_row){path}, (vyre_row){row}, VYRE_NONE);
      m->b = saved;
      continue;
    }
    uint32_t old = locals_read(m, p.first + k), made = row;
    if (p.has_lane)
      made = vyre_build(&m->b, VYRE_OP_insert, import_row_type(m, old), 0, 0, 0, (vyre_row){old}, (vyre_row){row},
                        (vyre_row){lane_row(m, &p)})
                 .id;
    locals_write(m, p.first + k, vyre_build_select(&m->b, (vyre_row){picked}, (vyre_row){made}, (vyre_row){old}).id);
  }
}

/* Pushes the leaves of the pointer's memory onto the stack. */
static bool
load_leaves(import *m, uint32_t index, uint32_t operands)
{
  pointer p = *AT(pointer, m->pointers, index);
  const spv_type *t = import_value_type(m, p.type);
  if (!t)
    return false;
  if (p.single)
    return push_row(m, import_load_single(m, index, operands));
  if (p.has_column && p.columns == 0)
    return push_row(m, import_access_component(m, index, 0));
  if (p.has_column)
    return push_row(m, load_column(m, index, t->value, import_access_flags(m, &p, operands, false), load_imm(operands)));
  switch ((pointer_base)p.base) {
  case BASE_NOTHING:
    for (uint32_t k = 0; k < t->leaves; k++)
      if (!push_row(m, import_zero(m, p.type, k)))
        return false;
    return true;
  case BASE_LEAVES:
    if (p.has_lane) {
      uint32_t vector = locals_read(m, p.first);
      uint32_t row =
          p.lane_literal
              ? vyre_build_lane(&m->b, (vyre_row){vector}, p.lane).id
              : vyre_build(&m->b, VYRE_OP_lane, t->value, 0, 0, 0, (vyre_row){vector}, (vyre_row){lane_row(m, &p)}, VYRE_NONE).id;
      return push_row(m, row);
    }
    for (uint32_t k = 0; k < t->leaves; k++)
      if (!push_row(m, locals_read(m, p.first + k)))
        return false;
    return true;
  case BASE_BUFFER: {
    uint32_t path = import_path(m, index);
    return path && import_tree(m, path, p.type, import_access_flags(m, &p, operands, false), load_imm(operands), NULL);
  }
  case BASE_VALUE: {
    uint32_t row = import_builtin(m, &p);
    if (row && p.has_lane)
      row = p.lane_literal ? vyre_build_lane(&m->b, (vyre_row){row}, p.lane).id
                           : vyre_build(&m->b, VYRE_OP_lane, VYRE_TYPE(VYRE_TYPE_KIND(import_row_type(m, row)), 1), 0, 0, 0,
                                        (vyre_row){row}, (vyre_row){lane_row(m, &p)}, VYRE_NONE)
                                 .id;
    return row && push_row(m, import_cast(m, row, t->value));
  }
  }
  return false;
}

bool
import_store_leaves(import *m, uint32_t index, uint32_t first, uint32_t operands)
{
  pointer p = *AT(pointer, m->pointers, index);
  const spv_type *t = import_value_type(m, p.type);
  if (!t)
    return false;
  if (p.single)
    return store_single(m, index, *AT(uint32_t, m->stack, first), operands);
  if (p.has_column && p.columns == 0)
    return import_access_component(m, index, import_visible(m, *AT(uint32_t, m->stack, first))) != 0;
  if (p.has_column) {
    const uint32_t flags = import_access_flags(m, &p, operands, true);
    store_column(m, index, import_visible(m, *AT(uint32_t, m->stack, first)), flags, store_imm(operands));
    return !failed(m);
  }
  switch ((pointer_base)p.base) {
  case BASE_NOTHING:
    return true;
  case BASE_VALUE:
    return import_uncovered(m, "a store to a built-in");
  case BASE_LEAVES:
    for (uint32_t k = 0; k < t->leaves && !failed(m); k++) {
      uint32_t row = import_visible(m, *AT(uint32_t, m->stack, first + k));
      if (p.has_lane) {
        uint32_t old = locals_read(m, p.first);
        row = vyre_build(&m->b, VYRE_OP_insert, import_row_type(m, old), 0, 0, 0, (vyre_row){old}, (vyre_row){row},
                         (vyre_row){lane_row(m, &p)})
                  .id;
      }
      locals_write(m, p.first + k, row);
    }
    return !failed(m);
  case BASE_BUFFER: {
    if (AT(global, m->globals, p.first)->space == VYRE_SPACE_CONSTANT)
      return true; /* its initializer sets it */
    uint32_t path = import_path(m, index);
    return path && import_tree(m, path, p.type, import_access_flags(m, &p, operands, true), store_imm(operands), &first);
  }
  }
  return false;
}

bool
import_is_plain_path(const pointer *p)
{
  return p->base == BASE_BUFFER && !p->has_column;
}

/* Copies the pointee if both pointers lead to buffers.  If their layouts differ, it must be large, because passes follow the loads
 * and stores of a small one.  One side must be private then, because the two sides of several copies may not overlap.  Sets
 * *out_done if it did. */
static bool
try_copy(import *m, uint32_t to_id, uint32_t from_id, uint32_t operands, bool *out_done)
{
  const pointer *to = import_pointer(m, to_id), *from = import_pointer(m, from_id);
  *out_done = false;
  if (!to || !from)
    return false;
  if (!import_is_plain_path(to) || !import_is_plain_path(from) || AT(global, m->globals, to->first)->space == VYRE_SPACE_CONSTANT)
    return true;
  const uint32_t store_flags = import_access_flags(m, to, operands, true);
  const uint32_t flags = store_flags | import_access_flags(m, from, operands, false);
  uint32_t to_path = import_path(m, m->ids[to_id].value), from_path = import_path(m, m->ids[from_id].value);
  if (!to_path || !from_path)
    return false;
  const bool is_same = vyre_path_type(m->module, (vyre_row){to_path}) == vyre_path_type(m->module, (vyre_row){from_path});
  const bool is_apart = AT(global, m->globals, to->first)->space == VYRE_SPACE_PRIVATE ||
                        AT(global, m->globals, from->first)->space == VYRE_SPACE_PRIVATE;
  if (!is_same && (!is_apart || m->ids[to->type].t->leaves <= IMPORT_LOCAL_LEAVES))
    return true;
  import_copy_rows(m, to_path, from_path, flags, copy_imm(operands));
  *out_done = true;
  return !failed(m);
}

/* Returns the memory operands of OpCopyMemory: one set for both sides or one for each.  Merges both, except scopes. */
static uint32_t
copy_operands(import *m, const uint32_t *words)
{
  uint32_t end;
  if (words[0] >> 16 <= 3)
    return 0;
  const uint32_t to = operands_at(m, words, 3, &end);
  if (failed(m) || end >= words[0] >> 16)
    return to;
  const uint32_t from = operands_at(m, words, end, &end);
  const uint32_t bits = (VYRE_ORDER_SEMANTICS(to) & ~VYRE_MAKE_VISIBLE) | (VYRE_ORDER_SEMANTICS(from) & ~VYRE_MAKE_AVAILABLE);
  return VYRE_ORDER(VYRE_ORDER_EXECUTION(from), VYRE_ORDER_MEMORY(to), bits);
}

/* Copies by one row if possible, otherwise leaf by leaf. */
static bool
move_memory(import *m, uint32_t to_id, uint32_t from_id, uint32_t operands)
{
  const pointer *to = import_pointer(m, to_id), *from = import_pointer(m, from_id);
  if (!to || !from)
    return false;
  if (to->type != from->type && !import_same_leaves(m, to->type, from->type))
    return import_uncovered(m, "its pointers have different pointee types");
  const spv_type *t = import_type(m, to->type);
  bool done = false;
  if (t && t->form != FORM_VALUE && t->form != FORM_RUNTIME && !t->has_runtime && !try_copy(m, to_id, from_id, operands, &done))
    return false;
  if (done)
    return true;
  uint32_t first = m->stack.count;
  bool ok = load_leaves(m, m->ids[from_id].value, operands) && import_store_leaves(m, m->ids[to_id].value, first, operands);
  m->stack.count = first;
  return ok;
}

bool
import_store_aggregate(import *m, uint32_t to_id, uint32_t id, uint32_t operands)
{
  const pointer *to = import_pointer(m, to_id);
  return to && import_store_memory(m, to_id, id, import_access_flags(m, to, operands, true), store_imm(operands));
}

static APART bool
store_value(import *m, const uint32_t *words, uint32_t operands)
{
  const id_info *stored = &m->ids[words[2] < m->bound ? words[2] : 0];
  if (stored->kind >= ID_CONSTANT && stored->t && import_is_in_memory(stored->t))
    return import_store_aggregate(m, words[1], words[2], operands);
  const pointer *p = import_pointer(m, words[1]);
  const id_info *value = &m->ids[words[2] < m->bound ? words[2] : 0];
  spv_value v;
  if (p && p->single && value->holds == HOLDS_ROW && value->epoch == m->epochs[value->kind] && value->type == p->type)
    return store_single(m, m->ids[words[1]].value, value->value, operands);
  if (!p || !import_value(m, words[2], &v))
    return false;
  if (v.type != p->type)
    return import_fail(m, "value %u does not have the type that pointer %u points to", words[2], words[1]);
  if (p->single)
    return store_single(m, m->ids[words[1]].value, v.leaves[0], operands);
  uint32_t first = m->stack.count, *rows = list_add(m, &m->stack, sizeof(uint32_t), v.count);
  if (v.count && !rows)
    return false;
  for (uint32_t k = 0; k < v.count; k++)
    rows[k] = v.leaves[k];
  bool ok = import_store_leaves(m, m->ids[words[1]].value, first, operands);
  m->stack.count = first;
  return ok;
}

bool
import_store(import *m, const uint32_t *words)
{
  if (!import_needs(m, 3))
    return false;
  uint32_t operands = import_memory_operands(m, words, 3);
  if (m->copied == m->at) {
    m->copied = 0;
    return move_memory(m, words[1], m->copied_from, operands | m->copied_operands);
  }
  /* the common store: a value that is visible here, to a whole scalar or vector */
  const id_info *const to = &m->ids[words[1] < m->bound ? words[1] : 0];
  const uint32_t row = import_row_at_hand(m, words[2]);
  if (!row || to->holds != HOLDS_POINTER || to->epoch != m->epochs[to->kind])
    return store_value(m, words, operands);
  const pointer *const p = AT(pointer, m->pointers, to->value);
  if (!p->single || m->ids[words[2]].type != p->type)
    return store_value(m, words, operands);
  if (p->base != BASE_LEAVES)
    return store_single(m, to->value, row, operands);
  locals_write(m, p->first, row);
  return !failed(m);
}

/* Returns whether removing the instruction would not change the program. */
static bool
is_debug(const import *m, const uint32_t *words)
{
  const uint32_t op = words[0] & 0xffffu;
  return op == SpvOpLine || op == SpvOpNoLine || op == SpvOpNop || import_is_nonsemantic(m, words);
}

/* Finds the last word of the function that has each id, or a literal of the same value. */
static bool
find_last_words(import *m, function *f)
{
  if (!m->last_words) {
    m->last_words = import_memory_of(m, m->bound * sizeof(uint32_t));
    if (!m->last_words)
      return false;
  }
  for (uint32_t at = f->start, end; at < f->end; at = end) {
    end = at + (m->words[at] >> 16);
    for (uint32_t k = is_debug(m, m->words + at) ? end : at; k < end; k++) {
      const uint32_t id = m->words[k];
      if (id < m->bound && m->ids[id].def >= f->start && m->ids[id].def < f->end)
        m->last_words[id] = k;
    }
  }
  return f->has_last_words = true;
}

/* Returns whether the id of this function is used after word `at`. */
static bool
is_used_behind(import *m, uint32_t id, uint32_t at)
{
  function *f = AT(function, m->functions, m->instance->function);
  return (!f->has_last_words && !find_last_words(m, f)) || m->last_words[id] >= at;
}

/* Returns the word of the OpStore that is the only use of the loaded value, or 0.  Only access chains are before it and, for large
 * values, OpCopyLogicals of the value. */
static uint32_t
only_store(import *m, const uint32_t *words, bool is_large)
{
  uint32_t value = words[2];
  for (uint32_t at = m->at + (words[0] >> 16), end;; at = end) {
    const uint32_t op = m->words[at] & 0xffffu, length = m->words[at] >> 16;
    end = at + length;
    if (op == SpvOpStore && length >= 3 && m->words[at + 2] == value)
      return is_used_behind(m, value, end) ? 0 : at;
    if (is_large && op == SpvOpCopyLogical && length == 4 && m->words[at + 3] == value && !is_used_behind(m, value, end))
      value = m->words[at + 2];
    else if (op != SpvOpAccessChain && op != SpvOpInBoundsAccessChain && !is_debug(m, m->words + at))
      return 0;
  }
}

bool
import_pop_stack(import *m, uint32_t id, uint32_t first)
{
  const uint32_t made = m->stack.count - first;
  m->stack.count = first;
  if (m->ids[id].t->form == FORM_VALUE) {
    import_set(m, id, *AT(uint32_t, m->stack, first));
    return !failed(m);
  }
  uint32_t *leaves = import_set_leaves(m, id, made);
  for (uint32_t k = 0; leaves && k < made; k++)
    leaves[k] = *AT(uint32_t, m->stack, first + k);
  return leaves || (made == 0 && !failed(m));
}

/* Loads a composite: leaf by leaf, in memory, or by the copy at its only store. */
static bool
load_composite(import *m, const uint32_t *words, uint32_t operands)
{
  const pointer *p = import_pointer(m, words[3]);
  const spv_type *t = m->ids[p->type].t;
  if (t->leaves > IMPORT_COPY_LEAVES && t->form != FORM_RUNTIME && !t->has_runtime && import_is_plain_path(p)) {
    uint32_t at = only_store(m, words, t->leaves > IMPORT_LOCAL_LEAVES);
    if (at) {
      m->copied = at;
      m->copied_from = words[3];
      m->copied_operands = operands;
      m->copied_value = words[2];
      return true;
    }
  }
  if (import_is_in_memory(t)) {
    if (p->base != BASE_NOTHING && !import_is_plain_path(p))
      return import_uncovered(m, "pointer %u is not a pointer to memory, which is not supported here", words[3]);
    const bool nothing = p->base == BASE_NOTHING;
    const uint32_t flags = import_access_flags(m, p, operands, false), path = nothing ? 0 : import_path(m, m->ids[words[3]].value);
    return (path || nothing) && import_set_memory(m, words[2], path, flags, load_imm(operands));
  }
  uint32_t first = m->stack.count;
  return load_leaves(m, m->ids[words[3]].value, operands) && import_pop_stack(m, words[2], first);
}

bool
import_load(import *m, const uint32_t *words)
{
  const pointer *p = import_needs(m, 4) ? import_pointer(m, words[3]) : NULL;
  if (!p)
    return false;
  uint32_t operands = import_memory_operands(m, words, 4);
  if (p->type != words[1])
    return import_fail(m, "its type is not the type that pointer %u points to", words[3]);
  return load_composite(m, words, operands);
}

bool
import_copy_memory(import *m, const uint32_t *words)
{
  return import_needs(m, 3) && move_memory(m, words[1], words[2], copy_operands(m, words));
}

bool
import_array_length(import *m, const uint32_t *words)
{
  if (!import_needs(m, 5))
    return false;
  const pointer *p = import_pointer(m, words[3]);
  const spv_type *t = p ? import_type(m, p->type) : NULL;
  if (!t)
    return false;
  uint32_t unused, part = t->form == FORM_STRUCT ? import_step_type(m, p->type, words[4], &unused) : 0;
  const spv_type *array = part ? import_type(m, part) : NULL;
  const spv_type *result = import_value_type(m, words[1]);
  if (!import_is_plain_path(p) || !array || array->form != FORM_RUNTIME || !result)
    return import_fail(m, "its operands are not a runtime array of a buffer");
  uint32_t path = import_path(m, m->ids[words[3]].value);
  if (!path)
    return false;
  vyre_row member_path = m->view->op[path] == VYRE_OP_null ? VYRE_NONE : vyre_build_at_literal(&m->b, (vyre_row){path}, words[4]);
  uint32_t row = vyre_build(&m->b, VYRE_OP_length, VYRE_TYPE(VYRE_U32, 1), 0, 0, 0, member_path, VYRE_NONE, VYRE_NONE).id;
  import_set(m, words[2], import_cast(m, row, result->value));
  return !failed(m);
}
