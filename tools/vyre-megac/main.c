/* vyre-megac: compiles a megakernel with handlers ahead of time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../mega/handlers.h"
#include "cli/options/console.h"
#include "runtime/parts.h"
#include "vyre/batch.h"
#include "vyre/c.h"
#include "vyre/io.h"
#include "vyre/split.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* The modules of one output.  Each becomes a C function. */
typedef struct output {
  const options *options;
  const mega_parts *parts;
  vyre_batch *batch;
  uint32_t count;
} output;

/* Adds a copy of the module.  The first is the kernel, and the others are stages: NAME_1 and so on. */
static vyre_status
add_module(output *out, vyre_module *module)
{
  out->count++;
  VYRE_TRY(vyre_module_seal(module, NULL));
  return vyre_batch_add(out->batch, module);
}

static vyre_status
add_part(output *out, const mega_part *part)
{
  vyre_module *module;
  VYRE_TRY(mega_part_make(out->parts, part, &module));
  vyre_status status = add_module(out, module);
  vyre_module_destroy(module);
  return status;
}

static vyre_status
add_segments(output *out, const mega_part *part)
{
  vyre_module *module;
  vyre_segments segments = {0};
  VYRE_TRY(mega_part_make(out->parts, part, &module));
  vyre_status status = vyre_split_grid(module, (vyre_row){vyre_module_view(module)->first[0]}, &segments);
  for (uint32_t i = 0; !status && i < segments.count; i++)
    status = add_module(out, segments.modules[i]);
  if (segments.count)
    vyre_segments_free(&segments);
  vyre_module_destroy(module);
  return vyre_status_note(status, "in the handler @%s, which has a barrier for the whole grid",
                          mega_handler_function(out->parts->program, part->handler));
}

/* Adds the kernel, and the stages of handlers with barriers for the whole grid in the order of vyre_mega_options.stages. */
static vyre_status
add_parts(output *out, const bool *staged)
{
  const vyre_mega_program *p = out->parts->program;
  VYRE_TRY(add_part(out, &(mega_part){.kind = MEGA_PART_KERNEL, .is_staged = staged}));
  if (!staged)
    return VYRE_OK;
  for (uint32_t i = 0; i < mega_handler_count(p); i++)
    if (staged[i] && mega_handler_first(p, i) == i)
      VYRE_TRY(add_segments(out, &(mega_part){MEGA_PART_GRID, staged, i}));
  return add_part(out, &(mega_part){.kind = MEGA_PART_GRID_END, .is_staged = staged});
}

/* Writes all functions, and an array of the stages. */
static vyre_status
emit(const output *from, vyre_bytes *out)
{
  const options *o = from->options;
  const char *name = o->name ? o->name : "mega";
  vyre_module *module = vyre_batch_module(from->batch);
  VYRE_TRY(vyre_module_seal(module, NULL));
  if (o->emit && strcmp(o->emit, "vir") == 0)
    return vyre_text_print(module, NULL, out);
  VYRE_TRY(vyre_c_write(module, VYRE_NONE, &(vyre_c_options){.struct_size = sizeof(vyre_c_options), .name = name}, out));
  if (from->count == 1)
    return VYRE_OK;
  VYRE_TRY(vyre_bytes_printf(
      out, "\n/* vyre_mega_options.stages */\nuint32_t (*const %s_stages[%" PRIu32 "])(const vyre_c_dispatch *) = {", name,
      from->count - 1));
  for (uint32_t i = 1; i < from->count; i++)
    VYRE_TRY(vyre_bytes_printf(out, "%s%s_%" PRIu32, i > 1 ? ", " : "", name, i));
  return vyre_bytes_printf(out, "};\n");
}

static vyre_status
compile(const options *o, const vyre_mega_program *program, vyre_bytes *out)
{
  const vyre_mega_form form = {.workgroup = 1};
  const mega_parts parts = {program, &form, console_diagnostics};
  output to = {.options = o, .parts = &parts};
  bool *staged = NULL;
  VYRE_TRY(vyre_batch_create(NULL, &to.batch));
  vyre_status status = mega_find_staged(&parts, &staged);
  if (!status)
    status = add_parts(&to, staged);
  if (!status)
    status = emit(&to, out);
  vyre_batch_destroy(to.batch);
  free(staged);
  return status;
}

static vyre_status
run(const options *o)
{
  vyre_mega_program program = {.build = build_of(o),
                               .handlers = o->handlers.all,
                               .handler_count = o->handlers.count,
                               .fused = o->fused,
                               .has_data = o->has_data,
                               .has_programs = o->has_programs};
  vyre_bytes source = {0}, out = {0};
  if (o->inputs.count > 1)
    return VYRE_ERROR(VYRE_CODE_USAGE, "two inputs, '%s' and '%s'\nFix: give one file with all functions", o->inputs.names[0],
                      o->inputs.names[1]);
  vyre_status status = o->inputs.count ? mega_handlers_read(o->inputs.names[0], &source) : VYRE_OK;
  program.source = source.data;
  program.source_name = o->inputs.count ? o->inputs.names[0] : NULL;
  if (!status)
    status = compile(o, &program, &out);
  if (!status && o->output)
    status = vyre_file_write(o->output, out.data, out.size);
  else if (!status)
    fwrite(out.data, 1, out.size, stdout);
  vyre_bytes_free(&source);
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
