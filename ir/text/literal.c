/* Converts scalar types and literals to and from text without loss.
 *
 * Decimal floats are converted without rounding errors: short numbers by one exact operation, all others by the C library in the
 * "C" locale. A float is printed as the shortest decimal that converts back to the same bits. An f16 is converted from an f64. The
 * result can differ from the correctly rounded one by one step, but only for decimals with more than 17 digits that lie within
 * 2^-53 of the midpoint between two f16.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "literal.h"

#include "vyre/environment.h"
#include "vyre/text.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[VYRE_KIND__COUNT] = {
    [VYRE_VOID] = "void", [VYRE_BOOL] = "bool",   [VYRE_I8] = "i8",     [VYRE_U8] = "u8",
    [VYRE_I16] = "i16",   [VYRE_U16] = "u16",     [VYRE_I32] = "i32",   [VYRE_U32] = "u32",
    [VYRE_I64] = "i64",   [VYRE_U64] = "u64",     [VYRE_F16] = "f16",   [VYRE_F32] = "f32",
    [VYRE_F64] = "f64",   [VYRE_TUPLE] = "tuple", [VYRE_PATH] = "path", [VYRE_OPAQUE] = "opaque",
};

const char *
text_range(vyre_kind kind)
{
  static const char *const ranges[VYRE_KIND__COUNT] = {
      [VYRE_I8] = "-128 to 127",
      [VYRE_U8] = "0 to 255",
      [VYRE_I16] = "-32768 to 32767",
      [VYRE_U16] = "0 to 65535",
      [VYRE_I32] = "-2147483648 to 2147483647",
      [VYRE_U32] = "0 to 4294967295",
      [VYRE_I64] = "-9223372036854775808 to 9223372036854775807",
      [VYRE_U64] = "0 to 18446744073709551615",
      [VYRE_F16] = "-65504 to 65504",
      [VYRE_F32] = "-3.4028235e38 to 3.4028235e38",
      [VYRE_F64] = "-1.7976931348623157e308 to 1.7976931348623157e308",
  };
  return ranges[kind] ? ranges[kind] : "nothing";
}

static bool
is_digit(char byte)
{
  return byte >= '0' && byte <= '9';
}

static bool
is_hex(char byte)
{
  return is_digit(byte) || ((byte | 32) >= 'a' && (byte | 32) <= 'f');
}

vyre_type
text_read_type(const char *text, size_t length)
{
  uint32_t lanes = 1;
  if (length > 2 && text[length - 2] == 'x') {
    char digit = text[length - 1];
    if (digit < '2' || digit > '4')
      return 0;
    lanes = (uint32_t)(digit - '0');
    length -= 2;
  }
  for (uint32_t kind = VYRE_BOOL; kind < VYRE_KIND__COUNT && length; kind++)
    if (vyre_kind_is_scalar((vyre_kind)kind) && kind_names[kind][0] == text[0] && strncmp(kind_names[kind], text, length) == 0 &&
        kind_names[kind][length] == '\0')
      return VYRE_TYPE(kind, lanes);
  return 0;
}

bool
text_read_integer(const char *text, uint32_t length, uint64_t *out)
{
  uint64_t value = 0;
  bool hex = length > 2 && text[0] == '0' && (text[1] | 32) == 'x';
  *out = 0;
  for (uint32_t i = hex ? 2 : 0; i < length; i++) {
    if (hex ? !is_hex(text[i]) : !is_digit(text[i]))
      return false;
    uint64_t digit = is_digit(text[i]) ? (uint64_t)(text[i] - '0') : (uint64_t)((text[i] | 32) - 'a') + 10u;
    uint64_t base = hex ? 16 : 10;
    if (value > (UINT64_MAX - digit) / base)
      return false;
    value = value * base + digit;
  }
  *out = value;
  return length > 0;
}

/* ---- half floats ---- */

static double
half_value(uint32_t bits)
{
  uint32_t exponent = bits >> 10 & 31u;
  double fraction = (double)(bits & 0x3ffu);
  double value = exponent ? ldexp(1024.0 + fraction, (int)exponent - 25) : ldexp(fraction, -24);
  return bits & 0x8000u ? -value : value;
}

