/* Compiles rules to a flat table: see rules_table.h.
 *
 * A rule becomes one candidate for each order of operands of its commuting ops that makes a different term.  A candidate's
 * program first tests the structure, then kinds, lanes and widths, then the conditions that must be computed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "compile.h"

#include <stdio.h>
#include <string.h>

#include "vyre/ir.h"

enum { MOST_FLIPS = 5, MOST_CANDIDATES = 1u << 16, NO_REGISTER = 0xff };

/* ---- words ----------------------------------------------------------------------------------------------------------- */

static bool
reserve(rules_memory memory, rules_table *table, uint32_t more)
{
  if (table->count + more <= table->capacity)
    return true;
  uint32_t capacity = table->capacity ? table->capacity : 4096;
  while (capacity < table->count + more)
    capacity *= 2;
  uint32_t *words = memory.allocate(memory.user, capacity * sizeof *words);
  if (!words)
    return false;
  if (table->count)
    memcpy(words, table->words, table->count * sizeof *words);
  table->words = words;
  table->capacity = capacity;
  return true;
}

void
rules_put(rules_writer *w, uint32_t word)
{
  if (reserve(w->memory, w->table, 1))
    w->table->words[w->table->count++] = word;
  else
    w->wrong = "out of memory";
}

/* ---- the applying pass ----------------------------------------------------------------------------------------------- */

static bool
is_existing_operand(const rules_rule *rule, uint32_t id)
{
  return rule->nodes[id].sort == RULES_VARIABLE || rules_in_pattern(rule, id) != 0;
}

/* pm can make one row.  Its right operand may be an immediate, and the others must be existing rows.  A commuting op may
 * exchange them. */
rules_use
rules_used_by(const rules_rule *rule)
{
  const rules_node *node = &rule->nodes[rule->replacement];
  if (rule->rows == 0)
    return RULES_FOR_PM;
  if (rule->rows > 1)
    return RULES_FOR_EXPAND;
  const uint32_t flags = vyre_op_infos[node->op].flags;
  uint32_t constants = 0;
  for (uint32_t k = 0; k < node->operands; k++)
    constants |= (uint32_t)!is_existing_operand(rule, node->operand[k]) << k;
  if (constants == 0 || ((flags & VYRE_OP_TAKES_IMM) != 0 && (constants == 2 || (constants == 1 && (flags & VYRE_OP_COMMUTES)))))
    return RULES_FOR_PM;
  return RULES_FOR_EXPAND;
}

/* ---- expressions ----------------------------------------------------------------------------------------------------- */

static uint32_t
literal_index(rules_writer *w, const rules_node *node)
{
  uint64_t bits[16] = {0};
  for (uint32_t kind = 0; kind < VYRE_KIND__COUNT; kind++)
    if (vyre_kind_is_scalar((vyre_kind)kind) &&
        (vyre_kind_is_float((vyre_kind)kind) ? node->op <= RULES_FLOAT : node->op != RULES_FLOAT))
      bits[kind] = rules_literal_bits(node, (vyre_kind)kind);
  for (uint32_t i = 0; i < w->literal_count; i++)
    if (memcmp(w->pool[i], bits, sizeof bits) == 0)
      return i;
  memcpy(w->pool[w->literal_count], bits, sizeof bits);
  return w->literal_count++;
}

/* Returns the code of a node's kind: 0..15 is a kind, and 16 + n the kind variable n. */
static uint32_t
kind_code(rules_writer *w, uint32_t node)
{
  const uint32_t kind = w->rule->nodes[node].kind;
  const uint16_t kinds = w->rule->kinds[kind].kinds;
  if ((kinds & (kinds - 1)) == 0)
    return (uint32_t)__builtin_ctz(kinds);
  if ((w->kinds_known >> kind & 1) == 0)
    w->wrong = "a type cannot be inferred from the pattern";
  return 16 + kind;
}

static void
put_steps(rules_writer *w, uint32_t id, uint32_t depth)
{
  const rules_node *node = &w->rule->nodes[id];
  if (depth == RULES_STACK)
    w->wrong = "a term of constants nests too deeply";
  if (w->wrong)
    return;
  for (uint32_t k = 0; k < node->operands; k++)
    put_steps(w, node->operand[k], depth + k);
  if (node->sort == RULES_CONSTANT)
    rules_put(w, RULES_PUSH | (uint32_t)w->variable_register[node->variable] << 4);
  else if (node->sort == RULES_LITERAL)
    rules_put(w, RULES_PUSH_LITERAL | kind_code(w, id) << 4 | literal_index(w, node) << 16);
  else if (node->sort == RULES_CALL)
    rules_put(w, RULES_APPLY_CALL | kind_code(w, node->operand[0]) << 4 | (uint32_t)node->op << 16);
  else
    rules_put(w, RULES_APPLY | kind_code(w, node->operand[0]) << 4 | kind_code(w, id) << 9 | (uint32_t)node->operands << 14 |
                     (uint32_t)node->op << 16);
}

