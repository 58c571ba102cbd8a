/* Each pure op on each kind that it takes, under each float mode, as PTX that the simulator runs, against the interpreter: the same
 * bits where there is one right result, else within the last bit of what libm gives in double.  And ptxas compiles each of them.
 *
 * A program is one op: an invocation loads its operands, scalar by scalar, and stores what comes of them.  Ops that take a literal
 * are written with one, too.  VYRE_RUNS in the environment: for how many architectures ptxas compiles each; one, in turn, by
 * default.  VYRE_PARTS, VYRE_PART: so many parts of the programs, and that one alone is run.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "bounds.h"
#include "eval_shape.h"
#include "ptxas.h"
#include "run_ptx.h"

#include "eval/scalar.h"

#include "vyre/verify.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define INVOCATIONS 64u
#define SCALARS     16u /* of an operand or a result, at most: four parts of four lanes */

#define FLUSH   (VYRE_PROGRAM_FLUSH_16 | VYRE_PROGRAM_FLUSH_32 | VYRE_PROGRAM_FLUSH_64)
#define TO_ZERO (VYRE_PROGRAM_TO_ZERO_16 | VYRE_PROGRAM_TO_ZERO_32 | VYRE_PROGRAM_TO_ZERO_64)

static const uint32_t architectures[] = {75, 80, 90, 100};
/* The last two: of one kind alone, whose conversions have the other's mode on one side. */
static const uint32_t modes[] = {0, FLUSH, TO_ZERO, FLUSH | TO_ZERO, VYRE_PROGRAM_TO_ZERO_32, VYRE_PROGRAM_FLUSH_32};

typedef struct trial {
  eval_sample sample;
  uint32_t modes; /* of its program */
  vyre_opcode op;
  vyre_kind kind;
  vyre_type part_types[4]; /* of the result */
  uint32_t parts;
  bool literal;
  uint64_t bits; /* of that */
} trial;

/* By operand, then the result, and frexp's second one: what an element of it takes in memory is `scalar_size`. */
typedef struct memory {
  _Alignas(16) uint8_t bytes[5][INVOCATIONS * SCALARS * 8];
} memory;

static vyre_kind
memory_kind(vyre_kind kind)
{
  return kind == VYRE_BOOL ? VYRE_U32 : kind;
}

static uint32_t
scalar_size(vyre_kind kind)
{
  return vyre_kind_bits(memory_kind(kind)) / 8;
}

/* ---- programs --------------------------------------------------------------------------------------------------------------- */

static vyre_row
element(vyre_builder *b, vyre_row buffer, vyre_row first, uint32_t k)
{
  return vyre_build_at(b, buffer, vyre_build_imm(b, VYRE_OP_add, first, k));
}

/* A scalar or vector at `first`. */
static vyre_row
load_value(vyre_builder *b, vyre_row buffer, vyre_row first, uint32_t k, vyre_type type)
{
  vyre_row lanes[4];
  for (uint32_t i = 0; i < VYRE_TYPE_LANES(type); i++) {
    lanes[i] = vyre_build_load(b, element(b, buffer, first, k + i), 0);
    if (VYRE_TYPE_KIND(type) == VYRE_BOOL)
      lanes[i] = vyre_build_imm(b, VYRE_OP_ne, lanes[i], 0);
  }
  return vyre_build_join(b, lanes, VYRE_TYPE_LANES(type));
}

static void
store_value(vyre_builder *b, vyre_row buffer, vyre_row first, uint32_t k, vyre_type type, vyre_row value)
{
  const bool is_bool = VYRE_TYPE_KIND(type) == VYRE_BOOL;
  const vyre_row one = is_bool ? vyre_build_const(b, VYRE_TYPE(VYRE_U32, 1), 1) : value;
  const vyre_row zero = is_bool ? vyre_build_const(b, VYRE_TYPE(VYRE_U32, 1), 0) : value;
  for (uint32_t i = 0; i < VYRE_TYPE_LANES(type); i++) {
    vyre_row lane = VYRE_TYPE_LANES(type) > 1 ? vyre_build_lane(b, value, i) : value;
    if (is_bool)
      lane = vyre_build_select(b, lane, one, zero);
    vyre_build_store(b, element(b, buffer, first, k + i), lane, 0);
  }
}

