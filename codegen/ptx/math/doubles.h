/* Operations on f64 registers, for what is computed of several.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_CODEGEN_PTX_MATH_DOUBLES_H
#define VYRE_CODEGEN_PTX_MATH_DOUBLES_H

#include "codegen/ptx/internal.h"

#define INFINITE __builtin_inf()

static inline reg
add64(gen *g, reg a, reg b)
{
  return MAKE64(g, "add.rn.f64", a, b);
}

static inline reg
sub64(gen *g, reg a, reg b)
{
  return MAKE64(g, "sub.rn.f64", a, b);
}

static inline reg
mul64(gen *g, reg a, reg b)
{
  return MAKE64(g, "mul.rn.f64", a, b);
}

static inline reg
div64(gen *g, reg a, reg b)
{
  return MAKE64(g, "div.rn.f64", a, b);
}

static inline reg
fma64(gen *g, reg a, reg b, reg c)
{
  return MAKE64(g, "fma.rn.f64", a, b, c);
}

static inline reg
abs64(gen *g, reg a)
{
  return MAKE64(g, "abs.f64", a);
}

static inline reg
neg64(gen *g, reg a)
{
  return MAKE64(g, "neg.f64", a);
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
