/* The keyword after a subgroup op that combines lanes: `inclusive`, `exclusive` or `clustered(4)`. Without one, the op reduces the
 * whole subgroup.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_TEXT_SUBGROUP_H
#define VYRE_IR_TEXT_SUBGROUP_H

#include "table/subgroup.h"

struct text_parser;
struct text_printer;

/* Returns whether the op's imm is such a group. */
static inline bool
text_has_group(vyre_opcode op)
{
  return subgroup_groups(op) != 1u << VYRE_GROUP_REDUCE;
}

/* Parses the keyword, which must be on the same line. Returns false after reporting an error. */
bool text_parse_group(struct text_parser *p, vyre_opcode op, uint32_t *out);
void text_put_group(struct text_printer *t, uint32_t imm);

#endif
