/* vyre in a program of one's own: reads a shader (GLSL, SPIR-V or .vir text), optimizes it, writes it as SPIR-V.
 *
 *   embed shader.comp shader.spv
 *
 * CMakeLists.txt builds it by find_package(vyre); with pkg-config it is
 *
 *   cc -std=c17 embed.c $(pkg-config --cflags --libs vyre) -Wl,-rpath,$(pkg-config --variable=libdir vyre) -o embed
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include <vyre/vyre.h>

/* Messages of compilers and passes, with file and line if they have them. */
static void
print_message(void *user, const vyre_diagnostic *diagnostic)
{
  char text[2048];
  (void)user;
  vyre_diagnostic_format(diagnostic, text, sizeof text);
  fprintf(stderr, "%s\n", text);
}

static const vyre_diagnostics messages = {print_message, NULL};

/* The pipelines are made once, and may be run over any number of modules, by several threads. */
static vyre_status
run_passes(vyre_module *module)
{
  static const char passes[] = "default<O2>";
  const vyre_pipeline_options options = {.diagnostics = messages};
  vyre_registry *registry = NULL;
  vyre_pipeline *pipeline = NULL;
  vyre_status status = vyre_registry_create(NULL, &registry);
  if (!status)
    status = vyre_registry_load_core(registry); /* from vyre/passes beside libvyre.so */
  if (!status)
    status = vyre_pipeline_parse(registry, passes, strlen(passes), "passes", &pipeline);
  if (!status)
    status = vyre_pipeline_run(pipeline, module, &options);
  vyre_pipeline_destroy(pipeline);
  vyre_registry_destroy(registry);
  return status;
}

static vyre_status
optimize(vyre_module *module, const char *from, const char *to)
{
  vyre_input_kind kind;
  VYRE_TRY(vyre_input_read(module, from, NULL, messages, &kind));
  VYRE_TRY(vyre_module_check(module, NULL));
  VYRE_TRY(run_passes(module));
  vyre_bytes words = {0};
  vyre_status status = vyre_spirv_write(module, 0, NULL, &words);
  if (!status)
    status = vyre_file_write(to, words.data, words.size);
  vyre_bytes_free(&words);
  return status;
}

int
main(int argc, char **argv)
{
  if (argc != 3) {
    fprintf(stderr, "usage: embed SHADER OUTPUT.spv\n");
    return 2;
  }
  vyre_module *module = NULL;
  vyre_status status = vyre_module_create(NULL, 0, &module);
  if (!status)
    status = optimize(module, argv[1], argv[2]);
  if (status)
    fprintf(stderr, "embed: %s\n", vyre_status_text(status));
  int code = (int)vyre_status_code(status);
  vyre_status_free(status);
  vyre_module_destroy(module);
  return code;
}
