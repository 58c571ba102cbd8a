/* Control flow of a whole workgroup around rows at which its invocations wait for each other.
 *
 * All invocations pass through the text together, and `where` is the state of each.  It is active (HERE) or has returned
 * (RETURNED).  It left construct 12 (LEFT_12), waits for its next iteration (AGAIN_12), or waits for its else region (ELSE_12)
 * or for case 12 (IN_12).  The interpreter has a mask for each of these states, so a row in divergent control flow, such as a
 * subgroup operation, has the same active lanes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

/* ---- loops over invocations ----------------------------------------------------------------------------------------------- */

/* Defines gx, the grid index.  The workgroup's first index is a multiple of its size, a power of two, so the sum does not
 * wrap. */
static void
begin_grid(cgen *g)
{
  if (g->local[0] == 1)
    return;
  cgen_begin_line(g);
  cgen_mark(g, &g->marks, CGEN_MARK_LINE);
  cgen_put(g, "const size_t gx = (size_t)(wx * %uu) + %s;\n", g->local[0], g->wide ? "li" : "lx");
}

void
cgen_begin_invocations(cgen *g, bool here)
{
  g->jumped = false;
  if (g->wide) {
    cgen_line(g, "for (uint32_t li = 0; li < %uu; li++) {", g->count);
    g->indent++;
    if (here && g->parks)
      cgen_line(g, "if (g.where[li] != HERE)\n%*scontinue;", (int)g->indent * 2 + 2, "");
  }
  for (uint32_t k = 3; k-- > 0 && !g->wide;) {
    if (g->local[k] == 1)
      continue;
    if (!g->split)
      cgen_line(g, "for (uint32_t l%c = 0; l%c < %uu; l%c++) {", "xyz"[k], "xyz"[k], g -> local[k], "xyz"[k]);
    else if (g->inside)
      cgen_line(g, "for (uint32_t lx = 0; lx < inside; lx++) {");
    else
      cgen_line(g, "for (uint32_t lx = inside; lx < %uu; lx++) {", g->local[0]);
    g->indent++;
  }
  cgen_mark(g, &g->marks, CGEN_MARK_SCOPE);
  begin_grid(g);
}

void
cgen_end_invocations(cgen *g)
{
  uint32_t loops = g->wide;
  if (g->jumped)
    cgen_line(g, "next_%u:;", g->at_segment);
  if (!g->wide)
    loops = (uint32_t)(g->local[0] > 1) + (g->local[1] > 1) + (g->local[2] > 1);
  for (; loops > 0; loops--) {
    g->indent--;
    cgen_line(g, "}");
  }
}

/* Writes the rows of the segment that begins at `row`.  Returns the row after it. */
static uint32_t
put_segment(cgen *g, uint32_t row)
{
  const size_t start = g->w.out->size;
  g->at_segment = g->segment[row - g->program];
  cgen_begin_invocations(g, true);
  const size_t empty = g->w.out->size;
  for (; row && !cgen_is_wide(g, row); row = g->v->next[row])
    cgen_statement(g, row);
  if (g->w.out->size != empty) {
    cgen_end_invocations(g);
  } else if (!g->w.status) {
    g->indent--;
    cgen_cut(g, start);
  }
  return row;
}

/* ---- states --------------------------------------------------------------------------------------------------------------- */

void
cgen_put_state(cgen *g, const char *what, uint32_t row)
{
  cgen_put(g, row ? "%s_%u" : "%s", what, row - (row ? g->program : 0));
}

void
cgen_set_state(cgen *g, const char *what, uint32_t row)
{
  cgen_begin_line(g);
  cgen_put(g, "g.where[li] = ");
  cgen_put_state(g, what, row);
  cgen_put(g, ";\n");
}

static void
move(cgen *g, const char *from, uint32_t from_row, const char *to, uint32_t to_row)
{
  cgen_begin_line(g);
  cgen_call(g, "move", VYRE_U16);
  cgen_put(g, "g.where, %uu, ", g->count);
  cgen_put_state(g, from, from_row);
  cgen_put(g, ", ");
  cgen_put_state(g, to, to_row);
  cgen_put(g, ");\n");
}

