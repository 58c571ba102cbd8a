/* Parses pipelines: `canon,cf,fixpoint<max=8>(pm,cse),dce`.  docs/passmgr.md has the grammar.
 *
 * Names, parameters and limits are checked while parsing.  The first error ends parsing, and is reported with its line and a caret.
 * Limits: pipeline.h.  O(text * passes).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "pipeline.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "base/suggest.h"

#define SHOWN_COLUMNS 100u /* columns of a long line around the caret */

static const vyre_param repeat_params[] = {
    {sizeof(vyre_param), VYRE_PARAM_UINT, "n", "the number of runs", 1, VYRE_PIPELINE_REPEATS, 0, NULL},
};
static const vyre_param fixpoint_params[] = {
    {sizeof(vyre_param), VYRE_PARAM_UINT, "max", "the most rounds", 1, VYRE_PIPELINE_REPEATS, 16, NULL},
    {sizeof(vyre_param), VYRE_PARAM_WORD, "on-limit", "the action if the last round still changes the module", 0, 0, 0,
     "warn|error|quiet"},
    {sizeof(vyre_param), VYRE_PARAM_WORD, "while",
     "the condition for a round: a change in the round before it, or a branch on a constant", 0, 0, 0, "changes|branches"},
};

const vyre_schema vyre_combinators[2] = {
    {"combinator", "repeat", "run the passes in parentheses exactly n times", repeat_params, 1},
    {"combinator", "fixpoint", "run the passes in parentheses until none of them changes the module", fixpoint_params, 3},
};

vyre_schema
vyre_node_schema(const vyre_node *node)
{
  switch (node->kind) {
  case VYRE_NODE_REPEAT:
    return vyre_combinators[0];
  case VYRE_NODE_FIXPOINT:
    return vyre_combinators[1];
  case VYRE_NODE_PASS:
    return (vyre_schema){"pass", node->record->pass.name, node->record->pass.summary, node->record->pass.params,
                         node->record->pass.param_count};
  default:
    return (vyre_schema){"group", "(...)", "a group", NULL, 0};
  }
}

/* ---- errors with their position ------------------------------------------------------------------------------------------ */

/* Returns whether the byte begins a character, and is not a later byte of a UTF-8 sequence. */
static bool
begins(char c)
{
  return ((unsigned char)c & 0xc0) != 0x80;
}

/* Draws the line around `at`, at most SHOWN_COLUMNS of it, after four spaces, and the caret under it. */
static void
draw(const vyre_parser *p, size_t line, size_t at, size_t length, vyre_bytes *out)
{
  size_t from = line, to = at, column = 0;
  while (to < p->length && p->text[to] != '\n' && to - at < SHOWN_COLUMNS)
    to++;
  bool more = to < p->length && p->text[to] != '\n';
  if (at - line > SHOWN_COLUMNS) {
    from = at - SHOWN_COLUMNS / 2;
    while (from < at && !begins(p->text[from]))
      from++;
  }
  vyre_status lost = vyre_bytes_printf(out, "\n    %s", from > line ? "..." : "");
  for (size_t i = from; i < to; i++) {
    char c = p->text[i];
    if (i < at)
      column += begins(c);
    if ((c > 0 && c < ' ') || c == 127 || c == 0)
      c = ' ';
    lost = vyre_status_join(lost, vyre_bytes_append(out, &c, 1));
  }
  lost =
      vyre_status_join(lost, vyre_bytes_printf(out, "%s\n    %*s^", more ? "..." : "", (int)(column + (from > line ? 3 : 0)), ""));
  for (size_t i = at + 1; i < at + length && i < to; i++)
    if (begins(p->text[i]))
      lost = vyre_status_join(lost, vyre_bytes_append(out, "~", 1));
  vyre_status_free(lost); /* if memory runs out, the drawing is incomplete, but the message is not */
}

vyre_status
vyre_parser_fail(const vyre_parser *p, size_t at, size_t length, const char *fix, const char *format, ...)
{
  char message[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof(message), format, args);
  va_end(args);
  size_t line = 0;
  uint32_t number = 1, column = 1;
  for (size_t i = 0; i < at && i < p->length; i++) {
    if (p->text[i] == '\n') {
      number++;
      column = 1;
      line = i + 1;
    } else {
      column += begins(p->text[i]);
    }
  }
  vyre_bytes drawing = {.allocator = &p->pipeline->allocator};
  if (p->length > 0)
    draw(p, line, at, length, &drawing);
  vyre_status status = VYRE_ERROR(VYRE_CODE_USAGE, "%s:%u:%u: %s%s%s%s", p->name, number, column, message,
                                  drawing.data ? drawing.data : "", fix ? "\n" : "", fix ? fix : "");
  vyre_bytes_free(&drawing);
  return status;
}

