/* Evaluates cases, writes the questions for z3, reads the answers, and reports a wrong case with a point and both values.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fold.h"

#include "smt/smt.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- evaluating ----------------------------------------------------------------------------------------------------- */

static vyre_type
twin(vyre_type type, bool as_signed)
{
  const vyre_kind kind = VYRE_TYPE_KIND(type);
  return as_signed && vyre_kind_is_int(kind) && !vyre_kind_is_signed(kind) ? (vyre_type)(type - VYRE_TYPE(1, 1)) : type;
}

/* Evaluates a case with a point in each lane.  The case must be lanewise if there are several lanes. */
static bool
run_lanes(const fold_case *c, fold_eval eval, bool as_signed, const uint64_t *points, uint32_t lanes,
          vyre_value out[VYRE_EVAL_PARTS], bool *out_undefined)
{
  vyre_value values[3][4] = {{{{0}}}};
  vyre_eval_operand operands[3] = {{0}};
  const vyre_type more = (vyre_type)(lanes - 1);
  uint32_t input = 0;
  for (uint32_t k = 0; k < 3 && c->operands[k].type; k++) {
    const fold_operand *o = &c->operands[k];
    const uint32_t parts = o->parts ? o->parts : 1, part_lanes = VYRE_TYPE_LANES(o->parts ? o->part_type : o->type);
    for (uint32_t n = 0; n < parts * part_lanes; n++, input++)
      for (uint32_t i = 0; i < lanes; i++)
        values[k][n / part_lanes].lane[n % part_lanes + i] = points[(size_t)i * c->inputs + input];
    operands[k] =
        (vyre_eval_operand){values[k], o->parts, twin((vyre_type)(o->type + more), as_signed), twin(o->part_type, as_signed)};
  }
  const bool literal = c->op == VYRE_OP_const;
  const uint32_t word = VYRE_ROW(c->op, twin((vyre_type)(c->type + more), as_signed), 0);
  if (literal)
    memset(operands, 0, sizeof operands);
  return eval(word, literal ? (uint32_t)points[0] : c->imm, literal ? (uint32_t)(points[0] >> 32) : 0, operands, out,
              out_undefined);
}

bool
fold_run(const fold_case *c, fold_eval eval, bool as_signed, const uint64_t *point, uint64_t *out, bool *out_undefined)
{
  vyre_value parts[VYRE_EVAL_PARTS];
  if (!run_lanes(c, eval, as_signed, point, 1, parts, out_undefined))
    return false;
  for (uint32_t n = 0; n < c->outputs; n++)
    out[n] = parts[n / c->out_lanes].lane[n % c->out_lanes];
  return true;
}

static void
print_point(FILE *to, const fold_case *c, const uint64_t *point)
{
  uint32_t input = 0;
  for (uint32_t k = 0; k < 3 && c->operands[k].type; k++) {
    const fold_operand *o = &c->operands[k];
    const uint32_t lanes = o->parts ? o->parts * VYRE_TYPE_LANES(o->part_type) : VYRE_TYPE_LANES(o->type);
    for (uint32_t n = 0; n < lanes; n++, input++) {
      char name[8];
      fprintf(to, "%s%s = 0x%" PRIx64, input ? ", " : "", fold_name(k, n, name), point[input]);
    }
  }
}

/* Returns whether the bits are a NaN other than the canonical one. */
static bool
is_odd_nan(vyre_kind kind, uint64_t bits)
{
  const uint64_t infinity = kind == VYRE_F16 ? 0x7c00 : kind == VYRE_F32 ? 0x7f800000 : UINT64_C(0x7ff0000000000000);
  const uint64_t quiet = kind == VYRE_F16 ? 0x7e00 : kind == VYRE_F32 ? 0x7fc00000 : UINT64_C(0x7ff8000000000000);
  const uint64_t magnitude = bits & ~(UINT64_C(1) << (vyre_kind_bits(kind) - 1));
  return vyre_kind_is_float(kind) && magnitude > infinity && bits != quiet;
}

/* Checks what terms cannot express: a NaN's bits, operands of the other signedness, and vectors.  Returns the error at the
 * n-th point, or NULL if there is none. */
