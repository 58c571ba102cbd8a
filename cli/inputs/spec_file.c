/* Docs at specialize.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "specialize.h"

#include "base/grow.h"
#include "vyre/io.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static vyre_status
append_value(const char *path, const char *name, const json_t *value, name_list *values, option_texts *texts)
{
  vyre_bytes text = {0};
  vyre_status status = VYRE_OK;
  if (json_is_integer(value))
    status = vyre_bytes_printf(&text, "%s=%" JSON_INTEGER_FORMAT, name, json_integer_value(value));
  else if (json_is_real(value))
    status = vyre_bytes_printf(&text, "%s=%.17g", name, json_real_value(value));
  else if (json_is_boolean(value))
    status = vyre_bytes_printf(&text, "%s=%s", name, json_is_true(value) ? "true" : "false");
  else if (json_is_string(value))
    status = vyre_bytes_printf(&text, "%s=%s", name, json_string_value(value));
  else
    status = VYRE_ERROR(VYRE_CODE_USAGE,
                        "'%s': the value of '%.200s' is not a number, a string, true or false\nFix: give one value", path, name);
  if (!status)
    status = name_list_append_copy(values, text.data, texts);
  vyre_bytes_free(&text);
  return status;
}

static vyre_status
append_values(const char *path, const json_t *object, name_list *values, option_texts *texts)
{
  const char *name;
  json_t *value;
  json_object_foreach((json_t *)(uintptr_t)object, name, value) VYRE_TRY(append_value(path, name, value, values, texts));
  return VYRE_OK;
}

/* Reads a JSON object. */
static vyre_status
read_object(const char *path, const char *fix, json_t **out)
{
  json_error_t error;
  vyre_bytes text = {0};
  VYRE_TRY(vyre_file_read_as(path, VYRE_FILE_TEXT, &text));
  *out = json_loadb(text.data ? text.data : "", text.size, JSON_REJECT_DUPLICATES, &error);
  vyre_bytes_free(&text);
  if (!*out)
    return VYRE_ERROR(VYRE_CODE_USAGE, "%s:%d:%d: %s\n%s", path, error.line, error.column, error.text, fix);
  return json_is_object(*out) ? VYRE_OK : VYRE_ERROR(VYRE_CODE_USAGE, "'%s' is not a JSON object\n%s", path, fix);
}

vyre_status
spec_file_read(const char *path, name_list *values, option_texts *texts)
{
  json_t *root = NULL;
  vyre_status status = read_object(path, "Fix: write a JSON object of values: {\"0\": 64, \"NAME\": true}", &root);
  if (!status)
    status = append_values(path, root, values, texts);
  json_decref(root);
  return status;
}

static vyre_status
append_variant(const char *path, const char *name, const json_t *values, spec_variants *out, option_texts *texts)
{
  static const char characters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  if (!name[0] || strspn(name, characters) != strlen(name))
    return VYRE_ERROR(VYRE_CODE_USAGE,
                      "'%s': the name '%.200s' of a variant cannot be a part of a file's name\n"
                      "Fix: use letters, digits and the characters _ - .",
                      path, name);
  if (!json_is_object(values))
    return VYRE_ERROR(VYRE_CODE_USAGE,
                      "'%s': the variant '%.200s' is not an object of values\nFix: write {\"%.200s\": {\"0\": 64}}", path, name,
                      name);
  vyre_bytes copy = {0};
  VYRE_TRY(vyre_bytes_printf(&copy, "%s", name));
  name_list names = {0};
  vyre_status status = name_list_append_copy(&names, copy.data, texts);
  vyre_bytes_free(&copy);
  if (!status && !vyre_grow(NULL, &out->items, &out->capacity, out->count + 1, sizeof *out->items))
    status = VYRE_OUT_OF_MEMORY("for the variants");
  if (!status) {
    out->items[out->count++] = (spec_variant){.name = names.names[0]};
    status = append_values(path, values, &out->items[out->count - 1].values, texts);
  }
  free(names.names);
  return status;
}

vyre_status
variants_read(const char *path, spec_variants *out, option_texts *texts)
{
  static const char fix[] = "Fix: write a JSON object of variants: {\"small\": {\"0\": 64}, \"large\": {\"0\": 256}}";
  json_t *root = NULL, *values;
  const char *name;
  vyre_status status = read_object(path, fix, &root);
  if (!status && json_object_size(root) == 0)
    status = VYRE_ERROR(VYRE_CODE_USAGE, "'%s' has no variant\n%s", path, fix);
  if (!status)
    json_object_foreach(root, name, values) if (!status) status = append_variant(path, name, values, out, texts);
  json_decref(root);
  return status;
}
