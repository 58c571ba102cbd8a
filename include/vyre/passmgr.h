/* The pass manager: which passes there are (registry), which run in what order (pipeline), and running them over a module.
 *
 * Nothing here is global: a registry is an object that is passed in.  Only the shared objects of plugins stay loaded as long as the
 * process lives.
 *
 * Threads: a registry is filled by one thread; after that it, and pipelines, may be read by many.  Each run has its own module and
 * options.  Errors: USAGE for plugins and pipeline text, INPUT for what happens while running.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_PASSMGR_H
#define VYRE_PASSMGR_H

#include "vyre/cost.h"
#include "vyre/ir.h"
#include "vyre/plugin.h"
#include "vyre/target.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- registry --------------------------------------------------------------------------------------------------------------- */

typedef struct vyre_registry vyre_registry;

/* Whose plugin it is: passes without a plugin's name before them ("dce") are vyre's own. */
typedef enum vyre_origin { VYRE_ORIGIN_OUTSIDE, VYRE_ORIGIN_CORE } vyre_origin;

/* With the manager's own passes (no-op, verify, print) in it.  The allocator is copied; NULL: the default. */
VYRE_MUST_USE vyre_status vyre_registry_create(const vyre_allocator *allocator, vyre_registry **out);
/* Destroy the pipelines made from it first. */
void vyre_registry_destroy(vyre_registry *registry);

/* Adds a plugin that is linked in: its descriptor is checked, then all of its passes or none are added.  `path` is for messages. */
VYRE_MUST_USE vyre_status vyre_registry_add(vyre_registry *registry, vyre_plugin_query query, const char *path, vyre_origin origin);
/* Opens a shared object and adds it; one that is there already (the same file) is skipped.  Loading runs its code. */
VYRE_MUST_USE vyre_status vyre_registry_load(vyre_registry *registry, const char *path, vyre_origin origin);
/* Each *.so of the folder, in the order of their names. */
VYRE_MUST_USE vyre_status vyre_registry_load_folder(vyre_registry *registry, const char *folder, vyre_origin origin);
/* The core passes: vyre/passes beside libvyre.so, whatever program it is loaded in, or, where the library is linked into a program,
 * that or ../lib/vyre/passes beside it.  No such folder is an error; another one is loaded by vyre_registry_load_folder with
 * VYRE_ORIGIN_CORE. */
VYRE_MUST_USE vyre_status vyre_registry_load_core(vyre_registry *registry);

/* The plugin whose code the calling thread is in, for reporting why the process ends.  Fields are NULL where it is in no plugin's;
 * while a plugin is loaded only the path is known.  May be asked in a signal handler. */
typedef struct vyre_plugin_code {
  const char *pass, *plugin, *path;
  uint64_t run;   /* of the pipeline, from 1 on: the last one that this thread began; 0: none */
  uint64_t since; /* where it is copied: when the pass was entered, in nanoseconds of CLOCK_MONOTONIC; 0: it is in none */
} vyre_plugin_code;

vyre_plugin_code vyre_plugin_code_running(void);
/* From now on it is noted there too: memory that is shared with a process which waits for this one, and has the same plugins, say.
 * For a process of which one thread runs passes.  NULL: no longer. */
void vyre_plugin_code_copy(vyre_plugin_code *where);

typedef struct vyre_pass_info {
  const vyre_pass *pass; /* the registry's copy; fields that the plugin did not know are zero */
  const char *plugin, *version, *path;
} vyre_pass_info;

uint32_t vyre_registry_pass_count(const vyre_registry *registry);
vyre_pass_info vyre_registry_pass(const vyre_registry *registry, uint32_t index); /* sorted by name */

/* The pass of that short or long name, by the name that pipelines are printed with; the registry's.  USAGE: none, or two. */
VYRE_MUST_USE vyre_status vyre_registry_name(const vyre_registry *registry, const char *name, const char **out);
/* What -list-passes and -help-pass= print. */
VYRE_MUST_USE vyre_status vyre_registry_list(const vyre_registry *registry, vyre_bytes *out);
/* The same passes for programs: an array of objects, of what the plugins say. */
VYRE_MUST_USE vyre_status vyre_registry_list_json(const vyre_registry *registry, vyre_bytes *out);
VYRE_MUST_USE vyre_status vyre_registry_help(const vyre_registry *registry, const char *name, vyre_bytes *out);

/* ---- pipelines -------------------------------------------------------------------------------------------------------------- */

typedef struct vyre_pipeline vyre_pipeline;

/* `name` precedes line and column in messages ("-passes").  Names and parameters are checked here, against the registry,
 * which must outlive the pipeline.  The grammar is in docs/passmgr.md. */
