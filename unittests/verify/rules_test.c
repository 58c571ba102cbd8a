/* The verifier's rules, each broken alone: the one error is at the right row and says the right thing.
 * Over 600 lines, as it is one list of cases.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include <stdio.h>

/* A case breaks its rule and returns the row that the error is at. */
typedef struct rule_case {
  const char *text; /* what the message has in it */
  uint32_t (*breaks)(fixture *x);
} rule_case;

/* Breaks(name) { ... } in order of links.c, verify.c, types.c, memory.c, values.c. */
#define BREAKS(name) static uint32_t name(fixture *x)
/* Short cases stay a line each. */
/* clang-format off */

/* ---- links ---- */
BREAKS(next_out_of_range) { put(x->v->next, x->pair, 1000000); return x->pair.id; }
BREAKS(next_is_dead) { vyre_row r = op0(x, VYRE_OP_lindex, U32); put(x->v->op, r, 0); return x->pair.id; }
BREAKS(next_goes_back) { put(x->v->next, x->pair, x->u.id); return x->pair.id; }
BREAKS(parent_is_wrong) { vyre_row r = op0(x, VYRE_OP_lindex, U32); put(x->v->parent, r, 1); return r.id; }
BREAKS(prev_is_wrong) { vyre_row r = op0(x, VYRE_OP_lindex, U32); put(x->v->prev, r, x->u.id); return r.id; }
BREAKS(last_is_wrong) { put(x->v->last, x->program, x->u.id); return x->program.id; }
BREAKS(null_row_lives) { put(x->v->op, NONE, VYRE_OP_lindex); return 0; }
BREAKS(null_row_has_an_operand) { put(x->v->c, NONE, 1); return 0; }
BREAKS(unknown_op) { vyre_row r = op0(x, VYRE_OP_lindex, U32); put(x->v->op, r, 60000); return r.id; }
BREAKS(number_in_a_gap) { vyre_row r = op0(x, VYRE_OP_lindex, U32); put(x->v->op, r, 25); return r.id; }
BREAKS(rows_in_a_value) { put(x->v->first, x->pair, x->u.id); return x->pair.id; }

/* Seen from two sides: the parent's chain ends early, and the row is not reached. */
BREAKS(not_reached)
{
  vyre_row r = op0(x, VYRE_OP_lindex, U32);
  put(x->v->next, x->pair, 0);
  put(x->v->last, x->program, x->pair.id);
  return r.id;
}

/* ---- positions ---- */
BREAKS(value_outside_programs)
{
  vyre_row r = op0(x, VYRE_OP_lindex, U32);
  vyre_row_move_before(x->m, r, x->program);
  return r.id;
}
BREAKS(program_in_program)
{
  vyre_row one = literal(x, U32, 1), r = op0(x, VYRE_OP_program, 0);
  vyre_builder_at_end(&x->b, r);
  op3(x, VYRE_OP_workgroup, 0, one, one, one);
  return r.id;
}
BREAKS(region_astray) { vyre_row r = op0(x, VYRE_OP_region, 0); return r.id; }
BREAKS(case_astray) { vyre_row r = vyre_build(&x->b, VYRE_OP_case, 0, 0, VYRE_CASE_DEFAULT, 0, NONE, NONE, NONE); return r.id; }
BREAKS(value_in_if)
{
  vyre_row test = vyre_build_if(&x->b, x->cond), r;
  vyre_builder_at_end(&x->b, test);
  r = op0(x, VYRE_OP_lindex, U32);
  return r.id;
}
BREAKS(third_region)
{
  vyre_row test = vyre_build_if(&x->b, x->cond);
  vyre_builder_at_end(&x->b, test);
  return vyre_build(&x->b, VYRE_OP_region, 0, 0, VYRE_ELSE, 0, NONE, NONE, NONE).id;
}
BREAKS(wrong_role)
{
  vyre_row test = vyre_build_if(&x->b, x->cond), region = vyre_region_of(x->m, test, 1);
  put(x->v->imm, region, VYRE_THEN);
  return region.id;
}
BREAKS(loop_without_continuing)
{
  vyre_row loop = vyre_build_loop(&x->b);
  vyre_row_kill(x->m, vyre_region_of(x->m, loop, 1));
  return loop.id;
}
BREAKS(if_without_regions) { return vyre_build(&x->b, VYRE_OP_if, 0, 0, 0, 0, x->cond, NONE, NONE).id; }
BREAKS(block_without_region) { return op0(x, VYRE_OP_block, 0).id; }
BREAKS(for_without_body) { return op3(x, VYRE_OP_for, 0, x->u, x->u, x->u).id; }
BREAKS(region_in_for)
{
  vyre_row loop = op3(x, VYRE_OP_for, 0, x->u, x->u, x->u);
  vyre_builder_at_end(&x->b, loop);
  return vyre_build(&x->b, VYRE_OP_region, 0, 0, VYRE_BODY, 0, NONE, NONE, NONE).id;
}
BREAKS(second_body)
{
  vyre_row loop = vyre_build_for(&x->b, x->u, x->u, x->u);
  vyre_builder_at_end(&x->b, loop);
  return op0(x, VYRE_OP_body, U32).id;
}
BREAKS(two_workgroups) { vyre_row one = literal(x, U32, 1); return op3(x, VYRE_OP_workgroup, 0, one, one, one).id; }
BREAKS(no_workgroup) { vyre_row_kill(x->m, x->workgroup); return x->program.id; }
BREAKS(var_in_a_region)
{
  vyre_build_if(&x->b, x->cond);
  return op0(x, VYRE_OP_var, F32).id;
}
BREAKS(behind_a_return)
{
  vyre_row block = vyre_build_block(&x->b), r;
  (void)block;
  vyre_build_jump(&x->b, VYRE_OP_return, NONE);
  r = op0(x, VYRE_OP_lindex, U32);
  return r.id;
}

