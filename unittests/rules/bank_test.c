/* Tests every rule of the bank by execution.  A rule that is added to passes/pm is tested without further changes.
 *
 * For each rule and each choice of kinds (a sample if there are many), the test builds programs whose value is the rule's pattern
 * over variables.  They are strict and relaxed, have one lane and several, both orders of commuting operands, and constants for
 * which the conditions hold.  pm and expand run on them, and must use the rule.  At edges and random values of the variables, the
 * value must not change, except where it was undefined in a relaxed program.  VYRE_SEED and VYRE_POINTS in the environment set
 * the seed and the number of points; VYRE_RULE names one rule.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../budget.h"
#include "rules_fixture.h"

#include "rules_table.h"
#include "vyre/eval.h"
#include "vyre/ir.h"
#include "vyre/passmgr.h"
#include "vyre/text.h"
#include "vyre/verify.h"

enum { MOST_TYPINGS = 24, MOST_PROGRAMS = 64, MOST_CHOICES = 6, MOST_TRIES = 3000, FILE_BYTES = 1 << 16 };

typedef struct instance {
  uint64_t constants[RULES_VARIABLES];
  bool relaxed;
} instance;

typedef struct bench {
  arena arena;
  rules_set set;
  vyre_registry *registry;
  vyre_pipeline *pipelines[2];
  vyre_module *before, *after;
  uint64_t random;
  uint32_t points;
  /* the rule that is tested */
  const rules_rule *rule;
  vyre_kind kinds[RULES_KINDS];
  uint32_t lanes[RULES_NODES]; /* of each class */
  uint32_t flips;
  instance instances[MOST_PROGRAMS];
  uint32_t programs;
  uint64_t used[2][2]; /* uses of the rule: by order of commuting operands, by one lane and several */
  uint32_t unused;     /* number of cases in which a rule was not used */
} bench;

/* ---- values ---------------------------------------------------------------------------------------------------------- */

static uint64_t
next_random(bench *b)
{
  b->random ^= b->random << 13;
  b->random ^= b->random >> 7;
  b->random ^= b->random << 17;
  return b->random;
}

static uint64_t
mask_of(vyre_kind kind)
{
  return UINT64_MAX >> (64 - vyre_kind_bits(kind));
}

static uint64_t
int_value(bench *b, vyre_kind kind)
{
  const uint32_t bits = vyre_kind_bits(kind);
  const uint64_t random = next_random(b), high = UINT64_C(1) << (bits - 1);
  const uint64_t edges[] = {0, 1, 2, 3, 7, 10, bits - 1, bits, UINT64_MAX, UINT64_MAX - 1, high, high - 1, high + 1, high >> 1};
  switch (random % 8) {
  case 0:
  case 1:
  case 2:
    return edges[random / 8 % (sizeof edges / sizeof edges[0])];
  case 3:
    return UINT64_C(1) << random / 8 % bits;
  case 4:
    return next_random(b) % bits;
  case 5:
    return next_random(b) >> random / 8 % 64;
  default:
    return next_random(b);
  }
}

static uint64_t
float_value(bench *b, vyre_kind kind)
{
  static const uint64_t edges[3][14] = {
      {0, 0x8000, 0x3c00, 0xbc00, 0x3800, 0x4000, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x0001, 0x83ff, 0x7bff, 0x4248},
      {0, 0x80000000, 0x3f800000, 0xbf800000, 0x3f000000, 0x40000000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 1, 0x807fffff,
       0x7f7fffff, 0x40490fdb},
      {0, UINT64_C(0x8000000000000000), UINT64_C(0x3ff0000000000000), UINT64_C(0xbff0000000000000), UINT64_C(0x3fe0000000000000),
       UINT64_C(0x4000000000000000), UINT64_C(0x7ff0000000000000), UINT64_C(0xfff0000000000000), UINT64_C(0x7ff8000000000000),
       UINT64_C(0xfff8000000012345), 1, UINT64_C(0x800fffffffffffff), UINT64_C(0x7fefffffffffffff), UINT64_C(0x400921fb54442d18)}};
  const uint64_t random = next_random(b);
  return random % 2 ? edges[kind - VYRE_F16][random / 2 % 14] : next_random(b);
}

static uint64_t
any_value(bench *b, vyre_kind kind)
{
  if (kind == VYRE_BOOL)
    return next_random(b) & 1;
  return (vyre_kind_is_float(kind) ? float_value(b, kind) : int_value(b, kind)) & mask_of(kind);
}

