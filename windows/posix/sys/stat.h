/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_WINDOWS_SYS_STAT_H
#define VYRE_WINDOWS_SYS_STAT_H

#include <sys/types.h> /* types of the struct's members */
#include_next <sys/stat.h>

#include <stdint.h>

/* The members that vyre uses.  Microsoft's struct lacks the identity of the file (st_dev, st_ino). */
struct vyre_stat {
  dev_t st_dev;
  ino_t st_ino;
  unsigned short st_mode;
  int64_t st_size;
  struct timespec st_mtim;
};
int vyre_stat(const char *path, struct vyre_stat *out);
int vyre_mkdir(const char *path);
#undef stat
#define stat              vyre_stat
#define mkdir(path, mode) vyre_mkdir(path)
/* Windows follows links itself, so no file is reported as a link. */
#define lstat         vyre_stat
#define S_ISLNK(mode) (((mode)&0) != 0)

#endif
