/* vyre-fuzz: runs random programs on the interpreter before and after random pipelines.
 *
 * A seed determines a program and its pipeline.  A failure is reduced and written to a file with the command that reproduces it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "cli/options/console.h"
#include "cli/options/option_rows.h"
#include "tools/run/reduce.h"

#include "vyre/io.h"
#include "vyre/text.h"
#include "vyre/vir0.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct options {
  option_number seed, count;
  const char *passes, *input, *out, *target, *cost_model, *help;
  name_list load, inputs;
  option_texts responses;
  option_device on;
  bool strict, relaxed, narrow, print, first, no_reduce, quiet;
} options;

typedef struct fuzzer {
  options o;
  vyre_registry *registry;
  vyre_device *device;
  vyre_cost_model *cost_model; /* NULL for the default model */
  vyre_bytes kept;             /* options that reproduce a failure, such as " -load=FILE -target=NAME" */
  coverage c;
  uint64_t failures;
} fuzzer;

#define AT(field)        offsetof(options, field)
#define AT_DEVICE(field) offsetof(options, on.field)

static const option_row rows[] = {
    {.name = "Programs", OPTION_SECTION},
    {.name = "seed",
     OPTION_NUMBER,
     AT(seed),
     "N",
     "the seed of the first program; each further program has the next seed. Programs may depend on the C compiler that built "
     "vyre-fuzz. Default: 1",
     .most = UINT64_MAX},
    {.name = "count", OPTION_NUMBER, AT(count), "N", "the number of programs. Default: 1000", .most = UINT64_MAX},
    {.name = "strict", OPTION_FLAG, AT(strict), NULL, "make only strict programs", OPTION_KEPT},
    {.name = "relaxed", OPTION_FLAG, AT(relaxed), NULL, "make only relaxed programs", OPTION_KEPT},
    {.name = "narrow", OPTION_FLAG, AT(narrow), NULL, "use only 32-bit types and bool", OPTION_KEPT},
    {.name = "input",
     OPTION_TEXT,
     AT(input),
     "FILE",
     "check this program (.vir), with the memory of -seed and the pipeline of -passes"},
    {.name = "print", OPTION_FLAG, AT(print), NULL, "only print the program of -seed"},

    {.name = "Passes", OPTION_SECTION},
    {.name = "passes", OPTION_TEXT, AT(passes), "TEXT", "run this pipeline. Default: a random one for each program"},
    {.name = "load", OPTION_LIST, AT(load), "FILE", "load a plugin, and use its passes in random pipelines", OPTION_KEPT_FILE},
    {.name = "cost-model", OPTION_TEXT, AT(cost_model), "FILE", "read the costs of rows for passes from FILE", OPTION_KEPT_FILE},
    {.name = "target", OPTION_TEXT, AT(target), "NAME", "run the phases of GPU passes on this target. Default: cpu", OPTION_KEPT},
    OPTION_DEVICE_ROWS(AT_DEVICE),

    {.name = "Failures", OPTION_SECTION},
    {.name = "out", OPTION_TEXT, AT(out), "DIR", "write failures to DIR. Default: ."},
    {.name = "first", OPTION_FLAG, AT(first), NULL, "stop at the first failure"},
    {.name = "no-reduce", OPTION_FLAG, AT(no_reduce), NULL, "write failures without reducing them"},
    {.name = "quiet", OPTION_FLAG, AT(quiet), NULL, "do not print the coverage"},
    OPTION_HELP_ROWS(AT(help)),
};

static const option_table table = {
    .program = "vyre-fuzz",
    .usage = "[options]",
    .about =
        "Makes random programs, and runs each on the interpreter before and after a pipeline of passes.  Failures are reduced\n"
        "and written to files.  Prints the coverage of ops, types and passes at the end.\n",
    .after = "Numbers have 64 bits and are decimal, or hexadecimal after 0x.\n"
             "Exit codes: 0 all results agree, 1 a failure, 2 wrong use, 70 a crash.\n",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .inputs = AT(inputs),
    .files = AT(responses)};

/* ---- crashes -------------------------------------------------------------------------------------------------------------- */

static char running[MOST_PIPELINE + 2 * PATH_MAX]; /* message about a crash with the seed; written before each trial */

static void
on_crash(int number)
{
  (void)number;
  ssize_t lost = write(STDERR_FILENO, running, strlen(running));
  (void)lost;
  _exit(VYRE_CODE_INTERNAL);
}

static void
watch_crashes(void)
{
  static const int signals[] = {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL};
  const struct sigaction action = {.sa_handler = on_crash};
  for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
    sigaction(signals[i], &action, NULL);
}

