/* vyre-kernelc: compiles the phases of a GPU pass.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/files/depfile.h"
#include "base/files/names.h"
#include "kernel.h"
#include "optimize.h"
#include "cli/options/console.h"
#include "vyre/c.h"
#include "vyre/io.h"
#include "vyre/text.h"
#include "vyre/verify.h"

#include <stdio.h>
#include <string.h>

typedef struct options {
  const char *output, *depfile, *emit, *name, *help;
  name_list inputs, plugins;
  option_texts responses;
  bool to_plugin; /* -emit=plugin */
} options;

#define AT(field) offsetof(options, field)

static const option_row rows[] = {
    {.name = "Output", OPTION_SECTION},
    {.name = "emit",
     OPTION_WORD,
     AT(emit),
     "c|vir|plugin",
     "the output: c, the default, each phase as a C function; vir, each phase as a program with its functions inlined; plugin, a "
     "C file that defines NAME_phases, for a plugin"},
    {.name = "name", OPTION_TEXT, AT(name), "NAME", "the prefix of NAME_phases. Default: the name of the input"},
    {.name = "load",
     OPTION_LIST,
     AT(plugins),
     "FILE.so",
     "optimize kernels with the core passes in these files. Default: the installed core passes"},
    {.name = "o", OPTION_TEXT, AT(output), "FILE", "write the output to FILE. Default: standard output"},
    {.name = "depfile", OPTION_TEXT, AT(depfile), "FILE", "write the list of files that were read to FILE, for make and ninja"},
    OPTION_HELP_ROWS(AT(help)),
};

static const option_table table = {
    .program = "vyre-kernelc",
    .usage = "[options] FILE.vir",
    .about = "Checks and compiles the phases of a GPU pass.\n",
    .after = "docs/gpu-passes.md describes the input.  Exit codes: 0 done, 1 the file is wrong, 2 wrong use.\n",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .inputs = AT(inputs),
    .files = AT(responses)};

enum { MOST_NAME = 64 };

/* Writes the name of the file without folders, up to its first dot. */
static void
derive_name(const char *path, char out[MOST_NAME])
{
  const char *name = path_name(path);
  snprintf(out, MOST_NAME, "%.*s", (int)strcspn(name, "."), name);
}

static vyre_status
check_options(options *o, char name[MOST_NAME])
{
  if (o->inputs.count == 0)
    return VYRE_ERROR(VYRE_CODE_USAGE, "no input\nFix: name a file with the phases of a pass; -help lists the options");
  if (o->inputs.count > 1)
    return VYRE_ERROR(VYRE_CODE_USAGE, "two inputs, '%s' and '%s'\nFix: give one file, which may include others",
                      o->inputs.names[0], o->inputs.names[1]);
  derive_name(o->inputs.names[0], name);
  if (!o->name)
    o->name = name;
  o->to_plugin = o->emit && strcmp(o->emit, "plugin") == 0;
  if (o->to_plugin && (strlen(o->name) >= MOST_NAME || !text_is_identifier(o->name, strlen(o->name))))
    return VYRE_ERROR(VYRE_CODE_USAGE, "'%s' is not a name in C\nFix: give -name=NAME, with at most %u letters, digits and _",
                      o->name, MOST_NAME - 1);
  return VYRE_OK;
}

static vyre_status
write_depfile(const kernel_file *file, const options *o)
{
  vyre_bytes text = {0};
  vyre_status status = depfile_add_path(&text, o->output ? o->output : "-");
  if (!status)
    status = vyre_bytes_printf(&text, ":");
  for (uint32_t i = 1; i < file->source_count && !status; i++) {
    status = vyre_bytes_printf(&text, " ");
    if (!status)
      status = depfile_add_path(&text, kernel_source_path(file, i));
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
  VYRE_TRY(kernel_read(file, o->inputs.names[0], console_diagnostics));
  vyre_status status = kernel_expand(file, &expansion);
  if (!status)
    status = vyre_text_parse_lines(module, expansion.text.data, expansion.text.size, o->inputs.names[0],
                                   (vyre_diagnostics){kernel_emit, &expansion});
  if (!status)
    status = kernel_check(&expansion, module);
  vyre_verify_errors errors = {0};
  if (!status)
    status = vyre_verify(module, &errors);
  vyre_verify_errors_free(&errors);
  if (!status)
    status = o->to_plugin                             ? kernel_write_plugin(&expansion, module, o->name, kernelc_optimize, out)
             : o->emit && strcmp(o->emit, "vir") == 0 ? vyre_text_print(module, NULL, out)
                                                      : vyre_c_write(module, VYRE_NONE, NULL, out);
  kernel_expansion_free(&expansion);
  return status;
}

static vyre_status
compile_to_file(const options *o, vyre_bytes *out)
{
  static kernel_file file; /* too large for the stack */
  vyre_module *module = NULL;
  VYRE_TRY(vyre_module_create(NULL, 1u << 20, &module));
  vyre_status status = compile(&file, o, module, out);
  if (!status && o->output)
    status = vyre_file_write(o->output, out->data, out->size);
  else if (!status)
    fwrite(out->data, 1, out->size, stdout);
  if (!status && o->depfile)
    status = write_depfile(&file, o);
  vyre_module_destroy(module);
  kernel_file_free(&file);
  return status;
}

int
main(int argc, char **argv)
{
  options o = {0};
  vyre_bytes out = {0};
  char name[MOST_NAME];
  vyre_status status = option_table_parse(&table, argc, argv, &o);
  if (!status && o.help) {
    status = console_help(&table, o.help, VYRE_VERSION);
  } else {
    if (!status)
      status = check_options(&o, name);
    if (!status && o.to_plugin)
      status = kernelc_optimize_begin(&o.plugins);
    if (!status)
      status = compile_to_file(&o, &out);
    kernelc_optimize_end();
  }
  vyre_bytes_free(&out);
  option_table_free(&table, &o);
  return console_end("vyre-kernelc", status, 0);
}
