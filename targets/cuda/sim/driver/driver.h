/* The simulated driver's internals.
 *
 * One lock (sim.lock) protects everything here. SIM_ENTRY holds it for each call. A stream's thread holds it except during a copy,
 * a fill or a kernel. All functions require the lock unless their comments say otherwise. sim_host_wait and the sim_wait_*
 * functions release it while they wait. Code that runs without the lock holds references to memory and to the kernel's module.
 *
 * Handles are numbers that are not addresses and are never reused, so that stale handles differ from invalid ones. The same holds
 * for device addresses, which have a bit that host addresses lack.
 *
 * The driver allocates its own data with sim_allocate, which ends the process if memory runs out. A program's request for too much
 * memory fails with CUDA_OUT_OF_MEMORY.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CUDA_SIM_DRIVER_H
#define VYRE_CUDA_SIM_DRIVER_H

#include "base/clock.h"
#include "targets/cuda/sim/ptx.h"
#include "targets/cuda/sim/simulator.h"

#include "base/clock.h"

#include <pthread.h>
#include <uthash.h>

enum {
  SIM_MOST_DEVICES = 8,
  SIM_STREAMS = 64, /* most streams in a context at once, including the default stream */
  SIM_LABEL = 64,   /* bytes of a name in messages */
  SIM_STACK = 16,   /* most contexts that a thread can push */
  SIM_LEGACY = 0,   /* place of the default stream, whose handle is 0 */
};

/* ---- objects: object.c -------------------------------------------------------------------------------------------- */

typedef enum sim_kind {
  SIM_CONTEXT = 1,
  SIM_MODULE,
  SIM_FUNCTION,
  SIM_STREAM,
  SIM_EVENT,
  SIM_GRAPH,
  SIM_NODE,
  SIM_EXEC,
  SIM_LINK,
  SIM_KINDS
} sim_kind;

typedef struct sim_context sim_context;

/* The first member of each object with a handle. */
typedef struct sim_object {
  uint64_t id; /* the handle's bits */
  sim_kind kind;
  sim_context *context; /* the object's context; for a context, itself */
  UT_hash_handle hh;
} sim_object;

/* Returns a new object that is zero except for its sim_object. If `context` is NULL, the object is a context. */
void *sim_object_new(sim_kind kind, sim_context *context, size_t size);
void sim_object_free(void *object);
/* Invalidates the object's handle and keeps its memory. */
void sim_object_hide(void *object);
/* Returns the object of a handle. If the handle is invalid or of another context than the current one, reports that and returns
 * NULL. */
void *sim_object_get(sim_kind kind, const void *handle);
/* Returns the object of a handle in any context. If the handle is invalid, reports that and returns NULL. */
void *sim_object_get_any(sim_kind kind, const void *handle);
/* Returns the object with that id, or NULL. Reports nothing. */
void *sim_object_find(sim_kind kind, uint64_t id);
/* Calls `visit` with each object of that kind and context. `visit` may free the object and objects of other kinds. */
void sim_object_each(sim_kind kind, const sim_context *context, void (*visit)(void *object));
static inline void *
sim_handle(const void *object)
{
  return (void *)(uintptr_t)((const sim_object *)object)->id; /* NOLINT(performance-no-int-to-ptr): a number */
}
/* Returns the name and the number of an object for messages, such as "stream" and 3. */
const char *sim_kind_name(sim_kind kind);
static inline unsigned
sim_number(const void *object)
{
  return (unsigned)(((const sim_object *)object)->id >> 4 & 0xfffffff);
}

/* Returns zeroed memory, or ends the process. Needs no lock. */
void *sim_allocate(size_t size);
/* Makes room for one more element with vyre_grow, or ends the process. */
void sim_grow(void *array, uint32_t *capacity, uint32_t count, size_t size);

/* ---- memory: memory.c, host.c ------------------------------------------------------------------------------ */

typedef enum sim_memory_kind { SIM_DEVICE, SIM_PINNED, SIM_REGISTERED, SIM_GLOBAL } sim_memory_kind;

/* An allocation. The table of allocations is ordered by address. It keeps freed ones up to a limit, so that later uses are
 * reported. The bytes exist while the allocation is live or has references. */
