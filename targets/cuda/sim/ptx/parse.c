/* Parses the text of a module: directives, functions and their bodies.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "targets/cuda/sim/ptx/parse.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

/* ---- .version, .target --------------------------------------------------------------------------------------------------- */

typedef struct target_info {
  uint16_t sm, version; /* `version` is the first PTX version with the target */
} target_info;

static const target_info targets[] = {{50, 40}, {52, 41}, {53, 42}, {60, 50}, {61, 50}, {62, 50},  {70, 60},  {72, 61},  {75, 63},
                                      {80, 70}, {86, 71}, {87, 74}, {89, 78}, {90, 78}, {100, 86}, {103, 88}, {120, 87}, {121, 88}};

static bool
parse_version(ptx_parser *p)
{
  if (!ptx_next(p))
    return false;
  /* The lexer makes 7.8 a float. */
  const char *point = memchr(p->token.text, '.', p->token.length);
  if (p->token.kind != PTX_TOKEN_FLOAT || !point)
    return ptx_error(p, p->token.line, ".version needs two numbers");
  const unsigned long major = strtoul(p->token.text, NULL, 10), minor = strtoul(point + 1, NULL, 10);
  if (major > 99 || minor > 9 || p->module->version)
    return ptx_error(p, p->token.line, "unknown .version, or a second one");
  p->module->version = (uint32_t)(major * 10 + minor);
  if (p->module->version > p->version)
    return ptx_error(p, p->token.line, ".version %lu.%lu is above the driver's, %u.%u", major, minor, p->version / 10,
                     p->version % 10);
  return ptx_next(p);
}

static bool
parse_target(ptx_parser *p)
{
  ptx_token name;
  if (!p->module->version)
    return ptx_error(p, p->token.line, ".version is missing");
  if (!ptx_next(p) || !ptx_expect_name(p, &name))
    return false;
  char *end = NULL;
  const unsigned long sm = name.length > 3 && memcmp(name.text, "sm_", 3) == 0 ? strtoul(name.text + 3, &end, 10) : 0;
  const bool is_exact = end && end < name.text + name.length && (*end == 'a' || *end == 'f');
  for (size_t i = 0; sm && i < sizeof targets / sizeof *targets; i++)
    if (targets[i].sm == sm && end + is_exact == name.text + name.length) {
      if (targets[i].version > p->module->version)
        return ptx_error(p, name.line, "sm_%lu needs PTX %u.%u", sm, targets[i].version / 10u, targets[i].version % 10u);
      if (sm > p->sm || (is_exact && sm != p->sm))
        return ptx_error(p, name.line, "the text is for %.*s, but the device is sm_%u", (int)name.length, name.text, p->sm);
      p->module->sm = (uint32_t)sm;
      p->has_target = true;
      while (ptx_accept_sign(p, ','))
        if (!ptx_expect_name(p, &name))
          return false;
      return !p->has_failed;
    }
  return ptx_error(p, name.line, "unknown target '%.*s'", (int)name.length, name.text);
}

static bool
parse_address_size(ptx_parser *p)
{
  uint64_t size;
  if (!ptx_next(p) || !ptx_parse_integer(p, &size))
    return false;
  return size == 64 || ptx_error(p, p->token.line, ".address_size must be 64");
}

/* Skips .file and .loc, which end with their line. */
static bool
skip_line(ptx_parser *p)
{
  const uint32_t line = p->token.line;
  while (p->token.line == line && p->token.kind != PTX_TOKEN_END)
    if (!ptx_next(p))
      return false;
  return true;
}

static bool
skip_section(ptx_parser *p)
{
  while (!ptx_is_sign(p, '}')) {
    if (p->token.kind == PTX_TOKEN_END)
      return ptx_error(p, p->token.line, "a section has no end");
    if (!ptx_next(p))
      return false;
  }
  return ptx_next(p);
}

static bool
skip_pragma(ptx_parser *p)
{
  do {
    if (!ptx_next(p))
      return false;
    if (p->token.kind != PTX_TOKEN_STRING)
      return ptx_error(p, p->token.line, ".pragma needs a string");
    if (!ptx_next(p))
      return false;
  } while (ptx_is_sign(p, ','));
  return ptx_expect_sign(p, ';');
}

/* ---- bodies -------------------------------------------------------------------------------------------------------------- */

