/* Random programs: expressions over all foldable ops and lanes, variables, memory, control.
 *
 * Values are chosen from what is visible at the place: a pool of rows with a mark for each open region.  Constants are often edge
 * values, and operands often constants, so that there is something to fold; conditions are now and then constants too.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "random_program.h"

#define MAX_POOL 4096u
#define MAX_VARS 6u

static const vyre_kind kinds[] = {VYRE_BOOL, VYRE_I32, VYRE_U32, VYRE_F32};

typedef struct generator {
  uint64_t random;
  vyre_module *m;
  const vyre_view *v;
  vyre_builder b;
  vyre_row out, in, private_array, workgroup_array, workgroup_floats, base;
  vyre_row vars[MAX_VARS];
  vyre_row pool[MAX_POOL];
  uint32_t count;  /* of the pool */
  uint32_t budget; /* statements left */
  uint32_t depth;
  bool in_loop, in_continuing;
  vyre_row block; /* innermost block or switch to leave; 0: none */
  uint32_t stored;
} generator;

static uint32_t
below(generator *g, uint32_t n)
{
  g->random = g->random * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((g->random >> 33) % n);
}

static vyre_type
random_type(generator *g)
{
  return VYRE_TYPE(kinds[below(g, 4)], below(g, 2) ? 1 : 1 + below(g, 4));
}

static vyre_type
type_of(const generator *g, vyre_row row)
{
  return VYRE_ROW_TYPE(g->v->op[row.id]);
}

static vyre_row
keep(generator *g, vyre_row row)
{
  if (g->count < MAX_POOL)
    g->pool[g->count++] = row;
  return row;
}

static vyre_row
constant(generator *g, vyre_type type)
{
  static const uint32_t edges[] = {0,           1,           2,           3,           31,          32,
                                   33,          0x7fffffffu, 0x80000000u, 0xffffffffu, 0x3f800000u, 0xbf800000u,
                                   0x40490fdbu, 0x00000001u, 0x7f800000u, 0xff800000u, 0x7fc00000u, 0x4f000000u,
                                   0xcf000000u, 0x80000001u, 0x3effffffu, 0x42280000u, 0x5f000000u, 0x00800000u};
  uint32_t bits =
      below(g, 3) ? edges[below(g, sizeof edges / sizeof edges[0])] : (uint32_t)below(g, 0x7fffffffu) * 2u + below(g, 2);
  if (VYRE_TYPE_KIND(type) == VYRE_BOOL)
    bits &= 1u;
  if (VYRE_TYPE_KIND(type) == VYRE_F32 && (bits & 0x7fffffffu) > 0x7f800000u)
    bits = 0x7fc00000u; /* the one NaN that folds and the interpreter make */
  return vyre_build_const(&g->b, type, bits);
}

static vyre_row value(generator *g, vyre_type type);

/* A value of that type from another one. */
static vyre_row
made_of(generator *g, vyre_type type, vyre_row from)
{
  vyre_type has = type_of(g, from);
  vyre_kind kind = VYRE_TYPE_KIND(type);
  vyre_row parts[4], scalar = from;
  if (VYRE_TYPE_LANES(has) > 1)
    scalar = vyre_build_lane(&g->b, from, below(g, VYRE_TYPE_LANES(has)));
  has = type_of(g, scalar);
  if (VYRE_TYPE_KIND(has) != kind) {
    if (kind == VYRE_BOOL)
      scalar = VYRE_TYPE_KIND(has) == VYRE_F32 ? vyre_build_imm(&g->b, VYRE_OP_flt, scalar, 0x3f800000u)
                                               : vyre_build_imm(&g->b, VYRE_OP_ne, scalar, 0);
    else if (VYRE_TYPE_KIND(has) == VYRE_BOOL)
      scalar = vyre_build_select(&g->b, scalar, constant(g, VYRE_TYPE(kind, 1)), constant(g, VYRE_TYPE(kind, 1)));
    else
      scalar = vyre_build_convert(&g->b, below(g, 3) ? VYRE_OP_convert : VYRE_OP_bitcast, VYRE_TYPE(kind, 1), scalar);
  }
  if (VYRE_TYPE_LANES(type) == 1)
    return scalar;
  if (below(g, 2))
    return vyre_build(&g->b, VYRE_OP_splat, type, 0, 0, 0, scalar, VYRE_NONE, VYRE_NONE);
  for (uint32_t i = 0; i < VYRE_TYPE_LANES(type); i++)
    parts[i] = i == 0 ? scalar : value(g, VYRE_TYPE(kind, 1));
  return vyre_build_join(&g->b, parts, VYRE_TYPE_LANES(type));
}

