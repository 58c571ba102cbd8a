/* vyre-rules: rule files to what the build needs of them.
 *
 *   vyre-rules table pm|expand FILE...   C: the table, the rules' names, what -help-pass shows
 *   vyre-rules page FILE...              docs/rules.md
 *   vyre-rules check FILE...             nothing, if they are right
 *
 * Exit code 1 for an error, which is told with file, line and column.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules_table.h"

/* All memory, until the program ends. */
typedef struct block {
  struct block *next;
  max_align_t memory[];
} block;

static block *blocks;

static void *
take(void *user, size_t bytes)
{
  block *fresh = calloc(1, sizeof *fresh + bytes);
  (void)user;
  if (!fresh)
    return NULL;
  fresh->next = blocks;
  blocks = fresh;
  return fresh->memory;
}

static void
free_blocks(void)
{
  while (blocks) {
    block *next = blocks->next;
    free(blocks);
    blocks = next;
  }
}

static const rules_memory memory = {take, NULL};

static void
die(const char *file, const rules_error *error)
{
  fprintf(stderr, "%s:%u:%u: error: %s\nFix: %s\n", file, error->line, error->column, error->message, error->fix);
  exit(1);
}

static char *
read_file(const char *path, size_t *out_length)
{
  FILE *from = fopen(path, "rb");
  char *text = take(NULL, RULES_TEXT + 1);
  if (!from || !text) {
    fprintf(stderr, "%s: cannot be read\n", path);
    exit(1);
  }
  *out_length = fread(text, 1, RULES_TEXT + 1, from);
  fclose(from);
  return text;
}

/* The rule's text from its `from`-th byte on, on one line: each character goes to `put`. */
static void
each_character(const rules_rule *rule, uint32_t from, void (*put)(char c))
{
  bool blank = false;
  for (uint32_t i = from; i < rule->length; i++) {
    const char c = rule->text[i];
    if (c == ';') /* a comment within the rule */
      while (i < rule->length && rule->text[i] != '\n')
        i++;
    if (i >= rule->length || c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == ';') {
      blank = i > from;
      continue;
    }
    if (blank)
      put(' ');
    blank = false;
    put(c);
  }
}

static void
put_number(char c)
{
  printf("%d,", c);
}

static void
put_cell(char c)
{
  printf(c == '|' ? "\\%c" : "%c", c);
}

static void
print_table(const rules_set *set, rules_use use)
{
  rules_table table;
  rules_error error;
  if (!rules_compile(memory, set, use, &table, &error))
    die(set->file, &error);
  printf("/* Made by vyre-rules. */\nstatic const uint32_t built_in[] = {");
  for (uint32_t i = 0; i < table.count; i++)
    printf("%s0x%x,", i % 16 ? "" : "\n  ", table.words[i]);
  printf("\n};\nstatic const char *const built_in_names[] = {");
  for (uint32_t i = 0; i < set->count; i++)
    printf("%s\"%s\",", i % 4 ? " " : "\n  ", set->rules[i].name);
  printf("\n};\n/* No string: those have a longest length. */\nstatic const char built_in_help[] = {");
  for (const char *c = "How to read and write rules: docs/rules-format.md.  The rules:"; *c; c++)
    put_number(*c);
  for (uint32_t i = 0; i < set->count; i++)
    if (rules_used_by(&set->rules[i]) == use) {
      printf("\n  10,32,32,");
      each_character(&set->rules[i], 0, put_number);
    }
  printf("0};\n");
}

static void
print_page(const rules_set *set, const uint32_t *firsts, char *const *texts, int files)
{
  uint32_t by_pm = 0;
  for (uint32_t i = 0; i < set->count; i++)
    by_pm += rules_used_by(&set->rules[i]) == RULES_FOR_PM;
  printf("# The rules of pm and expand\n\nMade from passes/pm/*.rules by vyre-rules (`ninja rules-page`); "
         "[rules-format.md](rules-format.md) says how to read "
         "them.\n%u rules: %u of `pm`, %u of `expand`.\n",
         set->count, by_pm, set->count - by_pm);
  for (int f = 0; f < files; f++) {
    const char *title = texts[f][0] == ';' ? texts[f] + 2 : texts[f];
    printf("\n## %.*s\n\n| rule | of | says |\n| --- | --- | --- |\n", (int)strcspn(title, ":.\n"), title);
    for (uint32_t i = firsts[f]; i < firsts[f + 1]; i++) {
      const rules_rule *rule = &set->rules[i];
      printf("| %s | %s | `", rule->name, rules_used_by(rule) == RULES_FOR_PM ? "pm" : "expand");
      each_character(rule, (uint32_t)strlen(rule->name), put_cell);
      printf("` |\n");
    }
  }
  printf("\n<!-- SPDX-License-Identifier: Apache-2.0 -->\n");
}

int
main(int argc, char **argv)
{
  rules_set set = {0};
  rules_error error;
  const char *what = argc > 1 ? argv[1] : "";
  const bool table = strcmp(what, "table") == 0;
  const int first = table ? 3 : 2, files = argc - first;
  const bool for_pm = table && argc > 2 && strcmp(argv[2], "pm") == 0;
  if (files < 1 || (!table && strcmp(what, "page") != 0 && strcmp(what, "check") != 0)) {
    fprintf(stderr, "usage: vyre-rules table pm|expand FILE... | page FILE... | check FILE...\n");
    return 2;
  }
  uint32_t *firsts = take(NULL, ((size_t)files + 1) * sizeof *firsts);
  char **texts = take(NULL, (size_t)files * sizeof *texts);
  atexit(free_blocks);
  if (!firsts || !texts)
    return 1;
  for (int f = 0; f < files; f++) {
    size_t length;
    texts[f] = read_file(argv[first + f], &length);
    if (!rules_parse(memory, argv[first + f], texts[f], length, &set, &error))
      die(argv[first + f], &error);
    firsts[f + 1] = set.count;
  }
  if (table)
    print_table(&set, for_pm ? RULES_FOR_PM : RULES_FOR_EXPAND);
  else if (strcmp(what, "page") == 0)
    print_page(&set, firsts, texts, files);
  return 0;
}
