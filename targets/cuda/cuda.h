/* The CUDA target's own state.  Everything stays in this folder.
 *
 * A target has a context of its own: an embedder's is neither used nor changed.  It is the thread's current one within hooks alone
 * (cuda_enter, cuda_leave), so that functions of this folder find it there.
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
  bool is_emulated;                          /* it is the simulator, */
  vyre_cuda_sim_messages_function *messages; /* which says what was done wrong; else NULL */
  vyre_cuda_sim_clear_function *clear;
  int version; /* of the driver: 1000 * major + 10 * minor */
} cuda_library;

typedef struct cuda_device_choice {
  cuda_device handle;
  cuda_uuid uuid;
  uint32_t sm; /* 10 * major + minor */
  uint32_t multiprocessors;
  vyre_device_info info;
} cuda_device_choice;

/* Memory of a buffer. */
typedef struct cuda_buffer {
  cuda_address address;
  uint64_t size;
  void *imported; /* the caller's memory that it is over; NULL: the device's own */
  uint64_t last;  /* the number of the last submission that names it */
} cuda_buffer;

/* Memory of the host's that the device copies from and to without the driver's help. */
typedef struct cuda_pinned {
  void *host;
  uint64_t size;
} cuda_pinned;

/* What the text of a kernel says of itself: text.c. */
typedef struct cuda_text {
  bool meets; /* it has barriers for the whole grid */
  bool tells; /* it may note a fault */
} cuda_text;

/* A module that the driver has loaded; kernels of one text share it. */
typedef struct cuda_loaded {
  struct cuda_loaded *next;
  uint64_t key[2];
  uint32_t users;
  cuda_module module;
} cuda_loaded;

typedef struct cuda_kernel {
  target_kernel base; /* first */
  uint64_t serial;    /* no other kernel of this target ever has it */
  cuda_loaded *loaded;
  cuda_function function;
  cuda_text text;
  uint64_t most_blocks; /* resident at once; of a kernel whose blocks meet */
  uint64_t code_bytes;  /* of a kernel that is looked at: what the driver's linker made of its text */
} cuda_kernel;

/* Neighbouring uploads or reads as one copy. */
typedef struct cuda_copy {
  vyre_device_buffer buffer;
  cuda_address address;
  uint64_t place, size; /* in staging */
} cuda_copy;

/* A launch, with its parameters as the kernel has them. */
typedef struct cuda_launch {
  cuda_function function;
  uint32_t grid[3], block[3];
  bool is_cooperative;
  const void *data;                     /* of all parameters */
  uint32_t size;                        /* bytes, a multiple of 8 */
  uint32_t offsets[3], parameter_count; /* of each in data */
} cuda_launch;

/* A launch of a graph, as it is there now. */
typedef struct cuda_node {
  cuda_graph_node handle;
  cuda_launch launch; /* its data are the graph's words, from */
  uint32_t first;     /* this one on */
} cuda_node;

/* The commands of a sequence from some position on as a graph: graph.c. */
typedef struct cuda_recorded {
  target_recorded base; /* first; its shape is all that it depends on but the launches' parameters and grids */
  cuda_graph graph;
  cuda_graph_exec exec; /* NULL: the shape was seen once, and is not captured yet, or */
  bool is_refused;      /* the driver cannot capture it */
  cuda_node *nodes;     /* owned */
  uint32_t node_count, node_capacity;
  uint64_t *words; /* owned */
  uint32_t word_count, word_capacity;
} cuda_recorded;

/* What is done with the commands that record.c says. */
typedef enum cuda_mode {
  CUDA_GIVEN,    /* the stream gets them */
  CUDA_CAPTURED, /* it does, while it is captured; launches are noted */
  CUDA_UPDATED,  /* launches are held against those of the graph, and changed there */
} cuda_mode;

/* What one sequence needs while it runs, and what stays of it for the next one. */
typedef struct cuda_submission {
  target_work work;             /* first */
  struct cuda_submission *next; /* of those that run, the one that was begun before it */
  uint64_t number;
  cuda_stream stream;
  cuda_event start, end; /* around what was given last */
  cuda_pinned up, down;
  cuda_address control; /* device memory; 0: none */
  uint64_t control_size;
  cuda_copy *uploads, *reads;
  uint32_t upload_capacity, upload_count, read_capacity, read_count;
  uint64_t *data; /* of a launch's parameters */
  uint32_t data_capacity;
  cuda_event *stamps; /* after each launch, where times of steps are asked for */
  uint32_t stamp_capacity, stamps_made;
  uint32_t *stamped; /* the step of each; of the first, which is before them all, none */
  uint32_t stamped_capacity, stamp_count, stamps_wanted;
  cuda_mode mode;
  cuda_recorded *graph; /* that is captured or updated, */
  uint32_t node;        /* and which of its launches comes next */
} cuda_submission;

static inline cuda_submission *
cuda_submission_of(target_work *work)
{
  return (cuda_submission *)(void *)work;
}

