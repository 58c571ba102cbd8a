/* A program from a file: read, checked, chosen, and the words that a driver is given.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include "vyre/glsl.h"
#include "vyre/spirv.h"
#include "vyre/split.h"
#include "vyre/text.h"
#include "vyre/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- loading ------------------------------------------------------------------------------------------------------------- */

/* A SPIR-V module of the other byte order becomes one of this machine's. */
static void
swap_words(vyre_bytes *words)
{
  uint32_t first;
  memcpy(&first, words->data, 4);
  if (first != 0x03022307)
    return;
  for (size_t at = 0; at + 4 <= words->size; at += 4) {
    uint32_t word;
    memcpy(&word, words->data + at, 4);
    word = __builtin_bswap32(word);
    memcpy(words->data + at, &word, 4);
  }
}

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

/* The module, and the input's own SPIR-V if the input is SPIR-V or a text that is compiled. */
static vyre_status
load(run_program *program, vyre_bytes *file, const run_options *options, vyre_diagnostics diagnostics)
{
  VYRE_TRY(vyre_module_create(NULL, 0, &program->module));
  VYRE_TRY(vyre_file_read(program->path, file));
  vyre_glsl_options glsl = options->compile;
  vyre_input_kind kind = vyre_input_detect_as(program->path, file->data, file->size, glsl.language);
  if (kind == VYRE_INPUT_HLSL)
    glsl.language = VYRE_LANGUAGE_HLSL;
  if (kind == VYRE_INPUT_ASSEMBLY)
    glsl.language = VYRE_LANGUAGE_ASSEMBLY;
  if (kind == VYRE_INPUT_GLSL || kind == VYRE_INPUT_HLSL || kind == VYRE_INPUT_ASSEMBLY)
    VYRE_TRY(vyre_glsl_compile(file->data, file->size, program->path, &glsl, diagnostics, &program->words));
  else if (kind == VYRE_INPUT_SPIRV)
    VYRE_TRY(vyre_bytes_append(&program->words, file->data, file->size));
  const vyre_bytes *source = program->words.size ? &program->words : file;
  const char *data = source->data ? source->data : "";
  if (kind == VYRE_INPUT_VIR) /* what is said of its rows points at the text */
    VYRE_TRY(vyre_text_parse_lines(program->module, data, source->size, program->path, diagnostics));
  else
    VYRE_TRY(vyre_input_parse(program->module, program->path, data, source->size, &glsl, diagnostics, &kind));
  VYRE_TRY(verify(program->module));
  if (program->words.size)
    swap_words(&program->words);
  return VYRE_OK;
}

/* ---- which program ------------------------------------------------------------------------------------------------------- */

static bool
is_named(run_program *program, uint32_t row, const char *name)
{
  const char *own = vyre_row_name(program->module, (vyre_row){row});
  return strcmp(run_entry_name(program->module, (vyre_row){row}), name) == 0 || (own && strcmp(own, name) == 0);
}

static vyre_status
no_program(run_program *program, const char *wanted)
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
    status = VYRE_ERROR(VYRE_CODE_INPUT, "%s: no program in it\nFix: give a file with a compute program", program->path);
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
    return no_program(program, wanted);
  program->row = (vyre_row){found};
  return VYRE_OK;
}

/* ---- all of it ----------------------------------------------------------------------------------------------------------- */

/* A strict program asks for floats that are as exact as the device can have them.  One with barriers for the whole grid is written
 * in segments, where it runs. */
vyre_status
run_program_write(run_program *program, const vyre_device_info *info)
{
  vyre_spirv_options spirv = {0};
  if (program->words.size || !(info->forms >> VYRE_KERNEL_SPIRV & 1) || vyre_grid_barriers(program->module, program->row))
    return VYRE_OK;
  if (!(vyre_module_view(program->module)->imm[program->row.id] & VYRE_PROGRAM_RELAXED))
    spirv.float_controls = info->free_float_controls ? info->float_controls : 0;
  return vyre_spirv_write(program->module, vyre_program_info_of(program->module, program->row)->input, &spirv, &program->words);
}

static vyre_status
write_words(run_program *program, const run_options *options, run_target target)
{
  vyre_device_info info;
  if (!target || program->words.size)
    return VYRE_OK;
  VYRE_TRY(run_device_describe(options, target, &info));
  return run_program_write(program, &info);
}

static vyre_status
fill_program(run_program *program, vyre_bytes *file, const run_options *options, vyre_diagnostics diagnostics)
{
  bool is_second = program->path == options->compare && options->compare != options->input;
  VYRE_TRY(load(program, file, options, diagnostics));
  VYRE_TRY(choose_program(program, options->entry));
  VYRE_TRY(
      run_program_reflect(program, &options->setup, !is_second)); /* what compares may have lost a constant that it does not use */
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
