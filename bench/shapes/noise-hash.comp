// Shape: value noise from integer hashes, and a fractal sum of it in a loop.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 0, binding = 0) writeonly buffer Terrain { vec2 terrain[]; };

layout(push_constant) uniform Noise {
  vec2 offset;
  float gain;
  uint octaves;
};

uint hash(uvec2 at)
{
  uint value = at.x * 1664525u + at.y * 22695477u;
  value ^= value >> 16;
  value *= 2246822519u;
  value ^= value >> 13;
  value *= 3266489917u;
  return value ^ value >> 16;
}

float value_at(ivec2 at)
{
  return float(hash(uvec2(at)) >> 8) / 16777216.0;
}

float noise(vec2 at)
{
  vec2 whole = floor(at), part = at - whole;
  ivec2 cell = ivec2(whole);
  part = part * part * (3.0 - 2.0 * part);
  float low = mix(value_at(cell), value_at(cell + ivec2(1, 0)), part.x);
  float high = mix(value_at(cell + ivec2(0, 1)), value_at(cell + ivec2(1, 1)), part.x);
  return mix(low, high, part.y);
}

void main()
{
  uvec2 at = gl_GlobalInvocationID.xy;
  uint to = at.y * 32u + at.x;
  if (at.x >= 32u || to >= terrain.length())
    return;
  vec2 point = vec2(at) * 0.125 + offset;
  float sum = 0.0, weight = 0.5, ridges = 0.0;
  for (uint i = 0u; i < (octaves & 7u) + 1u; i++) {
    float value = noise(point);
    sum += value * weight;
    ridges = max(ridges, weight * (1.0 - abs(value * 2.0 - 1.0)));
    point = point.yx * 2.0 + vec2(1.7, 9.2);
    weight *= gain;
  }
  terrain[to] = vec2(sum, ridges);
}
