/* Shared declarations of the state graph. versions.c describes how its files work together.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_VERSIONS_INTERNAL_H
#define VYRE_IR_VERSIONS_INTERNAL_H

#include "aliases.h"
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
  uint32_t row;      /* the row that stands for the state of the class at the program's start */
  uint32_t group;    /* a barrier that names the group writes this class */
  uint32_t change;   /* the current state, as its own writes made it: an element of `changes`, or 0 */
  uint32_t merge;    /* the last merge of the class */
  uint32_t sources;  /* the number of its states: 1 for a var, SOURCES for memory */
  uint32_t last_use; /* a var: the last row that reads it, or the last row of the outermost loop around that row */
  bool async;        /* an async wait writes this class */
  bool shared;       /* images: coherent or volatile */
  bool memory;       /* an opaque row that may access any memory writes this class */
} state;

typedef struct write_event {
  uint32_t row, klass;
} write_event;

/* A state of a class in an open region. It ends at the end of the region, where the state before it holds again. */
typedef struct change {
  uint32_t klass, value;
  uint32_t before; /* the change of the class that holds again after this one, or 0 */
  uint32_t edges;  /* the number of edges when it was made */
  uint32_t run;    /* the last run that it began, or 0 */
} change;

/* A construct, or a region that may be a head. */
typedef struct place {
  uint32_t first_edge, last_edge, edge_count; /* the edges to it, if it is a construct or a head */
  uint32_t changes;                           /* the number of changes when its construct began */
  uint32_t used;                              /* the first row whose uses of a var see its state here */
} place;

/* An edge to the exit of a construct, or to a region that is a head. Number 0 is unused. */
typedef struct edge {
  uint32_t from; /* the region that ends, or the jump; the construct for the edge from before it or from the test of a `for` */
  uint32_t next; /* the next edge with the same target, or 0 */
  uint32_t first_run, end_run; /* the runs that begin with this edge */
} edge;

/* A state that edges carry to one target, from `edge` up to and without `end`. Later runs of a class hide earlier ones. A run
 * is as long as its change, so many edges with the same state need one run. Number 0 is unused. */
typedef struct run {
  uint32_t klass, value, edge, end;
  uint32_t next;  /* while the change holds, the run before this one of the change; then the next run of the merge */
  uint32_t outer; /* the last run of the merge before this one that ends later, or 0 */
} run;

/* A place where edges bring states of a class that its own writes made. A join exists only if a read needs it. Number 0 is unused.
 * Merges are in the order of the joins' locations. */
typedef struct merge {
  uint32_t row, klass;          /* a construct or a head */
  uint32_t before;              /* the state before the construct */
  uint32_t first_run, last_run; /* its list of runs */
  uint32_t own;                 /* the join of this class, or 0 */
  uint32_t joins;               /* the last join made here, of this class or of one that this class is a group of, or 0 */
} merge;

/* The states of a class by the writes of the class, its group, opaque rows and async waits. The last one of these holds. A state is
 * a row, VYRE_JOIN | a merge, or 0 for the state at the program's start. */
enum { SOURCES = 4 };

/* A join of the current program before joins are numbered. Number 0 is unused. */
typedef struct new_join {
  uint32_t klass, merge;
  uint32_t values;       /* the states of the class: the index of SOURCES elements of `values`, or 0 if the merge is the only one */
  uint32_t first, count; /* its parts in `parts` */
  uint32_t next;         /* the join made before at the merge, or 0 */
  uint32_t to;           /* its number in the graph */
} new_join;

/* The join of a class at a row where only a group of the class has a merge. */
typedef struct slot {
  uint32_t row, klass; /* row 0 is a free slot */
  uint32_t join;
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
  aliases alias;
  uint32_t first, rows; /* of the current program */
  /* By row of the current program, from `first` on: */
  uint32_t *classes;  /* the class of vars, buffers and opaque rows, and the places */
  uint32_t *aliases;  /* the classes of buffers, by their first row */
  uint32_t *stops;    /* rows that read or write state, contain rows or end a region, in order */
  uint32_t *declared; /* vars and buffers, in order */
  uint32_t stop_count, declared_count;
  uint32_t most_rows;      /* of the largest program */
  uint32_t region_changes; /* the number of changes when the current region began */
  vector states;
  vector events;  /* the writes, in program order */
  vector changes; /* the states in the open regions */
  vector places, edges, runs, merges;
  vector frames;               /* the open constructs and regions */
  vector joins, values, parts; /* of the current program, by order of first use */
  vector users;                /* rows whose version is a join */
  vector slots; /* a hash table; its capacity is a power of two. With uthash, default<O2> runs 2 % more instructions. */
  uint32_t slots_used;
  uint32_t loop_end;     /* the last row of the outermost loop around the current row, or of one before it */
  bool writes_groups;    /* a row of the program writes a group */
  bool reads_everything; /* the program has opaque rows that may read any memory */
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

static inline change *
versions_change(const versions *k, uint32_t index)
{
  return (change *)k->changes.data + index;
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

/* Returns the class or the place of a row. Returns 0 for row 0, which is of no program. */
static inline uint32_t
versions_class(const versions *k, uint32_t row)
{
  return row - k->first < k->rows ? k->classes[row - k->first] : 0;
}

/* Returns the class of the var, buffer or opaque row at which a path begins. */
static inline uint32_t
versions_class_of(const versions *k, uint32_t path)
{
  return versions_class(k, vyre_buffer_of(k->view, path));
}

/* Returns whether the buffer is a handle. Nothing writes the handle itself, only the memory behind it. */
static inline bool
versions_is_handle(const versions *k, uint32_t buffer)
{
  return VYRE_BUFFER_SPACE(k->view->imm_hi[buffer]) == VYRE_SPACE_HANDLE;
}

/* Finds the classes, stops and writes of the current program. */
void versions_find_writes(versions *k);

/* Finds the versions of the current program's rows, and the merges of states. Each state is current where the walk is. */
void versions_follow_control(versions *k);

/* Returns the version of the class at the current position, which may be a join. */
uint32_t versions_current_join(versions *k, uint32_t klass);

/* Returns the version of the class at the current position. */
static inline uint32_t
versions_current(versions *k, uint32_t klass)
{
  const state *s = versions_state(k, klass);
  const uint32_t value = versions_change(k, s->change)->value;
  if ((s->sources != 1 && k->writes_groups) || (value & VYRE_JOIN) != 0)
    return versions_current_join(k, klass);
  return value ? value : s->row;
}

/* Finds the parts of the current program's joins, and appends the joins to the graph. Parts precede their joins, except for parts
 * of heads. */
void versions_add_joins(versions *k);

#endif
