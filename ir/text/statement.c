/* Parses statements, regions and control.
 *
 * Open regions are stored in an array, so nested text does not need recursion; at most 1024 may be open. After an error, the parser
 * skips to the next statement: the next line at the same brace depth that begins with a name or keyword.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "parser.h"

#include <stdio.h>
#include <string.h>

static text_frame *
top_frame(text_parser *p)
{
  return &p->frames[p->frame_count - 1];
}

/* ---- regions ---- */

bool
text_push_frame(text_parser *p, frame_kind kind, uint32_t control, uint32_t region, uint32_t at)
{
  if (p->frame_count >= TEXT_MAX_REGIONS)
    return text_error(p, at, 1, NULL, "regions nest deeper than %u", TEXT_MAX_REGIONS);
  if (!text_grow(p, &p->frames, &p->frame_capacity, p->frame_count, sizeof(*p->frames)))
    return false;
  p->frames[p->frame_count++] = (text_frame){.kind = (uint8_t)kind, .control = control, .region = region, .at = at};
  return true;
}

/* Parses the opening brace and pushes its frame, after the control row was built and the builder entered its region. */
static bool
open_region(text_parser *p, frame_kind kind, vyre_row control)
{
  uint32_t at = p->lexer.token.start;
  if (!control.id)
    text_no_memory(p);
  if (!text_expect_mark(p, '{')) {
    vyre_builder_leave(&p->builder, control);
    return false;
  }
  if (text_push_frame(p, kind, control.id, kind == FRAME_SWITCH ? control.id : p->builder.region, at))
    return true;
  p->stop = true; /* the rest of the text could not be interpreted */
  return false;
}

static void
next_region(text_parser *p, text_frame *frame, frame_kind kind)
{
  vyre_row region = vyre_region_of(p->module, (vyre_row){frame->control}, 1);
  vyre_builder_at_end(&p->builder, region);
  *frame = (text_frame){.kind = (uint8_t)kind, .control = frame->control, .region = region.id, .at = p->lexer.token.start};
}

/* Pops the frame, and the frames of all `else if` that end with it. */
static void
leave_frame(text_parser *p)
{
  do {
    text_frame *frame = top_frame(p);
    p->frame_count--;
    if (frame->kind == FRAME_FUNCTION)
      return;
    if (frame->kind == FRAME_CASE) {
      p->builder.region = frame->control; /* the switch row, in which only cases may be built */
      p->builder.before = 0;
    } else if (frame->kind != FRAME_PROGRAM) {
      vyre_builder_leave(&p->builder, (vyre_row){frame->control});
    }
  } while (p->frame_count && top_frame(p)->chained);
}

static bool parse_if(text_parser *p);

/* Parses the brace after else or continuing. */
static bool
expect_region_brace(text_parser *p)
{
  if (text_expect_mark(p, '{'))
    return true;
  leave_frame(p);
  return false;
}

/* Parses a closing brace. If else or continuing follows, opens that region. */
static bool
close_region(text_parser *p)
{
  text_frame *frame = top_frame(p);
  text_lex(&p->lexer);
  if (frame->kind == FRAME_THEN && text_accept_word(p, "else")) {
    next_region(p, frame, FRAME_ELSE);
    if (!text_is_word(p, "if"))
      return expect_region_brace(p);
    uint32_t chained = p->frame_count - 1;
    bool good = parse_if(p);
    if (good)
      p->frames[chained].chained = true;
    else if (!p->stop)
      leave_frame(p);
    return good;
  }
  if (frame->kind == FRAME_LOOP && text_accept_word(p, "continuing")) {
    next_region(p, frame, FRAME_CONTINUING);
    return expect_region_brace(p);
  }
  leave_frame(p);
  return true;
}

/* ---- error recovery ---- */

static void
skip_statement(text_parser *p)
{
  uint32_t depth = 0;
  while (p->lexer.token.kind != TOKEN_END) {
    if (text_is_mark(p, '{'))
      depth++;
    else if (text_is_mark(p, '}') && depth == 0)
      return;
    else if (text_is_mark(p, '}'))
      depth--;
    text_lex(&p->lexer);
    text_token_kind kind = p->lexer.token.kind;
    if (depth == 0 && p->lexer.token.first_on_line &&
        (kind == TOKEN_NAME || kind == TOKEN_NUMBERED || kind == TOKEN_WORD || kind == TOKEN_GLOBAL))
      return;
  }
}

