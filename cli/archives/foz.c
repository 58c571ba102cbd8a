/* The file format: 16 bytes, "\x81FOSSILIZEDB", three zeros and a version, 5 or 6.  Then entries.  An entry has a tag of 24 and a
 * key of 16 hexadecimal digits, four little-endian words and the stored bytes.  The words are the number of stored bytes, the
 * packing (1 for none, 2 for zlib), the CRC-32 of the stored bytes or 0, and the number of unpacked bytes.  An unpacked module (tag
 * 4) is JSON, a zero byte, and the module's words in LEB128.  The JSON has the offset and sizes of the words:
 * {"version":6,"shaderModules":{"KEY":{"varintOffset":0,"varintSize":N,"codeSize":M,"flags":0}}}.
 *
 * Limits: one module an entry; no modules as text ("code", in base64), which Fossilize does not write either; 256 MiB unpacked.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "foz.h"

#include "base/grow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "vyre/io.h"

enum { MAGIC = 16, NAME = 40, HEADER = NAME + 16, TAG_MODULE = 4, FORM_AS_IT_IS = 1, FORM_ZLIB = 2, OLDEST = 5, NEWEST = 6 };

#define MOST_UNPACKED ((uint32_t)256 << 20)

static const char magic[MAGIC - 1] = "\x81"
                                     "FOSSILIZEDB\0\0";

static uint32_t
word_at(const char *bytes)
{
  const uint8_t *at = (const uint8_t *)bytes;
  return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void
put_word(char *at, uint32_t word)
{
  for (uint32_t k = 0; k < 4; k++)
    at[k] = (char)(word >> 8 * k & 255);
}

static uint32_t
crc_of(const char *data, size_t size)
{
  return (uint32_t)crc32_z(0, (const Bytef *)data, size);
}

/* Unpacks all stored bytes.  Returns whether they are valid and give exactly `size` bytes. */
static bool
inflates(const char *stored, uint32_t stored_size, char *out, uint32_t size)
{
  uLong used = stored_size;
  uLongf got = size;
  return uncompress2((Bytef *)out, &got, (const Bytef *)stored, &used) == Z_OK && got == size && used == stored_size;
}

/* ---- an entry ------------------------------------------------------------------------------------------------------------ */

static vyre_status
damaged(const foz *archive, const foz_entry *e, const char *how)
{
  return VYRE_ERROR(VYRE_CODE_INPUT, "'%s': module %s is damaged: %s\nFix: record the archive again", archive->path, e->key, how);
}

static vyre_status
unpack(const foz *archive, const foz_entry *e, vyre_bytes *out)
{
  const char *stored = archive->bytes.data + e->at + HEADER;
  if (e->sum && crc_of(stored, e->stored) != e->sum)
    return damaged(archive, e, "its checksum is wrong");
  if (e->size > MOST_UNPACKED || (e->form == FORM_AS_IT_IS && e->size != e->stored))
    return damaged(archive, e, "its size is wrong");
  VYRE_TRY(vyre_bytes_reserve(out, (size_t)e->size + 1));
  if (e->form == FORM_AS_IT_IS)
    memcpy(out->data, stored, e->size);
  else if (e->form != FORM_ZLIB || !inflates(stored, e->stored, out->data, e->size))
    return damaged(archive, e, "it cannot be unpacked");
  out->size = e->size;
  out->data[e->size] = '\0';
  return VYRE_OK;
}

/* Returns the digits of "name":NUMBER in the JSON, or NULL if it is absent. */
static const char *
find_number(const char *json, const char *name)
{
  char quoted[32];
  snprintf(quoted, sizeof quoted, "\"%s\":", name);
  const char *at = strstr(json, quoted);
  if (!at)
    return NULL;
  at += strlen(quoted);
  at += strspn(at, " \t\r\n");
  return *at >= '0' && *at <= '9' ? at : NULL;
}

/* Decodes the words and appends them; `out` has room.  Returns whether the bytes encode exactly so many words. */
static bool
read_words(const uint8_t *from, const uint8_t *end, uint64_t words, vyre_bytes *out)
{
  for (uint64_t i = 0; i < words; i++) {
    uint32_t word = 0, shift = 0;
    do {
      if (from == end || shift >= 32)
        return false;
      word |= (uint32_t)(*from & 127) << shift;
      shift += 7;
    } while (*from++ & 128);
    memcpy(out->data + out->size, &word, sizeof word);
    out->size += sizeof word;
  }
  return from == end;
}

