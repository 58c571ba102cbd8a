/* The modules of a megakernel's parts, and the handlers with barriers for the whole grid.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "parts.h"

#include "protocol/words.h"
#include "signature.h"
#include "vyre/split.h"
#include "vyre/text.h"
#include "vyre/verify.h"
#include "vyre/view.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 16 };

/* ---- modules ------------------------------------------------------------------------------------------------------------- */

/* Forwards messages of the parser, with places in the user's file. */
typedef struct origin {
  const mega_parts *parts;
  const vyre_bytes *text;
} origin;

static void
pass_on(void *user, const vyre_diagnostic *diagnostic)
{
  const origin *of = user;
  vyre_diagnostic own = *diagnostic;
  vyre_mega_source_locate(of->parts->program, of->text, &own);
  if (of->parts->to.emit)
    of->parts->to.emit(of->parts->to.user, &own);
}

/* Changes the places of rows to places in the user's file.  Rows of other text lose their places. */
static void
locate_rows(const origin *of, vyre_module *module)
{
  const vyre_view *v = vyre_module_view(module);
  for (uint32_t row = 1; row < v->rows; row++) {
    vyre_diagnostic place = {0};
    vyre_string file;
    if (!vyre_row_line(module, (vyre_row){row}, &file, &place.line, &place.column))
      continue;
    vyre_mega_source_locate(of->parts->program, of->text, &place);
    file = place.file ? vyre_string_intern(module, place.file, strlen(place.file)) : 0;
    vyre_row_set_line(module, (vyre_row){row}, file, place.file ? place.line : 0, place.file ? place.column : 0);
  }
}

static vyre_status
parse(const mega_parts *parts, const mega_part *part, vyre_module *module)
{
  vyre_bytes text = {0};
  vyre_verify_errors errors = {0};
  origin of = {parts, &text};
  const vyre_diagnostics to = {pass_on, &of};
  vyre_status status = mega_source(parts->program, parts->form, part, &text);
  if (!status && part->kind == MEGA_PART_GRID) { /* its rows need places, for errors about barriers */
    status = vyre_text_parse_lines(module, text.data, text.size, "megakernel", to);
    if (!status)
      locate_rows(&of, module);
  } else if (!status)
    status = vyre_text_parse(module, text.data, text.size, "megakernel", to);
  if (!status)
    status = vyre_verify(module, &errors);
  vyre_verify_errors_free(&errors);
  vyre_bytes_free(&text);
  return status;
}

static vyre_row
program_of(const vyre_module *module)
{
  return (vyre_row){vyre_module_view(module)->first[0]};
}

/* ---- the program of a handler -------------------------------------------------------------------------------------------- */

static uint32_t
op_of(const vyre_view *v, uint32_t row)
{
  return VYRE_ROW_OP(v->op[row]);
}

/* Returns the last grid barrier. */
static uint32_t
last_barrier(const vyre_view *v, uint32_t program)
{
  uint32_t row = vyre_program_end(v, program) - 1;
  while (op_of(v, row) != VYRE_OP_barrier || VYRE_ORDER_EXECUTION(v->imm[row]) != 1)
    row--;
  return row;
}

/* Returns the row at the top of the program that contains `row`: the block of the handler's call. */
static uint32_t
call_around(const vyre_view *v, uint32_t program, uint32_t row)
{
  while (v->parent[row] != program)
    row = v->parent[row];
  return row;
}

/* Returns the row by its name and its op, the first of the program. */
static vyre_row
find_row(const vyre_module *module, const char *name, uint32_t op)
{
  const vyre_view *v = vyre_module_view(module);
  uint32_t row = program_of(module).id + 1;
  for (const char *own; row < v->rows; row++)
    if (op_of(v, row) == op && (own = vyre_row_name(module, (vyre_row){row})) && strcmp(own, name) == 0)
      break;
  return (vyre_row){row};
}

/* Returns the variable whose value, read right after the block, is stored as the item's result.  Returns 0 if the block has no such
 * variable, because it is not the block of the handler's call. */
static uint32_t
result_after(const vyre_view *v, uint32_t block, vyre_row stage)
{
  uint32_t row = v->next[block];
  while (op_of(v, row) == VYRE_OP_const || op_of(v, row) == VYRE_OP_at)
    row = v->next[row];
  const uint32_t get = row;
  while (row && op_of(v, row) != VYRE_OP_store)
    row = v->next[row];
  uint32_t to = v->a[row];
  while (op_of(v, to) == VYRE_OP_at)
    to = v->a[to];
  return op_of(v, get) == VYRE_OP_get && v->b[row] == get && to == stage.id ? v->a[get] : 0;
}

