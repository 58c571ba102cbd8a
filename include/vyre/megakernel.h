/* The megakernel: a kernel that takes work items from a ring, so that an item needs no launch.  docs/megakernel.md tells it whole.
 *
 * Two halves.  The protocol is images of bytes in four buffers, words of 32 bits, little endian: control, ring, debug log, IO
 * queue, in this order.  Its functions need no target, allocate nothing and fail closed: what is not right is an error that names
 * the word, and then nothing was written.  The runtime compiles the kernel for a target, and dispatches rings or keeps one alive.
 *
 * Threads: the protocol's functions share nothing, and those that say so may be called while a kernel or another thread uses the
 * image.  A vyre_mega belongs to one thread at a time, as its target does; what a vyre_mega_live allows is said there.
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
  VYRE_MEGA_TENANT_BASE = 2,   /* where the masks begin: 3 */
  VYRE_MEGA_MASKS = 3,         /* of tenant t not 0: its items are taken, else they stay PUBLISHED */
  VYRE_MEGA_QUOTAS = 32,       /* items that tenant t may still begin; all ones: any number */
  VYRE_MEGA_SERVED = 64,       /* items of tenant t that were taken in this round (fairness) */
  VYRE_MEGA_IO_CLAIMS = 93,    /* two words beyond the tenants: bits of IO queue slots that a lane just takes, else 0; no host's */
  VYRE_MEGA_METRICS = 96,      /* items and packed operations of op code 0 to 31 that were done */
  VYRE_MEGA_EPOCH = 128,       /* batch fences */
  VYRE_MEGA_PARTITIONS = 129,  /* first slots of the five priorities, and the end */
  VYRE_MEGA_STARVATION = 135,  /* items of the two upper priorities in a row */
  VYRE_MEGA_PRIORITIES = 136,  /* items taken of each priority */
  VYRE_MEGA_DEBUG_LOST = 141,  /* debug records that found no room */
  VYRE_MEGA_FAULT_COUNT = 142, /* items that ended FAULT */
  VYRE_MEGA_SLICE = 143,       /* rounds after which a live kernel ends; it ends too at one without work.  0: it goes on */
  VYRE_MEGA_DOORBELL = 144,    /* counts what was published to a live kernel: an idle one looks at this word alone */
  VYRE_MEGA_SCRATCH = 145,     /* from here on items may write */
  VYRE_MEGA_OBSERVABLES = 160, /* words for results, as many as the buffer has */
  VYRE_MEGA_CONTROL_WORDS = 160,
  VYRE_MEGA_IO_CLAIM_WORDS = 2,
  VYRE_MEGA_TENANTS = 29, /* that a mask can be of */
  VYRE_MEGA_TABLE = 32,   /* entries of the tables of quotas, served items and metrics */
  VYRE_MEGA_LEVELS = 5,
  VYRE_MEGA_MOST_OBSERVABLES = 1048576, /* and slots */
  VYRE_MEGA_QUOTA = 1000000,            /* that a new control image gives each tenant */
  VYRE_MEGA_FAIR = 64,                  /* items of a tenant in a round, while others wait */
  VYRE_MEGA_STARVED = 16                /* items of the two upper priorities in a row, after which others have one */
};

typedef struct vyre_mega_control_desc {
  bool is_shut_down;
  uint32_t tenants;     /* whose masks and quotas are set: of masks at most VYRE_MEGA_TENANTS, of quotas VYRE_MEGA_TABLE */
  uint32_t slots;       /* of the ring, of which each priority gets a fifth and NORMAL what is left; 0: no partitions */
  uint32_t observables; /* words beyond VYRE_MEGA_CONTROL_WORDS */
} vyre_mega_control_desc;

/* What stands in a control image. */
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

