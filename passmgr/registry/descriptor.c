/* Checks and copies plugin descriptors, field by field, before use.
 *
 * A struct is read up to its struct_size, and later fields become zero.  Fields that this host does not know must be zero.  Limits:
 * invalid pointers cannot be detected, and loading a plugin runs its code.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/grow.h"
#include "passmgr/resident/phases.h"
#include "registry.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define MOST_PASSES 4096u
#define MOST_PARAMS 256u
#define MOST_BYTES  4096u /* the largest valid struct_size */

/* The smallest valid struct_size of each struct: its size in API 1.0.  Later fields may be missing. */
#define PLUGIN_LEAST (offsetof(vyre_plugin, pass_count) + sizeof(uint32_t))
#define PASS_LEAST   (offsetof(vyre_pass, run) + sizeof(vyre_status(*)(void)))
#define PARAM_LEAST  sizeof(vyre_param)

#define ABI_MAJOR(abi) ((abi) >> 16)
#define ABI_MINOR(abi) ((abi)&0xffffu)

static_assert(ABI_MINOR(VYRE_PLUGIN_ABI) >= VYRE_OPSET_VERSION - 1, "a new VYRE_OPSET_VERSION needs a new minor number of the API");

static const uint32_t known_analyses = VYRE_ANALYSES | VYRE_COLUMNS;
static const uint32_t known_flags = VYRE_PASS_PREPARES_EARLY | VYRE_PASS_KEEPS_ORDER | VYRE_PASS_ANY_ORDER | VYRE_PASS_SKIPS_REMOVED;

typedef struct reader {
  const vyre_allocator *allocator;
  const char *path;
  const char *plugin; /* the plugin's name, when it is known */
  vyre_origin origin;
} reader;

#define BAD(r, ...) vyre_status_note(VYRE_ERROR(VYRE_CODE_USAGE, __VA_ARGS__), "while loading plugin '%s'", (r)->path)

/* Returns the number of bytes beyond the known part of a struct if they are not all zero, otherwise 0. */
static size_t
unknown_bytes(const void *theirs, size_t size, size_t known)
{
  size_t used = size;
  while (used > known && ((const char *)theirs)[used - 1] == 0)
    used--;
  return used > known ? size - known : 0;
}

/* Copies the fields of a struct up to its struct_size, and zeroes the rest. */
static vyre_status
read_struct(const reader *r, const char *what, const void *theirs, size_t least, size_t known, void *out)
{
  uint32_t size;
  memset(out, 0, known);
  memcpy(&size, theirs, sizeof(size));
  if (size < least || size > MOST_BYTES)
    return BAD(r, "%s: struct_size is %u, but plugin API %u.%u needs at least %zu\nFix: set it to sizeof, or use VYRE_PLUGIN", what,
               size, ABI_MAJOR(VYRE_PLUGIN_ABI), ABI_MINOR(VYRE_PLUGIN_ABI), least);
  if (size != least && size % sizeof(void *) != 0) /* a partial pointer is invalid */
    return BAD(r, "%s: struct_size is %u, which is not a size of a struct with pointers\nFix: set it to sizeof, or use VYRE_PLUGIN",
               what, size);
  memcpy(out, theirs, size < known ? size : known);
  const size_t unknown = unknown_bytes(theirs, size, known);
  if (unknown)
    return BAD(r, "%s: the descriptor uses %zu bytes that this host does not know\nFix: update vyre", what, unknown);
  return VYRE_OK;
}

bool
vyre_name_is_valid(const char *name, bool *out_has_dot)
{
  bool has_dot = false, start = true, dashed = false;
  size_t length = 0;
  for (const char *c = name; *c; c++, length++) {
    bool lower = *c >= 'a' && *c <= 'z', digit = *c >= '0' && *c <= '9';
    if (lower || (digit && (!start || dashed))) {
      start = dashed = false;
    } else if (*c == '-' && !start) {
      start = dashed = true;
    } else if (*c == '.' && !start && !has_dot) {
      has_dot = start = true;
      dashed = false;
    } else {
      return false;
    }
  }
  *out_has_dot = has_dot;
  return length > 0 && length <= 128 && !start;
}

static bool
key_is_valid(const char *key, size_t length)
{
  if (length == 0 || length > 64)
    return false;
  for (size_t i = 0; i < length; i++) {
    char c = key[i];
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!letter && (i == 0 || !((c >= '0' && c <= '9') || c == '_' || c == '-')))
      return false;
  }
  return true;
}

