/* Parses and prints opaque types and opaque rows, which store the words of their SPIR-V instruction:
 *
 *     spirv TypeImage(type f32, 1, 0, 0, 0, 2, 4)
 *     %v = opaque_read ImageRead(%image, %place, 64, 0i32) : f32x4
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "parser.h"
#include "ir/text/print/printer.h"
#include "vyre/opaque.h"

static const char *const mode_words[] = {"", "layout ", "block "};

/* ---- printing ---- */

/* Prints "?" for a type that is not older than its owner. Only an invalid module has one, and it could refer to itself. */
static void
put_mode_type(text_printer *t, vyre_type_id owner, uint32_t mode, vyre_type_id type)
{
  text_put_text(t, mode_words[mode <= VYRE_MODE_BLOCK ? mode : 0]);
  if (type < owner || type < 256)
    text_put_type(t, type);
  else
    text_put(t, "?", 1);
}

static void
put_name_of(text_printer *t, uint32_t opcode)
{
  const char *name = vyre_words_name(opcode);
  if (name)
    text_put_text(t, name);
  else
    text_put_number(t, opcode);
}

static void
put_composite(text_printer *t, vyre_type_id owner, uint32_t row, const vyre_member *word, uint32_t *next)
{
  const uint32_t leaves = row ? vyre_type_leaves(t->module, word->type) : 0;
  text_put_text(t, "make ");
  put_mode_type(t, owner, word->offset, word->type);
  text_put_text(t, " {");
  for (uint32_t k = 0; k < leaves && *next < t->view->rows; k++) {
    text_put_text(t, k ? ", " : " ");
    text_put_operand(t, vyre_opaque_operand(t->view, row, (*next)++));
  }
  text_put_text(t, " }");
}

static void
put_word(text_printer *t, vyre_type_id owner, uint32_t row, const vyre_member *word, uint32_t *next)
{
  switch ((vyre_word)word->access) {
  case VYRE_WORD_TYPE:
    text_put_text(t, "type ");
    put_mode_type(t, owner, word->offset, word->type);
    break;
  case VYRE_WORD_VALUE:
    if (word->type)
      put_composite(t, owner, row, word, next);
    else if (row)
      text_put_operand(t, vyre_opaque_operand(t->view, row, (*next)++));
    else
      text_put_text(t, "value");
    break;
  case VYRE_WORD_CONSTANT:
    text_put_text(t, "const ");
    text_put_literal(t, (vyre_type)word->type, word->offset);
    break;
  case VYRE_WORD_LENGTH:
    text_put_text(t, "length ");
    put_mode_type(t, owner, VYRE_MODE_BARE, word->type);
    break;
  case VYRE_WORD_STRIDE:
    text_put_text(t, "stride ");
    text_put_number(t, word->offset);
    break;
  case VYRE_WORD_SET:
  case VYRE_WORD_NAMED:
  case VYRE_WORD_STRING:
    text_put_text(t, word->access == VYRE_WORD_SET ? "set " : word->access == VYRE_WORD_NAMED ? "named " : "string ");
    text_put_quoted(t, vyre_string_text(t->module, word->name));
    break;
  default:
    text_put_number(t, word->offset);
    break;
  }
}

void
text_put_words(text_printer *t, vyre_type_id type, uint32_t row)
{
  const uint32_t words = vyre_type_get(t->module, type).count;
  uint32_t next = 0;
  put_name_of(t, vyre_type_get(t->module, type).flags);
  text_put(t, "(", 1);
  for (uint32_t i = 0; i < words; i++) {
    if (i)
      text_put(t, ", ", 2);
    put_word(t, type, row, &vyre_type_get(t->module, type).members[i], &next);
  }
  text_put(t, ")", 1);
}

void
text_put_opaque(text_printer *t, uint32_t row)
{
  const vyre_type_id type = t->view->imm[row];
  const vyre_type_info info = vyre_type_get(t->module, type);
  text_put(t, " ", 1);
  if (info.form != VYRE_FORM_WORDS) {
    text_put(t, "?", 1);
    return;
  }
  text_put_words(t, type, row);
  if (info.element) {
    text_put(t, " : ", 3);
    put_mode_type(t, type, info.stride, info.element);
  }
}

