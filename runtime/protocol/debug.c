/* The debug log.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "words.h"

#include <string.h>

enum { RECORD_WORDS = 4, CAPACITY = VYRE_MEGA_DEBUG_RECORDS * RECORD_WORDS };

vyre_status
vyre_mega_debug_encode(void *image, size_t size)
{
  VYRE_TRY(words_check_just(image, size, VYRE_MEGA_DEBUG_BYTES, "debug log"));
  memset(image, 0, size);
  return VYRE_OK;
}

vyre_status
vyre_mega_debug_validate(const void *image, size_t size)
{
  VYRE_TRY(words_check_just(image, size, VYRE_MEGA_DEBUG_BYTES, "debug log"));
  if (word_acquire(image, 0) % RECORD_WORDS)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "megakernel: the debug log has %" PRIu32 " words, which is not a multiple of a record's %d\n"
                      "Fix: let only kernels write to the log",
                      word_acquire(image, 0), RECORD_WORDS);
  return VYRE_OK;
}

vyre_status
vyre_mega_debug_decode(const void *image, size_t size, vyre_mega_record out[VYRE_MEGA_DEBUG_RECORDS], uint32_t *out_count)
{
  *out_count = 0;
  VYRE_TRY(vyre_mega_debug_validate(image, size));
  const uint32_t written = word_acquire(image, 0), words = written < CAPACITY ? written : CAPACITY;
  for (uint32_t at = 1; at < 1 + words; at += RECORD_WORDS)
    out[(*out_count)++] =
        (vyre_mega_record){word_get(image, at), {word_get(image, at + 1), word_get(image, at + 2)}, word_get(image, at + 3)};
  return VYRE_OK;
}
