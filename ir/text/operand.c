/* Parses operands: names, literals, paths, lanes and nested expressions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "literal.h"
#include "parser.h"

#include <stdio.h>
#include <string.h>

static const char *
token_text(const text_parser *p, const text_token *token)
{
  return p->lexer.text + token->start;
}

static int
shown_length(uint32_t length)
{
  return length < 60 ? (int)length : 60;
}

/* ---- descriptions for messages ---- */

const char *
text_describe(const text_parser *p, const text_operand *operand, char out[160])
{
  char type[96];
  uint32_t op = operand->literal ? (uint32_t)VYRE_OP_const : VYRE_ROW_OP(p->view->op[operand->row]);
  vyre_kind kind = VYRE_TYPE_KIND(operand->type);
  if (op == VYRE_OP_var)
    snprintf(out, 160, "a var of %s", vyre_text_type(operand->type, type));
  else if (kind == VYRE_PATH)
    snprintf(out, 160, "a location in memory (%s)",
             text_describe_type(p, vyre_path_type(p->module, (vyre_row){operand->row}), type));
  else if (kind == VYRE_TUPLE)
    snprintf(out, 160, "a tuple of %u", VYRE_TUPLE_COUNT(p->view->imm[operand->row]));
  else if (kind == VYRE_VOID || kind > VYRE_PATH)
    snprintf(out, 160, "a %s", op < VYRE_OP__COUNT && vyre_op_infos[op].text ? vyre_op_infos[op].text : "row");
  else
    snprintf(out, 160, "%s", vyre_text_type(operand->type, type));
  return out;
}

void
text_require_value(text_parser *p, text_operand *operand)
{
  if (operand->bad || operand->literal)
    return;
  vyre_kind kind = VYRE_TYPE_KIND(operand->type);
  bool is_var = VYRE_ROW_OP(p->view->op[operand->row]) == VYRE_OP_var;
  if (!is_var && (vyre_kind_is_scalar(kind) || kind == VYRE_OPAQUE))
    return;
  char text[160];
  const char *fix = is_var               ? "read the var with get"
                    : kind == VYRE_PATH  ? "load it first"
                    : kind == VYRE_TUPLE ? "read a part of it with part"
                                         : NULL;
  text_error(p, operand->start, operand->length, fix, "expected a value, but '%.*s' is %s", shown_length(operand->length),
             p->lexer.text + operand->start, text_describe(p, operand, text));
  operand->bad = true;
}

uint32_t
text_row_of(text_parser *p, text_operand *operand)
{
  if (operand->bad)
    return 0;
  if (operand->literal) {
    operand->row = vyre_build_const(&p->builder, operand->type, operand->bits).id;
    operand->literal = false;
    if (!operand->row)
      text_no_memory(p);
  }
  return operand->row;
}

/* ---- names ---- */

bool
text_is_open(const text_parser *p, uint32_t region)
{
  if (region == p->builder.region)
    return true;
  uint32_t low = 0, high = p->frame_count; /* regions of inner frames have greater rows */
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (p->frames[middle].region < region)
      low = middle + 1;
    else
      high = middle;
  }
  return low < p->frame_count && p->frames[low].region == region;
}

static bool
is_visible(const text_parser *p, uint32_t row)
{
  return text_is_open(p, VYRE_ROW_OP(p->view->op[row]) == VYRE_OP_body ? row : p->view->parent[row]);
}

/* Returns whether a row number is stored in the `numbers` array. Numbers that would make it sparse are stored like names. */
static bool
is_dense(const text_parser *p, const text_token *token)
{
  return token->kind == TOKEN_NUMBERED && p->scope == p->program_scope && token->number / 4 < p->view->rows + 256;
}

