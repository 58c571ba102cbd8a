/* The host table: what a plugin calls back through.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "context.h"

#include <stdalign.h>
#include <stdio.h>
#include <string.h>

#include "grow.h"

/* ---- context: errors, remarks, counts, scratch memory -------------------------------------------------------------------- */

vyre_context *
vyre_context_of(vyre_pass_ctx *ctx)
{
  return (vyre_context *)ctx; /* base is its first field */
}

vyre_status
vyre_context_own(vyre_pass_ctx *ctx, vyre_status status)
{
  vyre_context *context = vyre_context_of(ctx);
  if (!status)
    return VYRE_OK;
  vyre_status *slot = &context->errors[context->error_count++ % VYRE_CONTEXT_ERRORS];
  vyre_status_free(*slot);
  *slot = status;
  return status;
}

bool
vyre_context_settle(vyre_context *context, vyre_status returned)
{
  bool own = false;
  for (uint32_t i = 0; i < VYRE_CONTEXT_ERRORS && i < context->error_count; i++) {
    if (context->errors[i] && context->errors[i] == returned)
      own = true;
    else
      vyre_status_free(context->errors[i]);
    context->errors[i] = VYRE_OK;
  }
  context->error_count = 0;
  return own;
}

/* Most passes over a small module need no more. */
enum { LEAST_SCRATCH = 65536 };

void
vyre_context_borrow(vyre_context *context)
{
  context->room = vyre_module_borrow(context->module, LEAST_SCRATCH, &context->left);
}

void
vyre_context_give_back(vyre_context *context)
{
  vyre_module_give_back(context->module, context->used);
  for (vyre_scratch *chunk = context->chunks, *next; chunk; chunk = next) {
    next = chunk->next;
    vyre_release(context->allocator, chunk, sizeof(*chunk) + chunk->bytes);
  }
}

static uint32_t
program_of(const vyre_view *view, uint32_t row)
{
  while (row && VYRE_ROW_OP(view->op[row]) != VYRE_OP_program)
    row = view->parent[row];
  return row;
}

/* "row 12, mul (%w), of program @scale, blur.comp:12:3"; into a buffer of 512 bytes. */
static const char *
describe_row(const vyre_module *module, uint32_t row, char buffer[512])
{
  const vyre_view *view = vyre_module_view(module);
  const vyre_op_info *info = &view->op_infos[VYRE_ROW_OP(view->op[row])];
  const char *name = vyre_row_name(module, (vyre_row){row});
  int used = snprintf(buffer, 512, "row %u, %s", row, info->text ? info->text : "no op");
  uint32_t program = program_of(view, row);
  if (name)
    used += snprintf(buffer + used, 512 - (size_t)used, " (%c%.100s)", program == row ? '@' : '%', name);
  const char *program_name = program ? vyre_row_name(module, (vyre_row){program}) : NULL;
  if (program_name && program != row)
    used += snprintf(buffer + used, 512 - (size_t)used, ", of program @%.100s", program_name);
  vyre_string file;
  uint32_t line, column;
  if (vyre_row_line(module, (vyre_row){row}, &file, &line, &column))
    snprintf(buffer + used, 512 - (size_t)used, ", %.150s:%u:%u", vyre_string_text(module, file), line, column);
  return buffer;
}

static bool
is_row(const vyre_module *module, uint32_t row)
{
  const vyre_view *view = vyre_module_view(module);
  return row != 0 && row < view->rows && VYRE_ROW_OP(view->op[row]) < VYRE_OP__COUNT;
}

static vyre_status
host_error(vyre_pass_ctx *ctx, uint32_t row, const char *message)
{
  const vyre_context *context = vyre_context_of(ctx);
  const char *pass = context->record->pass.name;
  vyre_status status;
  if (!message || !message[0])
    status =
        VYRE_ERROR(VYRE_CODE_INPUT, "plugin '%s' pass '%s' failed without a message", context->record->plugin->plugin.name, pass);
  else
    status = VYRE_ERROR(VYRE_CODE_INPUT, "pass '%s': %s", pass, message);
  char place[512];
  if (is_row(context->module, row))
    status = vyre_status_note(status, "at %s", describe_row(context->module, row, place));
  return vyre_context_own(ctx, status);
}

