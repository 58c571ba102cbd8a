/* Measures the table and its walks, at 10k to 10M rows: rows a second of building, sealing, copying, printing, parsing, VIR0,
 * verifying and the interpreter, and bytes a row.
 *
 *   bench-ir [-rounds=N] [-min=ROWS] [-max=ROWS] [-only=CASE]
 *
 * Exits with 1 if a case does not grow linearly, or a row takes more memory than the limit.
 *
 * The baseline is a copy loop over as many rows of 44 bytes: the cost of memory alone.  "seal (mixed)" seals a program whose
 * constants and variables were made while its body grew, so that every row moves.  "seal (dropped)" drops a fifth of the rows.
 * "levels (phases)" computes the levels by phases (levels.vir), compiled to C.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "bench.h"
#include "program.h"
#include "vyre/ir.h"
#include "vyre/phases.h"
#include "vyre/run.h"
#include "vyre/text.h"
#include "vyre/verify.h"
#include "vyre/view.h"
#include "vyre/vir0.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char bench_name[] = "bench-ir";

enum { TABLE_LIMIT = 64, PARSE_LIMIT = 160 };

typedef struct bench {
  vyre_module *module; /* reused, so that its memory is allocated */
  vyre_module *source; /* sealed, with source_rows rows */
  uint32_t source_rows;
  vyre_module *flat; /* sealed, with flat_rows rows, without control flow */
  uint32_t flat_rows;
  vyre_bytes text;   /* of source */
  vyre_bytes file;   /* of source, VIR0 */
  uint32_t *scratch; /* of source_rows */
  uint32_t *side[2]; /* levels and depths by phases, of source_rows */
} bench;

extern const vyre_phases levels_phases; /* of levels.vir */

/* Makes the sealed module and its text, once for each size. */
static void
need_source(bench *b, uint32_t rows)
{
  if (b->source_rows == rows)
    return;
  vyre_module_clear(b->source);
  bench_grow(b->source, rows, BENCH_DEEPEST);
  bench_check(vyre_module_seal(b->source, NULL));
  b->text.size = 0;
  bench_check(vyre_text_print(b->source, NULL, &b->text));
  b->file.size = 0;
  bench_check(vyre_vir0_write(b->source, NULL, 0, &b->file));
  b->source_rows = rows;
  free(b->scratch);
  b->scratch = bench_allocate((size_t)rows + 64, sizeof(*b->scratch));
  for (uint32_t i = 0; i < 2; i++) {
    free(b->side[i]);
    b->side[i] = bench_allocate((size_t)rows + 64, sizeof(*b->side[i]));
  }
}

/* ---- cases ---- */

/* Defines a case that reads the clock around a statement, after its preparation. */
#define CASE(name, prepare, statement)                  \
  static uint64_t run_##name(void *user, uint32_t rows) \
  {                                                     \
    bench *b = user;                                    \
    prepare;                                            \
    const uint64_t start = bench_now();                 \
    statement;                                          \
    return bench_now() - start;                         \
  }

static uint64_t
run_build_new(void *user, uint32_t rows)
{
  (void)user;
  const uint64_t start = bench_now();
  vyre_module *module = bench_module();
  bench_grow(module, rows, BENCH_DEEPEST);
  const uint64_t end = bench_now();
  vyre_module_destroy(module);
  return end - start;
}

static void
grow(bench *b, uint32_t rows)
{
  vyre_module_clear(b->module);
  bench_grow(b->module, rows, BENCH_DEEPEST);
}

static void
seal(bench *b)
{
  bench_check(vyre_module_seal(b->module, NULL));
}

static void
drop_some(bench *b, uint32_t rows)
{
  grow(b, rows);
  seal(b);
  const vyre_view *view = vyre_module_view(b->module);
  for (uint32_t row = 1; row < view->rows; row++)
    if (row % 5 == 0 && (vyre_op_flags_of(view, row) & VYRE_OP_PURE))
      vyre_row_kill(b->module, (vyre_row){row});
}

