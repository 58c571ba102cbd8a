/* Passes with phases only.  One pass computes the expected results, and fails if they differ.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/plugin.h"

#include <stdio.h>

enum { SUMS = 9, MOST = 8, WEIGHTS = 600 };

extern const vyre_phases sweeps_phases, rewires_phases, everything_phases, seen_phases, literal_phases, endless_phases;

static vyre_status
prepare(vyre_pass_ctx *ctx, const vyre_module *module)
{
  const vyre_view *v = ctx->host->view(module);
  uint32_t *weights = ctx->host->memory(ctx, "weights", MOST + 1), *given = ctx->host->memory(ctx, "given", 0);
  uint32_t *order = ctx->host->memory(ctx, "order", 0);
  if (!weights || !given || !order || !ctx->host->memory(ctx, "sums", SUMS))
    return ctx->host->out_of_memory(ctx);
  for (uint32_t i = 0; i < MOST; i++)
    weights[i] = 3 * i + 1;
  weights[MOST] = (uint32_t)ctx->host->param(ctx, "around");
  for (uint32_t row = 0; row < v->rows; row++) {
    given[row] = row * row;
    order[row] = ctx->host->param(ctx, "level") ? row : 0;
  }
  return VYRE_OK;
}

/* The columns that the phases compute, in the order of their sums. */
typedef struct columns {
  uint32_t *column[SUMS];
  uint32_t *peers, deepest, waits;
} columns;

static uint32_t
height_over(const columns *k, uint32_t operand)
{
  return operand ? k->column[3][operand] + 1 : 0;
}

static void
compute(const vyre_view *v, columns *k)
{
  uint32_t *around = k->column[0], *inside = k->column[1], *far = k->column[2], *height = k->column[3];
  for (uint32_t row = 1; row < v->rows; row++) {
    const uint32_t l = height_over(k, v->a[row]), m = height_over(k, v->b[row]), r = height_over(k, v->c[row]);
    around[row] = v->parent[row] ? around[v->parent[row]] + 1 : 0;
    k->deepest = around[row] > k->deepest ? around[row] : k->deepest;
    height[row] = l > m ? (l > r ? l : r) : (m > r ? m : r);
    k->peers[vyre_program_of(v, row) + height[row]]++;
    k->column[4][row] = row * row;
    k->column[5][row] = 3 * (row & 7) + 1;
    k->column[7][row] = vyre_program_of(v, row);
    k->column[8][row] = row >> 2 & (row & 7);
    k->waits += row >> 2 & (row & 7);
  }
  for (uint32_t row = v->rows; row-- > 1;) {
    const uint32_t operands[3] = {v->a[row], v->b[row], v->c[row]};
    if (v->parent[row])
      inside[v->parent[row]] += inside[row] + 1;
    for (uint32_t i = 0; i < 3; i++)
      if (operands[i] && far[operands[i]] < far[row] + 1)
        far[operands[i]] = far[row] + 1;
    k->column[6][row] = k->peers[vyre_program_of(v, row) + height[row]];
  }
}

static vyre_status
differs(vyre_pass_ctx *ctx, const char *what, uint32_t number, uint32_t is, uint32_t should)
{
  char message[120];
  snprintf(message, sizeof message, "%s %u is %u, not %u", what, number, is, should);
  return ctx->host->error(ctx, 0, message);
}

static vyre_status
check_sums(vyre_pass_ctx *ctx, const vyre_view *v, const columns *k)
{
  const uint32_t *sums = ctx->host->memory(ctx, "sums", 0);
  for (uint32_t i = 0; i < SUMS; i++) {
    uint32_t sum = 0;
    for (uint32_t row = 1; row < v->rows; row++)
      sum += (k->column[i][row] + 1) * (row * 0x9e3779b1u + 1);
    if (sums[i] != sum)
      return differs(ctx, "sum", i, sums[i], sum);
  }
  return VYRE_OK;
}

