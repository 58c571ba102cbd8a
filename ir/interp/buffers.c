/* Memory for a dispatch: the binding of each buffer row, or the memory that the interpreter owns for it, with its initial contents.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include <inttypes.h>
#include <string.h>

/* Returns whether the binding applies to the row. Several rows may have one (set, binding), and all push buffers are one. */
static bool
binds(const interp *ip, const vyre_binding *binding, uint32_t row)
{
  const vyre_view *v = ip->view;
  const uint32_t other = binding->buffer.id;
  const vyre_space space = VYRE_BUFFER_SPACE(v->imm_hi[row]);
  if (other == row)
    return true;
  if (other < ip->begin || other >= ip->end || VYRE_ROW_OP(v->op[other]) != VYRE_OP_buffer ||
      VYRE_BUFFER_SPACE(v->imm_hi[other]) != space)
    return false;
  const vyre_buffer_info *info = vyre_buffer_info_of((vyre_module *)(uintptr_t)ip->module, (vyre_row){row});
  const vyre_buffer_info *that = vyre_buffer_info_of((vyre_module *)(uintptr_t)ip->module, (vyre_row){other});
  return space == VYRE_SPACE_PUSH || (info && that && info->set == that->set && info->binding == that->binding);
}

/* Returns the row's own binding of an element, otherwise the first one of another row of the same binding, or NULL. */
static const vyre_binding *
binding_of(const interp *ip, uint32_t row, uint32_t element)
{
  const vyre_dispatch *d = ip->dispatch;
  const vyre_binding *found = NULL;
  for (uint32_t i = 0; i < d->binding_count; i++) {
    const vyre_binding *binding = &d->bindings[i];
    if (binding->element == element && binds(ip, binding, row) &&
        (!found || (found->buffer.id != row && binding->buffer.id == row)))
      found = binding;
  }
  return found;
}

static bool
is_used(const interp *ip, uint32_t row)
{
  for (uint32_t i = ip->begin; i < ip->end; i++)
    if (ip->view->a[i] == row || ip->view->b[i] == row || ip->view->c[i] == row)
      return true;
  return false;
}

/* Copies scalars from the initializer's words in order; missing words are zero. plan_type bounds the recursion. */
static void
fill_initial(const interp *ip, vyre_type_id type, const uint32_t *words, uint32_t word_count, uint32_t *next_word, uint8_t *data,
             uint64_t *offset)
{
  if (type < 256) {
    const uint32_t size = vyre_kind_bytes(VYRE_TYPE_KIND((vyre_type)type));
    for (uint32_t i = 0; i < VYRE_TYPE_LANES((vyre_type)type); i++, *offset += size) {
      uint64_t bits = *next_word < word_count ? words[(*next_word)++] : 0;
      if (size == 8)
        bits |= (uint64_t)(*next_word < word_count ? words[(*next_word)++] : 0) << 32;
      memcpy(data + *offset, &bits, size);
    }
    return;
  }
  const vyre_type_info info = vyre_type_get(ip->module, type);
  const uint64_t count = ip->types[type - 256].count;
  if (info.form == VYRE_FORM_WORDS)
    *offset += info.size;
  for (uint64_t i = 0; i < count; i++)
    fill_initial(ip, info.form == VYRE_FORM_STRUCT ? info.members[i].type : info.element, words, word_count, next_word, data,
                 offset);
}

