/* The verifier: errors, operands, types by rule, and the entry points.
 *
 * links.c checks links and positions first and assigns order numbers. Then each row is checked once in id order, so that all errors
 * but those of the walk are found in order. An operand is visible if it precedes its user and its region contains the user, which
 * are two comparisons of order numbers. O(rows), and the cost of sorting a switch's labels and a struct's members.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include "base/grow.h"
#include "analysis/versions.h"
#include "table/result.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- messages ------------------------------------------------------------------------------------------------------------ */

const char *
vyre_verify_name(const verifier *k, uint32_t row, text_buffer *buffer)
{
  const char *name = row < k->rows ? vyre_row_name(k->module, (vyre_row){row}) : NULL;
  if (name && name[0])
    snprintf(buffer->text, sizeof buffer->text, "%s%.120s", op_of(k, row) == VYRE_OP_program ? "@" : "%", name);
  else
    snprintf(buffer->text, sizeof buffer->text, "row %u", row);
  return buffer->text;
}

const char *
vyre_verify_type_text(vyre_type type, text_buffer *buffer)
{
  static const char *const kinds[VYRE_KIND__COUNT] = {
      [VYRE_BOOL] = "bool", [VYRE_I8] = "i8",   [VYRE_U8] = "u8",   [VYRE_I16] = "i16", [VYRE_U16] = "u16", [VYRE_I32] = "i32",
      [VYRE_U32] = "u32",   [VYRE_I64] = "i64", [VYRE_U64] = "u64", [VYRE_F16] = "f16", [VYRE_F32] = "f32", [VYRE_F64] = "f64",
  };
  vyre_kind kind = VYRE_TYPE_KIND(type);
  if (kind == VYRE_VOID)
    return "no type";
  if (kind == VYRE_PATH)
    return "a path";
  if (kind == VYRE_TUPLE)
    return "a tuple";
  if (kind == VYRE_OPAQUE)
    return "an opaque value";
  if (kind >= VYRE_KIND__COUNT)
    snprintf(buffer->text, sizeof buffer->text, "type byte %u, which is not a type", type);
  else if (VYRE_TYPE_LANES(type) > 1)
    snprintf(buffer->text, sizeof buffer->text, "%sx%u", kinds[kind], VYRE_TYPE_LANES(type));
  else
    return kinds[kind];
  return buffer->text;
}

const char *
vyre_verify_memory_type_text(const verifier *k, vyre_type_id type, text_buffer *buffer)
{
  static const char *const forms[] = {"value", "matrix", "array", "struct"};
  vyre_type_info info;
  const char *name;
  if (type < 256)
    return vyre_verify_type_text((vyre_type)type, buffer);
  if (type >= k->type_count)
    return "a type that does not exist";
  info = vyre_type_get(k->module, type);
  name = info.name ? vyre_string_text(k->module, info.name) : "";
  snprintf(buffer->text, sizeof buffer->text, "%s type %u%s%.100s", forms[info.form & 3], type, name[0] ? " @" : "", name);
  return buffer->text;
}

const char *
vyre_verify_show(const verifier *k, uint32_t row, text_buffer *buffer)
{
  text_buffer name, type;
  const char *what;
  if (row >= k->rows)
    return vyre_verify_name(k, row, buffer);
  what = VYRE_TYPE_KIND(type_of(k, row)) == VYRE_VOID && (uint32_t)op_of(k, row) < VYRE_OP__COUNT
             ? vyre_op_infos[op_of(k, row)].text
             : vyre_verify_type_text(type_of(k, row), &type);
  snprintf(buffer->text, sizeof buffer->text, "%.110s (%.40s)", vyre_verify_name(k, row, &name), what ? what : "unknown");
  return buffer->text;
}

static bool
grow_errors(verifier *k)
{
  vyre_verify_errors *list = k->errors;
  return vyre_grow(list->allocator, &list->errors, &list->capacity, (uint64_t)list->capacity + 1, sizeof *list->errors);
}