static vyre_status
host_out_of_memory(vyre_pass_ctx *ctx)
{
  return vyre_context_own(ctx, VYRE_ERROR(VYRE_CODE_INPUT, "out of memory in pass '%s'", vyre_context_of(ctx)->record->pass.name));
}

static void
host_remark(vyre_pass_ctx *ctx, uint32_t row, const char *message)
{
  const vyre_context *context = vyre_context_of(ctx);
  if (!context->options.diagnostics.emit || !message)
    return;
  vyre_string file;
  vyre_diagnostic diagnostic = {.severity = VYRE_REMARK};
  if (is_row(context->module, row) && vyre_row_line(context->module, (vyre_row){row}, &file, &diagnostic.line, &diagnostic.column))
    diagnostic.file = vyre_string_text(context->module, file);
  char place[512] = "", text[1024];
  if (is_row(context->module, row) && !diagnostic.file)
    describe_row(context->module, row, place);
  snprintf(text, sizeof(text), "%s: %.400s%s%s", context->record->pass.name, message, place[0] ? ", at " : "", place);
  diagnostic.message = text;
  context->options.diagnostics.emit(context->options.diagnostics.user, &diagnostic);
}

static void
host_count(vyre_pass_ctx *ctx, const char *name, uint64_t amount)
{
  const vyre_context *context = vyre_context_of(ctx);
  vyre_report_count_add(context->options.report, context->record->pass.name, name, amount);
}

/* More room; false: out of memory. */
static bool
take_chunk(vyre_context *context, size_t bytes)
{
  const size_t align = alignof(max_align_t), header = (sizeof(vyre_scratch) + align - 1) & ~(align - 1);
  const size_t room = bytes > LEAST_SCRATCH ? bytes : LEAST_SCRATCH;
  vyre_scratch *chunk = context->allocator->resize(context->allocator->user, NULL, 0, header + room);
  if (!chunk)
    return false;
  *chunk = (vyre_scratch){context->chunks, header - sizeof(*chunk) + room};
  context->chunks = chunk;
  context->room = (char *)chunk + header;
  context->left = room;
  return true;
}

static void *
host_alloc(vyre_pass_ctx *ctx, size_t bytes)
{
  vyre_context *context = vyre_context_of(ctx);
  const size_t align = alignof(max_align_t);
  if (bytes > SIZE_MAX / 2)
    return NULL;
  bytes = bytes ? (bytes + align - 1) & ~(align - 1) : align;
  if (context->left < bytes && !take_chunk(context, bytes))
    return NULL;
  void *memory = context->room;
  context->room += bytes;
  context->left -= bytes;
  context->used += bytes;
  return memset(memory, 0, bytes);
}

static uint64_t
host_param(vyre_pass_ctx *ctx, const char *name)
{
  const vyre_context *context = vyre_context_of(ctx);
  for (uint32_t i = 0; i < context->record->pass.param_count; i++)
    if (strcmp(context->record->params[i].name, name) == 0)
      return context->values[i];
  return 0;
}

static const char *
host_param_text(vyre_pass_ctx *ctx, const char *name)
{
  const uint64_t at = host_param(ctx, name);
  return at ? vyre_context_of(ctx)->texts + at : "";
}

static void
host_preserved(vyre_pass_ctx *ctx, uint32_t analyses)
{
  vyre_context_of(ctx)->preserved |= analyses;
}

/* ---- edits --------------------------------------------------------------------------------------------------------------- */

