/* The top of programs: const, built-in and spec rows, then workgroup, buffer and var rows. Finds the positions of new rows, and
 * existing const and built-in rows.
 *
 * One hash set of the module finds a row by (program, op word, bits). An entry is valid only while the columns still match. Rows
 * outside the top are never in the set, so a row that is found dominates every row of its program. After sealing, the next constant
 * that is built in a program finds its top again, in O(rows there). It does not find the tops of other programs, because they may
 * change before their first constant is built, and the result for a program may not depend on the others.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

static uint64_t
hash_key(uint32_t program, uint32_t word, uint32_t imm, uint32_t imm_hi)
{
  uint64_t hash = ((uint64_t)imm_hi << 32 | imm) * 0x9e3779b97f4a7c15u;
  hash ^= ((uint64_t)program << 32 | word) * 0xc2b2ae3d27d4eb4fu;
  hash *= 0xff51afd7ed558ccdu;
  return hash >> 32;
}

static uint64_t
hash_of(const vyre_module *module, uint32_t row)
{
  uint32_t *const *column = module->column;
  return hash_key(column[COLUMN_PARENT][row], column[COLUMN_OP][row], column[COLUMN_IMM][row], column[COLUMN_IMM_HI][row]);
}

/* Returns the slot in `consts` of the program's const or built-in row with this op word and payload. If there is no such row, the
 * slot is empty, and the caller may fill it. Returns NULL if memory runs out. */
static inline uint32_t *
const_slot(vyre_module *module, uint32_t program, uint32_t word, uint64_t bits)
{
  table_set *set = &module->consts;
  if (!table_set_grow(module, set, hash_of))
    return NULL;
  uint32_t *const *column = module->column;
  const uint32_t imm = (uint32_t)bits, imm_hi = (uint32_t)(bits >> 32), mask = set->capacity - 1;
  uint32_t slot = (uint32_t)hash_key(program, word, imm, imm_hi) & mask;
  for (uint32_t row; (row = set->slots[slot]) != 0; slot = (slot + 1) & mask)
    if (column[COLUMN_PARENT][row] == program && column[COLUMN_OP][row] == word && column[COLUMN_IMM][row] == imm &&
        column[COLUMN_IMM_HI][row] == imm_hi)
      break;
  return &set->slots[slot];
}

/* Removes the row, and moves back entries that were probed past it. */
void
table_forget_const(vyre_module *module, uint32_t row)
{
  table_set *set = &module->consts;
  if (module->consts_tops != module->tops || set->count == 0)
    return;
  uint32_t mask = set->capacity - 1;
  uint32_t slot = (uint32_t)hash_of(module, row) & mask;
  while (set->slots[slot] != row) {
    if (set->slots[slot] == 0)
      return;
    slot = (slot + 1) & mask;
  }
  for (uint32_t next = (slot + 1) & mask; set->slots[next]; next = (next + 1) & mask) {
    uint32_t home = (uint32_t)hash_of(module, set->slots[next]) & mask;
    if (((next - home) & mask) >= ((next - slot) & mask)) {
      set->slots[slot] = set->slots[next];
      slot = next;
    }
  }
  set->slots[slot] = 0;
  set->count--;
}

void
table_leave_top(vyre_module *module, uint32_t row)
{
  uint32_t program = module->column[COLUMN_PARENT][row];
  if (!table_op_is(module, program, VYRE_OP_program))
    return;
  table_program *info = table_program_of(module, program);
  if (info->tops != module->tops)
    return;
  if (table_is_shared(module->column[COLUMN_OP][row]))
    table_forget_const(module, row);
  uint32_t prev = module->column[COLUMN_PREV][row];
  if (info->last_const == row)
    info->last_const = prev;
  if (info->last_decl == row)
    info->last_decl = prev == info->last_const ? 0 : prev;
  if (info->workgroup == row)
    info->workgroup = 0;
  if (info->own_one == row)
    info->own_one = 0;
}

void
vyre_module_forget_tops(vyre_module *module)
{
  module->tops++;
}

void
table_start_top(vyre_module *module, table_program *info)
{
  if (module->consts_tops != module->tops)
    table_set_clear(&module->consts);
  module->consts_tops = info->tops = module->tops;
}

/* Finds the end of the const, built-in and spec rows, and of the declarations and pure rows that follow them. Returns false if
 * memory runs out. */
