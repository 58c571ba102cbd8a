/* Compares the results of two runs.  run_parts.h describes the functions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct walk {
  run_comparison *c;
  const run_data *data;
  const unsigned char *first, *second;
} walk;

/* Maps floats to integers in the same order.  Neighbours differ by 1, and -0 is 0. */
static int64_t
ordered(vyre_kind kind, uint64_t bits)
{
  uint64_t sign = (uint64_t)1 << (vyre_kind_bits(kind) - 1);
  return bits & sign ? -(int64_t)(bits & ~sign) : (int64_t)bits;
}

static bool
floats_are_equal(run_comparison *c, vyre_kind kind, uint64_t a, uint64_t b)
{
  double x = run_float_value(kind, a), y = run_float_value(kind, b);
  if (isnan(x) || isnan(y))
    return isnan(x) && isnan(y);
  if (!c->tolerance.is_set || isinf(x) || isinf(y))
    return false;
  double difference = c->tolerance.in_ulps ? fabs((double)ordered(kind, a) - (double)ordered(kind, b)) : fabs(x - y);
  if (!(difference <= c->tolerance.limit))
    return false;
  c->largest = difference > c->largest ? difference : c->largest;
  return true;
}

static bool
compare_element(void *user, uint64_t index, uint64_t offset, vyre_kind kind)
{
  const walk *w = user;
  run_comparison *c = w->c;
  uint64_t a = run_scalar_get(w->first + offset, kind), b = run_scalar_get(w->second + offset, kind);
  c->changed += a != run_scalar_get(w->data->initial + offset, kind);
  if (a == b || (vyre_kind_is_float(kind) && floats_are_equal(c, kind, a, b)))
    return true;
  c->differing++;
  if (c->where)
    return true;
  c->where = w->data;
  c->index = index;
  c->offset = offset;
  c->kind = kind;
  c->first_bits = a;
  c->second_bits = b;
  return true;
}

static bool
is_written(const run_program *program, const run_buffer *buffer)
{
  for (uint32_t i = 0; i < program->buffer_count; i++) {
    if (run_buffer_same(&program->buffers[i], buffer) && program->buffers[i].is_writable)
      return true;
  }
  return false;
}

void
run_compare(const run_setup *setup, const run_inputs *inputs, const run_program *first, const run_results *first_results,
            const run_program *second, const run_results *second_results, run_comparison *out)
{
  *out = (run_comparison){.tolerance = setup->tolerance};
  for (uint32_t i = 0; i < inputs->count; i++) {
    const run_data *data = &inputs->items[i];
    if (!is_written(first, data->buffer) && !is_written(second, data->buffer))
      continue;
    walk w = {out, data, first_results->items[i], second_results->items[i]};
    const run_layout layout = run_program_layout(data->program);
    out->elements += run_layout_each(&layout, data->buffer->type, data->size, compare_element, &w);
    out->buffers++;
  }
}

void
run_comparison_place(const run_comparison *c, char *out, size_t capacity)
{
  char name[128], path[256];
  run_buffer_describe(c->where->buffer, name, sizeof name);
  const run_layout layout = run_program_layout(c->where->program);
  run_layout_path(&layout, c->where->buffer->type, c->offset, path, sizeof path);
  snprintf(out, capacity, "%s, element %" PRIu64 "%s%s", name, c->index, path[0] ? ", " : "", path[0] == '.' ? path + 1 : path);
}
