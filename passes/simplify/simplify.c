/* Simplification: one sweep, operands first, that does to each row everything that one row allows.
 *
 *   form       a literal to the right, "less" for "greater", and the vectors that its lanes are read from (canon)
 *   fold       to a literal, if its operands are literals (cf); to the selected arm of a select, a part of a tuple, or a lane of
 *              a vector that was put together
 *   rules      those of pm, until none matches
 *   state      a get becomes the value that was set, also across joins: of an `if` whose arms bring one value, or the same two
 *              values as another `if` with that condition.  A load becomes the value that was stored there, or the initial value
 *   class      equal rows, by exact comparison (values.h)
 *
 * After the sweep, each row that an equal row dominates is removed, and its uses become uses of the first such row.  During the
 * sweep a class is only a name to compare.  The result for a row depends only on its operands, on the parts of its version and
 * on classes, so rows may be visited in any order that visits those first.
 *
 * The pass combines canon, cf, pm, cid and cse, and cprop's variables and memory without conditions and loops.  Rows after a
 * change see it in the same sweep.  A row is rewritten in place, or removed and its uses forwarded to a row that dominates
 * it.  No row is added or moved.  O(rows + joins + parts), expected.
 *
 * Limits: conditions give no facts, and values carried around a loop are unknown (cprop).  A construct that writes a load's
 * buffer is passed only if the first steps of the paths differ, as they were before the sweep (constructs.c).  Two equal rows in
 * two arms both stay.  Floats are not folded, and float rules are not used, in a program whose float mode is not
 * round-to-nearest with denormals.
 *
 * Requires: versions, dominance.  Preserves: versions, unless an opaque row gets another handle.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../canon/form.h"
#include "../cf/fold.h"
#include "../rules/sweep.h"
#include "phases.h"
#include "values.h"

#include "pm-rules.inc"

enum { MOST_STEPS = 1000 }; /* rules at one row; each makes the program smaller, so the limit is never reached */

/* Traits of an op, in bits above the FORM_ bits. */
enum {
  OP_PURE = 16,
  OP_FOLDS = 32,      /* may fold to a literal */
  OP_COPIES = 64,     /* may equal an operand, or a row that an operand is made of */
  OP_HAS_RULES = 128, /* is the root of a rule */
  OP_TAKES_IMM = 256, /* may have an immediate */
  OP_IS_KNOWN = 512   /* traits_of has computed the traits */
};

typedef struct simplifier {
  rules_sweep s;
  values n;
  memory m;
  vyre_pass_ctx *ctx;
  vyre_module *module;
  const vyre_view *v;
  uint32_t program;
  uint32_t *leader;               /* by visited row, the row that replaces it in the end */
  uint16_t traits[VYRE_OP__ROOM]; /* by op: traits_of, 0 if not computed */
  uint8_t *access;                /* by load, phases_access_of_load before the sweep */
  uint32_t *handle;               /* by opaque row and loaded handle, handle_of before the sweep; NULL if there are none */
  uint64_t gets, loads, removed, folded, exchanged, shortened;
  uint32_t first_equal; /* the first row that has another row as its leader; 0 while no row has */
  bool versions;        /* versions are preserved */
  vyre_status status;
} simplifier;

static void
remove_row(simplifier *k, uint32_t row)
{
  k->ctx->host->rewrite(k->module, row, VYRE_ROW(VYRE_OP_null, 0, 0), 0, 0, 0, 0, 0); /* a value contains no rows */
  k->removed++;
}

/* Forwards all uses of the row to `other`, which dominates it, and removes the row. */
static void
forward_row(simplifier *k, uint32_t row, uint32_t other)
{
  k->s.forward[row] = other;
  k->n.klass[row] = k->n.klass[other];
  k->leader[row] = k->leader[other];
  remove_row(k, row);
}

static void
make_literal(simplifier *k, uint32_t row, uint64_t bits)
{
  k->ctx->host->rewrite(k->module, row, VYRE_ROW(VYRE_OP_const, VYRE_ROW_TYPE(k->v->op[row]), 0), (uint32_t)bits,
                        (uint32_t)(bits >> 32), 0, 0, 0);
  k->s.changed = true;
}

/* Returns whether uses of `row` may be replaced by `other`, which dominates it. */
static bool
may_forward(const simplifier *k, uint32_t row, uint32_t other)
{
  return VYRE_ROW_TYPE(k->v->op[row]) == VYRE_ROW_TYPE(k->v->op[other]) && !rules_sweep_is_pinned(&k->s, row);
}

