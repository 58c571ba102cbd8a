/* Status, diagnostics and the allocator: what every other header of vyre uses.
 *
 * A vyre_status is NULL for success, else an owned chain: the error first, then notes that callers added on the way up.  Whoever
 * receives one passes it on or frees it.  Making a status never fails: when memory is out, a static one is returned.
 *
 * Threads: a status belongs to one thread at a time.  A vyre_diagnostics and a vyre_allocator may be shared only if the functions
 * in them allow it; vyre_allocator_default() does.
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

/* The value of each code is the exit code of a program that ends with it. */
typedef enum vyre_code {
  VYRE_CODE_OK = 0,
  VYRE_CODE_INPUT = 1,     /* input, IR, a pass, a file, memory, or the output failed */
  VYRE_CODE_USAGE = 2,     /* command line, pipeline text, plugin */
  VYRE_CODE_DEVICE = 3,    /* no library, no device, or the device failed */
  VYRE_CODE_INTERNAL = 70, /* a bug of vyre */
} vyre_code;

typedef struct vyre_status_data *vyre_status; /* NULL: success */

#define VYRE_OK ((vyre_status)0)

/* The message says what happened and where; text from a line that starts with "Fix:" says what the user can do. */
vyre_status vyre_status_make(vyre_code code, const char *file, int line, const char *format, ...) VYRE_PRINTF(4, 5);
/* Adds one line of context ("while compiling plugin 'cid'").  NULL stays NULL.  Returns its argument. */
vyre_status vyre_status_note(vyre_status status, const char *format, ...) VYRE_PRINTF(2, 3);
/* The first error wins; the second, if there is one, becomes a note of it. */
vyre_status vyre_status_join(vyre_status first, vyre_status second);
vyre_code vyre_status_code(vyre_status status);
/* The whole text, lines split by \n, none at the end.  Borrowed from the status; "" for success. */
const char *vyre_status_text(vyre_status status);
/* Whether the error is that memory ran out, the host's or a device's: then there is no fallback that takes as much. */
bool vyre_status_is_out_of_memory(vyre_status status);
/* The same error, which is that; VYRE_OUT_OF_MEMORY's is without being told.  Returns its argument. */
vyre_status vyre_status_mark_out_of_memory(vyre_status status);
void vyre_status_free(vyre_status status);

#define VYRE_ERROR(code, ...)    vyre_status_make((code), __FILE__, __LINE__, __VA_ARGS__)
#define VYRE_OUT_OF_MEMORY(what) VYRE_ERROR(VYRE_CODE_INPUT, "out of memory %s", (what))
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
  const char *file;    /* NULL: none */
  uint32_t line;       /* from 1; 0: none */
  uint32_t column;     /* from 1, in bytes; 0: none */
  uint32_t length;     /* bytes to underline, 0: the caret alone */
  const char *message; /* one line, no "error:" */
  const char *source;  /* the text line that line and column are in, not terminated; NULL: none */
  size_t source_length;
  const char *fix; /* what the user can do; NULL: none */
} vyre_diagnostic;

/* Receives each message while it is alive; everything in it is borrowed for the call.  `emit` NULL drops them. */
typedef struct vyre_diagnostics {
  void (*emit)(void *user, const vyre_diagnostic *diagnostic);
  void *user;
} vyre_diagnostics;

/* Writes "file:line:column: error: message", the source line with a caret below it, and "Fix: ..." into a growing text
 * the way vyre's tools print it.  Returns the length it needs, as snprintf does. */
size_t vyre_diagnostic_format(const vyre_diagnostic *diagnostic, char *text, size_t capacity);

/* ---- allocator ------------------------------------------------------------------------------------------------------------ */

/* resize(user, NULL, 0, n) allocates, (p, old, 0) frees, else grows or shrinks; NULL on failure leaves p as it is.  Alignment is
 * max_align_t's.  reserve gives address space without memory, commit backs the first `bytes` bytes from `memory` on, an address
 * in reserved space at a multiple of the page size, with zeroed memory (only growing; what is committed keeps its contents),
 * release gives all back. */
typedef struct vyre_allocator {
  void *(*resize)(void *user, void *memory, size_t old_size, size_t new_size);
  void *(*reserve)(void *user, size_t bytes);
  bool (*commit)(void *user, void *memory, size_t old_bytes, size_t bytes);
  void (*release)(void *user, void *memory, size_t bytes);
  void *user;
} vyre_allocator;

const vyre_allocator *vyre_allocator_default(void);

/* A growing array of bytes: source texts, printed modules, SPIR-V words.  All zero is an empty one without an allocator, and then
 * the default is used.  `data` is owned and always followed by a zero byte that `size` does not count. */
typedef struct vyre_bytes {
  char *data;
  size_t size;
  size_t capacity;
  const vyre_allocator *allocator;
} vyre_bytes;

VYRE_MUST_USE vyre_status vyre_bytes_append(vyre_bytes *bytes, const void *data, size_t size);
VYRE_MUST_USE vyre_status vyre_bytes_reserve(vyre_bytes *bytes, size_t capacity);
VYRE_MUST_USE vyre_status vyre_bytes_printf(vyre_bytes *bytes, const char *format, ...) VYRE_PRINTF(2, 3);
/* After an error removes what was appended after `size`: for functions that append step by step.  Returns `status`. */
VYRE_MUST_USE vyre_status vyre_bytes_undo(vyre_bytes *bytes, size_t size, vyre_status status);
void vyre_bytes_free(vyre_bytes *bytes);

#ifdef __cplusplus
}
#endif
#endif
