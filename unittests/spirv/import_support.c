/* SPDX-License-Identifier: Apache-2.0 */
#include "import_support.h"

#include "vyre/glsl.h"
#include "vyre/run.h"
#include "vyre/text.h"
#include "vyre/verify.h"

#include <spawn.h>
#include <spirv-tools/libspirv.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void
must(vyre_status status)
{
  if (status)
    print_error("%s\n", vyre_status_text(status));
  assert_true(status == VYRE_OK);
}

static void
print_diagnostic(void *user, const vyre_diagnostic *d)
{
  (void)user;
  char text[500];
  vyre_diagnostic_format(d, text, sizeof(text));
  print_error("%s\n", text);
}

vyre_bytes
import_compile(const char *glsl)
{
  vyre_bytes words = {0};
  vyre_status status = vyre_glsl_compile(glsl, strlen(glsl), "test.comp", NULL, (vyre_diagnostics){print_diagnostic, NULL}, &words);
  if (status)
    print_error("%s\n", glsl);
  must(status);
  return words;
}

vyre_bytes
import_assemble(const char *text)
{
  spv_context context = spvContextCreate(SPV_ENV_UNIVERSAL_1_6);
  spv_binary binary = NULL;
  spv_diagnostic diagnostic = NULL;
  const spv_result_t result =
      spvTextToBinaryWithOptions(context, text, strlen(text), SPV_TEXT_TO_BINARY_OPTION_PRESERVE_NUMERIC_IDS, &binary, &diagnostic);
  if (result != SPV_SUCCESS && diagnostic)
    print_error("%zu:%zu: %s\n", diagnostic->position.line + 1, diagnostic->position.column + 1, diagnostic->error);
  assert_int_equal(result, SPV_SUCCESS);
  vyre_bytes words = {0};
  must(vyre_bytes_append(&words, binary->code, binary->wordCount * sizeof(uint32_t)));
  spvDiagnosticDestroy(diagnostic);
  spvBinaryDestroy(binary);
  spvContextDestroy(context);
  return words;
}

vyre_bytes
import_assemble_made(vyre_bytes *text)
{
  vyre_bytes words = import_assemble(text->data);
  vyre_bytes_free(text);
  return words;
}

/* Runs spirv-opt, which is installed together with spirv-as. */
vyre_bytes
import_optimize(const vyre_bytes *words)
{
  char in[] = "/tmp/vyre-import-XXXXXX", out[] = "/tmp/vyre-import-XXXXXX";
  const int in_file = mkstemp(in), out_file = mkstemp(out);
  assert_true(in_file >= 0 && out_file >= 0);
  assert_int_equal(write(in_file, words->data, words->size), (ssize_t)words->size);
  close(in_file);
  char *const arguments[] = {(char[]){"spirv-opt"}, (char[]){"-O"}, in, (char[]){"-o"}, out, NULL};
  pid_t child;
  int status = 1;
  assert_int_equal(posix_spawnp(&child, "spirv-opt", NULL, NULL, arguments, environ), 0);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  vyre_bytes made = {0};
  char chunk[4096];
  ssize_t got;
  while ((got = read(out_file, chunk, sizeof(chunk))) > 0)
    must(vyre_bytes_append(&made, chunk, (size_t)got));
  close(out_file);
  unlink(in);
  unlink(out);
  assert_true(made.size > 20);
  return made;
}

vyre_module *
import_read(const vyre_bytes *words)
{
  vyre_module *module;
  must(vyre_module_create(NULL, 1u << 20, &module));
  must(vyre_spirv_read(module, words->data, words->size, "test.spv"));
  must(vyre_module_seal(module, NULL));
  vyre_verify_errors errors = {0};
  const vyre_status status = vyre_verify(module, &errors);
  if (status) {
    vyre_bytes text = {0};
    for (uint32_t k = 0; k < errors.count; k++)
      print_error("row %u: %s\n", errors.errors[k].row, errors.errors[k].message);
    must(vyre_text_print(module, NULL, &text));
    print_error("%s\n", text.data);
    vyre_bytes_free(&text);
  }
  must(status);
  vyre_verify_errors_free(&errors);
  return module;
}

