/* Docs at inflate.h.  Codes are read bit by bit: an archive's modules are small beside what becomes of them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "inflate.h"

#include <string.h>

enum { MOST_BITS = 15, LITERALS = 288, DISTANCES = 32, BLOCK_ENDS = 256 };

typedef struct stream {
  const uint8_t *in;
  size_t in_size, in_at;
  uint8_t *out;
  size_t size, at;
  uint32_t held, held_bits; /* of the byte before in_at, from the lowest on */
  bool is_bad;
} stream;

static uint32_t
take_bits(stream *s, uint32_t count)
{
  uint32_t value = 0;
  for (uint32_t k = 0; k < count; k++) {
    if (s->held_bits == 0) {
      s->is_bad |= s->in_at >= s->in_size;
      s->held = s->is_bad ? 0 : s->in[s->in_at++];
      s->held_bits = 8;
    }
    value |= (s->held & 1) << k;
    s->held >>= 1;
    s->held_bits--;
  }
  return value;
}

static void
put_byte(stream *s, uint32_t byte)
{
  if (s->at < s->size)
    s->out[s->at++] = (uint8_t)byte;
  else
    s->is_bad = true;
}

/* Codes of one length are numbers in a row, in the order of their symbols, after those of the shorter ones. */
typedef struct codes {
  uint16_t count[MOST_BITS + 1]; /* by length */
  uint16_t symbols[LITERALS];    /* by length, then by number */
} codes;

static bool
make_codes(codes *c, const uint8_t *lengths, uint32_t symbols)
{
  uint16_t at[MOST_BITS + 2] = {0};
  uint32_t room = 1; /* codes of that length that are left */
  memset(c, 0, sizeof *c);
  for (uint32_t k = 0; k < symbols; k++)
    c->count[lengths[k]]++;
  c->count[0] = 0;
  for (uint32_t bits = 1; bits <= MOST_BITS; bits++) {
    room *= 2;
    if (c->count[bits] > room)
      return false;
    room -= c->count[bits];
    at[bits + 1] = (uint16_t)(at[bits] + c->count[bits]);
  }
  for (uint32_t k = 0; k < symbols; k++)
    if (lengths[k])
      c->symbols[at[lengths[k]]++] = (uint16_t)k;
  return true;
}

static uint32_t
take_symbol(stream *s, const codes *c)
{
  uint32_t code = 0, first = 0, before = 0;
  for (uint32_t bits = 1; bits <= MOST_BITS; bits++) {
    code = code * 2 + take_bits(s, 1);
    first *= 2;
    if (code - first < c->count[bits])
      return c->symbols[before + code - first];
    before += c->count[bits];
    first += c->count[bits];
  }
  s->is_bad = true;
  return BLOCK_ENDS;
}