static bool
parse_table(ptx_parser *p, const ptx_token *name)
{
  ptx_module *m = p->module;
  ptx_symbol *symbol = ptx_declare(p, name, PTX_SYMBOL_TABLE);
  if (!symbol)
    return false;
  symbol->slot = m->table_count;
  if (!ptx_next(p))
    return false;
  do {
    ptx_token label;
    if (!ptx_expect_name(p, &label))
      return false;
    if (!vyre_grow(NULL, &m->tables, &m->table_room, m->table_count + 1, sizeof *m->tables) ||
        !vyre_grow(NULL, &p->references, &p->reference_room, p->reference_count + 1, sizeof *p->references))
      return ptx_no_memory(p);
    p->references[p->reference_count++] = (ptx_reference){label.text, label.length, label.line, m->table_count, true, p->scope};
    m->tables[m->table_count++] = 0;
    symbol->count++;
  } while (ptx_accept_sign(p, ','));
  return ptx_expect_sign(p, ';');
}

/* Parses a label, or the instruction that begins with the name. */
static bool
parse_named(ptx_parser *p)
{
  const char *at = p->at;
  const uint32_t line = p->line;
  const ptx_token name = p->token;
  if (!ptx_next(p))
    return false;
  if (!ptx_is_sign(p, ':')) {
    p->at = at;
    p->line = line;
    p->token = name;
    return ptx_parse_instruction(p);
  }
  if (!ptx_next(p))
    return false;
  if (ptx_is_word(p, "branchtargets"))
    return parse_table(p, &name);
  ptx_symbol *symbol = ptx_declare(p, &name, PTX_SYMBOL_LABEL);
  if (!symbol)
    return false;
  symbol->slot = p->module->code_count;
  p->at_label = true;
  return true;
}

static bool
parse_directive(ptx_parser *p)
{
  static const char *const spaces[] = {"local", "shared", "param", "global", "const"};
  if (ptx_is_word(p, "reg"))
    return ptx_parse_registers(p);
  for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
    if (ptx_is_word(p, spaces[i]))
      return ptx_parse_variables(p, false, false);
  if (ptx_is_word(p, "loc") || ptx_is_word(p, "file"))
    return skip_line(p);
  if (ptx_is_word(p, "pragma"))
    return skip_pragma(p);
  return ptx_error(p, p->token.line, "unknown directive '.%.*s'", (int)p->token.length, p->token.text);
}

static bool
parse_body(ptx_parser *p)
{
  for (uint32_t depth = 1; depth;) {
    bool is_good;
    if (p->token.kind == PTX_TOKEN_END)
      return ptx_error(p, p->token.line, "a function has no end");
    if (ptx_is_sign(p, '{')) {
      is_good = ptx_next(p) && ptx_scope_open(p);
      depth++;
    } else if (ptx_is_sign(p, '}')) {
      if (--depth) /* parse_function closes the function's own scope */
        ptx_scope_close(p);
      else if (!ptx_add_end(p))
        return false;
      is_good = ptx_next(p);
    } else if (p->token.kind == PTX_TOKEN_NAME) {
      is_good = parse_named(p);
    } else if (ptx_is_sign(p, '@')) {
      is_good = ptx_parse_instruction(p);
    } else if (p->token.kind == PTX_TOKEN_WORD) {
      is_good = parse_directive(p);
    } else {
      is_good = ptx_error(p, p->token.line, "unexpected '%.*s'", (int)p->token.length, p->token.text);
    }
    if (!is_good)
      return false;
  }
  return true;
}

static bool
resolve_labels(ptx_parser *p)
{
  for (uint32_t i = 0; i < p->reference_count; i++) {
    const ptx_reference *r = &p->references[i];
    ptx_symbol symbol;
    if (!ptx_find(p, r->scope, r->name, r->length, &symbol) || symbol.kind != PTX_SYMBOL_LABEL)
      return ptx_error(p, r->line, "there is no label '%.*s'", (int)r->length, r->name);
    if (r->in_table)
      p->module->tables[r->insn] = symbol.slot;
    else
      p->module->code[r->insn].target = symbol.slot;
  }
  p->reference_count = 0;
  return true;
}

/* Returns the final number of a slot. Constants follow the registers. */
static uint32_t
final_slot(const ptx_function *f, uint32_t slot)
{
  return slot < f->register_count || slot == PTX_NO_SLOT ? slot : f->register_count + (PTX_NO_SLOT - 1 - slot);
}

