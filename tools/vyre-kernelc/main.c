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
    "  -emit=c         each phase as a C function (default)\n"
    "  -emit=vir       each phase as a program, its functions put in\n"
    "  -emit=plugin    a C file for a plugin to be linked with, which defines NAME_phases\n"
    "  -name=NAME      that name; default: FILE's\n"
    "  -o FILE         write there; default: standard output\n"
    "  -depfile=FILE   write there, for make and ninja, which files were read\n"
    "  -help           print this\n"
    "\n"
    "What stands in such a file: docs/gpu-passes.md.  Exit codes: 0 done, 1 the file is wrong, 2 wrong use.\n";

typedef enum emission { EMIT_C, EMIT_VIR, EMIT_PLUGIN } emission;

enum { MOST_NAME = 64 };

typedef struct options {
  const char *input, *output, *depfile;
  emission emit;
  char name[MOST_NAME];
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

static bool
take(const char *word, const char *option, const char **out)
{
  const size_t length = strlen(option);
  if (strncmp(word, option, length) != 0)
    return false;
  *out = word + length;
  return true;
}

/* Of FILE without its folders and what follows its first dot. */
static void
name_after(const char *path, char out[MOST_NAME])
{
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  snprintf(out, MOST_NAME, "%.*s", (int)strcspn(name, "."), name);
}

static bool
read_option(const char *word, options *out)
{
  const char *value;
  if (take(word, "-emit=", &value)) {
    static const char *const words[] = {"c", "vir", "plugin"};
    for (uint32_t i = 0; i < sizeof words / sizeof *words; i++)
      if (strcmp(value, words[i]) == 0) {
        out->emit = (emission)i;
        return true;
      }
    return false;
  }
  if (take(word, "-name=", &value)) {
    snprintf(out->name, sizeof out->name, "%s", value);
    return strlen(value) < sizeof out->name;
  }
  return take(word, "-depfile=", &out->depfile);
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
    } else if (word[0] == '-' && word[1]) {
      if (read_option(word, out))
        continue;
      fprintf(stderr, "error: unknown option '%s'\nFix: vyre-kernelc -help lists them\n", argv[i]);
      return 2;
    } else if (out->input) {
      fprintf(stderr, "error: two inputs, '%s' and '%s'\nFix: one file is one pass, and includes others\n", out->input, word);
      return 2;
    } else {
      out->input = word;
    }
  }
  if (!out->input) {
    fputs(usage, stderr);
    return 2;
  }
  if (!out->name[0])
    name_after(out->input, out->name);
  if (out->emit != EMIT_PLUGIN || text_is_identifier(out->name, strlen(out->name)))
    return -1;
  fprintf(stderr, "error: '%s' is no name for C\nFix: -name=NAME, of letters, digits and _\n", out->name);
  return 2;
}

/* A path as make reads it, and ninja. */
static vyre_status
add_path(vyre_bytes *text, const char *path)
{
  vyre_status status = NULL;
  for (; *path && !status; path++)
    status = vyre_bytes_printf(text, *path == '$' ? "$%c" : *path == ' ' || *path == '#' || *path == ':' ? "\\%c" : "%c", *path);
  return status;
}

static vyre_status
write_depfile(const kernel_file *file, const options *o)
{
  vyre_bytes text = {0};
  vyre_status status = add_path(&text, o->output ? o->output : "-");
  if (!status)
    status = vyre_bytes_printf(&text, ":");
  for (uint32_t i = 1; i < file->source_count && !status; i++) {
    status = vyre_bytes_printf(&text, " ");
    if (!status)
      status = add_path(&text, kernel_source_path(file, i));
  }
  if (!status)
    status = vyre_bytes_printf(&text, "\n");
  if (!status)
    status = vyre_file_write(o->depfile, text.data, text.size);
  vyre_bytes_free(&text);
  return status;
}

static vyre_status
compile(kernel_file *file, const options *o, vyre_module *module, vyre_bytes *out)
{
  kernel_expansion expansion;
  VYRE_TRY(kernel_read(file, o->input, (vyre_diagnostics){print_diagnostic, NULL}));
  vyre_status status = kernel_expand(file, &expansion);
  if (!status)
    status = vyre_text_parse_lines(module, expansion.text.data, expansion.text.size, o->input,
                                   (vyre_diagnostics){kernel_emit, &expansion});
  if (!status)
    status = kernel_check(&expansion, module);
  vyre_verify_errors errors = {0};
  if (!status)
    status = vyre_verify(module, &errors);
  vyre_verify_errors_free(&errors);
  if (!status)
    status = o->emit == EMIT_VIR ? vyre_text_print(module, NULL, out)
             : o->emit == EMIT_C ? vyre_c_write(module, VYRE_NONE, NULL, out)
                                 : kernel_write_plugin(&expansion, module, o->name, out);
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
  vyre_bytes out = {0};
  vyre_module *module = NULL;
  vyre_status status = vyre_module_create(NULL, 1u << 20, &module);
  if (!status)
    status = compile(&file, &o, module, &out);
  if (!status && o.output)
    status = vyre_file_write(o.output, out.data, out.size);
  else if (!status)
    fwrite(out.data, 1, out.size, stdout);
  if (!status && o.depfile)
    status = write_depfile(&file, &o);
  vyre_module_destroy(module);
  kernel_file_free(&file);
  vyre_bytes_free(&out);
  return status ? fail(status) : 0;
}
