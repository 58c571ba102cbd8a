/* The builder: appends rows at a cursor, and places declarations and constants at the top of their program.
 *
 * Only memory is checked. If the module failed, a builder makes no row and returns row 0, which every call accepts as an operand.
 * O(1) each unless a comment says otherwise.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "result.h"
#include "table.h"

#include "vyre/view.h"

#include <string.h>

static vyre_type
type_of(const vyre_module *module, vyre_row row)
{
  return VYRE_ROW_TYPE(module->column[COLUMN_OP][row.id]);
}

/* Adds a row if there may be no room yet, or a source location to set. */
static __attribute__((noinline)) vyre_row
add_slowly(vyre_builder *builder, uint32_t region, uint32_t before, uint32_t word, uint32_t imm, uint32_t imm_hi, uint32_t a,
           uint32_t b, uint32_t c)
{
  uint32_t row = table_new_row(builder->module, region, before, word, imm, imm_hi, a, b, c);
  if (row && builder->line)
    vyre_row_set_place(builder->module, (vyre_row){row}, builder->scope, builder->line, builder->column);
  return (vyre_row){row};
}

/* Adds a row in `region` before `before`, with the builder's source location. Usually calls no function. */
static inline vyre_row
add_at(vyre_builder *builder, uint32_t region, uint32_t before, uint32_t word, uint32_t imm, uint32_t imm_hi, uint32_t a,
       uint32_t b, uint32_t c)
{
  if (builder->module->view.rows >= builder->module->capacity || builder->line)
    return add_slowly(builder, region, before, word, imm, imm_hi, a, b, c);
  return (vyre_row){table_put_row(builder->module, region, before, word, imm, imm_hi, a, b, c)};
}

static vyre_row
add(vyre_builder *builder, vyre_opcode op, vyre_type type, uint32_t flags, uint32_t imm, uint32_t imm_hi, vyre_row a, vyre_row b,
    vyre_row c)
{
  return add_at(builder, builder->region, builder->before, VYRE_ROW(op, type, flags), imm, imm_hi, a.id, b.id, c.id);
}

/* ---- the cursor ---- */

void
vyre_builder_at_end(vyre_builder *builder, vyre_row region)
{
  if (table_op_is(builder->module, region.id, VYRE_OP_program))
    builder->program = region.id;
  builder->region = region.id;
  builder->before = 0;
}

void
vyre_builder_before(vyre_builder *builder, vyre_row row)
{
  builder->region = builder->module->column[COLUMN_PARENT][row.id];
  builder->before = row.id;
  if (table_op_is(builder->module, builder->region, VYRE_OP_program))
    builder->program = builder->region;
}

void
vyre_builder_leave(vyre_builder *builder, vyre_row control)
{
  builder->region = builder->module->column[COLUMN_PARENT][control.id];
  builder->before = builder->module->column[COLUMN_NEXT][control.id];
}

/* ---- the top of a program ---- */

vyre_row
vyre_build_program(vyre_module *module, const char *name, uint32_t mode, uint32_t input, vyre_builder *out)
{
  *out = (vyre_builder){.module = module};
  vyre_row program = add_at(out, 0, 0, VYRE_ROW(VYRE_OP_program, VYRE_VOID, 0), mode, 0, 0, 0, 0);
  if (!program.id || !table_add_program_info(module, program.id, input))
    return VYRE_NONE;
  vyre_row_set_name(module, program, name, name ? strlen(name) : 0);
  vyre_builder_at_end(out, program);
  uint32_t one = table_new_row(module, program.id, 0, VYRE_ROW(VYRE_OP_const, VYRE_TYPE(VYRE_U32, 1), 0), 1, 0, 0, 0, 0);
  uint32_t workgroup = table_new_row(module, program.id, 0, VYRE_ROW(VYRE_OP_workgroup, VYRE_VOID, 0), 0, 0, one, one, one);
  table_program *info = table_program_of(module, program.id);
  table_start_top(module, info);
  info->last_const = one;
  info->own_one = one;
  info->workgroup = workgroup;
  info->last_decl = workgroup;
  return module->failed ? VYRE_NONE : program;
}

