/* The verifier: types that keep an instruction's words, rows that execute them, and rows of opaque values.
 *
 * SPIR-V's validator checks whether the instruction is valid. Here only its words and operands are compared.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"
#include "vyre/view.h"

#define OPAQUE       VYRE_TYPE(VYRE_OPAQUE, 1)
#define TYPE_POINTER 32u /* the number of OpTypePointer */

uint8_t
vyre_verify_words_type(verifier *k, vyre_type_id type, const vyre_type_info *info)
{
  bool right = info->flags <= UINT16_MAX && info->stride <= VYRE_MODE_BLOCK && info->element < type &&
               (info->element == 0 || (type_id_is_valid(k, info->element) && !vyre_verify_is_bad(k, info->element)));
  uint8_t facts = TYPE_HAS_8;
  for (uint32_t i = 0; right && i < info->count; i++) {
    const vyre_member *word = &info->members[i];
    const bool typed = word->access == VYRE_WORD_TYPE || word->access == VYRE_WORD_CONSTANT || word->access == VYRE_WORD_VALUE ||
                       word->access == VYRE_WORD_LENGTH;
    const bool void_or_any = word->type == 0;
    const bool valid = void_or_any || (word->type < type && type_id_is_valid(k, word->type) &&
                                       (word->type < 256 || !vyre_verify_is_bad(k, word->type)));
    right = word->access < VYRE_WORD__COUNT && (typed ? valid : word->type == 0);
    if (word->access == VYRE_WORD_TYPE || word->access == VYRE_WORD_VALUE)
      right = right && word->offset <= (word->type ? VYRE_MODE_BLOCK : VYRE_MODE_BARE);
    if (word->access == VYRE_WORD_STRIDE) /* the ArrayStride of a pointer type, which follows the words of OpTypePointer */
      right = right && word->offset && i + 1 == info->count && i == 2 && info->flags == TYPE_POINTER && !info->element;
    if (word->access == VYRE_WORD_LENGTH)
      right = right && word->type >= 256 && vyre_type_get(k->module, word->type).count_row;
    if (right && word->type >= 256)
      facts |= (uint8_t)(k->type_facts[word->type] & TYPE_HAS_ROW);
    if (word->access == VYRE_WORD_CONSTANT)
      right = right && type_is_value((vyre_type)word->type) && word->type < 256 && VYRE_TYPE_LANES((vyre_type)word->type) == 1;
  }
  if (!right)
    vyre_verify_report(k, 0, "type %u: its words are not an instruction", type);
  return right ? facts : TYPE_BAD;
}

/* Returns whether `type` is a pointer to a struct, and `named` the same pointer that refers to the struct by name. */
static bool
is_by_name(const verifier *k, vyre_type_id type, vyre_type_id named)
{
  const vyre_type_info t = vyre_type_get(k->module, type), n = vyre_type_get(k->module, named);
  if (t.form != VYRE_FORM_WORDS || n.form != VYRE_FORM_WORDS || t.flags != n.flags || t.count != n.count || t.count < 2 ||
      t.members[1].access != VYRE_WORD_TYPE || n.members[1].access != VYRE_WORD_NAMED)
    return false;
  const vyre_type_info to = vyre_type_get(k->module, t.members[1].type);
  for (uint32_t i = 0; i < t.count; i++)
    if (i != 1 && (t.members[i].access != n.members[i].access || t.members[i].offset != n.members[i].offset))
      return false;
  return to.form == VYRE_FORM_STRUCT && to.name == n.members[1].name;
}

/* Returns whether a row may be a part of type `wanted`. */
static bool
fits_type(const verifier *k, uint32_t row, vyre_type_id wanted)
{
  const vyre_type_id is = vyre_row_type_id(k->module, (vyre_row){row});
  return is == wanted || is_by_name(k, is, wanted) || is_by_name(k, wanted, is) ||
         (is == 0 && wanted >= 256 && type_of(k, row) == OPAQUE);
}

static bool
is_words(const verifier *k, vyre_type_id type)
{
  return type >= 256 && type < k->type_count && vyre_type_get(k->module, type).form == VYRE_FORM_WORDS &&
         !vyre_verify_is_bad(k, type);
}

/* Checks the operands of an opaque row by the words of its instruction. For a word with a type, they have the types of its
 * leaves. For a word without a type, the operand is a value or path. */
