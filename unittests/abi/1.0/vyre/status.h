/* Status of the plugin interface 1.0, frozen: include/vyre/status.h as it was, without its comments.
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

typedef enum vyre_code {
  VYRE_CODE_OK = 0,
  VYRE_CODE_INPUT = 1,
  VYRE_CODE_USAGE = 2,
  VYRE_CODE_DEVICE = 3,
  VYRE_CODE_INTERNAL = 70,
} vyre_code;

typedef struct vyre_status_data *vyre_status;

#define VYRE_OK ((vyre_status)0)

vyre_status vyre_status_make(vyre_code code, const char *file, int line, const char *format, ...) VYRE_PRINTF(4, 5);

vyre_status vyre_status_note(vyre_status status, const char *format, ...) VYRE_PRINTF(2, 3);

vyre_status vyre_status_join(vyre_status first, vyre_status second);
vyre_code vyre_status_code(vyre_status status);

const char *vyre_status_text(vyre_status status);

bool vyre_status_is_out_of_memory(vyre_status status);
void vyre_status_free(vyre_status status);

#define VYRE_ERROR(code, ...)    vyre_status_make((code), __FILE__, __LINE__, __VA_ARGS__)
#define VYRE_OUT_OF_MEMORY(what) VYRE_ERROR(VYRE_CODE_INPUT, "out of memory %s", (what))
#define VYRE_TRY(expr)                \
  do {                                \
    vyre_status try_status_ = (expr); \
    if (try_status_)                  \
      return try_status_;             \
  } while (0)

typedef enum vyre_severity { VYRE_NOTE, VYRE_REMARK, VYRE_WARNING, VYRE_SEVERE } vyre_severity;

typedef struct vyre_diagnostic {
  vyre_severity severity;
  const char *file;
  uint32_t line;
  uint32_t column;
  uint32_t length;
  const char *message;
  const char *source;
  size_t source_length;
  const char *fix;
} vyre_diagnostic;

typedef struct vyre_diagnostics {
  void (*emit)(void *user, const vyre_diagnostic *diagnostic);
  void *user;
} vyre_diagnostics;

size_t vyre_diagnostic_format(const vyre_diagnostic *diagnostic, char *text, size_t capacity);

typedef struct vyre_allocator {
  void *(*resize)(void *user, void *memory, size_t old_size, size_t new_size);
  void *(*reserve)(void *user, size_t bytes);
  bool (*commit)(void *user, void *memory, size_t old_bytes, size_t bytes);
  void (*release)(void *user, void *memory, size_t bytes);
  void *user;
} vyre_allocator;

const vyre_allocator *vyre_allocator_default(void);

typedef struct vyre_bytes {
  char *data;
  size_t size;
  size_t capacity;
  const vyre_allocator *allocator;
} vyre_bytes;

VYRE_MUST_USE vyre_status vyre_bytes_append(vyre_bytes *bytes, const void *data, size_t size);
VYRE_MUST_USE vyre_status vyre_bytes_reserve(vyre_bytes *bytes, size_t capacity);
VYRE_MUST_USE vyre_status vyre_bytes_printf(vyre_bytes *bytes, const char *format, ...) VYRE_PRINTF(2, 3);

VYRE_MUST_USE vyre_status vyre_bytes_undo(vyre_bytes *bytes, size_t size, vyre_status status);
void vyre_bytes_free(vyre_bytes *bytes);

#ifdef __cplusplus
}
#endif
#endif
