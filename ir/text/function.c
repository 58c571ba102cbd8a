/* Functions exist only in the text: the parser inlines each call.
 *
 * A call parses the function's body again, in a new scope that contains the parameters. The declaration parses the body once, into
 * a temporary program, so that its errors are reported once and at their position. The amount of inlined text is limited for each
 * program because nested calls multiply.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "parser.h"

#include <string.h>

static int
shown_length(uint32_t length)
{
  return length < 60 ? (int)length : 60;
}

/* ---- declarations ---- */

static bool
parse_parameter(text_parser *p)
{
  text_token name = p->lexer.token;
  text_parameter parameter = {.at = name.name, .length = name.name_length};
  if (name.kind != TOKEN_NAME)
    return text_expected(p, "a parameter");
  text_lex(&p->lexer);
  if (!text_expect_mark(p, ':'))
    return false;
  if (text_accept_word(p, "path")) {
    parameter.type = VYRE_TYPE(VYRE_PATH, 1);
    if (!text_parse_type(p, &parameter.path))
      return false;
  } else if (!text_parse_scalar_type(p, &parameter.type)) {
    return false;
  }
  if (!text_grow(p, &p->parameters, &p->parameter_capacity, p->parameter_count, sizeof(parameter)))
    return false;
  p->parameters[p->parameter_count++] = parameter;
  return true;
}

/* Skips the body after its opening brace, and determines whether a jump in it needs an enclosing block to leave. */
static bool
scan_body(text_parser *p, text_function *function, uint32_t brace)
{
  uint32_t depth = 1;
  function->body = p->lexer.behind;
  while (depth) {
    if (p->lexer.token.kind == TOKEN_END)
      return text_error(p, brace, 1, NULL, "the function that begins here does not end");
    if (text_is_mark(p, '{'))
      depth++;
    else if (text_is_mark(p, '}'))
      depth--;
    else if (text_is_word(p, "return"))
      function->early |= depth > 1;
    else if (text_is_word(p, "trap"))
      function->early |= depth == 1;
    text_lex(&p->lexer);
  }
  function->body_end = p->lexer.behind;
  return true;
}

static bool
parse_head(text_parser *p, text_function *function)
{
  text_lex(&p->lexer);
  text_token name = p->lexer.token;
  const char *text = p->lexer.text;
  if (name.kind != TOKEN_GLOBAL)
    return text_expected(p, "the name of the function, like @f");
  function->name = name.start;
  function->name_length = name.length;
  function->first_parameter = p->parameter_count;
  if (text_symbols_find(&p->globals, SCOPE_FUNCTION, text + name.name, name.name_length))
    return text_error_token(p, NULL, "function %.*s is defined twice", shown_length(name.length), text + name.start);
  text_lex(&p->lexer);
  if (!text_expect_mark(p, '('))
    return false;
  while (!text_is_mark(p, ')')) {
    if (!parse_parameter(p))
      return false;
    if (!text_accept_mark(p, ','))
      break;
  }
  function->parameter_count = p->parameter_count - function->first_parameter;
  if (!text_expect_mark(p, ')'))
    return false;
  if (p->lexer.token.kind == TOKEN_ARROW) {
    text_lex(&p->lexer);
    if (!text_parse_scalar_type(p, &function->result))
      return false;
  }
  uint32_t brace = p->lexer.token.start;
  if (!text_expect_mark(p, '{') || !scan_body(p, function, brace))
    return false;
  if (!text_symbols_add(&p->globals, SCOPE_FUNCTION, name.name, name.name_length, p->function_count) ||
      !text_grow(p, &p->functions, &p->function_capacity, p->function_count, sizeof(*function))) {
    text_no_memory(p);
    return false;
  }
  p->functions[p->function_count++] = *function;
  return true;
}

/* ---- inlining ---- */

static bool
bind_parameters(text_parser *p, const text_function *function, const uint32_t *rows)
{
  for (uint32_t i = 0; i < function->parameter_count; i++) {
    const text_parameter *parameter = &p->parameters[function->first_parameter + i];
    if (text_symbols_find(&p->names, p->scope, p->lexer.text + parameter->at, parameter->length))
      return text_error(p, parameter->at, parameter->length, NULL, "parameter %%%.*s is defined twice",
                        shown_length(parameter->length), p->lexer.text + parameter->at);
    if (!text_symbols_add(&p->names, p->scope, parameter->at, parameter->length, rows[i])) {
      text_no_memory(p);
      return false;
    }
  }
  return true;
}

