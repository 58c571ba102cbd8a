/* Points of a case: all points of two 8-bit operands, otherwise combinations of edges, and random points.  Random points are often
 * near edges or near each other, where sums cancel and products overflow.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fold.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_EDGES = 64, MOST_POINTS = 3000 };

/* Returns the next number of splitmix64.  The first state depends on the case only. */
static uint64_t
draw(uint64_t *state)
{
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

static uint64_t
mask_of(vyre_kind kind)
{
  const uint32_t bits = vyre_kind_bits(kind);
  return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

/* Returns the bits of a float.  The exponent has no bias, and the fraction is in the top bits of 64. */
static uint64_t
float_bits(vyre_kind kind, bool sign, int exponent, uint64_t fraction)
{
  const uint32_t bits = vyre_kind_bits(kind), fraction_bits = kind == VYRE_F16 ? 10 : kind == VYRE_F32 ? 23 : 52;
  const int bias = kind == VYRE_F16 ? 15 : kind == VYRE_F32 ? 127 : 1023;
  const int biased = exponent + bias;
  const uint64_t field = biased < 0 ? 0 : biased > 2 * bias + 1 ? (uint64_t)(2 * bias + 1) : (uint64_t)biased;
  return (uint64_t)sign << (bits - 1) | field << fraction_bits | fraction >> (64 - fraction_bits);
}

static uint32_t
float_edges(vyre_kind kind, uint64_t *out)
{
  const uint64_t half = UINT64_C(1) << 63, all = UINT64_MAX;
  const int most = kind == VYRE_F16   ? 15
                   : kind == VYRE_F32 ? 127
                                      : 1023,
            digits = kind == VYRE_F16   ? 10
                     : kind == VYRE_F32 ? 23
                                        : 52;
  const uint64_t tiny = UINT64_C(1) << (64 - digits);
  const struct {
    int exponent;
    uint64_t fraction;
  } edges[] = {
      {-most - 9, 0},
      {-most - 9, tiny},
      {-most - 9, half},
      {-most - 9, all},
      {1 - most, 0}, /* zero, denormals, least normal */
      {1 - most, tiny},
      {-1, 0},
      {-1, all},
      {0, 0},
      {0, tiny},
      {0, half},
      {1, 0},
      {1, UINT64_C(1) << 62},
      {1, half},
      {digits - 1, tiny}, /* 1.5, 2.5, 3; halves end here */
      {digits, tiny},
      {most, 0},
      {most, all},
      {most + 1, 0},
      {most + 1, half}, /* infinity, NaNs */
      {most + 1, tiny},
      {7, 0},
      {31, 0},
      {63, 0},
      {-14, 0}, /* ranges of integers, of halves */
      {-24, half},
  };
  uint32_t count = 0;
  for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
    for (uint32_t sign = 0; sign < 2; sign++)
      out[count++] = float_bits(kind, sign, edges[i].exponent, edges[i].fraction);
  return count;
}

static uint32_t
int_edges(vyre_kind kind, uint64_t *out)
{
  static const uint8_t small[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127};
  const uint64_t mask = mask_of(kind), top = (mask >> 1) + 1;
  uint32_t count = 0;
  for (size_t i = 0; i < sizeof small; i++)
    out[count++] = small[i];
  for (uint64_t i = 0; i < 4; i++) {
    out[count++] = mask - i;
    out[count++] = top - i - 1;
    out[count++] = (top + i) & mask;
  }
  out[count++] = mask / 3;
  out[count++] = mask / 3 * 2;
  out[count++] = mask >> (vyre_kind_bits(kind) / 2);
  out[count++] = ~(mask >> (vyre_kind_bits(kind) / 2)) & mask;
  return count;
}

static uint32_t
edges_of(vyre_kind kind, uint64_t *out)
{
  if (kind == VYRE_BOOL) {
    out[0] = 0;
    out[1] = 1;
    return 2;
  }
  return vyre_kind_is_float(kind) ? float_edges(kind, out) : int_edges(kind, out);
}

/* Returns a number near the negated product of the first two operands, which fma cancels. */
static uint64_t
cancelling(vyre_kind kind, const uint64_t *point, uint64_t noise)
{
  const uint32_t fraction_bits = kind == VYRE_F16 ? 10 : kind == VYRE_F32 ? 23 : 52, bits = vyre_kind_bits(kind);
  const uint64_t fractions = (UINT64_C(1) << fraction_bits) - 1, exponents = mask_of(kind) >> 1 & ~fractions;
  const int bias = kind == VYRE_F16 ? 15 : kind == VYRE_F32 ? 127 : 1023;
  const double x = 1.0 + ldexp((double)(point[0] & fractions), -(int)fraction_bits),
               y = 1.0 + ldexp((double)(point[1] & fractions), -(int)fraction_bits);
  int exponent = (int)((point[0] & exponents) >> fraction_bits) - bias + (int)((point[1] & exponents) >> fraction_bits) - bias;
  double product = x * y;
  if (product >= 2.0) {
    product /= 2.0;
    exponent++;
  }
  const uint64_t sign = ~(point[0] ^ point[1]) >> (bits - 1) & 1;
  const uint64_t near = float_bits(kind, sign, exponent, (uint64_t)ldexp(product - 1.0, 52) << 12);
  return (near + (noise & 3) - 1) & mask_of(kind);
}

static uint64_t
random_lane(const fold_case *c, uint32_t input, const uint64_t *point, uint64_t *state)
{
  const vyre_kind kind = c->in[input];
  const uint64_t mask = mask_of(kind), r = draw(state), how = draw(state);
  uint64_t edges[MOST_EDGES];
  const uint32_t edge_count = edges_of(kind, edges);
  switch (how & 7) {
  case 0:
    return edges[(how >> 8) % edge_count];
  case 1:
    return (edges[(how >> 8) % edge_count] + (r & 7) - 4) & mask;
  case 2: /* small integers, as in programs; powers of two of floats */
    return vyre_kind_is_float(kind) ? float_bits(kind, r & 1, (int)(r >> 8 & 63) - 24, r >> 32 << 60) : r % 70 & mask;
  case 3:
    return r >> (how >> 8 & 63) & mask;
  case 4: /* near the operand before this one, with either sign */
    if (input && c->in[input - 1] == kind)
      return (point[input - 1] + (r & 7) - 3 + (how & 256 ? (mask >> 1) + 1 : 0)) & mask;
    return r & mask;
  case 5: /* a float of common magnitude */
    return vyre_kind_is_float(kind) ? float_bits(kind, r & 1, (int)(r >> 1 & 15) - 8, r << 5) : r & mask;
  case 6:
    if (c->op == VYRE_OP_fma && input == 2)
      return cancelling(kind, point, how >> 8);
    return r & mask;
  default:
    return r & mask;
  }
}

uint64_t *
fold_points(const fold_case *c, uint32_t random, uint32_t *out_count)
{
  uint64_t edges[FOLD_INPUTS][MOST_EDGES], all = 1, state = c->op * UINT64_C(1000003) + c->type * 257u + c->kind;
  uint32_t counts[FOLD_INPUTS], bits = 0, widest = 0;
  bool whole = true; /* all combinations of edges are points */
  for (uint32_t i = 0; i < c->inputs; i++) {
    counts[i] = edges_of(c->in[i], edges[i]);
    bits += vyre_kind_bits(c->in[i]);
    widest = vyre_kind_bits(c->in[i]) > widest ? vyre_kind_bits(c->in[i]) : widest;
    all = all > MOST_POINTS ? all : all * counts[i];
    whole = whole && all <= MOST_POINTS;
  }
  /* Ops that move bits move all of them alike, so few points suffice for each of their many shapes. */
  random = c->raw ? (random + 3) / 4 : random;
  const bool every = bits <= 16 && widest <= 8 && !c->raw && random >= 1000; /* all points */
  whole = whole && (all <= 2 * random || random >= 1000);
  const uint32_t edge_points = whole ? (uint32_t)all : 2 * random;
  const uint32_t count = every ? 1u << bits : edge_points + random;
  uint64_t *points = calloc((size_t)count * c->inputs, sizeof *points);
  if (!points)
    abort();
  for (uint32_t n = 0; n < count; n++) {
    uint64_t *point = points + (size_t)n * c->inputs, rest = n;
    for (uint32_t i = 0; i < c->inputs; i++) {
      if (every) {
        point[i] = rest & mask_of(c->in[i]);
        rest >>= vyre_kind_bits(c->in[i]);
      } else if (n < edge_points && whole) {
        point[i] = edges[i][rest % counts[i]];
        rest /= counts[i];
      } else if (n < edge_points) {
        point[i] = edges[i][draw(&state) % counts[i]];
      } else {
        point[i] = random_lane(c, i, point, &state);
      }
    }
  }
  *out_count = count;
  return points;
}
