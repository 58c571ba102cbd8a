/* The contract of a target: what runs kernels.  One table of functions, one implementation a folder under targets/.
 *
 * The verb is one: submit a sequence = fills, uploads, steps (kernel, buffers, grid), repeats of steps, range reads, in that order,
 * on one queue or stream, with one host wait.  Reading and writing a buffer are sequences of one entry.
 *
 * Threads: an open target belongs to one thread at a time; different targets, also of one table, share nothing a caller sees.
 * Ownership: what is passed in is borrowed for the call, what a begun submission names until it was waited for.  Handles are
 * numbers that a target checks: one that is none, stale or another target's kind is an error, not a crash.  Errors: DEVICE for no
 * library, no symbol, no device, and what the device reports; INPUT for a sequence or kernel that the contract or the device's
 * limits refuse; vyre_status_is_out_of_memory tells that the device's, or the host's, memory ran out.  They carry the API's name,
 * code and text, what was asked, and a "Fix:" line that names no program's options: a program adds a note with its own.
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

typedef struct vyre_target vyre_target; /* an open device; each implementation has its own */

typedef struct vyre_target_options {
  const char *library; /* the driver library to open; NULL: the platform's */
  /* Its index in `list`, its kind (discrete, integrated, virtual, cpu), or a part of its name in any case; of several a real GPU
   * first.  NULL: any. */
  const char *device;
  bool validate;     /* the API's own checks; a message of theirs fails the call that caused it */
  uint32_t timeout;  /* seconds after which a submission that is not done counts as hanging; 0: there is no limit */
  uint32_t threads;  /* of a target that runs on the host's processors; 0: as many as the process may use */
  const char *cache; /* a folder for what the driver compiled, made if it is not there; NULL: nothing is kept */
  /* Hears what is no error: a line of text without its end, within a call of the target's.  NULL: nobody. */
  void (*remark)(void *user, const char *text);
  void *remark_user;
  /* Kernels are made to be looked at, with `statistics`: each is compiled anew whatever was kept of it, and none is run. */
  bool statistics;
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
  VYRE_DEVICE_STORAGE16 = 32, /* 16-bit scalars in buffers: storage, uniform, push constants */
  VYRE_DEVICE_UNIFORM16 = 64,
  VYRE_DEVICE_PUSH16 = 128,
  VYRE_DEVICE_STORAGE8 = 256,
  VYRE_DEVICE_UNIFORM8 = 512,
  VYRE_DEVICE_PUSH8 = 1024,
  VYRE_DEVICE_SUBGROUP_TYPES = 2048, /* subgroup operations on integers of 8, 16 and 64 bits and on f16 */
} vyre_device_feature;

/* Atomics beyond those on 32-bit integers.  Each float kind has three bits: load, store and exchange; add; min and max. */
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

/* What the invocations of a subgroup can do together.  The numbers are VkSubgroupFeatureFlagBits'. */
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

/* Where a device takes commands; none on a target without queues. */
typedef enum vyre_device_queue {
  VYRE_DEVICE_QUEUE_COMPUTE = 1,
  VYRE_DEVICE_QUEUE_TRANSFER = 2, /* one for transfers alone, beside that for kernels */
} vyre_device_queue;

/* What of this contract is optional.  What a target lacks it refuses by name. */
typedef enum vyre_target_capability {
  VYRE_TARGET_IMAGES = 1,        /* slots of texels, images and samplers */
  VYRE_TARGET_GRID_BARRIERS = 2, /* kernels with barriers for the whole grid; else who submits splits them there: vyre/split.h */
  VYRE_TARGET_IMPORT = 4,        /* buffers over the caller's memory: `import` */
  VYRE_TARGET_ADDRESSES = 8,     /* kernels may be given buffers by address: `address` */
  VYRE_TARGET_PARTS = 16,        /* steps of a part of a grid */
  VYRE_TARGET_INDIRECT = 32,     /* steps whose grid a buffer says */
  VYRE_TARGET_ASYNC = 64,        /* `begin` returns before the work is done; else it does it */
  VYRE_TARGET_DEVICE_TIME = 128, /* timings tell device_ns */
  VYRE_TARGET_EMULATED = 256,    /* it is no device but an imitation of one, for tests */
  VYRE_TARGET_SHARED = 512,      /* its buffers lie in memory that the host sees: little or nothing is copied up or down */
  VYRE_TARGET_STATISTICS = 1024, /* its driver tells what it made of a kernel: `statistics` */
} vyre_target_capability;

