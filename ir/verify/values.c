/* The verifier: values whose type follows a rule of their own (ops.def: FREE and OWN), op by op.
 *
 * Operands are present and visible. Rules SAME and BOOL are already checked.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include "table/result.h"

#define U32   VYRE_TYPE(VYRE_U32, 1)
#define I32   VYRE_TYPE(VYRE_I32, 1)
#define TUPLE VYRE_TYPE(VYRE_TUPLE, 1)

static vyre_kind
kind_of(const verifier *k, uint32_t row)
{
  return VYRE_TYPE_KIND(type_of(k, row));
}

static uint32_t
lanes_of(const verifier *k, uint32_t row)
{
  return VYRE_TYPE_LANES(type_of(k, row));
}

static uint32_t
operand_of(const verifier *k, uint32_t row, char which)
{
  const vyre_view *v = k->view;
  return which == 'a' ? v->a[row] : which == 'b' ? v->b[row] : v->c[row];
}

/* Reports an operand that is not of the wanted kind. Returns whether it is. */
static bool
require(verifier *k, uint32_t row, char which, bool holds, const char *wanted)
{
  text_buffer text;
  if (!holds)
    vyre_verify_report(k, row, "operand %c is %s, but it takes %s", which, vyre_verify_show(k, operand_of(k, row, which), &text),
                       wanted);
  return holds;
}

static bool
require_type(verifier *k, uint32_t row, char which, vyre_type type)
{
  text_buffer text;
  bool holds = type_of(k, operand_of(k, row, which)) == type;
  return holds || require(k, row, which, false, vyre_verify_type_text(type, &text));
}

static bool
require_value(verifier *k, uint32_t row, char which)
{
  return require(k, row, which, type_is_value(type_of(k, operand_of(k, row, which))), "a scalar or vector");
}

static bool
require_kind(verifier *k, uint32_t row, char which, bool (*is)(vyre_kind), const char *wanted)
{
  return require(k, row, which, is(kind_of(k, operand_of(k, row, which))), wanted);
}

static bool
require_index(verifier *k, uint32_t row, char which)
{
  vyre_type type = type_of(k, operand_of(k, row, which));
  return require(k, row, which, type == U32 || type == I32, "an index of type u32 or i32");
}

static void
require_result(verifier *k, uint32_t row, vyre_type wanted)
{
  text_buffer text, other;
  if (type_of(k, row) != wanted)
    vyre_verify_report(k, row, "has type %s, but its operands make it %s", vyre_verify_type_text(type_of(k, row), &text),
                       vyre_verify_type_text(wanted, &other));
}

static void
get_operands(const verifier *k, uint32_t row, typed out[3])
{
  for (uint32_t i = 0; i < 3; i++) {
    const uint32_t x = operand_of(k, row, (char)('a' + i));
    out[i] = (typed){type_of(k, x), k->view->imm[x]};
  }
}

void
vyre_verify_result(verifier *k, uint32_t row)
{
  const vyre_view *v = k->view;
  typed operands[3], result;
  get_operands(k, row, operands);
  result = result_of(op_of(k, row), operands);
  require_result(k, row, result.type);
  if (result.type == TUPLE && (v->imm[row] != result.imm || v->imm_hi[row]))
    vyre_verify_report(k, row, "has the payload 0x%x, 0x%x, but %u parts of type byte %u make it 0x%x, 0", v->imm[row],
                       v->imm_hi[row], VYRE_TUPLE_COUNT(result.imm), VYRE_TUPLE_TYPE(result.imm), result.imm);
}

/* ---- composition --------------------------------------------------------------------------------------------------------- */

