// Shape: structs of StructuredBuffers and an array of a cbuffer, copied and passed by value.
// SPDX-License-Identifier: Apache-2.0
struct Bone {
  float4 rows[3];
};
struct Vertex {
  float3 position;
  uint bones;
  float4 weights;
};

cbuffer Poses : register(b0)
{
  float4 tints[8];
  uint count;
};
StructuredBuffer<Bone> skeleton : register(t1);
StructuredBuffer<Vertex> vertices : register(t2);
RWStructuredBuffer<float4> skinned : register(u3);

float3 apply(Bone bone, float3 position)
{
  float3 moved;
  [unroll] for (uint row = 0; row < 3; row++)
    moved[row] = dot(bone.rows[row], float4(position, 1.0));
  return moved;
}

float4 tint(float4 all[8], uint at)
{
  return all[at & 7];
}

[numthreads(64, 1, 1)] void main(uint3 id : SV_DispatchThreadID)
{
  uint vertex_count, bone_count, skinned_count, stride;
  vertices.GetDimensions(vertex_count, stride);
  skeleton.GetDimensions(bone_count, stride);
  skinned.GetDimensions(skinned_count, stride);
  if (id.x >= min(vertex_count, skinned_count) || bone_count == 0)
    return;
  Vertex vertex = vertices[id.x];
  float4 colors[8] = tints;
  float3 sum = 0.0;
  for (uint i = 0; i < min(count, 4u); i++) {
    Bone bone = skeleton[(vertex.bones >> (i * 2)) % bone_count];
    sum += apply(bone, vertex.position) * vertex.weights[i];
  }
  skinned[id.x] = float4(sum, 1.0) + tint(colors, vertex.bones);
}
