// A particle step: nested structs, a matrix in a uniform block, push and specialization constants, early returns and a switch.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 32) in;

layout(constant_id = 3) const float RESTITUTION = 0.5;
layout(constant_id = 4) const uint SUBSTEPS = 2;

struct Motion {
  vec3 position;
  float mass;
  vec3 velocity;
  uint kind; // 0 rests, 1 falls, 2 floats in the wind, others fall and age
};

struct Particle {
  Motion motion;
  vec4 colour;
  int age;
};

layout(set = 0, binding = 0, std430) buffer Particles { Particle particles[]; };
layout(set = 0, binding = 1, std140) uniform World {
  mat3 turn;   // of the wind
  vec3 gravity;
  float floor_height;
} world;

layout(push_constant) uniform Step {
  float seconds;
  uint count;
} step_;

// The height after it bounced off the floor, and the velocity through `speed`.
float bounce(float height, inout float speed)
{
  if (height >= world.floor_height)
    return height;
  if (speed >= 0.0)
    return world.floor_height;
  speed = -speed * RESTITUTION;
  return 2.0 * world.floor_height - height;
}

vec3 force(Motion m, int age)
{
  vec3 f = vec3(0.0);
  switch (m.kind) {
  case 0u:
    return f;
  case 2u:
    f += world.turn * vec3(1.0, 0.25, float(age));
    break;
  default:
    f.y += 0.125;
  case 1u: // what ages falls too
    f += world.gravity * m.mass;
  }
  return f;
}

void main()
{
  uint i = gl_GlobalInvocationID.x;
  if (i >= step_.count)
    return;
  Particle p = particles[i];
  float dt = step_.seconds / float(SUBSTEPS);
  for (uint s = 0; s < SUBSTEPS; s++) {
    vec3 acceleration = force(p.motion, p.age) / p.motion.mass;
    p.motion.velocity += acceleration * dt;
    p.motion.position += p.motion.velocity * dt;
    p.motion.position.y = bounce(p.motion.position.y, p.motion.velocity.y);
  }
  p.age++;
  p.colour = mix(p.colour, vec4(normalize(p.motion.velocity + vec3(0.001)), 1.0), 0.25);
  particles[i] = p;
}