static vyre_row
value(generator *g, vyre_type type)
{
  uint32_t start, same = 0;
  if (below(g, 10) < 4 || g->count == 0)
    return constant(g, type);
  start = below(g, g->count);
  for (uint32_t i = 0; i < g->count && i < 64; i++) {
    vyre_row row = g->pool[(start + i) % g->count];
    if (type_of(g, row) == type && (same++ || below(g, 4)))
      return row;
  }
  return made_of(g, type, g->pool[below(g, g->count)]);
}

/* ---- expressions --------------------------------------------------------------------------------------------------------- */

static bool
class_kind(generator *g, vyre_class klass, vyre_kind *out)
{
  static const uint8_t has[][4] = {
      /* bool, i32, u32, f32 */
      [VYRE_CLASS_NONE] = {0, 0, 0, 0},  [VYRE_CLASS_ANY] = {1, 1, 1, 1},  [VYRE_CLASS_BOOL] = {1, 0, 0, 0},
      [VYRE_CLASS_UINT] = {0, 0, 1, 0},  [VYRE_CLASS_SINT] = {0, 1, 0, 0}, [VYRE_CLASS_INT] = {0, 1, 1, 0},
      [VYRE_CLASS_FLOAT] = {0, 0, 0, 1}, [VYRE_CLASS_NUM] = {0, 1, 1, 1},  [VYRE_CLASS_BITS] = {1, 1, 1, 0}};
  uint32_t k = below(g, 4);
  if (klass == VYRE_CLASS_NONE)
    return false;
  while (!has[klass][k])
    k = (k + 1) % 4;
  *out = kinds[k];
  return true;
}

static vyre_row
regular(generator *g, vyre_opcode op)
{
  const vyre_op_info *info = &vyre_op_infos[op];
  vyre_kind kind = VYRE_U32;
  vyre_type type, result;
  vyre_row a, b = VYRE_NONE, c = VYRE_NONE;
  class_kind(g, (vyre_class)info->klass, &kind);
  type = VYRE_TYPE(kind, op == VYRE_OP_cross ? 3 : below(g, 2) ? 1 : 1 + below(g, 4));
  result = info->rule == VYRE_RULE_BOOL ? VYRE_TYPE(VYRE_BOOL, VYRE_TYPE_LANES(type)) : type;
  a = value(g, type);
  if (info->operands > 1)
    b = value(g, type);
  if (info->operands > 2)
    c = value(g, type);
  return vyre_build(&g->b, op, result, below(g, 8) ? 0 : VYRE_ROW_EXACT, 0, 0, a, b, c);
}

#define U32   VYRE_TYPE(VYRE_U32, 1)
#define F32   VYRE_TYPE(VYRE_F32, 1)
#define TUPLE VYRE_TYPE(VYRE_TUPLE, 1)

static vyre_row
row(generator *g, vyre_opcode op, vyre_type type, uint32_t imm, vyre_row a, vyre_row b, vyre_row c)
{
  return vyre_build(&g->b, op, type, 0, imm, 0, a, b, c);
}

