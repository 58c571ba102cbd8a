/* Parses and prints the keyword after a subgroup op that combines lanes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "subgroup.h"

#include "parser.h"
#include "ir/text/print/printer.h"

static const char *const group_words[] = {[VYRE_GROUP_REDUCE] = "reduce",
                                          [VYRE_GROUP_INCLUSIVE] = "inclusive",
                                          [VYRE_GROUP_EXCLUSIVE] = "exclusive",
                                          [VYRE_GROUP_CLUSTERED] = "clustered"};

bool
text_parse_group(text_parser *p, vyre_opcode op, uint32_t *out)
{
  *out = 0;
  if (p->lexer.token.first_on_line || p->lexer.token.kind != TOKEN_WORD)
    return true;
  for (uint32_t group = VYRE_GROUP_INCLUSIVE; group <= VYRE_GROUP_CLUSTERED; group++) {
    uint32_t cluster = 0;
    if (!text_is_word(p, group_words[group]))
      continue;
    if (!(subgroup_groups(op) >> group & 1u))
      return text_error_token(p, NULL, "%s cannot be %s", vyre_op_infos[op].text, group_words[group]);
    text_lex(&p->lexer);
    if (group == VYRE_GROUP_CLUSTERED &&
        !(text_expect_mark(p, '(') && text_expect_integer(p, UINT32_MAX >> 8, &cluster) && text_expect_mark(p, ')')))
      return false;
    *out = VYRE_GROUP(group, cluster);
    return true;
  }
  return true;
}

void
text_put_group(text_printer *t, uint32_t imm)
{
  const uint32_t group = VYRE_GROUP_OF(imm), cluster = VYRE_GROUP_CLUSTER(imm);
  if (imm == 0)
    return;
  text_put(t, " ", 1);
  if (group > VYRE_GROUP_CLUSTERED || (group != VYRE_GROUP_CLUSTERED && cluster)) { /* damaged */
    text_put_text(t, "group(");
    text_put_number(t, imm);
    text_put(t, ")", 1);
    return;
  }
  text_put_text(t, group_words[group]);
  if (group != VYRE_GROUP_CLUSTERED)
    return;
  text_put(t, "(", 1);
  text_put_number(t, cluster);
  text_put(t, ")", 1);
}
