/* Memory, types and operations through the importer: GLSL programs compared with the same computation in C, and the rows that the
 * importer must remove.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "import_support.h"

/* Shaders keep their line breaks. */
/* clang-format off */
#define HEAD                                                                                                                           \
  "#version 450\nlayout(local_size_x = 4) in;\n"                                                                                       \
  "layout(set = 0, binding = 0) readonly buffer In { uint x[]; };\n"                                                                   \
  "layout(set = 0, binding = 1) buffer Out { uint y[]; };\n"
#define MAIN(...) "void main() { uint i = gl_GlobalInvocationID.x; " #__VA_ARGS__ " }\n"

enum { N = 16 };

static uint32_t in[N], out[N];

/* Runs the shader on x[i] = 5 i + 3, as compiled and optimized.  Returns the module as compiled. */
static vyre_module *
run_with(const char *glsl, const import_buffer *more, uint32_t count)
{
  vyre_bytes words = import_compile(glsl), optimized = import_optimize(&words);
  uint32_t first[N], saved[8][80];
  vyre_module *module = NULL;
  for (uint32_t k = 0; k < count; k++)
    memcpy(saved[k], more[k].data, more[k].size);
  for (int pass = 0; pass < 2; pass++) {
    for (uint32_t k = 0; k < N; k++) {
      in[k] = k * 5 + 3;
      out[k] = 0xdeadbeef;
    }
    import_buffer buffers[8] = {{0, in, sizeof(in)}, {1, out, sizeof(out)}};
    for (uint32_t k = 0; k < count; k++) {
      buffers[2 + k] = more[k];
      memcpy(more[k].data, saved[k], more[k].size);
    }
    vyre_module *m = import_read(pass ? &words : &optimized);
    import_run(m, N / 4, buffers, 2 + count);
    if (pass) {
      assert_memory_equal(first, out, sizeof(out));
      module = m;
    } else {
      memcpy(first, out, sizeof(out));
      vyre_module_destroy(m);
    }
  }
  vyre_bytes_free(&words);
  vyre_bytes_free(&optimized);
  return module;
}

static vyre_module *
run(const char *glsl)
{
  return run_with(glsl, NULL, 0);
}

COMPUTES_AND_HAS(struct_values_are_leaves, HEAD "struct P { uint a; uvec2 b; uint c[3]; };\n"
         "P make(uint v) { P p; p.a = v; p.b = uvec2(v + 1u, v + 2u); p.c[0] = 7u; p.c[1] = v; p.c[2] = 9u; return p; }\n"
         "uint sum(P p) { return p.a + p.b.x * 2u + p.b.y * 3u + p.c[0] + p.c[1] + p.c[2]; }\n" MAIN(
         P p = make(x[i]); P q = p; q.b.y = 100u; q.c[1] += p.a; y[i] = sum(p) + sum(q) * 1000u;),
         x + (x + 1) * 2 + (x + 2) * 3 + 16 + x + (x + (x + 1) * 2 + 300 + 16 + x + x) * 1000,
         {VYRE_OP_var, 0}, {VYRE_OP_buffer, 2})

COMPUTES(parameters_by_reference, HEAD "void twice(inout uint v, out uint w) { v *= 2u; w = v + 1u; }\n"
         "void fill(inout uint a[4], uint k) { for (uint j = 0u; j < 4u; j++) { a[j] += j * k; if (a[j] > 60u) return; } }\n"
         "struct S { uint p; uint q[2]; };\n" MAIN(
         S s; s.p = x[i]; s.q[0] = 1u; s.q[1] = 2u; twice(s.p, s.q[1]); uint a[4] = {1u, 2u, 3u, 4u}; fill(a, x[i]);
         y[i] = s.p + s.q[1] * 100u + a[3] * 10000u + a[0] + a[2];),
         x * 2 + (x * 2 + 1) * 100 + (3 + 2 * x > 60 ? 4u : 4 + 3 * x) * 10000 + 1 + 3 + (2 + x > 60 ? 0 : 2 * x))

COMPUTES(globals_written_by_functions_in_loops, HEAD "uint total = 3u; uint seen;\nvoid add(uint v) { if (v == 6u) return; total += v; seen = v; }\n"
         "void deep(uint v) { add(v); add(v + 1u); }\n" MAIN(
         seen = 0u; for (uint k = 0u; k < x[i]; k++) { if (k == 9u) break; deep(k); } y[i] = total * 100u + seen;),
         ONE_OF(1203, 5508, 7209, 7209, 7209, 7209, 7209, 7209, 7209, 7209, 7209, 7209, 7209, 7209, 7209, 7209))

