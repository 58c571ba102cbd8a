/* Compares the simulator's parser to ptxas.  The parser refuses all texts that ptxas refuses, and ptxas accepts all forms of the
 * parser's table.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "ptx_fixture.h"
#include "ptxas.h"

enum { MUTANTS = 300, TEXT = 1 << 18 };

/* Returns whether ptxas accepts the text.  Its first error is in `message`. */
static bool
ptxas_accepts(const char *text, uint32_t sm, char *message, size_t size)
{
  ptxas_result result;
  run_ptxas(text, strlen(text), sm, "-O0", &result);
  snprintf(message, size, "%s", result.said);
  return result.takes;
}

static bool
parser_accepts(const char *text, uint32_t sm, char *log, size_t size)
{
  ptx_module *module = ptx_module_parse(text, strlen(text), sm, 90, log, size);
  ptx_module_free(module);
  return module != NULL;
}

/* ---- the table ----------------------------------------------------------------------------------------------------------- */

typedef struct form {
  const char *name, *words, *operands;
  uint32_t version, sm;
} form;

static const form forms[] = {
#define PTX_EVAL(name, words, operands, version, sm, eval)         {name, words, operands, version, sm},
#define PTX_ACT(name, words, operands, version, sm, action)        {name, words, operands, version, sm},
#define PTX_TOGETHER(name, words, operands, version, sm, together) {name, words, operands, version, sm},
#include "targets/cuda/sim/ptx/forms.def"
};

enum { FORMS = sizeof forms / sizeof *forms };

/* Writes the n-th alternative of each group of words.  An optional group also has the alternative of no word.  Stores the types
 * and the vector length among the words. */
static void
write_words(const form *f, uint32_t n, char *out, char types[3][8], uint32_t *vector)
{
  uint32_t type_count = 0;
  *out = 0;
  *vector = 1;
  for (const char *at = f->words; *at;) {
    const char *end = strchr(at, ' ');
    if (!end)
      end = at + strlen(at);
    const bool is_optional = *at == '?';
    at += is_optional || *at == '!' || *at == '&';
    uint32_t count = 1, which;
    for (const char *c = at; c < end; c++)
      count += *c == '|';
    which = n % (count + is_optional);
    for (uint32_t k = 0; k < which && k < count - 1; k++)
      at = strchr(at, '|') + 1;
    if (which < count) {
      const char *bar = memchr(at, '|', (size_t)(end - at));
      const int length = (int)((bar ? bar : end) - at);
      sprintf(out + strlen(out), ".%.*s", length, at);
      const bool is_type = (strchr("bsuf", *at) && length >= 2 && at[1] >= '0' && at[1] <= '9' && (length < 3 || at[2] != 'e')) ||
                           strncmp(at, "pred", 4) == 0 || strncmp(at, "bf16", 4) == 0;
      if (is_type && type_count < 3)
        snprintf(types[type_count++], 8, "%.*s", length, at);
      if (length == 2 && (strncmp(at, "v2", 2) == 0 || strncmp(at, "v4", 2) == 0))
        *vector = (uint32_t)(at[1] - '0');
    }
    for (at = end; *at == ' '; at++)
      ;
  }
}

/* Returns a register of the type.  Registers have the names of types. */
static const char *
named(const char *type)
{
  static char name[16];
  const char *class = strcmp(type, "bf16") == 0 ? "b16" : strcmp(type, "bf16x2") == 0 || strstr(type, "16x2") ? "b32" : type;
  if (strchr(type, '8'))
    class = "b32";
  snprintf(name, sizeof name, "%%%s", class);
  return name;
}

static const char *
wide_of(const char *type)
{
  static char name[8];
  snprintf(name, sizeof name, "%c%u", *type, strstr(type, "16") ? 32 : 64);
  return name;
}

/* Operands that do not depend on the form, by their marks. */
static const struct {
  const char *marks, *text;
} plain_operands[] = {{"U", "%u32"}, {"R", "%b32"}, {"E", "%b32|%pred"}, {"Pcp", "%pred"}, {"l", "%u64"}, {"i", "7"}};

