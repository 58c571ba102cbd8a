/* Random shapes of missing objects: descriptors with one buffer or none, unset memory, lanes and elements beyond the end.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "random_program.h"

#include "internal.h"

/* Accesses near locations of two elements of an array of descriptors, which may share memory. */
void
access_two_elements(generator *g)
{
  const uint32_t first = below(g, RANDOM_BLOCKS + 1), second = below(g, RANDOM_BLOCKS + 1), at = below(g, RANDOM_WORDS - 2);
  const vyre_row p = own_block_word(g, first, at);
  vyre_build_store(&g->b, p, value(g, U32), 0);
  const vyre_row q = own_block_word(g, second, at + below(g, 2));
  if (below(g, 2))
    store_out(g, vyre_build_load(&g->b, q, 0));
  const vyre_row control = below(g, 3) ? VYRE_NONE : begin_for(g, below(g, 3));
  if (below(g, 2))
    vyre_build_store(&g->b, q, value(g, U32), 0);
  if (below(g, 2))
    store_out(g, vyre_build_load(&g->b, p, 0));
  if (below(g, 2))
    vyre_build_store(&g->b, p, value(g, U32), 0);
  if (control.id)
    vyre_builder_leave(&g->b, control);
  if (below(g, 2))
    store_out(g, vyre_build_load(&g->b, q, 0));
}

/* Returns 0 or 1, which no pass can know: a word of `in` (run.c). */
static vyre_row
few_iterations(generator *g)
{
  return vyre_build_load(&g->b, vyre_build_at_literal(&g->b, g->in, below(g, 6) == 0), 0);
}

/* Reads a buffer that may be unbound, or its length. */
static void
read_descriptor(generator *g)
{
  switch (below(g, 5)) {
  case 0:
    store_out(g, vyre_build_load(&g->b, vyre_build_at_literal(&g->b, g->uniform, 0), 0));
    break;
  case 1:
    store_out(g, vyre_build_load(&g->b, own_block_word(g, below(g, RANDOM_BLOCKS), 1), 0));
    break;
  case 2: {
    const vyre_row block = vyre_build_at_literal(&g->b, g->blocks, below(g, RANDOM_BLOCKS));
    store_out(g, row(g, VYRE_OP_length, U32, 0, vyre_build_at_literal(&g->b, block, 0), VYRE_NONE, VYRE_NONE));
    break;
  }
  case 3:
    store_out(g, vyre_build_load(&g->b, path(g, vyre_build_at_literal(&g->b, g->lone, 1), u32(g, below(g, 2))), 0));
    break;
  default:
    store_out(g, vyre_build_load(&g->b, vyre_build_at_literal(&g->b, g->lone, 0), 0));
    break;
  }
}

/* Uses a descriptor in a loop without iterations, after a jump, or in an arm, and perhaps before or in the loop. */
void
use_seldom_bound(generator *g)
{
  const vyre_row n = few_iterations(g);
  const uint32_t how = below(g, 3);
  const bool around = below(g, 2); /* the arm is around the loop, too */
  const vyre_row arm = below(g, 2) ? begin_if(g, vyre_build_imm(&g->b, VYRE_OP_ne, n, 0)) : VYRE_NONE;
  if (below(g, 4) == 0)
    read_descriptor(g);
  if (arm.id && !around)
    vyre_builder_leave(&g->b, arm);
  const vyre_row control = how ? begin_for(g, 2) : vyre_build_for(&g->b, u32(g, 0), n, u32(g, 1));
  if (how == 1) {
    const vyre_row leaves = begin_if(g, vyre_build_imm(&g->b, VYRE_OP_eq, n, 0));
    vyre_build_jump(&g->b, below(g, 2) ? VYRE_OP_break : VYRE_OP_continue, VYRE_NONE);
    vyre_builder_leave(&g->b, leaves);
  }
  const vyre_row inner = how == 2 ? vyre_build_for(&g->b, u32(g, 0), n, u32(g, 1)) : VYRE_NONE;
  read_descriptor(g);
  if (below(g, 2))
    read_descriptor(g);
  if (inner.id)
    vyre_builder_leave(&g->b, inner);
  if (how == 2 && below(g, 4) == 0)
    read_descriptor(g);
  vyre_builder_leave(&g->b, control);
  if (arm.id && around)
    vyre_builder_leave(&g->b, arm);
}

/* A loop that may have no iteration loads at an index from workgroup memory that may not be written. */
void
load_never_written(generator *g)
{
  const vyre_row fresh = vyre_build_buffer(&g->b, vyre_type_array(g->m, U32, 4, VYRE_NONE, 0), VYRE_SPACE_WORKGROUP, 0, 0, 0);
  const vyre_row words = private_words(g), n = few_iterations(g),
                 own = row(g, VYRE_OP_lindex, U32, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
  const vyre_row place = path(g, fresh, vyre_build_imm(&g->b, VYRE_OP_and, own, 3));
  if (below(g, 3) == 0)
    vyre_build_store(&g->b, place, value(g, U32), 0);
  const vyre_row index = vyre_build_load(&g->b, place, 0);
  const vyre_row control = vyre_build_for(&g->b, u32(g, 0), n, u32(g, 1));
  store_out(g, vyre_build_load(&g->b, path(g, words, vyre_build_imm(&g->b, VYRE_OP_and, index, 3)), 0));
  vyre_builder_leave(&g->b, control);
  if (below(g, 2))
    vyre_build_store(&g->b, place, value(g, U32), 0);
}

/* Uses an index that a condition makes known and out of bounds, in an arm that never runs, which no pass can know. */
void
index_beyond(generator *g)
{
  const uint32_t lanes = 2 + below(g, 3), far = lanes + below(g, 3) * 36;
  const vyre_row index = vyre_build_load(&g->b, vyre_build_at_literal(&g->b, g->in, 0), 0), words = private_words(g);
  vyre_row parts[4];
  for (uint32_t i = 0; i < lanes; i++)
    parts[i] = value(g, U32);
  const vyre_row vector = below(g, 4) ? vyre_build_join(&g->b, parts, lanes) : value(g, VYRE_TYPE(VYRE_U32, lanes));
  const vyre_row control = begin_if(g, vyre_build_imm(&g->b, VYRE_OP_eq, index, far));
  switch (below(g, 5)) {
  case 0:
    store_out(g, row(g, VYRE_OP_insert, VYRE_TYPE(VYRE_U32, lanes), 0, vector, value(g, U32), index));
    break;
  case 1:
    store_out(g, vyre_build_load(&g->b, path(g, words, index), 0));
    break;
  case 2:
    store_out(g, vyre_build_load(&g->b, path(g, path(g, vyre_build_at_literal(&g->b, g->uniform, 1), u32(g, 0)), index), 0));
    break;
  case 3:
    store_out(g, vyre_build_binary(&g->b, VYRE_OP_shl, value(g, U32), index));
    break;
  default:
    store_out(g, row(g, VYRE_OP_lane, U32, 0, vector, index, VYRE_NONE));
    break;
  }
  begin_else(g, control);
  store_out(g, vyre_build_lane(&g->b, vector, below(g, lanes)));
  vyre_builder_leave(&g->b, control);
}
