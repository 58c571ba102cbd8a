/* Prints a program: declarations, the workgroup size, control.
 *
 * Open regions are stored in a list, so nesting does not need recursion. Every row is printed once, even if links are damaged.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/text/lex.h"

#include "base/grow.h"
#include "ir/text/print/printer.h"

/* ---- declarations ---- */

static void
put_initializer(text_printer *t, vyre_type_id type, uint32_t index)
{
  uint32_t count;
  const uint32_t *words = vyre_module_initializer(t->module, index, &count);
  if (!words) {
    text_put_text(t, " = []");
    return;
  }
  if (!text_scalars_update(&t->scalars, t->module, t->allocator)) {
    text_print_no_memory(t);
    return;
  }
  text_walk walk;
  bool any = false;
  text_walk_start(&walk, &t->scalars, t->module, type);
  text_put_text(t, " = [");
  for (uint32_t i = 0; i < count; i++) {
    vyre_type scalar = text_walk_next(&walk);
    uint64_t bits = words[i];
    if (vyre_kind_bits(VYRE_TYPE_KIND(scalar)) == 64 && i + 1 < count)
      bits |= (uint64_t)words[++i] << 32;
    if (any)
      text_put(t, ", ", 2);
    any = true;
    text_put_literal(t, scalar ? scalar : VYRE_TYPE(VYRE_U32, 1), bits);
  }
  text_put(t, "]", 1);
}

static void
put_field(text_printer *t, const char *word, uint32_t value)
{
  text_put(t, " ", 1);
  text_put_text(t, word);
  text_put(t, "(", 1);
  text_put_number(t, value);
  text_put(t, ")", 1);
}

static void
put_buffer(text_printer *t, uint32_t row)
{
  const vyre_view *v = t->view;
  vyre_type_id type = v->imm[row];
  uint32_t access = v->imm_hi[row];
  vyre_space space = VYRE_BUFFER_SPACE(access);
  /* The cast is safe because the info is only read. */
  const vyre_buffer_info *info = vyre_buffer_info_of((vyre_module *)t->module, (vyre_row){row});
  text_put_structs_of(t, type);
  text_put_indent(t);
  text_put_text(t, "buffer ");
  text_put_definition(t, row);
  text_put(t, " : ", 3);
  text_put_type(t, type);
  text_put(t, " ", 1);
  text_put_text(t, space < VYRE_SPACE__COUNT ? text_space_words[space] : "?");
  bool both = (access & (VYRE_ACCESS_NO_READ | VYRE_ACCESS_NO_WRITE)) == 0;
  if (both && space == VYRE_SPACE_STORAGE)
    text_put_text(t, " rw");
  text_put_access(t, access);
  if (space == VYRE_SPACE_STORAGE || space == VYRE_SPACE_UNIFORM || space == VYRE_SPACE_HANDLE) {
    put_field(t, "set", info->set);
    put_field(t, "binding", info->binding);
  }
  if (info->spirv_id)
    put_field(t, "id", info->spirv_id);
  if (info->initializer != UINT32_MAX)
    put_initializer(t, type, info->initializer);
  text_put_decorations(t, row);
  text_end_line(t, row);
}

static void
put_spec(text_printer *t, uint32_t row)
{
  uint32_t id = vyre_row_spec_id(t->module, (vyre_row){row});
  text_put_indent(t);
  text_put_text(t, "spec ");
  text_put_definition(t, row);
  text_put(t, " : ", 3);
  text_put_value_type(t, text_row_type(t, row));
  text_put(t, " = ", 3);
  text_put_literal(t, text_row_type(t, row), text_literal_of(t, row));
  if (id != UINT32_MAX)
    put_field(t, "id", id);
  text_put_decorations(t, row);
  text_end_line(t, row);
}

static void
put_var(text_printer *t, uint32_t row)
{
  text_put_indent(t);
  text_put_text(t, "var ");
  text_put_definition(t, row);
  text_put(t, " : ", 3);
  if (VYRE_TYPE_KIND(text_row_type(t, row)) == VYRE_OPAQUE)
    text_put_type(t, t->view->imm[row]);
  else
    text_put_value_type(t, text_row_type(t, row));
  if (t->view->imm_hi[row] & VYRE_ACCESS_UNSET)
    text_put_text(t, " unset");
  text_put_decorations(t, row);
  text_end_line(t, row);
}

/* ---- the workgroup size ---- */

static uint32_t
size_operand(const text_printer *t, uint32_t workgroup, uint32_t i)
{
  const vyre_view *v = t->view;
  return i == 0 ? v->a[workgroup] : i == 1 ? v->b[workgroup] : v->c[workgroup];
}

/* Returns whether the size is printed in the program's head: all three operands are u32 literals. */
static bool
is_in_head(const text_printer *t, uint32_t workgroup)
{
  for (uint32_t i = 0; i < 3; i++) {
    uint32_t row = size_operand(t, workgroup, i);
    if (text_op_of(t, row) != VYRE_OP_const || !text_is_inline(t, row) || text_row_type(t, row) != VYRE_TYPE(VYRE_U32, 1))
      return false;
  }
  return true;
}

