/* Prints the verifier's messages in the programs that they are about.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"
#include "vyre/environment.h"
#include "vyre/text.h"

#include <stdlib.h>
#include <string.h>

#define SHOWN_WHOLE 40u /* lines of a program from which on only those around messages are shown */
#define AROUND      3u  /* lines before a message's row and after the message */
#define LOOKED_FOR  64u /* messages of a program that are searched in its text; the cost is their number times the text */

/* Compares sort keys: the criterion in the upper half, the index in the list in the lower, so that sorting is stable. */
static int
by_key(const void *left, const void *right)
{
  const uint64_t *l = left, *r = right;
  return (*l > *r) - (*l < *r);
}

static bool
is_message(const char *line)
{
  return strncmp(line + strspn(line, " "), "; error: ", 9) == 0;
}

static const char *
next_line(const char *line)
{
  const char *end = strchr(line, '\n');
  return end ? end + 1 : line + strlen(line);
}

/* Appends the first line and those around each message, or a short text as a whole. */
static vyre_status
show_lines(const char *text, vyre_bytes *out)
{
  const char *ahead = text; /* the first message from `line` on */
  uint32_t lines = 0, number = 0, message = 0, since = AROUND;
  bool left_out = false;
  for (const char *line = text; *line; line = next_line(line))
    lines++;
  if (lines < SHOWN_WHOLE)
    return vyre_bytes_append(out, text, strlen(text));
  for (const char *line = text; *line; line = next_line(line), number++) {
    while (*ahead && (message < number || !is_message(ahead))) {
      ahead = next_line(ahead);
      message++;
    }
    since = *ahead && message == number ? 0 : since + 1;
    const bool shown = number == 0 || since <= AROUND || (*ahead && message - number <= AROUND + 1);
    if (shown)
      VYRE_TRY(vyre_bytes_append(out, line, (size_t)(next_line(line) - line)));
    else if (!left_out)
      VYRE_TRY(vyre_bytes_append(out, "...\n", 4));
    left_out = !shown;
  }
  return VYRE_OK;
}

static vyre_status
print_program(const vyre_module *module, uint32_t program, const vyre_verify_errors *errors, uint32_t first, uint32_t end,
              vyre_bytes *out)
{
  const vyre_allocator *allocator = vyre_module_allocator(module);
  size_t size = (size_t)(end - first) * sizeof(vyre_text_note);
  vyre_text_note *notes = allocator->resize(allocator->user, NULL, 0, size);
  vyre_bytes whole = {.allocator = allocator};
  vyre_status status;
  if (!notes)
    return VYRE_OUT_OF_MEMORY("while printing the verifier's messages");
  for (uint32_t i = first; i < end; i++)
    notes[i - first] = (vyre_text_note){errors->errors[i].row, errors->errors[i].message};
  status = vyre_text_print(
      module,
      &(vyre_text_options){
          .struct_size = sizeof(vyre_text_options), .program = program, .rows = true, .notes = notes, .note_count = end - first},
      &whole);
  allocator->resize(allocator->user, notes, size, 0);
  if (!status && whole.data)
    status = show_lines(whole.data, out);
  /* A row without a line of its own (an empty else, a literal) does not show its message. */
  for (uint32_t i = first; i < end && i - first < LOOKED_FOR && !status; i++)
    if (!whole.data || !strstr(whole.data, errors->errors[i].message))
      status = vyre_bytes_printf(out, "; error: %s\n", errors->errors[i].message);
  vyre_bytes_free(&whole);
  return status;
}

/* Prints messages whose rows are not printed. */
static vyre_status
print_bare(const vyre_verify_errors *errors, bool all, vyre_bytes *out)
{
  for (uint32_t i = 0; i < errors->count; i++)
    if (all || errors->errors[i].row == 0)
      VYRE_TRY(vyre_bytes_printf(out, "; error: %s\n", errors->errors[i].message));
  return VYRE_OK;
}

static vyre_status
print_by_program(const vyre_module *module, const vyre_verify_errors *errors, uint64_t *keys, vyre_verify_errors *sorted,
                 vyre_bytes *out)
{
  const vyre_view *v = vyre_module_view(module);
  for (uint32_t i = 0; i < errors->count; i++) {
    uint32_t row = errors->errors[i].row;
    while (row && VYRE_ROW_OP(v->op[row]) != VYRE_OP_program)
      row = v->parent[row];
    keys[i] = (uint64_t)row << 32 | i;
  }
  qsort(keys, errors->count, sizeof *keys, by_key);
  for (uint32_t i = 0; i < errors->count; i++)
    sorted->errors[i] = errors->errors[keys[i] & UINT32_MAX];
  for (uint32_t i = 0, end; i < errors->count; i = end) {
    uint32_t program = (uint32_t)(keys[i] >> 32);
    for (end = i + 1; end < errors->count && keys[end] >> 32 == program; end++)
      ;
    if (program)
      VYRE_TRY(print_program(module, program, sorted, i, end, out));
  }
  return VYRE_OK;
}

static vyre_status
print_all(const vyre_module *module, const vyre_verify_errors *errors, vyre_bytes *out)
{
  const vyre_allocator *allocator = vyre_module_allocator(module);
  size_t key_bytes = errors->count * sizeof(uint64_t), sorted_bytes = errors->count * sizeof(vyre_verify_error);
  vyre_verify_errors sorted = *errors;
  uint64_t *keys;
  vyre_status status;
  if (errors->damaged || errors->count == 0)
    return print_bare(errors, true, out);
  VYRE_TRY(print_bare(errors, false, out));
  keys = allocator->resize(allocator->user, NULL, 0, key_bytes);
  sorted.errors = allocator->resize(allocator->user, NULL, 0, sorted_bytes);
  if (keys && sorted.errors)
    status = print_by_program(module, errors, keys, &sorted, out);
  else
    status = VYRE_OUT_OF_MEMORY("while printing the verifier's messages");
  if (keys)
    allocator->resize(allocator->user, keys, key_bytes, 0);
  if (sorted.errors)
    allocator->resize(allocator->user, sorted.errors, sorted_bytes, 0);
  return status;
}

vyre_status
vyre_verify_print(const vyre_module *module, const vyre_verify_errors *errors, vyre_bytes *out)
{
  VYRE_OWN_ENVIRONMENT;
  size_t before = out->size;
  return vyre_bytes_undo(out, before, print_all(module, errors, out));
}
