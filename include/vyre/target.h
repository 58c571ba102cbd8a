/* The interface of a target, which runs kernels: one table of functions, with one implementation in each folder of targets/.
 *
 * The main operation submits a sequence: fills, uploads, steps (a kernel, its buffers and its grid), repeats of steps, and range
 * reads. They run in that order on one queue or stream, with one host wait. Writing and reading a buffer are sequences with one
 * entry.
 *
 * Threads: any thread may use an open target at any time, except that `close` is the last call. Calls run one after the other.
 * While one thread waits in `submit` or `wait`, others may call a target that was opened with `shared` and has VYRE_TARGET_ASYNC.
 * Without `shared`, the first call during such a wait lasts until the wait ends. `is_lost` and `hangs` never wait. Sequences of
 * different threads on the same bytes need an order: a call that returned before another one began precedes it. A ticket belongs
 * to one thread at a time. A callback of a target must not call that target. Different targets, also with the same table, share no
 * state that a caller can see. Ownership: arguments are borrowed for the call. Memory that a begun submission names is borrowed
 * until the submission was waited for. Handles are numbers that the target checks: an invalid, stale or foreign handle is an
 * error, not a crash. Errors: DEVICE for a missing library, symbol or device, and for errors of the device; INPUT for a sequence
 * or kernel that this interface or the device's limits do not allow. vyre_status_is_out_of_memory detects that device or host
 * memory ran out. Messages have the API's name, code and text, the request, and a "Fix:" line that names no options of a program.
 * A program adds a note with its own.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TARGET_H
#define VYRE_TARGET_H

#include "vyre/types.h"
#include "vyre/status.h"

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vyre_target vyre_target; /* an open device; each target defines its own struct */

typedef struct vyre_target_options {
  size_t struct_size;  /* sizeof(vyre_target_options) */
  const char *library; /* path of the driver library, or NULL for the platform's */
  /* The device: its index in `list`, its kind (discrete, integrated, virtual, cpu), or a part of its name in any case. Real GPUs
   * have precedence. NULL accepts any. */
  const char *device;
  bool validate;     /* enables the API's validation; its messages fail the call that caused them */
  uint32_t timeout;  /* seconds after which an unfinished submission counts as hanging, or 0 for no limit */
  uint32_t threads;  /* for targets on the host's processors; 0 for as many as the process may use */
  const char *cache; /* folder for compiled kernels, created if missing, or NULL for no cache */
  /* Receives remarks that are not errors: a line of text without its end, during a call of the target. May be NULL. */
  void (*remark)(void *user, const char *text);
  void *remark_user;
  /* Kernels are compiled only for `statistics`: each is compiled anew, without a cache, and none is run. */
  bool statistics;
  /* Set if several threads use the target at a time. Each wait then polls, and releases the target's lock between polls. */
  bool shared;
  bool no_pinning; /* for GPU passes: pages of a module are not registered with the device, because memory is limited */
} vyre_target_options;

typedef enum vyre_device_kind {
  VYRE_DEVICE_OTHER,
  VYRE_DEVICE_DISCRETE,
  VYRE_DEVICE_INTEGRATED,
  VYRE_DEVICE_VIRTUAL,
  VYRE_DEVICE_CPU,
} vyre_device_kind;

typedef enum vyre_device_feature {
  VYRE_DEVICE_INT8 = 1,
  VYRE_DEVICE_INT16 = 2,
  VYRE_DEVICE_INT64 = 4,
  VYRE_DEVICE_FLOAT16 = 8,
  VYRE_DEVICE_FLOAT64 = 16,
  VYRE_DEVICE_STORAGE16 = 32, /* 16-bit scalars in storage buffers; the next two in uniform buffers and push constants */
  VYRE_DEVICE_UNIFORM16 = 64,
  VYRE_DEVICE_PUSH16 = 128,
  VYRE_DEVICE_STORAGE8 = 256,
  VYRE_DEVICE_UNIFORM8 = 512,
  VYRE_DEVICE_PUSH8 = 1024,
  VYRE_DEVICE_SUBGROUP_TYPES = 2048, /* subgroup operations on integers of 8, 16 and 64 bits and on f16 */
} vyre_device_feature;

