/* Integers of 8, 16 and 64 bits and floats of 16 and 64: GLSL through the importer compared with the same computation in C, also
 * after the module is written and read again.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "import_support.h"

#define HEAD                                                                                            \
  "#version 450\n#extension GL_EXT_shader_explicit_arithmetic_types : require\n"                        \
  "#extension GL_EXT_shader_16bit_storage : require\n#extension GL_EXT_shader_8bit_storage : require\n" \
  "layout(local_size_x = 4) in;\n"
#define MAIN(...) "void main() { uint i = gl_GlobalInvocationID.x; " #__VA_ARGS__ " }\n"

enum { N = 16 };

/* Runs the shader as compiled, as optimized, and as written and read again.  All runs store the same bytes. */
static void
run(const char *glsl, void *in, size_t in_size, void *out, size_t out_size)
{
  vyre_bytes words[3] = {import_compile(glsl)};
  static uint8_t first[4096];
  assert_true(out_size <= sizeof(first));
  words[1] = import_optimize(&words[0]);
  for (int pass = 0; pass < 3; pass++) {
    memset(out, 0xcd, out_size);
    vyre_module *m = import_read(&words[pass]);
    const import_buffer buffers[2] = {{0, in, in_size}, {1, out, out_size}};
    import_run(m, N / 4, buffers, 2);
    if (pass)
      assert_memory_equal(first, out, out_size);
    else
      memcpy(first, out, out_size);
    if (pass == 0)
      words[2] = import_write(m);
    vyre_module_destroy(m);
  }
  for (int pass = 0; pass < 3; pass++)
    vyre_bytes_free(&words[pass]);
}

TEST(integers_of_64_bits)
{
  int64_t in[N];
  struct {
    int64_t a;
    uint64_t b;
    int32_t c, d;
  } out[N];
  for (int i = 0; i < N; i++)
    in[i] = (i - 8) * INT64_C(0x123456789ab);
  run(HEAD "struct R { int64_t a; uint64_t b; int c; int d; };\n"
           "const int64_t table[4] = int64_t[](-1L, 0x123456789abcdefL, 7L, -9000000000L);\n"
           "layout(set = 0, binding = 0) readonly buffer In { int64_t x[]; };\n"
           "layout(set = 0, binding = 1) writeonly buffer Out { R y[]; };\n" MAIN(
               int64_t v = x[i]; y[i].a = v * 3L - 5000000000L + table[i & 3u];
               y[i].b = uint64_t(v) >> (i * 3u) ^ 0xffffffff00000000UL; y[i].c = int(v / 1000L); y[i].d = v < -4294967296L   ? 1
                                                                                                          : v >= 4294967296L ? 2
                                                                                                                             : 3;),
      in, sizeof(in), out, sizeof(out));
  const int64_t table[4] = {-1, 0x123456789abcdef, 7, -9000000000};
  for (int i = 0; i < N; i++) {
    assert_int_equal(out[i].a, in[i] * 3 - 5000000000 + table[i & 3]);
    assert_int_equal(out[i].b, (uint64_t)in[i] >> (i * 3) ^ 0xffffffff00000000u);
    assert_int_equal(out[i].c, (int32_t)(in[i] / 1000));
    assert_int_equal(out[i].d, in[i] < -4294967296 ? 1 : in[i] >= 4294967296 ? 2 : 3);
  }
}

TEST(integers_of_8_and_16_bits)
{
  struct {
    int8_t a;
    uint8_t b;
    int16_t c;
    uint16_t d[3];
  } in[N], out[N];
  memset(in, 0, sizeof(in));
  for (int i = 0; i < N; i++) {
    in[i].a = (int8_t)(i * 37 - 100);
    in[i].b = (uint8_t)(i * 53 + 7);
    in[i].c = (int16_t)(i * 5003 - 32768);
    in[i].d[0] = (uint16_t)(i * 4099);
    in[i].d[2] = 3;
  }
  run(HEAD "struct P { int8_t a; uint8_t b; int16_t c; uint16_t d[3]; };\n"
           "layout(set = 0, binding = 0, std430) readonly buffer In { P x[]; };\n"
           "layout(set = 0, binding = 1, std430) writeonly buffer Out { P y[]; };\n" MAIN(
               P p = x[i]; y[i].a = p.a * int8_t(-3) + int8_t(p.c); y[i].b = (p.b >> uint8_t(2)) - uint8_t(200);
               y[i].c = int16_t(p.a) * p.c + int16_t(p.b) - 30000s; y[i].d[0] = p.d[0] / (uint16_t(p.b) | 1us);
               y[i].d[1] = uint16_t(p.a); y[i].d[2] = uint16_t(p.d[p.d[2] - 3us]) ^ 0xff00us;),
      in, sizeof(in), out, sizeof(out));
  for (int i = 0; i < N; i++) {
    assert_int_equal(out[i].a, (int8_t)(in[i].a * -3 + in[i].c));
    assert_int_equal(out[i].b, (uint8_t)((in[i].b >> 2) - 200));
    assert_int_equal(out[i].c, (int16_t)(in[i].a * in[i].c + in[i].b - 30000));
    assert_int_equal(out[i].d[0], in[i].d[0] / (in[i].b | 1));
    assert_int_equal(out[i].d[1], (uint16_t)in[i].a);
    assert_int_equal(out[i].d[2], in[i].d[0] ^ 0xff00);
  }
}

