// Inclusive prefix sum of each workgroup's 256 elements (Hillis and Steele, Data parallel algorithms, 1986), and the group's total.
// SPDX-License-Identifier: Apache-2.0
#version 450
#define WIDTH 256
layout(local_size_x = WIDTH) in;

layout(set = 0, binding = 0) readonly buffer Input { int data[]; };
layout(set = 0, binding = 1) writeonly buffer Output { int sums[]; };
layout(set = 0, binding = 2) writeonly buffer Totals { int totals[]; };

shared int ping[2][WIDTH];

void main()
{
  uint lane = gl_LocalInvocationID.x;
  uint i = gl_GlobalInvocationID.x;
  uint from = 0;
  ping[from][lane] = i < uint(data.length()) ? data[i] : 0;
  barrier();
  for (uint distance = 1; distance < WIDTH; distance *= 2) {
    int value = ping[from][lane];
    if (lane >= distance)
      value += ping[from][lane - distance];
    ping[1 - from][lane] = value;
    from = 1 - from;
    barrier();
  }
  if (i < uint(data.length()))
    sums[i] = ping[from][lane];
  if (lane == WIDTH - 1)
    totals[gl_WorkGroupID.x] = ping[from][lane];
}
