/* Lists passes as JSON: -list-passes=json.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include "registry.h"

#include <inttypes.h>

static vyre_status
print_analyses(const char *key, uint32_t set, vyre_bytes *out)
{
  bool is_first = true;
  VYRE_TRY(vyre_bytes_printf(out, ", \"%s\": [", key));
  for (uint32_t i = 0; i < VYRE_ANALYSIS_COUNT; i++) {
    if (!(set & vyre_analyses[i].bit))
      continue;
    VYRE_TRY(vyre_bytes_printf(out, is_first ? "" : ", "));
    VYRE_TRY(vyre_json_text(vyre_analyses[i].name, out));
    is_first = false;
  }
  return vyre_bytes_printf(out, "]");
}

static vyre_status
print_param(const vyre_param *param, bool is_first, vyre_bytes *out)
{
  static const char *const types[] = {
      [VYRE_PARAM_FLAG] = "flag", [VYRE_PARAM_UINT] = "uint", [VYRE_PARAM_WORD] = "word", [VYRE_PARAM_TEXT] = "text"};
  VYRE_TRY(vyre_json_member(is_first ? "{" : ", {", "name", param->name, out));
  VYRE_TRY(vyre_json_member(", ", "type", types[param->type], out));
  VYRE_TRY(vyre_json_member(", ", "summary", param->summary, out));
  if (param->type == VYRE_PARAM_UINT)
    VYRE_TRY(vyre_bytes_printf(out, ", \"minimum\": %" PRIu64 ", \"maximum\": %" PRIu64, param->minimum, param->maximum));
  if (param->type <= VYRE_PARAM_UINT)
    VYRE_TRY(vyre_bytes_printf(out, ", \"default\": %" PRIu64, param->fallback));
  else if (param->words)
    VYRE_TRY(vyre_json_member(", ", "words", param->words, out));
  return vyre_bytes_printf(out, "}");
}

static vyre_status
print_pass(const vyre_pass_info *info, vyre_bytes *out)
{
  const vyre_pass *pass = info->pass;
  VYRE_TRY(vyre_json_member("  {", "name", pass->name, out));
  VYRE_TRY(vyre_json_member(", ", "long_name", pass->long_name, out));
  VYRE_TRY(vyre_json_member(", ", "summary", pass->summary, out));
  VYRE_TRY(vyre_json_member(", ", "plugin", info->plugin, out));
  VYRE_TRY(vyre_json_member(", ", "version", info->version, out));
  VYRE_TRY(vyre_json_member(", ", "file", info->path, out));
  VYRE_TRY(vyre_bytes_printf(out, ", \"gpu\": %s", pass->phases ? "true" : "false"));
  VYRE_TRY(print_analyses("requires", pass->requires_, out));
  VYRE_TRY(print_analyses("preserves", pass->preserves, out));
  VYRE_TRY(vyre_bytes_printf(out, ", \"params\": ["));
  for (uint32_t i = 0; i < pass->param_count; i++)
    VYRE_TRY(print_param(&pass->params[i], i == 0, out));
  return vyre_bytes_printf(out, "]}");
}

static vyre_status
list(const vyre_registry *registry, vyre_bytes *out)
{
  const uint32_t count = vyre_registry_pass_count(registry);
  VYRE_TRY(vyre_bytes_printf(out, "[\n"));
  for (uint32_t i = 0; i < count; i++) {
    const vyre_pass_info info = vyre_registry_pass(registry, i);
    VYRE_TRY(print_pass(&info, out));
    VYRE_TRY(vyre_bytes_printf(out, i + 1 < count ? ",\n" : "\n"));
  }
  return vyre_bytes_printf(out, "]\n");
}

vyre_status
vyre_registry_list_json(const vyre_registry *registry, vyre_bytes *out)
{
  const size_t before = out->size;
  return vyre_bytes_undo(out, before, list(registry, out));
}