/* ---- control ---- */

/* Parses an operand of a control row, which must be a value. Sets *out to 0 for a bad one, so that the region is still parsed. */
static bool
parse_operand_row(text_parser *p, uint32_t *out)
{
  text_operand operand;
  if (!text_parse_operand(p, &operand))
    return false;
  text_require_value(p, &operand);
  *out = text_row_of(p, &operand);
  return true;
}

static bool
parse_if(text_parser *p)
{
  uint32_t condition;
  text_hints hints;
  text_lex(&p->lexer);
  if (!text_parse_hints(p, VYRE_OP_if, &hints) || !parse_operand_row(p, &condition))
    return false;
  vyre_row row = vyre_build_if(&p->builder, (vyre_row){condition});
  text_set_hints(p, row, &hints);
  return open_region(p, FRAME_THEN, row);
}

static bool
parse_for(text_parser *p)
{
  uint32_t from, to, step;
  text_hints hints;
  text_lex(&p->lexer);
  if (!text_parse_hints(p, VYRE_OP_for, &hints))
    return false;
  text_token name = p->lexer.token;
  if (name.kind != TOKEN_NAME && name.kind != TOKEN_NUMBERED)
    return text_expected(p, "the name of the index");
  text_lex(&p->lexer);
  if (!text_expect_mark(p, '=') || !parse_operand_row(p, &from))
    return false;
  if (!text_accept_word(p, "to"))
    return text_expected(p, "'to'");
  if (!parse_operand_row(p, &to))
    return false;
  if (text_accept_word(p, "step")) {
    if (!parse_operand_row(p, &step))
      return false;
  } else {
    vyre_type type = from ? text_type_of(p, from) : VYRE_TYPE(VYRE_U32, 1);
    step = vyre_build_const(&p->builder, type, 1).id;
  }
  vyre_row row = vyre_build_for(&p->builder, (vyre_row){from}, (vyre_row){to}, (vyre_row){step});
  text_set_hints(p, row, &hints);
  uint32_t body = vyre_region_of(p->module, row, 0).id;
  bool good = open_region(p, FRAME_FOR, row);
  text_define(p, &name, from ? body : 0);
  text_set_name(p, body, &name);
  return good;
}

static bool
parse_loop(text_parser *p)
{
  text_hints hints;
  text_lex(&p->lexer);
  if (!text_parse_hints(p, VYRE_OP_loop, &hints))
    return false;
  vyre_row row = vyre_build_loop(&p->builder);
  text_set_hints(p, row, &hints);
  return open_region(p, FRAME_LOOP, row);
}

static bool
parse_block(text_parser *p, const text_token *name)
{
  text_token given = {.kind = TOKEN_END};
  text_lex(&p->lexer);
  if (name)
    given = *name;
  else if (p->lexer.token.kind == TOKEN_NAME || p->lexer.token.kind == TOKEN_NUMBERED) {
    given = p->lexer.token;
    text_lex(&p->lexer);
  }
  vyre_row row = vyre_build_block(&p->builder);
  if (given.kind != TOKEN_END) {
    text_define(p, &given, row.id);
    text_set_name(p, row.id, &given);
  }
  return open_region(p, FRAME_BLOCK, row);
}

static bool
parse_switch(text_parser *p, const text_token *name)
{
  uint32_t selector;
  text_hints hints;
  text_lex(&p->lexer);
  if (!text_parse_hints(p, VYRE_OP_switch, &hints) || !parse_operand_row(p, &selector))
    return false;
  vyre_row row = vyre_build_switch(&p->builder, (vyre_row){selector});
  text_set_hints(p, row, &hints);
  if (name) {
    text_define(p, name, row.id);
    text_set_name(p, row.id, name);
  }
  return open_region(p, FRAME_SWITCH, row);
}

