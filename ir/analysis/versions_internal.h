/* What the parts of the state graph share; versions.c tells how they fit.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_VERSIONS_INTERNAL_H
#define VYRE_IR_VERSIONS_INTERNAL_H

#include "versions.h"
#include "vyre/view.h"

/* The first classes of each program: all storage memory, all workgroup memory, all that async copies read or write. */
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
  uint32_t row;                    /* whose state it is at the program's start */
  uint32_t group;                  /* a barrier that names the group writes this class */
  uint32_t first, end;             /* its writes in `written` */
  uint32_t near;                   /* of these the last one that was found */
  uint32_t region, write, version; /* the last answer: in that region, after that write */
  bool async;                      /* a wait writes this class */
  bool shared;                     /* of images: coherent or volatile */
  bool memory;                     /* an opaque row that leads anywhere writes this class */
} state;

typedef struct write_event {
  uint32_t row, klass;
} write_event;

/* A way by which control comes to the end of a construct, or to a region that is a head. */
typedef struct edge {
  uint32_t to;   /* the construct; the region */
  uint32_t from; /* the region that ends, or the jump; the construct: control comes from before it, or from the test of a `for` */
  uint32_t at;   /* the last row that has run */
} edge;

enum { JOIN_UNKNOWN = INT32_MAX };

/* The states of a class after a construct or at a head, and before the construct. */
typedef struct slot {
  uint32_t row, klass; /* row 0: free */
  uint32_t join;       /* 0: none, the version before the construct; JOIN_UNKNOWN: not searched for yet */
  uint32_t front;      /* the version before the construct, or a construct further out before which it is the same; 0: not known */
} slot;

/* A growing array. */
typedef struct vector {
  void *data;
  size_t size; /* of an element */
  uint32_t count, capacity;
} vector;

typedef struct versions {
  const vyre_module *module;
  const vyre_view *view;
  const vyre_allocator *allocator;
  vyre_state_graph *out;
  uint32_t *class_of;   /* by row: of vars, buffers and opaque rows */
  uint32_t *aliases;    /* by row: the classes of buffers, by their first row */
  uint32_t *stops;      /* of the program at hand: rows that read, write, hold rows or end a region, in order */
  uint32_t *edge_first; /* by construct and head: its first edge in `edges`, as many as `edge_count` says */
  uint32_t *edge_count;
  uint32_t *ends; /* by construct and region: the last row in it */
  uint32_t *jump; /* by construct and region: one far outside of it, by which walks outward are short */
  uint32_t stop_count;
  vector states;
  vector events;  /* the writes, in program order */
  vector written; /* the same, class by class: rows */
  vector edges;   /* by where they lead; each one's in program order */
  vector slots;   /* A hash table, of a power of two; rows are of one program, so it is never emptied.  With uthash default<O2>
                   * executes 2 % more instructions on public shaders. */
  vector asked;   /* classes of joins, from the first of this program on, whose parts are not known yet */
  uint32_t slots_used;
  vector frames, found;    /* of the walk over control */
  vector searches, passed; /* those that wait for the last one, and the constructs that they came before */
  bool reads_everything;   /* the program has opaque rows that may read any memory */
  bool out_of_memory;
} versions;

/* Room for another element; false: out of memory, which is remembered. */
bool versions_grow(versions *k, vector *list);

void versions_free(const versions *k, const vector *list);

/* A new element, with anything in it; NULL: out of memory. */
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

/* Returns the row that is directly in the construct or region `outer` and is or holds the row.  O(log depth). */
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

/* Of the var, the buffer or the opaque row that a path begins at. */
static inline uint32_t
versions_class_of(const versions *k, uint32_t path)
{
  return k->class_of[vyre_buffer_of(k->view, path)];
}

/* Whether the path leads to a handle: nothing writes to that, only to what it leads to. */
bool versions_is_handle(const versions *k, uint32_t path);

/* Of a program, whose rows end before `end`: classes, stops, and the writes in program order and class by class. */
void versions_find_writes(versions *k, uint32_t program, uint32_t end);

/* The same of its vars alone: what reads and writes memory is no stop, nor is a `set`. */
void versions_find_sets(versions *k, uint32_t program, uint32_t end);

/* The edges of the program at hand, and the versions of what sees active lanes. */
void versions_follow_control(versions *k);

/* Returns the last write of the class up to that row, its own or one that names many classes; 0 if there is none. */
uint32_t versions_last_write(const versions *k, uint32_t klass, uint32_t at);

/* Returns the class's version after the row `at`, which is in the region at any depth, or is the region row. */
uint32_t versions_version_at(versions *k, uint32_t klass, uint32_t at, uint32_t region);

/* Returns the first edge of the construct, or of a head of it, from that index on that brings a write of the construct, with the
 * version that it brings; `end` if none does. */
uint32_t versions_next_edge(versions *k, uint32_t klass, uint32_t construct, uint32_t from, uint32_t end, uint32_t *out_version);

/* Returns the class's join at the head of a loop that writes the class. */
uint32_t versions_head_join(versions *k, uint32_t klass, uint32_t region);

/* Whether control can come to the region from elsewhere than from before its construct. */
bool versions_is_head(const vyre_view *v, uint32_t region);

#endif
