/* vyre-prove: proves rewrite rules with z3.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "smt/smt.h"
#include "base/grow.h"
#include "cli/options/console.h"
#include "prove.h"
#include "vyre/io.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_JOBS = 16, MOST_POINTS = 1 << 30, MOST_LIMIT = INT32_MAX };

typedef struct options {
  const char *ledger, *only, *help;
  option_number limit, points, jobs;
  name_list files;
  option_texts responses;
  bool update, fresh, print;
} options;

#define AT(field) offsetof(options, field)

static const option_row rows[] = {
    {.name = "Questions", OPTION_SECTION},
    {.name = "limit",
     OPTION_NUMBER,
     AT(limit),
     "N",
     "limit the work of z3 for a question, in its own units; 0 for no limit. Default: 2000000, about two seconds",
     .most = MOST_LIMIT},
    {.name = "points",
     OPTION_NUMBER,
     AT(points),
     "N",
     "evaluate questions that z3 leaves open at N points, or at all points if the variables have at most 24 bits together. "
     "Default: 100000",
     .least = 1,
     .most = MOST_POINTS},
    {.name = "only", OPTION_TEXT, AT(only), "NAME", "check only this rule"},
    {.name = "j",
     OPTION_NUMBER,
     AT(jobs),
     "N",
     "run N threads, each with a z3, at most 16. Default: 2",
     OPTION_JOINED | OPTION_LAST,
     1,
     MOST_JOBS},
    {.name = "print", OPTION_FLAG, AT(print), NULL, "only print the questions"},

    {.name = "Ledger", OPTION_SECTION},
    {.name = "ledger",
     OPTION_TEXT,
     AT(ledger),
     "FILE",
     "read the rules that are known to hold. A rule that z3 leaves open must be there"},
    {.name = "update",
     OPTION_FLAG,
     AT(update),
     NULL,
     "write the rules that hold to the ledger. Rules that it already has are not checked again"},
    {.name = "fresh", OPTION_FLAG, AT(fresh), NULL, "with -update check all rules again"},
    OPTION_HELP_ROWS(AT(help)),
};

static const option_table table = {
    .program = "vyre-prove",
    .usage = "[options] FILE.rules...",
    .about = "Proves with z3 that each rule holds in strict and in relaxed programs, for every type that it applies to.\n",
    .after = "Exit codes: 0 all rules hold, 1 a rule is refuted, or neither proven nor in the ledger, 2 wrong use.\n",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .inputs = AT(files),
    .files = AT(responses)};

/* The questions of one thread: every `step`-th from `first` on. */
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
solve_slice(void *context)
{
  slice *s = context;
  char *text = smt_solve(write_slice, s, stderr);
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
      fprintf(stderr, "%s: unexpected answer of z3: %.*s\n", s->list->data[i].rule->name, (int)length, length ? at : "nothing");
      s->answered = false;
      break;
    }
    at += length + (at[length] != 0);
  }
  free(text);
  return NULL;
}

/* Runs `work` in several threads.  Parts of `data` are `stride` bytes apart; with 0 all threads share one. */
static void
run_threads(uint32_t jobs, void *(*work)(void *), void *data, size_t stride)
{
  pthread_t threads[MOST_JOBS];
  for (uint32_t k = 0; k < jobs; k++)
    if (pthread_create(&threads[k], NULL, work, (char *)data + k * stride) != 0)
      abort();
  for (uint32_t k = 0; k < jobs; k++)
    pthread_join(threads[k], NULL);
}

static bool
solve_all(const question_list *list, answer *answers, const options *o)
{
  slice slices[MOST_JOBS];
  bool answered = true;
  const uint32_t jobs = (uint32_t)o->jobs.value;
  for (uint32_t k = 0; k < jobs; k++)
    slices[k] = (slice){list, answers, o->limit.value, k, jobs, false};
  run_threads(jobs, solve_slice, slices, sizeof *slices);
  for (uint32_t k = 0; k < jobs; k++)
    answered &= slices[k].answered;
  return answered;
}

static void
write_with_values(FILE *to, void *context)
{
  question_write(to, context);
  question_write_values(to, context);
}