static void
check_tuple(verifier *k, uint32_t row)
{
  const vyre_view *v = k->view;
  uint32_t count = VYRE_TUPLE_COUNT(v->imm[row]);
  const uint32_t parts[3] = {v->a[row], v->b[row], v->c[row]};
  vyre_type type = type_of(k, parts[0]);
  text_buffer text;
  require_result(k, row, TUPLE);
  if (v->imm_hi[row] || count == 0) {
    vyre_verify_report(k, row, "has the payload 0x%x, 0x%x, which is not a count and type of parts", v->imm[row], v->imm_hi[row]);
    return;
  }
  for (unsigned i = 0; i < 3; i++) {
    char which = (char)('a' + i);
    if (i >= count) {
      if (parts[i])
        vyre_verify_report(k, row, "has %u parts, but an operand %c", count, which);
      continue;
    }
    if (parts[i] == 0) {
      vyre_verify_report(k, row, "has %u parts, but no operand %c", count, which);
      return;
    }
    if (i == 2 && count > 3) {
      if (!require(k, row, 'c', op_of(k, parts[2]) == VYRE_OP_tuple, "the tuple of the other parts"))
        return;
      if (VYRE_TUPLE_COUNT(v->imm[parts[2]]) != count - 2)
        vyre_verify_report(k, row, "has %u parts, but operand c has %u instead of %u", count, VYRE_TUPLE_COUNT(v->imm[parts[2]]),
                           count - 2);
      type = VYRE_TUPLE_TYPE(v->imm[parts[2]]) == type ? type : 0;
    } else {
      const vyre_kind kind = kind_of(k, parts[i]); /* opaque values and paths are operands of opaque rows only */
      if (kind != VYRE_OPAQUE && kind != VYRE_PATH && !require_value(k, row, which))
        return;
      type = type_of(k, parts[i]) == type ? type : 0;
    }
  }
  if (v->imm[row] != VYRE_TUPLE_OF(count, type))
    vyre_verify_report(k, row, "has the payload 0x%x, but %u parts of %s make it 0x%x", v->imm[row], count,
                       type ? vyre_verify_type_text(type, &text) : "several types", VYRE_TUPLE_OF(count, type));
}

/* Returns the type of part `index` of a tuple row whose parts have several types, or 0 if it is unknown (an error elsewhere). */
static vyre_type
mixed_part(const verifier *k, uint32_t tuple, uint32_t index)
{
  const vyre_view *v = k->view;
  if (op_of(k, tuple) == VYRE_OP_frexp && row_is_reached(k, v->a[tuple]))
    return result_frexp_part(type_of(k, v->a[tuple]), index);
  while (op_of(k, tuple) == VYRE_OP_tuple) {
    uint32_t count = VYRE_TUPLE_COUNT(v->imm[tuple]);
    uint32_t x = index == 0 ? v->a[tuple] : index == 1 ? v->b[tuple] : v->c[tuple];
    if (!row_is_reached(k, x))
      return 0;
    if (index < 2 || count <= 3)
      return index < count ? type_of(k, x) : 0;
    if (op_of(k, x) != VYRE_OP_tuple || VYRE_TUPLE_COUNT(v->imm[x]) != count - 2)
      return 0;
    tuple = x;
    index -= 2;
  }
  return 0;
}

static void
check_part(verifier *k, uint32_t row)
{
  const vyre_view *v = k->view;
  uint32_t tuple = v->a[row];
  vyre_type type;
  if (!require(k, row, 'a', type_of(k, tuple) == TUPLE, "a tuple"))
    return;
  if (vyre_op_is_opaque(op_of(k, tuple))) {
    const vyre_type_id part = vyre_part_type_id(k->module, (vyre_row){tuple}, v->imm[row]);
    if (part == 0 || v->imm_hi[row])
      vyre_verify_report(k, row, "takes part %u, which its instruction's result does not have", v->imm[row]);
    else
      require_result(k, row, part < 256 ? (vyre_type)part : VYRE_TYPE(VYRE_OPAQUE, 1));
    return;
  }
  if (v->imm[row] >= VYRE_TUPLE_COUNT(v->imm[tuple]) || v->imm_hi[row]) {
    vyre_verify_report(k, row, "takes part %u of a tuple of %u", v->imm[row], VYRE_TUPLE_COUNT(v->imm[tuple]));
    return;
  }
  type = VYRE_TUPLE_TYPE(v->imm[tuple]);
  if (type == 0)
    type = mixed_part(k, tuple, v->imm[row]);
  if (VYRE_TYPE_KIND(type) == VYRE_PATH)
    vyre_verify_report(k, row, "takes part %u of a tuple, which is a location in memory", v->imm[row]);
  else if (type)
    require_result(k, row, type);
}

