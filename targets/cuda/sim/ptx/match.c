/* Finds the form of an instruction by its name, words and operands, and decodes the instruction.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/grow.h"
#include "targets/cuda/sim/ptx/eval.h"
#include "targets/cuda/sim/ptx/parse.h"

#include <stdio.h>
#include <string.h>

static const ptx_form forms[] = {
#define PTX_EVAL(name, words, operands, version, sm, eval)  {name, words, operands, version, sm, PTX_DO_EVAL, PTX_SYNC_NONE, eval},
#define PTX_ACT(name, words, operands, version, sm, action) {name, words, operands, version, sm, action, PTX_SYNC_NONE, NULL},
#define PTX_TOGETHER(name, words, operands, version, sm, together) \
  {name, words, operands, version, sm, PTX_DO_WARP, together, NULL},
#include "targets/cuda/sim/ptx/forms.def"
};

/* The part of the best form that matches, for the message. */
typedef enum match { MATCH_NONE, MATCH_NAME, MATCH_WORDS, MATCH_ALL } match;

/* ---- words --------------------------------------------------------------------------------------------------------------- */

/* Returns whether `text` is one of the alternatives between `at` and `end`. */
static bool
is_alternative(const char *at, const char *end, const char *text)
{
  const size_t length = strlen(text);
  while (at < end) {
    const char *bar = memchr(at, '|', (size_t)(end - at));
    const char *stop = bar ? bar : end;
    if ((size_t)(stop - at) == length && memcmp(at, text, length) == 0)
      return true;
    at = stop + 1;
  }
  return false;
}

static void
note_word(ptx_insn *insn, ptx_word word, char mark, uint32_t *types)
{
  insn->words[word / 64] |= UINT64_C(1) << word % 64;
  if (mark == '!')
    insn->what = (uint8_t)word;
  if (mark == '&')
    insn->with = (uint8_t)word;
  if (ptx_bits(word))
    insn->type[(*types)++] = (uint8_t)word;
  else if (word >= PTX_rn && word <= PTX_rpi)
    insn->round = (uint8_t)word;
  else if (word >= PTX_const && word <= PTX_shared)
    insn->space = (uint8_t)word;
  else if (word >= PTX_weak && word <= PTX_sc)
    insn->order = (uint8_t)word;
  else if (word >= PTX_cta && word <= PTX_gl)
    insn->scope = (uint8_t)word;
  else if (word == PTX_v2 || word == PTX_v4)
    insn->vector = word == PTX_v2 ? 2 : 4;
}

static bool
match_words(const ptx_parser *p, const ptx_form *form, ptx_insn *insn)
{
  uint32_t k = 0, types = 0;
  for (const char *at = form->words; *at;) {
    const char *end = strchr(at, ' ');
    if (!end)
      end = at + strlen(at);
    const char mark = *at == '?' || *at == '!' || *at == '&' ? *at : 0;
    if (mark)
      at++;
    if (k < p->word_count && is_alternative(at, end, ptx_word_text(p->words[k])))
      note_word(insn, p->words[k++], mark, &types);
    else if (mark != '?')
      return false;
    for (at = end; *at == ' '; at++)
      ;
  }
  return k == p->word_count;
}

/* ---- operands ------------------------------------------------------------------------------------------------------------ */

bool
ptx_agrees(ptx_word register_type, ptx_word type)
{
  const ptx_class have = ptx_class_of(register_type), want = ptx_class_of(type);
  if (ptx_bits(register_type) != ptx_bits(type))
    return false;
  if (register_type == type || have == PTX_CLASS_BITS)
    return true;
  if (want == PTX_CLASS_BITS)
    return have != PTX_CLASS_PREDICATE;
  const bool is_integer = have == PTX_CLASS_UNSIGNED || have == PTX_CLASS_SIGNED;
  return is_integer && (want == PTX_CLASS_UNSIGNED || want == PTX_CLASS_SIGNED || want == PTX_CLASS_PAIR);
}

