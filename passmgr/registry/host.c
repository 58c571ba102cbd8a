/* The host table: the functions that plugins call.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "context.h"

#include <stdalign.h>
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "host.h"
#include "vyre/view.h"
#include "passmgr/resident/phases.h"

/* ---- context: errors, remarks, counts, scratch memory -------------------------------------------------------------------- */

vyre_context *
vyre_context_of(vyre_pass_ctx *ctx)
{
  return (vyre_context *)ctx; /* base is the first field */
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

/* Enough for most passes over a small module. */
enum { LEAST_SCRATCH = 65536 };

void
vyre_context_borrow_scratch(vyre_context *context)
{
  context->room = vyre_module_borrow(context->module, LEAST_SCRATCH, &context->left);
  context->has_borrowed = context->room != NULL;
}

void
vyre_context_return_scratch(vyre_context *context)
{
  if (context->has_borrowed)
    vyre_module_return_room(context->module, context->used);
  for (vyre_scratch *chunk = context->chunks, *next; chunk; chunk = next) {
    next = chunk->next;
    vyre_release(context->allocator, chunk, sizeof(*chunk) + chunk->bytes);
  }
}

/* Describes a row in a buffer of 512 bytes: "row 12, mul (%w), of program @scale, blur.comp:12:3". */
static const char *
describe_row(const vyre_module *module, uint32_t row, char buffer[512])
{
  const vyre_view *view = vyre_module_view(module);
  const vyre_op_info *info = &vyre_op_infos[VYRE_ROW_OP(view->op[row])];
  const char *name = vyre_row_name(module, (vyre_row){row});
  int used = snprintf(buffer, 512, "row %u, %s", row, info->text ? info->text : "no op");
  uint32_t program = vyre_program_of(view, row);
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
    status = VYRE_ERROR(VYRE_CODE_INPUT, "plugin '%s' pass '%s' failed without a message" VYRE_PASS_FIX,
                        context->record->plugin->plugin.name, pass);
  else
    status = VYRE_ERROR(VYRE_CODE_INPUT, "pass '%s': %s%s", pass, message, strstr(message, "\nFix: ") ? "" : VYRE_PASS_FIX);
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

const char *
vyre_context_file(vyre_module *module, uint32_t row)
{
  const uint32_t program = is_row(module, row) ? vyre_program_of(vyre_module_view(module), row) : 0;
  uint32_t input = vyre_module_input_count(module) == 1 ? 0 : UINT32_MAX;
  if (program)
    input = vyre_program_info_of(module, (vyre_row){program})->input;
  return input < vyre_module_input_count(module) ? vyre_string_text(module, vyre_module_input(module, input)->path) : NULL;
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
  if (!diagnostic.file) {
    diagnostic.file = vyre_context_file(context->module, row);
    if (is_row(context->module, row))
      describe_row(context->module, row, place);
  }
  snprintf(text, sizeof(text), "%s: %.400s%s%s", context->record->pass.name, message, place[0] ? ", at " : "", place);
  diagnostic.message = text;
  context->options.diagnostics.emit(context->options.diagnostics.user, &diagnostic);
}

static void
host_count(vyre_pass_ctx *ctx, const char *name, uint64_t amount)
{
  const vyre_context *context = vyre_context_of(ctx);
  if (!name)
    vyre_module_fail(context->module, "host->count: name is NULL");
  else
    vyre_report_count_add(context->options.report, context->record->pass.name, name, amount);
}

/* Allocates a chunk of scratch memory.  Returns false if memory runs out. */
static bool
add_chunk(vyre_context *context, size_t bytes)
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
  if (context->left < bytes && !add_chunk(context, bytes))
    return NULL;
  void *memory = context->room;
  context->room += bytes;
  context->left -= bytes;
  context->used += bytes;
  return memset(memory, 0, bytes);
}

/* Returns the index of the pass's parameter with that name, which must be a text if `type` is VYRE_PARAM_TEXT.  Fails the module
 * and returns param_count if there is none. */
static uint32_t
find_param(const vyre_context *context, const char *call, const char *name, uint32_t type)
{
  const vyre_pass_record *record = context->record;
  for (uint32_t i = 0; name && i < record->pass.param_count; i++)
    if (strcmp(record->params[i].name, name) == 0 && (type != VYRE_PARAM_TEXT || record->params[i].type == type))
      return i;
  vyre_module_fail(context->module, "host->%s: the pass has no%s parameter '%.100s'", call, type == VYRE_PARAM_TEXT ? " text" : "",
                   name ? name : "(NULL)");
  return record->pass.param_count;
}

static uint64_t
host_param(vyre_pass_ctx *ctx, const char *name)
{
  const vyre_context *context = vyre_context_of(ctx);
  const uint32_t at = find_param(context, "param", name, 0);
  return at < context->record->pass.param_count ? context->values[at] : 0;
}

static const char *
host_param_text(vyre_pass_ctx *ctx, const char *name)
{
  const vyre_context *context = vyre_context_of(ctx);
  const uint32_t at = find_param(context, "param_text", name, VYRE_PARAM_TEXT);
  return at < context->record->pass.param_count && context->values[at] ? context->texts + context->values[at] : "";
}

static void
host_preserved(vyre_pass_ctx *ctx, uint32_t analyses)
{
  vyre_context_of(ctx)->preserved |= analyses;
}

/* ---- checks of arguments ------------------------------------------------------------------------------------------------- */

void
vyre_host_refuse(const vyre_module *module, const char *call, const char *what, uint32_t row)
{
  const uint32_t rows = vyre_module_view(module)->rows;
  vyre_module *failing = (vyre_module *)(uintptr_t)module; /* queries also fail the module */
  if (row && row < rows)
    vyre_module_fail(failing, "host->%s: %s is row %u, which is dead", call, what, row);
  else if (rows > 1)
    vyre_module_fail(failing, "host->%s: %s is row %u, but the module has rows 1 to %u", call, what, row, rows - 1);
  else
    vyre_module_fail(failing, "host->%s: %s is row %u, but the module has no rows", call, what, row);
}

bool
vyre_host_is_path(const vyre_module *module, const char *call, uint32_t path)
{
  const vyre_view *view = vyre_module_view(module);
  if (!vyre_host_is_known(module, call, "path", path))
    return false;
  uint32_t steps = 0;
  for (uint32_t at = path; VYRE_ROW_OP(view->op[at]) == VYRE_OP_at && steps < view->rows; at = view->a[at])
    steps++;
  if (steps < view->rows)
    return true;
  vyre_module_fail((vyre_module *)(uintptr_t)module, "host->%s: path is row %u, which is part of a cycle", call, path);
  return false;
}

bool
vyre_host_is_placed(const vyre_module *module, const char *call, const char *what, uint32_t row)
{
  if (!vyre_host_is_there(module, call, what, row))
    return false;
  if (vyre_module_view(module)->parent[row])
    return true;
  vyre_module_fail((vyre_module *)(uintptr_t)module, "host->%s: %s is row %u, a program, before which nothing can be inserted",
                   call, what, row);
  return false;
}

static __attribute__((noinline)) bool
refuse_operands(const vyre_module *module, const char *call, uint32_t a, uint32_t b, uint32_t c)
{
  return vyre_host_is_known(module, call, "operand a", a) && vyre_host_is_known(module, call, "operand b", b) &&
         vyre_host_is_known(module, call, "operand c", c);
}

static inline bool
are_operands(const vyre_module *module, const char *call, uint32_t a, uint32_t b, uint32_t c)
{
  const uint32_t rows = vyre_module_view(module)->rows;
  return (a < rows && b < rows && c < rows) || refuse_operands(module, call, a, b, c);
}

bool
vyre_host_is_op(const vyre_module *module, const char *call, uint32_t word)
{
  if (VYRE_ROW_OP(word) < VYRE_OP__COUNT && vyre_op_infos[VYRE_ROW_OP(word)].text)
    return true;
  vyre_module_fail((vyre_module *)(uintptr_t)module, "host->%s: there is no op %u", call, VYRE_ROW_OP(word));
  return false;
}

bool
vyre_host_is_given(const vyre_module *module, const char *call, const char *what, bool given)
{
  if (!given)
    vyre_module_fail((vyre_module *)(uintptr_t)module, "host->%s: %s is NULL", call, what);
  return given;
}

/* ---- edits --------------------------------------------------------------------------------------------------------------- */

static uint32_t
build(vyre_builder *builder, uint32_t word, uint32_t imm, uint32_t imm_hi, vyre_row a, vyre_row b, vyre_row c)
{
  const vyre_opcode op = (vyre_opcode)VYRE_ROW_OP(word);
  if (vyre_op_is_invocation(op) && VYRE_ROW_FLAGS(word) == 0)
    return vyre_build_invocation(builder, op).id;
  switch ((uint32_t)op) {
  case VYRE_OP_if:
    return vyre_build_if(builder, a).id;
  case VYRE_OP_for:
    return vyre_build_for(builder, a, b, c).id;
  case VYRE_OP_loop:
    return vyre_build_loop(builder).id;
  case VYRE_OP_block:
    return vyre_build_block(builder).id;
  default:
    return vyre_build(builder, op, VYRE_ROW_TYPE(word), VYRE_ROW_FLAGS(word), imm, imm_hi, a, b, c).id;
  }
}

static uint32_t
host_insert_row(vyre_module *module, uint32_t before, uint32_t op, uint32_t imm, uint32_t imm_hi, uint32_t a, uint32_t b,
                uint32_t c)
{
  static const char call[] = "insert_row";
  if (!vyre_host_is_placed(module, call, "before", before) || !vyre_host_is_op(module, call, op) ||
      !are_operands(module, call, a, b, c))
    return 0;
  vyre_builder builder = {.module = module};
  vyre_builder_before(&builder, (vyre_row){before});
  return build(&builder, op, imm, imm_hi, (vyre_row){a}, (vyre_row){b}, (vyre_row){c});
}

static uint32_t
host_append_row(vyre_module *module, uint32_t region, uint32_t op, uint32_t imm, uint32_t imm_hi, uint32_t a, uint32_t b,
                uint32_t c)
{
  static const char call[] = "append_row";
  if (!vyre_host_is_there(module, call, "region", region) || !vyre_host_is_op(module, call, op) ||
      !are_operands(module, call, a, b, c))
    return 0;
  if ((vyre_op_infos[VYRE_ROW_OP(vyre_module_view(module)->op[region])].flags & VYRE_OP_REGION) == 0) {
    vyre_module_fail(module, "host->append_row: row %u is not a region", region);
    return 0;
  }
  vyre_builder builder = {.module = module};
  vyre_builder_at_end(&builder, (vyre_row){region});
  return build(&builder, op, imm, imm_hi, (vyre_row){a}, (vyre_row){b}, (vyre_row){c});
}

/* Returns the buffer row of the program with that set and binding, or 0. */
static uint32_t
buffer_at(vyre_module *module, uint32_t program, uint32_t set, uint32_t binding)
{
  const vyre_view *view = vyre_module_view(module);
  for (uint32_t row = view->first[program]; row; row = view->next[row]) {
    if (VYRE_ROW_OP(view->op[row]) != VYRE_OP_buffer)
      continue;
    const vyre_space space = VYRE_BUFFER_SPACE(view->imm_hi[row]);
    const vyre_buffer_info *info = vyre_buffer_info_of(module, (vyre_row){row});
    const bool is_bound = space == VYRE_SPACE_STORAGE || space == VYRE_SPACE_UNIFORM || space == VYRE_SPACE_HANDLE;
    if (is_bound && info->set == set && info->binding == binding)
      return row;
  }
  return 0;
}

static uint32_t
host_add_buffer(vyre_module *module, uint32_t near_row, vyre_type element, uint32_t count, uint32_t space_and_access, uint32_t set,
                uint32_t binding)
{
  const vyre_space space = VYRE_BUFFER_SPACE(space_and_access);
  if (!vyre_host_is_there(module, "add_buffer", "near_row", near_row))
    return 0;
  if (vyre_kind_bits(VYRE_TYPE_KIND(element)) == 0 || VYRE_TYPE_KIND(element) == VYRE_BOOL) {
    vyre_module_fail(module, "host->add_buffer: a buffer cannot have elements of type %u", element);
    return 0;
  }
  if (space != VYRE_SPACE_STORAGE && ((space != VYRE_SPACE_PRIVATE && space != VYRE_SPACE_WORKGROUP) || count == 0)) {
    vyre_module_fail(module, "host->add_buffer: a buffer of %u elements cannot be in space %u", count, (unsigned)space);
    return 0;
  }
  uint32_t program = near_row;
  for (const uint32_t *parent = vyre_module_view(module)->parent; parent[program];)
    program = parent[program];
  vyre_builder builder = {.module = module};
  vyre_builder_at_end(&builder, (vyre_row){program});
  const uint32_t other = space == VYRE_SPACE_STORAGE ? buffer_at(module, program, set, binding) : 0;
  if (other) {
    const char *name = vyre_row_name(module, (vyre_row){other});
    vyre_module_fail(module,
                     "host->add_buffer: set %u, binding %u is that of row %u, %%%.100s\n"
                     "Fix: change the set or binding by parameters of the pass, if it has them (vyre-passmgr -help-pass=NAME)",
                     set, binding, other, name ? name : "?");
    return 0;
  }
  const vyre_type_id type =
      count ? vyre_type_array(module, element, count, VYRE_NONE, 0) : vyre_type_runtime_array(module, element, 0);
  return vyre_build_buffer(&builder, type, space, space_and_access & ~15u, set, binding).id;
}

static uint32_t
host_constant(vyre_module *module, uint32_t near_row, vyre_type type, uint64_t bits)
{
  if (!vyre_host_is_there(module, "constant", "near_row", near_row))
    return 0;
  if (vyre_kind_bits(VYRE_TYPE_KIND(type)) == 0) {
    vyre_module_fail(module, "host->constant: type %u has no literals", type);
    return 0;
  }
  vyre_builder builder = {.module = module};
  vyre_builder_before(&builder, (vyre_row){near_row});
  return vyre_build_const(&builder, type, bits & UINT64_MAX >> (64 - vyre_kind_bits(VYRE_TYPE_KIND(type)))).id;
}

static void
host_rewrite(vyre_module *module, uint32_t row, uint32_t op, uint32_t imm, uint32_t imm_hi, uint32_t a, uint32_t b, uint32_t c)
{
  static const char call[] = "rewrite";
  if (vyre_host_is_there(module, call, "row", row) && vyre_host_is_op(module, call, op) && are_operands(module, call, a, b, c))
    vyre_row_rewrite(module, (vyre_row){row}, op, imm, imm_hi, (vyre_row){a}, (vyre_row){b}, (vyre_row){c});
}

static void
host_set_operand(vyre_module *module, uint32_t row, uint32_t which, uint32_t operand)
{
  static const char call[] = "set_operand";
  if (which > 2)
    vyre_module_fail(module, "host->set_operand: operand %u does not exist, only 0 to 2", which);
  else if (vyre_host_is_there(module, call, "row", row) && vyre_host_is_known(module, call, "operand", operand))
    vyre_row_set_operand(module, (vyre_row){row}, which, (vyre_row){operand});
}

static void
host_move_before(vyre_module *module, uint32_t row, uint32_t before)
{
  static const char call[] = "move_before";
  if (!vyre_host_is_placed(module, call, "row", row) || !vyre_host_is_placed(module, call, "before", before))
    return;
  const vyre_view *view = vyre_module_view(module);
  const uint32_t *parent = view->parent;
  for (uint32_t at = view->first[row] ? parent[before] : 0; at; at = parent[at])
    if (at == row) {
      vyre_module_fail(module, "host->move_before: row %u would be inside itself, before row %u", row, before);
      return;
    }
  vyre_row_move_before(module, (vyre_row){row}, (vyre_row){before});
}

static void
host_kill(vyre_module *module, uint32_t row)
{
  if (row == 0)
    vyre_host_refuse(module, "kill", "row", row);
  else if (vyre_host_is_known(module, "kill", "row", row)) /* its parent may have been killed before */
    vyre_row_kill(module, (vyre_row){row});
}

static void
host_forward(vyre_module *module, uint32_t *fwd)
{
  const uint32_t rows = vyre_module_view(module)->rows;
  if (!vyre_host_is_given(module, "forward", "fwd", fwd != NULL))
    return;
  for (uint32_t row = 0; row < rows; row++)
    if (!vyre_host_is_known(module, "forward", "an element of fwd", fwd[row]))
      return;
  vyre_module_forward(module, fwd);
}

/* ---- facts --------------------------------------------------------------------------------------------------------------- */

static bool
host_fold(const vyre_module *module, uint32_t row, vyre_type *out_type, uint64_t out_lanes[4])
{
  return vyre_host_is_known(module, "fold", "row", row) &&
         vyre_host_is_given(module, "fold", "out_type or out_lanes", out_type && out_lanes) &&
         vyre_row_fold(module, row, out_type, out_lanes);
}

static bool
host_fold_given(const vyre_module *module, uint32_t row, const uint64_t *const given[3], uint64_t out_lanes[4])
{
  static const char call[] = "fold_given";
  return vyre_host_is_known(module, call, "row", row) &&
         vyre_host_is_given(module, call, "given or out_lanes", given && out_lanes) &&
         vyre_row_fold_given(module, row, given, out_lanes);
}

static void
host_each_pinned(const vyre_module *module, void (*pin)(void *user, uint32_t row), void *user)
{
  uint32_t count = vyre_type_count(module);
  if (!vyre_host_is_given(module, "each_pinned", "pin", pin != NULL))
    return;
  for (vyre_type_id type = 256; type < count; type++) {
    uint32_t row = vyre_type_get(module, type).count_row;
    if (row)
      pin(user, row);
  }
}

static bool
host_in_bounds(const vyre_module *module, uint32_t path)
{
  return vyre_host_is_path(module, "in_bounds", path) && vyre_path_in_bounds(module, path);
}

static bool
host_aliases(const vyre_module *module, uint32_t *out)
{
  return vyre_host_is_given(module, "aliases", "out", out != NULL) && vyre_aliases_compute(module, out);
}

static bool
host_initial(const vyre_module *module, uint32_t path, uint64_t *out_bits)
{
  return vyre_host_is_path(module, "initial", path) && vyre_host_is_given(module, "initial", "out_bits", out_bits != NULL) &&
         vyre_path_initial(module, path, out_bits);
}

static uint32_t *
host_column(vyre_pass_ctx *ctx, uint32_t which)
{
  const vyre_context *context = vyre_context_of(ctx);
  uint32_t *column = (which & ~context->record->pass.provides) == 0 ? vyre_module_open_column(context->module, which) : NULL;
  if (column && context->options.check_changed) /* makes missing elements visible */
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
      .forward = host_forward,
      .fold = host_fold,
      .each_pinned = host_each_pinned,
      .column = host_column,
      .in_bounds = host_in_bounds,
      .fold_given = host_fold_given,
      .aliases = host_aliases,
      .initial = host_initial,
      .param_text = host_param_text,
      .preserved = host_preserved,
      .descriptor_steps = vyre_buffer_descriptor_steps,
      .memory = vyre_phases_memory,
      .name = vyre_host_name,
      .set_name = vyre_host_set_name,
      .line = vyre_host_line,
      .decorations = vyre_host_decorations,
      .set_decorations = vyre_host_set_decorations,
      .hints = vyre_host_hints,
      .set_hints = vyre_host_set_hints,
      .path_type = vyre_host_path_type,
      .type_info = vyre_host_type_info,
      .member_info = vyre_host_member_info,
      .clone = vyre_host_clone,
      .append_row = host_append_row,
      .add_buffer = host_add_buffer,
      .cost = vyre_host_cost,
      .param_file = vyre_host_param_file,
  };
  return &table;
}
