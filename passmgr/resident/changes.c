/* Reads back only the elements of columns that a sequence changed.
 *
 * Steps before and after the passes (changes.vir) copy the columns that the passes write, and compare.  The number of changed
 * elements is read back with the counters.  If the list of elements and its masks are fewer bytes than the columns, the list and
 * the masks are read back instead.  The masks have a bit for each row.  The elements of a block, 256 rows of a column, are
 * contiguous.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/grow.h"
#include "sequence_parts.h"

#include <string.h>

enum {
  BLOCK = 256,             /* rows of a block, as in changes.vir: invocations of a workgroup */
  MASKS = BLOCK / 32,      /* words of a block with a bit for each row */
  BLOCK_WORDS = MASKS + 1, /* and the place of its first element */
  NUMBER_BITS = 5,         /* of a column's number in the push constants */
  COUNT_WORDS = 2          /* the number of elements, and a word that is 0 (targets/null) */
};

_Static_assert(DEVICE_COLUMNS == 1 << NUMBER_BITS && SEQUENCE_CHANGES * NUMBER_BITS <= 32, "column numbers must fit into a word");

static uint64_t
blocks_of(const sequence *s)
{
  return (s->rows.view->rows + UINT64_C(1) * BLOCK - 1) / BLOCK;
}

/* Returns the words of the masks and places of all blocks. */
static uint64_t
mask_words(const sequence *s)
{
  return blocks_of(s) * s->changes.count * BLOCK_WORDS;
}

void
vyre_changes_choose(sequence *s)
{
  sequence_changes *c = &s->changes;
  c->count = 0;
  for (uint32_t i = 0; i < s->block_count && s->is_lazy; i++) {
    const sequence_block *b = &s->blocks[i];
    if (!b->column || !b->is_read_back || b->column->analysis)
      continue;
    if (c->count == SEQUENCE_CHANGES) {
      c->count = 0;
      return;
    }
    c->blocks[c->count++] = i;
  }
  const vyre_device_info *info = &s->device->info;
  if (info->max_invocations < BLOCK || info->max_groups[0] < blocks_of(s))
    c->count = 0;
  const uint64_t columns = (uint64_t)c->count * s->rows.view->rows, fixed = COUNT_WORDS + mask_words(s);
  if (columns <= fixed)
    c->count = 0;
  else
    c->most = (uint32_t)(columns - fixed); /* with more elements, the columns are fewer bytes; at most 6 * 2^28 */
}

void
vyre_changes_place(sequence *s)
{
  sequence_changes *c = &s->changes;
  if (c->count == 0)
    return;
  c->at = s->words;
  c->masks = c->at + COUNT_WORDS;
  c->list = c->masks + mask_words(s);
  c->before = c->list + c->most;
  s->words = c->before + (uint64_t)c->count * s->rows.view->rows;
  s->zeros_end = c->masks;
}

void
vyre_changes_list_read(sequence *s)
{
  sequence_changes *c = &s->changes;
  if (c->count == 0)
    return;
  c->read = s->read_count;
  s->reads[s->read_count++] = (vyre_read){vyre_arena_range(s, c->at, COUNT_WORDS), c->counted};
}

vyre_status
vyre_changes_make_step(sequence *s, bool is_save, vyre_step *step)
{
  sequence_changes *c = &s->changes;
  uint32_t numbers = 0;
  for (uint32_t i = 0; i < c->count; i++)
    numbers |= s->blocks[c->blocks[i]].number << NUMBER_BITS * i;
  const uint32_t words[] = {s->rows.view->rows, numbers,           c->count, (uint32_t)c->before, (uint32_t)c->at,
                            (uint32_t)c->masks, (uint32_t)c->list, c->most};
  uint32_t *push = sequence_allocate(s, 1, sizeof words);
  vyre_range *arena = sequence_allocate(s, 1, sizeof *arena);
  if (!push || !arena)
    return VYRE_OUT_OF_MEMORY("for a sequence of passes");
  memcpy(push, words, sizeof words);
  *arena = vyre_arena_range(s, 0, s->words);
  *step = (vyre_step){.groups = {(uint32_t)blocks_of(s), c->count, 1},
                      .buffers = arena,
                      .buffer_count = 1,
                      .push = push,
                      .push_size = sizeof words};
  return vyre_device_program(s->device, is_save ? &vyre_program_save : &vyre_program_pack, BLOCK, sizeof words, &step->kernel);
}

/* Copies the changed elements of a column's block from the list.  Returns their number. */
static uint32_t
apply_block(const uint32_t *masks, const uint32_t *list, uint32_t *rows)
{
  const uint32_t *from = list + masks[MASKS];
  uint32_t count = 0;
  for (uint32_t i = 0; i < MASKS; i++, rows += 32)
    for (uint32_t left = masks[i]; left; left &= left - 1)
      rows[__builtin_ctz(left)] = from[count++];
  return count;
}

vyre_status
vyre_changes_find(sequence *s, vyre_read *out, bool *out_fewer)
{
  const sequence_changes *c = &s->changes;
  vyre_device *device = s->device;
  const uint32_t elements = c->count ? *(const uint32_t *)s->reads[c->read].data : 0;
  *out_fewer = c->count && elements <= c->most;
  if (!*out_fewer)
    return VYRE_OK;
  const uint64_t words = mask_words(s) + elements;
  const uint32_t before = device->changes_capacity;
  if (!vyre_grow(&device->allocator, &device->changes, &device->changes_capacity, words, sizeof *device->changes))
    return VYRE_OUT_OF_MEMORY("for a sequence of passes");
  /* no change, because the idle device does not write the list */
  memset(device->changes + before, 0, (size_t)(device->changes_capacity - before) * sizeof *device->changes);
  *out = (vyre_read){vyre_arena_range(s, c->masks, words), device->changes};
  return VYRE_OK;
}

/* Returns the bits of the rows, from `mask` on, whose operands changed. */
static uint32_t
changed_operands(const sequence *s, uint64_t block, uint32_t mask)
{
  const sequence_changes *c = &s->changes;
  const vyre_view *v = s->rows.view;
  uint32_t rows = 0;
  for (uint32_t i = 0; i < c->count; i++) {
    const void *column = s->blocks[c->blocks[i]].host;
    if (column == v->a || column == v->b || column == v->c)
      rows |= s->device->changes[(block * c->count + i) * BLOCK_WORDS + mask];
  }
  return rows;
}

bool
vyre_changes_are_levels(const sequence *s)
{
  const vyre_view *v = s->rows.view;
  bool are = true;
  for (uint64_t block = 0; block < blocks_of(s); block++)
    for (uint32_t mask = 0; mask < MASKS; mask++)
      for (uint32_t left = changed_operands(s, block, mask); left; left &= left - 1)
        are &= vyre_plan_is_level(v, v->level, (uint32_t)block * BLOCK + mask * 32 + (uint32_t)__builtin_ctz(left));
  return are;
}

void
vyre_changes_apply(const sequence *s)
{
  const sequence_changes *c = &s->changes;
  const uint32_t *masks = s->device->changes, *list = masks + mask_words(s);
  for (uint32_t i = 0; i < c->count; i++) {
    uint32_t *column = s->blocks[c->blocks[i]].host, changed = 0;
    for (uint64_t block = 0; block < blocks_of(s); block++)
      changed += apply_block(masks + (block * c->count + i) * BLOCK_WORDS, list, column + block * BLOCK);
    if (changed)
      vyre_module_mark_written(s->module, column);
  }
}
