/* What drivers compiled, kept on the disk: a file for each kernel and device, so that the next process compiles less.
 *
 * A file is a header and the driver's data.  All of it is checked before the driver sees any of it: drivers trust their own data. A
 * file is written under another name in the same folder and renamed, so that whoever reads sees all of it or none, and of several
 * writers the last one stays.  It is not synced to the disk: one that a crash cut short is found by its size.  Nothing here fails a
 * kernel: what goes wrong is a remark, and the kernel is compiled without the file.
 *
 * limits: files of TARGET_FILES_MOST bytes, a folder of 256 MiB, of which those go first that nobody used for longest.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TARGETS_COMMON_FILES_H
#define VYRE_TARGETS_COMMON_FILES_H

#include "base.h"

#define TARGET_FILES_MOST (UINT64_C(64) << 20)

enum { TARGET_FILES_IDENTITY = 28 };

typedef struct target_files {
  /* The target says, before it opens them: */
  const vyre_allocator *allocator; /* borrowed */
  const char *target;              /* in front of every remark, and the subfolder's name */
  const char *ending;              /* of a file's name: ".pipeline" */
  char magic[8];
  uint32_t version; /* of what the data are */
  unsigned char
      identity[TARGET_FILES_IDENTITY]; /* of the device and driver that made them; may be told later, before the first use */
  /* Its own. */
  char *folder; /* owned; NULL: nothing is kept */
  size_t folder_size;
  int descriptor;  /* of it; -1: not open */
  bool is_written; /* a file was */
  bool is_told;    /* that it cannot be made or written */
  void (*remark)(void *user, const char *text);
  void *remark_user;
} target_files;

/* Fails for want of memory alone; target_files_close is called after a failure, too. */
vyre_status target_files_open(target_files *files, const vyre_target_options *options);
void target_files_close(target_files *files);
/* Whether anything is kept: the folder is made when it is first needed. */
bool target_files_are_kept(target_files *files);
/* The data of that key, of *out_size bytes, to be freed with one byte more; the file is then the one that was used last.  False:
 * there is none that is good.  `find_foreign` says what the driver would not take of them; NULL: nothing. */
bool target_files_read(const target_files *files, const uint64_t key[2],
                       const char *(*find_foreign)(const void *user, const unsigned char *data, uint64_t size), const void *user,
                       void **out, uint64_t *out_size);
void target_files_write(target_files *files, const uint64_t key[2], const void *data, uint64_t size);
/* Remarks. */
void target_files_say(const target_files *files, const char *format, ...) VYRE_PRINTF(2, 3);
/* What a status says in its first line, and what is done about it; the status is freed. */
void target_files_say_status(const target_files *files, vyre_status status, const char *then);

#endif
