/* Removes unused definitions from the text: values, variables that are only set, tables and helper functions.
 *
 * A marked part of a text defines or sets a name and has no other effect, except that the call of an atomic stays.  A part is
 * kept if its name is live: unmarked text or a kept part mentions the name.  The cost is linear in the text.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include "base/grow.h"

#define HASH_NONFATAL_OOM         1
#define uthash_malloc(size)       cgen_resize(p->g, NULL, 0, size)
#define uthash_free(memory, size) cgen_resize(p->g, memory, size, 0)
#include <uthash.h>

#define LONGEST 128u
#define NONE    UINT32_MAX

typedef struct part {
  UT_hash_handle hh; /* node of the first part of the name */
  char key[LONGEST]; /* the scope's number, then the name */
  size_t start, end; /* in the text */
  size_t value;      /* the text after "= " */
  uint32_t scope;
  uint32_t next;  /* the next part of the same name, or NONE */
  uint32_t below; /* the part below it on the stack */
  cgen_mark_kind kind;
  bool is_live;
} part;

typedef struct pruner {
  cgen *g;
  part *parts, *names;
  uint32_t count, top;
} pruner;

static size_t
make_key(char key[LONGEST], uint32_t scope, const char *name, size_t length)
{
  if (length + sizeof scope > LONGEST)
    return 0;
  memcpy(key, &scope, sizeof scope);
  memcpy(key + sizeof scope, name, length);
  return length + sizeof scope;
}

static part *
find(pruner *p, uint32_t scope, const char *name, size_t length)
{
  char key[LONGEST];
  part *found = NULL;
  const size_t size = make_key(key, scope, name, length);
  if (size)
    HASH_FIND(hh, p->names, key, size, found);
  return found;
}

/* Keeps all parts of a name that is defined in the scope, or else in the text before all scopes. */
static void
use(pruner *p, uint32_t scope, const char *name, size_t length)
{
  part *first = find(p, scope, name, length);
  if (!first && scope)
    first = find(p, 0, name, length);
  if (!first || first->is_live)
    return;
  for (uint32_t k = (uint32_t)(first - p->parts); k != NONE; k = p->parts[k].next) {
    p->parts[k].is_live = true;
    p->parts[k].below = p->top;
    p->top = k;
  }
}

static void
use_all(pruner *p, const char *text, size_t start, size_t end, uint32_t scope)
{
  for (size_t at = start; at < end;) {
    const size_t word = at;
    while (at < end && code_is_word(text[at]))
      at++;
    if (at > word)
      use(p, scope, text + word, at - word);
    else
      at++;
  }
}

/* Finds a part's name: before the first '=' or '[' of a line, or before the first '(' or '[' of a function or table. */
static void
read_part(pruner *p, part *q, const char *text)
{
  const char *stops = q->kind == CGEN_MARK_BLOCK ? "([" : "=[";
  size_t at = q->start, end;
  while (at < q->end && !strchr(stops, text[at]))
    at++;
  q->value = at + 2;
  for (end = at; end > q->start && !code_is_word(text[end - 1]);)
    end--;
  for (at = end; at > q->start && code_is_word(text[at - 1]);)
    at--;
  part *first = find(p, q->scope, text + at, end - at);
  const size_t size = make_key(q->key, q->scope, text + at, end - at);
  if (first) {
    q->next = first->next;
    first->next = (uint32_t)(q - p->parts);
  } else if (size) {
    HASH_ADD(hh, p->names, key, size, q);
  } else {
    q->is_live = true;
  }
}

static void
read_parts(pruner *p, const cgen_marks *marks, const vyre_bytes *text)
{
  uint32_t scope = 0;
  for (uint32_t k = 0; k < marks->count; k++) {
    part *q = &p->parts[p->count];
    scope += marks->list[k].kind == CGEN_MARK_SCOPE;
    *q = (part){.start = marks->list[k].at, .scope = scope, .next = NONE, .kind = marks->list[k].kind};
    q->end = q->start;
    if (q->kind == CGEN_MARK_BLOCK)
      q->end = k + 1 < marks->count ? marks->list[k + 1].at : text->size;
    else if (q->kind != CGEN_MARK_SCOPE)
      q->end = q->start + strcspn(text->data + q->start, "\n") + 1;
    p->count++;
    if (q->kind == CGEN_MARK_SCOPE)
      q->is_live = true;
    else
      read_part(p, q, text->data);
  }
}

