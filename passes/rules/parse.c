/* Parses the text of rules.
 *
 * A rule begins in the first column and continues in indented lines, so a syntax error stays within its rule.  Names are
 * resolved here, and types are inferred in types.c.  Linear.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"
#include "vyre/ir.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 16 };

typedef struct parser {
  rules_reading r;
  size_t at, end;    /* the parsed position and the end of the current rule */
  rules_token token; /* the lookahead; its length is 0 at the end */
  uint32_t depth;
} parser;

bool
rules_fail(const rules_reading *r, uint32_t at, const char *fix, const char *format, ...)
{
  va_list args;
  r->error->line = r->error->column = 1;
  for (size_t i = 0; i < at && i < r->length; i++) {
    r->error->column = r->text[i] == '\n' ? 1 : r->error->column + 1;
    r->error->line += r->text[i] == '\n';
  }
  va_start(args, format);
  vsnprintf(r->error->message, sizeof r->error->message, format, args);
  va_end(args);
  snprintf(r->error->fix, sizeof r->error->fix, "%s", fix ? fix : "see docs/rules-format.md for the form of a rule");
  return false;
}

/* ---- tokens ---------------------------------------------------------------------------------------------------------- */

static void
advance(parser *p)
{
  p->token = rules_next_token(p->r.text, p->end, &p->at);
}

static bool
is_token(const parser *p, const char *word)
{
  return p->token.length == strlen(word) && memcmp(p->token.text, word, p->token.length) == 0;
}

static bool
accept_token(parser *p, const char *word)
{
  if (!is_token(p, word))
    return false;
  advance(p);
  return true;
}

static int
shown_length(size_t length)
{
  return length > 40 ? 40 : (int)length;
}

static bool
expect(parser *p, const char *word)
{
  if (accept_token(p, word))
    return true;
  if (p->token.length == 0)
    return rules_fail(&p->r, p->token.at, NULL, "expected '%s', found the rule's end", word);
  return rules_fail(&p->r, p->token.at, NULL, "expected '%s', found '%.*s'", word, shown_length(p->token.length), p->token.text);
}

static bool
is_name(const rules_token *t)
{
  return t->length != 0 && rules_is_letter(t->text[0]);
}

/* ---- terms ----------------------------------------------------------------------------------------------------------- */

static uint32_t
add_node(parser *p, rules_node node)
{
  rules_rule *rule = p->r.rule;
  if (rule->node_count == RULES_NODES) {
    rules_fail(&p->r, node.at, "split the rule", "a rule has at most %d terms", RULES_NODES - 1);
    return 0;
  }
  rule->nodes[rule->node_count] = node;
  return rule->node_count++;
}

static uint32_t
declared_type(parser *p, const rules_token *t)
{
  for (uint32_t i = 0; i < p->r.type_count; i++)
    if (strlen(p->r.type_names[i]) == t->length && memcmp(p->r.type_names[i], t->text, t->length) == 0)
      return i;
  rules_fail(&p->r, t->at, "declare it before the colon: name (T int, U uint): ...", "type '%.*s' is not declared",
             shown_length(t->length), t->text);
  return UINT32_MAX;
}

static uint32_t
read_literal(parser *p)
{
  static const struct {
    const char *word;
    uint16_t literal;
    uint64_t bits;
  } words[] = {{"true", RULES_INTEGER, 1},  {"false", RULES_INTEGER, 0}, {"ones", RULES_ONES, 0}, {"least", RULES_SMIN, 0},
               {"greatest", RULES_SMAX, 0}, {"bits", RULES_BITS, 0},     {"top", RULES_TOP, 0}};
  const rules_token t = p->token;
  rules_node node = {.sort = RULES_LITERAL, .at = t.at, .constant = true};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (is_token(p, words[i].word)) {
      node.op = words[i].literal;
      node.bits = words[i].bits;
      node.truth = i < 2;
      advance(p);
      return add_node(p, node);
    }
  if (!rules_read_number(&p->r, &t, &node))
    return 0;
  advance(p);
  return add_node(p, node);
}

static bool
is_literal(const parser *p)
{
  return rules_is_digit(p->token.text[0]) || p->token.text[0] == '-' || is_token(p, "true") || is_token(p, "false") ||
         is_token(p, "ones") || is_token(p, "least") || is_token(p, "greatest") || is_token(p, "bits") || is_token(p, "top") ||
         is_token(p, "inf");
}

