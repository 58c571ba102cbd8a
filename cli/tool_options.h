/* The command line of vyre-passmgr.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CLI_OPTIONS_TOOL_OPTIONS_H
#define VYRE_CLI_OPTIONS_TOOL_OPTIONS_H

#include "cli/archives/archives.h"
#include "cli/options/option_rows.h"
#include "cli/inputs/runs.h"

#include "vyre/glsl.h"
#include "vyre/passmgr.h"
#include "vyre/status.h"

#define MOST_THREADS 256u
#define MOST_BATCH   1000000u

typedef struct tool_options {
  const char *passes, *passes_file, *help_pass, *emit, *output, *outdir, *target, *print_schedule, *stats, *stats_file, *reproducer,
      *run_reproducer, *reduce, *depfile, *list_passes, *print_changed, *dump_dir, *roundtrip, *dep_target, *opt_bisect, *bisect,
      *time_passes, *time_trace, *remarks, *html, *device_stats, *output_cache, *cost_model, *help;
  option_number jobs, phase_threads, batch, max_growth, ptx_sm, tv, pass_timeout; /* the last one in seconds; 0: none */
  name_list load, plugin_dir, skip_pass, print_before, print_after, inputs;
  option_glsl glsl;
  option_device on;
  option_texts responses;
  archives archives;              /* that inputs are in */
  vyre_bytes others;              /* passes of spirv-opt's flags, as a pipeline; owned */
  vyre_stats_format stats_format; /* of stats */
  vyre_glsl_options compile;      /* of glsl and debug */
  uint32_t threads;               /* of jobs: 1 to MOST_THREADS */
  uint32_t sweepers;              /* of phase_threads, likewise */
  uint32_t batch_most;            /* inputs that become one module: of batch; 1: they do not */
  run_choice runs;                /* of opt_bisect and skip_pass */
  bool list_runs;                 /* of opt_bisect */
  bool depends, ignored, print_all, print_pipeline, verify_each, run_twice, print_before_all, print_after_all, debug_manager,
      phases, no_fuse, isolate, trust_reproducer, denies_files, debug, debug_info, debug_source, strip, exact_floats, watch,
      list_inputs, version;
} tool_options;

/* Borrows argv. */
VYRE_MUST_USE vyre_status options_parse(int argc, char **argv, tool_options *out);
/* Appends those that say how passes run and what is written of them, "-name=value" each on a line after `before`; files that they
 * name by their whole paths.  Not the pipeline, the runs, inputs and outputs.  INPUT: one has a line end. */
VYRE_MUST_USE vyre_status options_print_kept(const tool_options *options, const char *before, vyre_bytes *out);
/* Appends those that an output may depend on. */
VYRE_MUST_USE vyre_status options_print_shaping(const tool_options *options, vyre_bytes *out);
/* Returns whether a file that is not trusted may give that argument. */
bool options_is_safe(const char *argument);
void options_free(tool_options *options);
/* USAGE: a report is to go where the output of the input `of` goes. */
VYRE_MUST_USE vyre_status options_check_report(const tool_options *options, const char *path, const char *of);
/* USAGE: -`option` names a target that there is not; `more` ends the list of those that there are. */
VYRE_MUST_USE vyre_status options_no_target(const char *option, const char *name, const char *more);
/* What -help prints. */
VYRE_MUST_USE vyre_status options_help(const tool_options *options, vyre_bytes *out);

#endif
