// Stream compaction: each workgroup moves those of its elements that are no multiples of three to the front, and counts and sums them.
// Subgroups of any size: a ballot gives each element its place in its subgroup, shared memory gives each subgroup its place.
// SPDX-License-Identifier: Apache-2.0
#version 450
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#define WIDTH 128
layout(local_size_x = WIDTH) in;

struct Totals {
  uint count, sum, greatest;
};

layout(set = 0, binding = 0) readonly buffer Input { uint data[]; };
layout(set = 0, binding = 1) writeonly buffer Kept { uint kept[]; };
layout(set = 0, binding = 2) writeonly buffer Output { Totals totals[]; };

shared Totals partial[WIDTH]; // one for each subgroup

void main()
{
  uint i = gl_GlobalInvocationID.x;
  uint value = i < uint(data.length()) ? data[i] : 0;
  bool keep = value % 3 != 0;
  uvec4 votes = subgroupBallot(keep);
  uint place = subgroupBallotExclusiveBitCount(votes);
  if (!keep)
    value = 0;
  Totals own = Totals(subgroupBallotBitCount(votes), subgroupAdd(value), subgroupMax(value));
  if (subgroupElect())
    partial[gl_SubgroupID] = own;
  barrier();
  for (uint k = 0; k < gl_SubgroupID; k++)
    place += partial[k].count;
  if (keep)
    kept[gl_WorkGroupID.x * WIDTH + place] = value;
  if (gl_SubgroupID != 0)
    return;
  own = Totals(0, 0, 0);
  for (uint k = gl_SubgroupInvocationID; k < gl_NumSubgroups; k += gl_SubgroupSize) {
    own.count += partial[k].count;
    own.sum += partial[k].sum;
    own.greatest = max(own.greatest, partial[k].greatest);
  }
  own = Totals(subgroupAdd(own.count), subgroupAdd(own.sum), subgroupMax(own.greatest));
  if (subgroupElect())
    totals[gl_WorkGroupID.x] = own;
}
