/* Refuses the queue and the cache on a Redis server, in builds without the client: -DVYRE_REDIS=OFF, and Windows.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "place.h"
#include "worker.h"

#include <string.h>

static vyre_status
absent(const char *option)
{
  return VYRE_ERROR(VYRE_CODE_USAGE,
                    "%.200s needs a Redis client, which this build of vyre does not have\nFix: leave it out, or use a build with "
                    "-DVYRE_REDIS=ON on Linux",
                    option);
}

int
queue_work(int argc, char **argv, tool *t)
{
  (void)argc, (void)argv, (void)t;
  return tool_complain(absent("-queue"));
}

bool
place_is_name(const char *text)
{
  return strncmp(text, "redis://", 8) == 0;
}

vyre_status
place_open(const char *name, const tool_options *options, struct remote **out)
{
  (void)name, (void)options, (void)out;
  return absent("-output-cache=redis://");
}

void
place_close(struct remote *place)
{
  (void)place;
}

vyre_status
place_read_output(struct remote *place, const uint64_t key[2], vyre_bytes *out)
{
  (void)place, (void)key, (void)out;
  return absent("-output-cache=redis://");
}

vyre_status
place_write_output(struct remote *place, const uint64_t key[2], const vyre_bytes *entry)
{
  (void)place, (void)key, (void)entry;
  return absent("-output-cache=redis://");
}
