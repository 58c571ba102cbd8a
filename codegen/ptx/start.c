/* The start of a kernel: its parameters, the block's workgroup, and the program's own memory.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include <inttypes.h>

static bool
is_used(const gen *g, vyre_opcode op)
{
  for (uint32_t row = g->program + 1; row < g->end; row++)
    if (op_of(g, row) == op && g->w.uses[row - g->program])
      return true;
  return false;
}

/* ---- the block's workgroup -------------------------------------------------------------------------------------------------- */

static reg
block_number(gen *g)
{
  const reg z = MAKE32(g, "mov.u32", special(CTAID_Z)), y = MAKE32(g, "mov.u32", special(CTAID_Y)),
            x = MAKE32(g, "mov.u32", special(CTAID_X));
  const reg height = MAKE32(g, "mov.u32", special(NCTAID_Y)), width = MAKE32(g, "mov.u32", special(NCTAID_X));
  const reg rows = MAKE64(g, "mad.wide.u32", z, height, MAKE64(g, "cvt.u64.u32", y));
  const reg wide_width = MAKE64(g, "cvt.u64.u32", width);
  return MAKE64(g, "mad.lo.u64", rows, wide_width, MAKE64(g, "cvt.u64.u32", x));
}

/* Computes the workgroup's position in the grid from its number.  One-dimensional grids, the most common, need no division. */
static void
find_workgroup(gen *g, reg number)
{
  const uint32_t line = pgen_new_label(g);
  pgen_move(g, g->wid[0], MAKE32(g, "cvt.u32.u64", number));
  pgen_move(g, g->wid[1], lit(0));
  pgen_move(g, g->wid[2], lit(0));
  pgen_branch_if(g, PRED(g, "setp.eq.u32", MAKE32(g, "mul.lo.u32", g->groups[1], g->groups[2]), lit(1)), line);
  const reg width = MAKE64(g, "cvt.u64.u32", g->groups[0]), height = MAKE64(g, "cvt.u64.u32", g->groups[1]);
  const reg row = MAKE64(g, "div.u64", number, width), z = MAKE64(g, "div.u64", row, height);
  pgen_move(g, g->wid[0], MAKE32(g, "cvt.u32.u64", MAKE64(g, "rem.u64", number, width)));
  pgen_move(g, g->wid[1], MAKE32(g, "cvt.u32.u64", MAKE64(g, "rem.u64", row, height)));
  pgen_move(g, g->wid[2], MAKE32(g, "cvt.u32.u64", z));
  pgen_label(g, line);
}

static void
put_exit_if(gen *g, reg condition)
{
  pgen_when(g, condition, false);
  pgen_code(g, "exit", NULL, 0);
}

/* Exits first if the dispatch was stopped, or the block is beyond the last workgroup. */
static void
put_dispatch(gen *g)
{
  const uint32_t dispatched = pgen_new_label(g), begun = pgen_new_label(g);
  const bool wants_wid = is_used(g, VYRE_OP_wid) || is_used(g, VYRE_OP_gid), wants_groups = wants_wid || is_used(g, VYRE_OP_groups);
  const reg parameter = pgen_new(g, REG_64), stops = pgen_new(g, REG_32), first = pgen_new(g, REG_64), count = pgen_new(g, REG_64);
  pgen_put(g, "\tld.param.u64 %%d%u, [dispatch];\n", parameter.number);
  g->dispatch = MAKE64(g, "cvta.to.global.u64", parameter);
  pgen_branch_if(g, PRED(g, "setp.ne.u64", parameter, lit(0)), dispatched);
  for (uint32_t k = 0; k < 3; k++) {
    g->wid[k] = wants_wid ? MAKE32(g, "mov.u32", special(CTAID_X + k)) : (reg){0};
    g->groups[k] = wants_groups ? MAKE32(g, "mov.u32", special(NCTAID_X + k)) : (reg){0};
  }
  pgen_branch(g, begun);
  pgen_label(g, dispatched);
  const unsigned d = g->dispatch.number;
  pgen_put(g, "\tld.global.u32 %%r%u, [%%d%u+12];\n", stops.number, d);
  put_exit_if(g, PRED(g, "setp.ne.u32", stops, lit(0)));
  pgen_put(g, "\tld.global.u64 %%d%u, [%%d%u+24];\n", count.number, d);
  const reg block = block_number(g);
  put_exit_if(g, PRED(g, "setp.ge.u64", block, count));
  for (uint32_t k = 0; k < 3 && wants_groups; k++)
    pgen_put(g, "\tld.global.u32 %%r%u, [%%d%u+%u];\n", g->groups[k].number, d, 4 * k);
  if (wants_wid) {
    pgen_put(g, "\tld.global.u64 %%d%u, [%%d%u+16];\n", first.number, d);
    find_workgroup(g, MAKE64(g, "add.u64", first, block));
  }
  pgen_label(g, begun);
}

