// Shape: tone mapping: pow, exp, log, matrices of colors, and a choice of curves.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 64) in;

layout(set = 0, binding = 0) readonly buffer Scene { vec4 scene[]; };
layout(set = 0, binding = 1) writeonly buffer Screen { uint screen[]; };

layout(push_constant) uniform Parameters {
  float exposure;
  float contrast;
  float saturation;
  uint curve;
};

const mat3 TO_FILM = mat3(0.59719, 0.07600, 0.02840, 0.35458, 0.90834, 0.13383, 0.04823, 0.01566, 0.83777);
const mat3 FROM_FILM = mat3(1.60475, -0.10208, -0.00327, -0.53108, 1.10813, -0.07276, -0.07367, -0.00605, 1.07602);

vec3 film(vec3 color)
{
  color = TO_FILM * color;
  vec3 a = color * (color + 0.0245786) - 0.000090537;
  vec3 b = color * (0.983729 * color + 0.4329510) + 0.238081;
  return FROM_FILM * (a / b);
}

vec3 map(vec3 color)
{
  switch (curve & 3u) {
  case 0u:
    return film(color);
  case 1u:
    return color / (1.0 + color);
  case 2u:
    return 1.0 - exp(-color * 1.5);
  default:
    return log2(1.0 + color) / log2(1.0 + vec3(8.0));
  }
}

vec3 encode(vec3 linear)
{
  vec3 low = linear * 12.92, high = 1.055 * pow(max(linear, vec3(0.0001)), vec3(1.0 / 2.4)) - 0.055;
  return mix(high, low, lessThanEqual(linear, vec3(0.0031308)));
}

void main()
{
  uint at = gl_GlobalInvocationID.x;
  if (at >= min(scene.length(), screen.length()))
    return;
  vec3 color = max(scene[at].rgb, vec3(0.0)) * exp2(exposure * 2.0);
  float grey = dot(color, vec3(0.2126, 0.7152, 0.0722));
  color = max(mix(vec3(grey), color, 1.0 + saturation), vec3(0.0));
  color = pow(color / 0.18 + 0.001, vec3(1.0 + contrast * 0.5)) * 0.18;
  screen[at] = packUnorm4x8(vec4(clamp(encode(clamp(map(color), 0.0, 1.0)), 0.0, 1.0), 1.0));
}
