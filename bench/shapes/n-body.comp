// Shape: n-body forces: a loop over tiles in shared memory, with inverse square roots.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 64) in;

layout(set = 0, binding = 0) readonly buffer Bodies { vec4 bodies[]; };
layout(set = 0, binding = 1) buffer Velocities { vec4 velocities[]; };

layout(push_constant) uniform Parameters {
  float dt;
  float softening;
};

shared vec4 tile[64];

vec3 pull(vec4 body, vec3 position, vec3 sum)
{
  vec3 away = body.xyz - position;
  float distance_squared = dot(away, away) + softening * softening + 0.01;
  float inverse = inversesqrt(distance_squared);
  return sum + away * (body.w * inverse * inverse * inverse);
}

void main()
{
  uint at = gl_GlobalInvocationID.x, thread = gl_LocalInvocationID.x, count = bodies.length();
  if (count == 0u)
    return;
  vec3 position = bodies[min(at, count - 1u)].xyz, acceleration = vec3(0.0);
  for (uint first = 0u; first < min(count, 512u); first += 64u) {
    tile[thread] = first + thread < count ? bodies[first + thread] : vec4(0.0);
    barrier();
    for (uint i = 0u; i < 64u; i += 4u) {
      acceleration = pull(tile[i], position, acceleration);
      acceleration = pull(tile[i + 1u], position, acceleration);
      acceleration = pull(tile[i + 2u], position, acceleration);
      acceleration = pull(tile[i + 3u], position, acceleration);
    }
    barrier();
  }
  if (at < min(count, velocities.length()))
    velocities[at].xyz += acceleration * dt;
}
