/* Parses memory types and structs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "memory.h"

#include "literal.h"
#include "parser.h"

#include <stdio.h>
#include <string.h>

const char *const text_space_words[VYRE_SPACE__COUNT] = {"storage", "uniform",  "push",  "workgroup",
                                                         "private", "constant", "handle"};

const text_bit_word text_access_words[] = {
    {"ro", VYRE_ACCESS_NO_WRITE},       {"wo", VYRE_ACCESS_NO_READ},
    {"coherent", VYRE_ACCESS_COHERENT}, {"volatile", VYRE_ACCESS_VOLATILE},
    {"restrict", VYRE_ACCESS_RESTRICT}, {"aliased", VYRE_ACCESS_ALIASED},
    {"unset", VYRE_ACCESS_UNSET},       {NULL, 0},
};

#define MAX_DIMENSIONS 32u

/* ---- descriptions for messages ---- */

const char *
text_describe_type(const text_parser *p, vyre_type_id type, char out[96])
{
  vyre_type_id element = type;
  vyre_type_info info = vyre_type_get(p->module, element);
  char value[48];
  while (info.form == VYRE_FORM_ARRAY) {
    element = info.element;
    info = vyre_type_get(p->module, element);
  }
  int size = 0;
  if (info.form == VYRE_FORM_VALUE)
    size = snprintf(out, 96, "%s", vyre_text_type((vyre_type)element, value));
  else if (info.form == VYRE_FORM_WORDS)
    size = snprintf(out, 96, "an opaque type");
  else if (info.form == VYRE_FORM_MATRIX)
    size = snprintf(out, 96, "mat%u(%s)", info.count, vyre_text_type((vyre_type)info.element, value));
  else
    size = snprintf(out, 96, "@%.40s", vyre_string_text(p->module, info.name));
  for (info = vyre_type_get(p->module, type); info.form == VYRE_FORM_ARRAY && size < 80;
       info = vyre_type_get(p->module, info.element)) {
    if (info.count_row)
      size += snprintf(out + size, 96 - (size_t)size, "[%%]");
    else if (info.flags & VYRE_TYPE_RUNTIME)
      size += snprintf(out + size, 96 - (size_t)size, "[]");
    else
      size += snprintf(out + size, 96 - (size_t)size, "[%u]", info.count);
  }
  return out;
}

vyre_string
text_intern(text_parser *p, uint32_t at, uint32_t length, bool escaped)
{
  const char *text = p->lexer.text + at;
  if (!escaped)
    return vyre_string_intern(p->module, text, length);
  char *plain = p->allocator->resize(p->allocator->user, NULL, 0, length);
  if (!plain) {
    text_no_memory(p);
    return 0;
  }
  vyre_string string = vyre_string_intern(p->module, plain, text_unescape(text, length, plain));
  p->allocator->resize(p->allocator->user, plain, length, 0);
  return string;
}

void
text_set_name(text_parser *p, uint32_t row, const text_token *name)
{
  if (name->kind != TOKEN_NAME || name->name_length > UINT16_MAX)
    return;
  if (!name->escaped) {
    vyre_row_set_name(p->module, (vyre_row){row}, p->lexer.text + name->name, name->name_length);
  } else {
    const char *text = vyre_string_text(p->module, text_intern(p, name->name, name->name_length, true));
    vyre_row_set_name(p->module, (vyre_row){row}, text, strlen(text));
  }
}

/* Finds a member by name. Each struct type is a scope of its own. */
uint32_t
text_find_member(const text_parser *p, vyre_type_id type, const char *name, uint32_t length)
{
  const text_symbol *symbol = text_symbols_find(&p->members, type, name, length);
  return symbol ? symbol->value : UINT32_MAX;
}

/* ---- types ---- */

typedef struct dimension {
  uint32_t start;
  uint32_t count, row;
  uint32_t stride; /* 0 for the default */
  bool runtime;
} dimension;

static bool
report_unknown_struct(text_parser *p, const text_token *token)
{
  char fix[96];
  uint32_t length;
  const char *text = p->lexer.text;
  const char *near = text_symbols_nearest(&p->globals, SCOPE_STRUCT, text + token->name, token->name_length, &length);
  return text_error(p, token->start, token->length,
                    near ? text_suggest(fix, "@", near, length) : "declare structs above their first use", "unknown struct %.*s",
                    token->length < 60 ? (int)token->length : 60, text + token->start);
}

static bool
parse_matrix(text_parser *p, uint32_t columns, vyre_type_id *out)
{
  uint32_t start = p->lexer.token.start;
  vyre_type column;
  uint32_t stride = 0;
  bool row_major = false;
  text_lex(&p->lexer);
  if (!text_expect_mark(p, '(') || !text_parse_scalar_type(p, &column))
    return false;
  while (text_accept_mark(p, ',')) {
    if (text_accept_word(p, "row_major"))
      row_major = true;
    else if (!text_accept_word(p, "stride"))
      return text_expected(p, "stride or row_major");
    else if (!text_expect_integer(p, UINT32_MAX, &stride))
      return false;
  }
  if (!text_expect_mark(p, ')'))
    return false;
  if (!vyre_kind_is_float(VYRE_TYPE_KIND(column)) || VYRE_TYPE_LANES(column) == 1)
    return text_error(p, start, p->lexer.behind - start, NULL, "the columns of a matrix must be float vectors");
  if (!stride)
    stride = text_default_matrix_stride(column, columns, row_major);
  *out = vyre_type_matrix(p->module, column, columns, stride, row_major);
  return true;
}