/* ---- failures ------------------------------------------------------------------------------------------------------------- */

static vyre_status
write_failure(const trial *t, const vyre_module *program, verdict found, const char *message, const char *path)
{
  vyre_bytes text = {0};
  vyre_status status =
      vyre_bytes_printf(&text, "; %s: %.*s\n; vyre-fuzz -input=%s -seed=%" PRIu64 " -passes='%s'%s\n", verdict_text(found),
                        (int)strcspn(message, "\n"), message, path, t->seed, t->pipeline, t->where);
  if (!status)
    status = vyre_text_print(program, NULL, &text);
  if (!status)
    status = vyre_file_write(path, text.data, text.size);
  vyre_bytes_free(&text);
  return status;
}

typedef struct failure {
  const trial *trial;
  verdict found;
} failure;

static bool
fails_alike(void *user, const vyre_module *program, const char *pipeline)
{
  const failure *of = user;
  char message[256];
  trial t = *of->trial;
  t.report = NULL;
  t.pipeline = pipeline;
  return check_program(&t, program, message) == of->found;
}

static vyre_status
report_failure(fuzzer *f, const trial *t, vyre_module **program, verdict found)
{
  char text[REDUCE_MOST_PIPELINE], message[256] = "", path[4096];
  failure of = {t, found};
  const reduction how = {f->registry, fails_alike, &of};
  snprintf(text, sizeof text, "%s", t->pipeline);
  printf("seed %" PRIu64 ", -passes='%s'%s: %s\n", t->seed, t->pipeline, t->where, verdict_text(found));
  if (!f->o.no_reduce && found != VERDICT_PROGRAM)
    VYRE_TRY(vyre_reduce(&how, program, text));
  trial reduced = *t;
  reduced.pipeline = text;
  reduced.report = NULL;
  found = check_program(&reduced, *program, message);
  snprintf(path, sizeof path, "%s/fuzz-%" PRIu64 ".vir", f->o.out, t->seed);
  VYRE_TRY(write_failure(&reduced, *program, found, message, path));
  printf("  %.*s\n  %s: %u rows, -passes='%s'%s\n", (int)strcspn(message, "\n"), message, path,
         vyre_module_view(*program)->rows - 1, text, t->where);
  return VYRE_OK;
}

/* ---- trials --------------------------------------------------------------------------------------------------------------- */

static bool
is_relaxed(const options *o, uint64_t seed)
{
  return o->relaxed || (!o->strict && (seed & 1));
}

static uint32_t
flags_of(const options *o, uint64_t seed)
{
  return (is_relaxed(o, seed) ? RANDOM_RELAXED : 0) | (o->narrow ? 0 : RANDOM_WIDE);
}

static vyre_status
make_program(const options *o, uint64_t seed, vyre_module **out)
{
  VYRE_TRY(vyre_module_create(NULL, 1u << 20, out));
  random_program_build(*out, seed, flags_of(o, seed));
  VYRE_TRY(vyre_module_status(*out));
  return vyre_module_seal(*out, NULL);
}

/* Runs a level over the module, and writes the module as VIR0. */
static vyre_status
run_level(fuzzer *f, const char *level, vyre_module *module, vyre_bytes *out)
{
  vyre_pipeline *pipeline;
  VYRE_TRY(vyre_pipeline_parse(f->registry, level, strlen(level), "-passes", &pipeline));
  vyre_status status = vyre_pipeline_run(pipeline, module, NULL);
  vyre_pipeline_destroy(pipeline);
  return status ? status : vyre_vir0_write(module, NULL, 0, out);
}

/* Measures the size after default<O2>, and checks that a second run of default<O3>, which is a fixpoint, changes nothing. */
static vyre_status
measure_levels(fuzzer *f, uint64_t seed, vyre_module *program)
{
  vyre_bytes smaller = {0}, once = {0}, twice = {0};
  f->c.measured++;
  f->c.rows_before += vyre_module_view(program)->rows;
  vyre_status status = run_level(f, "default<O2>", program, &smaller);
  f->c.rows_after += vyre_module_view(program)->rows;
  if (!status)
    status = run_level(f, "default<O3>", program, &once);
  if (!status)
    status = run_level(f, "default<O3>", program, &twice);
  if (!status && (once.size != twice.size || memcmp(once.data, twice.data, once.size) != 0)) {
    printf("seed %" PRIu64 ": a second run of default<O3> changes the program\n", seed);
    f->failures++;
  }
  vyre_bytes_free(&smaller);
  vyre_bytes_free(&once);
  vyre_bytes_free(&twice);
  return status;
}

