/* Parses the operands of an instruction.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "targets/cuda/sim/ptx/parse.h"

#include "base/grow.h"

#include <string.h>

static const char *const specials[PTX_SPECIAL__COUNT] = {
#define PTX_SPECIAL(id, text, type, version, sm) text,
#include "targets/cuda/sim/ptx/specials.def"
};

static bool
parse_register(ptx_parser *p, const ptx_token *name, ptx_symbol *out)
{
  if (!ptx_find(p, p->scope, name->text, name->length, out) || out->kind != PTX_SYMBOL_REGISTER)
    return ptx_error(p, name->line, "'%.*s' is not a register", (int)name->length, name->text);
  return true;
}

/* Parses a special register. Two tokens if it has a dot, such as %tid.x. */
static bool
parse_special(ptx_parser *p, const ptx_token *name, ptx_operand *out)
{
  for (uint32_t i = 0; i < PTX_SPECIAL__COUNT; i++) {
    const char *point = strchr(specials[i], '.');
    const size_t length = point ? (size_t)(point - specials[i]) : strlen(specials[i]);
    if (length != name->length || memcmp(name->text, specials[i], length) != 0)
      continue;
    if (point && !ptx_is_word(p, point + 1))
      continue;
    out->kind = PTX_OPERAND_SPECIAL;
    out->value = i;
    return !point || ptx_next(p);
  }
  return ptx_error(p, name->line, "unknown name '%.*s'", (int)name->length, name->text);
}

/* Parses an optional offset after a variable or register: + and an integer. */
static bool
parse_offset(ptx_parser *p, int64_t *out)
{
  uint64_t value = 0;
  if (!ptx_accept_sign(p, '+'))
    return !p->has_failed;
  if (!ptx_parse_integer(p, &value))
    return false;
  *out = (int64_t)value;
  return true;
}

static bool
parse_named(ptx_parser *p, ptx_operand *out)
{
  ptx_token name = p->token;
  ptx_symbol symbol;
  out->token = name;
  if (!ptx_next(p))
    return false;
  if (ptx_token_is(&name, "_")) {
    out->kind = PTX_OPERAND_SINK;
  } else if (!ptx_find(p, p->scope, name.text, name.length, &symbol)) {
    if (*name.text == '%')
      return parse_special(p, &name, out);
    out->kind = PTX_OPERAND_NAME;
    return true;
  } else if (symbol.kind == PTX_SYMBOL_REGISTER) {
    out->kind = PTX_OPERAND_REGISTER;
    out->slot = symbol.slot;
    out->type = symbol.type;
  } else if (symbol.kind == PTX_SYMBOL_VARIABLE) {
    out->kind = PTX_OPERAND_VARIABLE;
    out->variable = symbol.variable;
    return parse_offset(p, &out->offset);
  } else {
    out->kind = PTX_OPERAND_NAME;
    return true;
  }
  if (ptx_accept_sign(p, '|')) {
    out->has_second = true;
    out->second = PTX_NO_SLOT;
    if (!ptx_expect_name(p, &name))
      return false;
    if (ptx_token_is(&name, "_"))
      return true;
    if (!parse_register(p, &name, &symbol))
      return false;
    if (symbol.type != PTX_pred)
      return ptx_error(p, name.line, "'%.*s' is not a predicate", (int)name.length, name.text);
    out->second = symbol.slot;
  }
  return true;
}

static bool
parse_number(ptx_parser *p, ptx_operand *out)
{
  out->token = p->token;
  const bool is_negative = ptx_is_sign(p, '-');
  const char *const at = p->at;
  const ptx_token token = p->token;
  const uint32_t line = p->line;
  if (is_negative && !ptx_next(p))
    return false;
  if (p->token.kind == PTX_TOKEN_FLOAT) {
    out->kind = PTX_OPERAND_FLOAT;
    out->float_bits = p->token.float_bits;
    out->value = p->token.value ^ (uint64_t)is_negative << (out->float_bits - 1);
    return ptx_next(p);
  }
  p->at = at; /* the sign belongs to the expression */
  p->token = token;
  p->line = line;
  out->kind = PTX_OPERAND_INTEGER;
  return ptx_parse_integer(p, &out->value);
}

static bool
parse_address(ptx_parser *p, ptx_operand *out)
{
  ptx_symbol symbol;
  out->kind = PTX_OPERAND_ADDRESS;
  if (p->token.kind == PTX_TOKEN_NAME && !ptx_token_is(&p->token, "WARP_SZ")) {
    const ptx_token name = p->token;
    if (!ptx_next(p))
      return false;
    if (!ptx_find(p, p->scope, name.text, name.length, &symbol))
      return ptx_error(p, name.line, "unknown name '%.*s'", (int)name.length, name.text);
    if (symbol.kind == PTX_SYMBOL_REGISTER) {
      out->slot = symbol.slot;
      out->base_type = symbol.type;
      if (!parse_offset(p, &out->offset))
        return false;
    } else if (symbol.kind == PTX_SYMBOL_VARIABLE) {
      out->variable = symbol.variable;
      if (!parse_offset(p, &out->offset) || !ptx_add_address(p, symbol.variable, 0, &out->slot))
        return false;
    } else {
      return ptx_error(p, name.line, "'%.*s' does not have an address", (int)name.length, name.text);
    }
  } else {
    uint64_t value;
    if (!ptx_parse_integer(p, &value) || !ptx_add_constant(p, PTX_CONSTANT_VALUE, 0, value, &out->slot))
      return false;
  }
  return ptx_expect_sign(p, ']');
}

