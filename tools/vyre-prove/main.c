/* vyre-prove: asks z3 whether rewrite rules hold.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "smt/smt.h"
#include "prove.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: vyre-prove [options] FILE.rules...\n"
    "Asks z3 of each rule whether it holds in strict and in relaxed programs, at every type it applies at.\n"
    "  -limit=N      z3's work a question, in its own units (default 2000000, about two seconds); 0: none\n"
    "  -points=N     evaluate what z3 leaves open at so many points (default 100000); all of them at 8 bits\n"
    "  -ledger=FILE  rules that were found to hold before: what is open now must stand there\n"
    "  -update       write the ledger anew, with what holds\n"
    "  -only=NAME    this rule alone\n"
    "  -j N          so many z3 at a time (default 2)\n"
    "  -print        print the questions, ask nobody\n"
    "Exit code: 0 all hold; 1 one is refuted, or neither proven nor in the ledger; 2 wrong use.\n";

typedef struct options {
  const char *ledger, *only;
  uint64_t limit, points;
  uint32_t jobs;
  bool update, print;
} options;

/* Every jobs-th question, from `first` on. */
typedef struct slice {
  const question_list *list;
  answer *answers;
  uint64_t limit;
  uint32_t first, step;
  bool answered;
} slice;

static void
write_slice(FILE *to, void *context)
{
  const slice *s = context;
  for (uint32_t i = s->first; i < s->list->count; i += s->step) {
    if (!question_is_for_z3(&s->list->data[i]))
      continue;
    if (s->limit)
      fprintf(to, "(set-option :rlimit %llu)\n", (unsigned long long)s->limit);
    question_write(to, &s->list->data[i]);
    fputs("(reset)\n", to);
  }
}

static void *
ask_slice(void *context)
{
  slice *s = context;
  char *text = smt_ask(write_slice, s, stderr);
  const char *at = text;
  s->answered = text != NULL;
  for (uint32_t i = s->first; i < s->list->count && at; i += s->step) {
    if (!question_is_for_z3(&s->list->data[i])) {
      s->answers[i] = UNKNOWN;
      continue;
    }
    const size_t length = strcspn(at, "\n");
    s->answers[i] = length == 5 && !memcmp(at, "unsat", 5) ? PROVEN : length == 3 && !memcmp(at, "sat", 3) ? REFUTED : UNKNOWN;
    if (s->answers[i] == UNKNOWN && (length < 7 || memcmp(at, "unknown", 7) != 0)) {
      fprintf(stderr, "%s: z3 says: %.*s\n", s->list->data[i].rule->name, (int)length, length ? at : "nothing");
      s->answered = false;
      break;
    }
    at += length + (at[length] != 0);
  }
  free(text);
  return NULL;
}

static bool
ask_all(const question_list *list, answer *answers, const options *o)
{
  enum { MOST = 16 };
  slice slices[MOST];
  pthread_t threads[MOST];
  const uint32_t jobs = o->jobs < 1 ? 1 : o->jobs > MOST ? MOST : o->jobs;
  bool answered = true;
  for (uint32_t k = 0; k < jobs; k++) {
    slices[k] = (slice){list, answers, o->limit, k, jobs, false};
    if (pthread_create(&threads[k], NULL, ask_slice, &slices[k]) != 0)
      abort();
  }
  for (uint32_t k = 0; k < jobs; k++) {
    pthread_join(threads[k], NULL);
    answered &= slices[k].answered;
  }
  return answered;
}

static void
write_counter(FILE *to, void *context)
{
  question_write(to, context);
  question_write_values(to, context);
}

/* The counter-example, by its names: ((v.x.0 #x07) ...). */
static void
report_refuted(question *q)
{
  fprintf(stderr, "refuted: %s (%s:%u), at ", q->rule->name, "line", q->rule->line);
  question_write_kinds(stderr, q);
  fputs(":", stderr);
  char *text = smt_ask(write_counter, q, stderr);
  const char *values = text ? strchr(text, '(') : NULL;
  char pattern[24], replacement[24];
  snprintf(pattern, sizeof pattern, "(n%u.0", q->rule->pattern);
  snprintf(replacement, sizeof replacement, "(n%u.0", q->rule->replacement);
  for (const char *c = values ? values + 1 : ""; *c && strcmp(c, ")\n") != 0; c++) {
    if (!strncmp(c, pattern, strlen(pattern)) || !strncmp(c, replacement, strlen(replacement))) {
      const bool left = !strncmp(c, pattern, strlen(pattern));
      fprintf(stderr, "(%s", left ? "the pattern" : "the replacement");
      c += strlen(left ? pattern : replacement) - 1;
    } else if (!strncmp(c, "(v.", 3)) {
      fputc('(', stderr);
      c += 2;
    } else if (*c == '\n') {
      continue;
    } else {
      fputc(*c, stderr);
    }
  }
  fputc('\n', stderr);
  free(text);
}

typedef struct verdict {
  uint32_t proven, checked, refuted, open;
} verdict;