/* Adds a row after the var and buffer rows at the top, or after `after` if that is not 0. */
static vyre_row
add_declaration(vyre_builder *builder, uint32_t after, uint32_t word, uint32_t imm, uint32_t imm_hi)
{
  vyre_module *module = builder->module;
  table_program *info = table_top_of(builder);
  if (!info)
    return VYRE_NONE;
  if (!after)
    after = info->last_decl ? info->last_decl : info->last_const;
  uint32_t before = after ? module->column[COLUMN_NEXT][after] : module->column[COLUMN_FIRST][builder->program];
  vyre_row row = add_at(builder, builder->program, before, word, imm, imm_hi, 0, 0, 0);
  if (row.id)
    info->last_decl = row.id;
  return row;
}

vyre_row
vyre_build_var(vyre_builder *builder, vyre_type type)
{
  return add_declaration(builder, 0, VYRE_ROW(VYRE_OP_var, type, 0), 0, 0);
}

vyre_row
vyre_build_unset_var(vyre_builder *builder, vyre_type type)
{
  return add_declaration(builder, 0, VYRE_ROW(VYRE_OP_var, type, 0), 0, VYRE_ACCESS_UNSET);
}

vyre_row
vyre_build_buffer(vyre_builder *builder, vyre_type_id type, vyre_space space, uint32_t access, uint32_t set, uint32_t binding)
{
  uint32_t after = table_length_row(builder->module, type);
  if (after && !table_op_is(builder->module, builder->module->column[COLUMN_PARENT][after], VYRE_OP_program))
    after = 0;
  vyre_row row =
      add_declaration(builder, after, VYRE_ROW(VYRE_OP_buffer, VYRE_TYPE(VYRE_PATH, 1), 0), type, (uint32_t)space | access);
  if (row.id && !table_add_buffer_info(builder->module, row.id, set, binding))
    return VYRE_NONE;
  return row;
}

/* Returns the last of the workgroup row's operands that follow it, or the row itself. O(rows at the top). */
static uint32_t
last_operand_behind(const vyre_module *module, uint32_t row)
{
  uint32_t *const *column = module->column;
  uint32_t last = row;
  for (uint32_t at = column[COLUMN_NEXT][row]; at; at = column[COLUMN_NEXT][at]) {
    if (at == column[COLUMN_A][row] || at == column[COLUMN_B][row] || at == column[COLUMN_C][row])
      last = at;
    bool at_top = (table_flags(module, at) & VYRE_OP_PURE) != 0 || table_op_is(module, at, VYRE_OP_spec) ||
                  table_op_is(module, at, VYRE_OP_buffer) || table_op_is(module, at, VYRE_OP_var);
    if (!at_top)
      break;
  }
  return last;
}

void
vyre_build_workgroup(vyre_builder *builder, vyre_row x, vyre_row y, vyre_row z)
{
  vyre_module *module = builder->module;
  table_program *info = table_top_of(builder);
  if (!info)
    return;
  uint32_t row = info->workgroup;
  if (!row) {
    row = add_declaration(builder, 0, VYRE_ROW(VYRE_OP_workgroup, VYRE_VOID, 0), 0, 0).id;
    if (!row)
      return;
    info->workgroup = row;
  }
  uint32_t *const *column = module->column;
  module->written |= TABLE_WROTE_CONTENTS;
  column[COLUMN_A][row] = x.id;
  column[COLUMN_B][row] = y.id;
  column[COLUMN_C][row] = z.id;
  if (info->own_one && info->own_one != x.id && info->own_one != y.id && info->own_one != z.id)
    vyre_row_kill(module, (vyre_row){info->own_one});
  uint32_t last = last_operand_behind(module, row); /* the row moves behind its operands */
  if (last == row)
    return;
  bool is_last_decl = info->last_decl == row;
  vyre_row_unlink(module, (vyre_row){row});
  table_link(module, row, builder->program, column[COLUMN_NEXT][last]);
  info->workgroup = row;
  if (is_last_decl)
    info->last_decl = row;
}

/* ---- any row ---- */

vyre_row
vyre_build(vyre_builder *builder, vyre_opcode op, vyre_type type, uint32_t flags, uint32_t imm, uint32_t imm_hi, vyre_row a,
           vyre_row b, vyre_row c)
{
  const vyre_module *module = builder->module;
  uint32_t word = VYRE_ROW(op, type, flags);
  if (b.id && table_takes_imm(module, word, a.id, b.id)) {
    imm = module->column[COLUMN_IMM][b.id];
    if (op != VYRE_OP_at)
      imm_hi = module->column[COLUMN_IMM_HI][b.id];
    b.id = 0;
    word |= (uint32_t)VYRE_ROW_IMM << 24;
  }
  return add_at(builder, builder->region, builder->before, word, imm, imm_hi, a.id, b.id, c.id);
}

