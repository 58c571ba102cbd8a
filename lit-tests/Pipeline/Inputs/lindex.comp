#version 450
// A built-in as an operand beside a row that is computed before it.
// SPDX-License-Identifier: Apache-2.0
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Out { uint o[]; };
void main() {
  uint a = o[gl_GlobalInvocationID.x] * 7u;
  o[gl_GlobalInvocationID.x] = a + gl_LocalInvocationIndex;
}