/* Reports a counter-example.  z3 prints it as ((v.x.0 #x07) ...); names of the rule replace those of the question. */
static void
report_refuted(question *q, FILE *report)
{
  fprintf(report, "refuted: %s (line %u), ", q->rule->name, q->rule->line);
  question_write_kinds(report, q);
  fputs(":", report);
  char *text = smt_solve(write_with_values, q, report);
  const char *values = text ? strchr(text, '(') : NULL;
  char pattern[24], replacement[24];
  snprintf(pattern, sizeof pattern, "(n%u.0", q->rule->pattern);
  snprintf(replacement, sizeof replacement, "(n%u.0", q->rule->replacement);
  for (const char *c = values ? values + 1 : ""; *c && strcmp(c, ")\n") != 0; c++) {
    if (!strncmp(c, pattern, strlen(pattern)) || !strncmp(c, replacement, strlen(replacement))) {
      const bool left = !strncmp(c, pattern, strlen(pattern));
      fprintf(report, "(%s", left ? "the pattern" : "the replacement");
      c += strlen(left ? pattern : replacement) - 1;
    } else if (!strncmp(c, "(v.", 3)) {
      fputc('(', report);
      c += 2;
    } else if (*c == '\n') {
      continue;
    } else {
      fputc(*c, report);
    }
  }
  fputc('\n', report);
  free(text);
}

/* The verdict on a rule. */
typedef struct judged {
  bool holds;   /* not refuted */
  bool unknown; /* z3 left a question open */
  bool open;    /* one of these questions has several lanes, so it cannot be evaluated */
  char *report; /* owned */
} judged;

static judged
judge(const rules_rule *rule, question *questions, const answer *answers, uint32_t count, uint64_t points)
{
  judged made = {.holds = true};
  size_t size;
  FILE *report = open_memstream(&made.report, &size);
  if (!report)
    abort();
  for (uint32_t i = 0; i < count && made.holds; i++) {
    char *where = NULL;
    if (answers[i] == REFUTED) {
      report_refuted(&questions[i], report);
      made.holds = false;
    }
    if (answers[i] != UNKNOWN)
      continue;
    made.unknown = true;
    if (questions[i].lanes > 1) {
      made.open = true;
      continue;
    }
    FILE *point = open_memstream(&where, &size);
    if (!point)
      abort();
    made.holds = question_check(&questions[i], points, point);
    fclose(point);
    if (!made.holds) {
      fprintf(report, "refuted: %s (line %u), ", rule->name, rule->line);
      question_write_kinds(report, &questions[i]);
      fprintf(report, ":%s", where);
    }
    free(where);
  }
  fclose(report);
  return made;
}

/* The memory of the rules, which is freed as a whole. */
typedef struct memory {
  void **blocks;
  uint32_t count, capacity;
} memory;

static void *
allocate(void *user, size_t bytes)
{
  memory *m = user;
  if (!vyre_grow(NULL, &m->blocks, &m->capacity, m->count + 1, sizeof *m->blocks))
    return NULL;
  return m->blocks[m->count++] = calloc(1, bytes);
}

static void
free_memory(memory *m)
{
  for (uint32_t i = 0; i < m->count; i++)
    free(m->blocks[i]);
  free(m->blocks);
}

static char *
read_file(const char *name, memory *m, size_t *out_length)
{
  vyre_bytes bytes = {0};
  vyre_status status = vyre_file_read_as(name, VYRE_FILE_TEXT | VYRE_FILE_PLAIN, &bytes);
  char *text = status ? NULL : allocate(m, bytes.size + 1);
  if (!status && !text)
    abort();
  if (bytes.size)
    memcpy(text, bytes.data, bytes.size);
  *out_length = bytes.size;
  vyre_bytes_free(&bytes);
  status = vyre_status_add_fix(status, VYRE_CODE_INPUT, "give the path of a file of rules");
  if (status)
    fprintf(stderr, "vyre-prove: error: %s\n", vyre_status_text(status));
  vyre_status_free(status);
  return text;
}

