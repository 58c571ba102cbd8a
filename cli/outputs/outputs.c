/* Names of outputs.  Finds inputs with the same place under -outdir by sorting the places.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "outputs.h"

#include "base/files/names.h"
#include "base/files/paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const output_endings[OUTPUT__COUNT] = {".vir", ".vir0", ".spv", ".glsl",   ".hlsl", ".metal", ".json",
                                                   ".c",   ".ptx",  ".dot", ".spvasm", ".i",    ".d"};
const char *const output_words[OUTPUT__COUNT] = {"vir", "vir0", "spirv", "glsl",   "hlsl",         "msl",    "reflection",
                                                 "c",   "ptx",  "dot",   "spvasm", "preprocessed", "depends"};
static const char *const form_names[] = {"text", "VIR0", "SPIR-V", "GLSL", "HLSL", "MSL", "JSON", "C", "PTX"};

output_form
outputs_form(const tool_options *options, vyre_input_kind kind)
{
  for (int form = OUTPUT_VIR; options->emit && form < OUTPUT__COUNT; form++)
    if (strcmp(options->emit, output_words[form]) == 0)
      return (output_form)form;
  for (int form = OUTPUT_VIR; options->output && form < OUTPUT__COUNT; form++)
    if (path_ends_with(options->output, output_endings[form]))
      return (output_form)form;
  if (options->output && path_ends_with(options->output, ".msl"))
    return OUTPUT_MSL;
  return kind == VYRE_INPUT_VIR ? OUTPUT_VIR : kind == VYRE_INPUT_VIR0 ? OUTPUT_VIR0 : OUTPUT_SPIRV;
}

/* Refuses an output whose extension names no format, because the format would be a guess.  A name without an extension, and the
 * extensions of temporary and binary files, leave the choice to the input. */
static vyre_status
check_extension(const tool_options *o)
{
  static const char *const neutral[] = {".tmp", ".bin", ".out"};
  const char *slash = o->output ? strrchr(o->output, '/') : NULL, *name = slash ? slash + 1 : o->output;
  const char *end = name && *name ? strrchr(name + 1, '.') : NULL;
  if (!end || o->emit || archives_is_name(o->output))
    return VYRE_OK;
  if (strcmp(end, ".msl") == 0)
    return VYRE_OK;
  for (size_t i = 0; i < sizeof neutral / sizeof *neutral; i++)
    if (strcmp(end, neutral[i]) == 0)
      return VYRE_OK;
  for (int form = OUTPUT_VIR; form < OUTPUT__COUNT; form++)
    if (strcmp(end, output_endings[form]) == 0)
      return VYRE_OK;
  return VYRE_ERROR(VYRE_CODE_USAGE,
                    "the extension '%s' of '%s' names no output format\nFix: add -emit=FORMAT (-help lists the formats)", end,
                    o->output);
}

/* ---- places: paths under -outdir ----------------------------------------------------------------------------------------- */

/* Returns the absolute path of a file without "." and "..", or NULL if memory runs out.  Does not resolve links.  The parent of the
 * root is the root, so the result has no "..", and a path under -outdir made from it stays under -outdir. */
static char *
absolute(const char *path)
{
  char *here = path_is_whole(path) ? NULL : getcwd(NULL, 0); /* a removed working folder counts as the root */
  const size_t size = (here ? strlen(here) : 0) + strlen(path) + 3;
  char *out = malloc(size), *joined = malloc(size);
  size_t used = 0;
  if (out && joined) {
    snprintf(joined, size, "%s/%s", here ? here : "", path);
    char *rest = NULL;
    for (char *part = strtok_r(joined, "/", &rest); part; part = strtok_r(NULL, "/", &rest)) {
      if (strcmp(part, ".") == 0)
        continue;
      if (strcmp(part, "..") == 0)
        while (used > 0 && out[--used] != '/')
          continue;
      else
        used += (size_t)snprintf(out + used, size - used, "/%s", part);
    }
    out[used] = '\0';
  } else {
    free(out);
    out = NULL;
  }
  free(here);
  free(joined);
  return out;
}

/* Returns the length of the folders that both paths share, including the last slash. */
static size_t
common_folder(const char *a, const char *b)
{
  size_t folder = 0;
  for (size_t i = 0; a[i] && a[i] == b[i]; i++)
    if (a[i] == '/')
      folder = i + 1;
  return folder;
}

