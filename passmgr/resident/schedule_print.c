/* Prints a schedule as text, JSON or a graph: passes on the CPU, sequences on a device, and the columns of their transfers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"
#include "base/options.h"
#include "phases.h"
#include "schedule.h"

#include <string.h>

enum { MOST_NAMES = 32 }; /* of columns */

typedef struct printer {
  const vyre_pipeline *pipeline;
  const vyre_schedule_options *options;
  vyre_bytes *out;
  uint32_t sequences, nodes; /* printed so far */
  uint32_t depth;
  bool has_item; /* the open list has an item */
} printer;

/* Columns without duplicates, in the order of their first use. */
typedef struct columns {
  const char *names[MOST_NAMES];
  uint32_t count;
} columns;

/* ---- transfers ----------------------------------------------------------------------------------------------------------- */

static void
add_column(columns *c, const char *name)
{
  for (uint32_t i = 0; i < c->count; i++)
    if (strcmp(c->names[i], name) == 0)
      return;
  if (c->count < MOST_NAMES)
    c->names[c->count++] = name;
}

/* Lists the columns of the sequence that are uploaded and read back.  A column that the pass or an earlier one provides is not
 * uploaded, and rounds do not read it back. */
static void
find_columns(const schedule *s, columns *up, columns *down)
{
  uint32_t provided = 0;
  up->count = down->count = 0;
  for (uint32_t i = 0; i < s->count; i++) {
    const vyre_pass_record *record = s->members[i].record;
    const vyre_phases *phases = record->pass.phases;
    provided |= record->pass.provides;
    for (uint32_t k = 0; k < phases->memory_count; k++) {
      const vyre_phase_memory *memory = &phases->memory[k];
      if (memory->kind != VYRE_MEMORY_COLUMN)
        continue;
      if (!(vyre_column_analysis(memory->name) & provided))
        add_column(up, memory->name);
      if (vyre_phases_write(phases, k) && !(s->rounds && (vyre_column_analysis(memory->name) & record->pass.provides)))
        add_column(down, memory->name);
    }
  }
}

static bool
has_repeat(const schedule *s)
{
  bool does = false;
  for (uint32_t i = 0; i < s->count; i++)
    for (uint32_t k = 0; k < s->members[i].record->pass.phases->step_count; k++)
      does = does || s->members[i].record->pass.phases->steps[k].kind == VYRE_STEP_REPEAT_WHILE;
  return does;
}

/* ---- text ---------------------------------------------------------------------------------------------------------------- */

static vyre_status
print_names(printer *p, const char *what, const columns *c)
{
  VYRE_TRY(vyre_bytes_printf(p->out, "%*s%s", (int)(2 * p->depth + 2), "", what));
  for (uint32_t i = 0; i < c->count; i++)
    VYRE_TRY(vyre_bytes_printf(p->out, " %s", c->names[i]));
  return vyre_bytes_append(p->out, c->count ? "\n" : " nothing\n", c->count ? 1 : 9);
}

static vyre_status
print_members(printer *p, const schedule *s, const char *between, const char *quote)
{
  for (uint32_t i = 0; i < s->count && s->members[i].round == 0; i++) {
    const schedule_member *m = &s->members[i];
    VYRE_TRY(vyre_bytes_printf(p->out, "%s%s", i ? between : "", quote));
    if (m->node)
      VYRE_TRY(vyre_print_node(p->pipeline, m->node, false, p->out));
    else
      VYRE_TRY(vyre_bytes_printf(p->out, "(%s)", m->record->pass.name));
    VYRE_TRY(vyre_bytes_printf(p->out, "%s", quote));
  }
  return VYRE_OK;
}

static vyre_status
text_sequence(printer *p, const schedule *s, const columns *up, const columns *down)
{
  VYRE_TRY(vyre_bytes_printf(p->out, "%*ssequence %u: ", (int)(2 * p->depth), "", p->sequences));
  VYRE_TRY(print_members(p, s, ", ", ""));
  VYRE_TRY(vyre_bytes_printf(p->out, "\n"));
  VYRE_TRY(print_names(p, "up:", up));
  VYRE_TRY(print_names(p, "down:", down));
  VYRE_TRY(vyre_bytes_printf(p->out, "%*sone wait", (int)(2 * p->depth + 2), ""));
  if (s->rounds)
    VYRE_TRY(vyre_bytes_printf(p->out, " for %u rounds", s->rounds));
  return vyre_bytes_printf(p->out, "%s\n", has_repeat(s) ? ", more if a repeat needs many iterations" : "");
}

