/* vyre-megac: compiles a megakernel with handlers ahead of time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "vyre/c.h"
#include "vyre/io.h"
#include "vyre/megakernel.h"
#include "vyre/text.h"
#include "vyre/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: vyre-megac [options] [FILE.vir]\n"
    "\n"
    "Puts the megakernel and the functions of FILE.vir together, and writes them as C, for a cpu, or as .vir, to be looked at.\n"
    "\n"
    "  -build=BUILD        once (default), priority, persistent or persistent-priority\n"
    "  -op=CODE:FUNCTION   what items of this op code do; any number of these\n"
    "  -fused=FUNCTION     what all items do, whatever their op code\n"
    "  -data               there is a fifth buffer, which handlers are given\n"
    "  -emit=c|vir         what is written; default: c\n"
    "  -name=NAME          of the C function; default: mega\n"
    "  -o FILE             write there; default: standard output\n"
    "  -help               print this\n"
    "\n"
    "What a handler is: docs/megakernel.md.  Exit codes: 0 done, 1 the file is wrong, 2 wrong use.\n";

enum { MOST_HANDLERS = 256, ROOM = 1 << 16 };

typedef struct options {
  vyre_mega_program program;
  vyre_mega_handler handlers[MOST_HANDLERS];
  const char *input, *output, *name;
  bool is_vir;
} options;

static void
print_diagnostic(void *user, const vyre_diagnostic *diagnostic)
{
  char text[4096];
  (void)user;
  vyre_diagnostic_format(diagnostic, text, sizeof text);
  fputs(text, stderr);
}

static bool
take(const char *word, const char *option, const char **out)
{
  const size_t length = strlen(option);
  if (strncmp(word, option, length) != 0)
    return false;
  *out = word + length;
  return true;
}

static bool
read_build(const char *text, vyre_mega_build *out)
{
  static const char *const words[] = {"once", "priority", "persistent", "persistent-priority"};
  for (uint32_t i = 0; i < VYRE_MEGA_BUILD__COUNT; i++)
    if (strcmp(text, words[i]) == 0) {
      *out = (vyre_mega_build)i;
      return true;
    }
  return false;
}

static bool
read_handler(const char *text, options *out)
{
  char *end;
  const unsigned long op = strtoul(text, &end, 0);
  if (end == text || *end != ':' || op > UINT32_MAX || out->program.handler_count == MOST_HANDLERS)
    return false;
  out->handlers[out->program.handler_count++] = (vyre_mega_handler){(uint32_t)op, end + 1};
  return true;
}

static bool
read_option(const char *word, options *out)
{
  const char *value;
  if (take(word, "-build=", &value))
    return read_build(value, &out->program.build);
  if (take(word, "-op=", &value))
    return read_handler(value, out);
  if (take(word, "-emit=", &value)) {
    out->is_vir = strcmp(value, "vir") == 0;
    return out->is_vir || strcmp(value, "c") == 0;
  }
  if (strcmp(word, "-data") == 0)
    return out->program.has_data = true;
  return take(word, "-fused=", &out->program.fused) || take(word, "-name=", &out->name);
}

/* -1: go on; else the exit code. */
static int
read_options(int argc, char **argv, options *out)
{
  *out = (options){.name = "mega"};
  out->program.handlers = out->handlers;
  for (int i = 1; i < argc; i++) {
    const char *word = argv[i][0] == '-' && argv[i][1] == '-' ? argv[i] + 1 : argv[i];
    if (strcmp(word, "-help") == 0) {
      fputs(usage, stdout);
      return 0;
    }
    if (strcmp(word, "-o") == 0 && i + 1 < argc) {
      out->output = argv[++i];
    } else if (word[0] == '-') {
      if (read_option(word, out))
        continue;
      fprintf(stderr, "error: unknown option or value '%s'\nFix: vyre-megac -help lists them\n", argv[i]);
      return 2;
    } else if (out->input) {
      fprintf(stderr, "error: two inputs, '%s' and '%s'\nFix: one file with all functions\n", out->input, word);
      return 2;
    } else {
      out->input = word;
    }
  }
  return -1;
}

static vyre_status
emit(const options *o, const vyre_module *module, vyre_bytes *out)
{
  if (o->is_vir)
    return vyre_text_print(module, NULL, out);
  return vyre_c_write(module, (vyre_row){vyre_module_view(module)->first[0]}, &(vyre_c_options){.name = o->name}, out);
}

static vyre_status
compile(const options *o, const vyre_bytes *text, vyre_module *module, vyre_bytes *out)
{
  vyre_verify_errors errors = {0};
  VYRE_TRY(vyre_text_parse(module, text->data, text->size, "megakernel", (vyre_diagnostics){print_diagnostic, NULL}));
  vyre_status status = vyre_verify(module, &errors);
  vyre_verify_errors_free(&errors);
  VYRE_TRY(status);
  return emit(o, module, out);
}

static vyre_status
run(options *o)
{
  const vyre_mega_form form = {.workgroup = 1};
  vyre_bytes source = {0}, text = {0}, out = {0};
  vyre_module *module = NULL;
  vyre_status status = o->input ? vyre_file_read(o->input, &source) : VYRE_OK;
  o->program.source = source.data;
  if (!status)
    status = vyre_mega_source(&o->program, &form, &text);
  if (!status)
    status = vyre_module_create(NULL, ROOM, &module);
  if (!status)
    status = compile(o, &text, module, &out);
  if (!status && o->output)
    status = vyre_file_write(o->output, out.data, out.size);
  else if (!status)
    fwrite(out.data, 1, out.size, stdout);
  vyre_module_destroy(module);
  vyre_bytes_free(&source);
  vyre_bytes_free(&text);
  vyre_bytes_free(&out);
  return status;
}

int
main(int argc, char **argv)
{
  static options o;
  int code = read_options(argc, argv, &o);
  if (code >= 0)
    return code;
  vyre_status status = run(&o);
  code = (int)vyre_status_code(status);
  if (status)
    fprintf(stderr, "error: %s\n", vyre_status_text(status));
  vyre_status_free(status);
  return code;
}
