/* The verifier: structure rows (programs, regions, control, declarations) and memory rows, op by op.
 *
 * Their operands are present and visible when these are called; where rows may stand, and jumps, the walk has checked.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "verify_internal.h"

#include <stdlib.h>

#define U32  VYRE_TYPE(VYRE_U32, 1)
#define I32  VYRE_TYPE(VYRE_I32, 1)
#define PATH VYRE_TYPE(VYRE_PATH, 1)

/* ---- structure and control ----------------------------------------------------------------------------------------------- */

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
    vyre_verify_report(k, row, "has imm_hi 0x%x, which means nothing there", v->imm_hi[row]);
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
      vyre_verify_report(k, row, "operand %c is 0, but no side of a workgroup is", 'a' + (int)which);
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
      vyre_verify_report(k, row, "has an initializer that is not empty: workgroup memory begins as zero, if anything");
    return;
  }
  if (space != VYRE_SPACE_CONSTANT && space != VYRE_SPACE_PRIVATE) {
    vyre_verify_report(k, row, "has an initializer, which only constant and private buffers have");
    return;
  }
  if (type >= 256 && (k->type_facts[type] & TYPE_HAS_ROW))
    vyre_verify_report(k, row, "has an initializer, and a row gives the length of its type");
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
check_buffer(verifier *k, uint32_t row)
{
  const vyre_view *v = k->view;
  const uint32_t known = 15u | VYRE_ACCESS_NO_WRITE | VYRE_ACCESS_NO_READ | VYRE_ACCESS_COHERENT | VYRE_ACCESS_VOLATILE |
                         VYRE_ACCESS_RESTRICT | VYRE_ACCESS_ALIASED;
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
    vyre_verify_report(k, row, "has %s, but handle space holds opaque types and arrays of such",
                       vyre_verify_memory_type_text(k, type, &text));
  if ((facts & TYPE_HAS_RUNTIME) && space != VYRE_SPACE_STORAGE && space != VYRE_SPACE_HANDLE &&
      !(space == VYRE_SPACE_UNIFORM && is_array_of_blocks(k, type)))
    vyre_verify_report(k, row, "has a runtime array in its type, which only storage buffers hold");
  if (facts & TYPE_HAS_ROW)
    vyre_verify_type_rows(k, row, type);
  check_initializer(k, row, type, space);
}

static uint32_t
label_count(const verifier *k, uint32_t labels)
{
  return labels == 0 ? 0 : op_of(k, labels) == VYRE_OP_tuple ? VYRE_TUPLE_COUNT(k->view->imm[labels]) : 1;
}

/* One label of a case, put into `keys`: bits, and the place in the switch. */
static void
take_label(verifier *k, uint32_t case_row, uint32_t label, vyre_type type, uint64_t *keys, uint32_t *count, uint32_t capacity)
{
  text_buffer text, wanted;
  if (op_of(k, label) != VYRE_OP_const || type_of(k, label) != type) {
    vyre_verify_report(k, case_row, "has the label %s, which is no constant of the selector's type %s",
                       vyre_verify_show(k, label, &text), vyre_verify_type_text(type, &wanted));
    return;
  }
  if (*count < capacity)
    keys[(*count)++] = bits_of(k, label);
}

static void
take_labels(verifier *k, uint32_t case_row, vyre_type type, uint64_t *keys, uint32_t *count, uint32_t capacity)
{
  const vyre_view *v = k->view;
  uint32_t labels = v->a[case_row];
  while (labels && row_is_reached(k, labels) && op_of(k, labels) == VYRE_OP_tuple) {
    uint32_t n = VYRE_TUPLE_COUNT(v->imm[labels]);
    const uint32_t parts[3] = {v->a[labels], v->b[labels], v->c[labels]};
    for (unsigned i = 0; i < 3 && i < n && !(i == 2 && n > 3); i++)
      if (parts[i] && row_is_reached(k, parts[i]))
        take_label(k, case_row, parts[i], type, keys, count, capacity);
    if (n <= 3)
      return;
    labels = parts[2];
    if (!row_is_reached(k, labels) || op_of(k, labels) != VYRE_OP_tuple || VYRE_TUPLE_COUNT(v->imm[labels]) != n - 2)
      return; /* an error of the tuple; counts that go down end the loop whatever the rows hold */
  }
  if (labels && row_is_reached(k, labels))
    take_label(k, case_row, labels, type, keys, count, capacity);
}

static int
by_value(const void *left, const void *right)
{
  const uint64_t *l = left, *r = right;
  return (*l > *r) - (*l < *r);
}

