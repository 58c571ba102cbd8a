/* The command line of vyre-passmgr.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSMGR_OPTIONS_H
#define VYRE_PASSMGR_OPTIONS_H

#include "runs.h"

#include "vyre/glsl.h"
#include "vyre/passmgr.h"
#include "vyre/status.h"

#define MOST_THREADS 256u
#define MOST_GROWTH  1000000u
#define MOST_BOUND   1000000u
#define MOST_BATCH   1000000u

typedef struct name_list {
  const char **names; /* owned array of borrowed arguments */
  uint32_t count;
} name_list;

typedef struct tool_options {
  const char *passes, *passes_file, *help_pass, *emit, *output, *outdir, *target_env, *max_growth, *include_root, *glsl_memory,
      *glsl_seconds, *glsl_expansion, *phase_threads, *target, *device, *library, *cache_dir, *print_schedule, *batch, *timeout,
      *stats, *stats_file, *ptx_sm, *pass_timeout, *reproducer, *run_reproducer, *opt_bisect, *bisect;
  name_list load, plugin_dir, include_dirs, defines, jobs, skip_pass, inputs;
  vyre_stats_format stats_format;                     /* of stats */
  vyre_glsl_env env;                                  /* of target_env */
  uint32_t threads;                                   /* of jobs: 1 to MOST_THREADS */
  uint32_t sweepers;                                  /* of phase_threads, likewise */
  uint32_t batch_most;                                /* inputs that become one module: of batch; 1: they do not */
  uint32_t seconds;                                   /* of timeout: 0 to MOST_BOUND; without one 120 */
  uint32_t pass_seconds;                              /* of pass_timeout; 0: none */
  run_choice runs;                                    /* of opt_bisect and skip_pass */
  bool list_runs;                                     /* of opt_bisect */
  uint32_t growth;                                    /* of max_growth: 1 to MOST_GROWTH */
  uint32_t sm;                                        /* of ptx_sm: VYRE_PTX_SM_LEAST to MOST_BOUND; 0: the default */
  uint32_t most_memory, most_seconds, most_expansion; /* of GLSL: 1 to MOST_BOUND; 0: the default */
  bool list_passes, print_pipeline, verify_each, print_before_all, print_after_all, print_changed, time_passes, phases, no_fuse,
      validate, isolate, debug, strip, exact_floats, help, version;
} tool_options;

/* Reads all of argv before anything is done, so that the order of options never matters.  Borrows argv. */
VYRE_MUST_USE vyre_status options_parse(int argc, char **argv, tool_options *out);
/* Appends those that say how passes run and what is written of them, "-name=value" each on a line after `before`; files that they
 * name by their whole paths.  Not the pipeline, the runs, inputs and outputs.  INPUT: one has a line end. */
VYRE_MUST_USE vyre_status options_print_kept(const tool_options *options, const char *before, vyre_bytes *out);
void options_free(tool_options *options);
/* What -help prints. */
VYRE_MUST_USE vyre_status options_help(vyre_bytes *out);

#endif