TEST(floats_of_64_bits)
{
  double in[N];
  struct {
    double a, b, c[2];
    uint32_t halves[2];
    int32_t d, e;
  } out[N];
  for (int i = 0; i < N; i++)
    in[i] = (i - 7) * 1.1e10 + 0.3;
  run(HEAD "struct R { double a; double b; dvec2 c; uvec2 halves; int d; int e; };\n"
           "layout(set = 0, binding = 0) readonly buffer In { double x[]; };\n"
           "layout(set = 0, binding = 1) writeonly buffer Out { R y[]; };\n" MAIN(
               double v = x[i]; y[i].a = v * 1.1lf + 1e-300lf; y[i].b = sqrt(abs(v)) / 4.0lf;
               y[i].c = dmat2(v, 1.0lf, 2.0lf, v) * dvec2(2.0lf, 3.0lf); y[i].halves = unpackDouble2x32(v); y[i].d = int(v > 0.0lf);
               y[i].e = int(packDouble2x32(unpackDouble2x32(v)) == v);),
      in, sizeof(in), out, sizeof(out));
  for (int i = 0; i < N; i++) {
    uint32_t halves[2];
    memcpy(halves, &in[i], 8);
    const double magnitude = in[i] < 0 ? -in[i] : in[i];
    assert_true(out[i].a == in[i] * 1.1 + 1e-300);
    assert_true(out[i].b * out[i].b * 16.0 > magnitude * (1 - 1e-14) && out[i].b * out[i].b * 16.0 < magnitude * (1 + 1e-14));
    assert_true(out[i].c[0] == in[i] * 2.0 + 6.0 && out[i].c[1] == 2.0 + in[i] * 3.0);
    assert_memory_equal(out[i].halves, halves, 8);
    assert_int_equal(out[i].d, in[i] > 0);
    assert_int_equal(out[i].e, 1);
  }
}

TEST(floats_of_16_bits)
{
  /* 1, -1, 1.5, 65504, 2^-24, 0.1, 1/3, -0, 2, 3, 1000, 1e-3, 0.5, inf, 7, -65504 */
  const uint16_t halves[N] = {0x3c00, 0xbc00, 0x3e00, 0x7bff, 0x0001, 0x2e66, 0x3555, 0x8000,
                              0x4000, 0x4200, 0x63d0, 0x1419, 0x3800, 0x7c00, 0x4700, 0xfbff};
  uint16_t in[N];
  struct {
    uint16_t product, sum, from_int, vector[2];
    uint16_t spare;
    float wide;
    int32_t whole;
  } out[N];
  memcpy(in, halves, sizeof(in));
  run(HEAD "struct R { float16_t product; float16_t sum; float16_t from_int; float16_t v0; float16_t v1; uint16_t spare; float "
           "wide; int whole; };\n"
           "layout(set = 0, binding = 0) readonly buffer In { float16_t x[]; };\n"
           "layout(set = 0, binding = 1) writeonly buffer Out { R y[]; };\n" MAIN(
               float16_t v = x[i]; f16vec2 w = f16vec2(v, 1.0hf) + f16vec2(0.5hf); y[i].product = v * v; y[i].sum = v + 2048.0hf;
               y[i].from_int = float16_t(int(i) * 4099); y[i].v0 = w.x; y[i].v1 = w.y; y[i].spare = 1us; y[i].wide = float(v) * 3.0;
               y[i].whole = v > 100.0hf ? 1 : int(v);),
      in, sizeof(in), out, sizeof(out));
  /* rounded once, to nearest even */
  const uint16_t products[N] = {0x3c00, 0x3c00, 0x4080, 0x7c00, 0x0000, 0x211e, 0x2f1c, 0x0000,
                                0x4400, 0x4880, 0x7c00, 0x0011, 0x3400, 0x7c00, 0x5220, 0x7c00};
  const uint16_t sums[N] = {0x6800, 0x67ff, 0x6801, 0x7c00, 0x6800, 0x6800, 0x6800, 0x6800,
                            0x6801, 0x6802, 0x69f4, 0x6800, 0x6800, 0x7c00, 0x6804, 0xfbbf};
  const uint16_t integers[N] = {0x0000, 0x6c01, 0x7001, 0x7201, 0x7401, 0x7501, 0x7601, 0x7701,
                                0x7801, 0x7881, 0x7901, 0x7981, 0x7a01, 0x7a81, 0x7b01, 0x7b81};
  for (int i = 0; i < N; i++) {
    assert_int_equal(out[i].product, products[i]);
    assert_int_equal(out[i].sum, sums[i]);
    assert_int_equal(out[i].from_int, integers[i]);
    assert_int_equal(out[i].vector[1], 0x3e00);
  }
  assert_int_equal(out[2].vector[0], 0x4000);
  assert_true(out[3].wide == 65504.0f * 3.0f && out[4].wide == 0x1p-24f * 3.0f);
  assert_int_equal(out[1].whole, -1);
  assert_int_equal(out[9].whole, 3);
}