static void
put_workgroup(text_printer *t, uint32_t row)
{
  text_put_indent(t);
  text_put_text(t, "workgroup");
  text_put_operands(t, row, text_info_of(VYRE_OP_workgroup));
  text_end_line(t, row);
}

static bool
is_printed(const text_printer *t, uint32_t row)
{
  return row == 0 || row >= t->view->rows || text_is_inline(t, row) || (t->bits[row] & SEEN);
}

/* Prints the workgroup statement if its operands are printed. The row may precede them in the table. */
static void
put_waiting_workgroup(text_printer *t)
{
  uint32_t row = t->workgroup;
  for (uint32_t i = 0; i < 3; i++)
    if (!is_printed(t, size_operand(t, row, i)))
      return;
  t->workgroup = 0;
  put_workgroup(t, row);
}

static void
put_program_head(text_printer *t, uint32_t row)
{
  const vyre_view *v = t->view;
  const char *name = vyre_row_name(t->module, (vyre_row){row});
  vyre_string entry = vyre_program_info_of((vyre_module *)t->module, (vyre_row){row})->entry;
  name = name ? name : "";
  text_put_text(t, "program @");
  if (text_is_dotted(name, strlen(name)))
    text_put_text(t, name);
  else
    text_put_quoted(t, name);
  for (const text_bit_word *word = text_mode_words; word->word; word++) {
    if ((v->imm[row] & word->bits) == 0)
      continue;
    text_put(t, " ", 1);
    text_put_text(t, word->word);
  }
  if (entry) {
    text_put_text(t, " entry ");
    text_put_quoted(t, vyre_string_text(t->module, entry));
  }
  t->workgroup = 0;
  uint32_t left = v->rows; /* stops at a cycle of links */
  for (uint32_t child = v->first[row]; child && child < v->rows && left && !t->workgroup; child = v->next[child], left--)
    if (text_op_of(t, child) == VYRE_OP_workgroup)
      t->workgroup = child;
  if (t->workgroup && is_in_head(t, t->workgroup)) {
    for (uint32_t i = 0; i < 3; i++) {
      text_put_text(t, i ? ", " : " workgroup(");
      text_put_number(t, v->imm[size_operand(t, t->workgroup, i)]);
    }
    text_put(t, ")", 1);
    t->workgroup = 0;
  }
  text_put(t, " {", 2);
  text_end_line(t, row);
}

/* ---- control ---- */

static void
put_control_head(text_printer *t, uint32_t row)
{
  const vyre_view *v = t->view;
  uint32_t op = text_op_of(t, row);
  bool named = vyre_row_name(t->module, (vyre_row){row}) || (t->bits[row] & TARGET);
  text_put_indent(t);
  if (op == VYRE_OP_switch && named) {
    text_put_definition(t, row);
    text_put(t, " = ", 3);
  }
  text_put_text(t, text_info_of(op)->text);
  text_put_hints(t, row);
  if (op == VYRE_OP_block && named) {
    text_put(t, " ", 1);
    text_put_definition(t, row);
  }
  if (op == VYRE_OP_if || op == VYRE_OP_switch) {
    text_put(t, " ", 1);
    text_put_operand(t, v->a[row]);
  }
  if (op != VYRE_OP_for)
    return;
  uint32_t body = v->first[row];
  text_put(t, " ", 1);
  if (text_op_of(t, body) == VYRE_OP_body && body < v->rows)
    text_put_definition(t, body);
  else
    text_put_name(t, 0);
  text_put(t, " = ", 3);
  text_put_operand(t, v->a[row]);
  text_put_text(t, " to ");
  text_put_operand(t, v->b[row]);
  text_put_text(t, " step ");
  text_put_operand(t, v->c[row]);
}

static void
put_case_head(text_printer *t, uint32_t row)
{
  const vyre_view *v = t->view;
  uint32_t labels = v->a[row];
  bool is_default = (v->imm[row] & VYRE_CASE_DEFAULT) != 0;
  text_put_indent(t);
  if (labels == 0) {
    text_put_text(t, is_default ? "default {" : "case {");
    return;
  }
  text_put_text(t, "case ");
  if (text_op_of(t, labels) == VYRE_OP_tuple)
    text_put_parts(t, labels, true); /* a label cannot be the name of a tuple */
  else
    text_put_operand(t, labels);
  text_put_text(t, is_default ? ", default {" : " {");
}

/* Returns whether nothing in the region would be printed. An empty else or continuing region is omitted. */
static bool
is_empty(const text_printer *t, uint32_t region)
{
  const vyre_view *v = t->view;
  uint32_t left = v->rows;
  for (uint32_t row = v->first[region]; row && row < v->rows && left; row = v->next[row], left--)
    if (!text_is_inline(t, row))
      return false;
  return true;
}

typedef struct print_frame {
  uint32_t control; /* 0 for a program */
  uint32_t region;
} print_frame;

typedef struct print_stack {
  print_frame *frames;
  uint32_t count, capacity;
} print_stack;