void
vyre_verify_report(verifier *k, uint32_t row, const char *format, ...)
{
  vyre_verify_errors *list = k->errors;
  char text[1024];
  int prefix = 0;
  size_t length;
  char *message;
  va_list arguments;
  if (k->out_of_memory)
    return;
  if (row) {
    vyre_opcode op = op_of(k, row);
    text_buffer name;
    const char *op_text = (uint32_t)op < VYRE_OP__COUNT && vyre_op_infos[op].text ? vyre_op_infos[op].text : "?";
    prefix = snprintf(text, sizeof text, "%s (%s) ", vyre_verify_name(k, row, &name), op_text);
  }
  va_start(arguments, format);
  vsnprintf(text + prefix, sizeof text - (size_t)prefix, format, arguments);
  va_end(arguments);
  length = strlen(text) + 1;
  if (list->count == list->capacity && !grow_errors(k)) {
    k->out_of_memory = true;
    return;
  }
  message = list->allocator->resize(list->allocator->user, NULL, 0, length);
  if (!message) {
    k->out_of_memory = true;
    return;
  }
  memcpy(message, text, length);
  list->errors[list->count++] = (vyre_verify_error){row, message};
}

void *
vyre_verify_alloc(verifier *k, size_t bytes)
{
  const vyre_allocator *allocator = vyre_module_allocator(k->module);
  void *memory = allocator->resize(allocator->user, NULL, 0, bytes ? bytes : 1);
  if (memory)
    memset(memory, 0, bytes);
  else
    k->out_of_memory = true;
  return memory;
}

void
vyre_verify_free(verifier *k, void *memory, size_t bytes)
{
  const vyre_allocator *allocator = vyre_module_allocator(k->module);
  if (memory)
    allocator->resize(allocator->user, memory, bytes ? bytes : 1, 0);
}

/* ---- operands ------------------------------------------------------------------------------------------------------------ */

static uint32_t
program_of(const verifier *k, uint32_t row)
{
  while (row && op_of(k, row) != VYRE_OP_program)
    row = k->view->parent[row];
  return row;
}

static void
report_invisible(verifier *k, uint32_t row, char which, uint32_t x)
{
  text_buffer name, region;
  uint32_t around = k->view->parent[x];
  vyre_verify_show(k, x, &name);
  if (op_of(k, x) == VYRE_OP_program || program_of(k, x) != program_of(k, row))
    vyre_verify_report(k, row, "operand %c is %s, which is in another program", which, name.text);
  else if (k->order[x] >= k->order[row])
    vyre_verify_report(k, row, "operand %c is %s, which is not before it", which, name.text);
  else
    vyre_verify_report(k, row, "operand %c is %s, which is not visible here: it is in %s", which, name.text,
                       vyre_verify_show(k, around, &region));
}

/* Returns the operands that may be missing, a bit for each. */
static unsigned
optional_operands(vyre_opcode op, unsigned flags)
{
  switch (op) {
  case VYRE_OP_case:
    return 1;
  case VYRE_OP_shuffle:
    return 2;
  case VYRE_OP_tuple:
    return 6;
  case VYRE_OP_join:
  case VYRE_OP_sdot:
  case VYRE_OP_udot:
  case VYRE_OP_sudot:
    return 4;
  case VYRE_OP_opaque:
  case VYRE_OP_opaque_pure:
  case VYRE_OP_opaque_read:
  case VYRE_OP_opaque_write:
    return 7;
  default:
    return flags & VYRE_ROW_IMM ? 2u : 0u;
  }
}

static bool
check_operand(verifier *k, uint32_t row, unsigned which, uint32_t x)
{
  const vyre_view *v = k->view;
  char letter = (char)('a' + which);
  uint32_t around, op;
  text_buffer name;
  if (x >= k->rows) {
    vyre_verify_report(k, row, "operand %c is row %u, but the table has %u rows", letter, x, k->rows);
    return false;
  }
  if (!row_is_reached(k, x)) {
    vyre_verify_report(k, row, "operand %c is row %u, which %s", letter, x, v->op[x] ? "is in no program" : "is dead");
    return false;
  }
  around = v->parent[x];
  if (k->order[x] >= k->order[row] || (around != v->parent[row] && k->order[row] > k->extent[around]) || around == 0) {
    report_invisible(k, row, letter, x);
    return false;
  }
  op = VYRE_ROW_OP(v->op[x]);
  if (VYRE_TYPE_KIND(type_of(k, x)) == VYRE_VOID) {
    if (VYRE_ROW_OP(v->op[row]) == VYRE_OP_leave)
      return true;
    vyre_verify_report(k, row, "operand %c is %s, which has no value", letter, vyre_verify_show(k, x, &name));
    return false;
  }
  if (op == VYRE_OP_var && (which != 0 || (op_of(k, row) != VYRE_OP_get && op_of(k, row) != VYRE_OP_set))) {
    vyre_verify_report(k, row, "operand %c is %s, a var: its value is read by 'get'", letter, vyre_verify_show(k, x, &name));
    return false;
  }
  return true;
}