typedef struct sim_memory {
  sim_context *context;
  sim_memory_kind kind;
  uint32_t references;
  uint32_t number;
  uint64_t address; /* on the device */
  uint64_t size;
  uint8_t *bytes; /* the device's mapping; for registered memory, the host's */
  uint8_t *host;  /* the host's mapping of pinned or registered memory */
  void *pages;    /* for pinned memory: the host's mapping with its guard pages */
  size_t page_bytes;
  bool is_mapped, is_portable, is_const, is_in_table;
  _Atomic bool is_freed;
} sim_memory;

/* An immutable list of the allocations that a launch can access, ordered by address. */
typedef struct sim_map {
  uint32_t references, count;
  uint64_t version;
  sim_memory *memories[];
} sim_map;

/* Returns whether the memory is pinned or registered, so that the host can access it. */
static inline bool
sim_is_host(const sim_memory *memory)
{
  return memory->kind == SIM_PINNED || memory->kind == SIM_REGISTERED;
}

static inline bool
sim_memory_has(const sim_memory *memory, uint64_t address, uint64_t size)
{
  return address >= memory->address && size <= memory->size && address - memory->address <= memory->size - size;
}

/* Returns the number of allocations, ordered by address, that begin at or before the address. */
uint32_t sim_memories_before(sim_memory *const *memories, uint32_t count, uint64_t address);
/* Makes an allocation. If `bytes` is NULL, allocates uninitialized bytes for it. */
cuda_result sim_memory_new(sim_context *context, sim_memory_kind kind, uint64_t size, uint8_t *bytes, sim_memory **out);
void sim_memory_retain(sim_memory *memory);
void sim_memory_release(sim_memory *memory);
/* Returns the live allocation that contains all these bytes. If there is none, reports that and returns NULL. `what` is the role of
 * the bytes in the call, for the message. */
sim_memory *sim_memory_at(sim_context *context, uint64_t address, uint64_t size, const char *what);
/* Stores the pinned or registered memory that contains these host bytes, or NULL if none is near. Returns false and reports the
 * bytes if they are only partly in such memory, or in the guard pages around pinned memory. */
bool sim_pinned_at(sim_context *context, const void *host, uint64_t size, const char *what, sim_memory **out);
/* Describes the memory at these addresses for a message. */
void sim_memory_explain(const sim_context *context, uint64_t address, uint64_t size, char *text, size_t text_size);
sim_map *sim_map_get(sim_context *context);
void sim_map_release(sim_map *map);
void sim_memory_poison(uint8_t *bytes, uint64_t size); /* needs no lock */
bool sim_memory_is_poison(const uint8_t *byte);
/* Reports an operation that still uses the memory, if there is one. */
void sim_memory_unused(sim_memory *memory);
void sim_memory_free(sim_memory *memory);
/* Returns whether any of these host bytes is pinned or registered, in any context. */
bool sim_pinned_overlaps(const void *host, uint64_t size);
/* Frees all memory of a context. Reports live allocations if `reports`. */
void sim_memory_close(sim_context *context, bool reports);

void sim_host_unmap(const sim_memory *memory);

/* ---- order: order.c ----------------------------------------------------------------------------------------------- */

/* A vector clock: for each stream's place, the number of its last operation that is ordered before. Numbers begin at 1. */
typedef struct sim_clock {
  uint64_t at[SIM_STREAMS];
} sim_clock;

void sim_clock_join(sim_clock *clock, const sim_clock *other);

enum { SIM_READS = 1, SIM_WRITES = 2, SIM_READS_STRONGLY = 4, SIM_WRITES_STRONGLY = 8 };

/* The accesses of an operation, or of a node of a graph, to an allocation. */
typedef struct sim_span {
  sim_memory *memory; /* counted reference */
  uint64_t first, end;
  uint8_t *marks; /* owned: the accesses to each byte of the memory, or NULL if all bytes in the range have `access` */
  uint8_t access;
  uint32_t node; /* index of the node in its graph */
} sim_span;

typedef struct sim_uses {
  struct sim_uses *next;
  char label[SIM_LABEL];
  uint32_t place;
  uint64_t number;
  sim_clock clock;
  bool is_alone; /* no other stream can race with the operation, so accesses of kernels are not recorded */
  uint32_t count, capacity;
  sim_span *spans;
} sim_uses;

