/* Runs programs as PTX.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_ptx.h"

#include "run_driver.h"

#include "vyre/text.h"

void
assert_ok(vyre_status status, const char *what)
{
  if (status)
    print_error("%s: %s\n", what, vyre_status_text(status));
  assert_null(status);
}

/* Returns whether arrays with an open length are tables.  run_driver.h has no memory for tables. */
static bool
has_tables(uint32_t sm)
{
  return sm >= 90 && !run_by_driver();
}

void
write_ptx(const vyre_module *module, uint32_t program, uint32_t sm, vyre_bytes *out)
{
  const uint32_t most = run_by_driver() ? driver_architecture() : sm;
  const vyre_ptx_options options = {
      .struct_size = sizeof options, .sm = sm < most ? sm : most, .open_descriptors = has_tables(sm) ? 0 : OPEN_DESCRIPTORS};
  assert_ok(vyre_ptx_write(module, (vyre_row){program}, &options, out), "PTX");
}

ptx_program
parse_ptx(const vyre_bytes *text, uint32_t sm)
{
  char log[512] = "";
  const ptx_program ptx = {ptx_module_parse(text->data, text->size, sm, 90, log, sizeof log), text, has_tables(sm)};
  if (!ptx.module)
    fail_msg("the simulator refuses the text: %s", log);
  return ptx;
}

void
free_ptx(ptx_program *ptx)
{
  ptx_module_free(ptx->module);
  *ptx = (ptx_program){0};
}

/* ---- runs ------------------------------------------------------------------------------------------------------------------- */

