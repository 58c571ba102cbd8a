/* vyre-fuzz: random programs through random pipelines, run on the interpreter before and after.
 *
 * A program and its pipeline follow from one seed.  What fails is reduced and written to a file, with the line that shows it again.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "vyre/text.h"
#include "vyre/vir0.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct options {
  uint64_t seed, count;
  const char *passes, *input, *out, *target, *device;
  const char *load[16];
  uint32_t loads;
  bool strict, relaxed, narrow, print, first, no_reduce, quiet, counted, validate;
} options;

typedef struct fuzzer {
  options o;
  vyre_registry *registry;
  vyre_device *device;
  char where[256]; /* " -target=NAME -device=NAME", where it is not cpu */
  coverage c;
  uint64_t failures;
} fuzzer;

static const char help[] = "usage: vyre-fuzz [options]\n"
                           "\n"
                           "Makes random programs, takes each through a pipeline of passes, and runs it on the interpreter before "
                           "and after,\n"
                           "and again by way of SPIR-V.  A failure is reduced and written to a file.  Ends with a table of what "
                           "was met.\n"
                           "\n"
                           "  -seed=N        the first seed (default 1); each program has the next one.  Built by\n"
                           "                 another C compiler it may give another program\n"
                           "  -count=N       programs (default 1000)\n"
                           "  -passes=TEXT   this pipeline (default: a random one for each program)\n"
                           "  -load=FILE     a plugin; its passes are drawn, too\n"
                           "  -target=NAME   where the phases of GPU passes run, which must do the same (default cpu)\n"
                           "  -device=NAME   the target's device, by its number, kind, or a part of its name\n"
                           "  -validate      with the target's own checks, whose messages are failures\n"
                           "  -strict, -relaxed   only such programs\n"
                           "  -narrow        32-bit types and bool alone\n"
                           "  -out=DIR       where failures are written (default .)\n"
                           "  -first         ends at the first failure\n"
                           "  -no-reduce     writes it as it is\n"
                           "  -input=FILE    this program (.vir), with -seed's memory and -passes\n"
                           "  -print         the program of -seed, and nothing else\n"
                           "  -quiet         no table\n"
                           "\n"
                           "Numbers are decimal, or hexadecimal after 0x, of 64 bits.\n"
                           "Exit codes: 0 all agree, 1 something does not, 2 usage, 70 a crash.\n";

/* ---- a crash says which seed ---------------------------------------------------------------------------------------------- */

static char running[MOST_PIPELINE + 128]; /* what to say; written before each trial */

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
  VYRE_TRY(vyre_text_print(program, NULL, &text));
  FILE *file = fopen(path, "w");
  if (file) {
    fprintf(file, "; %s: %.*s\n; vyre-fuzz -input=%s -seed=%" PRIu64 " -passes='%s'%s\n%s", verdict_text(found),
            (int)strcspn(message, "\n"), message, path, t->seed, t->pipeline, t->where, text.data);
    fclose(file);
  }
  vyre_bytes_free(&text);
  return file ? VYRE_OK : VYRE_ERROR(VYRE_CODE_INPUT, "cannot write '%s'", path);
}

static vyre_status
report_failure(fuzzer *f, const trial *t, vyre_module **program, verdict found)
{
  char text[MOST_PIPELINE], message[256] = "", path[4096];
  snprintf(text, sizeof text, "%s", t->pipeline);
  printf("seed %" PRIu64 ", -passes='%s'%s: %s\n", t->seed, t->pipeline, t->where, verdict_text(found));
  if (!f->o.no_reduce && found != VERDICT_PROGRAM)
    VYRE_TRY(reduce_failure(t, found, program, text));
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

static vyre_status
make_program(const options *o, uint64_t seed, vyre_module **out)
{
  VYRE_TRY(vyre_module_create(NULL, 1u << 20, out));
  random_program_build(*out, seed, (is_relaxed(o, seed) ? RANDOM_RELAXED : 0) | (o->narrow ? 0 : RANDOM_WIDE));
  VYRE_TRY(vyre_module_status(*out));
  return vyre_module_seal(*out, NULL);
}

/* Runs the pipeline and writes its result. */
static vyre_status
run_and_write(const vyre_pipeline *pipeline, vyre_module *module, vyre_bytes *out)
{
  VYRE_TRY(vyre_pipeline_run(pipeline, module, NULL));
  return vyre_vir0_write(module, NULL, 0, out);
}

/* How much default<O2> leaves, and that it finds nothing to do the second time; of some programs. */
static vyre_status
measure(fuzzer *f, uint64_t seed, vyre_module *program)
{
  static const char text[] = "default<O2>";
  const uint32_t before = vyre_module_view(program)->rows;
  vyre_bytes once = {0}, twice = {0};
  vyre_pipeline *pipeline;
  VYRE_TRY(vyre_pipeline_parse(f->registry, text, sizeof text - 1, "-passes", &pipeline));
  vyre_status status = run_and_write(pipeline, program, &once);
  f->c.measured++;
  f->c.rows_before += before;
  f->c.rows_after += vyre_module_view(program)->rows;
  if (!status)
    status = run_and_write(pipeline, program, &twice);
  if (!status && (once.size != twice.size || memcmp(once.data, twice.data, once.size) != 0)) {
    printf("seed %" PRIu64 ": default<O2> changes something the second time\n", seed);
    f->failures++;
  }
  vyre_bytes_free(&once);
  vyre_bytes_free(&twice);
  vyre_pipeline_destroy(pipeline);
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
             .text = f->o.loads == 0,
             .seed = seed,
             .pipeline = f->o.passes ? f->o.passes : pipeline,
             .where = f->where};
  random_pipeline(f->registry, seed, pipeline);
  snprintf(running, sizeof running, "vyre-fuzz: crashed at -seed=%" PRIu64 " -count=1 -passes='%s'%s\n", seed, t.pipeline,
           f->where);
  VYRE_TRY(vyre_report_create(NULL, &t.report));
  vyre_status status = make_program(&f->o, seed, &program);
  if (!status) {
    const verdict found = check_program(&t, program, message);
    coverage_add_program(&f->c, program);
    coverage_add_passes(&f->c, f->registry, t.report);
    if (found != VERDICT_FINE) {
      f->failures++;
      status = report_failure(f, &t, &program, found);
    } else {
      vyre_status undefined = random_program_run(program, seed, true, 0, &unused);
      f->c.defined += !undefined;
      vyre_status_free(undefined);
      if (seed % 8 == 0)
        status = measure(f, seed, program); /* the last that is done with it */
    }
  }
  vyre_module_destroy(program);
  vyre_report_destroy(t.report);
  return vyre_status_note(status, "at seed %" PRIu64, seed);
}

