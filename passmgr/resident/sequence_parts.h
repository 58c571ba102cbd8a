/* The internals of a sequence: its passes and their memory.  On a device all memory is in one buffer (arena.c).  The CPU uses the
 * memory of the host (direct.c).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSMGR_RESIDENT_SEQUENCE_PARTS_H
#define VYRE_PASSMGR_RESIDENT_SEQUENCE_PARTS_H

#include "passmgr/registry/context.h"
#include "plan.h"
#include "resident.h"
#include "sequence.h"

/* The phase of compare.vir, which computes by how much a counter grew in an iteration of `repeat while`. */
extern const vyre_phases compare_phases;

/* A memory that phases use.  Passes that name the same column or fact share its block. */
typedef struct sequence_block {
  void *host;
  uint64_t words;
  bool is_constant;                /* a fact or a table of constants, which the device keeps between sequences */
  uint64_t at;                     /* word offset in the arena, except for constants */
  const vyre_phase_source *column; /* a column of the table or of an analysis; NULL for other memory */
  bool is_kept;                    /* not zero, uploaded, and not written by phases, so the device keeps it for the next sequence */
  uint32_t number;                 /* index of the column in device->columns */
  uint32_t start;                  /* the word that fills the memory at the start, if it is not uploaded */
  uint32_t round;                  /* of the first pass that uses it, from 0 */
  bool is_loss_of_versions;        /* the counter of vyre_phases_is_loss */
  bool is_uploaded, is_read_back;
  uint32_t read; /* index in sequence.reads of memory that is read back with the steps */
} sequence_block;

/* A pass of the sequence. */
typedef struct sequence_member {
  vyre_context *context;
  plan_pass pass;
  uint32_t *blocks;             /* index in sequence.blocks of each memory of the phases */
  uint32_t whiles;              /* number of `repeat while` steps; the next three arrays have an element for each */
  uint32_t *counters;           /* index in sequence.blocks of the counter */
  uint32_t *words;              /* offset of the counter's last value and increase, in the arena or, on the CPU, in `host_words` */
  uint32_t *compares;           /* word offset in the arena of the compare's head */
  uint32_t head;                /* word offset in the arena of the pass's head: offset and length of each memory */
  vyre_device_buffer constants; /* kept by the device; 0 if there are none */
  bool shares_constants;        /* `constants` is the buffer of an earlier member */
} sequence_member;

enum { SEQUENCE_CHANGES = 6 }; /* op, imm, imm_hi, a, b, c */

/* The columns whose changed elements can be read back alone (changes.c).  Offsets are in words of the arena. */
typedef struct sequence_changes {
  uint32_t blocks[SEQUENCE_CHANGES]; /* indices in sequence.blocks */
  uint32_t count;                    /* 0 if columns are only read back whole */
  uint32_t most;                     /* elements that are fewer bytes than the columns */
  uint64_t at, masks, list, before;  /* the number of elements, the masks, the list, and the copies of the columns */
  uint32_t read;                     /* index in sequence.reads of the number of elements */
  uint32_t counted[2];               /* the memory of that read */
} sequence_changes;

/* How much of the columns was read back. */
typedef enum sequence_extent {
  SEQUENCE_READ_COLUMNS,
  SEQUENCE_READ_LIST, /* the changed elements */
  SEQUENCE_READ_NONE  /* because no pass counted a change */
} sequence_extent;

/* The memory between rounds (rounds.c).  Offsets are in words of the arena. */
typedef struct sequence_turns {
  uint32_t blocks[SEQUENCE_CHANGES]; /* indices in sequence.blocks of the columns that are compared, op first */
  uint32_t columns;                  /* number of `blocks`; 0 if no row is hidden between rounds */
  uint32_t programs;                 /* words of `starts` and `changed`: one more than programs; 0 if no row is hidden */
  uint32_t *starts;                  /* the first row of each program, and 0 */
  uint32_t *changed;                 /* the last round that changed each program, and the first one that lost versions */
  uint32_t *named;                   /* a bit for each row that the origins of versions name; NULL if versions are not checked */
  uint64_t starts_at, changed_at, named_at;
  uint64_t lost_at;             /* the counters `loses_versions`, by round */
  uint32_t named_words, losers; /* words of `named`; counters of a round */
  uint64_t before;              /* the copies of the columns */
  uint64_t clear_at, clear_end; /* memory that each round begins with as zeros */
} sequence_turns;

