/* Detects and reads inputs: .vir text, VIR0, SPIR-V and its assembly, GLSL, HLSL.  Writes an input unchanged if vyre cannot write
 * its module as SPIR-V.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/io.h"
#include "base/options.h"

#include "base/files/names.h"
#include "base/files/read.h"

#include <stdio.h>
#include <string.h>

#include "vyre/passmgr.h"
#include "vyre/spirv.h"
#include "vyre/text.h"
#include "vyre/verify.h"
#include "vyre/vir0.h"

/* Skips blanks and .vir comments (`;` to the end of the line). */
static size_t
skip_comments(const char *text, size_t size)
{
  size_t at = 0;
  while (at < size) {
    if (text[at] == ';')
      while (at < size && text[at] != '\n')
        at++;
    else if (strchr(" \t\r\n", text[at]) && text[at])
      at++;
    else
      break;
  }
  return at;
}

static bool
starts_with_word(const char *text, size_t size, const char *word)
{
  size_t length = strlen(word);
  return size > length && memcmp(text, word, length) == 0 && strchr(" \t\r\n@", text[length]) != NULL;
}

/* Returns whether a line of the text is #version, which GLSL requires.  Comments may precede it. */
static bool
has_version_line(const char *text, size_t size)
{
  for (size_t at = 0; at < size;) {
    const char *end = memchr(text + at, '\n', size - at);
    size_t stop = end ? (size_t)(end - text) : size, start = at;
    while (start < stop && (text[start] == ' ' || text[start] == '\t'))
      start++;
    if (start < stop && text[start] == '#') {
      start++;
      while (start < stop && (text[start] == ' ' || text[start] == '\t'))
        start++;
      if (stop - start > 7 && memcmp(text + start, "version", 7) == 0)
        return true;
    }
    at = stop + 1;
  }
  return false;
}

/* Returns whether the text begins with the comment that spirv-dis prints, or with an instruction. */
static bool
is_assembly(const char *text, size_t size)
{
  const size_t start = skip_comments(text, size);
  return (size > 8 && memcmp(text, "; SPIR-V", 8) == 0) || starts_with_word(text + start, size - start, "OpCapability");
}

vyre_input_kind
vyre_input_detect(const char *path, const void *data, size_t size)
{
  const char *text = data;
  if (vyre_spirv_is(data, size))
    return VYRE_INPUT_SPIRV;
  if (vyre_vir0_is(data, size))
    return VYRE_INPUT_VIR0;
  const int mark = vyre_text_mark(text, size);
  if (mark > 0) {
    text += mark;
    size -= (size_t)mark;
  }
  if (path_ends_with(path, ".hlsl") && !has_version_line(text, size)) /* HLSL may begin with `struct`, like .vir */
    return VYRE_INPUT_HLSL;
  size_t start = skip_comments(text, size);
  static const char *const words[] = {"program", "struct", "func"};
  for (int i = 0; i < 3; i++)
    if (starts_with_word(text + start, size - start, words[i]) && !(i == 1 && has_version_line(text, size)))
      return VYRE_INPUT_VIR;
  if (is_assembly(text, size))
    return VYRE_INPUT_ASSEMBLY;
  if (has_version_line(text, size) || vyre_glsl_stage_of(path) || path_ends_with(path, ".glsl"))
    return VYRE_INPUT_GLSL;
  if (path_ends_with(path, ".vir"))
    return VYRE_INPUT_VIR;
  if (path_ends_with(path, ".vir0"))
    return VYRE_INPUT_VIR0;
  if (path_ends_with(path, ".spvasm"))
    return VYRE_INPUT_ASSEMBLY;
  return path_ends_with(path, ".spv") ? VYRE_INPUT_SPIRV : VYRE_INPUT_UNKNOWN;
}

vyre_input_kind
vyre_input_detect_as(const char *path, const void *data, size_t size, vyre_glsl_language language)
{
  static const vyre_input_kind kinds[VYRE_LANGUAGE__COUNT] = {[VYRE_LANGUAGE_GLSL] = VYRE_INPUT_GLSL,
                                                              [VYRE_LANGUAGE_HLSL] = VYRE_INPUT_HLSL,
                                                              [VYRE_LANGUAGE_ASSEMBLY] = VYRE_INPUT_ASSEMBLY};
  if (language == VYRE_LANGUAGE_AUTO || vyre_spirv_is(data, size) || vyre_vir0_is(data, size))
    return vyre_input_detect(path, data, size);
  return kinds[language];
}

/* Emits a remark that ends with the first line of `which`, without the path at its start. */
static void
remark(const char *path, const char *what, const char *which, vyre_diagnostics diagnostics)
{
  char text[700];
  const size_t length = strlen(path);
  if (!diagnostics.emit)
    return;
  if (strncmp(which, path, length) == 0 && strncmp(which + length, ": ", 2) == 0) /* the diagnostic names the file */
    which += length + 2;
  snprintf(text, sizeof(text), "%s: %.*s", what, (int)strcspn(which, "\n"), which);
  const vyre_diagnostic diagnostic = {.severity = VYRE_REMARK, .file = path, .message = text};
  diagnostics.emit(diagnostics.user, &diagnostic);
}

