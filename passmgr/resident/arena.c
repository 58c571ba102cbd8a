/* A sequence on a device: all memory is in one buffer, the arena (docs/gpu-passes.md, "On a device").  Offsets are in words.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/grow.h"
#include "phases.h"
#include "sequence_parts.h"

#include <string.h>

enum {
  FIRST_WORD = 3,        /* after the words of vyre/phases.h up to VYRE_PHASE_ENDLESS; changes.vir has the same number */
  CONSTANTS = 0x76797265 /* domain of constants in `keep`: an arbitrary number */
};

/* ---- the layout ---------------------------------------------------------------------------------------------------------- */

static uint64_t
place_words(sequence *s, uint64_t words)
{
  const uint64_t at = s->words;
  s->words += words;
  return at;
}

uint64_t
vyre_arena_column(const vyre_device *device, uint32_t number)
{
  return FIRST_WORD + (uint64_t)number * device->rows;
}

/* Assigns the columns their places, which they keep between sequences.  Returns false if no place is left. */
static bool
place_columns(sequence *s)
{
  vyre_device *device = s->device;
  for (uint32_t i = 0; i < s->block_count; i++) {
    sequence_block *b = &s->blocks[i];
    uint32_t at = 0;
    if (!b->column)
      continue;
    while (at < device->column_count && device->columns[at].column != b->column->column)
      at++;
    if (at == DEVICE_COLUMNS)
      return false;
    if (at == device->column_count)
      device->columns[device->column_count++] = (device_column){b->column->column, b->column->analysis, 0};
    b->number = at;
    b->at = vyre_arena_column(device, at);
  }
  return true;
}

static bool
place_heads(sequence *s)
{
  for (uint32_t i = 0; i < s->count; i++) {
    sequence_member *m = &s->members[i];
    m->compares = sequence_allocate(s, m->whiles, sizeof *m->compares);
    if (!m->compares)
      return false;
    m->head = (uint32_t)place_words(s, 2 * m->pass.phases->memory_count);
    for (uint32_t k = 0; k < m->whiles; k++)
      m->compares[k] = (uint32_t)place_words(s, 2 * compare_phases.memory_count);
  }
  return true;
}

/* Returns whether the memory is all zero, as fills make it on the device. */
static bool
is_zero(const sequence_block *b)
{
  const uint32_t *words = b->host;
  uint32_t all = 0;
  for (uint64_t i = 0; i < b->words; i++)
    all |= words[i];
  return all == 0;
}

static void
place_kept(sequence *s)
{
  for (uint32_t i = 0; i < s->block_count; i++) {
    sequence_block *b = &s->blocks[i];
    b->is_kept = b->is_kept && !b->is_constant && !is_zero(b);
    if (b->is_kept)
      b->at = place_words(s, b->words);
  }
  vyre_rounds_place_kept(s);
}

/* Assigns places to memory that is filled or uploaded in each sequence. */
static void
place_other(sequence *s)
{
  for (uint32_t i = 0; i < s->count; i++)
    for (uint32_t k = 0; k < s->members[i].whiles; k++)
      s->members[i].words[k] = (uint32_t)place_words(s, 2);
  vyre_rounds_place_zeros(s);
}

/* Assigns the orders their places.  An order of the last sequence is still on the device if its place is the same. */
static void
place_orders(sequence *s)
{
  for (uint32_t i = 0; i < s->plan.order_count; i++) {
    plan_order *o = &s->plan.orders[i];
    const plan_order was = *o;
    o->rows_at = (uint32_t)place_words(s, o->count - 1);
    o->starts_at = o->by_program ? (uint32_t)place_words(s, o->levels + 1) : 0;
    o->firsts_at = o->by_program ? (uint32_t)place_words(s, o->programs + 1) : 0;
    if (o->rows_at != was.rows_at || o->starts_at != was.starts_at || o->firsts_at != was.firsts_at)
      o->epoch = 0;
  }
}

/* The order of the arena: columns, orders, kept memory, heads, other memory. */
static vyre_status
lay_out(sequence *s, bool *out_fits)
{
  const vyre_device_info *info = &s->device->info;
  const uint32_t rows = s->rows.view->rows;
  *out_fits = place_columns(s) && rows <= vyre_device_most_rows(s->device) && vyre_plan_rows_fit(&s->rows);
  s->words = FIRST_WORD + (uint64_t)s->device->column_count * rows;
  place_orders(s);
  place_kept(s);
  s->heads = s->words;
  if (!place_heads(s))
    return VYRE_OUT_OF_MEMORY("for a sequence of passes");
  s->heads_end = s->words;
  place_other(s);
  s->zeros_end = s->words;
  vyre_changes_place(s);
  vyre_rounds_place_copies(s);
  const uint64_t bytes = s->words * sizeof(uint32_t);
  *out_fits = *out_fits && s->words <= UINT32_MAX && bytes <= info->max_storage && bytes <= info->max_buffer;
  return VYRE_OK;
}

