/* The host table's functions for names, source lines, decorations, hints, types of memory, costs, files of parameters, and copies
 * of rows.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "host.h"

#include <string.h>

#include "vyre/io.h"

enum { MOST_NAME = 65535 /* bytes, the limit of the text and VIR0 forms */ };

static bool
fail(const vyre_module *module, const char *call, const char *what, uint32_t row)
{
  const vyre_view *view = vyre_module_view(module);
  vyre_module_fail((vyre_module *)(uintptr_t)module, "host->%s: row %u, %s, %s", call, row,
                   vyre_op_infos[VYRE_ROW_OP(view->op[row])].text, what);
  return false;
}

/* ---- names, lines -------------------------------------------------------------------------------------------------------- */

const char *
vyre_host_name(const vyre_module *module, uint32_t row)
{
  return vyre_host_is_there(module, "name", "row", row) ? vyre_row_name(module, (vyre_row){row}) : NULL;
}

void
vyre_host_set_name(vyre_module *module, uint32_t row, const char *name)
{
  static const char call[] = "set_name";
  if (!vyre_host_is_there(module, call, "row", row))
    return;
  if (VYRE_ROW_OP(vyre_module_view(module)->op[row]) == VYRE_OP_program)
    (void)fail(module, call, "keeps its name, by which its user finds it", row);
  else if (name && strlen(name) > MOST_NAME)
    vyre_module_fail(module, "host->set_name: a name of %zu bytes, at most %d", strlen(name), MOST_NAME);
  else
    vyre_row_set_name(module, (vyre_row){row}, name, name ? strlen(name) : 0);
}

uint32_t
vyre_host_line(const vyre_module *module, uint32_t row, const char **out_file, uint32_t *out_column)
{
  vyre_string file;
  uint32_t line = 0;
  if (!vyre_host_is_there(module, "line", "row", row) ||
      !vyre_host_is_given(module, "line", "out_file or out_column", out_file && out_column))
    return 0;
  (void)vyre_row_line(module, (vyre_row){row}, &file, &line, out_column);
  *out_file = vyre_string_text(module, file);
  return line;
}

/* ---- decorations, hints -------------------------------------------------------------------------------------------------- */

static bool
has_hints(const vyre_view *view, uint32_t row)
{
  const uint32_t op = VYRE_ROW_OP(view->op[row]);
  return op == VYRE_OP_if || op == VYRE_OP_switch || op == VYRE_OP_for || op == VYRE_OP_loop;
}

const uint32_t *
vyre_host_decorations(const vyre_module *module, uint32_t row, uint32_t *out_count)
{
  static const char call[] = "decorations";
  if (!vyre_host_is_there(module, call, "row", row) || !vyre_host_is_given(module, call, "out_count", out_count != NULL))
    return NULL;
  return vyre_row_decorations(module, (vyre_row){row}, out_count);
}

void
vyre_host_set_decorations(vyre_module *module, uint32_t row, const uint32_t *words, uint32_t count)
{
  static const char call[] = "set_decorations";
  if (!vyre_host_is_there(module, call, "row", row) || !vyre_host_is_given(module, call, "words", words || count == 0))
    return;
  const vyre_view *view = vyre_module_view(module);
  if (has_hints(view, row) || VYRE_ROW_OP(view->op[row]) == VYRE_OP_verbatim) {
    (void)fail(module, call, "has words of vyre's own there, and no decorations", row);
    return;
  }
  uint64_t at = 0;
  while (at + 1 < count && words[at] < VYRE_DECORATION_HINTS)
    at += 2 + (uint64_t)words[at + 1];
  if (at == count)
    vyre_row_set_decorations(module, (vyre_row){row}, words, count);
  else
    vyre_module_fail(module,
                     "host->set_decorations: the %u words for row %u are not a list of decorations, each with a count of operands",
                     count, row);
}

