/* Builds cases: an op, the types of its operands, and the terms of its result.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fold.h"

#include "../interp/eval_shape.h"
#include "base/grow.h"
#include "smt/smt.h"

#include <stdlib.h>
#include <string.h>

/* ---- text ----------------------------------------------------------------------------------------------------------- */

const char *
fold_name(uint32_t k, uint32_t n, char out[8])
{
  snprintf(out, 8, n ? "%c%u" : "%c", "xyz"[k], n);
  return out;
}

static void
parameters(FILE *to, const fold_case *c)
{
  uint32_t input = 0;
  fputc('(', to);
  for (uint32_t k = 0; k < 3; k++) {
    const fold_operand *o = &c->operands[k];
    const uint32_t lanes = !o->type ? 0 : o->parts ? o->parts * VYRE_TYPE_LANES(o->part_type) : VYRE_TYPE_LANES(o->type);
    for (uint32_t n = 0; n < lanes; n++) {
      char name[8];
      fprintf(to, "(%s ", fold_name(k, n, name));
      smt_sort(to, c->in[input++], c->raw);
      fputc(')', to);
    }
  }
  fputs(") ", to);
}

void
fold_head(FILE *to, const fold_case *c, uint32_t output)
{
  fprintf(to, "(define-fun r%u ", output);
  parameters(to, c);
  smt_sort(to, c->out[output], c->raw);
  fputc(' ', to);
}

void
fold_head_undefined(FILE *to, const fold_case *c)
{
  fputs("(define-fun u ", to);
  parameters(to, c);
  fputs("Bool ", to);
}

/* ---- lists ---------------------------------------------------------------------------------------------------------- */

static void
name_type(char *out, size_t size, vyre_type type)
{
  static const char *const names[VYRE_KIND__COUNT] = {"void", "bool", "i8",  "u8",  "i16", "u16",   "i32", "u32",
                                                      "i64",  "u64",  "f16", "f32", "f64", "tuple", "path"};
  const uint32_t lanes = VYRE_TYPE_LANES(type);
  snprintf(out, size, lanes > 1 ? "%sx%u" : "%s", names[VYRE_TYPE_KIND(type)], lanes);
}

static void
count_lanes(fold_case *c, vyre_type part_type, uint32_t parts)
{
  for (uint32_t k = 0; k < 3; k++) {
    const fold_operand *o = &c->operands[k];
    const vyre_type type = o->parts ? o->part_type : o->type;
    const uint32_t lanes = !o->type ? 0 : (o->parts ? o->parts : 1) * VYRE_TYPE_LANES(type);
    for (uint32_t n = 0; n < lanes && c->inputs < FOLD_INPUTS; n++)
      c->in[c->inputs++] = VYRE_TYPE_KIND(type);
  }
  const vyre_type type = parts ? part_type : c->type;
  c->out_lanes = VYRE_TYPE_LANES(type);
  for (uint32_t n = 0; n < (parts ? parts : 1) * c->out_lanes && c->outputs < FOLD_OUTPUTS; n++)
    c->out[c->outputs++] = VYRE_TYPE_KIND(type);
}

FILE *
fold_begin(fold_list *list, vyre_opcode op, vyre_kind kind, vyre_type type, uint32_t parts, vyre_type part_type,
           const fold_operand operands[3], bool raw)
{
  if (!vyre_grow(NULL, &list->cases, &list->capacity, list->count + 1, sizeof *list->cases))
    abort();
  fold_case *c = &list->cases[list->count++];
  *c = (fold_case){.op = op, .kind = kind, .type = type, .raw = raw};
  memcpy(c->operands, operands, sizeof c->operands);
  count_lanes(c, part_type, parts);
  size_t at = (size_t)snprintf(c->name, sizeof c->name, "%s", vyre_op_infos[op].text);
  for (uint32_t k = 0; k < 3 && operands[k].type; k++) {
    char text[16], count[16] = "";
    name_type(text, sizeof text, operands[k].parts ? operands[k].part_type : operands[k].type);
    if (operands[k].parts)
      snprintf(count, sizeof count, "%u ", operands[k].parts);
    at += (size_t)snprintf(c->name + at, sizeof c->name - at, "%s%s%s", k ? ", " : " ", count, text);
  }
  char text[16];
  name_type(text, sizeof text, type);
  snprintf(c->name + at, sizeof c->name - at, " : %s", text);
  static size_t unused;
  FILE *terms = open_memstream(&c->terms, &unused);
  if (!terms)
    abort();
  smt_prelude(terms, kind, raw, "");
  return terms;
}

