/* Helper functions that main calls: for an op without a GLSL function, without one for all widths, or with undefined cases
 * that a strict program defines.  Each is written once for each type in use: for scalars from the text below, for vectors lane
 * by lane.
 *
 * In the texts $T is the scalar type, $U and $S the unsigned and signed types of its width, $W its bits, and $0 zero.  $L and
 * $H are its least and greatest integer.  $G converts a float to its bits, and $F back.  The parameters are a, b, c, d.
 * `@name` calls another of these functions with the same type, `@U:name` with the unsigned type.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "glsl.h"

#include <stdio.h>
#include <string.h>

typedef struct function_body {
  const char *name;
  const char *parameters; /* T the type; u a scalar uint, even if T is a vector */
  const char *text;
  const char *text64; /* for integers of 64 bits; NULL if the same */
  const char *text32; /* for integers of 32 bits; NULL if the same */
} function_body;

static const function_body bodies[] = {
    {"udiv", "TT", "return b == $0 ? ~$0 : a / b;", NULL, NULL},
    {"umod", "TT", "return b == $0 ? $0 : a % b;", NULL, NULL},
    {"sdiv", "TT", "return b == $0 ? $T(-1) : b == $T(-1) ? -a : a / b;", NULL, NULL},
    {"srem", "TT", "return b == $0 || b == $T(-1) ? $0 : a - a / b * b;", NULL, NULL},
    {"smod", "TT", "$T r = @srem(a, b);\n  return r != $0 && (r ^ b) < $0 ? r + b : r;", NULL, NULL},
    {"frem", "TT", "return a - b * trunc(a / b);", NULL, NULL},
    {"fmod", "TT", "return mod(a, b);", NULL, NULL},
    {"sabs", "T", "return a < $0 ? -a : a;", NULL, NULL},
    {"ssign", "T", "return a < $0 ? $T(-1) : $T(a > $0);", NULL, NULL},
    {"least", "TT", "return a < b ? a : b;", NULL, NULL},
    {"greatest", "TT", "return a < b ? b : a;", NULL, NULL},
    {"limit", "TTT", "return @least(@greatest(a, b), c);", NULL, NULL},
    {"nclamp", "TTT", "return @nmin(@nmax(a, b), c);", NULL, NULL},
    /* min(-0, +0) is -0 and max(-0, +0) is +0: the `or` and `and` of their bits.  Zeros are found by their bits, because
     * devices may compare denormals as zeros. */
    {"nmin", "TT", "return isnan(a) ? b : isnan(b) ? a : ($G(a) | $G(b)) << 1 == 0 ? $F($G(a) | $G(b)) : min(a, b);", NULL, NULL},
    {"nmax", "TT", "return isnan(a) ? b : isnan(b) ? a : ($G(a) | $G(b)) << 1 == 0 ? $F($G(a) & $G(b)) : max(a, b);", NULL, NULL},
    {"umulhi", "TT", "return $T(uint(a) * uint(b) >> $W);",
     "uint64_t al = a & 0xfffffffful, ah = a >> 32, bl = b & 0xfffffffful, bh = b >> 32;\n"
     "  uint64_t m = ah * bl + (al * bl >> 32), n = al * bh + (m & 0xfffffffful);\n"
     "  return ah * bh + (m >> 32) + (n >> 32);",
     "uint high, low;\n  umulExtended(a, b, high, low);\n  return high;"},
    {"smulhi", "TT", "return $T(int(a) * int(b) >> $W);",
     "return int64_t(@U:umulhi(uint64_t(a), uint64_t(b))) - (a < $0 ? b : $0) - (b < $0 ? a : $0);",
     "int high, low;\n  imulExtended(a, b, high, low);\n  return high;"},
    {"uaddsat", "TT", "$T s = a + b;\n  return s < a ? $H : s;", NULL, NULL},
    {"saddsat", "TT", "$T s = a + b;\n  return ((a ^ s) & (b ^ s)) < $0 ? a < $0 ? $L : $H : s;", NULL, NULL},
    {"usubsat", "TT", "return a < b ? $0 : a - b;", NULL, NULL},
    {"ssubsat", "TT", "$T s = a - b;\n  return ((a ^ b) & (a ^ s)) < $0 ? a < $0 ? $L : $H : s;", NULL, NULL},
    {"umulsat", "TT", "return @umulhi(a, b) != $0 ? $H : a * b;", NULL, NULL},
    {"smulsat", "TT", "$T p = a * b;\n  return @smulhi(a, b) == (p < $0 ? $T(-1) : $0) ? p : (a ^ b) < $0 ? $L : $H;", NULL, NULL},
    {"absdiff", "TT", "return a < b ? b - a : a - b;", NULL, NULL},
    {"rotl", "TT", "uint n = uint(b) & ($W - 1);\n  return n == 0u ? a : $T(($U(a) << n) | ($U(a) >> ($W - n)));", NULL, NULL},
    {"rotr", "TT", "uint n = uint(b) & ($W - 1);\n  return n == 0u ? a : $T(($U(a) >> n) | ($U(a) << ($W - n)));", NULL, NULL},
    {"bitcount", "T", "return $T(bitCount(uint($U(a))));",
     "uvec2 w = unpackUint2x32(uint64_t(a));\n  return $T(bitCount(w.x) + bitCount(w.y));", "return $T(bitCount(a));"},
    {"bitrev", "T", "return $T(bitfieldReverse(uint($U(a))) >> (32 - $W));",
     "uvec2 w = bitfieldReverse(unpackUint2x32(uint64_t(a)));\n  return $T(packUint2x32(w.yx));", "return bitfieldReverse(a);"},
    {"findlsb", "T", "return $T(findLSB(uint($U(a))));",
     "uvec2 w = unpackUint2x32(uint64_t(a));\n  return $T(w.x != 0u ? findLSB(w.x) : w.y != 0u ? 32 + findLSB(w.y) : -1);",
     "return $T(findLSB(a));"},
    {"findumsb", "T", "return $T(findMSB(uint($U(a))));",
     "uvec2 w = unpackUint2x32(uint64_t(a));\n  return $T(w.y != 0u ? 32 + findMSB(w.y) : findMSB(w.x));",
     "return $T(findMSB(uint(a)));"},
    {"findsmsb", "T", "return @findumsb($S(a) < $S(0) ? ~a : a);", NULL, NULL},
    {"ubfe", "Tuu",
     "if (b >= $Wu || c == 0u)\n    return $0;\n  uint n = min(c, $Wu - b);\n  return $T($U($U(a) << ($Wu - b - n)) >> ($Wu - n));",
     NULL, NULL},
    {"sbfe", "Tuu",
     "if (b >= $Wu || c == 0u)\n    return $0;\n  uint n = min(c, $Wu - b);\n  return $T($S($U($U(a) << ($Wu - b - n))) >> ($Wu - "
     "n));",
     NULL, NULL},
    {"bfi", "TTuu",
     "if (c >= $Wu || d == 0u)\n    return a;\n  uint n = min(d, $Wu - c);\n  $U mask = $U($U(~$U(0)) >> ($Wu - n)) << c;\n"
     "  return $T(($U(a) & ~mask) | (($U(b) << c) & mask));",
     NULL, NULL},
    /* GLSL's smoothstep is undefined for a >= b */
    {"smoothstep", "TTT", "$T t = (c - a) / (b - a);\n  t = t > $0 ? min(t, $T(1)) : $0;\n  return t * t * ($T(3) - $T(2) * t);",
     NULL, NULL},
    /* on bits, because some drivers remove unpackHalf2x16(packHalf2x16(a)) */
    {"quantize16", "T",
     "uint u = floatBitsToUint(a), m = u & 0x7fffffffu;\n  if (m > 0x7f800000u)\n    return a;\n"
     "  m = m < 0x38800000u ? 0u : (m + 0xfffu + (m >> 13 & 1u)) & 0xffffe000u;\n"
     "  return uintBitsToFloat((u & 0x80000000u) | (m < 0x47800000u ? m : 0x7f800000u));",
     NULL, NULL},
};