static void
assign_class(simplifier *k, uint32_t row)
{
  k->n.klass[row] = vyre_row_is_value(k->v, row) ? values_of_row(&k->n, row) : row;
}

/* ---- rows alone ---------------------------------------------------------------------------------------------------------- */

/* Returns the earlier row that a row of lanes equals, or 0 if there is none. */
static uint32_t
find_row_of_lanes(const simplifier *k, uint32_t row, uint32_t op)
{
  const vyre_view *v = k->v;
  if (op == VYRE_OP_join || op == VYRE_OP_insert || op == VYRE_OP_shuffle)
    return lanes_whole(v, k->n.klass, row);
  return op == VYRE_OP_lane && (VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM) != 0 ? lanes_scalar(v, v->a[row], v->imm[row]) : 0;
}

/* Computes the traits of an op.  A literal becomes the right one of commuting operands, and other operands have no order.  Classes
 * are equal in either order.  AMD's compiler generates other code after an exchange, which is worse as often as better. */
static uint32_t
find_traits(const simplifier *k, uint32_t op)
{
  const vyre_op_info *info = vyre_op_info_of(k->v, op);
  const uint32_t chances = form_chances(k->v, op);
  const bool copies = op == VYRE_OP_select || op == VYRE_OP_part || op == VYRE_OP_join || op == VYRE_OP_insert ||
                      op == VYRE_OP_shuffle || op == VYRE_OP_lane;
  const bool has_rules = rules_has_root(k->s.tables[0], op) || (k->s.tables[1] && rules_has_root(k->s.tables[1], op));
  return OP_IS_KNOWN | (chances & FORM_COMMUTES ? FORM_MIRRORS : chances) | (info->flags & VYRE_OP_PURE ? OP_PURE : 0) |
         (info->fold == VYRE_FOLD_EXACT || op == VYRE_OP_part ? OP_FOLDS : 0) | (copies ? OP_COPIES : 0) |
         (has_rules ? OP_HAS_RULES : 0) | (info->flags & VYRE_OP_TAKES_IMM ? OP_TAKES_IMM : 0);
}

/* Returns the FORM_ and OP_ bits of the op. */
static uint32_t
traits_of(simplifier *k, uint32_t op)
{
  if (k->traits[op] == 0)
    k->traits[op] = (uint16_t)find_traits(k, op);
  return k->traits[op];
}

static void
canonicalize(simplifier *k, uint32_t row, uint32_t op, uint32_t traits)
{
  if (op == VYRE_OP_lane) {
    k->shortened += form_shorten_lane(k->ctx, k->module, k->v, row);
  } else if (op == VYRE_OP_shuffle) {
    k->shortened += form_shorten_shuffle(k->ctx, k->module, k->v, k->n.klass, row);
  } else if (form_is_reversed(k->v, row, traits)) {
    form_exchange(k->ctx, k->module, k->v, row);
    k->exchanged++;
  }
}

/* Runs one round of form, fold and rules.  Returns false if the row is finished. */
static bool
simplify_once(simplifier *k, uint32_t row)
{
  const vyre_view *v = k->v;
  const uint32_t op = vyre_op_of(v, row), traits = traits_of(k, op);
  if (traits & (FORM_MIRRORS | FORM_PLACES))
    canonicalize(k, row, op, traits);
  if ((traits & OP_FOLDS) && fold_may_be_known(v, row) && fold_to_literal(k->ctx->host, k->module, row)) {
    k->folded++;
    k->s.changed = true;
    return false;
  }
  if (traits & OP_COPIES) {
    const uint32_t known = fold_known_operand(v, row), same = known ? known : find_row_of_lanes(k, row, op);
    if (same && may_forward(k, row, same)) {
      forward_row(k, row, same);
      return false;
    }
  }
  if (!(traits & OP_HAS_RULES) || !rules_sweep_may_step(&k->s, row) || rules_sweep_is_pinned(&k->s, row) ||
      !rules_sweep_step(&k->s, row, rules_apply_in_place, NULL, &k->status))
    return false;
  if (k->s.forward[row] != row)
    forward_row(k, row, k->s.forward[row]);
  return !k->status && vyre_op_of(v, row) != VYRE_OP_null;
}