/* What a device is and takes; bytes unless said otherwise. */
typedef struct vyre_device_info {
  uint32_t index;
  char name[256];
  char driver[256]; /* driver and version, for people */
  vyre_device_kind kind;
  bool usable;                              /* has what the target needs */
  uint32_t capabilities;                    /* vyre_target_capability */
  uint32_t forms;                           /* a bit for each vyre_kernel_form that it takes */
  uint32_t features;                        /* vyre_device_feature */
  uint32_t storage_atomics, shared_atomics; /* vyre_device_atomic, in storage buffers and in workgroup memory */
  uint32_t subgroup_operations;             /* vyre_device_subgroup */
  uint32_t float_controls;                  /* VYRE_FLOAT_CONTROLS of each kind, */
  bool free_float_controls;                 /* and those of one kind leave those of the others free */
  uint32_t queues;                          /* vyre_device_queue */
  uint64_t memory;
  uint64_t budget;     /* what of it this process may have, as it was when this was asked; `memory` where the device does not say */
  uint64_t max_buffer; /* greatest allocation */
  uint64_t max_storage; /* greatest range bound as a storage buffer */
  uint64_t max_uniform;
  uint32_t max_push;
  uint32_t max_shared; /* of a workgroup */
  uint32_t max_workgroup[3];
  uint32_t max_invocations; /* of a workgroup */
  uint32_t max_groups[3];
  uint32_t storage_align, uniform_align; /* of a bound range's offset */
  uint32_t subgroup;                     /* lanes of a subgroup; 0: the device does not say */
  uint32_t max_iterations; /* of all loops of an invocation together: after so many the driver leaves them without a word; 0: any */
  char architecture[32];   /* what kernels are compiled for, such as sm_90; empty: the device does not say */
} vyre_device_info;

/* Handles; 0 is none. */
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
  VYRE_KERNEL_C,     /* code: a vyre_kernel_function *, which stays where it is until the kernel is released; size that of one */
  VYRE_KERNEL_VIR,   /* code: a vyre_kernel_program *, whose module stays as it is until the kernel is released; size that of one */
  VYRE_KERNEL_FORM__COUNT
} vyre_kernel_form;

struct vyre_c_dispatch;
struct vyre_module;

/* A program that was compiled to C (c.h).  Its buffers are the kernel's slots, its push constants one slot of kind PUSH in their
 * order. */
typedef struct vyre_kernel_function {
  uint32_t (*run)(const struct vyre_c_dispatch *dispatch);
  bool in_order; /* groups are to run one after the other, as they are numbered: what it computes of one it uses in the next */
} vyre_kernel_function;

/* A program of a module that is sealed and verified. */
typedef struct vyre_kernel_program {
  const struct vyre_module *module;
  uint32_t row;
  uint32_t subgroup; /* lanes of a subgroup: a power of two of at most 128; 0: the target's choice */
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
  VYRE_SLOT_PUSH = VYRE_SLOT__COUNT /* of C alone: a step gives no buffer for it */
} vyre_slot_kind;

/* The numbers are SPIR-V's (Dim). */
typedef enum vyre_image_dim { VYRE_IMAGE_1D, VYRE_IMAGE_2D, VYRE_IMAGE_3D, VYRE_IMAGE_CUBE, VYRE_IMAGE__COUNT } vyre_image_dim;

/* An image of one level and one sample.  A kernel has its images itself: before a step each gets its texels from the step's range
 * for it, after the step storage images put theirs back there.  In the range texels lie without gaps, x fastest, then y, z, layers
 * (of a cube six each). */
typedef struct vyre_image {
  vyre_image_dim dim;
  bool arrayed;
  bool is_depth;      /* of floats alone, which are compared */
  uint32_t format;    /* SPIR-V's number: vyre/texels.def */
  uint32_t extent[3]; /* texels; 1 where there is no such axis.  Of texel slots x alone counts */
  uint32_t layers;    /* with the six of each cube */
} vyre_image;

typedef enum vyre_sampler {
  VYRE_SAMPLER_LINEAR = 1, /* between texels, if the device can do so with each image of its slot; else the nearest */
  VYRE_SAMPLER_COMPARE = 2,
} vyre_sampler;

/* What a kernel is given at one (set, binding): a buffer, or `count` of them. */
typedef struct vyre_kernel_slot {
  uint32_t set, binding;
  vyre_slot_kind kind;
  uint32_t count;           /* descriptors; 0 is 1 */
  bool is_read_only;        /* of storage: the kernel writes nothing there, so that steps which only read it need no order */
  uint32_t sampler;         /* vyre_sampler */
  const vyre_image *images; /* of texels and images: one for each descriptor; borrowed for the call */
} vyre_kernel_slot;

