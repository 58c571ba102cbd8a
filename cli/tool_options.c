/* The command line of vyre-passmgr: the table of its options.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "tool_options.h"

#include "base/files/paths.h"
#include "cli/inputs/patterns.h"
#include "cli/options/levels.h"
#include "cli/inputs/specialize.h"
#include "cli/outputs/cross_options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vyre/ir.h"
#include "vyre/ptx.h"
#include "vyre/target.h"

#define AT(field)        offsetof(tool_options, field)
#define AT_GLSL(field)   offsetof(tool_options, glsl.field)
#define AT_DEVICE(field) offsetof(tool_options, on.field)

/* Appends passes to the pipeline of the options -O and -floats before `option`. */
static vyre_status
append_passes(tool_options *o, const char *option, const char *passes)
{
  if (!o->others_option)
    o->others_option = option;
  return vyre_bytes_printf(&o->others, "%s%s", o->others.size ? "," : "", passes);
}

static vyre_status
add_level(const char *value, void *fields)
{
  tool_options *o = fields;
  level given;
  VYRE_TRY(level_parse(value, &given));
  o->keep_vectors |= given.keeps_vectors;
  return append_passes(o, "-O", given.pipeline);
}

/* Appends a pass that may change the results of floats. */
static vyre_status
add_float_pass(const char *value, void *fields)
{
  static const char *const names[] = {"contract", "half", "relax"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(value, names[i]) == 0)
      return append_passes(fields, "-floats", names[i]);
  return VYRE_ERROR(VYRE_CODE_USAGE, "-floats must be contract, half or relax, not '%.100s'\nFix: use one of these words", value);
}

/* Parses -as after the first argument, where it has no effect any more. */
static vyre_status
refuse_late_as(const char *value, void *fields)
{
  (void)fields;
  return VYRE_ERROR(VYRE_CODE_USAGE, "-as=%.100s must be the first argument\nFix: vyre-passmgr -as=%.100s ...", value, value);
}