static void
number_slots(ptx_module *m, ptx_function *f)
{
  for (uint32_t i = f->first; i < m->code_count; i++)
    for (uint32_t k = 0; k < m->code[i].s_count; k++)
      m->code[i].s[k] = final_slot(f, m->code[i].s[k]);
  for (uint32_t i = 0; i < f->call_count; i++)
    for (uint32_t k = 0; k < f->calls[i].argument_count; k++)
      if (!f->calls[i].arguments[k].is_memory)
        f->calls[i].arguments[k].slot = final_slot(f, f->calls[i].arguments[k].slot);
}

/* ---- functions ----------------------------------------------------------------------------------------------------------- */

static bool
parse_limits(ptx_parser *p)
{
  ptx_function *f = p->function;
  while (p->token.kind == PTX_TOKEN_WORD) {
    const bool is_most = ptx_is_word(p, "maxntid"), is_required = ptx_is_word(p, "reqntid");
    uint64_t n[3] = {1, 1, 1};
    if (ptx_is_word(p, "pragma")) {
      if (!skip_pragma(p))
        return false;
      continue;
    }
    if (ptx_is_word(p, "noreturn")) {
      if (!ptx_next(p))
        return false;
      continue;
    }
    if (!is_most && !is_required && !ptx_is_word(p, "minnctapersm") && !ptx_is_word(p, "maxnreg") &&
        !ptx_is_word(p, "maxnctapersm"))
      return ptx_error(p, p->token.line, "unknown directive '.%.*s'", (int)p->token.length, p->token.text);
    if (!ptx_next(p))
      return false;
    uint32_t count = 0;
    do {
      if (count == 3 || !ptx_parse_integer(p, &n[count++]))
        return ptx_error(p, p->token.line, "expected one to three numbers");
    } while ((is_most || is_required) && ptx_accept_sign(p, ','));
    if (n[0] * n[1] * n[2] == 0 || n[0] > 1024 || n[1] > 1024 || n[2] > 1024)
      return ptx_error(p, p->token.line, "a block has 1 to 1024 threads");
    if (is_most)
      f->most_threads = (uint32_t)(n[0] * n[1] * n[2]);
    for (uint32_t i = 0; is_required && i < 3; i++)
      f->required[i] = (uint32_t)n[i];
  }
  return true;
}

static bool
find_function(ptx_parser *p, const ptx_token *name, bool is_entry)
{
  ptx_module *m = p->module;
  ptx_symbol *symbol = ptx_find_module(p, name);
  if (symbol) {
    if (symbol->kind != PTX_SYMBOL_FUNCTION || symbol->function->has_body || symbol->function->is_entry != is_entry)
      return ptx_error(p, name->line, "'%.*s' is declared twice", (int)name->length, name->text);
    p->function = symbol->function;
    return true;
  }
  /* The head's scope is already open, but the function's name belongs to the module's scope. */
  ptx_scope *inner = p->scope;
  ptx_scope_close(p);
  symbol = ptx_declare(p, name, PTX_SYMBOL_FUNCTION);
  p->scope = inner;
  if (!symbol)
    return false;
  if (!vyre_grow(NULL, &m->functions, &m->function_room, m->function_count + 1, sizeof *m->functions))
    return ptx_no_memory(p);
  ptx_function *f = ptx_new(m, sizeof *f);
  if (!f)
    return ptx_no_memory(p);
  f->name = ptx_copy_text(p, name);
  f->line = name->line;
  f->is_entry = is_entry;
  f->index = m->function_count;
  m->functions[m->function_count++] = symbol->function = p->function = f;
  return f->name != NULL;
}

