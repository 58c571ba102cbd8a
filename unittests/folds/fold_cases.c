/* Cases: an op, the types of its operands, and the terms of its result.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fold.h"

#include "../interp/eval_shape.h"

#include <stdlib.h>
#include <string.h>

#define B (1u << VYRE_BOOL)
#define I (1u << VYRE_U8 | 1u << VYRE_U16 | 1u << VYRE_U32 | 1u << VYRE_U64)
#define F (1u << VYRE_F16 | 1u << VYRE_F32 | 1u << VYRE_F64)

typedef struct lane_term {
  vyre_opcode op;
  uint32_t kinds;
  const char *relaxed, *result, *second;
} lane_term;

static const lane_term lane_terms[] = {
#define FOLD(op, kinds, relaxed, result, second) {VYRE_OP_##op, kinds, relaxed, result, second},
#include "fold_terms.def"
};

/* ---- text ----------------------------------------------------------------------------------------------------------- */

const char *
fold_name(uint32_t k, uint32_t n, char out[8])
{
  snprintf(out, 8, n ? "%c%u" : "%c", "xyz"[k], n);
  return out;
}

static uint32_t
exponent_bits(vyre_kind kind)
{
  return kind == VYRE_F16 ? 5 : kind == VYRE_F32 ? 8 : 11;
}

void
fold_sort(FILE *to, vyre_kind kind, bool raw)
{
  if (kind == VYRE_BOOL)
    fputs("Bool", to);
  else if (vyre_kind_is_float(kind) && !raw)
    fprintf(to, "(_ FloatingPoint %u %u)", exponent_bits(kind), vyre_kind_bits(kind) - exponent_bits(kind));
  else
    fprintf(to, "(_ BitVec %u)", vyre_kind_bits(kind));
}

void
fold_term(FILE *to, vyre_kind kind, const char *term)
{
  const uint32_t bits = vyre_kind_bits(kind);
  for (; *term; term++) {
    if (*term != '$') {
      fputc(*term, to);
      continue;
    }
    term++;
    const uint32_t exponent = exponent_bits(kind);
    fprintf(to, "%u",
            *term == 'W'   ? bits
            : *term == 'M' ? bits - 1
            : *term == 'D' ? 2 * bits
            : *term == 'T' ? 2 * bits - 1
            : *term == 'X' ? 128 - bits
            : *term == 'E' ? exponent
                           : bits - exponent);
  }
}