TEST(constant_tables)
{
  vyre_module *m = run(HEAD "const uint table[5] = {2u, 3u, 5u, 7u, 11u};\nconst uvec2 pairs[2] = {uvec2(1u, 2u), uvec2(3u, 4u)};\n"
                            "uint at(uint k) { return table[k % 5u]; }\n" MAIN(
                              uint s = 0u; for (uint k = 0u; k < 3u; k++) s = s * 20u + at(x[i] + k); y[i] = s * 10u + pairs[i & 1u].y;));
  static const uint32_t table[5] = {2, 3, 5, 7, 11};
  EXPECT(((table[x % 5] * 20 + table[(x + 1) % 5]) * 20 + table[(x + 2) % 5]) * 10 + (i & 1 ? 4 : 2));
  uint32_t constant = 0;
  const vyre_view *v = vyre_module_view(m);
  for (uint32_t row = 1; row < v->rows; row++)
    if (VYRE_ROW_OP(v->op[row]) == VYRE_OP_buffer) {
      constant += VYRE_BUFFER_SPACE(v->imm_hi[row]) == VYRE_SPACE_CONSTANT;
      assert_int_not_equal(VYRE_BUFFER_SPACE(v->imm_hi[row]), VYRE_SPACE_PRIVATE);
    }
  assert_int_equal(constant, 2);
  vyre_module_destroy(m);
}

COMPUTES(vectors, HEAD MAIN(uvec4 v = uvec4(x[i], i, 7u, 9u); v.zw = v.xy; v[i & 3u] += 100u; uvec3 w = v.wyx; w.y *= 2u;
         bvec3 c = lessThan(w, uvec3(20u, 40u, 30u)); uvec3 z = mix(w, uvec3(1u, 2u, 3u), c);
         y[i] = v[x[i] & 3u] + z.x * 3u + z.y * 5u + z.z * 7u + (any(c) ? 1000u : 0u) + (all(c) ? 5000u : 0u);),
         ONE_OF(1734, 2042, 6036, 1358, 1878, 2102, 1250, 1635, 2022, 2477, 1394, 1807, 2166, 2677, 1538, 1979))

COMPUTES(matrices, HEAD MAIN(float f = float(x[i]); mat3 a = mat3(1.0, 2.0, 3.0, 4.0, f, 6.0, 7.0, 8.0, 10.0); mat2x3 b = mat2x3(1.0, f, 0.0, 2.0, 1.0, 3.0);
         vec3 v = a * vec3(1.0, 2.0, f); vec2 w = vec3(f, 1.0, 2.0) * b; mat2x3 c = a * b; mat3x2 d = transpose(c);
         mat3 e = outerProduct(vec3(1.0, 2.0, 3.0), v); a[i % 3u] = v; a[1][i % 3u] += 5.0; float g = a[x[i] % 3u].y;
         y[i] = floatBitsToUint(dot(v, vec3(1.0, 10.0, 100.0)) + w.x + w.y * 3.0 + d[2].x + d[0].y + e[1].z + g
         + determinant(mat2(f, 2.0, 3.0, 4.0)) + (a * 2.0)[2].x);),
         ONE_OF(1168054272, 1177118720, 1183010816, 1185958912, 1188826624, 1191589376, 1193044224, 1194439680, 1196082176, 1197517824, 1198874880, 1200072960, 1200781184, 1201440512, 1202319360, 1203017984))

TEST(layouts_of_blocks)
{
  /* std140: float arrays in 16-byte steps, rows of a row-major matrix, a struct in an array */
  float uniform[64] = {0};
  for (int k = 0; k < 64; k++)
    uniform[k] = (float)k;
  uint32_t push[4] = {11, 22, 33, 44};
  const import_buffer more[] = {{2, uniform, sizeof(uniform)}, {100, push, sizeof(push)}};
  vyre_module *m = run_with(HEAD "struct E { vec2 p; float q; };\n"
                                 "layout(set = 0, binding = 2, std140) uniform U { float f[3]; layout(row_major) mat3 r; mat3 c; E e[2]; } u;\n"
                                 "layout(push_constant) uniform Push { uint a; layout(offset = 8) uint b; } p;\n" MAIN(
                                   uint k = i % 3u; float s = u.f[k] + u.r[k][1] * 100.0 + u.c[k][1] * 10000.0 + u.e[i & 1u].q * 1000000.0
                                   + u.r[1].z + (u.c * vec3(1.0, 0.0, 0.0)).y; y[i] = uint(s) + p.a + p.b * 3u;),
                            more, 2);
  for (uint32_t i = 0; i < N; i++) {
    const uint32_t k = i % 3;
    const float s = (float)(k * 4) + (float)(12 + 4 + k) * 100 + (float)(24 + k * 4 + 1) * 10000 + (float)(36 + (i & 1) * 4 + 2) * 1000000
                  + (12 + 8 + 1) + 25;
    assert_int_equal(out[i], (uint32_t)s + 11 + 99);
  }
  vyre_module_destroy(m);
}