static vyre_status
try_seed(fuzzer *f, uint64_t seed)
{
  char pipeline[MOST_PIPELINE], message[256];
  vyre_module *program = NULL;
  random_memory unused;
  trial t = {.registry = f->registry,
             .device = f->device,
             .cost_model = f->cost_model,
             .text = f->o.load.count == 0,
             .seed = seed,
             .pipeline = f->o.passes ? f->o.passes : pipeline,
             .where = f->kept.data};
  random_pipeline(f->registry, seed, pipeline);
  snprintf(running, sizeof running, "vyre-fuzz: crashed at -seed=%" PRIu64 " -count=1 -passes='%s'%s\n", seed, t.pipeline,
           f->kept.data);
  VYRE_TRY(vyre_report_create(NULL, &t.report));
  vyre_status status = make_program(&f->o, seed, &program);
  if (!status) {
    const verdict found = check_program(&t, program, message);
    coverage_add_program(&f->c, program, random_program_features(seed, flags_of(&f->o, seed)));
    coverage_add_passes(&f->c, f->registry, t.report);
    if (found != VERDICT_FINE) {
      f->failures++;
      status = report_failure(f, &t, &program, found);
    } else {
      vyre_status undefined = random_program_run(program, seed, true, 0, &unused);
      f->c.defined += !undefined;
      vyre_status_free(undefined);
      if (seed % 8 == 0)
        status = measure_levels(f, seed, program); /* changes the program */
    }
  }
  vyre_module_destroy(program);
  vyre_report_destroy(t.report);
  return vyre_status_note(status, "at seed %" PRIu64, seed);
}

/* ---- one program ---------------------------------------------------------------------------------------------------------- */

static vyre_status
read_program(const char *path, vyre_module **out)
{
  vyre_bytes text = {0};
  vyre_status status = vyre_status_note(vyre_file_read_as(path, VYRE_FILE_TEXT, &text), "-input needs the path of a .vir file");
  if (!status)
    status = vyre_module_create(NULL, 1u << 20, out);
  if (!status)
    status = vyre_text_parse(*out, text.data ? text.data : "", text.size, path, console_diagnostics);
  vyre_bytes_free(&text);
  return status;
}

static vyre_status
try_input(fuzzer *f)
{
  char message[256] = "";
  vyre_module *program = NULL;
  const trial t = {.registry = f->registry,
                   .device = f->device,
                   .cost_model = f->cost_model,
                   .text = f->o.load.count == 0,
                   .seed = f->o.seed.value,
                   .pipeline = f->o.passes ? f->o.passes : "default<O2>",
                   .where = f->kept.data};
  vyre_status status = read_program(f->o.input, &program);
  if (!status) {
    const verdict found = check_program(&t, program, message);
    printf("%s%s%s\n", verdict_text(found), message[0] ? ": " : "", message);
    f->failures += found != VERDICT_FINE;
  }
  vyre_module_destroy(program);
  return status;
}

static vyre_status
print_program(const fuzzer *f)
{
  vyre_module *program = NULL;
  vyre_bytes text = {0};
  vyre_status status = make_program(&f->o, f->o.seed.value, &program);
  if (!status)
    status = vyre_text_print(program, NULL, &text);
  if (!status)
    fputs(text.data, stdout);
  vyre_bytes_free(&text);
  vyre_module_destroy(program);
  return status;
}

/* ---- the command line ------------------------------------------------------------------------------------------------------ */

/* Checks for contradictory options and a missing folder, before any program is made. */
static vyre_status
check_options(const options *o)
{
  struct stat folder;
  if (o->inputs.count)
    return VYRE_ERROR(VYRE_CODE_USAGE, "'%s' is not an option\nFix: name a program with -input=FILE", o->inputs.names[0]);
  if (o->strict && o->relaxed)
    return VYRE_ERROR(VYRE_CODE_USAGE,
                      "-strict and -relaxed exclude all programs\nFix: give only one of them, or none for both kinds");
  if (o->print && (o->count.text || o->passes || o->input))
    return VYRE_ERROR(VYRE_CODE_USAGE, "-print only prints the program of -seed\nFix: leave out -%s",
                      o->count.text ? "count"
                      : o->passes   ? "passes"
                                    : "input");
  if (o->print || o->input)
    return VYRE_OK;
  if (stat(o->out, &folder) != 0)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-out=%s: %s\nFix: give an existing folder", o->out, strerror(errno));
  if (!S_ISDIR(folder.st_mode) || access(o->out, W_OK | X_OK) != 0)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-out=%s: not a writable folder\nFix: give a folder in which files can be created", o->out);
  return VYRE_OK;
}

