/* The megakernel: a kernel that takes work items from a ring, so that an item needs no launch. docs/megakernel.md describes it in
 * full.
 *
 * It has two halves. The protocol consists of images of bytes in four buffers, 32-bit words, little endian: control, ring, debug
 * log, IO queue, in this order. Its functions need no target and allocate nothing. They check their arguments and images first: an
 * error names the word, and then nothing was written. The runtime compiles the kernel for a target, and dispatches rings or keeps a
 * kernel live.
 *
 * Threads: the protocol's functions share no state. Some may be called while a kernel or another thread uses the image; their
 * comments say so. A vyre_mega belongs to one thread at a time, like its target. vyre_mega_live has its own rule.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_MEGAKERNEL_H
#define VYRE_MEGAKERNEL_H

#include "vyre/target.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- control ------------------------------------------------------------------------------------------------------------- */

/* Words of the control buffer. */
enum {
  VYRE_MEGA_SHUTDOWN = 0,      /* not 0: the kernel ends */
  VYRE_MEGA_DONE_COUNT = 1,    /* items that ended DONE */
  VYRE_MEGA_TENANT_BASE = 2,   /* the first word of the masks: 3 */
  VYRE_MEGA_MASKS = 3,         /* if the mask of tenant t is 0, its items stay PUBLISHED */
  VYRE_MEGA_QUOTAS = 32,       /* items that tenant t may still begin; all ones for any number */
  VYRE_MEGA_SERVED = 64,       /* items of tenant t that ended in this round (fairness) */
  VYRE_MEGA_IO_CLAIMS = 93,    /* two words for devices only: bits of the IO queue slots that a lane is about to claim */
  VYRE_MEGA_PROGRESS = 95,     /* incremented by the kernel whenever it interpreted a part of a program */
  VYRE_MEGA_METRICS = 96,      /* completed items and packed operations by op code, 0 to 31 */
  VYRE_MEGA_EPOCH = 128,       /* number of batch fences */
  VYRE_MEGA_PARTITIONS = 129,  /* first slots of the five priorities, then the end */
  VYRE_MEGA_STARVATION = 135,  /* consecutive items of the two upper priorities */
  VYRE_MEGA_PRIORITIES = 136,  /* items that ended, by priority */
  VYRE_MEGA_DEBUG_LOST = 141,  /* debug records that were lost because the log was full */
  VYRE_MEGA_FAULT_COUNT = 142, /* items that ended FAULT */
  VYRE_MEGA_SLICE = 143,       /* rounds after which a live kernel ends; it also ends after a round without work; 0 for no limit */
  VYRE_MEGA_DOORBELL = 144,    /* counts items published to a live kernel; an idle kernel polls only this word */
  VYRE_MEGA_SCRATCH = 145,     /* items may write from this word on */
  VYRE_MEGA_OBSERVABLES = 160, /* result words, up to the buffer's end */
  VYRE_MEGA_CONTROL_WORDS = 160,
  VYRE_MEGA_IO_CLAIM_WORDS = 2,
  VYRE_MEGA_TENANTS = 29, /* tenants that have a mask */
  VYRE_MEGA_TABLE = 32,   /* entries of the tables of quotas, served items and metrics */
  VYRE_MEGA_LEVELS = 5,
  VYRE_MEGA_MOST_OBSERVABLES = 1048576, /* most observables, and most slots */
  VYRE_MEGA_QUOTA = 1000000,            /* each tenant's quota in a new control image */
  VYRE_MEGA_FAIR = 64,                  /* items of a tenant in a round while other tenants wait */
  VYRE_MEGA_STARVED = 16                /* consecutive items of the two upper priorities before another priority runs */
};

typedef struct vyre_mega_control_desc {
  bool is_shut_down;
  uint32_t tenants;     /* tenants that get masks and quotas: at most VYRE_MEGA_TENANTS masks and VYRE_MEGA_TABLE quotas */
  uint32_t slots;       /* slots of the ring: a fifth for each priority, the rest for NORMAL; 0 for no partitions */
  uint32_t observables; /* words after VYRE_MEGA_CONTROL_WORDS */
} vyre_mega_control_desc;

/* The decoded words of a control image. */
typedef struct vyre_mega_control {
  bool is_shut_down;
  uint32_t done, faults, epoch, debug_lost, starvation, slice, doorbell;
  uint32_t masks[VYRE_MEGA_TENANTS], quotas[VYRE_MEGA_TABLE], served[VYRE_MEGA_TABLE], metrics[VYRE_MEGA_TABLE];
  uint32_t partitions[VYRE_MEGA_LEVELS + 1], priorities[VYRE_MEGA_LEVELS];
  uint32_t observables;
} vyre_mega_control;