/* Returns whether a register may be an operand of ld, st or cvt, where integers and bits may be in a wider register. */
static bool
agrees_wide(ptx_word register_type, ptx_word type)
{
  const ptx_class have = ptx_class_of(register_type), want = ptx_class_of(type);
  if (have == PTX_CLASS_PREDICATE)
    return false;
  if (ptx_bits(register_type) == ptx_bits(type))
    return ptx_agrees(register_type, type);
  const bool may = want == PTX_CLASS_BITS || want == PTX_CLASS_UNSIGNED || want == PTX_CLASS_SIGNED;
  return may && have >= PTX_CLASS_BITS && have <= PTX_CLASS_SIGNED && ptx_bits(register_type) > ptx_bits(type);
}

static ptx_word
wide_of(ptx_word type)
{
  switch (type) {
  case PTX_u16:
    return PTX_u32;
  case PTX_s16:
    return PTX_s32;
  case PTX_u32:
    return PTX_u64;
  default:
    return PTX_s64;
  }
}

static bool
add_source(ptx_insn *insn, uint32_t slot, bool is_negated)
{
  if (insn->s_count == PTX_SOURCES)
    return false;
  insn->negated |= (uint8_t)(is_negated << insn->s_count);
  insn->s[insn->s_count++] = slot;
  return true;
}

static bool
add_destination(ptx_insn *insn, uint32_t slot, uint32_t bits)
{
  if (insn->d_count == PTX_DESTINATIONS)
    return false;
  insn->d_bits[insn->d_count] = (uint8_t)bits;
  insn->d[insn->d_count++] = slot;
  return true;
}

/* Adds a number as a source operand of a type. */
static bool
add_number(ptx_parser *p, ptx_insn *insn, const ptx_operand *o, ptx_word type)
{
  const ptx_class want = ptx_class_of(type);
  uint64_t value = o->value;
  uint32_t slot;
  if (o->kind == PTX_OPERAND_INTEGER) {
    if (want == PTX_CLASS_FLOAT)
      return false;
    if (want == PTX_CLASS_PREDICATE)
      value = value != 0;
  } else if (want == PTX_CLASS_FLOAT && ptx_bits(type) >= 32) {
    if (o->float_bits == 64 && type == PTX_f32)
      value = ptx_float_bits((float)ptx_as_double(value));
    else if (o->float_bits == 32 && type == PTX_f64)
      value = ptx_double_bits((double)ptx_as_float(value));
  } else if (want != PTX_CLASS_BITS || o->float_bits != ptx_bits(type)) {
    return false;
  }
  return ptx_add_constant(p, PTX_CONSTANT_VALUE, 0, ptx_low(value, ptx_bits(type)), &slot) && add_source(insn, slot, false);
}

static bool
match_source(ptx_parser *p, ptx_insn *insn, const ptx_operand *o, ptx_word type, bool may_be_wide)
{
  if (o->has_second || (o->is_negated && type != PTX_pred))
    return false;
  if (o->kind == PTX_OPERAND_REGISTER)
    return (may_be_wide ? agrees_wide : ptx_agrees)(o->type, type) && add_source(insn, o->slot, o->is_negated);
  return (o->kind == PTX_OPERAND_INTEGER || o->kind == PTX_OPERAND_FLOAT) && add_number(p, insn, o, type);
}

static bool
match_destination(ptx_insn *insn, const ptx_operand *o, ptx_word type, bool may_be_wide)
{
  return o->kind == PTX_OPERAND_REGISTER && !o->is_negated && (may_be_wide ? agrees_wide : ptx_agrees)(o->type, type) &&
         add_destination(insn, o->slot, ptx_bits(o->type));
}

/* Accepts `_` for a discarded result: an element of a vector, one of a pair, or the old value of an atomic operation. */
static bool
match_sink(ptx_insn *insn, const ptx_operand *o, ptx_word type)
{
  return o->kind == PTX_OPERAND_SINK && add_destination(insn, PTX_NO_SLOT, ptx_bits(type));
}