/* Returns the name of the input's variant after a point, or "". */
static const char *
variant_of(const tool_options *o, uint32_t input, const char **name)
{
  *name = o->variants.count ? o->variants.items[input % o->variants.count].name : "";
  return o->variants.count ? "." : "";
}

/* Sets the place of each input: its path after the folders that all inputs share, without the extension, with the variant. */
static vyre_status
find_places(outputs *o)
{
  const uint32_t count = o->options->inputs.count;
  size_t common = 0;
  for (uint32_t i = 0; i < count; i++) {
    o->places[i] = absolute(o->options->inputs.names[i]);
    if (!o->places[i])
      return VYRE_OUT_OF_MEMORY("for the outputs' names");
    const size_t shared = common_folder(o->places[0], o->places[i]);
    common = i == 0 || shared < common ? shared : common;
  }
  for (uint32_t i = 0; i < count; i++) {
    memmove(o->places[i], o->places[i] + common, strlen(o->places[i] + common) + 1);
    char *slash = strrchr(o->places[i], '/'), *base = slash ? slash + 1 : o->places[i], *dot = strrchr(base, '.');
    const vyre_glsl_stage stage = vyre_glsl_stage_of(base);
    if (dot && dot > base)
      *dot = '\0';
    if (stage > VYRE_STAGE_COMPUTE && !vyre_glsl_stage_of(base)) /* keeps a.vert and a.frag apart */
      *dot = '.';
    const char *variant, *point = variant_of(o->options, i, &variant);
    const size_t size = strlen(o->places[i]) + strlen(variant) + 2;
    char *whole = malloc(size);
    if (!whole)
      return VYRE_OUT_OF_MEMORY("for the outputs' names");
    snprintf(whole, size, "%s%s%s", o->places[i], point, variant);
    free(o->places[i]);
    o->places[i] = whole;
  }
  return VYRE_OK;
}

typedef struct place {
  const char *text;
  uint32_t input;
} place;

/* Orders places by text, then by input. */
static int
compare_places(const void *left, const void *right)
{
  const place *a = left, *b = right;
  const int order = strcmp(a->text, b->text);
  return order != 0 ? order : a->input < b->input ? -1 : a->input > b->input;
}

/* Returns the path outdir/sub/name.spv for folder/sub/name.comp, owned by the caller, or NULL if memory runs out. */
static char *
name_in_outdir(const outputs *o, uint32_t input, output_form form)
{
  const size_t size = strlen(o->options->outdir) + strlen(o->places[input]) + 8; /* the longest ending has 6 characters */
  char *name = malloc(size);
  if (name)
    snprintf(name, size, "%s/%s%s", o->options->outdir, o->places[input], output_endings[form]);
  return name;
}

/* Creates the folder and the folders of the name below it. */
static vyre_status
make_folders(const char *outdir, char *name)
{
  for (char *end = name + strlen(outdir); end; end = strchr(end + 1, '/')) {
    *end = '\0';
    const bool made = mkdir(name, 0777) == 0 || errno == EEXIST;
    const vyre_status status =
        made ? VYRE_OK
             : VYRE_ERROR(VYRE_CODE_INPUT, "cannot create the folder '%s': %s\nFix: name a folder that can be written", name,
                          strerror(errno));
    *end = '/';
    VYRE_TRY(status);
  }
  return VYRE_OK;
}

/* Returns the format of an input's output.  If no option chooses one, the contents of the input do. */
static output_form
form_by_content(const tool_options *options, uint32_t input)
{
  const char *path = options->inputs.names[input];
  vyre_bytes bytes = {0};
  vyre_input_kind kind = VYRE_INPUT_UNKNOWN;
  struct stat file;
  if (!options->emit && stat(path, &file) == 0 && S_ISREG(file.st_mode)) { /* a pipe can only be read once */
    vyre_status status = vyre_file_read(path, &bytes);
    kind = status ? VYRE_INPUT_UNKNOWN : vyre_input_detect_as(path, bytes.data, bytes.size, options->compile.language);
    vyre_status_free(status); /* reported when the file is read again */
    vyre_bytes_free(&bytes);
  }
  return outputs_form(options, kind);
}

/* ---- conflicts ----------------------------------------------------------------------------------------------------------- */

static vyre_status
same_output(const outputs *o, uint32_t input, const char *name)
{
  return VYRE_ERROR(
      VYRE_CODE_USAGE,
      "'%s' is already the output of '%s'\nFix: name each input once; inputs of one folder need names that differ in more "
      "than the extension",
      name, o->options->inputs.names[input]);
}