/* Returns the operand of that mark, or NULL if the mark is unknown.  `before` has the operands before it. */
static const char *
write_operand(const form *f, char mark, char types[3][8], const char *words, const char *before)
{
  static char label[16];
  for (size_t i = 0; i < sizeof plain_operands / sizeof *plain_operands; i++)
    if (strchr(plain_operands[i].marks, mark))
      return plain_operands[i].text;
  if (strchr("DaXZzVv", mark))
    return named(types[0]);
  if (strchr("bx", mark))
    return named(types[1]);
  if (strchr("Ww", mark))
    return named(wide_of(types[0]));
  if (mark == 'Q')
    return strstr(types[0], "x2") ? "%pred|%q" : "%pred";
  if (mark == 'm')
    return !strstr(words, ".param") ? "[%u64]" : strcmp(f->name, "st") == 0 ? "[called]" : "[given]";
  if (mark == 'u') /* barriers have small numbers */
    return strncmp(f->name, "bar", 3) != 0 ? "%u32" : strcmp(before, "3") == 0 || strstr(before, ", 3") ? "64" : "3";
  snprintf(label, sizeof label, "L%d", (int)(f - forms));
  return mark == 'N' ? label : NULL;
}

static bool
write_operands(const form *f, char types[3][8], const char *words, uint32_t vector, char *out)
{
  *out = 0;
  for (const char *at = f->operands; *at; at++) {
    if (strchr(" ?Kk", *at))
      continue;
    const char *one = write_operand(f, *at, types, words, out);
    if (!one)
      return false;
    const bool is_vector = (*at == 'V' || *at == 'v') && vector > 1;
    sprintf(out + strlen(out), "%s%s%s", *out ? ", " : "", is_vector ? "{" : "", one);
    for (uint32_t i = 1; i < vector && is_vector; i++)
      sprintf(out + strlen(out), ", %s", one);
    strcat(out, is_vector ? "}" : "");
  }
  return true;
}

static bool
is_known_difference(const char *words, char types[3][8], const form *f, uint32_t vector)
{
  const uint32_t bits = strstr(types[0], "64") ? 64 : 32;
  return (vector == 4 && bits == 64) || (strstr(words, ".param") && vector > 1) ||
         (strcmp(f->name, "cvt") == 0 && strcmp(types[0], types[1]) == 0 && strstr(words, ".sat")) || strcmp(f->name, "trap") == 0;
}

static const char registers[] =
    ".reg .pred %pred, %q;\n.reg .b16 %b16;\n.reg .b32 %b32;\n.reg .b64 %b64;\n.reg .u16 %u16;\n.reg .u32 %u32;\n"
    ".reg .u64 %u64;\n.reg .s16 %s16;\n.reg .s32 %s32;\n.reg .s64 %s64;\n.reg .f16 %f16;\n.reg .f32 %f32;\n.reg .f64 %f64;\n"
    ".reg .f16x2 %f16x2;\n.param .align 16 .b8 called[64];\n";

/* Appends the n-th variant of a form.  Returns false if there is none. */
static bool
add_writing(const form *f, uint32_t n, char *out)
{
  char words[256], operands[256], types[3][8] = {"", "", ""};
  uint32_t vector;
  write_words(f, n, words, types, &vector);
  if (is_known_difference(words, types, f, vector) || !write_operands(f, types, words, vector, operands))
    return false;
  sprintf(out + strlen(out), "%s%s %s;\n", f->name, words, operands);
  if (strchr(f->operands, 'N'))
    sprintf(out + strlen(out), "L%d:\n", (int)(f - forms));
  return true;
}

TEST(ptxas_accepts_each_form)
{
  static const struct {
    uint32_t sm;
    const char *version;
  } targets[] = {{75, "7.8"}, {80, "7.8"}, {86, "7.8"}, {90, "8.0"}};
  if (!needs_ptxas())
    return;
  char *text = malloc(TEXT), message[512], log[256];
  uint32_t wrong = 0;
  for (size_t t = 0; t < sizeof targets / sizeof *targets; t++)
    for (uint32_t n = 0; n < 14; n++) {
      sprintf(text, ".version %s\n.target sm_%u\n.address_size 64\n.visible .entry k(.param .align 16 .b8 given[64])\n{\n%s",
              targets[t].version, targets[t].sm, registers);
      for (uint32_t i = 0; i < FORMS; i++)
        if (forms[i].sm <= targets[t].sm && (t == 0 || forms[i].sm > targets[t - 1].sm))
          add_writing(&forms[i], n, text);
      strcat(text, "ret;\n}\n");
      if (!ptxas_accepts(text, targets[t].sm, message, sizeof message)) {
        print_message("ptxas: %s\n", message);
        wrong++;
      }
      if (!parser_accepts(text, targets[t].sm, log, sizeof log)) {
        print_message("parser: %s\n", log);
        wrong++;
      }
    }
  free(text);
  assert_int_equal(wrong, 0);
}

