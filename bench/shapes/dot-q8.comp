// Shape: integer dot products of packed 8-bit values, with sign extension, and scales of blocks.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 64) in;

layout(set = 0, binding = 0) readonly buffer A { uint a[]; };
layout(set = 0, binding = 1) readonly buffer B { uint b[]; };
layout(set = 0, binding = 2) readonly buffer Scales { vec2 scales[]; };
layout(set = 0, binding = 3) writeonly buffer Output { vec2 outputs[]; };

layout(push_constant) uniform Sizes {
  uint words;
  int zero_point;
};

ivec4 unpack(uint word)
{
  return ivec4(bitfieldExtract(int(word), 0, 8), bitfieldExtract(int(word), 8, 8), bitfieldExtract(int(word), 16, 8), int(word) >> 24);
}

int dot4(ivec4 x, ivec4 y)
{
  return x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
}

void main()
{
  uint at = gl_GlobalInvocationID.x, count_a = a.length(), count_b = b.length();
  if (at >= min(scales.length(), outputs.length()) || count_a == 0u || count_b == 0u)
    return;
  int sum = 0, clamped = 0;
  for (uint i = 0u; i < (words & 15u) + 1u; i++) {
    ivec4 x = unpack(a[(at + i) % count_a] * 0x01234567u) - zero_point;
    ivec4 y = unpack(b[(at * 3u + i) % count_b] * 0x89ABCDEFu);
    sum += dot4(x, y);
    ivec4 product = clamp(x * y >> 7, ivec4(-128), ivec4(127));
    clamped += product.x + product.y + product.z + product.w;
  }
  outputs[at] = vec2(float(sum) * scales[at].x, float(clamped) * scales[at].y);
}
