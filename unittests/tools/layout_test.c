/* The walk of vyre-run over the scalars of a buffer, and the text of scalars.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "../test.h"
#include "run_parts.h"

/* ---- scalars ------------------------------------------------------------------------------------------------------------- */

static void
assert_prints(vyre_kind kind, uint64_t bits, const char *expected)
{
  char text[48];
  run_scalar_print(kind, bits, text);
  assert_string_equal(text, expected);
}

TEST(scalars_print_as_the_shortest_text)
{
  assert_prints(VYRE_F32, 0x3dcccccd, "0.1");
  assert_prints(VYRE_F32, 0x3f800000, "1");
  assert_prints(VYRE_F32, 0x41200000, "10");
  assert_prints(VYRE_F32, 0x4b000000, "8388608");
  assert_prints(VYRE_F32, 0x501502f9, "1e+10");
  assert_prints(VYRE_F32, 0x80000000, "-0");
  assert_prints(VYRE_F32, 0x7f800000, "inf");
  assert_prints(VYRE_F32, 0xffc00001, "nan");
  assert_prints(VYRE_F32, 0x3eaaaaab, "0.33333334");
  assert_prints(VYRE_F32, 0x00000001, "1e-45");
  assert_prints(VYRE_I32, 0xfffffffe, "-2");
  assert_prints(VYRE_U32, 0xfffffffe, "4294967294");
  assert_prints(VYRE_I8, 0x80, "-128");
  assert_prints(VYRE_U64, UINT64_MAX, "18446744073709551615");
  assert_prints(VYRE_I64, UINT64_MAX, "-1");
  assert_prints(VYRE_F16, 0x2e66, "0.1");
  assert_prints(VYRE_F16, 0x7bff, "65504");
  assert_prints(VYRE_F16, 0xfe00, "nan");
  assert_prints(VYRE_F16, 0x0001, "6e-08");
  assert_prints(VYRE_F64, 0x3fb999999999999a, "0.1");
  assert_prints(VYRE_BOOL, 1, "1");
}

static void
assert_parses(vyre_kind kind, const char *text, uint64_t expected)
{
  uint64_t bits = 0xdead;
  assert_true(vyre_scalar_parse(text, strlen(text), kind, &bits));
  assert_int_equal(bits, expected);
}

static void
assert_no_value(vyre_kind kind, const char *text)
{
  uint64_t bits;
  assert_false(vyre_scalar_parse(text, strlen(text), kind, &bits));
}

TEST(texts_parse_only_as_valid_values_of_their_type)
{
  assert_parses(VYRE_F32, "0.1", 0x3dcccccd);
  assert_parses(VYRE_F32, "-inf", 0xff800000);
  assert_parses(VYRE_F32, "1e-45", 1);
  assert_parses(VYRE_F32, "010", 0x41200000);
  assert_parses(VYRE_F32, "3.4028235e38", 0x7f7fffff);
  assert_parses(VYRE_F32, "1e-400", 0);
  assert_parses(VYRE_F32, "Infinity", 0x7f800000);
  assert_parses(VYRE_F64, "1", 0x3ff0000000000000);
  assert_parses(VYRE_F64, "-1.7976931348623157e308", 0xffefffffffffffff);
  assert_parses(VYRE_F16, "1", 0x3c00);
  assert_parses(VYRE_F16, "-0", 0x8000);
  assert_parses(VYRE_F16, "65519", 0x7bff);
  assert_parses(VYRE_F16, "-inf", 0xfc00);
  assert_parses(VYRE_F16, "6e-8", 0x0001);
  assert_parses(VYRE_F16, "6.103e-5", 0x0400);
  assert_parses(VYRE_F16, "2049", 0x6800);
  assert_parses(VYRE_F16, "2051", 0x6802);
  assert_parses(VYRE_I32, "-1", 0xffffffff);
  assert_parses(VYRE_I32, "-2147483648", 0x80000000);
  assert_parses(VYRE_I32, "0x80000000", 0x80000000);
  assert_parses(VYRE_U32, "4294967295", 0xffffffff);
  assert_parses(VYRE_I32, "010", 10);
  assert_parses(VYRE_I32, "-010", (uint32_t)-10);
  assert_parses(VYRE_I32, "-0x10", (uint32_t)-16);
  assert_parses(VYRE_U32, "009", 9);
  assert_parses(VYRE_U32, "0X10", 16);
  assert_parses(VYRE_U32, "0", 0);
  assert_parses(VYRE_I8, "-128", 0x80);
  assert_parses(VYRE_I64, "-9223372036854775808", (uint64_t)1 << 63);
  assert_parses(VYRE_U64, "18446744073709551615", UINT64_MAX);
  assert_parses(VYRE_BOOL, "true", 1);
  assert_parses(VYRE_BOOL, "0", 0);
  assert_no_value(VYRE_I32, "2147483648");
  assert_no_value(VYRE_I32, "-2147483649");
  assert_no_value(VYRE_U32, "-1");
  assert_no_value(VYRE_U32, "4294967296");
  assert_no_value(VYRE_U64, "18446744073709551616");
  assert_no_value(VYRE_U32, "1.5");
  assert_no_value(VYRE_U32, "");
  assert_no_value(VYRE_U32, " 1");
  assert_no_value(VYRE_U32, "0x");
  assert_no_value(VYRE_U32, "-");
  assert_no_value(VYRE_U8, "0256");
  assert_no_value(VYRE_F16, "65520");
  assert_no_value(VYRE_F16, "-1e400");
  assert_no_value(VYRE_F32, "1e400");
  assert_no_value(VYRE_F32, "-3.4028236e38");
  assert_no_value(VYRE_F64, "1e400");
  assert_no_value(VYRE_F32, "1.0x");
  assert_no_value(VYRE_F32, "");
  assert_no_value(VYRE_BOOL, "2");
}

