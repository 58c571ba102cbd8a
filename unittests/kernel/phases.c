/* Docs at phases.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "phases.h"

#include "facts.h"
#include "random_program.h"
#include "vyre/run.h"
#include "vyre/text.h"
#include "vyre/view.h"

/* ---- kernel files ----------------------------------------------------------------------------------------------------------- */

static void
print_diagnostic(void *user, const vyre_diagnostic *diagnostic)
{
  char text[2000];
  (void)user;
  vyre_diagnostic_format(diagnostic, text, sizeof text);
  print_message("%s", text);
}

void
must(vyre_status status)
{
  if (status)
    fail_msg("%s", vyre_status_text(status));
}

phases *
phases_load(const char *path)
{
  phases *p = calloc(1, sizeof *p);
  kernel_expansion expansion;
  must(kernel_read(&p->file, path, (vyre_diagnostics){print_diagnostic, NULL}));
  must(kernel_expand(&p->file, &expansion));
  must(vyre_module_create(NULL, 1u << 16, &p->module));
  must(vyre_text_parse_lines(p->module, expansion.text.data, expansion.text.size, path,
                             (vyre_diagnostics){kernel_emit, &expansion}));
  must(kernel_check(&expansion, p->module));
  kernel_expansion_free(&expansion);
  return p;
}

void
phases_unload(phases *p)
{
  vyre_module_destroy(p->module);
  kernel_file_free(&p->file);
  free(p);
}

uint32_t
phases_name(const phases *p, const char *word)
{
  for (uint32_t i = 0; i < p->file.name_count; i++) {
    const kernel_name *n = &p->file.names[i];
    if (n->word ? strcmp(n->word, word) == 0
                : n->text.length == strlen(word) && memcmp(p->file.text + n->text.at, word, n->text.length) == 0)
      return i;
  }
  fail_msg("there is no %s", word);
  return 0;
}

/* ---- memory -------------------------------------------------------------------------------------------------------------- */

const uint32_t *
phases_column(const vyre_view *v, const char *word)
{
  const struct {
    const char *word;
    const uint32_t *column;
  } columns[] = {{"op", v->op},     {"imm", v->imm},     {"imm_hi", v->imm_hi}, {"a", v->a},
                 {"b", v->b},       {"c", v->c},         {"parent", v->parent}, {"prev", v->prev},
                 {"next", v->next}, {"first", v->first}, {"last", v->last},     {"version", v->version},
                 {"loop", v->loop}, {"end", v->end},     {"level", v->level},   {"depth", v->depth}};
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
    if (strcmp(columns[i].word, word) == 0)
      return columns[i].column;
  return NULL;
}

phases_memory
phases_take(const phases *p, const vyre_view *v, uint32_t table)
{
  phases_memory m = {0};
  uint8_t memory[KERNEL_MOST_NAMES];
  kernel_memory(&p->file, memory);
  for (uint32_t i = 0; i < p->file.name_count; i++) {
    const kernel_name *n = &p->file.names[i];
    const uint32_t *column = n->word ? phases_column(v, n->word) : NULL;
    if (memory[i] == UINT8_MAX)
      continue;
    m.counts[i] = n->kind == KERNEL_FACT                                   ? (uint32_t)VYRE_OP__COUNT
                  : n->kind == KERNEL_TABLE                                ? table
                  : n->kind == KERNEL_COUNTER || n->kind == KERNEL_VERDICT ? 1
                                                                           : v->rows * n->stride;
    m.words[i] = calloc(m.counts[i], sizeof(uint32_t));
    for (uint32_t k = 0; k < m.counts[i]; k++)
      m.words[i][k] = n->kind == KERNEL_FACT      ? fact_of(n->word, k)
                      : n->kind == KERNEL_VERDICT ? UINT32_MAX
                      : column                    ? column[k]
                                                  : 0;
  }
  return m;
}

