/* VIR0: header and section table. Data after the header is used only after its hash was compared.
 *
 * O(bytes), nearly all of it hashing.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vir0.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define MAX_SECTIONS  4096u
#define MAX_ALIGNMENT 65536u

const vir0_kind_info vir0_kinds[VYRE_VIR0_KIND__COUNT] = {
    [VYRE_VIR0_OP] = {"op", 4},
    [VYRE_VIR0_IMM] = {"imm", 4},
    [VYRE_VIR0_IMM_HI] = {"imm_hi", 4},
    [VYRE_VIR0_A] = {"a", 4},
    [VYRE_VIR0_B] = {"b", 4},
    [VYRE_VIR0_C] = {"c", 4},
    [VYRE_VIR0_PARENT] = {"parent", 4},
    [VYRE_VIR0_PREV] = {"prev", 4},
    [VYRE_VIR0_NEXT] = {"next", 4},
    [VYRE_VIR0_FIRST] = {"first", 4},
    [VYRE_VIR0_LAST] = {"last", 4},
    [VYRE_VIR0_NAME] = {"name", 4},
    [VYRE_VIR0_LINE] = {"line", 4},
    [VYRE_VIR0_PLACE] = {"place", 4},
    [VYRE_VIR0_STRINGS] = {"strings", 1},
    [VYRE_VIR0_FILES] = {"files", 4},
    [VYRE_VIR0_TYPES] = {"types", VIR0_TYPE_WORDS * 4},
    [VYRE_VIR0_MEMBERS] = {"members", VIR0_MEMBER_WORDS * 4},
    [VYRE_VIR0_INPUTS] = {"inputs", VIR0_INPUT_WORDS * 4},
    [VYRE_VIR0_INPUT_WORDS] = {"input words", 4},
    [VYRE_VIR0_PROGRAMS] = {"programs", VIR0_PROGRAM_WORDS * 4},
    [VYRE_VIR0_PROGRAM_WORDS] = {"program words", 4},
    [VYRE_VIR0_BUFFERS] = {"buffers", VIR0_BUFFER_WORDS * 4},
    [VYRE_VIR0_EXTRAS] = {"extras", VIR0_EXTRA_WORDS * 4},
    [VYRE_VIR0_DECORATION_WORDS] = {"decoration words", 4},
    [VYRE_VIR0_INITIALIZERS] = {"initializers", 4},
    [VYRE_VIR0_INITIALIZER_WORDS] = {"initializer words", 4},
    [VYRE_VIR0_SCOPES] = {"scopes", VIR0_SCOPE_WORDS * 4},
};

#define FIX "\nFix: write the file again, with vyre-passmgr -emit=vir0"

static vyre_status damaged_at(const vir0_reader *r, uint64_t offset, const char *format, ...) VYRE_PRINTF(3, 4);

static vyre_status
damaged_at(const vir0_reader *r, uint64_t offset, const char *format, ...)
{
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  return VYRE_ERROR(VYRE_CODE_INPUT, "'%s' is a damaged VIR0 file: %s (byte %llu)" FIX, r->path, text, (unsigned long long)offset);
}

vyre_status
vir0_damaged(const vir0_reader *r, uint32_t kind, uint32_t at, const char *format, ...)
{
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  return VYRE_ERROR(VYRE_CODE_INPUT, "'%s' is a damaged VIR0 file: section '%s', entry %u (byte %llu): %s" FIX, r->path,
                    vir0_kinds[kind].name, at,
                    (unsigned long long)(r->parts[kind].offset + (uint64_t)at * vir0_kinds[kind].entry_size), text);
}

static vyre_vir0_section
section_at(const char *data, uint32_t index)
{
  vyre_vir0_section section;
  memcpy(&section, data + sizeof(vyre_vir0_header) + index * sizeof(section), sizeof(section));
  return section;
}

static uint64_t
head_hash(const vyre_vir0_header *header, const char *table)
{
  vyre_vir0_header cleared = *header;
  cleared.hash = 0;
  return XXH3_64bits_withSeed(table, header->sections * sizeof(vyre_vir0_section), XXH3_64bits(&cleared, sizeof(cleared)));
}

static vyre_status
check_header(vir0_reader *r)
{
  vyre_vir0_header *header = &r->header;
  if (r->size < sizeof(*header))
    return damaged_at(r, r->size, "it ends in the header, which has %zu bytes", sizeof(*header));
  memcpy(header, r->data, sizeof(*header));
  if (memcmp(header->magic, "VIR0", 4) != 0)
    return VYRE_ERROR(VYRE_CODE_INPUT, "'%s' is not a VIR0 file: it does not start with VIR0" FIX, r->path);
  if (header->byte_order == __builtin_bswap32(VYRE_VIR0_BYTE_ORDER))
    return VYRE_ERROR(VYRE_CODE_INPUT, "'%s' was written on a machine with the other byte order" FIX " on this one", r->path);
  if (header->byte_order != VYRE_VIR0_BYTE_ORDER)
    return damaged_at(r, 4, "the byte order mark is 0x%08x", header->byte_order);
  if (header->version != VYRE_VIR0_VERSION)
    return VYRE_ERROR(VYRE_CODE_INPUT, "'%s' has VIR0 version %u, but this vyre reads version %u" FIX " of this version", r->path,
                      header->version, VYRE_VIR0_VERSION);
  if (header->header_bytes != sizeof(*header) || header->section_bytes != sizeof(vyre_vir0_section))
    return damaged_at(r, offsetof(vyre_vir0_header, header_bytes), "header and section entries of %u and %u bytes, not 64 and 64",
                      header->header_bytes, header->section_bytes);
  if (header->sections > MAX_SECTIONS || header->sections > (r->size - sizeof(*header)) / sizeof(vyre_vir0_section))
    return damaged_at(r, offsetof(vyre_vir0_header, sections), "it is too small for a table of %u sections", header->sections);
  if (head_hash(header, r->data + sizeof(*header)) != header->hash)
    return damaged_at(r, offsetof(vyre_vir0_header, hash), "header and section table do not have the hash 0x%016llx",
                      (unsigned long long)header->hash);
  if (header->size != r->size)
    return damaged_at(r, r->size, "it has %zu bytes instead of %llu", r->size, (unsigned long long)header->size);
  if (header->opset == 0 || header->opset > VYRE_OPSET_VERSION)
    return VYRE_ERROR(VYRE_CODE_INPUT, "'%s' is written with op set %u, but this vyre knows op set %u" FIX " of this version",
                      r->path, header->opset, VYRE_OPSET_VERSION);
  for (int i = 0; i < 4; i++)
    if (header->reserved[i])
      return damaged_at(r, offsetof(vyre_vir0_header, reserved), "a reserved field is 0x%x", header->reserved[i]);
  return VYRE_OK;
}

static bool
is_name(const char *name)
{
  size_t length = strnlen(name, VYRE_VIR0_NAME_BYTES);
  if (length == 0 || length == VYRE_VIR0_NAME_BYTES)
    return false;
  for (size_t i = 0; i < VYRE_VIR0_NAME_BYTES; i++)
    if (i < length ? name[i] < ' ' || name[i] > '~' : name[i] != 0)
      return false;
  return true;
}

/* Checks a section's name, offset, size and hash. `end` is the end of the section before it. */
static vyre_status
check_section(const vir0_reader *r, uint32_t index, const vyre_vir0_section *s, uint64_t end)
{
  uint64_t at = sizeof(vyre_vir0_header) + (uint64_t)index * sizeof(*s);
  if (!is_name(s->name))
    return damaged_at(r, at, "section %u has an invalid name", index);
  if ((s->flags & ~VYRE_VIR0_OPTIONAL) || s->reserved)
    return damaged_at(r, at, "section '%s' has unknown flags 0x%x, 0x%x", s->name, s->flags, s->reserved);
  if (s->alignment < 4 || s->alignment > MAX_ALIGNMENT || (s->alignment & (s->alignment - 1)))
    return damaged_at(r, at, "section '%s' has the alignment %u", s->name, s->alignment);
  if (s->offset < end || s->offset % s->alignment || s->offset > r->size || s->size > r->size - s->offset)
    return damaged_at(r, at, "section '%s' has offset %llu, size %llu", s->name, (unsigned long long)s->offset,
                      (unsigned long long)s->size);
  for (uint64_t i = end; i < s->offset; i++)
    if (r->data[i])
      return damaged_at(r, i, "a byte before section '%s' is not 0", s->name);
  if (XXH3_64bits(r->data + s->offset, s->size) != s->hash)
    return damaged_at(r, s->offset, "the %llu bytes of section '%s' do not have the hash 0x%016llx", (unsigned long long)s->size,
                      s->name, (unsigned long long)s->hash);
  return VYRE_OK;
}

