/* Sealing: numbers rows densely in program order, and drops dead and unlinked rows.
 *
 * One walk computes the new order and links. Then the contents of rows are gathered in that order, through the columns of links,
 * which are written last. If rows were only removed, the remaining ones move up in place, and links follow from parents. Linear in
 * rows. Rows before the first one that moves and after the last one stay where they are. Scratch: 16 bytes for each row, or 12.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/analyses.h"
#include "table.h"

#include <string.h>

typedef struct sealer {
  vyre_module *module;
  uint32_t rows;           /* before */
  uint32_t count;          /* after, without row 0 */
  uint32_t first;          /* the first row that may move; of the rows before it only links change */
  uint32_t end;            /* the first row after those that may move; from it on only operands and links change */
  uint32_t *map;           /* old id -> new id */
  uint32_t *order;         /* new id -> old id */
  uint32_t *parent, *next; /* the new columns */
  uint32_t *spare[2];      /* scratch */
} sealer;

/* Returns whether the links of row k put it after row k - 1 in program order. The rows before it are valid. */
static bool
follows(const vyre_view *view, uint32_t k)
{
  uint32_t parent = view->parent[k];
  if (parent >= k)
    return false;
  uint32_t before = k - 1; /* the ancestor of row k - 1 that is k's neighbour, or their parent */
  if (before != parent && view->first[before] != 0)
    return false;
  while (before > parent && view->parent[before] != parent) {
    if (view->next[before] != 0)
      return false;
    before = view->parent[before];
  }
  if (before == parent)
    return view->prev[k] == 0 && view->first[parent] == k;
  return before > parent && view->prev[k] == before && view->next[before] == k;
}

/* Returns the first row whose id is not dense or whose link is damaged. Returns the number of rows if all are right. */
static uint32_t
first_misplaced(const vyre_view *view)
{
  for (uint32_t k = 0; k < view->rows; k++) {
    uint32_t first = view->first[k], last = view->last[k], next = view->next[k];
    if (k && (VYRE_ROW_OP(view->op[k]) == VYRE_OP_null || !follows(view, k)))
      return k;
    if (next && (next <= k || next >= view->rows || view->prev[next] != k))
      return k;
    if ((first && first != k + 1) || (first == 0) != (last == 0) || last >= view->rows)
      return k;
    if (last && (view->parent[last] != k || view->next[last]))
      return k;
  }
  return view->rows;
}

bool
table_is_dense(const vyre_module *module)
{
  return first_misplaced(&module->view) == module->view.rows;
}

/* Returns the first row that is removed or does not follow its parent. Returns the number of rows if no row is. */
static uint32_t
first_gap(const vyre_view *view)
{
  uint32_t row = 1;
  while (row < view->rows && VYRE_ROW_OP(view->op[row]) != VYRE_OP_null && view->parent[row] < row)
    row++;
  return row;
}

/* Returns `first`, or 1 if one of the rows before it has an operand that may get another id. */
static uint32_t
first_changed(const vyre_view *view, uint32_t first)
{
  bool is_before = first != 0;
  for (uint32_t row = 1; row < first; row++)
    is_before &= (view->a[row] < first) & (view->b[row] < first) & (view->c[row] < first);
  return is_before ? first : 1;
}

/* Makes the row before s->first the last row of each region around it. */
static void
cut_links(const sealer *s, uint32_t *next, uint32_t *last)
{
  for (uint32_t row = s->first - 1, child = 0;; child = row, row = s->module->view.parent[row]) {
    next[row] = 0;
    last[row] = child;
    if (row == 0)
      break;
  }
}

