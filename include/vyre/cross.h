/* SPIR-V as GLSL, HLSL or MSL text, or its reflection as JSON, written by SPIRV-Cross.
 *
 * SPIRV-Cross runs in the processes of vyre/glsl.h, one module at a time, with limits of memory and time. The library
 * libspirv-cross-c-shared.so.0 is opened when the first module is written.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CROSS_H
#define VYRE_CROSS_H

#include "vyre/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum vyre_cross_language {
  VYRE_CROSS_GLSL,
  VYRE_CROSS_HLSL,
  VYRE_CROSS_MSL,
  VYRE_CROSS_REFLECTION, /* JSON: entry point, workgroup, resources with types, offsets and bindings, specialization constants */
  VYRE_CROSS_LANGUAGE__COUNT
} vyre_cross_language;

/* The API that a text is for. */
typedef enum vyre_cross_platform {
  VYRE_CROSS_DEFAULT, /* Vulkan for GLSL, Direct3D for HLSL, macOS for MSL */
  VYRE_CROSS_OPENGL,  /* GLSL without sets and push constants; images and samplers are combined */
  VYRE_CROSS_ES,      /* the same, as GLSL ES */
  VYRE_CROSS_IOS,     /* MSL */
  VYRE_CROSS_PLATFORM__COUNT
} vyre_cross_platform;

/* The `set` of push constants, whose `binding` is 0, and the `space` that keeps the set. */
#define VYRE_CROSS_PUSH     UINT32_MAX
#define VYRE_CROSS_SAME_SET UINT32_MAX

/* Maps a resource to another place: set and binding in GLSL, space and register in HLSL, index of buffer, texture and sampler in
 * MSL. MSL has no spaces. GLSL keeps push constants as they are. */
typedef struct vyre_cross_binding {
  uint32_t set, binding; /* in SPIR-V */
  uint32_t space, index; /* in the text */
} vyre_cross_binding;

typedef struct vyre_cross_options {
  size_t struct_size; /* sizeof(vyre_cross_options) */
  vyre_cross_language language;
  vyre_cross_platform platform;
  /* GLSL: 450 for #version 450. HLSL: 62 for shader model 6.2. MSL: 24 for version 2.4. 0 for the default: 460 (310 for GLSL ES),
   * 60 and 24. */
  uint32_t version;
  const char *entry_point;            /* the entry point to write, or NULL if the module has only one */
  const vyre_cross_binding *bindings; /* borrowed; a binding that the module does not have is ignored */
  uint32_t binding_count;
  uint32_t most_memory;  /* address space of the process, in MiB; 0 for VYRE_GLSL_MEMORY */
  uint32_t most_seconds; /* processor time; 0 for VYRE_GLSL_SECONDS */
} vyre_cross_options;

/* Appends the text of an entry point of a SPIR-V module, whose stage may be any. `path` is for messages. Keeps names,
 * specialization constants and, without `bindings`, sets and bindings where the language has them. An MSL text with `bindings`
 * needs one for each resource. An instruction that the language cannot express is an error with the reason. options may be NULL.
 * Any thread may call it. */
VYRE_MUST_USE vyre_status vyre_cross_write(const void *spirv, size_t size, const char *path, const vyre_cross_options *options,
                                           vyre_bytes *out);

#ifdef __cplusplus
}
#endif
#endif