struct vyre_target {
  target_base base; /* first */
  cuda_library library;
  cuda_device_choice choice;
  cuda_context context;
  uint32_t timeout;         /* seconds; 0: no limit */
  bool validates;           /* the simulator's messages are errors */
  uint32_t most_iterations; /* CUDA_MOST_ITERATIONS; tests set fewer */
  bool no_graphs;           /* tests: the plain path alone */
  target_files files;       /* where compiled kernels are kept */
  uint64_t serials;         /* so many were given */
  uint64_t numbers;         /* of submissions */
  uint64_t bytes_staged;    /* of pinned memory, and device memory of control */
  bool has_addresses;       /* somebody has a buffer's address: kernels may use any buffer */
  cuda_loaded *loaded;
  uint64_t linked_bytes;                      /* of the cubin that was linked last */
  cuda_function control_prepare, control_end; /* NULL until they are needed */
  cuda_module control;
  cuda_submission *running;
  bool was_left; /* a context that hung was left: the library stays */
};

/* ---- result.c: every CUresult becomes a status here ---------------------------------------------------------------------- */

/* OK for CUDA_OK.  `format` says what was asked for.  What ends the context is remembered if `target` is not NULL. */
vyre_status cuda_library_status(const cuda_library *library, vyre_target *target, cuda_result result, const char *api,
                                const char *format, ...) VYRE_PRINTF(5, 6);
