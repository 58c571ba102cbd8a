/* The command line.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include "base/grow.h"
#include "cli/options/console.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- values -------------------------------------------------------------------------------------------------------------- */

/* Returns the error for a value that the option does not accept. */
static vyre_status
report_value(const char *option, const char *value, const char *fix)
{
  return VYRE_ERROR(VYRE_CODE_USAGE, "-%s: invalid value '%s'\nFix: %s", option, value, fix);
}

static vyre_status
parse_target(const char *value, void *user)
{
  run_options *out = user;
  return run_target_parse(value, &out->target) ? VYRE_OK : report_value("target", value, "give a name from the list of -help");
}

static vyre_status
parse_compare_target(const char *value, void *user)
{
  run_options *out = user;
  out->has_compare_target = true;
  return run_target_parse(value, &out->compare_target)
             ? VYRE_OK
             : report_value("compare-target", value, "give a name from the list of -help");
}

static vyre_status
parse_groups(const char *value, void *user)
{
  static const char fix[] = "give one to three numbers of workgroups, as in -groups 16,16";
  run_options *out = user;
  const char *at = value;
  uint32_t groups[3] = {1, 1, 1};
  for (uint32_t i = 0; i < 3; i++) {
    if (*at < '0' || *at > '9')
      return report_value("groups", value, fix);
    char *end;
    errno = 0;
    const unsigned long long number = strtoull(at, &end, 10);
    if (errno || number == 0 || number > UINT32_MAX)
      return report_value("groups", value, fix);
    groups[i] = (uint32_t)number;
    if (*end == '\0')
      break;
    if (*end != ',' || i == 2)
      return report_value("groups", value, fix);
    at = end + 1;
  }
  memcpy(out->setup.groups, groups, sizeof groups);
  out->setup.has_groups = true;
  return VYRE_OK;
}

static vyre_status
parse_tolerance(const char *value, void *user)
{
  static const char fix[] = "give a difference (-tolerance=1e-5), or units in the last place (-tolerance=4ulps)";
  run_tolerance *out = &((run_options *)user)->setup.tolerance;
  char *end;
  out->limit = strtod(value, &end);
  out->in_ulps = strcmp(end, "ulps") == 0 || strcmp(end, "ulp") == 0;
  out->is_set = true;
  if (end == value || (*end && !out->in_ulps) || !(out->limit >= 0) || isinf(out->limit))
    return report_value("tolerance", value, fix);
  if (out->in_ulps && (out->limit != floor(out->limit) || out->limit > 0x1p32))
    return report_value("tolerance", value, "give a whole number of units in the last place");
  return VYRE_OK;
}

static vyre_status
add_setting(const char *option, const char *value, bool has_value, run_settings *out)
{
  const char *equals = has_value ? strchr(value, '=') : value + strlen(value);
  if (!equals || equals == value || (has_value && equals[1] == '\0'))
    return report_value(option, value, has_value ? "give NAME=VALUE" : "give the name of a buffer");
  if (!vyre_grow(NULL, &out->items, &out->capacity, out->count + 1, sizeof *out->items))
    return VYRE_OUT_OF_MEMORY("for the command line");
  out->items[out->count++] = (run_setting){value, (size_t)(equals - value), has_value ? equals + 1 : NULL};
  return VYRE_OK;
}

static vyre_status
parse_buffer(const char *value, void *user)
{
  return add_setting("buffer", value, true, &((run_options *)user)->setup.buffers);
}

static vyre_status
parse_size(const char *value, void *user)
{
  return add_setting("size", value, true, &((run_options *)user)->setup.sizes);
}

static vyre_status
parse_bind(const char *value, void *user)
{
  return add_setting("bind", value, true, &((run_options *)user)->setup.binds);
}

static vyre_status
parse_spec(const char *value, void *user)
{
  return add_setting("spec", value, true, &((run_options *)user)->setup.specs);
}

static vyre_status
parse_print(const char *value, void *user)
{
  return add_setting("print", value, false, &((run_options *)user)->prints);
}

static vyre_status
parse_write(const char *value, void *user)
{
  return add_setting("write", value, true, &((run_options *)user)->writes);
}

/* ---- options ------------------------------------------------------------------------------------------------------------- */

#define AT(field)        offsetof(run_options, field)
#define AT_GLSL(field)   offsetof(run_options, glsl.field)
#define AT_DEVICE(field) offsetof(run_options, on.field)

