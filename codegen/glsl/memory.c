/* Memory: paths, loads, stores, copies, atomics, barriers.
 *
 * A strict program makes an access only if each index is in bounds.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "glsl.h"

static bool
is_literal(const glsl *g, uint32_t at)
{
  return (VYRE_ROW_FLAGS(g->v->op[at]) & VYRE_ROW_IMM) != 0 || glsl_is(g, g->v->b[at], VYRE_OP_const);
}

static uint32_t
literal_index(const glsl *g, uint32_t at)
{
  return VYRE_ROW_FLAGS(g->v->op[at]) & VYRE_ROW_IMM ? g->v->imm[at] : g->v->imm[g->v->b[at]];
}

static vyre_type_id
type_of(const glsl *g, uint32_t path)
{
  return vyre_path_type(g->module, (vyre_row){path});
}

static uint32_t
buffer_of(const glsl *g, uint32_t path)
{
  return vyre_path_buffer(g->module, (vyre_row){path}).id;
}

/* Writes a step after the path that it continues.  Members of a block without a name are global names. */
static void
step(glsl *g, uint32_t at)
{
  const vyre_type_id type = type_of(g, g->v->a[at]);
  const vyre_type_info info = vyre_type_get(g->module, type);
  if (info.form == VYRE_FORM_STRUCT) {
    const bool bare = glsl_is(g, g->v->a[at], VYRE_OP_buffer) && glsl_is_anonymous(g, g->v->a[at]);
    glsl_put(g, "%s%s", bare ? "" : ".", glsl_member_name(g, type, literal_index(g, at)));
  } else if (info.form == VYRE_FORM_VALUE && is_literal(g, at)) {
    glsl_put(g, ".%c", "xyzw"[literal_index(g, at) & 3u]);
  } else if (is_literal(g, at)) {
    glsl_put(g, "[%u]", literal_index(g, at));
  } else {
    const bool differs = (VYRE_ROW_FLAGS(g->v->op[at]) & VYRE_ROW_NONUNIFORM) != 0;
    if (differs)
      glsl_need(g, GLSL_NONUNIFORM);
    glsl_put(g, differs ? "[nonuniformEXT(" : "[");
    glsl_value(g, g->v->b[at], GLSL_COMMA);
    glsl_put(g, differs ? ")]" : "]");
  }
}

void
glsl_path(glsl *g, uint32_t path)
{
  if (glsl_is(g, path, VYRE_OP_at)) { /* recurses as deep as types nest */
    glsl_path(g, g->v->a[path]);
    step(g, path);
  } else if (!glsl_is_anonymous(g, path)) {
    glsl_put(g, "%s", glsl_row_name(g, path));
  }
}

/* Writes member k of the struct at the path. */
static void
member_of(glsl *g, uint32_t path, uint32_t k)
{
  const bool bare = glsl_is(g, path, VYRE_OP_buffer) && glsl_is_anonymous(g, path);
  glsl_path(g, path);
  glsl_put(g, "%s%s", bare ? "" : ".", glsl_member_name(g, type_of(g, path), k));
}

/* ---- bounds ---- */