/* Atomics other than those on 32-bit integers. Each float kind has three bits: load, store and exchange; add; min and max. */
typedef enum vyre_device_atomic {
  VYRE_DEVICE_ATOMIC_INT64 = 1,
  VYRE_DEVICE_ATOMIC_F16 = 2,
  VYRE_DEVICE_ATOMIC_F16_ADD = 4,
  VYRE_DEVICE_ATOMIC_F16_MINMAX = 8,
  VYRE_DEVICE_ATOMIC_F32 = 16,
  VYRE_DEVICE_ATOMIC_F32_ADD = 32,
  VYRE_DEVICE_ATOMIC_F32_MINMAX = 64,
  VYRE_DEVICE_ATOMIC_F64 = 128,
  VYRE_DEVICE_ATOMIC_F64_ADD = 256,
  VYRE_DEVICE_ATOMIC_F64_MINMAX = 512,
} vyre_device_atomic;

/* Subgroup operations. The numbers are VkSubgroupFeatureFlagBits'. */
typedef enum vyre_device_subgroup {
  VYRE_DEVICE_SUBGROUP_BASIC = 1,
  VYRE_DEVICE_SUBGROUP_VOTE = 2,
  VYRE_DEVICE_SUBGROUP_ARITHMETIC = 4,
  VYRE_DEVICE_SUBGROUP_BALLOT = 8,
  VYRE_DEVICE_SUBGROUP_SHUFFLE = 16,
  VYRE_DEVICE_SUBGROUP_SHUFFLE_RELATIVE = 32,
  VYRE_DEVICE_SUBGROUP_CLUSTERED = 64,
  VYRE_DEVICE_SUBGROUP_QUAD = 128,
} vyre_device_subgroup;

/* Queues of a device; 0 for a target without queues. */
typedef enum vyre_device_queue {
  VYRE_DEVICE_QUEUE_COMPUTE = 1,
  VYRE_DEVICE_QUEUE_TRANSFER = 2, /* a transfer queue beside the compute queue */
} vyre_device_queue;

/* Optional features of this interface. A target refuses the ones that it lacks, and names them. */
typedef enum vyre_target_capability {
  VYRE_TARGET_IMAGES = 1,        /* slots of texels, images and samplers */
  VYRE_TARGET_GRID_BARRIERS = 2, /* kernels with barriers for the whole grid; without it, callers split them: vyre/split.h */
  VYRE_TARGET_IMPORT = 4,        /* `import`: buffers over the caller's memory */
  VYRE_TARGET_ADDRESSES = 8,     /* `address`: kernels may get buffers by address */
  VYRE_TARGET_PARTS = 16,        /* steps of a part of a grid */
  VYRE_TARGET_INDIRECT = 32,     /* steps whose grid is in a buffer */
  VYRE_TARGET_ASYNC = 64,        /* `begin` returns before the work is done; without it, `begin` does the work */
  VYRE_TARGET_DEVICE_TIME = 128, /* timings have device_ns */
  VYRE_TARGET_EMULATED = 256,    /* a simulator for tests, not a device */
  VYRE_TARGET_SHARED = 512,      /* buffers are in memory that the host shares, so little or nothing is copied */
  VYRE_TARGET_STATISTICS = 1024, /* `statistics`: the driver reports facts about compiled kernels */
} vyre_target_capability;

/* The properties that vyre_target_measure measured; the others are reported by the driver. */
typedef enum vyre_device_measured {
  VYRE_DEVICE_MEASURED_BANDWIDTH = 1,
  VYRE_DEVICE_MEASURED_LAUNCH = 2,
} vyre_device_measured;

