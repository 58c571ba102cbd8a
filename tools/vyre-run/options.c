/* The command line.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include "suggest.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help_text[] =
    "usage: vyre-run FILE [options]\n"
    "\n"
    "Runs one compute program (.vir, SPIR-V or GLSL, told apart by content; '-' is standard input) and shows the buffers it "
    "wrote.\n"
    "\n"
    "  -target=NAME             where: the interpreter (default), or a target; the names are below\n"
    "  -entry NAME              which program, where the file has several\n"
    "  -groups X[,Y[,Z]]        workgroups; default: enough for the longest runtime array\n"
    "  -buffer NAME=CONTENTS    NAME: a name, a block's name, SET.BINDING, or push\n"
    "                           CONTENTS: random:SEED, bits:SEED, zero, iota, values:V,V,..., or a file; default random:1\n"
    "  -size NAME=COUNT         elements of its runtime array (default 1024); COUNTb: bytes of the buffer; WxH...: of an image\n"
    "  -bind NAME=OTHER|none    the memory of another buffer, so that both are one; or no memory at all (interpreter)\n"
    "  -spec NAME|ID=VALUE      a specialization constant\n"
    "  -print NAME              all elements of a buffer or image\n"
    "  -write NAME=FILE         a buffer's bytes afterwards\n"
    "  -compare FILE            runs FILE on the same buffers; exit code 1 if a written element differs\n"
    "  -compare-target=NAME     where FILE runs; default: as -target\n"
    "  -tolerance=N             floats may differ by N, or by N units in the last place (Nulps); default: bit for bit\n"
    "  -device NAME|INDEX|KIND  a device of the target (KIND: discrete, integrated, virtual, cpu); -list-devices shows those of\n"
    "                           it, or of all\n"
    "  -library FILE            the target's driver library; default: the platform's\n"
    "  -cache-dir DIR|none      where the target keeps what its driver compiled; default: vyre in $XDG_CACHE_HOME or $HOME/.cache\n"
    "  -validate                with the target's own checks (Vulkan's validation layer); a message of theirs is an error\n"
    "  -isolate                 in a process of its own: if it crashes there, a driver say, that is exit code 3 and a message\n"
    "  -timeout SECONDS         after which a device that is not done counts as hanging; default 120, 0: never\n"
    "  -steps N                 row executions before an invocation counts as endless (interpreter)\n"
    "  -subgroup N              lanes of a subgroup (interpreter): a power of two, 1 to 128; default 32, or the device's where\n"
    "                           one runs too\n"
    "  -undefined=report        stop where a relaxed program is undefined (interpreter); default: strict, which gives it a value\n"
    "  -check-bounds            stop at an access out of bounds, in any program (interpreter)\n"
    "  -check-races             stop at a data race (interpreter)\n"
    "  -I DIR, -D NAME[=VALUE]  for GLSL\n"
    "  -target-env=vulkan1.N    for GLSL: what its SPIR-V is for, vulkan1.0 to vulkan1.3; default vulkan1.2\n"
    "  -include-root=DIR        GLSL: #include reads nothing outside of that folder\n"
    "  -glsl-memory=MIB, -glsl-seconds=N, -glsl-expansion=MIB  what compiling it may take (1024, 60, 16)\n"
    "  -time                    what the run took\n"
    "  -device-stats            runs nothing: what the target's driver makes of FILE (registers, instructions, spills: whatever "
    "it\n"
    "                           tells) and what that takes; with -compare of both, side by side\n"
    "  -stats[=text|json|prometheus]  what the targets counted\n"
    "  -stats-file=FILE         that goes there; -: standard output; default: standard error\n"
    "  -help, -version\n"
    "\n"
    "Where programs run:\n"
    "\n";

void
run_options_help(void)
{
  fputs(help_text, stdout);
  run_targets_print();
}

/* ---- values -------------------------------------------------------------------------------------------------------------- */

static vyre_status
bad_value(const char *option, const char *value, const char *fix)
{
  return VYRE_ERROR(VYRE_CODE_USAGE, "-%s: '%s' is not what it takes\nFix: %s", option, value, fix);
}