static bool
words_are_valid(const char *words)
{
  for (const char *word = words;;) {
    size_t length = strcspn(word, "|");
    if (!key_is_valid(word, length))
      return false;
    if (!word[length])
      return true;
    word += length + 1;
  }
}

static vyre_status
check_param(const reader *r, const char *pass, const vyre_param *param, uint32_t index)
{
  if (!param->name || !key_is_valid(param->name, strlen(param->name)))
    return BAD(r, "pass '%s': parameter %u has no name, or a name that is invalid in pipelines", pass, index);
  if (!param->summary)
    return BAD(r, "pass '%s': parameter '%s' has no summary", pass, param->name);
  switch (param->type) {
  case VYRE_PARAM_FLAG:
    if (param->fallback > 1)
      return BAD(r, "pass '%s': the default of flag '%s' is neither 0 nor 1", pass, param->name);
    return VYRE_OK;
  case VYRE_PARAM_UINT:
    if (param->minimum > param->maximum || param->fallback < param->minimum || param->fallback > param->maximum)
      return BAD(r, "pass '%s': the default of parameter '%s' is not within its range", pass, param->name);
    return VYRE_OK;
  case VYRE_PARAM_WORD:
    if (!param->words || !words_are_valid(param->words))
      return BAD(r, "pass '%s': the words of parameter '%s' must have the form \"fast|small\"", pass, param->name);
    return VYRE_OK;
  case VYRE_PARAM_TEXT:
    return VYRE_OK;
  default:
    return BAD(r, "pass '%s': parameter '%s' has type %u, which this host does not know", pass, param->name, param->type);
  }
}

static vyre_status
read_params(const reader *r, vyre_pass_record *record)
{
  const vyre_pass *pass = &record->pass;
  if (pass->param_count == 0) {
    record->pass.params = NULL;
    return VYRE_OK;
  }
  if (!pass->params || pass->param_count > MOST_PARAMS)
    return BAD(r, "pass '%s': %u parameters%s", pass->name, pass->param_count,
               pass->params ? " are too many" : ", but no table of them");
  record->params = vyre_allocate(r->allocator, pass->param_count * sizeof(*record->params));
  if (!record->params)
    return VYRE_OUT_OF_MEMORY("for a plugin's parameters");
  /* The stride of the array is sizeof(vyre_param) of the plugin's compiler. */
  char what[192];
  uint32_t stride;
  memcpy(&stride, pass->params, sizeof(stride));
  for (uint32_t i = 0; i < pass->param_count; i++) {
    const char *theirs = (const char *)pass->params + (size_t)i * stride;
    uint32_t size;
    memcpy(&size, theirs, sizeof(size));
    if (size != stride)
      return BAD(r, "pass '%s': parameter %u has struct_size %u, the first one %u", pass->name, i, size, stride);
    snprintf(what, sizeof(what), "pass '%s', parameter %u", pass->name, i);
    VYRE_TRY(read_struct(r, what, theirs, PARAM_LEAST, sizeof(vyre_param), &record->params[i]));
    VYRE_TRY(check_param(r, pass->name, &record->params[i], i));
    for (uint32_t k = 0; k < i; k++)
      if (strcmp(record->params[k].name, record->params[i].name) == 0)
        return BAD(r, "pass '%s': two parameters have the name '%s'", pass->name, record->params[i].name);
  }
  record->pass.params = record->params;
  return VYRE_OK;
}

static vyre_status
check_name(const reader *r, const char *name)
{
  bool has_dot;
  if (!vyre_name_is_valid(name, &has_dot))
    return BAD(r,
               "'%.128s' is not a valid name of a pass\nFix: use lower-case letters and digits, words joined by '-', after the "
               "plugin's name and '.'",
               name);
  if (vyre_reserved_name(name, strlen(name)) != VYRE_RESERVED_NOT)
    return BAD(r, "pass name '%s' is reserved", name);
  size_t prefix = strlen(r->plugin);
  if (has_dot && (strncmp(name, r->plugin, prefix) != 0 || name[prefix] != '.'))
    return BAD(r, "pass '%s' must have the plugin's name '%s' before the dot", name, r->plugin);
  if (!has_dot && r->origin != VYRE_ORIGIN_CORE)
    return BAD(r, "pass '%s' must have the name '%s.%s', because names without a dot are reserved for core passes", name, r->plugin,
               name);
  return VYRE_OK;
}

