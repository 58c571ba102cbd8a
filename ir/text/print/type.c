/* Prints types and structs.
 *
 * A struct is printed once, before its first use. A struct with an array whose length is a row is printed in its program. Several
 * structs of a module may have the same name, but names in a text are unique: later ones get a suffix.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "ir/text/lex.h"

#include "base/grow.h"
#include "ir/text/literal.h"
#include "ir/text/parser.h"
#include "ir/text/print/printer.h"
#include "vyre/opaque.h"

#include <stdio.h>
#include <stdlib.h>

enum {
  TYPE_USED = 1,  /* a buffer, var, opaque row or used type refers to it */
  TYPE_LOCAL = 2, /* contains an array whose length is a row */
  TYPE_PRINTED = 4,
  TYPE_DOUBLED = 8, /* a struct with two members of the same name: members are referenced by number */
};

static uint8_t *
bits_of(text_printer *t, vyre_type_id type)
{
  return type >= VYRE_FIRST_TYPE && type - VYRE_FIRST_TYPE < t->type_count ? &t->type_bits[type - VYRE_FIRST_TYPE] : NULL;
}

static void
set_type_bit(text_printer *t, vyre_type_id type, uint8_t bit)
{
  uint8_t *bits = bits_of(t, type);
  if (bits)
    *bits |= bit;
}

static bool
has_type_bit(text_printer *t, vyre_type_id type, uint8_t bit)
{
  const uint8_t *bits = bits_of(t, type);
  return bits && (*bits & bit);
}

/* ---- used types and their names ---- */

static int
compare_strings(const void *a, const void *b)
{
  const vyre_string x = *(const vyre_string *)a, y = *(const vyre_string *)b;
  return x < y ? -1 : x > y;
}

/* Returns whether two members have the same name. Strings are interned, so equal names have equal ids. */
static bool
has_doubled_member(text_printer *t, const vyre_type_info *info)
{
  if (info->count < 2)
    return false;
  size_t bytes = info->count * sizeof(vyre_string);
  vyre_string *names = t->allocator->resize(t->allocator->user, NULL, 0, bytes);
  if (!names) {
    text_print_no_memory(t);
    return true;
  }
  for (uint32_t i = 0; i < info->count; i++)
    names[i] = info->members[i].name;
  qsort(names, info->count, sizeof(*names), compare_strings);
  bool doubled = false;
  for (uint32_t i = 1; i < info->count; i++)
    doubled |= names[i] && names[i] == names[i - 1];
  t->allocator->resize(t->allocator->user, names, bytes, 0);
  return doubled;
}

/* Inner types have smaller ids, so local types are found in increasing order and used types in decreasing order. */
static void
mark_types(text_printer *t)
{
  for (uint32_t i = 0; i < t->type_count; i++) {
    vyre_type_info info = vyre_type_get(t->module, VYRE_FIRST_TYPE + i);
    if (info.form == VYRE_FORM_ARRAY && (info.count_row || has_type_bit(t, info.element, TYPE_LOCAL)))
      t->type_bits[i] |= TYPE_LOCAL;
    if (info.form == VYRE_FORM_WORDS && has_type_bit(t, info.element, TYPE_LOCAL))
      t->type_bits[i] |= TYPE_LOCAL;
    if (info.form != VYRE_FORM_STRUCT && info.form != VYRE_FORM_WORDS)
      continue;
    for (uint32_t k = 0; k < info.count; k++)
      if (has_type_bit(t, info.members[k].type, TYPE_LOCAL))
        t->type_bits[i] |= TYPE_LOCAL;
  }
  const vyre_view *v = t->view;
  uint32_t first = 0, last = v->rows;
  if (t->options->program) { /* the rows of a sealed program follow it */
    first = t->options->program;
    last = first < v->rows && v->next[first] > first ? v->next[first] : v->rows;
  }
  for (uint32_t row = first; row < last && row < v->rows; row++)
    if (VYRE_ROW_OP(v->op[row]) == VYRE_OP_buffer || VYRE_ROW_OP(v->op[row]) == VYRE_OP_var ||
        vyre_op_is_opaque(VYRE_ROW_OP(v->op[row])))
      set_type_bit(t, v->imm[row], TYPE_USED);
  for (uint32_t i = t->type_count; i-- > 0;) {
    if ((t->type_bits[i] & TYPE_USED) == 0)
      continue;
    vyre_type_info info = vyre_type_get(t->module, VYRE_FIRST_TYPE + i);
    if (info.form == VYRE_FORM_ARRAY || info.form == VYRE_FORM_WORDS)
      set_type_bit(t, info.element, TYPE_USED);
    if (info.count_row < v->rows)
      t->bits[info.count_row] |= LENGTH;
    for (uint32_t k = 0; (info.form == VYRE_FORM_STRUCT || info.form == VYRE_FORM_WORDS) && k < info.count; k++)
      set_type_bit(t, info.members[k].type, TYPE_USED);
    if (info.form == VYRE_FORM_STRUCT && has_doubled_member(t, &info))
      t->type_bits[i] |= TYPE_DOUBLED;
  }
}

