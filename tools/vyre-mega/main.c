/* vyre-mega: runs the items of a text file on the megakernel, and prints their results.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "mega.h"

#include "cli/options/console.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static vyre_status
add_handler(const char *text, void *fields)
{
  return mega_handlers_add(&((mega_options *)fields)->handlers, text);
}

#define AT(field)        offsetof(mega_options, field)
#define AT_DEVICE(field) offsetof(mega_options, on.field)

static const option_row rows[] = {
    {.name = "Ring", OPTION_SECTION},
    {.name = "priority", OPTION_FLAG, AT(by_priority), NULL, "run items of higher priority first"},
    {.name = "live", OPTION_FLAG, AT(is_live), NULL, "keep the kernel running, and publish items one by one"},
    {.name = "slots",
     OPTION_NUMBER,
     AT(slots),
     "N",
     "the number of slots of the ring. A longer queue is several dispatches. Default: 64",
     .least = 1,
     .most = VYRE_MEGA_MOST_SLOTS},
    {.name = "observables",
     OPTION_NUMBER,
     AT(observables),
     "N",
     "the number of words for results. Default: 64",
     .most = VYRE_MEGA_MOST_OBSERVABLES},
    {.name = "passes",
     OPTION_NUMBER,
     AT(passes),
     "N",
     "for handlers with `barrier device`: run a dispatch again while one of them returns VYRE_MEGA_AGAIN, at most N times in all. "
     "-timeout limits one submission: a few passes on Vulkan, all passes elsewhere. Default: 1",
     .least = 1,
     .most = INT32_MAX},
    {.name = "Reports", OPTION_SECTION},
    {.name = "log", OPTION_TEXT, AT(log_path), "FILE", "append the items and their ends to a log for replay"},
    {.name = "watch",
     OPTION_FLAG,
     AT(watches),
     NULL,
     "with -live print a line of telemetry on standard error, five times a second"},
    {.name = "metrics", OPTION_TEXT, AT(metrics_path), "FILE", "with -live write telemetry at the end, in Prometheus' text format"},
    {.name = "Handlers", OPTION_SECTION},
    {.name = "handlers", OPTION_TEXT, AT(handlers_path), "FILE", "read functions from FILE, in .vir"},
    {.name = "op",
     OPTION_CUSTOM,
     0,
     "CODE:FUNCTION",
     "run FUNCTION for items with this op code. May be repeated",
     .parse = add_handler},
    {.name = "Device", OPTION_SECTION},
    {.name = "target", OPTION_TEXT, AT(target_name), "NAME", "run on this target; the names are below. Default: the first"},
    OPTION_DEVICE_ROWS(AT_DEVICE),
    OPTION_HELP_ROWS(AT(help)),
};

static const option_table table = {
    .program = "vyre-mega",
    .usage = "[options] FILE | [options] replay LOG | new NAME",
    .about =
        "Runs the items of FILE on the megakernel, and prints the end of each, the counters, the debug log and the results.\n"
        "Each line is an item. # begins a comment:\n"
        "\n"
        "  OP [tenant=N] [priority=CRITICAL|HIGH|NORMAL|LOW|IDLE] ARGUMENT...\n"
        "\n"
        "OP is a code, or nop, store, add, load, swap, copy, fence, print or shutdown (docs/megakernel.md).\n"
        "\n"
        "`replay LOG` runs the items that -log appended to LOG, and reports those with another end. `new NAME` makes a folder\n"
        "with a handler, items for it and a host program.\n",
    .after = "Exit codes: 0 all items are DONE (or end as in the log), 1 some are not, or the file is wrong, 2 wrong use, 3 the\n"
             "device failed.\n",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .inputs = AT(inputs),
    .files = AT(responses)};

static vyre_status
print_help(const char *format)
{
  VYRE_TRY(console_help(&table, format, VYRE_VERSION));
  if (strcmp(format, "text") == 0) {
    fputs("\nNames of targets:\n\n", stdout);
    for (const vyre_target_ops *const *at = vyre_targets; *at; at++)
      printf("  %-12s %s\n", (*at)->name, (*at)->summary);
  }
  return VYRE_OK;
}

static bool
is_command(const mega_options *o, const char *name)
{
  return o->inputs.count == 2 && strcmp(o->inputs.names[0], name) == 0;
}

static bool
is_replay(const mega_options *o)
{
  return is_command(o, "replay");
}

static vyre_status
check_options(mega_options *o)
{
  if ((o->watches || o->metrics_path) && !o->is_live)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-%s needs -live\nFix: add -live", o->watches ? "watch" : "metrics");
  if (o->passes.text && o->is_live)
    return VYRE_ERROR(VYRE_CODE_USAGE, "-passes repeats a dispatch, but with -live the kernel runs until the queue is done\n"
                                       "Fix: leave out -passes or -live");
  if (o->is_live && !o->on.timeout.text) /* the one launch runs as long as the program */
    o->on.timeout.value = 0;
  if (o->inputs.count != 1 && !is_replay(o))
    return VYRE_ERROR(VYRE_CODE_USAGE, "%s\nFix: give one file, vyre-mega [options] FILE; -help lists the options",
                      o->inputs.count ? "more than one file" : "no file");
  o->target = o->target_name ? vyre_target_find(o->target_name) : vyre_targets[0];
  if (!o->target)
    return VYRE_ERROR(VYRE_CODE_USAGE, "unknown target '%s'\nFix: give a name from the list of vyre-mega -help", o->target_name);
  return VYRE_OK;
}

static vyre_status
run(mega_options *o, uint32_t *out_faults)
{
  mega_queue queue;
  if (is_command(o, "new"))
    return mega_new(o->inputs.names[1]);
  VYRE_TRY(check_options(o));
  uint64_t dropped = 0;
  vyre_status status =
      is_replay(o) ? mega_queue_replay(o->inputs.names[1], &queue, &dropped) : mega_queue_read(o->inputs.names[0], &queue);
  if (dropped && !status)
    fprintf(stderr, "vyre-mega: warning: %s: %" PRIu64 " bytes after item %" PRIu32 " are damaged\n", o->inputs.names[1], dropped,
            queue.count);
  if (!status)
    status = mega_run(o, &queue, out_faults);
  mega_queue_free(&queue);
  return status;
}

int
main(int argc, char **argv)
{
  static mega_options options = {.observables = {.value = 64}, .on.timeout.value = OPTION_TIMEOUT};
  uint32_t faults = 0;
  vyre_status status = option_table_parse(&table, argc, argv, &options);
  if (!status)
    status = options.help ? print_help(options.help) : run(&options, &faults);
  option_table_free(&table, &options);
  return console_end("vyre-mega", status, faults != 0);
}