/* Keeps the ids of the rows from s->end on. In its region, row s->end follows the row `before`, or is the first if that is 0. */
static void
keep_rest(sealer *s, uint32_t before)
{
  const uint32_t *parent = s->module->view.parent, *next = s->module->view.next, end = s->end, rows = s->rows;
  uint32_t *map = s->map, *prev = s->module->column[COLUMN_PREV], *last = s->module->column[COLUMN_LAST];
  for (uint32_t row = end; row < rows; row++)
    map[row] = row;
  for (uint32_t row = end; row < rows; row++) {
    s->parent[row] = map[parent[row]];
    prev[row] = map[prev[row]];
  }
  memcpy(s->next + end, next + end, (rows - end) * sizeof(*next));
  prev[end] = before;
  s->next[before] = end;
  for (uint32_t row = end; row; row = parent[row]) { /* the regions around the row end after it */
    uint32_t child = row;
    while (next[child])
      child = next[child];
    last[map[parent[row]]] = map[child];
    s->next[map[row]] = next[row];
  }
  s->count = rows - 1;
}

/* Numbers and links rows. Returns false if the links are damaged. A row is reached from its neighbour or parent only if it has the
 * same parent, so order and parents agree. If a row is reached twice, more rows are placed or skipped than there are. */
static bool
walk(sealer *s)
{
  const vyre_view *view = &s->module->view;
  const uint32_t *op = view->op, *parent = view->parent, *next = view->next, *first = view->first;
  uint32_t *map = s->map, *order = s->order, *new_parent = s->parent, *new_next = s->next;
  uint32_t *prev = s->module->column[COLUMN_PREV], *last = s->module->column[COLUMN_LAST]; /* not read any more */
  const uint32_t rows = s->rows, unchanged = s->first;
  uint32_t end = s->end;
  uint32_t count = unchanged - 1, skipped = 0;
  const bool descends = first[count] != 0;
  uint32_t row = descends ? first[count] : next[count], region = descends ? count : parent[count], new_region = region;
  uint32_t before = descends ? 0 : count; /* the last placed row of the region */
  map[0] = 0;
  for (uint32_t k = 1; k < unchanged; k++) {
    map[k] = k;
    last[parent[k]] = k; /* a damaged link may be to a later row */
  }
  memcpy(new_parent, parent, unchanged * sizeof(*map));
  memcpy(new_next, next, unchanged * sizeof(*map));
  memset(map + unchanged, 0, (rows - unchanged) * sizeof(*map));
  memset(new_next + unchanged, 0, (rows - unchanged) * sizeof(*map));
  memset(last + unchanged, 0, (end - unchanged) * sizeof(*map));
  cut_links(s, new_next, last);
  for (;; row = next[region], region = parent[region], new_region = map[region]) {
    while (row) {
      if (row >= rows || parent[row] != region)
        return false;
      if (row == end && count == end - 1) {
        keep_rest(s, before);
        return true;
      }
      if (row >= end) { /* a row before it was removed */
        memset(last + end, 0, (rows - end) * sizeof(*last));
        s->end = end = rows;
      }
      if (VYRE_ROW_OP(op[row]) == VYRE_OP_null) {
        if (++skipped >= rows)
          return false;
        row = next[row];
        continue;
      }
      if (++count >= rows)
        return false;
      map[row] = count;
      order[count] = row;
      new_parent[count] = new_region;
      prev[count] = before;
      new_next[before] = count; /* for a first child, next of row 0 */
      before = count;
      if (first[row]) {
        region = row;
        new_region = count;
        before = 0;
        row = first[row];
      } else {
        row = next[row];
      }
    }
    last[new_region] = before;
    if (!region)
      break;
    before = new_region; /* the region is a row that was reached */
  }
  s->count = count;
  s->end = count + 1;
  return true;
}

static inline uint32_t
mapped(const uint32_t *map, uint32_t rows, uint32_t row)
{
  return map[row < rows ? row : 0];
}

/* Copies back the rows of a column that moved. */
static void
copy_back(const sealer *s, table_column column, const uint32_t *made)
{
  memcpy(s->module->column[column] + s->first, made + s->first, (s->end - s->first) * sizeof(*made));
}

