/* Parses statements of a function's body: instructions and calls, with their guards.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "targets/cuda/sim/ptx/parse.h"

#include "base/grow.h"

#include <string.h>

static bool
add_insn(ptx_parser *p, const ptx_insn *insn)
{
  ptx_module *m = p->module;
  if (!vyre_grow(NULL, &m->code, &m->code_room, m->code_count + 1, sizeof *m->code))
    return ptx_no_memory(p);
  m->code[m->code_count++] = *insn;
  return true;
}

bool
ptx_add_end(ptx_parser *p)
{
  ptx_insn insn = {.action = PTX_DO_RETURN, .is_leader = true, .line = p->token.line};
  return add_insn(p, &insn);
}

static bool
parse_guard(ptx_parser *p, ptx_insn *insn)
{
  ptx_token name;
  ptx_symbol symbol;
  if (!ptx_accept_sign(p, '@'))
    return !p->has_failed;
  insn->guard_is_negated = ptx_accept_sign(p, '!');
  insn->is_guarded = true;
  if (!ptx_expect_name(p, &name))
    return false;
  if (!ptx_find(p, p->scope, name.text, name.length, &symbol) || symbol.kind != PTX_SYMBOL_REGISTER || symbol.type != PTX_pred)
    return ptx_error(p, name.line, "'%.*s' is not a predicate", (int)name.length, name.text);
  insn->guard = symbol.slot;
  return true;
}

static bool
parse_words(ptx_parser *p, const ptx_token *name)
{
  p->word_count = 0;
  while (p->token.kind == PTX_TOKEN_WORD) {
    const ptx_word word = ptx_find_word(&p->token);
    if (!word || p->word_count == PTX_INSN_WORDS)
      return ptx_error(p, p->token.line, "unknown word '.%.*s' of '%.*s'", (int)p->token.length, p->token.text, (int)name->length,
                       name->text);
    p->words[p->word_count++] = word;
    if (!ptx_next(p))
      return false;
  }
  return true;
}

bool
ptx_parse_instruction(ptx_parser *p)
{
  ptx_insn insn = {.line = p->token.line, .is_leader = p->at_label};
  ptx_token name;
  if (!parse_guard(p, &insn))
    return false;
  insn.line = p->token.line;
  if (!ptx_expect_name(p, &name) || !parse_words(p, &name))
    return false;
  if (ptx_token_is(&name, "call")) {
    if (!ptx_parse_call(p, &insn))
      return false;
  } else if (!ptx_parse_operands(p) || !ptx_match(p, &name, &insn)) {
    return false;
  }
  p->at_label = insn.action == PTX_DO_CALL; /* lanes return to the next instruction */
  return add_insn(p, &insn) && ptx_expect_sign(p, ';');
}

/* ---- calls --------------------------------------------------------------------------------------------------------------- */

static bool
parse_passed(ptx_parser *p, bool is_result, ptx_passed *out)
{
  ptx_symbol symbol;
  const ptx_token token = p->token;
  memset(out, 0, sizeof *out);
  if (token.kind != PTX_TOKEN_NAME) {
    uint64_t value;
    out->bits = 64;
    if (is_result)
      return ptx_error(p, token.line, "a result must be a variable or a register");
    return ptx_parse_integer(p, &value) && ptx_add_constant(p, PTX_CONSTANT_VALUE, 0, value, &out->slot);
  }
  if (!ptx_next(p))
    return false;
  if (!ptx_find(p, p->scope, token.text, token.length, &symbol))
    return ptx_error(p, token.line, "unknown name '%.*s'", (int)token.length, token.text);
  if (symbol.kind == PTX_SYMBOL_REGISTER) {
    out->slot = symbol.slot;
    out->bits = (uint8_t)ptx_bits(symbol.type);
    return true;
  }
  if (symbol.kind != PTX_SYMBOL_VARIABLE || symbol.variable->space != PTX_param || symbol.variable->is_kernel_parameter)
    return ptx_error(p, token.line, "'%.*s' cannot be passed to a call", (int)token.length, token.text);
  *out = (ptx_passed){.is_memory = true, .offset = symbol.variable->offset, .size = (uint32_t)symbol.variable->size};
  return true;
}

static bool
parse_list(ptx_parser *p, bool are_results, ptx_passed **out, uint32_t *out_count)
{
  ptx_passed list[64];
  uint32_t count = 0;
  while (!ptx_is_sign(p, ')')) {
    if (count == 64)
      return ptx_error(p, p->token.line, "a call has at most 64 parameters");
    if (!parse_passed(p, are_results, &list[count++]))
      return false;
    if (!ptx_accept_sign(p, ','))
      break;
  }
  *out = ptx_new(p->module, (count + 1) * sizeof **out);
  if (!*out)
    return ptx_no_memory(p);
  memcpy(*out, list, count * sizeof **out);
  *out_count = count;
  return ptx_expect_sign(p, ')');
}

bool
ptx_parse_call(ptx_parser *p, ptx_insn *insn)
{
  ptx_call call = {.line = insn->line};
  ptx_function *f = p->function;
  ptx_token name;
  if (p->word_count > 1 || (p->word_count == 1 && p->words[0] != PTX_uni))
    return ptx_error(p, insn->line, "unknown word '.%s' of 'call'", ptx_word_text(p->words[0]));
  if (ptx_accept_sign(p, '(') && (!parse_list(p, true, &call.results, &call.result_count) || !ptx_expect_sign(p, ',')))
    return false;
  if (p->has_failed || !ptx_expect_name(p, &name))
    return false;
  const ptx_symbol *symbol = ptx_find_module(p, &name);
  if (!symbol || symbol->kind != PTX_SYMBOL_FUNCTION || symbol->function->is_entry)
    return ptx_error(p, name.line, "'%.*s' cannot be called; the simulator does not support calls through registers",
                     (int)name.length, name.text);
  call.callee = symbol->function;
  if (ptx_accept_sign(p, ',') && (!ptx_expect_sign(p, '(') || !parse_list(p, false, &call.arguments, &call.argument_count)))
    return false;
  if (!vyre_grow(NULL, &f->calls, &p->call_room, f->call_count + 1, sizeof *f->calls))
    return ptx_no_memory(p);
  insn->action = PTX_DO_CALL;
  insn->target = f->call_count;
  f->calls[f->call_count++] = call;
  return !p->has_failed;
}
