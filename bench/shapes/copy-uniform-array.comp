// Shape: an array of structs copied whole from a uniform block and indexed in a loop.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 64) in;

struct Light {
  vec4 position;
  vec3 color;
  float reach;
};

layout(set = 0, binding = 0, std140) uniform Lights {
  Light lights[16];
  uint count;
};
layout(set = 0, binding = 1) readonly buffer Points { vec4 points[]; };
layout(set = 0, binding = 2) writeonly buffer Colors { vec4 colors[]; };

vec3 shade(Light all[16], vec3 point)
{
  vec3 sum = vec3(0.0);
  for (uint i = 0u; i < min(count, 16u); i++) {
    vec3 away = all[i].position.xyz - point;
    float distance_squared = dot(away, away) + 0.01;
    float fade = max(1.0 - distance_squared * all[i].reach, 0.0);
    sum += all[i].color * (fade * fade / distance_squared);
  }
  return sum;
}

void main()
{
  uint at = gl_GlobalInvocationID.x;
  if (at >= min(points.length(), colors.length()))
    return;
  Light copied[16] = lights;
  colors[at] = vec4(shade(copied, points[at].xyz), 1.0);
}
