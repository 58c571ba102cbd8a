/* Compiles GLSL and HLSL with vyre-glsl, and turns the log of glslang into diagnostics.
 *
 * glslang reports lines without columns: "ERROR: blur.comp:12: 'x' : undeclared identifier".
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/glsl.h"
#include "base/clock.h"
#include "base/options.h"

#include "glslang.h"
#include "base/clock.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- messages ------------------------------------------------------------------------------------------------------------ */

typedef struct sink_state {
  const char *path;
  const char *text;
  size_t length;
  vyre_diagnostics diagnostics;
  vyre_status status;
  char *misuse; /* the message about a wrong setting, owned */
  uint32_t errors;
} sink_state;

static void
find_line(const sink_state *state, uint32_t line, const char **out, size_t *out_length)
{
  const char *at = state->text, *end = state->text + state->length;
  *out = NULL;
  *out_length = 0;
  for (uint32_t i = 1; at < end; i++) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    if (!stop)
      stop = end;
    if (i == line) {
      *out = at;
      *out_length = (size_t)(stop - at);
      return;
    }
    at = stop + 1;
  }
}

/* The first ":digits:" splits file from message; a colon in a file name is followed by something else. */
static const char *
split_place(char *text, char **out_file, uint32_t *out_line)
{
  for (char *colon = strchr(text, ':'); colon; colon = strchr(colon + 1, ':')) {
    char *end;
    const unsigned long line = strtoul(colon + 1, &end, 10);
    if (end > colon + 1 && *end == ':' && line <= UINT32_MAX) {
      *colon = '\0';
      *out_file = text;
      *out_line = (uint32_t)line;
      return end + 1 + (end[1] == ' ');
    }
  }
  *out_file = NULL;
  *out_line = 0;
  return text;
}

static void
append_log(void *user, const char *text)
{
  sink_state *state = user;
  vyre_severity severity = VYRE_NOTE;
  const char *rest = text;
  if (strncmp(text, "ERROR: ", 7) == 0) {
    severity = VYRE_SEVERE;
    rest = text + 7;
  } else if (strncmp(text, "WARNING: ", 9) == 0) {
    severity = VYRE_WARNING;
    rest = text + 9;
  } else if (strncmp(text, "Warning, ", 9) == 0 && !strstr(text, "is not yet complete")) {
    severity = VYRE_WARNING;
    rest = text + 9;
  } else if (strncmp(text, "SETTING: ", 9) == 0) {
    free(state->misuse);
    state->misuse = strdup(text + 9);
    return;
  } else {
    return; /* glslang repeats the file's name on a line of its own */
  }
  if (strstr(rest, "compilation errors.  No code generated.") || (state->errors && strstr(rest, "'' : compilation terminated")))
    return; /* a summary, not an error */
  char *copy = strdup(rest);
  if (!copy) {
    state->status = vyre_status_join(state->status, VYRE_OUT_OF_MEMORY("for a message of the GLSL compiler"));
    return;
  }
  char *file;
  vyre_diagnostic diagnostic = {.severity = severity};
  diagnostic.message = split_place(copy, &file, &diagnostic.line);
  diagnostic.file = file ? file : state->path;
  if (!file || strcmp(file, state->path) == 0)
    find_line(state, diagnostic.line, &diagnostic.source, &diagnostic.source_length);
  if (strstr(diagnostic.message, "Entry point not found")) { /* glslang only warns, but makes no shader */
    severity = diagnostic.severity = VYRE_SEVERE;
    diagnostic.fix = "name the function of the shader that is the entry point";
  } else if (strstr(diagnostic.message, "Could not process include directive"))
    diagnostic.fix = "add the folder of the included file to the include folders";
  else if (strstr(diagnostic.message, "no such file in the include root"))
    diagnostic.fix = "add its folder to the include folders; files outside of the include root are not read";
  if (severity == VYRE_SEVERE)
    state->errors++;
  if (state->diagnostics.emit)
    state->diagnostics.emit(state->diagnostics.user, &diagnostic);
  free(copy);
}

