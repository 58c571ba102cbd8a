/* The command line of vyre-passmgr: one table gives parsing, checks and -help.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "suggest.h"
#include "vyre/ir.h"
#include "vyre/ptx.h"

typedef enum option_kind {
  OPTION_FLAG,
  OPTION_VALUE,
  OPTION_LIST,
  OPTION_JOINED,  /* a list; the value may follow the letter */
  OPTION_OPTIONAL /* a value only after '='; else it is the first of `value`, "text" or "0" */
} option_kind;

/* Whether another run of the same needs it, too. */
typedef enum option_use { OPTION_ONCE, OPTION_KEPT, OPTION_KEPT_FILE } option_use;

typedef struct option {
  const char *name;
  option_kind kind;
  size_t field;
  const char *value, *help; /* value NULL: a flag; help NULL: an alias, not listed */
  option_use use;
} option;

#define AT(field) offsetof(tool_options, field)

static const option options[] = {
    {"passes", OPTION_VALUE, AT(passes), "TEXT",
     "the pipeline: 'canon,cf,dce'; @FILE reads it from a file; without it nothing is changed, only converted", OPTION_ONCE},
    {"passes-file", OPTION_VALUE, AT(passes_file), "FILE", "the pipeline, from a file", OPTION_ONCE},
    {"o", OPTION_VALUE, AT(output), "FILE",
     "write there; -, the default, is standard output; the name's end decides: .vir, .vir0, .spv, .glsl, .c, .ptx", OPTION_ONCE},
    {"outdir", OPTION_VALUE, AT(outdir), "DIR",
     "write each input's output there, as .vir, .vir0, .spv, .glsl, .c or .ptx, in the folders that tell the inputs apart",
     OPTION_ONCE},
    {"emit", OPTION_VALUE, AT(emit), "vir|vir0|spirv|glsl|c|ptx",
     "what to write; default: by the output's name, else text for text, VIR0 for VIR0, and SPIR-V for all others", OPTION_ONCE},
    {"strip", OPTION_FLAG, AT(strip), NULL, "no names and lines in SPIR-V", OPTION_KEPT},
    {"exact-floats", OPTION_FLAG, AT(exact_floats), NULL,
     "SPIR-V of strict programs asks for exact floats (denormals, signed zeros, NaNs, rounding), which a device may lack",
     OPTION_KEPT},
    {"I", OPTION_JOINED, AT(include_dirs), "DIR", "GLSL: look for #include files there", OPTION_ONCE},
    {"D", OPTION_JOINED, AT(defines), "NAME[=VALUE]", "GLSL: define a macro", OPTION_ONCE},
    {"target-env", OPTION_VALUE, AT(target_env), "vulkan1.0|...|vulkan1.3", "GLSL: what the SPIR-V is for; default vulkan1.2",
     OPTION_ONCE},
    {"ptx-sm", OPTION_VALUE, AT(ptx_sm), "75|80|90|100|...", "PTX: the architecture that it is for, sm_75 or newer; default 75",
     OPTION_KEPT},
    {"g", OPTION_FLAG, AT(debug), NULL, "GLSL: keep source lines", OPTION_ONCE},
    {"include-root", OPTION_VALUE, AT(include_root), "DIR", "GLSL: #include reads nothing outside of that folder", OPTION_ONCE},
    {"glsl-memory", OPTION_VALUE, AT(glsl_memory), "MIB", "GLSL: what compiling one shader may take; default 1024", OPTION_ONCE},
    {"glsl-seconds", OPTION_VALUE, AT(glsl_seconds), "N", "GLSL: processor time for one shader; default 60", OPTION_ONCE},
    {"glsl-expansion", OPTION_VALUE, AT(glsl_expansion), "MIB", "GLSL: a shader's text, macros and includes expanded; default 16",
     OPTION_ONCE},
    {"j", OPTION_JOINED, AT(jobs), "N", "work on N inputs at once; 0: one a processor; the outputs and messages are the same",
     OPTION_ONCE},
    {"isolate", OPTION_FLAG, AT(isolate), NULL,
     "a process for each input: what crashes there, a driver or a plugin, takes that input alone; -j at once", OPTION_ONCE},
    {"pass-timeout", OPTION_VALUE, AT(pass_timeout), "SECONDS",
     "a pass that takes longer is an error; the input has a process of its own (-isolate)", OPTION_KEPT},
    {"batch", OPTION_OPTIONAL, AT(batch), "0|N",
     "many inputs, N at most (0: as their size allows), become one module and one run of the pipeline; the outputs and messages "
     "are the same",
     OPTION_ONCE},
    {"max-growth", OPTION_VALUE, AT(max_growth), "N",
     "a module that inlining would make larger than 256 KiB and N times its size goes out word for word; default 8", OPTION_KEPT},
    {"load", OPTION_LIST, AT(load), "FILE", "load a plugin: its code runs in this process", OPTION_KEPT_FILE},
    {"plugin-dir", OPTION_LIST, AT(plugin_dir), "DIR", "load every *.so of a folder", OPTION_KEPT_FILE},
    {"list-passes", OPTION_FLAG, AT(list_passes), NULL, "print the passes there are", OPTION_ONCE},
    {"help-pass", OPTION_VALUE, AT(help_pass), "NAME", "print what a pass does and its parameters", OPTION_ONCE},
    {"print-pipeline", OPTION_FLAG, AT(print_pipeline), NULL, "print the pipeline in its canonical form, and run nothing",
     OPTION_ONCE},
    {"print-schedule", OPTION_OPTIONAL, AT(print_schedule), "text|json|dot",
     "print which passes run where, and what goes to the device and comes back; run nothing", OPTION_ONCE},
    {"verify-each", OPTION_FLAG, AT(verify_each), NULL,
     "after each pass verify the module, and that the pass told the truth about changes", OPTION_KEPT},
    {"print-before-all", OPTION_FLAG, AT(print_before_all), NULL, "print the module before each pass (standard error)",
     OPTION_ONCE},
    {"print-after-all", OPTION_FLAG, AT(print_after_all), NULL, "print the module after each pass", OPTION_ONCE},
    {"print-changed", OPTION_FLAG, AT(print_changed), NULL, "print the module at the start and after each pass that changed it",
     OPTION_ONCE},
    {"opt-bisect", OPTION_VALUE, AT(opt_bisect), "RUNS|list",
     "only these runs of passes: 1-3,5,8- are runs 1 to 3, 5, and from 8 on; list: a line for each run (standard error)",
     OPTION_ONCE},
    {"skip-pass", OPTION_LIST, AT(skip_pass), "NAME", "leave the runs of that pass out", OPTION_ONCE},
    {"bisect", OPTION_VALUE, AT(bisect), "COMMAND",
     "find the first run of a pass after which a command fails; {} in it is the file of the output", OPTION_ONCE},
    {"reproducer", OPTION_VALUE, AT(reproducer), "DIR",
     "write there, of an input that fails, a file that fails alike: what the failing pass got, and options; implies -isolate",
     OPTION_ONCE},
    {"run-reproducer", OPTION_VALUE, AT(run_reproducer), "FILE", "run such a file; options of yours are added, or replace its own",
     OPTION_ONCE},
    {"phases", OPTION_FLAG, AT(phases), NULL,
     "run GPU passes by their phases on this machine's processors, those too that have plain C; the result is the same",
     OPTION_KEPT},
    {"phase-threads", OPTION_VALUE, AT(phase_threads), "N", "the same, and N threads share the rows of a phase; 0: one a processor",
     OPTION_KEPT},
    {"target", OPTION_VALUE, AT(target), "NAME",
     "run GPU passes there; the result is the same; default cpu, where most have plain C; auto: where it takes less time; vyre-run "
     "-list-devices lists targets",
     OPTION_KEPT},
    {"device", OPTION_VALUE, AT(device), "NUMBER|KIND|NAME",
     "of the target: by its number, its kind (discrete, integrated, virtual, cpu), or a part of its name", OPTION_KEPT},
    {"library", OPTION_VALUE, AT(library), "FILE", "of the target: the driver library; default: the platform's", OPTION_KEPT_FILE},
    {"cache-dir", OPTION_VALUE, AT(cache_dir), "DIR|none",
     "where a target keeps what its driver compiled; default: vyre in $XDG_CACHE_HOME or $HOME/.cache", OPTION_KEPT},
    {"validate", OPTION_FLAG, AT(validate), NULL,
     "with the target's own checks (Vulkan's validation layer); a message of theirs is an error", OPTION_KEPT},
    {"timeout", OPTION_VALUE, AT(timeout), "SECONDS",
     "after which a device that is not done counts as hanging, an error; default 120, 0: never", OPTION_KEPT},
    {"no-fuse", OPTION_FLAG, AT(no_fuse), NULL, "run each GPU pass by itself, not neighbours as one sequence", OPTION_KEPT},
    {"time-passes", OPTION_FLAG, AT(time_passes), NULL, "print a table of times", OPTION_ONCE},
    {"stats", OPTION_OPTIONAL, AT(stats), "text|json|prometheus", "print what the passes counted, and the target of a device",
     OPTION_ONCE},
    {"stats-file", OPTION_VALUE, AT(stats_file), "FILE", "print that there; -: standard output; default: standard error",
     OPTION_ONCE},
    {"version", OPTION_FLAG, AT(version), NULL, "print the versions of vyre, its plugin API and its op set", OPTION_ONCE},
    {"help", OPTION_FLAG, AT(help), NULL, "print this", OPTION_ONCE},
    {"h", OPTION_FLAG, AT(help), NULL, NULL, OPTION_ONCE},
};

