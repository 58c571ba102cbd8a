/* The command line of vyre-passmgr: checks of the combinations of options.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "tool_options.h"

#include "base/files/same_file.h"

#include <string.h>

#include "vyre/target.h"

vyre_status
options_no_target(const char *option, const char *name, const char *more)
{
  vyre_bytes names = {0};
  vyre_status status = VYRE_OK;
  for (const vyre_target_ops *const *at = vyre_targets; *at && !status; at++)
    status = vyre_bytes_printf(&names, "%s%s", at == vyre_targets ? "" : ", ", (*at)->name);
  if (!status)
    status = VYRE_ERROR(VYRE_CODE_USAGE, "unknown target '%.100s'\nFix: -%s is one of %s%s", name, option, names.data, more);
  vyre_bytes_free(&names);
  return status;
}

bool
options_show(const tool_options *o, vyre_severity severity)
{
  if (severity == VYRE_WARNING)
    return (o->is_verbose || o->prints_warnings || o->forbids_warnings) && !o->hides_warnings;
  return severity != VYRE_REMARK || o->is_verbose;
}

typedef struct written_file {
  const char *option, *path;
} written_file;

enum { WRITTEN_FILES = 7 };

/* Lists the files that options name for writing, the output first.  The path of an absent option is NULL. */
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
writes_input(const tool_options *o, const char *option, const char *path)
{
  return VYRE_ERROR(VYRE_CODE_USAGE, "-%s would overwrite '%s', which is an input\nFix: name another file%s", option, path,
                    strcmp(option, "o") == 0 && !o->compile_only ? ", or add -in-place" : "");
}

vyre_status
options_check_report(const tool_options *o, const char *path, const char *of)
{
  written_file all[WRITTEN_FILES];
  list_written(o, all);
  for (size_t i = 1; i < WRITTEN_FILES; i++)
    if (all[i].path && strcmp(all[i].path, "-") != 0 && same_written(all[i].path, path))
      return VYRE_ERROR(VYRE_CODE_USAGE, "-%s would overwrite '%s', which is the output of '%s'\nFix: name another file",
                        all[i].option, all[i].path, of);
  return VYRE_OK;
}

/* Refuses two options that write the same file, and options that write an input.  With -in-place, -o may name its input, because
 * the input is read before the output is written. */
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
        return VYRE_ERROR(VYRE_CODE_USAGE, "-%s and -%s both write '%s'\nFix: name two files", written[k].option, written[i].option,
                          path);
    const bool may_replace = i == 0 && o->in_place;
    for (uint32_t k = 0; !may_replace && k < o->inputs.count; k++)
      if (same_file(path, o->inputs.names[k]))
        return writes_input(o, written[i].option, path);
    for (uint32_t k = 0; i > 0 && k < o->archives.count; k++)
      if (same_file(path, archives_path_at(&o->archives, k)))
        return writes_input(o, written[i].option, path);
  }
  return VYRE_OK;
}

/* Checks -o FILE.foz: the outputs of all inputs, which must come from one archive. */
static vyre_status
check_archive(const tool_options *o)
{
  const char *of = o->inputs.count ? archives_path(&o->archives, o->inputs.names[0]) : NULL;
  if (!of && o->inputs.count == 1 && archives_is_name(o->inputs.names[0])) /* reading it reports why it cannot be opened */
    return VYRE_OK;
  for (uint32_t i = 0; i < o->inputs.count; i++)
    if (!of || archives_path(&o->archives, o->inputs.names[i]) != of)
      return VYRE_ERROR(VYRE_CODE_USAGE,
                        "the output '%s' is an archive, and input '%s' does not come from the same archive as the other inputs\n"
                        "Fix: name one archive as the only input, or another output",
                        o->output, o->inputs.names[i]);
  if (of && same_file(of, o->output) && !o->in_place)
    return writes_input(o, "o", o->output);
  if (o->emit && strcmp(o->emit, "spirv") != 0)
    return VYRE_ERROR(VYRE_CODE_USAGE, "an archive can only hold SPIR-V, not %s\nFix: write files with -outdir=DIR", o->emit);
  return VYRE_OK;
}

