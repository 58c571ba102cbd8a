/* Dead code elimination.  Removes rows that no effect depends on: values, reads, `set`s and variables, stores to private and
 * workgroup memory that nothing reads, and control flow without effect.
 *
 * Roots are effects: stores that other invocations can see, atomics, barriers, traps, volatile accesses.  A live row makes its
 * operands and its region live.  A live construct makes its jumps live.  A live read makes all writes of its variable or buffer
 * live, in whatever order they run.  One walk from the last row to the first finds all live rows.  Rows after its position that
 * become live, such as writes in a loop, are visited at once.  Linear: each row is visited once, and each jump walks up to its
 * construct.
 *
 * The active lanes at a live subgroup row do not change.  The constructs around the row are live, with all of their jumps, and a
 * return before it stays, because the effect that uses the row is after both.
 *
 * A loop without effect is removed, because an endless loop may be assumed to end.  A `return` stays if a live effect follows it or
 * a live loop is around it.  Async copies stay, because a wait counts them.  Rows that define a type's length stay.  Interface rows
 * (specialization constants, buffers of the caller) stay unless `dce<interface>` is given.
 *
 * Requires: nothing.  Preserves: versions, unless a removed read counts as a write (coherent memory) or a read of unnamed memory
 * (opaque_read) stays.  In all other cases no live row reads memory that a removed row wrote, and lanes reconverge where they did.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/plugin.h"

typedef struct marker {
  const vyre_view *v;
  bool *live;      /* not bytes, because stores to them could change the other fields */
  uint32_t *stack; /* live rows that the walk has passed, and whose dependences are not marked yet */
  uint32_t depth;
  uint32_t first, row; /* the program, and the row of the walk */
  uint32_t *head; /* by var or buffer, its first write; by construct, its first jump; the row's own id if the whole list is live */
  uint32_t *link;
  uint32_t returns;    /* those inside of constructs, in program order; a list through `head` */
  uint32_t last_live;  /* the last live row of this program with an effect */
  bool reads_anything; /* a live row may read memory that is not its operand */
} marker;

/* Returns whether only this program sees writes to the buffer, and only through this buffer row. */
static bool
is_own_memory(const vyre_view *v, uint32_t buffer)
{
  const vyre_space space = VYRE_BUFFER_SPACE(v->imm_hi[buffer]);
  return (space == VYRE_SPACE_PRIVATE || space == VYRE_SPACE_WORKGROUP) &&
         (v->imm_hi[buffer] & (VYRE_ACCESS_ALIASED | VYRE_ACCESS_VOLATILE)) == 0;
}

/* Returns whether the row is a volatile access, by its own flag or by its buffer's declaration. */
static bool
is_volatile_access(const vyre_view *v, uint32_t row)
{
  return (VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_VOLATILE) != 0 ||
         (vyre_op_of(v, row) == VYRE_OP_load && VYRE_TYPE_KIND(VYRE_ROW_TYPE(v->op[row])) != VYRE_OPAQUE &&
          (v->imm_hi[vyre_buffer_of(v, v->a[row])] & VYRE_ACCESS_VOLATILE) != 0);
}

static uint32_t
outermost_loop(const vyre_view *v, uint32_t row)
{
  uint32_t loop = 0;
  while ((row = vyre_loop_around(v, row)) != 0)
    loop = row;
  return loop;
}

/* Returns the row that makes this row live other than by using its value: a variable, a buffer, or the construct of a jump.
 * Returns 0 if there is none. */
static uint32_t
owner_of(const vyre_view *v, uint32_t row)
{
  switch (vyre_op_of(v, row)) {
  case VYRE_OP_set:
    return v->a[row];
  case VYRE_OP_store:
  case VYRE_OP_copy: {
    const uint32_t buffer = vyre_buffer_of(v, v->a[row]);
    return is_own_memory(v, buffer) && !(VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_VOLATILE) ? buffer : 0;
  }
  case VYRE_OP_break:
  case VYRE_OP_continue:
  case VYRE_OP_breakif:
  case VYRE_OP_fallthrough:
  case VYRE_OP_leave:
    return vyre_jump_target(v, row);
  case VYRE_OP_return:
    return outermost_loop(v, row);
  default:
    return 0;
  }
}

static bool
is_root(const vyre_view *v, uint32_t row)
{
  const uint32_t flags = vyre_op_flags_of(v, row);
  if ((flags & VYRE_OP_READS) != 0 && is_volatile_access(v, row))
    return true;
  return (flags & VYRE_OP_EFFECT) != 0 && (flags & VYRE_OP_REGIONS) == 0 && vyre_op_of(v, row) != VYRE_OP_return;
}

