// Shape: frustum culling with the planes in a uniform block, and compaction by an atomic.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 64) in;

struct Draw {
  uint count;
  uint instances;
  uint first;
  int vertex_offset;
};

layout(set = 0, binding = 0) uniform View {
  vec4 planes[6];
  mat4 world;
  vec4 eye;
  float lod_scale;
  uint is_enabled;
};
layout(set = 0, binding = 1) readonly buffer Spheres { vec4 spheres[]; };
layout(set = 0, binding = 2) buffer Draws { Draw draws[]; };
layout(set = 0, binding = 3) buffer Counts { uint counts[4]; };

bool is_visible(vec3 center, float radius)
{
  for (int i = 0; i < 6; i++) {
    if (dot(planes[i].xyz, center) + planes[i].w < -radius)
      return false;
  }
  return true;
}

void main()
{
  uint at = gl_GlobalInvocationID.x;
  if (at >= min(spheres.length(), draws.length()))
    return;
  vec4 sphere = spheres[at];
  vec3 center = (world * vec4(sphere.xyz, 1.0)).xyz;
  float grow = max(length(world[0].xyz), max(length(world[1].xyz), length(world[2].xyz)));
  bool visible = (is_enabled & 1u) == 0u || is_visible(center, abs(sphere.w) * grow);
  uint level = uint(clamp(length(center - eye.xyz) * abs(lod_scale), 0.0, 3.0));
  if (visible) {
    draws[at].instances = 1u;
    draws[at].first = level * 16u;
    atomicAdd(counts[level], 1u);
  } else
    draws[at].instances = 0u;
}