/* Reads a variable.  A name in small letters matches any row, and a name in capitals a constant.  `x:T` gives the type. */
static uint32_t
read_variable(parser *p, const rules_token *name)
{
  rules_rule *rule = p->r.rule;
  const bool constant = name->text[0] >= 'A' && name->text[0] <= 'Z';
  uint32_t index = 0;
  while (index < rule->variable_count && (strlen(rule->variables[index].name) != name->length ||
                                          memcmp(rule->variables[index].name, name->text, name->length) != 0))
    index++;
  if (index == rule->variable_count) {
    if (rule->pattern) {
      rules_fail(&p->r, name->at, NULL, "'%.*s' does not occur in the pattern", shown_length(name->length), name->text);
      return 0;
    }
    if (index == RULES_VARIABLES || name->length >= sizeof rule->variables[0].name) {
      rules_fail(&p->r, name->at, NULL, "a rule has at most %d variables, with names of at most 15 characters", RULES_VARIABLES);
      return 0;
    }
    rules_variable *fresh = &rule->variables[rule->variable_count++];
    memcpy(fresh->name, name->text, name->length);
    fresh->constant = constant;
    fresh->node = rule->node_count;
  }
  const rules_node node = {
      .sort = constant ? RULES_CONSTANT : RULES_VARIABLE, .variable = (uint8_t)index, .at = name->at, .constant = constant};
  const uint32_t id = add_node(p, node);
  if (id && accept_token(p, ":")) {
    const uint32_t type = declared_type(p, &p->token);
    if (type == UINT32_MAX)
      return 0;
    p->r.type_of[id] = (uint8_t)(1 + type);
    advance(p);
  }
  return id;
}

static uint32_t read_term(parser *p);

static bool
read_operands(parser *p, rules_node *node)
{
  node->constant = true;
  do {
    if (node->operands == 3)
      return rules_fail(&p->r, p->token.at, NULL, "an op has at most three operands");
    const uint32_t operand = read_term(p);
    if (!operand)
      return false;
    node->operand[node->operands++] = (uint8_t)operand;
    node->constant &= p->r.rule->nodes[operand].constant;
  } while (accept_token(p, ","));
  return expect(p, ")");
}

/* Expands is_pow2(C) to eq(bitcount(C), 1), and log2(C) to findumsb(C). */
static uint32_t
finish_word(parser *p, const rules_token *name, rules_node node)
{
  const bool power = name->length == 7 && memcmp(name->text, "is_pow2", 7) == 0;
  node.sort = RULES_OP;
  node.op = power ? VYRE_OP_bitcount : VYRE_OP_findumsb;
  const uint32_t inner = add_node(p, node);
  if (!power || !inner)
    return inner;
  const uint32_t one = add_node(p, (rules_node){.sort = RULES_LITERAL, .at = name->at, .bits = 1, .constant = true});
  if (!one)
    return 0;
  return add_node(p, (rules_node){.sort = RULES_OP,
                                  .op = VYRE_OP_eq,
                                  .operands = 2,
                                  .operand = {(uint8_t)inner, (uint8_t)one},
                                  .at = name->at,
                                  .constant = true});
}

static uint32_t
read_application(parser *p, const rules_token *name, uint32_t type)
{
  rules_node node = {.sort = RULES_OP, .at = name->at};
  if (!read_operands(p, &node))
    return 0;
  const bool word = (name->length == 7 && memcmp(name->text, "is_pow2", 7) == 0) ||
                    (name->length == 4 && memcmp(name->text, "log2", 4) == 0 && node.constant);
  const bool call_is_wrong = p->r.rule->pattern == 0 || !node.constant || node.operands != 1;
  if (word && !call_is_wrong)
    return finish_word(p, name, node);
  node.op = (uint16_t)vyre_op_find(name->text, name->length);
  for (uint32_t f = 0; f < RULES_FUNCTION__COUNT && node.op == VYRE_OP_null; f++) {
    const char *known = rules_function_name((rules_function)f);
    if (strlen(known) != name->length || memcmp(known, name->text, name->length) != 0)
      continue;
    if (call_is_wrong) {
      rules_fail(&p->r, name->at, "give it one constant, in the replacement or a condition", "'%s' is a function of one constant",
                 known);
      return 0;
    }
    node.sort = RULES_CALL;
    node.op = (uint16_t)f;
    return add_node(p, node);
  }
  if (node.op == VYRE_OP_null || word) {
    rules_fail(&p->r, name->at, "see docs/ir.md for the ops, and docs/rules-format.md for the functions",
               "'%.*s' is neither an op nor a function of constants", shown_length(name->length), name->text);
    return 0;
  }
  if (vyre_op_infos[node.op].operands != node.operands && !(node.op == VYRE_OP_tuple && node.operands == 2) &&
      !(node.op == VYRE_OP_join && node.operands == 2)) {
    rules_fail(&p->r, name->at, NULL, "'%s' has %u operands, not %u", vyre_op_infos[node.op].text, vyre_op_infos[node.op].operands,
               node.operands);
    return 0;
  }
  node.constant &= node.op != VYRE_OP_tuple; /* a tuple is always a row */
  if (node.constant && p->r.rule->pattern && vyre_op_infos[node.op].fold != VYRE_FOLD_EXACT) {
    rules_fail(&p->r, name->at, "give the op a row of the pattern, or write the number",
               "the result of '%s' differs between devices, so it cannot be computed from constants", vyre_op_infos[node.op].text);
    return 0;
  }
  const uint32_t id = add_node(p, node);
  p->r.type_of[id] = (uint8_t)(id ? type : 0);
  return id;
}

