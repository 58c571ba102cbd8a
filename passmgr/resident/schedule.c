/* Groups passes into sequences.  schedule.h has the rules.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "schedule.h"

#include "phases.h"

#include <string.h>

/* Rounds of a fixpoint in one sequence.  Nearly all fixpoints over shaders end in the second or third round.  Rounds after the
 * end of the fixpoint cost time on the device. */
enum { FIXPOINT_ROUNDS = 3 };

/* ---- a pass -------------------------------------------------------------------------------------------------------------- */

bool
vyre_schedule_fits(const vyre_pass_record *record, const vyre_schedule_options *where)
{
  const vyre_phases *phases = record->pass.phases;
  /* A plugin of an older op set sees each module before it runs (runner.c), so it runs alone. */
  return phases && record->plugin->plugin.opset_max >= VYRE_OPSET_VERSION &&
         (where->on_host || vyre_phases_kernels(phases, where->forms ? where->forms : UINT32_MAX));
}

static bool
has_direction(const vyre_phases *phases)
{
  bool has = false;
  for (uint32_t i = 0; i < phases->phase_count; i++)
    has = has || phases->phases[i].direction != VYRE_DIRECTION_FLAT;
  return has;
}

uint32_t
vyre_schedule_requirements(const vyre_pass_record *record, bool on_host)
{
  const bool by_levels = !on_host && has_direction(record->pass.phases);
  return record->pass.requires_ | record->phase_analyses | (by_levels ? VYRE_LEVELS : 0);
}

static bool
has_memory(const vyre_phases *phases, uint32_t kind, const char *name)
{
  bool does = false;
  for (uint32_t i = 0; i < phases->memory_count; i++)
    does = does || (phases->memory[i].kind == kind && (!name || strcmp(phases->memory[i].name, name) == 0));
  return does;
}

/* Returns the analyses that the pass reads.  Levels that only order the rows are not included. */
static uint32_t
data_of(const vyre_pass_record *record)
{
  const vyre_phases *phases = record->pass.phases;
  const bool reads_levels = has_memory(phases, VYRE_MEMORY_COLUMN, "level") || has_memory(phases, VYRE_MEMORY_COLUMN, "depth");
  return record->pass.requires_ | (record->phase_analyses & ~(reads_levels ? 0 : VYRE_LEVELS));
}

/* Returns whether the pass reads columns that are updated only when the host removes dead rows and seals. */
static bool
reads_settled_columns(const vyre_phases *phases)
{
  static const char *const columns[] = {"prev", "next", "first", "last"};
  const bool checks_versions = VYRE_HAS(vyre_phases, phases, flags) && (phases->flags & VYRE_PHASES_CHECK_VERSIONS) != 0;
  bool does = !checks_versions && has_memory(phases, VYRE_MEMORY_COLUMN, "version");
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
    does = does || has_memory(phases, VYRE_MEMORY_COLUMN, columns[i]);
  return does;
}

/* ---- after others -------------------------------------------------------------------------------------------------------- */

typedef struct builder {
  const vyre_pipeline *pipeline;
  schedule *out;
  const vyre_schedule_options *where;
  uint32_t holds;   /* analyses and columns that all passes so far preserve */
  uint32_t made;    /* valid columns that a pass of the sequence provides */
  bool writes;      /* a pass writes the table */
  bool keeps_order; /* operands still have lower levels than their users */
  bool is_ended;
  uint32_t round;
  bool reads_versions;
  bool reports_losses; /* each pass that does not preserve versions has a counter for that */
} builder;

static bool
can_follow(const builder *b, const vyre_pass_record *record)
{
  if (!vyre_schedule_fits(record, b->where) || b->is_ended || b->out->count == SCHEDULE_MOST)
    return false;
  if (!b->writes)
    return true;
  const vyre_phases *phases = record->pass.phases;
  if (data_of(record) & ~VYRE_COLUMNS & ~b->holds)
    return false;
  if (record->pass.prepare && !(record->pass.flags & VYRE_PASS_PREPARES_EARLY))
    return false;
  if (has_direction(phases) && !b->keeps_order && !(record->pass.flags & VYRE_PASS_ANY_ORDER))
    return false;
  return !reads_settled_columns(phases);
}

static bool
reports_loss(const vyre_phases *phases)
{
  bool does = false;
  for (uint32_t i = 0; i < phases->memory_count; i++)
    does = does || vyre_phases_is_loss(&phases->memory[i]);
  return does;
}

