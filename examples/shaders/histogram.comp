// Counts bytes: each workgroup counts in shared memory, then adds what it has to the whole.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 64) in;

layout(set = 0, binding = 0) readonly buffer Input { uint words[]; };
layout(set = 0, binding = 1) buffer Bins { uint bins[256]; };
layout(set = 0, binding = 2) buffer Greatest { uint greatest; uint words_seen; };

shared uint local_bins[256];

void main()
{
  uint lane = gl_LocalInvocationIndex;
  for (uint b = lane; b < 256; b += gl_WorkGroupSize.x)
    local_bins[b] = 0;
  barrier();

  uint stride = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
  uint seen = 0;
  for (uint i = gl_GlobalInvocationID.x; i < words.length(); i += stride) {
    uint word = words[i];
    seen++;
    if (word == 0) {
      atomicAdd(local_bins[0], 4);
      continue;
    }
    for (int byte = 0; byte < 4; byte++)
      atomicAdd(local_bins[bitfieldExtract(word, byte * 8, 8)], 1);
    atomicMax(greatest, word);
  }
  atomicAdd(words_seen, seen);
  barrier();

  for (uint b = lane; b < 256; b += gl_WorkGroupSize.x)
    if (local_bins[b] != 0)
      atomicAdd(bins[b], local_bins[b]);
}