/* ---- jumps ---- */
static void
into_continuing(fixture *x)
{
  vyre_row loop = vyre_build_loop(&x->b);
  vyre_builder_at_end(&x->b, vyre_region_of(x->m, loop, 1));
}
BREAKS(return_in_continuing)
{
  into_continuing(x);
  vyre_build_if(&x->b, x->cond);
  return vyre_build_jump(&x->b, VYRE_OP_return, NONE).id;
}
BREAKS(break_in_continuing)
{
  into_continuing(x);
  return vyre_build_jump(&x->b, VYRE_OP_break, NONE).id;
}
BREAKS(break_astray) { vyre_build_block(&x->b); return vyre_build_jump(&x->b, VYRE_OP_break, NONE).id; }
BREAKS(continue_astray) { vyre_build_if(&x->b, x->cond); return vyre_build_jump(&x->b, VYRE_OP_continue, NONE).id; }
static uint32_t
hinted(fixture *x, uint32_t hints, uint32_t count, uint32_t literal)
{
  const uint32_t words[4] = {VYRE_DECORATION_HINTS, count, literal, literal};
  vyre_row loop = vyre_build_loop(&x->b);
  put(x->v->imm, loop, hints);
  vyre_row_set_decorations(x->m, loop, words, count ? 2 + count : 0);
  return loop.id;
}
BREAKS(hint_of_an_if)
{
  vyre_row test = vyre_build_if(&x->b, x->cond);
  put(x->v->imm, test, VYRE_HINT_DEPENDENCY_INFINITE);
  return test.id;
}
BREAKS(hint_of_a_switch)
{
  vyre_row test = vyre_build_switch(&x->b, x->u);
  put(x->v->imm, test, 4);
  return test.id;
}
BREAKS(hint_of_a_block)
{
  vyre_row block = vyre_build_block(&x->b);
  put(x->v->imm, block, VYRE_HINT_FLATTEN);
  return block.id;
}
BREAKS(hint_of_a_for)
{
  vyre_row loop = vyre_build_for(&x->b, x->u, x->u, x->u);
  put(x->v->imm, loop, 512);
  return loop.id;
}
BREAKS(hint_without_literal) { return hinted(x, VYRE_HINT_PEEL_COUNT | VYRE_HINT_PARTIAL_COUNT, 1, 4); }
BREAKS(literal_without_hint) { return hinted(x, VYRE_HINT_UNROLL, 1, 4); }
BREAKS(unrolled_and_not) { return hinted(x, VYRE_HINT_UNROLL | VYRE_HINT_DONT_UNROLL, 0, 0); }
BREAKS(peeled_and_not) { return hinted(x, VYRE_HINT_DONT_UNROLL | VYRE_HINT_PEEL_COUNT, 1, 2); }
BREAKS(partly_and_not) { return hinted(x, VYRE_HINT_DONT_UNROLL | VYRE_HINT_PARTIAL_COUNT, 1, 2); }
BREAKS(multiple_of_0) { return hinted(x, VYRE_HINT_ITERATION_MULTIPLE | VYRE_HINT_MIN_ITERATIONS, 2, 0); }
BREAKS(decorated_if)
{
  vyre_row test = vyre_build_if(&x->b, x->cond);
  vyre_row_set_decorations(x->m, test, (const uint32_t[]){42, 0}, 2);
  return test.id;
}
BREAKS(leave_of_an_if) { vyre_row test = vyre_build_if(&x->b, x->cond); return vyre_build_jump(&x->b, VYRE_OP_leave, test).id; }
BREAKS(leave_of_what_is_closed)
{
  vyre_row block = vyre_build_block(&x->b);
  vyre_builder_leave(&x->b, block);
  return vyre_build_jump(&x->b, VYRE_OP_leave, block).id;
}
BREAKS(leave_out_of_continuing)
{
  vyre_row block = vyre_build_block(&x->b);
  into_continuing(x);
  return vyre_build_jump(&x->b, VYRE_OP_leave, block).id;
}
BREAKS(fallthrough_astray)
{
  vyre_row choice = vyre_build_switch(&x->b, x->u);
  vyre_builder_at_end(&x->b, vyre_build_case(&x->b, choice, literal(x, U32, 1), false));
  vyre_build_if(&x->b, x->cond);
  return vyre_build_jump(&x->b, VYRE_OP_fallthrough, NONE).id;
}
BREAKS(fallthrough_out_of_the_last_case)
{
  vyre_row choice = vyre_build_switch(&x->b, x->u);
  vyre_builder_at_end(&x->b, vyre_build_case(&x->b, choice, literal(x, U32, 1), false));
  return vyre_build_jump(&x->b, VYRE_OP_fallthrough, NONE).id;
}
BREAKS(breakif_in_a_body) { vyre_build_loop(&x->b); return vyre_build_jump(&x->b, VYRE_OP_breakif, x->cond).id; }

/* ---- operands ---- */
BREAKS(operand_out_of_range) { put(x->v->a, x->cond, 1000000); return x->cond.id; }
BREAKS(operand_is_dead)
{
  vyre_row r = op0(x, VYRE_OP_lindex, U32), user = vyre_build_unary(&x->b, VYRE_OP_not, r);
  vyre_row_kill(x->m, r);
  return user.id;
}
BREAKS(operand_is_unlinked)
{
  vyre_row r = op0(x, VYRE_OP_lindex, U32), user = vyre_build_unary(&x->b, VYRE_OP_not, r);
  vyre_row_unlink(x->m, r);
  return user.id;
}
BREAKS(operand_of_another_program) { return vyre_build_unary(&x->b, VYRE_OP_not, x->other).id; }
BREAKS(operand_is_a_program) { return op3(x, VYRE_OP_not, U32, x->program, NONE, NONE).id; }
BREAKS(operand_behind)
{
  vyre_row r = vyre_build_unary(&x->b, VYRE_OP_not, x->u);
  vyre_row later = op0(x, VYRE_OP_lindex, U32);
  put(x->v->a, r, later.id);
  return r.id;
}
BREAKS(operand_is_itself)
{
  vyre_row r = vyre_build_unary(&x->b, VYRE_OP_not, x->u);
  put(x->v->a, r, r.id);
  return r.id;
}
BREAKS(operand_not_visible)
{
  vyre_row test = vyre_build_if(&x->b, x->cond);
  vyre_row inner = vyre_build_unary(&x->b, VYRE_OP_not, x->u);
  vyre_builder_leave(&x->b, test);
  return vyre_build_unary(&x->b, VYRE_OP_not, inner).id;
}
BREAKS(operand_of_the_other_arm)
{
  vyre_row test = vyre_build_if(&x->b, x->cond);
  vyre_row inner = vyre_build_unary(&x->b, VYRE_OP_not, x->u);
  vyre_builder_at_end(&x->b, vyre_region_of(x->m, test, 1));
  return vyre_build_unary(&x->b, VYRE_OP_not, inner).id;
}
BREAKS(index_behind_its_loop)
{
  vyre_row loop = vyre_build_for(&x->b, x->u, x->u, x->u);
  vyre_row index = vyre_region_of(x->m, loop, 0);
  vyre_builder_leave(&x->b, loop);
  return vyre_build_unary(&x->b, VYRE_OP_not, index).id;
}
BREAKS(operand_has_no_value)
{
  vyre_row set = vyre_build_set(&x->b, x->var, x->f);
  return op3(x, VYRE_OP_not, U32, set, NONE, NONE).id;
}
BREAKS(var_as_value) { return op3(x, VYRE_OP_fabs, F32, x->var, NONE, NONE).id; }
BREAKS(var_as_stored_value) { return op3(x, VYRE_OP_set, 0, x->var, x->var, NONE).id; }
BREAKS(operand_too_many) { return op3(x, VYRE_OP_not, U32, x->u, x->u, NONE).id; }
BREAKS(operand_missing) { return op3(x, VYRE_OP_fma, F32, x->f, x->f, NONE).id; }
BREAKS(literal_and_operand) { put(x->v->b, x->cond, x->u.id); return x->cond.id; }