static vyre_row
vector_expression(generator *g)
{
  vyre_kind kind = kinds[below(g, 4)];
  uint32_t lanes = 2 + below(g, 3), imm = 0;
  vyre_type type = VYRE_TYPE(kind, lanes);
  vyre_row a = value(g, type), b;
  switch (below(g, 6)) {
  case 0:
    return row(g, VYRE_OP_lane, VYRE_TYPE(kind, 1), 0, a, value(g, U32), VYRE_NONE); /* often out of range */
  case 1:
    b = value(g, VYRE_TYPE(kind, 1));
    return row(g, VYRE_OP_insert, type, 0, a, b, below(g, 2) ? value(g, U32) : vyre_build_const(&g->b, U32, below(g, 5)));
  case 2:
    b = value(g, VYRE_TYPE(kind, 1 + below(g, 4)));
    for (uint32_t i = 0; i < lanes; i++)
      imm |= (below(g, 2) ? below(g, lanes) : 4 + below(g, VYRE_TYPE_LANES(type_of(g, b)))) << 4 * i;
    return row(g, VYRE_OP_shuffle, type, imm, a, b, VYRE_NONE);
  case 3:
    a = value(g, VYRE_TYPE(VYRE_BOOL, lanes));
    return row(g, below(g, 2) ? VYRE_OP_any : VYRE_OP_all, VYRE_TYPE(VYRE_BOOL, 1), 0, a, VYRE_NONE, VYRE_NONE);
  case 4:
    b = value(g, type);
    return vyre_build_select(&g->b, value(g, VYRE_TYPE(VYRE_BOOL, below(g, 2) ? 1 : lanes)), a, b);
  default:
    a = value(g, VYRE_TYPE(VYRE_F32, lanes));
    b = value(g, VYRE_TYPE(VYRE_F32, lanes));
    return row(g, VYRE_OP_dot, F32, 0, a, b, VYRE_NONE);
  }
}

static vyre_row
tuple_expression(generator *g)
{
  static const vyre_opcode ops[] = {VYRE_OP_uaddc, VYRE_OP_usubb, VYRE_OP_umulx, VYRE_OP_smulx};
  vyre_opcode op = ops[below(g, 4)];
  vyre_type type = VYRE_TYPE(op == VYRE_OP_smulx ? VYRE_I32 : VYRE_U32, 1 + below(g, 4));
  vyre_row a = value(g, type), b = value(g, type), tuple, columns[3];
  uint32_t n = 2 + below(g, 2);
  if (below(g, 3)) {
    tuple = row(g, op, TUPLE, VYRE_TUPLE_OF(2, type), a, b, VYRE_NONE);
    return row(g, VYRE_OP_part, type, below(g, 2), tuple, VYRE_NONE, VYRE_NONE);
  }
  type = VYRE_TYPE(VYRE_F32, 2 + below(g, 3));
  for (uint32_t i = 0; i < n; i++)
    columns[i] = value(g, type);
  tuple = vyre_build_tuple(&g->b, columns, n);
  if (below(g, 2))
    return row(g, VYRE_OP_part, type, below(g, n), tuple, VYRE_NONE, VYRE_NONE);
  tuple =
      row(g, VYRE_OP_transpose, TUPLE, VYRE_TUPLE_OF(VYRE_TYPE_LANES(type), VYRE_TYPE(VYRE_F32, n)), tuple, VYRE_NONE, VYRE_NONE);
  return row(g, VYRE_OP_part, VYRE_TYPE(VYRE_F32, n), below(g, VYRE_TYPE_LANES(type)), tuple, VYRE_NONE, VYRE_NONE);
}

