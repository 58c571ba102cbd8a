/* A growing array in the memory of a pass's run.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_STATE_LIST_H
#define VYRE_PASSES_STATE_LIST_H

#include "vyre/plugin.h"

#include <string.h>

typedef struct list {
  void *data;
  size_t size; /* bytes of an element */
  uint32_t count, capacity;
} list;

#define LIST_AT(type, list, index) ((type *)(list).data + (index))

/* Appends a zeroed element.  Returns NULL if memory runs out. */
static inline void *
list_append(vyre_pass_ctx *ctx, list *l)
{
  if (l->count == l->capacity) {
    const uint32_t capacity = l->capacity ? l->capacity * 2 : 16;
    void *data = capacity > l->capacity ? ctx->host->alloc(ctx, capacity * l->size) : NULL;
    if (!data)
      return NULL;
    if (l->count)
      memcpy(data, l->data, l->count * l->size);
    l->data = data;
    l->capacity = capacity;
  }
  return (char *)l->data + l->count++ * l->size;
}

#endif
