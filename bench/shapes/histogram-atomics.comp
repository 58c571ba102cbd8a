// Shape: histograms with atomics in shared memory and in a buffer, and minimum and maximum.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 64) in;

layout(set = 0, binding = 0) readonly buffer Pixels { vec4 pixels[]; };
layout(set = 0, binding = 1) buffer Histogram {
  uint bins[64];
  uint darkest;
  uint brightest;
};

layout(push_constant) uniform Exposure {
  float lowest;
  float scale;
};

shared uint local_bins[64];

void main()
{
  uint thread = gl_LocalInvocationID.x, count = pixels.length();
  local_bins[thread] = 0u;
  barrier();
  for (uint i = 0u; i < 4u; i++) {
    uint at = gl_WorkGroupID.x * 256u + i * 64u + thread;
    if (at >= count)
      break;
    float brightness = dot(abs(pixels[at].rgb), vec3(0.2126, 0.7152, 0.0722));
    uint bin = 0u;
    if (brightness > 0.005)
      bin = uint(clamp((log2(brightness) - lowest) * abs(scale) * 8.0, 0.0, 1.0) * 62.0 + 1.0);
    atomicAdd(local_bins[bin], 1u);
    atomicMin(darkest, bin);
    atomicMax(brightest, bin);
  }
  barrier();
  if (local_bins[thread] != 0u)
    atomicAdd(bins[thread], local_bins[thread]);
}