typedef struct vyre_mega_metric {
  uint32_t op, count;
} vyre_mega_metric;

/* Returns the bytes of a control image, or 0 if there are too many observables. */
size_t vyre_mega_control_size(uint32_t observables);
/* Encode and decode a control image. `size` must be exactly the image's. */
VYRE_MUST_USE vyre_status vyre_mega_control_encode(const vyre_mega_control_desc *desc, void *image, size_t size);
VYRE_MUST_USE vyre_status vyre_mega_control_decode(const void *image, size_t size, vyre_mega_control *out);
/* Store a word of the control image, or the observable with the given number. */
VYRE_MUST_USE vyre_status vyre_mega_control_word(const void *image, size_t size, uint32_t word, uint32_t *out);
VYRE_MUST_USE vyre_status vyre_mega_observable(const void *image, size_t size, uint32_t number, uint32_t *out);
/* Stores the metrics that are not 0, in the order of op codes; at most VYRE_MEGA_TABLE. */
VYRE_MUST_USE vyre_status vyre_mega_metrics(const void *image, size_t size, vyre_mega_metric *out, uint32_t *out_count);
/* Checks a control image. If `slots` is 0, the partitions are not checked. */
VYRE_MUST_USE vyre_status vyre_mega_control_validate(const void *image, size_t size, uint32_t slots);
VYRE_MUST_USE vyre_status vyre_mega_control_set(void *image, size_t size, uint32_t word, uint32_t value);

/* ---- ring ---------------------------------------------------------------------------------------------------------------- */

enum {
  VYRE_MEGA_SLOT_WORDS = 16,
  VYRE_MEGA_SLOT_BYTES = 64,
  VYRE_MEGA_ARGS = 12,
  VYRE_MEGA_MOST_SLOTS = 1048576,
  /* words of a slot */
  VYRE_MEGA_SLOT_STATUS = 0,
  VYRE_MEGA_SLOT_OP = 1,
  VYRE_MEGA_SLOT_TENANT = 2,
  VYRE_MEGA_SLOT_PRIORITY = 3,
  VYRE_MEGA_SLOT_ARGS = 4,
  VYRE_MEGA_SLOT_REASON = 15 /* of a FAULT slot; otherwise its last argument */
};

/* Values of a slot's status word. */
typedef enum vyre_mega_state {
  VYRE_MEGA_EMPTY,
  VYRE_MEGA_PUBLISHED,
  VYRE_MEGA_CLAIMED,
  VYRE_MEGA_DONE,
  VYRE_MEGA_WAIT_IO,
  VYRE_MEGA_YIELD,
  VYRE_MEGA_REQUEUE,
  VYRE_MEGA_FAULT,
  VYRE_MEGA_STATE__COUNT
} vyre_mega_state;

typedef enum vyre_mega_priority {
  VYRE_MEGA_CRITICAL,
  VYRE_MEGA_HIGH,
  VYRE_MEGA_NORMAL,
  VYRE_MEGA_LOW,
  VYRE_MEGA_IDLE
} vyre_mega_priority;

/* Op codes. User op codes have no high bit, and are neither below 8 nor from 0xfff0 to 0xffff. */
#define VYRE_MEGA_OP_NOP       0u          /* only counts */
#define VYRE_MEGA_OP_STORE     1u          /* control[a1] = a0 */
#define VYRE_MEGA_OP_ADD       2u          /* control[a1] += a0, atomically */
#define VYRE_MEGA_OP_LOAD      3u          /* observable[a1] = control[a0] */
#define VYRE_MEGA_OP_SWAP      4u          /* observable[a0] = control[a0]; control[a0] = a2 if it was a1; atomically */
#define VYRE_MEGA_OP_COPY      5u          /* control[a1 + i] = control[a0 + i] for i from 0 to a2 - 1 */
#define VYRE_MEGA_OP_DFA       6u          /* reserved: FAULT */
#define VYRE_MEGA_OP_FENCE     7u          /* increments the epoch; observable[0] = a1 */
#define VYRE_MEGA_OP_PROGRAM   0xfffcu     /* interprets a registered program (megakernel_programs.h) */
#define VYRE_MEGA_OP_LOAD_MISS 0xfffdu     /* reads by the IO queue: source, destination, bytes, offset low, high, patience */
#define VYRE_MEGA_OP_PRINT     0xfffeu     /* writes a debug record of a0, a1, a2 and the slot */
#define VYRE_MEGA_OP_PACKED    0x80000001u /* several operations: vyre_mega_packed */
#define VYRE_MEGA_OP_SHUT_DOWN 0xffffffffu /* tenant 0 only: ends the kernel */

