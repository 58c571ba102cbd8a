/* Runs of random programs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "random_program.h"

#include <string.h>

#define MOST_BINDINGS 8u

static void
fill(random_memory *memory, uint64_t seed)
{
  memset(memory->out, 0xab, sizeof memory->out);
  for (uint32_t i = 0; i < RANDOM_IN; i++)
    memory->in[i] = i < 8 ? i : (i * 2654435761u) ^ (uint32_t)seed << (i & 15);
  memset(memory->shared, 0, sizeof memory->shared);
  for (uint32_t i = 0; i < 12; i++) {
    const float number = (float)i * 0.75f - 2.0f;
    memcpy(&memory->uniform[i], &number, sizeof number);
  }
  for (uint32_t i = 0; i < 4; i++)
    memory->push[i] = (uint32_t)seed >> i;
}

/* Rows of one binding share its memory. */
static vyre_binding
bind(const vyre_module *module, uint32_t row, random_memory *memory)
{
  if (VYRE_BUFFER_SPACE(vyre_module_view(module)->imm_hi[row]) == VYRE_SPACE_PUSH)
    return (vyre_binding){{row}, memory->push, sizeof memory->push, 0};
  switch (vyre_buffer_info_of((vyre_module *)module, (vyre_row){row})->binding) {
  case 0:
    return (vyre_binding){{row}, memory->out, sizeof memory->out, 0};
  case 1:
    return (vyre_binding){{row}, memory->in, sizeof memory->in, 0};
  case 2:
    return (vyre_binding){{row}, memory->shared, sizeof memory->shared, 0};
  default:
    return (vyre_binding){{row}, memory->uniform, sizeof memory->uniform, 0};
  }
}

vyre_status
random_program_run(const vyre_module *module, uint64_t seed, bool report_undefined, random_memory *out)
{
  const vyre_view *v = vyre_module_view(module);
  vyre_binding bindings[MOST_BINDINGS];
  vyre_dispatch dispatch = {.program = {v->first[0]}, .groups = {2, 1, 1}, .bindings = bindings};
  const vyre_interp_options options = {.steps = 1u << 20,
                                       .report_undefined = report_undefined,
                                       .subgroup = 1u << (seed >> 1) % 4, /* workgroups are of 4 */
                                       .check_races = true};              /* it has none */
  fill(out, seed);
  for (uint32_t row = v->first[v->first[0]]; row; row = v->next[row]) {
    const vyre_space space = VYRE_BUFFER_SPACE(v->imm_hi[row]);
    const bool bound = VYRE_ROW_OP(v->op[row]) == VYRE_OP_buffer &&
                       (space == VYRE_SPACE_STORAGE || space == VYRE_SPACE_UNIFORM || space == VYRE_SPACE_PUSH);
    if (bound && dispatch.binding_count < MOST_BINDINGS)
      bindings[dispatch.binding_count++] = bind(module, row, out);
  }
  return vyre_interp_run(module, &dispatch, &options, NULL);
}
