// Shape: inlined functions that return in the middle of loops (a search in a sorted list, and a probe).
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 64) in;

layout(set = 0, binding = 0) readonly buffer Keys { uint keys[]; };
layout(set = 0, binding = 1) readonly buffer Queries { uint queries[]; };
layout(set = 0, binding = 2) writeonly buffer Places { ivec2 places[]; };

layout(push_constant) uniform Table {
  uint salt;
};

int find_by_halves(uint key)
{
  int low = 0, high = keys.length() - 1;
  while (low <= high) {
    int middle = (low + high) / 2;
    uint found = keys[middle];
    if (found == key)
      return middle;
    if (found < key)
      low = middle + 1;
    else
      high = middle - 1;
  }
  return -low - 1;
}

int find_by_probes(uint key)
{
  uint slot = key * 2654435761u ^ salt;
  for (uint i = 0u; i < 16u; i++) {
    uint at = (slot + i * i) % keys.length();
    uint found = keys[at];
    if (found == 0u)
      return -1;
    if (found == key)
      return int(at);
  }
  return -2;
}

void main()
{
  uint at = gl_GlobalInvocationID.x;
  if (at >= min(queries.length(), places.length()) || keys.length() == 0)
    return;
  places[at] = ivec2(find_by_halves(queries[at]), find_by_probes(queries[at]));
}
