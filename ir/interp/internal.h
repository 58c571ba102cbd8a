/* The interpreter's state, shared by its files.
 *
 * A workgroup runs in lockstep. In a program with a grid barrier, all workgroups run in lockstep side by side. Every value row has
 * a plane for each lane: `count` u64, one for each invocation. The planes of a vector's lanes are contiguous. Pure ops are total,
 * so they are computed for all invocations at once, active or not. A row's value is visible only in its region, so an invocation
 * that was inactive when it was computed never reads it. Effects, accesses and `set` use the mask of active invocations.
 *
 *     row --plane[row - begin]--> | lane 0: invocation 0, 1, ... count - 1 | lane 1: ... | ...
 *
 * A tuple result has four planes for each part. A path has one, the byte offset in its buffer, or NOWHERE. A var row has the planes
 * of its value. Rows that never change (const, spec, literals, fixed paths) are filled once, before the first workgroup.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_INTERP_INTERNAL_H
#define VYRE_IR_INTERP_INTERNAL_H

#include "vyre/eval.h"
#include "vyre/run.h"

#define NO_PLANE UINT32_MAX
#define NOWHERE  UINT64_MAX /* an out-of-bounds address */
/* offsets from here on are NOWHERE: memory is not that large, and sums do not overflow */
#define FARTHEST         (UINT64_C(1) << 48)
#define MOST_DESCRIPTORS 65535u /* of an array; the bits above an offset select the descriptor */
#define MOST_INVOCATIONS 65536u
#define MOST_TOGETHER    (1u << 20) /* most invocations of a grid with a grid barrier */
#define DEEPEST_CONTROL  1000u
#define DEEPEST_TYPE     64u

/* The memory bound to one descriptor of an array. */
typedef struct descriptor {
  uint8_t *data; /* NULL if unbound */
  uint64_t size;
} descriptor;

/* The memory of one buffer row. */
typedef struct buffer_state {
  uint8_t *data;
  uint64_t size;           /* in bytes; of one copy if owned */
  descriptor *descriptors; /* of an array of descriptors, which has no data and size */
  uint32_t descriptor_count, descriptor_steps;
  uint8_t *written; /* report_undefined: by byte, whether unset or uninitialized memory was written; otherwise NULL */
  uint64_t step;    /* bytes from one copy to the next, or 0 for a single copy */
  uint32_t copies;  /* of `size` bytes, if owned */
  uint32_t sharers; /* consecutive invocations that share a copy */
  uint8_t *initial; /* initial contents of constant and private memory with initializer; NULL for zero */
  uint32_t row;
  uint32_t type;
  bool packed; /* scalars without gaps (workgroup, private, constant); otherwise the type's layout */
  bool owned;
} buffer_state;

/* The computation of an `at` or buffer row's address, and the facts that an access through it needs. */
typedef struct path_plan {
  uint32_t buffer;      /* index of the buffer_state */
  uint32_t type;        /* of the location */
  uint32_t lane_stride; /* bytes from lane to lane of the vector (or from row to row of the matrix column) */
  uint64_t stride;      /* at: bytes from element to element; for descriptors, multiples of FARTHEST */
  uint64_t bound;       /* at: index < bound; NOWHERE for a runtime array */
  uint64_t bias;        /* at with a literal: index * stride, or the member's offset; NOWHERE if out of bounds */
  uint32_t choices;     /* remaining steps that select a descriptor */
  bool fixed;           /* independent of the invocation: the plane was filled at the start */
} path_plan;

typedef struct type_plan {
  uint64_t packed_size;
  uint64_t count; /* elements in this dispatch; 0 for a runtime array */
  uint32_t depth;
} type_plan;

/* Control being executed, a stack from the innermost construct outward. */
typedef struct frame {
  struct frame *outer;
  uint32_t row; /* if, for, loop, switch or block; 0 for the program */
  bool is_loop;
  uint64_t *done;  /* invocations that left or broke out */
  uint64_t *again; /* loop: invocations that continue; switch: invocations that fall through */
} frame;

