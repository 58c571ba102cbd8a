// Shape: a prefix scan with subgroup operations and a scan of the subgroups' sums.
// SPDX-License-Identifier: Apache-2.0
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
layout(local_size_x = 128) in;

layout(set = 0, binding = 0) readonly buffer Flags { uint flags[]; };
layout(set = 0, binding = 1) writeonly buffer Places { uvec2 places[]; };

shared uint subgroup_sums[128];

void main()
{
  uint at = gl_GlobalInvocationID.x;
  uint value = at < flags.length() ? flags[at] & 15u : 0u;
  uint before = subgroupExclusiveAdd(value);
  uint largest = subgroupMax(value);
  uvec4 odd = subgroupBallot((value & 1u) != 0u);
  if (subgroupElect())
    subgroup_sums[gl_SubgroupID] = 0u;
  uint total = subgroupAdd(value);
  if (subgroupElect())
    subgroup_sums[gl_SubgroupID] = total;
  barrier();
  uint sum = 0u;
  for (uint i = 0u; i < gl_SubgroupID; i++)
    sum += subgroup_sums[i];
  uint compact = subgroupBallotExclusiveBitCount(odd) + (value == largest ? 256u : 0u);
  if (at < places.length())
    places[at] = uvec2(sum + before, compact);
}