static const option_row rows[] = {
    {.name = "The run", OPTION_SECTION},
    {.name = "target",
     OPTION_CUSTOM,
     0,
     "NAME",
     "run the program on this target; the names are below. Default: interpreter",
     .parse = parse_target},
    {.name = "entry", OPTION_TEXT, AT(entry), "NAME", "run this program of a file with several"},
    {.name = "groups",
     OPTION_CUSTOM,
     0,
     "X[,Y[,Z]]",
     "the number of workgroups. Default: enough for the longest runtime array",
     .parse = parse_groups},
    {.name = "buffer",
     OPTION_CUSTOM,
     0,
     "NAME=CONTENTS",
     "set the initial contents of a buffer. NAME is its name, its block's name, SET.BINDING or push. CONTENTS is random:SEED, "
     "bits:SEED, zero, iota, values:V,V,... or a file. Default: random:1",
     .parse = parse_buffer},
    {.name = "seed", OPTION_NUMBER, AT(seed), "N", "fill buffers without -buffer with random:N. Default: 1", .most = UINT64_MAX},
    {.name = "elements",
     OPTION_NUMBER,
     AT(elements),
     "N",
     "the number of elements of runtime arrays without -size. Default: 1024",
     .least = 1,
     .most = 1u << 30},
    {.name = "size",
     OPTION_CUSTOM,
     0,
     "NAME=COUNT",
     "the number of elements of a runtime array, COUNTb for the bytes of a buffer, or WxH... for an image",
     .parse = parse_size},
    {.name = "bind",
     OPTION_CUSTOM,
     0,
     "NAME=OTHER|none",
     "bind the memory of another buffer, or none (interpreter only)",
     .parse = parse_bind},
    {.name = "spec", OPTION_CUSTOM, 0, "NAME|ID=VALUE", "set a specialization constant", .parse = parse_spec},

    {.name = "Results", OPTION_SECTION},
    {.name = "print", OPTION_CUSTOM, 0, "NAME", "print all elements of a buffer or image", .parse = parse_print},
    {.name = "write", OPTION_CUSTOM, 0, "NAME=FILE", "write the bytes of a buffer to FILE", .parse = parse_write},
    {.name = "compare",
     OPTION_TEXT,
     AT(compare),
     "FILE",
     "run FILE on the same buffers, too. The exit code is 1 if a written element differs"},
    {.name = "compare-target",
     OPTION_CUSTOM,
     0,
     "NAME",
     "run the compared program on this target. Default: as -target",
     .parse = parse_compare_target},
    {.name = "tolerance",
     OPTION_CUSTOM,
     0,
     "N",
     "allow floats to differ by N, or with Nulps by N units in the last place. Default: bit for bit",
     .parse = parse_tolerance},
    {.name = "profile",
     OPTION_TEXT,
     AT(profile),
     "SOURCE",
     "print how often each line of SOURCE ran. The pass acme.profile must have instrumented the program"},
    {.name = "time",
     OPTION_FLAG,
     AT(time),
     NULL,
     "print the time of the run. On the interpreter also the number of rows that ran, and their work by the cost model"},
    {.name = "bench",
     OPTION_NUMBER,
     AT(bench),
     "N",
     "then print the time of a dispatch on the target, the median of N rounds. With -compare measure both by turns. With "
     "-megakernel "
     "print the times until the first result, interpreted and compiled",
     .least = 3,
     .most = RUN_MOST_ROUNDS,
     .alone = "11"},
    {.name = "device-stats",
     OPTION_FLAG,
     AT(device_stats),
     NULL,
     "run nothing. Print the driver's statistics of FILE, such as registers, instructions and spills, and the time to compile it. "
     "With -compare print both side by side"},
    OPTION_STATS_ROWS(AT(stats), AT(stats_file)),

    {.name = "Targets", OPTION_SECTION},
    {.name = "list-devices", OPTION_FLAG, AT(list_devices), NULL, "list the devices of the target, or of all targets"},
    {.name = "measure",
     OPTION_FLAG,
     AT(measure),
     NULL,
     "with -list-devices: list the device that would run programs, and measure its bandwidth and launch time. Later lists "
     "print both figures, which -cache-dir keeps"},
    OPTION_DEVICE_ROWS(AT_DEVICE),
    {.name = "certify",
     OPTION_TEXT,
     AT(certify),
     "FILE",
     "run a suite of programs on the target and on the interpreter, and write the results, device and driver to FILE as JSON. "
     "If FILE exists, compare with it. The exit code is 1 if a result is wrong or differs"},
    {.name = "megakernel",
     OPTION_FLAG,
     AT(megakernel),
     NULL,
     "do not compile FILE: register it with a live megakernel on the target, which interprets it"},
    {.name = "items",
     OPTION_NUMBER,
     AT(items),
     "N",
     "with -megakernel: run FILE N times, one item after the other, on the same buffers. Default: 1",
     .least = 1,
     .most = 1u << 30},
    {.name = "compile-after",
     OPTION_NUMBER,
     AT(compile_after),
     "N",
     "with -megakernel: after N interpreted items compile FILE, and run the later items compiled. Default: never",
     .least = 1,
     .most = 1u << 30},
    {.name = "isolate",
     OPTION_FLAG,
     AT(isolate),
     NULL,
     "run in a process of its own, so that a crash of a driver is a message and exit code 3"},

    {.name = "The interpreter", OPTION_SECTION},
    {.name = "steps",
     OPTION_NUMBER,
     AT(steps),
     "N",
     "the number of row executions after which an invocation counts as endless",
     .least = 1,
     .most = UINT64_MAX},
    {.name = "subgroup",
     OPTION_NUMBER,
     AT(subgroup),
     "N",
     "the subgroup size, a power of two from 1 to 128. Default: 32, or that of the device if a program runs on one",
     .least = 1,
     .most = 128},
    {.name = "cost-model", OPTION_TEXT, AT(cost_model), "FILE", "read the costs of rows from FILE, for the work that -time prints"},
    {.name = "undefined",
     OPTION_WORD,
     AT(undefined),
     "strict|report",
     "with report stop at undefined behavior of a relaxed program. Default: strict, which computes a value"},
    {.name = "check-bounds", OPTION_FLAG, AT(setup.check_bounds), NULL, "stop at an access out of bounds, in any program"},
    {.name = "check-races", OPTION_FLAG, AT(setup.check_races), NULL, "stop at a data race"},

    {.name = "GLSL, HLSL and SPIR-V input", OPTION_SECTION},
    OPTION_GLSL_ROWS(AT_GLSL),

    {.name = "Help", OPTION_SECTION},
    {.name = "version", OPTION_FLAG, AT(version), NULL, "print the version"},
    OPTION_HELP_ROWS(AT(help)),
};

