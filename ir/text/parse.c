/* Parses `.vir` text into a module: structs, functions, programs.
 *
 * One pass over the text builds the rows; names are found in a hash table of positions in the text. Memory beside the module: 16 to
 * 43 bytes per name. The run time is linear, except for the line numbers of errors. The section "Errors" of docs/ir.md lists the
 * limits.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "op.h"
#include "parser.h"
#include "vyre/environment.h"

#include <string.h>

static uint32_t
parse_modes(text_parser *p)
{
  uint32_t mode = 0;
  for (const text_bit_word *word = text_mode_words; word->word;) {
    if (text_accept_word(p, word->word)) {
      mode |= word->bits;
      word = text_mode_words;
    } else {
      word++;
    }
  }
  return mode;
}

/* Parses the arguments of workgroup(64, 1, 1). */
static bool
parse_size(text_parser *p, uint32_t size[3])
{
  for (uint32_t i = 0; i < 3; i++)
    if (!text_expect_mark(p, i ? ',' : '(') || !text_expect_integer(p, UINT32_MAX, &size[i]))
      return false;
  return text_expect_mark(p, ')');
}

static bool
begin_program(text_parser *p, const text_token *name, uint32_t mode, vyre_string entry, const uint32_t size[3])
{
  vyre_string string = text_intern(p, name->name, name->name_length, name->escaped);
  vyre_row program = vyre_build_program(p->module, vyre_string_text(p->module, string), mode, p->input, &p->builder);
  if (!program.id) {
    text_no_memory(p);
    return false;
  }
  vyre_program_info_of(p->module, program)->entry = entry;
  p->program = program.id;
  p->scope = p->program_scope = p->next_scope++;
  p->inlined = 0;
  p->top_last = 0;
  p->computed = p->in_body = false;
  text_symbols_forget(&p->names, p->scope);
  if (size[0] != 1 || size[1] != 1 || size[2] != 1) {
    vyre_row rows[3];
    for (uint32_t i = 0; i < 3; i++)
      rows[i] = vyre_build_const(&p->builder, VYRE_TYPE(VYRE_U32, 1), size[i]);
    vyre_build_workgroup(&p->builder, rows[0], rows[1], rows[2]);
  }
  return true;
}

static bool
parse_program(text_parser *p)
{
  text_lex(&p->lexer);
  text_token name = p->lexer.token;
  const char *text = p->lexer.text;
  uint32_t mode;
  uint32_t size[3] = {1, 1, 1};
  vyre_string entry = 0;
  if (name.kind != TOKEN_GLOBAL)
    return text_expected(p, "the name of the program, like @main");
  if (name.name_length && text_symbols_find(&p->globals, SCOPE_PROGRAM, text + name.name, name.name_length))
    text_error_token(p, NULL, "program %.*s is defined twice", name.length < 60 ? (int)name.length : 60, text + name.start);
  else if (!text_symbols_add(&p->globals, SCOPE_PROGRAM, name.name, name.name_length, 1))
    text_no_memory(p);
  text_lex(&p->lexer);
  mode = parse_modes(p);
  if (text_accept_word(p, "entry")) {
    if (p->lexer.token.kind != TOKEN_STRING)
      return text_expected(p, "the name of the entry point in quotes");
    entry = text_intern(p, p->lexer.token.name, p->lexer.token.name_length, p->lexer.token.escaped);
    text_lex(&p->lexer);
  }
  if (text_accept_word(p, "workgroup") && !parse_size(p, size))
    return false;
  uint32_t brace = p->lexer.token.start;
  if (!text_is_mark(p, '{'))
    return text_expected(p, "relaxed, flush_f16, flush_f32, flush_f64, rtz_f16, rtz_f32, rtz_f64, workgroup(...) or '{'");
  text_lex(&p->lexer);
  if (!begin_program(p, &name, mode, entry, size) || !text_push_frame(p, FRAME_PROGRAM, p->program, p->program, brace))
    return false;
  bool good = text_parse_statements(p, 0);
  p->program = 0;
  return good || !p->stop;
}

/* Skips to the next line that begins with program, func or struct. */
static void
skip_to_program(text_parser *p)
{
  do {
    if (p->lexer.token.first_on_line && (text_is_word(p, "program") || text_is_word(p, "func") || text_is_word(p, "struct")))
      return;
    text_lex(&p->lexer);
  } while (p->lexer.token.kind != TOKEN_END);
}