void
text_define(text_parser *p, const text_token *name, uint32_t row)
{
  const char *text = p->lexer.text;
  text_symbol *known = text_symbols_find(&p->names, p->scope, text + name->name, name->name_length);
  text_words *numbers = &p->numbers;
  bool dense = is_dense(p, name);
  uint32_t earlier = dense && name->number < numbers->count ? numbers->data[name->number] : 0;
  if (known || (earlier > p->program && earlier < p->view->rows)) {
    if (known)
      text_error(p, name->start, name->length, "use another name, or a var for a value that changes",
                 "%.*s is defined twice, first in line %u", shown_length(name->length), text + name->start,
                 text_line_of(p, known->at));
    else
      text_error(p, name->start, name->length, "use another name, or a var for a value that changes", "%.*s is defined twice",
                 shown_length(name->length), text + name->start);
    return;
  }
  if (name->name_length > UINT16_MAX) {
    text_error(p, name->start, 60, NULL, "the name has %u bytes, but the limit is 65535", name->name_length);
    return;
  }
  if (dense && row) {
    while (name->number >= numbers->count && !p->stop)
      text_push_word(p, numbers, 0);
    if (!p->stop)
      numbers->data[name->number] = row;
  } else if (!text_symbols_add(&p->names, p->scope, name->name, name->name_length, row)) {
    text_no_memory(p);
  }
}

uint32_t
text_find_row(text_parser *p)
{
  const text_token *token = &p->lexer.token;
  const char *text = p->lexer.text;
  uint32_t row = 0;
  if (is_dense(p, token) && token->number < p->numbers.count)
    row = p->numbers.data[token->number];
  if (row <= p->program || row >= p->view->rows) { /* 0, or a row of an earlier program */
    const text_symbol *symbol = text_symbols_find(&p->names, p->scope, text + token->name, token->name_length);
    if (!symbol) {
      char fix[96];
      uint32_t length;
      const char *near = text_symbols_nearest(&p->names, p->scope, text + token->name, token->name_length, &length);
      text_error_token(p, text_suggest(fix, "%", near, length), "%.*s is not defined", shown_length(token->length),
                       token_text(p, token));
      return 0;
    }
    row = symbol->value;
    if (row == 0)
      return 0;
  }
  if (!is_visible(p, row)) {
    text_error_token(p, "pass the value out of its region in a var", "%.*s is not visible here: its region has ended",
                     shown_length(token->length), token_text(p, token));
    return 0;
  }
  return row;
}

/* ---- literals ---- */

static bool
report_literal(text_parser *p, text_literal_problem problem, const text_literal *literal)
{
  const text_token *token = &p->lexer.token;
  const char *text = token_text(p, token);
  int length = shown_length(token->length);
  char fix[96];
  char type[48];
  bool is_float = memchr(text, '.', token->length) || memchr(text, 'n', token->length) ||
                  (memchr(text, 'e', token->length) && !memchr(text, 'x', token->length)) || memchr(text, 'p', token->length);
  switch (problem) {
  case LITERAL_NO_TYPE:
    snprintf(fix, sizeof(fix), "write %.*s%s", length < 40 ? length : 40, text, is_float ? "f32" : "u32");
    return text_error_token(p, fix, "the literal %.*s has no type", length, text);
  case LITERAL_BAD_TYPE:
    return text_error(p, token->start + literal->type_start, token->length - literal->type_start,
                      "use a type such as u32, f32 or bool, with x2 to x4 for lanes", "'%.*s' is not a scalar or vector type",
                      shown_length(token->length - literal->type_start), text + literal->type_start);
  case LITERAL_FRACTION:
    return text_error_token(p, "use a float type such as f32", "the integer %.*s has a fraction or exponent", length, text);
  case LITERAL_RANGE:
    vyre_text_type(VYRE_TYPE(VYRE_TYPE_KIND(literal->type), 1), type);
    return text_error_token(p, NULL, "%.*s is out of range: %s ranges from %s", length, text, type,
                            text_range(VYRE_TYPE_KIND(literal->type)));
  case LITERAL_LONG:
    return text_error_token(p, NULL, "the number has %u bytes, but the limit is %u", token->length, TEXT_MAX_NUMBER);
  case LITERAL_NAN_BITS:
    return text_error_token(p, "write nan(0x7fc00000)f32, for example", "the bits of %.*s do not encode a NaN", length, text);
  case LITERAL_BAD_NUMBER:
  case LITERAL_GOOD:
    break;
  }
  return text_error_token(p, NULL, "'%.*s' is not a literal", length, text);
}