/* ---- one program ---------------------------------------------------------------------------------------------------------- */

static void
say(void *user, const vyre_diagnostic *diagnostic)
{
  char text[2048];
  (void)user;
  vyre_diagnostic_format(diagnostic, text, sizeof text);
  fprintf(stderr, "%s\n", text);
}

static vyre_status
read_program(const char *path, vyre_module **out)
{
  FILE *file = fopen(path, "r");
  char *text = NULL;
  size_t capacity = 0;
  if (!file)
    return VYRE_ERROR(VYRE_CODE_INPUT, "cannot read '%s': %s\nFix: -input takes the path of a .vir file", path, strerror(errno));
  const ssize_t length = getdelim(&text, &capacity, '\0', file);
  vyre_status status = ferror(file) ? VYRE_ERROR(VYRE_CODE_INPUT, "cannot read '%s': %s", path, strerror(errno)) : VYRE_OK;
  fclose(file);
  if (!status)
    status = vyre_module_create(NULL, 1u << 20, out);
  if (!status)
    status = vyre_text_parse(*out, text, length > 0 ? (size_t)length : 0, path, (vyre_diagnostics){say, NULL});
  free(text);
  return status;
}

static vyre_status
try_input(fuzzer *f)
{
  char message[256] = "";
  vyre_module *program = NULL;
  const trial t = {.registry = f->registry,
                   .device = f->device,
                   .text = f->o.loads == 0,
                   .seed = f->o.seed,
                   .pipeline = f->o.passes ? f->o.passes : "default<O2>",
                   .where = f->where};
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
  vyre_status status = make_program(&f->o, f->o.seed, &program);
  if (!status)
    status = vyre_text_print(program, NULL, &text);
  if (!status)
    fputs(text.data, stdout);
  vyre_bytes_free(&text);
  vyre_module_destroy(program);
  return status;
}

/* ---- the command line ------------------------------------------------------------------------------------------------------ */

static bool
parse_number(const char *text, uint64_t *out)
{
  const bool hex = text[0] == '0' && (text[1] | 32) == 'x';
  char *end;
  errno = 0;
  *out = strtoull(text, &end, hex ? 16 : 10);
  return *text >= '0' && *text <= '9' && *end == '\0' && end - text > 2 * hex && errno == 0;
}

/* -name=value or --name=value: the value, else NULL. */
static const char *
value_of(const char *argument, const char *name)
{
  const size_t length = strlen(name);
  argument += argument[0] == '-' && argument[1] == '-';
  return strncmp(argument, name, length) == 0 && argument[length] == '=' ? argument + length + 1 : NULL;
}

static bool
is_flag(const char *argument, const char *name, bool *out)
{
  argument += argument[0] == '-' && argument[1] == '-';
  const bool is = strcmp(argument, name) == 0;
  *out |= is;
  return is;
}