/* Returns true only if check_operand would report nothing; false decides nothing. For a row that is not reached, the order number
 * less one is not smaller than that of any row. */
static inline bool
operand_is_plain(const verifier *k, uint32_t row, unsigned which, uint32_t x)
{
  const vyre_view *v = k->view;
  const uint32_t here = k->order[row];
  if (x >= k->rows || k->order[x] - 1 >= here - 1)
    return false;
  const uint32_t around = v->parent[x], word = v->op[x];
  if (around == 0 || (around != v->parent[row] && here > k->extent[around]) || VYRE_TYPE_KIND(VYRE_ROW_TYPE(word)) == VYRE_VOID)
    return false;
  return VYRE_ROW_OP(word) != VYRE_OP_var || (which == 0 && (op_of(k, row) == VYRE_OP_get || op_of(k, row) == VYRE_OP_set));
}

/* Returns true only if check_operands would report nothing. */
static inline bool
operands_are_plain(const verifier *k, uint32_t row, const vyre_op_info *info)
{
  const vyre_view *v = k->view;
  const uint32_t a = v->a[row], b = v->b[row], c = v->c[row], count = info->operands, word = v->op[row];
  const bool literal = (VYRE_ROW_FLAGS(word) & VYRE_ROW_IMM) != 0;
  if (a ? count < 1 || !operand_is_plain(k, row, 0, a) : count > 0)
    return false;
  if (b ? count < 2 || literal || !operand_is_plain(k, row, 1, b) : count > 1 && !literal)
    return false;
  return c ? count == 3 && operand_is_plain(k, row, 2, c) : count < 3 || VYRE_ROW_OP(word) == VYRE_OP_join;
}

/* Checks that a row's operands are present and visible. */
static bool
check_operands(verifier *k, uint32_t row, const vyre_op_info *info)
{
  const vyre_view *v = k->view;
  const uint32_t operands[3] = {v->a[row], v->b[row], v->c[row]};
  unsigned flags = VYRE_ROW_FLAGS(v->op[row]);
  bool right = true;
  for (unsigned which = 0; which < 3; which++) {
    uint32_t x = operands[which];
    if (which >= info->operands) {
      if (x == 0)
        continue;
      vyre_verify_report(k, row, "operand %c is row %u, but a '%s' has %u operand%s", 'a' + (int)which, x, info->text,
                         info->operands, info->operands == 1 ? "" : "s");
      right = false;
    } else if (x == 0) {
      if (optional_operands(op_of(k, row), flags) >> which & 1)
        continue;
      vyre_verify_report(k, row, "operand %c is missing", 'a' + (int)which);
      right = false;
    } else if (!check_operand(k, row, which, x)) {
      right = false;
    }
  }
  if ((flags & VYRE_ROW_IMM) && v->b[row]) {
    vyre_verify_report(k, row, "has a literal and an operand b");
    right = false;
  }
  return right;
}

/* ---- types by class and rule --------------------------------------------------------------------------------------------- */

const char *
vyre_verify_class_text(vyre_class klass)
{
  static const char *const texts[] = {
      [VYRE_CLASS_NONE] = "nothing",           [VYRE_CLASS_ANY] = "values",           [VYRE_CLASS_BOOL] = "bool",
      [VYRE_CLASS_UINT] = "unsigned integers", [VYRE_CLASS_SINT] = "signed integers", [VYRE_CLASS_INT] = "integers",
      [VYRE_CLASS_FLOAT] = "floats",           [VYRE_CLASS_NUM] = "numbers",          [VYRE_CLASS_BITS] = "integers or bool",
  };
  return texts[klass];
}

