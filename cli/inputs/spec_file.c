/* Docs at specialize.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "specialize.h"

#include "vyre/io.h"

#include <inttypes.h>
#include <jansson.h>

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

vyre_status
spec_file_read(const char *path, name_list *values, option_texts *texts)
{
  static const char fix[] = "Fix: write a JSON object of values: {\"0\": 64, \"NAME\": true}";
  json_error_t error;
  vyre_bytes text = {0};
  vyre_status status = vyre_file_read_as(path, VYRE_FILE_TEXT, &text);
  if (status)
    return vyre_status_note(status, "for -spec-file");
  json_t *root = json_loadb(text.data ? text.data : "", text.size, JSON_REJECT_DUPLICATES, &error);
  vyre_bytes_free(&text);
  if (!root)
    return VYRE_ERROR(VYRE_CODE_USAGE, "%s:%d:%d: %s\n%s", path, error.line, error.column, error.text, fix);
  if (!json_is_object(root))
    status = VYRE_ERROR(VYRE_CODE_USAGE, "'%s' is not a JSON object\n%s", path, fix);
  const char *name;
  json_t *value;
  if (!status)
    json_object_foreach(root, name, value) if (!status) status = append_value(path, name, value, values, texts);
  json_decref(root);
  return status;
}
