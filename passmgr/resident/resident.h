/* The state of a device between sequences of passes: compiled kernels, and the arena with the columns of the module.  A column on
 * the device is valid while its write generation equals that of the module's column.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSMGR_RESIDENT_RESIDENT_H
#define VYRE_PASSMGR_RESIDENT_RESIDENT_H

#include "device_kernels.h"
#include "passmgr/registry/registry.h"
#include "plan.h"
#include "vyre/passmgr.h"
#include "vyre/phases.h"

enum {
  DEVICE_COLUMNS = 32,   /* more than the table and the analyses have */
  DEVICE_WORKGROUP = 64, /* invocations in a workgroup of a kernel over rows */
  DEVICE_PUSH_ROWS = 3,  /* words of push constants of a kernel over rows */
  DEVICE_PUSH = 6        /* words of push constants of a kernel over programs */
};

/* A column with a place in the arena. */
typedef struct device_column {
  uint32_t column, analysis; /* as in vyre_phase_source */
  uint64_t generation;       /* write generation of the contents on the device; 0 if they are not valid */
} device_column;

/* Pages of a column that are registered with the device. */
typedef struct device_pinned {
  void *start;
  size_t bytes;
  vyre_device_buffer buffer;
} device_pinned;

/* Words of the last sequence that its kernels did not write: its heads, or memory of `prepare`. */
typedef struct device_memory {
  uint32_t *words; /* owned */
  uint32_t count, capacity;
  uint64_t at;    /* word offset in the arena */
  uint64_t epoch; /* vyre_device.epoch when these words were uploaded */
} device_memory;

/* Costs in nanoseconds. */
typedef struct device_costs {
  double wait, launch, byte_up, byte_down; /* an empty sequence, a kernel, a byte in each direction */
  double visit;                            /* a row in a phase */
} device_costs;

typedef struct device_work {
  double launches, visits, bytes_up, bytes_down;
} device_work;

typedef struct device_plain {
  const vyre_pass_record *record;
  double row; /* nanoseconds a row in the pass's last run on the CPU */
} device_plain;

struct vyre_device {
  vyre_allocator allocator;
  const vyre_target_ops *ops; /* NULL if the device is not open */
  vyre_target *target;
  vyre_device_info info;
  uint32_t program_workgroup;            /* invocations of a kernel over programs; constant once one is compiled; not for PTX */
  uint32_t threads;                      /* threads of a target that is the CPU; 0 for another target */
  struct device_kernel *kernels;         /* owned; a hash table by the code's address (resident.c) */
  vyre_device_buffer arena;              /* reused by each sequence */
  uint64_t arena_size;                   /* in bytes */
  uint32_t rows;                         /* rows of each column */
  device_column columns[DEVICE_COLUMNS]; /* of the last module */
  uint32_t column_count;
  plan_order *orders; /* owned; of the last sequence */
  uint32_t order_count, order_capacity;
  device_memory *memories; /* owned; of the last sequence */
  uint32_t memory_count, memory_capacity;
  uint64_t epoch;      /* at least 1; increases when the contents of the arena are lost */
  uint64_t lazy_bytes; /* columns of at least that size together are read back late (readback.c) */
  uint32_t pending;    /* VYRE_COLUMNS that a sequence provided and the host has not read back */
  uint64_t *held;      /* owned; data that was read back, until the last submission of a sequence is done (sequence.c) */
  uint32_t held_capacity;
  vyre_module *pinned_module; /* borrowed; the module whose columns are in `pinned`, which it watches; NULL if there is none */
  device_pinned pinned[DEVICE_COLUMNS];
  uint32_t pinned_count;
  uint32_t pinned_rows; /* rows of a module from which on its pages are registered */
  uint32_t *changes;    /* owned; memory for changed elements that are read back (changes.c) */
  uint32_t changes_capacity;
  /* The choice between device and CPU (choose.c): */
  const vyre_target_ops *const
      *choices;  /* the targets that may be opened; NULL: the device is fixed and runs everything that it can */
  bool is_tried; /* the targets have been tried, so a device without `ops` remains closed */
  vyre_target_options options;
  char *library, *name, *cache; /* owned; texts of `options` */
  device_costs costs;
  device_work asked;   /* the work of the sequence of the last vyre_choose */
  double owed;         /* estimated nanoseconds of earlier sequences that a device could have run */
  device_plain *plain; /* owned */
  uint32_t plain_count, plain_capacity;
};

/* Opens a target for a closed device. */
VYRE_MUST_USE vyre_status vyre_device_open_target(vyre_device *device, const vyre_target_ops *ops);
VYRE_MUST_USE vyre_status vyre_device_close_target(vyre_device *device);

/* Returns the number of rows for which the device usually has room in a sequence of many passes.  vyre_device_most_rows is the
 * upper bound for any sequence. */
uint32_t vyre_device_part_rows(const vyre_device *device);

/* Returns whether the target is lost. */
bool vyre_device_is_lost(const vyre_device *device);
/* Opens a lost target again.  Kernels, the arena and columns are lost. */
VYRE_MUST_USE vyre_status vyre_device_recover(vyre_device *device);

/* Removes the columns, and invalidates the orders and memories, because the contents of the arena are lost. */
void vyre_device_forget(vyre_device *device);

/* pinned.c: unregisters the pages of columns. */
void vyre_pinned_release(vyre_device *device);
/* Forgets the registered pages of a lost device. */
void vyre_pinned_forget(vyre_device *device);

/* Returns a kernel over rows or programs, compiled at its first use, with that many bytes of push constants. */
VYRE_MUST_USE vyre_status vyre_device_kernel(vyre_device *device, const vyre_phase_kernel *kernel, uint32_t form, bool by_program,
                                             uint32_t push_size, const char *label, vyre_kernel *out);
/* Returns a kernel of a C function with that number of buffers.  `code` is its key in the table of kernels. */
VYRE_MUST_USE vyre_status vyre_device_function(vyre_device *device, const void *code,
                                               uint32_t (*run)(const vyre_c_dispatch *dispatch), bool in_order, uint32_t buffers,
                                               const char *label, vyre_kernel *out);
/* Returns the kernel of one of the manager's own programs with that workgroup and bytes of push constants. */
VYRE_MUST_USE vyre_status vyre_device_program(vyre_device *device, const device_program *program, uint32_t workgroup,
                                              uint32_t push_size, vyre_kernel *out);
/* Makes the arena at least as large.  A larger arena has none of the old contents. */
VYRE_MUST_USE vyre_status vyre_device_reserve(vyre_device *device, uint64_t bytes);

#endif
