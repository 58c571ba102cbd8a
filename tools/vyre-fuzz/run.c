/* Runs random programs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "random_program.h"

#include <string.h>

static void
fill_extremes(uint32_t *words, uint64_t seed)
{
  uint64_t random = seed;
  for (uint32_t i = 0; i < 8; i++) {
    const uint64_t bits = random_extreme(&random, VYRE_F64);
    words[2 * i] = (uint32_t)bits;
    words[2 * i + 1] = (uint32_t)(bits >> 32);
    words[16 + i] = (uint32_t)random_extreme(&random, VYRE_F32);
    words[24 + i] = (uint32_t)random_extreme(&random, VYRE_F16);
  }
}

void
random_program_fill(random_memory *memory, uint64_t seed)
{
  memset(memory->out, 0xab, sizeof memory->out);
  for (uint32_t i = 0; i < RANDOM_IN; i++)
    memory->in[i] = i < 8 ? i : (i * 2654435761u) ^ (uint32_t)seed << (i & 15);
  if (random_program_features(seed, RANDOM_WIDE) & RANDOM_EXTREME)
    fill_extremes(memory->in + RANDOM_EXTREMES, seed);
  memset(memory->shared, 0, sizeof memory->shared);
  for (uint32_t i = 0; i < 12; i++) {
    const float number = (float)i * 0.75f - 2.0f;
    memcpy(&memory->uniform[i], &number, sizeof number);
  }
  for (uint32_t i = 0; i < 4; i++)
    memory->push[i] = (uint32_t)seed >> i;
  for (uint32_t i = 0; i < RANDOM_OUT; i++) {
    memory->blocks[0][i] = i * 3;
    memory->blocks[1][i] = i * 5 + 1;
  }
  for (uint32_t i = 0; i < 12; i++)
    memory->lone[i] = i + 20;
  memset(memory->layouts, 0, sizeof memory->layouts);
}

/* Binds memory to a buffer row.  Rows of one binding share its memory. */
static vyre_binding
bind(const vyre_module *module, uint32_t row, uint64_t seed, uint32_t element, random_memory *memory)
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
  case 4: /* the first or the last two elements often share memory */
    return (vyre_binding){
        {row}, memory->blocks[element + (seed >> 4) % 2 > (seed >> 5) % 2 + 1], sizeof memory->blocks[0], element};
  case 5:
    return (vyre_binding){{row}, memory->lone, sizeof memory->lone, 0};
  case RANDOM_LAYOUT_BINDING:
    return (vyre_binding){{row}, memory->layouts, sizeof memory->layouts, 0};
  default:
    return (vyre_binding){{row}, memory->uniform, sizeof memory->uniform, 0};
  }
}

static bool
is_unbound(const vyre_module *module, const vyre_binding *binding, uint32_t unbound)
{
  if (VYRE_BUFFER_SPACE(vyre_module_view(module)->imm_hi[binding->buffer.id]) == VYRE_SPACE_PUSH)
    return false;
  switch (vyre_buffer_info_of((vyre_module *)module, binding->buffer)->binding) {
  case 3:
    return (unbound & RANDOM_UNBOUND_UNIFORM) != 0;
  case 4:
    return (unbound & RANDOM_UNBOUND_BLOCK << binding->element) != 0;
  case 5:
    return (unbound & RANDOM_UNBOUND_LONE) != 0;
  default:
    return false;
  }
}

uint32_t
random_program_bind(const vyre_module *module, uint32_t program, uint64_t seed, uint32_t unbound, random_memory *memory,
                    vyre_binding bindings[RANDOM_BINDINGS])
{
  const vyre_view *v = vyre_module_view(module);
  uint32_t count = 0;
  for (uint32_t row = v->first[program]; row; row = v->next[row]) {
    const vyre_space space = VYRE_BUFFER_SPACE(v->imm_hi[row]);
    const bool bound = VYRE_ROW_OP(v->op[row]) == VYRE_OP_buffer &&
                       (space == VYRE_SPACE_STORAGE || space == VYRE_SPACE_UNIFORM || space == VYRE_SPACE_PUSH);
    const uint32_t elements = bound && vyre_buffer_descriptor_steps(module, row) ? RANDOM_BLOCKS : 1;
    for (uint32_t element = 0; bound && element < elements && count < RANDOM_BINDINGS; element++) {
      vyre_binding *binding = &bindings[count++];
      *binding = bind(module, row, seed, element, memory);
      if (is_unbound(module, binding, unbound))
        *binding = (vyre_binding){{row}, NULL, 0, element};
    }
  }
  return count;
}

vyre_status
random_program_run(const vyre_module *module, uint64_t seed, bool report_undefined, uint32_t unbound, random_memory *out)
{
  const vyre_view *v = vyre_module_view(module);
  vyre_binding bindings[RANDOM_BINDINGS];
  vyre_dispatch dispatch = {.program = {v->first[0]}, .groups = {RANDOM_GROUPS, 1, 1}, .bindings = bindings};
  /* not a NaN at any width, because the bits of a computed NaN are open */
  const uint64_t other_start = UINT64_C(0x3fe779b93f4a3c15);
  const vyre_interp_options options = {.struct_size = sizeof options,
                                       .steps = 1u << 20,
                                       .report_undefined = report_undefined,
                                       .subgroup = 1u << (seed >> 1) % 4, /* 1 to 8; workgroups have 4 invocations */
                                       .check_races = true,               /* programs have none */
                                       .unset = unbound & RANDOM_OTHER_START ? other_start : 0};
  random_program_fill(out, seed);
  dispatch.binding_count = random_program_bind(module, v->first[0], seed, unbound, out, bindings);
  return vyre_interp_run(module, &dispatch, &options, NULL);
}

uint32_t
random_program_unbound(const vyre_module *module, uint64_t seed)
{
  const vyre_view *v = vyre_module_view(module);
  const uint32_t some = (uint32_t)(seed >> 2) * 2654435761u >> 27;
  const uint32_t tries[] = {RANDOM_UNBOUND_ALL, RANDOM_UNBOUND_LONE | (some & RANDOM_UNBOUND_ALL), RANDOM_UNBOUND_LONE};
  random_memory unused;
  if ((v->imm[v->first[0]] & VYRE_PROGRAM_RELAXED) == 0)
    return some;
  for (uint32_t i = 0; i < sizeof tries / sizeof tries[0]; i++) {
    vyre_status status = random_program_run(module, seed, true, tries[i], &unused);
    if (!status)
      return tries[i];
    vyre_status_free(status);
  }
  return 0;
}
