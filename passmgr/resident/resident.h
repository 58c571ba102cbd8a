/* What stays on a device between sequences of passes: the kernels that were compiled for it, the memory that they use, and in it
 * the columns of the module that nobody else has changed since.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSMGR_RESIDENT_RESIDENT_H
#define VYRE_PASSMGR_RESIDENT_RESIDENT_H

#include "passmgr/registry/registry.h"
#include "vyre/passmgr.h"
#include "vyre/phases.h"

enum {
  DEVICE_COLUMNS = 32,   /* more than there are */
  DEVICE_WORKGROUP = 64, /* invocations of a kernel that takes rows */
  DEVICE_PUSH_ROWS = 3,  /* words of push constants that it takes; */
  DEVICE_PUSH = 6        /* and one that takes programs */
};
#define DEVICE_ALL UINT32_MAX

/* A column that has its place in the arena. */
typedef struct device_column {
  uint32_t column, analysis; /* vyre_phase_source's */
  bool holds;                /* the device has what the host has */
} device_column;

/* Nanoseconds. */
typedef struct device_costs {
  double wait, launch, byte_up, byte_down; /* of a sequence of nothing, a kernel more, a byte */
  double visit;                            /* of a row by a phase */
} device_costs;

typedef struct device_work {
  double launches, visits, bytes_up, bytes_down;
} device_work;

typedef struct device_plain {
  const vyre_pass_record *record;
  double row; /* nanoseconds a row that the pass took as plain C */
} device_plain;

struct vyre_device {
  vyre_allocator allocator;
  const vyre_target_ops *ops; /* NULL: it is not open */
  vyre_target *target;
  vyre_device_info info;
  uint32_t program_workgroup; /* invocations of a kernel that takes programs; not changed once one is compiled; PTX has its own */
  uint32_t threads;           /* of a target that is this machine's processors; 0: it is another */
  struct device_kernel *kernels;         /* a hash table of resident.c, by the code's address; owned */
  vyre_device_buffer arena;              /* of the sequences, one after the other */
  uint64_t arena_size;                   /* bytes */
  device_column columns[DEVICE_COLUMNS]; /* of the last module */
  uint32_t column_count;
  uint64_t *held; /* owned; what came down while more is to come: sequence.c */
  uint32_t held_capacity;
  /* choose.c: */
  const vyre_target_ops *const
      *choices;  /* what runs on it is chosen, and it is of one of these; NULL: all that can run there does */
  bool is_tried; /* whether there is one to be opened is known */
  vyre_target_options options;
  char *library, *name, *cache; /* owned; of the options */
  device_costs costs;
  device_work asked;   /* of the sequence that was asked for last */
  double owed;         /* nanoseconds of work that it could have had */
  device_plain *plain; /* owned */
  uint32_t plain_count, plain_capacity;
};

/* Opens the target for it, which has none; and closes it. */
VYRE_MUST_USE vyre_status vyre_device_open_target(vyre_device *device, const vyre_target_ops *ops);
VYRE_MUST_USE vyre_status vyre_device_close_target(vyre_device *device);

/* Rows of a module of which it has room for the sequences of many passes, mostly: vyre_device_most_rows is what it may have room
 * for at best. */
uint32_t vyre_device_part_rows(const vyre_device *device);

/* Whether its target is lost; and makes that anew, on which there is nothing then. */
bool vyre_device_is_lost(const vyre_device *device);
VYRE_MUST_USE vyre_status vyre_device_recover(vyre_device *device);

/* The host writes columns: those of these analyses; DEVICE_ALL: those of the table too, or it is another module. */
void vyre_device_forget(vyre_device *device, uint32_t analyses);

/* Compiled once: a kernel that takes rows, or programs. */
VYRE_MUST_USE vyre_status vyre_device_kernel(vyre_device *device, const vyre_phase_kernel *kernel, uint32_t form, bool by_program,
                                             const char *label, vyre_kernel *out);
/* The same of a function with so many buffers; `code` tells it from others. */
VYRE_MUST_USE vyre_status vyre_device_function(vyre_device *device, const void *code,
                                               uint32_t (*run)(const vyre_c_dispatch *dispatch), bool in_order, uint32_t buffers,
                                               const char *label, vyre_kernel *out);
/* The arena has so many bytes at least.  Where it had fewer, nothing of what it held is left. */
VYRE_MUST_USE vyre_status vyre_device_reserve(vyre_device *device, uint64_t bytes);

#endif
