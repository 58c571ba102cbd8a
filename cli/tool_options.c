/* The command line of vyre-passmgr: its options, and what they may not be together.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "tool_options.h"

#include "base/files/paths.h"
#include "cli/inputs/patterns.h"
#include "base/files/same_file.h"
#include "spirv_opt.h"

#include <string.h>
#include <unistd.h>

#include "vyre/ir.h"
#include "vyre/ptx.h"
#include "vyre/target.h"

#define AT(field)        offsetof(tool_options, field)
#define AT_GLSL(field)   offsetof(tool_options, glsl.field)
#define AT_DEVICE(field) offsetof(tool_options, on.field)

static const option_row options[] = {
    {.name = "Pipeline", OPTION_SECTION},
    {.name = "passes",
     OPTION_TEXT,
     AT(passes),
     "TEXT",
     "the pipeline: 'canon,cf,dce'; @FILE reads it from a file; without it nothing is changed, only converted",
     OPTION_SAFE | OPTION_EMPTY | OPTION_ASIDE},
    {.name = "passes-file", OPTION_TEXT, AT(passes_file), "FILE", "the pipeline, from a file", .flags = OPTION_ASIDE},
    {.name = "O",
     OPTION_TAKEN,
     0,
     "0|1|2|3|s",
     "the pipeline default<O0>, default<O1>, or, of 2, 3 and s, default<O2>; default 2",
     OPTION_SAFE | OPTION_JOINED,
     .alone = "2",
     .take = spirv_opt_take_level},
    {.name = "cost-model",
     OPTION_TEXT,
     AT(cost_model),
     "FILE",
     "what rows cost on your GPU, which passes weigh; what it does not say is as in the model of vyre",
     OPTION_KEPT_FILE},
    {.name = "load", OPTION_LIST, AT(load), "FILE", "load a plugin: its code runs in this process", OPTION_KEPT_FILE},
    {.name = "plugin-dir", OPTION_LIST, AT(plugin_dir), "DIR", "load every plugin of a folder", OPTION_KEPT_FILE},
    {.name = "list-passes",
     OPTION_WORD,
     AT(list_passes),
     "text|json",
     "print the passes there are",
     .alone = "text",
     .flags = OPTION_ASIDE},
    {.name = "help-pass", OPTION_TEXT, AT(help_pass), "NAME", "print what a pass does and its parameters", .flags = OPTION_ASIDE},
    {.name = "print-pipeline",
     OPTION_FLAG,
     AT(print_pipeline),
     NULL,
     "print the pipeline in its canonical form, and run nothing",
     .flags = OPTION_ASIDE},
    {.name = "print-schedule",
     OPTION_WORD,
     AT(print_schedule),
     "text|json|dot",
     "print which passes run where, and what goes to the device and comes back; run nothing",
     .alone = "text",
     .flags = OPTION_ASIDE},

    {.name = "Output", OPTION_SECTION},
    {.name = "o",
     OPTION_TEXT,
     AT(output),
     "FILE",
     "write there; -, the default, is standard output; the name's end decides: .vir, .vir0, .spv, .glsl, .c, .ptx, .dot; .foz "
     "takes "
     "those of an archive",
     .flags = OPTION_ASIDE},
    {.name = "outdir",
     OPTION_TEXT,
     AT(outdir),
     "DIR",
     "write each input's output there, as .vir, .vir0, .spv, .glsl, .c, .ptx or .dot, in the folders that tell the inputs apart",
     .flags = OPTION_ASIDE},
    {.name = "emit",
     OPTION_WORD,
     AT(emit),
     "vir|vir0|spirv|glsl|c|ptx|dot",
     "what to write; dot: a graph for people; default: by the output's name, else text for text, VIR0 for VIR0, and SPIR-V for all "
     "others",
     .flags = OPTION_SAFE | OPTION_ASIDE},
    {.name = "strip", OPTION_FLAG, AT(strip), NULL, "no names and lines in SPIR-V", OPTION_SAFE | OPTION_KEPT},
    {.name = "strip-debug", OPTION_FLAG, AT(strip), NULL, NULL},
    {.name = "exact-floats",
     OPTION_FLAG,
     AT(exact_floats),
     NULL,
     "SPIR-V of strict programs asks for exact floats (denormals, signed zeros, NaNs, rounding), which a device may lack",
     OPTION_SAFE | OPTION_KEPT},
    {.name = "ptx-sm",
     OPTION_NUMBER,
     AT(ptx_sm),
     "75|80|90|100|...",
     "PTX: the architecture that it is for, sm_75 or newer; default 75",
     OPTION_SAFE | OPTION_KEPT,
     .least = VYRE_PTX_SM_LEAST,
     .most = OPTION_BOUND},

    {.name = "MD",
     OPTION_FLAG,
     AT(depends),
     NULL,
     "write OUTPUT.d, too: for make and ninja, which files the output depends on",
     .flags = OPTION_ASIDE},
    {.name = "MF", OPTION_TEXT, AT(depfile), "FILE", "write that there; implies -MD", .flags = OPTION_ASIDE},
    {.name = "MT", OPTION_TEXT, AT(dep_target), "TARGET", "name the output so in it", .flags = OPTION_ASIDE},

    {.name = "GLSL, HLSL and SPIR-V that comes in", OPTION_SECTION},
    OPTION_GLSL_ROWS(AT_GLSL),
    {.name = "g", OPTION_FLAG, AT(debug), NULL, "keep source lines"},
    {.name = "gV",
     OPTION_FLAG,
     AT(debug_info),
     NULL,
     "the same with functions, blocks, calls, types and variables, as NonSemantic.Shader.DebugInfo.100"},
    {.name = "gVS", OPTION_FLAG, AT(debug_source), NULL, "the same with the source's text"},
    {.name = "max-growth",
     OPTION_NUMBER,
     AT(max_growth),
     "N",
     "a module that inlining would make larger than 256 KiB and N times its size goes out word for word; default 8",
     OPTION_SAFE | OPTION_KEPT,
     .least = 1,
     .most = 1000000},

    {.name = "Many inputs", OPTION_SECTION},
    {.name = "j",
     OPTION_NUMBER,
     AT(jobs),
     "N",
     "work on N inputs at once; 0: one a processor; the outputs and messages are the same; the last one counts",
     OPTION_JOINED | OPTION_LAST | OPTION_ASIDE,
     .most = MOST_THREADS},
    {.name = "list-inputs",
     OPTION_FLAG,
     AT(list_inputs),
     NULL,
     "print the inputs, one a line: of patterns, lists and archives each one",
     .flags = OPTION_ASIDE},
    {.name = "isolate",
     OPTION_FLAG,
     AT(isolate),
     NULL,
     "a process for each input: what crashes there, a driver or a plugin, takes that input alone; -j at once",
     .flags = OPTION_SAFE | OPTION_ASIDE | OPTION_POSIX},
    {.name = "output-cache",
     OPTION_TEXT,
     AT(output_cache),
     "DIR",
     "take an input's output from there if nothing that it depends on has changed, and keep it there else",
     .flags = OPTION_ASIDE},
    {.name = "batch",
     OPTION_NUMBER,
     AT(batch),
     "0|N",
     "many inputs, N at most (0: as their size allows), become one module and one run of the pipeline; the outputs and messages "
     "are the same",
     .most = MOST_BATCH,
     .alone = "0",
     .flags = OPTION_ASIDE},
    {.name = "watch",
     OPTION_FLAG,
     AT(watch),
     NULL,
     "then wait until an input, or what it includes, changes, and do again what that changes, until ^C",
     .flags = OPTION_ASIDE | OPTION_POSIX},

    {.name = "To see what passes do", OPTION_SECTION},
    {.name = "verify-each",
     OPTION_FLAG,
     AT(verify_each),
     NULL,
     "after each pass verify the module, and that the pass told the truth about changes",
     OPTION_SAFE | OPTION_KEPT},
    {.name = "run-twice",
     OPTION_FLAG,
     AT(run_twice),
     NULL,
     "do each run over a copy, too, as plain C: it must leave the same, as a pass depends on the module and its parameters alone",
     OPTION_SAFE | OPTION_KEPT},
    {.name = "tv",
     OPTION_NUMBER,
     AT(tv),
     "N",
     "run the program before and after each pass that changed it, on N generated inputs (default 4), and compare: correct, "
     "incorrect (an error, with the counter-example), unproved or unsupported",
     OPTION_SAFE | OPTION_KEPT,
     .least = 1,
     .most = OPTION_BOUND,
     .alone = "4"},
    {.name = "validate-after-all", OPTION_FLAG, AT(verify_each), NULL, NULL},
    {.name = "print-before",
     OPTION_LIST,
     AT(print_before),
     "PASS|RUN",
     "print the module before runs of that pass, or before that run"},
    {.name = "print-after", OPTION_LIST, AT(print_after), "PASS|RUN", "the same after them"},
    {.name = "print-before-all", OPTION_FLAG, AT(print_before_all), NULL, "print the module before each pass (standard error)"},
    {.name = "print-after-all", OPTION_FLAG, AT(print_after_all), NULL, "print the module after each pass"},
    {.name = "print-all", OPTION_FLAG, AT(print_after_all), NULL, NULL},
    {.name = "debug-pass-manager",
     OPTION_FLAG,
     AT(debug_manager),
     NULL,
     "print each run, what is done for it (analyses made and dropped, sealing), and whether it changed the module"},
    {.name = "print-changed",
     OPTION_WORD,
     AT(print_changed),
     "text|diff|cdiff",
     "print the module at the start and after each pass that changed it; diff: the lines that it changed; cdiff: in colours",
     .alone = "text"},
    {.name = "dump-dir",
     OPTION_TEXT,
     AT(dump_dir),
     "DIR",
     "write the module there at the start and after each run that changed it: INPUT.0003-canon.vir after run 3"},
    {.name = "roundtrip-each",
     OPTION_WORD,
     AT(roundtrip),
     "all|text|vir0|clone",
     "there, too, see that its text and VIR0, read again, and a copy are the same",
     OPTION_SAFE | OPTION_KEPT,
     .alone = "all"},
    {.name = "time-passes",
     OPTION_WORD,
     AT(time_passes),
     "text|json",
     "print a table of times: wall, processor, device; of each alone, and with what was done for it",
     .alone = "text",
     .flags = OPTION_ASIDE},
    {.name = "time-report", OPTION_WORD, AT(time_passes), "text|json", NULL, .flags = OPTION_ASIDE, .alone = "text"},
    {.name = "time-trace",
     OPTION_TEXT,
     AT(time_trace),
     "FILE",
     "write when each thing was done there, for Perfetto or Chrome's trace viewer: lanes of threads and of devices",
     .flags = OPTION_ASIDE},
    {.name = "html",
     OPTION_TEXT,
     AT(html),
     "FILE",
     "write a page there that shows the pipeline run by run: what each changed, its time and rows, and what was said",
     .flags = OPTION_ASIDE},
    {.name = "device-stats",
     OPTION_TEXT,
     AT(device_stats),
     "TARGET",
     "in that page, too: what that target's driver makes of the input, of what each run left, and of the output",
     .flags = OPTION_ASIDE},
    {.name = "remarks",
     OPTION_TEXT,
     AT(remarks),
     "FILE",
     "write there what passes and vyre have to say of inputs and their lines, as JSON, an object a line",
     .flags = OPTION_ASIDE},
    OPTION_STATS_ROWS(AT(stats), AT(stats_file)),

    {.name = "To find what is wrong", OPTION_SECTION},
    {.name = "opt-bisect",
     OPTION_TEXT,
     AT(opt_bisect),
     "RUNS|list",
     "only these runs of passes: 1-3,5,8- are runs 1 to 3, 5, and from 8 on; list: a line for each run (standard error)",
     .flags = OPTION_SAFE},
    {.name = "skip-pass", OPTION_LIST, AT(skip_pass), "NAME", "leave the runs of that pass out", .flags = OPTION_SAFE},
    {.name = "bisect",
     OPTION_TEXT,
     AT(bisect),
     "COMMAND",
     "find the first run of a pass after which a command fails; {} in it is the file of the output",
     OPTION_POSIX},
    {.name = "pass-timeout",
     OPTION_NUMBER,
     AT(pass_timeout),
     "SECONDS",
     "a pass that takes longer, or loading plugins, is an error; inputs have processes of their own (-isolate)",
     OPTION_SAFE | OPTION_KEPT | OPTION_POSIX,
     .least = 1,
     .most = OPTION_BOUND},
    {.name = "reproducer",
     OPTION_TEXT,
     AT(reproducer),
     "DIR",
     "write there, of an input that fails, a file that fails alike: what the failing pass got, and options; implies -isolate",
     .flags = OPTION_ASIDE | OPTION_POSIX},
    {.name = "reduce",
     OPTION_TEXT,
     AT(reduce),
     "FILE",
     "make the program and the pipeline of the one input that fails as small as they fail alike, and write such a file; with "
     "-bisect: as "
     "the command says that the output is bad, and the program without passes, {in}, good",
     OPTION_POSIX},
    {.name = "run-reproducer",
     OPTION_TEXT,
     AT(run_reproducer),
     "FILE",
     "run such a file; options of yours are added, or replace its own; of its own those count that describe a pipeline",
     OPTION_POSIX},
    {.name = "trust-reproducer",
     OPTION_FLAG,
     AT(trust_reproducer),
     NULL,
     "all options of that file count: those that run commands, load code, and read and write files, too",
     OPTION_POSIX},

    {.name = "Where GPU passes run", OPTION_SECTION},
    {.name = "target",
     OPTION_TEXT,
     AT(target),
     "NAME",
     "run GPU passes there; the result is the same; default cpu, where most have plain C; auto: where it takes less time; vyre-run "
     "-list-devices lists targets",
     OPTION_SAFE | OPTION_KEPT},
    OPTION_DEVICE_ROWS(AT_DEVICE),
    {.name = "no-fuse",
     OPTION_FLAG,
     AT(no_fuse),
     NULL,
     "run each GPU pass by itself, not neighbours as one sequence",
     OPTION_SAFE | OPTION_KEPT},
    {.name = "phases",
     OPTION_FLAG,
     AT(phases),
     NULL,
     "run GPU passes by their phases on this machine's processors, those too that have plain C; the result is the same",
     OPTION_SAFE | OPTION_KEPT},
    {.name = "phase-threads",
     OPTION_NUMBER,
     AT(phase_threads),
     "N",
     "the same, and N threads share the rows of a phase; 0: one a processor",
     OPTION_SAFE | OPTION_KEPT,
     .most = MOST_THREADS},

    {.name = "As of other compilers; docs/passmgr.md has spirv-opt's", OPTION_SECTION},
    {.name = "fshader-stage",
     OPTION_TEXT,
     AT_GLSL(stage),
     "compute|vertex|fragment|...",
     "glslc: the stage of GLSL and HLSL; default: by the name's end (.comp, .vert), else compute"},
    {.name = "S", OPTION_TEXT, AT_GLSL(stage), "comp|vert|frag|...", "glslangValidator: the same"},
    {.name = "V", OPTION_FLAG, AT(ignored), NULL, "glslangValidator: SPIR-V for Vulkan; the default"},
    {.name = "c", OPTION_FLAG, AT(ignored), NULL, "glslc: compile only; the default"},

    {.name = "Of the program", OPTION_SECTION},
    {.name = "version",
     OPTION_FLAG,
     AT(version),
     NULL,
     "print the versions of vyre, its plugin API and its op set",
     .flags = OPTION_ASIDE},
    OPTION_HELP_ROWS(AT(help)),
};

static const option_table table = {
    .program = "vyre-passmgr",
    .usage = "[options] INPUT...",
    .about = "Runs passes over compute programs: .vir text, VIR0, SPIR-V (as assembly, too), GLSL or HLSL, or all\n"
             "that are in an archive of Fossilize's (.foz); - is standard input.\n"
             "Options begin with one dash or two, in any order; a value follows '=' or is the next argument.\n",
    .after = "The pipeline, its parameters and combinators: docs/passmgr.md.  Exit codes: 0 done, 1 an input, a pass or an output\n"
             "failed, 2 command line, pipeline or plugin, 3 device, 70 a bug of vyre.  0 means that the outputs are of this run.\n",
    .rows = options,
    .count = sizeof(options) / sizeof(options[0]),
    .inputs = AT(inputs),
    .files = AT(responses),
    .other = spirv_opt_take};

/* So many threads; without a number one. */
static uint32_t
count_threads(const option_number *number)
{
  const long processors = number->text && !number->value ? sysconf(_SC_NPROCESSORS_ONLN) : (long)number->value;
  return processors > (long)MOST_THREADS ? MOST_THREADS : processors > 1 ? (uint32_t)processors : 1;
}

