// Shape: switches with cases that continue in the next case.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 64) in;

layout(set = 0, binding = 0) readonly buffer Words { uint words[]; };
layout(set = 0, binding = 1) writeonly buffer Hashes { uvec2 hashes[]; };

layout(push_constant) uniform Seed {
  uint seed;
};

uint hash_of(uint at, uint length_of, uint start)
{
  uint hash = start ^ length_of, i = 0u;
  for (; i + 4u <= length_of; i += 4u) {
    uint part = words[(at + i / 4u) % words.length()] * 0x5BD1E995u;
    part ^= part >> 24;
    hash = hash * 0x5BD1E995u ^ part * 0x5BD1E995u;
  }
  uint rest = words[(at + i / 4u) % words.length()] * 0x01010101u;
  switch (length_of & 3u) {
  case 3u:
    hash ^= rest & 0xFF0000u;
  case 2u:
    hash ^= rest & 0xFF00u;
  case 1u:
    hash ^= rest & 0xFFu;
    hash *= 0x5BD1E995u;
    break;
  default:
    hash += 17u;
  }
  hash ^= hash >> 13;
  hash *= 0x5BD1E995u;
  return hash ^ hash >> 15;
}

void main()
{
  uint at = gl_GlobalInvocationID.x;
  if (at >= hashes.length() || words.length() == 0)
    return;
  uint length_of = words[at % words.length()] & 31u;
  hashes[at] = uvec2(hash_of(at, length_of, seed), hash_of(at + 3u, length_of + 1u, ~seed));
}
