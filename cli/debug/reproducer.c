/* SPDX-License-Identifier: Apache-2.0 */
#include "reproducer.h"

#include "base/grow.h"
#include "base/files/names.h"
#include "cli/options/console.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FIRST_LINE "; vyre reproducer: vyre-passmgr -run-reproducer="
#define OPTION     "; option "
#define PLUGIN     "; plugin "

/* ---- failures ------------------------------------------------------------------------------------------------------------ */

/* Returns the first line of the error, up to the number of the run, which differs in a shorter pipeline. */
static const char *
failure_text(const work *w, size_t *out_length)
{
  const char *said = w->said.data ? w->said.data : "", *error = w->said.size ? strstr(said, "error: ") : NULL;
  const char *text = w->status ? vyre_status_text(w->status) : error ? error + 7 : "";
  const char *end = text + strcspn(text, "\n"), *run = strstr(text, ", run ");
  *out_length = (size_t)((run && run < end ? run : end) - text);
  return text;
}

/* Returns the end of the digits. */
static const char *
skip_number(const char *text, const char *end)
{
  while (text < end && *text >= '0' && *text <= '9')
    text++;
  return text;
}

bool
reproducer_fails_alike(const work *a, const work *b)
{
  size_t la, lb;
  const char *ta = failure_text(a, &la), *tb = failure_text(b, &lb), *const ea = ta + la, *const eb = tb + lb;
  while (ta < ea && tb < eb) {
    const char *na = skip_number(ta, ea), *nb = skip_number(tb, eb);
    if ((na == ta) != (nb == tb) || (na == ta && *ta != *tb))
      return false;
    ta = na + (na == ta);
    tb = nb + (nb == tb);
  }
  return ta == ea && tb == eb && work_code(a) == work_code(b);
}

const char *
reproducer_find_run(const vyre_bytes *said, uint64_t run, size_t *out_length)
{
  char begin[40];
  const int length = snprintf(begin, sizeof(begin), "run %" PRIu64 ": ", run);
  for (const char *at = said->size ? said->data : ""; *at; at += strcspn(at, "\n"), at += *at == '\n') {
    if (strncmp(at, begin, (size_t)length) != 0)
      continue;
    const char *text = at + length, *skipped;
    *out_length = strcspn(text, "\n");
    skipped = strstr(text, " (skipped)\n");
    if (skipped && skipped < text + *out_length)
      *out_length = (size_t)(skipped - text);
    return text;
  }
  return NULL;
}

/* ---- changes for isolated runs of the input ------------------------------------------------------------------------------ */

static void
as_text(tool *t)
{
  tool_options *o = &t->options;
  o->emit = "vir";
  o->verify_each = o->run_twice = o->print_before_all = o->print_after_all = false;
  o->print_before.count = o->print_after.count = 0;
  o->print_changed = o->dump_dir = o->roundtrip = NULL;
}

static vyre_status
only_before(tool *t, uint32_t index, const void *user)
{
  (void)index;
  as_text(t);
  t->options.list_runs = true;
  t->options.runs.is_bounded = true;
  t->options.runs.last = *(const uint64_t *)user - 1;
  return VYRE_OK;
}

static vyre_status
as_read(tool *t, uint32_t index, const void *user)
{
  (void)index;
  (void)user;
  as_text(t);
  t->pipeline = NULL;
  return VYRE_OK;
}

/* Makes the reproducer the input. */
static vyre_status
as_reproducer(tool *t, uint32_t index, const void *user)
{
  static char program[] = "vyre-passmgr";
  static arguments of_file; /* lives until the process ends */
  char *argv[] = {program, NULL};
  t->options.run_reproducer = user;
  t->options.trust_reproducer = true;
  t->options.inputs.count = 0;
  VYRE_TRY(reproducer_options(1, argv, &t->options, &of_file));
  t->works[index].path = user;
  t->works[index].given = NULL;
  t->pipeline = NULL;
  return tool_read_pipeline(t);
}

/* ---- writing ------------------------------------------------------------------------------------------------------------- */

/* Returns the 64-bit FNV-1a hash of the bytes. */
static uint64_t
hash_of(const vyre_bytes *bytes)
{
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < bytes->size; i++)
    hash = (hash ^ (unsigned char)bytes->data[i]) * UINT64_C(0x100000001b3);
  return hash;
}

static vyre_status
hash_file(const char *path, uint64_t *out)
{
  vyre_bytes bytes = {0};
  vyre_status status = vyre_file_read_as(path, VYRE_FILE_PLAIN, &bytes);
  *out = hash_of(&bytes);
  vyre_bytes_free(&bytes);
  return status;
}

