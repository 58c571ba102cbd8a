/* Writes terms.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "smt.h"

#include <ctype.h>
#include <string.h>

#define B (1u << VYRE_BOOL)
#define I (1u << VYRE_U8 | 1u << VYRE_U16 | 1u << VYRE_U32 | 1u << VYRE_U64)
#define F (1u << VYRE_F16 | 1u << VYRE_F32 | 1u << VYRE_F64)

const smt_op smt_ops[] = {
#define FOLD(op, kinds, relaxed, result, second) {VYRE_OP_##op, kinds, relaxed, result, second},
#include "terms.def"
};

const uint32_t smt_op_count = sizeof smt_ops / sizeof *smt_ops;

const smt_op *
smt_find(vyre_opcode op, vyre_kind kind)
{
  if (vyre_kind_is_signed(kind))
    kind = vyre_kind_with_sign(kind, false);
  for (uint32_t i = 0; i < smt_op_count; i++)
    if (smt_ops[i].op == op && smt_ops[i].kinds >> kind & 1)
      return &smt_ops[i];
  return NULL;
}

/* ---- text ----------------------------------------------------------------------------------------------------------- */

static uint32_t
exponent_bits(vyre_kind kind)
{
  return kind == VYRE_F16 ? 5 : kind == VYRE_F32 ? 8 : 11;
}

void
smt_sort(FILE *to, vyre_kind kind, bool raw)
{
  if (kind == VYRE_BOOL)
    fputs("Bool", to);
  else if (vyre_kind_is_float(kind) && !raw)
    fprintf(to, "(_ FloatingPoint %u %u)", exponent_bits(kind), vyre_kind_bits(kind) - exponent_bits(kind));
  else
    fprintf(to, "(_ BitVec %u)", vyre_kind_bits(kind));
}

static void over_bits(FILE *to, const char *what, vyre_kind kind, const char *suffix);

/* Returns whether smt_prelude defines the name. */
static bool
is_defined(const char *name, size_t length)
{
  static const char *const names[] = {"zero", "one", "ones",  "smin", "smax", "width", "cut_signed", "wide",  "wide32",
                                      "cut",  "low", "count", "out",  "F",    "fzero", "fone",       "least", "greatest"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0)
      return true;
  return false;
}

static void
put_size(FILE *to, vyre_kind kind, char letter)
{
  const uint32_t bits = vyre_kind_bits(kind), exponent = exponent_bits(kind);
  fprintf(to, "%u",
          letter == 'W'   ? bits
          : letter == 'M' ? bits - 1
          : letter == 'D' ? 2 * bits
          : letter == 'T' ? 2 * bits - 1
          : letter == 'X' ? 128 - bits
          : letter == 'E' ? exponent
                          : bits - exponent);
}

void
smt_term(FILE *to, vyre_kind kind, const char *term, const char *suffix)
{
  if (*term == '@') {
    over_bits(to, term, kind, suffix);
    return;
  }
  while (*term) {
    size_t length = 0;
    while (isalnum((unsigned char)term[length]) || (term[length] && strchr("_.+", term[length])))
      length++;
    if (length) {
      fprintf(to, "%.*s%s", (int)length, term, is_defined(term, length) ? suffix : "");
      term += length;
    } else if (*term == '$') {
      put_size(to, kind, term[1]);
      term += 2;
    } else {
      fputc(*term++, to);
    }
  }
}

void
smt_prelude(FILE *to, vyre_kind kind, bool raw, const char *suffix)
{
  if (kind == VYRE_BOOL) {
    smt_term(to, kind, "(define-fun zero () Bool false)\n", suffix);
  } else if (!vyre_kind_is_float(kind) || raw) {
    smt_term(
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
        "(define-fun out ((o (_ BitVec 32)) (n (_ BitVec 32))) Bool (bvugt (bvadd (wide32 o) (wide32 n)) (_ bv$W 128)))\n",
        suffix);
  } else {
    smt_term(to, kind,
             "(define-sort F () (_ FloatingPoint $E $S))\n(define-fun fzero () F (_ +zero $E $S))\n"
             "(define-fun fone () F ((_ to_fp $E $S) RNE 1.0))\n"
             "(define-fun least ((x F) (y F)) F (ite (fp.isNaN x) y (ite (fp.isNaN y) x"
             " (ite (and (fp.isZero x) (fp.isZero y)) (ite (fp.isNegative x) x y) (ite (fp.lt x y) x y)))))\n"
             "(define-fun greatest ((x F) (y F)) F (ite (fp.isNaN x) y (ite (fp.isNaN y) x"
             " (ite (and (fp.isZero x) (fp.isZero y)) (ite (fp.isPositive x) x y) (ite (fp.gt x y) x y)))))\n",
             suffix);
  }
}

static void
over_bits(FILE *to, const char *what, vyre_kind kind, const char *suffix)
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
  fprintf(to, "ones%s", suffix);
  for (uint32_t n = 0; n < count; n++)
    fputc(')', to);
}

/* ---- conversions ---------------------------------------------------------------------------------------------------- */

/* Rounds toward zero, saturates, and converts NaN to 0.  The bounds are powers of two.  A bound that is too large for the float
 * type is an infinity, and only an infinity reaches it. */
static void
float_to_int(FILE *to, vyre_kind from, vyre_kind kind, bool undefined, const char *suffix)
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
  smt_term(to, from, text, suffix);
}

void
smt_convert(FILE *to, vyre_kind from, vyre_kind kind, bool undefined, const char *suffix)
{
  const uint32_t have = vyre_kind_bits(from), want = vyre_kind_bits(kind);
  if (undefined && (vyre_kind_is_float(kind) || !vyre_kind_is_float(from))) {
    fputs("false", to);
  } else if (vyre_kind_is_float(kind)) {
    smt_term(to, kind,
             vyre_kind_is_float(from) || vyre_kind_is_signed(from) ? "((_ to_fp $E $S) RNE x)" : "((_ to_fp_unsigned $E $S) RNE x)",
             suffix);
  } else if (vyre_kind_is_float(from)) {
    float_to_int(to, from, kind, undefined, suffix);
  } else if (want <= have) {
    fprintf(to, "((_ extract %u 0) x)", want - 1);
  } else {
    fprintf(to, "((_ %s %u) x)", vyre_kind_is_signed(from) ? "sign_extend" : "zero_extend", want - have);
  }
}
