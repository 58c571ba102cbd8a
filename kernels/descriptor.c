/* Writes the phases as a C file for a plugin: their C functions, and the vyre_phases that refers to them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "device.h"
#include "vyre/c.h"
#include "vyre/phases.h"

#include <stdio.h>
#include <string.h>

typedef struct writer {
  const kernel_file *file;
  vyre_bytes *out;
  uint8_t memory[KERNEL_MOST_NAMES]; /* by name, its index among the used memory */
} writer;

uint32_t
kernel_memory(const kernel_file *file, uint8_t out[KERNEL_MOST_NAMES])
{
  uint64_t names = 0;
  uint8_t count = 0;
  for (uint32_t i = 0; i < file->function_count; i++)
    names |= file->functions[i].is_phase ? file->functions[i].names : 0;
  for (uint32_t i = 0; i < file->step_count; i++)
    names |= kernel_step_has_name(&file->steps[i]) ? UINT64_C(1) << file->steps[i].name : 0;
  for (uint32_t i = 0; i < KERNEL_MOST_NAMES; i++)
    out[i] = names >> i & 1 ? count++ : UINT8_MAX;
  return count;
}

static const char *
kind_of(kernel_kind kind)
{
  switch (kind) {
  case KERNEL_FACT:
    return "VYRE_MEMORY_FACT";
  case KERNEL_SIDE:
    return "VYRE_MEMORY_SIDE";
  case KERNEL_TABLE:
    return "VYRE_MEMORY_TABLE";
  case KERNEL_COUNTER:
    return "VYRE_MEMORY_COUNTER";
  case KERNEL_VERDICT:
    return "VYRE_MEMORY_VERDICT";
  default:
    return "VYRE_MEMORY_COLUMN";
  }
}

static vyre_status
write_memory(writer *w)
{
  const kernel_file *file = w->file;
  kernel_memory(file, w->memory);
  VYRE_TRY(vyre_bytes_printf(w->out, "\nstatic const vyre_phase_memory memory[] = {\n"));
  for (uint32_t i = 0; i < file->name_count; i++) {
    const kernel_name *n = &file->names[i];
    if (w->memory[i] == UINT8_MAX)
      continue;
    VYRE_TRY(vyre_bytes_printf(w->out, "    {\"%.*s\", ", n->word ? (int)strlen(n->word) : (int)n->text.length,
                               n->word ? n->word : file->text + n->text.at));
    if (n->label.length)
      VYRE_TRY(vyre_bytes_printf(w->out, "\"%.*s\"", (int)n->label.length, file->text + n->label.at));
    else
      VYRE_TRY(vyre_bytes_printf(w->out, "NULL"));
    VYRE_TRY(vyre_bytes_printf(w->out, ", %s, %u},\n", n->is_provided ? "VYRE_MEMORY_COLUMN" : kind_of(n->kind), n->stride));
  }
  return vyre_bytes_printf(w->out, "};\n");
}

static vyre_status
write_uses(writer *w, uint32_t number, const kernel_function *phase)
{
  VYRE_TRY(vyre_bytes_printf(w->out, "static const uint8_t uses_%u[] = {", number));
  for (uint32_t i = 0; i < w->file->name_count; i++)
    if (phase->names >> i & 1)
      VYRE_TRY(vyre_bytes_printf(w->out, "%u, ", w->memory[i]));
  VYRE_TRY(vyre_bytes_printf(w->out, "};\nstatic const uint8_t writes_%u[] = {", number));
  for (uint32_t i = 0; i < w->file->name_count; i++)
    if (phase->names >> i & 1)
      VYRE_TRY(vyre_bytes_printf(w->out, "%u, ", (uint32_t)(phase->written >> i & 1)));
  return vyre_bytes_printf(w->out, "};\n");
}

