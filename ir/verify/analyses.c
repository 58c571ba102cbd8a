/* Recomputes analyses that are claimed to be fresh, and compares.
 *
 * O(rows) each, and as much memory as their columns.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "analysis/analyses.h"
#include "internal.h"

#include <stdio.h>
#include <string.h>

#define FIX "\nFix: correct the pass, or remove the analysis from those that it preserves"

/* Shows a value of an analysis. Levels, depths and hashes are numbers, all others are rows. */
static const char *
show_value(const verifier *k, uint32_t analysis, uint32_t value, text_buffer *buffer)
{
  const bool is_row = analysis != VYRE_LEVELS && analysis != VYRE_HASHES;
  if (is_row && value && value < k->rows)
    return vyre_verify_show(k, value, buffer);
  snprintf(buffer->text, sizeof buffer->text, is_row && !value ? "none" : "%u", value);
  return buffer->text;
}

/* ---- versions ------------------------------------------------------------------------------------------------------------ */

/* Compares two graphs. They are equal if their joins can be matched: `as` and `back` map joins of one graph to the other once they
 * were matched. */
typedef struct comparison {
  const verifier *k;
  const vyre_state_graph *held, *made;
  uint32_t *as, *back, *matched; /* matched: matched joins of `held`, in order of matching */
  uint32_t count, done;          /* done: number of `matched` whose parts were compared */
} comparison;

static bool
match_versions(comparison *c, uint32_t held, uint32_t made)
{
  const uint32_t h = held & ~VYRE_JOIN, m = made & ~VYRE_JOIN;
  if (((held | made) & VYRE_JOIN) == 0 || ((held ^ made) & VYRE_JOIN) != 0 || h >= c->held->join_count)
    return held == made;
  if (c->as[h] == 0 && c->back[m] == 0) {
    c->as[h] = m;
    c->back[m] = h;
    c->matched[c->count++] = h;
  }
  return c->as[h] == m && c->back[m] == h && c->held->joins[h].row == c->made->joins[m].row;
}

static uint32_t
row_of(const vyre_state_graph *graph, uint32_t version)
{
  const uint32_t join = version & ~VYRE_JOIN;
  return (version & VYRE_JOIN) == 0 ? version : join < graph->join_count ? graph->joins[join].row : 0;
}

/* Compares the parts of the matched joins, which may match further joins. */
static vyre_status
compare_joins(comparison *c)
{
  text_buffer name;
  while (c->done < c->count) {
    const uint32_t join = c->matched[c->done++];
    const vyre_join *held = &c->held->joins[join], *made = &c->made->joins[c->as[join]];
    bool same = held->count == made->count;
    for (uint32_t p = 0; same && p < held->count; p++) {
      const vyre_part *x = &c->held->parts[held->first + p], *y = &c->made->parts[made->first + p];
      same = x->edge == y->edge && match_versions(c, x->version, y->version);
    }
    if (!same)
      return VYRE_ERROR(VYRE_CODE_INPUT, "the states that are joined at %s differ from the recorded ones" FIX,
                        vyre_verify_show(c->k, held->row, &name));
  }
  return VYRE_OK;
}

static vyre_status
compare_graphs(comparison *c)
{
  text_buffer name, is, should;
  for (uint32_t row = 1; row < c->k->rows; row++) {
    const uint32_t held = c->held->version[row], made = c->made->version[row];
    if (!match_versions(c, held, made))
      return VYRE_ERROR(VYRE_CODE_INPUT, "the version of %s is recorded as %s, but it is %s" FIX,
                        vyre_verify_show(c->k, row, &name), show_value(c->k, VYRE_VERSIONS, row_of(c->held, held), &is),
                        show_value(c->k, VYRE_VERSIONS, row_of(c->made, made), &should));
    VYRE_TRY(compare_joins(c));
  }
  return VYRE_OK;
}

static vyre_status
compare_versions(const verifier *k, const vyre_state_graph *held, const vyre_state_graph *made)
{
  const vyre_allocator *allocator = vyre_module_allocator(k->module);
  const size_t bytes = (2 * (size_t)held->join_count + made->join_count) * sizeof(uint32_t);
  comparison c = {.k = k, .held = held, .made = made};
  c.as = allocator->resize(allocator->user, NULL, 0, bytes);
  if (!c.as)
    return VYRE_OUT_OF_MEMORY("while comparing analyses");
  memset(c.as, 0, bytes);
  c.matched = c.as + held->join_count;
  c.back = c.matched + held->join_count;
  vyre_status status = compare_graphs(&c);
  allocator->resize(allocator->user, c.as, bytes, 0);
  return status;
}

/* ---- columns ------------------------------------------------------------------------------------------------------------- */

static vyre_status
compare_column(const verifier *k, const analysis_column *column, const uint32_t *held, const uint32_t *wanted)
{
  text_buffer name, is, should;
  for (uint32_t row = 0; row < k->rows; row++)
    if (held[row] != wanted[row])
      return VYRE_ERROR(VYRE_CODE_INPUT, "%s %s is recorded as %s, but it is %s" FIX, column->what,
                        row ? vyre_verify_show(k, row, &name) : "row 0", show_value(k, column->analysis, held[row], &is),
                        show_value(k, column->analysis, wanted[row], &should));
  return VYRE_OK;
}

vyre_status
vyre_verify_analyses(const vyre_module *module, uint32_t analyses)
{
  const vyre_view *v = vyre_module_view(module);
  const vyre_allocator *allocator = vyre_module_allocator(module);
  const verifier k = {.module = module, .view = v, .rows = v->rows};
  const uint32_t by_row = analyses & VYRE_ANALYSES;
  const size_t bytes = ANALYSIS_COLUMNS * v->rows * sizeof(uint32_t);
  if (by_row & ~module->made)
    return VYRE_ERROR(VYRE_CODE_INTERNAL, "analyses 0x%x are claimed to be fresh, but were never computed", by_row & ~module->made);
  if (!by_row)
    return VYRE_OK;
  uint32_t *memory = allocator->resize(allocator->user, NULL, 0, bytes), *columns[ANALYSIS_COLUMNS];
  if (!memory)
    return VYRE_OUT_OF_MEMORY("while comparing analyses");
  for (uint32_t i = 0; i < ANALYSIS_COLUMNS; i++)
    columns[i] = memory + i * (size_t)v->rows;
  vyre_state_graph made = {0}, held = module->graph;
  vyre_status status = vyre_analyses_compute(module, by_row, columns, &made);
  held.version = module->column[COLUMN_VERSION];
  if (!status && (by_row & VYRE_VERSIONS))
    status = compare_versions(&k, &held, &made);
  vyre_state_graph_free(&made, allocator);
  for (uint32_t i = 0; i < ANALYSIS_COLUMNS && !status; i++)
    if (vyre_analysis_columns[i].analysis & by_row & ~VYRE_VERSIONS)
      status = compare_column(&k, &vyre_analysis_columns[i], module->column[COLUMN_ANALYSIS + i], columns[i]);
  allocator->resize(allocator->user, memory, bytes, 0);
  return status;
}

vyre_status
vyre_verify_column(const vyre_module *module, uint32_t which, const uint32_t *held)
{
  const vyre_view *v = vyre_module_view(module);
  const verifier k = {.module = module, .view = v, .rows = v->rows};
  for (uint32_t i = 0; i < ANALYSIS_COLUMNS; i++)
    if (vyre_analysis_columns[i].analysis == which && (which & module->made))
      VYRE_TRY(compare_column(&k, &vyre_analysis_columns[i], held, module->column[COLUMN_ANALYSIS + i]));
  return VYRE_OK;
}
