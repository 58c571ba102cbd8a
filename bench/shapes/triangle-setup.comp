// Shape: triangle setup: edge functions, a bounding box and push constants.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 64) in;

struct Setup {
  ivec4 box;
  vec4 edges[3];
  vec4 depth;
};

layout(set = 0, binding = 0) readonly buffer Vertices { vec4 vertices[]; };
layout(set = 0, binding = 1) readonly buffer Indices { uint indices[]; };
layout(set = 0, binding = 2) buffer Setups { Setup setups[]; };
layout(set = 0, binding = 3) buffer Counter { uint visible; };

layout(push_constant) uniform View {
  vec2 scale;
  vec2 offset;
  ivec4 scissor;
  uint flags;
};

vec3 to_screen(vec4 position)
{
  float w = abs(position.w) + 0.5;
  return vec3(position.xy / w * scale * 64.0 + offset * 8.0 + 32.0, position.z / w);
}

vec4 edge(vec2 a, vec2 b)
{
  vec2 normal = vec2(a.y - b.y, b.x - a.x);
  float bias = normal.x > 0.0 || (normal.x == 0.0 && normal.y > 0.0) ? 0.0 : -1.0 / 256.0;
  return vec4(normal, -dot(normal, a) + bias, 0.0);
}

void main()
{
  uint at = gl_GlobalInvocationID.x;
  if (at >= setups.length() || at * 3u + 2u >= indices.length() || vertices.length() == 0)
    return;
  vec3 a = to_screen(vertices[indices[at * 3u] % vertices.length()]);
  vec3 b = to_screen(vertices[indices[at * 3u + 1u] % vertices.length()]);
  vec3 c = to_screen(vertices[indices[at * 3u + 2u] % vertices.length()]);
  float area = (b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y);
  if (area < 0.0 && (flags & 1u) == 0u) {
    vec3 other = b;
    b = c;
    c = other;
    area = -area;
  }
  ivec2 low = max(ivec2(floor(min(a.xy, min(b.xy, c.xy)))), scissor.xy);
  ivec2 high = min(ivec2(ceil(max(a.xy, max(b.xy, c.xy)))), scissor.zw + 64);
  Setup made;
  made.box = ivec4(low, high);
  made.edges[0] = edge(b.xy, c.xy);
  made.edges[1] = edge(c.xy, a.xy);
  made.edges[2] = edge(a.xy, b.xy);
  float inverse = abs(area) > 0.001 ? 1.0 / area : 0.0;
  made.depth = (made.edges[0] * a.z + made.edges[1] * b.z + made.edges[2] * c.z) * inverse;
  if (area <= 0.0 || any(greaterThanEqual(low, high)))
    made.box = ivec4(0);
  else
    atomicAdd(visible, 1u);
  setups[at] = made;
}