/* Appends "@name" and a zero byte to `names`. Returns the offset of the name after the @ or the quote, or 0 if memory runs out. */
static uint32_t
add_name(text_printer *t, const char *base, uint32_t number, uint32_t *out_length)
{
  char suffix[16] = "";
  vyre_bytes *names = &t->names;
  bool dotted = text_is_dotted(base, strlen(base));
  size_t start = names->size;
  if (number)
    snprintf(suffix, sizeof(suffix), ".%u", number);
  vyre_status status = vyre_bytes_append(names, dotted ? "@" : "@\"", dotted ? 1 : 2);
  for (const char *byte = base; *byte && !status; byte++) {
    char escaped[8];
    status = vyre_bytes_append(names, escaped, text_escape(*byte, escaped));
  }
  if (!status)
    status = vyre_bytes_append(names, suffix, strlen(suffix));
  *out_length = (uint32_t)(names->size - start) - (dotted ? 1 : 2);
  if (!status)
    status = vyre_bytes_append(names, "\"", dotted ? 0 : 1);
  if (!status)
    status = vyre_bytes_append(names, "", 1);
  bool good = !status && names->size < UINT32_MAX / 2;
  vyre_status_free(status);
  return good ? (uint32_t)start + (dotted ? 1 : 2) : 0;
}

/* Assigns a name to a struct: its own, or if that is in use, with the next free number as a suffix. `known` maps the names so far
 * to the last number that each was given. */
static bool
name_struct(text_printer *t, text_symbols *known, uint32_t index, const char *base)
{
  size_t start = t->names.size;
  uint32_t number = 0, length;
  for (;;) {
    t->names.size = start;
    uint32_t at = add_name(t, base, number, &length);
    known->text = t->names.data;
    known->length = (uint32_t)t->names.size;
    if (!at)
      return false;
    text_symbol *symbol = text_symbols_find(known, 1, known->text + at, length);
    if (!symbol) {
      t->type_names[index] = (uint32_t)start;
      return text_symbols_add(known, 1, at, length, 1);
    }
    number = number ? number + 1 : symbol->value + 1;
    if (number == symbol->value + 1)
      symbol->value = number;
  }
}

static bool
name_structs(text_printer *t)
{
  text_symbols known = {.allocator = t->allocator};
  bool good = true;
  for (uint32_t i = 0; i < t->type_count && good; i++) {
    vyre_type_info info = vyre_type_get(t->module, VYRE_FIRST_TYPE + i);
    if ((t->type_bits[i] & TYPE_USED) == 0 || info.form != VYRE_FORM_STRUCT)
      continue;
    const char *base = vyre_string_text(t->module, info.name);
    good = name_struct(t, &known, i, *base ? base : "struct");
  }
  text_symbols_free(&known);
  return good;
}

