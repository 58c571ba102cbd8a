/* Writes modules as text with SPIRV-Cross, which runs in vyre-glsl.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/cross.h"

#include "base/options.h"
#include "glslang.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libspirv-cross-c-shared.so.0"

static const char *const names[VYRE_CROSS_LANGUAGE__COUNT] = {"GLSL", "HLSL", "MSL", "JSON"};

/* Keeps the reason of a refusal, which is one text. */
typedef struct reason {
  vyre_bytes text;
  vyre_status status;
} reason;

static void
append_log(void *user, const char *text)
{
  reason *r = user;
  if (!r->status)
    r->status = vyre_bytes_append(&r->text, text, strlen(text) + 1);
}

static vyre_status
check_options(const vyre_cross_options *o)
{
  if ((uint32_t)o->language >= VYRE_CROSS_LANGUAGE__COUNT || (uint32_t)o->platform >= VYRE_CROSS_PLATFORM__COUNT)
    return VYRE_ERROR(VYRE_CODE_USAGE,
                      "%u or %u is not a vyre_cross_language or vyre_cross_platform\nFix: use constants of vyre/cross.h",
                      (unsigned)o->language, (unsigned)o->platform);
  const bool fits = o->platform == VYRE_CROSS_DEFAULT ||
                    (o->language == VYRE_CROSS_MSL ? o->platform == VYRE_CROSS_IOS
                                                   : o->language == VYRE_CROSS_GLSL && o->platform != VYRE_CROSS_IOS);
  if (!fits)
    return VYRE_ERROR(VYRE_CODE_USAGE, "%s has no platform %u\nFix: use VYRE_CROSS_DEFAULT", names[o->language],
                      (unsigned)o->platform);
  return VYRE_OK;
}

static uint32_t
default_version(const vyre_cross_options *o)
{
  switch (o->language) {
  case VYRE_CROSS_GLSL:
    return o->platform == VYRE_CROSS_ES ? 310 : 460;
  case VYRE_CROSS_HLSL:
    return 60;
  default:
    return 24;
  }
}

/* Appends the strings of a request, the bindings and the module. */
static vyre_status
write_request(const void *spirv, size_t size, const char *path, const vyre_cross_options *o, vyre_bytes *out)
{
  VYRE_TRY(vyre_bytes_append(out, path, strlen(path) + 1));
  VYRE_TRY(vyre_bytes_append(out, "\0", 2)); /* two empty folder names */
  VYRE_TRY(vyre_bytes_append(out, o->entry_point ? o->entry_point : "", o->entry_point ? strlen(o->entry_point) + 1 : 1));
  if (o->binding_count)
    VYRE_TRY(vyre_bytes_append(out, o->bindings, o->binding_count * sizeof *o->bindings));
  return vyre_bytes_append(out, spirv, size);
}

static vyre_status
end_error(const char *path, const char *name, const glsl_request *request, const glsl_end *end, const reason *why)
{
  static const char fix[] = "write SPIR-V, another language, or another version of the language";
  if (end->signal == SIGXCPU)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "%s: SPIRV-Cross used more than %u second%s of processor time to write %s, and was stopped\n"
                      "Fix: if you trust the shader, allow more with -glsl-seconds=N; otherwise %s",
                      path, request->most_seconds, request->most_seconds == 1 ? "" : "s", name, fix);
  if (end->signal)
    return VYRE_ERROR(VYRE_CODE_INPUT, "%s: SPIRV-Cross crashed with signal %u (%s) when it wrote %s\nFix: %s", path, end->signal,
                      strsignal((int)end->signal), name, fix);
  switch (end->result) {
  case GLSL_OK:
    return VYRE_OK;
  case GLSL_NO_LIBRARY:
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "%s: cannot write %s: SPIRV-Cross (" LIBRARY ") is not installed\n"
                      "Fix: install it, on Debian by apt-get install libspirv-cross-c-shared0",
                      path, name);
  case GLSL_NO_MEMORY:
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "%s: SPIRV-Cross ran out of its memory of %u MiB when it wrote %s\n"
                      "Fix: if you trust the shader, allow more with -glsl-memory=MIB",
                      path, request->most_memory, name);
  case GLSL_REJECTED: {
    const char *text = why->text.size ? why->text.data : "SPIRV-Cross gives no reason";
    const bool has_fix = strstr(text, "\nFix: ") != NULL;
    return VYRE_ERROR(VYRE_CODE_INPUT, "%s: cannot be written as %s: %s%s%s", path, name, text,
                      has_fix ? "" : "\nFix: ", has_fix ? "" : fix);
  }
  default:
    return VYRE_ERROR(VYRE_CODE_INPUT, "%s: SPIRV-Cross failed when it wrote %s\nFix: free memory and processes", path, name);
  }
}

vyre_status
vyre_cross_write(const void *spirv, size_t size, const char *path, const vyre_cross_options *options, vyre_bytes *out)
{
  vyre_cross_options read;
  const vyre_cross_options *o = &read;
  VYRE_TRY(vyre_options_read(&read, sizeof read, options, "vyre_cross_options"));
  VYRE_TRY(check_options(o));
  if (size < 20 || size % 4 != 0)
    return VYRE_ERROR(VYRE_CODE_INPUT, "%s: %zu bytes are not a SPIR-V module\nFix: give a whole module", path, size);
  const size_t size_before = out->size;
  vyre_bytes rest = {.allocator = out->allocator};
  reason why = {.text = {.allocator = out->allocator}};
  glsl_request request = {
      .text_bytes = size + o->binding_count * sizeof *o->bindings,
      .task = GLSL_WRITE,
      .language = (uint32_t)o->language,
      .platform = (uint32_t)o->platform,
      .version = o->version ? o->version : default_version(o),
      .binding_count = o->binding_count,
      .most_seconds = o->most_seconds ? o->most_seconds : VYRE_GLSL_SECONDS,
      .most_memory = o->most_memory ? o->most_memory : VYRE_GLSL_MEMORY,
  };
  glsl_end end;
  vyre_status status = write_request(spirv, size, path, o, &rest);
  request.bytes = rest.size;
  if (!status)
    status = glsl_work(&request, &rest, append_log, &why, NULL, out, &end);
  status = vyre_status_join(status, why.status);
  if (!status)
    status = end_error(path, names[o->language], &request, &end, &why);
  vyre_bytes_free(&rest);
  vyre_bytes_free(&why.text);
  return vyre_bytes_undo(out, size_before, status);
}
