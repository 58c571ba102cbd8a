// Shape: a struct that a loop carries and replaces as a whole.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 64) in;

struct Particle {
  vec3 position;
  float age;
  vec3 velocity;
  uint seed;
};

layout(set = 0, binding = 0) buffer Particles { Particle particles[]; };

layout(push_constant) uniform Parameters {
  vec4 gravity;
  float dt;
  float lifetime;
  uint steps;
};

uint next_random(uint seed)
{
  seed ^= seed << 13;
  seed ^= seed >> 17;
  return seed ^ (seed << 5);
}

Particle born(Particle old)
{
  Particle young;
  young.seed = next_random(old.seed | 1u);
  young.position = vec3(young.seed & 255u, (young.seed >> 8) & 255u, (young.seed >> 16) & 255u) / 255.0;
  young.velocity = young.position.zxy - 0.5;
  young.age = 0.0;
  return young;
}

Particle moved(Particle old)
{
  Particle later = old;
  later.velocity += gravity.xyz * dt;
  later.position += later.velocity * dt;
  later.age += abs(dt);
  return later;
}

void main()
{
  uint at = gl_GlobalInvocationID.x;
  if (at >= particles.length())
    return;
  Particle particle = particles[at];
  for (uint i = 0u; i < (steps & 15u); i++) {
    if (particle.age > lifetime)
      particle = born(particle);
    else
      particle = moved(particle);
  }
  particles[at] = particle;
}