int
vyre_parser_peek(const vyre_parser *p)
{
  return p->at < p->length ? (unsigned char)p->text[p->at] : -1;
}

const char *
vyre_parser_found(const vyre_parser *p, char buffer[16])
{
  int c = vyre_parser_peek(p);
  if (c < 0)
    snprintf(buffer, 16, "the end");
  else if (c < ' ' || c >= 127)
    snprintf(buffer, 16, "byte 0x%02x", (unsigned)c);
  else
    snprintf(buffer, 16, "'%c'", c);
  return buffer;
}

void
vyre_parser_skip_blanks(vyre_parser *p)
{
  for (;;) {
    int c = vyre_parser_peek(p);
    if (c == '#')
      while (vyre_parser_peek(p) >= 0 && vyre_parser_peek(p) != '\n')
        p->at++;
    else if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
      p->at++;
    else
      return;
  }
}

/* ---- elements ------------------------------------------------------------------------------------------------------------ */

static vyre_status parse_elements(vyre_parser *p, uint32_t parent, uint32_t *last);

/* Returns the level with that name, ignoring case, or NULL. */
static const vyre_default *
find_level(const char *word, size_t length)
{
  for (size_t i = 0; i < VYRE_DEFAULTS; i++) {
    const char *level = vyre_defaults[i].level;
    if (strlen(level) == length && level[0] == (word[0] & ~0x20) && memcmp(level + 1, word + 1, length - 1) == 0)
      return &vyre_defaults[i];
  }
  return NULL;
}

static vyre_status
unknown_pass(const vyre_parser *p, size_t at, size_t length)
{
  vyre_suggestion near = {.word = p->text + at, .length = length};
  for (uint32_t i = 0; i < p->registry->pass_count; i++) {
    vyre_suggest_qualified(&near, p->registry->passes[i]->pass.name);
    if (p->registry->passes[i]->pass.long_name)
      vyre_suggest_qualified(&near, p->registry->passes[i]->pass.long_name);
  }
  vyre_suggest(&near, "default");
  vyre_suggest(&near, "repeat");
  vyre_suggest(&near, "fixpoint");
  int shown = length > 100 ? 100 : (int)length;
  const vyre_default *level = find_level(near.word, length);
  if (level)
    return vyre_parser_fail(p, at, length, "Fix: vyre-passmgr -list-passes lists the passes",
                            "unknown pass '%.*s'; did you mean 'default<%s>'?", shown, near.word, level->level);
  if (near.best)
    return vyre_parser_fail(p, at, length, "Fix: vyre-passmgr -list-passes lists the passes",
                            "unknown pass '%.*s'; did you mean '%s'?", shown, near.word, near.best);
  return vyre_parser_fail(p, at, length, "Fix: use a pass that vyre-passmgr -list-passes lists, or load the pass's plugin",
                          "unknown pass '%.*s'", shown, near.word);
}

/* Checks that each column that the pass requires, directly or through other providers, has a pass that provides it. */
static vyre_status
check_provided(const vyre_parser *p, size_t at, size_t length, const vyre_pass_record *record, const uint64_t *values)
{
  uint32_t wanted = record->pass.requires_ | vyre_builtin_requires(record, values);
  for (uint32_t i = VYRE_ANALYSIS_COUNT; i-- > 0;) {
    const uint32_t column = wanted & vyre_analyses[i].bit & VYRE_COLUMNS;
    const vyre_pass_record *provider = column ? vyre_registry_provider(p->registry, column) : NULL;
    if (column && !provider)
      return vyre_parser_fail(p, at, length, "Fix: load a plugin that provides them",
                              "pass '%s' requires %s, which no pass provides", record->pass.name, vyre_analyses[i].name);
    if (provider)
      wanted |= provider->pass.requires_; /* only earlier columns of VYRE_ANALYSIS_TABLE, which the loop visits later */
  }
  return VYRE_OK;
}

