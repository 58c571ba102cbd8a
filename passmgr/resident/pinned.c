/* Registers pages of a module's columns with the device, so that uploads need no staging.  Readbacks are staged, because the host's
 * columns must be unchanged if the device is lost.
 *
 * Registering takes longer than a copy, so only modules from some size on are registered, and their pages stay registered between
 * sequences.  Only the pages of the last module that ran are registered.  They are unregistered before the module moves
 * or releases its columns.  Sequences are waited for, so none is in flight then.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sequence_parts.h"

void
vyre_pinned_release(vyre_device *device)
{
  for (uint32_t i = 0; i < device->pinned_count; i++)
    vyre_status_free(device->ops->free(device->target, device->pinned[i].buffer)); /* a lost device has no registered pages */
  vyre_pinned_forget(device);
}

void
vyre_pinned_forget(vyre_device *device)
{
  device->pinned_count = 0;
  if (device->pinned_module)
    vyre_module_watch_pages(device->pinned_module, NULL, NULL);
  device->pinned_module = NULL;
}

/* Called by the module before its columns move. */
static void
release_pages(void *user)
{
  vyre_pinned_release(user);
}

/* Registers the pages of a column.  Returns false if the device refuses. */
static bool
register_column(vyre_device *device, const vyre_module *module, const uint32_t *column)
{
  void *start;
  size_t bytes;
  vyre_module_column_pages(module, column, &start, &bytes);
  for (uint32_t i = 0; i < device->pinned_count; i++)
    if (device->pinned[i].start == start && device->pinned[i].bytes == bytes)
      return true;
  for (uint32_t i = 0; i < device->pinned_count; i++)
    if (device->pinned[i].start == start) { /* more of its pages are accessible now */
      vyre_status_free(device->ops->free(device->target, device->pinned[i].buffer));
      device->pinned[i] = device->pinned[--device->pinned_count];
    }
  device_pinned *added = &device->pinned[device->pinned_count];
  vyre_status status = device->ops->import(device->target, start, bytes, &added->buffer);
  if (status) {
    vyre_status_free(status);
    return false;
  }
  added->start = start;
  added->bytes = bytes;
  device->pinned_count++;
  return true;
}

void
vyre_pinned_register(const sequence *s)
{
  vyre_device *device = s->device;
  if (device->threads || !(device->info.capabilities & VYRE_TARGET_IMPORT) || device->options.no_pinning)
    return;
  if (device->pinned_module != s->module)
    vyre_pinned_release(device);
  if (s->rows.view->rows < device->pinned_rows)
    return;
  device->pinned_module = s->module;
  vyre_module_watch_pages(s->module, release_pages, device); /* first, because another device may have registered the pages */
  bool good = !vyre_device_is_lost(device);
  for (uint32_t i = 0; i < s->block_count && good; i++)
    if (s->blocks[i].column && s->blocks[i].is_uploaded)
      good = register_column(device, s->module, s->blocks[i].host);
  if (device->pinned_count == 0)
    vyre_pinned_forget(device);
}
