/* Opens devices, and keeps their kernels, arena and columns.  resident.h and vyre/passmgr.h describe the functions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "resident.h"

#include "base/grow.h"
#include "base/options.h"

#include <inttypes.h>

#define HASH_NONFATAL_OOM         1
#define uthash_malloc(size)       vyre_allocate(&device->allocator, size)
#define uthash_free(memory, size) vyre_release(&device->allocator, memory, size)
#include <uthash.h>

typedef struct device_kernel {
  UT_hash_handle hh;
  const void *code; /* in a plugin, which is never unloaded */
  vyre_kernel_function function;
  vyre_kernel kernel;
} device_kernel;

enum {
  MOST_BUFFERS = 65, /* the memories of a pass and a list of rows */
  FEW_COLUMNS = 6,   /* least words a row of a sequence */
  MANY_WORDS = 64,   /* words a row of a sequence of many passes: columns and side columns */
  /* Bytes whose copy takes much longer than another wait.  On an H200 a wait takes 12 us, and staging copies about 10 GB/s. */
  LAZY_BYTES = 1 << 20,
  PINNED_ROWS = 1 << 16 /* smaller columns are staged in less time than their pages are registered */
};

vyre_status
vyre_device_open_target(vyre_device *device, const vyre_target_ops *ops)
{
  VYRE_TRY(ops->open(&device->options, &device->allocator, &device->target));
  device->ops = ops;
  ops->describe(device->target, &device->info);
  device->program_workgroup = DEVICE_WORKGROUP; /* no measured size is better: bench/README.md */
  device->threads = 0;
  if ((device->info.forms >> VYRE_KERNEL_C & 1) && (device->info.capabilities & VYRE_TARGET_IMPORT))
    device->threads = device->options.threads ? device->options.threads : 1;
  return VYRE_OK;
}

/* Removes the kernels, columns and the arena of a closed or lost target. */
static void
forget_target(vyre_device *device)
{
  device_kernel *kernel, *next;
  HASH_ITER(hh, device->kernels, kernel, next)
  {
    HASH_DEL(device->kernels, kernel);
    vyre_release(&device->allocator, kernel, sizeof *kernel);
  }
  vyre_device_forget(device);
  vyre_pinned_forget(device);
  device->arena_size = 0;
}

vyre_status
vyre_device_close_target(vyre_device *device)
{
  if (device->ops)
    vyre_pinned_release(device);
  vyre_status status = device->ops ? device->ops->close(device->target) : VYRE_OK;
  forget_target(device);
  device->ops = NULL;
  device->info = (vyre_device_info){0};
  device->threads = 0;
  return status;
}

bool
vyre_device_is_lost(const vyre_device *device)
{
  return device->ops && device->ops->is_lost && device->ops->is_lost(device->target);
}

vyre_status
vyre_device_recover(vyre_device *device)
{
  forget_target(device);
  return device->ops->recover(device->target);
}

static vyre_status
make_device(const vyre_target_options *options, const vyre_allocator *allocator, vyre_device **out)
{
  const vyre_allocator *from = allocator ? allocator : vyre_allocator_default();
  vyre_device *device = *out = vyre_allocate(from, sizeof *device);
  if (!device)
    return VYRE_OUT_OF_MEMORY("for a device");
  device->allocator = *from;
  device->lazy_bytes = LAZY_BYTES;
  device->pinned_rows = PINNED_ROWS;
  vyre_target_options *const o = &device->options;
  VYRE_TRY(vyre_options_read(o, sizeof *o, options, "vyre_target_options"));
  device->library = o->library ? vyre_copy_text(from, o->library) : NULL;
  device->name = o->device ? vyre_copy_text(from, o->device) : NULL;
  device->cache = o->cache ? vyre_copy_text(from, o->cache) : NULL;
  if ((o->library && !device->library) || (o->device && !device->name) || (o->cache && !device->cache))
    return VYRE_OUT_OF_MEMORY("for a device");
  o->library = device->library;
  o->device = device->name;
  o->cache = device->cache;
  return VYRE_OK;
}

static vyre_status
end_device(vyre_device **device, vyre_status status)
{
  if (!status)
    return VYRE_OK;
  status = vyre_status_join(status, vyre_device_close(*device));
  *device = NULL;
  return status;
}