typedef struct sequence {
  vyre_device *device;
  const vyre_allocator *allocator;
  vyre_module *module;
  vyre_pass_ctx *ctx; /* of the first pass, whose scratch memory lives as long as the sequence */
  plan_rows rows;
  plan plan;
  sequence_member *members;
  sequence_block *blocks;
  uint32_t count, block_count, block_capacity, while_count;
  uint32_t endless[2];         /* the words of the arena up to VYRE_PHASE_ENDLESS, if repeats end on the device */
  uint64_t words;              /* words in the arena; the next two fields are word offsets in the arena */
  uint64_t heads, heads_end;   /* columns, orders and kept memory end at `heads`; other memory begins at `heads_end` */
  const uint32_t *head_words;  /* the words of the arena from `heads` to before `heads_end` */
  uint64_t zeros_end;          /* other memory before this offset is filled with zeros */
  uint32_t kept_count;         /* memories of the device that this sequence uses */
  vyre_device_buffer *buffers; /* direct.c: buffers of each block, of each order's rows, of host_words */
  uint32_t buffer_count;
  uint32_t *host_words; /* direct.c: a word that is 0, then the words of compares */
  /* The arguments of the submission: */
  vyre_fill *fills;
  uint32_t fill_count, upload_count, read_count, late_count;
  vyre_upload *uploads;
  vyre_read *reads;
  bool is_lazy;   /* columns are read back after the host has the counters */
  uint32_t *late; /* indices in `blocks` of these columns */
  sequence_extent extent;
  sequence_changes changes;
  sequence_rounds *rounds; /* NULL for one round */
  sequence_turns turns;
  vyre_step *steps;  /* by step of the plan */
  vyre_range *until; /* by repeat of the plan: the word that ends the repeat when it is 0 */
} sequence;

/* Returns zeroed scratch memory, or NULL if an allocation fails. */
void *sequence_allocate(const sequence *s, size_t count, size_t size);

/* arena.c: assigns offsets in the arena.  *out_fits is whether the device has room. */
VYRE_MUST_USE vyre_status vyre_arena_lay_out(sequence *s, bool *out_fits);
/* arena.c: makes the arguments of the submission. */
VYRE_MUST_USE vyre_status vyre_arena_build(sequence *s);
/* Releases the constants of vyre_arena_build, and records the contents of the arena.  `is_done` is whether they are valid. */
VYRE_MUST_USE vyre_status vyre_arena_end(sequence *s, bool is_done);

/* Returns the word offset of a column in the arena. */
uint64_t vyre_arena_column(const vyre_device *device, uint32_t number);
/* Returns the range of words in the arena. */
vyre_range vyre_arena_range(const sequence *s, uint64_t at, uint64_t words);

/* pinned.c: registers the pages of columns that the sequence uploads, if the module is large and the device can.  Staging is used
 * otherwise. */
void vyre_pinned_register(const sequence *s);

/* changes.c: sets s->changes.count and `most`, after vyre_readback_choose. */
void vyre_changes_choose(sequence *s);
/* Assigns offsets in the arena after all other memory. */
void vyre_changes_place(sequence *s);
/* Adds the read of the number of elements. */
void vyre_changes_list_read(sequence *s);
/* Makes the step before or after the passes. */
VYRE_MUST_USE vyre_status vyre_changes_make_step(sequence *s, bool is_save, vyre_step *step);
/* After the counters were read: sets *out_fewer to whether the changed elements are fewer bytes than the columns, and then *out to
 * their read.  vyre_changes_apply writes them to the columns after that read, and marks changed columns as written. */
VYRE_MUST_USE vyre_status vyre_changes_find(sequence *s, vyre_read *out, bool *out_fewer);
void vyre_changes_apply(const sequence *s);
/* Returns whether the levels of the rows whose operands changed are above the levels of their operands. */
bool vyre_changes_are_levels(const sequence *s);

/* rounds.c: sets s->turns.  *out_fits is whether the device can run the rounds. */
VYRE_MUST_USE vyre_status vyre_rounds_begin(sequence *s, bool *out_fits);
/* Assign offsets in the arena: to kept memory, to memory that begins as zeros, and to copies after all other memory. */
void vyre_rounds_place_kept(sequence *s);
void vyre_rounds_place_zeros(sequence *s);
void vyre_rounds_place_copies(sequence *s);
/* Makes a step PLAN_COPY, PLAN_ROUND or PLAN_HIDE. */
VYRE_MUST_USE vyre_status vyre_rounds_make_step(sequence *s, const plan_step *from, vyre_step *step);
/* Sets the outputs of s->rounds, after the readbacks. */
void vyre_rounds_end(sequence *s);
/* Adds the steps after the round that ends with the pass, if there is one. */
void vyre_rounds_add_steps(sequence *s, uint32_t pass);

/* readback.c: sets s->is_lazy. */
void vyre_readback_choose(sequence *s);
/* readback.c: reads the columns of the table if the counters in s->reads report a change.  Marks them as written, and other columns
 * as pending. */
VYRE_MUST_USE vyre_status vyre_readback_late(sequence *s, vyre_timing *timing);
/* readback.c: reads the pending columns of `analyses`, which are no longer pending.  *out_missing are those that were not read. */
VYRE_MUST_USE vyre_status vyre_readback_pending(vyre_device *device, vyre_module *module, uint32_t analyses, vyre_timing *timing,
                                                uint32_t *out_missing);

/* direct.c: makes the arguments of the submission, with buffers over the host's memory.  vyre_direct_end frees the buffers. */
VYRE_MUST_USE vyre_status vyre_direct_build(sequence *s);
VYRE_MUST_USE vyre_status vyre_direct_end(sequence *s);

#endif