/* The reason for a FAULT: the low half of the slot's reason word. The high half is the number of the packed operation. User
 * handlers return reasons from VYRE_MEGA_REASON_USER on. */
typedef enum vyre_mega_reason {
  VYRE_MEGA_REASON_NONE,
  VYRE_MEGA_REASON_OP,          /* no handler for the op code */
  VYRE_MEGA_REASON_TENANT,      /* invalid tenant */
  VYRE_MEGA_REASON_QUOTA,       /* the tenant's quota is used up */
  VYRE_MEGA_REASON_WORD,        /* a control word that does not exist or that items may not write */
  VYRE_MEGA_REASON_OBSERVABLE,  /* the result needs more result words than the buffer has (VYRE_MEGA_OBSERVABLES) */
  VYRE_MEGA_REASON_PACKED,      /* an invalid number of packed operations, or no room for their arguments */
  VYRE_MEGA_REASON_PERMISSION,  /* only tenant 0 is permitted */
  VYRE_MEGA_REASON_IO,          /* the read failed */
  VYRE_MEGA_REASON_IO_PATIENCE, /* the read was not done in time, or the queue stayed full */
  VYRE_MEGA_REASON_RESULT,      /* invalid result of a handler */
  VYRE_MEGA_REASON_LOST,        /* the device was lost or out of memory while the item was in flight; written by the host */
  VYRE_MEGA_REASON_PROGRAM,     /* the program was removed, or its table is damaged */
  VYRE_MEGA_REASON_BUFFER,      /* a buffer of the item is not in the memory for buffers */
  VYRE_MEGA_REASON_STEPS,       /* the item has not ended after its number of steps */
  VYRE_MEGA_REASON_TRAP,        /* the program executed a trap */
  VYRE_MEGA_REASON_BARRIER,     /* not all invocations of a workgroup reached a barrier */
  VYRE_MEGA_REASON__COUNT,
  VYRE_MEGA_REASON_USER = 256
} vyre_mega_reason;

/* Return the name of a state or priority ("EMPTY", "CRITICAL") or the text of a reason ("no handler has this op code"). For an
 * invalid value, return "unknown". */
const char *vyre_mega_state_text(uint32_t state);
const char *vyre_mega_priority_text(uint32_t priority);
const char *vyre_mega_reason_text(uint32_t reason);

bool vyre_mega_op_is_system(uint32_t op);
/* Returns whether the op is a system op that the kernel does without IO. */
bool vyre_mega_op_is_builtin(uint32_t op);
/* Returns whether a kernel may still read or write a slot in this state. */
bool vyre_mega_state_is_active(uint32_t state);

typedef struct vyre_mega_item {
  uint32_t op, tenant, priority;
  uint32_t args[VYRE_MEGA_ARGS];
} vyre_mega_item;

typedef struct vyre_mega_slot {
  vyre_mega_state state;
  vyre_mega_item item;
  uint32_t reason; /* of FAULT; otherwise 0 */
} vyre_mega_slot;

/* Returns the bytes of a ring image, or 0 if the number of slots is 0 or too large. */
size_t vyre_mega_ring_size(uint32_t slots);
VYRE_MUST_USE vyre_status vyre_mega_ring_encode(uint32_t slots, void *image, size_t size);
/* Checks the size of a ring image and the state of every slot. */
VYRE_MUST_USE vyre_status vyre_mega_ring_validate(const void *image, size_t size, uint32_t slots);
/* Publish an item to a slot that is EMPTY, or DONE or FAULT if its results were read. The status word is written last, with release
 * order, so a live kernel may read the image at the same time. LOAD_MISS is an error unless the kernel has IO:
 * vyre_mega_publish_io. */
VYRE_MUST_USE vyre_status vyre_mega_publish(void *image, size_t size, uint32_t slot, const vyre_mega_item *item);
VYRE_MUST_USE vyre_status vyre_mega_publish_io(void *image, size_t size, uint32_t slot, const vyre_mega_item *item);
/* Publishes several items, or none: all are checked before the first is written. */
VYRE_MUST_USE vyre_status vyre_mega_publish_many(void *image, size_t size, uint32_t first, const vyre_mega_item *items,
                                                 uint32_t count);
/* Reads a slot with acquire order. */
VYRE_MUST_USE vyre_status vyre_mega_slot_read(const void *image, size_t size, uint32_t slot, vyre_mega_slot *out);
/* Counts slots by state. An invalid state is an error. */
VYRE_MUST_USE vyre_status vyre_mega_ring_count(const void *image, size_t size, uint32_t out[VYRE_MEGA_STATE__COUNT]);
/* Makes a DONE or FAULT slot EMPTY. */
VYRE_MUST_USE vyre_status vyre_mega_recycle(void *image, size_t size, uint32_t slot);