static vyre_status
find_alike(outputs *o)
{
  const uint32_t count = o->options->inputs.count;
  place *places = malloc(count * sizeof(*places));
  if (!places)
    return VYRE_OUT_OF_MEMORY("for the outputs' names");
  for (uint32_t i = 0; i < count; i++)
    places[i] = (place){o->places[i], i};
  qsort(places, count, sizeof(*places), compare_places);
  for (uint32_t i = 1; i < count; i++)
    if (strcmp(places[i].text, places[i - 1].text) == 0)
      o->alike[places[i].input] = places[i - 1].input + 1;
  free(places);
  return VYRE_OK;
}

static vyre_status
check_alike(const outputs *o, uint32_t input)
{
  const output_form form = o->alike[input] ? form_by_content(o->options, input) : OUTPUT_VIR;
  for (uint32_t other = o->alike[input]; other; other = o->alike[other - 1]) {
    if (form_by_content(o->options, other - 1) != form)
      continue;
    char *name = name_in_outdir(o, input, form);
    vyre_status status = name ? same_output(o, other - 1, name) : VYRE_OUT_OF_MEMORY("for an output's name");
    free(name);
    return status;
  }
  return VYRE_OK;
}

typedef struct file_id {
  dev_t device;
  ino_t inode;
  uint32_t input;
} file_id;

static int
compare_files(const void *left, const void *right)
{
  const file_id *a = left, *b = right;
  if (a->device != b->device)
    return a->device < b->device ? -1 : 1;
  return a->inode < b->inode ? -1 : a->inode > b->inode;
}

/* Refuses an output that would overwrite another input. */
static vyre_status
check_input_stays(const outputs *o, uint32_t input, const file_id *files, uint32_t count)
{
  for (output_form form = 0; form < OUTPUT__COUNT; form++) {
    if (!(o->forms & 1u << form))
      continue;
    char *name = name_in_outdir(o, input, form);
    if (!name)
      return VYRE_OUT_OF_MEMORY("for an output's name");
    struct stat file;
    vyre_status status = VYRE_OK;
    if (stat(name, &file) == 0) {
      const file_id wanted = {file.st_dev, file.st_ino, 0};
      const file_id *found = bsearch(&wanted, files, count, sizeof(*files), compare_files);
      const bool others =
          found && (!o->options->in_place || found->input != input || (found > files && compare_files(found - 1, found) == 0) ||
                    (found + 1 < files + count && compare_files(found + 1, found) == 0)); /* several links to one file */
      if (others && form_by_content(o->options, input) == form)
        status = VYRE_ERROR(VYRE_CODE_USAGE,
                            "'%s', the output of '%s', would overwrite an input\nFix: give -outdir a folder without inputs, or add "
                            "-in-place to replace each input by its own output",
                            name, o->options->inputs.names[input]);
    }
    free(name);
    VYRE_TRY(status);
  }
  return VYRE_OK;
}

static vyre_status
check_inputs_stay(const outputs *o)
{
  const uint32_t count = o->options->inputs.count;
  file_id *files = malloc(count * sizeof(*files));
  if (!files)
    return VYRE_OUT_OF_MEMORY("for the outputs' names");
  uint32_t found = 0;
  struct stat file;
  for (uint32_t i = 0; i < count; i++)
    if (stat(o->options->inputs.names[i], &file) == 0)
      files[found++] = (file_id){file.st_dev, file.st_ino, i};
  qsort(files, found, sizeof(*files), compare_files);
  vyre_status status = VYRE_OK;
  for (uint32_t i = 0; i < count && !status; i++)
    status = check_input_stays(o, i, files, found);
  free(files);
  return status;
}

/* Refuses a report that would overwrite an output. */
static vyre_status
check_reports(const outputs *o, uint32_t input)
{
  vyre_status status = VYRE_OK;
  for (output_form form = 0; form < OUTPUT__COUNT && !status; form++) {
    if (!(o->forms & 1u << form))
      continue;
    char *name = name_in_outdir(o, input, form);
    status =
        name ? options_check_report(o->options, name, o->options->inputs.names[input]) : VYRE_OUT_OF_MEMORY("for an output's name");
    free(name);
    if (vyre_status_code(status) == VYRE_CODE_USAGE && form_by_content(o->options, input) != form) {
      vyre_status_free(status);
      status = VYRE_OK;
    }
  }
  return status;
}

