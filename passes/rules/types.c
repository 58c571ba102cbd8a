/* Infers the kinds and lanes of a rule's terms.
 *
 * Every node has a kind and a lanes class.  The rows of ops.def say which of them are equal.  Relations that the pattern's ops
 * imply hold for each match in a verified program.  They are kept apart from further relations (declared types, the replacement,
 * conditions), which the passes check when a rule matches.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"
#include "vyre/ir.h"

#include <string.h>

#include "eval/scalar.h"

#define BIT(kind) (1u << (kind))

enum { SCALAR = 0, SLOTS = RULES_NODES + RULES_KINDS }; /* a node's slot is its number; slots of declared types follow */

typedef struct solver {
  rules_reading *r;
  uint8_t kind[SLOTS], lanes[RULES_NODES]; /* union-find: by slot, its parent slot; a representative is its own parent */
  uint16_t mask[SLOTS];
  bool computes[SLOTS];
} solver;

static uint16_t
class_kinds(vyre_class klass)
{
  uint16_t kinds = 0;
  for (uint32_t kind = 0; kind < VYRE_KIND__COUNT; kind++)
    if (vyre_class_has(klass, (vyre_kind)kind))
      kinds |= (uint16_t)BIT(kind);
  return kinds;
}

uint16_t
rules_kinds_named(const char *word, size_t length)
{
  static const struct {
    const char *word;
    uint8_t klass, kind;
  } words[] = {
      {"any", VYRE_CLASS_ANY, 0},   {"num", VYRE_CLASS_NUM, 0},   {"int", VYRE_CLASS_INT, 0},     {"uint", VYRE_CLASS_UINT, 0},
      {"sint", VYRE_CLASS_SINT, 0}, {"bits", VYRE_CLASS_BITS, 0}, {"float", VYRE_CLASS_FLOAT, 0}, {"bool", VYRE_CLASS_BOOL, 0},
      {"i8", 0, VYRE_I8},           {"u8", 0, VYRE_U8},           {"i16", 0, VYRE_I16},           {"u16", 0, VYRE_U16},
      {"i32", 0, VYRE_I32},         {"u32", 0, VYRE_U32},         {"i64", 0, VYRE_I64},           {"u64", 0, VYRE_U64},
      {"f16", 0, VYRE_F16},         {"f32", 0, VYRE_F32},         {"f64", 0, VYRE_F64},
  };
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (strlen(words[i].word) == length && memcmp(words[i].word, word, length) == 0)
      return words[i].kind ? (uint16_t)BIT(words[i].kind) : class_kinds((vyre_class)words[i].klass);
  return 0;
}

/* ---- classes --------------------------------------------------------------------------------------------------------- */

static uint8_t
find_class(uint8_t *slots, uint32_t slot)
{
  while (slots[slot] != slot)
    slot = slots[slot];
  return (uint8_t)slot;
}

static void
unite_kinds(solver *s, uint32_t x, uint32_t y)
{
  x = find_class(s->kind, x);
  y = find_class(s->kind, y);
  if (x == y)
    return;
  s->kind[y] = (uint8_t)x;
  s->mask[x] &= s->mask[y];
  s->computes[x] |= s->computes[y];
}

static void
restrict_kinds(solver *s, uint32_t slot, uint16_t kinds)
{
  s->mask[find_class(s->kind, slot)] &= kinds;
}

/* Unites the lanes classes of two nodes.  Constants are skipped, because they are splats with any number of lanes. */
static void
unite_lanes(solver *s, uint32_t x, uint32_t y)
{
  const rules_node *nodes = s->r->rule->nodes;
  if (nodes[x].constant || nodes[y].constant)
    return;
  x = find_class(s->lanes, x);
  y = find_class(s->lanes, y);
  if (y == SCALAR) {
    y = x;
    x = SCALAR;
  }
  s->lanes[y] = (uint8_t)x;
}

static void
set_one_lane(solver *s, uint32_t x)
{
  if (!s->r->rule->nodes[x].constant)
    s->lanes[find_class(s->lanes, x)] = SCALAR;
}

