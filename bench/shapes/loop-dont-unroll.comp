// Shape: counted loops with the hint not to unroll.
// SPDX-License-Identifier: Apache-2.0
#version 450
#extension GL_EXT_control_flow_attributes : require
layout(local_size_x = 64) in;

layout(set = 0, binding = 0) buffer Words { uint words[]; };

layout(push_constant) uniform Key {
  uvec4 key;
};

void main()
{
  uint at = gl_GlobalInvocationID.x * 2u;
  if (at + 1u >= words.length())
    return;
  uint left = words[at], right = words[at + 1u], sum = 0u;
  [[dont_unroll]] for (uint round = 0u; round < 32u; round++) {
    left += (((right << 4) ^ (right >> 5)) + right) ^ (sum + key[sum & 3u]);
    sum += 0x9E3779B9u;
    right += (((left << 4) ^ (left >> 5)) + left) ^ (sum + key[(sum >> 11) & 3u]);
  }
  [[dont_unroll]] for (uint i = 0u; i < 4u; i++)
    left ^= key[i] * (right | 1u);
  words[at] = left;
  words[at + 1u] = right;
}