vyre_status
options_no_target(const char *option, const char *name, const char *more)
{
  vyre_bytes names = {0};
  vyre_status status = VYRE_OK;
  for (const vyre_target_ops *const *at = vyre_targets; *at && !status; at++)
    status = vyre_bytes_printf(&names, "%s%s", at == vyre_targets ? "" : ", ", (*at)->name);
  if (!status)
    status = VYRE_ERROR(VYRE_CODE_USAGE, "there is no target '%.100s'\nFix: -%s is one of %s%s", name, option, names.data, more);
  vyre_bytes_free(&names);
  return status;
}

typedef struct written_file {
  const char *option, *path;
} written_file;

enum { WRITTEN_FILES = 7 };

/* The output is the first; paths are NULL where there is none. */
static void
list_written(const tool_options *o, written_file out[WRITTEN_FILES])
{
  const written_file all[WRITTEN_FILES] = {
      {"o", o->output},
      {"html", o->html},
      {"remarks", o->remarks},
      {"time-trace", o->time_trace},
      {"stats-file", o->stats_file},
      {"MF", o->depfile},
      {"reduce", o->reduce},
  };
  memcpy(out, all, sizeof all);
}

static vyre_status
writes_input(const char *option, const char *path)
{
  return VYRE_ERROR(VYRE_CODE_USAGE, "-%s writes '%s', which is an input\nFix: give it another file", option, path);
}