static bool parse_operand(ptx_parser *p, ptx_operand *out, bool is_element);

static bool
parse_vector(ptx_parser *p, ptx_operand *out)
{
  ptx_operand elements[8];
  out->kind = PTX_OPERAND_VECTOR;
  do {
    if (out->count == 8)
      return ptx_error(p, p->token.line, "a vector has at most 8 elements");
    memset(&elements[out->count], 0, sizeof *elements);
    if (!parse_operand(p, &elements[out->count++], true))
      return false;
  } while (ptx_accept_sign(p, ','));
  if (p->operand_end < out->count)
    return ptx_error(p, p->token.line, "too many operands");
  p->operand_end -= out->count;
  out->first = p->operand_end;
  memcpy(&p->operands[out->first], elements, out->count * sizeof *elements);
  return ptx_expect_sign(p, '}');
}

static bool
parse_operand(ptx_parser *p, ptx_operand *out, bool is_element)
{
  out->token = p->token;
  if (p->token.kind == PTX_TOKEN_NAME && !ptx_token_is(&p->token, "WARP_SZ"))
    return parse_named(p, out);
  if (!is_element && ptx_accept_sign(p, '{'))
    return parse_vector(p, out);
  if (!is_element && ptx_accept_sign(p, '['))
    return parse_address(p, out);
  if (!is_element && ptx_accept_sign(p, '!')) {
    if (!parse_named(p, out))
      return false;
    if (out->kind != PTX_OPERAND_REGISTER || out->type != PTX_pred)
      return ptx_error(p, out->token.line, "only predicates can be negated");
    out->is_negated = true;
    return true;
  }
  return !p->has_failed && parse_number(p, out);
}

bool
ptx_parse_operands(ptx_parser *p)
{
  p->operand_count = 0;
  p->operand_end = PTX_OPERANDS;
  if (ptx_is_sign(p, ';'))
    return true;
  do {
    if (p->operand_count >= p->operand_end)
      return ptx_error(p, p->token.line, "too many operands");
    ptx_operand *out = &p->operands[p->operand_count++];
    memset(out, 0, sizeof *out);
    if (!parse_operand(p, out, false))
      return false;
  } while (ptx_accept_sign(p, ','));
  return !p->has_failed;
}

/* ---- constants ----------------------------------------------------------------------------------------------------------- */

/* Constants have slots after all registers. Because the number of registers is known only at the function's end, constants count
 * down from PTX_NO_SLOT - 1 until then. */
bool
ptx_add_constant(ptx_parser *p, ptx_constant_kind kind, uint32_t index, uint64_t value, uint32_t *out)
{
  ptx_function *f = p->function;
  const uint32_t first = f->constant_count > 64 ? f->constant_count - 64 : 0; /* recent constants are often used again */
  for (uint32_t i = first; i < f->constant_count; i++)
    if (f->constants[i].kind == kind && f->constants[i].index == index && f->constants[i].value == value) {
      *out = PTX_NO_SLOT - 1 - i;
      return true;
    }
  if (!vyre_grow(NULL, &f->constants, &p->constant_room, f->constant_count + 1, sizeof *f->constants))
    return ptx_no_memory(p);
  f->constants[f->constant_count] = (ptx_constant){kind, index, value};
  *out = PTX_NO_SLOT - 1 - f->constant_count++;
  return true;
}

static bool
note_shared(ptx_parser *p, uint32_t index)
{
  ptx_function *f = p->function;
  for (uint32_t i = 0; i < f->shared_count; i++)
    if (f->shared[i] == index)
      return true;
  if (!vyre_grow(NULL, &f->shared, &p->shared_room, f->shared_count + 1, sizeof *f->shared))
    return ptx_no_memory(p);
  f->shared[f->shared_count++] = index;
  return true;
}

bool
ptx_add_address(ptx_parser *p, ptx_variable *variable, uint64_t offset, uint32_t *out)
{
  switch (variable->space) {
  case PTX_global:
  case PTX_const:
    if (variable->is_extern)
      return ptx_error(p, p->token.line, "'%s' is external, but the simulator links only one text", variable->name);
    return ptx_add_constant(p, PTX_CONSTANT_GLOBAL, variable->index, offset, out);
  case PTX_shared:
    return note_shared(p, variable->index) && ptx_add_constant(p, PTX_CONSTANT_SHARED, variable->index, offset, out);
  case PTX_param:
    if (variable->is_kernel_parameter)
      return ptx_add_constant(p, PTX_CONSTANT_VALUE, 0, variable->offset + offset, out);
    return ptx_add_constant(p, PTX_CONSTANT_LANE, 0, PTX_LANE_PARAMETERS + variable->offset + offset, out);
  default:
    return ptx_add_constant(p, PTX_CONSTANT_LANE, 0, PTX_LOCAL_START + variable->offset + offset, out);
  }
}