/* Appends "; plugin acme 2.1 0123456789abcdef /path/acme.so" for each -load. */
static vyre_status
print_plugins(const tool *t, vyre_bytes *out)
{
  const name_list *load = &t->options.load;
  char full[PATH_MAX];
  for (uint32_t i = 0; i < load->count; i++) {
    uint64_t hash;
    VYRE_TRY(hash_file(load->names[i], &hash));
    for (uint32_t k = 0; k < vyre_registry_pass_count(t->registry) && realpath(load->names[i], full); k++) {
      const vyre_pass_info info = vyre_registry_pass(t->registry, k);
      if (strcmp(info.path, full) != 0)
        continue;
      VYRE_TRY(vyre_bytes_printf(out, PLUGIN "%s %s %016" PRIx64 " %s\n", info.plugin, info.version, hash, full));
      break;
    }
  }
  return VYRE_OK;
}

/* Appends each line of the text as a comment. */
static vyre_status
print_messages(const char *text, vyre_bytes *out)
{
  while (*text) {
    const size_t length = strcspn(text, "\n");
    VYRE_TRY(vyre_bytes_printf(out, ";   %.*s\n", (int)(length < 1000 ? length : 1000), text));
    text += length + (text[length] == '\n');
  }
  return VYRE_OK;
}

/* Appends the options.  `passes` is the whole pipeline, from which options choose runs, or one pass if `is_one` is set. */
static vyre_status
print_options(const tool *t, const work *w, const char *passes, size_t length, bool is_one, vyre_bytes *out)
{
  const tool_options *o = &t->options;
  VYRE_TRY(options_print_kept(o, OPTION, out));
  VYRE_TRY(vyre_bytes_printf(out, OPTION "-isolate\n" OPTION "-emit=%s\n" OPTION "-passes=%.*s\n",
                             output_words[outputs_form(o, w->kind)], (int)length, passes));
  if (!is_one && o->opt_bisect)
    VYRE_TRY(vyre_bytes_printf(out, OPTION "-opt-bisect=%s\n", o->opt_bisect));
  for (uint32_t i = 0; i < o->skip_pass.count && !is_one; i++)
    VYRE_TRY(vyre_bytes_printf(out, OPTION "-skip-pass=%s\n", o->skip_pass.names[i]));
  return VYRE_OK;
}

/* Writes a reproducer.  `passes` is NULL for the whole pipeline. */
static vyre_status
write_one(const tool *t, const work *failed, const char *path, const char *passes, size_t length, const vyre_bytes *module,
          const char *remark)
{
  vyre_bytes text = {0}, all = {0};
  vyre_status status = vyre_bytes_printf(&text, FIRST_LINE "%s\n%s; exit code %d:\n", path, remark, work_code(failed));
  if (!status && failed->said.size)
    status = print_messages(failed->said.data, &text);
  if (!status && failed->status)
    status = print_messages(vyre_status_text(failed->status), &text);
  if (!status)
    status = print_plugins(t, &text);
  if (!status && !passes)
    status = vyre_pipeline_print(t->pipeline, &all);
  if (!status)
    status = print_options(t, failed, passes ? passes : all.data, passes ? length : all.size, passes != NULL, &text);
  if (!status)
    status = vyre_bytes_append(&text, module->data, module->size);
  if (!status)
    status = vyre_file_write(path, text.data, text.size);
  vyre_bytes_free(&all);
  vyre_bytes_free(&text);
  return status;
}

vyre_status
reproducer_print(const tool *t, const work *failed, const char *path, const char *passes, const vyre_bytes *module,
                 const char *remark)
{
  return write_one(t, failed, path, passes, strlen(passes), module, remark);
}

vyre_status
reproducer_check(tool *t, uint32_t index, const char *path, const work *failed, bool *out_same)
{
  uint64_t run;
  work again;
  vyre_status status = tool_attempt(t, index, as_reproducer, path, &again, &run);
  *out_same = !status && reproducer_fails_alike(&again, failed);
  tool_free_attempt(&again);
  return status;
}

/* Writes the module before the failing pass, with that pass as the pipeline. */
static vyre_status
write_least(tool *t, uint32_t index, uint64_t run, const char *path, bool *out_same)
{
  uint64_t last;
  size_t length = 0;
  work before;
  *out_same = false;
  for (;; run--) { /* in a sequence on a device an earlier run may have failed */
    VYRE_TRY(tool_attempt(t, index, only_before, &run, &before, &last));
    if (run == 1 || !reproducer_fails_alike(&before, &t->works[index]))
      break;
    tool_free_attempt(&before);
  }
  const char *pass = reproducer_find_run(&before.said, run, &length);
  vyre_status status = VYRE_OK;
  if (before.has_output && pass)
    status =
        write_one(t, &t->works[index], path, pass, length, &before.output, "; the module before the pass, and the pass alone\n");
  if (!status && before.has_output && pass)
    status = reproducer_check(t, index, path, &t->works[index], out_same);
  tool_free_attempt(&before);
  return status;
}

