/* Address space of a module: how much is reserved, and how it gets more.
 *
 * A pass holds addresses of columns, so they move only when no pass runs: while a module is built, and when it is sealed.  In
 * between a module has the room that it was given, many times its rows.  A process may be allowed little address space in all, so
 * room that is not needed yet is reserved only if as much again could be reserved.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/analyses.h"

#include <string.h>

static size_t
stretch_of(uint32_t rows)
{
  const size_t bytes = (size_t)rows * sizeof(uint32_t) + TABLE_STAGGER;
  return (bytes + TABLE_PAGE - 1) & ~(size_t)(TABLE_PAGE - 1);
}

size_t
table_room_bytes(const vyre_module *module)
{
  return module->stretch * COLUMN__COUNT;
}

/* NULL: it is refused, or would leave less than it takes. */
static char *
reserve_wish(const vyre_allocator *a, size_t bytes)
{
  char *space = a->reserve(a->user, bytes);
  void *rest = space ? a->reserve(a->user, bytes) : NULL;
  if (rest)
    a->release(a->user, rest, bytes);
  else if (space)
    a->release(a->user, space, bytes);
  return rest ? space : NULL;
}

/* Space for *rows rows or, where that is refused, for fewer, but about `least`; how many is told. */
static char *
reserve(const vyre_allocator *a, uint32_t least, bool needed, uint32_t *rows)
{
  for (; *rows > least + least / 4; *rows = least + (*rows - least) / 2) {
    char *space = reserve_wish(a, stretch_of(*rows) * COLUMN__COUNT);
    if (space)
      return space;
  }
  *rows = least;
  return needed ? a->reserve(a->user, stretch_of(least) * COLUMN__COUNT) : NULL;
}

/* Commits as much of each column there as here, and copies its contents. */
static bool
copy_columns(const vyre_module *module, char *space, size_t stretch)
{
  const vyre_allocator *a = &module->allocator;
  for (uint32_t column = 0; column < COLUMN__COUNT; column++) {
    const size_t bytes = module->committed[column];
    const size_t rows = column < COLUMN_SIDE ? module->view.rows : module->side[column];
    char *to = space + column * stretch;
    if (bytes && !a->commit(a->user, to, 0, bytes))
      return false;
    if (bytes && rows)
      memcpy(to + column * TABLE_LINE_BYTES, module->column[column], rows * sizeof(uint32_t));
  }
  return true;
}

static void
show_columns(vyre_module *module)
{
  vyre_view *view = &module->view;
  const uint32_t **const shown[COLUMN_SIDE] = {&view->op,     &view->imm,  &view->imm_hi, &view->a,     &view->b,   &view->c,
                                               &view->parent, &view->prev, &view->next,   &view->first, &view->last};
  const uint32_t analyses = vyre_analyses_shown(view);
  for (uint32_t column = 0; column < COLUMN__COUNT; column++)
    module->column[column] = (uint32_t *)(void *)(module->space + column * module->stretch + column * TABLE_LINE_BYTES);
  for (uint32_t column = 0; column < COLUMN_SIDE; column++)
    *shown[column] = module->column[column];
  vyre_module_show_analyses(module, analyses);
}

/* Replaces the room by a larger one, of `least` rows to `most`. */
static bool
make_room(vyre_module *module, uint32_t least, uint32_t most, bool needed)
{
  const vyre_allocator *a = &module->allocator;
  uint32_t rows = most < module->max_rows ? most : module->max_rows;
  least = least < module->max_rows ? least : module->max_rows;
  char *space = reserve(a, least, needed, &rows);
  if (!space)
    return false;
  if (!copy_columns(module, space, stretch_of(rows))) {
    a->release(a->user, space, stretch_of(rows) * COLUMN__COUNT);
    return false;
  }
  if (module->space)
    a->release(a->user, module->space, table_room_bytes(module));
  module->space = space;
  module->stretch = stretch_of(rows);
  module->room = rows;
  show_columns(module);
  return true;
}

bool
table_need_room(vyre_module *module, uint32_t need, uint32_t wish)
{
  return make_room(module, need, wish, true);
}

void
table_wish_room(vyre_module *module, uint32_t wish)
{
  if (!module->failed && module->room < wish && module->room < module->max_rows)
    (void)make_room(module, module->room + 1, wish, false);
}

void
table_seal_room(vyre_module *module)
{
  module->building = false;
  if (module->room / TABLE_ROOM_LOW < module->view.rows) /* if that is refused, the room is enough until a pass needs more */
    table_wish_room(module, table_room_for(module->view.rows));
}
