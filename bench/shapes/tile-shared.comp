// Shape: steps of a simulation on a tile with borders in shared memory.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 16, local_size_y = 16) in;

layout(set = 0, binding = 0) readonly buffer Before { float before[]; };
layout(set = 0, binding = 1) writeonly buffer After { float after[]; };

layout(push_constant) uniform Heat {
  float rate;
  uint steps;
};

const int SIDE = 18;
shared float tile[2][SIDE * SIDE];

void main()
{
  ivec2 local = ivec2(gl_LocalInvocationID.xy), corner = ivec2(gl_WorkGroupID.xy) * 16 - 1;
  int thread = int(gl_LocalInvocationIndex), count = before.length();
  for (int i = thread; i < SIDE * SIDE; i += 256) {
    ivec2 at = clamp(corner + ivec2(i % SIDE, i / SIDE), ivec2(0), ivec2(31));
    tile[0][i] = at.y * 32 + at.x < count ? before[at.y * 32 + at.x] : 0.0;
    tile[1][i] = tile[0][i];
  }
  barrier();
  int here = (local.y + 1) * SIDE + local.x + 1, current = 0;
  for (uint i = 0u; i < (steps & 3u) + 1u; i++) {
    float middle = tile[current][here];
    float sum = tile[current][here - 1] + tile[current][here + 1] + tile[current][here - SIDE] + tile[current][here + SIDE];
    tile[1 - current][here] = middle + rate * (sum - 4.0 * middle);
    current = 1 - current;
    barrier();
  }
  ivec2 at = corner + 1 + local;
  if (at.x < 32 && at.y * 32 + at.x < after.length())
    after[at.y * 32 + at.x] = tile[current][here];
}
