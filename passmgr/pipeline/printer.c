/* Prints the canonical text of a pipeline: without blanks, and with the parameters that are not defaults, sorted by name.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "pipeline.h"

#include <inttypes.h>
#include <string.h>

/* Appends a text, in quotes if necessary. */
static vyre_status
print_text(const char *text, vyre_bytes *out)
{
  size_t plain = 0;
  while (vyre_is_atom((unsigned char)text[plain]))
    plain++;
  if (plain && !text[plain])
    return vyre_bytes_append(out, text, plain);
  VYRE_TRY(vyre_bytes_append(out, "\"", 1));
  for (; *text; text++) {
    const bool escaped = *text == '"' || *text == '\\' || *text == '\n' || *text == '\t';
    const char c = *text == '\n' ? 'n' : *text == '\t' ? 't' : *text;
    VYRE_TRY(vyre_bytes_printf(out, "%s%c", escaped ? "\\" : "", c));
  }
  return vyre_bytes_append(out, "\"", 1);
}

static vyre_status
print_param(const vyre_pipeline *pipeline, const vyre_param *param, uint64_t value, vyre_bytes *out)
{
  const char *word = param->words;
  switch (param->type) {
  case VYRE_PARAM_FLAG:
    return vyre_bytes_printf(out, "%s%s", value ? "" : "no-", param->name);
  case VYRE_PARAM_UINT:
    return vyre_bytes_printf(out, "%s=%" PRIu64, param->name, value);
  case VYRE_PARAM_TEXT:
    VYRE_TRY(vyre_bytes_printf(out, "%s=", param->name));
    return print_text(pipeline->texts + value, out);
  default:
    for (; value; value--)
      word += strcspn(word, "|") + 1;
    return vyre_bytes_printf(out, "%s=%.*s", param->name, (int)strcspn(word, "|"), word);
  }
}

/* Returns the parameter with the next name after `after`, or schema->count at the end. */
static uint32_t
next_by_name(const vyre_schema *schema, const char *after)
{
  uint32_t best = schema->count;
  for (uint32_t i = 0; i < schema->count; i++)
    if (strcmp(schema->params[i].name, after) > 0 &&
        (best == schema->count || strcmp(schema->params[i].name, schema->params[best].name) < 0))
      best = i;
  return best;
}

static vyre_status
print_params(const vyre_pipeline *pipeline, const vyre_schema *schema, const uint64_t *values, vyre_bytes *out)
{
  bool open = false;
  const char *after = "";
  for (uint32_t i = next_by_name(schema, after); i < schema->count; i = next_by_name(schema, after)) {
    const vyre_param *param = &schema->params[i];
    after = param->name;
    if (values[i] == (param->type >= VYRE_PARAM_WORD ? 0 : param->fallback))
      continue;
    VYRE_TRY(vyre_bytes_append(out, open ? ";" : "<", 1));
    VYRE_TRY(print_param(pipeline, param, values[i], out));
    open = true;
  }
  return open ? vyre_bytes_append(out, ">", 1) : VYRE_OK;
}

static vyre_status
print_children(const vyre_pipeline *pipeline, uint32_t node, vyre_bytes *out)
{
  for (uint32_t child = pipeline->nodes[node].first; child; child = pipeline->nodes[child].next) {
    if (child != pipeline->nodes[node].first)
      VYRE_TRY(vyre_bytes_append(out, ",", 1));
    VYRE_TRY(vyre_print_node(pipeline, child, true, out));
  }
  return VYRE_OK;
}

vyre_status
vyre_print_node(const vyre_pipeline *pipeline, uint32_t node, bool with_children, vyre_bytes *out)
{
  const vyre_node *n = &pipeline->nodes[node];
  if (n->kind != VYRE_NODE_ROOT) {
    const vyre_schema schema = vyre_node_schema(n);
    VYRE_TRY(vyre_bytes_printf(out, "%s", schema.name));
    VYRE_TRY(print_params(pipeline, &schema, vyre_node_values(pipeline, n), out));
  }
  if (n->kind == VYRE_NODE_PASS || !with_children)
    return VYRE_OK;
  VYRE_TRY(vyre_bytes_append(out, "(", 1));
  VYRE_TRY(print_children(pipeline, node, out));
  return vyre_bytes_append(out, ")", 1);
}

vyre_status
vyre_pipeline_print(const vyre_pipeline *pipeline, vyre_bytes *out)
{
  size_t before = out->size;
  return vyre_bytes_undo(out, before, print_children(pipeline, 0, out));
}
