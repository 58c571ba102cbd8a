/* The hints after `if`, `switch`, `for` and `loop`, as in `loop unroll partial_count(4) {`.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "parser.h"
#include "ir/text/print/printer.h"

static bool
find_hint(const text_parser *p, vyre_opcode op, uint32_t *out)
{
  const char *word;
  if (p->lexer.token.kind != TOKEN_WORD)
    return false;
  for (*out = 0; (word = vyre_hint_word(op, *out)) != NULL; ++*out)
    if (text_is_word(p, word))
      return true;
  return false;
}

bool
text_parse_hints(text_parser *p, vyre_opcode op, text_hints *out)
{
  uint32_t values[VYRE_HINT_BITS] = {0}, k, count = 0;
  *out = (text_hints){0};
  while (find_hint(p, op, &k)) {
    const uint32_t bit = 1u << k;
    if (out->bits & bit)
      return text_error_token(p, "write the hint once", "the hint %s is given twice", vyre_hint_word(op, k));
    out->bits |= bit;
    text_lex(&p->lexer);
    if ((bit & VYRE_HINT_LITERALS) &&
        !(text_expect_mark(p, '(') && text_expect_integer(p, UINT32_MAX, &values[k]) && text_expect_mark(p, ')')))
      return false;
  }
  for (k = 0; k < VYRE_HINT_BITS; k++)
    if (out->bits & VYRE_HINT_LITERALS & 1u << k)
      out->literals[count++] = values[k];
  return true;
}

void
text_set_hints(text_parser *p, vyre_row control, const text_hints *hints)
{
  if (hints->bits && control.id)
    vyre_row_set_hints(p->module, control, hints->bits, hints->literals);
}

void
text_put_hints(text_printer *t, uint32_t row)
{
  const uint32_t hints = t->view->imm[row];
  const char *word;
  uint32_t count, next = 0;
  const uint32_t *literals = vyre_row_hint_literals(t->module, (vyre_row){row}, &count);
  for (uint32_t k = 0; hints >> k && (word = vyre_hint_word(text_op_of(t, row), k)) != NULL; k++) {
    if (!(hints >> k & 1))
      continue;
    text_put(t, " ", 1);
    text_put_text(t, word);
    if (!(VYRE_HINT_LITERALS >> k & 1))
      continue;
    text_put(t, "(", 1);
    text_put_number(t, next < count ? literals[next] : 0);
    text_put(t, ")", 1);
    next++;
  }
}