vyre_status
vyre_arena_lay_out(sequence *s, bool *out_fits)
{
  vyre_device *device = s->device;
  const uint32_t rows = s->rows.view->rows;
  if (device->rows != rows)
    vyre_device_forget(device);
  device->rows = rows;
  VYRE_TRY(lay_out(s, out_fits));
  if (*out_fits)
    return VYRE_OK;
  vyre_device_forget(device); /* columns of earlier sequences need room, too */
  VYRE_TRY(lay_out(s, out_fits));
  if (*out_fits || s->changes.count == 0)
    return VYRE_OK;
  s->changes.count = 0;
  return lay_out(s, out_fits);
}

/* ---- constants ----------------------------------------------------------------------------------------------------------- */

/* Returns the size of a pass's constants.  They begin at word 1, because word 0 is the result of reads out of bounds. */
static uint64_t
constant_words(const sequence *s, const sequence_member *m)
{
  uint64_t words = 1;
  for (uint32_t i = 0; i < m->pass.phases->memory_count; i++)
    words += s->blocks[m->blocks[i]].is_constant ? s->blocks[m->blocks[i]].words : 0;
  return words;
}

/* Returns whether the members are the same pass with the same constants, in different rounds. */
static bool
has_same_constants(const sequence *s, const sequence_member *m, const sequence_member *other)
{
  bool has = m->pass.phases == other->pass.phases;
  for (uint32_t i = 0; i < m->pass.phases->memory_count && has; i++)
    has = !s->blocks[m->blocks[i]].is_constant || m->blocks[i] == other->blocks[i];
  return has;
}

/* Uploads the pass's constants, unless the device still has the same ones. */
static vyre_status
keep_constants(sequence *s, sequence_member *m)
{
  for (const sequence_member *other = s->members; other < m; other++)
    if (has_same_constants(s, m, other)) {
      m->constants = other->constants;
      m->shares_constants = true;
      return VYRE_OK;
    }
  const uint64_t words = constant_words(s, m);
  uint32_t *all = words > 1 ? sequence_allocate(s, words, sizeof *all) : NULL, *at = all;
  if (words == 1)
    return VYRE_OK;
  if (!all)
    return VYRE_OUT_OF_MEMORY("for a sequence of passes");
  for (uint32_t i = 0; i < m->pass.phases->memory_count; i++) {
    const sequence_block *b = &s->blocks[m->blocks[i]];
    if (!b->is_constant || b->words == 0)
      continue;
    memcpy(at + 1, b->host, b->words * sizeof *at);
    at += b->words;
  }
  return s->device->ops->keep(s->device->target, CONSTANTS, &(vyre_static){all, words * sizeof *all}, 1, &m->constants, NULL);
}

/* ---- heads --------------------------------------------------------------------------------------------------------------- */

typedef struct head_words {
  uint32_t *words;
  uint64_t first; /* offset in the arena */
} head_words;

static void
put_head(const head_words *h, uint32_t head, uint32_t memory, uint64_t at, uint64_t words)
{
  h->words[head - h->first + 2 * memory] = (uint32_t)at;
  h->words[head - h->first + 2 * memory + 1] = (uint32_t)words;
}

/* Writes the head of a compare.  It runs for row 1, whose elements of the two side columns are the words of the compare. */
static void
put_compare(const sequence *s, const head_words *h, const sequence_member *m, uint32_t number)
{
  for (uint32_t i = 0; i < compare_phases.memory_count; i++) {
    const char *name = compare_phases.memory[i].name;
    if (strcmp(name, "counted") == 0)
      put_head(h, m->compares[number], i, s->blocks[m->counters[number]].at, 1);
    else
      put_head(h, m->compares[number], i, m->words[number] - (strcmp(name, "added") == 0 ? 0 : 1), 2);
  }
}

