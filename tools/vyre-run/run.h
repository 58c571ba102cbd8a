/* vyre-run's own declarations: what its files share.
 *
 * A run is: options, one or two programs (loaded, reflected), the buffers they have in common with their first contents, an
 * execution of each, and then printing, writing and comparing.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_TOOLS_RUN_H
#define VYRE_TOOLS_RUN_H

#include "cli/options/option_rows.h"
#include "run_parts.h"

#include "vyre/glsl.h"
#include "vyre/io.h"
#include "vyre/passmgr.h"
#include "vyre/run.h"
#include "vyre/target.h"

/* ---- options.c ----------------------------------------------------------------------------------------------------------- */

typedef const vyre_target_ops *run_target; /* NULL: the interpreter */

enum { RUN_MOST_ROUNDS = 101 };

typedef struct run_options {
  const char *input;   /* of inputs */
  const char *compare; /* NULL: none */
  const char *profile; /* the source whose lines are shown; NULL: none */
  run_target target, compare_target;
  const char *entry;
  run_setup setup;
  run_settings writes;
  run_settings prints;                           /* value NULL */
  option_number steps, subgroup, seed, elements; /* of the setup; 0: not said */
  option_number bench;                           /* rounds; 0: none */
  const char *undefined, *stats, *cost_model, *help;
  bool isolate, time, device_stats, list_devices, version;
  bool has_compare_target;
  option_device on;
  const char *stats_file;         /* NULL: standard error */
  vyre_stats_format stats_format; /* of stats */
  vyre_cost_model *costs;         /* owned by main; of cost_model, NULL: vyre's own */
  vyre_report *report;            /* owned by main; what targets counted.  NULL: nobody asks */
  option_glsl glsl;
  vyre_glsl_options compile; /* of glsl, with lines */
  name_list inputs;
  option_texts responses;
} run_options;

/* Lists are allocated; run_options_free ends them.  USAGE for an unknown option or a wrong value. */
VYRE_MUST_USE vyre_status run_options_parse(int argc, char **argv, run_options *out);
void run_options_free(run_options *options);
VYRE_MUST_USE vyre_status run_options_help(const run_options *options);

/* ---- load.c -------------------------------------------------------------------------------------------------------------- */

VYRE_MUST_USE vyre_status run_program_load(const char *path, const run_options *options, vyre_diagnostics diagnostics,
                                           run_program *out);

/* ---- kernel.c ------------------------------------------------------------------------------------------------------------ */

/* As run_kernel_describe, with the options' lanes of a subgroup. */
VYRE_MUST_USE vyre_status run_kernel_prepare(const run_options *options, const vyre_target_ops *ops, vyre_target *target,
                                             const run_program *program, run_kernel *out);
VYRE_MUST_USE vyre_status run_kernel_compile(const vyre_target_ops *ops, vyre_target *target, const run_kernel *kernel,
                                             vyre_kernel *out);
/* Lanes of a subgroup where .vir is run; 0: the default. */
VYRE_MUST_USE vyre_status run_subgroup_size(const run_options *options, const run_program *program, uint32_t *out);

/* ---- execute.c ----------------------------------------------------------------------------------------------------------- */

/* One of a dispatch's steps. */
typedef struct run_part {
  run_program segment; /* owned; of a program that is not split empty */
  run_kernel kernel;
  vyre_range *ranges; /* owned */
} run_part;

/* What a submission is made of; uploads and reads have room for each of the program's buffers.  Handles are the target's, which
 * frees them when it is closed. */
typedef struct run_dispatch {
  const vyre_target_ops *ops;
  vyre_target *target;
  run_part *parts;  /* one; or, where the program is split at its barriers for the whole grid, one a segment */
  vyre_step *steps; /* one a part */
  uint32_t step_count;
  uint64_t kept;        /* bytes of the buffer that the segments share */
  vyre_upload *uploads; /* of the results' memory, as are reads */
  vyre_read *reads;
  vyre_device_buffer *buffers; /* of each of the program's; none of samplers and push constants */
  uint32_t upload_count, read_count;
  const void *push;
} run_dispatch;

/* To be freed after a failure, too. */
VYRE_MUST_USE vyre_status run_dispatch_make(const run_options *options, const vyre_target_ops *ops, vyre_target *target,
                                            const run_program *program, const run_inputs *inputs, run_results *results,
                                            run_dispatch *out);
void run_dispatch_free(run_dispatch *run);

VYRE_MUST_USE vyre_status run_execute(const run_options *options, run_target target, const run_program *program,
                                      const run_inputs *inputs, run_results *out);

/* ---- segments.c ---------------------------------------------------------------------------------------------------------- */

/* The parts and steps of a dispatch whose buffers are there: the program's kernel, or, where the target has no barriers for the
 * whole grid or not for so large a one, those of its segments. */
VYRE_MUST_USE vyre_status run_parts_make(const run_options *options, const run_program *program, const uint32_t groups[3],
                                         run_dispatch *run);
void run_parts_free(run_dispatch *run);

/* ---- targets.c ----------------------------------------------------------------------------------------------------------- */

/* False: there is none of that name. */
bool run_target_parse(const char *text, run_target *out);
/* "cpu"; "the interpreter". */
const char *run_target_name(run_target target);
/* All names, a line each. */
void run_targets_print(void);
VYRE_MUST_USE vyre_status run_list_devices(const run_options *options);
/* The target's device that the options name. */
VYRE_MUST_USE vyre_status run_device_open(const run_options *options, run_target target, vyre_target **out);
VYRE_MUST_USE vyre_status run_device_describe(const run_options *options, run_target target, vyre_device_info *out);

/* ---- statistics.c -------------------------------------------------------------------------------------------------------- */

/* Prints what the target's driver makes of one program, or (`second` not NULL) of two side by side. */
VYRE_MUST_USE vyre_status run_statistics(const run_options *options, const run_program *first, const run_program *second);

/* ---- bench.c ------------------------------------------------------------------------------------------------------------- */

/* Prints what a dispatch of one program takes on the target, or (`second` not NULL) of two by turns. */
VYRE_MUST_USE vyre_status run_bench(const run_options *options, const run_program *first, const run_program *second,
                                    const run_inputs *inputs);

/* ---- profile.c ----------------------------------------------------------------------------------------------------------- */

/* Prints how often each line of the source ran. */
VYRE_MUST_USE vyre_status run_profile(const run_options *options, const run_program *program, const run_inputs *inputs,
                                      const run_results *results);

/* ---- report.c ------------------------------------------------------------------------------------------------------------ */

VYRE_MUST_USE vyre_status run_report(const run_options *options, const run_inputs *inputs, const run_results *results);
/* Prints the verdict. */
VYRE_MUST_USE vyre_status run_report_comparison(const run_options *options, const run_inputs *inputs, const run_program *first,
                                                const run_results *first_results, const run_program *second,
                                                const run_results *second_results, bool *out_equal);

#endif