/* Writes "i < 4u && " for an index that may be out of bounds.  Returns whether the condition has terms. */
static bool
put_bound(glsl *g, uint32_t at, bool any)
{
  const vyre_type_info info = vyre_type_get(g->module, type_of(g, g->v->a[at]));
  const bool counted = info.form == VYRE_FORM_ARRAY && info.count && !info.count_row;
  const uint32_t count = info.form == VYRE_FORM_VALUE ? VYRE_TYPE_LANES((vyre_type)info.element) : info.count;
  if (info.form == VYRE_FORM_STRUCT || info.form == VYRE_FORM_MATRIX)
    return any;
  if (is_literal(g, at) && (counted || info.form == VYRE_FORM_VALUE) && literal_index(g, at) < count)
    return any;
  glsl_put(g, any ? " && " : "");
  if (is_literal(g, at)) {
    glsl_put(g, "%uu", literal_index(g, at));
  } else {
    const bool cast = VYRE_TYPE_KIND(glsl_row_type(g, g->v->b[at])) != VYRE_U32;
    glsl_put(g, cast ? "uint(" : "");
    glsl_value(g, g->v->b[at], cast ? GLSL_COMMA : GLSL_SHIFT);
    glsl_put(g, cast ? ")" : "");
  }
  if (counted || info.form == VYRE_FORM_VALUE) {
    glsl_put(g, " < %uu", count);
    return true;
  }
  if (info.count_row) {
    glsl_put(g, " < uint(%s)", glsl_row_name(g, info.count_row));
    return true;
  }
  if (glsl_is(g, g->v->a[at], VYRE_OP_buffer) && vyre_buffer_descriptor_steps(g->module, g->v->a[at]))
    glsl_fail(g, g->v->a[at],
              "GLSL cannot query how many buffers an array of open length has, as a strict program must\n"
              "Fix: give it a length");
  glsl_put(g, " < uint(");
  glsl_path(g, g->v->a[at]);
  glsl_put(g, ".length())");
  return true;
}

/* Writes the condition under which the access is in bounds.  Returns false and writes nothing if it always is. */
static bool
put_bounds(glsl *g, uint32_t path, bool any)
{
  for (; g->strict && glsl_is(g, path, VYRE_OP_at); path = g->v->a[path])
    any = put_bound(g, path, any);
  return any;
}

/* Returns whether a literal index is out of bounds, which GLSL rejects.  Such an access is not written: it reads zero, and is
 * undefined in a relaxed program. */
static bool
is_outside(const glsl *g, uint32_t path)
{
  for (; glsl_is(g, path, VYRE_OP_at); path = g->v->a[path]) {
    const vyre_type_info info = vyre_type_get(g->module, type_of(g, g->v->a[path]));
    const uint32_t lanes = VYRE_TYPE_LANES((vyre_type)info.element);
    if (!is_literal(g, path))
      continue;
    if (info.form == VYRE_FORM_VALUE
            ? literal_index(g, path) >= lanes
            : info.form == VYRE_FORM_ARRAY && literal_index(g, path) >= (info.count ? info.count : 1u << 31))
      return true; /* no buffer has 2^31 elements, and GLSL accepts no such index */
  }
  return false;
}

/* Writes "if (i < 4u) ", the condition of a guarded statement.  Returns false if the access needs no guard. */
static bool
guard(glsl *g, uint32_t path, uint32_t other)
{
  const size_t start = g->out->size;
  glsl_put(g, "if (");
  bool any = put_bounds(g, path, false);
  if (other)
    any = put_bounds(g, other, any);
  if (any)
    glsl_put(g, ") ");
  else if (!g->status)
    g->out->size = start;
  return any;
}

/* ---- loads and stores ---- */

void
glsl_load(glsl *g, uint32_t row, glsl_precedence least)
{
  const uint32_t path = g->v->a[row];
  const size_t start = g->out->size;
  const bool parenthesis = least > GLSL_COMMA;
  if (is_outside(g, path)) {
    glsl_literal(g, glsl_row_type(g, row), 0);
    return;
  }
  glsl_put(g, parenthesis ? "(" : "");
  const bool guarded = put_bounds(g, path, false);
  if (guarded)
    glsl_put(g, " ? ");
  else if (!g->status)
    g->out->size = start;
  glsl_path(g, path);
  if (guarded) {
    glsl_put(g, " : ");
    glsl_literal(g, glsl_row_type(g, row), 0);
    glsl_put(g, parenthesis ? ")" : "");
  }
}

static void
store(glsl *g, uint32_t row)
{
  if (is_outside(g, g->v->a[row]))
    return;
  glsl_begin_line(g);
  guard(g, g->v->a[row], 0);
  glsl_path(g, g->v->a[row]);
  glsl_put(g, " = ");
  glsl_value(g, g->v->b[row], GLSL_COMMA);
  glsl_put(g, ";\n");
}