static void
check_join(verifier *k, uint32_t row)
{
  const vyre_view *v = k->view;
  typed operands[3];
  text_buffer text;
  vyre_kind kind = kind_of(k, v->a[row]);
  vyre_verify_no_payload(k, row);
  if (!require_value(k, row, 'a') || !require(k, row, 'b', kind_of(k, v->b[row]) == kind, "the kind of operand a") ||
      (v->c[row] && !require(k, row, 'c', kind_of(k, v->c[row]) == kind, "the kind of operand a")))
    return;
  get_operands(k, row, operands);
  if (result_joined_lanes(operands) > 4)
    vyre_verify_report(k, row, "joins %u lanes, but a vector has at most 4 (%s)", result_joined_lanes(operands),
                       vyre_verify_type_text(type_of(k, row), &text));
  else
    vyre_verify_result(k, row);
}

static void
check_lane(verifier *k, uint32_t row)
{
  const vyre_view *v = k->view;
  bool literal = (VYRE_ROW_FLAGS(v->op[row]) & VYRE_ROW_IMM) != 0;
  if (!require(k, row, 'a', type_is_value(type_of(k, v->a[row])) && lanes_of(k, v->a[row]) > 1, "a vector"))
    return;
  if (!literal) {
    require_index(k, row, 'b');
    vyre_verify_no_payload(k, row);
  } else if (v->imm_hi[row]) {
    vyre_verify_report(k, row, "has a lane literal of more than 32 bits");
  }
  vyre_verify_result(k, row);
}

static void
check_insert(verifier *k, uint32_t row)
{
  const vyre_view *v = k->view;
  vyre_verify_no_payload(k, row);
  if (!require(k, row, 'a', type_is_value(type_of(k, v->a[row])) && lanes_of(k, v->a[row]) > 1, "a vector"))
    return;
  require_type(k, row, 'b', VYRE_TYPE(kind_of(k, v->a[row]), 1));
  require_index(k, row, 'c');
  vyre_verify_result(k, row);
}

static void
check_shuffle(verifier *k, uint32_t row)
{
  const vyre_view *v = k->view;
  uint32_t lanes = lanes_of(k, row), left, right;
  if (!require_value(k, row, 'a') ||
      (v->b[row] && !require(k, row, 'b', kind_of(k, v->b[row]) == kind_of(k, v->a[row]), "the kind of operand a")))
    return;
  left = lanes_of(k, v->a[row]);
  right = v->b[row] ? lanes_of(k, v->b[row]) : 0;
  if (lanes < 2)
    vyre_verify_report(k, row, "makes a scalar, for which there is 'lane'");
  for (uint32_t i = 0; i < lanes; i++) {
    uint32_t from = VYRE_SHUFFLE_LANE(v->imm[row], i);
    if (from < 4 ? from >= left : from - 4 >= right)
      vyre_verify_report(k, row, "takes lane %u of operand %c, which has %u", from & 3, from < 4 ? 'a' : 'b',
                         from < 4 ? left : right);
  }
  if (((v->imm[row] & 0x8888u) | v->imm_hi[row]) || (v->imm[row] >> (4 * lanes)) != 0)
    vyre_verify_report(k, row, "has the payload 0x%x, 0x%x, with more than its %u lanes", v->imm[row], v->imm_hi[row], lanes);
  require_result(k, row, VYRE_TYPE(kind_of(k, v->a[row]), lanes));
}

static void
check_select(verifier *k, uint32_t row)
{
  const vyre_view *v = k->view;
  uint32_t lanes = lanes_of(k, v->a[row]);
  vyre_verify_no_payload(k, row);
  if (!require_value(k, row, 'b') || !require_type(k, row, 'c', type_of(k, v->b[row])))
    return;
  require(k, row, 'a', kind_of(k, v->a[row]) == VYRE_BOOL && (lanes == 1 || lanes == lanes_of(k, v->b[row])),
          "a bool, or one for each lane");
  vyre_verify_result(k, row);
}

