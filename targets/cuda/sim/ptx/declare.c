/* Parses declarations of registers, variables and parameters.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/grow.h"
#include "base/round.h"
#include "targets/cuda/sim/ptx/eval.h"
#include "targets/cuda/sim/ptx/parse.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_REGISTERS = 1 << 20, MOST_ALIGN = 128 };
static const uint64_t most_bytes = UINT64_C(1) << 30;

static bool
parse_type(ptx_parser *p, ptx_word *out)
{
  *out = p->token.kind == PTX_TOKEN_WORD ? ptx_find_type(&p->token) : PTX_NO_WORD;
  if (!*out)
    return ptx_error(p, p->token.line, "unknown type '%.*s'", (int)p->token.length, p->token.text);
  return ptx_next(p);
}

/* ---- registers ----------------------------------------------------------------------------------------------------------- */

bool
ptx_add_register(ptx_parser *p, ptx_word type, uint32_t *out)
{
  ptx_function *f = p->function;
  if (!vyre_grow(NULL, &f->register_types, &p->register_room, f->register_count + 1, 1))
    return ptx_no_memory(p);
  f->register_types[f->register_count] = (uint8_t)type;
  *out = f->register_count++;
  return true;
}

bool
ptx_parse_registers(ptx_parser *p)
{
  ptx_word type;
  if (!ptx_next(p) || !parse_type(p, &type))
    return false;
  if (type == PTX_b8 || type == PTX_u8 || type == PTX_s8)
    return ptx_error(p, p->token.line, "a register has at least 16 bits");
  do {
    ptx_token name;
    uint64_t count = 1;
    uint32_t slot, first = 0;
    if (!ptx_expect_name(p, &name))
      return false;
    const bool is_range = ptx_accept_sign(p, '<');
    if (is_range && (!ptx_parse_integer(p, &count) || !ptx_expect_sign(p, '>')))
      return false;
    if (count == 0 || count > MOST_REGISTERS || p->function->register_count > MOST_REGISTERS)
      return ptx_error(p, name.line, "'%.*s' declares no registers or too many", (int)name.length, name.text);
    ptx_symbol *symbol = ptx_declare(p, &name, is_range ? PTX_SYMBOL_REGISTERS : PTX_SYMBOL_REGISTER);
    if (!symbol || !ptx_add_register(p, type, &first))
      return false;
    for (uint64_t i = 1; i < count; i++)
      if (!ptx_add_register(p, type, &slot))
        return false;
    symbol->slot = first;
    symbol->count = (uint32_t)count;
    symbol->type = type;
  } while (ptx_accept_sign(p, ','));
  return ptx_expect_sign(p, ';');
}

/* ---- initial values ------------------------------------------------------------------------------------------------------ */

typedef struct filling {
  unsigned char *data;
  uint64_t size, at;
  uint32_t room;
  ptx_word type;
} filling;

static bool
put_value(ptx_parser *p, filling *f, uint64_t value)
{
  const uint32_t bytes = ptx_bits(f->type) / 8;
  if (f->size && f->at + bytes > f->size)
    return ptx_error(p, p->token.line, "too many initial values");
  if (f->at + bytes > f->room) {
    const uint32_t before = f->room;
    if (!vyre_grow(NULL, &f->data, &f->room, f->at + bytes, 1))
      return ptx_no_memory(p);
    memset(f->data + before, 0, f->room - before);
  }
  memcpy(f->data + f->at, &value, bytes);
  f->at += bytes;
  return true;
}

static bool
parse_value(ptx_parser *p, filling *f, uint32_t depth)
{
  if (ptx_accept_sign(p, '{')) {
    if (depth > 8)
      return ptx_error(p, p->token.line, "initial values are nested too deeply");
    do {
      if (ptx_is_sign(p, '}'))
        break;
      if (!parse_value(p, f, depth + 1))
        return false;
    } while (ptx_accept_sign(p, ','));
    return ptx_expect_sign(p, '}');
  }
  const bool is_float = ptx_class_of(f->type) == PTX_CLASS_FLOAT;
  uint64_t value = 0;
  if (p->token.kind == PTX_TOKEN_NAME)
    return ptx_error(p, p->token.line, "the simulator does not support addresses as initial values");
  if (!is_float)
    return ptx_parse_integer(p, &value) && put_value(p, f, value);
  const bool is_negative = ptx_accept_sign(p, '-');
  if (p->token.kind != PTX_TOKEN_FLOAT && p->token.kind != PTX_TOKEN_INTEGER)
    return ptx_error(p, p->token.line, "an initial value is missing");
  value = p->token.value;
  if (p->token.kind == PTX_TOKEN_INTEGER)
    value = ptx_double_bits((double)value);
  else if (p->token.float_bits == 32)
    value = ptx_double_bits((double)ptx_as_float(value));
  value ^= (uint64_t)is_negative << 63;
  if (f->type != PTX_f64)
    value = ptx_float_round(f->type, ptx_as_double(value), PTX_rn);
  return ptx_next(p) && put_value(p, f, value);
}

