/* Reads the text of a cost model. Each line gives figures to some ops on some kinds:
 *
 *     mul,umulhi  i32,u32  16 8 -     ; a comment
 *
 * Ops and kinds are names separated by commas. `*` means all, and `atomic_*` all ops whose names begin with atomic_. A figure is a
 * number, or `-` to keep the figure of earlier lines or of ops.def. Later lines override earlier ones.
 *
 * Limits: a text of 1 MiB. Cost: O(lines * ops).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cost.h"

#include <string.h>

#include "text/literal.h"

enum { MOST_TEXT = 1 << 20, MOST_SHOWN = 40 /* bytes of a word in a message */, MOST_FIGURE = UINT16_MAX };

typedef struct reader {
  const char *name;
  const char *at, *end; /* of the text */
  const char *line;     /* start of the current line */
  uint32_t number;      /* of the line */
} reader;

typedef struct word {
  const char *text;
  size_t length; /* 0 at the end of the line */
} word;

/* Writes the word in a form that a message can contain. */
static const char *
printable(word w, char buffer[MOST_SHOWN + 1])
{
  const size_t length = w.length < MOST_SHOWN ? w.length : MOST_SHOWN;
  for (size_t i = 0; i < length; i++)
    buffer[i] = w.text[i] > ' ' && w.text[i] <= '~' ? w.text[i] : '?';
  buffer[length] = '\0';
  return buffer;
}

static vyre_status
make_error(const reader *r, word w, const char *what, const char *fix)
{
  char buffer[MOST_SHOWN + 1];
  return VYRE_ERROR(VYRE_CODE_USAGE, "%s:%u:%zu: '%s' %s\nFix: %s", r->name, r->number, (size_t)(w.text - r->line) + 1,
                    printable(w, buffer), what, fix);
}

static bool
is_blank(char byte)
{
  return byte == ' ' || byte == '\t' || byte == '\r';
}

/* Returns the next word of the line. */
static word
read_word(reader *r)
{
  while (r->at < r->end && is_blank(*r->at))
    r->at++;
  word w = {r->at, 0};
  while (r->at < r->end && !is_blank(*r->at) && *r->at != '\n' && *r->at != ';')
    r->at++;
  w.length = (size_t)(r->at - w.text);
  return w;
}

/* Returns the next name in the list; *left is the rest of the list. */
static word
read_name(word *left)
{
  const char *comma = memchr(left->text, ',', left->length);
  const word name = {left->text, comma ? (size_t)(comma - left->text) : left->length};
  left->length = comma ? left->length - name.length - 1 : 0;
  left->text = comma ? comma + 1 : left->text;
  return name;
}

/* Returns whether the list has another name. A list that ends with a comma has an empty one. */
static bool
has_more(word name, word left)
{
  return left.length != 0 || left.text != name.text;
}

static bool
is_op(word name, uint32_t op)
{
  const char *text = vyre_op_infos[op].text;
  const bool begins = name.length && name.text[name.length - 1] == '*';
  const size_t length = name.length - begins;
  return op != VYRE_OP_null && text && strlen(text) >= length && memcmp(text, name.text, length) == 0 &&
         (begins || text[length] == '\0');
}

static vyre_status
read_ops(const reader *r, word list, bool ops[VYRE_OP__COUNT])
{
  word name;
  do {
    name = read_name(&list);
    bool found = false;
    for (uint32_t op = 0; op < VYRE_OP__COUNT && name.length; op++) {
      if (!is_op(name, op))
        continue;
      ops[op] = found = true;
    }
    if (!found)
      return make_error(r, name, "is not an op",
                        "write ops of docs/ir.md between commas, as in add,sub, or a prefix such as atomic_*");
  } while (has_more(name, list));
  return VYRE_OK;
}