static void
copy_from_before(stream *s, uint32_t symbol, const codes *distances)
{
  static const uint16_t lengths[] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                     31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
  static const uint8_t length_bits[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
  static const uint16_t offsets[] = {1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,    97,    129,
                                     193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
  if (symbol - BLOCK_ENDS - 1 >= sizeof lengths / sizeof *lengths) {
    s->is_bad = true;
    return;
  }
  const uint32_t which = symbol - BLOCK_ENDS - 1;
  const uint32_t length = lengths[which] + take_bits(s, length_bits[which]), far = take_symbol(s, distances);
  if (far >= sizeof offsets / sizeof *offsets) {
    s->is_bad = true;
    return;
  }
  const uint32_t offset = offsets[far] + take_bits(s, far < 4 ? 0 : far / 2 - 1);
  s->is_bad |= offset > s->at;
  for (uint32_t k = 0; k < length && !s->is_bad; k++)
    put_byte(s, s->out[s->at - offset]);
}

static void
take_coded(stream *s, const codes *literals, const codes *distances)
{
  while (!s->is_bad) {
    const uint32_t symbol = take_symbol(s, literals);
    if (symbol == BLOCK_ENDS)
      return;
    if (symbol < BLOCK_ENDS)
      put_byte(s, symbol);
    else
      copy_from_before(s, symbol, distances);
  }
}

static void
take_fixed(stream *s)
{
  codes literals, distances;
  uint8_t lengths[LITERALS];
  for (uint32_t k = 0; k < LITERALS; k++)
    lengths[k] = k < 144 ? 8 : k < 256 ? 9 : k < 280 ? 7 : 8;
  (void)make_codes(&literals, lengths, LITERALS);
  memset(lengths, 5, DISTANCES);
  (void)make_codes(&distances, lengths, DISTANCES);
  take_coded(s, &literals, &distances);
}

/* Lengths of codes, which are coded themselves. */
static void
take_dynamic(stream *s)
{
  static const uint8_t order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
  codes of_lengths, literals, distances;
  uint8_t lengths[LITERALS + DISTANCES] = {0};
  const uint32_t literal_count = take_bits(s, 5) + 257, distance_count = take_bits(s, 5) + 1, known = take_bits(s, 4) + 4;
  for (uint32_t k = 0; k < known; k++)
    lengths[order[k]] = (uint8_t)take_bits(s, 3);
  s->is_bad |= !make_codes(&of_lengths, lengths, 19);
  for (uint32_t at = 0; at < literal_count + distance_count && !s->is_bad;) {
    const uint32_t symbol = take_symbol(s, &of_lengths);
    const uint32_t times = symbol < 16    ? 1
                           : symbol == 16 ? 3 + take_bits(s, 2)
                           : symbol == 17 ? 3 + take_bits(s, 3)
                                          : 11 + take_bits(s, 7);
    s->is_bad |= symbol > 18 || (symbol == 16 && at == 0) || times > literal_count + distance_count - at;
    const uint8_t length = symbol < 16 ? (uint8_t)symbol : symbol == 16 && at ? lengths[at - 1] : 0;
    for (uint32_t k = 0; k < times && !s->is_bad; k++)
      lengths[at++] = length;
  }
  s->is_bad |= literal_count > LITERALS || !make_codes(&literals, lengths, literal_count) ||
               !make_codes(&distances, lengths + literal_count, distance_count);
  if (!s->is_bad)
    take_coded(s, &literals, &distances);
}

static void
take_stored(stream *s)
{
  s->held_bits = 0;
  const uint32_t length = take_bits(s, 16), inverse = take_bits(s, 16);
  s->is_bad |= length != (inverse ^ 0xffffu) || length > s->in_size - s->in_at || length > s->size - s->at;
  if (s->is_bad)
    return;
  memcpy(s->out + s->at, s->in + s->in_at, length);
  s->in_at += length;
  s->at += length;
}

static uint32_t
sum_of(const uint8_t *data, size_t size)
{
  uint32_t low = 1, high = 0;
  for (size_t i = 0; i < size; i++) {
    low = (low + data[i]) % 65521;
    high = (high + low) % 65521;
  }
  return high << 16 | low;
}

bool
inflate_zlib(const uint8_t *in, size_t in_size, uint8_t *out, size_t size)
{
  stream s = {.in = in, .in_size = in_size, .out = out, .size = size};
  const uint32_t method = take_bits(&s, 8), flags = take_bits(&s, 8);
  if (s.is_bad || (method & 15) != 8 || (method * 256 + flags) % 31 != 0 || (flags & 32))
    return false;
  for (uint32_t is_last = 0; !is_last && !s.is_bad;) {
    is_last = take_bits(&s, 1);
    const uint32_t kind = take_bits(&s, 2);
    if (kind == 0)
      take_stored(&s);
    else if (kind == 1)
      take_fixed(&s);
    else if (kind == 2)
      take_dynamic(&s);
    else
      s.is_bad = true;
  }
  s.held_bits = 0;
  uint32_t sum = 0;
  for (uint32_t k = 0; k < 4; k++)
    sum = sum << 8 | take_bits(&s, 8);
  return !s.is_bad && s.at == size && s.in_at == in_size && sum == sum_of(out, size);
}
