// Shape: a loop of few steps with much code that does not change in it (light through an atmosphere).
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 0, binding = 0) uniform Sky {
  vec4 sun;
  vec4 rayleigh;
  vec4 mie;
  float planet;
  float height;
};
layout(set = 0, binding = 1) writeonly buffer Table { vec4 table[]; };

vec3 density_at(float altitude)
{
  vec3 scatter = abs(rayleigh.rgb) * exp(-altitude / (0.08 + abs(height)));
  return scatter + abs(mie.rgb) * exp(-altitude / 0.012);
}

vec3 through(vec3 from, vec3 along)
{
  float radius = 1.0 + abs(planet);
  vec3 depth = vec3(0.0);
  for (int i = 0; i < 8; i++) {
    float b = dot(from, along), c = dot(from, from) - (radius + 0.1) * (radius + 0.1);
    float reach = -b + sqrt(max(b * b - c, 0.0));
    float size = reach / 8.0;
    vec3 at = from + along * (size * (float(i) + 0.5));
    depth += density_at(max(length(at) - radius, 0.0)) * size;
  }
  return exp(-depth);
}

void main()
{
  uvec2 pixel = gl_GlobalInvocationID.xy;
  uint to = pixel.y * 32u + pixel.x;
  if (pixel.x >= 32u || to >= table.length())
    return;
  float radius = 1.0 + abs(planet);
  vec2 angle = (vec2(pixel) + 0.5) / 32.0;
  vec3 along = normalize(vec3(cos(angle.x * 6.2831853), angle.y * 2.0 - 0.5, sin(angle.x * 6.2831853)));
  vec3 eye = vec3(0.0, radius + 0.01, 0.0), light = vec3(0.0), reached = vec3(1.0);
  for (int i = 0; i < 8; i++) {
    vec3 to_sun = normalize(sun.xyz + vec3(0.0, 1.5, 0.0));
    float cosine = dot(along, to_sun), phase = 0.0597 * (1.0 + cosine * cosine);
    float haze = 0.08 * 0.36 / pow(1.64 - 1.6 * cosine, 1.5);
    vec3 at = eye + along * (0.02 * (float(i) + 0.5));
    vec3 density = density_at(max(length(at) - radius, 0.0));
    light += reached * through(at, to_sun) * (density * (phase + haze)) * 0.02;
    reached *= exp(-density * 0.02);
  }
  table[to] = vec4(light, reached.g);
}
