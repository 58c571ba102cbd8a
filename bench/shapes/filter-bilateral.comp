// Shape: a bilateral filter: nested loops of a push constant's radius over an image, with exp.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 0, binding = 0, rgba32f) uniform readonly image2D source;
layout(set = 0, binding = 1) writeonly buffer Smooth { vec4 smoothed[]; };

layout(push_constant) uniform Parameters {
  int radius;
  float near;
  float similar;
};

void main()
{
  ivec2 at = ivec2(gl_GlobalInvocationID.xy), size = imageSize(source);
  int to = at.y * 32 + at.x;
  if (at.x >= 32 || to >= smoothed.length())
    return;
  int reach = radius & 3;
  vec3 middle = imageLoad(source, min(at, size - 1)).rgb;
  vec3 sum = middle;
  float total = 1.0;
  for (int y = -reach; y <= reach; y++) {
    for (int x = -reach; x <= reach; x++) {
      ivec2 other = at + ivec2(x, y);
      if (any(lessThan(other, ivec2(0))) || any(greaterThanEqual(other, size)))
        continue;
      vec3 color = imageLoad(source, other).rgb, difference = color - middle;
      float space = exp(-float(x * x + y * y) / (2.0 * near * near + 0.1));
      float range = exp(-dot(difference, difference) / (2.0 * similar * similar + 0.1));
      sum += color * space * range;
      total += space * range;
    }
  }
  smoothed[to] = vec4(sum / total, total);
}
