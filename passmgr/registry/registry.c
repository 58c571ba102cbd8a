/* The registry of passes and plugins, and the texts of -list-passes and -help-pass.
 *
 * The passes of a plugin are added together or not at all.  Adding or finding a pass is O(passes).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "registry.h"

#include <inttypes.h>
#include <string.h>

#include "base/grow.h"
#include "passmgr/pipeline/pipeline.h"
#include "base/suggest.h"
#include "vyre/environment.h"

vyre_reserved
vyre_reserved_name(const char *name, size_t length)
{
  static const struct {
    const char *name;
    vyre_reserved meaning;
  } table[] = {
      {"repeat", VYRE_RESERVED_COMBINATOR},   {"fixpoint", VYRE_RESERVED_COMBINATOR}, {"func", VYRE_RESERVED_SCOPE},
      {"block", VYRE_RESERVED_SCOPE},         {"module", VYRE_RESERVED_SCOPE},        {"resident", VYRE_RESERVED_LATER},
      {"auto-resident", VYRE_RESERVED_LATER}, {"default", VYRE_RESERVED_DEFAULT},     {"require", VYRE_RESERVED_LATER},
      {"invalidate", VYRE_RESERVED_LATER},    {"invoke", VYRE_RESERVED_LATER},        {"fail", VYRE_RESERVED_LATER},
      {"function", VYRE_RESERVED_SCOPE},
  };
  for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
    if (strlen(table[i].name) == length && memcmp(table[i].name, name, length) == 0)
      return table[i].meaning;
  return VYRE_RESERVED_NOT;
}

vyre_status
vyre_registry_create(const vyre_allocator *allocator, vyre_registry **out)
{
  *out = NULL;
  if (!allocator)
    allocator = vyre_allocator_default();
  vyre_registry *registry = vyre_allocate(allocator, sizeof(*registry));
  if (!registry)
    return VYRE_OUT_OF_MEMORY("for the registry");
  registry->allocator = *allocator;
  vyre_status status = vyre_registry_add(registry, vyre_builtin_query, "(built in)", VYRE_ORIGIN_CORE);
  if (status) {
    vyre_registry_destroy(registry);
    return status;
  }
  *out = registry;
  return VYRE_OK;
}

void
vyre_registry_destroy(vyre_registry *registry)
{
  if (!registry)
    return;
  vyre_allocator allocator = registry->allocator;
  for (uint32_t i = 0; i < registry->pass_count; i++)
    vyre_pass_record_free(&allocator, registry->passes[i]);
  for (uint32_t i = 0; i < registry->plugin_count; i++) {
    vyre_release_text(&allocator, registry->plugins[i]->path);
    vyre_release(&allocator, registry->plugins[i], sizeof(vyre_plugin_record));
  }
  vyre_release(&allocator, registry->passes, registry->pass_capacity * sizeof(vyre_pass_record *));
  vyre_release(&allocator, registry->plugins, registry->plugin_capacity * sizeof(vyre_plugin_record *));
  vyre_release(&allocator, registry, sizeof(*registry));
}

static bool
is_called(const vyre_pass *pass, const char *name, size_t length)
{
  if (strncmp(pass->name, name, length) == 0 && pass->name[length] == '\0')
    return true;
  return pass->long_name && strncmp(pass->long_name, name, length) == 0 && pass->long_name[length] == '\0';
}

/* Returns whether the name is a core pass with its plugin's name, such as `dce.dce`.  Names of other passes contain the plugin's
 * name. */
static bool
is_called_in_full(const vyre_pass_record *record, const char *name, size_t length)
{
  const char *plugin = record->plugin->plugin.name;
  const size_t prefix = strlen(plugin) + 1;
  return length > prefix && memcmp(name, plugin, prefix - 1) == 0 && name[prefix - 1] == '.' && !strchr(record->pass.name, '.') &&
         is_called(&record->pass, name + prefix, length - prefix);
}