void sim_uses_add(sim_uses *uses, sim_memory *memory, uint64_t first, uint64_t size, uint8_t access, uint32_t node);
/* Reports races of a finished operation with earlier ones, and keeps its uses for later ones. The context owns them then. */
void sim_uses_done(sim_context *context, sim_uses *uses);
/* Reports races between nodes of a graph. `is_ordered` returns whether one of two nodes precedes the other. */
void sim_uses_within(const sim_uses *uses, bool (*is_ordered)(const void *user, uint32_t a, uint32_t b), const void *user);
/* Returns the uses of a finished operation that used the memory and for which the host has not waited, or NULL. */
const sim_uses *sim_uses_unwaited(const sim_context *context, const sim_memory *memory);
/* Removes uses with which no later operation can race, or all of them. */
void sim_uses_prune(sim_context *context, bool all);

/* ---- work: work.c ------------------------------------------------------------------------------------------------- */

typedef struct sim_module sim_module;
typedef struct sim_function sim_function;

typedef enum sim_work_kind { SIM_COPY, SIM_FILL, SIM_LAUNCH } sim_work_kind;

/* Source or destination of a copy: an allocation, or pageable host memory. */
typedef struct sim_place {
  sim_memory *memory; /* counted reference, or NULL for pageable memory */
  uint64_t offset;
  uint8_t *host;
} sim_place;

/* The work of a stream's operation or of a graph node. Immutable once it is made. */
typedef struct sim_work {
  sim_work_kind kind;
  uint32_t references;
  char label[SIM_LABEL];
  sim_place to, from;     /* fills have only `to` */
  uint64_t size;          /* bytes */
  uint8_t *staged;        /* owned: the data of a copy from pageable memory */
  uint32_t value, width;  /* of a fill */
  sim_function *function; /* holds a reference to its module */
  uint32_t grid[3], block[3], dynamic_shared;
  bool is_cooperative;
  void *parameters; /* owned */
} sim_work;

sim_work *sim_work_new(sim_work_kind kind, const char *label);
void sim_work_release(sim_work *work);
/* Returns false and reports it if the work uses freed memory or an unloaded module. */
bool sim_work_check(const sim_work *work);
/* Runs the work without the lock, and records its uses. */
cuda_result sim_work_run(sim_context *context, sim_work *work, sim_uses *uses, uint32_t node);

/* Returns the name of a pending copy, fill or graph that uses the memory, or NULL. Accesses of pending kernels are unknown. */
const char *sim_pending_use(const sim_context *context, const sim_memory *memory);

/* ---- streams: stream.c, queue.c ---------------------------------------------------------------------------- */

typedef struct sim_graph sim_graph;
typedef struct sim_graph_run sim_graph_run;
typedef struct sim_event sim_event;

typedef struct sim_op {
  struct sim_op *next;
  sim_work *work;       /* or NULL */
  sim_graph_run *graph; /* or NULL */
  sim_event *event;     /* counted reference: the event to record, or NULL */
  uint64_t record;      /* number of the event's record */
  uint64_t number;      /* number in its place */
  sim_clock clock;      /* operations that are ordered before this one, which is included */
  bool is_late;         /* whether the operation is delayed until the host waits or the deadline passes */
  bool has_begun;       /* whether begin_op was called */
  bool reads_late;      /* whether the host must not change the copy's pinned source, which had `digest` */
  uint64_t digest;
  uint64_t deadline; /* time in nanoseconds at which a late operation begins */
} sim_op;

typedef struct sim_capture sim_capture;

typedef struct sim_stream {
  sim_object object;
  uint32_t place;
  bool is_blocking; /* whether the stream is ordered with the default stream */
  bool closes, is_destroyed;
  sim_op *first, *last;                      /* pending operations; the first one may be running */
  sim_clock clock;                           /* of the last operation, joined with the events that the stream waits for */
  sim_capture *capture;                      /* or NULL if the stream does not capture */
  uint32_t *tail, tail_count, tail_capacity; /* indices of the capture's nodes that the next node depends on */
  cuda_graph_node *tail_handles;             /* owned: their handles as of the last query */
} sim_stream;