static uint32_t
read_term_inner(parser *p)
{
  if (p->token.length == 0) {
    rules_fail(&p->r, p->token.at, NULL, "expected a term, found the rule's end");
    return 0;
  }
  if (is_literal(p))
    return read_literal(p);
  if (!is_name(&p->token)) {
    rules_fail(&p->r, p->token.at, NULL, "expected a term, found '%.*s'", shown_length(p->token.length), p->token.text);
    return 0;
  }
  const rules_token name = p->token;
  uint32_t type = 0;
  advance(p);
  if (accept_token(p, "[")) {
    const uint32_t declared = declared_type(p, &p->token);
    if (declared == UINT32_MAX)
      return 0;
    type = 1 + declared;
    advance(p);
    if (!expect(p, "]"))
      return 0;
    if (!is_token(p, "(")) {
      expect(p, "(");
      return 0;
    }
  }
  return accept_token(p, "(") ? read_application(p, &name, type) : read_variable(p, &name);
}

static uint32_t
read_term(parser *p)
{
  if (p->depth == DEEPEST) {
    rules_fail(&p->r, p->token.at, "split the rule", "terms nest at most %d deep", DEEPEST);
    return 0;
  }
  p->depth++;
  const uint32_t id = read_term_inner(p);
  p->depth--;
  return id;
}

/* ---- a rule ---------------------------------------------------------------------------------------------------------- */

static bool
read_kinds(parser *p, uint16_t *out)
{
  *out = 0;
  do {
    const uint16_t kinds = rules_kinds_named(p->token.text, p->token.length);
    if (kinds == 0)
      return rules_fail(&p->r, p->token.at, "use any, num, int, uint, sint, float, bits, bool, or kinds such as u32, joined by '|'",
                        "'%.*s' is not a kind", shown_length(p->token.length), p->token.text);
    *out |= kinds;
    advance(p);
  } while (accept_token(p, "|"));
  return true;
}

/* Reads declared types: (int), or (T int, U V uint). */
static bool
read_types(parser *p)
{
  do {
    const uint32_t first = p->r.type_count;
    while (is_name(&p->token) && p->token.text[0] >= 'A' && p->token.text[0] <= 'Z') {
      if (p->r.type_count == RULES_KINDS || p->token.length >= sizeof p->r.type_names[0])
        return rules_fail(&p->r, p->token.at, NULL, "a rule has at most %d types, with names of at most 7 characters", RULES_KINDS);
      for (uint32_t i = 0; i < p->r.type_count; i++)
        if (strlen(p->r.type_names[i]) == p->token.length && memcmp(p->r.type_names[i], p->token.text, p->token.length) == 0)
          return rules_fail(&p->r, p->token.at, NULL, "type '%s' is declared twice", p->r.type_names[i]);
      memcpy(p->r.type_names[p->r.type_count++], p->token.text, p->token.length);
      advance(p);
    }
    if (p->r.type_count == first) {
      if (first == RULES_KINDS)
        return rules_fail(&p->r, p->token.at, NULL, "a rule has at most %d types", RULES_KINDS);
      p->r.type_names[p->r.type_count++][0] = 'T';
    }
    uint16_t kinds;
    if (!read_kinds(p, &kinds))
      return false;
    for (uint32_t i = first; i < p->r.type_count; i++)
      p->r.type_masks[i] = kinds;
  } while (accept_token(p, ","));
  return expect(p, ")");
}