VYRE_MUST_USE vyre_status vyre_pipeline_parse(const vyre_registry *registry, const char *text, size_t length, const char *name,
                                              vyre_pipeline **out);
void vyre_pipeline_destroy(vyre_pipeline *pipeline);
/* The canonical text: it parses to the same pipeline, and prints as itself. */
VYRE_MUST_USE vyre_status vyre_pipeline_print(const vyre_pipeline *pipeline, vyre_bytes *out);

typedef enum vyre_schedule_format { VYRE_SCHEDULE_TEXT, VYRE_SCHEDULE_JSON, VYRE_SCHEDULE_DOT } vyre_schedule_format;

typedef struct vyre_schedule_options {
  vyre_schedule_format format;
  bool on_device; /* GPU passes go to a device, */
  bool on_host;   /* ... which is this machine's processors; neither: all run as plain C where they can */
  uint32_t forms; /* of kernels that the device takes, as in vyre_device_info; 0: any */
  bool no_fuse;   /* as in vyre_pipeline_options */
} vyre_schedule_options;

/* What runs where: the sequences that neighbouring GPU passes become, and which columns go up and come down for each.  A pass in
 * parentheses provides a column that one after it requires, and is left out where the column holds. */
VYRE_MUST_USE vyre_status vyre_pipeline_print_schedule(const vyre_pipeline *pipeline, const vyre_schedule_options *options,
                                                       vyre_bytes *out);

/* Times and statistics of many runs together. */
typedef struct vyre_report vyre_report;

VYRE_MUST_USE vyre_status vyre_report_create(const vyre_allocator *allocator, vyre_report **out);
/* An empty one that keeps what `like` does, for a part of the work. */
VYRE_MUST_USE vyre_status vyre_report_create_like(const vyre_report *like, const vyre_allocator *allocator, vyre_report **out);
void vyre_report_destroy(vyre_report *report);
/* Wall time that is no pass's, from when it began on: "read", "write".  If memory runs out the entry is lost, and nothing fails. */
void vyre_report_add_time(vyre_report *report, const char *what, uint64_t start, uint64_t nanoseconds);

/* A time as one thread takes it.  What is taken within another one counts in that one's total, and not in what is its own. */
typedef struct vyre_stopwatch {
  const char *name;               /* in the report; borrowed */
  struct vyre_stopwatch *outer;   /* NULL: none */
  uint64_t wall, cpu;             /* nanoseconds, of CLOCK_MONOTONIC and of the thread's processor time: when it began, */
  uint64_t inner_wall, inner_cpu; /* ... and what those within took */
} vyre_stopwatch;

/* "(read)": in parentheses, as it is no pass's. */
void vyre_stopwatch_start(vyre_stopwatch *watch, vyre_stopwatch *outer, const char *name);
/* Adds it.  NULL report: nothing. */
void vyre_report_stop(vyre_report *report, const vyre_stopwatch *watch);

/* From now on the report also has when each thing was done, for vyre_report_trace. */
void vyre_report_keep_events(vyre_report *report);
/* What the calling thread did with an input up to now. */
void vyre_report_add_input(vyre_report *report, const char *path, const vyre_stopwatch *watch);
/* All of it as JSON for Chrome's trace viewer and for Perfetto: a lane for each thread, and one for its device. */
VYRE_MUST_USE vyre_status vyre_report_trace(const vyre_report *report, vyre_bytes *out);
/* Adds what `from` has: for runs that had a report of their own, such as each thread's. */
void vyre_report_add(vyre_report *to, const vyre_report *from);
/* A table for people, and the same as JSON.  docs/passmgr.md tells what its columns are. */
VYRE_MUST_USE vyre_status vyre_report_times(const vyre_report *report, vyre_bytes *out);
VYRE_MUST_USE vyre_status vyre_report_times_json(const vyre_report *report, vyre_bytes *out);
/* Adds what the target has counted since it was opened, under its name and its device's.  Counters of several that are of one
 * device are summed; so a target is added once, before it is closed. */
void vyre_report_target_add(vyre_report *report, const vyre_target_ops *ops, const vyre_target *target);

/* docs/passmgr.md tells of each.  JSON and Prometheus have the times too. */
typedef enum vyre_stats_format { VYRE_STATS_TEXT, VYRE_STATS_JSON, VYRE_STATS_PROMETHEUS } vyre_stats_format;

/* "text", "json", "prometheus"; USAGE: it is another word. */
VYRE_MUST_USE vyre_status vyre_stats_format_parse(const char *text, vyre_stats_format *out);
VYRE_MUST_USE vyre_status vyre_report_stats(const vyre_report *report, vyre_stats_format format, vyre_bytes *out);
/* A statistic summed over all runs, by pass and name; 0: never counted. */
uint64_t vyre_report_count(const vyre_report *report, const char *pass, const char *name);
/* How often the pass ran, and how often it changed the module. */
uint64_t vyre_report_runs(const vyre_report *report, const char *pass, uint64_t *out_changed);
/* Nanoseconds that devices took for the kernels of passes, as they told. */
uint64_t vyre_report_device_ns(const vyre_report *report);

