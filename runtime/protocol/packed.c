/* Packed slots: several operations in the payload of one slot.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "words.h"

#include <string.h>

/* Returns the number of words that the counts, the op codes and the offsets occupy. */
static uint32_t
head_words(uint32_t count)
{
  return (2 + 2 * count + 3) / 4;
}

static uint32_t
byte_of(const uint32_t *payload, uint32_t at)
{
  return payload[at / 4] >> at % 4 * 8 & 0xff;
}

static void
put_byte(uint32_t *payload, uint32_t at, uint32_t value)
{
  payload[at / 4] |= value << at % 4 * 8;
}

vyre_status
vyre_mega_pack(const vyre_mega_packed *operations, uint32_t count, uint32_t out[VYRE_MEGA_ARGS])
{
  memset(out, 0, VYRE_MEGA_ARGS * sizeof *out);
  if (count == 0 || count > VYRE_MEGA_MOST_PACKED)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "megakernel: %" PRIu32 " packed operations, but a slot has room for 1 to %d\n"
                      "Fix: use several slots",
                      count, VYRE_MEGA_MOST_PACKED);
  for (uint32_t i = 0; i < count; i++)
    if (operations[i].op > 255)
      return VYRE_ERROR(VYRE_CODE_INPUT,
                        "megakernel: packed operation %" PRIu32 " has the op code 0x%" PRIx32 "\nFix: use a code below 256", i,
                        operations[i].op);
  const uint32_t head = head_words(count);
  put_byte(out, 0, count);
  put_byte(out, 1, 3 * count);
  for (uint32_t i = 0; i < count; i++) {
    put_byte(out, 2 + 2 * i, operations[i].op);
    put_byte(out, 3 + 2 * i, 3 * i);
    memcpy(out + head + 3 * (size_t)i, operations[i].args, sizeof operations[i].args);
  }
  return VYRE_OK;
}

vyre_status
vyre_mega_unpack(const uint32_t payload[VYRE_MEGA_ARGS], vyre_mega_packed out[4], uint32_t *out_count)
{
  const uint32_t count = byte_of(payload, 0), head = head_words(count);
  *out_count = 0;
  if (count == 0 || count > 4 || head + byte_of(payload, 1) > VYRE_MEGA_ARGS)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "megakernel: a packed slot has %" PRIu32 " operations and %" PRIu32 " words of arguments, which do not fit\n"
                      "Fix: use 1 to 4 operations, and 12 words in all",
                      count, byte_of(payload, 1));
  for (uint32_t i = 0; i < count; i++)
    if (head + byte_of(payload, 3 + 2 * i) + 3 > VYRE_MEGA_ARGS)
      return VYRE_ERROR(VYRE_CODE_INPUT,
                        "megakernel: the arguments of packed operation %" PRIu32 " end beyond the slot\n"
                        "Fix: use an earlier word",
                        i);
  for (uint32_t i = 0; i < count; i++) {
    out[i].op = byte_of(payload, 2 + 2 * i);
    memcpy(out[i].args, payload + head + byte_of(payload, 3 + 2 * i), sizeof out[i].args);
  }
  *out_count = count;
  return VYRE_OK;
}