/* Reads a comparison of widths that begins with `bits(`: bits(A) < bits(B), or bits(A) < 32. */
static bool
read_width(parser *p)
{
  static const struct {
    const char *text;
    uint8_t relation;
    bool swapped;
  } relations[] = {
      {"<", RULES_LESS, false}, {"<=", RULES_LESS_EQUAL, false}, {"==", RULES_EQUAL, false}, {"!=", RULES_NOT_EQUAL, false}};
  rules_rule *rule = p->r.rule;
  if (rule->width_count == RULES_WIDTHS)
    return rules_fail(&p->r, p->token.at, NULL, "a rule compares widths at most %d times", RULES_WIDTHS);
  const uint32_t k = rule->width_count++;
  for (uint32_t side = 0; side < 2; side++) {
    uint8_t *type = side ? p->r.right : p->r.left;
    if (side && rules_is_digit(p->token.text[0]) && p->token.length <= 2) {
      type[k] = RULES_KINDS;
      rule->widths[k].number = (uint8_t)strtoul(p->token.text, NULL, 10);
      advance(p);
      break;
    }
    if (!expect(p, "bits") || !expect(p, "("))
      return false;
    const uint32_t declared = declared_type(p, &p->token);
    if (declared == UINT32_MAX)
      return false;
    type[k] = (uint8_t)declared;
    advance(p);
    if (!expect(p, ")"))
      return false;
    if (side)
      break;
    uint32_t r = 0;
    while (r < 4 && !is_token(p, relations[r].text))
      r++;
    if (r == 4)
      return rules_fail(&p->r, p->token.at, NULL, "expected <, <=, == or != between widths");
    rule->widths[k].relation = relations[r].relation;
    advance(p);
  }
  return true;
}

static bool
read_conditions(parser *p)
{
  rules_rule *rule = p->r.rule;
  do {
    if (is_token(p, "bits")) {
      if (!read_width(p))
        return false;
      continue;
    }
    if (rule->condition_count == RULES_CONDITIONS)
      return rules_fail(&p->r, p->token.at, NULL, "a rule has at most %d conditions", RULES_CONDITIONS);
    const uint32_t at = p->token.at, node = read_term(p);
    if (!node)
      return false;
    if (!rule->nodes[node].constant)
      return rules_fail(&p->r, at, "use only constants (capital letters) and literals", "a condition may only use constants");
    rule->conditions[rule->condition_count++] = (uint8_t)node;
  } while (accept_token(p, ","));
  return true;
}

static bool
read_head(parser *p)
{
  rules_rule *rule = p->r.rule;
  if (!is_name(&p->token) || p->token.length >= RULES_NAME)
    return rules_fail(&p->r, p->token.at, "begin the rule with a name and a colon: add-zero (int): add(x, 0) => x",
                      "a rule has a name of at most %d characters", RULES_NAME - 1);
  memcpy(rule->name, p->token.text, p->token.length);
  advance(p);
  if (accept_token(p, "(") && !read_types(p))
    return false;
  rule->modes = RULES_IN_STRICT | RULES_IN_RELAXED;
  if (accept_token(p, "strict"))
    rule->modes = RULES_IN_STRICT;
  else if (accept_token(p, "relaxed"))
    rule->modes = RULES_IN_RELAXED;
  return expect(p, ":");
}

static bool
read_rule(parser *p)
{
  rules_rule *rule = p->r.rule;
  rule->node_count = 1;
  advance(p);
  if (!read_head(p))
    return false;
  const uint32_t at = p->token.at, pattern = read_term(p);
  if (!pattern)
    return false;
  if (rule->nodes[pattern].sort != RULES_OP || rule->nodes[pattern].constant)
    return rules_fail(&p->r, at, NULL, "a pattern must be an op on rows");
  rule->pattern = (uint8_t)pattern;
  if (!expect(p, "=>"))
    return false;
  rule->replacement = (uint8_t)read_term(p);
  if (!rule->replacement)
    return false;
  if (accept_token(p, "where") && !read_conditions(p))
    return false;
  if (p->token.length)
    return rules_fail(&p->r, p->token.at, "begin each rule in the first column, and indent its other lines",
                      "'%.*s' follows the rule's end", shown_length(p->token.length), p->token.text);
  return rules_infer(&p->r);
}

/* ---- a file ---------------------------------------------------------------------------------------------------------- */

static bool
reserve_rule(rules_memory memory, rules_set *set)
{
  if (set->count < set->capacity)
    return true;
  const uint32_t capacity = set->capacity ? set->capacity * 2 : 16;
  rules_rule *rules = memory.allocate(memory.user, capacity * sizeof *rules);
  if (!rules)
    return false;
  if (set->count)
    memcpy(rules, set->rules, set->count * sizeof *rules);
  set->rules = rules;
  set->capacity = capacity;
  return true;
}

