// Shape: the histogram of a radix sort, in shared memory, for one digit.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 128) in;

layout(constant_id = 0) const uint BITS = 4;
layout(constant_id = 1) const uint KEYS = 4;

layout(set = 0, binding = 0) readonly buffer Keys { uint keys[]; };
layout(set = 0, binding = 1) buffer Histogram { uint histogram[]; };

layout(push_constant) uniform Pass {
  uint shift;
};

shared uint counts[1u << BITS];

void main()
{
  const uint bins = 1u << BITS;
  uint thread = gl_LocalInvocationID.x, first = gl_WorkGroupID.x * 128u * KEYS;
  for (uint i = thread; i < bins; i += 128u)
    counts[i] = 0u;
  barrier();
  for (uint i = 0u; i < KEYS; i++) {
    uint at = first + i * 128u + thread;
    if (at < keys.length())
      atomicAdd(counts[bitfieldExtract(keys[at], int(shift & 7u), int(BITS))], 1u);
  }
  barrier();
  for (uint i = thread; i < bins; i += 128u) {
    uint to = i * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    if (to < histogram.length())
      histogram[to] = counts[i];
  }
}