static vyre_status
resolve(const vyre_parser *p, size_t at, size_t length, vyre_node *out)
{
  const char *name = p->text + at;
  const vyre_pass_record *other;
  int shown = length > 100 ? 100 : (int)length;
  switch (vyre_reserved_name(name, length)) {
  case VYRE_RESERVED_COMBINATOR:
    out->kind = name[0] == 'r' ? VYRE_NODE_REPEAT : VYRE_NODE_FIXPOINT;
    return VYRE_OK;
  case VYRE_RESERVED_SCOPE:
    return vyre_parser_fail(p, at, length, "Fix: leave out the scope and its parentheses",
                            "scope '%.*s' is not supported: every pass works on the whole module", shown, name);
  case VYRE_RESERVED_LATER:
    return vyre_parser_fail(p, at, length, "Fix: leave it out", "'%.*s' is not available in this version", shown, name);
  default:
    out->kind = VYRE_NODE_PASS;
    out->record = vyre_registry_find(p->registry, name, length, &other);
  }
  if (out->record)
    return VYRE_OK;
  if (!other)
    return unknown_pass(p, at, length);
  return vyre_parser_fail(p, at, length, "Fix: write the name of the plugin before it",
                          "several plugins have a pass '%.*s', for example '%s' (%s)", shown, name, other->pass.name,
                          other->plugin->path);
}

static vyre_status
add_node(vyre_parser *p, uint32_t parent, uint32_t *last, const vyre_node *node, size_t at, uint32_t *out)
{
  vyre_pipeline *pipeline = p->pipeline;
  if (++p->elements > VYRE_PIPELINE_ELEMENTS)
    return vyre_parser_fail(p, at, 1, "Fix: use fewer passes, or repeat<N>(...)", "the pipeline has more than %u elements",
                            VYRE_PIPELINE_ELEMENTS);
  if (!vyre_grow(&pipeline->allocator, &pipeline->nodes, &pipeline->node_capacity, pipeline->node_count + 1, sizeof(*node)))
    return VYRE_OUT_OF_MEMORY("for the pipeline");
  uint32_t id = pipeline->node_count++;
  pipeline->nodes[id] = *node;
  if (*last)
    pipeline->nodes[*last].next = id;
  else
    pipeline->nodes[parent].first = id;
  *last = *out = id;
  return VYRE_OK;
}

/* Sets the defaults, then parses the parameters between < and >. */
static vyre_status
parse_values(vyre_parser *p, uint32_t id, size_t name, size_t name_length)
{
  vyre_pipeline *pipeline = p->pipeline;
  const vyre_schema schema = vyre_node_schema(&pipeline->nodes[id]);
  bool seen[256] = {false};
  if (!vyre_grow(&pipeline->allocator, &pipeline->values, &pipeline->value_capacity, pipeline->value_count + schema.count,
                 sizeof(uint64_t)))
    return VYRE_OUT_OF_MEMORY("for the pipeline");
  pipeline->nodes[id].values = pipeline->value_count;
  uint64_t *values = vyre_node_values(pipeline, &pipeline->nodes[id]);
  pipeline->value_count += schema.count;
  for (uint32_t i = 0; i < schema.count; i++)
    values[i] = schema.params[i].type >= VYRE_PARAM_WORD ? 0 : schema.params[i].fallback;
  if (vyre_parser_peek(p) == '<') {
    p->at++;
    VYRE_TRY(vyre_parse_params(p, &schema, values, seen));
  } else {
    size_t end = p->at;
    vyre_parser_skip_blanks(p);
    if (vyre_parser_peek(p) == '<' && p->at > end)
      return vyre_parser_fail(p, p->at, 1, "Fix: remove the blank", "'<' must follow the name directly");
  }
  if (pipeline->nodes[id].kind == VYRE_NODE_REPEAT && !seen[VYRE_REPEAT_N])
    return vyre_parser_fail(p, name, name_length, "Fix: write the count after the name", "'repeat' needs a count: repeat<2>(...)");
  for (uint32_t i = 0; i < schema.count && p->rules; i++)
    if (schema.params[i].type == VYRE_PARAM_TEXT && strcmp(schema.params[i].name, "rules") == 0) {
      values[i] = p->rules;
      p->has_used_rules = true;
    }
  const vyre_pass_record *record = pipeline->nodes[id].record;
  return record ? check_provided(p, name, name_length, record, values) : VYRE_OK;
}

/* Parses a group in parentheses, and adds its elements after the parent's child `last`. */
static vyre_status
parse_group(vyre_parser *p, uint32_t parent, uint32_t *last)
{
  char found[16];
  if (++p->depth > VYRE_PIPELINE_DEPTH)
    return vyre_parser_fail(p, p->at, 1, "Fix: nest less", "parentheses nest deeper than %u", VYRE_PIPELINE_DEPTH);
  p->at++;
  VYRE_TRY(parse_elements(p, parent, last));
  if (vyre_parser_peek(p) != ')')
    return vyre_parser_fail(p, p->at, 1, "Fix: separate passes by commas, and close each parenthesis",
                            "expected ',' or ')', found %s", vyre_parser_found(p, found));
  p->at++;
  p->depth--;
  return VYRE_OK;
}

