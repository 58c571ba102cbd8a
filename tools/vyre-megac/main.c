/* vyre-megac: compiles a megakernel with handlers ahead of time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../mega/handlers.h"
#include "cli/options/console.h"
#include "vyre/c.h"
#include "vyre/io.h"
#include "vyre/megakernel.h"
#include "vyre/split.h"
#include "vyre/text.h"
#include "vyre/verify.h"

#include <stdio.h>
#include <string.h>

enum { ROOM = 1 << 16 };

typedef struct options {
  const char *build, *fused, *emit, *name, *output, *help;
  name_list inputs;
  option_texts responses;
  bool has_data, has_programs;
  mega_handlers handlers;
} options;

static vyre_status
add_handler(const char *text, void *fields)
{
  return mega_handlers_add(&((options *)fields)->handlers, text);
}

#define AT(field) offsetof(options, field)

static const option_row rows[] = {
    {.name = "Kernel", OPTION_SECTION},
    {.name = "build",
     OPTION_WORD,
     AT(build),
     "once|priority|persistent|persistent-priority",
     "the kernel's loop over the ring. Default: once"},
    {.name = "op",
     OPTION_CUSTOM,
     0,
     "CODE:FUNCTION",
     "call FUNCTION for items with this op code. May be repeated",
     .parse = add_handler},
    {.name = "fused", OPTION_TEXT, AT(fused), "FUNCTION", "call FUNCTION for all items, regardless of their op code"},
    {.name = "data", OPTION_FLAG, AT(has_data), NULL, "add a fifth buffer, and pass it to handlers"},
    {.name = "programs", OPTION_FLAG, AT(has_programs), NULL, "interpret registered programs"},
    {.name = "Output", OPTION_SECTION},
    {.name = "emit", OPTION_WORD, AT(emit), "c|vir", "the output format. Default: c, for a CPU"},
    {.name = "name", OPTION_TEXT, AT(name), "NAME", "the name of the C function. Default: mega"},
    {.name = "o", OPTION_TEXT, AT(output), "FILE", "write the output to FILE. Default: standard output"},
    OPTION_HELP_ROWS(AT(help)),
};

static const option_table table = {
    .program = "vyre-megac",
    .usage = "[options] [FILE.vir]",
    .about = "Compiles the megakernel with the functions of FILE.vir as handlers.\n",
    .after = "docs/megakernel.md describes handlers.  Exit codes: 0 done, 1 the file is wrong, 2 wrong use.\n",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .inputs = AT(inputs),
    .files = AT(responses)};

static vyre_mega_build
build_of(const options *o)
{
  static const char *const words[VYRE_MEGA_BUILD__COUNT] = {"once", "priority", "persistent", "persistent-priority"};
  uint32_t build = 0;
  while (o->build && strcmp(o->build, words[build]) != 0)
    build++;
  return (vyre_mega_build)build;
}

static vyre_status
emit(const options *o, const vyre_module *module, vyre_bytes *out)
{
  if (o->emit && strcmp(o->emit, "vir") == 0)
    return vyre_text_print(module, NULL, out);
  if (vyre_grid_barriers(module, (vyre_row){vyre_module_view(module)->first[0]}))
    return VYRE_ERROR(VYRE_CODE_INPUT,
                      "%s: a handler has a barrier for the whole grid, which compiled C does not support\n"
                      "Fix: leave out `native`, so that the cpu target interprets the handlers, or use another target",
                      o->inputs.names[0]);
  return vyre_c_write(module, (vyre_row){vyre_module_view(module)->first[0]},
                      &(vyre_c_options){.struct_size = sizeof(vyre_c_options), .name = o->name ? o->name : "mega"}, out);
}

/* A text, and the program that it was made of. */
typedef struct origin {
  const vyre_mega_program *program;
  const vyre_bytes *text;
} origin;

static void
print_diagnostic(void *user, const vyre_diagnostic *diagnostic)
{
  const origin *of = user;
  vyre_diagnostic own = *diagnostic;
  vyre_mega_source_locate(of->program, of->text, &own);
  console_diagnostics.emit(console_diagnostics.user, &own);
}

static vyre_status
compile(const options *o, const vyre_mega_program *program, const vyre_bytes *text, vyre_module *module, vyre_bytes *out)
{
  vyre_verify_errors errors = {0};
  origin of = {program, text};
  VYRE_TRY(vyre_text_parse(module, text->data, text->size, "megakernel", (vyre_diagnostics){print_diagnostic, &of}));
  vyre_status status = vyre_verify(module, &errors);
  vyre_verify_errors_free(&errors);
  VYRE_TRY(status);
  return emit(o, module, out);
}

static vyre_status
run(const options *o)
{
  const vyre_mega_form form = {.workgroup = 1};
  vyre_mega_program program = {.build = build_of(o),
                               .handlers = o->handlers.all,
                               .handler_count = o->handlers.count,
                               .fused = o->fused,
                               .has_data = o->has_data,
                               .has_programs = o->has_programs};
  vyre_bytes source = {0}, text = {0}, out = {0};
  vyre_module *module = NULL;
  if (o->inputs.count > 1)
    return VYRE_ERROR(VYRE_CODE_USAGE, "two inputs, '%s' and '%s'\nFix: give one file with all functions", o->inputs.names[0],
                      o->inputs.names[1]);
  vyre_status status = o->inputs.count ? mega_handlers_read(o->inputs.names[0], &source) : VYRE_OK;
  program.source = source.data;
  program.source_name = o->inputs.count ? o->inputs.names[0] : NULL;
  if (!status)
    status = vyre_mega_source(&program, &form, &text);
  if (!status)
    status = vyre_module_create(NULL, ROOM, &module);
  if (!status)
    status = compile(o, &program, &text, module, &out);
  if (!status && o->output)
    status = vyre_file_write(o->output, out.data, out.size);
  else if (!status)
    fwrite(out.data, 1, out.size, stdout);
  vyre_module_destroy(module);
  vyre_bytes_free(&source);
  vyre_bytes_free(&text);
  vyre_bytes_free(&out);
  return status;
}

int
main(int argc, char **argv)
{
  static options o;
  vyre_status status = option_table_parse(&table, argc, argv, &o);
  if (!status)
    status = o.help ? console_help(&table, o.help, VYRE_VERSION) : run(&o);
  option_table_free(&table, &o);
  return console_end("vyre-megac", status, 0);
}