static typed
typed_of(const vyre_module *module, vyre_row row)
{
  return (typed){type_of(module, row), module->column[COLUMN_IMM][row.id]};
}

vyre_row
vyre_build_unary(vyre_builder *builder, vyre_opcode op, vyre_row a)
{
  const typed operands[3] = {typed_of(builder->module, a)}, result = result_of(op, operands);
  return add(builder, op, result.type, 0, result.imm, 0, a, VYRE_NONE, VYRE_NONE);
}

vyre_row
vyre_build_binary(vyre_builder *builder, vyre_opcode op, vyre_row a, vyre_row b)
{
  const typed operands[3] = {typed_of(builder->module, a), typed_of(builder->module, b)}, result = result_of(op, operands);
  return vyre_build(builder, op, result.type, 0, result.imm, 0, a, b, VYRE_NONE);
}

vyre_row
vyre_build_imm(vyre_builder *builder, vyre_opcode op, vyre_row a, uint64_t bits)
{
  const typed operands[3] = {typed_of(builder->module, a)};
  return add(builder, op, result_of(op, operands).type, VYRE_ROW_IMM, (uint32_t)bits, (uint32_t)(bits >> 32), a, VYRE_NONE,
             VYRE_NONE);
}

vyre_row
vyre_build_select(vyre_builder *builder, vyre_row condition, vyre_row yes, vyre_row no)
{
  return add(builder, VYRE_OP_select, type_of(builder->module, yes), 0, 0, 0, condition, yes, no);
}

vyre_row
vyre_build_lane(vyre_builder *builder, vyre_row vector, uint32_t lane)
{
  vyre_type type = VYRE_TYPE(VYRE_TYPE_KIND(type_of(builder->module, vector)), 1);
  return add(builder, VYRE_OP_lane, type, VYRE_ROW_IMM, lane, 0, vector, VYRE_NONE, VYRE_NONE);
}

vyre_row
vyre_build_convert(vyre_builder *builder, vyre_opcode convert_or_bitcast, vyre_type type, vyre_row a)
{
  return add(builder, convert_or_bitcast, type, 0, 0, 0, a, VYRE_NONE, VYRE_NONE);
}

/* ---- several values ---- */

static vyre_row
join(vyre_builder *builder, vyre_row a, vyre_row b, vyre_row c)
{
  const vyre_module *module = builder->module;
  uint32_t lanes = VYRE_TYPE_LANES(type_of(module, a)) + VYRE_TYPE_LANES(type_of(module, b));
  if (c.id)
    lanes += VYRE_TYPE_LANES(type_of(module, c));
  vyre_type type = VYRE_TYPE(VYRE_TYPE_KIND(type_of(module, a)), lanes < 4 ? lanes : 4);
  return add(builder, VYRE_OP_join, type, 0, 0, 0, a, b, c);
}

vyre_row
vyre_build_join(vyre_builder *builder, const vyre_row *parts, uint32_t count)
{
  vyre_module *module = builder->module;
  if (count == 0)
    return VYRE_NONE;
  if (count == 1)
    return parts[0];
  vyre_type type = type_of(module, parts[0]);
  bool same = VYRE_TYPE_LANES(type) == 1 && count <= 4;
  for (uint32_t i = 1; i < count; i++)
    same = same && parts[i].id == parts[0].id;
  if (same) {
    vyre_type wide = VYRE_TYPE(VYRE_TYPE_KIND(type), count);
    uint32_t row = parts[0].id;
    if (table_op_is(module, row, VYRE_OP_const))
      return vyre_build_const(builder, wide, (uint64_t)module->column[COLUMN_IMM_HI][row] << 32 | module->column[COLUMN_IMM][row]);
    return add(builder, VYRE_OP_splat, wide, 0, 0, 0, parts[0], VYRE_NONE, VYRE_NONE);
  }
  if (count == 2)
    return join(builder, parts[0], parts[1], VYRE_NONE);
  if (count == 3)
    return join(builder, parts[0], parts[1], parts[2]);
  return join(builder, join(builder, parts[0], parts[1], VYRE_NONE), parts[2], parts[3]);
}