/* Moves a row to its own position: sealing then visits all rows, but moves none. */
static void
move_nowhere(bench *b, uint32_t rows)
{
  grow(b, rows);
  seal(b);
  vyre_row_move_before(b->module, (vyre_row){3}, (vyre_row){4});
}

CASE(build, vyre_module_clear(b->module), bench_grow(b->module, rows, BENCH_DEEPEST))
CASE(seal_mixed, grow(b, rows), seal(b))
CASE(seal_dropped, drop_some(b, rows), seal(b))
CASE(seal_again, move_nowhere(b, rows), seal(b))

static uint64_t
run_clone(void *user, uint32_t rows)
{
  bench *b = user;
  need_source(b, rows);
  uint64_t start = bench_now();
  vyre_module *copy;
  bench_check(vyre_module_clone(b->source, &copy));
  uint64_t end = bench_now();
  vyre_module_destroy(copy);
  return end - start;
}

static void
number_rows(bench *b, uint32_t rows)
{
  need_source(b, rows);
  for (uint32_t row = 0; row < vyre_module_view(b->source)->rows; row++)
    b->scratch[row] = row;
}

/* Prepares the source, and empties `out` so that a writer can fill it again. */
static void
need_empty(bench *b, uint32_t rows, vyre_bytes *out)
{
  need_source(b, rows);
  out->size = 0;
}

/* Prepares the source, and clears the module so that a reader can fill it again. */
static void
need_cleared(bench *b, uint32_t rows)
{
  need_source(b, rows);
  vyre_module_clear(b->module);
}

static void
parse(bench *b, const vyre_bytes *text)
{
  bench_check(vyre_text_parse(b->module, text->data, text->size, "bench.vir", (vyre_diagnostics){0}));
}

CASE(forward, number_rows(b, rows), vyre_module_forward(b->source, b->scratch))
CASE(print, need_empty(b, rows, &b->text), bench_check(vyre_text_print(b->source, NULL, &b->text)))
CASE(parse, need_cleared(b, rows), parse(b, &b->text))

/* Parses the same text with a name for each row. */
static uint64_t
run_parse_names(void *user, uint32_t rows)
{
  bench *b = user;
  need_cleared(b, rows);
  vyre_bytes named = {0};
  for (const char *at = b->text.data, *end; at < b->text.data + b->text.size; at = end) { /* %7 becomes %v7 */
    end = memchr(at, '%', (size_t)(b->text.data + b->text.size - at));
    end = end ? end + 1 : b->text.data + b->text.size;
    bench_check(vyre_bytes_append(&named, at, (size_t)(end - at)));
    bench_check(vyre_bytes_append(&named, "v", end[-1] == '%' && *end >= '0' && *end <= '9'));
  }
  uint64_t start = bench_now();
  parse(b, &named);
  uint64_t end = bench_now();
  vyre_bytes_free(&named);
  return end - start;
}

static void
verify(const bench *b)
{
  vyre_verify_errors errors = {0};
  bench_check(vyre_verify(b->source, &errors));
  vyre_verify_errors_free(&errors);
}

static void
analyze(const bench *b, uint32_t analysis)
{
  bench_check(vyre_module_make_analyses(b->source, analysis));
}

CASE(vir0_write, need_empty(b, rows, &b->file), bench_check(vyre_vir0_write(b->source, NULL, 0, &b->file)))
/* The reader makes all its checks, and then runs the verifier. */
CASE(vir0_read, need_cleared(b, rows), bench_check(vyre_vir0_read(b->module, b->file.data, b->file.size, "bench.vir0", NULL, 0)))
CASE(verify, need_source(b, rows), verify(b))
CASE(versions, need_source(b, rows), analyze(b, VYRE_VERSIONS))
CASE(loops, need_source(b, rows), analyze(b, VYRE_LOOPS))
CASE(dominance, need_source(b, rows), analyze(b, VYRE_DOMINANCE))
CASE(levels, need_source(b, rows), analyze(b, VYRE_LEVELS))

