/* Prints a module as `.vir` text.
 *
 * One walk over the rows in program order, with a stack of open regions. The op table determines the text of a row, except for
 * structure and memory. Damaged modules are printed as far as they can be walked. Links are followed only once, operands out of
 * range are not read, and an operand without a printed definition appears as %?id. The printer takes O(rows) time and 5 bytes per
 * row beside the text.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/text/print/printer.h"
#include "base/options.h"
#include "vyre/environment.h"
#include "vyre/opaque.h"

#include "ir/text/lex.h"
#include "ir/text/literal.h"
#include "ir/text/subgroup.h"
#include "vyre/dot.h"

#include <stdlib.h>

#define MAX_INDENT 64u /* levels; deeper regions are not indented further, so that the size of the text stays linear */
#define MAX_CHAIN  64u /* steps of a path that are printed as one operand */

/* ---- bytes ---- */

void
text_print_no_memory(text_printer *t)
{
  if (!t->status)
    t->status = VYRE_OUT_OF_MEMORY("while printing");
}

char *
text_put_room(text_printer *t, size_t size)
{
  vyre_bytes *out = t->out;
  if (t->status)
    return NULL;
  if (out->size + size + 1 > out->capacity) {
    size_t wanted = out->size + size + 1;
    size_t doubled = out->capacity * 2 > 4096 ? out->capacity * 2 : 4096;
    t->status = vyre_bytes_reserve(out, wanted > doubled ? wanted : doubled);
    if (t->status)
      return NULL;
  }
  return out->data + out->size;
}

void
text_put_number(text_printer *t, uint64_t number)
{
  char *room = text_put_room(t, 20);
  if (room)
    t->out->size += text_write_u64(number, room);
}

void
text_put_value_type(text_printer *t, vyre_type type)
{
  char *room = text_put_room(t, 48);
  if (room)
    t->out->size += text_write_type(type, room);
}

void
text_put_literal(text_printer *t, vyre_type type, uint64_t bits)
{
  char *room = text_put_room(t, 48);
  if (room)
    t->out->size += text_write_literal(type, bits, room);
}

void
text_put_indent(text_printer *t)
{
  static const char spaces[2 * MAX_INDENT + 1] = "                                                                "
                                                 "                                                                ";
  text_put(t, spaces, 2 * (t->indent < MAX_INDENT ? t->indent : MAX_INDENT));
}

void
text_put_quoted(text_printer *t, const char *text)
{
  text_put(t, "\"", 1);
  for (; *text; text++) {
    char escaped[8];
    text_put(t, escaped, text_escape(*text, escaped));
  }
  text_put(t, "\"", 1);
}

/* ---- rows of modules that may be damaged ---- */

uint32_t
text_op_of(const text_printer *t, uint32_t row)
{
  return row < t->view->rows ? VYRE_ROW_OP(t->view->op[row]) : (uint32_t)VYRE_OP_null;
}

vyre_type
text_row_type(const text_printer *t, uint32_t row)
{
  return row < t->view->rows ? VYRE_ROW_TYPE(t->view->op[row]) : 0;
}

const vyre_op_info *
text_info_of(uint32_t op)
{
  return &vyre_op_infos[op < VYRE_OP__COUNT && vyre_op_infos[op].text ? op : VYRE_OP_null];
}

uint64_t
text_literal_of(const text_printer *t, uint32_t row)
{
  return (uint64_t)t->view->imm_hi[row] << 32 | t->view->imm[row];
}

static bool
is_plain(const text_printer *t, uint32_t row)
{
  return (VYRE_ROW_FLAGS(t->view->op[row]) & ~(uint32_t)VYRE_ROW_IMM) == 0 && !vyre_row_name(t->module, (vyre_row){row});
}