static bool
parse_element(text_parser *p, vyre_type_id *out)
{
  const text_token *token = &p->lexer.token;
  const char *text = p->lexer.text + token->start;
  if (token->kind == TOKEN_WORD && token->length == 4 && memcmp(text, "mat", 3) == 0 && text[3] >= '2' && text[3] <= '4')
    return parse_matrix(p, (uint32_t)(text[3] - '0'), out);
  if (text_accept_word(p, "spirv"))
    return text_parse_words(p, out);
  if (token->kind == TOKEN_GLOBAL) {
    const char *name = p->lexer.text + token->name;
    const text_symbol *symbol = p->program ? text_symbols_find(&p->globals, p->program_scope, name, token->name_length) : NULL;
    if (!symbol)
      symbol = text_symbols_find(&p->globals, SCOPE_STRUCT, name, token->name_length);
    if (!symbol)
      return report_unknown_struct(p, token);
    *out = symbol->value;
    text_lex(&p->lexer);
    return true;
  }
  vyre_type type = token->kind == TOKEN_WORD ? text_read_type(text, token->length) : 0;
  if (!type)
    return text_expected(p, "a type: u32, f32x4, mat4(f32x4), @Struct, f32[16]");
  *out = type;
  text_lex(&p->lexer);
  return true;
}

static bool
parse_dimension(text_parser *p, dimension *out)
{
  const text_token *token = &p->lexer.token;
  *out = (dimension){.start = token->start};
  text_lex(&p->lexer);
  if (token->kind == TOKEN_NUMBER) {
    uint32_t start = token->start, length = token->length;
    if (!text_expect_integer(p, UINT32_MAX, &out->count))
      return false;
    if (out->count == 0)
      return text_error(p, start, length, NULL, "an array has at least one element");
  } else if (token->kind == TOKEN_NAME || token->kind == TOKEN_NUMBERED) {
    text_token name = *token;
    if (!p->program)
      return text_error_token(p, "declare the struct in the program, below the row",
                              "outside of a program, the length of an array must be a number");
    out->row = text_find_row(p);
    text_lex(&p->lexer);
    if (out->row && VYRE_TYPE_KIND(text_type_of(p, out->row)) != VYRE_U32 && VYRE_TYPE_KIND(text_type_of(p, out->row)) != VYRE_I32)
      text_error(p, name.start, name.length, NULL, "the length of an array must be u32 or i32");
    out->count = out->row == 0; /* after an error, use any valid length */
  } else {
    out->runtime = true;
  }
  if (!out->runtime)
    text_accept_mark(p, ',');
  if (text_accept_word(p, "stride") && !text_expect_integer(p, UINT32_MAX, &out->stride))
    return false;
  return text_expect_mark(p, ']');
}

static bool
add_dimension(text_parser *p, const dimension *d, vyre_type_id *type)
{
  vyre_type_info element = vyre_type_get(p->module, *type);
  if (element.form == VYRE_FORM_ARRAY && element.flags & VYRE_TYPE_RUNTIME)
    return text_error(p, d->start, 1, NULL, "a runtime array cannot be an element of an array");
  uint32_t stride = d->stride ? d->stride : vyre_type_stride(p->module, *type);
  if ((uint64_t)stride * d->count > UINT32_MAX)
    return text_error(p, d->start, 1, NULL, "the array is larger than 4 GiB");
  if (d->runtime)
    *type = vyre_type_runtime_array(p->module, *type, stride);
  else
    *type = vyre_type_array(p->module, *type, d->row ? 0 : d->count, (vyre_row){d->row}, stride);
  return true;
}

bool
text_parse_type(text_parser *p, vyre_type_id *out)
{
  dimension dimensions[MAX_DIMENSIONS];
  uint32_t count = 0;
  *out = 0;
  if (!parse_element(p, out))
    return false;
  while (text_is_mark(p, '[')) {
    if (count == MAX_DIMENSIONS)
      return text_error_token(p, NULL, "the array has more than %u dimensions", MAX_DIMENSIONS);
    if (!parse_dimension(p, &dimensions[count++]))
      return false;
  }
  while (count) /* the first is the outermost */
    if (!add_dimension(p, &dimensions[--count], out))
      return false;
  return true;
}

/* ---- structs ---- */

uint32_t
text_parse_access(text_parser *p)
{
  for (const text_bit_word *word = text_access_words; word->word; word++)
    if (text_accept_word(p, word->word))
      return word->bits;
  return 0;
}