/* The results come before the name, so they are skipped first and parsed when the function is known. */
static bool
parse_head(ptx_parser *p, bool is_entry)
{
  const char *results_at = p->at;
  const uint32_t results_line = p->line;
  const ptx_token results = p->token;
  const bool has_results = ptx_is_sign(p, '(');
  ptx_token name;
  uint32_t ignored;
  while (has_results && !ptx_is_sign(p, ')'))
    if (p->token.kind == PTX_TOKEN_END || !ptx_next(p))
      return ptx_error(p, p->token.line, "')' is missing");
  if ((has_results && !ptx_next(p)) || !ptx_expect_name(p, &name) || !find_function(p, &name, is_entry))
    return false;
  ptx_function *f = p->function;
  free(f->register_types);
  free(f->parameters);
  free(f->results);
  f->register_types = NULL;
  f->parameters = f->results = NULL;
  f->register_count = f->parameter_count = f->result_count = f->parameter_bytes = f->lane_bytes = 0;
  p->register_room = p->constant_room = p->shared_room = p->call_room = 0;
  if (!ptx_add_register(p, PTX_pred, &ignored)) /* the carry */
    return false;
  if (has_results) {
    const char *at = p->at;
    const uint32_t line = p->line;
    const ptx_token token = p->token;
    p->at = results_at;
    p->line = results_line;
    p->token = results;
    if (!ptx_parse_parameters(p, true))
      return false;
    p->at = at;
    p->line = line;
    p->token = token;
  }
  if (ptx_is_sign(p, '(') && !ptx_parse_parameters(p, false))
    return false;
  if (f->parameter_bytes > 32764)
    return ptx_error(p, name.line, "the parameters have more than 32764 bytes");
  return parse_limits(p);
}

static bool
parse_function(ptx_parser *p, bool is_entry)
{
  if (!p->has_target)
    return ptx_error(p, p->token.line, ".target is missing");
  if (!ptx_next(p) || !ptx_scope_open(p) || !parse_head(p, is_entry))
    return false;
  if (ptx_accept_sign(p, ';')) {
    ptx_scope_close(p);
    p->function = NULL;
    return true;
  }
  ptx_function *f = p->function;
  f->first = p->module->code_count;
  f->has_body = true;
  p->at_label = true;
  if (!ptx_expect_sign(p, '{') || !parse_body(p) || !resolve_labels(p))
    return false;
  f->count = p->module->code_count - f->first;
  number_slots(p->module, f);
  ptx_scope_close(p);
  p->function = NULL;
  return true;
}

static bool
parse_module(ptx_parser *p)
{
  bool is_extern = false;
  while (p->token.kind != PTX_TOKEN_END) {
    bool is_good;
    if (ptx_is_word(p, "version"))
      is_good = parse_version(p);
    else if (ptx_is_word(p, "target"))
      is_good = parse_target(p);
    else if (ptx_is_word(p, "address_size"))
      is_good = parse_address_size(p);
    else if (ptx_is_word(p, "visible") || ptx_is_word(p, "weak")) {
      if (!ptx_next(p))
        return false;
      continue;
    } else if (ptx_is_word(p, "extern")) {
      is_extern = true;
      if (!ptx_next(p))
        return false;
      continue;
    } else if (ptx_is_word(p, "entry") || ptx_is_word(p, "func"))
      is_good = parse_function(p, ptx_is_word(p, "entry"));
    else if (!p->has_target && p->token.kind == PTX_TOKEN_WORD && !ptx_is_word(p, "file"))
      is_good = ptx_error(p, p->token.line, ".version and .target come first");
    else if (ptx_is_word(p, "global") || ptx_is_word(p, "const") || ptx_is_word(p, "shared"))
      is_good = ptx_parse_variables(p, is_extern, false);
    else if (ptx_is_word(p, "file"))
      is_good = skip_line(p);
    else if (ptx_is_word(p, "section"))
      is_good = skip_section(p);
    else if (ptx_is_word(p, "pragma"))
      is_good = skip_pragma(p);
    else
      is_good = ptx_error(p, p->token.line, "unknown directive '%.*s'", (int)p->token.length, p->token.text);
    if (!is_good)
      return false;
    is_extern = false;
  }
  return p->has_target || ptx_error(p, p->line, ".version and .target are missing");
}

ptx_module *
ptx_module_parse(const char *text, size_t size, uint32_t sm, uint32_t version, char *log, size_t log_size)
{
  while (size && !text[size - 1]) /* `size` may include the terminator */
    size--;
  if (log_size)
    *log = 0;
  ptx_parser *p = calloc(1, sizeof *p);
  ptx_module *module = calloc(1, sizeof *module);
  if (p && module) {
    *p = (ptx_parser){.at = text, .end = text + size, .line = 1, .module = module, .sm = sm, .version = version};
    p->log = log;
    p->log_size = log_size;
    const bool is_good = ptx_scope_open(p) && ptx_next(p) && parse_module(p) && ptx_link(p);
    ptx_scopes_free(p);
    free(p->references);
    if (!is_good) {
      ptx_module_free(module);
      module = NULL;
    }
  } else {
    free(module);
    module = NULL;
  }
  free(p);
  return module;
}
