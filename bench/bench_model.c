/* Models the cost of passes on a GPU without one.  docs/cuda.md has the conclusions.
 *
 *   bench-model [-ptxas=FILE] [-arch=sm_NN] [-rows=N]
 *
 * Each pass, and a sequence of them, runs warm on the simulator, over programs of 1,000 rows, N in all.  The simulator counts
 * instructions of lanes, launches, waits and bytes.  With a ptxas the registers of the pass' kernels are known.  The threads that
 * fit on a multiprocessor follow from the simulator's occupancy, which is tested against NVIDIA's calculator.  The last columns are
 * a model, not a measurement.  They add the launches in a graph, and the greater of two times: the instructions at the rate of
 * `devices`, and the columns at its bandwidth.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "bench.h"
#include "vyre/io.h"
#include "vyre/passmgr.h"
#include "vyre/phases.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char bench_name[] = "bench-model";

enum { PROGRAM = 1000, COLUMNS = 44 };

/* An example of each architecture.  None of these numbers is measured.
 *
 *   threads     resident on a multiprocessor: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"
 *   lanes       32-bit integer additions a clock and multiprocessor: the same guide has 64 for 7.x ("Throughput of Native
 *               Arithmetic Instructions").  For 8.0 and 9.0 they follow from the peak of 32-bit integers in the white papers
 *               of A100 (19.5 TOPS) and H100 (33.5 TOPS): processors * lanes * clock, with a multiply-add counted as two
 *   clock       GHz, the boost clock of the data sheet or white paper.  For H200 it follows from 67 TFLOPS of 32-bit floats:
 *               132 multiprocessors * 128 lanes * 2
 *   bandwidth   GB/s, of the data sheet
 *
 * These numbers were read in quotations of the documents.  The last row is assumed, without a source. */
static const struct {
  const char *arch, *example;
  uint32_t sm, threads, processors;
  double lanes, clock, bandwidth;
} devices[] = {{"sm_75", "T4", 75, 1024, 40, 64, 1.59, 320},
               {"sm_80", "A100 40 GB", 80, 2048, 108, 64, 1.41, 1555},
               {"sm_90", "H200", 90, 2048, 132, 64, 1.98, 4800},
               {"sm_100", "B200, assumed", 100, 2048, 148, 64, 1.85, 8000}};
/* Assumed: the time of a launch in a graph, and the share of the peak that branching code reaches. */
static const double launch_us = 1.5, share = 0.25;

/* The last two are sequences of the others, whose time is not added to theirs. */
static const char *const passes[] = {
    "canon", "cf", "shash", "cid", "pm", "dce", "canon,cf,shash,cid,pm,dce", "fixpoint(canon,cf,shash,cid,pm,dce)"};

/* Functions of the simulator's library. */
typedef uint64_t count_function(const char *name);
typedef uint32_t blocks_function(uint32_t sm, uint32_t registers, uint32_t threads, uint32_t shared);
static count_function *counted;
static blocks_function *blocks_at_once;

static void
find_simulator(void)
{
  void *library = dlopen("libvyre-cuda-sim.so", RTLD_NOW | RTLD_NOLOAD);
  if (library) {
    *(void **)(void *)&counted = dlsym(library, "vyre_cuda_sim_count");
    *(void **)(void *)&blocks_at_once = dlsym(library, "vyre_cuda_sim_blocks");
  }
  if (!counted || !blocks_at_once)
    bench_check(VYRE_ERROR(VYRE_CODE_DEVICE, "the simulator is missing\nFix: put libvyre-cuda-sim.so beside libvyre.so"));
}

typedef struct fit {
  uint32_t registers, spilled; /* most registers of a kernel, 0 if unknown; spilled bytes of all kernels */
  uint32_t threads;            /* of the kernel with the fewest resident threads */
} fit;

static void
fit_kernel(const vyre_phase_kernel *kernel, const char *ptxas, uint32_t device, fit *out)
{
  char folder[] = "/tmp/bench-modelXXXXXX", path[sizeof folder + 8], command[512], line[256];
  unsigned registers = 0, block = 64, shared = 0, stored = 0, loaded = 0;
  if (!kernel->code || !mkdtemp(folder))
    return;
  snprintf(path, sizeof path, "%s/ptx", folder);
  vyre_status status = vyre_file_write(path, kernel->code, kernel->size);
  const bool is_written = !status;
  vyre_status_free(status);
  snprintf(command, sizeof command, "%s -v -arch=%s -o /dev/null %s 2>&1; grep -o -m1 '.reqntid [0-9]*' %s", ptxas,
           devices[device].arch, path, path);
  FILE *output = is_written ? popen(command, "r") : NULL;
  while (output && fgets(line, sizeof line, output)) {
    const char *at = strstr(line, "Used ");
    if (at)
      sscanf(at, "Used %u registers", &registers);
    for (at = line; (at = strstr(at, ", ")) != NULL; at += 2)
      sscanf(at, ", %u bytes smem", &shared);
    at = strstr(line, "bytes stack frame, ");
    if (at)
      sscanf(at, "bytes stack frame, %u bytes spill stores, %u bytes spill loads", &stored, &loaded);
    sscanf(line, ".reqntid %u", &block);
  }
  if (output)
    pclose(output);
  unlink(path);
  rmdir(folder);
  if (!registers)
    return;
  const uint32_t threads = blocks_at_once(devices[device].sm, registers, block, shared) * block;
  out->threads = !out->registers || threads < out->threads ? threads : out->threads;
  out->registers = registers > out->registers ? registers : out->registers;
  out->spilled += stored + loaded;
}