bool
text_prepare_types(text_printer *t)
{
  t->type_count = vyre_type_count(t->module) - VYRE_FIRST_TYPE;
  if (t->type_count == 0)
    return true;
  t->type_names = t->allocator->resize(t->allocator->user, NULL, 0, t->type_count * sizeof(uint32_t));
  t->type_bits = t->allocator->resize(t->allocator->user, NULL, 0, t->type_count);
  if (!t->type_names || !t->type_bits)
    return false;
  memset(t->type_names, 0, t->type_count * sizeof(uint32_t));
  memset(t->type_bits, 0, t->type_count);
  t->names.allocator = t->allocator;
  mark_types(t);
  return !t->status && name_structs(t);
}

void
text_free_types(text_printer *t)
{
  if (t->type_names)
    t->allocator->resize(t->allocator->user, t->type_names, t->type_count * sizeof(uint32_t), 0);
  if (t->type_bits)
    t->allocator->resize(t->allocator->user, t->type_bits, t->type_count, 0);
  vyre_bytes_free(&t->names);
  text_scalars_free(&t->scalars);
}

/* ---- types ---- */

static void
put_struct_name(text_printer *t, vyre_type_id type)
{
  bool named = has_type_bit(t, type, TYPE_USED);
  text_put_text(t, named ? t->names.data + t->type_names[type - VYRE_FIRST_TYPE] : "@?");
}

void
text_put_type(text_printer *t, vyre_type_id type)
{
  vyre_type_id element = type;
  vyre_type_info info = vyre_type_get(t->module, element);
  while (info.form == VYRE_FORM_ARRAY) {
    element = info.element;
    info = vyre_type_get(t->module, element);
  }
  if (info.form == VYRE_FORM_STRUCT) {
    put_struct_name(t, element);
  } else if (info.form == VYRE_FORM_WORDS) {
    text_put_text(t, "spirv ");
    text_put_words(t, element, 0);
  } else if (info.form == VYRE_FORM_MATRIX) {
    bool row_major = (info.flags & VYRE_TYPE_ROW_MAJOR) != 0;
    text_put(t, "mat", 3);
    text_put_number(t, info.count);
    text_put(t, "(", 1);
    text_put_value_type(t, (vyre_type)info.element);
    if (info.stride != text_default_matrix_stride((vyre_type)info.element, info.count, row_major)) {
      text_put_text(t, ", stride ");
      text_put_number(t, info.stride);
    }
    text_put_text(t, row_major ? ", row_major)" : ")");
  } else {
    text_put_value_type(t, (vyre_type)element);
  }
  for (info = vyre_type_get(t->module, type); info.form == VYRE_FORM_ARRAY; info = vyre_type_get(t->module, info.element)) {
    bool runtime = (info.flags & VYRE_TYPE_RUNTIME) != 0;
    bool strange = info.stride != vyre_type_stride(t->module, info.element);
    text_put(t, "[", 1);
    if (info.count_row)
      text_put_operand(t, info.count_row);
    else if (!runtime)
      text_put_number(t, info.count);
    if (strange) {
      text_put_text(t, runtime ? "stride " : ", stride ");
      text_put_number(t, info.stride);
    }
    text_put(t, "]", 1);
  }
}

void
text_put_access(text_printer *t, uint32_t access)
{
  for (const text_bit_word *word = text_access_words; word->word; word++) {
    if ((access & word->bits) == 0)
      continue;
    text_put(t, " ", 1);
    text_put_text(t, word->word);
  }
}

void
text_put_member(text_printer *t, vyre_type_id type, uint32_t member)
{
  vyre_type_info info = vyre_type_get(t->module, type);
  const char *name =
      info.form == VYRE_FORM_STRUCT && member < info.count ? vyre_string_text(t->module, info.members[member].name) : "";
  if (*name == '\0' || has_type_bit(t, type, TYPE_DOUBLED)) {
    text_put(t, "[", 1);
    text_put_number(t, member);
    text_put(t, "]", 1);
    return;
  }
  text_put(t, ".", 1);
  if (text_is_identifier(name, strlen(name)))
    text_put_text(t, name);
  else
    text_put_quoted(t, name);
}

