/* SPDX-License-Identifier: Apache-2.0 */
#include "figures.h"

#include "base/json.h"
#include "run_parts.h"

#include "vyre/ir.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the driver ---------------------------------------------------------------------------------------------------------- */

vyre_status
page_driver_open(const char *name, vyre_target_options options, page_driver **out)
{
  vyre_device_info info;
  page_driver *found = malloc(sizeof *found);
  if (!found)
    return VYRE_OUT_OF_MEMORY("for figures of a driver");
  found->ops = vyre_target_find(name);
  options.statistics = true;
  run_figures_begin();
  vyre_status status = vyre_status_note(found->ops->open(&options, NULL, &found->target), "for -device-stats=%s", name);
  if (status) {
    free(found);
    return status;
  }
  found->ops->describe(found->target, &info);
  if (info.capabilities & VYRE_TARGET_STATISTICS) {
    *out = found;
    return VYRE_OK;
  }
  status = VYRE_ERROR(
      VYRE_CODE_DEVICE,
      "-device-stats=%s: the driver of the device '%s' does not report figures\n"
      "Fix: %s",
      name, info.name,
      found->ops->list
          ? "choose another device with -device=; vyre-run -list-devices marks devices with 'statistics'. AMD's compiler needs "
            "no card: set RADV_FORCE_FAMILY to a chip family such as navi21 or gfx1100"
          : "name a target with a driver, vulkan or cuda");
  return vyre_status_join(status, page_driver_close(found));
}

vyre_status
page_driver_close(page_driver *d)
{
  vyre_status status = d ? d->ops->close(d->target) : VYRE_OK;
  free(d);
  return status;
}

/* ---- programs as kernels ------------------------------------------------------------------------------------------------- */

typedef struct subject {
  char *entry;
  run_program program; /* without its module */
  run_kernel kernel;
  run_figures figures;
} subject;

struct subjects {
  uint32_t count;
  subject items[];
};

/* Makes the kernel of a program.  The kernel does not refer to the module. */
static vyre_status
make_kernel(const page_driver *d, vyre_module *module, const char *path, uint32_t row, const vyre_bytes *words, subject *out)
{
  static const run_setup none = {0};
  vyre_device_info info;
  run_program *program = &out->program;
  d->ops->describe(d->target, &info);
  *program = (run_program){.path = path, .module = module, .row = {row}};
  VYRE_TRY(run_program_reflect(program, &none, false));
  if (words && words->size && info.forms >> VYRE_KERNEL_SPIRV & 1)
    VYRE_TRY(vyre_bytes_append(&program->words, words->data, words->size));
  VYRE_TRY(run_program_write(program, &info));
  VYRE_TRY(run_kernel_describe(d->ops, d->target, program, &out->kernel));
  out->entry = strdup(program->entry);
  if (!out->entry)
    return VYRE_OUT_OF_MEMORY("for a kernel");
  if (out->kernel.desc.entry == program->entry) /* PTX has another entry name */
    out->kernel.desc.entry = out->entry;
  return VYRE_OK;
}

vyre_status
subjects_make(const page_driver *d, const vyre_module *module, const char *path, const vyre_bytes *words, subjects **out)
{
  uint32_t count = 0;
  vyre_module *copy = NULL; /* reflection adds types */
  *out = NULL;
  VYRE_TRY(vyre_module_clone(module, &copy));
  const vyre_view *v = vyre_module_view(copy);
  for (uint32_t row = v->first[0]; row; row = v->next[row])
    count++;
  subjects *s = calloc(1, sizeof *s + count * sizeof *s->items);
  vyre_status status = s ? VYRE_OK : VYRE_OUT_OF_MEMORY("for figures of a driver");
  for (uint32_t row = v->first[0]; row && !status; row = vyre_module_view(copy)->next[row]) {
    subject *at = &s->items[s->count++];
    status = make_kernel(d, copy, path, row, words, at);
    at->program.module = NULL;
  }
  vyre_module_destroy(copy);
  if (status)
    subjects_free(s);
  else
    *out = s;
  return status;
}

