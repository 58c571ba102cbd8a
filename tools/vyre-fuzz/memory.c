/* Random memory: buffers of all spaces, and accesses to them that do not conflict with other invocations.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "random_program.h"

#include "internal.h"

static vyre_row
lindex(generator *g)
{
  return row(g, VYRE_OP_lindex, U32, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
}

/* ---- declarations --------------------------------------------------------------------------------------------------------- */

static vyre_type_id
array_of(generator *g, vyre_type_id element, uint32_t count)
{
  return vyre_type_array(g->m, element, count, VYRE_NONE, 0);
}

/* struct { f32x3, u32[3], mat3(f32x3) } */
static vyre_type_id
record_type(generator *g)
{
  const vyre_type vector = VYRE_TYPE(VYRE_F32, 3);
  const vyre_member members[] = {
      {vyre_string_intern(g->m, "p", 1), vector, VYRE_OFFSET_AUTO, 0},
      {vyre_string_intern(g->m, "n", 1), array_of(g, U32, 3), VYRE_OFFSET_AUTO, 0},
      {vyre_string_intern(g->m, "m", 1), vyre_type_matrix(g->m, vector, 3, 0, false), VYRE_OFFSET_AUTO, 0},
  };
  return vyre_type_struct(g->m, vyre_string_intern(g->m, "Record", 6), members, 3, 0);
}

/* struct { u32, f32x4[2] } */
static vyre_type_id
uniform_type(generator *g)
{
  const vyre_member members[] = {
      {vyre_string_intern(g->m, "n", 1), U32, VYRE_OFFSET_AUTO, 0},
      {vyre_string_intern(g->m, "v", 1), array_of(g, VYRE_TYPE(VYRE_F32, 4), 2), VYRE_OFFSET_AUTO, 0},
  };
  return vyre_type_struct(g->m, vyre_string_intern(g->m, "Uniform", 7), members, 2, 0);
}

/* struct block { u32[] } */
static vyre_type_id
block_type(generator *g)
{
  const vyre_member members[] = {
      {vyre_string_intern(g->m, "w", 1), vyre_type_runtime_array(g->m, U32, 0), VYRE_OFFSET_AUTO, 0},
  };
  return vyre_type_struct(g->m, vyre_string_intern(g->m, "Words", 5), members, 1, VYRE_TYPE_BLOCK);
}

vyre_row
workgroup_words(generator *g, vyre_type type, uint32_t count)
{
  const vyre_row made = vyre_build_buffer(&g->b, array_of(g, type, count), VYRE_SPACE_WORKGROUP, 0, 0, 0);
  if (g->tame && below(g, 8)) /* otherwise it is unset until it is written */
    vyre_buffer_info_of(g->m, made)->initializer = vyre_module_add_initializer(g->m, NULL, 0);
  return made;
}

void
declare_memory(generator *g)
{
  static const uint32_t squares[8] = {0, 1, 4, 9, 16, 25, 36, 49};
  vyre_builder *b = &g->b;
  const vyre_type_id words = vyre_type_runtime_array(g->m, U32, 0);
  g->out = vyre_build_buffer(b, words, VYRE_SPACE_STORAGE, 0, 0, 0);
  g->in = vyre_build_buffer(b, words, VYRE_SPACE_STORAGE, VYRE_ACCESS_NO_WRITE, 0, 1);
  g->unset = g->tame && below(g, 2);
  g->private_array = vyre_build_buffer(b, array_of(g, U32, 5), VYRE_SPACE_PRIVATE, g->unset ? VYRE_ACCESS_UNSET : 0, 0, 0);
  g->workgroup_array = workgroup_words(g, U32, 4);
  if (!g->wide)
    return;
  g->wide_out = vyre_build_buffer(b, vyre_type_runtime_array(g->m, VYRE_TYPE(VYRE_U32, 4), 0), VYRE_SPACE_STORAGE, 0, 0, 0);
  g->shared = vyre_build_buffer(b, words, VYRE_SPACE_STORAGE, VYRE_ACCESS_COHERENT, 0, 2);
  g->uniform = vyre_build_buffer(b, uniform_type(g), VYRE_SPACE_UNIFORM, VYRE_ACCESS_NO_WRITE, 0, 3);
  g->push = vyre_build_buffer(b, array_of(g, U32, 4), VYRE_SPACE_PUSH, VYRE_ACCESS_NO_WRITE, 0, 0);
  g->table = vyre_build_buffer(b, array_of(g, U32, 8), VYRE_SPACE_CONSTANT, VYRE_ACCESS_NO_WRITE, 0, 0);
  vyre_buffer_info_of(g->m, g->table)->initializer = vyre_module_add_initializer(g->m, squares, 8);
  g->records = vyre_build_buffer(b, array_of(g, record_type(g), 2), VYRE_SPACE_PRIVATE, 0, 0, 0);
  g->workgroup_tile = workgroup_words(g, U32, 8);
  const vyre_type_id block = block_type(g);
  g->blocks = vyre_build_buffer(b, below(g, 2) ? array_of(g, block, RANDOM_BLOCKS) : vyre_type_runtime_array(g->m, block, 0),
                                VYRE_SPACE_STORAGE, 0, 0, 4);
  g->lone = vyre_build_buffer(b, uniform_type(g), VYRE_SPACE_UNIFORM, VYRE_ACCESS_NO_WRITE, 0, 5);
}