/* ---- JSON ---------------------------------------------------------------------------------------------------------------- */

static vyre_status
json_text(printer *p, uint32_t node)
{
  vyre_bytes text = {.allocator = p->out->allocator};
  vyre_status status = vyre_print_node(p->pipeline, node, false, &text);
  if (!status)
    status = vyre_json_text(text.data, p->out);
  vyre_bytes_free(&text);
  return status;
}

static vyre_status
json_item(printer *p)
{
  const bool is_next = p->has_item;
  p->has_item = true;
  return vyre_bytes_printf(p->out, "%s\n%*s", is_next ? "," : "", (int)(2 * p->depth + 2), "");
}

static vyre_status
json_names(printer *p, const char *key, const columns *c)
{
  VYRE_TRY(vyre_bytes_printf(p->out, ", \"%s\": [", key));
  for (uint32_t i = 0; i < c->count; i++)
    VYRE_TRY(vyre_bytes_printf(p->out, "%s\"%s\"", i ? ", " : "", c->names[i]));
  return vyre_bytes_append(p->out, "]", 1);
}

static vyre_status
json_sequence(printer *p, const schedule *s, const columns *up, const columns *down)
{
  VYRE_TRY(json_item(p));
  VYRE_TRY(vyre_bytes_printf(p->out, "{\"sequence\": ["));
  for (uint32_t i = 0; i < s->count && s->members[i].round == 0; i++) {
    VYRE_TRY(vyre_bytes_printf(p->out, "%s", i ? ", " : ""));
    VYRE_TRY(s->members[i].node ? json_text(p, s->members[i].node)
                                : vyre_bytes_printf(p->out, "\"(%s)\"", s->members[i].record->pass.name));
  }
  VYRE_TRY(vyre_bytes_printf(p->out, "]"));
  VYRE_TRY(json_names(p, "up", up));
  VYRE_TRY(json_names(p, "down", down));
  return vyre_bytes_printf(p->out, ", \"rounds\": %u, \"repeats\": %s}", s->rounds ? s->rounds : 1,
                           has_repeat(s) ? "true" : "false");
}

/* ---- a graph ------------------------------------------------------------------------------------------------------------- */

/* Begins a node, with an edge from the previous one. */
static vyre_status
dot_node(printer *p, const char *shape)
{
  if (p->nodes)
    VYRE_TRY(vyre_bytes_printf(p->out, "  n%u -> n%u\n", p->nodes - 1, p->nodes));
  return vyre_bytes_printf(p->out, "  n%u [shape=%s, label=\"", p->nodes++, shape);
}

static vyre_status
dot_sequence(printer *p, const schedule *s, const columns *up, const columns *down)
{
  VYRE_TRY(dot_node(p, "box3d"));
  VYRE_TRY(print_members(p, s, "\\n", ""));
  return vyre_bytes_printf(p->out, "\", tooltip=\"%u columns up, %u down\"]\n", up->count, down->count);
}

/* ---- all of it ----------------------------------------------------------------------------------------------------------- */

static vyre_status
print_sequence(printer *p, const schedule *s)
{
  columns up, down;
  find_columns(s, &up, &down);
  p->sequences++;
  return p->options->format == VYRE_SCHEDULE_JSON  ? json_sequence(p, s, &up, &down)
         : p->options->format == VYRE_SCHEDULE_DOT ? dot_sequence(p, s, &up, &down)
                                                   : text_sequence(p, s, &up, &down);
}