/* Returns the text of the location, or of its member k if k is not UINT32_MAX.  The caller frees it. */
static char *
part_of(glsl *g, uint32_t path, uint32_t k)
{
  vyre_bytes *out = g->out, text = {.allocator = g->allocator};
  g->out = &text;
  if (k == UINT32_MAX)
    glsl_path(g, path);
  else
    member_of(g, path, k);
  g->out = out;
  return glsl_detach_text(g, &text);
}

/* Writes one assignment of a copy, or of zero if `from` is 0. */
static void
assign_part(glsl *g, uint32_t to, uint32_t from, uint32_t k)
{
  const vyre_type_id type = type_of(g, to), part = k == UINT32_MAX ? type : vyre_type_get(g->module, type).members[k].type;
  const size_t start = g->out->size;
  glsl_begin_line(g);
  const bool guarded = guard(g, to, 0);
  if (guarded)
    glsl_put(g, "{\n");
  else if (!g->status)
    g->out->size = start;
  char *there = part_of(g, to, k), *value = from ? part_of(g, from, k) : NULL;
  g->indent += guarded;
  glsl_assign(g, part, there, value);
  g->indent -= guarded;
  glsl_free_text(g, value);
  glsl_free_text(g, there);
  if (!guarded)
    return;
  glsl_begin_line(g);
  glsl_put(g, "}\n");
}

/* Writes one assignment of a copy.  A read out of bounds yields zero. */
static void
copy_part(glsl *g, uint32_t to, uint32_t from, uint32_t k)
{
  const size_t start = g->out->size;
  glsl_begin_line(g);
  glsl_put(g, "if (!(");
  if (!put_bounds(g, from, false)) {
    if (!g->status)
      g->out->size = start;
    assign_part(g, to, from, k);
    return;
  }
  glsl_put(g, ")) {\n");
  g->indent++;
  assign_part(g, to, 0, k);
  g->indent--;
  glsl_begin_line(g);
  glsl_put(g, "} else {\n");
  g->indent++;
  assign_part(g, to, from, k);
  g->indent--;
  glsl_begin_line(g);
  glsl_put(g, "}\n");
}

/* Writes a copy.  A block is not a value, so its members are copied one by one. */
static void
copy(glsl *g, uint32_t row)
{
  const uint32_t to = g->v->a[row], from = g->v->b[row];
  const vyre_type_info info = vyre_type_get(g->module, type_of(g, to));
  const bool blocks = info.form == VYRE_FORM_STRUCT &&
                      (glsl_is(g, to, VYRE_OP_buffer) || glsl_is(g, from, VYRE_OP_buffer) || (info.flags & VYRE_TYPE_BLOCK));
  if (is_outside(g, to) || (is_outside(g, from) && !g->strict))
    return;
  for (uint32_t k = blocks ? 0 : UINT32_MAX; k == UINT32_MAX || k < info.count; k++) {
    if (is_outside(g, from))
      assign_part(g, to, 0, k);
    else
      copy_part(g, to, from, k);
    if (k == UINT32_MAX)
      return;
  }
}

/* ---- order ---- */

#define ACQUIRE   0x2u
#define RELEASE   0x4u
#define ACQ_REL   0x8u
#define SEQ_CST   0x10u
#define ORDERS    (ACQUIRE | RELEASE | ACQ_REL | SEQ_CST)
#define UNIFORM   0x40u
#define WORKGROUP 0x100u
#define IMAGE     0x800u

static const char *
scope_name(uint32_t scope)
{
  static const char *const names[] = {"gl_ScopeDevice",   "gl_ScopeDevice",     "gl_ScopeWorkgroup",
                                      "gl_ScopeSubgroup", "gl_ScopeInvocation", "gl_ScopeQueueFamily"};
  return names[scope < 6 ? scope : 1];
}