/* Parses a body into the current region and stores its result in `call`. */
static void
parse_body(text_parser *p, const text_function *function, text_call *call)
{
  uint32_t region = p->builder.region;
  if (function->early) {
    if (function->result)
      call->var = vyre_build_var(&p->builder, function->result).id;
    call->block = vyre_build_block(&p->builder).id;
    region = p->builder.region;
  }
  text_call *outer = p->call;
  call->base = p->frame_count;
  p->call = call;
  p->lexer.cursor = function->body;
  text_lex(&p->lexer);
  if (text_push_frame(p, FRAME_FUNCTION, call->block, region, function->body - 1)) {
    text_parse_statements(p, (uint32_t)call->base);
    bool ended = !p->stop && p->frames[call->base].ended;
    if (function->result && !ended)
      text_error(p, function->name, function->name_length, "end it with return and a value",
                 "%.*s can end without returning a value", shown_length(function->name_length), p->lexer.text + function->name);
  } else {
    p->stop = true;
  }
  p->call = outer;
  p->frame_count = (uint32_t)call->base;
  if (call->block)
    vyre_builder_leave(&p->builder, (vyre_row){call->block});
  if (call->var) {
    call->result = (text_operand){.row = vyre_build_get(&p->builder, (vyre_row){call->var}).id, .type = function->result};
    if (!call->result.row)
      text_no_memory(p);
  }
}

/* Inlines function `index`, called with `rows`, and sets `out` to its result. Returns false if parsing must stop. */
static bool
inline_call(text_parser *p, uint32_t index, const uint32_t *rows, text_operand *out)
{
  text_function function = p->functions[index];
  uint32_t start = out->start, length = out->length;
  if (function.active)
    return text_error(p, start, length, "write it as a loop", "%.*s calls itself", shown_length(function.name_length),
                      p->lexer.text + function.name);
  out->type = function.result;
  out->fresh = true;
  out->bad = function.bad;
  p->inlined += function.body_end - function.body;
  if (p->inlined > TEXT_MAX_INLINED) {
    text_error(p, start, length, "call fewer or shorter functions",
               "the functions inlined into this program have more than %u MiB of text", TEXT_MAX_INLINED >> 20);
    p->stop = true;
    return false;
  }
  if (function.bad)
    return true;
  text_lexer lexer = p->lexer;
  uint32_t scope = p->scope;
  text_call call = {.function = index, .result = {.bad = true}};
  p->functions[index].active = true;
  p->scope = p->next_scope++;
  if (bind_parameters(p, &function, rows))
    parse_body(p, &function, &call);
  p->functions[index].active = false;
  p->scope = scope;
  p->lexer = lexer;
  if (function.result) {
    bool bad = call.result.bad;
    *out = call.result;
    out->bad = bad;
    out->fresh = true;
    out->start = start;
    out->length = length;
  }
  return !p->stop;
}

/* Parses the body into a temporary program to report its errors. */
static void
check_function(text_parser *p, uint32_t index)
{
  text_function function = p->functions[index];
  uint32_t errors = p->errors;
  uint32_t base = p->stack.count;
  vyre_row program = vyre_build_program(p->module, "", 0, p->input, &p->builder);
  p->program = program.id;
  p->scope = p->program_scope = p->next_scope++;
  p->inlined = 0;
  p->in_body = true; /* the body has no declarations */
  text_symbols_forget(&p->names, p->scope);
  for (uint32_t i = 0; i < function.parameter_count; i++) {
    const text_parameter *parameter = &p->parameters[function.first_parameter + i];
    vyre_row row;
    if (parameter->path)
      row = vyre_build_buffer(&p->builder, parameter->path, VYRE_SPACE_STORAGE, 0, 0, 0);
    else
      row = vyre_build(&p->builder, VYRE_OP_get, parameter->type, 0, 0, 0, VYRE_NONE, VYRE_NONE, VYRE_NONE);
    text_push_word(p, &p->stack, row.id);
  }
  text_operand out = {.start = function.name, .length = function.name_length};
  if (text_push_frame(p, FRAME_PROGRAM, p->program, p->program, function.name) && !p->stop)
    inline_call(p, index, p->stack.data + base, &out);
  p->frame_count = 0;
  p->stack.count = base;
  p->functions[index].bad = p->errors > errors;
  p->program = 0;
  if (program.id)
    vyre_row_kill(p->module, program);
}

bool
text_parse_function(text_parser *p)
{
  text_function function = {0};
  if (!parse_head(p, &function))
    return false;
  text_lexer lexer = p->lexer;
  check_function(p, p->function_count - 1);
  p->lexer = lexer;
  return !p->stop;
}

/* ---- calls and returns ---- */

