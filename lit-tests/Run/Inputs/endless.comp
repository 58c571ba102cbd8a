// SPDX-License-Identifier: Apache-2.0
#version 450
layout(set = 0, binding = 0) readonly buffer In { uint i; };
layout(set = 0, binding = 1) buffer Out { uint o; };
void main()
{
  uint k = 0u;
  while (i != 0u || k > 100u)
    k ^= 1u;
  o = k;
}