static bool
has_rule(const rules_set *set, const char *name)
{
  for (uint32_t i = 0; i < set->count; i++)
    if (!strcmp(set->rules[i].name, name))
      return true;
  return false;
}

/* Checks that the options fit together.  Returns 0, or prints a message and returns 2. */
static int
check_options(const options *o, const rules_set *set)
{
  if (set->count == 0)
    fputs("vyre-prove: error: no rules\nFix: give files of rules; vyre-prove -help lists the options\n", stderr);
  else if (o->update && !o->ledger)
    fputs("vyre-prove: error: -update needs -ledger\nFix: add -ledger=FILE\n", stderr);
  else if (o->only && !has_rule(set, o->only))
    fprintf(stderr, "vyre-prove: error: no rule has the name '%s'\nFix: give -only the name of a rule in the files\n", o->only);
  else
    return 0;
  return 2;
}

/* Returns 0, or the exit code after a message. */
static int
read_rules(const options *o, memory *m, rules_set *set)
{
  for (uint32_t i = 0; i < o->files.count; i++) {
    const char *name = o->files.names[i];
    size_t length;
    char *text = read_file(name, m, &length);
    rules_errors errors;
    if (!text)
      return 1;
    if (!rules_parse((rules_memory){allocate, m}, name, text, length, set, &errors)) {
      for (uint32_t k = 0; k < rules_errors_kept(&errors); k++)
        fprintf(stderr, "%s:%u:%u: error: %s\nFix: %s\n", name, errors.items[k].line, errors.items[k].column,
                errors.items[k].message, errors.items[k].fix);
      return 1;
    }
  }
  return check_options(o, set);
}

/* Prints the help or the error of the command line, and returns true, if there is one. */
static bool
ends_early(vyre_status status, const options *o, int *out_code)
{
  const bool is_help = !status && o->help;
  if (is_help)
    status = console_help(&table, o->help, VYRE_VERSION);
  *out_code = console_complain("vyre-prove", status);
  return is_help || *out_code;
}

typedef struct run {
  memory memory;
  rules_set set;
  question_list list;
  uint32_t *first;  /* by rule: index of the rule's first question; the last element is the number of questions */
  bool *holds;      /* by rule: whether it holds */
  uint64_t *points; /* by rule: number of evaluated points, or 0 if the rule is proven */
  uint32_t proven, checked, refuted, open;
} run;

static void
collect_questions(run *r, const options *o, const ledger *known)
{
  r->first = calloc(r->set.count + 1, sizeof *r->first);
  r->holds = calloc(r->set.count, sizeof *r->holds);
  r->points = calloc(r->set.count, sizeof *r->points);
  if (!r->first || !r->holds || !r->points)
    abort();
  for (uint32_t i = 0; i < r->set.count; i++) {
    const rules_rule *rule = &r->set.rules[i];
    if (o->update && !o->fresh && ledger_has(known, rule, &r->points[i]))
      r->holds[i] = true;
    else if (!o->only || !strcmp(o->only, rule->name))
      questions_of(rule, &r->list);
    /* z3 had no answer in more time, so it is not run again.  Questions about several lanes cannot be evaluated instead. */
    uint64_t points = 0;
    const bool open = !o->update && known && ledger_has(known, rule, &points) && points != 0;
    for (uint32_t k = r->first[i]; open && k < r->list.count; k++)
      r->list.data[k].open = r->list.data[k].lanes == 1;
    r->first[i + 1] = r->list.count;
  }
}

/* The work of threads, which judge one rule after the other. */
typedef struct judges {
  run *r;
  const answer *answers;
  judged *judged; /* by rule */
  uint64_t points;
  atomic_uint next;
} judges;

static void *
judge_rules(void *user)
{
  judges *js = user;
  const uint32_t *first = js->r->first;
  for (uint32_t i; (i = atomic_fetch_add(&js->next, 1)) < js->r->set.count;)
    if (first[i] != first[i + 1])
      js->judged[i] =
          judge(&js->r->set.rules[i], js->r->list.data + first[i], js->answers + first[i], first[i + 1] - first[i], js->points);
  return NULL;
}

