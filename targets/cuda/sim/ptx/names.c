/* The names of a PTX text (scopes, types and words), and the parser's errors and memory.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "targets/cuda/sim/ptx/parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

typedef struct entry {
  UT_hash_handle hh;
  ptx_symbol symbol;
  char name[];
} entry;

struct ptx_scope {
  ptx_scope *parent; /* the enclosing scope */
  ptx_scope *next;   /* the scope that was made before this one */
  entry *names;
};

/* ---- errors and memory --------------------------------------------------------------------------------------------------- */

bool
ptx_error(ptx_parser *p, uint32_t line, const char *format, ...)
{
  if (!p->has_failed && p->log_size) {
    const int used = snprintf(p->log, p->log_size, "line %u: ", line);
    va_list arguments;
    va_start(arguments, format);
    if (used > 0 && (size_t)used < p->log_size)
      vsnprintf(p->log + used, p->log_size - (size_t)used, format, arguments);
    va_end(arguments);
  }
  p->has_failed = true;
  return false;
}

bool
ptx_no_memory(ptx_parser *p)
{
  return ptx_error(p, p->line, "out of memory");
}

void *
ptx_new(ptx_module *module, size_t size)
{
  ptx_chunk *chunk = calloc(1, sizeof(max_align_t) + size);
  if (!chunk)
    return NULL;
  chunk->next = module->chunks;
  module->chunks = chunk;
  return (char *)chunk + sizeof(max_align_t);
}

/* ---- words --------------------------------------------------------------------------------------------------------------- */

typedef struct word_info {
  const char *text;
  uint8_t bits, class;
} word_info;

static const word_info words[PTX_WORD__COUNT] = {
    {"", 0, PTX_CLASS_NONE},
#define PTX_TYPE(id, bits, class) {#id, bits, PTX_CLASS_##class},
#define PTX_WORD(id, text, group) {text, 0, PTX_CLASS_NONE},
#include "targets/cuda/sim/ptx/words.def"
};

uint32_t
ptx_bits(ptx_word type)
{
  return words[type].bits;
}

ptx_class
ptx_class_of(ptx_word type)
{
  return (ptx_class)words[type].class;
}

const char *
ptx_word_text(ptx_word word)
{
  return words[word].text;
}

ptx_word
ptx_find_word(const ptx_token *token)
{
  if (ptx_token_is(token, "shared::cta"))
    return PTX_shared;
  for (uint32_t i = 1; i < PTX_WORD__COUNT; i++)
    if (ptx_token_is(token, words[i].text))
      return (ptx_word)i;
  return PTX_NO_WORD;
}

ptx_word
ptx_find_type(const ptx_token *token)
{
  const ptx_word word = ptx_find_word(token);
  return words[word].bits ? word : PTX_NO_WORD;
}

/* ---- scopes -------------------------------------------------------------------------------------------------------------- */

bool
ptx_scope_open(ptx_parser *p)
{
  ptx_scope *scope = calloc(1, sizeof *scope);
  if (!scope)
    return ptx_no_memory(p);
  scope->parent = p->scope;
  scope->next = p->scopes;
  p->scopes = p->scope = scope;
  return true;
}

void
ptx_scope_close(ptx_parser *p)
{
  p->scope = p->scope->parent;
}

void
ptx_scopes_free(ptx_parser *p)
{
  for (ptx_scope *scope = p->scopes, *next; scope; scope = next) {
    entry *e, *following;
    HASH_ITER(hh, scope->names, e, following)
    {
      HASH_DEL(scope->names, e);
      free(e);
    }
    next = scope->next;
    free(scope);
  }
  p->scopes = p->scope = NULL;
}

static entry *
find_here(const ptx_scope *scope, const char *name, uint32_t length)
{
  entry *found = NULL;
  HASH_FIND(hh, scope->names, name, length, found);
  return found;
}

/* Finds a register by its range's name and its number. */
static bool
find_numbered(const ptx_scope *scope, const char *name, uint32_t length, ptx_symbol *out)
{
  uint32_t digits = 0;
  while (digits < length && digits < 9 && name[length - 1 - digits] >= '0' && name[length - 1 - digits] <= '9')
    digits++;
  for (uint32_t taken = digits; taken; taken--) { /* the name of a range may end in digits */
    const char *at = name + length - taken;
    if (taken > 1 && *at == '0')
      continue;
    const entry *e = find_here(scope, name, length - taken);
    if (!e || e->symbol.kind != PTX_SYMBOL_REGISTERS)
      continue;
    uint32_t number = 0;
    for (uint32_t i = 0; i < taken; i++)
      number = number * 10 + (uint32_t)(at[i] - '0');
    if (number >= e->symbol.count)
      continue;
    *out = e->symbol;
    out->kind = PTX_SYMBOL_REGISTER;
    out->slot += number;
    return true;
  }
  return false;
}

ptx_symbol *
ptx_declare(ptx_parser *p, const ptx_token *name, ptx_symbol_kind kind)
{
  ptx_symbol numbered;
  if (ptx_token_is(name, "_") || find_here(p->scope, name->text, name->length) ||
      find_numbered(p->scope, name->text, name->length, &numbered)) {
    ptx_error(p, name->line, "'%.*s' is declared twice", (int)name->length, name->text);
    return NULL;
  }
  entry *e = calloc(1, sizeof *e + name->length + 1);
  if (!e) {
    ptx_no_memory(p);
    return NULL;
  }
  memcpy(e->name, name->text, name->length);
  e->symbol.kind = kind;
  HASH_ADD_KEYPTR(hh, p->scope->names, e->name, name->length, e);
  return &e->symbol;
}

bool
ptx_find(const ptx_parser *p, const ptx_scope *scope, const char *name, uint32_t length, ptx_symbol *out)
{
  (void)p;
  for (; scope; scope = scope->parent) {
    const entry *e = find_here(scope, name, length);
    if (e && e->symbol.kind != PTX_SYMBOL_REGISTERS) {
      *out = e->symbol;
      return true;
    }
    if (find_numbered(scope, name, length, out))
      return true;
  }
  return false;
}

ptx_symbol *
ptx_find_module(const ptx_parser *p, const ptx_token *name)
{
  const ptx_scope *scope = p->scope;
  while (scope->parent)
    scope = scope->parent;
  entry *e = find_here(scope, name->text, name->length);
  return e ? &e->symbol : NULL;
}