static const option_row options[] = {
    {.name = "Pipeline", OPTION_SECTION},
    {.name = "passes",
     OPTION_TEXT,
     AT(passes),
     "TEXT",
     "the pipeline, for example 'canon,cf,dce'. @FILE reads it from a file. Without a pipeline the input is only converted",
     OPTION_SAFE | OPTION_EMPTY | OPTION_ASIDE},
    {.name = "passes-file", OPTION_TEXT, AT(passes_file), "FILE", "read the pipeline from a file", .flags = OPTION_ASIDE},
    {.name = "O",
     OPTION_CUSTOM,
     0,
     LEVEL_FORMS,
     "run the pipeline default<O0> (0), default<O1> (1), default<O2> (2, s) or default<O3> (3). Default: 2",
     OPTION_SAFE | OPTION_JOINED,
     .alone = "2",
     .parse = add_level},
    {.name = "floats",
     OPTION_CUSTOM,
     0,
     "contract|half|relax",
     "also run a pass that may change the results of floats: contract products and sums to fma, compute RelaxedPrecision "
     "arithmetic "
     "in half precision, or allow that for all arithmetic. -O and -floats run in the order of the command line",
     OPTION_SAFE,
     .parse = add_float_pass},
    {.name = "cost-model",
     OPTION_TEXT,
     AT(cost_model),
     "FILE",
     "costs of instructions on your GPU, by which passes decide. Instructions that the file does not name cost as in the built-in "
     "model",
     OPTION_KEPT_FILE},
    {.name = "load",
     OPTION_LIST,
     AT(load),
     "FILE",
     "load a plugin. Its code runs in this process",
     OPTION_KEPT_FILE | OPTION_ASIDE},
    {.name = "plugin-dir", OPTION_LIST, AT(plugin_dir), "DIR", "load every plugin of a folder", OPTION_KEPT_FILE | OPTION_ASIDE},
    {.name = "list-passes", OPTION_WORD, AT(list_passes), "text|json", "list the passes", .alone = "text", .flags = OPTION_ASIDE},
    {.name = "help-pass", OPTION_TEXT, AT(help_pass), "NAME", "print what a pass does, and its parameters", .flags = OPTION_ASIDE},
    {.name = "print-pipeline",
     OPTION_FLAG,
     AT(print_pipeline),
     NULL,
     "print the pipeline in its canonical form and exit",
     .flags = OPTION_ASIDE},
    {.name = "print-schedule",
     OPTION_WORD,
     AT(print_schedule),
     "text|json|dot",
     "print where each pass runs and which data the device receives and returns, and exit",
     .alone = "text",
     .flags = OPTION_ASIDE},

    {.name = "Output", OPTION_SECTION},
    {.name = "o",
     OPTION_TEXT,
     AT(output),
     "FILE",
     "write the output to FILE. The extension chooses the format: .vir, .vir0, .spv, .glsl, .hlsl, .metal, .c, .ptx, .dot, "
     "or .foz for an archive. Default: -, standard output",
     .flags = OPTION_ASIDE},
    {.name = "outdir",
     OPTION_TEXT,
     AT(outdir),
     "DIR",
     "write the output of each input into DIR, with the extension of its format, in subfolders that keep the inputs apart",
     .flags = OPTION_ASIDE},
    {.name = "in-place",
     OPTION_FLAG,
     AT(in_place),
     NULL,
     "allow -o and -outdir to replace an input. Without both, the output of each input replaces it, in the same format",
     .flags = OPTION_ASIDE},
    {.name = "emit",
     OPTION_WORD,
     AT(emit),
     "vir|vir0|spirv|glsl|hlsl|msl|reflection|c|ptx|dot|spvasm|preprocessed|depends",
     "the output format. dot is a graph to look at, and spvasm is SPIR-V assembly. preprocessed is the text of a shader after its "
     "macros and includes. depends is a rule for make, as -MD writes it. Default: by the output's extension, otherwise the format "
     "of the input (SPIR-V for all shaders)",
     .flags = OPTION_SAFE | OPTION_ASIDE},
    {.name = "words",
     OPTION_WORD,
     AT(words),
     "bin|num|c|hex",
     "the form of SPIR-V: binary, numbers between commas, an initializer of C, or lines of eight numbers. Default: bin"},
    {.name = "variable", OPTION_TEXT, AT(variable), "NAME", "write SPIR-V as a header of C with an array of that name"},
    {.name = "print-spirv",
     OPTION_WORD,
     AT(print_spirv),
     "assembly|listing",
     "also print SPIR-V output to standard output, as assembly or as glslang lists it",
     .alone = "assembly"},
    {.name = "print-name",
     OPTION_WORD,
     AT(print_name),
     "always|with-log",
     "with -compile-only and -raw-log: print the name of the input before glslang's messages, always or if there are some",
     .alone = "always"},
    {.name = "no-output", OPTION_FLAG, AT(no_output), NULL, "write no output; only check that there would be one"},
    {.name = "strip", OPTION_FLAG, AT(strip), NULL, "write SPIR-V without names and source lines", OPTION_SAFE | OPTION_KEPT},
    {.name = "strip-debug", OPTION_FLAG, AT(strip), NULL, NULL},
    {.name = "exact-floats",
     OPTION_FLAG,
     AT(exact_floats),
     NULL,
     "make SPIR-V of strict programs request exact floats (denormals, signed zeros, NaNs, rounding), which some devices do not "
     "support",
     OPTION_SAFE | OPTION_KEPT},
    {.name = "ptx-sm",
     OPTION_NUMBER,
     AT(ptx_sm),
     "75|80|90|100|...",
     "the architecture of PTX output, sm_75 or newer. Default: 75",
     OPTION_SAFE | OPTION_KEPT,
     .least = VYRE_PTX_SM_LEAST,
     .most = OPTION_BOUND},

    {.name = "glsl-version",
     OPTION_TEXT,
     AT(glsl_version),
     "460|430gl|310es|...",
     "the version of GLSL output: for Vulkan, with gl for OpenGL, with es for OpenGL ES. Default: 460",
     OPTION_SAFE | OPTION_KEPT},
    {.name = "hlsl-model",
     OPTION_TEXT,
     AT(hlsl_model),
     "6.0|...",
     "the shader model of HLSL output. Default: 6.0",
     OPTION_SAFE | OPTION_KEPT},
    {.name = "msl-version",
     OPTION_TEXT,
     AT(msl_version),
     "2.4|...",
     "the version of MSL output. Default: 2.4",
     OPTION_SAFE | OPTION_KEPT},
    {.name = "msl-platform",
     OPTION_WORD,
     AT(msl_platform),
     "macos|ios",
     "the platform of MSL output. Default: macos",
     OPTION_SAFE | OPTION_KEPT},
    {.name = "bind",
     OPTION_LIST,
     AT(bind),
     "SET.BINDING=[SPACE.]INDEX",
     "give a resource of GLSL, HLSL or MSL output another binding, register or index, and another set or space; push=INDEX is for "
     "push constants",
     OPTION_SAFE | OPTION_KEPT},

    {.name = "MD",
     OPTION_FLAG,
     AT(depends),
     NULL,
     "also write OUTPUT.d, which lists the files that the output depends on, for make and ninja",
     .flags = OPTION_ASIDE},
    {.name = "MF", OPTION_TEXT, AT(depfile), "FILE", "write the list of dependences to FILE; implies -MD", .flags = OPTION_ASIDE},
    {.name = "MT",
     OPTION_TEXT,
     AT(dep_target),
     "TARGET",
     "the name of the output in the list of dependences",
     .flags = OPTION_ASIDE},

    {.name = "GLSL, HLSL and SPIR-V input", OPTION_SECTION},
    OPTION_GLSL_ROWS(AT_GLSL),
    {.name = "spirv-tools",
     OPTION_LIST,
     AT(spirv_tools),
     "FLAG",
     "before the passes, validate SPIR-V input with SPIRV-Tools, and apply this flag of spirv-opt: -spirv-tools=--loop-unroll",
     .flags = OPTION_POSIX},
    {.name = "spirv-tools-copied",
     OPTION_LIST,
     AT(spirv_tools_copied),
     "FLAG",
     "the same, instead of -spirv-tools-after, for SPIR-V that the passes leave as it is: graphics shaders, and modules that vyre "
     "cannot convert",
     .flags = OPTION_POSIX},
    {.name = "spirv-tools-after",
     OPTION_LIST,
     AT(spirv_tools_after),
     "FLAG",
     "the same for SPIR-V output, after the passes",
     .flags = OPTION_POSIX},
    {.name = "g", OPTION_FLAG, AT(debug), NULL, "keep source lines", OPTION_SAFE},
    {.name = "gV",
     OPTION_FLAG,
     AT(debug_info),
     NULL,
     "keep source lines, functions, blocks, calls, types and variables as NonSemantic.Shader.DebugInfo.100",
     OPTION_SAFE},
    {.name = "gVS", OPTION_FLAG, AT(debug_source), NULL, "the same as -gV, with the source text", OPTION_SAFE},
    {.name = "keep-vectors",
     OPTION_FLAG,
     AT(keep_vectors),
     NULL,
     "keep a vector that loops or branches change in one piece when SPIR-V is read: smaller output, fewer optimizations",
     OPTION_SAFE | OPTION_KEPT},
    {.name = "fail-if-unoptimized",
     OPTION_FLAG,
     AT(fail_if_unoptimized),
     NULL,
     "fail for an input that the passes cannot optimize, in whole or in part: other stages than compute, and modules that vyre "
     "cannot "
     "convert. Otherwise these are copied",
     OPTION_SAFE},
    {.name = "max-growth",
     OPTION_NUMBER,
     AT(max_growth),
     "N",
     "keep a module unchanged if inlining would make it larger than 16 MiB and N times its size. Default: 8",
     OPTION_SAFE | OPTION_KEPT,
     .least = 1,
     .most = 1000000},

    {.name = "spec",
     OPTION_LIST,
     AT(spec),
     "NAME|ID=VALUE",
     "set the default of a specialization constant, by its name or id. An input without it is an error",
     OPTION_SAFE},
    {.name = "spec-file",
     OPTION_TEXT,
     AT(spec_file),
     "FILE",
     "set defaults by a JSON object of names or ids, {\"0\": 64, \"WAVES\": true}. An input may lack constants of the file",
     OPTION_POSIX},
    {.name = "variants",
     OPTION_TEXT,
     AT(variants_file),
     "FILE",
     "write a variant of each input for each member of a JSON object, {\"small\": {\"0\": 64}, \"large\": {\"0\": 256}}. OUT.spv "
     "becomes "
     "OUT.small.spv and OUT.large.spv",
     OPTION_POSIX},
    {.name = "freeze-spec",
     OPTION_FLAG,
     AT(freeze_spec),
     NULL,
     "make specialization constants constants before the first pass",
     OPTION_SAFE},

    {.name = "Compilation of GLSL and HLSL", OPTION_SECTION},
#define VYRE_GLSL_SETTING(id, setting, form, about) OPTION_GLSL_SETTING(AT_GLSL, id, setting, form, about)
#include "vyre/glsl_settings.def"

    {.name = "Many inputs", OPTION_SECTION},
    {.name = "j",
     OPTION_NUMBER,
     AT(jobs),
     "N",
     "process N inputs at once; 0 means one for each processor. Outputs and messages do not depend on N. The last -j counts",
     OPTION_JOINED | OPTION_LAST | OPTION_ASIDE,
     .most = MOST_THREADS},
    {.name = "list-inputs",
     OPTION_FLAG,
     AT(list_inputs),
     NULL,
     "print the inputs, one on a line, with patterns, lists and archives expanded",
     .flags = OPTION_ASIDE},
    {.name = "isolate",
     OPTION_FLAG,
     AT(isolate),
     NULL,
     "process each input in a process of its own, so that a crash of a driver or plugin fails this input alone; -j processes run "
     "at once",
     .flags = OPTION_SAFE | OPTION_ASIDE | OPTION_POSIX},
    {.name = "isolate-seconds",
     OPTION_NUMBER,
     AT(isolate_seconds),
     "N",
     "fail for an input that takes longer than N seconds; implies -isolate",
     .least = 1,
     .most = OPTION_BOUND,
     .flags = OPTION_SAFE | OPTION_ASIDE | OPTION_POSIX},
    {.name = "isolate-memory",
     OPTION_NUMBER,
     AT(isolate_memory),
     "MIB",
     "the memory of the process of an input, in MiB; implies -isolate",
     .least = 64,
     .most = UINT64_C(1) << 40,
     .flags = OPTION_SAFE | OPTION_ASIDE | OPTION_POSIX},
    {.name = "output-cache",
     OPTION_LIST,
     AT(output_cache),
     "DIR|redis://HOST[:PORT]/NAME",
     "keep outputs in DIR or on a Redis server, and use an output from there if nothing that it depends on has changed. Several "
     "levels are searched in their order",
     .flags = OPTION_ASIDE},
    {.name = "batch",
     OPTION_NUMBER,
     AT(batch),
     "0|N",
     "combine inputs into one module for one run of the pipeline, N at most; 0 means as many as their sizes allow. Outputs and "
     "messages do not change",
     .most = MOST_BATCH,
     .alone = "0",
     .flags = OPTION_ASIDE},
    {.name = "watch",
     OPTION_FLAG,
     AT(watch),
     NULL,
     "process the inputs again whenever they, or files that they include, change. Ends with ^C",
     .flags = OPTION_ASIDE | OPTION_POSIX},

    {.name = "Queue of jobs on a Redis server", OPTION_SECTION},
    {.name = "queue",
     OPTION_TEXT,
     AT(queue),
     "redis://[USER@]HOST[:PORT]/NAME",
     "process the jobs that vyre-queue put into a queue, until none is left. Outputs go into the queue, too",
     .flags = OPTION_ASIDE | OPTION_POSIX},
    {.name = "queue-stay", OPTION_FLAG, AT(queue_stay), NULL, "wait for further jobs", .flags = OPTION_ASIDE | OPTION_POSIX},
    {.name = "queue-lease",
     OPTION_NUMBER,
     AT(queue_lease),
     "SECONDS",
     "the time after which other workers process the jobs of a worker that is lost. Default: 30",
     .least = 1,
     .most = OPTION_BOUND,
     .flags = OPTION_ASIDE | OPTION_POSIX},
    {.name = "queue-plugin",
     OPTION_LIST,
     AT(queue_plugins),
     "SHA256",
     "load the plugin with this checksum if a job needs it. Jobs with other plugins fail",
     .flags = OPTION_ASIDE | OPTION_POSIX},
    OPTION_REDIS_ROWS(AT(redis_password), AT(redis_wait)),

    {.name = "Observing passes", OPTION_SECTION},
    {.name = "verify-each",
     OPTION_FLAG,
     AT(verify_each),
     NULL,
     "after each pass verify the module, and that the pass reported its changes correctly",
     OPTION_SAFE | OPTION_KEPT},
    {.name = "run-twice",
     OPTION_FLAG,
     AT(run_twice),
     NULL,
     "repeat each run on a copy, as plain C, and compare: a pass may depend on nothing but the module and its parameters",
     OPTION_SAFE | OPTION_KEPT},
    {.name = "tv",
     OPTION_NUMBER,
     AT(tv),
     "N",
     "run the program before and after each pass that changed it, on N generated inputs, and compare: correct, incorrect (an "
     "error, with the counterexample), unproved or unsupported. Default: 4",
     OPTION_SAFE | OPTION_KEPT,
     .least = 1,
     .most = OPTION_BOUND,
     .alone = "4"},
    {.name = "validate-after-all", OPTION_FLAG, AT(verify_each), NULL, NULL},
    {.name = "print-before",
     OPTION_LIST,
     AT(print_before),
     "PASS|RUN",
     "print the module before each run of that pass, or before that run"},
    {.name = "print-after",
     OPTION_LIST,
     AT(print_after),
     "PASS|RUN",
     "print the module after each run of that pass, or after that run"},
    {.name = "print-before-all", OPTION_FLAG, AT(print_before_all), NULL, "print the module before each pass, to standard error"},
    {.name = "print-after-all", OPTION_FLAG, AT(print_after_all), NULL, "print the module after each pass, to standard error"},
    {.name = "print-all", OPTION_FLAG, AT(print_after_all), NULL, NULL},
    {.name = "debug-pass-manager",
     OPTION_FLAG,
     AT(debug_manager),
     NULL,
     "print each run, the analyses and seals made for it, and whether it changed the module"},
    {.name = "print-changed",
     OPTION_WORD,
     AT(print_changed),
     "text|diff|cdiff",
     "print the module at the start and after each pass that changed it. diff prints the changed lines, cdiff prints them in "
     "colours",
     .alone = "text"},
    {.name = "dump-dir",
     OPTION_TEXT,
     AT(dump_dir),
     "DIR",
     "write the module into DIR at the start and after each run that changed it, for example INPUT.0003-canon.vir after run 3"},
    {.name = "roundtrip-each",
     OPTION_WORD,
     AT(roundtrip),
     "all|text|vir0|clone",
     "after each run check that the module's text, its VIR0 and a copy of it are equal to it when they are read again",
     OPTION_SAFE | OPTION_KEPT,
     .alone = "all"},
    {.name = "time-passes",
     OPTION_WORD,
     AT(time_passes),
     "text|json",
     "print a table of wall, processor and device time of each pass, alone and with the analyses made for it",
     .alone = "text",
     .flags = OPTION_ASIDE},
    {.name = "time-report", OPTION_WORD, AT(time_passes), "text|json", NULL, .flags = OPTION_ASIDE, .alone = "text"},
    {.name = "time-trace",
     OPTION_TEXT,
     AT(time_trace),
     "FILE",
     "write the time of each step to FILE, for Perfetto or Chrome's trace viewer, with a lane for each thread and device",
     .flags = OPTION_ASIDE},
    {.name = "html",
     OPTION_TEXT,
     AT(html),
     "FILE",
     "write a page to FILE that shows the pipeline run by run: changes, time, rows and remarks",
     .flags = OPTION_ASIDE},
    {.name = "html-glsl",
     OPTION_FLAG,
     AT(html_glsl),
     NULL,
     "show in the page of -html the module as GLSL at the start, after each run that changed it, and at the end, by SPIRV-Cross",
     .flags = OPTION_ASIDE | OPTION_POSIX},
    {.name = "device-stats",
     OPTION_TEXT,
     AT(device_stats),
     "TARGET",
     "show in the page of -html the driver's figures for the input, for the result of each run, and for the output. AMD's compiler "
     "needs no card: RADV_FORCE_FAMILY names a chip family, such as navi21 or gfx1100",
     .flags = OPTION_ASIDE},
    {.name = "remarks",
     OPTION_TEXT,
     AT(remarks),
     "FILE",
     "write the remarks of passes and of the tool to FILE, with inputs and lines, as one JSON object a line",
     .flags = OPTION_ASIDE},
    OPTION_STATS_ROWS(AT(stats), AT(stats_file)),

    {.name = "Debugging", OPTION_SECTION},
    {.name = "opt-bisect",
     OPTION_TEXT,
     AT(opt_bisect),
     "RUNS|list",
     "execute only these runs of passes: 1-3,5,8- are runs 1 to 3, 5, and all from 8 on; list prints a line for each run to "
     "standard error",
     .flags = OPTION_SAFE},
    {.name = "skip-pass", OPTION_LIST, AT(skip_pass), "NAME", "skip the runs of that pass", .flags = OPTION_SAFE},
    {.name = "bisect",
     OPTION_TEXT,
     AT(bisect),
     "COMMAND",
     "find the first run of a pass after which COMMAND fails; {} in COMMAND is the file of the output",
     OPTION_POSIX},
    {.name = "pass-timeout",
     OPTION_NUMBER,
     AT(pass_timeout),
     "SECONDS",
     "fail if a pass, or loading plugins, takes longer than SECONDS; implies -isolate",
     OPTION_SAFE | OPTION_KEPT | OPTION_POSIX,
     .least = 1,
     .most = OPTION_BOUND},
    {.name = "reproducer",
     OPTION_TEXT,
     AT(reproducer),
     "DIR",
     "for each input that fails, write a file into DIR that fails the same way: the module before the failing pass, and the "
     "options. Implies -isolate",
     .flags = OPTION_ASIDE | OPTION_POSIX},
    {.name = "reduce",
     OPTION_TEXT,
     AT(reduce),
     "FILE",
     "make the one failing input and its pipeline as small as possible while they fail the same way, and write a reproducer to "
     "FILE. With -bisect the command decides, and must accept the program without passes, {in}",
     OPTION_POSIX},
    {.name = "run-reproducer",
     OPTION_TEXT,
     AT(run_reproducer),
     "FILE",
     "run a reproducer. Your options add to, or replace, the options in it. Of its own options only those count that describe a "
     "pipeline",
     OPTION_POSIX},
    {.name = "trust-reproducer",
     OPTION_FLAG,
     AT(trust_reproducer),
     NULL,
     "accept all options of the reproducer, also those that run commands, load code, and read and write files",
     OPTION_POSIX},

    {.name = "Targets of GPU passes", OPTION_SECTION},
    {.name = "target",
     OPTION_TEXT,
     AT(target),
     "NAME",
     "run GPU passes on the target NAME, with the same result; auto runs them where they take less time. Default: cpu, with plain "
     "C where a pass has it. vyre-run -list-devices lists targets",
     OPTION_SAFE | OPTION_KEPT},
    OPTION_DEVICE_ROWS(AT_DEVICE),
    {.name = "no-fuse",
     OPTION_FLAG,
     AT(no_fuse),
     NULL,
     "run each GPU pass by itself, instead of neighbouring passes as one sequence",
     OPTION_SAFE | OPTION_KEPT},
    {.name = "phases",
     OPTION_FLAG,
     AT(phases),
     NULL,
     "run GPU passes by their phases on this machine's processors, even if they have plain C. The result is the same",
     OPTION_SAFE | OPTION_KEPT},
    {.name = "phase-threads",
     OPTION_NUMBER,
     AT(phase_threads),
     "N",
     "the same as -phases, with N threads that share the rows of a phase; 0 means one for each processor",
     OPTION_SAFE | OPTION_KEPT,
     .most = MOST_THREADS},

    {.name = "Options of other compilers", OPTION_SECTION},
    {.name = "fshader-stage",
     OPTION_TEXT,
     AT_GLSL(stage),
     "compute|vertex|fragment|...",
     "glslc: the stage of GLSL and HLSL. Default: by the extension (.comp, .vert), otherwise compute",
     OPTION_SAFE},
    {.name = "S", OPTION_TEXT, AT_GLSL(stage), "comp|vert|frag|...", "glslangValidator: the same as -fshader-stage"},
    {.name = "compile-only",
     OPTION_FLAG,
     AT(compile_only),
     NULL,
     "without a pipeline, write a shader's SPIR-V as the compiler made it, without reading it into the IR"},
    {.name = "V", OPTION_FLAG, AT(ignored), NULL, "glslangValidator: accepted, because SPIR-V for Vulkan is the default"},
    {.name = "c", OPTION_FLAG, AT(ignored), NULL, "glslc: accepted, because compiling without linking is the default"},

    {.name = "Messages (without these options a run that succeeds prints nothing)", OPTION_SECTION},
    {.name = "v",
     OPTION_FLAG,
     AT(is_verbose),
     NULL,
     "print warnings, and remarks: why a module or a part of it is not optimized",
     .flags = OPTION_ASIDE},
    {.name = "Wall", OPTION_FLAG, AT(prints_warnings), NULL, "print warnings", .flags = OPTION_ASIDE},
    {.name = "w", OPTION_FLAG, AT(hides_warnings), NULL, "print no warnings", .flags = OPTION_ASIDE},
    {.name = "short-messages",
     OPTION_FLAG,
     AT(short_messages),
     NULL,
     "print messages about shaders without the line of the source, and their number at the end",
     .flags = OPTION_ASIDE},
    {.name = "Werror", OPTION_FLAG, AT(forbids_warnings), NULL, "print warnings, and fail for an input that has one"},

    {.name = "General", OPTION_SECTION},
    {.name = "as",
     OPTION_CUSTOM,
     0,
     "TOOL",
     "as the first argument: use the command line of spirv-opt, glslc or glslangValidator. -as=TOOL -help lists its flags. A link "
     "to vyre-passmgr with the "
     "tool's name does the same",
     .flags = OPTION_ASIDE,
     .parse = refuse_late_as},
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
    .about = "Optimizes GPU programs with a pipeline of passes.  Inputs are GLSL, HLSL, SPIR-V, SPIR-V assembly, .vir text, VIR0,\n"
             "or an archive of Fossilize (.foz); - is standard input.\n"
             "Options begin with one dash or two, in any order.  A value follows '=' or is the next argument.\n",
    .after = "docs/passmgr.md describes pipelines, parameters and combinators.  Exit codes: 0 success, all outputs written; 1 an\n"
             "input, a pass or an output failed; 2 command line, pipeline or plugin; 3 device; 70 a bug of vyre.\n",
    .rows = options,
    .count = sizeof(options) / sizeof(options[0]),
    .inputs = AT(inputs),
    .files = AT(responses)};