phases_memory
phases_copy(const phases_memory *from)
{
  phases_memory m = *from;
  for (uint32_t i = 0; i < KERNEL_MOST_NAMES; i++)
    if (from->words[i]) {
      m.words[i] = malloc(m.counts[i] * sizeof(uint32_t));
      memcpy(m.words[i], from->words[i], m.counts[i] * sizeof(uint32_t));
    }
  return m;
}

void
phases_free(phases_memory *m)
{
  for (uint32_t i = 0; i < KERNEL_MOST_NAMES; i++)
    free(m->words[i]);
}

uint32_t *
phases_words(const phases *p, const phases_memory *m, const char *word)
{
  return m->words[phases_name(p, word)];
}

/* ---- the interpreter ----------------------------------------------------------------------------------------------------- */

typedef struct run {
  const phases *p;
  phases_memory *m;
  const vyre_view *v;  /* of the module that is worked on */
  const uint32_t *key; /* of the level at hand: the column, and its number */
  uint32_t level;
  uint32_t *list;
} run;

/* The k-th program of the expanded file. */
static uint32_t
program_of(const phases *p, uint32_t k)
{
  const vyre_view *v = vyre_module_view(p->module);
  uint32_t program = v->first[0];
  while (k--)
    program = v->next[program];
  return program;
}

static void
run_phase(run *r, uint32_t function)
{
  const kernel_file *file = &r->p->file;
  const vyre_view *v = vyre_module_view(r->p->module);
  uint32_t number = 0, count = 0, phase_count = 0, rows = r->v->rows - 1;
  for (uint32_t i = 0; i < file->function_count; i++) {
    number += i < function && file->functions[i].is_phase;
    phase_count += file->functions[i].is_phase;
  }
  if (r->key) {
    rows = 0;
    for (uint32_t row = 1; row < r->v->rows; row++)
      if (r->key[row] == r->level)
        r->list[rows++] = row;
  }
  const uint32_t program = program_of(r->p, r->key ? phase_count + number : number);
  vyre_binding bindings[KERNEL_MOST_NAMES + 1];
  for (uint32_t row = v->first[program]; row; row = v->next[row])
    if (VYRE_ROW_OP(v->op[row]) == VYRE_OP_buffer) {
      const vyre_buffer_info *info = vyre_buffer_info_of(r->p->module, (vyre_row){row});
      const uint32_t name = info->binding;
      bindings[count++] = info->set == KERNEL_MEMORY_SET
                              ? (vyre_binding){{row}, r->m->words[name], r->m->counts[name] * sizeof(uint32_t), 0}
                              : (vyre_binding){{row}, r->list, rows * sizeof(uint32_t), 0};
    }
  const vyre_dispatch dispatch = {.program = {program}, .groups = {rows, 1, 1}, .bindings = bindings, .binding_count = count};
  must(vyre_interp_run(r->p->module, &dispatch, NULL, NULL));
}

static void run_steps(run *r, uint32_t first, uint32_t end);

static void
run_levels(run *r, uint32_t step)
{
  const kernel_file *file = &r->p->file;
  uint32_t inner = step + 1, most = 0;
  while (file->steps[inner].kind != VYRE_STEP_RUN)
    inner++;
  const vyre_direction direction = file->functions[file->steps[inner].phase].direction;
  const bool by_depth = direction == VYRE_DIRECTION_INWARD || direction == VYRE_DIRECTION_OUTWARD;
  const bool from_end = direction == VYRE_DIRECTION_DOWN || direction == VYRE_DIRECTION_OUTWARD;
  r->key = by_depth ? r->v->depth : r->v->level;
  for (uint32_t row = 1; row < r->v->rows; row++)
    most = r->key[row] > most ? r->key[row] : most;
  for (uint32_t i = 0; i <= most; i++) {
    r->level = from_end ? most - i : i;
    run_steps(r, step + 1, file->steps[step].end);
  }
  r->key = NULL;
}