static bool
parse_initial(ptx_parser *p, ptx_variable *v)
{
  filling f = {.type = v->type, .size = v->size};
  if (v->space != PTX_global && v->space != PTX_const)
    return ptx_error(p, p->token.line, "'%s' cannot have an initial value", v->name);
  if (!parse_value(p, &f, 0)) {
    free(f.data);
    return false;
  }
  if (!v->size)
    v->size = f.at;
  v->initial = ptx_new(p->module, v->size + 8);
  if (v->initial && f.at)
    memcpy(v->initial, f.data, f.at);
  free(f.data);
  return v->initial || ptx_no_memory(p);
}

/* ---- variables ----------------------------------------------------------------------------------------------------------- */

/* Parses the common part of a declaration: .align N, .v2 or .v4, and the type. */
static bool
parse_variable_type(ptx_parser *p, ptx_variable *out)
{
  uint64_t align = 0;
  uint32_t vector = 1;
  for (;;) {
    if (ptx_is_word(p, "align")) {
      if (!ptx_next(p) || !ptx_parse_integer(p, &align))
        return false;
      if (!align || align & (align - 1) || align > MOST_ALIGN)
        return ptx_error(p, p->token.line, "an alignment must be a power of two up to %d", MOST_ALIGN);
    } else if (ptx_is_word(p, "v2") || ptx_is_word(p, "v4")) {
      vector = ptx_is_word(p, "v2") ? 2 : 4;
      if (!ptx_next(p))
        return false;
    } else {
      break;
    }
  }
  if (!parse_type(p, &out->type))
    return false;
  if (out->type == PTX_pred)
    return ptx_error(p, p->token.line, "a variable cannot be a predicate");
  out->size = vector * ptx_bits(out->type) / 8;
  out->align = align ? align : out->size;
  if (align && align < ptx_bits(out->type) / 8)
    return ptx_error(p, p->token.line, "the alignment is smaller than the type's");
  return true;
}

/* Parses any number of dimensions, [n] or [], and multiplies them. */
static bool
parse_dimensions(ptx_parser *p, ptx_variable *v)
{
  bool is_open = false;
  while (ptx_accept_sign(p, '[')) {
    uint64_t count = 0;
    v->is_array = true;
    if (!ptx_is_sign(p, ']') && !ptx_parse_integer(p, &count))
      return false;
    is_open |= count == 0;
    if (count > most_bytes || (v->size *= count) > most_bytes)
      return ptx_error(p, p->token.line, "a variable is too large");
    if (!ptx_expect_sign(p, ']'))
      return false;
  }
  return !p->has_failed && (!is_open || v->is_extern || ptx_is_sign(p, '=') || v->space == PTX_param ||
                            ptx_error(p, p->token.line, "an array has no size"));
}

static bool
add_global(ptx_parser *p, ptx_variable *v)
{
  ptx_module *m = p->module;
  if (!vyre_grow(NULL, &m->globals, &m->global_room, m->global_count + 1, sizeof *m->globals))
    return ptx_no_memory(p);
  v->index = m->global_count;
  m->globals[m->global_count++] = (ptx_global){v->name, v->size, v->align, v->initial, v->space == PTX_const};
  return true;
}

static bool
add_shared(ptx_parser *p, ptx_variable *v)
{
  ptx_module *m = p->module;
  if (!vyre_grow(NULL, &m->shared, &m->shared_room, m->shared_count + 1, sizeof *m->shared))
    return ptx_no_memory(p);
  v->index = m->shared_count;
  m->shared[m->shared_count++] = v;
  return true;
}

/* Places a variable in the function's frame in a lane's memory. */
static void
place_in_lane(ptx_function *f, ptx_variable *v)
{
  v->offset = (uint32_t)round_up(f->lane_bytes, v->align);
  f->lane_bytes = v->offset + (uint32_t)v->size;
}

static bool
parse_variable(ptx_parser *p, const ptx_variable *pattern)
{
  ptx_token name;
  if (!ptx_expect_name(p, &name))
    return false;
  ptx_variable *v = ptx_new(p->module, sizeof *v);
  if (!v)
    return ptx_no_memory(p);
  *v = *pattern;
  v->name = ptx_copy_text(p, &name);
  if (!v->name || !parse_dimensions(p, v))
    return false;
  ptx_symbol *symbol = ptx_declare(p, &name, PTX_SYMBOL_VARIABLE);
  if (!symbol)
    return false;
  symbol->variable = v;
  if (ptx_accept_sign(p, '=') && !parse_initial(p, v))
    return false;
  switch (v->space) {
  case PTX_global:
  case PTX_const:
    return v->is_extern || add_global(p, v);
  case PTX_shared:
    return add_shared(p, v);
  default:
    if (!p->function)
      return ptx_error(p, name.line, "'%s' is outside of functions", v->name);
    if (p->function->lane_bytes + v->size > most_bytes)
      return ptx_error(p, name.line, "'%s' is too large", v->name);
    place_in_lane(p->function, v);
    return true;
  }
}