vyre_status
vyre_device_open(const vyre_target_ops *ops, const vyre_target_options *options, const vyre_allocator *allocator, vyre_device **out)
{
  vyre_status status = make_device(options, allocator, out);
  return end_device(out, status ? status : vyre_device_open_target(*out, ops));
}

vyre_status
vyre_device_open_auto(const vyre_target_ops *const *targets, const vyre_target_options *options, const vyre_allocator *allocator,
                      vyre_device **out)
{
  VYRE_TRY(end_device(out, make_device(options, allocator, out)));
  (*out)->choices = targets;
  return VYRE_OK;
}

void
vyre_device_report(const vyre_device *device, vyre_report *report)
{
  if (device->ops && !device->threads)
    vyre_report_target_add(report, device->ops, device->target);
}

vyre_status
vyre_device_close(vyre_device *device)
{
  if (!device)
    return VYRE_OK;
  const vyre_allocator allocator = device->allocator;
  vyre_status status = vyre_device_close_target(device);
  vyre_release(&allocator, device->held, device->held_capacity * sizeof *device->held);
  vyre_release(&allocator, device->changes, device->changes_capacity * sizeof *device->changes);
  for (uint32_t i = 0; i < device->memory_count; i++)
    vyre_release(&allocator, device->memories[i].words, device->memories[i].capacity * sizeof(uint32_t));
  vyre_release(&allocator, device->memories, device->memory_capacity * sizeof *device->memories);
  vyre_plan_free_orders(&allocator, device->orders, device->order_count, device->order_capacity);
  vyre_release(&allocator, device->plain, device->plain_capacity * sizeof *device->plain);
  vyre_release_text(&allocator, device->library);
  vyre_release_text(&allocator, device->name);
  vyre_release_text(&allocator, device->cache);
  vyre_release(&allocator, device, sizeof *device);
  return status;
}

/* ---- kernels ------------------------------------------------------------------------------------------------------------- */

/* Compiles a kernel and adds it to the table.  With `function`, sets desc->code to a copy of it. */
static vyre_status
add_kernel(vyre_device *device, const void *code, vyre_kernel_desc *desc, const vyre_kernel_function *function, vyre_kernel *out)
{
  device_kernel *added = vyre_allocate(&device->allocator, sizeof *added);
  if (!added)
    return VYRE_OUT_OF_MEMORY("for the kernels of passes");
  added->code = code;
  if (function) {
    added->function = *function;
    desc->code = &added->function;
    desc->size = sizeof added->function;
  }
  HASH_ADD_PTR(device->kernels, code, added);
  const bool is_added = added->hh.tbl != NULL;
  vyre_status status =
      is_added ? device->ops->compile(device->target, desc, &added->kernel) : VYRE_OUT_OF_MEMORY("for the kernels of passes");
  if (status) {
    if (is_added)
      HASH_DEL(device->kernels, added);
    vyre_release(&device->allocator, added, sizeof *added);
    return status;
  }
  *out = added->kernel;
  return VYRE_OK;
}

static bool
has_kernel(const vyre_device *device, const void *code, vyre_kernel *out)
{
  const device_kernel *entry;
  HASH_FIND_PTR(device->kernels, &code, entry);
  *out = entry ? entry->kernel : (vyre_kernel){0};
  return entry != NULL;
}

/* Returns the workgroup's size in PTX, or 0 if the text has none. */
static uint32_t
workgroup_of_text(const vyre_phase_kernel *kernel)
{
  static const char word[] = ".reqntid ";
  const char *text = kernel->code;
  uint64_t at = 0;
  uint32_t count = 0;
  while (at + sizeof word <= kernel->size && memcmp(text + at, word, sizeof word - 1) != 0)
    at++;
  for (at += sizeof word - 1; at < kernel->size && text[at] >= '0' && text[at] <= '9' && count < 1024; at++)
    count = 10 * count + (uint32_t)(text[at] - '0');
  return count;
}

