/* Prepares the memory of simplify's phases.  phases.h has the contract; simplify.vir, facts.vir and states.vir have the layout.
 *
 * A row's level is above the levels of its operands and of the rows that its version depends on.  These are the sets that a `get`
 * may see, the conditions of gates, the writes that a load is compared with.  A construct's level is above those of all rows that
 * its joins depend on, because its joins are computed with it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "phases.h"

#include <string.h>

enum { SLOTS_A_NODE = 2 }; /* classes.vir: more slots than nodes, so that each node finds one */
enum { GRAPH_HEAD = VIR_GRAPH_CONSTRUCTS + 1 };

typedef struct preparation {
  vyre_pass_ctx *ctx;
  const vyre_host *host;
  const vyre_view *v;
  memory m;
  rules_sweep s;
  uint32_t *given, *graph, *turn, *classes;
  /* By row, then by join, for versions of memory: a level above all rows that a load of the version may compare with. */
  uint32_t *reach;
  uint32_t joins; /* joins before this one have levels */
} preparation;

uint32_t
phases_access_of_load(const memory *m, uint32_t load, uint32_t program)
{
  const vyre_view *v = m->v;
  uint64_t bits;
  if (!memory_can_follow(m, load))
    return 0;
  return VIR_ACCESS_FOLLOWED | (memory_is_there(m, program, v->a[load]) ? VIR_ACCESS_THERE : 0) |
         (m->ctx->host->initial(m->module, v->a[load], &bits) ? VIR_ACCESS_STARTS : 0);
}

/* ---- levels -------------------------------------------------------------------------------------------------------------- */

static uint32_t
greater(uint32_t x, uint32_t y)
{
  return x > y ? x : y;
}

static bool
is_loop_head(const vyre_view *v, uint32_t row)
{
  return (vyre_op_flags_of(v, row) & VYRE_OP_REGION) != 0 && vyre_row_is_loop(v, v->parent[row]);
}

/* Returns the least level of a row that reads a variable in the version: 1 more than that of the row that defines it, or 0. */
static uint32_t
level_after_state(const preparation *p, uint32_t version)
{
  const vyre_view *v = p->v;
  const uint32_t row = vyre_version_row(v, version);
  if ((version & VYRE_JOIN) != 0)
    return is_loop_head(v, row) ? 0 : p->turn[row] + 1;
  return vyre_op_of(v, row) == VYRE_OP_set || vyre_op_of(v, row) == VYRE_OP_var ? p->turn[row] + 1 : 0;
}

/* Returns the reach of a version of memory. */
static uint32_t
level_after_memory(const preparation *p, uint32_t version)
{
  return p->reach[(version & VYRE_JOIN) != 0 ? p->v->rows + (version & ~VYRE_JOIN) : version];
}

/* Computes the levels of joins at rows before `end`.  Joins of memory only have a reach. */
static void
level_joins(preparation *p, uint32_t end)
{
  const vyre_view *v = p->v;
  for (; p->joins < v->join_count; p->joins++) {
    const vyre_join *join = &v->joins[p->joins];
    const bool is_region = (vyre_op_flags_of(v, join->row) & VYRE_OP_REGION) != 0;
    if ((is_region ? join->row : v->end[join->row]) >= end)
      return;
    if (p->m.constructs[p->joins].is_memory)
      p->reach[v->rows + p->joins] = level_after_memory(p, p->m.constructs[p->joins].before);
    if (is_loop_head(v, join->row) || p->m.constructs[p->joins].is_memory)
      continue;
    uint32_t *turn = &p->turn[join->row];
    for (uint32_t i = 0; i < join->count; i++)
      *turn = greater(*turn, level_after_state(p, v->parts[join->first + i].version));
    *turn = greater(*turn, p->turn[v->a[join->row]] + 1);
  }
}

