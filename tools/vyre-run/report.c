/* What came out: buffers shown, written to files, compared.
 *
 * A comparison is of scalars, not bytes: padding is not compared.  Bit for bit, but for NaNs, whose bits are open: any
 * two are equal.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- showing ------------------------------------------------------------------------------------------------------------- */

typedef struct printer {
  const run_data *data;
  const unsigned char *bytes;
  uint64_t limit; /* elements */
  uint32_t per_line;
  uint64_t changed;
} printer;

static bool
print_element(void *user, uint64_t index, uint64_t offset, vyre_kind kind)
{
  printer *p = user;
  p->changed += run_scalar_get(p->bytes + offset, kind) != run_scalar_get(p->data->initial + offset, kind);
  if (index >= p->limit)
    return true;
  if (p->per_line && index % p->per_line == 0) {
    char name[96], path[256];
    run_buffer_name(p->data->buffer, name, sizeof name);
    run_layout layout = run_program_layout(p->data->program);
    run_layout_path(&layout, p->data->buffer->type, offset, path, sizeof path);
    printf("%s%s%s:", index ? "\n" : "", name, path);
  }
  char text[48];
  run_scalar_print(kind, run_scalar_get(p->bytes + offset, kind), text);
  printf(" %s", text);
  return true;
}

static void
print_all(const run_data *data, const unsigned char *bytes)
{
  printer p = {.data = data, .bytes = bytes, .limit = UINT64_MAX, .per_line = 8};
  run_layout layout = run_program_layout(data->program);
  run_layout_each(&layout, data->buffer->type, data->size, print_element, &p);
  printf("\n");
}

static void
print_head(const run_data *data, const unsigned char *bytes)
{
  char name[128];
  run_buffer_describe(data->buffer, name, sizeof name);
  printf("%s:", name);
  printer p = {.data = data, .bytes = bytes, .limit = 8};
  run_layout layout = run_program_layout(data->program);
  uint64_t count = run_layout_each(&layout, data->buffer->type, data->size, print_element, &p);
  printf("%s\n  %" PRIu64 " elements, %" PRIu64 " changed, %zu bytes, xxh64 %016" PRIx64 "\n", count > p.limit ? " ..." : "", count,
         p.changed, data->size, (uint64_t)XXH64(bytes, data->size, 0));
}

vyre_status
run_report(const run_options *options, const run_inputs *inputs, const run_results *results)
{
  for (uint32_t i = 0; i < options->prints.count; i++) {
    const run_setting *print = &options->prints.items[i];
    for (uint32_t k = 0; k < inputs->count; k++)
      if (run_buffer_is(inputs->items[k].buffer, print->name, print->name_length))
        print_all(&inputs->items[k], results->items[k]);
  }
  for (uint32_t i = 0; i < options->writes.count; i++) {
    const run_setting *write = &options->writes.items[i];
    for (uint32_t k = 0; k < inputs->count; k++)
      if (run_buffer_is(inputs->items[k].buffer, write->name, write->name_length))
        VYRE_TRY(vyre_file_write(write->value, results->items[k], inputs->items[k].size));
  }
  if (options->compare || options->profile || options->prints.count)
    return VYRE_OK;
  for (uint32_t i = 0; i < inputs->count; i++) {
    if (inputs->items[i].buffer->is_writable)
      print_head(&inputs->items[i], results->items[i]);
  }
  return VYRE_OK;
}

/* ---- comparing ----------------------------------------------------------------------------------------------------------- */

typedef struct comparison {
  run_tolerance tolerance;
  const run_data *data;
  const unsigned char *first, *second;
  uint64_t differing, changed; /* elements */
  double largest;              /* difference that the tolerance let pass */
  const run_data *where;       /* of the first that differs; NULL: none */
  uint64_t index, offset, first_bits, second_bits;
  vyre_kind kind;
} comparison;

