/* The table of handles and their objects.
 *
 * A handle is a number with its kind in the uppermost bits. It is not an address, and no number is reused.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "targets/cuda/sim/driver/driver.h"

#include "base/grow.h"

#include <stdio.h>
#include <stdlib.h>

static sim_object *objects;
static uint64_t last[SIM_KINDS];

static const char *const kinds[SIM_KINDS] = {"handle", "context", "module",     "function",         "stream",
                                             "event",  "graph",   "graph node", "executable graph", "link"};

const char *
sim_kind_name(sim_kind kind)
{
  return kinds[kind];
}

static void
end_without_memory(size_t size)
{
  fprintf(stderr, "simulated CUDA driver: no memory for its own %zu bytes\n", size);
  abort();
}

void *
sim_allocate(size_t size)
{
  void *memory = calloc(1, size ? size : 1);
  if (!memory)
    end_without_memory(size);
  return memory;
}

void
sim_grow(void *array, uint32_t *capacity, uint32_t count, size_t size)
{
  if (!vyre_grow(NULL, array, capacity, (uint64_t)count + 1, size))
    end_without_memory((count + (size_t)1) * size);
}

void *
sim_object_new(sim_kind kind, sim_context *context, size_t size)
{
  sim_object *object = sim_allocate(size);
  object->id = (0xc0 + (uint64_t)kind) << 56 | ++last[kind] << 4;
  object->kind = kind;
  object->context = context ? context : (sim_context *)(void *)object;
  HASH_ADD(hh, objects, id, sizeof object->id, object);
  return object;
}

void
sim_object_hide(void *object)
{
  sim_object *gone = object;
  HASH_DEL(objects, gone);
}

void
sim_object_free(void *object)
{
  sim_object_hide(object);
  free(object);
}

void *
sim_object_find(sim_kind kind, uint64_t id)
{
  sim_object *found;
  HASH_FIND(hh, objects, &id, sizeof id, found);
  return found && found->kind == kind ? found : NULL;
}

void *
sim_object_get_any(sim_kind kind, const void *handle)
{
  const uint64_t id = (uint64_t)(uintptr_t)handle;
  sim_object *found;
  HASH_FIND(hh, objects, &id, sizeof id, found);
  if (found && found->kind == kind)
    return found;
  if (found)
    sim_report("%s: the handle is of kind %s instead of %s", sim_call_name(sim_called_now), kinds[found->kind], kinds[kind]);
  else if (id >> 56 == 0xc0 + (uint64_t)kind && (id >> 4 & 0xfffffffffffff) <= last[kind])
    sim_report("%s: the %s %u is already destroyed", sim_call_name(sim_called_now), kinds[kind], (unsigned)(id >> 4 & 0xfffffff));
  else
    sim_report("%s: %p is not a handle of kind %s", sim_call_name(sim_called_now), handle, kinds[kind]);
  return NULL;
}

void *
sim_object_get(sim_kind kind, const void *handle)
{
  sim_object *found = sim_object_get_any(kind, handle);
  if (!found || found->context == sim_context_current())
    return found;
  sim_report("%s: the %s %u belongs to another context than the current one", sim_call_name(sim_called_now), kinds[kind],
             sim_number(found));
  return NULL;
}

bool
sim_context_any(bool (*visit)(sim_context *context, const void *user), const void *user)
{
  sim_object *object, *next;
  bool result = false;
  HASH_ITER(hh, objects, object, next)
  {
    if (object->kind == SIM_CONTEXT)
      result |= visit(object->context, user);
  }
  return result;
}

void
sim_object_each(sim_kind kind, const sim_context *context, void (*visit)(void *object))
{
  sim_object *object, *next;
  uint32_t count = 0;
  void **found = sim_allocate(HASH_COUNT(objects) * sizeof *found);
  HASH_ITER(hh, objects, object, next)
  {
    if (object->kind == kind && object->context == context)
      found[count++] = object;
  }
  for (uint32_t i = 0; i < count; i++)
    visit(found[i]);
  free(found);
}