static void
unite_types(solver *s, uint32_t x, uint32_t y)
{
  unite_kinds(s, x, y);
  unite_lanes(s, x, y);
}

/* ---- ops ------------------------------------------------------------------------------------------------------------- */

/* Infers ops with their own type rules.  Returns false if the op has none.  The condition of a select has one lane or as many as
 * the arms, so its lanes class is separate unless another op unites them. */
static bool
infer_special(solver *s, uint32_t id)
{
  const rules_node *node = &s->r->rule->nodes[id];
  const uint32_t a = node->operand[0], b = node->operand[1], c = node->operand[2];
  switch ((uint32_t)node->op) {
  case VYRE_OP_select:
    restrict_kinds(s, a, BIT(VYRE_BOOL));
    unite_types(s, id, b);
    unite_types(s, id, c);
    return true;
  case VYRE_OP_bitcast: /* infer_bitcasts unites its lanes with its operand's, which ops do not require */
    restrict_kinds(s, id, class_kinds(VYRE_CLASS_NUM));
    restrict_kinds(s, a, class_kinds(VYRE_CLASS_NUM));
    return true;
  case VYRE_OP_convert:
    restrict_kinds(s, id, class_kinds(VYRE_CLASS_NUM));
    restrict_kinds(s, a, class_kinds(VYRE_CLASS_NUM));
    unite_lanes(s, id, a);
    return true;
  case VYRE_OP_ubfe:
  case VYRE_OP_sbfe:
    unite_types(s, id, a);
    restrict_kinds(s, a, class_kinds(VYRE_CLASS_INT));
    restrict_kinds(s, b, BIT(VYRE_U32));
    restrict_kinds(s, c, BIT(VYRE_U32));
    set_one_lane(s, b);
    set_one_lane(s, c);
    return true;
  case VYRE_OP_bfi:
    unite_types(s, id, a);
    restrict_kinds(s, a, class_kinds(VYRE_CLASS_INT));
    unite_types(s, id, b);
    restrict_kinds(s, c, BIT(VYRE_TUPLE));
    set_one_lane(s, c);
    return true;
  case VYRE_OP_tuple: /* the field of a bfi */
    restrict_kinds(s, id, BIT(VYRE_TUPLE));
    restrict_kinds(s, a, BIT(VYRE_U32));
    restrict_kinds(s, b, BIT(VYRE_U32));
    set_one_lane(s, id);
    set_one_lane(s, a);
    set_one_lane(s, b);
    return node->operands == 2;
  case VYRE_OP_any:
  case VYRE_OP_all:
    restrict_kinds(s, id, BIT(VYRE_BOOL));
    restrict_kinds(s, a, BIT(VYRE_BOOL));
    set_one_lane(s, id);
    return true;
  case VYRE_OP_splat:
    unite_kinds(s, id, a);
    set_one_lane(s, a);
    return true;
  case VYRE_OP_lane:
    unite_kinds(s, id, a);
    set_one_lane(s, id);
    restrict_kinds(s, b, BIT(VYRE_U32));
    set_one_lane(s, b);
    return true;
  case VYRE_OP_insert:
    unite_types(s, id, a);
    unite_kinds(s, id, b);
    set_one_lane(s, b);
    restrict_kinds(s, c, BIT(VYRE_U32));
    set_one_lane(s, c);
    return true;
  default:
    return false;
  }
}

static bool
infer_op(solver *s, uint32_t id)
{
  const rules_node *node = &s->r->rule->nodes[id];
  const vyre_op_info *info = &vyre_op_infos[node->op];
  const uint16_t kinds = class_kinds((vyre_class)info->klass);
  const bool computes = (info->klass == VYRE_CLASS_NUM || info->klass == VYRE_CLASS_FLOAT) && node->op != VYRE_OP_bitcast;
  if ((info->flags & VYRE_OP_PURE) == 0 || (!infer_special(s, id) && info->rule != VYRE_RULE_SAME && info->rule != VYRE_RULE_BOOL))
    return rules_fail(s->r, node->at, "use ops that work lane by lane", "'%s' cannot be used in a rule", info->text);
  for (uint32_t k = 0; k < node->operands; k++) {
    if (info->rule == VYRE_RULE_SAME || info->rule == VYRE_RULE_BOOL) {
      restrict_kinds(s, node->operand[k], kinds);
      unite_types(s, node->operand[0], node->operand[k]);
      unite_lanes(s, id, node->operand[k]);
    }
    if (computes)
      s->computes[find_class(s->kind, node->operand[k])] = true;
  }
  if (info->rule == VYRE_RULE_SAME)
    unite_kinds(s, id, node->operand[0]);
  if (info->rule == VYRE_RULE_BOOL)
    restrict_kinds(s, id, BIT(VYRE_BOOL));
  if (computes)
    s->computes[find_class(s->kind, id)] = true;
  return true;
}