/* Returns whether the row is printed inside its users. */
bool
text_is_inline(const text_printer *t, uint32_t row)
{
  switch (text_op_of(t, row)) {
  case VYRE_OP_const:
    return is_plain(t, row) && !(t->bits[row] & LENGTH);
  case VYRE_OP_at:
  case VYRE_OP_gid:
  case VYRE_OP_lid:
  case VYRE_OP_wid:
  case VYRE_OP_groups:
  case VYRE_OP_lindex:
  case VYRE_OP_subgroup_lane:
  case VYRE_OP_subgroup_id:
  case VYRE_OP_subgroup_size:
  case VYRE_OP_subgroups:
  case VYRE_OP_subgroup_eq_mask:
  case VYRE_OP_subgroup_ge_mask:
  case VYRE_OP_subgroup_gt_mask:
  case VYRE_OP_subgroup_le_mask:
  case VYRE_OP_subgroup_lt_mask:
    return is_plain(t, row);
  case VYRE_OP_tuple:
    return (t->bits[row] & (TUPLE_REST | TUPLE_OWN)) == TUPLE_REST && is_plain(t, row);
  default:
    return false;
  }
}

/* ---- operands ---- */

void
text_put_name(text_printer *t, uint32_t row)
{
  const char *name = row && row < t->view->rows ? vyre_row_name(t->module, (vyre_row){row}) : NULL;
  text_put(t, "%", 1);
  if (name) {
    size_t length = strlen(name);
    if (text_is_identifier(name, length))
      text_put(t, name, length);
    else
      text_put_quoted(t, name);
  } else if (row && row < t->view->rows && t->numbers[row]) {
    text_put_number(t, t->numbers[row] - 1);
  } else {
    text_put(t, "?", 1);
    text_put_number(t, row);
  }
}

void
text_put_definition(text_printer *t, uint32_t row)
{
  if (!vyre_row_name(t->module, (vyre_row){row}))
    t->numbers[row] = ++t->next_number;
  text_put_name(t, row);
}

static bool
is_chained(const text_printer *t, uint32_t row)
{
  return text_op_of(t, row) == VYRE_OP_at && text_is_inline(t, row);
}

static void
put_step(text_printer *t, uint32_t row)
{
  const vyre_view *v = t->view;
  uint32_t base = v->a[row] < v->rows ? v->a[row] : 0;
  vyre_type_id type = vyre_path_type(t->module, (vyre_row){base});
  bool literal = (VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM) != 0;
  if (literal && vyre_type_get(t->module, type).form == VYRE_FORM_STRUCT) {
    text_put_member(t, type, v->imm[row]);
    return;
  }
  text_put(t, "[", 1);
  if (literal)
    text_put_number(t, v->imm[row]);
  else if (is_chained(t, v->b[row]))
    text_put_name(t, v->b[row]); /* a path cannot be an index: the module is damaged, and following the path might not end */
  else
    text_put_operand(t, v->b[row]);
  text_put(t, "]", 1);
}

/* Prints a path: its first row that has a name or number, and the steps from there. */
static void
put_path(text_printer *t, uint32_t row)
{
  uint32_t steps[MAX_CHAIN];
  uint32_t count = 0;
  while (is_chained(t, row) && count < MAX_CHAIN) {
    steps[count++] = row;
    row = t->view->a[row];
  }
  text_put_name(t, row);
  while (count)
    put_step(t, steps[--count]);
}

void
text_put_operand(text_printer *t, uint32_t row)
{
  if (row == 0 || row >= t->view->rows || !text_is_inline(t, row)) {
    text_put_name(t, row);
    return;
  }
  switch (text_op_of(t, row)) {
  case VYRE_OP_const:
    text_put_literal(t, text_row_type(t, row), text_literal_of(t, row));
    break;
  case VYRE_OP_at:
    put_path(t, row);
    break;
  case VYRE_OP_tuple: /* an inline tuple is never defined by name, so only a damaged module uses it here */
    text_put_name(t, row);
    break;
  default:
    text_put_text(t, text_info_of(text_op_of(t, row))->text);
    break;
  }
}

/* Prints the parts of a tuple. A tuple of more than three parts has the remaining parts in a tuple row, its rest. If `all` is not
 * set, a rest that is not printed inline is printed as one operand. */