/* The child `c` of a switch behind row `from`, if the links hold: order numbers that rise end the loop whatever the columns hold.
 */
static uint32_t
next_case(const verifier *k, uint32_t from, uint32_t c)
{
  return c && row_is_reached(k, c) && k->order[c] > k->order[from] ? c : 0;
}

static void
report_twice(verifier *k, uint32_t row, vyre_type type, uint64_t label)
{
  uint32_t unused = 64 - vyre_kind_bits(VYRE_TYPE_KIND(type));
  if (vyre_kind_is_signed(VYRE_TYPE_KIND(type)))
    vyre_verify_report(k, row, "has the label %lld twice", (long long)(label << unused) >> unused);
  else
    vyre_verify_report(k, row, "has the label %llu twice", (unsigned long long)label);
}

/* All labels of a switch: constants of the selector's type, each once; one default at most. */
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
    vyre_verify_report(k, row, "has the selector %s, which is no integer", vyre_verify_show(k, v->a[row], &text));
    return;
  }
  for (uint32_t c = next_case(k, row, v->first[row]); c; c = next_case(k, c, v->next[c])) {
    if (v->a[c] && row_is_reached(k, v->a[c]))
      total += label_count(k, v->a[c]);
    if ((v->imm[c] & VYRE_CASE_DEFAULT) && op_of(k, c) == VYRE_OP_case && ++defaults == 2)
      vyre_verify_report(k, c, "is a second default of its switch");
  }
  if (total > k->rows) {
    vyre_verify_report(k, row, "has %llu labels, more than there are constants", (unsigned long long)total);
    return;
  }
  keys = vyre_verify_alloc(k, total * sizeof *keys);
  if (!keys)
    return;
  for (uint32_t c = next_case(k, row, v->first[row]); c; c = next_case(k, c, v->next[c]))
    if (op_of(k, c) == VYRE_OP_case)
      take_labels(k, c, type, keys, &count, (uint32_t)total);
  qsort(keys, count, sizeof *keys, by_value);
  for (uint32_t i = 1; i < count; i++)
    if (keys[i] == keys[i - 1] && (i < 2 || keys[i - 2] != keys[i]))
      report_twice(k, row, type, keys[i]);
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
    vyre_verify_report(k, body, "is the index of %s and has not its type", vyre_verify_show(k, row, &text));
}

static void
check_semantics(verifier *k, uint32_t row, uint32_t order)
{
  uint32_t semantics = VYRE_ORDER_SEMANTICS(order), orders = semantics & 0x1eu;
  if (orders & (orders - 1))
    vyre_verify_report(k, row, "has more than one order (semantics 0x%x)", semantics);
  if (semantics & ~VYRE_SEMANTICS)
    vyre_verify_report(k, row, "has unknown bits in its semantics 0x%x", semantics);
  if (VYRE_ORDER_MEMORY(order) > 5)
    vyre_verify_report(k, row, "has memory scope %u, which does not exist", VYRE_ORDER_MEMORY(order));
  if (k->view->imm_hi[row])
    vyre_verify_report(k, row, "has imm_hi 0x%x, which means nothing there", k->view->imm_hi[row]);
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
        "(4) for memory alone",
        execution);
  else if (execution == 4 && (VYRE_ORDER_SEMANTICS(order) & 0x1eu) == 0)
    vyre_verify_report(k, row, "orders nothing: it is for memory alone and has no acquire or release");
  check_semantics(k, row, order);
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
  case VYRE_OP_region: /* imm: its role, which the walk checked */
    if (v->imm_hi[row])
      vyre_verify_report(k, row, "has imm_hi 0x%x, which means nothing there", v->imm_hi[row]);
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
      vyre_verify_report(k, row, "has the condition %s, which is no bool", vyre_verify_show(k, v->a[row], &text));
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

/* ---- memory -------------------------------------------------------------------------------------------------------------- */

/* The type that a path reaches; 0 if the operand is no path, which is reported. */
static vyre_type_id
path_type(verifier *k, uint32_t row, char which, uint32_t path)
{
  text_buffer text;
  vyre_type_id type;
  if (op_of(k, path) != VYRE_OP_buffer && op_of(k, path) != VYRE_OP_at) {
    vyre_verify_report(k, row, "operand %c is %s, but a path is a buffer or an 'at' row", which, vyre_verify_show(k, path, &text));
    return 0;
  }
  type = op_of(k, path) == VYRE_OP_buffer ? k->view->imm[path] : k->view->imm_hi[path];
  return type_id_is_valid(k, type) && (type < 256 || !(k->type_facts[type] & TYPE_BAD)) ? type : 0; /* else reported there */
}