/* ---- flags, types by rule ---- */
BREAKS(flag_bit_7) { return vyre_build(&x->b, VYRE_OP_not, U32, 128, 0, 0, x->u, NONE, NONE).id; }
BREAKS(literal_where_none_is_taken)
{
  return vyre_build(&x->b, VYRE_OP_set, 0, VYRE_ROW_IMM, 0, 0, x->var, NONE, NONE).id;
}
BREAKS(volatile_arithmetic) { return vyre_build(&x->b, VYRE_OP_not, U32, VYRE_ROW_VOLATILE, 0, 0, x->u, NONE, NONE).id; }
BREAKS(nonuniform_jump) { return vyre_build(&x->b, VYRE_OP_return, 0, VYRE_ROW_NONUNIFORM, 0, 0, NONE, NONE, NONE).id; }
BREAKS(coherent_get) { return vyre_build(&x->b, VYRE_OP_get, F32, VYRE_ROW_COHERENT, 0, 0, x->var, NONE, NONE).id; }
BREAKS(deco_without_decorations) { return vyre_build(&x->b, VYRE_OP_not, U32, VYRE_ROW_DECO, 0, 0, x->u, NONE, NONE).id; }
BREAKS(type_where_none_is) { return op3(x, VYRE_OP_set, U32, x->var, x->f, NONE).id; }
BREAKS(type_that_is_no_value) { return op3(x, VYRE_OP_convert, VYRE_TYPE(VYRE_PATH, 1), x->f, NONE, NONE).id; }
BREAKS(no_type_where_one_is) { return op3(x, VYRE_OP_not, 0, x->u, NONE, NONE).id; }
BREAKS(type_byte_out_of_range) { return op3(x, VYRE_OP_not, 255, x->u, NONE, NONE).id; }
BREAKS(class_not_met) { return op3(x, VYRE_OP_add, BOOL, x->cond, x->cond, NONE).id; }
BREAKS(class_unsigned_of_signed) { return op3(x, VYRE_OP_udiv, I32, x->i, x->i, NONE).id; }
BREAKS(operands_of_two_types) { return op3(x, VYRE_OP_add, U32, x->u, x->i, NONE).id; }
BREAKS(operands_of_two_widths) { return op3(x, VYRE_OP_add, F32X2, x->vec, x->f, NONE).id; }
BREAKS(same_result_differs) { return op3(x, VYRE_OP_add, I32, x->u, x->u, NONE).id; }
BREAKS(compare_is_no_bool) { return op3(x, VYRE_OP_ult, U32, x->u, x->u, NONE).id; }
BREAKS(payload_without_meaning) { return vyre_build(&x->b, VYRE_OP_not, U32, 0, 5, 0, x->u, NONE, NONE).id; }
BREAKS(literal_too_wide) { return vyre_build(&x->b, VYRE_OP_add, U32, VYRE_ROW_IMM, 0, 1, x->u, NONE, NONE).id; }
BREAKS(literal_bool_of_two) { return vyre_build(&x->b, VYRE_OP_xor, BOOL, VYRE_ROW_IMM, 2, 0, x->cond, NONE, NONE).id; }

/* ---- types of memory: at row 0, as they are of the module ---- */
BREAKS(array_of_nothing) { vyre_type_array(x->m, 0, 3, NONE, 4); return 0; }
BREAKS(array_of_runtime) { vyre_type_array(x->m, x->floats, 3, NONE, 16); return 0; }
BREAKS(array_of_length_0) { vyre_type_array(x->m, F32, 0, NONE, 4); return 0; }
BREAKS(array_stride) { vyre_type_array(x->m, F32X4, 2, NONE, 8); return 0; }
BREAKS(array_too_large) { vyre_type_array(x->m, F32, 0x80000000u, NONE, 4); return 0; }
BREAKS(matrix_of_ints) { vyre_type_matrix(x->m, VYRE_TYPE(VYRE_U32, 2), 2, 16, false); return 0; }
BREAKS(matrix_stride) { vyre_type_matrix(x->m, F32X4, 2, 8, false); return 0; }
static uint32_t
add_struct(fixture *x, vyre_member first, vyre_member second)
{
  vyre_type_struct(x->m, vyre_string_intern(x->m, "S", 1), (const vyre_member[]){first, second}, 2, 0);
  return 0;
}
BREAKS(struct_of_later_type) { return add_struct(x, (vyre_member){0, U32, 0, 0}, (vyre_member){0, 100000, 4, 0}); }
BREAKS(struct_runtime_first) { return add_struct(x, (vyre_member){0, x->floats, 0, 0}, (vyre_member){0, U32, 4, 0}); }
BREAKS(struct_access) { return add_struct(x, (vyre_member){0, U32, 0, 0}, (vyre_member){0, U32, 4, 1u << 20}); }
BREAKS(struct_odd_offset) { return add_struct(x, (vyre_member){0, U32, 0, 0}, (vyre_member){0, U32, 6, 0}); }
BREAKS(struct_odd_matrix)
{
  const vyre_type_id matrix = vyre_type_matrix(x->m, VYRE_TYPE(VYRE_F64, 2), 2, 16, false);
  return add_struct(x, (vyre_member){0, U32, 0, 0}, (vyre_member){0, matrix, 12, 0});
}
BREAKS(struct_overlap) { return add_struct(x, (vyre_member){0, F32X4, 0, 0}, (vyre_member){0, U32, 12, 0}); }
BREAKS(struct_overlap_unsorted) { return add_struct(x, (vyre_member){0, U32, 12, 0}, (vyre_member){0, F32X4, 0, 0}); }
BREAKS(struct_too_large) { return add_struct(x, (vyre_member){0, U32, 0, 0}, (vyre_member){0, F32X4, 0xfffffff8u, 0}); }