static vyre_status
write_whole(tool *t, uint32_t index, const char *path, bool *out_same)
{
  uint64_t last;
  work input;
  VYRE_TRY(tool_attempt(t, index, as_read, NULL, &input, &last));
  const work *failed = &t->works[index];
  vyre_status status = write_one(t, failed, path, NULL, 0, &input.output, "; the whole input and the whole pipeline\n");
  if (!status)
    status = reproducer_check(t, index, path, &t->works[index], out_same);
  if (!status && !*out_same)
    status = write_one(t, failed, path, NULL, 0, &input.output, "; a second run did not fail the same way\n");
  tool_free_attempt(&input);
  return status;
}

/* Prints the path DIR/NAME.reproducer.vir, with the input's number before the name if there are several inputs. */
static vyre_status
choose_path(const tool *t, uint32_t index, char *out, size_t size)
{
  const char *folder = t->options.reproducer, *input = t->options.inputs.names[index];
  const char *name = strcmp(input, "-") == 0 ? "stdin" : path_name(input);
  char number[16] = "";
  if (mkdir(folder, 0777) != 0 && errno != EEXIST)
    return VYRE_ERROR(VYRE_CODE_INPUT, "cannot create the folder '%s': %s\nFix: name a folder that can be written in -reproducer",
                      folder, strerror(errno));
  if (t->options.inputs.count > 1)
    snprintf(number, sizeof(number), "%u-", index + 1);
  if ((size_t)snprintf(out, size, "%s/%s%s.reproducer.vir", folder, number, name) >= size)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "the path of the reproducer is too long\nFix: name a folder with a shorter path in -reproducer");
  return VYRE_OK;
}

void
reproducer_write(tool *t, uint32_t index, uint64_t run, vyre_bytes *messages)
{
  char path[PATH_MAX];
  bool is_same = false;
  vyre_status status = choose_path(t, index, path, sizeof(path));
  if (!status && run)
    status = write_least(t, index, run, path, &is_same);
  if (!status && run && !is_same)
    status = write_whole(t, index, path, &is_same);
  vyre_status said;
  if (status)
    said = vyre_bytes_printf(messages, "vyre-passmgr: no reproducer: %s\n", vyre_status_text(status));
  else if (!run)
    said = vyre_bytes_printf(messages, "vyre-passmgr: '%s' fails before any pass, so it needs no reproducer\n",
                             t->options.inputs.names[index]);
  else
    said = vyre_bytes_printf(messages, "vyre-passmgr: reproducer: %s%s\n", path,
                             is_same ? "" : ", which did not fail the same way when it was run: the failure is not deterministic");
  vyre_status_free(status);
  vyre_status_free(said);
}

/* ---- reading ------------------------------------------------------------------------------------------------------------- */

static vyre_status
format_error(const char *path)
{
  return VYRE_ERROR(VYRE_CODE_USAGE,
                    "%s:1:1: the file is not a reproducer, which begins with the line '" FIRST_LINE "...'\n"
                    "Fix: make a reproducer with -reproducer=DIR",
                    path);
}

/* Warns if a plugin has changed since the reproducer was written.  `line` is "NAME VERSION HASH PATH". */
static void
check_plugin(const char *line)
{
  char name[128], version[64], path[PATH_MAX];
  uint64_t was, is;
  if (sscanf(line, "%127s %63s %" SCNx64 " %4095[^\n]", name, version, &was, path) != 4)
    return;
  vyre_status status = hash_file(path, &is);
  if (!status && is != was)
    fprintf(stderr, "vyre-passmgr: warning: plugin '%s' (%s) has changed since the reproducer was written\n", name, path);
  vyre_status_free(status);
}

static bool
begins(const char *line, const char *with)
{
  return strncmp(line, with, strlen(with)) == 0;
}

/* Copies the name of an option, without control characters. */
static void
copy_name(const char *option, char out[64])
{
  size_t length = strcspn(option, "=");
  length = length < 63 ? length : 63;
  for (size_t i = 0; i < length; i++)
    out[i] = option[i] > ' ' && option[i] <= '~' ? option[i] : '?';
  out[length] = '\0';
}