static const function_body *
find_body(const char *name)
{
  for (size_t i = 0; i < sizeof(bodies) / sizeof(*bodies); i++)
    if (strcmp(bodies[i].name, name) == 0)
      return &bodies[i];
  return NULL;
}

static vyre_type
with_sign(vyre_type type, bool is_signed)
{
  const vyre_kind kind = VYRE_TYPE_KIND(type);
  return vyre_kind_is_int(kind) ? VYRE_TYPE(((unsigned)kind & ~1u) | !is_signed, VYRE_TYPE_LANES(type)) : type;
}

/* Writes "vyre_name". */
static void
put_name(glsl *g, const char *name)
{
  glsl_put(g, "vyre_%s", name);
}

static void
integer_limit(glsl *g, vyre_type type, bool greatest)
{
  const uint32_t bits = vyre_kind_bits(VYRE_TYPE_KIND(type));
  const bool is_signed = vyre_kind_is_signed(VYRE_TYPE_KIND(type));
  const uint64_t all = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1, sign = UINT64_C(1) << (bits - 1);
  glsl_literal(g, VYRE_TYPE(VYRE_TYPE_KIND(type), 1), !is_signed ? greatest ? all : 0 : greatest ? sign - 1 : sign);
}

/* Returns the function that reinterprets a float as bits, or bits as a float. */
static const char *
bits_function(vyre_kind kind, bool back)
{
  static const char *const names[3][2] = {{"float16BitsToUint16", "uint16BitsToFloat16"},
                                          {"floatBitsToUint", "uintBitsToFloat"},
                                          {"doubleBitsToUint64", "uint64BitsToDouble"}};
  return names[kind == VYRE_F16 ? 0 : kind == VYRE_F64 ? 2 : 1][back];
}

