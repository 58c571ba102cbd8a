// Shape: a matrix product with vector accumulators and tiles in shared memory.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 0, binding = 0) readonly buffer A { vec4 a[]; };
layout(set = 0, binding = 1) readonly buffer B { vec4 b[]; };
layout(set = 0, binding = 2) writeonly buffer C { vec4 c[]; };

layout(push_constant) uniform Sizes {
  uint depth;
  float alpha;
};

shared vec4 tile_a[4][8][2];
shared vec4 tile_b[8][8];

void main()
{
  uvec2 local = gl_LocalInvocationID.xy, group = gl_WorkGroupID.xy;
  uint size_a = a.length(), size_b = b.length(), tiles = (depth & 3u) + 1u;
  if (size_a == 0u || size_b == 0u)
    return;
  vec4 sums[4] = vec4[4](vec4(0.0), vec4(0.0), vec4(0.0), vec4(0.0));
  for (uint tile = 0u; tile < tiles; tile++) {
    tile_a[local.x & 3u][local.y][local.x >> 2] = a[((group.y * 32u + local.y * 4u + (local.x & 3u)) * 8u + tile * 2u + (local.x >> 2)) % size_a];
    tile_b[local.y][local.x] = b[((tile * 8u + local.y) * 8u + group.x * 8u + local.x) % size_b];
    barrier();
    for (uint k = 0u; k < 8u; k++) {
      vec4 row = tile_b[k][local.x];
      for (uint i = 0u; i < 4u; i++)
        sums[i] += tile_a[i][local.y][k >> 2][k & 3u] * row;
    }
    barrier();
  }
  for (uint i = 0u; i < 4u; i++) {
    uint at = (group.y * 32u + local.y * 4u + i) * 8u + local.x;
    if (group.x == 0u && at < c.length())
      c[at] = sums[i] * alpha;
  }
}