static void
put_expression(rules_writer *w, uint32_t id)
{
  put_steps(w, id, 0);
  rules_put(w, RULES_END | kind_code(w, id) << 4);
}

/* ---- the pattern ----------------------------------------------------------------------------------------------------- */

static bool
commutes(const rules_rule *rule, uint32_t id)
{
  const rules_node *node = &rule->nodes[id];
  return node->sort == RULES_OP && node->operands == 2 && (vyre_op_infos[node->op].flags & VYRE_OP_COMMUTES) != 0;
}

/* Returns the k-th operand in the candidate's order.  `flips` has a bit for each commuting op of the pattern, by its number. */
static uint32_t
operand_in_order(const rules_rule *rule, uint32_t flips, uint32_t id, uint32_t k)
{
  uint32_t bit = 0;
  if (!commutes(rule, id))
    return rule->nodes[id].operand[k];
  for (uint32_t i = 1; i < id; i++)
    bit += commutes(rule, i);
  return rule->nodes[id].operand[flips >> bit & 1 ? 1 - k : k];
}

static uint32_t
new_register(rules_writer *w, uint32_t node)
{
  if (w->registers == RULES_REGISTERS) {
    w->wrong = "its pattern has too many terms";
    return 0;
  }
  w->node_register[node] = (uint8_t)w->registers;
  return w->registers++;
}

static void
put_operand(rules_writer *w, uint32_t id, uint32_t src, uint32_t which)
{
  const rules_node *node = &w->rule->nodes[id];
  const uint32_t place = src << 8 | which << 12;
  if (node->sort == RULES_LITERAL) {
    rules_put(w, RULES_IS | place | literal_index(w, node) << 16);
  } else if (node->sort == RULES_OP) {
    const uint32_t dst = new_register(w, id);
    rules_put(w, RULES_ROW | dst << 4 | place | (uint32_t)node->op << 14);
    for (uint32_t k = 0; k < node->operands; k++)
      put_operand(w, operand_in_order(w->rule, w->flips, id, k), dst, k);
  } else if (w->variable_register[node->variable] != NO_REGISTER) {
    w->node_register[id] = w->variable_register[node->variable];
    rules_put(w, RULES_SAME | (uint32_t)w->node_register[id] << 4 | place);
  } else {
    const uint32_t dst = new_register(w, id);
    w->variable_register[node->variable] = (uint8_t)dst;
    rules_put(w, (uint32_t)(node->sort == RULES_VARIABLE ? RULES_BIND : RULES_TAKE) | dst << 4 | place);
  }
}

/* Writes the checks of kinds: the rule's own, and that terms which the ops do not relate have equal kinds. */
static void
put_kinds(rules_writer *w)
{
  const rules_rule *rule = w->rule;
  for (uint32_t kind = 0; kind < rule->kind_count; kind++) {
    const rules_kind *k = &rule->kinds[kind];
    uint64_t seen = 0;
    for (uint32_t id = rule->pattern; id; id--) { /* rows before their operands */
      const rules_node *node = &rule->nodes[id];
      const uint32_t place = kind << 4 | (uint32_t)w->node_register[id] << 8;
      if (node->kind != kind || w->node_register[id] == NO_REGISTER || (seen >> node->given_kind & 1) != 0)
        continue;
      seen |= UINT64_C(1) << node->given_kind;
      if ((k->kinds & (k->kinds - 1)) == 0 && node->given_mask == k->kinds && !k->computes)
        continue; /* the ops leave it no other kind */
      if ((w->kinds_known >> kind & 1) == 0)
        rules_put(w, RULES_KIND | place | (uint32_t)k->computes << 12 | (uint32_t)k->kinds << 16);
      else
        rules_put(w, RULES_KIND_SAME | place);
      w->kinds_known |= 1u << kind;
    }
  }
}

