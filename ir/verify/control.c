/* The verifier: programs, declarations and control.
 *
 * Operands are present and visible. The walk has checked the positions of rows, and jumps.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include "vyre/view.h"

#include <stdlib.h>

#define U32  VYRE_TYPE(VYRE_U32, 1)
#define PATH VYRE_TYPE(VYRE_PATH, 1)

static void
check_program(verifier *k, uint32_t row)
{
  const vyre_view *v = k->view;
  const uint32_t known = VYRE_PROGRAM_RELAXED | VYRE_PROGRAM_FLOAT_MODES;
  text_buffer text;
  if (type_of(k, row) != 0)
    vyre_verify_report(k, row, "has type %s, but a program has none", vyre_verify_type_text(type_of(k, row), &text));
  if (v->imm[row] & ~known)
    vyre_verify_report(k, row, "has unknown mode bits 0x%x", v->imm[row] & ~known);
  if (v->imm_hi[row])
    vyre_verify_report(k, row, "has imm_hi 0x%x, which must be 0", v->imm_hi[row]);
}

static void
check_workgroup(verifier *k, uint32_t row)
{
  const vyre_view *v = k->view;
  const uint32_t operands[3] = {v->a[row], v->b[row], v->c[row]};
  text_buffer text;
  for (unsigned which = 0; which < 3; which++) {
    uint32_t x = operands[which];
    if (type_of(k, x) != U32)
      vyre_verify_report(k, row, "operand %c is %s, but sizes have type u32", 'a' + (int)which, vyre_verify_show(k, x, &text));
    else if (!vyre_verify_is_constant(k, x))
      vyre_verify_report(k, row, "operand %c is %s, which is not made of constants and spec rows", 'a' + (int)which,
                         vyre_verify_show(k, x, &text));
    else if (op_of(k, x) == VYRE_OP_const && v->imm[x] == 0)
      vyre_verify_report(k, row, "operand %c is 0, but the sides of a workgroup are at least 1", 'a' + (int)which);
  }
  vyre_verify_no_payload(k, row);
}

static void
check_literal_row(verifier *k, uint32_t row)
{
  text_buffer text;
  vyre_type type = type_of(k, row);
  if (op_of(k, row) == VYRE_OP_spec && VYRE_TYPE_LANES(type) != 1)
    vyre_verify_report(k, row, "has type %s, but a spec row is a scalar", vyre_verify_type_text(type, &text));
  if (!vyre_verify_literal_fits(type, bits_of(k, row)))
    vyre_verify_report(k, row, "has the bits 0x%08x%08x, which do not fit %s", k->view->imm_hi[row], k->view->imm[row],
                       vyre_verify_type_text(type, &text));
}

static void
check_initializer(verifier *k, uint32_t row, vyre_type_id type, vyre_space space)
{
  const vyre_buffer_info *info = vyre_buffer_info_of((vyre_module *)k->module, (vyre_row){row});
  uint32_t words = 0;
  if (!info || info->initializer == UINT32_MAX)
    return;
  if (space == VYRE_SPACE_WORKGROUP) {
    if (vyre_module_initializer(k->module, info->initializer, &words))
      vyre_verify_report(k, row, "has an initializer that is not empty, but workgroup memory can only be initialized to zero");
    return;
  }
  if (space != VYRE_SPACE_CONSTANT && space != VYRE_SPACE_PRIVATE) {
    vyre_verify_report(k, row, "has an initializer, which only constant and private buffers have");
    return;
  }
  if (type >= 256 && (k->type_facts[type] & TYPE_HAS_ROW))
    vyre_verify_report(k, row, "has an initializer, but a row gives the length of its type");
  else if (!vyre_module_initializer(k->module, info->initializer, &words))
    vyre_verify_report(k, row, "has initializer %u, which does not exist", info->initializer);
  else if (vyre_verify_words(k, type) != words)
    vyre_verify_report(k, row, "has an initializer of %u words for a type of %llu", words,
                       (unsigned long long)vyre_verify_words(k, type));
}

static bool
is_array_of_blocks(const verifier *k, vyre_type_id type)
{
  vyre_type_info info = vyre_type_get(k->module, type);
  const bool array = info.form == VYRE_FORM_ARRAY;
  while (info.form == VYRE_FORM_ARRAY)
    info = vyre_type_get(k->module, info.element);
  return array && info.form == VYRE_FORM_STRUCT && (info.flags & VYRE_TYPE_BLOCK) != 0;
}

static bool
holds_handles(const verifier *k, vyre_type_id type)
{
  vyre_type_info info = vyre_type_get(k->module, type);
  while (info.form == VYRE_FORM_ARRAY)
    info = vyre_type_get(k->module, info.element);
  return info.form == VYRE_FORM_WORDS;
}

static void
check_unset(verifier *k, uint32_t row, vyre_space space)
{
  const vyre_buffer_info *info = vyre_buffer_info_of((vyre_module *)k->module, (vyre_row){row});
  if (space != VYRE_SPACE_PRIVATE)
    vyre_verify_report(k, row, "is unset, but only private memory may be unset");
  else if (info && info->initializer != UINT32_MAX)
    vyre_verify_report(k, row, "is unset and has an initializer");
  else if (!(k->view->imm[vyre_program_of(k->view, row)] & VYRE_PROGRAM_RELAXED))
    vyre_verify_report(k, row, "is unset in a strict program, where all memory has a value at the start");
}

static void
check_buffer(verifier *k, uint32_t row)
{
  const vyre_view *v = k->view;
  const uint32_t known = 15u | VYRE_ACCESS_NO_WRITE | VYRE_ACCESS_NO_READ | VYRE_ACCESS_COHERENT | VYRE_ACCESS_VOLATILE |
                         VYRE_ACCESS_RESTRICT | VYRE_ACCESS_ALIASED | VYRE_ACCESS_UNSET;
  vyre_type_id type = v->imm[row];
  vyre_space space = VYRE_BUFFER_SPACE(v->imm_hi[row]);
  uint8_t facts;
  text_buffer text;
  if (type_of(k, row) != PATH)
    vyre_verify_report(k, row, "has type %s, but a buffer is a path", vyre_verify_type_text(type_of(k, row), &text));
  if (space >= VYRE_SPACE__COUNT) {
    vyre_verify_report(k, row, "has address space %u, which does not exist", (unsigned)space);
    return;
  }
  if (v->imm_hi[row] & ~known)
    vyre_verify_report(k, row, "has unknown access bits 0x%x", v->imm_hi[row] & ~known);
  if (!type_id_is_valid(k, type)) {
    vyre_verify_report(k, row, "has %s, which memory cannot hold", vyre_verify_memory_type_text(k, type, &text));
    k->errors->damaged = true;
    return;
  }
  facts = type < 256 ? (VYRE_TYPE_KIND((vyre_type)type) == VYRE_BOOL ? TYPE_HAS_BOOL : 0) : k->type_facts[type];
  if (facts & TYPE_BAD)
    return;
  if ((facts & TYPE_HAS_BOOL) && space <= VYRE_SPACE_PUSH)
    vyre_verify_report(k, row, "has bool in its type, which only workgroup, private and constant buffers hold");
  if (space == VYRE_SPACE_HANDLE && !holds_handles(k, type))
    vyre_verify_report(k, row, "has %s, but handle space holds opaque types and arrays of them",
                       vyre_verify_memory_type_text(k, type, &text));
  if ((facts & TYPE_HAS_RUNTIME) && space != VYRE_SPACE_STORAGE && space != VYRE_SPACE_HANDLE &&
      !(space == VYRE_SPACE_UNIFORM && is_array_of_blocks(k, type)))
    vyre_verify_report(k, row, "has a runtime array in its type, which only storage buffers hold");
  if (facts & TYPE_HAS_ROW)
    vyre_verify_type_rows(k, row, type);
  check_initializer(k, row, type, space);
  if (v->imm_hi[row] & VYRE_ACCESS_UNSET)
    check_unset(k, row, space);
}

static uint32_t
label_count(const verifier *k, uint32_t labels)
{
  return labels == 0 ? 0 : op_of(k, labels) == VYRE_OP_tuple ? VYRE_TUPLE_COUNT(k->view->imm[labels]) : 1;
}

/* Adds one label of a case to `keys`. */
static void
add_label(verifier *k, uint32_t case_row, uint32_t label, vyre_type type, uint64_t *keys, uint32_t *count, uint32_t capacity)
{
  text_buffer text, wanted;
  if (op_of(k, label) != VYRE_OP_const || type_of(k, label) != type) {
    vyre_verify_report(k, case_row, "has the label %s, which is not a constant of the selector's type %s",
                       vyre_verify_show(k, label, &text), vyre_verify_type_text(type, &wanted));
    return;
  }
  if (*count < capacity)
    keys[(*count)++] = bits_of(k, label);
}

