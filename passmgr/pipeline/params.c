/* Parses parameters, `<factor=4;quiet;fast>`, by a schema.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "pipeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "base/suggest.h"

typedef enum value_kind { VALUE_ATOM, VALUE_STRING } value_kind;

typedef struct value {
  value_kind kind;
  size_t at, length; /* in the text, with quotes */
} value;

typedef struct reading {
  vyre_parser *parser;
  const vyre_schema *schema;
  uint64_t *values;
  bool *seen;
} reading;

static bool
is_letter(int c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool
is_digit(int c)
{
  return c >= '0' && c <= '9';
}

bool
vyre_is_atom(int c)
{
  return is_letter(c) || is_digit(c) || (c > 0 && strchr("_.+:/%-", c) != NULL);
}

static int
shown(size_t length)
{
  return length > 100 ? 100 : (int)length;
}

/* ---- texts of values ----------------------------------------------------------------------------------------------------- */

static void
read_atom(vyre_parser *p, value *out)
{
  *out = (value){VALUE_ATOM, p->at, 0};
  while (vyre_is_atom(vyre_parser_peek(p)))
    p->at++;
  out->length = p->at - out->at;
}

static vyre_status
read_string(vyre_parser *p, value *out)
{
  size_t start = p->at++;
  for (;;) {
    int c = vyre_parser_peek(p);
    if (c < 0 || c == '\n')
      return vyre_parser_fail(p, start, 1, "Fix: end the string with a quote", "the string has no closing quote");
    p->at++;
    if (c == '"')
      break;
    if (c == '\\') {
      c = vyre_parser_peek(p);
      if (c <= 0 || !strchr("\"\\nt", c))
        return vyre_parser_fail(p, p->at - 1, c < 0 ? 1 : 2, "Fix: write \\\\ for a backslash",
                                "only \\\", \\\\, \\n and \\t are escapes");
      p->at++;
    }
  }
  *out = (value){VALUE_STRING, start, p->at - start};
  return VYRE_OK;
}

static vyre_status
read_value(vyre_parser *p, value *out)
{
  int c = vyre_parser_peek(p);
  if (c == '"')
    return read_string(p, out);
  if (!vyre_is_atom(c))
    return vyre_parser_fail(p, p->at, 1, "Fix: write a number, a word or a string in quotes", "expected a value");
  read_atom(p, out);
  return VYRE_OK;
}

/* Returns whether the value, with its escapes replaced, is that word. */
static bool
value_is(const vyre_parser *p, const value *v, const char *word, size_t length)
{
  const char *text = p->text + v->at;
  if (v->kind == VALUE_ATOM)
    return v->length == length && memcmp(text, word, length) == 0;
  size_t k = 0;
  for (size_t i = 1; i + 1 < v->length; i++, k++) {
    char c = text[i];
    if (c == '\\') {
      c = text[++i];
      c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
    }
    if (k >= length || word[k] != c)
      return false;
  }
  return k == length;
}

/* ---- values by schema ---------------------------------------------------------------------------------------------------- */

/* Parses a decimal or hexadecimal number.  Returns false if it is not a number or exceeds 64 bits. */
static bool
parse_number(const char *text, size_t length, uint64_t *out)
{
  unsigned base = 10;
  size_t i = 0;
  if (length > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    base = 16;
    i = 2;
  }
  uint64_t number = 0;
  if (i == length)
    return false;
  for (; i < length; i++) {
    char c = text[i];
    unsigned digit = is_digit(c)            ? (unsigned)(c - '0')
                     : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                     : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                            : 99;
    if (digit >= base || number > (UINT64_MAX - digit) / base)
      return false;
    number = number * base + digit;
  }
  *out = number;
  return true;
}

/* Returns the index of the value among words such as "fast|small", or UINT32_MAX. */
static uint32_t
word_index(const vyre_parser *p, const value *v, const char *words)
{
  for (uint32_t index = 0;; index++) {
    size_t length = strcspn(words, "|");
    if (value_is(p, v, words, length))
      return index;
    if (!words[length])
      return UINT32_MAX;
    words += length + 1;
  }
}

/* Keeps the value, with its escapes replaced, in the pipeline.  *out is its offset there. */
static vyre_status
keep_text(const reading *r, const value *v, uint64_t *out)
{
  const char *text = r->parser->text + v->at;
  vyre_pipeline *pipeline = r->parser->pipeline;
  const size_t quotes = v->kind == VALUE_STRING, end = v->length - quotes;
  *out = 0;
  if (memchr(text, 0, v->length))
    return vyre_parser_fail(r->parser, v->at, 1, "Fix: remove the zero byte", "a text cannot contain a zero byte");
  if (end == quotes)
    return VYRE_OK;
  if (!vyre_grow(&pipeline->allocator, &pipeline->texts, &pipeline->text_capacity, pipeline->text_size + (uint32_t)v->length + 2,
                 1))
    return VYRE_OUT_OF_MEMORY("for the pipeline");
  if (pipeline->text_size == 0)
    pipeline->texts[pipeline->text_size++] = '\0';
  *out = pipeline->text_size;
  for (size_t i = quotes; i < end; i++) {
    char c = text[i];
    if (c == '\\' && quotes) {
      c = text[++i];
      c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
    }
    pipeline->texts[pipeline->text_size++] = c;
  }
  pipeline->texts[pipeline->text_size++] = '\0';
  return VYRE_OK;
}

static vyre_status
store(const reading *r, uint32_t index, const value *at, uint64_t number)
{
  if (r->seen[index])
    return vyre_parser_fail(r->parser, at->at, at->length, "Fix: give it once", "parameter '%s' is given twice",
                            r->schema->params[index].name);
  r->seen[index] = true;
  r->values[index] = number;
  return VYRE_OK;
}

static vyre_status
store_value(const reading *r, uint32_t index, const value *key, const value *v)
{
  vyre_parser *p = r->parser;
  const vyre_param *param = &r->schema->params[index];
  const char *text = p->text + v->at;
  uint64_t number = 0;
  uint32_t word;
  switch (param->type) {
  case VYRE_PARAM_FLAG:
    if (!value_is(p, v, "true", 4) && !value_is(p, v, "false", 5))
      return vyre_parser_fail(p, v->at, v->length, "Fix: write true or false", "'%s' is a flag: use true or false, not '%.*s'",
                              param->name, shown(v->length), text);
    return store(r, index, key, value_is(p, v, "true", 4));
  case VYRE_PARAM_UINT:
    if (v->kind != VALUE_ATOM || !parse_number(text, v->length, &number) || number < param->minimum || number > param->maximum)
      return vyre_parser_fail(p, v->at, v->length, "Fix: give a number in this range",
                              "'%s' must be a number from %" PRIu64 " to %" PRIu64 ", not '%.*s'", param->name, param->minimum,
                              param->maximum, shown(v->length), text);
    return store(r, index, key, number);
  case VYRE_PARAM_TEXT:
    VYRE_TRY(keep_text(r, v, &number));
    return store(r, index, key, number);
  default:
    word = word_index(p, v, param->words);
    if (word == UINT32_MAX)
      return vyre_parser_fail(p, v->at, v->length, "Fix: use one of these words", "'%s' must be one of %s, not '%.*s'", param->name,
                              param->words, shown(v->length), text);
    return store(r, index, key, word);
  }
}

static vyre_status
unknown_key(const reading *r, const value *key)
{
  vyre_parser *p = r->parser;
  const vyre_schema *schema = r->schema;
  const char *text = p->text + key->at;
  int length = shown(key->length);
  if (strcmp(schema->name, "print") == 0 && value_is(p, key, "to", 2))
    return vyre_parser_fail(p, key->at, key->length, "Fix: leave it out",
                            "parameter 'to' of pass 'print' is not available in this version");
  if (schema->count == 0)
    return vyre_parser_fail(p, key->at, key->length, "Fix: remove the parameters and their brackets", "%s '%s' has no parameters",
                            schema->kind, schema->name);
  vyre_suggestion near = {.word = text, .length = key->length};
  char names[512] = "Fix: its parameters are";
  size_t used = strlen(names);
  for (uint32_t i = 0; i < schema->count; i++) {
    vyre_suggest(&near, schema->params[i].name);
    used += (size_t)snprintf(names + used, sizeof(names) - used, "%s %s", i ? "," : "", schema->params[i].name);
    if (used > sizeof(names) - 80) {
      snprintf(names + used, sizeof(names) - used, ", and more: see vyre-passmgr -help-pass=%.40s", schema->name);
      break;
    }
  }
  if (near.best)
    return vyre_parser_fail(p, key->at, key->length, names, "%s '%s' has no parameter '%.*s'; did you mean '%s'?", schema->kind,
                            schema->name, length, text, near.best);
  return vyre_parser_fail(p, key->at, key->length, names, "%s '%s' has no parameter '%.*s'", schema->kind, schema->name, length,
                          text);
}

static uint32_t
find_param(const reading *r, const char *name, size_t length)
{
  for (uint32_t i = 0; i < r->schema->count; i++)
    if (strncmp(r->schema->params[i].name, name, length) == 0 && r->schema->params[i].name[length] == '\0')
      return i;
  return UINT32_MAX;
}

/* Stores a parameter without a value: a flag, `no-` and a flag, a word of the first parameter that has the word, or a number for
 * the first parameter that is a number. */
static vyre_status
store_bare(const reading *r, const value *v)
{
  vyre_parser *p = r->parser;
  const char *text = p->text + v->at;
  if (v->kind == VALUE_ATOM) {
    uint32_t index = find_param(r, text, v->length);
    if (index != UINT32_MAX && r->schema->params[index].type != VYRE_PARAM_FLAG)
      return vyre_parser_fail(p, v->at + v->length, 1, "Fix: write = and the value after the name", "parameter '%s' needs a value",
                              r->schema->params[index].name);
    if (index != UINT32_MAX)
      return store(r, index, v, 1);
    if (v->length > 3 && memcmp(text, "no-", 3) == 0) {
      index = find_param(r, text + 3, v->length - 3);
      if (index != UINT32_MAX && r->schema->params[index].type == VYRE_PARAM_FLAG)
        return store(r, index, v, 0);
    }
  }
  const size_t sign = text[0] == '-' || text[0] == '+';
  const bool is_number = v->kind == VALUE_ATOM && v->length > sign && is_digit(text[sign]);
  for (uint32_t i = 0; i < r->schema->count; i++) {
    const vyre_param *param = &r->schema->params[i];
    if (param->type == VYRE_PARAM_WORD && word_index(p, v, param->words) != UINT32_MAX)
      return store_value(r, i, v, v);
    if (param->type == VYRE_PARAM_UINT && is_number)
      return store_value(r, i, v, v);
  }
  return unknown_key(r, v);
}

static vyre_status
read_param(const reading *r)
{
  vyre_parser *p = r->parser;
  value key, v;
  char found[16];
  int c = vyre_parser_peek(p);
  if (!vyre_is_atom(c) && c != '"' && c != '[')
    return vyre_parser_fail(p, p->at, 1, "Fix: write NAME=VALUE, or end the parameters with >",
                            "expected a parameter or '>', found %s", vyre_parser_found(p, found));
  VYRE_TRY(read_value(p, &key));
  vyre_parser_skip_blanks(p);
  if (vyre_parser_peek(p) != '=')
    return store_bare(r, &key);
  if (key.kind != VALUE_ATOM || !is_letter((unsigned char)p->text[key.at]))
    return vyre_parser_fail(p, key.at, key.length, "Fix: write NAME=VALUE", "a parameter's name starts with a letter");
  p->at++;
  vyre_parser_skip_blanks(p);
  VYRE_TRY(read_value(p, &v));
  uint32_t index = find_param(r, p->text + key.at, key.length);
  if (index == UINT32_MAX)
    return unknown_key(r, &key);
  return store_value(r, index, &key, &v);
}

vyre_status
vyre_parse_params(vyre_parser *parser, const vyre_schema *schema, uint64_t *values, bool *seen)
{
  const reading r = {parser, schema, values, seen};
  char found[16];
  vyre_parser_skip_blanks(parser);
  while (vyre_parser_peek(parser) != '>') {
    VYRE_TRY(read_param(&r));
    vyre_parser_skip_blanks(parser);
    int c = vyre_parser_peek(parser);
    if (c == ';' || c == ',')
      parser->at++;
    else if (c != '>')
      return vyre_parser_fail(parser, parser->at, 1, "Fix: separate parameters by ; and end them with >",
                              "expected ';' or '>', found %s", vyre_parser_found(parser, found));
    vyre_parser_skip_blanks(parser);
  }
  parser->at++;
  return VYRE_OK;
}
