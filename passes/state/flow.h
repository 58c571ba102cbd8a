/* Where control goes, and which `set` a `get` sees: the module as blocks and edges, with a phi for each variable where states meet.
 *
 * A block is a run of rows that are executed together: from a region's start or from behind a control row, to the next control row,
 * jump or end of the region.  A `for` has one more, without rows: there it is decided whether another trip is made.  A phi is a
 * node like a row: ids from `rows` on.  What a phi may be has one source for each edge into its block.
 *
 * Phis stand where a construct writes a variable: behind it, and at the heads of a loop's body, of its continuing region, and of a
 * case that can be fallen into.  None where no get of the variable can come any more.  Of the others many are not needed; whoever
 * solves finds that their sources are one value.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_STATE_FLOW_H
#define VYRE_PASSES_STATE_FLOW_H

#include "vyre/plugin.h"

typedef struct flow_block {
  uint32_t begin;           /* its first row; 0: it has none */
  uint32_t decides;         /* the control row or jump that says which edges are taken; 0: all are */
  uint32_t in, out;         /* the last edge into it, its last edge; 0: none */
  uint32_t phi_first, phis; /* consecutive */
  uint32_t joins;           /* the `if` whose arms meet here; 0: none */
  uint32_t place;           /* in `order` */
  bool repeats;             /* it stands in a loop, or heads one */
  bool reached;             /* whoever solves has come there */
} flow_block;

typedef struct flow_edge {
  uint32_t to;
  uint32_t next_in, next_out; /* of the same blocks, the one made before; 0: none */
  uint32_t label;   /* the region that it leads into, or else the row that decides; of a breakif: that row to leave, 0 to go on */
  uint32_t sources; /* of the phis of `to`, in their order: nodes, from there on in the list of that name */
  bool taken;
} flow_edge;

typedef struct flow_phi {
  uint32_t variable, block;
} flow_phi;

/* A `var` that is set or got anywhere. */
typedef struct flow_variable {
  uint32_t row, last_get;
  uint32_t last_set, node; /* as far as the walk has come: an event; the node whose value it has */
} flow_variable;

/* A growing array; element 0 is never used. */
typedef struct flow_list {
  void *data;
  size_t size; /* of an element */
  uint32_t count, capacity;
} flow_list;

/* Where a walk over state stops, in program order: rows that read or write, hold rows, or jump.  Most rows it passes over. */
typedef struct flow_stops {
  uint32_t *rows, count;
} flow_stops;

typedef struct flow {
  vyre_pass_ctx *ctx;
  const vyre_view *v;
  uint32_t rows; /* when it was made */
  uint32_t *of;  /* by row: the block that a region begins, or a control row or jump ends; what a get sees: `set`, phi or var; of a
                    var its variable */
  flow_list blocks, edges, phis, variables;
  flow_list sources; /* uint32_t */
  flow_list order;   /* blocks in program order: each behind those that lead to it, but for the ends of loops */
  bool out_of_memory;
} flow;

#define FLOW_AT(type, list, index) ((type *)(list).data + (index))

/* Another array with room for so many more elements; false: out of memory, which is remembered. */
bool flow_grow(flow *f, flow_list *list, uint32_t more);

/* Room for so many more elements; false: out of memory. */
static inline bool
flow_reserve(flow *f, flow_list *list, uint32_t more)
{
  return list->capacity - list->count >= more || flow_grow(f, list, more);
}

/* A new element, zeroed; NULL: out of memory. */
static inline void *
flow_append(flow *f, flow_list *list)
{
  if (list->count == list->capacity && !flow_grow(f, list, 1))
    return NULL;
  return (char *)list->data + list->count++ * list->size;
}

/* Of a sealed module: O(rows).  They hold until rows are moved. */
vyre_status flow_find_stops(vyre_pass_ctx *ctx, const vyre_view *view, flow_stops *out);

/* O(stops, and at each construct the variables that it writes times the edges into its blocks). */
vyre_status flow_make(flow *f, vyre_pass_ctx *ctx, const vyre_view *view, const flow_stops *stops);

/* The block in which a `for` tests its index, in front of that of its body. */
static inline uint32_t
flow_head_of(const flow *f, uint32_t loop)
{
  return f->of[f->v->first[loop]] - 1;
}

static inline uint32_t
flow_op(const flow *f, uint32_t row)
{
  return VYRE_ROW_OP(f->v->op[row]);
}

static inline flow_phi *
flow_phi_of(const flow *f, uint32_t node)
{
  return FLOW_AT(flow_phi, f->phis, node - f->rows);
}

/* What the edge brings to a phi of the block that it leads to. */
static inline uint32_t
flow_source(const flow *f, const flow_edge *edge, uint32_t phi)
{
  const uint32_t first = FLOW_AT(flow_block, f->blocks, edge->to)->phi_first;
  return FLOW_AT(uint32_t, f->sources, edge->sources)[phi - f->rows - first];
}

#endif
