/* Edits rows in place, moves and removes them; replaces uses in one sweep.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "table.h"
#include "vyre/view.h"

vyre_type
vyre_row_right_type(const vyre_module *module, uint32_t op, vyre_row a)
{
  if (VYRE_ROW_OP(op) >= VYRE_OP__COUNT || (vyre_op_infos[VYRE_ROW_OP(op)].flags & VYRE_OP_TAKES_IMM) == 0)
    return VYRE_VOID;
  if (VYRE_ROW_OP(op) == VYRE_OP_at || VYRE_ROW_OP(op) == VYRE_OP_lane)
    return VYRE_TYPE(VYRE_U32, 1);
  return VYRE_ROW_TYPE(module->column[COLUMN_OP][a.id]);
}

/* Records that the rows from `from` to `to` may have moved. A removed row moves all rows after it. */
static void
note_moved(vyre_module *module, uint32_t from, uint32_t to)
{
  module->moved_from = from < module->moved_from ? from : module->moved_from;
  module->moved_to = to > module->moved_to ? to : module->moved_to;
}

void
vyre_row_rewrite(vyre_module *module, vyre_row row, uint32_t op, uint32_t imm, uint32_t imm_hi, vyre_row a, vyre_row b, vyre_row c)
{
  if (row.id == 0 || row.id >= module->view.rows)
    return;
  uint32_t *const *column = module->column;
  if (table_is_shared(column[COLUMN_OP][row.id]))
    table_forget_const(module, row.id);
  if (VYRE_ROW_FLAGS(column[COLUMN_OP][row.id]) & ~VYRE_ROW_FLAGS(op) & VYRE_ROW_DECO)
    vyre_row_set_decorations(module, row, NULL, 0);
  column[COLUMN_OP][row.id] = op;
  column[COLUMN_IMM][row.id] = imm;
  column[COLUMN_IMM_HI][row.id] = imm_hi;
  column[COLUMN_A][row.id] = a.id;
  column[COLUMN_B][row.id] = b.id;
  column[COLUMN_C][row.id] = c.id;
  module->written |= TABLE_WROTE_CONTENTS;
  if (module->made & VYRE_VERSIONS && (table_word_flags(op) & (VYRE_OP_READS | VYRE_OP_WRITES)) == 0) {
    module->written |= 1u << COLUMN_VERSION;
    column[COLUMN_VERSION][row.id] = 0;
  }
  table_normalize(module, row.id);
  if (VYRE_ROW_OP(op) == VYRE_OP_null) {
    note_moved(module, row.id, UINT32_MAX);
    module->sealed = false;
  }
}

void
vyre_row_set_operand(vyre_module *module, vyre_row row, unsigned which, vyre_row operand)
{
  if (row.id == 0 || row.id >= module->view.rows || which > 2)
    return;
  uint32_t *const *column = module->column;
  column[COLUMN_A + which][row.id] = operand.id;
  module->written |= TABLE_WROTE_CONTENTS;
  if (which != 1)
    return;
  uint32_t *op = &column[COLUMN_OP][row.id];
  if (VYRE_ROW_FLAGS(*op) & VYRE_ROW_IMM) {
    *op &= ~((uint32_t)VYRE_ROW_IMM << 24);
    column[COLUMN_IMM][row.id] = 0;
    if (VYRE_ROW_OP(*op) != VYRE_OP_at)
      column[COLUMN_IMM_HI][row.id] = 0;
  }
  table_normalize(module, row.id);
}

static void
unlink_row(vyre_module *module, vyre_row row)
{
  table_leave_top(module, row.id);
  uint32_t *const *column = module->column;
  uint32_t parent = column[COLUMN_PARENT][row.id], prev = column[COLUMN_PREV][row.id], next = column[COLUMN_NEXT][row.id];
  if (prev)
    column[COLUMN_NEXT][prev] = next;
  else if (column[COLUMN_FIRST][parent] == row.id)
    column[COLUMN_FIRST][parent] = next;
  if (next)
    column[COLUMN_PREV][next] = prev;
  else if (column[COLUMN_LAST][parent] == row.id)
    column[COLUMN_LAST][parent] = prev;
  column[COLUMN_PARENT][row.id] = 0;
  column[COLUMN_PREV][row.id] = 0;
  column[COLUMN_NEXT][row.id] = 0;
  module->sealed = false;
}

void
vyre_row_unlink(vyre_module *module, vyre_row row)
{
  if (row.id == 0 || row.id >= module->view.rows)
    return;
  unlink_row(module, row);
  note_moved(module, row.id, UINT32_MAX);
  module->only_lost = false;
}

void
vyre_row_insert(vyre_module *module, vyre_row row, vyre_row region, vyre_row before)
{
  if (row.id == 0 || row.id >= module->view.rows)
    return;
  table_link(module, row.id, region.id, before.id);
  note_moved(module, row.id < region.id + 1 ? row.id : region.id + 1, UINT32_MAX);
  if (module->side[COLUMN_NAME])
    module->names_dirty = true; /* the row may come from another program */
}

