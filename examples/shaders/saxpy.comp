// y = a * x + y, with the length and the factor as push constants.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 64) in;

layout(set = 0, binding = 0) readonly buffer X { float x[]; };
layout(set = 0, binding = 1) buffer Y { float y[]; };

layout(push_constant) uniform Params {
  float a;
  uint n;
};

void main()
{
  uint i = gl_GlobalInvocationID.x;
  if (i >= n)
    return;
  y[i] = a * x[i] + y[i];
}