void
set_private_array(generator *g)
{
  for (uint32_t i = 0; g->unset && i < 5; i++) {
    const vyre_row word = below(g, 2) ? vyre_build_const(&g->b, U32, 0) : value(g, U32);
    vyre_build_store(&g->b, vyre_build_at_literal(&g->b, g->private_array, i), word, 0);
  }
}

/* ---- paths ---------------------------------------------------------------------------------------------------------------- */

static vyre_row
element(generator *g, vyre_row buffer, vyre_row index)
{
  return vyre_build_at(&g->b, buffer, index);
}

/* Returns an element of the private array: at a literal index, at one of a few near indices, or at any, often out of bounds. */
static vyre_row
own_element(generator *g)
{
  const uint32_t how = below(g, 4);
  if (how < 2)
    return vyre_build_at_literal(&g->b, g->private_array, below(g, 5));
  if (how == 2)
    return element(g, g->private_array,
                   vyre_build_imm(&g->b, VYRE_OP_add, vyre_build_imm(&g->b, VYRE_OP_and, value(g, U32), 3), below(g, 2)));
  return element(g, g->private_array, index_below(g, 5));
}

static vyre_row
load(generator *g, vyre_row path)
{
  return keep(g, vyre_build_load(&g->b, path, below(g, 16) ? 0 : VYRE_ROW_COHERENT));
}

vyre_row
word_of(generator *g, vyre_row from)
{
  const uint32_t lanes = VYRE_TYPE_LANES(type_of(g, from));
  if (lanes > 1)
    from = vyre_build_lane(&g->b, from, below(g, lanes));
  const vyre_kind kind = VYRE_TYPE_KIND(type_of(g, from));
  const uint32_t width = vyre_kind_bits(kind);
  if (kind == VYRE_U32)
    return from;
  if (kind == VYRE_BOOL)
    return vyre_build_select(&g->b, from, vyre_build_const(&g->b, U32, 17), vyre_build_const(&g->b, U32, 4));
  if (width == 32)
    return vyre_build_convert(&g->b, VYRE_OP_bitcast, U32, from);
  if (vyre_kind_is_float(kind))
    from = vyre_build_convert(&g->b, VYRE_OP_bitcast, VYRE_TYPE(width == 16 ? VYRE_U16 : VYRE_U64, 1), from);
  if (width == 64) /* combines both halves */
    from = vyre_build_binary(&g->b, VYRE_OP_xor, from, vyre_build_imm(&g->b, VYRE_OP_ushr, from, 32));
  return vyre_build_convert(&g->b, VYRE_OP_convert, U32, from);
}

static vyre_row
any_word(generator *g)
{
  return word_of(g, value(g, random_type(g)));
}

static vyre_row
own_word(generator *g, vyre_row index)
{
  return vyre_build_binary(&g->b, VYRE_OP_add, g->base, index);
}

void
store_out(generator *g, vyre_row from)
{
  vyre_row index = vyre_build_imm(&g->b, VYRE_OP_add, g->base, g->stored++ % RANDOM_WORDS);
  vyre_row word = word_of(g, from);
  vyre_build_store(&g->b, element(g, g->out, index), word, 0);
}

vyre_row
own_block_word(generator *g, uint32_t which, uint32_t index)
{
  const vyre_row block =
      which < RANDOM_BLOCKS ? vyre_build_at_literal(&g->b, g->blocks, which) : element(g, g->blocks, index_below(g, RANDOM_BLOCKS));
  return element(g, vyre_build_at_literal(&g->b, block, 0), own_word(g, vyre_build_const(&g->b, U32, index)));
}

