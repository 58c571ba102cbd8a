/* The compiled phases of a GPU pass: the output of vyre-kernelc for a kernel file (docs/gpu-passes.md), which a plugin gives to its
 * host.
 *
 * A phase is a function of one row. The host gives each phase the memory that it names, and runs it over the rows. The host chooses
 * the rows, their order and how many run at a time. All of this is constant data of the plugin.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PHASES_H
#define VYRE_PHASES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As in c.h and in text compiled to C, behind the same guard. */
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
  VYRE_MEMORY_COLUMN,  /* of the table or an analysis, by its name in vyre_view: an element for each row */
  VYRE_MEMORY_FACT,    /* of ops: "op_" and a field of vyre_op_info: an element for each opcode */
  VYRE_MEMORY_SIDE,    /* the pass's own: `stride` elements a row, for stride 0 as in host->memory; zero unless the pass fills it */
  VYRE_MEMORY_TABLE,   /* words that the pass provides */
  VYRE_MEMORY_COUNTER, /* one word, or for stride 0 as many as the pass sets (host->memory); zero before the first phase */
  VYRE_MEMORY_VERDICT, /* one word, all ones before the first phase: the least row << 4 | code that phases stored */
} vyre_memory_kind;

/* Memory that phases read and write; all of it is u32. */
typedef struct vyre_phase_memory {
  const char *name;  /* "op", "op_flags", "rank" */
  const char *label; /* counter: name of its statistic, or NULL */
  uint32_t kind;     /* vyre_memory_kind */
  uint32_t stride;   /* SIDE: elements for each row; others: 1; 0 if the pass sets the size of a SIDE or COUNTER (host->memory) */
} vyre_phase_memory;

/* The order in which a phase visits rows. */
typedef enum vyre_direction {
  VYRE_DIRECTION_FLAT,   /* any order */
  VYRE_DIRECTION_UP,     /* operands before their users */
  VYRE_DIRECTION_DOWN,   /* users before their operands */
  VYRE_DIRECTION_INWARD, /* parents before the rows in them */
  VYRE_DIRECTION_OUTWARD /* rows before their parents */
} vyre_direction;

typedef struct vyre_phase {
  const char *name;
  uint32_t direction; /* vyre_direction */
  uint32_t use_count;
  const uint8_t *uses;   /* indices of its memory, in the order of its functions' buffers */
  const uint8_t *writes; /* for each use, whether the phase may change the memory */
  /* The C forms (c.h). For `rows`, the grid has a group for each row except row 0: group g is row g + 1, or row groups[0] - g if
   * the phase goes down or outward. For `listed`, group g is row list[g]; the list is the last buffer. */
  uint32_t (*rows)(const vyre_c_dispatch *dispatch);
  uint32_t (*listed)(const vyre_c_dispatch *dispatch);
} vyre_phase;

typedef enum vyre_phase_step_kind {
  VYRE_STEP_RUN,         /* a phase over all rows */
  VYRE_STEP_LEVELS,      /* its phases run in turn, level by level; with `times` 1, the side column `memory` holds the levels */
  VYRE_STEP_REPEAT,      /* its steps, `times` times */
  VYRE_STEP_REPEAT_WHILE /* its steps, until an iteration leaves the counter `memory` unchanged */
} vyre_phase_step_kind;

typedef struct vyre_phase_step {
  uint32_t kind; /* vyre_phase_step_kind */
  uint32_t phase, times, memory;
  uint32_t end; /* except for RUN: index of the step after its last inner step */
} vyre_phase_step;

/* The form of a kernel's code. The values are those of vyre_kernel_form (target.h). */
typedef enum vyre_phase_form {
  VYRE_PHASE_SPIRV, /* 1.3, for Vulkan 1.2 with 64-bit integers */
  VYRE_PHASE_PTX    /* text of ISA 7.8 for sm_75, not terminated; launched as in ptx.h */
} vyre_phase_form;

/* The version of a kernel's interface with the host: docs/gpu-passes.md, "On a device". */
#define VYRE_PHASE_KERNELS_VERSION 1u
/* Kernels of this version have the words of their head as push constants, after those of version 1. Kernels of version 1 read the
 * head in the arena. */
#define VYRE_PHASE_KERNELS_PASS_HEAD 2u

/* The specialization constant with a kernel's workgroup size. The entry point is "main". A workgroup has as many invocations along
 * x as specialization constant 0, a u32 with default 64. PTX has no such constant: the host reads the block size in its text
 * (.reqntid), which is 64 for a kernel over rows. */
#define VYRE_PHASE_WORKGROUP_SPEC 0u

typedef struct vyre_phase_kernel {
  const void *code; /* NULL if there is none */
  uint64_t size;    /* in bytes */
} vyre_phase_kernel;

/* The most iterations of `repeat while`, and the word of the arena to which a kernel by program stores its head after as many. */
typedef enum vyre_phase_limit {
  VYRE_PHASE_ENDLESS = 2,     /* word of the arena */
  VYRE_PHASE_ITERATIONS = 64, /* most iterations, and those that each row of the program adds */
  VYRE_PHASE_ITERATIONS_A_ROW = 4
} vyre_phase_limit;

/* All kernels of a pass in one form. */
typedef struct vyre_phase_kernels {
  uint32_t struct_size;
  uint32_t form;    /* vyre_phase_form */
  uint32_t version; /* VYRE_PHASE_KERNELS_...; a host skips kernels of versions that it does not know */
  uint32_t reserved;
  /* An element for each phase. In `rows`, each invocation processes a row. In `programs`, each workgroup processes a program level
   * by level. */
  const vyre_phase_kernel *rows, *programs;
  const vyre_phase_kernel *levels; /* an element for each step, used for VYRE_STEP_LEVELS: a workgroup processes a program */
  /* Since plugin API 1.2: */
  const vyre_phase_kernel *pass; /* NULL or one element: a workgroup executes all steps for one program */
} vyre_phase_kernels;

typedef enum vyre_phases_flags {
  /* `version` reads as 0 for a row whose op no longer reads or writes, so the phases may follow passes that change ops. */
  VYRE_PHASES_CHECK_VERSIONS = 1
} vyre_phases_flags;

typedef struct vyre_phases {
  uint32_t struct_size;
  uint32_t memory_count, phase_count, step_count;
  const vyre_phase_memory *memory;
  const vyre_phase *phases;
  const vyre_phase_step *steps;
  const vyre_phase_kernels *const *kernels; /* a device uses the first form that it accepts; may be empty */
  uint32_t kernels_count;
  uint32_t reserved;
  /* Since plugin API 1.2: */
  uint32_t flags; /* vyre_phases_flags */
  uint32_t reserved_too;
} vyre_phases;

#ifdef __cplusplus
}
#endif
#endif