void
text_put_parts(text_printer *t, uint32_t tuple, bool all)
{
  const vyre_view *v = t->view;
  uint32_t left = v->rows; /* limits the walk, because tuples of an invalid module may form a cycle */
  for (uint32_t row = tuple; left; left--) {
    uint32_t count = VYRE_TUPLE_COUNT(v->imm[row]);
    if (row != tuple)
      text_put(t, ", ", 2);
    text_put_operand(t, v->a[row]);
    if (count > 1) {
      text_put(t, ", ", 2);
      text_put_operand(t, v->b[row]);
    }
    uint32_t rest = v->c[row];
    if (count > 3 && text_op_of(t, rest) == VYRE_OP_tuple && rest < row && (all || text_is_inline(t, rest))) {
      row = rest;
      continue;
    }
    if (count > 2) {
      text_put(t, ", ", 2);
      text_put_operand(t, rest);
    }
    return;
  }
}

/* ---- after a row ---- */

static void
put_note(text_printer *t, const vyre_text_note *note)
{
  text_put_indent(t);
  text_put_text(t, "; error: ");
  text_put_text(t, note->message);
  text_put(t, "\n", 1);
}

/* Prints the notes of this row. Notes are sorted by row, so a binary search finds them. */
void
text_put_notes(text_printer *t, uint32_t row)
{
  const vyre_text_options *options = t->options;
  uint32_t low = 0, high = options->note_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (options->notes[middle].row < row)
      low = middle + 1;
    else
      high = middle;
  }
  for (; low < options->note_count && options->notes[low].row == row; low++)
    put_note(t, &options->notes[low]);
}

/* Prints the comment of a row, the line end and the notes. */
void
text_end_line(text_printer *t, uint32_t row)
{
  vyre_string file;
  uint32_t line, column;
  bool comment = false;
  if (t->options->rows || t->options->analyses) {
    text_put_text(t, " ; row ");
    text_put_number(t, row);
    if (t->options->analyses)
      text_put_analyses(t, row);
    comment = true;
  }
  if (t->options->lines && vyre_row_line(t->module, (vyre_row){row}, &file, &line, &column)) {
    text_put_text(t, comment ? ", " : " ; ");
    text_put_quoted(t, vyre_string_text(t->module, file));
    text_put(t, ":", 1);
    text_put_number(t, line);
    text_put(t, ":", 1);
    text_put_number(t, column);
  }
  text_put(t, "\n", 1);
  if (t->options->note_count)
    text_put_notes(t, row);
}

static void
put_flags(text_printer *t, uint32_t flags)
{
  for (const text_bit_word *word = text_flag_words; word->word; word++) {
    if ((flags & word->bits) == 0)
      continue;
    text_put(t, " ", 1);
    text_put_text(t, word->word);
  }
}

void
text_put_decorations(text_printer *t, uint32_t row)
{
  uint32_t count;
  const uint32_t *words = vyre_row_decorations(t->module, (vyre_row){row}, &count);
  for (uint32_t i = 0; i + 1 < count;) {
    uint32_t operands = words[i + 1];
    text_put_text(t, " deco(");
    text_put_number(t, words[i]);
    i += 2;
    for (; operands && i < count; operands--, i++) {
      text_put(t, ", ", 2);
      text_put_number(t, words[i]);
    }
    text_put(t, ")", 1);
  }
}

static bool
put_scope(text_printer *t, uint32_t scope)
{
  if (scope > 5)
    return false;
  text_put(t, " ", 1);
  text_put_text(t, text_scope_words[scope]);
  return true;
}

/* Prints the keywords of a memory order, or order(bits) if no keywords express it. */
static void
put_order(text_printer *t, vyre_opcode op, uint32_t imm)
{
  uint32_t execution = VYRE_ORDER_EXECUTION(imm), memory = VYRE_ORDER_MEMORY(imm), semantics = VYRE_ORDER_SEMANTICS(imm);
  uint32_t named = 0;
  bool is_barrier = op == VYRE_OP_barrier;
  uint32_t plain = text_default_order(op);
  if (imm == plain && !is_barrier)
    return;
  for (const text_bit_word *word = text_semantics_words; word->word; word++)
    named |= word->bits;
  const bool fits = is_barrier || execution == (op == VYRE_OP_copy ? memory : 0);
  if ((semantics & ~named) || memory > 5 || execution > 5 || !fits) {
    text_put_text(t, " order(");
    text_put_number(t, imm);
    text_put(t, ")", 1);
    return;
  }
  if (is_barrier)
    put_scope(t, execution);
  if (is_barrier && execution == memory && semantics == text_barrier_semantics(execution))
    return;
  if (is_barrier || memory || vyre_op_is_atomic(op))
    put_scope(t, memory);
  for (const text_bit_word *word = text_semantics_words; word->word; word++) {
    if ((semantics & word->bits) == 0)
      continue;
    text_put(t, " ", 1);
    text_put_text(t, word->word);
  }
}