static void
run_steps(run *r, uint32_t first, uint32_t end)
{
  for (uint32_t i = first; i < end; i++) {
    const kernel_step *s = &r->p->file.steps[i];
    if (s->kind == VYRE_STEP_RUN) {
      run_phase(r, s->phase);
      continue;
    }
    if (s->kind == VYRE_STEP_LEVELS)
      run_levels(r, i);
    for (uint32_t k = 0; s->kind == VYRE_STEP_REPEAT && k < s->times; k++)
      run_steps(r, i + 1, s->end);
    for (bool again = s->kind == VYRE_STEP_REPEAT_WHILE; again;) {
      const uint32_t before = r->m->words[s->name][0];
      run_steps(r, i + 1, s->end);
      again = r->m->words[s->name][0] != before;
    }
    i = s->end - 1;
  }
}

void
phases_run(const phases *p, phases_memory *m, const vyre_view *v)
{
  run r = {.p = p, .m = m, .v = v, .list = malloc(v->rows * sizeof(uint32_t))};
  run_steps(&r, 0, p->file.step_count);
  free(r.list);
}

/* ---- the plain passes ------------------------------------------------------------------------------------------------------- */

uint32_t *phases_seen;

static vyre_status
run_seen(vyre_pass_ctx *ctx, vyre_module *module, vyre_result *out)
{
  const vyre_view *v = ctx->host->view(module);
  *out = VYRE_UNCHANGED;
  phases_seen = malloc(v->rows * sizeof *phases_seen);
  memcpy(phases_seen, v->hash ? v->hash : v->canonical, v->rows * sizeof *phases_seen);
  return VYRE_OK;
}

static const vyre_pass hashes_pass = {
    .struct_size = sizeof(vyre_pass), .name = "hashes", .summary = "s", .requires_ = VYRE_HASHES, .run = run_seen};
static const vyre_pass classes_pass = {
    .struct_size = sizeof(vyre_pass), .name = "classes", .summary = "s", .requires_ = VYRE_CLASSES, .run = run_seen};

static const vyre_plugin *
query_seen(const vyre_host *host)
{
  static const vyre_pass *const passes[] = {&hashes_pass, &classes_pass};
  static const vyre_plugin plugin = {sizeof(vyre_plugin), VYRE_PLUGIN_ABI, "t", "1", 1, VYRE_OPSET_VERSION, passes, 2};
  (void)host;
  return &plugin;
}

vyre_status
phases_run_pass(const char *pass, const char *text, vyre_module *module, vyre_report *report, bool by_phases)
{
  vyre_registry *registry;
  vyre_pipeline *pipeline;
  char path[500];
  const vyre_target_options one_thread = {.threads = 1};
  vyre_pipeline_options options = {.report = report};
  if (by_phases)
    must(vyre_device_open(&vyre_target_cpu, &one_thread, NULL, &options.device));
  must(vyre_registry_create(NULL, &registry));
  snprintf(path, sizeof path, VYRE_TEST_PASSES "/%s.so", pass);
  must(vyre_registry_load(registry, path, VYRE_ORIGIN_CORE));
  if (strcmp(pass, "cid") == 0) /* it goes by hashes */
    must(vyre_registry_load(registry, VYRE_TEST_PASSES "/shash.so", VYRE_ORIGIN_CORE));
  must(vyre_registry_add(registry, query_seen, "t.so", VYRE_ORIGIN_CORE));
  must(vyre_pipeline_parse(registry, text, strlen(text), "-passes", &pipeline));
  vyre_status status = vyre_pipeline_run(pipeline, module, &options);
  vyre_pipeline_destroy(pipeline);
  vyre_registry_destroy(registry);
  must(vyre_device_close(options.device));
  return status;
}

vyre_status
phases_run_plain(const char *pass, const char *text, vyre_module *module, vyre_report *report)
{
  return phases_run_pass(pass, text, module, report, false);
}

