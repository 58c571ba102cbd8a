/* The simulated driver, between its files.
 *
 * One lock (sim.lock) is over everything here.  SIM_ENTRY takes it for each call; a stream's thread has it but while it
 * copies, fills or runs a kernel.  Unless a function says otherwise it is called under the lock, and functions named sim_wait_*
 * give it up while they wait.  What runs without it holds references: to memory, and to the module that a kernel is of.
 *
 * Handles are numbers that are no addresses and are never used again, so that a stale one is told from a wrong one.  The same is
 * true of device addresses: they have the bit that no host address has.
 *
 * The driver's own bookkeeping takes its memory by sim_take, which ends the process where there is none; what programs ask for
 * is refused with CUDA_OUT_OF_MEMORY.
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
  SIM_STREAMS = 64, /* of a context at once, the one without a handle too */
  SIM_LABEL = 64,   /* bytes of a name in messages */
  SIM_STACK = 16,   /* contexts that a thread has pushed */
  SIM_LEGACY = 0,   /* the place of the stream without a handle */
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

/* The first member of each. */
typedef struct sim_object {
  uint64_t id; /* the handle's bits */
  sim_kind kind;
  sim_context *context; /* it belongs to; of a context itself */
  UT_hash_handle hh;
} sim_object;

/* Zero but for its object. */
void *sim_object_new(sim_kind kind, sim_context *context, size_t size);
void sim_object_free(void *object);
void sim_object_hide(void *object); /* its handle is none any more; the memory stays */
/* NULL: there is none such, which is told; or it is of another context than the current one. */
void *sim_object_get(sim_kind kind, const void *handle);
void *sim_object_get_any(sim_kind kind, const void *handle); /* of any context */
/* Says nothing. */
void *sim_object_find(sim_kind kind, uint64_t id);
/* Calls `visit` with each object of that kind and context. */
void sim_object_each(sim_kind kind, const sim_context *context, void (*visit)(void *object));
static inline void *
sim_handle(const void *object)
{
  return (void *)(uintptr_t)((const sim_object *)object)->id; /* NOLINT(performance-no-int-to-ptr): it is a number */
}
/* "stream 3" */
const char *sim_kind_name(sim_kind kind);
static inline unsigned
sim_number(const void *object)
{
  return (unsigned)(((const sim_object *)object)->id >> 4 & 0xfffffff);
}

void *sim_take(size_t size); /* zero; without the lock, too */
/* Grows an array by one element, as vyre_grow does. */
void sim_grow(void *array, uint32_t *capacity, uint32_t count, size_t size);

/* ---- memory: memory.c, host.c ------------------------------------------------------------------------------ */

typedef enum sim_memory_kind { SIM_DEVICE, SIM_PINNED, SIM_REGISTERED, SIM_GLOBAL } sim_memory_kind;

/* An allocation.  It is in the table of all, in the order of addresses, and stays there when it is freed as long as there is room,
 * so that later uses of it are told.  Its bytes stay as long as somebody refers to it. */
typedef struct sim_memory {
  sim_context *context;
  sim_memory_kind kind;
  uint32_t references;
  uint32_t number;
  uint64_t address; /* the device's */
  uint64_t size;
  uint8_t *bytes; /* as the device has them; of what is registered the host's */
  uint8_t *host;  /* as the host has pinned ones */
  void *pages;    /* of pinned memory: the host's, with its guard pages */
  size_t page_bytes;
  bool is_mapped, is_portable, is_const, is_in_table;
  _Atomic bool is_freed;
} sim_memory;

/* What kernels of a launch find addresses in: in their order, and not changed once it is made. */
typedef struct sim_map {
  uint32_t references, count;
  uint64_t version;
  sim_memory *memories[];
} sim_map;

/* Pinned or registered: the host has it too. */
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

