/* Helpers of the suite's tests: kernels in every form, buffers, and sequences.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "conformance.h"

#include "bundle.h"
#include "../messages.h"
#include "vyre/c.h"
#include "vyre/io.h"
#include "vyre/ptx.h"
#include "vyre/spirv.h"
#include "vyre/text.h"
#include "vyre/verify.h"

void
refused(const conform *c, vyre_status status, vyre_code code, const char *word)
{
  char name[32];
  snprintf(name, sizeof name, "%s:", c->ops->name);
  const char *text = vyre_status_text(status);
  if (!status || vyre_status_code(status) != code || strncmp(text, name, strlen(name)) != 0 || !strstr(text, word) ||
      !has_fix(text))
    fail_msg("expected '%s' with code %d, but code %d has: %s", word, (int)code, (int)vyre_status_code(status), text);
  vyre_status_free(status);
}

typedef struct asked {
  const char *name;
  uint64_t value;
  bool found;
} asked;

static void
take_metric(void *user, const char *name, uint64_t value)
{
  asked *a = user;
  if (strcmp(name, a->name) != 0)
    return;
  assert_false(a->found); /* names are unique */
  a->found = true;
  a->value = value;
}

uint64_t
metric(const conform *c, const char *name)
{
  asked a = {.name = name};
  c->ops->metrics(c->target, take_metric, &a);
  if (!a.found)
    fail_msg("there is no counter '%s'", name);
  return a.value;
}

/* ---- buffers ------------------------------------------------------------------------------------------------------------- */

vyre_target *
open_another(const conform *c)
{
  vyre_target *target;
  const vyre_target_options options = {.struct_size = sizeof options, .library = test_library(CONFORM_LIBRARY)};
  assert_ok(c->ops->open(&options, NULL, &target));
  return target;
}

vyre_device_buffer
buffer_of(const conform *c, uint64_t size)
{
  vyre_device_buffer buffer;
  assert_ok(c->ops->allocate(c->target, size, &buffer));
  assert_int_not_equal(buffer.id, 0);
  return buffer;
}

vyre_device_buffer
buffer_with(const conform *c, const uint32_t *words, uint32_t count)
{
  vyre_device_buffer buffer = buffer_of(c, count * sizeof *words);
  assert_ok(vyre_target_write(c->ops, c->target, buffer, 0, 0, words));
  return buffer;
}

vyre_device_buffer
buffer_of_zeros(const conform *c, uint32_t count)
{
  uint32_t *zeros = calloc(count, sizeof *zeros);
  const vyre_device_buffer buffer = buffer_with(c, zeros, count);
  free(zeros);
  return buffer;
}

vyre_range
whole(vyre_device_buffer buffer)
{
  return (vyre_range){buffer, 0, 0};
}

vyre_range
words_of(vyre_device_buffer buffer, uint32_t first, uint32_t count)
{
  return (vyre_range){buffer, first * sizeof(uint32_t), count * sizeof(uint32_t)};
}

void
read_words(const conform *c, vyre_device_buffer buffer, uint32_t *out, uint32_t count)
{
  assert_ok(vyre_target_read(c->ops, c->target, buffer, 0, count * sizeof *out, out));
}

vyre_timing
submit(const conform *c, vyre_sequence sequence)
{
  vyre_timing timing;
  assert_ok(c->ops->submit(c->target, &sequence, &timing));
  return timing;
}

/* ---- kernels ------------------------------------------------------------------------------------------------------------- */

/* Functions of kernels.vir compiled to C. */
#define PROGRAM(name) uint32_t name(const vyre_c_dispatch *d);
PROGRAM(add)
PROGRAM(digit)
PROGRAM(mark)
PROGRAM(count)
PROGRAM(down)
PROGRAM(set_grid)
PROGRAM(sum)
PROGRAM(gather)
PROGRAM(fault)
#undef PROGRAM

static const vyre_kernel_slot one[] = {{.kind = VYRE_SLOT_STORAGE}, {.kind = VYRE_SLOT_PUSH}};
static const vyre_kernel_slot two[] = {
    {.kind = VYRE_SLOT_STORAGE}, {.binding = 1, .kind = VYRE_SLOT_STORAGE}, {.kind = VYRE_SLOT_PUSH}};
static const vyre_kernel_slot adds[] = {
    {.kind = VYRE_SLOT_STORAGE, .is_read_only = true}, {.binding = 1, .kind = VYRE_SLOT_STORAGE}, {.kind = VYRE_SLOT_PUSH}};
static const vyre_kernel_slot sums[] = {{.kind = VYRE_SLOT_STORAGE}, {.set = 1, .binding = 2, .kind = VYRE_SLOT_STORAGE}};
static const vyre_kernel_slot parts[] = {
    {.binding = 1, .kind = VYRE_SLOT_STORAGE, .count = 2}, {.binding = 4, .kind = VYRE_SLOT_UNIFORM}, {.kind = VYRE_SLOT_STORAGE}};

