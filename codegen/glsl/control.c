/* Regions as statements.
 *
 * `for`, `loop` and `switch` have GLSL statements.  A `block` that a jump leaves is do { } while (false).  GLSL's `break` ends
 * the innermost of these, and `continue` continues the innermost loop or ends a do inside it.  A jump further out sets a flag,
 * which is tested after each construct on the way.  The first such jump declares the flag: before the construct that it ends,
 * or at the start of the loop body that it continues.
 *
 * A loop's continuing region is at the end of its body if no `continue` jumps to it.  Otherwise it is at the start, and all
 * iterations but the first execute it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "glsl.h"

#include <stdio.h>
#include <string.h>

static void statement(glsl *g, uint32_t row);

static void
line(glsl *g, const char *text)
{
  glsl_begin_line(g);
  glsl_put(g, "%s\n", text);
}

/* ---- scopes ---- */

static glsl_scope *
open_scope(glsl *g, glsl_scope_kind kind, uint32_t row)
{
  if (!glsl_grow(g, &g->scopes, &g->scope_capacity, g->depth + 1, sizeof *g->scopes))
    return NULL;
  glsl_scope *scope = &g->scopes[g->depth++];
  *scope = (glsl_scope){.kind = kind, .row = row, .indent = g->indent, .before = g->out->size, .inside = g->out->size};
  return scope;
}

/* Inserts a line at an offset of the text. */
static void
insert_line(glsl *g, size_t offset, uint32_t indent, const char *name)
{
  char text[128];
  const int written = snprintf(text, sizeof(text), "%*sbool %s = false;\n", (int)(2 * (indent < 20 ? indent : 20)), "", name);
  const size_t length = written > 0 ? (size_t)written : 0;
  glsl_put_text(g, text, length);
  if (g->status)
    return;
  char *data = g->out->data;
  memmove(data + offset + length, data + offset, g->out->size - length - offset);
  memcpy(data + offset, text, length);
  for (uint32_t i = 0; i < g->depth; i++) {
    g->scopes[i].before += g->scopes[i].before > offset ? length : 0;
    g->scopes[i].inside += g->scopes[i].inside > offset ? length : 0;
  }
}

static void
add_test(glsl *g, glsl_scope *scope, glsl_flag flag)
{
  for (uint32_t i = 0; i < scope->test_count; i++)
    if (scope->tests[i].name == flag.name)
      return;
  if (!glsl_grow(g, &scope->tests, &scope->test_capacity, scope->test_count + 1, sizeof *scope->tests))
    return;
  scope->tests[scope->test_count++] = flag;
}

/* Returns whether GLSL has the jump, with `depth` open scopes. */
static bool
is_direct(const glsl *g, uint32_t depth, uint32_t target, bool goes_on)
{
  if (!goes_on)
    return target + 1 == depth;
  for (uint32_t i = target + 1; i < depth; i++)
    if (g->scopes[i].kind != GLSL_SWITCH)
      return false;
  return true;
}

static void
jump(glsl *g, uint32_t target, bool goes_on)
{
  if (is_direct(g, g->depth, target, goes_on)) {
    line(g, goes_on ? "continue;" : "break;");
    return;
  }
  glsl_scope *scope = &g->scopes[target];
  const char **name = goes_on ? &scope->go_on : &scope->leave;
  if (!*name) {
    *name = glsl_identifier(g, goes_on ? "skip" : "done", 0);
    insert_line(g, goes_on ? scope->inside : scope->before, scope->indent + goes_on, *name);
  }
  for (uint32_t i = target + 1; i < g->depth; i++)
    add_test(g, &g->scopes[i], (glsl_flag){*name, target, goes_on});
  glsl_begin_line(g);
  glsl_put(g, "%s = true;\n", *name);
  line(g, "break;");
}

/* Ends a construct, and continues the jumps that cross it. */
static void
close_scope(glsl *g)
{
  glsl_scope *scope = &g->scopes[--g->depth];
  for (uint32_t i = 0; i < scope->test_count; i++) {
    const glsl_flag flag = scope->tests[i];
    glsl_begin_line(g);
    glsl_put(g, "if (%s)\n", flag.name);
    g->indent++;
    line(g, flag.goes_on && is_direct(g, g->depth, flag.depth, true) ? "continue;" : "break;");
    g->indent--;
  }
  if (scope->tests)
    glsl_resize(g, scope->tests, scope->test_capacity * sizeof(*scope->tests), 0);
}

static void
jump_out(glsl *g, uint32_t row)
{
  const uint32_t op = VYRE_ROW_OP(g->v->op[row]);
  for (uint32_t i = g->depth; i-- > 0;) {
    const bool found = op == VYRE_OP_leave ? g->scopes[i].row == g->v->a[row] : g->scopes[i].kind == GLSL_LOOP;
    if (found) {
      jump(g, i, op == VYRE_OP_continue);
      return;
    }
  }
  glsl_fail(g, row, "a jump without an enclosing construct\nFix: verify the module before writing it");
}

/* ---- constructs ---- */

