/* Programs that a live megakernel interprets. A program is registered as a table in the kernel's memory, and runs at once, without a
 * compilation, by the rules of strict programs. docs/megakernel.md describes what can be interpreted.
 *
 * An item interprets a part of a program's grid, one workgroup after the other. Its buffers are ranges of the kernel's memory. The
 * results are those of the interpreter (vyre_interp_run), within the bounds of docs/targets.md on Vulkan.
 *
 * Threads: from start to stop any thread may call the other functions. A ticket belongs to one thread.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_MEGAKERNEL_PROGRAMS_H
#define VYRE_MEGAKERNEL_PROGRAMS_H

#include "vyre/megakernel.h"
#include "vyre/run.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vyre_mega_programs vyre_mega_programs;

typedef struct vyre_mega_programs_options {
  size_t struct_size; /* sizeof(vyre_mega_programs_options) */
  uint64_t memory;    /* bytes for tables, buffers and scratch; 0 for 16 MiB */
  uint32_t programs;  /* most registered programs; 0 for 256 */
  /* Bytes of scratch of each workgroup of the kernel, for the registers, private and workgroup memory of a workgroup of the program
   * that it interprets; 0 for 512 KiB. */
  uint32_t scratch;
  uint32_t slots;     /* of the ring; 0 for 64 */
  uint32_t groups;    /* most workgroups of the kernel, which each interpret one item at a time; 0 for the target's choice */
  bool by_priority;   /* the build PERSISTENT_BY_PRIORITY */
  uint32_t slice;     /* as in vyre_mega_live_options */
  vyre_mega_recovery recovery; /* without `remake`, which is not needed */
  /* A second open target of the same kind. Programs are compiled for it, and it runs their later items. Only the kernel's threads use
   * it until stop. NULL leaves all programs interpreted. */
  vyre_target *compile_target;
  uint32_t compile_after; /* published items of a program after which it is compiled; 0 if the caller compiles it */
  /* Receives a line, without its end, for each program that stays interpreted: its number and the reason. A thread of the kernel
   * calls `remark`, which must not call functions of this file. May be NULL. */
  void (*remark)(void *user, const char *text);
  void *remark_user;
} vyre_mega_programs_options;

/* Starts a live kernel that interprets programs. The target must stay open, and only the kernel's thread uses it until stop. */
VYRE_MUST_USE vyre_status vyre_mega_programs_start(const vyre_target_ops *ops, vyre_target *target,
                                                   const vyre_mega_programs_options *options, vyre_mega_programs **out);
/* Shuts the kernel down and frees everything, even if it returns an error. `control` and `stats` may be NULL. */
VYRE_MUST_USE vyre_status vyre_mega_programs_stop(vyre_mega_programs *programs, vyre_mega_control *control, vyre_mega_stats *stats);
/* Returns the live kernel, which other items may use. */
vyre_mega_live *vyre_mega_programs_live(vyre_mega_programs *programs);

/* How a program is registered. NULL counts as zeros. */
typedef struct vyre_mega_program_options {
  size_t struct_size; /* sizeof(vyre_mega_program_options) */
  uint32_t subgroup;  /* lanes of a subgroup of the program, a power of two up to 128; 0 for 32 */
  const vyre_spec_value *specs;
  uint32_t spec_count;
  uint32_t open_descriptors; /* elements of an array of buffers of open length; 0 if the program has none */
} vyre_mega_program_options;

/* Registers a program of a sealed, verified module, which is not needed afterward. Stores its number. Errors (INPUT) name the row
 * that cannot be interpreted. */
VYRE_MUST_USE vyre_status vyre_mega_programs_register(vyre_mega_programs *programs, const vyre_module *module, vyre_row program,
                                                      const vyre_mega_program_options *options, uint32_t *out);
/* Removes a program. Items that have not ended become FAULT (PROGRAM), unless they end first. */
VYRE_MUST_USE vyre_status vyre_mega_programs_remove(vyre_mega_programs *programs, uint32_t program);
/* Stores the number of buffers that an item of the program binds, and its instructions. */
VYRE_MUST_USE vyre_status vyre_mega_programs_describe(vyre_mega_programs *programs, uint32_t program, uint32_t *out_buffers,
                                                      uint32_t *out_instructions);