vyre_status
options_check_report(const tool_options *o, const char *path, const char *of)
{
  written_file all[WRITTEN_FILES];
  list_written(o, all);
  for (size_t i = 1; i < WRITTEN_FILES; i++)
    if (all[i].path && strcmp(all[i].path, "-") != 0 && same_written(all[i].path, path))
      return VYRE_ERROR(VYRE_CODE_USAGE, "-%s writes '%s', which is the output of '%s'\nFix: give it another file", all[i].option,
                        all[i].path, of);
  return VYRE_OK;
}

/* One would replace the other, or the input, and nobody would know.  -o may be its own input, which has been read by then. */
static vyre_status
check_written(const tool_options *o)
{
  written_file written[WRITTEN_FILES];
  list_written(o, written);
  for (size_t i = 0; i < WRITTEN_FILES; i++) {
    const char *path = written[i].path;
    if (!path || strcmp(path, "-") == 0)
      continue;
    for (size_t k = 0; k < i; k++)
      if (written[k].path && same_file(path, written[k].path))
        return VYRE_ERROR(VYRE_CODE_USAGE, "-%s and -%s both write '%s'\nFix: give each a file of its own", written[k].option,
                          written[i].option, path);
    for (uint32_t k = 0; i > 0 && k < o->inputs.count; k++)
      if (same_file(path, o->inputs.names[k]))
        return writes_input(written[i].option, path);
    for (uint32_t k = 0; i > 0 && k < o->archives.count; k++)
      if (same_file(path, archives_path_at(&o->archives, k)))
        return writes_input(written[i].option, path);
  }
  return VYRE_OK;
}