static void
check_composition(verifier *k, uint32_t row)
{
  const vyre_view *v = k->view;
  switch (op_of(k, row)) {
  case VYRE_OP_tuple:
    check_tuple(k, row);
    break;
  case VYRE_OP_part:
    check_part(k, row);
    break;
  case VYRE_OP_join:
    check_join(k, row);
    break;
  case VYRE_OP_splat:
    vyre_verify_no_payload(k, row);
    if (lanes_of(k, row) < 2)
      vyre_verify_report(k, row, "makes a scalar of a scalar");
    if (require(k, row, 'a', type_is_value(type_of(k, v->a[row])) && lanes_of(k, v->a[row]) == 1, "a scalar"))
      require_result(k, row, VYRE_TYPE(kind_of(k, v->a[row]), lanes_of(k, row)));
    break;
  case VYRE_OP_lane:
    check_lane(k, row);
    break;
  case VYRE_OP_insert:
    check_insert(k, row);
    break;
  case VYRE_OP_shuffle:
    check_shuffle(k, row);
    break;
  default:
    check_select(k, row);
    break;
  }
}

/* ---- arithmetic and conversions ------------------------------------------------------------------------------------------ */

static bool
is_number(vyre_kind kind)
{
  return vyre_kind_is_int(kind) || vyre_kind_is_float(kind);
}

static void
check_bitfield(verifier *k, uint32_t row)
{
  const vyre_view *v = k->view;
  vyre_verify_no_payload(k, row);
  if (!require_kind(k, row, 'a', vyre_kind_is_int, "an integer"))
    return;
  if (op_of(k, row) == VYRE_OP_bfi) {
    require_type(k, row, 'b', type_of(k, v->a[row]));
    require(k, row, 'c', type_of(k, v->c[row]) == TUPLE && v->imm[v->c[row]] == VYRE_TUPLE_OF(2, U32),
            "a tuple of two u32, offset and count");
  } else {
    require_type(k, row, 'b', U32);
    require_type(k, row, 'c', U32);
  }
  vyre_verify_result(k, row);
}

static void
check_extended(verifier *k, uint32_t row)
{
  bool is_signed = op_of(k, row) == VYRE_OP_smulx;
  vyre_kind kind = kind_of(k, k->view->a[row]);
  if (!require(k, row, 'a', vyre_kind_is_int(kind) && vyre_kind_is_signed(kind) == is_signed,
               is_signed ? "signed integers" : "unsigned integers"))
    return;
  require_type(k, row, 'b', type_of(k, k->view->a[row]));
  vyre_verify_result(k, row);
}

static void
check_convert(verifier *k, uint32_t row)
{
  const vyre_view *v = k->view;
  vyre_type from = type_of(k, v->a[row]), to = type_of(k, row);
  text_buffer text, other;
  bool right;
  vyre_verify_no_payload(k, row);
  if (!require_kind(k, row, 'a', is_number, "integers or floats"))
    return;
  right = is_number(VYRE_TYPE_KIND(to));
  if (op_of(k, row) == VYRE_OP_convert)
    right = right && VYRE_TYPE_LANES(from) == VYRE_TYPE_LANES(to);
  else
    right = right && VYRE_TYPE_LANES(from) * vyre_kind_bits(VYRE_TYPE_KIND(from)) ==
                         VYRE_TYPE_LANES(to) * vyre_kind_bits(VYRE_TYPE_KIND(to));
  if (!right)
    vyre_verify_report(k, row, "cannot turn %s into %s", vyre_verify_type_text(from, &text), vyre_verify_type_text(to, &other));
}

static void
check_pack(verifier *k, uint32_t row)
{
  const vyre_opcode op = op_of(k, row);
  const uint32_t lanes = op == VYRE_OP_packsnorm4x8 || op == VYRE_OP_packunorm4x8 ? 4 : 2;
  vyre_verify_no_payload(k, row);
  require_type(k, row, 'a', op <= VYRE_OP_packhalf2x16 ? VYRE_TYPE(VYRE_F32, lanes) : U32);
  vyre_verify_result(k, row);
}

