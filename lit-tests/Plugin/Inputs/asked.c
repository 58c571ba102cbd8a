/* A plugin whose query does not return.  VYRE_ASKED selects a crash, an exit or a hang.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/plugin.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int zero;

static int
descend(volatile int depth)
{
  volatile char room[4096];
  room[0] = (char)depth;
  return depth < 0 ? 0 : descend(depth + 1) + room[0];
}

VYRE_PLUGIN_EXPORT const vyre_plugin *vyre_plugin_query_v1(const vyre_host *host);
const vyre_plugin *
vyre_plugin_query_v1(const vyre_host *host)
{
  const char *how = getenv("VYRE_ASKED");
  (void)host;
  if (strcmp(how, "null") == 0)
    *(volatile int *)(uintptr_t)zero = 1;
  else if (strcmp(how, "abort") == 0)
    abort();
  else if (strcmp(how, "depth") == 0)
    zero = descend(0);
  else if (strcmp(how, "exit") == 0)
    exit(0);
  else
    for (;;)
      pause();
  return NULL;
}
