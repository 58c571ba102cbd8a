/* The CUDA target's own state.
 *
 * A target has a context of its own, so it neither uses nor changes a context of the caller. The context is current only inside
 * hooks (cuda_enter, cuda_leave), where all functions of this folder run.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TARGETS_CUDA_H
#define VYRE_TARGETS_CUDA_H

#include "../common/base.h"
#include "../common/files.h"
#include "../common/work.h"
#include "targets/cuda/api/api.h"
#include "sim/simulator.h"
#include "vyre/ptx.h"

typedef struct cuda_library {
  void *handle;
  cuda_api call;
  bool is_emulated;                          /* whether the library is the simulator */
  vyre_cuda_sim_messages_function *messages; /* the simulator's messages, or NULL for a driver */
  vyre_cuda_sim_clear_function *clear;
  int version; /* of the driver: 1000 * major + 10 * minor */
} cuda_library;

typedef struct cuda_device_choice {
  cuda_device handle;
  cuda_uuid uuid;
  uint32_t sm; /* 10 * major + minor */
  vyre_device_info info;
} cuda_device_choice;

/* The memory of a buffer. */
typedef struct cuda_buffer {
  cuda_address address;
  uint64_t size;
  char *imported;           /* the caller's memory, or NULL if the device owns it */
  uint64_t last;            /* number of the last submission that uses the buffer, or 0 */
  struct cuda_buffer *next; /* in target.imports */
  uint64_t serial;          /* of imported memory: unique in this target, also if the memory is imported again */
} cuda_buffer;

/* Page-locked host memory, which the device copies without the driver's help. */
typedef struct cuda_pinned {
  void *host;
  uint64_t size;
} cuda_pinned;

/* Properties of a kernel's text: text.c. */
typedef struct cuda_text {
  bool has_grid_barriers; /* barriers for the whole grid */
  bool has_faults;        /* code that may record a fault */
} cuda_text;

/* A loaded module; kernels with the same text share it. */
typedef struct cuda_loaded {
  struct cuda_loaded *next;
  uint64_t key[2];
  uint32_t users;
  cuda_module module;
} cuda_loaded;

typedef struct cuda_kernel {
  target_kernel base; /* must be first */
  uint64_t serial;    /* unique in this target */
  cuda_loaded *loaded;
  cuda_function function;
  cuda_text text;
  uint64_t most_blocks; /* resident at once; only for kernels with grid barriers */
  uint64_t code_bytes;  /* of the linked code; only for kernels compiled for statistics */
} cuda_kernel;

/* A copy of neighbouring uploads or reads. */
typedef struct cuda_copy {
  vyre_device_buffer buffer;
  cuda_address address;
  uint64_t place, size; /* range in staging memory */
  const void *direct;   /* of an upload: the caller's imported memory instead of staging memory, or NULL */
} cuda_copy;

/* A launch, with its parameters as the kernel has them. */
typedef struct cuda_launch {
  cuda_function function;
  uint32_t grid[3], block[3];
  bool is_cooperative;
  const void *data;                     /* the values of all parameters */
  uint32_t size;                        /* bytes, a multiple of 8 */
  uint32_t offsets[3], parameter_count; /* of each parameter in `data` */
} cuda_launch;

/* A launch in a graph, with its current parameters. */
typedef struct cuda_node {
  cuda_graph_node handle;
  cuda_launch launch; /* `data` is the graph's words */
  uint32_t first;     /* index of the first word */
} cuda_node;

/* A graph with the commands of a sequence from some position on: graph.c. */
typedef struct cuda_recorded {
  target_recorded base; /* first; its shape covers everything except grids and parameters of launches */
  cuda_graph graph;
  cuda_graph_exec exec; /* NULL until the shape is captured, at its second use */
  bool is_refused;      /* the driver cannot capture the commands */
  cuda_node *nodes;     /* owned */
  uint32_t node_count, node_capacity;
  uint64_t *words; /* owned */
  uint32_t word_count, word_capacity;
} cuda_recorded;

/* The ways to use the commands that record.c produces. */
typedef enum cuda_mode {
  CUDA_ENQUEUED, /* enqueue them in the stream */
  CUDA_CAPTURED, /* capture them from the stream and record the launches */
  CUDA_UPDATED,  /* compare launches with those of the graph, and update the graph */
} cuda_mode;

