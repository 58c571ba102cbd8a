/* Random shapes that passes rewrite, and similar ones that they must not rewrite.  They have repeated conditions, two nearly equal
 * ifs or arms, memory and jumps around a loop, and ops whose operand determines the result.
 *
 * Each pattern stores all of its results.  Its values are not visible outside.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "random_program.h"

#include "internal.h"

vyre_row
u32(generator *g, uint32_t bits)
{
  return vyre_build_const(&g->b, U32, bits);
}

vyre_row
begin_if(generator *g, vyre_row condition)
{
  const vyre_row control = vyre_build_if(&g->b, condition);
  vyre_builder_at_end(&g->b, vyre_region_of(g->m, control, 0));
  return control;
}

void
begin_else(generator *g, vyre_row control)
{
  vyre_builder_at_end(&g->b, vyre_region_of(g->m, control, 1));
}

vyre_row
begin_for(generator *g, uint32_t trips)
{
  return vyre_build_for(&g->b, u32(g, 0), u32(g, trips), u32(g, 1));
}

vyre_row
path(generator *g, vyre_row buffer, vyre_row index)
{
  return vyre_build_at(&g->b, buffer, index);
}

/* ---- conditions ---------------------------------------------------------------------------------------------------------- */

static vyre_opcode
comparison(generator *g, vyre_kind kind)
{
  if (vyre_kind_is_float(kind))
    return (vyre_opcode)(VYRE_OP_feq + below(g, VYRE_OP_fuge - VYRE_OP_feq + 1));
  return (vyre_opcode)(VYRE_OP_eq + below(g, VYRE_OP_sge - VYRE_OP_eq + 1));
}

/* Compares a and b, b and a, or a and a number near the literal. */
static vyre_row
compare(generator *g, vyre_row a, vyre_row b, uint64_t literal)
{
  const vyre_type type = type_of(g, a);
  const vyre_opcode op = comparison(g, VYRE_TYPE_KIND(type));
  switch (below(g, 5)) {
  case 0:
    return vyre_build_binary(&g->b, op, b, a);
  case 1:
  case 2:
    if (vyre_kind_is_int(VYRE_TYPE_KIND(type)))
      return vyre_build_imm(&g->b, op, a, (literal + below(g, 2)) & (UINT64_MAX >> (64 - vyre_kind_bits(VYRE_TYPE_KIND(type)))));
    return vyre_build_binary(&g->b, op, a, a);
  default:
    return vyre_build_binary(&g->b, op, a, b);
  }
}

/* Adds comparisons of the same rows in the arms of another one. */
static void
related_comparisons(generator *g)
{
  vyre_kind kind;
  class_kind(g, below(g, 2) ? VYRE_CLASS_INT : VYRE_CLASS_FLOAT, &kind);
  const vyre_type type = VYRE_TYPE(kind, 1);
  const vyre_row a = value(g, type), b = value(g, type);
  const uint64_t literal = below(g, 6) - UINT64_C(3); /* near 0 and the greatest number */
  const vyre_row control = begin_if(g, compare(g, a, b, literal));
  store_out(g, compare(g, a, b, literal));
  const vyre_row inner = begin_if(g, compare(g, a, b, literal));
  store_out(g, compare(g, a, b, literal));
  vyre_builder_leave(&g->b, inner);
  begin_else(g, control);
  store_out(g, compare(g, a, b, literal));
  vyre_builder_leave(&g->b, control);
}

/* Returns one of four similar expressions of p and q. */
static vyre_row
twin_value(generator *g, vyre_row p, vyre_row q)
{
  switch (below(g, 4)) {
  case 0:
    return vyre_build_binary(&g->b, VYRE_OP_sub, q, p);
  case 1:
    return vyre_build_binary(&g->b, VYRE_OP_sub, p, q);
  case 2:
    return vyre_build_imm(&g->b, VYRE_OP_add, p, type_of(g, p) == U32 ? 4 : UINT64_C(1) << 32 | 3);
  default:
    return vyre_build_imm(&g->b, VYRE_OP_add, p, 3);
  }
}