/* ---- modules ------------------------------------------------------------------------------------------------------------- */

vyre_module *
phases_random(uint32_t seed)
{
  vyre_module *module;
  must(vyre_module_create(NULL, 1u << 18, &module));
  random_program_build(module, seed, seed & 1);
  random_program_build(module, seed / 2, false);
  must(vyre_module_seal(module, NULL));
  return module;
}

static uint64_t
random_below(uint64_t *random, uint64_t n)
{
  *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (*random >> 33) % n;
}

/* Bits of a literal: few, small, or any; of floats often 1, and of bool 0 or 1. */
static uint64_t
random_literal(uint64_t *random, vyre_kind kind)
{
  const uint64_t one = kind == VYRE_F16 ? 0x3c00 : kind == VYRE_F32 ? 0x3f800000 : UINT64_C(0x3ff0000000000000);
  const uint64_t mask = UINT64_MAX >> (64 - vyre_kind_bits(kind));
  switch (random_below(random, 4)) {
  case 0:
    return vyre_kind_is_float(kind) ? one : random_below(random, 5) & mask;
  case 1:
    return (0 - random_below(random, 5)) & mask;
  default:
    return (random_below(random, UINT32_MAX) << 32 ^ random_below(random, UINT32_MAX) << 20 ^ random_below(random, 1u << 20)) &
           mask;
  }
}

/* Of what memory and built-ins give, `of_8` in 8 become literals, so that what is made of them can be folded. */
static void
make_literals(vyre_module *module, uint32_t seed, uint32_t of_8)
{
  const vyre_view *v = vyre_module_view(module);
  uint64_t random = seed;
  for (uint32_t row = 1; row < v->rows; row++) {
    const uint32_t op = VYRE_ROW_OP(v->op[row]);
    const vyre_type type = VYRE_ROW_TYPE(v->op[row]);
    const bool is_given = op == VYRE_OP_load || op == VYRE_OP_get || vyre_op_is_invocation(op);
    if (!is_given || !vyre_kind_is_scalar(VYRE_TYPE_KIND(type)) || random_below(&random, 8) >= of_8)
      continue;
    const uint64_t bits = random_literal(&random, VYRE_TYPE_KIND(type));
    vyre_row_rewrite(module, (vyre_row){row}, VYRE_ROW(VYRE_OP_const, type, 0), (uint32_t)bits, (uint32_t)(bits >> 32), VYRE_NONE,
                     VYRE_NONE, VYRE_NONE);
  }
}

vyre_module *
phases_foldable(uint32_t seed)
{
  static const uint32_t of_8[] = {8, 8, 6, 3, 0};
  vyre_module *module;
  must(vyre_module_create(NULL, 1u << 18, &module));
  random_program_build(module, seed, RANDOM_WIDE | (seed & 1));
  random_program_build(module, seed / 2, seed & 2);
  must(vyre_module_seal(module, NULL));
  make_literals(module, seed, of_8[seed % (sizeof of_8 / sizeof *of_8)]);
  return module;
}

#define U32 VYRE_TYPE(VYRE_U32, 1)

typedef struct grower {
  vyre_builder b;
  vyre_row *values, *vectors; /* of the latter two lanes each */
  uint32_t value_count, vector_count, window, seed;
} grower;

static uint32_t
any(grower *g, uint32_t below)
{
  g->seed = g->seed * 1664525u + 1013904223u;
  return (g->seed >> 8) % below;
}

static vyre_row
recent(grower *g, const vyre_row *values, uint32_t count)
{
  const uint32_t window = count < g->window ? count : g->window;
  return values[count - 1 - any(g, window)];
}

static vyre_row
value(grower *g)
{
  return any(g, 16) ? recent(g, g->values, g->value_count) : vyre_build_const(&g->b, U32, any(g, 64));
}

