// Subgroup operations except clustered ones, many in a branch of some lanes, and after a return in some lanes.
// SPDX-License-Identifier: Apache-2.0
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_shuffle_relative : require
#extension GL_KHR_shader_subgroup_quad : require

layout(local_size_x = 16) in;
layout(set = 0, binding = 0) readonly buffer In { uint x[]; };
layout(set = 0, binding = 1) buffer Out { uint y[][96]; };

uint i = gl_GlobalInvocationID.x;
uint k = 0u;

void put(uint value) { y[i][k++] = value; }
void put(bool value) { put(value ? 1u : 0u); }
void put(uvec4 value) { put(value.x); }

void places()
{
  put(gl_SubgroupSize);
  put(gl_SubgroupID);
  put(gl_NumSubgroups);
  put(gl_SubgroupInvocationID);
  put(gl_SubgroupEqMask);
  put(gl_SubgroupLtMask);
  put(gl_SubgroupGeMask);
  put(gl_SubgroupGtMask);
  put(gl_SubgroupLeMask);
}

void votes(uint v)
{
  put(subgroupElect());
  put(subgroupAll(v > 3u));
  put(subgroupAny(v > 200u));
  put(subgroupAllEqual(v));
  put(subgroupAllEqual(vec2(1.0, 2.0)));
  uvec4 b = subgroupBallot(v > 100u);
  put(b);
  put(subgroupInverseBallot(b));
  put(subgroupBallotBitExtract(b, v & 7u));
  put(subgroupBallotBitCount(b));
  put(subgroupBallotInclusiveBitCount(b));
  put(subgroupBallotExclusiveBitCount(b));
  put(subgroupBallotFindLSB(b | 8u));
  put(subgroupBallotFindMSB(b | 2u));
}

void sums(uint v)
{
  put(subgroupAdd(v));
  put(uint(subgroupInclusiveAdd(ivec3(v, i, -1)).x));
  put(subgroupExclusiveMul(v | 1u));
  put(uint(subgroupMin(int(v) - 50)));
  put(subgroupMax(v));
  put(subgroupAnd(v));
  put(subgroupOr(v));
  put(subgroupXor(v));
  put(subgroupExclusiveMin(v));
  put(uint(subgroupInclusiveMax(float(v))));
  put(subgroupInclusiveAnd(v > 50u));
  put(subgroupExclusiveOr(v));
}

void moves(uint v)
{
  uint lane = gl_SubgroupInvocationID;
  put(subgroupBroadcastFirst(v));
  put(subgroupShuffle(v, gl_SubgroupSize - 1u - lane));
  put(subgroupShuffleXor(v, 3u));
  uint up = subgroupShuffleUp(v, 2u), down = subgroupShuffleDown(v, 1u);
  put(lane >= 2u ? up : 0u);
  put(lane + 1u < gl_SubgroupSize ? down : 0u);
  put(subgroupQuadSwapHorizontal(v));
  put(subgroupQuadSwapVertical(v));
  put(subgroupQuadSwapDiagonal(v));
  put(subgroupQuadBroadcast(v, 2u));
  put(subgroupBroadcast(v, 1u));
}

void main()
{
  uint v = x[i];
  places();
  votes(v);
  sums(v);
  moves(v);
  if ((i & 1u) == 0u || v > 100u) {
    votes(v);
    sums(v);
  }
  if (v > 200u)
    return;
  k = 93u;
  put(subgroupBallot(true));
  for (uint n = 0u; n < (v & 3u); n++) // lanes leave one by one
    y[i][94] += subgroupAdd(n + 1u);
  put(y[i][94]);
  put(subgroupAdd(1u));
}