/* If a program has push constants, its last slot is theirs, and only C has that slot. */
static const struct {
  const char *name, *file;
  uint32_t (*function)(const vyre_c_dispatch *dispatch);
  const vyre_kernel_slot *slots;
  uint32_t slot_count, push_size, workgroup;
} programs[] = {
    {"add", "kernels", add, adds, 3, 8, 64},    {"digit", "kernels", digit, one, 2, 4, 1},
    {"mark", "kernels", mark, one, 1, 0, 2},    {"count", "kernels", count, one, 1, 0, 64},
    {"down", "kernels", down, one, 1, 0, 1},    {"set_grid", "kernels", set_grid, one, 1, 0, 1},
    {"sum", "kernels", sum, sums, 2, 0, 64},    {"gather", "kernels", gather, parts, 3, 0, 1},
    {"fault", "kernels", fault, one, 1, 0, 64}, {"special", "special", NULL, one, 1, 0, 1},
    {"meet", "grid", NULL, two, 2, 0, 4},
};

static vyre_module *
load_module(const char *file)
{
  const char *path = test_file("unittests/targets/%s.vir", file);
  vyre_bytes text = {0};
  vyre_verify_errors errors = {0};
  vyre_module *module;
  assert_ok(vyre_file_read(path, &text));
  assert_ok(vyre_module_create(NULL, 1u << 16, &module));
  assert_ok(vyre_text_parse(module, text.data, text.size, path, (vyre_diagnostics){0}));
  assert_ok(vyre_verify(module, &errors));
  vyre_verify_errors_free(&errors);
  vyre_bytes_free(&text);
  return module;
}

static uint32_t
program_row(const vyre_module *module, const char *name)
{
  const vyre_view *view = vyre_module_view(module);
  for (uint32_t row = view->first[0]; row; row = view->next[row])
    if (VYRE_ROW_OP(view->op[row]) == VYRE_OP_program && strcmp(vyre_row_name(module, (vyre_row){row}), name) == 0)
      return row;
  fail_msg("no program '%s'", name);
  return 0;
}

void
describe_kernel(const conform *c, const char *name, conform_desc *out)
{
  uint32_t i = 0;
  while (strcmp(programs[i].name, name) != 0)
    i++;
  const uint32_t push_slots = programs[i].push_size && c->form != VYRE_KERNEL_C;
  *out = (conform_desc){.desc = {.label = name,
                                 .form = c->form,
                                 .entry = name,
                                 .workgroup = {programs[i].workgroup, 1, 1},
                                 .slots = programs[i].slots,
                                 .slot_count = programs[i].slot_count - push_slots,
                                 .push_size = programs[i].push_size},
                        .function = {.run = programs[i].function}};
  switch (c->form) {
  case VYRE_KERNEL_C:
    out->desc.code = &out->function;
    out->desc.size = sizeof out->function;
    return;
  case VYRE_KERNEL_VIR:
    out->module = load_module(programs[i].file);
    out->program = (vyre_kernel_program){.module = out->module, .row = program_row(out->module, name)};
    out->desc.code = &out->program;
    out->desc.size = sizeof out->program;
    return;
  case VYRE_KERNEL_SPIRV:
    out->module = load_module(programs[i].file);
    assert_ok(vyre_spirv_write(out->module, 0, NULL, &out->words));
    out->desc.code = out->words.data;
    out->desc.size = out->words.size;
    return;
  case VYRE_KERNEL_PTX:
    out->module = load_module(programs[i].file);
    snprintf(out->entry, sizeof out->entry, "the_%s", name); /* some names are instructions */
    out->desc.entry = out->entry;
    assert_ok(vyre_ptx_write(out->module, (vyre_row){program_row(out->module, name)},
                             &(vyre_ptx_options){.struct_size = sizeof(vyre_ptx_options), .name = out->entry}, &out->words));
    out->desc.code = out->words.data;
    out->desc.size = out->words.size;
    return;
  default:
    fail_msg("the suite has no kernels of form %d", (int)c->form);
  }
}

void
free_description(conform_desc *desc)
{
  vyre_bytes_free(&desc->words);
  vyre_module_destroy(desc->module);
}

/* Modules of kernels, owned until the process ends. */
static vyre_module *kept[512];

static void
free_modules(void)
{
  for (uint32_t i = 0; kept[i]; i++)
    vyre_module_destroy(kept[i]);
}

static void
keep_module(vyre_module *module)
{
  uint32_t i = 0;
  while (kept[i])
    i++;
  if (i == 0)
    atexit(free_modules);
  assert_true(i + 1 < sizeof kept / sizeof *kept);
  kept[i] = module;
}

vyre_kernel
kernel_of(const conform *c, const char *name)
{
  conform_desc desc;
  vyre_kernel kernel;
  describe_kernel(c, name, &desc);
  assert_ok(c->ops->supports(c->target, &desc.desc));
  assert_ok(c->ops->compile(c->target, &desc.desc, &kernel));
  assert_int_not_equal(kernel.id, 0);
  if (c->form == VYRE_KERNEL_VIR) {
    keep_module(desc.module);
    desc.module = NULL;
  }
  free_description(&desc);
  return kernel;
}

vyre_step
step_of(vyre_kernel kernel, const vyre_range *range, uint32_t groups)
{
  return (vyre_step){.kernel = kernel, .buffers = range, .buffer_count = 1, .groups = {groups, 1, 1}};
}
