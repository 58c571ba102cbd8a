/* Shared declarations of the state graph. versions.c describes how its files work together.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_VERSIONS_INTERNAL_H
#define VYRE_IR_VERSIONS_INTERNAL_H

#include "versions.h"
#include "vyre/view.h"

/* The first classes of each program are groups: all storage memory, all workgroup memory, everything that async copies access, all
 * images, everything that opaque rows may write, and all memory. */
enum {
  GROUP_NONE = 0,
  GROUP_STORAGE = 1,
  GROUP_WORKGROUP = 2,
  GROUP_ASYNC = 3,
  GROUP_IMAGES = 4,
  GROUP_OPAQUE = 5,
  EVERYTHING = 6,
  FIRST_CLASS = 7
};

/* An alias class. */
typedef struct state {
  uint32_t row;                    /* the row that stands for the state of the class at the program's start */
  uint32_t group;                  /* a barrier that names the group writes this class */
  uint32_t first, end;             /* the range of the class's writes in `written` */
  uint32_t near;                   /* the last of these writes that was found */
  uint32_t region, write, version; /* the last result: `version`, for `region` after `write` */
  bool async;                      /* an async wait writes this class */
  bool shared;                     /* images: coherent or volatile */
  bool memory;                     /* an opaque row that may access any memory writes this class */
} state;

typedef struct write_event {
  uint32_t row, klass;
} write_event;

/* An edge to the exit of a construct, or to a region that is a head. */
typedef struct edge {
  uint32_t to;   /* the construct or the region */
  uint32_t from; /* the region that ends, or the jump; the construct for the edge from before it or from the test of a `for` */
  uint32_t at;   /* the last row that is executed before the edge */
} edge;

enum { JOIN_UNKNOWN = INT32_MAX };

/* The states of a class after a construct or at a head, and before the construct. */
typedef struct slot {
  uint32_t row, klass; /* row 0 is a free slot */
  uint32_t join;       /* 0 if there is none and the version before the construct holds; JOIN_UNKNOWN if not searched yet */
  uint32_t front;      /* the version before the construct, or an outer construct with the same version before it; 0 if unknown */
} slot;

/* A growing array. */
typedef struct vector {
  void *data;
  size_t size; /* of an element, in bytes */
  uint32_t count, capacity;
} vector;

typedef struct versions {
  const vyre_module *module;
  const vyre_view *view;
  const vyre_allocator *allocator;
  vyre_state_graph *out;
  uint32_t *class_of;   /* by row, for vars, buffers and opaque rows */
  uint32_t *aliases;    /* by row: the classes of buffers, by their first row */
  uint32_t *stops;      /* rows of the current program that read or write state, contain rows or end a region, in order */
  uint32_t *edge_first; /* by construct and head: index of its first edge in `edges`; edge_count is their number */
  uint32_t *edge_count;
  uint32_t *ends; /* by construct and region: the last row in it */
  uint32_t *jump; /* by construct and region: a far outer construct or region, which shortens walks outward */
  uint32_t stop_count;
  vector states;
  vector events;  /* the writes, in program order */
  vector written; /* the rows of the writes, by class */
  vector edges;   /* by target, then in program order */
  vector slots;   /* a hash table; its capacity is a power of two. With uthash, default<O2> runs 2 % more instructions. */
  vector asked;   /* classes of the program's joins that do not have their parts yet */
  uint32_t slots_used;
  vector frames, found;    /* used by the walk over control */
  vector searches, passed; /* a stack of searches, each waiting for the next, and the constructs that they have passed */
  bool reads_everything;   /* the program has opaque rows that may read any memory */
  bool out_of_memory;
} versions;

/* Makes room for another element. Returns false and sets out_of_memory if memory runs out. */
bool versions_grow(versions *k, vector *list);

void versions_free(const versions *k, const vector *list);

/* Appends an uninitialized element. Returns NULL if memory runs out. */
static inline void *
versions_append(versions *k, vector *list)
{
  if (list->count == list->capacity && !versions_grow(k, list))
    return NULL;
  return (char *)list->data + list->count++ * list->size;
}

static inline state *
versions_state(const versions *k, uint32_t klass)
{
  return (state *)k->states.data + klass;
}

static inline uint32_t
versions_op(const versions *k, uint32_t row)
{
  return VYRE_ROW_OP(k->view->op[row]);
}

static inline bool
versions_is_region(const versions *k, uint32_t row)
{
  return (vyre_op_infos[versions_op(k, row)].flags & VYRE_OP_REGION) != 0;
}

/* Returns the row directly in the construct or region `outer` that is or contains the row. O(log depth). */
static inline uint32_t
versions_child_of(const versions *k, uint32_t outer, uint32_t row)
{
  const uint32_t *parent = k->view->parent;
  if (parent[row] == outer)
    return row;
  for (row = parent[row]; parent[row] != outer;)
    row = k->jump[row] > outer ? k->jump[row] : parent[row];
  return row;
}

/* Returns the row at which the state begins. */
static inline uint32_t
versions_row_of(const versions *k, uint32_t version)
{
  return (version & VYRE_JOIN) != 0 ? k->out->joins[version & ~VYRE_JOIN].row : version;
}

/* Returns the class of the var, buffer or opaque row at which a path begins. */
static inline uint32_t
versions_class_of(const versions *k, uint32_t path)
{
  return k->class_of[vyre_buffer_of(k->view, path)];
}

/* Returns whether the path leads to a handle. Nothing writes the handle itself, only the memory behind it. */
bool versions_is_handle(const versions *k, uint32_t path);

/* Finds the classes, stops and writes of a program, whose rows end before `end`. */
void versions_find_writes(versions *k, uint32_t program, uint32_t end);

/* Finds the edges of the current program, and the versions of rows that depend on active lanes. */
void versions_follow_control(versions *k);

/* Returns the class's last write up to the row `at`, its own or that of a group, or 0 if there is none. */
uint32_t versions_last_write(const versions *k, uint32_t klass, uint32_t at);

/* Returns the class's version after the row `at`, which is in the region at any depth, or is the region row. */
uint32_t versions_version_at(versions *k, uint32_t klass, uint32_t at, uint32_t region);

/* Returns the first edge of the construct, or of a head of it, from index `from` on that brings a write of the construct, and
 * stores its version. Returns `end` if there is none. */
uint32_t versions_next_edge(versions *k, uint32_t klass, uint32_t construct, uint32_t from, uint32_t end, uint32_t *out_version);

/* Returns the class's join at the head of a loop that writes the class. */
uint32_t versions_head_join(versions *k, uint32_t klass, uint32_t region);

/* Returns whether control can enter the region other than from before its construct. */
bool versions_is_head(const vyre_view *v, uint32_t region);

#endif