static void
level_rows(preparation *p)
{
  const vyre_view *v = p->v;
  uint32_t *turn = p->turn;
  p->joins = 1;
  for (uint32_t row = 1; row < v->rows; row++) {
    const uint32_t operands[3] = {v->a[row], v->b[row], v->c[row]}, op = vyre_op_of(v, row), version = v->version[row];
    level_joins(p, row);
    for (uint32_t i = 0; i < 3; i++)
      turn[row] = operands[i] ? greater(turn[row], turn[operands[i]] + 1) : turn[row];
    if (op == VYRE_OP_get)
      turn[row] = greater(turn[row], level_after_state(p, version));
    else if (op == VYRE_OP_load)
      turn[row] = greater(turn[row], level_after_memory(p, version));
    p->reach[row] = greater(turn[row] + 1, level_after_memory(p, op == VYRE_OP_set ? 0 : version));
  }
  level_joins(p, UINT32_MAX);
  for (uint32_t row = 1; row < v->rows; row++) /* the level of a construct is final only now, and a `leave` uses the construct */
    if (vyre_op_of(v, row) == VYRE_OP_leave)
      turn[row] = greater(turn[row], turn[v->a[row]] + 1);
}

/* ---- facts and graph ------------------------------------------------------------------------------------------------------ */

static uint32_t
access_of(preparation *p, uint32_t row, uint32_t program)
{
  const vyre_view *v = p->v;
  const uint32_t op = vyre_op_of(v, row);
  if (op == VYRE_OP_load)
    return phases_access_of_load(&p->m, row, program);
  if (!memory_writes_path_only(&p->m, row))
    return 0;
  return VIR_ACCESS_ONE_PLACE | (op == VYRE_OP_store && memory_is_plain(&p->m, row, v->a[row]) ? VIR_ACCESS_PLAIN_STORE : 0);
}

static void
write_facts(preparation *p)
{
  const vyre_view *v = p->v;
  uint32_t program = 0;
  rules_scope scope = {0};
  for (uint32_t row = 1; row < v->rows; row++) {
    uint32_t *facts = &p->given[row * VIR_FACTS];
    uint64_t bits = 0;
    if (vyre_op_of(v, row) == VYRE_OP_program) {
      program = row;
      scope = rules_scope_of(v->imm[row]);
    }
    facts[VIR_FACT_BITS] = access_of(p, row, program) | (rules_sweep_is_pinned(&p->s, row) ? VIR_ACCESS_PINNED : 0);
    if ((facts[VIR_FACT_BITS] & VIR_ACCESS_STARTS) != 0)
      p->host->initial(p->m.module, v->a[row], &bits);
    facts[VIR_FACT_INITIAL] = (uint32_t)bits;
    facts[VIR_FACT_INITIAL_HIGH] = (uint32_t)(bits >> 32);
    if (vyre_op_of(v, row) == VYRE_OP_buffer)
      facts[VIR_FACT_BITS] |= p->host->descriptor_steps(p->m.module, row) << VIR_FACT_DESCRIPTORS;
    facts[VIR_FACT_VERSION] = v->version[row];
    facts[VIR_FACT_PROGRAM] = program;
    facts[VIR_FACT_SCOPE] = scope.modes | scope.kinds << 2;
  }
}

static void
write_graph(preparation *p)
{
  const vyre_view *v = p->v;
  uint32_t *graph = p->graph, *at = graph + GRAPH_HEAD;
  graph[VIR_GRAPH_ROWS] = v->rows;
  graph[VIR_GRAPH_JOINS] = (uint32_t)(at - graph);
  for (uint32_t i = 0; i < v->join_count; i++) {
    const vyre_join *join = &v->joins[i];
    memcpy(at, (const uint32_t[]){join->row, join->first, join->count}, 3 * sizeof *at);
    at += 3;
    if (i == 0 || p->m.constructs[i].is_memory)
      continue;
    if (is_loop_head(v, join->row)) {
      p->classes[v->rows + i] = v->rows + i;
      continue;
    }
    /* The joins of a construct are adjacent, except that joins of memory may be between them. */
    uint32_t *facts = &p->given[join->row * VIR_FACTS];
    facts[VIR_FACT_FIRST_JOIN] = facts[VIR_FACT_JOIN_COUNT] ? facts[VIR_FACT_FIRST_JOIN] : i;
    facts[VIR_FACT_JOIN_COUNT] = i - facts[VIR_FACT_FIRST_JOIN] + 1;
  }
  graph[VIR_GRAPH_PARTS] = (uint32_t)(at - graph);
  for (uint32_t i = 0; i < v->part_count; i++, at += 2)
    memcpy(at, (const uint32_t[]){v->parts[i].version, v->parts[i].edge}, 2 * sizeof *at);
  graph[VIR_GRAPH_CONSTRUCTS] = (uint32_t)(at - graph);
  for (uint32_t i = 0; i < v->join_count; i++, at += 3)
    memcpy(at, (const uint32_t[]){p->m.constructs[i].before, p->m.constructs[i].buffer, p->m.constructs[i].steps}, 3 * sizeof *at);
}