static vyre_status
write_phases(writer *w)
{
  const kernel_file *file = w->file;
  uint32_t number = 0;
  for (uint32_t i = 0; i < file->function_count; i++)
    if (file->functions[i].is_phase)
      VYRE_TRY(write_uses(w, number++, &file->functions[i]));
  VYRE_TRY(vyre_bytes_printf(w->out, "static const vyre_phase phases[] = {\n"));
  number = 0;
  for (uint32_t i = 0; i < file->function_count; i++) {
    const kernel_function *phase = &file->functions[i];
    const int length = (int)phase->name.length;
    const char *name = file->text + phase->name.at;
    if (phase->is_phase)
      VYRE_TRY(vyre_bytes_printf(w->out, "    {\"%.*s\", %d, sizeof uses_%u, uses_%u, writes_%u, %.*s_rows, %.*s_listed},\n",
                                 length, name, (int)phase->direction, number, number, number, length, name, length, name));
    number += phase->is_phase;
  }
  return vyre_bytes_printf(w->out, "};\n");
}

/* Returns the phase's number among phases. */
static uint32_t
number_of(const kernel_file *file, uint32_t function)
{
  uint32_t number = 0;
  for (uint32_t i = 0; i < function; i++)
    number += file->functions[i].is_phase;
  return number;
}

static vyre_status
write_steps(writer *w)
{
  const kernel_file *file = w->file;
  VYRE_TRY(vyre_bytes_printf(w->out, "static const vyre_phase_step steps[] = {\n"));
  for (uint32_t i = 0; i < file->step_count; i++) {
    const kernel_step *s = &file->steps[i];
    VYRE_TRY(vyre_bytes_printf(w->out, "    {%d, %u, %u, %u, %u},\n", (int)s->kind,
                               s->kind == VYRE_STEP_RUN ? number_of(file, s->phase) : 0, s->times,
                               kernel_step_has_name(s) ? w->memory[s->name] : 0, s->end));
  }
  return vyre_bytes_printf(w->out, "};\n");
}

static vyre_status
declare_functions(writer *w)
{
  for (uint32_t i = 0; i < w->file->function_count; i++) {
    const kernel_function *phase = &w->file->functions[i];
    const int length = (int)phase->name.length;
    const char *name = w->file->text + phase->name.at;
    if (phase->is_phase)
      VYRE_TRY(vyre_bytes_printf(w->out,
                                 "static uint32_t %.*s_rows(const vyre_c_dispatch *d);\n"
                                 "static uint32_t %.*s_listed(const vyre_c_dispatch *d);\n",
                                 length, name, length, name));
  }
  return VYRE_OK;
}

/* ---- kernels for devices ------------------------------------------------------------------------------------------------- */

/* The forms of kernels, in the order in which they are written. */
static const struct {
  const char *name, *form;
  uint32_t version;
} forms[] = {[VYRE_PHASE_SPIRV] = {"spirv", "VYRE_PHASE_SPIRV", VYRE_PHASE_KERNELS_VERSION},
             [VYRE_PHASE_PTX] = {"ptx", "VYRE_PHASE_PTX", VYRE_PHASE_KERNELS_PASS_HEAD}};

enum { FORMS = sizeof forms / sizeof *forms };

static vyre_status
write_words(writer *w, const kernel_device *device, uint32_t kernel, uint32_t form)
{
  vyre_bytes code = {0};
  vyre_status status = kernel_device_write(device, kernel, (vyre_phase_form)form, &code);
  if (!status)
    status = vyre_bytes_printf(w->out, "static const uint32_t %s_%u[] = {", forms[form].name, kernel);
  for (size_t i = 0; i < code.size / sizeof(uint32_t) && !status; i++) {
    uint32_t word;
    memcpy(&word, code.data + i * sizeof word, sizeof word);
    status = vyre_bytes_printf(w->out, i % 16 ? "%u," : "\n    %u,", word);
  }
  vyre_bytes_free(&code);
  return status ? status : vyre_bytes_printf(w->out, "};\n");
}

/* Appends an element of an array of kernels. */
static vyre_status
write_kernel(writer *w, const kernel_device *device, const kernel_device_kernel *kernel, uint32_t form)
{
  if (!kernel)
    return vyre_bytes_printf(w->out, "    {NULL, 0},\n");
  const uint32_t number = (uint32_t)(kernel - device->kernels);
  const char *name = forms[form].name;
  return vyre_bytes_printf(w->out, "    {%s_%u, sizeof %s_%u},\n", name, number, name, number);
}

