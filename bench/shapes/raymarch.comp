// Shape: ray marching with while (true), breaks and a nested loop for shadows.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 0, binding = 0) writeonly buffer Image { vec4 image[]; };

layout(push_constant) uniform Camera {
  vec4 eye;
  vec4 sun;
  float time;
};

float distance_to(vec3 at)
{
  float ball = length(at - vec3(0.0, 0.25, 0.0)) - 0.5;
  vec3 cell = abs(fract(at * 0.5) * 2.0 - 1.0);
  float box = max(max(cell.x, cell.y), cell.z) - 0.2 - 0.1 * time;
  return min(min(ball, box), at.y + 0.5);
}

vec3 normal_at(vec3 at)
{
  const vec2 near = vec2(0.01, 0.0);
  vec3 slope = vec3(distance_to(at + near.xyy) - distance_to(at - near.xyy), distance_to(at + near.yxy) - distance_to(at - near.yxy),
                    distance_to(at + near.yyx) - distance_to(at - near.yyx));
  return slope / max(length(slope), 0.0001);
}

void main()
{
  uvec2 at = gl_GlobalInvocationID.xy;
  uint to = at.y * 32u + at.x;
  if (at.x >= 32u || to >= image.length())
    return;
  vec3 origin = eye.xyz + vec3(0.0, 0.5, -3.0);
  vec3 ray = normalize(vec3((vec2(at) - 16.0) / 16.0, 1.5));
  float travelled = 0.0, glow = 0.0;
  int steps = 0;
  bool is_hit = false;
  while (true) {
    float safe = distance_to(origin + ray * travelled);
    if (safe < 0.01) {
      is_hit = true;
      break;
    }
    glow += 0.02 / (1.0 + safe * 8.0);
    travelled += safe;
    if (travelled > 12.0 || ++steps >= 48)
      break;
  }
  vec3 color = vec3(0.1, 0.15, 0.3) * glow;
  if (is_hit) {
    vec3 point = origin + ray * travelled, normal = normal_at(point);
    float light = max(dot(normal, sun.xyz), 0.0), along = 0.05;
    for (int i = 0; i < 16; i++) {
      float safe = distance_to(point + sun.xyz * along);
      if (safe < 0.01) {
        light = 0.0;
        break;
      }
      light = min(light, 8.0 * safe / along);
      along += max(safe, 0.05);
    }
    color += vec3(0.8, 0.7, 0.6) * light + 0.05 * normal.y;
  }
  image[to] = vec4(color, travelled);
}