bool
vyre_verify_literal_fits(vyre_type type, uint64_t bits)
{
  uint32_t size = vyre_kind_bits(VYRE_TYPE_KIND(type));
  return size != 0 && (size == 64 || bits >> size == 0);
}

void
vyre_verify_no_payload(verifier *k, uint32_t row)
{
  const vyre_view *v = k->view;
  if (v->imm[row] || v->imm_hi[row])
    vyre_verify_report(k, row, "has a payload (0x%x, 0x%x), but a '%s' without a literal has none", v->imm[row], v->imm_hi[row],
                       vyre_op_infos[op_of(k, row)].text);
}

/* Checks rules SAME and BOOL. */
static void
check_uniform(verifier *k, uint32_t row, const vyre_op_info *info)
{
  const vyre_view *v = k->view;
  uint32_t word = v->op[row];
  const uint32_t operands[3] = {v->a[row], v->b[row], v->c[row]};
  vyre_type type = VYRE_ROW_TYPE(word);
  vyre_type first = VYRE_ROW_TYPE(v->op[operands[0]]);
  text_buffer name, text;
  if (!vyre_class_has((vyre_class)info->klass, VYRE_TYPE_KIND(first))) {
    vyre_verify_report(k, row, "operand a is %s, but a '%s' takes %s", vyre_verify_show(k, operands[0], &name), info->text,
                       vyre_verify_class_text((vyre_class)info->klass));
    return;
  }
  for (unsigned which = 1; which < info->operands; which++)
    if (operands[which] && VYRE_ROW_TYPE(v->op[operands[which]]) != first)
      vyre_verify_report(k, row, "operand %c is %s, but operand a has type %s", 'a' + (int)which,
                         vyre_verify_show(k, operands[which], &name), vyre_verify_type_text(first, &text));
  if (type != result_uniform(info, first))
    vyre_verify_result(k, row);
  if (!(VYRE_ROW_FLAGS(word) & VYRE_ROW_IMM))
    vyre_verify_no_payload(k, row);
  else if (!vyre_verify_literal_fits(VYRE_ROW_TYPE(v->op[operands[0]]), bits_of(k, row)))
    vyre_verify_report(k, row, "has the literal 0x%08x%08x, which does not fit %s", v->imm_hi[row], v->imm[row],
                       vyre_verify_type_text(VYRE_ROW_TYPE(v->op[operands[0]]), &text));
}

static bool
check_flags(verifier *k, uint32_t row, const vyre_op_info *info)
{
  unsigned flags = VYRE_ROW_FLAGS(k->view->op[row]);
  vyre_opcode op = op_of(k, row);
  bool memory =
      vyre_op_is_opaque(op) || (op >= VYRE_OP_load && op <= VYRE_OP_copy) || op == VYRE_OP_async_copy || vyre_op_is_atomic(op);
  uint32_t count;
  if (flags & 128u)
    vyre_verify_report(k, row, "has flag bit 7, which is undefined");
  if ((flags & VYRE_ROW_IMM) && !(info->flags & VYRE_OP_TAKES_IMM)) {
    vyre_verify_report(k, row, "has a literal operand, but a '%s' takes none", info->text);
    return false;
  }
  if ((flags & (VYRE_ROW_VOLATILE | VYRE_ROW_COHERENT)) && !memory)
    vyre_verify_report(k, row, "is %s, but a '%s' does not access memory", flags & VYRE_ROW_VOLATILE ? "volatile" : "coherent",
                       info->text);
  if ((flags & (VYRE_ROW_EXACT | VYRE_ROW_RELAXED | VYRE_ROW_NONUNIFORM)) && op < VYRE_OP_at && op != VYRE_OP_const)
    vyre_verify_report(k, row, "is exact, relaxed or nonuniform (flags 0x%x), but a '%s' computes nothing", flags, info->text);
  if ((flags & VYRE_ROW_DECO) && (!vyre_row_decorations(k->module, (vyre_row){row}, &count) || count == 0))
    vyre_verify_report(k, row, "has the flag for decorations, but the side table has none for it");
  return true;
}