static vyre_status
print_pass(printer *p, uint32_t node)
{
  switch (p->options->format) {
  case VYRE_SCHEDULE_JSON:
    VYRE_TRY(json_item(p));
    VYRE_TRY(vyre_bytes_printf(p->out, "{\"cpu\": "));
    VYRE_TRY(json_text(p, node));
    return vyre_bytes_printf(p->out, "}");
  case VYRE_SCHEDULE_DOT:
    VYRE_TRY(dot_node(p, "box"));
    VYRE_TRY(vyre_print_node(p->pipeline, node, false, p->out));
    return vyre_bytes_printf(p->out, "\"]\n");
  default:
    VYRE_TRY(vyre_bytes_printf(p->out, "%*scpu: ", (int)(2 * p->depth), ""));
    VYRE_TRY(vyre_print_node(p->pipeline, node, false, p->out));
    return vyre_bytes_printf(p->out, "\n");
  }
}

static vyre_status
open_list(printer *p, uint32_t node)
{
  switch (p->options->format) {
  case VYRE_SCHEDULE_JSON:
    VYRE_TRY(json_item(p));
    VYRE_TRY(vyre_bytes_printf(p->out, "{\"of\": "));
    VYRE_TRY(json_text(p, node));
    p->has_item = false;
    return vyre_bytes_printf(p->out, ", \"steps\": [");
  case VYRE_SCHEDULE_DOT:
    VYRE_TRY(vyre_bytes_printf(p->out, "  subgraph cluster_%u {\n  label=\"", node));
    VYRE_TRY(vyre_print_node(p->pipeline, node, false, p->out));
    return vyre_bytes_printf(p->out, "\"\n");
  default:
    VYRE_TRY(vyre_bytes_printf(p->out, "%*s", (int)(2 * p->depth), ""));
    VYRE_TRY(vyre_print_node(p->pipeline, node, false, p->out));
    return vyre_bytes_printf(p->out, ":\n");
  }
}

static vyre_status
close_list(printer *p)
{
  p->has_item = true;
  return p->options->format == VYRE_SCHEDULE_JSON  ? vyre_bytes_printf(p->out, "]}")
         : p->options->format == VYRE_SCHEDULE_DOT ? vyre_bytes_printf(p->out, "  }\n")
                                                   : VYRE_OK;
}

static vyre_status
print_children(printer *p, uint32_t id)
{
  const vyre_node *nodes = p->pipeline->nodes;
  schedule rounds = {0};
  if (p->options->on_device)
    vyre_schedule_rounds(p->pipeline, id, vyre_schedule_most_rounds(p->pipeline, id), *p->options, &rounds);
  if (rounds.count)
    return print_sequence(p, &rounds);
  for (uint32_t child = nodes[id].first, next; child; child = next) {
    schedule s = {0};
    next = nodes[child].next;
    if (p->options->on_device)
      vyre_schedule_make(p->pipeline, child, SCHEDULE_MOST, *p->options, &s);
    if (s.count) {
      VYRE_TRY(print_sequence(p, &s));
      next = nodes[s.members[s.count - 1].node].next;
    } else if (nodes[child].kind == VYRE_NODE_PASS) {
      VYRE_TRY(print_pass(p, child));
    } else {
      VYRE_TRY(open_list(p, child));
      p->depth++;
      VYRE_TRY(print_children(p, child));
      p->depth--;
      VYRE_TRY(close_list(p));
    }
  }
  return VYRE_OK;
}

vyre_status
vyre_pipeline_print_schedule(const vyre_pipeline *pipeline, const vyre_schedule_options *options, vyre_bytes *out)
{
  vyre_schedule_options o;
  VYRE_TRY(vyre_options_read(&o, sizeof o, options, "vyre_schedule_options"));
  printer p = {.pipeline = pipeline, .options = &o, .out = out};
  const size_t before = out->size;
  const bool is_json = o.format == VYRE_SCHEDULE_JSON, is_dot = o.format == VYRE_SCHEDULE_DOT;
  vyre_status status = vyre_bytes_printf(out, "%s", is_json ? "[" : is_dot ? "digraph schedule {\n" : "");
  if (!status)
    status = print_children(&p, 0);
  if (!status)
    status = vyre_bytes_printf(out, "%s", is_json ? "\n]\n" : is_dot ? "}\n" : "");
  return vyre_bytes_undo(out, before, status);
}