/* ---- accesses ------------------------------------------------------------------------------------------------------------- */

/* Adds an async copy and its wait, without accesses in between. */
static void
copy_async(generator *g)
{
  vyre_row to = own_element(g), from = below(g, 2) ? element(g, g->in, index_below(g, RANDOM_IN)) : own_element(g);
  row(g, VYRE_OP_async_copy, 0, 0, to, from, VYRE_NONE);
  keep(g, subgroup_expression(g));
  if (below(g, 2))
    row(g, VYRE_OP_async_wait, 0, 1, VYRE_NONE, VYRE_NONE, VYRE_NONE);
  row(g, VYRE_OP_async_wait, 0, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
}

/* Adds an atomic on the invocation's own word of workgroup or coherent memory. */
static void
access_atomic(generator *g)
{
  static const vyre_opcode ints[] = {VYRE_OP_atomic_load, VYRE_OP_atomic_store, VYRE_OP_atomic_exchange,
                                     VYRE_OP_atomic_add,  VYRE_OP_atomic_sub,   VYRE_OP_atomic_compare_exchange,
                                     VYRE_OP_atomic_umin, VYRE_OP_atomic_umax,  VYRE_OP_atomic_smin,
                                     VYRE_OP_atomic_smax, VYRE_OP_atomic_and,   VYRE_OP_atomic_or,
                                     VYRE_OP_atomic_xor};
  static const vyre_opcode floats[] = {VYRE_OP_atomic_load, VYRE_OP_atomic_store, VYRE_OP_atomic_exchange,
                                       VYRE_OP_atomic_fadd, VYRE_OP_atomic_fmin,  VYRE_OP_atomic_fmax};
  static const vyre_kind kinds[] = {VYRE_U32, VYRE_F32, VYRE_I32, VYRE_I64, VYRE_U64, VYRE_F16, VYRE_F64};
  const vyre_kind kind = kinds[below(g, g->wide ? 7 : 2)];
  const vyre_type type = VYRE_TYPE(kind, 1);
  const vyre_opcode op = vyre_kind_is_float(kind) ? floats[below(g, 6)] : ints[below(g, 13)];
  const uint32_t operands = vyre_op_infos[op].operands, order = below(g, 4) ? 0 : 0x108;
  if (!g->words[kind].id)
    g->words[kind] = workgroup_words(g, type, 4);
  vyre_row path = element(g, g->words[kind], lindex(g));
  if (g->wide && kind == VYRE_U32 && below(g, 2))
    path = element(g, g->shared, own_word(g, vyre_build_const(&g->b, U32, below(g, RANDOM_WORDS))));
  const vyre_row b = operands > 1 ? value(g, type) : VYRE_NONE, c = operands > 2 ? value(g, type) : VYRE_NONE;
  const vyre_row old = row(g, op, op == VYRE_OP_atomic_store ? 0 : type, VYRE_ORDER(0, 2, order), path, b, c);
  if (op != VYRE_OP_atomic_store)
    keep(g, old);
}

/* Accesses a member of a private record, or copies a whole record. */
static void
access_record(generator *g)
{
  const vyre_row at = element(g, g->records, below(g, 2) ? index_below(g, 2) : vyre_build_const(&g->b, U32, below(g, 2)));
  const vyre_type vector = VYRE_TYPE(VYRE_F32, 3);
  vyre_row path;
  switch (below(g, 4)) {
  case 0:
    row(g, VYRE_OP_copy, 0, 0, at, element(g, g->records, index_below(g, 2)), VYRE_NONE);
    return;
  case 1:
    path = element(g, vyre_build_at_literal(&g->b, at, 1), index_below(g, 3));
    if (below(g, 2))
      vyre_build_store(&g->b, path, any_word(g), 0);
    else
      load(g, path);
    return;
  case 2:
    path = vyre_build_at_literal(&g->b, vyre_build_at_literal(&g->b, at, 2), below(g, 3));
    break;
  default:
    path = vyre_build_at_literal(&g->b, at, 0);
    break;
  }
  if (below(g, 3) == 0)
    load(g, element(g, path, vyre_build_imm(&g->b, VYRE_OP_umod, value(g, U32), 3)));
  else if (below(g, 2))
    load(g, path);
  else
    vyre_build_store(&g->b, path, value(g, vector), 0);
}

/* Accesses the buffers of wide programs. */
static void
access_wide_memory(generator *g)
{
  vyre_row index, path;
  switch (below(g, 9)) {
  case 0: /* out, four words at a time */
  case 1:
    index = vyre_build_imm(&g->b, VYRE_OP_ushr, g->base, 2);
    index = vyre_build_imm(&g->b, VYRE_OP_add, index, below(g, RANDOM_WORDS / 4));
    path = element(g, g->wide_out, index);
    if (below(g, 2))
      load(g, path);
    else
      vyre_build_store(&g->b, path, value(g, VYRE_TYPE(VYRE_U32, 4)), 0);
    return;
  case 2: /* only own words, because other subgroups do not wait */
    path = element(g, g->shared, own_word(g, vyre_build_const(&g->b, U32, below(g, RANDOM_WORDS))));
    if (below(g, 2))
      load(g, path);
    else
      vyre_build_store(&g->b, path, any_word(g), below(g, 4) ? 0 : VYRE_ROW_VOLATILE);
    return;
  case 3:
    load(g, vyre_build_at_literal(&g->b, g->uniform, 0));
    return;
  case 4:
    load(g, element(g, vyre_build_at_literal(&g->b, g->uniform, 1), index_below(g, 2)));
    return;
  case 5:
    load(g, element(g, g->push, index_below(g, 4)));
    return;
  case 6:
    load(g, element(g, g->table, index_below(g, 8)));
    return;
  case 7:
    keep(g, row(g, VYRE_OP_length, U32, 0, below(g, 2) ? g->in : g->out, VYRE_NONE, VYRE_NONE));
    return;
  default:
    access_record(g);
    return;
  }
}

void
access_memory(generator *g)
{
  vyre_row word;
  if (g->wide && below(g, 3) == 0) {
    access_wide_memory(g);
    return;
  }
  switch (below(g, 11)) {
  case 9:
  case 2:
    load(g, own_element(g));
    break;
  case 10:
  case 3:
    word = any_word(g);
    vyre_build_store(&g->b, own_element(g), word, 0);
    break;
  case 0:
    load(g, element(g, g->in, index_below(g, RANDOM_IN))); /* the index is often out of bounds */
    break;
  case 5:
    copy_async(g);
    break;
  case 1:
    load(g, element(g, g->out, own_word(g, vyre_build_imm(&g->b, VYRE_OP_and, value(g, U32), RANDOM_WORDS - 1))));
    break;
  case 6:
    access_atomic(g);
    break;
  case 4: /* no other invocation reads it */
    word = any_word(g);
    vyre_build_store(&g->b, element(g, g->workgroup_array, lindex(g)), word, 0);
    break;
  default:
    store_out(g, value(g, random_type(g)));
    break;
  }
}

/* Each invocation writes a word, and after a barrier reads the word of another one.  After another barrier it may write its own
 * word again, or that of the next invocation. */
void
exchange_words(generator *g)
{
  const uint32_t order = VYRE_ORDER(2, 2, 0x108); /* workgroup, workgroup, acquire and release of workgroup memory */
  const vyre_row word = any_word(g), own = vyre_build_imm(&g->b, VYRE_OP_and, lindex(g), 3);
  vyre_row other = vyre_build_imm(&g->b, VYRE_OP_add, own, 1 + below(g, 3));
  if (below(g, 2))
    other = vyre_build_imm(&g->b, VYRE_OP_and, other, 3);
  vyre_build_store(&g->b, element(g, g->workgroup_tile, own), word, 0);
  vyre_build_barrier(&g->b, order);
  other = vyre_build_load(&g->b, element(g, g->workgroup_tile, other), 0); /* not kept, because a copy elsewhere would be a race */
  store_out(g, keep(g, vyre_build_imm(&g->b, VYRE_OP_add, other, 1)));
  vyre_build_barrier(&g->b, order);
  if (below(g, 2)) {
    const uint32_t next = below(g, 2);
    const vyre_row place = next ? vyre_build_imm(&g->b, VYRE_OP_add, own, 1) : own;
    vyre_build_store(&g->b, element(g, g->workgroup_tile, place), any_word(g), 0);
    vyre_build_barrier(&g->b, order);
    store_out(g, vyre_build_load(&g->b, element(g, g->workgroup_tile, own), 0));
    vyre_build_barrier(&g->b, order);
  }
}
