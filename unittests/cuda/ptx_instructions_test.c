/* Compares each instruction of the simulator (ptx_instructions.def) to its documented result.  Integers are compared to z3's
 * values of SMT-LIB terms at corners and random points, others to single results.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "ptx_fixture.h"
#include "smt/smt.h"

#include <inttypes.h>

enum { POINTS = 96, SOURCES = 4 };

typedef struct row {
  const char *text, *signature;
  uint32_t sm;
  const char *term;
} row;

static const row terms[] = {
#define TERM(text, signature, sm, term) {text, signature, sm, term},
#include "ptx_instructions.def"
};

static const struct {
  row is; /* without a term */
  uint64_t sources[SOURCES], result;
} cases[] = {
#define CASE(text, signature, sm, a, b, c, result) {{text, signature, sm, NULL}, {a, b, c}, result},
#include "ptx_instructions.def"
};

enum { TERMS = sizeof terms / sizeof *terms, CASES = sizeof cases / sizeof *cases };

static const char names[] = "dabce"; /* of the result and its sources */
static uint64_t in[TERMS][POINTS][SOURCES], out[TERMS][POINTS];

static uint32_t
bits_of(char letter)
{
  return letter == 'h' ? 16 : letter == 'w' ? 32 : letter == 'd' ? 64 : 1;
}

/* ---- the simulator ------------------------------------------------------------------------------------------------------- */

/* Writes a kernel that computes one point in each thread.  The kernel loads the sources, so that nothing is folded. */
static void
write_kernel(const row *t, char *to, size_t size)
{
  FILE *file = fmemopen(to, size, "w");
  assert_non_null(file);
  fprintf(file,
          ".version %s\n.target sm_%u\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in)\n{\n"
          ".reg .b64 %%out, %%in, %%wide;\n.reg .b32 %%lane;\n.reg .pred %%p, %%q;\n",
          t->sm >= 90 ? "8.0" : "7.8", t->sm);
  for (size_t k = 0; t->signature[k]; k++)
    if (t->signature[k] == 'p')
      fprintf(file, ".reg .pred %%%c;\n", names[k]);
    else
      fprintf(file, ".reg .b%u %%%c;\n", bits_of(t->signature[k]), names[k]);
  fprintf(file, "ld.param.u64 %%out, [out];\nld.param.u64 %%in, [in];\nmov.u32 %%lane, %%tid.x;\n"
                "mad.wide.u32 %%out, %%lane, 8, %%out;\nmad.wide.u32 %%in, %%lane, 32, %%in;\n");
  for (size_t k = 1; t->signature[k]; k++)
    if (t->signature[k] == 'p')
      fprintf(file, "ld.global.u64 %%wide, [%%in+%zu];\nsetp.ne.u64 %%%c, %%wide, 0;\n", 8 * (k - 1), names[k]);
    else
      fprintf(file, "ld.global.b%u %%%c, [%%in+%zu];\n", bits_of(t->signature[k]), names[k], 8 * (k - 1));
  fprintf(file, "%s;\nst.global.b%u [%%out], %%d;\nret;\n}\n", t->text, bits_of(t->signature[0]));
  fclose(file);
}

/* Returns a source of a point.  The first 25 points are all pairs of corners of the first two sources.  The next ones are edges of
 * counts and lengths in one source after the other.  The rest are random bits of random length, corners and small numbers. */
static uint64_t
draw(uint32_t point, uint32_t source, uint32_t bits, uint64_t *random)
{
  const uint64_t top = UINT64_C(1) << (bits - 1), corners[] = {0, 1, top - 1, top, 2 * top - 1};
  static const uint64_t edges[] = {8, 16, 31, 32, 33, 63, 64, 65, 255, 256};
  const uint64_t value = test_random_bits(random);
  if (point < 25 && source < 2)
    return corners[source ? point / 5 : point % 5];
  if (point >= 25 && (point - 25) / 10 + 1 == source)
    return edges[(point - 25) % 10];
  switch (value % 4) {
  case 0:
    return corners[value / 4 % 5];
  case 1:
    return value / 4 % 80;
  default:
    return test_random_bits(random) >> value / 4 % 64;
  }
}