/* Returns the pass that has the name, or NULL. */
static const vyre_pass_record *
name_owner(const vyre_registry *registry, const char *name)
{
  for (uint32_t i = 0; i < registry->pass_count; i++)
    if (is_called(&registry->passes[i]->pass, name, strlen(name)) || is_called_in_full(registry->passes[i], name, strlen(name)))
      return registry->passes[i];
  return NULL;
}

static vyre_status
name_conflict(const char *name, const char *owner, const char *path)
{
  vyre_status status = VYRE_ERROR(
      VYRE_CODE_USAGE, "pass '%s' is already provided by '%s'\nFix: load only one of the plugins, or rename the pass", name, owner);
  return vyre_status_note(status, "while loading plugin '%s'", path);
}

const vyre_pass_record *
vyre_registry_provider(const vyre_registry *registry, uint32_t column)
{
  for (uint32_t i = 0; i < registry->pass_count; i++)
    if (registry->passes[i]->pass.provides & column)
      return registry->passes[i];
  return NULL;
}

/* Only one pass may provide a column, so that its contents depend on nothing else. */
static vyre_status
check_columns(const vyre_registry *registry, vyre_pass_record **passes, uint32_t index, const char *path)
{
  const vyre_pass *pass = &passes[index]->pass;
  const vyre_pass_record *owner = vyre_registry_provider(registry, pass->provides);
  for (uint32_t k = 0; k < index && !owner; k++)
    if (passes[k]->pass.provides & pass->provides)
      owner = passes[k];
  if (!owner)
    return VYRE_OK;
  vyre_status status = VYRE_ERROR(
      VYRE_CODE_USAGE, "pass '%s' provides a column that pass '%s' (%s) already provides\nFix: load only one of the plugins",
      pass->name, owner->pass.name, owner->plugin ? owner->plugin->path : path);
  return vyre_status_note(status, "while loading plugin '%s'", path);
}

static vyre_status
check_free(const vyre_registry *registry, vyre_pass_record **passes, uint32_t index, const char *path)
{
  const char *names[2] = {passes[index]->pass.name, passes[index]->pass.long_name};
  for (int n = 0; n < 2 && names[n]; n++) {
    const vyre_pass_record *owner = name_owner(registry, names[n]);
    if (owner)
      return name_conflict(names[n], owner->plugin->path, path);
    for (uint32_t k = 0; k < index; k++)
      if (is_called(&passes[k]->pass, names[n], strlen(names[n])))
        return name_conflict(names[n], path, path);
  }
  if (names[1] && strcmp(names[0], names[1]) == 0)
    return name_conflict(names[1], path, path);
  return VYRE_OK;
}

static void
insert_sorted(vyre_registry *registry, vyre_pass_record *record)
{
  uint32_t at = registry->pass_count++;
  for (; at > 0 && strcmp(registry->passes[at - 1]->pass.name, record->pass.name) > 0; at--)
    registry->passes[at] = registry->passes[at - 1];
  registry->passes[at] = record;
}

/* Adds the passes, and takes ownership of them on success. */
static vyre_status
add_passes(vyre_registry *registry, const vyre_plugin *plugin, vyre_pass_record **passes, const char *path)
{
  for (uint32_t i = 0; i < plugin->pass_count; i++)
    VYRE_TRY(check_free(registry, passes, i, path));
  for (uint32_t i = 0; i < plugin->pass_count; i++)
    VYRE_TRY(check_columns(registry, passes, i, path));
  const vyre_allocator *allocator = &registry->allocator;
  vyre_plugin_record *record = vyre_allocate(allocator, sizeof(*record));
  char *path_copy = vyre_copy_text(allocator, path);
  if (!record || !path_copy ||
      !vyre_grow(allocator, &registry->plugins, &registry->plugin_capacity, registry->plugin_count + 1, sizeof(record)) ||
      !vyre_grow(allocator, &registry->passes, &registry->pass_capacity, registry->pass_count + plugin->pass_count,
                 sizeof(*passes))) {
    vyre_release(allocator, record, sizeof(*record));
    vyre_release_text(allocator, path_copy);
    return VYRE_OUT_OF_MEMORY("while adding a plugin");
  }
  record->plugin = *plugin;
  record->path = path_copy;
  registry->plugins[registry->plugin_count++] = record;
  for (uint32_t i = 0; i < plugin->pass_count; i++) {
    passes[i]->plugin = record;
    insert_sorted(registry, passes[i]);
  }
  return VYRE_OK;
}