static const char is_unchanged[] = "is written unchanged, not optimized";

/* Keeps a module unchanged as a verbatim row if it breaks a rule of the table, because some rules are stricter than SPIR-V's. */
static vyre_status
keep_if_invalid(vyre_module *module, const char *path, const void *data, size_t size)
{
  vyre_verify_errors errors = {0};
  vyre_status status = vyre_verify(module, &errors);
  vyre_verify_errors_free(&errors);
  if (!status || vyre_status_is_out_of_memory(status))
    return status;
  vyre_module_clear(module);
  vyre_status kept = vyre_spirv_keep(module, data, size, path, vyre_status_text(status));
  vyre_status_free(status);
  return kept ? kept : vyre_module_seal(module, NULL);
}

static vyre_status
read_spirv(vyre_module *module, const char *path, const void *data, size_t size, vyre_diagnostics diagnostics)
{
  const bool alone = vyre_module_input_count(module) == 0;
  VYRE_TRY(vyre_spirv_read(module, data, size, path));
  VYRE_TRY(vyre_module_seal(module, NULL));
  if (alone)
    VYRE_TRY(keep_if_invalid(module, path, data, size));
  const vyre_input *input = vyre_module_input(module, vyre_module_input_count(module) - 1);
  if (input->remark)
    remark(path, is_unchanged, vyre_string_text(module, input->remark), diagnostics);
  else if (input->dropped)
    remark(path, "is left out", vyre_string_text(module, input->dropped), diagnostics);
  if (input->stages && !input->remark)
    remark(path, "are written unchanged, not optimized: entry points", vyre_string_text(module, input->stages), diagnostics);
  return VYRE_OK;
}

static vyre_status
read_options(const vyre_glsl_options *given, vyre_glsl_options *out)
{
  return vyre_options_read(out, sizeof *out, given, "vyre_glsl_options");
}

/* Returns the options for a text that glslang compiles. */
static vyre_glsl_options
options_for(vyre_input_kind kind, vyre_glsl_options options)
{
  options.language = kind == VYRE_INPUT_HLSL       ? VYRE_LANGUAGE_HLSL
                     : kind == VYRE_INPUT_ASSEMBLY ? VYRE_LANGUAGE_ASSEMBLY
                                                   : VYRE_LANGUAGE_GLSL;
  return options;
}

static vyre_status
read_source(vyre_module *module, const char *path, const char *text, size_t size, vyre_glsl_options options,
            vyre_diagnostics diagnostics)
{
  vyre_bytes words = {.allocator = vyre_module_allocator(module)};
  vyre_status status = vyre_glsl_compile(text, size, path, &options, diagnostics, &words);
  if (!status && options.words)
    status = vyre_bytes_append(options.words, words.data, words.size);
  if (!status) {
    status = read_spirv(module, path, words.data, words.size, diagnostics);
    if (status && !options.debug) {
      /* Retries with debug lines, so that the message names the line.  The module is lost either way. */
      options.debug = true;
      words.size = 0;
      vyre_module_clear(module);
      vyre_status again = vyre_glsl_compile(text, size, path, &options, (vyre_diagnostics){0}, &words);
      if (!again)
        again = read_spirv(module, path, words.data, words.size, diagnostics);
      if (again) {
        vyre_status_free(status);
        status = again;
      }
    }
  }
  vyre_bytes_free(&words);
  return status;
}

/* Returns an error if the input added no program to the module, which had `inputs` inputs before.  The output would be empty. */
static vyre_status
check_programs(vyre_module *module, uint32_t inputs, const char *path)
{
  const uint32_t program = vyre_module_view(module)->last[0];
  if (program && vyre_program_info_of(module, (vyre_row){program})->input >= inputs)
    return VYRE_OK;
  return VYRE_ERROR(VYRE_CODE_INPUT, "%s: the file has no program\nFix: use a file with a compute program", path);
}

/* Skips the byte order mark of a text. */
static vyre_status
skip_mark(const char *path, const void **data, size_t *size)
{
  const int mark = vyre_spirv_is(*data, *size) || vyre_vir0_is(*data, *size) ? 0 : vyre_text_mark(*data, *size);
  if (mark < 0)
    return io_is_utf16(path);
  *data = (const char *)*data + mark;
  *size -= (size_t)mark;
  return VYRE_OK;
}

vyre_status
vyre_input_load(const char *path, vyre_bytes *out)
{
  const size_t before = out->size;
  vyre_status status = vyre_file_read(path, out);
  const size_t size = out->size - before;
  if (!status && size && !vyre_spirv_is(out->data + before, size) && !vyre_vir0_is(out->data + before, size))
    status = io_remove_mark(path, out, before);
  return vyre_bytes_undo(out, before, status);
}