/* Records a section of a known kind. */
static vyre_status
record_section(vir0_reader *r, const vyre_vir0_section *s)
{
  const vir0_kind_info *info = &vir0_kinds[s->kind];
  vir0_part *part = &r->parts[s->kind];
  if (part->data)
    return damaged_at(r, s->offset, "the file has two sections '%s'", info->name);
  if (s->size % info->entry_size || s->size / info->entry_size >= UINT32_MAX)
    return damaged_at(r, s->offset, "section '%s' has %llu bytes, not a multiple of %u", info->name, (unsigned long long)s->size,
                      info->entry_size);
  *part = (vir0_part){r->data + s->offset, s->offset, (uint32_t)(s->size / info->entry_size)};
  return VYRE_OK;
}

static vyre_status
refuse_unknown(const vir0_reader *r, const vyre_vir0_section *s, const char *const *known, uint32_t known_count)
{
  for (uint32_t i = 0; s->kind == VYRE_VIR0_NAMED && i < known_count; i++)
    if (strcmp(known[i], s->name) == 0)
      return VYRE_OK;
  if (s->flags & VYRE_VIR0_OPTIONAL)
    return VYRE_OK;
  return VYRE_ERROR(VYRE_CODE_INPUT,
                    "'%s' has a section '%s' (kind %u) that its reader must understand, but this one does not\n"
                    "Fix: read it with the program that wrote it, or write it again without that section",
                    r->path, s->name, s->kind);
}