static void
visit_pure(simplifier *k, uint32_t row)
{
  if (!vyre_row_is_const(k->v, row))
    for (uint32_t steps = 0; steps < MOST_STEPS && simplify_once(k, row); steps++)
      ;
  const uint32_t word = k->v->op[row];
  const bool is_plain = (VYRE_ROW_FLAGS(word) & (VYRE_ROW_DECO | VYRE_ROW_VOLATILE)) == 0; /* a volatile row is not a value */
  if (VYRE_ROW_OP(word) != VYRE_OP_null && !k->status)
    k->n.klass[row] = is_plain ? values_of_row(&k->n, row) : row;
}

/* ---- state --------------------------------------------------------------------------------------------------------------- */

static bool
is_plain(const vyre_view *v, uint32_t row)
{
  return (VYRE_ROW_FLAGS(v->op[row]) & (VYRE_ROW_DECO | VYRE_ROW_VOLATILE)) == 0 && v->version[row] != 0;
}

/* Returns whether the class contains a literal.  The class of a variable is its initial zero, unless the variable is unset. */
static bool
is_literal(const simplifier *k, uint32_t klass)
{
  return klass < k->n.rows &&
         (vyre_op_of(k->v, klass) == VYRE_OP_const ? vyre_kind_is_scalar(VYRE_TYPE_KIND(VYRE_ROW_TYPE(k->v->op[klass])))
                                                   : vyre_op_of(k->v, klass) == VYRE_OP_var && vyre_var_is_zero(k->v, klass));
}

static void
visit_get(simplifier *k, uint32_t row)
{
  const vyre_view *v = k->v;
  const uint32_t version = is_plain(v, row) ? v->version[row] : 0, klass = version ? values_of_state(&k->n, version) : 0;
  k->n.klass[row] = klass ? klass : row;
  if (klass && is_literal(k, klass))
    make_literal(k, row, vyre_op_of(v, klass) == VYRE_OP_const ? vyre_row_imm(v, klass) : 0);
  else if ((version & VYRE_JOIN) == 0 && vyre_op_of(v, version) == VYRE_OP_set && may_forward(k, row, v->b[version]))
    forward_row(k, row, v->b[version]);
  k->gets += vyre_op_of(v, row) != VYRE_OP_get;
}

static bool
is_start(const vyre_view *v, uint32_t version)
{
  return (version & VYRE_JOIN) == 0 && vyre_op_of(v, version) == VYRE_OP_buffer;
}

static void
visit_load(simplifier *k, uint32_t row)
{
  const vyre_view *v = k->v;
  k->n.seen[row] = v->version[row];
  if (k->access[row]) {
    const memory_state state = memory_at(&k->m, v->version[row], v->a[row]);
    const bool is_stored = state.value && (k->access[row] & VIR_ACCESS_THERE) != 0;
    const bool starts = !is_stored && (k->access[row] & VIR_ACCESS_STARTS) != 0 && is_start(v, state.since);
    uint64_t bits = 0;
    k->loads += is_stored || starts;
    if (is_stored && may_forward(k, row, state.value)) {
      forward_row(k, row, state.value);
      return;
    }
    if (starts && k->ctx->host->initial(k->module, v->a[row], &bits))
      make_literal(k, row, bits);
    k->n.seen[row] = starts ? 0 : state.since ? state.since : v->version[row];
  }
  assign_class(k, row);
}

/* ---- leaders ------------------------------------------------------------------------------------------------------------- */

/* Finds the row's leader: the first row of its class in the outermost region around the row that has one before it.  In program
 * order this is the last row found that no earlier one dominates.  When it stops dominating, its region has ended. */
static void
find_leader(simplifier *k, uint32_t row)
{
  uint32_t *kept = &k->n.kept[k->n.klass[row]];
  if (*kept == 0 || !vyre_row_dominates(k->v, *kept, row))
    *kept = row;
  if (*kept == row || !may_forward(k, row, *kept))
    return;
  k->leader[row] = *kept;
  k->first_equal = k->first_equal ? k->first_equal : row;
}

/* Returns the buffer of the handle by which an opaque row accesses memory, or to which an opaque value leads.  Returns 0 if it may
 * access all memory. */
static uint32_t
handle_of(const simplifier *k, uint32_t row)
{
  const vyre_view *v = k->v;
  const uint32_t a = v->a[row], op = vyre_op_of(v, row);
  const vyre_kind kind = VYRE_TYPE_KIND(VYRE_ROW_TYPE(v->op[a]));
  if (op != VYRE_OP_load && kind != VYRE_PATH)
    return vyre_op_is_opaque(op) && kind == VYRE_OPAQUE ? k->handle[a] : 0;
  const uint32_t buffer = vyre_buffer_of(v, a);
  return VYRE_BUFFER_SPACE(v->imm_hi[buffer]) == VYRE_SPACE_HANDLE ? buffer : 0;
}

