// Shape: lookups in constant tables, as for marching cubes: corners of a cell, edges of a case.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 4, local_size_y = 4, local_size_z = 4) in;

layout(set = 0, binding = 0) readonly buffer Field { float field[]; };
layout(set = 0, binding = 1) buffer Mesh { vec4 mesh[]; };
layout(set = 0, binding = 2) buffer Counters { uint counters[]; };

layout(push_constant) uniform Surface {
  float level;
};

const ivec3 CORNERS[8] = ivec3[8](ivec3(0, 0, 0), ivec3(1, 0, 0), ivec3(1, 1, 0), ivec3(0, 1, 0), ivec3(0, 0, 1), ivec3(1, 0, 1),
                                  ivec3(1, 1, 1), ivec3(0, 1, 1));
const uvec2 EDGES[12] = uvec2[12](uvec2(0, 1), uvec2(1, 2), uvec2(2, 3), uvec2(3, 0), uvec2(4, 5), uvec2(5, 6), uvec2(6, 7), uvec2(7, 4),
                                  uvec2(0, 4), uvec2(1, 5), uvec2(2, 6), uvec2(3, 7));
const int CASES[16] = int[16](0, 3, 3, 6, 3, 6, 6, 9, 3, 6, 6, 9, 6, 9, 9, 6);

float field_at(ivec3 at)
{
  int index = (at.z * 10 + at.y) * 10 + at.x;
  return index < field.length() ? field[index] : -1.0;
}

void main()
{
  ivec3 cell = ivec3(gl_GlobalInvocationID);
  int to = (cell.z * 8 + cell.y) * 8 + cell.x;
  if (any(greaterThanEqual(cell, ivec3(8))) || to >= mesh.length() || counters.length() < 16)
    return;
  float values[8];
  uint inside = 0u;
  for (int i = 0; i < 8; i++) {
    values[i] = field_at(cell + CORNERS[i]);
    if (values[i] > level)
      inside |= 1u << i;
  }
  vec3 sum = vec3(0.0);
  uint crossed = 0u;
  for (int i = 0; i < 12; i++) {
    uvec2 edge = EDGES[i];
    if (((inside >> edge.x ^ inside >> edge.y) & 1u) == 0u)
      continue;
    float a = values[edge.x], b = values[edge.y];
    sum += mix(vec3(CORNERS[edge.x]), vec3(CORNERS[edge.y]), (level - a) / (b - a));
    crossed++;
  }
  int vertices = CASES[inside & 15u] + CASES[inside >> 4];
  atomicAdd(counters[inside & 15u], uint(vertices));
  mesh[to] = vec4(crossed > 0u ? sum / float(crossed) : vec3(0.0), float(vertices));
}
