/* Makes names unique within their program, program names within the module.
 *
 * In program order the first row with a name keeps it; a later one gets "name_1", or the next number whose name no row has.  So
 * what a row is called does not depend on the order in which names were given.  Expected O(rows): a name goes in a hash set once,
 * and for each doubled name the next number to try is remembered.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <string.h>

#define NUMBER_ROOM 16 /* "_4294967295" */

/* Keys (scope, name) -> value; scope is the program row, 0 for programs. */
typedef struct name_entry {
  uint32_t scope, name, value;
} name_entry;

typedef struct name_map {
  name_entry *entries; /* name 0: empty */
  size_t capacity, count;
} name_map;

static size_t
slot_of(const name_map *map, uint32_t scope, uint32_t name)
{
  uint64_t hash = ((uint64_t)scope << 32 | name) * 0x9e3779b97f4a7c15u;
  size_t slot = (size_t)(hash >> 32) & (map->capacity - 1);
  while (map->entries[slot].name && (map->entries[slot].scope != scope || map->entries[slot].name != name))
    slot = (slot + 1) & (map->capacity - 1);
  return slot;
}

static bool
map_grow(vyre_module *module, name_map *map)
{
  if (map->count + 1 <= map->capacity / 4 * 3)
    return true;
  name_map grown = {.capacity = map->capacity ? map->capacity * 2 : 64};
  grown.entries = table_resize(module, NULL, 0, grown.capacity * sizeof(*grown.entries));
  if (!grown.entries)
    return false;
  memset(grown.entries, 0, grown.capacity * sizeof(*grown.entries));
  for (size_t i = 0; i < map->capacity; i++)
    if (map->entries[i].name)
      grown.entries[slot_of(&grown, map->entries[i].scope, map->entries[i].name)] = map->entries[i];
  grown.count = map->count;
  if (map->entries)
    table_resize(module, map->entries, map->capacity * sizeof(*map->entries), 0);
  *map = grown;
  return true;
}

/* The entry of that key, made with value 0 if there is none; NULL: no memory. */
static name_entry *
map_at(vyre_module *module, name_map *map, uint32_t scope, uint32_t name, bool *out_new)
{
  if (!map_grow(module, map))
    return NULL;
  name_entry *entry = &map->entries[slot_of(map, scope, name)];
  *out_new = entry->name == 0;
  if (*out_new) {
    *entry = (name_entry){scope, name, 0};
    map->count++;
  }
  return entry;
}

static void
map_free(vyre_module *module, name_map *map)
{
  if (map->entries)
    table_resize(module, map->entries, map->capacity * sizeof(*map->entries), 0);
}

/* "_" and the number; how many characters. */
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

/* A name like `base` that is not yet in `map`, where it is put; 0: no memory.  `text` has room for base and a number. */
static uint32_t
fresh_name(vyre_module *module, name_map *map, uint32_t scope, uint32_t base, char *text)
{
  size_t length = strlen(text);
  bool is_new = false;
  name_entry *entry = map_at(module, map, scope, base, &is_new);
  if (!entry)
    return 0;
  uint32_t number = entry->value;
  uint32_t name;
  do {
    name = vyre_string_intern(module, text, length + put_number(text + length, ++number));
    if (!name || !map_at(module, map, scope, name, &is_new))
      return 0;
  } while (!is_new);
  map->entries[slot_of(map, scope, base)].value = number;
  return name;
}

static uint32_t
rename_row(vyre_module *module, name_map *map, uint32_t scope, uint32_t base)
{
  size_t length = strlen(module->texts + base);
  char *text = table_resize(module, NULL, 0, length + NUMBER_ROOM);
  if (!text)
    return 0;
  memcpy(text, module->texts + base, length + 1);
  uint32_t name = fresh_name(module, map, scope, base, text);
  table_resize(module, text, length + NUMBER_ROOM, 0);
  return name;
}

/* The program that a row stands in: of those from `program` on (0: the first). */
static uint32_t
program_at(const vyre_module *module, uint32_t program, uint32_t row)
{
  const vyre_view *view = &module->view;
  for (uint32_t next = program ? view->next[program] : view->first[0]; next && next <= row; next = view->next[next])
    program = next;
  return program;
}

/* Sets `doubled` bits: rows whose name another row before them has. */
static bool
find_doubled(vyre_module *module, name_map *map, uint8_t *doubled, bool *out_any)
{
  const uint32_t *names = module->column[COLUMN_NAME];
  uint32_t rows = module->side[COLUMN_NAME];
  uint32_t program = 0;
  for (uint32_t row = table_next_cell(names, 0, rows); row < rows; row = table_next_cell(names, row + 1, rows)) {
    program = program_at(module, program, row);
    bool is_new;
    if (!map_at(module, map, row == program ? 0 : program, names[row], &is_new))
      return false;
    if (!is_new) {
      doubled[row / 8] |= (uint8_t)(1u << row % 8);
      *out_any = true;
    }
  }
  return true;
}

static bool
rename_doubled(vyre_module *module, name_map *map, const uint8_t *doubled)
{
  uint32_t *names = module->column[COLUMN_NAME];
  uint32_t rows = module->side[COLUMN_NAME];
  uint32_t program = 0;
  for (uint32_t row = 1; row < rows; row++) {
    if (doubled[row / 8] == 0)
      row |= 7u; /* none of these eight */
    if ((doubled[row / 8] >> row % 8 & 1u) == 0)
      continue;
    program = program_at(module, program, row);
    uint32_t name = rename_row(module, map, row == program ? 0 : program, names[row]);
    if (!name)
      return false;
    names[row] = name;
  }
  return true;
}

bool
table_unique_names(vyre_module *module)
{
  if (!module->names_dirty || module->side[COLUMN_NAME] == 0) {
    module->names_dirty = false;
    return true;
  }
  name_map map = {0};
  size_t bytes = module->view.rows / 8 + 1;
  uint8_t *doubled = table_resize(module, NULL, 0, bytes);
  bool ok = doubled != NULL;
  bool any = false;
  if (ok) {
    memset(doubled, 0, bytes);
    ok = find_doubled(module, &map, doubled, &any) && (!any || rename_doubled(module, &map, doubled));
    table_resize(module, doubled, bytes, 0);
  }
  map_free(module, &map);
  if (ok)
    module->names_dirty = false;
  else
    table_fail(module);
  return ok;
}