static bool
parse_number(const char *text, const char **out_end, uint64_t limit, uint64_t *out)
{
  if (*text < '0' || *text > '9')
    return false;
  errno = 0;
  char *end;
  unsigned long long value = strtoull(text, &end, 0);
  if (errno || value > limit)
    return false;
  *out_end = end;
  *out = value;
  return true;
}

static vyre_status
parse_target(const char *option, const char *value, run_target *out)
{
  return run_target_parse(value, out) ? VYRE_OK : bad_value(option, value, "-help lists the names");
}

static vyre_status
parse_groups(const char *value, run_options *out)
{
  static const char fix[] = "one to three numbers of workgroups, as in -groups 16,16";
  const char *at = value;
  uint32_t groups[3] = {1, 1, 1};
  for (uint32_t i = 0; i < 3; i++) {
    uint64_t number;
    if (!parse_number(at, &at, UINT32_MAX, &number) || number == 0)
      return bad_value("groups", value, fix);
    groups[i] = (uint32_t)number;
    if (*at == '\0')
      break;
    if (*at++ != ',' || i == 2)
      return bad_value("groups", value, fix);
  }
  memcpy(out->groups, groups, sizeof groups);
  out->has_groups = true;
  return VYRE_OK;
}

static vyre_status
parse_tolerance(const char *value, run_tolerance *out)
{
  static const char fix[] = "a difference (-tolerance=1e-5), or units in the last place (-tolerance=4ulps)";
  char *end;
  out->limit = strtod(value, &end);
  out->in_ulps = strcmp(end, "ulps") == 0 || strcmp(end, "ulp") == 0;
  out->is_set = true;
  if (end == value || (*end && !out->in_ulps) || !(out->limit >= 0) || isinf(out->limit))
    return bad_value("tolerance", value, fix);
  if (out->in_ulps && (out->limit != floor(out->limit) || out->limit > 0x1p32))
    return bad_value("tolerance", value, "a whole number of units in the last place");
  return VYRE_OK;
}

static vyre_status
parse_steps(const char *value, uint64_t *out)
{
  const char *end;
  if (!parse_number(value, &end, UINT64_MAX, out) || *end || *out == 0)
    return bad_value("steps", value, "a number of row executions, at least 1");
  return VYRE_OK;
}

static vyre_status
parse_subgroup(const char *value, uint32_t *out)
{
  const char *end;
  uint64_t size;
  if (!parse_number(value, &end, 128, &size) || *end || size == 0 || (size & (size - 1)) != 0)
    return bad_value("subgroup", value, "a number of lanes, a power of two, 1 to 128");
  *out = (uint32_t)size;
  return VYRE_OK;
}

static vyre_status
parse_timeout(const char *value, uint32_t *out)
{
  const char *end;
  uint64_t seconds;
  if (!parse_number(value, &end, UINT32_MAX, &seconds) || *end)
    return bad_value("timeout", value, "a number of seconds; 0: no limit");
  *out = (uint32_t)seconds;
  return VYRE_OK;
}

static vyre_status
parse_bound(const char *option, const char *value, uint32_t *out)
{
  const char *end;
  uint64_t bound;
  if (!parse_number(value, &end, 1000000, &bound) || *end || bound == 0)
    return bad_value(option, value, "a number from 1 to 1000000");
  *out = (uint32_t)bound;
  return VYRE_OK;
}

static vyre_status
add_setting(const char *option, const char *value, bool has_value, run_settings *out)
{
  const char *equals = has_value ? strchr(value, '=') : value + strlen(value);
  if (!equals || equals == value || (has_value && equals[1] == '\0'))
    return bad_value(option, value, has_value ? "NAME=VALUE" : "a buffer's name");
  run_setting *items = realloc(out->items, sizeof *items * ((size_t)out->count + 1));
  if (!items)
    return VYRE_OUT_OF_MEMORY("for the command line");
  out->items = items;
  out->items[out->count++] = (run_setting){value, (size_t)(equals - value), has_value ? equals + 1 : NULL};
  return VYRE_OK;
}