static vyre_status
write_kernels(writer *w, kernel_device *device, uint32_t form)
{
  const kernel_file *file = w->file;
  const char *name = forms[form].name;
  if (form == VYRE_PHASE_PTX)
    VYRE_TRY(kernel_device_pass_head(device));
  for (uint32_t i = 0; i < device->count; i++)
    VYRE_TRY(write_words(w, device, i, form));
  for (uint32_t by_program = 0; by_program < 2; by_program++) {
    VYRE_TRY(vyre_bytes_printf(w->out, "static const vyre_phase_kernel %s_%s[] = {\n", name, by_program ? "programs" : "rows"));
    for (uint32_t i = 0; i < file->function_count; i++)
      if (file->functions[i].is_phase)
        VYRE_TRY(write_kernel(w, device, kernel_device_find(device, by_program ? KERNEL_OF_PROGRAM : KERNEL_OF_ROWS, i), form));
    VYRE_TRY(vyre_bytes_printf(w->out, "};\n"));
  }
  VYRE_TRY(vyre_bytes_printf(w->out, "static const vyre_phase_kernel %s_levels[] = {\n", name));
  for (uint32_t i = 0; i < file->step_count; i++)
    VYRE_TRY(write_kernel(w, device, kernel_device_find(device, KERNEL_OF_LEVELS, i), form));
  VYRE_TRY(vyre_bytes_printf(w->out, "};\nstatic const vyre_phase_kernel %s_pass[] = {\n", name));
  VYRE_TRY(write_kernel(w, device, kernel_device_find(device, KERNEL_OF_PASS, 0), form));
  return vyre_bytes_printf(w->out,
                           "};\n"
                           "static const vyre_phase_kernels %s = {sizeof(vyre_phase_kernels), %s, %u, 0,\n"
                           "    %s_rows, %s_programs, %s_levels, %s_pass};\n",
                           name, forms[form].form, forms[form].version, name, name, name, name);
}

static vyre_status
write_device(writer *w, kernel_file *file, const vyre_allocator *allocator, kernel_optimizer *optimize)
{
  kernel_device device;
  vyre_status status = kernel_device_create(file, allocator, optimize, &device);
  for (uint32_t form = 0; form < FORMS && !status; form++)
    status = write_kernels(w, &device, form);
  kernel_device_free(&device);
  if (!status)
    status = vyre_bytes_printf(w->out, "static const vyre_phase_kernels *const kernels[] = {");
  for (uint32_t form = 0; form < FORMS && !status; form++)
    status = vyre_bytes_printf(w->out, "&%s, ", forms[form].name);
  return status ? status : vyre_bytes_printf(w->out, "};\n");
}

vyre_status
kernel_write_plugin(const kernel_expansion *expansion, const vyre_module *module, const char *name, kernel_optimizer *optimize,
                    vyre_bytes *out)
{
  writer w = {.file = expansion->file, .out = out};
  VYRE_TRY(vyre_bytes_printf(out, "/* Generated by vyre-kernelc: the phases of a GPU pass (vyre/phases.h). */\n"
                                  "#include <vyre/phases.h>\n\n"));
  VYRE_TRY(declare_functions(&w)); /* as static functions */
  VYRE_TRY(vyre_bytes_printf(out, "\n"));
  VYRE_TRY(vyre_c_write(
      module, VYRE_NONE,
      &(vyre_c_options){.struct_size = sizeof(vyre_c_options), .in_bounds = (const uint8_t *)expansion->in_bounds.data}, out));
  VYRE_TRY(write_memory(&w));
  VYRE_TRY(write_phases(&w));
  VYRE_TRY(write_steps(&w));
  VYRE_TRY(write_device(&w, expansion->file, vyre_module_allocator(module), optimize));
  return vyre_bytes_printf(
      out,
      "extern const vyre_phases %s_phases;\n"
      "const vyre_phases %s_phases = {sizeof(vyre_phases), sizeof memory / sizeof *memory, sizeof phases / sizeof "
      "*phases,\n    sizeof steps / sizeof *steps, memory, phases, steps,\n    kernels, "
      "sizeof kernels / sizeof *kernels, 0, VYRE_PHASES_CHECK_VERSIONS, 0};\n",
      name, name);
}
