/* The shadow memory of the race detector: cells by address, in blocks that are allocated when they are first accessed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "races.h"

#include <string.h>

#define HASH_NONFATAL_OOM         1
#define uthash_malloc(size)       interp_allocate(ip, 1, size)
#define uthash_free(memory, size) interp_free(ip, memory, 1, size)
#define HASH_FUNCTION(key, size, hash)                                                       \
  (hash) = (unsigned)(*(key)*UINT64_C(0x9e3779b97f4a7c15) >> 32) /* computed for each access \
                                                                  */
#include <uthash.h>

struct page {
  UT_hash_handle hh;
  uint64_t address; /* in units of PAGE_BYTES */
  cell cells[];
};

/* ---- memory --------------------------------------------------------------------------------------------------------- */

static size_t
page_bytes(const races *r)
{
  return sizeof(struct page) + (PAGE_BYTES >> r->granule_shift) * sizeof(cell);
}

cell *
races_cell(interp *ip, uint64_t address)
{
  races *r = ip->races;
  const uint64_t at = address >> PAGE_SHIFT;
  page *p;
  HASH_FIND(hh, r->pages, &at, sizeof(at), p);
  if (!p) {
    p = interp_allocate(ip, 1, page_bytes(r));
    if (!p)
      return NULL;
    p->address = at;
    HASH_ADD(hh, r->pages, address, sizeof(at), p);
    if (!p->hh.tbl) { /* uthash ran out of memory */
      interp_free(ip, p, 1, page_bytes(r));
      return NULL;
    }
  }
  return &p->cells[(address & (PAGE_BYTES - 1)) >> r->granule_shift];
}

uint32_t
races_new_async(interp *ip)
{
  races *r = ip->races;
  if (!r->async_free) {
    const uint32_t old_capacity = r->async_capacity, capacity = old_capacity ? old_capacity * 2 : 256;
    async_access *grown = interp_allocate(ip, capacity, sizeof *grown);
    if (!grown)
      return 0;
    if (old_capacity)
      memcpy(grown, r->asyncs, old_capacity * sizeof *grown);
    interp_free(ip, r->asyncs, old_capacity, sizeof *grown);
    for (uint32_t i = capacity; i > old_capacity; i--) {
      grown[i - 1].next_of_cell = r->async_free;
      r->async_free = i;
    }
    r->asyncs = grown;
    r->async_capacity = capacity;
  }
  const uint32_t id = r->async_free;
  r->async_free = r->asyncs[id - 1].next_of_cell;
  return id;
}

/* ---- runs and workgroups -------------------------------------------------------------------------------------------- */

/* Returns the exponent of the power of two that divides all sizes and offsets of memory, at most 4 bytes. */
static uint32_t
granule_shift(const interp *ip)
{
  uint64_t all = 4;
  for (uint32_t i = 0; i < ip->buffer_count; i++)
    all |= (uint64_t)(uintptr_t)ip->buffers[i].data |
           (ip->buffers[i].type < 256 ? vyre_kind_bytes(VYRE_TYPE_KIND((vyre_type)ip->buffers[i].type)) : 0);
  for (uint32_t i = 0; i < ip->buffer_count; i++)
    for (uint32_t k = 0; k < ip->buffers[i].descriptor_count; k++)
      all |= (uint64_t)(uintptr_t)ip->buffers[i].descriptors[k].data;
  for (uint32_t i = 0; i < ip->type_count; i++) {
    const vyre_type_info info = vyre_type_get(ip->module, 256 + i);
    const bool of_scalars = info.form != VYRE_FORM_STRUCT && info.element < 256;
    all |= info.stride | (of_scalars ? vyre_kind_bytes(VYRE_TYPE_KIND((vyre_type)info.element)) : 0);
    for (uint32_t k = 0; info.form == VYRE_FORM_STRUCT && k < info.count; k++)
      all |= info.members[k].offset |
             (info.members[k].type < 256 ? vyre_kind_bytes(VYRE_TYPE_KIND((vyre_type)info.members[k].type)) : 0);
  }
  return (uint32_t)__builtin_ctzll(all);
}

static void
survey_rows(interp *ip)
{
  const vyre_view *v = ip->view;
  races *r = ip->races;
  for (uint32_t row = ip->begin; row < ip->end; row++) {
    const uint32_t op = VYRE_ROW_OP(v->op[row]);
    r->has_async = r->has_async || op == VYRE_OP_async_copy;
    for (unsigned kind = 0; op == VYRE_OP_barrier && VYRE_ORDER_EXECUTION(v->imm[row]) == 4 && kind < KINDS; kind++)
      r->barrier_orders[kind] = r->barrier_orders[kind] || orders_kind(v->imm[row], kind);
  }
}

bool
interp_races_start(interp *ip)
{
  races *r = ip->races = interp_allocate(ip, 1, sizeof *r);
  if (!r)
    return false;
  r->granule_shift = granule_shift(ip);
  r->met_count = ip->count / ip->per_group;
  r->met = interp_allocate(ip, r->met_count, sizeof *r->met);
  r->lanes_met = interp_allocate(ip, ip->count, sizeof *r->lanes_met);
  r->acquired = interp_allocate(ip, ip->count, sizeof *r->acquired);
  r->seen = interp_allocate(ip, ip->count, sizeof *r->seen);
  r->fenced = interp_allocate(ip, ip->count, sizeof *r->fenced);
  r->copies = interp_allocate(ip, ip->count, sizeof *r->copies);
  r->newest = interp_allocate(ip, ip->count, sizeof *r->newest);
  survey_rows(ip);
  return r->met && r->lanes_met && r->acquired && r->seen && r->fenced && r->copies && r->newest;
}

void
interp_races_end(interp *ip)
{
  races *r = ip->races;
  page *p, *next;
  HASH_ITER(hh, r->pages, p, next)
  {
    HASH_DEL(r->pages, p);
    interp_free(ip, p, 1, page_bytes(r));
  }
  interp_free(ip, r->asyncs, r->async_capacity, sizeof *r->asyncs);
  interp_free(ip, r->met, r->met_count, sizeof *r->met);
  interp_free(ip, r->lanes_met, ip->count, sizeof *r->lanes_met);
  interp_free(ip, r->acquired, ip->count, sizeof *r->acquired);
  interp_free(ip, r->seen, ip->count, sizeof *r->seen);
  interp_free(ip, r->fenced, ip->count, sizeof *r->fenced);
  interp_free(ip, r->copies, ip->count, sizeof *r->copies);
  interp_free(ip, r->newest, ip->count, sizeof *r->newest);
  interp_free(ip, r, 1, sizeof *r);
  ip->races = NULL;
}