/* The same, where only a scalar or vector will do. */
static vyre_type
value_type(verifier *k, uint32_t row, uint32_t path)
{
  vyre_type_id type = path_type(k, row, 'a', path);
  text_buffer text, name;
  if (type >= 256 && vyre_type_get(k->module, type).form == VYRE_FORM_WORDS)
    return VYRE_TYPE(VYRE_OPAQUE, 1);
  if (type >= 256) {
    vyre_verify_report(k, row, "accesses %s, which reaches %s: only a scalar or vector can be", vyre_verify_name(k, path, &name),
                       vyre_verify_memory_type_text(k, type, &text));
    return 0;
  }
  return (vyre_type)type;
}

/* The access bits of a path: its buffer's, and those of the members on its way. */
static uint32_t
path_access(const verifier *k, uint32_t path, uint32_t *out_buffer)
{
  const vyre_view *v = k->view;
  uint32_t buffer = op_of(k, path) == VYRE_OP_buffer ? path : k->extent[path];
  uint32_t access;
  *out_buffer = buffer;
  if (buffer == 0)
    return 0;
  access = v->imm_hi[buffer];
  if (v->imm[buffer] < 256 || v->imm[buffer] >= k->type_count || !(k->type_facts[v->imm[buffer]] & TYPE_HAS_ACCESS))
    return access;
  for (; op_of(k, path) == VYRE_OP_at; path = v->a[path]) { /* as many steps as types are nested */
    uint32_t outer = v->a[path];
    vyre_type_id type;
    vyre_type_info info;
    if (!row_is_reached(k, outer) || k->order[outer] >= k->order[path])
      break; /* an error of that row */
    type = op_of(k, outer) == VYRE_OP_buffer ? v->imm[outer] : v->imm_hi[outer];
    if (type < 256 || type >= k->type_count)
      continue;
    info = vyre_type_get(k->module, type);
    if (info.form == VYRE_FORM_STRUCT && v->imm[path] < info.count)
      access |= info.members[v->imm[path]].access;
  }
  return access;
}

static bool
is_relaxed(const verifier *k, uint32_t row)
{
  while (op_of(k, row) != VYRE_OP_program && k->view->parent[row])
    row = k->view->parent[row];
  return (k->view->imm[row] & VYRE_PROGRAM_RELAXED) != 0;
}

static void
check_access(verifier *k, uint32_t row, uint32_t path, bool reads, bool writes)
{
  uint32_t buffer;
  uint32_t access = path_access(k, path, &buffer);
  vyre_space space = VYRE_BUFFER_SPACE(access);
  text_buffer text;
  if (buffer == 0)
    return;
  vyre_verify_name(k, buffer, &text);
  if (space == VYRE_SPACE_HANDLE) { /* the access bits are those of the image */
    if (writes)
      vyre_verify_report(k, row, "writes to %s, which holds handles", text.text);
    return;
  }
  if (writes && (space == VYRE_SPACE_UNIFORM || space == VYRE_SPACE_PUSH || space == VYRE_SPACE_CONSTANT))
    vyre_verify_report(k, row, "writes to %s, which is in %s space", text.text,
                       space == VYRE_SPACE_UNIFORM ? "uniform"
                       : space == VYRE_SPACE_PUSH  ? "push"
                                                   : "constant");
  else if (writes && (access & VYRE_ACCESS_NO_WRITE))
    vyre_verify_report(k, row, "writes to %s, which is read only", text.text);
  if (reads && (access & VYRE_ACCESS_NO_READ) && !is_relaxed(k, row)) /* some compilers declare that of what they read */
    vyre_verify_report(k, row, "reads from %s, which is write only", text.text);
}

/* The type that one step into `type` reaches; 0: there is no such step, which is reported. */
static vyre_type_id
step_type(verifier *k, uint32_t row, vyre_type_id type)
{
  const vyre_view *v = k->view;
  bool literal = (VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM) != 0;
  text_buffer text;
  vyre_type_info info;
  if (type < 256) {
    if (VYRE_TYPE_LANES((vyre_type)type) > 1)
      return VYRE_TYPE(VYRE_TYPE_KIND((vyre_type)type), 1);
    vyre_verify_report(k, row, "steps into %s, which has no parts", vyre_verify_memory_type_text(k, type, &text));
    return 0;
  }
  info = vyre_type_get(k->module, type);
  if (info.form == VYRE_FORM_ARRAY)
    return info.element;
  vyre_verify_memory_type_text(k, type, &text);
  if (info.form == VYRE_FORM_WORDS) {
    vyre_verify_report(k, row, "steps into %s, which has no parts", text.text);
    return 0;
  }
  if (!literal) {
    vyre_verify_report(k, row, "steps into %s by an index row, but members and columns are named by literals", text.text);
    return 0;
  }
  if (v->imm[row] >= info.count) {
    vyre_verify_report(k, row, "steps into %s by index %u, but it has %u %s", text.text, v->imm[row], info.count,
                       info.form == VYRE_FORM_STRUCT ? "members" : "columns");
    return 0;
  }
  return info.form == VYRE_FORM_STRUCT ? info.members[v->imm[row]].type : info.element;
}

