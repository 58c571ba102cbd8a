/* The evaluation functions of the PTX_EVAL rows in forms.def, and their shared helpers.
 *
 * A value of n bits is in the low n bits of a word. The bits above are 0 in operands. They are ignored in results, except that a
 * signed result of less than 64 bits is sign-extended for a wider register.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CUDA_SIM_PTX_EVAL_H
#define VYRE_CUDA_SIM_PTX_EVAL_H

#include "targets/cuda/sim/ptx/module.h"

#include <string.h>

#define PTX_EVAL(name, words, operands, version, sm, eval) ptx_eval eval;
#include "targets/cuda/sim/ptx/forms.def"

/* Defines an evaluation function with one result, an expression of the instruction `i` and the operands `s`. */
#define PTX_VALUE(name, value)                                            \
  void ptx_eval_##name(const ptx_insn *i, const uint64_t *s, uint64_t *d) \
  {                                                                       \
    (void)i;                                                              \
    d[0] = (value);                                                       \
  }

/* Returns the bits of the instruction's first type. */
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

/* Defines ptx_as_X, which converts from bits, and ptx_X_bits, which converts to bits. */
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

/* Returns the exact value of f16, bf16, f32 or f64 bits. If `flushes`, subnormal f32 and f16 values are 0. */
double ptx_float_value(ptx_word type, uint64_t bits, bool flushes);
/* Returns the value, or a zero of its sign if it is subnormal. */
float ptx_flushed(float value);
/* Returns the bits of a value in f16, bf16 or f32, rounded once by `round` (PTX_rn to PTX_rp). NaNs become canonical. */
uint64_t ptx_float_round(ptx_word type, double value, ptx_word round);
/* Returns a + b, rounded to odd, so that rounding it to a type with at most 50 bits gives the rounded exact sum. */
double ptx_sum_to_odd(double a, double b);

#endif