/* Checks that the text of the range is "a number from LOW to HIGH...", and that the kind has both values. */
static void
assert_range(vyre_kind kind)
{
  char low[32], high[32];
  uint64_t bits;
  assert_int_equal(sscanf(vyre_scalar_range(kind), "a number from %31s to %31[^,]", low, high), 2);
  assert_true(vyre_scalar_parse(low, strlen(low), kind, &bits));
  assert_true(vyre_scalar_parse(high, strlen(high), kind, &bits));
  char beyond[40]; /* ten times as much */
  const size_t digits = strcspn(high, "e");
  snprintf(beyond, sizeof beyond, "%.*s%s%s", (int)digits, high, high[digits] ? "" : "0", high + digits);
  if (high[digits])
    beyond[strlen(beyond) - 1]++;
  assert_no_value(kind, beyond);
}

TEST(a_kind_has_the_ends_of_its_range)
{
  for (unsigned kind = VYRE_I8; kind <= VYRE_F64; kind++)
    if (vyre_kind_is_float((vyre_kind)kind) || vyre_kind_is_int((vyre_kind)kind))
      assert_range((vyre_kind)kind);
  assert_string_equal(vyre_scalar_range(VYRE_BOOL), "true or false");
}

TEST(scalars_are_stored_and_loaded)
{
  for (unsigned kind = VYRE_BOOL; kind <= VYRE_F64; kind++) {
    unsigned char memory[12];
    memset(memory, 0xaa, sizeof memory);
    uint64_t bits = kind == VYRE_BOOL ? 1 : (uint64_t)0x8182838485868788 >> (64 - vyre_kind_bits((vyre_kind)kind));
    run_scalar_put(memory + 1, (vyre_kind)kind, bits);
    assert_int_equal(run_scalar_get(memory + 1, (vyre_kind)kind), bits);
    assert_int_equal(memory[0], 0xaa);
    assert_int_equal(memory[1 + vyre_kind_bytes((vyre_kind)kind)], 0xaa);
  }
}

/* ---- walks --------------------------------------------------------------------------------------------------------------- */

typedef struct seen {
  uint64_t offsets[64];
  vyre_kind kinds[64];
  uint64_t count, stop_at;
} seen;

static bool
record(void *user, uint64_t index, uint64_t offset, vyre_kind kind)
{
  seen *s = user;
  assert_int_equal(index, s->count);
  assert_true(s->count < 64);
  s->offsets[s->count] = offset;
  s->kinds[s->count++] = kind;
  return s->count != s->stop_at;
}