static vyre_row
load_operand(vyre_builder *b, const vyre_eval_operand *operand, vyre_row buffer, vyre_row first)
{
  vyre_row parts[4];
  for (uint32_t p = 0; p < operand->parts; p++)
    parts[p] = load_value(b, buffer, first, 4 * p, operand->part_type);
  return operand->parts ? vyre_build_tuple(b, parts, operand->parts) : load_value(b, buffer, first, 0, operand->type);
}

static vyre_kind
operand_kind(const vyre_eval_operand *operand)
{
  return VYRE_TYPE_KIND(operand->parts ? operand->part_type : operand->type);
}

static vyre_row
array_of(vyre_builder *b, vyre_kind kind, uint32_t binding)
{
  const vyre_type_id type = vyre_type_runtime_array(b->module, VYRE_TYPE(memory_kind(kind), 1), 0);
  return vyre_build_buffer(b, type, VYRE_SPACE_STORAGE, 0, 0, binding);
}

/* What the result is made of. */
static void
find_parts(trial *t)
{
  const vyre_eval_operand *a = &t->sample.operands[0], *b = &t->sample.operands[1];
  const vyre_type type = a->parts ? a->part_type : a->type;
  t->parts = VYRE_TYPE_KIND(t->sample.type) != VYRE_TUPLE ? 1
             : t->op == VYRE_OP_outer                     ? VYRE_TYPE_LANES(b->type)
             : a->parts                                   ? a->parts
                                                          : 2;
  for (uint32_t p = 0; p < 4; p++)
    t->part_types[p] = VYRE_TYPE_KIND(t->sample.type) != VYRE_TUPLE ? t->sample.type : type;
  if (t->op == VYRE_OP_frexp)
    t->part_types[1] = VYRE_TYPE(VYRE_I32, VYRE_TYPE_LANES(type));
}

static void
build(vyre_module *module, const trial *t, uint32_t number)
{
  char name[32];
  vyre_builder b;
  vyre_row operands[3] = {VYRE_NONE, VYRE_NONE, VYRE_NONE}, buffers[4] = {VYRE_NONE, VYRE_NONE, VYRE_NONE, VYRE_NONE};
  snprintf(name, sizeof name, "p%u", number);
  vyre_build_program(module, name, t->modes, vyre_module_add_input(module, ""), &b);
  const vyre_row width = vyre_build_const(&b, VYRE_TYPE(VYRE_U32, 1), 32), one = vyre_build_const(&b, VYRE_TYPE(VYRE_U32, 1), 1);
  vyre_build_workgroup(&b, width, one, one);
  for (uint32_t k = 0; k < 4; k++)
    if (k == 3 || t->sample.operands[k].value)
      buffers[k] = array_of(&b, k < 3 ? operand_kind(&t->sample.operands[k]) : VYRE_TYPE_KIND(t->part_types[0]), k);
  const vyre_row second = t->op == VYRE_OP_frexp ? array_of(&b, VYRE_I32, 4) : buffers[3];
  const vyre_row invocation = vyre_build_lane(&b, vyre_build_invocation(&b, VYRE_OP_gid), 0);
  const vyre_row first = vyre_build_imm(&b, VYRE_OP_mul, invocation, SCALARS);
  for (uint32_t k = 0; k < 3; k++)
    if (t->literal && k == 1)
      operands[k] = vyre_build_const(&b, t->sample.operands[k].type, t->bits);
    else if (t->sample.operands[k].value)
      operands[k] = load_operand(&b, &t->sample.operands[k], buffers[k], first);
  const bool several = VYRE_TYPE_KIND(t->sample.type) == VYRE_TUPLE;
  const uint32_t imm = several                    ? VYRE_TUPLE_OF(t->parts, t->op == VYRE_OP_frexp ? 0 : t->part_types[0])
                                          : t->op == VYRE_OP_shuffle ? t->sample.imm
                       : t->op == VYRE_OP_const   ? 1
                                                  : 0;
  const vyre_row row = vyre_build(&b, t->op, t->sample.type, 0, imm, 0, operands[0], operands[1], operands[2]);
  for (uint32_t p = 0; p < t->parts; p++)
    store_value(&b, p == 1 ? second : buffers[3], first, 4 * p, t->part_types[p],
                several ? vyre_build_part(&b, row, p, t->part_types[p]) : row);
}

/* ---- results ---------------------------------------------------------------------------------------------------------------- */

/* The greatest number instead of infinity, which rounding toward zero gives where it is rounded at all. */
static double
bounded(vyre_kind kind, double x)
{
  const double greatest = kind == VYRE_F64 ? 0x1.fffffffffffffp1023 : kind == VYRE_F32 ? 0x1.fffffep127 : 65504.0;
  return isinf(x) ? copysign(greatest, x) : x;
}