static vyre_status
read_entry(const foz *archive, const foz_entry *e, vyre_bytes *out)
{
  vyre_bytes all = {0};
  vyre_status status = unpack(archive, e, &all);
  const size_t json = status ? 0 : strlen(all.data);
  const char *offset = status ? NULL : find_number(all.data, "varintOffset"),
             *size = status ? NULL : find_number(all.data, "varintSize"), *code = status ? NULL : find_number(all.data, "codeSize");
  if (!status && !offset && strstr(all.data, "\"code\":"))
    status = VYRE_ERROR(VYRE_CODE_INPUT,
                        "'%s': module %s is text (base64), but vyre reads only the binary form\n"
                        "Fix: convert the archive with fossilize-rehash --input-db FILE --output-db FILE",
                        archive->path, e->key);
  else if (!status && (!offset || !size || !code || json == all.size))
    status = damaged(archive, e, "its JSON does not describe the words");
  if (!status) {
    const uint64_t from = strtoull(offset, NULL, 10), bytes = strtoull(size, NULL, 10), words = strtoull(code, NULL, 10) / 4;
    const uint64_t room = all.size - json - 1;
    if (from > room || bytes > room - from || words > bytes)
      status = damaged(archive, e, "its words are missing");
    if (!status)
      status = vyre_bytes_reserve(out, out->size + words * 4 + 1);
    const uint8_t *at = (const uint8_t *)all.data + json + 1 + from;
    if (!status && !read_words(at, at + bytes, words, out))
      status = damaged(archive, e, "its words are invalid");
  }
  vyre_bytes_free(&all);
  return status;
}

/* Returns whether the module has the entry point of a compute shader.  Entry points precede functions. */
static bool
is_compute(const vyre_bytes *module)
{
  enum { FIRST = 5, ENTRY_POINT = 15, FUNCTION = 54, COMPUTE = 5 };
  const size_t words = module->size / 4;
  for (size_t at = FIRST; at < words;) {
    const uint32_t head = word_at(module->data + 4 * at), count = head >> 16, op = head & 0xffffu;
    if (count == 0 || op == FUNCTION)
      return false;
    if (op == ENTRY_POINT && at + 1 < words && word_at(module->data + 4 * (at + 1)) == COMPUTE)
      return true;
    at += count;
  }
  return false;
}

/* ---- the archive --------------------------------------------------------------------------------------------------------- */

static bool
is_digit(char c)
{
  return c && strchr("0123456789abcdefABCDEF", c);
}

static vyre_status
add_entry(foz *archive, size_t at)
{
  const char *name = archive->bytes.data + at, *header = name + NAME;
  char tag[NAME - FOZ_KEY + 1] = {0};
  if (!vyre_grow(NULL, &archive->entries, &archive->capacity, archive->count + 1, sizeof *archive->entries))
    return VYRE_OUT_OF_MEMORY("for an archive");
  foz_entry *e = &archive->entries[archive->count++];
  *e = (foz_entry){
      .at = at, .stored = word_at(header), .form = word_at(header + 4), .sum = word_at(header + 8), .size = word_at(header + 12)};
  memcpy(tag, name, NAME - FOZ_KEY);
  memcpy(e->key, name + NAME - FOZ_KEY, FOZ_KEY);
  for (uint32_t k = 0; k < FOZ_KEY; k++)
    if (!is_digit(e->key[k]))
      return VYRE_ERROR(VYRE_CODE_INPUT, "'%s': entry %u has no key\nFix: record the archive again", archive->path, archive->count);
  if (strtoull(tag, NULL, 16) != TAG_MODULE)
    return VYRE_OK;
  vyre_bytes words = {0};
  vyre_status status = read_entry(archive, e, &words);
  e->is_module = status || is_compute(&words);
  vyre_bytes_free(&words);
  const bool is_out = vyre_status_is_out_of_memory(status);
  if (!is_out) { /* foz_read reports it */
    vyre_status_free(status);
    status = VYRE_OK;
  }
  return status;
}

