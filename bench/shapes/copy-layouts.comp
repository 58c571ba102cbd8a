// Shape: whole structs copied from the layout of a uniform block through a variable to that of a buffer.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 64) in;

struct Material {
  vec3 albedo;
  float rough;
  float layers[6];
  vec2 offset;
};

layout(set = 0, binding = 0, std140) uniform Defaults { Material defaults[4]; };
layout(set = 0, binding = 1, std430) buffer Materials { Material materials[]; };
layout(set = 0, binding = 2, std430) readonly buffer Kinds { uint kinds[]; };

void main()
{
  uint at = gl_GlobalInvocationID.x;
  if (at >= min(materials.length(), kinds.length()))
    return;
  uint kind = kinds[at];
  Material material = materials[at];
  if ((kind & 4u) != 0u)
    material = defaults[kind & 3u];
  for (uint i = 0u; i < 6u; i++)
    if ((kind >> i & 1u) != 0u)
      material.layers[i] = material.layers[i] * 0.5 + defaults[(kind + i) & 3u].layers[i];
  material.offset = material.offset.yx;
  materials[at] = material;
}
