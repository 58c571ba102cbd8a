// Shape: YUV conversions in integers and floats, with saturation and clamps.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 64) in;

layout(set = 0, binding = 0) readonly buffer Luma { uint luma[]; };
layout(set = 0, binding = 1) readonly buffer Chroma { uint chroma[]; };
layout(set = 0, binding = 2) writeonly buffer Rgb { uint rgb[]; };
layout(set = 0, binding = 3) writeonly buffer Back { vec4 back[]; };

layout(push_constant) uniform Parameters {
  uint full_range;
  float brightness;
};

uint to_rgb(int y, int u, int v)
{
  int scaled = (full_range & 1u) != 0u ? y * 256 : (y - 16) * 298;
  int d = u - 128, e = v - 128;
  ivec3 color = clamp(ivec3(scaled + 409 * e + 128, scaled - 100 * d - 208 * e + 128, scaled + 516 * d + 128) >> 8, ivec3(0), ivec3(255));
  return uint(color.r) | uint(color.g) << 8 | uint(color.b) << 16 | 0xFF000000u;
}

vec3 to_yuv(vec3 color)
{
  float y = dot(color, vec3(0.299, 0.587, 0.114));
  vec3 yuv = vec3(y, (color.b - y) * 0.564 + 0.5, (color.r - y) * 0.713 + 0.5);
  return clamp(yuv, vec3(16.0 / 255.0), vec3(235.0 / 255.0, 240.0 / 255.0, 240.0 / 255.0));
}

void main()
{
  uint at = gl_GlobalInvocationID.x;
  if (at >= min(luma.length(), rgb.length()) || at >= back.length() || at / 2u >= chroma.length())
    return;
  uint y = luma[at] & 255u, uv = chroma[at / 2u] * 257u;
  uint word = to_rgb(int(y), int(uv & 255u), int(uv >> 8 & 255u));
  rgb[at] = word;
  back[at] = vec4(to_yuv(clamp(unpackUnorm4x8(word).rgb + brightness * 0.1, 0.0, 1.0)), 1.0);
}
