/* Status, diagnostics, the allocator and growing byte arrays. Every other header of vyre uses them.
 *
 * A vyre_status is NULL for success. Otherwise it is an owned chain: the error first, then the notes that callers added. The
 * receiver passes it on or frees it with vyre_status_free. Making a status never fails: if memory runs out, the result is a static
 * status.
 *
 * Threads: a status belongs to one thread at a time. Threads may share a vyre_diagnostics or a vyre_allocator only if its functions
 * are thread-safe. Those of vyre_allocator_default are.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_STATUS_H
#define VYRE_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define VYRE_MUST_USE             __attribute__((warn_unused_result))
#define VYRE_PRINTF(index, first) __attribute__((__format__(__printf__, index, first)))
#else
#define VYRE_MUST_USE
#define VYRE_PRINTF(index, first)
#endif

/* The kinds of errors. Programs that end with an error use the value as their exit code. */
typedef enum vyre_code {
  VYRE_CODE_OK = 0,
  VYRE_CODE_INPUT = 1,     /* an error in the input, the IR, a pass, a file or the output, or out of memory */
  VYRE_CODE_USAGE = 2,     /* an error in the command line, a pipeline text or a plugin */
  VYRE_CODE_DEVICE = 3,    /* no driver library, no device, or a device error */
  VYRE_CODE_INTERNAL = 70, /* a bug in vyre */
} vyre_code;

typedef struct vyre_status_data *vyre_status; /* NULL for success */

#define VYRE_OK ((vyre_status)0)

/* Returns a new error. The message says what happened and where. A line that begins with "Fix:" says what the user can do. If the
 * code is VYRE_CODE_INTERNAL, the file and line are added as a note. A message without "Fix:" about a bug or about memory that ran
 * out gets a general one. */
vyre_status vyre_status_make(vyre_code code, const char *file, int line, const char *format, ...) VYRE_PRINTF(4, 5);
/* Adds one line of context, for example "while compiling plugin 'cid'", and returns `status`. Does nothing to NULL. */
vyre_status vyre_status_note(vyre_status status, const char *format, ...) VYRE_PRINTF(2, 3);
/* Returns the error with another code, and with `fix` before its own fix. Returns `status` if it is NULL or memory ran out. */
vyre_status vyre_status_add_fix(vyre_status status, vyre_code code, const char *fix);
/* Returns `first` with `second` as a note. If one of them is NULL, returns the other. Owns both. */
vyre_status vyre_status_join(vyre_status first, vyre_status second);
/* Returns VYRE_CODE_OK for success. */
vyre_code vyre_status_code(vyre_status status);
/* Returns the whole text: lines separated by \n, without one at the end, or "" for success. The status owns the text. */
const char *vyre_status_text(vyre_status status);
/* Returns whether the error is that host or device memory ran out. A fallback that needs as much memory cannot succeed then. */
bool vyre_status_is_out_of_memory(vyre_status status);
/* Marks `status` as an out-of-memory error and returns it. An error whose message begins with "out of memory" is marked already. */
vyre_status vyre_status_mark_out_of_memory(vyre_status status);
/* The kind of a failure, which decides a caller's reaction. */
typedef enum vyre_failure {
  VYRE_FAILURE_NONE,
  VYRE_FAILURE_REJECTED,      /* the device or target lacks a form, feature or limit that the call needs; another one may have it */
  VYRE_FAILURE_BAD_INPUT,     /* the call or its data are wrong on every device */
  VYRE_FAILURE_OUT_OF_MEMORY, /* host or device memory ran out; the call may succeed when some is free */
  VYRE_FAILURE_BACKEND,       /* the driver or device failed, no device exists, or vyre has a bug */
} vyre_failure;

/* Returns the kind of failure. Each error has exactly one. */
vyre_failure vyre_status_failure(vyre_status status);
/* Marks an error of code INPUT as rejected, unless memory ran out, and returns it. Does nothing to other errors. */
vyre_status vyre_status_mark_rejected(vyre_status status);
/* Frees a status. Does nothing to NULL. */
void vyre_status_free(vyre_status status);

