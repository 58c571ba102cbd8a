/* vyre-mega: runs a queue of items from a text file by the megakernel, and prints what came of it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "mega.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: vyre-mega [options] FILE\n"
    "\n"
    "Runs the items of FILE by the megakernel, and prints what came of each, the counters, the debug log and the results.\n"
    "An item a line; from # on it is a comment:\n"
    "\n"
    "  OP [tenant=N] [priority=CRITICAL|HIGH|NORMAL|LOW|IDLE] ARGUMENT...\n"
    "\n"
    "OP is a code, or nop, store, add, load, swap, copy, fence, print or shutdown: docs/megakernel.md has what each does.\n"
    "\n"
    "  -target=NAME         where; the names are below, the first is the default\n"
    "  -priority            the upper priorities first\n"
    "  -live                a kernel that is kept running takes them one by one\n"
    "  -slots=N             of the ring (64); a longer queue is several dispatches\n"
    "  -observables=N       words for results (64)\n"
    "  -handlers=FILE       functions of .vir,\n"
    "  -op=CODE:FUNCTION    and which of them is for an op code; any number of these\n"
    "  -device=NAME, -library=FILE, -cache-dir=DIR|none, -validate, -timeout=SECONDS\n"
    "                       as those of vyre-run\n"
    "  -help                print this\n"
    "\n"
    "Exit codes: 0 all are DONE, 1 some are not, or the file is wrong, 2 wrong use, 3 the device failed.\n"
    "\n"
    "targets:\n";

static void
print_usage(FILE *to)
{
  fputs(usage, to);
  for (const vyre_target_ops *const *at = vyre_targets; *at; at++)
    fprintf(to, "  %-12s %s\n", (*at)->name, (*at)->summary);
}

static bool
take(const char *word, const char *option, const char **out)
{
  const size_t length = strlen(option);
  if (strncmp(word, option, length) != 0)
    return false;
  *out = word + length;
  return true;
}

static bool
read_number(const char *text, uint32_t most, uint32_t *out)
{
  char *end;
  const unsigned long long value = strtoull(text, &end, 0);
  *out = (uint32_t)value;
  return text[0] >= '0' && text[0] <= '9' && *end == '\0' && value <= most;
}

static bool
read_handler(const char *text, mega_options *out)
{
  char *end;
  const unsigned long long op = strtoull(text, &end, 0);
  if (end == text || *end != ':' || op > UINT32_MAX || out->handler_count == MOST_HANDLERS)
    return false;
  out->handlers[out->handler_count++] = (vyre_mega_handler){(uint32_t)op, end + 1};
  return true;
}

static bool
read_option(const char *word, mega_options *out)
{
  const char *value;
  if (strcmp(word, "-priority") == 0)
    return out->by_priority = true;
  if (strcmp(word, "-live") == 0)
    return out->is_live = true;
  if (strcmp(word, "-validate") == 0)
    return out->validate = true;
  if (take(word, "-target=", &value))
    return (out->target = vyre_target_find(value)) != NULL;
  if (take(word, "-slots=", &value))
    return read_number(value, VYRE_MEGA_MOST_SLOTS, &out->slots) && out->slots;
  if (take(word, "-observables=", &value))
    return read_number(value, VYRE_MEGA_MOST_OBSERVABLES, &out->observables);
  if (take(word, "-timeout=", &value))
    return read_number(value, UINT32_MAX, &out->timeout);
  if (take(word, "-op=", &value))
    return read_handler(value, out);
  return take(word, "-handlers=", &out->handlers_path) || take(word, "-device=", &out->device) ||
         take(word, "-library=", &out->library) || take(word, "-cache-dir=", &out->cache_dir);
}

/* -1: go on; else the exit code. */
static int
read_options(int argc, char **argv, mega_options *out)
{
  *out = (mega_options){.target = vyre_targets[0], .observables = 64};
  for (int i = 1; i < argc; i++) {
    const char *word = argv[i][0] == '-' && argv[i][1] == '-' ? argv[i] + 1 : argv[i];
    if (strcmp(word, "-help") == 0) {
      print_usage(stdout);
      return 0;
    }
    if (word[0] == '-' ? !read_option(word, out) : out->input != NULL) {
      fprintf(stderr, "vyre-mega: error: '%s' is no option, or no value of it, or a second file\nFix: vyre-mega -help lists them\n",
              argv[i]);
      return 2;
    }
    if (word[0] != '-')
      out->input = word;
  }
  if (out->input)
    return -1;
  print_usage(stderr);
  return 2;
}

int
main(int argc, char **argv)
{
  static mega_options options;
  mega_queue queue;
  uint32_t faults = 0;
  int code = read_options(argc, argv, &options);
  if (code >= 0)
    return code;
  vyre_status status = mega_queue_read(options.input, &queue);
  if (!status)
    status = mega_run(&options, &queue, &faults);
  mega_queue_free(&queue);
  code = status ? (int)vyre_status_code(status) : faults != 0;
  if (status)
    fprintf(stderr, "vyre-mega: error: %s\n", vyre_status_text(status));
  vyre_status_free(status);
  return code;
}