static void
put_lanes(rules_writer *w)
{
  const rules_rule *rule = w->rule;
  for (uint32_t lanes = 0; lanes < rule->lanes_count; lanes++) {
    uint64_t seen = lanes == 0; /* class 0, one lane, is always checked */
    uint32_t first = lanes == 0 ? RULES_SCALAR : NO_REGISTER;
    for (uint32_t id = rule->pattern; id; id--) {
      const rules_node *node = &rule->nodes[id];
      if (node->lanes != lanes || node->constant || w->node_register[id] == NO_REGISTER || (seen >> node->given_lanes & 1) != 0)
        continue;
      if (first != NO_REGISTER)
        rules_put(w, RULES_LANES | (uint32_t)w->node_register[id] << 4 | first << 8);
      else
        first = w->node_register[id];
      seen |= UINT64_C(1) << node->given_lanes;
    }
  }
}

static void
put_checks(rules_writer *w)
{
  const rules_rule *rule = w->rule;
  put_kinds(w);
  put_lanes(w);
  for (uint32_t i = 0; i < rule->width_count; i++) {
    const rules_width *width = &rule->widths[i];
    if ((w->kinds_known >> width->left & 1) == 0 || (width->right != RULES_KINDS && (w->kinds_known >> width->right & 1) == 0))
      w->wrong = "a type cannot be inferred from the pattern";
    rules_put(w, RULES_WIDTH | (uint32_t)width->left << 4 | (uint32_t)width->relation << 8 | (uint32_t)width->right << 12 |
                     (uint32_t)width->number << 16);
  }
  for (uint32_t i = 0; i < rule->condition_count; i++) {
    rules_put(w, RULES_WHEN);
    put_expression(w, rule->conditions[i]);
  }
}

/* ---- the replacement ------------------------------------------------------------------------------------------------- */

static uint32_t
register_of(const rules_writer *w, uint32_t id)
{
  const rules_node *node = &w->rule->nodes[id];
  return node->sort == RULES_VARIABLE ? w->variable_register[node->variable] : w->node_register[rules_in_pattern(w->rule, id)];
}

static uint32_t
parent_of(const rules_rule *rule, uint32_t id)
{
  for (uint32_t up = id + 1; up <= rule->pattern; up++)
    for (uint32_t k = 0; k < rule->nodes[up].operands; k++)
      if (rule->nodes[up].operand[k] == id)
        return up;
  return rule->pattern;
}

/* Writes the pairs of a row and its parent for the rows of the pattern that die with the root: the replacement does not use
 * them, and no other row may.  Outer rows come before the rows inside them. */
static void
put_pays(rules_writer *w)
{
  const rules_rule *rule = w->rule;
  uint32_t pairs = 0;
  bool used[RULES_NODES] = {false};
  const uint32_t head = w->table->count;
  rules_put(w, 0);
  for (uint32_t id = (uint32_t)rule->pattern + 1; id < rule->node_count; id++)
    used[rules_in_pattern(rule, id)] = true;
  for (uint32_t id = (uint32_t)rule->pattern - 1; id; id--) {
    const uint32_t parent = parent_of(rule, id);
    used[id] |= parent != rule->pattern && used[parent];
    if (rule->nodes[id].sort != RULES_OP || used[id])
      continue;
    rules_put(w, (uint32_t)w->node_register[id] | (uint32_t)w->node_register[parent] << 8);
    pairs++;
  }
  if (!w->wrong)
    w->table->words[head] = RULES_PAYS | pairs << 16;
}

/* Returns whether the op's k-th operand is a scalar whatever the row's type is. */
static bool
has_one_lane(uint32_t op, uint32_t k)
{
  switch (op) {
  case VYRE_OP_ubfe:
  case VYRE_OP_sbfe:
  case VYRE_OP_insert:
  case VYRE_OP_lane:
    return k > 0;
  case VYRE_OP_splat:
  case VYRE_OP_tuple:
    return true;
  default:
    return false;
  }
}

/* Collects the expressions and rows of a term, operands first.  Returns the term's operand descriptor. */
static uint32_t
collect_terms(const rules_rule *rule, uint32_t id, uint32_t expressions[RULES_NODES], uint32_t *expression_count,
              uint32_t rows[RULES_MADE], uint32_t *row_count)
{
  const rules_node *node = &rule->nodes[id];
  if (node->constant) {
    expressions[*expression_count] = id;
    return RULES_OPERAND_EXPRESSION | (*expression_count)++;
  }
  for (uint32_t k = 0; k < *row_count && k < RULES_MADE; k++) /* equal terms share a row */
    if (rules_same(rule, rows[k], id))
      return RULES_OPERAND_MADE | k;
  for (uint32_t k = 0; k < node->operands; k++)
    if (!is_existing_operand(rule, node->operand[k]))
      collect_terms(rule, node->operand[k], expressions, expression_count, rows, row_count);
  if (*row_count < RULES_MADE)
    rows[*row_count] = id;
  return RULES_OPERAND_MADE | (*row_count)++;
}

