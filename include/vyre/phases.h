/* The phases of a GPU pass, compiled: what vyre-kernelc makes of a kernel file (docs/gpu-passes.md), and a plugin hands to its
 * host.
 *
 * A phase is a function of one row.  Which rows it is called with, in which order and how many at a time, is the host's business:
 * it gives each phase the memory that it names, and sweeps it over the rows.  All of it is constant data of the plugin.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PHASES_H
#define VYRE_PHASES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As in c.h, and in what is compiled to C, under the same guard. */
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
  VYRE_MEMORY_COLUMN, /* of the table or an analysis, by its name in vyre_view: an element a row */
  VYRE_MEMORY_FACT,   /* of ops: "op_" and a field of vyre_op_info; an element an opcode */
  VYRE_MEMORY_SIDE, /* the pass's own: `stride` elements a row, of stride 0 as many as the pass asks for (host->memory); zero before
                       the first phase, but for what the pass put there */
  VYRE_MEMORY_TABLE,   /* words that the pass hands over */
  VYRE_MEMORY_COUNTER, /* one word, zero before the first phase; of stride 0: as many as the pass asks for (host->memory) */
  VYRE_MEMORY_VERDICT, /* one word, all ones before the first phase: the least row << 4 | code that phases left */
} vyre_memory_kind;

/* What phases read and write, all of it u32. */
typedef struct vyre_phase_memory {
  const char *name;  /* "op", "op_flags", "rank" */
  const char *label; /* of a counter: the statistic that it is; NULL: none */
  uint32_t kind;     /* vyre_memory_kind */
  uint32_t stride;   /* elements a row of side columns; else 1, or 0 as said above */
} vyre_phase_memory;

/* The order in which a phase visits rows. */
typedef enum vyre_direction {
  VYRE_DIRECTION_FLAT,   /* in any order */
  VYRE_DIRECTION_UP,     /* operands before their users */
  VYRE_DIRECTION_DOWN,   /* users before their operands */
  VYRE_DIRECTION_INWARD, /* what is around a row before it */
  VYRE_DIRECTION_OUTWARD /* what is in a row before it */
} vyre_direction;

typedef struct vyre_phase {
  const char *name;
  uint32_t direction; /* vyre_direction */
  uint32_t use_count;
  const uint8_t *uses;   /* indices of the memory that it names, in the order of its functions' buffers */
  const uint8_t *writes; /* of each use: whether the phase may change it */
  /* The C forms (c.h).  `rows`: the grid has a group a row but for row 0; group g is row g + 1, of a phase that goes down or
   * outward row groups[0] - g.  `listed`: group g is row list[g]; the list is the last buffer. */
  uint32_t (*rows)(const vyre_c_dispatch *dispatch);
  uint32_t (*listed)(const vyre_c_dispatch *dispatch);
} vyre_phase;

typedef enum vyre_phase_step_kind {
  VYRE_STEP_RUN,    /* a phase over all rows */
  VYRE_STEP_LEVELS, /* the phases in it take turns level by level; with `times` 1 the side column `memory` says a row's level */
  VYRE_STEP_REPEAT, /* what is in it, `times` times */
  VYRE_STEP_REPEAT_WHILE /* until an iteration leaves the counter `memory` as it was */
} vyre_phase_step_kind;

typedef struct vyre_phase_step {
  uint32_t kind; /* vyre_phase_step_kind */
  uint32_t phase, times, memory;
  uint32_t end; /* but of RUN: the index of the step after those in it */
} vyre_phase_step;

/* What a kernel is compiled to.  The values are those of vyre_kernel_form (target.h). */
typedef enum vyre_phase_form {
  VYRE_PHASE_SPIRV, /* 1.3, for Vulkan 1.2 with 64-bit integers */
  VYRE_PHASE_PTX    /* text of ISA 7.8 for sm_75, without a byte 0 at its end; launched as ptx.h says */
} vyre_phase_form;

/* What a host gives a kernel, and what stands there: docs/gpu-passes.md, "On a device". */
#define VYRE_PHASE_KERNELS_VERSION 1u

/* Its entry point is "main", its workgroups have as many invocations, along x, as specialization constant 0 says: a u32, 64 if the
 * host does not choose.  PTX has no such constant: its block is a number in its text (.reqntid), which the host reads there; 64 of
 * one that takes rows. */
#define VYRE_PHASE_WORKGROUP_SPEC 0u

typedef struct vyre_phase_kernel {
  const void *code; /* NULL: there is none */
  uint64_t size;    /* bytes */
} vyre_phase_kernel;

/* All kernels of a pass in one form. */
typedef struct vyre_phase_kernels {
  uint32_t struct_size;
  uint32_t form;    /* vyre_phase_form */
  uint32_t version; /* VYRE_PHASE_KERNELS_VERSION; a host passes over those of another one */
  uint32_t reserved;
  /* An element a phase: each invocation takes a row; each workgroup takes a program and goes through its levels. */
  const vyre_phase_kernel *rows, *programs;
  const vyre_phase_kernel *levels; /* an element a step: of VYRE_STEP_LEVELS, a workgroup a program */
} vyre_phase_kernels;

typedef struct vyre_phases {
  uint32_t struct_size;
  uint32_t memory_count, phase_count, step_count;
  const vyre_phase_memory *memory;
  const vyre_phase *phases;
  const vyre_phase_step *steps;
  const vyre_phase_kernels *const *kernels; /* the first one that a device can take is used; none: it runs on processors alone */
  uint32_t kernels_count;
  uint32_t reserved;
} vyre_phases;

#ifdef __cplusplus
}
#endif
#endif