TEST(specialization)
{
  vyre_module *m = run("#version 450\nlayout(local_size_x_id = 3) in;\nlayout(constant_id = 0) const uint n = 4u;\n"
                       "layout(constant_id = 1) const bool twice = false;\nlayout(constant_id = 2) const float f = 1.5;\n"
                       "layout(set = 0, binding = 0) readonly buffer In { uint x[]; };\nlayout(set = 0, binding = 1) buffer Out { uint y[]; };\n"
                       "const uint m = n * 2u + 1u;\nshared uint tile[m];\n"
                       MAIN(if (gl_WorkGroupSize.x != 1u) return; for (uint k = 0u; k < m; k++) tile[k] = k + x[i];
                            for (uint j = i; j < 16u; j += 4u) y[j] = tile[(j + 1u) % m] * (twice ? 2u : 1u) + uint(f * 4.0);));
  for (uint32_t i = 0; i < N; i++)
    assert_int_equal(out[i], (i + 1) % 9 + in[i % 4] + 6);
  const vyre_view *v = vyre_module_view(m);
  uint32_t ids = 0;
  for (uint32_t row = 1; row < v->rows; row++)
    if (VYRE_ROW_OP(v->op[row]) == VYRE_OP_spec)
      ids |= 1u << vyre_row_spec_id(m, (vyre_row){row});
  assert_int_equal(ids, 15);
  vyre_module_destroy(m);
}

COMPUTES_AND_HAS(workgroups, HEAD "shared uint t[4]; shared uint count; shared struct { ivec2 a; bool b; } s;\n" MAIN(
         uint l = gl_LocalInvocationIndex; if (l == 0u) { count = 0u; s.a = ivec2(-1, 4); s.b = true; } t[l] = x[i]; barrier(); atomicAdd(count, t[3u - l]);
         uint old = atomicMax(t[0], 50u) * 0u; memoryBarrierShared(); barrier(); if (s.b) old += uint(s.a.y);
         y[i] = count + t[0] * 1000u + old + gl_WorkGroupID.x * 7u + gl_NumWorkGroups.x + gl_LocalInvocationID.x;),
         ONE_OF(50050, 50051, 50052, 50053, 50137, 50138, 50139, 50140, 50224, 50225, 50226, 50227, 63311, 63312, 63313, 63314),
         {VYRE_OP_barrier, 3})

TEST(atomics)
{
  int32_t more[12] = {0, -5, -5, 7, 0xff, 0, 0x55, 7, 9, 0, 0, 0};
  const import_buffer b = {2, more, sizeof(more)};
  vyre_module *m = run_with("#version 450\nlayout(local_size_x = 1) in;\nlayout(set = 0, binding = 2) buffer B { int a[4]; uint b[8]; };\n"
                            "layout(set = 0, binding = 1) buffer Out { uint y[]; };\n" MAIN(
                              if (i == 0u) { int r = atomicAdd(a[0], 3) + atomicMin(a[1], -9) + atomicMax(a[2], 2); uint e = atomicExchange(b[3], 8u);
                                e += atomicAnd(b[0], 0x0fu) + atomicOr(b[1], 6u) + atomicXor(b[2], 0xffu); e += atomicCompSwap(b[4], 9u, 77u)
                                + atomicCompSwap(b[4], 9u, 5u); y[0] = uint(r) + e; } else { y[i] = 1u; }),
                            &b, 1);
  static const int32_t expected[12] = {3, -9, 2, 7, 0x0f, 6, 0xaa, 8, 77, 0, 0, 0};
  assert_memory_equal(more, expected, sizeof(expected));
  assert_int_equal(out[0], (uint32_t)(0 - 5 - 5) + 7 + 0xff + 0 + 0x55 + 9 + 77);
  assert_int_equal(out[1], 1);
  vyre_module_destroy(m);
}