static vyre_row
bits_expression(generator *g)
{
  uint32_t lanes = 1 + below(g, 4);
  vyre_type type = VYRE_TYPE(below(g, 2) ? VYRE_U32 : VYRE_I32, lanes);
  vyre_row a = value(g, type), b = value(g, U32), c = value(g, U32);
  static const vyre_opcode unpacks[] = {VYRE_OP_unpacksnorm4x8, VYRE_OP_unpackunorm4x8, VYRE_OP_unpacksnorm2x16,
                                        VYRE_OP_unpackunorm2x16, VYRE_OP_unpackhalf2x16};
  static const vyre_opcode packs[] = {VYRE_OP_packsnorm4x8, VYRE_OP_packunorm4x8, VYRE_OP_packsnorm2x16, VYRE_OP_packunorm2x16,
                                      VYRE_OP_packhalf2x16};
  uint32_t k = below(g, 5), width = k < 2 ? 4 : 2;
  switch (below(g, 5)) {
  case 0:
    return row(g, below(g, 2) ? VYRE_OP_ubfe : VYRE_OP_sbfe, type, 0, a, b, c);
  case 1:
    c = vyre_build_tuple(&g->b, (const vyre_row[]){b, c}, 2);
    return row(g, VYRE_OP_bfi, type, 0, a, value(g, type), c);
  case 2:
    return row(g, packs[k], U32, 0, value(g, VYRE_TYPE(VYRE_F32, width)), VYRE_NONE, VYRE_NONE);
  case 3:
    return row(g, unpacks[k], VYRE_TYPE(VYRE_F32, width), 0, b, VYRE_NONE, VYRE_NONE);
  default:
    return made_of(g, random_type(g), a);
  }
}

static bool
is_regular(vyre_opcode op)
{
  const vyre_op_info *info = &vyre_op_infos[op];
  return info->text && op >= VYRE_OP_add && (info->rule == VYRE_RULE_SAME || info->rule == VYRE_RULE_BOOL);
}

static void
expression(generator *g)
{
  vyre_opcode op;
  switch (below(g, 10)) {
  case 0:
  case 1:
    keep(g, vector_expression(g));
    return;
  case 2:
    keep(g, tuple_expression(g));
    return;
  case 3:
    keep(g, bits_expression(g));
    return;
  default:
    do
      op = (vyre_opcode)below(g, VYRE_OP__COUNT);
    while (!is_regular(op));
    keep(g, regular(g, op));
  }
}

/* ---- memory -------------------------------------------------------------------------------------------------------------- */

static vyre_row
element(generator *g, vyre_row buffer, vyre_row index)
{
  return vyre_build_at(&g->b, buffer, index);
}

/* As u32, for the buffers. */
static vyre_row
word_of(generator *g, vyre_row from)
{
  vyre_type type = type_of(g, from);
  if (VYRE_TYPE_LANES(type) > 1)
    from = vyre_build_lane(&g->b, from, below(g, VYRE_TYPE_LANES(type)));
  if (VYRE_TYPE_KIND(type) == VYRE_U32)
    return from;
  if (VYRE_TYPE_KIND(type) == VYRE_BOOL)
    return vyre_build_select(&g->b, from, vyre_build_const(&g->b, U32, 17), vyre_build_const(&g->b, U32, 4));
  return vyre_build_convert(&g->b, VYRE_OP_bitcast, U32, from);
}

static void
store_out(generator *g, vyre_row from)
{
  vyre_row index = vyre_build_imm(&g->b, VYRE_OP_add, g->base, g->stored++ % RANDOM_WORDS);
  vyre_row word = word_of(g, from);
  vyre_build_store(&g->b, element(g, g->out, index), word, 0);
}

static void expression(generator *g);

/* A copy, and its wait: nothing in between looks at memory. */
static void
async(generator *g)
{
  vyre_row to = element(g, g->private_array, value(g, U32));
  vyre_row from = element(g, below(g, 2) ? g->in : g->private_array, value(g, U32));
  row(g, VYRE_OP_async_copy, 0, 0, to, from, VYRE_NONE);
  expression(g);
  row(g, VYRE_OP_async_wait, 0, below(g, 4) ? 0 : 1, VYRE_NONE, VYRE_NONE, VYRE_NONE);
}

