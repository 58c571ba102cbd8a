/* vyre-rules: generates files of the build from rule files.
 *
 *   vyre-rules table pm|expand FILE...   C: the table, the rules' names, the text of -help-pass
 *   vyre-rules page FILE...              docs/rules.md
 *   vyre-rules check FILE...             prints nothing if the rules are correct
 *
 * Exits with code 1 after an error, which has a file, line and column.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules_table.h"

/* All memory is kept until the program ends. */
typedef struct block {
  struct block *next;
  max_align_t memory[];
} block;

static block *blocks;

static void *
allocate(void *user, size_t bytes)
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

static const rules_memory memory = {allocate, NULL};

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
  char *text = allocate(NULL, RULES_TEXT + 1);
  if (!from || !text) {
    fprintf(stderr, "%s: cannot be read\n", path);
    exit(1);
  }
  *out_length = fread(text, 1, RULES_TEXT + 1, from);
  fclose(from);
  return text;
}

/* Passes the rule's text from byte `from` on to `put`, without comments and with single blanks. */
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

static char *text_end;

static void
put_text(char c)
{
  *text_end++ = c;
}

/* Prints the rule in lines of at most WIDTH characters, broken at blanks and, if it is longer, before its conditions. */
static void
print_rule(const rules_rule *rule)
{
  enum { WIDTH = 120 };
  char *text = allocate(NULL, rule->length + 1);
  size_t column = 0;
  if (!text)
    exit(1);
  text_end = text;
  each_character(rule, 0, put_text);
  const bool is_long = strlen(text) > WIDTH;
  for (const char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
    const size_t length = strlen(word);
    const bool breaks = column > 0 && (column + 1 + length > WIDTH || (is_long && strcmp(word, "where") == 0));
    printf("%s%s", column == 0 ? "" : breaks ? "\n  " : " ", word);
    column = breaks ? 2 + length : column + (column > 0) + length;
  }
  printf("\n");
}

/* Prints the rules from `first` to `end` that the pass uses, as a block of code. */
static void
print_block(const rules_set *set, uint32_t first, uint32_t end, rules_use use, const char *pass)
{
  bool is_open = false;
  for (uint32_t i = first; i < end; i++)
    if (rules_used_by(&set->rules[i]) == use) {
      if (!is_open)
        printf("\nRules of `%s`:\n\n```\n", pass);
      is_open = true;
      print_rule(&set->rules[i]);
    }
  if (is_open)
    printf("```\n");
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
  printf("\n};\n/* An array, because string literals have a maximum length. */\nstatic const char built_in_help[] = {");
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
  printf("# Rewrite rules\n\nThe rules that the passes `pm`, `expand` and `simplify` apply. [rules-format.md](rules-format.md) "
         "explains their form.\n%u rules belong to `pm` and make one row at most. %u belong to `expand` and make several.\n\n"
         "`vyre-rules` writes this page from `passes/pm/*.rules` (`ninja rules-page`).\n",
         by_pm, set->count - by_pm);
  for (int f = 0; f < files; f++) {
    const char *title = texts[f][0] == ';' ? texts[f] + 2 : texts[f];
    printf("\n## %.*s\n", (int)strcspn(title, ":.\n"), title);
    print_block(set, firsts[f], firsts[f + 1], RULES_FOR_PM, "pm");
    print_block(set, firsts[f], firsts[f + 1], RULES_FOR_EXPAND, "expand");
  }
  printf("\n<!-- SPDX-License-Identifier: Apache-2.0 -->\n");
}

int
main(int argc, char **argv)
{
  rules_set set = {0};
  rules_errors errors;
  const char *what = argc > 1 ? argv[1] : "";
  const bool table = strcmp(what, "table") == 0;
  const int first = table ? 3 : 2, files = argc - first;
  const bool for_pm = table && argc > 2 && strcmp(argv[2], "pm") == 0;
  if (files < 1 || (!table && strcmp(what, "page") != 0 && strcmp(what, "check") != 0)) {
    fprintf(stderr, "usage: vyre-rules table pm|expand FILE... | page FILE... | check FILE...\n");
    return 2;
  }
  uint32_t *firsts = allocate(NULL, ((size_t)files + 1) * sizeof *firsts);
  char **texts = allocate(NULL, (size_t)files * sizeof *texts);
  atexit(free_blocks);
  if (!firsts || !texts)
    return 1;
  for (int f = 0; f < files; f++) {
    size_t length;
    texts[f] = read_file(argv[first + f], &length);
    if (!rules_parse(memory, argv[first + f], texts[f], length, &set, &errors))
      die(argv[first + f], &errors.items[0]);
    firsts[f + 1] = set.count;
  }
  if (table)
    print_table(&set, for_pm ? RULES_FOR_PM : RULES_FOR_EXPAND);
  else if (strcmp(what, "page") == 0)
    print_page(&set, firsts, texts, files);
  return 0;
}
