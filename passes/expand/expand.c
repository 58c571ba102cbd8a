/* Expansion: applies the rules whose replacement is several rows, if they pay: division by constants, factoring.
 *
 * A rule pays if the new rows cost less (issue, by the cost model) than the root and the pattern's rows without other uses,
 * which dce then removes.  A rule also pays at equal cost if no row of the pattern has other uses, because every replacement is
 * lighter by the termination measure.  New rows are inserted before the root, which becomes the last of them.  One sweep against
 * program order applies rules to each row until none matches.  O(rows).
 *
 * Limits: a row of the pattern that has another use makes a rule cost more.  Rules have the limits of pm.
 *
 * Requires: nothing.  Preserves: versions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sweep.h"

#include "expand-rules.inc"

/* The number of uses of each row at the start of the sweep.  2 means two or more. */
typedef struct uses {
  uint8_t *of;
} uses;

static void
count_use(const rules_sweep *s, const uses *u, uint32_t row)
{
  if (row < s->rows && u->of[row] < 2)
    u->of[row]++;
}

static uint32_t
issue_of(const rules_sweep *s, uint32_t op, vyre_type type)
{
  vyre_cost cost = {.struct_size = sizeof(cost)};
  s->host->cost(s->ctx, op, type, &cost);
  return cost.issue;
}

static uint32_t
issue_of_row(const rules_sweep *s, uint32_t row)
{
  return issue_of(s, VYRE_ROW_OP(s->v->op[row]), vyre_row_works_on(s->v, row));
}

/* Determines which rows in the registers of the match become dead when the root is replaced.  Returns the cost of these rows. */
static uint32_t
count_saved(const rules_sweep *s, const uses *u, const rules_match *m, bool dies[RULES_REGISTERS])
{
  uint32_t saved = issue_of_row(s, m->reg[0]);
  dies[0] = true;
  for (uint32_t k = 0; k < m->action[0] >> 16; k++) {
    const uint32_t word = m->action[1 + k], row = m->reg[word & 255u];
    dies[word & 255u] = dies[word >> 8] && row < s->rows && u->of[row] < 2;
    saved += dies[word & 255u] ? issue_of_row(s, row) : 0;
  }
  return saved;
}

/* Returns the words of row k of the replacement. */
static const uint32_t *
words_of(const uint32_t *make, uint32_t k)
{
  return make + 1 + (make[0] >> 8) + 2 * k;
}

static vyre_type
type_of_made(const rules_sweep *s, const rules_match *m, const uint32_t *row)
{
  const uint32_t kind_code = row[0] >> 16 & 31u, lanes_register = row[0] >> 21;
  const uint32_t kind = kind_code < 16 ? kind_code : m->kind[kind_code - 16];
  return VYRE_TYPE(kind, lanes_register == RULES_SCALAR ? 1 : VYRE_TYPE_LANES(rules_value_type(s->v, m->reg[lanes_register])));
}

/* Returns the cost of the replacement's rows.  The type that decides a row's cost is its result's, or for a bool or tuple its
 * first operand's. */
static uint32_t
count_spent(const rules_sweep *s, const rules_match *m, const uint32_t *make)
{
  uint32_t spent = 0;
  for (uint32_t k = 0; k < (make[0] >> 4 & 15u); k++) {
    const uint32_t *row = words_of(make, k), first = row[1] & 255u;
    vyre_type type = type_of_made(s, m, row);
    if (vyre_kind_bits(VYRE_TYPE_KIND(type)) < 8 && (first & RULES_OPERAND_MADE) != 0)
      type = type_of_made(s, m, words_of(make, first & 15u));
    else if (vyre_kind_bits(VYRE_TYPE_KIND(type)) < 8 && (first & RULES_OPERAND_REGISTER) != 0)
      type = rules_value_type(s->v, m->reg[first & 15u]);
    spent += issue_of(s, VYRE_ROW_OP(row[0]), type);
  }
  return spent;
}

typedef struct operand {
  uint32_t row;
  bool literal;
  vyre_type type;
  uint64_t bits;
} operand;

static operand
read_operand(const rules_sweep *s, const uint32_t *table, const rules_match *m, const uint32_t *make, const uint32_t *made,
             uint32_t lanes, uint32_t descriptor)
{
  if ((descriptor & RULES_OPERAND_EXPRESSION) != 0) {
    vyre_kind kind;
    const uint64_t bits = rules_compute(table, s->v, m, table + make[1 + (descriptor & 15u)], &kind);
    return (operand){0, true, VYRE_TYPE(kind, (descriptor & RULES_OPERAND_ONE_LANE) != 0 ? 1 : lanes), bits};
  }
  if ((descriptor & RULES_OPERAND_MADE) != 0)
    return (operand){.row = made[descriptor & 15u]};
  if ((descriptor & RULES_OPERAND_REGISTER) == 0)
    return (operand){0};
  const uint32_t value = m->reg[descriptor & 15u];
  if (!rules_value_is_literal(s->v, value))
    return (operand){.row = value};
  return (operand){(value & RULES_LITERAL_OF) != 0 ? 0 : value, true, rules_value_type(s->v, value), rules_value_bits(s->v, value)};
}

static uint32_t
row_of(const rules_sweep *s, uint32_t near_row, const operand *o)
{
  return o->literal && o->row == 0 ? s->host->constant(s->module, near_row, o->type, o->bits) : o->row;
}

/* Makes row k of the replacement: inserts it before the root, or rewrites the root if it is the last.  Returns 0 if memory runs
 * out. */
