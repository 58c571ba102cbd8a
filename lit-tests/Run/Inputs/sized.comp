// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 2, local_size_x_id = 0) in;
layout(constant_id = 0) const uint WIDTH = 2;
layout(set = 0, binding = 0) writeonly buffer Out { uint o[WIDTH]; };
shared uint line[WIDTH];
void main()
{
  uint i = gl_LocalInvocationID.x;
  line[i] = i;
  barrier();
  o[i] = WIDTH == 2u ? 1u : line[WIDTH - 1u - i];
}