/* ---- rows by the op table ---- */

/* Prints the literal right operand: a u32 for `lane`, otherwise of the left operand's type. */
static void
put_immediate(text_printer *t, uint32_t row)
{
  vyre_type type = text_op_of(t, row) == VYRE_OP_lane ? VYRE_TYPE(VYRE_U32, 1) : text_row_type(t, t->view->a[row]);
  text_put_literal(t, type, text_literal_of(t, row));
}

void
text_put_operands(text_printer *t, uint32_t row, const vyre_op_info *info)
{
  const vyre_view *v = t->view;
  const uint32_t operands[3] = {v->a[row], v->b[row], v->c[row]};
  bool immediate = (VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM) && (info->flags & VYRE_OP_TAKES_IMM);
  uint32_t op = text_op_of(t, row);
  uint32_t count = info->operands;
  if (op == VYRE_OP_join || op == VYRE_OP_shuffle || vyre_op_is_int_dot((vyre_opcode)op))
    while (count > 1 && operands[count - 1] == 0)
      count--;
  for (uint32_t i = 0; i < count; i++) {
    text_put(t, i ? ", " : " ", i ? 2 : 1);
    if (i == 1 && immediate)
      put_immediate(t, row);
    else
      text_put_operand(t, operands[i]);
  }
}

static void
put_lane_list(text_printer *t, uint32_t row)
{
  for (uint32_t i = 0; i < VYRE_TYPE_LANES(text_row_type(t, row)); i++) {
    text_put_text(t, i ? ", " : ", [");
    text_put_number(t, VYRE_SHUFFLE_LANE(t->view->imm[row], i));
  }
  text_put(t, "]", 1);
}

/* Prints a lane as `%v.x`. Returns false if that form would lose information. */
static bool
put_lane(text_printer *t, uint32_t row)
{
  const vyre_view *v = t->view;
  uint32_t vector = v->a[row];
  uint32_t flags = VYRE_ROW_FLAGS(v->op[row]);
  if ((flags & ~(uint32_t)VYRE_ROW_DECO) != VYRE_ROW_IMM || v->imm_hi[row] ||
      v->imm[row] >= VYRE_TYPE_LANES(text_row_type(t, vector)) || VYRE_TYPE_LANES(text_row_type(t, vector)) == 1 ||
      (text_op_of(t, vector) == VYRE_OP_const && text_is_inline(t, vector)))
    return false;
  char lane[] = {'.', "xyzw"[v->imm[row]]};
  text_put_operand(t, vector);
  text_put(t, lane, 2);
  return true;
}

void
text_put_row(text_printer *t, uint32_t row)
{
  const vyre_view *v = t->view;
  uint32_t op = text_op_of(t, row);
  const vyre_op_info *info = text_info_of(op);
  text_put_indent(t);
  if ((info->rule != VYRE_RULE_VOID && !vyre_op_is_opaque(op)) || text_row_type(t, row) != VYRE_VOID) {
    text_put_definition(t, row);
    text_put(t, " = ", 3);
  }
  if (op == VYRE_OP_lane && put_lane(t, row)) {
    text_put_decorations(t, row);
    text_end_line(t, row);
    return;
  }
  text_put_text(t, info->text);
  if (info->text == vyre_op_infos[VYRE_OP_null].text)
    text_put_number(t, op); /* an op number without an op */
  put_flags(t, VYRE_ROW_FLAGS(v->op[row]));
  if (op == VYRE_OP_const) {
    text_put(t, " ", 1);
    text_put_literal(t, text_row_type(t, row), text_literal_of(t, row));
  } else if (op == VYRE_OP_at) {
    text_put(t, " ", 1);
    put_path(t, v->a[row]);
    put_step(t, row);
  } else if (vyre_op_is_opaque(op)) {
    text_put_opaque(t, row);
  } else if (op == VYRE_OP_tuple) {
    text_put(t, " ", 1);
    text_put_parts(t, row, false);
  } else {
    text_put_operands(t, row, info);
  }
  if (text_accepts_number((vyre_opcode)op) && (info->operands || v->imm[row])) {
    text_put_text(t, info->operands ? ", " : " ");
    text_put_number(t, v->imm[row]);
  }
  if (op == VYRE_OP_shuffle)
    put_lane_list(t, row);
  if (info->rule == VYRE_RULE_FREE && op != VYRE_OP_const) {
    text_put(t, " : ", 3);
    text_put_value_type(t, text_row_type(t, row));
  }
  if (text_has_order((vyre_opcode)op))
    put_order(t, (vyre_opcode)op, v->imm[row]);
  else if (text_has_group((vyre_opcode)op))
    text_put_group(t, v->imm[row]);
  text_put_decorations(t, row);
  text_end_line(t, row);
}