static vyre_status
add_text(const char *value, const char ***list, uint32_t *count)
{
  const char **grown = realloc(*list, sizeof *grown * ((size_t)*count + 1));
  if (!grown)
    return VYRE_OUT_OF_MEMORY("for the command line");
  *list = grown;
  grown[(*count)++] = value;
  return VYRE_OK;
}

/* ---- options ------------------------------------------------------------------------------------------------------------- */

typedef enum option_id {
  OPTION_TARGET,
  OPTION_COMPARE_TARGET,
  OPTION_COMPARE,
  OPTION_ENTRY,
  OPTION_GROUPS,
  OPTION_BUFFER,
  OPTION_SIZE,
  OPTION_BIND,
  OPTION_SPEC,
  OPTION_PRINT,
  OPTION_WRITE,
  OPTION_TOLERANCE,
  OPTION_DEVICE,
  OPTION_LIBRARY,
  OPTION_CACHE_DIR,
  OPTION_STEPS,
  OPTION_SUBGROUP,
  OPTION_TIMEOUT,
  OPTION_TARGET_ENV,
  OPTION_UNDEFINED,
  OPTION_INCLUDE,
  OPTION_DEFINE,
  OPTION_INCLUDE_ROOT,
  OPTION_GLSL_MEMORY,
  OPTION_GLSL_SECONDS,
  OPTION_GLSL_EXPANSION,
  OPTION_STATS_FILE,
  OPTION_STATS,  /* a value only after '=' */
  OPTION__FLAGS, /* from here on without a value */
  OPTION_LIST_DEVICES,
  OPTION_VALIDATE,
  OPTION_ISOLATE,
  OPTION_CHECK_BOUNDS,
  OPTION_CHECK_RACES,
  OPTION_TIME,
  OPTION_DEVICE_STATS,
  OPTION_HELP,
  OPTION_VERSION,
} option_id;

typedef struct option_name {
  const char *name;
  option_id id;
} option_name;

static const option_name option_names[] = {
    {"target", OPTION_TARGET},
    {"compare-target", OPTION_COMPARE_TARGET},
    {"compare", OPTION_COMPARE},
    {"entry", OPTION_ENTRY},
    {"groups", OPTION_GROUPS},
    {"buffer", OPTION_BUFFER},
    {"size", OPTION_SIZE},
    {"bind", OPTION_BIND},
    {"spec", OPTION_SPEC},
    {"print", OPTION_PRINT},
    {"write", OPTION_WRITE},
    {"tolerance", OPTION_TOLERANCE},
    {"device", OPTION_DEVICE},
    {"library", OPTION_LIBRARY},
    {"cache-dir", OPTION_CACHE_DIR},
    {"steps", OPTION_STEPS},
    {"subgroup", OPTION_SUBGROUP},
    {"timeout", OPTION_TIMEOUT},
    {"target-env", OPTION_TARGET_ENV},
    {"I", OPTION_INCLUDE},
    {"D", OPTION_DEFINE},
    {"include-root", OPTION_INCLUDE_ROOT},
    {"glsl-memory", OPTION_GLSL_MEMORY},
    {"glsl-seconds", OPTION_GLSL_SECONDS},
    {"glsl-expansion", OPTION_GLSL_EXPANSION},
    {"stats", OPTION_STATS},
    {"stats-file", OPTION_STATS_FILE},
    {"list-devices", OPTION_LIST_DEVICES},
    {"validate", OPTION_VALIDATE},
    {"isolate", OPTION_ISOLATE},
    {"undefined", OPTION_UNDEFINED},
    {"check-bounds", OPTION_CHECK_BOUNDS},
    {"check-races", OPTION_CHECK_RACES},
    {"time", OPTION_TIME},
    {"device-stats", OPTION_DEVICE_STATS},
    {"help", OPTION_HELP},
    {"h", OPTION_HELP},
    {"version", OPTION_VERSION},
};

