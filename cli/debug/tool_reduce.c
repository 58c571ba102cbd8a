/* -reduce: makes the input, its pipeline and the options of targets smaller while the input fails the same way.
 *
 * Failures are equal by the message of a pass, the verifier or a crash.  With -bisect the command decides: the program without
 * passes must be right and the output wrong.  Each attempt is an isolated process that reads its program as VIR0.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "judge.h"
#include "cli/report/progress.h"
#include "tools/run/reduce.h"
#include "reproducer.h"

#include "vyre/text.h"
#include "vyre/vir0.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct shrinking {
  tool *tool;
  judge judge;
  work first;    /* the original failure */
  int file;      /* anonymous file with the program of an attempt */
  char path[32]; /* the path of that file */
  uint32_t attempts, rows;
  vyre_status status; /* the first error of an attempt that could not be made */
} shrinking;

typedef struct candidate {
  const char *path, *passes; /* `passes` is NULL if the candidate runs no pass */
} candidate;

static vyre_status
as_vir0(tool *t, uint32_t index, const void *user)
{
  (void)index;
  (void)user;
  t->options.emit = "vir0";
  t->pipeline = NULL;
  return VYRE_OK;
}

static vyre_status
as_candidate(tool *t, uint32_t index, const void *user)
{
  const candidate *c = user;
  t->works[index].path = c->path;
  t->options.passes = c->passes;
  t->options.passes_file = NULL;
  t->pipeline = NULL;
  return tool_read_pipeline(t);
}

static vyre_status
put_program(shrinking *s, const vyre_module *program)
{
  vyre_bytes bytes = {0};
  vyre_status status = vyre_vir0_write(program, NULL, 0, &bytes);
  if (!status && (ftruncate(s->file, 0) != 0 || pwrite(s->file, bytes.data, bytes.size, 0) != (ssize_t)bytes.size))
    status =
        VYRE_ERROR(VYRE_CODE_INPUT, "-reduce: cannot write a program to a temporary file: %s\nFix: free memory", strerror(errno));
  vyre_bytes_free(&bytes);
  return status;
}

/* Runs the passes over the program in the file. */
static vyre_status
attempt(shrinking *s, const char *passes, work *out)
{
  uint64_t run;
  const candidate c = {s->path, passes};
  lseek(s->file, 0, SEEK_SET); /* the child shares the file offset */
  return tool_attempt(s->tool, 0, as_candidate, &c, out, &run);
}

/* Runs the command.  *out_bad is whether it rejects the output and accepts the program without passes. */
static vyre_status
judge_output(shrinking *s, const work *output, bool *out_bad)
{
  judge *j = &s->judge;
  work plain;
  VYRE_TRY(attempt(s, NULL, &plain));
  judge good = *j;
  bool is_bad = work_code(&plain) != 0;
  vyre_status status = VYRE_OK;
  if (!is_bad)
    status = judge_write(j, &plain, "input", j->plain);
  memcpy(good.path, j->plain, sizeof good.path);
  memcpy(good.plain, j->plain, sizeof good.plain);
  if (!status && !is_bad)
    status = judge_run(&good, &is_bad);
  if (!status && !is_bad)
    status = judge_write(j, output, "output", j->path);
  *out_bad = false;
  if (!status && !is_bad)
    status = judge_run(j, out_bad);
  tool_free_attempt(&plain);
  return status;
}

static void
print_step(const shrinking *s, const char *passes)
{
  char text[160];
  snprintf(text, sizeof text, "%u attempts, %u rows, -passes='%.100s'", s->attempts, s->rows, passes);
  progress_print(text);
}

static bool
fails_alike(void *user, const vyre_module *program, const char *passes)
{
  shrinking *s = user;
  work w;
  bool is_same = false;
  if (s->status)
    return false;
  s->attempts++;
  s->status = put_program(s, program);
  if (!s->status)
    s->status = attempt(s, passes, &w);
  if (s->status)
    return false;
  if (!s->tool->options.bisect)
    is_same = reproducer_fails_alike(&w, &s->first);
  else if (work_code(&w) == 0)
    s->status = judge_output(s, &w, &is_same);
  tool_free_attempt(&w);
  if (is_same)
    s->rows = vyre_module_view(program)->rows - 1;
  print_step(s, passes);
  return is_same;
}

/* Removes the target options that the failure does not need. */
static void
drop_options(shrinking *s, const vyre_module *program, const char *passes)
{
  tool_options *o = &s->tool->options;
  const tool_options before = *o;
  o->target = o->on.device = o->on.library = NULL;
  o->on.validate = o->phases = false;
  o->phase_threads.text = NULL;
  if ((before.target || before.phases || before.phase_threads.text) && fails_alike(s, program, passes))
    return;
  *o = before;
  o->no_fuse = true;
  if (!before.target || !fails_alike(s, program, passes))
    *o = before;
}

