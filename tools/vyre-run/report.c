/* Reports results: prints buffers, writes them to files, and prints the verdict of a comparison.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <inttypes.h>
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

static void
print_difference(const run_options *options, const run_comparison *c, const run_program *first, const run_program *second)
{
  char place[512], a[48], b[48];
  run_comparison_place(c, place, sizeof place);
  run_scalar_print(c->kind, c->first_bits, a);
  run_scalar_print(c->kind, c->second_bits, b);
  int digits = (int)(2 * vyre_kind_bytes(c->kind));
  printf("different: %s\n", place);
  printf("  %s (0x%0*" PRIx64 ")  %s on %s\n", a, digits, c->first_bits, first->path, run_target_name(options->target));
  printf("  %s (0x%0*" PRIx64 ")  %s on %s\n", b, digits, c->second_bits, second->path, run_target_name(options->compare_target));
  printf("  %" PRIu64 " of %" PRIu64 " elements differ", c->differing, c->elements);
}

static void
print_tolerance(const run_comparison *c)
{
  if (!c->tolerance.is_set)
    printf(", bit for bit\n");
  else if (c->tolerance.in_ulps)
    printf(", floats within %g ulps (the largest difference that passed: %g ulps)\n", c->tolerance.limit, c->largest);
  else
    printf(", floats within %g (the largest difference that passed: %g)\n", c->tolerance.limit, c->largest);
}

vyre_status
run_report_comparison(const run_options *options, const run_inputs *inputs, const run_program *first,
                      const run_results *first_results, const run_program *second, const run_results *second_results,
                      bool *out_equal)
{
  run_comparison c;
  *out_equal = false;
  run_compare(&options->setup, inputs, first, first_results, second, second_results, &c);
  if (c.elements == 0)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "nothing to compare: neither %s nor %s writes a buffer or image\nFix: compare programs that do", first->path,
                      second->path);
  if (c.where)
    print_difference(options, &c, first, second);
  else
    printf("equal: %u buffer%s, %" PRIu64 " elements", c.buffers, c.buffers == 1 ? "" : "s", c.elements);
  print_tolerance(&c);
  if (c.changed == 0)
    fprintf(stderr, "vyre-run: warning: %s changed no element, so the comparison may be meaningless\n", first->path);
  *out_equal = c.where == NULL;
  return VYRE_OK;
}