#define OPTION_COUNT (sizeof(options) / sizeof(options[0]))

static void *
field_of(tool_options *out, const option *o)
{
  return (char *)out + o->field;
}

/* argv is never longer than argc, so each list is made that long once. */
static vyre_status
append(name_list *list, const char *name, int argc)
{
  if (!list->names)
    list->names = malloc((size_t)argc * sizeof(*list->names));
  if (!list->names)
    return VYRE_OUT_OF_MEMORY("for the command line");
  list->names[list->count++] = name;
  return VYRE_OK;
}

static vyre_status
unknown(const char *argument, size_t dashes, size_t length)
{
  vyre_suggestion near = {.word = argument + dashes, .length = length};
  for (size_t i = 0; i < OPTION_COUNT; i++)
    if (options[i].help)
      vyre_suggest(&near, options[i].name);
  int shown = (int)(dashes + (length > 200 ? 200 : length));
  if (near.word[0] == 'O' && length <= 2) /* as of other compilers */
    return VYRE_ERROR(VYRE_CODE_USAGE, "unknown option '%.*s'\nFix: -passes='default<O%c>'", shown, argument,
                      length < 2 || near.word[1] > '1' ? '2'
                      : near.word[1] == '1'            ? '1'
                                                       : '0');
  if (near.best)
    return VYRE_ERROR(VYRE_CODE_USAGE, "unknown option '%.*s'; did you mean '-%s'?", shown, argument, near.best);
  return VYRE_ERROR(VYRE_CODE_USAGE, "unknown option '%.*s'\nFix: -help lists the options", shown, argument);
}