/* Selectors, indices, shift counts and lengths of widths that GLSL does not have. */
TEST(other_widths_where_glsl_has_32_bits)
{
  static const char text[] =
      "OpCapability Shader\nOpCapability Int64\nOpCapability Int16\nOpMemoryModel Logical GLSL450\n"
      "OpEntryPoint GLCompute %main \"main\" %id\nOpExecutionMode %main LocalSize 4 1 1\n"
      "OpDecorate %id BuiltIn GlobalInvocationId\nOpDecorate %words ArrayStride 4\n"
      "OpDecorate %block Block\nOpMemberDecorate %block 0 Offset 0\n"
      "OpDecorate %in DescriptorSet 0\nOpDecorate %in Binding 0\n"
      "OpDecorate %out DescriptorSet 0\nOpDecorate %out Binding 1\n"
      "%void = OpTypeVoid\n%fn = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n%long = OpTypeInt 64 1\n"
      "%short = OpTypeInt 16 1\n%v3 = OpTypeVector %uint 3\n%pid = OpTypePointer Input %v3\n%id = OpVariable %pid Input\n"
      "%words = OpTypeRuntimeArray %uint\n%block = OpTypeStruct %words\n"
      "%pblock = OpTypePointer StorageBuffer %block\n%puint = OpTypePointer StorageBuffer %uint\n"
      "%in = OpVariable %pblock StorageBuffer\n%out = OpVariable %pblock StorageBuffer\n"
      "%four = OpConstant %long 4\n%array = OpTypeArray %uint %four\n%parray = OpTypePointer Function %array\n"
      "%pf = OpTypePointer Function %uint\n%u0 = OpConstant %uint 0\n%u1 = OpConstant %uint 1\n%u5 = OpConstant %uint 5\n"
      "%u6 = OpConstant %uint 6\n%u7 = OpConstant %uint 7\n%s3 = OpConstant %short 3\n%lowmask = OpConstant %long 3\n"
      "%big = OpConstant %long -4294967295\n"
      "%main = OpFunction %void None %fn\n%entry = OpLabel\n%a = OpVariable %parray Function\n"
      "%idv = OpLoad %v3 %id\n%i = OpCompositeExtract %uint %idv 0\n%li = OpUConvert %long %i\n"
      "%src = OpAccessChain %puint %in %u0 %li\n%x = OpLoad %uint %src\n"
      "%k = OpBitwiseAnd %long %li %lowmask\n%pa = OpAccessChain %pf %a %k\nOpStore %pa %x\n"
      "%back = OpLoad %uint %pa\n%shifted = OpShiftLeftLogical %uint %back %s3\n"
      "%sel = OpIMul %long %k %big\n"
      "OpSelectionMerge %merge None\nOpSwitch %sel %other 0 %c0 -4294967295 %c1\n"
      "%c0 = OpLabel\nOpBranch %merge\n%c1 = OpLabel\nOpBranch %merge\n%other = OpLabel\nOpBranch %merge\n"
      "%merge = OpLabel\n%r = OpPhi %uint %u5 %c0 %u6 %c1 %u7 %other\n"
      "%sum = OpIAdd %uint %shifted %r\n%dst = OpAccessChain %puint %out %u0 %li\nOpStore %dst %sum\n"
      "OpReturn\nOpFunctionEnd\n";
  vyre_bytes words = import_assemble(text);
  words.data[5] = 3; /* SPIR-V 1.3 */
  uint32_t in[N], out[N];
  for (uint32_t i = 0; i < N; i++)
    in[i] = i * 7 + 1;
  for (int pass = 0; pass < 2; pass++) {
    memset(out, 0xcd, sizeof(out));
    const import_buffer buffers[2] = {{0, in, sizeof(in)}, {1, out, sizeof(out)}};
    vyre_module *m = import_read(&words);
    import_run(m, N / 4, buffers, 2);
    for (uint32_t i = 0; i < N; i++)
      assert_int_equal(out[i], in[i] * 8 + ((i & 3) == 0 ? 5 : (i & 3) == 1 ? 6 : 7));
    vyre_bytes_free(&words);
    words = import_write(m);
    vyre_module_destroy(m);
  }
  vyre_bytes_free(&words);
}