/* ---- structs ---- */

static void
put_struct(text_printer *t, vyre_type_id type)
{
  vyre_type_info info = vyre_type_get(t->module, type);
  uint64_t end = 0;
  text_put_indent(t);
  text_put_text(t, "struct ");
  put_struct_name(t, type);
  text_put_text(t, info.flags & VYRE_TYPE_BLOCK ? " block" : info.flags & VYRE_TYPE_BUFFER_BLOCK ? " buffer_block" : "");
  if (info.stride) {
    text_put_text(t, " stride ");
    text_put_number(t, info.stride);
  }
  text_put_text(t, " {");
  for (uint32_t i = 0; i < info.count; i++) {
    const vyre_member *member = &info.members[i];
    const char *name = vyre_string_text(t->module, member->name);
    text_put_text(t, i ? ", " : " ");
    if (has_type_bit(t, type, TYPE_DOUBLED))
      text_put(t, "\"\"", 2);
    else if (text_is_identifier(name, strlen(name)))
      text_put_text(t, name);
    else
      text_put_quoted(t, name);
    text_put_text(t, " : ");
    text_put_type(t, member->type);
    if (member->offset != text_default_offset(t->module, member->type, end)) {
      text_put_text(t, " @");
      text_put_number(t, member->offset);
    }
    text_put_access(t, member->access);
    end = (uint64_t)member->offset + vyre_type_get(t->module, member->type).size;
  }
  text_put_text(t, " }\n");
  set_type_bit(t, type, TYPE_PRINTED);
}

void
text_put_structs(text_printer *t)
{
  bool any = false;
  for (uint32_t i = 0; i < t->type_count; i++) {
    if ((t->type_bits[i] & (TYPE_USED | TYPE_LOCAL)) != TYPE_USED ||
        vyre_type_get(t->module, VYRE_FIRST_TYPE + i).form != VYRE_FORM_STRUCT)
      continue;
    put_struct(t, VYRE_FIRST_TYPE + i);
    any = true;
  }
  if (any)
    text_put(t, "\n", 1);
}

/* Prints the local structs that a type contains, members first. Each local type is visited once overall; the list replaces
 * recursion. */
void
text_put_structs_of(text_printer *t, vyre_type_id type)
{
  uint32_t *list = NULL;
  uint32_t count = 0, capacity = 0;
  if (!has_type_bit(t, type, TYPE_LOCAL) || has_type_bit(t, type, TYPE_PRINTED))
    return;
  for (;;) {
    vyre_type_info info = vyre_type_get(t->module, type);
    vyre_type_id inner = 0; /* a contained type that must be printed first */
    if (info.form == VYRE_FORM_ARRAY && has_type_bit(t, info.element, TYPE_LOCAL) && !has_type_bit(t, info.element, TYPE_PRINTED))
      inner = info.element;
    if (info.form == VYRE_FORM_WORDS && has_type_bit(t, info.element, TYPE_LOCAL) && !has_type_bit(t, info.element, TYPE_PRINTED))
      inner = info.element;
    for (uint32_t i = 0; (info.form == VYRE_FORM_STRUCT || info.form == VYRE_FORM_WORDS) && i < info.count && !inner; i++)
      if (has_type_bit(t, info.members[i].type, TYPE_LOCAL) && !has_type_bit(t, info.members[i].type, TYPE_PRINTED))
        inner = info.members[i].type;
    if (inner) {
      if (!vyre_grow(t->allocator, &list, &capacity, count + 1, sizeof *list)) {
        text_print_no_memory(t);
        break;
      }
      list[count++] = type;
      type = inner;
      continue;
    }
    if (info.form == VYRE_FORM_STRUCT)
      put_struct(t, type);
    set_type_bit(t, type, TYPE_PRINTED);
    if (count == 0)
      break;
    type = list[--count];
  }
  if (list)
    t->allocator->resize(t->allocator->user, list, capacity * sizeof(*list), 0);
}