/* Returns how many of these, which are in the order of their addresses, begin at or before the address. */
uint32_t sim_memories_before(sim_memory *const *memories, uint32_t count, uint64_t address);
/* Bytes for device memory and globals, whatever they hold; pinned ones have them already. */
cuda_result sim_memory_new(sim_context *context, sim_memory_kind kind, uint64_t size, uint8_t *bytes, sim_memory **out);
void sim_memory_retain(sim_memory *memory);
void sim_memory_release(sim_memory *memory);
/* The allocation that has all these bytes, and is not freed.  NULL: there is none, which is told with what the call wants of it. */
sim_memory *sim_memory_at(sim_context *context, uint64_t address, uint64_t size, const char *what);
/* Of host memory: NULL where no byte is pinned.  False: some are and some are not, or all are on pages of pinned memory and out of
 * its bounds, which is told. */
bool sim_pinned_at(sim_context *context, const void *host, uint64_t size, const char *what, sim_memory **out);
/* What is at these addresses, in words. */
void sim_memory_explain(const sim_context *context, uint64_t address, uint64_t size, char *text, size_t text_size);
sim_map *sim_map_get(sim_context *context);
void sim_map_release(sim_map *map);
void sim_memory_poison(uint8_t *bytes, uint64_t size); /* without the lock, too */
bool sim_memory_is_poison(const uint8_t *byte);
/* Tells who still uses it. */
void sim_memory_unused(sim_memory *memory);
/* It is gone. */
void sim_memory_free(sim_memory *memory);
/* Some of these bytes of the host's are pinned, in whatever context. */
bool sim_pinned_overlaps(const void *host, uint64_t size);
/* All of a context that goes; live ones are told where `tells`. */
void sim_memory_close(sim_context *context, bool tells);

void sim_host_unmap(const sim_memory *memory);

/* ---- order: order.c ----------------------------------------------------------------------------------------------- */

/* Of each stream how much of it is ordered before: operations are numbered from 1 on by place. */
typedef struct sim_clock {
  uint64_t at[SIM_STREAMS];
} sim_clock;

void sim_clock_join(sim_clock *clock, const sim_clock *other);

enum { SIM_READS = 1, SIM_WRITES = 2, SIM_READS_STRONGLY = 4, SIM_WRITES_STRONGLY = 8 };

/* What an operation, or a node of a graph, did to an allocation. */
typedef struct sim_span {
  sim_memory *memory; /* has a reference */
  uint64_t first, end;
  uint8_t *marks; /* of each byte of the memory what was done; NULL: of all from `first` to `end` what `access` says */
  uint8_t access;
  uint32_t node; /* of a graph; which nodes are ordered the graph knows */
} sim_span;

typedef struct sim_uses {
  struct sim_uses *next;
  char label[SIM_LABEL];
  uint32_t place;
  uint64_t number;
  sim_clock clock;
  bool is_alone; /* nobody can race with it: what kernels use is not noted */
  uint32_t count, capacity;
  sim_span *spans;
} sim_uses;

void sim_uses_add(sim_uses *uses, sim_memory *memory, uint64_t first, uint64_t size, uint8_t access, uint32_t node);
/* It is done: tells what races with it among what was done before, and keeps it for what comes.  The context has it then. */
void sim_uses_done(sim_context *context, sim_uses *uses);
/* The same within a graph, of whose nodes `is_ordered` says whether one is before the other. */
void sim_uses_within(const sim_uses *uses, bool (*is_ordered)(const void *user, uint32_t a, uint32_t b), const void *user);
/* Whoever did something with that memory that the host has not waited for; NULL: nobody. */
const sim_uses *sim_uses_unwaited(const sim_context *context, const sim_memory *memory);
/* Drops what nothing can race with any more; `all`: all. */
void sim_uses_prune(sim_context *context, bool all);

/* ---- work: work.c ------------------------------------------------------------------------------------------------- */

typedef struct sim_module sim_module;
typedef struct sim_function sim_function;

typedef enum sim_work_kind { SIM_COPY, SIM_FILL, SIM_LAUNCH, SIM_NOTHING } sim_work_kind;

/* Where copies go and come from: an allocation, or host memory that nobody pinned. */
typedef struct sim_place {
  sim_memory *memory; /* has a reference; NULL: host */
  uint64_t offset;
  uint8_t *host;
} sim_place;

