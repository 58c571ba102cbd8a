/* Where control goes, and which `set` a `get` sees: the module as blocks and edges, with a phi for each variable where states meet.
 *
 * A block is a run of rows that are executed together: from a region's start or from behind a control row, to the next control row,
 * jump or end of the region.  A `for` has one more, without rows: there it is decided whether another trip is made.  A phi is a
 * node like a row: ids from `rows` on.  What a phi may be has one source for each edge into its block.
 *
 * Phis stand where a construct writes a variable: behind it, and at the heads of a loop's body, of its continuing region, and of a
 * case that can be fallen into.  Many are not needed; whoever solves finds that their sources are one value.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSES_STATE_FLOW_H
#define VYRE_PASSES_STATE_FLOW_H

#include "vyre/plugin.h"

typedef struct flow_block {
  uint32_t begin;           /* its first row; 0: it has none */
  uint32_t decides;         /* the control row or jump that says which edges are taken; 0: all are */
  uint32_t out;             /* its first edge; 0: none */
  uint32_t phi_first, phis; /* consecutive */
  uint32_t joins;           /* the `if` whose arms meet here; 0: none */
  uint32_t place;           /* in `order` */
  uint32_t reached;
} flow_block;

typedef struct flow_edge {
  uint32_t to, next; /* next: of the same block; 0: none */
  uint32_t label;    /* the region that it leads into, or else the row that decides; of a breakif: that row to leave, 0 to go on */
  uint32_t taken;
} flow_edge;

typedef struct flow_phi {
  uint32_t var, block, source; /* source: the first */
} flow_phi;

typedef struct flow_source {
  uint32_t edge, node, next;
} flow_source;

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
  uint32_t rows;   /* when it was made */
  uint32_t *block; /* by row: the block in which it stands; of a region row the one it begins */
  uint32_t *def;   /* by row: of a get the `set`, phi or var that it sees */
  flow_list blocks, edges, phis, sources;
  flow_list order; /* blocks in program order: each behind those that lead to it, but for the ends of loops */
  bool out_of_memory;
} flow;

#define FLOW_AT(type, list, index) ((type *)(list).data + (index))

/* Room for another element; false: out of memory, which is remembered. */
bool flow_grow(flow *f, flow_list *list);

/* A new element, zeroed; NULL: out of memory. */
static inline void *
flow_append(flow *f, flow_list *list)
{
  if (list->count == list->capacity && !flow_grow(f, list))
    return NULL;
  return (char *)list->data + list->count++ * list->size;
}

/* Of a sealed module: O(rows).  They hold until rows are moved. */
vyre_status flow_find_stops(vyre_pass_ctx *ctx, const vyre_view *view, flow_stops *out);

/* O(stops, and at each construct the variables that it writes times the edges into its blocks; of rows that lie between, a store
 * each). */
vyre_status flow_make(flow *f, vyre_pass_ctx *ctx, const vyre_view *view, const flow_stops *stops);

/* The block in which a `for` tests its index, in front of that of its body. */
static inline uint32_t
flow_head_of(const flow *f, uint32_t loop)
{
  return f->block[f->v->first[loop]] - 1;
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

#endif