/* Bytes of a control image; 0: there are too many observables. */
size_t vyre_mega_control_size(uint32_t observables);
/* `size` is just the image's. */
VYRE_MUST_USE vyre_status vyre_mega_control_encode(const vyre_mega_control_desc *desc, void *image, size_t size);
VYRE_MUST_USE vyre_status vyre_mega_control_decode(const void *image, size_t size, vyre_mega_control *out);
/* One word; of an observable its number from 0. */
VYRE_MUST_USE vyre_status vyre_mega_control_word(const void *image, size_t size, uint32_t word, uint32_t *out);
VYRE_MUST_USE vyre_status vyre_mega_observable(const void *image, size_t size, uint32_t number, uint32_t *out);
/* The op codes that were done at all, in their order; at most VYRE_MEGA_TABLE. */
VYRE_MUST_USE vyre_status vyre_mega_metrics(const void *image, size_t size, vyre_mega_metric *out, uint32_t *out_count);
/* `slots` 0: the partitions are not looked at. */
VYRE_MUST_USE vyre_status vyre_mega_control_validate(const void *image, size_t size, uint32_t slots);
VYRE_MUST_USE vyre_status vyre_mega_control_set(void *image, size_t size, uint32_t word, uint32_t value);

/* ---- ring ---------------------------------------------------------------------------------------------------------------- */

