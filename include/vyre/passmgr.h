/* The pass manager: the set of passes (registry), the order of passes (pipeline), and runs of a pipeline over a module.
 *
 * No state is global: a registry is an object that is passed in. Only the shared objects of plugins stay loaded until the process
 * ends.
 *
 * Threads: one thread fills a registry. After that, many threads may read it and its pipelines. Each run has its own module and
 * options. Errors: USAGE for plugins and pipeline text, INPUT for failures of a run.
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

/* The origin of a plugin. Passes without a plugin's name as prefix ("dce") are vyre's own. */
typedef enum vyre_origin { VYRE_ORIGIN_OUTSIDE, VYRE_ORIGIN_CORE } vyre_origin;

/* Creates a registry with the manager's own passes (no-op, verify, print). The allocator is copied; NULL means the default. */
VYRE_MUST_USE vyre_status vyre_registry_create(const vyre_allocator *allocator, vyre_registry **out);
/* Destroys a registry. Pipelines made from it must be destroyed first. */
void vyre_registry_destroy(vyre_registry *registry);

/* Adds a linked-in plugin. Checks its descriptor, and adds all of its passes or none. `path` is for messages. */
VYRE_MUST_USE vyre_status vyre_registry_add(vyre_registry *registry, vyre_plugin_query query, const char *path, vyre_origin origin);
/* Opens a shared object, which runs its code, and adds the plugin. Skips a file that is already loaded. */
VYRE_MUST_USE vyre_status vyre_registry_load(vyre_registry *registry, const char *path, vyre_origin origin);
/* Loads each *.so in the folder, in the order of their names. */
VYRE_MUST_USE vyre_status vyre_registry_load_folder(vyre_registry *registry, const char *folder, vyre_origin origin);
/* Loads the core passes from vyre/passes beside libvyre.so. If the library is linked into a program, they are in vyre/passes or
 * ../lib/vyre/passes beside it, or in the folder of libraries that it was built for. A missing folder is an error; a folder elsewhere
 * can be loaded with vyre_registry_load_folder and VYRE_ORIGIN_CORE. */
VYRE_MUST_USE vyre_status vyre_registry_load_core(vyre_registry *registry);
/* Loads the core passes whose short names occur in the pipeline's text or in its levels, which takes less time. If the text then does
 * not parse, load all core passes into a new registry. The text need not be valid. */
VYRE_MUST_USE vyre_status vyre_registry_load_core_named(vyre_registry *registry, const char *text, size_t length);

/* The plugin code that a thread is in, for reports of a crash. Fields are NULL if it is in none. While a plugin is loaded, only the
 * path is known. */
typedef struct vyre_plugin_code {
  const char *pass, *plugin, *path;
  uint64_t run;   /* number of the thread's last run of a pass, from 1; 0 before the first */
  uint64_t since; /* in a copy: time at which the pass was entered, in nanoseconds of CLOCK_MONOTONIC, or 0 */
} vyre_plugin_code;

/* Returns the state of the calling thread. Async-signal-safe. */
vyre_plugin_code vyre_plugin_code_running(void);
/* Also keeps the state in `where` from now on, until it is called with NULL. `where` may be memory shared with a parent process
 * that has the same plugins. Only one thread of the process may run passes. */
void vyre_plugin_code_copy(vyre_plugin_code *where);

typedef struct vyre_pass_info {
  const vyre_pass *pass; /* the registry's copy; fields that the plugin lacks are zero */
  const char *plugin, *version, *path;
} vyre_pass_info;

uint32_t vyre_registry_pass_count(const vyre_registry *registry);
/* Returns the pass with the index, in order of names. */
vyre_pass_info vyre_registry_pass(const vyre_registry *registry, uint32_t index);

/* Stores the name that pipelines print for a pass with the short or long name. The registry owns it. Returns a USAGE error for an
 * unknown or ambiguous name. */
VYRE_MUST_USE vyre_status vyre_registry_name(const vyre_registry *registry, const char *name, const char **out);
/* Append the outputs of -list-passes, -list-passes as JSON, and -help-pass=NAME. */
VYRE_MUST_USE vyre_status vyre_registry_list(const vyre_registry *registry, vyre_bytes *out);
/* Appends a JSON array of objects with the contents of the plugins' descriptors. */
VYRE_MUST_USE vyre_status vyre_registry_list_json(const vyre_registry *registry, vyre_bytes *out);
VYRE_MUST_USE vyre_status vyre_registry_help(const vyre_registry *registry, const char *name, vyre_bytes *out);

/* ---- pipelines -------------------------------------------------------------------------------------------------------------- */

typedef struct vyre_pipeline vyre_pipeline;

/* Parses a pipeline. `name` precedes line and column in messages ("-passes"). Names and parameters are checked against the
 * registry, which must outlive the pipeline. docs/passmgr.md has the grammar. */
VYRE_MUST_USE vyre_status vyre_pipeline_parse(const vyre_registry *registry, const char *text, size_t length, const char *name,
                                              vyre_pipeline **out);
