// Shape: gradient noise on a simplex grid in three dimensions, with step functions and permutations.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 64) in;

layout(set = 0, binding = 0) readonly buffer Points { vec4 points[]; };
layout(set = 0, binding = 1) writeonly buffer Noise { vec4 noises[]; };

layout(push_constant) uniform Parameters {
  float frequency;
  float warp;
};

vec4 permute(vec4 value)
{
  return mod((value * 34.0 + 1.0) * value, 289.0);
}

float corner(vec3 from, float gradient)
{
  float fade = max(0.6 - dot(from, from), 0.0);
  float ring = fract(gradient / 41.0) * 2.0 - 1.0;
  vec3 slope = vec3(ring, fract(gradient * 0.142857) * 2.0 - 1.0, 1.0 - abs(ring));
  return fade * fade * fade * fade * dot(slope, from);
}

float simplex(vec3 at)
{
  vec3 cell = floor(at + dot(at, vec3(1.0 / 3.0)));
  vec3 a = at - cell + dot(cell, vec3(1.0 / 6.0));
  vec3 greater = step(a.yzx, a.xyz), less = 1.0 - greater;
  vec3 first = min(greater.xyz, less.zxy), second = max(greater.xyz, less.zxy);
  vec3 b = a - first + 1.0 / 6.0, c = a - second + 1.0 / 3.0, d = a - 0.5;
  cell = mod(cell, 289.0);
  vec4 hashes = permute(cell.z + vec4(0.0, first.z, second.z, 1.0));
  hashes = permute(hashes + cell.y + vec4(0.0, first.y, second.y, 1.0));
  hashes = permute(hashes + cell.x + vec4(0.0, first.x, second.x, 1.0));
  return 32.0 * (corner(a, hashes.x) + corner(b, hashes.y) + corner(c, hashes.z) + corner(d, hashes.w));
}

void main()
{
  uint at = gl_GlobalInvocationID.x;
  if (at >= min(points.length(), noises.length()))
    return;
  vec3 point = points[at].xyz * frequency * 8.0;
  float first = simplex(point);
  float sum = 0.0, weight = 1.0;
  for (int i = 0; i < 3; i++) {
    sum += abs(simplex(point + first * warp)) * weight;
    point *= 2.0;
    weight *= 0.5;
  }
  noises[at] = vec4(first, sum, first * sum, 1.0);
}
