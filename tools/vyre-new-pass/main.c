/* vyre-new-pass: makes a folder with a small pass and its tests.
 *
 * The files are those of templates/, with each @WORD@ replaced by a name (templates.cmake converts them to C).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/options/console.h"
#include "templates.inc"
#include "vyre/io.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_NAME = 64 };

typedef struct options {
  const char *folder, *help;
  name_list inputs;
  option_texts responses;
  bool gpu;
} options;

#define AT(field) offsetof(options, field)

static const option_row rows[] = {
    {.name = "gpu", OPTION_FLAG, AT(gpu), NULL, "make a GPU pass: functions over one row, in .vir"},
    {.name = "o", OPTION_TEXT, AT(folder), "DIR", "create this folder. Default: PASS"},
    OPTION_HELP_ROWS(AT(help)),
};

static const option_table table = {
    .program = "vyre-new-pass",
    .usage = "[options] PLUGIN.PASS",
    .about = "Creates a folder with a small pass of that name and its tests.\n",
    .after = "docs/writing-passes.md has the next steps.  Exit codes: 0 done, 1 a file cannot be written, 2 wrong use.\n",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .inputs = AT(inputs),
    .files = AT(responses)};

/* The replacements of the templates' words. */
typedef struct names {
  const char *pass;       /* acme.two-fold */
  char plugin[MOST_NAME]; /* acme */
  char name[MOST_NAME];   /* two-fold */
  char id[MOST_NAME];     /* two_fold: the name of files, because C names of phases derive from it */
  char kernels[MOST_NAME * 2];
  const char *also, *version;
} names;

typedef struct template_file {
  const char *path; /* relative to the folder */
  const char *const *lines;
  bool of_cpu, of_gpu;
} template_file;

static const template_file files[] = {
    {"CMakeLists.txt", CMakeLists_txt, true, true},
    {"@ID@.c", cpu_c, true, false},
    {"@ID@.c", gpu_c, false, true},
    {"@ID@.vir", gpu_vir, false, true},
    {"tests/check.cmake", check_cmake, true, true},
    {"tests/rewrites.vir", rewrites_vir, true, true},
    {"tests/rewrites.expected", rewrites_expected, true, true},
    {"tests/leaves.vir", leaves_vir, true, true},
    {"tests/leaves.expected", leaves_expected, true, true},
};

/* Returns whether the text is a part of a name: a lower-case letter, then lower-case letters, digits and '-'. */
static bool
is_part(const char *text, size_t length)
{
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz", others[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
  return length > 0 && length < MOST_NAME && strspn(text, letters) > 0 && strspn(text, others) >= length;
}

static vyre_status
find_names(const options *o, names *out)
{
  if (o->inputs.count != 1)
    return VYRE_ERROR(VYRE_CODE_USAGE, "%s\nFix: give one name, PLUGIN.PASS, as in 'acme.twice'; -help lists the options",
                      o->inputs.count ? "more than one name" : "no name");
  const char *pass = o->inputs.names[0], *dot = strchr(pass, '.');
  if (!dot || !is_part(pass, (size_t)(dot - pass)) || !is_part(dot + 1, strlen(dot + 1)))
    return VYRE_ERROR(VYRE_CODE_USAGE,
                      "'%s' is not a name of a plugin's pass\nFix: give PLUGIN.PASS, as in 'acme.twice'. Each part has at most %d "
                      "lower-case letters, digits and '-', and begins with a letter",
                      pass, MOST_NAME - 1);
  out->pass = pass;
  snprintf(out->plugin, sizeof out->plugin, "%.*s", (int)(dot - pass), pass);
  snprintf(out->name, sizeof out->name, "%s", dot + 1);
  snprintf(out->id, sizeof out->id, "%s", dot + 1);
  for (char *at = out->id; *at; at++)
    if (*at == '-')
      *at = '_';
  if (o->gpu)
    snprintf(out->kernels, sizeof out->kernels, " KERNELS %s.vir", out->id);
  out->also = o->gpu ? "-target=cuda -device=sim" : "";
  out->version = VYRE_VERSION;
  return VYRE_OK;
}

