/* vyre-queue: puts shaders as jobs into a queue on a Redis server, and gets the outputs.  vyre-passmgr -queue processes the jobs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre_queue.h"

#include "cli/options/console.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(queue_line, field)

static const option_row rows[] = {
    {.name = "submit", OPTION_SECTION},
    {.name = "retry", OPTION_FLAG, AT(retries), NULL, "submit jobs again that failed or were set aside"},
    {.name = "status", OPTION_SECTION},
    {.name = "format", OPTION_WORD, AT(status), "text|json", "the form of the status. Default: text"},
    {.name = "collect", OPTION_SECTION},
    {.name = "reproducers",
     OPTION_TEXT,
     AT(reproducers),
     "DIR",
     "write the reproducer of each job that was set aside into DIR. vyre-passmgr -run-reproducer runs it"},
    {.name = "cancel", OPTION_SECTION},
    {.name = "all", OPTION_FLAG, AT(all), NULL, "also remove inputs, results and outputs: everything of this name"},
    {.name = "All commands", OPTION_SECTION},
    OPTION_REDIS_ROWS(AT(redis_password), AT(redis_wait)),
    {.name = "version", OPTION_FLAG, AT(version), NULL, "print the version"},
    OPTION_HELP_ROWS(AT(help)),
};

static const option_table table = {
    .program = "vyre-queue",
    .usage = "submit|status|collect|cancel redis://[USER@]HOST[:PORT]/NAME [options] [INPUT...]",
    .about = "Puts shaders as jobs into the queue NAME on a Redis server, prints the progress, and gets the outputs.\n"
             "  submit   puts inputs into the queue. Options of vyre-passmgr, such as -O, describe the jobs. Jobs that are\n"
             "           known are not put again, so the same command continues after an interruption\n"
             "  status   prints how many jobs are finished, and the messages of those that failed\n"
             "  collect  writes outputs, by -outdir or -o of vyre-passmgr. INPUTs or options of the jobs choose some of them\n"
             "  cancel   removes jobs that are not finished\n",
    .after =
        "vyre-passmgr -queue=redis://HOST/NAME processes the jobs (docs/scale-out.md).  Exit codes: those of vyre-passmgr; 1 if\n"
        "jobs failed or are not finished, 3 if the server cannot be used.\n",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .inputs = AT(inputs),
    .files = AT(responses)};

/* Returns the row of an argument that is an option of vyre-queue, or NULL. */
static const option_row *
find_own(const char *argument)
{
  const char *name = argument + (argument[0] == '-') + (argument[0] == '-' && argument[1] == '-');
  const size_t length = strcspn(name, "=");
  for (size_t i = 0; i < table.count && argument[0] == '-'; i++)
    if (rows[i].kind != OPTION_SECTION && strlen(rows[i].name) == length && memcmp(rows[i].name, name, length) == 0)
      return &rows[i];
  return NULL;
}

/* Parses the options of vyre-queue, the command and the place, and collects all other arguments for vyre-passmgr. */
static vyre_status
parse(int argc, char **argv, queue_line *line)
{
  const char **own = calloc((size_t)argc + 1, sizeof *own);
  int count = 0, names = 0;
  bool only_inputs = false;
  line->argv = calloc((size_t)argc + 1, sizeof *line->argv);
  if (!own || !line->argv) {
    free(own);
    return VYRE_OUT_OF_MEMORY("for the command line");
  }
  own[count++] = argv[0];
  line->argv[line->argc++] = "vyre-queue";
  for (int i = 1; i < argc; i++) {
    const option_row *row = only_inputs ? NULL : find_own(argv[i]);
    const bool is_name = argv[i][0] != '-' && !only_inputs && (names == 0 || (names == 1 && remote_is_place(argv[i])));
    names += is_name;
    only_inputs |= strcmp(argv[i], "--") == 0;
    if (!row && !is_name) {
      line->argv[line->argc++] = argv[i];
      continue;
    }
    own[count++] = argv[i];
    if (row && row->kind != OPTION_FLAG && !row->alone && !strchr(argv[i], '=') && i + 1 < argc)
      own[count++] = argv[++i];
  }
  vyre_status status = option_table_parse(&table, count, (char **)(uintptr_t)own, line);
  free(own);
  return status;
}

