/* Alias classes. Buffers with the same set and binding are one class. So are all aliased buffers of storage and uniform space, and
 * all aliased buffers of another space. O(rows, and sorting the buffers of each program).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "aliases.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

struct buffer_key {
  uint64_t binding; /* set and binding, or a unique value */
  uint32_t row;
  bool aliased;
};

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

/* Computes the classes of a program's buffers, by row from `first` on. The keys are in order of rows. */
static void
classify(const vyre_view *v, buffer_key *keys, uint32_t count, uint32_t first, uint32_t *out)
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
      out[keys[j].row - first] = joins ? 0 : keys[i].row;
  }
  for (uint32_t i = 0; i < count; i++) {
    const vyre_space space = VYRE_BUFFER_SPACE(v->imm_hi[keys[i].row]);
    if (out[keys[i].row - first] == 0)
      out[keys[i].row - first] = aliased[space == VYRE_SPACE_UNIFORM ? VYRE_SPACE_STORAGE : space];
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

bool
aliases_begin(aliases *k, const vyre_module *module)
{
  *k = (aliases){.module = module, .allocator = vyre_module_allocator(module), .types = vyre_type_count(module)};
  k->shared = k->allocator->resize(k->allocator->user, NULL, 0, k->types);
  if (k->shared)
    find_shared_types(module, k->shared, k->types);
  return k->shared != NULL;
}

bool
aliases_add(aliases *k, uint32_t buffer)
{
  if (!vyre_grow(k->allocator, &k->keys, &k->room, k->count + 1, sizeof *k->keys))
    return false;
  k->keys[k->count++] = key_of(k->module, buffer);
  return true;
}

void
aliases_find(aliases *k, uint32_t first, uint32_t *out)
{
  const vyre_view *v = vyre_module_view(k->module);
  const uint32_t count = k->count;
  k->count = 0;
  classify(v, k->keys, count, first, out);
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t row = k->keys[i].row;
    if ((v->imm_hi[row] & (VYRE_ACCESS_COHERENT | VYRE_ACCESS_VOLATILE)) || k->shared[v->imm[row]])
      out[row - first] |= VYRE_ALIAS_SHARED;
  }
}

void
aliases_end(aliases *k)
{
  vyre_release(k->allocator, k->keys, k->room * sizeof *k->keys);
  vyre_release(k->allocator, k->shared, k->types);
}

bool
vyre_aliases_compute(const vyre_module *module, uint32_t *out)
{
  const vyre_view *v = vyre_module_view(module);
  aliases k;
  bool good = aliases_begin(&k, module);
  for (uint32_t program = v->first[0]; program && good; program = v->next[program]) {
    for (uint32_t row = v->first[program]; row && good; row = v->next[row]) /* buffers are direct children of their program */
      good = VYRE_ROW_OP(v->op[row]) != VYRE_OP_buffer || aliases_add(&k, row);
    if (good)
      aliases_find(&k, 0, out);
  }
  aliases_end(&k);
  return good;
}