static uint32_t *
make_heads(const sequence *s)
{
  const head_words h = {sequence_allocate(s, s->heads_end - s->heads, sizeof(uint32_t)), s->heads};
  for (uint32_t i = 0; i < s->count && h.words; i++) {
    const sequence_member *m = &s->members[i];
    uint64_t constant = 1;
    for (uint32_t k = 0; k < m->pass.phases->memory_count; k++) {
      const sequence_block *b = &s->blocks[m->blocks[k]];
      put_head(&h, m->head, k, b->is_constant ? constant : b->at, b->words);
      constant += b->is_constant ? b->words : 0;
    }
    for (uint32_t k = 0; k < m->whiles; k++)
      put_compare(s, &h, m, k);
  }
  return h.words;
}

/* ---- transfers ----------------------------------------------------------------------------------------------------------- */

vyre_range
vyre_arena_range(const sequence *s, uint64_t at, uint64_t words)
{
  return (vyre_range){s->device->arena, at * sizeof(uint32_t), words * sizeof(uint32_t)};
}

static void
add_upload(sequence *s, uint64_t at, uint64_t words, const void *data)
{
  if (words)
    s->uploads[s->upload_count++] = (vyre_upload){vyre_arena_range(s, at, words), data};
}

static void
add_fill(sequence *s, uint64_t at, uint64_t words, uint32_t value)
{
  s->fills[s->fill_count++] = (vyre_fill){vyre_arena_range(s, at, words), value};
}

/* Returns whether the device has the words since the last sequence.  Otherwise records them, because they are uploaded.  The
 * sequence must list its memories in the same order each time. */
static bool
has_kept(sequence *s, uint64_t at, uint64_t words, const uint32_t *data)
{
  vyre_device *device = s->device;
  const uint32_t number = s->kept_count, count = (uint32_t)words;
  if (number == device->memory_count) {
    if (!vyre_grow(&device->allocator, &device->memories, &device->memory_capacity, number + 1, sizeof *device->memories))
      return false;
    device->memories[device->memory_count++] = (device_memory){0};
  }
  device_memory *held = &device->memories[number];
  s->kept_count++;
  if (held->epoch == device->epoch && held->at == at && held->count == count &&
      memcmp(held->words, data, count * sizeof *data) == 0)
    return true;
  held->epoch = 0;
  if (!vyre_grow(&device->allocator, &held->words, &held->capacity, count, sizeof *data))
    return false;
  memcpy(held->words, data, count * sizeof *data);
  held->count = count;
  held->at = at;
  held->epoch = device->epoch;
  return false;
}

/* Drops memories of the last sequence that the current sequence does not use, because it reuses their places. */
static void
forget_unused(const sequence *s)
{
  for (uint32_t i = s->kept_count; i < s->device->memory_count; i++)
    s->device->memories[i].epoch = 0;
}

/* Returns whether the device has the contents of the memory: a column that was not written since, kept words, or zeros. */
static bool
is_there(sequence *s, const sequence_block *b)
{
  return b->column    ? s->device->columns[b->number].generation == vyre_module_generation(s->module, b->host)
         : b->is_kept ? has_kept(s, b->at, b->words, b->host)
                      : is_zero(b);
}

/* Lists the transfers of blocks.  Columns that a pass of the sequence provides begin as zeros, and verdicts as ones. */
static void
list_blocks(sequence *s)
{
  for (uint32_t i = 0; i < s->block_count; i++) {
    sequence_block *b = &s->blocks[i];
    if (!b->is_uploaded && (b->column || b->start))
      add_fill(s, b->at, b->words, b->start);
    else if (b->is_uploaded && !is_there(s, b))
      add_upload(s, b->at, b->words, b->host);
    if (!b->is_read_back || b->words == 0)
      continue;
    if (b->column && s->is_lazy) {
      s->late[s->late_count++] = i;
      continue;
    }
    b->read = s->read_count;
    s->reads[s->read_count++] = (vyre_read){vyre_arena_range(s, b->at, b->words), b->host};
  }
}

/* Returns whether repeats end on the device. */
static bool
ends_repeats(const sequence *s)
{
  bool does = false;
  for (uint32_t i = 0; i < s->plan.step_count; i++) {
    const plan_step *step = &s->plan.steps[i];
    does = does || ((step->kind == PLAN_PROGRAMS || step->kind == PLAN_PASS) && s->members[step->pass].whiles > 0);
  }
  return does;
}

