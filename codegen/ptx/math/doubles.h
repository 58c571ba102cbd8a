/* Operations on f64 registers, for functions of several instructions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CODEGEN_PTX_MATH_DOUBLES_H
#define VYRE_CODEGEN_PTX_MATH_DOUBLES_H

#include "codegen/ptx/internal.h"

#define INFINITE __builtin_inf()

#define UNARY(name, text)               \
  static inline reg name(gen *g, reg a) \
  {                                     \
    return MAKE64(g, text, a);          \
  }
#define BINARY(name, text)                     \
  static inline reg name(gen *g, reg a, reg b) \
  {                                            \
    return MAKE64(g, text, a, b);              \
  }
BINARY(add64, "add.rn.f64")
BINARY(sub64, "sub.rn.f64")
BINARY(mul64, "mul.rn.f64")
BINARY(div64, "div.rn.f64")
UNARY(abs64, "abs.f64")
UNARY(neg64, "neg.f64")
#undef BINARY
#undef UNARY

static inline reg
fma64(gen *g, reg a, reg b, reg c)
{
  return MAKE64(g, "fma.rn.f64", a, b, c);
}

static inline reg
test64(gen *g, const char *relation, reg a, reg b)
{
  char text[64];
  return PRED(g, pgen_format(text, "setp.%s.f64", relation), a, b);
}

static inline reg
pick64(gen *g, reg p, reg yes, reg no)
{
  return pgen_select(g, REG_64, yes, no, p);
}

#endif