/* ---- parsing ---- */

typedef struct words_reader {
  vyre_member *words;
  uint32_t count, capacity;
  uint32_t opcode;
} words_reader;

static vyre_member *
add_word(text_parser *p, words_reader *r, vyre_word kind)
{
  if (!text_grow(p, &r->words, &r->capacity, r->count, sizeof(*r->words)))
    return NULL;
  r->words[r->count] = (vyre_member){.access = (uint32_t)kind};
  return &r->words[r->count++];
}

static bool
parse_mode_type(text_parser *p, uint32_t *out_mode, vyre_type_id *out)
{
  *out_mode = text_accept_word(p, "layout") ? VYRE_MODE_LAYOUT : text_accept_word(p, "block") ? VYRE_MODE_BLOCK : VYRE_MODE_BARE;
  return text_parse_type(p, out);
}

static bool
parse_operand(text_parser *p)
{
  text_operand operand;
  if (!text_parse_operand(p, &operand))
    return false;
  const uint32_t row = text_row_of(p, &operand);
  return text_push_word(p, &p->stack, row);
}

static bool
parse_composite(text_parser *p, vyre_member *word)
{
  uint32_t mode;
  vyre_type_id type;
  if (!parse_mode_type(p, &mode, &type) || !text_expect_mark(p, '{'))
    return false;
  word->type = type;
  word->offset = mode;
  while (!text_is_mark(p, '}'))
    if (!parse_operand(p) || (!text_accept_mark(p, ',') && !text_is_mark(p, '}')))
      return text_is_mark(p, '}') || text_expected(p, "',' or '}'");
  return text_expect_mark(p, '}');
}

static bool
is_integer(const text_parser *p)
{
  const text_token *token = &p->lexer.token;
  for (uint32_t i = 0; i < token->length; i++)
    if (p->lexer.text[token->start + i] < '0' || p->lexer.text[token->start + i] > '9')
      return false;
  return token->kind == TOKEN_NUMBER;
}

static bool
parse_string(text_parser *p, vyre_string *out)
{
  const text_token token = p->lexer.token;
  if (token.kind != TOKEN_STRING)
    return text_expected(p, "a name in quotes");
  *out = text_intern(p, token.name, token.name_length, token.escaped);
  text_lex(&p->lexer);
  return true;
}

/* Parses one word. If `is_type`, the word belongs to a type, which has no operands. */
static bool
parse_word(text_parser *p, words_reader *r, bool is_type)
{
  vyre_member *word = add_word(p, r, VYRE_WORD_LITERAL);
  vyre_type type;
  uint64_t bits;
  if (!word)
    return false;
  if (is_integer(p))
    return text_expect_integer(p, UINT32_MAX, &word->offset);
  if (text_accept_word(p, "type")) {
    uint32_t mode;
    vyre_type_id made; /* parsing the type may move r->words */
    const uint32_t index = r->count - 1;
    if (text_accept_word(p, "void")) {
      r->words[index].access = VYRE_WORD_TYPE;
      return true;
    }
    if (!parse_mode_type(p, &mode, &made))
      return false;
    r->words[index] = (vyre_member){.access = VYRE_WORD_TYPE, .type = made, .offset = mode};
    return true;
  }
  if (text_is_word(p, "const")) {
    text_lex(&p->lexer);
    if (!text_parse_literal(p, &type, &bits))
      return false;
    *word = (vyre_member){.access = VYRE_WORD_CONSTANT, .type = type, .offset = (uint32_t)bits};
    return true;
  }
  if (text_accept_word(p, "length")) {
    vyre_type_id array;
    const uint32_t index = r->count - 1; /* parsing the type may move r->words */
    const uint32_t start = p->lexer.token.start;
    if (!text_parse_type(p, &array))
      return false;
    r->words[index] = (vyre_member){.access = VYRE_WORD_LENGTH, .type = array};
    return vyre_type_get(p->module, array).count_row ||
           text_error(p, start, p->lexer.behind - start, NULL, "length needs an array whose length is a row");
  }
  if (is_type && text_accept_word(p, "stride")) {
    word->access = VYRE_WORD_STRIDE;
    return text_expect_integer(p, UINT32_MAX, &word->offset);
  }
  if (text_is_word(p, "set") || text_is_word(p, "named") || text_is_word(p, "string")) {
    word->access = text_is_word(p, "set") ? VYRE_WORD_SET : text_is_word(p, "named") ? VYRE_WORD_NAMED : VYRE_WORD_STRING;
    text_lex(&p->lexer);
    return parse_string(p, &word->name);
  }
  word->access = VYRE_WORD_VALUE;
  if (is_type && text_accept_word(p, "value"))
    return true;
  if (is_type)
    return text_expected(p, "a number, type, const, length, stride, set, named or string");
  return text_accept_word(p, "make") ? parse_composite(p, word) : parse_operand(p);
}

