/* The words after a subgroup row that combines lanes: `inclusive`, `exclusive`, `clustered(4)`; none is the whole subgroup.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_IR_TEXT_SUBGROUP_H
#define VYRE_IR_TEXT_SUBGROUP_H

#include "table/subgroup.h"

struct text_parser;
struct text_printer;

/* Whether imm is such a word. */
static inline bool
text_has_group(vyre_opcode op)
{
  return subgroup_groups(op) != 1u << VYRE_GROUP_REDUCE;
}

/* On the same line; false after a message. */
bool text_parse_group(struct text_parser *p, vyre_opcode op, uint32_t *out);
void text_put_group(struct text_printer *t, uint32_t imm);

#endif
