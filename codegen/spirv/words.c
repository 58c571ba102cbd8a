/* Growing word buffers, interned instructions, errors.
 *
 * An append never fails to its caller: when memory is out, that is remembered and the buffer starts over, so that there is always
 * room and nothing is ever written beyond it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "export.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ROOM 16u

/* Where there was no memory even for a first buffer.  Written by failing exports only, read by none. */
static _Thread_local uint32_t nowhere[ROOM];

static bool
grow(vyre_spv *s, vyre_spv_words *words, size_t count)
{
  size_t capacity = words->capacity ? words->capacity * 2 : 64;
  while (capacity < words->count + count)
    capacity *= 2;
  uint32_t *data = s->allocator->resize(s->allocator->user, words->data, words->capacity * 4, capacity * 4);
  if (!data) {
    s->out_of_memory = true;
    words->count = 0;
    return words->capacity >= count;
  }
  words->data = data;
  words->capacity = capacity;
  return true;
}

uint32_t *
vyre_spv_room(vyre_spv *s, vyre_spv_words *words, size_t count)
{
  if (words->capacity - words->count < count && !grow(s, words, count))
    return nowhere;
  uint32_t *at = words->data + words->count;
  words->count += count;
  return at;
}

void
vyre_spv_push(vyre_spv *s, vyre_spv_words *words, uint32_t word)
{
  *vyre_spv_room(s, words, 1) = word;
}

void
vyre_spv_append(vyre_spv *s, vyre_spv_words *words, const uint32_t *data, size_t count)
{
  if (count == 0 || (words->capacity - words->count < count && !grow(s, words, count)))
    return;
  memcpy(words->data + words->count, data, count * 4);
  words->count += count;
}

void
vyre_spv_words_free(vyre_spv *s, vyre_spv_words *words)
{
  if (words->data)
    s->allocator->resize(s->allocator->user, words->data, words->capacity * 4, 0);
  *words = (vyre_spv_words){0};
}

void
vyre_spv_instruction(vyre_spv *s, vyre_spv_words *words, uint32_t opcode, const uint32_t *operands, size_t count)
{
  if (count >= 0xffff) {
    vyre_spv_fail(s, "an instruction of %zu operands, SPIR-V allows 65534", count);
    return;
  }
  vyre_spv_push(s, words, (uint32_t)(count + 1) << 16 | opcode);
  vyre_spv_append(s, words, operands, count);
}

void
vyre_spv_text(vyre_spv *s, vyre_spv_words *words, uint32_t opcode, const uint32_t *operands, size_t count, const char *text)
{
  size_t length = strlen(text);
  if (length > 0xffff * 4 - 64) /* cut: an instruction has at most 65535 words */
    length = 0xffff * 4 - 64;
  const size_t text_words = length / 4 + 1;
  vyre_spv_push(s, words, (uint32_t)(1 + count + text_words) << 16 | opcode);
  vyre_spv_append(s, words, operands, count);
  for (size_t i = 0; i < text_words; i++) {
    uint32_t word = 0;
    for (size_t k = 0; k < 4 && i * 4 + k < length; k++)
      word |= (uint32_t)(unsigned char)text[i * 4 + k] << (8 * k);
    vyre_spv_push(s, words, word);
  }
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
  const char *program = s->program ? vyre_row_name(s->module, (vyre_row){s->program}) : NULL;
  vyre_string file;
  uint32_t line, column;
  if (s->row && vyre_row_line(s->module, (vyre_row){s->row}, &file, &line, &column))
    s->status = VYRE_ERROR(VYRE_CODE_INPUT, "%s:%u:%u: spirv: %s", vyre_string_text(s->module, file), line, column, text);
  else
    s->status = VYRE_ERROR(VYRE_CODE_INPUT, "spirv: %s", text);
  if (s->row)
    vyre_status_note(s->status, "while writing row %u, '%s', of program '%s'", s->row,
                     vyre_op_infos[VYRE_ROW_OP(s->op[s->row])].text, program ? program : "");
}

