/* Write generations of columns, and analyses that stay valid between runs of pipelines.
 *
 * Edits set bits of `written`.  A query then gives each written column a new number, which no other module has.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/analyses.h"
#include "table.h"

#include <stdatomic.h>

static _Atomic uint64_t last_generation;

/* Gives the written columns new generations.  Writes to the table invalidate the kept analyses. */
static void
number_writes(vyre_module *module)
{
  const uint32_t written = module->written | (module->sealed ? 0 : TABLE_WROTE_TABLE);
  if (written & TABLE_WROTE_TABLE)
    module->kept_analyses = 0;
  for (uint32_t column = 0; column < COLUMN__COUNT; column++)
    if (written >> column & 1)
      module->generation[column] = atomic_fetch_add_explicit(&last_generation, 1, memory_order_relaxed) + 1;
  module->written = 0;
}

static uint32_t
find_column(const vyre_module *module, const uint32_t *column)
{
  uint32_t at = 0;
  while (at < COLUMN__COUNT && module->column[at] != column)
    at++;
  return at;
}

uint64_t
vyre_module_generation(vyre_module *module, const uint32_t *column)
{
  const uint32_t at = find_column(module, column);
  number_writes(module);
  return at < COLUMN__COUNT ? module->generation[at] : 0;
}

void
vyre_module_mark_written(vyre_module *module, const uint32_t *column)
{
  const uint32_t at = find_column(module, column);
  module->written |= at < COLUMN__COUNT ? 1u << at : 0;
}

void
vyre_module_keep_analyses(vyre_module *module, uint32_t analyses)
{
  vyre_module_drop_analyses(module, (VYRE_ANALYSES & ~analyses) | VYRE_COLUMNS, false);
  vyre_module_show_analyses(module, 0);
  number_writes(module);
  module->kept_analyses = module->sealed ? module->made & VYRE_ANALYSES : 0;
}

uint32_t
vyre_module_kept_analyses(vyre_module *module)
{
  number_writes(module);
  return module->kept_analyses & module->made;
}