static void
check_split_float(verifier *k, uint32_t row)
{
  if (require_kind(k, row, 'a', vyre_kind_is_float, "floats"))
    vyre_verify_result(k, row);
}

static void
check_ldexp(verifier *k, uint32_t row)
{
  vyre_verify_no_payload(k, row);
  if (!require_kind(k, row, 'a', vyre_kind_is_float, "floats"))
    return;
  require_type(k, row, 'b', VYRE_TYPE(VYRE_I32, lanes_of(k, k->view->a[row])));
  vyre_verify_result(k, row);
}

/* ---- vectors and matrices ------------------------------------------------------------------------------------------------ */

/* Returns the columns of an operand and their type. Reports an operand that is not a matrix. */
static bool
require_matrix(verifier *k, uint32_t row, char which, uint32_t *out_columns, vyre_type *out_column)
{
  uint32_t x = operand_of(k, row, which);
  *out_columns = VYRE_TUPLE_COUNT(k->view->imm[x]);
  *out_column = VYRE_TUPLE_TYPE(k->view->imm[x]);
  return require(k, row, which,
                 type_of(k, x) == TUPLE && *out_columns >= 2 && *out_columns <= 4 &&
                     vyre_kind_is_float(VYRE_TYPE_KIND(*out_column)) && VYRE_TYPE_LANES(*out_column) >= 2,
                 "a matrix: a tuple of 2 to 4 columns of floats");
}

static bool
require_float_vector(verifier *k, uint32_t row, char which)
{
  uint32_t x = operand_of(k, row, which);
  return require(k, row, which, vyre_kind_is_float(kind_of(k, x)) && lanes_of(k, x) > 1, "a vector of floats");
}

/* Checks the operands of a matrix op. */
static bool
require_matrices(verifier *k, uint32_t row)
{
  uint32_t columns, others;
  vyre_type column, other;
  if (op_of(k, row) == VYRE_OP_vecmat) {
    if (!require_matrix(k, row, 'b', &columns, &column))
      return false;
    require_type(k, row, 'a', column);
    return true;
  }
  if (!require_matrix(k, row, 'a', &columns, &column))
    return false;
  switch (op_of(k, row)) {
  case VYRE_OP_matvec:
    require_type(k, row, 'b', VYRE_TYPE(VYRE_TYPE_KIND(column), columns));
    return true;
  case VYRE_OP_matmat:
    return require_matrix(k, row, 'b', &others, &other) &&
           require(k, row, 'b', VYRE_TYPE_LANES(other) == columns, "a matrix of as many rows as operand a has columns");
  case VYRE_OP_transpose:
    return true;
  default: /* determinant, inverse */
    return require(k, row, 'a', VYRE_TYPE_LANES(column) == columns, "a square matrix");
  }
}

static void
check_matrix(verifier *k, uint32_t row)
{
  const vyre_opcode op = op_of(k, row);
  if (!require_matrices(k, row))
    return;
  vyre_verify_result(k, row);
  if (op == VYRE_OP_matvec || op == VYRE_OP_vecmat || op == VYRE_OP_determinant)
    vyre_verify_no_payload(k, row);
}

static void
check_vector(verifier *k, uint32_t row)
{
  const vyre_view *v = k->view;
  vyre_opcode op = op_of(k, row);
  vyre_type type = type_of(k, v->a[row]);
  switch (op) {
  case VYRE_OP_outer:
    if (require_float_vector(k, row, 'a') && require_float_vector(k, row, 'b') &&
        require(k, row, 'b', kind_of(k, v->b[row]) == VYRE_TYPE_KIND(type), "the kind of operand a"))
      vyre_verify_result(k, row);
    return;
  case VYRE_OP_cross: /* SAME */
    require(k, row, 'a', VYRE_TYPE_LANES(type) == 3, "vectors of 3 lanes");
    return;
  case VYRE_OP_dot:
    if (!require_float_vector(k, row, 'a') || !require_type(k, row, 'b', type))
      return;
    break;
  case VYRE_OP_norm:
  case VYRE_OP_distance:
    if (!require_kind(k, row, 'a', vyre_kind_is_float, "floats") || (op == VYRE_OP_distance && !require_type(k, row, 'b', type)))
      return;
    break;
  default: /* refract */
    if (!require_kind(k, row, 'a', vyre_kind_is_float, "floats") || !require_type(k, row, 'b', type))
      return;
    require_type(k, row, 'c', VYRE_TYPE(VYRE_TYPE_KIND(type), 1));
    break;
  }
  vyre_verify_result(k, row);
  vyre_verify_no_payload(k, row);
}