/* Writes two arguments of GL_KHR_memory_scope_semantics: storage and order. */
static void
put_semantics(glsl *g, uint32_t semantics)
{
  static const struct {
    uint32_t bit;
    const char *name;
  } storages[] = {
      {UNIFORM, "gl_StorageSemanticsBuffer"}, {WORKGROUP, "gl_StorageSemanticsShared"}, {IMAGE, "gl_StorageSemanticsImage"}};
  bool any = false;
  glsl_need(g, GLSL_SCOPES);
  for (uint32_t i = 0; i < 3; i++)
    if (semantics & storages[i].bit) {
      glsl_put(g, "%s%s", any ? " | " : "", storages[i].name);
      any = true;
    }
  glsl_put(g, any ? ", " : "gl_StorageSemanticsNone, ");
  glsl_put(g, "%s",
           semantics & (ACQ_REL | SEQ_CST) ? "gl_SemanticsAcquireRelease"
           : semantics & ACQUIRE           ? "gl_SemanticsAcquire"
           : semantics & RELEASE           ? "gl_SemanticsRelease"
                                           : "gl_SemanticsRelaxed");
}

static void
barrier(glsl *g, uint32_t imm)
{
  const uint32_t execution = VYRE_ORDER_EXECUTION(imm), memory = VYRE_ORDER_MEMORY(imm), semantics = VYRE_ORDER_SEMANTICS(imm);
  const uint32_t storages = semantics & (UNIFORM | WORKGROUP | IMAGE);
  const bool both = (semantics & ORDERS) == ACQ_REL;
  glsl_begin_line(g);
  if (execution == 1) {
    glsl_fail(g, g->program, "GLSL has no barrier for all workgroups of a dispatch\nFix: dispatch twice");
  } else if (execution == 2 && memory == 2 && both && storages == WORKGROUP) {
    glsl_put(g, "barrier();\n");
  } else if (execution == 4 && both && memory == 1 && storages == UNIFORM) {
    glsl_put(g, "memoryBarrierBuffer();\n");
  } else if (execution == 4 && both && memory == 1 && storages == WORKGROUP) {
    glsl_put(g, "memoryBarrierShared();\n");
  } else if (execution == 4) {
    glsl_put(g, "memoryBarrier(%s, ", scope_name(memory));
    put_semantics(g, semantics);
    glsl_put(g, ");\n");
  } else {
    glsl_put(g, "controlBarrier(%s, %s, ", scope_name(execution), scope_name(memory));
    put_semantics(g, semantics);
    glsl_put(g, ");\n");
  }
}

/* ---- atomics ---- */

static const char *
atomic_name(vyre_opcode op)
{
  switch (op) {
  case VYRE_OP_atomic_load:
    return "atomicLoad";
  case VYRE_OP_atomic_store:
    return "atomicStore";
  case VYRE_OP_atomic_exchange:
    return "atomicExchange";
  case VYRE_OP_atomic_compare_exchange:
    return "atomicCompSwap";
  case VYRE_OP_atomic_umin:
  case VYRE_OP_atomic_smin:
  case VYRE_OP_atomic_fmin:
    return "atomicMin";
  case VYRE_OP_atomic_umax:
  case VYRE_OP_atomic_smax:
  case VYRE_OP_atomic_fmax:
    return "atomicMax";
  case VYRE_OP_atomic_and:
    return "atomicAnd";
  case VYRE_OP_atomic_or:
    return "atomicOr";
  case VYRE_OP_atomic_xor:
    return "atomicXor";
  default:
    return "atomicAdd";
  }
}

/* Returns the semantics that an atomic can have.  A load can only acquire, and a store only release. */
static uint32_t
fitting_order(vyre_opcode op, uint32_t semantics)
{
  const uint32_t order = semantics & ORDERS, part = op == VYRE_OP_atomic_load ? ACQUIRE : RELEASE;
  if (op != VYRE_OP_atomic_load && op != VYRE_OP_atomic_store)
    return semantics;
  return (semantics & ~ORDERS) | (order & (part | ACQ_REL | SEQ_CST) ? part : 0);
}