/* An operation in a packed slot. Its three arguments are words of the slot's payload. Arguments of different operations may
 * overlap. */
typedef struct vyre_mega_packed {
  uint32_t op; /* below 256 */
  uint32_t args[3];
} vyre_mega_packed;

enum { VYRE_MEGA_MOST_PACKED = 3 }; /* operations with three separate arguments that fit into a slot */

/* Encode and decode the payload of a packed slot. Byte 0 is the number of operations, byte 1 the number of argument words. Then
 * each operation has two bytes: its code, and the index of its first argument word. Padding to a word follows, and then the
 * argument words. */
VYRE_MUST_USE vyre_status vyre_mega_pack(const vyre_mega_packed *operations, uint32_t count, uint32_t out[VYRE_MEGA_ARGS]);
VYRE_MUST_USE vyre_status vyre_mega_unpack(const uint32_t payload[VYRE_MEGA_ARGS], vyre_mega_packed out[4], uint32_t *out_count);

/* ---- debug log ----------------------------------------------------------------------------------------------------------- */

enum {
  VYRE_MEGA_DEBUG_RECORDS = 64,
  VYRE_MEGA_DEBUG_WORDS = 257, /* the number of words that were written, then records of four words */
  VYRE_MEGA_DEBUG_BYTES = 1028
};

typedef struct vyre_mega_record {
  uint32_t format, args[2];
  uint32_t base; /* the slot's number times 16 */
} vyre_mega_record;

VYRE_MUST_USE vyre_status vyre_mega_debug_encode(void *image, size_t size);
VYRE_MUST_USE vyre_status vyre_mega_debug_validate(const void *image, size_t size);
/* Decodes all records. A cursor beyond the end, which older kernels leave, counts as a full log. */
VYRE_MUST_USE vyre_status vyre_mega_debug_decode(const void *image, size_t size, vyre_mega_record out[VYRE_MEGA_DEBUG_RECORDS],
                                                 uint32_t *out_count);

/* ---- IO queue ------------------------------------------------------------------------------------------------------------ */

enum {
  VYRE_MEGA_IO_WORDS = 8,
  VYRE_MEGA_IO_BYTES = 32, /* of a slot */
  VYRE_MEGA_IO_SLOTS = 64, /* at most */
  VYRE_MEGA_IO_OK = 0x10,  /* states in addition to those of the ring */
  VYRE_MEGA_IO_ERROR = 0x11,
  VYRE_MEGA_IO_PATIENCE = 1024 /* rounds that LOAD_MISS waits by default */
};

/* GIVEN_UP replaces the operation of a request that its requester has cancelled; the requester does not touch the slot again. */
typedef enum vyre_mega_io_op { VYRE_MEGA_IO_GIVEN_UP, VYRE_MEGA_IO_READ, VYRE_MEGA_IO_WRITE, VYRE_MEGA_IO_FENCE } vyre_mega_io_op;

/* A slot of the IO queue. */
typedef struct vyre_mega_io {
  uint32_t op; /* vyre_mega_io_op */
  uint32_t source, destination;
  uint64_t offset;
  uint32_t bytes; /* requested bytes; in state OK, transferred bytes, fewer at the end of a file; in state ERROR, an errno */
  uint32_t state;
  uint32_t tag; /* for LOAD_MISS, the ring slot */
} vyre_mega_io;

/* Returns the bytes of a queue image with 1 to VYRE_MEGA_IO_SLOTS slots, or 0 for another number. */
size_t vyre_mega_io_size(uint32_t slots);
VYRE_MUST_USE vyre_status vyre_mega_io_encode(uint32_t slots, void *image, size_t size);
VYRE_MUST_USE vyre_status vyre_mega_io_validate(const void *image, size_t size);
VYRE_MUST_USE vyre_status vyre_mega_io_read(const void *image, size_t size, uint32_t slot, vyre_mega_io *out);
/* Publishes a request to an EMPTY slot. The requesters of a queue are either threads of a host or lanes of a device, never both.
 * Host and device claim slots by different words, because no word may be changed by atomic operations of both. */
VYRE_MUST_USE vyre_status vyre_mega_io_publish(void *image, size_t size, uint32_t slot, const vyre_mega_io *request);
/* Stores the numbers of PUBLISHED slots without claiming them. `out` has room for VYRE_MEGA_IO_SLOTS. Makes cancelled requests that
 * are not in progress EMPTY, and slots with an invalid state ERROR (EIO). */
VYRE_MUST_USE vyre_status vyre_mega_io_poll(void *image, size_t size, uint32_t *out, uint32_t *out_count);
/* Changes a PUBLISHED slot to CLAIMED by compare and swap. *out_claimed is set to whether this call did so; then the caller owns
 * the slot. */