static vyre_status
check_provides(const reader *r, const vyre_pass *pass)
{
  const uint32_t lowest = pass->provides & (~pass->provides + 1);
  if (pass->provides & ~VYRE_COLUMNS)
    return BAD(r, "pass '%s' provides columns 0x%x that this host does not know\nFix: update vyre", pass->name,
               pass->provides & ~VYRE_COLUMNS);
  if (pass->provides && pass->param_count)
    return BAD(r, "pass '%s' provides a column, so it cannot have parameters", pass->name);
  if (lowest && pass->requires_ >= lowest)
    return BAD(r, "pass '%s' provides column 0x%x but requires 0x%x, which is not computed before it", pass->name, pass->provides,
               pass->requires_ & ~(lowest - 1));
  return VYRE_OK;
}

/* Reads the phases, which are constant data and stay in the plugin. */
static vyre_status
read_phases(const reader *r, vyre_pass_record *record)
{
  vyre_pass *pass = &record->pass;
  const vyre_phases *phases = pass->phases;
  const char *why;
  if (!phases && !pass->prepare && !pass->finish)
    return VYRE_OK;
  if (!phases)
    return BAD(r, "pass '%s' has prepare or finish, but no phases", pass->name);
  const size_t size = phases->struct_size, unknown = size <= MOST_BYTES ? unknown_bytes(phases, size, sizeof(*phases)) : size;
  if (unknown)
    return BAD(r, "the phases of pass '%s' use %zu bytes that this host does not know\nFix: update vyre", pass->name, unknown);
  if (phases->memory_count > 0 && phases->memory_count < MOST_PARAMS) {
    record->sources = vyre_allocate(r->allocator, phases->memory_count * sizeof(*record->sources));
    if (!record->sources)
      return VYRE_OUT_OF_MEMORY("for a plugin's phases");
  }
  if (!record->sources || !vyre_phases_resolve(record, &why))
    return BAD(r, "the phases of pass '%s' cannot be run: %s", pass->name, record->sources ? why : "they use no memory");
  return VYRE_OK;
}

static vyre_status
read_pass(const reader *r, const vyre_pass *theirs, uint32_t index, vyre_pass_record **out)
{
  char what[48];
  snprintf(what, sizeof(what), "pass %u of the plugin", index);
  if (!theirs)
    return BAD(r, "%s is NULL", what);
  vyre_pass_record *record = vyre_allocate(r->allocator, sizeof(*record));
  if (!record)
    return VYRE_OUT_OF_MEMORY("for a plugin's passes");
  *out = record; /* the caller frees it also after a failure */
  vyre_pass *pass = &record->pass;
  VYRE_TRY(read_struct(r, what, theirs, PASS_LEAST, sizeof(*pass), pass));
  if (!pass->name)
    return BAD(r, "%s has no name", what);
  VYRE_TRY(check_name(r, pass->name));
  if (pass->long_name)
    VYRE_TRY(check_name(r, pass->long_name));
  if (!pass->run && !pass->phases)
    return BAD(r, "pass '%s' has no run function", pass->name);
  if (!pass->summary)
    return BAD(r, "pass '%s' has no summary", pass->name);
  if (pass->flags & ~known_flags)
    return BAD(r, "pass '%s' has flags 0x%x that this host does not know\nFix: update vyre", pass->name,
               pass->flags & ~known_flags);
  if (pass->requires_ & ~known_analyses)
    return BAD(r, "pass '%s' requires analyses 0x%x that this host does not know\nFix: update vyre", pass->name,
               pass->requires_ & ~known_analyses);
  VYRE_TRY(check_provides(r, pass));
  VYRE_TRY(read_params(r, record));
  return read_phases(r, record);
}

