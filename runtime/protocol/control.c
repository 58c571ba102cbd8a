/* The control buffer: switches, tables by tenant, op code and priority, and results of items.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "words.h"

#include <string.h>

static vyre_status
check(const void *image, size_t size)
{
  VYRE_TRY(words_check(image, size, "control image"));
  if (size < VYRE_MEGA_CONTROL_WORDS * 4 || size > vyre_mega_control_size(VYRE_MEGA_MOST_OBSERVABLES))
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "megakernel: a control image has %zu bytes, but needs %d to %zu\n"
                      "Fix: use an image of vyre_mega_control_encode",
                      size, VYRE_MEGA_CONTROL_WORDS * 4, vyre_mega_control_size(VYRE_MEGA_MOST_OBSERVABLES));
  return VYRE_OK;
}

size_t
vyre_mega_control_size(uint32_t observables)
{
  return observables > VYRE_MEGA_MOST_OBSERVABLES ? 0 : ((size_t)VYRE_MEGA_CONTROL_WORDS + observables) * 4;
}

/* Gives each priority a fifth of the slots, and NORMAL the remainder too. */
static void
put_partitions(void *image, uint32_t slots)
{
  const uint32_t part = slots / VYRE_MEGA_LEVELS, rest = slots % VYRE_MEGA_LEVELS;
  for (uint32_t level = 0, at = 0; level <= VYRE_MEGA_LEVELS; level++) {
    word_put(image, VYRE_MEGA_PARTITIONS + level, at);
    at += part + (level == VYRE_MEGA_NORMAL ? rest : 0);
  }
}

vyre_status
vyre_mega_control_encode(const vyre_mega_control_desc *desc, void *image, size_t size)
{
  VYRE_TRY(words_check_just(image, size, vyre_mega_control_size(desc->observables), "control image"));
  if (desc->slots > VYRE_MEGA_MOST_SLOTS)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "megakernel: %" PRIu32 " slots, but a ring has at most %d\n"
                      "Fix: use fewer slots",
                      desc->slots, VYRE_MEGA_MOST_SLOTS);
  memset(image, 0, size);
  word_put(image, VYRE_MEGA_SHUTDOWN, desc->is_shut_down);
  word_put(image, VYRE_MEGA_TENANT_BASE, VYRE_MEGA_MASKS);
  for (uint32_t t = 0; t < desc->tenants && t < VYRE_MEGA_TENANTS; t++)
    word_put(image, VYRE_MEGA_MASKS + t, UINT32_MAX);
  for (uint32_t t = 0; t < desc->tenants && t < VYRE_MEGA_TABLE; t++)
    word_put(image, VYRE_MEGA_QUOTAS + t, VYRE_MEGA_QUOTA);
  put_partitions(image, desc->slots);
  return VYRE_OK;
}

static void
get_words(const void *image, uint32_t first, uint32_t count, uint32_t *out)
{
  for (uint32_t i = 0; i < count; i++)
    out[i] = word_get(image, first + i);
}

vyre_status
vyre_mega_control_decode(const void *image, size_t size, vyre_mega_control *out)
{
  memset(out, 0, sizeof *out);
  VYRE_TRY(vyre_mega_control_validate(image, size, 0));
  *out = (vyre_mega_control){
      .is_shut_down = word_get(image, VYRE_MEGA_SHUTDOWN) != 0,
      .done = word_get(image, VYRE_MEGA_DONE_COUNT),
      .faults = word_get(image, VYRE_MEGA_FAULT_COUNT),
      .epoch = word_get(image, VYRE_MEGA_EPOCH),
      .debug_lost = word_get(image, VYRE_MEGA_DEBUG_LOST),
      .starvation = word_get(image, VYRE_MEGA_STARVATION),
      .slice = word_get(image, VYRE_MEGA_SLICE),
      .doorbell = word_get(image, VYRE_MEGA_DOORBELL),
      .observables = (uint32_t)(size / 4) - VYRE_MEGA_CONTROL_WORDS,
  };
  get_words(image, VYRE_MEGA_MASKS, VYRE_MEGA_TENANTS, out->masks);
  get_words(image, VYRE_MEGA_QUOTAS, VYRE_MEGA_TABLE, out->quotas);
  get_words(image, VYRE_MEGA_SERVED, VYRE_MEGA_TABLE, out->served);
  get_words(image, VYRE_MEGA_METRICS, VYRE_MEGA_TABLE, out->metrics);
  get_words(image, VYRE_MEGA_PARTITIONS, VYRE_MEGA_LEVELS + 1, out->partitions);
  get_words(image, VYRE_MEGA_PRIORITIES, VYRE_MEGA_LEVELS, out->priorities);
  return VYRE_OK;
}

