/* Lays out the registers, lane memory and shared variables that kernels reach. Also has the queries of a module.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/round.h"
#include "targets/cuda/sim/ptx/parse.h"

#include <stdlib.h>
#include <string.h>

enum { FRAME_ALIGN = 128, BLOCK_REGISTERS = 64 << 10 };

static bool
passes_agree(const ptx_passed *a, const ptx_passed *b, uint32_t count)
{
  for (uint32_t i = 0; i < count; i++)
    if (a[i].is_memory != b[i].is_memory || a[i].size != b[i].size)
      return false;
  return true;
}

static bool
check_call(ptx_parser *p, const ptx_call *call)
{
  const ptx_function *f = call->callee;
  if (!f->has_body)
    return ptx_error(p, call->line, "'%s' is called, but not defined", f->name);
  if (call->argument_count != f->parameter_count || call->result_count != f->result_count ||
      !passes_agree(call->arguments, f->parameters, f->parameter_count) ||
      !passes_agree(call->results, f->results, f->result_count))
    return ptx_error(p, call->line, "the call does not fit '%s'", f->name);
  return true;
}

/* Lays out the frames of a function and of those that it calls. A function that is visited again on one path is recursive. */
static bool
reach(ptx_parser *p, ptx_kernel *k, ptx_function *f, uint32_t depth)
{
  if (f->is_visited)
    return ptx_error(p, f->line, "'%s' calls itself; the simulator does not support recursion", f->name);
  if (k->call_depth < depth)
    k->call_depth = depth;
  f->is_visited = true;
  ptx_frame *frame = &k->frames[f->index];
  if (!frame->is_reached) {
    frame->is_reached = true;
    frame->register_base = k->register_slots;
    frame->lane_base = (uint32_t)round_up(k->lane_bytes, FRAME_ALIGN);
    k->register_slots += f->register_count;
    k->lane_bytes = frame->lane_base + f->lane_bytes;
  }
  for (uint32_t i = 0; i < f->call_count; i++)
    if (!check_call(p, &f->calls[i]) || !reach(p, k, f->calls[i].callee, depth + 1))
      return false;
  f->is_visited = false;
  return true;
}

/* Lays out shared memory. All dynamic variables begin after the static ones, at the greatest alignment of a dynamic one. */
static void
place_shared(const ptx_module *m, ptx_kernel *k)
{
  uint64_t end = 0, dynamic_align = 1;
  bool *used = (bool *)(k->shared_offset + m->shared_count);
  for (uint32_t i = 0; i < m->function_count; i++)
    for (uint32_t j = 0; k->frames[i].is_reached && j < m->functions[i]->shared_count; j++)
      used[m->functions[i]->shared[j]] = true;
  for (uint32_t i = 0; i < m->shared_count; i++) {
    const ptx_variable *v = m->shared[i];
    if (!used[i])
      continue;
    if (v->is_extern) {
      k->info.uses_dynamic_shared = true;
      dynamic_align = v->align > dynamic_align ? v->align : dynamic_align;
      continue;
    }
    k->shared_offset[i] = (uint32_t)round_up(end, v->align);
    end = k->shared_offset[i] + v->size;
  }
  k->info.shared_bytes = (uint32_t)round_up(end, dynamic_align);
  for (uint32_t i = 0; i < m->shared_count; i++)
    if (used[i] && m->shared[i]->is_extern)
      k->shared_offset[i] = k->info.shared_bytes;
}

static bool
link_kernel(ptx_parser *p, ptx_function *f, ptx_kernel *k)
{
  ptx_module *m = p->module;
  k->module = m;
  k->function = f;
  k->frames = ptx_new(m, m->function_count * sizeof *k->frames);
  k->shared_offset = ptx_new(m, m->shared_count * (sizeof *k->shared_offset + sizeof(bool)) + 1);
  if (!k->frames || !k->shared_offset)
    return ptx_no_memory(p);
  if (!reach(p, k, f, 1))
    return false;
  place_shared(m, k);
  k->lane_stride = (uint32_t)round_up(k->lane_bytes, FRAME_ALIGN);
  uint32_t words = 0;
  for (uint32_t i = 0; i < f->register_count; i++)
    words += ptx_bits((ptx_word)f->register_types[i]) > 32 ? 2 : 1;
  k->info.name = f->name;
  k->info.parameter_count = f->parameter_count;
  k->info.parameter_bytes = f->parameter_bytes;
  memcpy(k->info.required, f->required, sizeof f->required);
  k->info.most_threads = f->most_threads;
  k->info.local_bytes = k->lane_bytes;
  k->info.registers = words < 16 ? 16 : words > 255 ? 255 : words; /* an upper bound of the live registers */
  const uint32_t required = f->required[0] * f->required[1] * f->required[2], threads = required ? required : f->most_threads;
  if (threads) { /* a compiler spills registers, so that blocks of the declared size fit */
    const uint32_t fitting = BLOCK_REGISTERS / ((threads + 31) / 32 * 32) / 8 * 8;
    k->info.registers = k->info.registers < fitting ? k->info.registers : fitting;
  }
  return true;
}

bool
ptx_link(ptx_parser *p)
{
  ptx_module *m = p->module;
  uint32_t count = 0;
  for (uint32_t i = 0; i < m->function_count; i++)
    count += m->functions[i]->is_entry && m->functions[i]->has_body;
  m->kernels = ptx_new(m, (count + 1) * sizeof *m->kernels);
  if (!m->kernels)
    return ptx_no_memory(p);
  for (uint32_t i = 0; i < m->function_count; i++)
    if (m->functions[i]->is_entry && m->functions[i]->has_body && !link_kernel(p, m->functions[i], &m->kernels[m->kernel_count++]))
      return false;
  return true;
}

/* ---- queries ------------------------------------------------------------------------------------------------------------- */

void
ptx_module_free(ptx_module *module)
{
  if (!module)
    return;
  for (uint32_t i = 0; i < module->function_count; i++) {
    ptx_function *f = module->functions[i];
    free(f->register_types);
    free(f->constants);
    free(f->parameters);
    free(f->results);
    free(f->shared);
    free(f->calls);
  }
  free(module->code);
  free(module->functions);
  free(module->shared);
  free(module->globals);
  free(module->tables);
  for (ptx_chunk *chunk = module->chunks, *next; chunk; chunk = next) {
    next = chunk->next;
    free(chunk);
  }
  free(module);
}

uint32_t
ptx_global_count(const ptx_module *module)
{
  return module->global_count;
}

const ptx_global *
ptx_global_get(const ptx_module *module, uint32_t index)
{
  return &module->globals[index];
}

const ptx_kernel *
ptx_kernel_find(const ptx_module *module, const char *name)
{
  for (uint32_t i = 0; i < module->kernel_count; i++)
    if (strcmp(module->kernels[i].info.name, name) == 0)
      return &module->kernels[i];
  return NULL;
}

void
ptx_kernel_describe(const ptx_kernel *kernel, ptx_kernel_info *out)
{
  *out = kernel->info;
}

void
ptx_kernel_parameter(const ptx_kernel *kernel, uint32_t index, uint32_t *out_offset, uint32_t *out_size)
{
  *out_offset = kernel->function->parameters[index].offset;
  *out_size = kernel->function->parameters[index].size;
}