static void
put_any_here(cgen *g)
{
  cgen_call(g, "any_here", VYRE_U16);
  cgen_put(g, "g.where, %uu)", g->count);
}

/* ---- constructs ----------------------------------------------------------------------------------------------------------- */

/* Writes "if (!c) where = ELSE" for the active invocations. */
static void
part_by(cgen *g, uint32_t condition, bool on, const char *what, uint32_t row)
{
  cgen_begin_invocations(g, true);
  cgen_value_line(g, on ? "if (" : "if (!", condition, 0, true, ")");
  g->indent++;
  cgen_set_state(g, what, row);
  g->indent--;
  cgen_end_invocations(g);
}

static void
put_if(cgen *g, uint32_t row)
{
  const uint32_t then_region = vyre_region_with(g->v, row, VYRE_THEN), else_region = vyre_region_with(g->v, row, VYRE_ELSE);
  part_by(g, g->v->a[row], false, "ELSE", row);
  if (then_region)
    cgen_wide_region(g, then_region);
  if (else_region && g->v->first[else_region]) {
    move(g, "HERE", 0, "LEFT", row);
    move(g, "ELSE", row, "HERE", 0);
    cgen_wide_region(g, else_region);
    move(g, "LEFT", row, "HERE", 0);
  } else {
    move(g, "ELSE", row, "HERE", 0);
  }
}

static void
put_loop(cgen *g, uint32_t row)
{
  const uint32_t body = vyre_region_with(g->v, row, VYRE_BODY), continuing = vyre_region_with(g->v, row, VYRE_CONTINUING);
  cgen_begin_line(g);
  cgen_put(g, "while (");
  put_any_here(g);
  cgen_put(g, ") {\n");
  g->indent++;
  if (body)
    cgen_wide_region(g, body);
  move(g, "AGAIN", row, "HERE", 0);
  if (continuing)
    cgen_wide_region(g, continuing);
  g->indent--;
  cgen_line(g, "}");
  move(g, "LEFT", row, "HERE", 0);
}

static void
put_for(cgen *g, uint32_t row)
{
  const vyre_view *v = g->v;
  const uint32_t body = v->first[row];
  const vyre_kind kind = cgen_kind(g, body);
  const bool narrow = vyre_kind_bits(kind) < 32;
  cgen_begin_invocations(g, true);
  cgen_begin_line(g);
  cgen_put_name(g, body, UINT32_MAX, UINT32_MAX);
  cgen_put(g, " = ");
  cgen_value(g, v->a[row], 0, false);
  cgen_put(g, ";\n");
  cgen_end_invocations(g);
  cgen_line(g, "for (;;) {");
  g->indent++;
  cgen_begin_invocations(g, true);
  cgen_begin_line(g);
  cgen_put(g, "if (!(");
  cgen_compare_indices(g, body, v->b[row], vyre_kind_is_signed(kind));
  cgen_put(g, "))\n");
  g->indent++;
  cgen_set_state(g, "LEFT", row);
  g->indent--;
  cgen_end_invocations(g);
  cgen_begin_line(g);
  cgen_put(g, "if (!");
  put_any_here(g);
  cgen_put(g, ")\n%*sbreak;\n", (int)g->indent * 2 + 2, "");
  cgen_wide_region(g, body);
  move(g, "AGAIN", row, "HERE", 0);
  cgen_begin_invocations(g, true);
  cgen_begin_line(g);
  cgen_put_name(g, body, UINT32_MAX, UINT32_MAX);
  cgen_put(g, narrow ? " = (%s)(" : " = ", cgen_type_name(kind));
  cgen_put_name(g, body, UINT32_MAX, UINT32_MAX);
  cgen_put(g, " + ");
  cgen_value(g, v->c[row], 0, true);
  cgen_put(g, narrow ? ");\n" : ";\n");
  cgen_end_invocations(g);
  g->indent--;
  cgen_line(g, "}");
  move(g, "LEFT", row, "HERE", 0);
}