void
fold_end(fold_list *list, FILE *terms)
{
  /* The stream stores the text at the case's address, so it is closed before another case moves the list. */
  (void)list;
  if (fclose(terms))
    abort();
}

void
fold_list_free(fold_list *list)
{
  for (uint32_t i = 0; i < list->count; i++)
    free(list->cases[i].terms);
  free(list->cases);
  *list = (fold_list){0};
}

/* ---- lane by lane --------------------------------------------------------------------------------------------------- */

static void
lane_case(fold_list *list, const smt_op *t, vyre_kind kind)
{
  eval_sample s;
  eval_shape(&s, t->op, kind, 1);
  fold_operand operands[3] = {{0}};
  for (uint32_t k = 0; k < vyre_op_infos[t->op].operands; k++)
    operands[k] = (fold_operand){s.operands[k].type, s.operands[k].parts, s.operands[k].part_type};
  FILE *to = fold_begin(list, t->op, kind, s.type, t->second ? 2 : 0, VYRE_TYPE(kind, 1), operands, false);
  fold_case *c = &list->cases[list->count - 1];
  c->lanewise = vyre_op_infos[t->op].rule == VYRE_RULE_SAME || vyre_op_infos[t->op].rule == VYRE_RULE_BOOL;
  for (uint32_t r = 0; r < c->outputs; r++) {
    fold_head(to, c, r);
    smt_term(to, kind, r ? t->second : t->result, "");
    fputs(")\n", to);
  }
  fold_head_undefined(to, c);
  smt_term(to, kind, t->relaxed ? t->relaxed : "false", "");
  fputs(")\n", to);
  fold_end(list, to);
}

void
fold_lanes(fold_list *list, uint32_t bits_low, uint32_t bits_high, bool floats)
{
  for (uint32_t i = 0; i < smt_op_count; i++)
    for (vyre_kind kind = VYRE_BOOL; kind <= VYRE_F64; kind++)
      if (smt_ops[i].kinds >> kind & 1 && vyre_kind_bits(kind) >= bits_low && vyre_kind_bits(kind) <= bits_high &&
          vyre_kind_is_float(kind) == floats)
        lane_case(list, &smt_ops[i], kind);
}

/* ---- conversions ---------------------------------------------------------------------------------------------------- */

void
fold_convert(fold_list *list)
{
  for (vyre_kind from = VYRE_I8; from <= VYRE_F64; from++)
    for (vyre_kind kind = VYRE_I8; kind <= VYRE_F64; kind++) {
      const fold_operand operands[3] = {{VYRE_TYPE(from, 1), 0, 0}};
      FILE *to = fold_begin(list, VYRE_OP_convert, from, VYRE_TYPE(kind, 1), 0, 0, operands, false);
      fold_case *c = &list->cases[list->count - 1];
      c->lanewise = true;
      fold_head(to, c, 0);
      smt_convert(to, from, kind, false, "");
      fputs(")\n", to);
      fold_head_undefined(to, c);
      smt_convert(to, from, kind, true, "");
      fputs(")\n", to);
      fold_end(list, to);
    }
}

uint32_t
fold_missing(const fold_list *list, FILE *report)
{
  uint32_t missing = 0;
  for (uint32_t op = 0; op < VYRE_OP__COUNT; op++)
    for (vyre_kind kind = VYRE_BOOL; kind <= VYRE_F64; kind++) {
      if (vyre_op_infos[op].fold != VYRE_FOLD_EXACT || !eval_accepts((vyre_opcode)op, kind))
        continue;
      /* Signed and unsigned integers share a term, except for conversions. */
      const vyre_kind other = vyre_kind_is_signed(kind) ? (vyre_kind)(kind + 1) : kind;
      bool found = false;
      for (uint32_t i = 0; i < list->count && !found; i++)
        found = list->cases[i].op == op && (list->cases[i].kind == kind || (op != VYRE_OP_convert && list->cases[i].kind == other));
      if (!found) {
        char text[16];
        name_type(text, sizeof text, VYRE_TYPE(kind, 1));
        fprintf(report, "%s on %s folds and has no SMT-LIB term\nFix: add one to tools/smt/terms.def\n", vyre_op_infos[op].text,
                text);
        missing++;
      }
    }
  return missing;
}