/* Counts a rule's result, by z3 or the ledger. */
static void
count_rule(run *r, uint32_t i, const judged *j, const options *o, const ledger *known)
{
  const rules_rule *rule = &r->set.rules[i];
  uint64_t points = 0;
  if (r->first[i] == r->first[i + 1]) { /* in the ledger, or not the rule of -only */
    r->proven += r->holds[i] && r->points[i] == 0;
    r->checked += r->holds[i] && r->points[i] != 0;
    return;
  }
  fputs(j->report, stderr);
  r->holds[i] = j->holds && !(o->update && j->open);
  r->points[i] = j->unknown ? o->points.value : 0;
  if (!j->holds) {
    r->refuted++;
  } else if (!j->unknown) {
    r->proven++;
  } else if (o->update && !j->open) {
    r->checked++;
  } else if (!o->update && known && ledger_has(known, rule, &points)) {
    r->checked += points != 0;
    r->proven += points == 0;
  } else {
    fprintf(stderr, "open: %s (line %u): z3 has no answer within %llu%s\nFix: %s\n", rule->name, rule->line,
            (unsigned long long)o->limit.value, j->open ? ", and questions about several lanes cannot be evaluated" : "",
            o->update ? "raise -limit" : "run scripts/prove.sh, which has a higher limit and writes the ledger");
    r->open++;
  }
}

static void
judge_all(run *r, const answer *answers, const options *o, const ledger *known)
{
  judges js = {.r = r, .answers = answers, .judged = calloc(r->set.count, sizeof(judged)), .points = o->points.value};
  if (!js.judged)
    abort();
  run_threads((uint32_t)o->jobs.value, judge_rules, &js, 0);
  for (uint32_t i = 0; i < r->set.count; i++) {
    count_rule(r, i, &js.judged[i], o, known);
    free(js.judged[i].report);
  }
  free(js.judged);
}

/* Runs z3, judges the rules, and writes or checks the ledger.  Returns whether all rules hold and the ledger is up to date. */
static bool
prove(run *r, const options *o, ledger *known)
{
  answer *answers = calloc(r->list.count + 1, sizeof *answers);
  if (!answers)
    abort();
  const bool answered = solve_all(&r->list, answers, o);
  if (answered)
    judge_all(r, answers, o, known);
  free(answers);
  if (!answered)
    return false;
  const uint32_t rules = r->proven + r->checked + r->refuted + r->open;
  printf("%u rule%s, %u question%s: %u proven, %u checked by evaluation, %u refuted, %u open\n", rules, rules == 1 ? "" : "s",
         r->list.count, r->list.count == 1 ? "" : "s", r->proven, r->checked, r->refuted, r->open);
  const bool good = r->refuted == 0 && r->open == 0;
  if (o->update) /* without refuted rules */
    return ledger_write(o->ledger, &r->set, r->holds, r->points, stderr) && good;
  return (!known || o->only || ledger_stale(known, &r->set, stderr) == 0) && good;
}

int
main(int argc, char **argv)
{
  options o = {.limit = {.value = 2000000}, .points = {.value = 100000}, .jobs = {.value = 2}};
  run r = {0};
  int code;
  const bool ends = ends_early(option_table_parse(&table, argc, argv, &o), &o, &code);
  if (!ends)
    code = read_rules(&o, &r.memory, &r.set);
  ledger *known = !ends && code == 0 && o.ledger ? ledger_read(o.ledger, o.update, stderr) : NULL;
  if (!ends && code == 0 && o.ledger && !known)
    code = 1;
  if (!ends && code == 0) {
    collect_questions(&r, &o, known);
    if (o.print)
      write_slice(stdout, &(slice){&r.list, NULL, o.limit.value, 0, 1, false});
    else
      code = prove(&r, &o, known) ? 0 : 1;
  }
  ledger_free(known);
  free(r.list.data);
  free(r.first);
  free(r.holds);
  free(r.points);
  free_memory(&r.memory);
  option_table_free(&table, &o);
  return console_end("vyre-prove", VYRE_OK, code);
}