/* A rule's questions are those from `from` to `to`. */
static void
judge(const rules_rule *rule, question_list *list, const answer *answers, uint32_t from, uint32_t to, const options *o,
      const ledger *known, bool *out_holds, bool *out_checked, verdict *counts)
{
  bool unknown = false;
  for (uint32_t i = from; i < to; i++) {
    if (answers[i] == REFUTED) {
      report_refuted(&list->data[i]);
      counts->refuted++;
      return;
    }
    if (answers[i] != UNKNOWN)
      continue;
    unknown = true;
    char *where = NULL;
    size_t size;
    FILE *report = open_memstream(&where, &size);
    if (!report)
      abort();
    const bool holds = list->data[i].lanes == 1 && question_check(&list->data[i], o->points, report);
    fclose(report);
    if (!holds) {
      fprintf(stderr, "refuted: %s (line %u), ", rule->name, rule->line);
      question_write_kinds(stderr, &list->data[i]);
      fprintf(stderr, ":%s", where);
      free(where);
      counts->refuted++;
      return;
    }
    free(where);
  }
  *out_holds = true;
  *out_checked = unknown;
  if (!unknown)
    counts->proven++;
  else if (o->update || (known && ledger_has(known, rule, out_checked)))
    counts->checked++;
  else {
    fprintf(stderr, "open: %s (line %u): z3 has no answer within %llu\nFix: scripts/prove.sh takes longer, and writes the ledger\n",
            rule->name, rule->line, (unsigned long long)o->limit);
    counts->open++;
  }
}

static void *
take(void *user, size_t bytes)
{
  (void)user;
  return calloc(1, bytes);
}

static char *
read_file(const char *name, size_t *out_length)
{
  FILE *file = fopen(name, "rb");
  char *text = malloc(RULES_TEXT + 1);
  if (!text)
    abort();
  if (!file) {
    fprintf(stderr, "%s: cannot be read: %s\n", name, strerror(errno));
    free(text);
    return NULL;
  }
  *out_length = fread(text, 1, RULES_TEXT + 1, file);
  fclose(file);
  return text; /* rules keep it */
}

static bool
read_option(const char *arg, const char *next, options *o, bool *out_took_next)
{
  *out_took_next = false;
  if (!strncmp(arg, "-limit=", 7))
    o->limit = strtoull(arg + 7, NULL, 10);
  else if (!strncmp(arg, "-points=", 8))
    o->points = strtoull(arg + 8, NULL, 10);
  else if (!strncmp(arg, "-ledger=", 8))
    o->ledger = arg + 8;
  else if (!strncmp(arg, "-only=", 6))
    o->only = arg + 6;
  else if (!strcmp(arg, "-update"))
    o->update = true;
  else if (!strcmp(arg, "-print"))
    o->print = true;
  else if (!strcmp(arg, "-j") && next) {
    o->jobs = (uint32_t)strtoul(next, NULL, 10);
    *out_took_next = true;
  } else
    return false;
  return true;
}

static int
read_arguments(int argc, char **argv, options *o, rules_set *set)
{
  for (int i = 1; i < argc; i++) {
    bool took;
    if (argv[i][0] == '-') {
      if (!strcmp(argv[i], "-help") || !strcmp(argv[i], "--help")) {
        fputs(usage, stdout);
        exit(0);
      }
      if (!read_option(argv[i], i + 1 < argc ? argv[i + 1] : NULL, o, &took)) {
        fprintf(stderr, "vyre-prove: unknown option '%s'\n%s", argv[i], usage);
        return 2;
      }
      i += took;
      continue;
    }
    size_t length;
    char *text = read_file(argv[i], &length);
    rules_error error;
    if (!text)
      return 1;
    if (!rules_parse((rules_memory){take, NULL}, argv[i], text, length, set, &error)) {
      fprintf(stderr, "%s:%u:%u: error: %s\nFix: %s\n", argv[i], error.line, error.column, error.message, error.fix);
      return 1;
    }
  }
  if (set->count == 0 || (o->update && !o->ledger)) {
    fputs(usage, stderr);
    return 2;
  }
  return 0;
}

int
main(int argc, char **argv)
{
  options o = {.limit = 2000000, .points = 100000, .jobs = 2};
  rules_set set = {0};
  question_list list = {0};
  verdict counts = {0};
  const int wrong = read_arguments(argc, argv, &o, &set);
  if (wrong)
    return wrong;
  ledger *known = o.ledger ? ledger_read(o.ledger, stderr) : NULL;
  if (o.ledger && !known)
    return 1;
  uint32_t *first = calloc(set.count + 1, sizeof *first);
  bool *holds = calloc(set.count, sizeof *holds), *checked = calloc(set.count, sizeof *checked);
  if (!first || !holds || !checked)
    abort();
  for (uint32_t i = 0; i < set.count; i++) {
    if (!o.only || !strcmp(o.only, set.rules[i].name))
      questions_of(&set.rules[i], &list);
    first[i + 1] = list.count;
  }
  if (o.print) {
    write_slice(stdout, &(slice){&list, NULL, o.limit, 0, 1, false});
    return 0;
  }
  answer *answers = calloc(list.count + 1, sizeof *answers);
  if (!answers)
    abort();
  bool good = ask_all(&list, answers, &o);
  for (uint32_t i = 0; i < set.count && good; i++)
    if (first[i] != first[i + 1])
      judge(&set.rules[i], &list, answers, first[i], first[i + 1], &o, known, &holds[i], &checked[i], &counts);
  printf("%u rules, %u questions: %u proven, %u checked by evaluation, %u refuted, %u open\n",
         counts.proven + counts.checked + counts.refuted + counts.open, list.count, counts.proven, counts.checked, counts.refuted,
         counts.open);
  good = good && counts.refuted == 0 && counts.open == 0;
  if (good && o.update)
    good = ledger_write(o.ledger, &set, holds, checked, stderr);
  else if (known && !o.only)
    good = ledger_stale(known, &set, stderr) == 0 && good;
  ledger_free(known);
  return good ? 0 : 1;
}