static bool
match_vector(ptx_parser *p, ptx_insn *insn, const ptx_operand *o, ptx_word type, uint32_t count, bool is_source)
{
  if (o->kind != PTX_OPERAND_VECTOR || o->count != count || (is_source && count + 1 > PTX_SOURCES))
    return false;
  for (uint32_t i = 0; i < count; i++) {
    const ptx_operand *e = &p->operands[o->first + i];
    if (e->has_second ||
        (is_source ? !match_source(p, insn, e, type, true) : !match_sink(insn, e, type) && !match_destination(insn, e, type, true)))
      return false;
  }
  return true;
}

/* Returns the type of the elements of a vector that mov packs or unpacks, or PTX_NO_WORD. */
static ptx_word
element_of(ptx_word type, uint32_t count)
{
  const uint32_t bits = ptx_bits(type) / count;
  if (ptx_class_of(type) != PTX_CLASS_BITS || (count != 2 && count != 4))
    return PTX_NO_WORD;
  return bits == 8 ? PTX_b8 : bits == 16 ? PTX_b16 : bits == 32 ? PTX_b32 : PTX_NO_WORD;
}

static bool
match_moved(ptx_parser *p, ptx_insn *insn, const ptx_operand *o, ptx_word type, bool is_source)
{
  static const uint8_t types[] = {
#define PTX_SPECIAL(id, text, type, version, sm) PTX_##type,
#include "targets/cuda/sim/ptx/specials.def"
  };
  static const uint8_t least[][2] = {
#define PTX_SPECIAL(id, text, type, version, sm) {version, sm},
#include "targets/cuda/sim/ptx/specials.def"
  };
  if (o->kind == PTX_OPERAND_VECTOR) {
    const ptx_word element = element_of(type, o->count);
    return element && match_vector(p, insn, o, element, o->count, is_source);
  }
  if (!is_source)
    return !o->has_second && match_destination(insn, o, type, false);
  if (o->kind == PTX_OPERAND_SPECIAL) {
    if (insn->eval != ptx_eval_mov || !ptx_agrees((ptx_word)types[o->value], type) || insn->d_count != 1)
      return false;
    if (least[o->value][0] > p->module->version || least[o->value][1] > p->module->sm)
      return false;
    insn->action = PTX_DO_SPECIAL;
    insn->target = (uint32_t)o->value;
    return true;
  }
  if (o->kind == PTX_OPERAND_VARIABLE) {
    uint32_t slot;
    const ptx_class class = ptx_class_of(type);
    return ptx_bits(type) >= 32 && class != PTX_CLASS_FLOAT && ptx_add_address(p, o->variable, (uint64_t)o->offset, &slot) &&
           add_source(insn, slot, false);
  }
  return match_source(p, insn, o, type, false);
}

static bool
match_predicate(ptx_insn *insn, const ptx_operand *o, bool may_be_negated)
{
  return o->kind == PTX_OPERAND_REGISTER && o->type == PTX_pred && !o->has_second && (may_be_negated || !o->is_negated) &&
         add_source(insn, o->slot, o->is_negated);
}

/* Accepts a destination, and after | a second one that is a predicate. */
static bool
match_pair(ptx_insn *insn, const ptx_operand *o, ptx_word type)
{
  if (!(o->has_second && match_sink(insn, o, type)) && !match_destination(insn, o, type, false))
    return false;
  return !o->has_second || add_destination(insn, o->second, 1);
}

