/* What the two walks of the versions share; the walks are told in versions.c.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_VERSIONS_INTERNAL_H
#define VYRE_IR_VERSIONS_INTERNAL_H

#include "versions.h"
#include "vyre/view.h"

/* The first classes of each program: all storage memory, all workgroup memory, all that async copies read or write, which lanes are
 * active. */
enum {
  GROUP_NONE = 0,
  GROUP_STORAGE = 1,
  GROUP_WORKGROUP = 2,
  GROUP_ASYNC = 3,
  LANES = 4,
  GROUP_IMAGES = 5,
  GROUP_OPAQUE = 6,
  EVERYTHING = 7,
  FIRST_CLASS = 8
};

typedef struct state {
  uint32_t row;   /* whose state it is */
  uint32_t time;  /* when that was noted; greater is later */
  uint32_t group; /* a barrier that names the group writes this class */
  uint32_t stamp; /* last construct whose list of writes has it */
  bool async;     /* a wait writes this class */
  bool shared;    /* of images: coherent or volatile */
  bool memory;    /* an opaque row that leads anywhere writes this class */
} state;

typedef struct write_event {
  uint32_t row, klass;
  uint32_t before; /* 1 + index of the write of this class before; 0: none */
} write_event;

typedef struct undo {
  uint32_t klass, row, time;
} undo;

/* An open construct or region. */
typedef struct frame {
  uint32_t row;
  uint32_t base;   /* region: first entry of the log; construct: first entry of `written` */
  uint32_t time;   /* when it was entered */
  uint32_t passed; /* writes before it */
  uint32_t end;    /* the last row in it */
  uint32_t loop;   /* the innermost loop there, the row itself counted */
  uint32_t target; /* construct: the outermost that a jump in it ends, itself if none leads further out */
} frame;

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
  uint32_t *out;      /* by row: the version of those that have one */
  uint32_t *class_of; /* by row: of vars, buffers and opaque rows */
  uint32_t *aliases;  /* by row: the classes of buffers, by their first row */
  uint32_t *stops;    /* of the program at hand: rows that read, write, hold rows or end a region, in order */
  uint32_t stop_count;
  vector states, events, log, written, frames;
  uint32_t time;
  uint32_t passed;       /* writes that the second walk has passed */
  bool has_lanes;        /* the program has rows that depend on which lanes are active */
  bool reads_everything; /* the program has opaque rows that may read any memory */
  bool out_of_memory;
} versions;

/* Room for another element; false: out of memory, which is remembered. */
bool versions_grow(versions *k, vector *list);

/* A new element, with anything in it; NULL: out of memory. */
static inline void *
versions_append(versions *k, vector *list)
{
  if (list->count == list->capacity && !versions_grow(k, list))
    return NULL;
  return (char *)list->data + list->count++ * list->size;
}

/* Of the var, the buffer or the opaque row that a path begins at. */
static inline uint32_t
versions_class_of(const versions *k, uint32_t path)
{
  return k->class_of[vyre_buffer_of(k->view, path)];
}

/* The first walk over a program, whose last row stands in front of `end`: classes, stops, and the writes in program order. */
void versions_prepare_program(versions *k, uint32_t program, uint32_t end);

/* Whether the path leads to a handle: nothing writes to that, only to what it leads to. */
bool versions_is_handle(const versions *k, uint32_t path);

static inline state *
state_of(const versions *k, uint32_t klass)
{
  return (state *)k->states.data + klass;
}

#endif