/* Runs the instruction for `count` points, each with SOURCES sources. */
static void
run(const row *t, uint32_t count, const uint64_t *sources, uint64_t *results, uint64_t seed)
{
  char text[2048];
  write_kernel(t, text, sizeof text);
  ptx_test test = {.text = text, .launch = {.block = {count}, .seed = seed}};
  ptx_test_buffer(&test, 0, results, count * sizeof *results);
  ptx_test_buffer(&test, 1, (void *)(uintptr_t)sources, count * SOURCES * sizeof *sources);
  if (!ptx_test_run(&test))
    fail_msg("'%s': %s%s", t->text, test.log, test.fault.text);
}

static void
run_term(uint32_t index, uint64_t *random)
{
  const row *t = &terms[index];
  const bool divides = strncmp(t->text, "div", 3) == 0 || strncmp(t->text, "rem", 3) == 0;
  for (uint32_t point = 0; point < POINTS; point++)
    for (uint32_t source = 0; t->signature[source + 1]; source++) {
      const uint32_t bits = bits_of(t->signature[source + 1]);
      uint64_t value = draw(point, source, bits, random) & (bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1);
      in[index][point][source] = divides && source == 1 && value == 0 ? 3 : value; /* a division by 0 has no documented value */
    }
  run(t, POINTS, in[index][0], out[index], index);
}

static void
report(const row *t, const uint64_t x[SOURCES], uint64_t got, uint64_t wanted)
{
  print_error("%s of 0x%" PRIx64 ", 0x%" PRIx64 ", 0x%" PRIx64 ", 0x%" PRIx64 ": 0x%" PRIx64 ", not 0x%" PRIx64 "\n", t->text, x[0],
              x[1], x[2], x[3], got, wanted);
}

TEST(each_instruction_has_its_documented_result)
{
  uint32_t wrong = 0;
  for (uint32_t i = 0; i < CASES; i++) {
    uint64_t result = 0;
    run(&cases[i].is, 1, cases[i].sources, &result, 0);
    if (result != cases[i].result && wrong++ < 20)
      report(&cases[i].is, cases[i].sources, result, cases[i].result);
  }
  assert_int_equal(wrong, 0);
}

/* ---- z3 ------------------------------------------------------------------------------------------------------------------ */

/* Writes the text with numbers instead of $n, $l and $m. */
static void
write_text(FILE *to, const char *text, uint32_t bits)
{
  for (const char *at = text; *at; at++)
    if (*at != '$')
      fputc(*at, to);
    else
      fprintf(to, "%u", *++at == 'n' ? bits : *at == 'l' ? bits - 1 : 2 * bits - 1);
}

/* ones$n: `length` ones.  field$n: the field's bits within the source, with the sign above them if `signed`.  put$n: `into` with
 * `x` as a field. */
static const char fields[] =
    "(define-fun ones$n ((length (_ BitVec $n))) (_ BitVec $n) (bvsub (bvshl (_ bv1 $n) length) (_ bv1 $n)))\n"
    "(define-fun field$n ((x (_ BitVec $n)) (at (_ BitVec $n)) (length (_ BitVec $n)) (signed Bool)) (_ BitVec $n)\n"
    "  (let ((there (bvand (ones$n length) (bvlshr (bvnot (_ bv0 $n)) at)))\n"
    "        (end (bvsub (bvadd at length) (_ bv1 $n))))\n"
    "    (let ((last (ite (bvugt end (_ bv$l $n)) (_ bv$l $n) end)))\n"
    "      (bvor (bvand (bvlshr x at) there)\n"
    "        (ite (and signed (not (= length (_ bv0 $n))) (= ((_ extract 0 0) (bvlshr x last)) #b1)) (bvnot there)\n"
    "          (_ bv0 $n))))))\n"
    "(define-fun put$n ((x (_ BitVec $n)) (into (_ BitVec $n)) (at (_ BitVec $n)) (length (_ BitVec $n)))\n"
    "  (_ BitVec $n) (let ((there (bvshl (ones$n length) at)))\n"
    "    (bvor (bvand into (bvnot there)) (bvand (bvshl x at) there))))\n";