void vyre_pipeline_destroy(vyre_pipeline *pipeline);
/* Appends the canonical text, which parses to the same pipeline. */
VYRE_MUST_USE vyre_status vyre_pipeline_print(const vyre_pipeline *pipeline, vyre_bytes *out);

typedef enum vyre_schedule_format { VYRE_SCHEDULE_TEXT, VYRE_SCHEDULE_JSON, VYRE_SCHEDULE_DOT } vyre_schedule_format;

typedef struct vyre_schedule_options {
  size_t struct_size; /* sizeof(vyre_schedule_options) */
  vyre_schedule_format format;
  bool on_device; /* GPU passes run on a device */
  bool on_host;   /* the device is this machine's processors; if both are false, passes run as plain C if they can */
  uint32_t forms; /* kernel forms that the device accepts, as in vyre_device_info; 0 for any */
  bool no_fuse;   /* as in vyre_pipeline_options */
} vyre_schedule_options;

/* Appends where each pass runs: the sequences that adjacent GPU passes form, and the columns that are uploaded and read back for
 * each. A pass in parentheses provides a column that a later pass requires, and is skipped while the column is valid. */
VYRE_MUST_USE vyre_status vyre_pipeline_print_schedule(const vyre_pipeline *pipeline, const vyre_schedule_options *options,
                                                       vyre_bytes *out);

/* Times and statistics of many runs. */
typedef struct vyre_report vyre_report;

VYRE_MUST_USE vyre_status vyre_report_create(const vyre_allocator *allocator, vyre_report **out);
/* Creates an empty report that records the same data as `like`, for a part of the work. */
VYRE_MUST_USE vyre_status vyre_report_create_like(const vyre_report *like, const vyre_allocator *allocator, vyre_report **out);
void vyre_report_destroy(vyre_report *report);
/* Adds wall time that belongs to no pass, such as "read" or "write", from `start` on. If memory runs out, the entry is dropped. */
void vyre_report_add_time(vyre_report *report, const char *what, uint64_t start, uint64_t nanoseconds);

/* A timer of one thread. The time of an inner stopwatch counts in the outer one's total, but not in its own time. */
typedef struct vyre_stopwatch {
  const char *name;               /* the name of the entry in the report; borrowed */
  struct vyre_stopwatch *outer;   /* the enclosing stopwatch, or NULL */
  uint64_t wall, cpu;             /* start, in nanoseconds of CLOCK_MONOTONIC and of the thread's processor time */
  uint64_t inner_wall, inner_cpu; /* time of inner stopwatches */
} vyre_stopwatch;

/* Starts a stopwatch. A name in parentheses, "(read)", is not a pass. */
void vyre_stopwatch_start(vyre_stopwatch *watch, vyre_stopwatch *outer, const char *name);
/* Adds the elapsed time to the report. Does nothing if the report is NULL. */
void vyre_report_stop(vyre_report *report, const vyre_stopwatch *watch);

/* Also records the start and the duration of each entry from now on, for vyre_report_trace. */
void vyre_report_keep_events(vyre_report *report);
/* Adds the calling thread's time for an input, from the start of the stopwatch until now. */
void vyre_report_add_input(vyre_report *report, const char *path, const vyre_stopwatch *watch);
/* Appends all recorded times as JSON for Chrome's trace viewer and for Perfetto: a lane for each thread, and one for the device of
 * the thread. */
VYRE_MUST_USE vyre_status vyre_report_trace(const vyre_report *report, vyre_bytes *out);
/* Adds the contents of `from`, for example the report of a thread. */
void vyre_report_add(vyre_report *to, const vyre_report *from);
/* Append the times as a table or as JSON. docs/passmgr.md describes the columns. */
VYRE_MUST_USE vyre_status vyre_report_times(const vyre_report *report, vyre_bytes *out);
VYRE_MUST_USE vyre_status vyre_report_times_json(const vyre_report *report, vyre_bytes *out);
/* Adds the target's counters since it was opened, under its name and its device's. Counters of several targets on one device are
 * summed, so a target is added once, before it is closed. */
void vyre_report_target_add(vyre_report *report, const vyre_target_ops *ops, const vyre_target *target);

/* Formats of statistics: docs/passmgr.md. JSON and Prometheus include the times. */
typedef enum vyre_stats_format { VYRE_STATS_TEXT, VYRE_STATS_JSON, VYRE_STATS_PROMETHEUS } vyre_stats_format;

/* Parses "text", "json" or "prometheus". Another word is a USAGE error. */
VYRE_MUST_USE vyre_status vyre_stats_format_parse(const char *text, vyre_stats_format *out);
VYRE_MUST_USE vyre_status vyre_report_stats(const vyre_report *report, vyre_stats_format format, vyre_bytes *out);
/* Returns a statistic summed over all runs, by pass and name, or 0 if it was never counted. */
uint64_t vyre_report_count(const vyre_report *report, const char *pass, const char *name);
/* Returns how often the pass ran, and stores how often it changed the module. */
uint64_t vyre_report_runs(const vyre_report *report, const char *pass, uint64_t *out_changed);
/* Returns the nanoseconds that devices reported for the kernels of passes. */
uint64_t vyre_report_device_ns(const vyre_report *report);
/* Returns the nanoseconds of an entry of vyre_report_times, such as "dce" or "(seal)", without nested work. */
uint64_t vyre_report_wall_ns(const vyre_report *report, const char *name);

