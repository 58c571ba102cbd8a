// Shape: a separable 5x5 filter: image loads to shared memory, then rows and columns.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 16, local_size_y = 8) in;

layout(set = 0, binding = 0, rgba32f) uniform readonly image2D source;
layout(set = 0, binding = 1) writeonly buffer Blurred { vec4 blurred[]; };

layout(set = 0, binding = 2) uniform Weights {
  vec4 weights[5];
};

shared vec4 loaded[12][20];
shared vec4 rows[12][16];

void main()
{
  ivec2 size = imageSize(source), corner = ivec2(gl_WorkGroupID.xy) * ivec2(16, 8) - 2;
  ivec2 local = ivec2(gl_LocalInvocationID.xy);
  for (int y = local.y; y < 12; y += 8)
    for (int x = local.x; x < 20; x += 16)
      loaded[y][x] = imageLoad(source, clamp(corner + ivec2(x, y), ivec2(0), size - 1));
  barrier();
  for (int y = local.y; y < 12; y += 8) {
    vec4 sum = vec4(0.0);
    for (int i = 0; i < 5; i++)
      sum += loaded[y][local.x + i] * weights[i].x;
    rows[y][local.x] = sum;
  }
  barrier();
  vec4 sum = vec4(0.0);
  for (int i = 0; i < 5; i++)
    sum += rows[local.y + i][local.x] * weights[i].y;
  ivec2 at = corner + 2 + local;
  if (at.x < 32 && at.y * 32 + at.x < blurred.length())
    blurred[at.y * 32 + at.x] = sum;
}
