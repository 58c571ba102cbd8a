// SHA-256 (FIPS 180-4) of many messages of 32 bytes, one an invocation: the double-SHA step of a Merkle tree or a miner.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 64) in;

struct Message { uint word[8]; };
struct Digest { uint word[8]; };

layout(set = 0, binding = 0, std430) readonly buffer Messages { Message messages[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Digests { Digest digests[]; };

const uint K[64] = uint[64](
  0x428a2f98u, 0x71374491u, 0xb5c0fbcfu, 0xe9b5dba5u, 0x3956c25bu, 0x59f111f1u, 0x923f82a4u, 0xab1c5ed5u,
  0xd807aa98u, 0x12835b01u, 0x243185beu, 0x550c7dc3u, 0x72be5d74u, 0x80deb1feu, 0x9bdc06a7u, 0xc19bf174u,
  0xe49b69c1u, 0xefbe4786u, 0x0fc19dc6u, 0x240ca1ccu, 0x2de92c6fu, 0x4a7484aau, 0x5cb0a9dcu, 0x76f988dau,
  0x983e5152u, 0xa831c66du, 0xb00327c8u, 0xbf597fc7u, 0xc6e00bf3u, 0xd5a79147u, 0x06ca6351u, 0x14292967u,
  0x27b70a85u, 0x2e1b2138u, 0x4d2c6dfcu, 0x53380d13u, 0x650a7354u, 0x766a0abbu, 0x81c2c92eu, 0x92722c85u,
  0xa2bfe8a1u, 0xa81a664bu, 0xc24b8b70u, 0xc76c51a3u, 0xd192e819u, 0xd6990624u, 0xf40e3585u, 0x106aa070u,
  0x19a4c116u, 0x1e376c08u, 0x2748774cu, 0x34b0bcb5u, 0x391c0cb3u, 0x4ed8aa4au, 0x5b9cca4fu, 0x682e6ff3u,
  0x748f82eeu, 0x78a5636fu, 0x84c87814u, 0x8cc70208u, 0x90befffau, 0xa4506cebu, 0xbef9a3f7u, 0xc67178f2u
);

uint rotate_right(uint x, int n)
{
  return x >> n | x << (32 - n);
}

uint choose(uint x, uint y, uint z)
{
  return (x & y) ^ (~x & z);
}

uint majority(uint x, uint y, uint z)
{
  return (x & y) ^ (x & z) ^ (y & z);
}

uint big_sigma0(uint x) { return rotate_right(x, 2) ^ rotate_right(x, 13) ^ rotate_right(x, 22); }
uint big_sigma1(uint x) { return rotate_right(x, 6) ^ rotate_right(x, 11) ^ rotate_right(x, 25); }
uint small_sigma0(uint x) { return rotate_right(x, 7) ^ rotate_right(x, 18) ^ (x >> 3); }
uint small_sigma1(uint x) { return rotate_right(x, 17) ^ rotate_right(x, 19) ^ (x >> 10); }

Digest hash(Message message)
{
  uint w[64];
  for (int t = 0; t < 8; t++)
    w[t] = message.word[t];
  w[8] = 0x80000000u;
  for (int t = 9; t < 15; t++)
    w[t] = 0u;
  w[15] = 256u; // bits in the message
  for (int t = 16; t < 64; t++)
    w[t] = small_sigma1(w[t - 2]) + w[t - 7] + small_sigma0(w[t - 15]) + w[t - 16];

  const uint start[8] = uint[8](0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au, 0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u);
  uint a = start[0], b = start[1], c = start[2], d = start[3], e = start[4], f = start[5], g = start[6], h = start[7];
  for (int t = 0; t < 64; t++) {
    uint t1 = h + big_sigma1(e) + choose(e, f, g) + K[t] + w[t];
    uint t2 = big_sigma0(a) + majority(a, b, c);
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }

  Digest digest;
  digest.word = uint[8](start[0] + a, start[1] + b, start[2] + c, start[3] + d, start[4] + e, start[5] + f, start[6] + g, start[7] + h);
  return digest;
}

void main()
{
  uint i = gl_GlobalInvocationID.x;
  if (i >= messages.length())
    return;
  digests[i] = hash(messages[i]);
}
