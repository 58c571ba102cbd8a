// Shape: 8-bit and 16-bit integers in buffers, widened, rounded and narrowed.
// SPDX-License-Identifier: Apache-2.0
#version 450
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x = 64) in;

layout(set = 0, binding = 0) readonly buffer Bytes { uint8_t bytes[]; };
layout(set = 0, binding = 1) readonly buffer Shorts { int16_t shorts[]; };
layout(set = 0, binding = 2) writeonly buffer Packed { uint8_t packed[]; };
layout(set = 0, binding = 3) writeonly buffer Sums { int16_t sums[]; };

layout(push_constant) uniform Parameters {
  uint scale;
  int offset;
};

void main()
{
  uint at = gl_GlobalInvocationID.x;
  uint count = min(bytes.length(), shorts.length());
  if (at >= min(packed.length(), sums.length()) || count < 4u)
    return;
  int sum = offset;
  uint most = 0u, least = 255u;
  for (uint i = 0u; i < 4u; i++) {
    uint byte = uint(bytes[(at + i) % count]);
    sum += int(shorts[(at + i) % count]) * int(byte);
    most = max(most, byte);
    least = min(least, byte);
  }
  uint range = (most - least) * (scale + 1u) + 128u >> 8;
  packed[at] = uint8_t(min(range, 255u));
  sums[at] = int16_t(clamp(sum >> 4, -32768, 32767));
}