static void
check_row(verifier *k, uint32_t row)
{
  const vyre_view *v = k->view;
  uint32_t word = v->op[row];
  const vyre_op_info *info = &vyre_op_infos[VYRE_ROW_OP(word)];
  vyre_kind kind = VYRE_TYPE_KIND(VYRE_ROW_TYPE(word));
  text_buffer text;
  const uint32_t flags = VYRE_ROW_FLAGS(word);
  const bool plain_flags = flags == 0 || (flags == VYRE_ROW_IMM && (info->flags & VYRE_OP_TAKES_IMM) != 0);
  if (!plain_flags && !check_flags(k, row, info))
    return;
  if (info->rule == VYRE_RULE_VOID) {
    if (VYRE_ROW_TYPE(word) != 0)
      vyre_verify_report(k, row, "has type %s, but a '%s' has none", vyre_verify_type_text(VYRE_ROW_TYPE(word), &text), info->text);
  } else if (!vyre_kind_is_scalar(kind) && info->rule != VYRE_RULE_OWN &&
             !(kind == VYRE_OPAQUE && VYRE_ROW_OP(word) == VYRE_OP_var)) {
    vyre_verify_report(k, row, "has %s, but a '%s' has a value", vyre_verify_type_text(VYRE_ROW_TYPE(word), &text), info->text);
    return;
  }
  if (!operands_are_plain(k, row, info) && !check_operands(k, row, info))
    return;
  if (info->rule == VYRE_RULE_SAME || info->rule == VYRE_RULE_BOOL) {
    check_uniform(k, row, info);
    if (VYRE_ROW_OP(word) >= VYRE_OP_gid && VYRE_ROW_OP(word) != VYRE_OP_cross) /* these ops have no other rules */
      return;
  }
  if (VYRE_ROW_OP(word) < VYRE_OP_at)
    vyre_verify_control(k, row);
  else if (VYRE_ROW_OP(word) < VYRE_OP_gid)
    vyre_verify_memory(k, row);
  else
    vyre_verify_value(k, row);
}

/* ---- limits -------------------------------------------------------------------------------------------------------------- */

/* Checks the lengths of paths over operands in one program of a valid, sealed module.  Overwrites the order numbers of its rows. */
static void
check_depth(verifier *k, uint32_t program, uint32_t end)
{
  const vyre_view *v = k->view;
  uint32_t *length = k->order; /* of the longest path that ends at the row */
  length[0] = 0;
  for (uint32_t row = program; row < end; row++) {
    const uint32_t a = length[v->a[row]], b = length[v->b[row]], c = length[v->c[row]];
    const uint32_t ab = a > b ? a : b;
    length[row] = (ab > c ? ab : c) + 1;
    if (length[row] == k->limits.depth + 1)
      vyre_verify_report(k, row,
                         "depends on a chain of %u rows, each an operand of the next; the limit is %u (keep a value in memory)",
                         length[row], k->limits.depth);
  }
}

/* Checks the lengths of paths.  Programs with at most `depth` rows are skipped. */
static void
check_depths(verifier *k)
{
  const vyre_view *v = k->view;
  if (k->rows <= k->limits.depth || k->errors->count || !vyre_module_is_sealed(k->module))
    return;
  for (uint32_t program = v->first[0]; program; program = v->next[program]) {
    const uint32_t end = v->next[program] ? v->next[program] : k->rows;
    if (end - program > k->limits.depth)
      check_depth(k, program, end);
  }
}

/* ---- entry points -------------------------------------------------------------------------------------------------------- */