vyre_status
vyre_registry_add_descriptor(vyre_registry *registry, const vyre_plugin *theirs, const char *path, vyre_origin origin)
{
  vyre_plugin plugin;
  vyre_pass_record **passes;
  VYRE_TRY(vyre_descriptor_read(&registry->allocator, theirs, path, origin, &plugin, &passes));
  vyre_status status = add_passes(registry, &plugin, passes, path);
  for (uint32_t i = 0; status && i < plugin.pass_count; i++)
    vyre_pass_record_free(&registry->allocator, passes[i]);
  vyre_release(&registry->allocator, passes, plugin.pass_count * sizeof(vyre_pass_record *));
  return status;
}

vyre_status
vyre_registry_add(vyre_registry *registry, vyre_plugin_query query, const char *path, vyre_origin origin)
{
  VYRE_FOREIGN_CALL;
  vyre_plugin_code_load(path);
  const vyre_plugin *theirs = query(vyre_host_table());
  vyre_plugin_code_load(NULL);
  return vyre_registry_add_descriptor(registry, theirs, path, origin);
}

const vyre_pass_record *
vyre_registry_find(const vyre_registry *registry, const char *name, size_t length, const vyre_pass_record **out_other)
{
  *out_other = NULL;
  for (uint32_t i = 0; i < registry->pass_count; i++)
    if (is_called(&registry->passes[i]->pass, name, length))
      return registry->passes[i];
  for (uint32_t i = 0; i < registry->pass_count; i++)
    if (is_called_in_full(registry->passes[i], name, length))
      return registry->passes[i];
  const vyre_pass_record *found = NULL;
  for (uint32_t i = 0; i < registry->pass_count; i++) {
    const char *dot = strchr(registry->passes[i]->pass.name, '.');
    if (!dot || strncmp(dot + 1, name, length) != 0 || dot[1 + length] != '\0')
      continue;
    if (found) {
      *out_other = registry->passes[i];
      return NULL;
    }
    found = registry->passes[i];
  }
  return found;
}

uint32_t
vyre_registry_pass_count(const vyre_registry *registry)
{
  return registry->pass_count;
}

vyre_pass_info
vyre_registry_pass(const vyre_registry *registry, uint32_t index)
{
  const vyre_pass_record *record = registry->passes[index];
  return (vyre_pass_info){&record->pass, record->plugin->plugin.name, record->plugin->plugin.version, record->plugin->path};
}

static size_t
shown_length(const vyre_pass *pass)
{
  return strlen(pass->name) + (pass->long_name ? strlen(pass->long_name) + 3 : 0);
}