/* Parses the children of a combinator. */
static vyre_status
parse_children(vyre_parser *p, uint32_t id)
{
  const uint64_t repeats = p->repeats;
  uint32_t last = 0;
  p->repeats *= p->pipeline->values[p->pipeline->nodes[id].values]; /* n and max are first */
  if (p->repeats > VYRE_PIPELINE_REPEATS)
    return vyre_parser_fail(p, p->at, 1, "Fix: lower the counts of repeat, or max of fixpoint",
                            "these passes would run up to %llu times, but the limit is %u", (unsigned long long)p->repeats,
                            VYRE_PIPELINE_REPEATS);
  VYRE_TRY(parse_group(p, id, &last));
  p->repeats = repeats;
  return VYRE_OK;
}

static bool
is_name(int c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

/* Parses `<level>` or `<level;rules=FILE>`. */
static vyre_status
parse_level(vyre_parser *p, size_t at, const vyre_default **out, uint64_t *out_rules)
{
  static const vyre_param params[] = {
      {.struct_size = sizeof(vyre_param), .type = VYRE_PARAM_TEXT, .name = "rules", .summary = "a file of rules", .words = "FILE"}};
  static const vyre_schema schema = {"pipeline", "default", "a pipeline of vyre's", params, 1};
  const size_t open = p->at;
  char found[16];
  if (vyre_parser_peek(p) == '<')
    p->at++;
  const char *word = p->text + p->at;
  while (p->at > open && is_name(vyre_parser_peek(p)))
    p->at++;
  const size_t length = p->at > open ? p->at - open - 1 : 0;
  *out = length ? find_level(word, length) : NULL;
  const int next = vyre_parser_peek(p);
  if (*out && next != '>' && next != ';' && next != ',')
    return vyre_parser_fail(p, p->at, 1, "Fix: end the level with >", "expected '>', found %s", vyre_parser_found(p, found));
  if (*out && word[0] != (*out)->level[0])
    return vyre_parser_fail(p, open + 1, length, "Fix: use default<O0>, default<O1>, default<O2> or default<O3>",
                            "unknown level '%.*s'; did you mean '%s'?", (int)length, word, (*out)->level);
  if (!*out)
    return vyre_parser_fail(p, at, p->at - at + (vyre_parser_peek(p) == '>'), "Fix: write default<O2>",
                            "'default' needs a level: default<O0>, default<O1>, default<O2> or default<O3>");
  p->at++;
  return next == '>' ? VYRE_OK : vyre_parse_params(p, &schema, out_rules, &(bool){false});
}

/* Parses `default<level>`: adds the elements of its expansion. */
static vyre_status
parse_default(vyre_parser *p, uint32_t parent, uint32_t *last, size_t at)
{
  const vyre_default *expansion;
  char name[32];
  uint64_t rules = 0;
  VYRE_TRY(parse_level(p, at, &expansion, &rules));
  snprintf(name, sizeof(name), "default<%s>", expansion->level);
  vyre_parser inner = *p;
  inner.name = name;
  inner.text = expansion->text;
  inner.length = strlen(inner.text);
  inner.at = 0;
  inner.rules = rules;
  inner.has_used_rules = false;
  vyre_status status = parse_elements(&inner, parent, last);
  p->elements = inner.elements;
  if (!status && rules && !inner.has_used_rules)
    return vyre_parser_fail(p, at, p->at - at, "Fix: use default<O1> to default<O3>, or leave out the rules",
                            "no pass of default<%s> has rules", expansion->level);
  return vyre_status_note(status, "in the expansion that %s uses", p->name);
}

static vyre_status
parse_element(vyre_parser *p, uint32_t parent, uint32_t *last)
{
  vyre_node node = {0};
  uint32_t id = 0;
  char found[16];
  size_t at = p->at;
  if (vyre_parser_peek(p) == '(')
    return parse_group(p, parent, last);
  while (is_name(vyre_parser_peek(p)))
    p->at++;
  size_t length = p->at - at;
  if (length == 0)
    return vyre_parser_fail(p, at, 1, "Fix: write the name of a pass, or remove the comma", "expected a pass, found %s",
                            vyre_parser_found(p, found));
  if (vyre_reserved_name(p->text + at, length) == VYRE_RESERVED_DEFAULT)
    return parse_default(p, parent, last, at);
  VYRE_TRY(resolve(p, at, length, &node));
  VYRE_TRY(add_node(p, parent, last, &node, at, &id));
  VYRE_TRY(parse_values(p, id, at, length));
  vyre_parser_skip_blanks(p);
  if (node.kind != VYRE_NODE_PASS && vyre_parser_peek(p) != '(')
    return vyre_parser_fail(p, p->at, 1, "Fix: write them after the name, for example fixpoint(cf,dce)",
                            "'%.*s' needs passes in parentheses, found %s", (int)length, p->text + at, vyre_parser_found(p, found));
  if (node.kind == VYRE_NODE_PASS && vyre_parser_peek(p) == '(')
    return vyre_parser_fail(p, p->at, 1, "Fix: separate the passes by a comma", "pass '%s' cannot have passes in parentheses",
                            node.record->pass.name);
  if (node.kind != VYRE_NODE_PASS)
    VYRE_TRY(parse_children(p, id));
  return VYRE_OK;
}

/* Parses elements, and appends them to the parent's children after the child `last`. */
static vyre_status
parse_elements(vyre_parser *p, uint32_t parent, uint32_t *last)
{
  for (uint32_t count = 0;; count++) {
    vyre_parser_skip_blanks(p);
    int c = vyre_parser_peek(p);
    if (count && (c < 0 || c == ')'))
      return VYRE_OK; /* after a trailing comma */
    VYRE_TRY(parse_element(p, parent, last));
    vyre_parser_skip_blanks(p);
    if (vyre_parser_peek(p) != ',')
      return VYRE_OK;
    p->at++;
  }
}

static vyre_status
parse_text(vyre_parser *p)
{
  char found[16];
  const vyre_node root = {.kind = VYRE_NODE_ROOT};
  uint32_t last = 0;
  vyre_pipeline *pipeline = p->pipeline;
  if (p->length > VYRE_PIPELINE_TEXT)
    return VYRE_ERROR(VYRE_CODE_USAGE, "%s: the text of the pipeline has %zu bytes, but the limit is %u\nFix: shorten it", p->name,
                      p->length, VYRE_PIPELINE_TEXT);
  if (!vyre_grow(&pipeline->allocator, &pipeline->nodes, &pipeline->node_capacity, 1, sizeof(root)))
    return VYRE_OUT_OF_MEMORY("for the pipeline");
  pipeline->nodes[pipeline->node_count++] = root;
  VYRE_TRY(parse_elements(p, 0, &last));
  if (p->at < p->length)
    return vyre_parser_fail(p, p->at, 1, "Fix: separate passes by commas", "expected ',' or the end, found %s",
                            vyre_parser_found(p, found));
  return VYRE_OK;
}

vyre_status
vyre_pipeline_parse(const vyre_registry *registry, const char *text, size_t length, const char *name, vyre_pipeline **out)
{
  *out = NULL;
  vyre_pipeline *pipeline = vyre_allocate(&registry->allocator, sizeof(*pipeline));
  if (!pipeline)
    return VYRE_OUT_OF_MEMORY("for the pipeline");
  pipeline->allocator = registry->allocator;
  pipeline->registry = registry;
  vyre_parser parser = {.registry = registry, .name = name, .text = text, .length = length, .repeats = 1, .pipeline = pipeline};
  vyre_status status = parse_text(&parser);
  if (status)
    vyre_pipeline_destroy(pipeline);
  else
    *out = pipeline;
  return status;
}

void
vyre_pipeline_destroy(vyre_pipeline *pipeline)
{
  if (!pipeline)
    return;
  vyre_allocator allocator = pipeline->allocator;
  vyre_release(&allocator, pipeline->nodes, pipeline->node_capacity * sizeof(vyre_node));
  vyre_release(&allocator, pipeline->values, pipeline->value_capacity * sizeof(uint64_t));
  vyre_release(&allocator, pipeline->texts, pipeline->text_capacity);
  vyre_release(&allocator, pipeline, sizeof(*pipeline));
}

static bool
repeats_for_branches(const vyre_pipeline *pipeline, uint32_t id)
{
  const vyre_node *node = &pipeline->nodes[id];
  return node->kind == VYRE_NODE_FIXPOINT && vyre_node_values(pipeline, node)[VYRE_FIXPOINT_WHILE] == VYRE_WHILE_BRANCHES;
}

bool
vyre_pipeline_is_last(const vyre_pipeline *pipeline, const vyre_node *node)
{
  const vyre_node *nodes = pipeline->nodes;
  uint32_t id = 0;
  do {
    for (id = nodes[id].first; nodes[id].next; id = nodes[id].next)
      if (node == &nodes[id] && nodes[nodes[id].next].next == 0)
        return repeats_for_branches(pipeline, nodes[id].next);
  } while (repeats_for_branches(pipeline, id));
  return node == &nodes[id];
}