static bool
is_nan(vyre_kind kind, uint64_t bits)
{
  const uint64_t infinity = kind == VYRE_F16 ? 0x7c00 : kind == VYRE_F32 ? 0x7f800000 : UINT64_C(0x7ff0000000000000);
  return vyre_kind_is_float(kind) && (bits & mask_of(kind) >> 1) > infinity;
}

/* ---- programs -------------------------------------------------------------------------------------------------------- */

static vyre_type
type_at(const bench *b, uint32_t id)
{
  return VYRE_TYPE(b->kinds[b->rule->nodes[id].kind], b->lanes[b->rule->nodes[id].lanes]);
}

/* Returns the number of lanes of a constant operand. */
static uint32_t
operand_lanes(const bench *b, uint32_t parent, uint32_t k)
{
  const rules_node *node = &b->rule->nodes[parent];
  const bool field = node->op == VYRE_OP_ubfe || node->op == VYRE_OP_sbfe || node->op == VYRE_OP_insert || node->op == VYRE_OP_lane;
  if (node->op == VYRE_OP_tuple || node->op == VYRE_OP_splat || (field && k > 0))
    return 1;
  for (uint32_t i = 0; i < node->operands && !field; i++)
    if (!b->rule->nodes[node->operand[i]].constant && (node->op != VYRE_OP_select || i > 0 || k == 0))
      return b->lanes[b->rule->nodes[node->operand[i]].lanes];
  return b->lanes[node->lanes];
}

static vyre_row
build_term(const bench *b, vyre_builder *builder, uint32_t parent, uint32_t k, uint32_t id, const vyre_row *variables,
           const instance *at)
{
  const rules_node *node = &b->rule->nodes[id];
  vyre_row operands[3] = {VYRE_NONE, VYRE_NONE, VYRE_NONE};
  if (node->sort == RULES_VARIABLE)
    return variables[node->variable];
  if (node->sort != RULES_OP) {
    uint64_t bits = 0;
    assert_true(rules_evaluate(b->rule, id, b->kinds, at->constants, &bits));
    return vyre_build_const(builder, VYRE_TYPE(b->kinds[node->kind], operand_lanes(b, parent, k)), bits);
  }
  for (uint32_t i = 0; i < node->operands; i++)
    operands[i] = build_term(b, builder, id, i, node->operand[i], variables, at);
  if (b->flips && (vyre_op_infos[node->op].flags & VYRE_OP_COMMUTES) != 0) {
    const vyre_row left = operands[0];
    operands[0] = operands[1];
    operands[1] = left;
  }
  if (node->op == VYRE_OP_tuple)
    return vyre_build_tuple(builder, operands, 2);
  return vyre_build(builder, (vyre_opcode)node->op, type_at(b, id), 0, 0, 0, operands[0], operands[1], operands[2]);
}

/* Builds `set %result, pattern(get %v0, get %v1, ...)`. */
static void
build_program(bench *b, const instance *at)
{
  const rules_rule *rule = b->rule;
  vyre_builder builder;
  vyre_row vars[RULES_VARIABLES], values[RULES_VARIABLES];
  char name[16];
  assert_in_range(b->programs, 0, MOST_PROGRAMS - 1);
  snprintf(name, sizeof name, "p%u", b->programs);
  b->instances[b->programs++] = *at;
  const vyre_row program = vyre_build_program(b->before, name, at->relaxed ? VYRE_PROGRAM_RELAXED : 0,
                                              vyre_module_add_input(b->before, "test"), &builder);
  for (uint32_t v = 0; v < rule->variable_count; v++)
    vars[v] = rule->variables[v].constant ? VYRE_NONE : vyre_build_var(&builder, type_at(b, rule->variables[v].node));
  const vyre_row result = vyre_build_var(&builder, type_at(b, rule->pattern));
  vyre_builder_at_end(&builder, program);
  for (uint32_t v = 0; v < rule->variable_count; v++)
    if (vars[v].id)
      values[v] = vyre_build_get(&builder, vars[v]);
  vyre_build_set(&builder, result, build_term(b, &builder, 0, 0, rule->pattern, values, at));
}

static bool
conditions_hold(const bench *b, const instance *at)
{
  for (uint32_t i = 0; i < b->rule->condition_count; i++) {
    uint64_t truth = 0;
    assert_true(rules_evaluate(b->rule, b->rule->conditions[i], b->kinds, at->constants, &truth));
    if (!truth)
      return false;
  }
  return true;
}