static bool
parse_words(text_parser *p, words_reader *r, bool is_type)
{
  const text_token name = p->lexer.token;
  if (name.kind == TOKEN_WORD) {
    r->opcode = vyre_words_find(p->lexer.text + name.start, name.length);
    if (r->opcode == UINT32_MAX)
      return text_error_token(p, NULL, "SPIR-V has no instruction Op%.*s", name.length < 60 ? (int)name.length : 60,
                              p->lexer.text + name.start);
    text_lex(&p->lexer);
  } else if (!text_expect_integer(p, UINT16_MAX, &r->opcode)) {
    return false;
  }
  if (!text_expect_mark(p, '('))
    return false;
  while (!text_is_mark(p, ')')) {
    if (!parse_word(p, r, is_type))
      return false;
    if (!text_accept_mark(p, ',') && !text_is_mark(p, ')'))
      return text_expected(p, "',' or ')'");
  }
  return text_expect_mark(p, ')');
}

static void
free_words(text_parser *p, words_reader *r)
{
  if (r->words)
    p->allocator->resize(p->allocator->user, r->words, r->capacity * sizeof(*r->words), 0);
}

bool
text_parse_words(text_parser *p, vyre_type_id *out)
{
  words_reader r = {0};
  if (p->depth >= TEXT_MAX_DEPTH)
    return text_error_token(p, NULL, "types nest deeper than %u", TEXT_MAX_DEPTH);
  p->depth++;
  bool good = parse_words(p, &r, true);
  p->depth--;
  if (good) {
    *out = vyre_type_words(p->module, r.opcode, 0, VYRE_MODE_BARE, r.words, r.count);
    if (!*out)
      text_no_memory(p);
  }
  free_words(p, &r);
  return good && !p->stop;
}

bool
text_parse_opaque(text_parser *p, vyre_opcode op, uint32_t flags, text_operand *out)
{
  words_reader r = {0};
  const uint32_t base = p->stack.count, start = out->start;
  uint32_t mode = VYRE_MODE_BARE;
  vyre_type_id result = 0;
  bool good = parse_words(p, &r, false);
  if (good && text_accept_mark(p, ':'))
    good = parse_mode_type(p, &mode, &result);
  if (good) {
    const uint32_t count = p->stack.count - base;
    out->length = p->lexer.behind - start;
    const vyre_type_id type = vyre_type_words(p->module, r.opcode, result, (vyre_mode)mode, r.words, r.count);
    for (uint32_t k = 0; k < count; k++)
      out->bad |= p->stack.data[base + k] == 0;
    if (!type)
      text_no_memory(p);
    if (vyre_words_operands(p->module, type) != count)
      out->bad = !text_error(p, start, out->length, NULL, "the number of parts does not match the type of a composite");
    vyre_row *rows = p->allocator->resize(p->allocator->user, NULL, 0, (count + 1) * sizeof(*rows));
    for (uint32_t k = 0; rows && k < count; k++)
      rows[k].id = p->stack.data[base + k];
    if (!rows)
      text_no_memory(p);
    if (!out->bad && rows && type) {
      out->row = vyre_build_opaque(&p->builder, op, type, rows, count, flags).id;
      out->fresh = true;
      out->type = out->row ? text_type_of(p, out->row) : VYRE_VOID;
    }
    if (rows)
      p->allocator->resize(p->allocator->user, rows, (count + 1) * sizeof(*rows), 0);
  }
  p->stack.count = base;
  free_words(p, &r);
  return good && !p->stop;
}