/* A context's place for a stream. The next stream in the place continues the numbers of operations. */
typedef struct sim_queue {
  sim_stream *stream;           /* or NULL if the place is free */
  uint64_t given, done, wanted; /* numbers of the last submitted and last finished operation, and of the last one waited for */
} sim_queue;

/* Returns the stream, or the default stream for 0. Reports an invalid handle and returns NULL. */
sim_stream *sim_stream_get(cuda_stream stream);
/* Makes a stream in a place of the context. Returns NULL if its thread cannot be created. */
sim_stream *sim_stream_new(sim_context *context, uint32_t place, bool is_blocking);
bool sim_start_thread(sim_stream *stream);
/* Adds work to the stream, or to the graph that the stream captures. Takes over the caller's reference, also after a failure. */
cuda_result sim_submit(sim_stream *stream, sim_work *work);
/* Returns a new operation after all that it is ordered after. The caller fills it in and calls sim_queue_put. */
sim_op *sim_op_new(sim_stream *stream);
void sim_queue_put(sim_stream *stream, sim_op *op);
/* Returns whether all operations of the clock are done. */
bool sim_is_done(const sim_context *context, const sim_clock *clock);
/* Waits for the operations of the clock, and counts the wait. */
cuda_result sim_host_wait(sim_context *context, const sim_clock *clock);
cuda_result sim_query_clock(sim_context *context, const sim_clock *clock);
/* Waits for all streams of the context. Does not count the wait. */
cuda_result sim_wait_context(sim_context *context);
/* Ends all streams of the context and waits until their threads have ended. */
void sim_wait_threads(sim_context *context);

/* ---- events: event.c ---------------------------------------------------------------------------------------------- */

struct sim_event {
  sim_object object;
  uint32_t references; /* one for the handle, and one for each pending record */
  bool has_time;
  uint64_t record, done;       /* numbers of the last submitted and the last finished record, or 0 */
  sim_clock clock;             /* clock of the last submitted record */
  uint64_t time;               /* nanoseconds at the last finished record */
  sim_capture *capture;        /* counted reference: the capture in which the event was recorded, or NULL */
  uint32_t *nodes, node_count; /* owned: indices of the capture's nodes that the event stands for */
};

void sim_event_recorded(sim_event *event, uint64_t record);
void sim_event_release(sim_event *event);

/* ---- modules and launches: module.c, link.c, launch.c ------------------------------------------------ */

struct sim_function {
  sim_object object;
  sim_function *next; /* in the module's list */
  sim_module *module;
  const ptx_kernel *kernel;
  ptx_kernel_info info;
};

struct sim_module {
  sim_object object;
  uint32_t references; /* one for the handle, and one for each launch */
  bool is_unloaded;
  ptx_module *ptx;
  sim_function *functions; /* owned */
  uint32_t global_count;
  sim_memory **globals;
  uint64_t *addresses;
};

void sim_module_release(sim_module *module);
void sim_module_close(void *module); /* unloads the module */
/* Returns the name of a pending launch of one of the module's functions, or NULL. */
const char *sim_pending_launch(const sim_module *module);
uint32_t sim_occupancy(const sim_function *function, uint64_t threads, uint64_t dynamic_shared);

void sim_link_free(void *link);
/* Stores the PTX text of an image, which is a text or the result of a link. The caller frees the text. */
cuda_result sim_image_text(const void *image, char **out);
/* Log buffers of JIT options, borrowed. */
typedef struct sim_jit {
  char *info, *error;
  size_t info_size, error_size;
  void **info_written, **error_written; /* receive the written sizes; may be NULL */
} sim_jit;
cuda_result sim_jit_options(unsigned int count, const cuda_jit_option *options, void **values, sim_jit *out);
void sim_jit_write(const sim_jit *jit, const char *info, const char *error);
cuda_result sim_ptx_compile(const char *text, const sim_jit *jit, ptx_module **out);

/* Makes the work of a launch: checks the launch and copies its parameters. */
cuda_result sim_launch_work(cuda_function function, const unsigned int grid[3], const unsigned int block[3],
                            unsigned int dynamic_shared, void **parameters, void **extra, bool is_cooperative, sim_work **out);
/* Runs a kernel as graph node `node`, without sim.lock. Records the memory that the kernel uses in `uses`. */
cuda_result sim_launch_run(sim_context *context, const sim_work *work, sim_uses *uses, uint32_t node);

