/* Address space of a module: how much is reserved, and how it grows.
 *
 * A pass holds addresses of columns, so they move only when no pass runs: while a module is built, and when it is sealed. In
 * between, a module has its reserved room, many times its rows. A process may have little address space in all, so room that is not
 * needed yet is reserved only if as much again could be reserved.
 *
 * A module's `room` is the number of rows that fit. Its space is one reservation of addresses for all columns. Each column has a
 * stretch of the space: `stretch` bytes, of which only the first are accessible.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/analyses.h"

#include <pthread.h>
#include <string.h>

/* Returns the bytes of the stretch of a column with `rows` rows. */
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

/* ---- spaces of destroyed modules ----
 *
 * A small module costs about thirty system calls and as many page faults. The spaces of a few destroyed modules are therefore kept
 * for the next ones, with their pages, if the default allocator made them. Builds with sanitizers keep none, so that an access to a
 * destroyed module faults there. ------------ */

#ifdef VYRE_SANITIZED
enum { KEPT_SPACES = 1, KEEPS_SPACES = false };
#else
enum { KEPT_SPACES = 4, KEEPS_SPACES = true };
#endif
#define KEPT_SPACE_MOST ((size_t)4 << 20) /* accessible bytes of a space that is kept */

typedef struct kept_space {
  char *space; /* owned */
  size_t stretch;
  size_t accessible[COLUMN__COUNT];
} kept_space;

/* Address spaces that modules have released, for reuse. Threads only try the lock and never wait for it. If a process forks
 * while another thread holds the lock, the lock stays locked in the child. */
static kept_space kept_spaces[KEPT_SPACES];
static uint32_t kept_count;
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;

static bool
is_default(const vyre_allocator *a)
{
  const vyre_allocator *own = vyre_allocator_default();
  return a->reserve == own->reserve && a->commit == own->commit && a->release == own->release;
}

/* Pops the most recently kept space with that stretch, or with any stretch if it is 0. Returns false if there is none, or if
 * another thread has the lock. */
static bool
pop_kept_space(size_t stretch, kept_space *out)
{
  if (pthread_mutex_trylock(&kept_lock) != 0)
    return false;
  uint32_t i = kept_count;
  while (i > 0 && stretch && kept_spaces[i - 1].stretch != stretch)
    i--;
  if (i > 0) {
    *out = kept_spaces[i - 1];
    memmove(&kept_spaces[i - 1], &kept_spaces[i], (--kept_count - (i - 1)) * sizeof *kept_spaces);
  }
  pthread_mutex_unlock(&kept_lock);
  return i > 0;
}

/* Keeps *space. Returns whether a space must be released; *space is then that space: the oldest kept one, or the given one. */
static bool
exchange_kept_space(kept_space *space)
{
  size_t bytes = 0;
  for (uint32_t column = 0; column < COLUMN__COUNT; column++)
    bytes += space->accessible[column];
  if (!KEEPS_SPACES || bytes > KEPT_SPACE_MOST || pthread_mutex_trylock(&kept_lock) != 0)
    return true;
  const kept_space first = kept_spaces[0];
  const bool is_full = kept_count == KEPT_SPACES;
  if (is_full)
    memmove(&kept_spaces[0], &kept_spaces[1], --kept_count * sizeof *kept_spaces);
  kept_spaces[kept_count++] = *space;
  *space = first;
  pthread_mutex_unlock(&kept_lock);
  return is_full;
}

/* Releases all kept spaces, when address space is short and when the library is unloaded. Returns whether there were any. */
static bool
release_kept_spaces(void)
{
  const vyre_allocator *own = vyre_allocator_default();
  kept_space kept;
  bool any = false;
  while (pop_kept_space(0, &kept)) {
    own->release(own->user, kept.space, kept.stretch * COLUMN__COUNT);
    any = true;
  }
  return any;
}

__attribute__((destructor)) static void
unload(void)
{
  (void)release_kept_spaces();
}

void
vyre_module_column_pages(const vyre_module *module, const uint32_t *column, void **start, size_t *bytes)
{
  const uint32_t at = (uint32_t)(((const char *)column - module->space) / (ptrdiff_t)module->stretch);
  *start = module->space + at * module->stretch;
  *bytes = module->accessible[at];
}

void
vyre_module_watch_pages(vyre_module *module, void (*function)(void *user), void *user)
{
  void (*const other)(void *) = module->on_release;
  void *const other_user = module->on_release_user;
  module->on_release = NULL;
  if (other && function && other_user != user)
    other(other_user);
  module->on_release = function;
  module->on_release_user = user;
}

void
table_release_room(vyre_module *module)
{
  void (*const watch)(void *) = module->on_release;
  module->on_release = NULL;
  if (watch)
    watch(module->on_release_user);
  const vyre_allocator *a = &module->allocator;
  kept_space kept = {.space = module->space, .stretch = module->stretch};
  memcpy(kept.accessible, module->accessible, sizeof kept.accessible);
  if (!is_default(a) || exchange_kept_space(&kept))
    a->release(a->user, kept.space, kept.stretch * COLUMN__COUNT);
}