/* Rounds to the nearest half, ties to even. Returns infinity if the value is too large. */
static uint32_t
half_bits(double value)
{
  uint32_t sign = signbit(value) ? 0x8000u : 0;
  value = fabs(value);
  if (value >= 65520.0)
    return sign | 0x7c00u;
  if (value == 0)
    return sign;
  int exponent;
  frexp(value, &exponent);
  if (exponent < -13)
    exponent = -13;
  double scaled = nearbyint(ldexp(value, 11 - exponent)); /* at most 2048, exact */
  uint32_t steps = (uint32_t)scaled;
  if (exponent == -13)
    return sign | steps; /* a denormal, or the smallest normal number */
  return sign | (((uint32_t)(exponent + 13) << 10) + steps);
}

/* ---- reading floats ---- */

/* These powers are exact. */
static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
#define MOST_POWER 22

/* Converts `value`, a number rounded to f64, to the f32 nearest to the number. Returns false if double rounding could change the
 * result: `value` lies halfway between two f32 or near the ends of their range. */
static bool
round_to_f32(double value, uint32_t *out)
{
  uint64_t bits;
  memcpy(&bits, &value, sizeof(bits));
  if (value != 0 && (value < 0x1p-126 || value > 0x1p127 || (bits & 0x1fffffffu) == 0x10000000u))
    return false;
  float single = (float)value;
  memcpy(out, &single, sizeof(*out));
  return true;
}

/* Converts a number with few digits by one division, which rounds once because both operands are exact. Returns false for other
 * numbers. */
static bool
read_short_float(const char *text, uint32_t length, vyre_kind kind, uint64_t *out)
{
  uint64_t digits = 0;
  uint32_t places = 0;
  bool point = false;
  uint32_t i = text[0] == '-';
  if (length > 18)
    return false;
  for (; i < length; i++) {
    if (text[i] == '.' && !point) {
      point = true;
    } else if (is_digit(text[i])) {
      digits = digits * 10 + (uint64_t)(text[i] - '0');
      places += point;
    } else {
      return false;
    }
  }
  if (digits > (uint64_t)1 << 53)
    return false;
  double value = (double)digits / powers[places];
  if (kind == VYRE_F32) {
    uint32_t bits;
    if (!round_to_f32(value, &bits))
      return false;
    *out = bits | (text[0] == '-' ? 0x80000000u : 0);
    return true;
  }
  value = text[0] == '-' ? -value : value;
  memcpy(out, &value, sizeof(value));
  return kind == VYRE_F64;
}

/* Converts a number by the C library. Sets *out_range to whether the result is finite, and *out_good to whether the whole text was
 * converted. */
static uint64_t
read_long_float(const char *text, uint32_t length, vyre_kind kind, bool *out_range, bool *out_good)
{
  char copy[TEXT_MAX_NUMBER + 1];
  memcpy(copy, text, length);
  copy[length] = '\0';
  locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  char *end = copy;
  uint64_t bits = 0;
  if (kind == VYRE_F32) {
    float value = strtof_l(copy, &end, c_locale);
    uint32_t word;
    memcpy(&word, &value, sizeof(word));
    bits = word;
    *out_range = isfinite(value);
  } else {
    double value = strtod_l(copy, &end, c_locale);
    memcpy(&bits, &value, sizeof(bits));
    *out_range = isfinite(value);
    if (kind == VYRE_F16) {
      bits = half_bits(value);
      *out_range = (bits & 0x7c00u) != 0x7c00u;
    }
  }
  if (c_locale)
    freelocale(c_locale);
  *out_good = end == copy + length;
  return bits;
}

/* Returns whether the text is digits [. digits] [e digits] or 0x digits [. digits] p digits. The C library accepts more forms. */
static bool
is_float_number(const char *text, uint32_t length)
{
  uint32_t i = text[0] == '-';
  bool hex = i + 2 < length && text[i] == '0' && (text[i + 1] | 32) == 'x';
  i += hex ? 2 : 0;
  uint32_t before = i;
  while (i < length && (hex ? is_hex(text[i]) : is_digit(text[i])))
    i++;
  if (i == before)
    return false;
  if (i < length && text[i] == '.') {
    uint32_t after = ++i;
    while (i < length && (hex ? is_hex(text[i]) : is_digit(text[i])))
      i++;
    if (i == after)
      return false;
  }
  if (i == length)
    return !hex;
  if ((text[i] | 32) != (hex ? 'p' : 'e'))
    return false;
  i++;
  i += i < length && (text[i] == '-' || text[i] == '+');
  uint32_t exponent = i;
  while (i < length && is_digit(text[i]))
    i++;
  return i == length && i > exponent;
}