static void
assert_path(const run_layout *layout, vyre_type_id type, uint64_t offset, const char *expected)
{
  char path[64];
  run_layout_path(layout, type, offset, path, sizeof path);
  assert_string_equal(path, expected);
}

/* struct { u32 n; f32x3 p (at 16); mat3x2 columns (at 32, stride 8); mat2x3 row major (at 64, stride 16); f32x2 tail[] (at 112) }
 */
static vyre_type_id
make_block(vyre_module *module)
{
  vyre_type f32x2 = VYRE_TYPE(VYRE_F32, 2), f32x3 = VYRE_TYPE(VYRE_F32, 3);
#define NAME(text) vyre_string_intern(module, text, strlen(text))
  vyre_member members[] = {
      {NAME("n"), VYRE_TYPE(VYRE_U32, 1), 0, 0},
      {NAME("p"), f32x3, 16, 0},
      {NAME("c"), vyre_type_matrix(module, f32x2, 3, 8, false), 32, 0},
      {NAME("r"), vyre_type_matrix(module, f32x3, 2, 16, true), 64, 0},
      {NAME("tail"), vyre_type_runtime_array(module, f32x2, 8), 112, 0},
  };
#undef NAME
  return vyre_type_struct(module, 0, members, 5, VYRE_TYPE_BLOCK);
}

TEST(a_struct_is_walked_in_order_and_inside_its_bytes)
{
  vyre_module *module;
  assert_null(vyre_module_create(NULL, 0, &module));
  vyre_type_id block = make_block(module);
  run_layout layout = {.module = module};
  run_shape shape = run_layout_shape(&layout, block);
  assert_int_equal(shape.fixed, 112);
  assert_int_equal(shape.offset, 112);
  assert_int_equal(shape.stride, 8);
  static const uint64_t expected[] = {
      0,  16, 20, 24, 32, 36,  40,  44,  48,  52, /* row major: by column, one row after the other */
      64, 80, 96, 68, 84, 100, 112, 116, 120, 124};
  seen s = {0};
  assert_int_equal(run_layout_each(&layout, block, 112 + 16 + 7, record, &s), 20); /* 7 bytes are not a whole element */
  assert_int_equal(s.count, 20);
  for (uint32_t i = 0; i < 20; i++) {
    assert_int_equal(s.offsets[i], expected[i]);
    assert_int_equal(s.kinds[i], i == 0 ? VYRE_U32 : VYRE_F32);
  }
  s = (seen){.stop_at = 3};
  assert_int_equal(run_layout_each(&layout, block, 128, record, &s), 3);
  s = (seen){0};
  assert_int_equal(run_layout_each(&layout, block, 30, record, &s), 4); /* a short buffer: only its whole scalars */
  assert_path(&layout, block, 0, ".n");
  assert_path(&layout, block, 24, ".p.z");
  assert_path(&layout, block, 44, ".c[1].y");
  assert_path(&layout, block, 84, ".r[1].y");
  assert_path(&layout, block, 124, ".tail[1].y");
  vyre_module_destroy(module);
}

TEST(lengths_may_be_specialization_constants)
{
  vyre_module *module;
  assert_null(vyre_module_create(NULL, 0, &module));
  vyre_builder builder;
  uint32_t input = vyre_module_add_input(module, "test");
  vyre_build_program(module, "p", 0, input, &builder);
  vyre_row length = vyre_build_spec(&builder, VYRE_TYPE(VYRE_U32, 1), 3, 7);
  vyre_type_id array = vyre_type_array(module, VYRE_TYPE(VYRE_I32, 1), 0, length, 4);
  vyre_spec_value value = {7, 5};
  run_layout with = {.module = module, .specs = &value, .spec_count = 1}, without = {.module = module};
  assert_int_equal(run_layout_shape(&without, array).fixed, 12);
  assert_int_equal(run_layout_shape(&with, array).fixed, 20);
  assert_int_equal(run_layout_shape(&with, array).stride, 0);
  seen s = {0};
  assert_int_equal(run_layout_each(&with, array, 20, record, &s), 5);
  assert_path(&with, array, 16, "[4]");
  vyre_module_destroy(module);
}