vyre_status
vyre_device_kernel(vyre_device *device, const vyre_phase_kernel *kernel, uint32_t form, bool by_program, uint32_t push_size,
                   const char *label, vyre_kernel *out)
{
  if (has_kernel(device, kernel->code, out))
    return VYRE_OK;
  const uint32_t chosen = by_program ? device->program_workgroup : DEVICE_WORKGROUP;
  const uint32_t workgroup = form == VYRE_PHASE_PTX ? workgroup_of_text(kernel) : chosen;
  static const vyre_kernel_slot slots[] = {{.kind = VYRE_SLOT_STORAGE},
                                           {.binding = 1, .kind = VYRE_SLOT_STORAGE, .is_read_only = true}};
  const vyre_kernel_spec spec = {VYRE_PHASE_WORKGROUP_SPEC, sizeof(uint32_t), workgroup};
  vyre_kernel_desc desc = {.label = label,
                           .form = (vyre_kernel_form)form,
                           .code = kernel->code,
                           .size = (size_t)kernel->size,
                           .entry = "main",
                           .workgroup = {workgroup, 1, 1},
                           .specs = &spec,
                           .spec_count = 1,
                           .slots = slots,
                           .slot_count = sizeof slots / sizeof *slots,
                           .push_size = push_size};
  return add_kernel(device, kernel->code, &desc, NULL, out);
}

vyre_status
vyre_device_program(vyre_device *device, const device_program *program, uint32_t workgroup, uint32_t push_size, vyre_kernel *out)
{
  if (has_kernel(device, program, out))
    return VYRE_OK;
  static const vyre_kernel_slot arena = {.kind = VYRE_SLOT_STORAGE};
  const bool is_spirv = device->info.forms >> VYRE_KERNEL_SPIRV & 1;
  vyre_kernel_desc desc = {.label = program->name,
                           .form = is_spirv ? VYRE_KERNEL_SPIRV : VYRE_KERNEL_PTX,
                           .code = is_spirv ? program->spirv : program->ptx,
                           .size = is_spirv ? program->spirv_size : program->ptx_size,
                           .entry = program->name,
                           .workgroup = {workgroup, 1, 1},
                           .slots = &arena,
                           .slot_count = 1,
                           .push_size = push_size};
  return add_kernel(device, program, &desc, NULL, out);
}

vyre_status
vyre_device_function(vyre_device *device, const void *code, uint32_t (*run)(const vyre_c_dispatch *dispatch), bool in_order,
                     uint32_t buffers, const char *label, vyre_kernel *out)
{
  const vyre_kernel_function function = {run, in_order};
  vyre_kernel_slot slots[MOST_BUFFERS];
  if (has_kernel(device, code, out))
    return VYRE_OK;
  for (uint32_t i = 0; i < buffers; i++)
    slots[i] = (vyre_kernel_slot){.binding = i, .kind = VYRE_SLOT_STORAGE};
  vyre_kernel_desc desc = {
      .label = label, .form = VYRE_KERNEL_C, .entry = "main", .workgroup = {1, 1, 1}, .slots = slots, .slot_count = buffers};
  return add_kernel(device, code, &desc, &function, out);
}

/* ---- memory -------------------------------------------------------------------------------------------------------------- */

void
vyre_device_forget(vyre_device *device)
{
  device->column_count = 0;
  device->epoch++;
}

static uint32_t
rows_of(const vyre_device *device, uint64_t words)
{
  const vyre_device_info *info = &device->info;
  const uint64_t room = (info->max_storage < info->max_buffer ? info->max_storage : info->max_buffer) / sizeof(uint32_t) / words;
  return device->threads || !device->ops ? 0 : room < UINT32_MAX ? (uint32_t)room : UINT32_MAX;
}

uint32_t
vyre_device_most_rows(const vyre_device *device)
{
  return rows_of(device, FEW_COLUMNS);
}

uint32_t
vyre_device_part_rows(const vyre_device *device)
{
  return rows_of(device, MANY_WORDS);
}

vyre_status
vyre_device_reserve(vyre_device *device, uint64_t bytes)
{
  if (bytes <= device->arena_size)
    return VYRE_OK;
  uint64_t size = UINT64_C(1) << 20;
  while (size < bytes)
    size *= 2;
  if (size > device->info.max_storage || size > device->info.max_buffer)
    size = bytes;
  if (device->arena_size)
    VYRE_TRY(device->ops->free(device->target, device->arena));
  device->arena_size = 0;
  for (uint32_t i = 0; i < device->column_count; i++)
    device->columns[i].generation = 0;
  device->epoch++;
  VYRE_TRY(vyre_status_note(device->ops->allocate(device->target, size, &device->arena),
                            "for a sequence of passes, which needs %" PRIu64 " bytes", bytes));
  device->arena_size = size;
  return VYRE_OK;
}