VYRE_MUST_USE vyre_status vyre_mega_io_claim(void *image, size_t size, uint32_t slot, bool *out_claimed);
/* Completes CLAIMED slots: OK or ERROR. All are checked before the first is written. A result is the number of transferred bytes,
 * or a negative errno. A cancelled request becomes EMPTY now or at the next poll. */
VYRE_MUST_USE vyre_status vyre_mega_io_complete(void *image, size_t size, const uint32_t *slots, const int64_t *results,
                                                uint32_t count);
/* Makes an OK or ERROR slot EMPTY. Called by the requester. */
VYRE_MUST_USE vyre_status vyre_mega_io_recycle(void *image, size_t size, uint32_t slot);
/* Cancels a request. Called by the requester. A completed slot becomes EMPTY at once. A PUBLISHED or CLAIMED slot gets op GIVEN_UP,
 * and the server makes it EMPTY when it polls or completes it. */
VYRE_MUST_USE vyre_status vyre_mega_io_abandon(void *image, size_t size, uint32_t slot);

/* ---- the kernel ---------------------------------------------------------------------------------------------------------- */

typedef enum vyre_mega_build {
  VYRE_MEGA_ONCE,        /* one invocation for each slot; the launch ends when each ready slot was processed */
  VYRE_MEGA_BY_PRIORITY, /* rounds over the partitions of the priorities until no item can be processed */
  VYRE_MEGA_PERSISTENT,  /* rounds over the ring until shutdown or the end of the slice */
  VYRE_MEGA_PERSISTENT_BY_PRIORITY,
  VYRE_MEGA_BUILD__COUNT
} vyre_mega_build;

/* A handler is a .vir `func`. Its parameters are the four buffers (and the data buffer, if any) as paths of u32[], the slot's first
 * word, the op code and three arguments. Further arguments are words of the ring:
 *
 *     func @name(%control : path u32[], %ring : path u32[], %debug : path u32[], %io : path u32[],
 *                %base : u32, %op : u32, %a0 : u32, %a1 : u32, %a2 : u32) -> u32
 *
 * The data buffer `%data : path u32[]` follows %io. The result is 0, a reason from VYRE_MEGA_REASON_USER to 0xffff, or
 * VYRE_MEGA_AGAIN: the slot becomes YIELD, and the item runs again at its next turn. A handler must not wait for another item,
 * which may run after it, except at a barrier for the whole grid: it waits for all items of the handler in the launch. */
typedef struct vyre_mega_handler {
  uint32_t op;          /* a user op code */
  const char *function; /* with or without its @ */
} vyre_mega_handler;

#define VYRE_MEGA_AGAIN 0x80000005u

typedef struct vyre_mega_program {
  vyre_mega_build build;
  const char *source; /* .vir text of functions, or NULL; borrowed for the call */
  const vyre_mega_handler *handlers;
  uint32_t handler_count;
  const char *fused; /* a function with a handler's parameters that runs instead of every handler and system op, or NULL */
  bool has_data;     /* whether the kernel has a fifth buffer of words, for handlers */
  /* Whether the kernel interprets registered programs, whose tables are in the fifth buffer (megakernel_programs.h). Not for the
   * build ONCE. Implies has_data. */
  bool has_programs;
  const char *source_name; /* the file of `source`, for messages, or NULL */
} vyre_mega_program;

/* The options of the kernel's text that depend on the device. */
typedef struct vyre_mega_form {
  uint32_t workgroup;   /* invocations; 0 counts as 1 */
  bool is_together;     /* lanes of a subgroup update counters together; needs vote, ballot and elect */
  bool is_device_scope; /* memory order has device scope, as in Vulkan; otherwise it includes the host */
  bool meets;           /* a grid barrier precedes the first round, so all workgroups must be resident, or the launch fails */
  bool has_no_halves;   /* the device has no f16 and 16-bit integers, which only interpreted functions on f16 use */
  uint32_t iterations;  /* most iterations of all loops of an invocation while a program is interpreted; 0 for no limit */
} vyre_mega_form;

/* Appends the kernel's text: one program, @mega. Returns an error if the list of handlers is invalid, or if a handler is missing or
 * has another signature; then the error has the file and the line. Other errors in the text of handlers are found by the parser. */
VYRE_MUST_USE vyre_status vyre_mega_source(const vyre_mega_program *program, const vyre_mega_form *form, vyre_bytes *out);
struct vyre_diagnostic;
/* Changes the file and the line of a message about the kernel's text to those of the handlers' file, if the place is there. */
void vyre_mega_source_locate(const vyre_mega_program *program, const vyre_bytes *text, struct vyre_diagnostic *diagnostic);

