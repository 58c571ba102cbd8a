/* Programs of the lit tests and random programs: written, read back, run on the interpreter and the device, and compared.
 *
 * unit-spirv-export-programs [FIRST COUNT] runs COUNT random programs from seed FIRST on
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../budget.h"
#include "../vulkan/bundle.h"
#include "export_support.h"
#include "random_program.h"

#include "vyre/io.h"
#include "vyre/text.h"

#include <dirent.h>

static uint32_t first_seed = 1, seed_count;

/* ---- runs ---------------------------------------------------------------------------------------------------------------- */

/* Makes a case of the module's program with two workgroups.  The case owns the module. */
static void
make_case(export_case *c, vyre_module *module)
{
  *c = (export_case){.module = module, .groups = 2, .may_lack = true};
  c->program.id = vyre_module_view(module)->first[0];
  vyre_row_set_name(module, c->program, "main", 4);
  assert_true(vyre_workgroup_size(module, c->program, NULL, 0, c->workgroup));
}

static bool
is_relaxed(const export_case *c)
{
  return (vyre_module_view(c->module)->imm[c->program.id] & VYRE_PROGRAM_RELAXED) != 0;
}

static bool
has_domain(const vyre_module *module, uint32_t row)
{
  const vyre_view *v = vyre_module_view(module);
  return vyre_op_infos[VYRE_ROW_OP(v->op[row])].undefined == VYRE_UNDEFINED_DOMAIN;
}

/* Returns whether a device may compute another result for the row, or lack it.  The order of atomics in storage is not
 * specified. */
static bool
is_of_the_device(const vyre_module *module, uint32_t row)
{
  const vyre_view *v = vyre_module_view(module);
  const uint32_t op = VYRE_ROW_OP(v->op[row]);
  const vyre_kind kind = VYRE_TYPE_KIND(VYRE_ROW_TYPE(v->op[row]));
  uint32_t root = v->a[row];
  while (VYRE_ROW_OP(v->op[root]) == VYRE_OP_at)
    root = v->a[root];
  return vyre_op_infos[op].fold == VYRE_FOLD_LIBM || kind == VYRE_F16 || kind == VYRE_F64 ||
         (kind == VYRE_F32 && export_device()->kind != VYRE_DEVICE_CPU) ||
         (vyre_op_is_atomic(op) && VYRE_BUFFER_SPACE(v->imm_hi[root]) == VYRE_SPACE_STORAGE);
}

static bool
is_float(const vyre_module *module, uint32_t row)
{
  const vyre_view *v = vyre_module_view(module);
  return vyre_kind_is_float(VYRE_TYPE_KIND(VYRE_ROW_TYPE(v->op[row])));
}

static bool
is_specialized_buffer(const vyre_module *module, uint32_t row)
{
  const vyre_view *v = vyre_module_view(module);
  return VYRE_ROW_OP(v->op[row]) == VYRE_OP_buffer && vyre_type_get(module, v->imm[row]).count_row;
}

static bool
has_row(const export_case *c, bool (*is_such)(const vyre_module *module, uint32_t row))
{
  const vyre_view *v = vyre_module_view(c->module);
  uint32_t row = c->program.id;
  while (row < v->rows && !is_such(c->module, row))
    row++;
  return row < v->rows;
}

/* Interprets the case.  The outcome is an error if the program does not end, races, has other buffers, executes undefined rows, or
 * if its results depend on the values of unset variables. */
static vyre_status
interpret(const export_case *c, const export_memory *memory, export_memory *expected)
{
  static export_memory other;
  vyre_interp_options options = {
      .struct_size = sizeof options, .steps = 1u << 14, .check_races = true, .report_undefined = is_relaxed(c)};
  vyre_status status = export_interpret(c, memory, expected, options);
  options.unset = 0x55;
  if (status || !is_relaxed(c))
    return status;
  status = export_interpret(c, memory, &other, options);
  if (!status && memcmp(expected, &other, sizeof other) != 0)
    return VYRE_ERROR(VYRE_CODE_INPUT, "its results depend on unset variables");
  return status;
}

