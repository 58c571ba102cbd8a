// Shape: a BVH that a ray visits with a small array as the stack.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 64) in;

struct Node {
  vec3 low;
  uint left;
  vec3 high;
  uint count;
};

layout(set = 0, binding = 0) readonly buffer Nodes { Node nodes[]; };
layout(set = 0, binding = 1) readonly buffer Rays { vec4 rays[]; };
layout(set = 0, binding = 2) writeonly buffer Hits { vec4 hits[]; };

bool hits_box(vec3 origin, vec3 inverse, vec3 low, vec3 high, float nearest, out float entry)
{
  vec3 a = (low - origin) * inverse, b = (high - origin) * inverse;
  vec3 near = min(a, b), far = max(a, b);
  entry = max(max(near.x, near.y), max(near.z, 0.0));
  return entry <= min(min(far.x, far.y), min(far.z, nearest));
}

void main()
{
  uint at = gl_GlobalInvocationID.x, node_count = nodes.length();
  if (at * 2u + 1u >= rays.length() || at >= hits.length() || node_count == 0u)
    return;
  vec3 origin = rays[at * 2u].xyz, direction = rays[at * 2u + 1u].xyz;
  vec3 inverse = 1.0 / mix(direction, vec3(0.001), lessThan(abs(direction), vec3(0.001)));
  uint stack[16];
  uint depth = 1u, visited = 0u, best = ~0u;
  float nearest = 100.0;
  stack[0] = 0u;
  while (depth > 0u && visited < 64u) {
    uint index = stack[--depth];
    visited++;
    Node node = nodes[index];
    float entry;
    if (!hits_box(origin, inverse, node.low, node.high + 0.5, nearest, entry))
      continue;
    if ((node.count & 3u) == 0u || depth + 2u > 16u) {
      if (entry < nearest) {
        nearest = entry;
        best = index;
      }
      continue;
    }
    uint left = (index * 2u + 1u + (node.left & 1u)) % node_count, right = (left + 1u) % node_count;
    bool left_first = direction.x * (nodes[left].low.x - nodes[right].low.x) < 0.0;
    stack[depth++] = left_first ? right : left;
    stack[depth++] = left_first ? left : right;
  }
  hits[at] = vec4(nearest, float(best), float(visited), float(depth));
}
