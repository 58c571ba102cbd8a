/* Reduces a program and a pipeline that fail.  reduce.h describes the interface.
 *
 * In the pipeline, removes elements, and replaces groups by their elements.  In the program, removes constructs with their
 * contents, then ranges of consecutive rows, long ranges first, then single rows from the end on.  Replaces constructs by one of
 * their regions, and values by zero or by an operand of the same type.  Each attempt changes a copy, which is kept if it still
 * fails.  The reduction ends when no attempt succeeds.  O(rows^2) runs at worst.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "reduce.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ATTEMPTS 50000u

typedef struct reducer {
  const reduction *how;
  vyre_module *program;
  const char *pipeline;
  uint32_t attempts;
} reducer;

static bool
still_fails(reducer *r, const vyre_module *program, const char *pipeline)
{
  return r->attempts < MOST_ATTEMPTS && (r->attempts++, r->how->fails(r->how->user, program, pipeline));
}

/* ---- the pipeline -------------------------------------------------------------------------------------------------------- */

/* Returns the end of the element that begins at `from`. */
static size_t
element_end(const char *text, size_t from)
{
  uint32_t open = 0;
  for (; text[from] && (open || text[from] != ','); from++)
    open += (text[from] == '(') - (uint32_t)(text[from] == ')');
  return from;
}

/* Writes the text with [from, to) replaced.  Returns false if the result is empty or too long. */
static bool
replace_text(const char *text, size_t from, size_t to, const char *by, size_t length, char out[REDUCE_MOST_PIPELINE])
{
  if (length == 0 && text[to] == ',')
    to++;
  else if (length == 0 && from > 0)
    from--;
  return snprintf(out, REDUCE_MOST_PIPELINE, "%.*s%.*s%s", (int)from, text, (int)length, by, text + to) <
             (int)REDUCE_MOST_PIPELINE &&
         out[0];
}

/* Removes one element, or the parentheses of one group. */
static bool
shorten_pipeline(reducer *r, char text[REDUCE_MOST_PIPELINE])
{
  char shorter[REDUCE_MOST_PIPELINE];
  for (size_t from = 0, to; text[from]; from = text[to] ? to + 1 : to) {
    to = element_end(text, from);
    const char *open = memchr(text + from, '(', to - from);
    for (uint32_t way = 0; way < 2; way++) {
      const bool made = way == 0 ? replace_text(text, from, to, "", 0, shorter)
                                 : open && replace_text(text, from, to, open + 1, (size_t)(text + to - open) - 2, shorter);
      if (made && still_fails(r, r->program, shorter)) {
        memcpy(text, shorter, REDUCE_MOST_PIPELINE);
        return true;
      }
    }
  }
  return false;
}

/* Replaces default<...> by its passes. */
static vyre_status
expand_pipeline(const vyre_registry *registry, char text[REDUCE_MOST_PIPELINE])
{
  vyre_pipeline *pipeline;
  vyre_bytes bytes = {0};
  VYRE_TRY(vyre_pipeline_parse(registry, text, strlen(text), "-passes", &pipeline));
  vyre_status status = vyre_pipeline_print(pipeline, &bytes);
  if (!status && bytes.size < REDUCE_MOST_PIPELINE)
    memcpy(text, bytes.data, bytes.size + 1);
  vyre_bytes_free(&bytes);
  vyre_pipeline_destroy(pipeline);
  return status;
}

/* ---- the program --------------------------------------------------------------------------------------------------------- */

/* Returns whether a row outside of row..end uses one of these rows. */
static bool
is_used_outside(const vyre_view *v, uint32_t row, uint32_t end)
{
  for (uint32_t user = 1; user < v->rows; user++)
    for (uint32_t k = 0; k < 3 && (user < row || user > end); k++) {
      const uint32_t operand = k == 0 ? v->a[user] : k == 1 ? v->b[user] : v->c[user];
      if (operand >= row && operand <= end && operand)
        return true;
    }
  return false;
}

static uint32_t
end_of(const vyre_view *v, uint32_t row)
{
  while (v->last[row])
    row = v->last[row];
  return row;
}

/* Replaces uses of the row by uses of `by`.  Returns false if out of memory. */
static bool
forward_row(vyre_module *m, uint32_t row, uint32_t by)
{
  const uint32_t rows = vyre_module_view(m)->rows;
  uint32_t *fwd = malloc(rows * sizeof *fwd);
  if (!fwd)
    return false;
  for (uint32_t i = 0; i < rows; i++)
    fwd[i] = i == row ? by : i;
  vyre_module_forward(m, fwd);
  free(fwd);
  return true;
}

enum { WAY_KILL, WAY_ZERO, WAY_OPERAND_A, WAY_OPERAND_B, WAY_OPERAND_C, WAY_REGION_0, WAY_REGION_1, WAYS };

