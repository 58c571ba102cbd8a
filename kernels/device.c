/* Creates kernels for devices from the programs around phases.  All columns are in one buffer.
 *
 * A step into a column becomes a step into the arena, at the index plus the column's offset in the arena's head.  The offset is
 * loaded once, at the start.  Rows that are reached over operands and parents are in bounds (reach.h).  Other indices are compared
 * with the length in the head.  O(rows).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "device.h"
#include "reach.h"
#include "vyre/ptx.h"
#include "vyre/spirv.h"
#include "vyre/text.h"
#include "vyre/verify.h"

#include <stdio.h>
#include <string.h>

typedef struct lowering {
  const kernel_file *file;
  vyre_module *module;
  const vyre_view *v;
  uint8_t memory[KERNEL_MOST_NAMES]; /* by name, its number in the head */
  kernel_reach reach;
  uint8_t *is_scattered; /* by row, whether the step is the location of an atomic (a scatter) */
  uint8_t *in_bounds;    /* by row, whether the step is surely in bounds */
  /* the current program */
  uint32_t program, end;
  /* The arena, a read-only view of the same memory, the push constants, and the row with the offset of the head. */
  vyre_row arena, read, constants, head;
  vyre_row offsets[KERNEL_MOST_NAMES], lengths[KERNEL_MOST_NAMES];
} lowering;

/* ---- facts about rows ---------------------------------------------------------------------------------------------------- */

static bool
has_name(const lowering *w, uint32_t row, const char *prefix)
{
  const char *name = vyre_row_name(w->module, (vyre_row){row});
  return name && strncmp(name, prefix, strlen(prefix)) == 0;
}

static bool
is_of_set(const lowering *w, uint32_t row, uint32_t set)
{
  return vyre_op_of(w->v, row) == VYRE_OP_buffer && VYRE_BUFFER_SPACE(w->v->imm_hi[row]) == VYRE_SPACE_STORAGE &&
         vyre_buffer_info_of(w->module, (vyre_row){row})->set == set;
}

static bool
is_column(const lowering *w, uint32_t row)
{
  return is_of_set(w, row, KERNEL_MEMORY_SET);
}

static uint32_t
name_of(const lowering *w, uint32_t column)
{
  return vyre_buffer_info_of(w->module, (vyre_row){column})->binding;
}

static bool
has_literal(const lowering *w, uint32_t row)
{
  return (VYRE_ROW_FLAGS(w->v->op[row]) & VYRE_ROW_IMM) != 0;
}

/* ---- steps --------------------------------------------------------------------------------------------------------------- */

static vyre_builder
before(const lowering *w, uint32_t row)
{
  vyre_builder b = {.module = w->module, .program = w->program};
  vyre_builder_before(&b, (vyre_row){row});
  return b;
}

/* Appends a load of a word of the head: the offset of a memory, or its length. */
static vyre_row
word_of_head(lowering *w, vyre_row *known, uint32_t name, uint32_t which)
{
  if (known[name].id)
    return known[name];
  vyre_builder b = before(w, w->v->next[w->head.id]);
  const vyre_row at = vyre_build_at(&b, w->read, vyre_build_imm(&b, VYRE_OP_add, w->head, w->memory[name] * 2u + which));
  return known[name] = vyre_build_load(&b, at, 0);
}

static void
lower_step(lowering *w, uint32_t at)
{
  const vyre_view *v = w->v;
  const uint32_t name = name_of(w, v->a[at]);
  const kernel_kind kind = w->file->names[name].kind;
  const vyre_row to = kind == KERNEL_FACT || kind == KERNEL_TABLE  ? w->constants
                      : v->imm_hi[v->a[at]] & VYRE_ACCESS_NO_WRITE ? w->read
                                                                   : w->arena;
  const vyre_row offset = word_of_head(w, w->offsets, name, 0);
  const bool in_bounds = w->in_bounds[at] != 0, literal = has_literal(w, at);
  const vyre_row length = in_bounds ? VYRE_NONE : word_of_head(w, w->lengths, name, 1);
  vyre_builder b = before(w, at);
  const vyre_row index = literal ? vyre_build_const(&b, VYRE_TYPE(VYRE_U32, 1), v->imm[at]) : (vyre_row){v->b[at]};
  vyre_row where = vyre_build_binary(&b, VYRE_OP_add, offset, index);
  if (!in_bounds) {
    const uint32_t elsewhere = w->is_scattered[at] ? KERNEL_ARENA_NOWHERE : KERNEL_ARENA_ZERO;
    const vyre_row inside = vyre_build_binary(&b, VYRE_OP_ult, index, length);
    where = vyre_build_select(&b, inside, where, vyre_build_const(&b, VYRE_TYPE(VYRE_U32, 1), elsewhere));
  }
  const uint32_t word = VYRE_ROW(VYRE_OP_at, VYRE_ROW_TYPE(v->op[at]), VYRE_ROW_FLAGS(v->op[at]) & ~(uint32_t)VYRE_ROW_IMM);
  vyre_row_rewrite(w->module, (vyre_row){at}, word, 0, v->imm_hi[at], to, where, VYRE_NONE);
}