vyre_status
vyre_input_parse(vyre_module *module, const char *path, const void *data, size_t size, const vyre_glsl_options *glsl,
                 vyre_diagnostics diagnostics, vyre_input_kind *out_kind)
{
  *out_kind = VYRE_INPUT_UNKNOWN;
  vyre_glsl_options o;
  VYRE_TRY(read_options(glsl, &o));
  const uint32_t inputs = vyre_module_input_count(module);
  VYRE_TRY(skip_mark(path, &data, &size));
  *out_kind = vyre_input_detect_as(path, data, size, o.language);
  switch (*out_kind) {
  case VYRE_INPUT_VIR:
    VYRE_TRY(vyre_text_parse(module, data, size, path, diagnostics));
    return check_programs(module, inputs, path);
  case VYRE_INPUT_SPIRV:
    return read_spirv(module, path, data, size, diagnostics);
  case VYRE_INPUT_VIR0:
    VYRE_TRY(vyre_vir0_read(module, data, size, path, NULL, 0));
    return check_programs(module, inputs, path);
  case VYRE_INPUT_GLSL:
  case VYRE_INPUT_HLSL:
  case VYRE_INPUT_ASSEMBLY:
    return read_source(module, path, data, size, options_for(*out_kind, o), diagnostics);
  default:
    return VYRE_ERROR(
        VYRE_CODE_INPUT,
        "cannot detect the language of '%s': it has no magic number of SPIR-V or VIR0, no #version line, and no "
        "program, struct or func at its start\n"
        "Fix: for HLSL or GLSL without #version, name the language (glsl, hlsl, spvasm), or use a name that ends with .hlsl, "
        ".comp or .vir",
        path);
  }
}

vyre_status
vyre_input_read(vyre_module *module, const char *path, const vyre_glsl_options *glsl, vyre_diagnostics diagnostics,
                vyre_input_kind *out_kind)
{
  *out_kind = VYRE_INPUT_UNKNOWN;
  vyre_bytes bytes = {.allocator = vyre_module_allocator(module)};
  vyre_status status = vyre_input_load(path, &bytes);
  if (!status)
    status = vyre_input_parse(module, strcmp(path, "-") == 0 ? "<stdin>" : path, bytes.data ? bytes.data : "", bytes.size, glsl,
                              diagnostics, out_kind);
  vyre_bytes_free(&bytes);
  return status;
}

vyre_status
vyre_source_write(const vyre_module *module, uint32_t input, const vyre_spirv_options *options, const vyre_source *source,
                  vyre_bytes *out)
{
  vyre_status status = vyre_spirv_write(module, input, options, out);
  if (vyre_status_code(status) != VYRE_CODE_INPUT || vyre_status_is_out_of_memory(status) || source->kind == VYRE_INPUT_VIR ||
      source->kind == VYRE_INPUT_VIR0)
    return status;
  remark(source->path, is_unchanged, vyre_status_text(status), source->diagnostics);
  vyre_status_free(status);
  return vyre_source_copy(source, out);
}

vyre_status
vyre_source_copy(const vyre_source *source, vyre_bytes *out)
{
  if (source->kind == VYRE_INPUT_SPIRV)
    return vyre_bytes_append(out, source->data, source->size);
  if (source->words && source->words->size)
    return vyre_bytes_append(out, source->words->data, source->words->size);
  vyre_glsl_options glsl;
  VYRE_TRY(read_options(source->glsl, &glsl));
  glsl = options_for(source->kind, glsl);
  const void *text = source->data;
  size_t size = source->size;
  VYRE_TRY(skip_mark(source->path, &text, &size));
  return vyre_glsl_compile(text, size, source->path, &glsl, (vyre_diagnostics){0}, out);
}

vyre_status
vyre_source_check(const vyre_source *source, const vyre_module *module, const vyre_pipeline_options *options)
{
  vyre_status status = vyre_module_check(module, options);
  if (status && source->kind == VYRE_INPUT_VIR) {
    vyre_module *again = NULL;
    vyre_status read = vyre_module_create(NULL, 0, &again);
    if (!read)
      read = vyre_text_parse_lines(again, source->data, source->size, source->path, (vyre_diagnostics){0});
    vyre_status placed = read ? VYRE_OK : vyre_module_check(again, NULL);
    if (placed) {
      vyre_status_free(status);
      status = placed;
    }
    vyre_status_free(read);
    vyre_module_destroy(again);
  }
  return vyre_status_note(status, "as read from '%s'", source->path);
}

vyre_status
vyre_cost_model_read(const char *path, vyre_cost_model **out)
{
  vyre_bytes text = {0};
  *out = NULL;
  if (!path)
    return VYRE_OK;
  vyre_status status = vyre_file_read_as(path, VYRE_FILE_TEXT | VYRE_FILE_PLAIN, &text);
  if (vyre_status_code(status) == VYRE_CODE_INPUT) /* an error of the command line, not of an input */
    status = vyre_status_add_fix(status, VYRE_CODE_USAGE, "name a file with the text of a cost model");
  if (!status)
    status = vyre_cost_model_parse(text.data ? text.data : "", text.size, path, NULL, out);
  vyre_bytes_free(&text);
  return status;
}