static text_literal_problem
read_float(const char *text, uint32_t length, vyre_kind kind, uint64_t *out)
{
  if (length > TEXT_MAX_NUMBER)
    return LITERAL_LONG;
  if (read_short_float(text, length, kind, out) && is_float_number(text, length))
    return LITERAL_GOOD;
  if (!is_float_number(text, length))
    return LITERAL_BAD_NUMBER;
  bool in_range;
  bool good;
  *out = read_long_float(text, length, kind, &in_range, &good);
  return !good ? LITERAL_BAD_NUMBER : in_range ? LITERAL_GOOD : LITERAL_RANGE;
}

static text_literal_problem
read_int(const char *text, uint32_t length, vyre_kind kind, uint64_t *out)
{
  bool negative = text[0] == '-';
  text += negative;
  length -= negative;
  uint64_t value;
  uint32_t bits = vyre_kind_bits(kind);
  uint64_t mask = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
  bool hex = length > 2 && (text[1] | 32) == 'x';
  if (!text_read_integer(text, length, &value)) {
    for (uint32_t i = 0; i < length; i++)
      if (hex ? i > 1 && !is_hex(text[i]) : !is_digit(text[i]))
        return text[i] == '.' || (text[i] | 32) == (hex ? 'p' : 'e') ? LITERAL_FRACTION : LITERAL_BAD_NUMBER;
    return length ? LITERAL_RANGE : LITERAL_BAD_NUMBER;
  }
  uint64_t most = mask;
  if (vyre_kind_is_signed(kind) && (negative || !hex))
    most = (mask >> 1) + negative;
  else if (negative)
    most = 0;
  if (value > most)
    return LITERAL_RANGE;
  *out = (negative ? 0 - value : value) & mask;
  return LITERAL_GOOD;
}

/* Returns the offset of the type, after digits, fraction and exponent. */
static uint32_t
find_type(const char *text, uint32_t length)
{
  uint32_t i = text[0] == '-';
  bool hex = i + 1 < length && text[i] == '0' && (text[i + 1] | 32) == 'x';
  if (hex) {
    for (i += 2; i < length && (is_hex(text[i]) || text[i] == '.'); i++)
      ;
  } else {
    for (; i < length && (is_digit(text[i]) || text[i] == '.'); i++)
      ;
  }
  if (i < length && (text[i] | 32) == (hex ? 'p' : 'e')) {
    i++;
    i += i < length && (text[i] == '-' || text[i] == '+');
    while (i < length && is_digit(text[i]))
      i++;
  }
  return i;
}

static uint64_t
infinity_bits(vyre_kind kind)
{
  return kind == VYRE_F16 ? 0x7c00u : kind == VYRE_F32 ? 0x7f800000u : 0x7ff0000000000000u;
}

static text_literal_problem
read_nan(const char *text, uint32_t length, text_literal *out)
{
  const char *end = memchr(text, ')', length);
  if (!end || end - text < 7 || memcmp(text, "nan(0x", 6) != 0)
    return LITERAL_BAD_NUMBER;
  out->type_start = (uint32_t)(end - text) + 1;
  if (out->type_start == length)
    return LITERAL_NO_TYPE;
  out->type = text_read_type(text + out->type_start, length - out->type_start);
  vyre_kind kind = VYRE_TYPE_KIND(out->type);
  if (!vyre_kind_is_float(kind))
    return LITERAL_BAD_TYPE;
  if (!text_read_integer(text + 4, out->type_start - 5, &out->bits))
    return LITERAL_NAN_BITS;
  uint32_t bits = vyre_kind_bits(kind);
  bool fits = bits == 64 || out->bits >> bits == 0;
  uint64_t magnitude = out->bits & (((uint64_t)1 << (bits - 1)) - 1);
  return fits && magnitude > infinity_bits(kind) ? LITERAL_GOOD : LITERAL_NAN_BITS;
}

