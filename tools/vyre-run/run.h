/* The declarations of vyre-run.
 *
 * A run parses options, loads and reflects one or two programs, makes the initial contents of their buffers, and executes each
 * program.  Then the results are printed, written and compared.
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

typedef const vyre_target_ops *run_target; /* NULL for the interpreter */

enum { RUN_MOST_ROUNDS = 101 };

typedef struct run_options {
  const char *input;   /* the first of `inputs` */
  const char *compare; /* or NULL */
  const char *certify; /* the file of the certificate, or NULL */
  const char *profile; /* the source whose lines are printed, or NULL */
  run_target target, compare_target;
  const char *entry;
  run_setup setup;
  run_settings writes;
  run_settings prints;                           /* names without values */
  option_number steps, subgroup, seed, elements; /* options that become fields of `setup` */
  option_number bench;                           /* rounds, or 0 */
  option_number items, compile_after;            /* with `megakernel` */
  const char *undefined, *stats, *cost_model, *help;
  bool isolate, time, device_stats, list_devices, measure, version, megakernel;
  bool has_compare_target;
  option_device on;
  const char *stats_file;         /* NULL for standard error */
  vyre_stats_format stats_format; /* the value of `stats` */
  vyre_cost_model *costs;         /* owned; from the file `cost_model`, NULL for the default model */
  vyre_report *report;            /* owned by main.c; statistics of targets, NULL without -stats */
  option_glsl glsl;
  vyre_glsl_options compile; /* options of the compiler, from `glsl`, with source lines */
  name_list inputs;
  option_texts responses;
} run_options;

/* Parses and checks the command line.  Errors have the code USAGE.  Call run_options_free in any case. */
VYRE_MUST_USE vyre_status run_options_parse(int argc, char **argv, run_options *out);
void run_options_free(run_options *options);
VYRE_MUST_USE vyre_status run_options_help(const run_options *options);

/* ---- load.c -------------------------------------------------------------------------------------------------------------- */

VYRE_MUST_USE vyre_status run_program_load(const char *path, const run_options *options, vyre_diagnostics diagnostics,
                                           run_program *out);

/* ---- kernel.c ------------------------------------------------------------------------------------------------------------ */

/* As run_kernel_describe, with the subgroup size of run_subgroup_size. */
VYRE_MUST_USE vyre_status run_kernel_prepare(const run_options *options, const vyre_target_ops *ops, vyre_target *target,
                                             const run_program *program, run_kernel *out);
VYRE_MUST_USE vyre_status run_kernel_compile(const vyre_target_ops *ops, vyre_target *target, const run_kernel *kernel,
                                             vyre_kernel *out);
/* Chooses the subgroup size for .vir: that of the options, or that of a device of the other run, which cannot choose.  *out is 0
 * for the default. */
VYRE_MUST_USE vyre_status run_subgroup_size(const run_options *options, const run_program *program, uint32_t *out);

/* ---- execute.c ----------------------------------------------------------------------------------------------------------- */

/* A step of a dispatch. */
typedef struct run_part {
  run_program segment; /* owned; empty if the program is not split */
  run_kernel kernel;
  vyre_range *ranges; /* owned; the range of each buffer of the kernel */
} run_part;

/* The parts of a submission.  Uploads and reads have room for each of the program's buffers.  Handles belong to the target, which
 * frees them when it is closed. */
typedef struct run_dispatch {
  const vyre_target_ops *ops;
  vyre_target *target;
  run_part *parts;  /* one, or one for each segment if the program is split at its barriers for the whole grid */
  vyre_step *steps; /* one for each part */
  uint32_t step_count;
  uint64_t kept;               /* bytes of the buffer that the segments share */
  vyre_upload *uploads;        /* uploads from the memory of the results */
  vyre_read *reads;            /* reads to the memory of the results */
  vyre_device_buffer *buffers; /* by buffer of the program; 0 for samplers and push constants */
  uint32_t upload_count, read_count;
  const void *push;
} run_dispatch;

/* Makes a dispatch.  Call run_dispatch_free after a failure, too. */
VYRE_MUST_USE vyre_status run_dispatch_make(const run_options *options, const vyre_target_ops *ops, vyre_target *target,
                                            const run_program *program, const run_inputs *inputs, run_results *results,
                                            run_dispatch *out);
void run_dispatch_free(run_dispatch *run);

VYRE_MUST_USE vyre_status run_execute(const run_options *options, run_target target, const run_program *program,
                                      const run_inputs *inputs, run_results *out);

/* ---- megakernel.c -------------------------------------------------------------------------------------------------------- */

/* Registers the program with a live megakernel of the target, which interprets it as one item. */
VYRE_MUST_USE vyre_status run_megakernel(const run_options *options, run_target ops, vyre_target *target,
                                         const run_program *program, const run_inputs *inputs, run_results *results);

/* ---- certify/certify.c --------------------------------------------------------------------------------------------------- */

/* Runs the suite on the target. Writes the certificate, or compares it with the file. *out_equal is false if a program is wrong or
 * a line differs. */
VYRE_MUST_USE vyre_status run_certify(const run_options *options, bool *out_equal);

/* ---- segments.c ---------------------------------------------------------------------------------------------------------- */

/* Makes the parts and steps of a dispatch with buffers.  If the target does not support barriers for a grid of this size, the
 * program is split into segments. */
VYRE_MUST_USE vyre_status run_parts_make(const run_options *options, const run_program *program, const uint32_t groups[3],
                                         run_dispatch *run);
void run_parts_free(run_dispatch *run);

/* ---- targets.c ----------------------------------------------------------------------------------------------------------- */

/* Returns false if there is no target with that name. */
bool run_target_parse(const char *text, run_target *out);
/* Returns the target's name for messages, such as "cpu" or "the interpreter". */
const char *run_target_name(run_target target);
/* Prints a line for each name. */
void run_targets_print(void);
VYRE_MUST_USE vyre_status run_list_devices(const run_options *options);
/* Opens the device of the target that the options name. */
VYRE_MUST_USE vyre_status run_device_open(const run_options *options, run_target target, vyre_target **out);
VYRE_MUST_USE vyre_status run_device_describe(const run_options *options, run_target target, vyre_device_info *out);

/* ---- statistics.c -------------------------------------------------------------------------------------------------------- */

/* Prints the driver's statistics of one program, or of two side by side if `second` is not NULL. */
VYRE_MUST_USE vyre_status run_statistics(const run_options *options, const run_program *first, const run_program *second);

/* ---- bench.c ------------------------------------------------------------------------------------------------------------- */

/* Prints the time of a dispatch of one program on the target, or of two by turns if `second` is not NULL. */
VYRE_MUST_USE vyre_status run_bench(const run_options *options, const run_program *first, const run_program *second,
                                    const run_inputs *inputs);

/* ---- profile.c ----------------------------------------------------------------------------------------------------------- */

/* Prints the source with the number of executions of each line. */
VYRE_MUST_USE vyre_status run_profile(const run_options *options, const run_program *program, const run_inputs *inputs,
                                      const run_results *results);

/* ---- report.c ------------------------------------------------------------------------------------------------------------ */

/* Prints and writes the results. */
VYRE_MUST_USE vyre_status run_report(const run_options *options, const run_inputs *inputs, const run_results *results);
/* Compares the results of two programs and prints the verdict. */
VYRE_MUST_USE vyre_status run_report_comparison(const run_options *options, const run_inputs *inputs, const run_program *first,
                                                const run_results *first_results, const run_program *second,
                                                const run_results *second_results, bool *out_equal);

#endif