typedef struct interp {
  const vyre_module *module;
  const vyre_view *view;
  const vyre_dispatch *dispatch;
  const vyre_allocator *allocator;
  vyre_status status;
  uint32_t begin, end;   /* rows of the program */
  uint32_t count, words; /* invocations that run side by side; words of a mask */
  uint32_t per_group;    /* invocations of a workgroup */
  uint32_t subgroup;     /* lanes of a subgroup, a power of two up to 128 */
  bool together;         /* all workgroups run side by side */
  uint32_t local[3];
  uint32_t group[3]; /* the current workgroup, unless `together` */
  uint64_t budget;
  uint64_t rows_executed;
  uint32_t *issue; /* by row - begin: its cost for a subgroup; NULL without `weigh` */
  uint64_t work;
  uint32_t modes;      /* VYRE_PROGRAM_FLOAT_MODES */
  uint32_t flush;      /* the modes by which the current row flushes denormals */
  uint64_t unset;      /* the initial bits of lanes of unset vars */
  bool report;         /* report undefined rows of a relaxed program */
  bool bounds;         /* report accesses out of bounds */
  struct races *races; /* NULL if races are not checked */

  uint32_t *plane;   /* by row - begin: first plane of its value */
  uint32_t *literal; /* by row - begin: first plane of its immediate, one for each lane */
  uint32_t *path;    /* by row - begin: index of its path_plan */
  uint64_t *lanes;   /* planes of `count` */
  size_t plane_count;
  uint32_t *origin; /* report_undefined: by (row - begin) * count + invocation, the undefined row that the value comes from, or 0 */
  path_plan *paths;
  uint32_t path_count;
  buffer_state *buffers;
  uint32_t buffer_count;
  type_plan *types;
  uint32_t type_count;

  uint64_t *masks; /* a stack; each construct pushes some */
  size_t mask_top, mask_capacity;
  uint64_t *returned; /* invocations that have returned */
  uint64_t *steps;    /* by invocation: executed rows */
  uint64_t *scratch;  /* 12 planes for operands without denormals */
} interp;

static inline uint64_t *
plane_of(const interp *ip, uint32_t row)
{
  return ip->lanes + (size_t)ip->plane[row - ip->begin] * ip->count;
}

static inline uint32_t *
origin_of(const interp *ip, uint32_t row)
{
  return ip->origin + (size_t)(row - ip->begin) * ip->count;
}

static inline path_plan *
path_of(const interp *ip, uint32_t row)
{
  return &ip->paths[ip->path[row - ip->begin]];
}

/* Computes the position of an invocation in its workgroup, and of that in the grid. */
static inline void
place_invocation(const interp *ip, uint32_t invocation, uint32_t local[3], uint32_t group[3])
{
  const uint32_t *groups = ip->dispatch->groups;
  const uint32_t i = ip->together ? invocation % ip->per_group : invocation, g = ip->together ? invocation / ip->per_group : 0;
  local[0] = i % ip->local[0];
  local[1] = i / ip->local[0] % ip->local[1];
  local[2] = i / ip->local[0] / ip->local[1];
  group[0] = ip->together ? g % groups[0] : ip->group[0];
  group[1] = ip->together ? g / groups[0] % groups[1] : ip->group[1];
  group[2] = ip->together ? g / groups[0] / groups[1] : ip->group[2];
}

/* Returns the descriptor that an address (a path's plane) leads into. */
static inline descriptor
descriptor_at(const buffer_state *buffer, uint64_t address)
{
  if (!buffer->descriptors)
    return (descriptor){buffer->data, buffer->size};
  const uint64_t which = address / FARTHEST;
  return which < buffer->descriptor_count ? buffer->descriptors[which] : (descriptor){NULL, 0};
}

/* Adds a step to an address: within memory, or to another descriptor. */
static inline uint64_t
stepped(uint64_t address, uint64_t step)
{
  return address == NOWHERE || step == NOWHERE || address % FARTHEST + step % FARTHEST >= FARTHEST ? NOWHERE : address + step;
}

/* Returns the address of an invocation's `size` bytes, or NULL if out of bounds. */
static inline uint8_t *
place_of(const buffer_state *buffer, uint64_t invocation, uint64_t offset, uint64_t size)
{
  uint64_t copy = 0;
  if (buffer->descriptors) {
    const descriptor d = offset == NOWHERE ? (descriptor){NULL, 0} : descriptor_at(buffer, offset);
    return offset % FARTHEST >= d.size || size > d.size - offset % FARTHEST ? NULL : d.data + offset % FARTHEST;
  }
  if (offset >= buffer->size || size > buffer->size - offset)
    return NULL;
  if (buffer->step)
    copy = buffer->sharers == 1 ? invocation : (uint32_t)invocation / buffer->sharers;
  return buffer->data + copy * buffer->step + offset;
}

/* Iterates over the invocations of a mask: for_each_active (ip, mask, i) { ... } */
#define for_each_active(ip, mask, i)                                                                                 \
  for (uint32_t word_ = 0; word_ < (ip)->words; word_++)                                                             \
    for (uint64_t left_ = (mask)[word_], i = 0; left_ && (i = word_ * 64u + (uint64_t)__builtin_ctzll(left_), true); \
         left_ &= left_ - 1)

/* plan.c */
bool interp_prepare(interp *ip, const vyre_interp_options *options);
void interp_release(interp *ip);
void interp_start_workgroup(interp *ip);
/* Returns the size of a type without layout: scalars without gaps. */
uint64_t interp_packed_size(const interp *ip, vyre_type_id type);
/* Returns the product, limited to FARTHEST. */
uint64_t interp_capped(uint64_t count, uint64_t size);
/* buffers.c */
bool interp_plan_buffers(interp *ip);
/* Fails with an error that a verified module never has. Returns false. */
bool interp_refuse(interp *ip, uint32_t row, const char *what);

