// Shape: specialization constants as the sizes of the workgroup, of arrays and of loops.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 32, local_size_x_id = 0) in;

layout(constant_id = 0) const uint THREADS = 32;
layout(constant_id = 1) const uint TILE = 4;
layout(constant_id = 2) const uint DEPTH = 8;
layout(constant_id = 3) const bool HAS_BIAS = true;

layout(set = 0, binding = 0) readonly buffer A { float a[]; };
layout(set = 0, binding = 1) readonly buffer B { float b[]; };
layout(set = 0, binding = 2) writeonly buffer C { float c[]; };

layout(push_constant) uniform Parameters {
  float bias;
};

shared float row[THREADS * TILE];

void main()
{
  uint thread = gl_LocalInvocationID.x, first = gl_WorkGroupID.x * THREADS * TILE;
  uint count_a = a.length(), count_b = b.length();
  for (uint i = 0u; i < TILE; i++) {
    uint at = first + i * THREADS + thread;
    row[i * THREADS + thread] = at < count_a ? a[at] : 0.0;
  }
  barrier();
  float sums[TILE];
  for (uint i = 0u; i < TILE; i++)
    sums[i] = HAS_BIAS ? bias : 0.0;
  for (uint k = 0u; k < DEPTH; k++)
    for (uint i = 0u; i < TILE; i++)
      sums[i] += row[(i * THREADS + thread + k) % (THREADS * TILE)] * (k < count_b ? b[k] : 0.0);
  for (uint i = 0u; i < TILE; i++) {
    uint at = first + i * THREADS + thread;
    if (at < c.length())
      c[at] = sums[i];
  }
}