/* Parses `1u32, 2u32, default` after `case`. The labels are pushed onto the stack. */
static bool
parse_labels(text_parser *p, uint32_t base, bool *out_default)
{
  do {
    if (text_accept_word(p, "default")) {
      *out_default = true;
      continue;
    }
    text_operand label;
    if (!text_parse_operand(p, &label))
      return false;
    text_require_value(p, &label);
    if (!label.bad && !label.literal && VYRE_ROW_OP(p->view->op[label.row]) != VYRE_OP_const)
      text_error(p, label.start, label.length, NULL, "the label of a case must be a constant");
    if (!text_push_word(p, &p->stack, text_row_of(p, &label)))
      return false;
  } while (text_accept_mark(p, ','));
  return p->stack.count - base <= UINT16_MAX || text_error_token(p, NULL, "a case has at most 65535 labels");
}

/* Returns the row of the labels: the constant, or a tuple built before the switch, or 0 if there are no labels. */
static uint32_t
build_labels(text_parser *p, uint32_t base, vyre_row switch_row)
{
  uint32_t count = p->stack.count - base;
  if (count < 2)
    return count ? p->stack.data[base] : 0;
  vyre_row *labels = p->allocator->resize(p->allocator->user, NULL, 0, count * sizeof(*labels));
  if (!labels) {
    text_no_memory(p);
    return 0;
  }
  for (uint32_t i = 0; i < count; i++)
    labels[i].id = p->stack.data[base + i];
  vyre_builder before = p->builder;
  vyre_builder_before(&before, switch_row);
  uint32_t row = vyre_build_tuple(&before, labels, count).id;
  p->allocator->resize(p->allocator->user, labels, count * sizeof(*labels), 0);
  return row;
}

static bool
parse_case(text_parser *p)
{
  vyre_row switch_row = {top_frame(p)->control};
  uint32_t base = p->stack.count;
  bool is_default = text_accept_word(p, "default");
  if (!is_default) {
    if (!text_accept_word(p, "case"))
      return text_expected(p, "'case' or 'default'");
    vyre_builder inside = p->builder;
    vyre_builder_before(&p->builder, switch_row); /* the rows of labels may not be in the switch */
    bool good = parse_labels(p, base, &is_default);
    p->builder = inside;
    if (!good) {
      p->stack.count = base;
      return false;
    }
  }
  uint32_t labels = build_labels(p, base, switch_row);
  p->stack.count = base;
  return open_region(p, FRAME_CASE, vyre_build_case(&p->builder, switch_row, (vyre_row){labels}, is_default)) &&
         (top_frame(p)->control = switch_row.id, true);
}

/* ---- jumps ---- */

static uint32_t
call_base(const text_parser *p)
{
  return p->call ? (uint32_t)p->call->base : 0;
}

static bool
is_in_loop(const text_parser *p)
{
  for (uint32_t i = p->frame_count; i > call_base(p); i--)
    if (p->frames[i - 1].kind == FRAME_FOR || p->frames[i - 1].kind == FRAME_LOOP || p->frames[i - 1].kind == FRAME_CONTINUING)
      return true;
  return false;
}

static bool
parse_leave(text_parser *p)
{
  text_token name = p->lexer.token;
  if (name.kind != TOKEN_NAME && name.kind != TOKEN_NUMBERED)
    return text_expected(p, "the name of a block or switch");
  const char *text = p->lexer.text;
  uint32_t row = text_find_row(p);
  text_lex(&p->lexer);
  bool open = row == 0;
  for (uint32_t i = p->frame_count; i > call_base(p) && !open; i--)
    open = p->frames[i - 1].control == row && (p->frames[i - 1].kind == FRAME_BLOCK || p->frames[i - 1].kind == FRAME_SWITCH);
  if (!open)
    text_error(p, name.start, name.length, NULL, "%.*s is not a block or switch around this leave",
               name.length < 60 ? (int)name.length : 60, text + name.start);
  vyre_build_jump(&p->builder, VYRE_OP_leave, (vyre_row){open ? row : 0});
  return true;
}

