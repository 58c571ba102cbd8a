// Shape: addresses of a block-linear 3D texture, with bits of x, y and z interleaved by shifts and masks.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 0, binding = 0) readonly buffer Tiled { uint tiled[]; };
layout(set = 0, binding = 1) writeonly buffer Linear { uint linear[]; };

layout(push_constant) uniform Shape {
  uvec3 size;
  uint block_height_log2;
  uint block_depth_log2;
  uint bytes_log2;
};

uint address(uvec3 at)
{
  uint x = at.x << (bytes_log2 & 3u), y = at.y, z = at.z;
  uint height = block_height_log2 & 3u, depth = block_depth_log2 & 3u;
  uint gobs_x = ((size.x & 63u) << (bytes_log2 & 3u)) + 63u >> 6;
  uint gobs_y = (size.y & 63u) + (8u << height) - 1u >> (3u + height);
  uint inside = (x & 0x20u) << 3 | (y & 0x6u) << 5 | (x & 0x10u) << 1 | (y & 0x1u) << 4 | (x & 0xFu);
  uint block = (x >> 6) + (y >> (3u + height)) * gobs_x + (z >> depth) * gobs_x * gobs_y;
  uint in_block = ((y >> 3) & ((1u << height) - 1u)) + ((z & ((1u << depth) - 1u)) << height);
  return inside + (in_block << 9) + (block << (9u + height + depth));
}

uint spread(uint value)
{
  value &= 0x3FFu;
  value = (value | value << 16) & 0x030000FFu;
  value = (value | value << 8) & 0x0300F00Fu;
  value = (value | value << 4) & 0x030C30C3u;
  return (value | value << 2) & 0x09249249u;
}

void main()
{
  uvec3 at = gl_GlobalInvocationID;
  uint target = at.x + at.y * 32u + at.z * 1024u, count = tiled.length();
  if (at.x >= 32u || at.y >= 32u || target >= linear.length() || count == 0u)
    return;
  uint from = address(at) >> 2;
  uint morton = spread(at.x) | spread(at.y) << 1 | spread(at.z) << 2;
  linear[target] = tiled[from % count] * 31u + tiled[morton % count];
}
