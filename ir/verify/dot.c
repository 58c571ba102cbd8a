/* The verifier: integer dot products.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include "vyre/dot.h"

static void
report_operand(verifier *k, uint32_t row, char which, uint32_t x, const char *wanted)
{
  text_buffer text;
  vyre_verify_report(k, row, "operand %c is %s, but it takes %s", which, vyre_verify_show(k, x, &text), wanted);
}

static void
check_type(verifier *k, uint32_t row, char which, uint32_t x, vyre_type wanted)
{
  text_buffer text;
  if (type_of(k, x) != wanted)
    report_operand(k, row, which, x, vyre_verify_type_text(wanted, &text));
}

void
vyre_verify_int_dot(verifier *k, uint32_t row)
{
  const vyre_view *v = k->view;
  const vyre_type type = type_of(k, v->a[row]), result = type_of(k, row);
  const vyre_kind kind = VYRE_TYPE_KIND(type), to = VYRE_TYPE_KIND(result);
  const vyre_dot_shape shape = vyre_dot_shape_of(op_of(k, row), type);
  text_buffer text;
  vyre_verify_no_payload(k, row);
  if (!vyre_kind_is_int(kind) || kind != vyre_kind_with_sign(kind, shape.left_signed) ||
      (shape.packed && vyre_kind_bits(kind) != 32)) {
    report_operand(k, row, 'a', v->a[row],
                   shape.left_signed ? "a vector of signed integers or an i32" : "a vector of unsigned integers or a u32");
    return;
  }
  check_type(k, row, 'b', v->b[row], VYRE_TYPE(vyre_kind_with_sign(kind, shape.right_signed), VYRE_TYPE_LANES(type)));
  if (v->c[row])
    check_type(k, row, 'c', v->c[row], result);
  if (VYRE_TYPE_LANES(result) != 1 || !vyre_kind_is_int(to) || to != vyre_kind_with_sign(to, shape.left_signed) ||
      vyre_kind_bits(to) < shape.bits)
    vyre_verify_report(k, row, "has type %s, but its operands make it %s integer of %u bits or more",
                       vyre_verify_type_text(result, &text), shape.left_signed ? "a signed" : "an unsigned", shape.bits);
}