static bool
plan_own_memory(interp *ip, buffer_state *buffer, vyre_space space)
{
  const vyre_buffer_info *info = vyre_buffer_info_of((vyre_module *)(uintptr_t)ip->module, (vyre_row){buffer->row});
  const bool has_initializer = info && info->initializer != UINT32_MAX;
  buffer->packed = buffer->owned = true;
  buffer->size = interp_packed_size(ip, buffer->type);
  if (buffer->size >= FARTHEST)
    return interp_refuse(ip, buffer->row, "the buffer is larger than any memory");
  buffer->sharers = space == VYRE_SPACE_PRIVATE ? 1 : space == VYRE_SPACE_WORKGROUP ? ip->per_group : ip->count;
  buffer->copies = ip->count / buffer->sharers;
  buffer->step = buffer->copies > 1 ? buffer->size : 0;
  buffer->data = interp_allocate(ip, buffer->copies, buffer->size ? (size_t)buffer->size : 1);
  if (!buffer->data)
    return false;
  const bool unset = (ip->view->imm_hi[buffer->row] & VYRE_ACCESS_UNSET) != 0;
  if (ip->report && (unset || (space == VYRE_SPACE_WORKGROUP && !has_initializer))) {
    buffer->written = interp_allocate(ip, buffer->copies, buffer->size ? (size_t)buffer->size : 1);
    if (!buffer->written)
      return false;
  }
  if (has_initializer && space != VYRE_SPACE_WORKGROUP) {
    uint32_t word_count = 0, next_word = 0;
    uint64_t offset = 0;
    const uint32_t *words = vyre_module_initializer(ip->module, info->initializer, &word_count);
    buffer->initial = interp_allocate(ip, 1, buffer->size ? (size_t)buffer->size : 1);
    if (!buffer->initial)
      return false;
    fill_initial(ip, buffer->type, words, word_count, &next_word, buffer->initial, &offset);
  }
  return true;
}

/* Returns the number of descriptors: as declared, or up to the last bound one. */
static uint64_t
count_descriptors(const interp *ip, const buffer_state *buffer)
{
  const vyre_dispatch *d = ip->dispatch;
  uint64_t count = 1, bound = 0;
  vyre_type_id type = buffer->type;
  bool open = false;
  for (uint32_t i = 0; i < buffer->descriptor_steps; i++) {
    const vyre_type_info info = vyre_type_get(ip->module, type);
    open = open || (info.flags & VYRE_TYPE_RUNTIME) != 0;
    count = interp_capped(count, info.flags & VYRE_TYPE_RUNTIME ? 1 : ip->types[type - 256].count);
    type = info.element;
  }
  for (uint32_t i = 0; i < d->binding_count; i++)
    if (d->bindings[i].element >= bound && binds(ip, &d->bindings[i], buffer->row))
      bound = (uint64_t)d->bindings[i].element + 1;
  return open && count ? (bound + count - 1) / count * count : count; /* whole rows of the inner arrays */
}

static bool
fail_unbound(interp *ip, uint32_t row)
{
  const char *name = vyre_row_name(ip->module, (vyre_row){row});
  ip->status = VYRE_ERROR(VYRE_CODE_INPUT, "buffer %s%s (row %" PRIu32 ") is not bound\nFix: bind data of the buffer's size",
                          name ? "%" : "", name ? name : "without a name", row);
  return false;
}

static bool
plan_descriptors(interp *ip, buffer_state *buffer)
{
  const uint64_t count = count_descriptors(ip, buffer);
  bool any = !is_used(ip, buffer->row);
  if (count > MOST_DESCRIPTORS) {
    ip->status = VYRE_ERROR(VYRE_CODE_INPUT, "row %" PRIu32 " is an array of more than %u buffers\nFix: make the array shorter",
                            buffer->row, MOST_DESCRIPTORS);
    return false;
  }
  buffer->descriptors = interp_allocate(ip, (size_t)count, sizeof *buffer->descriptors);
  if (!buffer->descriptors)
    return false;
  buffer->descriptor_count = (uint32_t)count;
  for (uint32_t i = 0; i < buffer->descriptor_count; i++) {
    const vyre_binding *binding = binding_of(ip, buffer->row, i);
    any = any || binding;
    if (binding && binding->data)
      buffer->descriptors[i] = (descriptor){binding->data, binding->size};
  }
  return any || fail_unbound(ip, buffer->row);
}

