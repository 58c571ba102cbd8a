/* Random float operations whose operands have extreme exponents: products, quotients and remainders over the whole range.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "random_program.h"

#include "internal.h"

uint64_t
random_extreme(uint64_t *random, vyre_kind kind)
{
  const uint32_t bits = vyre_kind_bits(kind), mantissa = kind == VYRE_F16 ? 10 : kind == VYRE_F32 ? 23 : 52;
  const uint32_t greatest = (UINT32_C(1) << (bits - 1 - mantissa)) - 2, bias = greatest / 2;
  const uint32_t reach = mantissa < bias ? mantissa : bias - 1;
  const uint32_t exponents[] = {0, 0, 1, 2, bias - reach, bias - 1, bias, bias + 1, bias + reach, greatest - 1, greatest, greatest};
  const uint64_t ones = (UINT64_C(1) << mantissa) - 1;
  const uint64_t any = ((uint64_t)random_below(random, 0x7fffffffu) << 31 ^ random_below(random, 0x7fffffffu)) & ones;
  const uint64_t mantissas[] = {0, 1, ones, ones ^ ones >> 1, any, any};
  const uint64_t sign = random_below(random, 4) ? 0 : UINT64_C(1) << (bits - 1);
  const uint32_t exponent = random_below(random, 4) ? exponents[random_below(random, 12)] : random_below(random, greatest + 1);
  return sign | (uint64_t)exponent << mantissa | mantissas[random_below(random, 6)];
}

static vyre_row
word(generator *g, uint32_t index)
{
  return vyre_build_load(&g->b, vyre_build_at_literal(&g->b, g->in, RANDOM_EXTREMES + index), 0);
}

static vyre_row
from_memory(generator *g, vyre_kind kind)
{
  const uint32_t k = below(g, 8);
  vyre_row bits;
  if (kind == VYRE_F64) {
    const vyre_row low = vyre_build_convert(&g->b, VYRE_OP_convert, VYRE_TYPE(VYRE_U64, 1), word(g, 2 * k));
    const vyre_row high = vyre_build_convert(&g->b, VYRE_OP_convert, VYRE_TYPE(VYRE_U64, 1), word(g, 2 * k + 1));
    bits = vyre_build_binary(&g->b, VYRE_OP_or, low, vyre_build_imm(&g->b, VYRE_OP_shl, high, 32));
  } else if (kind == VYRE_F32) {
    bits = word(g, 16 + k);
  } else {
    bits = vyre_build_convert(&g->b, VYRE_OP_convert, VYRE_TYPE(VYRE_U16, 1), word(g, 24 + k));
  }
  return vyre_build_convert(&g->b, VYRE_OP_bitcast, VYRE_TYPE(kind, 1), bits);
}

vyre_row
extreme_value(generator *g, vyre_type type)
{
  const vyre_kind kind = VYRE_TYPE_KIND(type);
  const uint32_t lanes = VYRE_TYPE_LANES(type);
  vyre_row parts[4];
  for (uint32_t i = 0; i < lanes; i++)
    parts[i] = below(g, 2) ? vyre_build_const(&g->b, VYRE_TYPE(kind, 1), random_extreme(&g->random, kind)) : from_memory(g, kind);
  return lanes == 1 ? parts[0] : vyre_build_join(&g->b, parts, lanes);
}

/* Stores all lanes of the value, because store_out stores only one. */
static void
store_lanes(generator *g, vyre_row result)
{
  const uint32_t lanes = VYRE_TYPE_LANES(type_of(g, result));
  for (uint32_t i = 0; i < lanes; i++)
    store_out(g, lanes == 1 ? result : vyre_build_lane(&g->b, result, i));
}

void
extreme_operations(generator *g)
{
  const uint32_t count = 4 + below(g, 5);
  for (uint32_t i = 0; i < count; i++) {
    g->extreme = true;
    const vyre_row result = below(g, 6) ? float_operation(g) : below(g, 2) ? float_expression(g) : matrix_expression(g);
    g->extreme = false;
    store_lanes(g, keep(g, result));
  }
}