/* Adds two ifs with one condition or two, which set two variables to equal or different values. */
static void
twin_ifs(generator *g)
{
  const vyre_type type = VYRE_TYPE(below(g, 2) ? VYRE_U32 : VYRE_U64, 1);
  const vyre_row p = value(g, type), q = value(g, type), conditions[2] = {value(g, BOOL), value(g, BOOL)};
  vyre_row vars[2];
  for (uint32_t i = 0; i < 2; i++) {
    vars[i] = g->unset ? vyre_build_unset_var(&g->b, type) : vyre_build_var(&g->b, type);
    const vyre_row control = begin_if(g, conditions[i && below(g, 3) == 0]);
    vyre_build_set(&g->b, vars[i], twin_value(g, p, q));
    begin_else(g, control);
    vyre_build_set(&g->b, vars[i], below(g, 4) ? q : p);
    vyre_builder_leave(&g->b, control);
  }
  for (uint32_t i = 0; i < 2; i++)
    store_out(g, vyre_build_get(&g->b, vars[i]));
}

/* Fills an arm, with `lanes` also with a subgroup row.  If `other` is not 0, one row differs. */
static void
fill_near_arm(generator *g, const vyre_row p[3], vyre_row array, bool lanes, uint32_t other)
{
  const vyre_row sum = lanes ? row(g, VYRE_OP_subgroup_add, U32, 0, p[0], VYRE_NONE, VYRE_NONE)
                             : vyre_build_imm(&g->b, VYRE_OP_add, p[0], other == 1 ? 5 : 4);
  const vyre_row product = vyre_build_binary(&g->b, VYRE_OP_sub, other == 2 ? p[1] : sum, other == 3 ? p[1] : p[0]);
  const vyre_row inner = begin_if(g, p[2]);
  vyre_build_store(&g->b, vyre_build_at_literal(&g->b, array, 1), p[1], 0);
  begin_else(g, inner);
  if (other == 4)
    vyre_builder_leave(&g->b, inner);
  vyre_build_store(&g->b, vyre_build_at_literal(&g->b, array, other == 5 ? 1 : 0), product, 0);
  if (other != 4)
    vyre_builder_leave(&g->b, inner);
  if (other == 6)
    vyre_build_store(&g->b, vyre_build_at_literal(&g->b, array, 1), sum, 0);
}