/* Properties and limits of a device. Sizes are in bytes unless a comment says otherwise. */
typedef struct vyre_device_info {
  uint32_t index;
  char name[256];
  char driver[256]; /* the driver and its version, as text */
  vyre_device_kind kind;
  bool usable;                              /* whether the device has everything that the target needs */
  uint32_t capabilities;                    /* vyre_target_capability */
  uint32_t forms;                           /* a bit for each vyre_kernel_form that the device accepts */
  uint32_t features;                        /* vyre_device_feature */
  uint32_t storage_atomics, shared_atomics; /* vyre_device_atomic, in storage buffers and in workgroup memory */
  uint32_t subgroup_operations;             /* vyre_device_subgroup */
  uint32_t float_controls;                  /* VYRE_FLOAT_CONTROLS of each kind */
  bool free_float_controls;                 /* whether the float controls of one kind are independent of the others */
  uint32_t queues;                          /* vyre_device_queue */
  uint64_t memory;
  uint64_t budget;      /* the part of `memory` that this process may use, as of the query; `memory` if unknown */
  uint64_t max_buffer;  /* of an allocation */
  uint64_t max_storage; /* of a range bound as a storage buffer */
  uint64_t max_uniform;
  uint32_t max_push;
  uint32_t max_shared; /* for each workgroup */
  uint32_t max_workgroup[3];
  uint32_t max_invocations; /* for each workgroup */
  uint32_t max_groups[3];
  uint32_t storage_align, uniform_align; /* alignment of the offset of a bound range */
  uint32_t subgroup;                     /* lanes of a subgroup, or 0 if unknown */
  uint32_t max_iterations; /* of all loops of an invocation together, after which the driver silently ends them; 0 for no limit */
  char architecture[32];   /* the architecture that kernels are compiled for, such as sm_90, or "" if unknown */
  /* The profile for performance models. A value is 0 if it is unknown, which is never replaced by a guess. */
  uint32_t compute_units;  /* parts that execute workgroups independently: multiprocessors, cores, threads of the CPU target */
  uint32_t registers;      /* 32-bit registers of a compute unit */
  uint32_t max_registers;  /* 32-bit registers of an invocation, beyond which values are spilled */
  uint64_t l1_cache;       /* of a compute unit */
  uint64_t l2_cache;       /* of the device, or of a core of a CPU */
  uint64_t bandwidth;      /* bytes a second of the device's memory: its peak as the driver reports it, or as measured with fills */
  uint64_t launch_ns;      /* least time from `submit` of one empty kernel to its return; known only if measured */
  uint32_t measured;       /* vyre_device_measured */
} vyre_device_info;

/* Handles; 0 is invalid. */
typedef struct vyre_device_buffer {
  uint64_t id;
} vyre_device_buffer;

typedef struct vyre_kernel {
  uint64_t id;
} vyre_kernel;

/* ---- kernels ------------------------------------------------------------------------------------------------------------- */

typedef enum vyre_kernel_form {
  VYRE_KERNEL_SPIRV, /* code: words */
  VYRE_KERNEL_PTX,   /* code: text */
  VYRE_KERNEL_C,     /* code: a vyre_kernel_function *, valid until the kernel is released; size: that of the struct */
  VYRE_KERNEL_VIR,   /* code: a vyre_kernel_program *; its module must not change until the kernel is released; size: that of the
                      * struct */
  VYRE_KERNEL_FORM__COUNT
} vyre_kernel_form;

struct vyre_c_dispatch;
struct vyre_module;

/* A program compiled to C (c.h). Its buffers are the kernel's slots in order. Its push constants are one slot of kind PUSH. */
typedef struct vyre_kernel_function {
  uint32_t (*run)(const struct vyre_c_dispatch *dispatch);
  bool in_order; /* workgroups must run one after the other in numerical order, because one may use results of another */
} vyre_kernel_function;

/* A program of a sealed, verified module. */
typedef struct vyre_kernel_program {
  const struct vyre_module *module;
  uint32_t row;
  uint32_t subgroup; /* lanes of a subgroup, a power of two up to 128, or 0 for the target's choice */
} vyre_kernel_program;

typedef enum vyre_slot_kind {
  VYRE_SLOT_STORAGE,
  VYRE_SLOT_UNIFORM,
  VYRE_SLOT_STORAGE_TEXELS,
  VYRE_SLOT_UNIFORM_TEXELS,
  VYRE_SLOT_STORAGE_IMAGE,
  VYRE_SLOT_SAMPLED_IMAGE,
  VYRE_SLOT_COMBINED, /* a sampled image with its sampler */
  VYRE_SLOT_SAMPLER,
  VYRE_SLOT__COUNT,
  VYRE_SLOT_PUSH = VYRE_SLOT__COUNT /* for C only: a step has no buffer for it */
} vyre_slot_kind;

/* The numbers are SPIR-V's (Dim). */
typedef enum vyre_image_dim { VYRE_IMAGE_1D, VYRE_IMAGE_2D, VYRE_IMAGE_3D, VYRE_IMAGE_CUBE, VYRE_IMAGE__COUNT } vyre_image_dim;

/* An image with one level and one sample. The kernel owns its images. Before a step, each image gets its texels from the step's
 * range for it. After the step, storage images are copied back to their ranges. Texels in a range have no gaps and are ordered by
 * x, y, z and layer, x fastest. Each cube has six layers. */
