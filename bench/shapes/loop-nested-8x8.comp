// Shape: nested 8x8 loops whose inner body shrinks when code that does not change leaves it.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 0, binding = 0) readonly buffer Blocks { float blocks[]; };
layout(set = 0, binding = 1) writeonly buffer Coefficients { float coefficients[]; };

layout(push_constant) uniform Quality {
  float quality;
};

const float PI = 3.14159265;

float weight(uint index)
{
  return index == 0u ? 0.70710678 : 1.0;
}

void main()
{
  uint block = gl_WorkGroupID.x * 64u;
  uvec2 at = gl_LocalInvocationID.xy;
  if (block + 64u > min(blocks.length(), coefficients.length()))
    return;
  float sum = 0.0;
  for (uint y = 0u; y < 8u; y++) {
    for (uint x = 0u; x < 8u; x++) {
      float along = cos((2.0 * float(x) + 1.0) * float(at.x) * PI / 16.0);
      float across = cos((2.0 * float(y) + 1.0) * float(at.y) * PI / 16.0);
      float scale = weight(at.x) * weight(at.y) * 0.25 / (1.0 + quality * quality);
      sum += blocks[block + y * 8u + x] * along * across * scale;
    }
  }
  coefficients[block + at.y * 8u + at.x] = sum;
}
