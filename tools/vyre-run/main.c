/* vyre-run: runs a compute program on the interpreter or a target, prints the buffers that it wrote, and compares two programs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include "cli/options/console.h"
#include "tools/run/guard.h"
#include "tools/run/isolate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#ifndef VYRE_VERSION
#error "the build must define the version"
#endif

/* The owned data of a run. */
typedef struct work {
  run_program first, second;
  run_inputs inputs;
  run_results first_results, second_results;
} work;

static vyre_status
do_work(const run_options *options, work *w, bool *out_equal)
{
  const vyre_diagnostics diagnostics = console_diagnostics;
  bool is_itself = options->compare == options->input;
  VYRE_TRY(run_program_load(options->input, options, diagnostics, &w->first));
  if (options->compare && !is_itself)
    VYRE_TRY(run_program_load(options->compare, options, diagnostics, &w->second));
  const run_program *second = is_itself ? &w->first : &w->second;
  if (options->device_stats)
    return run_statistics(options, &w->first, options->compare ? second : NULL);
  VYRE_TRY(run_inputs_make(&options->setup, &w->first, options->compare ? second : NULL, &w->inputs));
  VYRE_TRY(run_inputs_check(&w->inputs, &options->prints, "print", false));
  VYRE_TRY(run_inputs_check(&w->inputs, &options->writes, "write", true));
  VYRE_TRY(run_execute(options, options->target, &w->first, &w->inputs, &w->first_results));
  if (options->compare)
    VYRE_TRY(run_execute(options, options->compare_target, second, &w->inputs, &w->second_results));
  VYRE_TRY(run_report(options, &w->inputs, &w->first_results));
  if (options->profile)
    VYRE_TRY(run_profile(options, &w->first, &w->inputs, &w->first_results));
  if (options->compare)
    VYRE_TRY(run_report_comparison(options, &w->inputs, &w->first, &w->first_results, second, &w->second_results, out_equal));
  return options->bench.value && !options->megakernel ? run_bench(options, &w->first, options->compare ? second : NULL, &w->inputs)
                                                      : VYRE_OK;
}

/* Prints statistics, also of a run that failed. */
static vyre_status
print_stats(const run_options *options)
{
  vyre_bytes text = {0};
  vyre_status status = vyre_report_stats(options->report, options->stats_format, &text);
  if (!status && options->stats_file)
    status = vyre_file_write(options->stats_file, text.data, text.size);
  else if (!status)
    fwrite(text.data, 1, text.size, stderr);
  vyre_bytes_free(&text);
  return status;
}

static vyre_status
run(run_options *options, bool *out_equal)
{
  *out_equal = true;
  if (options->help)
    return run_options_help(options);
  if (options->version) {
    printf("vyre-run %s, op set %u\n", VYRE_VERSION, VYRE_OPSET_VERSION);
    return VYRE_OK;
  }
  if (options->list_devices)
    return run_list_devices(options);
  work w = {0};
  if (options->certify)
    return run_certify(options, out_equal);
  VYRE_TRY(vyre_cost_model_read(options->cost_model, &options->costs));
  if (options->stats)
    VYRE_TRY(vyre_report_create(NULL, &options->report));
  vyre_status status = do_work(options, &w, out_equal);
  if (options->report)
    status = vyre_status_join(status, print_stats(options));
  vyre_report_destroy(options->report);
  run_results_free(&w.second_results);
  run_results_free(&w.first_results);
  run_inputs_free(&w.inputs);
  run_program_free(&w.second);
  run_program_free(&w.first);
  return status;
}

/* Runs, flushes standard output, and returns the exit code. */
static int
run_here(run_options *options)
{
  bool is_equal = true;
  vyre_status status = run(options, &is_equal);
  return console_end("vyre-run", status, is_equal ? 0 : 1);
}

static int
run_isolated(run_options *options)
{
  isolated process;
  int code = 0, ended = 0;
  vyre_status status = isolate_begin(0, &process);
  if (status)
    return console_complain("vyre-run", status);
  if (process.pid == 0)
    isolate_leave(run_here(options));
  while (waitpid(process.pid, &ended, 0) < 0 && errno == EINTR)
    ;
  status = isolate_end(&process, ended, &code);
  isolate_free(&process);
  return status ? console_complain("vyre-run", status) : code;
}

int
main(int argc, char **argv)
{
  guard_begin("vyre-run");
  run_options options;
  int code = console_complain("vyre-run", run_options_parse(argc, argv, &options));
  if (!code)
    code = options.isolate ? run_isolated(&options) : run_here(&options);
  run_options_free(&options);
  return guard_end(code);
}
