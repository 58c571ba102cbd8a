// Shape: a prefix scan in shared memory, with a barrier in each step.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 128) in;

layout(set = 0, binding = 0) buffer Values { uint values[]; };
layout(set = 0, binding = 1) writeonly buffer Sums { uint sums[]; };

shared uint partial[256];

void main()
{
  uint thread = gl_LocalInvocationID.x, group = gl_WorkGroupID.x * 256u, count = values.length();
  uint a = group + thread * 2u, b = a + 1u;
  partial[thread * 2u] = a < count ? values[a] : 0u;
  partial[thread * 2u + 1u] = b < count ? values[b] : 0u;
  uint offset = 1u;
  for (uint half_count = 128u; half_count > 0u; half_count >>= 1) {
    barrier();
    if (thread < half_count) {
      uint from = offset * (2u * thread + 1u) - 1u, to = offset * (2u * thread + 2u) - 1u;
      partial[to] += partial[from];
    }
    offset *= 2u;
  }
  barrier();
  if (thread == 0u) {
    if (gl_WorkGroupID.x < sums.length())
      sums[gl_WorkGroupID.x] = partial[255];
    partial[255] = 0u;
  }
  for (uint half_count = 1u; half_count < 256u; half_count *= 2u) {
    offset >>= 1;
    barrier();
    if (thread < half_count) {
      uint from = offset * (2u * thread + 1u) - 1u, to = offset * (2u * thread + 2u) - 1u;
      uint kept = partial[from];
      partial[from] = partial[to];
      partial[to] += kept;
    }
  }
  barrier();
  if (a < count)
    values[a] = partial[thread * 2u];
  if (b < count)
    values[b] = partial[thread * 2u + 1u];
}