static void
add_labels(verifier *k, uint32_t case_row, vyre_type type, uint64_t *keys, uint32_t *count, uint32_t capacity)
{
  const vyre_view *v = k->view;
  uint32_t labels = v->a[case_row];
  while (labels && row_is_reached(k, labels) && op_of(k, labels) == VYRE_OP_tuple) {
    uint32_t n = VYRE_TUPLE_COUNT(v->imm[labels]);
    const uint32_t parts[3] = {v->a[labels], v->b[labels], v->c[labels]};
    for (unsigned i = 0; i < 3 && i < n && !(i == 2 && n > 3); i++)
      if (parts[i] && row_is_reached(k, parts[i]))
        add_label(k, case_row, parts[i], type, keys, count, capacity);
    if (n <= 3)
      return;
    labels = parts[2];
    if (!row_is_reached(k, labels) || op_of(k, labels) != VYRE_OP_tuple || VYRE_TUPLE_COUNT(v->imm[labels]) != n - 2)
      return; /* an error of the tuple; decreasing counts end the loop for any contents */
  }
  if (labels && row_is_reached(k, labels))
    add_label(k, case_row, labels, type, keys, count, capacity);
}

static int
by_value(const void *left, const void *right)
{
  const uint64_t *l = left, *r = right;
  return (*l > *r) - (*l < *r);
}

