// Shape: k-means: the nearest center in a loop over a shared tile.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 64) in;

layout(set = 0, binding = 0) readonly buffer Points { vec4 points[]; };
layout(set = 0, binding = 1) readonly buffer Centers { vec4 centers[]; };
layout(set = 0, binding = 2) writeonly buffer Clusters { uvec2 clusters[]; };
layout(set = 0, binding = 3) buffer Counts { uint counts[64]; };

layout(push_constant) uniform Parameters {
  uint center_count;
  float bias;
};

shared vec4 tile[64];

void main()
{
  uint at = gl_GlobalInvocationID.x, thread = gl_LocalInvocationID.x, all = centers.length();
  uint count = min(center_count + 1u, all), best = 0u;
  vec4 point = at < points.length() ? points[at] : vec4(0.0);
  float nearest = 1000.0, second = 1000.0;
  for (uint first = 0u; first < count; first += 64u) {
    tile[thread] = first + thread < count ? centers[first + thread] : vec4(100.0);
    barrier();
    uint in_tile = min(64u, count - first);
    for (uint i = 0u; i < in_tile; i++) {
      vec3 away = point.xyz - tile[i].xyz;
      float distance_squared = dot(away, away) + bias * tile[i].w;
      if (distance_squared < nearest) {
        second = nearest;
        nearest = distance_squared;
        best = first + i;
      } else if (distance_squared < second)
        second = distance_squared;
    }
    barrier();
  }
  if (at < min(clusters.length(), points.length())) {
    clusters[at] = uvec2(best, floatBitsToUint(second - nearest));
    atomicAdd(counts[best & 63u], 1u);
  }
}
