/* Control flow of one invocation: C statements, and gotos where C has no statement.
 *
 *     leave      a label after the construct          left_12:
 *     continue   a label before a continuing region   again_12:
 *     return     a label before the next invocation   next_3:
 *
 * A jump out of the segment parks the invocation: `where` records the event that it waits for.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

/* ---- jumps ---------------------------------------------------------------------------------------------------------------- */

/* Ends this invocation's iteration: by `continue`, or by a goto if a loop encloses the row. */
static void
next_invocation(cgen *g, uint32_t row)
{
  for (uint32_t around = g->v->parent[row]; around != g->program && !cgen_is_wide(g, around); around = g->v->parent[around])
    if (vyre_row_is_loop(g->v, around)) {
      cgen_line(g, "goto next_%u;", g->at_segment);
      g->jumped = true;
      return;
    }
  cgen_line(g, "continue;");
}

/* Returns whether a C `break` at the row leaves the target. */
static bool
breaks(const cgen *g, uint32_t row, uint32_t target)
{
  uint32_t around = g->v->parent[row];
  while (around != target && !cgen_is(g, around, VYRE_OP_switch) && !vyre_row_is_loop(g->v, around))
    around = g->v->parent[around];
  return around == target && !cgen_is(g, target, VYRE_OP_block);
}

/* Returns whether a C `continue` has the loop's semantics. */
static bool
continues(const cgen *g, uint32_t loop)
{
  const uint32_t continuing = vyre_region_with(g->v, loop, VYRE_CONTINUING);
  return !continuing || !g->v->first[continuing];
}

/* Returns the number of a label.  Labels of a workgroup's second part have other numbers. */
static uint32_t
label_of(const cgen *g, uint32_t row)
{
  return row - g->program + (g->split && !g->inside ? g->end - g->program : 0);
}

static void
leave(cgen *g, uint32_t row, uint32_t target)
{
  if (breaks(g, row, target)) {
    cgen_line(g, "break;");
    return;
  }
  g->left[target - g->program] = 1;
  cgen_line(g, "goto left_%u;", label_of(g, target));
}

static void
park(cgen *g, uint32_t row, const char *what, uint32_t target)
{
  cgen_set_state(g, what, target);
  next_invocation(g, row);
}

static void
jump_to(cgen *g, uint32_t row, uint32_t target)
{
  const vyre_opcode op = cgen_op(g, row);
  const bool again = op == VYRE_OP_continue || op == VYRE_OP_fallthrough;
  if (cgen_is_wide(g, target)) {
    park(g, row, again ? "AGAIN" : "LEFT", target);
  } else if (op == VYRE_OP_continue && continues(g, target)) {
    cgen_line(g, "continue;");
  } else if (op == VYRE_OP_continue) {
    g->again[target - g->program] = 1;
    cgen_line(g, "goto again_%u;", target - g->program);
  } else if (op != VYRE_OP_fallthrough) { /* after_case writes a fallthrough */
    leave(g, row, target);
  }
}

static void
put_jump(cgen *g, uint32_t row)
{
  const vyre_opcode op = cgen_op(g, row);
  if (op == VYRE_OP_trap) {
    cgen_begin_line(g);
    cgen_fault(g, row);
  } else if (op == VYRE_OP_return && g->wide) {
    park(g, row, "RETURNED", 0);
  } else if (op == VYRE_OP_return) {
    next_invocation(g, row);
  } else if (op == VYRE_OP_breakif) {
    cgen_value_line(g, "if (", g->v->a[row], 0, false, ") {");
    g->indent++;
    jump_to(g, row, vyre_jump_target(g->v, row));
    g->indent--;
    cgen_line(g, "}");
  } else {
    jump_to(g, row, vyre_jump_target(g->v, row));
  }
}

/* ---- constructs ----------------------------------------------------------------------------------------------------------- */

/* `open_construct` writes the start of a construct, and `close_region` the text after each region's rows.  Both return the
 * region whose rows follow, or 0 after the last region.  Nothing here recurses, because deeply nested constructs would
 * overflow the stack. */

static uint32_t
after_then(cgen *g, uint32_t row)
{
  const uint32_t else_region = vyre_region_with(g->v, row, VYRE_ELSE);
  const bool has_else = else_region && g->v->first[else_region];
  cgen_line(g, has_else ? "} else {" : "}");
  return has_else ? else_region : 0;
}

