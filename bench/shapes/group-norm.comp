// Shape: group norm: two reductions of a workgroup, then a normalization.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 64) in;

layout(set = 0, binding = 0) buffer Values { float values[]; };
layout(set = 0, binding = 1) readonly buffer Weights { vec2 weights[]; };

layout(push_constant) uniform Shape {
  uint group_size;
  float epsilon;
};

shared float partial[64];

float sum_of_group(float value, uint thread)
{
  barrier();
  partial[thread] = value;
  barrier();
  for (uint step_size = 32u; step_size > 0u; step_size /= 2u) {
    if (thread < step_size)
      partial[thread] += partial[thread + step_size];
    barrier();
  }
  return partial[0];
}

void main()
{
  uint thread = gl_LocalInvocationID.x, size = (group_size & 63u) + 64u;
  uint first = gl_WorkGroupID.x * 128u, last = min(first + size, values.length());
  float sum = 0.0;
  for (uint i = first + thread; i < last; i += 64u)
    sum += values[i];
  float mean = sum_of_group(sum, thread) / float(size);
  float squares = 0.0;
  for (uint i = first + thread; i < last; i += 64u) {
    float difference = values[i] - mean;
    squares += difference * difference;
  }
  float scale = inversesqrt(sum_of_group(squares, thread) / float(size) + max(epsilon, 0.001));
  for (uint i = first + thread; i < last; i += 64u) {
    vec2 weight = weights[min(i - first, weights.length() - 1)];
    values[i] = (values[i] - mean) * scale * weight.x + weight.y;
  }
}