static vyre_status
check_plugin(reader *r, const vyre_plugin *plugin)
{
  uint32_t major = ABI_MAJOR(plugin->abi), minor = ABI_MINOR(plugin->abi);
  uint32_t our_major = ABI_MAJOR(VYRE_PLUGIN_ABI), our_minor = ABI_MINOR(VYRE_PLUGIN_ABI);
  const char *version = plugin->version ? plugin->version : "(no version)";
  if (major < our_major)
    return VYRE_ERROR(
        VYRE_CODE_USAGE,
        "plugin '%s' %s (%s) was built for plugin API %u.%u, but this host has %u.%u\nFix: build the plugin for %u.%u", r->plugin,
        version, r->path, major, minor, our_major, our_minor, our_major, our_minor);
  if (major > our_major || minor > our_minor)
    return VYRE_ERROR(
        VYRE_CODE_USAGE,
        "plugin '%s' %s (%s) needs plugin API %u.%u, but this host has %u.%u\nFix: update vyre, or build the plugin for %u.%u",
        r->plugin, version, r->path, major, minor, our_major, our_minor, our_major, our_minor);
  return VYRE_OK;
}

static vyre_status
check_plugin_fields(reader *r, const vyre_plugin *plugin)
{
  bool has_dot;
  if (!plugin->name || !vyre_name_is_valid(plugin->name, &has_dot) || has_dot)
    return BAD(r, "the plugin has no name, or a name with other characters than lower-case letters, digits and '-'");
  if (!plugin->version)
    return BAD(r, "plugin '%s' has no version", plugin->name);
  if (plugin->opset_min > VYRE_OPSET_VERSION)
    return BAD(r, "plugin '%s' %s needs op set %u, but this host has %u\nFix: update vyre", plugin->name, plugin->version,
               plugin->opset_min, VYRE_OPSET_VERSION);
  if (plugin->opset_max < plugin->opset_min)
    return BAD(r, "plugin '%s' %s has %u as its first and %u as its last op set", plugin->name, plugin->version, plugin->opset_min,
               plugin->opset_max);
  if (!plugin->passes || plugin->pass_count == 0 || plugin->pass_count > MOST_PASSES)
    return BAD(r, "plugin '%s' has %u passes, but a plugin must have 1 to %u", plugin->name,
               plugin->passes ? plugin->pass_count : 0, MOST_PASSES);
  return VYRE_OK;
}

void
vyre_pass_record_free(const vyre_allocator *allocator, vyre_pass_record *record)
{
  if (!record)
    return;
  if (record->sources)
    vyre_release(allocator, record->sources, record->pass.phases->memory_count * sizeof(*record->sources));
  vyre_release(allocator, record->params, record->pass.param_count * sizeof(*record->params));
  vyre_release(allocator, record, sizeof(*record));
}

/* Reads all fields except the passes.  Checks the version first, so that the error for a newer plugin is about its version. */
static vyre_status
read_plugin(reader *r, const vyre_plugin *theirs, vyre_plugin *out)
{
  if (!theirs)
    return VYRE_ERROR(VYRE_CODE_USAGE,
                      "plugin '%s' refused to load: '" VYRE_PLUGIN_ENTRY "' returned NULL\nFix: return the plugin's descriptor",
                      r->path);
  uint32_t size;
  memcpy(&size, theirs, sizeof(size));
  vyre_plugin start = {0};
  if (size >= offsetof(vyre_plugin, opset_min) && size <= MOST_BYTES) {
    memcpy(&start, theirs, offsetof(vyre_plugin, opset_min));
    r->plugin = start.name ? start.name : "(no name)";
    VYRE_TRY(check_plugin(r, &start));
  }
  VYRE_TRY(read_struct(r, "the plugin's descriptor", theirs, PLUGIN_LEAST, sizeof(*out), out));
  return check_plugin_fields(r, out);
}

vyre_status
vyre_descriptor_read(const vyre_allocator *allocator, const vyre_plugin *theirs, const char *path, vyre_origin origin,
                     vyre_plugin *out_plugin, vyre_pass_record ***out_passes)
{
  reader r = {.allocator = allocator, .path = path, .plugin = "(no name)", .origin = origin};
  *out_passes = NULL;
  VYRE_TRY(read_plugin(&r, theirs, out_plugin));
  uint32_t count = out_plugin->pass_count;
  vyre_pass_record **passes = vyre_allocate(allocator, count * sizeof(*passes));
  if (!passes)
    return VYRE_OUT_OF_MEMORY("for a plugin's passes");
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < count && !status; i++)
    status = read_pass(&r, out_plugin->passes[i], i, &passes[i]);
  if (!status) {
    *out_passes = passes;
    return VYRE_OK;
  }
  for (uint32_t i = 0; i < count; i++)
    vyre_pass_record_free(allocator, passes[i]);
  vyre_release(allocator, passes, count * sizeof(*passes));
  return status;
}