/* Seals the module, writes it, runs it everywhere, and compares.  Returns false if the program has no certain results, or has rows
 * that SPIR-V lacks. */
static bool
run_over(export_case *c, const export_memory *memory)
{
  static export_memory expected;
  export_must(vyre_module_seal(c->module, NULL));
  c->program.id = vyre_module_view(c->module)->first[0];
  vyre_status status = interpret(c, memory, &expected);
  while (status && c->groups > 1) {
    c->groups--; /* the workgroups may race with each other */
    vyre_status_free(status);
    status = interpret(c, memory, &expected);
  }
  const bool runs = !status;
  if (runs)
    status = vyre_spirv_write(c->module, 0, NULL, &c->code);
  vyre_bytes_free(&c->code);
  if (runs && status && !strstr(vyre_status_text(status), " has no ")) /* the only error of a valid program */
    export_must(status);
  if (!export_is_direct() && has_row(c, is_specialized_buffer))
    status = vyre_status_join(status, VYRE_ERROR(VYRE_CODE_INPUT, "GLSL has no such sizes of arrays"));
  if (status) {
    if (getenv("VYRE_TEST_VERBOSE"))
      print_message("left out: %s\n", vyre_status_text(status));
    vyre_status_free(status);
    return false;
  }
  c->has_domain = has_row(c, has_domain);
  export_write(c);
  const uint32_t modes = vyre_module_view(c->module)->imm[c->program.id] & VYRE_PROGRAM_FLOAT_MODES;
  c->interpreted = modes || has_row(c, is_of_the_device);
  if (c->code.size && (export_is_direct() || !has_row(c, is_float))) /* glslang folds floats differently */
    export_run_everywhere(c, memory, &expected);
  return true;
}

/* ---- programs of files --------------------------------------------------------------------------------------------------- */

static uint32_t compared, skipped;

/* Fills the memory with small integers, which serve as indices, bounds of loops, and floats with exact sums. */
static void
fill(export_memory *memory)
{
  for (uint32_t k = 0; k < EXPORT_BINDINGS; k++)
    for (uint32_t i = 0; i < EXPORT_WORDS; i++)
      memory->words[k][i] = (i + k) % 13;
}

/* Appends the text of a file without its programs except number `number`.  Returns false if there is no such program.  Programs
 * begin and end at the beginning of a line. */
static bool
keep_program(const char *text, uint32_t number, vyre_bytes *out)
{
  bool found = false;
  for (const char *at = text, *program, *end; *at; at = end) {
    program = strncmp(at, "program @", 9) == 0 ? at : strstr(at, "\nprogram @");
    program = !program ? at + strlen(at) : *program == '\n' ? program + 1 : program;
    end = *program ? strstr(program, "\n}\n") + 3 : program;
    const bool is_it = *program && number-- == 0;
    found = found || is_it;
    export_must(vyre_bytes_append(out, at, (size_t)((is_it ? end : program) - at)));
  }
  return found;
}

/* Runs one program of the text, unchanged or relaxed.  Returns false if there is no such program. */
static bool
check_program(const char *path, const char *text, uint32_t number, uint32_t mode)
{
  static export_memory memory;
  export_case c;
  vyre_module *module;
  vyre_bytes own = {0};
  const bool found = keep_program(text, number, &own);
  if (found) {
    export_must(vyre_module_create(NULL, 1u << 20, &module));
    export_must(vyre_text_parse(module, own.data, own.size, path, (vyre_diagnostics){0}));
    const vyre_view *v = vyre_module_view(module);
    print_message("%s: @%s\n", path, vyre_row_name(module, (vyre_row){v->first[0]}));
    ((uint32_t *)(uintptr_t)v->imm)[v->first[0]] |= mode;
    fill(&memory);
    make_case(&c, module);
    const bool runs = run_over(&c, &memory);
    compared += runs;
    skipped += !runs;
    export_close(&c);
  }
  vyre_bytes_free(&own);
  return found;
}

