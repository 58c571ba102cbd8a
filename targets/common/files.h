/* The disk cache: a file for each kernel and device with the driver's compiled code, so that the next process compiles less.
 *
 * A file is a header and the driver's data. The file is verified completely before the driver gets any of it, because drivers do
 * not check their own data. A file is written under a temporary name in the same folder and renamed. So a reader sees a whole
 * file or none, and the last of several writers wins. Files are not synced; a file that a crash truncated is detected by its
 * size. A failure here never fails a kernel: the target reports a remark and compiles the kernel without the file.
 *
 * Limits: a file has at most TARGET_FILES_MOST bytes. The folder has 256 MiB; beyond that, the least recently used files are
 * removed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TARGETS_COMMON_FILES_H
#define VYRE_TARGETS_COMMON_FILES_H

#include "base.h"

#define TARGET_FILES_MOST (UINT64_C(64) << 20)

enum { TARGET_FILES_IDENTITY = 28 };

typedef struct target_files {
  /* Set by the target before target_files_open. */
  const vyre_allocator *allocator; /* borrowed */
  const char *target;              /* the target's name: the prefix of remarks, and the subfolder of the cache folder */
  const char *ending;              /* suffix of file names, such as ".pipeline" */
  char magic[8];
  uint32_t version; /* version of the data's format */
  /* Of the device and driver that made the data; may be set later, before the first use. */
  unsigned char identity[TARGET_FILES_IDENTITY];
  /* Private. */
  char *folder; /* owned; NULL without a cache */
  size_t folder_size;
  int descriptor;   /* of the folder, or -1 if it is not open */
  bool is_written;  /* whether a file was written */
  bool is_reported; /* whether a remark said that the folder or a file cannot be made */
  void (*remark)(void *user, const char *text);
  void *remark_user;
} target_files;

/* Prepares the cache folder. Fails only if memory runs out. target_files_close must be called after a failure, too. */
vyre_status target_files_open(target_files *files, const vyre_target_options *options);
void target_files_close(target_files *files);
/* Returns whether there is a cache. Makes the folder at the first call. */
bool target_files_are_kept(target_files *files);
/* Reads the data for a key and makes its file the most recently used one. Returns false if there is no valid file. The data has
 * *out_size bytes; its allocation has one more. `find_foreign` returns the reason why the driver would not accept the data, or
 * NULL if it would. The callback may be NULL. */
bool target_files_read(const target_files *files, const uint64_t key[2],
                       const char *(*find_foreign)(const void *user, const unsigned char *data, uint64_t size), const void *user,
                       void **out, uint64_t *out_size);
/* Writes the data for a key to a file. Reports a failure only as a remark. `size` is at most TARGET_FILES_MOST. */
void target_files_write(target_files *files, const uint64_t key[2], const void *data, uint64_t size);
/* Reports a remark. */
void target_files_remark(const target_files *files, const char *format, ...) VYRE_PRINTF(2, 3);
/* Reports the first line of the status and its consequence as a remark, and frees the status. */
void target_files_remark_status(const target_files *files, vyre_status status, const char *then);

#endif