/* Checks that the pipeline parses, before any program is made. */
static vyre_status
check_passes(const fuzzer *f)
{
  vyre_pipeline *pipeline = NULL;
  if (!can_draw_pass(f->registry))
    return VYRE_ERROR(VYRE_CODE_USAGE, "there are no passes\nFix: build the core passes, or load a plugin with -load");
  if (!f->o.passes)
    return VYRE_OK;
  VYRE_TRY(vyre_pipeline_parse(f->registry, f->o.passes, strlen(f->o.passes), "-passes", &pipeline));
  vyre_pipeline_destroy(pipeline);
  return strlen(f->o.passes) < MOST_PIPELINE
             ? VYRE_OK
             : VYRE_ERROR(VYRE_CODE_USAGE, "-passes: the pipeline's text has more than %u bytes\nFix: give a shorter pipeline",
                          MOST_PIPELINE - 1);
}

/* Collects the options that reproduce a failure, quoted for a shell. */
static vyre_status
quote_kept(fuzzer *f)
{
  vyre_bytes lines = {0};
  vyre_status status = option_table_print_kept(&table, &f->o, "", &lines);
  for (const char *at = lines.data; !status && at && *at; at += strcspn(at, "\n") + 1) {
    const size_t length = strcspn(at, "\n");
    const bool is_plain = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=./:,+") >= length;
    status = vyre_bytes_printf(&f->kept, is_plain ? " " : " '");
    for (size_t i = 0; i < length && !status; i++)
      status = at[i] == '\'' ? vyre_bytes_append(&f->kept, "'\\''", 4) : vyre_bytes_append(&f->kept, at + i, 1);
    if (!status && !is_plain)
      status = vyre_bytes_append(&f->kept, "'", 1);
  }
  vyre_bytes_free(&lines);
  return status ? status : vyre_bytes_append(&f->kept, "", 0);
}

static vyre_status
open_device(fuzzer *f)
{
  char folder[PATH_MAX];
  vyre_target_options one_thread = option_device_fill(&f->o.on, folder, sizeof folder);
  const vyre_target_ops *target = vyre_target_find(f->o.target ? f->o.target : "cpu");
  if (!target)
    return VYRE_ERROR(VYRE_CODE_USAGE, "unknown target '%.100s'\nFix: use -target=cpu, or another target of vyre-passmgr",
                      f->o.target);
  one_thread.threads = 1;
  return vyre_device_open(target, &one_thread, NULL, &f->device);
}

static vyre_status
run_fuzzer(fuzzer *f)
{
  VYRE_TRY(check_options(&f->o));
  VYRE_TRY(quote_kept(f));
  VYRE_TRY(vyre_cost_model_read(f->o.cost_model, &f->cost_model));
  VYRE_TRY(vyre_registry_create(NULL, &f->registry));
  VYRE_TRY(vyre_registry_load_core(f->registry));
  for (uint32_t i = 0; i < f->o.load.count; i++)
    VYRE_TRY(vyre_registry_load(f->registry, f->o.load.names[i], VYRE_ORIGIN_OUTSIDE));
  VYRE_TRY(check_passes(f));
  if (f->o.print)
    return print_program(f);
  VYRE_TRY(open_device(f));
  if (f->o.input)
    return try_input(f);
  uint64_t done = 0;
  for (; done < f->o.count.value && !(f->o.first && f->failures); done++)
    VYRE_TRY(try_seed(f, f->o.seed.value + done));
  if (!f->o.quiet)
    coverage_print(&f->c, f->registry);
  printf("%" PRIu64 " of %" PRIu64 " programs failed\n", f->failures, done);
  return VYRE_OK;
}

int
main(int count, char **arguments)
{
  static fuzzer f = {.o = {.seed = {.value = 1}, .count = {.value = 1000}, .on = {.timeout = {.value = OPTION_TIMEOUT}}}};
  vyre_status status = option_table_parse(&table, count, arguments, &f.o);
  f.o.out = f.o.out ? f.o.out : ".";
  if (!status && f.o.help) {
    status = console_help(&table, f.o.help, VYRE_VERSION);
  } else if (!status) {
    watch_crashes();
    status = run_fuzzer(&f);
    status = vyre_status_join(status, vyre_device_close(f.device));
  }
  const int code = console_end("vyre-fuzz", status, f.failures ? 1 : 0);
  vyre_bytes_free(&f.kept);
  vyre_registry_destroy(f.registry);
  vyre_cost_model_destroy(f.cost_model);
  option_table_free(&table, &f.o);
  return code;
}
