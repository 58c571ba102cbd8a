/* vyre-kernelc: compiles the phases of a GPU pass.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernel.h"
#include "vyre/c.h"
#include "vyre/io.h"
#include "vyre/text.h"
#include "vyre/verify.h"

#include <stdio.h>
#include <string.h>

static const char usage[] =
    "usage: vyre-kernelc [options] FILE.vir\n"
    "\n"
    "Compiles the phases of a GPU pass, after checking that they do what phases may.\n"
    "\n"
    "  -emit=vir   each phase as a program, its functions put in\n"
    "  -o FILE     write there; default: standard output\n"
    "  -help       print this\n"
    "\n"
    "What stands in such a file: docs/gpu-passes.md.  Exit codes: 0 done, 1 the file is wrong, 2 wrong use.\n";

typedef struct options {
  const char *input, *output;
  bool vir;
} options;

static void
print_diagnostic(void *user, const vyre_diagnostic *diagnostic)
{
  char text[4096];
  (void)user;
  vyre_diagnostic_format(diagnostic, text, sizeof text);
  fputs(text, stderr);
}

static int
fail(vyre_status status)
{
  const int code = (int)vyre_status_code(status);
  fprintf(stderr, "error: %s\n", vyre_status_text(status));
  vyre_status_free(status);
  return code;
}

/* Exit codes 0 and 2 end the program; -1: go on. */
static int
read_options(int argc, char **argv, options *out)
{
  *out = (options){0};
  for (int i = 1; i < argc; i++) {
    const char *word = argv[i][0] == '-' && argv[i][1] == '-' ? argv[i] + 1 : argv[i];
    if (strcmp(word, "-help") == 0) {
      fputs(usage, stdout);
      return 0;
    }
    if (strcmp(word, "-o") == 0 && i + 1 < argc) {
      out->output = argv[++i];
    } else if (strcmp(word, "-emit=vir") == 0 || strcmp(word, "-emit=c") == 0) {
      out->vir = word[6] == 'v';
    } else if (word[0] == '-' && word[1]) {
      fprintf(stderr, "error: unknown option '%s'\nFix: vyre-kernelc -help lists them\n", argv[i]);
      return 2;
    } else if (out->input) {
      fprintf(stderr, "error: two inputs, '%s' and '%s'\nFix: one file is one pass\n", out->input, word);
      return 2;
    } else {
      out->input = word;
    }
  }
  if (!out->input)
    fputs(usage, stderr);
  return out->input ? -1 : 2;
}

static vyre_status
compile(kernel_file *file, const char *path, bool vir, vyre_bytes *text, vyre_module *module, vyre_bytes *out)
{
  kernel_expansion expansion;
  VYRE_TRY(kernel_add_prelude(text));
  const uint32_t prelude = (uint32_t)text->size;
  VYRE_TRY(vyre_file_read(path, text));
  if (!kernel_read(file, path, text, prelude, (vyre_diagnostics){print_diagnostic, NULL}))
    return VYRE_ERROR(VYRE_CODE_INPUT, "%s: %u error%s", path, file->errors, file->errors == 1 ? "" : "s");
  vyre_status status = kernel_expand(file, &expansion);
  if (!status)
    status =
        vyre_text_parse_lines(module, expansion.text.data, expansion.text.size, path, (vyre_diagnostics){kernel_emit, &expansion});
  if (!status)
    status = kernel_check(&expansion, module);
  vyre_verify_errors errors = {0};
  if (!status)
    status = vyre_verify(module, &errors);
  vyre_verify_errors_free(&errors);
  if (!status)
    status = vir ? vyre_text_print(module, NULL, out) : vyre_c_write(module, VYRE_NONE, NULL, out);
  kernel_expansion_free(&expansion);
  return status;
}

int
main(int argc, char **argv)
{
  static kernel_file file; /* it is large */
  options o;
  const int end = read_options(argc, argv, &o);
  if (end >= 0)
    return end;
  vyre_bytes text = {0}, out = {0};
  vyre_module *module = NULL;
  vyre_status status = vyre_module_create(NULL, 1u << 20, &module);
  if (!status)
    status = compile(&file, o.input, o.vir, &text, module, &out);
  if (!status && o.output)
    status = vyre_file_write(o.output, out.data, out.size);
  else if (!status)
    fwrite(out.data, 1, out.size, stdout);
  vyre_module_destroy(module);
  vyre_bytes_free(&text);
  vyre_bytes_free(&out);
  return status ? fail(status) : 0;
}
