/* Growing word buffers, interned instructions, errors.
 *
 * Appending never fails for the caller.  If memory is exhausted, the error is recorded and the buffer restarts, so there is always
 * room and no write is out of bounds.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/export/export.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ROOM 16u

/* Used if there is no memory for a first buffer.  Only failing exports write it, and it is never read. */
static _Thread_local uint32_t nowhere[ROOM];

uint32_t *
vyre_spv_nowhere(void)
{
  return nowhere;
}

/* ---- memory: chunks that live until the export ends ---- */

#define CHUNK_BYTES 0x8000u

typedef struct vyre_spv_chunk {
  struct vyre_spv_chunk *next;
  size_t size;
} vyre_spv_chunk;

void *
vyre_spv_memory(vyre_spv *s, size_t bytes)
{
  bytes = (bytes + 15) & ~(size_t)15;
  if (s->chunk_left < bytes) {
    const size_t room = bytes > CHUNK_BYTES / 2 ? bytes + CHUNK_BYTES : CHUNK_BYTES, size = sizeof(vyre_spv_chunk) + room;
    vyre_spv_chunk *chunk = s->allocator->resize(s->allocator->user, NULL, 0, size);
    if (!chunk) {
      s->out_of_memory = s->failed = true;
      return NULL;
    }
    *chunk = (vyre_spv_chunk){s->chunks, size};
    s->chunks = chunk;
    s->chunk_at = (char *)(chunk + 1);
    s->chunk_left = room;
  }
  void *memory = s->chunk_at;
  s->chunk_at += bytes;
  s->chunk_left -= bytes;
  return memory;
}

void
vyre_spv_free(vyre_spv *s)
{
  for (vyre_spv_chunk *chunk = s->chunks, *next; chunk; chunk = next) {
    next = chunk->next;
    s->allocator->resize(s->allocator->user, chunk, chunk->size, 0);
  }
}

/* ---- words ---- */

bool
vyre_spv_grow(vyre_spv *s, vyre_spv_words *words, size_t count)
{
  size_t capacity = words->capacity ? words->capacity * 2 : 128;
  while (capacity < words->count + count)
    capacity *= 2;
  uint32_t *data = vyre_spv_memory(s, capacity * 4);
  if (!data) {
    words->count = 0;
    return words->capacity >= count;
  }
  if (words->count)
    memcpy(data, words->data, words->count * 4);
  words->data = data;
  words->capacity = capacity;
  return true;
}

void
vyre_spv_long_instruction(vyre_spv *s, vyre_spv_words *words, uint32_t opcode, const uint32_t *operands, size_t count)
{
  if (count >= 0xffff) {
    vyre_spv_fail(s, "an instruction of %zu operands, SPIR-V allows 65534", count);
    return;
  }
  if (words->capacity - words->count < count + 1 && !vyre_spv_grow(s, words, count + 1))
    return;
  uint32_t *at = words->data + words->count;
  words->count += count + 1;
  *at = (uint32_t)(count + 1) << 16 | opcode;
  for (size_t i = 0; i < count; i++)
    at[1 + i] = operands[i];
}

void
vyre_spv_text(vyre_spv *s, vyre_spv_words *words, uint32_t opcode, const uint32_t *operands, size_t count, const char *text)
{
  /* an instruction has at most 65535 words, and a string ends with a zero byte */
  const size_t most = (0xffff - 1 - count) * 4 - 1;
  size_t length = strlen(text);
  if (length > most) { /* cut between two UTF-8 characters */
    length = most;
    while (length > most - 3 && ((unsigned char)text[length] & 0xc0) == 0x80)
      length--;
  }
  const size_t text_words = length / 4 + 1, all = 1 + count + text_words;
  if (words->capacity - words->count < all && !vyre_spv_grow(s, words, all))
    return;
  uint32_t *at = words->data + words->count;
  words->count += all;
  *at++ = (uint32_t)all << 16 | opcode;
  for (size_t i = 0; i < count; i++)
    *at++ = operands[i];
  at[text_words - 1] = 0; /* zeroes the bytes after the text; bytes fill a word from its low end */
  memcpy(at, text, length);
}

