/* -bisect: a binary search for the first run of a pass after which a command fails.
 *
 * The command receives the output after a number of runs.  The search assumes that the command also fails after each later run.  If
 * it does not, the search still ends with a run before which the command succeeds and after which it fails.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "judge.h"
#include "cli/report/progress.h"
#include "reproducer.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct bisection {
  tool *tool;
  judge judge;
} bisection;

static vyre_status
up_to(tool *t, uint32_t index, const void *user)
{
  (void)index;
  t->options.runs.is_bounded = true;
  t->options.runs.last = *(const uint64_t *)user;
  t->options.list_runs = true;
  return VYRE_OK;
}

/* Executes the runs up to `last`, and the command.  Appends the text of the last run's pass to `pass`, if that is not NULL. */
static vyre_status
try_runs(bisection *b, uint64_t last, bool *out_bad, uint64_t *out_run, vyre_bytes *pass)
{
  work w;
  size_t length = 0;
  VYRE_TRY(tool_attempt(b->tool, 0, up_to, &last, &w, out_run));
  const char *text = pass ? reproducer_find_run(&w.said, last, &length) : NULL;
  vyre_status status = text ? vyre_bytes_append(pass, text, length) : VYRE_OK;
  *out_bad = work_code(&w) != 0;
  if (!status && !*out_bad)
    status = judge_write(&b->judge, &w, "output", b->judge.path);
  if (!status && !*out_bad)
    status = judge_run(&b->judge, out_bad);
  tool_free_attempt(&w);
  return status;
}

static void
print_step(uint64_t last, bool is_bad)
{
  progress_clear();
  if (last == UINT64_MAX)
    fprintf(stderr, "all runs: %s\n", is_bad ? "bad" : "good");
  else if (last == 0)
    fprintf(stderr, "no runs: %s\n", is_bad ? "bad" : "good");
  else
    fprintf(stderr, "runs 1-%" PRIu64 ": %s\n", last, is_bad ? "bad" : "good");
}

static vyre_status
search(bisection *b)
{
  uint64_t good = 0, bad, run;
  bool is_bad;
  VYRE_TRY(try_runs(b, UINT64_MAX, &is_bad, &bad, NULL));
  print_step(UINT64_MAX, is_bad);
  if (!is_bad)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "-bisect: the command does not fail after all %" PRIu64
                      " runs\nFix: exit with 0 if the output is right, and with another code otherwise",
                      bad);
  VYRE_TRY(try_runs(b, 0, &is_bad, &run, NULL));
  print_step(0, is_bad);
  if (is_bad)
    return VYRE_ERROR(VYRE_CODE_INPUT, "-bisect: the command also fails without any pass\nFix: exit with 0 if the output is right, "
                                       "and with another code otherwise");
  while (bad - good > 1) {
    const uint64_t middle = good + (bad - good) / 2;
    VYRE_TRY(try_runs(b, middle, &is_bad, &run, NULL));
    print_step(middle, is_bad);
    *(is_bad ? &bad : &good) = middle;
  }
  vyre_bytes pass = {0}, text = {0};
  vyre_status status = try_runs(b, bad, &is_bad, &run, &pass);
  if (!status)
    status = vyre_bytes_printf(&text,
                               "the command first fails after run %" PRIu64 ", pass '%.*s'\n"
                               "before it: -opt-bisect=%s%" PRIu64 "; with it: -opt-bisect=1-%" PRIu64 "\n",
                               bad, (int)pass.size, pass.data ? pass.data : "", good ? "1-" : "", good, bad);
  if (!status)
    status = vyre_file_write("-", text.data, text.size);
  vyre_bytes_free(&pass);
  vyre_bytes_free(&text);
  return status;
}

int
tool_bisect(tool *t)
{
  bisection b = {.tool = t};
  int code = tool_complain(tool_keep_stdin(t));
  if (!code)
    code = tool_complain(judge_begin(&t->options, &b.judge));
  if (code)
    return code;
  code = tool_complain(search(&b));
  judge_end(&b.judge);
  return code;
}