static bool
parse_option(options *o, const char *argument)
{
  const char *value;
  if ((value = value_of(argument, "-seed")))
    return parse_number(value, &o->seed);
  if ((value = value_of(argument, "-count"))) {
    o->counted = true;
    return parse_number(value, &o->count);
  }
  if ((value = value_of(argument, "-load"))) {
    if (o->loads == sizeof o->load / sizeof o->load[0])
      return false;
    o->load[o->loads++] = value;
    return true;
  }
  const char **texts[] = {&o->passes, &o->input, &o->out, &o->target, &o->device};
  static const char *const names[] = {"-passes", "-input", "-out", "-target", "-device"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if ((value = value_of(argument, names[i]))) {
      *texts[i] = value;
      return true;
    }
  return is_flag(argument, "-strict", &o->strict) || is_flag(argument, "-relaxed", &o->relaxed) ||
         is_flag(argument, "-narrow", &o->narrow) || is_flag(argument, "-print", &o->print) ||
         is_flag(argument, "-first", &o->first) || is_flag(argument, "-no-reduce", &o->no_reduce) ||
         is_flag(argument, "-quiet", &o->quiet) || is_flag(argument, "-validate", &o->validate);
}

/* Options that contradict each other, and a folder that is not there: before any program is made. */
static vyre_status
check_options(const options *o)
{
  struct stat folder;
  if (o->strict && o->relaxed)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-strict and -relaxed leave no program\nFix: give one of them, or none for both kinds");
  if (o->print && (o->counted || o->passes || o->input))
    return VYRE_ERROR(VYRE_CODE_USAGE, "-print prints the one program of -seed\nFix: leave out -%s",
                      o->counted  ? "count"
                      : o->passes ? "passes"
                                  : "input");
  if (o->print || o->input)
    return VYRE_OK;
  if (stat(o->out, &folder) != 0)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-out=%s: %s\nFix: give a folder that is there", o->out, strerror(errno));
  if (!S_ISDIR(folder.st_mode) || access(o->out, W_OK | X_OK) != 0)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-out=%s: no folder that can be written to\nFix: give one that can", o->out);
  return VYRE_OK;
}

/* Checks that the pipeline parses, before any program is made. */
static vyre_status
check_passes(const fuzzer *f)
{
  vyre_pipeline *pipeline = NULL;
  if (!f->o.passes)
    return VYRE_OK;
  VYRE_TRY(vyre_pipeline_parse(f->registry, f->o.passes, strlen(f->o.passes), "-passes", &pipeline));
  vyre_pipeline_destroy(pipeline);
  return strlen(f->o.passes) < MOST_PIPELINE
             ? VYRE_OK
             : VYRE_ERROR(VYRE_CODE_USAGE, "-passes: the pipeline's text has more than %u bytes", MOST_PIPELINE - 1);
}

static vyre_status
open_device(fuzzer *f)
{
  const vyre_target_options one_thread = {.threads = 1, .validate = f->o.validate, .device = f->o.device};
  const vyre_target_ops *target = vyre_target_find(f->o.target);
  if (!target)
    return VYRE_ERROR(VYRE_CODE_USAGE, "there is no target '%.100s'\nFix: -target=cpu, or another one of vyre-passmgr's",
                      f->o.target);
  if (target != &vyre_target_cpu)
    snprintf(f->where, sizeof f->where, " -target=%s%s%s", target->name, f->o.device ? " -device=" : "",
             f->o.device ? f->o.device : "");
  return vyre_device_open(target, &one_thread, NULL, &f->device);
}

static vyre_status
fuzz(fuzzer *f)
{
  VYRE_TRY(check_options(&f->o));
  VYRE_TRY(vyre_registry_create(NULL, &f->registry));
  VYRE_TRY(vyre_registry_load_core(f->registry));
  for (uint32_t i = 0; i < f->o.loads; i++)
    VYRE_TRY(vyre_registry_load(f->registry, f->o.load[i], VYRE_ORIGIN_OUTSIDE));
  VYRE_TRY(check_passes(f));
  if (f->o.print)
    return print_program(f);
  VYRE_TRY(open_device(f));
  if (f->o.input)
    return try_input(f);
  uint64_t done = 0;
  for (; done < f->o.count && !(f->o.first && f->failures); done++)
    VYRE_TRY(try_seed(f, f->o.seed + done));
  if (!f->o.quiet)
    coverage_print(&f->c, f->registry);
  printf("%" PRIu64 " of %" PRIu64 " programs failed\n", f->failures, done);
  return VYRE_OK;
}

int
main(int count, char **arguments)
{
  static fuzzer f = {.o = {.seed = 1, .count = 1000, .out = ".", .target = "cpu"}};
  bool wants_help = false;
  for (int i = 1; i < count; i++)
    if (!is_flag(arguments[i], "-help", &wants_help) && !parse_option(&f.o, arguments[i])) {
      fprintf(stderr, "vyre-fuzz: error: '%s' is no option, or has no value it may have\nFix: vyre-fuzz -help lists them\n",
              arguments[i]);
      return VYRE_CODE_USAGE;
    }
  if (wants_help) {
    fputs(help, stdout);
    return 0;
  }
  watch_crashes();
  vyre_status status = fuzz(&f);
  status = vyre_status_join(status, vyre_device_close(f.device));
  int code = f.failures ? 1 : 0;
  if (status) {
    fprintf(stderr, "vyre-fuzz: error: %s\n", vyre_status_text(status));
    code = (int)vyre_status_code(status);
    vyre_status_free(status);
  }
  vyre_registry_destroy(f.registry);
  return code;
}