static vyre_status
set_value(option_id id, const char *value, run_options *out, bool *has_compare_target)
{
  switch (id) {
  case OPTION_TARGET:
    return parse_target("target", value, &out->target);
  case OPTION_COMPARE_TARGET:
    *has_compare_target = true;
    return parse_target("compare-target", value, &out->compare_target);
  case OPTION_STATS:
    out->stats = true;
    return vyre_stats_format_parse(value, &out->stats_format);
  case OPTION_STATS_FILE:
    out->stats_file = value;
    return VYRE_OK;
  case OPTION_COMPARE:
    out->compare = value;
    return VYRE_OK;
  case OPTION_ENTRY:
    out->entry = value;
    return VYRE_OK;
  case OPTION_GROUPS:
    return parse_groups(value, out);
  case OPTION_BUFFER:
    return add_setting("buffer", value, true, &out->buffers);
  case OPTION_SIZE:
    return add_setting("size", value, true, &out->sizes);
  case OPTION_BIND:
    return add_setting("bind", value, true, &out->binds);
  case OPTION_SPEC:
    return add_setting("spec", value, true, &out->specs);
  case OPTION_PRINT:
    return add_setting("print", value, false, &out->prints);
  case OPTION_WRITE:
    return add_setting("write", value, true, &out->writes);
  case OPTION_TOLERANCE:
    return parse_tolerance(value, &out->tolerance);
  case OPTION_DEVICE:
    out->device = value;
    return VYRE_OK;
  case OPTION_LIBRARY:
    out->library = value;
    return VYRE_OK;
  case OPTION_CACHE_DIR:
    out->cache_dir = value;
    return VYRE_OK;
  case OPTION_STEPS:
    return parse_steps(value, &out->steps);
  case OPTION_SUBGROUP:
    return parse_subgroup(value, &out->subgroup);
  case OPTION_TARGET_ENV:
    return vyre_glsl_env_parse(value, &out->target_env);
  case OPTION_TIMEOUT:
    return parse_timeout(value, &out->timeout);
  case OPTION_UNDEFINED:
    out->report_undefined = strcmp(value, "report") == 0;
    return out->report_undefined || strcmp(value, "strict") == 0 ? VYRE_OK : bad_value("undefined", value, "strict or report");
  case OPTION_INCLUDE:
    return add_text(value, &out->include_dirs, &out->include_dir_count);
  case OPTION_INCLUDE_ROOT:
    out->include_root = value;
    return VYRE_OK;
  case OPTION_GLSL_MEMORY:
    return parse_bound("glsl-memory", value, &out->glsl_memory);
  case OPTION_GLSL_SECONDS:
    return parse_bound("glsl-seconds", value, &out->glsl_seconds);
  case OPTION_GLSL_EXPANSION:
    return parse_bound("glsl-expansion", value, &out->glsl_expansion);
  case OPTION_DEFINE:
    return add_text(value, &out->defines, &out->define_count);
  default:
    return VYRE_OK;
  }
}

static void
set_flag(option_id id, run_options *out)
{
  out->list_devices |= id == OPTION_LIST_DEVICES;
  out->validate |= id == OPTION_VALIDATE;
  out->isolate |= id == OPTION_ISOLATE;
  out->check_bounds |= id == OPTION_CHECK_BOUNDS;
  out->check_races |= id == OPTION_CHECK_RACES;
  out->time |= id == OPTION_TIME;
  out->device_stats |= id == OPTION_DEVICE_STATS;
  out->help |= id == OPTION_HELP;
  out->version |= id == OPTION_VERSION;
}

static const option_name *
find_option(const char *name, size_t length)
{
  for (size_t i = 0; i < sizeof option_names / sizeof option_names[0]; i++) {
    if (strlen(option_names[i].name) == length && memcmp(option_names[i].name, name, length) == 0)
      return &option_names[i];
  }
  return NULL;
}

static vyre_status
no_such_option(const char *argument, const char *name, size_t length)
{
  vyre_suggestion near = {.word = name, .length = length};
  for (size_t i = 0; i < sizeof option_names / sizeof option_names[0]; i++)
    vyre_suggest(&near, option_names[i].name);
  return VYRE_ERROR(VYRE_CODE_USAGE, "no option '%s'%s%s%s\nFix: -help lists them", argument, near.best ? "; did you mean '-" : "",
                    near.best ? near.best : "", near.best ? "'?" : "");
}

