/* Opens files.  The library, the programs and vyre-glsl open all files here.  windows/io.c defines this function for Windows.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/io.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int
vyre_file_open(int folder, const char *path, vyre_file_use use)
{
  static const int flags[] = {[VYRE_FILE_READS] = O_RDONLY | O_NONBLOCK | O_NOCTTY, /* a FIFO is opened at once */
                              [VYRE_FILE_WRITES] = O_WRONLY | O_NOCTTY,
                              [VYRE_FILE_CREATES] = O_WRONLY | O_CREAT | O_EXCL,
                              [VYRE_FILE_UPDATES] = O_RDWR | O_CREAT | O_NONBLOCK | O_NOCTTY,
                              [VYRE_FILE_FOLDER] = O_RDONLY | O_DIRECTORY,
                              [VYRE_FILE_PLACE] = O_PATH};
  struct stat file;
  const int fd = openat(folder == VYRE_FILE_HERE ? AT_FDCWD : folder, path, flags[use] | O_CLOEXEC, 0666);
  if (fd < 0 || (use != VYRE_FILE_READS && use != VYRE_FILE_UPDATES))
    return fd;
  int error = fstat(fd, &file) != 0                                       ? errno
              : S_ISDIR(file.st_mode)                                     ? EISDIR
              : use == VYRE_FILE_UPDATES && !S_ISREG(file.st_mode)        ? ESPIPE
              : fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK) != 0 ? errno
                                                                          : 0;
  if (!error)
    return fd;
  close(fd);
  errno = error;
  return -1;
}