static bool
plan_buffer(interp *ip, buffer_state *buffer, uint32_t row)
{
  const vyre_space space = VYRE_BUFFER_SPACE(ip->view->imm_hi[row]);
  *buffer = (buffer_state){.row = row, .type = ip->view->imm[row]};
  if (buffer->type >= 256 && buffer->type - 256 >= ip->type_count)
    return interp_refuse(ip, row, "the buffer's type is not in the type table");
  if (buffer->type >= 256 && ip->types[buffer->type - 256].depth > DEEPEST_TYPE)
    return interp_refuse(ip, row, "the buffer's type is nested more than 64 deep");
  if (space == VYRE_SPACE_HANDLE)
    return true; /* rows that read handles do not run here */
  if (space != VYRE_SPACE_STORAGE && space != VYRE_SPACE_UNIFORM && space != VYRE_SPACE_PUSH)
    return plan_own_memory(ip, buffer, space);
  buffer->descriptor_steps = vyre_buffer_descriptor_steps(ip->module, row);
  if (buffer->descriptor_steps)
    return plan_descriptors(ip, buffer);
  const vyre_binding *binding = binding_of(ip, row, 0);
  if (binding) {
    buffer->data = binding->data;
    buffer->size = binding->data ? binding->size : 0;
  }
  return binding || !is_used(ip, row) || fail_unbound(ip, row);
}

/* Returns whether the buffer is an aliased workgroup block, which overlaps others. */
static bool
is_overlaid(const interp *ip, const buffer_state *buffer)
{
  const uint32_t access = ip->view->imm_hi[buffer->row];
  return VYRE_BUFFER_SPACE(access) == VYRE_SPACE_WORKGROUP && (access & VYRE_ACCESS_ALIASED) != 0 &&
         vyre_type_get(ip->module, buffer->type).form == VYRE_FORM_STRUCT;
}

/* Places all such blocks at one address. The first of them owns memory for the largest. */
static bool
overlay_blocks(interp *ip)
{
  buffer_state *first = NULL;
  uint64_t most = 1;
  for (uint32_t i = 0; i < ip->buffer_count; i++)
    if (is_overlaid(ip, &ip->buffers[i]) && vyre_type_get(ip->module, ip->buffers[i].type).size > most)
      most = vyre_type_get(ip->module, ip->buffers[i].type).size;
  for (uint32_t i = 0; i < ip->buffer_count; i++) {
    buffer_state *buffer = &ip->buffers[i];
    if (!is_overlaid(ip, buffer))
      continue;
    interp_free(ip, buffer->data, buffer->copies, buffer->size ? (size_t)buffer->size : 1);
    interp_free(ip, buffer->written, buffer->copies, buffer->size ? (size_t)buffer->size : 1);
    buffer->written = NULL;
    buffer->packed = false;
    buffer->owned = first == NULL;
    buffer->size = most;
    buffer->step = buffer->copies > 1 ? most : 0;
    buffer->data = first ? first->data : interp_allocate(ip, buffer->copies, (size_t)most);
    if (ip->report) /* one block may have an initializer, but its words do not cover the others */
      buffer->written = first ? first->written : interp_allocate(ip, buffer->copies, (size_t)most);
    if (!buffer->data || (ip->report && !buffer->written))
      return false;
    first = first ? first : buffer;
  }
  return true;
}

bool
interp_plan_buffers(interp *ip)
{
  uint32_t count = 0;
  for (uint32_t row = ip->begin; row < ip->end; row++)
    count += VYRE_ROW_OP(ip->view->op[row]) == VYRE_OP_buffer;
  ip->buffers = interp_allocate(ip, count, sizeof *ip->buffers);
  ip->buffer_count = ip->buffers ? count : 0;
  uint32_t next = 0;
  for (uint32_t row = ip->begin; ip->buffers && row < ip->end; row++)
    if (VYRE_ROW_OP(ip->view->op[row]) == VYRE_OP_buffer && !plan_buffer(ip, &ip->buffers[next++], row))
      return false;
  return ip->buffers != NULL && overlay_blocks(ip);
}
