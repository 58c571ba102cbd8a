/* Compares the examples and the inputs of lit tests as C to the interpreter.
 *
 * Runs each valid program that ends in a few steps, on buffers with small integers and on buffers with floats.  Counts programs
 * that C cannot express.  Also counts runs with other results if the program has atomics, whose order among invocations is open.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_c.h"

#include "vyre/io.h"
#include "vyre/verify.h"
#include "vyre/view.h"

#include <dlfcn.h>
#include <dirent.h>
#include <inttypes.h>

#define BUFFER_WORDS 1024u

static uint32_t compared, refused, skipped, open_order, numbers;

typedef struct test_memory {
  uint32_t words[MOST_BUFFERS][BUFFER_WORDS];
} test_memory;

static void
fill(test_memory *memory, bool floats)
{
  for (uint32_t b = 0; b < MOST_BUFFERS; b++)
    for (uint32_t i = 0; i < BUFFER_WORDS; i++) {
      const float number = (float)((i * 7 + b) % 29) * 0.375f - 3.0f;
      memory->words[b][i] = (i + b) % 13;
      if (floats)
        memcpy(&memory->words[b][i], &number, sizeof number);
    }
}

/* Binds memory to each binding of the program, and to three elements of each array of descriptors.  Returns the number of
 * bindings. */
static uint32_t
bind(const vyre_module *module, uint32_t program, test_memory *memory, vyre_binding *bindings)
{
  uint32_t count = 0;
  vyre_row row;
  for (uint32_t k = 0; (row = vyre_c_buffer_row(module, (vyre_row){program}, k)).id; k++) {
    const uint32_t elements = vyre_buffer_descriptor_steps(module, row.id) ? 3 : 1;
    for (uint32_t e = 0; e < elements && count < MOST_BUFFERS; e++, count++)
      bindings[count] = (vyre_binding){row, memory->words[count], sizeof memory->words[0], e};
  }
  return count;
}

static bool
has_open_order(const vyre_module *module, uint32_t program)
{
  const vyre_view *v = vyre_module_view(module);
  const uint32_t end = vyre_program_end(v, program);
  for (uint32_t row = program; row < end; row++) {
    const uint32_t op = VYRE_ROW_OP(v->op[row]);
    if (vyre_op_is_atomic(op) && op != VYRE_OP_atomic_load && op != VYRE_OP_atomic_store)
      return true;
  }
  return false;
}

static void
check_program(const char *path, void *library, const vyre_module *module, uint32_t program, bool floats)
{
  static test_memory wanted, got;
  vyre_binding bindings[MOST_BUFFERS];
  const vyre_interp_options options = {.struct_size = sizeof options, .steps = 1u << 14};
  const vyre_interp_options races = {.struct_size = sizeof races, .steps = 1u << 14, .check_races = true};
  vyre_dispatch dispatch = {.program = {program}, .groups = {2, 1, 1}, .bindings = bindings};
  fill(&wanted, floats);
  dispatch.binding_count = bind(module, program, &wanted, bindings);
  vyre_status status = vyre_interp_run(module, &dispatch, &races, NULL);
  if (!status) {
    fill(&wanted, floats);
    status = vyre_interp_run(module, &dispatch, &options, NULL);
  }
  if (status) { /* the program needs other buffers, traps, has a race or runs long */
    skipped++;
    vyre_status_free(status);
    return;
  }
  fill(&got, floats);
  dispatch.binding_count = bind(module, program, &got, bindings);
  const uint32_t fault = run_c(library, module, &dispatch, !floats);
  compared++;
  for (uint32_t i = 0; i < MOST_BUFFERS * BUFFER_WORDS; i++) {
    if (got.words[i / BUFFER_WORDS][i % BUFFER_WORDS] == wanted.words[i / BUFFER_WORDS][i % BUFFER_WORDS] && !fault)
      continue;
    if (has_open_order(module, program)) {
      open_order++;
      return;
    }
    print_program(module, program);
    fail_msg("%s: fault %u, word %u of buffer %u is 0x%08x, the interpreter has 0x%08x", path, fault, i % BUFFER_WORDS,
             i / BUFFER_WORDS, got.words[i / BUFFER_WORDS][i % BUFFER_WORDS], wanted.words[i / BUFFER_WORDS][i % BUFFER_WORDS]);
  }
}

