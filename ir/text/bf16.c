/* Parses `packbf16 x` and `unpackbf16 x`, which are abbreviations of several rows (ir/table/bf16.c). The printer writes these rows.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "parser.h"

bool
text_is_bf16(const text_parser *p)
{
  return text_is_word(p, "packbf16") || text_is_word(p, "unpackbf16");
}

bool
text_parse_bf16(text_parser *p, text_operand *out)
{
  const text_token token = p->lexer.token;
  const bool packs = text_is_word(p, "packbf16");
  const vyre_kind kind = packs ? VYRE_F32 : VYRE_U16;
  text_operand operand;
  text_lex(&p->lexer);
  const bool has_parentheses = text_accept_mark(p, '(');
  if (!text_parse_operand(p, &operand) || (has_parentheses && !text_expect_mark(p, ')')))
    return false;
  const uint32_t row = text_row_of(p, &operand);
  out->bad = row == 0;
  if (out->bad)
    return !p->stop;
  if (VYRE_TYPE_KIND(text_type_of(p, row)) != kind) {
    char found[160];
    out->bad = true;
    return text_error(p, token.start, token.length, packs ? "convert the operand to f32" : "load it from memory of u16",
                      "the operand of %s must be %s, not %s", packs ? "packbf16" : "unpackbf16", packs ? "f32" : "u16",
                      text_describe(p, &operand, found));
  }
  const vyre_row result =
      packs ? vyre_build_pack_bf16(&p->builder, (vyre_row){row}) : vyre_build_unpack_bf16(&p->builder, (vyre_row){row});
  if (!result.id) {
    text_no_memory(p);
    return false;
  }
  out->row = result.id;
  out->fresh = true;
  out->type = text_type_of(p, result.id);
  return true;
}