typedef struct vyre_image {
  vyre_image_dim dim;
  bool arrayed;
  bool is_depth;      /* for floats only: a depth image, for comparisons */
  uint32_t format;    /* SPIR-V's number: vyre/texels.def */
  uint32_t extent[3]; /* in texels, 1 for a missing axis; texel slots have only x */
  uint32_t layers;    /* number of layers; each cube has six */
} vyre_image;

typedef enum vyre_sampler {
  VYRE_SAMPLER_LINEAR = 1, /* linear filtering if the device supports it for every image of the slot; otherwise nearest */
  VYRE_SAMPLER_COMPARE = 2,
} vyre_sampler;

/* The descriptors of a kernel at one (set, binding). */
typedef struct vyre_kernel_slot {
  uint32_t set, binding;
  vyre_slot_kind kind;
  uint32_t count;           /* number of descriptors; 0 counts as 1 */
  bool is_read_only;        /* storage: the kernel never writes it, so steps that only read it need no order */
  uint32_t sampler;         /* vyre_sampler */
  const vyre_image *images; /* of texels and images: one for each descriptor; borrowed for the call */
} vyre_kernel_slot;

typedef struct vyre_kernel_spec {
  uint32_t id;
  uint32_t size; /* bytes of the constant: 1, 2, 4 (also bool) or 8 */
  uint64_t bits;
} vyre_kernel_spec;

typedef struct vyre_kernel_desc {
  const char *label; /* a file or program name, for messages */
  vyre_kernel_form form;
  const void *code;
  size_t size; /* in bytes */
  const char *entry;
  uint32_t workgroup[3];         /* the workgroup size for these specialization values */
  const vyre_kernel_slot *slots; /* each (set, binding) once; a step has a buffer for each descriptor, in this order */
  uint32_t slot_count;
  const vyre_kernel_spec *specs; /* ids that the code lacks are ignored */
  uint32_t spec_count;
  uint32_t push_size; /* bytes of push constants, a multiple of 4 */
} vyre_kernel_desc;

/* A fact that a driver reports about a compiled kernel. Texts are borrowed for the call that passes them. */
typedef enum vyre_figure_kind { VYRE_FIGURE_U64, VYRE_FIGURE_F64, VYRE_FIGURE_BOOL } vyre_figure_kind;

typedef struct vyre_kernel_figure {
  const char *part;        /* the part of the kernel, if the driver compiled several programs, or "" for the whole */
  const char *name, *text; /* the driver's name for the figure, and a one-line description */
  vyre_figure_kind kind;
  uint64_t u64; /* the value by kind; the others are 0 */
  double f64;
  bool is_true;
} vyre_kernel_figure;

/* ---- sequences ----------------------------------------------------------------------------------------------------------- */

typedef struct vyre_range {
  vyre_device_buffer buffer;
  uint64_t offset;
  uint64_t size; /* in bytes; 0 for everything to the buffer's end */
} vyre_range;

typedef struct vyre_fill {
  vyre_range range; /* the offset is a multiple of 4; so is the size, unless the range ends at the buffer's end */
  uint32_t value;   /* the repeated word */
} vyre_fill;

typedef struct vyre_upload {
  vyre_range range;
  const void *data;
} vyre_upload;

typedef struct vyre_step {
  vyre_kernel kernel;
  const vyre_range *buffers; /* one for each descriptor of the kernel's slots, except samplers */
  uint32_t buffer_count;
  const void *push; /* push_size bytes */
  uint32_t push_size;
  uint32_t groups[3]; /* workgroups along each axis; if one is 0, nothing runs */
  /* Runs only `count` of the groups from number `first` on, numbered with x fastest (VYRE_TARGET_PARTS). 0, 0 means all. */
  uint64_t first, count;
  /* Three words in a buffer that are the number of groups when the step begins (VYRE_TARGET_INDIRECT). If one exceeds its element
   * of `groups`, the step does nothing and the sequence fails. If the buffer is 0, `groups` is used. */
  vyre_range indirect;
  /* The step may run at the same time as the step before it. Neither writes memory that the other reads or writes, except by
   * atomics that commute. Ignored for the first step of a repeat and the first step after one. */
  bool beside;
} vyre_step;