static bool
infer_node(solver *s, uint32_t id)
{
  const rules_node *node = &s->r->rule->nodes[id];
  switch (node->sort) {
  case RULES_OP:
    return infer_op(s, id);
  case RULES_CALL:
    restrict_kinds(s, node->operand[0], class_kinds(VYRE_CLASS_INT));
    if (node->op == RULES_UDIV_FITS)
      restrict_kinds(s, id, BIT(VYRE_BOOL));
    else
      unite_kinds(s, id, node->operand[0]);
    return true;
  case RULES_LITERAL:
    if (node->op == RULES_FLOAT)
      restrict_kinds(s, id, class_kinds(VYRE_CLASS_FLOAT));
    else if (node->op == RULES_ONES)
      restrict_kinds(s, id, class_kinds(VYRE_CLASS_BITS));
    else if (node->op != RULES_INTEGER)
      restrict_kinds(s, id, class_kinds(VYRE_CLASS_INT));
    return true;
  default:
    return true;
  }
}

/* Unites the types of all occurrences of a variable. */
static void
infer_variables(solver *s, uint32_t from, uint32_t to)
{
  const rules_rule *rule = s->r->rule;
  for (uint32_t id = from; id < to; id++)
    if (rule->nodes[id].sort == RULES_VARIABLE || rule->nodes[id].sort == RULES_CONSTANT)
      unite_types(s, rule->variables[rule->nodes[id].variable].node, id);
}

static void
infer_bitcasts(solver *s)
{
  const rules_rule *rule = s->r->rule;
  for (uint32_t id = 1; id < rule->node_count; id++)
    if (rule->nodes[id].sort == RULES_OP && rule->nodes[id].op == VYRE_OP_bitcast)
      unite_lanes(s, id, rule->nodes[id].operand[0]);
}

/* ---- a rule ---------------------------------------------------------------------------------------------------------- */

/* Unites declared types with the nodes that name them.  A single type that no node names is that of the first variable that it
 * fits. */
static bool
attach_types(solver *s)
{
  rules_reading *r = s->r;
  for (uint32_t type = 0; type < r->type_count; type++) {
    bool used = false;
    for (uint32_t id = 1; id < r->rule->node_count; id++)
      if (r->type_of[id] == 1 + type) {
        unite_kinds(s, RULES_NODES + type, id);
        used = true;
      }
    for (uint32_t v = 0; v < r->rule->variable_count && !used && r->type_count == 1; v++) {
      const uint32_t id = r->rule->variables[v].node;
      if (s->mask[find_class(s->kind, id)] & r->type_masks[type]) {
        unite_kinds(s, RULES_NODES + type, id);
        used = true;
      }
    }
    if (!used)
      return rules_fail(r, (uint32_t)(r->rule->text - r->text), "write x:T, or convert[T](x)", "no term of the rule has type '%s'",
                        r->type_names[type]);
  }
  return true;
}

static bool
no_type_fits(solver *s, uint32_t class, uint32_t at)
{
  const rules_node *nodes = s->r->rule->nodes;
  for (uint32_t id = 1; id < s->r->rule->node_count; id++)
    if (nodes[id].truth && find_class(s->kind, id) == class)
      return rules_fail(s->r, nodes[id].at, "write 1 or 0 for a number", "no type fits here: true and false have type bool");
  return rules_fail(s->r, at, "see the types of the ops in docs/ir.md", "no type fits here");
}