/* Writes atomicAdd(x[i], v), with scope and semantics if they are not GLSL's defaults. */
static void
put_atomic(glsl *g, uint32_t row)
{
  const vyre_view *v = g->v;
  const vyre_opcode op = (vyre_opcode)VYRE_ROW_OP(v->op[row]);
  const uint32_t imm = v->imm[row], semantics = fitting_order(op, VYRE_ORDER_SEMANTICS(imm));
  const bool plain = op == VYRE_OP_atomic_load || op == VYRE_OP_atomic_store;
  const vyre_kind kind = VYRE_TYPE_KIND((vyre_type)type_of(g, v->a[row]));
  if (vyre_kind_bits(kind) == 64)
    glsl_need(g, GLSL_ATOMIC_INT64);
  if (vyre_kind_is_float(kind))
    glsl_need(g,
              kind == VYRE_F16 || op == VYRE_OP_atomic_fmin || op == VYRE_OP_atomic_fmax ? GLSL_ATOMIC_FLOAT2 : GLSL_ATOMIC_FLOAT);
  glsl_put(g, "%s(", atomic_name(op));
  glsl_path(g, v->a[row]);
  if (op == VYRE_OP_atomic_compare_exchange) { /* the comparator is the first argument */
    glsl_put(g, ", ");
    glsl_value(g, v->c[row], GLSL_COMMA);
  }
  if (v->b[row]) {
    glsl_put(g, op == VYRE_OP_atomic_sub ? ", -" : ", ");
    glsl_value(g, v->b[row], op == VYRE_OP_atomic_sub ? GLSL_POSTFIX : GLSL_COMMA);
  }
  if (plain || (semantics & ORDERS) || VYRE_ORDER_MEMORY(imm) != 1) {
    const bool shared = VYRE_BUFFER_SPACE(v->imm_hi[buffer_of(g, v->a[row])]) == VYRE_SPACE_WORKGROUP;
    const uint32_t storages = semantics & (UNIFORM | WORKGROUP | IMAGE);
    glsl_put(g, ", %s, ", scope_name(VYRE_ORDER_MEMORY(imm)));
    put_semantics(g, storages ? semantics : semantics | (shared ? WORKGROUP : UNIFORM));
    if (op == VYRE_OP_atomic_compare_exchange) {
      glsl_put(g, ", ");
      put_semantics(g, (storages ? storages
                        : shared ? WORKGROUP
                                 : UNIFORM) |
                           (semantics & (ACQUIRE | ACQ_REL | SEQ_CST) ? ACQUIRE : 0));
    }
  }
  glsl_put(g, ")");
}

bool
glsl_reads_otherwise(const glsl *g, uint32_t row)
{
  const vyre_opcode op = glsl_opcode(g, row);
  const bool as_signed = op == VYRE_OP_atomic_smin || op == VYRE_OP_atomic_smax;
  const bool as_unsigned = op == VYRE_OP_atomic_umin || op == VYRE_OP_atomic_umax;
  if (!as_signed && !as_unsigned)
    return false;
  return vyre_kind_is_signed(VYRE_TYPE_KIND((vyre_type)type_of(g, g->v->a[row]))) ? as_unsigned : as_signed;
}