void
fold_prelude(FILE *to, vyre_kind kind, bool raw)
{
  if (kind == VYRE_BOOL) {
    fputs("(define-fun zero () Bool false)\n", to);
  } else if (!vyre_kind_is_float(kind) || raw) {
    fold_term(
        to, kind,
        "(define-fun zero () (_ BitVec $W) (_ bv0 $W))\n(define-fun one () (_ BitVec $W) (_ bv1 $W))\n"
        "(define-fun ones () (_ BitVec $W) (bvnot zero))\n(define-fun smin () (_ BitVec $W) (concat #b1 (_ bv0 $M)))\n"
        "(define-fun smax () (_ BitVec $W) (bvnot smin))\n(define-fun width () (_ BitVec $W) (_ bv$W $W))\n"
        "(define-fun cut_signed ((v (_ BitVec $D))) (_ BitVec $W) (ite (bvslt v ((_ sign_extend $W) smin)) smin"
        " (ite (bvsgt v ((_ sign_extend $W) smax)) smax ((_ extract $M 0) v))))\n"
        /* bit fields, in 128 bits: an offset or a count of 32 bits, the count cut to the bits there are */
        "(define-fun wide ((v (_ BitVec $W))) (_ BitVec 128) ((_ zero_extend $X) v))\n"
        "(define-fun wide32 ((v (_ BitVec 32))) (_ BitVec 128) ((_ zero_extend 96) v))\n"
        "(define-fun cut ((v (_ BitVec 128))) (_ BitVec $W) ((_ extract $M 0) v))\n"
        "(define-fun low ((n (_ BitVec 128))) (_ BitVec 128) (bvsub (bvshl (_ bv1 128) n) (_ bv1 128)))\n"
        "(define-fun count ((o (_ BitVec 32)) (n (_ BitVec 32))) (_ BitVec 128) (ite (bvuge (wide32 o) (_ bv$W 128)) (_ bv0 128)"
        " (ite (bvugt (bvadd (wide32 o) (wide32 n)) (_ bv$W 128)) (bvsub (_ bv$W 128) (wide32 o)) (wide32 n))))\n"
        "(define-fun out ((o (_ BitVec 32)) (n (_ BitVec 32))) Bool (bvugt (bvadd (wide32 o) (wide32 n)) (_ bv$W 128)))\n");
  } else {
    fold_term(to, kind,
              "(define-sort F () (_ FloatingPoint $E $S))\n(define-fun fzero () F (_ +zero $E $S))\n"
              "(define-fun fone () F ((_ to_fp $E $S) RNE 1.0))\n"
              "(define-fun least ((x F) (y F)) F (ite (fp.isNaN x) y (ite (fp.isNaN y) x"
              " (ite (and (fp.isZero x) (fp.isZero y)) (ite (fp.isNegative x) x y) (ite (fp.lt x y) x y)))))\n"
              "(define-fun greatest ((x F) (y F)) F (ite (fp.isNaN x) y (ite (fp.isNaN y) x"
              " (ite (and (fp.isZero x) (fp.isZero y)) (ite (fp.isPositive x) x y) (ite (fp.gt x y) x y)))))\n");
  }
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
      fold_sort(to, c->in[input++], c->raw);
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
  fold_sort(to, c->out[output], c->raw);
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
  if (list->count == list->capacity) {
    list->capacity = list->capacity ? list->capacity * 2 : 64;
    list->cases = realloc(list->cases, list->capacity * sizeof *list->cases);
    if (!list->cases)
      abort();
  }
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
  fold_prelude(terms, kind, raw);
  return terms;
}

void
fold_end(fold_list *list, FILE *terms)
{
  /* The stream knows where the text goes: the case's place at the time.  It is closed before another case can move it. */
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
over_bits(FILE *to, const char *what, vyre_kind kind)
{
  const uint32_t bits = vyre_kind_bits(kind);
  if (!strcmp(what, "@bitcount") || !strcmp(what, "@bitrev")) {
    const bool counts = what[4] == 'c';
    fputs(counts ? "(bvadd" : "(concat", to);
    for (uint32_t i = 0; i < bits; i++)
      if (counts)
        fprintf(to, " ((_ zero_extend %u) ((_ extract %u %u) x))", bits - 1, i, i);
      else
        fprintf(to, " ((_ extract %u %u) x)", i, i);
    fputc(')', to);
    return;
  }
  const bool lowest = !strcmp(what, "@findlsb"), sign = !strcmp(what, "@findsmsb");
  const uint32_t count = sign ? bits - 1 : bits;
  for (uint32_t n = 0; n < count; n++) {
    const uint32_t i = lowest ? n : count - 1 - n;
    fprintf(to, "(ite (distinct ((_ extract %u %u) x) ", i, i);
    if (sign)
      fprintf(to, "((_ extract %u %u) x)", bits - 1, bits - 1);
    else
      fputs("#b0", to);
    fprintf(to, ") (_ bv%u %u) ", i, bits);
  }
  fputs("ones", to);
  for (uint32_t n = 0; n < count; n++)
    fputc(')', to);
}

static void
lane_case(fold_list *list, const lane_term *t, vyre_kind kind)
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
    const char *text = r ? t->second : t->result;
    fold_head(to, c, r);
    if (*text == '@')
      over_bits(to, text, kind);
    else
      fold_term(to, kind, text);
    fputs(")\n", to);
  }
  fold_head_undefined(to, c);
  fold_term(to, kind, t->relaxed ? t->relaxed : "false");
  fputs(")\n", to);
  fold_end(list, to);
}

void
fold_lanes(fold_list *list, uint32_t bits_low, uint32_t bits_high, bool floats)
{
  for (size_t i = 0; i < sizeof lane_terms / sizeof *lane_terms; i++)
    for (vyre_kind kind = VYRE_BOOL; kind <= VYRE_F64; kind++)
      if (lane_terms[i].kinds >> kind & 1 && vyre_kind_bits(kind) >= bits_low && vyre_kind_bits(kind) <= bits_high &&
          vyre_kind_is_float(kind) == floats)
        lane_case(list, &lane_terms[i], kind);
}