/* A loop over consecutive steps. Repeats are in the order of their steps and do not overlap. */
typedef struct vyre_repeat {
  uint32_t first, count; /* range of steps */
  uint32_t times;        /* most iterations, at least 1; skipped iterations are cheap on a device, but not free */
  /* The repeat also ends when this word is 0 at the end of an iteration. If it is not 0 after `times` iterations, the later steps
   * do nothing, and the reads still happen. If the buffer is 0, the repeat runs `times` iterations. */
  vyre_range until;
} vyre_repeat;

/* How a repeat ended. Without `until`, the word is 0. If the sequence stopped before the repeat, both are 0. */
typedef struct vyre_repeat_end {
  uint32_t iterations;
  uint32_t word; /* `until` after the last iteration; if not 0, the sequence stopped there and may be resumed with this repeat */
} vyre_repeat_end;

typedef struct vyre_read {
  vyre_range range;
  void *data; /* written when all steps are done; unchanged if the sequence fails */
} vyre_read;

/* Commands for a device. Later entries see the effects of earlier ones. Every list may be empty. */
typedef struct vyre_sequence {
  const vyre_fill *fills;
  uint32_t fill_count;
  const vyre_upload *uploads;
  uint32_t upload_count;
  const vyre_step *steps;
  uint32_t step_count;
  const vyre_read *reads;
  uint32_t read_count;
  const vyre_repeat *repeats;
  uint32_t repeat_count;
  vyre_repeat_end *ends; /* an element for each repeat, written when reads are */
  /* An element for each step, or NULL, which costs less. Set when reads are written: the device time of the step in nanoseconds,
   * over all iterations, including waits for its dependencies. 0 without VYRE_TARGET_DEVICE_TIME, and for launches beyond the
   * number that the target can time. */
  uint64_t *step_ns;
} vyre_sequence;

/* A submission in flight; 0 is invalid. */
typedef struct vyre_ticket {
  uint64_t id;
} vyre_ticket;

/* The cost of one submission. The words that report the ends of repeats count as bytes_down. */
typedef struct vyre_timing {
  uint32_t waits;       /* host waits: usually 1; more for a repeat with many iterations, 0 for uploads by the host alone */
  uint32_t launches;    /* kernel launches, counting each iteration, without those of 0 groups */
  uint32_t batches;     /* submissions to the driver: 1, or more for many launches and for copies on a queue of their own */
  uint32_t allocations; /* of device or staging memory */
  uint64_t bytes_up, bytes_down, bytes_filled;
  uint64_t host_ns;                       /* from call to return; it includes the next three */
  uint64_t record_ns, submit_ns, wait_ns; /* time to record commands, to submit them, and to wait; 0 if unknown */
  uint64_t device_ns;                     /* from the start of the first command to the end of the last one, or 0 if unknown */
  uint64_t device_start_ns; /* start of the first command by the host's CLOCK_MONOTONIC, or 0 if the clocks cannot be compared */
} vyre_timing;

/* ---- the table ----------------------------------------------------------------------------------------------------------- */

/* Data for `keep`, which uploads it once. */
typedef struct vyre_static {
  const void *data;
  uint64_t size;
} vyre_static;