/* Returns the memory of levels.vir with that name. */
static void *
memory_named(const bench *b, const char *name)
{
  const vyre_view *v = vyre_module_view(b->source);
  const struct {
    const char *name;
    const uint32_t *data;
  } all[] = {{"a", v->a}, {"b", v->b}, {"c", v->c}, {"parent", v->parent}, {"levels", b->side[0]}, {"depths", b->side[1]}};
  uint32_t i = 0;
  while (strcmp(all[i].name, name) != 0)
    i++;
  return (void *)(uintptr_t)all[i].data;
}

/* Runs the phases of levels.vir as C, and exits if their levels and depths are not those of the analysis. */
static uint64_t
run_level_phases(void *user, uint32_t rows)
{
  bench *b = user;
  vyre_c_buffer buffers[2][8];
  need_source(b, rows);
  analyze(b, VYRE_LEVELS);
  const vyre_view *v = vyre_module_view(b->source);
  for (uint32_t p = 0; p < 2; p++)
    for (uint32_t k = 0; k < levels_phases.phases[p].use_count; k++)
      buffers[p][k] =
          (vyre_c_buffer){memory_named(b, levels_phases.memory[levels_phases.phases[p].uses[k]].name), v->rows * sizeof(uint32_t)};
  const uint64_t start = bench_now();
  for (uint32_t p = 0; p < 2; p++) {
    const vyre_c_dispatch dispatch = {.groups = {v->rows - 1, 1, 1}, .count = v->rows - 1, .buffers = buffers[p]};
    levels_phases.phases[p].rows(&dispatch);
  }
  const uint64_t time = bench_now() - start;
  if (memcmp(b->side[0] + 1, v->level + 1, (v->rows - 1) * sizeof(uint32_t)) != 0 ||
      memcmp(b->side[1] + 1, v->depth + 1, (v->rows - 1) * sizeof(uint32_t)) != 0) {
    fprintf(stderr, "bench-ir: the phases of levels.vir and the analysis differ at %u rows\n", rows);
    exit(1);
  }
  return time;
}

/* Runs a program without control flow in one workgroup of `width` invocations, so that each invocation executes each row once. */
static uint64_t
run_interpreter(bench *b, uint32_t rows, uint32_t width)
{
  static float data[2][1024];
  if (b->flat_rows != rows) {
    vyre_module_clear(b->flat);
    bench_grow(b->flat, rows, 0);
    bench_check(vyre_module_seal(b->flat, NULL));
    b->flat_rows = rows;
  }
  const vyre_view *v = vyre_module_view(b->flat);
  vyre_binding bindings[2];
  uint32_t count = 0;
  for (uint32_t row = v->first[v->first[0]]; row && count < 2; row = v->next[row])
    if (VYRE_ROW_OP(v->op[row]) == VYRE_OP_buffer) {
      bindings[count] = (vyre_binding){{row}, data[count], sizeof(data[count]), 0};
      count++;
    }
  for (uint32_t i = 0; i < 1024; i++)
    data[0][i] = (float)i;
  const vyre_spec_value spec = {BENCH_WIDTH_ID, width};
  const vyre_dispatch dispatch = {
      .program = {v->first[0]}, .groups = {1, 1, 1}, .bindings = bindings, .binding_count = count, .specs = &spec, .spec_count = 1};
  uint64_t start = bench_now();
  bench_check(vyre_interp_run(b->flat, &dispatch, NULL, NULL));
  return (bench_now() - start) / width;
}

static uint64_t
run_interpreter_1(void *user, uint32_t rows)
{
  return run_interpreter(user, rows, 1);
}

static uint64_t
run_interpreter_16(void *user, uint32_t rows)
{
  return run_interpreter(user, rows, 16);
}

/* ---- memory ---- */

typedef struct meter {
  size_t now, peak; /* bytes, with committed ones */
} meter;

static void
meter_add(meter *m, size_t more, size_t less)
{
  m->now += more - less;
  m->peak = m->now > m->peak ? m->now : m->peak;
}