static void
near_equal_arms(generator *g)
{
  const vyre_row array = vyre_build_buffer(&g->b, vyre_type_array(g->m, U32, 2, VYRE_NONE, 0), VYRE_SPACE_PRIVATE, 0, 0, 0);
  const vyre_row p[3] = {value(g, U32), value(g, U32), value(g, BOOL)};
  const bool lanes = below(g, 4) == 0;
  const vyre_row lindex = row(g, VYRE_OP_lindex, U32, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
  const vyre_row control = begin_if(g, lanes ? vyre_build_imm(&g->b, VYRE_OP_ult, lindex, 2) : value(g, BOOL));
  fill_near_arm(g, p, array, lanes, 0);
  begin_else(g, control);
  fill_near_arm(g, p, array, lanes, below(g, 7));
  vyre_builder_leave(&g->b, control);
  for (uint32_t i = 0; i < 2; i++)
    store_out(g, vyre_build_load(&g->b, vyre_build_at_literal(&g->b, array, i), 0));
}

/* ---- memory -------------------------------------------------------------------------------------------------------------- */

vyre_row
private_words(generator *g)
{
  return vyre_build_buffer(&g->b, vyre_type_array(g->m, U32, 4, VYRE_NONE, 0), VYRE_SPACE_PRIVATE, 0, 0, 0);
}

/* Returns an index of private_words, which may be out of bounds unless the program is tame. */
static vyre_row
any_index(generator *g)
{
  switch (below(g, g->tame ? 3 : 6)) {
  case 0:
    return u32(g, below(g, 4));
  case 3:
    return u32(g, 4);
  case 4:
    return vyre_build_imm(&g->b, VYRE_OP_and, value(g, U32), 4);
  default:
    return index_below(g, 4);
  }
}

/* Carries a value to the next iteration through memory at a location of the iteration: the loaded one, or the next one. */
static void
carried_ahead(generator *g)
{
  const vyre_row words = private_words(g), plus = value(g, U32), control = begin_for(g, 2 + below(g, 2));
  const vyre_row index = vyre_region_of(g->m, control, 0), next = vyre_build_imm(&g->b, VYRE_OP_add, index, 1);
  const uint32_t ways = below(g, 4);
  const vyre_row old = vyre_build_load(&g->b, path(g, words, ways == 0 ? next : index), 0);
  store_out(g, old);
  const vyre_row arm = below(g, 4) ? VYRE_NONE : begin_if(g, value(g, BOOL));
  vyre_build_store(&g->b, path(g, words, ways > 1 ? next : index), vyre_build_binary(&g->b, VYRE_OP_add, old, plus), 0);
  if (arm.id)
    vyre_builder_leave(&g->b, arm);
  vyre_builder_leave(&g->b, control);
  if (below(g, 3) == 0)
    store_out(g, vyre_build_load(&g->b, vyre_build_at_literal(&g->b, words, 1), 0));
}

/* Carries a value through one location.  The store of the last iteration may not be read. */
static void
carried_in_memory(generator *g)
{
  if (below(g, 3) == 0) {
    carried_ahead(g);
    return;
  }
  const vyre_row words = private_words(g), first = value(g, U32), second = value(g, U32);
  const vyre_row index = any_index(g);
  if (below(g, 2))
    vyre_build_store(&g->b, path(g, words, index), first, 0);
  const vyre_row control = begin_for(g, 2 + below(g, 2));
  const vyre_row old = vyre_build_load(&g->b, path(g, words, index), 0);
  store_out(g, old);
  vyre_row arm = VYRE_NONE;
  if (below(g, 2))
    arm = begin_if(g, value(g, BOOL));
  vyre_build_store(&g->b, path(g, words, index), vyre_build_binary(&g->b, VYRE_OP_add, old, second), 0);
  if (arm.id)
    vyre_builder_leave(&g->b, arm);
  vyre_builder_leave(&g->b, control);
  if (below(g, 3) == 0)
    store_out(g, vyre_build_load(&g->b, path(g, words, index), 0));
}

/* Stores a word in a case that may fall through to one that reads it. */
static void
carried_by_falling(generator *g)
{
  const vyre_row words = private_words(g), selector = vyre_build_imm(&g->b, VYRE_OP_and, value(g, U32), 1);
  const vyre_row place = vyre_build_at_literal(&g->b, words, below(g, 4));
  vyre_build_store(&g->b, place, value(g, U32), 0);
  const vyre_row control = vyre_build_switch(&g->b, selector);
  const vyre_row first = vyre_build_case(&g->b, control, u32(g, 0), false);
  const vyre_row second = vyre_build_case(&g->b, control, u32(g, 1), below(g, 2));
  vyre_builder_at_end(&g->b, first);
  vyre_build_store(&g->b, place, value(g, U32), 0);
  if (below(g, 4))
    vyre_build_jump(&g->b, VYRE_OP_fallthrough, VYRE_NONE);
  vyre_builder_at_end(&g->b, second);
  store_out(g, vyre_build_load(&g->b, place, 0));
  store_out(g, selector);
  vyre_builder_leave(&g->b, control);
}

/* Adds stores and loads of one location and near ones, in bounds or not. */
static void
same_place(generator *g)
{
  const vyre_row words = private_words(g), index = any_index(g);
  const vyre_row near = below(g, 2) ? index : vyre_build_imm(&g->b, VYRE_OP_and, vyre_build_imm(&g->b, VYRE_OP_add, index, 1), 3);
  vyre_build_store(&g->b, path(g, words, index), value(g, U32), 0);
  const vyre_row old = vyre_build_load(&g->b, path(g, words, index), 0);
  store_out(g, old);
  if (below(g, 2))
    vyre_build_store(&g->b, path(g, words, near), value(g, U32), 0);
  if (below(g, 2))
    store_out(g, vyre_build_load(&g->b, path(g, words, near), 0));
  vyre_build_store(&g->b, path(g, words, index), below(g, 2) ? old : value(g, U32), 0);
  if (below(g, 2)) { /* only a copy reads it */
    const vyre_row copies = private_words(g);
    row(g, VYRE_OP_copy, 0, 0, copies, words, VYRE_NONE);
    store_out(g, vyre_build_load(&g->b, path(g, copies, index), 0));
  } else {
    store_out(g, vyre_build_load(&g->b, path(g, words, index), 0));
  }
}

/* Loads the target of an async copy before and after it. */
static void
copied_behind(generator *g)
{
  const vyre_row words = private_words(g), place = path(g, words, index_below(g, 4));
  if (below(g, 2))
    vyre_build_store(&g->b, place, value(g, U32), 0);
  store_out(g, vyre_build_load(&g->b, place, 0));
  row(g, VYRE_OP_async_copy, 0, 0, place, path(g, g->in, index_below(g, RANDOM_IN)), VYRE_NONE);
  row(g, VYRE_OP_async_wait, 0, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
  store_out(g, vyre_build_load(&g->b, place, 0));
}

/* ---- jumps --------------------------------------------------------------------------------------------------------------- */

/* Adds a `for` between literals near 0, with no iteration, one or several. */
static void
literal_bounds(generator *g)
{
  vyre_kind kind;
  class_kind(g, VYRE_CLASS_INT, &kind);
  const uint32_t less = vyre_kind_is_signed(kind) ? 2 : 0;
  const uint64_t most = UINT64_MAX >> (64 - vyre_kind_bits(kind)), from = below(g, 4) - (uint64_t)less;
  const uint64_t to = below(g, 5) - (uint64_t)less;
  const vyre_type type = VYRE_TYPE(kind, 1);
  const vyre_row sum = vyre_build_var(&g->b, U32), step = vyre_build_const(&g->b, type, 1 + below(g, 2));
  const vyre_row first = vyre_build_const(&g->b, type, from & most), end = vyre_build_const(&g->b, type, to & most);
  const vyre_row control = vyre_build_for(&g->b, first, end, step), index = vyre_region_of(g->m, control, 0);
  const vyre_row number = kind == VYRE_U32 ? index : vyre_build_convert(&g->b, VYRE_OP_convert, U32, index);
  const vyre_row more = vyre_build_binary(&g->b, VYRE_OP_add, vyre_build_get(&g->b, sum), number);
  if (control.id % 4) /* not random, so that later random choices stay the same */
    vyre_build_set(&g->b, sum, vyre_build_imm(&g->b, VYRE_OP_add, more, 10));
  else /* the index is not used */
    vyre_build_set(&g->b, sum, g->base);
  vyre_builder_leave(&g->b, control);
  store_out(g, vyre_build_get(&g->b, sum));
}

/* Adds a loop with a break or a leave at the end of its body, and perhaps a `continue` before it.  Each iteration has an effect. */
static void
early_ends(generator *g)
{
  const vyre_row block = vyre_build_block(&g->b), limit = value(g, U32), control = begin_for(g, 2 + below(g, 3));
  const vyre_row index = vyre_region_of(g->m, control, 0), words = private_words(g);
  vyre_build_store(&g->b, vyre_build_at_literal(&g->b, words, 0), index, 0);
  if (below(g, 2)) {
    const vyre_row skips = begin_if(g, below(g, 2) ? value(g, BOOL) : vyre_build_imm(&g->b, VYRE_OP_ult, index, 1 + below(g, 3)));
    vyre_build_jump(&g->b, VYRE_OP_continue, VYRE_NONE);
    vyre_builder_leave(&g->b, skips);
    vyre_build_store(&g->b, vyre_build_at_literal(&g->b, words, 1), limit, 0);
  }
  const vyre_row leaves = below(g, 2) ? begin_if(g, vyre_build_binary(&g->b, VYRE_OP_uge, index, limit)) : VYRE_NONE;
  if (below(g, 2))
    vyre_build_jump(&g->b, VYRE_OP_break, VYRE_NONE);
  else
    vyre_build_jump(&g->b, VYRE_OP_leave, block);
  if (leaves.id)
    vyre_builder_leave(&g->b, leaves);
  vyre_builder_leave(&g->b, control);
  vyre_builder_leave(&g->b, block);
  for (uint32_t i = 0; i < 2; i++)
    store_out(g, vyre_build_load(&g->b, vyre_build_at_literal(&g->b, words, i), 0));
}

/* Adds a loop whose continuing region has an access that is undefined without the break in the body. */
static void
guarded_continuing(generator *g)
{
  const vyre_row index = value(g, U32), counter = vyre_build_var(&g->b, U32), control = vyre_build_loop(&g->b);
  const vyre_row leaves = begin_if(g, vyre_build_imm(&g->b, VYRE_OP_uge, index, RANDOM_IN));
  vyre_build_jump(&g->b, VYRE_OP_break, VYRE_NONE);
  vyre_builder_leave(&g->b, leaves);
  vyre_builder_at_end(&g->b, vyre_region_of(g->m, control, 1));
  store_out(g, vyre_build_load(&g->b, path(g, g->in, index), 0));
  const vyre_row next = vyre_build_imm(&g->b, VYRE_OP_add, vyre_build_get(&g->b, counter), 1);
  vyre_build_set(&g->b, counter, next);
  vyre_build_jump(&g->b, VYRE_OP_breakif, vyre_build_imm(&g->b, VYRE_OP_uge, next, 2));
  vyre_builder_leave(&g->b, control);
}

/* Adds a loop with a test at its head and few iterations.  The counter is set at the end of the body or of the continuing region,
 * and perhaps in an arm of an `if` in the body.  The head may have an effect, which also happens in the last test. */
static void
tested_at_head(generator *g)
{
  const vyre_row counter = vyre_build_var(&g->b, U32), trips = vyre_build_var(&g->b, U32);
  const uint32_t most = 1 + below(g, 4), step = 1 + below(g, 4);
  const bool does = below(g, 4) == 0, leaves_if = below(g, 2), in_continuing = below(g, 2);
  vyre_build_set(&g->b, counter, below(g, 3) ? vyre_build_const(&g->b, U32, below(g, 3)) : value(g, U32));
  const vyre_row control = vyre_build_loop(&g->b);
  const vyre_row at = vyre_build_get(&g->b, counter);
  if (does)
    vyre_build_set(&g->b, trips, vyre_build_imm(&g->b, VYRE_OP_add, vyre_build_get(&g->b, trips), 1));
  const vyre_row test = vyre_build_if(&g->b, vyre_build_imm(&g->b, leaves_if ? VYRE_OP_uge : VYRE_OP_ult, at, most));
  vyre_builder_at_end(&g->b, vyre_region_of(g->m, test, leaves_if ? 0 : 1));
  vyre_build_jump(&g->b, VYRE_OP_break, VYRE_NONE);
  vyre_builder_leave(&g->b, test);
  store_out(g, at);
  if (!in_continuing)
    vyre_build_set(&g->b, counter, vyre_build_imm(&g->b, VYRE_OP_add, at, step));
  if (below(g, 3) == 0) { /* an arm with another step */
    const vyre_row arm = begin_if(g, vyre_build_imm(&g->b, VYRE_OP_uge, value(g, U32), RANDOM_IN));
    vyre_build_set(&g->b, counter, vyre_build_imm(&g->b, VYRE_OP_add, at, in_continuing ? 1 : step + 1));
    if (below(g, 2))
      vyre_build_jump(&g->b, VYRE_OP_continue, VYRE_NONE);
    vyre_builder_leave(&g->b, arm);
  }
  vyre_builder_at_end(&g->b, vyre_region_of(g->m, control, 1));
  if (in_continuing)
    vyre_build_set(&g->b, counter, vyre_build_imm(&g->b, VYRE_OP_add, vyre_build_get(&g->b, counter), step));
  vyre_builder_leave(&g->b, control);
  store_out(g, vyre_build_get(&g->b, trips));
  store_out(g, vyre_build_get(&g->b, counter));
}

/* ---- operations ---------------------------------------------------------------------------------------------------------- */

/* Returns a value of a float kind, often a denormal. */
static vyre_row
float_value(generator *g, vyre_kind kind)
{
  static const vyre_kind ints[VYRE_KIND__COUNT] = {[VYRE_F16] = VYRE_U16, [VYRE_F32] = VYRE_U32, [VYRE_F64] = VYRE_U64};
  const vyre_type type = VYRE_TYPE(kind, 1);
  if (below(g, 3))
    return value(g, type);
  return vyre_build_convert(&g->b, VYRE_OP_bitcast, type,
                            vyre_build_imm(&g->b, VYRE_OP_and, value(g, VYRE_TYPE(ints[kind], 1)), 7));
}

/* Adds x * 1, x - 0, x / -1 and the like. */
static void
float_identity(generator *g)
{
  static const vyre_opcode ops[] = {VYRE_OP_mul, VYRE_OP_add, VYRE_OP_sub, VYRE_OP_fdiv, VYRE_OP_fmin, VYRE_OP_fmax};
  static const uint64_t ones[VYRE_KIND__COUNT] = {
      [VYRE_F16] = 0x3c00, [VYRE_F32] = 0x3f800000, [VYRE_F64] = UINT64_C(0x3ff0000000000000)};
  vyre_kind kind;
  class_kind(g, VYRE_CLASS_FLOAT, &kind);
  const uint64_t sign = below(g, 3) ? 0 : UINT64_C(1) << (vyre_kind_bits(kind) - 1);
  const vyre_row right = vyre_build_const(&g->b, VYRE_TYPE(kind, 1), sign | (below(g, 2) ? ones[kind] : 0));
  const vyre_row left = float_value(g, kind);
  store_out(g, vyre_build_binary(&g->b, ops[below(g, g->tame ? 4 : 6)], left, right)); /* min and max may be undefined */
}

/* Adds quotients by a literal, also of the greatest numbers, or products with a literal and their comparison with another product.
 */
static void
int_by_literal(generator *g)
{
  static const vyre_opcode ops[] = {VYRE_OP_udiv, VYRE_OP_umod, VYRE_OP_sdiv, VYRE_OP_srem,
                                    VYRE_OP_smod, VYRE_OP_udiv, VYRE_OP_mul,  VYRE_OP_mul};
  const vyre_opcode op = ops[below(g, 8)];
  vyre_kind kind;
  class_kind(g, op == VYRE_OP_mul ? VYRE_CLASS_INT : (vyre_class)vyre_op_infos[op].klass, &kind);
  const vyre_type type = VYRE_TYPE(kind, 1);
  const uint64_t most = UINT64_MAX >> (64 - vyre_kind_bits(kind));
  const uint64_t wide = (uint64_t)below(g, 0x7fffffffu) << 33 ^ below(g, 0x7fffffffu);
  const uint64_t any = (below(g, 2) ? wide >> below(g, 63) : 0) & most;
  const uint64_t literal = any < 2 || any == most ? 3 + below(g, 16) : any; /* division by -1 overflows */
  const vyre_row few = vyre_build_imm(&g->b, VYRE_OP_and, value(g, type), below(g, 2) ? 3 : 15);
  const vyre_row many = below(g, 2) ? value(g, type) : vyre_build_imm(&g->b, VYRE_OP_xor, few, most);
  const vyre_row result = vyre_build_imm(&g->b, op, op == VYRE_OP_mul ? few : many, literal);
  store_out(g, result);
  store_out(g, vyre_build_imm(&g->b, VYRE_OP_eq, result, literal * below(g, 4) & most));
}

/* Adds a quotient and a remainder of the same operands, in either order.  The second one may be in an arm. */
static void
quotient_and_rest(generator *g)
{
  static const vyre_opcode rests[] = {VYRE_OP_umod, VYRE_OP_srem, VYRE_OP_smod};
  const vyre_opcode rest = rests[below(g, 3)], quotient = rest == VYRE_OP_umod ? VYRE_OP_udiv : VYRE_OP_sdiv;
  const bool rest_first = below(g, 2);
  vyre_kind kind;
  class_kind(g, (vyre_class)vyre_op_infos[rest].klass, &kind);
  const vyre_type type = VYRE_TYPE(kind, 1);
  vyre_row x = vyre_build_imm(&g->b, VYRE_OP_and, value(g, type), UINT64_MAX >> (64 - vyre_kind_bits(kind)) >> 1);
  vyre_row y = vyre_build_imm(&g->b, VYRE_OP_or, vyre_build_imm(&g->b, VYRE_OP_and, value(g, type), 15), 1);
  if (rest != VYRE_OP_umod && below(g, 2))
    x = vyre_build_unary(&g->b, VYRE_OP_neg, x);
  if (rest != VYRE_OP_umod && below(g, 2))
    y = vyre_build_unary(&g->b, VYRE_OP_neg, y);
  store_out(g, vyre_build_binary(&g->b, rest_first ? rest : quotient, x, y));
  if (below(g, 2)) {
    store_out(g, vyre_build_binary(&g->b, rest_first ? quotient : rest, x, y));
    return;
  }
  const vyre_row control = begin_if(g, value(g, BOOL));
  store_out(g, vyre_build_binary(&g->b, rest_first ? quotient : rest, x, y));
  begin_else(g, control);
  store_out(g, vyre_build_binary(&g->b, below(g, 2) ? quotient : rest, x, y));
  vyre_builder_leave(&g->b, control);
}

/* Adds two shifts, or a shift and a mask: bit fields, also some that no op extracts. */
static void
bit_field(generator *g)
{
  vyre_kind kind;
  class_kind(g, VYRE_CLASS_INT, &kind);
  const uint32_t bits = vyre_kind_bits(kind), count = below(g, bits), other = below(g, 2) ? count : below(g, bits);
  const vyre_row from = value(g, VYRE_TYPE(kind, 1 + below(g, 4)));
  const vyre_row up = vyre_build_imm(&g->b, VYRE_OP_shl, from, count);
  const vyre_row down = vyre_build_imm(&g->b, below(g, 2) ? VYRE_OP_ushr : VYRE_OP_sshr, below(g, 2) ? up : from, other);
  switch (below(g, 3)) {
  case 0:
    store_out(g, vyre_build_imm(&g->b, VYRE_OP_and, down, UINT64_MAX >> (64 - bits) >> below(g, bits)));
    break;
  case 1:
    store_out(g, vyre_build_binary(&g->b, VYRE_OP_or, up, vyre_build_imm(&g->b, VYRE_OP_ushr, from, (bits - count) % bits)));
    break;
  default:
    store_out(g, down);
    break;
  }
}

/* Converts an integer to another type, and then to a third or back. */
static void
conversions(generator *g)
{
  vyre_kind kinds[3];
  for (uint32_t i = 0; i < 3; i++)
    class_kind(g, VYRE_CLASS_INT, &kinds[i]);
  if (below(g, 2))
    kinds[2] = kinds[0];
  const uint32_t lanes = 1 + below(g, 4);
  vyre_row row = value(g, VYRE_TYPE(kinds[0], lanes));
  for (uint32_t i = 1; i < 3; i++) {
    if (below(g, 3) == 0)
      row = vyre_build_imm(&g->b, VYRE_OP_and, row, UINT64_MAX >> (64 - vyre_kind_bits(kinds[i - 1])) >> below(g, 8));
    row = vyre_build_convert(&g->b, VYRE_OP_convert, VYRE_TYPE(kinds[i], lanes), row);
  }
  store_out(g, row);
}

void
add_pattern(generator *g)
{
  static void (*const patterns[])(generator *) = {
      related_comparisons, twin_ifs,          near_equal_arms,    carried_in_memory,   carried_by_falling, same_place,
      copied_behind,       early_ends,        guarded_continuing, float_identity,      int_by_literal,     bit_field,
      conversions,         literal_bounds,    tested_at_head,     access_two_elements, use_seldom_bound,   load_never_written,
      index_beyond,        quotient_and_rest, load_from_copy,
  };
  const uint32_t mark = g->count;
  if (g->inexact && below(g, 2))
    float_identity(g);
  else
    patterns[below(g, sizeof patterns / sizeof patterns[0])](g);
  g->count = mark;
}