/* Numbers the kind classes of the rule.  Returns false if no kind is possible for one of them. */
static bool
number_kinds(solver *s)
{
  rules_rule *rule = s->r->rule;
  uint8_t number[SLOTS];
  memset(number, UINT8_MAX, sizeof number);
  for (uint32_t id = 1; id < rule->node_count; id++) {
    const uint8_t class = find_class(s->kind, id);
    if (s->mask[class] == 0)
      return no_type_fits(s, class, rule->nodes[id].at);
    if (number[class] == UINT8_MAX) {
      if (rule->kind_count == RULES_KINDS)
        return rules_fail(s->r, rule->nodes[id].at, "split the rule", "a rule has at most %d types", RULES_KINDS);
      number[class] = rule->kind_count;
      rule->kinds[rule->kind_count++] = (rules_kind){.kinds = s->mask[class], .computes = s->computes[class]};
    }
    rule->nodes[id].kind = number[class];
  }
  for (uint32_t type = 0; type < s->r->type_count; type++)
    memcpy(rule->kinds[number[find_class(s->kind, RULES_NODES + type)]].name, s->r->type_names[type],
           sizeof s->r->type_names[type]);
  for (uint32_t w = 0; w < rule->width_count; w++) {
    rule->widths[w].left = number[find_class(s->kind, RULES_NODES + s->r->left[w])];
    rule->widths[w].right = s->r->right[w] == RULES_KINDS ? RULES_KINDS : number[find_class(s->kind, RULES_NODES + s->r->right[w])];
  }
  return true;
}

static void
number_lanes(solver *s)
{
  rules_rule *rule = s->r->rule;
  uint8_t number[RULES_NODES] = {0}; /* 0 for scalars and for classes without a number */
  rule->lanes_count = 1;
  for (uint32_t id = 1; id < rule->node_count; id++) {
    const uint8_t class = find_class(s->lanes, id);
    if (class != SCALAR && number[class] == 0)
      number[class] = rule->lanes_count++;
    rule->nodes[id].lanes = number[class];
  }
}

static bool
literal_fits(const rules_node *node, vyre_kind kind)
{
  const uint64_t lane = rules_literal_bits(node, kind);
  double value;
  memcpy(&value, &node->bits, sizeof value);
  if (vyre_kind_is_float(kind))
    return double_of_lane(kind, lane) == (node->op == RULES_INTEGER ? (double)(int64_t)node->bits : value);
  return lane == node->bits || (kind != VYRE_BOOL && (uint64_t)sign_extend(vyre_kind_bits(kind), lane) == node->bits);
}

/* Checks that each literal has the same value in all kinds that it may have. */
static bool
check_literals(const solver *s)
{
  const rules_rule *rule = s->r->rule;
  for (uint32_t id = 1; id < rule->node_count; id++) {
    const rules_node *node = &rule->nodes[id];
    if (node->sort != RULES_LITERAL || node->op > RULES_FLOAT)
      continue;
    for (uint32_t kind = 0; kind < VYRE_KIND__COUNT; kind++) {
      if (!vyre_kind_is_scalar((vyre_kind)kind) || (rule->kinds[node->kind].kinds & BIT(kind)) == 0)
        continue;
      const bool large = node->op == RULES_INTEGER && node->bits > INT64_MAX && s->r->text[node->at] != '-';
      if (!literal_fits(node, (vyre_kind)kind) || (large && vyre_kind_is_float((vyre_kind)kind)))
        return rules_fail(s->r, node->at, "declare fewer kinds", "the literal does not fit into a kind that the rule applies to");
    }
  }
  return true;
}

static uint8_t
count_rows(const rules_rule *rule, uint32_t id)
{
  const rules_node *node = &rule->nodes[id];
  uint32_t rows = 1;
  if (node->constant || node->sort != RULES_OP || rules_in_pattern(rule, id))
    return 0;
  for (uint32_t k = 0; k < node->operands; k++)
    rows += count_rows(rule, node->operand[k]);
  return (uint8_t)rows;
}

