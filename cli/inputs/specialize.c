/* Docs at specialize.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "specialize.h"

#include "tools/run/run_parts.h"

#include <stdlib.h>
#include <string.h>

#include "vyre/passmgr.h"

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

/* Sets the default of each constant with that name or id.  Sets *found if there is one. */
static vyre_status
set_default(vyre_module *module, const char *setting, const char *path, bool *found)
{
  const vyre_view *v = vyre_module_view(module);
  const size_t length = strcspn(setting, "=");
  const char *value = setting + length + 1;
  for (uint32_t program = v->first[0]; program; program = v->next[program])
    for (uint32_t row = 0; (row = run_spec_find(module, program, row, setting, length)) != 0;) {
      uint64_t bits;
      if (!run_scalar_parse(value, strlen(value), VYRE_TYPE_KIND(VYRE_ROW_TYPE(v->op[row])), &bits))
        return VYRE_ERROR(VYRE_CODE_INPUT,
                          "%s: '%.200s' is not a value of the specialization constant '%.*s'\n"
                          "Fix: give a number in the range of its type, or true, false",
                          path, value, (int)length, setting);
      vyre_row_rewrite(module, (vyre_row){row}, v->op[row], (uint32_t)bits, (uint32_t)(bits >> 32), VYRE_NONE, VYRE_NONE,
                       VYRE_NONE);
      *found = true;
    }
  return VYRE_OK;
}

static bool
is_spec(const vyre_view *v, uint32_t row)
{
  return VYRE_ROW_OP(v->op[row]) == VYRE_OP_spec;
}

/* Replaces each specialization constant by a constant. */
static vyre_status
freeze(vyre_module *module)
{
  const vyre_view *v = vyre_module_view(module);
  const uint32_t rows = v->rows;
  uint32_t most = rows; /* the rows with the constants that are added */
  for (uint32_t row = 1; row < rows; row++)
    most += is_spec(v, row);
  uint32_t *forward = malloc(sizeof *forward * most);
  if (!forward)
    return VYRE_OUT_OF_MEMORY("to specialize a module");
  for (uint32_t row = 0; row < most; row++)
    forward[row] = row;
  for (uint32_t program = v->first[0]; program; program = v->next[program]) {
    vyre_builder builder = {.module = module};
    vyre_builder_at_end(&builder, (vyre_row){program});
    for (uint32_t row = v->first[program]; row; row = v->next[row])
      if (is_spec(v, row))
        forward[row] = vyre_build_const(&builder, VYRE_ROW_TYPE(v->op[row]), v->imm[row] | (uint64_t)v->imm_hi[row] << 32).id;
  }
  vyre_module_forward(module, forward);
  for (uint32_t row = 1; row < rows; row++)
    if (is_spec(v, row))
      vyre_row_kill(module, (vyre_row){row});
  free(forward);
  return VYRE_OK;
}

/* Refuses a module with parts that are only words: a module that is kept unchanged, and entry points of other stages. */
static vyre_status
check_converted(vyre_module *module, const char *path)
{
  const size_t length = strlen(path);
  for (uint32_t i = 0; i < vyre_module_input_count(module); i++) {
    const vyre_input *input = vyre_module_input(module, i);
    if (!input->remark && !input->stages)
      continue;
    const char *why = vyre_string_text(module, input->remark ? input->remark : input->stages);
    if (strncmp(why, path, length) == 0 && strncmp(why + length, ": ", 2) == 0)
      why += length + 2;
    return VYRE_ERROR(VYRE_CODE_INPUT, "%s: %s%.*s\nFix: leave out -spec and -freeze-spec, or set the values in the source", path,
                      input->remark ? "the module is kept unchanged, so it cannot be specialized: "
                                    : "only compute shaders can be specialized, but the module has: ",
                      (int)strcspn(why, "\n"), why);
  }
  return VYRE_OK;
}

/* Sets the values that a file gives. */
static vyre_status
set_optional(const name_list *values, vyre_module *module, const char *path)
{
  for (uint32_t i = 0; i < values->count; i++)
    VYRE_TRY(set_default(module, values->names[i], path, &(bool){false}));
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
  if (!is_specialized(o))
    return VYRE_OK;
  VYRE_TRY(check_converted(module, path));
  VYRE_TRY(set_optional(&o->spec_of_file, module, path));
  if (o->variants.count)
    VYRE_TRY(set_optional(&o->variants.items[variant].values, module, path));
  for (uint32_t i = 0; i < o->spec.count; i++) {
    bool found = false;
    VYRE_TRY(set_default(module, o->spec.names[i], path, &found));
    if (!found)
      return VYRE_ERROR(VYRE_CODE_INPUT,
                        "%s: there is no specialization constant '%.*s'\n"
                        "Fix: name one by its name or id, or use -spec-file, whose constants may be missing",
                        path, (int)strcspn(o->spec.names[i], "="), o->spec.names[i]);
  }
  if (o->freeze_spec)
    VYRE_TRY(freeze(module));
  VYRE_TRY(vyre_module_seal(module, NULL));
  return vyre_module_check(module, NULL);
}
