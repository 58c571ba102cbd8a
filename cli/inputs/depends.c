/* Docs at depends.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "depends.h"

#include "base/files/depfile.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

void
depends_each_of_all(const tool_options *o, depends_visit visit, void *user)
{
  if (o->passes && o->passes[0] == '@')
    visit(user, o->passes + 1, true);
  if (o->passes_file)
    visit(user, o->passes_file, true);
  if (o->cost_model)
    visit(user, o->cost_model, true);
  for (uint32_t i = 0; i < o->load.count; i++)
    visit(user, o->load.names[i], true);
}

typedef struct passing {
  depends_visit visit;
  void *user;
  bool is_begun; /* the text itself, the first file, was visited */
} passing;

static void
pass_on(void *user, const char *path, const char *text, bool is_sure)
{
  passing *p = user;
  (void)is_sure;
  if (p->is_begun)
    p->visit(p->user, path, text != NULL);
  p->is_begun = true;
}

vyre_status
depends_each_included(const tool_options *o, const char *path, vyre_input_kind kind, depends_visit visit, void *user)
{
  passing p = {visit, user, false};
  if (kind != VYRE_INPUT_GLSL && kind != VYRE_INPUT_HLSL)
    return VYRE_OK;
  return depfile_each_include(path, NULL, o->glsl.include_dirs.names, o->glsl.include_dirs.count, pass_on, &p);
}

typedef struct rule {
  vyre_bytes text;
  vyre_status status;
} rule;

static void
add_to_rule(void *user, const char *path, bool is_there)
{
  rule *r = user;
  if (is_there && !r->status)
    r->status = vyre_bytes_append(&r->text, " ", 1);
  if (is_there && !r->status)
    r->status = depfile_add_path(&r->text, path);
}

vyre_status
depends_print(const tool_options *o, const char *path, vyre_input_kind kind, const char *output, vyre_bytes *out)
{
  rule r = {0};
  const bool is_file = strcmp(path, "-") != 0;
  r.status = depfile_add_path(&r.text, o->dep_target ? o->dep_target : output);
  if (!r.status)
    r.status = vyre_bytes_append(&r.text, ":", 1);
  const char *archive = archives_path(&o->archives, path);
  if (is_file)
    add_to_rule(&r, archive ? archive : path, true);
  depends_each_of_all(o, add_to_rule, &r);
  vyre_status status = is_file && !r.status ? depends_each_included(o, path, kind, add_to_rule, &r) : VYRE_OK;
  status = vyre_status_join(r.status, status);
  if (!status)
    status = vyre_bytes_append(&r.text, "\n", 1);
  if (!status)
    status = vyre_bytes_append(out, r.text.data, r.text.size);
  vyre_bytes_free(&r.text);
  return status;
}

vyre_status
depends_write(const tool_options *o, const char *path, vyre_input_kind kind, const char *output)
{
  char beside[PATH_MAX];
  vyre_bytes text = {0};
  vyre_status status = depends_print(o, path, kind, output, &text);
  if (!status && !o->depfile && (size_t)snprintf(beside, sizeof beside, "%s.d", output) >= sizeof beside)
    status = VYRE_ERROR(VYRE_CODE_INPUT, "the path '%s.d' is too long\nFix: name the file with -MF", output);
  if (!status)
    status = vyre_file_write(o->depfile ? o->depfile : beside, text.data, text.size);
  vyre_bytes_free(&text);
  return status;
}
