/* Counts and enumerates the scalars of a memory type in layout order, as initializers list them.
 *
 * Each type is counted once; inner types have smaller ids and are counted first. The enumeration skips parts without scalars. It
 * takes amortized O(1) per scalar.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "memory.h"

#include "base/grow.h"

uint64_t
text_scalar_count(const text_scalars *scalars, const vyre_module *module, vyre_type_id type)
{
  if (type < VYRE_FIRST_TYPE)
    return vyre_type_get(module, type).size ? VYRE_TYPE_LANES(type) : UINT64_MAX;
  return type - VYRE_FIRST_TYPE < scalars->count ? scalars->counts[type - VYRE_FIRST_TYPE] : UINT64_MAX;
}

static uint64_t
add_counts(uint64_t a, uint64_t b)
{
  return a > UINT32_MAX || b > UINT32_MAX || a + b > UINT32_MAX ? UINT64_MAX : a + b;
}

static uint64_t
count_of(const text_scalars *scalars, const vyre_module *module, vyre_type_id type)
{
  vyre_type_info info = vyre_type_get(module, type);
  uint64_t count = 0;
  if (info.form == VYRE_FORM_MATRIX)
    return (uint64_t)info.count * VYRE_TYPE_LANES(info.element);
  if (info.form == VYRE_FORM_ARRAY) {
    uint64_t each = text_scalar_count(scalars, module, info.element);
    if (info.count == 0 || each > UINT32_MAX || each * info.count > UINT32_MAX)
      return UINT64_MAX;
    return each * info.count;
  }
  for (uint32_t i = 0; info.form == VYRE_FORM_STRUCT && i < info.count; i++)
    count = add_counts(count, text_scalar_count(scalars, module, info.members[i].type));
  return count;
}

bool
text_scalars_update(text_scalars *scalars, const vyre_module *module, const vyre_allocator *allocator)
{
  uint32_t count = vyre_type_count(module) - VYRE_FIRST_TYPE;
  if (count <= scalars->count)
    return true;
  if (!vyre_grow(allocator, &scalars->counts, &scalars->capacity, count, sizeof *scalars->counts))
    return false;
  scalars->allocator = allocator;
  for (uint32_t i = scalars->count; i < count; i++) {
    scalars->count = i; /* later types are not counted yet */
    uint64_t scalar_count = count_of(scalars, module, VYRE_FIRST_TYPE + i);
    scalars->counts[i] = scalar_count;
  }
  scalars->count = count;
  return true;
}

void
text_scalars_free(text_scalars *scalars)
{
  if (scalars->counts)
    scalars->allocator->resize(scalars->allocator->user, scalars->counts, scalars->capacity * sizeof(uint64_t), 0);
  *scalars = (text_scalars){0};
}

static void
push_type(text_walk *walk, vyre_type_id type)
{
  uint64_t count = text_scalar_count(walk->scalars, walk->module, type);
  if (count == 0)
    return;
  if (walk->depth == TEXT_WALK_DEPTH || count == UINT64_MAX) {
    walk->deep = true;
    return;
  }
  walk->frames[walk->depth].type = type;
  walk->frames[walk->depth++].next = 0;
}

void
text_walk_start(text_walk *walk, const text_scalars *scalars, const vyre_module *module, vyre_type_id type)
{
  walk->module = module;
  walk->scalars = scalars;
  walk->deep = false;
  walk->depth = 0;
  push_type(walk, type);
}

vyre_type
text_walk_next(text_walk *walk)
{
  while (walk->depth && !walk->deep) {
    vyre_type_id type = walk->frames[walk->depth - 1].type;
    uint32_t *next = &walk->frames[walk->depth - 1].next;
    vyre_type_info info = vyre_type_get(walk->module, type);
    bool matrix = info.form == VYRE_FORM_MATRIX;
    uint32_t count = matrix ? info.count * VYRE_TYPE_LANES(info.element) : info.count;
    count = info.form == VYRE_FORM_WORDS ? 0 : count;
    if (*next >= count) {
      walk->depth--;
      continue;
    }
    uint32_t index = (*next)++;
    if (matrix || info.form == VYRE_FORM_VALUE)
      return VYRE_TYPE(VYRE_TYPE_KIND((vyre_type)info.element), 1);
    push_type(walk, info.form == VYRE_FORM_ARRAY ? info.element : info.members[index].type);
  }
  return 0;
}
