/* Fuzz target: images of the megakernel.  The first byte chooses the kind of buffer, and the other bytes are the image.  A
 * function that fails writes no output.  An accepted image can be read to its end, and writing its parts again gives the same
 * image.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "vyre/megakernel.h"

static void
must(bool holds, const char *what)
{
  if (!holds)
    fuzz_fail("%s", what);
}

static void
try_control(unsigned char *image, size_t size)
{
  vyre_mega_control control;
  vyre_mega_metric metrics[VYRE_MEGA_TABLE];
  uint32_t count, word;
  if (!fuzz_allow(vyre_mega_control_decode(image, size, &control), "decode"))
    return;
  must(vyre_mega_control_size(control.observables) == size, "the size is that of its observables");
  fuzz_require(vyre_mega_metrics(image, size, metrics, &count), "metrics");
  for (uint32_t i = 0; i < count; i++)
    must(control.metrics[metrics[i].op] == metrics[i].count && metrics[i].count, "metrics are those of the table");
  fuzz_require(vyre_mega_control_word(image, size, (uint32_t)(size / 4) - 1, &word), "the last word");
  must(!fuzz_allow(vyre_mega_control_word(image, size, (uint32_t)(size / 4), &word), "one more"), "there is no further word");
  fuzz_allow(vyre_mega_control_validate(image, size, control.partitions[VYRE_MEGA_LEVELS]), "partitions");
}

static void
try_ring(unsigned char *image, size_t size)
{
  uint32_t counts[VYRE_MEGA_STATE__COUNT], sum = 0;
  if (!fuzz_allow(vyre_mega_ring_count(image, size, counts), "count"))
    return;
  const uint32_t slots = (uint32_t)(size / VYRE_MEGA_SLOT_BYTES);
  fuzz_require(vyre_mega_ring_validate(image, size, slots), "what was counted");
  for (uint32_t i = 0; i < VYRE_MEGA_STATE__COUNT; i++)
    sum += counts[i];
  must(sum == slots, "each slot has one state");
  for (uint32_t i = 0; i < slots; i++) {
    vyre_mega_slot slot, again;
    vyre_mega_packed packed[4];
    fuzz_require(vyre_mega_slot_read(image, size, i, &slot), "a slot");
    fuzz_allow(vyre_mega_unpack(slot.item.args, packed, &sum), "unpack");
    unsigned char before[VYRE_MEGA_SLOT_BYTES];
    memcpy(before, image + (size_t)i * sizeof before, sizeof before);
    if (!fuzz_allow(vyre_mega_publish_io(image, size, i, &slot.item), "publish")) {
      must(memcmp(before, image + (size_t)i * sizeof before, sizeof before) == 0, "what was refused is as it was");
      continue;
    }
    fuzz_require(vyre_mega_slot_read(image, size, i, &again), "what was published");
    must(again.state == VYRE_MEGA_PUBLISHED && memcmp(&again.item, &slot.item, sizeof slot.item) == 0, "it is the same item");
  }
}

static void
try_io(unsigned char *image, size_t size)
{
  uint32_t slots[VYRE_MEGA_IO_SLOTS], count;
  int64_t results[VYRE_MEGA_IO_SLOTS];
  bool claimed;
  if (!fuzz_allow(vyre_mega_io_poll(image, size, slots, &count), "poll"))
    return;
  for (uint32_t i = 0; i < count; i++) {
    results[i] = i & 1 ? -(int64_t)i : i;
    fuzz_require(vyre_mega_io_claim(image, size, slots[i], &claimed), "claim");
    must(claimed, "what is PUBLISHED can be claimed");
  }
  fuzz_require(vyre_mega_io_complete(image, size, slots, results, count), "complete");
  for (uint32_t i = 0; i < size / VYRE_MEGA_IO_BYTES; i++) {
    vyre_mega_io io, again;
    fuzz_require(vyre_mega_io_read(image, size, i, &io), "read");
    if (io.state != VYRE_MEGA_EMPTY || !fuzz_allow(vyre_mega_io_publish(image, size, i, &io), "publish"))
      continue;
    fuzz_require(vyre_mega_io_read(image, size, i, &again), "read again");
    again.state = io.state;
    must(memcmp(&io, &again, sizeof io) == 0, "it is the same request");
  }
}

static void
try_debug(const unsigned char *image, size_t size)
{
  vyre_mega_record records[VYRE_MEGA_DEBUG_RECORDS];
  uint32_t count;
  if (fuzz_allow(vyre_mega_debug_decode(image, size, records, &count), "decode"))
    must(count <= VYRE_MEGA_DEBUG_RECORDS, "there are no more records than room");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  if (size < 1)
    return 0;
  unsigned char *image = malloc(size - 1 ? size - 1 : 1); /* aligned, with no byte beyond the image */
  if (!image)
    return 0;
  memcpy(image, data + 1, size - 1);
  if (data[0] % 4 == 0)
    try_control(image, size - 1);
  else if (data[0] % 4 == 1)
    try_ring(image, size - 1);
  else if (data[0] % 4 == 2)
    try_io(image, size - 1);
  else
    try_debug(image, size - 1);
  free(image);
  return 0;
}

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t capacity, unsigned seed)
{
  (void)seed;
  return LLVMFuzzerMutate(data, size, capacity);
}