/* In GLSL, atomics may change write-only memory, although they return its old value. */
TEST(atomics_on_write_only_memory)
{
  uint32_t more[4] = {7, 9, 0, 0};
  const import_buffer b = {2, more, sizeof(more)};
  vyre_module *m = run_with("#version 450\nlayout(local_size_x = 1) in;\nlayout(set = 0, binding = 2) writeonly buffer B { uint b[4]; };\n"
                            "layout(set = 0, binding = 1) buffer Out { uint y[]; };\n" MAIN(
                              if (i == 0u) { y[0] = atomicCompSwap(b[0], 7u, 8u) + atomicAdd(b[1], 2u); b[2] = 5u; } else { y[i] = 1u; }),
                            &b, 1);
  static const uint32_t expected[4] = {8, 11, 5, 0};
  assert_memory_equal(more, expected, sizeof(expected));
  assert_int_equal(out[0], 16);
  vyre_module_destroy(m);
}

COMPUTES(integers, HEAD MAIN(
         uint v = x[i] * 0x9e3779b1u; int s = int(v); uint carry; uint borrow; uint high; uint low; int shigh; int slow;
         uint r = uaddCarry(v, 0x80000000u, carry) ^ usubBorrow(i, 7u, borrow); umulExtended(v, 0x12345u, high, low); imulExtended(s, -77, shigh, slow);
         r += carry + borrow * 2u + high * 3u + low + uint(shigh) * 5u + uint(slow);
         r ^= bitfieldExtract(v, 3, 7) + uint(bitfieldExtract(s, 5, 9)) + bitfieldInsert(v, i, 4, 6) + bitfieldReverse(v);
         r += uint(bitCount(v)) + uint(findLSB(v)) * 3u + uint(findMSB(v)) * 5u + uint(findMSB(s)) * 7u;
         r ^= uint(s / 7) + uint(s % 7 + 7) + v / 9u + v % 11u + uint(s >> 3) + (v >> 5u) + (v << 2u) + uint(abs(s)) + uint(sign(s))
         + uint(clamp(s, -5, 1000)) + min(v, 99999u) + uint(max(s, -3)) + (~v) + uint(-s); y[i] = r;),
         ONE_OF(2998803304, 1748096560, 428708137, 2520196035, 498686387, 3218348326, 2759421396, 2641423602, 4036814640, 2880619816, 3377060249, 3507985664, 1438137256, 1493689406, 828105318, 4238882065))

COMPUTES(floats, HEAD MAIN(
         precise float f = float(int(x[i]) - 30) * 0.375; float whole; int e; float fraction = modf(f, whole); float mantissa = frexp(f, e);
         uint r = floatBitsToUint(fraction) ^ floatBitsToUint(whole) + uint(e + 10) * 77u + floatBitsToUint(mantissa);
         r += floatBitsToUint(ldexp(f, int(i))) ^ floatBitsToUint(floor(f)) ^ floatBitsToUint(ceil(f) + trunc(f)) ^ uint(int(f) + 50);
         r ^= floatBitsToUint(max(f, 1.0) + min(f, 0.5)) + floatBitsToUint(clamp(f, -1.0, 2.0)) + floatBitsToUint(abs(f) + sign(f)) + floatBitsToUint(sqrt(abs(f)));
         r += packHalf2x16(vec2(f, 1.0)) ^ packUnorm4x8(vec4(f, 0.5, 1.0, 0.0)) ^ floatBitsToUint(unpackHalf2x16(x[i] * 200u).x);
         r ^= (f < 1.0 ? 1u : 0u) + (f != 0.0 ? 2u : 0u) + (isnan(f) ? 4u : 0u) + (isinf(f) ? 8u : 0u) + (f >= -2.0 ? 16u : 0u) + (f == 0.0 ? 32u : 0u);
         y[i] = r;),
         ONE_OF(50653919, 39264054, 92002788, 2303003682, 2195694389, 2350967536, 2329312417, 3385291543, 2286554888, 108398829, 161397256, 154480661, 132772477, 155019317, 233261038, 3420820450))

TEST(large_values_are_copied)
{
  uint32_t from[80], to[80] = {0};
  for (uint32_t k = 0; k < 80; k++)
    from[k] = k * 3;
  const import_buffer more[] = {{2, from, sizeof(from)}, {3, to, sizeof(to)}};
  vyre_module *m = run_with("#version 450\nlayout(local_size_x = 1) in;\nstruct Big { uint v[20]; };\n"
                            "layout(set = 0, binding = 2) readonly buffer A { Big a[]; };\nlayout(set = 0, binding = 3) buffer B { Big b[]; };\n"
                            "layout(set = 0, binding = 1) buffer Out { uint y[]; };\n" MAIN(if (i < 4u) b[i] = a[3u - i]; if (i < 16u) y[i] = 0u;),
                            more, 2);
  for (uint32_t k = 0; k < 80; k++)
    assert_int_equal(to[k], from[(3 - k / 20) * 20 + k % 20]);
  assert_int_equal(import_count(m, VYRE_OP_copy), 1);
  vyre_module_destroy(m);
}