static vyre_status
finish(vyre_pass_ctx *ctx, const vyre_module *module)
{
  const vyre_host *host = ctx->host;
  const vyre_view *v = host->view(module);
  const uint32_t deep = *host->memory(ctx, "deep", 0), turns = *host->memory(ctx, "turns", 0);
  const uint32_t waits = *host->memory(ctx, "waits", 0);
  uint32_t programs = 0;
  columns k = {.peers = host->alloc(ctx, sizeof(uint32_t) * v->rows)};
  bool good = k.peers != NULL;
  for (uint32_t i = 0; i < SUMS && good; i++)
    good = (k.column[i] = host->alloc(ctx, sizeof(uint32_t) * v->rows)) != NULL;
  if (!good)
    return host->out_of_memory(ctx);
  if (deep != UINT32_MAX)
    return (deep & 15u) == 3 ? host->error(ctx, deep >> 4, "too many regions enclose this row")
                             : differs(ctx, "code", 0, deep & 15u, 3);
  compute(v, &k);
  VYRE_TRY(check_sums(ctx, v, &k));
  for (uint32_t program = v->first[0]; program; program = v->next[program])
    programs++;
  if (turns != 3 * (v->rows - 1))
    return differs(ctx, "turns, of", v->rows - 1, turns, 3 * (v->rows - 1));
  if (waits != k.waits)
    return differs(ctx, "waits, of", v->rows - 1, waits, k.waits);
  const uint32_t iterations = *host->memory(ctx, "iterations", 0),
                 should = programs * (k.deepest + 1); /* the last iteration changes nothing */
  return iterations == should ? VYRE_OK : differs(ctx, "iterations, of", programs, iterations, should);
}

static const vyre_param params[] = {{.struct_size = sizeof(vyre_param),
                                     .type = VYRE_PARAM_FLAG,
                                     .name = "level",
                                     .summary = "give each row a level",
                                     .fallback = 1},
                                    {.struct_size = sizeof(vyre_param),
                                     .type = VYRE_PARAM_UINT,
                                     .name = "around",
                                     .summary = "the most regions and constructs around a row",
                                     .maximum = 1u << 20,
                                     .fallback = 1u << 20}};

static const vyre_pass check = {.struct_size = sizeof(vyre_pass),
                                .name = "sweeps.check",
                                .summary = "compare results of phases with computed results",
                                .params = params,
                                .param_count = 2,
                                .preserves = VYRE_ANALYSES | VYRE_COLUMNS,
                                .phases = &sweeps_phases,
                                .prepare = prepare,
                                .finish = finish};

static const vyre_pass rewire = {.struct_size = sizeof(vyre_pass),
                                 .name = "sweeps.rewire",
                                 .summary = "set operands, and visit rows upwards",
                                 .requires_ = VYRE_LEVELS,
                                 .phases = &rewires_phases};

static vyre_status
give_weights(vyre_pass_ctx *ctx, const vyre_module *module)
{
  uint32_t *weights = ctx->host->memory(ctx, "weights", WEIGHTS);
  (void)module;
  for (uint32_t i = 0; i < WEIGHTS && weights; i++)
    weights[i] = (i + 1) * 2654435761u >> 28;
  return weights ? NULL : ctx->host->out_of_memory(ctx);
}

static vyre_status
count_odd(vyre_pass_ctx *ctx, const vyre_module *module)
{
  (void)module;
  ctx->host->count(ctx, "first odd", *ctx->host->memory(ctx, "first_odd", 0));
  return NULL;
}

static const vyre_pass everything = {.struct_size = sizeof(vyre_pass),
                                     .name = "sweeps.everything",
                                     .summary = "use every feature of phases, and sum the results",
                                     .phases = &everything_phases,
                                     .prepare = give_weights,
                                     .finish = count_odd};

static const vyre_pass seen = {.struct_size = sizeof(vyre_pass),
                               .name = "sweeps.seen",
                               .summary = "sum the values of analyses",
                               .preserves = VYRE_ANALYSES | VYRE_COLUMNS,
                               .phases = &seen_phases};

static const vyre_pass literal = {.struct_size = sizeof(vyre_pass),
                                  .flags = VYRE_PASS_KEEPS_ORDER,
                                  .name = "sweeps.literal",
                                  .summary = "turn loads into the literal 7",
                                  .preserves = VYRE_VERSIONS,
                                  .phases = &literal_phases};

static const vyre_pass endless = {
    .struct_size = sizeof(vyre_pass), .name = "sweeps.endless", .summary = "repeat without an end", .phases = &endless_phases};
VYRE_PLUGIN("sweeps", "1.0", &check, &rewire, &everything, &seen, &literal, &endless)