static vyre_status
check_word(const void *image, size_t size, uint64_t word)
{
  VYRE_TRY(check(image, size));
  if (word >= size / 4)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "megakernel: a control image of %zu words has no word %" PRIu64 "\n"
                      "Fix: encode more observables",
                      size / 4, word);
  return VYRE_OK;
}

vyre_status
vyre_mega_control_word(const void *image, size_t size, uint32_t word, uint32_t *out)
{
  *out = 0;
  VYRE_TRY(check_word(image, size, word));
  *out = word_acquire(image, word);
  return VYRE_OK;
}

vyre_status
vyre_mega_observable(const void *image, size_t size, uint32_t number, uint32_t *out)
{
  *out = 0;
  VYRE_TRY(check_word(image, size, (uint64_t)VYRE_MEGA_OBSERVABLES + number));
  *out = word_acquire(image, (size_t)VYRE_MEGA_OBSERVABLES + number);
  return VYRE_OK;
}

vyre_status
vyre_mega_metrics(const void *image, size_t size, vyre_mega_metric *out, uint32_t *out_count)
{
  *out_count = 0;
  VYRE_TRY(check(image, size));
  for (uint32_t op = 0; op < VYRE_MEGA_TABLE; op++) {
    const uint32_t count = word_get(image, VYRE_MEGA_METRICS + op);
    if (count)
      out[(*out_count)++] = (vyre_mega_metric){op, count};
  }
  return VYRE_OK;
}

vyre_status
vyre_mega_control_validate(const void *image, size_t size, uint32_t slots)
{
  VYRE_TRY(check(image, size));
  if (word_get(image, VYRE_MEGA_TENANT_BASE) != VYRE_MEGA_MASKS)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "megakernel: control word %d has %" PRIu32 " as the first word of the tenants' masks, but that is %d\n"
                      "Fix: use an image of vyre_mega_control_encode",
                      VYRE_MEGA_TENANT_BASE, word_get(image, VYRE_MEGA_TENANT_BASE), VYRE_MEGA_MASKS);
  if (slots == 0)
    return VYRE_OK;
  uint32_t at = 0;
  for (uint32_t level = 0; level <= VYRE_MEGA_LEVELS; level++) {
    const uint32_t next = word_get(image, VYRE_MEGA_PARTITIONS + level);
    const bool is_end = level == 0 || level == VYRE_MEGA_LEVELS;
    if (next < at || (is_end && next != (level ? slots : 0)))
      return VYRE_ERROR(VYRE_CODE_INPUT,
                        "megakernel: control word %" PRIu32 " is %" PRIu32 ", so the priorities' partitions do not cover %" PRIu32
                        " slots\n"
                        "Fix: begin the first partition at 0, each other at the previous one's end, and end the last at the slots",
                        VYRE_MEGA_PARTITIONS + level, next, slots);
    at = next;
  }
  return VYRE_OK;
}

vyre_status
vyre_mega_control_set(void *image, size_t size, uint32_t word, uint32_t value)
{
  VYRE_TRY(check_word(image, size, word));
  word_release(image, word, value);
  return VYRE_OK;
}
