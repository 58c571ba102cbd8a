/* Finds the values of named numbers, such as op.add and kind.f32.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernel.h"

#include <string.h>

static const struct {
  const char *name;
  uint32_t value;
} constants[] = {
#define KERNEL_CONSTANT(name, value) {name, value},
#include "constants.def"
};

static bool
is(const char *name, uint32_t length, const char *other)
{
  return strlen(other) == length && memcmp(name, other, length) == 0;
}

bool
kernel_constant(const kernel_file *file, const char *name, uint32_t length, uint32_t *out)
{
  for (uint32_t i = 0; i < file->number_count; i++)
    if (file->numbers[i].name.length == length && memcmp(file->text + file->numbers[i].name.at, name, length) == 0) {
      *out = file->numbers[i].value;
      return true;
    }
  if (length > 3 && memcmp(name, "op.", 3) == 0) {
    for (uint32_t op = 0; op < VYRE_OP__COUNT; op++)
      if (vyre_op_infos[op].text && is(name + 3, length - 3, vyre_op_infos[op].text)) {
        *out = op;
        return true;
      }
    return false;
  }
  for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
    if (is(name, length, constants[i].name)) {
      *out = constants[i].value;
      return true;
    }
  return false;
}
