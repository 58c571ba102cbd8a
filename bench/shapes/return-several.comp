// Shape: an inlined function with several returns that nests in another one.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 64) in;

layout(set = 0, binding = 0) readonly buffer Points { vec4 points[]; };
layout(set = 0, binding = 1) writeonly buffer Kinds { vec4 shaded[]; };

layout(push_constant) uniform Bounds {
  vec4 low;
  vec4 high;
};

float ramp(float value)
{
  if (value < low.w)
    return 0.0;
  if (value > high.w)
    return 1.0;
  float range = high.w - low.w;
  if (abs(range) < 0.0001)
    return 0.5;
  return (value - low.w) / range;
}

vec3 shade(vec3 point)
{
  if (point.x < low.x || point.x > high.x)
    return vec3(ramp(point.y), 0.0, 0.0);
  float height = ramp(point.z);
  if (height <= 0.0)
    return point * 0.25;
  if (point.y < low.y)
    return vec3(0.0, height, ramp(point.x));
  return mix(point, point.zxy, height);
}

void main()
{
  uint at = gl_GlobalInvocationID.x;
  if (at >= min(points.length(), shaded.length()))
    return;
  vec3 one = shade(points[at].xyz);
  shaded[at] = vec4(one + shade(points[at].wyx), ramp(points[at].w));
}