/* Gathers op words and payloads. */
static void
gather_contents(const sealer *s)
{
  uint32_t *const *column = s->module->column;
  const uint32_t *from_op = column[COLUMN_OP], *from_imm = column[COLUMN_IMM], *from_high = column[COLUMN_IMM_HI];
  const uint32_t *order = s->order, end = s->end;
  uint32_t *restrict op = column[COLUMN_PARENT], *restrict imm = column[COLUMN_NEXT], *restrict imm_hi = column[COLUMN_FIRST];
  for (uint32_t k = s->first; k < end; k++) {
    const uint32_t old = order[k];
    op[k] = from_op[old];
    imm[k] = from_imm[old];
    imm_hi[k] = from_high[old];
  }
  copy_back(s, COLUMN_OP, op);
  copy_back(s, COLUMN_IMM, imm);
  copy_back(s, COLUMN_IMM_HI, imm_hi);
}

static void
gather_operands(const sealer *s)
{
  uint32_t *const *column = s->module->column;
  uint32_t *from_a = column[COLUMN_A], *from_b = column[COLUMN_B], *from_c = column[COLUMN_C];
  const uint32_t *order = s->order, *map = s->map, rows = s->rows, end = s->end;
  uint32_t *restrict a = column[COLUMN_PARENT], *restrict b = column[COLUMN_NEXT], *restrict c = column[COLUMN_FIRST];
  for (uint32_t k = s->first; k < end; k++) {
    const uint32_t old = order[k];
    a[k] = mapped(map, rows, from_a[old]);
    b[k] = mapped(map, rows, from_b[old]);
    c[k] = mapped(map, rows, from_c[old]);
  }
  copy_back(s, COLUMN_A, a);
  copy_back(s, COLUMN_B, b);
  copy_back(s, COLUMN_C, c);
  for (uint32_t k = end; k <= s->count; k++) {
    from_a[k] = mapped(map, rows, from_a[k]);
    from_b[k] = mapped(map, rows, from_b[k]);
    from_c[k] = mapped(map, rows, from_c[k]);
  }
}

/* Writes the links that the walk did not write. */
static void
link_anew(const sealer *s)
{
  uint32_t *const *column = s->module->column;
  const uint32_t *parent = s->parent, count = s->count;
  uint32_t *restrict first = column[COLUMN_FIRST];
  s->parent[0] = s->next[0] = column[COLUMN_PREV][0] = 0;
  for (uint32_t k = 0; k < count; k++)
    first[k] = parent[k + 1] == k ? k + 1 : 0; /* a first child follows its parent */
  first[count] = 0;
  memcpy(column[COLUMN_PARENT], parent, (count + 1) * sizeof(*parent));
  memcpy(column[COLUMN_NEXT], s->next, (count + 1) * sizeof(*parent));
}

/* Moves a side column. Few of its cells are set, so they are taken out, and stored at the new rows. */
static bool
move_side(const sealer *s, table_column column)
{
  vyre_module *module = s->module;
  uint32_t *cells = module->column[column], *to = s->spare[0], *values = s->spare[1];
  const uint32_t held = module->side[column];
  uint32_t count = 0, last = 0;
  for (uint32_t row = table_next_cell(cells, 0, held); row < held; row = table_next_cell(cells, row + 1, held)) {
    to[count] = s->map[row]; /* 0 if the row is dropped */
    values[count] = cells[row];
    cells[row] = 0;
    last = to[count] > last ? to[count] : last;
    count++;
  }
  if (held <= last && !table_grow_side(module, column, last)) /* the last row may have a greater id than before */
    return false;
  for (uint32_t i = 0; i < count; i++)
    if (to[i])
      cells[to[i]] = values[i];
  module->side[column] = last ? last + 1 : 0;
  return true;
}

