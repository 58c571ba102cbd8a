/* Preloaded, it makes all files terminals for who asks isatty.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <unistd.h>

int
isatty(int fd)
{
  (void)fd;
  return 1;
}
