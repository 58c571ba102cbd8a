/* The interpreter computes rows for a whole workgroup at once, in ways of its own for speed: each op must give each invocation what
 * vyre_eval gives for its operands.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "vyre/eval.h"
#include "vyre/run.h"

#include "eval_shape.h"

#define U32 VYRE_TYPE(VYRE_U32, 1)

enum { INVOCATIONS = 67, SLOTS = 16, BYTES = 32 };

/* Inputs and outputs of one invocation: slot k * 4 + p is part p of operand k, or of the result; each in BYTES bytes. */
typedef uint8_t memory[INVOCATIONS][SLOTS][BYTES];

static uint32_t
scalar_size(vyre_kind kind)
{
  return kind == VYRE_BOOL ? 4 : vyre_kind_bits(kind) / 8;
}

static void
put(uint8_t *to, vyre_type type, const vyre_value *value)
{
  const uint32_t size = scalar_size(VYRE_TYPE_KIND(type));
  for (uint32_t i = 0; i < VYRE_TYPE_LANES(type); i++)
    memcpy(to + (size_t)i * size, &value->lane[i], size);
}

/* The element of the invocation in slot `slot` of a buffer whose slots have that type. */
static vyre_row
path(vyre_builder *b, vyre_type type, vyre_row index, uint32_t slot, uint32_t set, vyre_row *buffers, uint32_t *count)
{
  vyre_module *m = b->module;
  const vyre_type stored = VYRE_TYPE_KIND(type) == VYRE_BOOL ? VYRE_TYPE(VYRE_U32, VYRE_TYPE_LANES(type)) : type;
  const vyre_type_id slots = vyre_type_array(m, stored, SLOTS, VYRE_NONE, BYTES);
  const vyre_type_id all = vyre_type_runtime_array(m, slots, SLOTS * BYTES);
  const vyre_row buffer = vyre_build_buffer(b, all, VYRE_SPACE_STORAGE, 0, set, 0);
  buffers[(*count)++] = buffer;
  return vyre_build_at_literal(b, vyre_build_at(b, buffer, index), slot);
}

static vyre_row
load(vyre_builder *b, vyre_type type, vyre_row index, uint32_t slot, vyre_row *buffers, uint32_t *count)
{
  const vyre_row bits = vyre_build_load(b, path(b, type, index, slot, 0, buffers, count), 0);
  return VYRE_TYPE_KIND(type) == VYRE_BOOL ? vyre_build_imm(b, VYRE_OP_ne, bits, 0) : bits;
}

static void
store(vyre_builder *b, vyre_type type, vyre_row index, uint32_t slot, vyre_row value, vyre_row *buffers, uint32_t *count)
{
  const uint32_t lanes = VYRE_TYPE_LANES(type);
  if (VYRE_TYPE_KIND(type) == VYRE_BOOL)
    value = vyre_build_select(b, value, vyre_build_const(b, VYRE_TYPE(VYRE_U32, lanes), 1),
                              vyre_build_const(b, VYRE_TYPE(VYRE_U32, lanes), 0));
  vyre_build_store(b, path(b, type, index, slot, 1, buffers, count), value, 0);
}

/* Parts of the result, and the type of each. */
static uint32_t
result_parts(vyre_opcode op, const eval_sample *s, vyre_kind kind, uint32_t lanes, vyre_type types[4])
{
  if (VYRE_TYPE_KIND(s->type) != VYRE_TUPLE) {
    types[0] = s->type;
    return 1;
  }
  for (uint32_t k = 0; k < 4; k++)
    types[k] = op == VYRE_OP_frexp && k == 1 ? VYRE_TYPE(VYRE_I32, lanes) : VYRE_TYPE(kind, lanes);
  return op == VYRE_OP_outer || op == VYRE_OP_matmat || op == VYRE_OP_transpose || op == VYRE_OP_inverse ? lanes : 2;
}

