/* Loops, dominance, levels: analyses that follow from structured control and the order of rows in one sweep each. docs/ir.md,
 * "Loops, dominance, levels", defines them; passes query them with vyre/view.h.
 *
 * All three rely on sealed order: a row's parent and operands have smaller ids, and the rows in a row follow it without a gap. So a
 * forward sweep has visited everything that a row depends on, and a backward sweep all rows in it.
 *
 * O(rows) each, without scratch.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "analyses.h"
#include "versions.h"

#include <string.h>

#define AT(column) ((column)-COLUMN_ANALYSIS)

const analysis_column vyre_analysis_columns[ANALYSIS_COLUMNS] = {
    [AT(COLUMN_VERSION)] = {VYRE_VERSIONS, "the version of"},
    [AT(COLUMN_LOOP)] = {VYRE_LOOPS, "the innermost loop around"},
    [AT(COLUMN_LOOP_NEXT)] = {VYRE_LOOPS, "the loop after"},
    [AT(COLUMN_LOOP_EXIT)] = {VYRE_LOOPS, "the first exit of"},
    [AT(COLUMN_END)] = {VYRE_DOMINANCE, "the last row in"},
    [AT(COLUMN_LEVEL)] = {VYRE_LEVELS, "the operand level of"},
    [AT(COLUMN_DEPTH)] = {VYRE_LEVELS, "the depth of"},
    [AT(COLUMN_HASH)] = {VYRE_HASHES, "the hash of"},
    [AT(COLUMN_CANONICAL)] = {VYRE_CLASSES, "the smallest row equal to"},
};

/* ---- loops --------------------------------------------------------------------------------------------------------------- */

/* State of the sweep. While a loop is open, next[loop] is the row directly in its region that is or contains the current row.
 * next[] of the loop's first region row is the outermost row that a jump in the loop ends, or UINT32_MAX if jumps only end
 * iterations or the loop. */
typedef struct loops {
  const vyre_view *view;
  uint32_t *loop, *next, *exit;
  uint32_t open; /* the innermost loop around the current row */
  uint32_t last; /* the last closed loop, or 0 */
} loops;

static bool
is_loop(const vyre_view *v, uint32_t row)
{
  return VYRE_ROW_OP(v->op[row]) == VYRE_OP_for || VYRE_ROW_OP(v->op[row]) == VYRE_OP_loop;
}

/* Records that the current row is a jump that ends the row `ended`, or a loop that contains such a jump. A jump that ends an
 * iteration ends its loop here. */
static void
note_jump(const loops *k, uint32_t ended)
{
  const uint32_t loop = k->open;
  if (loop == 0 || ended > loop)
    return;
  if (k->exit[loop] == 0)
    k->exit[loop] = k->next[loop];
  if (ended < loop && ended < k->next[k->view->first[loop]])
    k->next[k->view->first[loop]] = ended;
}

static void
close_loop(loops *k)
{
  const uint32_t closed = k->open, region = k->view->first[closed], ended = k->next[region];
  k->open = k->loop[closed];
  note_jump(k, ended); /* a jump that ends the loop from inside may end iterations of outer loops */
  k->next[closed] = k->next[region] = 0;
  k->next[k->last] = closed;
  k->last = closed;
}

static void
visit_control(loops *k, uint32_t row)
{
  const vyre_view *v = k->view;
  switch (VYRE_ROW_OP(v->op[row])) {
  case VYRE_OP_for:
  case VYRE_OP_loop:
    k->open = row;
    k->next[v->first[row]] = UINT32_MAX;
    break;
  case VYRE_OP_break:
  case VYRE_OP_continue:
    note_jump(k, k->open);
    break;
  case VYRE_OP_leave:
    note_jump(k, v->a[row]);
    break;
  case VYRE_OP_return:
  case VYRE_OP_trap:
    note_jump(k, 0);
    break;
  default:
    break;
  }
}