/* Returns whether the row is workgroup memory that another buffer row may zero, because both name the same memory. */
static bool
is_shared_memory(const vyre_view *v, uint32_t row)
{
  return vyre_op_of(v, row) == VYRE_OP_buffer && VYRE_BUFFER_SPACE(v->imm_hi[row]) == VYRE_SPACE_WORKGROUP &&
         (v->imm_hi[row] & VYRE_ACCESS_ALIASED) != 0;
}

static bool
is_interface(const vyre_view *v, uint32_t row)
{
  switch (vyre_op_of(v, row)) {
  case VYRE_OP_spec:
    return true;
  case VYRE_OP_buffer: {
    const vyre_space space = VYRE_BUFFER_SPACE(v->imm_hi[row]);
    return space == VYRE_SPACE_STORAGE || space == VYRE_SPACE_UNIFORM || space == VYRE_SPACE_PUSH || space == VYRE_SPACE_HANDLE;
  }
  default:
    return false;
  }
}

/* Marks a row as live.  The walk visits it, unless it has passed the row.  live[0] is set. */
static inline void
mark(marker *m, uint32_t row)
{
  if (m->live[row])
    return;
  m->live[row] = true;
  if (row - m->first >= m->row - m->first)
    m->stack[m->depth++] = row;
}

/* Marks all rows of the owner's list, and those that the walk will list. */
static void
mark_list(marker *m, uint32_t owner)
{
  for (uint32_t row = m->head[owner]; row && row != owner; row = m->link[row])
    mark(m, row);
  m->head[owner] = owner;
}

/* Marks the writes of the buffer of an operand that is a path: the row with that operand may read the memory there. */
static void
mark_memory(marker *m, uint32_t operand)
{
  if (VYRE_TYPE_KIND(VYRE_ROW_TYPE(m->v->op[operand])) == VYRE_PATH)
    mark_list(m, vyre_buffer_of(m->v, operand));
}

/* Marks the writes that a live row reads. */
static void
mark_writes(marker *m, uint32_t row, uint32_t op, uint32_t flags)
{
  const vyre_view *v = m->v;
  switch (op) {
  case VYRE_OP_opaque_read:
    m->reads_anything = true;
    /* fall through */
  case VYRE_OP_opaque:
  case VYRE_OP_opaque_pure:
  case VYRE_OP_opaque_write:
  case VYRE_OP_tuple: /* the tuple may hold operands of an opaque row */
    mark_memory(m, v->a[row]);
    mark_memory(m, v->b[row]);
    mark_memory(m, v->c[row]);
    break;
  case VYRE_OP_get:
    mark_list(m, v->a[row]);
    break;
  case VYRE_OP_copy:
  case VYRE_OP_async_copy:
    mark_list(m, vyre_buffer_of(v, v->b[row]));
    break;
  case VYRE_OP_async_wait:
  case VYRE_OP_store:
    break;
  default:
    if ((flags & (VYRE_OP_READS | VYRE_OP_CONVERGENT)) == VYRE_OP_READS) /* loads and atomics */
      mark_list(m, vyre_buffer_of(v, v->a[row]));
  }
}

/* Marks the rows that one live row depends on. */
static inline void
visit(marker *m, uint32_t row)
{
  const vyre_view *v = m->v;
  const uint32_t op = vyre_op_of(v, row), flags = vyre_op_info_of(v, op)->flags;
  mark(m, v->a[row]);
  mark(m, v->b[row]);
  mark(m, v->c[row]);
  mark(m, v->parent[row]);
  if (row > m->last_live && (flags & VYRE_OP_EFFECT) != 0 && op != VYRE_OP_return)
    m->last_live = row;
  if (flags & VYRE_OP_REGIONS) {
    for (uint32_t region = v->first[row]; region; region = v->next[region])
      mark(m, region);
    mark_list(m, row);
  }
  if ((flags & (VYRE_OP_READS | VYRE_OP_WRITES)) != 0 || op == VYRE_OP_tuple || op == VYRE_OP_opaque_pure)
    mark_writes(m, row, op, flags);
}

/* Marks the row and all rows behind the walk that depend on it as live, and visits them. */
static void
visit_all(marker *m, uint32_t row)
{
  m->live[row] = true;
  visit(m, row);
  while (m->depth)
    visit(m, m->stack[--m->depth]);
}

/* Marks returns: they are live if a live effect follows.  A return in a loop is live with the loop, too, as a break is. */
static void
mark_returns(marker *m)
{
  for (uint32_t row = m->returns; row && row <= m->last_live; row = m->head[row]) {
    if (!m->live[row])
      visit_all(m, row);
  }
}

