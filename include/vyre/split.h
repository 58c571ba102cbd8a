/* A program whose whole grid meets at barriers, cut there into segments: programs without such barriers, which run one after the
 * other, each over the same grid, as steps of one sequence (target.h).  For targets without VYRE_TARGET_GRID_BARRIERS, and for
 * grids that are not resident at once.
 *
 * The end of a step orders all that the barrier did.  What an invocation had before a barrier and uses after it is kept in a
 * storage buffer of the segments' own: values (never computed again from memory, which may hold something newer by then),
 * variables, private memory; of a workgroup its memory; and whether the invocation has returned, or come to a trap, after which it
 * takes no part in later segments.  Constants, specialization constants, built-ins, paths, and integers that are made of these
 * alone are made anew.
 *
 * A barrier can be cut at if every invocation that has not returned comes to it once: at the top of the program, or in blocks
 * there that nothing before it leaves.
 *
 * In a relaxed program a kept value counts as stored: one that is undefined is not defined by that, so optimize first, then split.
 *
 * Threads and ownership: as of modules (ir.h).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_SPLIT_H
#define VYRE_SPLIT_H

#include "vyre/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vyre_segments {
  vyre_module **modules; /* one a segment, in their order: sealed, of one program, with the name and the buffers of the whole */
  uint32_t count;
  /* What one dispatch keeps: words for each invocation and for each workgroup.  If either is not 0, every segment has one buffer
   * more, of u32[], bound here; what it holds at first does not matter, and nobody else writes to
   * it before the last segment is done. */
  uint32_t invocation_words, group_words;
  uint32_t set, binding;
  vyre_allocator allocator;
} vyre_segments;

/* How many barriers for the whole grid the program has, wherever they are.  O(its rows). */
uint32_t vyre_grid_barriers(const vyre_module *module, vyre_row program);
/* The module is sealed and verified.  INPUT, with the row's name and a "Fix:", for a barrier that cannot be cut at, and for what
 * cannot be kept: images and pointers, memory whose length is not literal, workgroup memory that is `aliased`, more than 2^31
 * words.  A program without
 * such barriers is one segment.  O(segments * rows of the module). */
VYRE_MUST_USE vyre_status vyre_split_grid(const vyre_module *module, vyre_row program, vyre_segments *out);
/* Bytes that the buffer needs for so many workgroups of so many invocations; 0: there is none.  False: more than 2^32 words, which
 * the segments cannot reach. */
bool vyre_segments_bytes(const vyre_segments *segments, const uint32_t groups[3], const uint32_t workgroup[3], uint64_t *out);
void vyre_segments_free(vyre_segments *segments);

#ifdef __cplusplus
}
#endif
#endif
