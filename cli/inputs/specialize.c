/* Docs at specialize.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "specialize.h"

#include <stdlib.h>
#include <string.h>

#include "vyre/run.h"

void
variants_free(spec_variants *v)
{
  for (uint32_t i = 0; i < v->count; i++)
    free(v->items[i].values.names);
  free(v->items);
}

vyre_status
specialize_check(const name_list *values)
{
  for (uint32_t i = 0; i < values->count; i++) {
    const char *equals = strchr(values->names[i], '=');
    if (!equals || equals == values->names[i] || !equals[1])
      return VYRE_ERROR(VYRE_CODE_USAGE, "-spec=%.200s is not NAME=VALUE\nFix: give the name or the id of a constant and its value",
                        values->names[i]);
  }
  return VYRE_OK;
}

bool
is_specialized(const tool_options *o)
{
  return o->spec.count || o->spec_of_file.count || o->variants.count || o->freeze_spec;
}

vyre_status
specialize(const tool_options *o, uint32_t variant, vyre_module *module, const char *path)
{
  const vyre_specialization of_file = {.optional = o->spec_of_file.names, .optional_count = o->spec_of_file.count};
  vyre_specialization last = {.values = o->spec.names, .count = o->spec.count, .freeze = o->freeze_spec};
  if (o->variants.count) {
    last.optional = o->variants.items[variant].values.names;
    last.optional_count = o->variants.items[variant].values.count;
  }
  VYRE_TRY(vyre_module_specialize(module, &of_file, path));
  return vyre_module_specialize(module, &last, path);
}