/* Returns the replacement of a word, or NULL. */
static const char *
text_of(const names *n, const char *word, size_t length)
{
  const struct {
    const char *word, *text;
  } words[] = {{"PASS", n->pass}, {"PLUGIN", n->plugin},   {"NAME", n->name},      {"ID", n->id},
               {"ALSO", n->also}, {"KERNELS", n->kernels}, {"VERSION", n->version}};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (strlen(words[i].word) == length && memcmp(words[i].word, word, length) == 0)
      return words[i].text;
  return NULL;
}

/* Appends the line with its words replaced. */
static vyre_status
fill_line(const names *n, const char *line, vyre_bytes *out)
{
  while (*line) {
    const size_t plain = strcspn(line, "@");
    VYRE_TRY(vyre_bytes_append(out, line, plain));
    line += plain;
    if (*line == '\0')
      break;
    const size_t length = strcspn(line + 1, "@");
    const char *text = line[1 + length] ? text_of(n, line + 1, length) : NULL;
    if (text) {
      VYRE_TRY(vyre_bytes_append(out, text, strlen(text)));
      line += length + 2;
    } else {
      VYRE_TRY(vyre_bytes_append(out, line++, 1)); /* in a kernel file, the name of a function */
    }
  }
  return VYRE_OK;
}

/* Appends a terminated path in the folder. */
static vyre_status
fill_path(const names *n, const char *folder, const char *path, vyre_bytes *out)
{
  VYRE_TRY(vyre_bytes_printf(out, "%s/", folder));
  VYRE_TRY(fill_line(n, path, out));
  return vyre_bytes_append(out, "", 1);
}

static vyre_status
write_file(const names *n, const char *folder, const template_file *file)
{
  vyre_bytes path = {0}, text = {0};
  vyre_status status = fill_path(n, folder, file->path, &path);
  for (const char *const *line = file->lines; *line && !status; line++)
    status = fill_line(n, *line, &text);
  if (!status)
    status = vyre_file_write((const char *)path.data, text.data, text.size);
  vyre_bytes_free(&text);
  vyre_bytes_free(&path);
  return status;
}

static vyre_status
make_folder(const char *path)
{
  if (mkdir(path, 0777) == 0)
    return VYRE_OK;
  if (errno == EEXIST)
    return VYRE_ERROR(VYRE_CODE_USAGE, "'%s' already exists\nFix: name another folder with -o=DIR", path);
  return VYRE_ERROR(VYRE_CODE_INPUT, "cannot create the folder '%s': %s\nFix: name another folder with -o=DIR", path,
                    strerror(errno));
}

static vyre_status
make_pass(const options *o)
{
  names n = {0};
  VYRE_TRY(find_names(o, &n));
  const char *folder = o->folder ? o->folder : n.name;
  vyre_bytes tests = {0};
  vyre_status status = fill_path(&n, folder, "tests", &tests);
  if (!status)
    status = make_folder(folder);
  if (!status)
    status = make_folder((const char *)tests.data);
  vyre_bytes_free(&tests);
  for (size_t i = 0; i < sizeof files / sizeof files[0] && !status; i++)
    if (o->gpu ? files[i].of_gpu : files[i].of_cpu)
      status = write_file(&n, folder, &files[i]);
  if (!status)
    printf("cd %s && cmake -B build && cmake --build build && ctest --test-dir build\n", folder);
  return status;
}

int
main(int argc, char **argv)
{
  options o = {0};
  vyre_status status = option_table_parse(&table, argc, argv, &o);
  if (!status)
    status = o.help ? console_help(&table, o.help, VYRE_VERSION) : make_pass(&o);
  option_table_free(&table, &o);
  return console_end("vyre-new-pass", status, 0);
}