/* Parses the options of vyre-passmgr, with -list-inputs, so that many inputs need no -outdir. */
static vyre_status
parse_others(queue_line *line)
{
  const char **all = realloc(line->argv, ((size_t)line->argc + 1) * sizeof *all);
  if (!all)
    return VYRE_OUT_OF_MEMORY("for the command line");
  line->argv = all;
  /* after the program, because a "--" of the user may end the options */
  memmove(all + 2, all + 1, ((size_t)line->argc - 1) * sizeof *all);
  all[1] = "-list-inputs";
  line->argc++;
  return options_parse(line->argc, (char **)(uintptr_t)all, NULL, &line->options);
}

static vyre_status
check_submit(const tool_options *o)
{
  if (o->inputs.count == 0)
    return VYRE_ERROR(VYRE_CODE_USAGE, "no input\nFix: name files, patterns, @LISTS or archives");
  if (o->output || o->outdir)
    return VYRE_ERROR(VYRE_CODE_USAGE, "vyre-queue submit writes no output\nFix: give -%s to vyre-queue collect",
                      o->outdir ? "outdir" : "o");
  return VYRE_OK;
}

static vyre_status
check_collect(const tool_options *o)
{
  return o->outdir || o->output
             ? VYRE_OK
             : VYRE_ERROR(VYRE_CODE_USAGE, "no place for the outputs\n"
                                           "Fix: name a folder with -outdir=DIR, or an archive with -o FILE.foz");
}

static vyre_status
run(queue_line *line, const char *command, int *out_code)
{
  queue q;
  vyre_status status = queue_open(line->inputs.names[1], line->redis_password, line->redis_wait.value, &q);
  if (!status && strcmp(command, "submit") != 0) {
    bool exists;
    status = queue_exists(&q, &exists);
    if (!status && !exists)
      status = queue_absent(&q);
  }
  if (!status)
    status = strcmp(command, "submit") == 0    ? command_submit(line, &q, out_code)
             : strcmp(command, "status") == 0  ? command_status(line, &q)
             : strcmp(command, "collect") == 0 ? command_collect(line, &q, out_code)
                                               : command_cancel(line, &q);
  queue_close(&q);
  return status;
}

static vyre_status
check(queue_line *line)
{
  static const char *const commands[] = {"submit", "status", "collect", "cancel"};
  static const char *const options[] = {"retry", "format", "reproducers", "all"}; /* by command */
  const bool given[] = {line->retries, line->status != NULL, line->reproducers != NULL, line->all};
  const char *command = line->inputs.count ? line->inputs.names[0] : "";
  size_t which = 0;
  while (which < 4 && strcmp(command, commands[which]) != 0)
    which++;
  if (which == 4)
    return VYRE_ERROR(VYRE_CODE_USAGE, "%s%s%s\nFix: vyre-queue submit|status|collect|cancel redis://HOST/NAME",
                      *command ? "unknown command '" : "no command", command, *command ? "'" : "");
  if (line->inputs.count < 2 && line->argc > 1)
    return VYRE_ERROR(VYRE_CODE_USAGE, "'%.200s' is not the address of a queue\nFix: vyre-queue %s redis://HOST[:PORT]/NAME",
                      line->argv[1], command);
  if (line->inputs.count < 2)
    return VYRE_ERROR(VYRE_CODE_USAGE, "no queue\nFix: vyre-queue %s redis://HOST[:PORT]/NAME", command);
  for (size_t i = 0; i < 4; i++)
    if (given[i] && i != which)
      return VYRE_ERROR(VYRE_CODE_USAGE, "-%s belongs to vyre-queue %s, not to %s\nFix: leave it out", options[i], commands[i],
                        command);
  if (which == 0 || which == 2) {
    VYRE_TRY(parse_others(line));
    return which == 0 ? check_submit(&line->options) : check_collect(&line->options);
  }
  return line->argc == 1
             ? VYRE_OK
             : VYRE_ERROR(VYRE_CODE_USAGE, "vyre-queue %s does not accept '%.200s'\nFix: leave it out", command, line->argv[1]);
}

int
main(int argc, char **argv)
{
  static queue_line line = {.redis_wait = {.value = OPTION_REDIS_WAIT}};
  int code = 0;
  signal(SIGPIPE, SIG_IGN); /* the server may close a connection */
  vyre_status status = parse(argc, argv, &line);
  if (!status && line.help)
    status = console_help(&table, line.help, VYRE_VERSION);
  else if (!status && line.version)
    printf("vyre-queue %s\n", VYRE_VERSION);
  else if (!status) {
    status = check(&line);
    if (!status)
      status = run(&line, line.inputs.names[0], &code);
  }
  options_free(&line.options);
  option_table_free(&table, &line);
  free(line.argv);
  return console_end("vyre-queue", status, code);
}