static void *
meter_resize(void *user, void *memory, size_t old_size, size_t new_size)
{
  const vyre_allocator *base = vyre_allocator_default();
  void *resized = base->resize(base->user, memory, old_size, new_size);
  meter_add(user, new_size, old_size);
  return resized;
}

static void *
meter_reserve(void *user, size_t bytes)
{
  (void)user;
  return vyre_allocator_default()->reserve(vyre_allocator_default()->user, bytes);
}

static bool
meter_commit(void *user, void *memory, size_t old_bytes, size_t bytes)
{
  meter_add(user, bytes, old_bytes);
  return vyre_allocator_default()->commit(vyre_allocator_default()->user, memory, old_bytes, bytes);
}

static void
meter_release(void *user, void *memory, size_t bytes)
{
  (void)user;
  vyre_allocator_default()->release(vyre_allocator_default()->user, memory, bytes);
}

/* Prints the memory of a table and the peak of parsing its text, in bytes a row, without the text. */
static bool
print_memory(bench *b, const bench_options *options)
{
  bool good = true;
  printf("\n%-22s %9s %9s %9s\n", "bytes a row", options->unit, "table", "parsing");
  for (uint64_t size = options->min; size <= options->max; size *= 10) {
    need_source(b, (uint32_t)size);
    meter m = {0};
    const vyre_allocator allocator = {meter_resize, meter_reserve, meter_commit, meter_release, &m};
    vyre_module *module;
    bench_check(vyre_module_create(&allocator, 0, &module));
    bench_check(vyre_text_parse(module, b->text.data, b->text.size, "bench.vir", (vyre_diagnostics){0}));
    double rows = (double)vyre_module_view(module)->rows;
    double table = (double)vyre_module_bytes(module) / rows, parsing = (double)m.peak / rows;
    printf("%-22s %9" PRIu64 " %9.1f %9.1f\n", "", size, table, parsing);
    good &= (size < 100000 || table < TABLE_LIMIT) && parsing < PARSE_LIMIT; /* in small tables the fixed part dominates */
    vyre_module_destroy(module);
  }
  printf("%s: the table takes less than %d bytes a row, parsing less than %d and the text\n", good ? "within" : "NOT WITHIN",
         TABLE_LIMIT, PARSE_LIMIT);
  return good;
}

int
main(int count, char **arguments)
{
  static const bench_case cases[] = {
      {"build (cleared)", run_build},
      {"build (new module)", run_build_new},
      {BENCH_COPY, bench_run_copy},
      {"seal (mixed)", run_seal_mixed},
      {"seal (dropped)", run_seal_dropped},
      {"seal (in order)", run_seal_again},
      {"clone", run_clone},
      {"forward", run_forward},
      {"print", run_print},
      {"parse", run_parse},
      {"parse (names)", run_parse_names},
      {"vir0 write", run_vir0_write},
      {"vir0 read", run_vir0_read},
      {"verify", run_verify},
      {"versions", run_versions},
      {"loops", run_loops},
      {"dominance", run_dominance},
      {"levels", run_levels},
      {"levels (phases)", run_level_phases},
      {"interpret (1 wide)", run_interpreter_1},
      {"interpret (16 wide)", run_interpreter_16},
  };
  bench_options options = {.about = "Measures the table and its walks.\n",
                           .rounds = 21,
                           .min = 10000,
                           .max = 10000000,
                           .unit = "rows",
                           .most_slope = 1.3};
  bench_parse(count, arguments, &options);
  bench b = {.module = bench_module(), .source = bench_module(), .flat = bench_module()};
  bool good = bench_run(cases, sizeof(cases) / sizeof(cases[0]), BENCH_COPY, &b, &options);
  good &= print_memory(&b, &options);
  vyre_bytes_free(&b.text);
  vyre_bytes_free(&b.file);
  free(b.scratch);
  free(b.side[0]);
  free(b.side[1]);
  vyre_module_destroy(b.flat);
  vyre_module_destroy(b.source);
  vyre_module_destroy(b.module);
  return good ? 0 : 1;
}