/* Closes the loops that do not contain the region. Returns the innermost loop around the rows in the region. */
static uint32_t
change_region(loops *k, uint32_t region)
{
  const uint32_t inside = is_loop(k->view, region) ? region : k->loop[region];
  while (k->open != inside)
    close_loop(k);
  return inside;
}

static void
find_loops(const vyre_view *v, uint32_t *loop, uint32_t *next, uint32_t *exit)
{
  loops k = {.view = v, .loop = loop, .next = next, .exit = exit};
  const uint32_t *parent = v->parent, *op = v->op, rows = v->rows;
  memset(loop, 0, rows * sizeof *loop);
  memset(next, 0, rows * sizeof *next);
  memset(exit, 0, rows * sizeof *exit);
  for (uint32_t row = 1, region = UINT32_MAX, inside = 0, direct = 0; row < rows; row++) {
    if (parent[row] != region) {
      inside = change_region(&k, parent[row]);
      while (k.open == 0 && row < rows - 1 && !is_loop(v, row)) /* rows outside of loops have no loop */
        row++;
      region = parent[row];
      direct = inside && parent[region] == inside ? inside : 0;
    }
    loop[row] = inside;
    if (direct)
      next[direct] = row;
    if ((vyre_op_infos[VYRE_ROW_OP(op[row])].flags & (VYRE_OP_REGIONS | VYRE_OP_ENDS)) != 0)
      visit_control(&k, row);
  }
  while (k.open)
    close_loop(&k);
}

/* ---- dominance, levels --------------------------------------------------------------------------------------------------- */

static void
find_ends(const vyre_view *v, uint32_t *end)
{
  const uint32_t *last = v->last;
  for (uint32_t row = v->rows; row-- > 0;) /* the rows in a row follow it */
    end[row] = last[row] ? end[last[row]] : row;
}

static uint32_t
greater(uint32_t x, uint32_t y)
{
  return x > y ? x : y;
}

/* Row 0, a missing operand, counts as one level below 0. */
static void
find_levels(const vyre_view *v, uint32_t *level, uint32_t *depth)
{
  level[0] = depth[0] = UINT32_MAX;
  for (uint32_t row = 1; row < v->rows; row++) {
    level[row] = greater(level[v->a[row]] + 1, greater(level[v->b[row]] + 1, level[v->c[row]] + 1));
    depth[row] = depth[v->parent[row]] + 1;
  }
  level[0] = depth[0] = 0;
}

vyre_status
vyre_analyses_compute(const vyre_module *module, uint32_t analyses, uint32_t *const columns[ANALYSIS_COLUMNS],
                      vyre_state_graph *graph)
{
  const vyre_view *view = vyre_module_view(module);
  if (analyses & VYRE_LOOPS)
    find_loops(view, columns[AT(COLUMN_LOOP)], columns[AT(COLUMN_LOOP_NEXT)], columns[AT(COLUMN_LOOP_EXIT)]);
  if (analyses & VYRE_DOMINANCE)
    find_ends(view, columns[AT(COLUMN_END)]);
  if (analyses & VYRE_LEVELS)
    find_levels(view, columns[AT(COLUMN_LEVEL)], columns[AT(COLUMN_DEPTH)]);
  if ((analyses & VYRE_VERSIONS) == 0)
    return VYRE_OK;
  graph->version = columns[AT(COLUMN_VERSION)];
  return vyre_versions_compute(module, graph);
}

/* ---- in the module ------------------------------------------------------------------------------------------------------- */