static uint32_t
open_if(cgen *g, uint32_t row)
{
  const uint32_t then_region = vyre_region_with(g->v, row, VYRE_THEN), else_region = vyre_region_with(g->v, row, VYRE_ELSE);
  if (g->inside && g->known[g->v->a[row] - g->program] == CGEN_FALSE && !(else_region && g->v->first[else_region]))
    return 0;
  cgen_value_line(g, "if (", g->v->a[row], 0, false, ") {");
  return then_region ? then_region : after_then(g, row);
}

static uint32_t
open_for(cgen *g, uint32_t row)
{
  const vyre_view *v = g->v;
  const uint32_t body = v->first[row];
  const vyre_kind kind = cgen_kind(g, body);
  const char *type = cgen_type_name(kind);
  char name[CODE_NAME];
  cgen_name(g, body, name);
  cgen_begin_line(g);
  cgen_put(g, "for (%s %s = ", type, name);
  cgen_value(g, v->a[row], 0, false);
  cgen_put(g, "; ");
  cgen_compare_indices(g, body, v->b[row], vyre_kind_is_signed(kind));
  cgen_put(g, vyre_kind_bits(kind) < 32 ? "; %s = (%s)(%s + " : "; %s = %s%s + ", name, vyre_kind_bits(kind) < 32 ? type : "",
           name);
  cgen_value(g, v->c[row], 0, true);
  cgen_put(g, vyre_kind_bits(kind) < 32 ? ")) {\n" : ") {\n");
  return body;
}

/* Returns the continuing region if it has rows. */
static uint32_t
continuing_of(const cgen *g, uint32_t loop)
{
  const uint32_t continuing = vyre_region_with(g->v, loop, VYRE_CONTINUING);
  return continuing && g->v->first[continuing] ? continuing : 0;
}

static uint32_t
after_body(cgen *g, uint32_t row)
{
  const uint32_t continuing = continuing_of(g, row);
  cgen_line(g, "}");
  if (continuing && g->again[row - g->program])
    cgen_line(g, "again_%u:;", row - g->program);
  g->indent -= continuing != 0;
  return continuing;
}

static uint32_t
open_loop(cgen *g, uint32_t row)
{
  const uint32_t body = vyre_region_with(g->v, row, VYRE_BODY);
  const bool goes_on = continuing_of(g, row) != 0;
  cgen_line(g, "for (;;) {");
  g->indent += goes_on;
  cgen_begin_line(g);
  cgen_put(g, goes_on ? "{\n" : "\n");
  return body ? body : after_body(g, row);
}

static void
put_labels(cgen *g, uint32_t case_row)
{
  vyre_labels labels = vyre_labels_of(g->v, case_row);
  for (uint32_t label; (label = vyre_next_label(g->v, &labels)) != 0;) {
    cgen_value_line(g, "case ", label, 0, false, ":");
  }
  if (g->v->imm[case_row] & VYRE_CASE_DEFAULT)
    cgen_line(g, "default:");
}

static bool
ends_in(const cgen *g, uint32_t region, uint32_t flags)
{
  const uint32_t last = g->v->last[region];
  return last && (vyre_op_infos[cgen_op(g, last)].flags & flags) != 0 && !cgen_is(g, last, VYRE_OP_breakif);
}

/* Begins the case, or ends the switch if `c` is 0. */
static uint32_t
begin_case(cgen *g, uint32_t row, uint32_t c)
{
  const vyre_view *v = g->v;
  bool has_default = false;
  if (c) {
    put_labels(g, c);
    cgen_line(g, "{");
    return c;
  }
  for (c = v->first[row]; c; c = v->next[c])
    has_default = has_default || (v->imm[c] & VYRE_CASE_DEFAULT);
  if (!has_default)
    cgen_line(g, "default:\n%*sbreak;", (int)g->indent * 2 + 2, "");
  cgen_line(g, "}");
  return 0;
}

static uint32_t
open_switch(cgen *g, uint32_t row)
{
  cgen_value_line(g, "switch (", g->v->a[row], 0, false, ") {");
  return begin_case(g, row, g->v->first[row]);
}

static uint32_t
after_case(cgen *g, uint32_t c)
{
  const vyre_view *v = g->v;
  const bool falls = v->last[c] && cgen_is(g, v->last[c], VYRE_OP_fallthrough);
  cgen_line(g, "}");
  if (falls && v->next[c])
    cgen_line(g, "__attribute__((fallthrough));");
  else if (!ends_in(g, c, VYRE_OP_ENDS) || falls)
    cgen_line(g, "break;");
  return begin_case(g, v->parent[c], v->next[c]);
}

static uint32_t
open_block(cgen *g, uint32_t row)
{
  const uint32_t region = vyre_region_with(g->v, row, VYRE_BLOCK);
  cgen_line(g, region ? "{" : "{\n%*s}", (int)g->indent * 2, "");
  return region;
}