/* Writes a min or max of the other signedness than the memory's type: a loop of compare-exchange. */
static void
exchange_loop(glsl *g, uint32_t row)
{
  const vyre_opcode op = glsl_opcode(g, row);
  const vyre_type type = (vyre_type)type_of(g, g->v->a[row]);
  const vyre_kind kind = VYRE_TYPE_KIND(type);
  const char *name = glsl_value_type(g, type);
  const char *other = glsl_value_type(g, VYRE_TYPE((unsigned)kind ^ 1u, 1));
  const char *seen = glsl_identifier(g, "seen", 0);
  const char *function = op == VYRE_OP_atomic_smin || op == VYRE_OP_atomic_umin ? "min" : "max";
  if (vyre_kind_bits(kind) == 64)
    glsl_need(g, GLSL_ATOMIC_INT64);
  glsl_begin_line(g);
  glsl_put(g, "%s %s = 0", name, glsl_row_name(g, row));
  glsl_put(g, "%s, %s;\n", vyre_kind_is_signed(kind) ? "" : "u", seen);
  glsl_begin_line(g);
  guard(g, g->v->a[row], 0);
  glsl_put(g, "for (;; %s = ", glsl_row_name(g, row));
  glsl_put(g, "%s) {\n", seen);
  g->indent++;
  glsl_begin_line(g);
  glsl_put(g, "%s = atomicCompSwap(", seen);
  glsl_path(g, g->v->a[row]);
  glsl_put(g, ", %s, ", glsl_row_name(g, row));
  glsl_put(g, "%s(%s(%s(%s), ", name, function, other, glsl_row_name(g, row));
  glsl_put(g, "%s(", other);
  glsl_value(g, g->v->b[row], GLSL_COMMA);
  glsl_put(g, "))));\n");
  glsl_begin_line(g);
  glsl_put(g, "if (%s == ", seen);
  glsl_put(g, "%s)\n", glsl_row_name(g, row));
  glsl_begin_line(g);
  glsl_put(g, "  break;\n");
  g->indent--;
  glsl_begin_line(g);
  glsl_put(g, "}\n");
}

static void
atomic(glsl *g, uint32_t row)
{
  const vyre_type type = glsl_row_type(g, row);
  const bool named = g->uses[row - g->program] > 0, outside = is_outside(g, g->v->a[row]);
  if (outside && !named)
    return;
  if (outside) {
    glsl_begin_line(g);
    glsl_put(g, "%s %s = ", glsl_value_type(g, type), glsl_row_name(g, row));
    glsl_literal(g, type, 0);
    glsl_put(g, ";\n");
    return;
  }
  if (glsl_reads_otherwise(g, row)) {
    exchange_loop(g, row);
    return;
  }
  if (named) {
    glsl_begin_line(g);
    glsl_put(g, "%s %s", glsl_value_type(g, type), glsl_row_name(g, row));
    const size_t start = g->out->size;
    if (g->strict && put_bounds(g, g->v->a[row], false)) { /* out of bounds it yields zero */
      if (!g->status)
        g->out->size = start;
      glsl_put(g, " = ");
      glsl_literal(g, type, 0);
      glsl_put(g, ";\n");
      glsl_begin_line(g);
      guard(g, g->v->a[row], 0);
      glsl_put(g, "%s", glsl_row_name(g, row));
    }
    glsl_put(g, " = ");
  } else {
    glsl_begin_line(g);
    guard(g, g->v->a[row], 0);
  }
  put_atomic(g, row);
  glsl_put(g, ";\n");
}

void
glsl_memory_statement(glsl *g, uint32_t row)
{
  switch (VYRE_ROW_OP(g->v->op[row])) {
  case VYRE_OP_store:
    store(g, row);
    return;
  case VYRE_OP_copy:
  case VYRE_OP_async_copy: /* complete before any wait */
    copy(g, row);
    return;
  case VYRE_OP_async_wait:
    return;
  case VYRE_OP_set:
    glsl_begin_line(g);
    glsl_put(g, "%s = ", glsl_row_name(g, g->v->a[row]));
    glsl_value(g, g->v->b[row], GLSL_COMMA);
    glsl_put(g, ";\n");
    return;
  case VYRE_OP_barrier:
    barrier(g, g->v->imm[row]);
    return;
  default:
    if (vyre_op_is_atomic(glsl_opcode(g, row)))
      atomic(g, row);
    else
      glsl_fail(g, row, "'%s' cannot be written as GLSL\nFix: write SPIR-V", vyre_op_infos[glsl_opcode(g, row)].text);
    return;
  }
}