/* Returns whether a complete entry seems to begin at the offset: its tag and key are digits, its size and packing are possible. */
static bool
is_entry(const foz *archive, size_t at)
{
  const char *data = archive->bytes.data;
  const size_t room = archive->bytes.size - at;
  const uint32_t form = word_at(data + at + NAME + 4);
  if (word_at(data + at + NAME) > room - HEADER ||
      (form != FORM_AS_IT_IS && form != FORM_ZLIB)) /* tested first, because a text may consist of digits */
    return false;
  for (uint32_t k = 0; k < NAME; k++)
    if (!is_digit(data[at + k]))
      return false;
  return true;
}

/* Checks an entry that is longer than the rest of the file.  If other entries follow, the archive is damaged.  Otherwise the
 * program that wrote it was interrupted, and the entry is skipped. */
static vyre_status
check_end(const foz *archive, size_t at)
{
  for (size_t next = at + HEADER; next + HEADER <= archive->bytes.size; next++)
    if (is_entry(archive, next))
      return VYRE_ERROR(VYRE_CODE_INPUT,
                        "'%s' is damaged: entry %u, '%.*s', has a size of %u bytes, but the next entry begins after %zu\n"
                        "Fix: record the archive again",
                        archive->path, archive->count + 1, FOZ_KEY, archive->bytes.data + at + NAME - FOZ_KEY,
                        word_at(archive->bytes.data + at + NAME), next - at - HEADER);
  return VYRE_OK;
}

static vyre_status
find_entries(foz *archive)
{
  const size_t size = archive->bytes.size;
  const char *data = archive->bytes.data;
  if (size < MAGIC || memcmp(data, magic, sizeof magic) != 0)
    return VYRE_ERROR(VYRE_CODE_INPUT, "'%s' is not an archive of Fossilize\nFix: rename the file if it is something else",
                      archive->path);
  if (data[MAGIC - 1] < OLDEST || data[MAGIC - 1] > NEWEST)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "'%s' is an archive of version %d, but vyre supports versions %d and %d\n"
                      "Fix: record it again with a Fossilize of one of these versions",
                      archive->path, (uint8_t)data[MAGIC - 1], OLDEST, NEWEST);
  for (size_t at = MAGIC; at < size;) {
    if (size - at < HEADER || size - at - HEADER < word_at(data + at + NAME)) {
      archive->cut = size - at;
      return check_end(archive, at);
    }
    VYRE_TRY(add_entry(archive, at));
    at += HEADER + (size_t)word_at(data + at + NAME);
  }
  return VYRE_OK;
}

/* Orders by key, then by position in the file. */
static int
compare_keys(const void *left, const void *right)
{
  const foz_key *a = left, *b = right;
  const int order = strcmp(a->key, b->key);
  return order ? order : a->entry < b->entry ? -1 : a->entry > b->entry;
}

static vyre_status
sort_modules(foz *archive)
{
  archive->modules = malloc(((size_t)archive->count + 1) * sizeof *archive->modules);
  if (!archive->modules)
    return VYRE_OUT_OF_MEMORY("for an archive");
  for (uint32_t i = 0; i < archive->count; i++) {
    foz_key *to = &archive->modules[archive->module_count];
    to->entry = i;
    memcpy(to->key, archive->entries[i].key, sizeof to->key);
    archive->module_count += archive->entries[i].is_module;
  }
  qsort(archive->modules, archive->module_count, sizeof *archive->modules, compare_keys);
  return VYRE_OK;
}