static void
pin(void *user, uint32_t row)
{
  marker *m = user;
  m->live[row] = true;
}

/* Returns whether the row is live by itself.  Otherwise lists it with its owner, and returns also in `returns`. */
static bool
is_live_or_listed(marker *m, uint32_t row, bool keep_interface)
{
  const vyre_view *v = m->v;
  const uint32_t owner = owner_of(v, row);
  if (vyre_op_of(v, row) == VYRE_OP_return && v->parent[row] != m->first) {
    m->head[row] = m->returns; /* a return owns nothing */
    m->returns = row;
  }
  if (owner) {
    if (m->head[owner] == owner)
      return true;
    m->link[row] = m->head[owner];
    m->head[owner] = row;
  } else if (vyre_op_of(v, row) != VYRE_OP_return) {
    return is_root(v, row) || vyre_op_of(v, row) == VYRE_OP_workgroup || is_shared_memory(v, row) ||
           (keep_interface && is_interface(v, row));
  }
  return false;
}

/* Returns whether the row depends only on its operands and its region, which precede it. */
static inline bool
is_plain_value(const vyre_view *v, uint32_t row)
{
  const uint32_t op = vyre_op_of(v, row);
  return (vyre_op_info_of(v, op)->flags & VYRE_OP_PURE) != 0 && op != VYRE_OP_tuple && op != VYRE_OP_opaque_pure;
}

static void
mark_program(marker *m, uint32_t program, uint32_t end, bool keep_interface)
{
  const vyre_view *v = m->v;
  const uint32_t any = VYRE_OP_EFFECT | VYRE_OP_READS | VYRE_OP_WRITES | VYRE_OP_INTERFACE;
  m->last_live = m->returns = 0;
  m->first = program;
  m->live[program] = true;
  for (uint32_t row = end - 1; row >= program; row--) {
    m->row = row;
    if (m->live[row] && is_plain_value(v, row))
      m->live[v->a[row]] = m->live[v->b[row]] = m->live[v->c[row]] = m->live[v->parent[row]] = true;
    else if (m->live[row] || ((vyre_op_flags_of(v, row) & any) != 0 && is_live_or_listed(m, row, keep_interface)))
      visit_all(m, row);
  }
  mark_returns(m);
}

/* ---- removal ------------------------------------------------------------------------------------------------------------- */

/* Returns whether a read counts as a write, so that accesses before and after it have different versions (docs/ir.md). */
static bool
is_shared(const vyre_view *v, const uint32_t *alias, uint32_t row)
{
  const uint32_t op = vyre_op_of(v, row);
  if (op == VYRE_OP_opaque_read || (VYRE_ROW_FLAGS(v->op[row]) & (VYRE_ROW_VOLATILE | VYRE_ROW_COHERENT)) != 0)
    return true;
  return (alias[vyre_buffer_of(v, v->a[row])] & VYRE_ALIAS_SHARED) != 0 ||
         (op == VYRE_OP_copy && (alias[vyre_buffer_of(v, v->b[row])] & VYRE_ALIAS_SHARED) != 0);
}

/* Lists the dead rows in program order.  `out` has room for all rows. */
static uint32_t
list_dead(const marker *m, uint32_t *out)
{
  const bool *live = m->live;
  const uint32_t *op = m->v->op, rows = m->v->rows;
  uint32_t count = 0;
  for (uint32_t row = 1; row < rows; row++) {
    out[count] = row;
    count += !live[row] && VYRE_ROW_OP(op[row]) != VYRE_OP_null;
  }
  return count;
}

/* Lists those of the rows that read memory. */
static uint32_t
list_reads(const vyre_view *v, const uint32_t *rows, uint32_t count, uint32_t *out)
{
  uint32_t reads = 0;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t op = VYRE_ROW_OP(v->op[rows[i]]), flags = vyre_op_info_of(v, op)->flags;
    out[reads] = rows[i];
    reads += ((flags & (VYRE_OP_READS | VYRE_OP_CONVERGENT)) == VYRE_OP_READS) & (op != VYRE_OP_get);
  }
  return reads;
}

/* Returns in *out whether the versions of live rows stay correct when the rows of `dead` are removed.  Marking has ended, so the
 * marker's lists serve as scratch memory.  Values left in them do not contain VYRE_ALIAS_SHARED. */