typedef struct vyre_kernel_spec {
  uint32_t id;
  uint32_t size; /* bytes of the constant: 1, 2, 4 (also bool), 8 */
  uint64_t bits;
} vyre_kernel_spec;

typedef struct vyre_kernel_desc {
  const char *label; /* for messages: a file or program name */
  vyre_kernel_form form;
  const void *code;
  size_t size; /* bytes */
  const char *entry;
  uint32_t workgroup[3];         /* its size under these specialization values */
  const vyre_kernel_slot *slots; /* each (set, binding) once; a step gives a buffer for each of their descriptors in this order */
  uint32_t slot_count;
  const vyre_kernel_spec *specs; /* ids that the code does not have are ignored */
  uint32_t spec_count;
  uint32_t push_size; /* bytes of push constants, a multiple of 4 */
} vyre_kernel_desc;

/* One thing that a driver tells of a kernel as it compiled it.  Texts are there for the call that gives them. */
typedef enum vyre_figure_kind { VYRE_FIGURE_U64, VYRE_FIGURE_F64, VYRE_FIGURE_BOOL } vyre_figure_kind;

typedef struct vyre_kernel_figure {
  const char *part;        /* what it is of, where the driver made several programs of the kernel; "" of all of it */
  const char *name, *text; /* as the driver names it, and what it is, in a line */
  vyre_figure_kind kind;
  uint64_t u64; /* of its kind; of the others it is 0 */
  double f64;
  bool is_true;
} vyre_kernel_figure;

/* ---- sequences ----------------------------------------------------------------------------------------------------------- */

typedef struct vyre_range {
  vyre_device_buffer buffer;
  uint64_t offset;
  uint64_t size; /* 0: to the buffer's end */
} vyre_range;

typedef struct vyre_fill {
  vyre_range range; /* the offset a multiple of 4; the size too, or up to the buffer's end */
  uint32_t value;   /* this word, over and over */
} vyre_fill;

typedef struct vyre_upload {
  vyre_range range;
  const void *data;
} vyre_upload;

typedef struct vyre_step {
  vyre_kernel kernel;
  const vyre_range *buffers; /* one for each descriptor of the kernel's slots, none for samplers */
  uint32_t buffer_count;
  const void *push; /* the kernel's push_size bytes */
  uint32_t push_size;
  uint32_t groups[3]; /* workgroups; no axis of none: nothing runs */
  /* Of these groups only those from `first` on, `count` of them, numbered with x fastest (VYRE_TARGET_PARTS).  0, 0: all. */
  uint64_t first, count;
  /* Three words of a buffer that say the groups when the step begins (VYRE_TARGET_INDIRECT).  Where one is more than `groups` says,
   * the step does nothing and the sequence fails.  Buffer 0: there are none, and `groups` are they. */
  vyre_range indirect;
  /* It may run beside the step before it, not after it: neither writes what the other reads or writes, but by atomics that commute.
   * Of the first step of a repeat, and of the first one after it, it means nothing. */
  bool beside;
} vyre_step;

/* Steps that run over and over.  Repeats stand in the order of their steps, and none has steps of another. */
typedef struct vyre_repeat {
  uint32_t first, count; /* steps */
  uint32_t times;        /* iterations at most, 1 or more; on a device those that are not needed cost little, but something */
  /* Ends too when this word of a buffer is 0 at the end of an iteration.  If it is not 0 after `times` iterations, the steps end
   * there: later ones do nothing, and the reads still happen.  Buffer 0: there is none. */
  vyre_range until;
} vyre_repeat;

/* How a repeat ended; of one without `until` the word is 0, and of one that the steps did not come to both are. */
typedef struct vyre_repeat_end {
  uint32_t iterations;
  uint32_t word; /* as the last iteration left it: not 0 if `times` was not enough.  Then steps after it do nothing, and who
                    submitted goes on with this repeat; reads are done.  Of repeats after such a one both are 0. */
} vyre_repeat_end;

typedef struct vyre_read {
  vyre_range range;
  void *data; /* written once all steps are done; untouched if the sequence fails */
} vyre_read;

/* Later entries see what earlier ones did; every list may be empty. */
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
  vyre_repeat_end *ends; /* an element a repeat; written as reads are */
  /* An element a step: what the device took for it, all its iterations together, with the wait for what it depends on (0 where the
   * target does not say VYRE_TARGET_DEVICE_TIME, and where there are more launches than it tells the times of); written as reads
   * are.  NULL: nobody asks, which costs less. */
  uint64_t *step_ns;
} vyre_sequence;