uint32_t
foz_find(const foz *archive, const char *key)
{
  uint32_t low = 0, high = archive->module_count; /* a binary search for the first key that is not smaller */
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (strcmp(archive->modules[middle].key, key) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low < archive->module_count && strcmp(archive->modules[low].key, key) == 0 ? archive->modules[low].entry : UINT32_MAX;
}

vyre_status
foz_adopt(const char *path, vyre_bytes *bytes, foz **out)
{
  foz *archive = calloc(1, sizeof *archive);
  *out = NULL;
  if (!archive || !(archive->path = strdup(path))) {
    free(archive);
    vyre_bytes_free(bytes);
    return VYRE_OUT_OF_MEMORY("for an archive");
  }
  archive->bytes = *bytes;
  *bytes = (vyre_bytes){0};
  vyre_status status = find_entries(archive);
  if (!status)
    status = sort_modules(archive);
  if (status)
    foz_close(archive);
  else
    *out = archive;
  return status;
}

vyre_status
foz_open(const char *path, foz **out)
{
  vyre_bytes bytes = {0};
  vyre_status status = vyre_file_read_as(path, VYRE_FILE_PLAIN, &bytes);
  *out = NULL;
  if (!status)
    return foz_adopt(path, &bytes, out);
  vyre_bytes_free(&bytes);
  return status;
}

void
foz_close(foz *archive)
{
  if (!archive)
    return;
  vyre_bytes_free(&archive->bytes);
  free(archive->entries);
  free(archive->modules);
  free(archive->path);
  free(archive);
}

vyre_status
foz_read(const foz *archive, const char *key, vyre_bytes *out)
{
  const uint32_t entry = foz_find(archive, key);
  if (entry != UINT32_MAX)
    return read_entry(archive, &archive->entries[entry], out);
  return VYRE_ERROR(VYRE_CODE_INPUT, "'%s' has no compute shader '%.100s'\nFix: list its shaders with -list-inputs", archive->path,
                    key);
}

/* ---- writing ------------------------------------------------------------------------------------------------------------- */

static vyre_status
append_words(const vyre_bytes *words, vyre_bytes *out)
{
  for (size_t at = 0; at + 4 <= words->size; at += 4) {
    uint32_t word = word_at(words->data + at);
    char bytes[5];
    size_t count = 0;
    do
      bytes[count++] = (char)((word & 127) | (word > 127 ? 128 : 0));
    while (word >>= 7);
    VYRE_TRY(vyre_bytes_append(out, bytes, count));
  }
  return VYRE_OK;
}

/* Replaces a number in the JSON, which ends with a zero byte. */
static vyre_status
set_number(vyre_bytes *json, const char *name, size_t number)
{
  vyre_bytes text = {0};
  const char *at = find_number(json->data, name);
  vyre_status status =
      vyre_bytes_printf(&text, "%.*s%zu%s", (int)(at - json->data), json->data, number, at + strspn(at, "0123456789"));
  if (!status)
    status = vyre_bytes_append(&text, "", 1);
  if (status) {
    vyre_bytes_free(&text);
    return status;
  }
  vyre_bytes_free(json);
  *json = text;
  return VYRE_OK;
}

static vyre_status
append_module(const foz *archive, const foz_entry *e, const vyre_bytes *words, vyre_bytes *out)
{
  vyre_bytes json = {0}, packed = {0};
  char header[HEADER];
  vyre_status status = append_words(words, &packed);
  if (!status)
    status = unpack(archive, e, &json);
  if (!status)
    status = set_number(&json, "varintOffset", 0);
  if (!status)
    status = set_number(&json, "varintSize", packed.size);
  if (!status)
    status = set_number(&json, "codeSize", words->size);
  if (!status)
    status = vyre_bytes_append(&json, packed.data, packed.size);
  if (!status) {
    memcpy(header, archive->bytes.data + e->at, NAME);
    put_word(header + NAME, (uint32_t)json.size);
    put_word(header + NAME + 4, FORM_AS_IT_IS);
    put_word(header + NAME + 8, crc_of(json.data, json.size));
    put_word(header + NAME + 12, (uint32_t)json.size);
    status = vyre_bytes_append(out, header, HEADER);
  }
  if (!status)
    status = vyre_bytes_append(out, json.data, json.size);
  vyre_bytes_free(&json);
  vyre_bytes_free(&packed);
  return status;
}

vyre_status
foz_write(const foz *archive, const vyre_bytes *words, vyre_bytes *out)
{
  VYRE_TRY(vyre_bytes_append(out, archive->bytes.data, MAGIC));
  for (uint32_t i = 0; i < archive->count; i++) {
    const foz_entry *e = &archive->entries[i];
    if (words[i].size)
      VYRE_TRY(append_module(archive, e, &words[i], out));
    else
      VYRE_TRY(vyre_bytes_append(out, archive->bytes.data + e->at, HEADER + (size_t)e->stored));
  }
  return VYRE_OK;
}