/* Moves and renumbers versions, if they are valid. */
static bool
move_versions(const sealer *s)
{
  vyre_module *module = s->module;
  const uint32_t held = module->side[COLUMN_VERSION], rows = s->count + 1;
  uint32_t *version = module->column[COLUMN_VERSION], *moved = module->only_lost ? version : s->spare[0];
  bool whole = false;
  module->graph.version = version;
  if (!module->only_lost)
    memset(moved, 0, rows * sizeof(*moved));
  if (!vyre_versions_renumber(&module->graph, &module->allocator, s->map, held, moved, s->spare[1], &whole))
    return false;
  if (!module->only_lost)
    memcpy(version, moved, rows * sizeof(*moved));
  if (held > rows)
    memset(version + rows, 0, (held - rows) * sizeof(*version));
  module->side[COLUMN_VERSION] = rows;
  module->written |= 1u << COLUMN_VERSION;
  module->lost_versions = !whole;
  vyre_module_show_analyses(module, vyre_analyses_shown(&module->view));
  return true;
}

/* ---- if rows were only removed ------------------------------------------------------------------------------------------- */

/* Numbers the remaining rows, and drops rows inside removed rows. Returns false if the links are damaged. */
static bool
number_remaining(sealer *s)
{
  const uint32_t *op = s->module->view.op, *parent = s->module->view.parent, rows = s->rows;
  uint32_t *map = s->map, count = s->first - 1;
  for (uint32_t row = 1; row < s->first; row++)
    map[row] = row;
  map[0] = 1; /* programs are kept */
  for (uint32_t row = s->first; row < rows; row++) {
    if (parent[row] >= row)
      return false;
    const uint32_t stays = (VYRE_ROW_OP(op[row]) != VYRE_OP_null) & (map[parent[row]] != 0);
    count += stays;
    map[row] = stays ? count : 0;
  }
  map[0] = 0;
  s->count = count;
  return true;
}

/* Moves rows up in place, and links them. No row moves to a greater id, and a row is read before it is overwritten. */
static void
move_up(const sealer *s)
{
  uint32_t *const *column = s->module->column;
  uint32_t *op = column[COLUMN_OP], *imm = column[COLUMN_IMM], *imm_hi = column[COLUMN_IMM_HI], *parent = column[COLUMN_PARENT];
  uint32_t *a = column[COLUMN_A], *b = column[COLUMN_B], *c = column[COLUMN_C];
  const uint32_t *map = s->map, rows = s->rows;
  for (uint32_t row = s->first; row < rows; row++) {
    const uint32_t k = map[row];
    if (k == 0)
      continue;
    op[k] = op[row];
    imm[k] = imm[row];
    imm_hi[k] = imm_hi[row];
    a[k] = mapped(map, rows, a[row]);
    b[k] = mapped(map, rows, b[row]);
    c[k] = mapped(map, rows, c[row]);
    parent[k] = map[parent[row]];
  }
}

/* Computes all links but parents for rows in program order. */
static void
link_by_parents(const sealer *s)
{
  uint32_t *const *column = s->module->column;
  const uint32_t *parent = column[COLUMN_PARENT], count = s->count;
  uint32_t *prev = column[COLUMN_PREV], *next = column[COLUMN_NEXT], *first = column[COLUMN_FIRST], *last = column[COLUMN_LAST];
  uint32_t region = s->first - 1, before = 0; /* the last row so far in the current region */
  cut_links(s, next, last);
  first[region] = 0;
  for (uint32_t k = s->first; k <= count; k++) {
    if (parent[k] != region) {
      last[region] = before;
      region = parent[k];
      before = last[region];
    }
    if (region == k - 1)
      first[region] = k; /* a first child follows its parent */
    prev[k] = before;
    next[before] = k;
    next[k] = first[k] = last[k] = 0;
    before = k;
  }
  last[region] = before;
  next[0] = 0;
}

/* Returns the first row that may be removed or move, or the number of rows. */
static uint32_t
find_first(const vyre_module *module)
{
  if (module->sealed)
    return module->view.rows;
  if (module->only_lost)
    return first_gap(&module->view);
  return module->view.rows == module->sealed_rows ? module->moved_from : first_misplaced(&module->view);
}