void
vyre_module_show_analyses(vyre_module *module, uint32_t analyses)
{
  const uint32_t **const shown[ANALYSIS_COLUMNS] = {
      [AT(COLUMN_VERSION)] = &module->view.version,
      [AT(COLUMN_LOOP)] = &module->view.loop,
      [AT(COLUMN_LOOP_NEXT)] = &module->view.loop_next,
      [AT(COLUMN_LOOP_EXIT)] = &module->view.loop_exit,
      [AT(COLUMN_END)] = &module->view.end,
      [AT(COLUMN_LEVEL)] = &module->view.level,
      [AT(COLUMN_DEPTH)] = &module->view.depth,
      [AT(COLUMN_HASH)] = &module->view.hash,
      [AT(COLUMN_CANONICAL)] = &module->view.canonical,
  };
  for (uint32_t i = 0; i < ANALYSIS_COLUMNS; i++)
    *shown[i] = vyre_analysis_columns[i].analysis & analyses & module->made ? module->column[COLUMN_ANALYSIS + i] : NULL;
  const bool has_graph = (VYRE_VERSIONS & analyses & module->made) != 0;
  module->view.joins = has_graph ? module->graph.joins : NULL;
  module->view.parts = has_graph ? module->graph.parts : NULL;
  module->view.join_count = has_graph ? module->graph.join_count : 0;
  module->view.part_count = has_graph ? module->graph.part_count : 0;
}

uint32_t
vyre_analyses_shown(const vyre_view *v)
{
  return (v->version ? VYRE_VERSIONS : 0) | (v->loop ? VYRE_LOOPS : 0) | (v->end ? VYRE_DOMINANCE : 0) |
         (v->level ? VYRE_LEVELS : 0) | (v->hash ? VYRE_HASHES : 0) | (v->canonical ? VYRE_CLASSES : 0);
}

/* Makes room for the columns of the analyses, zero after the last row. */
static bool
reserve_columns(vyre_module *module, uint32_t analyses)
{
  const uint32_t rows = module->view.rows;
  for (uint32_t i = 0; i < ANALYSIS_COLUMNS; i++) {
    const table_column column = (table_column)(COLUMN_ANALYSIS + i);
    if (!(vyre_analysis_columns[i].analysis & analyses))
      continue;
    if (!table_grow_analysis(module, column))
      return false;
    module->written |= 1u << column; /* the caller fills it */
    if (module->side[column] > rows)
      memset(module->column[column] + rows, 0, (module->side[column] - rows) * sizeof(uint32_t));
    module->side[column] = rows;
  }
  return true;
}

vyre_status
vyre_module_make_analyses(vyre_module *module, uint32_t analyses)
{
  if (!vyre_module_is_sealed(module))
    return VYRE_ERROR(VYRE_CODE_INTERNAL, "analyses of a module that is not sealed");
  analyses &= VYRE_ANALYSES;
  if (!reserve_columns(module, analyses))
    return vyre_module_status(module);
  VYRE_TRY(vyre_analyses_compute(module, analyses, module->column + COLUMN_ANALYSIS, &module->graph));
  module->made |= analyses;
  vyre_module_show_analyses(module, vyre_analyses_shown(&module->view) | analyses);
  return VYRE_OK;
}

uint32_t *
vyre_module_open_column(vyre_module *module, uint32_t which)
{
  if (!vyre_module_is_sealed(module) || !reserve_columns(module, which & VYRE_COLUMNS))
    return NULL;
  module->made |= which & VYRE_COLUMNS;
  return which == VYRE_HASHES ? module->column[COLUMN_HASH] : which == VYRE_CLASSES ? module->column[COLUMN_CANONICAL] : NULL;
}

void
vyre_module_drop_analyses(vyre_module *module, uint32_t analyses, bool poison)
{
  for (uint32_t i = 0; i < ANALYSIS_COLUMNS && poison; i++)
    if (vyre_analysis_columns[i].analysis & analyses & module->made) {
      memset(module->column[COLUMN_ANALYSIS + i], 0xff, module->side[COLUMN_ANALYSIS + i] * sizeof(uint32_t));
      module->written |= 1u << (COLUMN_ANALYSIS + i);
    }
  module->made &= ~analyses;
  vyre_module_show_analyses(module, vyre_analyses_shown(&module->view) & ~analyses);
}
