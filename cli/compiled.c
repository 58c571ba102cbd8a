/* Docs at compiled.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "compiled.h"

#include "cli/inputs/depends.h"
#include "cli/outputs/outputs.h"

#include <inttypes.h>
#include <string.h>

static bool
is_text(vyre_input_kind kind)
{
  return kind == VYRE_INPUT_GLSL || kind == VYRE_INPUT_HLSL || kind == VYRE_INPUT_ASSEMBLY;
}

bool
compiled_is_enough(const process *p, const vyre_source *source)
{
  const tool_options *o = p->options;
  const output_form form = outputs_form(o, source->kind);
  if (form == OUTPUT_PREPROCESSED || form == OUTPUT_DEPENDS)
    return true;
  return o->compile_only && !p->pipeline && is_text(source->kind) && (form == OUTPUT_SPIRV || form == OUTPUT_ASSEMBLY) &&
         !o->exact_floats && !o->strip && !o->spec.count && !o->spec_of_file.count && !o->freeze_spec && !p->driver;
}

/* Compiles the source, and prints its name and glslang's log if options ask for these. */
static vyre_status
compile(const tool_options *o, const vyre_source *source, vyre_glsl_options *glsl, vyre_bytes *out)
{
  vyre_bytes log = {0}, text = {0};
  glsl->log = &log;
  vyre_status status = vyre_glsl_compile(source->data, source->size, source->path, glsl, source->diagnostics, out);
  if (o->print_name && (log.size || strcmp(o->print_name, "always") == 0))
    status =
        vyre_status_join(status, vyre_bytes_printf(&text, "%s\n", strcmp(source->path, "<stdin>") == 0 ? "stdin" : source->path));
  if (log.size)
    status = vyre_status_join(status, vyre_bytes_append(&text, log.data, log.size));
  if (text.size)
    status = vyre_status_join(status, vyre_file_write("-", text.data, text.size));
  vyre_bytes_free(&log);
  vyre_bytes_free(&text);
  return status;
}

vyre_status
compiled_write(const process *p, const vyre_source *source, vyre_bytes *out)
{
  const tool_options *o = p->options;
  const output_form form = outputs_form(o, source->kind);
  vyre_glsl_options glsl = *source->glsl;
  if (form == OUTPUT_DEPENDS)
    return depends_print(o, source->path, source->kind, o->output ? o->output : "-", out);
  glsl.language = source->kind == VYRE_INPUT_HLSL       ? VYRE_LANGUAGE_HLSL
                  : source->kind == VYRE_INPUT_ASSEMBLY ? VYRE_LANGUAGE_ASSEMBLY
                                                        : VYRE_LANGUAGE_GLSL;
  if (form != OUTPUT_PREPROCESSED)
    return compile(o, source, &glsl, out);
  if (source->kind != VYRE_INPUT_GLSL && source->kind != VYRE_INPUT_HLSL)
    return VYRE_ERROR(VYRE_CODE_INPUT, "%s: only GLSL and HLSL are preprocessed\nFix: leave out -emit=preprocessed", source->path);
  return vyre_glsl_preprocess(source->data, source->size, source->path, &glsl, source->diagnostics, out);
}

/* ---- modules as text ----------------------------------------------------------------------------------------------------- */

/* Appends the words in hexadecimal, `columns` in a line.  `between` precedes each word of a line but its first. */
static vyre_status
print_words(const vyre_bytes *module, uint32_t columns, const char *between, const char *line_end, vyre_bytes *out)
{
  const size_t count = module->size / sizeof(uint32_t);
  for (size_t i = 0; i < count; i++) {
    uint32_t word;
    memcpy(&word, module->data + i * sizeof word, sizeof word);
    if (i)
      VYRE_TRY(vyre_bytes_printf(out, "%s", i % columns ? between : line_end));
    VYRE_TRY(vyre_bytes_printf(out, "0x%08" PRIx32, word));
  }
  return VYRE_OK;
}

static vyre_status
print_array(const char *name, const vyre_bytes *module, vyre_bytes *out)
{
  VYRE_TRY(vyre_bytes_printf(out, "// vyre-passmgr %s\n#pragma once\n", VYRE_VERSION));
  VYRE_TRY(vyre_bytes_printf(out, "const uint32_t %s[] = {\n\t", name));
  VYRE_TRY(print_words(module, 8, ",", ",\n\t", out));
  return vyre_bytes_printf(out, "\n};\n");
}

static vyre_status
print_as(const tool_options *o, const vyre_bytes *module, vyre_bytes *out)
{
  if (o->variable)
    return print_array(o->variable, module, out);
  const bool is_c = o->words[0] == 'c', is_hex = o->words[0] == 'h';
  VYRE_TRY(vyre_bytes_printf(out, is_c ? "{" : is_hex ? "\t" : ""));
  VYRE_TRY(is_hex ? print_words(module, 8, ",", ",\n\t", out) : print_words(module, 4, ",", ",\n", out));
  return vyre_bytes_printf(out, is_c ? "}\n" : "\n");
}

vyre_status
compiled_finish(const tool_options *o, const vyre_source *source, vyre_bytes *out)
{
  const output_form form = outputs_form(o, source->kind);
  vyre_bytes text = {0};
  if (form != OUTPUT_SPIRV && form != OUTPUT_ASSEMBLY)
    return VYRE_OK;
  if (o->print_spirv) {
    vyre_status status =
        vyre_assembly_write(out->data, out->size, source->path, strcmp(o->print_spirv, "listing") == 0, source->diagnostics, &text);
    if (!status)
      status = vyre_file_write("-", text.data, text.size);
    vyre_bytes_free(&text);
    VYRE_TRY(status);
  }
  if (form == OUTPUT_SPIRV && !o->variable && (!o->words || strcmp(o->words, "bin") == 0))
    return VYRE_OK;
  vyre_status status = form == OUTPUT_ASSEMBLY
                           ? vyre_assembly_write(out->data, out->size, source->path, false, source->diagnostics, &text)
                           : print_as(o, out, &text);
  out->size = 0;
  if (!status)
    status = vyre_bytes_append(out, text.data, text.size);
  vyre_bytes_free(&text);
  return status;
}
