/* Types of values, and literals.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#include "vyre/text.h"

#include <inttypes.h>

static const struct {
  const char *type, *suffix;
} kinds[VYRE_KIND__COUNT] = {
    [VYRE_VOID] = {"void", "void"},     [VYRE_BOOL] = {"bool", "bool"},   [VYRE_I8] = {"uint8_t", "i8"},
    [VYRE_U8] = {"uint8_t", "u8"},      [VYRE_I16] = {"uint16_t", "i16"}, [VYRE_U16] = {"uint16_t", "u16"},
    [VYRE_I32] = {"uint32_t", "i32"},   [VYRE_U32] = {"uint32_t", "u32"}, [VYRE_I64] = {"uint64_t", "i64"},
    [VYRE_U64] = {"uint64_t", "u64"},   [VYRE_F16] = {"uint16_t", "f16"}, [VYRE_F32] = {"float", "f32"},
    [VYRE_F64] = {"double", "f64"},     [VYRE_TUPLE] = {"void", "tuple"}, [VYRE_PATH] = {"void", "path"},
    [VYRE_OPAQUE] = {"void", "opaque"},
};

const char *
cgen_type_name(vyre_kind kind)
{
  return kinds[kind].type;
}

const char *
cgen_suffix(vyre_kind kind)
{
  return kinds[kind].suffix;
}

vyre_kind
cgen_plain(vyre_kind kind)
{
  return vyre_kind_is_int(kind) ? (vyre_kind)((uint32_t)kind | 1u) : kind;
}

/* Writes the shortest decimal that compilers read as this number.  Infinities and NaNs are written as their bits. */
static void
put_float(cgen *g, vyre_kind kind, uint64_t bits)
{
  const uint64_t exponents = kind == VYRE_F32 ? UINT64_C(0x7f800000) : UINT64_C(0x7ff) << 52;
  char text[48];
  if ((bits & exponents) == exponents) {
    cgen_call(g, "of_bits", kind);
    if (kind == VYRE_F32)
      cgen_put(g, "0x%08" PRIx64 "u)", bits);
    else
      cgen_put(g, "UINT64_C(0x%016" PRIx64 "))", bits);
    return;
  }
  vyre_text_literal(VYRE_TYPE(kind, 1), bits, text);
  text[strcspn(text, "f")] = '\0';
  cgen_put(g, "%s%s%s", text, strpbrk(text, ".e") ? "" : ".0", kind == VYRE_F32 ? "f" : "");
}

void
cgen_float_literal(cgen *g, vyre_kind kind, uint64_t bits)
{
  if (kind == VYRE_F16 && (bits & 0x7c00u) != 0x7c00u) {
    const double value = code_half_value((uint32_t)bits);
    memcpy(&bits, &value, sizeof(bits));
    put_float(g, VYRE_F64, bits);
  } else if (kind == VYRE_F16) {
    cgen_call(g, "value", kind);
    cgen_put(g, "0x%04" PRIx64 "u)", bits);
  } else {
    put_float(g, kind, bits);
  }
}

void
cgen_literal(cgen *g, vyre_kind kind, uint64_t bits)
{
  const uint32_t width = vyre_kind_bits(kind);
  bits &= width == 64 ? UINT64_MAX : (UINT64_C(1) << (width ? width : 63)) - 1;
  const bool small = bits < 100000;
  if (kind == VYRE_BOOL)
    cgen_put(g, bits ? "true" : "false");
  else if (kind == VYRE_F32 || kind == VYRE_F64)
    put_float(g, kind, bits);
  else if (kind == VYRE_F16)
    cgen_put(g, "0x%04" PRIx64 "u", bits);
  else if (width == 64)
    cgen_put(g, small ? "UINT64_C(%" PRIu64 ")" : "UINT64_C(0x%" PRIx64 ")", bits);
  else if (vyre_kind_is_int(kind))
    cgen_put(g, small ? "%" PRIu64 "u" : "0x%" PRIx64 "u", bits);
  else
    cgen_fail(g, g->program, "internal error: a literal of a type without values\nFix: report this as a bug of vyre");
}
