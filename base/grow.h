/* Growing arrays over an allocator.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_BASE_GROW_H
#define VYRE_BASE_GROW_H

#include "vyre/status.h"

/* In these functions the allocator NULL is the heap of the C library, whose memory `free` may free. */

/* Grows *array, of *capacity elements of `size` bytes, by doubling to `needed` elements or more.  Returns false, and changes
 * nothing, if memory runs out or `needed` exceeds UINT32_MAX.  `array` is the address of the pointer. */
bool vyre_grow(const vyre_allocator *allocator, void *array, uint32_t *capacity, uint64_t needed, size_t size);
void vyre_release(const vyre_allocator *allocator, void *memory, size_t bytes);
/* Returns zeroed memory, or NULL if memory runs out. */
void *vyre_allocate(const vyre_allocator *allocator, size_t bytes);
char *vyre_copy_text(const vyre_allocator *allocator, const char *text);
void vyre_release_text(const vyre_allocator *allocator, char *text);

#endif
