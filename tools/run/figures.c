/* A driver's statistics of a kernel, which is compiled but not run.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ENOUGH_NS UINT64_C(300000000) /* time of compilations after which no further round begins */

void
run_figures_begin(void)
{
  setenv("MESA_SHADER_CACHE_DISABLE", "true", 1);
  setenv("__GL_SHADER_DISK_CACHE", "0", 1);
  setenv("CUDA_CACHE_DISABLE", "1", 1);
}

/* ---- compiling ----------------------------------------------------------------------------------------------------------- */

/* Returns whether the statistic is a hash of the code, which is left out. */
static bool
is_hash(const char *name)
{
  const size_t length = strlen(name);
  return length >= 4 && strcasecmp(name + length - 4, "hash") == 0;
}

static void
add_figure(void *user, const vyre_kernel_figure *given)
{
  run_figures *f = user;
  if (strcmp(given->name, "compile_ns") == 0) {
    f->compile_ns[f->compiles++] = given->u64;
    return;
  }
  if (is_hash(given->name))
    return;
  if (f->count == RUN_MOST_FIGURES) {
    f->left_out++;
    return;
  }
  run_figure *out = &f->items[f->count++];
  *out = (run_figure){
      .text = strdup(given->text), .kind = given->kind, .u64 = given->u64, .f64 = given->f64, .is_true = given->is_true};
  snprintf(out->name, sizeof out->name, "%s%s%s", given->part, given->part[0] ? ": " : "", given->name);
}

void
run_figures_free(run_figures *figures)
{
  for (uint32_t i = 0; i < figures->count; i++)
    free(figures->items[i].text);
  figures->count = figures->left_out = 0;
}

vyre_status
run_figures_query(const vyre_target_ops *ops, vyre_target *target, const run_kernel *kernel, run_figures *out)
{
  vyre_kernel handle;
  run_figures_free(out);
  VYRE_TRY(ops->compile(target, &kernel->desc, &handle));
  vyre_status status = ops->statistics(target, handle, add_figure, out);
  return vyre_status_join(status, ops->release(target, handle));
}

vyre_status
run_figures_query_all(const vyre_target_ops *ops, vyre_target *target, const run_kernel *const *kernels, uint32_t count,
                      run_figures *const *out)
{
  uint64_t taken = 0;
  for (uint32_t round = 0; round < RUN_COMPILES && taken < ENOUGH_NS; round++)
    for (uint32_t i = 0; i < count; i++) {
      VYRE_TRY(vyre_status_note(run_figures_query(ops, target, kernels[i], out[i]), "while compiling '%s' of %s on %s",
                                kernels[i]->desc.entry, kernels[i]->desc.label, ops->name));
      taken += out[i]->compile_ns[round];
    }
  return VYRE_OK;
}

/* ---- reading figures ----------------------------------------------------------------------------------------------------- */

static int
by_size(const void *a, const void *b)
{
  const uint64_t *x = a, *y = b;
  return *x < *y ? -1 : *x > *y;
}

uint64_t
run_figures_median(run_figures *figures)
{
  qsort(figures->compile_ns, figures->compiles, sizeof *figures->compile_ns, by_size);
  return figures->compile_ns[figures->compiles / 2];
}

const run_figure *
run_figures_find(const run_figures *figures, const char *name)
{
  for (uint32_t i = 0; i < figures->count; i++)
    if (strcmp(figures->items[i].name, name) == 0)
      return &figures->items[i];
  return NULL;
}

double
run_figure_number(const run_figure *figure)
{
  return figure->kind == VYRE_FIGURE_U64 ? (double)figure->u64 : figure->kind == VYRE_FIGURE_F64 ? figure->f64 : figure->is_true;
}