bool
text_parse_literal(text_parser *p, vyre_type *out_type, uint64_t *out_bits)
{
  const text_token *token = &p->lexer.token;
  text_literal literal;
  *out_type = 0;
  *out_bits = 0;
  if (token->kind != TOKEN_NUMBER && token->kind != TOKEN_WORD)
    return text_expected(p, "a literal");
  text_literal_problem problem = text_read_literal(token_text(p, token), token->length, &literal);
  if (problem != LITERAL_GOOD) {
    report_literal(p, problem, &literal);
    if (token->kind != TOKEN_NUMBER)
      return false;
  } else {
    *out_type = literal.type;
    *out_bits = literal.bits;
  }
  text_lex(&p->lexer);
  return true;
}

bool
text_parse_scalar_type(text_parser *p, vyre_type *out)
{
  const text_token *token = &p->lexer.token;
  *out = token->kind == TOKEN_WORD ? text_read_type(token_text(p, token), token->length) : 0;
  if (!*out)
    return text_expected(p, "a type like u32 or f32x4");
  text_lex(&p->lexer);
  return true;
}

/* ---- steps after a dot or in brackets ---- */

static void
add_step(text_parser *p, text_operand *path, uint32_t literal, uint32_t index, vyre_type_id type)
{
  uint32_t flags = index ? 0 : VYRE_ROW_IMM;
  path->row = vyre_build(&p->builder, VYRE_OP_at, VYRE_TYPE(VYRE_PATH, 1), flags, literal, type, (vyre_row){path->row},
                         (vyre_row){index}, VYRE_NONE)
                  .id;
  path->fresh = true;
  if (!path->row)
    text_no_memory(p);
}

static uint32_t
lane_of(const char *text, uint32_t length)
{
  static const char lanes[] = "xyzw";
  const char *lane = length == 1 ? strchr(lanes, text[0]) : NULL;
  return lane ? (uint32_t)(lane - lanes) : UINT32_MAX;
}

/* Appends the step `.name` or `.x` to a path. */
static void
step_by_name(text_parser *p, text_operand *path, const text_token *name)
{
  vyre_type_id type = vyre_path_type(p->module, (vyre_row){path->row});
  vyre_type_info info = vyre_type_get(p->module, type);
  bool quoted = name->kind == TOKEN_STRING;
  const char *text = p->lexer.text + (quoted ? name->name : name->start);
  uint32_t length = quoted ? name->name_length : name->length;
  uint32_t member = UINT32_MAX;
  char fix[96];
  char described[96];
  text_describe_type(p, type, described);
  if (info.form == VYRE_FORM_STRUCT) {
    member = text_find_member(p, type, text, length);
    uint32_t near_length = 0;
    const char *near = member == UINT32_MAX ? text_symbols_nearest(&p->members, type, text, length, &near_length) : NULL;
    if (member == UINT32_MAX)
      text_error(p, name->start, name->length, text_suggest(fix, ".", near, near_length), "%s has no member '%.*s'", described,
                 shown_length(length), text);
  } else if (info.form == VYRE_FORM_VALUE && lane_of(text, length) < info.count && info.count > 1) {
    member = lane_of(text, length);
  } else {
    text_error(p, name->start, name->length, NULL, "%s has no '%.*s'", described, shown_length(length), text);
  }
  path->bad = member == UINT32_MAX;
  if (!path->bad)
    add_step(p, path, member, 0, vyre_type_step(p->module, type, member));
}