static vyre_status
no_memory(vyre_module *module)
{
  table_fail(module);
  return VYRE_ERROR(VYRE_CODE_INPUT, "out of memory to seal a module of %u rows", module->view.rows);
}

static vyre_status
renumber(sealer *s)
{
  vyre_module *module = s->module;
  if (module->only_lost ? !number_remaining(s) : !walk(s))
    return VYRE_ERROR(VYRE_CODE_INTERNAL, "the rows of a module do not form a tree");
  for (uint32_t column = COLUMN_SIDE; column < COLUMN_ANALYSIS; column++)
    if (!move_side(s, (table_column)column))
      return no_memory(module);
  if ((module->made & VYRE_VERSIONS) != 0 && !move_versions(s))
    return no_memory(module);
  if (module->only_lost) {
    move_up(s);
    link_by_parents(s);
  } else {
    gather_contents(s);
    gather_operands(s);
    link_anew(s);
  }
  table_remap_types(module, s->map);
  module->view.rows = s->count + 1;
  module->tops++;
  return VYRE_OK;
}

/* `first` is the first row that is not at its place. */
static vyre_status
seal_rows(vyre_module *module, uint32_t first, uint32_t *map)
{
  const uint32_t rows = module->view.rows;
  sealer s = {.module = module, .rows = rows, .first = first_changed(&module->view, first), .end = rows};
  if (rows == module->sealed_rows && module->moved_to < rows)
    s.end = module->moved_to + 1;
  uint32_t **const moving[] = {&s.map, &s.order, &s.parent, &s.next}, **const removing[] = {&s.map, &s.spare[0], &s.spare[1]};
  uint32_t **const *arrays = module->only_lost ? removing : moving;
  const size_t count = module->only_lost ? sizeof(removing) / sizeof(*removing) : sizeof(moving) / sizeof(*moving);
  size_t lent;
  uint32_t *memory = vyre_module_borrow(module, count * rows * sizeof(*memory), &lent);
  if (!memory)
    return no_memory(module);
  for (size_t k = 0; k < count; k++)
    *arrays[k] = memory + k * rows;
  if (!module->only_lost) { /* links are written last */
    s.spare[0] = module->column[COLUMN_NEXT];
    s.spare[1] = module->column[COLUMN_FIRST];
  }
  vyre_status status = renumber(&s);
  if (map)
    memcpy(map, s.map, rows * sizeof(*map));
  vyre_module_return_room(module, 0);
  return status;
}

vyre_status
vyre_module_seal(vyre_module *module, uint32_t *map)
{
  VYRE_TRY(vyre_module_status(module));
  uint32_t rows = module->view.rows;
  module->lost_versions = false;
  if (!module->sealed) {
    module->written |= TABLE_WROTE_TABLE;
    vyre_module_drop_analyses(module, (VYRE_ANALYSES | VYRE_COLUMNS) & ~VYRE_VERSIONS, false); /* they are indexed by row */
  }
  const uint32_t first = find_first(module);
  if (first < rows || (!module->sealed && module->only_lost))
    VYRE_TRY(seal_rows(module, first, map));
  else
    for (uint32_t row = 0; map && row < rows; row++)
      map[row] = row;
  if (!module->sealed)
    table_link_inputs(module);
  module->sealed = module->only_lost = true;
  module->sealed_rows = module->view.rows;
  module->moved_from = UINT32_MAX;
  module->moved_to = 0;
  table_seal_room(module);
  return table_unique_names(module) ? VYRE_OK : vyre_module_status(module);
}

bool
vyre_module_lost_versions(const vyre_module *module)
{
  return module->lost_versions;
}

bool
vyre_module_has_only_gaps(const vyre_module *module)
{
  return !module->sealed && module->only_lost && !module->names_dirty &&
         ((module->made & VYRE_VERSIONS) == 0 || vyre_versions_are_whole(&module->graph, module->view.op, module->view.rows));
}

bool
vyre_module_is_sealed(const vyre_module *module)
{
  return module->sealed && !module->names_dirty;
}
