/* Half precision: f32 arithmetic that may be relaxed (SPIR-V's RelaxedPrecision) is computed in f16.
 *
 * A relaxed row of f32 becomes the same row of f16: its operands are converted to f16, and its result to f32.  Conversions between
 * two such rows are omitted.  Rows that only move values (join, lane, select, variables and so on) follow if two conditions hold.
 * Some value that such a row moves is the result of a relaxed row.  Either f16 holds all moved values exactly, or all uses of the
 * row convert its result to f16.  Comparisons of such values follow, too.  So only the results of relaxed rows change.  Rows
 * without uses are removed.
 *
 * Limits: scalars and vectors only.  Matrix operations, frexp, modf and opaque rows stay, and so do memory and operations on other
 * lanes of a subgroup.  Programs with a float mode stay, and rows with decorations or that define a type's length.  A row may
 * become undefined if its rounded operands leave its domain: log of a value that becomes zero.  No test of whether the device has
 * f16, and no estimate of whether the conversions pay.  Results change, so the pass is in no default pipeline.
 *
 * Cost: O(rows).  Variables that are set from each other need repeated sweeps.  After MOST_SWEEPS, variables keep their type.
 *
 * Requires: nothing.  Preserves: nothing.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../state/halves.h"
#include "../state/pinned.h"

enum { MOST_SWEEPS = 8 }; /* over a program, in each direction */

/* Facts about a row.  Those without another explanation are about rows that move values. */
enum {
  COMPUTES = 1,  /* a relaxed row, which is computed in f16 */
  MOVES = 2,     /* a row that moves f32 values, or a variable */
  EXACT = 4,     /* f16 holds the value exactly */
  ROUNDED = 8,   /* all uses convert the value to f16 */
  AFTER = 16,    /* a row that computes gives the value or a part of it */
  KEPT = 32,     /* any row that becomes f16: its f32 value is still used */
  COMPARES = 64, /* a comparison of f16 values */
};

typedef struct halver {
  vyre_pass_ctx *ctx;
  const vyre_host *host;
  vyre_module *module;
  const vyre_view *v;
  const bool *pinned;
  uint8_t *facts;                     /* by row */
  uint32_t *halves;                   /* by row that becomes f16, the row of f16 */
  uint32_t *copies;                   /* by other row, the latest conversion to f16 that was inserted, or 0 */
  bool failed;                        /* memory ran out */
  uint64_t computed, moved, compared; /* rows that became f16, and comparisons */
} halver;

/* ---- rows ---------------------------------------------------------------------------------------------------------------- */

static bool
is_f32(const vyre_view *v, uint32_t row)
{
  return VYRE_TYPE_KIND(VYRE_ROW_TYPE(v->op[row])) == VYRE_F32;
}

static uint32_t
operand(const vyre_view *v, uint32_t row, uint32_t k)
{
  return (k == 0 ? v->a : k == 1 ? v->b : v->c)[row];
}

static vyre_type
half_type(const vyre_view *v, uint32_t row)
{
  return VYRE_TYPE(VYRE_F16, VYRE_TYPE_LANES(VYRE_ROW_TYPE(v->op[row])));
}

static bool
is_comparison(const vyre_view *v, uint32_t row)
{
  const vyre_op_info *info = vyre_op_info_of(v, VYRE_ROW_OP(v->op[row]));
  return info->rule == VYRE_RULE_BOOL && info->klass == VYRE_CLASS_FLOAT;
}

/* Returns whether the row converts f16 to f32. */
static bool
is_widened(const vyre_view *v, uint32_t row)
{
  return VYRE_ROW_OP(v->op[row]) == VYRE_OP_convert && VYRE_TYPE_KIND(VYRE_ROW_TYPE(v->op[v->a[row]])) == VYRE_F16;
}

/* Returns whether the f32 is zero, an infinity or a normal number of f16. */
static bool
is_exact_literal(uint64_t bits)
{
  enum { LEAST = 127 - 14, GREATEST = 127 + 15 };
  const uint32_t exponent = (uint32_t)(bits >> 23) & 0xffu, fraction = (uint32_t)bits & 0x7fffffu;
  if (exponent == 0 || exponent == 255)
    return fraction == 0;
  return exponent >= LEAST && exponent <= GREATEST && (fraction & 0x1fffu) == 0;
}

