/* The initial contents of private memory and constant tables.
 *
 * They are zero, or the words of the initializer in layout order without gaps; the steps of the path must then be literals. Unset
 * memory has no value: a pass that removed a store of zero as redundant would leave a defined location undefined. O(steps and the
 * members before them).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/ir.h"
#include "vyre/view.h"

static uint32_t
words_a_scalar(vyre_type type)
{
  return vyre_kind_bits(VYRE_TYPE_KIND(type)) == 64 ? 2 : 1;
}

static uint64_t
words_of(const vyre_module *module, vyre_type_id type)
{
  if (type < 256)
    return (uint64_t)VYRE_TYPE_LANES((vyre_type)type) * words_a_scalar((vyre_type)type);
  const vyre_type_info info = vyre_type_get(module, type);
  uint64_t words = 0;
  if (info.form != VYRE_FORM_STRUCT)
    return info.form == VYRE_FORM_WORDS ? 0 : words_of(module, info.element) * info.count;
  for (uint32_t i = 0; i < info.count; i++)
    words += words_of(module, info.members[i].type);
  return words;
}

/* Returns the number of initializer words before the part of the type that a step with `index` selects. */
static uint64_t
words_before(const vyre_module *module, vyre_type_id type, uint32_t index)
{
  if (type < 256)
    return (uint64_t)index * words_a_scalar((vyre_type)type);
  const vyre_type_info info = vyre_type_get(module, type);
  uint64_t words = 0;
  if (info.form != VYRE_FORM_STRUCT)
    return words_of(module, info.element) * index;
  for (uint32_t i = 0; i < index && i < info.count; i++)
    words += words_of(module, info.members[i].type);
  return words;
}

static uint64_t
scalar_at(const uint32_t *words, uint32_t count, uint64_t at, vyre_type type)
{
  const uint32_t bits = vyre_kind_bits(VYRE_TYPE_KIND(type));
  uint64_t value = at < count ? words[at] : 0;
  if (bits == 64)
    value |= (uint64_t)(at + 1 < count ? words[at + 1] : 0) << 32;
  return VYRE_TYPE_KIND(type) == VYRE_BOOL ? value != 0 : value & UINT64_MAX >> (64 - bits);
}

bool
vyre_path_initial(const vyre_module *module, uint32_t path, uint64_t *out_bits)
{
  const vyre_view *v = vyre_module_view(module);
  const uint32_t buffer = vyre_buffer_of(v, path);
  const vyre_space space = VYRE_BUFFER_SPACE(v->imm_hi[buffer]);
  if ((space != VYRE_SPACE_PRIVATE && space != VYRE_SPACE_CONSTANT) || (v->imm_hi[buffer] & VYRE_ACCESS_UNSET))
    return false;
  const vyre_type_id type = vyre_path_type(module, (vyre_row){path});
  if (type >= 256 || !vyre_kind_is_scalar(VYRE_TYPE_KIND((vyre_type)type)))
    return false;
  const vyre_buffer_info *info = vyre_buffer_info_of((vyre_module *)(uintptr_t)module, (vyre_row){buffer});
  uint64_t at = 0;
  uint32_t count = 0;
  *out_bits = 0;
  if (!info || info->initializer == UINT32_MAX)
    return true;
  for (uint32_t step = path; step != buffer; step = v->a[step]) {
    if ((VYRE_ROW_FLAGS(v->op[step]) & VYRE_ROW_IMM) == 0)
      return false;
    at += words_before(module, vyre_path_type(module, (vyre_row){v->a[step]}), v->imm[step]);
  }
  if (!vyre_path_in_bounds(module, path))
    return false;
  const uint32_t *words = vyre_module_initializer(module, info->initializer, &count);
  *out_bits = scalar_at(words, count, at, (vyre_type)type);
  for (uint32_t lane = 1; lane < VYRE_TYPE_LANES((vyre_type)type); lane++)
    if (scalar_at(words, count, at + (uint64_t)lane * words_a_scalar((vyre_type)type), (vyre_type)type) != *out_bits)
      return false;
  return true;
}
