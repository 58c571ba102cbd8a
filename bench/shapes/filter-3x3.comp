// Shape: a 3x3 filter with image loads (edge detection).
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 0, binding = 0, rgba32f) uniform readonly image2D source;
layout(set = 0, binding = 1) writeonly buffer Edges { vec2 edges[]; };

layout(push_constant) uniform Parameters {
  float threshold;
};

const float ALONG[9] = float[9](-1.0, 0.0, 1.0, -2.0, 0.0, 2.0, -1.0, 0.0, 1.0);

float brightness(ivec2 at, ivec2 size)
{
  vec4 color = imageLoad(source, clamp(at, ivec2(0), size - 1));
  return dot(color.rgb, vec3(0.299, 0.587, 0.114));
}

void main()
{
  ivec2 at = ivec2(gl_GlobalInvocationID.xy), size = imageSize(source);
  int to = at.y * 32 + at.x;
  if (at.x >= 32 || to >= edges.length())
    return;
  vec2 sum = vec2(0.0);
  for (int y = -1; y <= 1; y++)
    for (int x = -1; x <= 1; x++) {
      float value = brightness(at + ivec2(x, y), size);
      sum.x += value * ALONG[(y + 1) * 3 + x + 1];
      sum.y += value * ALONG[(x + 1) * 3 + y + 1];
    }
  float strength = sqrt(dot(sum, sum));
  edges[to] = strength > threshold ? vec2(strength, atan(sum.y, sum.x)) : vec2(0.0);
}