typedef struct vyre_target_ops {
  uint32_t struct_size; /* sizeof when the target was built; later slots count as NULL */
  const char *name;
  /* Opens a device. `options` may be NULL for defaults. The allocator is copied; NULL means the default. */
  vyre_status (*open)(const vyre_target_options *options, const vyre_allocator *allocator, vyre_target **out);
  /* Waits for submissions in flight, frees everything, and reports errors that the API's checks found at the end. Does nothing to
   * NULL. */
  vyre_status (*close)(vyre_target *target);
  /* Stores the properties of the open device. */
  void (*describe)(const vyre_target *target, vyre_device_info *out);
  /* Allocates a buffer with undefined contents. Size 0 is an error. */
  vyre_status (*allocate)(vyre_target *target, uint64_t size, vyre_device_buffer *out);
  /* Frees a buffer that is not in flight. Within a budget, freed memory is kept for the next buffer of the same size. */
  vyre_status (*free)(vyre_target *target, vyre_device_buffer buffer);
  /* Compiles a kernel. `desc` and everything it points to is borrowed for the call, except where vyre_kernel_form says
   * otherwise. */
  vyre_status (*compile)(vyre_target *target, const vyre_kernel_desc *desc, vyre_kernel *out);
  /* Frees a kernel that is not in flight. */
  vyre_status (*release)(vyre_target *target, vyre_kernel kernel);
  /* Runs a sequence and returns when everything is done and read. Stops at the first error; completed work stays done. `timing` may
   * be NULL. */
  vyre_status (*submit)(vyre_target *target, const vyre_sequence *sequence, vyre_timing *timing);
  /* Optional. Calls `emit` for each device, usable or not. If NULL, the target's only device is the one that `open` opens. */
  vyre_status (*list)(const vyre_target_options *options, void (*emit)(void *user, const vyre_device_info *info), void *user);
  /* Optional. Stores the address by which kernels may access the buffer. NULL without VYRE_TARGET_ADDRESSES. */
  vyre_status (*address)(vyre_target *target, vyre_device_buffer buffer, uint64_t *out);
  /* Returns the error that `compile` would return because the target does not support the kernel, without compiling it. */
  vyre_status (*supports)(vyre_target *target, const vyre_kernel_desc *desc);
  /* Allocates or frees several buffers. If one allocation fails, the ones before it are freed in order, and `out` is zeroed. */
  vyre_status (*allocate_many)(vyre_target *target, const uint64_t *sizes, uint32_t count, vyre_device_buffer *out);
  vyre_status (*free_many)(vyre_target *target, const vyre_device_buffer *buffers, uint32_t count);
  /* Optional. Makes a buffer over the caller's memory, which is aligned to `storage_align` and must exist until the buffer is
   * freed. Data that kernels write is visible after `submit`. `submit` copies uploads from this memory without staging, if
   * the device can. */
  vyre_status (*import)(vyre_target *target, void *data, uint64_t size, vyre_device_buffer *out);
  /* Returns buffers with read-only data that many sequences use. A set of parts is found by its contents, or uploaded as a whole.
   * `domain` separates sets with different meanings. Each `keep` needs a `drop`; dropped sets stay cached within a budget.
   * *out_found is set to whether nothing was uploaded; it may be NULL. */
  vyre_status (*keep)(vyre_target *target, uint64_t domain, const vyre_static *parts, uint32_t count, vyre_device_buffer *out,
                      bool *out_found);
  vyre_status (*drop)(vyre_target *target, const vyre_device_buffer *parts, uint32_t count);
  /* `submit` in three calls. Every sequence that is begun or submitted later sees the effects of this one. If a sequence needs
   * several host waits, `begin` may return only before the last one. `poll` stores whether the sequence is done. `wait` must follow
   * `begin` in any case, and returns the status that `submit` would. `flush` waits for all submissions in flight. */
  vyre_status (*begin)(vyre_target *target, const vyre_sequence *sequence, vyre_ticket *out);
  vyre_status (*poll)(vyre_target *target, vyre_ticket ticket, bool *out_done);
  vyre_status (*wait)(vyre_target *target, vyre_ticket ticket, vyre_timing *timing);
  vyre_status (*flush)(vyre_target *target);
  /* is_lost: returns whether an error lost the device. recover: opens the device again; all handles become stale. */
  bool (*is_lost)(const vyre_target *target);
  vyre_status (*recover)(vyre_target *target);
  /* Calls `emit` for each counter since `open` or `reset_metrics`, by stable names: docs/targets.md. */
  void (*metrics)(const vyre_target *target, void (*emit)(void *user, const char *name, uint64_t value), void *user);
  const char *summary; /* one line for help texts */
  /* Calls `emit` for each figure of a kernel compiled with the option `statistics`. The first is "compile_ns", the driver's compile
   * time in nanoseconds; the driver's own figures follow. If it returns an error, the emitted figures are invalid. */
  vyre_status (*statistics)(vyre_target *target, vyre_kernel kernel, void (*emit)(void *user, const vyre_kernel_figure *figure),
                            void *user);
  /* Returns whether submitted work of a lost device may still run and write to imported memory. NULL if that never happens. */
  bool (*hangs)(const vyre_target *target);
  /* Optional. Stores how many workgroups of a kernel with grid barriers are resident at once, which limits its grid. If NULL, a
   * target with such kernels has no limit. */
  vyre_status (*resident)(vyre_target *target, vyre_kernel kernel, uint64_t *out_groups);
  /* Sets the totals that `metrics` emits to 0. Current amounts (VYRE_COUNTER_LEVEL) stay. */
  void (*reset_metrics)(vyre_target *target);
} vyre_target_ops;

