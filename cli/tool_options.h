/* The command line of vyre-passmgr.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_OPTIONS_TOOL_OPTIONS_H
#define VYRE_CLI_OPTIONS_TOOL_OPTIONS_H

#include "cli/archives/archives.h"
#include "cli/options/option_rows.h"
#include "cli/inputs/runs.h"

#include "vyre/cross.h"
#include "vyre/glsl.h"
#include "vyre/passmgr.h"
#include "vyre/status.h"

#define MOST_THREADS 256u
#define MOST_BATCH   1000000u

/* A variant of -variants. */
typedef struct spec_variant {
  const char *name;
  name_list values; /* "NAME=VALUE" */
} spec_variant;

typedef struct spec_variants {
  spec_variant *items; /* owned */
  uint32_t count, capacity;
} spec_variants;

typedef struct tool_options {
  const char *passes, *passes_file, *help_pass, *emit, *output, *outdir, *target, *print_schedule, *stats, *stats_file, *reproducer,
      *run_reproducer, *reduce, *depfile, *list_passes, *print_changed, *dump_dir, *roundtrip, *dep_target, *opt_bisect, *bisect,
      *time_passes, *time_trace, *remarks, *html, *device_stats, *queue, *redis_password, *cost_model, *spec_file, *variants_file,
      *glsl_version, *hlsl_model, *msl_version, *msl_platform, *words, *variable, *print_spirv, *print_name, *help;
  option_number jobs, phase_threads, batch, max_growth, ptx_sm, tv, pass_timeout, isolate_seconds, isolate_memory, queue_lease,
      redis_wait; /* times in seconds, memory in MiB; 0 without a limit */
  name_list load, plugin_dir, spec, spec_of_file, skip_pass, print_before, print_after, spirv_tools, spirv_tools_copied,
      spirv_tools_after, bind, output_cache, queue_plugins, inputs;
  option_glsl glsl;
  option_device on;
  option_texts responses;
  spec_variants variants;                               /* of variants_file; then `inputs` has each input once for each variant */
  archives archives;                                    /* of the inputs */
  vyre_bytes others;                                    /* the pipeline of -O and -floats, owned */
  const char *others_option;                            /* the first of these options, static; NULL if neither is given */
  vyre_stats_format stats_format;                       /* parsed from stats */
  vyre_glsl_options compile;                            /* from glsl and the debug options */
  vyre_cross_options cross[VYRE_CROSS_LANGUAGE__COUNT]; /* by vyre_cross_language: from the options of versions, bind and glsl; the
                                                           bindings are owned */
  uint32_t threads;                                     /* from jobs: 1 to MOST_THREADS */
  uint32_t sweepers;                                    /* from phase_threads: 1 to MOST_THREADS */
  uint32_t batch_most;                                  /* from batch: the most inputs of one module, 1 without -batch */
  run_choice runs;                                      /* the pass runs that are executed, from opt_bisect and skip_pass */
  bool list_runs;                                       /* opt_bisect is "list" */
  bool in_place, freeze_spec, is_verbose, prints_warnings, hides_warnings, forbids_warnings;
  bool depends, ignored, print_all, print_pipeline, verify_each, run_twice, print_before_all, print_after_all, debug_manager,
      phases, no_fuse, isolate, trust_reproducer, denies_files, debug, debug_info, debug_source, strip, exact_floats, watch,
      list_inputs, version, compile_only, no_output, short_messages, html_glsl, keep_vectors, fail_if_unoptimized, queue_stay;
} tool_options;

/* Parses and checks the command line.  Borrows argv.  Returns USAGE for a wrong command line.  `origins` are those of option_table,
 * or NULL. */
VYRE_MUST_USE vyre_status options_parse(int argc, char **argv, const char *const *origins, tool_options *out);
/* Appends the options of a reproducer, "-name=value", each on a line after `before`, with absolute paths.  The pipeline, runs,
 * inputs and outputs are not among them.  Returns INPUT if a value contains a line end. */
VYRE_MUST_USE vyre_status options_print_kept(const tool_options *options, const char *before, vyre_bytes *out);
/* Appends the options that an output may depend on. */
VYRE_MUST_USE vyre_status options_print_shaping(const tool_options *options, vyre_bytes *out);
/* Returns whether an untrusted file may contain the argument. */
bool options_is_safe(const char *argument);
void options_free(tool_options *options);
/* Returns whether messages of that severity are printed: errors always, notes with the message before them. */
bool options_show(const tool_options *options, vyre_severity severity);
/* Returns USAGE if options do not fit together, or if one overwrites an input. */
VYRE_MUST_USE vyre_status options_check(const tool_options *options);
/* Returns USAGE if an option writes a report to `path`, the output of the input `of`. */
VYRE_MUST_USE vyre_status options_check_report(const tool_options *options, const char *path, const char *of);
/* Returns the error that -`option` names an unknown target.  `more` is appended to the list of targets. */
VYRE_MUST_USE vyre_status options_no_target(const char *option, const char *name, const char *more);
/* Appends the help in the format that -help names. */
VYRE_MUST_USE vyre_status options_help(const tool_options *options, vyre_bytes *out);

#endif
