/* Names of outputs.  Two inputs of one stem, in different folders, are one file under -outdir if their forms are one too: stems are
 * sorted, so that this costs little where there are many inputs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "outputs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>


static const char *const endings[] = {".vir", ".vir0", ".spv", ".glsl"};
static const char *const form_names[] = {"text", "VIR0", "SPIR-V", "GLSL"};

static bool
ends_with(const char *text, const char *end)
{
  size_t length = strlen(text), tail = strlen(end);
  return length >= tail && strcmp(text + length - tail, end) == 0;
}

output_form
outputs_form(const tool_options *options, vyre_input_kind kind)
{
  static const char *const words[] = {"vir", "vir0", "spirv", "glsl"};
  for (int form = OUTPUT_VIR; options->emit && form < OUTPUT__COUNT; form++)
    if (strcmp(options->emit, words[form]) == 0)
      return (output_form)form;
  for (int form = OUTPUT_VIR; options->output && form < OUTPUT__COUNT; form++)
    if (ends_with(options->output, endings[form]))
      return (output_form)form;
  return kind == VYRE_INPUT_VIR ? OUTPUT_VIR : kind == VYRE_INPUT_VIR0 ? OUTPUT_VIR0 : OUTPUT_SPIRV;
}

/* The file's name without its folder and ending. */
typedef struct stem {
  const char *text;
  size_t length;
  uint32_t input;
} stem;

static stem
stem_of(const tool_options *options, uint32_t input)
{
  const char *name = options->inputs.names[input], *slash = strrchr(name, '/');
  const char *base = slash ? slash + 1 : name, *dot = strrchr(base, '.');
  return (stem){base, dot && dot > base ? (size_t)(dot - base) : strlen(base), input};
}

/* By text, then by place. */
static int
compare_stems(const void *left, const void *right)
{
  const stem *a = left, *b = right;
  const size_t shorter = a->length < b->length ? a->length : b->length;
  const int order = memcmp(a->text, b->text, shorter);
  if (order != 0 || a->length != b->length)
    return order != 0 ? order : a->length < b->length ? -1 : 1;
  return a->input < b->input ? -1 : a->input > b->input;
}

/* outdir/name.spv for folder/name.comp.  NULL: no memory. */
static char *
name_in_outdir(const tool_options *options, uint32_t input, output_form form)
{
  const stem s = stem_of(options, input);
  const size_t size = strlen(options->outdir) + s.length + 8;
  char *name = malloc(size);
  if (name)
    snprintf(name, size, "%s/%.*s%s", options->outdir, (int)s.length, s.text, endings[form]);
  return name;
}

/* The form that an input's output has, by its content where no option says it. */
static output_form
form_by_content(const tool_options *options, uint32_t input)
{
  const char *path = options->inputs.names[input];
  vyre_bytes bytes = {0};
  vyre_input_kind kind = VYRE_INPUT_UNKNOWN;
  struct stat file;
  if (!options->emit && stat(path, &file) == 0 && S_ISREG(file.st_mode)) { /* others can be read once only */
    vyre_status status = vyre_file_read(path, &bytes);
    kind = status ? VYRE_INPUT_UNKNOWN : vyre_input_detect(path, bytes.data, bytes.size);
    vyre_status_free(status); /* said when it is read again */
    vyre_bytes_free(&bytes);
  }
  return outputs_form(options, kind);
}

static vyre_status
same_output(const outputs *o, uint32_t input, const char *name)
{
  return VYRE_ERROR(VYRE_CODE_USAGE, "'%s' is the output of '%s' already\nFix: inputs of one name need folders of their own", name,
                    o->options->inputs.names[input]);
}

static vyre_status
find_alike(outputs *o)
{
  const uint32_t count = o->options->inputs.count;
  stem *stems = malloc(count * sizeof(*stems));
  if (!stems)
    return VYRE_OUT_OF_MEMORY("for the outputs' names");
  for (uint32_t i = 0; i < count; i++)
    stems[i] = stem_of(o->options, i);
  qsort(stems, count, sizeof(*stems), compare_stems);
  for (uint32_t i = 1; i < count; i++)
    if (stems[i].length == stems[i - 1].length && memcmp(stems[i].text, stems[i - 1].text, stems[i].length) == 0)
      o->alike[stems[i].input] = stems[i - 1].input + 1;
  free(stems);
  return VYRE_OK;
}

static vyre_status
check(const outputs *o, uint32_t input)
{
  const output_form form = o->alike[input] ? form_by_content(o->options, input) : OUTPUT_VIR;
  for (uint32_t other = o->alike[input]; other; other = o->alike[other - 1]) {
    if (form_by_content(o->options, other - 1) != form)
      continue;
    char *name = name_in_outdir(o->options, input, form);
    vyre_status status = name ? same_output(o, other - 1, name) : VYRE_OUT_OF_MEMORY("for an output's name");
    free(name);
    return status;
  }
  return VYRE_OK;
}

vyre_status
outputs_prepare(const tool_options *options, outputs *out)
{
  const uint32_t count = options->inputs.count;
  *out = (outputs){.options = options, .names = calloc(count, sizeof(*out->names)), .alike = calloc(count, sizeof(*out->alike))};
  if (!out->names || !out->alike)
    return VYRE_OUT_OF_MEMORY("for the outputs' names");
  if (!options->outdir)
    return VYRE_OK;
  VYRE_TRY(find_alike(out));
  for (uint32_t i = 0; i < count; i++)
    VYRE_TRY(check(out, i));
  return VYRE_OK;
}

vyre_status
outputs_choose(outputs *o, uint32_t input, output_form form, const char **out)
{
  const tool_options *options = o->options;
  *out = options->output ? options->output : "-";
  if (!options->outdir) {
    if ((form == OUTPUT_VIR0 || form == OUTPUT_SPIRV) && strcmp(*out, "-") == 0 && isatty(STDOUT_FILENO))
      return VYRE_ERROR(VYRE_CODE_USAGE, "%s is not for a terminal\nFix: -o FILE writes it to a file, -emit=vir shows the program",
                        form_names[form]);
    return VYRE_OK;
  }
  char *name = name_in_outdir(options, input, form);
  if (!name)
    return VYRE_OUT_OF_MEMORY("for an output's name");
  o->names[input] = name;
  for (uint32_t other = o->alike[input]; other; other = o->alike[other - 1]) /* what could be read once only was not checked */
    if (o->names[other - 1] && strcmp(o->names[other - 1], name) == 0)
      return same_output(o, other - 1, name);
  if (mkdir(options->outdir, 0777) != 0 && errno != EEXIST)
    return VYRE_ERROR(VYRE_CODE_INPUT, "cannot make the folder '%s': %s", options->outdir, strerror(errno));
  *out = name;
  return VYRE_OK;
}

void
outputs_free(outputs *o)
{
  for (uint32_t i = 0; o->names && i < o->options->inputs.count; i++)
    free(o->names[i]);
  free(o->names);
  free(o->alike);
  *o = (outputs){0};
}
