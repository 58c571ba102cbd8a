/* Writes modules that were kept verbatim (spirv/import/module/verbatim.c).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "spirv/export/export.h"

const uint32_t *
vyre_spv_verbatim(vyre_module *module, uint32_t input, uint32_t *out_count)
{
  const vyre_view *v = vyre_module_view(module);
  for (uint32_t program = vyre_module_input(module, input)->first_program; program;
       program = vyre_program_info_of(module, (vyre_row){program})->next_program)
    for (uint32_t row = v->last[program]; row && VYRE_ROW_OP(v->op[row]) == VYRE_OP_verbatim; row = v->prev[row]) {
      uint32_t count;
      const uint32_t *words = vyre_row_decorations(module, (vyre_row){row}, &count);
      if (!words || count < 2 || words[1] != count - 2)
        continue;
      *out_count = words[1];
      return words + 2;
    }
  return NULL;
}
