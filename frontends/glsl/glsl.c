/* GLSL in: opens vyre-glsl.so, compiles, and turns glslang's log into diagnostics.
 *
 * glslang reports lines, not columns: "ERROR: blur.comp:12: 'x' : undeclared identifier".
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/glsl.h"

#include "glslang.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "vyre-glsl.so"

/* ---- the library ------------------------------------------------------------------------------------------------------------ */

/* It lies beside the file this code is in (libvyre.so), or, where that is a program, in ../lib beside it. */
static vyre_status
open_compiler(vyre_glslang_compile *out)
{
  static const char *const places[] = {"", "../lib/", "../../lib/"};
  Dl_info self;
  char folder[PATH_MAX];
  *out = NULL;
  if (!dladdr(VYRE_GLSLANG_ENTRY, &self) || !self.dli_fname || strlen(self.dli_fname) >= sizeof folder)
    return VYRE_ERROR(VYRE_CODE_INTERNAL, "cannot tell where vyre's library lies");
  strcpy(folder, self.dli_fname);
  char *slash = strrchr(folder, '/');
  if (slash)
    slash[1] = '\0';
  else
    folder[0] = '\0';

  void *library = NULL;
  for (size_t i = 0; !library && i < sizeof places / sizeof places[0]; i++) {
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s%s%s", folder[0] ? folder : "./", places[i], LIBRARY);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  }
  if (!library)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "cannot open the GLSL compiler: %s\nFix: install vyre whole (%s belongs beside libvyre.so), or give SPIR-V "
                      "made by glslangValidator -V",
                      dlerror(), LIBRARY);
  /* POSIX lets an object pointer from dlsym be a function; ISO C has no cast for it. */
  void *symbol = dlsym(library, VYRE_GLSLANG_ENTRY);
  memcpy(out, &symbol, sizeof *out);
  if (!*out)
    return VYRE_ERROR(VYRE_CODE_INPUT, "%s has no '%s'\nFix: it is of another version; install vyre anew", LIBRARY,
                      VYRE_GLSLANG_ENTRY);
  return VYRE_OK;
}

/* ---- messages ------------------------------------------------------------------------------------------------------------ */

typedef struct sink_state {
  const char *path;
  const char *text;
  size_t length;
  vyre_diagnostics diagnostics;
  vyre_bytes *out;
  vyre_status status;
  uint32_t errors;
} sink_state;

static bool
take_words(void *user, const uint32_t *words, size_t count)
{
  sink_state *state = user;
  state->status = vyre_status_join(state->status, vyre_bytes_append(state->out, words, count * sizeof *words));
  return state->status == VYRE_OK;
}

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
take_log(void *user, const char *text)
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
  } else {
    return; /* glslang repeats the file's name on a line of its own */
  }
  if (strstr(rest, "compilation errors.  No code generated.") || (state->errors && strstr(rest, "'' : compilation terminated")))
    return; /* sums, not errors */
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
  if (strstr(diagnostic.message, "#include"))
    diagnostic.fix = "give the folder of the included file with -I";
  if (severity == VYRE_SEVERE)
    state->errors++;
  if (state->diagnostics.emit)
    state->diagnostics.emit(state->diagnostics.user, &diagnostic);
  free(copy);
}

/* NAME, NAME=VALUE or NAME(...)=VALUE: what would end the line of the #define, or be no name, is refused here. */
static vyre_status
check_define(const char *define)
{
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_", digits[] = "0123456789";
  size_t length = 0;
  if (define[0] && strchr(letters, define[0]))
    while (define[length] && (strchr(letters, define[length]) || strchr(digits, define[length])))
      length++;
  if (length == 0 || !strchr("=(", define[length]) || strpbrk(define, "\r\n"))
    return VYRE_ERROR(VYRE_CODE_USAGE, "'%s' defines no macro\nFix: NAME or NAME=VALUE, as in -D SIZE=16", define);
  return VYRE_OK;
}

vyre_status
vyre_glsl_env_parse(const char *name, vyre_glsl_env *out)
{
  static const char *const names[VYRE_GLSL_ENV__COUNT] = {"vulkan1.2", "vulkan1.0", "vulkan1.1", "vulkan1.3"};
  for (int env = 0; env < VYRE_GLSL_ENV__COUNT; env++)
    if (strcmp(name, names[env]) == 0) {
      *out = (vyre_glsl_env)env;
      return VYRE_OK;
    }
  return VYRE_ERROR(VYRE_CODE_USAGE,
                    "'%s' is no target environment\nFix: vulkan1.0, vulkan1.1, vulkan1.2 (the default) or vulkan1.3", name);
}

vyre_status
vyre_glsl_compile(const char *text, size_t length, const char *path, const vyre_glsl_options *options, vyre_diagnostics diagnostics,
                  vyre_bytes *out)
{
  static const vyre_glsl_options defaults;
  vyre_glslang_compile compile;
  if (length > INT_MAX)
    return VYRE_ERROR(VYRE_CODE_INPUT, "%s: a shader of %zu bytes is too long\nFix: give less than 2 GiB", path, length);
  for (uint32_t i = 0; options && i < options->define_count; i++)
    VYRE_TRY(check_define(options->defines[i]));
  if (options && (uint32_t)options->target_env >= VYRE_GLSL_ENV__COUNT)
    return VYRE_ERROR(VYRE_CODE_USAGE, "%u is no vyre_glsl_env", (unsigned)options->target_env);
  VYRE_TRY(open_compiler(&compile));
  if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) { /* a byte order mark, which glslang takes for a token */
    text += 3;
    length -= 3;
  }

  sink_state state = {.path = path, .text = text, .length = length, .diagnostics = diagnostics, .out = out};
  const vyre_glslang_sink sink = {take_words, take_log, &state};
  const size_t size_before = out->size;
  const vyre_glslang_result result = compile(text, length, path, options ? options : &defaults, &sink);
  if (!state.status) {
    if (result == VYRE_GLSLANG_OUT_OF_MEMORY)
      state.status = VYRE_OUT_OF_MEMORY("in the GLSL compiler");
    else if (result == VYRE_GLSLANG_FAILED)
      state.status = VYRE_ERROR(VYRE_CODE_INTERNAL, "%s: the GLSL compiler ended by an exception", path);
    else if (result == VYRE_GLSLANG_REJECTED)
      state.status = VYRE_ERROR(VYRE_CODE_INPUT, "%s: %u error%s in the shader", path, state.errors, state.errors == 1 ? "" : "s");
  }
  if (state.status)
    out->size = size_before;
  return state.status;
}