static const option *
find(const char *name, size_t length)
{
  for (size_t i = 0; i < OPTION_COUNT; i++)
    if (strlen(options[i].name) == length && memcmp(options[i].name, name, length) == 0)
      return &options[i];
  for (size_t i = 0; i < OPTION_COUNT; i++) /* -DNAME, -Ifolder */
    if (options[i].kind == OPTION_JOINED && length > 1 && options[i].name[0] == name[0])
      return &options[i];
  return NULL;
}

static vyre_status
store_value(tool_options *out, const option *o, const char *value, int argc)
{
  if (o->kind != OPTION_VALUE && o->kind != OPTION_OPTIONAL)
    return append(field_of(out, o), value, argc);
  const char **field = field_of(out, o);
  if (*field)
    return VYRE_ERROR(VYRE_CODE_USAGE, "option '-%s' is given twice", o->name);
  *field = value;
  return VYRE_OK;
}

/* Takes one option at argv[*at], and its value after it. */
static vyre_status
parse_option(int argc, char **argv, int *at, tool_options *out)
{
  const char *argument = argv[*at];
  size_t dashes = argument[1] == '-' ? 2 : 1;
  const char *name = argument + dashes;
  size_t length = strcspn(name, "=");
  const option *o = find(name, length);
  if (!o)
    return unknown(argument, dashes, length);
  const char *value = name[length] == '=' ? name + length + 1 : NULL;
  if (o->kind == OPTION_FLAG) {
    if (value)
      return VYRE_ERROR(VYRE_CODE_USAGE, "option '-%s' takes no value", o->name);
    *(bool *)field_of(out, o) = true;
    return VYRE_OK;
  }
  if (o->kind == OPTION_JOINED && length > 1)
    value = name + 1;
  if (o->kind == OPTION_OPTIONAL)
    return store_value(out, o, value ? value : o->field == AT(batch) ? "0" : "text", argc);
  if (!value && *at + 1 < argc && (argv[*at + 1][0] != '-' || argv[*at + 1][1] == '\0'))
    value = argv[++*at];
  if (!value || (value[0] == '\0' && o->field != AT(passes)))
    return VYRE_ERROR(VYRE_CODE_USAGE, "option '-%s' needs a value: -%s=%s", o->name, o->name, o->value);
  return store_value(out, o, value, argc);
}