/* Repeats each input for each variant. */
static vyre_status
expand_variants(tool_options *o)
{
  name_list all = {0};
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < o->inputs.count * o->variants.count && !status; i++)
    status = name_list_append(&all, o->inputs.names[i / o->variants.count]);
  free(o->inputs.names);
  o->inputs = all;
  return status;
}

/* Returns the number of threads of an option: 1 if it is absent, one for each processor if its value is 0. */
static uint32_t
count_threads(const option_number *number)
{
  const long processors = number->text && !number->value ? sysconf(_SC_NPROCESSORS_ONLN) : (long)number->value;
  return processors > (long)MOST_THREADS ? MOST_THREADS : processors > 1 ? (uint32_t)processors : 1;
}

vyre_status
options_parse(int argc, char **argv, const char *const *origins, tool_options *out)
{
  *out = (tool_options){.on = {.timeout = {.value = OPTION_TIMEOUT}},
                        .max_growth = {.value = VYRE_MODULE_GROWTH},
                        .queue_lease = {.value = OPTION_LEASE},
                        .redis_wait = {.value = OPTION_REDIS_WAIT}};
  option_table with = table;
  with.origins = origins;
  VYRE_TRY(option_table_parse(&with, argc, argv, out));
  for (uint32_t i = 0; i < out->inputs.count; i++)
    path_normalize((char *)(uintptr_t)out->inputs.names[i]); /* of argv, or of a file of arguments */
  VYRE_TRY(patterns_expand(&out->inputs, &out->responses));
  VYRE_TRY(archives_expand(&out->inputs, &out->responses, &out->archives));
  out->threads = count_threads(&out->jobs);
  out->sweepers = count_threads(&out->phase_threads);
  out->batch_most = !out->batch.text || out->remarks || out->html ? 1 : out->batch.value ? (uint32_t)out->batch.value : MOST_BATCH;
  VYRE_TRY(specialize_check(&out->spec));
  if (out->spec_file)
    VYRE_TRY(spec_file_read(out->spec_file, &out->spec_of_file, &out->responses));
  if (out->variants_file) {
    VYRE_TRY(variants_read(out->variants_file, &out->variants, &out->responses));
    VYRE_TRY(expand_variants(out));
  }
  VYRE_TRY(option_glsl_fill(&out->glsl, &out->compile));
  out->compile.debug_source = out->debug_source;
  out->compile.debug_info = out->debug_info || out->debug_source;
  out->compile.debug = out->debug || out->compile.debug_info;
  VYRE_TRY(cross_options_fill(out));
  if (out->stats)
    VYRE_TRY(vyre_stats_format_parse(out->stats, &out->stats_format));
  out->list_runs = out->opt_bisect && strcmp(out->opt_bisect, "list") == 0;
  if (out->opt_bisect && !out->list_runs)
    VYRE_TRY(runs_parse(out->opt_bisect, &out->runs));
  out->depends |= out->depfile || out->dep_target;
  out->depends &= !out->emit || strcmp(out->emit, "depends") != 0; /* the rule is the output */
  out->isolate |= out->isolate_seconds.text || out->isolate_memory.text || out->pass_timeout.text || out->reproducer ||
                  out->bisect || out->reduce;
  VYRE_TRY(options_check(out));
  if (out->others.size)
    out->passes = out->others.data;
  return VYRE_OK;
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
  cross_options_free(o);
  option_table_free(&table, o);
  free(o->spec_of_file.names);
  variants_free(&o->variants);
  vyre_bytes_free(&o->others);
}

vyre_status
options_help(const tool_options *o, vyre_bytes *out)
{
  return option_table_help(&table, o->help, VYRE_VERSION, out);
}
