/* -profile: prints how often the lines of a source ran, by the counters of an instrumented program.
 *
 * A counter is an atomic_add to a literal element of the program's buffer `profile`.  It counts the rows after it in its region, up
 * to the next counter.  A line ran as often as its row that ran most.  Rows that move values (of vars, of lanes) do not count,
 * because they have the line of a use of the value.  The initial contents of the buffer are subtracted.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include "base/files/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct line_counts {
  const vyre_module *module;
  const vyre_view *view;
  const char *source;                /* file name without folders */
  const run_data *data;              /* of the buffer `profile` */
  const unsigned char *after;        /* contents of the buffer after the run */
  uint64_t *counts;                  /* by line, from 1 on: executions + 1; 0 for a line without rows */
  uint32_t lines, without, counters; /* without: necessary elements of the buffer if it is too short, otherwise 0 */
} line_counts;

/* Returns whether the row is a counter or its path. */
static bool
is_of_counter(const line_counts *l, uint32_t row)
{
  const uint32_t path = VYRE_ROW_OP(l->view->op[row]) == VYRE_OP_at ? row : l->view->a[row];
  return VYRE_ROW_OP(l->view->op[path]) == VYRE_OP_at &&
         vyre_path_buffer(l->module, (vyre_row){path}).id == l->data->buffer->row.id;
}

/* Returns whether the row is a counter.  *out_block is its element in the buffer. */
static bool
is_counter(const line_counts *l, uint32_t row, uint32_t *out_block)
{
  const uint32_t path = l->view->a[row];
  if (VYRE_ROW_OP(l->view->op[row]) != VYRE_OP_atomic_add || !is_of_counter(l, row) || l->view->b[path])
    return false;
  *out_block = l->view->imm[path];
  return true;
}

static uint32_t
count_of(line_counts *l, uint32_t block)
{
  const size_t offset = block * sizeof(uint32_t);
  if (offset + sizeof(uint32_t) > l->data->size) {
    l->without = block >= l->without ? block + 1 : l->without;
    return 0;
  }
  return (uint32_t)(run_scalar_get(l->after + offset, VYRE_U32) - run_scalar_get(l->data->initial + offset, VYRE_U32));
}

static bool
carries(uint32_t op)
{
  return op == VYRE_OP_get || op == VYRE_OP_set || op == VYRE_OP_lane || op == VYRE_OP_join;
}

static void
count_line(line_counts *l, uint32_t row, uint64_t count)
{
  vyre_string file;
  uint32_t line = 0, column;
  if (carries(VYRE_ROW_OP(l->view->op[row])) || !vyre_row_line(l->module, (vyre_row){row}, &file, &line, &column) ||
      line > l->lines || strcmp(path_name(vyre_string_text(l->module, file)), l->source) != 0)
    return;
  if (l->counts[line] < count + 1)
    l->counts[line] = count + 1;
}

static void
count_region(line_counts *l, uint32_t region)
{
  uint64_t count = 0;
  uint32_t block;
  bool is_counted = false;
  for (uint32_t row = l->view->first[region]; row; row = l->view->next[row]) {
    if (is_counter(l, row, &block)) {
      count = count_of(l, block);
      is_counted = true;
      l->counters++;
    }
    if (is_counted && !is_of_counter(l, row))
      count_line(l, row, count);
    for (uint32_t in = l->view->first[row]; in; in = l->view->next[in])
      count_region(l, in);
  }
}

static uint32_t
lines_in(const vyre_bytes *text)
{
  uint32_t lines = 0;
  for (size_t i = 0; i < text->size; i++)
    lines += text->data[i] == '\n' || i + 1 == text->size;
  return lines;
}

static void
print_lines(const line_counts *l, const vyre_bytes *text)
{
  const char *at = (const char *)text->data, *end = at + text->size;
  for (uint32_t line = 1; line <= l->lines; line++) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    const int length = (int)((stop ? stop : end) - at);
    if (l->counts[line])
      printf("%12" PRIu64 " |%s%.*s\n", l->counts[line] - 1, length ? " " : "", length, at);
    else
      printf("%12s |%s%.*s\n", "", length ? " " : "", length, at);
    at += length + 1;
  }
}

/* Returns the index of the buffer `profile`, or inputs->count if there is none. */
static uint32_t
find_buffer(const run_inputs *inputs)
{
  uint32_t k = 0;
  while (k < inputs->count &&
         (!run_buffer_is(inputs->items[k].buffer, "profile", strlen("profile")) || inputs->items[k].buffer->is_element))
    k++;
  return k;
}

static vyre_status
count_lines(const run_options *options, const run_program *program, line_counts *l, const vyre_bytes *text)
{
  uint32_t with = 0;
  count_region(l, program->row.id);
  if (l->counters == 0)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "%s: the program has no counters\nFix: instrument it with the pass acme.profile of examples/plugins",
                      program->path);
  if (l->without)
    return VYRE_ERROR(VYRE_CODE_INPUT, "the buffer 'profile' has no room for all counters\nFix: add -size=profile=%u", l->without);
  for (uint32_t line = 1; line <= l->lines; line++)
    with += l->counts[line] != 0;
  if (with == 0)
    return VYRE_ERROR(VYRE_CODE_INPUT, "%s: the program has no lines of %s\nFix: instrument the shader with -g, which keeps lines",
                      program->path, options->profile);
  print_lines(l, text);
  return VYRE_OK;
}

vyre_status
run_profile(const run_options *options, const run_program *program, const run_inputs *inputs, const run_results *results)
{
  const uint32_t at = find_buffer(inputs);
  if (at == inputs->count)
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "%s has no buffer 'profile'\nFix: instrument it with the pass acme.profile of examples/plugins",
                      program->path);
  vyre_bytes text = {0};
  line_counts l = {.module = program->module,
                   .view = vyre_module_view(program->module),
                   .source = path_name(options->profile),
                   .data = &inputs->items[at],
                   .after = results->items[at]};
  vyre_status status = vyre_file_read_as(options->profile, VYRE_FILE_TEXT, &text);
  if (!status) {
    l.lines = lines_in(&text);
    l.counts = calloc((size_t)l.lines + 1, sizeof *l.counts);
    status = l.counts ? count_lines(options, program, &l, &text) : VYRE_OUT_OF_MEMORY("for the lines of a source");
  }
  free(l.counts);
  vyre_bytes_free(&text);
  return status;
}