/* Parses a member. The position of its name is pushed onto the stack, because its scope, the struct type, does not exist yet. */
static bool
parse_member(text_parser *p, uint64_t *end)
{
  text_token name = p->lexer.token;
  vyre_member member = {.offset = VYRE_OFFSET_AUTO};
  bool quoted = name.kind == TOKEN_STRING;
  if (name.kind != TOKEN_WORD && !quoted)
    return text_expected(p, "a member");
  text_lex(&p->lexer);
  if (!text_expect_mark(p, ':') || !text_parse_type(p, &member.type))
    return false;
  const text_token *token = &p->lexer.token;
  if (token->kind == TOKEN_BAD && p->lexer.text[token->start] == '@') { /* @16 is an offset, not a name */
    uint64_t offset;
    if (!text_read_integer(p->lexer.text + token->start + 1, token->length - 1, &offset) || offset >= UINT32_MAX)
      return text_error_token(p, NULL, "the offset of a member must be less than 4294967295");
    member.offset = (uint32_t)offset;
    text_lex(&p->lexer);
  }
  for (uint32_t access; (access = text_parse_access(p)) != 0; member.access |= access)
    ;
  if (member.offset == VYRE_OFFSET_AUTO)
    member.offset = text_default_offset(p->module, member.type, *end);
  *end = (uint64_t)member.offset + vyre_type_get(p->module, member.type).size;
  if (*end > UINT32_MAX)
    return text_error(p, name.start, name.length, NULL, "the struct is larger than 4 GiB");
  member.name = text_intern(p, quoted ? name.name : name.start, quoted ? name.name_length : name.length, name.escaped);
  if (!text_push_word(p, &p->stack, quoted ? name.name : name.start) ||
      !text_push_word(p, &p->stack, quoted ? name.name_length : name.length) ||
      !text_grow(p, &p->struct_members, &p->struct_member_capacity, p->struct_member_count, sizeof(member)))
    return false;
  p->struct_members[p->struct_member_count++] = member;
  return true;
}

/* Adds the names of a struct's members. Equal structs of different programs share a type, so the names may already be present. */
static bool
name_members(text_parser *p, vyre_type_id type, const uint32_t *places, uint32_t count)
{
  for (uint32_t i = 0; i < count; i++) {
    uint32_t at = places[2 * i], length = places[2 * i + 1];
    uint32_t known = length ? text_find_member(p, type, p->lexer.text + at, length) : i;
    if (known == UINT32_MAX && !text_symbols_add(&p->members, type, at, length, i))
      text_no_memory(p);
    if (known != UINT32_MAX && known != i)
      return text_error(p, at, length, NULL, "member '%.*s' is defined twice", length < 60 ? (int)length : 60, p->lexer.text + at);
  }
  return !p->stop;
}

static bool
finish_struct(text_parser *p, const text_token *name, uint32_t flags, uint32_t stride, uint32_t base)
{
  const char *text = p->lexer.text;
  uint32_t count = p->struct_member_count;
  uint32_t scope = p->program ? p->program_scope : SCOPE_STRUCT;
  if (text_symbols_find(&p->globals, scope, text + name->name, name->name_length))
    return text_error(p, name->start, name->length, NULL, "struct %.*s is defined twice",
                      name->length < 60 ? (int)name->length : 60, text + name->start);
  vyre_string string = text_intern(p, name->name, name->name_length, name->escaped);
  vyre_type_id type = vyre_type_struct_apart(p->module, string, p->struct_members, count, flags, stride);
  const uint32_t size = vyre_type_get(p->module, type).size;
  if (stride && stride < size)
    return text_error(p, name->start, name->length, NULL, "the stride of %u bytes is less than the size of the struct, %u bytes",
                      stride, size);
  if (!type || !text_symbols_add(&p->globals, scope, name->name, name->name_length, type)) {
    text_no_memory(p);
    return false;
  }
  return name_members(p, type, p->stack.data + base, count);
}

bool
text_parse_struct(text_parser *p)
{
  text_lex(&p->lexer);
  text_token name = p->lexer.token;
  uint32_t flags = 0, stride = 0;
  uint64_t end = 0;
  uint32_t base = p->stack.count;
  p->struct_member_count = 0;
  if (name.kind != TOKEN_GLOBAL)
    return text_expected(p, "the name of the struct, like @Particle");
  text_lex(&p->lexer);
  if (text_accept_word(p, "block"))
    flags |= VYRE_TYPE_BLOCK;
  if (text_accept_word(p, "buffer_block"))
    flags |= VYRE_TYPE_BUFFER_BLOCK;
  bool good = (!text_accept_word(p, "stride") || text_expect_integer(p, UINT32_MAX, &stride)) && text_expect_mark(p, '{');
  while (good && !text_is_mark(p, '}')) {
    good = parse_member(p, &end);
    if (good && !text_accept_mark(p, ','))
      break;
  }
  good = good && text_expect_mark(p, '}') && finish_struct(p, &name, flags, stride, base);
  p->stack.count = base;
  return good;
}