/* -o FILE.foz: the archive that all inputs are of, with what they became. */
static vyre_status
check_archive(const tool_options *o)
{
  const char *of = o->inputs.count ? archives_path(&o->archives, o->inputs.names[0]) : NULL;
  if (!of && o->inputs.count == 1 && archives_is_name(o->inputs.names[0])) /* reading it tells why it is none */
    return VYRE_OK;
  for (uint32_t i = 0; i < o->inputs.count; i++)
    if (!of || archives_path(&o->archives, o->inputs.names[i]) != of)
      return VYRE_ERROR(VYRE_CODE_USAGE,
                        "'%s' is an archive, and input '%s' is not of the one that it is made from\nFix: name one archive, "
                        "or give another output",
                        o->output, o->inputs.names[i]);
  if (of && same_file(of, o->output))
    return writes_input("o", o->output);
  if (o->emit && strcmp(o->emit, "spirv") != 0)
    return VYRE_ERROR(VYRE_CODE_USAGE, "an archive has SPIR-V, and -emit asks for %s\nFix: -outdir=DIR takes a file for each",
                      o->emit);
  return VYRE_OK;
}

static vyre_status
check(const tool_options *o)
{
  if (o->stats_file && !o->stats)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-stats-file says where statistics go, and there are none\nFix: add -stats");
  if (o->device_stats && !o->html)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-device-stats is of the page of -html, and there is none\n"
                                       "Fix: add -html=FILE; vyre-run -device-stats prints figures of files");
  if (o->device_stats && !vyre_target_find(o->device_stats))
    return options_no_target("device-stats", o->device_stats, "");
  if (o->device_stats && !o->passes && !o->passes_file && o->others.size == 0)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-device-stats shows what passes do to figures, and there are none\n"
                                       "Fix: add -passes=, or -O; vyre-run -device-stats prints figures of files");
  const uint32_t inputs = o->inputs.count + (o->run_reproducer ? 1 : 0);
  if ((o->bisect || o->reduce) && (o->opt_bisect || inputs != 1))
    return VYRE_ERROR(VYRE_CODE_USAGE, "-%s chooses the runs of one input\nFix: give it one input, and no -opt-bisect",
                      o->reduce ? "reduce" : "bisect");
  if (!!o->passes + !!o->passes_file + (o->others.size > 0) > 1)
    return VYRE_ERROR(VYRE_CODE_USAGE, "%s and %s both give the pipeline\nFix: give one of them",
                      o->passes ? "-passes" : "-passes-file", o->others.size ? "-O and the like" : "-passes-file");
  if (o->depends && !o->depfile && !o->outdir && (!o->output || strcmp(o->output, "-") == 0))
    return VYRE_ERROR(VYRE_CODE_USAGE, "-MD writes beside the output, and that is standard output\nFix: -MF=FILE says where");
  if ((o->depfile || o->dep_target) && o->outdir)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-%s is of one output, and -outdir has many\nFix: -MD alone writes OUTPUT.d of each",
                      o->depfile ? "MF" : "MT");
  if (o->output && o->outdir)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-o and -outdir both say where to write");
  if (o->output && archives_is_name(o->output))
    VYRE_TRY(check_archive(o));
  else if (o->inputs.count > 1 && !o->outdir && !o->list_inputs)
    return VYRE_ERROR(VYRE_CODE_USAGE, "%u inputs, and one output\nFix: -outdir=DIR takes an output for each", o->inputs.count);
  return check_written(o);
}