enum {
  VYRE_MEGA_SLOT_WORDS = 16,
  VYRE_MEGA_SLOT_BYTES = 64,
  VYRE_MEGA_ARGS = 12,
  VYRE_MEGA_MOST_SLOTS = 1048576,
  /* Words of a slot. */
  VYRE_MEGA_SLOT_STATUS = 0,
  VYRE_MEGA_SLOT_OP = 1,
  VYRE_MEGA_SLOT_TENANT = 2,
  VYRE_MEGA_SLOT_PRIORITY = 3,
  VYRE_MEGA_SLOT_ARGS = 4,
  VYRE_MEGA_SLOT_REASON = 15 /* of a slot that ended FAULT; else its last argument */
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

/* Op codes.  A user's have no high bit, and are neither below 8 nor from 0xfff0 to 0xffff. */
#define VYRE_MEGA_OP_NOP       0u          /* counts */
#define VYRE_MEGA_OP_STORE     1u          /* control[a1] = a0 */
#define VYRE_MEGA_OP_ADD       2u          /* control[a1] += a0, atomically */
#define VYRE_MEGA_OP_LOAD      3u          /* observable[a1] = control[a0] */
#define VYRE_MEGA_OP_SWAP      4u          /* observable[a0] = control[a0]; control[a0] = a2 if it was a1: atomically */
#define VYRE_MEGA_OP_COPY      5u          /* control[a1 + i] = control[a0 + i], i from 0 to a2 - 1 */
#define VYRE_MEGA_OP_DFA       6u          /* reserved: FAULT */
#define VYRE_MEGA_OP_FENCE     7u          /* the epoch counts, observable[0] = a1 */
#define VYRE_MEGA_OP_LOAD_MISS 0xfffdu     /* asks the IO queue to read: source, destination, bytes, offset low, high, patience */
#define VYRE_MEGA_OP_PRINT     0xfffeu     /* a debug record of a0, a1, a2 and the slot */
#define VYRE_MEGA_OP_PACKED    0x80000001u /* several, see vyre_mega_packed */
#define VYRE_MEGA_OP_SHUT_DOWN 0xffffffffu /* of tenant 0 alone: the kernel ends */

/* Why a slot ended FAULT: the low half of its reason word.  The upper half is the number of the packed operation.  Handlers of
 * users give reasons from VYRE_MEGA_REASON_USER on. */
typedef enum vyre_mega_reason {
  VYRE_MEGA_REASON_NONE,
  VYRE_MEGA_REASON_OP,          /* no handler has this op code */
  VYRE_MEGA_REASON_TENANT,      /* there is no such tenant */
  VYRE_MEGA_REASON_QUOTA,       /* its tenant's quota is used up */
  VYRE_MEGA_REASON_WORD,        /* a control word that items may not write, or that is not there */
  VYRE_MEGA_REASON_OBSERVABLE,  /* a result has no word: there are too few observables */
  VYRE_MEGA_REASON_PACKED,      /* a packed slot of no or too many operations, or without room for their arguments */
  VYRE_MEGA_REASON_PERMISSION,  /* only tenant 0 may */
  VYRE_MEGA_REASON_IO,          /* the read failed */
  VYRE_MEGA_REASON_IO_PATIENCE, /* nobody did the read, or the queue stayed full */
  VYRE_MEGA_REASON_RESULT,      /* a handler gave what is no result */
  VYRE_MEGA_REASON_LOST,        /* the device was lost, or had no memory left, while it was under way; written by the host */
  VYRE_MEGA_REASON__COUNT,
  VYRE_MEGA_REASON_USER = 256
} vyre_mega_reason;

/* "EMPTY", "CRITICAL", "no handler has this op code"; of what there is not, "unknown". */
const char *vyre_mega_state_text(uint32_t state);
const char *vyre_mega_priority_text(uint32_t priority);
const char *vyre_mega_reason_text(uint32_t reason);

bool vyre_mega_op_is_system(uint32_t op);
/* Of the system's those that a kernel does without being asked for IO. */
bool vyre_mega_op_is_builtin(uint32_t op);
/* Whether a kernel may still have to do with the slot. */
bool vyre_mega_state_is_active(uint32_t state);

typedef struct vyre_mega_item {
  uint32_t op, tenant, priority;
  uint32_t args[VYRE_MEGA_ARGS];
} vyre_mega_item;

typedef struct vyre_mega_slot {
  vyre_mega_state state;
  vyre_mega_item item;
  uint32_t reason; /* of FAULT; else 0 */
} vyre_mega_slot;

/* 0: there are none or too many. */
size_t vyre_mega_ring_size(uint32_t slots);
VYRE_MUST_USE vyre_status vyre_mega_ring_encode(uint32_t slots, void *image, size_t size);
/* The size, and that no slot has a state there is not. */
VYRE_MUST_USE vyre_status vyre_mega_ring_validate(const void *image, size_t size, uint32_t slots);
/* Into a slot that is EMPTY or, once its results were seen, DONE or FAULT.  The status is written last, with release: a kernel that
 * is live may look on.  LOAD_MISS is refused unless the ring is one of a kernel with IO (vyre_mega_publish_io). */
VYRE_MUST_USE vyre_status vyre_mega_publish(void *image, size_t size, uint32_t slot, const vyre_mega_item *item);
VYRE_MUST_USE vyre_status vyre_mega_publish_io(void *image, size_t size, uint32_t slot, const vyre_mega_item *item);
/* All or none: each is checked before any is written. */
VYRE_MUST_USE vyre_status vyre_mega_publish_many(void *image, size_t size, uint32_t first, const vyre_mega_item *items,
                                                 uint32_t count);
/* With acquire. */
VYRE_MUST_USE vyre_status vyre_mega_slot_read(const void *image, size_t size, uint32_t slot, vyre_mega_slot *out);
/* Slots by their state; one that is none is an error. */
VYRE_MUST_USE vyre_status vyre_mega_ring_count(const void *image, size_t size, uint32_t out[VYRE_MEGA_STATE__COUNT]);
/* A DONE or FAULT slot is EMPTY again. */
VYRE_MUST_USE vyre_status vyre_mega_recycle(void *image, size_t size, uint32_t slot);

/* An operation within a packed slot.  Its three arguments are words of the slot's payload, and those of two may overlap. */
typedef struct vyre_mega_packed {
  uint32_t op; /* below 256 */
  uint32_t args[3];
} vyre_mega_packed;

enum { VYRE_MEGA_MOST_PACKED = 3 }; /* operations with three arguments each that a slot has room for */

/* Payload: byte 0 the number of operations, 1 that of argument words, then each operation's code and its first argument word,
 * counted from the end of these bytes, which are filled up to a word; then the arguments. */
VYRE_MUST_USE vyre_status vyre_mega_pack(const vyre_mega_packed *operations, uint32_t count, uint32_t out[VYRE_MEGA_ARGS]);
VYRE_MUST_USE vyre_status vyre_mega_unpack(const uint32_t payload[VYRE_MEGA_ARGS], vyre_mega_packed out[4], uint32_t *out_count);

/* ---- debug log ----------------------------------------------------------------------------------------------------------- */

enum {
  VYRE_MEGA_DEBUG_RECORDS = 64,
  VYRE_MEGA_DEBUG_WORDS = 257, /* how many words were written, then records of four */
  VYRE_MEGA_DEBUG_BYTES = 1028
};

typedef struct vyre_mega_record {
  uint32_t format, args[2];
  uint32_t base; /* of the slot: its number times 16 */
} vyre_mega_record;

VYRE_MUST_USE vyre_status vyre_mega_debug_encode(void *image, size_t size);
VYRE_MUST_USE vyre_status vyre_mega_debug_validate(const void *image, size_t size);
/* `out` has room for all; a cursor beyond the end, which older kernels leave, counts as full. */
VYRE_MUST_USE vyre_status vyre_mega_debug_decode(const void *image, size_t size, vyre_mega_record out[VYRE_MEGA_DEBUG_RECORDS],
                                                 uint32_t *out_count);

/* ---- IO queue ------------------------------------------------------------------------------------------------------------ */

enum {
  VYRE_MEGA_IO_WORDS = 8,
  VYRE_MEGA_IO_BYTES = 32, /* of a slot */
  VYRE_MEGA_IO_SLOTS = 64, /* at most */
  VYRE_MEGA_IO_OK = 0x10,  /* states beside those of the ring */
  VYRE_MEGA_IO_ERROR = 0x11,
  VYRE_MEGA_IO_PATIENCE = 1024 /* rounds that LOAD_MISS waits unless it says how many */
};

/* GIVEN_UP is no operation: whoever asked has written it in the operation's place, and has no more to do with the slot. */
typedef enum vyre_mega_io_op { VYRE_MEGA_IO_GIVEN_UP, VYRE_MEGA_IO_READ, VYRE_MEGA_IO_WRITE, VYRE_MEGA_IO_FENCE } vyre_mega_io_op;

/* A slot of the IO queue. */
typedef struct vyre_mega_io {
  uint32_t op; /* vyre_mega_io_op */
  uint32_t source, destination;
  uint64_t offset;
  uint32_t bytes; /* that are asked for; of OK those that were moved: fewer where the file ends; of ERROR an errno */
  uint32_t state;
  uint32_t tag; /* of LOAD_MISS the ring slot */
} vyre_mega_io;

/* 1 to VYRE_MEGA_IO_SLOTS; 0: there are no such queues. */
size_t vyre_mega_io_size(uint32_t slots);
VYRE_MUST_USE vyre_status vyre_mega_io_encode(uint32_t slots, void *image, size_t size);
VYRE_MUST_USE vyre_status vyre_mega_io_validate(const void *image, size_t size);
VYRE_MUST_USE vyre_status vyre_mega_io_read(const void *image, size_t size, uint32_t slot, vyre_mega_io *out);
/* Into an EMPTY slot, by whoever asks.  Those who ask one queue are all of a host's threads or all of a device's lanes: the two
 * take slots by different words, since no word is changed by atomic operations of both. */
VYRE_MUST_USE vyre_status vyre_mega_io_publish(void *image, size_t size, uint32_t slot, const vyre_mega_io *request);
/* The numbers of PUBLISHED slots; claims none.  `out` has room for VYRE_MEGA_IO_SLOTS.  What was given up and nobody does is EMPTY
 * then, and a slot whose state is none is ERROR (EIO). */
VYRE_MUST_USE vyre_status vyre_mega_io_poll(void *image, size_t size, uint32_t *out, uint32_t *out_count);
/* PUBLISHED to CLAIMED by compare and swap: `out_claimed` tells whether this call did it, and who did owns the slot. */
VYRE_MUST_USE vyre_status vyre_mega_io_claim(void *image, size_t size, uint32_t slot, bool *out_claimed);
/* CLAIMED slots to OK or ERROR: all are checked before any is written.  Of each how many bytes were moved, or an errno less than 0,
 * which stands in its `bytes` then.  One whose asker gave up is EMPTY then, or with the next poll. */
VYRE_MUST_USE vyre_status vyre_mega_io_complete(void *image, size_t size, const uint32_t *slots, const int64_t *results,
                                                uint32_t count);
/* OK or ERROR back to EMPTY, by whoever asked. */
VYRE_MUST_USE vyre_status vyre_mega_io_recycle(void *image, size_t size, uint32_t slot);
/* By whoever asked: it no longer waits.  What has ended is EMPTY at once; what is PUBLISHED or CLAIMED is, with op GIVEN_UP, theirs
 * who do requests, who make it EMPTY by a poll or by completing it. */
VYRE_MUST_USE vyre_status vyre_mega_io_give_up(void *image, size_t size, uint32_t slot);

/* ---- the kernel ---------------------------------------------------------------------------------------------------------- */

typedef enum vyre_mega_build {
  VYRE_MEGA_ONCE,        /* an invocation a slot: each slot that is ready is taken, then the launch is over */
  VYRE_MEGA_BY_PRIORITY, /* rounds over the partitions of the priorities, until nothing is left that can be done */
  VYRE_MEGA_PERSISTENT,  /* rounds over the ring, until it is shut down or its slice is over */
  VYRE_MEGA_PERSISTENT_BY_PRIORITY,
  VYRE_MEGA_BUILD__COUNT
} vyre_mega_build;

/* A handler is a `func` of .vir that takes the four buffers (and, where there is one, the buffer of data) as paths of u32[], the
 * slot's first word, the op code and three arguments; further ones are words of the ring:
 *
 *     func @name(%control : path u32[], %ring : path u32[], %debug : path u32[], %io : path u32[],
 *                %base : u32, %op : u32, %a0 : u32, %a1 : u32, %a2 : u32) -> u32
 *
 * With data `%data : path u32[]` follows %io.  It gives 0, or a reason from VYRE_MEGA_REASON_USER to 0xffff, or VYRE_MEGA_AGAIN:
 * the slot is YIELD, and the item is begun again when its turn comes.  It does not wait for another item, whose turn may come after
 * its own. */
typedef struct vyre_mega_handler {
  uint32_t op;          /* a user's */
  const char *function; /* without @ */
} vyre_mega_handler;

#define VYRE_MEGA_AGAIN 0x80000005u

typedef struct vyre_mega_program {
  vyre_mega_build build;
  const char *source; /* .vir text of functions, NULL: none; borrowed for the call */
  const vyre_mega_handler *handlers;
  uint32_t handler_count;
  const char *fused; /* this function, of a handler's kind, is what every item does, whatever its op code; NULL: none */
  bool has_data;     /* there is a fifth buffer, of words, for handlers */
} vyre_mega_program;

/* How the text is for a device. */
typedef struct vyre_mega_form {
  uint32_t workgroup;   /* invocations; 0: 1 */
  bool is_together;     /* lanes of a subgroup count together: the device has vote, ballot and elect */
  bool is_device_scope; /* what is ordered is ordered for the device, as Vulkan has it; else for the host too */
  bool meets;           /* all workgroups meet before the first round: then they are all there at once, or the launch is refused */
} vyre_mega_form;

/* Appends the kernel's text: one program, @mega.  What is wrong with the handlers' list is an error; with their text the parser's.
 */
VYRE_MUST_USE vyre_status vyre_mega_source(const vyre_mega_program *program, const vyre_mega_form *form, vyre_bytes *out);

typedef struct vyre_mega vyre_mega; /* a kernel that was compiled for a target */

/* Buffers that are on the device.  Each range has a size. */
typedef struct vyre_mega_row {
  vyre_range buffers[5]; /* control, ring, debug log, IO queue, data */
} vyre_mega_row;

/* A device that is lost is made anew, and a dispatch for which memory ran out gives back what was kept; then it is tried once more,
 * and an error tells both.  All handles of the target are stale after a loss, those of the caller's own too. */
typedef struct vyre_mega_recovery {
  bool is_off; /* errors are told at once, and the target stays lost */
  /* Puts new buffers of the caller's, with what belongs in them, into the rows: all ranges of rows that are dispatched, of others
   * the fifth alone.  The target may be used for that.  NULL: dispatches with such buffers are not tried again after a loss. */
  vyre_status (*remake)(void *user, vyre_mega_row *rows, uint32_t count);
  void *user;
} vyre_mega_recovery;

typedef struct vyre_mega_options {
  vyre_mega_program program;
  uint32_t slots;       /* of the ring; of ONCE a multiple of the workgroup */
  uint32_t workgroup;   /* 0: 256, or as many as there are slots or the device takes; on a cpu 1 */
  uint32_t groups;      /* of builds that go over the ring in rounds; 0: one for each workgroup of slots, 4 at most */
  bool reports_control; /* of the four buffers control alone comes back */
  bool is_alone;        /* lanes count alone though the device could do better */
  uint32_t subgroup;    /* where .vir is run: lanes of a subgroup; 0: the target's choice */
  uint32_t threads;     /* of a cpu: groups side by side; 0: one for each processor that the process may use, 64 at most */
  /* The program as vyre-megac compiled it to C, for a cpu; `run` NULL: programs without functions of the user's have one already,
   * others are interpreted, by one thread. */
  vyre_kernel_function native;
  /* Called by create with the kernel's module before code is made of it, to run passes, say; not of native code.  NULL: it is as it
   * is. */
  vyre_status (*optimize)(void *user, struct vyre_module *module);
  void *optimize_user;
  vyre_mega_recovery recovery;
} vyre_mega_options;

/* The target stays open as long as the kernel is there. */
VYRE_MUST_USE vyre_status vyre_mega_create(const vyre_target_ops *ops, vyre_target *target, const vyre_mega_options *options,
                                           vyre_mega **out);
VYRE_MUST_USE vyre_status vyre_mega_destroy(vyre_mega *mega); /* NULL is ignored */
uint32_t vyre_mega_slots(const vyre_mega *mega);
vyre_kernel_form vyre_mega_kernel_form(const vyre_mega *mega);

/* ---- dispatching --------------------------------------------------------------------------------------------------------- */

/* What a dispatch cost, counted where the work is done: a batch of n rows has n launches (of threads of a cpu each is one) and the
 * waits that it took. */
typedef struct vyre_mega_stats {
  uint64_t input_bytes;    /* that went up */
  uint64_t output_bytes;   /* of images that came out */
  uint64_t readback_bytes; /* that came down: more than came out where the target reads more */
  uint64_t bytes_moved;    /* up and down */
  uint64_t device_allocation_bytes;
  uint64_t device_allocation_events; /* buffers that were asked for; a dispatch of the same sizes as the last one asks for none */
  uint64_t latency_ns;               /* from call to return */
  uint64_t output_buffers;
  uint64_t resident_rows, resident_handles;
  uint64_t kernel_launches, sync_points;
  bool was_recovered; /* the device was lost, and this was done on one that was made anew */
} vyre_mega_stats;

/* Bytes a second; 0 where no time was taken, UINT64_MAX where there are more. */
uint64_t vyre_mega_rate(uint64_t bytes, uint64_t latency_ns);

/* Images, borrowed for the call. */
typedef struct vyre_mega_input {
  const void *control, *ring, *debug;
  const void *io; /* NULL: an empty queue */
  size_t control_size, ring_size, debug_size, io_size;
  vyre_range data; /* on the device, of programs that have it */
} vyre_mega_input;

/* Images that came back, in the order of the buffers: all four, or control alone.  All zero at first; what is there is used again,
 * and grows where it must.  After an error they are as they were. */
typedef struct vyre_mega_output {
  vyre_bytes images[4];
  uint32_t count;
} vyre_mega_output;

void vyre_mega_output_free(vyre_mega_output *output);

/* The images are checked before the device is asked: control, the ring of just the kernel's slots, the debug log, the IO queue.
 * `stats` may be NULL. */
VYRE_MUST_USE vyre_status vyre_mega_dispatch(vyre_mega *mega, const vyre_mega_input *input, vyre_mega_output *output,
                                             vyre_mega_stats *stats);

/* The same decoded.  Its images are those of `output`, which is left with the memory of the last results, empty.  All zero at
 * first. */
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

/* Of what is on the device: nothing goes up. */
VYRE_MUST_USE vyre_status vyre_mega_dispatch_resident(vyre_mega *mega, const vyre_mega_row *row, vyre_mega_output *output,
                                                      vyre_mega_stats *stats);

/* Rows that are dispatched by one submission, and what came of each.  All zero at first; what it has is used again. */
typedef struct vyre_mega_batch {
  vyre_mega_row *rows;       /* owned */
  vyre_mega_output *outputs; /* owned, likewise; as many as `rows` has room for */
  uint32_t count, capacity;
} vyre_mega_batch;

VYRE_MUST_USE vyre_status vyre_mega_batch_reserve(vyre_mega_batch *batch, uint32_t rows);
VYRE_MUST_USE vyre_status vyre_mega_batch_add(vyre_mega_batch *batch, const vyre_mega_row *row);
/* No rows: nothing is submitted, and all statistics are 0. */
VYRE_MUST_USE vyre_status vyre_mega_batch_dispatch(vyre_mega *mega, vyre_mega_batch *batch, vyre_mega_stats *stats);
/* There are no rows, and the outputs are empty; all memory stays. */
void vyre_mega_batch_clear(vyre_mega_batch *batch);
void vyre_mega_batch_free(vyre_mega_batch *batch);

/* Images of the host's with buffers on the device, for dispatch after dispatch: what was published or set goes up, the rest is
 * there. */
typedef struct vyre_mega_mirror vyre_mega_mirror;

/* `observables` and `tenants` as for a control image; the ring has the kernel's slots.  The kernel stays until the end. */
VYRE_MUST_USE vyre_status vyre_mega_mirror_create(vyre_mega *mega, uint32_t observables, uint32_t tenants, vyre_mega_mirror **out);
VYRE_MUST_USE vyre_status vyre_mega_mirror_destroy(vyre_mega_mirror *mirror); /* NULL is ignored */
VYRE_MUST_USE vyre_status vyre_mega_mirror_publish(vyre_mega_mirror *mirror, uint32_t slot, const vyre_mega_item *item);
VYRE_MUST_USE vyre_status vyre_mega_mirror_set(vyre_mega_mirror *mirror, uint32_t word, uint32_t value);
/* All images are as if they were new. */
VYRE_MUST_USE vyre_status vyre_mega_mirror_reset(vyre_mega_mirror *mirror);
/* One launch: what changed goes up; control, the debug log, the IO queue and the slots that the kernel had to do with come down
 * into the images (of a kernel that reports control alone only that and these slots).  `data` of programs that have it. */
VYRE_MUST_USE vyre_status vyre_mega_mirror_dispatch(vyre_mega_mirror *mirror, vyre_range data, vyre_mega_stats *stats);
/* Image 0 to 3, as the last dispatch left it, with what was published since. */
const void *vyre_mega_mirror_image(const vyre_mega_mirror *mirror, uint32_t k, size_t *out_size);

/* ---- live ---------------------------------------------------------------------------------------------------------------- */

/* A persistent kernel that is kept running by a thread of its own, which has the target as long as it lives: nobody else uses the
 * target, or the vyre_mega, meanwhile.  Its functions may be called by any number of threads, but start and stop; a ticket belongs
 * to one. */
typedef struct vyre_mega_live vyre_mega_live;

/* How a target keeps it live. */
typedef enum vyre_mega_way {
  VYRE_MEGA_MAPPED,  /* the kernel and the host have the ring in common, and one launch goes on until it is shut down */
  VYRE_MEGA_SLICED,  /* they have it in common, and launches have bounded slices, one after the other while there is work */
  VYRE_MEGA_MIRRORED /* the device has a ring of its own: each slice takes what was published up, and what is under way down */
} vyre_mega_way;

typedef struct vyre_mega_live_options {
  uint32_t observables;
  uint32_t tenants; /* that have masks and quotas; 0: all */
  /* Rounds of a launch.  0: as many as there are until it is shut down, where the target can (MAPPED), else 64; so a watchdog of a
   * display's driver is no danger where this is said. */
  uint32_t slice;
  vyre_range data; /* of programs that have it */
  /* A pump does what LOAD_MISS and handlers ask the IO queue for, until the end (megakernel_io.h); its `ended` is not called. NULL:
   * the caller does that by vyre_mega_live_io, or nobody. */
  const struct vyre_mega_pump_options *io;
} vyre_mega_live_options;

/* An item that was published. */
typedef struct vyre_mega_ticket {
  uint32_t slot, turn;
} vyre_mega_ticket;

/* The kernel is one of a persistent build, and stays until the end. */
VYRE_MUST_USE vyre_status vyre_mega_live_start(vyre_mega *mega, const vyre_mega_live_options *options, vyre_mega_live **out);
vyre_mega_way vyre_mega_live_way(const vyre_mega_live *live);
/* `out_published` false: the ring, or the part of it for this priority, is full; try again later.  With a ticket the slot is its
 * owner's until poll or wait has told the end; without one (NULL) nobody hears of the end but the counters of the control image. */
VYRE_MUST_USE vyre_status vyre_mega_live_publish(vyre_mega_live *live, const vyre_mega_item *item, vyre_mega_ticket *ticket,
                                                 bool *out_published);
/* Whether the item came to its end, and then what its slot has become; the ticket is used up by that. */
VYRE_MUST_USE vyre_status vyre_mega_live_poll(vyre_mega_live *live, vyre_mega_ticket ticket, vyre_mega_slot *out, bool *out_ended);
/* Until then.  An error where the kernel ended before. */
VYRE_MUST_USE vyre_status vyre_mega_live_wait(vyre_mega_live *live, vyre_mega_ticket ticket, vyre_mega_slot *out);
/* Until all that was published has ended: nobody publishes meanwhile, and no item waits for a tenant whose mask is 0. */
VYRE_MUST_USE vyre_status vyre_mega_live_drain(vyre_mega_live *live);
/* A word of the control image, as it is now or as the last slice left it; and one that the kernel is to see: masks, quotas,
 * scratch, observables; all others are refused.  A word that items change meanwhile (a quota, where items of its tenant are begun;
 * scratch that they write) may keep what either side wrote: a device's atomics need not be atomic towards the host.  A mask keeps
 * what was set. */
VYRE_MUST_USE vyre_status vyre_mega_live_word(vyre_mega_live *live, uint32_t word, uint32_t *out);
VYRE_MUST_USE vyre_status vyre_mega_live_set(vyre_mega_live *live, uint32_t word, uint32_t value);
/* The IO queue's image, for whoever does what LOAD_MISS asks for, or asks where no item does.  Refused where the device has its own
 * (MIRRORED). */
VYRE_MUST_USE vyre_status vyre_mega_live_io(vyre_mega_live *live, void **out_image, size_t *out_size);
/* Shuts the kernel down, and frees all but the vyre_mega, whatever the status says, which is what went wrong while it was live.
 * What was not begun is left undone: drain first.  `control` and `stats` of the whole time may be NULL.  Where the device hangs, a
 * kernel may still write what was in common: that memory is left to the process, and so must be what the caller imported. */
VYRE_MUST_USE vyre_status vyre_mega_live_stop(vyre_mega_live *live, vyre_mega_control *control, vyre_mega_stats *stats);
/* The same, and what the pump did. */
struct vyre_mega_pump_stats;
VYRE_MUST_USE vyre_status vyre_mega_live_stop_io(vyre_mega_live *live, vyre_mega_control *control, vyre_mega_stats *stats,
                                                 struct vyre_mega_pump_stats *io);

#ifdef __cplusplus
}
#endif
#endif