vyre_bytes
import_write(const vyre_module *module)
{
  vyre_bytes words = {0};
  must(vyre_spirv_write(module, 0, NULL, &words));
  spv_context context = spvContextCreate(SPV_ENV_VULKAN_1_2);
  spv_const_binary_t binary = {(const uint32_t *)(const void *)words.data, words.size / sizeof(uint32_t)};
  spv_diagnostic diagnostic = NULL;
  const spv_result_t result = spvValidate(context, &binary, &diagnostic);
  if (result != SPV_SUCCESS && diagnostic)
    print_error("%zu: %s\n", diagnostic->position.index, diagnostic->error);
  assert_int_equal(result, SPV_SUCCESS);
  spvDiagnosticDestroy(diagnostic);
  spvContextDestroy(context);
  return words;
}

bool
import_refuses(const vyre_bytes *words, const char *part)
{
  vyre_module *module;
  must(vyre_module_create(NULL, 1u << 20, &module));
  const vyre_status status = vyre_spirv_read(module, words->data, words->size, "test.spv");
  const bool refused = vyre_status_code(status) == VYRE_CODE_INPUT && strstr(vyre_status_text(status), part);
  if (!refused)
    print_error("'%s' is not in: %s\n", part, vyre_status_text(status));
  vyre_status_free(status);
  vyre_module_destroy(module);
  return refused;
}

bool
import_keeps_assembly(const char *text, const char *part)
{
  vyre_bytes words = import_assemble(text), written = {0};
  vyre_module *module = import_read(&words);
  const vyre_string remark = vyre_module_input(module, 0)->remark;
  must(vyre_spirv_write(module, 0, NULL, &written));
  const bool has_remark = strstr(vyre_string_text(module, remark), part) != NULL && import_count(module, VYRE_OP_verbatim) == 1;
  const bool same = written.size == words.size && memcmp(written.data, words.data, words.size) == 0;
  if (!has_remark || !same)
    print_error("'%s' is not in: %s, or the words differ\n", part, vyre_string_text(module, remark));
  vyre_bytes_free(&words);
  vyre_bytes_free(&written);
  vyre_module_destroy(module);
  return has_remark && same;
}

bool
import_refuses_assembly(const char *text, const char *part)
{
  vyre_bytes words = import_assemble(text);
  const bool refused = import_refuses(&words, part);
  vyre_bytes_free(&words);
  return refused;
}

void
import_run(const vyre_module *module, uint32_t groups, const import_buffer *buffers, uint32_t count)
{
  const vyre_view *view = vyre_module_view(module);
  vyre_binding bindings[16];
  uint32_t bound = 0;
  const uint32_t program = view->first[0];
  for (uint32_t row = view->first[program]; row; row = view->next[row]) {
    if (VYRE_ROW_OP(view->op[row]) != VYRE_OP_buffer || VYRE_BUFFER_SPACE(view->imm_hi[row]) > VYRE_SPACE_PUSH)
      continue;
    const bool push = VYRE_BUFFER_SPACE(view->imm_hi[row]) == VYRE_SPACE_PUSH;
    const uint32_t binding = push ? 100 : vyre_buffer_info_of((vyre_module *)(uintptr_t)module, (vyre_row){row})->binding;
    for (uint32_t k = 0; k < count; k++)
      if (buffers[k].binding == binding && bound < 16)
        bindings[bound++] = (vyre_binding){{row}, buffers[k].data, buffers[k].size, 0};
  }
  const vyre_dispatch dispatch = {.program = {program}, .groups = {groups, 1, 1}, .bindings = bindings, .binding_count = bound};
  must(vyre_interp_run(module, &dispatch, NULL, NULL));
}

uint32_t
import_count(const vyre_module *module, vyre_opcode op)
{
  const vyre_view *view = vyre_module_view(module);
  uint32_t count = 0;
  for (uint32_t row = 1; row < view->rows; row++)
    count += VYRE_ROW_OP(view->op[row]) == (uint32_t)op;
  return count;
}
