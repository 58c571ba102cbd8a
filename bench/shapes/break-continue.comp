// Shape: nested loops with breaks and continues at several places.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 64) in;

layout(set = 0, binding = 0) readonly buffer Text { uint text[]; };
layout(set = 0, binding = 1) writeonly buffer Matches { uvec4 matches[]; };

layout(push_constant) uniform Pattern {
  uvec4 pattern;
  uint wildcard;
};

void main()
{
  uint at = gl_GlobalInvocationID.x, length_all = text.length();
  if (at >= matches.length() || length_all == 0u)
    return;
  uint found = 0u, skipped = 0u, longest = 0u, last = ~0u;
  for (uint start = 0u; start < 16u; start++) {
    uint first = text[(at + start) % length_all];
    if (first == wildcard) {
      skipped++;
      continue;
    }
    if (first > 250u && found > 2u)
      break;
    uint matched = 0u;
    for (uint i = 0u; i < 4u; i++) {
      uint now = text[(at + start + i) % length_all];
      if (pattern[i] == wildcard)
        continue;
      if ((now & 7u) != (pattern[i] & 7u))
        break;
      matched++;
      if (matched == 3u)
        break;
    }
    if (matched == 0u)
      continue;
    found++;
    if (matched > longest) {
      longest = matched;
      last = start;
    }
  }
  matches[at] = uvec4(found, skipped, longest, last);
}
