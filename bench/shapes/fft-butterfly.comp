// Shape: the butterflies of an FFT in shared memory, with sines and cosines in the loop.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 64) in;

layout(set = 0, binding = 0) buffer Signal { vec2 signal[]; };

layout(push_constant) uniform Direction {
  uint inverse;
};

shared vec2 points[128];

vec2 multiply(vec2 a, vec2 b)
{
  return vec2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

void main()
{
  uint thread = gl_LocalInvocationID.x, first = gl_WorkGroupID.x * 128u;
  if (first + 128u > signal.length())
    return;
  for (uint i = thread; i < 128u; i += 64u)
    points[bitfieldReverse(i) >> 25] = signal[first + i];
  barrier();
  float sign_of = (inverse & 1u) != 0u ? 1.0 : -1.0;
  for (uint span = 1u; span < 128u; span *= 2u) {
    uint in_span = thread & (span - 1u);
    uint low = (thread / span) * span * 2u + in_span, high = low + span;
    float angle = sign_of * 3.14159265 * float(in_span) / float(span);
    vec2 a = points[low], b = multiply(points[high], vec2(cos(angle), sin(angle)));
    points[low] = a + b;
    points[high] = a - b;
    barrier();
  }
  float scale = (inverse & 1u) != 0u ? 1.0 / 128.0 : 1.0;
  for (uint i = thread; i < 128u; i += 64u)
    signal[first + i] = points[i] * scale;
}
