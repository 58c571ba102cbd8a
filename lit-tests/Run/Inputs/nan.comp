// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 4) in;
layout(constant_id = 3) const float FACTOR = 2.0;
layout(constant_id = 5) const int BIAS = 0;
layout(set = 0, binding = 0) readonly buffer X { float x[]; };
layout(set = 1, binding = 2) buffer Y { uint count; float y[]; };
layout(push_constant) uniform Params { uint n; } params;
void main()
{
  uint i = gl_GlobalInvocationID.x;
  if (i >= params.n)
    return;
  y[i] = uintBitsToFloat(0x7fc00000u);
  if (i == 0)
    count = params.n;
}