static vyre_status
count_growth(tool_options *o)
{
  o->growth = VYRE_MODULE_GROWTH;
  if (!o->max_growth)
    return VYRE_OK;
  char *end;
  const unsigned long times = strtoul(o->max_growth, &end, 10);
  if (o->max_growth[0] < '0' || o->max_growth[0] > '9' || *end || times < 1 || times > MOST_GROWTH)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-max-growth is a number from 1 to %u, not '%s'", MOST_GROWTH, o->max_growth);
  o->growth = (uint32_t)times;
  return VYRE_OK;
}

/* NULL: one. */
static vyre_status
read_threads(const char *name, const char *text, uint32_t *out)
{
  char *end;
  *out = 1;
  if (!text)
    return VYRE_OK;
  unsigned long count = strtoul(text, &end, 10);
  if (text[0] < '0' || text[0] > '9' || *end || count > MOST_THREADS)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-%s is a number of threads from 0 to %u, not '%s'", name, MOST_THREADS, text);
  const long processors = count ? 0 : sysconf(_SC_NPROCESSORS_ONLN);
  *out = count ? (uint32_t)count : processors > (long)MOST_THREADS ? MOST_THREADS : processors > 1 ? (uint32_t)processors : 1;
  return VYRE_OK;
}

/* 0: as many as their files' sizes allow. */
static vyre_status
count_batch(tool_options *o)
{
  const char *text = o->batch;
  char *end;
  o->batch_most = text ? MOST_BATCH : 1;
  if (!text)
    return VYRE_OK;
  const unsigned long count = strtoul(text, &end, 10);
  if (text[0] < '0' || text[0] > '9' || *end || count > MOST_BATCH)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-batch is a number of inputs from 0 to %u, not '%s'", MOST_BATCH, text);
  o->batch_most = count ? (uint32_t)count : MOST_BATCH;
  return VYRE_OK;
}

/* The last -j counts. */
static vyre_status
count_threads(tool_options *o)
{
  VYRE_TRY(read_threads("phase-threads", o->phase_threads, &o->sweepers));
  return read_threads("j", o->jobs.count ? o->jobs.names[o->jobs.count - 1] : NULL, &o->threads);
}

/* The bounds of glslang, of which 0 is the default, of a device, and what PTX is for. */
static vyre_status
count_bounds(tool_options *o)
{
  const struct {
    const char *name, *text;
    uint32_t least, *out;
  } bounds[] = {{"glsl-memory", o->glsl_memory, 1, &o->most_memory},
                {"glsl-seconds", o->glsl_seconds, 1, &o->most_seconds},
                {"glsl-expansion", o->glsl_expansion, 1, &o->most_expansion},
                {"ptx-sm", o->ptx_sm, VYRE_PTX_SM_LEAST, &o->sm},
                {"timeout", o->timeout, 0, &o->seconds},
                {"pass-timeout", o->pass_timeout, 1, &o->pass_seconds}};
  o->seconds = 120;
  for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
    const char *text = bounds[i].text;
    char *end;
    if (!text)
      continue;
    const unsigned long count = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || count < bounds[i].least || count > MOST_BOUND)
      return VYRE_ERROR(VYRE_CODE_USAGE, "-%s is a number from %u to %u, not '%s'", bounds[i].name, bounds[i].least, MOST_BOUND,
                        text);
    *bounds[i].out = (uint32_t)count;
  }
  return VYRE_OK;
}

static vyre_status
check(const tool_options *o)
{
  if (o->emit && strcmp(o->emit, "vir") != 0 && strcmp(o->emit, "vir0") != 0 && strcmp(o->emit, "spirv") != 0 &&
      strcmp(o->emit, "glsl") != 0 && strcmp(o->emit, "c") != 0 && strcmp(o->emit, "ptx") != 0)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-emit is vir, vir0, spirv, glsl, c or ptx, not '%s'", o->emit);
  if (o->print_schedule && strcmp(o->print_schedule, "text") != 0 && strcmp(o->print_schedule, "json") != 0 &&
      strcmp(o->print_schedule, "dot") != 0)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-print-schedule is text, json or dot, not '%s'", o->print_schedule);
  if (o->stats_file && !o->stats)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-stats-file says where statistics go, and there are none\nFix: add -stats");
  if (o->isolate && o->batch)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-%s takes inputs apart, and -batch puts them together\nFix: give one of them",
                      o->bisect         ? "bisect"
                      : o->reproducer   ? "reproducer"
                      : o->pass_timeout ? "pass-timeout"
                                        : "isolate");
  if (o->bisect && (o->opt_bisect || o->inputs.count != 1))
    return VYRE_ERROR(VYRE_CODE_USAGE, "-bisect chooses the runs of one input\nFix: give it one input, and no -opt-bisect");
  if (o->passes && o->passes_file)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-passes and -passes-file both give the pipeline");
  if (o->output && o->outdir)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-o and -outdir both say where to write");
  if (o->inputs.count > 1 && !o->outdir)
    return VYRE_ERROR(VYRE_CODE_USAGE, "%u inputs, and one output\nFix: -outdir=DIR takes an output for each", o->inputs.count);
  return VYRE_OK;
}