static uint32_t
host_insert_row(vyre_module *module, uint32_t before, uint32_t op, uint32_t imm, uint32_t imm_hi, uint32_t a, uint32_t b,
                uint32_t c)
{
  vyre_builder builder = {.module = module};
  vyre_builder_before(&builder, (vyre_row){before});
  return vyre_build(&builder, (vyre_opcode)VYRE_ROW_OP(op), VYRE_ROW_TYPE(op), VYRE_ROW_FLAGS(op), imm, imm_hi, (vyre_row){a},
                    (vyre_row){b}, (vyre_row){c})
      .id;
}

static uint32_t
host_constant(vyre_module *module, uint32_t near_row, vyre_type type, uint64_t bits)
{
  vyre_builder builder = {.module = module};
  vyre_builder_before(&builder, (vyre_row){near_row});
  return vyre_build_const(&builder, type, bits).id;
}

static void
host_rewrite(vyre_module *module, uint32_t row, uint32_t op, uint32_t imm, uint32_t imm_hi, uint32_t a, uint32_t b, uint32_t c)
{
  vyre_row_rewrite(module, (vyre_row){row}, op, imm, imm_hi, (vyre_row){a}, (vyre_row){b}, (vyre_row){c});
}

static void
host_set_operand(vyre_module *module, uint32_t row, uint32_t which, uint32_t operand)
{
  vyre_row_set_operand(module, (vyre_row){row}, which, (vyre_row){operand});
}

static void
host_move_before(vyre_module *module, uint32_t row, uint32_t before)
{
  vyre_row_move_before(module, (vyre_row){row}, (vyre_row){before});
}

static void
host_kill(vyre_module *module, uint32_t row)
{
  vyre_row_kill(module, (vyre_row){row});
}

static void
host_inherit(vyre_module *module, uint32_t to, uint32_t from)
{
  vyre_row_inherit(module, (vyre_row){to}, (vyre_row){from});
}

/* ---- facts --------------------------------------------------------------------------------------------------------------- */

static vyre_type
host_right_type(const vyre_module *module, uint32_t row)
{
  const vyre_view *view = vyre_module_view(module);
  return vyre_row_right_type(module, VYRE_ROW_OP(view->op[row]), (vyre_row){view->a[row]});
}

static void
host_each_pinned(const vyre_module *module, void (*pin)(void *user, uint32_t row), void *user)
{
  uint32_t count = vyre_type_count(module);
  for (vyre_type_id type = 256; type < count; type++) {
    uint32_t row = vyre_type_get(module, type).count_row;
    if (row)
      pin(user, row);
  }
}

static uint32_t *
host_column(vyre_pass_ctx *ctx, uint32_t which)
{
  const vyre_context *context = vyre_context_of(ctx);
  uint32_t *column = (which & ~context->record->pass.provides) == 0 ? vyre_module_open_column(context->module, which) : NULL;
  if (column && context->options.check_changed) /* what is left unfilled shows */
    memset(column, 0xff, vyre_module_view(context->module)->rows * sizeof(uint32_t));
  return column;
}

const vyre_host *
vyre_host_table(void)
{
  static const vyre_host table = {
      .struct_size = sizeof(vyre_host),
      .abi = VYRE_PLUGIN_ABI,
      .view = vyre_module_view,
      .error = host_error,
      .remark = host_remark,
      .count = host_count,
      .alloc = host_alloc,
      .out_of_memory = host_out_of_memory,
      .param = host_param,
      .insert_row = host_insert_row,
      .constant = host_constant,
      .rewrite = host_rewrite,
      .set_operand = host_set_operand,
      .move_before = host_move_before,
      .kill = host_kill,
      .inherit = host_inherit,
      .forward = vyre_module_forward,
      .fold = vyre_host_fold,
      .right_type = host_right_type,
      .each_pinned = host_each_pinned,
      .column = host_column,
      .in_bounds = vyre_host_in_bounds,
      .fold_given = vyre_host_fold_given,
      .aliases = vyre_aliases_compute,
      .initial = vyre_host_initial,
      .param_text = host_param_text,
      .preserved = host_preserved,
  };
  return &table;
}