/* One option at argv[*at], and its value after it if it is not joined: "-groups=4", "-groups 4", "-Idir", "-I dir". */
static vyre_status
parse_option(int argc, char **argv, int *at, run_options *out, bool *has_compare_target)
{
  const char *text = argv[*at] + 1;
  if (*text == '-')
    text++;
  size_t length = strcspn(text, "=");
  const option_name *found = find_option(text, length);
  const char *value = found && text[length] == '=' ? text + length + 1 : NULL;
  if (!found && (*text == 'I' || *text == 'D')) { /* joined, as compilers take them */
    found = find_option(text, 1);
    value = text + 1;
  }
  if (!found)
    return no_such_option(argv[*at], text, length);
  if (found->id > OPTION__FLAGS) {
    if (value)
      return VYRE_ERROR(VYRE_CODE_USAGE, "-%s takes no value, and is given '%s'\nFix: -%s alone", found->name, value, found->name);
    set_flag(found->id, out);
    return VYRE_OK;
  }
  if (!value && found->id == OPTION_STATS)
    value = "text";
  if (!value && *at + 1 < argc)
    value = argv[++*at];
  if (!value || !*value)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-%s needs a value\nFix: -help shows which", found->name);
  return set_value(found->id, value, out, has_compare_target);
}

static vyre_status
check_options(const run_options *options)
{
  if (options->help || options->version || options->list_devices)
    return VYRE_OK;
  if (!options->input)
    return VYRE_ERROR(VYRE_CODE_USAGE, "no input\nFix: name a .vir, .spv or .comp file; -help shows more");
  const bool on_target = options->target || (options->compare && options->compare_target);
  const bool on_interpreter = !options->target || (options->compare && !options->compare_target);
  const char *interpreter_only = options->steps              ? "steps"
                                 : options->subgroup         ? "subgroup"
                                 : options->report_undefined ? "undefined"
                                 : options->check_bounds     ? "check-bounds"
                                 : options->check_races      ? "check-races"
                                                             : NULL;
  if (!on_interpreter && interpreter_only)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-%s is for the interpreter, and nothing runs there\nFix: -target=interpreter",
                      interpreter_only);
  if (!on_target && (options->validate || options->device || options->library))
    return VYRE_ERROR(VYRE_CODE_USAGE, "-%s is for a target, and the interpreter is none\nFix: choose one with -target",
                      options->validate ? "validate"
                      : options->device ? "device"
                                        : "library");
  if (!on_target && options->stats)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-stats is of a target, and the interpreter is none\nFix: choose one with -target");
  if (options->stats_file && !options->stats)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-stats-file says where statistics go, and there are none\nFix: add -stats");
  if (options->device_stats && !options->target)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-device-stats is of a target, and the interpreter is none\nFix: choose one with -target");
  if (options->device_stats && options->compare && options->compare_target != options->target)
    return VYRE_ERROR(VYRE_CODE_USAGE,
                      "-device-stats compares what one driver makes of two files, and -compare-target names another\n"
                      "Fix: leave it out");
  if (!options->compare && options->tolerance.is_set)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-tolerance without -compare\nFix: name what to compare with");
  return VYRE_OK;
}

vyre_status
run_options_parse(int argc, char **argv, run_options *out)
{
  *out = (run_options){.timeout = 120};
  bool has_compare_target = false;
  for (int at = 1; at < argc; at++) {
    if (argv[at][0] == '-' && argv[at][1] != '\0') {
      VYRE_TRY(parse_option(argc, argv, &at, out, &has_compare_target));
      continue;
    }
    if (out->input)
      return VYRE_ERROR(VYRE_CODE_USAGE, "two inputs, '%s' and '%s'\nFix: one at a time; -compare runs a second one", out->input,
                        argv[at]);
    out->input = argv[at];
  }
  if (has_compare_target && !out->compare)
    out->compare = out->input; /* the same program on two targets */
  if (!has_compare_target)
    out->compare_target = out->target;
  return check_options(out);
}

void
run_options_free(run_options *options)
{
  free(options->buffers.items);
  free(options->sizes.items);
  free(options->binds.items);
  free(options->specs.items);
  free(options->prints.items);
  free(options->writes.items);
  free(options->include_dirs);
  free(options->defines);
  *options = (run_options){0};
}