void
vyre_row_move_before(vyre_module *module, vyre_row row, vyre_row before)
{
  if (row.id == before.id || before.id == 0 || row.id == 0 || row.id >= module->view.rows)
    return;
  const bool is_earlier = row.id < before.id, contains_rows = module->column[COLUMN_FIRST][row.id] != 0;
  unlink_row(module, row);
  table_link(module, row.id, module->column[COLUMN_PARENT][before.id], before.id);
  note_moved(module, is_earlier ? row.id : before.id, contains_rows ? UINT32_MAX : is_earlier ? before.id : row.id);
  module->names_dirty |= module->side[COLUMN_NAME] != 0; /* the row may come from another program */
}

void
vyre_rows_move(vyre_module *module, vyre_row first, vyre_row region, vyre_row before)
{
  uint32_t *const *column = module->column;
  const uint32_t from = column[COLUMN_PARENT][first.id], last = column[COLUMN_LAST][from], prev = column[COLUMN_PREV][first.id];
  if (first.id == 0)
    return;
  for (uint32_t row = first.id; row; row = column[COLUMN_NEXT][row])
    column[COLUMN_PARENT][row] = region.id;
  column[COLUMN_LAST][from] = prev;
  if (prev)
    column[COLUMN_NEXT][prev] = 0;
  else
    column[COLUMN_FIRST][from] = 0;
  const uint32_t after = before.id ? column[COLUMN_PREV][before.id] : column[COLUMN_LAST][region.id];
  column[COLUMN_PREV][first.id] = after;
  column[COLUMN_NEXT][last] = before.id;
  if (after)
    column[COLUMN_NEXT][after] = first.id;
  else
    column[COLUMN_FIRST][region.id] = first.id;
  if (before.id)
    column[COLUMN_PREV][before.id] = last;
  else
    column[COLUMN_LAST][region.id] = last;
  note_moved(module, first.id < region.id + 1 ? first.id : region.id + 1, UINT32_MAX);
  module->sealed = module->only_lost = false;
}

void
vyre_row_kill(vyre_module *module, vyre_row row)
{
  if (row.id == 0 || row.id >= module->view.rows)
    return;
  unlink_row(module, row);
  note_moved(module, row.id, UINT32_MAX);
  for (uint32_t at = row.id; at; at = vyre_row_after(&module->view, at, row.id))
    module->column[COLUMN_OP][at] = VYRE_ROW(VYRE_OP_null, 0, 0);
}

void
vyre_module_settle_rows(vyre_module *module)
{
  const uint32_t *op = module->column[COLUMN_OP], rows = module->view.rows;
  uint32_t *version = (module->made & VYRE_VERSIONS) != 0 ? module->column[COLUMN_VERSION] : NULL;
  module->tops++; /* a const row may have become another row */
  for (uint32_t row = 1; row < rows; row++) {
    if (version && version[row] && (table_word_flags(op[row]) & (VYRE_OP_READS | VYRE_OP_WRITES)) == 0) {
      module->written |= 1u << COLUMN_VERSION;
      version[row] = 0;
    }
    if (VYRE_ROW_OP(op[row]) == VYRE_OP_null) {
      unlink_row(module, (vyre_row){row});
      note_moved(module, row, UINT32_MAX);
    }
  }
}

uint32_t
vyre_row_after(const vyre_view *view, uint32_t row, uint32_t root)
{
  return vyre_body_next(view, root, row);
}

uint32_t
vyre_row_depth(const vyre_view *view, uint32_t row)
{
  uint32_t depth = 0;
  for (row = view->parent[row]; row; row = view->parent[row]) {
    const uint32_t op = VYRE_ROW_OP(view->op[row]);
    depth += op == VYRE_OP_if || op == VYRE_OP_switch || op == VYRE_OP_for || op == VYRE_OP_loop;
  }
  return depth;
}

/* Returns the end of row's chain, and makes every row of the chain point at it. A cycle is cut after `rows` steps. */
static uint32_t
find_chain_end(uint32_t *fwd, uint32_t row, uint32_t rows)
{
  uint32_t end = row;
  for (uint32_t steps = 0; fwd[end] != end && steps < rows; steps++)
    end = fwd[end];
  while (fwd[row] != end && row != end) {
    uint32_t next = fwd[row];
    fwd[row] = end;
    row = next;
  }
  fwd[end] = end;
  return end;
}

void
vyre_module_forward(vyre_module *module, uint32_t *fwd)
{
  uint32_t *const *column = module->column;
  uint32_t rows = module->view.rows;
  for (uint32_t row = 0; row < rows; row++)
    if (fwd[row] >= rows)
      fwd[row] = row;
  fwd[0] = 0;
  for (uint32_t row = 0; row < rows; row++)
    if (fwd[row] != row)
      find_chain_end(fwd, row, rows);
  for (uint32_t row = 1; row < rows; row++) {
    column[COLUMN_A][row] = fwd[column[COLUMN_A][row]];
    column[COLUMN_C][row] = fwd[column[COLUMN_C][row]];
    if (column[COLUMN_B][row]) {
      column[COLUMN_B][row] = fwd[column[COLUMN_B][row]];
      table_normalize(module, row);
    }
  }
  module->written |= TABLE_WROTE_CONTENTS;
  table_remap_types(module, fwd);
}
