// Shape: an inlined function that returns in the cases of a switch.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 64) in;

layout(set = 0, binding = 0) readonly buffer Base { vec4 base[]; };
layout(set = 0, binding = 1) readonly buffer Layer { vec4 layer[]; };
layout(set = 0, binding = 2) writeonly buffer Blended { vec4 blended[]; };

layout(push_constant) uniform Mode {
  uint mode;
  float opacity;
};

float blend(float a, float b, uint how)
{
  switch (how) {
  case 0u:
    return b;
  case 1u:
    return a * b;
  case 2u:
    return a + b - a * b;
  case 3u:
    if (a < 0.5)
      return 2.0 * a * b;
    return 1.0 - 2.0 * (1.0 - a) * (1.0 - b);
  case 4u:
    return min(a, b);
  case 5u:
    return max(a, b);
  case 6u:
    if (b >= 1.0)
      return 1.0;
    return min(a / max(1.0 - b, 0.01), 1.0);
  }
  return abs(a - b);
}

void main()
{
  uint at = gl_GlobalInvocationID.x;
  if (at >= min(min(base.length(), layer.length()), blended.length()))
    return;
  vec4 a = base[at], b = layer[at];
  vec3 mixed = vec3(blend(a.r, b.r, mode & 7u), blend(a.g, b.g, mode & 7u), blend(a.b, b.b, mode & 7u));
  blended[at] = vec4(mix(a.rgb, mixed, b.a * opacity), a.a);
}