/* ---- graphs: graph.c, capture.c ---------------------------------------------------------------------------- */

typedef struct sim_node {
  sim_object object;
  uint32_t index;
  sim_work *work;               /* counted reference */
  uint32_t *after, after_count; /* owned: indices of the nodes that this one depends on */
} sim_node;

struct sim_graph {
  sim_object object;
  bool is_captured; /* whether the capture has not ended */
  uint32_t count, capacity;
  sim_node **nodes; /* owned, in an order in which each node follows its dependencies */
};

sim_graph *sim_graph_new(sim_context *context);
sim_node *sim_graph_add(sim_graph *graph, sim_work *work, const uint32_t *after, uint32_t count);
void sim_graph_free(void *graph);
void sim_exec_free(void *exec);
cuda_result sim_graph_run_all(sim_context *context, const sim_graph_run *run, sim_uses *uses);
void sim_graph_run_free(sim_graph_run *run);
bool sim_graph_run_has(const sim_graph_run *run, bool (*is_found)(const sim_work *work, const void *user), const void *user);
void sim_graph_run_watch(const sim_graph_run *run, sim_context *context, uint32_t place, uint64_t number);

/* Do the operation of a capturing stream: add a node, record an event, or wait for one. */
cuda_result sim_capture_add(sim_stream *stream, sim_work *work);
cuda_result sim_capture_record(sim_stream *stream, sim_event *event);
cuda_result sim_capture_wait(sim_stream *stream, sim_event *event);
/* Reports a call that a capture forbids, invalidates the capture, and returns `result`. */
cuda_result sim_capture_forbid(sim_capture *capture, cuda_result result, const char *why);
/* Returns an error for an unsafe call if a capture of mode global, or of mode thread-local in this thread, is active. */
cuda_result sim_capture_unsafe(void);
/* Returns an error if `stream` is the default stream and a blocking stream of the context captures. */
cuda_result sim_capture_implicit(const sim_context *context, const sim_stream *stream);
/* Ends or invalidates the capture of a stream that is destroyed. */
void sim_capture_drop(sim_stream *stream);
void sim_capture_forget(sim_event *event);

/* ---- watched host memory: watch.c ---------------------------------------------------------------------------------- */

typedef struct sim_watch sim_watch;

/* Watches the destination of a copy to pinned memory until the host has waited for that operation. Ignores other work. */
void sim_watch_add(sim_context *context, const sim_work *work, uint32_t place, uint64_t number);
/* Reports the host's accesses to watched memory, which the signal handler has only noted. Always returns false. The result
 * exists because sim_context_any requires it. */
bool sim_watch_report(sim_context *context, const void *user);
/* Ends the watches of operations for which the host has waited, or all of them. */
void sim_watch_prune(sim_context *context, bool all);

/* ---- contexts and devices: context.c, device.c --------------------------------------------------------------- */

struct sim_context {
  sim_object object;
  cuda_device device;
  cuda_result error;  /* the sticky error, or CUDA_OK */
  _Atomic bool stops; /* the context is being destroyed */
  sim_queue queues[SIM_STREAMS];
  sim_stream *legacy; /* the default stream */
  uint32_t threads;
  sim_clock host; /* operations for which the host has waited */
  sim_uses *uses; /* uses by finished operations */
  sim_watch *watches;
  uint32_t stream_count;
  sim_map *map; /* or NULL until the next launch */
};

sim_context *sim_context_current(void); /* or NULL if the thread has none */
/* Calls `visit` with each context. Returns whether any call returned true. */
bool sim_context_any(bool (*visit)(sim_context *context, const void *user), const void *user);
/* Notes that the host has waited for these operations. */
void sim_context_waited(sim_context *context, const sim_clock *clock);
/* Sets the context's error if the error is sticky and the context has none. */
void sim_context_fail(sim_context *context, cuda_result error);
bool sim_is_sticky(cuda_result error);

typedef struct sim_device {
  uint32_t sm;
  uint32_t processors; /* multiprocessors */
  uint32_t processor_threads, processor_blocks, processor_registers, processor_shared;
  uint32_t block_shared;
  uint64_t memory;
} sim_device;

