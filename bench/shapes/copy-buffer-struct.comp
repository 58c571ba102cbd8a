// Shape: a struct with arrays in a read-only buffer, passed by value and indexed.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 64) in;

struct Spline {
  vec4 knots[8];
  float times[8];
  uint used;
  uint kind;
};

layout(set = 0, binding = 0) readonly buffer Splines { Spline splines[]; };
layout(set = 0, binding = 1) writeonly buffer Values { vec4 values[]; };

layout(push_constant) uniform Time {
  float now;
};

vec4 value_of(Spline spline, float time)
{
  uint last = spline.used & 7u;
  for (uint i = 0u; i < last; i++) {
    if (time < spline.times[i]) {
      uint before = i == 0u ? 0u : i - 1u;
      vec4 a = spline.knots[before], b = spline.knots[i];
      return (spline.kind & 1u) == 0u ? mix(a, b, 0.5) : a + (b - a) * abs(spline.times[i] - time);
    }
  }
  return spline.knots[last];
}

void main()
{
  uint at = gl_GlobalInvocationID.x;
  if (at >= values.length() || splines.length() == 0)
    return;
  Spline spline = splines[at % splines.length()];
  values[at] = value_of(spline, now) + value_of(spline, -now) * 0.5;
}