/* Rewrites a path step into a placeholder buffer (KERNEL_SHARED_SET) to a step into the counter in workgroup memory, which precedes
 * the buffer. */
static void
share_step(const lowering *w, uint32_t at)
{
  const vyre_view *v = w->v;
  vyre_row_rewrite(w->module, (vyre_row){at}, v->op[at], v->imm[at], v->imm_hi[at], (vyre_row){v->prev[v->a[at]]}, VYRE_NONE,
                   VYRE_NONE);
}

static void
find_memory(lowering *w)
{
  w->arena = w->read = w->constants = w->head = VYRE_NONE;
  memset(w->offsets, 0, sizeof w->offsets);
  memset(w->lengths, 0, sizeof w->lengths);
  for (uint32_t row = w->program; row < w->end; row++) {
    const uint32_t op = vyre_op_of(w->v, row);
    if (op == VYRE_OP_buffer && has_name(w, row, "the arena"))
      w->arena.id = row;
    else if (op == VYRE_OP_buffer && has_name(w, row, "unwritten memory"))
      w->read.id = row;
    else if (op == VYRE_OP_buffer && has_name(w, row, "the constants"))
      w->constants.id = row;
    else if (op == VYRE_OP_load && has_name(w, row, "where the head is"))
      w->head.id = row;
    else if (vyre_op_is_atomic(op) && op != VYRE_OP_atomic_load)
      w->is_scattered[w->v->a[row]] = 1;
    kernel_access access;
    if ((op == VYRE_OP_load || op == VYRE_OP_store || vyre_op_is_atomic(op)) && kernel_access_of(&w->reach, row, &access))
      w->in_bounds[w->v->a[row]] = kernel_access_is_in_bounds(&w->reach, &access);
  }
}

/* ---- variables ----------------------------------------------------------------------------------------------------------- */

/* Replaces the get by the joined lanes. */
static void
split_get(const lowering *w, uint32_t get, const vyre_row parts[4], uint32_t lanes)
{
  vyre_builder b = before(w, get);
  vyre_row values[4] = {{0}};
  for (uint32_t k = 0; k < lanes; k++)
    values[k] = vyre_build_get(&b, parts[k]);
  if (lanes == 4) { /* a join has at most three operands */
    const vyre_type pair = VYRE_TYPE(VYRE_TYPE_KIND(VYRE_ROW_TYPE(w->v->op[get])), 2);
    for (uint32_t k = 0; k < 2; k++)
      values[k] = vyre_build(&b, VYRE_OP_join, pair, 0, 0, 0, values[2 * k], values[2 * k + 1], VYRE_NONE);
    values[2] = VYRE_NONE;
  }
  vyre_row_rewrite(w->module, (vyre_row){get}, VYRE_ROW(VYRE_OP_join, VYRE_ROW_TYPE(w->v->op[get]), 0), 0, 0, values[0], values[1],
                   values[2]);
}

static void
split_set(const lowering *w, uint32_t set, const vyre_row parts[4], uint32_t lanes)
{
  vyre_builder b = before(w, set);
  for (uint32_t k = 0; k < lanes; k++)
    vyre_build_set(&b, parts[k], vyre_build_lane(&b, (vyre_row){w->v->b[set]}, k));
  vyre_row_kill(w->module, (vyre_row){set});
}

/* Replaces a variable of several lanes by one for each lane.  Devices have registers of one lane, and lavapipe (Mesa 22.3) loses
 * lanes of a vector that is carried out of a loop. */