vyre_status
vir0_open(vir0_reader *r, const char *const *known, uint32_t known_count)
{
  VYRE_TRY(check_header(r));
  uint64_t end = sizeof(vyre_vir0_header) + (uint64_t)r->header.sections * sizeof(vyre_vir0_section);
  for (uint32_t i = 0; i < r->header.sections; i++) {
    vyre_vir0_section section = section_at(r->data, i);
    VYRE_TRY(check_section(r, i, &section, end));
    end = section.offset + section.size;
    if (section.kind < VYRE_VIR0_KIND__COUNT && vir0_kinds[section.kind].name)
      VYRE_TRY(record_section(r, &section));
    else
      VYRE_TRY(refuse_unknown(r, &section, known, known_count));
  }
  if (end != r->size)
    return damaged_at(r, end, "%llu bytes follow the last section", (unsigned long long)(r->size - end));
  return VYRE_OK;
}

bool
vyre_vir0_is(const void *data, size_t size)
{
  return size >= 4 && memcmp(data, "VIR0", 4) == 0;
}

const void *
vyre_vir0_find(const void *data, size_t size, const char *name, size_t *out_size)
{
  vir0_reader r = {.data = data, .size = size, .path = ""};
  *out_size = 0;
  vyre_status status = check_header(&r);
  if (status) {
    vyre_status_free(status);
    return NULL;
  }
  for (uint32_t i = 0; i < r.header.sections; i++) {
    vyre_vir0_section s = section_at(r.data, i);
    if (s.kind != VYRE_VIR0_NAMED || strncmp(s.name, name, sizeof(s.name)) != 0 || s.offset > size || s.size > size - s.offset)
      continue;
    *out_size = (size_t)s.size;
    return r.data + s.offset;
  }
  return NULL;
}