typedef struct vyre_mega vyre_mega; /* a kernel compiled for a target */

/* Buffers on the device. Each range has a size. */
typedef struct vyre_mega_row {
  vyre_range buffers[5]; /* control, ring, debug log, IO queue, data */
} vyre_mega_row;

/* Recovery. A lost device is opened again, and after an out-of-memory error kept memory is freed. Then the dispatch is tried once
 * more; if that fails too, the error has both causes. After a loss all handles of the target are stale, including the caller's. */
typedef struct vyre_mega_recovery {
  bool is_off; /* report errors at once and leave the target lost */
  /* Replaces stale buffers of the caller in the rows by new ones with their contents: all ranges of dispatched rows, only the fifth
   * range of other rows. May use the target. If NULL, dispatches with such buffers are not retried after a loss. */
  vyre_status (*remake)(void *user, vyre_mega_row *rows, uint32_t count);
  void *user;
} vyre_mega_recovery;

typedef struct vyre_mega_options {
  size_t struct_size; /* sizeof(vyre_mega_options) */
  vyre_mega_program program;
  uint32_t slots;       /* of the ring; for ONCE a multiple of the workgroup */
  uint32_t workgroup;   /* 0 for 256, or fewer if the ring or the device has fewer; 1 on a CPU */
  uint32_t groups;      /* for builds with rounds over the ring; 0 for one for each workgroup of slots, at most 4 */
  bool reports_control; /* only the control buffer is read back */
  bool is_alone;        /* lanes update counters one by one, even if the device supports more */
  uint32_t subgroup;    /* for .vir kernels: lanes of a subgroup, or 0 for the target's choice */
  uint32_t threads;     /* on a CPU: concurrent groups; 0 for one for each available processor, at most 64 */
  /* The program as vyre-megac compiled it to C, for a CPU. If `run` is NULL, programs without user functions use built-in code, and
   * others are interpreted on one thread. */
  vyre_kernel_function native;
  /* Called by create with the kernel's module before code is generated, for example to run passes. Not called for native code. May
   * be NULL. */
  vyre_status (*optimize)(void *user, struct vyre_module *module);
  void *optimize_user;
  vyre_mega_recovery recovery;
  /* Maximum passes over the ring in a launch. A further pass follows while an item of a handler with barriers for the whole grid
   * returned VYRE_MEGA_AGAIN in the last one. 0 for 1. More than 1 without such a handler is an error (USAGE). */
  uint32_t passes;
  /* With `native`, and handlers that have barriers for the whole grid: the array NAME_stages that vyre-megac writes. The program then
   * needs its `source`. */
  uint32_t (*const *stages)(const struct vyre_c_dispatch *dispatch);
  uint32_t stage_count;
} vyre_mega_options;

/* Compiles a kernel. The target must stay open until the kernel is destroyed. */
VYRE_MUST_USE vyre_status vyre_mega_create(const vyre_target_ops *ops, vyre_target *target, const vyre_mega_options *options,
                                           vyre_mega **out);
VYRE_MUST_USE vyre_status vyre_mega_destroy(vyre_mega *mega); /* Destroys a kernel. Does nothing to NULL. */
uint32_t vyre_mega_slots(const vyre_mega *mega);
vyre_kernel_form vyre_mega_kernel_form(const vyre_mega *mega);

/* ---- dispatching --------------------------------------------------------------------------------------------------------- */

/* The cost of a dispatch. A batch of n rows counts n launches, each CPU dispatch one launch. */
typedef struct vyre_mega_stats {
  uint64_t input_bytes;    /* uploaded */
  uint64_t output_bytes;   /* of output images */
  uint64_t readback_bytes; /* read back; more than output_bytes if the target reads more */
  uint64_t bytes_moved;    /* uploads and readbacks */
  uint64_t device_allocation_bytes;
  uint64_t device_allocation_events; /* allocated buffers; 0 if the sizes equal those of the last dispatch */
  uint64_t latency_ns;               /* from call to return */
  uint64_t output_buffers;
  uint64_t resident_rows, resident_handles;
  uint64_t kernel_launches, sync_points;
  bool was_recovered; /* the device was lost and opened again */
} vyre_mega_stats;

/* Returns bytes per second: 0 if latency_ns is 0, at most UINT64_MAX. */
uint64_t vyre_mega_rate(uint64_t bytes, uint64_t latency_ns);

/* Images, borrowed for the call. */
typedef struct vyre_mega_input {
  const void *control, *ring, *debug;
  const void *io; /* NULL for an empty queue */
  size_t control_size, ring_size, debug_size, io_size;
  vyre_range data; /* on the device, for programs with data */
} vyre_mega_input;