vyre_status
options_parse(int argc, char **argv, tool_options *out)
{
  *out = (tool_options){0};
  bool only_inputs = false;
  for (int at = 1; at < argc; at++) {
    const char *argument = argv[at];
    if (!only_inputs && strcmp(argument, "--") == 0)
      only_inputs = true;
    else if (only_inputs || argument[0] != '-' || argument[1] == '\0')
      VYRE_TRY(append(&out->inputs, argument, argc));
    else
      VYRE_TRY(parse_option(argc, argv, &at, out));
  }
  VYRE_TRY(count_threads(out));
  VYRE_TRY(count_batch(out));
  if (out->target_env)
    VYRE_TRY(vyre_glsl_env_parse(out->target_env, &out->env));
  if (out->stats)
    VYRE_TRY(vyre_stats_format_parse(out->stats, &out->stats_format));
  VYRE_TRY(count_growth(out));
  VYRE_TRY(count_bounds(out));
  out->list_runs = out->opt_bisect && strcmp(out->opt_bisect, "list") == 0;
  if (out->opt_bisect && !out->list_runs)
    VYRE_TRY(runs_parse(out->opt_bisect, &out->runs));
  out->isolate |= out->pass_timeout || out->reproducer || out->bisect;
  return check(out);
}

static vyre_status
print_kept(const option *o, const char *value, const char *before, vyre_bytes *out)
{
  char full[PATH_MAX];
  if (o->use == OPTION_KEPT_FILE && realpath(value, full))
    value = full;
  if (value[strcspn(value, "\r\n")])
    return VYRE_ERROR(VYRE_CODE_INPUT, "-%s has a line end", o->name);
  return vyre_bytes_printf(out, "%s-%s=%s\n", before, o->name, value);
}

vyre_status
options_print_kept(const tool_options *from, const char *before, vyre_bytes *out)
{
  for (size_t i = 0; i < OPTION_COUNT; i++) {
    const option *o = &options[i];
    const void *field = (const char *)from + o->field;
    if (o->use == OPTION_ONCE)
      continue;
    if (o->kind == OPTION_FLAG && *(const bool *)field)
      VYRE_TRY(vyre_bytes_printf(out, "%s-%s\n", before, o->name));
    else if (o->kind == OPTION_VALUE && *(const char *const *)field)
      VYRE_TRY(print_kept(o, *(const char *const *)field, before, out));
    else if (o->kind == OPTION_LIST)
      for (uint32_t k = 0; k < ((const name_list *)field)->count; k++)
        VYRE_TRY(print_kept(o, ((const name_list *)field)->names[k], before, out));
  }
  return VYRE_OK;
}

void
options_free(tool_options *o)
{
  name_list *const lists[] = {&o->load, &o->plugin_dir, &o->include_dirs, &o->defines, &o->jobs, &o->skip_pass, &o->inputs};
  for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
    free(lists[i]->names);
}

vyre_status
options_help(vyre_bytes *out)
{
  VYRE_TRY(vyre_bytes_printf(
      out, "usage: vyre-passmgr [options] INPUT...\n\n"
           "Runs passes over compute programs: .vir text, VIR0, SPIR-V, or GLSL, told apart by content; - is standard input.\n"
           "Options begin with one dash or two, in any order; a value follows '=' or is the next argument.\n\n"));
  for (size_t i = 0; i < OPTION_COUNT; i++) {
    const option *o = &options[i];
    if (!o->help)
      continue;
    const bool optional = o->kind == OPTION_OPTIONAL;
    const char *open = optional ? "[=" : o->value ? "=" : "", *close = optional ? "]" : "", *value = o->value ? o->value : "";
    const int used = 3 + (int)(strlen(o->name) + strlen(open) + strlen(value) + strlen(close));
    VYRE_TRY(vyre_bytes_printf(out, "  -%s%s%s%s%*s %s\n", o->name, open, value, close, used < 22 ? 22 - used : 1, "", o->help));
  }
  return vyre_bytes_printf(
      out, "\nThe pipeline, its parameters and combinators: docs/passmgr.md.  Exit codes: 0 done, 1 an input, a pass or an output\n"
           "failed, 2 command line, pipeline or plugin, 3 device, 70 a bug of vyre.  0 means that the outputs are of this run.\n");
}