static void
check_at(verifier *k, uint32_t row)
{
  const vyre_view *v = k->view;
  bool literal = (VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM) != 0;
  vyre_type_id type = path_type(k, row, 'a', v->a[row]), reached;
  text_buffer text, wanted;
  if (type_of(k, row) != PATH)
    vyre_verify_report(k, row, "has type %s, but an 'at' is a path", vyre_verify_type_text(type_of(k, row), &text));
  if (!literal && type_of(k, v->b[row]) != U32 && type_of(k, v->b[row]) != I32)
    vyre_verify_report(k, row, "has the index %s, which is no 32-bit integer", vyre_verify_show(k, v->b[row], &text));
  if (!literal && v->imm[row])
    vyre_verify_report(k, row, "has both an index row and the literal %u", v->imm[row]);
  if (!type_id_is_valid(k, v->imm_hi[row]))
    k->errors->damaged = true;
  if (type == 0 || (reached = step_type(k, row, type)) == 0 || reached == v->imm_hi[row])
    return;
  vyre_verify_report(k, row, "reaches %s by its own account, but its path leads to %s",
                     vyre_verify_memory_type_text(k, v->imm_hi[row], &text), vyre_verify_memory_type_text(k, reached, &wanted));
}

static void
check_result(verifier *k, uint32_t row, vyre_type wanted)
{
  text_buffer text, want;
  if (wanted && type_of(k, row) != wanted)
    vyre_verify_report(k, row, "has type %s, but what it accesses makes it %s", vyre_verify_type_text(type_of(k, row), &text),
                       vyre_verify_type_text(wanted, &want));
}

static void
check_stored(verifier *k, uint32_t row, char which, uint32_t x, vyre_type wanted)
{
  text_buffer text, want;
  if (wanted && type_of(k, x) != wanted)
    vyre_verify_report(k, row, "operand %c is %s, but what it accesses has type %s", which, vyre_verify_show(k, x, &text),
                       vyre_verify_type_text(wanted, &want));
}

static bool
check_atomic_type(verifier *k, uint32_t row, vyre_type type)
{
  const vyre_op_info *info = &vyre_op_infos[op_of(k, row)];
  const vyre_kind kind = VYRE_TYPE_KIND(type);
  text_buffer text;
  if (VYRE_TYPE_LANES(type) > 1 || !vyre_class_has(VYRE_CLASS_NUM, kind) || (vyre_kind_is_int(kind) && vyre_kind_bits(kind) < 32)) {
    vyre_verify_report(k, row, "accesses %s, but atomics are on scalars: integers of 32 and 64 bits, and floats",
                       vyre_verify_type_text(type, &text));
    return false;
  }
  if (!vyre_class_has((vyre_class)info->klass, kind))
    vyre_verify_report(k, row, "accesses %s, but an '%s' is on %s", vyre_verify_type_text(type, &text), info->text,
                       info->klass == VYRE_CLASS_FLOAT ? "floats" : "integers");
  return true;
}

static void
check_atomic(verifier *k, uint32_t row)
{
  const vyre_view *v = k->view;
  vyre_opcode op = op_of(k, row);
  vyre_type type = value_type(k, row, v->a[row]);
  uint32_t buffer;
  text_buffer text;
  check_semantics(k, row, v->imm[row]);
  if (VYRE_ORDER_EXECUTION(v->imm[row]) != 0)
    vyre_verify_report(k, row, "has execution scope %u, but atomics have none", VYRE_ORDER_EXECUTION(v->imm[row]));
  if (type && !check_atomic_type(k, row, type))
    return;
  if (op != VYRE_OP_atomic_store)
    check_result(k, row, type);
  if (vyre_op_infos[op].operands > 1)
    check_stored(k, row, 'b', v->b[row], type);
  if (vyre_op_infos[op].operands > 2)
    check_stored(k, row, 'c', v->c[row], type);
  path_access(k, v->a[row], &buffer);
  if (type && buffer && VYRE_BUFFER_SPACE(v->imm_hi[buffer]) != VYRE_SPACE_STORAGE &&
      VYRE_BUFFER_SPACE(v->imm_hi[buffer]) != VYRE_SPACE_WORKGROUP)
    vyre_verify_report(k, row, "accesses %s, but atomics are on storage and workgroup buffers", vyre_verify_name(k, buffer, &text));
  else if (type) /* what is write only may be changed by an atomic, whose old value is no load: GLSL has it so */
    check_access(k, row, v->a[row], op == VYRE_OP_atomic_load, op != VYRE_OP_atomic_load);
}