/* Checks NAME, NAME=VALUE or NAME(...)=VALUE.  Refuses a wrong name, and a value with a line end. */
static vyre_status
check_define(const char *define)
{
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_", digits[] = "0123456789";
  size_t length = 0;
  if (define[0] && strchr(letters, define[0]))
    while (define[length] && (strchr(letters, define[length]) || strchr(digits, define[length])))
      length++;
  if (length == 0 || !strchr("=(", define[length]) || strpbrk(define, "\r\n"))
    return VYRE_ERROR(VYRE_CODE_USAGE, "'%s' is not the definition of a macro\nFix: write NAME or NAME=VALUE, as in SIZE=16",
                      define);
  return VYRE_OK;
}

/* Returns the absolute path of a folder without links.  Returns false if it is not a folder. */
static bool
resolve_folder(const char *path, char out[PATH_MAX])
{
  struct stat file;
  return realpath(path, out) && stat(out, &file) == 0 && S_ISDIR(file.st_mode);
}

/* Resolves the include root, and checks that the folders of -I are in it or do not exist. */
static vyre_status
resolve_root(const vyre_glsl_options *options, char out[PATH_MAX])
{
  char folder[PATH_MAX];
  out[0] = '\0';
  if (!options->include_root)
    return VYRE_OK;
  if (!resolve_folder(options->include_root, out))
    return VYRE_ERROR(VYRE_CODE_USAGE, "the include root '%s' is not a folder: %s\nFix: name a folder as the include root",
                      options->include_root, strerror(errno ? errno : ENOTDIR));
  const size_t length = strcmp(out, "/") == 0 ? 0 : strlen(out);
  for (uint32_t i = 0; i < options->include_dir_count; i++)
    if (resolve_folder(options->include_dirs[i], folder) &&
        (strncmp(folder, out, length) != 0 || (folder[length] != '/' && folder[length] != '\0')))
      return VYRE_ERROR(VYRE_CODE_USAGE,
                        "the include folder '%s' is outside of the include root '%s'\nFix: name a root that contains both",
                        options->include_dirs[i], options->include_root);
  return VYRE_OK;
}

static vyre_status
append_text(vyre_bytes *out, const char *text)
{
  return vyre_bytes_append(out, text, strlen(text) + 1);
}

/* Appends the strings and the text of a request. */
static vyre_status
write_request(const char *text, size_t length, const char *path, const vyre_glsl_options *options, vyre_bytes *out)
{
  char here[PATH_MAX], root[PATH_MAX];
  VYRE_TRY(resolve_root(options, root));
  VYRE_TRY(append_text(out, path));
  VYRE_TRY(append_text(out, getcwd(here, sizeof here) ? here : ""));
  VYRE_TRY(append_text(out, root));
  VYRE_TRY(append_text(out, options->entry_point ? options->entry_point : ""));
  for (uint32_t i = 0; i < options->include_dir_count; i++)
    VYRE_TRY(append_text(out, options->include_dirs[i]));
  for (uint32_t i = 0; i < options->define_count; i++)
    VYRE_TRY(append_text(out, options->defines[i]));
  for (uint32_t i = 0; i < options->setting_count; i++)
    VYRE_TRY(append_text(out, options->settings[i]));
  return vyre_bytes_append(out, text, length);
}