static const char *
wrong_in_c(const fold_case *c, fold_eval eval, const uint64_t *points, uint32_t n, uint32_t count)
{
  const uint64_t *point = points + (size_t)n * c->inputs;
  uint64_t out[FOLD_OUTPUTS], other[FOLD_OUTPUTS];
  bool undefined = false, other_undefined = false;
  if (!fold_run(c, eval, false, point, out, &undefined))
    return "is not evaluated";
  if (undefined && vyre_op_infos[c->op].undefined == VYRE_UNDEFINED_NEVER)
    return "is undefined, and never should be";
  for (uint32_t i = 0; i < c->outputs; i++)
    if (!c->raw && is_odd_nan(c->out[i], out[i]))
      return "gives a NaN with other bits than the canonical ones";
  if (c->op != VYRE_OP_convert && (!fold_run(c, eval, true, point, other, &other_undefined) || undefined != other_undefined ||
                                   memcmp(out, other, c->outputs * sizeof *out) != 0))
    return "differs between signed and unsigned operands";
  const uint32_t lanes = n % 3 + 2;
  if (!c->lanewise || n + lanes > count)
    return NULL;
  vyre_value vector[VYRE_EVAL_PARTS];
  if (!run_lanes(c, eval, false, point, lanes, vector, &undefined))
    return "is not evaluated on vectors";
  bool one_undefined = false;
  for (uint32_t i = 0; i < lanes; i++) {
    if (!fold_run(c, eval, false, point + (size_t)i * c->inputs, other, &other_undefined) || vector[0].lane[i] != other[0])
      return "differs between a vector's lane and the scalar";
    one_undefined |= other_undefined;
  }
  return one_undefined == undefined ? NULL : "is undefined on a vector, and on none of its lanes, or the other way round";
}

/* ---- questions ------------------------------------------------------------------------------------------------------ */

static void
write_bits(FILE *to, vyre_kind kind, uint64_t bits)
{
  if (kind == VYRE_BOOL)
    fputs(bits ? " true" : " false", to);
  else
    fprintf(to, " #x%0*" PRIx64, (int)vyre_kind_bits(kind) / 4, bits);
}

/* Writes a parameter as the sort that the terms have. */
static void
write_value(FILE *to, const fold_case *c, vyre_kind kind, char letter, uint32_t n)
{
  const bool is_float = vyre_kind_is_float(kind) && !c->raw;
  if (is_float)
    smt_term(to, kind, " ((_ to_fp $E $S)", "");
  fprintf(to, " %c%u", letter, n);
  if (is_float)
    fputc(')', to);
}

static void
write_parameters(FILE *to, const vyre_kind *kinds, uint32_t count, char letter)
{
  for (uint32_t i = 0; i < count; i++) {
    fprintf(to, " (%c%u ", letter, i);
    smt_sort(to, kinds[i], true);
    fputc(')', to);
  }
}

/* Writes the predicate "the result differs from the term", over the operands' bits p0.., the results' bits e0.., and eu. */
static void
write_differs(FILE *to, const fold_case *c, bool named, bool asks_undefined)
{
  fputs(named ? "(define-fun differs ((i (_ BitVec 32))" : "(define-fun differs (", to);
  write_parameters(to, c->in, c->inputs, 'p');
  write_parameters(to, c->out, c->outputs, 'e');
  fputs(asks_undefined ? " (eu Bool)) Bool " : ") Bool ", to);
  fputs(named ? "(and (= k i) (not (and true" : "(not (and true", to);
  for (uint32_t r = 0; r < c->outputs + asks_undefined; r++) {
    fprintf(to, r == c->outputs ? " (= (u" : " (= (r%u", r);
    for (uint32_t i = 0; i < c->inputs; i++)
      write_value(to, c, c->in[i], 'p', i);
    fputc(')', to);
    if (r == c->outputs)
      fputs(" eu", to);
    else
      write_value(to, c, c->out[r], 'e', r);
    fputc(')', to);
  }
  fputs(named ? "))))\n" : ")))\n", to);
}

void
fold_write(FILE *to, const fold_case *c, fold_eval eval, const uint64_t *points, uint32_t count, bool named)
{
  /* wrong_in_c checks ops that are never undefined, which halves the question. */
  const bool asks_undefined = vyre_op_infos[c->op].undefined != VYRE_UNDEFINED_NEVER;
  fprintf(to, "; %s\n%s%s", c->name, named ? "(declare-const k (_ BitVec 32))\n" : "", c->terms);
  write_differs(to, c, named, asks_undefined);
  fputs("(assert (or false\n", to);
  for (uint32_t n = 0; n < count; n++) {
    const uint64_t *point = points + (size_t)n * c->inputs;
    uint64_t out[FOLD_OUTPUTS] = {0};
    bool undefined = false;
    fold_run(c, eval, false, point, out, &undefined);
    fputs("(differs", to);
    if (named)
      write_bits(to, VYRE_U32, n);
    for (uint32_t i = 0; i < c->inputs; i++)
      write_bits(to, c->in[i], point[i]);
    for (uint32_t i = 0; i < c->outputs; i++)
      write_bits(to, c->out[i], out[i]);
    fputs(!asks_undefined ? ")\n" : undefined ? " true)\n" : " false)\n", to);
  }
  fputs("))\n(check-sat)\n", to);
}

