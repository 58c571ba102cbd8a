/* Splits a program with grid barriers at these barriers into segments: programs without grid barriers. The segments run one after
 * the other, each over the same grid, as steps of one sequence (target.h). This is for targets without VYRE_TARGET_GRID_BARRIERS,
 * and for grids that are not resident at once.
 *
 * The end of a step provides the barrier's ordering. State that is live across a barrier is kept in a storage buffer of the
 * segments. It consists of values (never recomputed from memory, which may have changed), variables, private memory, workgroup
 * memory, and whether the invocation has returned or reached a trap. Such an invocation does nothing in later segments. Constants,
 * specialization constants, built-ins, paths, and integers computed only from these are recomputed.
 *
 * A barrier can be split if every invocation that has not returned reaches it exactly once. So it must be at the top of the
 * program, or in blocks there that control does not leave before it.
 *
 * In a relaxed program, keeping a value counts as storing it, which does not make an undefined value defined. So optimize first,
 * then split.
 *
 * Threads and ownership: as for modules (ir.h).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_SPLIT_H
#define VYRE_SPLIT_H

#include "vyre/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vyre_segments {
  vyre_module **modules; /* one for each segment, in order: sealed, with one program of the same name and buffers */
  uint32_t count;
  /* The size of the kept state: words for each invocation and for each workgroup. If either is not 0, every segment has an
   * additional buffer of u32[] with this set and binding. Its initial contents do not matter. Only the segments may write it before
   * the last one is done. */
  uint32_t invocation_words, group_words;
  uint32_t set, binding;
  vyre_allocator allocator;
} vyre_segments;

/* Returns the number of grid barriers in the program. O(the program's rows). */
uint32_t vyre_grid_barriers(const vyre_module *module, vyre_row program);
/* Splits a program of a sealed, verified module. Returns an INPUT error with the row's name and a "Fix:" for a barrier that cannot
 * be split, and for state that cannot be kept. That is images and pointers, memory whose length is not literal, `aliased` workgroup
 * memory, and more than 2^31 words. A program without grid barriers becomes one segment. O(segments * rows of the module). */
VYRE_MUST_USE vyre_status vyre_split_grid(const vyre_module *module, vyre_row program, vyre_segments *out);
/* Computes the bytes of the buffer for the workgroups and their size, or 0 if they need no buffer. Returns false for more than 2^32
 * words, which the segments cannot address. */
bool vyre_segments_bytes(const vyre_segments *segments, const uint32_t groups[3], const uint32_t workgroup[3], uint64_t *out);
void vyre_segments_free(vyre_segments *segments);

#ifdef __cplusplus
}
#endif
#endif