/* A device for passes: an open target, its compiled kernels, and memory. It serves one run at a time. */
typedef struct vyre_device vyre_device;

/* Opens a device. `options` and `allocator` are as for the target's `open`. */
VYRE_MUST_USE vyre_status vyre_device_open(const vyre_target_ops *target, const vyre_target_options *options,
                                           const vyre_allocator *allocator, vyre_device **out);
/* Creates a device that is chosen automatically. Each sequence of passes runs as plain C, or on a device where previous costs show
 * that it is faster. The device is opened when there is enough work. It belongs to the first target that is not this machine's
 * processors, or that has the device named in `options`. `targets` ends with NULL and is borrowed until the device is closed. A
 * missing device is not an error. */
VYRE_MUST_USE vyre_status vyre_device_open_auto(const vyre_target_ops *const *targets, const vyre_target_options *options,
                                                const vyre_allocator *allocator, vyre_device **out);
/* Returns the most rows, including row 0, of a module that the device processes as a whole. The device processes larger modules in
 * parts of whole programs, or they run on this machine's processors. Returns 0 for any number, if the device is not open or is this
 * machine's processors. */
uint32_t vyre_device_most_rows(const vyre_device *device);
/* Adds the counters of the device's target (vyre_report_target_add). Does nothing if it is not open or is this machine's
 * processors. */
void vyre_device_report(const vyre_device *device, vyre_report *report);
/* Closes the device. Does nothing to NULL. */
VYRE_MUST_USE vyre_status vyre_device_close(vyre_device *device);

/* Callbacks that see the module between runs of passes. */
typedef enum vyre_observe_when { VYRE_OBSERVE_START, VYRE_OBSERVE_BEFORE, VYRE_OBSERVE_AFTER } vyre_observe_when;

typedef struct vyre_observation {
  vyre_observe_when when;    /* before the first run, or before or after a run */
  const vyre_module *module; /* sealed */
  uint64_t run;              /* number of the run, from 1; 0 for VYRE_OBSERVE_START, without a pass */
  const char *pass, *text;   /* its name, and its text in the pipeline, "acme.unroll<factor=4>" */
  bool changed;              /* whether the run changed the module */
} vyre_observation;

typedef struct vyre_pipeline_options {
  size_t struct_size; /* sizeof(vyre_pipeline_options) */
  bool verify_each;   /* verify after each pass */
  bool check_changed; /* compare the module with the pass's result flag; always on in debug builds */
  bool run_twice;     /* run each pass twice, first over a copy and as plain C, and compare; passes run one by one */
  /* Gets the module; an error that it returns ends the run. Passes run one by one then. May be NULL. */
  vyre_status (*observe)(void *user, const vyre_observation *at);
  void *observe_user;
  /* Gets the text of modules that `print` and verifier errors show. May be NULL. */
  void (*print)(void *user, const char *text, size_t length);
  void *print_user;
  bool print_runs; /* print a line for each run of a pass: its number, from 1, and the pass */
  /* Returns whether a run of a pass is done. A skipped run leaves the module unchanged. May be called twice for a run and must give
   * the same answer. Not called for the manager's own passes. NULL runs all. */
  bool (*wants_run)(void *user, uint64_t number, const char *pass);
  void *wants_user;
  vyre_diagnostics diagnostics; /* remarks, warnings */
  vyre_report *report;          /* or NULL */
  /* Runs the phases of GPU passes, even of those with plain C, if it has room for the rows. Borrowed. If NULL, passes run as plain
   * C, and passes with only phases run on one of this machine's processors. */
  vyre_device *device;
  bool no_fuse;                      /* run each GPU pass by itself, not in a sequence with its neighbours */
  const vyre_cost_model *cost_model; /* cost model for passes; borrowed, NULL for vyre's own */
  bool print_work;                   /* with print_runs: also print a run's analyses, seals and the like, and its result */
  bool denies_files;                 /* a parameter that names a file is an error, because the pipeline is not trusted */
} vyre_pipeline_options;

/* Runs the pipeline over a sealed, verified module, and leaves a sealed one. options may be NULL for defaults. After an error the
 * module may only be cleared or destroyed. */
VYRE_MUST_USE vyre_status vyre_pipeline_run(const vyre_pipeline *pipeline, vyre_module *module,
                                            const vyre_pipeline_options *options);

/* Verifies a module. Programs with errors are printed to options->print, each message at its row. options may be NULL. */
VYRE_MUST_USE vyre_status vyre_module_check(const vyre_module *module, const vyre_pipeline_options *options);

#ifdef __cplusplus
}
#endif
#endif
