// SPDX-License-Identifier: Apache-2.0
#version 450
#extension GL_KHR_shader_subgroup_clustered : require
layout(local_size_x = 8) in;
layout(set = 0, binding = 0) readonly buffer In { uint x[]; };
layout(set = 0, binding = 1) buffer Out { uint y[]; };
void main()
{
  y[gl_GlobalInvocationID.x] = subgroupClusteredAdd(x[gl_GlobalInvocationID.x], 4u);
}