static uint32_t
descriptor(const rules_writer *w, uint32_t parent, uint32_t id, const uint32_t *expressions, uint32_t expression_count,
           const uint32_t *rows, uint32_t row_count)
{
  const rules_rule *rule = w->rule;
  if (is_existing_operand(rule, id))
    return RULES_OPERAND_REGISTER | register_of(w, id);
  for (uint32_t k = 0; k < expression_count; k++)
    if (expressions[k] == id) {
      for (uint32_t i = 0; i < rule->nodes[parent].operands; i++)
        if (rule->nodes[parent].operand[i] == id && has_one_lane(rule->nodes[parent].op, i))
          return RULES_OPERAND_EXPRESSION | RULES_OPERAND_ONE_LANE | k;
      return RULES_OPERAND_EXPRESSION | k;
    }
  for (uint32_t k = 0; k < row_count; k++)
    if (rules_same(rule, rows[k], id))
      return RULES_OPERAND_MADE | k;
  return 0;
}

/* Returns a register of the pattern with as many lanes as the node. */
static uint32_t
lanes_register(const rules_writer *w, uint32_t id)
{
  const rules_rule *rule = w->rule;
  if (rule->nodes[id].lanes == 0)
    return RULES_SCALAR;
  for (uint32_t node = rule->pattern; node; node--)
    if (!rule->nodes[node].constant && rule->nodes[node].lanes == rule->nodes[id].lanes && w->node_register[node] != NO_REGISTER)
      return w->node_register[node];
  return 0;
}

static void
put_make(rules_writer *w)
{
  const rules_rule *rule = w->rule;
  uint32_t expressions[RULES_NODES], expression_count = 0, rows[RULES_MADE] = {0}, row_count = 0;
  collect_terms(rule, rule->replacement, expressions, &expression_count, rows, &row_count);
  if (row_count > RULES_MADE - 1 || expression_count > 15) {
    w->wrong = "its replacement has too many terms";
    return;
  }
  rules_put(w, RULES_MAKE | row_count << 4 | expression_count << 8);
  const uint32_t places = w->table->count;
  for (uint32_t k = 0; k < expression_count; k++)
    rules_put(w, 0);
  for (uint32_t k = 0; k < row_count; k++) {
    const rules_node *node = &rule->nodes[rows[k]];
    uint32_t operands = 0;
    for (uint32_t i = 0; i < node->operands; i++)
      operands |= descriptor(w, rows[k], node->operand[i], expressions, expression_count, rows, row_count) << 8 * i;
    if ((operands & RULES_OPERAND_EXPRESSION) != 0 && commutes(rule, rows[k])) /* a literal is the right operand */
      operands = operands >> 8 | (operands & 0xffu) << 8;
    rules_put(w, node->op | kind_code(w, rows[k]) << 16 | lanes_register(w, rows[k]) << 21);
    rules_put(w, operands);
  }
  for (uint32_t k = 0; k < expression_count && !w->wrong; k++) {
    w->table->words[places + k] = w->table->count;
    put_expression(w, expressions[k]);
  }
}

static void
put_replacement(rules_writer *w)
{
  const rules_rule *rule = w->rule;
  if (is_existing_operand(rule, rule->replacement)) {
    rules_put(w, RULES_FORWARD | register_of(w, rule->replacement) << 4);
  } else if (rule->nodes[rule->replacement].constant) {
    rules_put(w, RULES_LITERALLY);
    put_expression(w, rule->replacement);
  } else {
    if (rules_used_by(rule) == RULES_FOR_EXPAND)
      put_pays(w);
    put_make(w);
  }
}

/* ---- candidates ------------------------------------------------------------------------------------------------------ */

/* Returns whether one of the flips makes the same term, because it exchanges equal operands. */
static bool
flips_nothing(const rules_rule *rule, uint32_t flips)
{
  uint32_t bit = 0;
  for (uint32_t id = 1; id <= rule->pattern; id++) {
    if (!commutes(rule, id))
      continue;
    if (flips >> bit++ & 1 && rules_same(rule, rule->nodes[id].operand[0], rule->nodes[id].operand[1]))
      return true;
  }
  return false;
}