/* A pass with a verdict ends the sequence, because its errors are about the table at that time. */
static void
append_member(builder *b, const vyre_pass_record *record, uint32_t node, bool unless_fresh)
{
  const vyre_pass *pass = &record->pass;
  b->out->members[b->out->count++] = (schedule_member){record, node, unless_fresh, b->round};
  b->out->passes += node != 0;
  b->reads_versions |= (data_of(record) & VYRE_VERSIONS) != 0;
  b->is_ended = has_memory(pass->phases, VYRE_MEMORY_VERDICT, NULL);
  if (record->phases_write) {
    b->writes = true;
    b->holds &= pass->preserves;
    b->reports_losses &= (pass->preserves & VYRE_VERSIONS) || reports_loss(pass->phases);
    b->made &= pass->preserves;
    b->keeps_order &= (pass->preserves & VYRE_LEVELS) || (pass->flags & VYRE_PASS_KEEPS_ORDER);
  }
  b->made |= pass->provides;
}

/* Appends the pass, after the passes that provide its columns.  Returns false if the pass cannot follow; the caller must then undo
 * the passes that were appended. */
static bool
add_pass(builder *b, const vyre_pass_record *record, uint32_t node)
{
  for (uint32_t i = 0; i < VYRE_ANALYSIS_COUNT; i++) {
    const uint32_t column = vyre_analyses[i].bit & VYRE_COLUMNS & (record->pass.requires_ | record->phase_analyses);
    const vyre_pass_record *provider = column & ~b->made ? vyre_registry_provider(b->pipeline->registry, column) : NULL;
    if (provider && !add_pass(b, provider, 0))
      return false;
  }
  if (!can_follow(b, record))
    return false;
  append_member(b, record, node, (record->pass.provides & b->holds) != 0);
  return true;
}

void
vyre_schedule_make(const vyre_pipeline *pipeline, uint32_t node, uint32_t most, vyre_schedule_options options, schedule *out)
{
  builder b = {.pipeline = pipeline, .out = out, .where = &options, .holds = UINT32_MAX, .keeps_order = true};
  out->count = out->passes = 0;
  for (; node && out->passes < (options.no_fuse ? 1 : most); node = pipeline->nodes[node].next) {
    const builder before = b;
    const uint32_t count = out->count;
    if (pipeline->nodes[node].kind != VYRE_NODE_PASS || !add_pass(&b, pipeline->nodes[node].record, node)) {
      b = before;
      out->count = count;
      return;
    }
  }
}

/* ---- rounds -------------------------------------------------------------------------------------------------------------- */

/* Returns whether `finish` reads a column that a pass provides.  Later rounds overwrite it. */
static bool
finishes_with_columns(const vyre_pass_record *record)
{
  return record->pass.finish && (record->pass.requires_ & VYRE_COLUMNS);
}

/* Appends a round.  Returns false if a pass cannot follow. */
static bool
add_round(builder *b, uint32_t node)
{
  const vyre_node *nodes = b->pipeline->nodes;
  for (uint32_t child = nodes[node].first; child; child = nodes[child].next)
    if (nodes[child].kind != VYRE_NODE_PASS || finishes_with_columns(nodes[child].record) ||
        !add_pass(b, nodes[child].record, child))
      return false;
  return true;
}

void
vyre_schedule_rounds(const vyre_pipeline *pipeline, uint32_t node, uint32_t most, vyre_schedule_options options, schedule *out)
{
  builder b = {
      .pipeline = pipeline, .out = out, .where = &options, .holds = UINT32_MAX, .keeps_order = true, .reports_losses = true};
  uint32_t count = 0, passes = 0;
  out->count = out->passes = out->rounds = 0;
  while (b.round < most && !options.no_fuse && !options.on_host && add_round(&b, node) && b.writes) {
    b.round++;
    b.holds |= b.reports_losses ? VYRE_VERSIONS : 0; /* otherwise the rounds end */
    count = out->count;
    passes = out->passes;
  }
  out->rounds = b.round < 2 ? 0 : b.round;
  out->count = out->rounds ? count : 0;
  out->passes = out->rounds ? passes : 0;
  out->checks_versions = b.reads_versions;
}

uint32_t
vyre_schedule_most_rounds(const vyre_pipeline *pipeline, uint32_t node)
{
  const vyre_node *n = &pipeline->nodes[node];
  const uint64_t *values = vyre_node_values(pipeline, n);
  if (n->kind == VYRE_NODE_FIXPOINT)
    return values[VYRE_FIXPOINT_WHILE] == VYRE_WHILE_BRANCHES ? 0
           : values[VYRE_FIXPOINT_MAX] < FIXPOINT_ROUNDS      ? (uint32_t)values[VYRE_FIXPOINT_MAX]
                                                              : FIXPOINT_ROUNDS;
  const uint64_t times = n->kind == VYRE_NODE_REPEAT ? pipeline->values[n->values] : 0;
  return times < SCHEDULE_MOST ? (uint32_t)times : SCHEDULE_MOST;
}