/* The kind of a counter: a total only grows, a level is a current amount. */
typedef enum vyre_counter_kind { VYRE_COUNTER_TOTAL, VYRE_COUNTER_LEVEL, VYRE_COUNTER_NANOSECONDS } vyre_counter_kind;

typedef struct vyre_counter_info {
  const char *name; /* the name that `metrics` emits */
  vyre_counter_kind kind;
  const char *text; /* a one-line description */
} vyre_counter_info;

/* The counters of every target, in the order of `metrics`. The last element has no name. */
extern const vyre_counter_info vyre_target_counters[];

/* All targets, ended by NULL; the first is the default. targets/CMakeLists.txt lists them. */
extern const vyre_target_ops *const vyre_targets[];
/* Returns the target with the name, or NULL if there is none. */
const vyre_target_ops *vyre_target_find(const char *name);

/* The host's processors: compiled C on several threads, and .vir programs by the interpreter. */
extern const vyre_target_ops vyre_target_cpu;
/* Vulkan 1.2, through the loader library that is found at run time. */
extern const vyre_target_ops vyre_target_vulkan;
/* NVIDIA GPUs from sm_75 on, through the driver library that is found at run time. The device "sim" is a simulator. */
extern const vyre_target_ops vyre_target_cuda;

/* Stores the properties of the open device with its bandwidth and launch time: from the folder `cache`, where an earlier call left
 * them, or measured now and written there. `cache` is as in vyre_target_options. Measuring takes less than a second on a device. */
VYRE_MUST_USE vyre_status vyre_target_measure(const vyre_target_ops *ops, vyre_target *target, const char *cache,
                                              vyre_device_info *out);
/* Adds what vyre_target_measure left in the folder for the device that `info` describes. Returns false if nothing is there. */
bool vyre_target_recall(const vyre_target_ops *ops, const char *cache, vyre_device_info *info);

/* ---- a driver that ends the process -------------------------------------------------------------------------------------- */

/* The state of a call to a driver that compiles kernels. Calls that run compiled C or .vir programs are not recorded. */
typedef enum vyre_driver_doing { VYRE_DRIVER_IDLE, VYRE_DRIVER_OPENS, VYRE_DRIVER_COMPILES, VYRE_DRIVER_RUNS } vyre_driver_doing;

typedef struct vyre_driver_call {
  vyre_driver_doing doing;
  char target[16], driver[128]; /* the driver as in vyre_device_info, or "" if it is not known yet */
  char what[128];               /* the label of the kernel, or of the first of several */
} vyre_driver_call;

/* Returns the driver call that this thread is in. If there is none and of_any_thread is set, returns the latest unfinished call of
 * any thread. Async-signal-safe. */
vyre_driver_call vyre_driver_call_running(bool of_any_thread);
/* Copies the state of driver calls to `where` from now on, until it is called with NULL. `where` may be memory shared with a parent
 * process. Only one thread of the process may use targets. */
void vyre_driver_calls_copy(vyre_driver_call *where);
/* Writes "the vulkan driver 'NAME' HOW while it compiled kernel 'LABEL'", truncated to `size` bytes. Async-signal-safe. */
void vyre_driver_call_format(const vyre_driver_call *call, const char *how, char *out, size_t size);

/* Write or read one range of a buffer. */
static inline vyre_status
vyre_target_write(const vyre_target_ops *ops, vyre_target *target, vyre_device_buffer buffer, uint64_t offset, uint64_t size,
                  const void *data)
{
  vyre_upload upload = {{buffer, offset, size}, data};
  vyre_sequence sequence;
  memset(&sequence, 0, sizeof(sequence)); /* C++17 has no designated initializers */
  sequence.uploads = &upload;
  sequence.upload_count = 1;
  return ops->submit(target, &sequence, NULL);
}

static inline vyre_status
vyre_target_read(const vyre_target_ops *ops, vyre_target *target, vyre_device_buffer buffer, uint64_t offset, uint64_t size,
                 void *data)
{
  vyre_read read = {{buffer, offset, size}, data};
  vyre_sequence sequence;
  memset(&sequence, 0, sizeof(sequence));
  sequence.reads = &read;
  sequence.read_count = 1;
  return ops->submit(target, &sequence, NULL);
}

#ifdef __cplusplus
}
#endif
#endif
