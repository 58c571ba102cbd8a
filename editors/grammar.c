/* Prints the grammar of .vir text for an editor.  The ops come from ops.def, and the other words of docs/ir.md and
 * docs/gpu-passes.md are listed here.
 *
 *   vyre-grammar vim     > vim/syntax/vir.vim
 *   vyre-grammar vscode  > vscode/syntaxes/vir.tmLanguage.json
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/ir.h"

#include <stdio.h>
#include <string.h>

/* A group of words: what Vim and TextMate grammars call such. */
typedef struct word_group {
  const char *name, *vim, *scope;
  const char *words; /* between blanks */
} word_group;

static const word_group groups[] = {
    {"Declaration", "Structure", "storage.type",
     "program struct func buffer var spec entry phase side table counter verdict provides sequence levels include"},
    {"Control", "Conditional", "keyword.control",
     "if else for to step loop continuing block switch case default return break continue leave fallthrough breakif trap repeat "
     "while by apart"},
    {"Modifier", "StorageClass", "storage.modifier",
     "storage uniform push workgroup private constant handle ro wo rw coherent volatile restrict aliased unset exact relaxed "
     "nonuniform flush_f16 flush_f32 flush_f64 rtz_f16 rtz_f32 rtz_f64 set binding id stride buffer_block row_major flatten "
     "dont_flatten unroll dont_unroll dependency_infinite dependency_length min_iterations max_iterations iteration_multiple "
     "peel_count partial_count deco order inclusive exclusive clustered cross_device device subgroup invocation queue_family "
     "acquire release acq_rel seq_cst uniform_memory subgroup_memory workgroup_memory cross_workgroup_memory "
     "atomic_counter_memory image_memory output_memory make_available make_visible volatile_memory nontemporal non_private flat "
     "up down inward outward path spirv type length named string make layout"},
    {"Abbreviation", "Function", "support.function", "packbf16 unpackbf16"},
};

#define KIND   "(bool|[iu](8|16|32|64)|f(16|32|64))"
#define TYPE   "(" KIND "(x[234])?|mat[234]|void)"
#define NAMED  "((true|false)(x[234])?|-?inf" KIND "(x[234])?|nan\\\\(0x[0-9a-fA-F]+\\\\)" KIND "(x[234])?)"
#define NUMBER "-?(0x[0-9a-fA-F]+(\\\\.[0-9a-fA-F]*)?(p[-+]?[0-9]+)?|[0-9]+(\\\\.[0-9]+)?(e[-+]?[0-9]+)?)(" KIND "(x[234])?)?"

static bool
is_word(const char *words, const char *word)
{
  const size_t length = strlen(word);
  for (const char *at = strstr(words, word); at; at = strstr(at + 1, word))
    if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
      return true;
  return false;
}

/* Returns whether the op belongs to no other group. */
static bool
is_op_word(uint32_t op)
{
  const char *text = vyre_op_infos[op].text;
  for (size_t i = 0; text && i < sizeof groups / sizeof groups[0]; i++)
    if (is_word(groups[i].words, text))
      return false;
  return text != NULL;
}