/* Returns the child `c` of a switch after row `from`, if the links are valid. Increasing order numbers end the loop for any
 * contents. */
static uint32_t
next_case(const verifier *k, uint32_t from, uint32_t c)
{
  return c && row_is_reached(k, c) && k->order[c] > k->order[from] ? c : 0;
}

static void
report_duplicate(verifier *k, uint32_t row, vyre_type type, uint64_t label)
{
  uint32_t unused = 64 - vyre_kind_bits(VYRE_TYPE_KIND(type));
  if (vyre_kind_is_signed(VYRE_TYPE_KIND(type)))
    vyre_verify_report(k, row, "has the label %lld twice", (long long)(label << unused) >> unused);
  else
    vyre_verify_report(k, row, "has the label %llu twice", (unsigned long long)label);
}

/* Checks a switch: labels are distinct constants of the selector's type, and there is at most one default. */
static void
check_switch(verifier *k, uint32_t row)
{
  const vyre_view *v = k->view;
  vyre_type type = type_of(k, v->a[row]);
  uint64_t total = 0;
  uint64_t *keys;
  uint32_t count = 0, defaults = 0;
  text_buffer text;
  vyre_verify_hints(k, row);
  if (!vyre_kind_is_int(VYRE_TYPE_KIND(type)) || VYRE_TYPE_LANES(type) != 1) {
    vyre_verify_report(k, row, "has the selector %s, which is not an integer", vyre_verify_show(k, v->a[row], &text));
    return;
  }
  for (uint32_t c = next_case(k, row, v->first[row]); c; c = next_case(k, c, v->next[c])) {
    if (v->a[c] && row_is_reached(k, v->a[c]))
      total += label_count(k, v->a[c]);
    if ((v->imm[c] & VYRE_CASE_DEFAULT) && op_of(k, c) == VYRE_OP_case && ++defaults == 2)
      vyre_verify_report(k, c, "is a second default of its switch");
  }
  if (total > k->rows) {
    vyre_verify_report(k, row, "has %llu labels, which is more than the number of constants", (unsigned long long)total);
    return;
  }
  keys = vyre_verify_alloc(k, total * sizeof *keys);
  if (!keys)
    return;
  for (uint32_t c = next_case(k, row, v->first[row]); c; c = next_case(k, c, v->next[c]))
    if (op_of(k, c) == VYRE_OP_case)
      add_labels(k, c, type, keys, &count, (uint32_t)total);
  qsort(keys, count, sizeof *keys, by_value);
  for (uint32_t i = 1; i < count; i++)
    if (keys[i] == keys[i - 1] && (i < 2 || keys[i - 2] != keys[i]))
      report_duplicate(k, row, type, keys[i]);
  vyre_verify_free(k, keys, total * sizeof *keys);
}

static void
check_case(verifier *k, uint32_t row)
{
  const vyre_view *v = k->view;
  if (v->imm[row] > VYRE_CASE_DEFAULT || v->imm_hi[row])
    vyre_verify_report(k, row, "has the payload 0x%x, 0x%x, but a case has 0 or 1 (default)", v->imm[row], v->imm_hi[row]);
  else if (v->a[row] == 0 && v->imm[row] == 0)
    vyre_verify_report(k, row, "has no label and is not the default: it can never be entered");
}

static bool
is_integer(vyre_type type)
{
  return vyre_kind_is_int(VYRE_TYPE_KIND(type)) && VYRE_TYPE_LANES(type) == 1;
}