/* The objects that a sequence needs while it runs. Later sequences reuse them. */
typedef struct cuda_submission {
  target_work work;             /* must be first */
  struct cuda_submission *next; /* in `running`: the submission begun before this one */
  uint64_t number;
  cuda_stream stream;
  cuda_event start, end; /* around the commands enqueued last */
  cuda_pinned up, down;
  cuda_address control; /* device memory, or 0 if there is none */
  uint64_t control_size;
  cuda_copy *uploads, *reads;
  uint32_t upload_capacity, upload_count, read_capacity, read_count;
  uint64_t *data; /* parameters of a launch */
  uint32_t data_capacity;
  cuda_event *stamps; /* events after each step, if the times of steps are wanted */
  uint32_t stamp_capacity, stamps_made;
  uint32_t *stamped; /* the step of each stamp; none for the first, which is before all steps */
  uint32_t stamped_capacity, stamp_count, stamps_wanted;
  cuda_mode mode;
  cuda_recorded *graph; /* the graph that is captured or updated */
  uint32_t node;        /* index of its next launch */
} cuda_submission;

static inline cuda_submission *
cuda_submission_of(target_work *work)
{
  return (cuda_submission *)(void *)work;
}

struct vyre_target {
  target_base base; /* must be first */
  cuda_library library;
  cuda_device_choice choice;
  cuda_context context;
  bool validates;           /* the simulator's messages are errors */
  uint32_t most_iterations; /* CUDA_MOST_ITERATIONS; tests set a smaller number */
  bool no_graphs;           /* set by tests: never use graphs */
  target_files files;       /* the cache of compiled kernels */
  uint64_t serials;         /* the last serial of a kernel or of imported memory */
  uint64_t numbers;         /* the last number of a submission */
  uint64_t bytes_staged;    /* bytes of pinned memory and control memory */
  bool has_addresses;       /* a caller has the address of a buffer, so kernels may use any buffer */
  cuda_buffer *imports;     /* buffers over the caller's memory */
  cuda_loaded *loaded;
  uint64_t linked_bytes;                      /* size of the cubin linked last */
  cuda_function control_prepare, control_end; /* NULL until they are needed */
  cuda_module control;
  cuda_submission *running;
  bool was_left; /* a hanging context was abandoned, so the library stays loaded */
};

/* ---- result.c: converts each CUresult to a status ------------------------------------------------------------------------ */

/* Returns OK for CUDA_OK. `format` describes the request. If the result ends the context and `target` is not NULL, the target is
 * lost. */
vyre_status cuda_library_status(const cuda_library *library, vyre_target *target, cuda_result result, const char *api,
                                const char *format, ...) VYRE_PRINTF(5, 6);