#define cuda_status(target, result, ...) cuda_library_status(&(target)->library, (target), (result), __VA_ARGS__)
/* Calls a function of the driver: by a target, or before there is one. */
#define CUDA_CALL(target, function, arguments, ...) \
  cuda_status((target), (target)->library.call.function arguments, #function, __VA_ARGS__)
#define CUDA_ASK(library, function, arguments, ...) \
  cuda_library_status((library), NULL, (library)->call.function arguments, #function, __VA_ARGS__)
vyre_status cuda_no_device(const char *why);
/* `status`, or the simulator's messages since the last call, where they are asked for. */
vyre_status cuda_take_messages(const vyre_target *target, vyre_status status);

/* ---- library.c ----------------------------------------------------------------------------------------------------------- */

/* Leaves nothing behind on failure. */
vyre_status cuda_library_open(const vyre_target_options *options, cuda_library *out);
void cuda_library_close(cuda_library *library);
/* The options' device is not that of the simulator, which is a library. */
const char *cuda_wanted_device(const vyre_target_options *options);

/* ---- device.c ------------------------------------------------------------------------------------------------------------ */

vyre_status cuda_devices_emit(const cuda_library *library, void (*emit)(void *user, const cuda_device_choice *choice), void *user);
vyre_status cuda_device_choose(const cuda_library *library, const char *wanted, cuda_device_choice *out);
/* Its context, which is then not the thread's. */
vyre_status cuda_context_open(vyre_target *target);
void cuda_context_close(vyre_target *target);
/* Around all that needs the context. */
vyre_status cuda_enter(vyre_target *target);
vyre_status cuda_leave(vyre_target *target, vyre_status status);

/* ---- memory.c: hooks, and memory of the target's own -------------------------------------------------------------------- */

vyre_status cuda_create(vyre_target *target, uint64_t size, void **out);
vyre_status cuda_destroy(vyre_target *target, void *memory);
vyre_status cuda_import(vyre_target *target, void *data, uint64_t size, void **out);
vyre_status cuda_find_address(vyre_target *target, vyre_device_buffer buffer, uint64_t *out);
/* At least so many bytes, whose contents are not kept. */
vyre_status cuda_pinned_ensure(vyre_target *target, cuda_pinned *pinned, uint64_t size);
void cuda_pinned_destroy(vyre_target *target, cuda_pinned *pinned);
/* Device memory without a buffer. */
vyre_status cuda_memory_allocate(vyre_target *target, uint64_t size, cuda_address *out);
vyre_status cuda_memory_free(vyre_target *target, cuda_address address);

static inline cuda_buffer *
cuda_buffer_get(const vyre_target *target, vyre_device_buffer buffer)
{
  return target_buffer_get(target, buffer)->memory;
}

/* ---- text.c -------------------------------------------------------------------------------------------------------------- */

/* Reads what is needed of PTX text; an error where it is cut short, lacks the entry, or the entry's parameters are not those that
 * vyre/ptx.h has for the description's slots and push constants. */
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

/* Fails for want of memory alone; it is closed after a failure, too.  The device is told when it is known. */
vyre_status cuda_cache_open(vyre_target *target, const vyre_target_options *options);
void cuda_cache_identify(vyre_target *target);
/* A module of text that ends with a 0; what the driver makes of it is kept under that key.  NULL: it is not. */
vyre_status cuda_module_load(vyre_target *target, const char *label, const char *text, const uint64_t key[2], cuda_module *out);
/* The module of the description's text, which others may have too; and back. */
vyre_status cuda_loaded_take(vyre_target *target, const vyre_kernel_desc *desc, cuda_loaded **out);
vyre_status cuda_loaded_give(vyre_target *target, cuda_loaded *loaded);

/* ---- submission.c -------------------------------------------------------------------------------------------------------- */

extern const target_work_hooks cuda_works;

/* ---- copies.c: what goes up and comes down ------------------------------------------------------------------------------- */

/* What goes where in staging, and room for it. */
vyre_status cuda_plan_copies(vyre_target *target, cuda_submission *submission);
/* What goes up is in staging when it returns. */
void cuda_stage_uploads(const vyre_target *target, cuda_submission *submission);
/* Commands. */
vyre_status cuda_give_before(vyre_target *target, const cuda_submission *submission);
vyre_status cuda_give_reads(vyre_target *target, const cuda_submission *submission);
/* To the caller, once all is done. */
void cuda_take_reads(const vyre_target *target, target_work *work);
cuda_address cuda_range_address(const vyre_target *target, const vyre_range *range, uint64_t *out_size);

/* ---- record.c: commands of steps ----------------------------------------------------------------------------------------- */

/* All commands from the submission's position on, to the end or until the host is to wait; the position goes on. */
vyre_status cuda_record(vyre_target *target, cuda_submission *submission);
/* The step is a grid that its kernel and the device can take at once. */
vyre_status cuda_check_step(const vyre_target *target, const vyre_step *step);
/* So that all that is given is a launch of this. */
vyre_status cuda_launch_give(vyre_target *target, cuda_submission *submission, const cuda_launch *launch, const char *label);

/* ---- graph.c ------------------------------------------------------------------------------------------------------------- */

enum { CUDA_MOST_NODES = 1 << 12 /* launches of a graph */ };

/* Hooks of works. */
vyre_status cuda_shape_make(vyre_target *target, const target_work *work);
void cuda_recorded_destroy(vyre_target *target, target_recorded *recorded);
/* Gives the device what comes next: as a graph if it came before, else command by command. */
vyre_status cuda_give(vyre_target *target, cuda_submission *submission);
/* A launch that is captured or updated; record.c calls it. */
vyre_status cuda_node_add(vyre_target *target, cuda_submission *submission, const cuda_launch *launch);
vyre_status cuda_node_update(vyre_target *target, cuda_submission *submission, const cuda_launch *launch);

/* ---- timing.c ------------------------------------------------------------------------------------------------------------ */

enum { CUDA_MOST_STAMPS = 1 << 12 /* launches whose times are told */ };

vyre_status cuda_stamps_prepare(vyre_target *target, cuda_submission *submission);
/* Before the first step, and after each. */
vyre_status cuda_stamps_begin(vyre_target *target, cuda_submission *submission);
vyre_status cuda_stamp_step(vyre_target *target, cuda_submission *submission, uint32_t step);
/* Adds what the events say of what is done. */
vyre_status cuda_stamps_read(vyre_target *target, cuda_submission *submission);
void cuda_stamps_destroy(vyre_target *target, cuda_submission *submission);

/* ---- control.c ----------------------------------------------------------------------------------------------------------- */

enum { CUDA_MOST_ITERATIONS = 1024 /* of a repeat until a word is 0, given at once */ };

extern const char cuda_control_text[]; /* control_text.c */

/* Whether the step is told something in device memory. */
bool cuda_is_told(const vyre_target *target, const cuda_submission *submission, uint32_t step);
uint64_t cuda_control_size(const vyre_sequence *sequence);
vyre_status cuda_control_ensure(vyre_target *target, cuda_submission *submission);
/* What the device is told when the sequence starts, or goes on where the host waited, at the start of staging. */
void cuda_control_write(const vyre_target *target, cuda_submission *submission);
/* Device address of what a step is told. */
cuda_address cuda_control_dispatch(const cuda_submission *submission, uint32_t step);
vyre_status cuda_control_give_prepare(vyre_target *target, cuda_submission *submission, uint32_t step);
vyre_status cuda_control_give_end(vyre_target *target, cuda_submission *submission, uint32_t repeat, bool is_last);
/* How a repeat stands. */
vyre_repeat_end cuda_control_repeat(const target_work *work, uint32_t repeat);
/* Kernels whose groups came from a buffer and were not none. */
uint32_t cuda_control_launches(const target_work *work);
/* An error where a buffer said more groups than its step allows, or a program came to a fault. */
vyre_status cuda_control_status(const vyre_target *target, const cuda_submission *submission);

/* ---- submit.c: hooks ----------------------------------------------------------------------------------------------------- */

vyre_status cuda_begin(vyre_target *target, const vyre_sequence *sequence, bool is_begun, target_work **out);
vyre_status cuda_poll(vyre_target *target, void *work, bool *out_done);
vyre_status cuda_complete(vyre_target *target, target_work *work);

#endif