/* ---- structure and control ---- */
BREAKS(program_mode) { put(x->v->imm, x->program, 256); return x->program.id; }
BREAKS(program_imm_hi) { put(x->v->imm_hi, x->program, 1); return x->program.id; }
BREAKS(program_typed) { put_op(x, x->program, VYRE_OP_program, U32, 0); return x->program.id; }
BREAKS(workgroup_type) { vyre_build_workgroup(&x->b, literal(x, I32, 1), literal(x, U32, 1), literal(x, U32, 1)); return x->workgroup.id; }
BREAKS(workgroup_zero) { vyre_build_workgroup(&x->b, literal(x, U32, 0), literal(x, U32, 1), literal(x, U32, 1)); return x->workgroup.id; }
BREAKS(workgroup_not_constant)
{
  vyre_row_move_before(x->m, x->workgroup, x->pair);
  put(x->v->b, x->workgroup, x->u.id);
  return x->workgroup.id;
}
BREAKS(spec_vector) { vyre_row r = vyre_build_spec(&x->b, F32, 0, 9); put_op(x, r, VYRE_OP_spec, F32X2, 0); return r.id; }
BREAKS(const_bits) { vyre_row r = literal(x, BOOL, 1); put(x->v->imm, r, 2); return r.id; }
BREAKS(buffer_type) { put_op(x, x->out, VYRE_OP_buffer, U32, 0); return x->out.id; }
BREAKS(buffer_space) { put(x->v->imm_hi, x->tile, 9); return x->tile.id; }
BREAKS(buffer_access) { put(x->v->imm_hi, x->out, 1u << 20); return x->out.id; }
BREAKS(buffer_of_no_type) { put(x->v->imm, x->wo, 5000); return x->wo.id; }
BREAKS(buffer_of_bool) { return fixture_buffer(x, vyre_type_runtime_array(x->m, BOOL, 4), VYRE_SPACE_STORAGE, 0, 9).id; }
BREAKS(runtime_in_workgroup) { return fixture_buffer(x, x->floats, VYRE_SPACE_WORKGROUP, 0, 0).id; }
BREAKS(initializer_in_storage)
{
  vyre_buffer_info_of(x->m, x->out)->initializer = vyre_module_add_initializer(x->m, (const uint32_t[]){1}, 1);
  return x->out.id;
}
BREAKS(unset_in_storage) { put(x->v->imm_hi, x->out, x->v->imm_hi[x->out.id] | VYRE_ACCESS_UNSET); return x->out.id; }
static vyre_row
unset_buffer(fixture *x)
{
  return fixture_buffer(x, vyre_type_array(x->m, F32X2, 3, NONE, 0), VYRE_SPACE_PRIVATE, VYRE_ACCESS_UNSET, 0);
}
BREAKS(unset_and_initialized)
{
  const vyre_row r = unset_buffer(x);
  vyre_buffer_info_of(x->m, r)->initializer = vyre_module_add_initializer(x->m, (const uint32_t[]){1, 2, 3, 4, 5, 6}, 6);
  return r.id;
}
BREAKS(unset_in_strict) { return unset_buffer(x).id; }
static vyre_row
constant_buffer(fixture *x, uint32_t initializer)
{
  vyre_row r = fixture_buffer(x, vyre_type_array(x->m, F32X2, 3, NONE, 0), VYRE_SPACE_CONSTANT, 0, 0);
  vyre_buffer_info_of(x->m, r)->initializer = initializer;
  return r;
}
BREAKS(initializer_too_short)
{
  return constant_buffer(x, vyre_module_add_initializer(x->m, (const uint32_t[]){1, 2, 3}, 3)).id;
}
BREAKS(initializer_missing) { return constant_buffer(x, 77).id; }
static vyre_row
sized_buffer(fixture *x, vyre_row length)
{
  return fixture_buffer(x, vyre_type_array(x->m, F32, 0, length, 0), VYRE_SPACE_WORKGROUP, 0, 0);
}
BREAKS(initializer_of_a_sized_type)
{
  vyre_row r = fixture_buffer(x, vyre_type_array(x->m, F32, 0, vyre_build_spec(&x->b, U32, 2, 9), 0), VYRE_SPACE_PRIVATE, 0, 0);
  vyre_buffer_info_of(x->m, r)->initializer = vyre_module_add_initializer(x->m, (const uint32_t[]){1, 2}, 2);
  return r.id;
}
BREAKS(length_row_behind)
{
  vyre_row r = sized_buffer(x, literal(x, U32, 12));
  vyre_row_move_before(x->m, r, (vyre_row){x->v->first[x->program.id]});
  return r.id;
}
BREAKS(length_row_of_float) { return sized_buffer(x, vyre_build_spec(&x->b, F32, 0, 9)).id; }
BREAKS(length_row_not_constant) { return sized_buffer(x, x->u).id; }
BREAKS(length_row_in_a_struct)
{
  vyre_row test = vyre_build_if(&x->b, x->cond), inner = vyre_build_unary(&x->b, VYRE_OP_not, x->u);
  vyre_type_id array = vyre_type_array(x->m, F32, 0, inner, 0);
  vyre_type_id type = vyre_type_struct(x->m, 0, (const vyre_member[]){{0, U32, 0, 0}, {0, array, 4, 0}}, 2, 0);
  vyre_builder_leave(&x->b, test);
  return fixture_buffer(x, type, VYRE_SPACE_WORKGROUP, 0, 0).id;
}
BREAKS(body_payload)
{
  vyre_row loop = vyre_build_for(&x->b, x->u, x->u, x->u);
  vyre_row body = vyre_region_of(x->m, loop, 0);
  put(x->v->imm, body, 1);
  return body.id;
}
BREAKS(body_type)
{
  vyre_row loop = vyre_build_for(&x->b, x->u, x->u, x->u);
  vyre_row body = vyre_region_of(x->m, loop, 0);
  put_op(x, body, VYRE_OP_body, I32, 0);
  return body.id;
}
BREAKS(for_of_floats)
{
  vyre_row loop = vyre_build_for(&x->b, x->u, x->u, x->u);
  put(x->v->a, loop, x->f.id);
  return loop.id;
}
BREAKS(for_of_two_types)
{
  vyre_row loop = vyre_build_for(&x->b, x->u, x->u, x->u);
  put(x->v->c, loop, x->i.id);
  return loop.id;
}
static vyre_row
one_case(fixture *x, vyre_row labels, bool is_default)
{
  vyre_row choice = vyre_build_switch(&x->b, x->u);
  vyre_row c = vyre_build_case(&x->b, choice, labels, is_default);
  vyre_builder_leave(&x->b, choice);
  return c;
}
BREAKS(case_payload) { vyre_row c = one_case(x, literal(x, U32, 1), false); put(x->v->imm, c, 2); return c.id; }
BREAKS(case_without_label) { return one_case(x, NONE, false).id; }
BREAKS(case_label_not_constant) { return one_case(x, x->u, false).id; }
BREAKS(case_label_type) { return one_case(x, literal(x, I32, 1), false).id; }
BREAKS(case_label_in_tuple)
{
  vyre_row labels[5];
  for (uint32_t i = 0; i < 4; i++)
    labels[i] = literal(x, U32, i);
  labels[4] = x->u;
  return one_case(x, vyre_build_tuple(&x->b, labels, 5), false).id;
}
BREAKS(switch_of_float) { vyre_row c = one_case(x, NONE, true), s = {x->v->parent[c.id]}; put(x->v->a, s, x->f.id); return s.id; }
BREAKS(label_twice)
{
  vyre_row labels[4], tuple, choice;
  for (uint32_t i = 0; i < 4; i++)
    labels[i] = literal(x, U32, i);
  tuple = vyre_build_tuple(&x->b, labels, 4);
  choice = vyre_build_switch(&x->b, x->u);
  vyre_build_case(&x->b, choice, labels[3], false);
  vyre_build_case(&x->b, choice, tuple, false);
  return choice.id;
}
BREAKS(two_defaults)
{
  vyre_row choice = vyre_build_switch(&x->b, x->u);
  vyre_build_case(&x->b, choice, NONE, true);
  return vyre_build_case(&x->b, choice, literal(x, U32, 1), true).id;
}
BREAKS(if_of_vector) { vyre_row r = vyre_build_if(&x->b, x->cond); put(x->v->a, r, x->bvec.id); return r.id; }
BREAKS(breakif_of_int)
{
  into_continuing(x);
  return vyre_build_jump(&x->b, VYRE_OP_breakif, x->u).id;
}
BREAKS(region_imm_hi)
{
  vyre_row r = vyre_region_of(x->m, vyre_build_block(&x->b), 0);
  put(x->v->imm_hi, r, 4);
  return r.id;
}
BREAKS(jump_payload) { vyre_row r = vyre_build_jump(&x->b, VYRE_OP_return, NONE); put(x->v->imm, r, 4); return r.id; }
BREAKS(barrier_scope) { return vyre_build_barrier(&x->b, VYRE_ORDER(5, 2, 0x108)).id; }
BREAKS(barrier_of_nothing) { return vyre_build_barrier(&x->b, VYRE_ORDER(4, 1, 0x40)).id; }
BREAKS(barrier_two_orders) { return vyre_build_barrier(&x->b, VYRE_ORDER(2, 2, 0x106)).id; }
BREAKS(barrier_unknown_semantics) { return vyre_build_barrier(&x->b, VYRE_ORDER(2, 2, 0x128)).id; }
BREAKS(barrier_memory_scope) { return vyre_build_barrier(&x->b, VYRE_ORDER(2, 9, 0x108)).id; }
BREAKS(barrier_imm_hi) { vyre_row r = vyre_build_barrier(&x->b, VYRE_ORDER(2, 2, 0x108)); put(x->v->imm_hi, r, 1); return r.id; }