static uint8_t
facts_of(const halver *h, uint32_t row, bool with_variables)
{
  const vyre_view *v = h->v;
  const uint32_t op = VYRE_ROW_OP(v->op[row]), flags = VYRE_ROW_FLAGS(v->op[row]);
  if (!is_f32(v, row) || h->pinned[row] || (flags & VYRE_ROW_DECO) != 0)
    return 0;
  if (halves_moves(op) || (with_variables && (op == VYRE_OP_var || op == VYRE_OP_get)))
    return MOVES | EXACT | ROUNDED;
  return halves_computes(op) && (flags & VYRE_ROW_RELAXED) != 0 && !is_widened(v, row) ? COMPUTES : 0;
}

/* Returns whether f16 holds the value of the f32 row exactly. */
static bool
is_exact(const halver *h, uint32_t row)
{
  const vyre_view *v = h->v;
  return (h->facts[row] & (COMPUTES | EXACT)) != 0 || is_widened(v, row) ||
         (vyre_row_is_const(v, row) && is_exact_literal(vyre_row_imm(v, row)));
}

/* Returns whether the row becomes f16. */
static bool
is_half(const halver *h, uint32_t row)
{
  const uint8_t facts = h->facts[VYRE_ROW_OP(h->v->op[row]) == VYRE_OP_get ? h->v->a[row] : row];
  return (facts & COMPUTES) != 0 || ((facts & AFTER) != 0 && (facts & (EXACT | ROUNDED)) != 0);
}

/* ---- analysis ------------------------------------------------------------------------------------------------------------ */

/* Returns the EXACT and AFTER facts of a row that only moves this operand. */
static uint8_t
facts_from(const halver *h, uint32_t row)
{
  return (uint8_t)((is_exact(h, row) ? EXACT : 0) | ((h->facts[row] & (COMPUTES | AFTER)) != 0 ? AFTER : 0));
}

/* Updates EXACT and AFTER of a row that moves an operand with these facts.  Returns whether they changed. */
static bool
update_after(uint8_t *facts, uint8_t from)
{
  const uint8_t old = *facts;
  *facts = (uint8_t)((old & (from | (uint8_t)~EXACT)) | (from & AFTER));
  return *facts != old;
}

/* Finds EXACT and AFTER in one sweep over the program.  Returns whether a variable changed. */
static bool
sweep_forward(const halver *h, uint32_t program, uint32_t end)
{
  const vyre_view *v = h->v;
  bool changed = false;
  for (uint32_t row = program; row < end; row++) {
    const uint32_t op = VYRE_ROW_OP(v->op[row]);
    if (op == VYRE_OP_set && (h->facts[v->a[row]] & MOVES) != 0)
      changed |= update_after(&h->facts[v->a[row]], facts_from(h, v->b[row]));
    if ((h->facts[row] & MOVES) == 0 || op == VYRE_OP_var)
      continue;
    for (uint32_t k = 0; k < 3; k++)
      if (is_f32(v, operand(v, row, k)))
        update_after(&h->facts[row], facts_from(h, operand(v, row, k)));
  }
  return changed;
}

/* Updates ROUNDED of a row that the row `user` uses.  Returns whether it changed. */
static bool
update_rounded(const halver *h, uint32_t row, uint32_t user)
{
  const uint8_t old = h->facts[row];
  if ((h->facts[user] & (COMPUTES | ROUNDED)) == 0)
    h->facts[row] &= (uint8_t)~ROUNDED;
  return h->facts[row] != old;
}

/* Finds ROUNDED in one sweep over the program, from its end.  Returns whether a variable changed. */
static bool
sweep_backward(const halver *h, uint32_t program, uint32_t end)
{
  const vyre_view *v = h->v;
  bool changed = false;
  for (uint32_t row = end; row-- > program;) {
    const uint32_t op = VYRE_ROW_OP(v->op[row]);
    if (op == VYRE_OP_get)
      changed |= update_rounded(h, v->a[row], row);
    else if (op == VYRE_OP_set)
      update_rounded(h, v->b[row], v->a[row]);
    else
      for (uint32_t k = 0; k < 3; k++)
        update_rounded(h, operand(v, row, k), row);
  }
  return changed;
}

/* Finds the facts of the program's rows.  Returns false if that takes too many sweeps. */
static bool
find_facts(const halver *h, uint32_t program, uint32_t end, bool with_variables)
{
  uint32_t sweeps = 0;
  for (uint32_t row = program; row < end; row++)
    h->facts[row] = facts_of(h, row, with_variables);
  while (sweep_forward(h, program, end))
    if (++sweeps == MOST_SWEEPS)
      return false;
  sweeps = 0;
  while (sweep_backward(h, program, end))
    if (++sweeps == MOST_SWEEPS)
      return false;
  return true;
}