static void
split_variable(const lowering *w, uint32_t var)
{
  const vyre_type type = VYRE_ROW_TYPE(w->v->op[var]);
  const uint32_t lanes = VYRE_TYPE_LANES(type);
  vyre_builder b = before(w, var);
  vyre_row parts[4];
  for (uint32_t k = 0; k < lanes; k++)
    parts[k] = vyre_build_var(&b, VYRE_TYPE(VYRE_TYPE_KIND(type), 1));
  for (uint32_t row = var + 1; row < w->end; row++) {
    const uint32_t op = vyre_op_of(w->v, row);
    if (w->v->a[row] == var && op == VYRE_OP_get)
      split_get(w, row, parts, lanes);
    else if (w->v->a[row] == var && op == VYRE_OP_set)
      split_set(w, row, parts, lanes);
  }
  vyre_row_kill(w->module, (vyre_row){var});
}

/* Visits rows from the last to the first, so that a step is changed before the rows that its index depends on.  New rows come after
 * `end`. */
static void
lower_program(lowering *w)
{
  find_memory(w);
  for (uint32_t row = w->end - 1; row > w->program; row--)
    if (vyre_op_of(w->v, row) == VYRE_OP_at && is_column(w, w->v->a[row]))
      lower_step(w, row);
    else if (vyre_op_of(w->v, row) == VYRE_OP_at && is_of_set(w, w->v->a[row], KERNEL_SHARED_SET))
      share_step(w, row);
  for (uint32_t row = w->program; row < w->end; row++)
    if (is_column(w, row) || is_of_set(w, row, KERNEL_SHARED_SET))
      vyre_row_kill(w->module, (vyre_row){row});
    else if (vyre_op_of(w->v, row) == VYRE_OP_var && VYRE_TYPE_LANES(VYRE_ROW_TYPE(w->v->op[row])) > 1)
      split_variable(w, row);
}

static vyre_status
lower(kernel_file *file, vyre_module *module)
{
  const vyre_view *v = vyre_module_view(module);
  const vyre_allocator *allocator = vyre_module_allocator(module);
  const uint32_t rows = v->rows;
  const size_t bytes = 2 * (size_t)rows;
  lowering w = {.file = file, .module = module, .v = v};
  kernel_memory(file, w.memory);
  VYRE_TRY(kernel_reach_create(file, module, &w.reach));
  w.is_scattered = allocator->resize(allocator->user, NULL, 0, bytes);
  if (!w.is_scattered) {
    kernel_reach_free(&w.reach);
    return VYRE_OUT_OF_MEMORY("while making kernels for devices");
  }
  memset(w.is_scattered, 0, bytes);
  w.in_bounds = w.is_scattered + rows;
  uint32_t next;
  for (w.program = v->first[0]; w.program; w.program = next) {
    next = v->next[w.program];
    w.end = next ? next : rows;
    kernel_reach_program(&w.reach, w.program);
    lower_program(&w);
  }
  allocator->resize(allocator->user, w.is_scattered, bytes, 0);
  kernel_reach_free(&w.reach);
  return VYRE_OK;
}

/* ---- the module ---------------------------------------------------------------------------------------------------------- */

/* Makes each program an input of its own, so that it is exported alone. */
static vyre_status
part_programs(kernel_device *device, const char *path)
{
  const vyre_view *v = vyre_module_view(device->module);
  uint32_t number = 0;
  for (uint32_t program = v->first[0]; program; program = v->next[program], number++) {
    const uint32_t first = v->first[program], input = number ? vyre_module_add_input(device->module, path) : 0;
    vyre_program_info_of(device->module, (vyre_row){program})->input = input;
    /* This move to the same place marks the module as changed.  vyre_module_seal links inputs only in a changed module. */
    vyre_row_move_before(device->module, (vyre_row){first}, (vyre_row){v->next[first]});
  }
  VYRE_TRY(vyre_module_status(device->module));
  VYRE_TRY(vyre_module_seal(device->module, NULL));
  vyre_verify_errors errors = {0};
  vyre_status status = vyre_verify(device->module, &errors);
  vyre_verify_errors_free(&errors);
  return status;
}

static void
number_programs(kernel_device *device)
{
  const vyre_view *v = vyre_module_view(device->module);
  uint32_t number = 0;
  for (uint32_t program = v->first[0]; program; program = v->next[program])
    device->kernels[number++].program = program;
}