static bool
find_top(vyre_module *module, uint32_t program)
{
  table_program *info = table_program_of(module, program);
  table_start_top(module, info);
  info->last_const = 0;
  info->last_decl = 0;
  info->workgroup = 0;
  info->own_one = 0;
  uint32_t row = module->column[COLUMN_FIRST][program];
  for (; row && (table_is_shared(module->column[COLUMN_OP][row]) || table_op_is(module, row, VYRE_OP_spec));
       row = module->column[COLUMN_NEXT][row]) {
    if (!table_op_is(module, row, VYRE_OP_spec)) {
      if (!table_set_grow(module, &module->consts, hash_of))
        return false;
      table_set_add(&module->consts, hash_of(module, row), row);
    }
    info->last_const = row;
  }
  for (; row; row = module->column[COLUMN_NEXT][row]) {
    bool is_workgroup = table_op_is(module, row, VYRE_OP_workgroup);
    if (is_workgroup && !info->workgroup)
      info->workgroup = row;
    if (is_workgroup || table_op_is(module, row, VYRE_OP_buffer) || table_op_is(module, row, VYRE_OP_var))
      info->last_decl = row;
    else if ((table_flags(module, row) & VYRE_OP_PURE) == 0 && !table_op_is(module, row, VYRE_OP_spec))
      break;
  }
  return true;
}

/* ---- building ---- */

/* Returns the program that contains a row. O(depth). */
static uint32_t
program_around(const vyre_module *module, uint32_t row)
{
  while (row && !table_op_is(module, row, VYRE_OP_program))
    row = module->column[COLUMN_PARENT][row];
  return row;
}

static inline table_program *
top_of(vyre_builder *builder)
{
  vyre_module *module = builder->module;
  if (!builder->program)
    builder->program = program_around(module, builder->region);
  if (module->failed || !builder->program)
    return NULL;
  table_program *info = table_program_of(module, builder->program);
  return info->tops == module->tops || find_top(module, builder->program) ? info : NULL;
}

table_program *
table_top_of(vyre_builder *builder)
{
  return top_of(builder);
}

/* Adds a row after the const and spec rows at the top. */
static inline uint32_t
add_const_row(vyre_builder *builder, table_program *info, uint32_t word, uint64_t bits)
{
  vyre_module *module = builder->module;
  uint32_t before =
      info->last_const ? module->column[COLUMN_NEXT][info->last_const] : module->column[COLUMN_FIRST][builder->program];
  uint32_t row = table_new_row(module, builder->program, before, word, (uint32_t)bits, (uint32_t)(bits >> 32), 0, 0, 0);
  if (row)
    info->last_const = row;
  return row;
}

/* Returns the program's const or built-in row with this op word and payload. Makes the row if it is missing. */
static vyre_row
shared_row(vyre_builder *builder, uint32_t word, uint64_t bits)
{
  vyre_module *module = builder->module;
  table_program *info = top_of(builder);
  uint32_t *slot = info ? const_slot(module, builder->program, word, bits) : NULL;
  if (!slot)
    return VYRE_NONE;
  if (*slot == 0) {
    const bool is_one = word == VYRE_ROW(VYRE_OP_const, VYRE_TYPE(VYRE_U32, 1), 0) && bits == 1;
    const uint32_t own_one = is_one ? info->own_one : 0;
    const uint32_t row = own_one ? own_one : add_const_row(builder, info, word, bits);
    if (own_one)
      info->own_one = 0;
    module->consts.count += row != 0;
    *slot = row;
  }
  return (vyre_row){*slot};
}

vyre_row
vyre_build_const(vyre_builder *builder, vyre_type type, uint64_t bits)
{
  return shared_row(builder, VYRE_ROW(VYRE_OP_const, type, 0), bits);
}

vyre_row
vyre_build_invocation(vyre_builder *builder, vyre_opcode op)
{
  return shared_row(builder, VYRE_ROW(op, vyre_invocation_type(op), 0), 0);
}

vyre_row
vyre_build_spec(vyre_builder *builder, vyre_type type, uint64_t bits, uint32_t spec_id)
{
  vyre_module *module = builder->module;
  table_program *info = top_of(builder);
  if (!info)
    return VYRE_NONE;
  vyre_row row = {add_const_row(builder, info, VYRE_ROW(VYRE_OP_spec, type, 0), bits)};
  if (row.id && builder->line)
    vyre_row_set_place(module, row, builder->scope, builder->line, builder->column);
  vyre_row_set_spec_id(module, row, spec_id);
  return module->failed ? VYRE_NONE : row;
}