typedef struct question {
  const fold_list *list;
  fold_eval eval;
  uint32_t random;
  FILE *report;
  fold_counts *counts;
  uint32_t only;         /* index of the case of write_one */
  const uint64_t *point; /* where that case is wrong, NULL if unknown */
} question;

static void
write_all(FILE *to, void *context)
{
  question *q = context;
  for (uint32_t i = 0; i < q->list->count; i++) {
    const fold_case *c = &q->list->cases[i];
    uint32_t count;
    uint64_t *points = fold_points(c, q->random, &count);
    for (uint32_t n = 0; n < count; n++) {
      const char *what = wrong_in_c(c, q->eval, points, n, count);
      if (what) {
        fprintf(q->report, "%s: %s, at ", c->name, what);
        print_point(q->report, c, points + (size_t)n * c->inputs);
        fputc('\n', q->report);
        q->counts->wrong++;
        break;
      }
    }
    fold_write(to, c, q->eval, points, count, false);
    fputs("(reset)\n", to);
    q->counts->points += count;
    free(points);
  }
}

/* Writes one case again: for k, or for the terms' values at the point if the point is known. */
static void
write_one(FILE *to, void *context)
{
  const question *q = context;
  const fold_case *c = &q->list->cases[q->only];
  if (!q->point) {
    uint32_t count;
    uint64_t *points = fold_points(c, q->random, &count);
    fold_write(to, c, q->eval, points, count, true);
    fputs("(get-value (k))\n", to);
    free(points);
    return;
  }
  fputs(c->terms, to);
  for (uint32_t r = 0; r <= c->outputs; r++) {
    fprintf(to,
            r == c->outputs                            ? "(simplify (u"
            : c->raw || !vyre_kind_is_float(c->out[r]) ? "(simplify (r%u"
                                                       : "(simplify (fp.to_ieee_bv (r%u",
            r);
    for (uint32_t i = 0; i < c->inputs; i++) {
      const bool is_float = vyre_kind_is_float(c->in[i]) && !c->raw;
      if (is_float)
        smt_term(to, c->in[i], " ((_ to_fp $E $S)", "");
      write_bits(to, c->in[i], q->point[i]);
      if (is_float)
        fputc(')', to);
    }
    fputs(r == c->outputs || c->raw || !vyre_kind_is_float(c->out[r]) ? "))\n" : ")))\n", to);
  }
}

static void
report_wrong(question *q, uint32_t index)
{
  const fold_case *c = &q->list->cases[index];
  q->only = index;
  q->point = NULL;
  char *answer = smt_solve(write_one, q, q->report);
  const char *k = answer ? strstr(answer, "(k #x") : NULL;
  uint32_t count;
  uint64_t *points = fold_points(c, q->random, &count);
  const unsigned long n = k ? strtoul(k + 5, NULL, 16) : count;
  if (n < count) {
    uint64_t out[FOLD_OUTPUTS] = {0};
    bool undefined = false;
    q->point = points + (size_t)n * c->inputs;
    fold_run(c, q->eval, false, q->point, out, &undefined);
    fprintf(q->report, "%s: at ", c->name);
    print_point(q->report, c, q->point);
    fputs(" vyre_eval gives", q->report);
    for (uint32_t i = 0; i < c->outputs; i++)
      write_bits(q->report, c->out[i], out[i]);
    free(answer);
    answer = smt_solve(write_one, q, q->report);
    for (char *at = answer; at && *at; at++)
      *at = *at == '\n' ? ' ' : *at;
    fprintf(q->report, "%s, the term %s\n", undefined ? ", undefined" : ", defined", answer ? answer : "?");
  } else {
    fprintf(q->report, "%s: z3 finds no point: %s\n", c->name, answer ? answer : "no answer");
  }
  free(points);
  free(answer);
}

bool
fold_check(const fold_list *list, fold_eval eval, uint32_t random, FILE *report, fold_counts *out)
{
  question q = {.list = list, .eval = eval, .random = random, .report = report, .counts = out};
  *out = (fold_counts){.cases = list->count};
  char *answer = smt_solve(write_all, &q, report);
  if (!answer)
    return false;
  const char *at = answer;
  bool whole = true;
  for (uint32_t i = 0; i < list->count && whole; i++) {
    const size_t length = strcspn(at, "\n");
    if (length == 3 && !strncmp(at, "sat", 3)) {
      report_wrong(&q, i);
      out->wrong++;
    } else if (length != 5 || strncmp(at, "unsat", 5) != 0) {
      fprintf(report, "%s: z3 answers: %.*s\n", list->cases[i].name, (int)length, length ? at : "nothing");
      whole = false;
    }
    at += length + (at[length] != 0);
  }
  free(answer);
  return whole;
}