/* After what implies -isolate. */
static vyre_status
check_isolation(const tool_options *o)
{
  if (o->isolate && o->batch.text)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-%s takes inputs apart, and -batch puts them together\nFix: give one of them",
                      o->reduce              ? "reduce"
                      : o->bisect            ? "bisect"
                      : o->reproducer        ? "reproducer"
                      : o->pass_timeout.text ? "pass-timeout"
                                             : "isolate");
  return VYRE_OK;
}

vyre_status
options_parse(int argc, char **argv, tool_options *out)
{
  *out = (tool_options){.on = {.timeout = {.value = OPTION_TIMEOUT}}, .max_growth = {.value = VYRE_MODULE_GROWTH}};
  VYRE_TRY(option_table_parse(&table, argc, argv, out));
  for (uint32_t i = 0; i < out->inputs.count; i++)
    path_take((char *)(uintptr_t)out->inputs.names[i]); /* of argv, or of a file of arguments */
  VYRE_TRY(patterns_expand(&out->inputs, &out->responses));
  VYRE_TRY(archives_expand(&out->inputs, &out->responses, &out->archives));
  out->threads = count_threads(&out->jobs);
  out->sweepers = count_threads(&out->phase_threads);
  out->batch_most = !out->batch.text || out->remarks || out->html ? 1 : out->batch.value ? (uint32_t)out->batch.value : MOST_BATCH;
  VYRE_TRY(option_glsl_take(&out->glsl, &out->compile));
  out->compile.debug_source = out->debug_source;
  out->compile.debug_info = out->debug_info || out->debug_source;
  out->compile.debug = out->debug || out->compile.debug_info;
  if (out->stats)
    VYRE_TRY(vyre_stats_format_parse(out->stats, &out->stats_format));
  out->list_runs = out->opt_bisect && strcmp(out->opt_bisect, "list") == 0;
  if (out->opt_bisect && !out->list_runs)
    VYRE_TRY(runs_parse(out->opt_bisect, &out->runs));
  out->depends |= out->depfile || out->dep_target;
  VYRE_TRY(check(out));
  if (out->others.size)
    out->passes = out->others.data;
  out->isolate |= out->pass_timeout.text || out->reproducer || out->bisect || out->reduce;
  return check_isolation(out);
}

vyre_status
options_print_kept(const tool_options *from, const char *before, vyre_bytes *out)
{
  return option_table_print_kept(&table, from, before, out);
}

bool
options_is_safe(const char *argument)
{
  return option_table_is_safe(&table, argument);
}

vyre_status
options_print_shaping(const tool_options *from, vyre_bytes *out)
{
  return option_table_print_shaping(&table, from, out);
}

void
options_free(tool_options *o)
{
  archives_close(&o->archives);
  option_table_free(&table, o);
  vyre_bytes_free(&o->others);
}

vyre_status
options_help(const tool_options *o, vyre_bytes *out)
{
  return option_table_help(&table, o->help, VYRE_VERSION, out);
}
