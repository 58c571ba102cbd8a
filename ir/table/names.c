/* Makes names unique within their program, and program names within the module.
 *
 * In program order the first row with a name keeps it. A later one gets "name_1", or the next number whose name is free. So a name
 * does not depend on the order in which names were set. Expected O(rows): an array has the row that uses each string, and for each
 * duplicated name the last number that was tried. Scratch: 4 bytes for each byte of text.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <string.h>

#define NUMBER_ROOM 16 /* "_4294967295" */

typedef struct name_use {
  uint32_t row;    /* the last visited row that keeps the name, or 0 */
  uint32_t number; /* the last number that was tried for other rows with the name */
} name_use;

typedef struct names {
  vyre_module *module;
  name_use *uses; /* indexed by string / 2: strings are at least 2 bytes apart */
  uint32_t capacity;
} names;

/* Makes room for the uses of all strings. */
static bool
cover_strings(names *n)
{
  const uint32_t capacity = n->capacity, needed = n->module->texts_size / 2 + 1;
  if (needed > capacity && !table_array_grow(n->module, &n->uses, &n->capacity, needed, sizeof(*n->uses)))
    return false;
  if (n->capacity > capacity)
    memset(n->uses + capacity, 0, (n->capacity - capacity) * sizeof(*n->uses));
  return true;
}

/* Claims a name for the row. Returns false if a row from `first` on has it. */
static bool
claim_name(const names *n, uint32_t name, uint32_t first, uint32_t row)
{
  name_use *use = &n->uses[name / 2];
  if (use->row >= first)
    return false;
  *use = (name_use){row, 0};
  return true;
}

/* Writes "_" and the number. Returns the number of characters. */
static size_t
put_number(char *text, uint32_t number)
{
  size_t length = 2;
  for (uint32_t left = number / 10; left; left /= 10)
    length++;
  text[0] = '_';
  for (size_t k = length - 1; k; k--, number /= 10)
    text[k] = (char)('0' + number % 10);
  return length;
}

/* Gives `row` a new name, because its name belongs to another row from `first` on. `text` has the name and room for a number. */
static bool
rename_as(names *n, uint32_t first, uint32_t row, char *text)
{
  const size_t length = strlen(text);
  uint32_t *name = &n->module->column[COLUMN_NAME][row], number = n->uses[*name / 2].number, made;
  do {
    made = vyre_string_intern(n->module, text, length + put_number(text + length, ++number));
    if (!made || !cover_strings(n))
      return false;
  } while (!claim_name(n, made, first, row));
  n->uses[*name / 2].number = number;
  *name = made;
  return true;
}

static bool
rename_row(names *n, uint32_t first, uint32_t row)
{
  const char *name = n->module->texts + n->module->column[COLUMN_NAME][row];
  const size_t length = strlen(name);
  char *text = table_resize(n->module, NULL, 0, length + NUMBER_ROOM);
  if (!text)
    return false;
  memcpy(text, name, length + 1);
  const bool renamed = rename_as(n, first, row, text);
  table_resize(n->module, text, length + NUMBER_ROOM, 0);
  return renamed;
}

/* Renames duplicates among the rows from `first` to before `end`. */
static bool
rename_doubled(names *n, uint32_t first, uint32_t end)
{
  const uint32_t *cells = n->module->column[COLUMN_NAME];
  bool doubled = false;
  for (uint32_t row = table_next_cell(cells, first, end); row < end; row = table_next_cell(cells, row + 1, end))
    doubled |= !claim_name(n, cells[row], first, row);
  if (!doubled)
    return true;
  for (uint32_t row = table_next_cell(cells, first, end); row < end; row = table_next_cell(cells, row + 1, end))
    if (n->uses[cells[row] / 2].row != row && !rename_row(n, first, row))
      return false;
  return true;
}

static bool
rename_programs(names *n)
{
  const vyre_view *view = &n->module->view;
  const uint32_t *cells = n->module->column[COLUMN_NAME], held = n->module->side[COLUMN_NAME];
  for (uint32_t program = view->first[0]; program && program < held; program = view->next[program])
    if (cells[program])
      (void)claim_name(n, cells[program], 1, program);
  for (uint32_t program = view->first[0]; program && program < held; program = view->next[program])
    if (cells[program] && n->uses[cells[program] / 2].row != program && !rename_row(n, 1, program))
      return false;
  memset(n->uses, 0, n->capacity * sizeof(*n->uses)); /* programs and rows may have equal names */
  return true;
}

static bool
rename_all(names *n)
{
  const vyre_view *view = &n->module->view;
  const uint32_t held = n->module->side[COLUMN_NAME];
  if (!cover_strings(n) || !rename_programs(n))
    return false;
  for (uint32_t program = view->first[0], next; program && program < held; program = next) {
    next = view->next[program];
    if (!rename_doubled(n, program + 1, next && next < held ? next : held))
      return false;
  }
  return true;
}

bool
table_unique_names(vyre_module *module)
{
  if (module->names_dirty && module->side[COLUMN_NAME]) {
    names n = {.module = module};
    const bool ok = rename_all(&n);
    table_array_free(module, &n.uses, &n.capacity, sizeof(*n.uses));
    if (!ok) {
      table_fail(module);
      return false;
    }
  }
  module->names_dirty = false;
  return true;
}