#define cuda_status(target, result, ...) cuda_library_status(&(target)->library, (target), (result), __VA_ARGS__)
/* Call a function of the driver: for a target, or before there is one. */
#define CUDA_CALL(target, function, arguments, ...) \
  cuda_status((target), (target)->library.call.function arguments, #function, __VA_ARGS__)
#define CUDA_QUERY(library, function, arguments, ...) \
  cuda_library_status((library), NULL, (library)->call.function arguments, #function, __VA_ARGS__)
vyre_status cuda_no_device(const char *why);
/* Returns `status` joined with the simulator's messages since the last call, if messages are errors. */
vyre_status cuda_join_messages(const vyre_target *target, vyre_status status);

/* ---- library.c ----------------------------------------------------------------------------------------------------------- */

/* Opens the library. Holds nothing after a failure. */
vyre_status cuda_library_open(const vyre_target_options *options, cuda_library *out);
void cuda_library_close(cuda_library *library);
/* Returns the device option, or NULL if it is `sim`, which selects the library. */
const char *cuda_wanted_device(const vyre_target_options *options);

/* ---- device.c ------------------------------------------------------------------------------------------------------------ */

/* Calls `emit` for each device. No devices are an error. */
vyre_status cuda_devices_emit(const cuda_library *library, void (*emit)(void *user, const cuda_device_choice *choice), void *user);
vyre_status cuda_device_choose(const cuda_library *library, const char *wanted, cuda_device_choice *out);
/* Makes the target's context, which is not current afterwards. */
vyre_status cuda_context_open(vyre_target *target);
void cuda_context_close(vyre_target *target);
/* Make the context current, and restore the previous one. */
vyre_status cuda_enter(vyre_target *target);
vyre_status cuda_leave(vyre_target *target, vyre_status status);

/* ---- memory.c: hooks, and the target's own memory ------------------------------------------------------------------------ */

vyre_status cuda_create(vyre_target *target, uint64_t size, void **out);
vyre_status cuda_destroy(vyre_target *target, void *memory);
vyre_status cuda_import(vyre_target *target, void *data, uint64_t size, void **out);
/* Returns the imported buffer that contains the data of an upload, if the device copies it directly because the caller waits.
 * Otherwise returns NULL. */
const cuda_buffer *cuda_direct(const vyre_target *target, const target_work *work, const vyre_upload *upload);
vyre_status cuda_find_address(vyre_target *target, vyre_device_buffer buffer, uint64_t *out);
/* Grows pinned memory to at least `size` bytes. The contents are lost. */
vyre_status cuda_pinned_ensure(vyre_target *target, cuda_pinned *pinned, uint64_t size);
void cuda_pinned_destroy(vyre_target *target, cuda_pinned *pinned);
/* Allocate and free device memory without a buffer. */
vyre_status cuda_memory_allocate(vyre_target *target, uint64_t size, cuda_address *out);
vyre_status cuda_memory_free(vyre_target *target, cuda_address address);

static inline cuda_buffer *
cuda_buffer_get(const vyre_target *target, vyre_device_buffer buffer)
{
  return target_buffer_get(target, buffer)->memory;
}

/* ---- text.c -------------------------------------------------------------------------------------------------------------- */

/* Reads the properties of PTX text. Returns an error if the text is truncated, lacks the entry, or has other parameters than
 * vyre/ptx.h specifies for the description. */
vyre_status cuda_text_read(const vyre_kernel_desc *desc, cuda_text *out);

/* ---- kernel.c: hooks ----------------------------------------------------------------------------------------------------- */

vyre_status cuda_check_kernel(vyre_target *target, const vyre_kernel_desc *desc);
vyre_status cuda_compile(vyre_target *target, const vyre_kernel_desc *desc, target_kernel **out);
vyre_status cuda_release(vyre_target *target, target_kernel *kernel);
vyre_status cuda_statistics(vyre_target *target, const target_kernel *kernel,
                            void (*emit)(void *user, const vyre_kernel_figure *figure), void *user);

static inline cuda_kernel *
cuda_kernel_get(const vyre_target *target, vyre_kernel kernel)
{
  return (cuda_kernel *)(void *)target_kernel_get(target, kernel);
}

/* ---- cache.c ------------------------------------------------------------------------------------------------------------- */

/* Opens the cache, before the device is known. Fails only if memory runs out; target_files_close must follow in any case. */
vyre_status cuda_cache_open(vyre_target *target, const vyre_target_options *options);
/* Sets the device and driver of the cache. */
void cuda_cache_identify(vyre_target *target);
/* Loads a module from zero-terminated text. If `key` is not NULL, the compiled code is cached under it. */
vyre_status cuda_module_load(vyre_target *target, const char *label, const char *text, const uint64_t key[2], cuda_module *out);
/* Return the module of the description's text, which several kernels may share, and release it. */
vyre_status cuda_loaded_acquire(vyre_target *target, const vyre_kernel_desc *desc, cuda_loaded **out);
vyre_status cuda_loaded_release(vyre_target *target, cuda_loaded *loaded);

/* ---- submission.c -------------------------------------------------------------------------------------------------------- */

extern const target_work_hooks cuda_works;

/* ---- copies.c: fills, uploads and reads ---------------------------------------------------------------------------------- */

/* Assigns places in staging memory to uploads and reads, and allocates it. */
vyre_status cuda_plan_copies(vyre_target *target, cuda_submission *submission);
/* Copies the uploads to staging memory. */
void cuda_stage_uploads(const vyre_target *target, cuda_submission *submission);
/* Enqueue fills and uploads, and reads. */
vyre_status cuda_enqueue_uploads(vyre_target *target, const cuda_submission *submission);
vyre_status cuda_enqueue_reads(vyre_target *target, const cuda_submission *submission);
/* Copies the reads of finished work to the caller. */
void cuda_copy_reads(const vyre_target *target, target_work *work);
/* Returns the device address of a range and stores its bytes. */
cuda_address cuda_range_address(const vyre_target *target, const vyre_range *range, uint64_t *out_size);

/* ---- record.c: the commands of steps ------------------------------------------------------------------------------------- */

/* Produces all commands from the submission's position to the end of the sequence, and advances the position. */
vyre_status cuda_record(vyre_target *target, cuda_submission *submission);
/* Returns an error if the step's grid is too large for its kernel or for the device. */
vyre_status cuda_check_step(const vyre_target *target, const vyre_step *step);
/* Enqueues, captures or updates a launch, depending on the mode. */
vyre_status cuda_enqueue_launch(vyre_target *target, cuda_submission *submission, const cuda_launch *launch, const char *label);

/* ---- graph.c ------------------------------------------------------------------------------------------------------------- */

enum { CUDA_MOST_NODES = 1 << 12 /* launches of a graph */ };

/* Hooks of a work. */
vyre_status cuda_shape_make(vyre_target *target, const target_work *work);
void cuda_recorded_destroy(vyre_target *target, target_recorded *recorded);
/* Submits the next commands: as a graph if their shape was used before, otherwise one by one. */
vyre_status cuda_enqueue(vyre_target *target, cuda_submission *submission);
/* Add a captured launch to the graph, and update the next launch of the graph. record.c calls these functions. */
vyre_status cuda_node_add(vyre_target *target, cuda_submission *submission, const cuda_launch *launch);
vyre_status cuda_node_update(vyre_target *target, cuda_submission *submission, const cuda_launch *launch);

/* ---- timing.c ------------------------------------------------------------------------------------------------------------ */

enum { CUDA_MOST_STAMPS = 1 << 12 /* steps whose times are measured */ };

/* Makes the events for the steps, if their times are wanted and there are at most CUDA_MOST_STAMPS. */
vyre_status cuda_stamps_prepare(vyre_target *target, cuda_submission *submission);
/* Enqueue an event before the first step, and after each step. */
vyre_status cuda_stamps_begin(vyre_target *target, cuda_submission *submission);
vyre_status cuda_stamp_step(vyre_target *target, cuda_submission *submission, uint32_t step);
/* Adds the times of finished commands. */
vyre_status cuda_stamps_read(vyre_target *target, cuda_submission *submission);
void cuda_stamps_destroy(vyre_target *target, cuda_submission *submission);

/* ---- control.c ----------------------------------------------------------------------------------------------------------- */

enum { CUDA_MOST_ITERATIONS = 1024 /* iterations of a repeat with `until` that are submitted at once */ };

extern const char cuda_control_text[]; /* control_text.c */

/* Returns whether the step's kernel gets a vyre_ptx_dispatch in control memory. */
bool cuda_has_dispatch(const vyre_target *target, const cuda_submission *submission, uint32_t step);
/* Returns the size of control memory, and allocates it. */
uint64_t cuda_control_size(const vyre_sequence *sequence);
vyre_status cuda_control_ensure(vyre_target *target, cuda_submission *submission);
/* Writes the contents of control memory to the start of staging memory, for the start of the sequence or its continuation after a
 * wait. */
void cuda_control_write(const vyre_target *target, cuda_submission *submission);
/* Returns the device address of a step's vyre_ptx_dispatch. */
cuda_address cuda_control_dispatch(const cuda_submission *submission, uint32_t step);
/* Enqueue the control kernel before an indirect step, and after an iteration of a repeat with `until`. */
vyre_status cuda_control_enqueue_prepare(vyre_target *target, cuda_submission *submission, uint32_t step);
vyre_status cuda_control_enqueue_end(vyre_target *target, cuda_submission *submission, uint32_t repeat, bool is_last);
/* Returns the state of a repeat. */
vyre_repeat_end cuda_control_repeat(const target_work *work, uint32_t repeat);
/* Returns the number of indirect steps that ran with at least one workgroup. */
uint32_t cuda_control_launches(const target_work *work);
/* Returns an error if an indirect step had too many groups, or a kernel recorded a fault. */
vyre_status cuda_control_status(const vyre_target *target, const cuda_submission *submission);

/* ---- submit.c: hooks ----------------------------------------------------------------------------------------------------- */

vyre_status cuda_begin(vyre_target *target, const vyre_sequence *sequence, bool is_begun, target_work **out);
vyre_status cuda_poll(vyre_target *target, void *work, bool *out_done);
vyre_status cuda_complete(vyre_target *target, target_work *work);

#endif