/* Returns whether the comparison may compare f16 values. */
static bool
compares_halves(const halver *h, uint32_t row)
{
  const vyre_view *v = h->v;
  bool some = false, all = true;
  if (!is_comparison(v, row) || !is_f32(v, v->a[row]) || !vyre_row_is_pure(v, row))
    return false;
  for (uint32_t k = 0; k < 2; k++) {
    const uint32_t x = operand(v, row, k);
    some |= x != 0 && is_half(h, x);
    all &= x == 0 || is_exact(h, x);
  }
  return some && all && ((VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM) == 0 || is_exact_literal(vyre_row_imm(v, row)));
}

/* Marks comparisons of f16 values, and rows that become f16 and are still used as f32. */
static void
find_uses(const halver *h, uint32_t program, uint32_t end)
{
  const vyre_view *v = h->v;
  for (uint32_t row = program; row < end; row++) {
    if (is_half(h, row))
      continue;
    if (compares_halves(h, row))
      h->facts[row] |= COMPARES;
    else if (VYRE_ROW_OP(v->op[row]) != VYRE_OP_set || !is_half(h, v->a[row]))
      for (uint32_t k = 0; k < 3; k++)
        h->facts[operand(v, row, k)] |= KEPT;
  }
}

/* ---- change -------------------------------------------------------------------------------------------------------------- */

static uint32_t
insert(halver *h, uint32_t before, uint32_t op, vyre_type type, uint32_t flags, uint64_t imm, const uint32_t operands[3])
{
  const uint32_t row = h->host->insert_row(h->module, before, VYRE_ROW(op, type, flags), (uint32_t)imm, (uint32_t)(imm >> 32),
                                           operands[0], operands[1], operands[2]);
  h->failed |= row == 0;
  return row;
}

/* Converts an f32 literal to f16.  `typed` is a row of f32 that is visible at `before`. */
static bool
convert_literal(halver *h, uint32_t typed, uint32_t before, uint64_t bits, uint64_t *out_bits)
{
  const uint64_t lanes[4] = {bits, bits, bits, bits}, *const given[3] = {lanes, NULL, NULL};
  uint64_t out[4];
  const uint32_t row = insert(h, before, VYRE_OP_convert, half_type(h->v, typed), 0, 0, (uint32_t[3]){typed, 0, 0});
  const bool folds = row && h->host->fold_given(h->module, row, given, out);
  if (row)
    h->host->kill(h->module, row);
  if (folds)
    *out_bits = out[0];
  return folds;
}

/* Returns a row of f16 with the value of the f32 row.  Inserts it before the row `before` if there is none. */
static uint32_t
half_of(halver *h, uint32_t row, uint32_t before)
{
  const vyre_view *v = h->v;
  uint64_t bits;
  if (h->halves[row])
    return h->halves[row];
  if (is_widened(v, row))
    return v->a[row];
  if (vyre_row_is_const(v, row) && convert_literal(h, row, before, vyre_row_imm(v, row), &bits)) {
    const uint32_t literal = h->host->constant(h->module, row, half_type(v, row), bits);
    h->failed |= literal == 0;
    return literal;
  }
  if (h->copies[row] && v->parent[h->copies[row]] == v->parent[before])
    return h->copies[row];
  const bool is_splat = VYRE_ROW_OP(v->op[row]) == VYRE_OP_splat; /* one lane to convert */
  const uint32_t from = is_splat ? half_of(h, v->a[row], before) : row;
  h->copies[row] =
      insert(h, before, is_splat ? VYRE_OP_splat : VYRE_OP_convert, half_type(v, row), 0, 0, (uint32_t[3]){from, 0, 0});
  return h->copies[row];
}

/* The row with operands of f16. */
typedef struct half_row {
  uint32_t op, flags, operands[3];
  uint64_t imm;
} half_row;

static half_row
make_half(halver *h, uint32_t row)
{
  const vyre_view *v = h->v;
  half_row made = {.op = VYRE_ROW_OP(v->op[row]),
                   .flags = VYRE_ROW_FLAGS(v->op[row]) & ~(uint32_t)VYRE_ROW_RELAXED,
                   .operands = {v->a[row], v->b[row], v->c[row]},
                   .imm = vyre_row_imm(v, row)};
  const bool has_literal = (made.flags & VYRE_ROW_IMM) != 0 && !halves_moves(made.op);
  if (has_literal && !convert_literal(h, v->a[row], row, made.imm, &made.imm)) {
    made.operands[1] = h->host->constant(h->module, row, VYRE_ROW_TYPE(v->op[v->a[row]]), made.imm);
    made.flags &= ~(uint32_t)VYRE_ROW_IMM;
    made.imm = 0;
  }
  for (uint32_t k = 0; k < 3; k++)
    if (made.operands[k] && is_f32(v, made.operands[k]))
      made.operands[k] = half_of(h, made.operands[k], row);
  return made;
}