static void
check_operand_types(verifier *k, uint32_t row, const vyre_type_info *info)
{
  uint32_t next = 0;
  text_buffer text;
  for (uint32_t i = 0; i < info->count; i++) {
    const vyre_member *word = &info->members[i];
    if (word->access != VYRE_WORD_VALUE)
      continue;
    const uint32_t leaves = word->type ? vyre_type_leaves(k->module, word->type) : 1;
    for (uint32_t leaf = 0; leaf < leaves; leaf++, next++) {
      const uint32_t x = vyre_opaque_operand(k->view, row, next);
      if (x == 0 && next < 2)
        vyre_verify_report(k, row, "has no operand %u, but has later ones", next);
      if (x == 0 || !row_is_reached(k, x))
        return; /* or an error of the tuple */
      const vyre_kind kind = VYRE_TYPE_KIND(type_of(k, x));
      if (word->type ? !fits_type(k, x, vyre_type_leaf(k->module, word->type, leaf))
                     : !vyre_kind_is_scalar(kind) && kind != VYRE_OPAQUE && kind != VYRE_PATH)
        vyre_verify_report(k, row, "operand %u is %s, which does not fit there", next, vyre_verify_show(k, x, &text));
    }
  }
}

void
vyre_verify_opaque(verifier *k, uint32_t row)
{
  const vyre_view *v = k->view;
  const vyre_type_id type = v->imm[row];
  vyre_type_info info;
  uint32_t wanted, count;
  text_buffer text, other;
  if (!is_words(k, type)) {
    vyre_verify_report(k, row, "has type %u as its instruction, which is not an instruction", type);
    return;
  }
  if (v->imm_hi[row])
    vyre_verify_report(k, row, "has imm_hi 0x%x, which must be 0", v->imm_hi[row]);
  info = vyre_type_get(k->module, type);
  wanted = vyre_words_operands(k->module, type);
  count = vyre_opaque_count(v, row);
  if (wanted != count || wanted == UINT32_MAX)
    vyre_verify_report(k, row, "has %u operands, but its instruction takes %u", count, wanted);
  else
    check_operand_types(k, row, &info);
  const vyre_type_form form = vyre_type_get(k->module, info.element).form;
  const vyre_type result = form == VYRE_FORM_VALUE   ? (vyre_type)info.element
                           : form == VYRE_FORM_WORDS ? OPAQUE
                                                     : VYRE_TYPE(VYRE_TUPLE, 1);
  if (type_of(k, row) != result)
    vyre_verify_report(k, row, "has type %s, but its instruction's result is %s", vyre_verify_type_text(type_of(k, row), &text),
                       vyre_verify_type_text(result, &other));
  if (result == VYRE_TYPE(VYRE_TUPLE, 1) && vyre_type_leaves(k->module, info.element) == UINT32_MAX)
    vyre_verify_report(k, row, "has a result without a fixed number of parts");
}

void
vyre_verify_opaque_var(verifier *k, uint32_t row)
{
  const uint32_t type = k->view->imm[row];
  if (type_of(k, row) != OPAQUE ? type != 0 : !is_words(k, type))
    vyre_verify_report(k, row, "has type %u as that of its values, %s", type,
                       type_of(k, row) != OPAQUE ? "but its values are not opaque" : "which is not an opaque type");
  if (k->view->imm_hi[row] & ~(uint32_t)VYRE_ACCESS_UNSET)
    vyre_verify_report(k, row, "has imm_hi 0x%x, but only the bit of unset may be set", k->view->imm_hi[row]);
  else if (k->view->imm_hi[row] && type_of(k, row) == OPAQUE)
    vyre_verify_report(k, row, "is unset, but its values are opaque");
  else if (k->view->imm_hi[row] && !(k->view->imm[vyre_program_of(k->view, row)] & VYRE_PROGRAM_RELAXED))
    vyre_verify_report(k, row, "is unset in a strict program, where every var starts at zero");
}

void
vyre_verify_opaque_stored(verifier *k, uint32_t row, uint32_t x, vyre_type_id wanted)
{
  text_buffer text;
  if (wanted >= 256 && type_of(k, x) == OPAQUE && !fits_type(k, x, wanted))
    vyre_verify_report(k, row, "operand b is %s, whose opaque type differs from that of the location that it accesses",
                       vyre_verify_show(k, x, &text));
}