#define VYRE_ERROR(code, ...)    vyre_status_make((code), __FILE__, __LINE__, __VA_ARGS__)
#define VYRE_OUT_OF_MEMORY(what) VYRE_ERROR(VYRE_CODE_INPUT, "out of memory %s", (what))
/* Returns from the calling function with the status of `expr` if it is an error. */
#define VYRE_TRY(expr)                \
  do {                                \
    vyre_status try_status_ = (expr); \
    if (try_status_)                  \
      return try_status_;             \
  } while (0)

/* ---- diagnostics: several messages about one input ---------------------------------------------------------------------- */

typedef enum vyre_severity { VYRE_NOTE, VYRE_REMARK, VYRE_WARNING, VYRE_SEVERE } vyre_severity;

typedef struct vyre_diagnostic {
  vyre_severity severity;
  const char *file;    /* or NULL */
  uint32_t line;       /* from 1, or 0 if unknown */
  uint32_t column;     /* in bytes from 1, or 0 if unknown */
  uint32_t length;     /* of the underlined text, in bytes; 0 for the caret alone */
  const char *message; /* one line without "error:" */
  const char *source;  /* the source line, not terminated, or NULL */
  size_t source_length;
  const char *fix; /* advice for the user, or NULL */
} vyre_diagnostic;

/* Receives messages one at a time. The diagnostic and its texts are borrowed for the call. If `emit` is NULL, messages are
 * dropped. */
typedef struct vyre_diagnostics {
  void (*emit)(void *user, const vyre_diagnostic *diagnostic);
  void *user;
} vyre_diagnostics;

/* Writes the diagnostic as vyre's tools print it: "file:line:column: error: message", the source line, a caret line and "Fix: ...".
 * Like snprintf, writes at most `capacity` bytes with the final zero byte, and returns the length of the whole text without it. */
size_t vyre_diagnostic_format(const vyre_diagnostic *diagnostic, char *text, size_t capacity);

/* ---- allocator ------------------------------------------------------------------------------------------------------------ */

/* Memory functions, each called with `user`. Memory has the alignment of max_align_t.
 *
 *     resize    resize(user, NULL, 0, n) allocates n bytes, (user, p, old, 0) frees, anything else grows or shrinks.
 *               Returns NULL on failure, and `memory` stays as it is.
 *     reserve   Returns `bytes` bytes of address space without memory, or NULL.
 *     commit    Backs the first `bytes` bytes from `memory` on with zeroed memory. `memory` is page-aligned, in reserved
 *               space, and its first `old_bytes` bytes are committed and keep their contents. Returns false on failure.
 *     release   Releases the reserved space and its memory. */
typedef struct vyre_allocator {
  void *(*resize)(void *user, void *memory, size_t old_size, size_t new_size);
  void *(*reserve)(void *user, size_t bytes);
  bool (*commit)(void *user, void *memory, size_t old_bytes, size_t bytes);
  void (*release)(void *user, void *memory, size_t bytes);
  void *user;
} vyre_allocator;

/* Returns the allocator that uses malloc and mmap (VirtualAlloc on Windows). It is static, and any thread may use it. */
const vyre_allocator *vyre_allocator_default(void);

/* A growing array of bytes for source texts, printed modules and SPIR-V words. All zero is an empty array that uses the default
 * allocator. The functions below return an error if memory runs out, and then leave the array as it is. */
typedef struct vyre_bytes {
  /* owned, followed by a zero byte that `size` does not count */
  char *data;
  size_t size;
  size_t capacity;
  /* borrowed, or NULL for the default */
  const vyre_allocator *allocator;
} vyre_bytes;

/* Appends `size` bytes, which may lie in the array itself. */
VYRE_MUST_USE vyre_status vyre_bytes_append(vyre_bytes *bytes, const void *data, size_t size);
/* Makes room for `capacity` bytes in all. */
VYRE_MUST_USE vyre_status vyre_bytes_reserve(vyre_bytes *bytes, size_t capacity);
/* Appends formatted text. */
VYRE_MUST_USE vyre_status vyre_bytes_printf(vyre_bytes *bytes, const char *format, ...) VYRE_PRINTF(2, 3);
/* If `status` is an error, truncates the array to `size` bytes. Returns `status`. For functions that append step by step. */
VYRE_MUST_USE vyre_status vyre_bytes_undo(vyre_bytes *bytes, size_t size, vyre_status status);
void vyre_bytes_free(vyre_bytes *bytes);

#ifdef __cplusplus
}
#endif
#endif
