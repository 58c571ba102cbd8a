// Tree reduction: each workgroup writes the sum, the smallest and the greatest of its elements.
// SPDX-License-Identifier: Apache-2.0
#version 450
#extension GL_GOOGLE_include_directive : enable
layout(local_size_x = 128) in;

#include "include/summary.glsl"

layout(set = 0, binding = 0) readonly buffer Input { uint data[]; };
layout(set = 0, binding = 1) writeonly buffer Output { Summary summaries[]; };

shared Summary partial[128];

void main()
{
  uint lane = gl_LocalInvocationIndex;
  uint i = gl_GlobalInvocationID.x;
  partial[lane] = i < data.length() ? summary_of(data[i]) : summary_empty();
  barrier();
  for (uint half_size = gl_WorkGroupSize.x / 2; half_size > 0; half_size >>= 1) {
    if (lane < half_size)
      partial[lane] = summary_join(partial[lane], partial[lane + half_size]);
    barrier();
  }
  if (lane == 0)
    summaries[gl_WorkGroupID.x] = partial[0];
}