static void
check(vyre_opcode op, vyre_kind kind, uint32_t lanes, bool literal)
{
  static memory in, out, want;
  static eval_sample samples[INVOCATIONS];
  vyre_module *m;
  vyre_builder b;
  vyre_row buffers[32];
  uint32_t count = 0, map[1024];
  vyre_type types[4];
  memset(out, 0, sizeof out);
  memset(want, 0, sizeof want);
  assert_null(vyre_module_create(NULL, 1024, &m));
  const vyre_row program = vyre_build_program(m, "p", 0, vyre_module_add_input(m, "p.vir"), &b);
  const vyre_row one = vyre_build_const(&b, U32, 1);
  vyre_build_workgroup(&b, vyre_build_const(&b, U32, INVOCATIONS), one, one);
  const vyre_row index = vyre_build(&b, VYRE_OP_lindex, U32, 0, 0, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);

  eval_sample *shape = &samples[0];
  uint64_t bits = 0;
  for (uint32_t i = 0; i < INVOCATIONS; i++) {
    bool undefined;
    vyre_value result[VYRE_EVAL_PARTS];
    eval_shape(&samples[i], op, kind, lanes);
    eval_randomize(&samples[i]);
    if ((op == VYRE_OP_lane || op == VYRE_OP_insert) && i % 8 != 0) /* mostly a lane that is there */
      samples[i].values[op == VYRE_OP_lane ? 1 : 2][0].lane[0] &= 3;
    bits = i == 0 ? samples[0].values[1][0].lane[0] : bits;
    for (uint32_t lane = 0; literal && lane < 4; lane++)
      samples[i].values[1][0].lane[lane] = bits;
    for (uint32_t k = 0; k < 3; k++)
      for (uint32_t p = 0; p < 4 && samples[i].operands[k].value; p++)
        put(in[i][k * 4 + p], samples[i].operands[k].parts ? samples[i].operands[k].part_type : samples[i].operands[k].type,
            &samples[i].values[k][p]);
    assert_true(vyre_eval(VYRE_ROW(op, samples[i].type, 0), samples[i].imm, 0, samples[i].operands, result, &undefined));
    const uint32_t parts = result_parts(op, &samples[i], kind, lanes, types);
    for (uint32_t p = 0; p < parts; p++)
      put(want[i][p], types[p], &result[p]);
  }

  vyre_row operands[3] = {VYRE_NONE, VYRE_NONE, VYRE_NONE};
  for (uint32_t k = 0; k < 3; k++) {
    const vyre_eval_operand *operand = &shape->operands[k];
    if (!operand->value)
      continue;
    if (literal && k == 1) {
      operands[k] = vyre_build_const(&b, operand->type, bits);
    } else if (operand->parts) {
      vyre_row loaded[4];
      for (uint32_t p = 0; p < operand->parts; p++)
        loaded[p] = load(&b, operand->part_type, index, k * 4 + p, buffers, &count);
      operands[k] = vyre_build_tuple(&b, loaded, operand->parts);
    } else {
      operands[k] = load(&b, operand->type, index, k * 4, buffers, &count);
    }
  }
  const uint32_t parts = result_parts(op, shape, kind, lanes, types);
  const uint32_t imm =
      VYRE_TYPE_KIND(shape->type) == VYRE_TUPLE ? VYRE_TUPLE_OF(parts, op == VYRE_OP_frexp ? 0 : types[0]) : shape->imm;
  const bool pays = op == VYRE_OP_shuffle || op == VYRE_OP_const || VYRE_TYPE_KIND(shape->type) == VYRE_TUPLE;
  const vyre_row row = vyre_build(&b, op, shape->type, 0, pays ? imm : 0, 0, operands[0], operands[1], operands[2]);
  assert_int_equal(VYRE_ROW_FLAGS(vyre_module_view(m)->op[row.id]), literal ? VYRE_ROW_IMM : 0);
  for (uint32_t p = 0; p < parts; p++)
    store(&b, types[p], index, p, VYRE_TYPE_KIND(shape->type) == VYRE_TUPLE ? vyre_build_part(&b, row, p, types[p]) : row, buffers,
          &count);

  assert_null(vyre_module_seal(m, map));
  vyre_binding bindings[32];
  for (uint32_t k = 0; k < count; k++) {
    const bool is_output = vyre_buffer_info_of(m, (vyre_row){map[buffers[k].id]})->set == 1;
    bindings[k] = (vyre_binding){{map[buffers[k].id]}, is_output ? out : in, sizeof in, 0};
  }
  const vyre_dispatch dispatch = {.program = {map[program.id]}, .groups = {1, 1, 1}, .bindings = bindings, .binding_count = count};
  vyre_status status = vyre_interp_run(m, &dispatch, NULL, NULL);
  if (status)
    fail_msg("%s", vyre_status_text(status));
  if (memcmp(out, want, sizeof out) != 0)
    fail_msg("%s on kind %u with %u lanes%s is not what vyre_eval gives", vyre_op_infos[op].text, kind, lanes,
             literal ? " and a literal" : "");
  vyre_module_destroy(m);
}

TEST(every_op_gives_each_invocation_its_value)
{
  for (uint32_t op = 1; op < VYRE_OP__COUNT; op++)
    for (uint32_t kind = VYRE_BOOL; kind <= VYRE_F64; kind++)
      for (uint32_t lanes = 1; lanes <= 4 && eval_takes((vyre_opcode)op, (vyre_kind)kind); lanes++) {
        const bool matrix = op >= VYRE_OP_matvec && op <= VYRE_OP_inverse && op != VYRE_OP_outer;
        if (matrix && lanes == 1)
          continue;
        check((vyre_opcode)op, (vyre_kind)kind, lanes, false);
        if (vyre_op_infos[op].flags & VYRE_OP_TAKES_IMM)
          check((vyre_opcode)op, (vyre_kind)kind, lanes, true);
      }
}