/* Appends the step `[3]` or `[%i]` to a path. */
static void
step_by_index(text_parser *p, text_operand *path, text_operand *index)
{
  vyre_type_id type = vyre_path_type(p->module, (vyre_row){path->row});
  vyre_type_info info = vyre_type_get(p->module, type);
  char text[96];
  bool is_literal = index->literal;
  text_describe_type(p, type, text);
  text_require_value(p, index);
  path->bad = index->bad;
  if (path->bad)
    return;
  bool steps = info.form != VYRE_FORM_WORDS && (info.form != VYRE_FORM_VALUE || info.count > 1);
  bool is_index = index->type == VYRE_TYPE(VYRE_U32, 1) || index->type == VYRE_TYPE(VYRE_I32, 1);
  char described[160];
  if (!steps) {
    path->bad = !text_error(p, index->start, index->length, NULL, "%s has no elements", text);
  } else if (!is_index) {
    path->bad = !text_error(p, index->start, index->length, NULL, "an index must be u32 or i32, but is %s",
                            text_describe(p, index, described));
  } else if (!is_literal && (info.form == VYRE_FORM_STRUCT || info.form == VYRE_FORM_MATRIX)) {
    path->bad = !text_error(p, index->start, index->length, NULL, "a %s of %s can only be selected by a number",
                            info.form == VYRE_FORM_STRUCT ? "member" : "column", text);
  } else if (is_literal && (info.form == VYRE_FORM_STRUCT || info.form == VYRE_FORM_MATRIX) && index->bits >= info.count) {
    path->bad = !text_error(p, index->start, index->length, NULL, "%s ends at [%u]", text, info.count - 1);
  } else if (is_literal) { /* elements and lanes may be out of bounds, as when a pass replaced an index by a literal */
    add_step(p, path, (uint32_t)index->bits, 0, vyre_type_step(p->module, type, (uint32_t)index->bits));
  } else {
    add_step(p, path, 0, index->row, vyre_type_step(p->module, type, 0));
  }
}

/* Parses an index between brackets: a number without a type, or any operand. */
static bool
parse_index(text_parser *p, text_operand *out)
{
  const text_token *token = &p->lexer.token;
  text_literal literal;
  bool bare = token->kind == TOKEN_NUMBER && text_read_literal(token_text(p, token), token->length, &literal) == LITERAL_NO_TYPE;
  if (!bare)
    return text_parse_operand(p, out);
  uint32_t value;
  *out = (text_operand){.literal = true, .type = VYRE_TYPE(VYRE_U32, 1), .start = token->start, .length = token->length};
  if (!text_expect_integer(p, UINT32_MAX, &value))
    return false;
  out->bits = value;
  return true;
}

/* Builds the lane `.x` of a value. */
static void
build_value_lane(text_parser *p, text_operand *value, const text_token *name)
{
  text_require_value(p, value);
  if (value->bad)
    return;
  uint32_t lane = lane_of(p->lexer.text + name->start, name->length);
  uint32_t lanes = VYRE_TYPE_LANES(value->type);
  char text[48];
  if (lane >= lanes || lanes == 1) {
    value->bad = !text_error(
        p, name->start, name->length, lane > 3 && lanes > 1 ? "use one of x, y, z, w, or shuffle for several lanes" : NULL,
        "%s has no lane '%.*s'", vyre_text_type(value->type, text), shown_length(name->length), p->lexer.text + name->start);
    return;
  }
  uint32_t row = text_row_of(p, value);
  value->type = VYRE_TYPE(VYRE_TYPE_KIND(value->type), 1);
  value->row = vyre_build_lane(&p->builder, (vyre_row){row}, lane).id;
  value->fresh = true;
  if (!value->row)
    text_no_memory(p);
}

/* Parses the steps after an operand. The kind of the operand decides between a path's step and a value's lane. */
static bool
parse_steps(text_parser *p, text_operand *out)
{
  for (;;) {
    bool is_path = !out->literal && !out->bad && VYRE_TYPE_KIND(out->type) == VYRE_PATH;
    if (text_accept_mark(p, '.')) {
      text_token name = p->lexer.token;
      if (name.kind != TOKEN_WORD && name.kind != TOKEN_STRING)
        return text_expected(p, "a member or lane");
      text_lex(&p->lexer);
      if (is_path)
        step_by_name(p, out, &name);
      else if (!out->bad)
        build_value_lane(p, out, &name);
    } else if (text_is_mark(p, '[') && (is_path || out->bad || !p->lexer.token.first_on_line)) {
      text_lex(&p->lexer);
      text_operand index;
      if (!parse_index(p, &index) || !text_expect_mark(p, ']'))
        return false;
      if (is_path) {
        step_by_index(p, out, &index);
      } else if (!out->bad) {
        char text[160];
        out->bad = !text_error(p, out->start, out->length, "use lane to select a lane by a value",
                               "'%.*s' is %s: only locations in memory have elements", shown_length(out->length),
                               p->lexer.text + out->start, text_describe(p, out, text));
      }
    } else {
      return true;
    }
    out->length = p->lexer.behind - out->start;
  }
}