static vyre_status
list(const vyre_registry *registry, vyre_bytes *out)
{
  size_t width = 0;
  for (uint32_t i = 0; i < registry->pass_count; i++) {
    size_t length = shown_length(&registry->passes[i]->pass);
    if (length > width)
      width = length;
  }
  for (uint32_t i = 0; i < registry->pass_count; i++) {
    const vyre_pass_record *record = registry->passes[i];
    const vyre_pass *pass = &record->pass;
    const char *open = pass->long_name ? " (" : "", *close = pass->long_name ? ")" : "";
    VYRE_TRY(vyre_bytes_printf(out, "%s%s%s%s%*s  %s  [%s %s]\n", pass->name, open, pass->long_name ? pass->long_name : "", close,
                               (int)(width - shown_length(pass)), "", pass->summary, record->plugin->plugin.name,
                               record->plugin->plugin.version));
  }
  VYRE_TRY(vyre_bytes_printf(out, "\nCombinators:\n"));
  for (size_t i = 0; i < sizeof(vyre_combinators) / sizeof(vyre_combinators[0]); i++)
    VYRE_TRY(vyre_bytes_printf(out, "%-*s  %s\n", (int)width, vyre_combinators[i].name, vyre_combinators[i].summary));
  VYRE_TRY(vyre_bytes_printf(out, "\nPipelines:\n"));
  for (size_t i = 0; i < VYRE_DEFAULTS; i++)
    VYRE_TRY(vyre_bytes_printf(out, "default<%s>%*s  %s\n", vyre_defaults[i].level,
                               (int)width - 9 - (int)strlen(vyre_defaults[i].level), "", vyre_defaults[i].text));
  return VYRE_OK;
}

vyre_status
vyre_registry_list(const vyre_registry *registry, vyre_bytes *out)
{
  size_t before = out->size;
  return vyre_bytes_undo(out, before, list(registry, out));
}

static vyre_status
help_param(const vyre_param *param, vyre_bytes *out)
{
  switch (param->type) {
  case VYRE_PARAM_FLAG:
    return vyre_bytes_printf(out, "  %s | no-%s\n      %s (default %s)\n", param->name, param->name, param->summary,
                             param->fallback ? "on" : "off");
  case VYRE_PARAM_UINT:
    VYRE_TRY(vyre_bytes_printf(out, "  %s=%" PRIu64 "..%" PRIu64 "\n      %s", param->name, param->minimum, param->maximum,
                               param->summary));
    if (param->fallback < param->minimum) /* repeat needs a number */
      return vyre_bytes_printf(out, "\n");
    return vyre_bytes_printf(out, " (default %" PRIu64 ")\n", param->fallback);
  case VYRE_PARAM_TEXT:
    return vyre_bytes_printf(out, "  %s=%s\n      %s\n", param->name, param->words ? param->words : "TEXT", param->summary);
  default:
    return vyre_bytes_printf(out, "  %s=%s\n      %s (default %.*s)\n", param->name, param->words, param->summary,
                             (int)strcspn(param->words, "|"), param->words);
  }
}

static vyre_status
help_params(const char *name, const vyre_param *params, uint32_t count, vyre_bytes *out)
{
  if (count)
    VYRE_TRY(vyre_bytes_printf(out, "\nParameters, %s<...>:\n", name));
  for (uint32_t i = 0; i < count; i++)
    VYRE_TRY(help_param(&params[i], out));
  return VYRE_OK;
}

static vyre_status
unknown_name(const vyre_registry *registry, const char *name)
{
  if (vyre_reserved_name(name, strlen(name)) == VYRE_RESERVED_LATER)
    return VYRE_ERROR(VYRE_CODE_USAGE,
                      "'%s' is not available in this version\nFix: use a pass that vyre-passmgr -list-passes lists", name);
  vyre_suggestion near = {.word = name, .length = strlen(name)};
  for (uint32_t i = 0; i < registry->pass_count; i++)
    vyre_suggest_qualified(&near, registry->passes[i]->pass.name);
  if (near.best)
    return VYRE_ERROR(VYRE_CODE_USAGE,
                      "unknown pass '%s'; did you mean '%s'?\nFix: use a pass that vyre-passmgr -list-passes lists", name,
                      near.best);
  return VYRE_ERROR(VYRE_CODE_USAGE,
                    "unknown pass '%s'\nFix: use a pass that vyre-passmgr -list-passes lists, or load the pass's plugin", name);
}