/* Compiles a program for `compile_target` and waits until this is done. An error (INPUT) leaves it interpreted. Later items run
 * compiled, except if they have a part of a grid, a buffer that is empty or smaller than its block, or memory in two buffers of which
 * one is written. `steps` of a compiled item has no effect. docs/megakernel.md describes compiled items. */
VYRE_MUST_USE vyre_status vyre_mega_programs_compile(vyre_mega_programs *programs, uint32_t program);

/* A range of the kernel's memory, in bytes. */
typedef struct vyre_mega_range {
  uint64_t at, size;
} vyre_mega_range;

/* Allocate and free memory for buffers of items. A new range has zeros. */
VYRE_MUST_USE vyre_status vyre_mega_programs_allocate(vyre_mega_programs *programs, uint64_t size, vyre_mega_range *out);
VYRE_MUST_USE vyre_status vyre_mega_programs_free(vyre_mega_programs *programs, vyre_mega_range range);
/* Write and read an allocated range or a part of one. Not while an item uses it. */
VYRE_MUST_USE vyre_status vyre_mega_programs_write(vyre_mega_programs *programs, vyre_mega_range range, const void *data);
VYRE_MUST_USE vyre_status vyre_mega_programs_read(vyre_mega_programs *programs, vyre_mega_range range, void *out);

typedef struct vyre_mega_program_item {
  uint32_t program;
  const vyre_mega_range *buffers; /* in the order of the dispatch's buffers: sets and bindings by their first declaration */
  uint32_t buffer_count;
  uint32_t groups[3]; /* of the whole grid */
  /* The first invocation and the number of invocations, numbered workgroup by workgroup with x fastest. 0, 0 means all. If the range
   * begins or ends within a workgroup, the other invocations of that workgroup do not run, and no barrier waits for them. */
  uint32_t first, count;
  uint32_t steps; /* instructions after which the item is a FAULT (STEPS); 0 for 2^30 */
  uint32_t tenant, priority;
} vyre_mega_program_item;

typedef struct vyre_mega_program_ticket {
  vyre_mega_ticket ticket;
  uint32_t item;
} vyre_mega_program_ticket;

/* Publishes an item. *out_published is false if the ring is full, or if the item shares written memory with an item in flight and
 * only one of the two is compiled. Try again later. */
VYRE_MUST_USE vyre_status vyre_mega_programs_publish(vyre_mega_programs *programs, const vyre_mega_program_item *item,
                                                     vyre_mega_program_ticket *ticket, bool *out_published);
/* As vyre_mega_live_poll and vyre_mega_live_wait. */
VYRE_MUST_USE vyre_status vyre_mega_programs_poll(vyre_mega_programs *programs, vyre_mega_program_ticket ticket,
                                                  vyre_mega_slot *out, bool *out_ended);
VYRE_MUST_USE vyre_status vyre_mega_programs_wait(vyre_mega_programs *programs, vyre_mega_program_ticket ticket,
                                                  vyre_mega_slot *out);
/* As vyre_mega_programs_wait, for at most `limit_ns` nanoseconds. *out_ended is false if the item has not ended then. */
VYRE_MUST_USE vyre_status vyre_mega_programs_wait_for(vyre_mega_programs *programs, vyre_mega_program_ticket ticket,
                                                      uint64_t limit_ns, vyre_mega_slot *out, bool *out_ended);

/* Counters of the device: interpreted items that ended DONE and FAULT, and interpreted instructions of workgroups. A counter of the
 * host: compiled items that ended DONE. */
typedef struct vyre_mega_programs_counts {
  uint64_t items, faults, steps;
  uint64_t compiled;
} vyre_mega_programs_counts;

void vyre_mega_programs_count(vyre_mega_programs *programs, vyre_mega_programs_counts *out);

#ifdef __cplusplus
}
#endif
#endif
