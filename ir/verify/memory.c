/* The verifier: rows that access memory and variables, and the locations that they access.
 *
 * Operands are present and visible.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#define U32  VYRE_TYPE(VYRE_U32, 1)
#define I32  VYRE_TYPE(VYRE_I32, 1)
#define PATH VYRE_TYPE(VYRE_PATH, 1)

/* Returns the type that a path reaches. Reports an operand that is not a path, and returns 0. */
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
  /* otherwise reported at the type */
  return type_id_is_valid(k, type) && (type < 256 || !(k->type_facts[type] & TYPE_BAD)) ? type : 0;
}

/* Returns the scalar, vector or opaque type that a path reaches. Reports any other operand, and returns 0. */
static vyre_type
value_type(verifier *k, uint32_t row, uint32_t path)
{
  vyre_type_id type = path_type(k, row, 'a', path);
  text_buffer text, name;
  if (type >= 256 && vyre_type_get(k->module, type).form == VYRE_FORM_WORDS)
    return VYRE_TYPE(VYRE_OPAQUE, 1);
  if (type >= 256) {
    vyre_verify_report(k, row, "accesses %s, which reaches %s: it must reach a scalar or vector", vyre_verify_name(k, path, &name),
                       vyre_verify_memory_type_text(k, type, &text));
    return 0;
  }
  return (vyre_type)type;
}

/* Returns the access bits of a path: those of its buffer and of the members on the path. */
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
  if (space == VYRE_SPACE_HANDLE) { /* the access bits are those of the image */
    if (writes)
      vyre_verify_report(k, row, "writes to %s, which holds handles", vyre_verify_name(k, buffer, &text));
    return;
  }
  if (writes && (space == VYRE_SPACE_UNIFORM || space == VYRE_SPACE_PUSH || space == VYRE_SPACE_CONSTANT))
    vyre_verify_report(k, row, "writes to %s, which is in %s space", vyre_verify_name(k, buffer, &text),
                       space == VYRE_SPACE_UNIFORM ? "uniform"
                       : space == VYRE_SPACE_PUSH  ? "push"
                                                   : "constant");
  else if (writes && (access & VYRE_ACCESS_NO_WRITE))
    vyre_verify_report(k, row, "writes to %s, which is read only", vyre_verify_name(k, buffer, &text));
  /* some compilers declare memory that they read as write only */
  if (reads && (access & VYRE_ACCESS_NO_READ) && !is_relaxed(k, row))
    vyre_verify_report(k, row, "reads from %s, which is write only", vyre_verify_name(k, buffer, &text));
}

/* Returns the type that one step into `type` reaches. Reports a step that does not exist, and returns 0. */
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
  if (info.form == VYRE_FORM_WORDS) {
    vyre_verify_report(k, row, "steps into %s, which has no parts", vyre_verify_memory_type_text(k, type, &text));
    return 0;
  }
  if (!literal) {
    vyre_verify_report(k, row, "steps into %s by an index row, but members and columns are named by literals",
                       vyre_verify_memory_type_text(k, type, &text));
    return 0;
  }
  if (v->imm[row] >= info.count) {
    vyre_verify_report(k, row, "steps into %s by index %u, but it has %u %s", vyre_verify_memory_type_text(k, type, &text),
                       v->imm[row], info.count, info.form == VYRE_FORM_STRUCT ? "members" : "columns");
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
    vyre_verify_report(k, row, "has the index %s, which is not a 32-bit integer", vyre_verify_show(k, v->b[row], &text));
  if (!literal && v->imm[row])
    vyre_verify_report(k, row, "has both an index row and the literal %u", v->imm[row]);
  if (!type_id_is_valid(k, v->imm_hi[row]))
    k->errors->damaged = true;
  if (type == 0 || (reached = step_type(k, row, type)) == 0 || reached == v->imm_hi[row])
    return;
  vyre_verify_report(k, row, "has the result type %s, but its path leads to %s",
                     vyre_verify_memory_type_text(k, v->imm_hi[row], &text), vyre_verify_memory_type_text(k, reached, &wanted));
}

static void
check_result(verifier *k, uint32_t row, vyre_type wanted)
{
  text_buffer text, want;
  if (wanted && type_of(k, row) != wanted)
    vyre_verify_report(k, row, "has type %s, but the location that it accesses makes it %s",
                       vyre_verify_type_text(type_of(k, row), &text), vyre_verify_type_text(wanted, &want));
}

