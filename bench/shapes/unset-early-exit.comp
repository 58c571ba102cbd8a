// Shape: results of an inlined function that an early exit leaves unset.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 64) in;

layout(set = 0, binding = 0) readonly buffer Segments { vec4 segments[]; };
layout(set = 0, binding = 1) writeonly buffer Hits { vec4 hits[]; };

layout(push_constant) uniform Wall {
  vec4 line;
};

bool crosses(vec4 a, vec4 b, out vec2 point, out float along)
{
  vec2 u = a.zw - a.xy, v = b.zw - b.xy;
  float area = u.x * v.y - u.y * v.x;
  if (abs(area) < 0.001)
    return false;
  vec2 between = b.xy - a.xy;
  along = (between.x * v.y - between.y * v.x) / area;
  if (along < 0.0 || along > 1.0)
    return false;
  float across = (between.x * u.y - between.y * u.x) / area;
  if (across < 0.0 || across > 1.0)
    return false;
  point = a.xy + u * along;
  return true;
}

void main()
{
  uint at = gl_GlobalInvocationID.x;
  if (at >= min(segments.length(), hits.length()))
    return;
  vec2 point;
  float along;
  vec4 hit = vec4(-1.0);
  if (crosses(segments[at], line, point, along))
    hit = vec4(point, along, 1.0);
  if (crosses(segments[at].zwxy, line.yxwz, point, along))
    hit.xy += point * along;
  hits[at] = hit;
}