/* Chooses constants for which the conditions hold.  Returns false if it found none. */
static bool
choose_constants(bench *b, instance *out)
{
  for (uint32_t tries = 0; tries < MOST_TRIES; tries++) {
    for (uint32_t v = 0; v < b->rule->variable_count; v++)
      if (b->rule->variables[v].constant)
        out->constants[v] = any_value(b, b->kinds[b->rule->nodes[b->rule->variables[v].node].kind]);
    if (conditions_hold(b, out))
      return true;
  }
  return false;
}

static bool
has_constants(const rules_rule *rule)
{
  for (uint32_t v = 0; v < rule->variable_count; v++)
    if (rule->variables[v].constant)
      return true;
  return false;
}

/* ---- results of programs --------------------------------------------------------------------------------------------- */

typedef struct point {
  vyre_value variables[RULES_VARIABLES];
} point;

/* Evaluates the row and its operands, and finds whether it is undefined.  A `get` is the variable with the index of its var. */
static bool
evaluate(const bench *b, const vyre_view *v, uint32_t row, const point *at, vyre_value out[VYRE_EVAL_PARTS], bool *out_undefined)
{
  const uint32_t word = v->op[row], ids[3] = {v->a[row], v->b[row], v->c[row]};
  vyre_value parts[3][VYRE_EVAL_PARTS], literal;
  vyre_eval_operand operands[3] = {{0}};
  bool undefined[3] = {false};
  *out_undefined = false;
  if (VYRE_ROW_OP(word) == VYRE_OP_get) {
    uint32_t index = 0;
    for (uint32_t var = v->prev[v->a[row]]; var && VYRE_ROW_OP(v->op[var]) == VYRE_OP_var; var = v->prev[var])
      index++;
    for (uint32_t k = 0; k < b->rule->variable_count; k++)
      if (!b->rule->variables[k].constant && index-- == 0)
        out[0] = at->variables[k];
    return true;
  }
  for (uint32_t k = 0; k < 3; k++) {
    if (ids[k] == 0)
      continue;
    operands[k] = (vyre_eval_operand){.value = parts[k], .type = VYRE_ROW_TYPE(v->op[ids[k]])};
    if (VYRE_ROW_OP(v->op[ids[k]]) == VYRE_OP_tuple) {
      const uint32_t inner[2] = {v->a[ids[k]], v->b[ids[k]]};
      vyre_value scratch[VYRE_EVAL_PARTS];
      operands[k].parts = 2;
      operands[k].part_type = VYRE_ROW_TYPE(v->op[inner[0]]);
      for (uint32_t i = 0; i < 2; i++) {
        bool odd;
        if (!evaluate(b, v, inner[i], at, scratch, &odd))
          return false;
        parts[k][i] = scratch[0];
        undefined[k] |= odd;
      }
    } else if (!evaluate(b, v, ids[k], at, parts[k], &undefined[k])) {
      return false;
    }
  }
  if (VYRE_ROW_FLAGS(word) & VYRE_ROW_IMM) {
    for (uint32_t i = 0; i < 4; i++)
      literal.lane[i] = vyre_row_imm(v, row);
    operands[1] = (vyre_eval_operand){
        .value = &literal, .type = VYRE_ROW_OP(word) == VYRE_OP_lane ? VYRE_TYPE(VYRE_U32, 1) : VYRE_ROW_TYPE(v->op[ids[0]])};
  }
  bool own;
  if (!vyre_eval(word, v->imm[row], v->imm_hi[row], operands, out, &own))
    return false;
  if (VYRE_ROW_OP(word) == VYRE_OP_select && VYRE_TYPE_LANES(operands[0].type) == 1)
    *out_undefined = own || undefined[0] || undefined[parts[0][0].lane[0] ? 1 : 2];
  else
    *out_undefined = own || undefined[0] || undefined[1] || undefined[2];
  return true;
}

/* Returns the value of the program's last `set`. */
static uint32_t
result_row(const vyre_view *v, uint32_t program)
{
  const uint32_t set = v->last[program];
  assert_int_equal(VYRE_ROW_OP(v->op[set]), VYRE_OP_set);
  return v->b[set];
}

static void
print_both(const bench *b)
{
  vyre_bytes text = {0};
  if (!vyre_text_print(b->before, NULL, &text) && !vyre_text_print(b->after, NULL, &text))
    print_error("%s\n", text.data);
  vyre_bytes_free(&text);
}