/* Returns the payload of a tuple of the parts. */
static uint32_t
tuple_of(const vyre_module *module, const vyre_row *parts, uint32_t count)
{
  vyre_type type = count ? type_of(module, parts[0]) : 0;
  for (uint32_t i = 1; i < count && type; i++)
    if (type_of(module, parts[i]) != type)
      type = 0;
  return VYRE_TUPLE_OF(count & 0xffffu, type);
}

vyre_row
vyre_build_tuple(vyre_builder *builder, const vyre_row *parts, uint32_t count)
{
  const vyre_type type = VYRE_TYPE(VYRE_TUPLE, 1);
  uint32_t at = 0; /* first part of the innermost tuple */
  while (count - at > 3)
    at += 2;
  vyre_row operands[3] = {VYRE_NONE, VYRE_NONE, VYRE_NONE};
  for (uint32_t i = at; i < count; i++)
    operands[i - at] = parts[i];
  uint32_t imm = tuple_of(builder->module, parts + at, count - at);
  vyre_row row = add(builder, VYRE_OP_tuple, type, 0, imm, 0, operands[0], operands[1], operands[2]);
  while (at) {
    at -= 2;
    /* The common type: that of the rest, if these two have it too. */
    vyre_type rest = VYRE_TUPLE_TYPE(imm);
    bool same = type_of(builder->module, parts[at]) == rest && type_of(builder->module, parts[at + 1]) == rest;
    imm = VYRE_TUPLE_OF((count - at) & 0xffffu, same ? rest : 0);
    row = add(builder, VYRE_OP_tuple, type, 0, imm, 0, parts[at], parts[at + 1], row);
  }
  return row;
}

vyre_row
vyre_build_part(vyre_builder *builder, vyre_row tuple, uint32_t k, vyre_type type)
{
  const vyre_view *v = &builder->module->view;
  if (table_op_is(builder->module, tuple.id, VYRE_OP_tuple) && k < VYRE_TUPLE_COUNT(v->imm[tuple.id]))
    return (vyre_row){vyre_tuple_part(v, tuple.id, k)};
  return add(builder, VYRE_OP_part, type, 0, k, 0, tuple, VYRE_NONE, VYRE_NONE);
}

/* ---- memory ---- */

vyre_type_id
vyre_path_type(const vyre_module *module, vyre_row path)
{
  if (table_op_is(module, path.id, VYRE_OP_buffer))
    return module->column[COLUMN_IMM][path.id];
  return table_op_is(module, path.id, VYRE_OP_at) ? module->column[COLUMN_IMM_HI][path.id] : 0;
}

vyre_row
vyre_path_buffer(const vyre_module *module, vyre_row path)
{
  while (table_op_is(module, path.id, VYRE_OP_at))
    path.id = module->column[COLUMN_A][path.id];
  return table_op_is(module, path.id, VYRE_OP_buffer) ? path : VYRE_NONE;
}

vyre_row
vyre_build_at_literal(vyre_builder *builder, vyre_row path, uint32_t index)
{
  vyre_type_id type = vyre_type_step(builder->module, vyre_path_type(builder->module, path), index);
  return add(builder, VYRE_OP_at, VYRE_TYPE(VYRE_PATH, 1), VYRE_ROW_IMM, index, type, path, VYRE_NONE, VYRE_NONE);
}

vyre_row
vyre_build_at(vyre_builder *builder, vyre_row path, vyre_row index)
{
  const vyre_module *module = builder->module;
  if (table_takes_imm(module, VYRE_ROW(VYRE_OP_at, 0, 0), path.id, index.id))
    return vyre_build_at_literal(builder, path, module->column[COLUMN_IMM][index.id]);
  vyre_type_id type = vyre_type_step(module, vyre_path_type(module, path), 0);
  return add(builder, VYRE_OP_at, VYRE_TYPE(VYRE_PATH, 1), 0, 0, type, path, index, VYRE_NONE);
}

vyre_row
vyre_build_load(vyre_builder *builder, vyre_row path, uint32_t flags)
{
  vyre_type_id type = vyre_path_type(builder->module, path);
  return add(builder, VYRE_OP_load, type < VYRE_FIRST_TYPE ? (vyre_type)type : VYRE_VOID, flags, 0, 0, path, VYRE_NONE, VYRE_NONE);
}