/* ---- interning: open addressing over words that stand one after another in `keys` as (count, id, key...) ---- */

static uint32_t
hash_words(const uint32_t *key, size_t count)
{
  uint64_t hash = 0x9e3779b97f4a7c15u ^ count;
  for (size_t i = 0; i < count; i++)
    hash = ((hash ^ key[i]) * 0xff51afd7ed558ccdu) ^ (hash >> 29);
  return (uint32_t)(hash ^ hash >> 32);
}

/* Twice the slots, for the entries before `end`. */
static void
rehash(vyre_spv *s, size_t end)
{
  const uint32_t slot_count = s->slot_count ? s->slot_count * 2 : 256;
  vyre_spv_words slots = {0};
  for (uint32_t i = 0; i < slot_count; i++)
    vyre_spv_push(s, &slots, 0);
  if (s->out_of_memory) {
    vyre_spv_words_free(s, &slots);
    return;
  }
  for (size_t at = 0; at < end; at += 2 + s->keys.data[at]) {
    uint32_t slot = hash_words(s->keys.data + at + 2, s->keys.data[at]) & (slot_count - 1);
    while (slots.data[slot])
      slot = (slot + 1) & (slot_count - 1);
    slots.data[slot] = (uint32_t)at + 1;
  }
  vyre_spv_words_free(s, &s->slots);
  s->slots = slots;
  s->slot_count = slot_count;
}

/* The key stands at the end of `keys` from `start` on; it is taken back if it was there already. */
static uint32_t
find(vyre_spv *s, size_t start, bool *out_fresh)
{
  *out_fresh = false;
  if (s->slot_used * 2 >= s->slot_count)
    rehash(s, start);
  if (s->out_of_memory)
    return 0;
  uint32_t *entry = s->keys.data + start;
  const uint32_t count = (uint32_t)(s->keys.count - start - 2);
  entry[0] = count;
  uint32_t slot = hash_words(entry + 2, count) & (s->slot_count - 1);
  for (; s->slots.data[slot]; slot = (slot + 1) & (s->slot_count - 1)) {
    const uint32_t *other = s->keys.data + s->slots.data[slot] - 1;
    if (other[0] == count && memcmp(other + 2, entry + 2, (size_t)count * 4) == 0) {
      s->keys.count = start;
      return other[1];
    }
  }
  s->slots.data[slot] = (uint32_t)start + 1;
  s->slot_used++;
  *out_fresh = true;
  return entry[1] = s->next_id++;
}

uint32_t
vyre_spv_key(vyre_spv *s, const uint32_t *key, size_t count, bool *out_fresh)
{
  const size_t start = s->keys.count;
  vyre_spv_room(s, &s->keys, 2);
  vyre_spv_append(s, &s->keys, key, count);
  return find(s, start, out_fresh);
}

uint32_t
vyre_spv_intern(vyre_spv *s, uint32_t opcode, bool typed, const uint32_t *operands, size_t count, const uint32_t *extra,
                size_t extra_count, bool *out_fresh)
{
  bool fresh;
  const size_t start = s->keys.count;
  vyre_spv_room(s, &s->keys, 2);
  vyre_spv_push(s, &s->keys, opcode);
  vyre_spv_append(s, &s->keys, operands, count);
  vyre_spv_append(s, &s->keys, extra, extra_count);
  const uint32_t id = find(s, start, &fresh);
  if (fresh) {
    if (count + 2 > 0xffff)
      vyre_spv_fail(s, "a constant or type of %zu parts, SPIR-V allows 65532", count);
    vyre_spv_push(s, &s->globals, (uint32_t)(count + 2) << 16 | opcode);
    if (typed)
      vyre_spv_push(s, &s->globals, operands[0]);
    vyre_spv_push(s, &s->globals, id);
    if (count > typed)
      vyre_spv_append(s, &s->globals, operands + typed, count - typed);
  }
  if (out_fresh)
    *out_fresh = fresh;
  return id;
}