static void
block_of(glsl *g, uint32_t region)
{
  g->indent++;
  glsl_region(g, region);
  g->indent--;
}

/* Writes [[unroll, partial_count(4)]]. */
static void
put_hints(glsl *g, uint32_t row)
{
  const uint32_t hints = g->v->imm[row];
  const char *word, *separator = "[[";
  uint32_t count, used = 0;
  const uint32_t *literals = vyre_row_hint_literals(g->module, (vyre_row){row}, &count);
  for (uint32_t k = 0; hints >> k && (word = vyre_hint_word((vyre_opcode)VYRE_ROW_OP(g->v->op[row]), k)) != NULL; k++) {
    if (!(hints >> k & 1))
      continue;
    glsl_put(g, "%s%s", separator, word);
    if ((VYRE_HINT_LITERALS >> k & 1) && used < count)
      glsl_put(g, "(%u)", literals[used++]);
    separator = ", ";
  }
  if (!hints)
    return;
  glsl_put(g, "]] ");
  glsl_need(g, GLSL_CONTROL_HINTS);
}

static void
write_if(glsl *g, uint32_t row, bool chained)
{
  const vyre_view *v = g->v;
  const uint32_t then = v->first[row], otherwise = v->next[then];
  const bool turned = !v->first[then];
  if (turned && !v->first[otherwise])
    return;
  const size_t start = g->out->size;
  if (!chained)
    glsl_begin_line(g);
  put_hints(g, row);
  glsl_put(g, turned ? "if (!" : "if (");
  glsl_value(g, v->a[row], turned ? GLSL_POSTFIX : GLSL_COMMA);
  glsl_put(g, ") {\n");
  const size_t then_start = g->out->size;
  block_of(g, turned ? otherwise : then);
  const bool empty = g->out->size == then_start; /* none of its rows is used */
  glsl_begin_line(g);
  glsl_put(g, "}");
  if (empty && !chained && !g->status && (turned || !v->first[otherwise])) {
    g->out->size = start;
    return;
  }
  if (turned) {
    glsl_put(g, "\n");
    return;
  }
  const uint32_t first = v->first[otherwise];
  if (first && first == v->last[otherwise] && glsl_is(g, first, VYRE_OP_if) &&
      (v->first[v->first[first]] || v->first[v->last[first]])) {
    glsl_put(g, " else ");
    write_if(g, first, true);
    return;
  }
  const size_t before = g->out->size;
  glsl_put(g, first ? " else {\n" : "");
  const size_t inside = g->out->size;
  block_of(g, otherwise);
  if (g->out->size == inside && !g->status) {
    g->out->size = before; /* none of its rows is used */
  } else {
    glsl_begin_line(g);
    glsl_put(g, "}");
  }
  glsl_put(g, "\n");
}

static void
write_for(glsl *g, uint32_t row)
{
  const vyre_view *v = g->v;
  const uint32_t body = v->first[row];
  const char *index = glsl_row_name(g, body);
  glsl_scope *scope = open_scope(g, GLSL_LOOP, row);
  if (!scope)
    return;
  glsl_begin_line(g);
  put_hints(g, row);
  glsl_put(g, "for (%s %s = ", glsl_value_type(g, glsl_row_type(g, body)), index);
  glsl_value(g, v->a[row], GLSL_COMMA);
  glsl_put(g, "; %s < ", index);
  glsl_value(g, v->b[row], GLSL_SHIFT);
  glsl_put(g, "; %s += ", index);
  glsl_value(g, v->c[row], GLSL_COMMA);
  glsl_put(g, ") {\n");
  scope->inside = g->out->size;
  block_of(g, body);
  line(g, "}");
  close_scope(g);
}

static bool
ends_in_jump(const glsl *g, uint32_t region)
{
  const uint32_t last = g->v->last[region];
  return last && (vyre_op_infos[VYRE_ROW_OP(g->v->op[last])].flags & VYRE_OP_ENDS) && !glsl_is(g, last, VYRE_OP_fallthrough);
}

static void
write_loop(glsl *g, uint32_t row)
{
  const uint32_t body = g->v->first[row], continuing = g->v->next[body];
  const bool at_start = g->goes_on[row - g->program] != 0 && g->v->first[continuing];
  glsl_scope *scope = open_scope(g, GLSL_LOOP, row);
  if (!scope)
    return;
  const char *again = NULL;
  glsl_begin_line(g);
  put_hints(g, row);
  if (at_start) {
    again = glsl_identifier(g, "again", 0);
    glsl_put(g, "for (bool %s = false;; ", again);
    glsl_put(g, "%s = true) {\n", again);
  } else {
    glsl_put(g, "for (;;) {\n");
  }
  scope->inside = g->out->size;
  if (at_start) {
    g->indent++;
    glsl_begin_line(g);
    glsl_put(g, "if (%s) {\n", again);
    block_of(g, continuing);
    line(g, "}");
    g->indent--;
  }
  block_of(g, body);
  if (!at_start && !ends_in_jump(g, body))
    block_of(g, continuing);
  line(g, "}");
  close_scope(g);
}

