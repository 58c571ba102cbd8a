/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/temporaries.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#include "vyre/io.h"

/* Names of the existing temporary files, which are few, because few threads write at once.  A signal handler reads them.  Their
 * texts are on the stacks of the writing threads. */
static const char *_Atomic temporaries[64];

enum { TEMPORARY_COUNT = sizeof(temporaries) / sizeof(temporaries[0]) };

uint32_t
io_note_temporary(const char *name)
{
  for (uint32_t i = 0; i < TEMPORARY_COUNT; i++) {
    const char *none = NULL;
    if (atomic_compare_exchange_strong(&temporaries[i], &none, name))
      return i;
  }
  return TEMPORARY_COUNT;
}

void
io_forget_temporary(uint32_t slot)
{
  if (slot < TEMPORARY_COUNT)
    atomic_store(&temporaries[slot], NULL);
}

void
vyre_file_abandon(void)
{
  const int before = errno;
  for (uint32_t i = 0; i < TEMPORARY_COUNT; i++) {
    const char *name = atomic_load(&temporaries[i]);
    if (name)
      unlink(name);
  }
  errno = before;
}