/* Whether it is within the bounds of bounds.h of what libm gives, an f16 but for the last bit; an f64, which nobody rounds, for a
 * few.  One more where results are cut. */
static bool
is_near(vyre_opcode op, vyre_kind kind, uint32_t mode, uint64_t is, uint64_t want, uint64_t x)
{
  const bool cut = (mode & vyre_mode_to_zero(kind)) != 0, flush = (mode & vyre_mode_flush(kind)) != 0;
  double a = double_of_lane(kind, is), b = double_of_lane(kind, want);
  const double angle = double_of_lane(kind, x), ulps = ulps_of(op) + (cut ? 1.5 : 0.5);
  const double step = kind == VYRE_F64 ? 0x1p-50 : kind == VYRE_F32 ? ulps * 0x1p-23 : cut ? 0x1p-9 : 0x1p-10;
  double least = kind == VYRE_F64 ? 0x1p-1050 : kind == VYRE_F32 ? 0x1p-149 : 0x1p-24;
  const bool turns = op == VYRE_OP_sin || op == VYRE_OP_cos || op == VYRE_OP_tan;
  if (cut) {
    a = bounded(kind, a);
    b = bounded(kind, b);
  }
  if (flush)
    least = kind == VYRE_F64 ? 0x1p-1022 : kind == VYRE_F32 ? 0x1p-126 : 0x1p-14;
  if (is == want || (turns && kind == VYRE_F64 && fabs(angle) >= 0x1p30))
    return true;
  if (isnan(a) || isnan(b) || isinf(b) || isinf(a))
    return op == VYRE_OP_pow && isinf(a) != isinf(b) && !isnan(a) && !isnan(b) && fabs(isinf(a) ? b : a) > 1e300;
  if (op == VYRE_OP_pow && kind == VYRE_F64) /* whose error grows with the exponent */
    return fabs(a - b) <= fabs(b) * 0x1p-41 + least;
  return fabs(a - b) <= fabs(b) * step * 1.01 + least * 1.01 + (turns && kind == VYRE_F64 ? 0x1p-53 : 0.0);
}

static uint64_t
read_scalar(const memory *m, uint32_t which, vyre_kind kind, uint32_t k)
{
  uint64_t bits = 0;
  memcpy(&bits, m->bytes[which] + k * scalar_size(kind), scalar_size(kind));
  return bits;
}

/* The operands of an invocation, into memory. */
static void
put_operands(const trial *t, memory *m, uint32_t invocation)
{
  for (uint32_t k = 0; k < 3; k++) {
    const vyre_eval_operand *operand = &t->sample.operands[k];
    const uint32_t size = scalar_size(operand_kind(operand));
    for (uint32_t i = 0; operand->value && i < SCALARS; i++)
      memcpy(m->bytes[k] + (invocation * SCALARS + i) * size, &t->sample.values[k][i / 4].lane[i % 4], size);
  }
}

static void
check_result(const trial *t, const memory *m, const memory *wanted, uint32_t invocation)
{
  const bool open = t->op >= VYRE_OP_sin && t->op <= VYRE_OP_pow;
  for (uint32_t p = 0; p < t->parts; p++)
    for (uint32_t i = 0; i < VYRE_TYPE_LANES(t->part_types[p]); i++) {
      const vyre_kind kind = VYRE_TYPE_KIND(t->part_types[p]);
      const uint32_t buffer = t->op == VYRE_OP_frexp && p == 1 ? 4 : 3, at = invocation * SCALARS + 4 * p + i;
      const uint64_t is = read_scalar(m, buffer, kind, at), want = read_scalar(wanted, buffer, kind, at);
      const vyre_value *v = t->sample.values[0], *w = t->sample.values[1];
      if (is == want || (open && is_near(t->op, kind, t->modes, is, want, v->lane[i])))
        continue;
      fail_msg("%s of %u, modes %u, lanes %u%s: 0x%llx, not 0x%llx, of 0x%llx 0x%llx 0x%llx", vyre_op_infos[t->op].text, t->kind,
               t->modes, VYRE_TYPE_LANES(t->part_types[p]), t->literal ? ", a literal" : "", (unsigned long long)is,
               (unsigned long long)want, (unsigned long long)v->lane[i], (unsigned long long)w->lane[i],
               (unsigned long long)t->sample.values[2][0].lane[i]);
    }
}