/* Inserts the f16 form of the row before it.  The row itself becomes the conversion to f32 if that has uses. */
static void
change_row(halver *h, uint32_t row)
{
  const vyre_view *v = h->v;
  const vyre_type type = half_type(v, row);
  const half_row made = make_half(h, row);
  const uint32_t half = h->failed ? 0 : insert(h, row, made.op, type, made.flags, made.imm, made.operands);
  h->halves[row] = half;
  if (!half)
    return;
  h->computed += (h->facts[row] & COMPUTES) != 0;
  h->moved += (h->facts[row] & MOVES) != 0;
  if ((h->facts[row] & KEPT) != 0)
    h->host->rewrite(h->module, row, VYRE_ROW(VYRE_OP_convert, VYRE_ROW_TYPE(v->op[row]), 0), 0, 0, half, 0, 0);
  else
    h->host->set_name(h->module, half, h->host->name(h->module, row));
}

static void
change_comparison(halver *h, uint32_t row)
{
  const half_row made = make_half(h, row);
  h->compared++;
  if (!h->failed)
    h->host->rewrite(h->module, row, VYRE_ROW(made.op, VYRE_ROW_TYPE(h->v->op[row]), made.flags), (uint32_t)made.imm,
                     (uint32_t)(made.imm >> 32), made.operands[0], made.operands[1], made.operands[2]);
}

static void
change_set(halver *h, uint32_t row)
{
  const uint32_t value = half_of(h, h->v->b[row], row), variable = h->halves[h->v->a[row]];
  if (h->failed)
    return;
  h->host->set_operand(h->module, row, 0, variable);
  h->host->set_operand(h->module, row, 1, value);
}

/* Changes the program's rows, and removes those without uses. */
static void
change_program(halver *h, uint32_t program, uint32_t end)
{
  const vyre_view *v = h->v;
  for (uint32_t row = program; row < end && !h->failed; row++)
    if (VYRE_ROW_OP(v->op[row]) == VYRE_OP_set && h->halves[v->a[row]])
      change_set(h, row);
    else if ((h->facts[row] & COMPARES) != 0)
      change_comparison(h, row);
    else if (is_half(h, row))
      change_row(h, row);
  for (uint32_t row = end; row-- > program && !h->failed;)
    if (h->halves[row] && (h->facts[row] & KEPT) == 0)
      h->host->kill(h->module, row);
}

static vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  const uint32_t rows = v->rows;
  halver h = {.ctx = ctx, .host = ctx->host, .module = module, .v = v};
  *out = VYRE_UNCHANGED;
  h.pinned = pinned_find(ctx, module);
  h.facts = ctx->host->alloc(ctx, rows);
  h.halves = ctx->host->alloc(ctx, sizeof(uint32_t) * rows);
  h.copies = ctx->host->alloc(ctx, sizeof(uint32_t) * rows);
  if (!h.pinned || !h.facts || !h.halves || !h.copies)
    return ctx->host->out_of_memory(ctx);
  for (uint32_t program = v->first[0]; program && !h.failed; program = v->next[program]) {
    const uint32_t end = v->next[program] ? v->next[program] : rows;
    if ((v->imm[program] & VYRE_PROGRAM_FLOAT_MODES) != 0)
      continue;
    if (!find_facts(&h, program, end, true))
      (void)find_facts(&h, program, end, false);
    find_uses(&h, program, end);
    change_program(&h, program, end);
  }
  if (h.failed)
    return ctx->host->out_of_memory(ctx);
  ctx->host->count(ctx, "rows computed in f16", h.computed);
  ctx->host->count(ctx, "rows moved as f16", h.moved);
  ctx->host->count(ctx, "comparisons of f16", h.compared);
  *out = h.computed ? VYRE_CHANGED : VYRE_UNCHANGED;
  return VYRE_OK;
}

static const vyre_pass half = {
    .struct_size = sizeof(vyre_pass),
    .name = "half",
    .summary = "compute relaxed f32 arithmetic in f16",
    .help = "Rows of f32 with the flag `relaxed` (RelaxedPrecision) are computed in f16.  Conversions between them are omitted.\n"
            "Results change, and the device must support f16, so the pass is in no default pipeline.",
    .run = run,
};
VYRE_PLUGIN("half", "1.0", &half)