/* ---- the invocation
 * --------------------------------------------------------------------------------------------------------- */

static reg
local_of(gen *g, uint32_t k)
{
  return g->local[k] == 1 ? lit(0) : g->lid[k];
}

reg
pgen_lindex(gen *g)
{
  return g->lindex;
}

/* Defines the invocation's indices once at the start, because registers of a branch do not dominate later code. */
static void
put_invocation(gen *g)
{
  for (uint32_t k = 0; k < 3; k++)
    g->lid[k] = g->local[k] > 1 ? MAKE32(g, "mov.u32", special(TID_X + k)) : (reg){0};
  g->lindex = pgen_in_register(g, REG_32, local_of(g, 0));
  for (uint32_t k = 1, inner = g->local[0]; k < 3; inner *= g->local[k++])
    if (g->local[k] > 1)
      g->lindex = MAKE32(g, "mad.lo.u32", g->lid[k], lit(inner), g->lindex);
}

/* Returns the mask of the lanes below or above the own lane. */
static reg
mask_of(gen *g, vyre_opcode op)
{
  const bool upwards = op == VYRE_OP_subgroup_ge_mask || op == VYRE_OP_subgroup_gt_mask;
  const bool inclusive = op == VYRE_OP_subgroup_ge_mask || op == VYRE_OP_subgroup_le_mask;
  const reg lane = MAKE32(g, "and.b32", g->lindex, lit(31));
  if (op == VYRE_OP_subgroup_eq_mask)
    return MAKE32(g, "shl.b32", lit(1), lane);
  if (upwards) /* a shift by 32 yields 0 in PTX */
    return MAKE32(g, "shl.b32", lit(0xffffffffu), inclusive ? lane : MAKE32(g, "add.u32", lane, lit(1)));
  return MAKE32(g, "not.b32", MAKE32(g, "shl.b32", lit(0xffffffffu), inclusive ? MAKE32(g, "add.u32", lane, lit(1)) : lane));
}

void
pgen_invocation(gen *g, uint32_t row)
{
  const vyre_opcode op = op_of(g, row);
  for (uint32_t k = 0; k < lanes_of(g, row); k++) {
    reg r = lit(0);
    if (op == VYRE_OP_gid)
      r = MAKE32(g, "mad.lo.u32", g->wid[k], lit(g->local[k]), local_of(g, k));
    else if (op == VYRE_OP_lid)
      r = local_of(g, k);
    else if (op == VYRE_OP_wid)
      r = g->wid[k];
    else if (op == VYRE_OP_groups)
      r = g->groups[k];
    else if (op == VYRE_OP_lindex)
      r = g->lindex;
    else if (op == VYRE_OP_subgroup_lane)
      r = MAKE32(g, "and.b32", g->lindex, lit(31));
    else if (op == VYRE_OP_subgroup_id)
      r = MAKE32(g, "shr.u32", g->lindex, lit(5));
    else if (op == VYRE_OP_subgroup_size || op == VYRE_OP_subgroups)
      r = lit(op == VYRE_OP_subgroup_size ? 32 : (g->count + 31) / 32);
    else if (k == 0)
      r = mask_of(g, op);
    pgen_define(g, row, k, pgen_in_register(g, REG_32, r));
  }
}

/* ---- memory of the program's own -------------------------------------------------------------------------------------------- */