/* ---- conversions ---------------------------------------------------------------------------------------------------- */

/* Toward zero; beyond the range its end, a NaN 0.  The range's ends are powers of two: those that the float has not are infinite
 * in it, and only an infinity is beyond them. */
static void
float_to_int(FILE *to, vyre_kind from, vyre_kind kind, bool undefined)
{
  const uint32_t bits = vyre_kind_bits(kind);
  const bool is_signed = vyre_kind_is_signed(kind);
  char top[48], text[512];
  snprintf(top, sizeof top, "%.1f", (double)(UINT64_C(1) << (bits - 1)) * (is_signed ? 1.0 : 2.0));
  if (undefined) {
    snprintf(text, sizeof text,
             "(let ((t (fp.roundToIntegral RTZ x))) (or (fp.isNaN x) (fp.isInfinite x) (fp.geq t ((_ to_fp $E $S) RNE %s))"
             " (fp.lt t ((_ to_fp $E $S) RNE (- %s)))))",
             top, is_signed ? top : "0.0");
  } else if (is_signed) {
    snprintf(text, sizeof text,
             "(ite (fp.isNaN x) (_ bv0 %u) (ite (fp.geq x ((_ to_fp $E $S) RNE %s)) (bvnot (concat #b1 (_ bv0 %u)))"
             " (ite (fp.leq x ((_ to_fp $E $S) RNE (- %s))) (concat #b1 (_ bv0 %u)) ((_ fp.to_sbv %u) RTZ x))))",
             bits, top, bits - 1, top, bits - 1, bits);
  } else {
    snprintf(text, sizeof text,
             "(ite (fp.isNaN x) (_ bv0 %u) (ite (fp.geq x ((_ to_fp $E $S) RNE %s)) (bvnot (_ bv0 %u))"
             " (ite (fp.leq x fzero) (_ bv0 %u) ((_ fp.to_ubv %u) RTZ x))))",
             bits, top, bits, bits, bits);
  }
  fold_term(to, from, text);
}

static void
convert_term(FILE *to, vyre_kind from, vyre_kind kind)
{
  const uint32_t have = vyre_kind_bits(from), want = vyre_kind_bits(kind);
  if (vyre_kind_is_float(kind)) {
    fold_term(to, kind,
              vyre_kind_is_float(from) || vyre_kind_is_signed(from) ? "((_ to_fp $E $S) RNE x)"
                                                                    : "((_ to_fp_unsigned $E $S) RNE x)");
  } else if (vyre_kind_is_float(from)) {
    float_to_int(to, from, kind, false);
  } else if (want <= have) {
    fprintf(to, "((_ extract %u 0) x)", want - 1);
  } else {
    fprintf(to, "((_ %s %u) x)", vyre_kind_is_signed(from) ? "sign_extend" : "zero_extend", want - have);
  }
}

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
      convert_term(to, from, kind);
      fputs(")\n", to);
      fold_head_undefined(to, c);
      if (vyre_kind_is_float(from) && vyre_kind_is_int(kind))
        float_to_int(to, from, kind, true);
      else
        fputs("false", to);
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
      if (vyre_op_infos[op].fold != VYRE_FOLD_EXACT || !eval_takes((vyre_opcode)op, kind))
        continue;
      /* Integers of both signs share a term, but for conversions. */
      const vyre_kind other = vyre_kind_is_signed(kind) ? (vyre_kind)(kind + 1) : kind;
      bool found = false;
      for (uint32_t i = 0; i < list->count && !found; i++)
        found = list->cases[i].op == op && (list->cases[i].kind == kind || (op != VYRE_OP_convert && list->cases[i].kind == other));
      if (!found) {
        char text[16];
        name_type(text, sizeof text, VYRE_TYPE(kind, 1));
        fprintf(report, "%s on %s folds and has no SMT-LIB term\nFix: add one to unittests/folds/fold_terms.def\n",
                vyre_op_infos[op].text, text);
        missing++;
      }
    }
  return missing;
}