/* Refuses -batch together with -isolate or an option that implies it. */
static vyre_status
check_isolation(const tool_options *o)
{
  if (o->isolate && o->batch.text)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-%s processes inputs apart, but -batch combines them\nFix: give one of them",
                      o->reduce              ? "reduce"
                      : o->bisect            ? "bisect"
                      : o->reproducer        ? "reproducer"
                      : o->pass_timeout.text ? "pass-timeout"
                                             : "isolate");
  return VYRE_OK;
}

vyre_status
options_check(const tool_options *o)
{
  if (o->stats_file && !o->stats)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-stats-file needs -stats\nFix: add -stats");
  if (!o->queue && (o->queue_stay || o->queue_lease.text || o->queue_plugins.count))
    return VYRE_ERROR(VYRE_CODE_USAGE, "-queue-%s needs -queue\nFix: add -queue=redis://HOST/NAME",
                      o->queue_stay         ? "stay"
                      : o->queue_lease.text ? "lease"
                                            : "plugin");
  if (o->html_glsl && !o->html)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-html-glsl needs -html\nFix: add -html=FILE, or write the output with -emit=glsl");
  if (o->device_stats && !o->html)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-device-stats needs -html\n"
                                       "Fix: add -html=FILE, or print the figures of a file with vyre-run -device-stats");
  if (o->device_stats && !vyre_target_find(o->device_stats))
    return options_no_target("device-stats", o->device_stats, "");
  if (o->device_stats && !o->passes && !o->passes_file && o->others.size == 0)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-device-stats needs a pipeline\n"
                                       "Fix: add -passes= or -O, or print the figures of a file with vyre-run -device-stats");
  const uint32_t inputs = o->inputs.count + (o->run_reproducer ? 1 : 0);
  if ((o->bisect || o->reduce) && (o->opt_bisect || inputs != 1))
    return VYRE_ERROR(VYRE_CODE_USAGE, "-%s needs one input, and no -opt-bisect\nFix: name one input, and leave out -opt-bisect",
                      o->reduce ? "reduce" : "bisect");
  if (!!o->passes + !!o->passes_file + (o->others.size > 0) > 1)
    return VYRE_ERROR(VYRE_CODE_USAGE, "%s and %s both give the pipeline\nFix: give one of them",
                      o->passes ? "-passes" : "-passes-file", o->others_option ? o->others_option : "-passes-file");
  if (o->depends && !o->depfile && !o->outdir && !o->in_place && (!o->output || strcmp(o->output, "-") == 0))
    return VYRE_ERROR(VYRE_CODE_USAGE, "-MD writes a file beside the output, but the output is standard output\nFix: add -MF=FILE");
  if ((o->depfile || o->dep_target) && o->outdir)
    return VYRE_ERROR(VYRE_CODE_USAGE,
                      "-%s names one file, but -outdir has many outputs\nFix: use -MD alone, which writes OUTPUT.d for each",
                      o->depfile ? "MF" : "MT");
  if (o->output && o->outdir)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-o and -outdir are both given\nFix: give one of them");
  if (o->output && archives_is_name(o->output))
    VYRE_TRY(check_archive(o));
  else if (o->inputs.count > (o->variants.count ? o->variants.count : 1) && !o->outdir && !o->in_place && !o->list_inputs)
    return VYRE_ERROR(VYRE_CODE_USAGE, "%u inputs, but one output\nFix: write the outputs into a folder with -outdir=DIR",
                      o->variants.count ? o->inputs.count / o->variants.count : o->inputs.count);
  if (o->variants.count && ((!o->outdir && (!o->output || strcmp(o->output, "-") == 0 || archives_is_name(o->output))) ||
                            o->batch.text || o->bisect || o->reduce || o->depfile || o->dep_target))
    return VYRE_ERROR(VYRE_CODE_USAGE, "-variants needs -o FILE or -outdir, and no -batch, -bisect, -reduce, -MF or -MT\n"
                                       "Fix: name a file or a folder for the outputs, and leave out the other options");
  if (o->in_place && !o->output && !o->outdir)
    for (uint32_t i = 0; i < o->inputs.count; i++)
      if (strcmp(o->inputs.names[i], "-") == 0 || archives_path(&o->archives, o->inputs.names[i]))
        return VYRE_ERROR(VYRE_CODE_USAGE,
                          "-in-place cannot replace '%s', which is not a file of its own\nFix: name an output with -o",
                          o->inputs.names[i]);
  VYRE_TRY(check_written(o));
  return check_isolation(o);
}