static bool
parse_jump(text_parser *p, vyre_opcode op)
{
  text_token word = p->lexer.token;
  const char *text = vyre_op_infos[op].text;
  frame_kind in = (frame_kind)top_frame(p)->kind;
  text_lex(&p->lexer);
  if ((op == VYRE_OP_break || op == VYRE_OP_continue) && !is_in_loop(p))
    text_error(p, word.start, word.length, NULL, "%s is not in a loop", text);
  if (op == VYRE_OP_fallthrough && in != FRAME_CASE)
    text_error(p, word.start, word.length, NULL, "fallthrough must be the last statement of a case");
  if (op == VYRE_OP_breakif && in != FRAME_CONTINUING)
    text_error(p, word.start, word.length, "use if %c { break }", "breakif must be the last statement of a continuing region");
  if (op == VYRE_OP_leave)
    return parse_leave(p);
  uint32_t condition = 0;
  if (op == VYRE_OP_breakif && !parse_operand_row(p, &condition))
    return false;
  vyre_build_jump(&p->builder, op, (vyre_row){condition});
  return true;
}

/* ---- statements ---- */

/* Parses `%x = ...`, or an expression or effect without a name. */
static bool
parse_plain(text_parser *p, const text_token *name)
{
  text_operand value;
  uint32_t rows = p->view->rows;
  p->named = name && name->kind == TOKEN_NAME;
  if (!text_parse_value(p, &value))
    return false;
  bool is_void = !value.bad && !value.literal && VYRE_TYPE_KIND(value.type) == VYRE_VOID;
  if (name && is_void && value.fresh)
    return text_error(p, name->start, name->length, "remove the name", "'%.*s' does not produce a value",
                      value.length < 60 ? (int)value.length : 60, p->lexer.text + value.start);
  if (!name && value.literal && !value.bad)
    return text_error(p, value.start, value.length, NULL, "a literal is not a statement");
  if (name && value.literal && !value.bad) /* `%c = 2.0f32` names a const row */
    value.row = vyre_build(&p->builder, VYRE_OP_const, value.type, 0, (uint32_t)value.bits, (uint32_t)(value.bits >> 32), VYRE_NONE,
                           VYRE_NONE, VYRE_NONE)
                    .id;
  uint32_t row = value.bad ? 0 : value.row;
  if (name) {
    text_define(p, name, row);
    if (row >= rows && !vyre_row_name(p->module, (vyre_row){row}))
      text_set_name(p, row, name);
  }
  return text_parse_decorations(p, row >= rows ? row : 0);
}

static bool
parse_named(text_parser *p)
{
  text_token name = p->lexer.token;
  text_lex(&p->lexer);
  bool good = text_expect_mark(p, '=');
  if (good && text_is_word(p, "switch"))
    return parse_switch(p, &name);
  if (good && text_is_word(p, "block"))
    return parse_block(p, &name);
  good = good && parse_plain(p, &name);
  if (!good && !p->stop && !text_symbols_find(&p->names, p->scope, p->lexer.text + name.name, name.name_length))
    text_symbols_add(&p->names, p->scope, name.name, name.name_length, 0);
  return good;
}

static bool
parse_declaration(text_parser *p, vyre_opcode op, bool *out_is_one)
{
  *out_is_one = true;
  if (op != VYRE_OP_spec && op != VYRE_OP_var && op != VYRE_OP_buffer && op != VYRE_OP_workgroup && !text_is_word(p, "struct")) {
    *out_is_one = false;
    return true;
  }
  if (top_frame(p)->kind != FRAME_PROGRAM && (top_frame(p)->kind != FRAME_FUNCTION || op != VYRE_OP_var))
    return text_error_token(p, NULL, "%.*s must be at the top of a program%s", (int)p->lexer.token.length,
                            p->lexer.text + p->lexer.token.start, op == VYRE_OP_var ? " or function" : "");
  switch (op) {
  case VYRE_OP_spec:
    return text_parse_spec(p);
  case VYRE_OP_var:
    return text_parse_var(p);
  case VYRE_OP_buffer:
    return text_parse_buffer(p);
  case VYRE_OP_workgroup:
    return text_parse_workgroup(p);
  default:
    return text_parse_struct(p);
  }
}