static vyre_status
end_error(const glsl_request *asked, const glsl_end *end, const sink_state *state)
{
  const char *path = state->path;
  const uint32_t errors = state->errors;
  const char *what = asked->task == GLSL_TOOLS ? "SPIRV-Tools" : "the GLSL compiler";
  if (end->signal == SIGXCPU)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "%s: %s used more than %u second%s of processor time, and was stopped\n"
                      "Fix: if you trust the shader, allow more with -glsl-seconds=N",
                      path, what, asked->most_seconds, asked->most_seconds == 1 ? "" : "s");
  if (end->signal)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "%s: %s crashed with signal %u (%s)\n"
                      "Fix: %ssimplify the shader, or give SPIR-V made by another compiler",
                      path, what, end->signal, strsignal((int)end->signal),
                      asked->debug >= 2 ? "leave out NonSemantic debug information, " : "");
  switch (end->result) {
  case GLSL_OK:
    return VYRE_OK;
  case GLSL_NO_MEMORY:
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "%s: %s ran out of its memory of %u MiB\n"
                      "Fix: if you trust the shader, allow more with -glsl-memory=MIB",
                      path, what, asked->most_memory);
  case GLSL_TOO_LARGE:
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "%s: the shader has more than %u MiB after preprocessing\n"
                      "Fix: if you trust the shader, allow more with -glsl-expansion=MIB",
                      path, asked->most_expansion);
  case GLSL_WRONG_FLAG:
    return VYRE_ERROR(VYRE_CODE_USAGE, "SPIRV-Tools does not accept a flag\nFix: spirv-opt --help lists its flags");
  case GLSL_MISUSED:
    return VYRE_ERROR(VYRE_CODE_USAGE, "%s",
                      state->misuse ? state->misuse
                                    : "a setting of the GLSL compiler is wrong\nFix: vyre-passmgr -help lists the settings");
  case GLSL_REJECTED:
    if (asked->task == GLSL_TOOLS)
      return VYRE_ERROR(VYRE_CODE_INPUT, "%s: SPIRV-Tools does not accept the module\nFix: give valid SPIR-V", path);
    return errors ? VYRE_ERROR(VYRE_CODE_INPUT, "%s: %u error%s in the shader\nFix: correct the shader at these lines", path,
                               errors, errors == 1 ? "" : "s")
                  : VYRE_ERROR(VYRE_CODE_INPUT, "%s: errors in the shader\nFix: correct the shader as the messages say", path);
  default:
    return VYRE_ERROR(VYRE_CODE_INPUT, "%s: %s failed\nFix: free memory and processes", path, what);
  }
}

static uint32_t
or_default(uint32_t value, uint32_t otherwise)
{
  return value ? value : otherwise;
}

static vyre_status
check_options(size_t length, const char *path, const vyre_glsl_options *options)
{
  if (length > INT_MAX)
    return VYRE_ERROR(VYRE_CODE_INPUT, "%s: a shader of %zu bytes is too long\nFix: shorten it to less than 2 GiB", path, length);
  for (uint32_t i = 0; i < options->define_count; i++)
    VYRE_TRY(check_define(options->defines[i]));
  if ((uint32_t)options->target_env >= VYRE_GLSL_ENV__COUNT)
    return VYRE_ERROR(VYRE_CODE_USAGE, "%u is not a vyre_glsl_env\nFix: use a constant of vyre/glsl.h",
                      (unsigned)options->target_env);
  if ((uint32_t)options->language >= VYRE_LANGUAGE__COUNT)
    return VYRE_ERROR(VYRE_CODE_USAGE, "%u is not a vyre_glsl_language\nFix: use a constant of vyre/glsl.h",
                      (unsigned)options->language);
  if ((uint32_t)options->stage >= VYRE_STAGE__COUNT)
    return VYRE_ERROR(VYRE_CODE_USAGE, "%u is not a vyre_glsl_stage\nFix: use a constant of vyre/glsl.h", (unsigned)options->stage);
  return VYRE_OK;
}

