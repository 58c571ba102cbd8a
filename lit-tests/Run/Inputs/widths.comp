// Every width of integer and float, in memory and in computations.
// SPDX-License-Identifier: Apache-2.0
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require
layout(local_size_x = 64) in;
layout(constant_id = 1) const int64_t K = -5000000000L;
layout(constant_id = 2) const int16_t S = -7s;
layout(set=0,binding=0) readonly buffer A { int64_t a[]; };
layout(set=0,binding=1) readonly buffer B { int16_t b[]; };
layout(set=0,binding=2) readonly buffer C { uint8_t c[]; };
layout(set=0,binding=3) readonly buffer D { float16_t d[]; };
layout(set=0,binding=4) readonly buffer E { double e[]; };
struct R { int64_t x; uint64_t y; int16_t p; uint16_t q; int8_t r; uint8_t s; float16_t h; f16vec2 hv; double g; i16vec4 v; i8vec4 w; int n; };
layout(set=0,binding=5) writeonly buffer O { R o[]; };
shared int64_t sh[64];
const int64_t T[4] = int64_t[4](1L, -2L, 0x123456789abcdefL, 4L);
void main() {
  uint i = gl_GlobalInvocationID.x;
  int64_t x = a[i]; int16_t p = b[i]; uint8_t s = c[i]; float16_t h = d[i]; double g = e[i];
  sh[gl_LocalInvocationIndex] = x * 3L;
  barrier();
  R r;
  r.x = (x + K) * sh[(gl_LocalInvocationIndex + 1u) & 63u] + T[i & 3u];
  r.y = uint64_t(x) >> (uint(i) & 31u) ^ uint64_t(p);
  r.p = p * S + int16_t(s) - (p << 3s);
  r.q = uint16_t(p) / (uint16_t(s) | 1us) + uint16_t(x);
  r.r = int8_t(p) - int8_t(s);
  r.s = uint8_t(s * uint8_t(3)) + uint8_t(p);
  r.h = h * float16_t(1.5) + float16_t(p) - float16_t(g);
  r.hv = f16vec2(h) + f16vec2(p, s);
  r.g = g * 1.25lf + double(h) - double(x) + double(s);
  r.v = i16vec4(p) + i16vec4(1s, -2s, 3s, -4s);
  r.w = i8vec4(s) * i8vec4(1, -2, 3, -4);
  int n = 0;
  switch (int(x) & 3) { case 0: n = 1; break; case 1: n = 7; break; case 2: n = 5; default: n += 100; }
  switch (int(p)) { case -1: n += 1000; break; default: n += int(h > float16_t(0.25)) * 10000 + int(g > 0.25lf) * 20000; }
  r.n = n;
  o[i] = r;
}