static void
parse_module(text_parser *p)
{
  while (p->lexer.token.kind != TOKEN_END && !p->stop) {
    bool good;
    if (text_is_word(p, "program"))
      good = parse_program(p);
    else if (text_is_word(p, "func"))
      good = text_parse_function(p);
    else if (text_is_word(p, "struct"))
      good = text_parse_struct(p);
    else
      good = text_expected(p, "program, func or struct");
    p->frame_count = 0;
    p->stack.count = 0;
    if (!good && !p->stop)
      skip_to_program(p);
  }
}

static void
free_parser(text_parser *p)
{
  const vyre_allocator *allocator = p->allocator;
  text_symbols_free(&p->names);
  text_symbols_free(&p->globals);
  text_symbols_free(&p->members);
  text_scalars_free(&p->scalars);
  if (p->numbers.data)
    allocator->resize(allocator->user, p->numbers.data, p->numbers.capacity * sizeof(uint32_t), 0);
  if (p->lines.data)
    allocator->resize(allocator->user, p->lines.data, p->lines.capacity * sizeof(uint32_t), 0);
  if (p->stack.data)
    allocator->resize(allocator->user, p->stack.data, p->stack.capacity * sizeof(uint32_t), 0);
  if (p->frames)
    allocator->resize(allocator->user, p->frames, p->frame_capacity * sizeof(*p->frames), 0);
  if (p->functions)
    allocator->resize(allocator->user, p->functions, p->function_capacity * sizeof(*p->functions), 0);
  if (p->parameters)
    allocator->resize(allocator->user, p->parameters, p->parameter_capacity * sizeof(*p->parameters), 0);
  if (p->struct_members)
    allocator->resize(allocator->user, p->struct_members, p->struct_member_capacity * sizeof(*p->struct_members), 0);
}

static bool
find_lines(text_parser *p)
{
  const char *text = p->lexer.text, *end = text + p->lexer.length;
  bool good = true;
  for (const char *at = text; at && good; at = memchr(at, '\n', (size_t)(end - at)), at = at ? at + 1 : NULL)
    good = text_push_word(p, &p->lines, (uint32_t)(at - text));
  return good;
}

static vyre_status
parse(vyre_module *module, const char *text, size_t length, const char *path, bool lines, vyre_diagnostics diagnostics)
{
  const char *shown = path ? path : "text";
  if (length >= UINT32_MAX - 1)
    return VYRE_ERROR(VYRE_CODE_INPUT, "%s: the text has %zu bytes, but the limit is 4 GiB\nFix: split it into several files",
                      shown, length);
  /* a row has about 25 bytes of text, so this is about twelve times the number of rows */
  vyre_module_reserve(module, (uint32_t)length / 2);
  text_parser parser = {
      .lexer = {.text = text, .length = (uint32_t)length},
      .path = path,
      .diagnostics = diagnostics,
      .allocator = vyre_module_allocator(module),
      .module = module,
      .view = vyre_module_view(module),
      .input = vyre_module_add_input(module, path),
      .line_scope = lines ? vyre_scope_of_file(module, vyre_string_intern(module, shown, strlen(shown))) : 0,
      .next_scope = SCOPE_FIRST,
  };
  text_symbols empty = {.text = text, .length = (uint32_t)length, .allocator = parser.allocator};
  parser.names = parser.globals = parser.members = empty;
  text_fill_ops(&parser);
  if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
    parser.lexer.cursor = 3;
  text_lex(&parser.lexer);
  /* allocates the stack, so that `stack.data` is never NULL */
  if ((!lines || find_lines(&parser)) && text_push_word(&parser, &parser.stack, 0))
    parse_module(&parser);
  free_parser(&parser);
  VYRE_TRY(vyre_module_status(module));
  if (parser.errors)
    return VYRE_ERROR(VYRE_CODE_INPUT, "%s: %u error%s%s\nFix: correct the marked places; docs/ir.md describes the text", shown,
                      parser.errors, parser.errors == 1 ? "" : "s", parser.errors == TEXT_MAX_ERRORS ? ", and perhaps more" : "");
  if (parser.stop)
    return VYRE_OUT_OF_MEMORY("while parsing");
  return vyre_module_seal(module, NULL);
}

vyre_status
vyre_text_parse(vyre_module *module, const char *text, size_t length, const char *path, vyre_diagnostics diagnostics)
{
  VYRE_OWN_ENVIRONMENT;
  return parse(module, text, length, path, false, diagnostics);
}

vyre_status
vyre_text_parse_lines(vyre_module *module, const char *text, size_t length, const char *path, vyre_diagnostics diagnostics)
{
  VYRE_OWN_ENVIRONMENT;
  return parse(module, text, length, path, true, diagnostics);
}