/* Replaces `return` of a handler before its last barrier, which leaves the block of the call.  Other invocations may wait at the
 * barrier, so the invocation stores the result and returns from the program. */
static vyre_status
end_early(vyre_module *module)
{
  const vyre_view *v = vyre_module_view(module);
  const uint32_t program = program_of(module).id, last = last_barrier(v, program), call = call_around(v, program, last);
  const vyre_row stage = find_row(module, "stage", VYRE_OP_buffer), mark = find_row(module, "mark", VYRE_OP_add);
  const uint32_t result_var = result_after(v, call, stage);
  vyre_builder b = {.module = module, .program = program};
  for (uint32_t row = call + 1; row < last; row++) {
    const uint32_t set = v->prev[row];
    if (op_of(v, row) != VYRE_OP_leave || v->a[row] != call || op_of(v, set) != VYRE_OP_set || v->a[set] != result_var)
      continue;
    vyre_builder_before(&b, (vyre_row){row});
    const vyre_row result = vyre_build_at(&b, stage, vyre_build_imm(&b, VYRE_OP_add, mark, 1));
    vyre_build_store(&b, result, (vyre_row){v->b[set]}, 0);
    vyre_build_store(&b, vyre_build_at(&b, stage, mark), vyre_build_const(&b, VYRE_TYPE(VYRE_U32, 1), STAGE_ENDED), 0);
    vyre_build_jump(&b, VYRE_OP_return, VYRE_NONE);
    vyre_row_kill(module, (vyre_row){set});
    vyre_row_kill(module, (vyre_row){row});
  }
  VYRE_TRY(vyre_module_status(module));
  VYRE_TRY(vyre_module_seal(module, NULL));
  vyre_verify_errors errors = {0};
  vyre_status status = vyre_verify(module, &errors);
  vyre_verify_errors_free(&errors);
  return status;
}

vyre_status
mega_part_make(const mega_parts *parts, const mega_part *part, vyre_module **out)
{
  vyre_module *module;
  *out = NULL;
  VYRE_TRY(vyre_module_create(NULL, ROOM, &module));
  vyre_status status = parse(parts, part, module);
  if (!status && part->kind == MEGA_PART_GRID && vyre_grid_barriers(module, program_of(module)))
    status = end_early(module);
  if (status) {
    vyre_module_destroy(module);
    return status;
  }
  *out = module;
  return VYRE_OK;
}

/* ---- handlers with grid barriers ----------------------------------------------------------------------------------------- */

uint32_t
mega_handler_count(const vyre_mega_program *p)
{
  return p->fused ? 1 : p->handler_count;
}

const char *
mega_handler_function(const vyre_mega_program *p, uint32_t handler)
{
  return mega_function_name(p->fused ? p->fused : p->handlers[handler].function);
}

uint32_t
mega_handler_first(const vyre_mega_program *p, uint32_t handler)
{
  uint32_t first = 0;
  while (!p->fused && first < handler && !mega_is_same_function(p, first, handler))
    first++;
  return first;
}

static vyre_status
find_staged(const mega_parts *parts, bool *staged, bool *out_any)
{
  for (uint32_t i = 0; i < mega_handler_count(parts->program); i++) {
    const uint32_t first = mega_handler_first(parts->program, i);
    vyre_module *module;
    if (first < i) {
      staged[i] = staged[first];
      continue;
    }
    VYRE_TRY(mega_part_make(parts, &(mega_part){MEGA_PART_GRID, staged, i}, &module));
    staged[i] = vyre_grid_barriers(module, program_of(module)) > 0;
    *out_any = *out_any || staged[i];
    vyre_module_destroy(module);
  }
  return VYRE_OK;
}

vyre_status
mega_find_staged(const mega_parts *parts, bool **out)
{
  const vyre_mega_program *p = parts->program;
  bool any = false;
  *out = NULL;
  if (!p->source || !strstr(p->source, "barrier"))
    return VYRE_OK;
  bool *staged = calloc(mega_handler_count(p) + 1, sizeof *staged);
  if (!staged)
    return VYRE_OUT_OF_MEMORY("for handlers");
  vyre_status status = find_staged(parts, staged, &any);
  if (status || !any) {
    free(staged);
    return status;
  }
  *out = staged;
  return VYRE_OK;
}
