/* Literals are printed and read without a change of bits.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "text/literal.h"
#include "text_test.h"

static void
check(vyre_type type, uint64_t bits)
{
  char text[48];
  text_literal literal;
  vyre_text_literal(type, bits, text);
  text_literal_problem problem = text_read_literal(text, (uint32_t)strlen(text), &literal);
  if (problem != LITERAL_GOOD || literal.type != type || literal.bits != bits)
    fail_msg("%llx prints as %s, which reads as %llx (problem %d)", (unsigned long long)bits, text,
             (unsigned long long)literal.bits, problem);
}

static uint64_t
next_random(uint64_t *state)
{
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

TEST(every_f16_is_read_as_printed)
{
  for (uint32_t bits = 0; bits < 0x10000; bits++)
    check(VYRE_TYPE(VYRE_F16, 1), bits);
}

TEST(floats_are_read_as_printed)
{
  uint64_t random = 0x123456789abcdef1u;
  for (uint32_t exponent = 0; exponent < 256; exponent++)
    for (int32_t step = -2; step <= 2; step++) { /* around each power of two */
      check(VYRE_TYPE(VYRE_F32, 1), (exponent << 23) + (uint32_t)step);
      check(VYRE_TYPE(VYRE_F32, 3), 0x80000000u ^ ((exponent << 23) + (uint32_t)step));
    }
  for (uint64_t exponent = 0; exponent < 2048; exponent += 3)
    check(VYRE_TYPE(VYRE_F64, 2), (exponent << 52) + 1);
  for (uint32_t i = 0; i < 20000; i++) {
    check(VYRE_TYPE(VYRE_F32, 1), (uint32_t)next_random(&random));
    check(VYRE_TYPE(VYRE_F64, 1), next_random(&random));
  }
  for (uint32_t i = 0; i < 20000; i++) { /* few digits, as in written programs */
    float value = (float)(next_random(&random) % 100000) / (i % 2 ? 100.0f : 10000.0f);
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    check(VYRE_TYPE(VYRE_F32, 1), bits);
  }
}

TEST(integers_and_bools_are_read_as_printed)
{
  uint64_t random = 7;
  for (uint32_t kind = VYRE_BOOL; kind <= VYRE_U64; kind++) {
    uint32_t width = vyre_kind_bits((vyre_kind)kind);
    uint64_t mask = width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
    for (uint32_t lanes = 1; lanes <= 4; lanes++)
      for (uint32_t i = 0; i < 200; i++)
        check(VYRE_TYPE(kind, lanes), (i < 64    ? (uint64_t)1 << i
                                       : i < 128 ? 0 - ((uint64_t)1 << (i - 64))
                                                 : next_random(&random)) &
                                          mask);
  }
}

/* Counts the digits after the sign, without exponent and zeros at the ends. */
static uint32_t
digits_of(const char *text)
{
  char digits[48];
  uint32_t count = 0;
  for (; *text && *text != 'f' && *text != 'e'; text++)
    if (*text >= '0' && *text <= '9' && (count || *text != '0'))
      digits[count++] = *text;
  while (count && digits[count - 1] == '0')
    count--;
  return count;
}

/* No decimal with a digit less reads as the same float. */
TEST(floats_are_printed_with_the_fewest_digits)
{
  uint64_t random = 99;
  for (uint32_t i = 0; i < 20000; i++) {
    uint32_t bits = (uint32_t)next_random(&random) & 0x7fffffffu;
    float value;
    if (i % 2) { /* values with few digits */
      value = (float)(next_random(&random) % 1000000) / 1000.0f;
      memcpy(&bits, &value, sizeof(bits));
    }
    memcpy(&value, &bits, sizeof(value));
    if (bits >= 0x7f800000u || bits == 0)
      continue;
    char text[48];
    char shorter[48];
    uint32_t count = digits_of(vyre_text_literal(VYRE_TYPE(VYRE_F32, 1), bits, text));
    if (count < 2)
      continue;
    snprintf(shorter, sizeof(shorter), "%.*e", (int)count - 2, (double)value);
    if (strtof(shorter, NULL) == value)
      fail_msg("%s could be %s", text, shorter);
  }
}

static const struct {
  const char *text;
  uint64_t bits;
} exact[] = {
    {"0.1f32", 0x3dcccccd},
    {"-0.0f32", 0x80000000},
    {"0x1.8p1f32", 0x40400000},
    {"0x1p-149f32", 1},
    {"1e-45f32", 1},
    {"7e-46f32", 0},               /* below half of the smallest */
    {"16777217.0f32", 0x4b800000}, /* the middle: rounded to even */
    {"16777219.0f32", 0x4b800002},
    {"1.00000017881393432617187499f32", 0x3f800001}, /* just below a middle */
    {"1.00000017881393432617187500f32", 0x3f800002}, /* the middle */
    {"0.5000000298023224f32", 0x3f000001},           /* just above a middle, to which rounding to f64 would round it */
    {"3.4028235e38f32", 0x7f7fffff},
    {"3.4028235677973367e38f32", UINT64_MAX}, /* the least that is too large */
    {"inff32", 0x7f800000},
    {"-inff16", 0xfc00},
    {"65519.99f16", 0x7bff},
    {"5e-324f64", 1},
    {"0.1f64", 0x3fb999999999999a},
    {"nan(0xffc00001)f32", 0xffc00001},
    {"0xffi8", 0xff},
    {"-128i8", 0x80},
    {"-0x80i8", 0x80},
    {"true", 1},
    {"falsex4", 0},
};

TEST(decimals_are_rounded_once)
{
  for (size_t i = 0; i < sizeof(exact) / sizeof(*exact); i++) {
    text_literal literal;
    text_literal_problem problem = text_read_literal(exact[i].text, (uint32_t)strlen(exact[i].text), &literal);
    assert_int_equal(problem, exact[i].bits == UINT64_MAX ? LITERAL_RANGE : LITERAL_GOOD);
    if (problem == LITERAL_GOOD && literal.bits != exact[i].bits)
      fail_msg("%s reads as %llx", exact[i].text, (unsigned long long)literal.bits);
  }
}

TEST(types_are_printed_and_read)
{
  char text[48];
  assert_string_equal(vyre_text_type(VYRE_TYPE(VYRE_F32, 4), text), "f32x4");
  assert_string_equal(vyre_text_type(VYRE_TYPE(VYRE_BOOL, 1), text), "bool");
  assert_string_equal(vyre_text_type(VYRE_TYPE(VYRE_VOID, 1), text), "void");
  for (uint32_t kind = VYRE_BOOL; kind <= VYRE_F64; kind++)
    for (uint32_t lanes = 1; lanes <= 4; lanes++) {
      vyre_text_type(VYRE_TYPE(kind, lanes), text);
      assert_int_equal(text_read_type(text, strlen(text)), VYRE_TYPE(kind, lanes));
    }
  static const char *const none[] = {"", "f", "f3", "f320", "f32x", "f32x1", "f32x5", "x2", "void", "tuple"};
  for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
    assert_int_equal(text_read_type(none[i], strlen(none[i])), 0);
}