/* ---- operands ---- */

static bool
report_unknown_op(text_parser *p)
{
  const text_token *token = &p->lexer.token;
  const char *text = token_text(p, token);
  const char *nearest = NULL;
  if (text_symbols_find(&p->names, p->scope, text, token->length))
    return text_error_token(p, "names of rows begin with %", "unknown op '%.*s'", shown_length(token->length), text);
  uint32_t best = text_near_limit(token->length) + 1;
  for (uint32_t op = 1; op < VYRE_OP__COUNT; op++) {
    const char *name = vyre_op_infos[op].text;
    if (!name)
      continue;
    uint32_t distance = text_distance(text, token->length, name, (uint32_t)strlen(name), best);
    bool alike = nearest && distance == best &&
                 text_common(text, token->length, name, (uint32_t)strlen(name)) >
                     text_common(text, token->length, nearest, (uint32_t)strlen(nearest));
    if ((distance >= best && !alike) || distance >= token->length)
      continue;
    best = distance;
    nearest = name;
  }
  char fix[96];
  return text_error_token(p, nearest ? text_suggest(fix, "", nearest, (uint32_t)strlen(nearest)) : NULL, "unknown op '%.*s'",
                          shown_length(token->length), text);
}

static bool
parse_primary(text_parser *p, bool is_statement, text_operand *out)
{
  const text_token *token = &p->lexer.token;
  switch (token->kind) {
  case TOKEN_NAME:
  case TOKEN_NUMBERED:
    out->row = text_find_row(p);
    out->bad = out->row == 0;
    out->type = out->bad ? VYRE_VOID : text_type_of(p, out->row);
    text_lex(&p->lexer);
    return true;
  case TOKEN_NUMBER:
    out->literal = true;
    if (!text_parse_literal(p, &out->type, &out->bits))
      return false;
    out->bad = out->type == 0;
    return true;
  case TOKEN_GLOBAL:
    return text_parse_call(p, is_statement, out);
  case TOKEN_WORD: {
    vyre_opcode op = text_op_at(p, token);
    if (op != VYRE_OP_null)
      return text_parse_op(p, op, is_statement, out);
    if (text_is_bf16(p))
      return text_parse_bf16(p, out);
    text_literal literal;
    if (text_read_literal(token_text(p, token), token->length, &literal) == LITERAL_BAD_NUMBER)
      return report_unknown_op(p);
    out->literal = true;
    return text_parse_literal(p, &out->type, &out->bits);
  }
  case TOKEN_END:
  case TOKEN_STRING:
  case TOKEN_ARROW:
  case TOKEN_MARK:
  case TOKEN_BAD:
    break;
  }
  return text_expected(p, "a value");
}

static bool
parse_any(text_parser *p, bool is_statement, text_operand *out)
{
  *out = (text_operand){.start = p->lexer.token.start};
  if (p->depth >= TEXT_MAX_DEPTH)
    return text_error_token(p, "name the inner expressions", "expressions nest deeper than %u", TEXT_MAX_DEPTH);
  p->depth++;
  bool good = parse_primary(p, is_statement, out);
  out->length = p->lexer.behind - out->start;
  good = good && parse_steps(p, out);
  p->depth--;
  return good && !p->stop;
}

bool
text_parse_operand(text_parser *p, text_operand *out)
{
  return parse_any(p, false, out);
}

bool
text_parse_value(text_parser *p, text_operand *out)
{
  return parse_any(p, true, out);
}
