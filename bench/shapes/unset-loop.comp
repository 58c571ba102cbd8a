// Shape: variables that the first iteration of a loop sets and later iterations read.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 64) in;

layout(set = 0, binding = 0) readonly buffer Curve { vec4 points[]; };
layout(set = 0, binding = 1) writeonly buffer Lengths { vec4 lengths[]; };

layout(push_constant) uniform Count {
  uint samples;
};

void main()
{
  uint at = gl_GlobalInvocationID.x;
  if (at >= lengths.length() || points.length() == 0)
    return;
  vec3 last, bend;
  float turn;
  float length_sum = 0.0, turn_sum = 0.0;
  for (uint i = 0u; i < (samples & 31u) + 3u; i++) {
    vec3 point = points[(at + i) % points.length()].xyz;
    if (i > 0u) {
      vec3 step_now = point - last;
      length_sum += dot(step_now, step_now);
      if (i > 1u) {
        turn = dot(step_now, bend);
        turn_sum += turn * turn;
      }
      bend = step_now;
    }
    last = point;
  }
  lengths[at] = vec4(length_sum, turn_sum, turn, last.z);
}