/* ---- memory ---- */
static vyre_row
element(fixture *x, vyre_row buffer)
{
  return vyre_build_at(&x->b, buffer, x->u);
}
BREAKS(path_is_a_value) { return op3(x, VYRE_OP_load, F32, x->u, NONE, NONE).id; }
BREAKS(at_of_a_value) { return vyre_build(&x->b, VYRE_OP_at, PATH, 0, 0, F32, x->u, x->u, NONE).id; }
BREAKS(load_of_an_array) { return op3(x, VYRE_OP_load, F32, x->in, NONE, NONE).id; }
BREAKS(load_type) { return op3(x, VYRE_OP_load, U32, element(x, x->in), NONE, NONE).id; }
BREAKS(load_order) { return vyre_build(&x->b, VYRE_OP_load, F32, 0, 7, 0, element(x, x->in), NONE, NONE).id; }
BREAKS(load_scope) { return vyre_build(&x->b, VYRE_OP_load, F32, VYRE_ROW_COHERENT, VYRE_ORDER(0, 7, VYRE_MAKE_VISIBLE), 0, element(x, x->in), NONE, NONE).id; }
BREAKS(load_of_no_scope) { return vyre_build(&x->b, VYRE_OP_load, F32, 0, VYRE_ORDER(0, 1, VYRE_NONTEMPORAL), 0, element(x, x->in), NONE, NONE).id; }
BREAKS(load_shared) { return vyre_build(&x->b, VYRE_OP_load, F32, 0, VYRE_ORDER(0, 0, VYRE_NON_PRIVATE), 0, element(x, x->in), NONE, NONE).id; }
BREAKS(copy_scope) { return vyre_build(&x->b, VYRE_OP_copy, 0, VYRE_ROW_COHERENT, VYRE_ORDER(7, 0, VYRE_MAKE_VISIBLE), 0, element(x, x->out), element(x, x->in), NONE).id; }
BREAKS(store_visible) { return vyre_build(&x->b, VYRE_OP_store, 0, VYRE_ROW_COHERENT, VYRE_ORDER(0, 0, VYRE_MAKE_VISIBLE), 0, element(x, x->out), x->f, NONE).id; }
BREAKS(load_of_write_only) { return vyre_build_load(&x->b, element(x, x->wo), 0).id; }
BREAKS(store_to_read_only) { return vyre_build_store(&x->b, element(x, x->in), x->f, 0).id; }
BREAKS(store_to_uniform) { return vyre_build_store(&x->b, x->uniform, x->u, 0).id; }
BREAKS(store_to_read_only_member)
{
  return vyre_build_store(&x->b, vyre_build_at_literal(&x->b, vyre_build_at_literal(&x->b, element(x, x->particles), 0), 1), x->f, 0).id;
}
BREAKS(store_type) { return vyre_build_store(&x->b, element(x, x->out), x->u, 0).id; }
BREAKS(store_payload) { return vyre_build(&x->b, VYRE_OP_store, 0, 0, 1, 0, element(x, x->out), x->f, NONE).id; }
BREAKS(step_into_a_scalar) { return vyre_build(&x->b, VYRE_OP_at, PATH, 0, 0, F32, element(x, x->out), x->u, NONE).id; }
BREAKS(step_by_row_into_a_struct) { return vyre_build(&x->b, VYRE_OP_at, PATH, 0, 0, U32, element(x, x->particles), x->u, NONE).id; }
BREAKS(step_behind_the_members)
{
  return vyre_build(&x->b, VYRE_OP_at, PATH, VYRE_ROW_IMM, 2, U32, element(x, x->particles), NONE, NONE).id;
}
BREAKS(step_reaches_another_type) { vyre_row r = element(x, x->out); put(x->v->imm_hi, r, U32); return r.id; }
BREAKS(step_index_type) { vyre_row r = element(x, x->out); put(x->v->b, r, x->f.id); return r.id; }
BREAKS(step_by_two) { vyre_row r = element(x, x->out); put(x->v->imm, r, 3); return r.id; }
BREAKS(step_typed) { vyre_row r = element(x, x->out); put_op(x, r, VYRE_OP_at, U32, 0); return r.id; }
BREAKS(length_of_an_element) { return op3(x, VYRE_OP_length, U32, element(x, x->out), NONE, NONE).id; }
BREAKS(length_type) { return op3(x, VYRE_OP_length, I32, x->out, NONE, NONE).id; }
BREAKS(copy_of_two_types) { return op3(x, VYRE_OP_copy, 0, element(x, x->counters), element(x, x->in), NONE).id; }
BREAKS(copy_of_runtime) { return op3(x, VYRE_OP_copy, 0, x->out, x->in, NONE).id; }
BREAKS(copy_to_read_only) { return op3(x, VYRE_OP_copy, 0, element(x, x->in), element(x, x->out), NONE).id; }
BREAKS(copy_from_write_only) { return op3(x, VYRE_OP_copy, 0, element(x, x->out), element(x, x->wo), NONE).id; }
BREAKS(async_copy_of_two_types) { return op3(x, VYRE_OP_async_copy, 0, element(x, x->counters), element(x, x->in), NONE).id; }
BREAKS(async_copy_to_read_only) { return op3(x, VYRE_OP_async_copy, 0, element(x, x->in), element(x, x->out), NONE).id; }
BREAKS(async_copy_payload) { return vyre_build(&x->b, VYRE_OP_async_copy, 0, 0, 1, 0, element(x, x->out), element(x, x->in), NONE).id; }
BREAKS(async_wait_imm_hi) { return vyre_build(&x->b, VYRE_OP_async_wait, 0, 0, 2, 1, NONE, NONE, NONE).id; }
BREAKS(async_wait_volatile) { return vyre_build(&x->b, VYRE_OP_async_wait, 0, VYRE_ROW_VOLATILE, 0, 0, NONE, NONE, NONE).id; }
BREAKS(get_of_a_value) { return op3(x, VYRE_OP_get, F32, x->f, NONE, NONE).id; }
BREAKS(get_type) { return op3(x, VYRE_OP_get, U32, x->var, NONE, NONE).id; }
BREAKS(get_payload) { return vyre_build(&x->b, VYRE_OP_get, F32, 0, 1, 0, x->var, NONE, NONE).id; }
BREAKS(set_type) { return op3(x, VYRE_OP_set, 0, x->var, x->u, NONE).id; }
static vyre_row
atomic(fixture *x, vyre_opcode op, vyre_type type, vyre_row path, vyre_row value, uint32_t order)
{
  return vyre_build(&x->b, op, type, 0, order, 0, path, value, NONE);
}
#define DEVICE_RELAXED VYRE_ORDER(0, 1, 0)
BREAKS(atomic_on_float) { return atomic(x, VYRE_OP_atomic_add, F32, element(x, x->out), x->f, DEVICE_RELAXED).id; }
BREAKS(atomic_on_int) { return atomic(x, VYRE_OP_atomic_fadd, U32, element(x, x->counters), x->u, DEVICE_RELAXED).id; }
BREAKS(atomic_on_bytes)
{
  vyre_row r = fixture_buffer(x, VYRE_TYPE(VYRE_U16, 1), VYRE_SPACE_STORAGE, 0, 9);
  return atomic(x, VYRE_OP_atomic_load, VYRE_TYPE(VYRE_U16, 1), r, NONE, DEVICE_RELAXED).id;
}
BREAKS(atomic_on_vector)
{
  vyre_row r = fixture_buffer(x, VYRE_TYPE(VYRE_F32, 3), VYRE_SPACE_STORAGE, 0, 9);
  return atomic(x, VYRE_OP_atomic_load, VYRE_TYPE(VYRE_F32, 3), r, NONE, DEVICE_RELAXED).id;
}
BREAKS(atomic_value) { return atomic(x, VYRE_OP_atomic_add, U32, element(x, x->counters), x->i, DEVICE_RELAXED).id; }
BREAKS(atomic_result) { return atomic(x, VYRE_OP_atomic_add, I32, element(x, x->counters), x->u, DEVICE_RELAXED).id; }
BREAKS(atomic_comparator)
{
  return vyre_build(&x->b, VYRE_OP_atomic_compare_exchange, U32, 0, DEVICE_RELAXED, 0, element(x, x->counters), x->u, x->i).id;
}
BREAKS(atomic_execution) { return atomic(x, VYRE_OP_atomic_add, U32, element(x, x->counters), x->u, VYRE_ORDER(2, 1, 0)).id; }
BREAKS(atomic_scope) { return atomic(x, VYRE_OP_atomic_add, U32, element(x, x->counters), x->u, VYRE_ORDER(0, 6, 0)).id; }
BREAKS(atomic_on_uniform) { return atomic(x, VYRE_OP_atomic_load, U32, x->uniform, NONE, DEVICE_RELAXED).id; }
BREAKS(atomic_on_read_only)
{
  vyre_row r = fixture_buffer(x, x->uints, VYRE_SPACE_STORAGE, VYRE_ACCESS_NO_WRITE, 9);
  return atomic(x, VYRE_OP_atomic_add, U32, element(x, r), x->u, DEVICE_RELAXED).id;
}

