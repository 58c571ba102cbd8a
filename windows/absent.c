/* Replaces the features of vyre-passmgr that need fork or jansson.  OPTION_POSIX refuses their options on Windows.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/debug/debug.h"
#include "cli/inputs/specialize.h"
#include "cli/watch/watch.h"

static vyre_status
absent(const char *option)
{
  return VYRE_ERROR(VYRE_CODE_INTERNAL, "-%s is not available on Windows, but was not refused", option);
}

vyre_status
spec_file_read(const char *path, name_list *values, option_texts *texts)
{
  (void)path, (void)values, (void)texts;
  return absent("spec-file");
}

vyre_status
variants_read(const char *path, spec_variants *out, option_texts *texts)
{
  (void)path, (void)out, (void)texts;
  return absent("variants");
}

bool
tool_watch(int argc, char **argv, tool *t, int *out_code)
{
  (void)argc, (void)argv, (void)t;
  *out_code = tool_complain(absent("watch"));
  return false;
}

int
tool_process_apart(tool *t, uint32_t most)
{
  (void)t, (void)most;
  return tool_complain(absent("isolate"));
}

int
tool_bisect(tool *t)
{
  (void)t;
  return tool_complain(absent("bisect"));
}

int
tool_reduce(tool *t)
{
  (void)t;
  return tool_complain(absent("reduce"));
}

vyre_status
tool_hand_over(const tool *t, work *w)
{
  (void)t, (void)w;
  return absent("isolate");
}

vyre_status
tool_hand_over_notes(const tool *t, const work *w)
{
  (void)t, (void)w;
  return absent("isolate");
}

vyre_status
tool_create_report(const tool *t, vyre_report **out)
{
  return vyre_report_create_like(t->report, NULL, out);
}

vyre_status
reproducer_options(int argc, char **argv, tool_options *options, arguments *out)
{
  (void)argc, (void)argv, (void)options, (void)out;
  return absent("run-reproducer");
}

void
arguments_free(arguments *a)
{
  (void)a;
}
