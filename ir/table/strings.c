/* Interned text: one growing buffer. A string is the offset of its first byte, and a hash set finds equal texts.
 *
 * A text ends at its first zero byte. Limit: 4 GiB of text in a module. O(length) each.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static uint64_t
hash_of(const vyre_module *module, uint32_t string)
{
  const char *text = module->texts + string;
  return XXH3_64bits(text, strlen(text));
}

/* Makes offset 0 the empty text. */
static bool
start_texts(vyre_module *module)
{
  if (module->texts_size)
    return true;
  if (!table_array_grow(module, &module->texts, &module->texts_capacity, 64, 1))
    return false;
  module->texts[0] = '\0';
  module->texts_size = 1;
  return true;
}

vyre_string
vyre_string_intern(vyre_module *module, const char *text, size_t length)
{
  length = text ? strnlen(text, length) : 0;
  if (length == 0 || !start_texts(module) || !table_set_grow(module, &module->strings, hash_of))
    return 0;
  uint32_t mask = module->strings.capacity - 1;
  uint32_t slot = (uint32_t)XXH3_64bits(text, length) & mask;
  for (uint32_t string; (string = module->strings.slots[slot]) != 0; slot = (slot + 1) & mask) {
    const char *known = module->texts + string;
    if (strncmp(known, text, length) == 0 && known[length] == '\0')
      return string;
  }
  /* The text may be in the buffer that is about to move. */
  uintptr_t inside = (uintptr_t)text - (uintptr_t)module->texts;
  uint64_t needed = (uint64_t)module->texts_size + length + 1;
  if (!table_array_grow(module, &module->texts, &module->texts_capacity, needed, 1))
    return 0;
  if (inside < module->texts_size)
    text = module->texts + inside;
  uint32_t string = module->texts_size;
  memmove(module->texts + string, text, length);
  module->texts[string + length] = '\0';
  module->texts_size = (uint32_t)needed;
  module->strings.slots[slot] = string;
  module->strings.count++;
  return string;
}

bool
table_index_strings(vyre_module *module)
{
  for (uint32_t string = 1; string < module->texts_size;) {
    const char *text = module->texts + string;
    size_t length = strlen(text);
    if (length == 0 || !table_set_grow(module, &module->strings, hash_of))
      return false;
    uint32_t mask = module->strings.capacity - 1;
    uint32_t slot = (uint32_t)XXH3_64bits(text, length) & mask;
    for (uint32_t known; (known = module->strings.slots[slot]) != 0; slot = (slot + 1) & mask)
      if (strcmp(module->texts + known, text) == 0)
        return false;
    module->strings.slots[slot] = string;
    module->strings.count++;
    string += (uint32_t)length + 1;
  }
  return true;
}

const char *
vyre_string_text(const vyre_module *module, vyre_string string)
{
  return string < module->texts_size ? module->texts + string : "";
}
