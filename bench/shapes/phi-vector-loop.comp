// Shape: two vectors that a loop carries, one of them replaced under a condition.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 64) in;

layout(set = 0, binding = 0) readonly buffer Forces { vec4 forces[]; };
layout(set = 0, binding = 1) buffer Positions { vec4 positions[]; };

layout(push_constant) uniform Step {
  uint steps;
  float dt;
};

void main()
{
  uint at = gl_GlobalInvocationID.x;
  if (at >= positions.length() || forces.length() == 0)
    return;
  vec4 position = positions[at], velocity = vec4(0.0);
  uint count = steps % 24u;
  for (uint i = 0u; i < count; i++) {
    vec4 force = forces[(at * 7u + i) % forces.length()];
    velocity += force * dt;
    if (dot(velocity.xyz, velocity.xyz) > 0.5)
      velocity = vec4(velocity.yzx * 0.25, velocity.w);
    position = vec4(position.xyz + velocity.xyz * dt, max(position.w, velocity.w));
    if (position.y < -1.0)
      position.y = -2.0 - position.y;
  }
  positions[at] = position;
}