/* ---- values ---- */
BREAKS(gid_type) { return op0(x, VYRE_OP_gid, U32).id; }
BREAKS(lindex_type) { return op0(x, VYRE_OP_lindex, I32).id; }
BREAKS(tuple_type) { return vyre_build(&x->b, VYRE_OP_tuple, U32, 0, VYRE_TUPLE_OF(1, U32), 0, x->u, NONE, NONE).id; }
BREAKS(tuple_of_none) { return vyre_build(&x->b, VYRE_OP_tuple, TUPLE, 0, 0, 0, x->u, NONE, NONE).id; }
BREAKS(tuple_count_low) { return vyre_build(&x->b, VYRE_OP_tuple, TUPLE, 0, VYRE_TUPLE_OF(1, U32), 0, x->u, x->u, NONE).id; }
BREAKS(tuple_count_high) { return vyre_build(&x->b, VYRE_OP_tuple, TUPLE, 0, VYRE_TUPLE_OF(3, U32), 0, x->u, x->u, NONE).id; }
BREAKS(tuple_of_tuple) { return vyre_build(&x->b, VYRE_OP_tuple, TUPLE, 0, VYRE_TUPLE_OF(2, 0), 0, x->u, x->pair, NONE).id; }
BREAKS(tuple_rest) { return vyre_build(&x->b, VYRE_OP_tuple, TUPLE, 0, VYRE_TUPLE_OF(4, U32), 0, x->u, x->u, x->u).id; }
BREAKS(tuple_rest_count) { return vyre_build(&x->b, VYRE_OP_tuple, TUPLE, 0, VYRE_TUPLE_OF(5, U32), 0, x->u, x->u, x->pair).id; }
BREAKS(tuple_part_type) { return vyre_build(&x->b, VYRE_OP_tuple, TUPLE, 0, VYRE_TUPLE_OF(2, U32), 0, x->u, x->f, NONE).id; }
BREAKS(tuple_type_left_out) { return vyre_build(&x->b, VYRE_OP_tuple, TUPLE, 0, VYRE_TUPLE_OF(2, 0), 0, x->u, x->u, NONE).id; }
BREAKS(part_of_value) { return op3(x, VYRE_OP_part, U32, x->u, NONE, NONE).id; }
BREAKS(part_number) { return vyre_build(&x->b, VYRE_OP_part, U32, 0, 2, 0, x->pair, NONE, NONE).id; }
BREAKS(part_of_place)
{
  const vyre_row places = vyre_build_tuple(&x->b, (const vyre_row[]){x->in, x->in}, 2);
  return vyre_build(&x->b, VYRE_OP_part, VYRE_TYPE(VYRE_PATH, 1), 0, 0, 0, places, NONE, NONE).id;
}
BREAKS(part_type) { return vyre_build(&x->b, VYRE_OP_part, I32, 0, 0, 0, x->pair, NONE, NONE).id; }
BREAKS(part_type_of_mixed)
{
  vyre_row mixed = vyre_build_tuple(&x->b, (const vyre_row[]){x->u, x->u, x->i, x->f}, 4);
  return vyre_build(&x->b, VYRE_OP_part, I32, 0, 3, 0, mixed, NONE, NONE).id;
}
BREAKS(part_type_of_frexp)
{
  vyre_row parts = vyre_build(&x->b, VYRE_OP_frexp, TUPLE, 0, VYRE_TUPLE_OF(2, 0), 0, x->f, NONE, NONE);
  return vyre_build(&x->b, VYRE_OP_part, F32, 0, 1, 0, parts, NONE, NONE).id;
}
BREAKS(join_kinds) { return op3(x, VYRE_OP_join, F32X2, x->f, x->u, NONE).id; }
BREAKS(join_too_wide) { return op3(x, VYRE_OP_join, F32X4, x->vec, x->vec, x->f).id; }
BREAKS(join_type) { return op3(x, VYRE_OP_join, F32X4, x->vec, x->f, NONE).id; }
BREAKS(splat_of_vector) { return op3(x, VYRE_OP_splat, F32X4, x->vec, NONE, NONE).id; }
BREAKS(splat_to_scalar) { return op3(x, VYRE_OP_splat, F32, x->f, NONE, NONE).id; }
BREAKS(splat_kind) { return op3(x, VYRE_OP_splat, F32X2, x->u, NONE, NONE).id; }
BREAKS(lane_of_scalar) { return vyre_build(&x->b, VYRE_OP_lane, F32, VYRE_ROW_IMM, 0, 0, x->f, NONE, NONE).id; }
BREAKS(lane_index) { return op3(x, VYRE_OP_lane, F32, x->vec, x->f, NONE).id; }
BREAKS(lane_type) { return vyre_build(&x->b, VYRE_OP_lane, U32, VYRE_ROW_IMM, 0, 0, x->vec, NONE, NONE).id; }
BREAKS(lane_literal) { return vyre_build(&x->b, VYRE_OP_lane, F32, VYRE_ROW_IMM, 0, 1, x->vec, NONE, NONE).id; }
BREAKS(insert_value) { return op3(x, VYRE_OP_insert, F32X2, x->vec, x->u, x->u).id; }
BREAKS(insert_index) { return op3(x, VYRE_OP_insert, F32X2, x->vec, x->f, x->cond).id; }
BREAKS(insert_scalar) { return op3(x, VYRE_OP_insert, F32, x->f, x->f, x->u).id; }
BREAKS(shuffle_lane) { return vyre_build(&x->b, VYRE_OP_shuffle, F32X2, 0, 0x20, 0, x->vec, NONE, NONE).id; }
BREAKS(shuffle_lane_of_none) { return vyre_build(&x->b, VYRE_OP_shuffle, F32X2, 0, 0x40, 0, x->vec, NONE, NONE).id; }
BREAKS(shuffle_payload) { return vyre_build(&x->b, VYRE_OP_shuffle, F32X2, 0, 0x110, 0, x->vec, NONE, NONE).id; }
BREAKS(shuffle_kind) { return vyre_build(&x->b, VYRE_OP_shuffle, VYRE_TYPE(VYRE_U32, 2), 0, 0x10, 0, x->vec, NONE, NONE).id; }
BREAKS(shuffle_scalar) { return vyre_build(&x->b, VYRE_OP_shuffle, F32, 0, 1, 0, x->vec, NONE, NONE).id; }
BREAKS(select_arms) { return op3(x, VYRE_OP_select, U32, x->cond, x->u, x->i).id; }
BREAKS(select_condition) { return op3(x, VYRE_OP_select, F32, x->bvec, x->f, x->f).id; }
BREAKS(select_condition_kind) { return op3(x, VYRE_OP_select, F32, x->u, x->f, x->f).id; }
BREAKS(select_type) { return op3(x, VYRE_OP_select, I32, x->cond, x->u, x->u).id; }
BREAKS(uaddc_type) { return vyre_build(&x->b, VYRE_OP_uaddc, TUPLE, 0, VYRE_TUPLE_OF(2, U32), 0, x->i, x->i, NONE).id; }
BREAKS(uaddc_parts) { return vyre_build(&x->b, VYRE_OP_uaddc, TUPLE, 0, VYRE_TUPLE_OF(2, I32), 0, x->u, x->u, NONE).id; }
BREAKS(smulx_operands) { return vyre_build(&x->b, VYRE_OP_smulx, TUPLE, 0, VYRE_TUPLE_OF(2, I32), 0, x->i, x->u, NONE).id; }
BREAKS(bitfield_offset) { return op3(x, VYRE_OP_ubfe, U32, x->u, x->i, x->u).id; }
BREAKS(bitfield_float) { return op3(x, VYRE_OP_ubfe, F32, x->f, x->u, x->u).id; }
BREAKS(bitfield_type) { return op3(x, VYRE_OP_sbfe, U32, x->i, x->u, x->u).id; }
BREAKS(insert_bits_range) { return op3(x, VYRE_OP_bfi, U32, x->u, x->u, x->u).id; }
BREAKS(insert_bits_value) { return op3(x, VYRE_OP_bfi, U32, x->u, x->i, x->pair).id; }
BREAKS(any_of_scalar) { return op3(x, VYRE_OP_any, BOOL, x->cond, NONE, NONE).id; }
BREAKS(all_type) { return op3(x, VYRE_OP_all, VYRE_TYPE(VYRE_BOOL, 2), x->bvec, NONE, NONE).id; }
BREAKS(convert_of_bool) { return op3(x, VYRE_OP_convert, F32, x->cond, NONE, NONE).id; }
BREAKS(convert_to_bool) { return op3(x, VYRE_OP_convert, BOOL, x->u, NONE, NONE).id; }
BREAKS(convert_lanes) { return op3(x, VYRE_OP_convert, F32X2, x->u, NONE, NONE).id; }
BREAKS(bitcast_bits) { return op3(x, VYRE_OP_bitcast, F32X2, x->u, NONE, NONE).id; }
BREAKS(pack_lanes) { return op3(x, VYRE_OP_packhalf2x16, U32, x->f, NONE, NONE).id; }
BREAKS(pack_type) { return op3(x, VYRE_OP_packhalf2x16, I32, x->vec, NONE, NONE).id; }
BREAKS(unpack_type) { return op3(x, VYRE_OP_unpackunorm4x8, F32X2, x->u, NONE, NONE).id; }
BREAKS(ldexp_exponent) { return op3(x, VYRE_OP_ldexp, F32, x->f, x->u, NONE).id; }
BREAKS(modf_parts) { return vyre_build(&x->b, VYRE_OP_modf, TUPLE, 0, VYRE_TUPLE_OF(2, 0), 0, x->f, NONE, NONE).id; }
BREAKS(frexp_of_int) { return vyre_build(&x->b, VYRE_OP_frexp, TUPLE, 0, VYRE_TUPLE_OF(2, 0), 0, x->u, NONE, NONE).id; }
BREAKS(dot_of_scalars) { return op3(x, VYRE_OP_dot, F32, x->f, x->f, NONE).id; }
BREAKS(dot_type) { return op3(x, VYRE_OP_dot, F32X2, x->vec, x->vec, NONE).id; }
BREAKS(int_dot_of_unsigned) { return op3(x, VYRE_OP_sdot, I32, x->u, x->u, NONE).id; }
BREAKS(int_dot_of_floats) { return op3(x, VYRE_OP_udot, U32, x->vec, x->vec, NONE).id; }
BREAKS(int_dot_right) { return op3(x, VYRE_OP_sdot, I32, x->i, x->u, NONE).id; }
BREAKS(int_dot_accumulator) { return op3(x, VYRE_OP_sdot, VYRE_TYPE(VYRE_I64, 1), x->i, x->i, x->i).id; }
BREAKS(int_dot_sign) { return op3(x, VYRE_OP_sudot, U32, x->i, x->u, NONE).id; }
BREAKS(int_dot_vector) { return op3(x, VYRE_OP_udot, VYRE_TYPE(VYRE_U32, 2), x->u, x->u, NONE).id; }
BREAKS(norm_of_int) { return op3(x, VYRE_OP_norm, F32, x->u, NONE, NONE).id; }
BREAKS(distance_types) { return op3(x, VYRE_OP_distance, F32, x->vec, x->f, NONE).id; }
BREAKS(cross_lanes) { return op3(x, VYRE_OP_cross, F32X2, x->vec, x->vec, NONE).id; }
BREAKS(refract_ratio) { return op3(x, VYRE_OP_refract, F32X2, x->vec, x->vec, x->vec).id; }
BREAKS(matvec_matrix) { return op3(x, VYRE_OP_matvec, F32X2, x->vec, x->vec, NONE).id; }
BREAKS(matvec_vector) { return op3(x, VYRE_OP_matvec, F32X2, x->matrix, x->f, NONE).id; }
BREAKS(matvec_type) { return op3(x, VYRE_OP_matvec, F32X3, x->matrix, x->vec, NONE).id; }
BREAKS(vecmat_vector) { return op3(x, VYRE_OP_vecmat, F32X2, x->f, x->matrix, NONE).id; }
BREAKS(matmat_rows)
{
  vyre_row wide = vyre_build_join(&x->b, (const vyre_row[]){x->vec, x->f}, 2);
  vyre_row matrix = vyre_build_tuple(&x->b, (const vyre_row[]){wide, wide}, 2);
  return vyre_build(&x->b, VYRE_OP_matmat, TUPLE, 0, VYRE_TUPLE_OF(2, F32X2), 0, x->matrix, matrix, NONE).id;
}
BREAKS(matmat_parts) { return vyre_build(&x->b, VYRE_OP_matmat, TUPLE, 0, VYRE_TUPLE_OF(3, F32X2), 0, x->matrix, x->matrix, NONE).id; }
BREAKS(transpose_of_pair) { return vyre_build(&x->b, VYRE_OP_transpose, TUPLE, 0, VYRE_TUPLE_OF(2, F32X2), 0, x->pair, NONE, NONE).id; }
BREAKS(transpose_parts)
{
  vyre_row matrix = vyre_build_tuple(&x->b, (const vyre_row[]){x->vec, x->vec, x->vec}, 3);
  return vyre_build(&x->b, VYRE_OP_transpose, TUPLE, 0, VYRE_TUPLE_OF(3, F32X2), 0, matrix, NONE, NONE).id;
}
BREAKS(outer_parts) { return vyre_build(&x->b, VYRE_OP_outer, TUPLE, 0, VYRE_TUPLE_OF(3, F32X2), 0, x->vec, x->vec, NONE).id; }
BREAKS(outer_of_scalar) { return vyre_build(&x->b, VYRE_OP_outer, TUPLE, 0, VYRE_TUPLE_OF(2, F32X2), 0, x->vec, x->f, NONE).id; }
BREAKS(determinant_not_square)
{
  vyre_row matrix = vyre_build_tuple(&x->b, (const vyre_row[]){x->vec, x->vec, x->vec}, 3);
  return op3(x, VYRE_OP_determinant, F32, matrix, NONE, NONE).id;
}
BREAKS(inverse_parts) { return vyre_build(&x->b, VYRE_OP_inverse, TUPLE, 0, VYRE_TUPLE_OF(2, F32X3), 0, x->matrix, NONE, NONE).id; }