/* A device for passes: an open target, the kernels that were compiled for it, memory.  It serves one run at a time. */
typedef struct vyre_device vyre_device;

/* `options` and `allocator` as the target's open has them. */
VYRE_MUST_USE vyre_status vyre_device_open(const vyre_target_ops *target, const vyre_target_options *options,
                                           const vyre_allocator *allocator, vyre_device **out);
/* One that is chosen: each sequence of passes runs as plain C, or on a device where it is faster by what either cost before.  The
 * device is opened when there was work enough for it: that of the first of these targets (NULL is after the last; borrowed for as
 * long as the device is there) which is no processor of this machine, or whose device `options` names.  That there is none is no
 * error. */
VYRE_MUST_USE vyre_status vyre_device_open_auto(const vyre_target_ops *const *targets, const vyre_target_options *options,
                                                const vyre_allocator *allocator, vyre_device **out);
/* Modules of more rows (row 0 counted) never go there whole: they go there in parts of whole programs, or run on this machine's
 * processors.  0: all do, as it is not open or is
 * these processors; large modules gain nothing then. */
uint32_t vyre_device_most_rows(const vyre_device *device);
/* vyre_report_target_add of its target; nothing where it is not open, or is this machine's processors. */
void vyre_device_report(const vyre_device *device, vyre_report *report);
/* NULL is ignored. */
VYRE_MUST_USE vyre_status vyre_device_close(vyre_device *device);

/* The module between runs of passes, for who wants to see it. */
typedef enum vyre_look_when { VYRE_LOOK_START, VYRE_LOOK_BEFORE, VYRE_LOOK_AFTER } vyre_look_when;

typedef struct vyre_look {
  vyre_look_when when;       /* before the first run; before and after each */
  const vyre_module *module; /* sealed */
  uint64_t run;              /* its number, from 1 on; 0 at the start, where there is no pass: */
  const char *pass, *text;   /* its name, and how the pipeline has it, "acme.unroll<factor=4>" */
  bool changed;              /* the run changed it */
} vyre_look;

typedef struct vyre_pipeline_options {
  bool verify_each;   /* verify after each pass; also: */
  bool check_changed; /* compare the module with what the pass says it did; always in debug builds */
  bool run_twice;     /* each run once more, before, over a copy and as plain C: it must leave the same; also one by one: */
  /* Is shown the module; an error of it ends the run.  Passes run one by one then.  NULL: nobody looks. */
  vyre_status (*look)(void *user, const vyre_look *at);
  void *look_user;
  /* Where modules go that `print` and broken rules show; NULL: nowhere. */
  void (*print)(void *user, const char *text, size_t length);
  void *print_user;
  bool print_runs; /* a line for each run of a pass: its number, from 1 on, and the pass */
  /* Whether a run of a pass is done; one that is not leaves the module as it is.  May be asked twice, with the same answer.  The
   * manager's own passes are not asked for.  NULL: all are. */
  bool (*wants_run)(void *user, uint64_t number, const char *pass);
  void *wants_user;
  vyre_diagnostics diagnostics; /* remarks, warnings */
  vyre_report *report;          /* NULL: none */
  /* Runs the phases of GPU passes, of those too that have plain C, if it has room for so many rows.  Borrowed.  NULL: passes run as
   * plain C, and phases alone on one of this machine's processors. */
  vyre_device *device;
  bool no_fuse;                      /* each GPU pass by itself, not with its neighbours in one sequence */
  const vyre_cost_model *cost_model; /* what passes ask for costs.  Borrowed.  NULL: vyre's own */
  bool print_work;                   /* beside print_runs: what is done for a run, and what came of it, a line each */
  bool denies_files;                 /* a parameter that names a file is an error: the pipeline is not trusted */
} vyre_pipeline_options;

/* Runs it over a sealed, verified module, and leaves a sealed one.  options NULL: all off.  After an error the module is fit only
 * to be cleared or destroyed. */
VYRE_MUST_USE vyre_status vyre_pipeline_run(const vyre_pipeline *pipeline, vyre_module *module,
                                            const vyre_pipeline_options *options);

/* Verifies it; where rules are broken, the programs that break them go to options->print, each message at its row.  options may be
 * NULL. */
VYRE_MUST_USE vyre_status vyre_module_check(const vyre_module *module, const vyre_pipeline_options *options);

#ifdef __cplusplus
}
#endif
#endif