static void
check_for(verifier *k, uint32_t row)
{
  const vyre_view *v = k->view;
  vyre_type type = type_of(k, v->a[row]);
  text_buffer text;
  uint32_t body = v->first[row];
  if (!is_integer(type))
    vyre_verify_report(k, row, "operand a is %s, but a loop counts in integers", vyre_verify_show(k, v->a[row], &text));
  else if (type_of(k, v->b[row]) != type || type_of(k, v->c[row]) != type)
    vyre_verify_report(k, row, "counts from, to and in steps of different types (operand %c is %s)",
                       type_of(k, v->b[row]) != type ? 'b' : 'c',
                       vyre_verify_show(k, type_of(k, v->b[row]) != type ? v->b[row] : v->c[row], &text));
  else if (body && row_is_reached(k, body) && op_of(k, body) == VYRE_OP_body && type_of(k, body) != type)
    vyre_verify_report(k, body, "is the index of %s, but has another type", vyre_verify_show(k, row, &text));
}

void
vyre_verify_semantics(verifier *k, uint32_t row, uint32_t order)
{
  uint32_t semantics = VYRE_ORDER_SEMANTICS(order), orders = semantics & 0x1eu;
  if (orders & (orders - 1))
    vyre_verify_report(k, row, "has more than one order (semantics 0x%x)", semantics);
  if (semantics & ~VYRE_SEMANTICS)
    vyre_verify_report(k, row, "has unknown bits in its semantics 0x%x", semantics);
  if (VYRE_ORDER_MEMORY(order) > 5)
    vyre_verify_report(k, row, "has memory scope %u, which does not exist", VYRE_ORDER_MEMORY(order));
  if (k->view->imm_hi[row])
    vyre_verify_report(k, row, "has imm_hi 0x%x, which must be 0", k->view->imm_hi[row]);
}

static void
check_barrier(verifier *k, uint32_t row)
{
  uint32_t order = k->view->imm[row];
  uint32_t execution = VYRE_ORDER_EXECUTION(order);
  if (execution < 1 || execution > 4)
    vyre_verify_report(
        k, row,
        "has execution scope %u; a barrier has Workgroup (2), Device (1) for the whole grid, Subgroup (3), or Invocation "
        "(4) to order only memory",
        execution);
  else if (execution == 4 && (VYRE_ORDER_SEMANTICS(order) & 0x1eu) == 0)
    vyre_verify_report(k, row, "orders nothing: its execution scope is Invocation, and it has neither acquire nor release");
  vyre_verify_semantics(k, row, order);
}

void
vyre_verify_control(verifier *k, uint32_t row)
{
  const vyre_view *v = k->view;
  text_buffer text;
  switch (op_of(k, row)) {
  case VYRE_OP_program:
    check_program(k, row);
    break;
  case VYRE_OP_workgroup:
    check_workgroup(k, row);
    break;
  case VYRE_OP_spec:
  case VYRE_OP_const:
    check_literal_row(k, row);
    break;
  case VYRE_OP_var:
    vyre_verify_opaque_var(k, row);
    break;
  case VYRE_OP_buffer:
    check_buffer(k, row);
    break;
  case VYRE_OP_region: /* imm is the role, which the walk has checked */
    if (v->imm_hi[row])
      vyre_verify_report(k, row, "has imm_hi 0x%x, which must be 0", v->imm_hi[row]);
    break;
  case VYRE_OP_body:
    if (!is_integer(type_of(k, row)))
      vyre_verify_report(k, row, "has %s, but an index is an integer", vyre_verify_type_text(type_of(k, row), &text));
    vyre_verify_no_payload(k, row);
    break;
  case VYRE_OP_case:
    check_case(k, row);
    break;
  case VYRE_OP_switch:
    check_switch(k, row);
    break;
  case VYRE_OP_if:
  case VYRE_OP_breakif:
    if (type_of(k, v->a[row]) != VYRE_TYPE(VYRE_BOOL, 1))
      vyre_verify_report(k, row, "has the condition %s, which is not a bool", vyre_verify_show(k, v->a[row], &text));
    if (op_of(k, row) == VYRE_OP_if)
      vyre_verify_hints(k, row);
    else
      vyre_verify_no_payload(k, row);
    break;
  case VYRE_OP_for:
    check_for(k, row);
    vyre_verify_hints(k, row);
    break;
  case VYRE_OP_loop:
    vyre_verify_hints(k, row);
    break;
  case VYRE_OP_barrier:
    check_barrier(k, row);
    break;
  default: /* block, jumps */
    vyre_verify_no_payload(k, row);
    break;
  }
}