/* Images that were read back, in the order of the buffers: all four, or only control. Initialize it to zero. Later dispatches reuse
 * its memory and grow it as needed. An error leaves it unchanged. */
typedef struct vyre_mega_output {
  vyre_bytes images[4];
  uint32_t count;
} vyre_mega_output;

void vyre_mega_output_free(vyre_mega_output *output);

/* Dispatches a ring. Checks the images first: control, the ring with exactly the kernel's slots, the debug log, the IO queue.
 * `stats` may be NULL. */
VYRE_MUST_USE vyre_status vyre_mega_dispatch(vyre_mega *mega, const vyre_mega_input *input, vyre_mega_output *output,
                                             vyre_mega_stats *stats);

/* Decoded output. It gets the images of `output`, which is left empty with the memory of the previous results. Initialize it to
 * zero. */
typedef struct vyre_mega_results {
  vyre_bytes images[4]; /* owned */
  vyre_mega_control control;
  uint32_t states[VYRE_MEGA_STATE__COUNT]; /* slots by state */
  vyre_mega_record records[VYRE_MEGA_DEBUG_RECORDS];
  uint32_t record_count;
} vyre_mega_results;

VYRE_MUST_USE vyre_status vyre_mega_readback(vyre_mega *mega, const vyre_mega_input *input, vyre_mega_output *output,
                                             vyre_mega_results *results, vyre_mega_stats *stats);
void vyre_mega_results_free(vyre_mega_results *results);

/* Dispatches buffers on the device, without uploads. */
VYRE_MUST_USE vyre_status vyre_mega_dispatch_resident(vyre_mega *mega, const vyre_mega_row *row, vyre_mega_output *output,
                                                      vyre_mega_stats *stats);

/* Rows that one submission dispatches, and their outputs. Initialize it to zero. Its memory is reused. */
typedef struct vyre_mega_batch {
  vyre_mega_row *rows;       /* owned */
  vyre_mega_output *outputs; /* owned, with the capacity of `rows` */
  uint32_t count, capacity;
} vyre_mega_batch;

VYRE_MUST_USE vyre_status vyre_mega_batch_reserve(vyre_mega_batch *batch, uint32_t rows);
VYRE_MUST_USE vyre_status vyre_mega_batch_add(vyre_mega_batch *batch, const vyre_mega_row *row);
/* Dispatches all rows. Without rows nothing is submitted, and all statistics are 0. */
VYRE_MUST_USE vyre_status vyre_mega_batch_dispatch(vyre_mega *mega, vyre_mega_batch *batch, vyre_mega_stats *stats);
/* Removes all rows and the contents of the outputs, and keeps the memory. */
void vyre_mega_batch_clear(vyre_mega_batch *batch);
void vyre_mega_batch_free(vyre_mega_batch *batch);

/* Host images with buffers on the device, for repeated dispatches. Only changes are uploaded. */
typedef struct vyre_mega_mirror vyre_mega_mirror;

/* Creates a mirror. `observables` and `tenants` are as in vyre_mega_control_desc, and the ring has the kernel's slots. The kernel
 * must outlive the mirror. */
VYRE_MUST_USE vyre_status vyre_mega_mirror_create(vyre_mega *mega, uint32_t observables, uint32_t tenants, vyre_mega_mirror **out);
VYRE_MUST_USE vyre_status vyre_mega_mirror_destroy(vyre_mega_mirror *mirror); /* Destroys a mirror. Does nothing to NULL. */
VYRE_MUST_USE vyre_status vyre_mega_mirror_publish(vyre_mega_mirror *mirror, uint32_t slot, const vyre_mega_item *item);
VYRE_MUST_USE vyre_status vyre_mega_mirror_set(vyre_mega_mirror *mirror, uint32_t word, uint32_t value);
/* Resets all images to their initial contents. */
VYRE_MUST_USE vyre_status vyre_mega_mirror_reset(vyre_mega_mirror *mirror);
/* Launches once. Uploads the changes, and reads back control, the debug log, the IO queue and the slots that the kernel processed.
 * With reports_control, it reads back only control and these slots. `data` is for programs with data. */
VYRE_MUST_USE vyre_status vyre_mega_mirror_dispatch(vyre_mega_mirror *mirror, vyre_range data, vyre_mega_stats *stats);
/* Returns image 0 to 3 as of the last dispatch, with the changes since. */
const void *vyre_mega_mirror_image(const vyre_mega_mirror *mirror, uint32_t k, size_t *out_size);

/* ---- live ---------------------------------------------------------------------------------------------------------------- */

/* A persistent kernel that a thread keeps running. Until vyre_mega_live_stop, only that thread uses the target and the vyre_mega.
 * Any thread may call the functions below except start and stop. A ticket belongs to one thread. */