static vyre_status
find_named(const vyre_registry *registry, const char *name, const vyre_pass_record **out)
{
  const vyre_pass_record *other = NULL;
  *out = vyre_registry_find(registry, name, strlen(name), &other);
  if (!*out && other)
    return VYRE_ERROR(VYRE_CODE_USAGE, "several plugins have a pass '%s'\nFix: write the name of the plugin before it, as in '%s'",
                      name, other->pass.name);
  return *out ? VYRE_OK : unknown_name(registry, name);
}

vyre_status
vyre_registry_name(const vyre_registry *registry, const char *name, const char **out)
{
  const vyre_pass_record *record;
  VYRE_TRY(find_named(registry, name, &record));
  *out = record->pass.name;
  return VYRE_OK;
}

#define ANALYSIS(bit, name, what) {bit, name},
const vyre_analysis vyre_analyses[VYRE_ANALYSIS_COUNT] = {VYRE_ANALYSIS_TABLE(ANALYSIS)};

/* Prints "Requires: versions, loops", or nothing without analyses. */
static vyre_status
help_analyses(const char *what, uint32_t analyses, vyre_bytes *out)
{
  const char *between = what;
  for (uint32_t i = 0; i < VYRE_ANALYSIS_COUNT; i++) {
    if (!(analyses & vyre_analyses[i].bit))
      continue;
    VYRE_TRY(vyre_bytes_printf(out, "%s%s", between, vyre_analyses[i].name));
    between = ", ";
  }
  return between == what ? VYRE_OK : vyre_bytes_append(out, "\n", 1);
}

static vyre_status
help_default(vyre_bytes *out)
{
  VYRE_TRY(vyre_bytes_printf(out, "default<...>: the recommended pipeline of a level\n\nLevels:\n"));
  for (size_t i = 0; i < VYRE_DEFAULTS; i++)
    VYRE_TRY(vyre_bytes_printf(out, "  %s\n      %s\n", vyre_defaults[i].level, vyre_defaults[i].text));
  return VYRE_OK;
}

static vyre_status
help(const vyre_registry *registry, const char *name, vyre_bytes *out)
{
  for (size_t i = 0; i < sizeof(vyre_combinators) / sizeof(vyre_combinators[0]); i++) {
    const vyre_schema *schema = &vyre_combinators[i];
    if (strcmp(schema->name, name) != 0)
      continue;
    VYRE_TRY(vyre_bytes_printf(out, "%s<...>(...): %s\n", name, schema->summary));
    return help_params(name, schema->params, schema->count, out);
  }
  if (vyre_reserved_name(name, strlen(name)) == VYRE_RESERVED_DEFAULT)
    return help_default(out);
  const vyre_pass_record *record;
  VYRE_TRY(find_named(registry, name, &record));
  const vyre_pass *pass = &record->pass;
  VYRE_TRY(vyre_bytes_printf(out, "%s%s%s%s: %s\n", pass->name, pass->long_name ? " (" : "", pass->long_name ? pass->long_name : "",
                             pass->long_name ? ")" : "", pass->summary));
  VYRE_TRY(help_params(pass->name, pass->params, pass->param_count, out)); /* before the help, which may be long */
  if (pass->help)
    VYRE_TRY(vyre_bytes_printf(out, "\n%s\n", pass->help));
  VYRE_TRY(help_analyses("\nRequires: ", pass->requires_, out));
  VYRE_TRY(help_analyses(pass->requires_ ? "Preserves: " : "\nPreserves: ", pass->preserves, out));
  VYRE_TRY(help_analyses(pass->requires_ | pass->preserves ? "Provides: " : "\nProvides: ", pass->provides, out));
  return vyre_bytes_printf(out, "\nFrom plugin %s %s, %s\n", record->plugin->plugin.name, record->plugin->plugin.version,
                           record->plugin->path);
}

vyre_status
vyre_registry_help(const vyre_registry *registry, const char *name, vyre_bytes *out)
{
  size_t before = out->size;
  return vyre_bytes_undo(out, before, help(registry, name, out));
}
