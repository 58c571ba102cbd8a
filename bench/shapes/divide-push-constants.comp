// Shape: integer divisions and remainders by push constants (indices of a tensor with strides).
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 64) in;

layout(set = 0, binding = 0) readonly buffer Input { float inputs[]; };
layout(set = 0, binding = 1) writeonly buffer Output { float outputs[]; };

layout(push_constant) uniform Shape {
  uint ne0, ne1, ne2, ne3;
  uint nb0, nb1, nb2, nb3;
  int pad;
};

void main()
{
  uint at = gl_GlobalInvocationID.x, count = inputs.length();
  if (at >= outputs.length() || count == 0u)
    return;
  uint d0 = ne0 + 1u, d1 = ne1 + 1u, d2 = ne2 + 1u, d3 = ne3 + 1u;
  uint i3 = at / (d0 * d1 * d2), left = at - i3 * d0 * d1 * d2;
  uint i2 = left / (d0 * d1);
  left -= i2 * d0 * d1;
  uint i1 = left / d0, i0 = left % d0;
  uint from = i0 * nb0 + i1 * nb1 + i2 * nb2 + (i3 % d3) * nb3;
  int window = abs(pad) + 1, column = int(i0) - pad;
  int tile = column / window, in_tile = column - tile * window;
  float value = inputs[from % count];
  if (in_tile < 0 || (int(i1) + 1024) % window == 0)
    value = -value;
  outputs[at] = value + float(tile);
}