/* planes.c */
/* Returns the number of planes of the row's value. */
uint32_t interp_planes_of(const vyre_view *v, uint32_t row);
bool interp_plan_planes(interp *ip);
/* Fills literals, specialization values, and built-ins that do not change. */
void interp_fill_fixed(interp *ip);

/* rows.c: executes a pure row, `get`, or a built-in. */
bool interp_row(interp *ip, uint32_t row, const uint64_t *active);

/* Returns the lane, or zero if it is a denormal that the current row flushes. */
static inline uint64_t
interp_flushed(const interp *ip, vyre_kind kind, uint64_t lane)
{
  const uint64_t sign = UINT64_C(1) << (vyre_kind_bits(kind) - 1);
  const uint64_t exponent = kind == VYRE_F16 ? 0x7c00u : kind == VYRE_F32 ? 0x7f800000u : UINT64_C(0x7ff0000000000000);
  return (ip->flush & vyre_mode_flush(kind)) != 0 && (lane & exponent) == 0 ? lane & sign : lane;
}

/* subgroup.c: executes a subgroup row, with its origins; and fills a subgroup built-in, once. */
void interp_subgroup(interp *ip, uint32_t row, const uint64_t *active);
void interp_fill_place(const interp *ip, uint32_t row);

/* memory.c */
void interp_at(interp *ip, uint32_t row);
bool interp_length(interp *ip, uint32_t row, const uint64_t *active);
bool interp_load(interp *ip, uint32_t row, const uint64_t *active);
bool interp_store(interp *ip, uint32_t row, const uint64_t *active);
bool interp_copy(interp *ip, uint32_t row, const uint64_t *active);
bool interp_atomic(interp *ip, uint32_t row, const uint64_t *active);
void interp_set(interp *ip, uint32_t row, const uint64_t *active);

/* report.c: texts, and errors that end the run. */
#define INTERP_TEXT 512
/* Writes "row 12 (load %v, a.comp:7:3)" and returns it. */
const char *interp_describe_row(const interp *ip, uint32_t row, char text[INTERP_TEXT]);
/* Writes "invocation (0, 0, 0) of workgroup (0, 0, 0), global (0, 0, 0)" and returns it. */
const char *interp_describe_invocation(const interp *ip, const uint32_t local[3], const uint32_t group[3], char text[INTERP_TEXT]);
const char *interp_describe_buffer(const interp *ip, uint32_t row, char text[INTERP_TEXT]);
/* Ends the run with "program @x, row 12 (load %v, a.comp:7:3): MESSAGE invocation (0, 0, 0) of ..." and the fix. `invocation` is
 * UINT64_MAX for none. Returns false. */
bool interp_fail(interp *ip, uint32_t row, uint64_t invocation, const char *fix, const char *format, ...) VYRE_PRINTF(5, 6);
#define VERIFY "run the verifier on the module before it is interpreted"
/* With report_undefined: returns false with an error if the operand row is undefined for an active invocation. `row` may not use an
 * undefined one. */
bool interp_defined(interp *ip, uint32_t row, uint32_t operand, const uint64_t *active, const char *as_what);
/* Fails because an access is out of bounds or its descriptor is unbound. Returns false. */
bool interp_out_of_bounds(interp *ip, uint32_t row, uint64_t invocation, const buffer_state *buffer, uint64_t address);

/* Allocates zeroed memory. If memory runs out, ends the run and returns NULL. */
void *interp_allocate(interp *ip, size_t count, size_t size);
void interp_free(interp *ip, void *memory, size_t count, size_t size);

/* races.c: called only if ip->races is not NULL. Return false if the run ended, by a race or because memory ran out. */
typedef enum race_access { RACE_READ = 0, RACE_WRITE = 1, RACE_ATOMIC = 2 } race_access;
bool interp_races_start(interp *ip);
void interp_races_end(interp *ip);
void interp_race_workgroup(interp *ip);
void interp_race_workgroup_ends(interp *ip);
/* Begins a row that accesses or orders memory. */
void interp_race_row(interp *ip, uint32_t row);
/* Checks plain loads and stores of all active invocations. */
bool interp_race_plain(interp *ip, uint32_t row, const uint64_t *active, race_access access);
/* Checks one access of one invocation to these bytes. */
bool interp_race_touch(interp *ip, const buffer_state *buffer, uint64_t invocation, const uint8_t *place, uint32_t size,
                       race_access access);
/* Checks an atomic access of the row. `writes` is false for a load and for a failed exchange. */
bool interp_race_atomic(interp *ip, const buffer_state *buffer, uint64_t invocation, const uint8_t *place, uint32_t size,
                        bool writes);
void interp_race_barrier(interp *ip, uint32_t row, const uint64_t *active);
/* Ends an async_copy row. */
void interp_race_copied(interp *ip, const uint64_t *active);
void interp_race_wait(interp *ip, uint32_t row, const uint64_t *active);

#endif
