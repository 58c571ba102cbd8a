/* VIR0: nesting of types and rows. Linear.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vir0.h"

static uint32_t
depth_of(const uint32_t *depths, vyre_type_id type)
{
  return type < 256 ? 0 : depths[type - 256];
}

uint32_t
vir0_deep_type(const vyre_module *module, uint32_t *depths)
{
  for (uint32_t i = 0; i < module->type_count; i++) {
    const table_type *type = &module->types[i];
    uint32_t deepest = 0;
    const bool words = type->info.form == VYRE_FORM_WORDS, members = words || type->info.form == VYRE_FORM_STRUCT;
    if (!members || words)
      deepest = depth_of(depths, type->info.element);
    for (uint32_t k = 0; members && k < type->info.count; k++) {
      uint32_t depth = depth_of(depths, module->members[type->members + k].type);
      deepest = depth > deepest ? depth : deepest;
    }
    depths[i] = deepest + 1;
    if (depths[i] > VIR0_MAX_TYPE_DEPTH)
      return 256 + i;
  }
  return 0;
}

/* Tracks the depth from a row to the parent of the next one. Each step closes a region that an earlier row opened, so all steps
 * together are O(rows). */
uint32_t
vir0_deep_row(const vyre_module *module)
{
  const uint32_t *parent = module->view.parent;
  uint32_t depth = 0;
  for (uint32_t row = 1; row < module->view.rows; row++) {
    for (uint32_t up = row - 1; up != parent[row]; up = parent[up])
      depth--;
    if (++depth > VIR0_MAX_ROW_DEPTH)
      return row;
  }
  return 0;
}
