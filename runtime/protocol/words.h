/* Words of an image, which a kernel or another thread may access concurrently.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_RUNTIME_WORDS_H
#define VYRE_RUNTIME_WORDS_H

#include "vyre/megakernel.h"

#include <endian.h>
#include <inttypes.h>

/* Words of a ring slot in which LOAD_MISS keeps its state: the remaining rounds, and its slot in the IO queue plus 1. */
enum { SLOT_PATIENCE = 13, SLOT_REQUEST = 14 };
/* Words of an IO slot. */
enum { IO_OP, IO_SOURCE, IO_DESTINATION, IO_LOW, IO_HIGH, IO_BYTES, IO_STATE, IO_TAG, IO_WORDS };
/* The buffer of staged items: the index of the first mark, and values of marks. */
enum { STAGE_MARKS = 2, STAGED = 1, STAGE_ENDED = 2 };
/* Logarithms of the number of words of a slot. */
enum { SLOT_SHIFT = 4, IO_SHIFT = 3 };
_Static_assert(VYRE_MEGA_SLOT_WORDS == 1 << SLOT_SHIFT && VYRE_MEGA_IO_WORDS == 1 << IO_SHIFT &&
                   (int)IO_WORDS == (int)VYRE_MEGA_IO_WORDS,
               "the kernel multiplies slots by shifts");

static inline uint32_t
word_get(const void *image, size_t word)
{
  return le32toh(__atomic_load_n((const uint32_t *)image + word, __ATOMIC_RELAXED));
}

static inline void
word_put(void *image, size_t word, uint32_t value)
{
  __atomic_store_n((uint32_t *)image + word, htole32(value), __ATOMIC_RELAXED);
}

static inline uint32_t
word_acquire(const void *image, size_t word)
{
  return le32toh(__atomic_load_n((const uint32_t *)image + word, __ATOMIC_ACQUIRE));
}

static inline void
word_release(void *image, size_t word, uint32_t value)
{
  __atomic_store_n((uint32_t *)image + word, htole32(value), __ATOMIC_RELEASE);
}

static inline bool
word_swap(void *image, size_t word, uint32_t expected, uint32_t value)
{
  uint32_t old = htole32(expected);
  return __atomic_compare_exchange_n((uint32_t *)image + word, &old, htole32(value), false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/* Refuses an image that is not whole, aligned words. */
static inline vyre_status
words_check(const void *image, size_t size, const char *what)
{
  if (!image)
    return VYRE_ERROR(VYRE_CODE_INPUT, "megakernel: there is no %s\nFix: pass an image of its encoder", what);
  if (size % 4)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "megakernel: the %s has %zu bytes, which is not a multiple of 4\n"
                      "Fix: use an image of whole words",
                      what, size);
  if ((uintptr_t)image % 4)
    return VYRE_ERROR(VYRE_CODE_INPUT, "megakernel: the %s is not aligned to 4 bytes\nFix: use memory aligned to 4 bytes", what);
  return VYRE_OK;
}

/* Refuses an image that does not have the size. */
static inline vyre_status
words_check_just(const void *image, size_t size, size_t wanted, const char *what)
{
  VYRE_TRY(words_check(image, size, what));
  if (wanted == 0 || size != wanted)
    return VYRE_ERROR(VYRE_CODE_INPUT, "megakernel: the %s has %zu bytes, but needs %zu\nFix: use the size of its size function",
                      what, size, wanted);
  return VYRE_OK;
}

#endif