#define ATOMICS                                                                                        \
  "#extension GL_EXT_shader_atomic_int64 : require\n#extension GL_EXT_shader_atomic_float : require\n" \
  "#extension GL_EXT_shader_atomic_float2 : require\n"

TEST(atomics_of_64_bits_and_floats)
{
  uint32_t in[1] = {0};
  struct {
    uint64_t u[6];
    int64_t s[2];
    float f[4];
    double d[3];
    uint16_t h[3];
  } out;
  static const char glsl[] = HEAD ATOMICS
      "layout(set = 0, binding = 0) readonly buffer In { uint x[]; };\n"
      "layout(set = 0, binding = 1) buffer Out { uint64_t u[6]; int64_t s[2]; float f[4]; double d[3]; float16_t h[3]; };\n" MAIN(
          uint64_t w = uint64_t(i) + 0x100000000UL; float g = float(i); if (i == 0u) {
            u[0] = 0UL;
            u[1] = ~0UL;
            u[2] = 0UL;
            u[3] = 5UL;
            u[4] = 0UL;
            u[5] = ~0UL;
            s[0] = 7L;
            s[1] = -7L;
            f[0] = 1.0;
            f[1] = 2.0;
            f[2] = 2.0;
            f[3] = 0.0;
            d[0] = 1.0;
            d[1] = 2.0;
            d[2] = 2.0;
            h[0] = 1.0hf;
            h[1] = 2.0hf;
            h[2] = 2.0hf;
          } barrier();
          atomicAdd(u[0], w); atomicMin(u[1], w); atomicMax(u[2], w); atomicExchange(u[3], w);
          atomicOr(u[4], atomicCompSwap(u[4], 0UL, w)); atomicAnd(u[5], w); atomicMin(s[0], -int64_t(w));
          atomicMax(s[1], -int64_t(i)); atomicAdd(f[0], g); atomicMin(f[1], -g); atomicMax(f[2], g); atomicExchange(f[3], g);
          atomicAdd(d[0], double(g)); atomicMin(d[1], -double(g)); atomicMax(d[2], double(g)); atomicAdd(h[0], float16_t(g));
          atomicMin(h[1], -float16_t(g)); atomicMax(h[2], float16_t(g)););
  run(glsl, in, sizeof(in), &out, sizeof(out));
  const uint64_t high = UINT64_C(1) << 32;
  /* the last workgroup has invocations 12 to 15; workgroups run one after the other, and barriers are for a workgroup */
  const uint64_t u[6] = {16 * high + 120, high, high + 15, high + 15, high, high};
  assert_memory_equal(out.u, u, sizeof(u));
  assert_true(out.s[0] == -(int64_t)(high + 15) && out.s[1] == 0);
  assert_true(out.f[0] == 121.0f && out.f[1] == -15.0f && out.f[2] == 15.0f && out.f[3] == 15.0f);
  assert_true(out.d[0] == 121.0 && out.d[1] == -15.0 && out.d[2] == 15.0);
  assert_true(out.h[0] == 0x5790 && out.h[1] == 0xcb80 && out.h[2] == 0x4b80);
}
