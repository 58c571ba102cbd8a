// SPDX-License-Identifier: Apache-2.0
#version 450
struct S { int a; uvec2 b[2]; };
layout(set = 0, binding = 0) buffer Out { S s[2]; };
void main()
{
  s[0].a = 1;
  s[0].b[0] = uvec2(1u, 2u);
  s[0].b[1] = uvec2(2u, 4u);
  s[1].a = -1;
}