/* Reads "true", "false", "inf" or "-inf" and the lanes or the type after it. */
static text_literal_problem
read_word(const char *text, uint32_t length, text_literal *out)
{
  static const struct {
    const char *word;
    uint8_t length;
  } words[] = {{"true", 4}, {"false", 5}, {"inf", 3}, {"-inf", 4}};
  for (uint32_t i = 0; i < 4; i++) {
    uint32_t size = words[i].length;
    if (length < size || memcmp(text, words[i].word, size) != 0)
      continue;
    out->type_start = size;
    if (i < 2) {
      char type[8] = "bool";
      if (length - size > 2)
        return LITERAL_BAD_NUMBER;
      memcpy(type + 4, text + size, length - size);
      out->type = text_read_type(type, 4 + length - size);
      out->bits = i == 0;
      return out->type ? LITERAL_GOOD : LITERAL_BAD_NUMBER;
    }
    if (length == size)
      return LITERAL_NO_TYPE;
    out->type = text_read_type(text + size, length - size);
    vyre_kind kind = VYRE_TYPE_KIND(out->type);
    if (!vyre_kind_is_float(kind))
      return LITERAL_BAD_TYPE;
    out->bits = infinity_bits(kind) | (i == 3 ? (uint64_t)1 << (vyre_kind_bits(kind) - 1) : 0);
    return LITERAL_GOOD;
  }
  return LITERAL_BAD_NUMBER;
}

text_literal_problem
text_read_literal(const char *text, uint32_t length, text_literal *out)
{
  *out = (text_literal){0};
  if (length == 0)
    return LITERAL_BAD_NUMBER;
  if (length > 3 && memcmp(text, "nan", 3) == 0)
    return read_nan(text, length, out);
  if (!is_digit(text[text[0] == '-' && length > 1]))
    return read_word(text, length, out);
  uint32_t number = find_type(text, length);
  out->type_start = number;
  if (number == length)
    return LITERAL_NO_TYPE;
  out->type = text_read_type(text + number, length - number);
  vyre_kind kind = VYRE_TYPE_KIND(out->type);
  if (vyre_kind_is_float(kind))
    return read_float(text, number, kind, &out->bits);
  return vyre_kind_is_int(kind) ? read_int(text, number, kind, &out->bits) : LITERAL_BAD_TYPE;
}

/* ---- writing ---- */

uint32_t
text_write_u64(uint64_t value, char *out)
{
  char digits[20];
  uint32_t count = 0;
  do {
    digits[count++] = (char)('0' + value % 10);
    value /= 10;
  } while (value);
  for (uint32_t i = 0; i < count; i++)
    out[i] = digits[count - 1 - i];
  return count;
}

uint32_t
text_write_type(vyre_type type, char *out)
{
  vyre_kind kind = VYRE_TYPE_KIND(type);
  const char *name = kind < VYRE_KIND__COUNT ? kind_names[kind] : "unknown";
  uint32_t length = (uint32_t)strlen(name);
  memcpy(out, name, length);
  if (VYRE_TYPE_LANES(type) > 1) {
    out[length++] = 'x';
    out[length++] = (char)('0' + VYRE_TYPE_LANES(type));
  }
  return length;
}

/* Writes the number 0.d1d2... * 10^point, where d1, d2, ... are the `count` digits, with an exponent if the number is long. Returns
 * the length of the text. */
static uint32_t
write_decimal(const char *digits, uint32_t count, int point, char *out)
{
  uint32_t size = 0;
  while (count > 1 && digits[count - 1] == '0')
    count--;
  if (point > 16 || point < -4) {
    out[size++] = digits[0];
    if (count > 1) {
      out[size++] = '.';
      memcpy(out + size, digits + 1, count - 1);
      size += count - 1;
    }
    return size + (uint32_t)sprintf(out + size, "e%d", point - 1);
  }
  if (point <= 0) {
    memcpy(out, "0.0000", 6);
    size = 2u + (uint32_t)-point;
    memcpy(out + size, digits, count);
    return size + count;
  }
  for (uint32_t i = 0; i < (uint32_t)point; i++)
    out[size++] = i < count ? digits[i] : '0';
  out[size++] = '.';
  if (count <= (uint32_t)point)
    out[size++] = '0';
  for (uint32_t i = (uint32_t)point; i < count; i++)
    out[size++] = digits[i];
  return size;
}