/* Reads the options of a public function, and requests its task. */
static vyre_status
request_work(const char *text, size_t length, const char *path, const vyre_glsl_options *given, glsl_task task,
             vyre_diagnostics diagnostics, vyre_bytes *out)
{
  vyre_glsl_options read;
  const vyre_glsl_options *const options = &read;
  VYRE_TRY(vyre_options_read(&read, sizeof read, given, "vyre_glsl_options"));
  if (task != GLSL_TOOLS) /* the defines of GLSL_TOOLS are flags */
    VYRE_TRY(check_options(length, path, options));
  if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) { /* a byte order mark, which glslang would read as a token */
    text += 3;
    length -= 3;
  }
  sink_state state = {.path = path, .text = text, .length = length, .diagnostics = diagnostics};
  if (task == GLSL_TOOLS) /* a module has no lines */
    state.length = 0;
  vyre_bytes rest = {.allocator = out->allocator};
  const size_t size_before = out->size;
  glsl_request request = {
      .text_bytes = length,
      .include_dir_count = options->include_dir_count,
      .define_count = options->define_count,
      .setting_count = options->setting_count,
      .task = (uint32_t)task,
      .debug = options->debug_source ? 3
               : options->debug_info ? 2
                                     : options->debug,
      .target_env = (uint32_t)options->target_env,
      .language = (uint32_t)options->language,
      .stage = (uint32_t)options->stage,
      .stage_of_name = (uint32_t)vyre_glsl_stage_of(path),
      .most_seconds = or_default(options->most_seconds, VYRE_GLSL_SECONDS),
      .most_memory = or_default(options->most_memory, VYRE_GLSL_MEMORY),
      .most_expansion = or_default(options->most_expansion, VYRE_GLSL_EXPANSION),
  };
  glsl_end end;
  const uint64_t start = clock_now();
  vyre_status status = write_request(text, length, path, options, &rest);
  request.bytes = rest.size;
  if (!status)
    status = glsl_work(&request, &rest, append_log, &state, options->log, out, &end);
  if (options->nanoseconds)
    *options->nanoseconds += clock_now() - start;
  vyre_bytes_free(&rest);
  status = vyre_status_join(status, state.status);
  if (!status)
    status = end_error(&request, &end, &state);
  free(state.misuse);
  return vyre_bytes_undo(out, size_before, status);
}

vyre_status
vyre_glsl_compile(const char *text, size_t length, const char *path, const vyre_glsl_options *options, vyre_diagnostics diagnostics,
                  vyre_bytes *out)
{
  return request_work(text, length, path, options, GLSL_COMPILE, diagnostics, out);
}

vyre_status
vyre_glsl_preprocess(const char *text, size_t length, const char *path, const vyre_glsl_options *options,
                     vyre_diagnostics diagnostics, vyre_bytes *out)
{
  return request_work(text, length, path, options, GLSL_PREPROCESS, diagnostics, out);
}

vyre_status
vyre_glsl_limits(const vyre_glsl_options *options, vyre_bytes *out)
{
  return request_work("", 0, "limits", options, GLSL_LIMITS, (vyre_diagnostics){0}, out);
}

vyre_status
vyre_assembly_write(const void *data, size_t size, const char *path, bool as_listing, vyre_diagnostics diagnostics, vyre_bytes *out)
{
  return request_work(data, size, path, NULL, as_listing ? GLSL_LIST : GLSL_DISASSEMBLE, diagnostics, out);
}

vyre_status
vyre_glsl_versions(vyre_bytes *out)
{
  return request_work("", 0, "versions", NULL, GLSL_VERSIONS, (vyre_diagnostics){0}, out);
}

vyre_status
vyre_spirv_tools_run(const void *data, size_t size, const char *path, const char *const *flags, uint32_t flag_count,
                     const vyre_glsl_options *limits, vyre_diagnostics diagnostics, vyre_bytes *out)
{
  vyre_glsl_options options = {.struct_size = sizeof options, .defines = flags, .define_count = flag_count};
  vyre_glsl_options most;
  VYRE_TRY(vyre_options_read(&most, sizeof most, limits, "vyre_glsl_options"));
  options.most_memory = most.most_memory;
  options.most_seconds = most.most_seconds;
  options.nanoseconds = most.nanoseconds;
  return request_work(data, size, path, &options, GLSL_TOOLS, diagnostics, out);
}
