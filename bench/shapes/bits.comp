// Shape: bit manipulation of text: bitfieldExtract, findMSB, bitCount, bytes of words, and variable-length codes.
// SPDX-License-Identifier: Apache-2.0
#version 450
layout(local_size_x = 64) in;

layout(set = 0, binding = 0) readonly buffer Stream { uint stream[]; };
layout(set = 0, binding = 1) writeonly buffer Decoded { uvec4 decoded[]; };

layout(push_constant) uniform Parameters {
  uint mask;
};

uint byte_at(uint at)
{
  return bitfieldExtract(stream[(at >> 2) % stream.length()] * 0x01030507u, int(at & 3u) * 8, 8);
}

uint lower(uint character)
{
  return character - 65u < 26u ? character | 32u : character;
}

uint bits_at(uint at, uint count)
{
  uint word = at >> 5, offset = at & 31u;
  uint low = stream[word % stream.length()] * 0x9E3779B9u >> offset;
  uint high = offset == 0u ? 0u : stream[(word + 1u) % stream.length()] * 0x9E3779B9u << (32u - offset);
  return (low | high) & ((1u << count) - 1u);
}

void main()
{
  uint at = gl_GlobalInvocationID.x;
  if (at >= decoded.length() || stream.length() == 0)
    return;
  uint vowels = 0u, position = at * 13u, numbers = 0u, word_hash = 2166136261u;
  for (uint i = 0u; i < 8u; i++) {
    uint character = lower(byte_at(at * 4u + i));
    word_hash = (word_hash ^ character) * 16777619u;
    if ((0x208222u >> (character & 31u) & 1u) != 0u && character > 96u)
      vowels++;
    uint prefix = bits_at(position, 5u);
    uint zeros = prefix == 0u ? 5u : uint(findLSB(prefix));
    numbers = numbers * 33u + bits_at(position + zeros + 1u, zeros + 1u) + (1u << zeros);
    position += 2u * zeros + 2u;
  }
  uint folded = bitfieldInsert(word_hash, numbers, 8, 12);
  decoded[at] = uvec4(vowels, numbers, uint(findMSB(folded & mask) + 1), bitCount(folded) ^ bitfieldReverse(position));
}