/* ---- subgroups ---- */
static uint32_t
grouped(fixture *x, vyre_opcode op, vyre_type type, uint32_t imm, vyre_row a, vyre_row b)
{
  return vyre_build(&x->b, op, type, 0, imm, 0, a, b, NONE).id;
}
#define U32X4 VYRE_TYPE(VYRE_U32, 4)
BREAKS(subgroup_lane_type) { return op0(x, VYRE_OP_subgroup_lane, I32).id; }
BREAKS(subgroup_mask_type) { return op0(x, VYRE_OP_subgroup_lt_mask, VYRE_TYPE(VYRE_U32, 3)).id; }
BREAKS(subgroup_size_payload) { return grouped(x, VYRE_OP_subgroup_size, U32, 1, NONE, NONE); }
BREAKS(subgroup_size_version) { return vyre_build(&x->b, VYRE_OP_subgroup_size, U32, 0, 0, 1, NONE, NONE, NONE).id; }
BREAKS(elect_type) { return op0(x, VYRE_OP_subgroup_elect, U32).id; }
BREAKS(elect_payload) { return grouped(x, VYRE_OP_subgroup_elect, BOOL, VYRE_GROUP_INCLUSIVE, NONE, NONE); }
BREAKS(subgroup_all_of_lanes) { return grouped(x, VYRE_OP_subgroup_all, BOOL, 0, x->bvec, NONE); }
BREAKS(ballot_of_int) { return grouped(x, VYRE_OP_subgroup_ballot, U32X4, 0, x->u, NONE); }
BREAKS(ballot_type) { return grouped(x, VYRE_OP_subgroup_ballot, U32, 0, x->cond, NONE); }
BREAKS(alleq_type) { return grouped(x, VYRE_OP_subgroup_alleq, VYRE_TYPE(VYRE_BOOL, 2), 0, x->vec, NONE); }
BREAKS(alleq_of_tuple) { return grouped(x, VYRE_OP_subgroup_alleq, BOOL, 0, x->pair, NONE); }
BREAKS(broadcast_type) { return grouped(x, VYRE_OP_subgroup_broadcast, F32, 0, x->vec, x->u); }
BREAKS(broadcast_lane) { return grouped(x, VYRE_OP_subgroup_broadcast, F32X2, 0, x->vec, x->i); }
BREAKS(broadcast_payload) { return grouped(x, VYRE_OP_subgroup_broadcast, F32X2, 2, x->vec, x->u); }
BREAKS(broadcast_literal) { return vyre_build(&x->b, VYRE_OP_subgroup_broadcast, F32X2, VYRE_ROW_IMM, 0, 0, x->vec, NONE, NONE).id; }
BREAKS(inverse_ballot_of_int) { return grouped(x, VYRE_OP_subgroup_inverse_ballot, BOOL, 0, x->u, NONE); }
BREAKS(ballot_count_clustered)
{
  return grouped(x, VYRE_OP_subgroup_ballot_count, U32, VYRE_GROUP(VYRE_GROUP_CLUSTERED, 4),
                 op0(x, VYRE_OP_subgroup_eq_mask, U32X4), NONE);
}
BREAKS(ballot_bit_version)
{
  return vyre_build(&x->b, VYRE_OP_subgroup_ballot_bit, BOOL, 0, 0, 1, op0(x, VYRE_OP_subgroup_eq_mask, U32X4), x->u, NONE).id;
}
BREAKS(rotate_inclusive) { return grouped(x, VYRE_OP_subgroup_rotate, F32, VYRE_GROUP_INCLUSIVE, x->f, x->u); }
BREAKS(rotate_cluster) { return grouped(x, VYRE_OP_subgroup_rotate, F32, VYRE_GROUP(VYRE_GROUP_CLUSTERED, 6), x->f, x->u); }
BREAKS(quad_direction_row) { return grouped(x, VYRE_OP_subgroup_quad_swap, F32, 0, x->f, x->u); }
BREAKS(quad_direction) { return grouped(x, VYRE_OP_subgroup_quad_swap, F32, 0, x->f, literal(x, U32, 3)); }
BREAKS(subgroup_add_of_bool) { return grouped(x, VYRE_OP_subgroup_add, BOOL, 0, x->cond, NONE); }
BREAKS(subgroup_add_type) { return grouped(x, VYRE_OP_subgroup_add, F32, 0, x->vec, NONE); }
BREAKS(subgroup_add_group) { return grouped(x, VYRE_OP_subgroup_add, F32, 4, x->f, NONE); }
BREAKS(subgroup_add_no_cluster) { return grouped(x, VYRE_OP_subgroup_add, F32, VYRE_GROUP_CLUSTERED, x->f, NONE); }
BREAKS(subgroup_add_stray_cluster) { return grouped(x, VYRE_OP_subgroup_add, F32, VYRE_GROUP(VYRE_GROUP_EXCLUSIVE, 4), x->f, NONE); }
BREAKS(subgroup_umin_sign) { return grouped(x, VYRE_OP_subgroup_umin, I32, 0, x->i, NONE); }
BREAKS(subgroup_and_of_float) { return grouped(x, VYRE_OP_subgroup_and, F32, 0, x->f, NONE); }
BREAKS(subgroup_fmin_of_int) { return grouped(x, VYRE_OP_subgroup_fmin, I32, 0, x->i, NONE); }
BREAKS(length_of_ballot)
{
  vyre_row one = literal(x, U32X4, 1);
  put(x->v->a, x->workgroup, vyre_build(&x->b, VYRE_OP_subgroup_ballot_count, U32, 0, 0, 0, one, NONE, NONE).id);
  vyre_row_move_before(x->m, (vyre_row){x->v->a[x->workgroup.id]}, x->workgroup);
  return x->workgroup.id;
}

