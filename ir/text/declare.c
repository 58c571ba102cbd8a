/* Parses the declarations at the top of a program: spec, buffer, var, workgroup.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "table/subgroup.h"
#include "memory.h"
#include "op.h"
#include "parser.h"
#include "vyre/opaque.h"

/* ---- declarations ---- */

static bool
parse_declared_name(text_parser *p, const char *what, text_token *out)
{
  *out = p->lexer.token;
  if (out->kind != TOKEN_NAME && out->kind != TOKEN_NUMBERED)
    return text_expected(p, what);
  text_lex(&p->lexer);
  return text_expect_mark(p, ':');
}

static bool
parse_parenthesised(text_parser *p, uint32_t *out)
{
  return text_expect_mark(p, '(') && text_expect_integer(p, UINT32_MAX, out) && text_expect_mark(p, ')');
}

void
text_scan_top(text_parser *p)
{
  const vyre_view *v = p->view;
  bool restart = p->top_last == 0 || VYRE_ROW_OP(v->op[p->top_last]) == VYRE_OP_null;
  for (uint32_t row = restart ? v->first[p->program] : v->next[p->top_last]; row && !p->in_body; row = v->next[row]) {
    uint32_t op = VYRE_ROW_OP(v->op[row]);
    bool declares = op <= VYRE_OP_buffer;
    bool computes = (vyre_op_infos[op].flags & VYRE_OP_PURE) && op >= VYRE_OP_tuple && !vyre_op_is_subgroup(op);
    p->computed |= !declares && computes;
    p->in_body = !declares && !computes;
    p->top_last = row;
  }
}

static bool
finish_declaration(text_parser *p, const text_token *name, vyre_row row)
{
  if (!row.id) {
    text_no_memory(p);
    return false;
  }
  /* the builder inserted it before the computed rows, and the printed order would differ from the text */
  if (p->computed && !p->in_body && !p->call) {
    vyre_row_unlink(p->module, row);
    vyre_row_insert(p->module, row, (vyre_row){p->program}, VYRE_NONE);
  }
  text_define(p, name, row.id);
  text_set_name(p, row.id, name);
  return text_parse_decorations(p, row.id);
}

bool
text_parse_spec(text_parser *p)
{
  text_token name;
  vyre_type type, literal_type;
  uint64_t bits;
  uint32_t id = UINT32_MAX;
  text_lex(&p->lexer);
  if (!parse_declared_name(p, "the name of the specialization constant", &name) || !text_parse_scalar_type(p, &type) ||
      !text_expect_mark(p, '='))
    return false;
  text_token literal = p->lexer.token;
  if (!text_parse_literal(p, &literal_type, &bits))
    return false;
  char wanted[48];
  char found[48];
  if (literal_type && literal_type != type)
    text_error(p, literal.start, literal.length, NULL, "the default is %s, but the specialization constant is %s",
               vyre_text_type(literal_type, found), vyre_text_type(type, wanted));
  if (VYRE_TYPE_LANES(type) > 1)
    text_error(p, name.start, name.length, NULL, "a specialization constant must be a scalar");
  if (text_accept_word(p, "id") && !parse_parenthesised(p, &id))
    return false;
  return finish_declaration(p, &name, vyre_build_spec(&p->builder, type, bits, id));
}

/* A var in a function that is not unset is set to zero at each call, because calls are inlined and may be in a loop. */
bool
text_parse_var(text_parser *p)
{
  text_token name;
  vyre_type type;
  text_lex(&p->lexer);
  if (!parse_declared_name(p, "the name of the var", &name))
    return false;
  if (text_is_word(p, "spirv") && !p->call) {
    vyre_type_id opaque;
    return text_parse_type(p, &opaque) && finish_declaration(p, &name, vyre_build_opaque_var(&p->builder, opaque));
  }
  if (!text_parse_scalar_type(p, &type))
    return false;
  const bool is_unset = text_accept_word(p, "unset");
  const vyre_row var = is_unset ? vyre_build_unset_var(&p->builder, type) : vyre_build_var(&p->builder, type);
  if (p->call && var.id && !is_unset)
    vyre_build_set(&p->builder, var, vyre_build_const(&p->builder, type, 0));
  return finish_declaration(p, &name, var);
}

bool
text_parse_workgroup(text_parser *p)
{
  text_operand sizes[3];
  text_lex(&p->lexer);
  for (uint32_t i = 0; i < 3; i++) {
    if ((i && !text_expect_mark(p, ',')) || !text_parse_operand(p, &sizes[i]))
      return false;
    text_require_value(p, &sizes[i]);
    text_row_of(p, &sizes[i]);
  }
  if (!sizes[0].bad && !sizes[1].bad && !sizes[2].bad)
    vyre_build_workgroup(&p->builder, (vyre_row){sizes[0].row}, (vyre_row){sizes[1].row}, (vyre_row){sizes[2].row});
  return true;
}

/* ---- initializers ---- */