uint32_t
vyre_host_hints(const vyre_module *module, uint32_t row, uint32_t out_literals[VYRE_HINT_BITS])
{
  static const char call[] = "hints";
  if (!vyre_host_is_there(module, call, "row", row) || !vyre_host_is_given(module, call, "out_literals", out_literals != NULL))
    return 0;
  const vyre_view *view = vyre_module_view(module);
  if (!has_hints(view, row))
    return (void)fail(module, call, "is not a control row with hints", row), 0;
  uint32_t count, used = 0;
  const uint32_t *literals = vyre_row_hint_literals(module, (vyre_row){row}, &count);
  for (uint32_t k = 0; k < VYRE_HINT_BITS; k++)
    out_literals[k] = (view->imm[row] & VYRE_HINT_LITERALS & 1u << k) != 0 && used < count ? literals[used++] : 0;
  return view->imm[row];
}

void
vyre_host_set_hints(vyre_module *module, uint32_t row, uint32_t hints, const uint32_t literals[VYRE_HINT_BITS])
{
  static const char call[] = "set_hints";
  uint32_t words[VYRE_HINT_BITS], count = 0;
  if (!vyre_host_is_there(module, call, "row", row) ||
      !vyre_host_is_given(module, call, "literals", literals || (hints & VYRE_HINT_LITERALS) == 0))
    return;
  if (!has_hints(vyre_module_view(module), row)) {
    (void)fail(module, call, "is not a control row with hints", row);
    return;
  }
  for (uint32_t k = 0; k < VYRE_HINT_BITS; k++)
    if (hints & VYRE_HINT_LITERALS & 1u << k)
      words[count++] = literals[k];
  vyre_row_set_hints(module, (vyre_row){row}, hints, words);
}

/* ---- types of memory ----------------------------------------------------------------------------------------------------- */

uint32_t
vyre_host_path_type(const vyre_module *module, uint32_t path)
{
  if (!vyre_host_is_there(module, "path_type", "path", path))
    return 0;
  return vyre_path_type(module, (vyre_row){path});
}

/* Copies as much of the struct as the caller's struct_size has room for. */
static bool
copy_struct(const vyre_module *module, const char *call, const void *from, size_t size, void *out)
{
  uint32_t theirs = 0;
  if (out)
    memcpy(&theirs, out, sizeof theirs);
  if (!vyre_host_is_given(module, call, "out, or its struct_size,", theirs > sizeof theirs))
    return false;
  memset(out, 0, theirs);
  memcpy(out, from, theirs < size ? theirs : size);
  memcpy(out, &theirs, sizeof theirs);
  return true;
}

static bool
is_type(const vyre_module *module, const char *call, uint32_t type)
{
  if (type != 0 && type < vyre_type_count(module))
    return true;
  vyre_module_fail((vyre_module *)(uintptr_t)module, "host->%s: there is no type %u", call, type);
  return false;
}

bool
vyre_host_type_info(const vyre_module *module, uint32_t type, vyre_memory_type *out)
{
  static const char call[] = "type_info";
  if (!is_type(module, call, type))
    return false;
  const vyre_type_info info = vyre_type_get(module, type);
  const bool is_words = info.form == VYRE_FORM_WORDS;
  const vyre_memory_type known = {
      .form = info.form,
      .flags = is_words ? 0 : info.flags,
      .element = is_words ? 0 : info.element,
      .count = is_words ? 0 : info.count,
      .count_row = info.count_row,
      .stride = is_words ? 0 : info.stride,
      .size = info.size,
      .name = info.form == VYRE_FORM_STRUCT ? vyre_string_text(module, info.name) : "",
  };
  return copy_struct(module, call, &known, sizeof known, out);
}

bool
vyre_host_member_info(const vyre_module *module, uint32_t type, uint32_t index, vyre_memory_member *out)
{
  static const char call[] = "member_info";
  if (!is_type(module, call, type))
    return false;
  const vyre_type_info info = vyre_type_get(module, type);
  if (info.form != VYRE_FORM_STRUCT || index >= info.count) {
    vyre_module_fail((vyre_module *)(uintptr_t)module, "host->%s: type %u has no member %u", call, type, index);
    return false;
  }
  const vyre_member *member = &info.members[index];
  const vyre_memory_member known = {
      .type = member->type, .offset = member->offset, .access = member->access, .name = vyre_string_text(module, member->name)};
  return copy_struct(module, call, &known, sizeof known, out);
}

/* ---- costs --------------------------------------------------------------------------------------------------------------- */

