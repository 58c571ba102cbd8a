/* Phases of the plugin interface 1.0, frozen: include/vyre/phases.h as it was, without its comments.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PHASES_H
#define VYRE_PHASES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef VYRE_C_DISPATCH
#define VYRE_C_DISPATCH
typedef struct vyre_c_buffer {
  void *data;
  size_t bytes;
} vyre_c_buffer;

typedef struct vyre_c_dispatch {
  uint32_t groups[3];
  uint64_t first, count;
  const vyre_c_buffer *buffers;
} vyre_c_dispatch;
#endif

typedef enum vyre_memory_kind {
  VYRE_MEMORY_COLUMN,
  VYRE_MEMORY_FACT,
  VYRE_MEMORY_SIDE,
  VYRE_MEMORY_TABLE,
  VYRE_MEMORY_COUNTER,
  VYRE_MEMORY_VERDICT,
} vyre_memory_kind;

typedef struct vyre_phase_memory {
  const char *name;
  const char *label;
  uint32_t kind;
  uint32_t stride;
} vyre_phase_memory;

typedef enum vyre_direction {
  VYRE_DIRECTION_FLAT,
  VYRE_DIRECTION_UP,
  VYRE_DIRECTION_DOWN,
  VYRE_DIRECTION_INWARD,
  VYRE_DIRECTION_OUTWARD
} vyre_direction;

typedef struct vyre_phase {
  const char *name;
  uint32_t direction;
  uint32_t use_count;
  const uint8_t *uses;
  const uint8_t *writes;
  uint32_t (*rows)(const vyre_c_dispatch *dispatch);
  uint32_t (*listed)(const vyre_c_dispatch *dispatch);
} vyre_phase;

typedef enum vyre_phase_step_kind {
  VYRE_STEP_RUN,
  VYRE_STEP_LEVELS,
  VYRE_STEP_REPEAT,
  VYRE_STEP_REPEAT_WHILE
} vyre_phase_step_kind;

typedef struct vyre_phase_step {
  uint32_t kind;
  uint32_t phase, times, memory;
  uint32_t end;
} vyre_phase_step;

typedef enum vyre_phase_form {
  VYRE_PHASE_SPIRV,
  VYRE_PHASE_PTX
} vyre_phase_form;

#define VYRE_PHASE_KERNELS_VERSION 1u

#define VYRE_PHASE_WORKGROUP_SPEC 0u

typedef struct vyre_phase_kernel {
  const void *code;
  uint64_t size;
} vyre_phase_kernel;

typedef struct vyre_phase_kernels {
  uint32_t struct_size;
  uint32_t form;
  uint32_t version;
  uint32_t reserved;
  const vyre_phase_kernel *rows, *programs;
  const vyre_phase_kernel *levels;
} vyre_phase_kernels;

typedef struct vyre_phases {
  uint32_t struct_size;
  uint32_t memory_count, phase_count, step_count;
  const vyre_phase_memory *memory;
  const vyre_phase *phases;
  const vyre_phase_step *steps;
  const vyre_phase_kernels *const *kernels;
  uint32_t kernels_count;
  uint32_t reserved;
} vyre_phases;

#ifdef __cplusplus
}
#endif
#endif
