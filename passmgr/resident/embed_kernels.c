/* embed_kernels PATH OUTPUT: compiles the programs of a `.vir` file for devices, and writes them as C (device_kernels.h).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/io.h"
#include "vyre/ptx.h"
#include "vyre/spirv.h"
#include "vyre/text.h"
#include "vyre/verify.h"

#include <stdio.h>
#include <string.h>

static void
print_diagnostic(void *user, const vyre_diagnostic *diagnostic)
{
  (void)user;
  char text[1024];
  vyre_diagnostic_format(diagnostic, text, sizeof text);
  fputs(text, stderr);
}

static vyre_status
read_programs(const char *path, vyre_module *module)
{
  vyre_bytes text = {0};
  vyre_verify_errors errors = {0};
  vyre_status status = vyre_file_read(path, &text);
  if (!status)
    status = vyre_text_parse(module, text.data, text.size, path, (vyre_diagnostics){print_diagnostic, NULL});
  if (!status)
    status = vyre_verify(module, &errors);
  vyre_verify_errors_free(&errors);
  vyre_bytes_free(&text);
  return status;
}

/* Appends an array of words, whose last one is filled up with zeros. */
static vyre_status
write_words(const char *kind, const char *name, const vyre_bytes *code, vyre_bytes *c)
{
  VYRE_TRY(vyre_bytes_printf(c, "static const uint32_t %s_%s[] = {", kind, name));
  for (size_t at = 0; at < code->size; at += sizeof(uint32_t)) {
    uint32_t word = 0;
    memcpy(&word, code->data + at, code->size - at < sizeof word ? code->size - at : sizeof word);
    VYRE_TRY(vyre_bytes_printf(c, "%u,", word));
  }
  return vyre_bytes_printf(c, "};\n");
}

static vyre_status
embed(const vyre_module *module, vyre_bytes *c)
{
  const vyre_view *v = vyre_module_view(module);
  vyre_bytes spirv = {0}, table = {0};
  const vyre_spirv_options stripped = {.struct_size = sizeof stripped, .strip = true};
  vyre_status status = vyre_spirv_write(module, 0, &stripped, &spirv);
  if (!status)
    status = vyre_bytes_printf(c, "/* Generated. */\n#include \"passmgr/resident/device_kernels.h\"\n\n");
  if (!status)
    status = write_words("spirv", "all", &spirv, c);
  for (uint32_t program = v->first[0]; program && !status; program = v->next[program]) {
    const char *name = vyre_row_name(module, (vyre_row){program});
    const vyre_ptx_options options = {.struct_size = sizeof options, .name = name};
    vyre_bytes ptx = {0};
    status = vyre_ptx_write(module, (vyre_row){program}, &options, &ptx);
    if (!status)
      status = write_words("ptx", name, &ptx, c);
    if (!status)
      status = vyre_bytes_printf(&table, "const device_program vyre_program_%s = {\"%s\", spirv_all, %zu, ptx_%s, %zu};\n", name,
                                 name, spirv.size, name, ptx.size);
    vyre_bytes_free(&ptx);
  }
  if (!status)
    status = vyre_bytes_append(c, table.data, table.size);
  vyre_bytes_free(&table);
  vyre_bytes_free(&spirv);
  return status;
}

int
main(int argc, char **argv)
{
  vyre_module *module = NULL;
  vyre_bytes c = {0};
  if (argc != 3)
    return 2;
  vyre_status status = vyre_module_create(NULL, 1 << 16, &module);
  if (!status)
    status = read_programs(argv[1], module);
  if (!status)
    status = embed(module, &c);
  if (!status)
    status = vyre_file_write(argv[2], c.data, c.size);
  vyre_module_destroy(module);
  vyre_bytes_free(&c);
  const int code = (int)vyre_status_code(status);
  if (status)
    fprintf(stderr, "embed_kernels: %s\n", vyre_status_text(status));
  vyre_status_free(status);
  return code;
}