static uint32_t
make_row(rules_sweep *s, const uses *u, const uint32_t *table, const rules_match *m, const uint32_t *make, uint32_t k,
         const uint32_t *made)
{
  const uint32_t count = make[0] >> 4 & 15u, root = m->reg[0];
  const uint32_t *row = words_of(make, k), op = VYRE_ROW_OP(row[0]);
  const vyre_type type = type_of_made(s, m, row);
  operand o[3];
  for (uint32_t i = 0; i < 3; i++)
    o[i] = read_operand(s, table, m, make, made, VYRE_TYPE_LANES(type), row[1] >> 8 * i & 255u);
  if (o[0].literal && (vyre_op_info_of(s->v, op)->flags & VYRE_OP_COMMUTES) != 0) {
    const operand left = o[0];
    o[0] = o[1];
    o[1] = left;
  }
  const bool immediate = o[1].literal && (vyre_op_info_of(s->v, op)->flags & VYRE_OP_TAKES_IMM) != 0;
  const uint32_t a = row_of(s, root, &o[0]), b = immediate ? 0 : row_of(s, root, &o[1]), c = row_of(s, root, &o[2]);
  const uint32_t flags = immediate ? VYRE_ROW_IMM : 0;
  const uint64_t imm = immediate ? o[1].bits : op == VYRE_OP_tuple ? VYRE_TUPLE_OF(2, VYRE_TYPE(VYRE_U32, 1)) : 0;
  count_use(s, u, a);
  count_use(s, u, b);
  count_use(s, u, c);
  if (k + 1 == count) {
    rules_sweep_rewrite(s, m, op, flags, imm, a, b, c);
    return root;
  }
  return s->host->insert_row(s->module, root, VYRE_ROW(op, type, flags | m->exact | m->relaxed), (uint32_t)imm,
                             (uint32_t)(imm >> 32), a, b, c);
}

/* Returns whether the replacement has a comparison with a literal on the left.  canon would mirror it, perhaps back into the
 * rule's pattern, without end. */
static bool
is_backward(const rules_sweep *s, const rules_match *m, const uint32_t *make)
{
  for (uint32_t k = 0; k < (make[0] >> 4 & 15u); k++) {
    const uint32_t *row = words_of(make, k), left = row[1] & 255u;
    const vyre_op_info *info = vyre_op_info_of(s->v, VYRE_ROW_OP(row[0]));
    if (info->rule == VYRE_RULE_BOOL && (info->flags & VYRE_OP_COMMUTES) == 0 && (left & ~15u) == RULES_OPERAND_REGISTER &&
        rules_value_is_literal(s->v, m->reg[left & 15u]))
      return true;
  }
  return false;
}

/* Returns whether the rule pays.  Sets `dies` for the registers whose rows become dead. */
static bool
pays(const rules_sweep *s, const uses *u, const rules_match *m, const uint32_t *make, bool dies[RULES_REGISTERS])
{
  const uint32_t saved = count_saved(s, u, m, dies), spent = count_spent(s, m, make);
  bool all = true;
  for (uint32_t k = 0; k < m->action[0] >> 16; k++)
    all = all && dies[m->action[1 + k] & 255u];
  return saved > spent || (saved == spent && all);
}

static bool
apply(rules_sweep *s, void *user, const uint32_t *table, const rules_match *m, vyre_status *out_status)
{
  const uses *u = user;
  const uint32_t *make = m->action + 1 + (m->action[0] >> 16);
  uint32_t made[RULES_MADE] = {0};
  bool dies[RULES_REGISTERS] = {false};
  (void)out_status;
  if (m->reg[0] < s->rows && u->of[m->reg[0]] == 0)
    return false;
  if (is_backward(s, m, make) || !pays(s, u, m, make, dies))
    return false;
  for (uint32_t reg = 1; reg < RULES_REGISTERS; reg++)
    if (dies[reg])
      u->of[m->reg[reg]] = 0;
  for (uint32_t k = 0; k < (make[0] >> 4 & 15u); k++)
    made[k] = make_row(s, u, table, m, make, k, made);
  return true;
}

static vyre_status
run(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  rules_sweep s = {.ctx = ctx, .host = ctx->host, .module = module, .v = v, .rows = v->rows, .tables = {built_in}};
  uses u = {.of = ctx->host->alloc(ctx, v->rows)};
  *out = VYRE_UNCHANGED;
  if (!u.of)
    return ctx->host->out_of_memory(ctx);
  for (uint32_t row = s.rows; row-- > 1;) { /* users before their operands */
    if (vyre_op_of(v, row) == VYRE_OP_at && u.of[row] == 0)
      continue; /* unused paths are not in the text */
    count_use(&s, &u, v->a[row]);
    count_use(&s, &u, v->b[row]);
    count_use(&s, &u, v->c[row]);
  }
  rules_table users;
  VYRE_TRY(rules_read_user(ctx, RULES_FOR_EXPAND, &users));
  s.tables[1] = users.words;
  VYRE_TRY(rules_sweep_run(&s, RULES_BACKWARD_ORDER, apply, &u));
  rules_sweep_report(&s, built_in_names, built_in[RULES_TABLE_RULES]);
  *out = s.changed ? VYRE_CHANGED : VYRE_UNCHANGED;
  return VYRE_OK;
}

static const vyre_param params[] = {RULES_PARAM};

static const vyre_pass expand = {
    .struct_size = sizeof(vyre_pass),
    .name = "expand",
    .summary = "replace rows by several cheaper rows, by rewrite rules",
    .help = built_in_help,
    .params = params,
    .param_count = 1,
    .preserves = VYRE_VERSIONS,
    .run = run,
};
VYRE_PLUGIN("expand", "1.0", &expand)