/* A bundle contains the lit tests beside the test program. */
TEST(programs_of_lit_tests_compute_the_same)
{
  char folder[PATH_MAX], path[PATH_MAX + 256];
  const bool is_bundle = access(test_file("lit-tests/Export/shapes.vir"), R_OK) == 0;
  snprintf(folder, sizeof folder, "%s", is_bundle ? test_file("lit-tests/Export") : VYRE_SOURCE "/lit-tests/Export");
  DIR *open = opendir(folder);
  assert_non_null(open);
  for (struct dirent *entry; (entry = readdir(open));) {
    const char *end = strrchr(entry->d_name, '.');
    vyre_bytes text = {0};
    if (!end || strcmp(end, ".vir") != 0)
      continue;
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    export_must(vyre_file_read(path, &text));
    export_must(vyre_bytes_append(&text, "", 1));
    for (uint32_t k = 0; check_program(path, text.data, k, 0); k++)
      check_program(path, text.data, k, VYRE_PROGRAM_RELAXED);
    vyre_bytes_free(&text);
  }
  closedir(open);
  print_message("%u programs compared, %u left out\n", compared, skipped);
  assert_true(compared >= 100);
}

/* ---- random programs ----------------------------------------------------------------------------------------------------- */

TEST(random_programs_compute_the_same)
{
  uint32_t runs = 0;
  for (uint32_t seed = first_seed; seed < first_seed + seed_count; seed++) {
    static export_memory memory;
    random_memory made;
    export_case c;
    vyre_module *module;
    export_must(vyre_module_create(NULL, 1u << 20, &module));
    random_program_build(module, seed, seed % 4 == 0 ? RANDOM_RELAXED : 0);
    make_case(&c, module);
    random_program_fill(&made, seed);
    memcpy(memory.words[0], made.out, sizeof made.out);
    memcpy(memory.words[1], made.in, sizeof made.in);
    c.sizes[0] = sizeof made.out;
    c.sizes[1] = sizeof made.in;
    const bool compares = run_over(&c, &memory);
    runs += compares;
    export_close(&c);
  }
  print_message("%u of %u random programs compared\n", runs, seed_count);
  assert_true(runs >= seed_count / 2);
}

/* ---- depth --------------------------------------------------------------------------------------------------------------- */

/* Nesting beyond SPIR-V's limit is an error, nesting up to the limit is not.  Only a less deep program is validated, because the
 * validator needs most of a minute for the deepest. */
TEST(nesting_has_a_limit)
{
  static const int depths[] = {250, 1022, 1042};
  for (int k = 0; k < 3; k++) {
    export_case c;
    export_open(&c, VYRE_PROGRAM_RELAXED);
    const vyre_row var = vyre_build_var(&c.b, U32);
    for (int i = 0; i < depths[k]; i++)
      vyre_build_if(&c.b, vyre_build_imm(&c.b, VYRE_OP_ne, c.gid, 0));
    vyre_build_set(&c.b, var, vyre_build_imm(&c.b, VYRE_OP_add, vyre_build_get(&c.b, var), 1));
    if (depths[k] < 1000) {
      export_write(&c);
    } else {
      const bool is_deeper = depths[k] > 1023;
      export_must(vyre_module_seal(c.module, NULL));
      vyre_status status = vyre_spirv_write(c.module, 0, NULL, &c.code);
      assert_int_equal(vyre_status_code(status), is_deeper ? VYRE_CODE_INPUT : VYRE_CODE_OK);
      assert_true(is_deeper ? c.code.size == 0 : c.code.size > 1022 * 5 * sizeof(uint32_t));
      vyre_status_free(status);
    }
    export_close(&c);
  }
}

int
main(int argc, char **argv)
{
  seed_count = budget_runs(export_is_direct() ? 2000 : 40);
  if (argc == 3) {
    first_seed = (uint32_t)strtoul(argv[1], NULL, 10);
    seed_count = (uint32_t)strtoul(argv[2], NULL, 10);
  }
  return test_run(export_device_open, export_device_close);
}