static fit
fit_pass(const vyre_registry *registry, const char *name, const char *ptxas, uint32_t device)
{
  fit result = {0};
  for (uint32_t i = 0; i < vyre_registry_pass_count(registry); i++) {
    const vyre_pass *pass = vyre_registry_pass(registry, i).pass;
    if (strcmp(pass->name, name) != 0 || !pass->phases)
      continue;
    for (uint32_t k = 0; k < pass->phases->kernels_count; k++) {
      const vyre_phase_kernels *of = pass->phases->kernels[k];
      if (of->form != VYRE_PHASE_PTX)
        continue;
      for (uint32_t p = 0; p < pass->phases->phase_count; p++) {
        fit_kernel(&of->rows[p], ptxas, device, &result);
        fit_kernel(&of->programs[p], ptxas, device, &result);
      }
      for (uint32_t s = 0; s < pass->phases->step_count; s++)
        fit_kernel(&of->levels[s], ptxas, device, &result);
      if (of->pass)
        fit_kernel(of->pass, ptxas, device, &result);
    }
  }
  return result;
}

static void
run(const vyre_registry *registry, vyre_module *module, vyre_device *device, const char *pass, uint32_t rows, vyre_report *report)
{
  const vyre_pipeline_options how = {.struct_size = sizeof how, .device = device, .report = report};
  bench_fill(module, rows, PROGRAM);
  bench_run_pipeline(registry, module, pass, &how, bench_now);
}

typedef struct command_line {
  bench_line line;
  const char *ptxas, *arch;
  option_number rows;
} command_line;

#define AT(field) offsetof(command_line, field)

static const option_row option_rows[] = {
    {.name = "ptxas",
     OPTION_TEXT,
     AT(ptxas),
     "FILE",
     "compile kernels with this ptxas for the number of their registers",
     OPTION_LAST},
    {.name = "arch",
     OPTION_WORD,
     AT(arch),
     "sm_75|sm_80|sm_90|sm_100",
     "model a GPU of this architecture. Default: sm_90",
     OPTION_LAST},
    {.name = "rows",
     OPTION_NUMBER,
     AT(rows),
     "N",
     "simulate N rows. Default: 4000",
     OPTION_LAST,
     .least = PROGRAM,
     .most = UINT32_MAX},
    BENCH_HELP_ROWS,
};

static const bench_usage usage = {.about = "Models the cost of passes on a GPU without one.\n",
                                  .rows = option_rows,
                                  .count = sizeof option_rows / sizeof *option_rows};

int
main(int count, char **arguments)
{
  command_line line = {.arch = "sm_90", .rows = {.value = 4000}};
  bench_parse_rows(&usage, count, arguments, &line);
  const char *ptxas = line.ptxas, *arch = line.arch;
  const uint32_t rows = (uint32_t)line.rows.value;
  uint32_t device = 0;
  while (strcmp(devices[device].arch, arch) != 0) /* the parser accepts no other word */
    device++;
  vyre_module *module = bench_module();
  vyre_registry *registry = bench_registry();
  vyre_device *simulated;
  bench_check(vyre_device_open(
      &vyre_target_cuda, &(vyre_target_options){.struct_size = sizeof(vyre_target_options), .device = "sim"}, NULL, &simulated));
  find_simulator();
  printf("a model for %s (%s), not a measurement; %u rows in programs of %u; %s\n\n", arch, devices[device].example, rows,
         (unsigned)PROGRAM, ptxas ? "registers by ptxas" : "ptxas is not given: no registers");
  printf("| pass | instructions a row | launches | waits | bytes up | bytes down | registers | spilled | threads at once | model, "
         "ns a row at 10M rows |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  double sum = 0;
  for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
    vyre_report *report;
    bench_check(vyre_report_create(NULL, &report));
    run(registry, module, simulated, passes[i], rows, NULL);
    const uint64_t before = counted("instructions");
    run(registry, module, simulated, passes[i], rows, report);
    const double instructions = (double)(counted("instructions") - before) / rows;
    const uint64_t launches = vyre_report_count(report, "(device)", "kernels launched");
    const fit kernels = ptxas ? fit_pass(registry, passes[i], ptxas, device) : (fit){0};
    /* instructions a nanosecond */
    const double rate = devices[device].processors * devices[device].lanes * devices[device].clock * share,
                 work = instructions / rate, columns = 2.0 * COLUMNS / devices[device].bandwidth,
                 ns = (double)launches * launch_us * 1e3 / 1e7 + (work > columns ? work : columns);
    sum += strchr(passes[i], ',') ? 0 : ns;
    printf("| %s | %.0f | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %u | %u | %u of %u | %.3f |\n", passes[i],
           instructions, launches, vyre_report_count(report, "(device)", "host waits"),
           vyre_report_count(report, "(device)", "bytes up"), vyre_report_count(report, "(device)", "bytes down"),
           kernels.registers, kernels.spilled, kernels.threads, devices[device].threads, ns);
    vyre_report_destroy(report);
  }
  printf(
      "\nall of them: %.3f ns a row, %.2f billion rows a second; assumed: %.1f us a launch in a graph, %.0f %% of the peak of %.0f "
      "lanes a clock and multiprocessor\n",
      sum, 1 / sum, launch_us, share * 100, devices[device].lanes);
  bench_check(vyre_device_close(simulated));
  vyre_registry_destroy(registry);
  vyre_module_destroy(module);
  return 0;
}
