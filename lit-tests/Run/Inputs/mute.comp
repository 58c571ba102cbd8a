// SPDX-License-Identifier: Apache-2.0
#version 450
layout(set = 0, binding = 0) readonly buffer X { float x[]; };
shared float s;
void main()
{
  s = x[0];
}
