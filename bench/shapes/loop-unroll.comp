// Shape: counted loops with unroll hints.
// SPDX-License-Identifier: Apache-2.0
#version 450
#extension GL_EXT_control_flow_attributes : require
layout(local_size_x = 64) in;

layout(set = 0, binding = 0) readonly buffer Input { float values[]; };
layout(set = 0, binding = 1) readonly buffer Filter { float taps[]; };
layout(set = 0, binding = 2) writeonly buffer Output { float filtered[]; };

layout(push_constant) uniform Shape {
  uint stride;
  float bias;
};

void main()
{
  uint at = gl_GlobalInvocationID.x, length_all = values.length();
  if (at >= filtered.length() || length_all == 0u || taps.length() < 16)
    return;
  float sums[4];
  [[unroll]] for (uint lane = 0u; lane < 4u; lane++)
    sums[lane] = bias;
  [[unroll]] for (uint tap = 0u; tap < 16u; tap++) {
    uint from = (at + tap * (stride | 1u)) % length_all;
    [[unroll]] for (uint lane = 0u; lane < 4u; lane++)
      sums[lane] += taps[tap] * values[(from + lane) % length_all];
  }
  float total = 0.0;
  [[unroll]] for (uint lane = 0u; lane < 4u; lane++)
    total += sums[lane] * sums[lane];
  filtered[at] = total;
}