static void
print_vim(void)
{
  printf("\" Vim syntax of vyre's .vir text.  Made by editors/grammar.c.  SPDX-License-Identifier: Apache-2.0\n"
         "if exists('b:current_syntax')\n  finish\nendif\n"
         "syn case match\n"
         "setlocal iskeyword=@,48-57,_ commentstring=;\\ %%s\n");
  for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
    printf("syn keyword vir%s %s\n", groups[i].name, groups[i].words);
  for (uint32_t op = 0; op < VYRE_OP__COUNT; op++)
    if (is_op_word(op))
      printf("syn keyword virOp %s\n", vyre_op_infos[op].text);
      /* Vim remembers nine groups at most: %( ) are not remembered. */
#define VIM_KIND "%(bool|[iu]%(8|16|32|64)|f%(16|32|64))%(x[234])?"
  printf("syn match virConstant /\\v<%%(%%(true|false)%%(x[234])?|inf%s|nan\\(0x\\x+\\)%s)>/\n", VIM_KIND, VIM_KIND);
  printf("syn match virType /\\v<%%(%s|mat[234]|void)>/\n", VIM_KIND);
  printf("syn match virNumber "
         "/\\v[%%@a-z0-9_.]@1<!-?<%%(0x\\x+%%(\\.\\x*)?%%(p[-+]?\\d+)?|\\d+%%(\\.\\d+)?%%(e[-+]?\\d+)?)%%(%s)?>/\n",
         VIM_KIND);
  printf("syn match virName /%%\\%%([A-Za-z0-9_$]\\+\\|\"\\%%(\\\\.\\|[^\"\\\\]\\)*\"\\)/\n"
         "syn match virGlobal /@\\%%([A-Za-z0-9_$.]\\+\\|\"\\%%(\\\\.\\|[^\"\\\\]\\)*\"\\)/\n"
         "syn match virMember /\\.[A-Za-z_]\\w*/\n"
         "syn region virString start=/\"/ skip=/\\\\./ end=/\"/ oneline\n"
         "syn match virComment /;.*$/ contains=virTodo\n"
         "syn keyword virTodo TODO FIXME contained\n");
  for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
    printf("hi def link vir%s %s\n", groups[i].name, groups[i].vim);
  printf("hi def link virOp Function\nhi def link virType Type\nhi def link virConstant Boolean\nhi def link virNumber Number\nhi "
         "def link virName Identifier\n"
         "hi def link virGlobal Special\nhi def link virString String\nhi def link virComment Comment\nhi def link virTodo Todo\n"
         "let b:current_syntax = 'vir'\n");
}

static void
print_pattern(const char *scope, const char *match, const char *end)
{
  printf("    {\"name\": \"%s.vir\", \"match\": \"%s\"}%s\n", scope, match, end);
}

/* The words as alternatives of one pattern. */
static void
print_words(const char *scope, const char *words)
{
  printf("    {\"name\": \"%s.vir\", \"match\": \"\\\\b(", scope);
  for (const char *at = words; *at; at++)
    putchar(*at == ' ' ? '|' : *at);
  printf(")\\\\b\"},\n");
}

static void
print_vscode(void)
{
  printf("{\n  \"name\": \"vir\", \"scopeName\": \"source.vir\", \"fileTypes\": [\"vir\"],\n"
         "  \"comment\": \"Made by editors/grammar.c.  SPDX-License-Identifier: Apache-2.0\",\n  \"patterns\": [\n");
  print_pattern("comment.line.semicolon", ";.*$", ",");
  print_pattern("variable.other", "%([A-Za-z0-9_$]+|\\\"(\\\\\\\\.|[^\\\"\\\\\\\\])*\\\")", ",");
  print_pattern("entity.name.function", "@([A-Za-z0-9_$.]+|\\\"(\\\\\\\\.|[^\\\"\\\\\\\\])*\\\")", ",");
  print_pattern("string.quoted.double", "\\\"(\\\\\\\\.|[^\\\"\\\\\\\\])*\\\"", ",");
  print_pattern("variable.other.member", "\\\\.[A-Za-z_][A-Za-z0-9_]*", ",");
  print_pattern("constant.numeric", "(?<![A-Za-z0-9_.])" NUMBER "\\\\b", ",");
  print_pattern("constant.language", "(?<![A-Za-z0-9_.])" NAMED "\\\\b", ",");
  print_pattern("support.type", "\\\\b" TYPE "\\\\b", ",");
  for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
    print_words(groups[i].scope, groups[i].words);
  printf("    {\"name\": \"support.function.vir\", \"match\": \"\\\\b(");
  const char *between = "";
  for (uint32_t op = 0; op < VYRE_OP__COUNT; op++)
    if (is_op_word(op)) {
      printf("%s%s", between, vyre_op_infos[op].text);
      between = "|";
    }
  printf(")\\\\b\"}\n  ]\n}\n");
}

int
main(int argc, char **argv)
{
  if (argc == 2 && strcmp(argv[1], "vim") == 0)
    print_vim();
  else if (argc == 2 && strcmp(argv[1], "vscode") == 0)
    print_vscode();
  else
    return fprintf(stderr, "usage: vyre-grammar vim|vscode\n"), 2;
  return 0;
}
