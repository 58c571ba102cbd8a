/* Watches what a target gives to a device through the library of fake_vulkan.c, and writes it into a log of watch_log.h: what each
 * command reads and writes, by the words of its kernel and by the descriptors that it is given.
 *
 * One target at a time, of one thread.  Buffers and images are numbered as they are made, from 1 on.  Of staging, which is what
 * kernels cannot use, the host reads what was copied there as soon as it has waited.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_WATCHER_H
#define VYRE_UNITTESTS_WATCHER_H

#include "watch_log.h"

/* fake_vulkan.c gives it to tests. */
typedef struct watcher {
  /* Of the device that is made next.  A dispatch with `push_size` bytes of push constants whose last word is not 0 is beside the
   * dispatch before it; or, where `push_size` is 0, a dispatch of the same pipeline as the one before it, without a barrier
   * between: passes say of parts of one phase alone that they are beside each other. */
  void (*begin)(uint32_t push_size);
  /* What happened since; the log is the watcher's until it begins again. */
  watch_log *(*end)(void);
  uint32_t (*last_resource)(void);
  /* When the host has waited next, it reads these bytes of memory that is no staging. */
  void (*host_reads)(uint32_t resource, uint64_t first, uint64_t size);
} watcher;

extern const watcher the_watcher;
/* Instead of a device's function, if it is watched. */
PFN_vkVoidFunction watcher_wrap(const char *name, PFN_vkVoidFunction real);

#endif