/* ---- the module ---- */

static void
mark_tuple(text_printer *t, uint32_t row, uint8_t bit)
{
  if (row && row < t->view->rows && text_op_of(t, row) == VYRE_OP_tuple)
    t->bits[row] |= bit;
}

/* Finds the tuples that are only rests or labels, and the blocks and switches that a `leave` names. */
static void
mark_rows(text_printer *t)
{
  const vyre_view *v = t->view;
  for (uint32_t row = 1; row < v->rows; row++) {
    uint32_t op = VYRE_ROW_OP(v->op[row]);
    if (op == VYRE_OP_leave && v->a[row] < v->rows)
      t->bits[v->a[row]] |= TARGET;
    if (op == VYRE_OP_null)
      continue;
    bool is_rest = vyre_op_is_opaque(op) || (op == VYRE_OP_tuple && VYRE_TUPLE_COUNT(v->imm[row]) > 3);
    mark_tuple(t, v->a[row], op == VYRE_OP_case ? TUPLE_REST : TUPLE_OWN);
    mark_tuple(t, v->b[row], TUPLE_OWN);
    mark_tuple(t, v->c[row], is_rest ? TUPLE_REST : TUPLE_OWN);
  }
}

static void
put_all(text_printer *t)
{
  const vyre_view *v = t->view;
  text_put_structs(t);
  if (t->options->program) {
    text_put_program(t, t->options->program);
    return;
  }
  bool any = false;
  uint32_t left = v->rows;
  for (uint32_t program = v->first[0]; program && program < v->rows && left && !t->status; program = v->next[program], left--) {
    if (any)
      text_put(t, "\n", 1);
    text_put_program(t, program);
    any = true;
  }
}

vyre_status
vyre_text_print(const vyre_module *module, const vyre_text_options *options, vyre_bytes *out)
{
  VYRE_OWN_ENVIRONMENT;
  vyre_text_options o;
  VYRE_TRY(vyre_options_read(&o, sizeof o, options, "vyre_text_options"));
  const vyre_view *view = vyre_module_view(module);
  text_printer t = {.module = module, .view = view, .options = &o, .allocator = vyre_module_allocator(module), .out = out};
  size_t size = out->size;
  size_t rows = view->rows ? view->rows : 1;
  if (t.options->program >= rows)
    return VYRE_ERROR(VYRE_CODE_INPUT, "the program row %u is out of range: the table has %zu rows\nFix: give the row of a program",
                      t.options->program, rows);
  t.numbers = t.allocator->resize(t.allocator->user, NULL, 0, rows * sizeof(uint32_t));
  t.bits = t.allocator->resize(t.allocator->user, NULL, 0, rows);
  if (t.numbers && t.bits) {
    memset(t.numbers, 0, rows * sizeof(uint32_t));
    memset(t.bits, 0, rows);
    mark_rows(&t);
    if (text_prepare_types(&t))
      put_all(&t);
    else
      text_print_no_memory(&t);
    text_free_types(&t);
  } else {
    text_print_no_memory(&t);
  }
  if (t.numbers)
    t.allocator->resize(t.allocator->user, t.numbers, rows * sizeof(uint32_t), 0);
  if (t.bits)
    t.allocator->resize(t.allocator->user, t.bits, rows, 0);
  if (t.status)
    out->size = size;
  if (out->data)
    out->data[out->size] = '\0';
  return t.status;
}
