/* Functions of operands: one for each PTX_EVAL row of forms.def, and what they share.
 *
 * A value of n bits is in the low n bits of a word; what is above is 0 in operands and means nothing in results, but that a signed
 * result of less than 64 bits is sign-extended, for a register that is wider.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CUDA_SIM_PTX_EVAL_H
#define VYRE_CUDA_SIM_PTX_EVAL_H

#include "targets/cuda/sim/ptx/module.h"

#include <string.h>

#define PTX_EVAL(name, words, operands, version, sm, eval) ptx_eval eval;
#include "targets/cuda/sim/ptx/forms.def"

/* Defines the function of that name, whose one result is a value of the instruction `i` and the operands `s`. */
#define PTX_VALUE(name, value)                                            \
  void ptx_eval_##name(const ptx_insn *i, const uint64_t *s, uint64_t *d) \
  {                                                                       \
    (void)i;                                                              \
    d[0] = (value);                                                       \
  }

/* Bits of the first type. */
static inline uint32_t
ptx_width(const ptx_insn *insn)
{
  return ptx_bits((ptx_word)insn->type[0]);
}

static inline uint64_t
ptx_low(uint64_t value, uint32_t bits)
{
  return bits >= 64 ? value : value & ((UINT64_C(1) << bits) - 1);
}

static inline int64_t
ptx_signed(uint64_t value, uint32_t bits)
{
  return (int64_t)(value << (64 - bits)) >> (64 - bits);
}

static inline bool
ptx_is_signed(ptx_word type)
{
  return ptx_class_of(type) == PTX_CLASS_SIGNED;
}

/* ptx_as_X, of its bits, and ptx_X_bits. */
#define PTX_BITS_OF(type, word)                        \
  static inline type ptx_as_##type(uint64_t bits)      \
  {                                                    \
    const word low = (word)bits;                       \
    type value;                                        \
    memcpy(&value, &low, sizeof value);                \
    return value;                                      \
  }                                                    \
  static inline uint64_t ptx_##type##_bits(type value) \
  {                                                    \
    word bits;                                         \
    memcpy(&bits, &value, sizeof bits);                \
    return bits;                                       \
  }
PTX_BITS_OF(float, uint32_t)
PTX_BITS_OF(double, uint64_t)
#undef PTX_BITS_OF

/* The value of f16, bf16, f32 or f64 bits, exactly; subnormal f32 and f16 as 0 if `flushes`. */
double ptx_float_value(ptx_word type, uint64_t bits, bool flushes);
/* A subnormal as the zero of its sign. */
float ptx_flushed(float value);
/* The bits of a value in f16, bf16 or f32, rounded once by `round` (PTX_rn to PTX_rp); a NaN is the canonical one. */
uint64_t ptx_float_round(ptx_word type, double value, ptx_word round);
/* a + b as a double that rounds as the exact sum does to any type of 50 bits or less. */
double ptx_sum_to_odd(double a, double b);

#endif