void
vyre_spv_fail(vyre_spv *s, const char *format, ...)
{
  if (vyre_spv_failed(s))
    return;
  char text[400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  s->failed = true;
  const char *fix = strstr(text, "\nFix: ") ? "" : "\nFix: change the program there, or write .vir";
  const char *program = s->program ? vyre_row_name(s->module, (vyre_row){s->program}) : NULL;
  vyre_string file;
  uint32_t line, column;
  if (s->row && vyre_row_line(s->module, (vyre_row){s->row}, &file, &line, &column))
    s->status = VYRE_ERROR(VYRE_CODE_INPUT, "%s:%u:%u: spirv: %s%s", vyre_string_text(s->module, file), line, column, text, fix);
  else
    s->status = VYRE_ERROR(VYRE_CODE_INPUT, "spirv: %s%s", text, fix);
  if (s->row)
    vyre_status_note(s->status, "while writing row %u, '%s', of program '%s'", s->row,
                     vyre_op_infos[VYRE_ROW_OP(s->op[s->row])].text, program ? program : "");
}

/* ---- interning by short keys ---- */

bool
vyre_spv_grow_made(vyre_spv *s)
{
  enum { FIRST_SLOTS = 128 };
  vyre_spv_made **const old = s->made;
  const uint32_t old_slots = s->made_slots, slots = old_slots ? old_slots * 4 : FIRST_SLOTS, left = (slots - old_slots) / 4 * 3;
  vyre_spv_made **const made = vyre_spv_memory(s, slots * sizeof *made), *const entries =
                                                                             vyre_spv_memory(s, left * sizeof *entries);
  s->no_made.results = NULL;
  if (!made || !entries)
    return false;
  memset(made, 0, slots * sizeof *made);
  for (uint32_t i = 0; i < old_slots; i++) {
    if (!old[i])
      continue;
    uint32_t slot = vyre_spv_made_hash(old[i]->what, old[i]->a, old[i]->b);
    while (made[slot & (slots - 1)])
      slot++;
    made[slot & (slots - 1)] = old[i];
  }
  s->made = made;
  s->made_slots = slots;
  s->new_made = entries;
  s->made_left = left;
  return true;
}

/* ---- interning by words ---- */

typedef struct vyre_spv_result {
  struct vyre_spv_result *next; /* with the same opcode and hash */
  uint32_t id, count;
  uint32_t words[]; /* operands, extra words of the key */
} vyre_spv_result;

static void
copy_words(uint32_t *to, const uint32_t *from, size_t count)
{
  if (count) /* otherwise there may be no array */
    memcpy(to, from, count * sizeof *to);
}

static uint64_t
hash_of(uint64_t hash, const uint32_t *words, size_t count)
{
  for (size_t i = 0; i < count; i++)
    hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15u ^ hash >> 32;
  return hash;
}

static bool
are_equal(const uint32_t *a, const uint32_t *b, size_t count)
{
  size_t i = 0;
  while (i < count && a[i] == b[i])
    i++;
  return i == count;
}

/* Returns the result with these words, which is added if it is new, or NULL if out of memory. */
static vyre_spv_result *
find(vyre_spv *s, uint32_t opcode, const uint32_t *key, size_t count, const uint32_t *extra, size_t extra_count, bool *out_fresh)
{
  const size_t all = count + extra_count;
  const uint64_t hash = hash_of(hash_of(all, key, count), extra, extra_count);
  vyre_spv_made *const made = vyre_spv_made_of(s, VYRE_SPV_A_RESULT, hash, opcode);
  vyre_spv_result *result = made->results;
  *out_fresh = false;
  for (; result; result = result->next)
    if (result->count == all && are_equal(result->words, key, count) && are_equal(result->words + count, extra, extra_count))
      return result;
  result = vyre_spv_memory(s, sizeof *result + all * sizeof *result->words);
  if (!result)
    return NULL;
  *result = (vyre_spv_result){.next = made->results, .id = s->next_id++, .count = (uint32_t)all};
  copy_words(result->words, key, count);
  copy_words(result->words + count, extra, extra_count);
  made->results = result;
  *out_fresh = true;
  return result;
}

uint32_t
vyre_spv_intern(vyre_spv *s, uint32_t opcode, bool typed, const uint32_t *operands, size_t count, const uint32_t *extra,
                size_t extra_count, bool *out_fresh)
{
  bool fresh;
  const vyre_spv_result *it = find(s, opcode, operands, count, extra, extra_count, &fresh);
  const uint32_t id = it ? it->id : 0;
  if (fresh && count + 2 > 0xffff)
    vyre_spv_fail(s, "a constant or type has %zu parts, but SPIR-V allows at most 65532", count);
  uint32_t *words = fresh ? vyre_spv_reserve(s, &s->globals, count + 2) : NULL;
  if (words) {
    *words++ = (uint32_t)(count + 2) << 16 | opcode;
    if (typed)
      *words++ = operands[0];
    *words++ = id;
    copy_words(words, typed ? operands + 1 : operands, count - typed);
  }
  if (out_fresh)
    *out_fresh = fresh;
  return id;
}

void
vyre_spv_intern_as(vyre_spv *s, uint32_t opcode, const uint32_t *operands, size_t count, const uint32_t *extra, size_t extra_count,
                   uint32_t id)
{
  bool fresh;
  vyre_spv_result *it = find(s, opcode, operands, count, extra, extra_count, &fresh);
  if (!fresh || vyre_spv_failed(s))
    return;
  it->id = id;
  vyre_spv_push(s, &s->globals, (uint32_t)(count + 2) << 16 | opcode);
  vyre_spv_push(s, &s->globals, id);
  vyre_spv_append(s, &s->globals, operands, count);
}
