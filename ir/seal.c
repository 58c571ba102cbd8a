/* Sealing: rows densely in program order, dead and unlinked ones dropped.
 *
 * One walk gives the new order, then the columns are gathered through it.  Neighbours are linked anew from parents and order, so
 * their columns take what is gathered, until it is copied to where it belongs.  Linear in rows; scratch: 8 bytes a row, 4 less
 * where the caller gives a map.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <string.h>

typedef struct sealer {
  vyre_module *module;
  uint32_t rows;   /* before */
  uint32_t count;  /* after, without row 0 */
  uint32_t *map;   /* old id -> new id */
  uint32_t *order; /* new id -> old id */
} sealer;

/* Whether the links of row k, the rows before it being right, say that it follows row k - 1 in program order. */
static bool
follows(const vyre_view *view, uint32_t k)
{
  uint32_t parent = view->parent[k];
  if (parent >= k)
    return false;
  uint32_t before = k - 1; /* the ancestor of row k - 1 that is k's neighbour, or their parent */
  while (before > parent && view->parent[before] != parent)
    before = view->parent[before];
  if (before == parent)
    return view->prev[k] == 0 && view->first[parent] == k;
  return before > parent && view->prev[k] == before && view->next[before] == k;
}

bool
table_is_dense(const vyre_module *module)
{
  const vyre_view *view = &module->view;
  for (uint32_t k = 0; k < view->rows; k++) {
    uint32_t first = view->first[k], last = view->last[k], next = view->next[k];
    if (k && (VYRE_ROW_OP(view->op[k]) == VYRE_OP_null || !follows(view, k)))
      return false;
    if (next && (next <= k || next >= view->rows || view->prev[next] != k))
      return false;
    if ((first && first != k + 1) || (first == 0) != (last == 0) || last >= view->rows)
      return false;
    if (last && (view->parent[last] != k || view->next[last]))
      return false;
  }
  return true;
}

/* Fills order and map.  False: the links are damaged.  A row is reached from its neighbour or parent only if it names the same
 * parent, so that order and parents agree; the number of steps bounds what a circle of links can cost. */
static bool
walk(sealer *s)
{
  const vyre_view *view = &s->module->view;
  const uint64_t most = 3 * (uint64_t)s->rows;
  uint64_t steps = 0;
  memset(s->map, 0, s->rows * sizeof(*s->map));
  s->order[0] = 0;
  uint32_t region = 0;
  for (uint32_t row = view->first[0]; row;) {
    if (row >= s->rows || s->map[row] || view->parent[row] != region || steps++ > most)
      return false;
    if (VYRE_ROW_OP(view->op[row]) != VYRE_OP_null) {
      s->order[++s->count] = row;
      s->map[row] = s->count;
      if (view->first[row]) {
        region = row;
        row = view->first[row];
        continue;
      }
    }
    while (!view->next[row] && region) { /* region is a row that was reached */
      row = region;
      region = view->parent[row];
      steps++;
    }
    row = view->next[row];
  }
  return true;
}

static uint32_t
mapped(const sealer *s, uint32_t row)
{
  return row < s->rows ? s->map[row] : 0;
}

/* What rows are.  The versions of reading rows are rows. */
static void
gather_contents(const sealer *s)
{
  uint32_t *const *column = s->module->column;
  uint32_t *op = column[COLUMN_PREV], *imm = column[COLUMN_NEXT], *imm_hi = column[COLUMN_FIRST];
  for (uint32_t k = 1; k <= s->count; k++) {
    uint32_t old = s->order[k], high = column[COLUMN_IMM_HI][old];
    op[k] = column[COLUMN_OP][old];
    imm[k] = column[COLUMN_IMM][old];
    imm_hi[k] = table_flags(s->module, old) & VYRE_OP_READS ? mapped(s, high) : high;
  }
  memcpy(column[COLUMN_OP] + 1, op + 1, s->count * sizeof(*op));
  memcpy(column[COLUMN_IMM] + 1, imm + 1, s->count * sizeof(*imm));
  memcpy(column[COLUMN_IMM_HI] + 1, imm_hi + 1, s->count * sizeof(*imm_hi));
}