/* Writes the definitions that have a term for each bit: popc, brev, and top, the number of the highest set bit. */
static void
define_bits(FILE *to, uint32_t bits)
{
  fprintf(to, "(define-fun popc%u ((x (_ BitVec %u))) (_ BitVec 32) (bvadd", bits, bits);
  for (uint32_t i = 0; i < bits; i++)
    fprintf(to, " ((_ zero_extend 31) ((_ extract %u %u) x))", i, i);
  fprintf(to, "))\n(define-fun brev%u ((x (_ BitVec %u))) (_ BitVec %u) (concat", bits, bits, bits);
  for (uint32_t i = 0; i < bits; i++)
    fprintf(to, " ((_ extract %u %u) x)", i, i);
  fprintf(to, "))\n(define-fun top%u ((x (_ BitVec %u))) (_ BitVec 32) ", bits, bits);
  for (uint32_t i = bits; i-- > 0;)
    fprintf(to, "(ite (= ((_ extract %u %u) x) #b1) (_ bv%u 32) ", i, i, i);
  fprintf(to, "#xffffffff");
  for (uint32_t i = 0; i <= bits; i++)
    fprintf(to, ")");
  fprintf(to, "\n");
  write_text(to, fields, bits);
}

static const char helpers[] =
    "(define-fun low8 ((x (_ BitVec 32))) (_ BitVec 32) (bvand x #x000000ff))\n"
    "(define-fun sat32 ((x (_ BitVec 64))) (_ BitVec 32) (ite (bvslt x #xffffffff80000000) #x80000000\n"
    "  (ite (bvsgt x #x000000007fffffff) #x7fffffff ((_ extract 31 0) x))))\n"
    "(define-fun byte ((x (_ BitVec 64)) (n (_ BitVec 3))) (_ BitVec 8)\n"
    "  ((_ extract 7 0) (bvlshr x (bvshl ((_ zero_extend 61) n) (_ bv3 64)))))\n"
    "(define-fun picked ((x (_ BitVec 64)) (n (_ BitVec 4))) (_ BitVec 8) (let ((b (byte x ((_ extract 2 0) n))))\n"
    "  (ite (= ((_ extract 3 3) n) #b0) b (ite (= ((_ extract 7 7) b) #b1) #xff #x00))))\n"
    "(define-fun least16u ((x (_ BitVec 16)) (y (_ BitVec 16))) (_ BitVec 16) (ite (bvult x y) x y))\n"
    "(define-fun most16s ((x (_ BitVec 16)) (y (_ BitVec 16))) (_ BitVec 16) (ite (bvslt x y) y x))\n";

static void
write_value(FILE *to, uint64_t value, char letter)
{
  if (letter == 'p')
    fputs(value ? " true" : " false", to);
  else
    fprintf(to, " #x%0*" PRIx64, (int)bits_of(letter) / 4, value);
}

static void
write_queries(FILE *to, void *context)
{
  (void)context;
  define_bits(to, 32);
  define_bits(to, 64);
  fputs(helpers, to);
  for (uint32_t i = 0; i < TERMS; i++) {
    const row *t = &terms[i];
    const uint32_t bits = bits_of(t->signature[1]);
    fprintf(to, "(define-fun f%u (", i);
    for (uint32_t k = 1; t->signature[k]; k++)
      if (t->signature[k] == 'p')
        fprintf(to, "(%c Bool)", names[k]);
      else
        fprintf(to, "(%c (_ BitVec %u))", names[k], bits_of(t->signature[k]));
    fprintf(to, ") (_ BitVec %u) ", bits_of(t->signature[0]));
    write_text(to, t->term, bits);
    fprintf(to, ")\n");
    for (uint32_t point = 0; point < POINTS; point++) {
      fprintf(to, "(simplify (f%u", i);
      for (uint32_t k = 1; t->signature[k]; k++)
        write_value(to, in[i][point][k - 1], t->signature[k]);
      fprintf(to, "))\n");
    }
  }
}

TEST(each_integer_instruction_equals_its_term)
{
  uint64_t random = 7;
  uint32_t wrong = 0;
  for (uint32_t i = 0; i < TERMS; i++)
    run_term(i, &random);
  char *answer = smt_solve(write_queries, NULL, stderr), *at = answer;
  assert_non_null(answer);
  for (uint32_t i = 0; i < TERMS; i++)
    for (uint32_t point = 0; point < POINTS; point++) {
      char *end;
      if (strncmp(at, "#x", 2) != 0)
        fail_msg("'%s': z3 answers: %.200s", terms[i].text, at);
      const uint64_t wanted = strtoull(at + 2, &end, 16);
      if (out[i][point] != wanted && wrong++ < 20)
        report(&terms[i], in[i][point], out[i][point], wanted);
      at = end + (*end == '\n');
    }
  free(answer);
  assert_int_equal(wrong, 0);
}