static const rule_case cases[] = {
#define CASE(name, text) {text, name},
#include "rules.def"
};

static const char *const names[] = {
#define CASE(name, text) #name,
#include "rules.def"
};

static void
a_sound_module_has_no_errors(void **state)
{
  fixture x;
  vyre_verify_errors errors = {0};
  (void)state;
  fixture_open(&x);
  assert_null(vyre_verify(x.m, &errors));
  assert_int_equal(errors.count, 0);
  assert_null(vyre_module_seal(x.m, NULL));
  assert_null(vyre_verify(x.m, &errors));
  vyre_verify_errors_free(&errors);
  fixture_close(&x);
}

/* One broken rule may show at several rows; the first error about it is the one looked for, at its row. */
static void
each_rule_is_checked(void **state)
{
  uint32_t failures = 0;
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    fixture x;
    vyre_verify_errors errors = {0};
    vyre_status status;
    uint32_t row;
    bool found = false;
    fixture_open(&x);
    row = cases[i].breaks(&x);
    assert_null(vyre_module_status(x.m));
    status = vyre_verify(x.m, &errors);
    for (uint32_t e = 0; e < errors.count; e++)
      found = found || (errors.errors[e].row == row && strstr(errors.errors[e].message, cases[i].text));
    if (!status || !found || (errors.count > 1 && !errors.damaged)) {
      failures++;
      print_message("%s: row %u, wanted \"%s\", got %u errors\n", names[i], row, cases[i].text, errors.count);
      for (uint32_t e = 0; e < errors.count && e < 5; e++)
        print_message("    %u: %s\n", errors.errors[e].row, errors.errors[e].message);
    }
    vyre_status_free(status);
    vyre_verify_errors_free(&errors);
    fixture_close(&x);
  }
  assert_int_equal(failures, 0);
}

int
main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_sound_module_has_no_errors),
      cmocka_unit_test(each_rule_is_checked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
