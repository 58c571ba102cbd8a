/* Alias classes. Buffers with the same set and binding are one class. So are all aliased buffers of storage and uniform space, and
 * all aliased buffers of another space. O(rows, and sorting the buffers of each program).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/ir.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

typedef struct buffer_key {
  uint64_t binding; /* set and binding, or a unique value */
  uint32_t row;
  bool aliased;
} buffer_key;

static int
by_binding(const void *left, const void *right)
{
  const buffer_key *l = left, *r = right;
  if (l->binding != r->binding)
    return l->binding < r->binding ? -1 : 1;
  return (l->row > r->row) - (l->row < r->row);
}

static buffer_key
key_of(const vyre_module *module, uint32_t row)
{
  const vyre_view *v = vyre_module_view(module);
  const vyre_space space = VYRE_BUFFER_SPACE(v->imm_hi[row]);
  buffer_key key = {UINT64_MAX - row, row, (v->imm_hi[row] & VYRE_ACCESS_ALIASED) != 0};
  if (space == VYRE_SPACE_STORAGE || space == VYRE_SPACE_UNIFORM || space == VYRE_SPACE_HANDLE) {
    const vyre_buffer_info *info = vyre_buffer_info_of((vyre_module *)module, (vyre_row){row});
    if (info)
      key.binding = (uint64_t)(info->set & INT32_MAX) << 32 | info->binding;
  }
  return key;
}

/* Computes the classes of a program's buffers. The keys are in order of rows. */
static void
classify(const vyre_view *v, buffer_key *keys, uint32_t count, uint32_t *out)
{
  uint32_t aliased[VYRE_SPACE__COUNT] = {0}; /* by space: the first row of the class of aliased buffers */
  if (count > 1)
    qsort(keys, count, sizeof *keys, by_binding);
  for (uint32_t i = 0, end; i < count; i = end) { /* finds the first row of each aliased class */
    const vyre_space space = VYRE_BUFFER_SPACE(v->imm_hi[keys[i].row]);
    const uint32_t home = space == VYRE_SPACE_UNIFORM ? (uint32_t)VYRE_SPACE_STORAGE : (uint32_t)space;
    bool any = false;
    for (end = i; end < count && keys[end].binding == keys[i].binding; end++)
      any = any || keys[end].aliased;
    const bool joins = any && home < VYRE_SPACE__COUNT;
    if (joins && (aliased[home] == 0 || keys[i].row < aliased[home]))
      aliased[home] = keys[i].row;
    for (uint32_t j = i; j < end; j++)
      out[keys[j].row] = joins ? 0 : keys[i].row;
  }
  for (uint32_t i = 0; i < count; i++) {
    const vyre_space space = VYRE_BUFFER_SPACE(v->imm_hi[keys[i].row]);
    if (out[keys[i].row] == 0)
      out[keys[i].row] = aliased[space == VYRE_SPACE_UNIFORM ? VYRE_SPACE_STORAGE : space];
  }
}

/* Computes for each type id whether a member at any depth is coherent or volatile. */
static void
find_shared_types(const vyre_module *module, uint8_t *shared, uint32_t types)
{
  memset(shared, 0, types);
  for (vyre_type_id type = 256; type < types; type++) {
    const vyre_type_info info = vyre_type_get(module, type);
    if (info.form != VYRE_FORM_STRUCT && info.form != VYRE_FORM_WORDS)
      shared[type] = shared[info.element];
    for (uint32_t i = 0; info.form == VYRE_FORM_STRUCT && i < info.count; i++)
      if ((info.members[i].access & (VYRE_ACCESS_COHERENT | VYRE_ACCESS_VOLATILE)) || shared[info.members[i].type])
        shared[type] = 1;
  }
}

/* A list of keys whose memory is reused for each program. */
typedef struct key_list {
  const vyre_allocator *allocator;
  buffer_key *keys;
  uint32_t count, room;
} key_list;

/* Lists the keys of a program's buffers, which may be anywhere among its direct children. */
static bool
list_buffers(const vyre_module *module, uint32_t program, key_list *list)
{
  const vyre_view *v = vyre_module_view(module);
  list->count = 0;
  for (uint32_t row = v->first[program]; row; row = v->next[row]) {
    if (VYRE_ROW_OP(v->op[row]) != VYRE_OP_buffer)
      continue;
    if (!vyre_grow(list->allocator, &list->keys, &list->room, list->count + 1, sizeof *list->keys))
      return false;
    list->keys[list->count++] = key_of(module, row);
  }
  return true;
}

bool
vyre_aliases_compute(const vyre_module *module, uint32_t *out)
{
  const vyre_view *v = vyre_module_view(module);
  const vyre_allocator *allocator = vyre_module_allocator(module);
  const uint32_t types = vyre_type_count(module);
  key_list list = {.allocator = allocator};
  uint8_t *shared = allocator->resize(allocator->user, NULL, 0, types);
  bool good = shared != NULL;
  if (good)
    find_shared_types(module, shared, types);
  for (uint32_t program = v->first[0]; program && good; program = v->next[program]) {
    good = list_buffers(module, program, &list);
    if (good)
      classify(v, list.keys, list.count, out);
    for (uint32_t i = 0; i < list.count && good; i++) {
      const uint32_t row = list.keys[i].row;
      if ((v->imm_hi[row] & (VYRE_ACCESS_COHERENT | VYRE_ACCESS_VOLATILE)) || shared[v->imm[row]])
        out[row] |= VYRE_ALIAS_SHARED;
    }
  }
  if (list.keys)
    allocator->resize(allocator->user, list.keys, list.room * sizeof *list.keys, 0);
  if (shared)
    allocator->resize(allocator->user, shared, types, 0);
  return good;
}
