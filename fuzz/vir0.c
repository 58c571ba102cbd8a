/* Fuzz target: VIR0 files.  Each input is read as it is, and again with correct hashes and sizes, so that the reader reaches the
 * later checks.  The module of an accepted file is passed to every function that takes a module.  A refused file leaves an empty
 * module.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "vyre/vir0.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define MOST_SECTIONS 64u

/* Copies the header to *header and returns the section table, or NULL if the file is too short for them. */
static vyre_vir0_section *
sections_of(uint8_t *data, size_t size, vyre_vir0_header *header)
{
  if (size < sizeof *header)
    return NULL;
  memcpy(header, data, sizeof *header);
  if (header->sections > MOST_SECTIONS || size < sizeof *header + header->sections * sizeof(vyre_vir0_section))
    return NULL;
  return (vyre_vir0_section *)(void *)(data + sizeof *header); /* aligned, because `data` begins an allocated block */
}

/* Sets the hashes and the sizes that a writer would write. */
static void
mend(uint8_t *data, size_t size)
{
  vyre_vir0_header header;
  vyre_vir0_section *sections = sections_of(data, size, &header);
  if (!sections)
    return;
  memcpy(header.magic, "VIR0", 4);
  header.byte_order = VYRE_VIR0_BYTE_ORDER;
  header.size = size;
  for (uint32_t i = 0; i < header.sections; i++)
    if (sections[i].offset <= size && sections[i].size <= size - sections[i].offset)
      sections[i].hash = XXH3_64bits(data + sections[i].offset, sections[i].size);
  header.hash = 0;
  header.hash = XXH3_64bits_withSeed(sections, header.sections * sizeof *sections, XXH3_64bits(&header, sizeof header));
  memcpy(data, &header, sizeof header);
}

static void
read_file(const uint8_t *data, size_t size)
{
  static const char *const known[] = {"pass.what"};
  vyre_module *module = fuzz_module(0);
  if (fuzz_allow(vyre_vir0_read(module, data, size, "input", known, 1), "reading")) {
    size_t found;
    const uint8_t *section = vyre_vir0_find(data, size, known[0], &found);
    if (section && (section < data || found > size || section > data + (size - found)))
      fuzz_fail("a section of %zu bytes lies outside the file", found);
    fuzz_exercise(module, false);
  } else {
    if (vyre_module_view(module)->rows != 1 || vyre_module_input_count(module) || vyre_type_count(module) != 256)
      fuzz_fail("a file was refused, and the module is not empty");
    fuzz_require(vyre_module_status(module), "after refusing a file");
  }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  uint8_t *copy = malloc(size + !size);
  if (!copy)
    return 0;
  if (size)
    memcpy(copy, data, size);
  read_file(copy, size);
  mend(copy, size);
  if (size && memcmp(copy, data, size) != 0)
    read_file(copy, size);
  free(copy);
  return 0;
}

/* Changes a word of a section to a small number or to another word, or changes the word by one or by a bit. */
static void
change_word(uint8_t *data, size_t size, const vyre_vir0_section *section, uint64_t *random)
{
  uint32_t word, other;
  if (section->offset > size || section->size > size - section->offset || section->size < 4)
    return;
  uint32_t words = (uint32_t)(section->size / 4);
  uint8_t *at = data + section->offset + 4 * (size_t)fuzz_random(random, words);
  memcpy(&word, at, 4);
  memcpy(&other, data + section->offset + 4 * (size_t)fuzz_random(random, words), 4);
  switch (fuzz_random(random, 6)) {
  case 0:
    word = fuzz_random(random, 16);
    break;
  case 1:
    word = fuzz_random(random, words + 1); /* in a column: an existing row, or the first row that does not exist */
    break;
  case 2:
    word = other;
    break;
  case 3:
    word += fuzz_random(random, 3) - 1;
    break;
  case 4:
    word ^= 1u << fuzz_random(random, 32);
    break;
  default:
    word = fuzz_random(random, 2) ? UINT32_MAX : (word & 0xffff0000u) | (other & 0xffffu); /* another op with the same type */
    break;
  }
  memcpy(at, &word, 4);
}

/* Changes words of sections or of the section table.  Sometimes uses libFuzzer's own mutation instead. */
size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t capacity, unsigned seed)
{
  uint64_t random = seed;
  vyre_vir0_header header;
  vyre_vir0_section *sections = sections_of(data, size, &header);
  if (!sections || header.sections == 0 || fuzz_random(&random, 8) == 0)
    return LLVMFuzzerMutate(data, size, capacity);
  const vyre_vir0_section table = {.offset = 32, .size = 32 + header.sections * sizeof *sections};
  for (uint32_t times = 1 + fuzz_random(&random, 4); times--;)
    change_word(data, size, fuzz_random(&random, 16) ? &sections[fuzz_random(&random, header.sections)] : &table, &random);
  mend(data, size);
  return size;
}