/* ---- mutants ------------------------------------------------------------------------------------------------------------- */

static uint64_t random_state = 1;

static const char original[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n"
    ".global .align 4 .u32 table[4] = {1, 2, 3, 4};\n"
    ".extern .shared .align 16 .b8 dynamic[];\n"
    ".func (.param .b32 result) twice(.param .b32 x)\n{\n.reg .b32 %a<3>;\nld.param.b32 %a1, [x];\nadd.s32 %a2, %a1, %a1;\n"
    "st.param.b32 [result+0], %a2;\nret;\n}\n"
    ".visible .entry k(.param .u64 out, .param .u32 n)\n.maxntid 256, 1, 1\n{\n"
    ".reg .pred %p<5>;\n.reg .b16 %h<5>;\n.reg .b32 %r<20>;\n.reg .f32 %f<9>;\n.reg .f64 %d<5>;\n.reg .b64 %x<9>;\n"
    ".local .align 8 .b8 own[16];\n.shared .align 4 .u32 all[256];\n"
    "ld.param.u64 %x1, [out];\nld.param.u32 %r1, [n];\ncvta.to.global.u64 %x2, %x1;\n"
    "mov.u32 %r2, %tid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %ctaid.x;\nmad.lo.s32 %r5, %r3, %r4, %r2;\n"
    "setp.ge.u32 %p1, %r5, %r1;\n@%p1 bra done;\n"
    "mul.wide.u32 %x3, %r5, 4;\nadd.s64 %x4, %x2, %x3;\nld.global.f32 %f1, [%x4];\nld.global.nc.v2.u32 {%r6, %r7}, [%x2+8];\n"
    "cvt.rn.f32.u32 %f2, %r6;\nfma.rn.ftz.f32 %f3, %f1, %f2, 0f3F800000;\ndiv.rn.f32 %f4, %f3, %f1;\nsqrt.approx.f32 %f5, %f4;\n"
    "cvt.rzi.s32.f32 %r8, %f5;\ncvt.f64.f32 %d1, %f5;\nadd.rn.f64 %d2, %d1, 0d3FF0000000000000;\ncvt.u16.u32 %h1, %r8;\n"
    "mul.lo.s16 %h2, %h1, 3;\ncvt.s32.s16 %r9, %h2;\n"
    "mov.u32 %r10, all;\nshl.b32 %r11, %r2, 2;\nadd.s32 %r10, %r10, %r11;\nst.shared.u32 [%r10], %r9;\nbar.sync 0;\n"
    "ld.shared.u32 %r12, [%r10+0];\nshfl.sync.bfly.b32 %r13|%p2, %r12, 1, 31, -1;\nselp.b32 %r14, %r13, %r12, %p2;\n"
    "vote.sync.ballot.b32 %r15, !%p2, 0xffffffff;\nlop3.b32 %r16, %r14, %r15, %r12, 0x96;\nprmt.b32 %r16, %r16, %r15, 0x5410;\n"
    "{\n.param .b32 given;\nst.param.b32 [given+0], %r16;\n.param .b32 got;\ncall.uni (got), twice, (given);\n"
    "ld.param.b32 %r17, [got+0];\n}\n"
    "st.local.u32 [own+4], %r17;\nld.local.u32 %r18, [own+4];\natom.global.add.u32 %r19, [table], %r18;\n"
    "red.relaxed.gpu.global.max.s32 [%x2], %r18;\nmembar.gl;\nfence.acq_rel.sys;\nld.acquire.gpu.u32 %r1, [%x2];\n"
    "loop:\nsub.s32 %r18, %r18, 1;\nsetp.gt.and.s32 %p3|%p4, %r18, 0, !%p1;\n@%p3 bra loop;\n"
    "mov.b64 %x5, {%r18, %r19};\nbfe.u64 %x6, %x5, 3, 8;\npopc.b64 %r2, %x6;\nst.global.u32 [%x4], %r2;\n"
    "st.global.v4.f32 [%x2], {%f1, %f2, %f3, %f4};\n"
    "done:\nret;\n}\n";

/* Splits the text into words.  Returns the number of words, at most `room`. */
static uint32_t
words_of(const char *text, const char **starts, uint32_t *lengths, uint32_t room)
{
  uint32_t count = 0;
  while (*text && count < room) {
    size_t length = strcspn(text, " \n,;[](){}.|+!@:<>=");
    if (!length)
      length = 1;
    if (*text != ' ' && *text != '\n') {
      starts[count] = text;
      lengths[count++] = (uint32_t)length;
    }
    text += length;
  }
  return count;
}

/* Writes the original text with a word removed, replaced by another word, or repeated. */
static void
mutate(char *out)
{
  const char *starts[1200];
  uint32_t lengths[1200];
  const uint32_t count = words_of(original, starts, lengths, 1200), k = test_random(&random_state, count),
                 other = test_random(&random_state, count);
  const char *end = starts[k] + lengths[k];
  const int before = (int)(starts[k] - original);
  switch (test_random(&random_state, 4)) {
  case 0: /* removed */
    sprintf(out, "%.*s%s", before, original, end);
    break;
  case 1: /* replaced */
  case 2:
    sprintf(out, "%.*s%.*s%s", before, original, (int)lengths[other], starts[other], end);
    break;
  default: /* repeated */
    sprintf(out, "%.*s%.*s %.*s%s", before, original, (int)lengths[k], starts[k], (int)lengths[k], starts[k], end);
    break;
  }
}

TEST(mutants_that_ptxas_refuses_are_refused)
{
  if (!needs_ptxas())
    return;
  char *text = malloc(TEXT), message[512], log[256];
  uint32_t wrong = 0, both = 0, stricter = 0;
  assert_true(ptxas_accepts(original, 80, message, sizeof message));
  assert_true(parser_accepts(original, 80, log, sizeof log));
  for (uint32_t i = 0; i < MUTANTS; i++) {
    mutate(text);
    const bool ptxas = ptxas_accepts(text, 80, message, sizeof message), parser = parser_accepts(text, 80, log, sizeof log);
    both += !ptxas && !parser;
    if (ptxas && !parser) {
      stricter++;
      print_message("only the parser refuses mutant %u: %s\n", i, log);
    }
    if (!ptxas && parser) {
      print_message("only ptxas refuses mutant %u: %s\n", i, message);
      wrong++;
    }
  }
  free(text);
  print_message("%u mutants are refused by both, %u by the parser alone\n", both, stricter);
  assert_int_equal(wrong, 0);
  assert_true(both > MUTANTS / 2);
}

/* Each line is a text, in a kernel with registers and variables of all kinds. */
TEST(lines_that_ptxas_refuses_are_refused)
{
  static const char before[] =
      ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a)\n{\n.reg .pred %p<4>;\n.reg .b16 %h<4>;\n"
      ".reg .b32 %r<5>;\n.reg .f32 %f<4>;\n.reg .f64 %d<4>;\n.reg .b64 %x<5>;\n.reg .u32 %u<3>;\n.reg .s32 %s<3>;\n"
      ".shared .b32 sh[4];\n.local .b32 lo[4];\n";
  if (!needs_ptxas())
    return;
  FILE *file = fopen(PROBES, "r");
  assert_non_null(file);
  char line[256], text[2048], message[512], log[256];
  uint32_t wrong = 0, taken = 0;
  while (fgets(line, sizeof line, file)) {
    if (*line == '#')
      continue;
    snprintf(text, sizeof text, "%s%sret;\n}\n", before, line);
    const bool ptxas = ptxas_accepts(text, 80, message, sizeof message), parser = parser_accepts(text, 80, log, sizeof log);
    taken += ptxas && parser;
    if (parser && !ptxas) {
      print_message("only ptxas refuses %s  %s", line, message);
      wrong++;
    }
  }
  fclose(file);
  assert_int_equal(wrong, 0);
  assert_true(taken > 60);
}