static vyre_status
list_transfers(sequence *s)
{
  const uint32_t *heads = s->head_words = make_heads(s);
  s->fills = sequence_allocate(s, 2 + s->block_count, sizeof *s->fills);
  s->uploads = sequence_allocate(s, 3 + s->block_count + 3 * (size_t)s->plan.order_count, sizeof *s->uploads);
  s->reads = sequence_allocate(s, 3 + s->block_count, sizeof *s->reads);
  s->late = sequence_allocate(s, s->block_count, sizeof *s->late);
  if (!heads || !s->late || !s->fills || !s->uploads || !s->reads)
    return VYRE_OUT_OF_MEMORY("for a sequence of passes");
  add_fill(s, 0, FIRST_WORD, 0);
  if (s->zeros_end > s->heads_end)
    add_fill(s, s->heads_end, s->zeros_end - s->heads_end, 0);
  list_blocks(s);
  vyre_changes_list_read(s);
  if (s->turns.programs) {
    s->reads[s->read_count++] = (vyre_read){vyre_arena_range(s, s->turns.changed_at, s->turns.programs), s->turns.changed};
    if (!has_kept(s, s->turns.starts_at, s->turns.programs, s->turns.starts))
      add_upload(s, s->turns.starts_at, s->turns.programs, s->turns.starts);
    if (s->turns.named && !has_kept(s, s->turns.named_at, s->turns.named_words, s->turns.named))
      add_upload(s, s->turns.named_at, s->turns.named_words, s->turns.named);
  }
  if (!has_kept(s, s->heads, s->heads_end - s->heads, heads))
    add_upload(s, s->heads, s->heads_end - s->heads, heads);
  forget_unused(s);
  if (ends_repeats(s)) /* two words, because targets/null writes to reads of one word */
    s->reads[s->read_count++] = (vyre_read){vyre_arena_range(s, VYRE_PHASE_ENDLESS - 1, 2), s->endless};
  for (uint32_t i = 0; i < s->plan.order_count; i++) {
    plan_order *o = &s->plan.orders[i];
    if (o->epoch == s->device->epoch)
      continue;
    o->epoch = s->device->epoch;
    add_upload(s, o->rows_at, o->count - 1, o->rows);
    if (o->by_program) {
      add_upload(s, o->starts_at, o->levels + 1, o->starts);
      add_upload(s, o->firsts_at, o->programs + 1, o->firsts);
    }
  }
  return VYRE_OK;
}

/* ---- steps --------------------------------------------------------------------------------------------------------------- */

/* Returns the step's kernel, its push constants and its number of workgroups. */
static const vyre_phase_kernel *
kernel_of(const sequence *s, const plan_step *step, uint32_t push[DEVICE_PUSH], uint32_t *out_groups)
{
  const sequence_member *m = &s->members[step->pass];
  const vyre_phase_kernels *kernels = m->pass.kernels;
  const plan_order *o = step->kind >= PLAN_LIST && step->kind <= PLAN_PASS ? &s->plan.orders[step->order] : NULL;
  *out_groups = (step->count + DEVICE_WORKGROUP - 1) / DEVICE_WORKGROUP;
  push[0] = m->head;
  push[1] = step->first;
  push[2] = step->count;
  switch (step->kind) {
  case PLAN_ROWS:
    return &kernels->rows[step->number];
  case PLAN_LIST:
    push[1] += o->rows_at;
    return &kernels->rows[step->number];
  case PLAN_PROGRAMS:
  case PLAN_PASS:
    *out_groups = o->programs;
    push[1] = o->rows_at;
    push[2] = o->starts_at;
    push[3] = o->firsts_at;
    push[4] = step->first;
    push[5] = step->count;
    return step->kind == PLAN_PASS ? kernels->pass
           : step->of_levels       ? &kernels->levels[step->number]
                                   : &kernels->programs[step->number];
  default:
    push[0] = m->compares[step->number];
    push[1] = push[2] = 1;
    return &vyre_phases_kernels(&compare_phases, 1u << kernels->form)->rows[0];
  }
}

/* Returns the arena and the pass's constants.  Without constants, as for a compare, the arena is bound twice. */
static const vyre_range *
buffers_of(const sequence *s, const plan_step *step, vyre_range out[2])
{
  const vyre_device_buffer constants = step->kind == PLAN_COMPARE ? (vyre_device_buffer){0} : s->members[step->pass].constants;
  out[0] = vyre_arena_range(s, 0, s->words);
  out[1] = constants.id ? (vyre_range){.buffer = constants} : out[0];
  return out;
}

