/* Loads a program from a file: reads and verifies the module, chooses the program, and makes the words for the driver.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include "vyre/glsl.h"
#include "vyre/text.h"
#include "vyre/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- loading ------------------------------------------------------------------------------------------------------------- */

static vyre_status
verify(const vyre_module *module)
{
  vyre_verify_errors errors = {0};
  vyre_bytes text = {0};
  vyre_status status = vyre_verify(module, &errors);
  if (status) {
    vyre_status printed = vyre_verify_print(module, &errors, &text);
    if (!printed && text.data)
      fwrite(text.data, 1, text.size, stderr);
    status = vyre_status_join(status, printed);
  }
  vyre_bytes_free(&text);
  vyre_verify_errors_free(&errors);
  return status;
}

/* Reads the module, and the input's own SPIR-V if the input is SPIR-V or compiled to it. */
static vyre_status
load_module(run_program *program, vyre_bytes *file, const run_options *options, vyre_diagnostics diagnostics)
{
  VYRE_TRY(vyre_module_create(NULL, 0, &program->module));
  VYRE_TRY(vyre_input_load(program->path, file));
  vyre_input_kind kind = vyre_input_detect_as(program->path, file->data, file->size, options->compile.language);
  VYRE_TRY(run_words_read(kind, file, program->path, &options->compile, diagnostics, &program->words));
  const vyre_bytes *source = program->words.size ? &program->words : file;
  const char *data = source->data ? source->data : "";
  if (kind == VYRE_INPUT_VIR) /* messages about rows have lines of the text */
    VYRE_TRY(vyre_text_parse_lines(program->module, data, source->size, program->path, diagnostics));
  else
    VYRE_TRY(vyre_input_parse(program->module, program->path, data, source->size, &options->compile, diagnostics, &kind));
  return verify(program->module);
}

/* ---- the choice of the program ------------------------------------------------------------------------------------------- */

static bool
is_named(run_program *program, uint32_t row, const char *name)
{
  const char *own = vyre_row_name(program->module, (vyre_row){row});
  return strcmp(run_entry_name(program->module, (vyre_row){row}), name) == 0 || (own && strcmp(own, name) == 0);
}

/* Returns the error if no program is chosen. */
static vyre_status
report_no_program(run_program *program, const char *wanted)
{
  const vyre_view *view = vyre_module_view(program->module);
  vyre_bytes names = {0};
  vyre_status status = VYRE_OK;
  for (uint32_t row = view->first[0]; row && !status; row = view->next[row])
    status = vyre_bytes_printf(&names, "%s%s", names.size ? ", " : "", run_entry_name(program->module, (vyre_row){row}));
  if (status) {
    vyre_bytes_free(&names);
    return status;
  }
  if (!view->first[0])
    status = VYRE_ERROR(VYRE_CODE_INPUT, "%s: the file has no program\nFix: use a file with a compute program", program->path);
  else if (wanted)
    status = VYRE_ERROR(VYRE_CODE_USAGE, "%s: no program '%s'; there are: %s\nFix: name one of them with -entry", program->path,
                        wanted, names.data);
  else
    status = VYRE_ERROR(VYRE_CODE_USAGE, "%s: several programs: %s\nFix: name one of them with -entry", program->path, names.data);
  vyre_bytes_free(&names);
  return status;
}

static vyre_status
choose_program(run_program *program, const char *wanted)
{
  const vyre_view *view = vyre_module_view(program->module);
  uint32_t first = view->first[0], found = 0;
  if (!wanted && first && !view->next[first])
    found = first;
  for (uint32_t row = first; wanted && row && !found; row = view->next[row])
    found = is_named(program, row, wanted) ? row : 0;
  if (!found)
    return report_no_program(program, wanted);
  program->row = (vyre_row){found};
  return VYRE_OK;
}

/* ---- all of it ----------------------------------------------------------------------------------------------------------- */

static vyre_status
write_words(run_program *program, const run_options *options, run_target target)
{
  vyre_device_info info;
  const bool is_interpreted = options->megakernel && !options->bench.value;
  if (!target || program->words.size || is_interpreted)
    return VYRE_OK;
  VYRE_TRY(run_device_describe(options, target, &info));
  return run_program_write(program, &info);
}

static vyre_status
fill_program(run_program *program, vyre_bytes *file, const run_options *options, vyre_diagnostics diagnostics)
{
  bool is_second = program->path == options->compare && options->compare != options->input;
  VYRE_TRY(load_module(program, file, options, diagnostics));
  VYRE_TRY(choose_program(program, options->entry));
  VYRE_TRY(run_program_reflect(program, &options->setup, !is_second)); /* the second may have lost an unused constant */
  VYRE_TRY(write_words(program, options, is_second ? options->compare_target : options->target));
  return options->compare == options->input ? write_words(program, options, options->compare_target) : VYRE_OK;
}

vyre_status
run_program_load(const char *path, const run_options *options, vyre_diagnostics diagnostics, run_program *out)
{
  *out = (run_program){.path = path};
  vyre_bytes file = {0};
  vyre_status status = fill_program(out, &file, options, diagnostics);
  vyre_bytes_free(&file);
  if (status)
    run_program_free(out);
  return status;
}