/* A submission that was begun.  0 is none. */
typedef struct vyre_ticket {
  uint64_t id;
} vyre_ticket;

/* What one submission cost, counted where the work is done.  The data of repeats' ends count as read. */
typedef struct vyre_timing {
  uint32_t waits;       /* host waits: one, more if a repeat has more iterations than a target submits at once; none where there was
                           nothing to do but uploads, which the host did */
  uint32_t launches;    /* kernels that were given, without those of no groups, as often as they ran */
  uint32_t batches;     /* given to the device: one, unless there are many launches, or copies have a queue of their own */
  uint32_t allocations; /* of device or staging memory */
  uint64_t bytes_up, bytes_down, bytes_filled;
  uint64_t host_ns; /* from call to return; of these: */
  uint64_t record_ns, submit_ns,
      wait_ns;              /* to say what the device does, to give it that, to wait; 0: the target does not divide it */
  uint64_t device_ns;       /* from the first command's start to the last one's end; 0: the device cannot tell */
  uint64_t device_start_ns; /* when the first one started, by the host's CLOCK_MONOTONIC; 0: the device's clock is its own */
} vyre_timing;

/* ---- the table ----------------------------------------------------------------------------------------------------------- */

/* Data that is uploaded once and stays (`keep`). */
typedef struct vyre_static {
  const void *data;
  uint64_t size;
} vyre_static;

typedef struct vyre_target_ops {
  uint32_t struct_size; /* sizeof when the target was built; later slots count as NULL */
  const char *name;
  /* `options` NULL: defaults.  The allocator is copied; NULL: the default. */
  vyre_status (*open)(const vyre_target_options *options, const vyre_allocator *allocator, vyre_target **out);
  /* Waits for what was begun, and frees everything that is left.  Reports what the API's checks found at the end.  NULL is
   * ignored. */
  vyre_status (*close)(vyre_target *target);
  void (*describe)(const vyre_target *target, vyre_device_info *out);
  /* Contents are not defined until written.  A size of 0 is an error. */
  vyre_status (*allocate)(vyre_target *target, uint64_t size, vyre_device_buffer *out);
  /* What was freed is kept for the next buffer of just its size, within a budget.  A buffer that a begun submission names is not
   * freed. */
  vyre_status (*free)(vyre_target *target, vyre_device_buffer buffer);
  vyre_status (*compile)(vyre_target *target, const vyre_kernel_desc *desc, vyre_kernel *out);
  vyre_status (*release)(vyre_target *target, vyre_kernel kernel);
  /* Returns when everything is done and read.  The first error ends it; what ran before stays done.  `timing` may be NULL. */
  vyre_status (*submit)(vyre_target *target, const vyre_sequence *sequence, vyre_timing *timing);
  /* Optional.  Calls `emit` for each device there is, usable or not.  NULL: the target has one device, the one that open gives. */
  vyre_status (*list)(const vyre_target_options *options, void (*emit)(void *user, const vyre_device_info *info), void *user);
  /* Optional.  Where kernels find a buffer that they are given by its address.  NULL: nowhere. */
  vyre_status (*address)(vyre_target *target, vyre_device_buffer buffer, uint64_t *out);
  /* What of the kernel the target refuses, said before any work: as compile would say it, and nothing is made. */
  vyre_status (*supports)(vyre_target *target, const vyre_kernel_desc *desc);
  /* All or none: when one fails, those before it are freed, in order, and `out` is zero. */
  vyre_status (*allocate_many)(vyre_target *target, const uint64_t *sizes, uint32_t count, vyre_device_buffer *out);
  vyre_status (*free_many)(vyre_target *target, const vyre_device_buffer *buffers, uint32_t count);
  /* Optional.  A buffer over memory of the caller's, at a multiple of `storage_align`, which stays until it is freed; what kernels
   * write is there after the submit. */
  vyre_status (*import)(vyre_target *target, void *data, uint64_t size, vyre_device_buffer *out);
  /* Read-only data that many sequences use: found again by its contents, else uploaded.  All of a set or none; `domain` tells sets
   * of one meaning from those of another.  Each `keep` has its `drop`; what nobody holds stays within a budget.  `out_found`: it
   * was there, and nothing was uploaded; may be NULL. */
  vyre_status (*keep)(vyre_target *target, uint64_t domain, const vyre_static *parts, uint32_t count, vyre_device_buffer *out,
                      bool *out_found);
  vyre_status (*drop)(vyre_target *target, const vyre_device_buffer *parts, uint32_t count);
  /* The same as submit in three calls; whatever is begun or submitted later finds what this sequence did.  So of one that takes
   * more than one host wait `begin` may return after the last but one.  `poll`: whether it is done; `wait` must follow all the
   * same, and says what submit would have said.  `flush`: waits for all that was begun. */
  vyre_status (*begin)(vyre_target *target, const vyre_sequence *sequence, vyre_ticket *out);
  vyre_status (*poll)(vyre_target *target, vyre_ticket ticket, bool *out_done);
  vyre_status (*wait)(vyre_target *target, vyre_ticket ticket, vyre_timing *timing);
  vyre_status (*flush)(vyre_target *target);
  /* After an error that lost the device (is_lost): makes a new one.  All handles are stale. */
  bool (*is_lost)(const vyre_target *target);
  vyre_status (*recover)(vyre_target *target);
  /* Counters since open, each by a stable name: docs/targets.md. */
  void (*metrics)(const vyre_target *target, void (*emit)(void *user, const char *name, uint64_t value), void *user);
  const char *summary; /* what it is, in a line for help texts */
  /* Calls `emit` for each figure of a kernel that was made with the option `statistics`: first "compile_ns", the nanoseconds that
   * the driver took for it, then those that the driver names.  An error makes those before it worthless. */
  vyre_status (*statistics)(vyre_target *target, vyre_kernel kernel, void (*emit)(void *user, const vyre_kernel_figure *figure),
                            void *user);
  /* Of one that is lost: something that was submitted may still run, and write to memory that was imported.  NULL: never. */
  bool (*hangs)(const vyre_target *target);
  /* Optional.  How many workgroups of a kernel with barriers for the whole grid run at once, and so how many it may have.  NULL:
   * any number, of a target with such kernels. */
  vyre_status (*resident)(vyre_target *target, vyre_kernel kernel, uint64_t *out_groups);
} vyre_target_ops;