bool
ptx_parse_variables(ptx_parser *p, bool is_extern, bool is_visible)
{
  ptx_variable pattern = {.space = ptx_find_word(&p->token), .is_extern = is_extern};
  (void)is_visible;
  if (!ptx_next(p) || !parse_variable_type(p, &pattern))
    return false;
  do
    if (!parse_variable(p, &pattern))
      return false;
  while (ptx_accept_sign(p, ','));
  return ptx_expect_sign(p, ';');
}

/* ---- parameters ---------------------------------------------------------------------------------------------------------- */

/* Skips the description of a kernel's pointer parameter: .ptr .space .align N. */
static bool
skip_pointer(ptx_parser *p)
{
  uint64_t align;
  if (!ptx_is_word(p, "ptr"))
    return true;
  if (!ptx_next(p))
    return false;
  while (p->token.kind == PTX_TOKEN_WORD) {
    const bool has_number = ptx_is_word(p, "align");
    if (!has_number && !ptx_is_word(p, "global") && !ptx_is_word(p, "const") && !ptx_is_word(p, "local") &&
        !ptx_is_word(p, "shared"))
      return ptx_error(p, p->token.line, "unknown word '.%.*s'", (int)p->token.length, p->token.text);
    if (!ptx_next(p) || (has_number && !ptx_parse_integer(p, &align)))
      return false;
  }
  return true;
}

static bool
add_passed(ptx_parser *p, bool is_result, const ptx_passed *passed)
{
  ptx_function *f = p->function;
  ptx_passed **list = is_result ? &f->results : &f->parameters;
  uint32_t *count = is_result ? &f->result_count : &f->parameter_count;
  uint32_t room = *count; /* without spare room, because lists are short */
  ptx_passed *grown = realloc(*list, (room + 1) * sizeof *grown);
  if (!grown)
    return ptx_no_memory(p);
  *list = grown;
  grown[(*count)++] = *passed;
  return true;
}

static bool
parse_register_parameter(ptx_parser *p, bool is_result)
{
  ptx_word type;
  ptx_token name;
  ptx_passed passed = {0};
  if (p->function->is_entry)
    return ptx_error(p, p->token.line, "a kernel cannot have parameters in registers");
  if (!ptx_next(p) || !parse_type(p, &type) || !ptx_expect_name(p, &name))
    return false;
  ptx_symbol *symbol = ptx_declare(p, &name, PTX_SYMBOL_REGISTER);
  if (!symbol || !ptx_add_register(p, type, &passed.slot))
    return false;
  symbol->slot = passed.slot;
  symbol->type = type;
  passed.bits = (uint8_t)ptx_bits(type);
  return add_passed(p, is_result, &passed);
}

static bool
parse_memory_parameter(ptx_parser *p, bool is_result)
{
  ptx_function *f = p->function;
  ptx_token name;
  ptx_variable *v = ptx_new(p->module, sizeof *v);
  if (!v)
    return ptx_no_memory(p);
  v->space = PTX_param;
  if (!ptx_next(p) || !parse_variable_type(p, v) || !skip_pointer(p) || !ptx_expect_name(p, &name))
    return false;
  v->name = ptx_copy_text(p, &name);
  if (!v->name || !parse_dimensions(p, v))
    return false;
  ptx_symbol *symbol = ptx_declare(p, &name, PTX_SYMBOL_VARIABLE);
  if (!symbol)
    return false;
  symbol->variable = v;
  v->is_kernel_parameter = f->is_entry;
  if (f->is_entry) {
    v->offset = (f->parameter_bytes + (uint32_t)v->align - 1) & ~((uint32_t)v->align - 1);
    f->parameter_bytes = v->offset + (uint32_t)v->size;
  } else {
    place_in_lane(f, v);
  }
  return add_passed(p, is_result, &(ptx_passed){.is_memory = true, .offset = v->offset, .size = (uint32_t)v->size});
}

bool
ptx_parse_parameters(ptx_parser *p, bool are_results)
{
  if (!ptx_expect_sign(p, '('))
    return false;
  while (!ptx_is_sign(p, ')')) {
    if (ptx_is_word(p, "param") ? !parse_memory_parameter(p, are_results)
        : ptx_is_word(p, "reg") ? !parse_register_parameter(p, are_results)
                                : !ptx_error(p, p->token.line, "a parameter is missing"))
      return false;
    if (!ptx_accept_sign(p, ','))
      break;
  }
  return ptx_expect_sign(p, ')');
}
