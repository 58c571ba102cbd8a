/* Types of values, and literals.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "glsl.h"

#include "codegen/common/common.h"

#include "vyre/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool
glsl_is(const glsl *g, uint32_t row, vyre_opcode op)
{
  return VYRE_ROW_OP(g->v->op[row]) == (uint32_t)op;
}

vyre_type
glsl_row_type(const glsl *g, uint32_t row)
{
  return VYRE_ROW_TYPE(g->v->op[row]);
}

uint64_t
glsl_payload(const glsl *g, uint32_t row)
{
  return (uint64_t)g->v->imm_hi[row] << 32 | g->v->imm[row];
}

void
glsl_need_kind(glsl *g, vyre_kind kind)
{
  static const uint8_t needs[VYRE_KIND__COUNT] = {
      [VYRE_I8] = GLSL_INT8 + 1,   [VYRE_U8] = GLSL_INT8 + 1,   [VYRE_I16] = GLSL_INT16 + 1,   [VYRE_U16] = GLSL_INT16 + 1,
      [VYRE_I64] = GLSL_INT64 + 1, [VYRE_U64] = GLSL_INT64 + 1, [VYRE_F16] = GLSL_FLOAT16 + 1, [VYRE_F64] = GLSL_FLOAT64 + 1,
  };
  if (needs[kind])
    glsl_need(g, (glsl_extension)(needs[kind] - 1));
}

/* By kind and lanes. */
static const char *const type_names[VYRE_KIND__COUNT][4] = {
    [VYRE_VOID] = {"void", "void", "void", "void"},
    [VYRE_BOOL] = {"bool", "bvec2", "bvec3", "bvec4"},
    [VYRE_I8] = {"int8_t", "i8vec2", "i8vec3", "i8vec4"},
    [VYRE_U8] = {"uint8_t", "u8vec2", "u8vec3", "u8vec4"},
    [VYRE_I16] = {"int16_t", "i16vec2", "i16vec3", "i16vec4"},
    [VYRE_U16] = {"uint16_t", "u16vec2", "u16vec3", "u16vec4"},
    [VYRE_I32] = {"int", "ivec2", "ivec3", "ivec4"},
    [VYRE_U32] = {"uint", "uvec2", "uvec3", "uvec4"},
    [VYRE_I64] = {"int64_t", "i64vec2", "i64vec3", "i64vec4"},
    [VYRE_U64] = {"uint64_t", "u64vec2", "u64vec3", "u64vec4"},
    [VYRE_F16] = {"float16_t", "f16vec2", "f16vec3", "f16vec4"},
    [VYRE_F32] = {"float", "vec2", "vec3", "vec4"},
    [VYRE_F64] = {"double", "dvec2", "dvec3", "dvec4"},
};

const char *
glsl_value_type(glsl *g, vyre_type type)
{
  const vyre_kind kind = VYRE_TYPE_KIND(type);
  if (kind >= VYRE_TUPLE) {
    glsl_fail(g, g->program, "%s\nFix: write SPIR-V",
              kind == VYRE_OPAQUE ? "images, pointers and the like cannot be written as GLSL" : "a type without values");
    return "void";
  }
  glsl_need_kind(g, kind);
  return type_names[kind][VYRE_TYPE_LANES(type) - 1];
}

const char *
glsl_matrix_type(glsl *g, vyre_type column, uint32_t columns, char buffer[16])
{
  const vyre_kind kind = VYRE_TYPE_KIND(column);
  glsl_need_kind(g, kind);
  snprintf(buffer, 16, "%smat%ux%u", kind == VYRE_F16 ? "f16" : kind == VYRE_F64 ? "d" : "", columns & 7u, VYRE_TYPE_LANES(column));
  return buffer;
}

static void
float_bits(glsl *g, vyre_kind kind, uint64_t bits)
{
  if (kind == VYRE_F16) {
    glsl_need(g, GLSL_INT16);
    glsl_put(g, "uint16BitsToFloat16(uint16_t(0x%04" PRIx64 "u))", bits);
  } else if (kind == VYRE_F32) {
    glsl_put(g, "uintBitsToFloat(0x%08" PRIx64 "u)", bits);
  } else {
    glsl_put(g, "packDouble2x32(uvec2(0x%08xu, 0x%08xu))", (uint32_t)bits, (uint32_t)(bits >> 32));
  }
}

/* Formats the decimal that compilers read as this double, in every locale. */
static void
put_exact(char text[48], double value)
{
  uint64_t bits;
  memcpy(&bits, &value, sizeof(bits));
  vyre_text_literal(VYRE_TYPE(VYRE_F64, 1), bits, text);
}

static void
float_literal(glsl *g, vyre_kind kind, uint64_t bits)
{
  static const uint64_t exponents[] = {[VYRE_F16] = 0x7c00u, [VYRE_F32] = 0x7f800000u, [VYRE_F64] = UINT64_C(0x7ff) << 52};
  char text[48];
  glsl_need_kind(g, kind);
  if ((bits & exponents[kind]) == exponents[kind]) {
    float_bits(g, kind, bits);
    return;
  }
  vyre_text_literal(VYRE_TYPE(kind, 1), bits, text);
  /* glslang truncates decimals that are not halves, and the shortest decimal may be less than the half */
  if (kind == VYRE_F16)
    put_exact(text, code_half_value((uint32_t)bits));
  if (g->folds && kind == VYRE_F32) {
    float value;
    memcpy(&value, &(uint32_t){(uint32_t)bits}, sizeof(value));
    put_exact(text, (double)value);
  }
  glsl_put_text(g, text, strcspn(text, "f"));
  glsl_put(g, "%s", kind == VYRE_F16 ? "hf" : kind == VYRE_F64 ? "lf" : "");
}

static void
int_literal(glsl *g, vyre_kind kind, uint64_t bits)
{
  const uint32_t width = vyre_kind_bits(kind);
  const uint64_t minimum = UINT64_C(1) << (width - 1);
  const bool is_signed = vyre_kind_is_signed(kind), negative = is_signed && (bits & minimum) != 0;
  const uint64_t mask = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
  const uint64_t magnitude = negative ? (0 - bits) & mask : bits & mask;
  const char *suffix = width == 64 ? is_signed ? "l" : "ul" : is_signed ? "" : "u";
  glsl_need_kind(g, kind);
  if (negative && (bits & mask) == minimum && width >= 32) /* its magnitude is not a literal of the type */
    glsl_put(g, "%s(0x%" PRIx64 "%s)", type_names[kind][0], minimum, width == 64 ? "ul" : "u");
  else if (width < 32)
    glsl_put(g, "%s(%s%" PRIu64 "%s)", type_names[kind][0], negative ? "-" : "", magnitude, suffix);
  else
    glsl_put(g, "%s%" PRIu64 "%s", negative ? "-" : "", magnitude, suffix);
}

void
glsl_literal(glsl *g, vyre_type type, uint64_t bits)
{
  const vyre_kind kind = VYRE_TYPE_KIND(type);
  const bool vector = VYRE_TYPE_LANES(type) > 1;
  if (vector)
    glsl_put(g, "%s(", glsl_value_type(g, type));
  if (kind == VYRE_BOOL)
    glsl_put(g, "%s", bits & 1 ? "true" : "false");
  else if (vyre_kind_is_float(kind))
    float_literal(g, kind, bits);
  else if (vyre_kind_is_int(kind))
    int_literal(g, kind, bits);
  else
    glsl_fail(g, g->program, "internal error: a literal of a type without values\nFix: report this as a bug of vyre");
  if (vector)
    glsl_put(g, ")");
}