/* Divides the slots among the programs, by their rows and joins. */
static void
write_slots(preparation *p)
{
  const vyre_view *v = p->v;
  for (uint32_t program = v->first[0], join = 0; program; program = v->next[program]) {
    const uint32_t end = vyre_program_end(v, program), first = join;
    while (join < v->join_count && v->joins[join].row < end)
      join++;
    p->given[program * VIR_FACTS + VIR_FACT_FIRST_SLOT] = SLOTS_A_NODE * (program + first);
    p->given[program * VIR_FACTS + VIR_FACT_SLOTS] = SLOTS_A_NODE * (end - program + join - first);
  }
}

static bool
allocate_memory(preparation *p)
{
  const vyre_view *v = p->v;
  const uint32_t nodes = v->rows + v->join_count;
  bool good = true;
  p->given = p->host->memory(p->ctx, "given", 0);
  p->turn = p->host->memory(p->ctx, "turn", 0);
  p->graph = p->host->memory(p->ctx, "graph", GRAPH_HEAD + 6 * v->join_count + 2 * v->part_count + 1);
  p->classes = p->host->memory(p->ctx, "class_of", nodes);
  p->reach = p->host->alloc(p->ctx, nodes * sizeof *p->reach);
  good = p->given && p->turn && p->graph && p->classes && p->reach && p->host->memory(p->ctx, "node_key", 8 * nodes);
  good = good && p->host->memory(p->ctx, "node_next", nodes) && p->host->memory(p->ctx, "node_claim", nodes);
  good = good && p->host->memory(p->ctx, "node_class", nodes) && p->host->memory(p->ctx, "node_slots", SLOTS_A_NODE * nodes);
  return good && p->host->memory(p->ctx, "lead_slots", 2 * v->rows);
}

static vyre_status
write_rules(preparation *p, const uint32_t *built_in, uint32_t count)
{
  rules_table users;
  VYRE_TRY(rules_read_user(p->ctx, RULES_FOR_PM, &users));
  uint32_t *rules = p->host->memory(p->ctx, "rules", count + users.count), *user = p->host->memory(p->ctx, "user", 1);
  if (!rules || !user || !p->host->memory(p->ctx, "used", built_in[RULES_TABLE_RULES]))
    return p->host->out_of_memory(p->ctx);
  memcpy(rules, built_in, count * sizeof *rules);
  if (users.count)
    memcpy(rules + count, users.words, users.count * sizeof *rules);
  *user = users.count ? count : 0;
  return VYRE_OK;
}

vyre_status
phases_prepare(vyre_pass_ctx *ctx, const vyre_module *module, const uint32_t *built_in, uint32_t count)
{
  const vyre_host *host = ctx->host;
  preparation p = {.ctx = ctx, .host = host, .v = host->view(module)};
  p.s = (rules_sweep){.ctx = ctx, .host = host, .module = (vyre_module *)(uintptr_t)module, .v = p.v, .tables = {built_in}};
  p.s.rows = p.v->rows;
  VYRE_TRY(rules_sweep_begin(&p.s));
  VYRE_TRY(memory_make(&p.m, ctx, p.s.module));
  VYRE_TRY(memory_summarize_constructs(&p.m));
  if (!allocate_memory(&p))
    return host->out_of_memory(ctx);
  VYRE_TRY(write_rules(&p, built_in, count));
  level_rows(&p);
  write_facts(&p);
  write_slots(&p);
  write_graph(&p);
  return VYRE_OK;
}