static const option_table table = {
    .program = "vyre-run",
    .usage = "FILE [options]",
    .about =
        "Runs one compute program and prints the buffers that it wrote. FILE is .vir, VIR0, SPIR-V, GLSL or HLSL, detected by its\n"
        "content. '-' is standard input.\n",
    .after = "",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .inputs = AT(inputs),
    .files = AT(responses)};

vyre_status
run_options_help(const run_options *o)
{
  VYRE_TRY(console_help(&table, o->help, VYRE_VERSION));
  if (strcmp(o->help, "text") == 0) {
    fputs("\nNames of targets:\n\n", stdout);
    run_targets_print();
  }
  return VYRE_OK;
}

static vyre_status
check_certify(const run_options *options)
{
  if (!options->target)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-certify applies to a target, not to the interpreter\nFix: choose one with -target");
  const char *other = options->input          ? options->input
                      : options->megakernel   ? "-megakernel"
                      : options->compare      ? "-compare"
                      : options->list_devices ? "-list-devices"
                      : options->bench.text   ? "-bench"
                                              : NULL;
  if (other)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-certify runs its own programs, compiled\nFix: leave out %s", other);
  if (strcmp(options->certify, "-") == 0)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-certify writes a file, not to standard output\nFix: name a file");
  return VYRE_OK;
}