/* Writes "case 1u:", on a line of its own unless it is the first label of its case. */
static void
put_label(glsl *g, uint32_t label, bool first)
{
  const vyre_type type = glsl_row_type(g, label);
  const bool is_signed = vyre_kind_is_signed(VYRE_TYPE_KIND(type));
  const uint32_t bits = vyre_kind_bits(VYRE_TYPE_KIND(type));
  uint64_t value = glsl_payload(g, label);
  if (is_signed && bits < 32 && (value >> (bits - 1) & 1))
    value |= 0xffffffffu << bits;
  if (!first) {
    glsl_put(g, "\n");
    glsl_begin_line(g);
  }
  glsl_put(g, "case ");
  glsl_literal(g, is_signed ? VYRE_TYPE(VYRE_I32, 1) : VYRE_TYPE(VYRE_U32, 1), value);
  glsl_put(g, ":");
}

static void
put_labels(glsl *g, uint32_t region)
{
  vyre_labels labels = vyre_labels_of(g->v, region);
  uint32_t count = 0;
  for (uint32_t label; (label = vyre_next_label(g->v, &labels)) != 0;)
    put_label(g, label, count++ == 0);
  if (g->v->imm[region] & VYRE_CASE_DEFAULT) {
    if (count++) {
      glsl_put(g, "\n");
      glsl_begin_line(g);
    }
    glsl_put(g, "default:");
  }
  glsl_put(g, count ? " {\n" : "{\n");
}

static void
write_switch(glsl *g, uint32_t row)
{
  const vyre_view *v = g->v;
  const vyre_kind kind = VYRE_TYPE_KIND(glsl_row_type(g, v->a[row]));
  const bool narrow = vyre_kind_bits(kind) < 32;
  if (vyre_kind_bits(kind) > 32) {
    glsl_fail(g, row, "GLSL has no switch over integers of 64 bits\nFix: write SPIR-V");
    return;
  }
  if (!open_scope(g, GLSL_SWITCH, row))
    return;
  glsl_begin_line(g);
  put_hints(g, row);
  glsl_put(g, "switch (%s", !narrow ? "" : vyre_kind_is_signed(kind) ? "int(" : "uint(");
  glsl_value(g, v->a[row], GLSL_COMMA);
  glsl_put(g, narrow ? ")) {\n" : ") {\n");
  for (uint32_t c = v->first[row]; c && !g->status; c = v->next[c]) {
    glsl_begin_line(g);
    put_labels(g, c);
    g->indent++;
    glsl_region(g, c);
    if (!v->last[c] || !(vyre_op_infos[VYRE_ROW_OP(v->op[v->last[c]])].flags & VYRE_OP_ENDS))
      line(g, "break;");
    g->indent--;
    line(g, "}");
  }
  line(g, "}");
  close_scope(g);
}

static void
write_block(glsl *g, uint32_t row)
{
  const uint32_t region = g->v->first[row];
  if (!g->left[row - g->program]) {
    glsl_region(g, region);
    return;
  }
  if (!open_scope(g, GLSL_BLOCK, row))
    return;
  line(g, "do {");
  block_of(g, region);
  line(g, "} while (false);");
  close_scope(g);
}

/* ---- statements ---- */

static void
statement(glsl *g, uint32_t row)
{
  const uint32_t flags = vyre_op_infos[VYRE_ROW_OP(g->v->op[row])].flags;
  /* clang-format off */
  switch (VYRE_ROW_OP(g->v->op[row])) {
  case VYRE_OP_workgroup: case VYRE_OP_spec: case VYRE_OP_buffer: case VYRE_OP_var: return;
  case VYRE_OP_if: write_if(g, row, false); return;
  case VYRE_OP_for: write_for(g, row); return;
  case VYRE_OP_loop: write_loop(g, row); return;
  case VYRE_OP_switch: write_switch(g, row); return;
  case VYRE_OP_block: write_block(g, row); return;
  case VYRE_OP_return: line(g, "return;"); return;
  case VYRE_OP_trap: line(g, "return; // trap"); return;
  case VYRE_OP_fallthrough: return;
  case VYRE_OP_break: case VYRE_OP_continue: case VYRE_OP_leave: jump_out(g, row); return;
  case VYRE_OP_breakif:
    glsl_begin_line(g); glsl_put(g, "if ("); glsl_value(g, g->v->a[row], GLSL_COMMA); glsl_put(g, ")\n");
    g->indent++; jump_out(g, row); g->indent--; return;
  default: break;
  }
  /* clang-format on */
  if (flags & VYRE_OP_EFFECT)
    glsl_memory_statement(g, row);
  else if (g->form[row - g->program] == GLSL_NAMED && !(g->pinned[row - g->program] && row < g->first_body))
    glsl_define(g, row);
}

void
glsl_region(glsl *g, uint32_t region)
{
  for (uint32_t row = g->v->first[region]; row && !g->status; row = g->v->next[row])
    statement(g, row);
}
