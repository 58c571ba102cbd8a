/* Texts of helper functions on integers.  Their signed operations never overflow: where they could, operands are unsigned or
 * wider.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

const cgen_helper cgen_integer_helpers[] = {
    {"udiv", VYRE_VOID, "$U\nNAME($U a, $U b)\n{\n  return b ? ($U)(a / b) : ($U) ~($U)0;\n}\n"},
    {"umod", VYRE_VOID, "$U\nNAME($U a, $U b)\n{\n  return b ? ($U)(a % b) : ($U)0;\n}\n"},
    /* MIN / -1 = MIN, because negation wraps */
    {"sdiv", VYRE_VOID,
     "$U\nNAME($U a, $U b)\n{\n  if (b == 0)\n    return ($U) ~($U)0;\n"
     "  return b == ($U) ~($U)0 ? ($U)(0u - a) : ($U)(($S)a / ($S)b);\n}\n"},
    {"srem", VYRE_VOID, "$U\nNAME($U a, $U b)\n{\n  return b == 0 || b == ($U) ~($U)0 ? ($U)0 : ($U)(($S)a % ($S)b);\n}\n"},
    {"smod", VYRE_VOID,
     "$U\nNAME($U a, $U b)\n{\n  const $U r = @srem(a, b);\n"
     "  return r != 0 && ($S)(r ^ b) < 0 ? ($U)(r + b) : r;\n}\n"},
    {"sabs", VYRE_VOID, "$U\nNAME($U a)\n{\n  return ($S)a < 0 ? ($U)(0u - a) : a;\n}\n"},
    {"ssign", VYRE_VOID, "$U\nNAME($U a)\n{\n  return ($S)a < 0 ? ($U) ~($U)0 : ($U)(a != 0);\n}\n"},
    {"select", VYRE_VOID,
     "$U\nNAME(bool which, $U a, $U b)\n{\n  const $U mask = ($U)0 - which;\n  return b ^ ((a ^ b) & mask);\n}\n"},
    {"umin", VYRE_VOID, "$U\nNAME($U a, $U b)\n{\n  return a < b ? a : b;\n}\n"},
    {"umax", VYRE_VOID, "$U\nNAME($U a, $U b)\n{\n  return a > b ? a : b;\n}\n"},
    {"smin", VYRE_VOID, "$U\nNAME($U a, $U b)\n{\n  return ($S)a < ($S)b ? a : b;\n}\n"},
    {"smax", VYRE_VOID, "$U\nNAME($U a, $U b)\n{\n  return ($S)a > ($S)b ? a : b;\n}\n"},
    {"uclamp", VYRE_VOID, "$U\nNAME($U a, $U low, $U high)\n{\n  return @umin(@umax(a, low), high);\n}\n"},
    {"sclamp", VYRE_VOID, "$U\nNAME($U a, $U low, $U high)\n{\n  return @smin(@smax(a, low), high);\n}\n"},
    {"umulhi", VYRE_VOID, "$U\nNAME($U a, $U b)\n{\n  return ($U)(($Y)a * b >> $N);\n}\n"},
    {"smulhi", VYRE_VOID, "$U\nNAME($U a, $U b)\n{\n  return ($U)((($X)($S)a * ($S)b) >> $N);\n}\n"},
    {"carry", VYRE_VOID, "$U\nNAME($U a, $U b)\n{\n  return ($U)(a + b) < a;\n}\n"},
    {"borrow", VYRE_VOID, "$U\nNAME($U a, $U b)\n{\n  return a < b;\n}\n"},
    {"uaddsat", VYRE_VOID, "$U\nNAME($U a, $U b)\n{\n  const $U sum = ($U)(a + b);\n  return sum < a ? ($U) ~($U)0 : sum;\n}\n"},
    {"usubsat", VYRE_VOID, "$U\nNAME($U a, $U b)\n{\n  return a > b ? ($U)(a - b) : ($U)0;\n}\n"},
    {"umulsat", VYRE_VOID,
     "$U\nNAME($U a, $U b)\n{\n  const $Y product = ($Y)a * b;\n"
     "  return product >> $N ? ($U) ~($U)0 : ($U)product;\n}\n"},
    /* clamps an exact result to the range of $N signed bits */
    {"saturated", VYRE_VOID,
     "$U\nNAME($X exact)\n{\n  const $X top = ($X)(($U) ~($U)0 >> 1);\n"
     "  return ($U)(exact > top ? top : exact < -top - 1 ? -top - 1 : exact);\n}\n"},
    {"saddsat", VYRE_VOID, "$U\nNAME($U a, $U b)\n{\n  return @saturated(($X)($S)a + ($S)b);\n}\n"},
    {"ssubsat", VYRE_VOID, "$U\nNAME($U a, $U b)\n{\n  return @saturated(($X)($S)a - ($S)b);\n}\n"},
    {"smulsat", VYRE_VOID, "$U\nNAME($U a, $U b)\n{\n  return @saturated(($X)($S)a * ($S)b);\n}\n"},
    {"uabsdiff", VYRE_VOID, "$U\nNAME($U a, $U b)\n{\n  return a > b ? ($U)(a - b) : ($U)(b - a);\n}\n"},
    {"sabsdiff", VYRE_VOID, "$U\nNAME($U a, $U b)\n{\n  return ($S)a > ($S)b ? ($U)(a - b) : ($U)(b - a);\n}\n"},
    {"rotl", VYRE_VOID,
     "$U\nNAME($U a, $U count)\n{\n  const unsigned left = (unsigned)(count & ($N - 1u)), right = ($N - left) & ($N - 1u);\n"
     "  return ($U)(($P)a << left | ($P)a >> right);\n}\n"},
    {"rotr", VYRE_VOID, "$U\nNAME($U a, $U count)\n{\n  return @rotl(a, ($U)(0u - count));\n}\n"},
    {"sshr", VYRE_VOID, "$U\nNAME($U a, $U count)\n{\n  return ($U)(($S)a >> (count & ($N - 1u)));\n}\n"},
    {"bitcount", VYRE_VOID, "$U\nNAME($U a)\n{\n  return ($U)__builtin_popcountll(a);\n}\n"},
    {"bitrev", VYRE_VOID,
     "$U\nNAME($U a)\n{\n  $U out = 0;\n  for (unsigned i = 0; i < $N; i++)\n"
     "    out = ($U)(($P)out << 1 | (a >> i & 1u));\n  return out;\n}\n"},
    {"findlsb", VYRE_VOID, "$U\nNAME($U a)\n{\n  return a ? ($U)__builtin_ctzll(a) : ($U) ~($U)0;\n}\n"},
    {"findumsb", VYRE_VOID, "$U\nNAME($U a)\n{\n  return a ? ($U)(63 - __builtin_clzll(a)) : ($U) ~($U)0;\n}\n"},
    {"findsmsb", VYRE_VOID, "$U\nNAME($U a)\n{\n  return @findumsb(($S)a < 0 ? ($U)~a : a);\n}\n"},
    /* the number of a field's bits that exist */
    {"field", VYRE_VOID,
     "uint32_t\nNAME(uint32_t offset, uint32_t count)\n{\n"
     "  return offset >= $N ? 0u : count < $N - offset ? count : $N - offset;\n}\n"},
    {"ubfe", VYRE_VOID,
     "$U\nNAME($U a, uint32_t offset, uint32_t count)\n{\n  const uint32_t width = @field(offset, count);\n"
     "  return width ? ($U)(a >> offset & ($U)(($U) ~($U)0 >> ($N - width))) : ($U)0;\n}\n"},
    {"sbfe", VYRE_VOID,
     "$U\nNAME($U a, uint32_t offset, uint32_t count)\n{\n  const uint32_t width = @field(offset, count);\n"
     "  return width ? ($U)(($S)($U)(($P)a << ($N - width - offset)) >> ($N - width)) : ($U)0;\n}\n"},
    {"bfi", VYRE_VOID,
     "$U\nNAME($U a, $U insert, uint32_t offset, uint32_t count)\n{\n  const uint32_t width = @field(offset, count);\n"
     "  const $U mask = width ? ($U)(($P)($U)(($U) ~($U)0 >> ($N - width)) << offset) : ($U)0;\n"
     "  return width ? ($U)((a & ($U)~mask) | ($U)(($P)insert << offset & mask)) : a;\n}\n"},
    {NULL, 0, NULL}};