/* Parses an expression or effect, or reports a keyword that needs an enclosing construct. */
static bool
parse_other(text_parser *p, vyre_opcode op)
{
  static const char *const parts[][2] = {
      {"else", "an if"}, {"continuing", "a loop"}, {"case", "a switch"}, {"default", "a switch"}};
  for (uint32_t i = 0; i < 4; i++)
    if ((op == VYRE_OP_null || op == VYRE_OP_case) && text_is_word(p, parts[i][0]))
      return text_error_token(p, NULL, "%s without %s", parts[i][0], parts[i][1]);
  return parse_plain(p, NULL);
}

static bool
parse_word(text_parser *p)
{
  vyre_opcode op = text_op_at(p, &p->lexer.token);
  bool is_declaration;
  bool good = parse_declaration(p, op, &is_declaration);
  if (is_declaration)
    return good;
  switch (op) {
  case VYRE_OP_if:
    return parse_if(p);
  case VYRE_OP_for:
    return parse_for(p);
  case VYRE_OP_loop:
    return parse_loop(p);
  case VYRE_OP_block:
    return parse_block(p, NULL);
  case VYRE_OP_switch:
    return parse_switch(p, NULL);
  case VYRE_OP_return:
  case VYRE_OP_break:
  case VYRE_OP_continue:
  case VYRE_OP_leave:
  case VYRE_OP_fallthrough:
  case VYRE_OP_breakif:
  case VYRE_OP_trap: {
    uint32_t frame = p->frame_count - 1;
    good = op == VYRE_OP_return ? text_parse_return(p) : parse_jump(p, op);
    p->frames[frame].ended = true;
    return good;
  }
  default:
    return parse_other(p, op);
  }
}

static bool
parse_statement(text_parser *p)
{
  text_frame *frame = top_frame(p);
  text_token_kind kind = p->lexer.token.kind;
  if (text_is_mark(p, '}'))
    return close_region(p);
  if (frame->kind == FRAME_SWITCH)
    return parse_case(p);
  if (frame->ended) {
    text_error_token(p, NULL, "a statement cannot follow a jump in the same region");
    frame->ended = false;
  }
  if (kind == TOKEN_NAME || kind == TOKEN_NUMBERED)
    return parse_named(p);
  if (kind == TOKEN_WORD)
    return parse_word(p);
  if (kind == TOKEN_GLOBAL)
    return parse_plain(p, NULL);
  return text_expected(p, "a statement");
}

/* Sets the source position of the rows built from here on to the current token. */
static void
note_place(text_parser *p)
{
  const uint32_t *lines = p->lines.data, at = p->lexer.token.start;
  uint32_t low = 0, high = p->lines.count;
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    if (lines[middle] <= at)
      low = middle;
    else
      high = middle;
  }
  p->builder.scope = p->line_scope;
  p->builder.line = low + 1;
  p->builder.column = at - lines[low] + 1;
}

bool
text_parse_statements(text_parser *p, uint32_t base)
{
  while (p->frame_count > base && !p->stop) {
    if (p->lexer.token.kind == TOKEN_END) {
      text_error(p, top_frame(p)->at, 1, NULL, "the region that begins here does not end");
      return false;
    }
    if (p->lexer.token.first_on_line && (text_is_word(p, "program") || text_is_word(p, "func"))) {
      text_error(p, top_frame(p)->at, 1, NULL, "the region that begins here does not end before line %u",
                 text_line_of(p, p->lexer.token.start));
      p->frame_count = base;
      return false;
    }
    if (!p->in_body && top_frame(p)->kind == FRAME_PROGRAM)
      text_scan_top(p);
    if (p->lines.count)
      note_place(p);
    uint32_t cursor = p->lexer.token.start;
    uint32_t stack = p->stack.count;
    if (parse_statement(p) || p->stop)
      continue;
    p->stack.count = stack;
    if (p->lexer.token.start == cursor && !text_is_mark(p, '}') && p->lexer.token.kind != TOKEN_END && p->frame_count > base)
      text_lex(&p->lexer); /* guarantees progress */
    if (!text_is_mark(p, '}') && !p->lexer.token.first_on_line)
      skip_statement(p);
  }
  return !p->stop;
}
