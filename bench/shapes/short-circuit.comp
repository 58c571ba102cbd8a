// Shape: && and || with operands that load memory or call functions.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 64) in;

layout(set = 0, binding = 0) readonly buffer Heights { float heights[]; };
layout(set = 0, binding = 1) writeonly buffer Masks { uint masks[]; };

layout(push_constant) uniform Grid {
  ivec2 size;
  float level;
};

bool is_inside(ivec2 at)
{
  return at.x >= 0 && at.y >= 0 && at.x < 32 && at.y < 32;
}

bool is_higher(ivec2 at, float than)
{
  return is_inside(at) && at.y * 32 + at.x < heights.length() && heights[at.y * 32 + at.x] > than;
}

void main()
{
  uint index = gl_GlobalInvocationID.x;
  if (index >= min(masks.length(), heights.length()) || index >= 1024u)
    return;
  ivec2 at = ivec2(index % 32u, index / 32u);
  float here = heights[index];
  bool is_peak = !is_higher(at + ivec2(1, 0), here) && !is_higher(at - ivec2(1, 0), here)
              && !is_higher(at + ivec2(0, 1), here) && !is_higher(at - ivec2(0, 1), here);
  bool is_edge = is_higher(at + ivec2(1, 1), level) != is_higher(at - ivec2(1, 1), level)
              || (here > level && !is_higher(at + ivec2(-1, 1), level));
  bool is_far = size.x > 0 && (at.x > size.x || size.y > 0 && at.y > size.y);
  masks[index] = (is_peak ? 1u : 0u) | (is_edge || is_far ? 2u : 0u) | (is_peak && !is_far ? 4u : 0u);
}