/* Checks that the row holds the words of a module, and is directly in its program. */
static void
check_verbatim(verifier *k, uint32_t row)
{
  const vyre_view *v = k->view;
  uint32_t count;
  const uint32_t *words = vyre_row_decorations(k->module, (vyre_row){row}, &count);
  vyre_verify_no_payload(k, row);
  if (!words || count < 7 || words[0] != VYRE_DECORATION_MODULE || words[1] != count - 2 || words[2] != 0x07230203u)
    vyre_verify_report(k, row, "does not hold a SPIR-V module as its one decoration, %u", VYRE_DECORATION_MODULE);
  if (op_of(k, v->parent[row]) != VYRE_OP_program)
    vyre_verify_report(k, row, "is not directly in a program");
}

void
vyre_verify_value(verifier *k, uint32_t row)
{
  vyre_opcode op = op_of(k, row);
  switch (op) {
  case VYRE_OP_gid:
  case VYRE_OP_lid:
  case VYRE_OP_wid:
  case VYRE_OP_groups:
  case VYRE_OP_lindex:
    vyre_verify_no_payload(k, row);
    vyre_verify_result(k, row);
    break;
  case VYRE_OP_uaddc:
  case VYRE_OP_usubb:
  case VYRE_OP_umulx:
  case VYRE_OP_smulx:
    check_extended(k, row);
    break;
  case VYRE_OP_ubfe:
  case VYRE_OP_sbfe:
  case VYRE_OP_bfi:
    check_bitfield(k, row);
    break;
  case VYRE_OP_any:
  case VYRE_OP_all:
    vyre_verify_no_payload(k, row);
    require(k, row, 'a', kind_of(k, k->view->a[row]) == VYRE_BOOL && lanes_of(k, k->view->a[row]) > 1, "a vector of bool");
    vyre_verify_result(k, row);
    break;
  case VYRE_OP_convert:
  case VYRE_OP_bitcast:
    check_convert(k, row);
    break;
  case VYRE_OP_ldexp:
    check_ldexp(k, row);
    break;
  case VYRE_OP_frexp:
  case VYRE_OP_modf:
    check_split_float(k, row);
    break;
  case VYRE_OP_sdot:
  case VYRE_OP_udot:
  case VYRE_OP_sudot:
    vyre_verify_int_dot(k, row);
    break;
  case VYRE_OP_verbatim:
    check_verbatim(k, row);
    break;
  case VYRE_OP_opaque:
  case VYRE_OP_opaque_pure:
  case VYRE_OP_opaque_read:
  case VYRE_OP_opaque_write:
    vyre_verify_opaque(k, row);
    break;
  case VYRE_OP_matvec:
  case VYRE_OP_vecmat:
  case VYRE_OP_matmat:
  case VYRE_OP_transpose:
  case VYRE_OP_determinant:
  case VYRE_OP_inverse:
    check_matrix(k, row);
    break;
  default:
    if (vyre_op_is_invocation(op) || vyre_op_is_subgroup(op))
      vyre_verify_subgroup(k, row);
    else if (op >= VYRE_OP_tuple && op <= VYRE_OP_select)
      check_composition(k, row);
    else if (op >= VYRE_OP_packsnorm4x8 && op <= VYRE_OP_unpackhalf2x16)
      check_pack(k, row);
    else
      check_vector(k, row);
    break;
  }
}