/* Writes the scalar text with its parameters. */
static void
expand(glsl *g, const char *text, vyre_type type)
{
  const vyre_kind kind = VYRE_TYPE_KIND(type);
  for (const char *p = text; *p; p++) {
    if (*p == '@') { /* the called functions are written already */
      glsl_put_text(g, "vyre_", 5);
      p += p[1] == 'U' ? 2 : 0;
      continue;
    }
    if (*p != '$') {
      glsl_put_text(g, p, 1);
      continue;
    }
    switch (*++p) {
    case 'U':
    case 'S':
      glsl_put(g, "%s", glsl_value_type(g, with_sign(type, *p == 'S')));
      break;
    case 'W':
      glsl_put(g, "%u", vyre_kind_bits(kind));
      break;
    case '0':
      glsl_literal(g, type, 0);
      break;
    case 'L':
    case 'H':
      integer_limit(g, type, *p == 'H');
      break;
    case 'F':
    case 'G':
      glsl_need(g, kind == VYRE_F16 ? GLSL_INT16 : kind == VYRE_F64 ? GLSL_INT64 : GLSL_EXTENSION__COUNT);
      glsl_put(g, "%s", bits_function(kind, *p == 'F'));
      break;
    default:
      glsl_put(g, "%s", glsl_value_type(g, type));
      break;
    }
  }
}

static void
signature(glsl *g, const char *name, const char *parameters, vyre_type type)
{
  glsl_put(g, "%s ", glsl_value_type(g, type));
  put_name(g, name);
  for (uint32_t k = 0; parameters[k]; k++)
    glsl_put(g, "%s%s %c", k ? ", " : "(", parameters[k] == 'u' ? "uint" : glsl_value_type(g, type), (char)('a' + k));
  glsl_put(g, ")\n{\n");
}

/* Writes a function on vectors: return uvec2(f(a.x, b.x), f(a.y, b.y)); */
static void
write_vector(glsl *g, const char *name, const char *parameters, vyre_type result, vyre_type type)
{
  glsl_put(g, "  return %s(", glsl_value_type(g, result));
  for (uint32_t lane = 0; lane < VYRE_TYPE_LANES(type); lane++) {
    glsl_put(g, "%s", lane ? ", " : "");
    put_name(g, name);
    for (uint32_t k = 0; parameters[k]; k++) {
      glsl_put(g, "%s%c", k ? ", " : "(", (char)('a' + k));
      if (parameters[k] != 'u')
        glsl_put(g, ".%c", "xyzw"[lane]);
    }
    glsl_put(g, ")");
  }
  glsl_put(g, ");\n}\n\n");
}

static void need_function(glsl *g, const char *name, vyre_type type);

/* Writes the functions that a text calls, before it. */
static void
need_called(glsl *g, const char *text, vyre_type type)
{
  for (const char *at = strchr(text, '@'); at; at = strchr(at + 1, '@')) {
    char name[16];
    const bool other = at[1] == 'U';
    const char *from = at + 1 + (other ? 2 : 0);
    const size_t length = strcspn(from, "(");
    snprintf(name, sizeof(name), "%.*s", (int)length, from);
    need_function(g, name, other ? with_sign(type, false) : type);
  }
}