static bool
match_address(ptx_insn *insn, const ptx_operand *o)
{
  if (o->kind != PTX_OPERAND_ADDRESS)
    return false;
  const ptx_class class = ptx_class_of(o->base_type);
  if (o->base_type && (ptx_bits(o->base_type) < 32 || class == PTX_CLASS_FLOAT || class >= PTX_CLASS_PACKED))
    return false;
  if (o->variable ? insn->space && o->variable->space != insn->space : !o->base_type && insn->space != PTX_local)
    return false;                                                /* a number is an address only of local memory */
  const bool is_near = insn->space && insn->space != PTX_global; /* an address may have 32 bits */
  if (o->base_type && ptx_bits(o->base_type) < 64 && !is_near)
    return false;
  if (o->variable && o->variable->is_kernel_parameter && insn->action == PTX_DO_STORE)
    return false;
  insn->offset = o->offset;
  return add_source(insn, o->slot, false);
}

static bool
match_name(ptx_parser *p, ptx_insn *insn, const ptx_operand *o, bool is_table)
{
  ptx_symbol symbol;
  if (o->kind != PTX_OPERAND_NAME)
    return false;
  if (is_table) {
    if (!ptx_find(p, p->scope, o->token.text, o->token.length, &symbol) || symbol.kind != PTX_SYMBOL_TABLE)
      return false;
    insn->target = symbol.slot;
    insn->target_count = symbol.count;
    return true;
  }
  if (!vyre_grow(NULL, &p->references, &p->reference_room, p->reference_count + 1, sizeof *p->references))
    return ptx_no_memory(p);
  p->references[p->reference_count++] =
      (ptx_reference){o->token.text, o->token.length, o->token.line, p->module->code_count, false, p->scope};
  return true;
}

static bool
match_operand(ptx_parser *p, ptx_insn *insn, char letter, const ptx_operand *o)
{
  const ptx_word type = (ptx_word)insn->type[0];
  switch (letter) {
  case 'D':
    if (insn->action == PTX_DO_ATOM && !o->has_second && match_sink(insn, o, type))
      return true;
    return !o->has_second && match_destination(insn, o, type, false);
  case 'W':
    return !o->has_second && match_destination(insn, o, wide_of(type), false);
  case 'U':
    return !o->has_second && match_destination(insn, o, PTX_u32, false);
  case 'X':
    return !o->has_second && match_destination(insn, o, type, true);
  case 'P':
    return !o->has_second && match_destination(insn, o, PTX_pred, false);
  case 'Q':
    return match_pair(insn, o, PTX_pred);
  case 'R':
    return match_pair(insn, o, PTX_b32);
  case 'E':
    return o->has_second && match_pair(insn, o, PTX_b32);
  case 'V':
    return insn->vector ? match_vector(p, insn, o, type, insn->vector, false)
                        : !o->has_second && match_destination(insn, o, type, true);
  case 'Z':
    return match_moved(p, insn, o, type, false);
  case 'a':
    return match_source(p, insn, o, type, false);
  case 'b':
    return match_source(p, insn, o, (ptx_word)insn->type[1], false);
  case 'w':
    return match_source(p, insn, o, wide_of(type), false);
  case 'u':
    return match_source(p, insn, o, PTX_u32, false);
  case 'x':
    return match_source(p, insn, o, (ptx_word)insn->type[1], true);
  case 'v':
    return insn->vector ? match_vector(p, insn, o, type, insn->vector, true) : match_source(p, insn, o, type, true);
  case 'z':
    return match_moved(p, insn, o, type, true);
  case 'c':
  case 'p':
    return match_predicate(insn, o, letter == 'c');
  case 'l':
    return match_source(p, insn, o, PTX_u64, false);
  case 'm':
    return match_address(insn, o);
  case 'i':
    return o->kind == PTX_OPERAND_INTEGER && match_source(p, insn, o, PTX_u32, false);
  default:
    return match_name(p, insn, o, letter == 'T');
  }
}