static void
compare_program(bench *b, uint32_t before, uint32_t after, const instance *at)
{
  const vyre_view *v = vyre_module_view(b->before), *w = vyre_module_view(b->after);
  const vyre_kind kind = b->kinds[b->rule->nodes[b->rule->pattern].kind];
  for (uint32_t i = 0; i < b->points; i++) {
    point p = {0};
    vyre_value old_value[VYRE_EVAL_PARTS], new_value[VYRE_EVAL_PARTS];
    bool old_undefined, new_undefined;
    for (uint32_t k = 0; k < b->rule->variable_count; k++)
      for (uint32_t lane = 0; lane < 4; lane++)
        p.variables[k].lane[lane] = any_value(b, b->kinds[b->rule->nodes[b->rule->variables[k].node].kind]);
    for (uint32_t k = 1; k < b->rule->variable_count && next_random(b) % 4 == 0; k++)
      p.variables[k] = p.variables[0]; /* edges of comparisons; ops truncate values of other widths */
    for (uint32_t k = 0; k < b->rule->variable_count; k++)
      for (uint32_t lane = 0; lane < 4; lane++)
        p.variables[k].lane[lane] &= mask_of(b->kinds[b->rule->nodes[b->rule->variables[k].node].kind]);
    assert_true(evaluate(b, v, result_row(v, before), &p, old_value, &old_undefined));
    assert_true(evaluate(b, w, result_row(w, after), &p, new_value, &new_undefined));
    if (at->relaxed && old_undefined)
      continue;
    bool equal = !at->relaxed || !new_undefined;
    for (uint32_t lane = 0; lane < VYRE_TYPE_LANES(VYRE_ROW_TYPE(v->op[result_row(v, before)])); lane++)
      equal &= old_value[0].lane[lane] == new_value[0].lane[lane] ||
               (is_nan(kind, old_value[0].lane[lane]) && is_nan(kind, new_value[0].lane[lane]));
    if (equal)
      continue;
    for (uint32_t k = 0; k < b->rule->variable_count; k++)
      print_error("%s = 0x%llx\n", b->rule->variables[k].name,
                  (unsigned long long)(b->rule->variables[k].constant ? at->constants[k] : p.variables[k].lane[0]));
    print_both(b);
    fail_msg("rule %s: 0x%llx became 0x%llx%s", b->rule->name, (unsigned long long)old_value[0].lane[0],
             (unsigned long long)new_value[0].lane[0], at->relaxed && new_undefined ? ", undefined" : "");
  }
}

/* ---- a rule ---------------------------------------------------------------------------------------------------------- */

static void
assert_ok(const bench *b, vyre_status status)
{
  if (status)
    fail_msg("rule %s: %s", b->rule->name, vyre_status_text(status));
}

/* Runs all instances of the rule with its kinds, lanes and order.  Returns the number of uses, or UINT64_MAX if the lanes are
 * invalid. */
static uint64_t
run_module(bench *b)
{
  const bool expand = rules_used_by(b->rule) == RULES_FOR_EXPAND;
  const vyre_pipeline_options no_options = {.struct_size = sizeof no_options, .verify_each = true, .check_changed = true};
  vyre_pipeline_options options = no_options;
  vyre_verify_errors errors = {0};
  vyre_report *report;
  assert_ok(b, vyre_module_status(b->before));
  assert_ok(b, vyre_module_seal(b->before, NULL));
  vyre_status invalid = vyre_verify(b->before, &errors);
  vyre_verify_errors_free(&errors);
  if (invalid) { /* these lanes are not possible */
    vyre_status_free(invalid);
    return UINT64_MAX;
  }
  assert_ok(b, vyre_report_create(NULL, &report));
  options.report = report;
  assert_ok(b, vyre_module_clone(b->before, &b->after));
  assert_ok(b, vyre_pipeline_run(b->pipelines[expand], b->after, &options));
  const vyre_view *v = vyre_module_view(b->before), *w = vyre_module_view(b->after);
  uint32_t old_program = v->first[0], new_program = w->first[0];
  for (uint32_t i = 0; i < b->programs; i++) {
    compare_program(b, old_program, new_program, &b->instances[i]);
    old_program = v->next[old_program];
    new_program = w->next[new_program];
  }
  const uint64_t uses = vyre_report_count(report, expand ? "expand" : "pm", b->rule->name);
  vyre_report_destroy(report);
  vyre_module_destroy(b->after);
  return uses;
}

