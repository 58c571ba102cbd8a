/* vyre in a program of one's own: reads a text, runs a pipeline over it, prints what came out.
 *
 *   cc embed.c $(pkg-config --cflags --libs vyre) -o embed
 *   LD_LIBRARY_PATH=PREFIX/lib ./embed    where vyre was installed to a PREFIX of its own; or link with -Wl,-rpath,PREFIX/lib
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include <vyre/vyre.h>

static vyre_status
optimize(vyre_module *module, vyre_registry *registry, vyre_bytes *out)
{
  static const char text[] = "program @hello workgroup(1, 1, 1) {\n"
                             "  buffer %x : u32[4] storage rw set(0) binding(0)\n"
                             "  store %x[0], 1u32\n"
                             "}\n";
  static const char passes[] = "no-op,verify";
  vyre_pipeline *pipeline;
  VYRE_TRY(vyre_text_parse(module, text, strlen(text), "hello.vir", (vyre_diagnostics){0}));
  VYRE_TRY(vyre_module_check(module, NULL));
  VYRE_TRY(vyre_pipeline_parse(registry, passes, strlen(passes), "passes", &pipeline));
  vyre_status status = vyre_pipeline_run(pipeline, module, NULL);
  vyre_pipeline_destroy(pipeline);
  return status ? status : vyre_text_print(module, NULL, out);
}

int
main(void)
{
  vyre_module *module = NULL;
  vyre_registry *registry = NULL;
  vyre_bytes out = {0};
  vyre_status status = vyre_module_create(NULL, 0, &module);
  if (!status)
    status = vyre_registry_create(NULL, &registry);
  if (!status)
    status = optimize(module, registry, &out);
  if (status)
    fprintf(stderr, "embed: %s\n", vyre_status_text(status));
  else
    fwrite(out.data, 1, out.size, stdout);
  int code = (int)vyre_status_code(status);
  vyre_status_free(status);
  vyre_bytes_free(&out);
  vyre_registry_destroy(registry);
  vyre_module_destroy(module);
  return code;
}