static void
find_live(pruner *p, const vyre_bytes *text, const vyre_bytes *user)
{
  size_t at = 0;
  uint32_t scope = 0;
  if (user && user->size)
    use_all(p, user->data, 0, user->size, 0);
  for (uint32_t k = 0; k < p->count; k++) {
    const part *q = &p->parts[k];
    use_all(p, text->data, at, q->start, scope);
    if (q->kind == CGEN_MARK_CALL)
      use_all(p, text->data, q->value, q->end, q->scope);
    scope = q->scope;
    at = q->end;
  }
  use_all(p, text->data, at, text->size, scope);
  while (p->top != NONE) {
    const part *q = &p->parts[p->top];
    p->top = q->below;
    use_all(p, text->data, q->start, q->end, q->scope);
  }
}

/* Returns whether the text ends with `if (...)` or a label, which need a statement. */
static bool
needs_statement(const char *text, size_t size)
{
  while (size > 0 && (text[size - 1] == ' ' || text[size - 1] == '\n'))
    size--;
  return size > 0 && !strchr(";{}", text[size - 1]);
}

static size_t
append(char *text, size_t to, const char *more, size_t size)
{
  memmove(text + to, more, size);
  return to + size;
}

/* Moves the kept text to the front.  The replacement of a part is shorter than the part. */
static void
compact(const pruner *p, vyre_bytes *text)
{
  char *data = text->data;
  size_t to = 0, at = 0;
  for (uint32_t k = 0; k < p->count; k++) {
    const part *q = &p->parts[k];
    to = append(data, to, data + at, (q->is_live ? q->end : q->start) - at);
    at = q->end;
    if (q->is_live)
      continue;
    if (q->kind == CGEN_MARK_CALL) {
      to = append(data, to, "(void)(", 7);
      to = append(data, to, data + q->value, q->end - 2 - q->value);
      to = append(data, to, ");\n", 3);
    } else if (q->kind == CGEN_MARK_LINE && needs_statement(data, to)) {
      to = append(data, to, "{ }\n", 4);
    } else {
      while (q->kind == CGEN_MARK_LINE && to > 0 && data[to - 1] == ' ')
        to--;
    }
  }
  to = append(data, to, data + at, text->size - at);
  text->size = to;
  data[to] = '\0';
}

void
cgen_prune(cgen *g, vyre_bytes *text, cgen_marks *marks, const vyre_bytes *user)
{
  pruner state = {.g = g, .top = NONE}, *p = &state;
  const size_t bytes = text->size ? marks->count * sizeof(part) : 0;
  p->parts = g->w.status || !bytes ? NULL : cgen_resize(g, NULL, 0, bytes);
  if (p->parts) {
    read_parts(p, marks, text);
    if (!g->w.status)
      find_live(p, text, user);
    if (!g->w.status)
      compact(p, text);
    HASH_CLEAR(hh, p->names);
    cgen_resize(g, p->parts, bytes, 0);
  }
  cgen_free_marks(g, marks);
}

void
cgen_mark(cgen *g, cgen_marks *marks, cgen_mark_kind kind)
{
  if (!vyre_grow(vyre_module_allocator(g->module), &marks->list, &marks->capacity, (uint64_t)marks->count + 1,
                 sizeof(*marks->list))) {
    g->w.status = g->w.status ? g->w.status : VYRE_OUT_OF_MEMORY(g->w.task);
    return;
  }
  marks->list[marks->count++] = (cgen_mark_at){g->w.out->size, kind};
}

void
cgen_cut(cgen *g, size_t start)
{
  if (g->w.status)
    return;
  g->w.out->size = start;
  g->w.out->data[start] = '\0';
  while (g->marks.count && g->marks.list[g->marks.count - 1].at >= start)
    g->marks.count--;
}

void
cgen_free_marks(cgen *g, cgen_marks *marks)
{
  cgen_resize(g, marks->list, marks->capacity * sizeof(*marks->list), 0);
  *marks = (cgen_marks){0};
}