static void
place_shared(gen *g)
{
  bool overlaid = false;
  uint64_t overlay = 0;
  for (uint32_t row = g->v->first[g->program]; row; row = g->v->next[row]) {
    if (!code_is_in(&g->w, row, VYRE_SPACE_WORKGROUP))
      continue;
    const bool shares = code_is_overlaid(&g->w, row);
    if (shares && overlaid) {
      g->offsets[row - g->program] = (uint32_t)overlay;
      continue;
    }
    const uint64_t begin = (g->shared_bytes + 15) & ~UINT64_C(15);
    overlay = shares ? begin : overlay;
    overlaid = overlaid || shares;
    g->offsets[row - g->program] = begin < UINT32_MAX ? (uint32_t)begin : UINT32_MAX;
    g->shared_bytes = begin + code_buffer_size(&g->w, row);
  }
  g->shared_bytes = (g->shared_bytes + 3) & ~UINT64_C(3);
}

/* Writes zero words, `step` bytes apart, from `begin` on. */
static void
put_zeros(gen *g, const char *space, reg base, reg begin, uint64_t bytes, uint32_t step)
{
  const uint32_t again = pgen_new_label(g), done = pgen_new_label(g);
  const reg at = pgen_copy(g, REG_32, begin), zero = pgen_copy(g, REG_32, lit(0));
  pgen_label(g, again);
  pgen_branch_if(g, PRED(g, "setp.ge.u32", at, lit(bytes)), done);
  const reg here = MAKE64(g, "add.u64", base, MAKE64(g, "cvt.u64.u32", at));
  pgen_put(g, "\tst.%s.b32 [%%d%u], %%r%u;\n", space, here.number, zero.number);
  CODE(g, "add.u32", at, at, lit(step));
  pgen_branch(g, again);
  pgen_label(g, done);
}

/* Clears shared memory, unless the program is relaxed and not robust.  Then it is cleared only if a buffer has a zero
 * initializer. */
static void
clear_shared(gen *g)
{
  bool any = (g->strict || g->options->is_robust) && g->shared_bytes;
  for (uint32_t row = g->v->first[g->program]; row; row = g->v->next[row])
    any = any || (code_is_in(&g->w, row, VYRE_SPACE_WORKGROUP) && code_has_image(&g->w, row));
  if (!any || g->shared_bytes > VYRE_PTX_SHARED)
    return;
  const reg base = pgen_new(g, REG_64);
  pgen_put(g, "\tmov.b64 %%d%u, shared_memory;\n", base.number);
  put_zeros(g, "shared", base, MAKE32(g, "shl.b32", g->lindex, lit(2)), g->shared_bytes, 4 * g->count);
  pgen_barrier_of_workgroup(g);
}

/* ---- tables ----------------------------------------------------------------------------------------------------------------- */

typedef struct image {
  gen *g;
  code_image words;
  uint64_t written; /* bytes; UINT64_MAX: the image is stored to `base` instead */
  reg base;
} image;

static void
put_bytes(gen *g, image *t, uint64_t bits, uint32_t bytes)
{
  for (uint32_t k = 0; k < bytes; k++, t->written++)
    pgen_put(g, t->written ? t->written % 32 ? ",%u" : ",\n\t%u" : "%u", (unsigned)(bits >> (8 * k)) & 255u);
}

static void
put_scalar(void *user, uint64_t offset, vyre_kind kind, uint64_t bits)
{
  image *t = user;
  gen *g = t->g;
  if (t->written == UINT64_MAX) {
    if (bits)
      pgen_store_scalar(g, "st", kind == VYRE_BOOL ? VYRE_U32 : kind, (address){t->base, "local", offset},
                        pgen_literal(g, kind == VYRE_BOOL ? VYRE_U32 : kind, bits), (reg){0});
    return;
  }
  while (t->written < offset)
    put_bytes(g, t, 0, 1);
  put_bytes(g, t, bits, vyre_kind_bytes(kind));
}