static void
check_copy(verifier *k, uint32_t row)
{
  const vyre_view *v = k->view;
  vyre_type_id to = path_type(k, row, 'a', v->a[row]);
  vyre_type_id from = path_type(k, row, 'b', v->b[row]);
  text_buffer text, other;
  vyre_verify_no_payload(k, row);
  if (to == 0 || from == 0)
    return;
  if (to != from)
    vyre_verify_report(k, row, "copies %s to %s: they are not of one type", vyre_verify_memory_type_text(k, from, &text),
                       vyre_verify_memory_type_text(k, to, &other));
  else if (to >= 256 && (k->type_facts[to] & TYPE_HAS_RUNTIME))
    vyre_verify_report(k, row, "copies %s, which has no length of its own", vyre_verify_memory_type_text(k, to, &text));
  check_access(k, row, v->a[row], false, true);
  check_access(k, row, v->b[row], true, false);
}

static void
check_length(verifier *k, uint32_t row)
{
  const vyre_view *v = k->view;
  vyre_type_id type = path_type(k, row, 'a', v->a[row]);
  text_buffer text;
  vyre_verify_no_payload(k, row);
  check_result(k, row, U32);
  if (type && (type < 256 || !(vyre_type_get(k->module, type).flags & VYRE_TYPE_RUNTIME)))
    vyre_verify_report(k, row, "takes the length of %s, which is no runtime array", vyre_verify_memory_type_text(k, type, &text));
}

static void
check_var_access(verifier *k, uint32_t row)
{
  const vyre_view *v = k->view;
  text_buffer text;
  if (op_of(k, v->a[row]) != VYRE_OP_var)
    vyre_verify_report(k, row, "operand a is %s, but a '%s' names a var", vyre_verify_show(k, v->a[row], &text),
                       vyre_op_infos[op_of(k, row)].text);
  else if (op_of(k, row) == VYRE_OP_get)
    check_result(k, row, type_of(k, v->a[row]));
  else {
    check_stored(k, row, 'b', v->b[row], type_of(k, v->a[row]));
    vyre_verify_opaque_stored(k, row, v->b[row], vyre_row_type_id(k->module, (vyre_row){v->a[row]}));
  }
}

void
vyre_verify_memory(verifier *k, uint32_t row)
{
  const vyre_view *v = k->view;
  switch (op_of(k, row)) {
  case VYRE_OP_at:
    check_at(k, row);
    break;
  case VYRE_OP_load: /* imm_hi is its version, or a stale one */
    check_result(k, row, value_type(k, row, v->a[row]));
    if (v->imm[row])
      vyre_verify_report(k, row, "has an order (0x%x), but a plain load has none", v->imm[row]);
    check_access(k, row, v->a[row], true, false);
    break;
  case VYRE_OP_store:
    check_stored(k, row, 'b', v->b[row], value_type(k, row, v->a[row]));
    vyre_verify_opaque_stored(k, row, v->b[row], vyre_path_type(k->module, (vyre_row){v->a[row]}));
    vyre_verify_no_payload(k, row);
    check_access(k, row, v->a[row], false, true);
    break;
  case VYRE_OP_copy:
  case VYRE_OP_async_copy:
    check_copy(k, row);
    break;
  case VYRE_OP_async_wait: /* imm: how many copies need not be done */
    if (v->imm_hi[row])
      vyre_verify_report(k, row, "has imm_hi 0x%x, which means nothing there", v->imm_hi[row]);
    break;
  case VYRE_OP_length:
    check_length(k, row);
    break;
  case VYRE_OP_get:
    if (v->imm[row])
      vyre_verify_report(k, row, "has a payload (0x%x), but a 'get' has none", v->imm[row]);
    check_var_access(k, row);
    break;
  case VYRE_OP_set:
    vyre_verify_no_payload(k, row);
    check_var_access(k, row);
    break;
  default:
    check_atomic(k, row);
    break;
  }
}