static bool
push_frame(text_printer *t, print_stack *stack, uint32_t control, uint32_t region)
{
  if (!vyre_grow(t->allocator, &stack->frames, &stack->capacity, stack->count + 1, sizeof *stack->frames)) {
    text_print_no_memory(t);
    return false;
  }
  stack->frames[stack->count++] = (print_frame){control, region};
  t->indent++;
  return true;
}

/* Marks a row as printed. Returns false, and prints a comment, if it was printed before, which means that links are damaged. */
static bool
mark_printed(text_printer *t, uint32_t row)
{
  if (row >= t->view->rows || (t->bits[row] & SEEN)) {
    text_put_indent(t);
    text_put_text(t, "; the list of rows is damaged here\n");
    return false;
  }
  t->bits[row] |= SEEN;
  return true;
}

/* Opens a region whose head was printed. Returns its first row, or 0 if there is none. */
static uint32_t
enter_region(text_printer *t, print_stack *stack, uint32_t control, uint32_t region)
{
  if (!mark_printed(t, region) || !push_frame(t, stack, control, region))
    return 0;
  return t->view->first[region];
}

/* Prints the end of a region and, if its control has another one, the head of the next. Returns the next row. */
static uint32_t
leave_region(text_printer *t, print_stack *stack)
{
  const vyre_view *v = t->view;
  print_frame frame = stack->frames[--stack->count];
  t->indent--;
  uint32_t op = text_op_of(t, frame.control);
  uint32_t next = frame.control ? v->next[frame.region] : 0;
  text_put_indent(t);
  if (frame.control && next && next < v->rows) {
    if (op == VYRE_OP_switch) {
      text_put(t, "}\n", 2);
      put_case_head(t, next);
    } else if (is_empty(t, next) && !v->next[next]) {
      t->bits[next] |= SEEN;
      text_put(t, "}\n", 2);
      return v->next[frame.control];
    } else {
      text_put_text(t, op == VYRE_OP_if ? "} else {" : op == VYRE_OP_loop ? "} continuing {" : "} {");
    }
    text_end_line(t, next);
    uint32_t size = stack->count;
    uint32_t row = enter_region(t, stack, frame.control, next);
    return stack->count > size ? row : v->next[frame.control];
  }
  text_put(t, "}\n", 2);
  if (op == VYRE_OP_switch) {
    t->indent--;
    text_put_indent(t);
    text_put(t, "}\n", 2);
  }
  return frame.control ? v->next[frame.control] : 0;
}

/* Prints the head of a control row and opens its first region. Returns the next row. */
static uint32_t
enter_control(text_printer *t, print_stack *stack, uint32_t row)
{
  const vyre_view *v = t->view;
  uint32_t region = v->first[row];
  put_control_head(t, row);
  text_put(t, " {", 2);
  text_end_line(t, row);
  bool is_switch = text_op_of(t, row) == VYRE_OP_switch;
  if (region && region < v->rows) {
    t->indent += is_switch;
    if (is_switch) {
      put_case_head(t, region);
      text_end_line(t, region);
    } else if (t->options->note_count) {
      text_put_notes(t, region);
    }
    uint32_t size = stack->count;
    uint32_t first = enter_region(t, stack, row, region);
    if (stack->count > size)
      return first;
    t->indent -= is_switch;
  }
  text_put_indent(t);
  text_put(t, "}\n", 2);
  return v->next[row];
}

static uint32_t
put_statement(text_printer *t, print_stack *stack, uint32_t row)
{
  uint32_t op = text_op_of(t, row);
  uint32_t next = t->view->next[row];
  if (text_info_of(op)->flags & (VYRE_OP_REGIONS))
    return enter_control(t, stack, row);
  switch (op) {
  case VYRE_OP_workgroup:
    if (t->options->note_count)
      text_put_notes(t, row);
    break;
  case VYRE_OP_spec:
    put_spec(t, row);
    break;
  case VYRE_OP_var:
    put_var(t, row);
    break;
  case VYRE_OP_buffer:
    put_buffer(t, row);
    break;
  default:
    if (!text_is_inline(t, row))
      text_put_row(t, row);
    else if (t->options->note_count)
      text_put_notes(t, row);
    break;
  }
  if (t->workgroup)
    put_waiting_workgroup(t);
  return next;
}

void
text_put_program(text_printer *t, uint32_t program)
{
  print_stack stack = {0};
  t->next_number = 0;
  t->indent = 0;
  if (!mark_printed(t, program))
    return;
  put_program_head(t, program);
  uint32_t row = push_frame(t, &stack, 0, program) ? t->view->first[program] : 0;
  while (stack.count && !t->status) {
    if (row == 0 || (text_op_of(t, row) == VYRE_OP_program && row < t->view->rows) || !mark_printed(t, row)) {
      if (t->workgroup && stack.count == 1) { /* its operands were never printed */
        put_workgroup(t, t->workgroup);
        t->workgroup = 0;
      }
      row = leave_region(t, &stack);
    } else {
      row = put_statement(t, &stack, row);
    }
  }
  if (stack.frames)
    t->allocator->resize(t->allocator->user, stack.frames, stack.capacity * sizeof(*stack.frames), 0);
}