static void
put_table(gen *g, uint32_t buffer)
{
  vyre_bytes *out = g->w.out;
  const uint64_t size = code_buffer_size(&g->w, buffer);
  image t = {.g = g, .words = code_image_of(&g->w, buffer)};
  g->w.out = &g->tables;
  pgen_put(g, ".global .align 16 .b8 %s$t%u[%" PRIu64 "] = {", g->kernel, buffer - g->program, size ? size : 1);
  code_image_walk(&g->w, &t.words, g->v->imm[buffer], put_scalar, &t);
  pgen_put(g, t.written ? "};\n" : "0};\n");
  g->w.out = out;
}

static void
clear_private(gen *g, uint32_t buffer)
{
  const uint64_t size = code_buffer_size(&g->w, buffer);
  image t = {.g = g, .words = code_image_of(&g->w, buffer), .written = UINT64_MAX};
  const reg base = pgen_new(g, REG_64);
  pgen_put(g, "\tmov.b64 %%d%u, local_%u;\n", base.number, buffer - g->program);
  if (size <= 64)
    for (uint64_t k = 0; k < size; k += 4)
      pgen_put(g, "\tst.local.b32 [%%d%u+%" PRIu64 "], 0;\n", base.number, k);
  else
    put_zeros(g, "local", base, lit(0), size, 4);
  t.base = base;
  if (t.words.count)
    code_image_walk(&g->w, &t.words, g->v->imm[buffer], put_scalar, &t);
}

void
pgen_put_memory(gen *g)
{
  if (g->shared_bytes)
    pgen_put(g, "\t.shared .align 16 .b8 shared_memory[%" PRIu64 "];\n", g->shared_bytes);
  for (uint32_t row = g->v->first[g->program]; row; row = g->v->next[row])
    if (code_is_in(&g->w, row, VYRE_SPACE_PRIVATE))
      pgen_put(g, "\t.local .align 16 .b8 local_%u[%" PRIu64 "];\n", row - g->program,
               (code_buffer_size(&g->w, row) + 4) & ~UINT64_C(3));
}

/* ---- entry
 * ------------------------------------------------------------------------------------------------------------------ */

static void
put_buffers(gen *g)
{
  for (uint32_t row = g->v->first[g->program]; row; row = g->v->next[row]) {
    if (op_of(g, row) != VYRE_OP_buffer || !code_is_bound(&g->w, row) || !g->w.uses[row - g->program])
      continue;
    pgen_slot *slot = &g->slots[code_slot_of(&g->w, row)];
    if (slot->base.klass || vyre_buffer_descriptor_steps(g->module, row))
      continue;
    const uint32_t at = 16 * code_first_descriptor(&g->w, code_slot_of(&g->w, row));
    const reg base = pgen_new(g, REG_64);
    slot->bytes = pgen_new(g, REG_64);
    pgen_put(g, "\tld.param.u64 %%d%u, [buffers+%u];\n\tld.param.u64 %%d%u, [buffers+%u];\n", base.number, at, slot->bytes.number,
             at + 8);
    slot->base = MAKE64(g, "cvta.to.global.u64", base);
  }
}

/* Defines the mask of the subgroup's lanes. */
static void
put_masks(gen *g)
{
  const uint32_t rest = g->count % 32;
  g->where = pgen_copy(g, REG_32, lit(0));
  g->mask = pgen_copy(g, REG_32, lit(0xffffffffu));
  if (!rest)
    return;
  const reg last = PRED(g, "setp.ge.u32", g->lindex, lit(g->count - rest));
  g->mask = pgen_select(g, REG_32, lit((1u << rest) - 1), g->mask, last);
}

void
pgen_start(gen *g)
{
  put_dispatch(g);
  put_invocation(g);
  put_buffers(g);
  if (g->wide)
    put_masks(g);
  if (g->ends_early) {
    g->ended = pgen_copy(g, REG_32, lit(0));
    g->next_grid = pgen_new_label(g);
  }
  place_shared(g);
  clear_shared(g);
  for (uint32_t row = g->v->first[g->program]; row; row = g->v->next[row])
    if (code_is_in(&g->w, row, VYRE_SPACE_PRIVATE))
      clear_private(g, row);
    else if (code_is_in(&g->w, row, VYRE_SPACE_CONSTANT))
      put_table(g, row);
}