static void
report_ignored(const char *path, uint32_t line, const char *option, bool is_first)
{
  char text[256], name[64];
  copy_name(option, name);
  snprintf(text, sizeof(text), "'%s' is ignored: a reproducer may only set passes, their target and the output format%s", name,
           is_first ? "\nFix: give it on the command line, or -trust-reproducer if you trust the file's author" : "");
  const vyre_diagnostic diagnostic = {.severity = VYRE_REMARK, .file = path, .line = line, .column = 1, .message = text};
  console_diagnostics.emit(console_diagnostics.user, &diagnostic);
}

static vyre_status
append_option(arguments *to, char *option)
{
  if (!vyre_grow(NULL, &to->all, &to->capacity, to->count + 1, sizeof *to->all))
    return VYRE_OUT_OF_MEMORY("for a reproducer's options");
  to->all[to->count++] = option;
  return VYRE_OK;
}

/* Reads the comments before the module, and ends each with a zero byte.  Collects the safe options, or all if the file is trusted.
 */
static vyre_status
read_lines(const char *path, bool is_trusted, arguments *out)
{
  VYRE_TRY(vyre_file_read_as(path, VYRE_FILE_TEXT, &out->text));
  VYRE_TRY(vyre_bytes_append(&out->text, "", 1));
  const vyre_input_kind kind = vyre_input_detect(path, out->text.data, out->text.size - 1);
  if (!begins(out->text.data, FIRST_LINE) || (kind != VYRE_INPUT_VIR && kind != VYRE_INPUT_UNKNOWN))
    return format_error(path);
  uint32_t number = 1, ignored = 0;
  for (char *line = out->text.data, *next; *line == ';'; line = next, number++) {
    char *end = line + strcspn(line, "\n");
    next = end + (*end == '\n');
    *end = '\0';
    if (is_trusted && begins(line, PLUGIN))
      check_plugin(line + strlen(PLUGIN));
    if (!begins(line, OPTION))
      continue;
    if (is_trusted || options_is_safe(line + strlen(OPTION)))
      VYRE_TRY(append_option(out, line + strlen(OPTION)));
    else
      report_ignored(path, number, line + strlen(OPTION), ignored++ == 0);
  }
  return VYRE_OK;
}

bool
arguments_replace(const char *option, int argc, char **argv)
{
  const size_t length = strcspn(option, "=");
  for (int i = 1; i < argc; i++) {
    const char *given = argv[i][0] == '-' && argv[i][1] == '-' ? argv[i] + 1 : argv[i];
    if (strncmp(given, option, length) == 0 && (given[length] == '=' || given[length] == '\0'))
      return !begins(option, "-load=") && !begins(option, "-plugin-dir=") && !begins(option, "-skip-pass=");
  }
  return false;
}

/* Joins the program, the file's options, the options of the command line, and the file as the input. */
static void
join(int argc, char **argv, const arguments *lines, const char *path, arguments *out)
{
  out->all[out->count++] = argv[0];
  for (uint32_t i = 0; i < lines->count; i++)
    if (!arguments_replace(lines->all[i], argc, argv))
      out->all[out->count++] = lines->all[i];
  for (int i = 1; i < argc; i++) {
    const char *name = argv[i] + strspn(argv[i], "-");
    if (!begins(name, "run-reproducer"))
      out->all[out->count++] = argv[i];
    else if (!strchr(name, '='))
      i++;
  }
  out->all[out->count++] = (char *)(uintptr_t)path; /* the parser never writes to its arguments */
}

vyre_status
reproducer_options(int argc, char **argv, tool_options *options, arguments *out)
{
  const char *path = options->run_reproducer;
  const bool is_trusted = options->trust_reproducer;
  arguments lines = {0};
  vyre_status status = VYRE_OK;
  if (options->inputs.count)
    status = VYRE_ERROR(VYRE_CODE_USAGE, "-run-reproducer has no other input\nFix: leave out '%s'", options->inputs.names[0]);
  else if (strcmp(path, "-") == 0)
    status = VYRE_ERROR(VYRE_CODE_USAGE, "-run-reproducer reads its file twice, but standard input can be read only once\n"
                                         "Fix: name a file");
  if (!status)
    status = read_lines(path, is_trusted, &lines);
  out->text = lines.text;
  out->all = calloc((size_t)lines.count + (size_t)argc + 2, sizeof(*out->all));
  if (!status && !out->all)
    status = VYRE_OUT_OF_MEMORY("for a reproducer's options");
  if (!status) {
    join(argc, argv, &lines, path, out);
    options_free(options);
    status = options_parse((int)out->count, out->all, NULL, options);
    options->denies_files = !is_trusted && !arguments_replace("-passes", argc, argv);
  }
  free(lines.all);
  return vyre_status_note(status, "for -run-reproducer=%s", path);
}

void
arguments_free(arguments *a)
{
  vyre_bytes_free(&a->text);
  free(a->all);
}