bool
rules_infer(rules_reading *r)
{
  rules_rule *rule = r->rule;
  solver s = {.r = r};
  for (uint32_t i = 0; i < SLOTS; i++) {
    s.kind[i] = (uint8_t)i;
    s.mask[i] = i < RULES_NODES ? (uint16_t)(class_kinds(VYRE_CLASS_ANY) | BIT(VYRE_TUPLE)) : r->type_masks[i - RULES_NODES];
  }
  for (uint32_t i = 0; i < RULES_NODES; i++)
    s.lanes[i] = (uint8_t)i;
  for (uint32_t id = 1; id < rule->node_count; id++)
    if (rule->nodes[id].sort != RULES_OP && rule->nodes[id].sort != RULES_CALL)
      s.mask[id] &= class_kinds(VYRE_CLASS_ANY);
  /* An operand's number is less than its op's.  The pattern's numbers are less than all others. */
  for (uint32_t id = 1; id <= rule->pattern; id++)
    if (!infer_node(&s, id))
      return false;
  infer_variables(&s, 1, rule->pattern);
  for (uint32_t id = 1; id <= rule->pattern; id++) {
    rule->nodes[id].given_kind = find_class(s.kind, id);
    rule->nodes[id].given_lanes = find_class(s.lanes, id);
    rule->nodes[id].given_mask = s.mask[find_class(s.kind, id)];
  }
  for (uint32_t id = (uint32_t)rule->pattern + 1; id < rule->node_count; id++)
    if (!infer_node(&s, id))
      return false;
  infer_variables(&s, (uint32_t)rule->pattern + 1, rule->node_count);
  infer_bitcasts(&s);
  unite_types(&s, rule->pattern, rule->replacement);
  for (uint32_t k = 0; k < rule->condition_count; k++)
    restrict_kinds(&s, rule->conditions[k], BIT(VYRE_BOOL));
  if (!attach_types(&s))
    return false;
  for (uint32_t id = 1; id < rule->node_count; id++)
    if (rule->nodes[id].truth)
      restrict_kinds(&s, id, BIT(VYRE_BOOL)); /* not implied by the ops, so a match checks the literal's kind */
  if (!number_kinds(&s))
    return false;
  number_lanes(&s);
  if (!check_literals(&s))
    return false;
  rule->rows = count_rows(rule, rule->replacement);
  return true;
}

/* ---- typings --------------------------------------------------------------------------------------------------------- */

static bool
widths_hold(const rules_rule *rule, const vyre_kind kinds[RULES_KINDS])
{
  for (uint32_t w = 0; w < rule->width_count; w++) {
    const rules_width *width = &rule->widths[w];
    const uint32_t left = vyre_kind_bits(kinds[width->left]);
    const uint32_t right = width->right == RULES_KINDS ? width->number : vyre_kind_bits(kinds[width->right]);
    if (!(width->relation == RULES_LESS         ? left < right
          : width->relation == RULES_LESS_EQUAL ? left <= right
                                                : (left == right) == (width->relation == RULES_EQUAL)))
      return false;
  }
  return true;
}

/* Returns the mask's next kind after `above`, or VYRE_VOID if there is none. */
static vyre_kind
next_kind(uint16_t mask, vyre_kind above)
{
  for (uint32_t kind = (uint32_t)above + 1; kind < VYRE_KIND__COUNT; kind++)
    if (mask & BIT(kind))
      return (vyre_kind)kind;
  return VYRE_VOID;
}

bool
rules_next_typing(const rules_rule *rule, vyre_kind kinds[RULES_KINDS])
{
  bool first = kinds[0] == VYRE_VOID;
  do {
    uint32_t k = 0;
    if (first) {
      for (k = 0; k < rule->kind_count; k++)
        kinds[k] = next_kind(rule->kinds[k].kinds, VYRE_VOID);
      first = false;
      continue;
    }
    while (k < rule->kind_count && (kinds[k] = next_kind(rule->kinds[k].kinds, kinds[k])) == VYRE_VOID) {
      kinds[k] = next_kind(rule->kinds[k].kinds, VYRE_VOID);
      k++;
    }
    if (k == rule->kind_count)
      return false;
  } while (!widths_hold(rule, kinds));
  return true;
}