/* Writes the reproducer and prints the result. */
static vyre_status
write_file(shrinking *s, const vyre_module *program, const char *passes, uint32_t rows)
{
  const char *path = s->tool->options.reduce;
  vyre_bytes text = {0};
  bool is_same = true;
  vyre_status status = vyre_text_print(program, NULL, &text);
  if (!status)
    status = reproducer_print(s->tool, &s->first, path, passes, &text, "; a reduced program that fails\n");
  if (!status && !s->tool->options.bisect)
    status = reproducer_check(s->tool, 0, path, &s->first, &is_same);
  progress_clear();
  if (!status)
    fprintf(stderr, "vyre-passmgr: reduced: %s: %u of %u rows, -passes='%s', after %u attempts%s\n", path, s->rows, rows, passes,
            s->attempts, is_same ? "" : "; as text it does not fail the same way, because text does not keep all of VIR0");
  vyre_bytes_free(&text);
  return status;
}

/* Reads the input as a module, and determines the output format. */
static vyre_status
read_program(shrinking *s, vyre_module **out)
{
  tool_options *o = &s->tool->options;
  work read;
  uint64_t run;
  VYRE_TRY(tool_attempt(s->tool, 0, as_vir0, NULL, &read, &run));
  vyre_status status = VYRE_OK;
  if (!read.has_output)
    status = VYRE_ERROR(VYRE_CODE_INPUT, "-reduce: the input cannot be read\nFix: name an input that is valid without passes");
  if (!status)
    status = vyre_module_create(NULL, 0, out);
  if (!status)
    status = vyre_vir0_read(*out, read.output.data, read.output.size, "the input", NULL, 0);
  o->emit = output_words[outputs_form(o, read.kind)];
  tool_free_attempt(&read);
  return status;
}

static vyre_status
shrink(shrinking *s, vyre_module **program)
{
  tool *t = s->tool;
  uint64_t run;
  vyre_bytes text = {0};
  char passes[REDUCE_MOST_PIPELINE];
  if (!t->pipeline)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-reduce needs a pipeline\nFix: add -passes");
  VYRE_TRY(tool_attempt(t, 0, NULL, NULL, &s->first, &run));
  if (!t->options.bisect && work_code(&s->first) == 0)
    return VYRE_ERROR(
        VYRE_CODE_INPUT,
        "-reduce: the input does not fail\nFix: if the output is wrong, add -bisect=COMMAND with a command that detects it");
  VYRE_TRY(read_program(s, program));
  vyre_status status = vyre_pipeline_print(t->pipeline, &text);
  if (!status && text.size >= sizeof passes)
    status =
        VYRE_ERROR(VYRE_CODE_USAGE, "-reduce: the pipeline is longer than %u bytes\nFix: remove passes", REDUCE_MOST_PIPELINE - 1);
  snprintf(passes, sizeof passes, "%s", text.data ? text.data : "");
  vyre_bytes_free(&text);
  VYRE_TRY(status);
  const uint32_t rows = vyre_module_view(*program)->rows - 1;
  if (!fails_alike(s, *program, passes))
    return s->status
               ? s->status
               : VYRE_ERROR(VYRE_CODE_INPUT,
                            t->options.bisect ? "-reduce: the command accepts the output, or rejects the program without passes\n"
                                                "Fix: exit with 0 if a program is right, and with another code otherwise"
                                              : "-reduce: the input did not fail the same way when it was run again\n"
                                                "Fix: reduce a failure that is deterministic");
  drop_options(s, *program, passes);
  const reduction how = {t->registry, fails_alike, s};
  VYRE_TRY(vyre_reduce(&how, program, passes));
  return s->status ? s->status : write_file(s, *program, passes, rows);
}

int
tool_reduce(tool *t)
{
  shrinking s = {.tool = t, .file = memfd_create("program", MFD_CLOEXEC)};
  vyre_module *program = NULL;
  vyre_status status = tool_keep_stdin(t);
  if (!status && s.file < 0)
    status = VYRE_ERROR(VYRE_CODE_INPUT, "-reduce: cannot create a temporary file: %s\nFix: free memory", strerror(errno));
  snprintf(s.path, sizeof s.path, "/proc/self/fd/%d", s.file);
  if (!status)
    status = judge_begin(&t->options, &s.judge);
  s.judge.is_quiet = true;
  if (!status) {
    status = shrink(&s, &program);
    judge_end(&s.judge);
  }
  progress_clear();
  if (s.file >= 0)
    close(s.file);
  tool_free_attempt(&s.first);
  vyre_module_destroy(program);
  return tool_complain(status);
}