typedef struct vyre_mega_live vyre_mega_live;

/* How a target keeps a kernel live. */
typedef enum vyre_mega_way {
  VYRE_MEGA_MAPPED,  /* The kernel and the host share the ring, and one launch runs until shutdown. */
  VYRE_MEGA_SLICED,  /* They share the ring, and bounded launches (slices) follow each other while there is work. */
  VYRE_MEGA_MIRRORED /* The device has its own ring; each slice uploads new items and reads back items in flight. */
} vyre_mega_way;

typedef struct vyre_mega_live_options {
  size_t struct_size; /* sizeof(vyre_mega_live_options) */
  uint32_t observables;
  uint32_t tenants; /* that have masks and quotas; 0 for all */
  /* Rounds of a launch. 0 means until shutdown if the target is MAPPED, otherwise 64. A bounded slice avoids the watchdog of a
   * display driver. */
  uint32_t slice;
  vyre_range data; /* for programs with data */
  /* Starts a pump that serves the IO queue until stop (megakernel_io.h); its `ended` is not called. If NULL, the caller may serve
   * the queue with vyre_mega_live_io. */
  const struct vyre_mega_pump_options *io;
} vyre_mega_live_options;

/* A published item. */
typedef struct vyre_mega_ticket {
  uint32_t slot, turn;
} vyre_mega_ticket;

/* Starts a kernel with a persistent build. The kernel must outlive the vyre_mega_live. */
VYRE_MUST_USE vyre_status vyre_mega_live_start(vyre_mega *mega, const vyre_mega_live_options *options, vyre_mega_live **out);
vyre_mega_way vyre_mega_live_way(const vyre_mega_live *live);
/* Publishes an item. *out_published is false if the ring, or its part for the priority, is full; try again later. With a ticket,
 * the slot belongs to the ticket's owner until poll or wait reports the end. Without a ticket (NULL), only the counters of the
 * control image show the end. */
VYRE_MUST_USE vyre_status vyre_mega_live_publish(vyre_mega_live *live, const vyre_mega_item *item, vyre_mega_ticket *ticket,
                                                 bool *out_published);
/* Stores whether the item ended, and if so, its slot; the ticket is then used up. */
VYRE_MUST_USE vyre_status vyre_mega_live_poll(vyre_mega_live *live, vyre_mega_ticket ticket, vyre_mega_slot *out, bool *out_ended);
/* Waits for the item's end. Returns an error if the kernel ended first. */
VYRE_MUST_USE vyre_status vyre_mega_live_wait(vyre_mega_live *live, vyre_mega_ticket ticket, vyre_mega_slot *out);
/* Waits until every published item ended. Other threads must not publish meanwhile, and no item may belong to a tenant with mask
 * 0. */
VYRE_MUST_USE vyre_status vyre_mega_live_drain(vyre_mega_live *live);
/* Read and set a word of the control image. A read gives the current value, or that after the last slice. Only masks, quotas,
 * scratch and observables may be set. If items change the word at the same time, either value may remain, because a device's
 * atomics need not be atomic for the host. That concerns scratch words, and quotas of tenants whose items begin. A mask keeps the
 * value that was set. */
VYRE_MUST_USE vyre_status vyre_mega_live_word(vyre_mega_live *live, uint32_t word, uint32_t *out);
VYRE_MUST_USE vyre_status vyre_mega_live_set(vyre_mega_live *live, uint32_t word, uint32_t value);
/* Stores the address and the size of the IO queue's image. A caller may serve requests there, or make requests if no item makes
 * any. Returns an error if the device has its own image (MIRRORED). */
VYRE_MUST_USE vyre_status vyre_mega_live_io(vyre_mega_live *live, void **out_image, size_t *out_size);
/* Shuts the kernel down and frees everything but the vyre_mega, even if it returns an error; the error is the failure of the live
 * kernel. Items that were not begun are lost, so drain first. `control` and `stats`, for the whole time, may be NULL. If the device
 * hangs, a kernel may still write shared memory, so that memory is leaked, and memory that the caller imported must not be
 * freed. */
VYRE_MUST_USE vyre_status vyre_mega_live_stop(vyre_mega_live *live, vyre_mega_control *control, vyre_mega_stats *stats);
/* Stops like vyre_mega_live_stop, and also stores the statistics of the pump. */
struct vyre_mega_pump_stats;
VYRE_MUST_USE vyre_status vyre_mega_live_stop_io(vyre_mega_live *live, vyre_mega_control *control, vyre_mega_stats *stats,
                                                 struct vyre_mega_pump_stats *io);

#ifdef __cplusplus
}
#endif
#endif