/* Floats in their order as integers: neighbours differ by 1, and -0 is 0. */
static int64_t
ordered(vyre_kind kind, uint64_t bits)
{
  uint64_t sign = (uint64_t)1 << (vyre_kind_bits(kind) - 1);
  return bits & sign ? -(int64_t)(bits & ~sign) : (int64_t)bits;
}

static bool
floats_are_equal(comparison *c, vyre_kind kind, uint64_t a, uint64_t b)
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
  comparison *c = user;
  uint64_t a = run_scalar_get(c->first + offset, kind), b = run_scalar_get(c->second + offset, kind);
  c->changed += a != run_scalar_get(c->data->initial + offset, kind);
  if (a == b || (vyre_kind_is_float(kind) && floats_are_equal(c, kind, a, b)))
    return true;
  c->differing++;
  if (c->where)
    return true;
  c->where = c->data;
  c->index = index;
  c->offset = offset;
  c->kind = kind;
  c->first_bits = a;
  c->second_bits = b;
  return true;
}

static void
print_difference(const run_options *options, const comparison *c, const run_program *first, const run_program *second,
                 uint64_t elements)
{
  char name[128], path[256], a[48], b[48];
  run_buffer_describe(c->where->buffer, name, sizeof name);
  run_layout layout = run_program_layout(c->where->program);
  run_layout_path(&layout, c->where->buffer->type, c->offset, path, sizeof path);
  run_scalar_print(c->kind, c->first_bits, a);
  run_scalar_print(c->kind, c->second_bits, b);
  int digits = (int)(2 * run_scalar_size(c->kind));
  printf("different: %s, element %" PRIu64 "%s%s\n", name, c->index, path[0] ? ", " : "", path[0] == '.' ? path + 1 : path);
  printf("  %s (0x%0*" PRIx64 ")  %s on %s\n", a, digits, c->first_bits, first->path, run_target_name(options->target));
  printf("  %s (0x%0*" PRIx64 ")  %s on %s\n", b, digits, c->second_bits, second->path, run_target_name(options->compare_target));
  printf("  %" PRIu64 " of %" PRIu64 " elements differ", c->differing, elements);
}

static void
print_tolerance(const comparison *c)
{
  if (!c->tolerance.is_set)
    printf(", bit for bit\n");
  else if (c->tolerance.in_ulps)
    printf(", floats within %g ulps (the largest difference that passed: %g ulps)\n", c->tolerance.limit, c->largest);
  else
    printf(", floats within %g (the largest difference that passed: %g)\n", c->tolerance.limit, c->largest);
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

vyre_status
run_compare(const run_options *options, const run_inputs *inputs, const run_program *first, const run_results *first_results,
            const run_program *second, const run_results *second_results, bool *out_equal)
{
  *out_equal = false;
  comparison c = {.tolerance = options->tolerance};
  uint32_t buffers = 0;
  uint64_t elements = 0;
  for (uint32_t i = 0; i < inputs->count; i++) {
    const run_buffer *buffer = inputs->items[i].buffer;
    if (!is_written(first, buffer) && !is_written(second, buffer))
      continue;
    c.data = &inputs->items[i];
    c.first = first_results->items[i];
    c.second = second_results->items[i];
    run_layout layout = run_program_layout(c.data->program);
    elements += run_layout_each(&layout, buffer->type, c.data->size, compare_element, &c);
    buffers++;
  }
  if (elements == 0)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "nothing to compare: neither %s nor %s writes a storage buffer\nFix: compare programs that do", first->path,
                      second->path);
  if (c.where)
    print_difference(options, &c, first, second, elements);
  else
    printf("equal: %u buffer%s, %" PRIu64 " elements", buffers, buffers == 1 ? "" : "s", elements);
  print_tolerance(&c);
  if (c.changed == 0)
    fprintf(stderr, "vyre-run: warning: %s changed no element: this may show nothing\n", first->path);
  *out_equal = c.where == NULL;
  return VYRE_OK;
}
