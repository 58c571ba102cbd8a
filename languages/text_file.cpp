/* Docs at text_file.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "text_file.h"

#include "vyre/io.h"

#include <unistd.h>

bool
text_file_append(int fd, std::string *out)
{
  char piece[65536];
  for (;;) {
    const ssize_t got = read(fd, piece, sizeof piece);
    if (got < 0)
      return false;
    if (got == 0)
      return true;
    out->append(piece, static_cast<size_t>(got));
  }
}

bool
text_file_read(const char *path, std::string *out)
{
  const int fd = vyre_file_open(VYRE_FILE_HERE, path, VYRE_FILE_READS);
  const bool done = fd >= 0 && text_file_append(fd, out);
  if (fd >= 0)
    close(fd);
  return done;
}