static void
gather_rows(const sealer *s)
{
  uint32_t *const *column = s->module->column;
  uint32_t *a = column[COLUMN_PREV], *b = column[COLUMN_NEXT], *c = column[COLUMN_FIRST], *parent = column[COLUMN_LAST];
  for (uint32_t k = 1; k <= s->count; k++) {
    uint32_t old = s->order[k];
    a[k] = mapped(s, column[COLUMN_A][old]);
    b[k] = mapped(s, column[COLUMN_B][old]);
    c[k] = mapped(s, column[COLUMN_C][old]);
    parent[k] = mapped(s, column[COLUMN_PARENT][old]);
  }
  memcpy(column[COLUMN_A] + 1, a + 1, s->count * sizeof(*a));
  memcpy(column[COLUMN_B] + 1, b + 1, s->count * sizeof(*b));
  memcpy(column[COLUMN_C] + 1, c + 1, s->count * sizeof(*c));
  memcpy(column[COLUMN_PARENT] + 1, parent + 1, s->count * sizeof(*parent));
}

static void
link_anew(const sealer *s)
{
  uint32_t *const *column = s->module->column;
  uint32_t *parent = column[COLUMN_PARENT], *prev = column[COLUMN_PREV], *next = column[COLUMN_NEXT];
  uint32_t *first = column[COLUMN_FIRST], *last = column[COLUMN_LAST];
  memset(first, 0, (s->count + 1) * sizeof(*first));
  memset(last, 0, (s->count + 1) * sizeof(*last));
  for (uint32_t k = 1; k <= s->count; k++) {
    uint32_t before = last[parent[k]];
    prev[k] = before;
    next[k] = 0;
    if (before)
      next[before] = k;
    else
      first[parent[k]] = k;
    last[parent[k]] = k;
  }
}

/* The last row, by its new id, that has something in the side column, which holds the first `held` rows; 0: none has. */
static uint32_t
last_in_side(const sealer *s, const uint32_t *column, uint32_t held)
{
  uint32_t k = held ? s->count : 0;
  while (k && (s->order[k] >= held || !column[s->order[k]]))
    k--;
  return k;
}

/* A side column holds the first `held` rows, all that have something in it, up to `last`, and is zero behind those. */
static void
gather_side(const sealer *s, uint32_t *column, uint32_t held, uint32_t last)
{
  uint32_t *to = s->module->column[COLUMN_PREV];
  for (uint32_t k = 1; k <= last; k++) {
    uint32_t old = s->order[k];
    to[k] = old < held ? column[old] : 0;
  }
  memcpy(column + 1, to + 1, last * sizeof(*to));
  uint32_t end = s->rows < held ? s->rows : held;
  if (end > last + 1)
    memset(column + last + 1, 0, (end - last - 1) * sizeof(*column));
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
  if (!walk(s))
    return VYRE_ERROR(VYRE_CODE_INTERNAL, "the rows of a module do not form a tree");
  uint32_t held[COLUMN__COUNT], last[COLUMN__COUNT];
  for (uint32_t column = COLUMN_SIDE; column < COLUMN_ANALYSIS; column++) {
    held[column] = module->side[column];
    last[column] = last_in_side(s, module->column[column], held[column]);
    /* a row may move up beyond what its side column holds */
    if (held[column] <= last[column] && last[column] && !table_grow_side(module, (table_column)column, last[column]))
      return no_memory(module);
  }
  gather_contents(s);
  gather_rows(s);
  for (uint32_t column = COLUMN_SIDE; column < COLUMN_ANALYSIS; column++)
    if (held[column])
      gather_side(s, module->column[column], held[column], last[column]);
  link_anew(s);
  table_remap_types(module, s->map);
  module->view.rows = s->count + 1;
  module->tops_known = false;
  return VYRE_OK;
}

vyre_status
vyre_module_seal(vyre_module *module, uint32_t *map)
{
  VYRE_TRY(vyre_module_status(module));
  uint32_t rows = module->view.rows;
  if (!module->sealed) /* their columns are by row */
    vyre_module_drop_analyses(module, (VYRE_ANALYSES | VYRE_COLUMNS) & ~VYRE_VERSIONS, false);
  if (module->sealed || table_is_dense(module)) {
    for (uint32_t row = 0; map && row < rows; row++)
      map[row] = row;
  } else {
    sealer s = {.module = module, .rows = rows, .map = map};
    size_t bytes = rows * sizeof(uint32_t);
    s.order = table_resize(module, NULL, 0, bytes);
    if (!map)
      s.map = table_resize(module, NULL, 0, bytes);
    vyre_status status = s.order && s.map ? renumber(&s) : no_memory(module);
    if (s.order)
      table_resize(module, s.order, bytes, 0);
    if (s.map && !map)
      table_resize(module, s.map, bytes, 0);
    VYRE_TRY(status);
  }
  if (!module->sealed)
    table_link_inputs(module);
  module->sealed = true;
  return table_unique_names(module) ? VYRE_OK : vyre_module_status(module);
}

bool
vyre_module_is_sealed(const vyre_module *module)
{
  return module->sealed && !module->names_dirty;
}
