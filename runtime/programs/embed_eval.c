/* embed_eval PATH OUTPUT: writes the functions of passes/cf/eval.vir as a C array of `.vir` text, mega_text_eval.
 *
 * The kernel computes one op at a time, so the facts of ops.def that the functions read are parameters: `load %op_klass[%what]`
 * becomes `%op_klass`.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernels/kernel.h"

#include "vyre/io.h"

#include <stdio.h>
#include <string.h>

/* Replaces `from` by `to` everywhere.  `to` is not longer. */
static void
replace(char *text, const char *from, const char *to)
{
  const size_t length = strlen(from), shorter = strlen(to);
  char *out = text;
  for (const char *at = text; *at;) {
    const bool is_here = strncmp(at, from, length) == 0;
    if (is_here) {
      memcpy(out, to, shorter);
      out += shorter;
      at += length;
    } else {
      *out++ = *at++;
    }
  }
  *out = '\0';
}

static void
print_diagnostic(void *user, const vyre_diagnostic *diagnostic)
{
  (void)user;
  char text[1024];
  vyre_diagnostic_format(diagnostic, text, sizeof text);
  fputs(text, stderr);
}

static vyre_status
embed(kernel_file *file, const char *path, const char *output)
{
  static const char *const facts[][2] = {{"load %op_klass[%what]", "%op_klass"},
                                         {"load %op_compares[%what]", "%op_compares"},
                                         {"%op_klass : path u32[]", "%op_klass : u32"},
                                         {"%op_compares : path u32[]", "%op_compares : u32"}};
  kernel_expansion expansion = {0};
  vyre_bytes c = {0};
  VYRE_TRY(kernel_read(file, path, (vyre_diagnostics){print_diagnostic, NULL}));
  vyre_status status = kernel_expand_functions(file, &expansion);
  if (!status)
    status = vyre_bytes_append(&expansion.text, "", 1);
  for (size_t i = 0; !status && i < sizeof facts / sizeof *facts; i++)
    replace(expansion.text.data, facts[i][0], facts[i][1]);
  if (!status)
    status = vyre_bytes_printf(&c, "/* Generated from passes/cf. */\n#include \"source.h\"\n\nconst char mega_text_eval[] = {");
  for (const char *at = expansion.text.data; !status && *at; at++)
    status = vyre_bytes_printf(&c, "%d,", *at);
  if (!status)
    status = vyre_bytes_printf(&c, "0};\n");
  if (!status)
    status = vyre_file_write(output, c.data, c.size);
  vyre_bytes_free(&c);
  kernel_expansion_free(&expansion);
  return status;
}

int
main(int argc, char **argv)
{
  static kernel_file file; /* too large for the stack */
  if (argc != 3)
    return 2;
  vyre_status status = embed(&file, argv[1], argv[2]);
  kernel_file_free(&file);
  const int code = (int)vyre_status_code(status);
  if (status)
    fprintf(stderr, "embed_eval: %s\n", vyre_status_text(status));
  vyre_status_free(status);
  return code;
}
