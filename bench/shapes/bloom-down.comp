// Shape: down-sampling for bloom: thirteen samples of a texture, with weights that limit bright pixels.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 0, binding = 0) uniform sampler2D source;
layout(set = 0, binding = 1) writeonly buffer Target { vec4 bloom[]; };

layout(push_constant) uniform Parameters {
  vec2 texel;
  float threshold;
  uint is_first;
};

float karis(vec3 color)
{
  return 1.0 / (1.0 + dot(abs(color), vec3(0.2126, 0.7152, 0.0722)));
}

vec3 average(vec3 a, vec3 b, vec3 c, vec3 d)
{
  if ((is_first & 1u) == 0u)
    return (a + b + c + d) * 0.25;
  float wa = karis(a), wb = karis(b), wc = karis(c), wd = karis(d);
  return (a * wa + b * wb + c * wc + d * wd) / (wa + wb + wc + wd);
}

vec3 fetch(vec2 at, float x, float y)
{
  return textureLod(source, at + vec2(x, y) * texel, 0.0).rgb;
}

void main()
{
  uvec2 pixel = gl_GlobalInvocationID.xy;
  uint to = pixel.y * 32u + pixel.x;
  if (pixel.x >= 32u || to >= bloom.length())
    return;
  vec2 at = (vec2(pixel) + 0.5) / 32.0;
  vec3 a = fetch(at, -2.0, -2.0), b = fetch(at, 0.0, -2.0), c = fetch(at, 2.0, -2.0);
  vec3 d = fetch(at, -2.0, 0.0), e = fetch(at, 0.0, 0.0), f = fetch(at, 2.0, 0.0);
  vec3 g = fetch(at, -2.0, 2.0), h = fetch(at, 0.0, 2.0), i = fetch(at, 2.0, 2.0);
  vec3 j = fetch(at, -1.0, -1.0), k = fetch(at, 1.0, -1.0), l = fetch(at, -1.0, 1.0), m = fetch(at, 1.0, 1.0);
  vec3 sum = average(j, k, l, m) * 0.5;
  sum += (average(a, b, d, e) + average(b, c, e, f) + average(d, e, g, h) + average(e, f, h, i)) * 0.125;
  float brightness = max(max(sum.r, sum.g), sum.b);
  sum *= max(brightness - threshold, 0.0) / max(brightness, 0.0001);
  bloom[to] = vec4(sum, 1.0);
}