/* What a stream does, or a node of a graph; as it is made it stays. */
typedef struct sim_work {
  sim_work_kind kind;
  uint32_t references;
  char label[SIM_LABEL];
  sim_place to, from; /* copies; `to` of fills */
  uint64_t size;      /* bytes */
  uint8_t *staged;    /* owned: what a copy from memory that nobody pinned is to copy */
  uint32_t value, width;
  sim_function *function; /* its module has a reference */
  uint32_t grid[3], block[3], dynamic_shared;
  bool is_cooperative;
  void *parameters; /* owned */
} sim_work;

sim_work *sim_work_new(sim_work_kind kind, const char *label);
void sim_work_release(sim_work *work);
/* Memory that was freed, or a module that was unloaded, is told: false. */
bool sim_work_check(const sim_work *work);
/* Runs it, giving up the lock meanwhile, and notes what it used. */
cuda_result sim_work_run(sim_context *context, sim_work *work, sim_uses *uses, uint32_t node);

/* An operation that is to come, and uses that memory for all that is known; NULL: none. */
const char *sim_pending_use(const sim_context *context, const sim_memory *memory);

/* ---- streams: stream.c, queue.c ---------------------------------------------------------------------------- */

typedef struct sim_graph sim_graph;
typedef struct sim_graph_run sim_graph_run;
typedef struct sim_event sim_event;

typedef struct sim_op {
  struct sim_op *next;
  sim_work *work;       /* NULL: a graph, a record, or a wait alone */
  sim_graph_run *graph; /* NULL: none */
  sim_event *event;     /* to be recorded; has a reference; NULL: none */
  uint64_t record;      /* which of its records */
  uint64_t number;      /* of its place */
  sim_clock clock;      /* what is ordered before it, itself included */
  bool is_late;         /* begins as late as can be */
  bool has_begun;       /* what it is going to write is poisoned */
  bool reads_late;      /* a copy from pinned memory, whose bytes are not to change before: */
  uint64_t digest;
  uint64_t deadline; /* nanoseconds: it begins now at last */
} sim_op;

typedef struct sim_capture sim_capture;

typedef struct sim_stream {
  sim_object object;
  uint32_t place;
  bool is_blocking; /* ordered with the one without a handle */
  bool closes, is_destroyed;
  sim_op *first, *last;                      /* the first one may be running */
  sim_clock clock;                           /* of its last operation, and of events that it was told to wait for */
  sim_capture *capture;                      /* NULL: it captures nothing */
  uint32_t *tail, tail_count, tail_capacity; /* of the capture's nodes those that whatever comes next is after */
  cuda_graph_node *tail_handles;             /* as they were asked for last */
} sim_stream;

/* A context's place for a stream; numbers of operations go on when another stream has it. */
typedef struct sim_queue {
  sim_stream *stream;           /* NULL: none, and none that still works */
  uint64_t given, done, wanted; /* numbers of the last operation; wanted: the host waits for that one */
} sim_queue;

/* The one without a handle for 0.  NULL: told. */
sim_stream *sim_stream_get(cuda_stream stream);
/* NULL: there is no thread to be had. */
sim_stream *sim_stream_new(sim_context *context, uint32_t place, bool is_blocking);
bool sim_start_thread(sim_stream *stream);
/* Takes the work's reference, and gives it to the stream or to the graph that it captures. */
cuda_result sim_submit(sim_stream *stream, sim_work *work);
/* An operation at the stream's end, with what it is ordered after; the caller fills it and gives it to sim_queue_put. */
sim_op *sim_op_new(sim_stream *stream);
void sim_queue_put(sim_stream *stream, sim_op *op);
/* All that the clock has is done, or the context is lost. */
bool sim_is_done(const sim_context *context, const sim_clock *clock);
cuda_result sim_host_wait(sim_context *context, const sim_clock *clock); /* a call that waits, which is counted */
cuda_result sim_query_clock(sim_context *context, const sim_clock *clock);
/* Of all streams. */
cuda_result sim_wait_context(sim_context *context);
/* Threads of streams that ended or are to end; returns when there are none. */
void sim_wait_threads(sim_context *context);

/* ---- events: event.c ---------------------------------------------------------------------------------------------- */

struct sim_event {
  sim_object object;
  uint32_t references; /* the handle has one, and each record that is to come */
  bool has_time;
  uint64_t record, done; /* numbers of records; 0: none */
  sim_clock clock;       /* of the last one */
  uint64_t time;         /* nanoseconds of that which was done last */
  /* Of a capture it was recorded in: node numbers that it stands for. */
  sim_capture *capture;
  uint32_t *nodes, node_count;
};

