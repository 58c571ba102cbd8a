/* Growing arrays over an allocator.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_BASE_GROW_H
#define VYRE_BASE_GROW_H

#include "vyre/status.h"

/* In all of these functions the allocator NULL is the C library's heap: its memory may be freed by free, too. */

/* Grows *array, of *capacity elements of `size` bytes, by doubling to `needed` elements or more.  Returns false, and changes
 * nothing, if memory runs out or `needed` exceeds UINT32_MAX.  `array` is the address of the pointer. */
bool vyre_grow(const vyre_allocator *allocator, void *array, uint32_t *capacity, uint64_t needed, size_t size);
void vyre_release(const vyre_allocator *allocator, void *memory, size_t bytes);
/* Zeroed; NULL: no memory. */
void *vyre_take(const vyre_allocator *allocator, size_t bytes);
char *vyre_take_text(const vyre_allocator *allocator, const char *text);
void vyre_release_text(const vyre_allocator *allocator, char *text);

#endif