static bool
replace_value(vyre_module *m, uint32_t row, uint32_t way)
{
  const vyre_view *v = vyre_module_view(m);
  const vyre_type type = VYRE_ROW_TYPE(v->op[row]);
  const vyre_kind kind = VYRE_TYPE_KIND(type);
  const bool is_value = vyre_kind_is_scalar(kind) && !v->first[row];
  uint32_t by = way == WAY_OPERAND_A ? v->a[row] : way == WAY_OPERAND_B ? v->b[row] : v->c[row];
  if (way == WAY_ZERO && is_value && VYRE_ROW_OP(v->op[row]) != VYRE_OP_const) {
    vyre_builder b = {.module = m};
    vyre_builder_before(&b, (vyre_row){row});
    by = vyre_build_const(&b, type, 0).id;
  } else if (way == WAY_ZERO || by == 0 || VYRE_ROW_TYPE(v->op[by]) != type) {
    return false;
  }
  if (!forward_row(m, row, by))
    return false;
  vyre_row_kill(m, (vyre_row){row});
  return true;
}

static bool
replace_by_region(vyre_module *m, uint32_t row, uint32_t which)
{
  const vyre_view *v = vyre_module_view(m);
  uint32_t region = v->first[row];
  for (; region && which; which--)
    region = v->next[region];
  if (!region || VYRE_ROW_OP(v->op[row]) == VYRE_OP_program || !(vyre_op_infos[VYRE_ROW_OP(v->op[row])].flags & VYRE_OP_REGIONS))
    return false;
  if (VYRE_ROW_OP(v->op[region]) == VYRE_OP_body && !forward_row(m, region, v->a[row]))
    return false;
  while (v->first[region])
    vyre_row_move_before(m, (vyre_row){v->first[region]}, (vyre_row){row});
  vyre_row_kill(m, (vyre_row){row});
  return true;
}

/* Removes unused rows without rows in them, from `last` back to `first`.  Returns whether more than one was removed. */
static bool
kill_part(vyre_module *m, uint32_t first, uint32_t last)
{
  const vyre_view *v = vyre_module_view(m);
  const uint32_t *const operands[] = {v->a, v->b, v->c};
  uint32_t *uses = calloc(v->rows, sizeof *uses), killed = 0;
  for (uint32_t row = 1; row < v->rows && uses; row++)
    for (uint32_t k = 0; k < 3; k++)
      uses[operands[k][row]]++;
  for (uint32_t row = last; row >= first && row && uses; row--) {
    if (uses[row] || v->first[row] || VYRE_ROW_OP(v->op[row]) == VYRE_OP_program)
      continue;
    for (uint32_t k = 0; k < 3; k++)
      uses[operands[k][row]]--;
    vyre_row_kill(m, (vyre_row){row});
    killed++;
  }
  free(uses);
  return killed > 1;
}

/* Changes the module.  Returns false if the change is not possible. */
static bool
change_module(vyre_module *m, uint32_t row, uint32_t way, uint32_t part)
{
  const vyre_view *v = vyre_module_view(m);
  if (part)
    return kill_part(m, row - part + 1, row);
  if (way == WAY_KILL) {
    if (is_used_outside(v, row, end_of(v, row)))
      return false;
    vyre_row_kill(m, (vyre_row){row});
    return true;
  }
  return way >= WAY_REGION_0 ? replace_by_region(m, row, way - WAY_REGION_0) : replace_value(m, row, way);
}

/* Changes a copy, and keeps it if it still fails.  `part` is the number of rows that end with this row, or 0 for the row alone. */
static bool
try_change(reducer *r, uint32_t row, uint32_t way, uint32_t part)
{
  vyre_module *smaller;
  vyre_status status = vyre_module_clone(r->program, &smaller);
  bool kept = false;
  if (!status && change_module(smaller, row, way, part)) {
    status = vyre_module_seal(smaller, NULL);
    kept = !status && still_fails(r, smaller, r->pipeline);
  }
  vyre_status_free(status);
  if (kept) {
    vyre_module_destroy(r->program);
    r->program = smaller;
  } else {
    vyre_module_destroy(smaller);
  }
  return kept;
}

static bool
shrink_program(reducer *r)
{
  bool any = false;
  for (uint32_t row = 2; row < vyre_module_view(r->program)->rows; row++) /* rows with rows in them */
    if (vyre_module_view(r->program)->first[row] && try_change(r, row, WAY_KILL, 0)) {
      any = true;
      row--;
    }
  for (uint32_t part = vyre_module_view(r->program)->rows / 2; part > 2; part /= 2)
    for (uint32_t last = vyre_module_view(r->program)->rows - 1; last >= part; last -= part)
      any |= try_change(r, last, WAY_KILL, part);
  for (uint32_t row = vyre_module_view(r->program)->rows; --row > 1;)
    for (uint32_t way = 0; way < WAYS && row < vyre_module_view(r->program)->rows; way++)
      any |= try_change(r, row, way, 0);
  return any;
}

vyre_status
vyre_reduce(const reduction *how, vyre_module **program, char pipeline[REDUCE_MOST_PIPELINE])
{
  reducer r = {.how = how, .program = *program, .pipeline = pipeline};
  VYRE_TRY(expand_pipeline(how->registry, pipeline));
  do {
    while (shorten_pipeline(&r, pipeline)) {
    }
  } while (shrink_program(&r));
  *program = r.program;
  return VYRE_OK;
}
