/* Helpers of the fuzz targets: see fuzz.h.
 *
 * Limits: Programs with more than 64 invocations in a workgroup are not interpreted.  Each invocation executes at most 4096 steps.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vyre/run.h"
#include "vyre/spirv.h"
#include "vyre/text.h"
#include "vyre/verify.h"
#include "vyre/vir0.h"

#define MOST_BLOCK    ((size_t)16 << 20)
#define MOST_BUFFER   ((size_t)1 << 16)
#define MOST_BINDINGS 16u
#define MOST_ROWS     ((uint32_t)1 << 20)

/* ---- failing --------------------------------------------------------------------------------------------------------------- */

void
fuzz_fail(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  abort();
}

void
fuzz_require(vyre_status status, const char *what)
{
  if (status)
    fuzz_fail("%s: %s", what, vyre_status_text(status));
}

bool
fuzz_allow(vyre_status status, const char *what)
{
  if (!status)
    return true;
  if (vyre_status_code(status) == VYRE_CODE_INTERNAL || !vyre_status_text(status)[0])
    fuzz_fail("%s: %s", what, vyre_status_text(status));
  vyre_status_free(status);
  return false;
}

/* ---- memory ---------------------------------------------------------------------------------------------------------------- */

static void *
resize(void *user, void *memory, size_t old_size, size_t new_size)
{
  (void)user;
  if (new_size > MOST_BLOCK)
    return NULL;
  return vyre_allocator_default()->resize(vyre_allocator_default()->user, memory, old_size, new_size);
}

vyre_module *
fuzz_module(unsigned k)
{
  static vyre_module *modules[4];
  if (!modules[k]) {
    vyre_allocator allocator = *vyre_allocator_default();
    allocator.resize = resize;
    fuzz_require(vyre_module_create(&allocator, MOST_ROWS, &modules[k]), "a module");
  }
  vyre_module_clear(modules[k]);
  return modules[k];
}

/* ---- functions that take a module --------------------------------------------------------------------------------------- */

static void
require_verified(const vyre_module *module, const char *what)
{
  vyre_verify_errors errors = {0};
  fuzz_require(vyre_verify(module, &errors), what);
  vyre_verify_errors_free(&errors);
}

static void
interpret(const vyre_module *module, uint32_t program)
{
  const vyre_view *v = vyre_module_view(module);
  vyre_binding bindings[MOST_BINDINGS];
  vyre_dispatch dispatch = {.program = {program}, .groups = {1, 1, 1}, .bindings = bindings};
  vyre_interp_options options = {.struct_size = sizeof options, .steps = 4096};
  uint32_t size[3];
  if (!vyre_workgroup_size(module, dispatch.program, NULL, 0, size) || (uint64_t)size[0] * size[1] > 64 ||
      (uint64_t)size[0] * size[1] * size[2] > 64)
    return;
  for (uint32_t row = v->first[program]; row && dispatch.binding_count < MOST_BINDINGS; row = v->next[row]) {
    if (VYRE_ROW_OP(v->op[row]) != VYRE_OP_buffer || VYRE_BUFFER_SPACE(v->imm_hi[row]) > VYRE_SPACE_PUSH)
      continue;
    size_t bytes = (size_t)vyre_type_get(module, v->imm[row]).size + 64; /* 64 bytes are for elements of a runtime array */
    if (bytes > MOST_BUFFER)
      break;
    bindings[dispatch.binding_count] = (vyre_binding){{row}, malloc(bytes), bytes, 0};
    for (size_t i = 0; i < bytes; i++)
      ((uint8_t *)bindings[dispatch.binding_count].data)[i] = (uint8_t)(i * 37u + row);
    dispatch.binding_count++;
  }
  for (int report = 0; report < 2; report++) {
    options.report_undefined = options.check_bounds = options.check_races = report;
    fuzz_allow(vyre_interp_run(module, &dispatch, &options, NULL), "interpreting");
  }
  for (uint32_t i = 0; i < dispatch.binding_count; i++)
    free(bindings[i].data);
}

static void
show(void *user, const vyre_diagnostic *diagnostic)
{
  char text[1024];
  (void)user;
  vyre_diagnostic_format(diagnostic, text, sizeof text);
  fprintf(stderr, "%s\n", text);
}

/* Prints `module` to `out` and parses the text into module number `k`, which must verify.  Returns the parsed module. */
static const vyre_module *
parse_printed(const vyre_module *module, unsigned k, vyre_bytes *out)
{
  vyre_module *again = fuzz_module(k);
  fuzz_require(vyre_text_print(module, NULL, out), "printing");
  vyre_status status = vyre_text_parse(again, out->data, out->size, "printed", (vyre_diagnostics){show, NULL});
  if (status)
    fuzz_fail("parsing what was printed: %s\n%s", vyre_status_text(status), out->data);
  require_verified(again, "what was printed and parsed");
  return again;
}

static void
check_text(const vyre_module *module, bool canonical)
{
  vyre_bytes texts[2] = {{0}, {0}};
  const vyre_module *again = parse_printed(module, 3, &texts[0]);
  if (!canonical) {
    vyre_bytes_free(&texts[0]);
    again = parse_printed(again, 2, &texts[0]);
  }
  fuzz_require(vyre_text_print(again, NULL, &texts[1]), "printing again");
  if (texts[0].size != texts[1].size || (texts[0].size && memcmp(texts[0].data, texts[1].data, texts[0].size) != 0))
    fuzz_fail("printed, parsed, printed:\n%s\nis not\n%s", texts[1].data, texts[0].data);
  vyre_bytes_free(&texts[0]);
  vyre_bytes_free(&texts[1]);
}

