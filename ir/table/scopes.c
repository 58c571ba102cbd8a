/* Source scopes of lines, interned: equal scopes have equal numbers, and a scope follows the scopes that it names.
 *
 * O(1) each.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#define SCOPE_MAX (UINT32_MAX >> TABLE_PLACE_BITS)

static uint64_t
hash_of_info(const vyre_scope_info *info)
{
  uint64_t hash = info->file;
  const uint32_t rest[] = {info->entity, info->caller, info->call_line, info->call, info->variable,
                           info->index,  info->values, info->order,     info->depth};
  for (size_t i = 0; i < sizeof(rest) / sizeof(*rest); i++)
    hash = (hash ^ hash >> 32 ^ rest[i]) * 0x9e3779b97f4a7c15u;
  return hash >> 32 ^ hash >> 16;
}

static uint64_t
hash_of(const vyre_module *module, uint32_t scope)
{
  return hash_of_info(&module->scopes[scope].info);
}

static bool
is_same(const vyre_scope_info *a, const vyre_scope_info *b)
{
  return a->file == b->file && a->entity == b->entity && a->caller == b->caller && a->call_line == b->call_line &&
         a->call == b->call && a->variable == b->variable && a->index == b->index && a->values == b->values &&
         a->order == b->order && a->depth == b->depth;
}

/* Returns the slot that has the scope, or the empty slot for it. The set has room. */
static uint32_t *
slot_of(const vyre_module *module, const vyre_scope_info *info)
{
  const uint32_t mask = module->scope_set.capacity - 1;
  uint32_t slot = (uint32_t)hash_of_info(info) & mask;
  for (uint32_t known; (known = module->scope_set.slots[slot]) != 0; slot = (slot + 1) & mask)
    if (is_same(&module->scopes[known].info, info))
      break;
  return &module->scope_set.slots[slot];
}

/* Returns the nesting depth of a scope from that of the scopes that it names. */
static uint32_t
depth_of(const vyre_module *module, const vyre_scope_info *info)
{
  const uint32_t named[] = {info->caller, info->variable, info->values};
  uint32_t depth = 0;
  for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++)
    if (named[i] && module->scopes[named[i]].depth >= depth)
      depth = module->scopes[named[i]].depth + 1;
  return depth;
}

vyre_scope
vyre_scope_intern(vyre_module *module, const vyre_scope_info *given)
{
  vyre_scope_info info = *given;
  if (info.entity == 0 || info.caller >= module->scope_count)
    info.caller = info.call_line = info.call = 0;
  if (info.variable >= module->scope_count || info.values >= module->scope_count)
    info.variable = info.index = info.values = info.order = info.depth = 0;
  if (depth_of(module, &info) > VYRE_SCOPE_DEPTH) /* If it is too deep, first drops the variable, then the caller. */
    info.variable = info.index = info.values = info.order = info.depth = 0;
  if (depth_of(module, &info) > VYRE_SCOPE_DEPTH)
    info.caller = info.call_line = info.call = 0;
  if (info.file == 0 && info.entity == 0 && info.variable == 0)
    return 0;
  if (module->last_scope && is_same(&module->scopes[module->last_scope].info, &info))
    return module->last_scope;
  if (!table_set_grow(module, &module->scope_set, hash_of))
    return 0;
  uint32_t *slot = slot_of(module, &info);
  if (*slot)
    return module->last_scope = *slot;
  const uint32_t next = module->scope_count ? module->scope_count : 1;
  if (next > SCOPE_MAX ||
      !table_array_grow(module, &module->scopes, &module->scope_capacity, (uint64_t)next + 1, sizeof(*module->scopes)))
    return 0;
  module->scopes[next] = (table_scope){info, depth_of(module, &info)};
  module->scope_count = next + 1;
  module->scope_set.count++;
  return module->last_scope = *slot = next;
}

vyre_scope_info
vyre_scope_get(const vyre_module *module, vyre_scope scope)
{
  return scope && scope < module->scope_count ? module->scopes[scope].info : (vyre_scope_info){0};
}

bool
table_index_scopes(vyre_module *module)
{
  for (uint32_t scope = 1; scope < module->scope_count; scope++) {
    table_scope *s = &module->scopes[scope];
    const bool follows = s->info.caller < scope && s->info.variable < scope && s->info.values < scope;
    if (!follows || (s->info.caller && !s->info.entity) || !table_set_grow(module, &module->scope_set, hash_of))
      return false;
    uint32_t *slot = slot_of(module, &s->info);
    s->depth = depth_of(module, &s->info);
    if (*slot || s->depth > VYRE_SCOPE_DEPTH)
      return false;
    *slot = scope;
    module->scope_set.count++;
  }
  return true;
}
