/* Writes cost-default.c from default.cost, at build time: cost_generate default.cost > cost-default.c
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cost.h"

#include <stdio.h>

static char text[1 << 16];
static vyre_cost_model model;

int
main(int argc, char **argv)
{
  FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
  const size_t length = file ? fread(text, 1, sizeof(text), file) : 0;
  if (!file || ferror(file) || length == sizeof(text)) {
    fprintf(stderr, "cost_generate: %s cannot be read, or has %zu bytes or more\n", argc == 2 ? argv[1] : "the one file",
            sizeof(text));
    return 1;
  }
  fclose(file);
  cost_begin(&model);
  vyre_status status = cost_read(&model, text, length, argv[1]);
  if (status) {
    fprintf(stderr, "%s\n", vyre_status_text(status));
    vyre_status_free(status);
    return 1;
  }
  printf("#include \"cost/cost.h\"\n\nconst vyre_cost_model cost_default = {.figures = {\n");
  for (uint32_t op = 0; op < VYRE_OP__COUNT; op++) {
    printf("{");
    for (uint32_t kind = 0; kind < VYRE_KIND__COUNT; kind++)
      printf("{%u,%u,%u},", model.figures[op][kind][0], model.figures[op][kind][1], model.figures[op][kind][2]);
    printf("},\n");
  }
  printf("}};\n");
  return 0;
}