static vyre_status
create(kernel_file *file, const vyre_allocator *allocator, kernel_expansion *expansion, kernel_device *out)
{
  VYRE_TRY(kernel_expand_functions(file, expansion));
  VYRE_TRY(kernel_add_device_programs(file, &expansion->text, &out->bytes));
  out->kernels = (kernel_device_kernel *)(void *)out->bytes.data;
  out->count = (uint32_t)(out->bytes.size / sizeof *out->kernels);
  out->memory_count = kernel_memory(file, (uint8_t[KERNEL_MOST_NAMES]){0});
  VYRE_TRY(vyre_module_create(allocator, 1u << 22, &out->module));
  VYRE_TRY(vyre_text_parse(out->module, expansion->text.data, expansion->text.size, file->path,
                           (vyre_diagnostics){kernel_emit, expansion}));
  VYRE_TRY(lower(file, out->module));
  return part_programs(out, file->path);
}

vyre_status
kernel_device_create(kernel_file *file, const vyre_allocator *allocator, kernel_optimizer *optimize, kernel_device *out)
{
  kernel_expansion expansion = {0};
  *out = (kernel_device){0};
  vyre_status status = create(file, allocator, &expansion, out);
  if (!status && optimize)
    status = optimize(out->module);
  if (!status)
    number_programs(out);
  kernel_expansion_free(&expansion);
  return status;
}

void
kernel_device_free(kernel_device *device)
{
  vyre_module_destroy(device->module);
  vyre_bytes_free(&device->bytes);
  *device = (kernel_device){0};
}

const kernel_device_kernel *
kernel_device_find(const kernel_device *device, kernel_scope scope, uint32_t index)
{
  for (uint32_t i = 0; i < device->count; i++)
    if (device->kernels[i].scope == scope && device->kernels[i].index == index)
      return &device->kernels[i];
  return NULL;
}

/* ---- the head in the push constants -------------------------------------------------------------------------------------- */

/* The rows of a program that kernel_device_pass_head changes. */
typedef struct head_rows {
  uint32_t program, end;
  uint32_t read, arguments, head; /* rows: two buffers, and the load of the head's offset */
  uint32_t given;                 /* number of other push constants */
} head_rows;

static bool
has_row_name(const vyre_module *module, uint32_t row, const char *name)
{
  const char *own = vyre_row_name(module, (vyre_row){row});
  return own && strcmp(own, name) == 0;
}

static head_rows
find_head(const vyre_module *module, uint32_t program)
{
  const vyre_view *v = vyre_module_view(module);
  head_rows rows = {.program = program, .end = v->next[program] ? v->next[program] : v->rows};
  for (uint32_t row = program; row < rows.end; row++) {
    const uint32_t op = vyre_op_of(v, row);
    if (op == VYRE_OP_buffer && has_row_name(module, row, "unwritten memory"))
      rows.read = row;
    else if (op == VYRE_OP_buffer && has_row_name(module, row, "the arguments"))
      rows.arguments = row;
    else if (op == VYRE_OP_load && has_row_name(module, row, "where the head is"))
      rows.head = row;
  }
  rows.given = rows.arguments ? vyre_type_get(module, v->imm[rows.arguments]).count : 0;
  return rows;
}

/* Returns whether the row loads a word of the head.  Stores the number of the word. */
static bool
loads_head(const vyre_view *v, const head_rows *rows, uint32_t row, uint32_t *out)
{
  const uint32_t path = v->a[row], index = v->b[path];
  if (vyre_op_of(v, row) != VYRE_OP_load || vyre_op_of(v, path) != VYRE_OP_at || v->a[path] != rows->read || index == 0)
    return false;
  const bool is_sum = vyre_op_of(v, index) == VYRE_OP_add && v->a[index] == rows->head && v->b[index] == 0;
  *out = is_sum ? v->imm[index] : 0;
  return index == rows->head || is_sum;
}

static vyre_type_id
add_struct_of_words(vyre_module *module, uint32_t count)
{
  const vyre_type_id word = VYRE_TYPE(VYRE_U32, 1);
  vyre_member members[sizeof(kernel_programs_arguments) / sizeof(uint32_t) + 2 * KERNEL_MOST_NAMES] = {{0}};
  for (uint32_t i = 0; i < count; i++) {
    char name[16];
    snprintf(name, sizeof name, "word%u", i);
    members[i] = (vyre_member){vyre_string_intern(module, name, sizeof name), word, VYRE_OFFSET_AUTO, 0};
  }
  return vyre_type_struct(module, vyre_string_intern(module, "arguments and head", 32), members, count, VYRE_TYPE_BLOCK);
}