static uint32_t
open_construct(cgen *g, uint32_t row)
{
  switch ((uint32_t)cgen_op(g, row)) {
  case VYRE_OP_if:
    return open_if(g, row);
  case VYRE_OP_for:
    return open_for(g, row);
  case VYRE_OP_loop:
    return open_loop(g, row);
  case VYRE_OP_switch:
    return open_switch(g, row);
  default:
    return open_block(g, row);
  }
}

static uint32_t
close_region(cgen *g, uint32_t region)
{
  const uint32_t row = g->v->parent[region];
  if (cgen_is(g, row, VYRE_OP_switch))
    return after_case(g, region);
  if (cgen_is(g, row, VYRE_OP_if) && region == vyre_region_with(g->v, row, VYRE_THEN))
    return after_then(g, row);
  if (cgen_is(g, row, VYRE_OP_loop) && region == vyre_region_with(g->v, row, VYRE_BODY))
    return after_body(g, row);
  cgen_line(g, "}");
  return 0;
}

static bool
is_construct(const cgen *g, uint32_t row)
{
  return (vyre_op_infos[cgen_op(g, row)].flags & VYRE_OP_REGIONS) != 0 && cgen_form_of(g, row) == CODE_NAMED;
}

static void
put_construct(cgen *g, uint32_t outermost)
{
  const vyre_view *v = g->v;
  uint32_t construct = outermost, region = open_construct(g, construct), row;
  while (!g->w.status) {
    if (region) {
      g->indent++;
      row = v->first[region];
    } else {
      if (g->left[construct - g->program])
        cgen_line(g, "left_%u:;", label_of(g, construct));
      if (construct == outermost)
        return;
      region = v->parent[construct];
      row = v->next[construct];
    }
    for (; row && !is_construct(g, row) && !g->w.status; row = v->next[row])
      cgen_statement(g, row);
    if (row) {
      construct = row;
      region = open_construct(g, construct);
    } else {
      construct = v->parent[region];
      g->indent--;
      region = close_region(g, region);
    }
  }
}

/* ---- rows ----------------------------------------------------------------------------------------------------------------- */

static void
put_set(cgen *g, uint32_t row)
{
  const uint32_t var = g->v->a[row], value = g->v->b[row], lanes = cgen_lanes(g, var);
  for (uint32_t k = 0; k < lanes; k++) {
    cgen_begin_line(g);
    if (!g->spilled[var - g->program])
      cgen_mark(g, &g->marks, CGEN_MARK_LINE);
    cgen_put_name(g, var, UINT32_MAX, lanes > 1 ? k : UINT32_MAX);
    cgen_put(g, " = ");
    cgen_value(g, value, k, false);
    cgen_put(g, ";\n");
  }
}

void
cgen_statement(cgen *g, uint32_t row)
{
  const vyre_opcode op = cgen_op(g, row);
  if (cgen_form_of(g, row) != CODE_NAMED || (g->split && g->uniform[row - g->program] && g->v->parent[row] == g->program))
    return;
  /* clang-format off */
  switch (op) {
  case VYRE_OP_null: case VYRE_OP_workgroup: case VYRE_OP_var: case VYRE_OP_buffer: case VYRE_OP_async_wait: return;
  case VYRE_OP_if: case VYRE_OP_for: case VYRE_OP_loop: case VYRE_OP_switch: case VYRE_OP_block: put_construct(g, row); return;
  case VYRE_OP_return: case VYRE_OP_break: case VYRE_OP_continue: case VYRE_OP_leave: case VYRE_OP_fallthrough: case VYRE_OP_breakif:
  case VYRE_OP_trap: put_jump(g, row); return;
  case VYRE_OP_barrier: cgen_fence(g, row); return;
  case VYRE_OP_load: cgen_load(g, row); return;
  case VYRE_OP_store: cgen_store(g, row); return;
  case VYRE_OP_copy: case VYRE_OP_async_copy: cgen_copy(g, row); return; /* an async copy may happen at its start */
  case VYRE_OP_length: cgen_length(g, row); return;
  case VYRE_OP_set: put_set(g, row); return;
  default: break;
  }
  /* clang-format on */
  if (vyre_op_is_atomic(op))
    cgen_atomic(g, row);
  else
    cgen_define(g, row);
}

void
cgen_region(cgen *g, uint32_t region)
{
  for (uint32_t row = g->v->first[region]; row && !g->w.status; row = g->v->next[row])
    cgen_statement(g, row);
}