void sim_event_recorded(sim_event *event, uint64_t record);
void sim_event_release(sim_event *event);

/* ---- modules and launches: module.c, link.c, launch.c ------------------------------------------------ */

struct sim_function {
  sim_object object;
  sim_function *next; /* of the module's */
  sim_module *module;
  const ptx_kernel *kernel;
  ptx_kernel_info info;
};

struct sim_module {
  sim_object object;
  uint32_t references; /* the handle has one */
  bool is_unloaded;
  ptx_module *ptx;
  sim_function *functions; /* owned */
  uint32_t global_count;
  sim_memory **globals;
  uint64_t *addresses;
};

void sim_module_release(sim_module *module);
void sim_module_close(void *module); /* unloads it */
/* A launch that is to come, of one of the module's functions; NULL: none. */
const char *sim_pending_launch(const sim_module *module);
uint32_t sim_occupancy(const sim_function *function, uint64_t threads, uint64_t dynamic_shared);

void sim_link_free(void *link);
/* PTX text for what somebody loads, the caller's to free: the image may be text or what a link made. */
cuda_result sim_image_text(const void *image, char **out);
/* Buffers of JIT options, into which the log goes. */
typedef struct sim_jit {
  char *info, *error;
  size_t info_size, error_size;
  void **info_written, **error_written; /* NULL: nobody asks */
} sim_jit;
cuda_result sim_jit_options(unsigned int count, const cuda_jit_option *options, void **values, sim_jit *out);
void sim_jit_say(const sim_jit *jit, const char *info, const char *error);
cuda_result sim_ptx_compile(const char *text, const sim_jit *jit, ptx_module **out);

/* Checked, its parameters copied. */
cuda_result sim_launch_work(cuda_function function, const unsigned int grid[3], const unsigned int block[3],
                            unsigned int dynamic_shared, void **parameters, void **extra, bool is_cooperative, sim_work **out);
/* The lock is given up while it runs. */
cuda_result sim_launch_run(sim_context *context, const sim_work *work, sim_uses *uses, uint32_t node);

/* ---- graphs: graph.c, capture.c ---------------------------------------------------------------------------- */

typedef struct sim_node {
  sim_object object;
  uint32_t index;
  sim_work *work; /* has a reference */
  uint32_t *after, after_count;
} sim_node;

struct sim_graph {
  sim_object object;
  bool is_captured; /* still */
  uint32_t count, capacity;
  sim_node **nodes; /* owned, each after those that it is after */
};

sim_graph *sim_graph_new(sim_context *context);
sim_node *sim_graph_add(sim_graph *graph, sim_work *work, const uint32_t *after, uint32_t count);
void sim_graph_free(void *graph);
void sim_exec_free(void *exec);
cuda_result sim_graph_run_all(sim_context *context, const sim_graph_run *run, sim_uses *uses);
void sim_graph_run_free(sim_graph_run *run);
bool sim_graph_run_has(const sim_graph_run *run, bool (*is_found)(const sim_work *work, const void *user), const void *user);
void sim_graph_run_watch(const sim_graph_run *run, sim_context *context, uint32_t place, uint64_t number);

/* Of a stream that captures: the work becomes a node. */
cuda_result sim_capture_add(sim_stream *stream, sim_work *work);
cuda_result sim_capture_record(sim_stream *stream, sim_event *event);
cuda_result sim_capture_wait(sim_stream *stream, sim_event *event);
/* A call that a capture forbids: the capture is invalid from now on, which is told.  Returns what the call returns. */
cuda_result sim_capture_forbid(sim_capture *capture, cuda_result result, const char *why);
/* A call that no capture of mode global, nor one of this thread, allows. */
cuda_result sim_capture_unsafe(void);
/* A stream that is ordered with the one without a handle is used, or that one: not while one of the kind captures. */
cuda_result sim_capture_implicit(const sim_context *context, const sim_stream *stream);
void sim_capture_drop(sim_stream *stream); /* the stream goes */
void sim_capture_forget(sim_event *event);

