#version 460
#extension GL_EXT_null_initializer : require
// SPDX-License-Identifier: Apache-2.0
#ifndef LARGE
#define LARGE 4100
#endif
// Arrays that are assigned as a whole: one with a specialized length, and one too long for values.
layout(local_size_x = 4) in;
layout(constant_id = 0) const uint N = 4;
layout(set = 0, binding = 0) buffer B { uint x[]; };
struct Row {
  uint a[N];
  float f;
};
uint once(uint i)
{
  Row row = {};
  row.a[i % N] += i + 1u;
  uint large[LARGE] = {};
  large[i * 9u] += 10u;
  uint sum = uint(row.f);
  for (uint k = 0u; k < N; k++)
    sum += row.a[k];
  for (uint k = 0u; k < 4u; k++)
    sum += large[k * 9u];
  return sum;
}
void main()
{
  uint i = gl_GlobalInvocationID.x, total = 0u;
  const uint none[LARGE] = {};
  for (uint k = 0u; k < 3u; k++)
    total += once(i & 3u);
  x[i] = total + none[i];
}