/* Parses `[a, b, ...]`, the literals of all scalars of the type in layout order. */
static bool
parse_initializer(text_parser *p, vyre_type_id type, uint32_t *out)
{
  uint32_t base = p->stack.count;
  uint32_t start = p->lexer.token.start;
  uint64_t count = 0;
  text_walk walk;
  if (!text_scalars_update(&p->scalars, p->module, p->allocator)) {
    text_no_memory(p);
    return false;
  }
  uint64_t wanted = text_scalar_count(&p->scalars, p->module, type);
  if (wanted > UINT32_MAX)
    return text_error_token(p, NULL, "an initializer needs a type of fixed size");
  text_walk_start(&walk, &p->scalars, p->module, type);
  if (!text_expect_mark(p, '['))
    return false;
  for (; !text_is_mark(p, ']'); count++) {
    vyre_type found, want = text_walk_next(&walk);
    uint64_t bits;
    text_token token = p->lexer.token;
    if (!text_parse_literal(p, &found, &bits))
      return false;
    char found_text[48];
    char want_text[48];
    if (found && want && found != want)
      text_error(p, token.start, token.length, NULL, "value %llu of the initializer must be %s, but is %s",
                 (unsigned long long)count + 1, vyre_text_type(want, want_text), vyre_text_type(found, found_text));
    if (!text_push_word(p, &p->stack, (uint32_t)bits) ||
        (vyre_kind_bits(VYRE_TYPE_KIND(want)) == 64 && !text_push_word(p, &p->stack, (uint32_t)(bits >> 32))))
      return false;
    if (!text_accept_mark(p, ',')) {
      count++;
      break;
    }
  }
  if (!text_expect_mark(p, ']'))
    return false;
  if (walk.deep)
    return text_error(p, start, 1, NULL, "the type nests deeper than %u", TEXT_WALK_DEPTH);
  if (count != wanted)
    text_error(p, start, 1, NULL, "the initializer has %llu value%s, but the type has %llu", (unsigned long long)count,
               count == 1 ? "" : "s", (unsigned long long)wanted);
  *out = vyre_module_add_initializer(p->module, p->stack.data + base, p->stack.count - base);
  p->stack.count = base;
  return true;
}

/* ---- buffers ---- */

typedef struct buffer_words {
  vyre_space space;
  uint32_t access, set, binding, id;
  bool has_set, has_binding;
} buffer_words;

/* Returns whether the current token begins `set(0)`, and not the statement `set %var, ...` after the buffer. */
static bool
is_set_number(const text_parser *p)
{
  text_lexer ahead = p->lexer;
  if (!text_is_word(p, "set"))
    return false;
  text_lex(&ahead);
  return ahead.token.kind != TOKEN_NAME && ahead.token.kind != TOKEN_NUMBERED;
}

static bool
parse_buffer_words(text_parser *p, buffer_words *out)
{
  *out = (buffer_words){.space = VYRE_SPACE__COUNT};
  for (uint32_t space = 0; space < VYRE_SPACE__COUNT; space++)
    if (text_is_word(p, text_space_words[space]))
      out->space = (vyre_space)space;
  if (out->space == VYRE_SPACE__COUNT)
    return text_expected(p, "storage, uniform, push, workgroup, private or constant");
  text_lex(&p->lexer);
  for (;;) {
    uint32_t access = text_parse_access(p);
    out->access |= access;
    if (access || text_accept_word(p, "rw"))
      continue;
    if (is_set_number(p)) {
      text_lex(&p->lexer);
      out->has_set = true;
      if (!parse_parenthesised(p, &out->set))
        return false;
    } else if (text_accept_word(p, "binding")) {
      out->has_binding = true;
      if (!parse_parenthesised(p, &out->binding))
        return false;
    } else if (!text_accept_word(p, "id")) {
      return true;
    } else if (!parse_parenthesised(p, &out->id)) {
      return false;
    }
  }
}

bool
text_parse_buffer(text_parser *p)
{
  text_token name;
  vyre_type_id type;
  buffer_words words;
  uint32_t initializer = UINT32_MAX;
  text_lex(&p->lexer);
  if (!parse_declared_name(p, "the name of the buffer", &name) || !text_parse_type(p, &type) || !parse_buffer_words(p, &words))
    return false;
  bool bound = words.space == VYRE_SPACE_STORAGE || words.space == VYRE_SPACE_UNIFORM || words.space == VYRE_SPACE_HANDLE;
  if (bound && !words.has_binding)
    text_error(p, name.start, name.length, "add set(0) binding(0), for example", "a %s buffer needs a binding",
               text_space_words[words.space]);
  if (!bound && (words.has_set || words.has_binding))
    text_error(p, name.start, name.length, "remove them", "a %s buffer cannot have a set or binding",
               text_space_words[words.space]);
  if (text_is_mark(p, '=')) {
    if (words.space == VYRE_SPACE_WORKGROUP) { /* the initializer is zero for every type */
      text_lex(&p->lexer);
      if (!text_expect_mark(p, '['))
        return false;
      if (!text_accept_mark(p, ']'))
        return text_error_token(p, "write = []", "a workgroup buffer can only be initialized with zero");
      initializer = vyre_module_add_initializer(p->module, NULL, 0);
    } else if (words.space != VYRE_SPACE_CONSTANT && words.space != VYRE_SPACE_PRIVATE)
      return text_error_token(p, "remove the initializer", "a %s buffer cannot have an initializer", text_space_words[words.space]);
    else {
      text_lex(&p->lexer);
      if (!parse_initializer(p, type, &initializer))
        return false;
    }
  }
  vyre_row row = vyre_build_buffer(&p->builder, type, words.space, words.access, words.set, words.binding);
  vyre_buffer_info *info = vyre_buffer_info_of(p->module, row);
  info->spirv_id = words.id;
  info->initializer = initializer;
  return finish_declaration(p, &name, row);
}