/* ---- what hosts must not touch: watch.c ---------------------------------------------------------------------------- */

typedef struct sim_watch sim_watch;

/* If it is a copy to pinned memory: until the host has waited for that operation. */
void sim_watch_add(sim_context *context, const sim_work *work, uint32_t place, uint64_t number);
/* Tells what the host did to them since, which is not told at once: somebody's signal handler came to it. */
bool sim_watch_tell(sim_context *context, const void *user);
/* Ends those that the host has waited for; `all`: all. */
void sim_watch_prune(sim_context *context, bool all);

/* ---- contexts and devices: context.c, device.c --------------------------------------------------------------- */

struct sim_context {
  sim_object object;
  cuda_device device;
  cuda_result error;  /* that sticks; CUDA_OK: none */
  _Atomic bool stops; /* it is being destroyed */
  sim_queue queues[SIM_STREAMS];
  sim_stream *legacy; /* the one without a handle */
  uint32_t threads;
  sim_clock host; /* what the host has waited for */
  sim_uses *uses; /* of what is done */
  sim_watch *watches;
  uint32_t stream_count;
  sim_map *map; /* NULL: to be made */
};

sim_context *sim_context_current(void); /* NULL: none */
/* Calls `visit` with each context; one of them says true. */
bool sim_context_any(bool (*visit)(sim_context *context, const void *user), const void *user);
/* The host has waited for these. */
void sim_context_waited(sim_context *context, const sim_clock *clock);
/* An error that sticks, if it is one of those. */
void sim_context_fail(sim_context *context, cuda_result error);
bool sim_is_sticky(cuda_result error);

typedef struct sim_device {
  uint32_t sm;
  uint32_t processors; /* multiprocessors */
  uint32_t processor_threads, processor_blocks, processor_registers, processor_shared;
  uint32_t block_registers, block_shared;
  uint64_t memory;
} sim_device;

bool sim_device_fill(uint32_t sm, sim_device *out); /* false: unknown */
/* Of a block of that many threads with that many registers each, and its shared memory; 0: none fits. */
uint32_t sim_blocks(const sim_device *device, uint32_t registers, uint64_t threads, uint64_t shared);
uint32_t sim_most_warps(const sim_device *device, uint32_t registers); /* of a multiprocessor, and so of a block */

/* ---- the whole: state.c, messages.c, error.c ---------------------------------------------------------- */

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
  pthread_cond_t changed; /* anything that somebody may wait for */
  bool is_ready;          /* cuInit was called */
  uint32_t device_count, driver;
  sim_device device;
  uint64_t seed, draws;
  bool is_lost_whole; /* VYRE_CUDA_SIM_STICKY=process */
  cuda_result lost;   /* the sticky error of the process then */
  uint64_t watchdog;  /* nanoseconds; 0: none */
  uint32_t contexts;
  uint64_t allocated; /* bytes of device memory, of all contexts */
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
  SIM_ALWAYS = 0,  /* can be called before cuInit */
  SIM_READY = 1,   /* after it */
  SIM_CURRENT = 2, /* with a current context, whose error that sticks it returns */
  SIM_UNSAFE = 4,  /* not while a stream captures, unless the capture says so */
};

/* Takes the lock, counts the call, and returns what it fails with before it has begun. */
cuda_result sim_enter(sim_call call, unsigned needs);
/* Gives the lock back and returns `result`. */
cuda_result sim_leave(cuda_result result);

/* Defines an entry point by the name that the library exports; the body that follows has the lock. */
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

/* Declares `name`, or returns from the call if nothing was found. */
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

extern _Thread_local sim_call sim_called_now; /* the entry point that the thread is in */

const char *sim_call_name(sim_call call);
/* Counts it, and says what it fails with. */
cuda_result sim_called(sim_call call);
/* A number below `bound`. */
uint64_t sim_draw(uint64_t bound);

/* A rule was broken. */
__attribute__((format(printf, 1, 2))) void sim_tell(const char *format, ...);
/* And that is what the call returns. */
#define SIM_REFUSE(result, ...) (sim_tell(__VA_ARGS__), (result))
/* Reads the environment's failure. */
void sim_fail_from(const char *text);

#endif