void
vyre_host_cost(vyre_pass_ctx *ctx, uint32_t op, vyre_type type, vyre_cost *out)
{
  static const char call[] = "cost";
  const vyre_context *context = vyre_context_of(ctx);
  if (!vyre_host_is_op(context->module, call, op))
    return;
  if (VYRE_TYPE_KIND(type) >= VYRE_KIND__COUNT) {
    vyre_module_fail(context->module, "host->cost: there is no type %u", type);
    return;
  }
  const vyre_cost cost = vyre_cost_of(context->options.cost_model, VYRE_ROW_OP(op), type);
  (void)copy_struct(context->module, call, &cost, sizeof cost, out);
}

/* ---- files --------------------------------------------------------------------------------------------------------------- */

vyre_status
vyre_host_param_file(vyre_pass_ctx *ctx, const char *name, const char **out, size_t *out_size)
{
  const vyre_context *context = vyre_context_of(ctx);
  vyre_bytes bytes = {.allocator = context->allocator};
  *out = NULL;
  *out_size = 0;
  const char *path = ctx->host->param_text(ctx, name);
  if (!path[0])
    return VYRE_OK;
  if (context->options.denies_files)
    return vyre_context_own(ctx, VYRE_ERROR(VYRE_CODE_USAGE,
                                            "parameter '%s' names the file '%.300s', and this pipeline is not trusted to read files"
                                            "\nFix: use -trust-reproducer if you trust the author of the reproducer",
                                            name, path));
  vyre_status status = vyre_file_read_as(path, VYRE_FILE_TEXT | VYRE_FILE_PLAIN, &bytes);
  char *text = status ? NULL : ctx->host->alloc(ctx, bytes.size + 1);
  if (text) {
    if (bytes.size)
      memcpy(text, bytes.data, bytes.size);
    *out = text;
    *out_size = bytes.size;
  }
  vyre_bytes_free(&bytes);
  if (!status && !text)
    return ctx->host->out_of_memory(ctx);
  return vyre_context_own(ctx, vyre_status_note(status, "for parameter '%s'", name));
}

/* ---- copies of rows ------------------------------------------------------------------------------------------------------ */

/* Checks that the rows inside `row` are within the map, and that the map's rows for their operands exist. */
static bool
is_covered(const vyre_module *module, const char *call, uint32_t root, const uint32_t *map, uint32_t map_rows)
{
  const vyre_view *view = vyre_module_view(module);
  for (uint32_t row = root; row; row = vyre_row_after(view, row, root)) {
    const uint32_t operands[3] = {view->a[row], view->b[row], view->c[row]};
    if (row >= map_rows)
      return fail(module, call, "is not in the map, which has too few elements", row);
    for (uint32_t i = 0; i < 3; i++)
      if (operands[i] < map_rows && !vyre_host_is_known(module, call, "an element of map", map[operands[i]]))
        return false;
  }
  return true;
}

uint32_t
vyre_host_clone(vyre_module *module, uint32_t row, uint32_t before, uint32_t *map, uint32_t map_rows)
{
  static const char call[] = "clone";
  if (!vyre_host_is_placed(module, call, "row", row) || !vyre_host_is_placed(module, call, "before", before) ||
      !vyre_host_is_given(module, call, "map", map != NULL))
    return 0;
  const vyre_view *view = vyre_module_view(module);
  const uint32_t op = VYRE_ROW_OP(view->op[row]);
  if ((vyre_op_infos[op].flags & (VYRE_OP_REGION | VYRE_OP_INTERFACE)) != 0 || op == VYRE_OP_var || op == VYRE_OP_verbatim)
    return (void)fail(module, call, "is there once", row), 0;
  if (vyre_program_of(view, row) != vyre_program_of(view, before))
    return (void)fail(module, call, "would be copied into another program", row), 0;
  for (uint32_t around = view->parent[before]; around; around = view->parent[around])
    if (around == row)
      return (void)fail(module, call, "would be copied into itself", row), 0;
  if (!is_covered(module, call, row, map, map_rows))
    return 0;
  return vyre_row_clone(module, (vyre_row){row}, (vyre_row){before}, map, map_rows).id;
}