bool
table_commit(const vyre_allocator *a, char *stretch, size_t *accessible, size_t old_bytes, size_t bytes)
{
  if (old_bytes < *accessible)
    memset(stretch + old_bytes, 0, (bytes < *accessible ? bytes : *accessible) - old_bytes);
  if (bytes <= *accessible)
    return true;
  if (!a->commit(a->user, stretch, *accessible, bytes) &&
      !(is_default(a) && release_kept_spaces() && a->commit(a->user, stretch, *accessible, bytes)))
    return false;
  *accessible = bytes;
  return true;
}

/* ---- room ---- */

static char *
reserve_space(const vyre_allocator *a, size_t bytes)
{
  char *space = a->reserve(a->user, bytes);
  return !space && release_kept_spaces() ? a->reserve(a->user, bytes) : space;
}

/* Reserves space that is not needed yet. Returns NULL if it is refused, or if as much again would be refused. */
static char *
reserve_wish(const vyre_allocator *a, size_t bytes)
{
  char *space = reserve_space(a, bytes);
  void *rest = space ? reserve_space(a, bytes) : NULL;
  if (rest)
    a->release(a->user, rest, bytes);
  else if (space)
    a->release(a->user, space, bytes);
  return rest ? space : NULL;
}

/* Reserves space for *rows rows. If that is refused, tries fewer, and finally `least` rows if they are needed. Sets *rows to the
 * number reserved. */
static char *
reserve(const vyre_allocator *a, uint32_t least, bool needed, uint32_t *rows, size_t *accessible)
{
  kept_space kept;
  if (is_default(a) && pop_kept_space(stretch_of(*rows), &kept)) {
    memcpy(accessible, kept.accessible, sizeof kept.accessible);
    return kept.space;
  }
  for (; *rows > least + least / 4; *rows = least + (*rows - least) / 2) {
    char *space = reserve_wish(a, stretch_of(*rows) * COLUMN__COUNT);
    if (space)
      return space;
  }
  *rows = least;
  return needed ? reserve_space(a, stretch_of(least) * COLUMN__COUNT) : NULL;
}

/* Copies each column to a new space, and commits as much there. */
static bool
copy_columns(const vyre_module *module, char *space, size_t stretch, size_t *accessible)
{
  const vyre_allocator *a = &module->allocator;
  for (uint32_t column = 0; column < COLUMN__COUNT; column++) {
    const size_t bytes = module->committed[column];
    const size_t rows = column < COLUMN_SIDE ? module->view.rows : module->side[column];
    char *to = space + column * stretch;
    if (bytes && !table_commit(a, to, &accessible[column], 0, bytes))
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
  const uint32_t **const shown[COLUMN_SIDE] = {
      [COLUMN_OP] = &view->op,     [COLUMN_IMM] = &view->imm,     [COLUMN_IMM_HI] = &view->imm_hi, [COLUMN_A] = &view->a,
      [COLUMN_B] = &view->b,       [COLUMN_C] = &view->c,         [COLUMN_PARENT] = &view->parent, [COLUMN_PREV] = &view->prev,
      [COLUMN_NEXT] = &view->next, [COLUMN_FIRST] = &view->first, [COLUMN_LAST] = &view->last,
  };
  const uint32_t analyses = vyre_analyses_shown(view);
  for (uint32_t column = 0; column < COLUMN__COUNT; column++)
    module->column[column] = (uint32_t *)(void *)(module->space + column * module->stretch + column * TABLE_LINE_BYTES);
  for (uint32_t column = 0; column < COLUMN_SIDE; column++)
    *shown[column] = module->column[column];
  vyre_module_show_analyses(module, analyses);
}

/* Moves the columns to a larger room, of `least` to `most` rows. Returns false if it is refused. */
static bool
make_room(vyre_module *module, uint32_t least, uint32_t most, bool needed)
{
  const vyre_allocator *a = &module->allocator;
  uint32_t rows = most < module->max_rows ? most : module->max_rows;
  least = least < module->max_rows ? least : module->max_rows;
  size_t accessible[COLUMN__COUNT] = {0};
  char *space = reserve(a, least, needed, &rows, accessible);
  if (!space)
    return false;
  if (!copy_columns(module, space, stretch_of(rows), accessible)) {
    a->release(a->user, space, stretch_of(rows) * COLUMN__COUNT);
    return false;
  }
  if (module->space)
    table_release_room(module);
  module->space = space;
  memcpy(module->accessible, accessible, sizeof accessible);
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
  if (module->room / TABLE_ROOM_LOW < module->view.rows) /* if it is refused, the room suffices until a pass needs more */
    table_wish_room(module, table_room_for(module->view.rows));
}