static void
move_operands(simplifier *k, uint32_t row)
{
  rules_sweep_operands(&k->s, row);
  if (vyre_op_is_opaque(vyre_op_of(k->v, row)) && handle_of(k, row) != k->handle[row])
    k->versions = false; /* the handle determines the memory that it accesses */
}

/* Replaces the operands of rows by their leaders. */
static void
merge_rows(simplifier *k)
{
  const vyre_view *v = k->v;
  const uint32_t *leader = k->s.forward = k->leader;
  for (uint32_t row = k->first_equal; row < k->s.rows; row++) {
    const uint32_t a = v->a[row], b = v->b[row], c = v->c[row];
    if (((leader[row] ^ row) | (leader[a] ^ a) | (leader[b] ^ b) | (leader[c] ^ c)) == 0 || vyre_op_of(v, row) == VYRE_OP_null)
      continue;
    if (leader[row] != row)
      remove_row(k, row);
    else
      move_operands(k, row);
  }
}

/* ---- the sweep ----------------------------------------------------------------------------------------------------------- */

static void
update_operands(simplifier *k, uint32_t row, uint32_t traits)
{
  const vyre_view *v = k->v;
  const uint32_t *forward = k->s.forward, a = v->a[row], b = v->b[row], c = v->c[row];
  const uint32_t moved = (forward[a] ^ a) | (forward[b] ^ b) | (forward[c] ^ c);
  if (moved != 0)
    move_operands(k, row);
  else if ((traits & OP_TAKES_IMM) && vyre_row_is_const(v, b))
    rules_sweep_operands(&k->s, row);
}

static void
visit(simplifier *k, uint32_t row)
{
  const vyre_view *v = k->v;
  const uint32_t op = vyre_op_of(v, row), traits = traits_of(k, op);
  if (op == VYRE_OP_null)
    return;
  if (op != VYRE_OP_const)
    update_operands(k, row, traits);
  if (op == VYRE_OP_get) {
    visit_get(k, row);
  } else if (op == VYRE_OP_load) {
    visit_load(k, row);
  } else if ((traits & OP_PURE) && (VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_DECO) == 0) {
    visit_pure(k, row);
  } else {
    k->n.seen[row] = v->version[row];
    if (op != VYRE_OP_var)
      assign_class(k, row);
  }
  if (vyre_op_of(v, row) != VYRE_OP_null && op != VYRE_OP_var)
    find_leader(k, row);
}

static vyre_status
sweep(simplifier *k)
{
  const vyre_view *v = k->v;
  for (k->program = v->first[0]; k->program; k->program = v->next[k->program]) {
    const uint32_t end = v->next[k->program] ? v->next[k->program] : k->s.rows;
    k->s.scope = rules_scope_of(v->imm[k->program]);
    k->s.scope.klass = k->n.klass;
    values_begin_program(&k->n, k->program, end);
    for (uint32_t row = k->program; row < end && !k->status; row++)
      visit(k, row);
  }
  return k->status ? k->status : k->n.out_of_memory ? k->ctx->host->out_of_memory(k->ctx) : VYRE_OK;
}

/* Records the handle of an opaque row or of a load before rows change. */
static void
begin_opaque(simplifier *k, uint32_t row)
{
  if (!k->handle)
    k->handle = k->ctx->host->alloc(k->ctx, sizeof(uint32_t) * k->v->rows);
  if (k->handle)
    k->handle[row] = handle_of(k, row);
  else
    k->status = k->ctx->host->out_of_memory(k->ctx);
}

/* Forwards each row to itself, and records the access bits of loads and the handles of opaque rows before rows change. */
static void
begin_rows(simplifier *k)
{
  const uint32_t *words = k->v->op, rows = k->v->rows;
  uint32_t *forward = k->s.forward, *leader = k->leader, program = 0;
  for (uint32_t row = 0; row < rows; row++) {
    const uint32_t op = VYRE_ROW_OP(words[row]);
    forward[row] = leader[row] = row;
    if (op == VYRE_OP_program)
      program = row;
    else if (op == VYRE_OP_load)
      k->access[row] = (uint8_t)phases_access_of_load(&k->m, row, program);
    if (vyre_op_is_opaque(op) || (op == VYRE_OP_load && VYRE_TYPE_KIND(VYRE_ROW_TYPE(words[row])) == VYRE_OPAQUE))
      begin_opaque(k, row);
  }
}