static vyre_status
check_options(const run_options *options)
{
  if (options->measure && !options->list_devices)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-measure needs -list-devices\nFix: add -list-devices");
  if (options->help || options->version)
    return VYRE_OK;
  if (options->certify)
    return check_certify(options);
  if (options->list_devices && options->input)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-list-devices runs no program\nFix: leave out '%s'", options->input);
  if (options->list_devices)
    return VYRE_OK;
  if (!options->input)
    return VYRE_ERROR(VYRE_CODE_USAGE, "no input\nFix: name a .vir, .spv or .comp file; -help shows more");
  if (options->inputs.count > 1)
    return VYRE_ERROR(VYRE_CODE_USAGE, "two inputs, '%s' and '%s'\nFix: give one file; -compare=FILE runs a second one",
                      options->input, options->inputs.names[1]);
  if (options->subgroup.value & (options->subgroup.value - 1) && options->subgroup.text)
    return report_value("subgroup", options->subgroup.text, "give a power of two from 1 to 128");
  const bool on_target = options->target || (options->compare && options->compare_target);
  const bool on_interpreter = !options->target || (options->compare && !options->compare_target);
  if (options->megakernel && !options->target)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-megakernel applies to a target, not to the interpreter\nFix: choose one with -target");
  const char *of_items = options->items.text ? "items" : options->compile_after.text ? "compile-after" : NULL;
  if (of_items && !options->megakernel)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-%s needs -megakernel\nFix: add -megakernel", of_items);
  if (options->compile_after.text && options->bench.value)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-bench with -megakernel measures items before and after the compilation\n"
                                       "Fix: leave out -compile-after");
  const bool is_compiled = !options->megakernel; /* a megakernel has steps and subgroups of its own */
  const char *interpreter_only = is_compiled && options->steps.text      ? "steps"
                                 : is_compiled && options->subgroup.text ? "subgroup"
                                 : options->setup.report_undefined       ? "undefined"
                                 : options->setup.check_bounds           ? "check-bounds"
                                 : options->setup.check_races            ? "check-races"
                                                                         : NULL;
  if (!on_interpreter && interpreter_only)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-%s applies to the interpreter, but no program runs there\nFix: add -target=interpreter",
                      interpreter_only);
  if (on_target && options->setup.binds.count)
    return VYRE_ERROR(VYRE_CODE_USAGE,
                      "-bind: on a device each buffer has memory of its own\nFix: run the program on the interpreter, "
                      "-target=interpreter");
  if (!on_target && (options->on.validate || options->on.device || options->on.library))
    return VYRE_ERROR(VYRE_CODE_USAGE, "-%s applies to a target, but no program runs on one\nFix: choose one with -target",
                      options->on.validate ? "validate"
                      : options->on.device ? "device"
                                           : "library");
  if (!on_target && options->stats)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-stats applies to a target, but no program runs on one\nFix: choose one with -target");
  if (options->stats_file && !options->stats)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-stats-file needs -stats\nFix: add -stats");
  const char *of_one_target = options->device_stats ? "device-stats" : options->bench.value ? "bench" : NULL;
  if (of_one_target && !options->target)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-%s applies to a target, not to the interpreter\nFix: choose one with -target",
                      of_one_target);
  if (of_one_target && options->compare && options->compare_target != options->target)
    return VYRE_ERROR(VYRE_CODE_USAGE,
                      "-%s compares two files on one target, but -compare-target names another one\n"
                      "Fix: leave out -compare-target",
                      of_one_target);
  if (!options->compare && options->setup.tolerance.is_set)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-tolerance needs -compare\nFix: add -compare=FILE or -compare-target=NAME");
  return VYRE_OK;
}

vyre_status
run_options_parse(int argc, char **argv, run_options *out)
{
  *out = (run_options){.on = {.timeout = {.value = OPTION_TIMEOUT}},
                       .seed = {.value = 1},
                       .elements = {.value = RUN_ELEMENTS},
                       .items = {.value = 1}};
  VYRE_TRY(option_table_parse(&table, argc, argv, out));
  out->input = out->inputs.count ? out->inputs.names[0] : NULL;
  VYRE_TRY(option_glsl_fill(&out->glsl, &out->compile));
  out->compile.debug = true; /* names and lines for messages */
  if (out->stats)
    VYRE_TRY(vyre_stats_format_parse(out->stats, &out->stats_format));
  out->setup.steps = out->steps.value;
  out->setup.subgroup = (uint32_t)out->subgroup.value;
  out->setup.seed = out->seed.value;
  out->setup.elements = out->elements.value;
  out->setup.report_undefined = out->undefined && strcmp(out->undefined, "report") == 0;
  if (out->has_compare_target && !out->compare && !out->certify)
    out->compare = out->input; /* the same program on two targets */
  if (!out->has_compare_target)
    out->compare_target = out->target;
  return check_options(out);
}

void
run_options_free(run_options *options)
{
  run_setup_free(&options->setup);
  free(options->prints.items);
  free(options->writes.items);
  vyre_cost_model_destroy(options->costs);
  option_table_free(&table, options);
  *options = (run_options){0};
}