/* Moves each active invocation to the state of its case. */
static void
put_selection(cgen *g, uint32_t row)
{
  const vyre_view *v = g->v;
  uint32_t other = 0;
  cgen_begin_invocations(g, true);
  cgen_value_line(g, "switch (", v->a[row], 0, false, ") {");
  for (uint32_t c = v->first[row]; c; c = v->next[c]) {
    vyre_labels labels = vyre_labels_of(v, c);
    const bool has_labels = labels.left != 0;
    if (v->imm[c] & VYRE_CASE_DEFAULT)
      other = c;
    for (uint32_t label; (label = vyre_next_label(v, &labels)) != 0;) {
      cgen_value_line(g, "case ", label, 0, false, ":");
    }
    if (has_labels)
      cgen_line(g, "  g.where[li] = IN_%u;\n%*sbreak;", c - g->program, (int)g->indent * 2 + 2, "");
  }
  if (other)
    cgen_line(g, "default:\n%*sg.where[li] = IN_%u;\n%*sbreak;", (int)g->indent * 2 + 2, "", other - g->program,
              (int)g->indent * 2 + 2, "");
  else
    cgen_line(g, "default:\n%*sg.where[li] = LEFT_%u;\n%*sbreak;", (int)g->indent * 2 + 2, "", row - g->program,
              (int)g->indent * 2 + 2, "");
  cgen_line(g, "}");
  cgen_end_invocations(g);
}

static void
put_switch(cgen *g, uint32_t row)
{
  put_selection(g, row);
  for (uint32_t c = g->v->first[row]; c; c = g->v->next[c]) {
    move(g, "AGAIN", row, "HERE", 0);
    move(g, "IN", c, "HERE", 0);
    cgen_wide_region(g, c);
    move(g, "HERE", 0, "LEFT", row);
  }
  move(g, "AGAIN", row, "HERE", 0);
  move(g, "LEFT", row, "HERE", 0);
}

static void
put_barrier(cgen *g, uint32_t row)
{
  const uint32_t scope = VYRE_ORDER_EXECUTION(g->v->imm[row]);
  cgen_line(g, "/* barrier */");
  if (g->parks && scope != 3) {
    cgen_begin_line(g);
    cgen_put(g, "if (");
    cgen_call(g, "apart", VYRE_U16);
    cgen_put(g, "g.where, %uu))\n%*s", g->count, (int)g->indent * 2 + 2, "");
    cgen_fault(g, row);
  }
  cgen_fence(g, row);
}

static void
put_wide(cgen *g, uint32_t row)
{
  const uint32_t region = cgen_is(g, row, VYRE_OP_block) ? vyre_region_with(g->v, row, VYRE_BLOCK) : 0;
  switch ((uint32_t)cgen_op(g, row)) {
  case VYRE_OP_if:
    put_if(g, row);
    return;
  case VYRE_OP_for:
    put_for(g, row);
    return;
  case VYRE_OP_loop:
    put_loop(g, row);
    return;
  case VYRE_OP_switch:
    put_switch(g, row);
    return;
  case VYRE_OP_block:
    if (region)
      cgen_wide_region(g, region);
    move(g, "LEFT", row, "HERE", 0);
    return;
  case VYRE_OP_barrier:
    put_barrier(g, row);
    return;
  default:
    if (cgen_form_of(g, row) == CODE_NAMED)
      cgen_subgroup(g, row);
    return;
  }
}

void
cgen_wide_region(cgen *g, uint32_t region)
{
  for (uint32_t row = g->v->first[region]; row && !g->w.status;) {
    if (!cgen_is_wide(g, row)) {
      row = put_segment(g, row);
      continue;
    }
    put_wide(g, row);
    row = g->v->next[row];
  }
}