void
subjects_free(subjects *s)
{
  for (uint32_t i = 0; s && i < s->count; i++) {
    subject *at = &s->items[i];
    run_figures_free(&at->figures);
    run_kernel_free(&at->kernel);
    run_program_free(&at->program);
    free(at->entry);
  }
  free(s);
}

/* ---- measuring ----------------------------------------------------------------------------------------------------------- */

static vyre_status
begin_figure(const subject *of, bool is_one, const char *name, vyre_bytes *out)
{
  VYRE_TRY(vyre_bytes_printf(out, "%s\n{\"name\": ", out->data[out->size - 1] == '[' ? "" : ","));
  vyre_bytes text = {0};
  vyre_status status = is_one ? vyre_bytes_printf(&text, "%s", name) : vyre_bytes_printf(&text, "%s: %s", of->entry, name);
  if (!status)
    status = vyre_json_text(text.data, out);
  vyre_bytes_free(&text);
  return status;
}

static vyre_status
add_figure(const run_figure *f, vyre_bytes *out)
{
  if (f->kind == VYRE_FIGURE_U64)
    VYRE_TRY(vyre_bytes_printf(out, ", \"value\": %" PRIu64, f->u64));
  else if (f->kind == VYRE_FIGURE_BOOL)
    VYRE_TRY(vyre_bytes_printf(out, ", \"value\": %s", f->is_true ? "true" : "false"));
  else if (isfinite(f->f64))
    VYRE_TRY(vyre_bytes_printf(out, ", \"value\": %.9g", f->f64));
  else
    VYRE_TRY(vyre_bytes_printf(out, ", \"value\": null"));
  VYRE_TRY(vyre_bytes_printf(out, ", \"about\": "));
  VYRE_TRY(vyre_json_text(f->text ? f->text : "", out));
  return vyre_bytes_append(out, "}", 1);
}

static vyre_status
add_figures(subjects *s, bool has_times, vyre_bytes *out)
{
  VYRE_TRY(vyre_bytes_append(out, "[", 1));
  for (uint32_t i = 0; i < s->count; i++) {
    subject *at = &s->items[i];
    for (uint32_t k = 0; k < at->figures.count; k++) {
      VYRE_TRY(begin_figure(at, s->count == 1, at->figures.items[k].name, out));
      VYRE_TRY(add_figure(&at->figures.items[k], out));
    }
    if (has_times) {
      VYRE_TRY(begin_figure(at, s->count == 1, "compile time", out));
      VYRE_TRY(vyre_bytes_printf(out, ", \"value\": %.1f, \"about\": \"microseconds, the median of %" PRIu32 "\"}",
                                 (double)run_figures_median(&at->figures) / 1e3, at->figures.compiles));
    }
  }
  return vyre_bytes_append(out, "]", 1);
}

vyre_status
subjects_measure(const page_driver *d, subjects *s, vyre_bytes *out)
{
  for (uint32_t i = 0; i < s->count; i++)
    VYRE_TRY(run_figures_query(d->ops, d->target, &s->items[i].kernel, &s->items[i].figures));
  return add_figures(s, false, out);
}

/* Returns the kernel of the program with that name, or NULL. */
static subject *
find(subjects *s, const char *entry)
{
  for (uint32_t i = 0; i < s->count; i++)
    if (strcmp(s->items[i].entry, entry) == 0)
      return &s->items[i];
  return NULL;
}

vyre_status
subjects_compare(const page_driver *d, subjects *first, subjects *second, vyre_bytes *out_first, vyre_bytes *out_second)
{
  for (uint32_t i = 0; i < first->count; i++) {
    subject *a = &first->items[i], *b = find(second, a->entry);
    if (!b)
      return VYRE_ERROR(VYRE_CODE_INPUT, "the output has no program '%s'\nFix: report the bug", a->entry);
    const run_kernel *const kernels[] = {&a->kernel, &b->kernel};
    run_figures *const figures[] = {&a->figures, &b->figures};
    VYRE_TRY(run_figures_query_all(d->ops, d->target, kernels, 2, figures));
  }
  VYRE_TRY(add_figures(first, true, out_first));
  return add_figures(second, true, out_second);
}