static uint32_t
required_op(const rules_rule *rule, uint32_t id)
{
  const rules_node *node = &rule->nodes[id];
  return node->sort == RULES_OP ? node->op : node->sort == RULES_VARIABLE ? VYRE_OP__ROOM : VYRE_OP_const;
}

static bool
put_candidate(rules_writer *w, uint32_t rule, rules_candidate *out)
{
  const rules_node *root = &w->rule->nodes[w->rule->pattern];
  memset(w->node_register, NO_REGISTER, sizeof w->node_register);
  memset(w->variable_register, NO_REGISTER, sizeof w->variable_register);
  w->node_register[w->rule->pattern] = 0;
  w->registers = 1;
  w->kinds_known = 0;
  *out = (rules_candidate){
      .op = root->op, .next = UINT32_MAX, .program = w->table->count, .ops = {VYRE_OP__ROOM, VYRE_OP__ROOM}, .literal = UINT32_MAX};
  rules_put(w, rule | w->rule->modes << 30);
  for (uint32_t k = 0; k < root->operands; k++) {
    const uint32_t operand = operand_in_order(w->rule, w->flips, w->rule->pattern, k);
    if (k < 2)
      out->ops[k] = required_op(w->rule, operand);
    if (k == 1 && w->rule->nodes[operand].sort == RULES_LITERAL)
      out->literal = literal_index(w, &w->rule->nodes[operand]);
    if (k == 1)
      out->same = w->rule->nodes[operand].sort == RULES_VARIABLE && rules_same(w->rule, root->operand[0], root->operand[1]);
    if (k == 0)
      out->kinds = w->rule->kinds[w->rule->nodes[operand].kind].kinds;
    put_operand(w, operand, 0, k);
  }
  put_checks(w);
  put_replacement(w);
  return !w->wrong;
}

/* ---- a set -------------------------------------------------------------------------------------------------------- */

static bool
fail(const rules_rule *rule, const char *what, rules_error *out)
{
  *out = (rules_error){.line = rule ? rule->line : 1, .column = 1};
  snprintf(out->message, sizeof out->message, "rule '%s': %s", rule ? rule->name : "", what);
  snprintf(out->fix, sizeof out->fix, "split the rule, or write it with fewer terms");
  return false;
}

static uint32_t
count_flips(const rules_rule *rule)
{
  uint32_t count = 0;
  for (uint32_t id = 1; id <= rule->pattern; id++)
    count += commutes(rule, id);
  return count;
}

bool
rules_compile(rules_memory memory, const rules_set *set, rules_use use, rules_table *out, rules_error *out_error)
{
  uint32_t most = 0, literals = 0, count = 0;
  *out = (rules_table){0};
  for (uint32_t i = 0; i < set->count; i++) {
    const uint32_t flips = count_flips(&set->rules[i]);
    if (flips > MOST_FLIPS)
      return fail(&set->rules[i], "its pattern has too many commuting ops", out_error);
    most += 1u << flips;
    literals += set->rules[i].node_count;
  }
  rules_candidate *candidates = memory.allocate(memory.user, (most + 1) * sizeof *candidates);
  rules_writer w = {.memory = memory, .table = out, .pool = memory.allocate(memory.user, (literals + 1) * sizeof(uint64_t[16]))};
  if (most > MOST_CANDIDATES)
    return fail(&set->rules[0], "there are too many rules, counted in all orders of their operands", out_error);
  if (!candidates || !w.pool)
    return fail(set->count ? &set->rules[0] : NULL, "out of memory", out_error);
  for (uint32_t i = 0; i < RULES_TABLE_HEAD; i++)
    rules_put(&w, i == RULES_TABLE_RULES ? set->count : 0);
  for (uint32_t i = 0; i < set->count; i++) {
    w.rule = &set->rules[i];
    for (w.flips = 0; w.flips < 1u << count_flips(w.rule) && rules_used_by(w.rule) == use; w.flips++)
      if (!flips_nothing(w.rule, w.flips) && !put_candidate(&w, i, &candidates[count++]))
        return fail(w.rule, w.wrong, out_error);
  }
  rules_put_tables(&w, candidates, count);
  return !w.wrong || fail(w.rule, w.wrong, out_error);
}