static vyre_status
preserves_versions(const marker *m, vyre_pass_ctx *ctx, const vyre_module *module, const uint32_t *dead, uint32_t count, bool *out)
{
  uint32_t *reads = m->link, *alias = m->head;
  const uint32_t read = m->reads_anything ? 0 : list_reads(m->v, dead, count, reads);
  *out = false;
  if (read && !ctx->host->aliases(module, alias))
    return ctx->host->out_of_memory(ctx);
  for (uint32_t i = 0; i < read; i++)
    if (is_shared(m->v, alias, reads[i]))
      return VYRE_OK;
  *out = !m->reads_anything;
  return VYRE_OK;
}

static vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_host *host = ctx->host;
  const vyre_view *v = host->view(module);
  const uint32_t rows = v->rows;
  const bool keep_interface = host->param(ctx, "interface") == 0;
  marker m = {.v = v};
  *out = VYRE_UNCHANGED;
  m.live = host->alloc(ctx, sizeof(bool) * rows);
  m.stack = host->alloc(ctx, sizeof(uint32_t) * rows);
  m.head = host->alloc(ctx, sizeof(uint32_t) * rows);
  m.link = host->alloc(ctx, sizeof(uint32_t) * rows);
  if (!m.live || !m.stack || !m.head || !m.link)
    return host->out_of_memory(ctx);

  m.live[0] = true;
  host->each_pinned(module, pin, &m);
  for (uint32_t program = v->first[0]; program; program = v->next[program])
    mark_program(&m, program, v->next[program] ? v->next[program] : rows, keep_interface);

  bool versions;
  uint32_t *removed = m.stack; /* unused since marking ended */
  const uint32_t dead = list_dead(&m, removed);
  VYRE_TRY(preserves_versions(&m, ctx, module, removed, dead, &versions));
  if (versions)
    host->preserved(ctx, VYRE_VERSIONS);
  for (uint32_t i = 0; i < dead; i++)
    if (vyre_op_of(v, removed[i]) != VYRE_OP_null) /* not removed with its region */
      host->kill(module, removed[i]);
  host->count(ctx, "rows removed", dead);
  *out = dead ? VYRE_CHANGED : VYRE_UNCHANGED;
  return VYRE_OK;
}

/* ---- phases -------------------------------------------------------------------------------------------------------------- */

/* Bits of %facts in dce.vir, which has two for each row. */
enum { PINNED = 1, SHARED = 2 };

static void
set_fact(uint32_t *facts, uint32_t row, uint32_t fact)
{
  facts[row / 16] |= fact << row % 16 * 2;
}

static void
pin_fact(void *user, uint32_t row)
{
  set_fact(user, row, PINNED);
}

static vyre_status
prepare(vyre_pass_ctx *ctx, const vyre_module *module)
{
  const vyre_host *host = ctx->host;
  const vyre_view *v = host->view(module);
  uint32_t *facts = host->memory(ctx, "facts", v->rows / 16 + 1), *interface = host->memory(ctx, "interface", 1);
  uint32_t *alias = host->alloc(ctx, sizeof(uint32_t) * v->rows);
  if (!facts || !interface || !alias || !host->aliases(module, alias))
    return host->out_of_memory(ctx);
  host->each_pinned(module, pin_fact, facts);
  for (uint32_t program = v->first[0]; program; program = v->next[program])
    for (uint32_t row = v->first[program]; row; row = v->next[row])
      if (vyre_op_of(v, row) == VYRE_OP_buffer && (alias[row] & VYRE_ALIAS_SHARED) != 0)
        set_fact(facts, row, SHARED);
  *interface = host->param(ctx, "interface") == 0;
  return VYRE_OK;
}

extern const vyre_phases dce_phases;

static const vyre_param params[] = {{
    .struct_size = sizeof(vyre_param),
    .type = VYRE_PARAM_FLAG,
    .name = "interface",
    .summary = "remove unused specialization constants and buffers of the caller too",
}};

static const vyre_pass dce = {
    .struct_size = sizeof(vyre_pass),
    .flags = VYRE_PASS_KEEPS_ORDER | VYRE_PASS_ANY_ORDER | VYRE_PASS_PREPARES_EARLY | VYRE_PASS_SKIPS_REMOVED,
    .name = "dce",
    .long_name = "dead-code-elimination",
    .summary = "remove rows, stores, variables and control without effect",
    .help = "Keeps stores that other invocations can see, atomics, barriers, traps, volatile accesses, and the rows that these\n"
            "depend on.  Removes a loop without effect even if it might not end.",
    .params = params,
    .param_count = 1,
    .run = run,
    .phases = &dce_phases,
    .prepare = prepare,
};
VYRE_PLUGIN("dce", "1.0", &dce)