static vyre_status
read_kinds(const reader *r, word list, bool kinds[VYRE_KIND__COUNT])
{
  word name;
  do {
    name = read_name(&list);
    const vyre_type type = memchr(name.text, '\0', name.length) ? 0 : text_read_type(name.text, name.length);
    const bool all = name.length == 1 && name.text[0] == '*';
    if (!all && (type == 0 || VYRE_TYPE_LANES(type) != 1))
      return make_error(r, name, "is not a kind", "write bool, i8 to u64, f16, f32 or f64 between commas, or * for all");
    for (uint32_t kind = 0; kind < VYRE_KIND__COUNT; kind++)
      kinds[kind] = kinds[kind] || all || kind == (uint32_t)VYRE_TYPE_KIND(type);
  } while (has_more(name, list));
  return VYRE_OK;
}

/* Reads a number, or -1 for `-`. */
static vyre_status
read_figure(const reader *r, word w, const char *what, int32_t *out)
{
  uint64_t value = 0;
  if (w.length == 0)
    return VYRE_ERROR(VYRE_CODE_USAGE,
                      "%s:%u:%zu: the line ends before its %s\nFix: write ops, kinds, issue, latency, registers; - keeps "
                      "a figure",
                      r->name, r->number, (size_t)(w.text - r->line) + 1, what);
  *out = -1;
  if (w.length == 1 && w.text[0] == '-')
    return VYRE_OK;
  if (w.length > MOST_SHOWN || !text_read_integer(w.text, (uint32_t)w.length, &value) || value > MOST_FIGURE)
    return make_error(r, w, "is not a figure", "write a number from 0 to 65535, or - to keep the figure");
  *out = (int32_t)value;
  return VYRE_OK;
}

static vyre_status
read_line(reader *r, vyre_cost_model *model)
{
  static const char *const names[] = {[COST_ISSUE] = "issue", [COST_LATENCY] = "latency", [COST_REGISTERS] = "registers"};
  bool ops[VYRE_OP__COUNT] = {false}, kinds[VYRE_KIND__COUNT] = {false};
  int32_t figures[COST_FIGURES];
  const word first = read_word(r);
  if (first.length == 0)
    return VYRE_OK;
  VYRE_TRY(read_ops(r, first, ops));
  const word second = read_word(r);
  if (second.length == 0)
    return read_figure(r, second, "kinds", figures);
  VYRE_TRY(read_kinds(r, second, kinds));
  for (uint32_t i = 0; i < COST_FIGURES; i++)
    VYRE_TRY(read_figure(r, read_word(r), names[i], &figures[i]));
  const word more = read_word(r);
  if (more.length)
    return make_error(r, more, "is one word too many", "write ops, kinds, issue, latency, registers; a comment begins with ;");
  for (uint32_t op = 0; op < VYRE_OP__COUNT; op++)
    for (uint32_t kind = 0; kind < VYRE_KIND__COUNT; kind++)
      for (uint32_t i = 0; i < COST_FIGURES; i++)
        if (ops[op] && kinds[kind] && figures[i] >= 0)
          model->figures[op][kind][i] = (uint16_t)figures[i];
  return VYRE_OK;
}

void
cost_begin(vyre_cost_model *model)
{
  memset(model, 0, sizeof(*model));
  for (uint32_t op = 0; op < VYRE_OP__COUNT; op++)
    for (uint32_t kind = 0; kind < VYRE_KIND__COUNT; kind++)
      model->figures[op][kind][COST_ISSUE] = vyre_op_infos[op].cost;
}

vyre_status
cost_read(vyre_cost_model *model, const char *text, size_t length, const char *name)
{
  reader r = {.name = name, .at = text, .end = text + length};
  if (length > MOST_TEXT)
    return VYRE_ERROR(VYRE_CODE_USAGE, "%s: the cost model has %zu bytes; the limit is %d\nFix: list many ops and kinds in a line",
                      name, length, MOST_TEXT);
  while (r.at < r.end) {
    r.line = r.at;
    r.number++;
    VYRE_TRY(read_line(&r, model));
    const char *newline = r.at < r.end ? memchr(r.at, '\n', (size_t)(r.end - r.at)) : NULL;
    r.at = newline ? newline + 1 : r.end;
  }
  return VYRE_OK;
}