static void
check_stored(verifier *k, uint32_t row, char which, uint32_t x, vyre_type wanted)
{
  text_buffer text, want;
  if (wanted && type_of(k, x) != wanted)
    vyre_verify_report(k, row, "operand %c is %s, but the location that it accesses has type %s", which,
                       vyre_verify_show(k, x, &text), vyre_verify_type_text(wanted, &want));
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
  vyre_verify_semantics(k, row, v->imm[row]);
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
  else if (type) /* As in GLSL, an atomic may change write-only memory, because its old value is not a load. */
    check_access(k, row, v->a[row], op == VYRE_OP_atomic_load, op != VYRE_OP_atomic_load);
}

/* Checks how a load, store or copy is shared. It needs a scope if it is made available or visible, and must then be coherent. */
static void
check_sharing(verifier *k, uint32_t row, uint32_t makes)
{
  const uint32_t imm = k->view->imm[row], bits = VYRE_ORDER_SEMANTICS(imm);
  const uint32_t source = op_of(k, row) == VYRE_OP_copy && (bits & VYRE_MAKE_VISIBLE) ? VYRE_ORDER_EXECUTION(imm) : 0;
  const bool scoped = (bits & makes & (VYRE_MAKE_AVAILABLE | VYRE_MAKE_VISIBLE)) != 0;
  if ((bits & ~(VYRE_NONTEMPORAL | VYRE_NON_PRIVATE | makes)) || VYRE_ORDER_MEMORY(imm) > 6 || source > 6 ||
      (!scoped && imm != VYRE_ORDER(0, 0, bits)) || (op_of(k, row) != VYRE_OP_copy && VYRE_ORDER_EXECUTION(imm)))
    vyre_verify_report(k, row, "has an order (0x%x) that a '%s' cannot have", imm, vyre_op_infos[op_of(k, row)].text);
  else if ((bits & VYRE_SHARING) && !(VYRE_ROW_FLAGS(k->view->op[row]) & VYRE_ROW_COHERENT))
    vyre_verify_report(k, row, "is shared (order 0x%x), but not coherent", imm);
  if (k->view->imm_hi[row])
    vyre_verify_report(k, row, "has imm_hi 0x%x, which must be 0", k->view->imm_hi[row]);
}

static void
check_copy(verifier *k, uint32_t row)
{
  const vyre_view *v = k->view;
  vyre_type_id to = path_type(k, row, 'a', v->a[row]);
  vyre_type_id from = path_type(k, row, 'b', v->b[row]);
  text_buffer text, other;
  if (op_of(k, row) == VYRE_OP_copy)
    check_sharing(k, row, VYRE_MAKE_AVAILABLE | VYRE_MAKE_VISIBLE);
  else
    vyre_verify_no_payload(k, row);
  if (to == 0 || from == 0)
    return;
  if (to != from)
    vyre_verify_report(k, row, "copies %s to %s, which are different types", vyre_verify_memory_type_text(k, from, &text),
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
    vyre_verify_report(k, row, "takes the length of %s, which is not a runtime array",
                       vyre_verify_memory_type_text(k, type, &text));
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
  case VYRE_OP_load:
    check_result(k, row, value_type(k, row, v->a[row]));
    check_sharing(k, row, VYRE_MAKE_VISIBLE);
    check_access(k, row, v->a[row], true, false);
    break;
  case VYRE_OP_store:
    check_stored(k, row, 'b', v->b[row], value_type(k, row, v->a[row]));
    vyre_verify_opaque_stored(k, row, v->b[row], vyre_path_type(k->module, (vyre_row){v->a[row]}));
    check_sharing(k, row, VYRE_MAKE_AVAILABLE);
    check_access(k, row, v->a[row], false, true);
    break;
  case VYRE_OP_copy:
  case VYRE_OP_async_copy:
    check_copy(k, row);
    break;
  case VYRE_OP_async_wait: /* imm: number of copies that may be pending */
    if (v->imm_hi[row])
      vyre_verify_report(k, row, "has imm_hi 0x%x, which must be 0", v->imm_hi[row]);
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