/* Reports counters in the order of the phases' counters. */
static void
report(const simplifier *k)
{
  const vyre_host *host = k->ctx->host;
  host->count(k->ctx, "operands exchanged", k->exchanged);
  host->count(k->ctx, "lane sources shortened", k->shortened);
  host->count(k->ctx, "rows folded", k->folded);
  host->count(k->ctx, "operands replaced", k->s.replaced);
  host->count(k->ctx, "rows rewritten", k->s.rewritten);
  host->count(k->ctx, "gets replaced", k->gets);
  host->count(k->ctx, "loads with known values", k->loads);
  host->count(k->ctx, "rows removed", k->removed);
  if (k->s.hits)
    rules_report_uses(k->s.ctx, k->s.users, k->s.used, built_in_names, built_in[RULES_TABLE_RULES]);
}

static vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_host *host = ctx->host;
  const vyre_view *v = host->view(module);
  simplifier k = {.ctx = ctx, .module = module, .v = v, .versions = true};
  k.s = (rules_sweep){.ctx = ctx, .host = host, .module = module, .v = v, .rows = v->rows, .tables = {built_in}};
  *out = VYRE_UNCHANGED;
  rules_table users;
  VYRE_TRY(rules_read_user(ctx, RULES_FOR_PM, &users));
  k.s.tables[1] = users.words;
  VYRE_TRY(rules_sweep_begin(&k.s));
  VYRE_TRY(values_make(&k.n, ctx, v));
  VYRE_TRY(memory_make(&k.m, ctx, module));
  VYRE_TRY(memory_summarize_constructs(&k.m));
  k.s.forward = host->alloc(ctx, sizeof(uint32_t) * v->rows);
  k.leader = host->alloc(ctx, sizeof(uint32_t) * v->rows);
  k.access = host->alloc(ctx, v->rows);
  if (!k.s.forward || !k.leader || !k.access)
    return host->out_of_memory(ctx);
  k.m.klass = k.n.klass;
  k.n.constructs = k.m.constructs;
  begin_rows(&k);
  VYRE_TRY(k.status);
  VYRE_TRY(sweep(&k));
  if (k.first_equal)
    merge_rows(&k);
  if (k.versions)
    host->preserved(ctx, VYRE_VERSIONS);
  report(&k);
  *out = k.s.changed || k.removed || k.exchanged || k.shortened ? VYRE_CHANGED : VYRE_UNCHANGED;
  return VYRE_OK;
}

/* ---- phases -------------------------------------------------------------------------------------------------------------- */

static vyre_status
prepare(vyre_pass_ctx *ctx, const vyre_module *module)
{
  return phases_prepare(ctx, module, built_in, sizeof built_in / sizeof *built_in);
}

static vyre_status
finish(vyre_pass_ctx *ctx, const vyre_module *module)
{
  const uint32_t *used = ctx->host->memory(ctx, "used", 0), *users = ctx->host->memory(ctx, "users", 0);
  (void)module;
  if (*ctx->host->memory(ctx, "handles", 0) == 0)
    ctx->host->preserved(ctx, VYRE_VERSIONS);
  rules_report_uses(ctx, *users, used, built_in_names, built_in[RULES_TABLE_RULES]);
  return VYRE_OK;
}

extern const vyre_phases simplify_phases;

static const vyre_param params[] = {RULES_PARAM};

static const vyre_pass simplify = {
    .struct_size = sizeof(vyre_pass),
    /* @exchange reads only facts of operands that it does not change: whether they are literals or built-ins */
    .flags = VYRE_PASS_ANY_ORDER | VYRE_PASS_SKIPS_REMOVED,
    .name = "simplify",
    .long_name = "simplify-rows",
    .summary = "canonical form, folding, rules, known state and equal values, in one sweep",
    .help = "Combines canon, cf, pm, cid and cse, and cprop's variables and memory without conditions and loops.  Visits operands\n"
            "first, so that each row sees the changes of all rows before it.",
    .params = params,
    .param_count = 1,
    .requires_ = VYRE_VERSIONS | VYRE_DOMINANCE,
    .run = run,
    .phases = &simplify_phases,
    .prepare = prepare,
    .finish = finish,
};
VYRE_PLUGIN("simplify", "1.0", &simplify)