static void
verify_all(verifier *k)
{
  size_t rows = k->rows;
  k->order = vyre_verify_alloc(k, rows * sizeof(uint32_t));
  k->extent = vyre_verify_alloc(k, rows * sizeof(uint32_t));
  k->type_count = vyre_type_count(k->module);
  k->type_facts = vyre_verify_alloc(k, k->type_count);
  k->type_words = vyre_verify_alloc(k, k->type_count * sizeof(uint64_t));
  if (!k->out_of_memory)
    vyre_verify_types(k);
  if (!k->out_of_memory)
    vyre_verify_links(k);
  for (uint32_t row = 1; row < k->rows && !k->out_of_memory; row++)
    if (k->order[row] != 0 && k->order[row] != ORDER_UNLINKED)
      check_row(k, row);
  if (!k->out_of_memory)
    check_depths(k);
  vyre_verify_free(k, k->order, rows * sizeof(uint32_t));
  vyre_verify_free(k, k->extent, rows * sizeof(uint32_t));
  vyre_verify_free(k, k->type_facts, k->type_count);
  vyre_verify_free(k, k->type_words, k->type_count * sizeof(uint64_t));
  vyre_verify_free(k, k->constant, rows);
  vyre_verify_free(k, k->type_seen, k->type_count * sizeof(uint32_t));
  vyre_verify_free(k, k->stack, k->stack_capacity * sizeof(uint32_t));
}

/* Compares sort keys: the criterion in the upper half, the index in the list in the lower, so that sorting is stable. */
static int
by_key(const void *left, const void *right)
{
  const uint64_t *l = left, *r = right;
  return (*l > *r) - (*l < *r);
}

static bool
sort_errors(verifier *k)
{
  vyre_verify_errors *list = k->errors;
  bool sorted = true;
  uint64_t *keys;
  vyre_verify_error *copy;
  for (uint32_t i = 1; i < list->count; i++)
    sorted = sorted && list->errors[i - 1].row <= list->errors[i].row;
  if (sorted)
    return true;
  keys = vyre_verify_alloc(k, list->count * sizeof *keys);
  copy = vyre_verify_alloc(k, list->count * sizeof *copy);
  if (keys && copy) {
    for (uint32_t i = 0; i < list->count; i++)
      keys[i] = (uint64_t)list->errors[i].row << 32 | i;
    qsort(keys, list->count, sizeof *keys, by_key);
    memcpy(copy, list->errors, list->count * sizeof *copy);
    for (uint32_t i = 0; i < list->count; i++)
      list->errors[i] = copy[keys[i] & UINT32_MAX];
  }
  vyre_verify_free(k, keys, list->count * sizeof *keys);
  vyre_verify_free(k, copy, list->count * sizeof *copy);
  return !k->out_of_memory;
}

vyre_status
vyre_verify(const vyre_module *module, vyre_verify_errors *errors)
{
  return vyre_verify_within(module, (verify_limits){VYRE_MOST_ROWS, VYRE_MOST_DEPTH, VYRE_MOST_NESTING}, errors);
}

vyre_status
vyre_verify_within(const vyre_module *module, verify_limits limits, vyre_verify_errors *errors)
{
  verifier k = {.module = module, .view = vyre_module_view(module), .errors = errors, .limits = limits};
  vyre_status status;
  vyre_string file;
  uint32_t line, column;
  vyre_verify_errors_free(errors);
  errors->allocator = vyre_module_allocator(module);
  k.rows = k.view->rows;
  verify_all(&k);
  if (k.out_of_memory || !sort_errors(&k)) {
    vyre_verify_errors_free(errors);
    return VYRE_OUT_OF_MEMORY("while verifying");
  }
  if (errors->count == 0)
    return VYRE_OK;
  status = VYRE_ERROR(VYRE_CODE_INPUT, "%s\nFix: correct the program, or the pass that made this row", errors->errors[0].message);
  if (vyre_row_line(module, (vyre_row){errors->errors[0].row}, &file, &line, &column)) {
    const char *path = vyre_string_text(module, file);
    status =
        column ? vyre_status_note(status, "at %s:%u:%u", path, line, column) : vyre_status_note(status, "at %s:%u", path, line);
  }
  if (errors->count > 1)
    status = vyre_status_note(status, "and %u more error%s of the verifier", errors->count - 1, errors->count == 2 ? "" : "s");
  return status;
}

void
vyre_verify_errors_free(vyre_verify_errors *errors)
{
  const vyre_allocator *allocator = errors->allocator;
  for (uint32_t i = 0; i < errors->count; i++)
    allocator->resize(allocator->user, errors->errors[i].message, strlen(errors->errors[i].message) + 1, 0);
  if (errors->errors)
    allocator->resize(allocator->user, errors->errors, errors->capacity * sizeof(*errors->errors), 0);
  *errors = (vyre_verify_errors){0};
}