/* Writes the first printf form, by increasing precision, that converts back to `bits`. */
static uint32_t
write_long_float(double value, uint64_t bits, vyre_kind kind, char *out)
{
  locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  locale_t before = c_locale ? uselocale(c_locale) : (locale_t)0;
  char text[40] = "";
  for (int precision = 0; precision < 17; precision++) {
    int length = snprintf(text, sizeof(text), "%.*e", precision, value);
    bool in_range;
    bool good;
    if (length > 0 && read_long_float(text, (uint32_t)length, kind, &in_range, &good) == bits)
      break;
  }
  if (c_locale) {
    uselocale(before);
    freelocale(c_locale);
  }
  char *mark = strchr(text, 'e');
  if (!mark)
    return 0;
  int exponent = atoi(mark + 1);
  char digits[24];
  uint32_t count = 0;
  for (const char *at = text; at < mark; at++)
    if (is_digit(*at))
      digits[count++] = *at;
  return write_decimal(digits, count, exponent + 1, out);
}

/* Writes the shortest decimal of an f32. Returns 0 if doubles are not precise enough to determine it. */
static uint32_t
write_short_float(double value, uint32_t bits, char *out)
{
  int exponent;
  frexp(value, &exponent);
  int place = (exponent - 1) * 30103 / 100000 - (exponent < 1); /* decimal exponent of the first digit, or one less */
  for (int power = -1 - place; power <= 9 - place; power++) {
    if (power > MOST_POWER || power < -MOST_POWER)
      return 0;
    double scaled = power < 0 ? value / powers[-power] : value * powers[power], digits = rint(scaled);
    if (fabs(digits - scaled) > scaled * 0x1p-24) /* further away than the adjacent f32 */
      continue;
    uint32_t read;
    if (digits > 0x1p53 || fabs(digits - scaled) == 0.5 ||
        !round_to_f32(power < 0 ? digits * powers[-power] : digits / powers[power], &read))
      return 0;
    if (read != bits)
      continue;
    char text[20];
    uint32_t count = text_write_u64((uint64_t)digits, text);
    return write_decimal(text, count, (int)count - power, out);
  }
  return 0;
}

static uint32_t
write_float(vyre_kind kind, uint64_t bits, char *out)
{
  uint32_t size = 0;
  uint64_t sign = (uint64_t)1 << (vyre_kind_bits(kind) - 1);
  uint64_t magnitude = bits & (sign - 1);
  if (magnitude > infinity_bits(kind))
    return (uint32_t)sprintf(out, "nan(0x%llx)", (unsigned long long)bits);
  if (bits & sign)
    out[size++] = '-';
  if (magnitude == infinity_bits(kind) || magnitude == 0) {
    memcpy(out + size, magnitude ? "inf" : "0.0", 3);
    return size + 3;
  }
  double value = 0;
  if (kind == VYRE_F32) {
    uint32_t word = (uint32_t)magnitude;
    float single;
    memcpy(&single, &word, sizeof(single));
    value = (double)single;
    uint32_t written = write_short_float(value, word, out + size);
    if (written)
      return size + written;
  } else if (kind == VYRE_F64) {
    memcpy(&value, &magnitude, sizeof(value));
  } else {
    value = half_value((uint32_t)magnitude);
  }
  return size + write_long_float(value, magnitude, kind, out + size);
}

uint32_t
text_write_literal(vyre_type type, uint64_t bits, char *out)
{
  vyre_kind kind = VYRE_TYPE_KIND(type);
  uint32_t width = vyre_kind_bits(kind);
  uint32_t size = 0;
  if (width && width < 64)
    bits &= ((uint64_t)1 << width) - 1;
  if (kind == VYRE_BOOL) {
    size = bits ? 4 : 5;
    memcpy(out, bits ? "true" : "false", size);
    char lanes[16];
    uint32_t length = text_write_type(type, lanes);
    memcpy(out + size, lanes + 4, length - 4);
    return size + length - 4;
  }
  if (vyre_kind_is_float(kind)) {
    size = write_float(kind, bits, out);
  } else {
    if (vyre_kind_is_signed(kind) && bits >> (width - 1)) {
      out[size++] = '-';
      bits = (0 - bits) & (width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1);
    }
    size += text_write_u64(bits, out + size);
  }
  return size + text_write_type(type, out + size);
}

const char *
vyre_text_type(vyre_type type, char buffer[48])
{
  buffer[text_write_type(type, buffer)] = '\0';
  return buffer;
}

const char *
vyre_text_literal(vyre_type type, uint64_t bits, char buffer[48])
{
  VYRE_OWN_ENVIRONMENT;
  buffer[text_write_literal(type, bits, buffer)] = '\0';
  return buffer;
}
