/* Cost models: the default one, which is generated when vyre is built, and parsed ones.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cost.h"

#include "vyre/environment.h"

const vyre_cost_model *
vyre_cost_model_default(void)
{
  return &cost_default;
}

vyre_status
vyre_cost_model_parse(const char *text, size_t length, const char *name, const vyre_allocator *allocator, vyre_cost_model **out)
{
  VYRE_OWN_ENVIRONMENT;
  const vyre_allocator *from = allocator ? allocator : vyre_allocator_default();
  *out = NULL;
  vyre_cost_model *model = from->resize(from->user, NULL, 0, sizeof(*model));
  if (!model)
    return VYRE_OUT_OF_MEMORY("for a cost model");
  *model = cost_default;
  model->allocator = *from;
  vyre_status status = cost_read(model, text, length, name);
  if (status)
    vyre_cost_model_destroy(model);
  else
    *out = model;
  return status;
}

void
vyre_cost_model_destroy(vyre_cost_model *model)
{
  if (!model)
    return;
  const vyre_allocator allocator = model->allocator;
  allocator.resize(allocator.user, model, sizeof(*model), 0);
}

vyre_cost
vyre_cost_of(const vyre_cost_model *model, uint32_t op, vyre_type type)
{
  const uint16_t *figures = (model ? model : &cost_default)->figures[op][VYRE_TYPE_KIND(type)];
  const uint32_t lanes = VYRE_TYPE_LANES(type);
  return (vyre_cost){sizeof(vyre_cost), figures[COST_ISSUE] * lanes, figures[COST_LATENCY], figures[COST_REGISTERS] * lanes};
}