vyre_row
vyre_build_store(vyre_builder *builder, vyre_row path, vyre_row value, uint32_t flags)
{
  return add(builder, VYRE_OP_store, VYRE_VOID, flags, 0, 0, path, value, VYRE_NONE);
}

vyre_row
vyre_build_get(vyre_builder *builder, vyre_row var)
{
  return add(builder, VYRE_OP_get, type_of(builder->module, var), 0, 0, 0, var, VYRE_NONE, VYRE_NONE);
}

vyre_row
vyre_build_set(vyre_builder *builder, vyre_row var, vyre_row value)
{
  return add(builder, VYRE_OP_set, VYRE_VOID, 0, 0, 0, var, value, VYRE_NONE);
}

/* ---- control ---- */

static vyre_row
add_region(vyre_builder *builder, vyre_row control, vyre_opcode op, vyre_type type, uint32_t imm, vyre_row a)
{
  if (!control.id)
    return VYRE_NONE;
  return add_at(builder, control.id, 0, VYRE_ROW(op, type, 0), imm, 0, a.id, 0, 0);
}

static void
enter_region(vyre_builder *builder, vyre_row region)
{
  if (!region.id) /* out of memory: keep the cursor */
    return;
  builder->region = region.id;
  builder->before = 0;
}

vyre_row
vyre_build_if(vyre_builder *builder, vyre_row condition)
{
  vyre_row row = add(builder, VYRE_OP_if, VYRE_VOID, 0, 0, 0, condition, VYRE_NONE, VYRE_NONE);
  vyre_row then = add_region(builder, row, VYRE_OP_region, VYRE_VOID, VYRE_THEN, VYRE_NONE);
  add_region(builder, row, VYRE_OP_region, VYRE_VOID, VYRE_ELSE, VYRE_NONE);
  enter_region(builder, then);
  return row;
}

vyre_row
vyre_build_for(vyre_builder *builder, vyre_row from, vyre_row to, vyre_row step)
{
  vyre_row row = add(builder, VYRE_OP_for, VYRE_VOID, 0, 0, 0, from, to, step);
  enter_region(builder, add_region(builder, row, VYRE_OP_body, type_of(builder->module, from), 0, VYRE_NONE));
  return row;
}

vyre_row
vyre_build_loop(vyre_builder *builder)
{
  vyre_row row = add(builder, VYRE_OP_loop, VYRE_VOID, 0, 0, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
  vyre_row body = add_region(builder, row, VYRE_OP_region, VYRE_VOID, VYRE_BODY, VYRE_NONE);
  add_region(builder, row, VYRE_OP_region, VYRE_VOID, VYRE_CONTINUING, VYRE_NONE);
  enter_region(builder, body);
  return row;
}

vyre_row
vyre_build_block(vyre_builder *builder)
{
  vyre_row row = add(builder, VYRE_OP_block, VYRE_VOID, 0, 0, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
  enter_region(builder, add_region(builder, row, VYRE_OP_region, VYRE_VOID, VYRE_BLOCK, VYRE_NONE));
  return row;
}

vyre_row
vyre_build_switch(vyre_builder *builder, vyre_row selector)
{
  return add(builder, VYRE_OP_switch, VYRE_VOID, 0, 0, 0, selector, VYRE_NONE, VYRE_NONE);
}

vyre_row
vyre_build_case(vyre_builder *builder, vyre_row switch_row, vyre_row labels, bool is_default)
{
  vyre_row row = add_region(builder, switch_row, VYRE_OP_case, VYRE_VOID, is_default ? VYRE_CASE_DEFAULT : 0, labels);
  enter_region(builder, row);
  return row;
}

vyre_row
vyre_region_of(const vyre_module *module, vyre_row control, uint32_t k)
{
  uint32_t row = module->column[COLUMN_FIRST][control.id];
  for (; row && k; k--)
    row = module->column[COLUMN_NEXT][row];
  return (vyre_row){row};
}

vyre_row
vyre_build_jump(vyre_builder *builder, vyre_opcode op, vyre_row target_or_condition)
{
  return add(builder, op, VYRE_VOID, 0, 0, 0, target_or_condition, VYRE_NONE, VYRE_NONE);
}

vyre_row
vyre_build_barrier(vyre_builder *builder, uint32_t order)
{
  return add(builder, VYRE_OP_barrier, VYRE_VOID, 0, order, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
}