bool sim_device_fill(uint32_t sm, sim_device *out); /* false if the architecture is unknown */
/* Returns the number of such blocks that a multiprocessor holds at once, or 0 if none fits. `registers` is per thread. */
uint32_t sim_blocks(const sim_device *device, uint32_t registers, uint64_t threads, uint64_t shared);
/* Returns the number of warps for which a multiprocessor has registers, also the limit for a block. `registers` is per thread. */
uint32_t sim_most_warps(const sim_device *device, uint32_t registers);

/* ---- global state: state.c, messages.c, error.c ------------------------------------------------------- */

typedef enum sim_call {
#define SIM_CALL(id, name) SIM_CALL_##id,
#include "targets/cuda/sim/driver/calls.def"
  SIM_CALLS
} sim_call;

typedef struct sim_counters {
#define SIM_COUNTER(name, text) uint64_t name;
#include "targets/cuda/sim/driver/counters.def"
} sim_counters;

typedef struct sim_state {
  pthread_mutex_t lock;
  pthread_cond_t changed; /* signaled at each change for which a thread may wait */
  bool is_ready;          /* whether cuInit was called */
  uint32_t device_count, driver;
  sim_device device;
  uint64_t seed, draws;
  bool is_lost_whole; /* VYRE_CUDA_SIM_STICKY=process */
  cuda_result lost;   /* the sticky error of the process, with is_lost_whole */
  uint64_t watchdog;  /* nanoseconds, or 0 for none */
  uint32_t contexts;
  uint64_t allocated; /* bytes of device memory in all contexts */
  sim_counters counters;
  uint32_t waiting; /* host threads that wait for streams */
} sim_state;

extern sim_state sim;

/* ---- entry points ------------------------------------------------------------------------------------------------- */

#define CUDA_SYM(name, parameters) __attribute__((visibility("default"))) cuda_function_##name name;
#include "targets/cuda/api/symbols.def"
#define CUDA_SYM(name, parameters)                     \
  typedef cuda_result cuda_function_##name parameters; \
  __attribute__((visibility("default"))) cuda_function_##name name;
#include "targets/cuda/sim/driver/more_symbols.def"

enum {
  SIM_ALWAYS = 0,  /* allowed before cuInit */
  SIM_READY = 1,   /* needs cuInit */
  SIM_CURRENT = 2, /* needs a current context, and returns its sticky error */
  SIM_UNSAFE = 4,  /* forbidden during a capture, depending on its mode */
};

/* Acquires the lock, counts the call, and returns the error if the call must not run. */
cuda_result sim_enter(sim_call call, unsigned needs);
/* Releases the lock and returns `result`. */
cuda_result sim_leave(cuda_result result);

/* Defines an exported entry point. The body that follows runs with the lock. */
#define SIM_ENTRY(name, needs, parameters, arguments)         \
  static cuda_result work_##name parameters;                  \
  cuda_result name parameters                                 \
  {                                                           \
    cuda_result result = sim_enter(SIM_CALL_##name, (needs)); \
    if (result == CUDA_OK)                                    \
      result = work_##name arguments;                         \
    return sim_leave(result);                                 \
  }                                                           \
  static cuda_result work_##name parameters

/* Declares `name`, or returns from the call if `found` is NULL. */
#define SIM_FOUND(type, name, found) \
  type *name = (found);              \
  if (!name)                         \
  return CUDA_INVALID_HANDLE
#define SIM_TRY(call)               \
  do {                              \
    const cuda_result tried = call; \
    if (tried != CUDA_OK)           \
      return tried;                 \
  } while (0)

extern _Thread_local sim_call sim_called_now; /* the thread's last entry point */

const char *sim_call_name(sim_call call);
/* Counts a call. Returns the error with which vyre_cuda_sim_fail makes it fail, or CUDA_OK. */
cuda_result sim_called(sim_call call);
/* Draws a number below `bound`. */
uint64_t sim_draw(uint64_t bound);

/* Adds a message. */
__attribute__((format(printf, 1, 2))) void sim_report(const char *format, ...);
/* Adds a message and evaluates to `result`. */
#define SIM_REFUSE(result, ...) (sim_report(__VA_ARGS__), (result))
/* Applies the value of VYRE_CUDA_SIM_FAIL. */
void sim_fail_from(const char *text);

#endif