static void
need_function(glsl *g, const char *name, vyre_type type)
{
  const function_body *body = find_body(name);
  const vyre_type scalar = VYRE_TYPE(VYRE_TYPE_KIND(type), 1);
  const uint32_t bits = vyre_kind_is_int(VYRE_TYPE_KIND(type)) ? vyre_kind_bits(VYRE_TYPE_KIND(type)) : 0;
  char word[48];
  snprintf(word, sizeof(word), "vyre_%s(%s)", name, glsl_value_type(g, type));
  if (!body || !glsl_reserve_word(g, word))
    return;
  const char *text = bits == 64 && body->text64 ? body->text64 : bits == 32 && body->text32 ? body->text32 : body->text;
  if (type != scalar)
    need_function(g, name, scalar);
  else
    need_called(g, text, type);
  signature(g, name, body->parameters, type);
  if (type != scalar) {
    write_vector(g, name, body->parameters, type, type);
    return;
  }
  glsl_put(g, "  ");
  expand(g, text, type);
  glsl_put(g, "\n}\n\n");
}

void
glsl_call(glsl *g, const char *function, vyre_type type)
{
  vyre_bytes *out = g->out;
  g->out = &g->functions;
  need_function(g, function, type);
  g->out = out;
  put_name(g, function);
  glsl_put(g, "(");
}

/* ---- float to integer: saturates, NaN becomes 0 ---- */

static void
convert_name(char name[32], vyre_type to)
{
  static const char *const kinds[VYRE_KIND__COUNT] = {
      [VYRE_I8] = "i8",   [VYRE_U8] = "u8",   [VYRE_I16] = "i16", [VYRE_U16] = "u16",
      [VYRE_I32] = "i32", [VYRE_U32] = "u32", [VYRE_I64] = "i64", [VYRE_U64] = "u64",
  };
  snprintf(name, 32, "to_%s", kinds[VYRE_TYPE_KIND(to)]);
}

static void
need_convert(glsl *g, vyre_type from, vyre_type to)
{
  const uint32_t bits = vyre_kind_bits(VYRE_TYPE_KIND(to)), lanes = VYRE_TYPE_LANES(to);
  const bool is_signed = vyre_kind_is_signed(VYRE_TYPE_KIND(to)), is_double = VYRE_TYPE_KIND(from) == VYRE_F64;
  char name[32], word[64];
  convert_name(name, to);
  snprintf(word, sizeof(word), "vyre_%s(%s)", name, glsl_value_type(g, from));
  if (!glsl_reserve_word(g, word))
    return;
  if (lanes > 1)
    need_convert(g, VYRE_TYPE(VYRE_TYPE_KIND(from), 1), VYRE_TYPE(VYRE_TYPE_KIND(to), 1));
  glsl_put(g, "%s ", glsl_value_type(g, to));
  put_name(g, name);
  glsl_put(g, "(%s a)\n{\n", glsl_value_type(g, from));
  if (lanes > 1) {
    write_vector(g, name, "T", to, from);
    return;
  }
  const double high = (double)(UINT64_C(1) << (bits - 1)) * (is_signed ? 1 : 2);
  glsl_put(g, "  %s x = %s(a);\n", is_double ? "double" : "float", is_double ? "double" : "float");
  glsl_put(g, "  return isnan(x) ? %s(0) : x < %.1f%s ? ", glsl_value_type(g, to), is_signed ? -high : 0.0, is_double ? "lf" : "");
  integer_limit(g, to, false);
  glsl_put(g, " : x >= %.1f%s ? ", high, is_double ? "lf" : "");
  integer_limit(g, to, true);
  glsl_put(g, " : %s(x);\n}\n\n", glsl_value_type(g, to));
}

void
glsl_call_convert(glsl *g, vyre_type from, vyre_type to)
{
  vyre_bytes *out = g->out;
  char name[32];
  g->out = &g->functions;
  need_convert(g, from, to);
  g->out = out;
  convert_name(name, to);
  put_name(g, name);
  glsl_put(g, "(");
}
