/* Programs as PTX, run by the simulator.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_ptx.h"

#include "vyre/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t
from_environment(const char *name, uint32_t fallback)
{
  const char *text = getenv(name);
  return text ? (uint32_t)strtoul(text, NULL, 0) : fallback;
}

void
assert_ok(vyre_status status, const char *what)
{
  if (status)
    print_error("%s: %s\n", what, vyre_status_text(status));
  assert_null(status);
}

void
write_ptx(const vyre_module *module, uint32_t program, uint32_t sm, vyre_bytes *out)
{
  const vyre_ptx_options options = {.sm = sm, .open_descriptors = OPEN_DESCRIPTORS};
  assert_ok(vyre_ptx_write(module, (vyre_row){program}, &options, out), "PTX");
}

ptx_module *
parse_ptx(const vyre_bytes *text, uint32_t sm)
{
  char log[512] = "";
  ptx_module *module = ptx_module_parse(text->data, text->size, sm, 90, log, sizeof log);
  if (!module)
    fail_msg("the simulator refuses the text: %s", log);
  return module;
}

/* ---- runs ------------------------------------------------------------------------------------------------------------------- */

/* The addresses of the device are the host's own here, but only what is bound is there. */
typedef struct device {
  struct {
    const char *data;
    uint64_t size;
    bool is_read_only;
  } all[MOST_BINDINGS + 40];
  uint32_t count;
  vyre_ptx_dispatch words;
} device;

static void *
find(void *user, uint64_t address, uint64_t size, bool is_write)
{
  const device *d = user;
  for (uint32_t i = 0; i < d->count; i++) {
    const uint64_t begin = (uint64_t)(uintptr_t)d->all[i].data;
    if (address >= begin && address - begin <= d->all[i].size && d->all[i].size - (address - begin) >= size &&
        !(is_write && d->all[i].is_read_only))
      return (void *)(uintptr_t)address;
  }
  return NULL;
}

static void
give(device *d, const void *data, uint64_t size, bool is_read_only)
{
  assert_true(d->count < sizeof d->all / sizeof *d->all);
  d->all[d->count].data = data;
  d->all[d->count].size = size;
  d->all[d->count++].is_read_only = is_read_only;
}

static uint32_t
elements_of(const vyre_module *module, uint32_t row)
{
  uint32_t count = 1;
  vyre_type_id type = vyre_module_view(module)->imm[row];
  for (uint32_t k = vyre_buffer_descriptor_steps(module, row); k > 0; k--) {
    const vyre_type_info info = vyre_type_get(module, type);
    uint64_t length = info.count;
    if (info.count_row)
      vyre_constant_value(module, (vyre_row){info.count_row}, NULL, 0, &length);
    count *= (info.flags & VYRE_TYPE_RUNTIME) != 0 ? OPEN_DESCRIPTORS : (uint32_t)length;
    type = info.element;
  }
  return count;
}

static bool
is_of(const vyre_module *module, uint32_t a, uint32_t b)
{
  const vyre_view *v = vyre_module_view(module);
  const vyre_buffer_info x = *vyre_buffer_info_of((vyre_module *)(uintptr_t)module, (vyre_row){a});
  const vyre_buffer_info y = *vyre_buffer_info_of((vyre_module *)(uintptr_t)module, (vyre_row){b});
  return VYRE_BUFFER_SPACE(v->imm_hi[a]) != VYRE_SPACE_PUSH && VYRE_BUFFER_SPACE(v->imm_hi[b]) != VYRE_SPACE_PUSH &&
         x.set == y.set && x.binding == y.binding;
}

/* The parameters as ptx.h lays them out. */
static void
fill_parameters(const vyre_module *module, const vyre_dispatch *dispatch, const vyre_ptx_dispatch *words, device *d, uint8_t *out)
{
  vyre_row row;
  uint32_t at = 8;
  const uint64_t address = (uint64_t)(uintptr_t)words;
  memcpy(out, &address, 8);
  for (uint32_t k = 0; (row = vyre_ptx_buffer_row(module, dispatch->program, k)).id; k++) {
    for (uint32_t i = 0; i < dispatch->binding_count; i++) {
      const vyre_binding *b = &dispatch->bindings[i];
      const vyre_ptx_buffer buffer = {(uint64_t)(uintptr_t)b->data, b->data ? b->size : 0};
      if (!is_of(module, b->buffer.id, row.id))
        continue;
      assert_int_equal(buffer.address % VYRE_PTX_ALIGN, 0);
      memcpy(out + at + 16 * b->element, &buffer, sizeof buffer);
      if (b->data)
        give(d, b->data, b->size, false);
    }
    at += 16 * elements_of(module, row.id);
  }
  at = (at + 15) & ~15u;
  for (uint32_t i = 0; i < dispatch->binding_count; i++)
    if (VYRE_BUFFER_SPACE(vyre_module_view(module)->imm_hi[dispatch->bindings[i].buffer.id]) == VYRE_SPACE_PUSH)
      memcpy(out + at, dispatch->bindings[i].data, dispatch->bindings[i].size);
}

uint32_t
run_ptx(const ptx_module *ptx, const vyre_module *module, const vyre_dispatch *dispatch, uint64_t seed, bool parts,
        const char *what)
{
  _Alignas(16) uint8_t parameters[VYRE_PTX_PARAMETERS] = {0};
  static device d;
  uint64_t globals[32];
  const char *name = vyre_row_name(module, dispatch->program);
  const ptx_kernel *kernel = ptx_kernel_find(ptx, name);
  const uint64_t blocks = (uint64_t)dispatch->groups[0] * dispatch->groups[1] * dispatch->groups[2];
  ptx_launch launch = {
      .kernel = kernel, .memory = {.user = &d, .find = find, .globals = globals}, .parameters = parameters, .seed = seed};
  ptx_fault fault;
  ptx_counts counts;
  if (!kernel)
    fail_msg("there is no kernel %s", name);
  memset(&d, 0, sizeof d);
  memcpy(d.words.groups, dispatch->groups, sizeof d.words.groups);
  give(&d, &d.words, sizeof d.words, false);
  fill_parameters(module, dispatch, &d.words, &d, parameters);
  assert_true(ptx_global_count(ptx) <= 32);
  for (uint32_t i = 0; i < ptx_global_count(ptx); i++) {
    globals[i] = (uint64_t)(uintptr_t)ptx_global_get(ptx, i)->initial;
    give(&d, ptx_global_get(ptx, i)->initial, ptx_global_get(ptx, i)->size, true);
  }
  assert_true(vyre_workgroup_size(module, dispatch->program, NULL, 0, launch.block));
  for (uint64_t first = 0; first < blocks; first += d.words.count) {
    d.words.first = first;
    d.words.count = !parts ? blocks : first == 0 ? 1 : blocks - first;
    launch.grid[0] = (uint32_t)d.words.count + (uint32_t)(seed % 2); /* one block that has nothing to do */
    launch.grid[1] = launch.grid[2] = 1;
    if (!ptx_run(&launch, &counts, &fault))
      fail_msg("%s: line %u, block %u, thread %u: %s", what, fault.line, fault.block[0], fault.thread[0], fault.text);
  }
  return d.words.fault;
}
