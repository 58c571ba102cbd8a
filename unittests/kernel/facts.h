/* The facts of ops as kernel files name them: "op_" and a field of vyre_op_info.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_UNITTESTS_KERNEL_FACTS_H
#define VYRE_UNITTESTS_KERNEL_FACTS_H

#include "vyre/ir.h"

#include <string.h>

/* UINT32_MAX: what no phase asks for yet. */
static inline uint32_t
fact_of(const char *word, uint32_t op)
{
  const vyre_op_info *info = &vyre_op_infos[op];
  return strcmp(word, "op_flags") == 0      ? info->flags
         : strcmp(word, "op_klass") == 0    ? info->klass
         : strcmp(word, "op_rule") == 0     ? info->rule
         : strcmp(word, "op_fold") == 0     ? info->fold
         : strcmp(word, "op_mirrored") == 0 ? info->mirrored
         : strcmp(word, "op_compares") == 0 ? info->compares
                                            : UINT32_MAX;
}

#endif
