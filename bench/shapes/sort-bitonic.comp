// Shape: a bitonic sorting network in shared memory, with pairs of keys and values.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 64) in;

layout(set = 0, binding = 0) buffer Items { uvec2 items[]; };

layout(push_constant) uniform Order {
  uint is_descending;
};

shared uint keys[128];
shared uint values[128];

void exchange(uint a, uint b, bool is_up)
{
  uint key_a = keys[a], key_b = keys[b];
  if ((key_a > key_b) == is_up && key_a != key_b) {
    keys[a] = key_b;
    keys[b] = key_a;
    uint value = values[a];
    values[a] = values[b];
    values[b] = value;
  }
}

void main()
{
  uint thread = gl_LocalInvocationID.x, first = gl_WorkGroupID.x * 128u, count = items.length();
  for (uint i = thread; i < 128u; i += 64u) {
    keys[i] = first + i < count ? items[first + i].x : ~0u;
    values[i] = first + i < count ? items[first + i].y : 0u;
  }
  barrier();
  bool is_up = (is_descending & 1u) == 0u;
  for (uint size = 2u; size <= 128u; size *= 2u) {
    for (uint stride = size / 2u; stride > 0u; stride /= 2u) {
      uint a = 2u * thread - (thread & (stride - 1u));
      exchange(a, a + stride, ((a & size) == 0u) == is_up);
      barrier();
    }
  }
  for (uint i = thread; i < 128u; i += 64u)
    if (first + i < count)
      items[first + i] = uvec2(keys[i], values[i]);
}