/* Memory of the simulated device.  Its addresses are the host's, and only these ranges are accessible. */
typedef struct device {
  struct {
    const char *data;
    uint64_t size;
    bool is_read_only;
  } all[MOST_BINDINGS + 40];
  uint32_t count;
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

static bool
is_open(const vyre_module *module, uint32_t row)
{
  return vyre_buffer_descriptor_steps(module, row) &&
         (vyre_type_get(module, vyre_module_view(module)->imm[row]).flags & VYRE_TYPE_RUNTIME) != 0;
}

typedef struct descriptor_tables {
  _Alignas(16) vyre_ptx_buffer descriptors[4][64];
  uint32_t lengths[4], count;
} descriptor_tables;

/* Stores the parameters in the layout of ptx.h, with the addresses of the bindings, and the offset of each parameter.  Fills the
 * tables unless `tables` is NULL.  Returns the number of parameters. */
static uint32_t
fill_parameters(const vyre_module *module, const vyre_dispatch *dispatch, uint64_t words, const uint64_t *addresses,
                descriptor_tables *tables, uint8_t *out, uint32_t offsets[3])
{
  vyre_row row;
  uint32_t at = 8, count = 1;
  memcpy(out, &words, 8);
  offsets[0] = 0;
  for (uint32_t k = 0; (row = vyre_ptx_buffer_row(module, dispatch->program, k)).id; k++) {
    vyre_ptx_buffer *elements = (vyre_ptx_buffer *)(void *)(out + at);
    const bool is_table = tables && is_open(module, row.id);
    if (is_table) {
      assert_true(tables->count < 4 && elements_of(module, row.id) <= 64);
      tables->lengths[tables->count] = elements_of(module, row.id);
      elements = tables->descriptors[tables->count++];
      const vyre_ptx_buffer table = {(uint64_t)(uintptr_t)elements, elements_of(module, row.id) * sizeof *elements};
      memcpy(out + at, &table, sizeof table);
    }
    for (uint32_t i = 0; i < dispatch->binding_count; i++) {
      const vyre_binding *b = &dispatch->bindings[i];
      const vyre_ptx_buffer buffer = {b->data ? addresses[i] : 0, b->data ? b->size : 0};
      if (!is_of(module, b->buffer.id, row.id))
        continue;
      assert_int_equal(buffer.address % VYRE_PTX_ALIGN, 0);
      memcpy(elements + b->element, &buffer, sizeof buffer);
    }
    at += is_table ? 16 : 16 * elements_of(module, row.id);
  }
  if (at > 8)
    offsets[count++] = 8;
  at = (at + 15) & ~15u;
  for (uint32_t i = 0; i < dispatch->binding_count; i++)
    if (VYRE_BUFFER_SPACE(vyre_module_view(module)->imm_hi[dispatch->bindings[i].buffer.id]) == VYRE_SPACE_PUSH) {
      memcpy(out + at, dispatch->bindings[i].data, dispatch->bindings[i].size);
      offsets[count] = at;
    }
  return count + (offsets[count] != 0);
}

/* Sets `words` to the next launch: the whole grid or, with `parts`, the first block, then the others.  Returns false at the
 * end. */
static bool
next_part(vyre_ptx_dispatch *words, uint64_t blocks, bool parts)
{
  words->first += words->count;
  words->count = !parts ? blocks : words->first == 0 ? 1 : blocks - words->first;
  return words->first < blocks;
}

static void
run_on_driver(const ptx_program *ptx, const vyre_module *module, const vyre_dispatch *dispatch, vyre_ptx_dispatch *words,
              uint64_t blocks, bool parts)
{
  _Alignas(16) uint8_t parameters[VYRE_PTX_PARAMETERS] = {0};
  driver_range ranges[MOST_BINDINGS + 1] = {{words, sizeof *words, 0}};
  uint64_t addresses[MOST_BINDINGS];
  uint32_t block[3], of[MOST_BINDINGS], count = 1, offsets[3] = {0};
  for (uint32_t i = 0; i < dispatch->binding_count; i++) { /* memory that is bound twice has one copy */
    for (of[i] = 0; of[i] < count && ranges[of[i]].data != dispatch->bindings[i].data; of[i]++)
      ;
    if (of[i] == count)
      ranges[count++] = (driver_range){dispatch->bindings[i].data, dispatch->bindings[i].size, 0};
  }
  assert_true(vyre_workgroup_size(module, dispatch->program, NULL, 0, block));
  while (next_part(words, blocks, parts)) {
    const uint32_t grid[3] = {(uint32_t)words->count + 1, 1, 1}; /* the last block does nothing */
    driver_copy(ranges, count);
    for (uint32_t i = 0; i < dispatch->binding_count; i++)
      addresses[i] = ranges[of[i]].address;
    const uint32_t given = fill_parameters(module, dispatch, ranges[0].address, addresses, NULL, parameters, offsets);
    driver_run(ptx->text, vyre_row_name(module, dispatch->program), grid, block, parameters, offsets, given);
  }
}

static void
run_on_simulator(const ptx_program *ptx, const vyre_module *module, const vyre_dispatch *dispatch, vyre_ptx_dispatch *words,
                 uint64_t blocks, uint64_t seed, bool parts, const char *what)
{
  _Alignas(16) uint8_t parameters[VYRE_PTX_PARAMETERS] = {0};
  static device d;
  uint64_t globals[32], addresses[MOST_BINDINGS];
  uint32_t offsets[3] = {0};
  ptx_launch launch = {.kernel = ptx_kernel_find(ptx->module, vyre_row_name(module, dispatch->program)),
                       .memory = {.user = &d, .find = find, .globals = globals},
                       .parameters = parameters,
                       .seed = seed};
  ptx_fault fault;
  ptx_counts counts;
  d.count = 0;
  give(&d, words, sizeof *words, false);
  for (uint32_t i = 0; i < dispatch->binding_count; i++) {
    const vyre_binding *b = &dispatch->bindings[i];
    addresses[i] = (uint64_t)(uintptr_t)b->data;
    if (b->data && VYRE_BUFFER_SPACE(vyre_module_view(module)->imm_hi[b->buffer.id]) != VYRE_SPACE_PUSH)
      give(&d, b->data, b->size, false);
  }
  descriptor_tables tables = {0};
  fill_parameters(module, dispatch, (uint64_t)(uintptr_t)words, addresses, ptx->has_tables ? &tables : NULL, parameters, offsets);
  for (uint32_t i = 0; i < tables.count; i++)
    give(&d, tables.descriptors[i], tables.lengths[i] * sizeof tables.descriptors[i][0], true);
  assert_true(ptx_global_count(ptx->module) <= 32);
  for (uint32_t i = 0; i < ptx_global_count(ptx->module); i++) {
    globals[i] = (uint64_t)(uintptr_t)ptx_global_get(ptx->module, i)->initial;
    give(&d, ptx_global_get(ptx->module, i)->initial, ptx_global_get(ptx->module, i)->size, true);
  }
  assert_true(vyre_workgroup_size(module, dispatch->program, NULL, 0, launch.block));
  while (next_part(words, blocks, parts)) {
    launch.grid[0] = (uint32_t)words->count + (uint32_t)(seed % 2); /* with an odd seed, the last block does nothing */
    launch.grid[1] = launch.grid[2] = 1;
    if (!ptx_run(&launch, &counts, &fault))
      fail_msg("%s: line %u, block %u, thread %u: %s", what, fault.line, fault.block[0], fault.thread[0], fault.text);
  }
}

uint32_t
run_ptx(const ptx_program *ptx, const vyre_module *module, const vyre_dispatch *dispatch, uint64_t seed, bool parts,
        const char *what)
{
  vyre_ptx_dispatch words = {.groups = {dispatch->groups[0], dispatch->groups[1], dispatch->groups[2]}};
  const uint64_t blocks = (uint64_t)dispatch->groups[0] * dispatch->groups[1] * dispatch->groups[2];
  if (!ptx_kernel_find(ptx->module, vyre_row_name(module, dispatch->program)))
    fail_msg("there is no kernel %s", vyre_row_name(module, dispatch->program));
  assert_true(dispatch->binding_count <= MOST_BINDINGS);
  if (run_by_driver())
    run_on_driver(ptx, module, dispatch, &words, blocks, parts);
  else
    run_on_simulator(ptx, module, dispatch, &words, blocks, seed, parts, what);
  return words.fault;
}
