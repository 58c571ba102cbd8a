// Shape: light lists of clusters: sphere against box tests, with group shared memory and an offset by an atomic.
// SPDX-License-Identifier: Apache-2.0
struct Light {
  float3 position;
  float range;
  float3 color;
  uint kind;
};

cbuffer Clusters : register(b0)
{
  float4 cell_size;
  uint light_count;
  uint capacity;
};
StructuredBuffer<Light> lights : register(t1);
RWStructuredBuffer<uint> indices : register(u2);
RWStructuredBuffer<uint2> ranges : register(u3);
RWStructuredBuffer<uint> total : register(u4);

groupshared float4 spheres[32];
groupshared uint kinds[32];

float squared_distance(float3 low, float3 high, float3 center)
{
  float3 nearest = max(low, min(center, high)) - center;
  return dot(nearest, nearest);
}

[numthreads(4, 4, 2)] void main(uint3 id : SV_DispatchThreadID, uint3 group : SV_GroupID, uint thread : SV_GroupIndex)
{
  uint stored, stride, range_count, index_count, total_count;
  lights.GetDimensions(stored, stride);
  ranges.GetDimensions(range_count, stride);
  indices.GetDimensions(index_count, stride);
  total.GetDimensions(total_count, stride);
  uint cluster = group.x * 32 + thread;
  float3 low = (float3(id) - float3(2, 2, 1)) * cell_size.xyz, high = low + abs(cell_size.xyz);
  uint found[8];
  uint count = 0;
  uint all = min(light_count, stored);
  for (uint first = 0; first < all; first += 32) {
    if (first + thread < all) {
      spheres[thread] = float4(lights[first + thread].position, lights[first + thread].range);
      kinds[thread] = lights[first + thread].kind;
    }
    GroupMemoryBarrierWithGroupSync();
    uint batch = min(32u, all - first);
    for (uint i = 0; i < batch && count < 8; i++) {
      if ((kinds[i] & 1) == 0 && squared_distance(low, high, spheres[i].xyz) > spheres[i].w * spheres[i].w)
        continue;
      found[count++] = first + i;
    }
    GroupMemoryBarrierWithGroupSync();
  }
  if (cluster >= range_count || total_count == 0)
    return;
  uint base = cluster * 8;
  InterlockedAdd(total[0], count);
  for (uint i = 0; i < count; i++)
    if (base + i < index_count)
      indices[base + i] = found[i];
  ranges[cluster] = uint2(base, count);
}
