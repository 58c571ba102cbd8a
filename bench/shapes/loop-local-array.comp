// Shape: loops over a local array with indices that are not constant (a median by insertion).
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 64) in;

layout(set = 0, binding = 0) readonly buffer Input { float values[]; };
layout(set = 0, binding = 1) writeonly buffer Output { float medians[]; };

layout(push_constant) uniform Window {
  uint width;
};

void main()
{
  uint at = gl_GlobalInvocationID.x, length_all = values.length();
  if (at >= medians.length() || length_all == 0u)
    return;
  float sorted[9];
  for (int i = 0; i < 9; i++)
    sorted[i] = 0.0;
  uint used = (width % 5u) * 2u + 1u;
  for (uint i = 0u; i < used; i++) {
    float value = values[(at + i) % length_all];
    uint place = i;
    while (place > 0u && sorted[place - 1u] > value) {
      sorted[place] = sorted[place - 1u];
      place--;
    }
    sorted[place] = value;
  }
  medians[at] = sorted[used / 2u];
}
