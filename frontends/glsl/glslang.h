/* The border between vyre's C and glslang's C++: one function of vyre-glsl.so.
 *
 * Both sides are built together, so there is no versioning here.  Nothing but plain data crosses, and no exception.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_FRONTENDS_GLSL_GLSLANG_H
#define VYRE_FRONTENDS_GLSL_GLSLANG_H

#include "vyre/glsl.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vyre_glslang_sink {
  bool (*words)(void *user, const uint32_t *words, size_t count); /* false: no memory */
  void (*log)(void *user, const char *text);                      /* glslang's messages, a line each */
  void *user;
} vyre_glslang_sink;

typedef enum vyre_glslang_result {
  VYRE_GLSLANG_OK,
  VYRE_GLSLANG_REJECTED,
  VYRE_GLSLANG_OUT_OF_MEMORY,
  VYRE_GLSLANG_FAILED
} vyre_glslang_result;

typedef vyre_glslang_result (*vyre_glslang_compile)(const char *text, size_t length, const char *path,
                                                    const vyre_glsl_options *options, const vyre_glslang_sink *sink);

#define VYRE_GLSLANG_ENTRY "vyre_glslang_compile_shader"

#ifdef __cplusplus
}
#endif
#endif
