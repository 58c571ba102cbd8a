// Shape: a dot product with blocks of 4-bit weights, unpacked by shifts and masks.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 64) in;

struct Block {
  float scale;
  float lowest;
  uint packed[4];
};

layout(set = 0, binding = 0) readonly buffer Weights { Block blocks[]; };
layout(set = 0, binding = 1) readonly buffer Input { float inputs[]; };
layout(set = 0, binding = 2) writeonly buffer Output { float outputs[]; };

layout(push_constant) uniform Sizes {
  uint columns;
};

shared float partial[64];

void main()
{
  uint row = gl_WorkGroupID.x, thread = gl_LocalInvocationID.x;
  uint block_count = blocks.length(), input_count = inputs.length();
  float sum = 0.0;
  if (block_count > 0u && input_count > 0u) {
    for (uint block = thread; block < (columns & 127u) + 32u; block += 64u) {
      uint at = (row * 32u + block) % block_count;
      float scale = blocks[at].scale, lowest = blocks[at].lowest, dots = 0.0, plain = 0.0;
      for (uint word = 0u; word < 4u; word++) {
        uint bits = blocks[at].packed[word] * 0x01010101u;
        for (uint i = 0u; i < 8u; i++) {
          float value = inputs[(block * 32u + word * 8u + i) % input_count];
          dots += float(bits >> i * 4u & 0xFu) * value;
          plain += value;
        }
      }
      sum += scale * dots + lowest * plain;
    }
  }
  partial[thread] = sum;
  barrier();
  for (uint half_count = 32u; half_count > 0u; half_count >>= 1) {
    if (thread < half_count)
      partial[thread] += partial[thread + half_count];
    barrier();
  }
  if (thread == 0u && row < outputs.length())
    outputs[row] = partial[0];
}