/* On a word of its own. */
static vyre_row
atomic(generator *g)
{
  static const vyre_opcode words[] = {VYRE_OP_atomic_load, VYRE_OP_atomic_exchange, VYRE_OP_atomic_compare_exchange,
                                      VYRE_OP_atomic_add,  VYRE_OP_atomic_sub,      VYRE_OP_atomic_umin,
                                      VYRE_OP_atomic_smax, VYRE_OP_atomic_and,      VYRE_OP_atomic_xor};
  static const vyre_opcode floats[] = {VYRE_OP_atomic_load, VYRE_OP_atomic_exchange, VYRE_OP_atomic_fadd, VYRE_OP_atomic_fmin,
                                       VYRE_OP_atomic_fmax};
  const bool is_float = below(g, 3) == 0;
  const vyre_type type = is_float ? VYRE_TYPE(VYRE_F32, 1) : U32;
  const vyre_opcode op = is_float ? floats[below(g, 5)] : words[below(g, 9)];
  const uint32_t operands = vyre_op_infos[op].operands;
  const vyre_row own = row(g, VYRE_OP_lindex, U32, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
  const vyre_row path = element(g, is_float ? g->workgroup_floats : g->workgroup_array, own);
  const vyre_row b = operands > 1 ? value(g, type) : VYRE_NONE, c = operands > 2 ? value(g, type) : VYRE_NONE;
  return row(g, op, type, VYRE_ORDER(0, 2, below(g, 4) ? 0 : 0x108), path, b, c);
}

static void
memory(generator *g)
{
  vyre_row lane;
  switch (below(g, 9)) {
  case 0:
    keep(g, vyre_build_load(&g->b, element(g, g->in, value(g, U32)), 0)); /* often out of bounds */
    break;
  case 5:
    async(g);
    break;
  case 1:
    lane = vyre_build_imm(&g->b, VYRE_OP_and, value(g, U32), RANDOM_WORDS - 1);
    lane = vyre_build_binary(&g->b, VYRE_OP_add, g->base, lane);
    keep(g, vyre_build_load(&g->b, element(g, g->out, lane), 0));
    break;
  case 2:
    keep(g, vyre_build_load(&g->b, element(g, g->private_array, value(g, U32)), 0));
    break;
  case 3:
    lane = word_of(g, value(g, random_type(g)));
    vyre_build_store(&g->b, element(g, g->private_array, value(g, U32)), lane, 0);
    break;
  case 6:
    keep(g, atomic(g));
    break;
  case 4: /* nobody else reads it */
    lane = row(g, VYRE_OP_lindex, U32, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
    vyre_build_store(&g->b, element(g, g->workgroup_array, lane), word_of(g, value(g, random_type(g))), 0);
    break;
  default:
    store_out(g, value(g, random_type(g)));
    break;
  }
}

static void
variable(generator *g)
{
  vyre_row var = g->vars[below(g, MAX_VARS)];
  if (below(g, 2))
    keep(g, vyre_build_get(&g->b, var));
  else
    vyre_build_set(&g->b, var, value(g, type_of(g, var)));
}

/* ---- control
 * ---------------------------------------------------------------------------------------------------------------------------------
 */

static void statements(generator *g, uint32_t count);

/* What is inside is not seen outside. */
static void
inside(generator *g, vyre_row region, uint32_t count)
{
  uint32_t mark = g->count;
  vyre_builder_at_end(&g->b, region);
  statements(g, count);
  g->count = mark;
}

/* A jump as the region's last row, where one is allowed. */
static void
maybe_jump(generator *g)
{
  switch (below(g, 12)) {
  case 0:
    if (g->in_loop)
      vyre_build_jump(&g->b, below(g, 2) ? VYRE_OP_break : VYRE_OP_continue, VYRE_NONE);
    break;
  case 1:
    if (!g->in_continuing && below(g, 3) == 0)
      vyre_build_jump(&g->b, VYRE_OP_return, VYRE_NONE);
    break;
  case 2:
    if (g->block.id)
      vyre_build_jump(&g->b, VYRE_OP_leave, g->block);
    break;
  default:
    break;
  }
}

static vyre_row
condition(generator *g)
{
  return value(g, VYRE_TYPE(VYRE_BOOL, 1));
}

static void
build_if(generator *g)
{
  vyre_row control = vyre_build_if(&g->b, condition(g));
  inside(g, vyre_region_of(g->m, control, 0), 1 + below(g, 4));
  maybe_jump(g);
  if (below(g, 2)) {
    inside(g, vyre_region_of(g->m, control, 1), 1 + below(g, 3));
    maybe_jump(g);
  }
  vyre_builder_leave(&g->b, control);
}

/* Any value of an integer type. */
static vyre_row
bound_of(generator *g, vyre_type type)
{
  vyre_kind kind = VYRE_TYPE_KIND(type);
  if (kind == VYRE_I32 || kind == VYRE_U32)
    return value(g, type);
  return vyre_build_convert(&g->b, VYRE_OP_convert, type, value(g, vyre_kind_is_signed(kind) ? VYRE_TYPE(VYRE_I32, 1) : U32));
}

/* The index of a `for`, as 32 bits. */
static vyre_row
counter_of(generator *g, vyre_row control)
{
  vyre_row index = vyre_region_of(g->m, control, 0);
  vyre_kind kind = VYRE_TYPE_KIND(type_of(g, index));
  return kind == VYRE_I32 || kind == VYRE_U32 ? index : vyre_build_convert(&g->b, VYRE_OP_convert, U32, index);
}

static void
build_for(generator *g)
{
  vyre_type type = VYRE_TYPE(VYRE_I8 + below(g, 8), 1); /* any integer */
  vyre_row zero = vyre_build_const(&g->b, type, 0), one = vyre_build_const(&g->b, type, 1 + below(g, 2));
  vyre_row limit =
      below(g, 2) ? vyre_build_const(&g->b, type, below(g, 5)) : vyre_build_imm(&g->b, VYRE_OP_and, bound_of(g, type), 3);
  vyre_row control, saved = g->block;
  bool in_loop = g->in_loop;
  uint32_t mark;
  control = vyre_build_for(&g->b, zero, limit, one);
  mark = g->count;
  keep(g, counter_of(g, control));
  g->in_loop = true;
  inside(g, vyre_region_of(g->m, control, 0), 1 + below(g, 5));
  maybe_jump(g);
  g->in_loop = in_loop;
  g->block = saved;
  g->count = mark;
  vyre_builder_leave(&g->b, control);
}

/* Counts in a variable of its own, so that it ends. */
static void
build_loop(generator *g)
{
  vyre_row counter = vyre_build_var(&g->b, U32), control, next, done;
  bool in_loop = g->in_loop, in_continuing = g->in_continuing;
  vyre_row block = g->block;
  vyre_build_set(&g->b, counter, vyre_build_const(&g->b, U32, 0));
  control = vyre_build_loop(&g->b);
  g->in_loop = true;
  inside(g, vyre_region_of(g->m, control, 0), 1 + below(g, 5));
  maybe_jump(g);
  g->in_loop = false;
  g->in_continuing = true;
  g->block = VYRE_NONE;
  inside(g, vyre_region_of(g->m, control, 1), below(g, 3));
  next = vyre_build_imm(&g->b, VYRE_OP_add, vyre_build_get(&g->b, counter), 1);
  vyre_build_set(&g->b, counter, next);
  done = vyre_build_imm(&g->b, VYRE_OP_uge, next, 1 + below(g, 4));
  vyre_build_jump(&g->b, VYRE_OP_breakif, done);
  g->in_loop = in_loop;
  g->in_continuing = in_continuing;
  g->block = block;
  vyre_builder_leave(&g->b, control);
}

static void
build_switch(generator *g)
{
  vyre_row selector = vyre_build_imm(&g->b, VYRE_OP_and, value(g, U32), 3), labels[4], tuple, control, cases[3], block = g->block;
  uint32_t n = 1 + below(g, 3);
  for (uint32_t i = 0; i < 4; i++)
    labels[i] = vyre_build_const(&g->b, U32, i);
  tuple = vyre_build_tuple(&g->b, labels + 2, 2);
  control = vyre_build_switch(&g->b, selector);
  for (uint32_t i = 0; i < n; i++)
    cases[i] = vyre_build_case(&g->b, control, i == 2 ? tuple : labels[i], i == 1 && below(g, 2));
  g->block = control;
  for (uint32_t i = 0; i < n; i++) {
    inside(g, cases[i], 1 + below(g, 3));
    if (i + 1 < n && below(g, 3) == 0)
      vyre_build_jump(&g->b, VYRE_OP_fallthrough, VYRE_NONE);
    else
      maybe_jump(g);
  }
  g->block = block;
  vyre_builder_leave(&g->b, control);
}

static void
build_block(generator *g)
{
  vyre_row control = vyre_build_block(&g->b), block = g->block;
  g->block = control;
  inside(g, vyre_region_of(g->m, control, 0), 1 + below(g, 4));
  maybe_jump(g);
  g->block = block;
  vyre_builder_leave(&g->b, control);
}

static void
control(generator *g)
{
  g->depth++;
  switch (below(g, 6)) {
  case 0:
    build_for(g);
    break;
  case 1:
    build_loop(g);
    break;
  case 2:
    build_switch(g);
    break;
  case 3:
    build_block(g);
    break;
  default:
    build_if(g);
    break;
  }
  g->depth--;
}

static void
statements(generator *g, uint32_t count)
{
  for (uint32_t i = 0; i < count && g->budget; i++) {
    uint32_t what = below(g, 20);
    g->budget--;
    if (what < 2 && g->depth < 4)
      control(g);
    else if (what < 6)
      variable(g);
    else if (what < 9)
      memory(g);
    else
      expression(g);
  }
}

void
random_program_build(vyre_module *module, uint64_t seed, bool relaxed)
{
  generator g = {.random = seed * 2654435761u + 12345u, .m = module, .v = vyre_module_view(module), .budget = 120};
  vyre_type_id words = vyre_type_runtime_array(module, U32, 0);
  vyre_row gid, one, four;
  vyre_build_program(module, "random", relaxed ? VYRE_PROGRAM_RELAXED : 0, vyre_module_add_input(module, "random"), &g.b);
  if (below(&g, 16) == 0) {
    uint32_t *mode = (uint32_t *)g.v->imm + g.b.program;
    *mode |= below(&g, 2) ? VYRE_PROGRAM_FLUSH_32 : VYRE_PROGRAM_TO_ZERO_32;
  }
  four = vyre_build_const(&g.b, U32, 4);
  one = vyre_build_const(&g.b, U32, 1);
  vyre_build_workgroup(&g.b, four, one, one);
  g.out = vyre_build_buffer(&g.b, words, VYRE_SPACE_STORAGE, 0, 0, 0);
  g.in = vyre_build_buffer(&g.b, words, VYRE_SPACE_STORAGE, VYRE_ACCESS_NO_WRITE, 0, 1);
  g.private_array = vyre_build_buffer(&g.b, vyre_type_array(module, U32, 5, VYRE_NONE, 0), VYRE_SPACE_PRIVATE, 0, 0, 0);
  g.workgroup_array = vyre_build_buffer(&g.b, vyre_type_array(module, U32, 4, VYRE_NONE, 0), VYRE_SPACE_WORKGROUP, 0, 0, 0);
  g.workgroup_floats =
      vyre_build_buffer(&g.b, vyre_type_array(module, VYRE_TYPE(VYRE_F32, 1), 4, VYRE_NONE, 0), VYRE_SPACE_WORKGROUP, 0, 0, 0);
  for (uint32_t i = 0; i < MAX_VARS; i++)
    g.vars[i] = vyre_build_var(&g.b, random_type(&g));
  keep(&g, vyre_build_spec(&g.b, U32, below(&g, 100), 1));
  gid = row(&g, VYRE_OP_gid, VYRE_TYPE(VYRE_U32, 3), 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
  keep(&g, vyre_build_lane(&g.b, gid, 0));
  g.base = vyre_build_imm(&g.b, VYRE_OP_mul, g.pool[g.count - 1], RANDOM_WORDS);
  keep(&g, vyre_build_load(&g.b, element(&g, g.in, g.pool[g.count - 1]), 0));
  while (g.budget)
    statements(&g, g.budget);
  for (uint32_t i = 0; i < MAX_VARS; i++)
    store_out(&g, vyre_build_get(&g.b, g.vars[i]));
}