static bool
is_fine(vyre_module *module, const char *path)
{
  vyre_verify_errors errors = {.allocator = vyre_module_allocator(module)};
  vyre_input_kind kind;
  vyre_status status = vyre_input_read(module, path, NULL, (vyre_diagnostics){0}, &kind);
  if (!status)
    status = vyre_verify(module, &errors);
  const bool fine = !status && vyre_module_view(module)->first[0] != 0;
  vyre_status_free(status);
  vyre_verify_errors_free(&errors);
  return fine;
}

static void
check_file(const char *path)
{
  vyre_module *module;
  vyre_bytes text = {0};
  assert_ok(vyre_module_create(NULL, 0, &module), "module");
  const vyre_view *v = vyre_module_view(module);
  if (!is_fine(module, path)) {
    vyre_module_destroy(module);
    return;
  }
  for (uint32_t row = v->first[0], k = 0; row; row = v->next[row], k++) { /* names that the C writer does not change */
    char name[32];
    snprintf(name, sizeof name, "program_%ua", k);
    vyre_row_set_name(module, (vyre_row){row}, name, strlen(name));
  }
  assert_ok(vyre_module_seal(module, NULL), "seal");
  for (uint32_t row = v->first[0]; row; row = v->next[row]) {
    vyre_status status = vyre_c_write(module, (vyre_row){row}, NULL, &text);
    if (status) {
      refused++;
      if (!strstr(vyre_status_text(status), "Fix:"))
        fail_msg("%s: %s", path, vyre_status_text(status));
      vyre_status_free(status);
      continue;
    }
    void *library = compile_c(&text, numbers++);
    check_program(path, library, module, row, false);
    check_program(path, library, module, row, true);
    dlclose(library);
    text.size = 0;
  }
  vyre_bytes_free(&text);
  vyre_module_destroy(module);
}

static bool
ends_with(const char *text, const char *end)
{
  const size_t length = strlen(text), tail = strlen(end);
  return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* Returns N if one file of N is tested: a third of VYRE_SHARE, because there are only a hundred files. */
static uint32_t
file_share(void)
{
  return (budget_share() + 2) / 3;
}

/* Returns whether the file is in the tested part. */
static bool
is_of_part(const char *name)
{
  uint32_t hash = 0;
  for (; *name; name++)
    hash = hash * 31 + (uint8_t)*name;
  return hash % file_share() == 0;
}

static void
check_folder(const char *path, uint32_t depth)
{
  DIR *folder = opendir(path);
  for (struct dirent *entry; folder && (entry = readdir(folder));) {
    char inner[1024];
    if (entry->d_name[0] == '.' || snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name) >= (int)sizeof inner)
      continue;
    if (ends_with(inner, ".vir") || ends_with(inner, ".comp")) {
      if (is_of_part(entry->d_name))
        check_file(inner);
    } else if (depth < 4)
      check_folder(inner, depth + 1);
  }
  if (folder)
    closedir(folder);
}

TEST(files_compute_the_same)
{
  const char *only = getenv("VYRE_FILE");
  if (only) {
    check_file(only);
  } else {
    check_folder(VYRE_SOURCE "/examples", 0);
    check_folder(VYRE_SOURCE "/" VYRE_FILES, 0);
  }
  print_message("%u runs compared, %u programs refused, %u runs skipped, %u differ where the order is open\n", compared, refused,
                skipped, open_order);
  assert_true(only || compared >= 60 / file_share());
}