static bool
parse_arguments(text_parser *p, const text_function *function, const text_token *name, bool *out_bad)
{
  uint32_t count = 0;
  *out_bad = false;
  for (; !text_is_mark(p, ')'); count++) {
    text_operand argument;
    if (!text_parse_operand(p, &argument))
      return false;
    const text_parameter *parameter = count < function->parameter_count ? &p->parameters[function->first_parameter + count] : NULL;
    bool is_path = parameter && parameter->path;
    if (!is_path)
      text_require_value(p, &argument);
    bool fits = !parameter || argument.bad || argument.type == parameter->type;
    if (fits && is_path && !argument.bad)
      fits = vyre_path_type(p->module, (vyre_row){argument.row}) == parameter->path;
    char found[160];
    char wanted[96];
    if (!fits) {
      if (is_path)
        text_describe_type(p, parameter->path, wanted);
      else
        vyre_text_type(parameter->type, wanted);
      argument.bad = !text_error(p, argument.start, argument.length, NULL, "argument %u of %.*s must be %s%s, but is %s", count + 1,
                                 shown_length(name->length), p->lexer.text + name->start, is_path ? "a path to " : "", wanted,
                                 text_describe(p, &argument, found));
    }
    *out_bad |= argument.bad;
    if (!text_push_word(p, &p->stack, text_row_of(p, &argument)))
      return false;
    if (!text_accept_mark(p, ',')) {
      count++;
      break;
    }
  }
  if (!text_expect_mark(p, ')'))
    return false;
  if (count != function->parameter_count)
    *out_bad =
        !text_error(p, name->start, name->length, NULL, "%.*s takes %u argument%s, but the call has %u", shown_length(name->length),
                    p->lexer.text + name->start, function->parameter_count, function->parameter_count == 1 ? "" : "s", count);
  return true;
}

bool
text_parse_call(text_parser *p, bool is_statement, text_operand *out)
{
  text_token name = p->lexer.token;
  const char *text = p->lexer.text;
  uint32_t base = p->stack.count;
  const text_symbol *symbol = text_symbols_find(&p->globals, SCOPE_FUNCTION, text + name.name, name.name_length);
  if (!symbol) {
    char fix[96];
    uint32_t length;
    const char *near = text_symbols_nearest(&p->globals, SCOPE_FUNCTION, text + name.name, name.name_length, &length);
    return text_error_token(p, near ? text_suggest(fix, "@", near, length) : "declare functions above their first use",
                            "unknown function %.*s", shown_length(name.length), text + name.start);
  }
  uint32_t index = symbol->value;
  text_function function = p->functions[index];
  text_lex(&p->lexer);
  bool bad;
  if (!text_expect_mark(p, '(') || !parse_arguments(p, &function, &name, &bad)) {
    p->stack.count = base;
    return false;
  }
  out->length = p->lexer.behind - out->start;
  bool good = true;
  if (!function.result && !is_statement && !bad)
    bad =
        !text_error(p, name.start, name.length, NULL, "%.*s does not return a value", shown_length(name.length), text + name.start);
  if (bad) {
    out->bad = true;
    out->type = function.result;
  } else { /* the body may move the stack, but the parameters are bound before it is parsed */
    good = inline_call(p, index, p->stack.data + base, out);
  }
  p->stack.count = base;
  return good;
}

bool
text_parse_return(text_parser *p)
{
  text_token word = p->lexer.token;
  text_lex(&p->lexer);
  bool has_value = !p->lexer.token.first_on_line && !text_is_mark(p, '}') && p->lexer.token.kind != TOKEN_END;
  text_call *call = p->call;
  vyre_type result = call ? p->functions[call->function].result : 0;
  if (has_value != (result != 0)) {
    if (has_value)
      return text_error_token(p, "remove the value",
                              call ? "the function does not return a value" : "a program cannot return a value");
    return text_error(p, word.start, word.length, "add the value", "return needs a value in this function");
  }
  text_operand value = {0};
  if (has_value) {
    if (!text_parse_value(p, &value))
      return false;
    text_require_value(p, &value);
    char found[48];
    char wanted[48];
    if (!value.bad && value.type != result)
      value.bad = !text_error(p, value.start, value.length, NULL, "the function returns %s, but the value is %s",
                              vyre_text_type(result, wanted), vyre_text_type(value.type, found));
    text_row_of(p, &value);
  }
  if (!call) {
    vyre_build_jump(&p->builder, VYRE_OP_return, VYRE_NONE);
  } else if (call->block) {
    if (call->var)
      vyre_build_set(&p->builder, (vyre_row){call->var}, (vyre_row){value.row});
    vyre_build_jump(&p->builder, VYRE_OP_leave, (vyre_row){call->block});
  } else {
    call->result = value;
  }
  return true;
}
