// Shape: saturating differences and sums of unsigned integers, alone and in packed bytes.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 64) in;

layout(set = 0, binding = 0) readonly buffer Now { uint now[]; };
layout(set = 0, binding = 1) readonly buffer Before { uint before[]; };
layout(set = 0, binding = 2) writeonly buffer Motion { uvec4 motion[]; };

layout(push_constant) uniform Parameters {
  uint threshold;
  uint gain;
};

uint less(uint a, uint b)
{
  return a > b ? a - b : 0u;
}

uint less_by_max(uint a, uint b)
{
  return max(a, b) - b;
}

uint more(uint a, uint b)
{
  uint sum = a + b;
  return sum < a ? ~0u : sum;
}

uint difference_of_bytes(uint a, uint b)
{
  uint result = 0u;
  for (uint i = 0u; i < 32u; i += 8u) {
    uint x = a >> i & 255u, y = b >> i & 255u;
    result |= min(less(x, y) | less(y, x), 255u) << i;
  }
  return result;
}

void main()
{
  uint at = gl_GlobalInvocationID.x;
  if (at >= min(min(now.length(), before.length()), motion.length()))
    return;
  uint a = now[at], b = before[at];
  uint moved = less(less(a, b) + less_by_max(b, a), threshold);
  uint grown = more(moved * (gain + 1u) * 0x00FFFFFFu, a * 0x0F000000u);
  motion[at] = uvec4(moved, grown, difference_of_bytes(a * 0x03050709u, b * 0x01010305u), less_by_max(threshold, moved));
}