static bool
match_operands(ptx_parser *p, const ptx_form *form, ptx_insn *insn)
{
  uint32_t k = 0;
  for (const char *at = form->operands; *at; at++) {
    if (*at == ' ')
      continue;
    if (*at == 'K') {
      add_destination(insn, 0, 1);
    } else if (*at == 'k') {
      add_source(insn, 0, false);
    } else if (*at == '?') {
      if (k == p->operand_count)
        at++;
    } else if (k == p->operand_count || !match_operand(p, insn, *at, &p->operands[k++])) {
      return false;
    }
  }
  return k == p->operand_count;
}

/* ---- instructions -------------------------------------------------------------------------------------------------------- */

/* Checks constant numbers of barriers and threads. */
static bool
check_barrier(ptx_parser *p, const ptx_token *name, const ptx_insn *insn)
{
  const uint32_t first = ptx_has(insn, PTX_red), last = p->operand_count - first;
  if (p->operands[first].kind == PTX_OPERAND_INTEGER && p->operands[first].value > 15)
    return ptx_error(p, name->line, "a barrier's number must be from 0 to 15");
  if (first + 1 < last && p->operands[first + 1].kind == PTX_OPERAND_INTEGER && p->operands[first + 1].value % PTX_WARP)
    return ptx_error(p, name->line, "a barrier's number of threads must be a multiple of 32");
  return true;
}

/* Checks rules that the table does not contain. */
static bool
check(ptx_parser *p, const ptx_token *name, const ptx_insn *insn)
{
  if (insn->vector && insn->vector * ptx_bits((ptx_word)insn->type[0]) > 128)
    return ptx_error(p, name->line, "a vector has at most 128 bits");
  if (insn->action == PTX_DO_BARRIER && !check_barrier(p, name, insn))
    return false;
  if (insn->eval == ptx_eval_lop3 && p->operands[p->operand_count - 1].value > 255)
    return ptx_error(p, name->line, "the table of lop3 must be from 0 to 255");
  if (insn->eval == ptx_eval_setp && ptx_bits((ptx_word)insn->type[0]) == 32 &&
      (insn->type[0] == PTX_f16x2 || insn->type[0] == PTX_bf16x2) && insn->d_count != 2)
    return ptx_error(p, name->line, "setp of two halves needs two predicates");
  return true;
}

bool
ptx_match(ptx_parser *p, const ptx_token *name, ptx_insn *insn)
{
  const ptx_insn blank = *insn;
  const ptx_form *newest = NULL;
  match best = MATCH_NONE;
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    const ptx_form *form = &forms[i];
    if (*form->name != *name->text || !ptx_token_is(name, form->name))
      continue;
    best = best < MATCH_NAME ? MATCH_NAME : best;
    *insn = blank;
    if (!match_words(p, form, insn))
      continue;
    if (form->version > p->module->version || form->sm > p->module->sm) {
      newest = newest ? newest : form;
      continue;
    }
    best = MATCH_WORDS;
    const uint32_t references = p->reference_count;
    insn->eval = form->eval;
    insn->action = form->action;
    insn->together = form->together;
    if (match_operands(p, form, insn)) {
      if (form->action == PTX_DO_BARRIER && ptx_token_is(name, "bar"))
        insn->words[PTX_aligned / 64] |= UINT64_C(1) << PTX_aligned % 64;
      return check(p, name, insn);
    }
    p->reference_count = references;
  }
  if (best == MATCH_WORDS)
    return ptx_error(p, name->line, "the operands do not fit '%.*s'", (int)name->length, name->text);
  if (newest)
    return ptx_error(p, name->line, "this form of '%.*s' needs PTX %u.%u and sm_%u", (int)name->length, name->text,
                     newest->version / 10u, newest->version % 10u, newest->sm);
  char text[128] = "";
  for (uint32_t k = 0, used = 0; k < p->word_count && used < sizeof text - 32; k++)
    used += (uint32_t)snprintf(text + used, sizeof text - used, ".%s", ptx_word_text(p->words[k]));
  return ptx_error(p, name->line, "unknown instruction '%.*s%s'", (int)name->length, name->text, text);
}
