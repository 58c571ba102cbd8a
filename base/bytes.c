/* A growing array of bytes: capacity doubles, a zero byte always follows.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static vyre_status
no_room(size_t size)
{
  return VYRE_ERROR(VYRE_CODE_INPUT, "out of memory for a text of %zu bytes", size);
}

/* Grows the buffer to at least `capacity` bytes, and one more for the zero byte. */
vyre_status
vyre_bytes_reserve(vyre_bytes *bytes, size_t capacity)
{
  if (bytes->data && capacity <= bytes->capacity)
    return VYRE_OK;
  if (!bytes->allocator)
    bytes->allocator = vyre_allocator_default();
  if (capacity > SIZE_MAX / 2)
    return no_room(capacity);
  size_t grown = bytes->capacity * 2 > capacity ? bytes->capacity * 2 : capacity;
  if (grown < 60)
    grown = 60;
  size_t old = bytes->data ? bytes->capacity + 1 : 0;
  char *data = bytes->allocator->resize(bytes->allocator->user, bytes->data, old, grown + 1);
  if (!data)
    return no_room(grown);
  data[bytes->size] = '\0';
  bytes->data = data;
  bytes->capacity = grown;
  return VYRE_OK;
}

vyre_status
vyre_bytes_append(vyre_bytes *bytes, const void *data, size_t size)
{
  if (size > SIZE_MAX / 2 - bytes->size)
    return no_room(size);
  VYRE_TRY(vyre_bytes_reserve(bytes, bytes->size + size));
  if (size)
    memcpy(bytes->data + bytes->size, data, size);
  bytes->size += size;
  bytes->data[bytes->size] = '\0';
  return VYRE_OK;
}

vyre_status
vyre_bytes_printf(vyre_bytes *bytes, const char *format, ...)
{
  size_t room = bytes->data ? bytes->capacity - bytes->size + 1 : 0;
  va_list arguments;
  va_start(arguments, format);
  int needed = vsnprintf(room ? bytes->data + bytes->size : NULL, room, format, arguments);
  va_end(arguments);
  if (needed < 0)
    return VYRE_ERROR(VYRE_CODE_INTERNAL, "vsnprintf cannot format '%s'", format);
  if ((size_t)needed >= room) {
    if (room)
      bytes->data[bytes->size] = '\0';
    VYRE_TRY(vyre_bytes_reserve(bytes, bytes->size + (size_t)needed));
    va_start(arguments, format);
    vsnprintf(bytes->data + bytes->size, (size_t)needed + 1, format, arguments);
    va_end(arguments);
  }
  bytes->size += (size_t)needed;
  return VYRE_OK;
}

vyre_status
vyre_bytes_undo(vyre_bytes *bytes, size_t size, vyre_status status)
{
  if (status && bytes->size > size) {
    bytes->size = size;
    bytes->data[size] = '\0';
  }
  return status;
}

void
vyre_bytes_free(vyre_bytes *bytes)
{
  if (bytes->data)
    bytes->allocator->resize(bytes->allocator->user, bytes->data, bytes->capacity + 1, 0);
  bytes->data = NULL;
  bytes->size = 0;
  bytes->capacity = 0;
}