static uint64_t
test_lanes(bench *b)
{
  vyre_module_clear(b->before);
  b->programs = 0;
  for (uint32_t mode = 0; mode < 2; mode++) {
    instance at = {.relaxed = mode};
    for (uint32_t choice = 0; (b->rule->modes >> mode & 1) != 0 && choice < (has_constants(b->rule) ? MOST_CHOICES : 1); choice++)
      if (choose_constants(b, &at))
        build_program(b, &at);
  }
  return b->programs ? run_module(b) : 0;
}

static bool
has_commuting(const rules_rule *rule)
{
  for (uint32_t id = 1; id <= rule->pattern; id++)
    if (rule->nodes[id].sort == RULES_OP && (vyre_op_infos[rule->nodes[id].op].flags & VYRE_OP_COMMUTES) != 0)
      return true;
  return false;
}

/* Tests one lane in all classes, several lanes, and several lanes with one lane in one class, as for the condition of a
 * select. */
static void
test_typing(bench *b)
{
  for (b->flips = 0; b->flips < 1u + has_commuting(b->rule); b->flips++)
    for (uint32_t shape = 0; shape < 1u + b->rule->lanes_count; shape++) {
      b->lanes[0] = 1;
      for (uint32_t class = 1; class < b->rule->lanes_count; class ++)
        b->lanes[class] = shape == 0 || (shape > 1 && shape - 1 == class) ? 1 : 3;
      const uint64_t used = test_lanes(b);
      if (shape < 2 && used != UINT64_MAX)
        b->used[b->flips][shape] += used;
    }
}

static void
test_rule(bench *b)
{
  uint32_t typings = 0;
  memset(b->kinds, 0, sizeof b->kinds);
  memset(b->used, 0, sizeof b->used);
  while (rules_next_typing(b->rule, b->kinds))
    typings++;
  if (typings == 0)
    fail_msg("rule %s fits no types", b->rule->name);
  memset(b->kinds, 0, sizeof b->kinds);
  for (uint32_t i = 0; rules_next_typing(b->rule, b->kinds); i++)
    if (typings <= MOST_TYPINGS || next_random(b) % typings < MOST_TYPINGS || i + 1 == typings)
      test_typing(b);
  for (uint32_t flips = 0; flips < 1u + has_commuting(b->rule); flips++)
    for (uint32_t shape = 0; shape < (b->rule->lanes_count > 1 ? 2 : 1); shape++)
      if (b->used[flips][shape] == 0) {
        print_error("rule %s is not used%s%s\n", b->rule->name, flips ? " with its operands exchanged" : "",
                    shape ? " on several lanes" : "");
        b->unused++;
      }
}

static void
open_bank(bench *b)
{
  static const char *const files[] = {VYRE_TEST_RULES};
  static const char *const texts[] = {"pm", "expand"};
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    rules_errors errors;
    char *text = arena_take(&b->arena, FILE_BYTES);
    FILE *from = fopen(files[i], "rb");
    assert_non_null(from);
    const size_t length = fread(text, 1, FILE_BYTES, from);
    fclose(from);
    assert_true(length < FILE_BYTES);
    if (!rules_parse((rules_memory){arena_take, &b->arena}, files[i], text, length, &b->set, &errors))
      fail_msg("%s:%u:%u: %s", files[i], errors.items[0].line, errors.items[0].column, errors.items[0].message);
  }
  assert_null(vyre_registry_create(NULL, &b->registry));
  assert_null(vyre_registry_load_folder(b->registry, VYRE_TEST_PASSES, VYRE_ORIGIN_CORE));
  for (uint32_t i = 0; i < 2; i++)
    assert_null(vyre_pipeline_parse(b->registry, texts[i], strlen(texts[i]), "-passes", &b->pipelines[i]));
  assert_null(vyre_module_create(NULL, 1u << 16, &b->before));
}

TEST(every_rule_preserves_results)
{
  const char *only = getenv("VYRE_RULE"), *seed = getenv("VYRE_SEED");
  bench b = {.random = (seed ? strtoull(seed, NULL, 0) : 1) * UINT64_C(0x9e3779b97f4a7c15),
             .points = budget_number("VYRE_POINTS", budget_part(24))};
  open_bank(&b);
  for (uint32_t i = 0; i < b.set.count; i++) {
    b.rule = &b.set.rules[i];
    if (!only || strcmp(only, b.rule->name) == 0)
      test_rule(&b);
  }
  assert_int_equal(b.unused, 0);
  vyre_module_destroy(b.before);
  vyre_pipeline_destroy(b.pipelines[0]);
  vyre_pipeline_destroy(b.pipelines[1]);
  vyre_registry_destroy(b.registry);
  arena_free(&b.arena);
}