/* x and n with x 2^n a denormal f64 next to the middle of two. */
static void
near_middle(vyre_value *x, vyre_value *n, uint32_t lane)
{
  const uint64_t more = eval_random() % 16, kept = eval_random() & 0x3fff;
  x->lane[lane] = (43 + more) << 52 | kept << 38 | UINT64_C(1) << 37 | (eval_random() & 1);
  n->lane[lane] = (uint32_t)-80 - (uint32_t)more;
}

/* Any bits; and in turns numbers that are near each other, and exponents that leave numbers. */
static void
randomize(trial *t, uint32_t turn)
{
  eval_sample *s = &t->sample;
  const vyre_kind kind = operand_kind(&s->operands[0]);
  const uint32_t most = kind == VYRE_F64 ? 2200 : 300;
  const bool near = turn % 4 == 1 && s->operands[1].value && operand_kind(&s->operands[1]) == kind;
  eval_randomize(s);
  for (uint32_t k = 0; k < 16; k++)
    if (t->op == VYRE_OP_ldexp && turn % 8 == 7 && kind == VYRE_F64)
      near_middle(&s->values[0][k / 4], &s->values[1][k / 4], k % 4);
    else if (t->op == VYRE_OP_ldexp && turn % 2)
      s->values[1][k / 4].lane[k % 4] = (uint32_t)(eval_random() % (2 * most)) - most;
    else if (near)
      s->values[1][k / 4].lane[k % 4] = eval_cut(kind, s->values[0][k / 4].lane[k % 4] ^ eval_random() >> (64 - turn));
  for (uint32_t k = 0; k < 4 && t->literal; k++)
    s->values[1][0].lane[k] = t->bits;
}

/* Binds them to that memory. */
static void
bind(vyre_module *module, vyre_dispatch *dispatch, memory *m, vyre_binding bindings[5])
{
  vyre_row row;
  dispatch->bindings = bindings;
  dispatch->binding_count = 0;
  for (uint32_t k = 0; (row = vyre_ptx_buffer_row(module, dispatch->program, k)).id; k++)
    bindings[dispatch->binding_count++] =
        (vyre_binding){row, m->bytes[vyre_buffer_info_of(module, row)->binding], sizeof m->bytes[0], 0};
}

static void
check_trial(vyre_module *module, trial *t, uint32_t seed)
{
  static memory m, wanted;
  static trial all[INVOCATIONS];
  const uint32_t sm = architectures[seed % 4];
  vyre_bytes text = {0};
  vyre_binding bindings[5];
  vyre_module_clear(module);
  build(module, t, 0);
  assert_ok(vyre_module_seal(module, NULL), "seal");
  vyre_dispatch dispatch = {.program = {vyre_module_view(module)->first[0]}, .groups = {INVOCATIONS / 32, 1, 1}};
  for (uint32_t i = 0; i < INVOCATIONS; i++) {
    randomize(t, i);
    put_operands(t, &m, i);
    all[i] = *t;
  }
  wanted = m;
  bind(module, &dispatch, &wanted, bindings);
  assert_ok(vyre_interp_run(module, &dispatch, NULL, NULL), vyre_op_infos[t->op].text);
  bind(module, &dispatch, &m, bindings);
  write_ptx(module, dispatch.program.id, sm, &text);
  ptx_program ptx = parse_ptx(&text, sm);
  assert_int_equal(run_ptx(&ptx, module, &dispatch, seed, false, vyre_op_infos[t->op].text), 0);
  for (uint32_t i = 0; i < INVOCATIONS; i++)
    check_result(&all[i], &m, &wanted, i);
  free_ptx(&ptx);
  vyre_bytes_free(&text);
}

/* ---- all of them ------------------------------------------------------------------------------------------------------------ */

/* A program each: those of convert and bitcast for each kind of result. */
static uint32_t
next_kind(vyre_opcode op, vyre_kind from, uint32_t to)
{
  for (to++; to <= VYRE_F64; to++)
    if (to != VYRE_BOOL && (op == VYRE_OP_convert || vyre_kind_bits((vyre_kind)to) == vyre_kind_bits(from)))
      return to;
  return 0;
}