/* A value; every eighth is a lane, and now and then one is in a region of its own, used by what is in there. */
static void
grow(grower *g)
{
  static const vyre_opcode ops[] = {VYRE_OP_add, VYRE_OP_mul, VYRE_OP_sub, VYRE_OP_xor, VYRE_OP_and, VYRE_OP_shl};
  static const vyre_opcode compares[] = {VYRE_OP_ult, VYRE_OP_ugt, VYRE_OP_uge, VYRE_OP_eq};
  const vyre_row parts[2] = {value(g), value(g)};
  vyre_row row = VYRE_NONE;
  switch (any(g, 16)) {
  case 0:
    row = any(g, 2) ? vyre_build_join(&g->b, parts, 2)
                    : vyre_build_binary(&g->b, ops[any(g, 5)], recent(g, g->vectors, g->vector_count),
                                        recent(g, g->vectors, g->vector_count));
    g->vectors[g->vector_count++] = row;
    return;
  case 1:
    row = recent(g, g->vectors, g->vector_count);
    g->vectors[g->vector_count++] =
        vyre_build(&g->b, VYRE_OP_shuffle, VYRE_TYPE(VYRE_U32, 2), 0, 0x10u ^ any(g, 2) * 0x11u, 0, row, VYRE_NONE, VYRE_NONE);
    return;
  case 2:
  case 3:
    row = vyre_build_lane(&g->b, recent(g, g->vectors, g->vector_count), any(g, 2));
    break;
  case 4:
    row = vyre_build_select(&g->b, vyre_build_binary(&g->b, compares[any(g, 4)], parts[0], parts[1]), value(g), parts[0]);
    break;
  case 5:
    if (g->b.region != g->b.program)
      return;
    row = vyre_build_if(&g->b, vyre_build_binary(&g->b, compares[any(g, 4)], parts[0], parts[1]));
    vyre_build_unary(&g->b, VYRE_OP_not, vyre_build_binary(&g->b, VYRE_OP_or, parts[0], parts[1]));
    vyre_builder_leave(&g->b, row);
    return;
  default:
    row = vyre_build_binary(&g->b, ops[any(g, 6)], parts[0], parts[1]);
  }
  g->values[g->value_count++] = row;
}

static void
grow_program(vyre_module *module, grower *g, uint32_t rows)
{
  vyre_build_program(module, "grown", 0, vyre_module_add_input(module, "grown"), &g->b);
  const vyre_row gid = vyre_build_invocation(&g->b, VYRE_OP_gid);
  g->value_count = g->vector_count = 0;
  for (uint32_t i = 0; i < 3; i++)
    g->values[g->value_count++] = vyre_build_lane(&g->b, gid, i);
  g->vectors[g->vector_count++] = vyre_build_join(&g->b, g->values, 2);
  const uint32_t end = vyre_module_view(module)->rows + rows;
  while (vyre_module_view(module)->rows < end)
    grow(g);
}

vyre_module *
phases_grown(uint32_t programs, uint32_t rows, uint32_t window)
{
  vyre_module *module;
  grower g = {.window = window, .seed = programs + rows};
  must(vyre_module_create(NULL, 1u << 22, &module));
  vyre_module_reserve(module, programs * (rows + 16));
  g.values = malloc((rows + 16) * sizeof *g.values);
  g.vectors = malloc((rows + 16) * sizeof *g.vectors);
  for (uint32_t i = 0; i < programs; i++)
    grow_program(module, &g, rows);
  must(vyre_module_status(module));
  must(vyre_module_seal(module, NULL));
  free(g.values);
  free(g.vectors);
  return module;
}

void
phases_compare(const char *what, uint32_t seed, const uint32_t *is, const uint32_t *should, uint32_t rows)
{
  for (uint32_t row = 1; row < rows; row++)
    if (is[row] != should[row])
      fail_msg("seed %u: %s of row %u is %u, not %u", seed, what, row, is[row], should[row]);
}
