// One direction of a separable Gaussian blur over an image of vec4, edges repeated.  Specialization: direction and radius.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 16, local_size_y = 4) in;

layout(constant_id = 0) const bool VERTICAL = false;
layout(constant_id = 1) const int RADIUS = 4;

layout(set = 0, binding = 0) readonly buffer Source { vec4 source[]; };
layout(set = 1, binding = 0) writeonly buffer Target { vec4 target[]; };

layout(push_constant) uniform Size {
  ivec2 size;
};

const float WEIGHTS[5] = float[5](0.2270270270, 0.1945945946, 0.1216216216, 0.0540540541, 0.0162162162);

vec4 fetch(ivec2 at)
{
  at = clamp(at, ivec2(0), size - 1);
  return source[at.y * size.x + at.x];
}

void main()
{
  ivec2 at = ivec2(gl_GlobalInvocationID.xy);
  if (any(greaterThanEqual(at, size)))
    return;
  ivec2 along = ivec2(1, 0);
  if (VERTICAL)
    along = along.yx;
  precise vec4 sum = fetch(at) * WEIGHTS[0];
  for (int i = 1; i <= RADIUS && i < 5; i++) {
    sum += fetch(at + along * i) * WEIGHTS[i];
    sum += fetch(at - along * i) * WEIGHTS[i];
  }
  target[at.y * size.x + at.x] = sum;
}
