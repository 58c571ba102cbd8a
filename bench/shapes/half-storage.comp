// Shape: half floats in buffers and in arithmetic, with conversions.
// SPDX-License-Identifier: Apache-2.0
#version 450
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
layout(local_size_x = 64) in;

layout(set = 0, binding = 0) readonly buffer Input { f16vec4 inputs[]; };
layout(set = 0, binding = 1) readonly buffer Scale { float16_t scales[]; };
layout(set = 0, binding = 2) writeonly buffer Output { f16vec4 outputs[]; };

layout(push_constant) uniform Parameters {
  float slope;
  uint count;
};

f16vec4 activate(f16vec4 value)
{
  return max(value, value * float16_t(slope));
}

void main()
{
  uint at = gl_GlobalInvocationID.x, length_all = inputs.length();
  if (at >= outputs.length() || length_all == 0u || scales.length() < 8)
    return;
  f16vec4 sum = f16vec4(0.0);
  vec4 precise_sum = vec4(0.0);
  for (uint i = 0u; i < (count & 7u) + 1u; i++) {
    f16vec4 value = activate(inputs[(at + i) % length_all]);
    sum += value * scales[i];
    precise_sum += vec4(value) * float(scales[i]);
  }
  outputs[at] = at % 2u == 0u ? sum : f16vec4(precise_sum);
}