static bool
begin_trial(trial *t, uint32_t mode, vyre_opcode op, vyre_kind kind, uint32_t lanes, bool literal)
{
  *t = (trial){.modes = mode, .op = op, .kind = kind, .literal = literal};
  eval_shape(&t->sample, op, kind, lanes);
  if (literal && (!(vyre_op_infos[op].flags & VYRE_OP_TAKES_IMM) || t->sample.operands[1].parts))
    return false;
  if (literal)
    t->bits = eval_cut(operand_kind(&t->sample.operands[1]), eval_random());
  find_parts(t);
  return true;
}

typedef void (*visitor)(void *user, trial *t);

static void
for_each_trial(visitor visit, void *user, uint32_t mode, vyre_kind kind)
{
  trial t;
  for (uint32_t op = 1; op < VYRE_OP__COUNT; op++) {
    const bool free_result = op == VYRE_OP_convert || op == VYRE_OP_bitcast;
    const bool is_matrix = op >= VYRE_OP_matvec && op <= VYRE_OP_inverse, crosses = op == VYRE_OP_cross || op == VYRE_OP_outer;
    if (!eval_takes((vyre_opcode)op, kind) || op == VYRE_OP_const)
      continue;
    for (uint32_t literal = 0; literal < 2; literal++) {
      const uint32_t turn = (op + kind + literal) % 4, lanes = is_matrix || crosses ? 2 + turn % 3 : 1 + turn;
      const bool scalar = op == VYRE_OP_splat || op == VYRE_OP_shuffle || op == VYRE_OP_lane || op == VYRE_OP_insert;
      if (!begin_trial(&t, mode, (vyre_opcode)op, kind, scalar ? 4 : lanes, literal != 0))
        continue;
      for (uint32_t to = free_result ? next_kind((vyre_opcode)op, kind, 0) : 1; to;
           to = free_result ? next_kind((vyre_opcode)op, kind, to) : 0) {
        if (free_result) {
          t.sample.type = VYRE_TYPE(to, lanes);
          find_parts(&t);
        }
        visit(user, &t);
      }
    }
  }
}

typedef struct gathered {
  vyre_module *module;
  uint32_t count;
} gathered;

static void
run_one(void *user, trial *t)
{
  gathered *all = user;
  if (all->count % from_environment("VYRE_PARTS", 1) == from_environment("VYRE_PART", 0))
    check_trial(all->module, t, all->count);
  all->count++;
}

static void
add_one(void *user, trial *t)
{
  gathered *all = user;
  build(all->module, t, all->count++);
}

static void
each_op_computes_what_the_interpreter_does(void **state)
{
  gathered all = {0};
  (void)state;
  assert_ok(vyre_module_create(NULL, 0, &all.module), "module");
  for (uint32_t i = 0; i < sizeof modes / sizeof *modes; i++)
    for (uint32_t kind = VYRE_BOOL; kind <= VYRE_F64; kind++)
      for_each_trial(run_one, &all, modes[i], (vyre_kind)kind);
  print_message("%u programs of one op\n", all.count);
  vyre_module_destroy(all.module);
}

static void
ptxas_compiles_each_op(void **state)
{
  const uint32_t runs = from_environment("VYRE_RUNS", 1);
  gathered all = {0};
  (void)state;
  if (!needs_ptxas())
    return;
  assert_ok(vyre_module_create(NULL, 0, &all.module), "module");
  for (uint32_t kind = VYRE_BOOL; kind <= VYRE_F64; kind++)
    for (uint32_t i = 0; i < runs && i < 4; i++) {
      const uint32_t sm = architectures[(kind + i) % 4];
      vyre_bytes text = {0};
      ptxas_result result;
      vyre_module_clear(all.module);
      all.count = 0;
      for_each_trial(add_one, &all, modes[(kind + i) % 4], (vyre_kind)kind);
      assert_ok(vyre_module_seal(all.module, NULL), "seal");
      write_ptx(all.module, 0, sm, &text);
      check_ptxas(text.data, text.size, sm, "-O1", "all ops of a kind", &result);
      vyre_bytes_free(&text);
    }
  vyre_module_destroy(all.module);
}

/* With an argument: what ptxas says, which is a test of its own, as it may be missing. */
int
main(int argc, char **argv)
{
  (void)argv;
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_op_computes_what_the_interpreter_does),
                                     cmocka_unit_test(ptxas_compiles_each_op)};
  cmocka_set_test_filter(argc > 1 ? "ptxas*" : NULL);
  cmocka_set_skip_filter(argc > 1 ? NULL : "ptxas*");
  return cmocka_run_group_tests(tests, NULL, NULL);
}