/* Writes the module as VIR0, reads the file into another module, and writes that module.  Both files must be equal. */
static void
check_vir0(const vyre_module *module)
{
  vyre_bytes files[2] = {{0}, {0}};
  vyre_module *again = fuzz_module(1);
  if (fuzz_allow(vyre_vir0_write(module, NULL, 0, &files[0]), "writing VIR0")) { /* the module may nest too deeply for VIR0 */
    fuzz_require(vyre_vir0_read(again, files[0].data, files[0].size, "written", NULL, 0), "reading what was written");
    fuzz_require(vyre_vir0_write(again, NULL, 0, &files[1]), "writing again");
    if (files[0].size != files[1].size || memcmp(files[0].data, files[1].data, files[0].size) != 0)
      fuzz_fail("written, read, written: not the same %zu and %zu bytes", files[0].size, files[1].size);
  }
  vyre_bytes_free(&files[0]);
  vyre_bytes_free(&files[1]);
}

static const vyre_pipeline *
all_passes(void)
{
  static vyre_registry *registry;
  static vyre_pipeline *pipeline;
  vyre_bytes text = {0};
  if (pipeline)
    return pipeline;
  fuzz_require(vyre_registry_create(NULL, &registry), "a registry");
  fuzz_require(vyre_registry_load_folder(registry, VYRE_FUZZ_PASSES, VYRE_ORIGIN_CORE), "the core passes");
  for (uint32_t i = 0; i < vyre_registry_pass_count(registry); i++) {
    const char *name = vyre_registry_pass(registry, i).pass->name;
    if (strcmp(name, "print") != 0)
      fuzz_require(vyre_bytes_printf(&text, "%s,", name), "a pipeline's text");
  }
  fuzz_require(vyre_pipeline_parse(registry, text.data, text.size, "all", &pipeline), "a pipeline");
  vyre_bytes_free(&text);
  return pipeline;
}

void
fuzz_exercise(const vyre_module *module, bool canonical)
{
  const vyre_pipeline_options options = {.struct_size = sizeof options, .verify_each = true, .check_changed = true};
  vyre_bytes words = {0};
  vyre_module *copy;
  if (!fuzz_allow(vyre_module_clone(module, &copy), "cloning")) /* memory may run out */
    return;
  require_verified(copy, "a clone");
  fuzz_require(vyre_module_seal(copy, NULL), "sealing again");
  check_text(copy, canonical);
  check_vir0(copy);
  for (uint32_t input = 0; input < vyre_module_input_count(copy); input++)
    fuzz_allow(vyre_spirv_write(copy, input, NULL, &words), "exporting");
  vyre_bytes_free(&words);
  const vyre_view *v = vyre_module_view(copy);
  for (uint32_t program = v->first[0]; program; program = v->next[program])
    interpret(copy, program);
  fuzz_require(vyre_module_make_analyses(copy, VYRE_ANALYSES), "analyses");
  fuzz_require(vyre_verify_analyses(copy, VYRE_ANALYSES), "analyses made again");
  vyre_module_destroy(copy);

  if (!fuzz_allow(vyre_module_clone(module, &copy), "cloning"))
    return;
  fuzz_require(vyre_pipeline_run(all_passes(), copy, &options), "the core passes");
  require_verified(copy, "after the core passes");
  vyre_module_destroy(copy);
}

/* ---- mutation -------------------------------------------------------------------------------------------------------------- */

uint32_t
fuzz_random(uint64_t *state, uint32_t below)
{
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return below ? (uint32_t)((*state >> 33) % below) : 0;
}

static bool
is_word(uint8_t c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '%' || c == '@';
}

/* Chooses a random token, or a line if `line` is set.  Stores its range [*from, *to). */
static void
pick(const uint8_t *data, size_t size, bool line, uint64_t *random, size_t *from, size_t *to)
{
  size_t at = fuzz_random(random, (uint32_t)size);
  *from = at;
  *to = at + 1;
  if (line) {
    while (*from > 0 && data[*from - 1] != '\n')
      --*from;
    while (*to < size && data[*to - 1] != '\n')
      ++*to;
  } else if (is_word(data[at])) {
    while (*from > 0 && is_word(data[*from - 1]))
      --*from;
    while (*to < size && is_word(data[*to]))
      ++*to;
  }
}

/* Replaces data[from, to) by a copy of `with`.  Returns the new size, or 0 if the result does not fit. */
static size_t
splice(uint8_t *data, size_t size, size_t capacity, size_t from, size_t to, const uint8_t *with, size_t length)
{
  if (size - (to - from) + length > capacity)
    return 0;
  memmove(data + from + length, data + to, size - to);
  if (length)
    memcpy(data + from, with, length);
  return size - (to - from) + length;
}

size_t
fuzz_mutate_text(uint8_t *data, size_t size, size_t capacity, unsigned seed)
{
  uint64_t random = seed;
  uint8_t piece[512];
  if (size < 2 || fuzz_random(&random, 4) == 0)
    return LLVMFuzzerMutate(data, size, capacity);
  uint32_t count = 1 + fuzz_random(&random, 3);
  while (count-- && size > 1) {
    size_t from, to, at, end;
    uint32_t what = fuzz_random(&random, 8);
    pick(data, size, what < 3, &random, &from, &to);
    size_t length = to - from < sizeof piece ? to - from : sizeof piece;
    memcpy(piece, data + from, length);
    size_t changed = 0;
    if (what == 0 || what == 3) { /* removes the piece */
      changed = splice(data, size, capacity, from, to, NULL, 0);
    } else {
      pick(data, size, what < 3, &random, &at, &end);
      if (what == 1 || what == 4) /* copies the piece before another piece */
        changed = splice(data, size, capacity, at, at, piece, length);
      else /* replaces another piece by the piece */
        changed = splice(data, size, capacity, at, end, piece, length);
    }
    size = changed ? changed : size;
  }
  return size;
}
