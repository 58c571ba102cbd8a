/* Hints of control rows: their words, their literals, their rules.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "verify/internal.h"

#include <string.h>

enum { MOST_LITERALS = 6 };

const char *
vyre_hint_word(vyre_opcode op, uint32_t k)
{
  static const char *const selection[] = {"flatten", "dont_flatten"};
  static const char *const loop[VYRE_HINT_BITS] = {"unroll",         "dont_unroll",    "dependency_infinite", "dependency_length",
                                                   "min_iterations", "max_iterations", "iteration_multiple",  "peel_count",
                                                   "partial_count"};
  if (op == VYRE_OP_if || op == VYRE_OP_switch)
    return k < 2 ? selection[k] : NULL;
  return (op == VYRE_OP_for || op == VYRE_OP_loop) && k < VYRE_HINT_BITS ? loop[k] : NULL;
}

static uint32_t
literal_count(uint32_t hints)
{
  uint32_t count = 0;
  for (uint32_t left = hints & VYRE_HINT_LITERALS; left; left &= left - 1)
    count++;
  return count;
}

void
vyre_row_set_hints(vyre_module *module, vyre_row control, uint32_t hints, const uint32_t *literals)
{
  const vyre_view *v = vyre_module_view(module);
  const uint32_t count = literal_count(hints);
  uint32_t words[2 + MOST_LITERALS] = {VYRE_DECORATION_HINTS, count};
  if (count)
    memcpy(words + 2, literals, count * sizeof(*literals));
  vyre_row_rewrite(module, control, v->op[control.id], hints, 0, (vyre_row){v->a[control.id]}, (vyre_row){v->b[control.id]},
                   (vyre_row){v->c[control.id]});
  vyre_row_set_decorations(module, control, words, count ? 2 + count : 0);
}

const uint32_t *
vyre_row_hint_literals(const vyre_module *module, vyre_row control, uint32_t *out_count)
{
  uint32_t count;
  const uint32_t *words = vyre_row_decorations(module, control, &count);
  const bool any = words && count > 2 && words[0] == VYRE_DECORATION_HINTS && words[1] == count - 2;
  *out_count = any ? words[1] : 0;
  return any ? words + 2 : NULL;
}

void
vyre_verify_hints(verifier *k, uint32_t row)
{
  const vyre_view *v = k->view;
  const bool is_loop = op_of(k, row) == VYRE_OP_for || op_of(k, row) == VYRE_OP_loop;
  const uint32_t hints = v->imm[row], known = is_loop ? (1u << VYRE_HINT_BITS) - 1 : 3u;
  uint32_t count, all;
  const uint32_t *literals = vyre_row_hint_literals(k->module, (vyre_row){row}, &count);
  (void)vyre_row_decorations(k->module, (vyre_row){row}, &all);
  if (hints & ~known || v->imm_hi[row]) {
    vyre_verify_report(k, row, "has the payload 0x%x, 0x%x, but the hints of %s are the bits 0x%x", hints, v->imm_hi[row],
                       is_loop ? "a loop" : "a selection", known);
    return;
  }
  const uint32_t wanted = is_loop ? literal_count(hints) : 0;
  if (count != wanted || all != (wanted ? wanted + 2 : 0)) {
    vyre_verify_report(k, row, "has %u words of decorations, but the literals of its hints 0x%x need %u", all, hints,
                       wanted ? wanted + 2 : 0);
    return;
  }
  if (!is_loop)
    return;
  if ((hints & VYRE_HINT_DONT_UNROLL) && (hints & (VYRE_HINT_UNROLL | VYRE_HINT_PEEL_COUNT | VYRE_HINT_PARTIAL_COUNT)))
    vyre_verify_report(k, row, "has both dont_unroll and a hint to unroll (hints 0x%x)", hints);
  if ((hints & VYRE_HINT_ITERATION_MULTIPLE) && literals &&
      literals[literal_count(hints & (VYRE_HINT_ITERATION_MULTIPLE - 1))] == 0)
    vyre_verify_report(k, row, "has an iteration multiple of 0");
}