/* Appends `words` words to the push constants, and loads the head from there. */
static void
pass_head(vyre_module *module, const head_rows *rows, uint32_t words)
{
  const vyre_view *v = vyre_module_view(module);
  const uint32_t op = v->op[rows->arguments], space = v->imm_hi[rows->arguments];
  const vyre_type_id type = add_struct_of_words(module, rows->given + words);
  uint32_t word;
  vyre_row_rewrite(module, (vyre_row){rows->arguments}, op, type, space, VYRE_NONE, VYRE_NONE, VYRE_NONE);
  for (uint32_t row = rows->program; row < rows->end; row++) {
    if (!loads_head(v, rows, row, &word))
      continue;
    vyre_builder b = {.module = module, .program = rows->program};
    vyre_builder_before(&b, (vyre_row){row});
    const vyre_row at = vyre_build_at_literal(&b, (vyre_row){rows->arguments}, rows->given + word);
    vyre_row_rewrite(module, (vyre_row){row}, v->op[row], 0, 0, at, VYRE_NONE, VYRE_NONE);
  }
}

vyre_status
kernel_device_pass_head(kernel_device *device)
{
  const vyre_view *v = vyre_module_view(device->module);
  for (uint32_t program = v->first[0]; program; program = v->next[program]) {
    const head_rows rows = find_head(device->module, program);
    if (rows.arguments)
      pass_head(device->module, &rows, 2 * device->memory_count);
  }
  VYRE_TRY(vyre_module_status(device->module));
  VYRE_TRY(vyre_module_seal(device->module, NULL));
  number_programs(device);
  return VYRE_OK;
}

/* ---- the forms ----------------------------------------------------------------------------------------------------------- */

/* Removes comments and unnecessary space, because plugins contain the text. */
static vyre_status
append_lean(vyre_bytes *text, vyre_bytes *out)
{
  const char *at = text->data, *end = at + text->size;
  size_t kept = 0;
  while (at < end) {
    const char *line = at, *stop = memchr(at, '\n', (size_t)(end - at));
    at = stop ? stop + 1 : end;
    if (*line == '\n' || strncmp(line, "//", 2) == 0)
      continue;
    for (const char *c = line; c < at; c++)
      if (*c != '\t' && !(*c == ' ' && c > line && c[-1] == ','))
        text->data[kept++] = *c;
  }
  return vyre_bytes_append(out, text->data, kept);
}

static vyre_status
write_ptx(const kernel_device *device, uint32_t kernel, const uint8_t *in_bounds, vyre_bytes *out)
{
  const kernel_device_kernel *k = &device->kernels[kernel];
  const vyre_spec_value width = {KERNEL_WORKGROUP_SPEC, k->scope == KERNEL_OF_ROWS ? KERNEL_WORKGROUP : KERNEL_PTX_PROGRAM};
  const vyre_ptx_options options = {.struct_size = sizeof options,
                                    .name = KERNEL_ENTRY,
                                    .in_bounds = in_bounds,
                                    .specs = &width,
                                    .spec_count = 1,
                                    .most_registers = KERNEL_PTX_REGISTERS};
  const size_t start = out->size;
  vyre_bytes text = {.allocator = vyre_module_allocator(device->module)};
  vyre_status status = vyre_ptx_write(device->module, (vyre_row){k->program}, &options, &text);
  if (!status)
    status = append_lean(&text, out);
  while (!status && (out->size - start) % sizeof(uint32_t))
    status = vyre_bytes_append(out, "\n", 1);
  vyre_bytes_free(&text);
  return status;
}

vyre_status
kernel_device_write(const kernel_device *device, uint32_t kernel, vyre_phase_form form, vyre_bytes *out)
{
  const vyre_view *v = vyre_module_view(device->module);
  vyre_bytes in_bounds = {.allocator = vyre_module_allocator(device->module)};
  vyre_status status = vyre_bytes_append(&in_bounds, v->op, v->rows); /* as many bytes as rows */
  for (uint32_t row = 0; row < v->rows && !status; row++)
    in_bounds.data[row] = vyre_op_of(v, row) == VYRE_OP_buffer;
  const vyre_spirv_options options = {.struct_size = sizeof options, .strip = true, .in_bounds = (const uint8_t *)in_bounds.data};
  if (!status)
    status = form == VYRE_PHASE_PTX ? write_ptx(device, kernel, options.in_bounds, out)
                                    : vyre_spirv_write(device->module, kernel, &options, out);
  vyre_bytes_free(&in_bounds);
  return status;
}