/* Makes the step of a kernel of phases. */
static vyre_status
make_step(const sequence *s, const plan_step *from, vyre_step *out)
{
  const sequence_member *m = &s->members[from->pass];
  const vyre_phases *phases = from->kind == PLAN_COMPARE ? &compare_phases : m->pass.phases;
  const vyre_phase_kernels *kernels = vyre_phases_kernels(phases, 1u << m->pass.kernels->form);
  const bool by_program = from->kind == PLAN_PROGRAMS || from->kind == PLAN_PASS;
  const uint32_t given = by_program ? DEVICE_PUSH : DEVICE_PUSH_ROWS, head = vyre_phases_head_words(phases, kernels);
  uint32_t *push = sequence_allocate(s, DEVICE_PUSH + (size_t)head, sizeof *push);
  vyre_range *buffers = sequence_allocate(s, 2, sizeof *buffers);
  if (!push || !buffers)
    return VYRE_OUT_OF_MEMORY("for a sequence of passes");
  const vyre_phase_kernel *kernel = kernel_of(s, from, push, &out->groups[0]);
  memcpy(push + given, s->head_words + (push[0] - s->heads), head * sizeof *push);
  out->groups[1] = out->groups[2] = 1;
  out->buffers = buffers_of(s, from, buffers);
  out->buffer_count = 2;
  out->push = push;
  out->push_size = (uint32_t)((given + head) * sizeof *push);
  out->beside = from->beside;
  return vyre_device_kernel(s->device, kernel, kernels->form, by_program, out->push_size, m->context->record->pass.name,
                            &out->kernel);
}

static vyre_status
make_steps(sequence *s)
{
  const plan *p = &s->plan;
  s->steps = sequence_allocate(s, p->step_count, sizeof *s->steps);
  s->until = sequence_allocate(s, p->repeat_count, sizeof *s->until);
  if (!s->steps || !s->until)
    return VYRE_OUT_OF_MEMORY("for a sequence of passes");
  for (uint32_t i = 0; i < p->step_count; i++) {
    vyre_step *step = &s->steps[i];
    if (p->steps[i].kind >= PLAN_COPY) {
      VYRE_TRY(vyre_rounds_make_step(s, &p->steps[i], step));
      continue;
    }
    if (p->steps[i].kind >= PLAN_SAVE) {
      VYRE_TRY(vyre_changes_make_step(s, p->steps[i].kind == PLAN_SAVE, step));
      continue;
    }
    VYRE_TRY(make_step(s, &p->steps[i], step));
  }
  for (uint32_t i = 0; i < p->repeat_count; i++)
    s->until[i] = vyre_arena_range(s, s->members[p->repeats[i].pass].words[p->repeats[i].number] + 1, 1);
  return VYRE_OK;
}

vyre_status
vyre_arena_build(sequence *s)
{
  vyre_pinned_register(s);
  VYRE_TRY(vyre_device_reserve(s->device, s->words * sizeof(uint32_t)));
  for (uint32_t i = 0; i < s->count; i++)
    VYRE_TRY(keep_constants(s, &s->members[i]));
  VYRE_TRY(list_transfers(s));
  return make_steps(s);
}

/* Records the contents of the arena.  The plan gets the orders of the last sequence, and frees them. */
static void
keep_contents(sequence *s)
{
  vyre_device *device = s->device;
  const plan last = {.orders = device->orders, .order_count = device->order_count, .order_capacity = device->order_capacity};
  for (uint32_t i = 0; i < s->block_count && !s->rows.on_host; i++)
    if (s->blocks[i].column) {
      device->columns[s->blocks[i].number].generation = vyre_module_generation(s->module, s->blocks[i].host);
      if (s->rounds && !s->blocks[i].is_uploaded) /* later rounds overwrite columns that passes provide */
        vyre_module_mark_written(s->module, s->blocks[i].host);
    }
  device->orders = s->plan.orders;
  device->order_count = s->plan.order_count;
  device->order_capacity = s->plan.order_capacity;
  s->plan.orders = last.orders;
  s->plan.order_count = last.order_count;
  s->plan.order_capacity = last.order_capacity;
}

vyre_status
vyre_arena_end(sequence *s, bool is_done)
{
  vyre_status status = VYRE_OK;
  if (is_done)
    keep_contents(s);
  else
    vyre_device_forget(s->device);
  for (uint32_t i = 0; s->members && i < s->count; i++)
    if (s->members[i].constants.id && !s->members[i].shares_constants)
      status = vyre_status_join(status, s->device->ops->drop(s->device->target, &s->members[i].constants, 1));
  return status;
}