/* What a counter of `metrics` is: a total only grows, a level is what there is now. */
typedef enum vyre_counter_kind { VYRE_COUNTER_TOTAL, VYRE_COUNTER_LEVEL, VYRE_COUNTER_NANOSECONDS } vyre_counter_kind;

typedef struct vyre_counter_info {
  const char *name; /* as `metrics` gives it */
  vyre_counter_kind kind;
  const char *text; /* what it is, in a line */
} vyre_counter_info;

/* The counters of every target, in the order of `metrics`; the last one has no name. */
extern const vyre_counter_info vyre_target_counters[];

/* All targets, NULL after the last one; the first is the default.  targets/CMakeLists.txt has the list. */
extern const vyre_target_ops *const vyre_targets[];
/* NULL: there is none of that name. */
const vyre_target_ops *vyre_target_find(const char *name);

/* The host's processors: compiled C over threads, and programs of .vir by the interpreter. */
extern const vyre_target_ops vyre_target_cpu;
/* Vulkan 1.2, through the loader library that is found at run time. */
extern const vyre_target_ops vyre_target_vulkan;
/* NVIDIA GPUs from sm_75 on, through the driver's library that is found at run time; the device "sim" is a simulator. */
extern const vyre_target_ops vyre_target_cuda;

/* ---- a driver that ends the process -------------------------------------------------------------------------------------- */

/* Calls of drivers that compile kernels: of none that runs compiled C and programs. */
typedef enum vyre_driver_doing { VYRE_DRIVER_IDLE, VYRE_DRIVER_OPENS, VYRE_DRIVER_COMPILES, VYRE_DRIVER_RUNS } vyre_driver_doing;

typedef struct vyre_driver_call {
  vyre_driver_doing doing;
  char target[16], driver[128]; /* the driver as a device's info has it; "": it is not known yet */
  char what[128];               /* the label of the kernel, of several that of the first */
} vyre_driver_call;

/* The call that this thread is in, or, if it is in none and that is asked for, the one that any thread began last and is in.  May
 * be asked in a signal handler. */
vyre_driver_call vyre_driver_call_running(bool of_any_thread);
/* From now on calls are noted there too: memory that is shared with a process which waits for this one, say.  For a process that
 * has one thread with targets.  NULL: no longer. */
void vyre_driver_calls_copy(vyre_driver_call *where);
/* "the vulkan driver 'NAME' HOW while it compiled kernel 'LABEL'"; cut to `size` bytes.  May be asked in a signal
 * handler. */
void vyre_driver_call_tell(const vyre_driver_call *call, const char *how, char *out, size_t size);

/* The special cases of submit. */
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