/* Returns the position after blanks and comments, and adds their lines to *line. */
static size_t
rule_start(const char *text, size_t length, size_t at, uint32_t *line)
{
  const size_t start = rules_skip_blanks(text, length, at);
  for (; at < start; at++)
    *line += text[at] == '\n';
  return start;
}

/* Returns the position after the rule's last token.  Blanks and comments that follow are not part of the rule. */
static size_t
rule_end(const char *text, size_t length, size_t start)
{
  size_t last = start;
  for (size_t at = start; at < length; at++) {
    if (at > start && text[at - 1] == '\n' && text[at] != ' ' && text[at] != '\t' && text[at] != '\n' && text[at] != '\r' &&
        text[at] != ';')
      break;
    if (text[at] == ';')
      while (at + 1 < length && text[at + 1] != '\n')
        at++;
    else if (text[at] != ' ' && text[at] != '\t' && text[at] != '\n' && text[at] != '\r')
      last = at + 1;
  }
  return last;
}

/* Returns whether the node is a comparison that canon mirrors, perhaps back into the rule's pattern, without end. */
static bool
is_backward(const rules_rule *rule, uint32_t id)
{
  const rules_node *node = &rule->nodes[id];
  return node->sort == RULES_OP && node->operands == 2 && vyre_op_infos[node->op].rule == VYRE_RULE_BOOL &&
         (vyre_op_infos[node->op].flags & VYRE_OP_COMMUTES) == 0 && rule->nodes[node->operand[0]].constant &&
         !rule->nodes[node->operand[1]].constant;
}

static bool
check_rule(const rules_reading *r, const rules_set *set)
{
  const char *why;
  for (uint32_t i = 0; i < set->count; i++)
    if (strcmp(set->rules[i].name, r->rule->name) == 0)
      return rules_fail(r, (uint32_t)(r->rule->text - r->text), "rename one of the rules", "rule '%s' is defined twice",
                        r->rule->name);
  if (!rules_shrinks(r->rule, &why))
    return rules_fail(r, r->rule->nodes[r->rule->replacement].at,
                      "exchange its sides, or use fewer or lighter ops: see Termination in docs/rules-format.md",
                      "rule '%s' does not make the program smaller: %s", r->rule->name, why);
  for (uint32_t id = (uint32_t)r->rule->pattern + 1; id <= r->rule->replacement; id++)
    if (is_backward(r->rule, id))
      return rules_fail(r, r->rule->nodes[id].at,
                        "write the mirrored comparison, with the constant on the right: ugt(x, C) for ult(C, x)",
                        "rule '%s' makes a comparison with a constant on the left, which canon mirrors", r->rule->name);
  return true;
}

bool
rules_parse(rules_memory memory, const char *file, const char *text, size_t length, rules_set *set, rules_errors *out)
{
  rules_error left; /* without an item */
  parser p = {.r = {.text = text, .length = length, .error = &out->items[0]}};
  set->file = file;
  out->count = 0;
  if (length > RULES_TEXT) {
    out->count = 1;
    return rules_fail(&p.r, 0, "remove unused rules and comments", "a file of rules has at most %d bytes", RULES_TEXT);
  }
  uint32_t line = 1;
  for (size_t at = rule_start(text, length, 0, &line); at < length; at = rule_start(text, length, p.end, &line)) {
    rules_error *error = out->count < RULES_MOST_ERRORS ? &out->items[out->count] : &left;
    p = (parser){.r = {.text = text, .length = length, .error = error}, .at = at, .end = rule_end(text, length, at)};
    const bool is_full = set->count == RULES_MOST;
    if (is_full || !reserve_rule(memory, set)) {
      out->count++;
      return is_full ? rules_fail(&p.r, (uint32_t)at, "remove unused rules", "there are more than %d rules", RULES_MOST)
                     : rules_fail(&p.r, (uint32_t)at, "free some memory", "out of memory");
    }
    rules_rule *rule = p.r.rule = &set->rules[set->count];
    memset(rule, 0, sizeof *rule);
    rule->text = text + at;
    rule->length = (uint32_t)(p.end - at);
    rule->line = line;
    if (read_rule(&p) && check_rule(&p.r, set))
      set->count++;
    else
      out->count++;
    for (size_t i = at; i < p.end; i++)
      line += text[i] == '\n';
  }
  return out->count == 0;
}