/* ---- interface ----------------------------------------------------------------------------------------------------------- */

vyre_status
outputs_prepare(const tool_options *options, outputs *out)
{
  const uint32_t count = options->inputs.count;
  *out = (outputs){.options = options,
                   .names = calloc(count, sizeof(*out->names)),
                   .places = calloc(count, sizeof(*out->places)),
                   .alike = calloc(count, sizeof(*out->alike))};
  if (!out->names || !out->places || !out->alike)
    return VYRE_OUT_OF_MEMORY("for the outputs' names");
  VYRE_TRY(check_extension(options));
  for (vyre_input_kind kind = VYRE_INPUT_VIR; kind <= VYRE_INPUT_ASSEMBLY; kind++)
    out->forms |= 1u << outputs_form(options, kind);
  if (!options->outdir)
    return VYRE_OK;
  VYRE_TRY(find_places(out));
  VYRE_TRY(find_alike(out));
  for (uint32_t i = 0; i < count; i++)
    VYRE_TRY(check_alike(out, i));
  for (uint32_t i = 0; i < count; i++)
    VYRE_TRY(check_reports(out, i));
  return check_inputs_stay(out);
}

/* Returns OUT.variant.spv for -o OUT.spv, owned by the caller, or NULL if memory runs out. */
static char *
name_variant(const tool_options *o, uint32_t input)
{
  const char *slash = strrchr(o->output, '/'), *name = slash ? slash + 1 : o->output, *end = *name ? strrchr(name + 1, '.') : NULL;
  const char *variant, *point = variant_of(o, input, &variant);
  const size_t stem = end ? (size_t)(end - o->output) : strlen(o->output), size = strlen(o->output) + strlen(variant) + 2;
  char *out = malloc(size);
  if (out)
    snprintf(out, size, "%.*s%s%s%s", (int)stem, o->output, point, variant, end ? end : "");
  return out;
}

bool
outputs_replace_inputs(const tool_options *o)
{
  return o->in_place && !o->output && !o->outdir;
}

vyre_status
outputs_choose(outputs *o, uint32_t input, vyre_input_kind kind, const char **out)
{
  const tool_options *options = o->options;
  const output_form form = outputs_form(options, kind);
  *out = options->output ? options->output : "-";
  if (options->variants.count && !options->outdir) {
    *out = o->names[input] = name_variant(options, input);
    return *out ? VYRE_OK : VYRE_OUT_OF_MEMORY("for an output's name");
  }
  if (outputs_replace_inputs(options)) {
    *out = options->inputs.names[input];
    if ((kind == VYRE_INPUT_SPIRV && form == OUTPUT_SPIRV) || (kind == VYRE_INPUT_VIR && form == OUTPUT_VIR) ||
        (kind == VYRE_INPUT_VIR0 && form == OUTPUT_VIR0))
      return VYRE_OK;
    return VYRE_ERROR(
        VYRE_CODE_USAGE,
        "-in-place would replace '%s' by output in another format (%s)\nFix: write to another file with -o or -outdir", *out,
        output_words[form]);
  }
  if (!options->outdir) {
    if ((form == OUTPUT_VIR0 || form == OUTPUT_SPIRV) && strcmp(*out, "-") == 0 && isatty(STDOUT_FILENO))
      return VYRE_ERROR(VYRE_CODE_USAGE,
                        "%s is binary, and standard output is a terminal\nFix: write to a file with -o, or text with -emit=vir",
                        form_names[form]);
    return VYRE_OK;
  }
  char *name = name_in_outdir(o, input, form);
  if (!name)
    return VYRE_OUT_OF_MEMORY("for an output's name");
  o->names[input] = name;
  for (uint32_t other = o->alike[input]; other; other = o->alike[other - 1]) /* outputs_prepare did not check pipes */
    if (o->names[other - 1] && strcmp(o->names[other - 1], name) == 0)
      return same_output(o, other - 1, name);
  VYRE_TRY(make_folders(options->outdir, name));
  *out = name;
  return VYRE_OK;
}

void
outputs_free(outputs *o)
{
  for (uint32_t i = 0; o->names && i < o->options->inputs.count; i++)
    free(o->names[i]);
  for (uint32_t i = 0; o->places && i < o->options->inputs.count; i++)
    free(o->places[i]);
  free(o->names);
  free(o->places);
  free(o->alike);
  *o = (outputs){0};
}
